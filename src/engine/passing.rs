//! Passing: when to pass, and which move to play instead of a pass that costs points.

use super::decide::MoveConstraints;
use super::{Engine, FinalStatus, reading};
use crate::stopwatch::Stopwatch;
use kosumi_eval::Ownership;
use kosumi_go::board::{Move, Point, PointSet};
use kosumi_go::game::MoveRecord;
use kosumi_go::rng::mix;
use kosumi_go::rules::Scoring;
use kosumi_go::score;
use kosumi_search::{Limits, MoveReport, SearchContext, SearchReport};
use std::time::Duration;

/// Maximum duration of the search that checks a pass.
const MAX_PASS_CHECK_TIME: Duration = Duration::from_millis(500);
/// Maximum loss of a pass in the expected result. The results of two searches of one position differ by less.
pub(super) const MAX_PASS_LOSS: f32 = 0.3;
/// Mean owner from which a point looks settled.
const LOOKS_SETTLED_MEAN: f32 = 0.8;
/// Maximum number of unsettled points in a position that looks settled. They may be neutral or belong to a seki.
const MAX_UNSETTLED_POINTS: usize = 6;
/// Number of points that a pass must cost less than, by the search and by the count.
const MAX_PASS_COST: f32 = 0.5;

impl Engine {
    /// Returns whether answering the opponent's pass with a pass certainly wins the game. This is so if nothing is left
    /// to decide, whichever side moves, and if the player wins both with the stones as they stand and with the dead
    /// stones removed. Then the player wins under either way of counting.
    pub(super) fn pass_ends_a_won_game(&mut self, turn: &MoveConstraints<'_>) -> bool {
        let passed = |last: &MoveRecord| last.mv == Move::Pass && last.color == turn.color.opponent();
        if !turn.permits(Move::Pass)
            || !self.game.records().last().is_some_and(passed)
            || !self.has_time_for_status(turn.time_left())
        {
            return false;
        }
        let as_it_stands = score::final_score(&self.game, &PointSet::EMPTY);
        let wins = |score: f32| score * turn.color.sign() as f32 > 0.0;
        wins(as_it_stands) && {
            let status = self.status_if_over();
            self.is_settled(&status) && wins(status.score)
        }
    }

    /// Returns whether to pass although the opponent has not passed. This is so only under rules that remove dead
    /// stones at the end, and only if everything is settled, the score is good enough, and a pass costs nothing by the
    /// search and by the count.
    pub(super) fn should_pass(&mut self, turn: &MoveConstraints<'_>, report: &SearchReport) -> bool {
        if !turn.permits(Move::Pass)
            || !self.game.rules().friendly_pass
            || !self.looks_settled(&report.ownership)
            || !self.has_time_for_status(turn.time_left())
        {
            return false;
        }
        let status = self.status_if_over();
        let score = status.score * turn.color.sign() as f32;
        let is_enough = score > 0.0 || self.game.rules().scoring == Scoring::Territory;
        self.is_settled(&status)
            && is_enough
            && best_score(turn, report) - score < MAX_PASS_COST
            && self.can_afford_to_pass(turn, report)
    }

    /// Returns whether the search expects nearly every point to belong to one side. This cheap test usually fails and
    /// thus avoids computing the status of all stones.
    pub(super) fn looks_settled(&self, ownership: &Ownership) -> bool {
        let is_open = |point: &Point| ownership.mean(*point).abs() < LOOKS_SETTLED_MEAN;
        ownership.count() >= self.search.evaluator().evaluations_for_ownership()
            && self.game.board().stone_count() * 3 >= self.game.size().area()
            && self.game.size().points().filter(is_open).count() <= MAX_UNSETTLED_POINTS
    }

    /// Returns whether nothing is left to gain. Neutral points are worth points under area scoring, and dead stones are
    /// worth capturing where every stone counts as alive.
    fn is_settled(&self, status: &FinalStatus) -> bool {
        let rules = self.game.rules();
        status.settled.as_ref().is_some_and(|settled| {
            (rules.scoring == Scoring::Territory || settled.neutral == 0)
                && (rules.friendly_pass || settled.dead.is_empty())
        })
    }

    /// Returns a move to play instead of the pass that the search has chosen, if the pass costs points. The search
    /// treats a pass as a move after which play continues. But if the opponent passes too, the position is counted as
    /// it stands.
    ///
    /// On an empty board any move is better than a pass, because there is nothing to count yet, unless the board is too
    /// narrow for a living group.
    pub(super) fn instead_of_costly_pass(
        &mut self,
        turn: &MoveConstraints<'_>,
        report: &SearchReport,
    ) -> Option<Move> {
        let sign = turn.color.sign() as f32;
        let may_be_played = |entry: &&MoveReport| {
            entry.mv != Move::Pass && turn.permits(entry.mv) && self.game.check(turn.color, entry.mv).is_ok()
        };
        let mut others = report.moves.iter().filter(may_be_played);
        let is_narrow = self.game.size().columns().min(self.game.size().rows()) < 3;
        if self.game.board().stone_count() == 0 && !is_narrow {
            return others.next().map(|entry| entry.mv);
        }
        let other = others.find(|entry| entry.visits > 0)?;
        let (mv, score) = (other.mv, other.score * sign);
        let pass = report.moves.iter().find(|entry| entry.mv == Move::Pass && entry.visits > 0);
        // A move that the search evaluates as worse than the pass, such as one into the player's own territory, is no
        // improvement.
        let is_worse = pass.is_some_and(|pass| {
            pass.score * sign - score >= MAX_PASS_COST || (pass.value - other.value) * sign > MAX_PASS_LOSS
        });
        if is_worse {
            return None;
        }
        let counted = if !self.game.rules().friendly_pass {
            score::final_score(&self.game, &PointSet::EMPTY)
        } else if self.has_time_for_status(turn.time_left()) {
            self.status_if_over().score
        } else {
            return None;
        };
        (score - counted * sign >= MAX_PASS_COST).then_some(mv)
    }

    /// Returns a move to play instead of a pass: one that saves an enclosed group of the player or kills one of the
    /// opponent's, if the group's fate depends on which side moves first. A short search may not find such a move.
    pub(super) fn vital_move(&mut self, turn: &MoveConstraints<'_>) -> Option<Move> {
        // Where every stone counts as alive, no group has to be saved or killed.
        if !self.game.rules().friendly_pass || !self.has_time_for_status(turn.time_left()) {
            return None;
        }
        let stopwatch = Stopwatch::start(self.time_source);
        let unsettled = self.status_if_over().unsettled;
        let (game, suicide) = (&self.game, self.game.rules().suicide);
        let may_be_played = |mv| turn.permits(mv) && game.check(turn.color, mv).is_ok();
        let vital =
            reading::vital_move(&mut self.memo, game.board(), &unsettled, turn.color, suicide, may_be_played);
        // This reading follows the computation of the status, so the next turn must reserve time for both.
        self.time_manager.note_status(stopwatch.elapsed());
        vital
    }

    /// Returns whether the game continues as `report` expects if the player passes. A search in which the player moves
    /// first cannot decide, because it counts as alive a group that dies unless the player defends it. Therefore this
    /// function searches the position after the pass, with the opponent to move, in the same graph and without evicting
    /// nodes.
    fn can_afford_to_pass(&mut self, turn: &MoveConstraints<'_>, report: &SearchReport) -> bool {
        let stopwatch = Stopwatch::start(self.time_source);
        let mut after = self.game.clone();
        if after.play(turn.color, Move::Pass).is_err() || after.is_over() {
            return true;
        }
        // If the settings limit visits or simulations, the result must not depend on time.
        let is_timed = self.settings.playouts.is_none() && self.settings.visits.is_none();
        let hard = [is_timed.then_some(MAX_PASS_CHECK_TIME), turn.time_left()].into_iter().flatten().min();
        let playouts = self.search.evaluator().simulations_before_passing();
        let limits = Limits { hard, ..Limits::playouts(playouts) };
        let seed = mix(self.settings.seed).wrapping_add(self.searches);
        let elapsed = || stopwatch.elapsed();
        let context = SearchContext::new(&limits, &elapsed, turn.interrupted);
        // If the node table has no space for this position, the engine does not pass now. Its next search frees space.
        let answers = self.search.run_in_place(&after, seed, &context);
        let sign = turn.color.sign() as f32;
        answers.is_some_and(|answers| {
            (report.value - answers.value) * sign <= MAX_PASS_LOSS
                && best_score(turn, report) - answers.score * sign < MAX_PASS_COST
        })
    }
}

/// Returns the player's expected score after the best permitted move of the search.
fn best_score(turn: &MoveConstraints<'_>, report: &SearchReport) -> f32 {
    let best = report.moves.iter().find(|entry| turn.permits(entry.mv));
    best.map_or(report.score, |entry| entry.score) * turn.color.sign() as f32
}
