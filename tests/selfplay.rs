//! `kosumi selfplay` as a process: interrupted and resumed runs give the same games as uninterrupted ones.

use kosumi_go::rng::Rng;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// Temporary folder in which the program creates its output folder.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(TempDir::new().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("shards")
    }

    fn command(&self, games: u32, options: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kosumi"));
        command.args([
            "selfplay",
            "--no-model",
            "--sizes",
            "5,4x6:2",
            "--visits",
            "20",
            "--shard",
            "150",
            "--soft-resign",
            "1",
        ]);
        command.arg("--out").arg(self.path()).args(["--games", &games.to_string()]);
        command.args(options.split_whitespace());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, games: u32, options: &str) -> String {
        let output = self.command(games, options).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Returns the contents of all files whose names end like this, by name.
    fn files(&self, end: &str) -> BTreeMap<String, Vec<u8>> {
        let Ok(entries) = fs::read_dir(self.path()) else { return BTreeMap::new() };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let wanted = names.filter(|name| name.ends_with(end));
        wanted.map(|name| (name.clone(), fs::read(self.path().join(name)).unwrap())).collect()
    }

    /// Returns the games of all logs by number. Torn lines are ignored.
    fn games(&self) -> BTreeMap<u64, Value> {
        let mut games = BTreeMap::new();
        for bytes in self.files(".jsonl").values() {
            for line in bytes.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n")) {
                let line: Value = serde_json::from_slice(line).unwrap();
                if let Some(game) = line.get("game") {
                    let twice = games.insert(game["number"].as_u64().unwrap(), game.clone());
                    assert!(twice.is_none(), "{game}");
                }
            }
        }
        games
    }
}

#[test]
fn a_killed_run_goes_on_and_loses_nothing() {
    const GAMES: u32 = 24;
    let (whole, halves) = (Folder::new(), Folder::new());
    whole.run(GAMES, "--threads 1");
    assert!(whole.files(".npz").len() > 2, "{:?}", whole.files(".npz").keys());

    for step in [2, 9, 15] {
        let mut child = halves.command(GAMES, "--threads 1").spawn().unwrap();
        while halves.games().len() < step {
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            // The process sends no event when it has written a game, so this waits.
            thread::sleep(Duration::from_millis(2));
        }
        // This sends SIGKILL.
        child.kill().unwrap();
        child.wait().unwrap();
        if step == 9 {
            // Simulates a crash of the machine in the middle of a line.
            let (name, bytes) = halves.files(".jsonl").pop_last().unwrap();
            fs::write(halves.path().join(name), &bytes[..bytes.len() - 30]).unwrap();
        }
    }
    halves.run(GAMES, "--threads 1");
    assert_eq!(halves.games(), whole.games());
    // With one thread, games end in the order of their numbers, so the files are equal as well.
    for end in [".jsonl", ".npz"] {
        assert!(halves.files(end) == whole.files(end), "{end}");
    }
}

/// Kills a run after a random number of microseconds, which may be while a shard is written, between two segments, or
/// before the first game.
fn killed(moments: usize, seed: u64) {
    let mut rng = Rng::new(seed);
    let mut folder = Folder::new();
    let (mut before, mut whole) = (BTreeMap::new(), 0);
    for round in 0..moments {
        let mut child = folder.command(60, "--threads 2").spawn().unwrap();
        // A random moment is the purpose of the test.
        thread::sleep(Duration::from_micros(rng.below(250_000).into()));
        // This sends SIGKILL, unless the run is complete.
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_ne!(output.status.code(), Some(1), "{round}: {}", String::from_utf8_lossy(&output.stderr));
        let now = folder.games();
        assert!(before.iter().all(|(number, game)| now.get(number) == Some(game)), "{round}");
        before = now;
        if before.len() == 60 {
            // The killed and resumed run equals an uninterrupted one.
            folder.run(60, "--threads 2");
            let undisturbed = Folder::new();
            undisturbed.run(60, "--threads 2");
            assert_eq!(folder.games(), undisturbed.games(), "{round}");
            (folder, before) = (Folder::new(), BTreeMap::new());
            whole += 1;
        }
    }
    println!("{moments} kills, {} games, {whole} runs to their end", 60 * whole + before.len());
}

#[test]
fn killed_at_any_moment_a_run_loses_nothing() {
    killed(10, 1);
}

/// Run it with `cargo test --profile checked --test program selfplay:: -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes"]
fn killed_at_a_thousand_moments_a_run_loses_nothing() {
    killed(1000, 2);
}

#[test]
fn threads_change_nothing_but_the_order_and_more_games_can_be_asked_for() {
    let (one, two) = (Folder::new(), Folder::new());
    one.run(8, "--threads 1");
    let report = one.run(12, "--threads 1 --sgf");
    assert!(report.contains("games      12 of 12, 4 of them now"), "{report}");
    two.run(12, "--threads 2 --sgf");
    assert_eq!(one.games(), two.games());
    assert_eq!(one.games().len(), 12);
    // All games of the last segments have SGF files. Earlier segments were written without them.
    let records = |folder: &Folder| -> usize {
        let all = folder.files(".sgf").into_values().map(|bytes| String::from_utf8(bytes).unwrap());
        all.map(|text| text.matches("(;").count()).sum()
    };
    assert_eq!(records(&two), 12);
    assert!((4..=12).contains(&records(&one)));
}

#[test]
fn other_settings_and_other_files_are_refused() {
    let folder = Folder::new();
    folder.run(2, "--threads 1");
    let complaint = |options: &str, games| {
        let output = folder.command(games, options).output().unwrap();
        assert!(!output.status.success(), "{options}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let before = folder.files("");
    assert!(complaint("--seed 2", 4).contains("seed was 1, is 2"));
    assert!(complaint("--komi-spread x", 4).contains("not a number"));
    assert_eq!(folder.files(""), before);
    let (name, bytes) = folder.files(".jsonl").pop_first().unwrap();
    let log: &Path = &folder.path().join(name);
    for text in [&b"a shopping list\n"[..], &[&bytes[..], b"{}\n"].concat()] {
        fs::write(log, text).unwrap();
        assert!(complaint("", 4).contains("games-00000.jsonl"));
        assert_eq!(fs::read(log).unwrap(), text);
    }
    let numbers: BTreeSet<u64> = (0..2).collect();
    fs::write(log, bytes).unwrap();
    assert_eq!(folder.games().into_keys().collect::<BTreeSet<_>>(), numbers);
}

#[test]
fn without_a_search_there_must_be_a_network() {
    let folder = Folder::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_kosumi"));
    command.args(["selfplay", "--no-model", "--visits", "0", "--games", "1"]).arg("--out").arg(folder.path());
    let output = command.output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("network"), "{output:?}");
}
