//! KaTrain plays and analyses a game with Kosumi as its KataGo.

use kosumi_test_support::katrain;
use std::path::Path;
use std::process::Command;

#[test]
fn katrain_plays_and_analyses_a_game() {
    let Some(python) = katrain() else { return };
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let home = tempfile::TempDir::new().unwrap();
    let output = Command::new(python)
        .arg(project.join("tests/clients/katrain_game.py"))
        .arg(env!("CARGO_BIN_EXE_kosumi"))
        .arg(kosumi_test_support::small_network())
        .arg("8")
        // KaTrain writes its settings to this folder.
        .env("HOME", home.path())
        .env("KIVY_HOME", home.path())
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    let played = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{played}\n{log}");
    // KaTrain prints the log of the engine.
    assert!(played.contains("ready to begin handling requests"), "{played}\n{log}");
    let moves: Vec<Vec<&str>> = played
        .lines()
        .map(|line| line.split(' ').collect())
        // KaTrain prints more lines than the script.
        .filter(|words: &Vec<&str>| words.len() == 4 && words[1].parse::<u32>().is_ok())
        .collect();
    assert_eq!(moves.len(), 8, "{played}");
    for words in moves {
        let (visits, rate): (u32, f64) = (words[1].parse().unwrap(), words[2].parse().unwrap());
        assert!(visits >= 20 && (0.0..=1.0).contains(&rate), "{words:?}");
    }
}
