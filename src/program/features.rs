//! `kosumi features`: converts game records to shards for the training of networks.

use super::{options, progress, ranks};
use crate::terminal;
use anyhow::bail;
use clap::Args;
use indicatif::ProgressBar;
use kosumi_go::rules::Rules;
use kosumi_tools::shards::{ConversionCounts, RecordConversion, ShardFiles, SplitChoice};
use kosumi_tools::training::Sampling;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

/// Convert game records to training positions for networks
///
/// Samples positions from every game. Each position has the inputs of networks in KataGo's format (V7) and its training
/// targets: the move played, the winner, and the score and the owner of every point if they can be derived from the
/// game. Positions are written to shards, files that numpy reads. scripts/train trains networks from them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kosumi features games.sgf.zst --out shards
  kosumi features games/*.sgf --out shards --split validation --per-game 4
  kosumi features big.sgf --out shards --rules japanese --shown japanese --shown chinese")]
pub(super) struct Arguments {
    /// SGF files with one or more game records, plain or compressed (.gz, .zst); - is the standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Folder for the shards; created if missing. Shards of an earlier run with the same split are not overwritten
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Games to take, split by their dates
    #[arg(long, value_name = "SPLIT", value_enum, default_value = "training")]
    split: SplitChoice,
    /// First year of the games for validation
    #[arg(long, value_name = "YEAR", default_value_t = 2016)]
    held_back: u16,
    /// Number of positions per game
    #[arg(long, value_name = "N", default_value_t = 12)]
    per_game: usize,
    /// Only positions before the move of this number; 1 selects only the empty board
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    opening: Option<u32>,
    /// Rules of games whose records do not state them
    #[arg(long, value_name = "NAME", default_value = "japanese", value_parser = options::rules)]
    rules: Rules,
    /// Convert each game to one of these rules and adapt its komi, instead of using its own rules; may be repeated
    #[arg(long, value_name = "NAME", value_parser = options::rules)]
    shown: Vec<Rules>,
    /// Number of positions in a thousand that are followed by an off-policy position: one or two random moves later,
    /// without targets. A stronger network adds the targets afterwards (scripts/train/label.py)
    #[arg(long, alias = "strays", value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u32).range(0..=1000))]
    off_policy: u32,
    /// Number of games to skip at the start
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u64,
    /// Maximum number of games
    #[arg(long, value_name = "N")]
    games: Option<u64>,
    /// Number of positions after which to stop; the last batch of games may exceed it
    #[arg(long, value_name = "N")]
    positions: Option<u64>,
    /// Positions per shard; 65,536 positions of 19x19 take about 60 MB of memory and 10 MB on disk
    #[arg(long, value_name = "N", default_value_t = 65_536, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    shard: u32,
    /// Seed of the random choice of positions
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Number of threads; 0 means one per core, or one per rank under MPI
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let written = ranks::run_distributed("block", |part| {
        let threads = ranks::threads(&part, Some(arguments.threads).filter(|&threads| threads > 0));
        let open = || {
            let out = ShardFiles::new(&arguments.out, arguments.split.prefix())?;
            if let Some(first) = out.first()? {
                bail!("{} is there already: give another folder, or remove the shards", first.display());
            }
            Ok(out)
        };
        let bar = if part.is_other() { ProgressBar::hidden() } else { progress::bar(0, "{msg}") };
        let begun = Instant::now();
        let mut show = |counts: &ConversionCounts, out: &ShardFiles| {
            let speed = counts.positions as f64 / begun.elapsed().as_secs_f64().max(1e-9);
            let (ConversionCounts { read, positions, .. }, shards) = (counts, out.count());
            bar.set_message(format!("{read} games, {positions} positions, {shards} shards, {speed:.0}/s"));
        };
        let written = arguments.work().write(threads, part, open, &mut show)?;
        bar.finish_and_clear();
        Ok(written)
    })?;
    if let Some((counts, files)) = written.flatten() {
        report(&counts, &files, &mut terminal::stdout())?;
    }
    Ok(())
}

impl Arguments {
    fn work(&self) -> RecordConversion {
        RecordConversion {
            files: self.files.clone(),
            wanted: self.split,
            held_back: self.held_back,
            sampling: Sampling {
                per_game: self.per_game,
                opening: self.opening.map(|moves| moves as usize),
                recorded: self.rules,
                shown: self.shown.clone(),
                off_policy: self.off_policy,
                seed: self.seed,
            },
            skip: self.skip,
            games: self.games,
            positions: self.positions,
            shard: self.shard as usize,
        }
    }
}

fn report(counts: &ConversionCounts, files: &ShardFiles, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "games read    {}", counts.read)?;
    writeln!(out, "  used        {}", counts.used)?;
    writeln!(out, "  other split {}", counts.other_split)?;
    writeln!(out, "  unreadable  {}", counts.unreadable)?;
    for (refusal, count) in &counts.refused {
        writeln!(out, "  {refusal}: {count}")?;
    }
    let [black, white, drawn] = counts.results;
    writeln!(
        out,
        "results       Black won {black}, White won {white}, drawn {drawn}; {} counted",
        counts.counted
    )?;
    writeln!(out, "positions     {}", counts.positions)?;
    writeln!(out, "shards        {} ({} bytes)", files.count(), files.bytes())
}
