//! One worker: simulations, one after the other, on the shared table.

use super::bias::{BiasTable, Kind};
use super::exploration::{Candidate, People, Priors, RootExploration, TreeExploration};
use super::means::Child;
use super::mirror::AntiMirror;
use super::node::{self, Edge, EdgeId, Node, NodeId, Rave};
use super::noise::RootNoise;
use super::params::{Formula, PuctParams, RaveParams, View};
use super::select::{self, MoveStats, Puct, RaveStats};
use super::table::{Claim, EdgeRef, Edges};
use super::valuation::Valuation;
use super::{NodeTable, Restriction, SearchContext, SearchParams, root_moves};
use crate::board::{Color, Move};
use crate::eval::{Evaluation, Evaluator, FirstPlays, Prior};
use crate::game::{Game, Line};
use crate::rng::Rng;
use crate::sync::atomic::{AtomicU32, Ordering};

/// One step of a descent.
#[derive(Clone, Copy)]
struct Step {
    node: NodeId,
    edge: EdgeId,
    mv: Move,
    color: Color,
    child: NodeId,
}

/// What the formula says about the moves of a node.
#[derive(Clone, Copy, Debug)]
struct Choice {
    edge: EdgeId,
    /// Was there a move without visits among those that could be chosen?
    has_fresh: bool,
}

/// A move that has been visited, when one is chosen.
#[derive(Clone, Copy)]
struct Visited {
    edge: EdgeId,
    /// Of equally urgent moves, the one with the smallest order is chosen.
    order: u16,
    probability: f32,
    stats: MoveStats,
}

/// Where a descent ended.
enum End<'s> {
    /// At this node, whose position is that of the line. With a network nobody else evaluates it now.
    Leaf(NodeId, Option<Claim<'s>>),
    /// One move behind this node: the position of the line has no node, because the table is full.
    BelowLeaf(NodeId),
    /// At a node of its own path.
    Cycle,
    /// The position of the line has no node, because the table is full, and must not count for the node before it.
    Nowhere,
}

/// What a worker needs for simulations that choose below the root as people do.
struct Exploring<'s> {
    exploration: &'s TreeExploration,
    people: Box<dyn People>,
    priors: Priors,
}

/// What one worker counted in one search.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counters {
    pub(crate) playouts: u32,
    pub(crate) score_sum: f64,
    pub(crate) score_square_sum: f64,
    pub(crate) cycles: u32,
    pub(crate) transpositions: u32,
    pub(crate) depth: u32,
    pub(crate) waits: u32,
}

impl Counters {
    pub(crate) fn add(&mut self, other: &Counters) {
        self.playouts += other.playouts;
        self.score_sum += other.score_sum;
        self.score_square_sum += other.score_square_sum;
        self.cycles += other.cycles;
        self.transpositions += other.transpositions;
        self.waits += other.waits;
        self.depth = self.depth.max(other.depth);
    }

    pub(crate) fn add_score(&mut self, score: f32) {
        let score = f64::from(score);
        self.score_sum += score;
        self.score_square_sum += score * score;
    }

    fn score_mean(&self) -> f64 {
        self.score_sum / f64::from(self.playouts.max(1))
    }

    /// Standard error of the mean score.
    pub(crate) fn score_error(&self) -> f64 {
        let count = f64::from(self.playouts.max(1));
        let mean = self.score_mean();
        ((self.score_square_sum / count - mean * mean).max(0.0) / count).sqrt()
    }
}

/// What all workers of a search have in common.
#[derive(Clone, Copy)]
pub(crate) struct Common<'s> {
    pub(crate) table: &'s NodeTable,
    pub(crate) params: SearchParams,
    /// Under PUCT.
    pub(crate) valuation: Option<Valuation<'s>>,
    pub(crate) root: NodeId,
    /// Of the root's probabilities.
    pub(crate) temperature: f32,
    /// What they are multiplied by, so that those of moves that are not left out sum to 1.
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
    /// The current simulation counts at the nodes of its path from this depth on.
    counts_from: usize,
    path: Vec<Step>,
    /// The moves that came with the latest evaluation, if any did.
    moves: Vec<(Move, Prior)>,
    /// Who played where first after the node that is being updated, see [`Worker::update_rave`].
    plays: FirstPlays,
    /// What positions are worth, under PUCT.
    valuation: Option<Valuation<'s>>,
    /// Room to compute it in, and to choose in.
    children: Vec<Child>,
    visited: Vec<Visited>,
    pub(crate) counters: Counters,
}

/// Is a move without visits chosen before another one?
fn is_likelier(a: &Visited, b: &Visited) -> bool {
    a.probability > b.probability || a.probability == b.probability && a.order < b.order
}

/// Up to this share of the node table, a node gets its moves together with its value, if the evaluator knows both. Beyond
/// it, only nodes that are reached again get them: moves take as much memory as the node, or much more.
pub(crate) const EARLY_EXPANSION_FULLNESS: f32 = 0.25;

/// The root is seen from one more side for every so many visits.
pub(crate) const VISITS_PER_VIEW: u32 = 16;

/// Longest descent, as a guard: a line of this many moves without a leaf does not occur in sensible searches.
pub(crate) fn depth_limit(game: &Game) -> usize {
    2 * game.size().area() + 20
}

/// Is it time to see a root from one more side, of at most `most`, if it was `seen` from so many?
pub(crate) fn may_be_seen_again(root: &Node, seen: &AtomicU32, most: u32) -> bool {
    let view = seen.load(Ordering::Relaxed);
    view < most && root.visits() >= view.saturating_mul(VISITS_PER_VIEW)
}

/// Averages the priors of a root with those that its moves have from other sides, as long as it is time to: from how many
/// it has been seen, and can be. `line` is the empty line, `moves` is room to work in.
pub(crate) fn see_root_again<E: Evaluator>(
    table: &NodeTable,
    root: NodeId,
    line: &Line<'_>,
    evaluator: &mut E,
    (seen, most): (&AtomicU32, u32),
    temperature: f32,
    moves: &mut Vec<(Move, Prior)>,
) {
    let node = table.node(root);
    while may_be_seen_again(node, seen, most) {
        let view = seen.load(Ordering::Relaxed);
        moves.clear();
        evaluator.expand_root_seen(line, view, moves);
        root_moves::temper(moves, temperature);
        for edge in table.edges(node) {
            if let Some((_, prior)) = moves.iter().find(|(mv, _)| *mv == edge.mv()) {
                let (mean, new) = (edge.prior().probability(), prior.probability());
                edge.set_prior(Prior::Probability(mean + (new - mean) / (view + 1) as f32));
            }
        }
        seen.store(view + 1, Ordering::Relaxed);
    }
}

/// What is known about a move that leads to `child`, for the player on turn: `sign` is Black's 1 or White's -1.
#[inline]
pub(crate) fn move_stats(edge: &Edge, child: &Node, sign: f32, virtual_losses: f32) -> MoveStats {
    let visits = child.weight_of_visits(edge.visits()) as f32;
    let value = if visits > 0.0 { sign * child.means().utility } else { 0.0 };
    let busy = child.in_flight() as f32;
    MoveStats { visits, value, busy, lost: busy * virtual_losses }
}

impl<'s, E: Evaluator> Worker<'s, E> {
    pub(crate) fn new(
        common: Common<'s>,
        game: &'s Game,
        evaluator: E,
        rng: Rng,
        context: &SearchContext<'s>,
    ) -> Worker<'s, E> {
        let Common { table, params, valuation, root, temperature, root_scale } = common;
        let exploring = context.tree_exploration.filter(|_| valuation.is_some()).map(|exploration| {
            let people = exploration.people.copy();
            Box::new(Exploring { exploration, people, priors: Priors::default() })
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

    /// What a report needs to know.
    pub(crate) fn view(&self) -> View<'_> {
        View { params: &self.params, root_scale: self.root_scale }
    }

    /// One simulation: select, expand, evaluate, back up.
    pub(crate) fn simulate(&mut self) {
        self.line.reset();
        self.path.clear();
        self.counts_from = 0;
        self.table.node(self.root).begin_visit();
        let end = self.descend();
        // The descent came round to a node of its own path: nothing new was learned, but the visit counts, so that the
        // next one goes elsewhere.
        self.counters.cycles += u32::from(matches!(end, End::Cycle));
        let (leaf, is_leaf, claim) = match end {
            End::Leaf(leaf, claim) => (Some(leaf), true, claim),
            End::BelowLeaf(above) => (Some(above), false, None),
            End::Cycle | End::Nowhere => (None, false, None),
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
            }
            node.add_result(evaluation.score, square);
            let has_moves = !self.moves.is_empty() && is_leaf;
            if has_moves && self.table.usage().fullness() < EARLY_EXPANSION_FULLNESS {
                self.table.expand(leaf, leaf == self.root, || &self.moves);
            }
            // Who has waited for the evaluation goes on from here.
            drop(claim);
            self.back_up(evaluation.score, square);
            if let Formula::Rave(params) = self.params.formula {
                self.update_rave(&params, evaluation);
            }
        } else {
            let known = self.table.node(self.path.last().map_or(self.root, |step| step.child));
            self.back_up(known.score(), known.mean_square());
        }
        self.table.node(self.root).finish_visit();
        self.counters.playouts += 1;
        self.counters.depth = self.counters.depth.max(self.path.len() as u32);
    }

    /// Was the latest simulation kept from the root by a choice below it?
    pub(crate) fn was_kept_from_root(&self) -> bool {
        self.counts_from > 1
    }

    /// Averages the priors of the root with those that its moves have from other sides, at most `most`, of which `seen`
    /// have been: one more for every so many visits, so that it is a small part of the work however short a search is.
    pub(crate) fn see_root_again(&mut self, seen: &AtomicU32, most: u32) {
        if !may_be_seen_again(self.table.node(self.root), seen, most) {
            return;
        }
        self.line.reset();
        let (table, root, temperature) = (self.table, self.root, self.temperature);
        see_root_again(
            table,
            root,
            &self.line,
            &mut self.evaluator,
            (seen, most),
            temperature,
            &mut self.moves,
        );
    }

    /// Follows the most urgent moves to a leaf.
    fn descend(&mut self) -> End<'s> {
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
                        // Another worker has evaluated it meanwhile, or created its moves.
                        None => continue,
                    },
                    None => None,
                };
                let enough = node.own_visits() >= self.params.expand_after || id == self.root;
                if !enough {
                    return End::Leaf(id, claim);
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
            // Of the position before the move, which is gone when the new node is made.
            let kind = if known.is_none() { self.kind(color, mv) } else { None };
            self.line.play(mv);
            let child = match known {
                Some(child) => child,
                None => {
                    let before = self.table.node_count();
                    let Some(child) = self.table.find_or_insert(self.line.graph_key()) else {
                        if self.counts_from > self.path.len() {
                            return End::Nowhere;
                        }
                        // The table is full: the evaluation of the position after this move counts for the node
                        // before it, which is what it is worth to choose among such moves.
                        return End::BelowLeaf(id);
                    };
                    BiasTable::tie(self.table.node(child), kind);
                    edge.set_child(Some(child));
                    if (child as usize) < before {
                        self.counters.transpositions += 1;
                    }
                    child
                }
            };
            self.path.push(Step { node: id, edge: chosen, mv, color, child });
            let met_itself =
                child == self.root || self.path[..self.path.len() - 1].iter().any(|step| step.child == child);
            self.table.node(child).begin_visit();
            if met_itself {
                return End::Cycle;
            }
            id = child;
        }
    }

    /// The end of a descent at a node that may have been evaluated before.
    fn leaf(&mut self, id: NodeId) -> End<'s> {
        let mut claim = None;
        while self.valuation.is_some() && claim.is_none() {
            claim = self.claim_or_wait(id);
        }
        End::Leaf(id, claim)
    }

    fn claim_or_wait(&mut self, id: NodeId) -> Option<Claim<'s>> {
        let claim = self.table.claim_or_wait(id);
        self.counters.waits += u32::from(claim.is_none());
        claim
    }

    /// The kind of a move in the position of the line, if that matters.
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

    /// Gives a node more of its moves, or all; the position of the line is the node's. Says whether it has more now.
    fn extend(&mut self, id: NodeId, wants_all: bool) -> bool {
        let (line, evaluator, moves) = (&self.line, &mut self.evaluator, &mut self.moves);
        self.table.extend(id, wants_all, || {
            moves.clear();
            evaluator.expand(line, moves);
            moves
        })
    }

    /// The edge to follow from a node; `None` without edges.
    fn choose(&mut self, id: NodeId) -> Option<EdgeId> {
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
                let wanted = self.anti_mirror.and_then(|it| it.wanted(&self.line));
                // Either way it may be any of the moves.
                let is_restricted = self.restriction.applies_at(self.path.len()) || wanted.is_some();
                if is_restricted {
                    node.leave_order();
                }
                let chosen = self.select_by_puct(&params, node, is_restricted);
                let has_fresh = chosen.is_some_and(|it| it.has_fresh) && wanted.is_none();
                // All moves that are stored have been visited, and the next one might be more urgent than they are.
                let chosen =
                    match !has_fresh && !self.table.is_complete(node) && self.extend(id, is_restricted) {
                        true => self.select_by_puct(&params, node, is_restricted),
                        false => chosen,
                    };
                let owed = wanted.and_then(|(mv, share)| self.owed(node, mv, share));
                owed.or(chosen.map(|it| it.edge))
            }
        }
    }

    /// The edge of a move if it may be searched and has less than this share of its node's visits.
    fn owed(&self, node: &Node, mv: Move, share: f32) -> Option<EdgeId> {
        let visits =
            |edge: &Edge| edge.visits() + edge.child().map_or(0, |child| self.table.node(child).in_flight());
        let total: u32 = self.table.edges(node).map(|edge| visits(&edge)).sum();
        let edge = self.table.edges(node).find(|edge| edge.mv() == mv)?;
        let may_be = self.restriction.permits(self.line.to_move(), mv, self.path.len());
        (may_be && (visits(&edge) as f32) < share * total as f32).then_some(edge.id)
    }

    /// The root's edge if this simulation chooses it by the priors of the exploration.
    fn explore(&mut self, node: &Node) -> Option<EdgeId> {
        let exploration = self.exploration?;
        let counts = exploration.draw(self.rng.unit() as f32)?;
        let sign = self.line.to_move().sign() as f32;
        // What lies below counts also where the edge was not: visits are those of the nodes.
        let seen =
            |edge: &Edge| edge.child().map(|child| self.table.node(child)).filter(|it| it.visits() > 0);
        let edges = self.table.edges(node);
        let total = edges.filter_map(|edge| seen(&edge)).map(Node::visits).sum();
        let chosen = self.most_urgent(edges, |edge| {
            let known = seen(edge);
            let candidate = Candidate {
                prior: exploration.prior(edge.mv()),
                visits: known.map_or(0, |it| it.visits() + it.in_flight()),
                value: sign * known.map_or(node.value(), Node::value),
            };
            exploration.urgency(&candidate, total)
        });
        // Nothing to explore: then the simulation is one like all others.
        self.counts_from = usize::from(!counts && chosen.is_some());
        chosen
    }

    /// The edge of a node below the root, the end of the path, if this simulation chooses it as people do.
    fn explore_below(&mut self, id: NodeId) -> Option<EdgeId> {
        let mut exploring = self.exploring.take()?;
        let chosen = self.explore_by(&mut exploring, id);
        self.exploring = Some(exploring);
        let (edge, counts) = chosen?;
        if self.table.edge(edge).child().is_none() {
            // Likelier ones may have no visits yet.
            self.table.node(id).leave_order();
        }
        if !counts {
            self.counts_from = self.path.len() + 1;
        }
        Some(edge)
    }

    /// The same, and whether the simulation counts.
    fn explore_by(&mut self, exploring: &mut Exploring<'s>, id: NodeId) -> Option<(EdgeId, bool)> {
        let (color, depth) = (self.line.to_move(), self.path.len());
        let Exploring { exploration, people, priors } = exploring;
        let shares = exploration.shares[color];
        if shares.is_none() {
            return None;
        }
        let counts = shares.draw(self.rng.unit() as f32)?;
        priors.ask(&mut **people, &self.line);
        let (node, sign) = (self.table.node(id), color.sign() as f32);
        // What counts is shared out among the visits of this node. What does not is to look at what is not known, by
        // whatever way.
        let visits = |edge: &Edge, child: Option<&Node>| match counts {
            true => edge.visits(),
            false => child.map_or(0, Node::visits),
        };
        let child = |edge: &Edge| edge.child().map(|child| self.table.node(child));
        let total = self.table.edges(node).map(|edge| visits(&edge, child(&edge))).sum();
        let urgency =
            |candidate: Candidate| candidate.urgency(exploration.cpuct, exploration.cpuct_permanent, total);
        // Of a move that was not looked at, the value of the position.
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
            let urgency = urgency(Candidate {
                prior,
                visits: visits(&edge, child) + child.map_or(0, Node::in_flight),
                value: known.map_or(unknown, |child| sign * child.means().utility),
            });
            if urgency > best.map_or(f32::NEG_INFINITY, |(_, most)| most) {
                best = Some((edge.id, urgency));
            }
        }
        // What people play may be a move that the network thinks too little of to be stored.
        if !self.table.is_complete(node)
            && let Some((mv, prior)) = priors.likeliest_left(|mv| self.restriction.permits(color, mv, depth))
            && urgency(Candidate { prior, visits: 0, value: unknown })
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
            let (visits, value) = self.table.rave(edge.id).map_or((0, 0.0), Rave::games_and_value);
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

    /// The most urgent of the moves that are stored; `None` if none may be chosen.
    fn select_by_puct(&mut self, params: &PuctParams, node: &Node, is_restricted: bool) -> Option<Choice> {
        let (sign, depth, color) = (self.line.to_move().sign() as f32, self.path.len(), self.line.to_move());
        let is_in_order = node.is_in_order();
        let scale = if depth == 0 { self.root_scale } else { 1.0 };
        let noise = self.noise.filter(|_| depth == 0);
        let mut visited = std::mem::take(&mut self.visited);
        visited.clear();
        let (mut edge_weight, mut visited_probability) = (0.0, 0.0);
        // Of moves without visits, the likeliest is the most urgent.
        let mut fresh: Option<Visited> = None;
        for edge in self.table.edges(node) {
            let child = edge.child();
            let own = scale * edge.prior().probability();
            let probability = noise.map_or(own, |noise| noise.probability(edge.mv(), own));
            let stats = child
                .map(|child| move_stats(&edge, self.table.node(child), sign, self.params.virtual_losses));
            let stats = stats.unwrap_or_default();
            if stats.visits > 0.0 {
                edge_weight += stats.visits;
                visited_probability += probability;
            }
            if is_restricted && !self.restriction.permits(color, edge.mv(), depth) {
                continue;
            }
            let it = Visited { edge: edge.id, order: edge.order(), probability, stats };
            if stats != MoveStats::default() {
                visited.push(it);
            } else if fresh.is_none_or(|best| is_likelier(&it, &best)) {
                fresh = Some(it);
            }
            if child.is_none() && is_in_order {
                // Nothing behind it has been visited, or is as likely.
                break;
            }
        }
        let puct = Puct::new(params, &node.stats(sign, edge_weight, visited_probability, depth == 0));
        let mut best: Option<(f32, Visited)> = None;
        for it in &visited {
            let is_forced = noise.is_some_and(|noise| {
                noise.is_forced(it.probability, it.stats.visits + it.stats.lost, edge_weight)
            });
            let bonus = noise.map_or(0.0, |noise| noise.bonus(&mut self.rng));
            let urgency =
                if is_forced { f32::INFINITY } else { puct.urgency(&it.stats, it.probability) + bonus };
            let is_better =
                |(most, than): (f32, Visited)| urgency > most || urgency == most && it.order < than.order;
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
        best.map(|(_, it)| Choice { edge: it.edge, has_fresh })
    }

    /// The edge for which `urgency` is largest, among those that may be searched; the first of equals.
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

    /// What is known about a move; its value, for the player on turn, is brought up to date on the way.
    #[inline]
    fn stats(&self, node: &Node, edge: &Edge, sign: f32) -> MoveStats {
        let (visits, seen) = edge.visits_and_seen();
        let (mut in_flight, mut value) = (0, seen);
        if let Some(child) = edge.child() {
            let child = self.table.node(child);
            in_flight = child.in_flight();
            if visits > 0 {
                value = child.value_fixed();
                if value != seen {
                    // The child learned something through another parent: take it over.
                    node.update_edge(edge, value, 0);
                }
            }
        }
        let busy = in_flight as f32;
        let lost = busy * self.params.virtual_losses;
        MoveStats { visits: visits as f32, value: sign * node::from_fixed(value), busy, lost }
    }

    /// Counts the visit on every edge of the path and brings its nodes' values up to date, from the leaf to the
    /// root; score and square of the value count for every node but the leaf, which has them.
    ///
    /// Nodes before a choice below the root that does not count stay what they are to the last bit. What has become
    /// known of their children is theirs as soon as a simulation that counts comes through.
    fn back_up(&mut self, score: f32, square: f32) {
        for (depth, step) in self.path.iter().enumerate().rev() {
            let child = self.table.node(step.child);
            let node = self.table.node(step.node);
            let edge = self.table.edge(step.edge);
            let counts = depth >= self.counts_from;
            if !counts && self.was_kept_from_root() {
                child.finish_visit();
                continue;
            }
            if let Some(valuation) = &self.valuation {
                if counts {
                    node.count_visit(edge);
                    node.add_result(score, square);
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

    /// All moves as first: every move that its player made anywhere later in the simulation counts, at the nodes
    /// of the path, as if it had been made there.
    ///
    /// CITE: Gelly and Silver (2007); with the moves of the playout, which Pachi measured to be worth 18 % of
    /// games on 9×9.
    fn update_rave(&mut self, params: &RaveParams, evaluation: Evaluation) {
        if params.equivalence <= 0.0 {
            return;
        }
        let Some(first_plays) = self.evaluator.first_plays() else { return };
        self.plays.copy_from(first_plays);
        let plays = &mut self.plays;
        let late = (params.early_share * self.line.game().size().area() as f32) as u16;
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
        // The leaf itself may have moves already, when the table was full or the game over.
        for step in self.path.iter().rev() {
            if let Move::Play(point) = step.mv {
                plays.note_earlier(point, step.color);
            }
            update(step.node, step.color, plays);
        }
    }
}
