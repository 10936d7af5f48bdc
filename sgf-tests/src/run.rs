//! Runs a suite.

use crate::tst::{Mark, Suite};
use kosumi_gtp::{Client, ClientError};
use std::time::Duration;

/// What became of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Passed, as expected.
    Passed,
    /// Passed although marked as a known failure.
    UnexpectedPass,
    /// Failed as known.
    KnownFailure,
    /// Failed unexpectedly.
    Failed,
    /// Not counted.
    Ignored,
}

/// One test and its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestResult {
    /// Line in the suite, from 1.
    pub line: usize,
    /// Number of the test; `None` for a set-up command that was refused.
    pub number: Option<u32>,
    /// The command.
    pub command: String,
    /// What the engine said.
    pub answer: String,
    /// What became of it.
    pub outcome: Outcome,
}

/// Plays a suite through an engine, one command after the other. A refused set-up command is a failure.
///
/// # Errors
/// If the engine does not answer within `timeout`, or ends.
pub fn run(suite: &Suite, engine: &mut Client, timeout: Duration) -> Result<Vec<TestResult>, ClientError> {
    let mut results = Vec::new();
    for step in &suite.steps {
        let (answer, refused) = match engine.send(&step.command, timeout) {
            Ok(answer) => (answer.trim().to_owned(), false),
            Err(ClientError::Refused(message)) => (message, true),
            Err(error) => return Err(error),
        };
        let outcome = match (&step.expectation, refused) {
            (None, false) if step.number.is_none() => continue,
            (None, _) => {
                if refused {
                    Outcome::Failed
                } else {
                    Outcome::Passed
                }
            }
            (Some(expectation), _) => {
                let right = !refused && expectation.accepts(&answer);
                match (expectation.mark, right) {
                    (Mark::Ignored, _) => Outcome::Ignored,
                    (Mark::None, true) => Outcome::Passed,
                    (Mark::None, false) => Outcome::Failed,
                    (Mark::KnownFailure, true) => Outcome::UnexpectedPass,
                    (Mark::KnownFailure, false) => Outcome::KnownFailure,
                }
            }
        };
        let command = step.command.clone();
        results.push(TestResult { line: step.line, number: step.number, command, answer, outcome });
    }
    Ok(results)
}
