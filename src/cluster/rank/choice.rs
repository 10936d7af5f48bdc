//! Selection of the edges by which visits continue.

use super::Rank;
use super::node_choice::NodeChoice;
use kosumi_eval::Evaluator;
use kosumi_search::Formula;
use kosumi_search::node::Node;
use kosumi_search::select::MoveStats;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A candidate move. The most urgent is the greatest; among equals, the one with the smallest order.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Urgent {
    urgency: f32,
    order: Reverse<u16>,
    place: usize,
    stats: MoveStats,
}

impl Eq for Urgent {}

impl Ord for Urgent {
    fn cmp(&self, other: &Urgent) -> Ordering {
        self.urgency.total_cmp(&other.urgency).then(self.order.cmp(&other.order))
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
        let (puct, mut fresh) = here.look(params, &mut self.visited);
        let urgent = |place: usize, stats: MoveStats| {
            let urgency = puct.urgency(&stats, scale * edges[place].prior().probability());
            Urgent { urgency, order: Reverse(edges[place].order()), place, stats }
        };
        let mut known: BinaryHeap<Urgent> =
            self.visited.iter().map(|&(place, stats)| urgent(place, stats)).collect();
        let mut chosen: Vec<(usize, u32)> = Vec::new();
        for _ in 0..count {
            let new = fresh.map(|(place, _)| urgent(place, MoveStats::default()));
            let best = match (known.peek().copied(), new) {
                (Some(old), Some(new)) if new.urgency > old.urgency => new,
                (None, Some(new)) => new,
                (Some(old), _) => old,
                (None, None) => return chosen,
            };
            let place = best.place;
            if new.is_some_and(|new| new.place == best.place) {
                chosen.push((place, 0));
                fresh = next_fresh(&here, &self.visited, &chosen);
            } else {
                known.pop();
            }
            let (busy, lost) = (best.stats.busy + 1.0, best.stats.lost + self.params.virtual_losses);
            known.push(urgent(place, MoveStats { busy, lost, ..best.stats }));
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
    visited: &[(usize, MoveStats)],
    chosen: &[(usize, u32)],
) -> Option<(usize, f32)> {
    let is_restricted = here.restriction.applies_at(here.depth);
    let mut best: Option<(usize, f32)> = None;
    for (place, edge) in here.edges.iter().enumerate() {
        let probability = edge.prior().probability();
        if best.is_some_and(|(_, most)| probability <= most)
            || (is_restricted && !here.restriction.permits(here.color, edge.mv(), here.depth))
            || visited.binary_search_by_key(&place, |&(place, _)| place).is_ok()
            || chosen.iter().any(|&(it, _)| it == place)
        {
            continue;
        }
        best = Some((place, probability));
    }
    best
}
