//! `kosumi features`: game records in, shards for the training of networks out.

mod records;

use super::options;
use super::shard_files::ShardFiles;
use crate::board::Color;
use crate::game::{Game, Line};
use crate::net::{Features, Input};
use crate::rng::Rng;
use crate::rules::Rules;
use crate::sgf::Record;
use crate::training::{self, Example, Refusal, Sampling, Shard, Split};
use anyhow::bail;
use clap::{Args, ValueEnum};
use rayon::prelude::*;
use records::Records;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Instant;

/// Turn game records into positions for the training of networks
///
/// Takes some positions of every game, with the inputs that networks in KataGo's format take (V7) and with what is
/// known of each: the move that was played, who won, and the score and the holder of every point where the game says
/// so. They are written to shards, files that numpy reads; scripts/train trains from them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zstd -dc games.sgf.zst | kosumi features - --out shards
  kosumi features games/*.sgf --out shards --split validation --per-game 4
  kosumi features big.sgf --out shards --rules japanese --shown japanese --shown chinese")]
pub(super) struct Arguments {
    /// Files of one or many records in SGF; - is the standard input
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
    /// The rules that games were played under, if their records do not say
    #[arg(long, value_name = "NAME", default_value = "japanese", value_parser = options::rules)]
    rules: Rules,
    /// Show games under these rules instead of their own, each game under one of them; komi is adapted
    #[arg(long, value_name = "NAME", value_parser = options::rules)]
    shown: Vec<Rules>,
    /// So many of a thousand positions are followed by one with one or two random moves more, of which nothing is
    /// known: for a stronger network to label (scripts/train/label.py)
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000))]
    strays: u32,
    /// Pass over the first games
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
    /// Threads; 0 is one for each core
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Wanted {
    /// Games before the year that is held back
    Training,
    /// Games of that year and later
    Validation,
    /// All games
    All,
}

impl Wanted {
    fn prefix(self) -> &'static str {
        match self {
            Wanted::Training => "training",
            Wanted::Validation => "validation",
            Wanted::All => "all",
        }
    }

    fn takes(self, split: Split) -> bool {
        match self {
            Wanted::Training => split == Split::Training,
            Wanted::Validation => split == Split::Validation,
            Wanted::All => true,
        }
    }
}

/// Records that are worked on at a time.
const CHUNK: usize = 256;

/// What became of the games.
#[derive(Default, Debug)]
struct Counts {
    read: u64,
    unreadable: u64,
    other_split: u64,
    used: u64,
    refused: BTreeMap<Refusal, u64>,
    /// Black won, White won, drawn.
    results: [u64; 3],
    counted: u64,
    positions: u64,
}

/// What became of one game.
enum Fate {
    Unreadable,
    OtherSplit,
    Refused(Refusal),
    /// With its winner, and whether it was counted.
    Used(Option<Color>, bool, Vec<Example>),
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut out = ShardFiles::new(&arguments.out, arguments.split.prefix())?;
    if let Some(first) = out.first() {
        bail!("{} is there already: give another folder, or remove the shards", first.display());
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads).build()?;
    let counts = pool.install(|| write_shards(arguments, &mut out))?;
    report(&counts, &out, &mut io::stdout().lock())?;
    Ok(())
}

fn write_shards(arguments: &Arguments, out: &mut ShardFiles) -> anyhow::Result<Counts> {
    let begun = Instant::now();
    let sampling = Sampling {
        per_game: arguments.per_game,
        recorded: arguments.rules,
        shown: arguments.shown.clone(),
        strays: arguments.strays,
        seed: arguments.seed,
    };
    let mut counts = Counts::default();
    let mut shard = Shard::new();
    let mut rng = Rng::new(arguments.seed);
    let first = arguments.skip;
    let last = arguments.games.map_or(u64::MAX, |games| first.saturating_add(games));
    let mut records = arguments.files.iter().flat_map(|path| Records::open(path)).zip(0u64..).fuse();
    loop {
        let mut chunk = Vec::with_capacity(CHUNK);
        for (record, number) in records.by_ref().take_while(|&(_, number)| number < last).take(CHUNK) {
            chunk.push((record?, number));
        }
        if chunk.is_empty() {
            break;
        }
        chunk.retain(|&(_, number)| number >= first);
        let work = |features: &mut Features, (bytes, number): &(Vec<u8>, u64)| {
            fate(bytes, *number as u32, arguments, &sampling, features)
        };
        let fates: Vec<Fate> = chunk.par_iter().map_init(Features::default, work).collect();
        for fate in fates {
            for example in counts.take(fate) {
                shard.push(example);
                counts.positions += 1;
                if shard.len() >= arguments.shard as usize {
                    out.write(&mut shard, &mut rng)?;
                }
            }
        }
        progress(&counts, out, begun);
        if arguments.positions.is_some_and(|most| counts.positions >= most) {
            break;
        }
    }
    if !shard.is_empty() {
        out.write(&mut shard, &mut rng)?;
    }
    if io::stderr().is_terminal() {
        eprintln_quietly("");
    }
    Ok(counts)
}

/// Everything that is done for one record.
fn fate(
    bytes: &[u8],
    number: u32,
    arguments: &Arguments,
    sampling: &Sampling,
    features: &mut Features,
) -> Fate {
    let Ok(record) = Record::parse(bytes) else { return Fate::Unreadable };
    if !arguments.split.takes(Split::of(&record, arguments.held_back)) {
        return Fate::OtherSplit;
    }
    let mut encode = |game: &Game| {
        let mut input = Input::zero(game.size().columns(), game.size().rows());
        features.fill(&Line::new(game), &mut input);
        input
    };
    match training::examples(&record, number, sampling, &mut encode) {
        Err(refusal) => Fate::Refused(refusal),
        Ok(examples) => match training::result(&record) {
            Some((winner, score)) => Fate::Used(winner, score.is_some(), examples),
            None => Fate::Refused(Refusal::NoResult),
        },
    }
}

impl Counts {
    /// Counts a game and hands out its positions.
    fn take(&mut self, fate: Fate) -> Vec<Example> {
        self.read += 1;
        match fate {
            Fate::Unreadable => self.unreadable += 1,
            Fate::OtherSplit => self.other_split += 1,
            Fate::Refused(refusal) => *self.refused.entry(refusal).or_default() += 1,
            Fate::Used(winner, is_counted, examples) => {
                self.used += 1;
                self.results[winner.map_or(2, |winner| winner as usize)] += 1;
                self.counted += u64::from(is_counted);
                return examples;
            }
        }
        Vec::new()
    }
}

fn progress(counts: &Counts, out: &ShardFiles, begun: Instant) {
    if io::stderr().is_terminal() {
        let speed = counts.positions as f64 / begun.elapsed().as_secs_f64().max(1e-9);
        let (Counts { read, positions, .. }, shards) = (counts, out.count());
        eprintln_quietly(&format!(
            "\r{read} games, {positions} positions, {shards} shards, {speed:.0}/s \x1b[K"
        ));
    }
}

/// To the terminal, if it still listens.
fn eprintln_quietly(text: &str) {
    let mut err = io::stderr().lock();
    let _ = if text.is_empty() { writeln!(err) } else { err.write_all(text.as_bytes()) };
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
