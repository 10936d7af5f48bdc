//! Comparison of evaluations of the same positions.

use super::kernels::Precision;
use super::prediction::Prediction;

/// Largest absolute differences between two sets of evaluations.
#[derive(Clone, Copy, Default, Debug)]
pub struct Differences {
    /// Difference of the probabilities of moves and results.
    pub probability: f32,
    /// Difference of the expected owners.
    pub owner: f32,
    /// Difference of the lead, in points.
    pub lead: f32,
    /// Number of evaluations with the same likeliest move.
    pub same: usize,
    /// Number of evaluations.
    pub count: usize,
}

impl Differences {
    /// Adds the differences of a pair of evaluations.
    pub fn add(&mut self, found: &Prediction, expected: &Prediction) {
        let farthest = |found: &[f32], expected: &[f32]| {
            let each = found.iter().zip(expected).map(|(found, expected)| (found - expected).abs());
            each.fold(0.0, f32::max)
        };
        let results = |it: &Prediction| [it.pass, it.win, it.loss, it.no_result];
        let probability =
            farthest(&found.policy, &expected.policy).max(farthest(&results(found), &results(expected)));
        self.probability = self.probability.max(probability);
        self.owner = self.owner.max(farthest(&found.ownership, &expected.ownership));
        self.lead = self.lead.max((found.lead - expected.lead).abs());
        self.same += usize::from(likeliest(found) == likeliest(expected));
        self.count += 1;
    }

    /// Returns whether the order of additions, or rounding, can explain the differences.
    pub fn are_within_tolerance(&self, precision: Precision) -> bool {
        // Ownership is in [-1, 1], probabilities are in [0, 1]: where a network is undecided, rounding changes
        // ownership twice as much.
        let (probability, owner, lead) = match precision {
            Precision::F32 => (2e-4, 2e-4, 2e-2),
            Precision::Bf16 => (0.1, 0.2, 5.0),
            Precision::Int8 => (0.3, 0.6, 15.0),
        };
        self.probability < probability && self.owner < owner && self.lead < lead
    }
}

/// Returns the index of the likeliest move in the policy. A pass has the index after all points.
fn likeliest(prediction: &Prediction) -> usize {
    let moves = prediction.policy.iter().chain([&prediction.pass]).enumerate();
    moves.max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(place, _)| place)
}
