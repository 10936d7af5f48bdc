//! Clocks and budgets: from what a controller says about time to how long the engine may think about a move.
//!
//! Nothing here reads a clock: the caller measures, tells [`Clock::spend`], and passes on what the controller
//! reports to [`Clock::set_time_left`]. Everything that is given back with a move (a byo-yomi period, the stones
//! of a Canadian period, an increment) is given back at the end of that move, so nothing happens at its start.
//!
//! Invariant (`no_game_is_lost_on_time`): whoever spends at most [`Budget::hard`] on every move, and loses at
//! most `reserve` to lag besides, never loses on time, provided that the control itself allows for that lag and
//! [`MIN_BUDGET`] on every move of a game of usual length.

mod clock;
mod control;
#[cfg(test)]
mod tests;

pub use clock::{Budget, Clock, DEFAULT_RESERVE, MIN_BUDGET, Progress};
pub use control::{TimeControl, seconds};

use std::time::Duration;

/// Longer times are treated as this one (30 years), so that no sum can overflow.
const MAX_TIME: Duration = Duration::from_secs(1_000_000_000);
