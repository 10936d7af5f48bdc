//! Selection formulas: pure functions of plain numbers.
//!
//! All values here are from the perspective of the side to move, in `[-1, 1]`.

use super::params::{PuctParams, RaveParams};

/// Statistics of the simulations through one edge.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct MoveStats {
    /// Completed simulations through the edge, or their weight where evaluations have different weights.
    pub visits: f32,
    /// Value of the child, or its utility.
    pub value: f32,
    /// Number of descents in progress.
    pub busy: f32,
    /// Number of lost games for which the descents in progress count (virtual loss).
    pub lost: f32,
}

impl MoveStats {
    /// Returns the visits and their summed value. Descents in progress count as lost games, so that workers spread.
    #[inline]
    fn visits_and_sum(&self) -> (f32, f32) {
        (self.visits + self.lost, self.visits * self.value - self.lost)
    }
}

/// All-moves-as-first statistics and prior knowledge of one move, in games and their mean values.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RaveStats {
    /// Number of RAVE games.
    pub visits: u32,
    /// Mean value of the RAVE games.
    pub value: f32,
    /// Weight of the prior, in visits.
    pub prior_weight: f32,
    /// Mean value of the prior.
    pub prior_value: f32,
}

/// Returns the urgency of a move. Selection follows the most urgent move.
///
/// The urgency is the mean of visits and prior, mixed with the mean of RAVE games. The weight of the latter falls as
/// visits come in: β = r / (r + n + n·r / equivalence). A prior counts as games of both kinds.
/// `exploring` is the square root of the parent's visits.
///
/// CITE: Gelly and Silver (2011) for the mixture; David Silver's β in the form that Pachi uses.
#[inline]
pub fn rave_urgency(stats: &MoveStats, rave: &RaveStats, params: &RaveParams, exploring: f32) -> f32 {
    let (visits, sum) = stats.visits_and_sum();
    let visits = visits + rave.prior_weight;
    if visits <= 0.0 {
        return f32::MAX;
    }
    let prior_sum = rave.prior_weight * rave.prior_value;
    let mean = (sum + prior_sum) / visits;
    let mut mixed = mean;
    if params.rave_equivalence > 0.0 && rave.visits > 0 {
        let rave_visits = rave.visits as f32 + rave.prior_weight;
        let rave_sum = rave.visits as f32 * rave.value + prior_sum;
        let beta = rave_visits / (rave_visits + visits + visits * rave_visits / params.rave_equivalence);
        mixed = beta * (rave_sum / rave_visits) + (1.0 - beta) * mean;
    }
    mixed + params.rave_exploration * exploring / visits
}

/// Statistics of a node that all its moves share, for [`Puct::new`].
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct NodeStats {
    /// Utility of the node.
    pub utility: f32,
    /// Mean square of the utilities of all evaluations below it, and its own.
    pub utility_square: f32,
    /// Summed weight of these evaluations.
    pub weight: f32,
    /// Summed weight of the visits of the node's edges. Descents in progress there count as visits.
    pub edge_weight: f32,
    /// Summed probability of the visited moves.
    pub visited_probability: f32,
    /// Utility of the network's evaluation of the position.
    pub own_utility: f32,
    /// Whether the node is the root of the search.
    pub is_root: bool,
}

/// PUCT: the value of a move, plus its probability weighted by the remaining uncertainty.
///
/// CITE: Rosin, "Multi-armed bandits with episode context" (2011); Silver et al. (2017). Dynamic exploration and
/// first-play urgency as KataGo does them, see [`PuctParams`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Puct {
    /// Factor of the probability.
    exploring: f32,
    /// Value of an unvisited move with probability 1.
    unvisited: f32,
    /// Reduction of that value for every halving of the probability.
    per_halving: f32,
}

impl Puct {
    /// Creates the part of the formula that all moves of a node share.
    pub fn new(params: &PuctParams, node: &NodeStats) -> Puct {
        let weight = node.edge_weight;
        let base = params.cpuct_exploration_base;
        // `libm` gives the same result on every machine.
        let cpuct =
            params.cpuct_exploration + params.cpuct_exploration_log * libm::logf((weight + base) / base);
        // Exploration grows with the scatter of the utilities. The measured deviation is averaged with some visits of
        // the prior deviation.
        let prior = params.cpuct_utility_stdev_prior;
        let prior_weight = params.cpuct_utility_stdev_prior_weight;
        let square = node.utility * node.utility;
        let stdev = if node.weight <= 1.0 {
            prior
        } else {
            let sum = (square + prior * prior) * prior_weight + node.utility_square.max(square) * node.weight;
            (sum / (prior_weight + node.weight - 1.0) - square).max(0.0).sqrt()
        };
        let stdev_factor = 1.0 + params.cpuct_utility_stdev_scale * (stdev / prior - 1.0);
        // The small constant lets probabilities decide the first visit.
        let exploring = cpuct * stdev_factor * (weight + 0.01).sqrt();
        let visited = node.visited_probability.clamp(0.0, 1.0);
        let reduction = if node.is_root { params.root_fpu_reduction_max } else { params.fpu_reduction_max };
        let parent = if params.fpu_parent_weight_by_visited_policy {
            let share = libm::powf(visited, params.fpu_parent_weight_by_visited_policy_pow);
            share * node.utility + (1.0 - share) * node.own_utility
        } else {
            node.utility
        };
        Puct {
            exploring,
            unvisited: parent - reduction * visited.sqrt(),
            per_halving: params.fpu_reduction_per_halving,
        }
    }

    /// Returns the assumed value of a move before its first visit (first-play urgency). It grows with the probability,
    /// so the likeliest of the unvisited moves is always the most urgent of them.
    #[inline]
    fn before_visits(&self, probability: f32) -> f32 {
        if self.per_halving == 0.0 {
            return self.unvisited;
        }
        let halvings = -libm::log2f(probability.clamp(1e-6, 1.0));
        // No move is worse than a lost game.
        (self.unvisited - self.per_halving * halvings).max(self.unvisited.min(-1.0))
    }

    /// Returns the number of visits after which a move would no longer be more urgent than `urgency`.
    pub fn visits_worth(&self, stats: &MoveStats, probability: f32, urgency: f32) -> f32 {
        let missing = urgency - stats.value;
        if missing <= 0.0 { f32::MAX } else { (self.exploring * probability / missing - 1.0).max(0.0) }
    }

    /// Returns the urgency of a move. Selection follows the most urgent move.
    #[inline]
    pub fn urgency(&self, stats: &MoveStats, probability: f32) -> f32 {
        let known = if stats.visits > 0.0 { stats.value } else { self.before_visits(probability) };
        // As in KataGo, the assumed value of a move without visits has a small weight against virtual losses.
        let weight = stats.visits.max(0.25);
        let value = (weight * known - stats.lost) / (weight + stats.lost);
        // A descent in progress counts as a visit even if its virtual loss is small: as a visit of the move, and in
        // `exploring` of the node.
        // CITE: Liu et al. (2020), "Watch the unobserved: a simple approach to parallelizing Monte Carlo tree search".
        value + self.exploring * probability / (1.0 + stats.visits + stats.busy.max(stats.lost))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: RaveParams =
        RaveParams { rave_equivalence: 0.0, rave_exploration: 0.0, rave_early_share: 0.0 };

    #[test]
    fn rave_urgency_by_hand() {
        let (three, none) =
            (MoveStats { visits: 3.0, value: 0.5, ..MoveStats::default() }, RaveStats::default());
        assert_eq!(rave_urgency(&three, &none, &PLAIN, 0.0), 0.5);
        // One descent in progress: (1.5 − 1) / 4.
        assert_eq!(rave_urgency(&MoveStats { lost: 1.0, ..three }, &none, &PLAIN, 0.0), 0.125);
        // A prior of one lost game: (1.5 − 1) / 4.
        let prior = RaveStats { prior_weight: 1.0, prior_value: -1.0, ..none };
        assert_eq!(rave_urgency(&three, &prior, &PLAIN, 0.0), 0.125);
        // RAVE: r = 3, n = 3, β = 3 / (3 + 3 + 9/9) = 3/7.
        let rave = RaveStats { visits: 3, value: -0.5, ..none };
        let mixed = rave_urgency(&three, &rave, &RaveParams { rave_equivalence: 9.0, ..PLAIN }, 0.0);
        assert!((mixed - (3.0 / 7.0 * -0.5 + 4.0 / 7.0 * 0.5)).abs() < 1e-6);
    }

    #[test]
    fn unknown_move_is_most_urgent() {
        assert_eq!(rave_urgency(&MoveStats::default(), &RaveStats::default(), &PLAIN, 0.0), f32::MAX);
    }

    #[test]
    fn the_weight_of_rave_falls_with_visits() {
        let params = RaveParams { rave_equivalence: 1000.0, ..PLAIN };
        let at = |visits| {
            let rave = RaveStats { visits: 100, value: 1.0, ..RaveStats::default() };
            rave_urgency(&MoveStats { visits, ..MoveStats::default() }, &rave, &params, 0.0)
        };
        assert!(at(1.0) > at(10.0) && at(10.0) > at(1000.0) && at(1000.0) > at(100_000.0));
    }

    #[test]
    fn puct_by_hand() {
        // No cpuct_exploration_log and no scatter: value + probability · √(visits + 0.01) / (1 + visits of the move).
        let params = PuctParams {
            cpuct_exploration_log: 0.0,
            cpuct_utility_stdev_scale: 0.0,
            fpu_parent_weight_by_visited_policy: false,
            ..PuctParams::default()
        };
        let node =
            NodeStats { utility: 0.2, edge_weight: 4.0, visited_probability: 0.25, ..NodeStats::default() };
        let puct = Puct::new(&params, &node);
        let near = |a: f32, b: f32| (a - b).abs() < 1e-6;
        let once = MoveStats { visits: 1.0, value: 0.5, ..MoveStats::default() };
        assert!(near(puct.urgency(&once, 0.5), 0.5 + 0.5 * 4.01f32.sqrt() / 2.0));
        // First-play urgency: 0.2 − 0.2 · √0.25 = 0.1, and 0.2 − 0.1 · √0.25 at the root.
        assert!(near(puct.urgency(&MoveStats::default(), 0.0), 0.1));
        let root = Puct::new(&params, &NodeStats { is_root: true, ..node });
        assert!(near(root.urgency(&MoveStats::default(), 0.0), 0.15));
        // 0.25² of the parent's value is that of the search and the rest that of the network: 0.0625 · 0.2 + 0.9375 ·
        // 0.4, minus 0.1.
        let by_policy = PuctParams { fpu_parent_weight_by_visited_policy: true, ..params };
        let mixed = Puct::new(&by_policy, &NodeStats { own_utility: 0.4, ..node });
        assert!(near(mixed.urgency(&MoveStats::default(), 0.0), 0.0125 + 0.375 - 0.1));
        // A descent in progress: (0.5 − 1) / 2, and one visit more in the denominator.
        let busy = MoveStats { busy: 1.0, lost: 1.0, ..once };
        assert!(near(puct.urgency(&busy, 0.5), -0.25 + 0.5 * 4.01f32.sqrt() / 3.0));
        // With half a loss: (0.5 − 0.5) / 1.5. Without any: the value itself.
        assert!(near(puct.urgency(&MoveStats { lost: 0.5, ..busy }, 0.5), 0.5 * 4.01f32.sqrt() / 3.0));
        assert!(near(puct.urgency(&MoveStats { lost: 0.0, ..busy }, 0.5), 0.5 + 0.5 * 4.01f32.sqrt() / 3.0));
        // A first visit in progress: (0.25 · 0.1 − 1) / 1.25.
        let first = MoveStats { busy: 1.0, lost: 1.0, ..MoveStats::default() };
        assert!(near(puct.urgency(&first, 0.0), -0.78));
    }

    #[test]
    fn first_play_urgency_falls_with_probability() {
        let params = PuctParams {
            fpu_parent_weight_by_visited_policy: false,
            fpu_reduction_per_halving: 0.05,
            ..PuctParams::default()
        };
        let node =
            NodeStats { utility: 0.2, edge_weight: 4.0, visited_probability: 0.25, ..NodeStats::default() };
        let puct = Puct::new(&params, &node);
        // 0.2 − 0.2 · √0.25 for a move of probability 1, and 0.05 less for every halving.
        for (probability, worth) in [(1.0, 0.1), (0.5, 0.05), (0.125, -0.05), (1.0 / 128.0, -0.25)] {
            assert!((puct.before_visits(probability) - worth).abs() < 1e-6, "{probability}");
        }
        // After a visit, the value is that of the visits.
        let once = MoveStats { visits: 1.0, value: 0.5, ..MoveStats::default() };
        assert!((puct.urgency(&once, 0.0) - 0.5).abs() < 1e-6);
        // No move is worse than a lost game, not even an impossible one.
        let steep = Puct::new(&PuctParams { fpu_reduction_per_halving: 2.0, ..params }, &node);
        assert_eq!([steep.before_visits(0.01), steep.before_visits(0.0)], [-1.0, -1.0]);
        // A scan of moves in the order of their probabilities may stop at the first unvisited one.
        let none = MoveStats::default();
        for puct in [puct, steep] {
            let urgencies: Vec<f32> = (0..=100).map(|p| puct.urgency(&none, p as f32 / 100.0)).collect();
            assert!(urgencies.is_sorted(), "{urgencies:?}");
        }
    }

    #[test]
    fn exploration_grows_with_visits_and_with_deviation() {
        let params = PuctParams::default();
        let exploring = |edge_weight: f32, utility_square| {
            let weight = edge_weight + 1.0;
            let node = NodeStats { edge_weight, weight, utility_square, ..NodeStats::default() };
            Puct::new(&params, &node).exploring / (edge_weight + 0.01).sqrt()
        };
        assert!((exploring(0.0, 0.16) - 1.0).abs() < 1e-6, "the prior deviation changes nothing");
        assert!(exploring(10_000.0, 0.16) > exploring(100.0, 0.16));
        assert!(exploring(100.0, 0.5) > exploring(100.0, 0.16));
        assert!(exploring(100.0, 0.16) > exploring(100.0, 0.01));
    }

    #[test]
    fn visits_worth_inverts_urgency() {
        let node = NodeStats { edge_weight: 90.0, weight: 91.0, utility_square: 0.1, ..NodeStats::default() };
        let puct = Puct::new(&PuctParams::default(), &node);
        let stats = |visits| MoveStats { visits, value: 0.1, ..MoveStats::default() };
        let worth = puct.visits_worth(&stats(50.0), 0.2, 0.3);
        assert!((puct.urgency(&stats(worth), 0.2) - 0.3).abs() < 1e-5);
        assert_eq!(puct.visits_worth(&stats(50.0), 0.2, 0.1), f32::MAX);
        assert_eq!(puct.visits_worth(&stats(50.0), 0.0, 0.3), 0.0);
    }

    #[test]
    fn likeliest_unvisited_move_comes_first() {
        let puct = Puct::new(&PuctParams::default(), &NodeStats::default());
        let none = MoveStats::default();
        assert!(puct.urgency(&none, 0.6) > puct.urgency(&none, 0.3));
    }
}
