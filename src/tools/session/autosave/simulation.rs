//! Simulation of sessions with autosave, on a disk that fails and loses power.
//!
//! The commands, the engine, the records, autosave and the choice of the resumed game are the real ones. The disk, the
//! clock, the controller and the thread that writes are simulated: the thread works when a response waits for it, and
//! the disk may be slower than the response waits. Controllers play, undo, set komi and rules, begin games, send the
//! moves of an earlier game again, resign, and save and load records. A session goes through several lives, each of
//! which ends by a power cut, `kill -9`, or the end of the input. The clock may be set back between lives.
//!
//! A model keeps the contents that each file may have: what was written last with success, and what was written after
//! that. After each life:
//!
//! * every file has one of these contents, byte for byte, so no file is torn, and none is missing that was reported as
//!   saved;
//! * every game that was reported as saved is in its file, or in one that continues it;
//! * the game to resume is the unfinished one that was saved last, and the engine resumes all of it.

use super::*;
use crate::collections::read_game;
use crate::commands::Commands;
use crate::files::{Plan, SimulatedDisk, Stop};
use crate::simulation::{Counts, now as virtual_now, pass, run_seeds, set_now};
use kosumi_engine::EngineSettings;
use kosumi_go::board::BoardSize;
use kosumi_go::rng::Rng;
use kosumi_gtp::InputWatch;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Number of lives with faults.
const LIVES: u32 = 8;

thread_local! {
    static IS_SIMULATED: Cell<bool> = const { Cell::new(false) };
    /// The thread that writes.
    static WORKER: RefCell<Option<Worker>> = const { RefCell::new(None) };
    /// Number of jobs that the disk manages during the next wait.
    static JOBS: Cell<usize> = const { Cell::new(0) };
    /// Jobs that were carried out, and whether they succeeded.
    static DONE: RefCell<Vec<(Job, bool)>> = const { RefCell::new(Vec::new()) };
    static WARNINGS: Cell<u64> = const { Cell::new(0) };
}

/// Returns whether this thread runs a simulation.
pub(super) fn is_simulated() -> bool {
    IS_SIMULATED.get()
}

/// Keeps the worker, which then has no thread of its own.
pub(super) fn keep(worker: Worker) {
    WORKER.set(Some(worker));
}

/// Carries out jobs while a response waits, and returns true, if this thread runs a simulation.
pub(super) fn carry_out() -> bool {
    if !is_simulated() {
        return false;
    }
    WORKER.with_borrow_mut(|worker| {
        let worker = worker.as_mut().expect("a session");
        for _ in 0..JOBS.get() {
            let Some((ticket, job)) = worker.queue.lock().jobs.pop_front() else { return };
            let is_saved = worker.carry_out(&job);
            worker.queue.lock().done = ticket;
            DONE.with_borrow_mut(|done| done.push((job, is_saved)));
        }
    });
    true
}

fn warn(_: &str) {
    WARNINGS.set(WARNINGS.get() + 1);
}

/// Content of a file: the text, and its place in the order of all saves. `None` if the file does not exist.
type Content = Option<(String, u64)>;

/// Contents that each file may have. The last one is what the session wrote last, or has found.
#[derive(Default)]
struct Model {
    files: BTreeMap<PathBuf, Vec<Content>>,
    saves: u64,
}

impl Model {
    fn may_be(&mut self, path: &Path, content: Content) {
        self.files.entry(path.to_owned()).or_insert_with(|| vec![None]).push(content);
    }

    /// Notes an attempt to write a file.
    fn written(&mut self, path: &Path, text: &str, is_saved: bool) {
        self.saves += 1;
        let content = Some((text.to_owned(), self.saves));
        if is_saved {
            self.files.insert(path.to_owned(), vec![content]);
        } else {
            self.may_be(path, content);
        }
    }

    /// Returns the moves that the session wrote last to a file, or has found in it. If they could not be written, there
    /// was a warning.
    fn last_moves(&self, path: &Path) -> Vec<String> {
        let last = self.files.get(path).and_then(|contents| contents.last());
        last.and_then(Option::as_ref).map(|(text, _)| moves(text)).unwrap_or_default()
    }
}

/// Returns the moves of a record as text.
fn moves(text: &str) -> Vec<String> {
    let record = Record::parse(text.as_bytes()).expect("a record");
    record
        .nodes
        .iter()
        .flat_map(|node| node.moves.iter())
        .map(|mv| format!("{:?} {:?}", mv.color, mv.mv))
        .collect()
}

struct Simulated<'c> {
    disk: SimulatedDisk,
    folder: PathBuf,
    /// File of the commands `savesgf` and `loadsgf`.
    own: PathBuf,
    model: Model,
    /// Moves of earlier games, as commands.
    games: Vec<Vec<String>>,
    /// Whether the session has ended with a game without moves.
    is_blank: bool,
    /// Whether reads may fail.
    has_trouble: bool,
    rng: Rng,
    counts: &'c mut Counts,
}

impl<'c> Simulated<'c> {
    fn new(seed: u64, counts: &'c mut Counts) -> Simulated<'c> {
        let mut rng = Rng::new(seed);
        let disk = SimulatedDisk::new(rng.next_u64());
        let (folder, own) = (disk.root().join("some/games"), disk.root().join("own.sgf"));
        Simulated {
            disk,
            folder,
            own,
            model: Model::default(),
            games: vec![Vec::new()],
            is_blank: false,
            has_trouble: false,
            rng,
            counts,
        }
    }

    /// Draws the next commands of the controller.
    fn draw(&mut self, engine: &Engine) -> Vec<String> {
        let rng = &mut self.rng;
        let color = if engine.game().to_move() == Color::Black { "b" } else { "w" };
        let own = self.own.display();
        let one = match rng.below(40) {
            0..3 => "undo".to_owned(),
            3 => format!("komi {}", rng.below(9)),
            4 => format!("kata-set-rules {}", ["cgos", "aga", "japanese"][rng.below(3) as usize]),
            5..8 => "clear_board".to_owned(),
            8 => "time_left b 60 0".to_owned(),
            9..12 => format!("savesgf {own} brief"),
            12..14 => format!("loadsgf {own}"),
            14..16 => format!("play {color} pass"),
            16 => format!("play {color} resign"),
            17..20 => {
                // A controller that starts again sends all moves again.
                let game = &self.games[rng.below(self.games.len() as u32) as usize];
                return ["clear_board".to_owned()].into_iter().chain(game.iter().cloned()).collect();
            }
            _ => {
                let column = ["A", "B", "C"][rng.below(3) as usize];
                format!("play {color} {column}{}", 1 + rng.below(3))
            }
        };
        vec![one]
    }

    /// Begins a session as `kosumi gtp --autosave FOLDER --resume` does. Returns `None` if the folder or a file cannot be
    /// read, after which the process ends.
    fn open(&mut self) -> Option<(Commands, Autosave)> {
        let settings = EngineSettings { threads: 1, memory_mebibytes: 1, ..EngineSettings::default() };
        let mut engine = Engine::new(settings);
        engine.set_size(BoardSize::square(3).expect("a size"));
        let is_resumed = self.rng.chance(800);
        let found = if is_resumed { newest(&self.folder) } else { Ok(None) };
        if let Err(error) = &found {
            assert!(self.may_fail(), "{error:#}");
            self.counts.add("not resumed", 1);
        }
        let found = found.ok()?;
        if let Some((_, record)) = &found {
            engine.restore(record).expect("a game that can be resumed");
            let outline = GameOutline::of_record(record).expect("a game");
            assert_eq!(GameOutline::of(engine.game()), outline, "the resumed game");
            self.counts.add("resumed", 1);
        }
        let path = found.map(|(path, _)| path);
        WARNINGS.set(0);
        let autosave = Autosave::open(&self.folder, &engine, path.as_deref(), warn).expect("a worker");
        let is_current = autosave.current.is_some();
        assert!(is_current == path.is_some() || self.may_fail(), "the resumed game is the current one");
        // A session that can use the folder brings to the disk what it has found.
        self.seen(WARNINGS.get() == 0 && self.disk.stopped().is_none());
        Some((Commands::new(engine), autosave))
    }

    fn may_fail(&self) -> bool {
        self.has_trouble || self.disk.stopped().is_some()
    }

    fn live(&mut self) {
        let Some((mut commands, mut autosave)) = self.open() else { return };
        for _ in 0..self.rng.below(25) {
            for line in self.draw(commands.engine()) {
                self.command(&line, &mut commands, &mut autosave);
            }
            if self.disk.stopped().is_some() {
                break;
            }
        }
        JOBS.set(if self.rng.chance(900) { usize::MAX } else { self.rng.below(2) as usize });
        self.is_blank = commands.engine().game().records().is_empty();
        drop(autosave);
        self.note_done();
        self.is_blank = false;
        WORKER.set(None);
    }

    /// Answers a command, and saves the game as [`RecordedCommands`](super::super::RecordedCommands) does.
    fn command(&mut self, line: &str, commands: &mut Commands, autosave: &mut Autosave) {
        pass(Duration::from_millis(self.rng.below(1500).into()));
        let answer = kosumi_gtp::answer(line, commands, &InputWatch::default()).expect("a command");
        if line.starts_with("savesgf") {
            let text = commands.engine().record(CommentDetail::Brief, &Meta::default()).to_string();
            self.model.written(&self.own, &text, answer.is_ok());
            self.counts.add("saved by command", u64::from(answer.is_ok()));
        } else if line.starts_with("loadsgf") {
            let is_there = self.disk.read(&self.own).is_some();
            assert!(answer.is_ok() || !is_there || self.may_fail(), "{answer:?}");
            self.counts.add("loaded", u64::from(answer.is_ok()));
        } else if line == "clear_board" {
            self.games.push(Vec::new());
        } else if line.starts_with("play") && answer.is_ok() && !line.ends_with("resign") {
            self.games.last_mut().expect("a game").push(line.to_owned());
        }
        // The disk may be slower than the response waits.
        let is_slow = self.rng.chance(150);
        JOBS.set(if is_slow { self.rng.below(2) as usize } else { usize::MAX });
        let seen = autosave.seen;
        autosave.update(commands.engine());
        if commands.engine().revision().change != seen.change && !is_slow {
            let meta = Meta { date: Some(autosave.date.clone()), ..Meta::default() };
            let text = commands.engine().record(CommentDetail::Brief, &meta).to_string();
            let path = &autosave.current.as_ref().expect("a game").path;
            let is_it = |(job, _): &(Job, bool)| job.path == *path && job.text.as_ref() == Some(&text);
            assert!(DONE.with_borrow(|done| done.last().is_some_and(is_it)), "the response waits for {text}");
        }
        self.counts.add("slow", u64::from(is_slow));
        self.note_done();
    }

    /// Notes what the jobs have changed on the disk.
    fn note_done(&mut self) {
        for (job, is_done) in DONE.take() {
            let Some(text) = &job.text else {
                assert!(self.is_blank, "only a game without moves is removed");
                self.model.may_be(&job.path, None);
                continue;
            };
            self.model.written(&job.path, text, is_done);
            self.counts.add("saved", u64::from(is_done));
            if !is_done {
                assert!(WARNINGS.get() > 0, "a game is not saved without a warning");
                self.counts.add("warnings", 1);
                continue;
            }
            for path in &job.superseded {
                let earlier = self.model.last_moves(path);
                assert!(moves(text).starts_with(&earlier), "{text} has not all of {earlier:?}");
                self.model.may_be(path, None);
                self.counts.add("superseded", 1);
            }
        }
    }

    /// Returns the place of a file in the order of saves: the earliest and the latest that its content can have.
    fn place(&self, path: &Path, contents: &[Content]) -> Option<(u64, u64)> {
        let found = self.disk.read(path);
        let found = found.map(|bytes| String::from_utf8(bytes).expect("a text, not a torn file"));
        let is_it = |content: &&Content| content.as_ref().map(|(text, _)| text) == found.as_ref();
        let places: Vec<Option<u64>> =
            contents.iter().filter(is_it).map(|content| content.as_ref().map(|(_, save)| *save)).collect();
        assert!(!places.is_empty(), "{}: {found:?} is none of {contents:?}", path.display());
        let places = || places.iter().flatten().copied();
        Some((places().min()?, places().max()?))
    }

    /// Checks all files.
    fn check(&mut self) {
        let mut unfinished = Vec::new();
        for (path, contents) in &self.model.files {
            let Some((earliest, latest)) = self.place(path, contents) else { continue };
            let record = read_game(path).expect("a file that can be read");
            if path.starts_with(&self.folder) && record.result.is_none() {
                unfinished.push((path.clone(), earliest, latest));
            }
        }
        for name in disk::names(&self.folder).expect("names").iter().filter(|name| name.ends_with(".sgf")) {
            assert!(self.model.files.contains_key(&self.folder.join(name)), "{name} is unknown");
        }
        assert!(unfinished.len() < MAX_FILES, "more files than are searched");
        let found = newest(&self.folder).expect("a folder that can be read").map(|(path, _)| path);
        assert_eq!(found.is_none(), unfinished.is_empty(), "there is a game to resume");
        for (path, _, latest) in unfinished.iter().filter(|(path, ..)| Some(path) == found.as_ref()) {
            let is_last = unfinished.iter().all(|(other, earliest, _)| other == path || earliest < latest);
            assert!(
                is_last,
                "{} was not saved last: {unfinished:?} {:?}",
                path.display(),
                files(&self.folder)
            );
        }
    }

    /// Notes that a session has seen the files of the games as they are. If `they_stay`, they cannot have any other
    /// content from now on.
    fn seen(&mut self, they_stay: bool) {
        let mut files = std::mem::take(&mut self.model.files);
        for (path, contents) in files.iter_mut().filter(|(path, _)| **path != self.own) {
            let latest = self.place(path, contents).map(|(_, latest)| latest);
            let is_it = |content: &Content| content.as_ref().map(|(_, save)| *save) == latest;
            // The others come first, because the last one is what the session knows.
            contents.sort_by_key(is_it);
            if they_stay {
                contents.retain(is_it);
            }
        }
        self.model.files = files;
    }

    fn run(&mut self) {
        pass(Duration::from_secs(7200));
        for _ in 0..LIVES {
            let plan = Plan::draw(&mut self.rng, 250);
            self.has_trouble = plan.trouble > 0;
            self.disk.restart(plan);
            self.live();
            let stopped = self.disk.stopped();
            self.counts.add("lives", 1);
            self.counts.add("power cuts", u64::from(stopped == Some(Stop::Power)));
            self.counts.add("kills", u64::from(stopped == Some(Stop::Process)));
            self.has_trouble = false;
            self.disk.restart(Plan::default());
            self.check();
            if self.rng.chance(500) {
                set_now(virtual_now().saturating_sub(Duration::from_secs(self.rng.below(3600).into())));
                self.counts.add("clock set back", 1);
            }
        }
        self.live();
        self.check();
    }
}

#[test]
fn no_saved_game_is_lost() {
    let simulate = |seed, counts: &mut Counts| {
        IS_SIMULATED.set(true);
        DONE.take();
        Simulated::new(seed, counts).run();
        IS_SIMULATED.set(false);
    };
    let Some(counts) = run_seeds("session::autosave::simulation", 400, simulate) else { return };
    for what in [
        "power cuts",
        "kills",
        "resumed",
        "not resumed",
        "saved",
        "saved by command",
        "loaded",
        "superseded",
        "warnings",
        "slow",
        "clock set back",
    ] {
        assert!(counts.of(what) > 0, "{what}: {counts:?}");
    }
}
