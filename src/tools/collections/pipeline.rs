//! One thread reads, several work, here and on other ranks, one collects: the results come in the order of the input.
//!
//! A reader that is far ahead waits, so memory does not grow with the input. What comes out does not depend on the number of
//! workers: batches are divided by the input alone, and results are collected in their order (`ranks::in_order`).

use super::reading::{Batch, Limits, Problem, Reading};
use crate::ranks::{Pace, Part, in_order};
use crate::words::counted;
use anyhow::bail;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;

/// What was seen besides the results.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// Files, those inside of archives included.
    pub files: u64,
    /// Unpacked bytes.
    pub bytes: u64,
    /// Game records found.
    pub records: u64,
    /// Records and files that could not be read.
    pub problems: u64,
    /// Files among them that could not be read, or not to the end.
    pub bad_files: u64,
}

impl Seen {
    /// Counts a batch, and returns all that could not be read in it.
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

    /// Bad records are passed over, but a file that could not be read is an error in the end.
    ///
    /// # Errors
    /// If there was such a file.
    pub fn check_files(&self) -> anyhow::Result<()> {
        if self.bad_files > 0 {
            bail!("{} could not be read, or not to the end", counted(self.bad_files, "file"));
        }
        Ok(())
    }
}

/// What becomes of a batch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Work<T> {
    /// What was made of its records.
    pub result: T,
    /// Records that could not be read.
    pub problems: Vec<Problem>,
}

/// Who works on batches.
#[derive(Debug)]
pub struct Workers {
    /// Threads of this process, besides the one that reads.
    pub threads: usize,
    /// This process among others that take part.
    pub part: Part,
}

impl Workers {
    /// Threads of this process alone.
    pub fn threads(threads: usize) -> Workers {
        Workers { threads, part: Part::Alone }
    }
}

/// Reads `paths` and hands the result of every batch to `collect`, in order, with the batch and the problems in it.
/// `collect` ends it all by breaking. `consumed` counts packed bytes, for whoever shows progress; the file or folder
/// `except` is never read. A rank that is not the first one reads nothing and collects nothing, but works.
///
/// # Errors
/// Those of `collect`, if no threads can be started, or if ranks cannot go on. What cannot be read is a [`Problem`].
pub fn run<T: Serialize + DeserializeOwned + Send>(
    paths: &[PathBuf],
    limits: Limits,
    except: Option<PathBuf>,
    workers: Workers,
    consumed: &AtomicU64,
    work: impl Fn(&Batch) -> Work<T> + Sync,
    collect: impl FnMut(&Batch, Work<T>) -> anyhow::Result<ControlFlow<()>>,
) -> anyhow::Result<()> {
    let read = |send: &mut dyn FnMut(Batch) -> bool| Reading::new(limits, consumed, except, send).run(paths);
    in_order(workers.part, workers.threads, Pace::Short, read, work, collect)
}
