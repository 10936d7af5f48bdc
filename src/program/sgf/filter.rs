//! `kosumi sgf filter`: selection of games, whose records are copied byte for byte.

use super::Input;
use super::progress::run_with_progress;
use crate::options;
use crate::terminal;
use anyhow::Context;
use clap::Args;
use kosumi_go::board::BoardSize;
use kosumi_go::sgf::facts::Rank;
use kosumi_tools::collections::{
    Criteria, Filter, Output, RepetitionFilter, ResultFilter, Selection, ValueRange, date_span, rank_span,
};
use kosumi_tools::ranks::RankPart;
use kosumi_tools::words::counted;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Copy the games of a collection that meet conditions, byte for byte
#[derive(Debug, Args)]
#[command(after_help = "\
Records are written as they are, in the order in which they are read. Into a
single file they are written one after the other, and missing brackets of a
truncated record are added. Records that cannot be read are never written.

Examples:
  kosumi sgf filter games/ --size 19 --rank 5d.. --result score -o strong.sgf.zst
  kosumi sgf filter games.zip --repetition triple-ko,eternal-life -o cycles/
  kosumi sgf filter games.sgf.gz --valid --unique --sample 1000 --seed 7 > sample.sgf
  kosumi sgf filter games.sgf.zst --date 2010..2012-06 --moves ..50 --invert --count")]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    conditions: Conditions,
    /// Output: a file (.sgf, .gz, .zst, .zip) or a folder (ending with /) [default: the standard output]
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Overwrite an existing output file
    #[arg(long)]
    force: bool,
    /// Select the games that do not meet the conditions
    #[arg(long)]
    invert: bool,
    /// Maximum number of games
    #[arg(long, value_name = "N", conflicts_with = "sample")]
    limit: Option<u64>,
    /// Number of games to draw at random, each with the same probability; they are held in memory
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    sample: Option<u32>,
    /// Seed of the sample
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print the number of games and write none
    #[arg(long, conflicts_with = "output")]
    count: bool,
}

/// Conditions. A game must meet all given conditions. A condition with several values is met by any of them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Conditions")]
struct Conditions {
    /// Board size: 19, or WIDTHxHEIGHT
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = options::board_size)]
    size: Vec<BoardSize>,
    /// Komi: 6.5, or a range
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true, value_parser = ValueRange::<f32>::parse)]
    komi: Option<ValueRange<f32>>,
    /// Number of handicap stones, or a range
    #[arg(long, value_name = "RANGE", value_parser = ValueRange::<u32>::parse)]
    handicap: Option<ValueRange<u32>>,
    /// Rules as written in the game record, or "none"
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    rules: Vec<String>,
    /// Part of a player's name
    #[arg(long, value_name = "NAME")]
    player: Vec<String>,
    /// Part of Black's name
    #[arg(long, value_name = "NAME")]
    black: Vec<String>,
    /// Part of White's name
    #[arg(long, value_name = "NAME")]
    white: Vec<String>,
    /// Rank of both players: 9d, or a range as 5k..3d or 1p..
    #[arg(long, value_name = "RANGE", value_parser = rank_span)]
    rank: Option<ValueRange<Rank>>,
    /// Date: a day, a month or a year, or a range of them
    #[arg(long, value_name = "RANGE", value_parser = date_span)]
    date: Option<ValueRange<u32>>,
    /// Winner or kind of result
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    result: Vec<ResultFilter>,
    /// Number of moves, passes included
    #[arg(long, value_name = "RANGE", value_parser = ValueRange::<usize>::parse)]
    moves: Option<ValueRange<usize>>,
    /// Repetition: any, one that a superko rule forbids, or a kind of cycle
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    repetition: Vec<RepetitionFilter>,
    /// Only complete records with valid values and legal moves, superko aside
    #[arg(long)]
    valid: bool,
    /// Only the first of several games with the same moves, also on rotated or mirrored boards
    #[arg(long)]
    unique: bool,
    /// Games that contain the last position of this SGF file, also rotated or mirrored
    #[arg(long, value_name = "FILE")]
    position: Option<PathBuf>,
}

impl Conditions {
    fn criteria(&self) -> Criteria {
        Criteria {
            sizes: self.size.clone(),
            komi: self.komi,
            handicap: self.handicap,
            rules: self.rules.clone(),
            players: self.player.clone(),
            black: self.black.clone(),
            white: self.white.clone(),
            rank: self.rank,
            date: self.date,
            results: self.result.clone(),
            moves: self.moves,
            repetitions: self.repetition.clone(),
            valid: self.valid,
            unique: self.unique,
            position: self.position.clone(),
        }
    }
}

pub(super) fn run(arguments: &Arguments, part: RankPart) -> anyhow::Result<()> {
    let is_other = part.is_other();
    let filter = Filter::new(arguments.conditions.criteria(), arguments.invert, arguments.limit)?;
    let path = arguments.output.as_deref().filter(|path| *path != Path::new("-"));
    let output = match path {
        _ if arguments.count || is_other => Output::Nothing,
        None => Output::plain(io::stdout()),
        Some(path) => Output::create(path, arguments.force)?,
    };
    let except = path.and_then(|path| fs::canonicalize(path).ok());
    let sample = arguments.sample.map(|size| (size, arguments.seed));
    let mut selection = Selection::new(filter.clone(), output, sample);
    let written = || format!("cannot write {}", path.map_or("the output".into(), Path::to_string_lossy));
    let seen = run_with_progress(
        &arguments.input,
        part,
        except,
        |batch| filter.judge(batch),
        |batch, judged, _| selection.add(batch, judged).with_context(written),
    )?;
    if is_other {
        return Ok(());
    }
    let (kept, taken) = selection.finish().with_context(written)?;
    if arguments.count {
        writeln!(terminal::stdout(), "{kept}")?;
    } else {
        let of = if taken < kept { format!(" of {kept} that match") } else { String::new() };
        writeln!(
            terminal::stderr(),
            "kosumi: {} taken{of}, of {} read",
            counted(taken, "game"),
            counted(seen.records, "record")
        )?;
    }
    seen.check_files()
}
