//! Selection of the move that a descent follows from a node: the most urgent by the formula, or a move of an
//! exploration.

use super::candidates::{Candidate, CandidateSettings, collect_candidates};
use super::{Exploring, Worker};
use crate::exploration;
use crate::node::{self, Edge, EdgeId, Node, NodeId, Rave};
use crate::params::{Formula, PuctParams, RaveParams};
use crate::select::{self, MoveStats, Puct, RaveStats};
use crate::table::{EdgeRef, Edges};
use kosumi_eval::Evaluator;
use kosumi_go::board::Move;

/// Result of the selection formula.
#[derive(Clone, Copy, Debug)]
struct Selected {
    edge: EdgeId,
    /// Whether an unvisited move was among the candidates.
    has_fresh: bool,
}

impl<'s, E: Evaluator> Worker<'s, E> {
    /// Selects the edge to follow from a node; `None` if the node has no edge that may be chosen.
    pub(super) fn choose(&mut self, id: NodeId) -> Option<EdgeId> {
        let node = self.table.node(id);
        let explored = if self.path.is_empty() {
            self.explore(node)
        } else if self.exploring.is_some() {
            self.explore_below(id)
        } else {
            None
        };
        if explored.is_some() {
            return explored;
        }
        match self.params.formula {
            Formula::Rave(params) => self.select_by_rave(&params, node),
            Formula::Puct(params) => {
                let favoured_move = self.anti_mirror.and_then(|it| it.favoured_move(&self.line));
                // In both cases, any of the moves may be chosen.
                let is_restricted = self.restriction.applies_at(self.path.len()) || favoured_move.is_some();
                if is_restricted {
                    node.allow_any_order();
                }
                let chosen = self.select_by_puct(&params, node, is_restricted);
                let has_fresh = chosen.is_some_and(|it| it.has_fresh) && favoured_move.is_none();
                // All stored moves have been visited, and the next one might be more urgent.
                let chosen =
                    match !has_fresh && !self.table.is_complete(node) && self.extend(id, is_restricted) {
                        true => self.select_by_puct(&params, node, is_restricted),
                        false => chosen,
                    };
                let owed = favoured_move.and_then(|(mv, share)| self.mirror_share_due(node, mv, share));
                owed.or(chosen.map(|it| it.edge))
            }
        }
    }

    /// Returns the edge of a move if it may be searched and has less than this share of its node's visits.
    fn mirror_share_due(&self, node: &Node, mv: Move, share: f32) -> Option<EdgeId> {
        let visits =
            |edge: &Edge| edge.visits() + edge.child().map_or(0, |child| self.table.node(child).in_flight());
        let total: u32 = self.table.edges(node).map(|edge| visits(&edge)).sum();
        let edge = self.table.edges(node).find(|edge| edge.mv() == mv)?;
        let may_be = self.restriction.permits(self.line.to_move(), mv, self.path.len());
        (may_be && (visits(&edge) as f32) < share * total as f32).then_some(edge.id)
    }

    /// Selects the root's edge by the priors of the exploration, if this simulation does so.
    fn explore(&mut self, node: &Node) -> Option<EdgeId> {
        let exploration = self.exploration?;
        let counts = exploration.draw(self.rng.unit() as f32)?;
        let sign = self.line.to_move().sign() as f32;
        // The visits are those of the child nodes: simulations that do not count at this edge are included.
        let visited_child =
            |edge: &Edge| edge.child().map(|child| self.table.node(child)).filter(|it| it.visits() > 0);
        let edges = self.table.edges(node);
        let total = edges.filter_map(|edge| visited_child(&edge)).map(Node::visits).sum();
        let chosen = self.most_urgent(edges, |edge| {
            let child = visited_child(edge);
            let candidate = exploration::Candidate {
                prior: exploration.prior(edge.mv()),
                visits: child.map_or(0, |it| it.visits() + it.in_flight()),
                value: sign * child.map_or(node.value(), Node::value),
            };
            exploration.urgency(&candidate, total)
        });
        // Without a move to explore, the simulation is a usual one.
        self.counts_from = usize::from(!counts && chosen.is_some());
        chosen
    }

    /// Selects the edge of a node below the root, the end of the path, by the priors of the exploration, if this
    /// simulation does so.
    fn explore_below(&mut self, id: NodeId) -> Option<EdgeId> {
        let mut exploring = self.exploring.take()?;
        let chosen = self.explore_by(&mut exploring, id);
        self.exploring = Some(exploring);
        let (edge, counts) = chosen?;
        if self.table.edge(edge).child().is_none() {
            // Likelier moves may be unvisited.
            self.table.node(id).allow_any_order();
        }
        if !counts {
            self.counts_from = self.path.len() + 1;
        }
        Some(edge)
    }

    /// Selects an edge like `explore_below`, and returns whether the simulation counts.
    fn explore_by(&mut self, exploring: &mut Exploring<'s>, id: NodeId) -> Option<(EdgeId, bool)> {
        let (color, depth) = (self.line.to_move(), self.path.len());
        let Exploring { exploration, prior_source, priors } = exploring;
        let shares = exploration.shares[color];
        if shares.is_none() {
            return None;
        }
        let counts = shares.draw(self.rng.unit() as f32)?;
        priors.load(&mut **prior_source, &self.line);
        let (node, sign) = (self.table.node(id), color.sign() as f32);
        // Simulations that count are distributed over the visits of this node. Simulations that do not count explore
        // positions with few visits by any path.
        let visits = |edge: &Edge, child: Option<&Node>| match counts {
            true => edge.visits(),
            false => child.map_or(0, Node::visits),
        };
        let child = |edge: &Edge| edge.child().map(|child| self.table.node(child));
        let total = self.table.edges(node).map(|edge| visits(&edge, child(&edge))).sum();
        let urgency = |candidate: exploration::Candidate| {
            candidate.urgency(exploration.cpuct, exploration.cpuct_permanent, total)
        };
        // A move without visits has the value of the position.
        let unknown = sign * node.means().utility;
        let is_restricted = self.restriction.applies_at(depth);
        let mut best: Option<(EdgeId, f32)> = None;
        for edge in self.table.edges(node) {
            let prior = priors.take(edge.mv());
            if is_restricted && !self.restriction.permits(color, edge.mv(), depth) {
                continue;
            }
            let child = child(&edge);
            let known = child.filter(|child| child.visits() > 0);
            let urgency = urgency(exploration::Candidate {
                prior,
                visits: visits(&edge, child) + child.map_or(0, Node::in_flight),
                value: known.map_or(unknown, |child| sign * child.means().utility),
            });
            if urgency > best.map_or(f32::NEG_INFINITY, |(_, most)| most) {
                best = Some((edge.id, urgency));
            }
        }
        // The most likely move of people may be one that the network finds too unlikely to be stored.
        if !self.table.is_complete(node)
            && let Some((mv, prior)) =
                priors.likeliest_untaken(|mv| self.restriction.permits(color, mv, depth))
            && urgency(exploration::Candidate { prior, visits: 0, value: unknown })
                > best.map_or(f32::NEG_INFINITY, |(_, most)| most)
            && self.extend(id, true)
            && let Some(edge) = self.table.edges(node).find(|edge| edge.mv() == mv)
        {
            return Some((edge.id, counts));
        }
        best.map(|(edge, _)| (edge, counts))
    }

    fn select_by_rave(&self, params: &RaveParams, node: &Node) -> Option<EdgeId> {
        let sign = self.line.to_move().sign() as f32;
        let exploring = (node.visits() as f32).sqrt();
        self.most_urgent(self.table.edges(node), |edge| {
            let stats = self.stats(node, edge, sign);
            let (visits, value) = self.table.rave(edge.id).map_or((0, 0.0), Rave::visits_and_value);
            let prior = edge.prior().games();
            let rave = RaveStats {
                visits,
                value: sign * value,
                prior_weight: f32::from(prior.weight),
                prior_value: prior.value(),
            };
            select::rave_urgency(&stats, &rave, params, exploring)
        })
    }

    /// Returns the most urgent of the stored moves; `None` if none may be chosen.
    fn select_by_puct(&mut self, params: &PuctParams, node: &Node, is_restricted: bool) -> Option<Selected> {
        let (sign, depth, color) = (self.line.to_move().sign() as f32, self.path.len(), self.line.to_move());
        let scale = if depth == 0 { self.root_scale } else { 1.0 };
        let noise = self.noise.filter(|_| depth == 0);
        let mut visited = std::mem::take(&mut self.visited);
        let virtual_losses = self.params.virtual_losses;
        let sums = collect_candidates(
            self.table,
            self.table.edges(node).map(|edge| (edge.id, edge)),
            CandidateSettings { sign, virtual_losses, is_in_order: node.is_in_order() },
            |edge| {
                let own = scale * edge.prior().probability();
                noise.map_or(own, |noise| noise.probability(edge.mv(), own))
            },
            |mv| !is_restricted || self.restriction.permits(color, mv, depth),
            &mut visited,
        );
        let (edge_weight, fresh) = (sums.edge_weight, sums.fresh);
        let puct = Puct::new(params, &node.stats(sign, edge_weight, sums.visited_probability, depth == 0));
        let mut best: Option<(f32, Candidate<EdgeId>)> = None;
        for it in &visited {
            let is_forced = noise.is_some_and(|noise| {
                noise.is_forced(it.probability, it.stats.visits + it.stats.busy, edge_weight)
            });
            let bonus = noise.map_or(0.0, |noise| noise.bonus(&mut self.rng));
            let urgency =
                if is_forced { f32::INFINITY } else { puct.urgency(&it.stats, it.probability) + bonus };
            let is_better = |(most, than): (f32, Candidate<EdgeId>)| {
                urgency > most || urgency == most && it.order < than.order
            };
            if best.is_none_or(is_better) {
                best = Some((urgency, *it));
            }
        }
        self.visited = visited;
        let has_fresh = fresh.is_some();
        if let Some(fresh) = fresh {
            let bonus = noise.map_or(0.0, |noise| noise.bonus(&mut self.rng));
            let urgency = puct.urgency(&MoveStats::default(), fresh.probability) + bonus;
            if best.is_none_or(|(most, _)| urgency > most) {
                best = Some((urgency, fresh));
            }
        }
        best.map(|(_, it)| Selected { edge: it.edge, has_fresh })
    }

    /// Returns the edge with the largest `urgency` among those that may be searched; the first one among equals.
    #[inline]
    fn most_urgent(&self, edges: Edges<'_>, mut urgency: impl FnMut(&EdgeRef<'_>) -> f32) -> Option<EdgeId> {
        let depth = self.path.len();
        let is_restricted = self.restriction.applies_at(depth);
        let mut best = None;
        let mut best_urgency = f32::NEG_INFINITY;
        for edge in edges {
            if is_restricted && !self.restriction.permits(self.line.to_move(), edge.mv(), depth) {
                continue;
            }
            let urgency = urgency(&edge);
            if urgency > best_urgency {
                best_urgency = urgency;
                best = Some(edge.id);
            }
        }
        best
    }

    /// Returns the statistics of a move from the perspective of the side to move, after updating the value of the edge.
    #[inline]
    fn stats(&self, node: &Node, edge: &Edge, sign: f32) -> MoveStats {
        let (visits, seen_value) = edge.visits_and_seen_value();
        let (mut in_flight, mut value) = (0, seen_value);
        if let Some(child) = edge.child() {
            let child = self.table.node(child);
            in_flight = child.in_flight();
            if visits > 0 {
                value = child.value_fixed();
                if value != seen_value {
                    // The child's value has changed through another parent.
                    node.update_edge(edge, value, 0);
                }
            }
        }
        let busy = in_flight as f32;
        let lost = busy * self.params.virtual_losses;
        MoveStats { visits: visits as f32, value: sign * node::from_fixed(value), busy, lost }
    }
}
