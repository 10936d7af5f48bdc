//! Stop rules: small rules that can be combined. A rule reads statistics and gets the time from them; it has no clock.

use std::time::Duration;

/// Statistics that a stop rule may use.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SearchStats {
    /// Completed simulations through the root, including those of earlier searches, except those through moves that
    /// this search must not consider.
    pub visits: u32,
    /// Number of simulations of this search.
    pub playouts: u32,
    /// Time since the search began.
    pub elapsed: Duration,
    /// Visits of the most and of the second most visited move at the root, among those that may be searched.
    pub best_two: [u32; 2],
}

/// Returns the largest and the second largest of these visits; 0 where there is none.
pub fn best_two(visits: impl Iterator<Item = u32>) -> [u32; 2] {
    visits.fold(
        [0; 2],
        |[first, second], visits| {
            if visits > first { [visits, first] } else { [first, second.max(visits)] }
        },
    )
}

/// A rule that decides when a search has done enough.
pub trait StopRule: Sync {
    /// Returns whether to stop now.
    fn should_stop(&self, stats: &SearchStats) -> bool;

    /// Returns whether a limit on plain counts is reached. Called before every simulation, so it must be cheap. The
    /// numbers include simulations in progress.
    fn count_reached(&self, _visits: u32, _playouts: u32) -> bool {
        false
    }
}

/// The usual rules. The search stops when the first of them is fulfilled.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Limits {
    /// Largest number of visits of the root.
    pub visits: Option<u32>,
    /// Largest number of simulations of this search.
    pub playouts: Option<u32>,
    /// Time after which the search stops if the best move is clearly ahead, or in any case if `hard` is not set.
    pub soft: Option<Duration>,
    /// Time after which the search stops in any case.
    pub hard: Option<Duration>,
    /// Time from which the search stops as soon as no other move can overtake the best one within the other limits;
    /// `None`: never.
    pub settled_from: Option<Duration>,
}

impl Limits {
    /// Creates the limit of a fixed number of simulations.
    pub fn playouts(playouts: u32) -> Limits {
        Limits { playouts: Some(playouts), ..Limits::default() }
    }

    /// Creates the limit of a fixed time.
    pub fn time(time: Duration) -> Limits {
        Limits { soft: Some(time), hard: Some(time), ..Limits::default() }
    }

    /// Returns the number of simulations that remain before the nearest limit, as far as that can be estimated.
    fn remaining(&self, stats: &SearchStats) -> Option<u32> {
        let by_visits = self.visits.map(|most| most.saturating_sub(stats.visits));
        let by_playouts = self.playouts.map(|most| most.saturating_sub(stats.playouts));
        let by_time = self.soft.map(|soft| {
            // Early in a search the rate is not known yet.
            if stats.playouts < 50 || stats.elapsed.is_zero() {
                return u32::MAX;
            }
            let left = soft.saturating_sub(stats.elapsed).as_secs_f64() / stats.elapsed.as_secs_f64();
            (f64::from(stats.playouts) * left).min(f64::from(u32::MAX)) as u32
        });
        [by_visits, by_playouts, by_time].into_iter().flatten().min()
    }

    /// Returns whether no other root move can overtake the most visited one before the nearest limit. It returns
    /// false before `settled_from`.
    ///
    /// CITE: Baier and Winands, "Time management for Monte-Carlo tree search" (2016), the rule STOP.
    fn is_settled(&self, stats: &SearchStats) -> bool {
        self.settled_from.is_some_and(|from| stats.elapsed >= from)
            && self.remaining(stats).is_some_and(|left| {
                stats.best_two[0] > stats.best_two[1] && stats.best_two[0] - stats.best_two[1] > left
            })
    }
}

impl StopRule for Limits {
    fn count_reached(&self, visits: u32, playouts: u32) -> bool {
        self.visits.is_some_and(|most| visits >= most) || self.playouts.is_some_and(|most| playouts >= most)
    }

    fn should_stop(&self, stats: &SearchStats) -> bool {
        let over = |limit: Option<Duration>| limit.is_some_and(|limit| stats.elapsed >= limit);
        let soft_and_clear = over(self.soft)
            && (self.hard.is_none() || stats.best_two[0] > stats.best_two[1].saturating_mul(3) / 2);
        self.count_reached(stats.visits, stats.playouts)
            || over(self.hard)
            || soft_and_clear
            || self.is_settled(stats)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(playouts: u32, seconds: u64, best_two: [u32; 2]) -> SearchStats {
        SearchStats { visits: playouts, playouts, elapsed: Duration::from_secs(seconds), best_two }
    }

    #[test]
    fn each_limit_stops() {
        assert!(Limits::playouts(100).should_stop(&stats(100, 0, [0, 0])));
        assert!(!Limits::playouts(100).should_stop(&stats(99, 0, [99, 0])));
        let visits = Limits { visits: Some(5), ..Limits::default() };
        assert!(visits.should_stop(&stats(5, 0, [0, 0])));
        assert!(Limits::time(Duration::from_secs(2)).should_stop(&stats(1, 2, [0, 0])));
        assert!(!Limits::default().should_stop(&stats(u32::MAX, 1 << 40, [9, 0])));
    }

    #[test]
    fn settled_when_the_rest_cannot_change_the_order() {
        let limits = Limits { settled_from: Some(Duration::ZERO), ..Limits::playouts(100) };
        assert!(!limits.should_stop(&stats(60, 1, [50, 10])), "40 to come, 40 ahead");
        assert!(limits.should_stop(&stats(60, 1, [51, 9])));
        let time = Limits { settled_from: Some(Duration::ZERO), ..Limits::time(Duration::from_secs(4)) };
        assert!(!time.should_stop(&stats(1000, 1, [1000, 0])), "3,000 to come at this rate");
        assert!(time.should_stop(&stats(3000, 3, [2500, 500])));
        let late = Limits { settled_from: Some(Duration::from_secs(3)), ..time };
        assert!(
            !late.should_stop(&stats(2900, 2, [2900, 0])) && late.should_stop(&stats(3000, 3, [2500, 500]))
        );
        let never = Limits { settled_from: None, ..time };
        assert!(!never.should_stop(&stats(3000, 3, [3000, 0])));
    }

    #[test]
    fn close_moves_extend_to_the_hard_limit() {
        let limits = Limits {
            soft: Some(Duration::from_secs(1)),
            hard: Some(Duration::from_secs(3)),
            ..Limits::default()
        };
        assert!(limits.should_stop(&stats(100, 1, [90, 10])));
        assert!(!limits.should_stop(&stats(100, 1, [51, 49])));
        assert!(limits.should_stop(&stats(100, 3, [51, 49])));
    }
}
