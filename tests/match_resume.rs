//! Matches as a process, which are interrupted in every way, resumed, and finally complete.

use kosumi_go::rng::Rng;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

struct Scratch(TempDir);

impl Scratch {
    fn new() -> Scratch {
        Scratch(TempDir::new().unwrap())
    }

    fn log(&self) -> PathBuf {
        self.0.path().join("log.jsonl")
    }

    /// Returns the games of the log, in its order.
    fn games(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.log()).unwrap_or_default();
        // While the match runs, the last line may be incomplete.
        let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        lines.filter_map(|line| serde_json::from_str::<Value>(line).unwrap().get("game").cloned()).collect()
    }

    fn numbers(&self) -> Vec<u64> {
        self.games().iter().map(|game| game["number"].as_u64().unwrap()).collect()
    }
}

/// Returns a command for `kosumi match` on a small board, with log and records in the folder.
fn command(folder: &Path, a: &str, b: &str, options: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kosumi"));
    command.current_dir(folder);
    command.args(["match", a, b, "--size", "5", "--log", "log.jsonl", "--sgf", "games"]);
    command.args(options.split_whitespace());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

const QUICK: &str = "builtin:no-model,playouts=30";
const QUICKER: &str = "builtin:no-model,playouts=15";

fn run(mut command: Command) -> Output {
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Waits until the match has logged this number of games. Returns false if the match ended before.
fn wait_for(child: &mut Child, scratch: &Scratch, games: usize) -> bool {
    while scratch.games().len() < games {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
    true
}

fn records(scratch: &Scratch) -> BTreeSet<String> {
    let entries = fs::read_dir(scratch.0.path().join("games")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_killed_match_goes_on_and_loses_nothing() {
    let scratch = Scratch::new();
    const GAMES: usize = 24;
    // The engines of one side are processes, which must end when the match is killed.
    let kosumi =
        format!("'{}' gtp --no-model --threads 1 --memory 8 --playouts 15", env!("CARGO_BIN_EXE_kosumi"));
    let options = format!("--games {GAMES} --jobs 2 --resume");
    let mut last = 0;
    for step in [1, 6, 11, 16, 21] {
        let mut child = command(scratch.0.path(), QUICK, &kosumi, &options).spawn().unwrap();
        let is_running = wait_for(&mut child, &scratch, step);
        // This sends SIGKILL.
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_running, "it ended by itself");
        let numbers = scratch.numbers();
        assert!(numbers.len() >= last, "{numbers:?}");
        last = numbers.len();
        if step == 11 {
            // Simulates a crash of the machine in the middle of a line.
            let log = fs::read(scratch.log()).unwrap();
            fs::write(scratch.log(), &log[..log.len() - 40]).unwrap();
            last -= 1;
        }
    }
    let output =
        run(command(scratch.0.path(), QUICK, &kosumi, &format!("{options} --json all.json --html all.html")));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let games = scratch.games();
    let numbers: BTreeSet<u64> = games.iter().map(|game| game["number"].as_u64().unwrap()).collect();
    assert_eq!((games.len(), numbers.len()), (GAMES, GAMES), "none is lost, none is there twice");
    assert_eq!((numbers.first(), numbers.last()), (Some(&1), Some(&(GAMES as u64))));
    // The records are those of the games in the log: complete, with their results.
    let files = records(&scratch);
    for game in &games {
        let name = format!("game-{:04}.sgf", game["number"].as_u64().unwrap());
        let record = fs::read(scratch.0.path().join("games").join(&name)).unwrap();
        let record = kosumi_go::sgf::Record::parse(&record).unwrap();
        assert_eq!(record.result.as_deref(), game["result"].as_str(), "{name}");
        assert_eq!(record.move_count(), game["moves"].as_array().unwrap().len(), "{name}");
        assert!(files.contains(&name));
    }
    assert_eq!(files.iter().filter(|name| name.ends_with(".sgf")).count(), GAMES);
    // Both games of a pair begin with the same moves, with swapped colours.
    let by_number = |number: u64| games.iter().find(|game| game["number"] == number).unwrap();
    for first in (1..GAMES as u64).step_by(2) {
        let (one, other) = (by_number(first), by_number(first + 1));
        let opening = one["opening-moves"].as_u64().unwrap() as usize;
        assert!(opening > 0);
        let moves = |game: &Value| game["moves"].as_array().unwrap()[..opening].to_vec();
        assert_eq!((moves(one), &one["opening"]), (moves(other), &other["opening"]));
        assert_eq!((&one["black"], &other["black"]), (&Value::from("A"), &Value::from("B")));
    }
    let all: Value =
        serde_json::from_str(&fs::read_to_string(scratch.0.path().join("all.json")).unwrap()).unwrap();
    assert_eq!(all["all"]["games"], GAMES);
    assert!(fs::read_to_string(scratch.0.path().join("all.html")).unwrap().contains("games/game-0024.sgf"));
    // A further run has no games left to play and prints the same result.
    let again = run(command(scratch.0.path(), QUICK, &kosumi, &options));
    assert!(again.status.success());
    assert_eq!(scratch.games().len(), GAMES);
    let shown = text(&output.stdout);
    let (_, table) = shown.split_once("\nA: ").unwrap();
    assert_eq!(text(&again.stdout).strip_prefix("A: "), Some(table));
}

/// Kills a match after a random number of microseconds, which may be in the middle of a line or of a record, or before
/// the first game.
fn killed(moments: usize, seed: u64) {
    let mut rng = Rng::new(seed);
    let mut scratch = Scratch::new();
    let mut before = Vec::new();
    let (mut lost_to_the_kill, mut games) = (0, 0);
    for round in 0..moments {
        let options = "--games 400 --jobs 2 --resume --openings none";
        let mut child = command(scratch.0.path(), QUICKER, QUICKER, options).spawn().unwrap();
        thread::sleep(Duration::from_micros(rng.below(250_000).into()));
        // This sends SIGKILL, unless the match is complete.
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_ne!(output.status.code(), Some(1), "{round}: {}", text(&output.stderr));
        let torn = fs::read(scratch.log()).unwrap_or_default().last().is_some_and(|&last| last != b'\n');
        lost_to_the_kill += u32::from(torn);
        let now = scratch.games();
        assert_eq!(now[..before.len()], before[..], "{round}: what was there is there");
        let numbers: BTreeSet<u64> = scratch.numbers().into_iter().collect();
        assert_eq!(numbers.len(), now.len(), "{round}: none is there twice");
        let files = fs::read_dir(scratch.0.path().join("games")).into_iter().flatten();
        let files: BTreeSet<String> =
            files.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        for number in numbers {
            let name = format!("game-{number:04}.sgf");
            assert!(files.contains(&name), "{round}: {name}");
        }
        before = now;
        if before.len() >= 390 {
            games += before.len();
            (scratch, before) = (Scratch::new(), Vec::new());
        }
    }
    games += before.len();
    println!("{moments} kills, {lost_to_the_kill} of them in the middle of a line, {games} games");
}

#[test]
fn killed_at_any_moment_a_match_loses_nothing() {
    killed(10, 1);
}

/// Run it with `cargo test --profile checked --test program match_resume:: -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes"]
fn killed_at_a_thousand_moments_a_match_loses_nothing() {
    killed(1000, 2);
}

#[test]
fn other_settings_are_refused() {
    let scratch = Scratch::new();
    let first = run(command(scratch.0.path(), QUICK, QUICKER, "--games 2"));
    assert!(first.status.success(), "{}", text(&first.stderr));
    let log = fs::read(scratch.log()).unwrap();
    for (a, options, message) in [
        (QUICK, "--games 4", "--resume"),
        ("builtin:no-model,playouts=31", "--games 4 --resume", "a was builtin:no-model,playouts=30"),
        (QUICK, "--games 4 --resume --komi 5", "komi"),
        (QUICK, "--games 4 --resume --seed 2", "seed was 1, is 2"),
        (QUICK, "--games 4 --resume --sprt 0,10", "sprt was nothing"),
    ] {
        let output = run(command(scratch.0.path(), a, QUICKER, options));
        assert_eq!(output.status.code(), Some(1), "{options}");
        assert!(text(&output.stderr).contains(message), "{options}: {}", text(&output.stderr));
        assert_eq!(fs::read(scratch.log()).unwrap(), log, "{options}");
    }
    // The number of games may be increased.
    let longer = run(command(scratch.0.path(), QUICK, QUICKER, "--games 3 --jobs 2 --resume"));
    assert!(longer.status.success(), "{}", text(&longer.stderr));
    assert_eq!(scratch.numbers(), [1, 2, 3]);
    let wrong = run(command(scratch.0.path(), QUICK, QUICKER, "--games x"));
    assert_eq!(wrong.status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn an_interrupted_match_finishes_its_games() {
    let scratch = Scratch::new();
    let slow = "builtin:no-model,playouts=1500";
    let mut child = command(scratch.0.path(), slow, slow, "--games 1000 --jobs 2").spawn().unwrap();
    assert!(wait_for(&mut child, &scratch, 2));
    let pid = rustix::process::Pid::from_child(&child);
    let before = scratch.numbers().len();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("finished first"));
    let numbers = scratch.numbers();
    // Two games were in progress. On a busy machine, a few more may have started before the signal arrived.
    assert!((before + 1..=before + 10).contains(&numbers.len()), "{before} before, {numbers:?}");
    // All games that were begun are counted, so there are no gaps.
    let sorted: BTreeSet<u64> = numbers.iter().copied().collect();
    assert_eq!(sorted.into_iter().collect::<Vec<_>>(), (1..=numbers.len() as u64).collect::<Vec<_>>());
    let table = text(&output.stdout);
    let row = table.lines().find_map(|line| line.strip_prefix("all games"));
    let counted = row.and_then(|row| row.split_whitespace().next()).and_then(|count| count.parse().ok());
    assert_eq!(counted, Some(numbers.len()), "{table}");
}

#[cfg(unix)]
#[test]
fn a_second_interrupt_aborts_the_match() {
    let scratch = Scratch::new();
    // A move takes half a minute, and the test does not wait for such a game.
    let slow = format!("'{}' gtp --no-model --threads 1 --memory 8 --time 30", env!("CARGO_BIN_EXE_kosumi"));
    let mut child = command(scratch.0.path(), &slow, &slow, "--games 10 --jobs 2").spawn().unwrap();
    // The log begins before the games.
    while !fs::read_to_string(scratch.log()).unwrap_or_default().contains("\"match\"") {
        assert!(child.try_wait().unwrap().is_none());
        thread::sleep(Duration::from_millis(5));
    }
    let pid = rustix::process::Pid::from_child(&child);
    for _ in 0..2 {
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        thread::sleep(Duration::from_millis(300));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert_eq!(scratch.numbers(), Vec::<u64>::new());
    assert!(text(&output.stdout).contains("no games"));
}

#[test]
fn an_sprt_stops_at_its_verdict() {
    let scratch = Scratch::new();
    let options = "--games 400 --jobs 2 --sprt 0,400 --json sprt.json";
    let output = run(command(
        scratch.0.path(),
        "builtin:no-model,playouts=300",
        "builtin:no-model,playouts=2",
        options,
    ));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let value: Value =
        serde_json::from_str(&fs::read_to_string(scratch.0.path().join("sprt.json")).unwrap()).unwrap();
    let sprt = &value["sprt"];
    let pairs = sprt["verdict-after-pairs"].as_u64().unwrap();
    assert!(sprt["verdict"] == "H1" && (8..60).contains(&pairs), "{sprt}");
    // Games in progress are counted, and no further games of the 400 are begun. It depends on the machine how far one
    // worker gets ahead of the other.
    let games = scratch.numbers().len() as u64;
    assert!((2 * pairs..200).contains(&games), "{games} games, {pairs} pairs");
    assert_eq!(value["all"]["games"], games);
    // When it is resumed, the match finds the same verdict and plays no game.
    let again = run(command(
        scratch.0.path(),
        "builtin:no-model,playouts=300",
        "builtin:no-model,playouts=2",
        &format!("{options} --resume"),
    ));
    assert!(again.status.success());
    assert_eq!(scratch.numbers().len() as u64, games);
}

/// Engines with which a match cannot begin, with a part of the message.
const OF_A_SHELL: [(&str, &str); 2] = [
    ("true", "name"),
    (
        "sh -c 'while read -r c; do case $c in boardsize*) printf \"? no\\n\\n\";; *) printf \"= \\n\\n\";; esac; done'",
        "boardsize 5: refused: no",
    ),
];

#[test]
fn a_match_that_cannot_begin_says_why() {
    let scratch = Scratch::new();
    let mut engines = vec![("/no/such/engine", "cannot start A")];
    // On Windows there is neither `true` nor a shell.
    if cfg!(unix) {
        engines.extend(OF_A_SHELL);
    }
    for (engine, message) in engines {
        let _ = fs::remove_file(scratch.log());
        let output = run(command(scratch.0.path(), engine, QUICK, "--games 4"));
        assert_eq!(output.status.code(), Some(1), "{engine}");
        assert!(text(&output.stderr).contains(message), "{engine}: {}", text(&output.stderr));
        assert_eq!(scratch.numbers(), Vec::<u64>::new());
    }
}
