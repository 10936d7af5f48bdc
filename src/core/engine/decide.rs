//! Choosing a move: one search, and what its report says about resigning, passing and playing on.

use super::record::SearchSummary;
use super::uneven::Uneven;
use super::{Decision, Engine, Purpose, SearchRequest, reading};
use crate::board::{Color, Move};
use crate::eval::Ownership;
use crate::game::Record;
use crate::rng::{Rng, mix};
use crate::rules::Scoring;
use crate::search::{Limits, Restriction, SearchContext, SearchReport};
use std::time::{Duration, Instant};

/// The search behind a pass may take as long as this.
const PASS_CHECK_TIME_MAX: Duration = Duration::from_millis(500);
/// A point is settled if one side owns it at least so clearly, as a mean owner.
const SETTLED_MEAN: f32 = 0.8;
/// So much of the expected result may be lost by passing; two searches of one position differ by less.
pub(super) const PASS_LOSS_MAX: f32 = 0.3;

/// More than a handicap stone is worth, so that nobody resigns for being as far behind as he was at the beginning.
const POINTS_FOR_A_STONE: f32 = 20.0;

/// What a choice must keep to.
struct Turn<'a> {
    color: Color,
    restriction: Restriction,
    /// When the clock's time for this move is over.
    deadline: Option<Instant>,
    interrupted: &'a (dyn Fn() -> bool + Sync),
}

impl Turn<'_> {
    fn permits(&self, mv: Move) -> bool {
        self.restriction.permits(self.color, mv, 0)
    }

    /// Time until the deadline.
    fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

impl Engine {
    /// [Chooses](Engine::choose) a move for `color` and plays it. The time it took goes off the player's clock.
    pub fn genmove(&mut self, color: Color, request: SearchRequest<'_>) -> Decision {
        self.take_turn(color, |engine| engine.choose(color, request))
    }

    /// Plays what `choose` decides. The time it takes goes off the player's clock.
    pub(super) fn take_turn(
        &mut self,
        color: Color,
        choose: impl FnOnce(&mut Engine) -> Decision,
    ) -> Decision {
        let start = self.time_manager.begin_move();
        let searches = self.searches;
        let hard = self.budget(color).map(|budget| budget.hard);
        let decision = choose(self);
        if let Some(hard) = hard {
            self.time_manager.note_overrun(start.elapsed().saturating_sub(hard));
        }
        match decision {
            Decision::Play(mv) => {
                // Strict always: only legal moves are decided on.
                let played = self.game.play(color, mv);
                debug_assert_eq!(played, Ok(()), "{color} {mv}");
                // A pass may be decided without a search; the report is an old one then.
                let report = self.report.as_ref().filter(|_| self.searches > searches);
                let summary = report.map(|report| SearchSummary::new(report, mv));
                self.notes.note_own_move(self.game.records().len(), color, summary);
                self.time_manager.made_move(self.notes.revision());
            }
            Decision::Resign => self.notes.note_resignation(color),
        }
        self.clocks[color].spend(start.elapsed());
        self.time_manager.end_move();
        decision
    }

    /// Chooses a move for `color` by one search, unless a pass ends a won game at once. The moves of the game stay as
    /// they are, and the turn is `color`'s.
    pub fn choose(&mut self, color: Color, request: SearchRequest<'_>) -> Decision {
        self.set_to_move(color);
        let start = self.time_manager.began().unwrap_or_else(Instant::now);
        let budget = self.budget(color);
        let deadline = budget.and_then(|budget| start.checked_add(budget.hard));
        let (restriction, interrupted) = (request.restriction.clone(), request.interrupted);
        let turn = Turn { color, restriction, deadline, interrupted };
        let decision = if self.pass_ends_a_won_game(&turn) {
            Decision::Play(Move::Pass)
        } else {
            self.uneven.decide(&self.game, self.settings.doubling_advantage_per_point);
            let report = self.run_search(&self.limits(budget), request, Purpose::Play);
            self.uneven.note(report.value);
            let decision = self.decide(&turn, &report);
            self.report = Some(report);
            decision
        };
        let takes_dead_stones = self.settings.capture_dead && self.game.rules().scoring == Scoring::Area;
        if decision == Decision::Play(Move::Pass) && takes_dead_stones && !turn.restriction.applies_at(0) {
            return Decision::Play(self.instead_of_passing(color, interrupted));
        }
        decision
    }

    /// A move for a regression test: the game stays, chance does not depend on what was asked before, and the
    /// engine does not resign.
    pub fn regression_move(&mut self, color: Color, request: SearchRequest<'_>) -> Move {
        let (game, notes) = (self.game.clone(), self.notes.clone());
        self.time_manager.begin_game();
        self.uneven = Uneven::default();
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

    /// What a search's report means: give the game up, pass because nothing is left to be gained, or play the best
    /// move that is permitted.
    fn decide(&mut self, turn: &Turn<'_>, report: &SearchReport) -> Decision {
        if self.should_resign(turn.color, report) {
            return Decision::Resign;
        }
        if self.should_pass(turn, report) {
            return Decision::Play(Move::Pass);
        }
        let may_be_played = |mv| turn.permits(mv) && self.game.check(turn.color, mv).is_ok();
        let unit = Rng::new(mix(self.settings.seed).wrapping_add(self.searches)).unit();
        if let Some(mv) = self.human_choice(report, unit, may_be_played) {
            return Decision::Play(mv);
        }
        if let Some(mv) = self.ranked_choice(report, unit, may_be_played) {
            return Decision::Play(mv);
        }
        let best = report.moves.iter().find(|entry| may_be_played(entry.mv));
        let best = best.map_or(Move::Pass, |entry| entry.mv);
        let vital = if best == Move::Pass { self.vital_move(turn) } else { None };
        Decision::Play(vital.unwrap_or(best))
    }

    /// Instead of a pass: what saves an own enclosed group or kills one of the opponent's, if that hangs on who moves first.
    /// A short search may not see it.
    fn vital_move(&mut self, turn: &Turn<'_>) -> Option<Move> {
        if !self.has_time_for_status(turn.time_left()) {
            return None;
        }
        let start = Instant::now();
        let unsettled = self.final_status().unsettled;
        let (game, suicide) = (&self.game, self.game.rules().suicide);
        let may_be_played = |mv| turn.permits(mv) && game.check(turn.color, mv).is_ok();
        let vital =
            reading::vital_move(&mut self.memo, game.board(), &unsettled, turn.color, suicide, may_be_played);
        // It comes behind the status, so the next turn keeps time for both.
        self.time_manager.note_status(start.elapsed());
        vital
    }

    /// Is the game lost, and was it at the last few moves too? One search may be wrong. In the opening it is always
    /// played on; and who has given a handicap goes on for longer, because the search takes both for equally strong.
    fn should_resign(&mut self, color: Color, report: &SearchReport) -> bool {
        let Some(threshold) = self.settings.resign else { return false };
        let sign = color.sign() as f32;
        let usual = (self.search.evaluator().visits_for_resigning(), 0.0);
        let (visits, behind) = self.style().map_or(usual, |style| style.to_resign(usual.0));
        let is_lost = report.value * sign < threshold
            && report.visits >= visits
            && -report.score * sign >= behind + self.to_win_back(color)
            && self.game.records().len() * 4 > self.game.size().area();
        self.time_manager.note_prospect(color, is_lost) >= self.settings.resign_after.max(1)
    }

    /// Points that may still be won back from a player who needed handicap stones: so many for each of them, and the fewer,
    /// the less of the board is empty.
    pub(super) fn to_win_back(&self, color: Color) -> f32 {
        let stones = if color == Color::White { self.game.handicap() } else { 0 };
        if stones < 2 {
            return 0.0;
        }
        let area = self.game.size().area() as f32;
        POINTS_FOR_A_STONE * stones as f32 * (1.0 - self.game.board().stone_count() as f32 / area)
    }

    /// After the opponent's pass: does passing too win the game as it stands?
    fn pass_ends_a_won_game(&mut self, turn: &Turn<'_>) -> bool {
        let passed = |last: &Record| last.mv == Move::Pass && last.color == turn.color.opponent();
        turn.permits(Move::Pass)
            && self.game.records().last().is_some_and(passed)
            && self.has_time_for_status(turn.time_left())
            && self.score_as_it_stands(turn.color).is_some_and(|score| score > 0.0)
    }

    /// With dead stones removed at the end, a finished game is not played on: everything is settled, the score is good
    /// enough, and the opponent gains nothing by moving first.
    fn should_pass(&mut self, turn: &Turn<'_>, report: &SearchReport) -> bool {
        let is_territory = self.game.rules().scoring == Scoring::Territory;
        let is_enough = |score: f32| score > 0.0 || is_territory;
        turn.permits(Move::Pass)
            && self.game.rules().friendly_pass
            && self.is_settled(&report.ownership)
            && self.has_time_for_status(turn.time_left())
            && self.score_as_it_stands(turn.color).is_some_and(is_enough)
            && self.can_afford_to_pass(turn, report)
    }

    /// The player's score if the game ended now, by the rules in force; `None` if a group is still to be lived or
    /// killed.
    fn score_as_it_stands(&mut self, color: Color) -> Option<f32> {
        let status = self.final_status();
        status.unsettled.is_empty().then_some(status.score * color.sign() as f32)
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
        answers.is_some_and(|answers| {
            (answers.value - report.value) * turn.color.sign() as f32 >= -PASS_LOSS_MAX
        })
    }
}
