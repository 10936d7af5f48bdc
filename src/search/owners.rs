//! Expected owners of the points for reports: averages over the tree.
//!
//! A node does not store the owner of every point. With a network, the evaluator caches evaluations with their owners,
//! and the tree is traversed when a report requests owners. Playouts are not cached: their owners are summed while the
//! search runs, and the owners after a move come from a few additional playouts.

use super::NodeTable;
use super::node::NodeId;
use kosumi_eval::{Evaluator, Ownership};
use kosumi_go::board::{BoardSize, Move};
use kosumi_go::game::{Game, Line};

/// Contents of a report besides the statistics of the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Detail {
    /// The network's prediction for the position. The network is evaluated again if the prediction is no longer cached.
    pub raw: bool,
    /// Owners of the points, and their standard deviations.
    pub ownership: bool,
    /// Owners after each move, and their standard deviations.
    pub moves_ownership: bool,
}

/// Expected owner of every point in the order of [`BoardSize::points`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Owners {
    /// Mean owner, in `[-1, 1]`, +1 for Black.
    pub mean: Vec<f32>,
    /// Standard deviation of the owner over the evaluations, in `[0, 1]`.
    pub stdev: Vec<f32>,
}

impl Owners {
    /// Returns the owners by one evaluation of a network, given in steps of 1/127.
    pub(crate) fn of_evaluation(owners: &[i8]) -> Option<Owners> {
        let mut sums = Sums::new(owners.len());
        sums.add(owners, 1.0);
        sums.owners()
    }

    /// Returns the owners by summed evaluations. In a playout every point has one owner, so the deviation follows from
    /// the mean. For a network's evaluations, it is the largest possible deviation.
    pub fn of_sums(size: BoardSize, ownership: &Ownership) -> Owners {
        let mean: Vec<f32> = size.points().map(|point| ownership.mean(point)).collect();
        let stdev = mean.iter().map(|mean| (1.0 - mean * mean).max(0.0).sqrt()).collect();
        Owners { mean, stdev }
    }
}

/// Smallest share of the root's weight for which a node's subtree is traversed. A node below it represents its whole
/// subtree, so that a report takes milliseconds however long the search was.
const MIN_SHARE: f64 = 1.0 / 5000.0;

/// Length of the longest line that is followed. In a graph, a line may return to a node.
const MAX_DEPTH: usize = 400;

/// Weighted sums over evaluations.
struct Sums {
    weight: f64,
    owners: Vec<f32>,
    squares: Vec<f32>,
}

impl Sums {
    fn new(area: usize) -> Sums {
        Sums { weight: 0.0, owners: vec![0.0; area], squares: vec![0.0; area] }
    }

    fn add(&mut self, owners: &[i8], weight: f64) {
        self.weight += weight;
        let weight = weight as f32;
        for ((sum, square), &owner) in self.owners.iter_mut().zip(&mut self.squares).zip(owners) {
            let owner = f32::from(owner) / f32::from(i8::MAX);
            *sum += weight * owner;
            *square += weight * owner * owner;
        }
    }

    fn owners(self) -> Option<Owners> {
        let weight = self.weight as f32;
        if weight <= 0.0 {
            return None;
        }
        let mean: Vec<f32> = self.owners.iter().map(|sum| (sum / weight).clamp(-1.0, 1.0)).collect();
        let deviation = |(mean, square): (&f32, &f32)| (square / weight - mean * mean).max(0.0).sqrt();
        let stdev = mean.iter().zip(&self.squares).map(deviation).collect();
        Some(Owners { mean, stdev })
    }
}

/// Reader of owners from the tree of a search.
pub(crate) struct OwnersReader<'r, E> {
    /// Tree and root; `None` if the tree belongs to another process.
    tree: Option<(&'r NodeTable, NodeId)>,
    evaluator: &'r mut E,
    size: BoardSize,
    /// The line from the root to the current node, one entry for every node.
    lines: Vec<Line<'r>>,
}

impl<'r, E: Evaluator> OwnersReader<'r, E> {
    pub(crate) fn new(
        tree: Option<(&'r NodeTable, NodeId)>,
        game: &'r Game,
        evaluator: &'r mut E,
    ) -> OwnersReader<'r, E> {
        OwnersReader { tree, evaluator, size: game.size(), lines: vec![Line::new(game)] }
    }

    /// Returns the line of the root.
    pub(crate) fn line(&self) -> &Line<'r> {
        &self.lines[0]
    }

    /// Returns the evaluator.
    pub(crate) fn evaluator(&mut self) -> &mut E {
        self.evaluator
    }

    /// Returns the owners in the position of the root; `None` if no evaluation is cached.
    pub(crate) fn of_root(&mut self) -> Option<Owners> {
        let (_, root) = self.tree?;
        let mut sums = Sums::new(self.size.area());
        self.gather(root, 1.0, &mut sums);
        sums.owners()
    }

    /// Returns the owners after a move of the root; `None` if nothing is known.
    pub(crate) fn of_move(&mut self, mv: Move) -> Option<Owners> {
        if !self.advance(mv) {
            return None;
        }
        let owners = self.of_child(mv);
        self.lines.truncate(1);
        owners
    }

    fn of_child(&mut self, mv: Move) -> Option<Owners> {
        let line = self.lines.last()?;
        if let Some(ownership) = self.evaluator.ownership_by_playing(line) {
            return Some(Owners::of_sums(self.size, &ownership));
        }
        let mut sums = Sums::new(self.size.area());
        if let Some((table, root)) = self.tree {
            let node = table.node(root);
            let (mut all, mut found) = (f64::from(node.own().weight), None);
            for edge in table.edges(node) {
                let Some(child) = edge.child() else { continue };
                let weight = table.node(child).weight_of_visits(edge.visits());
                all += weight;
                if edge.mv() == mv {
                    found = Some((child, weight));
                }
            }
            if let Some((child, weight)) = found {
                // Even a move without weight is described by its own evaluation.
                self.gather(child, (weight / all.max(1e-12)).max(1e-12), &mut sums);
            }
        }
        if sums.weight <= 0.0 {
            let (_, owners) = self.evaluator.outlook(self.lines.last()?, true)?;
            sums.add(&owners, 1.0);
        }
        sums.owners()
    }

    /// Appends a move to the line. Returns false, without a change, if the move is illegal on this line. This happens
    /// only if two positions have equal keys.
    fn advance(&mut self, mv: Move) -> bool {
        let Some(line) = self.lines.last() else { return false };
        if mv.point().is_some_and(|point| line.check(point).is_err()) {
            return false;
        }
        let mut next = line.clone();
        next.play(mv);
        self.lines.push(next);
        true
    }

    /// Adds the evaluations in the subtree of a node, which is at the end of the line and has this share of the root's
    /// weight.
    fn gather(&mut self, id: NodeId, share: f64, sums: &mut Sums) {
        let Some((table, _)) = self.tree else { return };
        let (node, depth) = (table.node(id), self.lines.len());
        let Some(line) = self.lines.last() else { return };
        let own = f64::from(node.own().weight);
        let is_over = line.passes() >= 2 && depth > 1;
        let mut children = Vec::new();
        if !is_over && share >= MIN_SHARE && depth < MAX_DEPTH {
            for edge in table.edges(node).filter(|edge| edge.visits() > 0) {
                let Some(child) = edge.child() else { continue };
                let weight = table.node(child).weight_of_visits(edge.visits());
                if weight > 0.0 {
                    children.push((edge.mv(), child, weight));
                }
            }
        }
        let total = own + children.iter().map(|(.., weight)| weight).sum::<f64>();
        let own_share = if children.is_empty() { share } else { share * own / total };
        if own_share > 0.0
            && let Some((_, owners)) = self.evaluator.outlook(line, false)
        {
            sums.add(&owners, own_share);
        }
        for (mv, child, weight) in children {
            if self.advance(mv) {
                self.gather(child, share * weight / total, sums);
                // `pop` would move the line, which takes 70 kB, to the stack of every level.
                self.lines.truncate(depth);
            }
        }
    }
}
