//! Clocks and time budgets: from a controller's time settings to the time that the engine may spend on a move.
//!
//! This module does not read a clock. The caller measures the time, passes it to [`Clock::spend`], and passes the
//! controller's reports to [`Clock::set_time_left`]. All time that a move brings back (a byo-yomi period, a new
//! Canadian period, an increment) is credited at the end of that move, so the start of a move changes nothing.
//!
//! Invariant (`no_game_is_lost_on_time`): a player that spends at most [`Budget::hard`] on every move and loses at most
//! `reserve` to lag besides never loses on time, provided that the time control leaves this lag and [`MIN_BUDGET`] for
//! every move of a game of usual length.

mod clock;
mod control;
#[cfg(test)]
mod tests;

pub use clock::{Budget, Clock, DEFAULT_RESERVE, GameProgress, MIN_BUDGET};
pub use control::{TimeControl, seconds};

use std::time::Duration;

/// Upper bound on all times, about 30 years. Longer times are reduced to it, so that no sum overflows.
const MAX_TIME: Duration = Duration::from_secs(1_000_000_000);
