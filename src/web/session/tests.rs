use super::*;
use kosumi_net::BuiltIn;
use std::sync::atomic::{AtomicU64, Ordering};

/// Returns a time that advances by a millisecond with each call, so no test depends on the speed of the machine.
fn time() -> Duration {
    static READINGS: AtomicU64 = AtomicU64::new(0);
    Duration::from_millis(READINGS.fetch_add(1, Ordering::Relaxed))
}

fn start(options: &str) -> Session {
    Session::start(options, None, time).expect("a session")
}

fn ask(session: &mut Session, request: Value) -> Result<Value, String> {
    let answer: Value = serde_json::from_str(&session.answer(&request.to_string())).expect("JSON");
    match answer.get("error") {
        Some(error) => Err(error.as_str().expect("a text").to_owned()),
        None => Ok(answer["ok"].clone()),
    }
}

#[test]
fn a_game_is_set_up_searched_and_saved() {
    let mut session = start("{}");
    let set = json!({ "do": "setPosition", "size": 9, "rules": "japanese", "komi": 6.5, "moves": ["E5", ["black", "C3"]] });
    let position = ask(&mut session, set).expect("a position");
    assert_eq!(position["size"], json!([9, 9]));
    assert_eq!(position["rules"], "japanese");
    assert_eq!(position["toMove"], "white");
    assert_eq!(position["board"][4], "....X....");
    assert_eq!(position["board"][6], "..X......");
    let search = json!({ "do": "search", "visits": 50, "analysis": true, "ownership": true });
    let analysis = ask(&mut session, search).expect("an analysis");
    assert!(analysis["visits"].as_u64() >= Some(50), "{analysis}");
    assert_eq!(analysis["ownership"].as_array().map(Vec::len), Some(81));
    assert!(analysis["moves"][0]["visits"].as_u64() > Some(0));
    let searched =
        ask(&mut session, json!({ "do": "search", "visits": 100, "forMove": true })).expect("a search");
    assert!(searched["visits"].as_u64() >= Some(100));
    let chosen = ask(&mut session, json!({ "do": "choose" })).expect("a move");
    assert_eq!(chosen["position"]["moves"].as_array().map(Vec::len), Some(3));
    assert_eq!(chosen["position"]["moves"][2], json!(["white", chosen["move"]]));
    let record = chosen["position"]["record"].clone();
    assert_eq!(ask(&mut session, json!({ "do": "save" })).expect("a record"), record);

    let mut other = start("{}");
    let restored = ask(&mut other, json!({ "do": "restore", "record": record })).expect("a game");
    assert_eq!(restored, chosen["position"]);
    let loaded = ask(&mut other, json!({ "do": "load", "record": record, "moves": 1 })).expect("a game");
    assert_eq!(loaded["position"]["moves"], json!([["black", "E5"]]));
    ask(&mut other, json!({ "do": "undo" })).expect("a move to take back");
    assert!(ask(&mut other, json!({ "do": "undo" })).is_err());
}

#[test]
fn a_refused_request_changes_nothing() {
    let mut session = start("{}");
    ask(&mut session, json!({ "do": "setPosition", "size": [7, 5], "moves": ["D3", "D4"] }))
        .expect("a position");
    let before = ask(&mut session, json!({ "do": "position" })).expect("a position");
    let refused = [
        (json!({ "do": "play", "vertex": "D4" }), "D4: occupied"),
        (json!({ "do": "play", "vertex": "H1" }), "H1 is not on the board"),
        (json!({ "do": "play", "vertex": "I1" }), "\"I1\" is not a vertex"),
        (json!({ "do": "play", "vertex": "C3", "color": "red" }), "\"red\" is not a colour"),
        (json!({ "do": "setPosition", "size": 30 }), "a board of 30 by 30 is not supported"),
        (json!({ "do": "setPosition", "size": 9, "komi": 6.3 }), "6.3 is not a komi for this board"),
        (json!({ "do": "setPosition", "size": 9, "rules": "chess" }), "unknown rules \"chess\""),
        (json!({ "do": "setPosition", "size": 9, "moves": ["C3", "C3"] }), "move 2 at C3: occupied"),
        (json!({ "do": "setPosition", "size": 9, "handicap": ["C3", "C3"] }), "handicap: occupied"),
        (json!({ "do": "search" }), "a search needs a limit: visits, simulations or milliseconds"),
        (json!({ "do": "search", "milliseconds": -1.0 }), "-1 milliseconds are not a time"),
        (json!({ "do": "signature", "kind": "network" }), "the session has no network"),
    ];
    for (request, reason) in refused {
        assert_eq!(ask(&mut session, request), Err(reason.to_owned()));
    }
    assert!(ask(&mut session, json!({ "do": "load", "record": "no record" })).is_err());
    assert!(ask(&mut session, json!({ "do": "dance" })).is_err());
    assert!(session.answer("{").starts_with(r#"{"error":"not a request"#));
    assert_eq!(ask(&mut session, json!({ "do": "position" })), Ok(before));
}

#[test]
fn time_limits_use_the_given_time() {
    let mut session = start("{}");
    ask(&mut session, json!({ "do": "setPosition", "size": 5 })).expect("a position");
    let search = ask(&mut session, json!({ "do": "search", "milliseconds": 20.0 })).expect("a search");
    // The time is read at most a few times between two batches of simulations.
    let simulations = search["simulations"].as_u64().expect("a number");
    assert!((1..=20 * 16).contains(&simulations), "{simulations}");
}

#[test]
fn a_finished_game_has_a_score() {
    let mut session = start("{}");
    let moves = ["B2", "D4", "B4", "D2", "B3", "D3", "B1", "D1", "B5", "D5", "pass", "pass"];
    let set = json!({ "do": "setPosition", "size": 5, "rules": "chinese", "komi": 0.5, "moves": moves });
    assert_eq!(ask(&mut session, set).expect("a position")["isOver"], true);
    let score = ask(&mut session, json!({ "do": "score" })).expect("a score");
    assert_eq!(score["score"], -0.5);
    assert_eq!(score["result"], "W+0.5");
    assert_eq!(score["owners"][0], "black");
    assert_eq!(score["owners"][2], Value::Null);
    assert_eq!(score["owners"][4], "white");
}

#[test]
fn invalid_starts_are_refused() {
    let message = |options: &str, network: Option<&[u8]>| match Session::start(options, network, time) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    assert_eq!(message(r#"{"memory":0}"#, None), "memory: must be from 1 to 2048 MiB");
    assert_eq!(message(r#"{"resign":2}"#, None), "resign: must be from -1 to 1");
    assert!(message(r#"{"kernel":"abacus"}"#, None).starts_with("unknown kernel"));
    assert_eq!(message(r#"{"precision":"int9"}"#, None), "unknown precision \"int9\"");
    assert!(message("[", None).starts_with("the options are invalid"));
    assert!(message("{}", Some(b"no network")).starts_with("the network cannot be read"));
}

#[test]
fn a_network_evaluates() {
    let network = Network::built_in(BuiltIn::Small).expect("a network");
    let mut file = Vec::new();
    network.write(kosumi_net::Encoding::Binary, &mut file).expect("memory");
    let options = r#"{"memory":16,"kernel":"portable"}"#;
    let mut session = Session::start(options, Some(&file), time).expect("a session");
    ask(&mut session, json!({ "do": "setPosition", "size": 7 })).expect("a position");
    let analysis =
        ask(&mut session, json!({ "do": "search", "visits": 8, "analysis": true })).expect("an analysis");
    assert_eq!(analysis["moves"][0]["vertex"], "D4");
    let speed =
        json!({ "do": "speed", "size": 9, "milliseconds": 3.0, "kernel": "portable", "precision": "f32" });
    let speed = ask(&mut session, speed).expect("a speed");
    assert_eq!(speed["arithmetic"], "portable f32");
    assert!(speed["evaluationsPerSecond"].as_f64() > Some(0.0));
}

#[test]
fn a_record_is_reviewed_and_the_game_stays() {
    use std::sync::Mutex;
    static PROGRESS: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());
    let mut session =
        start("{}").with_progress(|done, total| PROGRESS.lock().expect("progress").push((done, total)));
    ask(&mut session, json!({ "do": "play", "vertex": "D4" })).expect("a move");
    let record = "(;SZ[5]KM[0.5]PB[<Ann>];B[cc];W[bb];B[bc])";
    let page = ask(&mut session, json!({ "do": "review", "record": record })).expect("a page");
    let page = page.as_str().expect("a text");
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("&lt;Ann&gt;") && !page.contains("<Ann>"),
        "{page}"
    );
    let progress = PROGRESS.lock().expect("progress");
    assert!(
        progress.len() >= 4 && progress.last().is_some_and(|&(done, total)| done == total),
        "{progress:?}"
    );
    let position = ask(&mut session, json!({ "do": "position" })).expect("a position");
    assert_eq!((&position["size"], &position["moves"]), (&json!([19, 19]), &json!([["black", "D4"]])));
    for record in ["", "nothing", "(;SZ[99])"] {
        assert!(ask(&mut session, json!({ "do": "review", "record": record })).is_err(), "{record}");
    }
}
