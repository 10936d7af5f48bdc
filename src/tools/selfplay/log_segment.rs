//! Log of a self-play run in segments: `games-00000.jsonl` and so on, each with the games of one shard.
//!
//! The first line of a segment has the settings and the games of earlier segments, so only the last segment is ever
//! read. Invariants, even if the process stops at any moment:
//!
//! * A game whose line is complete is never played again, and is never twice in a shard.
//! * A shard holds exactly the games of its segment. It is written before the next segment begins, and again if its
//!   segment has grown.

use super::record::{InvalidRecord, PlayedGame};
use crate::files::{LineLog, complete_lines, differences, disk, write_atomically};
use crate::shards::{ShardFiles, encode};
use crate::training::{Example, Shard};
use anyhow::{Context, bail};
use kosumi_go::game::Game;
use kosumi_go::rng::Rng;
use kosumi_go::score::format_score;
use kosumi_go::sgf::{self, Meta};
use kosumi_net::Features;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Line of the log.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Entry {
    /// First line.
    Selfplay(Header),
    Game(Box<PlayedGame>),
}

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    /// Version of the format.
    version: u32,
    settings: Map<String, Value>,
    /// Games of earlier segments.
    finished: FinishedGames,
}

const VERSION: u32 = 1;

/// Numbers of finished games. Games end nearly in the order of their numbers, so the set is small.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct FinishedGames {
    /// All games below this number are finished.
    below: u32,
    /// Further finished games.
    also: BTreeSet<u32>,
}

impl FinishedGames {
    /// Returns whether a game is finished.
    pub fn has(&self, number: u32) -> bool {
        number < self.below || self.also.contains(&number)
    }

    /// Returns the number of finished games.
    pub fn count(&self) -> u32 {
        self.below + self.also.len() as u32
    }

    /// Adds a game. Returns false if it was already finished.
    fn add(&mut self, number: u32) -> bool {
        if number < self.below || !self.also.insert(number) {
            return false;
        }
        while self.also.remove(&self.below) {
            self.below += 1;
        }
        true
    }
}

/// Output of a self-play run.
#[derive(Clone, PartialEq, Debug)]
pub struct LogStorage {
    /// Folder; created if missing.
    pub folder: PathBuf,
    /// Prefix of the names of shards.
    pub prefix: &'static str,
    /// Number of positions per shard.
    pub shard: usize,
    /// Whether to write SGF files as well.
    pub sgf: bool,
    /// Settings that must be equal in all segments.
    pub settings: Map<String, Value>,
    /// Seed of the order of positions in shards.
    pub seed: u64,
}

/// Segment in progress.
#[derive(Debug)]
pub struct LogSegment {
    storage: LogStorage,
    number: u32,
    log: LineLog,
    games: Vec<PlayedGame>,
    /// Number of positions of these games.
    pending: usize,
    /// Number of positions of all games of this run, including those that were in its first segment before it started.
    positions: usize,
    finished: FinishedGames,
    shards: ShardFiles,
    /// Whether the shard contains all games of the log.
    is_written: bool,
}

impl LogSegment {
    /// Opens the last segment of a folder, or begins the first one.
    ///
    /// # Errors
    ///
    /// Returns an error if the log cannot be used, or has games with other settings.
    pub fn open(storage: LogStorage) -> anyhow::Result<LogSegment> {
        let shards = ShardFiles::new(&storage.folder, storage.prefix)?;
        // If a later segment were overlooked, its games would be played again and written into it.
        let exists = |number| {
            let path = log_path(&storage.folder, number);
            disk::exists(&path).with_context(|| format!("cannot find {}", path.display()))
        };
        let mut number = 0;
        while exists(number + 1)? {
            number += 1;
        }
        let mut segment = LogSegment::read(storage, number, shards)?;
        // The process may have been stopped between the last game of a segment and the next segment.
        segment.begin_next_if_full()?;
        Ok(segment)
    }

    fn read(storage: LogStorage, number: u32, mut shards: ShardFiles) -> anyhow::Result<LogSegment> {
        let path = log_path(&storage.folder, number);
        let (mut log, bytes) = LineLog::open(&path, "run of kosumi selfplay")?;
        let damaged = || format!("{} is damaged", path.display());
        let (lines, complete) = complete_lines::<Entry>(&bytes).with_context(damaged)?;
        let mut lines = lines.into_iter();
        let mut finished = FinishedGames::default();
        let is_new = match lines.next() {
            Some(Entry::Selfplay(header)) if header.version == VERSION => {
                let different = differences(&header.settings, &storage.settings);
                if !different.is_empty() {
                    bail!(
                        "{} has games with other settings: {}",
                        storage.folder.display(),
                        different.join("; ")
                    );
                }
                finished = header.finished;
                false
            }
            Some(_) => bail!("{} is not a log of kosumi selfplay of this version", path.display()),
            // The header of a later segment lists the finished games. If it is missing, the previous segment must be
            // read.
            None if number > 0 => {
                drop(log);
                disk::remove(&path).with_context(damaged)?;
                return LogSegment::read(storage, number - 1, shards);
            }
            None => true,
        };
        let mut games = Vec::new();
        for line in lines {
            match line {
                Entry::Game(game) if finished.add(game.number) => games.push(*game),
                _ => bail!("{}: a repeated game or a second header", path.display()),
            }
        }
        log.resume_after(&bytes[..complete]).with_context(damaged)?;
        shards.set_next(number);
        let pending = games.iter().map(PlayedGame::positions).sum();
        let is_written = games.is_empty();
        let mut segment = LogSegment {
            storage,
            number,
            log,
            games,
            pending,
            positions: pending,
            finished,
            shards,
            is_written,
        };
        if is_new {
            segment.begin()?;
        }
        Ok(segment)
    }

    fn begin(&mut self) -> anyhow::Result<()> {
        let (settings, finished) = (self.storage.settings.clone(), self.finished.clone());
        self.log.write(&Entry::Selfplay(Header { version: VERSION, settings, finished }))
    }

    /// Returns the finished games of all segments.
    pub fn finished(&self) -> &FinishedGames {
        &self.finished
    }

    /// Returns the number of positions of all games of this run, including those that were in its first segment before
    /// it started.
    pub fn positions(&self) -> usize {
        self.positions
    }

    /// Returns the number of shards written by this run.
    pub fn shards(&self) -> u32 {
        self.shards.count()
    }

    /// Adds a finished game. When this method returns, the game is on the disk.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails.
    pub fn add(&mut self, game: PlayedGame) -> anyhow::Result<()> {
        let entry = Entry::Game(Box::new(game));
        self.log.write(&entry)?;
        if let Entry::Game(game) = entry {
            self.finished.add(game.number);
            self.pending += game.positions();
            self.positions += game.positions();
            self.games.push(*game);
            self.is_written = false;
        }
        self.begin_next_if_full()
    }

    fn begin_next_if_full(&mut self) -> anyhow::Result<()> {
        if self.pending < self.storage.shard {
            return Ok(());
        }
        self.write_shard()?;
        self.number += 1;
        let path = log_path(&self.storage.folder, self.number);
        (self.log, _) = LineLog::open(&path, "run of kosumi selfplay")?;
        self.games.clear();
        self.pending = 0;
        self.begin()
    }

    /// Writes the shard of the segment and, if wanted, its games as SGF, unless this has been done.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails, or if a game is invalid.
    pub fn write_shard(&mut self) -> anyhow::Result<()> {
        if self.is_written {
            return Ok(());
        }
        let work = |features: &mut Features, game: &PlayedGame| examples(game, features);
        let found: Result<Vec<_>, InvalidRecord> =
            self.games.par_iter().map_init(Features::default, work).collect();
        let mut shard = Shard::new();
        found?.into_iter().flatten().for_each(|example| shard.push(example));
        let mut rng = Rng::for_worker(self.storage.seed, self.number as usize);
        self.shards.set_next(self.number);
        self.shards.write(&mut shard, &mut rng)?;
        if self.storage.sgf {
            let records: Result<String, InvalidRecord> = self.games.iter().map(record).collect();
            let path = log_path(&self.storage.folder, self.number).with_extension("sgf");
            write_atomically(&path, &records?).with_context(|| format!("cannot write {}", path.display()))?;
        }
        self.is_written = true;
        Ok(())
    }
}

pub(super) fn log_path(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("games-{number:05}.jsonl"))
}

fn examples(game: &PlayedGame, features: &mut Features) -> Result<Vec<Example>, InvalidRecord> {
    game.examples(&mut |game: &Game| encode(features, game))
}

/// Returns the game as SGF.
pub(super) fn record(game: &PlayedGame) -> Result<String, InvalidRecord> {
    let result = game.ending.as_ref().map_or("Void".to_owned(), |ending| format_score(ending.score));
    let comment = format!("game {}, an opening of {} moves", game.number, game.opening);
    let meta = Meta { result: Some(result), comment: Some(comment), ..Meta::default() };
    Ok(sgf::write(&game.game()?, &meta) + "\n")
}
