//! Autosave: keeps the running game on the disk.
//!
//! Invariants, even if the process or the machine stops at any moment (`tests/autosave.rs` kills and resumes):
//!
//! * every file is a complete record;
//! * a change of the game is on the disk before the response to the command is sent, unless the disk takes longer than
//!   [`MAX_WRITE_WAIT`]; then the game continues, and the change is written later;
//! * a file is removed only when another one contains everything that it contained;
//! * among the files of successive processes, the one saved last has the latest time, even if the clock was set back;
//! * nothing is written before the folder could be listed, because the latest time is not known before.
//!
//! The writer survives a panic: that job has failed, and the next change of the game saves all of it.
//!
//! A record with a result belongs to a finished game. At most one file belongs to a game without moves, and a process
//! that ends normally leaves no such file.

use crate::files::{create_folders, disk, read_regular, write_atomically_with};
use crate::panics::caught;
use anyhow::Context;
use kosumi_engine::{CommentDetail, Engine, Revision};
use kosumi_go::board::{Color, Key, Move};
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::collection::RECORD_LIMIT;
use kosumi_go::sgf::{Meta, Record};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

#[cfg(test)]
mod simulation;

/// Maximum time that a response waits for the disk.
const MAX_WRITE_WAIT: Duration = Duration::from_millis(100);
/// Maximum time that the end of the process waits for the disk.
const CLOSING_TIME: Duration = Duration::from_secs(2);
/// Prefix of the names of autosave files. Other files in the folder are left alone.
const PREFIX: &str = "kosumi-";
/// Maximum number of files that are searched for unfinished games, the newest first.
const MAX_FILES: usize = 100;
/// Maximum number of names that are tried for a new file.
const MAX_NAMES: u32 = 100;
/// Difference between the times of successive files if the clock has been set back.
const TIME_STEP: Duration = Duration::from_millis(1);

/// Identity of a game. Two outlines that differ only in later moves may belong to the same game.
#[derive(Clone, PartialEq, Debug)]
struct GameOutline {
    start: (Key, Color, Rules, Option<u32>, u32),
    moves: Vec<(Color, Move)>,
    is_blank: bool,
}

impl GameOutline {
    fn of(game: &Game) -> GameOutline {
        let komi = game.komi().to_bits();
        GameOutline {
            start: (game.start().key(), game.start_to_move(), game.rules(), game.announced_handicap(), komi),
            moves: game.records().iter().map(|record| (record.color, record.mv)).collect(),
            is_blank: game.records().is_empty() && game.start().stone_count() == 0,
        }
    }

    fn of_record(record: &Record) -> Option<GameOutline> {
        let game = record.game(record.rules().unwrap_or_default(), 0.0, None).ok()?;
        Some(GameOutline::of(&game))
    }

    /// Returns whether this game contains everything that the other game contains.
    fn continues(&self, other: &GameOutline) -> bool {
        self.start == other.start && self.moves.starts_with(&other.moves)
    }
}

/// Game without a result, in a file.
#[derive(Debug)]
struct Unfinished {
    path: PathBuf,
    outline: GameOutline,
}

/// Saves the running game of an engine.
#[derive(Debug)]
pub struct Autosave {
    folder: PathBuf,
    writer: Writer,
    seen: Revision,
    /// Game in the current file.
    current: Option<Unfinished>,
    /// Earlier games that the running one may turn out to continue, because a controller that restarts sends all moves
    /// again.
    earlier: Vec<Unfinished>,
    files: u32,
    date: String,
}

impl Autosave {
    /// Starts saving changes into this folder. The current game is that of the file `resumed`, if this file is in the
    /// folder.
    ///
    /// # Errors
    ///
    /// Returns an error if no thread can be started. If the folder cannot be used, only a warning is given, and the
    /// game continues.
    pub fn open(
        folder: &Path,
        engine: &Engine,
        resumed: Option<&Path>,
        warn: fn(&str),
    ) -> anyhow::Result<Autosave> {
        // The directory entry of the file that an earlier process saved last may not be on the disk yet.
        let ready = create_folders(folder).and_then(|()| disk::sync_folder(folder));
        let listed = files(folder);
        if let Err(error) = ready.as_ref().and(listed.as_ref()) {
            warn(&format!("games are not saved: cannot use the folder {}: {error}", folder.display()));
        }
        let has_folder = ready.is_ok();
        let latest = listed.as_ref().ok().map(|files| latest_time(files));
        // A file that cannot be read is not continued or superseded, and stays.
        let game = |(_, path)| unfinished(path).ok()?.map(|(game, _)| game);
        let files = listed.unwrap_or_default().into_iter();
        let mut earlier: Vec<Unfinished> = files.take(MAX_FILES).filter_map(game).collect();
        let name = |path: &Path| disk::canonicalize(path).ok();
        let resumed = resumed.and_then(name);
        let position = earlier.iter().position(|game| resumed.is_some() && name(&game.path) == resumed);
        let current = position.map(|position| earlier.remove(position).path);
        let current = current.map(|path| Unfinished { path, outline: GameOutline::of(engine.game()) });
        Ok(Autosave {
            folder: folder.to_owned(),
            writer: Writer::start(latest, has_folder, warn).context("cannot start a thread")?,
            seen: engine.revision(),
            current,
            earlier,
            files: 0,
            date: today(),
        })
    }

    /// Saves the game if it has changed. Returns the time that this took.
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
        let outline = GameOutline::of(engine.game());
        let is_superseded = |game: &mut Unfinished| outline.continues(&game.outline);
        let superseded = self.earlier.extract_if(.., is_superseded).map(|game| game.path).collect();
        let path = match self.current.take() {
            Some(game) => game.path,
            None => self.new_path(),
        };
        let meta = Meta { date: Some(self.date.clone()), ..Meta::default() };
        let text = engine.record(CommentDetail::Brief, &meta).to_string();
        self.current = Some(Unfinished { path: path.clone(), outline });
        let ticket = self.writer.submit(Job { path, text: Some(text), superseded });
        if revision.change != before.change {
            self.writer.wait(ticket, MAX_WRITE_WAIT);
        }
        start.elapsed()
    }

    /// Starts a new game. Reuses the current file if its game has no moves.
    fn begin(&mut self) {
        if self.current.as_ref().is_some_and(|game| !game.outline.is_blank) {
            self.earlier.extend(self.current.take());
        }
        self.date = today();
    }

    fn new_path(&mut self) -> PathBuf {
        // Example: `20260131-235959`.
        let now = now().replace(['-', ':'], "").replace('T', "-");
        let first = self.files;
        loop {
            self.files += 1;
            // No other process has this process ID at present, but an earlier process may have used the name if the
            // clock was set back.
            let name = format!("{PREFIX}{now}-{}-{}.sgf", std::process::id(), self.files);
            let path = self.folder.join(name);
            // A name that cannot be looked up may be in use. If none can be looked up, none can be written either.
            if matches!(disk::exists(&path), Ok(false)) || self.files - first == MAX_NAMES {
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

/// Returns the current date in UTC: `2026-01-31`.
pub fn today() -> String {
    now().split('T').next().unwrap_or_default().to_owned()
}

/// Returns the current time in UTC: `2026-01-31T23:59:59`.
fn now() -> String {
    humantime::format_rfc3339_seconds(clock()).to_string().trim_end_matches('Z').to_owned()
}

#[cfg(not(test))]
fn clock() -> SystemTime {
    SystemTime::now()
}

#[cfg(test)]
use crate::simulation::date as clock;

/// Returns the unfinished game that was saved last in a folder. A folder that does not exist has none.
///
/// # Errors
///
/// Returns an error if the folder cannot be listed or a file cannot be read, because an earlier game might be taken for
/// the last one.
pub fn newest(folder: &Path) -> anyhow::Result<Option<(PathBuf, Record)>> {
    let files = files(folder).with_context(|| format!("cannot list the folder {}", folder.display()))?;
    for (_, path) in files.into_iter().take(MAX_FILES) {
        let about = format!("cannot read {}", path.display());
        if let Some((game, record)) = unfinished(path).context(about)? {
            return Ok(Some((game.path, record)));
        }
    }
    Ok(None)
}

/// Returns the autosave files in a folder with their modification times, the latest first. A folder that does not exist
/// has none.
fn files(folder: &Path) -> io::Result<Vec<(SystemTime, PathBuf)>> {
    let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let names = match disk::names(folder) {
        Err(error) if is_gone(&error) => Vec::new(),
        names => names?,
    };
    let mut files = Vec::new();
    for name in names.iter().filter(|name| name.starts_with(PREFIX) && name.ends_with(".sgf")) {
        let path = folder.join(name);
        match disk::modified_at(&path) {
            // Another process has removed it.
            Err(error) if is_gone(&error) => {}
            saved => files.push((saved?, path)),
        }
    }
    files.sort();
    files.reverse();
    Ok(files)
}

/// Returns the modification time of the latest of these files.
fn latest_time(files: &[(SystemTime, PathBuf)]) -> SystemTime {
    files.first().map_or(SystemTime::UNIX_EPOCH, |&(saved, _)| saved)
}

/// Reads a file. Returns `None` if it contains no record, or one of a finished game.
fn unfinished(path: PathBuf) -> io::Result<Option<(Unfinished, Record)>> {
    let bytes = match read_regular(&path, RECORD_LIMIT as u64) {
        Ok(bytes) => bytes,
        // It is gone, or has never been a file of this module.
        Err(error) if IS_NO_FILE.contains(&error.kind()) => return Ok(None),
        Err(error) => return Err(error),
    };
    let record = Record::parse(&bytes).ok().filter(|record| record.result.is_none());
    let outline = record.as_ref().and_then(GameOutline::of_record);
    Ok(outline.map(|outline| Unfinished { path, outline }).zip(record))
}

/// Errors of [`read_regular`] by which a path does not lead to a regular file of usual length.
const IS_NO_FILE: [io::ErrorKind; 4] = [
    io::ErrorKind::NotFound,
    io::ErrorKind::IsADirectory,
    io::ErrorKind::InvalidInput,
    io::ErrorKind::FileTooLarge,
];

/// Request to write or remove a file.
#[derive(Debug)]
struct Job {
    path: PathBuf,
    /// New content of the file; `None` removes it.
    text: Option<String>,
    /// Files to remove once this one is written.
    superseded: Vec<PathBuf>,
}

impl Job {
    /// Writes or removes the file. `latest` is the modification time of the file written last.
    fn run(&self, latest: &mut SystemTime) -> io::Result<()> {
        match &self.text {
            None => disk::remove(&self.path),
            Some(text) => write_later(&self.path, text, latest),
        }
    }
}

/// Writes a whole file with a modification time later than `latest`, and sets `latest` to it. After an error, the file
/// may be there nevertheless, so `latest` is then set as well.
fn write_later(path: &Path, text: &str, latest: &mut SystemTime) -> io::Result<()> {
    write_atomically_with(path, |output| {
        output.write_all(text.as_bytes())?;
        output.flush()?;
        let file = output.get_ref();
        let mut saved = disk::modified(file)?;
        if saved <= *latest {
            saved = latest.checked_add(TIME_STEP).unwrap_or(saved);
            // Files without a modification time, such as pipes, need none.
            let _ = file.set_modified(saved);
        }
        *latest = saved;
        Ok(())
    })
}

/// Thread that writes files, so that a slow disk does not delay the game.
#[derive(Debug)]
struct Writer(Arc<Queue>);

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Jobs with their tickets, in ascending order.
    jobs: VecDeque<(u64, Job)>,
    tickets: u64,
    /// Last ticket that is done. All jobs up to it are done, with or without success.
    done: u64,
    is_closed: bool,
}

/// What the thread that writes knows.
#[derive(Debug)]
struct Worker {
    queue: Arc<Queue>,
    /// Modification time of the latest file in the folder; `None` until the folder could be listed.
    latest: Option<SystemTime>,
    /// Whether the folder exists and its name is on the disk. Otherwise a power cut might lose all its files.
    has_folder: bool,
    /// Whether a warning says that games are not saved.
    is_failing: bool,
    warn: fn(&str),
}

impl Writer {
    fn start(latest: Option<SystemTime>, has_folder: bool, warn: fn(&str)) -> io::Result<Writer> {
        let queue = Arc::new(Queue::default());
        let is_failing = !has_folder || latest.is_none();
        let mut worker = Worker { queue: Arc::clone(&queue), latest, has_folder, is_failing, warn };
        #[cfg(test)]
        if simulation::is_simulated() {
            simulation::keep(worker);
            return Ok(Writer(queue));
        }
        thread::Builder::new().name("autosave".to_owned()).spawn(move || while worker.next() {})?;
        Ok(Writer(queue))
    }

    /// Adds a job to the queue and returns its ticket. Replaces a waiting job for the same file, unless that job
    /// supersedes other files: the game may have been undone since, so that the new text does not contain theirs.
    fn submit(&self, job: Job) -> u64 {
        let mut state = self.0.lock();
        state.tickets += 1;
        let ticket = state.tickets;
        let replaces = |last: &Job| last.path == job.path && last.superseded.is_empty();
        if state.jobs.back().is_some_and(|(_, last)| replaces(last)) {
            state.jobs.pop_back();
        }
        state.jobs.push_back((ticket, job));
        self.0.changed.notify_all();
        ticket
    }

    /// Waits until the job is done, but at most `longest`.
    fn wait(&self, ticket: u64, longest: Duration) {
        #[cfg(test)]
        if simulation::carry_out() {
            return;
        }
        let is_open = |state: &mut State| state.done < ticket;
        // A poisoned lock does not affect the job.
        drop(self.0.changed.wait_timeout_while(self.0.lock(), longest, is_open));
    }

    /// Waits for all jobs, but at most [`CLOSING_TIME`].
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
    /// Locks the state. A poisoned lock is harmless, because no code that can panic runs under it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Worker {
    /// Waits for the next job and carries it out. Returns false after the last one.
    fn next(&mut self) -> bool {
        let idle = |state: &mut State| state.jobs.is_empty() && !state.is_closed;
        let waited = self.queue.changed.wait_while(self.queue.lock(), idle);
        let next = waited.unwrap_or_else(PoisonError::into_inner).jobs.pop_front();
        let Some((ticket, job)) = next else { return false };
        // A response waits for the job, and later changes of the game must still be saved.
        if caught(|| self.carry_out(&job)).is_err() {
            self.is_failing = true;
        }
        self.queue.lock().done = ticket;
        self.queue.changed.notify_all();
        true
    }

    /// Carries out a job, after an attempt to synchronise and to list the folder if that has failed before.
    fn run(&mut self, job: &Job) -> io::Result<()> {
        let folder = job.path.parent().filter(|_| job.text.is_some());
        let ready = match folder.filter(|_| !self.has_folder) {
            Some(folder) => create_folders(folder),
            None => Ok(()),
        };
        self.has_folder |= job.text.is_some() && ready.is_ok();
        if let (None, Some(folder)) = (self.latest, folder) {
            self.latest = Some(latest_time(&files(folder)?));
        }
        // The file is written even if only its folder cannot be synchronised.
        let written = match &mut self.latest {
            Some(latest) => job.run(latest),
            // A file is removed, which needs no time.
            None => job.run(&mut SystemTime::UNIX_EPOCH.clone()),
        };
        ready.and(written)?;
        // A file that cannot be removed does no harm.
        job.superseded.iter().for_each(|path| disk::remove(path).unwrap_or_default());
        Ok(())
    }

    /// Carries out a job. Returns whether it succeeded.
    fn carry_out(&mut self, job: &Job) -> bool {
        let mut result = self.run(job);
        if result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) && self.has_folder {
            // The folder may have been removed, so it is created again.
            self.has_folder = false;
            result = self.run(job);
        }
        match &result {
            Ok(()) if self.is_failing => {
                (self.warn)("games are saved again");
                self.is_failing = false;
            }
            Err(error) if !self.is_failing && job.text.is_some() => {
                let path = job.path.display();
                (self.warn)(&format!("the game is not saved: cannot write {path}: {error}"));
                self.is_failing = true;
            }
            _ => {}
        }
        result.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Plan, SimulatedDisk};
    use kosumi_engine::EngineSettings;
    use std::fs;

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
        // The clock was an hour ahead and has now been set back.
        latest += Duration::from_secs(3600);
        let ahead = latest;
        fs::File::options().append(true).open(path("z")).unwrap().set_modified(latest).unwrap();
        for name in ["y", "x", "y", "w"] {
            let before = latest;
            save(name, &mut latest);
            assert!(saved(name) > before && saved(name) == latest);
        }
        assert!(latest < ahead + Duration::from_secs(1), "it does not run away");
        let order: Vec<PathBuf> = files(folder.path()).unwrap().into_iter().map(|(_, path)| path).collect();
        assert_eq!(order, ["w", "y", "x", "z"].map(path));
        assert_eq!(newest(folder.path()).unwrap().unwrap().0, path("w"));
    }

    /// Checks that files have different times although the disk fails after some of them got their names.
    #[test]
    fn what_is_saved_after_a_failure_has_a_later_time() {
        let mut failures = 0;
        for seed in 0..100 {
            let disk = SimulatedDisk::new(seed);
            // The clock has been set back, so each time is a step behind the one before.
            let mut latest = crate::simulation::date() + Duration::from_secs(3600);
            disk.restart(Plan { trouble: 100, ..Plan::default() });
            let paths: Vec<PathBuf> =
                (0..20).map(|number| disk.root().join(format!("{PREFIX}{number:02}.sgf"))).collect();
            for path in &paths {
                let text = Some("(;SZ[4])".to_owned());
                let job = Job { path: path.clone(), text, superseded: Vec::new() };
                failures += u32::from(job.run(&mut latest).is_err());
            }
            let times: Vec<SystemTime> =
                paths.iter().filter_map(|path| disk::modified_at(path).ok()).collect();
            assert!(times.is_sorted_by(|earlier, later| earlier < later), "seed {seed}: {times:?}");
        }
        assert!(failures > 100, "{failures}");
    }

    /// Checks that the game to resume is not an earlier one because a folder or a file cannot be read.
    #[test]
    fn what_cannot_be_read_is_not_missing() {
        let folder = tempfile::TempDir::new().unwrap();
        let (missing, file) = (folder.path().join("missing"), folder.path().join("file"));
        assert!(newest(&missing).unwrap().is_none() && newest(folder.path()).unwrap().is_none());
        fs::write(&file, "").unwrap();
        let error = format!("{:#}", newest(&file).unwrap_err());
        assert!(error.contains("cannot list the folder") && error.contains("file"), "{error}");
        // Folders, other texts and finished games are passed over.
        let [old, new, text, below] =
            ["old", "new", "text", "below"].map(|name| folder.path().join(format!("{PREFIX}{name}.sgf")));
        let mut latest = SystemTime::UNIX_EPOCH;
        for (path, content) in [(&old, "(;SZ[4])"), (&new, "(;SZ[4];B[aa])"), (&text, "no record")] {
            let job = Job { path: path.clone(), text: Some(content.to_owned()), superseded: Vec::new() };
            job.run(&mut latest).unwrap();
        }
        fs::create_dir(below).unwrap();
        assert_eq!(newest(folder.path()).unwrap().unwrap().0, new);
        let disk = SimulatedDisk::new(1);
        let path = |name: &str| disk.root().join(format!("{PREFIX}{name}.sgf"));
        for name in ["a", "b", "c"] {
            let job = Job { path: path(name), text: Some("(;SZ[4])".to_owned()), superseded: Vec::new() };
            job.run(&mut latest).unwrap();
        }
        disk.restart(Plan { trouble: 50, ..Plan::default() });
        let found: Vec<_> = (0..100).map(|_| newest(disk.root())).collect();
        assert!(found.iter().flatten().all(|found| found.as_ref().unwrap().0 == path("c")));
        let failures = found.iter().filter(|found| found.is_err()).count();
        assert!((10..90).contains(&failures), "{failures}");
    }

    /// Checks that the writer goes on after a panic, and that nobody waits for the job that panicked.
    #[test]
    fn the_writer_survives_a_panic() {
        fn faulty(_: &str) {
            std::panic::resume_unwind(Box::new("a faulty warning"));
        }
        let folder = tempfile::TempDir::new().unwrap();
        let (good, bad) = (folder.path().join("game.sgf"), folder.path().join("file/game.sgf"));
        fs::write(folder.path().join("file"), "").unwrap();
        let writer = Writer::start(Some(SystemTime::UNIX_EPOCH), true, faulty).unwrap();
        for path in [&bad, &good] {
            let job = Job { path: path.clone(), text: Some("(;SZ[4])".to_owned()), superseded: Vec::new() };
            writer.wait(writer.submit(job), Duration::from_secs(60));
        }
        assert!(good.exists() && !bad.exists());
    }

    #[test]
    fn file_names_are_unique_within_a_second() {
        let folder = tempfile::TempDir::new().unwrap();
        let engine = Engine::new(EngineSettings { threads: 1, memory_mebibytes: 1, ..Default::default() });
        let open = || Autosave::open(folder.path(), &engine, None, |_| ()).unwrap();
        // Two processes with the same file number within a second. The second may change in between, but not in all
        // five attempts.
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
