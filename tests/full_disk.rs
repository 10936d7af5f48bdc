//! Full disks. The disk is full after a number of bytes, in the middle of a write. Files must stay valid, the message
//! must give the reason, and it must be possible to resume the work later.
//!
//! A limit on the size of files (`ulimit -f`) simulates the full disk. The system returns an error as on a full disk,
//! after a part of a line was written. The signal that accompanies the error must not end the program.

#![cfg(unix)]

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Returns a command for the program that limits files to this number of blocks.
fn limited(folder: &Path, blocks: u32, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    // Blocks have 512 bytes in some shells and 1,024 in others.
    let script = "ulimit -f \"$0\"; exec \"$@\"";
    command.args(["-c", script, &blocks.to_string(), env!("CARGO_BIN_EXE_kosumi")]).args(arguments);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn unlimited(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kosumi"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the complete lines of a log, and the torn line after them.
fn lines(path: &Path) -> (Vec<Value>, String) {
    let text = fs::read_to_string(path).unwrap_or_default();
    let (whole, torn) = text.rsplit_once('\n').unwrap_or(("", &text));
    (whole.lines().map(|line| serde_json::from_str(line).expect("a whole line")).collect(), torn.to_owned())
}

#[test]
fn a_match_stops_with_what_it_has_and_goes_on_later() {
    let wanted: BTreeSet<u64> = (1..=12).collect();
    let mut torn_once = false;
    for blocks in [1, 4, 7, 9] {
        let folder = TempDir::new().unwrap();
        let arguments = ["match", "builtin:no-model,playouts=15", "builtin:no-model,playouts=30"];
        let arguments = [&arguments[..], &["--size", "5", "--games", "12", "--log", "log.jsonl"]].concat();
        let stopped = limited(folder.path(), blocks, &arguments).output().unwrap();
        assert_eq!(stopped.status.code(), Some(1), "{blocks}: {}", errors(&stopped));
        assert!(errors(&stopped).contains("cannot write the log"), "{}", errors(&stopped));
        let log = folder.path().join("log.jsonl");
        let (before, torn) = lines(&log);
        torn_once |= !torn.is_empty();

        let resumed = unlimited(folder.path(), &[&arguments[..], &["--resume"]].concat());
        assert_eq!(resumed.status.code(), Some(0), "{blocks}: {}", errors(&resumed));
        let (after, torn) = lines(&log);
        assert_eq!(
            (&after[..before.len()], torn.as_str()),
            (&before[..], ""),
            "no game is lost or played again"
        );
        let games: Vec<u64> = after.iter().filter_map(|line| line["game"]["number"].as_u64()).collect();
        assert_eq!((games.len(), games.into_iter().collect()), (12, wanted.clone()));
    }
    assert!(!torn_once, "a line that does not fit is taken back");
}

#[test]
fn self_play_stops_with_what_it_has_and_goes_on_later() {
    for blocks in [1, 5, 9] {
        let folder = TempDir::new().unwrap();
        let arguments =
            ["selfplay", "--out", "shards", "--sizes", "5", "--visits", "4", "--games", "24", "--no-model"];
        let stopped = limited(folder.path(), blocks, &arguments).output().unwrap();
        assert_eq!(stopped.status.code(), Some(1), "{blocks}: {}", errors(&stopped));
        let log = folder.path().join("shards/games-00000.jsonl");
        let (before, torn) = lines(&log);
        assert_eq!(torn, "");

        let resumed = unlimited(folder.path(), &arguments);
        assert_eq!(resumed.status.code(), Some(0), "{blocks}: {}", errors(&resumed));
        let (after, _) = lines(&log);
        assert_eq!(after[..before.len()], before[..]);
        // The first line is the header of the run.
        assert_eq!(after.len(), 25, "{blocks}");
        assert!(folder.path().join("shards/training-selfplay-00000.npz").exists());
    }
}

#[test]
fn a_game_goes_on_and_the_last_whole_record_stays() {
    let folder = TempDir::new().unwrap();
    let options = ["gtp", "--no-model", "--boardsize", "19", "--memory", "1", "--autosave", "games"];
    let mut engine = limited(folder.path(), 1, &options).stdin(Stdio::piped()).spawn().unwrap();
    let mut commands = String::new();
    let mut played = 0;
    for row in 1..=19 {
        for column in "ABCDEFGHJKLMNOPQRST".chars() {
            // Stones fill two of three points, so none is captured.
            if !(column as u32 + row).is_multiple_of(3) {
                commands.push_str(&format!("play {} {column}{row}\n", ["b", "w"][played % 2]));
                played += 1;
            }
        }
    }
    commands.push_str("quit\n");
    engine.stdin.take().unwrap().write_all(commands.as_bytes()).unwrap();
    let output = engine.wait_with_output().unwrap();
    let answers = String::from_utf8_lossy(&output.stdout);
    assert_eq!(answers.matches("= ").count(), played + 1, "every move is answered");
    assert!(errors(&output).contains("not saved"), "{}", errors(&output));
    let records: Vec<_> =
        fs::read_dir(folder.path().join("games")).unwrap().map(|it| it.unwrap().path()).collect();
    let [record] = &records[..] else { panic!("one record, not {records:?}") };
    let text = fs::read_to_string(record).unwrap();
    assert!(text.starts_with("(;") && text.trim_end().ends_with(')'), "whole: {text}");
    let moves = text.matches(";B[").count() + text.matches(";W[").count();
    assert!(moves > 20 && moves < played, "{moves} of {played} moves");
}

/// Checks that the earlier file stays if a later one does not fit, and that the session continues.
#[test]
fn a_saved_record_is_the_earlier_or_the_later_one() {
    let folder = TempDir::new().unwrap();
    let mut engine = limited(folder.path(), 1, &["gtp", "--no-model", "--memory", "1"]);
    let mut engine = engine.stdin(Stdio::piped()).spawn().unwrap();
    let mut commands = "savesgf a.sgf\nprintsgf b.sgf\n".to_owned();
    for row in 1..=19 {
        for (index, column) in "ABCDEFGHJKLMNOPQRST".chars().enumerate() {
            if (index + row) % 3 > 0 {
                commands.push_str(&format!("play {} {column}{row}\n", ["b", "w"][(index + row) % 3 - 1]));
            }
        }
    }
    commands.push_str("7 savesgf a.sgf\n8 printsgf b.sgf\nloadsgf a.sgf\nquit\n");
    engine.stdin.take().unwrap().write_all(commands.as_bytes()).unwrap();
    let output = engine.wait_with_output().unwrap();
    let answers = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{answers}{}", errors(&output));
    for id in [7, 8] {
        assert!(answers.contains(&format!("?{id} cannot write: ")), "{answers}");
    }
    for name in ["a.sgf", "b.sgf"] {
        let text = fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(text.starts_with("(;") && text.trim_end().ends_with(')') && !text.contains(";B["), "{text}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no unfinished file is left");
}

#[test]
fn statistics_selections_and_networks_are_the_earlier_or_the_later_ones() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("games.sgf"), "(;SZ[5]KM[7];B[cc];W[bb];B[dd])\n".repeat(100)).unwrap();
    let outputs = ["a.json", "a.html", "out.sgf", "out.bin"];
    for name in outputs {
        fs::write(folder.path().join(name), "earlier").unwrap();
    }
    for arguments in [
        &["sgf", "stats", "games.sgf", "--json", "a.json", "--html", "a.html"][..],
        &["sgf", "stats", "games.sgf", "--html", "a.html"],
        &["sgf", "filter", "games.sgf", "--output", "out.sgf", "--force"],
        &["net", "random", "-o", "out.bin"],
    ] {
        let stopped = limited(folder.path(), 1, arguments).output().unwrap();
        assert_eq!(stopped.status.code(), Some(1), "{arguments:?}: {}", errors(&stopped));
        for name in outputs {
            assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), "earlier", "{arguments:?}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5, "{arguments:?}");
    }
}
