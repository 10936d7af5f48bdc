//! Regression suites: read, played, judged, compared. What `kosumi regress` and the tests in `sgf-tests` are made
//! of.
//!
//! ```text
//!  @list ─ list.rs ─> files ─ suite.rs, expect.rs ─> Suite ─ parts.rs ─> parts
//!                                                                          │ run.rs: workers
//!  engine.rs: child processes, or Kosumi in this process  <── commands ────┤
//!  follow.rs: our own board beside it, for diagrams       <── commands ────┘
//!                                              answers ──> result.rs: RunResult ──> compare.rs
//! ```
//!
//! The format is that of GNU Go's regression tests. Nothing here prints.

mod command;
mod compare;
mod engine;
mod expect;
mod follow;
mod list;
mod parts;
mod result;
mod run;
mod suite;
#[cfg(test)]
mod tests;

pub use compare::{Change, Comparison};
pub use engine::{Answer, Children, Engines, Player, Threads, Trouble};
pub use expect::{Expectation, Mark, Matcher, Matching, PatternError, Reply};
pub use follow::Position;
pub use list::{ListError, expand};
pub use result::{
    EngineInfo, FORMAT, FormatError, OtherError, Outcome, RunResult, SuiteResult, Tally, TestResult,
};
pub use run::{Options, play};
pub use suite::{ReadError, Step, Suite, SuiteError, SuiteErrorKind};
