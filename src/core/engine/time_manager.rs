//! Time management: what the clocks allow for a move, how much longer than planned moves took, and pondering.

use super::{DEFAULT_MOVE_TIME, Engine, Purpose, Revision, SearchRequest};
use crate::board::{ByColor, Color, Move};
use crate::search::Limits;
use crate::time::{Budget, Progress};
use std::time::{Duration, Instant};

/// What time management remembers from move to move.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct TimeManager {
    /// How much longer than planned answers took lately: an evaluation was going on when the time was over, or the
    /// machine was busy with something else.
    overrun: Duration,
    /// What it takes to find the status of all stones; zero if that is not known.
    status: Duration,
    /// What an evaluation took in the latest search; zero if that is not known.
    evaluation: Duration,
    /// For how many moves in a row the game has looked lost.
    lost: ByColor<u32>,
    /// When thinking about the present move began.
    began: Option<Instant>,
    /// The game as it was after the engine's latest move.
    after_own_move: Option<Revision>,
}

/// Pondering ends after this time: an opponent who takes longer has probably left.
const PONDER_TIME_MAX: Duration = Duration::from_secs(600);
/// Pondering looks this often whether it has filled its part of the memory.
const PONDER_SLICE: Duration = Duration::from_millis(500);
/// The part of the node table that pondering may fill. The search of the next move begins by throwing nodes away
/// if there are more, and what was learned now would be among them.
const PONDER_FULLNESS: f32 = 0.5;
/// What the status of the stones of a large board may take before it was measured.
const STATUS_GUESS: Duration = Duration::from_millis(500);

impl TimeManager {
    /// Another game begins: the machine stays the same.
    pub(super) fn begin_game(&mut self) {
        *self = TimeManager { overrun: self.overrun, ..TimeManager::default() };
    }

    /// An answer took so much longer than planned. A large overrun is forgotten slowly.
    pub(super) fn note_overrun(&mut self, overrun: Duration) {
        self.overrun = overrun.max(self.overrun.mul_f64(0.8));
    }

    pub(super) fn note_status(&mut self, time: Duration) {
        self.status = time.max(self.status.mul_f64(0.8));
    }

    /// A search of this many simulations took this long, on this many threads.
    pub(super) fn note_search(&mut self, time: Duration, simulations: u32, threads: usize) {
        if let Some(each) = (time * threads as u32).checked_div(simulations) {
            self.evaluation = each;
        }
    }

    /// Does the game look lost? Returns for how many moves it has.
    pub(super) fn note_prospect(&mut self, color: Color, is_lost: bool) -> u32 {
        self.lost[color] = if is_lost { self.lost[color] + 1 } else { 0 };
        self.lost[color]
    }

    /// SearchRequest about a move begins, unless it has.
    pub(super) fn begin_move(&mut self) -> Instant {
        *self.began.get_or_insert_with(Instant::now)
    }

    pub(super) fn began(&self) -> Option<Instant> {
        self.began
    }

    pub(super) fn end_move(&mut self) {
        self.began = None;
    }

    pub(super) fn made_move(&mut self, revision: Revision) {
        self.after_own_move = Some(revision);
    }
}

impl Engine {
    /// What the clock gives for the next move; `None` without a clock.
    pub(super) fn budget(&self, color: Color) -> Option<Budget> {
        let progress = Progress { area: self.game.size().area(), moves: self.game.records().len() };
        let clock = &self.clocks[color];
        let reserve = clock.fitting_reserve(progress.area, self.settings.lag_reserve);
        clock.budget(progress, reserve.saturating_add(self.time_manager.overrun))
    }

    /// Limits of a search for a move, with what the move has taken already off the clock's budget.
    pub(super) fn limits(&self, budget: Option<Budget>) -> Limits {
        let spent = self.time_manager.began.map_or(Duration::ZERO, |began| began.elapsed());
        let settings = &self.settings;
        let ranked = self.style().map(|style| style.visits);
        let visits = settings.visits.into_iter().chain(ranked).min();
        let unlimited = visits.is_none() && settings.playouts.is_none() && budget.is_none();
        let move_time = settings.move_time.or(unlimited.then_some(DEFAULT_MOVE_TIME));
        let least = |a: Option<Duration>, b: Option<Duration>| a.into_iter().chain(b).min();
        let later = self.time_after_search();
        let rest = |time: Duration| time.saturating_sub(spent).saturating_sub(later.min(time / 2));
        let soft = least(move_time.map(rest), budget.map(|budget| rest(budget.soft.min(budget.hard))));
        let hard = least(move_time.map(rest), budget.map(|budget| rest(budget.hard)));
        let counts = Limits { visits, playouts: settings.playouts, ..Limits::default() };
        // Time that would be lost is spent when the choice is clear, too: the next search begins with what is learned now.
        // Who draws among moves must know them all.
        let settled_from = budget.filter(|_| ranked.is_none()).map(|budget| rest(budget.free));
        Limits { soft, hard, settled_from, ..counts }
    }

    /// When the time for a move that was begun at `start` is over: by the clock, and by the time for each move.
    pub(super) fn deadline(&self, start: Instant, budget: Option<Budget>) -> Option<Instant> {
        let most = [budget.map(|budget| budget.hard), self.settings.move_time].into_iter().flatten().min();
        most.and_then(|most| start.checked_add(most))
    }

    /// What may have to be done behind the search for the present move: where the game may be about to end, the status of
    /// the stones has to be known, and dead ones may have to be taken, see [`Engine::choose`].
    fn time_after_search(&self) -> Duration {
        let looked_settled = || self.report.as_ref().is_some_and(|it| self.looks_settled(&it.ownership));
        let was_passed = || self.game.records().last().is_some_and(|last| last.mv == Move::Pass);
        let may_be_settled = self.game.board().stone_count() * 2 > self.game.size().area()
            && (looked_settled() || was_passed());
        match self.time_manager.began {
            Some(_) if may_be_settled && self.settings.capture_dead => Duration::MAX,
            Some(_) if may_be_settled && has_status_to_ask_for(self) => self.status_time().mul_f64(1.5),
            _ => Duration::ZERO,
        }
    }

    /// What it will take to find out the status of all stones: as measured in this game, or by what an evaluation takes.
    fn status_time(&self) -> Duration {
        let TimeManager { status, evaluation, .. } = self.time_manager;
        if !status.is_zero() {
            return status;
        }
        let guess = STATUS_GUESS.mul_f64(self.game.size().area() as f64 / 361.0);
        guess.max(evaluation.saturating_mul(self.search.evaluator().evaluations_for_status()))
    }

    /// Can the status of all stones be found in the time that is left? `None` is any time.
    pub(super) fn has_time_for_status(&self, left: Option<Duration>) -> bool {
        left.is_none_or(|left| left > self.status_time())
    }

    /// Says that answering takes so much longer than thinking, because something is done before the answer goes out.
    pub fn add_delay(&mut self, delay: Duration) {
        self.time_manager.note_overrun(delay);
    }

    /// Thinks on about the position after the engine's own move until `interrupted`: what the opponent may answer, and
    /// what then. What is learned is kept for the next search.
    ///
    /// Returns at once unless the settings say that the engine ponders, its own move was the last change of the
    /// game, and the game goes on. Returns before `interrupted` when the time or the memory for it is used up.
    pub fn ponder(&mut self, interrupted: &(dyn Fn() -> bool + Sync)) {
        let revision = self.notes.revision();
        let is_waiting =
            self.time_manager.after_own_move.is_some_and(|after| after.change == revision.change);
        if !self.settings.ponder || !is_waiting || self.game.is_over() {
            return;
        }
        let start = Instant::now();
        let limits = Limits { visits: self.settings.visits, ..Limits::time(PONDER_SLICE) };
        let game = self.game.clone();
        while !interrupted() && start.elapsed() < PONDER_TIME_MAX {
            let report = self.run_search(&game, &limits, SearchRequest::new(interrupted), Purpose::Pondering);
            let is_enough = self.settings.visits.is_some_and(|visits| report.visits >= visits);
            if is_enough || report.usage.fullness() > PONDER_FULLNESS {
                // Not again after the next command that changes nothing.
                self.time_manager.after_own_move = None;
                return;
            }
        }
    }
}

/// Does the status of the stones take playouts or evaluations? Without friendly passes every stone is alive.
fn has_status_to_ask_for(engine: &Engine) -> bool {
    engine.game.rules().friendly_pass
}
