//! The root, and the control's data about it.

use super::Rank;
use crate::message::{EdgeView, Message, RootDone};
use kosumi_eval::Evaluator;
use kosumi_go::board::Key;
use kosumi_search::node::{Edge, Node};
use kosumi_search::stop::best_two;
use kosumi_search::worker::{average_root_symmetries, is_root_symmetry_due};

/// Largest number of moves of a variation in a report. It limits variations that contain a cycle.
const MAX_VARIATION: usize = 40;

impl<E: Evaluator> Rank<'_, E> {
    pub(super) fn root_done(&self, root: &Node, done: u32, cancelled: u32) -> RootDone {
        let edges = self.table.all_edges(root).iter();
        let permitted = edges.filter(|edge| self.restriction.permits(self.to_move, edge.mv(), 0));
        let best_two = best_two(permitted.map(|edge| edge.visits()));
        let visits = root.visits().saturating_sub(self.forbidden_visits);
        RootDone { done, cancelled, visits, best_two }
    }

    pub(super) fn refine_root_priors(&mut self) {
        let (averaged, most) = self.views;
        let Some(root) = self.table.find(self.begin.key) else { return };
        if is_root_symmetry_due(self.table.node(root), averaged, most) {
            self.line.reset();
            average_root_symmetries(
                self.table,
                root,
                &self.line,
                &mut self.evaluator,
                (averaged, most),
                self.temperature,
                &mut self.moves,
            );
        }
    }

    /// Sends the root's data to the control.
    pub(super) fn show(&mut self) {
        let Some(root) = self.table.find(self.begin.key) else {
            let (statistics, edges, pruned) = Default::default();
            return self.post(0, Message::Shown { statistics, edges, pruned, scale: 1.0 });
        };
        let root = self.table.node(root);
        let edges = self.table.all_edges(root).iter().map(|edge| self.view(edge)).collect();
        let (pruned, scale) = (self.pruned.clone(), self.root_scale);
        self.post(0, Message::Shown { statistics: root.statistics(), edges, pruned, scale });
    }

    fn view(&self, edge: &Edge) -> EdgeView {
        let child = edge.child().map(|child| self.table.node(child));
        EdgeView {
            mv: edge.mv(),
            prior: edge.prior(),
            visits: edge.visits(),
            child: child.map(|child| (child.key(), child.statistics())),
        }
    }

    /// Appends the most visited move of a node to a variation, and passes the request on to the rank of the next node.
    pub(super) fn follow(&mut self, slot: u16, key: Key, mut steps: Vec<EdgeView>) {
        let node = self.table.find(key).map(|node| self.table.node(node));
        let edges = node.map_or(&[][..], |node| self.table.all_edges(node));
        let best =
            edges.iter().max_by_key(|edge| (edge.visits(), edge.order())).filter(|edge| edge.visits() > 0);
        let step = best.map(|edge| self.view(edge));
        match step {
            Some(EdgeView { child: Some((key, _)), .. }) if steps.len() < MAX_VARIATION => {
                steps.extend(step);
                self.post(self.rank_of(key), Message::Follow { slot, key, steps });
            }
            _ => self.post(0, Message::Followed { slot, steps }),
        }
    }
}
