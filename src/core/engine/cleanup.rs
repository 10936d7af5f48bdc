//! Taking the opponent's dead stones off the board before passing: what servers ask for after a dispute about them,
//! and what strict rules want.

use super::decide::Turn;
use super::passing::PASS_LOSS_MAX;
use super::status::{self, Moment};
use super::{Decision, Engine, Purpose, SearchRequest};
use crate::board::{Cell, Color, Move, PointSet};
use crate::rules::Rules;
use crate::search::{Limits, MoveReport, MoveRule, Restriction, SearchReport};
use crate::tactics;

/// A move that takes liberties may be worth so much less than the best of its kind, on the scale of values.
const EQUAL_VALUE: f32 = 0.1;
/// Moves with fewer visits than this share of the most visited one are not known well enough.
const ENOUGH_VISITS: f32 = 0.05;

impl Engine {
    /// Chooses a move for `color` and plays it; passes and resigns only when no dead stones of the opponent are left.
    pub fn genmove_cleanup(&mut self, color: Color, request: SearchRequest<'_>) -> Decision {
        self.take_turn(color, |engine| {
            engine.set_to_move(color);
            match engine.dead_stones(color.opponent()) {
                dead if dead.is_empty() => engine.choose(color, request),
                dead => Decision::Play(engine.taking_move(color, &dead, request.interrupted)),
            }
        })
    }

    /// What to do instead of passing: take dead stones, if there are any, and time to find them.
    pub(super) fn instead_of_passing(&mut self, turn: &Turn<'_>) -> Move {
        let has_time = self.has_time_for_status(turn.time_left());
        let dead = if has_time { self.dead_stones(turn.color.opponent()) } else { PointSet::EMPTY };
        if dead.is_empty() { Move::Pass } else { self.taking_move(turn.color, &dead, turn.interrupted) }
    }

    /// The dead stones of a player, whether the rules in force let them be or not.
    fn dead_stones(&mut self, color: Color) -> PointSet {
        let rules = Rules { friendly_pass: true, ..self.game.rules() };
        let status = if rules == self.game.rules() {
            self.status_if_over()
        } else {
            let game = self.game.with_rules(rules, self.game.komi());
            status::final_status(&mut self.memo, &game, Moment::End, self.search.evaluator())
        };
        let stones = self.game.board().stones().filter(|&(_, owner)| owner == color);
        let mut dead = PointSet::EMPTY;
        dead.extend_from(stones.map(|(point, _)| point).filter(|&point| status.dead.contains(point)));
        dead
    }

    /// A move on the way to taking these stones: on one of their liberties if that costs nothing, otherwise near
    /// them; elsewhere if all of these are bad; a pass if there is no other legal move.
    fn taking_move(
        &mut self,
        color: Color,
        dead: &PointSet,
        interrupted: &(dyn Fn() -> bool + Sync),
    ) -> Move {
        let near = self.around(dead);
        let no_pass = MoveRule { color, moves: vec![Move::Pass], until: 1 };
        let anywhere = Restriction { avoid: vec![no_pass], allow: Vec::new() };
        let near_only = MoveRule { color, moves: near.iter().map(Move::Play).collect(), until: 1 };
        let nearby = Restriction { avoid: Vec::new(), allow: vec![near_only] };
        let limits = halved(&self.limits(self.budget(color)));
        let game = self.game.clone();
        let free = self.run_search(
            &game,
            &limits,
            SearchRequest { restriction: anywhere, ..SearchRequest::new(interrupted) },
            Purpose::Analysis,
        );
        let taking = self.run_search(
            &game,
            &limits,
            SearchRequest { restriction: nearby, ..SearchRequest::new(interrupted) },
            Purpose::Analysis,
        );
        let best = self.best_taking_move(color, dead, &near, &taking);
        let own = |report: &MoveReport| report.value * color.sign() as f32;
        let elsewhere = free
            .moves
            .iter()
            .find(|entry| entry.mv != Move::Pass && self.game.check(color, entry.mv).is_ok());
        let choice = match (best, elsewhere) {
            (Some(best), Some(other)) if own(best) < own(other) - PASS_LOSS_MAX => Some(other),
            (best, other) => best.or(other),
        };
        let mv = choice.map_or(Move::Pass, |entry| entry.mv);
        self.report = Some(taking);
        mv
    }

    fn best_taking_move<'r>(
        &self,
        color: Color,
        dead: &PointSet,
        near: &PointSet,
        report: &'r SearchReport,
    ) -> Option<&'r MoveReport> {
        let board = self.game.board();
        let legal = |entry: &&MoveReport| {
            entry.mv.point().is_some_and(|point| near.contains(point))
                && self.game.check(color, entry.mv).is_ok()
        };
        let best = report.moves.iter().find(legal)?;
        let sign = color.sign() as f32;
        let is_good = |entry: &&MoveReport| {
            entry.visits as f32 >= ENOUGH_VISITS * best.visits as f32
                && entry.value * sign >= best.value * sign - EQUAL_VALUE
        };
        let takes_liberty = |entry: &&MoveReport| {
            entry.mv.point().is_some_and(|point| {
                point.adjacent().iter().any(|&next| dead.contains(next))
                    && !tactics::is_self_atari(board, point, color)
            })
        };
        report.moves.iter().filter(legal).filter(is_good).find(takes_liberty).or(Some(best))
    }

    /// The empty points from which these stones can be reached without crossing other ones.
    fn around(&self, dead: &PointSet) -> PointSet {
        let board = self.game.board();
        let mut reached = *dead;
        let mut open: Vec<_> = dead.iter().collect();
        while let Some(point) = open.pop() {
            for next in point.adjacent() {
                if board.cell(next) == Cell::Empty && reached.insert(next) {
                    open.push(next);
                }
            }
        }
        reached.without(dead)
    }
}

/// Limits for each of two searches that may take as long as one together. Visits of the first that the second must not
/// look at do not count for its limit, see [`SearchStats::visits`](crate::search::SearchStats::visits).
fn halved(limits: &Limits) -> Limits {
    let half = |count: u32| count.div_ceil(2);
    Limits {
        visits: limits.visits.map(half),
        playouts: limits.playouts.map(half),
        soft: limits.soft.map(|time| time / 2),
        hard: limits.hard.map(|time| time / 2),
        settled_from: limits.settled_from.map(|time| time / 2),
    }
}
