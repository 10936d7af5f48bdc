//! Statistics of a node's moves for selection, under PUCT.

use kosumi_go::board::{Color, Move};
use kosumi_search::node::{Edge, Node};
use kosumi_search::params::PuctParams;
use kosumi_search::select::Puct;
use kosumi_search::worker::{Candidate, CandidateSettings, collect_candidates};
use kosumi_search::{NodeTable, Restriction};

/// A node of a descent, with everything on which a choice among its moves depends.
pub(crate) struct NodeChoice<'s> {
    pub(crate) table: &'s NodeTable,
    pub(crate) node: &'s Node,
    pub(crate) edges: &'s [Edge],
    /// Side to move.
    pub(crate) color: Color,
    /// Number of moves since the root.
    pub(crate) depth: usize,
    pub(crate) restriction: &'s Restriction,
    /// Factor of the probabilities of the moves.
    pub(crate) scale: f32,
    /// Number of lost games for each descent in progress.
    pub(crate) virtual_losses: f32,
}

impl NodeChoice<'_> {
    /// Writes the moves that may be searched and have statistics to `visited`, by their indices. Returns the formula,
    /// and the likeliest of the other moves that may be searched, which is the most urgent of them.
    #[inline]
    pub(crate) fn collect_visited(
        &self,
        params: &PuctParams,
        visited: &mut Vec<Candidate<usize>>,
    ) -> (Puct, Option<Candidate<usize>>) {
        let sign = self.color.sign() as f32;
        let sums = collect_candidates(
            self.table,
            self.edges.iter().enumerate(),
            // Visits that were sent together may leave gaps in the order.
            CandidateSettings { sign, virtual_losses: self.virtual_losses, is_in_order: false },
            |edge| self.scale * edge.prior().probability(),
            |mv| self.permits(mv),
            visited,
        );
        let stats = self.node.stats(sign, sums.edge_weight, sums.visited_probability, self.depth == 0);
        (Puct::new(params, &stats), sums.fresh)
    }

    /// Returns whether a move may be searched.
    #[inline]
    pub(crate) fn permits(&self, mv: Move) -> bool {
        !self.restriction.applies_at(self.depth) || self.restriction.permits(self.color, mv, self.depth)
    }
}
