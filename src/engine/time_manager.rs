//! Time management: time limits of a move, measured overruns, and pondering.

use super::{DEFAULT_MOVE_TIME, Engine, Purpose, Revision, SearchRequest};
use crate::stopwatch::{Stopwatch, TimeSource};
use crate::time::{Budget, GameProgress};
use kosumi_go::board::{ByColor, Color, Move};
use kosumi_search::Limits;
use std::time::Duration;

/// State of the time management between moves.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct TimeManager {
    /// Recent overrun of planned move times. It is caused by an evaluation still in progress when the time was up, or
    /// by other load on the machine.
    overrun: Duration,
    /// Time that computing the status of all stones takes; zero if unknown.
    status: Duration,
    /// Time that an evaluation took in the latest search; zero if unknown.
    evaluation: Duration,
    /// Number of consecutive moves for which the game has looked lost, for each player.
    moves_lost: ByColor<u32>,
    /// Measures the time since the current move began.
    current_move: Option<Stopwatch>,
    /// Revision of the game after the engine's latest move.
    after_own_move: Option<Revision>,
}

/// Maximum duration of pondering. An opponent who takes longer has probably left.
const MAX_PONDER_TIME: Duration = Duration::from_secs(600);
/// Interval at which pondering checks how full the node table is.
const PONDER_SLICE: Duration = Duration::from_millis(500);
/// Share of the node table that pondering may fill. If the table is fuller, the search for the next move begins by
/// evicting nodes, among them those of pondering.
const PONDER_FULLNESS: f32 = 0.5;
/// Time assumed for computing the status of the stones on 19×19, until it has been measured.
const STATUS_GUESS: Duration = Duration::from_millis(500);

impl TimeManager {
    /// Resets the state for a new game. The overrun stays, because the machine is the same.
    pub(super) fn begin_game(&mut self) {
        *self = TimeManager { overrun: self.overrun, ..TimeManager::default() };
    }

    /// Records an overrun of the planned time. The effect of a large overrun decays slowly.
    pub(super) fn note_overrun(&mut self, overrun: Duration) {
        self.overrun = overrun.max(self.overrun.mul_f64(0.8));
    }

    pub(super) fn note_status(&mut self, time: Duration) {
        self.status = time.max(self.status.mul_f64(0.8));
    }

    /// Records the duration of a search with this number of simulations and threads.
    pub(super) fn note_search(&mut self, time: Duration, simulations: u32, threads: usize) {
        if let Some(each) = (time * threads as u32).checked_div(simulations) {
            self.evaluation = each;
        }
    }

    /// Records whether the game looks lost, and returns the number of consecutive moves for which it has looked lost.
    pub(super) fn note_prospect(&mut self, color: Color, is_lost: bool) -> u32 {
        self.moves_lost[color] = if is_lost { self.moves_lost[color] + 1 } else { 0 };
        self.moves_lost[color]
    }

    /// Records the start of a move, unless one is in progress. Returns a stopwatch that was started at that moment.
    pub(super) fn begin_move(&mut self, source: TimeSource) -> Stopwatch {
        *self.current_move.get_or_insert_with(|| Stopwatch::start(source))
    }

    pub(super) fn began(&self) -> Option<Stopwatch> {
        self.current_move
    }

    pub(super) fn end_move(&mut self) {
        self.current_move = None;
    }

    pub(super) fn made_move(&mut self, revision: Revision) {
        self.after_own_move = Some(revision);
    }
}

impl Engine {
    /// Returns the time budget of the next move from the player's clock; `None` without a time limit.
    pub(super) fn budget(&self, color: Color) -> Option<Budget> {
        let progress = GameProgress { area: self.game.size().area(), moves: self.game.records().len() };
        let clock = &self.clocks[color];
        let reserve = clock.fitting_reserve(progress.area, self.settings.lag_reserve);
        clock.budget(progress, reserve.saturating_add(self.time_manager.overrun))
    }

    /// Returns the limits of a search for a move. The time that the move has taken so far is deducted from the clock's
    /// budget.
    pub(super) fn limits(&self, budget: Option<Budget>) -> Limits {
        let spent = self.time_manager.current_move.map_or(Duration::ZERO, |began| began.elapsed());
        let settings = &self.settings;
        let ranked = self.style().map(|style| style.visits);
        // A rank determines the number of visits.
        let (visits, playouts) = match ranked {
            Some(visits) => (Some(visits), None),
            None => (settings.visits, settings.playouts),
        };
        let unlimited = visits.is_none() && playouts.is_none() && budget.is_none();
        let move_time = settings.move_time.or(unlimited.then_some(DEFAULT_MOVE_TIME));
        let least = |a: Option<Duration>, b: Option<Duration>| a.into_iter().chain(b).min();
        let later = self.time_after_search();
        let rest = |time: Duration| time.saturating_sub(spent).saturating_sub(later.min(time / 2));
        let soft = least(move_time.map(rest), budget.map(|budget| rest(budget.soft.min(budget.hard))));
        let hard = least(move_time.map(rest), budget.map(|budget| rest(budget.hard)));
        let counts = Limits { visits, playouts, ..Limits::default() };
        // Time that the clock would not carry over is spent even when the choice is clear, because the next search
        // starts from the present statistics. A rank draws its move at random and needs all moves evaluated, so its
        // search does not stop early.
        let settled_from = budget.filter(|_| ranked.is_none()).map(|budget| rest(budget.free));
        Limits { soft, hard, settled_from, ..counts }
    }

    /// Returns the time for a move, from the clock's budget and the time per move; `None` without either.
    pub(super) fn move_time(&self, budget: Option<Budget>) -> Option<Duration> {
        [budget.map(|budget| budget.hard), self.settings.move_time].into_iter().flatten().min()
    }

    /// Estimates the work after the search of the current move. If the game may be about to end, the engine needs the
    /// status of the stones and may have to capture dead stones, see [`Engine::choose`].
    fn time_after_search(&self) -> Duration {
        let looked_settled = || self.report.as_ref().is_some_and(|it| self.looks_settled(&it.ownership));
        let was_passed = || self.game.records().last().is_some_and(|last| last.mv == Move::Pass);
        let may_be_settled = self.game.board().stone_count() * 2 > self.game.size().area()
            && (looked_settled() || was_passed());
        match self.time_manager.current_move {
            Some(_) if may_be_settled && self.settings.capture_dead => Duration::MAX,
            Some(_) if may_be_settled && status_needs_evaluation(self) => self.status_time().mul_f64(1.5),
            _ => Duration::ZERO,
        }
    }

    /// Estimates the time to compute the status of all stones, as measured in this game or from the time of an
    /// evaluation.
    fn status_time(&self) -> Duration {
        let TimeManager { status, evaluation, .. } = self.time_manager;
        if !status.is_zero() {
            return status;
        }
        let guess = STATUS_GUESS.mul_f64(self.game.size().area() as f64 / 361.0);
        guess.max(evaluation.saturating_mul(self.search.evaluator().evaluations_for_status()))
    }

    /// Returns whether the time left suffices for computing the status of all stones. `None` means unlimited time.
    pub(super) fn has_time_for_status(&self, left: Option<Duration>) -> bool {
        left.is_none_or(|left| left > self.status_time())
    }

    /// Records a delay between the end of thinking and the response, for work that the caller does in between.
    pub fn add_delay(&mut self, delay: Duration) {
        self.time_manager.note_overrun(delay);
    }

    /// Searches the position after the engine's own move until `interrupted`: the opponent's replies and what follows.
    /// The statistics are kept for the next search.
    ///
    /// Returns at once unless the settings enable pondering, the engine's own move was the last change of the game, and
    /// the game continues. Returns before `interrupted` when the time or the memory for pondering is used up.
    pub fn ponder(&mut self, interrupted: &(dyn Fn() -> bool + Sync)) {
        let revision = self.notes.revision();
        let is_waiting =
            self.time_manager.after_own_move.is_some_and(|after| after.change == revision.change);
        // The search of a rank does not use statistics of earlier searches.
        let is_useful = self.style().is_none();
        if !self.settings.ponder || !is_useful || !is_waiting || self.game.is_over() {
            return;
        }
        let stopwatch = Stopwatch::start(self.time_source);
        let limits = Limits { visits: self.settings.visits, ..Limits::time(PONDER_SLICE) };
        let game = self.game.clone();
        while !interrupted() && stopwatch.elapsed() < MAX_PONDER_TIME {
            let report = self.run_search(&game, &limits, SearchRequest::new(interrupted), Purpose::Pondering);
            let is_enough = self.settings.visits.is_some_and(|visits| report.visits >= visits);
            if is_enough || report.usage.fullness() > PONDER_FULLNESS {
                // Prevents pondering again after the next command that changes nothing.
                self.time_manager.after_own_move = None;
                return;
            }
        }
    }
}

/// Returns whether the status of the stones requires playouts or evaluations. Without friendly passes every stone is
/// alive.
fn status_needs_evaluation(engine: &Engine) -> bool {
    engine.game.rules().friendly_pass
}
