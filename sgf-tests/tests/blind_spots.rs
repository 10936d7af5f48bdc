//! Proofs of the suite `suites/blind-spots.tst`. `suites/blind-spots/proofs.txt` states the kind of proof of each test:
//!
//! * `board`: the whole board is solved. The right answers are all moves that reach the best score. The komi is half a
//!   point less than that score for the side to move, so every other move loses.
//! * `rule`: the answer follows from the rules, and the suite itself plays the moves.

use kosumi_go::board::{Color, Move};
use kosumi_go::game::Game;
use kosumi_go::sgf::Record;
use kosumi_solve::{BoardRequest, solve_board};
use kosumi_tools::regress::{Matching, Suite};
use sgf_tests::{Evaluation, play_kosumi, surprises};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Size of the solver's table, in bytes.
const MEMORY: usize = 64 << 20;
/// Maximum number of nodes of a proof.
const NODES: u64 = 50_000_000;

/// Tests that the small network fails with 60 simulations.
const KNOWN_FAILURES: &[(&str, &[u32])] = &[("blind-spots", &[110, 220, 1110])];

fn suites() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("suites")
}

/// A test of the suite with its proof.
struct Proven {
    number: u32,
    proof: String,
    /// Game record that the test loads.
    record: PathBuf,
    /// Command of the test.
    command: String,
    /// Moves in the pattern of the expected answer.
    moves: BTreeSet<String>,
}

/// Returns all tests of the suite, in order. Panics if a test has no proof or a proof has no test.
fn tests() -> Vec<Proven> {
    let path = suites().join("blind-spots.tst");
    let text = std::fs::read_to_string(&path).unwrap();
    let proofs = std::fs::read_to_string(suites().join("blind-spots/proofs.txt")).unwrap();
    let mut proofs: Vec<(u32, String)> = proofs
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split_once(' ').unwrap())
        .map(|(number, proof)| (number.parse().unwrap(), proof.to_owned()))
        .collect();
    let suite = Suite::parse(&path, &text, Matching::Full).unwrap();
    assert!(suite.warnings.is_empty(), "{:?}", suite.warnings);
    let mut record = PathBuf::new();
    let mut found = Vec::new();
    for step in &suite.steps {
        if let Some(file) = step.command.strip_prefix("loadsgf ") {
            record = suites().join(file);
        }
        let Some(number) = step.number else { continue };
        let line = text.lines().skip(step.line).find(|line| line.starts_with("#?")).unwrap();
        let pattern = line.trim_start_matches("#?").trim().trim_end_matches('*');
        let pattern = pattern.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap();
        let moves = pattern.trim_matches(['(', ')']);
        let index = proofs.iter().position(|&(it, _)| it == number);
        let index = index.unwrap_or_else(|| panic!("test {number} has no proof"));
        found.push(Proven {
            number,
            proof: proofs.remove(index).1,
            record: record.clone(),
            command: step.command.clone(),
            moves: moves.split('|').map(str::to_owned).collect(),
        });
    }
    assert!(proofs.is_empty(), "proofs without a test: {proofs:?}");
    found
}

fn game(record: &Path) -> Game {
    let record = Record::parse(&std::fs::read(record).unwrap()).unwrap();
    record.game(record.rules().unwrap_or_default(), 0.0, None).unwrap()
}

/// Solves the board and compares the best moves and the komi.
fn check_board(test: &Proven) {
    let (game, number) = (game(&test.record), test.number);
    let color = game.to_move();
    assert_eq!(
        test.command,
        format!("reg_genmove {}", if color == Color::Black { 'b' } else { 'w' }),
        "{number}"
    );
    let request = BoardRequest {
        board: game.board(),
        to_move: color,
        moves: &[],
        rules: game.rules(),
        memory: MEMORY,
        all_best: true,
        cycles_lose_for: Color::Black,
        threads: 1,
        guess: None,
    };
    let answer = solve_board(&request, &|nodes| nodes > NODES, &|_| {}).unwrap();
    let score = answer.score().unwrap_or_else(|| panic!("{number}: not decided"));
    assert!(answer.best_is_complete, "{number}");
    let best: BTreeSet<String> = answer.best.iter().map(Move::to_string).collect();
    assert_eq!(best, test.moves, "{number}: {} nodes", answer.nodes);
    let half = if color == Color::Black { 0.5 } else { -0.5 };
    assert_eq!(game.komi(), score as f32 - half, "{number}: the best score is {score}");
}

#[test]
fn short_proofs() {
    let mut kinds = BTreeSet::new();
    for test in tests() {
        match test.proof.as_str() {
            "board" => check_board(&test),
            "rule" => assert!(test.command.starts_with("is_legal "), "{}", test.number),
            other => panic!("{}: unknown proof {other}", test.number),
        }
        kinds.insert(test.number / 100);
    }
    assert!(kinds.len() >= 11, "{kinds:?}");
}

#[test]
fn the_small_network_answers_right() {
    let results = play_kosumi(&[suites().join("blind-spots.tst")], Evaluation::Network(60)).unwrap();
    let surprises = surprises(&results, KNOWN_FAILURES);
    assert!(surprises.is_empty(), "{surprises:#?}");
}
