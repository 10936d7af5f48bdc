//! The engine as a process under disturbances: signals, closed and slow pipes, input in pieces of any size, and little
//! memory. Every response is correct, answered commands are saved, and the engine ends when it should.

#![cfg(unix)]

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time limit for the end of a process on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns the program on a small board, started by a shell that runs `prelude` first.
fn command(prelude: &str, options: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{prelude} exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_kosumi")]);
    command.args(["gtp", "--no-model", "--threads", "1", "--memory", "2", "--boardsize", "9"]);
    command.args(options.split_whitespace()).env_remove("RUST_BACKTRACE");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

struct Engine {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Engine {
    fn start(prelude: &str, options: &str) -> Engine {
        let mut child = command(prelude, options).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Engine { child, input, output }
    }

    fn send(&mut self, text: &str) {
        // The engine may already have ended.
        let _ = self.input.as_mut().unwrap().write_all(text.as_bytes());
    }

    /// Returns the next response, without its status character and the empty line; `None` if the engine has ended.
    fn answer(&mut self) -> Option<String> {
        let mut text = String::new();
        while !text.ends_with("\n\n") {
            if self.output.read_line(&mut text).ok()? == 0 {
                return None;
            }
        }
        Some(text.trim().to_owned())
    }

    fn ask(&mut self, command: &str) -> Option<String> {
        self.send(&format!("{command}\n"));
        self.answer()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Closes the input and waits for the end of the engine. Returns its exit status and its standard error.
    fn end(mut self) -> (ExitStatus, String) {
        drop(self.input.take());
        let start = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < PATIENCE, "the engine does not end");
            thread::sleep(Duration::from_millis(5));
        }
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        (self.child.wait().unwrap(), text)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // The process may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn autosave(folder: &Path, more: &str) -> String {
    format!("--autosave {} {more}", folder.display())
}

/// Returns whether this process and its children ignore a signal. Shells make background processes ignore some signals.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal.as_raw() - 1) & 1 == 1
}

#[test]
fn signals_end_it_in_the_middle_of_a_move_and_the_game_is_saved() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        if is_ignored(signal) {
            println!("skipped: {signal:?} is ignored here");
            continue;
        }
        let folder = TempDir::new().unwrap();
        let mut engine = Engine::start("ulimit -c 0;", &autosave(folder.path(), "--time 300"));
        for line in ["play b C3", "play w G7"] {
            assert_eq!(engine.ask(line).as_deref(), Some("="));
        }
        engine.send("genmove b\n");
        thread::sleep(Duration::from_millis(100));
        engine.signal(signal);
        let (status, errors) = engine.end();
        assert!(!status.success() && !errors.contains("panicked"), "{signal:?}: {status}: {errors}");
        let mut engine = Engine::start("", &autosave(folder.path(), "--resume"));
        assert_eq!(engine.ask("last_move").as_deref(), Some("= white G7"), "{signal:?}");
    }
}

#[test]
fn signals_that_end_nothing_change_nothing() {
    let mut engine = Engine::start("", "--playouts 3000");
    assert_eq!(engine.ask("name").as_deref(), Some("= Kosumi"));
    engine.send("genmove b\n");
    for signal in [Signal::PIPE, Signal::STOP, Signal::WINCH, Signal::CONT, Signal::PIPE] {
        thread::sleep(Duration::from_millis(40));
        engine.signal(signal);
    }
    let answer = engine.answer().expect("a move");
    assert!(answer.starts_with("= "), "{answer}");
    assert!(engine.ask("move_history").unwrap().contains(&answer[2..]));
    assert!(engine.end().0.success());
}

#[test]
fn input_comes_in_pieces_of_any_size() {
    let session = "boardsize 5\r\n# a comment\n\n1 play b C3\n2 genmove w\n\t3  list_stones  b \n4 quit\n";
    let answers = |piece: usize| {
        let mut engine = Engine::start("", "--playouts 1");
        for piece in session.as_bytes().chunks(piece) {
            engine.input.as_mut().unwrap().write_all(piece).unwrap();
            engine.input.as_mut().unwrap().flush().unwrap();
        }
        let mut text = String::new();
        engine.output.read_to_string(&mut text).unwrap();
        assert!(engine.end().0.success());
        text
    };
    let whole = answers(usize::MAX);
    assert!(whole.contains("=3 C3"), "{whole}");
    assert_eq!(answers(1), whole);
    assert_eq!(answers(7), whole);
}

/// Returns the peak memory of a process, in KiB; `None` if the system does not report it.
fn most_memory(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[test]
fn a_line_without_end_takes_no_memory() {
    let mut engine = Engine::start("", "");
    assert_eq!(engine.ask("name").as_deref(), Some("= Kosumi"));
    let before = most_memory(&engine.child);
    let piece = [b'x'; 1 << 16];
    for _ in 0..1024 {
        engine.input.as_mut().unwrap().write_all(&piece).unwrap();
    }
    assert_eq!(engine.ask("").as_deref(), Some("? line too long"), "64 MiB");
    assert_eq!(engine.ask("\0\0name\0").as_deref(), Some("= Kosumi"), "control characters are left out");
    if let (Some(before), Some(after)) = (before, most_memory(&engine.child)) {
        assert!(after < before + (8 << 10), "{before} KiB before, {after} after");
    }
    assert!(engine.end().0.success());
}

#[test]
fn many_commands_with_a_slow_reader() {
    const COMMANDS: usize = 10_000;
    let mut engine = Engine::start("", "");
    let mut input = engine.input.take().unwrap();
    // The output is not read while commands are sent, so the engine blocks on its output and accepts no more commands
    // than it can buffer.
    let writer = thread::spawn(move || {
        let text: String = (0..COMMANDS)
            .map(|id| {
                let command = ["play b C3", "showboard", "undo", "no-such-command", "all_legal w"][id % 5];
                format!("{id} {command}\n")
            })
            .collect();
        input.write_all(text.as_bytes()).unwrap();
    });
    thread::sleep(Duration::from_millis(200));
    let memory = most_memory(&engine.child);
    for id in 0..COMMANDS {
        let answer = engine.answer().expect("an answer");
        let sign = if id % 5 == 3 { '?' } else { '=' };
        assert!(answer.starts_with(&format!("{sign}{id}")), "{id}: {answer}");
        if id < 20 {
            thread::sleep(Duration::from_millis(5));
        }
    }
    writer.join().unwrap();
    if let (Some(before), Some(after)) = (memory, most_memory(&engine.child)) {
        assert!(after < before + (16 << 10), "{before} KiB before, {after} after");
    }
    assert!(engine.end().0.success());
}

#[test]
fn pipes_may_be_closed_from_the_beginning() {
    for (closed, is_success) in [("<&-", true), ("2>&-", true), (">&-", true)] {
        let mut child = command(&format!("exec {closed};"), "--playouts 10").spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(b"genmove b\nquit\n");
        let start = Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < PATIENCE, "{closed}: the engine does not end");
            thread::sleep(Duration::from_millis(5));
        }
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!errors.contains("panicked"), "{closed}: {errors}");
        assert_eq!(output.status.success(), is_success, "{closed}: {errors}");
        if closed == "2>&-" {
            assert!(
                String::from_utf8_lossy(&output.stdout).contains("= "),
                "a closed standard error has no effect"
            );
        }
    }
}

/// Checks that, whatever the memory, every response is correct, answered commands are saved, and an engine that cannot
/// continue reports it.
#[test]
fn out_of_memory_is_reported_and_nothing_is_lost() {
    let mut came_to_the_end = 0;
    // Limits of the address space, in KiB. The program itself, with its network and its threads, needs about 100 MiB.
    for limit in [40_000, 70_000, 90_000, 110_000, 140_000, 1_000_000] {
        let folder = TempDir::new().unwrap();
        let prelude = format!("ulimit -c 0; ulimit -v {limit};");
        let mut engine = Engine::start(&prelude, &autosave(folder.path(), "--playouts 50"));
        let mut last = String::new();
        for number in 0..6 {
            let color = ["b", "w"][number % 2];
            let Some(answer) = engine.ask(&format!("genmove {color}")) else { break };
            assert!(answer.starts_with("= "), "{limit}: {answer}");
            last = format!("= {} {}", ["black", "white"][number % 2], &answer[2..]);
            came_to_the_end += usize::from(number == 5);
        }
        let (status, errors) = engine.end();
        assert!(status.success() || !errors.trim().is_empty(), "{limit}: it ends without a word: {status}");
        if !last.is_empty() {
            let mut engine = Engine::start("", &autosave(folder.path(), "--resume"));
            assert_eq!(engine.ask("last_move"), Some(last), "{limit}");
        }
    }
    assert!(came_to_the_end >= 1);
}

/// Wall clocks are set back, and set forward in summer, so durations must not depend on them. Only dates may, and the
/// order of files where the code handles changes of the clock.
#[test]
fn wall_clocks_are_used_for_dates_only() {
    const SAVED: &str = "session/autosave.rs";
    const NETWORKS: &str = "program/model.rs";
    // Uses: the log, the date of a game, a seed for the page, names of files, the time of a file in a test.
    let known: [(&str, &[&str]); 8] = [
        ("SystemTime::now", &["gtp/src/log.rs", "matches/control.rs", "browser/play.rs", SAVED, NETWORKS]),
        // Uses: saved games, whose times increase in any case, and the detection of a changed network file.
        ("modified()", &[SAVED, "files/disk.rs", NETWORKS]),
        // Use: processor time of a process.
        ("clock_gettime", &["system/unix.rs"]),
        ("ClockId::Realtime", &[]),
        ("Utc::now", &[]),
        ("Local::now", &[]),
        // Scripts of pages use wall clocks as well. Uses: names and dates of the games that a browser keeps, the date
        // of a record, the days until a problem comes back.
        ("Date.now", &["page/games.js", "page/table-worker.js", "play/problems.js"]),
        ("new Date", &["page/table-worker.js"]),
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src"), root.join("gtp/src")];
    let mut found = vec![0; known.len()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(text) = fs::read_to_string(&path) else { continue };
            for ((words, files), found) in known.iter().zip(&mut found) {
                if text.contains(words) {
                    assert!(files.iter().any(|name| path.ends_with(name)), "{words}: {}", path.display());
                    *found += 1;
                }
            }
        }
    }
    assert_eq!(found, known.map(|(_, files)| files.len()));
}

/// Checks that the engine does not wait for the other end of a pipe that a command names as a file.
#[test]
fn pipes_are_no_files() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let folder = tempfile::TempDir::new().unwrap();
    mknodat(CWD, folder.path().join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let run = |arguments: &[&str], input: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kosumi"));
        command.args(arguments).current_dir(folder.path());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        text(&output.stdout) + &text(&output.stderr)
    };
    let message = "it is not a regular file";
    let session = "loadsgf pipe\nsavesgf pipe\nprintsgf pipe\nloadsgf /dev/zero\nsavesgf /dev/null\n";
    let answers = run(&["gtp", "--no-model", "--memory", "1"], session);
    assert_eq!(answers.matches(message).count(), 5, "{answers}");
    for arguments in [
        &["regress", "pipe"][..],
        &["regress", "--engine", "kosumi gtp", "pipe"],
        &["gtp", "--no-model", "--resume", "pipe"],
        &["review", "pipe"],
        &["play", "pipe"],
        &["net", "info", "pipe"],
        &["net", "eval", "pipe", "--sgf", "pipe"],
        &["analysis", "--config", "pipe"],
        &["match", "builtin:no-model,playouts=1", "builtin:no-model,playouts=1", "--log", "pipe", "--resume"],
    ] {
        assert!(run(arguments, "").contains(message), "{arguments:?}: {}", run(arguments, ""));
    }
}
