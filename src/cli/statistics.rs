//! What a number of games says about strength: pure arithmetic.

use std::fmt;

/// Games won, lost and drawn by one side.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Tally {
    pub(super) wins: u32,
    pub(super) losses: u32,
    pub(super) draws: u32,
}

/// A value and the ends of its interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Estimate {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// Standard deviations of a two-sided interval of 95 %.
const Z: f64 = 1.959_964;

impl Tally {
    pub(super) fn games(self) -> u32 {
        self.wins + self.losses + self.draws
    }

    /// Points per game, a draw being half a point, with the Wilson interval of 95 %. `None` without games.
    ///
    /// CITE: Wilson, "Probable inference, the law of succession, and statistical inference" (1927). With draws
    /// the interval is a little too wide, since they vary less than wins and losses.
    pub(super) fn rate(self) -> Option<Estimate> {
        if self.games() == 0 {
            return None;
        }
        let n = f64::from(self.games());
        let p = (f64::from(self.wins) + f64::from(self.draws) / 2.0) / n;
        let scale = 1.0 + Z * Z / n;
        let centre = (p + Z * Z / (2.0 * n)) / scale;
        let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
        Some(Estimate { value: p, low: (centre - half).max(0.0), high: (centre + half).min(1.0) })
    }
}

impl fmt::Display for Tally {
    /// Wins, losses and draws.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{} -{} ={}", self.wins, self.losses, self.draws)
    }
}

impl Estimate {
    /// The same in Elo; infinite where a side has all the points.
    pub(super) fn elo(self) -> Estimate {
        Estimate { value: elo(self.value), low: elo(self.low), high: elo(self.high) }
    }
}

/// Difference in Elo at which a side is expected to have this share of the points.
fn elo(rate: f64) -> f64 {
    // A negative zero would be shown as "-0".
    400.0 * (rate / (1.0 - rate)).log10() + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 5e-4
    }

    #[test]
    fn wilson_intervals() {
        for (wins, losses, draws, value, low, high) in [
            (50, 50, 0, 0.5, 0.4038, 0.5962),
            (8, 2, 0, 0.8, 0.4902, 0.9433),
            (10, 0, 0, 1.0, 0.7225, 1.0),
            (0, 10, 0, 0.0, 0.0, 0.2775),
            (0, 0, 1, 0.5, 0.0546, 0.9454),
        ] {
            let rate = Tally { wins, losses, draws }.rate().unwrap();
            assert!(close(rate.value, value) && close(rate.low, low) && close(rate.high, high), "{rate:?}");
        }
        assert_eq!(Tally::default().rate(), None);
    }

    #[test]
    fn elo_of_rates() {
        assert!(close(elo(0.5), 0.0));
        assert!((elo(0.64) - 99.95).abs() < 0.01);
        assert!((elo(0.36) + 99.95).abs() < 0.01);
        assert!(elo(1.0).is_infinite());
    }
}
