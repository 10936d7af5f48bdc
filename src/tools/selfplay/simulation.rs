//! Simulation of self-play runs on a disk that fails, with power cuts.
//!
//! The log, its segments, the shards and the SGF files are the real ones. The disk, the games and their order are
//! simulated: the games are random, and several workers end them nearly in the order of their numbers. A run goes
//! through several runs, each of which ends by a power cut, `kill -9`, an error or a stop. The last run has no
//! faults. After each run:
//!
//! * every game that was reported as stored is in the log once, as it was played, and none is played again;
//! * the shard of a closed segment has exactly the games of its segment, byte for byte; the shard of the last segment
//!   has the games that it had at some earlier moment, or is absent. SGF files behave like shards.
//!
//! At the end, all games and all shards exist.

use super::log_segment::{LogSegment, LogStorage, log_path};
use super::{Ending, PlayedGame, PositionTargets, Turn};
use crate::files::{Plan, SimulatedDisk, Stop};
use crate::shards::encode;
use crate::simulation::{Counts, run_seeds};
use crate::training::{Shard, move_index};
use kosumi_go::board::{BoardSize, Move};
use kosumi_go::game::Game;
use kosumi_go::rng::Rng;
use kosumi_go::rules::Rules;
use kosumi_net::Features;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Number of runs with faults.
const RUNS: u32 = 8;

/// Returns the game with this number: random moves, at some of which there are training positions.
fn play(seed: u64, number: u32) -> PlayedGame {
    let mut rng = Rng::for_worker(seed, number as usize);
    let (columns, rows) = (2 + rng.below(2) as u8, 2 + rng.below(2) as u8);
    let size = BoardSize::new(columns.into(), rows.into()).expect("a size");
    let rules = "tromp-taylor";
    let mut game = Game::new(size, Rules::preset(rules).expect("rules").rules, 0.5);
    let mut turns = Vec::new();
    for _ in 0..1 + rng.below(12) {
        let points: Vec<_> = size.points().collect();
        let mv = Move::Play(points[rng.below(points.len() as u32) as usize]);
        let mv = if game.check(game.to_move(), mv).is_ok() { mv } else { Move::Pass };
        if game.is_over() {
            break;
        }
        let targets = PositionTargets::new(size, &[(mv, 1.0)], rng.unit() as f32);
        turns.push(Turn { mv: move_index(size, mv), targets: rng.chance(400).then_some(targets) });
        game.play(game.to_move(), mv).expect("a legal move");
    }
    let owners: String = (0..size.area()).map(|_| ['#', 'O', '.'][rng.below(3) as usize]).collect();
    PlayedGame {
        number,
        size: (columns, rows),
        rules: rules.to_owned(),
        komi: 0.5,
        handicap: Vec::new(),
        opening: 1,
        turns,
        off_policy: Vec::new(),
        ending: rng.chance(900).then_some(Ending { score: rng.below(9) as f32 - 4.5, owners }),
    }
}

struct Simulated<'c> {
    disk: SimulatedDisk,
    storage: LogStorage,
    games: u32,
    seed: u64,
    /// Games that were reported as stored.
    reported: BTreeMap<u32, PlayedGame>,
    rng: Rng,
    counts: &'c mut Counts,
}

impl<'c> Simulated<'c> {
    fn new(seed: u64, counts: &'c mut Counts) -> Simulated<'c> {
        let mut rng = Rng::new(seed);
        let disk = SimulatedDisk::new(rng.next_u64());
        let storage = LogStorage {
            folder: disk.root().join("run"),
            prefix: "training-selfplay",
            shard: 1 + rng.below(12) as usize,
            sgf: rng.chance(500),
            settings: Map::from_iter([("seed".to_owned(), Value::from(seed))]),
            seed,
        };
        let games = 1 + rng.below(24);
        Simulated { disk, storage, games, seed, reported: BTreeMap::new(), rng, counts }
    }

    /// Plays missing games until the process ends, as `kosumi selfplay` does.
    fn run_once(&mut self, most: usize) -> anyhow::Result<()> {
        let mut segment = LogSegment::open(self.storage.clone())?;
        let mut missing: Vec<u32> = (0..self.games).filter(|&game| !segment.finished().has(game)).collect();
        // Games end nearly in the order of their numbers.
        for _ in 0..missing.len().min(most) {
            let number = missing.remove(self.rng.below(missing.len().min(4) as u32) as usize);
            let game = play(self.seed, number);
            segment.add(game.clone())?;
            if self.disk.stopped().is_none() {
                assert!(self.reported.insert(number, game).is_none(), "game {number} was stored before");
            }
        }
        segment.write_shard()
    }

    /// Checks the files against the reported games. If `is_complete` is set, the shard of the last segment must exist
    /// with all its games.
    fn check_files(&mut self, is_complete: bool) {
        let folder = &self.storage.folder;
        let mut segments = Vec::new();
        while let Some(bytes) = self.disk.read(&log_path(folder, segments.len() as u32)) {
            segments.push(bytes);
        }
        let mut stored = BTreeMap::new();
        let last = segments.len().saturating_sub(1);
        for (number, bytes) in segments.iter().enumerate() {
            let games = games_of(bytes);
            for game in &games {
                assert!(
                    stored.insert(game.number, game.clone()).is_none(),
                    "game {} is there twice",
                    game.number
                );
                assert_eq!(*game, play(self.seed, game.number), "a game as it was played");
            }
            let shard = self.disk.read(&folder.join(format!("{}-{number:05}.npz", self.storage.prefix)));
            let records = self.disk.read(&log_path(folder, number as u32).with_extension("sgf"));
            // The last segment may have grown since.
            let is_open = number == last && !is_complete;
            let least = if is_open { 0 } else { games.len() };
            let states = || (least..=games.len()).rev().map(|count| &games[..count]);
            let may_lack = is_open || games.is_empty();
            match shard {
                Some(shard) => {
                    let is_one = states().any(|games| self.shard_of(number, games) == shard);
                    let numbers: Vec<u32> = games.iter().map(|game| game.number).collect();
                    assert!(is_one, "the shard of segment {number} of {last} has not games {numbers:?}");
                    self.counts.add("shards", 1);
                }
                None => assert!(may_lack, "the shard of segment {number} is lost"),
            }
            match records {
                Some(records) => {
                    let text = |games: &[PlayedGame]| -> String {
                        games.iter().map(|game| super::log_segment::record(game).expect("a record")).collect()
                    };
                    assert!(
                        states().any(|games| text(games).as_bytes() == records),
                        "the records of segment {number}"
                    );
                }
                None => assert!(may_lack || !self.storage.sgf, "the records of segment {number} are lost"),
            }
        }
        for (number, game) in &self.reported {
            assert_eq!(stored.get(number), Some(game), "game {number} was reported as stored");
        }
        if is_complete {
            assert!(stored.keys().copied().eq(0..self.games));
        }
    }

    fn shard_of(&self, number: usize, games: &[PlayedGame]) -> Vec<u8> {
        let (mut shard, mut features) = (Shard::new(), Features::default());
        for game in games {
            let examples =
                game.examples(&mut |game: &Game| encode(&mut features, game)).expect("a sound game");
            examples.into_iter().for_each(|example| shard.push(example));
        }
        shard.shuffle(&mut Rng::for_worker(self.storage.seed, number));
        shard.write(Vec::new()).expect("bytes")
    }

    fn run(&mut self) {
        for _ in 0..RUNS {
            let plan = Plan::draw(&mut self.rng, 80);
            let may_fail = plan.trouble > 0;
            self.disk.restart(plan);
            let most = self.rng.below(20) as usize;
            let result = self.run_once(most);
            let stopped = self.disk.stopped();
            self.counts.add("runs", 1);
            self.counts.add("power cuts", u64::from(stopped == Some(Stop::Power)));
            self.counts.add("kills", u64::from(stopped == Some(Stop::Process)));
            if let (Err(error), None) = (&result, stopped) {
                let text = format!("{error:#}");
                let is_expected = ["simulated error", "no storage"].iter().any(|part| text.contains(part));
                assert!(may_fail && is_expected, "{text}");
                self.counts.add("errors", 1);
            }
            self.disk.restart(Plan::default());
            self.check_files(false);
        }
        self.counts.add("games before the end", self.reported.len() as u64);
        self.run_once(usize::MAX).expect("a run without faults");
        self.check_files(true);
        self.counts.add("games", self.games.into());
    }
}

/// Returns the games of a segment's log, without a torn last line.
fn games_of(bytes: &[u8]) -> Vec<PlayedGame> {
    let lines = crate::files::complete_lines::<Value>(bytes);
    let (lines, _) = lines.unwrap_or_else(|error| panic!("{error:#}: {}", bytes.escape_ascii()));
    let games = lines.into_iter().filter_map(|mut line| Some(line.get_mut("game")?.take()));
    games.map(|game| serde_json::from_value(game).expect("a game")).collect()
}

#[test]
fn a_run_survives_everything() {
    let simulate = |seed, counts: &mut Counts| Simulated::new(seed, counts).run();
    let Some(counts) = run_seeds("selfplay::simulation", 40, simulate) else { return };
    for what in ["power cuts", "kills", "errors", "shards", "games before the end"] {
        assert!(counts.of(what) > 0, "{what}: {counts:?}");
    }
}
