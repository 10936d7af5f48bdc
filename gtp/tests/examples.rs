//! Tests that run the examples against each other.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use kosumi_gtp::Client;
use kosumi_test_support::{Requirement, require};

/// Timeout that suffices on a busy machine. A test that passes never waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns the path of an example. `cargo test` builds it beside the tests, unless only one test is built.
fn example(name: &str) -> Option<PathBuf> {
    let here = std::env::current_exe().unwrap();
    let folder = here.parent().and_then(|folder| folder.parent()).unwrap().join("examples");
    let path = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let missing = || format!("{} has not been built", path.display());
    require(Requirement::Examples, if path.is_file() { Ok(path.clone()) } else { Err(missing()) })
}

#[test]
fn the_controller_drives_the_engine() {
    let (Some(engine), Some(controller)) = (example("engine"), example("controller")) else { return };
    let output = Command::new(controller).arg(engine).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("First Point "), "{text}");
    // The engine has no `komi` command. It reports that, and the session continues.
    assert_eq!(lines[1..4], ["komi 6.5: unknown command", "black plays A1", "white plays B1"]);
    assert_eq!(lines.last(), Some(&"white plays A2"));
}

#[test]
fn the_engine_counts_until_it_is_interrupted() {
    let Some(engine) = example("engine") else { return };
    let mut client = Client::spawn_command(Command::new(engine)).unwrap();
    client.post("count").unwrap();
    client.post("name").unwrap();
    let counted = client.receive(PATIENCE).unwrap();
    let lines = counted.lines().filter(|line| !line.is_empty());
    for (number, line) in lines.enumerate() {
        assert_eq!(line, number.to_string());
    }
    assert_eq!(client.receive(PATIENCE).unwrap(), "First Point");
    assert!(client.send("play b Z9", PATIENCE).is_err());
    assert!(client.quit(PATIENCE).unwrap().success());
}
