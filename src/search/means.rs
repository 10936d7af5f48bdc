//! Means of a node from the values of its children: pure functions of plain numbers.
//!
//! A move that was searched because it was probable, and that has proved to be bad, will not be played. It therefore
//! counts for less than its visits when the value of the position is computed.
//!
//! All values here are from the perspective of the side to move.
//!
//! CITE: KataGo's documentation of its methods (`docs/KataGoMethods.md`) and of its parameters, whose names and
//! constants these are.

use super::node::EdgeId;
use super::params::PuctParams;

/// Statistics of a visited move.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Child {
    /// Number of its edge.
    pub edge: EdgeId,
    /// Index of the move among all moves of the position.
    pub order: u16,
    /// Utility of the move.
    pub utility: f64,
    /// Prior probability of the move.
    pub prior: f64,
    /// Weight of its visits.
    pub weight: f64,
}

/// Changes the weights of the children to those for the mean of their parent. The children may come in any order and
/// are sorted by their priors if noise pruning is on.
pub fn reweigh(children: &mut [Child], params: &PuctParams) {
    if params.use_noise_pruning && children.len() > 1 {
        // Equal priors are sorted in the order of the moves, whatever their order before.
        children.sort_by(|a, b| b.prior.total_cmp(&a.prior).then(a.order.cmp(&b.order)));
        prune_noise(children, f64::from(params.noise_prune_utility_scale));
    }
    if params.value_weight_exponent > 0.0 {
        downweight_bad(children, f64::from(params.value_weight_exponent));
    }
}

/// Reduces the weight of moves that are worse than the likelier ones and have more than twice the visits due to their
/// probability: they looked good for a while by chance.
fn prune_noise(children: &mut [Child], utility_scale: f64) {
    let (mut utilities, mut weights, mut priors) = (0.0, 0.0, 0.0);
    for child in children {
        let prior = child.prior.max(1e-30);
        if weights > 0.0 {
            let gap = utilities / weights - child.utility;
            let excess = child.weight - 2.0 * weights * prior / priors;
            if gap > 0.0 && excess > 0.0 {
                child.weight -= excess * (1.0 - libm::exp(-gap / utility_scale));
            }
        }
        utilities += child.utility * child.weight;
        weights += child.weight;
        priors += prior;
    }
}

/// Multiplies every weight by a power of the probability that the move is better than the mean. The summed weight stays
/// the same.
fn downweight_bad(children: &mut [Child], exponent: f64) {
    let total: f64 = children.iter().map(|child| child.weight).sum();
    if total <= 0.0 || children.len() < 2 {
        return;
    }
    let mean = children.iter().map(|child| child.weight * child.utility).sum::<f64>() / total;
    let mut sum = 0.0;
    for child in children.iter_mut() {
        // Rough deviation of a utility after this number of visits; never 0.
        let deviation = (1e-8 + 1.0 / (1.5 * child.weight.max(1e-12).sqrt())).sqrt();
        child.weight *= power(student_cdf((child.utility - mean) / deviation) + 1e-4, exponent);
        sum += child.weight;
    }
    if sum > 0.0 {
        children.iter_mut().for_each(|child| child.weight *= total / sum);
    }
}

fn power(base: f64, exponent: f64) -> f64 {
    // The usual exponent takes a fraction of the time this way.
    if exponent == 0.25 { base.sqrt().sqrt() } else { libm::pow(base, exponent) }
}

/// Returns the value of the distribution function of Student's t with three degrees of freedom at `t`.
fn student_cdf(t: f64) -> f64 {
    let x = t / 3f64.sqrt();
    0.5 + (x / (1.0 + x * x) + libm::atan(x)) * std::f64::consts::FRAC_1_PI
}

/// Returns the weight of a network's evaluation, in visits. It decreases with `error`, the expected change of the
/// utility.
///
/// CITE: KataGo, release notes of version 1.9.
pub fn weight_of(params: &PuctParams, error: Option<f64>) -> f64 {
    let (true, Some(error)) = (params.use_uncertainty, error) else { return 1.0 };
    let coeff = f64::from(params.uncertainty_coeff);
    let most = f64::from(params.uncertainty_max_weight);
    coeff / (libm::pow(error.max(0.0), f64::from(params.uncertainty_exponent)) + coeff / most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn child(number: u16, prior: f64, weight: f64, utility: f64) -> Child {
        Child { edge: EdgeId(number.into()), order: number, utility, prior, weight }
    }

    fn weights(children: &[Child]) -> Vec<f64> {
        children.iter().map(|child| child.weight).collect()
    }

    #[test]
    fn students_distribution_by_the_tables() {
        for (t, expected) in [(0.0, 0.5), (0.765, 0.75), (2.353, 0.95), (5.841, 0.995), (-3.182, 0.025)] {
            assert!((student_cdf(t) - expected).abs() < 2e-4, "{t}");
        }
    }

    #[test]
    fn bad_moves_weigh_less_and_the_sum_stays() {
        let mut children = [child(0, 0.5, 40.0, 0.3), child(1, 0.3, 20.0, -0.4), child(2, 0.2, 10.0, 0.2)];
        downweight_bad(&mut children, 0.25);
        assert!((weights(&children).iter().sum::<f64>() - 70.0).abs() < 1e-9);
        assert!(children[0].weight > 40.0 && children[1].weight < 18.0);
        // By hand: mean 6/70; deviation of the second √(1/(1.5·√20)) = 0.386; t = −1.258.
        let by_hand = |weight: f64, utility: f64| {
            let t = (utility - 6.0 / 70.0) / (1e-8 + 1.0 / (1.5 * weight.sqrt())).sqrt();
            weight * (student_cdf(t) + 1e-4).powf(0.25)
        };
        let all = [by_hand(40.0, 0.3), by_hand(20.0, -0.4), by_hand(10.0, 0.2)];
        let second = 70.0 * all[1] / all.iter().sum::<f64>();
        assert!((children[1].weight - second).abs() < 1e-9);
        let mut same = [child(0, 0.5, 3.0, 0.1), child(1, 0.5, 3.0, 0.1)];
        downweight_bad(&mut same, 0.7);
        assert!(weights(&same).iter().all(|weight| (weight - 3.0).abs() < 1e-9));
    }

    #[test]
    fn noise_is_pruned_and_nothing_else() {
        let mut children = [child(0, 0.5, 10.0, 0.2), child(1, 0.1, 10.0, 0.0), child(2, 0.1, 30.0, 0.5)];
        prune_noise(&mut children, 0.15);
        // Worse, with 10 visits where 2 · 10 · 0.1 / 0.5 = 4 are due: the weight falls by 6 · (1 − e^(−0.2/0.15)).
        let expected = 10.0 - 6.0 * (1.0 - (-0.2f64 / 0.15).exp());
        assert_eq!(children[0].weight, 10.0);
        assert!((children[1].weight - expected).abs() < 1e-9);
        assert_eq!(children[2].weight, 30.0, "a better move keeps its weight");
    }

    #[test]
    fn the_order_in_which_children_come_does_not_matter() {
        let mut children = vec![
            child(0, 0.1, 10.0, 0.0),
            child(1, 0.5, 10.0, 0.2),
            child(2, 0.1, 30.0, -0.5),
            child(3, 0.0, 1.0, 0.9),
        ];
        let mut turned: Vec<Child> = children.iter().rev().copied().collect();
        let params = PuctParams::default();
        reweigh(&mut children, &params);
        reweigh(&mut turned, &params);
        assert_eq!(children, turned);
        assert_eq!(children.iter().map(|child| child.edge).collect::<Vec<_>>(), [1, 0, 2, 3].map(EdgeId));
    }

    #[test]
    fn sure_evaluations_count_more() {
        let params = PuctParams { use_uncertainty: true, ..PuctParams::default() };
        let weight = |error| weight_of(&params, Some(error));
        assert!((weight(0.0) - 8.0).abs() < 1e-6);
        assert!((weight(0.21875) - 1.0).abs() < 1e-6, "0.25 / (0.21875 + 0.25 / 8)");
        assert!(weight(0.1) > weight(0.2));
        assert_eq!(weight_of(&params, None), 1.0);
        assert_eq!(weight_of(&PuctParams { use_uncertainty: false, ..params }, Some(0.0)), 1.0);
    }
}
