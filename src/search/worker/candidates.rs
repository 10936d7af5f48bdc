//! Candidates of a selection under PUCT. Searches in one process and ranks of a cluster share them.

use super::move_stats;
use crate::node::Edge;
use crate::select::MoveStats;
use crate::table::NodeTable;
use kosumi_go::board::Move;
use std::ops::Deref;

/// A move that may be selected. `I` identifies its edge.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<I> {
    /// Edge of the move.
    pub edge: I,
    /// Tie-break: of equally urgent moves, the one with the smallest order is chosen.
    pub order: u16,
    /// Prior of the selection, in `[0, 1]`.
    pub probability: f32,
    /// Statistics from the perspective of the side to move.
    pub stats: MoveStats,
}

impl<I> Candidate<I> {
    /// Returns whether this unvisited move is chosen before `other`.
    pub fn is_likelier_than(&self, other: &Candidate<I>) -> bool {
        self.probability > other.probability
            || self.probability == other.probability && self.order < other.order
    }
}

/// Sums over the moves of a node, and the unvisited candidate.
#[derive(Clone, Copy, Debug)]
pub struct CandidateSums<I> {
    /// Weight of the visits through all edges, descents in progress included.
    pub edge_weight: f32,
    /// Sum of the probabilities of the visited moves.
    pub visited_probability: f32,
    /// Likeliest of the unvisited moves that may be searched. It is the most urgent of them.
    pub fresh: Option<Candidate<I>>,
}

/// Settings of [`collect_candidates`].
#[derive(Clone, Copy, Debug)]
pub struct CandidateSettings {
    /// 1 if Black is to move, and -1 for White.
    pub sign: f32,
    /// Number of lost games for each descent in progress.
    pub virtual_losses: f32,
    /// Whether moves have only been visited in the order of their priors. The first unvisited move is then the last
    /// candidate.
    pub is_in_order: bool,
}

/// Writes the moves of a node that may be searched and have statistics to `visited`. `probability` returns the prior of
/// an edge, and `permits` whether a move may be searched.
#[inline(always)]
pub fn collect_candidates<I: Copy, E: Deref<Target = Edge>>(
    table: &NodeTable,
    edges: impl Iterator<Item = (I, E)>,
    settings: CandidateSettings,
    probability: impl Fn(&Edge) -> f32,
    permits: impl Fn(Move) -> bool,
    visited: &mut Vec<Candidate<I>>,
) -> CandidateSums<I> {
    let CandidateSettings { sign, virtual_losses, is_in_order } = settings;
    visited.clear();
    let mut sums = CandidateSums { edge_weight: 0.0, visited_probability: 0.0, fresh: None };
    for (id, edge) in edges {
        let child = edge.child();
        let probability = probability(&edge);
        let stats = child.map(|child| move_stats(&edge, table.node(child), sign, virtual_losses));
        let stats = stats.unwrap_or_default();
        sums.edge_weight += stats.visits + stats.busy;
        if stats.visits > 0.0 {
            sums.visited_probability += probability;
        }
        if !permits(edge.mv()) {
            continue;
        }
        let it = Candidate { edge: id, order: edge.order(), probability, stats };
        if stats != MoveStats::default() {
            visited.push(it);
        } else if sums.fresh.is_none_or(|best| it.is_likelier_than(&best)) {
            sums.fresh = Some(it);
        }
        if child.is_none() && is_in_order {
            // No later move has been visited or is as likely.
            break;
        }
    }
    sums
}
