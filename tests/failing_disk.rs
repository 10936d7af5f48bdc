//! Failing disks: a system call that writes, flushes or renames returns an input/output error or hangs. Files stay
//! valid, the message gives the reason, and the work can be resumed later.
//!
//! `strace` simulates the failing disk by injecting errors into system calls (`--inject`).

#![cfg(target_os = "linux")]

use kosumi_test_support::{Requirement, require};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Injected fault in the syntax of `strace`, and the only file that it affects; `None` for all files.
type Fault<'f> = (&'f str, Option<&'f Path>);

const ERROR: &str = "error=EIO";

/// Returns `None` unless `strace` can trace a process here.
fn strace() -> Option<()> {
    let traced =
        Command::new("strace").args(["-qq", "-o", "/dev/null", "-e", "trace=fsync", "true"]).output();
    let found = match traced {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("strace cannot trace: {}", String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(format!("strace cannot be started: {error}")),
    };
    require(Requirement::Strace, found)
}

/// Returns a command for the program on a disk with this fault. Only the named system calls are traced.
fn failing(folder: &Path, (fault, file): Fault<'_>, arguments: &[&str]) -> Command {
    let calls = fault.split_once(':').expect("calls:what happens").0;
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={calls}")]);
    command.args(["-e", &format!("inject={fault}")]);
    if let Some(file) = file {
        command.arg("-P").arg(file);
    }
    command.arg(env!("CARGO_BIN_EXE_kosumi")).args(arguments).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run_without_fault(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kosumi"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the complete lines of a log. Panics if the log ends with a torn line.
fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    assert!(text.is_empty() || text.ends_with('\n'), "torn line: {text}");
    text.lines().map(|line| serde_json::from_str(line).expect("a whole line")).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).map(|it| it.map(|it| it.unwrap().path()).collect()).unwrap_or_default()
}

#[test]
fn a_match_stops_on_write_errors_and_can_be_resumed() {
    let Some(()) = strace() else { return };
    // The lines of a log are written, and then flushed.
    for calls in ["write", "fdatasync", "write,fdatasync,ftruncate"] {
        let folder = TempDir::new().unwrap();
        let log = folder.path().canonicalize().unwrap().join("log.jsonl");
        let arguments = ["match", "builtin:no-model,playouts=5", "builtin:no-model,playouts=9"];
        let arguments = [&arguments[..], &["--size", "4", "--games", "9", "--log", "log.jsonl"]].concat();
        let fault = format!("{calls}:{ERROR}:when=5+");
        let stopped = failing(folder.path(), (&fault, Some(&log)), &arguments).output().unwrap();
        assert_eq!(stopped.status.code(), Some(1), "{calls}: {}", errors(&stopped));
        let message = errors(&stopped);
        assert!(message.contains("cannot write the log") && message.contains("Input/output"), "{message}");
        let before = lines(&log);
        assert!((2..9).contains(&before.len()), "{calls}: {} lines", before.len());

        let resumed = run_without_fault(folder.path(), &[&arguments[..], &["--resume"]].concat());
        assert_eq!(resumed.status.code(), Some(0), "{calls}: {}", errors(&resumed));
        let after = lines(&log);
        assert_eq!(after[..before.len()], before[..], "no game is lost or played again");
        let games: Vec<u64> = after.iter().filter_map(|line| line["game"]["number"].as_u64()).collect();
        assert_eq!((games.len(), games.into_iter().collect()), (9, (1..=9).collect::<BTreeSet<u64>>()));
    }
}

#[test]
fn self_play_stops_on_write_errors_and_can_be_resumed() {
    let Some(()) = strace() else { return };
    // The fault hits the log, the name of the folder, the content of a shard, or its name. The first calls of `fsync`
    // are for the names of the folder and the log, and for the empty log.
    for fault in [
        "fdatasync:error=EIO:when=4+",
        "fsync:error=EIO:when=1",
        "fsync:error=EIO:when=4",
        "rename,renameat,renameat2:error=EIO",
    ] {
        let folder = TempDir::new().unwrap();
        let arguments =
            ["selfplay", "--out", "shards", "--sizes", "5", "--visits", "4", "--games", "8", "--no-model"];
        let stopped = failing(folder.path(), (fault, None), &arguments).output().unwrap();
        assert_eq!(stopped.status.code(), Some(1), "{fault}: {}", errors(&stopped));
        assert!(errors(&stopped).contains("Input/output"), "{}", errors(&stopped));
        let shards = folder.path().join("shards");
        assert!(files(&shards).iter().all(|file| file.extension().is_some_and(|end| end == "jsonl")));
        let before = lines(&shards.join("games-00000.jsonl"));

        let resumed = run_without_fault(folder.path(), &arguments);
        assert_eq!(resumed.status.code(), Some(0), "{fault}: {}", errors(&resumed));
        let after = lines(&shards.join("games-00000.jsonl"));
        assert_eq!(after[..before.len()], before[..]);
        // The first line is the header of the run.
        assert_eq!(after.len(), 9, "{fault}");
        assert!(shards.join("training-selfplay-00000.npz").exists());
    }
}

#[test]
fn shards_of_records_are_whole_or_not_there() {
    let Some(()) = strace() else { return };
    let folder = TempDir::new().unwrap();
    // There are enough moves for a usable game.
    let moves: String = (0..60)
        .map(|mv| {
            let (column, row) = (b'a' + mv % 19, b'a' + mv / 19 * 4);
            format!(";{}[{}{}]", ['B', 'W'][usize::from(mv % 2)], column as char, row as char)
        })
        .collect();
    let record = format!("(;SZ[19]KM[7]RE[B+3]DT[2012-01-01]{moves})");
    fs::write(folder.path().join("game.sgf"), record).unwrap();
    let arguments = ["features", "game.sgf", "--out", "shards", "--per-game", "3"];
    for fault in ["fsync:error=EIO", "rename,renameat,renameat2:error=EIO"] {
        let stopped = failing(folder.path(), (fault, None), &arguments).output().unwrap();
        assert_eq!(stopped.status.code(), Some(1), "{fault}: {}", errors(&stopped));
        assert!(errors(&stopped).contains("Input/output"), "{}", errors(&stopped));
        assert_eq!(files(&folder.path().join("shards")), [] as [PathBuf; 0], "{fault}");
    }
    let later = run_without_fault(folder.path(), &arguments);
    assert_eq!(later.status.code(), Some(0), "{}", errors(&later));
    assert_eq!(files(&folder.path().join("shards")).len(), 1);
}

/// Checks that an earlier review is kept until the new one is on the disk.
#[test]
fn a_review_is_the_earlier_or_the_later_one() {
    let Some(()) = strace() else { return };
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("game.sgf"), "(;SZ[5]KM[7];B[cc];W[bb];B[dd])").unwrap();
    let review =
        |playouts| ["review", "game.sgf", "--no-model", "--playouts", playouts, "--json", "--sgf", "--html"];
    assert_eq!(run_without_fault(folder.path(), &review("4")).status.code(), Some(0));
    let contents = || -> Vec<_> {
        let mut all: Vec<_> =
            files(folder.path()).into_iter().map(|file| (fs::read(&file).unwrap(), file)).collect();
        all.sort();
        all
    };
    let earlier = contents();
    assert_eq!(earlier.len(), 4);
    for fault in ["fsync:error=EIO", "rename,renameat,renameat2:error=EIO"] {
        let stopped = failing(folder.path(), (fault, None), &review("6")).output().unwrap();
        assert_eq!(stopped.status.code(), Some(1), "{fault}: {}", errors(&stopped));
        assert!(errors(&stopped).contains("Input/output"), "{}", errors(&stopped));
        assert_eq!(contents(), earlier, "{fault}");
    }
    assert_eq!(run_without_fault(folder.path(), &review("6")).status.code(), Some(0));
    assert_ne!(contents(), earlier);
}

/// Engine that saves its games in `games`.
struct EngineProcess {
    child: Child,
    answers: BufReader<ChildStdout>,
    folder: PathBuf,
    moves: usize,
}

impl EngineProcess {
    fn start(folder: &Path, fault: &str) -> EngineProcess {
        let options = ["gtp", "--no-model", "--boardsize", "9", "--memory", "1", "--autosave", "games"];
        let mut child = failing(folder, (fault, None), &options).stdin(Stdio::piped()).spawn().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        EngineProcess { child, answers, folder: folder.to_owned(), moves: 0 }
    }

    /// Plays a move, and checks that it is answered.
    fn play(&mut self) {
        let (color, column) = (["b", "w"][self.moves % 2], b"ABCDEFGHJ"[self.moves / 9] as char);
        let command = format!("play {color} {column}{}", self.moves % 9 + 1);
        writeln!(self.child.stdin.as_mut().unwrap(), "{command}").unwrap();
        self.moves += 1;
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        assert_eq!(answer.trim(), "=");
        self.answers.read_line(&mut answer).unwrap();
    }

    /// Returns the number of moves of the saved record, if there is one. The record must be complete.
    fn saved(&self) -> Option<usize> {
        let mut records = files(&self.folder.join("games"));
        // A file that is still being written has another name.
        records.retain(|file| file.extension().is_some_and(|end| end == "sgf"));
        assert!(records.len() <= 1, "one record, not {records:?}");
        let text = fs::read_to_string(records.first()?).unwrap();
        assert!(text.starts_with("(;") && text.trim_end().ends_with(')'), "whole: {text}");
        Some(text.matches(";B[").count() + text.matches(";W[").count())
    }
}

/// Waits for an event, which occurs soon, or later on a busy machine.
fn wait_for(what: &str, is_there: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_there() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what} did not happen in time");
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_game_goes_on_and_is_saved_again_when_the_disk_recovers() {
    let Some(()) = strace() else { return };
    for calls in ["fsync", "rename,renameat,renameat2"] {
        let folder = TempDir::new().unwrap();
        let mut player = EngineProcess::start(folder.path(), &format!("{calls}:{ERROR}:when=3..5"));
        let errors = Arc::new(Mutex::new(String::new()));
        let (messages, sink) = (player.child.stderr.take().unwrap(), Arc::clone(&errors));
        let listener = thread::spawn(move || {
            for line in BufReader::new(messages).lines() {
                sink.lock().unwrap().push_str(&line.unwrap());
            }
        });
        // A busy machine saves several moves at once.
        while !errors.lock().unwrap().contains("saved again") {
            assert!(player.moves < 81, "{}", errors.lock().unwrap());
            player.play();
            thread::sleep(Duration::from_millis(20));
        }
        drop(player.child.stdin.take());
        player.child.wait().unwrap();
        listener.join().unwrap();
        let errors = errors.lock().unwrap();
        assert!(errors.contains("not saved") && errors.contains("Input/output"), "{errors}");
        assert_eq!(player.saved(), Some(player.moves), "{calls}");
    }
}

/// Checks that a disk that responds after a minute delays no move.
#[test]
fn a_game_does_not_wait_for_a_disk_that_hangs() {
    let Some(()) = strace() else { return };
    let folder = TempDir::new().unwrap();
    // The first save flushes the file and the folder.
    let mut player = EngineProcess::start(folder.path(), "fsync:delay_enter=60s:when=3+");
    player.play();
    wait_for("the first record", || player.saved().is_some());
    while player.moves < 18 {
        player.play();
    }
    assert!(player.saved().unwrap() < 18, "the disk still hangs");
    player.child.kill().unwrap();
    player.child.wait().unwrap();
}
