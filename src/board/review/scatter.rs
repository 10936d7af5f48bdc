//! Scatter of searches of the same position.
//!
//! The results of the simulations of a search are not independent, because the search goes where the first results were
//! good. The standard error that follows from their number alone was measured to be too small by a factor of 1.1 to
//! 2.8. No constant can correct this, because the factor depends on the game, the evaluator and the length of the
//! search. Therefore some positions of the game are searched twice, the second time with other random numbers and
//! without earlier statistics. The difference in excess of the error by number is added to every error.

use super::analysis::PositionReview;
use super::estimate::Estimate;

/// One position out of this number is searched twice.
const EVERY: usize = 7;
/// Minimum number of positions that are searched twice, if the game has enough positions.
const MIN_POSITIONS: usize = 10;

/// Result of repeated searches: standard deviations of a single search in excess of its own error by number.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Scatter {
    /// Number of positions that were searched twice.
    pub repeats: usize,
    /// Standard deviation of win rates.
    pub win_rate: f32,
    /// Standard deviation of leads, in points.
    pub score: f32,
}

/// Returns the indices of the positions that are searched twice, spread evenly over `count` positions.
pub(super) fn chosen(count: usize) -> Vec<usize> {
    let repeats = (count / EVERY).max(MIN_POSITIONS).min(count);
    (0..repeats).map(|number| (2 * number + 1) * count / (2 * repeats)).collect()
}

impl Scatter {
    /// Computes the scatter from pairs of searches of the same positions.
    pub(crate) fn of_pairs(pairs: &[(&PositionReview, PositionReview)]) -> Scatter {
        let beyond = |part: fn(&PositionReview) -> Estimate| {
            let variance = |pair: &(&PositionReview, PositionReview)| {
                let (first, second) = (part(pair.0), part(&pair.1));
                let by_number = first.error * first.error + second.error * second.error;
                ((first.mean - second.mean).powi(2) - by_number) / 2.0
            };
            // The sum over no numbers is −0, which would be shown with a sign.
            let sum: f32 = 0.0 + pairs.iter().map(variance).sum::<f32>();
            (sum / pairs.len().max(1) as f32).max(0.0).sqrt()
        };
        Scatter {
            repeats: pairs.len(),
            win_rate: beyond(|analysis| analysis.win_rate),
            score: beyond(|analysis| analysis.score),
        }
    }

    /// Adds the scatter to these errors of a search.
    pub(super) fn widen(&self, win_rate: &mut Estimate, score: &mut Estimate) {
        win_rate.error = win_rate.error.hypot(self.win_rate);
        score.error = score.error.hypot(self.score);
    }

    /// Adds the scatter to all errors of a position, unless the position was counted.
    pub(crate) fn widen_all(&self, analysis: &mut PositionReview) {
        if analysis.visits == 0 {
            return;
        }
        self.widen(&mut analysis.win_rate, &mut analysis.score);
        for candidate in &mut analysis.candidates {
            self.widen(&mut candidate.win_rate, &mut candidate.score);
        }
    }
}
