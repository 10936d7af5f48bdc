//! Reading of collections for the command line, with progress and reports of unreadable records.

use super::Input;
use crate::progress;
use crate::terminal;
use indicatif::ProgressBar;
use kosumi_tools::collections::{self, Batch, BatchResult, InputCounts, Limits, Problem, Workers};
use kosumi_tools::ranks::RankPart;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use walkdir::WalkDir;

/// Runs [`collections::run`] with the options of the command line. Ranks other than 0 only process records. They
/// collect and show nothing.
pub(super) fn run_with_progress<T: Serialize + DeserializeOwned + Send>(
    input: &Input,
    part: RankPart,
    except: Option<PathBuf>,
    work: impl Fn(&Batch) -> BatchResult<T> + Sync,
    mut collect: impl FnMut(&Batch, T, &[Problem]) -> anyhow::Result<ControlFlow<()>>,
) -> anyhow::Result<InputCounts> {
    let consumed = AtomicU64::new(0);
    let bar = if part.is_other() { ProgressBar::hidden() } else { progress_bar(input) };
    let mut seen = InputCounts::default();
    let mut reported = 0;
    let shown = |batch: &Batch, work: BatchResult<T>| {
        let problems = seen.add(batch, work.problems);
        for problem in problems.iter().take(input.list.saturating_sub(reported)) {
            reported += 1;
            bar.suspend(|| writeln!(terminal::stderr(), "kosumi: {problem}"))?;
        }
        bar.set_position(consumed.load(Ordering::Relaxed));
        bar.set_message(format!("{} games", seen.records));
        collect(batch, work.result, &problems)
    };
    let workers = Workers { threads: crate::ranks::threads(&part, input.threads.map(usize::from)), part };
    let result = collections::run(&input.files, Limits::default(), except, workers, &consumed, work, shown);
    bar.finish_and_clear();
    result?;
    let more = seen.problems - reported as u64;
    if more > 0 {
        writeln!(
            terminal::stderr(),
            "kosumi: {more} more records or files that cannot be read (--list shows more)"
        )?;
    }
    Ok(seen)
}

/// Creates a progress bar over the bytes of the input files.
fn progress_bar(input: &Input) -> ProgressBar {
    let template = "{bar:30} {percent}% of {total_bytes}, {msg}, {elapsed} and {eta} to go";
    let bar = progress::bar(0, template);
    if input.quiet || bar.is_hidden() {
        return ProgressBar::hidden();
    }
    let size_of = |path: &PathBuf| -> u64 {
        let entries = WalkDir::new(path).follow_links(true).into_iter().flatten();
        let files = entries.filter(|entry| entry.file_type().is_file());
        files.map(|entry| fs::metadata(entry.path()).map_or(0, |metadata| metadata.len())).sum()
    };
    bar.set_length(input.files.iter().map(size_of).sum());
    bar
}
