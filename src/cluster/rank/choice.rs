//! Selection of the edges by which visits continue.

use super::Rank;
use super::node_choice::NodeChoice;
use kosumi_eval::Evaluator;
use kosumi_search::Formula;
use kosumi_search::node::Node;
use kosumi_search::select::MoveStats;
use kosumi_search::worker::Candidate;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A candidate move. The most urgent is the greatest; among equals, the one with the smallest order.
#[derive(Clone, Copy, Debug)]
struct Urgent {
    urgency: f32,
    it: Candidate<usize>,
}

impl PartialEq for Urgent {
    fn eq(&self, other: &Urgent) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Urgent {}

impl Ord for Urgent {
    fn cmp(&self, other: &Urgent) -> Ordering {
        self.urgency.total_cmp(&other.urgency).then(other.it.order.cmp(&self.it.order))
    }
}

impl PartialOrd for Urgent {
    fn partial_cmp(&self, other: &Urgent) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E: Evaluator> Rank<'_, E> {
    /// Selects the edges by which `count` visits continue. Returns the indices of the edges in the order of their
    /// selection, each with its number of visits. Each visit is chosen as in a search, with all earlier ones as
    /// descents in progress.
    pub(super) fn choose(&mut self, node: &Node, depth: usize, count: u32) -> Vec<(usize, u32)> {
        let Formula::Puct(params) = &self.params.formula else { return Vec::new() };
        if self.restriction.applies_at(depth) {
            node.allow_any_order();
        }
        let edges = self.table.all_edges(node);
        let scale = if depth == 0 { self.root_scale } else { 1.0 };
        let here = NodeChoice {
            table: self.table,
            node,
            edges,
            color: self.turn(depth),
            depth,
            restriction: &self.restriction,
            scale,
            virtual_losses: self.params.virtual_losses,
        };
        let (puct, mut fresh) = here.collect_visited(params, &mut self.visited);
        let urgent = |it: Candidate<usize>| Urgent { urgency: puct.urgency(&it.stats, it.probability), it };
        let mut known: BinaryHeap<Urgent> = self.visited.iter().map(|&it| urgent(it)).collect();
        let mut chosen: Vec<(usize, u32)> = Vec::new();
        for _ in 0..count {
            let new = fresh.map(urgent);
            let best = match (known.peek().copied(), new) {
                (Some(old), Some(new)) if new.urgency > old.urgency => new,
                (None, Some(new)) => new,
                (Some(old), _) => old,
                (None, None) => return chosen,
            };
            let place = best.it.edge;
            if new.is_some_and(|new| new.it.edge == place) {
                chosen.push((place, 0));
                fresh = next_fresh(&here, &self.visited, &chosen);
            } else {
                known.pop();
            }
            let stats = best.it.stats;
            let (busy, lost) = (stats.busy + 1.0, stats.lost + self.params.virtual_losses);
            known.push(urgent(Candidate { stats: MoveStats { busy, lost, ..stats }, ..best.it }));
            match chosen.iter_mut().find(|(it, _)| *it == place) {
                Some((_, count)) => *count += 1,
                None => chosen.push((place, 1)),
            }
        }
        chosen
    }
}

/// Returns the likeliest of the moves that have no statistics and have not been chosen.
fn next_fresh(
    here: &NodeChoice<'_>,
    visited: &[Candidate<usize>],
    chosen: &[(usize, u32)],
) -> Option<Candidate<usize>> {
    let mut best: Option<Candidate<usize>> = None;
    for (place, edge) in here.edges.iter().enumerate() {
        let probability = here.scale * edge.prior().probability();
        let it = Candidate { edge: place, order: edge.order(), probability, stats: MoveStats::default() };
        if best.is_none_or(|best| it.is_likelier_than(&best))
            && here.permits(edge.mv())
            && visited.binary_search_by_key(&place, |it| it.edge).is_err()
            && chosen.iter().all(|&(it, _)| it != place)
        {
            best = Some(it);
        }
    }
    best
}
