//! Training of networks in miniature: games, shards, a few training steps, an export, and a comparison of the outputs
//! of both programs.
//!
//! The tests need Python with PyTorch and numpy (`KOSUMI_PYTHON`, or `python3`). Otherwise they are skipped.

use kosumi_go::board::{BoardSize, Color, Move};
use kosumi_go::game::{Game, Line};
use kosumi_go::playout::{PlayoutPolicy, UniformPolicy};
use kosumi_go::rng::Rng;
use kosumi_go::rules::Rules;
use kosumi_go::score::area_score;
use kosumi_go::sgf::{self, Record};
use kosumi_net::{Features, Input, Network, scalar};
use kosumi_test_support::pytorch;
use kosumi_tools::training::{Example, Sampling, Shard, examples};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/train");

/// Maximum difference between the numbers of the two programs.
const TOLERANCE: f64 = 1e-3;

/// Runs a command that must succeed, and returns its output.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}\n{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// Returns a command of the training tool.
fn training_tool(python: &str, name: &str) -> Command {
    let mut command = Command::new(python);
    command.arg(Path::new(SCRIPTS).join("train")).arg(name).env("OMP_NUM_THREADS", "1");
    command
}

/// Returns the record of a random game.
fn random_game(size: BoardSize, rules: Rules, seed: u64, year: u32) -> String {
    let mut rng = Rng::new(seed);
    let mut game = Game::new(size, rules, 7.5);
    while !game.is_over() && game.records().len() < 3 * size.area() {
        let color = game.to_move();
        let point = UniformPolicy.choose(game.board(), color, game.last_moves(), &mut rng);
        let mv = point.map_or(Move::Pass, Move::Play);
        if game.play(color, mv).is_err() {
            // Superko forbids the move, which playouts do not check.
            game.play(color, Move::Pass).unwrap();
        }
    }
    let score = area_score(game.board()) as f32 - 7.5;
    let winner = if score > 0.0 { Color::Black } else { Color::White };
    let letter = if winner == Color::Black { "B" } else { "W" };
    let result = Some(format!("{letter}+{}", score.abs()));
    let meta = sgf::Meta { result, date: Some(format!("{year}-05-06")), ..sgf::Meta::default() };
    sgf::write(&game, &meta)
}

/// Returns every position of a record.
fn all_positions(record: &str, rules: Rules) -> Vec<Example> {
    let record = Record::parse(record.as_bytes()).unwrap();
    let sampling = Sampling {
        per_game: usize::MAX,
        opening: None,
        recorded: rules,
        shown: Vec::new(),
        off_policy: 0,
        seed: 1,
    };
    let mut features = Features::default();
    let mut encode = |game: &Game| {
        let mut input = Input::zero(1, 1);
        features.fill(&Line::new(game), &mut input);
        input
    };
    examples(&record, 0, &sampling, &mut encode).unwrap()
}

fn numbers(answer: &serde_json::Value, name: &str) -> Vec<f64> {
    answer[name].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[track_caller]
fn assert_close(name: &str, ours: impl IntoIterator<Item = f32>, theirs: &[f64]) {
    let ours: Vec<f64> = ours.into_iter().map(f64::from).collect();
    assert_eq!(ours.len(), theirs.len(), "{name}");
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert!((ours - theirs).abs() < TOLERANCE, "{name}: {ours} here, {theirs} in PyTorch");
    }
}

#[test]
fn the_pipeline_in_miniature() {
    let Some(python) = pytorch() else { return };
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let rules = Rules::preset("cgos").unwrap().rules;

    // Games on two board sizes; every fifth game is for validation.
    let mut records = String::new();
    for seed in 0..40 {
        let size = BoardSize::square(if seed % 2 == 0 { 7 } else { 5 }).unwrap();
        records += &random_game(size, rules, seed, if seed % 5 == 4 { 2016 } else { 2012 });
    }
    fs::write(at("games.sgf"), &records).unwrap();
    let shards = at("shards");
    for split in ["training", "validation"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kosumi"));
        command.arg("features").arg(at("games.sgf")).args([
            "--rules",
            "cgos",
            "--per-game",
            "20",
            "--split",
            split,
        ]);
        let report = run(command.arg("--out").arg(&shards));
        let used = if split == "training" { 32 } else { 8 };
        assert!(report.contains(&format!("used        {used}\n")), "{report}");
    }

    // The loss falls even for random games, because the score follows from the stones.
    let mut command = training_tool(&python, "train");
    command.arg("--data").arg(&shards).arg("--out").arg(at("run"));
    let flags =
        "--shape b2c16 --batch 16 --positions 3200 --warm-up 320 --validate 800 --average 800 --rate 0.005";
    run(command.args(flags.split(' ')).args(["--threads", "1"]));
    let log = fs::read_to_string(at("run/log.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let losses: Vec<f64> = lines
        .iter()
        .filter(|line| line["kind"] == "training")
        .map(|line| line["loss"].as_f64().unwrap())
        .collect();
    let (first, last) = (losses[0], *losses.last().unwrap());
    assert!(last < 0.95 * first, "the loss went from {first} to {last}");

    // The exported network must give the same outputs.
    let network = Network::open(&at("run/network.bin.gz")).unwrap();
    for side in [7, 5] {
        let size = BoardSize::square(side).unwrap();
        let positions = all_positions(&random_game(size, rules, 77, 2020), rules);
        let mut shard = Shard::new();
        positions.iter().for_each(|example| shard.push(example.clone()));
        shard.write(File::create(at("check.npz")).unwrap()).unwrap();
        let mut command = training_tool(&python, "answers");
        let answers = run(command.arg(at("run/network.bin.gz")).arg(at("check.npz")));
        assert_eq!(answers.lines().count(), positions.len());
        for (example, answer) in positions.iter().zip(answers.lines()) {
            let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
            let output = scalar::evaluate(&network, &example.input.unpack()).unwrap();
            assert_close(
                "policy",
                output.policy.iter().copied().chain([output.pass]),
                &numbers(&answer, "policy"),
            );
            assert_close("value", output.value, &numbers(&answer, "value"));
            let score = [output.score_mean, output.score_stdev, output.lead, output.variance_time];
            assert_close("score", score, &numbers(&answer, "score"));
            assert_close("ownership", output.ownership.iter().copied(), &numbers(&answer, "ownership"));
        }
    }
}

/// Tests self-play by a tiny network, training on its games, and a game with the new network.
#[test]
fn from_self_play_to_play() {
    let Some(python) = pytorch() else { return };
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let kosumi = || Command::new(env!("CARGO_BIN_EXE_kosumi"));
    run(kosumi().args(["net", "random", "--channels", "8", "--output"]).arg(at("first.bin.gz")));
    let shards = at("shards");
    for (split, games) in [("--taken=1000", "12"), ("--validation", "3")] {
        let mut command = kosumi();
        command.args([
            "selfplay",
            "--sizes",
            "7",
            "--visits",
            "4",
            "--threads",
            "2",
            "--games",
            games,
            split,
        ]);
        let out = if split == "--validation" { at("validation") } else { shards.clone() };
        run(command.arg("--model").arg(at("first.bin.gz")).arg("--out").arg(out));
    }
    fs::rename(
        at("validation").join("validation-selfplay-00000.npz"),
        shards.join("validation-selfplay-00000.npz"),
    )
    .unwrap();

    let mut command = training_tool(&python, "train");
    command.arg("--data").arg(&shards).arg("--out").arg(at("run"));
    let flags =
        "--shape b2c16 --batch 16 --positions 640 --warm-up 160 --validate 320 --average 320 --threads 1";
    run(command.args(flags.split(' ')));
    let log = fs::read_to_string(at("run/log.jsonl")).unwrap();
    assert!(log.contains("\"size\": \"7x7\""), "{log}");

    let mut engine = kosumi();
    engine.args([
        "gtp",
        "--threads",
        "1",
        "--playouts",
        "20",
        "--memory",
        "8",
        "--boardsize",
        "7",
        "--model",
    ]);
    let mut engine =
        engine.arg(at("run/network.bin.gz")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let moves: String = (0..6).flat_map(|_| ["genmove b\n", "genmove w\n"]).collect();
    engine.stdin.take().unwrap().write_all((moves + "kata-raw-nn 0\nquit\n").as_bytes()).unwrap();
    let output = engine.wait_with_output().unwrap();
    let answers = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && !answers.contains('?'), "{answers}");
    assert!(answers.matches("= ").count() >= 12 && answers.contains("whiteWin"), "{answers}");
}

#[test]
fn the_parts_in_python() {
    let Some(python) = pytorch() else { return };
    // Teachers are compared with KataGo on positions that this program encodes.
    let mut command = Command::new(python);
    command.args(["-m", "unittest"]).env("OMP_NUM_THREADS", "1");
    run(command.current_dir(SCRIPTS).env("KOSUMI", env!("CARGO_BIN_EXE_kosumi")));
}
