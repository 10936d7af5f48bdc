//! The analysis engine as a process: sessions recorded with KataGo, KaTrain's command line, the end of the input, and
//! memory.

use kosumi_test_support::shared;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Running engine.
struct Engine {
    process: Child,
    input: Option<ChildStdin>,
    answers: Receiver<Value>,
    log: Option<thread::JoinHandle<String>>,
    /// Responses that arrived before a call waited for them.
    early: Vec<Value>,
}

/// Time limit of every response, far above the time that any of them takes.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Returns the command that starts Kosumi with these arguments, the small network, and pipes.
fn command<S: AsRef<std::ffi::OsStr>>(words: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kosumi"));
    command
        .args(words)
        .env("KOSUMI_MODEL", kosumi_test_support::small_network())
        .env_remove("KOSUMI_HUMAN_MODEL")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

impl Engine {
    fn start<S: AsRef<std::ffi::OsStr>>(words: impl IntoIterator<Item = S>) -> Engine {
        let mut process = command(words).stderr(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let errors = process.stderr.take().unwrap();
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            for line in output.lines() {
                let answer = serde_json::from_str(&line.unwrap()).expect("every line is JSON");
                if sender.send(answer).is_err() {
                    return;
                }
            }
        });
        let log = Some(thread::spawn(move || std::io::read_to_string(errors).unwrap()));
        Engine { input: process.stdin.take(), process, answers, log, early: Vec::new() }
    }

    fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// Returns the next response.
    fn next(&mut self) -> Value {
        if !self.early.is_empty() {
            return self.early.remove(0);
        }
        self.answers.recv_timeout(TIMEOUT).expect("an answer")
    }

    /// Returns the first response that fits, among those that have not been returned yet.
    fn wait_for(&mut self, wanted: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(place) = self.early.iter().position(&fits) {
            return self.early.remove(place);
        }
        loop {
            match self.answers.recv_timeout(TIMEOUT) {
                Ok(answer) if fits(&answer) => return answer,
                Ok(answer) => self.early.push(answer),
                Err(error) => panic!("{error} while waiting for {wanted}; there are {:?}", self.early),
            }
        }
    }

    fn ask(&mut self, query: &Value) -> Value {
        self.send(&query.to_string());
        self.next()
    }

    /// Closes the input. Returns the remaining responses, the exit code and the log.
    fn end(mut self) -> (Vec<Value>, Option<i32>, String) {
        drop(self.input.take());
        let mut rest = std::mem::take(&mut self.early);
        loop {
            match self.answers.recv_timeout(TIMEOUT) {
                Ok(answer) => rest.push(answer),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the engine does not end"),
            }
        }
        (rest, self.process.wait().unwrap().code(), self.log.take().unwrap().join().unwrap())
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // The process may still run after a failed test.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn write_config(folder: &Path, lines: &BTreeMap<String, String>) -> std::path::PathBuf {
    let path = folder.join("analysis.cfg");
    let text: String = lines.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
    fs::write(&path, text).unwrap();
    path
}

fn query_9x9(id: &str, moves: &Value, more: &Value) -> Value {
    let mut query = json!({
        "id": id, "moves": moves, "rules": "tromp-taylor", "komi": 7.5, "boardXSize": 9, "boardYSize": 9,
    });
    for (key, value) in more.as_object().unwrap() {
        query[key] = value.clone();
    }
    query
}

/// Returns the names and kinds of fields, with the lengths of long lists of numbers.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            // It depends on the search which moves have symmetric images, and whether any move has one.
            .filter(|(key, _)| !["isSymmetryOf", "moveInfos"].contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), shape(value)))
            .collect(),
        Value::Array(list) if list.iter().all(Value::is_number) && list.len() > 40 => json!(list.len()),
        Value::Array(_) => json!("list"),
        Value::Number(number) if number.is_f64() => json!("real"),
        Value::Number(_) => json!("integer"),
        Value::Null => json!("null"),
        Value::Bool(flag) => json!(flag),
        Value::String(_) => json!("text"),
    }
}

/// Returns whether two responses have the same subject and the same kind of content.
fn has_same_subject(found: &Value, wanted: &Value) -> bool {
    let same = |key: &str| found.get(key) == wanted.get(key);
    let both = |key: &str| found.get(key).is_some() == wanted.get(key).is_some();
    // It depends on timing whether the search had begun when it was terminated.
    let is_chance = wanted["id"] == "long2";
    ["id", "turnNumber", "isDuringSearch", "field", "action"].into_iter().all(same)
        && (is_chance || same("noResults"))
        && both("error")
        && both("warning")
}

/// Returns whether a final response came instead of an expected report, because the search ended before the report was
/// due. This depends on timing.
fn is_final_instead_of_report(found: &Value, wanted: &Value) -> bool {
    let has_an_end = wanted["id"] != "long";
    has_an_end
        && wanted["isDuringSearch"] == true
        && found["isDuringSearch"] == false
        && ["id", "turnNumber"].into_iter().all(|key| found.get(key) == wanted.get(key))
}

/// Compares the texts that programs search for and the names of faulty values. The wording may differ.
fn compare_texts(found: &Value, wanted: &Value) {
    let known = [
        // These are texts of KataGo's parsers of JSON and of rules, and names of files.
        "parse error",
        "config file analysis.cfg",
        "net.bin.gz",
        "Rules::parse",
        "not supported by neural net",
        // The message about a wrong value of a parameter is the same in all protocols.
        "Could not parse config value",
        "Unknown human SL network profile",
    ];
    let text = wanted.as_str().unwrap();
    if known.iter().all(|part| !text.contains(part)) {
        assert_eq!(found, wanted);
    }
}

/// Sessions with contradictory stones. KataGo silently analyses another position, whereas Kosumi refuses them.
const CONTRADICTORY_STONES: [&str; 2] = ["stone-twice", "zero-liberty"];

#[test]
fn katagos_own_sessions() {
    let Some(recording) = shared("oracle/analysis-sessions.jsonl") else { return };
    let Some(network) = shared("models/g170-b6c96-s175395328-d26788732.bin.gz") else { return };
    let recording = fs::read_to_string(recording).unwrap();
    let folder = tempfile::TempDir::new().unwrap();
    let mut engine: Option<Engine> = None;
    let (mut sessions, mut answers) = (0, 0);
    for line in recording.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        if let Some(command) = entry.get("start") {
            let config =
                write_config(folder.path(), &serde_json::from_value(entry["config"].clone()).unwrap());
            let place = |word: &str| match word {
                "analysis.cfg" => config.display().to_string(),
                "net.bin.gz" => network.display().to_string(),
                _ => word.to_owned(),
            };
            engine = Some(Engine::start(command.as_str().unwrap().split(' ').skip(1).map(place)));
            sessions += 1;
        } else if let Some(text) = entry.get("send") {
            engine.as_mut().unwrap().send(text.as_str().unwrap());
        } else if let Some(text) = entry.get("receive") {
            let wanted: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
            let engine = engine.as_mut().unwrap();
            if CONTRADICTORY_STONES.iter().any(|id| wanted["id"] == *id) {
                let found = engine.wait_for("an error", |found| found["id"] == wanted["id"]);
                assert_eq!(found["field"], "initialStones", "{found}");
                continue;
            }
            let found = engine.wait_for(&wanted["id"].to_string(), |found| {
                has_same_subject(found, &wanted) || is_final_instead_of_report(found, &wanted)
            });
            answers += 1;
            if is_final_instead_of_report(&found, &wanted) {
                engine.early.insert(0, found);
                continue;
            }
            if found.get("noResults") != wanted.get("noResults") {
                continue;
            }
            for kind in ["error", "warning"] {
                if let Some(wanted) = wanted.get(kind) {
                    compare_texts(&found[kind], wanted);
                }
            }
            assert_eq!(shape(&found), shape(&wanted), "{}", wanted["id"]);
            compare_analyses(&found, &wanted);
        } else {
            let (rest, code, _) = engine.take().unwrap().end();
            // The number of reports during a search depends on timing.
            let finals: Vec<_> = rest.iter().filter(|it| it["isDuringSearch"] != json!(true)).collect();
            assert!(finals.is_empty(), "{finals:?}");
            assert_eq!(code, Some(entry["exit"].as_i64().unwrap() as i32));
        }
    }
    assert!(sessions == 3 && answers > 100, "{sessions} {answers}");
}

/// Compares analyses. The network's values must agree, from the same perspective. The results of the search may differ.
fn compare_analyses(found: &Value, wanted: &Value) {
    let (Some(root), Some(wanted_root)) = (found.get("rootInfo"), wanted.get("rootInfo")) else { return };
    let id = &wanted["id"];
    assert_eq!(root["currentPlayer"], wanted_root["currentPlayer"], "{id}");
    let near = |key: &str, most: f64| {
        let (found, wanted) = (root[key].as_f64().unwrap(), wanted_root[key].as_f64().unwrap());
        assert!((found - wanted).abs() < most, "{id}: {key} {found} instead of {wanted}");
    };
    // KataGo may have used another symmetry.
    near("rawWinrate", 0.12);
    near("rawLead", 2.5);
    near("winrate", 0.2);
    if wanted["isDuringSearch"] == json!(false)
        && !["long", "long2", "max-time"].contains(&id.as_str().unwrap())
    {
        assert_eq!(root["visits"], wanted_root["visits"], "{id}");
    }
    let moves = |answer: &Value| answer["moveInfos"].as_array().unwrap().clone();
    // The progress of the terminated search depends on timing.
    if id != "long2" {
        assert_eq!(moves(found).is_empty(), moves(wanted).is_empty(), "{id}");
    }
    if let (Some(found), Some(wanted)) = (moves(found).first(), moves(wanted).first()) {
        assert_eq!(shape(found), shape(wanted), "{id}");
    }
    if let (Some(found), Some(wanted)) = (found.get("policy"), wanted.get("policy")) {
        let numbers = |value: &Value| -> Vec<f64> {
            value.as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect()
        };
        for (found, wanted) in numbers(found).into_iter().zip(numbers(wanted)) {
            assert_eq!(found < 0.0, wanted < 0.0, "{id}: the same moves are legal");
        }
    }
}

/// As in KataGo, only the position itself is evaluated, and no move is listed. The query ends whatever its limit is.
#[test]
fn an_allow_list_without_legal_moves_is_answered() {
    let mut engine = engine();
    for moves in [json!(["E5"]), json!([]), json!(["resign"])] {
        let only = json!([{ "player": "W", "moves": moves, "untilDepth": 1 }]);
        let query =
            query_9x9("none", &json!([["B", "E5"]]), &json!({ "maxVisits": 1000, "allowMoves": only }));
        let answer = engine.ask(&query);
        assert_eq!(answer["moveInfos"], json!([]), "{answer}");
        assert!(answer["rootInfo"]["winrate"].is_number(), "{answer}");
    }
}

const MODERATE: [&str; 6] = ["analysis", "--memory", "64", "--analysis-threads", "1", "--threads"];

fn engine() -> Engine {
    Engine::start(MODERATE.into_iter().chain(["1"]))
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let scratch = tempfile::TempDir::new().unwrap();
    let config = scratch.path().join("marked.cfg");
    fs::write(&config, "\u{feff}maxVisits = 2\r\n").unwrap();
    let words = ["analysis", "--threads", "1", "--config"].map(std::ffi::OsStr::new);
    let mut engine = Engine::start(words.into_iter().chain([config.as_os_str()]));
    let query = query_9x9("a", &json!([]), &json!({}));
    engine.send(&format!("\u{feff}{query}"));
    let answer = engine.next();
    assert_eq!((&answer["id"], &answer["rootInfo"]["visits"]), (&json!("a"), &json!(2)), "{answer}");
    // A byte order mark is allowed before the first line only.
    engine.send(&format!("\u{feff}{query}"));
    assert!(engine.next()["error"].is_string());
    engine.end();
}

#[test]
fn sides_bounds_and_sums() {
    let mut engine = engine();
    let moves = json!([["B", "E5"], ["W", "C3"], ["B", "D3"]]);
    let all = json!({
        "maxVisits": 60, "includeOwnership": true, "includeOwnershipStdev": true, "includePolicy": true,
        "includeMovesOwnership": true, "includePVVisits": true, "analysisPVLen": 3,
    });
    let mut responses = ["BLACK", "WHITE", "SIDETOMOVE"].map(|side| {
        let mut query = query_9x9(side, &moves, &all);
        query["overrideSettings"] = json!({ "reportAnalysisWinratesAs": side });
        engine.ask(&query)
    });
    let number = |value: &Value| value.as_f64().unwrap();
    let [black, white, mover] = &mut responses;
    // White is the side to move, so both perspectives are the same.
    mover["id"] = white["id"].clone();
    assert_eq!(mover, white);
    for (black, white) in
        [(&black["rootInfo"], &white["rootInfo"]), (&black["moveInfos"][0], &white["moveInfos"][0])]
    {
        for key in ["winrate", "rawWinrate", "lcb"] {
            if let Some(value) = black.get(key) {
                assert!((number(value) + number(&white[key]) - 1.0).abs() < 1e-6, "{key}");
            }
        }
        for key in ["scoreLead", "utility", "utilityLcb", "rawLead", "scoreSelfplay"] {
            if let Some(value) = black.get(key) {
                assert!((number(value) + number(&white[key])).abs() < 1e-6, "{key}");
            }
        }
        assert_eq!(black["scoreStdev"], white["scoreStdev"]);
    }
    let best = &black["moveInfos"][0];
    assert!(
        number(&best["lcb"]) > number(&best["winrate"]),
        "pessimistic for White, reported from Black's side"
    );
    assert!(number(&white["moveInfos"][0]["lcb"]) < number(&white["moveInfos"][0]["winrate"]));
    let infos = black["moveInfos"].as_array().unwrap();
    let visits: i64 = infos.iter().map(|entry| entry["edgeVisits"].as_i64().unwrap()).sum();
    assert_eq!(visits + 1, black["rootInfo"]["visits"].as_i64().unwrap());
    assert_eq!(black["rootInfo"]["visits"], 60);
    let selection: Vec<f64> = infos.iter().map(|entry| number(&entry["playSelectionValue"])).collect();
    assert!(selection.is_sorted_by(|a, b| a >= b), "{selection:?}");
    for (order, entry) in infos.iter().enumerate() {
        assert_eq!(entry["order"], order);
        assert_eq!(entry["pv"][0], entry["move"]);
        assert!(entry["pv"].as_array().unwrap().len() <= 4);
        assert_eq!(entry["pvVisits"][0], entry["visits"]);
        assert_eq!(entry["ownership"].as_array().unwrap().len(), 81);
    }
    let legal: f64 = black["policy"].as_array().unwrap().iter().map(number).filter(|&it| it >= 0.0).sum();
    assert!((legal - 1.0).abs() < 1e-4, "{legal}");
    // D3, in the seventh row from the top, is Black's latest stone. Its ownership has opposite signs from the
    // perspectives of the two sides.
    let owner = |answer: &Value| number(&answer["ownership"][6 * 9 + 3]);
    assert!(owner(black) > 0.0 && (owner(black) + owner(white)).abs() < 1e-9, "{}", owner(black));
    assert_eq!(engine.end().1, Some(0));
}

#[test]
fn one_visit_is_the_network_alone() {
    let mut engine = engine();
    let answer = engine.ask(&query_9x9(
        "1",
        &json!([["B", "E5"]]),
        &json!({"maxVisits": 1, "includeOwnershipStdev": true}),
    ));
    let root = &answer["rootInfo"];
    assert_eq!((&root["visits"], &answer["moveInfos"]), (&json!(1), &json!([])));
    assert_eq!((&root["winrate"], &root["scoreLead"]), (&root["rawWinrate"], &root["rawLead"]));
    assert!(answer["ownershipStdev"].as_array().unwrap().iter().all(|it| it.as_f64().unwrap() < 1e-2));
    // Symmetric positions have the same symmetry hash.
    let other = engine.ask(&query_9x9("2", &json!([["B", "C3"]]), &json!({"maxVisits": 1})));
    let image = engine.ask(&query_9x9("3", &json!([["B", "G3"]]), &json!({"maxVisits": 1})));
    assert_eq!(other["rootInfo"]["symHash"], image["rootInfo"]["symHash"]);
    assert_ne!(other["rootInfo"]["thisHash"], image["rootInfo"]["thisHash"]);
    assert_eq!(root["symHash"].as_str().unwrap().len(), 32);
}

#[test]
fn symmetric_moves_are_copied_and_may_be_avoided() {
    let mut engine = engine();
    let mut visited = |more: &Value| {
        let answer = engine.ask(&query_9x9("x", &json!([]), more));
        answer["moveInfos"].as_array().unwrap().clone()
    };
    let name = |entry: &Value| entry["move"].as_str().unwrap().to_owned();
    let all = visited(&json!({"maxVisits": 80}));
    let copies: Vec<_> = all.iter().filter(|entry| entry.get("isSymmetryOf").is_some()).collect();
    assert!(!copies.is_empty());
    for copy in &copies {
        let original = all.iter().find(|entry| entry["move"] == copy["isSymmetryOf"]).unwrap();
        assert!(original.get("isSymmetryOf").is_none());
        assert_eq!((&original["visits"], &original["winrate"]), (&copy["visits"], &copy["winrate"]));
    }
    let gone = name(copies[0]);
    let rule = json!([{"player": "B", "moves": [gone], "untilDepth": 1}]);
    let fewer = visited(&json!({"maxVisits": 80, "avoidMoves": rule}));
    assert!(fewer.iter().all(|entry| name(entry) != gone));
    let rule = json!([{"player": "B", "moves": ["C3", "pass"], "untilDepth": 1}]);
    let only = visited(&json!({"maxVisits": 30, "allowMoves": rule}));
    assert!(!only.is_empty() && only.iter().all(|entry| ["C3", "pass"].contains(&name(entry).as_str())));
    let plain = visited(&json!({"maxVisits": 30, "overrideSettings": {"rootSymmetryPruning": false}}));
    assert!(plain.iter().all(|entry| entry.get("isSymmetryOf").is_none()));
}

/// Tests the command line and the configuration with which KaTrain 1.20 starts KataGo, and KaTrain's queries.
#[test]
fn katrains_command_line_and_queries() {
    let folder = tempfile::TempDir::new().unwrap();
    let lines = [
        ("logDir", "katago_logs"),
        ("logAllRequests", "false"),
        ("logSearchInfo", "false"),
        ("reportAnalysisWinratesAs", "BLACK"),
        ("conservativePass", "true"),
        ("maxVisits", "500"),
        ("numAnalysisThreads", "12"),
        ("numSearchThreads", "8"),
        ("nnMaxBatchSize", "96"),
        ("nnCacheSizePowerOfTwo", "20"),
        ("nnMutexPoolSizePowerOfTwo", "16"),
        ("nnRandomize", "true"),
    ];
    let lines = lines.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let config = write_config(folder.path(), &lines);
    let model = kosumi_test_support::small_network();
    let words = ["analysis", "-model", model.to_str().unwrap(), "-config", config.to_str().unwrap()];
    let mut engine = Engine::start(words.into_iter().chain(["-override-config", "homeDataDir=~/.katrain"]));
    let query = |id: &str, moves: Value, more: Value| {
        let mut query = json!({
            "rules": "japanese", "priority": 1000, "analyzeTurns": [moves.as_array().unwrap().len()], "maxVisits": 25,
            "komi": 6.5, "boardXSize": 9, "boardYSize": 9, "includeOwnership": true, "includeMovesOwnership": true,
            "includePolicy": true, "initialStones": [], "initialPlayer": "B", "moves": moves,
            "overrideSettings": {"reportAnalysisWinratesAs": "BLACK", "wideRootNoise": 0.04, "maxTime": 8.0},
            "id": id, "reportDuringSearchEvery": 1,
        });
        for (key, value) in more.as_object().unwrap() {
            query[key] = value.clone();
        }
        query.to_string()
    };
    let is_final = |id: &'static str| move |it: &Value| it["id"] == id && it["isDuringSearch"] == false;
    engine.send(&query("QUERY:1", json!([["B", "E5"], ["W", "C3"]]), json!({})));
    let answer = engine.wait_for("the first answer", is_final("QUERY:1"));
    for key in ["visits", "winrate", "scoreLead"] {
        assert!(answer["rootInfo"][key].is_number() && answer["moveInfos"][0][key].is_number(), "{key}");
    }
    assert_eq!(answer["policy"].as_array().unwrap().len(), 82);
    assert_eq!(answer["moveInfos"][0]["ownership"].as_array().unwrap().len(), 81);
    // Ponders without a limit, until the next move.
    let ponder = json!({"maxVisits": 10_000_000, "reportDuringSearchEvery": 0.25, "overrideSettings": {
        "reportAnalysisWinratesAs": "BLACK", "wideRootNoise": 0.04, "antiMirror": true,
        "playoutDoublingAdvantage": -1.5, "playoutDoublingAdvantagePla": "BLACK"}});
    engine.send(&query("QUERY:2", json!([["B", "E5"]]), ponder));
    engine.wait_for("a report", |it| it["id"] == "QUERY:2" && it["isDuringSearch"] == true);
    engine.send(r#"{"action":"terminate","terminateId":"QUERY:2","id":"TERMINATE:2"}"#);
    engine.wait_for("the answer to the action", |it| it["action"] == "terminate");
    assert!(engine.wait_for("the end", is_final("QUERY:2"))["rootInfo"]["visits"].as_i64() > Some(1));
    // KaTrain searches the response for these words.
    engine.send(&query("QUERY:3", json!([["B", "E5"], ["W", "E5"]]), json!({})));
    let refused = engine.wait_for("an error", |it| it.get("error").is_some());
    assert!(refused["error"].as_str().unwrap().contains("Illegal move"));
    let (_, code, log) = engine.end();
    assert_eq!(code, Some(0));
    assert!(log.contains("starting") && log.contains("Started, ready to begin handling requests"), "{log}");
    assert!(!log.to_lowercase().contains("error") && log.lines().all(|line| !line.starts_with('{')), "{log}");
}

#[test]
fn a_failed_start_prints_katagos_error_text() {
    for words in
        [["-config", "/no/such/file"], ["-override-config", "maxVisits=0"], ["-model", "/no/such/file"]]
    {
        let engine = Engine::start(["analysis"].into_iter().chain(words));
        let (answers, code, log) = engine.end();
        assert!(answers.is_empty() && log.contains("Uncaught exception"), "{log}");
        assert!(code.is_some_and(|code| code > 1), "1 is taken for an end that was wanted");
    }
    let (_, _, log) =
        Engine::start(["analysis", "-override-config", "fooBar=1,fooBar=2,chosenMovePrune=1"]).end();
    assert_eq!(log.matches("fooBar").count(), 1, "{log}");
    assert_eq!(log.matches("chosenMovePrune").count(), 1, "{log}");
}

#[test]
fn pending_queries_finish_or_stop_at_the_end_of_input() {
    let queries = |engine: &mut Engine| {
        for id in ["a", "b", "c"] {
            let moves = json!([["B", "E5"], ["W", "C3"]]);
            engine.send(
                &query_9x9(id, &moves, &json!({"maxVisits": 20, "analyzeTurns": [0, 1, 2]})).to_string(),
            );
        }
    };
    let mut waiting = engine();
    queries(&mut waiting);
    let (answers, code, _) = waiting.end();
    assert_eq!((answers.len(), code), (9, Some(0)));
    let mut cut = Engine::start(MODERATE.into_iter().chain(["1", "-quit-without-waiting"]));
    cut.send(
        &query_9x9(
            "long",
            &json!([]),
            &json!({"maxVisits": 100_000_000, "firstReportDuringSearchAfter": 0.01}),
        )
        .to_string(),
    );
    cut.next();
    queries(&mut cut);
    let (answers, code, _) = cut.end();
    assert_eq!((answers.len(), code), (0, Some(0)), "{answers:?}");
}

#[test]
fn an_engine_that_quits_at_once_does_not_wait_for_its_client() {
    let words = MODERATE.into_iter().chain(["1", "-quit-without-waiting"]);
    let mut process = command(words).stderr(Stdio::null()).spawn().unwrap();
    // The answers do not fit into a pipe, and nobody reads them.
    let unread = process.stdout.take();
    let lines = "{\"id\": \"a\", \"action\": \"query_version\"}\n".repeat(5000);
    process.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || sender.send(process.wait().unwrap().code()));
    assert_eq!(ended.recv_timeout(TIMEOUT), Ok(Some(0)));
    drop(unread);
}

/// Returns the resident memory of the process, in MiB.
fn resident(engine: &Engine) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", engine.process.id())).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

#[test]
fn ten_thousand_queries_in_flight_take_little_memory_and_give_it_back() {
    const QUERIES: usize = 10_000;
    let mut engine = engine();
    // All other queries wait for this one.
    engine.send(
        &query_9x9(
            "long",
            &json!([]),
            &json!({"maxVisits": 100_000_000, "firstReportDuringSearchAfter": 0.01}),
        )
        .to_string(),
    );
    engine.next();
    let letters = "ABCDEFGHJKLMNOPQRST";
    let moves: Vec<Value> = (0..240)
        .map(|number| {
            let vertex = format!("{}{}", &letters[number % 19..=number % 19], number / 19 + 1);
            json!([if number % 2 == 0 { "B" } else { "W" }, vertex])
        })
        .collect();
    let mut sizes = Vec::new();
    for round in 0..3 {
        for number in 0..QUERIES {
            let query = json!({"id": number.to_string(), "moves": &moves[..number % 240], "rules": "chinese",
                "boardXSize": 19, "boardYSize": 19, "maxVisits": 1000});
            engine.send(&query.to_string());
        }
        engine.send(r#"{"id":"version","action":"query_version"}"#);
        engine.wait_for("an answer behind all queries", |it| it["action"] == "query_version");
        sizes.extend(resident(&engine));
        let all: Vec<String> = (0..240).map(|turn| turn.to_string()).collect();
        let turns = all.join(",");
        // The long query about a position without moves continues.
        let turns = &turns[2..];
        engine.send(&format!(r#"{{"id":"end","action":"terminate_all","turnNumbers":[{turns}]}}"#));
        let mut ended = 0;
        loop {
            let answer = engine.next();
            if answer["action"] == "terminate_all" {
                break;
            }
            assert_eq!(answer["noResults"], true, "round {round}");
            ended += 1;
        }
        // Queries about positions without moves still wait.
        assert_eq!(ended, QUERIES - QUERIES.div_ceil(240));
    }
    if let [first, _, last] = sizes[..] {
        assert!(first < 200, "{sizes:?} MiB");
        assert!(last < first + 25, "{sizes:?} MiB");
    }
    engine.send(r#"{"id":"end","action":"terminate_all"}"#);
    let (rest, code, _) = engine.end();
    assert_eq!(code, Some(0));
    assert!(rest.iter().any(|it| it["id"] == "long" && it["isDuringSearch"] == false));
}

/// Checks that the engine ends its work when no program can read the results, for example because the program that
/// started it has ended.
#[test]
fn work_ends_when_input_and_output_are_closed() {
    let mut process = command(["analysis"]).stderr(Stdio::null()).spawn().unwrap();
    let endless = query_9x9("x", &json!([]), &json!({ "maxVisits": 1_000_000_000 }));
    let mut input = process.stdin.take().unwrap();
    // The answer shows that the query before it was read.
    writeln!(input, "{endless}\n{}", json!({ "id": "v", "action": "query_version" })).unwrap();
    let mut output = BufReader::new(process.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    drop((input, output));
    assert_eq!(process.wait().unwrap().code(), Some(0));
}
