//! Kosumi over ranks that Open MPI has started on this machine.

#![cfg(unix)]

use kosumi_test_support::mpirun;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// `mpirun kosumi`, if there is one.
fn kosumi(processes: usize, options: &[&str]) -> Option<Command> {
    let mut command = mpirun(cfg!(feature = "mpi"), processes)?;
    command.args(options).arg(env!("CARGO_BIN_EXE_kosumi"));
    Some(command)
}

/// A GTP session over ranks.
struct Session {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Session {
    fn start(mut command: Command) -> Session {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Session { child, input, output: BufReader::new(output) }
    }

    fn say(&mut self, command: &str) {
        writeln!(self.input, "{command}").unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The answer to a command.
    fn ask(&mut self, command: &str) -> String {
        self.say(command);
        let answer = self.line();
        assert_eq!(self.line(), "", "after {answer}");
        answer
    }

    /// Ends it; what it has said to the person.
    fn end(mut self) -> (bool, String) {
        self.say("quit");
        drop(self.input);
        let output = self.child.wait_with_output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

#[test]
fn a_game_is_played_over_four_ranks() {
    let Some(mut command) = kosumi(4, &[]) else { return };
    command.args(["gtp", "--boardsize", "7", "--visits", "60", "--memory", "32"]);
    let mut session = Session::start(command);
    assert_eq!(session.ask("name"), "= Kosumi");
    for color in ["b", "w", "b", "w"] {
        let answer = session.ask(&format!("genmove {color}"));
        assert!(answer.starts_with("= ") && answer.len() <= 6, "{answer}");
    }
    // Settings that all ranks must know, and a new game.
    assert_eq!(session.ask("kata-set-param nnPolicyTemperature 1.2"), "=");
    assert_eq!(session.ask("clear_board"), "=");
    assert!(session.ask("genmove b").starts_with("= "));
    // Reports while it thinks, and an end when there is input.
    session.say("lz-analyze b 5");
    assert_eq!(session.line(), "=");
    assert!(session.line().starts_with("info move "));
    session.say("name");
    let start = Instant::now();
    while !session.line().is_empty() {}
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert_eq!(session.line(), "= Kosumi");
    assert_eq!(session.line(), "");
    let (is_success, said) = session.end();
    assert!(is_success && said.contains("searches with 4 ranks"), "{said}");
}

/// The games of a log of self-play by their numbers.
fn games(folder: &Path) -> BTreeMap<u64, Value> {
    let mut games = BTreeMap::new();
    let Ok(entries) = fs::read_dir(folder) else { return games };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        let text = fs::read_to_string(path).unwrap();
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            if let Some(game) = serde_json::from_str::<Value>(line).unwrap().get("game") {
                let twice = games.insert(game["number"].as_u64().unwrap(), game.clone());
                assert!(twice.is_none(), "{game}");
            }
        }
    }
    games
}

const SELFPLAY: [&str; 9] =
    ["selfplay", "--no-model", "--sizes", "5,4x6:2", "--visits", "20", "--shard", "150", "--games"];

#[test]
fn selfplay_over_ranks_plays_the_games_of_one_process() {
    let Some(mut ranks) = kosumi(3, &[]) else { return };
    let scratch = TempDir::new().unwrap();
    let (one, many) = (scratch.path().join("one"), scratch.path().join("many"));
    let mut alone = Command::new(env!("CARGO_BIN_EXE_kosumi"));
    for (command, folder) in [(&mut alone, &one), (&mut ranks, &many)] {
        command.args(SELFPLAY).args(["24", "--threads", "1", "--out"]).arg(folder);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(games(&one).len(), 24);
    assert_eq!(games(&one), games(&many));
}

/// The processes whose parent is this one, or a child of it.
fn descendants(of: u32) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
        let name = fs::read(entry.path().join("environ")).unwrap_or_default();
        if parent == Some(of) {
            found.push((pid, String::from_utf8_lossy(&name).into_owned()));
        }
    }
    found
}

/// Kills rank 1 of a run as soon as `is_time`.
fn kill_rank_1(child: &Child, is_time: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_time() {
        assert!(start.elapsed() < Duration::from_secs(120), "it does not begin");
        thread::sleep(Duration::from_millis(5));
    }
    let ranks = descendants(child.id());
    let is_1 = |environ: &str| environ.split('\0').any(|word| word == "OMPI_COMM_WORLD_RANK=1");
    let (pid, _) = ranks.iter().find(|(_, environ)| is_1(environ)).expect("rank 1");
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}

#[test]
fn a_killed_rank_costs_no_game_of_selfplay() {
    let scratch = TempDir::new().unwrap();
    let folder = scratch.path().join("games");
    for options in [&[][..], &["--enable-recovery"]] {
        let Some(mut command) = kosumi(3, options) else { return };
        let _ = fs::remove_dir_all(&folder);
        command.args(SELFPLAY).args(["60", "--threads", "1", "--out"]).arg(&folder);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        kill_rank_1(&child, || games(&folder).len() >= 6);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if options.is_empty() {
            // Open MPI ends all the others; what was played is in the log, and the same command goes on.
            assert!(!output.status.success());
            let before = games(&folder);
            assert!(before.len() >= 6 && before.len() < 60, "{}", before.len());
            let mut again = kosumi(3, &[]).unwrap();
            again.args(SELFPLAY).args(["60", "--threads", "1", "--out"]).arg(&folder);
            assert!(again.output().unwrap().status.success());
            let after = games(&folder);
            assert!(before.iter().all(|(number, game)| after.get(number) == Some(game)));
        } else {
            assert!(said.contains("rank 1 is gone"), "{said}");
        }
        assert_eq!(games(&folder).len(), 60, "{said}");
    }
}
