//! The running game on the disk.
//!
//! Invariants, whatever the moment at which the process or the machine stops (`tests/autosave.rs` kills and resumes):
//!
//! * every file is a whole record;
//! * before the answer to a command that changed the game goes out, the change is on the disk, unless the disk takes
//!   longer than [`PATIENCE`]: then the game goes on, and the disk catches up;
//! * a file is removed only when another one holds all that it held;
//! * of the files of one process after another, the one saved last has the latest time, whatever became of the clock.
//!
//! A record with a result is of a finished game. There is at most one file of a game that has not begun, and none is
//! left behind by a process that ends.

use crate::collections::read_game;
use crate::files::write_with;
use anyhow::Context;
use kosumi_engine::{Engine, Remarks, Revision};
use kosumi_go::board::{Color, Key, Move};
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::{Meta, Record};
use std::collections::VecDeque;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// So long an answer waits for the disk.
const PATIENCE: Duration = Duration::from_millis(100);
/// So long the end of the process does.
const CLOSING_TIME: Duration = Duration::from_secs(2);
/// What our files are called. Others in the folder are left alone.
const PREFIX: &str = "kosumi-";
/// So many of the newest files are looked at in search of games to go on with.
const FILES_MOST: usize = 100;
/// The time of a file is later by so much than that of the one written before it, if the clock has been set back since.
const LATER: Duration = Duration::from_millis(1);

/// What makes a game the one that it is: two that differ in nothing but later moves may be the same one.
#[derive(Clone, PartialEq, Debug)]
struct Outline {
    start: (Key, Color, Rules, Option<u32>, u32),
    moves: Vec<(Color, Move)>,
    is_blank: bool,
}

impl Outline {
    fn of(game: &Game) -> Outline {
        let komi = game.komi().to_bits();
        Outline {
            start: (game.start().key(), game.start_to_move(), game.rules(), game.announced_handicap(), komi),
            moves: game.records().iter().map(|record| (record.color, record.mv)).collect(),
            is_blank: game.records().is_empty() && game.start().stone_count() == 0,
        }
    }

    fn of_record(record: &Record) -> Option<Outline> {
        let game = record.game(record.rules().unwrap_or_default(), 0.0, None).ok()?;
        Some(Outline::of(&game))
    }

    /// Does it hold everything that the other one holds?
    fn goes_on_with(&self, other: &Outline) -> bool {
        self.start == other.start && self.moves.starts_with(&other.moves)
    }
}

/// A game that was not finished.
#[derive(Debug)]
struct Unfinished {
    path: PathBuf,
    outline: Outline,
}

/// Saves the running game of an engine.
#[derive(Debug)]
pub struct Autosave {
    folder: PathBuf,
    writer: Writer,
    seen: Revision,
    /// The game in the present file.
    current: Option<Unfinished>,
    /// Games that the running one may turn out to be: a controller that starts again sends all moves again.
    earlier: Vec<Unfinished>,
    files: u32,
    date: String,
}

impl Autosave {
    /// Saves into this folder what changes from now on. The game on the board is the one in the file `resumed`, if that
    /// is a file of the folder.
    ///
    /// # Errors
    /// If no thread can be started. A folder that cannot be used is warned of: the game goes on.
    pub fn open(
        folder: &Path,
        engine: &Engine,
        resumed: Option<&Path>,
        warn: fn(&str),
    ) -> anyhow::Result<Autosave> {
        if let Err(error) = fs::create_dir_all(folder) {
            warn(&format!("games are not saved: cannot use the folder {}: {error}", folder.display()));
        }
        let name = |path: &Path| path.canonicalize().ok();
        let resumed = resumed.and_then(name);
        let mut earlier = unfinished(folder, FILES_MOST);
        let latest =
            files(folder).into_iter().map(|(saved, _)| saved).max().unwrap_or(SystemTime::UNIX_EPOCH);
        let position = earlier.iter().position(|game| resumed.is_some() && name(&game.path) == resumed);
        let current = position.map(|position| earlier.remove(position).path);
        let current = current.map(|path| Unfinished { path, outline: Outline::of(engine.game()) });
        Ok(Autosave {
            folder: folder.to_owned(),
            writer: Writer::start(latest, warn).context("cannot start a thread")?,
            seen: engine.revision(),
            current,
            earlier,
            files: 0,
            date: today(),
        })
    }

    /// Saves the game if it has changed, and says how long that took.
    pub fn update(&mut self, engine: &Engine) -> Duration {
        let start = Instant::now();
        let revision = engine.revision();
        if revision == self.seen {
            return Duration::ZERO;
        }
        let before = std::mem::replace(&mut self.seen, revision);
        if revision.game != before.game {
            self.begin();
        }
        let outline = Outline::of(engine.game());
        let is_superseded = |game: &mut Unfinished| outline.goes_on_with(&game.outline);
        let superseded = self.earlier.extract_if(.., is_superseded).map(|game| game.path).collect();
        let path = match self.current.take() {
            Some(game) => game.path,
            None => self.new_path(),
        };
        let meta = Meta { date: Some(self.date.clone()), ..Meta::default() };
        let text = engine.record(Remarks::Brief, &meta).to_string();
        self.current = Some(Unfinished { path: path.clone(), outline });
        let ticket = self.writer.submit(Job { path, text: Some(text), superseded });
        if revision.change != before.change {
            self.writer.wait(ticket, PATIENCE);
        }
        start.elapsed()
    }

    /// Another game begins. A file whose game did not is used for this one.
    fn begin(&mut self) {
        if self.current.as_ref().is_some_and(|game| !game.outline.is_blank) {
            self.earlier.extend(self.current.take());
        }
        self.date = today();
    }

    fn new_path(&mut self) -> PathBuf {
        // `20260131-235959`
        let now = now().replace(['-', ':'], "").replace('T', "-");
        loop {
            self.files += 1;
            // No other process has this number now. One may have had it within this second, if the clock was set back.
            let name = format!("{PREFIX}{now}-{}-{}.sgf", std::process::id(), self.files);
            let path = self.folder.join(name);
            if !path.exists() {
                return path;
            }
        }
    }
}

impl Drop for Autosave {
    fn drop(&mut self) {
        if let Some(game) = self.current.take().filter(|game| game.outline.is_blank) {
            self.writer.submit(Job { path: game.path, text: None, superseded: Vec::new() });
        }
        self.writer.close();
    }
}

/// The day in Greenwich: `2026-01-31`.
pub fn today() -> String {
    now().split('T').next().unwrap_or_default().to_owned()
}

/// The present second in Greenwich: `2026-01-31T23:59:59`.
fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string().trim_end_matches('Z').to_owned()
}

/// The game in the folder that was saved last and is not finished.
pub fn newest(folder: &Path) -> Option<(PathBuf, Record)> {
    let path = unfinished(folder, FILES_MOST).into_iter().next()?.path;
    let record = read_game(&path).ok()?;
    Some((path, record))
}

/// The files of ours in a folder, and when they were saved.
fn files(folder: &Path) -> Vec<(SystemTime, PathBuf)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(".sgf"));
        if is_ours && let Ok(saved) = entry.metadata().and_then(|data| data.modified()) {
            files.push((saved, entry.path()));
        }
    }
    files
}

/// The unfinished games among the newest files of ours in a folder, the one saved last first.
fn unfinished(folder: &Path, most: usize) -> Vec<Unfinished> {
    let mut files = files(folder);
    files.sort();
    let game = |path: PathBuf| {
        let record = read_game(&path).ok().filter(|record| record.result.is_none())?;
        Some(Unfinished { outline: Outline::of_record(&record)?, path })
    };
    files.into_iter().rev().take(most).filter_map(|(_, path)| game(path)).collect()
}

/// What is to be done with a file.
#[derive(Debug)]
struct Job {
    path: PathBuf,
    /// What it is to hold; nothing removes it.
    text: Option<String>,
    /// Files that are not needed once this one is written.
    superseded: Vec<PathBuf>,
}

impl Job {
    /// Does it. `latest` is the time of the file that was written last.
    fn run(&self, latest: &mut SystemTime) -> io::Result<()> {
        match &self.text {
            None => fs::remove_file(&self.path),
            Some(text) => {
                let written = write_later(&self.path, text, latest);
                if let (Err(error), Some(folder)) = (&written, self.path.parent())
                    && error.kind() == io::ErrorKind::NotFound
                {
                    // Somebody has cleared up.
                    fs::create_dir_all(folder)?;
                    write_later(&self.path, text, latest)?;
                } else {
                    written?;
                }
                // What cannot be removed does no harm.
                self.superseded.iter().for_each(|path| fs::remove_file(path).unwrap_or_default());
                Ok(())
            }
        }
    }
}

/// Writes a file as a whole, under a time that is later than `latest`, and sets `latest` to it.
fn write_later(path: &Path, text: &str, latest: &mut SystemTime) -> io::Result<()> {
    let mut saved = *latest;
    write_with(path, |output| {
        output.write_all(text.as_bytes())?;
        output.flush()?;
        let file = output.get_ref();
        saved = file.metadata()?.modified()?;
        if saved <= *latest {
            saved = latest.checked_add(LATER).unwrap_or(saved);
            // What cannot have a time, such as a pipe, has none that could be wrong.
            let _ = file.set_modified(saved);
        }
        Ok::<(), io::Error>(())
    })?;
    *latest = saved;
    Ok(())
}

/// A thread that writes, so that a slow disk does not hold up the game.
#[derive(Debug)]
struct Writer(Arc<Queue>);

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// With the numbers of their tickets, which grow.
    jobs: VecDeque<(u64, Job)>,
    tickets: u64,
    /// All jobs up to this ticket are done, with or without success.
    done: u64,
    is_closed: bool,
}

impl Writer {
    fn start(latest: SystemTime, warn: fn(&str)) -> io::Result<Writer> {
        let queue = Arc::new(Queue::default());
        let its = Arc::clone(&queue);
        thread::Builder::new().name("autosave".to_owned()).spawn(move || its.work(latest, warn))?;
        Ok(Writer(queue))
    }

    /// Hands in a job, and takes a ticket for it. A job for the same file that still waits is dropped.
    fn submit(&self, mut job: Job) -> u64 {
        let mut state = self.0.lock();
        state.tickets += 1;
        let ticket = state.tickets;
        if state.jobs.back().is_some_and(|(_, last)| last.path == job.path)
            && let Some((_, last)) = state.jobs.pop_back()
        {
            job.superseded.extend(last.superseded);
        }
        state.jobs.push_back((ticket, job));
        self.0.changed.notify_all();
        ticket
    }

    /// Waits until the job is done, but not longer than this.
    fn wait(&self, ticket: u64, longest: Duration) {
        let is_open = |state: &mut State| state.done < ticket;
        // Whatever became of the lock, the job does not depend on it.
        drop(self.0.changed.wait_timeout_while(self.0.lock(), longest, is_open));
    }

    /// Waits for all jobs, but not for ever.
    fn close(&self) {
        let mut state = self.0.lock();
        state.is_closed = true;
        let last = state.tickets;
        self.0.changed.notify_all();
        drop(state);
        self.wait(last, CLOSING_TIME);
    }
}

impl Queue {
    /// No code that can panic runs under the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, mut latest: SystemTime, warn: fn(&str)) {
        let mut is_failing = false;
        loop {
            let idle = |state: &mut State| state.jobs.is_empty() && !state.is_closed;
            let waited = self.changed.wait_while(self.lock(), idle);
            let next = waited.unwrap_or_else(PoisonError::into_inner).jobs.pop_front();
            let Some((ticket, job)) = next else { return };
            match job.run(&mut latest) {
                Ok(()) if is_failing => {
                    warn("games are saved again");
                    is_failing = false;
                }
                Err(error) if !is_failing && job.text.is_some() => {
                    warn(&format!("the game is not saved: cannot write {}: {error}", job.path.display()));
                    is_failing = true;
                }
                _ => {}
            }
            self.lock().done = ticket;
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_engine::EngineSettings;

    #[test]
    fn what_is_saved_last_has_the_latest_time_whatever_the_clock_says() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = |name: &str| folder.path().join(format!("{PREFIX}{name}.sgf"));
        let saved = |name: &str| fs::metadata(path(name)).unwrap().modified().unwrap();
        let save = |name: &str, latest: &mut SystemTime| {
            let job = Job { path: path(name), text: Some("(;SZ[4])".to_owned()), superseded: Vec::new() };
            job.run(latest).unwrap();
        };
        let mut latest = SystemTime::UNIX_EPOCH;
        let begin = SystemTime::now() - Duration::from_secs(60);
        save("z", &mut latest);
        assert!(
            saved("z") > begin && saved("z") == latest,
            "the time is that of the clock where that is later"
        );
        // The clock was an hour ahead, and has been set back.
        latest += Duration::from_secs(3600);
        let ahead = latest;
        fs::File::options().append(true).open(path("z")).unwrap().set_modified(latest).unwrap();
        for name in ["y", "x", "y", "w"] {
            let before = latest;
            save(name, &mut latest);
            assert!(saved(name) > before && saved(name) == latest);
        }
        assert!(latest < ahead + Duration::from_secs(1), "it does not run away");
        let order: Vec<PathBuf> = unfinished(folder.path(), 9).into_iter().map(|game| game.path).collect();
        assert_eq!(order, ["w", "y", "x", "z"].map(path));
    }

    #[test]
    fn no_game_is_written_over_by_one_of_the_same_second() {
        let folder = tempfile::TempDir::new().unwrap();
        let engine = Engine::new(EngineSettings { threads: 1, memory_mebibytes: 1, ..Default::default() });
        let open = || Autosave::open(folder.path(), &engine, None, |_| ()).unwrap();
        // Two that had the same number within a second. That second may end in between, but not every time.
        let is_avoided = |_| {
            let first = open().new_path();
            fs::write(&first, "(;SZ[4])").unwrap();
            let second = open().new_path();
            assert!(!second.exists());
            second.to_string_lossy().ends_with("-2.sgf")
        };
        assert!((0..5).any(is_avoided));
    }
}
