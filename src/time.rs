//! Clocks and budgets: from what a controller says about time to how long the engine may think about a move.
//!
//! Nothing here reads a clock: the caller measures, tells [`Clock::spend`], and passes on what the controller
//! reports to [`Clock::set_time_left`]. Everything that is given back with a move (a byo-yomi period, the stones
//! of a Canadian period, an increment) is given back at the end of that move, so nothing happens at its start.
//!
//! Invariant (`no_game_is_lost_on_time`): whoever spends at most [`Budget::hard`] on every move, and loses at
//! most `reserve` to lag besides, never loses on time, provided that the control itself allows for that lag and
//! [`MIN_BUDGET`] on every move of a game of usual length.

use std::time::Duration;

/// What a move gets even when there is nothing left to give: enough to answer.
pub const MIN_BUDGET: Duration = Duration::from_millis(5);

/// The usual reserve for what passes between the engine's clock and the server's, per move. A guess that suits
/// local controllers and good connections.
pub const DEFAULT_RESERVE: Duration = Duration::from_millis(250);

/// Longer times are treated as this one (30 years), so that no sum can overflow.
const MAX_TIME: Duration = Duration::from_secs(1_000_000_000);

/// How many times the usual share one move may take if the search is not settled.
const HARD_FACTOR: u32 = 2;

/// How a game is timed. All times are per player.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TimeControl {
    /// No limit.
    #[default]
    None,
    /// Sudden death.
    Absolute {
        /// For the whole game.
        main: Duration,
    },
    /// After the main time, `stones` moves in every `period`.
    Canadian {
        /// Before the first period.
        main: Duration,
        /// Starts anew after `stones` moves.
        period: Duration,
        /// Moves to make in each period.
        stones: u32,
    },
    /// After the main time, each move that takes longer than `period` costs one of the periods.
    ByoYomi {
        /// Before the first period.
        main: Duration,
        /// For one move.
        period: Duration,
        /// The game is lost when the last one is used up.
        periods: u32,
    },
    /// Each move adds `increment` to what is left.
    Fischer {
        /// For the first move and all that follow.
        main: Duration,
        /// Added after every move.
        increment: Duration,
        /// What is left never grows beyond this.
        cap: Option<Duration>,
        /// No move may take longer.
        max_move: Option<Duration>,
    },
    /// The same time for every move.
    PerMove {
        /// For one move.
        time: Duration,
    },
}

/// Seconds as a controller writes them; what is no time at all (negative, not a number) is none.
pub fn seconds(value: f64) -> Duration {
    // NaN.max(0.0) is 0.
    Duration::try_from_secs_f64(value.max(0.0).min(MAX_TIME.as_secs_f64())).unwrap_or(Duration::ZERO)
}

impl TimeControl {
    /// The meaning of GTP's `time_settings main_time byo_yomi_time byo_yomi_stones`, in seconds: no limit if
    /// there is byo-yomi time but no stone to play in it (GoGui sends `0 1 0`) or if all three are zero;
    /// absolute time without byo-yomi; otherwise Canadian byo-yomi, from the start if the main time is zero.
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

    /// The arguments of `kgs-time_settings` (`none`, `absolute`, `byoyomi`, `canadian`) and of
    /// `kata-time_settings` (also `fischer main increment` and `fischer-capped main increment cap max_move`,
    /// where a negative number means no limit). `None` if they make no sense; further arguments are ignored.
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

    /// The same control with bounded times, and without overtime that gives nothing.
    fn normalised(self) -> TimeControl {
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

/// How far a game has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Points of the board.
    pub area: usize,
    /// Moves of both players so far.
    pub moves: usize,
}

impl Progress {
    fn area(self) -> f64 {
        self.area.clamp(1, 10_000) as f64
    }

    /// The divisor of what is left: the share of a move grows as the middle game begins, and what is left then
    /// shrinks by a fixed ratio.
    ///
    /// CITE: Huang, Coulom, Lin, "Time Management for Monte-Carlo Tree Search Applied to the Game of Go" (2010):
    /// RemainingTime / (C + max(MaxPly − Ply, 0)), with C = 80 and MaxPly = 160 on 19×19. Unlike the paper we
    /// scale both with the area of the board.
    fn divisor(self) -> f64 {
        let constant = (self.area() * 80.0 / 361.0).max(8.0);
        constant + (self.area() * 160.0 / 361.0 - self.moves as f64).max(0.0)
    }

    /// Moves that this player may still have to make in a long game, this one included: lag is kept back for
    /// all of them. A game of 1.2 moves per point is a long one; a twentieth of the area may follow at any time.
    fn own_moves_left(self) -> u32 {
        let long = (self.area() * 1.2 - self.moves as f64) / 2.0;
        // Between 1 and 6,000.
        long.max(self.area() / 20.0).max(1.0).ceil() as u32
    }
}

/// How long to think about a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// When to stop if the best move is settled.
    pub soft: Duration,
    /// When to stop in any case; at least `soft`.
    pub hard: Duration,
}

/// One player's clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    control: TimeControl,
    /// Main time, or what is left of the current period in overtime.
    left: Duration,
    overtime: bool,
    /// Moves to make before the Canadian period ends, or byo-yomi periods left, the current one included; as
    /// in the control before overtime has begun.
    count: u32,
}

impl Clock {
    /// A clock at the start of a game.
    pub fn new(control: TimeControl) -> Clock {
        let control = control.normalised();
        let mut clock = Clock { control, left: Duration::ZERO, overtime: false, count: 0 };
        match control {
            TimeControl::None => {}
            TimeControl::Absolute { main } | TimeControl::Fischer { main, .. } => clock.left = main,
            TimeControl::PerMove { time } => clock.left = time,
            TimeControl::Canadian { main, period, stones: count }
            | TimeControl::ByoYomi { main, period, periods: count } => {
                clock.count = count;
                clock.overtime = main.is_zero();
                clock.left = if clock.overtime { period } else { main };
            }
        }
        clock
    }

    /// The clock at the start of the next game with the same control.
    #[must_use]
    pub fn restarted(self) -> Clock {
        Clock::new(self.control)
    }

    /// The control it was made for, or what [`Clock::set_time_left`] made of it.
    pub fn control(&self) -> TimeControl {
        self.control
    }

    /// What is left of the main time, or of the current period; nothing if there is no limit.
    pub fn left(&self) -> Duration {
        self.left
    }

    /// Is the main time used up?
    pub fn is_overtime(&self) -> bool {
        self.overtime
    }

    /// Stones or periods left, as `time_left` has them: 0 during the main time.
    pub fn stones_or_periods(&self) -> u32 {
        if self.overtime { self.count } else { 0 }
    }

    /// Takes over what a controller's `time_left` says. `stones_or_periods` is 0 during the main time, in
    /// overtime the number of stones left to play in a Canadian period, or, as KGS and OGS have it, of periods
    /// left in byo-yomi.
    ///
    /// A controller that never announced a limit but tells the time left has one all the same; and one that
    /// announced no main time cannot mean main time.
    pub fn set_time_left(&mut self, time: Duration, stones_or_periods: u32) {
        let time = time.min(MAX_TIME);
        match self.control {
            TimeControl::None if time.is_zero() => return,
            TimeControl::None if stones_or_periods == 0 => {
                *self = Clock::new(TimeControl::Absolute { main: time });
            }
            TimeControl::None => {
                let stones = stones_or_periods;
                let control = TimeControl::Canadian { main: Duration::ZERO, period: time, stones };
                *self = Clock::new(control);
            }
            TimeControl::Absolute { .. } | TimeControl::Fischer { .. } | TimeControl::PerMove { .. } => {}
            TimeControl::Canadian { main, .. } | TimeControl::ByoYomi { main, .. } => {
                self.overtime = stones_or_periods > 0 || main.is_zero();
                if stones_or_periods > 0 {
                    self.count = stones_or_periods;
                }
            }
        }
        self.left = time;
    }

    /// A move was made after thinking for `elapsed`. Returns whether that was in time; after a loss on time the
    /// clock stays at zero.
    pub fn spend(&mut self, elapsed: Duration) -> bool {
        let elapsed = elapsed.min(MAX_TIME.saturating_mul(2));
        match self.control {
            TimeControl::None => true,
            TimeControl::Absolute { .. } => self.take(elapsed).is_zero(),
            TimeControl::PerMove { time } => {
                let in_time = self.take(elapsed).is_zero();
                self.left = time;
                in_time
            }
            TimeControl::Fischer { increment, cap, max_move, .. } => {
                let in_time = self.take(elapsed).is_zero() && max_move.is_none_or(|max| elapsed <= max);
                if in_time {
                    self.left = self.left.saturating_add(increment).min(cap.unwrap_or(MAX_TIME));
                }
                in_time
            }
            TimeControl::Canadian { period, stones, .. } => {
                let mut rest = self.take(elapsed);
                if !self.overtime {
                    if rest.is_zero() {
                        return true;
                    }
                    (self.overtime, self.left, self.count) = (true, period, stones);
                    rest = self.take(rest);
                }
                if !rest.is_zero() {
                    return false;
                }
                self.count = self.count.saturating_sub(1);
                if self.count == 0 {
                    (self.left, self.count) = (period, stones);
                }
                true
            }
            TimeControl::ByoYomi { period, .. } => {
                let mut rest = self.take(elapsed);
                if !self.overtime {
                    if rest.is_zero() {
                        return true;
                    }
                    (self.overtime, self.left) = (true, period);
                    rest = self.take(rest);
                }
                // Whole periods that the rest used up, and the one it ends in. A period is not zero.
                let used = rest.as_nanos().div_ceil(period.as_nanos().max(1));
                if used >= u128::from(self.count) && used > 0 {
                    (self.left, self.count) = (Duration::ZERO, 0);
                    return false;
                }
                self.count -= used as u32;
                self.left = period;
                true
            }
        }
    }

    /// Takes time off what is left, and returns what was not there.
    fn take(&mut self, elapsed: Duration) -> Duration {
        let missing = elapsed.saturating_sub(self.left);
        self.left = self.left.saturating_sub(elapsed);
        missing
    }

    /// The part of a `wanted` reserve that suits this control: in a game that is too short to keep it back for
    /// every move, a quarter of each move's share. It stays the same for the whole game.
    pub fn fitting_reserve(&self, area: usize, wanted: Duration) -> Duration {
        let shares = 4 * Progress { area, moves: 0 }.own_moves_left();
        match self.control {
            TimeControl::Absolute { main } => wanted.min(main / shares),
            TimeControl::Fischer { main, increment, .. } => wanted.min(main / shares + increment / 2),
            _ => wanted,
        }
    }

    /// How long to think about the next move; `None` if there is no limit.
    ///
    /// `reserve` is what passes unseen with every move, between the engine's clock and the server's. It is kept
    /// back, for this move and for all that have to be made from the same time. If less than that is left, a
    /// move gets [`MIN_BUDGET`], or half of what is left if that is less.
    ///
    /// * Sudden death and Fischer: a share of what is left ([`Progress`]), and the increment.
    /// * Canadian: the share of one stone in what is left of the period.
    /// * Byo-yomi: the whole period. No period is given up on purpose: they are the reserve for bad connections.
    /// * Main time before overtime: a share of it, and what overtime would give for a move.
    pub fn budget(&self, progress: Progress, reserve: Duration) -> Option<Budget> {
        // What a move may cost without having been budgeted.
        let cost = reserve.min(MAX_TIME).saturating_add(MIN_BUDGET);
        let divisor = progress.divisor();
        // All that this move can use, what it can use without harm, and what every move gets besides a share.
        let (available, usable, per_move) = match self.control {
            TimeControl::None => return None,
            TimeControl::PerMove { .. } => {
                let usable = self.left.saturating_sub(cost);
                return Some(self.clip(usable, usable, self.left));
            }
            TimeControl::Absolute { .. } | TimeControl::Fischer { .. } => {
                let (increment, max_move) = match self.control {
                    TimeControl::Fischer { increment, max_move, .. } => (increment, max_move),
                    _ => (Duration::ZERO, None),
                };
                let later = cost.saturating_sub(increment).saturating_mul(progress.own_moves_left() - 1);
                let usable = self.left.saturating_sub(cost).saturating_sub(later);
                let usable = match max_move {
                    Some(max) => usable.min(max.saturating_sub(cost)),
                    None => usable,
                };
                (self.left.min(max_move.unwrap_or(MAX_TIME)), usable, increment.saturating_sub(cost))
            }
            TimeControl::Canadian { period, stones, .. } => {
                let (time, stones) = if self.overtime { (self.left, self.count) } else { (period, stones) };
                let usable = time.saturating_sub(cost.saturating_mul(stones));
                let share = usable / stones.max(1);
                if self.overtime {
                    return Some(self.clip(share, usable.min(share * HARD_FACTOR), time));
                }
                (self.left.saturating_add(period), self.left.saturating_add(usable), share)
            }
            TimeControl::ByoYomi { period, .. } => {
                let time = if self.overtime { self.left } else { period };
                let usable = time.saturating_sub(cost);
                if self.overtime {
                    return Some(self.clip(usable, usable, time));
                }
                (self.left.saturating_add(period), self.left.saturating_add(usable), usable)
            }
        };
        // Before overtime the period is not shared out: `per_move` already stands for it.
        let shared = match self.control {
            TimeControl::Canadian { .. } | TimeControl::ByoYomi { .. } => self.left,
            _ => usable,
        };
        let soft = seconds(shared.as_secs_f64() / divisor).saturating_add(per_move);
        Some(self.clip(soft, usable.min(soft.saturating_mul(HARD_FACTOR)), available))
    }

    /// The budget with `soft` at most `hard`, and something for every move.
    fn clip(&self, soft: Duration, hard: Duration, available: Duration) -> Budget {
        let hard = hard.max(MIN_BUDGET.min(available / 2));
        Budget { soft: soft.clamp(MIN_BUDGET.min(hard), hard), hard }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(value: u64) -> Duration {
        Duration::from_millis(value)
    }

    fn s(value: u64) -> Duration {
        Duration::from_secs(value)
    }

    const START: Progress = Progress { area: 361, moves: 0 };

    #[test]
    fn a_short_game_is_played_and_not_given_away() {
        // Ten seconds for a game on 19×19: the usual reserve would take them all.
        let clock = Clock::new(TimeControl::Absolute { main: s(10) });
        let reserve = clock.fitting_reserve(361, DEFAULT_RESERVE);
        let budget = clock.budget(Progress { area: 361, moves: 0 }, reserve).unwrap();
        assert!(budget.soft > ms(20), "{budget:?}");
    }

    #[test]
    fn settings_of_gtp() {
        assert_eq!(TimeControl::gtp(0.0, 1.0, 0), TimeControl::None);
        assert_eq!(TimeControl::gtp(0.0, 0.0, 0), TimeControl::None);
        assert_eq!(TimeControl::gtp(600.0, 0.0, 0), TimeControl::Absolute { main: s(600) });
        assert_eq!(TimeControl::gtp(600.0, 0.0, 5), TimeControl::Absolute { main: s(600) });
        let canadian = TimeControl::Canadian { main: s(600), period: s(300), stones: 25 };
        assert_eq!(TimeControl::gtp(600.0, 300.0, 25), canadian);
        assert_eq!(TimeControl::gtp(0.0, 10.0, 1), TimeControl::PerMove { time: s(10) });
        assert_eq!(TimeControl::gtp(f64::NAN, -5.0, 1), TimeControl::None);
    }

    #[test]
    fn settings_of_kgs_and_others() {
        let parse = |text: &str| TimeControl::parse(&text.split(' ').collect::<Vec<_>>());
        assert_eq!(parse("none"), Some(TimeControl::None));
        assert_eq!(parse("absolute 300"), Some(TimeControl::Absolute { main: s(300) }));
        let byo_yomi = TimeControl::ByoYomi { main: s(60), period: s(30), periods: 5 };
        assert_eq!(parse("byoyomi 60 30 5"), Some(byo_yomi));
        let canadian = TimeControl::Canadian { main: s(60), period: s(300), stones: 25 };
        assert_eq!(parse("canadian 60 300 25"), Some(canadian));
        let fischer =
            |cap, max_move| TimeControl::Fischer { main: s(60), increment: ms(2500), cap, max_move };
        assert_eq!(parse("fischer 60 2.5"), Some(fischer(None, None)));
        assert_eq!(parse("fischer-capped 60 2.5 90 -1"), Some(fischer(Some(s(90)), None)));
        for bad in ["", "absolute", "absolute x", "byoyomi 1 2", "absolute -1", "fischer 1 NaN", "sundial 1"]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn overtime_is_counted() {
        let mut clock = Clock::new(TimeControl::Canadian { main: s(10), period: s(20), stones: 2 });
        assert!(clock.spend(s(4)));
        assert_eq!((clock.left(), clock.stones_or_periods()), (s(6), 0));
        assert!(clock.spend(s(10)));
        assert_eq!((clock.left(), clock.stones_or_periods()), (s(16), 1));
        assert!(clock.spend(s(16)));
        assert_eq!((clock.left(), clock.stones_or_periods()), (s(20), 2));
        assert!(!clock.spend(ms(20_001)));

        let mut clock = Clock::new(TimeControl::ByoYomi { main: s(10), period: s(20), periods: 3 });
        assert!(clock.spend(s(25)));
        assert_eq!((clock.left(), clock.stones_or_periods()), (s(20), 3));
        assert!(clock.spend(s(25)));
        assert_eq!((clock.left(), clock.stones_or_periods()), (s(20), 2));
        assert!(!clock.spend(s(41)));

        let fischer = TimeControl::Fischer { main: s(10), increment: s(5), cap: Some(s(12)), max_move: None };
        let mut clock = Clock::new(fischer);
        assert!(clock.spend(s(8)));
        assert_eq!(clock.left(), s(7));
        assert!(clock.spend(ZERO) && clock.left() == s(12), "the cap");
        assert!(!clock.spend(s(13)));
    }

    const ZERO: Duration = Duration::ZERO;

    #[test]
    fn time_left_as_controllers_tell_it() {
        let mut clock = Clock::new(TimeControl::Canadian { main: s(10), period: s(20), stones: 2 });
        clock.set_time_left(s(15), 1);
        assert_eq!((clock.left(), clock.is_overtime(), clock.stones_or_periods()), (s(15), true, 1));
        clock.set_time_left(s(3), 0);
        assert_eq!((clock.left(), clock.is_overtime(), clock.stones_or_periods()), (s(3), false, 0));

        let mut clock = Clock::new(TimeControl::ByoYomi { main: s(10), period: s(20), periods: 5 });
        clock.set_time_left(s(20), 4);
        assert_eq!((clock.left(), clock.is_overtime(), clock.stones_or_periods()), (s(20), true, 4));

        let mut clock = Clock::new(TimeControl::ByoYomi { main: ZERO, period: s(20), periods: 5 });
        clock.set_time_left(s(20), 0);
        assert!(clock.is_overtime(), "there is no main time");
        assert!(clock.budget(START, DEFAULT_RESERVE).unwrap().hard < s(20));

        let mut clock = Clock::new(TimeControl::None);
        clock.set_time_left(ZERO, 0);
        assert_eq!(clock.budget(START, DEFAULT_RESERVE), None);
        clock.set_time_left(s(60), 0);
        assert_eq!(clock.control(), TimeControl::Absolute { main: s(60) });
    }

    #[test]
    fn budgets() {
        let budget = |control| Clock::new(control).budget(START, DEFAULT_RESERVE).unwrap();
        // A quarter of an hour for 19x19: 217 moves keep 0.255 s each, and 240 share the rest.
        let sudden = budget(TimeControl::Absolute { main: s(900) });
        assert!(sudden.soft > ms(3400) && sudden.soft < ms(3600), "{sudden:?}");
        assert_eq!(sudden.hard, sudden.soft * 2);
        let byo_yomi = budget(TimeControl::ByoYomi { main: ZERO, period: s(30), periods: 5 });
        assert_eq!(byo_yomi, Budget { soft: ms(29_745), hard: ms(29_745) });
        assert_eq!(budget(TimeControl::PerMove { time: s(10) }).hard, ms(9745));
        let canadian = budget(TimeControl::Canadian { main: ZERO, period: s(300), stones: 25 });
        assert_eq!(canadian, Budget { soft: ms(11_745), hard: ms(23_490) });
        let main = budget(TimeControl::ByoYomi { main: s(240), period: s(30), periods: 5 });
        assert_eq!(main.soft, ms(30_745));
        // Hardly any time is left: a few milliseconds.
        for left in [0, 1, 50, 99] {
            let hard = budget(TimeControl::Absolute { main: ms(left) }).hard;
            assert!(hard <= MIN_BUDGET && hard <= ms(left), "{left} {hard:?}");
        }
    }

    #[test]
    fn the_share_follows_the_game() {
        let control = TimeControl::Absolute { main: s(900) };
        let soft = |moves| Clock::new(control).budget(Progress { area: 361, moves }, ZERO).unwrap().soft;
        assert!(soft(0) < soft(80) && soft(80) < soft(160));
        assert!(soft(160) < s(12));
        let small = |moves| Clock::new(control).budget(Progress { area: 81, moves }, ZERO).unwrap().soft;
        assert!(small(0) > soft(0) * 4);
    }

    fn control() -> impl Strategy<Value = TimeControl> {
        let time = || prop_oneof![Just(0u64), 0u64..2_000, 0u64..3_600_000].prop_map(ms);
        prop_oneof![
            time().prop_map(|main| TimeControl::Absolute { main }),
            time().prop_map(|time| TimeControl::PerMove { time }),
            (time(), time(), 0u32..40).prop_map(|(main, period, stones)| TimeControl::Canadian {
                main,
                period,
                stones
            }),
            (time(), time(), 0u32..8).prop_map(|(main, period, periods)| TimeControl::ByoYomi {
                main,
                period,
                periods
            }),
            (time(), time(), prop::option::of(time()), prop::option::of(time())).prop_map(
                |(main, increment, cap, max_move)| {
                    let cap = cap.map(|cap| cap.max(main));
                    TimeControl::Fischer { main, increment, cap, max_move }
                }
            ),
        ]
    }

    /// Does the control leave `cost` for each of `moves` moves?
    fn allows(control: TimeControl, cost: Duration, moves: u32) -> bool {
        match control {
            TimeControl::None => true,
            TimeControl::Absolute { main } => main >= cost * moves,
            TimeControl::PerMove { time } => time >= cost,
            TimeControl::Fischer { main, increment, max_move, .. } => {
                main >= cost + cost.saturating_sub(increment) * (moves - 1)
                    && max_move.is_none_or(|max| max >= cost)
            }
            TimeControl::Canadian { period, stones, .. } => stones > 0 && period >= cost * stones,
            TimeControl::ByoYomi { period, periods, .. } => periods > 0 && period >= cost,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..Default::default() })]

        #[test]
        fn no_game_is_lost_on_time(
            control in control(),
            side in 2usize..20,
            reserve in (0u64..1000).prop_map(ms),
            spent in prop::collection::vec((0.0f64..=1.0, 0.0f64..=1.0), 8),
        ) {
            let area = side * side;
            let length = area * 6 / 5;
            prop_assume!(allows(control, reserve + MIN_BUDGET, Progress { area, moves: 0 }.own_moves_left()));
            let mut clock = Clock::new(control);
            for (index, moves) in (0..length).step_by(2).enumerate() {
                let budget = clock.budget(Progress { area, moves }, reserve).unwrap();
                prop_assert!(budget.soft <= budget.hard);
                // Every other game spends all it may.
                let (think, lag) = if spent[0].0 < 0.5 { (1.0, 1.0) } else { spent[index % 8] };
                let elapsed = budget.hard.mul_f64(think).min(budget.hard) + reserve.mul_f64(lag).min(reserve);
                prop_assert!(clock.spend(elapsed), "move {moves}: {budget:?} {clock:?}");
            }
            if let TimeControl::ByoYomi { periods, .. } = control {
                prop_assert_eq!(clock.count, periods, "no period is given up");
            }
        }

        #[test]
        fn no_short_game_is_lost_on_time_either(
            main in 500u64..20_000,
            side in 2usize..20,
            spent in prop::collection::vec((0.0f64..=1.0, 0.0f64..=1.0), 8),
        ) {
            let area = side * side;
            let control = TimeControl::Absolute { main: ms(main) };
            let mut clock = Clock::new(control);
            let reserve = clock.fitting_reserve(area, DEFAULT_RESERVE);
            let own_moves = Progress { area, moves: 0 }.own_moves_left();
            prop_assume!(allows(control, reserve + MIN_BUDGET, own_moves));
            for (index, moves) in (0..area * 6 / 5).step_by(2).enumerate() {
                let budget = clock.budget(Progress { area, moves }, reserve).unwrap();
                let (think, lag) = spent[index % 8];
                prop_assert!(clock.spend(budget.hard.mul_f64(think) + reserve.mul_f64(lag)), "move {moves}");
            }
        }

        #[test]
        fn more_time_is_never_a_smaller_budget(
            control in control(),
            (a, b) in (0u64..4_000_000, 0u64..4_000_000),
            small in any::<bool>(),
            stones in 0u32..30,
            progress in (0usize..700, 0usize..900).prop_map(|(area, moves)| Progress { area, moves }),
            reserve in (0u64..2000).prop_map(ms),
        ) {
            let scale = if small { 2000 } else { 1 };
            let budget = |time: u64| {
                let mut clock = Clock::new(control);
                clock.set_time_left(ms(time / scale), stones);
                clock.budget(progress, reserve).unwrap()
            };
            let (less, more) = (budget(a.min(b)), budget(a.max(b)));
            prop_assert!(less.soft <= more.soft && less.hard <= more.hard, "{less:?} {more:?}");
        }

        #[test]
        fn nothing_overflows(
            numbers in prop::array::uniform4(any::<f64>()),
            counts in prop::array::uniform2(any::<u32>()),
            kind in 0usize..6,
            (area, moves) in any::<(usize, usize)>(),
            (elapsed, left, reserve) in any::<(Duration, Duration, Duration)>(),
        ) {
            let kinds = ["none", "absolute", "byoyomi", "canadian", "fischer", "fischer-capped"];
            let text: Vec<String> = numbers.iter().map(f64::to_string).collect();
            let mut arguments = vec![kinds[kind]];
            arguments.extend(text.iter().map(String::as_str));
            let time = |number: f64| seconds(number).max(reserve.min(elapsed));
            let controls = [
                TimeControl::gtp(numbers[0], numbers[1], counts[0]),
                TimeControl::parse(&arguments).unwrap_or_default(),
                TimeControl::Canadian { main: left, period: time(numbers[0]), stones: counts[0] },
                TimeControl::ByoYomi { main: elapsed, period: time(numbers[1]), periods: counts[1] },
                TimeControl::Fischer { main: left, increment: elapsed, cap: Some(reserve), max_move: Some(left) },
            ];
            for control in controls {
                let mut clock = Clock::new(control);
                for _ in 0..3 {
                    let _ = clock.budget(Progress { area, moves }, reserve);
                    let _ = clock.spend(elapsed);
                    clock.set_time_left(left, counts[1]);
                }
            }
        }
    }
}
