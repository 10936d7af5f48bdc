//! Evaluation on a graphics card, or on a software driver for one, in the whole program.

use kosumi_net::Encoding;
use kosumi_net::random::{self, BlockKind, Options};
use kosumi_test_support::{Requirement, require};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Returns a command for the program, if there is a card.
fn kosumi() -> Option<Command> {
    let mut devices = Command::new(env!("CARGO_BIN_EXE_kosumi"));
    let found = devices.args(["net", "devices", "--network", "small", "--device", "cpu"]).output().unwrap();
    let text = String::from_utf8_lossy(&found.stdout).into_owned();
    let has_card = text.contains("gpu:0").then_some(()).ok_or(text);
    require(Requirement::Gpu, has_card)?;
    Some(Command::new(env!("CARGO_BIN_EXE_kosumi")))
}

fn network(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("network.bin");
    let blocks = vec![BlockKind::GlobalPooling, BlockKind::NestedTransformer];
    let options = Options { version: 15, blocks, channels: 8, ..Options::default() };
    random::network(&options).unwrap().write(Encoding::Binary, File::create(&path).unwrap()).unwrap();
    path
}

/// Plays the moves of a short game. Returns the responses and the standard error.
fn play(mut kosumi: Command, options: &[&str]) -> (String, String) {
    let folder = TempDir::new().unwrap();
    kosumi.args(["gtp", "--boardsize", "5", "--playouts", "40", "--seed", "1", "--never-resign", "--model"]);
    kosumi.arg(network(&folder)).args(options);
    let kosumi = kosumi.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = kosumi.spawn().unwrap();
    let commands = "1 genmove b\n2 genmove w\n3 genmove b\n4 quit\n";
    child.stdin.take().unwrap().write_all(commands.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let [responses, notes] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (responses, notes)
}

/// Returns the number of answered commands.
fn answers(responses: &str) -> usize {
    responses.lines().filter(|line| line.starts_with('=')).count()
}

#[test]
fn a_game_is_played_with_a_card() {
    let Some(kosumi) = kosumi() else { return };
    let (responses, notes) = play(kosumi, &["--device", "gpu:0"]);
    assert_eq!(answers(&responses), 4, "{responses}");
    assert!(!notes.contains("processor"), "{notes}");
}

/// The processor evaluates beside the card, and `kata-set-param` switches the card off and on in the middle of a game.
#[test]
fn the_processor_evaluates_beside_a_card_and_instead_of_it() {
    let Some(mut kosumi) = kosumi() else { return };
    let folder = TempDir::new().unwrap();
    kosumi.args(["gtp", "--boardsize", "5", "--playouts", "40", "--never-resign", "--threads", "4"]);
    kosumi.args(["--device", "gpu+cpu", "--model"]).arg(network(&folder));
    let mut child =
        kosumi.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let commands = "kata-get-param useDevice\ngenmove b\nkata-set-param useDevice false\ngenmove w\n\
                    kata-get-param useDevice\nkata-set-param useDevice true\ngenmove b\n\
                    kata-set-param useDevice maybe\nquit\n";
    child.stdin.take().unwrap().write_all(commands.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let responses = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(answers(&responses), 8, "{responses}");
    let lines: Vec<&str> = responses.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!((lines[0], lines[4]), ("= true", "= false"), "{responses}");
    assert!(lines[7].starts_with("? "), "{responses}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("processor"));
}

#[test]
fn a_card_that_fails_costs_one_line_and_no_game() {
    let Some(mut kosumi) = kosumi() else { return };
    // The check at the start takes two batches.
    kosumi.env("KOSUMI_GPU_FAULT", "fails:5");
    let (responses, notes) = play(kosumi, &["--device", "gpu:0", "--threads", "2"]);
    assert_eq!(answers(&responses), 4, "{responses}");
    assert_eq!(notes.matches("the processor goes on").count(), 1, "{notes}");
}

#[test]
fn a_card_that_does_not_exist_is_replaced_by_the_processor() {
    let kosumi = Command::new(env!("CARGO_BIN_EXE_kosumi"));
    let (responses, notes) = play(kosumi, &["--device", "gpu:63"]);
    assert_eq!(answers(&responses), 4, "{responses}");
    assert_eq!(notes.matches("the processor evaluates").count(), 1, "{notes}");
}

#[test]
fn net_check_and_the_report_know_the_card() {
    let Some(mut check) = kosumi() else { return };
    let folder = TempDir::new().unwrap();
    let path = network(&folder);
    let output = check.args(["net", "check", "--device", "gpu:0", "--size", "5"]).arg(&path);
    let output = output.args(["--precision", "f32"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("f32") && !text.contains("WRONG"), "{text}");
    let mut report = Command::new(env!("CARGO_BIN_EXE_kosumi"));
    report.args(["benchmark", "--json", "--device", "gpu:0", "--size", "5", "--batch", "1,4"]);
    report.args(["--threads", "2", "--visits", "20", "--seconds", "0.01", "--model"]).arg(&path);
    let output = report.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["devices"].as_array().map(Vec::len), Some(1));
    let device = &report["devices"][0];
    assert!(device["agreement"]["probability"].as_f64().is_some_and(|off| off < 0.05), "{device}");
    assert_eq!(device["batches"].as_array().map(Vec::len), Some(2));
    assert!(device["searches"][0]["visitsPerSecond"].as_f64().is_some_and(|speed| speed > 0.0));
}

/// Runs a command with a fault of the card. Returns its standard output and the standard error.
fn with_fault(mut kosumi: Command, fault: &str, arguments: &[&str], input: &str) -> (String, String) {
    let folder = TempDir::new().unwrap();
    kosumi.env("KOSUMI_GPU_FAULT", fault).env("KOSUMI_GPU_CACHE", folder.path());
    kosumi.args(arguments).args(["--device", "gpu:0", "--model"]).arg(network(&folder));
    kosumi.current_dir(folder.path());
    kosumi.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = kosumi.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let [found, notes] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{notes}");
    (found, notes)
}

/// Checks that a failing card is reported once, whatever fails.
#[test]
fn every_kind_of_failure_costs_one_line() {
    for (fault, reason) in [
        ("fails:4", "a fault of the card is simulated"),
        ("panics:4", "has panicked"),
        ("hangs:4", "the driver does not return"),
        ("wrong", "computes wrongly"),
    ] {
        let Some(kosumi) = kosumi() else { return };
        let words = ["gtp", "--boardsize", "5", "--playouts", "20", "--never-resign"];
        let (responses, notes) = with_fault(kosumi, fault, &words, "genmove b\ngenmove w\nquit\n");
        assert_eq!(answers(&responses), 3, "{responses}");
        let lines: Vec<&str> = notes.lines().filter(|line| line.contains("the processor")).collect();
        assert!(lines.len() == 1 && lines[0].contains(reason), "{notes}");
    }
}

/// Checks that no command fails if the card fails while it is compared with the processor.
#[test]
fn a_card_that_fails_while_it_is_measured_is_replaced_by_the_processor() {
    let Some(mut kosumi) = kosumi() else { return };
    // The check at the start takes two batches, and the measurement comes after it.
    kosumi.env("KOSUMI_GPU_FAULT", "fails:2");
    let (responses, notes) = play(kosumi, &["--device", "gpu+cpu"]);
    assert_eq!(answers(&responses), 4, "{responses}");
    assert!(notes.contains("the processor evaluates"), "{notes}");
}

#[test]
fn reviews_self_play_and_analysis_survive_a_card_that_fails() {
    let folder = TempDir::new().unwrap();
    let game = folder.path().join("game.sgf");
    std::fs::write(&game, "(;SZ[5]KM[6.5];B[cc];W[bb];B[cb];W[bc];B[bd])").unwrap();
    let out = folder.path().join("shards");
    let (game, out) = (game.to_str().unwrap(), out.to_str().unwrap());
    let query = "{\"id\":\"a\",\"moves\":[[\"B\",\"C3\"]],\"boardXSize\":5,\"boardYSize\":5,\"rules\":\"chinese\",\
                 \"komi\":6.5,\"maxVisits\":40}\n";
    let review: &[&str] = &["review", game, "--playouts", "20", "--json"];
    let selfplay: &[&str] = &["selfplay", "--games", "2", "--out", out, "--sizes", "5", "--visits", "8"];
    for (words, input) in [(review, ""), (selfplay, ""), (&["analysis"], query)] {
        let Some(kosumi) = kosumi() else { return };
        let (_, notes) = with_fault(kosumi, "fails:5", words, input);
        assert_eq!(notes.matches("the processor goes on").count(), 1, "{words:?}: {notes}");
    }
}
