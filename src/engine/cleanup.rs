//! Capturing the opponent's dead stones before passing. Servers request this after a dispute about dead stones, and
//! some rules require it.

use super::decide::MoveConstraints;
use super::passing::MAX_PASS_LOSS;
use super::status::{self, Moment};
use super::{Decision, Engine, Purpose, SearchRequest};
use kosumi_go::board::{Cell, Color, Move, PointSet};
use kosumi_go::rules::Rules;
use kosumi_go::tactics;
use kosumi_search::{Limits, MoveReport, Restriction, SearchReport};

/// Maximum value that a move which takes a liberty may lose against the best move nearby, on a scale from −1 to 1.
const MAX_CAPTURE_LOSS: f32 = 0.1;
/// Share of the best move's visits below which the value of a move is too uncertain.
const ENOUGH_VISITS: f32 = 0.05;

impl Engine {
    /// Chooses a move for `color` and plays it. Passes or resigns only when no dead stones of the opponent are left.
    pub fn genmove_cleanup(&mut self, color: Color, request: SearchRequest<'_>) -> Decision {
        self.take_turn(color, |engine| {
            engine.set_to_move(color);
            match engine.dead_stones(color.opponent()) {
                dead if dead.is_empty() => engine.choose(color, request),
                dead => Decision::Play(engine.capturing_move(color, &dead, request.interrupted)),
            }
        })
    }

    /// Returns the move to play instead of a pass: one towards capturing dead stones, if there are any and if there is
    /// time to find them. Otherwise returns a pass.
    pub(super) fn instead_of_passing(&mut self, turn: &MoveConstraints<'_>) -> Move {
        let has_time = self.has_time_for_status(turn.time_left());
        let dead = if has_time { self.dead_stones(turn.color.opponent()) } else { PointSet::EMPTY };
        if dead.is_empty() { Move::Pass } else { self.capturing_move(turn.color, &dead, turn.interrupted) }
    }

    /// Returns the dead stones of this colour, even under rules by which every stone counts as alive.
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

    /// Returns a move towards capturing these stones: on one of their liberties if that loses nothing, otherwise near
    /// them, or elsewhere if all of these moves are bad. Returns a pass if no other move is legal.
    fn capturing_move(
        &mut self,
        color: Color,
        dead: &PointSet,
        interrupted: &(dyn Fn() -> bool + Sync),
    ) -> Move {
        let near = self.around(dead);
        let anywhere = Restriction::avoiding(color, [Move::Pass], 1);
        let nearby = Restriction::allowing(color, near.iter().map(Move::Play), 1);
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
            (Some(best), Some(other)) if own(best) < own(other) - MAX_PASS_LOSS => Some(other),
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
                && entry.value * sign >= best.value * sign - MAX_CAPTURE_LOSS
        };
        let takes_liberty = |entry: &&MoveReport| {
            entry.mv.point().is_some_and(|point| {
                point.adjacent().iter().any(|&next| dead.contains(next))
                    && !tactics::is_self_atari(board, point, color)
            })
        };
        report.moves.iter().filter(legal).filter(is_good).find(takes_liberty).or(Some(best))
    }

    /// Returns the empty points that are connected to these stones through empty points.
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

/// Returns limits for each of two searches that together may take as long as one. Visits that the first search gave to
/// moves excluded from the second do not count towards the second one's limit, see
/// [`SearchStats::visits`](kosumi_search::SearchStats::visits).
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
