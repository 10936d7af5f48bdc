//! `kosumi sgf filter`: games that meet conditions, byte for byte as they were.

mod criteria;
mod output;

use super::examine::{self, Examined};
use super::input::Batch;
use super::pipeline::{self, Work};
use super::stats::duplicates::Duplicates;
use super::{Input, counted};
use crate::board::Key;
use crate::rng::Rng;
use crate::sgf::Record;
use crate::sgf::collection::Missing;
use anyhow::Context;
use clap::Args;
use criteria::Criteria;
use output::Output;
use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Take games that meet conditions out of a collection, byte for byte
#[derive(Debug, Args)]
#[command(after_help = "\
Records are written as they are, in the order in which they are read. Into a single file they are written one after the
other, and a record that was cut off gets the brackets that it lacks. Records that cannot be read are never written.

Examples:
  kosumi sgf filter games/ --size 19 --rank 5d.. --result score -o strong.sgf.zst
  kosumi sgf filter games.zip --repetition triple-ko,eternal-life -o cycles/
  kosumi sgf filter games.sgf.gz --valid --unique --sample 1000 --seed 7 > sample.sgf
  kosumi sgf filter games.sgf.zst --date 2010..2012-06 --moves ..50 --invert --count")]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    criteria: Criteria,
    /// Where to: a file (.sgf, .gz, .zst, .zip) or a folder (ending with /) [default: the standard output]
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Overwrite the output file
    #[arg(long)]
    force: bool,
    /// Take the games that do not meet the conditions
    #[arg(long)]
    invert: bool,
    /// Stop after so many games
    #[arg(long, value_name = "N", conflicts_with = "sample")]
    limit: Option<u64>,
    /// Take so many of the games, each with the same chance; they are held in memory
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    sample: Option<u32>,
    /// Number that decides the sample
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print the number of games and write none
    #[arg(long, conflicts_with = "output")]
    count: bool,
}

/// A record that could be read.
struct Judged {
    /// Index in the batch.
    index: usize,
    meets: bool,
    /// The keys for finding duplicates, if that is asked for.
    keys: Option<(Key, Key)>,
}

fn judge(batch: &Batch, criteria: &Criteria, positions: &[Key]) -> Work<Vec<Judged>> {
    let mut judged = Vec::new();
    let mut problems = Vec::new();
    for (index, entry) in batch.entries.iter().enumerate() {
        let record = match Record::parse(batch.bytes(entry)) {
            Ok(record) => record,
            Err(error) => {
                problems.push(examine::problem(batch, entry, &error));
                continue;
            }
        };
        let mut meets = criteria.hold_for_record(&record);
        let mut keys = None;
        if meets && criteria.need_replay() {
            match Examined::of_record(record, positions) {
                Ok(examined) => {
                    meets = criteria.hold_for_replay(entry, &examined);
                    keys = examined.identity().map(|identity| (identity, examined.key.plain()));
                }
                Err(error) => {
                    problems.push(examine::problem(batch, entry, &error));
                    continue;
                }
            }
        }
        judged.push(Judged { index, meets, keys });
    }
    Work { result: judged, problems }
}

/// Some of the records, each with the same chance.
///
/// CITE: Vitter, "Random sampling with a reservoir" (1985), algorithm R.
struct Reservoir {
    size: u32,
    rng: Rng,
    seen: u32,
    records: Vec<(u64, Vec<u8>, Missing)>,
}

impl Reservoir {
    fn add(&mut self, number: u64, bytes: &[u8], missing: Missing) {
        self.seen = self.seen.saturating_add(1);
        let record = || (number, bytes.to_vec(), missing);
        if self.seen <= self.size {
            self.records.push(record());
        } else if let Some(slot) = self.records.get_mut(self.rng.below(self.seen) as usize) {
            *slot = record();
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let criteria = &arguments.criteria;
    let positions = criteria.positions()?;
    let path = arguments.output.as_deref().filter(|path| *path != Path::new("-"));
    let mut output = match path {
        _ if arguments.count => Output::Nothing,
        None => Output::standard(),
        Some(path) => Output::create(path, arguments.force)?,
    };
    let except = path.and_then(|path| fs::canonicalize(path).ok());
    let mut reservoir = arguments.sample.map(|size| Reservoir {
        size,
        rng: Rng::new(arguments.seed),
        seen: 0,
        records: Vec::new(),
    });
    let mut duplicates = Duplicates::default();
    let mut kept = 0;
    let limit = arguments.limit.unwrap_or(u64::MAX);
    let written = || format!("cannot write {}", path.map_or("the output".into(), Path::to_string_lossy));
    let seen = pipeline::run_shown(
        &arguments.input,
        except,
        |batch| judge(batch, criteria, &positions),
        |batch, judged, _| {
            for Judged { index, mut meets, keys } in judged {
                if kept >= limit {
                    return Ok(ControlFlow::Break(()));
                }
                let Some(entry) = batch.entries.get(index) else { continue };
                if let Some((identity, plain)) = keys.filter(|_| meets && criteria.unique) {
                    meets = duplicates.check(entry.number, &entry.place, identity, plain).is_none();
                }
                if meets == arguments.invert {
                    continue;
                }
                kept += 1;
                match &mut reservoir {
                    Some(reservoir) => reservoir.add(entry.number, batch.bytes(entry), entry.missing),
                    None => output.write(batch.bytes(entry), entry.missing).with_context(written)?,
                }
            }
            Ok(if kept < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        },
    )?;
    let mut taken = kept;
    if let Some(mut reservoir) = reservoir {
        taken = reservoir.records.len() as u64;
        reservoir.records.sort_by_key(|&(number, ..)| number);
        for (_, bytes, missing) in &reservoir.records {
            output.write(bytes, *missing).with_context(written)?;
        }
    }
    output.finish().with_context(written)?;
    if arguments.count {
        writeln!(io::stdout(), "{kept}")?;
    } else {
        let of = if taken < kept { format!(" of {kept} that were possible") } else { String::new() };
        writeln!(
            io::stderr(),
            "kosumi: {} taken{of}, of {} read",
            counted(taken, "game"),
            counted(seen.records, "record")
        )?;
    }
    seen.check_files()
}
