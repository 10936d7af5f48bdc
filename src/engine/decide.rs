//! Choice of a move: one search, followed by decisions about resigning, passing and playing on.

use super::advantage::GameAdvantage;
use super::record::SearchSummary;
use super::{Decision, Engine, Purpose, SearchRequest};
use crate::stopwatch::Stopwatch;
use kosumi_go::board::{Color, Move};
use kosumi_go::rng::{Rng, mix};
use kosumi_go::rules::Scoring;
use kosumi_search::{Restriction, SearchReport};
use std::time::Duration;

/// Points per handicap stone. This is more than a stone is worth, because the engine must not resign merely for being
/// as far behind as it was at the beginning.
const POINTS_FOR_A_STONE: f32 = 20.0;

/// Constraints on the choice of a move.
pub(super) struct MoveConstraints<'a> {
    pub(super) color: Color,
    restriction: Restriction,
    /// Measures the time since this move began.
    stopwatch: Stopwatch,
    /// Time for this move, counted from its beginning. `None` means unlimited.
    time: Option<Duration>,
    pub(super) interrupted: &'a (dyn Fn() -> bool + Sync),
}

impl MoveConstraints<'_> {
    pub(super) fn permits(&self, mv: Move) -> bool {
        self.restriction.permits(self.color, mv, 0)
    }

    /// Returns the time left for this move. `None` means unlimited.
    pub(super) fn time_left(&self) -> Option<Duration> {
        self.time.map(|time| time.saturating_sub(self.stopwatch.elapsed()))
    }
}

impl Engine {
    /// [Chooses](Engine::choose) a move for `color` and plays it. Deducts the time that this takes from the player's
    /// clock.
    pub fn genmove(&mut self, color: Color, request: SearchRequest<'_>) -> Decision {
        self.take_turn(color, |engine| engine.choose(color, request))
    }

    /// Carries out the decision of `choose`. The time that this takes is deducted from the player's clock.
    pub(super) fn take_turn(
        &mut self,
        color: Color,
        choose: impl FnOnce(&mut Engine) -> Decision,
    ) -> Decision {
        let stopwatch = self.time_manager.begin_move(self.time_source);
        let searches = self.searches;
        let hard = self.budget(color).map(|budget| budget.hard);
        let decision = choose(self);
        if let Some(hard) = hard {
            self.time_manager.note_overrun(stopwatch.elapsed().saturating_sub(hard));
        }
        match decision {
            Decision::Play(mv) => {
                // The engine's own moves are always checked strictly, because it chooses legal moves only.
                let played = self.game.play(color, mv);
                debug_assert_eq!(played, Ok(()), "{color} {mv}");
                // The engine may pass without a search. The report is then that of an earlier move.
                let report = self.report.as_ref().filter(|_| self.searches > searches);
                let summary = report.map(|report| SearchSummary::new(report, mv));
                self.notes.note_own_move(self.game.records().len(), color, summary);
                self.time_manager.made_move(self.notes.revision());
            }
            Decision::Resign => self.notes.note_resignation(color),
        }
        self.clocks[color].spend(stopwatch.elapsed());
        self.time_manager.end_move();
        decision
    }

    /// Chooses a move for `color` by one search, unless a pass ends a won game at once. Plays no move, but makes
    /// `color` the side to move. If the engine plays at a rank, a search of the rank's own chooses.
    pub fn choose(&mut self, color: Color, request: SearchRequest<'_>) -> Decision {
        self.as_rank(|engine| engine.choose_by_search(color, request))
    }

    fn choose_by_search(&mut self, color: Color, request: SearchRequest<'_>) -> Decision {
        self.set_to_move(color);
        let stopwatch = self.time_manager.began().unwrap_or_else(|| Stopwatch::start(self.time_source));
        let budget = self.budget(color);
        let time = self.move_time(budget);
        let restriction = request.restriction.clone();
        let turn = MoveConstraints { color, restriction, stopwatch, time, interrupted: request.interrupted };
        let decision = if self.pass_ends_a_won_game(&turn) {
            Decision::Play(Move::Pass)
        } else {
            self.game_advantage.decide(&self.game, self.settings.doubling_advantage_per_point);
            let (game, limits) = (self.game.clone(), self.limits(budget));
            let report = self.run_search(&game, &limits, request, Purpose::Play);
            self.game_advantage.record_expectation(report.value);
            let decision = self.decide(&turn, &report);
            self.report = Some(report);
            decision
        };
        let takes_dead_stones = self.settings.capture_dead && self.game.rules().scoring == Scoring::Area;
        if decision == Decision::Play(Move::Pass) && takes_dead_stones && !turn.restriction.applies_at(0) {
            return Decision::Play(self.instead_of_passing(&turn));
        }
        decision
    }

    /// Chooses a move for a regression test. The game does not change, the random numbers do not depend on earlier
    /// searches, and the engine does not resign.
    pub fn regression_move(&mut self, color: Color, request: SearchRequest<'_>) -> Move {
        let (game, notes) = (self.game.clone(), self.notes.clone());
        self.time_manager.begin_game();
        self.game_advantage = GameAdvantage::default();
        let (resign, searches) = (self.settings.resign.take(), self.searches);
        self.clear_search();
        self.clear_evaluations();
        self.searches = 0;
        let decision = self.choose(color, request);
        self.settings.resign = resign;
        self.searches = searches;
        (self.game, self.notes) = (game, notes);
        match decision {
            Decision::Play(mv) => mv,
            Decision::Resign => Move::Pass,
        }
    }

    /// Makes a decision from a search's report: resigns, passes because nothing is left to gain, or plays the best
    /// permitted move.
    fn decide(&mut self, turn: &MoveConstraints<'_>, report: &SearchReport) -> Decision {
        if self.should_resign(turn.color, report) {
            return Decision::Resign;
        }
        if self.should_pass(turn, report) {
            return Decision::Play(Move::Pass);
        }
        let choice = self.best_or_drawn_move(turn, report);
        if choice != Move::Pass {
            return Decision::Play(choice);
        }
        let better = self.vital_move(turn).or_else(|| self.instead_of_costly_pass(turn, report));
        Decision::Play(better.unwrap_or(Move::Pass))
    }

    /// Returns the move chosen by human play or by the rank, if the settings ask for either, and otherwise the best
    /// move.
    fn best_or_drawn_move(&self, turn: &MoveConstraints<'_>, report: &SearchReport) -> Move {
        let may_be_played = |mv| turn.permits(mv) && self.game.check(turn.color, mv).is_ok();
        let unit = Rng::new(mix(self.settings.seed).wrapping_add(self.searches)).unit();
        let best = || report.moves.iter().find(|entry| may_be_played(entry.mv)).map(|entry| entry.mv);
        // A search by playouts does not consider filling the player's own eyes. If no other move is permitted, not
        // even a pass, that is the move to play.
        let any = || {
            let mut points = self.game.size().points().map(Move::Play);
            points.find(|&mv| !turn.permits(Move::Pass) && may_be_played(mv))
        };
        self.human_choice(report, unit, may_be_played)
            .or_else(|| self.ranked_choice(report, unit, may_be_played))
            .or_else(best)
            .or_else(any)
            .unwrap_or(Move::Pass)
    }

    /// Returns whether the game is lost and has been lost for the last few moves, because a single search may be wrong.
    /// Always returns false in the opening. A player who has given a handicap resigns later, because the search assumes
    /// players of equal strength.
    fn should_resign(&mut self, color: Color, report: &SearchReport) -> bool {
        let Some(threshold) = self.settings.resign else { return false };
        let sign = color.sign() as f32;
        let usual = (self.search.evaluator().visits_for_resigning(), 0.0);
        let (visits, behind) = self.style().map_or(usual, |style| style.resign_limits(usual.0));
        let is_lost = report.value * sign < threshold
            && report.visits >= visits
            && -report.score * sign >= behind + self.recoverable_points(color)
            && self.game.records().len() * 4 > self.game.size().area();
        self.time_manager.note_prospect(color, is_lost) >= self.settings.resign_after.max(1)
    }

    /// Returns the number of points that a player may still win back from an opponent with handicap stones. The number
    /// is proportional to the handicap and to the empty part of the board.
    pub(super) fn recoverable_points(&self, color: Color) -> f32 {
        let stones = if color == Color::White { self.game.handicap() } else { 0 };
        if stones < 2 {
            return 0.0;
        }
        let area = self.game.size().area() as f32;
        POINTS_FOR_A_STONE * stones as f32 * (1.0 - self.game.board().stone_count() as f32 / area)
    }
}
