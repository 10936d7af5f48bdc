//! The log of a run, in chapters: `games-00000.jsonl` and so on, each with the games of one shard.
//!
//! The first line of a chapter says how games are played and which ones earlier chapters have, so only the last chapter
//! is ever read. Invariants, whenever the process stops:
//!
//! * a game whose line is complete is never played again, and never twice in a shard;
//! * a shard holds exactly the games of its chapter: it is written before the next chapter begins, and again if its
//!   chapter has grown.

use crate::cli::line_log::{LineLog, complete_lines, differences};
use crate::cli::shard_files::ShardFiles;
use crate::game::{Game, Line};
use crate::net::{Features, Input};
use crate::rng::Rng;
use crate::score::format_score;
use crate::selfplay::{Damaged, PlayedGame};
use crate::sgf::{self, Meta};
use crate::training::{Example, Shard};
use anyhow::{Context, bail};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A line of the log.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Entry {
    /// The first one.
    Selfplay(Header),
    Game(Box<PlayedGame>),
}

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    /// Of this format.
    version: u32,
    settings: Map<String, Value>,
    /// The games of earlier chapters.
    finished: Finished,
}

const VERSION: u32 = 1;

/// The numbers of finished games. Games end in nearly the order of their numbers, so this is small.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Finished {
    /// All below this.
    below: u32,
    /// And these.
    also: BTreeSet<u32>,
}

impl Finished {
    pub(super) fn has(&self, number: u32) -> bool {
        number < self.below || self.also.contains(&number)
    }

    pub(super) fn count(&self) -> u32 {
        self.below + self.also.len() as u32
    }

    /// Adds a number; false if it was there.
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

/// Where and how the chapters are written.
#[derive(Debug)]
pub(super) struct Course {
    pub(super) folder: PathBuf,
    /// Of the shards' names.
    pub(super) prefix: &'static str,
    /// Positions a shard.
    pub(super) shard: usize,
    /// Write SGF files, too.
    pub(super) sgf: bool,
    /// What must be the same in all chapters.
    pub(super) settings: Map<String, Value>,
    /// Decides the order of positions in shards.
    pub(super) seed: u64,
}

/// The chapter that is being written.
#[derive(Debug)]
pub(super) struct Chapter {
    course: Course,
    number: u32,
    log: LineLog,
    games: Vec<PlayedGame>,
    /// Positions of these games.
    pending: usize,
    /// Positions of all games of this run, those of its first chapter that were there included.
    positions: usize,
    finished: Finished,
    shards: ShardFiles,
    /// The shard has all games of the log.
    is_written: bool,
}

impl Chapter {
    /// Opens the last chapter of a folder, or begins the first.
    pub(super) fn open(course: Course) -> anyhow::Result<Chapter> {
        let shards = ShardFiles::new(&course.folder, course.prefix)?;
        let mut number = 0;
        while log_path(&course.folder, number + 1).exists() {
            number += 1;
        }
        let mut chapter = Chapter::read(course, number, shards)?;
        // The process may have ended between the last game of a chapter and the next chapter.
        chapter.turn_page_if_full()?;
        Ok(chapter)
    }

    fn read(course: Course, number: u32, mut shards: ShardFiles) -> anyhow::Result<Chapter> {
        let path = log_path(&course.folder, number);
        let (mut log, bytes) = LineLog::open(&path, "run of kosumi selfplay")?;
        let damaged = || format!("{} is damaged", path.display());
        let (lines, complete) = complete_lines::<Entry>(&bytes).with_context(damaged)?;
        let mut lines = lines.into_iter();
        let mut finished = Finished::default();
        let is_new = match lines.next() {
            Some(Entry::Selfplay(header)) if header.version == VERSION => {
                let different = differences(&header.settings, &course.settings);
                if !different.is_empty() {
                    bail!("{} has other games: {}", course.folder.display(), different.join("; "));
                }
                finished = header.finished;
                false
            }
            Some(_) => bail!("{} is not a log of kosumi selfplay of this version", path.display()),
            // The header of a later chapter says what is finished: without it, earlier ones must be read.
            None if number > 0 => {
                drop(log);
                fs::remove_file(&path).with_context(damaged)?;
                return Chapter::read(course, number - 1, shards);
            }
            None => true,
        };
        let mut games = Vec::new();
        for line in lines {
            match line {
                Entry::Game(game) if finished.add(game.number) => games.push(*game),
                _ => bail!("{}: a game twice, or a second beginning", path.display()),
            }
        }
        log.go_on_behind(&bytes[..complete]).with_context(damaged)?;
        shards.go_on_at(number);
        let pending = games.iter().map(PlayedGame::positions).sum();
        let is_written = games.is_empty();
        let mut chapter =
            Chapter { course, number, log, games, pending, positions: pending, finished, shards, is_written };
        if is_new {
            chapter.begin()?;
        }
        Ok(chapter)
    }

    fn begin(&mut self) -> anyhow::Result<()> {
        let (settings, finished) = (self.course.settings.clone(), self.finished.clone());
        self.log.write(&Entry::Selfplay(Header { version: VERSION, settings, finished }))
    }

    pub(super) fn finished(&self) -> &Finished {
        &self.finished
    }

    pub(super) fn positions(&self) -> usize {
        self.positions
    }

    pub(super) fn shards(&self) -> u32 {
        self.shards.count()
    }

    /// Adds a finished game. When this returns, it is on the disk.
    pub(super) fn add(&mut self, game: PlayedGame) -> anyhow::Result<()> {
        let entry = Entry::Game(Box::new(game));
        self.log.write(&entry)?;
        if let Entry::Game(game) = entry {
            self.finished.add(game.number);
            self.pending += game.positions();
            self.positions += game.positions();
            self.games.push(*game);
            self.is_written = false;
        }
        self.turn_page_if_full()
    }

    fn turn_page_if_full(&mut self) -> anyhow::Result<()> {
        if self.pending < self.course.shard {
            return Ok(());
        }
        self.write_shard()?;
        self.number += 1;
        let path = log_path(&self.course.folder, self.number);
        (self.log, _) = LineLog::open(&path, "run of kosumi selfplay")?;
        self.games.clear();
        self.pending = 0;
        self.begin()
    }

    /// Writes the chapter's shard, and its games in SGF if they are wanted, unless that has been done.
    pub(super) fn write_shard(&mut self) -> anyhow::Result<()> {
        if self.is_written {
            return Ok(());
        }
        let work = |features: &mut Features, game: &PlayedGame| examples(game, features);
        let found: Result<Vec<_>, Damaged> =
            self.games.par_iter().map_init(Features::default, work).collect();
        let mut shard = Shard::new();
        found?.into_iter().flatten().for_each(|example| shard.push(example));
        let mut rng = Rng::for_worker(self.course.seed, self.number as usize);
        self.shards.go_on_at(self.number);
        self.shards.write(&mut shard, &mut rng)?;
        if self.course.sgf {
            let records: Result<String, Damaged> = self.games.iter().map(record).collect();
            let path = log_path(&self.course.folder, self.number).with_extension("sgf");
            fs::write(&path, records?).with_context(|| format!("cannot write {}", path.display()))?;
        }
        self.is_written = true;
        Ok(())
    }
}

fn log_path(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("games-{number:05}.jsonl"))
}

fn examples(game: &PlayedGame, features: &mut Features) -> Result<Vec<Example>, Damaged> {
    game.examples(&mut |game: &Game| {
        let mut input = Input::zero(game.size().columns(), game.size().rows());
        features.fill(&Line::new(game), &mut input);
        input
    })
}

/// The game in SGF.
fn record(game: &PlayedGame) -> Result<String, Damaged> {
    let result = game.ending.as_ref().map_or("Void".to_owned(), |ending| format_score(ending.score));
    let comment = format!("game {}, an opening of {} moves", game.number, game.opening);
    let meta = Meta { result: Some(result), comment: Some(comment), ..Meta::default() };
    Ok(sgf::write(&game.game()?, &meta) + "\n")
}
