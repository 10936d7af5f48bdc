//! Values of positions in a search with a network, and the updates that keep the means of nodes current.

use super::NodeTable;
use super::bias::BiasTable;
use super::means::{self, Child};
use super::node::{Means, Node, NodeId};
use super::params::PuctParams;
use super::utility::UtilityScale;
use kosumi_eval::Evaluation;
use kosumi_go::board::Color;
use std::sync::atomic::Ordering;

/// Data on which values depend, shared by the workers of a search.
#[derive(Clone, Copy, Debug)]
pub struct Valuation<'s> {
    /// Nodes of the search.
    pub table: &'s NodeTable,
    /// Corrections of evaluations by local patterns.
    pub bias: &'s BiasTable,
    /// Parameters of the search.
    pub params: PuctParams,
    /// Conversion from scores to utilities.
    pub scale: UtilityScale,
}

impl Valuation<'_> {
    /// Adds an evaluation of a node's position, with `color` to move. `children` is a buffer.
    pub fn evaluated(&self, node: &Node, color: Color, evaluation: &Evaluation, children: &mut Vec<Child>) {
        let error = evaluation.errors.map(|errors| {
            f64::from(errors.value) + self.scale.slope(evaluation.score_mean.into()) * f64::from(errors.score)
        });
        node.add_own_prediction(evaluation, means::weight_of(&self.params, error) as f32);
        self.measure(node);
        self.refresh(node, color, children);
    }

    /// Computes the utility of a node's own evaluations.
    pub fn measure(&self, node: &Node) {
        let own = node.own();
        let utility = self.scale.utility(own.result.into(), own.score.into(), own.deviation.into());
        node.set_own_utility(utility as f32);
    }

    /// Computes the means of a node with `color` to move from those of its children.
    ///
    /// Only one worker at a time does so. A worker that arrives meanwhile leaves a request and continues, and the means
    /// are computed again.
    pub fn refresh(&self, node: &Node, color: Color, children: &mut Vec<Child>) {
        if node.refreshing.fetch_add(1, Ordering::AcqRel) > 0 {
            return;
        }
        let mut asked = 1;
        loop {
            node.set_means(&self.means(node, color, children));
            match node.refreshing.compare_exchange(asked, 0, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(now) => asked = now,
            }
        }
    }

    fn means(&self, node: &Node, color: Color, children: &mut Vec<Child>) -> Means {
        let sign = f64::from(color.sign());
        let is_in_order = node.is_in_order();
        children.clear();
        for edge in self.table.edges(node) {
            let visits = edge.visits();
            let child = edge.child();
            if child.is_none() && is_in_order {
                // No later move has been visited.
                break;
            }
            let child = child.filter(|_| visits > 0);
            let Some(child) = child.map(|child| self.table.node(child)) else { continue };
            let weight = child.weight_of_visits(visits);
            if weight > 0.0 {
                let utility = sign * f64::from(child.means().utility);
                let prior = edge.prior().probability().into();
                children.push(Child { edge: edge.id, order: edge.order(), utility, prior, weight });
            }
        }
        let visited: f64 = children.iter().map(|child| child.weight).sum();
        means::reweigh(children, &self.params);

        let mut sums = Sums::default();
        for child in children.iter() {
            let Some(node) = self.table.edge(child.edge).child().map(|child| self.table.node(child)) else {
                continue;
            };
            let means = node.means();
            let share = child.weight / f64::from(means.weight);
            sums.add(child.weight, &means, f64::from(means.weight_square) * share * share);
        }
        let own = node.own();
        if own.weight > 0.0 {
            let mut utility = node.own_utility();
            if self.params.subtree_value_bias_factor > 0.0 {
                if sums.weight > 0.0 {
                    let difference = (sums.utility / sums.weight) as f32 - utility;
                    let exponent = f64::from(self.params.subtree_value_bias_weight_exponent);
                    let weight = libm::pow(visited, exponent) as f32;
                    self.bias.record(node, difference * weight, weight);
                }
                utility += self.params.subtree_value_bias_factor * self.bias.bias(node) as f32;
            }
            let means = Means {
                result: own.result,
                utility,
                utility_square: utility * utility,
                score: own.score,
                score_square: own.score * own.score + own.deviation * own.deviation,
                lead: own.lead,
                no_result: own.no_result,
                ..Means::default()
            };
            let (own_weight, count) = (f64::from(own.weight), f64::from(node.own_visits().max(1)));
            sums.add(own_weight, &means, own_weight * own_weight / count);
        }
        sums.means()
    }

    /// Computes the means of all nodes that are reachable from `root`, where `color` is to move, from the leaves up.
    /// The bias contributions of unreachable nodes fade. No search may be running.
    pub(crate) fn refresh_all(&self, root: NodeId, color: Color) {
        let mut children = Vec::new();
        let mut path = vec![(root, self.table.edges(self.table.node(root)), color)];
        self.table.node(root).mark.store(1, Ordering::Relaxed);
        while let Some((id, mut edges, color)) = path.pop() {
            let node = self.table.node(id);
            let unseen = |child: &NodeId| self.table.node(*child).mark.swap(1, Ordering::Relaxed) == 0;
            let found = edges.by_ref().filter_map(|edge| edge.child()).find(unseen);
            if let Some(child) = found {
                path.push((id, edges, color));
                path.push((child, self.table.edges(self.table.node(child)), color.opponent()));
            } else {
                self.measure(node);
                self.refresh(node, color, &mut children);
            }
        }
        let kept = 1.0 - self.params.subtree_value_bias_free_prop;
        for id in self.table.ids() {
            let node = self.table.node(id);
            if node.mark.swap(0, Ordering::Relaxed) == 0 {
                self.bias.fade(node, kept);
            }
        }
    }
}

/// Weighted sums of means.
#[derive(Default)]
struct Sums {
    result: f64,
    utility: f64,
    utility_square: f64,
    score: f64,
    score_square: f64,
    lead: f64,
    no_result: f64,
    weight: f64,
    weight_square: f64,
}

impl Sums {
    fn add(&mut self, weight: f64, means: &Means, weight_square: f64) {
        self.result += weight * f64::from(means.result);
        self.utility += weight * f64::from(means.utility);
        self.utility_square += weight * f64::from(means.utility_square);
        self.score += weight * f64::from(means.score);
        self.score_square += weight * f64::from(means.score_square);
        self.lead += weight * f64::from(means.lead);
        self.no_result += weight * f64::from(means.no_result);
        self.weight += weight;
        self.weight_square += weight_square;
    }

    fn means(&self) -> Means {
        if self.weight <= 0.0 {
            return Means::default();
        }
        let mean = |sum: f64| (sum / self.weight) as f32;
        Means {
            result: mean(self.result),
            utility: mean(self.utility),
            utility_square: mean(self.utility_square),
            score: mean(self.score),
            score_square: mean(self.score_square),
            lead: mean(self.lead),
            no_result: mean(self.no_result),
            weight: self.weight as f32,
            weight_square: self.weight_square as f32,
        }
    }
}
