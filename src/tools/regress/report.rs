//! Data of a report.

use super::compare::Comparison;
use super::result::RunResult;
use std::path::PathBuf;

/// Run to report, with a comparison to an earlier run.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Results of the run.
    pub run: RunResult,
    /// File of an earlier run, and the changes since then.
    pub comparison: Option<(PathBuf, Comparison)>,
}
