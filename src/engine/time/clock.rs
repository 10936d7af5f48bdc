//! The clock of a player, and the time budget of a move.

use super::{MAX_TIME, TimeControl, seconds};
use std::time::Duration;

/// Budget of a move when no other time is left: enough to return a move.
pub const MIN_BUDGET: Duration = Duration::from_millis(5);

/// Default reserve for the delay between the engine's clock and the server's, per move. The value is an estimate for
/// local controllers and good connections.
pub const DEFAULT_RESERVE: Duration = Duration::from_millis(250);

/// Largest ratio of the hard limit to the soft limit of a move.
const HARD_FACTOR: u32 = 2;

/// Number of plies in which a game is usually decided, as a share of the number of points: 24 on 9×9, 108 on 19×19.
const CONTESTED_PLIES: f64 = 0.3;

/// Divisor of the time left after these plies, as a share of the number of points: 6 on 9×9, 27 on 19×19.
const FINAL_DIVISOR: f64 = 0.075;

/// Progress of a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GameProgress {
    /// Number of points of the board.
    pub area: usize,
    /// Number of moves of both players so far.
    pub moves: usize,
}

impl GameProgress {
    fn area(self) -> f64 {
        self.area.clamp(1, 10_000) as f64
    }

    /// Returns the divisor of the time left that gives the share of a move, at least 4. With these shares, every move
    /// gets the same time until the fights of a game are over, and each later move gets less by a fixed ratio.
    ///
    /// CITE: Huang, Coulom, Lin, "Time Management for Monte-Carlo Tree Search Applied to the Game of Go" (2010):
    /// RemainingTime / (C + max(MaxPly − Ply, 0)), with C = 80 and MaxPly = 160 on 19×19. The constants here are
    /// smaller and proportional to the board. With those of the paper, half of the time is left when a game ends,
    /// because games are resigned and clear choices take less than their share. Plies count half, because a player
    /// makes every second move.
    fn divisor(self) -> f64 {
        let constant = (self.area() * FINAL_DIVISOR).max(4.0);
        constant + (self.area() * CONTESTED_PLIES - self.moves as f64).max(0.0) / 2.0
    }

    /// Returns the number of moves, including this one, that this player may still have to make in a long game. Lag is
    /// reserved for all of them. A long game has 1.2 moves per point, and at any time at least a twentieth of that
    /// number of points may follow.
    pub(super) fn own_moves_left(self) -> u32 {
        let long = (self.area() * 1.2 - self.moves as f64) / 2.0;
        // The result is between 1 and 6,000.
        long.max(self.area() / 20.0).max(1.0).ceil() as u32
    }
}

/// Time budget of a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Time at which the search stops if the best move is settled.
    pub soft: Duration,
    /// Time at which the search stops in any case. At least `soft`.
    pub hard: Duration,
    /// Time that is lost if the move takes less. The search continues until then, however clear the choice is. At most
    /// `soft`.
    pub free: Duration,
}

/// Clock of one player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    control: TimeControl,
    /// Main time left, or time left of the current period in overtime.
    left: Duration,
    overtime: bool,
    /// Moves to make before the Canadian period ends, or byo-yomi periods left, including the current one. Before
    /// overtime, the number that the time control names.
    pub(super) count: u32,
}

impl Clock {
    /// Creates a clock at the start of a game.
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

    /// Returns the clock at the start of the next game with the same control.
    #[must_use]
    pub fn restarted(self) -> Clock {
        Clock::new(self.control)
    }

    /// Returns the time control of the clock. [`Clock::set_time_left`] may have changed it.
    pub fn control(&self) -> TimeControl {
        self.control
    }

    /// Returns the time left of the main time or of the current period. Returns zero if there is no limit.
    pub fn left(&self) -> Duration {
        self.left
    }

    /// Returns whether the main time is used up.
    pub fn is_overtime(&self) -> bool {
        self.overtime
    }

    /// Returns the number of stones or periods left, as in `time_left`: 0 during the main time.
    pub fn stones_or_periods(&self) -> u32 {
        if self.overtime { self.count } else { 0 }
    }

    /// Sets the clock from a controller's `time_left`. `stones_or_periods` is 0 during the main time. In overtime it is
    /// the number of stones left to play in a Canadian period, or, as on KGS and OGS, the number of byo-yomi periods
    /// left.
    ///
    /// A controller that never announced a limit but reports the time left is assumed to have one. If a controller
    /// announced no main time, its report is about overtime.
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

    /// Sets the clock as [`Clock::set_time_left`] does, from a controller that may report zero time at the start of a
    /// period.
    ///
    /// Zero time stands for a whole period in three cases: in byo-yomi if periods are left, in Canadian overtime if no
    /// stone of the period has been played, and if the control has no main time that could be used up. Later in a
    /// Canadian period, zero means less than a second for the stones that are left.
    pub fn set_reported_time_left(&mut self, time: Duration, stones_or_periods: u32) {
        if !time.is_zero() || !self.starts_a_period(stones_or_periods) {
            self.set_time_left(time, stones_or_periods);
        }
    }

    /// Starts a period if zero time stands for one. Returns whether zero time stands for a period here.
    fn starts_a_period(&mut self, stones_or_periods: u32) -> bool {
        let (length, count) = match (self.control, stones_or_periods) {
            (TimeControl::PerMove { time }, _) => (time, 0),
            (TimeControl::Canadian { main, period, stones }, 0) if main.is_zero() => (period, stones),
            (TimeControl::Canadian { period, stones, .. }, left) if left > 0 && left >= stones => {
                (period, left)
            }
            (TimeControl::ByoYomi { main, period, periods }, 0) if main.is_zero() => (period, periods),
            (TimeControl::ByoYomi { period, .. }, left) if left > 0 => (period, left),
            _ => return false,
        };
        // A time per move is not overtime and has nothing to count.
        self.overtime = !matches!(self.control, TimeControl::PerMove { .. });
        (self.left, self.count) = (length, count);
        true
    }

    /// Records a move that took `elapsed`. Returns whether it was made in time. After a loss on time the clock stays at
    /// zero.
    pub fn spend(&mut self, elapsed: Duration) -> bool {
        let in_time = self.deduct(elapsed);
        match self.control {
            TimeControl::None | TimeControl::Absolute { .. } => in_time,
            TimeControl::PerMove { time } => {
                self.left = time;
                in_time
            }
            TimeControl::Fischer { increment, cap, max_move, .. } => {
                let in_time = in_time && max_move.is_none_or(|max| elapsed <= max);
                if in_time {
                    self.left = self.left.saturating_add(increment).min(cap.unwrap_or(MAX_TIME));
                }
                in_time
            }
            TimeControl::Canadian { period, stones, .. } => {
                if in_time && self.overtime {
                    self.count = self.count.saturating_sub(1);
                    if self.count == 0 {
                        (self.left, self.count) = (period, stones);
                    }
                }
                in_time
            }
            TimeControl::ByoYomi { period, .. } => {
                if in_time && self.overtime {
                    self.left = period;
                }
                in_time
            }
        }
    }

    /// Deducts time during a move, without what the end of a move brings: no increment, no counted stone and no renewed
    /// period. Returns whether time is left. After a loss on time the clock stays at zero.
    pub fn deduct(&mut self, elapsed: Duration) -> bool {
        let mut rest = self.take(elapsed.min(MAX_TIME.saturating_mul(2)));
        match self.control {
            TimeControl::None => true,
            TimeControl::Absolute { .. } | TimeControl::PerMove { .. } | TimeControl::Fischer { .. } => {
                rest.is_zero()
            }
            TimeControl::Canadian { period, stones, .. } => {
                if !self.overtime && !rest.is_zero() {
                    (self.overtime, self.left, self.count) = (true, period, stones);
                    rest = self.take(rest);
                }
                rest.is_zero()
            }
            TimeControl::ByoYomi { period, .. } => {
                if !self.overtime && !rest.is_zero() {
                    (self.overtime, self.left) = (true, period);
                    rest = self.take(rest);
                }
                if rest.is_zero() {
                    return true;
                }
                // Number of periods that the rest uses up, including the one in which it ends. The divisor must not be
                // zero.
                let used = rest.as_nanos().div_ceil(period.as_nanos().max(1));
                if used >= u128::from(self.count) {
                    (self.left, self.count) = (Duration::ZERO, 0);
                    return false;
                }
                let used = used as u32;
                self.count -= used;
                self.left = period.saturating_mul(used).saturating_sub(rest);
                true
            }
        }
    }

    /// Subtracts `elapsed` from the time left. Returns the part that exceeds it.
    fn take(&mut self, elapsed: Duration) -> Duration {
        let missing = elapsed.saturating_sub(self.left);
        self.left = self.left.saturating_sub(elapsed);
        missing
    }

    /// Returns the part of the `wanted` reserve that suits this time control. If the control is too short for the
    /// wanted reserve on every move, the reserve is a quarter of each move's share. It is constant for the whole game.
    pub fn fitting_reserve(&self, area: usize, wanted: Duration) -> Duration {
        let shares = 4 * GameProgress { area, moves: 0 }.own_moves_left();
        match self.control {
            TimeControl::Absolute { main } => wanted.min(main / shares),
            TimeControl::Fischer { main, increment, .. } => wanted.min(main / shares + increment / 2),
            TimeControl::PerMove { time: share } | TimeControl::ByoYomi { period: share, .. } => {
                wanted.min(share / 4)
            }
            TimeControl::Canadian { period, stones, .. } => wanted.min(period / 4 / stones.max(1)),
            TimeControl::None => wanted,
        }
    }

    /// Computes the budget of the next move, or returns `None` if there is no limit.
    ///
    /// `reserve` is the delay of every move that cannot be measured here, between the engine's clock and the server's.
    /// It is held back for this move and for all others that must be made from the same time. If less is left, a move
    /// gets [`MIN_BUDGET`] or half of the time left, whichever is less.
    ///
    /// * Sudden death and Fischer: a share of the time left ([`GameProgress`]), plus the increment.
    /// * Canadian: the share of one stone in the time left of the period.
    /// * Byo-yomi: the whole period. No period is given up on purpose, because periods are the reserve for bad
    ///   connections.
    /// * Main time before overtime: a share of the main time, plus the time that overtime would give for a move.
    pub fn budget(&self, progress: GameProgress, reserve: Duration) -> Option<Budget> {
        // Time that a move may take beyond its budget.
        let cost = reserve.min(MAX_TIME).saturating_add(MIN_BUDGET);
        let divisor = progress.divisor();
        // The time that this move can use at most, the time that it can use without harm, and the time that every move
        // gets besides a share.
        let (available, usable, per_move) = match self.control {
            TimeControl::None => return None,
            TimeControl::PerMove { .. } => {
                let usable = self.left.saturating_sub(cost);
                return Some(self.clip(usable, usable, self.left, usable));
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
                    return Some(self.clip(share, usable.min(share * HARD_FACTOR), time, share));
                }
                (self.left.saturating_add(period), self.left.saturating_add(usable), share)
            }
            TimeControl::ByoYomi { period, .. } => {
                let time = if self.overtime { self.left } else { period };
                let usable = time.saturating_sub(cost);
                if self.overtime {
                    return Some(self.clip(usable, usable, time, usable));
                }
                (self.left.saturating_add(period), self.left.saturating_add(usable), usable)
            }
        };
        // Before overtime, only the main time is shared out: `per_move` already accounts for the period.
        let shared = match self.control {
            TimeControl::Canadian { .. } | TimeControl::ByoYomi { .. } => self.left,
            _ => usable,
        };
        let soft = seconds(shared.as_secs_f64() / divisor).saturating_add(per_move);
        Some(self.clip(soft, usable.min(soft.saturating_mul(HARD_FACTOR)), available, per_move))
    }

    /// Returns the budget with `soft` limited to `hard` and a minimum for every move. `per_move` is the time that every
    /// move gets besides a share of the time for all moves.
    fn clip(&self, soft: Duration, hard: Duration, available: Duration, per_move: Duration) -> Budget {
        let hard = hard.max(MIN_BUDGET.min(available / 2));
        let soft = soft.clamp(MIN_BUDGET.min(hard), hard);
        let free = match self.control {
            TimeControl::None | TimeControl::Absolute { .. } => Duration::ZERO,
            TimeControl::PerMove { .. } => soft,
            // A move that saves main time delays overtime, where later moves get this time anyway.
            TimeControl::ByoYomi { .. } => per_move,
            // Time left in a period goes to the other stones of the period.
            TimeControl::Canadian { .. } if self.overtime && self.count > 1 => Duration::ZERO,
            TimeControl::Canadian { .. } => per_move,
            // The time left carries over, except the part above the cap.
            TimeControl::Fischer { increment, cap, .. } => {
                cap.map_or(Duration::ZERO, |cap| self.left.saturating_add(increment).saturating_sub(cap))
            }
        };
        Budget { soft, hard, free: free.min(soft) }
    }
}
