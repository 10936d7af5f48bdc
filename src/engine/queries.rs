//! Queries about the position that do not choose a move.

use super::Engine;
use super::status::OwnershipSource as _;
use kosumi_eval::{Evaluator, Ownership, Prior};
use kosumi_go::board::{Cell, Move, Point, Symmetry};
use kosumi_go::game::{Game, Line};
use kosumi_search::SearchReport;

impl Engine {
    /// Returns the latest report if it is about the current position with the same side to move.
    pub fn report_of_position(&self) -> Option<&SearchReport> {
        self.report.as_ref().filter(|_| self.report_key == self.game.graph_key())
    }

    /// Returns the expected owner of every point: from the search of this position if there was one, otherwise from the
    /// evaluator alone. The result depends on the position and the search only.
    pub fn ownership(&self) -> Ownership {
        match self.report_of_position() {
            Some(report) if report.ownership.count() > 0 => report.ownership.clone(),
            _ => self.search.evaluator().now(&self.game),
        }
    }

    /// Returns the standard deviation of the final score around the expected one, in points. Returns zero if the game
    /// is over.
    ///
    /// The value is the network's own estimate, or the spread of the playouts in this position's search. Without
    /// either, it follows from the expected owners: each chain lives or dies as a whole, and empty points are treated
    /// as independent.
    pub fn score_deviation(&self) -> f32 {
        if self.game.is_over() {
            return 0.0;
        }
        if let Some(Ok(prediction)) = self.predict(self.game.to_move(), Symmetry::ALL[0], 0.0) {
            return prediction.score_stdev();
        }
        match self.report_of_position() {
            Some(report) if report.playouts > 1 => report.score_error * (report.playouts as f32).sqrt(),
            _ => self.deviation_by_owners(),
        }
    }

    fn deviation_by_owners(&self) -> f32 {
        let (board, ownership) = (self.game.board(), self.ownership());
        // Number of points that certainly have the same owner as this one. A chain counts once, at its anchor.
        let together = |point: Point| match board.cell(point) {
            Cell::Black | Cell::White if board.anchor(point) == point => board.chain(point).count(),
            Cell::Empty => 1,
            Cell::Black | Cell::White | Cell::Border => 0,
        };
        let variance = |point: Point| {
            let (points, owner) = (together(point) as f32, ownership.mean(point));
            points * points * (1.0 - owner * owner).max(0.0)
        };
        board.size().points().map(variance).sum::<f32>().sqrt()
    }

    /// Returns the legal moves of the side to move with their priors, the most promising first.
    pub fn priors(&self) -> Vec<(Move, Prior)> {
        self.priors_of(&self.game)
    }

    /// Returns the [`priors`](Engine::priors) of another position.
    pub(super) fn priors_of(&self, game: &Game) -> Vec<(Move, Prior)> {
        let mut moves = Vec::new();
        self.search.evaluator().clone().expand_root(&Line::new(game), &mut moves);
        moves.retain(|&(mv, _)| game.check(game.to_move(), mv).is_ok());
        moves.sort_by(|(_, a), (_, b)| b.ordering_key().total_cmp(&a.ordering_key()));
        moves
    }
}
