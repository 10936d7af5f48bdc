//! Simulation of the table in the browser, with windows, engines and restarts that follow from a seed.
//!
//! The table and its session are the real ones, which have no threads, clocks and files. Their surroundings are
//! simulated: windows that read their messages late and act on what they have read, and engines that answer late,
//! twice, in another order, wrongly, or when no answer is wanted any more. The process ends and starts again with the
//! game that it stored, or without it. The results of searches follow from the position alone ([`searched`]), so a
//! number shows to which position it belongs. The simulation checks that
//!
//! * a move that was accepted occurs once and follows the move before it;
//! * a refused request changes nothing, and stops no search;
//! * an answer counts once, and an answer to an earlier request changes nothing;
//! * every number that a window shows is that of a search of its position, and a judgement is that of its move;
//! * an answer to a problem is judged once, and the judgement belongs to it;
//! * a loaded record shows exactly the nodes that a plain model of it has ([`loaded`]);
//! * nodes leave the tree only when a window removes them or starts another game, also while problems are on the table;
//! * the page of a review is that of the game on the table;
//! * the restored game is the one that was stored;
//! * windows that have read all their messages show what a new window shows.

mod host;
mod loaded;
mod requests;
mod searched;
mod shown;

use crate::simulation::{Counts, run_seeds};
use host::{Question, SimulatedHost};
use kosumi_board::play::{
    MoveEvaluation, ProblemFound, RestoredGame, TableSession, Task, TaskResult, parse_place,
};
use kosumi_board::review::place;
use kosumi_engine::Decision;
use kosumi_go::board::{BoardSize, Move, PointSet};
use kosumi_go::game::Game;
use kosumi_go::rng::Rng;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::{Record, Strictness};
use kosumi_solve::{JudgedAnswer, Outcome};
use loaded::DrawnRecord;
use searched::{Drawn, OUTLOOK, search};
use serde_json::{Value, json};
use shown::Shown;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Number of events of a session.
const EVENTS: u32 = 160;
/// Window that reads all messages at once and sends none. It does not count as an open window.
const OBSERVER: usize = usize::MAX;
/// Problems of life and death: one to be killed, one without a goal and with a solution, one to be captured, and one
/// without stones.
const PROBLEMS: [&str; 4] = [
    "(;SZ[4:6]PL[B]AB[ac][bc][bd][be][bf]AW[ab][bb][cb][cc][cd][ce][cf]TR[ac])",
    "(;SZ[5]AB[aa][ba][ca]AW[ab][bb][cb][db]C[Black first];B[da]C[RIGHT];W[ea](;B[ec])(;B[ed]))",
    "(;SZ[5:4]PL[W]C[Capture]AB[bb][cb]AW[ba][ca][ab][db];W[bc];B[cc])",
    "(;SZ[3])",
];

/// Game that a window stored, and what it showed then.
struct Kept {
    game: RestoredGame,
    lines: Vec<String>,
    lasting: Value,
}

struct Simulated<'c> {
    session: TableSession<SimulatedHost>,
    observer: Shown,
    windows: BTreeMap<usize, Shown>,
    next_window: usize,
    /// Number of processes so far. Each has another engine.
    runs: u64,
    /// The game that waits while problems are on the table.
    aside: Option<Shown>,
    /// Game that a window can restore.
    kept: Option<Kept>,
    /// Records that the table has sent, with the tree that was shown then.
    records: Vec<(String, Vec<String>)>,
    /// Shared records, likewise.
    shared: Vec<(String, Vec<String>)>,
    /// Records of positions for problems.
    positions: Vec<String>,
    /// Answers to problems that are to be judged: window and key, and the position after the answer.
    answers: Vec<((usize, u64), Drawn)>,
    next_key: u64,
    now: Duration,
    rng: Rng,
    counts: &'c mut Counts,
}

fn new_session(run: u64) -> TableSession<SimulatedHost> {
    let rules = Rules::preset("chinese").expect("rules").rules;
    let (size, engines) = (BoardSize::square(3).expect("a size"), vec!["other".to_owned()]);
    let host = SimulatedHost { today: run as u32, ..SimulatedHost::default() };
    TableSession::new(host, size, rules, 0.5, engines, run.to_string())
}

impl Simulated<'_> {
    /// Reads the messages to the observer.
    fn observe(&mut self) -> Shown {
        let messages: Vec<Value> = self.session.host().observed.drain(..).collect();
        messages.iter().for_each(|message| self.observer.read(message));
        for (window, message) in std::mem::take(&mut self.session.host().solved) {
            let key = (window, message["key"].as_u64().expect("a key"));
            let index =
                self.answers.iter().position(|it| it.0 == key).expect("an answer that is to be judged");
            let (_, after) = self.answers.remove(index);
            after.check_numbers(&message["result"]["numbers"], self.runs);
            self.counts.add("judged answers", 1);
        }
        let (state, nodes) = (&self.observer.state, &self.observer.nodes);
        let head = state["at"].as_u64().and_then(|at| nodes.get(&at));
        assert!(head.is_none_or(|head| head["t"] == state["turn"]), "{head:?} has another side to move");
        self.observer.clone()
    }

    /// Starts to observe another session.
    fn begin_observing(&mut self) {
        self.runs += 1;
        self.observer = Shown::new(self.runs);
        self.session.handle_open(OBSERVER, self.now);
        self.observe();
    }

    /// Returns what a new window shows.
    fn new_window(&mut self) -> Shown {
        let number = self.next_window;
        self.next_window += 1;
        self.session.host().inboxes.insert(number, VecDeque::new());
        self.session.handle_open(number, self.now);
        let inbox = self.session.host().inboxes.remove(&number).expect("an inbox");
        let mut shown = Shown::new(self.runs);
        inbox.iter().for_each(|message| shown.read(message));
        shown
    }

    fn open(&mut self) {
        let window = self.next_window;
        self.next_window += 1;
        self.windows.insert(window, Shown::new(self.runs));
        self.session.host().inboxes.insert(window, VecDeque::new());
        self.session.handle_open(window, self.now);
    }

    /// Closes a window. What it has not read is lost.
    fn close(&mut self) {
        let (window, _) = self.windows.pop_first().expect("a window");
        self.session.host().inboxes.remove(&window);
        self.session.handle_close();
    }

    /// Lets a window read this number of messages.
    fn read(&mut self, window: usize, count: usize) {
        let inbox = self.session.host().inboxes.get_mut(&window).expect("an inbox");
        let messages: Vec<Value> = inbox.drain(..count.min(inbox.len())).collect();
        for message in messages {
            self.windows.get_mut(&window).expect("a window").read(&message);
        }
    }

    fn read_all(&mut self) {
        let windows: Vec<usize> = self.windows.keys().copied().collect();
        windows.into_iter().for_each(|window| self.read(window, usize::MAX));
    }

    /// Lets a window act on the state that it shows, sometimes twice.
    fn act(&mut self) {
        let windows: Vec<usize> = self.windows.keys().copied().collect();
        let window = windows[self.rng.below(windows.len() as u32) as usize];
        let shown = self.windows[&window].clone();
        // Between two messages, a window may know the nodes of another game.
        if shown.state.is_null() || !shown.nodes.contains_key(&shown.number("at")) {
            return;
        }
        if self.rng.chance(20) {
            self.load(window);
            return;
        }
        let request = self.draw_request(&shown);
        self.send(window, &request);
        if self.rng.chance(50) {
            self.send(window, &request);
        }
    }

    /// Loads a record, and compares the table with a model of it.
    fn load(&mut self, window: usize) {
        let record = DrawnRecord::draw(&mut self.rng);
        let partial = self.rng.chance(500);
        let request = json!({ "do": "load", "text": record.text, "partial": partial, "plain": true });
        let is_refused = self.send(window, &request);
        assert_eq!(is_refused, !(record.is_whole || partial), "{request}");
        if !is_refused {
            self.counts.add("loaded", 1);
            record.check(&self.observe());
        }
    }

    /// Sends a request of a window, and checks what it does. Returns whether it was refused.
    fn send(&mut self, window: usize, request: &Value) -> bool {
        let before = self.observe();
        let kept = self.session.remembered(self.now);
        let host = self.session.host();
        host.can_review = self.rng.chance(800);
        let calls = (host.refused, host.sent_to_all, host.tasks, host.task, host.requests);
        let revision = self.session.revision();
        let waiting = self.answers.len();
        let answer =
            answer_of(request).map(|after| ((window, request["key"].as_u64().expect("a key")), after));
        self.answers.extend(answer);
        self.session.handle_message(window, &request.to_string(), self.now);
        let host = self.session.host();
        let is_refused = host.refused > calls.0;
        let calls_after = (calls.0, host.sent_to_all, host.tasks, host.task, host.requests);
        let message = host.inboxes[&window].back().cloned().unwrap_or_default();
        let after = self.observe();
        if is_refused {
            self.answers.truncate(waiting);
            self.counts.add("refused", 1);
            assert_eq!(calls, calls_after, "{request} was refused");
            assert_eq!((&before, revision), (&after, self.session.revision()), "{request} was refused");
            assert_eq!(kept, self.session.remembered(self.now), "{request} was refused");
            return true;
        }
        let is_same_game = before.state["game"] == after.state["game"];
        self.check_game(&before, &after, request);
        match request["do"].as_str().unwrap_or_default() {
            "play" if !before.has_problem() => self.check_move(&before, &after, request),
            "new" => Simulated::check_settings(&after, &request["game"]),
            "remember" => {
                let game = serde_json::from_value(message["kept"].clone()).expect("a game");
                let shown = self.aside.as_ref().unwrap_or(&after);
                self.kept = Some(Kept { game, lines: shown.line_of_tree(), lasting: shown.lasting() });
            }
            "save" => {
                self.records.push((message["text"].as_str().expect("a record").to_owned(), moves(&after)))
            }
            "share" => {
                self.shared.push((message["fragment"].as_str().expect("a record").to_owned(), moves(&after)));
            }
            "problems" => self.take_position(&before, request, &message),
            "load" if !is_same_game => {
                let sent = |list: &[(String, Vec<String>)], text: &Value| {
                    list.iter().find(|it| it.0 == *text).map(|it| it.1.clone())
                };
                let text = sent(&self.records, &request["text"]);
                if let Some(expected) = text.or_else(|| sent(&self.shared, &request["shared"])) {
                    self.counts.add("loaded again", 1);
                    assert_eq!(moves(&after), expected, "{request}");
                }
            }
            "restore" if !is_same_game => {
                self.counts.add("restored by a window", 1);
                let kept = self.kept.as_ref().expect("a game");
                assert_eq!(
                    (&after.line_of_tree(), &after.lasting()),
                    (&kept.lines, &kept.lasting),
                    "{request}"
                );
            }
            _ => {}
        }
        false
    }

    /// Checks that only requests for another game replace the game, and that no node is lost otherwise.
    fn check_game(&mut self, before: &Shown, after: &Shown, request: &Value) {
        let name = request["do"].as_str().unwrap_or_default();
        if before.state["game"] != after.state["game"] {
            assert!(["new", "load", "restore", "pose-tsumego", "leave-tsumego"].contains(&name), "{request}");
            // Nobody waits any more for what the previous game asked.
            self.answers.clear();
            match name {
                "pose-tsumego" => {
                    self.counts.add("problems", 1);
                    self.aside.get_or_insert_with(|| before.clone());
                }
                "leave-tsumego" => {
                    let waiting = self.aside.take().expect("a game that waits");
                    assert_eq!(waiting.comparable(), after.comparable());
                    assert_eq!(
                        (waiting.lasting(), &waiting.state["at"]),
                        (after.lasting(), &after.state["at"])
                    );
                    assert_eq!(waiting.state["removed"], after.state["removed"]);
                }
                _ => self.aside = None,
            }
        } else if name != "remove" {
            Simulated::check_nothing_lost(before, after);
        }
        assert_eq!(self.aside.is_some(), after.has_problem());
    }

    /// Checks a move in a game or in the study mode.
    fn check_move(&mut self, before: &Shown, after: &Shown, request: &Value) {
        if after.state["result"].as_str().is_some_and(|result| result.ends_with("+T")) {
            return;
        }
        self.counts.add("moves", 1);
        let mv = parse_place(before.size(), request["place"].as_str().expect("a place"));
        let at = request["at"].as_u64().expect("a node");
        let node = &after.nodes[&after.number("at")];
        let color = node["m"].as_str().and_then(|mv| mv.get(..1)).expect("a move");
        assert_eq!(node["p"], at, "{request}: {node}");
        assert_eq!(node["m"], format!("{color}{}", place(before.size(), mv.expect("a move"))));
        assert!(before.state["study"] == true || before.number("at") == at, "{request}");
    }

    /// Checks that a new game has the settings that were asked for.
    fn check_settings(after: &Shown, wanted: &Value) {
        for name in ["columns", "rows", "handicap"] {
            assert_eq!(after.state[name], wanted[name], "{wanted}");
        }
        let rules = Rules::preset(wanted["rules"].as_str().expect("rules")).expect("known rules").rules;
        assert_eq!(after.state["rules"], rules.code_name());
        let usual = if wanted["handicap"] == 0 { f64::from(rules.usual_komi()) } else { 0.5 };
        assert_eq!(after.state["komi"].as_f64(), wanted["komi"].as_f64().or(Some(usual)), "{wanted}");
        assert_eq!((after.tree().len(), &after.state["study"]), (1, &false.into()));
        let stones = after.drawn(0).stones.len() as u64;
        assert_eq!(stones, wanted["handicap"].as_u64().expect("a number"));
    }

    /// Checks that a record for a problem has the position before the move that was named.
    fn take_position(&mut self, shown: &Shown, request: &Value, message: &Value) {
        let number = request["at"][0].as_u64().expect("a node");
        let record = &message["records"][0];
        assert_eq!(record[0], number);
        let text = record[1].as_str().expect("a record").to_owned();
        let node = &shown.nodes[&number];
        let color = node["m"].as_str().and_then(|mv| mv.chars().next()).expect("a move");
        let before = shown.drawn(node["p"].as_u64().expect("a parent")).with_turn(color);
        assert_eq!(Drawn::of(&position_of(&text)), before, "{text}");
        self.positions.push(text);
    }

    /// Checks that all nodes of the tree are still there.
    fn check_nothing_lost(before: &Shown, after: &Shown) {
        let identity = |node: &Value| (node["i"].as_u64(), node["p"].as_u64(), node["m"].to_string());
        let there: Vec<_> = after.tree().into_iter().map(identity).collect();
        for node in before.tree() {
            assert!(there.contains(&identity(node)), "{node} is lost");
        }
    }

    /// Draws the decision of an engine, which may be illegal.
    fn draw_decision(&mut self, game: &Game) -> Decision {
        let points: Vec<_> = game.size().points().map(Move::Play).collect();
        let is_legal = |mv: &Move| game.check(game.to_move(), *mv).is_ok();
        let legal: Vec<Move> = points.iter().copied().filter(is_legal).chain([Move::Pass]).collect();
        match self.rng.below(20) {
            0 => Decision::Resign,
            // This move may be illegal.
            1 => Decision::Play(points[self.rng.below(points.len() as u32) as usize]),
            _ => Decision::Play(legal[self.rng.below(legal.len() as u32) as usize]),
        }
    }

    /// Draws the result of a task, and whether it is the last one.
    fn draw_result(&mut self, game: &Game, task: &Task) -> (TaskResult, bool) {
        if self.rng.chance(30) {
            return (TaskResult::Crashed("a simulated crash".to_owned()), true);
        }
        let engine = self.runs - 1;
        let studied = |visits, is_afresh, is_last| TaskResult::Studied {
            game: Box::new(game.clone()),
            analysis: Box::new(search(game, engine, visits, is_afresh)),
            is_last,
        };
        match task {
            Task::Choose { .. } => {
                let decision = self.draw_decision(game);
                let (rate, lead) = Drawn::of(game).worth(engine | OUTLOOK);
                let (win_rate, score) = (rate as f32 / 1000.0, lead as f32 / 10.0);
                let outlook = MoveEvaluation { win_rate, score, visits: self.rng.below(300) };
                (TaskResult::Chosen(decision, Some(outlook).filter(|_| self.rng.chance(700))), true)
            }
            Task::Study { .. } => {
                let is_last = self.rng.chance(500);
                (studied(1 + self.rng.below(500), false, is_last), is_last)
            }
            Task::Judge { playouts, is_afresh } => (studied(*playouts, *is_afresh, true), true),
            Task::Settle => (TaskResult::Settled(Box::new(PointSet::EMPTY)), true),
            Task::Solve(task) => {
                let found = match task.undecided() {
                    ProblemFound::First(_, region) => {
                        let outcomes =
                            [None, Some(Outcome::Fails), Some(Outcome::Ko), Some(Outcome::Reached)];
                        ProblemFound::First(outcomes[self.rng.below(4) as usize], region)
                    }
                    ProblemFound::Answer(_) => {
                        let outcomes =
                            [None, Some(Outcome::Fails), Some(Outcome::Ko), Some(Outcome::Reached)];
                        let line = (0..self.rng.below(3)).filter_map(|_| match self.draw_decision(game) {
                            Decision::Play(mv) => Some(mv),
                            Decision::Resign => None,
                        });
                        let line = line.collect();
                        ProblemFound::Answer(JudgedAnswer {
                            outcome: outcomes[self.rng.below(4) as usize],
                            line,
                            nodes: 1,
                        })
                    }
                };
                (TaskResult::Solved(found), true)
            }
        }
    }

    /// Lets an engine answer one of the latest requests, perhaps not for the first time.
    fn answer(&mut self) {
        let asked = self.session.host().questions.len();
        if asked == 0 {
            return;
        }
        let back = if self.rng.chance(700) { 0 } else { self.rng.below(asked.min(4) as u32) as usize };
        let question = self.session.host().questions[asked - 1 - back].clone();
        self.answer_question(question);
        // A judgement needs several searches.
        for _ in 0..if self.rng.chance(300) { self.rng.below(8) } else { 0 } {
            let Some(question) = self.wanted() else { break };
            self.answer_question(question);
        }
    }

    /// Returns the task whose result the table waits for.
    fn wanted(&mut self) -> Option<Question> {
        let host = self.session.host();
        let is_wanted =
            |it: &&Question| matches!(it, Question::Task(number, ..) if host.task == Some(*number));
        host.questions.iter().rfind(is_wanted).cloned()
    }

    fn answer_question(&mut self, question: Question) {
        let before = self.observe();
        let (sent, revision) = (self.session.host().sent_to_all, self.session.revision());
        let is_awaited;
        match question {
            Question::Task(number, game, task) => {
                is_awaited = self.session.host().task == Some(number);
                let (result, is_last) = self.draw_result(&game, &task);
                if is_awaited && is_last {
                    self.session.host().task = None;
                }
                if is_awaited && matches!(result, TaskResult::Crashed(_)) {
                    self.counts.add("crashes", 1);
                    self.answers.clear();
                }
                self.session.handle_result(number, result, self.now);
            }
            Question::Engine(number, game) => {
                is_awaited = self.session.awaits_move(number);
                if is_awaited {
                    let head = before.drawn(before.number("at"));
                    assert_eq!(Drawn::of(&game), head, "a move for another position");
                }
                let fails = self.rng.chance(30);
                let decision = self.draw_decision(&game);
                let moved = if fails { Err("a simulated error".to_owned()) } else { Ok(decision) };
                self.session.handle_engine_move(number, moved, self.now);
            }
        }
        if !is_awaited {
            self.counts.add("late answers", 1);
            assert_eq!(self.session.host().sent_to_all, sent, "nobody waits for the answer");
            assert_eq!(self.session.revision(), revision);
            return;
        }
        self.counts.add("answers", 1);
        let after = self.observe();
        assert_eq!(before.state["game"], after.state["game"]);
        let moves = [&before, &after].map(|shown| shown.number("count_moves"));
        assert!(before.has_problem() || moves[1] == moves[0] || moves[1] == moves[0] + 1, "{moves:?}");
        Simulated::check_nothing_lost(&before, &after);
    }

    /// Reports the progress or the end of a review.
    fn report_review(&mut self) {
        let Some((number, record)) = self.session.host().review.clone() else { return };
        let is_current = self.session.is_reviewing(number);
        if self.rng.chance(500) {
            self.session.handle_review_progress(number, self.rng.below(3) as usize, 3);
        } else {
            let has_succeeded = self.rng.chance(700);
            // As the server does.
            if has_succeeded && self.session.is_reviewing(number) {
                self.session.host().page = Some(record.clone());
            }
            self.session.handle_review_end(number, has_succeeded);
            self.session.host().review = None;
        }
        let shown = self.observe();
        let is_done = shown.state["review"] == true;
        assert_eq!(is_done, self.session.host().page.is_some(), "the page of the review");
        if is_current && is_done {
            self.counts.add("reviews", 1);
            // Moves may have been added to the game, but it is the game that is reviewed.
            let size = Record::parse(record.as_bytes()).expect("a record").size;
            assert_eq!(shown.size(), size);
        }
    }

    /// Ends the process and starts it again. The windows open again.
    fn restart(&mut self) {
        self.counts.add("restarts", 1);
        let before = self.observe();
        let before = self.aside.take().unwrap_or(before);
        let kept = sorted(self.session.remembered(self.now));
        let text = serde_json::to_string(&kept).expect("JSON");
        let read: RestoredGame = sorted(serde_json::from_str(&text).expect("a game"));
        assert_eq!(kept, read, "{text}");
        self.now += Duration::from_secs(self.rng.below(100).into());
        let old = std::mem::replace(&mut self.session, new_session(self.runs));
        self.answers.clear();
        let is_lost = self.rng.chance(300);
        if !is_lost {
            self.session.restore(&read, false, self.now).expect("restored");
            assert_eq!(sorted(self.session.remembered(self.now)), read, "the game that was restored");
        }
        self.begin_observing();
        if !is_lost {
            let after = self.observer.clone();
            assert_eq!(before.line_of_tree(), after.line_of_tree(), "{text}");
            assert_eq!(before.lasting(), after.lasting(), "{text}");
            if !before.has_problem() {
                self.compare_ends_of_study(old, &read);
            }
        }
        let windows = self.windows.len();
        self.windows.clear();
        (0..windows).for_each(|_| self.open());
    }

    /// Checks that a restored game returns from the study mode to the same position as the one that was remembered.
    fn compare_ends_of_study(&mut self, mut old: TableSession<SimulatedHost>, kept: &RestoredGame) {
        let mut restored = new_session(self.runs);
        restored.restore(kept, false, self.now).expect("restored");
        let ends = [&mut old, &mut restored].map(|session| {
            session.host().observed.clear();
            session.handle_message(OBSERVER, r#"{"do":"leave-tsumego"}"#, self.now);
            session.handle_message(OBSERVER, r#"{"do":"study","on":false}"#, self.now);
            let kept = session.remembered(self.now);
            (kept.line, kept.result)
        });
        assert_eq!(ends[0], ends[1], "the end of the study mode");
    }

    /// Ends all searches that the table waits for.
    fn calm_down(&mut self) {
        let window = *self.windows.keys().next().expect("a window");
        for request in [r#"{"do":"pause","on":true}"#, r#"{"do":"analyse","on":false}"#] {
            self.session.handle_message(window, request, self.now);
        }
        for _ in 0..1000 {
            let Some(question) = self.wanted() else { return };
            self.answer_question(question);
        }
        panic!("the searches do not end");
    }

    fn run(&mut self) {
        self.session.begin(self.now);
        self.begin_observing();
        self.open();
        for _ in 0..EVENTS {
            self.now += Duration::from_millis(self.rng.below(1500).into());
            if self.session.wake_time().is_some_and(|time| time <= self.now) {
                self.session.check_time(self.now);
            }
            match self.rng.below(100) {
                0 if self.windows.len() < 4 => self.open(),
                1 if self.windows.len() > 1 || self.rng.chance(300) => {
                    self.close();
                    if self.windows.is_empty() {
                        self.answer();
                        self.open();
                    }
                }
                2 if self.rng.chance(700) => self.restart(),
                3..6 => self.report_review(),
                6..36 => self.answer(),
                36..64 => self.act(),
                _ => {
                    let index = self.rng.below(self.windows.len() as u32) as usize;
                    let window = *self.windows.keys().nth(index).expect("a window");
                    let waiting = self.session.host().inboxes[&window].len() as u32;
                    let count = self.rng.below(waiting + 1) as usize;
                    self.read(window, count);
                }
            }
        }
        // All windows show the state of the same moment.
        self.calm_down();
        let window = *self.windows.keys().next().expect("a window");
        self.session.handle_message(window, r#"{"do":"pause","on":true}"#, self.now);
        self.read_all();
        let observed = self.observe();
        let fresh = self.new_window();
        for shown in self.windows.values().chain([&observed]) {
            assert_eq!(shown.state, fresh.state);
            assert_eq!(shown.comparable(), fresh.comparable());
            assert_eq!(shown.nodes.len(), fresh.nodes.len(), "nodes that are in no tree");
        }
        assert_eq!(fresh.state["judging"], Value::Null, "moves without a judgement");
        assert!(self.answers.is_empty(), "answers without a judgement: {:?}", self.answers);
        let count = |name: &str| fresh.tree().iter().filter(|node| !node[name].is_null()).count() as u64;
        self.counts.add("nodes", fresh.tree().len() as u64);
        self.counts.add("analysed", count("e"));
        self.counts.add("judged", count("j"));
    }
}

/// Returns a game with its details in the order of the nodes.
fn sorted(mut game: RestoredGame) -> RestoredGame {
    if let Some(details) = &mut game.details {
        details.known.sort_by_key(|it| it.node);
        details.endings.sort();
        // Reading a number may change its last digit.
        details.left.iter_mut().for_each(|left| left.0 = (left.0 * 1e6).round() / 1e6);
    }
    game
}

/// Returns the moves of the tree that a window shows, each with its depth.
fn moves(shown: &Shown) -> Vec<String> {
    shown.tree().into_iter().map(|node| format!("{} {} {}", node["n"], node["m"], node["s"])).collect()
}

/// Returns the position after an answer to a problem, if the request has a legal one.
fn answer_of(request: &Value) -> Option<Drawn> {
    let game = position_of(request["text"].as_str().filter(|_| request["do"] == "solve")?);
    let mv = parse_place(game.size(), request["place"].as_str()?)?;
    let mut after = game.clone();
    after.play(game.to_move(), mv).ok()?;
    Some(Drawn::of(&after))
}

/// Returns the position at the end of a record without variations.
fn position_of(text: &str) -> Game {
    let record = Record::parse(text.as_bytes()).expect("a record");
    let rules = record.rules().expect("rules");
    record.replay(rules, 0.0, None, Strictness::Tolerant).expect("a position").game
}

#[test]
fn windows_show_the_same_and_no_move_is_lost() {
    let simulate = |seed, counts: &mut Counts| {
        Simulated {
            session: new_session(0),
            observer: Shown::default(),
            windows: BTreeMap::new(),
            next_window: 0,
            runs: 0,
            aside: None,
            kept: None,
            records: Vec::new(),
            shared: Vec::new(),
            positions: Vec::new(),
            answers: Vec::new(),
            next_key: 0,
            now: Duration::ZERO,
            rng: Rng::new(seed),
            counts,
        }
        .run();
    };
    let Some(counts) = run_seeds("browser::simulation", 60, simulate) else { return };
    for what in [
        "moves",
        "refused",
        "answers",
        "late answers",
        "crashes",
        "restarts",
        "analysed",
        "judged",
        "judged answers",
        "problems",
        "reviews",
        "loaded",
        "loaded again",
        "restored by a window",
    ] {
        assert!(counts.of(what) > 0, "{what}: {counts:?}");
    }
}
