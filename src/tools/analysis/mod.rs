//! KataGo's JSON analysis engine: an input line requests the analysis of positions of a game, and is answered by one
//! output line for each of them.
//!
//! ```text
//!   line → query (query.rs, rules.rs, parameters.rs) → queue → workers (server.rs) → Analyst → line (report.rs)
//!                                 └─ error, warning, answer to an action
//! ```
//!
//! Programs that start KataGo can start Kosumi instead: fields, errors and the order of answers are KataGo's.
//! `docs/analysis-engine.md` lists the differences. Lines are read and checked while searches run.
//!
//! - No input can end the process or make its memory grow without bound: lines have a maximum length, and reading
//!   pauses while too many queries wait (`tests/analysis_engine.rs`).
//! - Every request, which is one position of a query, gets exactly one final answer, even if its search panics.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod config;
mod entries;
mod json;
mod parameters;
mod query;
mod report;
mod rules;
mod server;
mod settings;

pub use config::{Config, ConfigError};
pub use entries::{Entries, EntriesError, is_irrelevant};
pub use server::{Models, Server};
pub use settings::{Perspective, Settings};
