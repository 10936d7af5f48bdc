//! Raw outputs of a network. [`Prediction`](super::Prediction) gives them their meaning.

use thiserror::Error;

/// Raw outputs of a network for one position, from the perspective of the side to move.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Output {
    /// Logit of a move at each point, of length `height * width`, row by row from the top as in
    /// [`Input`](super::Input).
    pub policy: Vec<f32>,
    /// Logits of the optimistic policy, in the layout of `policy`: the policy on the assumption that surprises turn out
    /// well. Present from version 12 on.
    pub optimistic_policy: Option<Vec<f32>>,
    /// Logit of a pass.
    pub pass: f32,
    /// Logit of a pass in the optimistic policy. Present from version 12 on.
    pub optimistic_pass: Option<f32>,
    /// Logits of a win, a loss and no result, for the side to move.
    pub value: [f32; 3],
    /// Expected score in points, before the network's multiplier.
    pub score_mean: f32,
    /// Standard deviation of the score in points, before softplus and the network's multiplier.
    pub score_stdev: f32,
    /// Points by which the side to move is ahead, before the network's multiplier.
    pub lead: f32,
    /// Number of moves during which the result still changes, before softplus and the network's multiplier.
    pub variance_time: f32,
    /// Expected errors of the value and of the score within the next few moves, before softplus and the network's
    /// multipliers. Present from version 9 on.
    pub shortterm_errors: Option<[f32; 2]>,
    /// Expected owner of each point, in the layout of `policy`, before the hyperbolic tangent: positive for the side to
    /// move.
    pub ownership: Vec<f32>,
}

/// Error for a network whose outputs are infinite or NaN. Its weights are broken although each of them is finite.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the network's outputs are infinite or NaN")]
pub struct NotFinite;

impl Output {
    /// Sets the logits of a win, a loss and no result from the first three numbers of `value`.
    pub(crate) fn set_value(&mut self, value: &[f32]) {
        self.value = [value[0], value[1], value[2]];
    }

    /// Sets the outputs about the score from `scores`, which holds 4 or 6 numbers in the order of the file.
    pub(crate) fn set_scores(&mut self, scores: &[f32]) {
        [self.score_mean, self.score_stdev, self.lead, self.variance_time] =
            [scores[0], scores[1], scores[2], scores[3]];
        self.shortterm_errors = (scores.len() > 4).then(|| [scores[4], scores[5]]);
    }

    /// Returns the output unchanged if all its numbers are finite.
    ///
    /// # Errors
    ///
    /// Returns [`NotFinite`] if a number is infinite or NaN.
    pub fn into_finite(self) -> Result<Output, NotFinite> {
        let vectors = [Some(&self.policy), self.optimistic_policy.as_ref(), Some(&self.ownership)];
        let single = [self.pass, self.score_mean, self.score_stdev, self.lead, self.variance_time];
        let is_finite =
            vectors.into_iter().flatten().flatten().chain(&single).chain(&self.value).all(|x| x.is_finite())
                && self.optimistic_pass.is_none_or(f32::is_finite)
                && self.shortterm_errors.is_none_or(|errors| errors.iter().all(|x| x.is_finite()));
        if is_finite { Ok(self) } else { Err(NotFinite) }
    }
}
