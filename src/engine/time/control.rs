//! Time controls, as controllers and game records express them.

use super::MAX_TIME;
use std::time::Duration;

/// Time control of a game. All times are per player.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TimeControl {
    /// No limit.
    #[default]
    None,
    /// Sudden death: the game is lost when the main time is used up.
    Absolute {
        /// Time for the whole game.
        main: Duration,
    },
    /// After the main time, `stones` moves in every `period`.
    Canadian {
        /// Time before the first period.
        main: Duration,
        /// Length of a period. A new one starts after `stones` moves.
        period: Duration,
        /// Number of moves to make in each period.
        stones: u32,
    },
    /// After the main time, each move that takes longer than `period` costs one of the periods.
    ByoYomi {
        /// Time before the first period.
        main: Duration,
        /// Time for one move.
        period: Duration,
        /// Number of periods. The game is lost when the last one is used up.
        periods: u32,
    },
    /// Each move adds `increment` to the time left.
    Fischer {
        /// Time at the start of the game.
        main: Duration,
        /// Time added after every move.
        increment: Duration,
        /// Upper bound on the time left.
        cap: Option<Duration>,
        /// Upper bound on the time for one move.
        max_move: Option<Duration>,
    },
    /// A fixed time for every move.
    PerMove {
        /// Time for one move.
        time: Duration,
    },
}

/// Converts seconds as a controller writes them. Negative times and NaN become zero, and long times are bounded.
pub fn seconds(value: f64) -> Duration {
    // NaN.max(0.0) is 0.
    Duration::try_from_secs_f64(value.max(0.0).min(MAX_TIME.as_secs_f64())).unwrap_or(Duration::ZERO)
}

impl TimeControl {
    /// Interprets GTP's `time_settings main_time byo_yomi_time byo_yomi_stones`, in seconds. There is no limit if there
    /// is byo-yomi time but no stone to play in it (GoGui sends `0 1 0`), or if all three are zero. Without byo-yomi
    /// the time is absolute. Otherwise it is Canadian byo-yomi, from the start if the main time is zero.
    pub fn gtp(main: f64, period: f64, stones: u32) -> TimeControl {
        let (main, period) = (seconds(main), seconds(period));
        match (period.is_zero(), stones) {
            (false, 0) => TimeControl::None,
            (true, _) if main.is_zero() => TimeControl::None,
            (true, _) => TimeControl::Absolute { main },
            (false, 1) if main.is_zero() => TimeControl::PerMove { time: period },
            (false, stones) => TimeControl::Canadian { main, period, stones },
        }
    }

    /// Parses the arguments of `kgs-time_settings` (`none`, `absolute`, `byoyomi`, `canadian`) and of
    /// `kata-time_settings` (also `fischer main increment` and `fischer-capped main increment cap max_move`, where a
    /// negative number means no limit). Returns `None` if they are invalid. Further arguments are ignored.
    pub fn parse(arguments: &[&str]) -> Option<TimeControl> {
        let number =
            |index: usize| arguments.get(index)?.parse::<f64>().ok().filter(|value| value.is_finite());
        let time = |index: usize| number(index).filter(|&value| value >= 0.0).map(seconds);
        let count = |index: usize| number(index).filter(|&value| value >= 0.0).map(|value| value as u32);
        let limit = |index: usize| number(index).map(|value| (value >= 0.0).then(|| seconds(value)));
        let kind = arguments.first()?.to_ascii_lowercase();
        Some(match kind.as_str() {
            "none" => TimeControl::None,
            "absolute" => TimeControl::Absolute { main: time(1)? },
            "byoyomi" => TimeControl::ByoYomi { main: time(1)?, period: time(2)?, periods: count(3)? },
            "canadian" => TimeControl::Canadian { main: time(1)?, period: time(2)?, stones: count(3)? },
            "fischer" => {
                TimeControl::Fischer { main: time(1)?, increment: time(2)?, cap: None, max_move: None }
            }
            "fischer-capped" => TimeControl::Fischer {
                main: time(1)?,
                increment: time(2)?,
                cap: limit(3)?,
                max_move: limit(4)?,
            },
            _ => return None,
        })
    }

    /// Parses the time control of a game record: `TM`, the main time in seconds, and `OT`, the overtime. Accepts the
    /// forms of servers (`5x30 byo-yomi`, `25/300 canadian`, `10 fischer`, `30 simple`) and the output of
    /// [`TimeControl::overtime_text`]. Invalid overtime is ignored.
    pub fn of_record(main: Option<f64>, overtime: Option<&str>) -> TimeControl {
        let main = main.map(seconds);
        let words: Vec<String> =
            overtime.unwrap_or_default().split_whitespace().map(str::to_ascii_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let time = |text: &str| {
            let value = text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0)?;
            Some(seconds(value))
        };
        let counted = |text: &str, mark: char| {
            let (count, period) = text.split_once(mark)?;
            Some((count.parse::<u32>().ok()?, time(period)?))
        };
        let limit = |name: &str| {
            let at = words.iter().position(|&word| word == name)?;
            time(words.get(at + 1)?)
        };
        let main_time = main.unwrap_or_default();
        let known =
            match words.as_slice() {
                [first, "byo-yomi" | "byoyomi", ..] => counted(first, 'x')
                    .map(|(periods, period)| TimeControl::ByoYomi { main: main_time, period, periods }),
                [first, "canadian", ..] => counted(first, '/')
                    .map(|(stones, period)| TimeControl::Canadian { main: main_time, period, stones }),
                [first, "fischer", ..] => time(first).map(|increment| TimeControl::Fischer {
                    main: main_time,
                    increment,
                    cap: limit("cap"),
                    max_move: limit("move"),
                }),
                [first, "simple", ..] => time(first).map(|time| TimeControl::PerMove { time }),
                _ => None,
            };
        known.or(main.map(|main| TimeControl::Absolute { main })).unwrap_or_default()
    }

    /// Returns the main time for a game record, or `None` if the control has no total time.
    pub fn main_time(self) -> Option<Duration> {
        match self {
            TimeControl::None => None,
            TimeControl::PerMove { .. } => Some(Duration::ZERO),
            TimeControl::Absolute { main }
            | TimeControl::Canadian { main, .. }
            | TimeControl::ByoYomi { main, .. }
            | TimeControl::Fischer { main, .. } => Some(main),
        }
    }

    /// Returns the overtime for a game record, as [`TimeControl::of_record`] reads it, or `None` if there is none.
    pub fn overtime_text(self) -> Option<String> {
        let text = |time: Duration| time.as_secs_f64().to_string();
        match self {
            TimeControl::None | TimeControl::Absolute { .. } => None,
            TimeControl::ByoYomi { period, periods, .. } => {
                Some(format!("{periods}x{} byo-yomi", text(period)))
            }
            TimeControl::Canadian { period, stones, .. } => {
                Some(format!("{stones}/{} canadian", text(period)))
            }
            TimeControl::PerMove { time } => Some(format!("{} simple", text(time))),
            TimeControl::Fischer { increment, cap, max_move, .. } => {
                let mut line = format!("{} fischer", text(increment));
                for (name, limit) in [("cap", cap), ("move", max_move)] {
                    if let Some(limit) = limit {
                        line.push_str(&format!(" {name} {}", text(limit)));
                    }
                }
                Some(line)
            }
        }
    }

    /// Returns this control with bounded times, and without overtime that adds no time.
    pub(super) fn normalised(self) -> TimeControl {
        let bound = |time: Duration| time.min(MAX_TIME);
        match self {
            TimeControl::None => TimeControl::None,
            TimeControl::Absolute { main } => TimeControl::Absolute { main: bound(main) },
            TimeControl::Canadian { main, period, stones: count }
            | TimeControl::ByoYomi { main, period, periods: count }
                if period.is_zero() || count == 0 =>
            {
                TimeControl::Absolute { main: bound(main) }
            }
            TimeControl::Canadian { main, period, stones } => {
                TimeControl::Canadian { main: bound(main), period: bound(period), stones }
            }
            TimeControl::ByoYomi { main, period, periods } => {
                TimeControl::ByoYomi { main: bound(main), period: bound(period), periods }
            }
            TimeControl::Fischer { main, increment, cap, max_move } => TimeControl::Fischer {
                main: bound(main),
                increment: bound(increment),
                cap: cap.map(bound),
                max_move: max_move.map(bound),
            },
            TimeControl::PerMove { time } => TimeControl::PerMove { time: bound(time) },
        }
    }
}
