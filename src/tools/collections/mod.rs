//! Collections of game records, from one file to millions of games in archives: reading, replay, statistics, selection.
//!
//! ```text
//!  reading.rs (files, folders, archives; decode.rs decompresses) ─> Batch ─ pipeline.rs: workers ─> results in order
//!                                                                        │
//!  examine.rs: replay of one record, legality.rs: illegal moves          ├─> stats: statistics
//!  criteria.rs: conditions on it                                         └─> filter.rs ─> output.rs
//!
//!  records.rs: records of a file one by one, or of a folder in memory, without a pipeline
//! ```
//!
//! Both ways of reading use `stream.rs`. This module prints nothing.
//!
//! It uses `board`, `game`, `rules`, `sgf`, `rng`, `files`, `pages`, and `ranks` for the distribution of work.

mod criteria;
mod decode;
mod duplicates;
mod examine;
mod filter;
mod legality;
mod output;
mod pipeline;
mod reading;
mod records;
pub mod stats;
mod stream;
#[cfg(test)]
mod tests;

pub use criteria::{Criteria, RepetitionFilter, ResultFilter, ValueRange, date_span, rank_span};
pub use duplicates::{Duplicates, Original};
pub use examine::{ExaminedGame, LocatedMove, MoveCounts, problem};
pub use filter::{Filter, FilterVerdict, Selection};
pub use legality::LegalityReport;
pub use output::Output;
pub use pipeline::{BatchResult, InputCounts, Workers, run};
pub use reading::{Batch, Entry, Limits, Problem, RecordLocation};
pub use records::{Records, StreamRecord, nth_game, read_folder, read_game};
