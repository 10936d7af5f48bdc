//! Regression suites: reading, running, judging and comparing them. `kosumi regress` and the tests in `sgf-tests` use
//! this module.
//!
//! ```text
//!  @list ─ list.rs ─> files ─ suite.rs, expect.rs ─> Suite ─ parts.rs ─> parts
//!                                                                          │ run.rs: workers
//!  players: child processes, or Kosumi in this process  <──── commands ────┤
//!  follow.rs: Kosumi's own board, for diagrams           <─── commands ────┘
//!                                              answers ──> result.rs: RunResult ──> compare.rs
//!                                                                                       │
//!                                                 summary.rs, page.rs, junit.rs <── Report
//! ```
//!
//! The format is that of GNU Go's regression tests. This module prints nothing.
//!
//! Uses `players`, `commands`, `engine`, `board`, `pages`, and `ranks` for other processes.

mod command;
mod compare;
mod expect;
mod follow;
mod generate;
mod junit;
mod list;
mod page;
mod parts;
mod report;
#[cfg(test)]
mod report_tests;
mod result;
mod run;
mod suite;
mod summary;
#[cfg(test)]
mod tests;

pub use crate::players::{ChildEngines, Engines, GtpPlayer, GtpResponse, InProcessEngines, PlayerError};
pub use compare::{Change, Comparison};
pub use expect::{Expectation, Mark, Matcher, Matching, PatternError, Response};
pub use follow::Position;
pub use junit::junit;
pub use list::{ListError, expand};
pub use page::page;
pub use report::Report;
pub use result::{
    EngineInfo, FORMAT, FormatError, OtherError, Outcome, OutcomeCounts, RunResult, SuiteResult, TestResult,
};
pub use run::{Options, play, query_identity};
pub use suite::{Suite, SuiteCommand, SuiteError, SuiteErrorKind, SuiteReadError};
pub use summary::summary;
