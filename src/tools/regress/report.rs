//! What is shown of a run.

use super::compare::Comparison;
use super::result::RunResult;
use std::path::PathBuf;

/// A run to be shown: its results, and what they are compared with.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// The run.
    pub run: RunResult,
    /// The file of an earlier run, and what has changed since.
    pub comparison: Option<(PathBuf, Comparison)>,
}
