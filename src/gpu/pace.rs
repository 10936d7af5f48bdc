//! Times of batches.

use std::time::Duration;

/// Number of points of a usual board.
pub(crate) const USUAL_POINTS: usize = 361;

/// Times of the batches so far, from which the time that a batch may take is derived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Least time that a batch is allowed.
    pub(crate) least: Duration,
    /// Time allowed for the first batches, which include preparations of the driver, and the longest time allowed for
    /// any batch.
    pub(crate) most: Duration,
    /// Number of batches that have been timed.
    timed: u32,
    /// Longest time of a batch.
    longest: Duration,
    /// Longest time of a batch for each of its points. A batch of few points counts as one of [`USUAL_POINTS`].
    longest_of_point: Duration,
}

impl Pace {
    /// A card counts as lost if a batch takes this many times its expected time. Another program may use the card, too.
    const PATIENCE: u32 = 16;

    /// Number of first batches that are allowed the longest time.
    const FIRST: u32 = 3;

    pub(crate) fn new(is_software: bool) -> Pace {
        // A software driver is thousands of times slower than a card, and shares the processors with the search.
        let [least, most] = if is_software { [120, 300] } else { [1, 20] }.map(Duration::from_secs);
        Pace { least, most, timed: 0, longest: Duration::ZERO, longest_of_point: Duration::ZERO }
    }

    /// Records the time of a batch of `points` points.
    pub(crate) fn add(&mut self, points: usize, time: Duration) {
        self.timed = self.timed.saturating_add(1);
        if self.timed > 1 {
            self.longest = self.longest.max(time);
            let points = u32::try_from(points.max(USUAL_POINTS)).unwrap_or(u32::MAX);
            self.longest_of_point = self.longest_of_point.max(time / points);
        }
    }

    /// Returns the time that a batch of `points` points may take.
    pub(crate) fn patience(&self, points: usize) -> Duration {
        if self.timed < Pace::FIRST {
            return self.most;
        }
        let points = u32::try_from(points).unwrap_or(u32::MAX);
        let expected = self.longest.max(self.longest_of_point.saturating_mul(points));
        expected.saturating_mul(Pace::PATIENCE).clamp(self.least, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_follows_the_times_of_batches() {
        let seconds = Duration::from_secs;
        let mut pace = Pace::new(false);
        assert_eq!(pace.patience(361), seconds(20));
        // The first batch includes preparations.
        pace.add(361, seconds(5));
        pace.add(361, Duration::from_millis(2));
        assert_eq!(pace.patience(361), seconds(20));
        pace.add(361, Duration::from_millis(3));
        assert_eq!(pace.patience(361), seconds(1));
        // Larger batches may take longer, up to the limit.
        let large = pace.patience(361 * 64);
        assert!(large > seconds(2) && large < seconds(4), "{large:?}");
        pace.add(361 * 64, seconds(1));
        assert_eq!(pace.patience(1), seconds(16));
        pace.add(361 * 64, seconds(2));
        assert_eq!(pace.patience(361 * 64), seconds(20));
        assert!(Pace::new(true).patience(361) > seconds(100));
    }
}
