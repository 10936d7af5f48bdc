//! What a network computes, before it means anything: see [`Prediction`](super::Prediction) for what it means.

use thiserror::Error;

/// The numbers that come out of a network, as the player to move sees them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Output {
    /// For every point, row by row from the top as in [`Input`](super::Input), the logit of a move there.
    pub policy: Vec<f32>,
    /// The same, if surprises turn out well; from version 12 on.
    pub optimistic_policy: Option<Vec<f32>>,
    /// The logit of a pass.
    pub pass: f32,
    /// The logit of a pass, if surprises turn out well; from version 12 on.
    pub optimistic_pass: Option<f32>,
    /// The logits of a win, a loss and no result.
    pub value: [f32; 3],
    /// The expected score, not yet multiplied.
    pub score_mean: f32,
    /// The score's standard deviation, before softplus and not yet multiplied.
    pub score_stdev: f32,
    /// The points by which the player is ahead, not yet multiplied.
    pub lead: f32,
    /// How long the result will go on changing, before softplus and not yet multiplied.
    pub variance_time: f32,
    /// How wrong value and score will turn out to be within a few moves, before softplus and not yet multiplied;
    /// from version 9 on.
    pub shortterm_errors: Option<[f32; 2]>,
    /// For every point, as in `policy`, who will own it, before the hyperbolic tangent.
    pub ownership: Vec<f32>,
}

/// A network whose outputs are infinite or not numbers: its weights are broken, though each is finite.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the network's outputs are infinite or not numbers")]
pub struct NotFinite;

impl Output {
    /// Sets the logits of the result.
    pub(crate) fn set_value(&mut self, value: &[f32]) {
        self.value = [value[0], value[1], value[2]];
    }

    /// Sets what is about the score, in the order of files.
    pub(crate) fn set_scores(&mut self, scores: &[f32]) {
        [self.score_mean, self.score_stdev, self.lead, self.variance_time] =
            [scores[0], scores[1], scores[2], scores[3]];
        self.shortterm_errors = (scores.len() > 4).then(|| [scores[4], scores[5]]);
    }

    /// Itself, if all its numbers are finite.
    pub fn checked(self) -> Result<Output, NotFinite> {
        let vectors = [Some(&self.policy), self.optimistic_policy.as_ref(), Some(&self.ownership)];
        let single = [self.pass, self.score_mean, self.score_stdev, self.lead, self.variance_time];
        let is_finite =
            vectors.into_iter().flatten().flatten().chain(&single).chain(&self.value).all(|x| x.is_finite())
                && self.optimistic_pass.is_none_or(f32::is_finite)
                && self.shortterm_errors.is_none_or(|errors| errors.iter().all(|x| x.is_finite()));
        if is_finite { Ok(self) } else { Err(NotFinite) }
    }
}
