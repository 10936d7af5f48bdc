//! Proofs of the suite `suites/blind-spots.tst`. `suites/blind-spots/proofs.txt` states the kind of proof of each test:
//!
//! * `board`: the whole board is solved. The right answers are all moves that reach the best score. The komi is half a
//!   point less than that score for the side to move, so every other move loses.
//! * `ladder PREY CUT`: a ladder decides the game, and it is read to the end. The right answer wins with the komi, and
//!   every other move loses. See [`ladders`] for the two chains.
//! * `rule`: the answer follows from the rules, and the suite itself plays the moves.

mod ladders;

use kosumi_go::board::{Color, Move, Point};
use kosumi_go::game::Game;
use kosumi_go::sgf::Record;
use kosumi_solve::{BoardRequest, solve_board};
use kosumi_tools::regress::{Matching, Suite};
use ladders::{Ladder, Question, after, is_legal};
use sgf_tests::{Evaluation, play_kosumi, surprises};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Size of the solver's table, in bytes.
const MEMORY: usize = 64 << 20;
/// Maximum number of nodes of a proof.
const NODES: u64 = 50_000_000;
/// Maximum number of positions of a proof about one first move on a board with a ladder.
const POSITIONS: u64 = 3_000_000;

/// Tests that the small network fails with 60 simulations.
const KNOWN_FAILURES: &[(&str, &[u32])] = &[("blind-spots", &[110, 220, 1110, 1220])];

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

fn check_command(test: &Proven, color: Color) {
    let color = if color == Color::Black { 'b' } else { 'w' };
    assert_eq!(test.command, format!("reg_genmove {color}"), "{}", test.number);
}

/// Solves the board and compares the best moves and the komi.
fn check_board(test: &Proven) {
    let (game, number) = (game(&test.record), test.number);
    let color = game.to_move();
    check_command(test, color);
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

/// Proves for every first move whether it wins, with the komi of the record.
fn check_ladder(test: &Proven, chains: &str) {
    let (game, number) = (game(&test.record), test.number);
    let (board, color) = (game.board(), game.to_move());
    check_command(test, color);
    let point = |name: &str| board.size().points().find(|point| point.to_string() == name).unwrap();
    let (prey, cut) = chains.split_once(' ').unwrap();
    let ladder = Ladder { chaser: color, prey: point(prey), cut: point(cut) };
    // Least score of each side with which it wins.
    let least = |side: Color| {
        let komi = if side == Color::Black { game.komi() } else { -game.komi() };
        (komi + 0.5) as i32
    };
    let first: Vec<Point> = board.size().points().filter(|&it| is_legal(board, it, color)).collect();
    for mv in first.into_iter().map(Move::Play).chain([Move::Pass]) {
        let next = if let Move::Play(point) = mv { after(board, point, color) } else { *board };
        if test.moves.contains(&mv.to_string()) {
            let mut question = Question::new(ladder, color, least(color), POSITIONS);
            assert!(question.wins_after(board, &next), "{number}: {mv} is not proven to win");
        } else {
            let opponent = color.opponent();
            let mut question = Question::new(ladder, opponent, least(opponent), POSITIONS);
            assert!(question.wins_to_move(board, &next), "{number}: {mv} is not proven to lose");
        }
    }
}

#[test]
fn short_proofs() {
    let mut kinds = BTreeSet::new();
    for test in tests() {
        match test.proof.as_str() {
            "board" => check_board(&test),
            ladder if ladder.starts_with("ladder ") => {}
            "rule" => assert!(test.command.starts_with("is_legal "), "{}", test.number),
            other => panic!("{}: unknown proof {other}", test.number),
        }
        kinds.insert(test.number / 100);
    }
    assert!(kinds.len() >= 13, "{kinds:?}");
}

#[test]
fn ladders_decide() {
    let tests = tests();
    let ladders = tests.iter().filter_map(|test| Some((test, test.proof.strip_prefix("ladder ")?)));
    std::thread::scope(|scope| {
        for (test, chains) in ladders {
            scope.spawn(move || check_ladder(test, chains));
        }
    });
}

#[test]
fn the_small_network_answers_right() {
    let results = play_kosumi(&[suites().join("blind-spots.tst")], Evaluation::Network(60)).unwrap();
    let surprises = surprises(&results, KNOWN_FAILURES);
    assert!(surprises.is_empty(), "{surprises:#?}");
}
