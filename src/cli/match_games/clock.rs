//! The clock of one side, as `time_settings` describes it.

use std::time::Duration;

/// Main time, then periods of some time for some stones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TimeSettings {
    pub(super) main: u32,
    pub(super) byo: u32,
    pub(super) stones: u32,
}

impl TimeSettings {
    /// `main byo stones`, as in the command.
    pub(super) fn parse(text: &str) -> Result<TimeSettings, String> {
        let numbers: Option<Vec<u32>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[main, byo, stones]) if main > 0 || (byo > 0 && stones > 0) => {
                Ok(TimeSettings { main, byo, stones })
            }
            _ => Err("not three whole numbers: main time, byo-yomi time, byo-yomi stones".to_owned()),
        }
    }

    /// The time for every single move.
    pub(super) fn per_move(seconds: u32) -> TimeSettings {
        TimeSettings { main: 0, byo: seconds, stones: 1 }
    }
}

/// What one side has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Clock {
    settings: TimeSettings,
    main: Duration,
    period: Duration,
    stones: u32,
}

impl Clock {
    pub(super) fn new(settings: TimeSettings) -> Clock {
        let seconds = |seconds| Duration::from_secs(u64::from(seconds));
        // A period for no stones is no period.
        let period = if settings.stones == 0 { Duration::ZERO } else { seconds(settings.byo) };
        Clock { settings, main: seconds(settings.main), period, stones: settings.stones }
    }

    /// Time until the flag falls.
    pub(super) fn left(&self) -> Duration {
        self.main + self.period
    }

    /// Time and stones as `time_left` has them.
    pub(super) fn time_left(&self) -> (u64, u32) {
        if self.main.is_zero() && self.stones > 0 {
            (self.period.as_secs(), self.stones)
        } else {
            (self.main.as_secs(), 0)
        }
    }

    /// Takes the time of a move away. A little more than there is, within `margin`, counts as all there is:
    /// starting a process and moving text take time as well. False if the flag has fallen.
    pub(super) fn spend(&mut self, time: Duration, margin: Duration) -> bool {
        if time > self.left() + margin {
            return false;
        }
        let from_period = time.saturating_sub(self.main);
        self.main = self.main.saturating_sub(time);
        if self.main.is_zero() && self.stones > 0 {
            self.period = self.period.saturating_sub(from_period);
            // The move that ends the main time counts as the first of the period.
            self.stones -= 1;
            if self.stones == 0 {
                *self = Clock { main: Duration::ZERO, ..Clock::new(self.settings) };
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_MARGIN: Duration = Duration::ZERO;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn time_for_every_move() {
        let mut clock = Clock::new(TimeSettings::per_move(3));
        for _ in 0..5 {
            assert_eq!(clock.time_left(), (3, 1));
            assert!(clock.spend(seconds(2), NO_MARGIN));
        }
        assert!(!clock.spend(seconds(4), NO_MARGIN));
        assert!(clock.spend(seconds(4), seconds(1)));
    }

    #[test]
    fn main_time_then_periods() {
        let mut clock = Clock::new(TimeSettings::parse("10 6 2").unwrap());
        assert!(clock.spend(seconds(8), NO_MARGIN));
        assert_eq!(clock.time_left(), (2, 0));
        assert!(clock.spend(seconds(4), NO_MARGIN));
        assert_eq!(clock.time_left(), (4, 1));
        assert!(clock.spend(seconds(4), NO_MARGIN));
        assert_eq!(clock.time_left(), (6, 2));
        assert!(!clock.spend(seconds(7), NO_MARGIN));
    }

    #[test]
    fn absolute_time() {
        let mut clock = Clock::new(TimeSettings::parse("10 0 0").unwrap());
        assert!(clock.spend(seconds(10), NO_MARGIN));
        assert_eq!(clock.time_left(), (0, 0));
        assert!(!clock.spend(seconds(1), NO_MARGIN));
        assert!(TimeSettings::parse("0 0 0").is_err());
        assert!(TimeSettings::parse("0 5 0").is_err());
        assert!(TimeSettings::parse("1 2").is_err());
        assert!(TimeSettings::parse("1 -2 3").is_err());
    }
}
