//! What to do after a search: play its move, pass, or give the game up.

use super::record::Thought;
use super::{Decision, Engine, Thinking};
use crate::board::{Color, Move};
use crate::eval::Ownership;
use crate::game::Record;
use crate::rng::mix;
use crate::rules::Scoring;
use crate::search::{Limits, Restriction, SearchReport, Surroundings};
use std::time::{Duration, Instant};

/// The search behind a pass may take as long as this.
const STATUS_TIME_MOST: Duration = Duration::from_millis(500);
/// A point is settled if one side owns it at least so clearly, as a mean owner.
const SETTLED_MEAN: f32 = 0.8;
/// So much of the expected result may be lost by passing; two searches of one position differ by less.
pub(super) const PASS_LOSS_MOST: f32 = 0.3;

impl Engine {
    /// Thinks about a move for `color` and plays it. The time it took goes off the player's clock.
    pub fn genmove(&mut self, color: Color, thinking: Thinking<'_>) -> Decision {
        self.decide_and_play(color, |engine| engine.consider(color, thinking))
    }

    /// Plays what is decided. The time it takes goes off the player's clock.
    pub(super) fn decide_and_play(
        &mut self,
        color: Color,
        decide: impl FnOnce(&mut Engine) -> Decision,
    ) -> Decision {
        let start = self.pace.begin_move();
        let questions = self.questions;
        let hard = self.budget(color).map(|budget| budget.hard);
        let decision = decide(self);
        if let Some(hard) = hard {
            self.pace.note_overrun(start.elapsed().saturating_sub(hard));
        }
        match decision {
            Decision::Play(mv) => {
                // Strict always: only legal moves are decided on.
                let played = self.game.play(color, mv);
                debug_assert_eq!(played, Ok(()), "{color} {mv}");
                // A pass may be decided without a search; the report is an old one then.
                let thought = self.report.as_ref().filter(|_| self.questions > questions);
                let thought = thought.map(|report| Thought::new(report, mv));
                self.diary.note_own_move(self.game.records().len(), color, thought);
                self.pace.made_move(self.diary.revision());
            }
            Decision::Resign => self.diary.note_resignation(color),
        }
        self.clocks[color].spend(start.elapsed());
        self.pace.end_move();
        decision
    }

    /// Thinks about a move for `color`; the moves of the game stay as they are, and the turn is `color`'s.
    pub fn consider(&mut self, color: Color, thinking: Thinking<'_>) -> Decision {
        let interrupted = thinking.interrupted;
        let is_free = !thinking.restriction.applies_at(0);
        let decision = self.consider_passing(color, thinking);
        let takes_first = self.settings.capture_dead && self.game.rules().scoring == Scoring::Area;
        if takes_first && is_free && decision == Decision::Play(Move::Pass) {
            return Decision::Play(self.instead_of_passing(color, interrupted));
        }
        decision
    }

    /// The same, whether dead stones are to be taken before a pass or not.
    fn consider_passing(&mut self, color: Color, thinking: Thinking<'_>) -> Decision {
        self.set_to_move(color);
        let start = self.pace.began().unwrap_or_else(Instant::now);
        let budget = self.budget(color);
        let deadline = budget.and_then(|budget| start.checked_add(budget.hard));
        let may_pass = thinking.restriction.permits(color, Move::Pass, 0);
        if may_pass && self.should_answer_pass(color, deadline) {
            return Decision::Play(Move::Pass);
        }
        let limits = self.limits(budget);
        let (restriction, interrupted) = (thinking.restriction.clone(), thinking.interrupted);
        let report = self.think(&limits, thinking);
        let decision = self.decide(color, &report, &restriction, deadline, interrupted);
        self.report = Some(report);
        decision
    }

    /// A move for a regression test: the game stays, chance does not depend on what was asked before, and the
    /// engine does not resign.
    pub fn regression_move(&mut self, color: Color, thinking: Thinking<'_>) -> Move {
        let (game, diary) = (self.game.clone(), self.diary.clone());
        self.pace.begin();
        let (resign, questions) = (self.settings.resign.take(), self.questions);
        self.search.clear();
        self.search.evaluator().clear();
        self.questions = 0;
        let decision = self.consider(color, thinking);
        self.settings.resign = resign;
        self.questions = questions;
        (self.game, self.diary) = (game, diary);
        match decision {
            Decision::Play(mv) => mv,
            Decision::Resign => Move::Pass,
        }
    }

    /// After the opponent's pass: does passing too win the game as it stands?
    fn should_answer_pass(&mut self, color: Color, deadline: Option<Instant>) -> bool {
        let passed = |last: &Record| last.mv == Move::Pass && last.color == color.opponent();
        let opponent_passed = self.game.records().last().is_some_and(passed);
        opponent_passed
            && self.has_time_for_status(deadline)
            && self.score_as_it_stands(color).is_some_and(|score| score > 0.0)
    }

    /// The player's score if the game ended now, by the rules in force; `None` if a group is still to be lived or
    /// killed.
    fn score_as_it_stands(&mut self, color: Color) -> Option<f32> {
        let status = self.final_status();
        (!status.is_unsettled).then_some(status.score * color.sign() as f32)
    }

    fn decide(
        &mut self,
        color: Color,
        report: &SearchReport,
        restriction: &Restriction,
        deadline: Option<Instant>,
        interrupted: &(dyn Fn() -> bool + Sync),
    ) -> Decision {
        if self.should_resign(color, report) {
            return Decision::Resign;
        }
        // With dead stones removed at the end, a finished game is not played on.
        let may_pass = restriction.permits(color, Move::Pass, 0);
        if may_pass
            && self.game.rules().friendly_pass
            && self.is_settled(&report.ownership)
            && self.has_time_for_status(deadline)
        {
            let is_territory = self.game.rules().scoring == Scoring::Territory;
            let is_enough = |score: f32| score > 0.0 || is_territory;
            if self.score_as_it_stands(color).is_some_and(is_enough)
                && self.can_afford_to_pass(color, report, deadline, interrupted)
            {
                return Decision::Play(Move::Pass);
            }
        }
        let may_be_played = |mv| restriction.permits(color, mv, 0) && self.game.check(color, mv).is_ok();
        let legal = report.moves.iter().find(|entry| may_be_played(entry.mv));
        Decision::Play(legal.map_or(Move::Pass, |entry| entry.mv))
    }

    /// Is the game lost, and was it at the last few moves too? One search may be wrong. In the opening it is always
    /// played on.
    fn should_resign(&mut self, color: Color, report: &SearchReport) -> bool {
        let Some(threshold) = self.settings.resign else { return false };
        let is_lost = report.value * (color.sign() as f32) < threshold
            && report.visits >= self.search.evaluator().visits_for_resigning()
            && self.game.records().len() * 4 > self.game.size().area();
        self.pace.note_prospect(color, is_lost) >= self.settings.resign_after.max(1)
    }

    /// Does the game still go as `report` expects it to if `color` passes? A search in which `color` always moves
    /// first cannot tell: it takes a group for alive that dies if it is left alone. So the opponent gets a search
    /// of the position after the pass.
    fn can_afford_to_pass(
        &mut self,
        color: Color,
        report: &SearchReport,
        deadline: Option<Instant>,
        interrupted: &(dyn Fn() -> bool + Sync),
    ) -> bool {
        let start = Instant::now();
        let left = deadline.map(|deadline| deadline.saturating_duration_since(start));
        let mut after = self.game.clone();
        if after.play(color, Move::Pass).is_err() || after.is_over() {
            return true;
        }
        // Where only simulations are counted, the answer must not depend on time.
        let is_timed = self.settings.playouts.is_none() && self.settings.visits.is_none();
        let hard = [is_timed.then_some(STATUS_TIME_MOST), left].into_iter().flatten().min();
        let playouts = self.search.evaluator().simulations_before_passing();
        let limits = Limits { hard, ..Limits::playouts(playouts) };
        let seed = mix(self.settings.seed).wrapping_add(self.questions);
        let elapsed = || start.elapsed();
        let answers = self.search.run(&after, seed, &Surroundings::new(&limits, &elapsed, interrupted));
        (answers.value - report.value) * color.sign() as f32 >= -PASS_LOSS_MOST
    }

    /// Is the owner of every stone and of every point that matters clear? Single neutral points may be open.
    fn is_settled(&self, ownership: &Ownership) -> bool {
        if ownership.count() < self.search.evaluator().evaluations_for_ownership()
            || self.game.board().stone_count() * 3 < self.game.size().area()
        {
            return false;
        }
        self.game.size().points().all(|point| ownership.mean(point).abs() >= SETTLED_MEAN)
    }
}
