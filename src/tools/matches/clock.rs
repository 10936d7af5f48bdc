//! Clocks of a match: the time control, the clock of one side with its margin, and their forms in GTP commands and
//! records.

use kosumi_engine::time::{Clock, TimeControl};
use std::collections::BTreeSet;
use std::time::Duration;

/// Parses a time control: `main byo stones` as in GTP's `time_settings`, or a name and numbers: `absolute 300`,
/// `byoyomi 300 30 5`, `canadian 300 60 10`, `fischer 60 2`, `fischer-capped 60 2 90 30`.
///
/// # Errors
///
/// Returns a message if the text is not a time control, or if the time control leaves no time for a move.
pub fn parse(text: &str) -> Result<TimeControl, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let numbers: Option<Vec<f64>> =
        words.iter().map(|word| word.parse().ok().filter(|&number: &f64| number >= 0.0)).collect();
    let control = match numbers.as_deref() {
        Some(&[main, period, stones]) if stones.fract() == 0.0 => {
            Some(TimeControl::gtp(main, period, stones as u32))
        }
        Some(_) => None,
        None => TimeControl::parse(&words),
    };
    let is_playable = |control: &TimeControl| {
        *control != TimeControl::None && !GameClock::new(*control, Duration::ZERO).available().is_zero()
    };
    control.filter(is_playable).ok_or_else(|| {
        "expected MAIN BYO STONES in seconds, or one of absolute, byoyomi, canadian, fischer and fischer-capped with its times"
            .to_owned()
    })
}

/// Returns the time control in the format that [`parse`] reads.
pub(super) fn text(control: TimeControl) -> String {
    let limit = |limit: Option<Duration>| limit.map_or("-1".to_owned(), seconds);
    match control {
        TimeControl::None => "none".to_owned(),
        TimeControl::Absolute { main } => format!("absolute {}", seconds(main)),
        TimeControl::Canadian { main, period, stones } => {
            format!("canadian {} {} {stones}", seconds(main), seconds(period))
        }
        TimeControl::ByoYomi { main, period, periods } => {
            format!("byoyomi {} {} {periods}", seconds(main), seconds(period))
        }
        TimeControl::Fischer { main, increment, cap: None, max_move: None } => {
            format!("fischer {} {}", seconds(main), seconds(increment))
        }
        TimeControl::Fischer { main, increment, cap, max_move } => {
            let (cap, max_move) = (limit(cap), limit(max_move));
            format!("fischer-capped {} {} {cap} {max_move}", seconds(main), seconds(increment))
        }
        TimeControl::PerMove { time } => format!("0 {} 1", seconds(time)),
    }
}

/// Formats seconds without superfluous decimals.
fn seconds(time: Duration) -> String {
    time.as_secs_f64().to_string()
}

/// Returns the values of the properties `TM` and `OT` of a record.
pub(super) fn sgf(control: TimeControl) -> (f64, String) {
    match control {
        TimeControl::None => (0.0, String::new()),
        TimeControl::Absolute { main } => (main.as_secs_f64(), String::new()),
        TimeControl::Canadian { main, period, stones } => {
            (main.as_secs_f64(), format!("{stones}/{} Canadian", seconds(period)))
        }
        TimeControl::ByoYomi { main, period, periods } => {
            (main.as_secs_f64(), format!("{periods}x{} byo-yomi", seconds(period)))
        }
        TimeControl::Fischer { main, increment, .. } => {
            (main.as_secs_f64(), format!("{} fischer", seconds(increment)))
        }
        TimeControl::PerMove { time } => (0.0, format!("1x{} byo-yomi", seconds(time))),
    }
}

/// Clock of one side, kept by the referee.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct GameClock {
    clock: Clock,
    margin: Duration,
}

impl GameClock {
    /// Creates a clock at the start of a game. A move may exceed its time by `margin`, because it takes time to
    /// transfer messages between processes and to wake them, which the engine cannot measure.
    pub(super) fn new(control: TimeControl, margin: Duration) -> GameClock {
        GameClock { clock: Clock::new(control), margin }
    }

    /// Returns the time available for the next move.
    pub(super) fn available(&self) -> Duration {
        let left = self.clock.left();
        match self.clock.control() {
            TimeControl::None => Duration::MAX,
            TimeControl::Absolute { .. } | TimeControl::PerMove { .. } => left,
            TimeControl::Fischer { max_move, .. } => left.min(max_move.unwrap_or(left)),
            TimeControl::Canadian { .. } if self.clock.is_overtime() => left,
            TimeControl::Canadian { period, .. } => left.saturating_add(period),
            TimeControl::ByoYomi { period, .. } if self.clock.is_overtime() => {
                left.saturating_add(period.saturating_mul(self.clock.stones_or_periods().saturating_sub(1)))
            }
            TimeControl::ByoYomi { period, periods, .. } => {
                left.saturating_add(period.saturating_mul(periods))
            }
        }
    }

    /// Returns the time after which the game is lost on time.
    pub(super) fn deadline(&self) -> Duration {
        self.available().saturating_add(self.margin)
    }

    /// Deducts the time of a move and returns the time by which it exceeded the clock; `None` if the game is lost on
    /// time. Within the margin, the move counts as having used all its time.
    pub(super) fn spend(&mut self, used: Duration) -> Option<Duration> {
        let overstep = used.saturating_sub(self.available());
        (overstep <= self.margin && self.clock.spend(used.min(self.available()))).then_some(overstep)
    }

    /// Returns the seconds left, and in overtime the number of stones or periods left.
    pub(super) fn left(&self) -> (f64, Option<u32>) {
        let count = self.clock.is_overtime().then(|| self.clock.stones_or_periods());
        (self.clock.left().as_secs_f64(), count)
    }
}

/// Way to send an engine a time control that GTP's `time_settings` does not support.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    /// By `kata-time_settings`.
    Kata,
    /// By `kgs-time_settings`.
    Kgs,
    /// As a Canadian time control that never allows more time than the real one: one stone in every period or
    /// increment.
    Plain,
}

impl Dialect {
    /// Returns the dialect for an engine with these commands, and with these kinds in its response to
    /// `kata-list_time_settings`.
    pub(super) fn choose(control: TimeControl, commands: &BTreeSet<String>, kinds: &str) -> Dialect {
        let kind = match control {
            TimeControl::ByoYomi { .. } => "byoyomi",
            TimeControl::Fischer { cap: None, max_move: None, .. } => "fischer",
            TimeControl::Fischer { .. } => "fischer-capped",
            // The standard command supports the other time controls.
            _ => return Dialect::Plain,
        };
        if commands.contains("kata-time_settings") && kinds.split_whitespace().any(|known| known == kind) {
            Dialect::Kata
        } else if kind == "byoyomi" && commands.contains("kgs-time_settings") {
            Dialect::Kgs
        } else {
            Dialect::Plain
        }
    }

    /// Returns the command that sets the time control.
    pub(super) fn settings(self, control: TimeControl) -> String {
        match (self, control) {
            (Dialect::Kata, _) => format!("kata-time_settings {}", text(control)),
            (Dialect::Kgs, _) => format!("kgs-time_settings {}", text(control)),
            (Dialect::Plain, TimeControl::None) => "time_settings 0 1 0".to_owned(),
            (Dialect::Plain, TimeControl::Absolute { main }) => {
                format!("time_settings {} 0 0", seconds(main))
            }
            (Dialect::Plain, TimeControl::PerMove { time }) => format!("time_settings 0 {} 1", seconds(time)),
            (Dialect::Plain, TimeControl::Canadian { main, period, stones }) => {
                format!("time_settings {} {} {stones}", seconds(main), seconds(period))
            }
            (Dialect::Plain, TimeControl::ByoYomi { main, period, .. }) => {
                format!("time_settings {} {} 1", seconds(main), seconds(period))
            }
            // As in gtp2ogs, the increment is part of the move's time from the start.
            (Dialect::Plain, TimeControl::Fischer { main, increment, .. }) => {
                let main = main.saturating_sub(increment);
                format!("time_settings {} {} 1", seconds(main), seconds(increment))
            }
        }
    }

    /// Returns the command `time_left` for the player with this letter.
    pub(super) fn time_left(self, letter: char, clock: &GameClock) -> String {
        let (left, count) = (clock.clock.left(), clock.clock.stones_or_periods());
        let control = clock.clock.control();
        let (time, stones) = match control {
            TimeControl::PerMove { .. } => (left, 1),
            TimeControl::Fischer { increment, .. } if self == Dialect::Plain => {
                if left > increment {
                    (left.saturating_sub(increment), 0)
                } else {
                    (left, 1)
                }
            }
            TimeControl::ByoYomi { .. } if self == Dialect::Plain => (left, count.min(1)),
            _ => (left, count),
        };
        // The protocol requires whole seconds, rounded down. An engine that accepts fractions in the settings accepts
        // them here.
        let whole = self.settings(control).chars().all(|character| character != '.');
        let time = if whole { time.as_secs().to_string() } else { format!("{:.3}", time.as_secs_f64()) };
        format!("time_left {letter} {time} {stones}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_MARGIN: Duration = Duration::ZERO;

    fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn clock(text: &str) -> GameClock {
        GameClock::new(parse(text).unwrap(), NO_MARGIN)
    }

    const CONTROLS: [&str; 9] = [
        "absolute 10",
        "10 6 2",
        "0 6 2",
        "0 3 1",
        "byoyomi 10 6 3",
        "byoyomi 0 6 3",
        "fischer 10 2",
        "fischer-capped 10 2 12 5",
        "0 0.5 1",
    ];

    #[test]
    fn controls_read_back() {
        for words in CONTROLS {
            let control = parse(words).unwrap();
            assert_eq!(parse(&text(control)), Ok(control), "{words}");
        }
        let bad = [
            "",
            "1 2",
            "0 0 0",
            "0 5 0",
            "1 -2 3",
            "1 2 0.5",
            "sundial 5",
            "absolute 0",
            "none",
            "byoyomi 0 0 5",
        ];
        for words in bad {
            assert!(parse(words).is_err(), "{words}");
        }
    }

    #[test]
    fn what_is_available_is_in_time_and_no_more() {
        for words in CONTROLS {
            for spent in [0, 3, 4, 9] {
                let mut clock = clock(words);
                // Advances the game as far as the time control allows.
                for _ in 0..4 {
                    let time = s(spent).min(clock.available());
                    assert!(clock.spend(time).is_some(), "{words}");
                }
                let available = clock.available();
                if available.is_zero() {
                    continue;
                }
                assert!(
                    clock.clone().spend(available + Duration::from_nanos(1)).is_none(),
                    "{words}, {spent}"
                );
                assert_eq!(clock.spend(available), Some(Duration::ZERO), "{words}, {spent}");
            }
        }
    }

    #[test]
    fn the_margin_is_forgiven_and_told() {
        let mut clock = GameClock::new(parse("absolute 10").unwrap(), s(1));
        assert_eq!(clock.deadline(), s(11));
        assert_eq!(clock.spend(s(10) + s(1)), Some(s(1)));
        assert_eq!(clock.left(), (0.0, None));
        assert_eq!(clock.spend(s(1)), Some(s(1)));
        assert_eq!(clock.spend(s(1) + Duration::from_millis(1)), None);
    }

    #[test]
    fn main_time_then_periods() {
        let mut clock = clock("10 6 2");
        let seen = [8, 4, 4].map(|used| {
            assert!(clock.spend(s(used)).is_some());
            clock.left()
        });
        assert_eq!(seen, [(2.0, None), (4.0, Some(1)), (6.0, Some(2))]);
        assert!(clock.spend(s(7)).is_none());
    }

    fn commands(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn engines_are_told_in_words_they_know() {
        let kata = commands(&["kata-time_settings", "kgs-time_settings"]);
        let choose = |words: &str, known: &BTreeSet<String>, kinds: &str| {
            let control = parse(words).unwrap();
            let dialect = Dialect::choose(control, known, kinds);
            (dialect.settings(control), dialect.time_left('b', &GameClock::new(control, NO_MARGIN)))
        };
        let check = |words: &str, known: &BTreeSet<String>, kinds: &str, settings: &str, left: &str| {
            assert_eq!(choose(words, known, kinds), (settings.to_owned(), left.to_owned()));
        };
        let none = commands(&[]);
        check("fischer 60 2", &kata, "fischer", "kata-time_settings fischer 60 2", "time_left b 60 0");
        check("fischer 60 2", &kata, "byoyomi", "time_settings 58 2 1", "time_left b 58 0");
        check("byoyomi 60 9 5", &kata, "", "kgs-time_settings byoyomi 60 9 5", "time_left b 60 0");
        check("byoyomi 0 9 5", &kata, "byoyomi", "kata-time_settings byoyomi 0 9 5", "time_left b 9 5");
        check("byoyomi 0 9 5", &none, "", "time_settings 0 9 1", "time_left b 9 1");
        check("60 9 5", &kata, "canadian", "time_settings 60 9 5", "time_left b 60 0");
        check("0 5 1", &none, "", "time_settings 0 5 1", "time_left b 5 1");
        check("0 0.5 1", &none, "", "time_settings 0 0.5 1", "time_left b 0.500 1");
        check("absolute 300", &none, "", "time_settings 300 0 0", "time_left b 300 0");
    }

    #[test]
    fn a_plain_engine_never_thinks_it_has_more_than_it_has() {
        for words in ["fischer 10 4", "byoyomi 10 4 3"] {
            let control = parse(words).unwrap();
            let mut clock = GameClock::new(control, NO_MARGIN);
            for used in [3, 5, 4, 3, 4] {
                let command = Dialect::Plain.time_left('w', &clock);
                let numbers: Vec<u64> =
                    command.split(' ').skip(2).map(|word| word.parse().unwrap()).collect();
                // The time that the engine believes it has: the main time and the first period after it.
                let believed = s(numbers[0]) + if numbers[1] == 0 { s(4) } else { NO_MARGIN };
                assert!(believed <= clock.available(), "{words}: {command}, {clock:?}");
                clock.spend(s(used).min(clock.available()));
            }
        }
    }
}
