//! Tests of the built-in networks.

use kosumi_eval::{NetworkEvaluator, NetworkSettings};
use kosumi_go::board::{BoardSize, Color, Move, Point, Symmetry};
use kosumi_go::game::{Game, Line};
use kosumi_go::rules::Rules;
use kosumi_net::{BuiltIn, Network, Prediction};
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

fn evaluator(which: BuiltIn) -> NetworkEvaluator {
    NetworkEvaluator::new(Arc::new(Network::built_in(which).unwrap()), NetworkSettings::default(), 1)
}

fn predict(evaluator: &mut NetworkEvaluator, game: &Game) -> Prediction {
    evaluator.predict(&Line::new(game), Symmetry::ALL[0], 0.0).unwrap()
}

/// Returns the column and the row of the most probable move, counted from 0 at the lower left.
fn best(game: &Game, prediction: &Prediction) -> (usize, usize) {
    let index =
        (0..prediction.policy.len()).max_by(|&a, &b| prediction.policy[a].total_cmp(&prediction.policy[b]));
    let (index, columns) = (index.unwrap(), game.size().columns());
    (index % columns, game.size().rows() - 1 - index / columns)
}

#[test]
fn their_first_move_is_not_on_the_first_line() {
    for (which, side) in BuiltIn::ALL.into_iter().flat_map(|which| [7, 9, 13, 19].map(|side| (which, side))) {
        let mut evaluator = evaluator(which);
        let game = Game::new(BoardSize::square(side).unwrap(), Rules::default(), 7.5);
        let (column, row) = best(&game, &predict(&mut evaluator, &game));
        let first_line = [0, side - 1];
        assert!(
            !first_line.contains(&column) && !first_line.contains(&row),
            "{which:?}, {side}: {column}, {row}"
        );
    }
}

#[test]
fn networks_predict_ownership_and_the_leader() {
    BuiltIn::ALL.into_iter().for_each(sees_whose_the_points_are_and_who_has_more);
}

fn sees_whose_the_points_are_and_who_has_more(which: BuiltIn) {
    let mut evaluator = evaluator(which);
    // There are two walls: Black's on the left, and White's beside it. The side with the larger area is to move, so
    // that the opponent cannot live in it. Komi is 7.5.
    for (black_column, leader) in [(2, Color::White), (6, Color::Black)] {
        let mut game = Game::new(BoardSize::square(9).unwrap(), Rules::default(), 7.5);
        for row in 0..9 {
            game.play(Color::Black, Move::Play(Point::new(black_column, row))).unwrap();
            game.play(Color::White, Move::Play(Point::new(black_column + 1, row))).unwrap();
        }
        game.set_to_move(leader);
        // As in the engine, this is the mean over all symmetries.
        let ownership = evaluator.ownership_of(&game);
        for point in game.size().points() {
            let owner = ownership.mean(point);
            let is_blacks = point.column() <= black_column;
            assert!(if is_blacks { owner > 0.5 } else { owner < -0.5 }, "{which:?}, {point:?}: {owner}");
        }
        let value = predict(&mut evaluator, &game).value();
        assert_eq!(value > 0.0, leader == Color::Black, "{which:?}: {value}");
    }
}

#[test]
fn they_notice_komi() {
    for which in BuiltIn::ALL {
        let mut evaluator = evaluator(which);
        let mut value = |komi| {
            let game = Game::new(BoardSize::square(9).unwrap(), Rules::default(), komi);
            predict(&mut evaluator, &game).value()
        };
        let values = [-10.0, 0.0, 7.0, 14.0, 25.0].map(&mut value);
        assert!(values.is_sorted_by(|before, after| before > after), "{which:?}: {values:?}");
        assert!(values[0] > 0.7 && values[2].abs() < 0.4 && values[4] < -0.7, "{which:?}: {values:?}");
    }
}

/// Returns whether `kosumi gtp` succeeds, and the raw network output that it prints.
fn raw_answer(words: &[&str], variable: Option<&str>) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kosumi"));
    command.args(["gtp", "--threads", "1", "--memory", "8", "--boardsize", "5"]).args(words);
    command.env_remove("KOSUMI_MODEL").envs(variable.map(|path| ("KOSUMI_MODEL", path)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that refuses its options does not read its input.
    let _ = child.stdin.take().unwrap().write_all(b"kata-raw-nn 0\nquit\n");
    let output = child.wait_with_output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn built_in_networks_are_the_default() {
    let folder = tempfile::TempDir::new().unwrap();
    let large = raw_answer(&[], None);
    let small = raw_answer(&["--network", "small"], None);
    for (ok, answer) in [&large, &small] {
        assert!(*ok && answer.starts_with("=") && answer.contains("whiteWin"), "{answer}");
    }
    assert_ne!(large, small);
    assert_eq!(raw_answer(&["--network", "large"], Some("/no/such/network")), large, "before the variable");
    assert!(!raw_answer(&["--network", "huge"], None).0);
    // After a conversion for other programs, the networks are the same. The last of several options wins.
    for (which, answer) in [("large", &large), ("small", &small)] {
        let path = folder.path().join(format!("{which}.bin.gz")).into_os_string().into_string().unwrap();
        let mut convert = Command::new(env!("CARGO_BIN_EXE_kosumi"));
        assert!(
            convert.args(["net", "convert", "--network", which, "-o", &path]).status().unwrap().success()
        );
        assert_eq!(&raw_answer(&["--network", "small", "--model", &path], None), answer);
        assert_eq!(&raw_answer(&["--model", "/no/such/network", "--network", which], None), answer);
    }
    let (ok, answer) = raw_answer(&["--no-model"], None);
    assert!(ok && answer.starts_with('?'), "{answer}");
    // It is an error if a named network cannot be used. No other network replaces it.
    assert!(!raw_answer(&["--model", "/no/such/network"], None).0);
    assert!(!raw_answer(&[], Some("/no/such/network")).0);
    assert!(raw_answer(&["--no-model"], Some("/no/such/network")).0);
}
