//! What KataGo computes with a published network, position by position: features, forward pass and what the
//! numbers mean, on boards of many sizes, under many rules and komi.
//!
//! Network and answers are not part of this project: the tests look for them in `../shared` and say when they do
//! nothing.

use kosumi::board::{BoardSize, Color, Move, Point};
use kosumi::game::{Game, Line};
use kosumi::net::{
    Context, Features, Input, Kernel, Network, Prediction, Prepared, Scratch, features, scalar,
};
use kosumi::rules::Rules;
use kosumi_test_support::shared;
use rayon::prelude::*;
use serde::Deserialize;
use std::fs;
use std::time::{Duration, Instant};

/// How closely must probabilities, owners, lead and score agree, and in what share of the positions the best move?
struct Tolerance {
    probability: f64,
    points: f64,
    same_move: f64,
}

const EXACT: Tolerance = Tolerance { probability: 1e-3, points: 1e-3, same_move: 0.99 };

/// For numbers of 16 bits.
const ROUNDED: Tolerance = Tolerance { probability: 2e-2, points: 0.5, same_move: 0.97 };

/// One position, and `kata-raw-nn 0` there.
#[derive(Deserialize)]
struct Row {
    columns: usize,
    rows: usize,
    rules: String,
    komi: f32,
    moves: Vec<(char, String)>,
    to_play: char,
    raw: Raw,
}

/// As White sees it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    white_win: f64,
    white_loss: f64,
    no_result: f64,
    white_lead: f64,
    white_score_selfplay: f64,
    /// `null` where a move is illegal.
    policy: Vec<Vec<Option<f64>>>,
    policy_pass: f64,
    white_ownership: Vec<Vec<f64>>,
}

fn rows() -> Option<Vec<Row>> {
    let text = fs::read_to_string(shared("oracle/katago-b6c96-raw.jsonl")?).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn network() -> Option<Network> {
    let path = shared("models/g170-b6c96-s175395328-d26788732.bin.gz")?;
    Some(Network::open(&path).unwrap())
}

fn color(letter: char) -> Color {
    if letter == 'B' { Color::Black } else { Color::White }
}

fn point(size: BoardSize, text: &str) -> Option<Point> {
    let column = "ABCDEFGHJKLMNOPQRSTUVWXYZ".find(&text[..1])?;
    size.point(column, text[1..].parse::<usize>().ok()? - 1)
}

fn game(row: &Row) -> Game {
    let size = BoardSize::new(row.columns, row.rows).unwrap();
    let rules = Rules::preset(&row.rules).unwrap().rules;
    let mut game = Game::new(size, rules, row.komi);
    for (player, text) in &row.moves {
        let mv = if text == "pass" { Move::Pass } else { Move::Play(point(size, text).unwrap()) };
        game.play(color(*player), mv).unwrap();
    }
    game.set_to_move(color(row.to_play));
    game
}

/// With the plain forward pass, or with one of the kernels.
fn predict(network: &Network, prepared: Option<&Prepared>, game: &Game) -> Prediction {
    let line = Line::new(game);
    let (mut input, mut legal) = (Input::zero(1, 1), Vec::new());
    Features::default().fill(&line, &mut input);
    features::legal_points(&line, &mut legal);
    let no_result = features::can_have_no_result(game.rules());
    let context = Context { legal: &legal, no_result, optimism: 0.0 };
    let output = match prepared {
        Some(prepared) => prepared.evaluate_one(&input, &mut Scratch::default()),
        None => scalar::evaluate(network, &input),
    };
    let output = output.unwrap();
    Prediction::new(network, &output, context).unwrap()
}

/// The largest differences: policy, result, lead, mean score, ownership.
fn differences(row: &Row, prediction: &Prediction) -> [f64; 5] {
    let sign = if row.to_play == 'W' { 1.0 } else { -1.0 };
    let (white_win, white_loss) = match row.to_play {
        'W' => (prediction.win, prediction.loss),
        _ => (prediction.loss, prediction.win),
    };
    let raw = &row.raw;
    let most =
        |pairs: &mut dyn Iterator<Item = (f64, f64)>| pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let points = prediction.policy.iter().map(|&p| f64::from(p));
    let wanted = raw.policy.iter().flatten().map(|p| p.unwrap_or(0.0));
    let pass = (f64::from(prediction.pass), raw.policy_pass);
    let results =
        [(white_win, raw.white_win), (white_loss, raw.white_loss), (prediction.no_result, raw.no_result)];
    let owners = prediction.ownership.iter().map(|&owner| sign * f64::from(owner));
    [
        most(&mut points.zip(wanted).chain([pass])),
        most(&mut results.into_iter().map(|(a, b)| (f64::from(a), b))),
        most(&mut [(sign * f64::from(prediction.lead), raw.white_lead)].into_iter()),
        most(&mut [(sign * f64::from(prediction.score_mean), raw.white_score_selfplay)].into_iter()),
        most(&mut owners.zip(raw.white_ownership.iter().flatten().copied())),
    ]
}

/// Is the most probable move the same, or as probable as far as KataGo's six digits say?
fn same_move(row: &Row, prediction: &Prediction) -> bool {
    let wanted = row.raw.policy.iter().flatten().map(|p| p.unwrap_or(0.0)).chain([row.raw.policy_pass]);
    let wanted: Vec<f64> = wanted.collect();
    let found = prediction.policy.iter().chain([&prediction.pass]);
    let Some((best, _)) = found.enumerate().max_by(|a, b| a.1.total_cmp(b.1)) else { return false };
    wanted[best] >= wanted.iter().copied().fold(0.0, f64::max) - 1e-6
}

#[test]
fn every_position_is_seen_and_judged_as_katago_does() {
    let (Some(rows), Some(network)) = (rows(), network()) else { return };
    assert!(rows.len() > 100);
    compare(&rows, &network, None);
}

#[test]
fn kernels_judge_every_position_as_katago_does() {
    let (Some(rows), Some(network)) = (rows(), network()) else { return };
    for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
        compare(&rows, &network, Some(&Prepared::new(&network, kernel)));
    }
    // What the fastest kernel would do where it cannot run; slow, hence for some of the positions.
    let small: Vec<Row> = rows.into_iter().filter(|row| row.columns * row.rows <= 81).collect();
    compare(&small, &network, Some(&Prepared::new(&network, Kernel::EmulatedBf16)));
}

#[test]
#[ignore = "a minute: cargo test --profile checked --test katago_oracle rounded -- --ignored --nocapture"]
fn rounded_numbers_judge_every_position_nearly_as_katago_does() {
    let (Some(rows), Some(network)) = (rows(), network()) else { return };
    compare(&rows, &network, Some(&Prepared::new(&network, Kernel::EmulatedBf16)));
}

fn compare(rows: &[Row], network: &Network, prepared: Option<&Prepared>) {
    let found: Vec<(&Row, [f64; 5], bool, bool)> = rows
        .par_iter()
        .map(|row| {
            let game = game(row);
            let prediction = predict(network, prepared, &game);
            assert_eq!(prediction.policy.len(), row.raw.policy.iter().flatten().count());
            let legal =
                game.size().points().map(|point| game.check(game.to_move(), Move::Play(point)).is_ok());
            let legal_count = row.raw.policy.iter().flatten().flatten().count();
            let same_legal = legal.filter(|&legal| legal).count() == legal_count;
            (row, differences(row, &prediction), same_legal, same_move(row, &prediction))
        })
        .collect();
    let tolerance = if prepared.is_some_and(|it| it.kernel().is_rounded()) { ROUNDED } else { EXACT };
    let Tolerance { probability, points, .. } = tolerance;
    let mut wrong = Vec::new();
    let mut worst = [0.0; 5];
    for (index, (row, differences, same_legal, _)) in found.iter().enumerate() {
        let most = [probability, probability, points, points, probability];
        if differences.iter().zip(most).any(|(&difference, most)| difference > most) || !same_legal {
            wrong.push(format!(
                "{index}: {}×{} {} komi {}, {} moves: {differences:.5?}, legal {same_legal}",
                row.columns,
                row.rows,
                row.rules,
                row.komi,
                row.moves.len()
            ));
        }
        worst.iter_mut().zip(differences).for_each(|(worst, &difference)| *worst = difference.max(*worst));
    }
    let same_moves = found.iter().filter(|it| it.3).count();
    eprintln!(
        "{} positions, {}; largest differences: policy, result, lead, score, ownership: {worst:.6?}; best move the \
         same in {same_moves}",
        rows.len(),
        prepared.map_or("plain", |prepared| prepared.kernel().name())
    );
    assert!(same_moves as f64 >= tolerance.same_move * rows.len() as f64, "the best moves differ");
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
#[ignore = "a measurement: cargo test --release --test katago_oracle speed -- --ignored --nocapture"]
fn speed() {
    let Some(rows) = rows() else { return };
    eprintln!("microseconds for one extraction: nothing known, ladders of the two positions before known");
    for side in [9, 13, 19] {
        let games: Vec<Game> = rows
            .iter()
            .filter(|row| row.columns == side && row.rows == side && row.moves.len() >= side * side / 6)
            .map(game)
            .collect();
        let mut input = Input::zero(side, side);
        let mut features = Features::default();
        let (mut cold, mut warm) = (Vec::new(), Vec::new());
        for (index, game) in games.iter().enumerate() {
            // As in a search: four moves below the root, after the position before has been looked at.
            let mut root = game.clone();
            let moves: Vec<Move> = (0..4).filter_map(|_| Some(root.undo()?.mv)).collect();
            let mut line = Line::new(&root);
            moves[1..].iter().rev().for_each(|&mv| line.play(mv));
            let before = line.clone();
            line.play(moves[0]);
            let other = &games[(index + 1) % games.len()];
            // The best of several, because other programs run too.
            let best =
                |times: [Duration; 2], more: [Duration; 2]| [times[0].min(more[0]), times[1].min(more[1])];
            let times = (0..20).map(|_| {
                let mut time = |line: &Line<'_>, features: &mut Features| {
                    let start = Instant::now();
                    features.fill(line, &mut input);
                    start.elapsed()
                };
                features = Features::default();
                time(&Line::new(other), &mut features);
                let cold = time(&line, &mut features);
                features = Features::default();
                time(&before, &mut features);
                [cold, time(&line, &mut features)]
            });
            let [best_cold, best_warm] = times.reduce(best).expect("several");
            cold.push(best_cold.as_secs_f64() * 1e6);
            warm.push(best_warm.as_secs_f64() * 1e6);
        }
        let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
        let most = |times: &[f64]| times.iter().copied().fold(0.0, f64::max);
        eprintln!(
            "{side}×{side}: {:.1} (at most {:.1}), {:.1} (at most {:.1}); {} positions after {:.0} moves",
            mean(&cold),
            most(&cold),
            mean(&warm),
            most(&warm),
            games.len(),
            mean(&games.iter().map(|game| game.records().len() as f64).collect::<Vec<_>>())
        );
    }
}
