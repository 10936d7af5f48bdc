//! All protocols report the same numbers for the same positions. GTP and the JSON protocol are tested as processes, the
//! review by the library.
//!
//! `kata-analyze` runs until it is stopped. With one thread, its first report with enough visits equals that of a
//! search with exactly this number of visits, which the other protocols are then asked for.

use kosumi_engine::{Engine, EngineSettings, SearchRequest};
use kosumi_go::board::{BoardSize, Color, Move};
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_net::{BuiltIn, Network};
use kosumi_search::{Analysis, Detail, Extras, Limits};
use kosumi_tools::commands::vertex_move;
use kosumi_tools::review::{Analyst, EngineAnalyst};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;

/// Position, in the terms of both protocols.
struct Position {
    name: &'static str,
    side: usize,
    rules: &'static str,
    komi: f32,
    handicap: &'static [&'static str],
    /// Moves in turn. The first one is Black's, or White's with a handicap.
    moves: &'static str,
}

impl Position {
    /// Returns the minimum number of visits with a network. Transpositions occur after a few hundred visits.
    fn visits(&self) -> u64 {
        if self.name == "transpositions" { 400 } else { 60 }
    }
}

const POSITIONS: [Position; 7] = [
    Position { name: "empty", side: 9, rules: "chinese", komi: 7.0, handicap: &[], moves: "" },
    Position {
        name: "white to move",
        side: 9,
        rules: "japanese",
        komi: 6.5,
        handicap: &[],
        moves: "E5 C7 G7 G3 C3",
    },
    Position {
        name: "after a pass",
        side: 7,
        rules: "aga",
        komi: 0.5,
        handicap: &[],
        moves: "D4 D5 C5 C4 pass",
    },
    Position {
        name: "finished, every stone counts",
        side: 5,
        rules: "tromp-taylor",
        komi: 2.5,
        handicap: &[],
        moves: "C3 C2 D2 pass pass",
    },
    Position {
        name: "finished, dead stones are removed",
        side: 5,
        rules: "korean",
        komi: 2.5,
        handicap: &[],
        moves: "C3 C2 D2 D3 B2 pass pass",
    },
    Position {
        name: "handicap",
        side: 9,
        rules: "chinese-kgs",
        komi: 0.5,
        handicap: &["C3", "G7", "G3"],
        moves: "C7 E5",
    },
    Position { name: "transpositions", side: 5, rules: "new-zealand", komi: 4.5, handicap: &[], moves: "C3" },
];

impl Position {
    fn first(&self) -> Color {
        if self.handicap.is_empty() { Color::Black } else { Color::White }
    }

    fn plays(&self) -> impl Iterator<Item = (Color, &'static str)> {
        let colors = [self.first(), self.first().opponent()].into_iter().cycle();
        colors.zip(self.moves.split_whitespace())
    }

    fn to_move(&self) -> Color {
        if self.plays().count().is_multiple_of(2) { self.first() } else { self.first().opponent() }
    }

    /// Returns the GTP commands that set up the position.
    fn gtp(&self) -> String {
        let Position { side, rules, komi, handicap, .. } = self;
        let mut text = format!("boardsize {side}\nclear_board\nkata-set-rules {rules}\nkomi {komi}\n");
        if !handicap.is_empty() {
            text += &format!("set_free_handicap {}\n", handicap.join(" "));
        }
        for (color, vertex) in self.plays() {
            text += &format!("play {color} {vertex}\n");
        }
        text
    }

    fn query(&self, visits: u64) -> Value {
        let letter = |color: Color| if color == Color::Black { "B" } else { "W" };
        let pairs: Vec<_> = self.plays().map(|(color, vertex)| json!([letter(color), vertex])).collect();
        let stones: Vec<_> = self.handicap.iter().map(|vertex| json!(["B", vertex])).collect();
        json!({
            "id": self.name, "boardXSize": self.side, "boardYSize": self.side, "rules": self.rules,
            "komi": self.komi, "initialStones": stones, "initialPlayer": letter(self.first()), "moves": pairs,
            "maxVisits": visits, "analysisPVLen": 60,
            "includeOwnership": true, "includeOwnershipStdev": true, "includeMovesOwnership": true,
            "includeMovesOwnershipStdev": true, "includePVVisits": true, "includeNoResultValue": true,
            "includePolicy": true,
            "overrideSettings": {
                "reportAnalysisWinratesAs": "SIDETOMOVE", "wideRootNoise": 0, "rootSymmetryPruning": false,
                "ignorePreRootHistory": false, "numSearchThreads": 1,
            },
        })
    }

    fn game(&self) -> Game {
        let size = BoardSize::square(self.side).unwrap();
        let mv = |text: &str| vertex_move(size, text.parse().unwrap()).unwrap();
        let mut game = Game::new(size, Rules::preset(self.rules).unwrap().rules, self.komi);
        if !self.handicap.is_empty() {
            let points: Vec<_> = self.handicap.iter().map(|text| mv(text).point().unwrap()).collect();
            game = game.with_handicap(&points).unwrap();
        }
        for (color, vertex) in self.plays() {
            game.play_tolerant(color, mv(vertex)).unwrap();
        }
        game
    }
}

/// Report of `kata-analyze`: fields by name, including lists.
#[derive(Debug, Default)]
struct GtpReport {
    moves: Vec<BTreeMap<String, Vec<String>>>,
    root: BTreeMap<String, Vec<String>>,
    points: BTreeMap<String, Vec<String>>,
}

/// All words that are not values. They mark the ends of lists.
const NAMES: &str = "move visits edgeVisits utility winrate scoreMean scoreStdev scoreLead scoreSelfplay noResultValue \
                     prior lcb utilityLcb weight isSymmetryOf order pv pvVisits pvEdgeVisits movesOwnership \
                     movesOwnershipStdev rawStWrError rawStScoreError rawVarTimeLeft ownership ownershipStdev";

impl GtpReport {
    fn parse(line: &str) -> GtpReport {
        let mut report = GtpReport::default();
        let (mut is_root, mut name) = (false, String::new());
        for word in line.split_whitespace() {
            match word {
                "info" => report.moves.push(BTreeMap::new()),
                "rootInfo" => is_root = true,
                _ if NAMES.split_whitespace().any(|known| known == word) => name = word.to_owned(),
                _ => {
                    let fields = match (name.as_str(), is_root) {
                        ("ownership" | "ownershipStdev", _) => &mut report.points,
                        (_, true) => &mut report.root,
                        (_, false) => report.moves.last_mut().expect("a move"),
                    };
                    fields.entry(name.clone()).or_default().push(word.to_owned());
                }
            }
        }
        report
    }
}

/// Returns the first report with enough visits, and its number of visits.
fn gtp_report(position: &Position, options: &[&str], enough: u64) -> (GtpReport, u64) {
    let mut engine = Command::new(env!("CARGO_BIN_EXE_kosumi"))
        .args(["gtp", "--threads", "1", "--seed", "1", "--memory", "64"])
        .args(options)
        .env("KOSUMI_MODEL", kosumi_test_support::small_network())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut input = engine.stdin.take().unwrap();
    let lines = BufReader::new(engine.stdout.take().unwrap()).lines();
    let is_network = options.is_empty();
    let noise = if is_network { "kata-set-param analysisWideRootNoise 0\n" } else { "" };
    let all = "rootInfo true ownership true ownershipStdev true movesOwnership true movesOwnershipStdev true \
               pvVisits true pvEdgeVisits true noResultValue true";
    let color = position.to_move();
    writeln!(input, "{noise}{}kata-analyze {color} 5 {all}", position.gtp()).unwrap();
    input.flush().unwrap();
    let mut found = None;
    for line in lines.map_while(Result::ok) {
        assert!(!line.starts_with('?'), "{}: {line}", position.name);
        if line.starts_with("info") && found.is_none() {
            let report = GtpReport::parse(&line);
            let visits = report.root["visits"][0].parse().unwrap();
            if visits >= enough {
                found = Some((report, visits));
                // This ends the analysis.
                writeln!(input, "quit").unwrap();
                input.flush().unwrap();
            }
        }
    }
    let status = engine.wait().unwrap();
    assert!(status.success(), "{}: {status}", position.name);
    found.expect("a report")
}

fn json_report(query: &Value) -> Value {
    let mut engine = Command::new(env!("CARGO_BIN_EXE_kosumi"))
        .args(["analysis", "--threads", "1"])
        .env("KOSUMI_MODEL", kosumi_test_support::small_network())
        .env_remove("KOSUMI_HUMAN_MODEL")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    writeln!(engine.stdin.take().unwrap(), "{query}").unwrap();
    let output = engine.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(text.trim()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(all) => all.iter().map(|it| it.as_f64().unwrap()).collect(),
        one => vec![one.as_f64().unwrap_or_else(|| panic!("{one}"))],
    }
}

/// Asserts that a list of words is a list of numbers, up to the number of digits that GTP prints.
fn assert_same(what: &str, words: &[String], wanted: &[f64], factor: f64) {
    assert_eq!(words.len(), wanted.len(), "{what}");
    for (word, wanted) in words.iter().zip(wanted) {
        let digits = word.split_once('.').map_or(0, |(_, digits)| digits.len() as i32);
        let (found, wanted) = (word.parse::<f64>().unwrap(), factor * wanted);
        let precision = 0.5 * 10f64.powi(-digits) + 2e-6 * wanted.abs() + 1e-6;
        assert!((found - wanted).abs() <= precision, "{what}: {found}, not {wanted}");
    }
}

#[test]
fn gtp_and_json_agree_in_every_field() {
    let fields = [
        "visits",
        "edgeVisits",
        "utility",
        "winrate",
        "scoreMean",
        "scoreStdev",
        "scoreLead",
        "scoreSelfplay",
        "noResultValue",
        "prior",
        "lcb",
        "utilityLcb",
        "weight",
        "order",
        "pvVisits",
        "pvEdgeVisits",
    ];
    let of_root = ["visits", "utility", "winrate", "scoreStdev", "scoreLead", "scoreSelfplay", "weight"];
    // Counts of differences between numbers that would be equal if one of them were printed in several fields.
    let (mut leads, mut utilities, mut weights, mut visits_by_other_paths) = (0, 0, 0, 0);
    for position in &POSITIONS {
        let name = position.name;
        let (gtp, visits) = gtp_report(position, &[], position.visits());
        let answer = json_report(&position.query(visits));
        let moves = answer["moveInfos"].as_array().unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(gtp.moves.len(), moves.len(), "{name}");
        for (found, wanted) in gtp.moves.iter().zip(moves) {
            let vertex = &found["move"][0];
            assert_eq!(*vertex, wanted["move"], "{name}");
            let variation: Vec<_> =
                wanted["pv"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
            assert_eq!(found["pv"], variation, "{name} {vertex}");
            for field in fields {
                let what = format!("{name}: {field} of {vertex}");
                assert_same(&what, &found[field], &numbers(&wanted[field]), 1.0);
            }
            for (field, other) in [("movesOwnership", "ownership"), ("movesOwnershipStdev", "ownershipStdev")]
            {
                let what = format!("{name}: {field} of {vertex}");
                assert_same(&what, &found[field], &numbers(&wanted[other]), 1.0);
            }
            let number = |field: &str| wanted[field].as_f64().unwrap();
            leads += usize::from((number("scoreLead") - number("scoreSelfplay")).abs() > 0.01);
            utilities += usize::from((2.0 * number("winrate") - 1.0 - number("utility")).abs() > 0.001);
            weights += usize::from((number("weight") - number("visits")).abs() > 0.01);
            visits_by_other_paths += usize::from(wanted["pvVisits"] != wanted["pvEdgeVisits"]);
        }
        let root = &answer["rootInfo"];
        for field in of_root {
            assert_same(&format!("{name}: {field}"), &gtp.root[field], &numbers(&root[field]), 1.0);
        }
        assert_same(&format!("{name}: scoreMean"), &gtp.root["scoreMean"], &numbers(&root["scoreLead"]), 1.0);
        // KataGo's GTP prints the error of the result here, which is twice that of the win rate.
        for (field, factor) in [("rawStWrError", 2.0), ("rawStScoreError", 1.0), ("rawVarTimeLeft", 1.0)] {
            assert_same(&format!("{name}: {field}"), &gtp.root[field], &numbers(&root[field]), factor);
        }
        for field in ["ownership", "ownershipStdev"] {
            assert_same(&format!("{name}: {field}"), &gtp.points[field], &numbers(&answer[field]), 1.0);
        }
        review_agrees(position, visits, &answer);
    }
    let differing = [leads, utilities, weights, visits_by_other_paths];
    assert!(differing.iter().all(|&it| it > 0), "{differing:?}");
}

fn engine(position: &Position, network: Option<Arc<Network>>) -> Engine {
    let settings = EngineSettings {
        threads: 1,
        seed: 1,
        memory_mebibytes: 64,
        analysis_wide_root_noise: 0.0,
        ..EngineSettings::default()
    };
    let mut engine = Engine::with_network(settings, network);
    engine.set_size(BoardSize::square(position.side).unwrap());
    engine
}

fn vertex(mv: Move) -> String {
    mv.to_string()
}

/// Checks that the review, the log and the browser agree with the analysis of the engine.
fn review_agrees(position: &Position, visits: u64, answer: &Value) {
    let game = position.game();
    if game.is_over() && !game.rules().friendly_pass {
        // A review counts such a game instead of searching it.
        return;
    }
    let name = position.name;
    let network = Network::built_in(BuiltIn::Small).unwrap();
    let mut engine = engine(position, Some(Arc::new(network)));
    let limits = Limits { visits: Some(visits as u32), ..Limits::default() };
    let mut analyst = EngineAnalyst { engine: &mut engine, limits, candidates: 99, interrupted: &|| false };
    let found = analyst.analyze(&game);
    let is_white = game.to_move() == Color::White;
    let near = |what: &str, found: f32, value: &Value| {
        let value = value.as_f64().unwrap();
        let wanted = match what {
            _ if !is_white => value,
            "winrate" => 1.0 - value,
            _ => -value,
        };
        assert!(
            (f64::from(found) - wanted).abs() < 1e-4 * wanted.abs().max(1.0),
            "{name} {what}: {found}, not {wanted}"
        );
    };
    assert_eq!(u64::from(found.visits), visits, "{name}");
    near("winrate", found.win_rate.mean, &answer["rootInfo"]["winrate"]);
    near("scoreLead", found.score.mean, &answer["rootInfo"]["scoreLead"]);
    // A review leaves out moves with less than one per cent of the visits.
    let least = (visits / 100).max(1);
    let moves = answer["moveInfos"].as_array().unwrap().iter();
    let moves = moves.filter(|wanted| wanted["edgeVisits"].as_u64().unwrap() >= least);
    for (candidate, wanted) in found.candidates.iter().zip(moves) {
        assert_eq!(vertex(candidate.mv), wanted["move"], "{name}");
        assert_eq!(u64::from(candidate.visits), wanted["edgeVisits"], "{name}");
        near("winrate", candidate.win_rate.mean, &wanted["winrate"]);
        near("scoreLead", candidate.score.mean, &wanted["scoreLead"]);
    }
    let owners = numbers(&answer["ownership"]);
    let rows = found.ownership.chunks(position.side).rev().flatten();
    for (found, wanted) in rows.zip(owners) {
        near("ownership", *found, &json!(wanted));
    }
}

/// Covers playouts, which the JSON protocol does not support.
#[test]
fn gtp_prints_the_analysis_by_playouts() {
    for position in &POSITIONS {
        let name = position.name;
        let (gtp, visits) = gtp_report(position, &["--no-model"], 300);
        let mut engine = engine(position, None);
        engine.set_game(position.game());
        let detail = Detail { raw: true, ownership: true, moves_ownership: true };
        let limits = Limits { visits: Some(visits as u32), ..Limits::default() };
        let report = engine.analyze(position.to_move(), &limits, SearchRequest::analysis(&|| false, detail));
        let analysis = Analysis::new(report, &Extras::default()).seen_by(position.to_move());
        assert_eq!(u64::from(analysis.visits), visits, "{name}");
        let root = &analysis.root;
        let is = |what: &str, fields: &BTreeMap<String, Vec<String>>, wanted: f32| {
            assert_same(&format!("{name}: {what}"), &fields[what], &[f64::from(wanted)], 1.0);
        };
        for (what, wanted) in [
            ("winrate", root.win_rate),
            ("utility", root.utility),
            ("scoreLead", root.lead),
            ("scoreMean", root.lead),
            ("scoreSelfplay", root.score_mean),
            ("scoreStdev", root.score_stdev),
            ("weight", analysis.weight),
        ] {
            is(what, &gtp.root, wanted);
        }
        assert!(!gtp.root.contains_key("rawStWrError"), "there is no network");
        let searched: Vec<_> = analysis.moves.iter().filter(|it| it.is_searched()).collect();
        assert_eq!(gtp.moves.len(), searched.len(), "{name}");
        for (found, wanted) in gtp.moves.iter().zip(searched) {
            assert_eq!(found["move"][0], vertex(wanted.mv), "{name}");
            let it = &wanted.expectation;
            for (what, wanted) in [
                ("visits", wanted.visits as f32),
                ("edgeVisits", wanted.edge_visits as f32),
                ("weight", wanted.weight),
                ("winrate", it.win_rate),
                ("utility", it.utility),
                ("lcb", wanted.win_rate_bound),
                ("utilityLcb", wanted.utility_bound),
                ("scoreLead", it.lead),
                ("scoreStdev", it.score_stdev),
                ("prior", wanted.prior),
                ("order", wanted.order as f32),
            ] {
                is(what, found, wanted);
            }
            let owners = it.owners.as_ref().expect("owners");
            let rows = owners.mean.chunks(position.side).rev().flatten();
            let wanted: Vec<f64> = rows.map(|&owner| f64::from(owner)).collect();
            assert_same(&format!("{name}: movesOwnership"), &found["movesOwnership"], &wanted, 1.0);
        }
    }
}
