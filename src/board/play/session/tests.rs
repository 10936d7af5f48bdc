//! Tests of tasks and messages of a table. The results of searches follow from the side to move.

use super::*;
use crate::play::message::PlayerKind;
use crate::play::task::{MoveEvaluation, TaskResult};
use crate::play::test_host::TestHost;
use crate::review::{Candidate, Estimate, PositionReview};
use kosumi_engine::Decision;
use kosumi_go::board::{Color, Move, PointSet};

const NOW: Duration = Duration::ZERO;

type Session = TableSession<TestHost>;

fn session() -> Session {
    let (size, host) = (BoardSize::square(5).unwrap(), TestHost::default());
    TableSession::new(host, size, Rules::default(), 0.5, Vec::new(), "run".to_owned())
}

fn send(session: &mut Session, window: usize, request: &Value) {
    session.handle_message(window, &request.to_string(), NOW);
}

/// Returns a review of a position, in which the side to move leads by ten points.
fn searched(game: &Game) -> TaskResult {
    let color = game.to_move();
    let estimate = |mean: f32| Estimate { mean, error: 0.01 };
    let (win_rate, score) =
        (estimate(if color == Color::Black { 0.9 } else { 0.1 }), estimate(color.sign() as f32 * 10.0));
    let mv =
        game.size().points().map(Move::Play).find(|&mv| game.check(color, mv).is_ok()).unwrap_or(Move::Pass);
    let candidates = vec![Candidate { mv, visits: 40, win_rate, score, variation: vec![mv] }];
    let ownership = vec![0.0; game.size().area()];
    let analysis = PositionReview { to_move: color, visits: 40, win_rate, score, candidates, ownership };
    TaskResult::Studied { game: Box::new(game.clone()), analysis: Box::new(analysis), is_last: true }
}

/// Lets the engine do all judgements that are wanted.
fn judge(session: &mut Session) {
    while let Some((number, game, task)) = session.host().task.take() {
        let result = match task {
            Task::Settle => TaskResult::Settled(Box::new(PointSet::EMPTY)),
            Task::Judge { .. } => searched(&game),
            _ => panic!("{task:?}"),
        };
        session.handle_result(number, result, NOW);
    }
}

/// Ends the task in progress with a result.
fn end_task(session: &mut Session, result: TaskResult) {
    let (number, ..) = session.host().task.take().expect("a task");
    session.handle_result(number, result, NOW);
}

/// Returns the kinds of the messages to a window.
fn told_to(session: &mut Session, window: usize) -> Vec<String> {
    let messages = session.host().messages.iter().filter(|it| it.0 == Some(window));
    messages.map(|it| it.1["is"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn numbers_are_those_of_the_side_to_move() {
    // Black moves twice, and then either side.
    let record = "(;SZ[5]KM[0.5]RU[Chinese];B[aa];B[bb](;W[cc];B[dd])(;B[ee];B[ed]))";
    let mut session = session();
    send(&mut session, 1, &json!({ "do": "load", "text": record }));
    for at in [4, 6] {
        send(&mut session, 1, &json!({ "do": "review", "at": at, "on": true }));
        judge(&mut session);
    }
    let tree = session.whole_tree();
    let nodes = tree["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 7);
    for node in nodes {
        let lead = node["j"]["a"][2].as_i64();
        let expected = if node["t"] == "B" { 100 } else { -100 };
        assert!(lead.is_none_or(|lead| lead == expected), "{node}");
        // A move that is not the first choice loses nothing, because the opponent leads after any move.
        let judgement = &node["j"]["j"];
        assert_eq!(judgement.is_null(), node["m"].is_null(), "{node}");
        assert!(judgement.is_null() || judgement["l"][2] == 0, "{node}");
    }
    assert!(nodes.iter().filter(|node| !node["j"]["a"].is_null()).count() >= 5);
}

#[test]
fn answers_to_problems_get_a_reply_whatever_happens() {
    let solve = json!({ "do": "solve", "key": 7, "text": "(;SZ[5]KM[0.5]RU[Chinese];B[aa])", "place": "bb" });
    let mut session = session();
    send(&mut session, 1, &solve);
    send(&mut session, 2, &json!({ "do": "review", "at": 0, "on": false }));
    judge(&mut session);
    assert_eq!(told_to(&mut session, 1), ["solved"]);
    send(&mut session, 1, &solve);
    send(&mut session, 1, &solve);
    end_task(&mut session, TaskResult::Crashed("a crash".to_owned()));
    assert_eq!(told_to(&mut session, 1), ["solved", "refused", "state", "refused", "state"]);
}

#[test]
fn moves_are_judged_after_two_passes() {
    let mut session = session();
    send(&mut session, 1, &json!({ "do": "load", "text": "(;SZ[5]KM[0.5]RU[Chinese];B[aa];W[bb];B[];W[])" }));
    send(&mut session, 1, &json!({ "do": "review", "at": 4, "on": true }));
    judge(&mut session);
    assert_eq!(
        (session.state()["phase"].clone(), session.state()["judging"].clone()),
        (json!("marking"), Value::Null)
    );
    let tree = session.whole_tree();
    assert!(tree["nodes"].as_array().unwrap()[1..].iter().all(|node| !node["j"]["j"].is_null()), "{tree}");
}

#[test]
fn a_game_is_not_restored_as_paused_because_problems_were_on_the_table() {
    let other = session().remembered(NOW);
    let mut session = session();
    for paused in [false, true] {
        send(&mut session, 1, &json!({ "do": "pause", "on": paused }));
        send(&mut session, 1, &json!({ "do": "pose-tsumego", "key": "a", "text": "(;SZ[3])" }));
        assert_eq!(session.remembered(NOW).details.unwrap().paused, paused);
        send(&mut session, 1, &json!({ "do": "leave-tsumego" }));
    }
    send(&mut session, 1, &json!({ "do": "pause", "on": false }));
    send(&mut session, 1, &json!({ "do": "play", "at": 0, "place": "aa" }));
    // A game from an earlier run replaces an empty board, but not because a problem has one.
    send(&mut session, 1, &json!({ "do": "pose-tsumego", "key": "a", "text": "(;SZ[3])" }));
    send(&mut session, 1, &json!({ "do": "restore", "game": other }));
    assert_eq!(session.remembered(NOW).line, ["aa"]);
}

#[test]
fn an_evaluation_belongs_to_a_move_that_was_played() {
    let mut session = session();
    let seats = (PlayerKind::Person, PlayerKind::Kosumi { level: "seconds-1".to_owned() });
    let clock = json!({ "kind": "absolute", "main": 10.0 });
    send(
        &mut session,
        1,
        &json!({ "do": "new", "game": {
        "columns": 5, "rows": 5, "handicap": 0, "komi": 0.5, "rules": "chinese", "clock": clock,
        "black": seats.0, "white": seats.1,
    } }),
    );
    let mv = crate::play::parse_place(BoardSize::square(5).unwrap(), "bb").unwrap();
    let chosen = |visits| {
        TaskResult::Chosen(Decision::Play(mv), Some(MoveEvaluation { win_rate: 0.5, score: 1.0, visits }))
    };
    for visits in [10, 20] {
        send(&mut session, 1, &json!({ "do": "play", "at": 0, "place": "aa" }));
        end_task(&mut session, chosen(visits));
        // Windows get the numbers also if they have the node already.
        let trees = session.host().messages.iter().rev().filter(|it| it.1["is"] == "tree");
        let node =
            trees.flat_map(|it| it.1["nodes"].as_array().unwrap()).find(|node| node["i"] == 2).cloned();
        assert_eq!(node.unwrap()["e"], json!([500, 10, visits]));
        send(&mut session, 1, &json!({ "do": "undo", "at": 2 }));
    }
    send(&mut session, 1, &json!({ "do": "play", "at": 0, "place": "cc" }));
    let (number, ..) = session.host().task.take().unwrap();
    session.handle_result(number, chosen(30), Duration::from_secs(100));
    let tree = session.whole_tree();
    assert_eq!(
        (session.state()["result"].clone(), &tree["nodes"][1]["e"]),
        (json!("B+T"), &Value::Null),
        "{tree}"
    );
}
