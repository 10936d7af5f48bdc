//! Matches: games between two engines, with our own board as the referee.
//!
//! ```text
//!  Conditions ─> Plan of game 1, 2, 3, …        run.rs: Match      schedule.rs: workers
//!                     │
//!  contender.rs ─> Player ──> referee.rs ── adjudicate.rs     one game
//!                     │
//!          GameRecord, SGF ─> files.rs, journal.rs ─> summary.rs ─> text, report.rs, page.rs
//! ```
//!
//! Everything that a game needs is decided by the conditions and its number, so that a match can be interrupted at any
//! moment and resumed: what the log does not have is played. Nothing here prints.
//!
//! Ranks that MPI has started share the games (`over_ranks.rs`); the first of them writes all files.
//!
//! Uses `players`, `commands`, `engine` and what is below it, `collections`, `statistics`, `files`, `pages` and `ranks`; and
//! `clap` for the names of values.

mod adjudicate;
mod clock;
mod conditions;
mod contender;
mod control;
mod files;
#[cfg(test)]
mod fixtures;
mod game_board;
mod journal;
mod link;
mod openings;
mod opinion;
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
mod summary;
#[cfg(test)]
mod tests;

pub use clock::parse as parse_clock;
pub use conditions::{Conditions, DeadStones, Opinions};
pub use contender::Contender;
pub use control::Control;
pub use game_board::GameBoard;
pub use openings::{Openings, Source};
pub use over_ranks::serve;
pub use page::html;
pub use record::{Ending, GameRecord, Judgement};
pub use report::json;
pub use run::{Match, Observer, Storage};
pub use side::Side;
pub use summary::{Conduct, Summary, Sums, Test};
