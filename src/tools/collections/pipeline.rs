//! Pipeline of one reading thread, several workers (in this process and on other ranks), and one collector. Results
//! arrive in the order of the input.
//!
//! The reader waits when it is far ahead, so memory does not grow with the input. Results do not depend on the number
//! of
//! workers: batches depend only on the input, and results are collected in order (`ranks::in_order`).

use super::reading::{Batch, BatchReader, Limits, Problem};
use crate::ranks::{PieceLength, RankPart, in_order};
use crate::words::counted;
use anyhow::bail;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;

/// Counts over the input, besides the results.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InputCounts {
    /// Number of files, including files inside archives.
    pub files: u64,
    /// Number of decompressed bytes.
    pub bytes: u64,
    /// Number of game records.
    pub records: u64,
    /// Number of records and files that could not be read.
    pub problems: u64,
    /// Number of files that could not be read completely.
    pub bad_files: u64,
}

impl InputCounts {
    /// Counts a batch. Returns all problems with it.
    pub fn add(&mut self, batch: &Batch, found_by_work: Vec<Problem>) -> Vec<Problem> {
        self.files += batch.files;
        self.bytes += batch.unpacked;
        self.records += batch.entries.len() as u64;
        let mut problems = batch.problems.clone();
        problems.extend(found_by_work);
        self.problems += problems.len() as u64;
        self.bad_files += problems.iter().filter(|problem| problem.is_fatal).count() as u64;
        problems
    }

    /// Checks that all files were read completely. Unreadable records are skipped, but an unreadable file is an error.
    ///
    /// # Errors
    ///
    /// Returns an error if a file could not be read completely.
    pub fn check_files(&self) -> anyhow::Result<()> {
        if self.bad_files > 0 {
            bail!("{} could not be read completely", counted(self.bad_files, "file"));
        }
        Ok(())
    }
}

/// Result of the work on a batch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BatchResult<T> {
    /// Result computed from the records.
    pub result: T,
    /// Records that could not be read.
    pub problems: Vec<Problem>,
}

/// Workers that process batches.
#[derive(Debug)]
pub struct Workers {
    /// Number of threads of this process, besides the reading thread.
    pub threads: usize,
    /// Role of this process among the ranks.
    pub part: RankPart,
}

impl Workers {
    /// Returns workers of a single process.
    pub fn threads(threads: usize) -> Workers {
        Workers { threads, part: RankPart::Alone }
    }
}

/// Reads `paths`, and passes every batch to `collect` with its result and its problems, in the order of the input. A
/// break from `collect` ends the run. `consumed` counts compressed bytes for progress displays. The file or folder
/// `except` is never read. Ranks other than 0 neither read nor collect: they only work.
///
/// # Errors
///
/// Returns the errors of `collect`, and an error if threads cannot be started or the ranks cannot continue. Unreadable
/// input is reported as a [`Problem`].
pub fn run<T: Serialize + DeserializeOwned + Send>(
    paths: &[PathBuf],
    limits: Limits,
    except: Option<PathBuf>,
    workers: Workers,
    consumed: &AtomicU64,
    work: impl Fn(&Batch) -> BatchResult<T> + Sync,
    collect: impl FnMut(&Batch, BatchResult<T>) -> anyhow::Result<ControlFlow<()>>,
) -> anyhow::Result<()> {
    let read =
        |send: &mut dyn FnMut(Batch) -> bool| BatchReader::new(limits, consumed, except, send).run(paths);
    in_order(workers.part, workers.threads, PieceLength::Short, read, work, collect)
}
