//! Conversion of game records to shards.

use super::encode::encode;
use super::shard_files::ShardFiles;
use crate::collections::{Records, StreamRecord};
use crate::ranks::{PieceLength, RankPart, in_order};
use crate::training::{self, Example, Refusal, Sampling, Shard, Split};
use crate::words::as_base64;
use clap::ValueEnum;
use kosumi_go::board::Color;
use kosumi_go::game::Game;
use kosumi_go::rng::Rng;
use kosumi_go::sgf::Record;
use kosumi_net::Features;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Which games to take, by their dates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum SplitChoice {
    /// Games before the first validation year
    Training,
    /// Games of the first validation year and later
    Validation,
    /// All games
    All,
}

impl SplitChoice {
    /// Returns the prefix of the names of shards.
    pub fn prefix(self) -> &'static str {
        match self {
            SplitChoice::Training => "training",
            SplitChoice::Validation => "validation",
            SplitChoice::All => "all",
        }
    }

    fn takes(self, split: Split) -> bool {
        match self {
            SplitChoice::Training => split == Split::Training,
            SplitChoice::Validation => split == Split::Validation,
            SplitChoice::All => true,
        }
    }
}

/// Number of records per piece of work.
const CHUNK: usize = 256;

/// Counts of games and positions.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ConversionCounts {
    /// Number of game records read.
    pub read: u64,
    /// Number of invalid records.
    pub unreadable: u64,
    /// Number of games that belong to the other split.
    pub other_split: u64,
    /// Number of games from which positions were taken.
    pub used: u64,
    /// Number of unusable games, by reason.
    pub refused: BTreeMap<Refusal, u64>,
    /// Number of games won by Black, won by White, and drawn.
    pub results: [u64; 3],
    /// Number of games with a counted score.
    pub counted: u64,
    /// Number of positions.
    pub positions: u64,
}

/// Outcome of one game record.
#[derive(Serialize, Deserialize)]
enum RecordOutcome {
    Unreadable,
    OtherSplit,
    Refused(Refusal),
    /// Used game: index in [`ConversionCounts::results`], whether its score was counted, and its positions.
    Used(usize, bool, Vec<Example>),
}

/// Game record with its number among all records read.
#[derive(Serialize, Deserialize)]
struct Numbered {
    #[serde(with = "as_base64")]
    bytes: Vec<u8>,
    number: u64,
}

/// Conversion of game records to shards.
#[derive(Clone, Debug)]
pub struct RecordConversion {
    /// Files with one or more game records; `-` is the standard input.
    pub files: Vec<PathBuf>,
    /// Games to take.
    pub wanted: SplitChoice,
    /// First validation year.
    pub held_back: u16,
    /// Choice and encoding of the positions of a game.
    pub sampling: Sampling,
    /// Number of game records to skip at the start.
    pub skip: u64,
    /// Maximum number of game records to read; `None` for all.
    pub games: Option<u64>,
    /// Number of positions after which to stop. The last chunk of records may exceed it.
    pub positions: Option<u64>,
    /// Number of positions per shard.
    pub shard: usize,
}

impl RecordConversion {
    /// Writes the shards with the given number of threads, and with other ranks if there are any. `open` opens the
    /// output, and `progress` is called after each chunk. Returns `None` on other ranks, which write nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read, a shard cannot be written, or the ranks cannot continue.
    pub fn write(
        &self,
        threads: usize,
        part: RankPart,
        open: impl FnOnce() -> anyhow::Result<ShardFiles>,
        progress: &mut dyn FnMut(&ConversionCounts, &ShardFiles),
    ) -> anyhow::Result<Option<(ConversionCounts, ShardFiles)>> {
        let mut out = if part.is_other() { None } else { Some(open()?) };
        let mut counts = ConversionCounts::default();
        let mut shard = Shard::new();
        let mut rng = Rng::new(self.sampling.seed);
        let mut trouble = None;
        let read = |send: &mut dyn FnMut(Vec<Numbered>) -> bool| trouble = self.read(send).err();
        let work = |chunk: &Vec<Numbered>| -> Vec<RecordOutcome> {
            let mut features = Features::default();
            chunk.iter().map(|it| self.process(&it.bytes, it.number as u32, &mut features)).collect()
        };
        let collect = |_: &Vec<Numbered>, outcomes: Vec<RecordOutcome>| {
            let Some(out) = &mut out else { return Ok(ControlFlow::Break(())) };
            for outcome in outcomes {
                for example in counts.take(outcome) {
                    shard.push(example);
                    counts.positions += 1;
                    if shard.len() >= self.shard {
                        out.write(&mut shard, &mut rng)?;
                    }
                }
            }
            progress(&counts, out);
            let is_enough = self.positions.is_some_and(|most| counts.positions >= most);
            Ok(if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        in_order(part, threads, PieceLength::Short, read, work, collect)?;
        if let Some(error) = trouble {
            return Err(error);
        }
        let Some(mut out) = out else { return Ok(None) };
        if !shard.is_empty() {
            out.write(&mut shard, &mut rng)?;
        }
        Ok(Some((counts, out)))
    }

    /// Reads records in chunks of [`CHUNK`] and passes them to `send` until that returns false.
    fn read(&self, send: &mut dyn FnMut(Vec<Numbered>) -> bool) -> anyhow::Result<()> {
        let first = self.skip;
        let last = self.games.map_or(u64::MAX, |games| first.saturating_add(games));
        let mut records = self.files.iter().flat_map(|path| whole_records(path)).zip(0u64..).fuse();
        loop {
            let mut chunk = Vec::with_capacity(CHUNK);
            for (record, number) in records.by_ref().take_while(|&(_, number)| number < last).take(CHUNK) {
                chunk.push(Numbered { bytes: record?, number });
            }
            if chunk.is_empty() {
                return Ok(());
            }
            chunk.retain(|it| it.number >= first);
            if !send(chunk) {
                return Ok(());
            }
        }
    }

    /// Processes one record.
    fn process(&self, bytes: &[u8], number: u32, features: &mut Features) -> RecordOutcome {
        let Ok(record) = Record::parse(bytes) else { return RecordOutcome::Unreadable };
        if !self.wanted.takes(Split::of(&record, self.held_back)) {
            return RecordOutcome::OtherSplit;
        }
        let mut encode = |game: &Game| encode(features, game);
        match training::examples(&record, number, &self.sampling, &mut encode) {
            Err(refusal) => RecordOutcome::Refused(refusal),
            Ok(examples) => match training::result(&record) {
                Some((winner, score)) => RecordOutcome::Used(
                    winner.map_or(2, |winner: Color| winner as usize),
                    score.is_some(),
                    examples,
                ),
                None => RecordOutcome::Refused(Refusal::NoResult),
            },
        }
    }
}

/// Returns the records of a file without those that are too long or truncated. A file that cannot be opened yields its
/// error.
fn whole_records(path: &std::path::Path) -> impl Iterator<Item = anyhow::Result<Vec<u8>>> {
    let (records, error) = match Records::open(path) {
        Ok(records) => (Some(records), None),
        Err(error) => (None, Some(Err(error))),
    };
    let whole = |found| match found {
        Ok(StreamRecord::Record(bytes, missing)) if missing.is_none() => Some(Ok(bytes)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    };
    error.into_iter().chain(records.into_iter().flatten().filter_map(whole))
}

impl ConversionCounts {
    /// Counts a game and returns its positions.
    fn take(&mut self, outcome: RecordOutcome) -> Vec<Example> {
        self.read += 1;
        match outcome {
            RecordOutcome::Unreadable => self.unreadable += 1,
            RecordOutcome::OtherSplit => self.other_split += 1,
            RecordOutcome::Refused(refusal) => *self.refused.entry(refusal).or_default() += 1,
            RecordOutcome::Used(result, is_counted, examples) => {
                self.used += 1;
                if let Some(count) = self.results.get_mut(result) {
                    *count += 1;
                }
                self.counted += u64::from(is_counted);
                return examples;
            }
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::rules::Rules;
    use std::fs;

    #[test]
    fn games_are_counted_and_their_positions_written() {
        let scratch = tempfile::TempDir::new().unwrap();
        let file = scratch.path().join("games.sgf");
        let game = |year: u32, result: &str| {
            format!(
                "(;SZ[5]RE[{result}]DT[{year}-01-02];B[cc];W[cd];B[dd];W[ce];B[bd];W[de];B[be];W[ee];B[];W[])\n"
            )
        };
        let games =
            [game(2010, "B+R"), game(2020, "W+R"), game(2011, "Void"), game(2012, "W+3.5"), "(;".into()];
        fs::write(&file, games.concat()).unwrap();
        let work = RecordConversion {
            files: vec![file],
            wanted: SplitChoice::Training,
            held_back: 2016,
            sampling: Sampling {
                per_game: 4,
                opening: None,
                recorded: Rules::default(),
                shown: Vec::new(),
                off_policy: 0,
                seed: 1,
            },
            skip: 0,
            games: None,
            positions: None,
            shard: 5,
        };
        let write = |work: &RecordConversion, name: &str| {
            let open = || ShardFiles::new(&scratch.path().join(name), "training");
            let mut calls = 0;
            let (counts, out) = work
                .write(2, RankPart::Alone, open, &mut |_, _| calls += 1)
                .unwrap()
                .expect("not another rank");
            assert!(calls > 0);
            (counts, out.count(), out.first().expect("a folder").is_some())
        };
        let (counts, shards, is_there) = write(&work, "all");
        // Two ranks write the same files as one process.
        let mut links = kosumi_cluster::thread_links(2);
        let (other, first) = (links.remove(1), links.remove(0));
        let theirs = work.clone();
        let serving = std::thread::spawn(move || {
            let none = || -> anyhow::Result<ShardFiles> { panic!("rank 0 writes") };
            // This rank may become ready after rank 0 has ended.
            let _ = theirs.write(1, RankPart::Other(Box::new(other)), none, &mut |_, _| ());
        });
        let open = || ShardFiles::new(&scratch.path().join("two"), "training");
        let part = RankPart::First(Box::new(first), Box::new(|_, _| ()));
        let found = work.write(1, part, open, &mut |_, _| ()).unwrap().expect("the first rank");
        serving.join().unwrap();
        assert_eq!((&found.0, found.1.count()), (&counts, shards));
        for name in ["training-00000.npz", "training-00001.npz"] {
            let bytes = |folder: &str| fs::read(scratch.path().join(folder).join(name)).unwrap();
            assert_eq!(bytes("two"), bytes("all"));
        }
        assert_eq!((counts.read, counts.used, counts.other_split, counts.counted), (4, 2, 1, 1));
        assert_eq!(counts.refused, BTreeMap::from([(Refusal::NoResult, 1)]));
        assert_eq!((counts.results, counts.positions), ([1, 1, 0], 8));
        assert_eq!((shards, is_there), (2, true));
        let (counts, ..) = write(&RecordConversion { skip: 1, games: Some(1), ..work.clone() }, "one");
        assert_eq!((counts.read, counts.other_split), (1, 1));
        let missing = RecordConversion { files: vec!["/no/such/file".into()], ..work };
        let open = || ShardFiles::new(&scratch.path().join("none"), "training");
        assert!(missing.write(1, RankPart::Alone, open, &mut |_, _| ()).is_err());
    }
}
