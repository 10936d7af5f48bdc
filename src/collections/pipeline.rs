//! One thread reads, several work, one collects: the results come in the order of the input.
//!
//! ```text
//!   reader ──batch──▶ workers (rayon) ──result──▶ collector
//!      └──────────── a place in the queue ───────────▲
//! ```
//!
//! For every batch the reader puts a place into a queue, in order, and spawns the work that will fill it. The
//! collector waits for the places one after the other. The queue is short, so a reader that is ahead waits, and
//! memory does not grow with the input. What comes out does not depend on the number of workers: batches are
//! divided by the input alone, and results are collected in their order.

use super::reading::{Batch, Limits, Problem, Reading};
use crate::words::counted;
use anyhow::{Context, bail};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{self, Receiver, SyncSender};

/// Batches that wait or are worked on, for every worker.
const AHEAD: usize = 3;

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
#[derive(Clone, Debug)]
pub struct Work<T> {
    /// What was made of its records.
    pub result: T,
    /// Records that could not be read.
    pub problems: Vec<Problem>,
}

/// Reads `paths` and hands the result of every batch to `collect`, in order, with the batch and the problems in it.
/// `collect` ends it all by breaking. `consumed` counts packed bytes, for whoever shows progress; the file or folder
/// `except` is never read.
///
/// # Errors
/// Those of `collect`, or if no threads can be started. What cannot be read is a [`Problem`].
pub fn run<T: Send>(
    paths: &[PathBuf],
    limits: Limits,
    except: Option<PathBuf>,
    workers: usize,
    consumed: &AtomicU64,
    work: impl Fn(&Batch) -> Work<T> + Sync,
    mut collect: impl FnMut(&Batch, Work<T>) -> anyhow::Result<ControlFlow<()>>,
) -> anyhow::Result<()> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(workers)
        .thread_name(|index| format!("sgf-{index}"))
        .build()
        .context("cannot start threads")?;
    let (places, queue): (SyncSender<Receiver<_>>, _) = mpsc::sync_channel(AHEAD * workers);
    let work = &work;
    pool.in_place_scope(|scope| {
        std::thread::scope(|threads| {
            let reader = move || {
                let send = |batch: Batch| {
                    let (fill, place) = mpsc::sync_channel(1);
                    if places.send(place).is_err() {
                        // The collector has seen enough.
                        return false;
                    }
                    scope.spawn(move |_| {
                        let result = work(&batch);
                        // It may have seen enough meanwhile.
                        let _ = fill.send((batch, result));
                    });
                    true
                };
                Reading::new(limits, consumed, except, send).run(paths);
            };
            threads.spawn(reader);
            // Taken by value: when this returns early, the queue is gone and the reader stops.
            let queue: Receiver<Receiver<(Batch, Work<T>)>> = queue;
            for place in queue {
                // A worker that panicked fills no place; the scope tells of it.
                let Ok((batch, result)) = place.recv() else { break };
                if collect(&batch, result)?.is_break() {
                    break;
                }
            }
            Ok(())
        })
    })
}
