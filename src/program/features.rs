//! `kosumi features`: game records in, shards for the training of networks out.

use super::{options, progress, ranks};
use anyhow::bail;
use clap::Args;
use indicatif::ProgressBar;
use kosumi_go::rules::Rules;
use kosumi_tools::shards::{Counts, FromRecords, ShardFiles, Wanted};
use kosumi_tools::training::Sampling;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

/// Turn game records into positions for the training of networks
///
/// Takes some positions of every game, with the inputs that networks in KataGo's format take (V7) and with what is
/// known of each: the move that was played, who won, and the score and the owner of every point where the game says
/// so. They are written to shards, files that numpy reads; scripts/train trains from them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kosumi features games.sgf.zst --out shards
  kosumi features games/*.sgf --out shards --split validation --per-game 4
  kosumi features big.sgf --out shards --rules japanese --shown japanese --shown chinese")]
pub(super) struct Arguments {
    /// Files of one or many records in SGF, plain or compressed (.gz, .zst); - is the standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Folder for the shards; made if it is not there. Files of an earlier run with the same split are not replaced
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Which games to take, by their dates
    #[arg(long, value_name = "SPLIT", value_enum, default_value = "training")]
    split: Wanted,
    /// Games of this year and later are for validation
    #[arg(long, value_name = "YEAR", default_value_t = 2016)]
    held_back: u16,
    /// Positions a game
    #[arg(long, value_name = "N", default_value_t = 12)]
    per_game: usize,
    /// Only positions before the move of this number; with 1 the empty board alone
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    opening: Option<u32>,
    /// The rules that games were played under, if their records do not say
    #[arg(long, value_name = "NAME", default_value = "japanese", value_parser = options::rules)]
    rules: Rules,
    /// Show games under these rules instead of their own, each game under one of them; komi is adapted
    #[arg(long, value_name = "NAME", value_parser = options::rules)]
    shown: Vec<Rules>,
    /// Positions of a thousand that are followed by an off-policy one: with one or two random moves more, and without
    /// answers, which a stronger network gives them later (scripts/train/label.py)
    #[arg(long, alias = "strays", value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u32).range(0..=1000))]
    off_policy: u32,
    /// Skip the first games
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u64,
    /// Take no more games than these
    #[arg(long, value_name = "N")]
    games: Option<u64>,
    /// Stop after so many positions
    #[arg(long, value_name = "N")]
    positions: Option<u64>,
    /// Positions a shard: some 60 MB of memory and 10 MB of file for 65,536 of 19x19
    #[arg(long, value_name = "N", default_value_t = 65_536, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    shard: u32,
    /// Decides which positions are taken
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Threads; 0 is one for each core, over ranks one
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let written = ranks::spread("batch", |part| {
        let threads = ranks::threads(&part, Some(arguments.threads).filter(|&threads| threads > 0));
        let open = || {
            let out = ShardFiles::new(&arguments.out, arguments.split.prefix())?;
            if let Some(first) = out.first() {
                bail!("{} is there already: give another folder, or remove the shards", first.display());
            }
            Ok(out)
        };
        let bar = if part.is_other() { ProgressBar::hidden() } else { progress::bar(0, "{msg}") };
        let begun = Instant::now();
        let mut show = |counts: &Counts, out: &ShardFiles| {
            let speed = counts.positions as f64 / begun.elapsed().as_secs_f64().max(1e-9);
            let (Counts { read, positions, .. }, shards) = (counts, out.count());
            bar.set_message(format!("{read} games, {positions} positions, {shards} shards, {speed:.0}/s"));
        };
        let written = arguments.work().write(threads, part, open, &mut show)?;
        bar.finish_and_clear();
        Ok(written)
    })?;
    if let Some((counts, files)) = written.flatten() {
        report(&counts, &files, &mut io::stdout().lock())?;
    }
    Ok(())
}

impl Arguments {
    fn work(&self) -> FromRecords {
        FromRecords {
            files: self.files.clone(),
            wanted: self.split,
            held_back: self.held_back,
            sampling: Sampling {
                per_game: self.per_game,
                opening: self.opening.map(|moves| moves as usize),
                recorded: self.rules,
                shown: self.shown.clone(),
                strays: self.off_policy,
                seed: self.seed,
            },
            skip: self.skip,
            games: self.games,
            positions: self.positions,
            shard: self.shard as usize,
        }
    }
}

fn report(counts: &Counts, files: &ShardFiles, out: &mut impl Write) -> io::Result<()> {
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
