//! How far two searches of the same position differ.
//!
//! The results of a search are not independent: it goes where the first ones were good. The standard error that
//! follows from their number alone was measured to be too small by a factor of 1.1 to 2.8, and no constant would do:
//! it depends on game, evaluator and length of the search. So some positions of the game are searched twice, the
//! second time with other random numbers and without anything learned before, and what the two differ by beyond the error by
//! number is added to every error.

use super::analysis::Analysis;
use super::estimate::Estimate;

/// One position in so many is searched twice.
const EVERY: usize = 7;
/// But at least so many, if the game has them.
const LEAST: usize = 10;

/// What repeated searches have shown. Standard deviations of a single search, beyond its own error by number.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Scatter {
    /// Positions that were searched twice.
    pub repeats: usize,
    /// Of win rates.
    pub win_rate: f32,
    /// Of leads, in points.
    pub score: f32,
}

/// Which of so many positions are searched twice: evenly spread ones.
pub(super) fn chosen(count: usize) -> Vec<usize> {
    let repeats = (count / EVERY).max(LEAST).min(count);
    (0..repeats).map(|number| (2 * number + 1) * count / (2 * repeats)).collect()
}

impl Scatter {
    /// Compares pairs of searches.
    pub(super) fn of_pairs(pairs: &[(&Analysis, Analysis)]) -> Scatter {
        let beyond = |part: fn(&Analysis) -> Estimate| {
            let variance = |pair: &(&Analysis, Analysis)| {
                let (first, second) = (part(pair.0), part(&pair.1));
                let by_number = first.error * first.error + second.error * second.error;
                ((first.mean - second.mean).powi(2) - by_number) / 2.0
            };
            let sum: f32 = pairs.iter().map(variance).sum();
            (sum / pairs.len().max(1) as f32).max(0.0).sqrt()
        };
        Scatter {
            repeats: pairs.len(),
            win_rate: beyond(|analysis| analysis.win_rate),
            score: beyond(|analysis| analysis.score),
        }
    }

    /// Adds itself to the errors of a search.
    pub(super) fn widen(&self, win_rate: &mut Estimate, score: &mut Estimate) {
        win_rate.error = win_rate.error.hypot(self.win_rate);
        score.error = score.error.hypot(self.score);
    }

    /// Adds itself to all errors of an analysis, unless that was a matter of counting.
    pub(super) fn widen_all(&self, analysis: &mut Analysis) {
        if analysis.visits == 0 {
            return;
        }
        self.widen(&mut analysis.win_rate, &mut analysis.score);
        for candidate in &mut analysis.candidates {
            self.widen(&mut candidate.win_rate, &mut candidate.score);
        }
    }
}
