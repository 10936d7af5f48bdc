//! Simulation of matches in virtual time, with engines that misbehave, a disk that fails, and power cuts.
//!
//! The workers, the referee, the client of child processes, the log, the records and the table are the real ones. The
//! engines, their processes with their pipes, the clocks, the disk and the threads are simulated: the workers take turns
//! in the order of virtual time. Some engines run in the same process, as the built-in one does. A match is played in
//! several runs, each of which ends by a power cut, `kill -9`, an error, a panic of a worker or a stop. The last run has
//! no faults. After each run, of the games that were reported as stored:
//!
//! * each is in the log exactly once, as reported, and its record is complete;
//! * none is played again.
//!
//! An engine that can no longer respond loses the game that it plays, and an engine loses by a forfeit only if it has
//! misbehaved in a way that explains it. Records stay small, however much an engine writes.
//!
//! At the end, the match has all of its games and no others, and its table is the one that follows from the log.

mod engines;
mod process;

use super::conditions::{Conditions, EvaluationComments};
use super::contender::Contender;
use super::control::{Clocks, Control};
use super::fixtures;
use super::journal;
use super::openings::Source;
use super::record::GameRecord;
use super::referee::FinishedGame;
use super::run::{Match, MatchObserver, Storage};
use super::schedule::{Events, Worker, WorkerEvent};
use super::side::Side;
use super::summary::Summary;
use crate::files::{Plan, SimulatedDisk, Stop};
use crate::ranks::PieceQueue;
use crate::simulation::{self, Counts, run_seeds};
use crate::statistics::Sprt;
use engines::FaultRates;
pub(super) use engines::SimulatedEngines;
use kosumi_go::rng::Rng;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// Number of runs with faults.
const RUNS: u32 = 10;

/// Workers that take turns in virtual time.
struct SimulatedWorkers<'s> {
    games: &'s PieceQueue,
    /// Workers with the times at which they continue.
    workers: Vec<(Duration, Worker)>,
    /// Events by time.
    events: BTreeMap<(Duration, u64), WorkerEvent>,
    count: u64,
    rng: Rng,
    engines: &'s [SimulatedEngines; 2],
    /// All games that were played in all runs, with their records.
    played: &'s mut Vec<(GameRecord, String)>,
}

/// Maximum size of a record of a game, in bytes.
const MAX_RECORD_BYTES: usize = 20_000;

/// Checks that the end of a game follows from what the engines did. They were used last in this game.
fn check_game(game: &FinishedGame, engines: &[SimulatedEngines; 2]) {
    let FinishedGame { record, sgf } = game;
    for side in Side::BOTH {
        let is_forfeit = record.ending.is_forfeit();
        let has_lost = is_forfeit && record.winner == Some(side.other());
        let has_won = is_forfeit && record.winner == Some(side);
        engines[side as usize].check_game(record.ending, has_lost, has_won);
    }
    let line = serde_json::to_string(record).expect("JSON");
    assert!(line.len().max(sgf.len()) <= MAX_RECORD_BYTES, "{} and {} bytes", line.len(), sgf.len());
}

impl Events for SimulatedWorkers<'_> {
    fn next(&mut self, wait: Duration) -> Result<WorkerEvent, RecvTimeoutError> {
        if self.rng.chance(50) {
            simulation::pass(wait);
            return Err(RecvTimeoutError::Timeout);
        }
        loop {
            let earliest = (0..self.workers.len()).min_by_key(|&index| self.workers[index].0);
            let next_event = self.events.keys().next().map(|&(time, _)| time);
            match earliest {
                Some(index) if next_event.is_none_or(|time| self.workers[index].0 < time) => {
                    let (time, worker) = &mut self.workers[index];
                    simulation::set_now(*time);
                    let event = worker.next_event(self.games);
                    *time = simulation::now();
                    match event {
                        Some(event) => {
                            if let WorkerEvent::Finished(game) = &event {
                                check_game(game, self.engines);
                                self.played.push((game.record.clone(), game.sgf.clone()));
                            }
                            self.events.insert((*time, self.count), event);
                            self.count += 1;
                        }
                        None => self.workers.remove(index).1.quit(),
                    }
                }
                _ => {
                    let Some(((time, _), event)) = self.events.pop_first() else {
                        return Err(RecvTimeoutError::Disconnected);
                    };
                    simulation::set_now(time);
                    return Ok(event);
                }
            }
        }
    }
}

/// Games that the match reported as stored.
struct StoredGames<'s> {
    disk: &'s SimulatedDisk,
    reported: &'s mut BTreeMap<u32, GameRecord>,
}

impl MatchObserver for StoredGames<'_> {
    fn finished(&mut self, game: &GameRecord, summary: &Summary) -> anyhow::Result<()> {
        // After the disk has stopped, the process no longer exists, so nothing is reported.
        if self.disk.stopped().is_none() {
            let before = self.reported.insert(game.number, game.clone());
            assert!(before.is_none(), "game {} was stored before", game.number);
            assert!(self.reported.keys().all(|number| summary.games.contains_key(number)));
        }
        Ok(())
    }

    fn annulled(&mut self, _: u32, _: &str) -> anyhow::Result<()> {
        Ok(())
    }
}

struct Simulated<'c> {
    disk: SimulatedDisk,
    conditions: Conditions,
    engines: [SimulatedEngines; 2],
    games: u32,
    storage: Storage,
    reported: BTreeMap<u32, GameRecord>,
    played: Vec<(GameRecord, String)>,
    rng: Rng,
    counts: &'c mut Counts,
}

impl<'c> Simulated<'c> {
    fn new(seed: u64, counts: &'c mut Counts) -> Simulated<'c> {
        let mut rng = Rng::new(seed);
        let disk = SimulatedDisk::new(rng.next_u64());
        let engines = [0, 1].map(|_| SimulatedEngines::new(rng.next_u64(), rng.chance(700)));
        let contenders = [0, 1].map(|index| Contender::simulated(["a", "b"][index], engines[index].clone()));
        let conditions = Conditions {
            contenders,
            time: rng.chance(500).then(|| super::parse_clock("absolute 60").expect("a time control")),
            seed: rng.next_u64() >> 12,
            evaluation_comments: EvaluationComments::None,
            sprt: rng.chance(200).then(|| Sprt::parse("-300,300,0.4,0.4").expect("a test")),
            ..fixtures::conditions(&[3, 4, 5][..1 + rng.below(3) as usize], Source::None)
        };
        let games = 1 + rng.below(24);
        let storage = Storage {
            log: Some(disk.root().join("log.jsonl")),
            resume: true,
            records: rng.chance(800).then(|| disk.root().join("records/of/games")),
        };
        let (reported, played) = (BTreeMap::new(), Vec::new());
        Simulated { disk, conditions, engines, games, storage, reported, played, rng, counts }
    }

    /// Plays one run. Returns the match, and whether the user stopped it.
    fn run_once(&mut self, rates: [FaultRates; 2]) -> anyhow::Result<(Match, bool)> {
        let clocks = Clocks { time: simulation::now, date: simulation::date, pause: simulation::pass };
        let control = Arc::new(Control { clocks, ..Control::default() });
        for (engines, rates) in self.engines.iter().zip(rates) {
            engines.begin_run(rates, &control);
        }
        let mut playing =
            Match::open(self.conditions.clone(), self.games, &self.storage, Arc::clone(&control))?;
        let (first, games) = playing.take_work();
        let count = if first.is_some() { 1 + self.rng.below(4) } else { 0 };
        let mut first = first;
        let worker = |_| {
            let worker = Worker::new(Arc::new(self.conditions.clone()), Arc::clone(&control), first.take());
            (simulation::now(), worker)
        };
        let workers = (0..count).map(worker).collect();
        let (rng, played) = (Rng::new(self.rng.next_u64()), &mut self.played);
        let (engines, events) = (&self.engines, BTreeMap::new());
        let mut simulated =
            SimulatedWorkers { games: &games, workers, events, count: 0, rng, engines, played };
        let mut stored = StoredGames { disk: &self.disk, reported: &mut self.reported };
        let (result, _) = playing.follow(&mut simulated, &games, &mut stored);
        result.map(|()| (playing, control.is_stopped()))
    }

    /// Checks the files against the reported games. Returns the content of the log.
    fn check_files(&mut self) -> journal::LogContent {
        let log = self.storage.log.as_ref().expect("a log");
        let bytes = self.disk.read(log).unwrap_or_default();
        let (past, complete) =
            journal::read(&bytes).unwrap_or_else(|error| panic!("{error:#}: {}", bytes.escape_ascii()));
        self.counts.add("torn lines", u64::from(complete < bytes.len()));
        for (number, reported) in &self.reported {
            let stored = past.games.iter().filter(|game| game.number == *number).collect::<Vec<_>>();
            assert_eq!(stored.len(), 1, "game {number} was reported as stored");
            let facts =
                |game: &GameRecord| (game.date.clone(), game.moves.clone(), game.result.clone(), game.ending);
            assert_eq!(facts(stored[0]), facts(reported));
        }
        for game in &past.games {
            let is_same = |played: &&(GameRecord, String)| {
                played.0.number == game.number && played.0.date == game.date && played.0.moves == game.moves
            };
            let (_, sgf) = self.played.iter().find(is_same).expect("a game that was played");
            let plan = self.conditions.plan(game.number);
            assert_eq!((game.size.as_str(), game.black), (plan.board.size_text().as_str(), plan.black));
            if let Some(folder) = &self.storage.records {
                let record = self.disk.read(&folder.join(super::files::file_name(game.number)));
                let record = record.unwrap_or_else(|| panic!("the record of game {} is lost", game.number));
                assert_eq!(String::from_utf8_lossy(&record), *sgf, "the record of game {}", game.number);
            }
        }
        past
    }

    fn run(&mut self) {
        for _ in 0..RUNS {
            let plan = Plan::draw(&mut self.rng, 60);
            let may_fail = plan.trouble > 0;
            self.disk.restart(plan);
            let rates = [0, 1].map(|_| FaultRates::draw(&mut self.rng));
            let result = self.run_once(rates);
            self.counts.add("runs", 1);
            let stopped = self.disk.stopped();
            self.counts.add("power cuts", u64::from(stopped == Some(Stop::Power)));
            self.counts.add("kills", u64::from(stopped == Some(Stop::Process)));
            if let (Err(error), None) = (&result, stopped) {
                let text = format!("{error:#}");
                let is_expected = text.contains("does not start")
                    || text.contains("cannot begin")
                    || text.contains("cannot start")
                    || text.contains("has panicked")
                    || may_fail && ["simulated error", "no storage"].iter().any(|part| text.contains(part));
                assert!(is_expected, "{text}");
                self.counts.add("errors", 1);
                self.counts.add("panics", u64::from(text.contains("has panicked")));
            }
            if let (Ok((playing, false)), None) = (&result, stopped) {
                assert!(playing.is_complete(), "nothing has stopped the match");
            }
            drop(result);
            self.disk.restart(Plan::default());
            self.check_files();
        }
        self.counts.add("games before the end", self.reported.len() as u64);
        let (last, _) = self.run_once(Default::default()).expect("a run without faults");
        assert!(last.is_complete());
        let missing = last.records_missing();
        let past = self.check_files();
        let numbers: Vec<u32> = last.summary().games.keys().copied().collect();
        let all: Vec<u32> = (1..=self.games).collect();
        if !last.summary().is_decided() {
            assert_eq!(numbers, all);
        }
        assert!(numbers.iter().all(|number| all.contains(number)) && past.games.len() == numbers.len());
        assert_eq!(missing, 0, "records of games in the log");
        let mut table = Summary::new(Default::default(), &self.conditions);
        past.games.iter().for_each(|game| table.add(game));
        let figures =
            |summary: &Summary| format!("{:?} {:?} {:?}", summary.all, summary.boards, summary.repeats());
        assert_eq!(figures(last.summary()), figures(&table), "the table is that of the log");
        assert_eq!(last.summary().annulled, past.annulled);
        self.counts.add("games", self.games.into());
        self.counts.add("annulled", past.annulled.into());
        self.counts.add("forfeits", past.games.iter().filter(|game| game.ending.is_forfeit()).count() as u64);
        self.counts.add("decided", u64::from(last.summary().is_decided()));
    }
}

#[test]
fn a_match_survives_everything() {
    let simulate = |seed, counts: &mut Counts| Simulated::new(seed, counts).run();
    let Some(counts) = run_seeds("matches::simulation", 60, simulate) else { return };
    for what in [
        "power cuts",
        "kills",
        "errors",
        "panics",
        "torn lines",
        "games before the end",
        "annulled",
        "forfeits",
        "decided",
    ] {
        assert!(counts.of(what) > 0, "{what}: {counts:?}");
    }
}
