use super::*;
use std::sync::atomic::{AtomicU64, Ordering};

const SMALL: &[u8] = include_bytes!("../../net/built_in/small.bin.gz");

/// Returns a time that advances by a millisecond with each call.
fn time() -> Duration {
    static READINGS: AtomicU64 = AtomicU64::new(0);
    Duration::from_millis(READINGS.fetch_add(1, Ordering::Relaxed))
}

fn board() -> Board {
    Board::start(r#"{"memory":8}"#, "run", time).unwrap()
}

/// Handles an event that must not be refused.
fn ask(board: &mut Board, request: &Value) -> Value {
    let answer: Value = serde_json::from_str(&board.answer(&request.to_string())).unwrap();
    assert!(answer["ok"].is_object(), "{request}: {answer}");
    answer["ok"].clone()
}

fn request(board: &mut Board, message: &Value) -> Value {
    ask(board, &json!({ "do": "message", "message": message.to_string() }))
}

/// Returns the messages of a kind.
fn messages<'a>(answer: &'a Value, kind: &str) -> Vec<&'a Value> {
    answer["messages"].as_array().unwrap().iter().filter(|message| message["is"] == kind).collect()
}

/// Lets the engine do all that it has to do.
fn finish(board: &mut Board) -> Value {
    loop {
        let answer = ask(board, &json!({ "do": "advance" }));
        if answer["isBusy"] == false {
            return answer;
        }
    }
}

#[test]
fn a_game_is_played_and_restored() {
    let mut first = board();
    let opened = ask(&mut first, &json!({ "do": "open" }));
    for kind in ["choices", "tree", "state"] {
        assert_eq!(messages(&opened, kind).len(), 1, "{kind}");
    }
    ask(&mut first, &json!({ "do": "today", "date": "2026-11-28" }));
    let played = request(&mut first, &json!({ "do": "play", "at": 0, "place": "ee" }));
    assert_eq!(messages(&played, "state")[0]["thinking"], true);
    assert_eq!(played["isBusy"], false, "the engine waits for its network");
    assert_eq!(played["remembered"]["about"]["moves"], 1);
    first.set_network(SMALL, false).unwrap();
    let answered = finish(&mut first);
    assert_eq!(messages(&answered, "state")[0]["count_moves"], 2);
    let reply = &messages(&answered, "tree")[0]["nodes"][0];
    assert_eq!((&reply["p"], reply["e"].as_array().unwrap().len()), (&json!(1), 3), "{reply}");
    let game = &answered["remembered"]["game"];
    assert!(game["text"].as_str().unwrap().contains("DT[2026-11-28]"), "{game}");

    let mut second = board();
    let restored = ask(&mut second, &json!({ "do": "restore", "game": game, "isPaused": true }));
    let state = messages(&restored, "state").pop().unwrap();
    assert_eq!((&state["paused"], &state["count_moves"]), (&json!(true), &json!(2)));
    assert_eq!(&messages(&restored, "tree")[0]["nodes"][2], reply);
    assert_eq!(restored["isBusy"], false);

    let shared = request(&mut second, &json!({ "do": "share" }));
    let fragment = &messages(&shared, "shared")[0]["fragment"];
    let mut third = board();
    let loaded = request(&mut third, &json!({ "do": "load", "shared": fragment }));
    assert_eq!(messages(&loaded, "tree")[0]["nodes"][2]["m"], reply["m"]);
    let refused = request(&mut third, &json!({ "do": "load", "shared": "AAAA" }));
    assert_eq!(messages(&refused, "refused")[0]["why"], "bad-link");
    assert_eq!(refused["remembered"], Value::Null, "nothing has changed");
}

#[test]
fn a_message_ends_the_task_that_it_makes_useless() {
    let mut board = board();
    board.set_network(SMALL, false).unwrap();
    request(&mut board, &json!({ "do": "analyse", "on": true }));
    let thought = ask(&mut board, &json!({ "do": "advance" }));
    assert_eq!(messages(&thought, "thought")[0]["at"], 0);
    assert_eq!(thought["isBusy"], true);
    let off = request(&mut board, &json!({ "do": "analyse", "on": false }));
    assert_eq!(off["isBusy"], false);
}

#[test]
fn a_review_is_made_elsewhere() {
    let mut board = board();
    let record = "(;SZ[5]RE[B+R];B[cc];W[bb])";
    request(&mut board, &json!({ "do": "load", "text": record }));
    let asked = request(&mut board, &json!({ "do": "review-page" }));
    let number = asked["review"][0].as_u64().unwrap();
    assert!(asked["review"][1].as_str().unwrap().contains(";B[cc];W[bb]"));
    let progress = json!({ "do": "reviewProgress", "number": number, "done": 1, "total": 3 });
    assert_eq!(messages(&ask(&mut board, &progress), "review")[0]["review"], json!([1, 3]));
    let end = json!({ "do": "reviewEnd", "number": number, "hasSucceeded": true });
    assert_eq!(messages(&ask(&mut board, &end), "review")[0]["review"], true);
    // Another game has no review, and a late one does not count.
    let other = request(&mut board, &json!({ "do": "load", "text": record }));
    assert_eq!(other["endsReview"], true);
    assert!(messages(&ask(&mut board, &end), "review").is_empty());
}

#[test]
fn invalid_events_are_refused() {
    let mut board = board();
    let position = serde_json::to_value(board.session.remembered(time())).unwrap();
    for request in ["", "{}", r#"{"do":"sing"}"#, r#"{"do":"restore","game":{}}"#, r#"{"do":"message"}"#] {
        assert!(board.answer(request).starts_with(r#"{"error":"#), "{request}");
    }
    let mut bad = position.clone();
    bad["line"] = json!(["=7"]);
    let answer = board.answer(&json!({ "do": "restore", "game": bad }).to_string());
    assert!(answer.contains("cannot be restored"), "{answer}");
    assert_eq!(serde_json::to_value(board.session.remembered(time())).unwrap(), position);
    let refused = request(&mut board, &json!({ "do": "open", "file": "x" }));
    assert_eq!(messages(&refused, "refused")[0]["why"], "bad-message");
    assert!(board.set_network(b"no network", true).is_err());
    assert!(Board::start(r#"{"memory":0}"#, "run", time).is_err());
}

/// Returns the last message of a kind.
fn last(answers: &[Value], kind: &str) -> Value {
    let all: Vec<&Value> = answers.iter().flat_map(|answer| messages(answer, kind)).collect();
    (*all.last().unwrap_or_else(|| panic!("no {kind}"))).clone()
}

/// Lets the engine do all that it has to do, and returns all answers.
fn finish_all(board: &mut Board) -> Vec<Value> {
    let mut answers = Vec::new();
    while answers.last().is_none_or(|answer: &Value| answer["isBusy"] == true) {
        answers.push(ask(board, &json!({ "do": "advance" })));
    }
    answers
}

#[test]
fn moves_are_judged_on_the_tree_and_restored_with_it() {
    let mut board = board();
    board.set_network(SMALL, false).unwrap();
    let record = "(;SZ[5]KM[0.5];B[cc](;W[bb];B[aa])(;W[dd]C[other]))";
    request(&mut board, &json!({ "do": "load", "text": record }));
    request(&mut board, &json!({ "do": "review", "at": 3, "on": true }));
    let answers = finish_all(&mut board);
    assert_eq!(last(&answers, "judging")["judging"], Value::Null, "the review has ended");
    let judged: Vec<&Value> = answers.iter().flat_map(|answer| messages(answer, "judged")).collect();
    let numbers = judged.iter().flat_map(|message| message["nodes"].as_array().unwrap());
    let numbers: std::collections::BTreeSet<u64> = numbers.map(|it| it["i"].as_u64().unwrap()).collect();
    assert_eq!(numbers.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3], "the line and its start");
    let remembered = answers.iter().rev().find(|answer| !answer["remembered"].is_null()).unwrap();
    let game = &remembered["remembered"]["game"];
    let mut second = super::tests::board();
    let restored = ask(&mut second, &json!({ "do": "restore", "game": game }));
    let nodes = messages(&restored, "tree")[0]["nodes"].as_array().unwrap().clone();
    assert_eq!(nodes.len(), 5);
    assert_eq!((&nodes[4]["c"], &nodes[4]["j"]), (&json!("other"), &Value::Null));
    // Black's last move fills a point of no use beside a stone that lives.
    assert!(nodes[3]["j"]["j"]["l"][2].as_i64().unwrap() > 0, "{}", nodes[3]);
    assert_eq!(messages(&restored, "state")[0]["study"], true);
}

#[test]
fn a_teacher_judges_before_it_answers_and_an_answer_to_a_problem() {
    let mut board = board();
    board.set_network(SMALL, false).unwrap();
    request(&mut board, &json!({ "do": "teach", "on": true }));
    finish_all(&mut board);
    request(&mut board, &json!({ "do": "play", "at": 0, "place": "aa" }));
    let answers = finish_all(&mut board);
    let at = |kind: &str, what: &dyn Fn(&Value) -> bool| {
        answers.iter().position(|answer| messages(answer, kind).into_iter().any(what)).unwrap()
    };
    let is_first = |message: &Value| message["nodes"].as_array().unwrap().iter().any(|it| it["i"] == 1);
    let has_moved = |state: &Value| state["count_moves"] == 2;
    assert!(at("judged", &is_first) < at("state", &has_moved), "the verdict comes before the answer");
    let solve = |board: &mut Board, place: &str| {
        let text = "(;SZ[5]KM[0.5];B[cc];W[bb])";
        request(board, &json!({ "do": "solve", "key": 7, "text": text, "place": place }));
        last(&finish_all(board), "solved")
    };
    let solved = solve(&mut board, "aa");
    assert_eq!(solved["key"], 7);
    assert!(solved["result"]["j"]["c"].as_u64().unwrap() > 0, "the worst point: {solved}");
    let refused =
        request(&mut board, &json!({ "do": "solve", "key": 8, "text": "(;SZ[5];B[cc])", "place": "cc" }));
    assert_eq!(messages(&refused, "refused")[0]["why"], "occupied");
}

#[test]
fn kosumi_answers_in_the_study_mode() {
    let mut board = board();
    board.set_network(SMALL, false).unwrap();
    request(&mut board, &json!({ "do": "load", "text": "(;SZ[5]KM[0.5];B[cc];W[bb])" }));
    request(&mut board, &json!({ "do": "answers", "on": true }));
    request(&mut board, &json!({ "do": "play", "at": 1, "place": "dd" }));
    let answers = finish_all(&mut board);
    let state = last(&answers, "state");
    assert_eq!(
        (&state["count_moves"], &state["turn"], &state["study"]),
        (&json!(3), &json!("W"), &json!(true))
    );
    let removed = request(&mut board, &json!({ "do": "remove", "at": 3 }));
    assert_eq!(messages(&removed, "state")[0]["at"], 1, "the head goes to the node before");
    assert_eq!(messages(&removed, "tree")[0]["order"], json!([[1, [2]]]));
    let back = request(&mut board, &json!({ "do": "put-back" }));
    assert_eq!(messages(&back, "tree")[0]["nodes"].as_array().unwrap().len(), 2);
    for message in [
        json!({ "do": "answer", "at": 99 }),
        json!({ "do": "promote", "at": 2 }),
        json!({ "do": "remove", "at": 0 }),
    ] {
        let refused = request(&mut board, &message);
        assert_eq!(messages(&refused, "refused")[0]["why"], "not-now", "{message}");
    }
}

#[test]
fn a_card_takes_part_in_a_running_task() {
    let mut board = board();
    let refused = board.answer(r#"{"do":"useCard","isWanted":true}"#);
    assert!(refused.contains("no other network"), "{refused}");
    for is_large in [false, true] {
        board.set_network(SMALL, is_large).unwrap();
    }
    let large_engine = |board: &Board| {
        let settings = *board.large_engine.as_ref().unwrap().engine().settings();
        (settings.threads, settings.network.use_device)
    };
    assert_eq!(large_engine(&board), (1, false));
    request(&mut board, &json!({ "do": "analyse", "on": true }));
    let first = ask(&mut board, &json!({ "do": "advance" }));
    assert_eq!(first["isBusy"], true, "{first}");
    for (is_wanted, expected) in [(true, (crate::gpu::GPU_THREADS, true)), (false, (1, false))] {
        ask(&mut board, &json!({ "do": "useCard", "isWanted": is_wanted }));
        assert_eq!(large_engine(&board), expected);
        assert_eq!(ask(&mut board, &json!({ "do": "advance" }))["isBusy"], true, "the task goes on");
    }
}
