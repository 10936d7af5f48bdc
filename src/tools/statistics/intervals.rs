//! Results of games and of pairs of games: rates with confidence intervals, and Elo.

use serde::Serialize;
use std::fmt;

/// Numbers of games won, lost and drawn by one side.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Tally {
    /// Number of games won.
    pub wins: u32,
    /// Number of games lost.
    pub losses: u32,
    /// Number of games drawn.
    pub draws: u32,
}

/// Numbers of pairs of games in which one side got 0, ½, 1, 1½ and 2 points.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct PairTally(pub [u32; 5]);

/// Value with its 95 % confidence interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Interval {
    /// Estimated value.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// Half the width of a two-sided 95 % interval, in standard deviations.
const Z: f64 = 1.959_964;

impl Tally {
    /// Counts a game: `Some(true)` if this side won, `None` for a draw.
    pub fn add(&mut self, won: Option<bool>) {
        match won {
            Some(true) => self.wins += 1,
            Some(false) => self.losses += 1,
            None => self.draws += 1,
        }
    }

    /// Returns the number of games.
    pub fn games(self) -> u32 {
        self.wins + self.losses + self.draws
    }

    /// Returns the numbers of losses, draws and wins.
    pub fn counts(self) -> [u32; 3] {
        [self.losses, self.draws, self.wins]
    }

    /// Returns the points per game, with a 95 % interval that assumes that games are independent. Returns `None`
    /// without games.
    pub fn rate(self) -> Option<Interval> {
        Sample::new(&self.counts())?.interval(1.0)
    }

    /// Returns the probability that this side is stronger.
    pub fn superiority(self) -> f64 {
        Sample::new(&self.counts()).map_or(0.5, Sample::superiority)
    }
}

impl PairTally {
    /// Counts a pair with this number of half points, 0 to 4, for this side.
    pub fn add(&mut self, half_points: usize) {
        self.0[half_points.min(4)] += 1;
    }

    /// Returns the number of pairs.
    pub fn count(self) -> u32 {
        self.0.iter().sum()
    }

    /// Returns the points per game, with a 95 % interval. Returns `None` without pairs.
    pub fn rate(self) -> Option<Interval> {
        Sample::new(&self.0)?.interval(2.0)
    }

    /// Returns the probability that this side is stronger.
    pub fn superiority(self) -> f64 {
        Sample::new(&self.0).map_or(0.5, Sample::superiority)
    }
}

/// Mean and variances of equally spaced scores in `[0, 1]`.
#[derive(Clone, Copy, Debug)]
struct Sample {
    size: f64,
    mean: f64,
    variance: f64,
    /// Mean squared difference from ½, instead of from the mean.
    even_variance: f64,
}

impl Sample {
    /// Creates a sample in which `counts[i]` units have the score `i / (counts.len() - 1)`. Returns `None` without
    /// units.
    fn new(counts: &[u32]) -> Option<Sample> {
        let size: f64 = counts.iter().map(|&count| f64::from(count)).sum();
        if size == 0.0 {
            return None;
        }
        let step = 1.0 / (counts.len() - 1) as f64;
        let average = |of: &dyn Fn(f64) -> f64| {
            counts.iter().enumerate().map(|(i, &n)| f64::from(n) * of(i as f64 * step)).sum::<f64>() / size
        };
        let mean = average(&|score| score);
        let variance = average(&|score| (score - mean).powi(2));
        Some(Sample { size, mean, variance, even_variance: average(&|score| (score - 0.5).powi(2)) })
    }

    /// Returns Wilson's interval for the effective sample size: the number of independent games without draws that
    /// would give as much information as these units of `games` games each. For many games it is the usual interval of
    /// the mean. Unlike that interval, it does not shrink to a point if all games are won, and it stays within 0 and 1.
    ///
    /// CITE: Wilson, "Probable inference, the law of succession, and statistical inference" (1927); Korn and Graubard,
    /// "Confidence intervals for proportions with small expected number of positive counts estimated from survey data"
    /// (1998), for the effective size of a sample of clusters. Unlike them, this function adds one unit with the
    /// variance of independent games, so that a few equal pairs do not seem to prove everything.
    fn interval(self, games: f64) -> Option<Interval> {
        let p = self.mean;
        let independent = p * (1.0 - p);
        let variance = (self.size * self.variance + independent / games) / (self.size + 1.0);
        let n = if variance > 0.0 { self.size * independent / variance } else { self.size * games };
        let scale = 1.0 + Z * Z / n;
        let centre = (p + Z * Z / (2.0 * n)) / scale;
        let half = Z * (independent / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
        // A sample without losses or without wins touches the end of the scale exactly. Rounding must not move that
        // end.
        let low = if p == 0.0 { 0.0 } else { (centre - half).max(0.0) };
        let high = if p == 1.0 { 1.0 } else { (centre + half).min(1.0) };
        Some(Interval { value: p, low, high })
    }

    /// Returns the probability that the true mean is above ½, using the normal approximation. For single games it is
    /// Φ((wins − losses) / √(wins + losses)).
    ///
    /// CITE: "Match Statistics", Chess Programming Wiki, likelihood of superiority.
    fn superiority(self) -> f64 {
        if self.even_variance == 0.0 {
            return 0.5;
        }
        normal((self.mean - 0.5) / (self.even_variance / self.size).sqrt())
    }
}

/// Returns the cumulative standard normal distribution at `z`.
fn normal(z: f64) -> f64 {
    0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
}

impl fmt::Display for Tally {
    /// Writes wins, losses and draws.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{} -{} ={}", self.wins, self.losses, self.draws)
    }
}

impl Interval {
    /// Converts the interval from points per game to Elo. Values are infinite if one side has all points.
    pub fn elo(self) -> Interval {
        Interval { value: elo(self.value), low: elo(self.low), high: elo(self.high) }
    }
}

/// Returns the Elo difference at which a side is expected to get this share of the points.
fn elo(rate: f64) -> f64 {
    // The addition turns a negative zero, which would be shown as "-0", into zero.
    400.0 * (rate / (1.0 - rate)).log10() + 0.0
}

/// Returns the mean of at least two values, and its standard error.
pub fn mean_and_error(values: impl ExactSizeIterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let variance = values.map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

/// Returns the expected share of the points at this Elo difference.
pub(super) fn expected(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 5e-4
    }

    #[test]
    fn wilson_intervals() {
        for (wins, losses, value, low, high) in [
            (50, 50, 0.5, 0.4038, 0.5962),
            (8, 2, 0.8, 0.4902, 0.9433),
            (10, 0, 1.0, 0.7225, 1.0),
            (0, 10, 0.0, 0.0, 0.2775),
        ] {
            let rate = Tally { wins, losses, draws: 0 }.rate().unwrap();
            assert!(close(rate.value, value) && close(rate.low, low) && close(rate.high, high), "{rate:?}");
        }
        assert_eq!(Tally::default().rate(), None);
        assert_eq!(PairTally::default().rate(), None);
    }

    #[test]
    fn intervals_without_losses_or_wins_reach_the_end_exactly() {
        for count in 1..=1000 {
            let tallies = |wins, losses| Tally { wins, losses, draws: 0 }.rate().unwrap();
            let (won, lost) = (tallies(count, 0), tallies(0, count));
            assert!(won.high == 1.0 && won.low < 1.0 && lost.low == 0.0 && lost.high > 0.0, "{count}");
            let (won, lost) = (PairTally([0, 0, 0, 0, count]), PairTally([count, 0, 0, 0, 0]));
            assert_eq!((won.rate().unwrap().high, lost.rate().unwrap().low), (1.0, 0.0), "{count} pairs");
        }
    }

    /// Returns half the width of the interval, in Elo.
    fn margin(rate: Interval) -> f64 {
        (rate.elo().high - rate.elo().low) / 2.0
    }

    #[test]
    fn games_as_others_count_them() {
        // Elo differences and likelihoods of superiority as printed by cutechess-cli: JoAnnP38/Pedantic#8 and #10,
        // kelseyde/calvin-chess-engine#97.
        for (wins, losses, draws, elo, error, superiority) in [
            (332, 316, 352, 5.6, 17.3, 73.5),
            (1342, 1317, 1341, 2.2, 8.8, 68.6),
            (143, 129, 368, 7.6, 17.5, 80.2),
            (1216, 1199, 3939, 0.9, 5.3, 63.5),
        ] {
            let tally = Tally { wins, losses, draws };
            let rate = tally.rate().unwrap();
            assert!((rate.elo().value - elo).abs() < 0.06, "{rate:?}");
            assert!((margin(rate) - error).abs() < 0.11, "{tally}: {} {error}", margin(rate));
            assert!((100.0 * tally.superiority() - superiority).abs() < 0.06, "{}", tally.superiority());
        }
    }

    #[test]
    fn pairs_as_others_count_them() {
        // As printed by fastchess and OpenBench: lynx-chess/Lynx#1899, Yoshie2000/PlentyChess#213 and #233.
        for (counts, elo, error) in [
            ([235, 1384, 2521, 1341, 239], -1.06, 4.05),
            ([44, 241, 590, 413, 71], 28.96, 8.30),
            ([59, 1365, 2872, 1515, 89], 6.18, 3.40),
        ] {
            let rate = PairTally(counts).rate().unwrap();
            assert!((rate.elo().value - elo).abs() < 0.006, "{rate:?}");
            assert!((margin(rate) - error).abs() < 0.03, "{counts:?}: {} {error}", margin(rate));
        }
        let superiority = PairTally([235, 1384, 2521, 1341, 239]).superiority();
        assert!((superiority - 0.3033).abs() < 5e-5, "{superiority}");
    }

    #[test]
    fn pairs_of_lopsided_openings_tell_more_than_their_games() {
        // Black always wins: the games are evenly split, and all pairs are alike.
        let games = Tally { wins: 100, losses: 100, draws: 0 }.rate().unwrap();
        let pairs = PairTally([2, 0, 96, 0, 2]).rate().unwrap();
        assert_eq!(games.value, pairs.value);
        assert!(margin(pairs) < margin(games) / 3.0, "{pairs:?} {games:?}");
        // Independent games: pairs have the same information as games.
        let pairs = PairTally([25, 0, 50, 0, 25]).rate().unwrap();
        assert!((margin(pairs) / margin(games) - 1.0).abs() < 0.01, "{pairs:?} {games:?}");
        // A few equal pairs prove nothing.
        let pairs = PairTally([0, 0, 2, 0, 0]).rate().unwrap();
        assert!(pairs.low < 0.35 && pairs.high > 0.65, "{pairs:?}");
    }

    #[test]
    fn superiority_at_the_ends() {
        assert_eq!(Tally { wins: 0, losses: 0, draws: 9 }.superiority(), 0.5);
        assert!(Tally { wins: 10, losses: 0, draws: 0 }.superiority() > 0.999);
        assert!(PairTally([5, 0, 0, 0, 0]).superiority() < 0.02);
        assert!((normal(1.959_964) - 0.975).abs() < 1e-7);
    }

    #[test]
    fn elo_of_rates() {
        assert!(close(elo(0.5), 0.0));
        assert!((elo(0.64) - 99.95).abs() < 0.01);
        assert!((elo(0.36) + 99.95).abs() < 0.01);
        assert!(elo(1.0).is_infinite());
        for points in [-300.0, 0.0, 12.5] {
            assert!((elo(expected(points)) - points).abs() < 1e-9);
        }
    }

    #[test]
    fn means_and_errors() {
        let (mean, error) = mean_and_error([1.0, 2.0, 3.0, 4.0].into_iter());
        assert!((mean - 2.5).abs() < 1e-12 && (error - (5.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-12);
    }
}
