//! KataGo's JSON analysis engine: a line asks for an analysis of some positions of a game, and a line answers for each.
//!
//! ```text
//!   line → query (query.rs, rules.rs, parameters.rs) → queue → workers (server.rs) → Analyst → line (report.rs)
//!                                 └─ error, warning, answer to an action
//! ```
//!
//! Programs that start KataGo start Kosumi in its place: fields, errors and the order of answers are KataGo's. What
//! differs is told in `docs/analysis-engine.md`. Lines are read and checked while searches run.
//!
//! - Nothing that comes in can end the process or grow its memory without bound: lines have a longest length, and reading
//!   pauses while too much waits (`tests/analysis_engine.rs`).
//! - Every request, which is one position of a query, gets exactly one final answer, however it ends.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod config;
mod entries;
mod parameters;
mod query;
mod report;
mod rules;
mod server;
mod settings;

pub use config::{Config, ConfigError};
pub use entries::{Entries, EntriesError, is_of_no_concern};
pub use server::{Models, Server};
pub use settings::{Perspective, Settings};
