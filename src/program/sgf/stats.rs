//! `kosumi sgf stats`: statistics of a collection.

use super::Input;
use super::progress::run_with_progress;
use crate::terminal;
use anyhow::Context;
use clap::Args;
use kosumi_tools::collections::stats::{self, Collector};
use kosumi_tools::files::write_atomically_with;
use kosumi_tools::ranks::RankPart;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Show statistics of a collection: sizes, results, players, repetitions, duplicates, illegal moves
#[derive(Debug, Args)]
#[command(after_help = "\
Every game is replayed on the board. Moves that no rules allow end a game's
replay and are listed; retaken kos, suicides and repetitions are counted, and
the replay goes on.

Repetitions are counted as moves (every play that brings a position back) and
as cycles (a cycle that goes round more than once is one). Which superko rules
forbid a move: PSK positional, SSK situational, NSSK natural situational.

A duplicate has the same positions to begin with and the same moves as an
earlier game, perhaps on a turned or mirrored board. Finding them takes 20
bytes a game; everything else takes the same memory for any number of games.

Examples:
  kosumi sgf stats games.sgf.zst
  kosumi sgf stats games/ more.zip --json stats.json --html stats.html --list 100
  zstdcat games.sgf.zst | kosumi sgf stats - --no-duplicates")]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Write all statistics as JSON; "-" for the standard output, without the tables
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write an HTML page with plots and the tables
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Number of rows of each table
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Do not look for duplicates
    #[arg(long)]
    no_duplicates: bool,
}

pub(super) fn run(arguments: &Arguments, part: RankPart) -> anyhow::Result<()> {
    let is_other = part.is_other();
    let mut collector = Collector::new(!arguments.no_duplicates);
    let seen = run_with_progress(&arguments.input, part, None, stats::work, |batch, result, problems| {
        collector.add(batch, result, problems);
        Ok(ControlFlow::Continue(()))
    })?;
    if is_other {
        return Ok(());
    }
    let mut found = collector.stats;
    found.add_seen(&seen);
    if found.games() == 0 {
        // If no game was read, tables of zeros would be misleading, so unreadable files are reported as an error.
        seen.check_files()?;
    }
    let blocks = |list| stats::blocks(&found, arguments.top, list);
    let mut is_told = false;
    if let Some(path) = &arguments.json {
        is_told |= write_to(path, |out| {
            serde_json::to_writer_pretty(&mut *out, &found)?;
            writeln!(out)
        })?;
    }
    if let Some(path) = &arguments.html {
        // A page shows longer lists than a terminal.
        let page = stats::page(&found, &blocks(arguments.input.list.max(1000)));
        is_told |= write_to(path, |out| write!(out, "{page}"))?;
    }
    if !is_told {
        write_to(Path::new("-"), |out| stats::text(out, &blocks(arguments.input.list)))?;
    }
    seen.check_files()
}

/// Writes to a file or to the standard output. Returns whether it was the standard output.
fn write_to(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<bool> {
    let is_standard_output = path == Path::new("-");
    let written = if is_standard_output {
        let mut buffered = BufWriter::new(terminal::stdout());
        write(&mut buffered).and_then(|()| buffered.flush())
    } else {
        write_atomically_with(path, |file| write(file))
    };
    written.with_context(|| format!("cannot write {}", path.display()))?;
    Ok(is_standard_output)
}
