//! A worker: it runs simulations one after another on the shared table. `selection.rs` selects the moves of a descent.

mod candidates;
mod selection;

pub use candidates::{Candidate, CandidateSettings, CandidateSums, collect_candidates};

use super::bias::{BiasTable, Kind};
use super::counters::Counters;
use super::exploration::{PriorSource, Priors, RootExploration, TreeExploration};
use super::means::Child;
use super::mirror::AntiMirror;
use super::node::{self, Edge, EdgeId, Node, NodeId};
use super::noise::RootNoise;
use super::params::{Formula, RaveParams, View};
use super::select::MoveStats;
use super::table::Claim;
use super::valuation::Valuation;
use super::{NodeTable, Restriction, SearchContext, SearchParams, root_moves};
use kosumi_eval::{Evaluation, Evaluator, FirstPlays, Prior};
use kosumi_go::board::{Color, Move};
use kosumi_go::game::{Game, Line};
use kosumi_go::rng::Rng;
use kosumi_sync::atomic::{AtomicU32, Ordering};

/// One edge of a descent.
#[derive(Clone, Copy)]
struct DescentEdge {
    node: NodeId,
    edge: EdgeId,
    mv: Move,
    color: Color,
    child: NodeId,
}

/// End of a descent.
enum DescentEnd<'s> {
    /// A leaf, whose position is that of the line. With a network, the claim keeps other workers from evaluating it.
    Leaf(NodeId, Option<Claim<'s>>),
    /// One move below this node: the position of the line has no node, because the table is full.
    BelowLeaf(NodeId),
    /// A node of the descent's own path.
    Cycle,
    /// A position that has no node, because the table is full, and that must not count for the node before it.
    Nowhere,
}

/// State of a worker for simulations that choose by other priors below the root.
struct Exploring<'s> {
    exploration: &'s TreeExploration,
    prior_source: Box<dyn PriorSource>,
    priors: Priors,
}

/// Data that all workers of a search share.
#[derive(Clone, Copy)]
pub(crate) struct WorkerContext<'s> {
    pub(crate) table: &'s NodeTable,
    pub(crate) params: SearchParams,
    /// Data on which values depend; only under PUCT.
    pub(crate) valuation: Option<Valuation<'s>>,
    pub(crate) root: NodeId,
    /// Temperature of the root's probabilities.
    pub(crate) temperature: f32,
    /// Factor of the root's probabilities, so that those of the moves that are not left out sum to 1.
    pub(crate) root_scale: f32,
}

/// See the [module documentation](self).
pub(crate) struct Worker<'s, E> {
    table: &'s NodeTable,
    params: SearchParams,
    root: NodeId,
    temperature: f32,
    root_scale: f32,
    line: Line<'s>,
    pub(crate) evaluator: E,
    rng: Rng,
    restriction: &'s Restriction,
    exploration: Option<&'s RootExploration>,
    noise: Option<&'s RootNoise>,
    anti_mirror: Option<AntiMirror>,
    exploring: Option<Box<Exploring<'s>>>,
    /// Depth from which the current simulation counts at the nodes of its path.
    counts_from: usize,
    path: Vec<DescentEdge>,
    /// Moves of the latest evaluation, if it returned any.
    moves: Vec<(Move, Prior)>,
    /// Side that first played on each point after the node that is being updated, see [`Worker::update_rave`].
    plays: FirstPlays,
    /// Data on which values depend; only under PUCT.
    valuation: Option<Valuation<'s>>,
    /// Buffers for the computation of means and for selection.
    children: Vec<Child>,
    visited: Vec<Candidate<EdgeId>>,
    pub(crate) counters: Counters,
}

/// Fullness of the node table up to which a node gets its moves together with its value, if the evaluator returns both.
/// Above it, only nodes that are reached again get moves: the moves take as much memory as the node, or much more.
pub const EARLY_EXPANSION_FULLNESS: f32 = 0.25;

/// Number of root visits for each further board symmetry that is averaged in the root's priors.
pub(crate) const VISITS_PER_ROOT_SYMMETRY: u32 = 16;

/// Returns the largest length of a descent. This is a guard: sensible searches have no line of this length without a
/// leaf.
pub fn depth_limit(game: &Game) -> usize {
    2 * game.size().area() + 20
}

/// Returns whether to average one more board symmetry, of at most `most`, in the root's priors after `averaged` of
/// them.
pub fn is_root_symmetry_due(root: &Node, averaged: &AtomicU32, most: u32) -> bool {
    let view = averaged.load(Ordering::Relaxed);
    view < most && root.visits() >= view.saturating_mul(VISITS_PER_ROOT_SYMMETRY)
}

/// Averages the root's priors with those under further board symmetries, as far as the visits allow: `averaged`
/// symmetries have been averaged, and `most` exist. `line` is the empty line, `moves` is a buffer.
pub fn average_root_symmetries<E: Evaluator>(
    table: &NodeTable,
    root: NodeId,
    line: &Line<'_>,
    evaluator: &mut E,
    (averaged, most): (&AtomicU32, u32),
    temperature: f32,
    moves: &mut Vec<(Move, Prior)>,
) {
    let node = table.node(root);
    while is_root_symmetry_due(node, averaged, most) {
        let view = averaged.load(Ordering::Relaxed);
        moves.clear();
        evaluator.expand_root_view(line, view, moves);
        root_moves::temper(moves, temperature);
        for edge in table.edges(node) {
            if let Some((_, prior)) = moves.iter().find(|(mv, _)| *mv == edge.mv()) {
                let (mean, new) = (edge.prior().probability(), prior.probability());
                edge.set_prior(Prior::Probability(mean + (new - mean) / (view + 1) as f32));
            }
        }
        averaged.store(view + 1, Ordering::Relaxed);
    }
}

/// Returns the statistics of an edge that leads to `child`, from the perspective of the side to move. `sign` is 1 for
/// Black and -1 for White.
#[inline]
pub fn move_stats(edge: &Edge, child: &Node, sign: f32, virtual_losses: f32) -> MoveStats {
    let visits = child.weight_of_visits(edge.visits()) as f32;
    let value = if visits > 0.0 { sign * child.means().utility } else { 0.0 };
    let busy = child.in_flight() as f32;
    MoveStats { visits, value, busy, lost: busy * virtual_losses }
}

impl<'s, E: Evaluator> Worker<'s, E> {
    pub(crate) fn new(
        common: WorkerContext<'s>,
        game: &'s Game,
        evaluator: E,
        rng: Rng,
        context: &SearchContext<'s>,
    ) -> Worker<'s, E> {
        let WorkerContext { table, params, valuation, root, temperature, root_scale } = common;
        let exploring = context.tree_exploration.filter(|_| valuation.is_some()).map(|exploration| {
            let prior_source = exploration.source.copy();
            Box::new(Exploring { exploration, prior_source, priors: Priors::default() })
        });
        Worker {
            table,
            params,
            root,
            temperature,
            root_scale,
            line: Line::new(game),
            evaluator,
            rng,
            restriction: context.restriction,
            exploration: context.exploration,
            noise: context.noise,
            anti_mirror: context.anti_mirror,
            exploring,
            counts_from: 0,
            path: Vec::new(),
            moves: Vec::new(),
            plays: FirstPlays::default(),
            valuation,
            children: Vec::new(),
            visited: Vec::new(),
            counters: Counters::default(),
        }
    }

    pub(crate) fn table(&self) -> &'s NodeTable {
        self.table
    }

    /// Returns the parameters that a report depends on.
    pub(crate) fn view(&self) -> View<'_> {
        View { params: &self.params, root_scale: self.root_scale }
    }

    /// Runs one simulation: selection, expansion, evaluation, backup.
    pub(crate) fn simulate(&mut self) {
        self.line.reset();
        self.path.clear();
        self.counts_from = 0;
        self.table.node(self.root).begin_visit();
        let end = self.descend();
        // The descent returned to a node of its own path. It learned nothing new, but the visit counts, so that the
        // next descent goes elsewhere.
        self.counters.cycles += u32::from(matches!(end, DescentEnd::Cycle));
        let (leaf, is_leaf, claim) = match end {
            DescentEnd::Leaf(leaf, claim) => (Some(leaf), true, claim),
            DescentEnd::BelowLeaf(above) => (Some(above), false, None),
            DescentEnd::Cycle | DescentEnd::Nowhere => (None, false, None),
        };
        if let Some(leaf) = leaf {
            self.moves.clear();
            let evaluation = self.evaluator.evaluate(&self.line, &mut self.rng, &mut self.moves);
            self.counters.add_score(evaluation.score);
            let square = evaluation.value * evaluation.value;
            let node = self.table.node(leaf);
            if let Some(valuation) = &self.valuation {
                let turn = self.line.to_move();
                let turn = if is_leaf { turn } else { turn.opponent() };
                valuation.evaluated(node, turn, &evaluation, &mut self.children);
            } else {
                node.add_own(node::to_fixed(evaluation.value));
                node.add_result(evaluation.score, square);
            }
            let has_moves = !self.moves.is_empty() && is_leaf;
            if has_moves && self.table.usage().fullness() < EARLY_EXPANSION_FULLNESS {
                self.table.expand(leaf, leaf == self.root, || &self.moves);
            }
            // Workers that wait for the evaluation continue now.
            drop(claim);
            self.back_up(evaluation.score, square);
            if let Formula::Rave(params) = self.params.formula {
                self.update_rave(&params, evaluation);
            }
        } else {
            // Under PUCT, both fields hold other numbers, to which nothing is added.
            let known = self.table.node(self.path.last().map_or(self.root, |step| step.child));
            self.back_up(known.score(), known.mean_square());
        }
        self.table.node(self.root).finish_visit();
        self.counters.playouts += 1;
        self.counters.depth = self.counters.depth.max(self.path.len() as u32);
    }

    /// Returns whether the latest simulation does not count at the root because of a choice below it.
    pub(crate) fn is_not_counted_at_root(&self) -> bool {
        self.counts_from > 1
    }

    /// Averages the root's priors with those under further board symmetries, `averaged` of at most `most` so far. A
    /// symmetry is added for every [`VISITS_PER_ROOT_SYMMETRY`] visits, so this is a small part of the work even in a
    /// short search.
    pub(crate) fn refine_root_priors(&mut self, averaged: &AtomicU32, most: u32) {
        if !is_root_symmetry_due(self.table.node(self.root), averaged, most) {
            return;
        }
        self.line.reset();
        let (table, root, temperature) = (self.table, self.root, self.temperature);
        average_root_symmetries(
            table,
            root,
            &self.line,
            &mut self.evaluator,
            (averaged, most),
            temperature,
            &mut self.moves,
        );
    }

    /// Follows the most urgent moves to a leaf.
    fn descend(&mut self) -> DescentEnd<'s> {
        let mut id = self.root;
        let limit = depth_limit(self.line.game());
        loop {
            let node = self.table.node(id);
            if self.line.passes() >= 2 && !self.line.moves().is_empty() || self.path.len() >= limit {
                return self.leaf(id);
            }
            if self.table.edges(node).is_empty() {
                let claim = match self.valuation {
                    Some(_) => match self.claim_or_wait(id) {
                        Some(claim) => Some(claim),
                        // Another worker has evaluated the node meanwhile, or created its moves.
                        None => continue,
                    },
                    None => None,
                };
                let enough = node.own_visits() >= self.params.expand_after || id == self.root;
                if !enough {
                    return DescentEnd::Leaf(id, claim);
                }
                self.expand(id);
            }
            let Some(chosen) = self.choose(id) else { return self.leaf(id) };
            let edge = self.table.edge(chosen);
            let mv = edge.mv();
            // The set of banned points is part of a node's key, so a node's moves are legal on every path to it.
            // Should two keys ever collide, the descent ends here instead of playing an illegal move.
            if let Move::Play(point) = mv
                && self.line.check(point).is_err()
            {
                return self.leaf(id);
            }
            let color = self.line.to_move();
            let known = edge.child();
            // The kind depends on the position before the move, which is gone after `play`.
            let kind = if known.is_none() { self.kind(color, mv) } else { None };
            self.line.play(mv);
            let child = match known {
                Some(child) => child,
                None => {
                    let before = self.table.node_count();
                    let Some(child) = self.table.find_or_insert(self.line.graph_key()) else {
                        if self.counts_from > self.path.len() {
                            return DescentEnd::Nowhere;
                        }
                        // The table is full. The evaluation of the position after this move counts for the node before
                        // it, as an estimate of the value of a choice among such moves.
                        return DescentEnd::BelowLeaf(id);
                    };
                    BiasTable::assign_kind(self.table.node(child), kind);
                    edge.set_child(Some(child));
                    if child.index() < before {
                        self.counters.transpositions += 1;
                    }
                    child
                }
            };
            self.path.push(DescentEdge { node: id, edge: chosen, mv, color, child });
            let met_itself =
                child == self.root || self.path[..self.path.len() - 1].iter().any(|step| step.child == child);
            self.table.node(child).begin_visit();
            if met_itself {
                return DescentEnd::Cycle;
            }
            id = child;
        }
    }

    /// Ends a descent at a node that may have been evaluated before.
    fn leaf(&mut self, id: NodeId) -> DescentEnd<'s> {
        let mut claim = None;
        while self.valuation.is_some() && claim.is_none() {
            claim = self.claim_or_wait(id);
        }
        DescentEnd::Leaf(id, claim)
    }

    fn claim_or_wait(&mut self, id: NodeId) -> Option<Claim<'s>> {
        let claim = self.table.claim_or_wait(id);
        self.counters.waits += u32::from(claim.is_none());
        claim
    }

    /// Returns the kind of a move in the position of the line, if the bias correction is in use.
    fn kind(&self, color: Color, mv: Move) -> Option<Kind> {
        self.valuation.as_ref().filter(|it| it.params.subtree_value_bias_factor > 0.0)?;
        Kind::of(self.line.board(), color, mv, self.line.last_moves()[0])
    }

    fn expand(&mut self, id: NodeId) {
        let (line, evaluator, moves) = (&self.line, &mut self.evaluator, &mut self.moves);
        self.table.expand(id, id == self.root, || {
            moves.clear();
            evaluator.expand(line, moves);
            moves
        });
    }

    /// Gives a node more of its moves, or all of them. The position of the line must be the node's. Returns whether the
    /// node has more moves now.
    fn extend(&mut self, id: NodeId, wants_all: bool) -> bool {
        let (line, evaluator, moves) = (&self.line, &mut self.evaluator, &mut self.moves);
        self.table.extend(id, wants_all, || {
            moves.clear();
            evaluator.expand(line, moves);
            moves
        })
    }

    /// Counts the visit on every edge of the path and updates the values of its nodes, from the leaf to the root. Score
    /// and square of the value count for every node but the leaf, which already has them.
    ///
    /// If a choice below the root does not count, the nodes before it stay unchanged to the last bit. They take over
    /// their children's new values with the next simulation that counts.
    fn back_up(&mut self, score: f32, square: f32) {
        for (depth, step) in self.path.iter().enumerate().rev() {
            let child = self.table.node(step.child);
            let node = self.table.node(step.node);
            let edge = self.table.edge(step.edge);
            let counts = depth >= self.counts_from;
            if !counts && self.is_not_counted_at_root() {
                child.finish_visit();
                continue;
            }
            if let Some(valuation) = &self.valuation {
                if counts {
                    node.count_visit(edge);
                }
                valuation.refresh(node, step.color, &mut self.children);
            } else if counts {
                node.update_edge(edge, child.value_fixed(), 1);
                node.add_result(score, square);
            } else {
                node.update_edge(edge, child.value_fixed(), 0);
            }
            child.finish_visit();
        }
    }

    /// Updates the all-moves-as-first statistics: every move that a side made anywhere later in the simulation counts,
    /// at the nodes of the path, as if it had been made there.
    ///
    /// CITE: Gelly and Silver (2007); with the moves of the playout, which Pachi measured to be worth 18 % of games on
    /// 9×9.
    fn update_rave(&mut self, params: &RaveParams, evaluation: Evaluation) {
        if params.rave_equivalence <= 0.0 {
            return;
        }
        let Some(first_plays) = self.evaluator.first_plays() else { return };
        self.plays.copy_from(first_plays);
        let plays = &mut self.plays;
        let late = (params.rave_early_share * self.line.game().size().area() as f32) as u16;
        let update = |id: NodeId, color: Color, plays: &FirstPlays| {
            for edge in self.table.edges(self.table.node(id)) {
                let Move::Play(point) = edge.mv() else { continue };
                if let Some((player, when)) = plays.get(point)
                    && player == color
                {
                    let games = if when <= late { 2 } else { 1 };
                    self.table.rave(edge.id).inspect(|rave| rave.add(evaluation.value, games));
                }
            }
        };
        // The leaf itself may have moves already, if the table was full or the game over.
        for step in self.path.iter().rev() {
            if let Move::Play(point) = step.mv {
                plays.record_earlier(point, step.color);
            }
            update(step.node, step.color, plays);
        }
    }
}
