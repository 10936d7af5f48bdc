//! Tests of problems at the table, with the solver.

use super::*;
use crate::play::test_host::TestHost;
use crate::play::{TableSession, Task, TaskResult};
use kosumi_go::board::BoardSize;
use std::time::Duration;

const NOW: Duration = Duration::ZERO;

struct Table(TableSession<TestHost>);

impl Table {
    fn new() -> Table {
        let size = BoardSize::square(9).unwrap();
        let host = TestHost::default();
        let mut session = TableSession::new(host, size, Rules::default(), 7.5, Vec::new(), "run".to_owned());
        session.handle_open(1, NOW);
        Table(session)
    }

    /// Sends a request and lets the solver do its work. Returns the latest message of this kind.
    fn request(&mut self, request: &Value, kind: &str) -> Value {
        self.0.handle_message(1, &request.to_string(), NOW);
        while let Some((number, _, Task::Solve(task))) = self.0.host().task.clone() {
            self.0.host().task = None;
            let found = task.run(1, &|| false);
            self.0.handle_result(number, TaskResult::Solved(found), NOW);
        }
        let mut messages = self.0.host().messages.iter().rev().map(|(_, message)| message);
        messages.find(|message| message["is"] == kind).cloned().unwrap_or_default()
    }

    fn play(&mut self, at: usize, place: &str) -> Value {
        self.request(&json!({ "do": "play", "at": at, "place": place }), "state")
    }
}

/// A group with three empty points in a row. The middle one is vital.
const THREE: &str = "(;SZ[7:9]PL[B]AB[cc][dc][ec][cd][ed][ce][ee][cf][ef][cg][dg][eg]\
    AW[bb][cb][db][eb][fb][bc][fc][bd][fd][be][fe][bf][ff][bg][fg][bh][ch][dh][eh][fh]C[Black to live])";

#[test]
fn every_problem_of_the_program_can_be_solved() {
    let all = read_collection(&[], Rules::default());
    let problems = all["problems"].as_array().unwrap();
    assert_eq!((problems.len(), &all["left"]), (18, &json!(0)));
    for entry in problems {
        let text = entry["text"].as_str().unwrap();
        let mut problem =
            ActiveProblem::read("x".to_owned(), text.as_bytes(), None, Rules::default()).unwrap();
        assert!(problem.goal.is_some(), "{text}");
        problem.take(problem.task().unwrap().run(1, &|| false));
        let state = problem.state();
        assert!(state["reachable"] == "goal" || state["reachable"] == "ko", "{text} {state}");
        assert_eq!(entry["turn"], state["turn"]);
    }
}

#[test]
fn a_right_move_solves_and_a_wrong_one_is_refuted_in_the_tree() {
    let mut table = Table::new();
    table.play(0, "cc");
    let game = table.0.game_number();
    let pose = json!({ "do": "pose-tsumego", "key": "three", "text": THREE });
    let state = table.request(&pose, "state");
    let problem = &state["tsumego"];
    assert_eq!(
        (&problem["goal"], &problem["turn"], &problem["reachable"]),
        (&json!("live"), &json!("B"), &json!("goal"))
    );
    assert_eq!(
        (&state["rows"], &state["study"], &problem["escapes"]),
        (&json!(9), &json!(true), &json!(false))
    );
    assert_eq!(problem["group"].as_str().unwrap().len(), 2 * 12);

    // A wrong move, with the refutation as a variation.
    let state = table.play(0, "dd");
    let judged = |state: &Value| state["tsumego"]["judged"].as_array().unwrap().clone();
    assert_eq!(judged(&state), [json!([1, "wrong", false])]);
    assert_eq!(state["at"], 1);
    let nodes = table.request(&json!({ "do": "save" }), "record")["text"].as_str().unwrap().to_owned();
    assert!(nodes.contains(";B[dd];W[de]"), "White plays the middle: {nodes}");
    // The right one.
    let state = table.play(0, "de");
    assert_eq!(judged(&state).last().unwrap()[1], "solved", "{state}");
    // White's turn, a pass, and another mode are refused.
    let solved = state["at"].as_u64().unwrap() as usize;
    for refused in [
        json!({ "do": "play", "at": solved, "place": "dd" }),
        json!({ "do": "play", "at": 0, "place": "--" }),
        json!({ "do": "study", "on": false }),
        json!({ "do": "answer", "at": 0 }),
        json!({ "do": "review", "at": 0, "on": true }),
    ] {
        assert_eq!(table.request(&refused, "refused")["why"], "not-now", "{refused}");
    }
    assert_eq!(table.request(&json!({ "do": "play", "at": 0, "place": "cc" }), "refused")["why"], "occupied");

    // The game is unchanged, and no change was counted meanwhile.
    assert_eq!((table.0.game_number(), table.0.summary()["moves"].clone()), (game, json!(1)));
    let state = table.request(&json!({ "do": "leave-tsumego" }), "state");
    assert_eq!(
        (&state["tsumego"], &state["count_moves"], &state["paused"]),
        (&Value::Null, &json!(1), &json!(false))
    );
    assert_eq!(table.0.game_number(), game);
    assert!(matches!(table.0.host().task, Some((_, _, Task::Choose { .. }))), "Kosumi goes on");
    let again = table.request(&pose, "state");
    assert!(again["game"].as_u64().unwrap() > state["game"].as_u64().unwrap());
}

#[test]
fn a_goal_that_is_not_named_is_asked_for() {
    let mut table = Table::new();
    let unnamed = THREE.replace("C[Black to live]", "");
    let pose = |goal: Value| json!({ "do": "pose-tsumego", "key": "x", "text": unnamed, "goal": goal });
    let state = table.request(&pose(Value::Null), "state");
    assert_eq!((&state["tsumego"]["goal"], &state["tsumego"]["reachable"]), (&Value::Null, &Value::Null));
    table.play(0, "de");
    assert_eq!(table.request(&json!({ "do": "remember" }), "refused")["why"], "not-now");
    let state = table.request(&pose(json!("live")), "state");
    assert_eq!(state["tsumego"]["reachable"], "goal");
    // Black cannot kill the stones around.
    let state = table.request(&pose(json!("kill")), "state");
    assert!(["nothing", "undecided"].contains(&state["tsumego"]["reachable"].as_str().unwrap()), "{state}");
}

#[test]
fn a_move_that_makes_a_ko_is_no_clean_solution() {
    // In this shape the capture of one stone decides; some moves lead to a ko.
    let all = read_collection(&[], Rules::default());
    let (mut kos, mut seen) = (0, 0);
    for problem in all["problems"].as_array().unwrap() {
        let text = problem["text"].as_str().unwrap();
        let mut problem =
            ActiveProblem::read("x".to_owned(), text.as_bytes(), None, Rules::default()).unwrap();
        problem.take(problem.task().unwrap().run(1, &|| false));
        let game = problem.record.game();
        let node = problem.record.start;
        let places: Vec<_> = problem.question.unwrap().0.playable.iter().collect();
        for point in places {
            if game.check(game.to_move(), Move::Play(point)).is_err() || seen > 40 {
                continue;
            }
            problem.judged.clear();
            problem.answer(node, &[(game.to_move(), Move::Play(point))]);
            problem.take(problem.task().unwrap().run(1, &|| false));
            let verdict = problem.judged[0].verdict;
            kos += usize::from(verdict == Verdict::Ko);
            seen += 1;
            assert!(!problem.judged[0].is_of_record && verdict != Verdict::Undecided, "{text} {point}");
        }
    }
    assert!(kos > 0, "{seen}");
}

#[test]
fn an_undecided_problem_is_judged_by_its_record() {
    let text = format!("{};B[de]C[RIGHT])", THREE.trim_end_matches(')').replace("PL[B]", "PL[B]GN[one]"));
    let text = text.replace("C[RIGHT])", "C[RIGHT];W[aa])");
    let read = || ActiveProblem::read("x".to_owned(), text.as_bytes(), None, Rules::default()).unwrap();
    let size = BoardSize::new(7, 9).unwrap();
    let mv = |place: &str| (Color::Black, crate::play::parse_place(size, place).unwrap());
    let mut problem = read();
    let (node, region) = (problem.record.start, Box::new(problem.question.unwrap().0));
    assert!(!problem.is_open() && problem.task().is_some());
    problem.take(ProblemFound::First(None, region.clone()));
    assert!(problem.is_open() && problem.task().is_none());
    assert_eq!(problem.state()["reachable"], "undecided");
    let next = problem.answer(node, &[mv("de")]).unwrap();
    assert_eq!(problem.judged[0].verdict, Verdict::Right, "{text}");
    assert_eq!((next.moves.len(), next.goes_on), (1, true));
    assert_eq!(problem.judged[0], JudgedMove { node, verdict: Verdict::Right, is_of_record: true });
    problem.judged.clear();
    problem.answer(node, &[mv("dd")]).unwrap();
    assert_eq!(problem.judged[0], JudgedMove { node, verdict: Verdict::Undecided, is_of_record: false });
    // The record also decides where the solver decides the problem, but not this move.
    let mut problem = read();
    problem.take(ProblemFound::First(Some(Outcome::Reached), region));
    assert!(problem.answer(node, &[mv("de")]).is_none());
    assert!(!problem.is_open());
    problem.take(ProblemFound::Answer(JudgedAnswer::default()));
    assert_eq!(problem.judged[0], JudgedMove { node, verdict: Verdict::Right, is_of_record: true });
    // A failure of the solver ends the wait.
    let mut problem = read();
    problem.give_up();
    assert!(problem.is_open());
}

#[test]
fn files_with_problems_are_recognised() {
    let mut table = Table::new();
    let load = |text: &str, plain: bool| json!({ "do": "load", "text": text, "plain": plain });
    let two = format!("{}\n{THREE}", THREE.replace("C[Black to live]", ""));
    assert_eq!(table.request(&load(&two, false), "tsumego")["problems"].as_array().unwrap().len(), 2);
    assert_eq!(table.request(&load(THREE, true), "state")["count_moves"], 0);
    let is = |text: &str| is_collection(text.as_bytes(), Rules::default());
    assert!(is(THREE) && is(&two));
    for game in [
        "(;SZ[9];B[aa];W[bb])",
        "(;SZ[9]HA[2]AB[cc][gg]C[White to live])",
        "(;SZ[9]AB[aa]AW[bb])",
        "",
        "(;",
        "x",
    ] {
        assert!(!is(game), "{game}");
    }
    assert_eq!(read_collection(b"no record", Rules::default())["problems"], json!([]));
    let many = THREE.repeat(MAX_PROBLEMS + 7);
    let read = read_collection(many.as_bytes(), Rules::default());
    assert_eq!((read["problems"].as_array().unwrap().len(), &read["left"]), (MAX_PROBLEMS, &json!(7)));
    // A problem without the kind of group that its goal is about.
    let state = table.request(
        &json!({ "do": "pose-tsumego", "key": "x", "text": "(;SZ[9]AB[aa]C[Black to kill])" }),
        "state",
    );
    assert_eq!(state["tsumego"]["reachable"], "undecided");
    let refused = table.request(&json!({ "do": "pose-tsumego", "key": "x", "text": "nothing" }), "refused");
    assert_eq!(refused["why"], "bad-record");
}
