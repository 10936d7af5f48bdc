//! Questions about the position that are answered without choosing a move.

use super::Engine;
use super::status::Expects as _;
use crate::board::Move;
use crate::eval::{Evaluator, Ownership, Prior};
use crate::game::Line;
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

    /// The legal moves of the player on turn, with what is known of them before any search; best of all first.
    pub fn priors(&self) -> Vec<(Move, Prior)> {
        let mut moves = Vec::new();
        self.search.evaluator().clone().expand_root(&Line::new(&self.game), &mut moves);
        moves.retain(|&(mv, _)| self.game.check(self.game.to_move(), mv).is_ok());
        moves.sort_by(|(_, a), (_, b)| b.merit().total_cmp(&a.merit()));
        moves
    }
}
