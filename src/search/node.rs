//! Nodes and edges of the search graph: layout, atomics, and the arithmetic that keeps their sums exact.
//!
//! ```text
//!   node, 128 bytes                                          edge, 16 bytes                            8 bytes, by playouts
//!   ┌──────────┬───────────┬────────┬─────────┬─────────┐    ┌─────────────────┬───────┬──────┬───────┐  ┌──────────────┐
//!   │ key (16) │ value sum │ visits │ first   │ own and │──▶ │ visits and seen │ child │ move │ prior │  │ RAVE games   │
//!   │          │           │        │ edge …  │ means   │    │ value of child  │       │      │       │  │ and their sum│
//!   └──────────┴───────────┴────────┴─────────┴─────────┘    └─────────────────┴───────┴──────┴───────┘  └──────────────┘
//! ```
//!
//! **Graph statistics.** Visits belong to edges. A node's value is the mean of its own evaluations and of its
//! children's values, each child weighted by the visits of the edge to it:
//!
//! ```text
//!   Q(node) = ( Σ own evaluations + Σ_edges visits(edge) · Q(child) ) / ( own evaluations + Σ_edges visits(edge) )
//! ```
//!
//! CITE: David Wu, "Monte-Carlo graph search from first principles" (KataGo, `docs/GraphSearch.md`).
//!
//! **With playouts** the sum is stored, and every edge stores the child's value that it contributed at its latest
//! update. An update of an edge adds the difference, so the sum is exact at all times, whatever the order in which
//! threads arrive:
//!
//! Invariant: `value_sum == Σ own evaluations + Σ_edges visits · seen value`, in integers
//! (`search::tests::sums_are_exact`).
//!
//! The three sums of a node exist only with playouts. With a network, their memory holds means that only reports read.
//!
//! **With a network**, evaluations are few and expensive, and a child that has proved to be bad counts for less than
//! its visits. The means of a node are therefore recomputed from its own evaluations and all its children after every
//! simulation through it ([`means`](super::means)). They can be recomputed at any time.
//!
//! Invariant: on a tree, with one worker, the stored means equal those computed from the children
//! (`search::tests::means_are_exact`).

use super::select::NodeStats;
use kosumi_eval::{Evaluation, Prior};
use kosumi_go::board::{Key, Move, Point};
use kosumi_sync::atomic::{AtomicI64, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// Fixed-point one. Values are stored as integers, so that sums do not depend on the order of addition and a search
/// gives the same result on every machine.
pub const VALUE_ONE: i32 = 1 << 24;

/// Fixed-point one of squared values.
const SQUARE_ONE: f32 = (1 << 20) as f32;

/// Converts a value in `[-1, 1]` to fixed point, in units of 1 / [`VALUE_ONE`].
#[inline]
pub fn to_fixed(value: f32) -> i32 {
    (value.clamp(-1.0, 1.0) * VALUE_ONE as f32) as i32
}

/// Converts a value from fixed point: the inverse of [`to_fixed`].
#[inline]
pub fn from_fixed(value: i32) -> f32 {
    value as f32 / VALUE_ONE as f32
}

/// Number of a node in its table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub(super) u32);

impl NodeId {
    /// Returns the index of the node in its table.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// State in [`Node::expansion`]: the node has no moves yet.
pub(crate) const FRESH: u32 = 0;
/// State in [`Node::expansion`]: a worker is creating the moves.
pub(crate) const EXPANDING: u32 = u32::MAX;

/// Bit of [`Node::flags`]: a worker is giving the node more moves.
const EXTENDING: u32 = 1;
/// Bit of [`Node::flags`]: moves may have been visited in another order than that of their priors.
const OUT_OF_ORDER: u32 = 2;
/// Bit of [`Node::flags`]: a worker is evaluating the node or creating its moves.
const CLAIMED: u32 = 4;
/// Bit of [`Node::flags`]: other workers wait for the release of the claim.
const AWAITED: u32 = 8;

/// A position in the graph. Any worker writes any field, with relaxed ordering unless stated otherwise: the fields are
/// statistics, and data that must be seen together are published by `expansion` or by the table's slot.
#[cfg_attr(not(loom), derive(bytemuck::Zeroable))]
#[cfg_attr(loom, derive(Default))]
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Node {
    /// The node's key, written once before the node is published in the table.
    key: [AtomicU64; 2],
    /// With playouts: Black's summed value, in units of 1 / [`VALUE_ONE`]. See the module's invariant.
    ///
    /// With a network: lead and probability of no result in the network's evaluations of this node's position, as a
    /// pair of floats (see [`pair`]).
    value_sum: AtomicI64,
    /// With playouts: Black's summed score of the simulations through this node, in 1/256 points. Unlike the values, it
    /// is not updated for visits by other paths, because only reports use it.
    ///
    /// With a network: mean lead and mean probability of no result, as a pair of floats.
    score_sum: AtomicI64,
    /// With playouts: summed squares of the values of the simulations through this node, in units of 1 /
    /// [`SQUARE_ONE`]. They determine the scatter of the results.
    ///
    /// With a network: mean square of the score at the end of the game, and 0, as a pair of floats.
    square_sum: AtomicU64,
    /// Completed simulations through this node: own evaluations and edge visits.
    visits: AtomicU32,
    /// Number of own evaluations, that is, evaluations of this node's position.
    own_visits: AtomicU32,
    /// Descents in progress through this node ("virtual loss").
    in_flight: AtomicU32,
    /// [`FRESH`], [`EXPANDING`], or the number of edges of the first run. Written with Release after the edges.
    pub(crate) expansion: AtomicU32,
    /// Number of the first edge of the first run. Constant once expanded, except in garbage collection.
    pub(crate) first_edge: AtomicU32,
    /// Used by garbage collection only, between searches.
    pub(crate) mark: AtomicU32,
    /// Mean of the network's evaluations of the position, see [`OwnEvaluation`].
    own_result: Float,
    own_score: Float,
    own_deviation: Float,
    /// Utility of these evaluations. It depends on the utility scale of the search.
    own_utility: Float,
    /// Weight of one own evaluation, in visits.
    own_weight: Float,
    result: Float,
    utility: Float,
    utility_square: Float,
    mean_score: Float,
    weight: Float,
    weight_square: Float,
    /// Number of requests for new means since their computation began.
    pub(crate) refreshing: AtomicU32,
    /// Entry of the bias table for the kind of the move that led here, as its number plus one, and the contribution of
    /// this node to that entry: see [`bias`](super::bias).
    pub(crate) bias_entry: AtomicU32,
    pub(crate) bias_difference: Float,
    pub(crate) bias_weight: Float,
    /// [`EXTENDING`], [`OUT_OF_ORDER`], [`CLAIMED`] and [`AWAITED`].
    flags: AtomicU32,
}

/// A floating-point number that any worker may write.
#[cfg_attr(not(loom), derive(bytemuck::Zeroable))]
#[cfg_attr(loom, derive(Default))]
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Float(AtomicU32);

impl Float {
    #[inline]
    pub(crate) fn get(&self) -> f32 {
        f32::from_bits(self.0.load(Ordering::Relaxed))
    }

    #[inline]
    pub(crate) fn set(&self, value: f32) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }
}

/// Packs two numbers into one word.
#[inline]
fn pair(first: f32, second: f32) -> u64 {
    u64::from(first.to_bits()) << 32 | u64::from(second.to_bits())
}

/// Unpacks the numbers that [`pair`] has packed.
#[inline]
fn unpair(word: u64) -> (f32, f32) {
    (f32::from_bits((word >> 32) as u32), f32::from_bits(word as u32))
}

/// Mean of a network's evaluations of a position.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct OwnEvaluation {
    /// Black's expected result, in `[-1, 1]`.
    pub result: f32,
    /// Black's expected score, in points.
    pub score: f32,
    /// Standard deviation of the score, in points.
    pub deviation: f32,
    /// Points by which Black leads.
    pub lead: f32,
    /// Probability that the game has no result.
    pub no_result: f32,
    /// Summed weight of the evaluations, in visits; 0 without evaluations.
    pub weight: f32,
}

/// Statistics of a position and everything searched below it: weighted means for Black.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Means {
    /// Expected result, in `[-1, 1]`.
    pub result: f32,
    /// Result and score in one number, see [`utility`](super::utility).
    pub utility: f32,
    /// Mean square of the utilities.
    pub utility_square: f32,
    /// Expected score at the end of the game, in points, komi included.
    pub score: f32,
    /// Mean square of that score, the deviations within evaluations included.
    pub score_square: f32,
    /// Points by which Black leads.
    pub lead: f32,
    /// Probability that the game has no result.
    pub no_result: f32,
    /// Summed weight of the evaluations; 0 if no network has evaluated the position.
    pub weight: f32,
    /// Summed squares of their weights.
    pub weight_square: f32,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Node>() == 128);
#[cfg(not(loom))]
const _: () = assert!(size_of::<Edge>() == 16);

/// Data of a node that its parents and other ranks use.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct NodeStatistics {
    /// Completed simulations through the node.
    pub visits: u32,
    /// Utility of the node's own evaluation.
    pub own_utility: f32,
    /// Means over the node's subgraph.
    pub means: Means,
}

impl Node {
    pub(crate) fn set_key(&self, key: Key) {
        self.key[0].store((key.0 >> 64) as u64, Ordering::Relaxed);
        self.key[1].store(key.0 as u64, Ordering::Relaxed);
    }

    /// Returns the node's key.
    pub fn key(&self) -> Key {
        let high = self.key[0].load(Ordering::Relaxed);
        Key(u128::from(high) << 64 | u128::from(self.key[1].load(Ordering::Relaxed)))
    }

    #[inline]
    pub(crate) fn has_key(&self, key: Key) -> bool {
        self.key[1].load(Ordering::Relaxed) == key.0 as u64
            && self.key[0].load(Ordering::Relaxed) == (key.0 >> 64) as u64
    }

    /// Returns the number of completed simulations through this node, including those of earlier searches.
    #[inline]
    pub fn visits(&self) -> u32 {
        self.visits.load(Ordering::Relaxed)
    }

    /// Returns the number of own evaluations, that is, evaluations of this node's position.
    #[inline]
    pub fn own_visits(&self) -> u32 {
        self.own_visits.load(Ordering::Relaxed)
    }

    /// Returns the number of descents in progress.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.in_flight.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn begin_visit(&self) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn finish_visit(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    /// Begins several descents at once, like `begin_visit`.
    pub fn begin_visits(&self, count: u32) {
        self.in_flight.fetch_add(count, Ordering::Relaxed);
    }

    /// Ends several descents at once, like `finish_visit`.
    pub fn finish_visits(&self, count: u32) {
        self.in_flight.fetch_sub(count, Ordering::Relaxed);
    }

    /// Returns Black's mean value by playouts in units of 1 / [`VALUE_ONE`]; 0 without visits.
    ///
    /// Visits and sum are read one after the other. Another worker may add a result in between, so the mean may be off
    /// by one part in `visits` for a moment, and is clamped.
    #[inline]
    pub(crate) fn value_fixed(&self) -> i32 {
        let visits = i64::from(self.visits().max(1));
        let mean = self.value_sum.load(Ordering::Relaxed) / visits;
        mean.clamp(-i64::from(VALUE_ONE), i64::from(VALUE_ONE)) as i32
    }

    /// Returns Black's expected result, in `[-1, 1]`; 0 without visits.
    pub fn value(&self) -> f32 {
        if self.weight.get() > 0.0 {
            self.result.get()
        } else if self.own_weight.get() > 0.0 {
            // A network's first evaluation, whose means another worker is about to compute.
            self.own_result.get()
        } else {
            from_fixed(self.value_fixed())
        }
    }

    /// Adds a network's evaluation of this position.
    #[inline]
    pub(crate) fn add_own_prediction(&self, evaluation: &Evaluation, weight: f32) {
        let count = self.own_visits.fetch_add(1, Ordering::Relaxed) + 1;
        // Evaluations of one position are equal. Other evaluations are added here only when the table has no space for
        // nodes of their own.
        let share = 1.0 / count as f32;
        let mix = |mean: &Float, new: f32| mean.set(mean.get() + share * (new - mean.get()));
        mix(&self.own_result, evaluation.value);
        mix(&self.own_score, evaluation.score_mean);
        mix(&self.own_deviation, evaluation.score_deviation);
        let (lead, no_result) = self.own_lead_and_no_result();
        let mixed = |old: f32, new: f32| old + share * (new - old);
        let word = pair(mixed(lead, evaluation.score), mixed(no_result, evaluation.no_result));
        self.value_sum.store(word as i64, Ordering::Relaxed);
        mix(&self.own_weight, weight);
        self.visits.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the lead and the probability of no result in the network's evaluations of this position. Returns zeros
    /// with playouts, whose sums are not floats.
    #[inline]
    fn own_lead_and_no_result(&self) -> (f32, f32) {
        let is_by_network = self.own_weight.get() > 0.0;
        if is_by_network { unpair(self.value_sum.load(Ordering::Relaxed) as u64) } else { (0.0, 0.0) }
    }

    /// Returns the mean of the network's evaluations of the node's own position.
    #[inline]
    pub fn own(&self) -> OwnEvaluation {
        let (lead, no_result) = self.own_lead_and_no_result();
        OwnEvaluation {
            result: self.own_result.get(),
            score: self.own_score.get(),
            deviation: self.own_deviation.get(),
            lead,
            no_result,
            weight: self.own_weight.get() * self.own_visits() as f32,
        }
    }

    /// Returns the utility of the network's evaluations.
    #[inline]
    pub(crate) fn own_utility(&self) -> f32 {
        self.own_utility.get()
    }

    /// Stores the utility of the node's own evaluation.
    #[inline]
    pub fn set_own_utility(&self, utility: f32) {
        self.own_utility.set(utility);
    }

    /// Returns the weight of `visits` visits of an edge to this node; 0 without evaluations.
    #[inline]
    pub(crate) fn weight_of_visits(&self, visits: u32) -> f64 {
        f64::from(self.weight.get()) * f64::from(visits) / f64::from(self.visits().max(1))
    }

    /// Counts a simulation through `edge`, which leads from this node. The means must be computed afterwards.
    #[inline]
    pub(crate) fn count_visit(&self, edge: &Edge) {
        self.count_visits(edge, 1);
    }

    /// Counts several simulations at once, like `count_visit`.
    #[inline]
    pub fn count_visits(&self, edge: &Edge, count: u32) {
        edge.visits_and_seen_value.fetch_add(u64::from(count) << 32, Ordering::Relaxed);
        self.visits.fetch_add(count, Ordering::Relaxed);
    }

    /// Returns the means of the latest computation. While another worker stores new means, some of the values are old.
    /// Each is a mean by itself, so that does no harm.
    #[inline]
    pub fn means(&self) -> Means {
        let weight = self.weight.get();
        // With playouts, the sums are not floats.
        let floats = |word: u64| if weight > 0.0 { unpair(word) } else { (0.0, 0.0) };
        let (lead, no_result) = floats(self.score_sum.load(Ordering::Relaxed) as u64);
        let (score_square, _) = floats(self.square_sum.load(Ordering::Relaxed));
        Means {
            result: self.result.get(),
            utility: self.utility.get(),
            utility_square: self.utility_square.get(),
            score: self.mean_score.get(),
            score_square,
            lead,
            no_result,
            weight,
            weight_square: self.weight_square.get(),
        }
    }

    /// Returns the statistics on which a choice among the moves depends, from the perspective of the side to move,
    /// whose `sign` is 1 for Black and −1 for White. `edge_weight` and `visited_probability` are the summed weight and
    /// the summed probability of the visited moves.
    #[inline]
    pub fn stats(&self, sign: f32, edge_weight: f32, visited_probability: f32, is_root: bool) -> NodeStats {
        let means = self.means();
        NodeStats {
            utility: sign * means.utility,
            utility_square: means.utility_square,
            weight: means.weight,
            edge_weight,
            visited_probability,
            own_utility: sign * self.own_utility(),
            is_root,
        }
    }

    /// Stores the means over the node's subgraph.
    pub fn set_means(&self, means: &Means) {
        self.result.set(means.result);
        self.utility.set(means.utility);
        self.utility_square.set(means.utility_square);
        self.mean_score.set(means.score);
        self.score_sum.store(pair(means.lead, means.no_result) as i64, Ordering::Relaxed);
        self.square_sum.store(pair(means.score_square, 0.0), Ordering::Relaxed);
        self.weight.set(means.weight);
        self.weight_square.set(means.weight_square);
    }

    /// Returns Black's mean score over the playouts through this node; 0 without visits.
    pub fn score(&self) -> f32 {
        self.score_sum.load(Ordering::Relaxed) as f32 / 256.0 / self.visits().max(1) as f32
    }

    /// Returns the mean square of the values of the playouts through this node, in `[0, 1]`; 0 without visits.
    pub fn mean_square(&self) -> f32 {
        self.square_sum.load(Ordering::Relaxed) as f32 / SQUARE_ONE / self.visits().max(1) as f32
    }

    /// Adds the result of a playout through this node: its score and the square of its value.
    #[inline]
    pub(crate) fn add_result(&self, score: f32, square: f32) {
        self.score_sum.fetch_add((score * 256.0) as i64, Ordering::Relaxed);
        self.square_sum.fetch_add((square * SQUARE_ONE) as u64, Ordering::Relaxed);
    }

    /// Returns all data of the node except its key, its moves and the results of its own evaluations.
    pub fn statistics(&self) -> NodeStatistics {
        NodeStatistics { visits: self.visits(), own_utility: self.own_utility(), means: self.means() }
    }

    /// Copies the statistics of another node that stands for this position, for instance on another rank.
    pub fn set_statistics(&self, statistics: &NodeStatistics) {
        self.visits.store(statistics.visits, Ordering::Relaxed);
        self.set_own_utility(statistics.own_utility);
        self.set_means(&statistics.means);
    }

    /// Adds an evaluation of this position.
    #[inline]
    pub(crate) fn add_own(&self, value: i32) {
        self.value_sum.fetch_add(i64::from(value), Ordering::Relaxed);
        self.own_visits.fetch_add(1, Ordering::Relaxed);
        self.visits.fetch_add(1, Ordering::Relaxed);
    }

    /// Updates `edge`, which leads from this node to a node whose value is now `child_value`, and adds `new_visits` to
    /// it.
    #[inline]
    pub(crate) fn update_edge(&self, edge: &Edge, child_value: i32, new_visits: u32) {
        let (before, after) = edge.swap_contribution(child_value, new_visits);
        let change = contribution(after) - contribution(before);
        if change != 0 {
            self.value_sum.fetch_add(change, Ordering::Relaxed);
        }
        if new_visits > 0 {
            self.visits.fetch_add(new_visits, Ordering::Relaxed);
        }
    }

    /// Tries to get the exclusive right to give the node more moves. [`end_extending`](Node::end_extending) must follow
    /// a success.
    pub(crate) fn begin_extending(&self) -> bool {
        self.flags.fetch_or(EXTENDING, Ordering::Acquire) & EXTENDING == 0
    }

    pub(crate) fn end_extending(&self) {
        self.flags.fetch_and(!EXTENDING, Ordering::Release);
    }

    /// Tries to get the exclusive right to evaluate the node or to create its moves. Acquire: the new holder sees the
    /// results of earlier holders.
    pub(crate) fn claim(&self) -> bool {
        self.flags.fetch_or(CLAIMED, Ordering::Acquire) & CLAIMED == 0
    }

    /// Ends a [`claim`](Node::claim). Returns whether other workers wait for the release.
    pub(crate) fn release(&self) -> bool {
        self.flags.fetch_and(!(CLAIMED | AWAITED), Ordering::Release) & AWAITED != 0
    }

    /// Marks the node as awaited. Returns false if no worker holds a claim any more.
    pub(crate) fn mark_awaited(&self) -> bool {
        self.flags.fetch_or(AWAITED, Ordering::AcqRel) & CLAIMED != 0
    }

    /// Returns whether moves have only been visited in the order of their priors. If so, no move after the first
    /// unvisited one has been visited.
    #[inline]
    pub(crate) fn is_in_order(&self) -> bool {
        self.flags.load(Ordering::Relaxed) & OUT_OF_ORDER == 0
    }

    /// Allows visits in any order, or other priors, from here on.
    pub fn allow_any_order(&self) {
        if self.is_in_order() {
            self.flags.fetch_or(OUT_OF_ORDER, Ordering::Relaxed);
        }
    }

    #[cfg(test)]
    pub(crate) fn sums(&self) -> (i64, u32) {
        (self.value_sum.load(Ordering::Relaxed), self.visits())
    }
}

fn contribution((visits, seen_value): (u32, i32)) -> i64 {
    i64::from(visits) * i64::from(seen_value)
}

/// Number of an edge in its table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct EdgeId(pub(super) u32);

impl EdgeId {
    /// Returns the index of the edge in its table.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Value in place of a move that marks a slot as the header of a run. No point has this index.
const HEADER: u16 = u16::MAX;

/// A move from a node. The move, and except at the root the prior, are constant once published. All other fields are
/// statistics that any worker writes.
#[cfg_attr(not(loom), derive(bytemuck::Zeroable))]
#[cfg_attr(loom, derive(Default))]
#[derive(Debug)]
#[repr(C)]
pub struct Edge {
    /// Visits in the upper half, the child's value at the latest update in the lower half.
    visits_and_seen_value: AtomicU64,
    /// The child's number plus one; 0 before the first visit.
    child: AtomicU32,
    /// The point's index, 0 for a pass; [`HEADER`] in the header of a run.
    mv: AtomicU16,
    /// A packed [`Prior`].
    prior: AtomicU16,
}

/// All-moves-as-first statistics of a move: number of games in the upper half, their summed value in the lower half,
/// counted from −1 in hundredths.
#[cfg_attr(not(loom), derive(bytemuck::Zeroable))]
#[cfg_attr(loom, derive(Default))]
#[derive(Debug)]
#[repr(transparent)]
pub struct Rave(AtomicU64);

/// Number of RAVE games at which the statistics stop counting, so that the packed sum cannot overflow: 2^24 · 200 <
/// 2^32.
const MAX_RAVE_GAMES: u32 = 1 << 24;

impl Rave {
    pub(crate) fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    pub(crate) fn copy_from(&self, other: &Rave) {
        self.0.store(other.0.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Adds `games` RAVE games with Black's `value` in `[-1, 1]`.
    #[inline]
    pub(crate) fn add(&self, value: f32, games: u32) {
        if (self.0.load(Ordering::Relaxed) >> 32) as u32 >= MAX_RAVE_GAMES {
            return;
        }
        let sum = u64::from(games) * u64::from(((value + 1.0) * 100.0) as u32);
        self.0.fetch_add(u64::from(games) << 32 | sum, Ordering::Relaxed);
    }

    /// Returns the number of RAVE games and Black's mean value in them; 0 without games.
    #[inline]
    pub fn visits_and_value(&self) -> (u32, f32) {
        let packed = self.0.load(Ordering::Relaxed);
        let games = (packed >> 32) as u32;
        if games == 0 {
            return (0, 0.0);
        }
        (games, (packed as u32) as f32 / (games as f32 * 100.0) - 1.0)
    }
}

/// Contents of a [`HeaderSlot`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    /// Node of the edges.
    pub(crate) owner: NodeId,
    /// Number of edges of the run.
    pub(crate) len: u32,
    /// First edge of the node's next run.
    pub(crate) next: Option<EdgeId>,
    /// Number of moves of the node that are in neither this run nor the runs before it.
    pub(crate) left: u16,
}

/// Slot before a run of edges, which describes the run. It has the layout of an [`Edge`], because both are in one
/// array: `child` holds the owner, `prior` the number of moves left, and `visits_and_seen_value` the next run and the
/// length. Builds with assertions check that a slot is a header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeaderSlot<'t>(&'t Edge);

impl<'t> HeaderSlot<'t> {
    /// Turns a slot into a header.
    pub(crate) fn write(slot: &'t Edge, header: Header) -> HeaderSlot<'t> {
        let Header { owner, len, next, left } = header;
        slot.mv.store(HEADER, Ordering::Relaxed);
        slot.child.store(owner.0, Ordering::Relaxed);
        slot.prior.store(left, Ordering::Relaxed);
        let next = next.map_or(0, |next| next.0);
        slot.visits_and_seen_value.store(u64::from(next) << 32 | u64::from(len), Ordering::Relaxed);
        HeaderSlot(slot)
    }

    /// Returns a slot that is a header.
    #[inline]
    pub(crate) fn of(slot: &'t Edge) -> HeaderSlot<'t> {
        debug_assert_eq!(slot.mv.load(Ordering::Relaxed), HEADER, "an edge is no header");
        HeaderSlot(slot)
    }

    /// Reads the header. Acquire: a thread that reads the index of the next run sees its edges.
    #[inline]
    pub(crate) fn read(self) -> Header {
        let packed = self.0.visits_and_seen_value.load(Ordering::Acquire);
        let next = (packed >> 32) as u32;
        Header {
            owner: NodeId(self.0.child.load(Ordering::Relaxed)),
            len: packed as u32,
            // The first slot is always a header, so no run begins there.
            next: (next != 0).then_some(EdgeId(next)),
            left: self.0.prior.load(Ordering::Relaxed),
        }
    }

    /// Appends a run to the run of this header, which is the last one of its node.
    pub(crate) fn append_run(self, next: EdgeId) {
        self.0.visits_and_seen_value.fetch_or(u64::from(next.0) << 32, Ordering::Release);
    }

    /// Notes in the header of a node's last run that no more moves are left.
    pub(crate) fn set_complete(self) {
        self.0.prior.store(0, Ordering::Relaxed);
    }
}

impl Edge {
    pub(crate) fn set(&self, mv: Move, prior: Prior) {
        self.visits_and_seen_value.store(0, Ordering::Relaxed);
        self.child.store(0, Ordering::Relaxed);
        self.mv.store(mv.point().map_or(0, |point| point.index() as u16), Ordering::Relaxed);
        self.prior.store(prior.pack(), Ordering::Relaxed);
    }

    pub(crate) fn copy_from(&self, other: &Edge) {
        self.visits_and_seen_value
            .store(other.visits_and_seen_value.load(Ordering::Relaxed), Ordering::Relaxed);
        self.child.store(other.child.load(Ordering::Relaxed), Ordering::Relaxed);
        self.mv.store(other.mv.load(Ordering::Relaxed), Ordering::Relaxed);
        self.prior.store(other.prior.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Returns the move.
    #[inline]
    pub fn mv(&self) -> Move {
        let index = self.mv.load(Ordering::Relaxed);
        debug_assert_ne!(index, HEADER, "a header is no edge");
        match index {
            0 => Move::Pass,
            index => Move::Play(Point::from_index(index)),
        }
    }

    /// Returns the index of the move among all moves of a position: points in their order, then the pass.
    #[inline]
    pub fn order(&self) -> u16 {
        self.mv.load(Ordering::Relaxed).wrapping_sub(1)
    }

    /// Returns the prior.
    #[inline]
    pub fn prior(&self) -> Prior {
        Prior::unpack(self.prior.load(Ordering::Relaxed))
    }

    /// Replaces the prior of a root's move.
    #[inline]
    pub(crate) fn set_prior(&self, prior: Prior) {
        self.prior.store(prior.pack(), Ordering::Relaxed);
    }

    /// Returns the node that the move leads to, if it has been visited. Acquire: a worker that reads the number sees
    /// the node.
    #[inline]
    pub fn child(&self) -> Option<NodeId> {
        self.child.load(Ordering::Acquire).checked_sub(1).map(NodeId)
    }

    /// Stores the node to which this edge leads.
    #[inline]
    pub fn set_child(&self, child: Option<NodeId>) {
        self.child.store(child.map_or(0, |id| id.0 + 1), Ordering::Release);
    }

    /// Returns the visits, and the child's value (Black's, fixed point) at the latest update of the edge.
    #[inline]
    pub fn visits_and_seen_value(&self) -> (u32, i32) {
        unpack(self.visits_and_seen_value.load(Ordering::Relaxed))
    }

    /// Returns the number of completed simulations through this edge.
    #[inline]
    pub fn visits(&self) -> u32 {
        self.visits_and_seen_value().0
    }

    /// Sets the visits of an edge that mirrors another rank's edge.
    pub fn set_visits(&self, visits: u32) {
        self.visits_and_seen_value.store(u64::from(visits) << 32, Ordering::Relaxed);
    }

    #[inline]
    fn swap_contribution(&self, seen_value: i32, new_visits: u32) -> ((u32, i32), (u32, i32)) {
        let mut old = self.visits_and_seen_value.load(Ordering::Relaxed);
        loop {
            let before = unpack(old);
            let after = (before.0 + new_visits, seen_value);
            let packed = u64::from(after.0) << 32 | u64::from(after.1 as u32);
            match self.visits_and_seen_value.compare_exchange_weak(
                old,
                packed,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return (before, after),
                Err(now) => old = now,
            }
        }
    }
}

#[inline]
fn unpack(packed: u64) -> (u32, i32) {
    ((packed >> 32) as u32, packed as u32 as i32)
}
