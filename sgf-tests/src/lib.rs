//! Regression suites and the harness that runs them against any GTP engine.
//!
//! A suite is a `.tst` file in the format of GNU Go's regression tests: GTP commands, those with a number being
//! tests, each followed by the expected answer. [`Suite::parse`] reads one, [`run`] plays it through an engine.
//!
//! The harness knows engines only by GTP: it depends on `kosumi-gtp` and on nothing else of Kosumi.

mod run;
mod tst;

pub use run::{Outcome, TestResult, run};
pub use tst::{Expectation, Mark, Step, Suite, TstError};
