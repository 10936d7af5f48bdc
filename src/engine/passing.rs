//! When to pass: where nothing is left to be gained, and what to play instead of a pass that costs points.

use super::decide::Turn;
use super::{Engine, FinalStatus, reading};
use kosumi_eval::Ownership;
use kosumi_go::board::{Move, Point, PointSet};
use kosumi_go::game::Record;
use kosumi_go::rng::mix;
use kosumi_go::rules::Scoring;
use kosumi_go::score;
use kosumi_search::{Limits, MoveReport, SearchContext, SearchReport};
use std::time::{Duration, Instant};

/// The search behind a pass may take as long as this.
const PASS_CHECK_TIME_MAX: Duration = Duration::from_millis(500);
/// A pass may cost this much of the expected result; two searches of one position differ by less.
pub(super) const PASS_LOSS_MAX: f32 = 0.3;
/// A point looks settled if one side owns it by this much, as a mean owner ...
const LOOKS_SETTLED_MEAN: f32 = 0.8;
/// ... and a position does if no more points than these do not: neutral ones, and those of a seki.
const LOOKS_OPEN_MOST: usize = 6;
/// A pass must cost fewer points than these, by the search and by the count.
const PASS_COST_MAX: f32 = 0.5;

impl Engine {
    /// After the opponent's pass: does passing too win the game for certain? It does if nothing is left to be decided,
    /// whichever side moves, and the player wins both as the stones stand and after the dead ones are taken off, so that no
    /// way of counting makes it a loss.
    pub(super) fn pass_ends_a_won_game(&mut self, turn: &Turn<'_>) -> bool {
        let passed = |last: &Record| last.mv == Move::Pass && last.color == turn.color.opponent();
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

    /// With dead stones removed at the end, a finished game is not played on: everything is settled, the score is good
    /// enough, and a pass costs nothing by the search and by the count.
    pub(super) fn should_pass(&mut self, turn: &Turn<'_>, report: &SearchReport) -> bool {
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
            && best_score(turn, report) - score < PASS_COST_MAX
            && self.can_afford_to_pass(turn, report)
    }

    /// Does the search take almost every point for one side's? Nearly always it does not, and then the status of all stones,
    /// which takes much longer, need not be found.
    pub(super) fn looks_settled(&self, ownership: &Ownership) -> bool {
        let is_open = |point: &Point| ownership.mean(*point).abs() < LOOKS_SETTLED_MEAN;
        ownership.count() >= self.search.evaluator().evaluations_for_ownership()
            && self.game.board().stone_count() * 3 >= self.game.size().area()
            && self.game.size().points().filter(is_open).count() <= LOOKS_OPEN_MOST
    }

    /// Is nothing left to be gained? Under area scoring neutral points are worth something, and where every stone counts as
    /// alive, so are dead stones.
    fn is_settled(&self, status: &FinalStatus) -> bool {
        let rules = self.game.rules();
        status.settled.as_ref().is_some_and(|settled| {
            (rules.scoring == Scoring::Territory || settled.neutral == 0)
                && (rules.friendly_pass || settled.dead.is_empty())
        })
    }

    /// A move to play instead of a pass that the search has chosen, if the pass costs points. To the search a pass is a
    /// move after which play goes on; if the opponent passes too, the position is counted as it is.
    ///
    /// On an empty board any move is better, because there is nothing to count yet, unless the board is too narrow to live on.
    pub(super) fn instead_of_costly_pass(&mut self, turn: &Turn<'_>, report: &SearchReport) -> Option<Move> {
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
        // A move that the search takes to be worse than the pass, such as one into the own territory, is no better.
        let is_worse = pass.is_some_and(|pass| {
            pass.score * sign - score >= PASS_COST_MAX || (pass.value - other.value) * sign > PASS_LOSS_MAX
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
        (score - counted * sign >= PASS_COST_MAX).then_some(mv)
    }

    /// Instead of a pass: what saves an own enclosed group or kills one of the opponent's, if that hangs on who moves first.
    /// A short search may not see it.
    pub(super) fn vital_move(&mut self, turn: &Turn<'_>) -> Option<Move> {
        // Where every stone counts as alive, no group is left to be lived or killed.
        if !self.game.rules().friendly_pass || !self.has_time_for_status(turn.time_left()) {
            return None;
        }
        let start = Instant::now();
        let unsettled = self.status_if_over().unsettled;
        let (game, suicide) = (&self.game, self.game.rules().suicide);
        let may_be_played = |mv| turn.permits(mv) && game.check(turn.color, mv).is_ok();
        let vital =
            reading::vital_move(&mut self.memo, game.board(), &unsettled, turn.color, suicide, may_be_played);
        // It comes behind the status, so the next turn keeps time for both.
        self.time_manager.note_status(start.elapsed());
        vital
    }

    /// Does the game still go as `report` expects if the player passes? A search in which the player always moves
    /// first cannot tell: it takes a group for alive that dies if it is left alone. So the opponent gets a search
    /// of the position after the pass, in the same graph, of which nothing is thrown away.
    fn can_afford_to_pass(&mut self, turn: &Turn<'_>, report: &SearchReport) -> bool {
        let start = Instant::now();
        let mut after = self.game.clone();
        if after.play(turn.color, Move::Pass).is_err() || after.is_over() {
            return true;
        }
        // Where only simulations are counted, the answer must not depend on time.
        let is_timed = self.settings.playouts.is_none() && self.settings.visits.is_none();
        let hard = [is_timed.then_some(PASS_CHECK_TIME_MAX), turn.time_left()].into_iter().flatten().min();
        let playouts = self.search.evaluator().simulations_before_passing();
        let limits = Limits { hard, ..Limits::playouts(playouts) };
        let seed = mix(self.settings.seed).wrapping_add(self.searches);
        let elapsed = || start.elapsed();
        let context = SearchContext::new(&limits, &elapsed, turn.interrupted);
        // Without room for the position, the engine plays on and makes room for its next move.
        let answers = self.search.run_in_place(&after, seed, &context);
        let sign = turn.color.sign() as f32;
        answers.is_some_and(|answers| {
            (report.value - answers.value) * sign <= PASS_LOSS_MAX
                && best_score(turn, report) - answers.score * sign < PASS_COST_MAX
        })
    }
}

/// The score for the player that the search expects after its best move that is permitted.
fn best_score(turn: &Turn<'_>, report: &SearchReport) -> f32 {
    let best = report.moves.iter().find(|entry| turn.permits(entry.mv));
    best.map_or(report.score, |entry| entry.score) * turn.color.sign() as f32
}
