//! `kosumi sgf`: processing of large collections of game records.

mod filter;
mod progress;
mod replay;
mod stats;

use super::ranks;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Process collections of game records: statistics, filters, legality
#[derive(Debug, Args)]
#[command(after_help = "\
Files may hold one game or millions, plain or compressed (.gz, .zst) or in .zip
archives; folders are read with all subfolders, and \"-\" is the standard input.
Memory does not depend on the size. Unreadable records are reported with file
and byte, and skipped.

Examples:
  kosumi sgf stats games/
  kosumi sgf filter games.sgf.zst --moves 100.. --result resign -o resigned.zip
  kosumi sgf replay games.zip --rules japanese")]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show statistics of a collection: sizes, results, players, repetitions, duplicates, illegal moves
    Stats(stats::Arguments),
    /// Copy the games of a collection that meet conditions, byte for byte
    Filter(Box<filter::Arguments>),
    /// Replay every game on the board and report illegal moves
    Replay(replay::Arguments),
}

/// Options of the input.
#[derive(Debug, Args)]
struct Input {
    /// Files, folders, archives; "-" for the standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Number of worker threads besides the reader [default: number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Maximum length of lists: unreadable records, illegal moves, repetitions
    #[arg(long, value_name = "N", default_value_t = 20)]
    list: usize,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    ranks::run_distributed("block", |part| match &arguments.command {
        Command::Stats(arguments) => stats::run(arguments, part),
        Command::Filter(arguments) => filter::run(arguments, part),
        Command::Replay(arguments) => replay::run(arguments, part),
    })
    .map(Option::unwrap_or_default)
}
