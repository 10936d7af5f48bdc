//! Matches: games between two engines, with Kosumi's own board as the referee.
//!
//! ```text
//!  Conditions ─> Plan of game 1, 2, 3, …        run.rs: Match      schedule.rs: workers
//!                     │
//!  contender.rs ─> Player ──> referee.rs ── adjudicate.rs     one game
//!                     │
//!          GameRecord, SGF ─> files.rs, journal.rs ─> summary.rs ─> text, report.rs, page.rs
//! ```
//!
//! The conditions and the number of a game determine everything about it. A match can therefore be interrupted at any
//! moment and resumed, which plays the games that are missing from the log. This module prints nothing.
//!
//! MPI ranks share the games (`over_ranks.rs`); rank 0 writes all files.
//!
//! Uses `players`, `commands`, `engine` and the layers below, `collections`, `statistics`, `files`, `pages` and
//! `ranks`; and `clap` for the names of values.

mod adjudicate;
mod clock;
mod conditions;
mod contender;
mod control;
mod evaluation;
mod files;
#[cfg(test)]
mod fixtures;
mod game_board;
mod journal;
mod link;
mod openings;
mod over_ranks;
mod page;
mod player;
mod plots;
mod record;
mod referee;
mod repeats;
mod report;
mod run;
mod schedule;
mod side;
#[cfg(test)]
mod simulation;
mod summary;
#[cfg(test)]
mod tests;

pub use clock::parse as parse_clock;
pub use conditions::{Conditions, DeadStones, EvaluationComments};
pub use contender::Contender;
pub use control::Control;
pub use game_board::GameBoard;
pub use openings::{Openings, Source};
pub use over_ranks::serve;
pub use page::html;
pub use record::{Ending, GameRecord, Judgement};
pub use report::json;
pub use run::{Match, MatchObserver, Storage};
pub use side::Side;
pub use summary::{Conduct, SequentialTest, Summary, Sums};
