//! Sequential probability ratio test: a match continues until its results favour one of two strengths clearly enough.
//!
//! This is the generalised test. Each hypothesis fixes only the expected score. Among all distributions of results with
//! that expectation, the test uses the one that explains the results best. Therefore it needs no assumptions about
//! draws or the bias of openings.
//!
//! CITE: Wald, "Sequential Tests of Statistical Hypotheses" (1945); Van den Bergh, "A Practical Introduction to the
//! GSPRT" and "MLE for multinomial distributions with a given expectation" (hardy.uhasselt.be/Fishtest).

use super::intervals::expected;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Hypotheses of the test, and its error rates.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Sprt {
    /// Elo difference under the null hypothesis H0: for example, no progress.
    pub elo0: f64,
    /// Elo difference under the alternative hypothesis H1.
    pub elo1: f64,
    /// Probability of accepting H1 if H0 is true.
    pub alpha: f64,
    /// Probability of accepting H0 if H1 is true.
    pub beta: f64,
}

/// Result of the test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Verdict {
    /// The null hypothesis is accepted.
    H0,
    /// The alternative hypothesis is accepted.
    H1,
}

/// Count of a result that has not occurred, in units. With a count of 0, a hypothesis that requires such a result would
/// be impossible. The value is that of the Stockfish testing framework.
const UNSEEN_COUNT: f64 = 1e-3;

/// Minimum number of units for a verdict, because the variance of fewer units is unreliable. The value is a guess. The
/// approximations of the test are made for small differences, which need hundreds of units anyway.
const MIN_UNITS: u32 = 8;

impl Sprt {
    /// Parses `elo0,elo1` or `elo0,elo1,alpha,beta`. Both error rates are 0.05 by default.
    ///
    /// # Errors
    ///
    /// Returns a message if the text is invalid.
    pub fn parse(text: &str) -> Result<Sprt, String> {
        let numbers: Option<Vec<f64>> = text
            .split(',')
            .map(|word| word.trim().parse().ok().filter(|number: &f64| number.is_finite()))
            .collect();
        let sprt = match numbers.as_deref() {
            Some(&[elo0, elo1]) => Sprt { elo0, elo1, alpha: 0.05, beta: 0.05 },
            Some(&[elo0, elo1, alpha, beta]) => Sprt { elo0, elo1, alpha, beta },
            _ => return Err("not ELO0,ELO1 or ELO0,ELO1,ALPHA,BETA".to_owned()),
        };
        // Beyond this range, expected scores cannot be distinguished from 0 or 1.
        let in_range = |elo: f64| elo.abs() <= 1000.0;
        if !(in_range(sprt.elo0) && in_range(sprt.elo1) && sprt.elo0 < sprt.elo1) {
            return Err("ELO0 must be less than ELO1, both within 1000".to_owned());
        }
        let is_error = |rate: f64| 0.0 < rate && rate < 0.5;
        if !(is_error(sprt.alpha) && is_error(sprt.beta)) {
            return Err("ALPHA and BETA must be above 0 and below 0.5".to_owned());
        }
        Ok(sprt)
    }

    /// Returns the bounds of the log-likelihood ratio at which the test ends.
    pub fn bounds(self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// Returns the log-likelihood ratio of H1 to H0. `counts[i]` units have the score `i / (counts.len() - 1)`. Units
    /// are games (loss, draw, win) or pairs (five results).
    pub fn llr(self, counts: &[u32]) -> f64 {
        if counts.iter().all(|&count| count == 0) {
            return 0.0;
        }
        let step = 1.0 / (counts.len() - 1) as f64;
        let units = counts.iter().map(|&count| if count == 0 { UNSEEN_COUNT } else { f64::from(count) });
        let results: Vec<(f64, f64)> =
            units.enumerate().map(|(index, units)| (index as f64 * step, units)).collect();
        let [s0, s1] = [self.elo0, self.elo1].map(expected);
        let [x0, x1] = [s0, s1].map(|mean| multiplier(&results, mean));
        // The likeliest probabilities with a given mean are the observed ones divided by 1 + x (score − mean).
        let log_ratio = |score: f64| ((1.0 + x0 * (score - s0)) / (1.0 + x1 * (score - s1))).ln();
        results.iter().map(|&(score, units)| units * log_ratio(score)).sum()
    }

    /// Returns the verdict for these results, or `None` if the test is not finished.
    pub fn verdict(self, counts: &[u32]) -> Option<Verdict> {
        if counts.iter().sum::<u32>() < MIN_UNITS {
            return None;
        }
        let (low, high) = self.bounds();
        match self.llr(counts) {
            llr if llr <= low => Some(Verdict::H0),
            llr if llr >= high => Some(Verdict::H1),
            _ => None,
        }
    }
}

/// Returns the Lagrange multiplier x of the likeliest distribution with this mean: the zero of the sum of `units (score
/// − mean) / (1 + x (score − mean))`. The sum falls from +∞ to −∞ over the range in which all probabilities are
/// positive, so bisection finds its only zero.
fn multiplier(results: &[(f64, f64)], mean: f64) -> f64 {
    // Scores are in [0, 1].
    let (mut low, mut high) = (-1.0 / (1.0 - mean), 1.0 / mean);
    let sum = |x: f64| {
        results.iter().map(|&(score, units)| units * (score - mean) / (1.0 + x * (score - mean))).sum::<f64>()
    };
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high || high - low < 1e-13 {
            return middle;
        }
        if sum(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::H0 => "H0",
            Verdict::H1 => "H1",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::rng::Rng;

    fn sprt(elo0: f64, elo1: f64) -> Sprt {
        Sprt { elo0, elo1, alpha: 0.05, beta: 0.05 }
    }

    #[test]
    fn words() {
        assert_eq!(Sprt::parse("0,5"), Ok(sprt(0.0, 5.0)));
        assert_eq!(Sprt::parse("-3, 1, 0.1, 0.2"), Ok(Sprt { alpha: 0.1, beta: 0.2, ..sprt(-3.0, 1.0) }));
        for bad in
            ["", "5", "5,0", "0,5,0.1", "0,5,0,0.1", "0,5,0.5,0.5", "0,nan", "0,5000", "0,5,0.05,0.05,1"]
        {
            assert!(Sprt::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn bounds_are_walds() {
        let (low, high) = sprt(0.0, 5.0).bounds();
        assert!((low + 2.944).abs() < 1e-3 && (high - 2.944).abs() < 1e-3);
        let (low, high) = Sprt { alpha: 0.05, beta: 0.1, ..sprt(0.0, 5.0) }.bounds();
        assert!((low + 2.251).abs() < 1e-3 && (high - 2.890).abs() < 1e-3);
    }

    #[test]
    fn published_tests_of_pairs() {
        // Pentanomial counts, bounds in logistic Elo, and LLR as printed by the Stockfish testing framework in
        // official-stockfish/Stockfish pull requests 3098, 3209, 3331, 2951, 2971 and 2950.
        for (counts, elo0, elo1, published) in [
            ([491, 7345, 29693, 7670, 465], -0.25, 1.25, 2.96),
            ([53, 2220, 21459, 2445, 47], 0.25, 1.25, 2.97),
            ([253, 4282, 17604, 4431, 286], -0.25, 1.25, 2.94),
            ([14, 1030, 14318, 1163, 19], 0.25, 1.25, 2.93),
            ([59, 754, 2467, 865, 75], -0.5, 1.5, 2.95),
            ([17, 253, 1042, 337, 39], -0.5, 1.5, 2.96),
            ([11, 407, 3238, 513, 11], 0.25, 1.75, 2.93),
            ([149, 4748, 32785, 5063, 159], 0.25, 1.75, 2.95),
        ] {
            let llr = sprt(elo0, elo1).llr(&counts);
            assert!((llr - published).abs() < 0.0051, "{counts:?}: {llr}, published {published}");
        }
    }

    #[test]
    fn without_draws_it_is_the_classical_test() {
        // Σ log(p1/p0), because the mean alone determines a distribution over two results.
        let [p0, p1] = [0.0, 30.0].map(expected);
        let classical = 120.0 * (p1 / p0).ln() + 100.0 * ((1.0 - p1) / (1.0 - p0)).ln();
        let llr = sprt(0.0, 30.0).llr(&[100, 120]);
        assert!((llr - classical).abs() < 1e-9, "{llr} {classical}");
    }

    #[test]
    fn swapping_the_sides_changes_the_sign() {
        let counts = [3, 20, 70, 31, 9];
        let mut swapped = counts;
        swapped.reverse();
        let (one, other) = (sprt(-5.0, 10.0).llr(&counts), sprt(-10.0, 5.0).llr(&swapped));
        assert!((one + other).abs() < 1e-9, "{one} {other}");
    }

    #[test]
    fn few_results_prove_nothing() {
        let test = sprt(0.0, 50.0);
        for counts in [[0, 0, 0, 0, 0], [0, 0, 7, 0, 0], [0, 0, 0, 0, 7], [7, 0, 0, 0, 0]] {
            assert_eq!(test.verdict(&counts), None, "{counts:?}");
        }
        assert_eq!(test.llr(&[0, 0, 0, 0, 0]), 0.0);
    }

    /// Returns the share of `runs` tests that accept H1 if pairs have this distribution of results, and the mean length
    /// of the tests.
    fn simulate(test: Sprt, distribution: &dyn Fn(&mut Rng) -> usize, runs: u32) -> (f64, f64) {
        let (mut accepted, mut units) = (0, 0);
        for run in 0..runs {
            let mut rng = Rng::new(u64::from(run));
            let mut counts = [0; 5];
            let verdict = loop {
                counts[distribution(&mut rng)] += 1;
                if let Some(verdict) = test.verdict(&counts) {
                    break verdict;
                }
            };
            accepted += u32::from(verdict == Verdict::H1);
            units += counts.iter().sum::<u32>();
        }
        (f64::from(accepted) / f64::from(runs), f64::from(units) / f64::from(runs))
    }

    /// Returns a distribution of pairs: A wins each game with this probability, plus or minus the bias of an opening
    /// for Black.
    fn pair(win: f64, opening: f64) -> impl Fn(&mut Rng) -> usize {
        move |rng| {
            let bias = if rng.chance(500) { opening } else { -opening };
            let mut won = |p: f64| f64::from(rng.below(1 << 30)) < p * f64::from(1 << 30);
            2 * usize::from(won(win + bias)) + 2 * usize::from(won(win - bias))
        }
    }

    #[test]
    fn errors_are_as_rare_as_promised() {
        let test = sprt(0.0, 60.0);
        const RUNS: u32 = 1500;
        // For a rate of 5 % in 1,500 runs, three standard deviations are 1.7 %.
        for opening in [0.0, 0.35] {
            let (wrong, length0) = simulate(test, &pair(expected(0.0), opening), RUNS);
            let (right, length1) = simulate(test, &pair(expected(60.0), opening), RUNS);
            assert!(wrong < 0.067 && 1.0 - right < 0.067, "{opening}: {wrong} {right}");
            assert!(wrong > 0.02 && 1.0 - right > 0.02, "{opening}: as rare as that would waste games");
            // Lopsided openings make pairs alike, so fewer pairs are needed. Wald's approximation for independent games
            // is (1 − 2α) ln((1−α)/α) / (2 · 4 · (s1 − s0)² / 2) pairs, about 93.
            let expected_length = if opening == 0.0 { 70.0..130.0 } else { 30.0..70.0 };
            assert!(
                expected_length.contains(&length0) && expected_length.contains(&length1),
                "{length0} {length1}"
            );
        }
    }
}
