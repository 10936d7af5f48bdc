//! Statistics of a node's moves for selection, under PUCT.

use kosumi_go::board::Color;
use kosumi_search::node::{Edge, Node};
use kosumi_search::params::PuctParams;
use kosumi_search::select::{MoveStats, Puct};
use kosumi_search::worker::move_stats;
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
    /// Writes the moves that may be searched and have statistics to `visited`. Returns the formula, and the index and
    /// the probability of the likeliest of the other moves that may be searched, which is the most urgent of them.
    #[inline]
    pub(crate) fn look(
        &self,
        params: &PuctParams,
        visited: &mut Vec<(usize, MoveStats)>,
    ) -> (Puct, Option<(usize, f32)>) {
        let sign = self.color.sign() as f32;
        let is_restricted = self.restriction.applies_at(self.depth);
        visited.clear();
        let (mut edge_weight, mut visited_probability) = (0.0, 0.0);
        // Of the unvisited moves, the likeliest is the most urgent.
        let mut fresh: Option<(usize, f32)> = None;
        for (index, edge) in self.edges.iter().enumerate() {
            let probability = self.scale * edge.prior().probability();
            let stats =
                edge.child().map(|child| move_stats(edge, self.table.node(child), sign, self.virtual_losses));
            let stats = stats.unwrap_or_default();
            edge_weight += stats.visits + stats.busy;
            if stats.visits > 0.0 {
                visited_probability += probability;
            }
            if is_restricted && !self.restriction.permits(self.color, edge.mv(), self.depth) {
                continue;
            }
            if stats != MoveStats::default() {
                visited.push((index, stats));
            } else if fresh.is_none_or(|(_, most)| probability > most) {
                fresh = Some((index, probability));
            }
        }
        let puct =
            Puct::new(params, &self.node.stats(sign, edge_weight, visited_probability, self.depth == 0));
        (puct, fresh)
    }
}
