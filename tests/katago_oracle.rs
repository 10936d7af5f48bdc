//! Comparison with KataGo's output of published networks: features, forward pass and predictions, on boards of many
//! sizes, under many rules and komi.
//!
//! The networks and outputs are not part of this project. The tests look for them in `../shared`, and report it when
//! they are skipped.

use kosumi_engine::{Engine, EngineSettings};
use kosumi_go::board::{BoardSize, Color, Move, Point};
use kosumi_go::game::{Game, Line};
use kosumi_go::rules::Rules;
use kosumi_net::{
    Arithmetic, Context, Features, Input, Kernel, Network, Output, Precision, Prediction, Prepared, Scratch,
    features, scalar,
};
use kosumi_test_support::shared;
use kosumi_tools::commands::Commands;
use rayon::prelude::*;
use serde::Deserialize;
use std::fs;
use std::io::Cursor;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum differences of probabilities and ownership, and of lead and score in points, and minimum share of positions
/// with the same best move.
struct Tolerance {
    probability: f64,
    points: f64,
    same_move: f64,
}

/// Tolerance for 32-bit numbers. KataGo prints points with a precision of 0.001.
const EXACT: Tolerance = Tolerance { probability: 2e-5, points: 2e-3, same_move: 0.99 };

/// Tolerance for 16-bit numbers.
const ROUNDED: Tolerance = Tolerance { probability: 2e-2, points: 0.5, same_move: 0.97 };

/// Published network, and KataGo's output with it: files of `../shared/models` and `../shared/oracle`.
#[derive(Clone, Copy)]
struct Oracle {
    model: &'static str,
    answers: &'static str,
}

/// Network with convolutions only; version 8.
const B6C96: Oracle =
    Oracle { model: "g170-b6c96-s175395328-d26788732.bin.gz", answers: "katago-b6c96-raw.jsonl" };

/// Network with attention in bottlenecks, with learned angles; version 15.
const B10C384: Oracle = Oracle { model: "b10c384h6nbttflrs.bin.gz", answers: "katago-b10-raw.jsonl" };

/// Network with attention with fixed angles, and with a norm per point at the end; version 17.
const B7C96H3: Oracle = Oracle { model: "b7c96h3tfrs-test5-cnorm.bin.gz", answers: "katago-b7h3-raw.jsonl" };

/// Network with heads that share keys, and with values narrower than keys; version 17.
const B7C96H6: Oracle =
    Oracle { model: "b7c96h6kv3qk32v16tflrs-fson-bnh.bin.gz", answers: "katago-b7h6-raw.jsonl" };

const ORACLES: [Oracle; 4] = [B6C96, B7C96H3, B7C96H6, B10C384];

/// Position with KataGo's response to `kata-raw-nn 0`.
#[derive(Deserialize)]
struct Row {
    columns: usize,
    rows: usize,
    rules: String,
    komi: f32,
    moves: Vec<(char, String)>,
    to_play: char,
    raw: Raw,
    /// Policy at optimism 1, for networks that have an optimistic policy.
    optimistic: Option<Policy>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Policy {
    /// Probabilities by row; `null` for illegal moves.
    policy: Vec<Vec<Option<f64>>>,
    policy_pass: f64,
}

/// Output of the network, from White's perspective.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    white_win: f64,
    white_loss: f64,
    no_result: f64,
    white_lead: f64,
    white_score_selfplay: f64,
    #[serde(flatten)]
    policy: Policy,
    white_ownership: Vec<Vec<f64>>,
}

impl Oracle {
    /// Loads the positions and the network, if they are available.
    fn load(self) -> Option<(Vec<Row>, Network)> {
        let answers = shared("oracle")?.join(self.answers);
        let model = shared("models")?.join(self.model);
        let text = fs::read_to_string(answers).unwrap();
        let rows: Vec<Row> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(rows.len() > 100);
        Some((rows, Network::open(&model).unwrap()))
    }
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

/// Evaluates a position with the plain forward pass or with a kernel. Returns the plain and the optimistic prediction.
fn predict(network: &Network, prepared: Option<&Prepared>, game: &Game) -> [Prediction; 2] {
    predict_with(network, game, &|input| {
        match prepared {
            Some(prepared) => prepared.evaluate_one(input, &mut Scratch::default()),
            None => scalar::evaluate(network, input),
        }
        .unwrap()
    })
}

/// Evaluates a position with a function. Returns the plain and the optimistic prediction.
fn predict_with(network: &Network, game: &Game, evaluate: &dyn Fn(&Input) -> Output) -> [Prediction; 2] {
    let line = Line::new(game);
    let (mut input, mut legal) = (Input::zero(1, 1), Vec::new());
    Features::default().fill(&line, &mut input);
    features::legal_points(&line, &mut legal);
    let no_result = features::can_have_no_result(game.rules());
    let output = evaluate(&input);
    [0.0, 1.0].map(|optimism| {
        Prediction::new(
            network,
            &output,
            Context { legal: &legal, no_result, optimism_share: optimism, temperature: 1.0 },
        )
        .unwrap()
    })
}

fn most(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn policy_difference(wanted: &Policy, prediction: &Prediction) -> f64 {
    let points = prediction.policy.iter().map(|&p| f64::from(p));
    let pass = (f64::from(prediction.pass), wanted.policy_pass);
    most(points.zip(wanted.policy.iter().flatten().map(|p| p.unwrap_or(0.0))).chain([pass]))
}

/// Compared values, in this order.
const COMPARED: &str = "policy, optimistic policy, result, lead, score, ownership";

/// Returns the largest differences.
fn differences(row: &Row, [prediction, optimistic]: &[Prediction; 2]) -> [f64; 6] {
    let sign = if row.to_play == 'W' { 1.0 } else { -1.0 };
    let (white_win, white_loss) = match row.to_play {
        'W' => (prediction.win, prediction.loss),
        _ => (prediction.loss, prediction.win),
    };
    let raw = &row.raw;
    let results =
        [(white_win, raw.white_win), (white_loss, raw.white_loss), (prediction.no_result, raw.no_result)];
    let owners = prediction.ownership.iter().map(|&owner| sign * f64::from(owner));
    [
        policy_difference(&raw.policy, prediction),
        row.optimistic.as_ref().map_or(0.0, |wanted| policy_difference(wanted, optimistic)),
        most(results.into_iter().map(|(a, b)| (f64::from(a), b))),
        (sign * f64::from(prediction.lead) - raw.white_lead).abs(),
        (sign * f64::from(prediction.score_mean) - raw.white_score_selfplay).abs(),
        most(owners.zip(raw.white_ownership.iter().flatten().copied())),
    ]
}

/// Returns whether the most probable moves are the same, or equally probable within KataGo's six digits.
fn same_move(row: &Row, prediction: &Prediction) -> bool {
    let wanted = &row.raw.policy;
    let wanted = wanted.policy.iter().flatten().map(|p| p.unwrap_or(0.0)).chain([wanted.policy_pass]);
    let wanted: Vec<f64> = wanted.collect();
    let found = prediction.policy.iter().chain([&prediction.pass]);
    let Some((best, _)) = found.enumerate().max_by(|a, b| a.1.total_cmp(b.1)) else { return false };
    wanted[best] >= wanted.iter().copied().fold(0.0, f64::max) - 1e-6
}

fn small(rows: &[Row]) -> Vec<&Row> {
    rows.iter().filter(|row| row.columns * row.rows <= 81).collect()
}

#[test]
fn small_boards_match_katagos_output() {
    for oracle in ORACLES {
        let Some((rows, network)) = oracle.load() else { continue };
        compare(&small(&rows), &network, None);
    }
}

/// Parses the numbers in a response to `kata-raw-nn`. An illegal point is −1.
fn numbers(answer: &str) -> Vec<f64> {
    let words = answer.split_whitespace();
    words.filter_map(|word| if word == "NAN" { Some(-1.0) } else { word.parse().ok() }).collect()
}

/// Compares whole responses to `kata-raw-nn` with KataGo's, one of them for the colour that is not to move.
#[test]
fn raw_answers_are_written_as_katago_does() {
    let (Some((_, network)), Some(path)) = (B6C96.load(), shared("oracle/katago-gtp-new-commands.txt"))
    else {
        eprintln!("skipped: no katago-gtp-new-commands.txt in ../shared/oracle");
        return;
    };
    let recorded = fs::read_to_string(path).unwrap();
    let wanted: Vec<&str> = recorded.split("\n\n").filter(|it| it.starts_with("= symmetry 0")).collect();
    let rules = Rules::preset("tromp-taylor").unwrap().rules;
    let mut settings = EngineSettings { threads: 1, memory_mebibytes: 2, rules, ..EngineSettings::default() };
    settings.network.arithmetic.precision = Some(Precision::F32);
    let engine = Engine::with_network(settings, Some(Arc::new(network)));
    let input = "boardsize 5\nclear_board\nkomi 6.5\nplay B C3\nkata-raw-nn 0\nkata-raw-nn b 0 0.5\n\
                 kata-raw-nn 0 b\nkata-raw-nn 9\nkata-raw-nn 0 1.5\nkata-raw-nn\n";
    let mut output = Vec::new();
    kosumi_gtp::serve(Cursor::new(input.as_bytes().to_vec()), &mut output, &mut Commands::new(engine))
        .unwrap();
    let output = String::from_utf8(output).unwrap();
    let answers: Vec<&str> = output.split_terminator("\n\n").collect();
    assert_eq!(wanted.len(), 2);
    for (found, wanted) in answers[4..6].iter().zip(&wanted) {
        let (of_found, of_wanted) = (numbers(found), numbers(wanted));
        assert_eq!(of_found.len(), of_wanted.len(), "{found}\n{wanted}");
        for (found, wanted) in of_found.iter().zip(&of_wanted) {
            // Numbers of points have three decimal places.
            assert!(
                (found - wanted).abs() < 2e-5 * wanted.abs().max(1.0) + 1.5e-3,
                "{found} instead of {wanted}"
            );
        }
        let names = |text: &str| {
            text.lines()
                .filter_map(|line| line.split(' ').next().map(str::to_owned))
                .filter(|word| word.contains(char::is_alphabetic))
                .collect::<Vec<_>>()
        };
        assert_eq!(names(found), names(wanted));
    }
    assert!(answers[6..].iter().all(|answer| answer.starts_with('?')), "{answers:#?}");
}

#[test]
#[ignore = "minutes: cargo test --profile checked --test program katago_oracle::every_position -- --ignored --nocapture"]
fn every_position_matches_katagos_output() {
    for oracle in ORACLES {
        let Some((rows, network)) = oracle.load() else { continue };
        compare(&rows.iter().collect::<Vec<_>>(), &network, None);
    }
}

const EMULATED: Arithmetic = Arithmetic { kernel: Kernel::EmulatedBf16, precision: Precision::Bf16 };

/// Compares the results of all kernels of this processor for every position, or for every fourth one if a network is
/// large.
fn compare_kernels(fourth_of_large: bool) {
    for oracle in ORACLES {
        let Some((rows, network)) = oracle.load() else { continue };
        let step = if fourth_of_large && network.cost().parameters > 2_000_000 { 4 } else { 1 };
        for arithmetic in Arithmetic::available() {
            // The portable kernel is slow. Its integer results equal those of AVX-512 VNNI.
            let is_slow = arithmetic.kernel == Kernel::Portable;
            if is_slow && arithmetic.precision == Precision::Int8 {
                continue;
            }
            let rows: Vec<&Row> =
                rows.iter().step_by(step).filter(|row| !is_slow || row.columns * row.rows <= 49).collect();
            let prepared = Prepared::new(&network, arithmetic);
            if arithmetic.precision == Precision::Int8 {
                compare_integers(&rows, &network, &prepared);
            } else {
                compare(&rows, &network, Some(&prepared));
            }
        }
    }
}

#[test]
fn kernels_judge_positions_as_katago_does() {
    compare_kernels(true);
    // The emulation of AMX tiles is slow, so only some positions are used.
    let Some((rows, network)) = B6C96.load() else { return };
    compare(&small(&rows), &network, Some(&Prepared::new(&network, EMULATED)));
}

#[test]
#[ignore = "minutes: cargo test --profile checked --test program katago_oracle::kernels_judge_every -- --ignored --nocapture"]
fn kernels_judge_every_position_as_katago_does() {
    compare_kernels(false);
}

#[test]
#[ignore = "a minute: cargo test --profile checked --test program katago_oracle::rounded -- --ignored --nocapture"]
fn rounded_numbers_judge_every_position_nearly_as_katago_does() {
    let Some((rows, network)) = B6C96.load() else { return };
    compare(&rows.iter().collect::<Vec<_>>(), &network, Some(&Prepared::new(&network, EMULATED)));
}

/// Compares 8-bit evaluations with the plain forward pass. If one move is clearly best, the best move must nearly
/// always be the same. Probabilities and results must be similar on average.
fn compare_integers(rows: &[&Row], network: &Network, prepared: &Prepared) {
    /// Difference by which the probability of a move must exceed that of every other move to be clearly best.
    const LEAD: f64 = 0.02;
    struct Agreement {
        leads: bool,
        same: bool,
        divergence: f64,
        result: f64,
    }
    let found: Vec<Agreement> = rows
        .par_iter()
        .map(|row| {
            let [prediction, _] = predict(network, Some(prepared), &game(row));
            let policy = &row.raw.policy;
            let wanted: Vec<f64> = policy
                .policy
                .iter()
                .flatten()
                .map(|p| p.unwrap_or(0.0))
                .chain([policy.policy_pass])
                .collect();
            let found: Vec<f64> =
                prediction.policy.iter().chain([&prediction.pass]).map(|&p| f64::from(p)).collect();
            let most =
                |numbers: &[f64]| (0..numbers.len()).max_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
            let best = most(&wanted).unwrap();
            let second = (0..wanted.len()).filter(|&mv| mv != best).map(|mv| wanted[mv]).fold(0.0, f64::max);
            let terms = wanted.iter().zip(&found).filter(|(wanted, _)| **wanted > 0.0);
            let divergence = terms.map(|(wanted, found)| wanted * (wanted / found.max(1e-9)).ln()).sum();
            let [_, _, result, ..] = differences(row, &[prediction.clone(), prediction]);
            Agreement {
                leads: wanted[best] - second >= LEAD,
                same: most(&found) == Some(best),
                divergence,
                result,
            }
        })
        .collect();
    let leading = found.iter().filter(|it| it.leads).count();
    let same = found.iter().filter(|it| it.leads && it.same).count();
    let mean = |number: fn(&Agreement) -> f64| found.iter().map(number).sum::<f64>() / found.len() as f64;
    let (divergence, result) = (mean(|it| it.divergence), mean(|it| it.result));
    eprintln!(
        "{}, {}: {} positions; best move the same in {same} of {leading} where it leads by {LEAD}; mean divergence \
         {divergence:.5}, of results {result:.5}",
        network.name(),
        prepared.arithmetic().name(),
        rows.len()
    );
    assert!(same as f64 >= 0.95 * leading as f64 && divergence <= 0.02 && result <= 0.03);
}

fn compare(rows: &[&Row], network: &Network, prepared: Option<&Prepared>) {
    let tolerance = match prepared {
        Some(prepared) if prepared.arithmetic().is_rounded() => ROUNDED,
        _ => EXACT,
    };
    let name = prepared.map_or("plain".to_owned(), |prepared| prepared.arithmetic().name());
    compare_with(rows, network, &name, tolerance, &|game| predict(network, prepared, game));
}

/// Compares predictions with KataGo's. `name` names the source of the predictions.
fn compare_with(
    rows: &[&Row],
    network: &Network,
    name: &str,
    tolerance: Tolerance,
    predict: &(dyn Fn(&Game) -> [Prediction; 2] + Sync),
) {
    let found: Vec<(&Row, [f64; 6], bool, bool)> = rows
        .par_iter()
        .map(|&row| {
            let game = game(row);
            let predictions = predict(&game);
            let wanted = &row.raw.policy.policy;
            assert_eq!(predictions[0].policy.len(), wanted.iter().flatten().count());
            let legal =
                game.size().points().map(|point| game.check(game.to_move(), Move::Play(point)).is_ok());
            let legal_count = wanted.iter().flatten().flatten().count();
            let same_legal = legal.filter(|&legal| legal).count() == legal_count;
            (row, differences(row, &predictions), same_legal, same_move(row, &predictions[0]))
        })
        .collect();
    let Tolerance { probability, points, .. } = tolerance;
    let mut wrong = Vec::new();
    let mut worst = [0.0; 6];
    for (index, (row, differences, same_legal, _)) in found.iter().enumerate() {
        let most = [probability, probability, probability, points, points, probability];
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
        "{}: {} positions, {}; largest differences: {COMPARED}: {worst:.6?}; best move the same in {same_moves}",
        network.name(),
        rows.len(),
        name
    );
    assert!(same_moves as f64 >= tolerance.same_move * rows.len() as f64, "the best moves differ");
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
#[ignore = "a measurement: cargo test --release --test program katago_oracle::speed -- --ignored --nocapture"]
fn speed() {
    let Some((rows, _)) = B6C96.load() else { return };
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
            // As in a search, the position is four moves below the root, and the position before it has already been
            // encoded.
            let mut root = game.clone();
            let moves: Vec<Move> = (0..4).filter_map(|_| Some(root.undo()?.mv)).collect();
            let mut line = Line::new(&root);
            moves[1..].iter().rev().for_each(|&mv| line.play(mv));
            let before = line.clone();
            line.play(moves[0]);
            let other = &games[(index + 1) % games.len()];
            // The minimum of several measurements, because other programs run at the same time.
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

/// Tests of graphics cards, or of a software driver for one.
#[cfg(feature = "gpu")]
mod cards {
    use super::{
        B6C96, B7C96H3, B7C96H6, ORACLES, Oracle, ROUNDED, Row, Tolerance, compare_with, predict_with,
    };
    use kosumi_gpu::{Card, Gpu, GpuOptions, cards};
    use kosumi_net::{Device, Network};
    use kosumi_test_support::{Requirement, require};
    use std::sync::Arc;
    use std::time::Duration;

    /// Tolerance for a card: it adds sums in another order than KataGo, and its functions are less exact than the
    /// processor's.
    const ON_A_CARD: Tolerance = Tolerance { probability: 2e-4, points: 2e-2, same_move: 0.99 };

    fn card() -> Option<Card> {
        let found = cards().into_iter().min_by_key(Card::order);
        let missing = || "there is no graphics card and no software driver".to_owned();
        require(Requirement::Gpu, found.ok_or_else(missing))
    }

    /// Compares a card with KataGo, in 32 and in 16 bits.
    fn compare_card(rows: &[&Row], network: &Network, card: &Card) {
        for half in [false, true] {
            let options = GpuOptions {
                half,
                matrix_units: true,
                batch: 8,
                cache: None,
                on_failure: Box::new(|reason| panic!("{reason}")),
                on_note: Box::new(|note| panic!("{note}")),
                fault: None,
            };
            let gpu = Gpu::start(card, network, options, Arc::new(|| Duration::ZERO)).unwrap();
            if half && !gpu.is_half() {
                continue;
            }
            let tolerance = if half { ROUNDED } else { ON_A_CARD };
            let name = format!("{} in {}", card.title(), if half { "f16" } else { "f32" });
            compare_with(rows, network, &name, tolerance, &|game| {
                predict_with(network, game, &|input| gpu.evaluate(&[input]).pop().flatten().unwrap())
            });
        }
    }

    fn compare_all(oracles: &[Oracle], keep: impl Fn(&Row) -> bool) {
        let Some(card) = card() else { return };
        for oracle in oracles {
            let Some((rows, network)) = oracle.load() else { continue };
            let rows: Vec<&Row> = rows.iter().filter(|row| keep(row)).collect();
            assert!(!rows.is_empty());
            compare_card(&rows, &network, &card);
        }
    }

    #[test]
    fn card_judges_positions_on_small_boards_as_katago_does() {
        compare_all(&[B6C96, B7C96H3, B7C96H6], |row| row.columns * row.rows <= 49);
    }

    #[test]
    #[ignore = "hours on a software driver: cargo test --features gpu --profile checked --test program katago_oracle::cards -- --ignored --nocapture"]
    fn card_judges_every_position_as_katago_does() {
        compare_all(&ORACLES, |_| true);
    }
}
