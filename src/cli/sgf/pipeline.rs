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

use super::Input;
use super::input::{Batch, Limits, Problem, Reading};
use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use walkdir::WalkDir;

/// Batches that wait or are worked on, for every worker.
const AHEAD: usize = 3;

/// What was seen besides the results.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Seen {
    /// Files, those inside of archives included.
    pub(super) files: u64,
    /// Unpacked bytes.
    pub(super) bytes: u64,
    /// Game records found.
    pub(super) records: u64,
    /// Records and files that could not be read.
    pub(super) problems: u64,
    /// Files among them that could not be read, or not to the end.
    pub(super) bad_files: u64,
}

/// What becomes of a batch.
pub(super) struct Work<T> {
    pub(super) result: T,
    /// Records that could not be read.
    pub(super) problems: Vec<Problem>,
}

/// Reads `paths` and hands the result of every batch to `collect`, in order, with the batch and the problems in it.
/// `collect` ends it all by breaking.
pub(super) fn run<T: Send>(
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

/// [`run`] with the options of the command line: progress is shown, and what cannot be read is reported.
pub(super) fn run_shown<T: Send>(
    input: &Input,
    except: Option<PathBuf>,
    work: impl Fn(&Batch) -> Work<T> + Sync,
    mut collect: impl FnMut(&Batch, T, &[Problem]) -> anyhow::Result<ControlFlow<()>>,
) -> anyhow::Result<Seen> {
    let consumed = AtomicU64::new(0);
    let bar = progress_bar(input);
    let mut seen = Seen::default();
    let mut reported = 0;
    let result =
        run(&input.files, Limits::default(), except, input.workers(), &consumed, work, |batch, work| {
            seen.files += batch.files;
            seen.bytes += batch.unpacked;
            seen.records += batch.entries.len() as u64;
            let mut problems = batch.problems.clone();
            problems.extend(work.problems);
            seen.problems += problems.len() as u64;
            seen.bad_files += problems.iter().filter(|problem| problem.is_fatal).count() as u64;
            for problem in problems.iter().take(input.list.saturating_sub(reported)) {
                reported += 1;
                bar.suspend(|| writeln!(io::stderr(), "kosumi: {problem}"))?;
            }
            bar.set_position(consumed.load(Ordering::Relaxed));
            bar.set_message(format!("{} games", seen.records));
            collect(batch, work.result, &problems)
        });
    bar.finish_and_clear();
    result?;
    let more = seen.problems - reported as u64;
    if more > 0 {
        writeln!(
            io::stderr(),
            "kosumi: {more} more records or files that cannot be read (--list shows more)"
        )?;
    }
    Ok(seen)
}

/// A bar on a terminal, nothing elsewhere.
fn progress_bar(input: &Input) -> ProgressBar {
    if input.quiet || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let size_of = |path: &PathBuf| -> u64 {
        let entries = WalkDir::new(path).follow_links(true).into_iter().flatten();
        let files = entries.filter(|entry| entry.file_type().is_file());
        files.map(|entry| fs::metadata(entry.path()).map_or(0, |metadata| metadata.len())).sum()
    };
    let bar = ProgressBar::new(input.files.iter().map(size_of).sum());
    let style = "{bar:30} {percent}% of {total_bytes}, {msg}, {elapsed} and {eta} to go";
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar
}
