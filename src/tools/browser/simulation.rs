//! Simulation of the table in the browser, with windows, engines and restarts that follow from a seed.
//!
//! The table and its session are the real ones, which have no threads, clocks and files. Their surroundings are
//! simulated: windows that read their messages late and act on what they have read, and engines that answer late,
//! twice, in another order, wrongly, or when no answer is wanted any more. The process ends and starts again with the
//! game that it stored. The simulation checks that
//!
//! a move that was accepted occurs once and follows the move before it; a refused move changes nothing;
//! an answer counts once, and an answer to an earlier request changes nothing;
//! * nodes leave the tree only when a window removes them or starts another game;
//! * the restored game is the one that was stored;
//! * windows that have read all their messages show what a new window shows.

use crate::simulation::{Counts, run_seeds};
use kosumi_board::play::{Host, TableSession, Task, TaskResult, parse_place};
use kosumi_board::review::place;
use kosumi_engine::Decision;
use kosumi_go::board::{BoardSize, Move, PointSet};
use kosumi_go::game::Game;
use kosumi_go::rng::Rng;
use kosumi_go::rules::Rules;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Number of events of a session.
const EVENTS: u32 = 120;

/// Surroundings of the table.
#[derive(Default)]
struct Surroundings {
    /// Messages that each open window has not read.
    inboxes: BTreeMap<usize, VecDeque<Value>>,
    /// Number of messages to any window.
    told: u64,
    /// Number of messages about a refusal.
    refused: u64,
    tasks: u64,
    /// Number of the task in progress, if there is one.
    task: Option<u64>,
    request: Option<u64>,
    /// Requests to engines, in their order. Some are answered when no answer is wanted any more.
    questions: Vec<Question>,
}

#[derive(Clone)]
enum Question {
    Task(u64, Box<Game>, Box<Task>),
    Engine(u64, Box<Game>),
}

impl Host for Surroundings {
    fn send(&mut self, window: usize, message: &Value) {
        self.told += 1;
        self.refused += u64::from(message["is"] == "refused");
        if let Some(inbox) = self.inboxes.get_mut(&window) {
            inbox.push_back(message.clone());
        }
    }

    fn send_to_all(&mut self, message: &Value) {
        self.told += 1;
        self.inboxes.values_mut().for_each(|inbox| inbox.push_back(message.clone()));
    }

    fn has_windows(&self) -> bool {
        !self.inboxes.is_empty()
    }

    fn start_task(&mut self, game: &Game, task: Task) -> u64 {
        self.tasks += 1;
        self.task = Some(self.tasks);
        self.questions.push(Question::Task(self.tasks, Box::new(game.clone()), Box::new(task)));
        self.tasks
    }

    fn stop_task(&mut self) {
        (self.task, self.request) = (None, None);
    }

    fn ask_engine(&mut self, _: usize, number: u64, game: &Game) {
        self.request = Some(number);
        self.questions.push(Question::Engine(number, Box::new(game.clone())));
    }

    fn start_review(&mut self, _: u64, _: String) -> bool {
        false
    }

    fn end_review(&mut self) {}

    fn today(&self) -> Option<String> {
        None
    }
}

/// State that a window shows.
#[derive(Clone, Default, PartialEq, Debug)]
struct Shown {
    nodes: BTreeMap<u64, Value>,
    children: BTreeMap<u64, Vec<u64>>,
    state: Value,
}

impl Shown {
    fn read(&mut self, message: &Value) {
        match message["is"].as_str() {
            Some("state") => self.state = message.clone(),
            Some("tree") => {
                if message["whole"] == true {
                    (self.nodes, self.children) = Default::default();
                }
                for node in message["nodes"].as_array().into_iter().flatten() {
                    let number = node["i"].as_u64().expect("a number");
                    if let Some(parent) = node["p"].as_u64() {
                        let children = self.children.entry(parent).or_default();
                        if !children.contains(&number) {
                            children.push(number);
                        }
                    }
                    self.nodes.insert(number, node.clone());
                }
                for order in message["order"].as_array().into_iter().flatten() {
                    let children = serde_json::from_value(order[1].clone()).expect("numbers");
                    self.children.insert(order[0].as_u64().expect("a number"), children);
                }
            }
            _ => {}
        }
    }

    /// Returns the nodes of the tree with their numbers, each node before its children.
    fn tree(&self) -> Vec<&Value> {
        let (mut tree, mut waiting) = (Vec::new(), vec![0]);
        while let Some(number) = waiting.pop() {
            let node = self.nodes.get(&number).unwrap_or_else(|| panic!("node {number} was not sent"));
            tree.push(node);
            waiting.extend(self.children.get(&number).into_iter().flatten().rev());
        }
        tree
    }

    /// Returns the tree without the numbers that have a meaning only within one session.
    fn line_of_tree(&self) -> Vec<String> {
        let text = |node: &Value| format!("{} {} {}", node["n"], node["m"], node["c"]);
        self.tree().into_iter().map(text).collect()
    }

    fn number(&self, name: &str) -> u64 {
        self.state[name].as_u64().expect("a number")
    }

    fn size(&self) -> BoardSize {
        BoardSize::new(self.number("columns") as usize, self.number("rows") as usize).expect("a size")
    }

    /// Returns the part of the state that is the same after a restart.
    fn lasting(&self) -> Value {
        let names = [
            "columns",
            "rows",
            "rules",
            "komi",
            "handicap",
            "count_moves",
            "study",
            "turn",
            "seats",
            "phase",
        ];
        names.into_iter().chain(["result", "paused"]).map(|name| (name, self.state[name].clone())).collect()
    }
}

struct Simulated<'c> {
    session: TableSession<Surroundings>,
    windows: BTreeMap<usize, Shown>,
    next_window: usize,
    now: Duration,
    rng: Rng,
    counts: &'c mut Counts,
}

fn new_session(run: u32) -> TableSession<Surroundings> {
    let rules = Rules::preset("chinese").expect("rules").rules;
    let (size, engines) = (BoardSize::square(3).expect("a size"), vec!["other".to_owned()]);
    TableSession::new(Surroundings::default(), size, rules, 0.5, engines, run.to_string())
}

impl Simulated<'_> {
    /// Returns the state that a new window shows.
    fn shown(&mut self) -> Shown {
        self.session.host().inboxes.insert(usize::MAX, VecDeque::new());
        self.session.handle_open(usize::MAX, self.now);
        let inbox = self.session.host().inboxes.remove(&usize::MAX).expect("an inbox");
        let mut shown = Shown::default();
        inbox.iter().for_each(|message| shown.read(message));
        shown
    }

    fn open(&mut self) {
        let window = self.next_window;
        self.next_window += 1;
        self.windows.insert(window, Shown::default());
        self.session.host().inboxes.insert(window, VecDeque::new());
        self.session.handle_open(window, self.now);
    }

    fn read_all(&mut self) {
        for (window, shown) in &mut self.windows {
            let inbox = self.session.host().inboxes.get_mut(window).expect("an inbox");
            inbox.drain(..).for_each(|message| shown.read(&message));
        }
    }

    /// Draws a request of a window that shows this state.
    fn draw_request(&mut self, shown: &Shown) -> Value {
        let rng = &mut self.rng;
        let size = shown.size();
        let tree: Vec<u64> = shown.tree().iter().filter_map(|node| node["i"].as_u64()).collect();
        let head = shown.number("at");
        let at = if rng.chance(800) { head } else { tree[rng.below(tree.len() as u32) as usize] };
        let point = size.points().nth(rng.below(size.area() as u32) as usize).expect("a point");
        let place = place(size, if rng.chance(850) { Move::Play(point) } else { Move::Pass });
        let player = |rng: &mut Rng| match rng.below(4) {
            0 => json!({ "kind": "kosumi", "level": "seconds-1" }),
            1 => json!({ "kind": "engine", "number": 0 }),
            _ => json!({ "kind": "person" }),
        };
        let on = rng.chance(500);
        match rng.below(40) {
            0 => {
                let clock = match rng.below(3) {
                    0 => json!({ "kind": "absolute", "main": 20.0 }),
                    1 => json!({ "kind": "byo-yomi", "main": 5.0, "period": 3.0, "periods": 2 }),
                    _ => json!({ "kind": "none" }),
                };
                json!({ "do": "new", "game": {
                    "columns": 2 + rng.below(3), "rows": 3, "handicap": 0, "komi": 0.5, "clock": clock,
                    "rules": if rng.chance(500) { "chinese" } else { "tromp-taylor" },
                    "black": player(rng), "white": player(rng),
                }})
            }
            1 => json!({ "do": "undo", "at": at }),
            2 => json!({ "do": "from", "at": at }),
            3 => json!({ "do": "study", "on": on }),
            4 => json!({ "do": "comment", "at": at, "text": format!("comment {}", rng.below(100)) }),
            5 => json!({ "do": "remove", "at": at }),
            6 => json!({ "do": "put-back" }),
            7 => json!({ "do": "promote", "at": at }),
            8 => json!({ "do": "resign", "at": at }),
            9 => json!({ "do": "mark", "place": place }),
            10 => json!({ "do": "settle" }),
            11 => json!({ "do": "resume" }),
            12 => json!({ "do": "pause", "on": rng.chance(300) }),
            13 => json!({ "do": "seats", "black": player(rng), "white": player(rng) }),
            14 => json!({ "do": "answer", "at": at }),
            15 => json!({ "do": "answers", "on": on }),
            16 => json!({ "do": "analyse", "on": rng.chance(200) }),
            17 => json!({ "do": "view", "at": at }),
            18 => json!("nonsense"),
            _ => json!({ "do": "play", "at": at, "place": place }),
        }
    }

    /// Lets a window act on the state that it shows.
    fn act(&mut self) {
        let windows: Vec<usize> = self.windows.keys().copied().collect();
        let window = windows[self.rng.below(windows.len() as u32) as usize];
        let shown = self.windows[&window].clone();
        if shown.state.is_null() {
            return;
        }
        let request = self.draw_request(&shown);
        let before = self.shown();
        let refused = self.session.host().refused;
        self.session.handle_message(window, &request.to_string(), self.now);
        let is_refused = self.session.host().refused > refused;
        let after = self.shown();
        if is_refused {
            self.counts.add("refused", 1);
            assert_eq!((before.tree(), before.lasting()), (after.tree(), after.lasting()), "{request}");
            return;
        }
        let is_flagged = after.state["result"].as_str().is_some_and(|result| result.ends_with("+T"));
        if request["do"] == "play" && !is_flagged {
            self.counts.add("moves", 1);
            let mv = parse_place(before.size(), request["place"].as_str().expect("a place"));
            let at = request["at"].as_u64().expect("a node");
            let node = &after.nodes[&after.number("at")];
            let color = node["m"].as_str().and_then(|mv| mv.get(..1)).expect("a move");
            assert_eq!(node["p"], at, "{request}: {node}");
            assert_eq!(node["m"], format!("{color}{}", place(before.size(), mv.expect("a move"))));
            assert!(before.state["study"] == true || before.number("at") == at, "{request}");
        }
        if !["new", "remove"].contains(&request["do"].as_str().unwrap_or_default()) {
            Simulated::check_nothing_lost(&before, &after);
        }
    }

    /// Checks that all nodes of the tree are still there.
    fn check_nothing_lost(before: &Shown, after: &Shown) {
        let identity = |node: &Value| (node["i"].as_u64(), node["p"].as_u64(), node["m"].to_string());
        let there: Vec<_> = after.tree().into_iter().map(identity).collect();
        for node in before.tree() {
            assert!(there.contains(&identity(node)), "{node} is lost");
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
        let (Question::Task(_, game, _) | Question::Engine(_, game)) = &question;
        let points: Vec<_> = game.size().points().map(Move::Play).collect();
        let is_legal = |mv: &Move| game.check(game.to_move(), *mv).is_ok();
        let legal: Vec<Move> = points.iter().copied().filter(is_legal).chain([Move::Pass]).collect();
        let decision = match self.rng.below(20) {
            0 => Decision::Resign,
            // This move may be illegal.
            1 => Decision::Play(points[self.rng.below(points.len() as u32) as usize]),
            _ => Decision::Play(legal[self.rng.below(legal.len() as u32) as usize]),
        };
        let fails = self.rng.chance(30);
        let before = self.shown();
        let (told, revision) = (self.session.host().told, self.session.revision());
        let is_awaited;
        match question {
            Question::Task(number, _, task) => {
                is_awaited = self.session.host().task == Some(number);
                let result = match *task {
                    _ if fails => TaskResult::Crashed("a simulated crash".to_owned()),
                    Task::Choose { .. } => TaskResult::Chosen(decision, None),
                    Task::Settle => TaskResult::Settled(Box::new(PointSet::EMPTY)),
                    _ => return,
                };
                if is_awaited {
                    self.session.host().task = None;
                }
                self.session.handle_result(number, result, self.now);
            }
            Question::Engine(number, _) => {
                is_awaited = self.session.host().request == Some(number);
                if is_awaited {
                    self.session.host().request = None;
                }
                let moved = if fails { Err("a simulated error".to_owned()) } else { Ok(decision) };
                self.session.handle_engine_move(number, moved, self.now);
            }
        }
        if !is_awaited {
            self.counts.add("late answers", 1);
            assert_eq!(self.session.host().told, told, "nobody waits for the answer");
            assert_eq!(self.session.revision(), revision);
            return;
        }
        self.counts.add("answers", 1);
        let after = self.shown();
        let moves = [&before, &after].map(|shown| shown.number("count_moves"));
        assert!(moves[1] == moves[0] || moves[1] == moves[0] + 1, "{moves:?}");
        Simulated::check_nothing_lost(&before, &after);
    }

    /// Ends the process and starts it again. The windows open again.
    fn restart(&mut self, run: u32) {
        self.counts.add("restarts", 1);
        let before = self.shown();
        let kept = serde_json::to_string(&self.session.remembered(self.now)).expect("JSON");
        self.session = new_session(run);
        self.now += Duration::from_secs(self.rng.below(100).into());
        self.session
            .restore(&serde_json::from_str(&kept).expect("a game"), false, self.now)
            .expect("restored");
        let after = self.shown();
        assert_eq!(before.line_of_tree(), after.line_of_tree(), "{kept}");
        assert_eq!(before.lasting(), after.lasting(), "{kept}");
        let windows = self.windows.len();
        self.windows.clear();
        (0..windows).for_each(|_| self.open());
    }

    fn run(&mut self) {
        self.session.begin(self.now);
        self.open();
        for event in 0..EVENTS {
            self.now += Duration::from_millis(self.rng.below(1500).into());
            if self.session.wake_time().is_some_and(|time| time <= self.now) {
                self.session.check_time(self.now);
            }
            match self.rng.below(100) {
                0 if self.windows.len() < 4 => self.open(),
                1 if self.windows.len() > 1 => {
                    let (window, _) = self.windows.pop_first().expect("a window");
                    self.session.host().inboxes.remove(&window);
                    self.session.handle_close();
                }
                2 => self.restart(event),
                3..30 => self.answer(),
                30..60 => self.act(),
                _ => {
                    let window = self.rng.below(self.windows.len() as u32) as usize;
                    let (window, shown) = self.windows.iter_mut().nth(window).expect("a window");
                    let inbox = self.session.host().inboxes.get_mut(window).expect("an inbox");
                    let count = self.rng.below(inbox.len() as u32 + 1) as usize;
                    inbox.drain(..count).for_each(|message| shown.read(&message));
                }
            }
        }
        // All windows show the state of the same moment.
        let window = *self.windows.keys().next().expect("a window");
        self.session.handle_message(window, r#"{"do":"pause","on":true}"#, self.now);
        self.read_all();
        let fresh = self.shown();
        for shown in self.windows.values() {
            assert_eq!(shown.state, fresh.state);
            assert_eq!(shown.tree(), fresh.tree());
        }
        self.counts.add("nodes", fresh.tree().len() as u64);
    }
}

#[test]
fn windows_show_the_same_and_no_move_is_lost() {
    let simulate = |seed, counts: &mut Counts| {
        let (session, windows) = (new_session(0), BTreeMap::new());
        let (now, rng) = (Duration::ZERO, Rng::new(seed));
        Simulated { session, windows, next_window: 0, now, rng, counts }.run();
    };
    let Some(counts) = run_seeds("browser::simulation", 60, simulate) else { return };
    for what in ["moves", "refused", "answers", "late answers", "restarts"] {
        assert!(counts.of(what) > 0, "{what}: {counts:?}");
    }
}
