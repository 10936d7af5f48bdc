//! `kosumi solve` as a process, and GNU Go's reading commands over GTP.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
#[cfg(target_os = "linux")]
use std::time::Duration;

fn kosumi(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kosumi")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_board_is_solved() {
    let out = kosumi(&["solve", "board", "--size", "2x3", "--json", "--all"]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(json["score"], 0);
    assert!(json["best"].as_array().unwrap().contains(&"pass".into()), "{json}");
    // With one node, the score is not decided. The smallest table is enough.
    let out = kosumi(&["solve", "board", "--size", "9", "--nodes", "1", "--memory", "1"]);
    assert!(text(&out.stdout).contains("not decided: the score is from -81 to +81"), "{}", text(&out.stdout));
    // After Black's best move White cannot improve the score.
    let out = kosumi(&["solve", "board", "--size", "3", "--moves", "b2", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(json["score"], 9);
    // The same position from a record, with White to move.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("centre.sgf");
    fs::write(&file, "(;SZ[3]RU[cgos]PL[W]AB[bb])").unwrap();
    let file = file.to_str().unwrap();
    let out = kosumi(&["solve", "board", file, "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(json["score"], 9, "{}", text(&out.stderr));
    for refused in [&[file, "--size", "3"][..], &[], &["/no/such.sgf"]] {
        assert!(!kosumi(&[&["solve", "board"][..], refused].concat()).status.success(), "{refused:?}");
    }
    for wrong in [
        &["--rules", "japanese"][..],
        &["--size", "0"],
        &["--memory", "0"],
        &["--time", "-1"],
        &["--moves", "B2 B2"],
        &["--moves", "D4"],
        &["--moves", "first"],
    ] {
        let arguments = [&["solve", "board", "--size", "3"][..], wrong].concat();
        assert!(!kosumi(&arguments).status.success(), "{wrong:?}");
    }
}

/// Returns whether the process has installed a handler for ^C.
#[cfg(target_os = "linux")]
fn catches_interrupts(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    // The mask has one bit per signal, and ^C is signal 2.
    u64::from_str_radix(mask.trim(), 16).unwrap() & 2 != 0
}

/// Checks that an interrupted command prints the bounds that are known so far.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_board_has_bounds() {
    let solving = Command::new(env!("CARGO_BIN_EXE_kosumi"))
        .args(["solve", "board", "--size", "9", "--memory", "1"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    while !catches_interrupts(solving.id()) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let process = rustix::process::Pid::from_child(&solving);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let out = solving.wait_with_output().unwrap();
    assert!(out.status.success());
    assert!(text(&out.stdout).contains("not decided: the score is from -81 to +81"), "{}", text(&out.stdout));
}

/// Problem with a square eye space of four points in the corner.
const PROBLEM: &str = "(;FF[4]GM[1]SZ[9]PL[W]AB[ac][bc][cc][ca][cb]AW[ad][bd][cd][dd][da][db][dc];W[aa])";

#[test]
fn a_problem_is_solved() {
    let folder = tempfile::tempdir().unwrap();
    let (file, proof) = (folder.path().join("problem.sgf"), folder.path().join("proof.sgf"));
    fs::write(&file, PROBLEM).unwrap();
    let (file, proof) = (file.to_str().unwrap(), proof.to_str().unwrap());
    let out = kosumi(&["solve", "problem", file, "--json", "-o", proof]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((&json["status"], &json["owner"]), (&"dead".into(), &"Black".into()), "{json}");
    assert_eq!(json["region"].as_array().unwrap().len(), 9);
    let written = fs::read_to_string(proof).unwrap();
    assert!(kosumi_go::sgf::Tree::parse(written.as_bytes()).unwrap().node_count() > 5, "{written}");
    // Several problems, one after the other.
    let out = kosumi(&["solve", "problem", file, file, "--json"]);
    assert!(out.status.success() && text(&out.stdout).lines().count() == 2, "{}", text(&out.stderr));
    // Errors about bad input contain the name of the file.
    for wrong in [
        &["--group", "J9"][..],
        &["--group", "Z1"],
        &["--goal", "race"],
        &["--goal", "connect", "--other", "A6"],
        &["--region", "A1"],
    ] {
        let out = kosumi(&[&["solve", "problem", file][..], wrong].concat());
        assert!(!out.status.success() && text(&out.stderr).contains("problem.sgf"), "{wrong:?}");
    }
    fs::write(file, "(;SZ[9])").unwrap();
    let out = kosumi(&["solve", "problem", file]);
    assert!(text(&out.stderr).contains("no group is enclosed"), "{}", text(&out.stderr));
}

#[test]
fn reading_commands_answer_as_gnu_go_does() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("problem.sgf"), PROBLEM).unwrap();
    check(
        folder.path(),
        &[
            ("loadsgf problem.sgf 1", "= white"),
            ("owl_attack A7", "= 1 "),
            ("owl_defend A7", "= 0"),
            ("dragon_status A7", "= dead"),
            ("attack A6", "= 0"),
            ("defend A6", "= 1 PASS"),
            ("connect A7 C9", "= 1 PASS"),
            ("disconnect A7 C9", "= 0"),
            ("same_dragon A7 C9", "= 1"),
            ("owl_does_attack A9 A7", "= 1"),
            ("owl_does_defend B9 A7", "= 0"),
            ("countlib A7", "= 3"),
            ("findlib C9", "= "),
            ("worm_stones C9", "= C9 "),
            ("worm_stones", "= "),
            ("worm_data A7", "= A7:\norigin "),
            ("dragon_stones white", "= "),
            ("dragon_data A7", "= A7:\ncolor                   black\n"),
            ("eval_eye A9", "= 1 1"),
            ("eval_eye A7", "= -1"),
            ("combination_attack white", "= PASS"),
            ("attack_either A7 C9", "= 1"),
            ("defend_both A7 C9", "= 0"),
            ("attack_either A7 A6", "? vertices must have same color"),
            ("worm_data J9", "? vertex must not be empty"),
            ("attack J9", "? vertex must not be empty"),
            ("connect A7 A6", "? vertices must have same color"),
            ("analyze_semeai A7 A7", "? vertices must have different color"),
            ("owl_does_attack A7 A7", "? illegal move"),
            ("attack", "? "),
        ],
    );
}

/// Returns a record of a position on the lower left of 9×9, drawn from the top.
fn drawn(rows: &str) -> String {
    let rows: Vec<&str> = rows.split_whitespace().collect();
    let points = |stone| {
        let places =
            rows.iter().enumerate().flat_map(|(y, row)| row.char_indices().map(move |(x, c)| (x, y, c)));
        let letter = |number: usize| char::from(b'a' + number as u8);
        let point = |(x, y, _)| format!("[{}{}]", letter(x), letter(9 - rows.len() + y));
        places.filter(|&(.., c)| c == stone).map(point).collect::<String>()
    };
    format!("(;SZ[9]AB{}AW{})", points('X'), points('O'))
}

/// Checks that the responses tell whether a chain is saved or captured, and that they name a move only if a pass would
/// change the result.
#[test]
fn races_say_pass_where_no_move_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    for (drawing, questions) in [
        ("OOOOXXXX OXXXOOOX O..XO..X", [("B2 E2", "= 1 1 G1"), ("E2 B2", "= 1 1 B1")]),
        ("OOOOXXX OXXXOOX O..XO.X", [("B2 E2", "= 1 1 PASS"), ("E2 B2", "= 0 0 PASS")]),
        ("OOOO O O O...X O...X OOOXX OXXOX OX.OX OX.OX", [("B2 D2", "= 1 0 PASS"), ("D2 B2", "= 1 0 PASS")]),
    ] {
        fs::write(folder.path().join("race.sgf"), drawn(drawing)).unwrap();
        let [first, second] = questions.map(|(chains, answer)| (format!("analyze_semeai {chains}"), answer));
        check(
            folder.path(),
            &[("loadsgf race.sgf", "= black"), (first.0.as_str(), first.1), (second.0.as_str(), second.1)],
        );
    }
}

/// Black's stone at A4 is itself in danger. Connecting to it by capturing A5 does not save the group, but starts a ko.
#[test]
fn joining_endangered_stones_is_not_a_rescue() {
    let folder = tempfile::tempdir().unwrap();
    let drawing = "OOOO XXXO .XOO .XO OXO XOO ... OOOO ...";
    fs::write(folder.path().join("out.sgf"), drawn(drawing)).unwrap();
    let rows = [
        ("loadsgf out.sgf", "= black"),
        ("owl_attack A8", "= 1 A3"),
        ("owl_defend A8", "= 3 A6"),
        ("dragon_status A8", "= critical A3 A6"),
    ];
    check(folder.path(), &rows);
}

/// These groups are not enclosed, so there is no proof within 50,000 nodes and the network decides.
#[test]
fn open_groups_are_judged_by_the_network() {
    let folder = tempfile::tempdir().unwrap();
    let drawing = "......... ......... ......... ......O.. ......... ..OOO.... .O.X.O... ..XX..... .........";
    fs::write(folder.path().join("open.sgf"), drawn(drawing)).unwrap();
    let rows = [
        ("loadsgf open.sgf", "= black"),
        ("dragon_status C2", "= dead"),
        ("owl_defend C2", "= 0"),
        ("owl_attack D4", "= 0"),
        ("dragon_status D4", "= alive"),
        ("kata-set-param readingVisits 0", "="),
        ("dragon_status C2", "= unknown"),
        ("owl_defend C2", "? not decided within 50000 nodes"),
    ];
    check(folder.path(), &rows);
}

/// Sends all queries to one engine, and compares the responses. An expected response that ends with a space or line
/// break is a prefix.
fn check(folder: &Path, rows: &[(&str, &str)]) {
    // The commands need no controller, because responses arrive in order.
    let mut child = Command::new(env!("CARGO_BIN_EXE_kosumi"))
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let input: String = rows.iter().map(|(command, _)| format!("{command}\n")).collect();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let out = text(&child.wait_with_output().unwrap().stdout);
    let answers: Vec<&str> = out.split("\n\n").map(str::trim).filter(|answer| !answer.is_empty()).collect();
    assert_eq!(answers.len(), rows.len(), "{out}");
    for ((command, expected), answer) in rows.iter().zip(answers) {
        let fits =
            if expected.ends_with([' ', '\n']) { answer.starts_with(expected) } else { answer == *expected };
        assert!(fits, "{command}: {answer} instead of {expected}");
    }
}
