//! A player's clock, and how long it lets the engine think.

use super::{MAX_TIME, TimeControl, seconds};
use std::time::Duration;

/// What a move gets even when there is nothing left to give: enough to answer.
pub const MIN_BUDGET: Duration = Duration::from_millis(5);

/// The usual reserve for what passes between the engine's clock and the server's, per move. A guess that suits
/// local controllers and good connections.
pub const DEFAULT_RESERVE: Duration = Duration::from_millis(250);

/// How many times the usual share one move may take if the search is not settled.
const HARD_FACTOR: u32 = 2;

/// For how many plies a game is fought for, as a share of the board's points: 24 on 9×9, 108 on 19×19.
const PLIES_OF_FIGHTS: f64 = 0.3;

/// Into how many shares the time that is left then goes, as a share of the board's points: 6 on 9×9, 27 on 19×19.
const AFTER_FIGHTS: f64 = 0.075;

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

    /// The divisor of what is left. Who takes these shares spends the same on every move until the fights of a game are
    /// over, and less by a fixed ratio with every move after that.
    ///
    /// CITE: Huang, Coulom, Lin, "Time Management for Monte-Carlo Tree Search Applied to the Game of Go" (2010):
    /// RemainingTime / (C + max(MaxPly − Ply, 0)), with C = 80 and MaxPly = 160 on 19×19. Ours are smaller, both in
    /// proportion to the board: with theirs half of the time is left when a game ends, because games are resigned and
    /// clear choices take less than their share. Plies count half, because a player makes every second one.
    fn divisor(self) -> f64 {
        let constant = (self.area() * AFTER_FIGHTS).max(4.0);
        constant + (self.area() * PLIES_OF_FIGHTS - self.moves as f64).max(0.0) / 2.0
    }

    /// Moves that this player may still have to make in a long game, this one included: lag is kept back for
    /// all of them. A game of 1.2 moves per point is a long one; a twentieth of the area may follow at any time.
    pub(super) fn own_moves_left(self) -> u32 {
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
    /// What would be lost if the move took less: so long a search goes on, however clear the choice is. At most `soft`.
    pub free: Duration,
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
    pub(super) count: u32,
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

    /// As [`Clock::set_time_left`], from a controller, which may mean the start of a period by no time at all.
    ///
    /// It does in byo-yomi as long as there are periods; in Canadian overtime if no stone of the period has been played; and
    /// where there is no main time that could be used up. Later in a Canadian period no time is what it says: less than a
    /// second for the stones that are left.
    pub fn hear_time_left(&mut self, time: Duration, stones_or_periods: u32) {
        if !time.is_zero() || !self.starts_a_period(stones_or_periods) {
            self.set_time_left(time, stones_or_periods);
        }
    }

    /// Starts a period if a clock without time stands for that. Returns whether it does.
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
        // A time per move is no overtime; it has nothing to count.
        self.overtime = !matches!(self.control, TimeControl::PerMove { .. });
        (self.left, self.count) = (length, count);
        true
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

    /// The part of a `wanted` reserve that suits this control: where it is too short to keep that back for every
    /// move, a quarter of each move's share. It stays the same for the whole game.
    pub fn fitting_reserve(&self, area: usize, wanted: Duration) -> Duration {
        let shares = 4 * Progress { area, moves: 0 }.own_moves_left();
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
        // Before overtime the period is not shared out: `per_move` already stands for it.
        let shared = match self.control {
            TimeControl::Canadian { .. } | TimeControl::ByoYomi { .. } => self.left,
            _ => usable,
        };
        let soft = seconds(shared.as_secs_f64() / divisor).saturating_add(per_move);
        Some(self.clip(soft, usable.min(soft.saturating_mul(HARD_FACTOR)), available, per_move))
    }

    /// The budget with `soft` at most `hard`, and something for every move. `per_move` is what every move gets besides a share
    /// of the time for all.
    fn clip(&self, soft: Duration, hard: Duration, available: Duration, per_move: Duration) -> Budget {
        let hard = hard.max(MIN_BUDGET.min(available / 2));
        let soft = soft.clamp(MIN_BUDGET.min(hard), hard);
        let free = match self.control {
            TimeControl::None | TimeControl::Absolute { .. } => Duration::ZERO,
            TimeControl::PerMove { .. } => soft,
            // A move that takes less from the main time is one more before overtime begins, where it would have had as much.
            TimeControl::ByoYomi { .. } => per_move,
            // What is left of a period goes to the other stones in it.
            TimeControl::Canadian { .. } if self.overtime && self.count > 1 => Duration::ZERO,
            TimeControl::Canadian { .. } => per_move,
            // What is left stays, but for what is above the cap.
            TimeControl::Fischer { increment, cap, .. } => {
                cap.map_or(Duration::ZERO, |cap| self.left.saturating_add(increment).saturating_sub(cap))
            }
        };
        Budget { soft, hard, free: free.min(soft) }
    }
}
