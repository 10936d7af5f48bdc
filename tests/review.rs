//! `kosumi review` as a process: its output, and its handling of bad records.

use kosumi_go::sgf::{NodeId, Record, SgfErrorKind, Tree};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns an empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("review-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs `kosumi review` in a folder, with one thread and few playouts.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    let fixed = ["review", "--threads", "1", "--memory", "8", "--no-model"];
    let playouts: &[&str] = if arguments.iter().any(|word| ["--playouts", "--time"].contains(word)) {
        &[]
    } else {
        &["--playouts", "40"]
    };
    Command::new(env!("CARGO_BIN_EXE_kosumi"))
        .args(fixed)
        .args(playouts)
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// Reviews a record in the folder, and returns the standard output.
fn review(folder: &Path, record: &str, arguments: &[&str]) -> String {
    fs::write(folder.join("game.sgf"), record).unwrap();
    let output = run(folder, &[&["game.sgf"], arguments].concat());
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{record}\n{err}");
    assert_eq!(err, "", "nothing on standard error without a terminal");
    out.into_owned()
}

fn written(folder: &Path, ending: &str) -> String {
    fs::read_to_string(folder.join(format!("game.review.{ending}"))).unwrap()
}

/// Returns the properties of the main line that describe the game.
fn main_line(tree: &Tree) -> Vec<Vec<(String, Vec<String>)>> {
    let play = ["B", "W", "AB", "AW", "AE", "PL", "SZ", "KM", "HA", "PB", "PW", "RE", "BL", "XX"];
    let of = |id: NodeId| {
        let own = tree.node(id).properties().iter().filter(|property| play.contains(&&*property.name));
        own.map(|property| (property.name.to_string(), property.values.clone())).collect()
    };
    tree.main_line().into_iter().map(of).collect()
}

/// Game in which White wastes moves. The record has three comments, a variation, a clock and an unknown property.
const GAME: &str = "(;GM[1]FF[4]CA[UTF-8]SZ[7]KM[5.5]RU[Chinese]PB[A</title>]BR[1d]PW[B]RE[B+R]C[first]\
    ;B[dd]BL[30.5]XX[a\\]b];W[aa]C[not </script><script>window.broken=1</script> here]\
    ;B[cc];W[ga](;B[ee];W[ag];B[ce]C[last])(;B[ff]C[other];W[gg]))";

#[test]
fn the_record_stays_and_is_annotated() {
    let folder = folder("record");
    let arguments = ["--sgf", "--playouts", "1500", "--thresholds", "1,2,4"];
    review(&folder, GAME, &arguments);
    let first = written(&folder, "sgf");
    let (original, annotated) =
        (Tree::parse(GAME.as_bytes()).unwrap(), Tree::parse(first.as_bytes()).unwrap());
    assert_eq!(main_line(&annotated), main_line(&original), "main line unchanged, move for move");
    let (line, before) = (annotated.main_line(), original.main_line());
    let root = annotated.node(line[0]).text("C").unwrap();
    assert!(root.starts_with("first\n\n— Kosumi —\nReviewed by Kosumi"), "{root}");
    for (number, (&id, &old)) in line.iter().zip(&before).enumerate() {
        let node = annotated.node(id);
        let comment = node.text("C").unwrap();
        let own = original.node(old).text("C").unwrap_or_default();
        assert!(comment.starts_with(&own), "{comment}");
        assert!(node.has("V") && node.has("SBKV") && node.has("SBKS"), "{number}");
        let rate: f64 = node.text("SBKV").unwrap().parse().unwrap();
        assert!((0.0..=100.0).contains(&rate));
        if number > 0 {
            assert!(comment.contains(&format!("Move {number}, ")), "{comment}");
        }
    }
    // White's first move is in the corner of an empty board. This is a bad move, so there is a better variation beside
    // it.
    let bad = annotated.node(line[2]);
    assert!(bad.has("BM") && bad.has("TR") && bad.has("HO"), "{first}");
    let beside = annotated.node(line[1]).children();
    let better =
        beside.iter().find(|&&id| annotated.node(id).text("N").is_some_and(|name| name == "Kosumi: better"));
    let better = annotated.node(*better.unwrap());
    assert!(better.has("W") && better.text("W") == bad.text("TR"), "the mark is where the line begins");
    assert!(!better.children().is_empty());
    // The variation of the record is kept.
    let branch = original.node(before[4]).children().len() + usize::from(annotated.node(line[5]).has("TR"));
    assert_eq!(annotated.node(line[4]).children().len(), branch);
    assert!(first.contains("B[ff]C[other];W[gg]"));

    // A second review, and a review of the annotated record, change nothing.
    review(&folder, GAME, &arguments);
    assert_eq!(written(&folder, "sgf"), first);
    review(&folder, &first, &arguments);
    assert_eq!(written(&folder, "sgf"), first);
}

/// Checks that a record without moves, which cannot be reviewed, gives a message and no shares.
#[test]
fn a_record_without_moves_is_said_to_have_none() {
    let folder = folder("no-moves");
    for record in ["(;SZ[5])", "(;SZ[5]AB[bb][cc]AW[dd])"] {
        let output = review(&folder, record, &["--sgf", "--html", "--json"]);
        assert!(output.contains("the record has no moves"), "{output}");
        assert!(!output.contains('%') && output.contains("1 position,"), "{output}");
        let root = Tree::parse(written(&folder, "sgf").as_bytes()).unwrap();
        let comment = root.node(root.root()).text("C").unwrap();
        assert!(comment.contains("Black: no move was reviewed."), "{comment}");
        let (json, html) = (written(&folder, "json"), written(&folder, "html"));
        assert!(!json.contains("-0.0") && !html.contains(">-0"), "{json}");
    }
    // A record with moves of one side only.
    let output = review(&folder, "(;SZ[5];B[cc])", &["--sgf"]);
    let white = output.lines().find(|line| line.starts_with("White")).unwrap();
    assert!(white.contains("no move was reviewed") && !white.contains('%'), "{output}");
}

/// Checks that ^C ends a review, and that the results of the first pass are kept.
#[cfg(unix)]
#[test]
fn a_stopped_review_writes_partial_results() {
    use std::io::{BufRead, BufReader, Read};
    let folder = folder("stopped");
    let moves = ["cc", "gg", "gc", "cg", "ee", "ec", "eg", "ce", "ge"];
    let moves = moves.iter().enumerate().map(|(index, at)| format!(";{}[{at}]", ["B", "W"][index % 2]));
    fs::write(folder.join("game.sgf"), format!("(;SZ[9]KM[7]{})", moves.collect::<String>())).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_kosumi"))
        .args(["review", "game.sgf", "--threads", "1", "--memory", "8", "--network", "large", "--json"])
        .env_remove("KOSUMI_MODEL")
        .current_dir(&folder)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut output = String::new();
    while !output.contains("pass 1 of 3") {
        assert!(out.read_line(&mut output).unwrap() > 0, "{output}");
    }
    let read = || serde_json::from_str::<Value>(&written(&folder, "json")).unwrap();
    assert_eq!((&read()["is_complete"], &read()["search"]["playouts"]), (&true.into(), &16.into()));
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT)
        .unwrap();
    out.read_to_string(&mut output).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(
        output.contains("note: the review was stopped") && output.contains("stopped; the results"),
        "{output}"
    );
    let positions = read();
    let positions = positions["positions"].as_array().unwrap();
    assert!(positions.len() == 10 && positions.iter().all(|it| it["analysis"].is_object()));
    assert!(positions[1..].iter().all(|it| it["judgement"].is_object()));
}

fn number(value: &Value, name: &str) -> f64 {
    value[name].as_f64().unwrap_or_else(|| panic!("{name} in {value}"))
}

fn check_estimate(value: &Value, range: std::ops::RangeInclusive<f64>) {
    assert!(range.contains(&number(value, "mean")), "{value}");
    assert!(number(value, "error") >= 0.0, "{value}");
}

fn check_candidate(value: &Value) {
    assert!(value["move"].is_string() && value["visits"].is_u64(), "{value}");
    assert_eq!(value["variation"][0], value["move"]);
    check_estimate(&value["win_rate"], 0.0..=1.0);
    check_estimate(&value["score"], -60.0..=60.0);
}

#[test]
fn numbers_for_other_programs() {
    let folder = folder("json");
    let output = review(&folder, GAME, &["--json", "--playouts", "300", "--candidates", "3"]);
    assert!(output.contains("written: game.review.json\n"), "{output}");
    assert!(!folder.join("game.review.html").exists() && !folder.join("game.review.sgf").exists());
    let text = written(&folder, "json");
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&json["format"], &json["version"]), (&"kosumi-review".into(), &3.into()));
    let game = &json["game"];
    assert_eq!((&game["columns"], &game["rows"], &game["komi"]), (&7.into(), &7.into(), &5.5.into()));
    assert_eq!((&game["black"], &game["white"]), (&"A</title> 1d".into(), &"B".into()));
    assert_eq!(game["rules"], "chinese");
    assert_eq!(json["thresholds"]["blunder"], 0.2);
    assert_eq!(json["score_thresholds"]["blunder"], 10.0);
    let search = &json["search"];
    assert_eq!((&search["playouts"], &search["repeats"]), (&300.into(), &8.into()));
    assert!(number(search, "win_rate_scatter") >= 0.0 && number(search, "score_scatter") >= 0.0);
    let positions = json["positions"].as_array().unwrap();
    assert_eq!(positions.len(), 8);
    let mut bad = Vec::new();
    for (index, position) in positions.iter().enumerate() {
        assert_eq!(
            (&position["position"], &position["moves"], &position["node"]),
            (&index.into(), &index.into(), &index.into())
        );
        assert_eq!(position["move"].is_null(), index == 0);
        assert_eq!(position["judgement"].is_null(), index == 0);
        let analysis = &position["analysis"];
        assert!(analysis["visits"].as_u64().unwrap() >= 300);
        check_estimate(&analysis["win_rate"], 0.0..=1.0);
        check_estimate(&analysis["score"], -60.0..=60.0);
        let candidates = analysis["candidates"].as_array().unwrap();
        assert!((1..=3).contains(&candidates.len()));
        candidates.iter().for_each(check_candidate);
        let ownership = analysis["ownership"].as_array().unwrap();
        assert_eq!(ownership.len(), 49);
        assert!(ownership.iter().all(|owner| (-1.0..=1.0).contains(&owner.as_f64().unwrap())));
        if index > 0 {
            let judgement = &position["judgement"];
            check_candidate(&judgement["best"]);
            check_estimate(&judgement["loss"], 0.0..=1.0);
            check_estimate(&judgement["score_loss"], 0.0..=100.0);
            let is_first = judgement["is_first_choice"].as_bool().unwrap();
            assert!(!is_first || judgement["loss"]["mean"] == 0.0 && judgement["class"] == "good");
            assert!(
                judgement["is_checked"].is_boolean() && judgement["is_better_than_first_choice"].is_boolean()
            );
            let facts = judgement["facts"].as_array().unwrap();
            assert!(facts.is_empty() || judgement["class"] != "good", "{judgement}");
            for fact in facts {
                let [text, at] = ["text", "at"].map(|name| fact[name].as_str().unwrap());
                assert!(text.contains(at) && fact["line"][0].is_string(), "{fact}");
            }
            if judgement["class"] != "good" {
                bad.push(index);
                let is_sure = |name: &str, least: f64| {
                    let loss = &judgement[name];
                    let (mean, error) = (number(loss, "mean"), number(loss, "error"));
                    mean >= least && mean >= 1.27 * error
                };
                assert!(is_sure("loss", 0.05) || is_sure("score_loss", 2.0), "{judgement}");
            }
        }
    }
    // The accuracy of a move depends on the worse of its losses.
    let loss = |index: &usize| {
        let judgement = &positions[*index]["judgement"];
        let [rate, points] = ["loss", "score_loss"].map(|name| number(&judgement[name], "mean"));
        let is_sure = points >= 1.28 * number(&judgement["score_loss"], "error");
        (rate / 0.1).max(if is_sure { points / 5.0 } else { 0.0 })
    };
    bad.sort_by(|a, b| loss(b).total_cmp(&loss(a)));
    assert!(!bad.is_empty(), "White's moves in the corners are bad");
    assert_eq!(json["worst"], Value::from(bad));
    // The ownership begins at the top. Black plays in the middle, White in the corner at the top.
    for (color, moves) in [("black", 4), ("white", 3)] {
        let player = &json["players"][color];
        assert_eq!(player["moves"], moves);
        let classes =
            ["good", "inaccuracies", "mistakes", "blunders"].map(|name| player[name].as_u64().unwrap());
        assert_eq!(classes.iter().sum::<u64>(), moves);
        assert!((0.0..=1.0).contains(&number(player, "accuracy")) && number(player, "mean_loss") >= 0.0);
        assert_eq!(player["accuracy_curve"].as_array().unwrap().len() as u64, moves);
    }
    assert_eq!(json["warnings"], Value::from(Vec::<Value>::new()));
}

#[test]
fn nothing_of_a_record_becomes_markup() {
    let folder = folder("markup");
    review(&folder, GAME, &["--html"]);
    let page = written(&folder, "html");
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(page.contains("<title>A&lt;/title&gt; 1d – B</title>") && page.matches("</title>").count() == 2);
    for way_out in ["http://", "https://", "src=", "@import", "url(//"] {
        // Names of XML namespaces are not external references.
        let page = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!page.contains(way_out), "{way_out}");
    }
    assert!(page.contains("default-src 'none'"));
    let marker = "type=\"application/json\" id=\"data\">";
    let (_, behind) = page.split_once(marker).unwrap();
    let data: Value = serde_json::from_str(behind.split('<').next().unwrap()).unwrap();
    assert_eq!(data["steps"][2]["c"], "not </script><script>window.broken=1</script> here");
    assert_eq!(data["main"], 8);
    // The variations of the record follow the main line.
    assert_eq!(data["steps"].as_array().unwrap().len(), 10);
}

#[test]
fn records_of_all_kinds() {
    let folder = folder("kinds");
    let all = ["--sgf", "--html", "--json", "--playouts", "20"];
    let rows = [
        ("an empty game", "(;SZ[9])", 1, None),
        ("set-up only", "(;SZ[5]AB[aa][bb]AW[cc]PL[W])", 1, None),
        ("set-up later", "(;SZ[5];B[aa];AW[bb]AE[aa];B[cc])", 4, None),
        ("passes", "(;SZ[5];B[];W[];B[cc];W[tt];B[])", 6, None),
        ("one point", "(;SZ[1];B[];W[])", 3, None),
        ("one row", "(;SZ[9:1];B[aa];W[ia])", 3, None),
        ("a rectangle", "(;SZ[3:7]KM[0];B[ag];W[ca])", 3, None),
        ("a handicap", "(;SZ[9]HA[2]AB[cc][gg];W[ee])", 2, None),
        ("moves in the root", "(;SZ[5]B[aa];W[bb])", 3, None),
        ("two moves in a node", "(;SZ[5];B[bb]W[cc];B[dd])", 4, None),
        ("an occupied point", "(;SZ[5];B[bb];W[bb];B[dd])", 2, Some("the review ends after move 1 of 3")),
        ("unknown rules", "(;SZ[5]RU[mahjong];B[bb])", 2, Some("unknown rules")),
        ("territory", "(;SZ[5]RU[Japanese];B[bb];W[];B[])", 4, None),
        ("cut off", "(;SZ[5];B[bb];W[cc]C[oh", 3, Some("the record is truncated")),
    ];
    for (name, text, positions, note) in rows {
        let output = review(&folder, text, &all);
        match note {
            Some(note) => assert!(output.contains(note), "{name}: {output}"),
            None => assert!(!output.contains("note:"), "{name}: {output}"),
        }
        let json: Value = serde_json::from_str(&written(&folder, "json")).unwrap();
        assert_eq!(json["positions"].as_array().unwrap().len(), positions, "{name}");
        assert!(
            json["positions"].as_array().unwrap().iter().all(|position| position["analysis"].is_object())
        );
        let (before, after) = (Record::parse(text.as_bytes()).unwrap(), written(&folder, "sgf"));
        let after = Record::parse(after.as_bytes()).unwrap();
        let moves = |record: &Record| record.nodes.iter().map(|node| node.moves.len()).collect::<Vec<_>>();
        assert_eq!(moves(&after), moves(&before), "{name}");
        // The output is a complete record, even if the input was truncated.
        let is_cut = before.warnings.iter().any(|it| matches!(it.kind, SgfErrorKind::OpenValue(_)));
        assert_eq!(after.warnings, if is_cut { Vec::new() } else { before.warnings }, "{name}");
        assert!(written(&folder, "html").len() < 160_000, "{name}");
    }
}

/// With a network, a report of owners follows the lines of the tree, and the search of an early position begins with the
/// whole game as a line. Every level once took 70 kB of the stack.
#[test]
fn a_whole_game_as_a_line_fits_the_stack_of_a_thread() {
    let folder = folder("stack");
    let moves = "cd gg fc ee ff ec fd fe ed de dd ge cf dg cg ce be bd bf dh df ef gd bc eg ch bh eh he gf bb cc cb dc fb";
    let colors = ["B", "W"].iter().cycle();
    let moves: String = moves.split(' ').zip(colors).map(|(mv, color)| format!(";{color}[{mv}]")).collect();
    for name in ["a.sgf", "b.sgf"] {
        fs::write(folder.join(name), format!("(;SZ[9]KM[7]{moves})")).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_kosumi"))
        .args(["review", "a.sgf", "b.sgf", "-o", ".", "--json", "--network", "small", "--threads", "1"])
        .args(["--memory", "8", "--playouts", "4"])
        // The usual size is two MiB.
        .env("RUST_MIN_STACK", "1200000")
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn invalid_arguments_are_reported_without_output() {
    let folder = folder("errors");
    fs::write(folder.join("game.sgf"), "(;SZ[5];B[aa])(;SZ[3];W[bb])").unwrap();
    fs::write(folder.join("broken.sgf"), "no record at all").unwrap();
    fs::write(folder.join("chess.sgf"), "(;GM[3];B[aa])").unwrap();
    let rows: [(&[&str], &str); 16] = [
        (&["missing.sgf"], "missing.sgf: No such file"),
        (&["broken.sgf"], "broken.sgf: no game record"),
        (&["chess.sgf"], "not a game of Go"),
        (&["game.sgf", "-o", "game"], "is the record itself"),
        (&["game.sgf", "-o", "./../review-errors/game"], "is the record itself"),
        (&["game.sgf", "-o", "no/folder/there"], "there is no folder no/folder"),
        (&["game.sgf", "-o", ".."], "is no name for files"),
        (&["game.sgf", "--game", "3"], "has no game 3; it has 2"),
        (&["game.sgf", "--from", "2"], "the game has 1 moves"),
        (&["game.sgf", "--from", "3", "--to", "2"], "--from 3 is behind --to 2"),
        (&["game.sgf", "--player", "Ann"], "no player is called Ann: Black is without a name"),
        (&["game.sgf", "--player", ""], "--player is empty"),
        (&["."], "-o is missing"),
        (&[".", "-o", "."], "is the folder of the records"),
        (&["game.sgf", "--thresholds", "5,4,3"], "not three ascending numbers"),
        (&["game.sgf", "--komi", "nan"], "not a number"),
    ];
    for (arguments, expected) in rows {
        let output = run(&folder, arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.contains(expected), "{arguments:?}: {error}");
        let mut files: Vec<_> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        files.sort();
        assert_eq!(files, ["broken.sgf", "chess.sgf", "game.sgf"], "{arguments:?}");
    }
    assert_eq!(fs::read_to_string(folder.join("game.sgf")).unwrap(), "(;SZ[5];B[aa])(;SZ[3];W[bb])");
}

#[test]
fn options_have_their_effect() {
    let folder = folder("options");
    fs::write(folder.join("games.sgf"), "(;SZ[5];B[aa])\njunk\n(;SZ[3]KM[6.5];B[bb];W[aa];B[cc])").unwrap();
    let output = run(
        &folder,
        &[
            "games.sgf",
            "--game",
            "2",
            "--json",
            "--from",
            "2",
            "--to",
            "2",
            "--komi",
            "-3",
            "--rules",
            "japanese",
        ],
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("games-2.review.json")).unwrap()).unwrap();
    assert_eq!((&json["game"]["komi"], &json["game"]["rules"]), (&(-3.0).into(), &"japanese".into()));
    let is_searched = |position: &Value| position["analysis"].is_object();
    let searched: Vec<bool> = json["positions"].as_array().unwrap().iter().map(is_searched).collect();
    assert_eq!(searched, [false, true, true, false]);
    let output = run(&folder, &["games.sgf", "--time", "0.01", "-o", "other"]);
    assert!(output.status.success());
    assert!(folder.join("other.sgf").exists() && folder.join("other.html").exists());
    assert!(!folder.join("other.json").exists());
}

#[test]
fn ranks_are_estimated_for_each_player_over_a_folder() {
    let folder = folder("ranks");
    fs::create_dir(folder.join("games")).unwrap();
    // Ann plays in the middle. Bob plays on the first line, where his stones die.
    let record = |number: usize| {
        let ann = ["ee", "gc", "cg", "gg", "cc", "ec", "eg", "ce", "ge", "dd", "ff", "fd"];
        let bob = ["aa", "ba", "ca", "da", "ea", "fa", "ga", "ha", "ia", "ai", "bi", "ci"];
        let line: String = ann.iter().zip(bob).map(|(own, other)| format!(";B[{own}];W[{other}]")).collect();
        format!("(;GM[1]FF[4]SZ[9]KM[7]GN[{number}]PB[Ann  A]BR[9k]PW[Bob]{line})")
    };
    fs::write(folder.join("games/one.sgf"), record(1)).unwrap();
    fs::write(folder.join("games/two.sgf"), format!("{}\n{}", record(2), record(3))).unwrap();
    fs::write(folder.join("games/short.sgf"), "(;SZ[9]PB[Carl]PW[Bob];B[ee];W[cc])").unwrap();
    let ranks = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kosumi"));
        command.args(["review", "--rank"]).args(arguments).current_dir(&folder).output().unwrap()
    };
    let output = ranks(&["games", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let players = json["players"].as_array().unwrap();
    let names: Vec<&str> = players.iter().map(|player| player["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Ann A", "Bob"], "Carl has made too few moves");
    let steps = |index: usize| players[index]["steps_below_ten_dan"].as_f64().unwrap();
    assert!(steps(1) > steps(0) + 3.0, "{players:?}");
    assert_eq!(players[0]["games"].as_array().unwrap().len(), 3);
    assert_eq!(
        (&players[0]["games"][0]["stated"], &players[1]["games"][0]["stated"]),
        (&"9k".into(), &Value::Null)
    );
    assert_eq!(players[0]["games"][2]["game"], 2);

    // The table has the same ranks. Options about searches are refused, and so is a folder without records.
    let output = ranks(&["games"]);
    let table = String::from_utf8(output.stdout).unwrap();
    let ann = table.lines().find(|line| line.ends_with("Ann A (9k)")).unwrap();
    assert!(ann.starts_with(players[0]["rank"].as_str().unwrap()), "{table}");
    fs::create_dir(folder.join("empty")).unwrap();
    for (arguments, fault) in [
        (&["games", "--playouts", "5"][..], "cannot be used with"),
        (&["empty"], "contains no .sgf files"),
        (&["games/short.sgf"], "nothing to estimate a rank from"),
        (&["missing.sgf"], "missing.sgf"),
    ] {
        let output = ranks(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.contains(fault), "{arguments:?}: {error}");
    }
}

/// Checks that the summary of a part of a game states the part, in every format.
#[test]
fn parts_of_a_game_are_named_everywhere() {
    let folder = folder("parts");
    let all = ["--sgf", "--html", "--json", "--to", "4"];
    let output = review(&folder, GAME, &[&all[..], &["--player", "a</title>"]].concat());
    let part = "only moves 1 to 4 of 7, only Black’s moves";
    assert!(output.contains(part) && output.contains("White        0  no move was reviewed"), "{output}");
    assert!(written(&folder, "sgf").contains(part));
    let html = written(&folder, "html");
    assert!(html.contains("only moves 1 to 4 of 7") && html.contains("only Black’s moves"));
    let json: Value = serde_json::from_str(&written(&folder, "json")).unwrap();
    assert_eq!(json["part"], serde_json::json!({ "first": 1, "last": 4, "player": "black" }));
    let judged = |index: usize| json["positions"][index]["judgement"].is_object();
    assert_eq!([1, 2, 3, 4, 5, 6, 7].map(judged), [true, false, true, false, false, false, false]);
    // For the whole game, no part is stated.
    let output = review(&folder, GAME, &["--json"]);
    assert!(!output.contains("in part"), "{output}");
    let json: Value = serde_json::from_str(&written(&folder, "json")).unwrap();
    assert!(json["part"].is_null());
}

/// Checks that the same record gives the same files, byte for byte.
#[test]
fn reviews_are_reproducible() {
    let folder = folder("reproducible");
    let files = || {
        review(&folder, GAME, &["--sgf", "--html", "--json"]);
        ["sgf", "html", "json"].map(|ending| written(&folder, ending))
    };
    assert!(files() == files());
}

#[test]
fn a_folder_is_reviewed_once() {
    let folder = folder("batch");
    let games = folder.join("games");
    fs::create_dir_all(games.join("old")).unwrap();
    let second = GAME.replace("PB[A</title>]BR[1d]PW[B]", "PB[B]BR[2k]PW[C]WR[1d]");
    fs::write(games.join("one.sgf"), GAME).unwrap();
    fs::write(games.join("old/two.sgf"), format!("{second}\n(;SZ[5]PB[B]PW[D];B[cc])")).unwrap();
    fs::write(games.join("broken.sgf"), "no record at all").unwrap();
    fs::write(games.join("chess.sgf"), "(;GM[3];B[aa])").unwrap();
    fs::write(games.join("notes.txt"), "(;SZ[5];B[cc])").unwrap();
    let batch = |more: &[&str]| {
        let output = run(&folder, &[&["games", "-o", "games/out", "--html", "--json"], more].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{error}");
        (String::from_utf8_lossy(&output.stdout).into_owned(), error)
    };
    let out = games.join("out");
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    let (output, error) = batch(&[]);
    assert!(output.contains("3 games reviewed, 0 reviewed before"), "{output}");
    assert!(output.contains("2 records could not be reviewed"), "{output}");
    assert!(error.contains("broken.sgf, game 1: no game record; left out"), "{error}");
    assert!(error.contains("chess.sgf, game 1: "), "{error}");
    let names = ["one.review.html", "old/two.review.html", "old/two-2.review.json", "player-1.html"];
    names.iter().for_each(|name| assert!(out.join(name).is_file(), "{name}"));
    assert!(!out.join("one.review.sgf").exists());
    let index = read("index.html");
    for part in ["href=\"old/two-2.review.html\"", "A&lt;/title&gt;", "broken.sgf", "href=\"player-1.html\""]
    {
        assert!(index.contains(part), "{part}");
    }
    let json: Value = serde_json::from_str(&read("index.json")).unwrap();
    assert_eq!(json["format"], "kosumi-reviews");
    let files: Vec<&str> =
        json["games"].as_array().unwrap().iter().map(|game| game["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["old/two.sgf", "old/two.sgf", "one.sgf"]);
    let report = &json["players"][0];
    assert_eq!((&report["name"], &report["all"]["games"]), (&"B".into(), &3.into()));
    assert_eq!(report["all"]["moves"], 8, "three as White, four as Black, and one");
    // A second run finds the pages of the first one in the folder, has nothing to do, and writes the same pages.
    let (output, _) = batch(&[]);
    assert!(output.contains("0 games reviewed, 3 reviewed before"), "{output}");
    assert!(read("index.html") == index);
    // A game is reviewed again if its record has changed or if its page was removed.
    fs::write(games.join("one.sgf"), GAME.replace("PW[B]", "PW[E]")).unwrap();
    fs::remove_file(out.join("old/two-2.review.html")).unwrap();
    let (output, _) = batch(&[]);
    assert!(output.contains("2 games reviewed, 1 reviewed before"), "{output}");
    assert!(read("index.html").contains(">E<") || read("index.html").contains("E</td>"));
    // Other settings, and one player: games of others are left out.
    let (output, _) = batch(&["--player", "c"]);
    assert!(output.contains("1 game reviewed, 0 reviewed before"), "{output}");
    assert!(output.contains("2 games without this player left out"), "{output}");
    // A torn last line, as after a power cut, costs at most one game.
    let log = read("reviews.jsonl");
    fs::write(out.join("reviews.jsonl"), &log[..log.len() - 20]).unwrap();
    let (output, _) = batch(&["--player", "c"]);
    assert!(output.contains("1 game reviewed"), "{output}");
    fs::write(out.join("reviews.jsonl"), "{\"other\":1}\n").unwrap();
    let output = run(&folder, &["games", "-o", "games/out"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("is no log of reviews"));
}
