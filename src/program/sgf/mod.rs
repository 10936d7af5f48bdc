//! `kosumi sgf`: large collections of game records.

mod filter;
mod replay;
mod shown;
mod stats;

use super::ranks;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Collections of game records: statistics, selections, legality
#[derive(Debug, Args)]
#[command(after_help = "\
Files may hold one game or millions, plain or compressed (.gz, .zst) or in .zip archives; folders are read with all
folders below them, and \"-\" is the standard input. Memory stays the same whatever the size. What cannot be read is
reported with file and byte, and skipped.

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
    /// What a collection holds: sizes, results, players, repetitions, duplicates, illegal moves
    Stats(stats::Arguments),
    /// Take games that meet conditions out of a collection, byte for byte
    Filter(Box<filter::Arguments>),
    /// Replay every game on the board and report what the rules forbid
    Replay(replay::Arguments),
}

/// What is read, and how.
#[derive(Debug, Args)]
struct Input {
    /// Files, folders, archives; "-" for the standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Threads that work, besides the one that reads [default: all processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// How many entries of a list to show: unreadable records, illegal moves, repetitions
    #[arg(long, value_name = "N", default_value_t = 20)]
    list: usize,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    ranks::spread("batch", |part| match &arguments.command {
        Command::Stats(arguments) => stats::run(arguments, part),
        Command::Filter(arguments) => filter::run(arguments, part),
        Command::Replay(arguments) => replay::run(arguments, part),
    })
    .map(Option::unwrap_or_default)
}
