//! Files of earlier releases must be readable: `tests/upgrades` has a saved game, the log of a match, and the log, a
//! shard and the network of a self-play run, for every release with a new file format.
//!
//! A release that changes a format adds a folder, made with its own program by the commands below. Existing folders are
//! never changed.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn kosumi(folder: &Path, arguments: &[&str], input: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kosumi"));
    command
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    assert!(status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// Returns a copy of every folder of `tests/upgrades`.
fn releases() -> Vec<(String, TempDir)> {
    fn copy(from: &Path, to: &Path) {
        for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
            let target = to.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                fs::create_dir(&target).unwrap();
                copy(&entry.path(), &target);
            } else {
                fs::copy(entry.path(), target).unwrap();
            }
        }
    }
    let all = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/upgrades");
    let releases: Vec<_> = fs::read_dir(&all).unwrap().map(Result::unwrap).collect();
    assert!(!releases.is_empty());
    let copied = releases.iter().map(|entry| {
        let folder = TempDir::new().unwrap();
        copy(&entry.path(), folder.path());
        (entry.file_name().into_string().unwrap(), folder)
    });
    copied.collect()
}

fn lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn saved_games_of_earlier_releases_resume() {
    for (release, folder) in releases() {
        // Recorded session: play b C3, play w C2, komi 5.5, play b B2, undo, play b D2, then the end of the engine.
        let options =
            ["gtp", "--no-model", "--memory", "1", "--rules", "aga", "--autosave", "games", "--resume"];
        let answers = kosumi(folder.path(), &options, "move_history\nget_komi\nkata-get-rules\nquit\n");
        let answers: Vec<&str> = answers.split("\n\n").collect();
        assert_eq!(answers[0], "= black D2\nwhite C2\nblack C3", "{release}");
        assert_eq!(answers[1], "= 5.5", "{release}");
        assert!(answers[2].contains("\"ko\":\"SITUATIONAL\""), "{release}: {}", answers[2]);
    }
}

/// Built-in engines of another release count as other engines, so their match would not be resumed. Only the format of
/// the log is tested here, so the version of this program is written into the log.
#[test]
fn matches_go_on() {
    for (release, folder) in releases() {
        let log = folder.path().join("match.jsonl");
        let text = fs::read_to_string(&log).unwrap();
        let other_version = lines(&log)[0]["match"]["engines"][0]["version"].as_str().unwrap().to_owned();
        fs::write(
            &log,
            text.replace(&format!("\"{other_version}\""), concat!("\"", env!("CARGO_PKG_VERSION"), "\"")),
        )
        .unwrap();
        let before = lines(&log);
        let arguments =
            ["match", "builtin:no-model,playouts=15", "builtin:no-model,playouts=30", "--size", "5"];
        let arguments =
            [&arguments[..], &["--games", "6", "--log", "match.jsonl", "--seed", "9", "--resume"]].concat();
        kosumi(folder.path(), &arguments, "");
        let after = lines(&log);
        assert_eq!((after.len(), &after[..5]), (7, &before[..]), "{release}: four games, then two more");
    }
}

#[test]
fn self_play_goes_on() {
    for (release, folder) in releases() {
        let log = folder.path().join("shards/games-00000.jsonl");
        let before = lines(&log);
        let arguments = ["selfplay", "--out", "shards", "--sizes", "5", "--visits", "4", "--games", "4"];
        let arguments = [&arguments[..], &["--seed", "9", "--model", "network.bin.gz"]].concat();
        kosumi(folder.path(), &arguments, "");
        let after = lines(&log);
        assert_eq!((after.len(), &after[..4]), (5, &before[..]), "{release}: three games, then one more");
    }
}
