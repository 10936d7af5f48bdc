//! Journals of matches and of self-play, and saved games, truncated and changed at any byte. They are resumed or
//! rejected, and never cause a panic. A rejected file is left unchanged. A resumed file can be resumed again and has
//! lost no complete game.
//!
//! ```text
//! RUSTC_BOOTSTRAP=1 cargo fuzz run resume -- -max_total_time=600 -detect_leaks=0
//! ```
#![no_main]

use kosumi_engine::{Engine, EngineSettings};
use kosumi_go::board::BoardSize;
use kosumi_go::rules::Rules;
use kosumi_gtp::{InputWatch, answer};
use kosumi_tools::commands::Commands;
use kosumi_tools::matches::{
    Conditions, Contender, Control, DeadStones, EvaluationComments, GameBoard, Match, Openings, Source,
    Storage,
};
use kosumi_tools::selfplay;
use kosumi_tools::session::newest;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tempfile::TempDir;

fn settings() -> EngineSettings {
    EngineSettings { threads: 1, memory_mebibytes: 1, playouts: Some(1), ..EngineSettings::default() }
}

fn conditions() -> Conditions {
    let contender = Contender::built_in("builtin", settings(), None);
    let boards = vec![GameBoard { size: BoardSize::square(5).expect("a size"), komi: 7.5 }];
    Conditions {
        contenders: [contender.clone(), contender],
        openings: Openings::load(&Source::None, 0, &boards, Rules::default(), 1).expect("no openings"),
        boards,
        rules: Rules::default(),
        time: None,
        margin: Duration::ZERO,
        unclocked_move_time: Duration::from_secs(1),
        source: Source::None,
        seed: 1,
        handicap: 0,
        dead: DeadStones::None,
        evaluation_comments: EvaluationComments::None,
        sprt: None,
    }
}

const GAMES: u32 = 4;

/// Journal of a complete match.
static MATCH: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut engine = Commands::new(Engine::new(settings()));
    let mut ask = |line: &str| {
        answer(line, &mut engine, &InputWatch::default()).expect("a command").expect("an answer")
    };
    let identity = json!({"name": ask("name").trim(), "version": ask("version").trim()});
    let settings = conditions().settings();
    let mut text = json!({"match": {"version": 1, "engines": [identity, identity], "settings": settings}})
        .to_string()
        + "\n";
    for number in 1..=GAMES {
        let game = json!({"game": {
            "number": number, "date": "2026-11-23T00:00:00Z", "size": "5x5", "komi": 7.5,
            "black": if number % 2 == 1 { "A" } else { "B" }, "opening": "none", "opening-moves": 0,
            "result": "B+R", "winner": "A", "ending": "resign", "final-scores": [null, null],
            "moves": ["C3", "B2"], "chosen": [1, 1], "seconds": [0.5, 0.25], "slowest": [0.5, 0.25],
            "overstep": [0.0, 0.0], "lag": [0.0, 0.0], "stray": [0, 0],
        }});
        text += &(game.to_string() + "\n");
    }
    text.into_bytes()
});

/// Segment of self-play.
static SELFPLAY: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let header = json!({"version": 1, "settings": {"seed": 1}, "finished": {"below": 0, "also": []}});
    let mut text = json!({"selfplay": header}).to_string() + "\n";
    for number in 0..GAMES {
        let thought = json!({"policy": [[12, 40000], [3, 25535]], "value": 0.25});
        let game = json!({"game": {
            "number": number, "size": [5, 5], "rules": "cgos", "komi": 7.5, "opening": 1,
            "turns": [{"mv": 12}, {"mv": 3, "thought": thought}, {"mv": 25}, {"mv": 25}],
            "strays": [{"ply": 1, "moves": [4], "thought": thought}], "ending": null,
        }});
        text += &(game.to_string() + "\n");
    }
    text.into_bytes()
});

const SAVED: &[u8] =
    b"(;GM[1]FF[4]CA[UTF-8]SZ[5:4]KM[6.5]RU[Japanese]HA[2]AB[aa][bb];W[cc];B[bc];W[];B[ca];W[ab])";

/// Returns a file with some changes.
fn corrupted(whole: &[u8], u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut bytes = whole.to_vec();
    for _ in 0..u.int_in_range(0..=3u8)? {
        if bytes.is_empty() {
            break;
        }
        let at = u.choose_index(bytes.len())?;
        match u.int_in_range(0..=6u8)? {
            0 | 1 => bytes.truncate(at),
            2 => bytes[at] = u.arbitrary()?,
            3 => bytes.insert(at, u.arbitrary()?),
            // Repeats a part, or removes one.
            4 => bytes.extend_from_within(at..),
            5 => drop(bytes.drain(..at)),
            // Replaces a digit by another number.
            _ => {
                let digits = bytes.iter().skip(at).position(u8::is_ascii_digit).map(|skip| at + skip);
                let number =
                    u.choose(&["0", "4294967295", "-1", "1e39", "65535", "255", "99999999999999999999"])?;
                if let Some(digit) = digits {
                    bytes.splice(digit..=digit, number.bytes());
                }
            }
        }
    }
    Ok(bytes)
}

fn check_match(folder: &Path, bytes: &[u8]) {
    let log = folder.join("match.jsonl");
    fs::write(&log, bytes).expect("a file");
    let storage = Storage { log: Some(log.clone()), resume: true, records: None };
    let open = || Match::open(conditions(), GAMES, &storage, Arc::new(Control::default()));
    match open() {
        Err(error) => {
            assert!(!format!("{error:#}").is_empty());
            assert_eq!(fs::read(&log).expect("the log"), bytes, "refused, but changed");
        }
        Ok(first) => {
            let games = first.summary().games.clone();
            let _ = kosumi_tools::matches::json(first.summary(), first.conditions());
            let _ = kosumi_tools::matches::html(first.summary(), first.conditions(), None);
            let _ = first.summary().to_string();
            drop(first);
            let again = open().expect("a resumed journal can be resumed again");
            assert_eq!(again.summary().games, games);
            // Every complete line in order is kept, except those after a truncated one.
            let lines = bytes.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n"));
            let complete = lines
                .filter(|line| {
                    serde_json::from_slice::<Value>(line).is_ok_and(|line| line.get("game").is_some())
                })
                .count();
            assert!(games.len() >= complete, "{} of {complete} games", games.len());
        }
    }
}

fn selfplay(folder: &Path, bytes: &[u8]) {
    let log = folder.join("games-00000.jsonl");
    fs::write(&log, bytes).expect("a file");
    let settings: Map<String, Value> = json!({"seed": 1}).as_object().expect("an object").clone();
    let open = || {
        selfplay::LogSegment::open(selfplay::LogStorage {
            folder: folder.to_owned(),
            prefix: "selfplay",
            shard: 1000,
            sgf: false,
            settings: settings.clone(),
            seed: 1,
        })
    };
    match open() {
        Err(error) => assert!(!format!("{error:#}").is_empty()),
        Ok(segment) => {
            let finished = segment.finished().clone();
            drop(segment);
            assert_eq!(*open().expect("a resumed journal can be resumed again").finished(), finished);
        }
    }
}

fn saved(folder: &Path, bytes: &[u8]) {
    fs::write(folder.join("kosumi-1.sgf"), bytes).expect("a file");
    if let Some((_, record)) = newest(folder).expect("a folder that can be read") {
        let game = record.game(Rules::default(), 7.5, None).expect("what was read leads to a game");
        game.board().check_consistency();
    }
}

fuzz_target!(|input: &[u8]| {
    let mut u = Unstructured::new(input);
    let Ok(kind) = u.int_in_range(0..=5u8) else { return };
    let whole: &[u8] = [&MATCH, &SELFPLAY, SAVED][usize::from(kind % 3)];
    let bytes = match kind {
        0..=2 => corrupted(whole, &mut u).unwrap_or_default(),
        _ => u.take_rest().to_vec(),
    };
    let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).expect("a folder");
    match kind % 3 {
        0 => check_match(folder.path(), &bytes),
        1 => selfplay(folder.path(), &bytes),
        _ => saved(folder.path(), &bytes),
    }
});
