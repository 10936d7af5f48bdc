//! Questions about the position that are answered without choosing a move.

use super::Engine;
use super::status::Expects as _;
use crate::board::{Cell, Move, Point, Symmetry};
use crate::eval::{Evaluator, Ownership, Prior};
use crate::game::{Game, Line};
use crate::search::SearchReport;

impl Engine {
    /// The latest search's result if it was of the position on the board, with the same player on turn.
    pub fn report_here(&self) -> Option<&SearchReport> {
        self.report.as_ref().filter(|_| self.searched == self.game.graph_key())
    }

    /// Who is expected to own what in the end: by the search of this position if there was one, otherwise by the
    /// evaluator alone. The same position and the same search always get the same answer.
    pub fn ownership(&self) -> Ownership {
        match self.report_here() {
            Some(report) if report.ownership.count() > 0 => report.ownership.clone(),
            _ => self.search.evaluator().now(&self.game),
        }
    }

    /// How far the score at the end may be from the expected one, as a standard deviation in points; zero if the game is over.
    ///
    /// By the network's own estimate, or by how far the playouts of this position's search scatter. Without either it
    /// follows from the expected owners: chains live or die as a whole, and empty points are taken as independent.
    pub fn score_deviation(&self) -> f32 {
        if self.game.is_over() {
            return 0.0;
        }
        if let Some(Ok(prediction)) = self.predict(self.game.to_move(), Symmetry::ALL[0], 0.0) {
            return prediction.score_stdev();
        }
        match self.report_here() {
            Some(report) if report.playouts > 1 => report.score_error * (report.playouts as f32).sqrt(),
            _ => self.deviation_by_owners(),
        }
    }

    fn deviation_by_owners(&self) -> f32 {
        let (board, ownership) = (self.game.board(), self.ownership());
        // The points that belong together with this one, counted at one of them.
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

    /// The legal moves of the player on turn, with what is known of them before any search; best of all first.
    pub fn priors(&self) -> Vec<(Move, Prior)> {
        self.priors_of(&self.game)
    }

    /// [`priors`](Engine::priors) of another position.
    pub(super) fn priors_of(&self, game: &Game) -> Vec<(Move, Prior)> {
        let mut moves = Vec::new();
        self.search.evaluator().clone().expand_root(&Line::new(game), &mut moves);
        moves.retain(|&(mv, _)| game.check(game.to_move(), mv).is_ok());
        moves.sort_by(|(_, a), (_, b)| b.merit().total_cmp(&a.merit()));
        moves
    }
}
