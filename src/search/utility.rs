//! Utility: result and score in one number, which a search with a network maximises.
//!
//! The result counts most. Points count, too, so that a decided game is still played well, and so that the search is
//! drawn to a lead that does not yet decide the result. One share of the points is centred on an even game. A second
//! share is centred on the score expected at the root, where moves differ.
//!
//! CITE: David Wu, "Accelerating self-play learning in Go" (2019), section 3.5 and appendix, for the form; names and
//! constants are KataGo's.

use super::params::PuctParams;
use std::f64::consts::FRAC_2_PI;

/// Scale of the utilities in one search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct UtilityScale {
    /// Factor of the first share of points, and the number of points over which it grows.
    fixed: (f64, f64),
    /// Factor of the second share of points, and the number of points over which it grows.
    dynamic: (f64, f64),
    /// Black's score on which the second share is centred.
    center: f64,
}

/// Smallest weight of the result: without any, a utility would have no bound.
const MIN_RESULT_WEIGHT: f32 = 0.01;

/// Means of the positive eight of sixteen equally probable parts of the standard normal distribution.
const NORMAL: [f64; 8] = [0.0785, 0.2375, 0.4027, 0.5800, 0.7779, 1.0129, 1.3259, 1.9677];

/// Returns the expected value, in (−1, 1), of a normally distributed score. Each further point counts less.
fn bounded(mean: f64, deviation: f64, scale: f64) -> f64 {
    // `libm` gives the same result on every machine.
    let value = |score: f64| libm::atan(score / scale) * FRAC_2_PI;
    if deviation <= 0.0 {
        return value(mean);
    }
    let pair = |step: f64| value(mean - step * deviation) + value(mean + step * deviation);
    NORMAL.iter().map(|&step| pair(step)).sum::<f64>() / (2 * NORMAL.len()) as f64
}

impl UtilityScale {
    /// Creates the scale for a board of `area` points on which Black is expected to lead by `score` points at the end.
    pub fn new(params: &PuctParams, area: usize, score: f32) -> UtilityScale {
        let side = (area as f64).sqrt();
        let most = f64::from(params.dynamic_score_center_scale) * side;
        let score = f64::from(score);
        // The centre moves part of the way to an even game, but not so far that points would no longer count.
        let toward_even = score * (1.0 - f64::from(params.dynamic_score_center_zero_weight));
        // In utilities the result always counts 1. Where it is to count less, points count the more.
        let result = f64::from(params.win_loss_utility_factor.max(MIN_RESULT_WEIGHT));
        UtilityScale {
            fixed: (f64::from(params.static_score_utility_factor) / result, 2.0 * side),
            dynamic: (f64::from(params.dynamic_score_utility_factor) / result, most.max(f64::MIN_POSITIVE)),
            center: toward_even.clamp(score - most, score + most),
        }
    }

    /// Returns the utility for Black of a position with this expected result, in `[-1, 1]`, and with a score of this
    /// mean and deviation.
    pub fn utility(&self, result: f64, mean: f64, deviation: f64) -> f64 {
        let part = |(factor, scale): (f64, f64), center: f64| {
            if factor == 0.0 { 0.0 } else { factor * bounded(mean - center, deviation, scale) }
        };
        result + part(self.fixed, 0.0) + part(self.dynamic, self.center)
    }

    /// Returns the increase of utility per point at a score.
    pub fn slope(&self, score: f64) -> f64 {
        let part = |(factor, scale): (f64, f64), center: f64| {
            let x = (score - center) / scale;
            factor * FRAC_2_PI / scale / (1.0 + x * x)
        };
        part(self.fixed, 0.0) + part(self.dynamic, self.center)
    }

    /// Returns the bound of the absolute value of utilities.
    pub fn bound(&self) -> f64 {
        1.0 + self.fixed.0 + self.dynamic.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_count_more_where_the_result_counts_less() {
        let usual = PuctParams::default();
        let scale = |params: PuctParams| UtilityScale::new(&params, 81, 3.0);
        let half = scale(PuctParams { win_loss_utility_factor: 0.5, ..usual });
        let double =
            PuctParams { static_score_utility_factor: 0.2, dynamic_score_utility_factor: 0.6, ..usual };
        assert_eq!(half, scale(double));
        let nothing = scale(PuctParams { win_loss_utility_factor: 0.0, ..usual });
        assert!(nothing.bound().is_finite() && nothing.utility(0.0, 5.0, 0.0).is_finite());
    }

    fn scale(score: f32) -> UtilityScale {
        UtilityScale::new(&PuctParams::default(), 81, score)
    }

    #[test]
    fn utilities_by_hand() {
        // 0.1 · 2/π · atan(9 / 18) + 0.3 · 2/π · atan(9 / 6.75).
        let expected = 0.5 + 0.1 * 0.295_167 + 0.3 * 0.590_334;
        assert!((scale(0.0).utility(0.5, 9.0, 0.0) - expected).abs() < 1e-5);
        // The centre is at 8, a fifth of the way from 10 to 0. The second share is zero there.
        let at_center = scale(10.0).utility(0.0, 8.0, 0.0);
        assert!((at_center - 0.1 * FRAC_2_PI * (8.0f64 / 18.0).atan()).abs() < 1e-6);
        // The centre is at most 6.75 points from the expected score.
        assert!((scale(50.0).center - 43.25).abs() < 1e-6 && (scale(-50.0).center + 43.25).abs() < 1e-6);
        assert!((scale(0.0).bound() - 1.4).abs() < 1e-6);
    }

    #[test]
    fn uncertain_scores_count_less() {
        let at = |deviation| scale(0.0).utility(0.0, 5.0, deviation);
        assert!(at(0.0) > at(5.0) && at(5.0) > at(20.0) && at(20.0) > 0.0);
        // Comparison with the integral in small steps: sixteen values are accurate enough.
        for (mean, deviation) in [(0.0, 10.0), (3.0, 2.0), (5.0, 12.0), (-20.0, 25.0), (40.0, 15.0)] {
            let (mut sum, mut weights) = (0.0, 0.0);
            for step in -6000..=6000 {
                let x = f64::from(step) / 1000.0;
                let weight = (-x * x / 2.0).exp();
                sum += weight * ((mean + x * deviation) / 6.75).atan() * FRAC_2_PI;
                weights += weight;
            }
            let found = bounded(mean, deviation, 6.75);
            assert!((found - sum / weights).abs() < 0.01, "{mean} ± {deviation}: {found} {}", sum / weights);
        }
    }

    #[test]
    fn utilities_are_antisymmetric_and_grow_with_the_score() {
        let even = scale(0.0);
        assert_eq!(even.utility(0.25, 7.0, 3.0), -even.utility(-0.25, -7.0, 3.0));
        for score in [-30.0, -4.0, 0.0, 2.5, 60.0] {
            let scale = scale(3.0);
            let rise = scale.utility(0.0, score + 0.01, 0.0) - scale.utility(0.0, score, 0.0);
            assert!(rise > 0.0 && (rise / 0.01 - scale.slope(score)).abs() < 1e-4);
        }
    }
}
