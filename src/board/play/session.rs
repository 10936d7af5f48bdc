//! A table: the game, its windows, and what the engines are asked for. All rules of the table are here. What surrounds
//! the table (windows, engines, reviews in the background, and the time) is a [`Host`].

use super::judging::{JUDGE_PLAYOUTS, Judging, Step};
use super::message::{PageRequest, PlayerKind, RestoredGame, file_bytes, parse_place};
use super::share;
use super::strength::Level;
use super::table::{BadRecord, GameTable, Phase, Refusal, choices};
use super::task::{MoveEvaluation, Task, TaskResult};
use super::tree::GameTree;
use super::tsumego::{self, Continuation, PosedProblem, ProblemFound};
use crate::review::{self, EngineAnalyst, Facts, Given, MainLine, Numbers, Reviewed, Scope};
use kosumi_engine::{Decision, Engine};
use kosumi_go::board::{BoardSize, Move};
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::{Meta, NodeId, Record, Tree, write};
use kosumi_search::Limits;
use serde_json::{Value, json};
use std::time::Duration;

/// Time of the search for a hint.
const HINT_TIME: Duration = Duration::from_millis(1500);
/// Maximum visits of the search for an estimate. Its time is limited to twice that of a hint.
const ESTIMATE_VISITS: u32 = 120;
/// Maximum visits of a continuous analysis.
const ANALYSIS_VISITS: u32 = 50_000;
/// Maximum time of a continuous analysis.
const ANALYSIS_TIME: Duration = Duration::from_secs(600);

/// Level at which Kosumi answers in the study mode.
const ANSWER_LEVEL: &str = "seconds-1";
/// Number of judgements that count as one change of the table.
const JUDGEMENTS_UNKEPT: usize = 16;
/// Maximum number of problems of one request.
const PROBLEMS_MOST: usize = 20;

/// Simulations for each position of a review, by the engine of the levels.
const REVIEW_PLAYOUTS: u32 = 40;
/// Number of candidates of each position of a review.
const REVIEW_CANDIDATES: usize = 6;

/// What surrounds a table: windows, engines, and reviews in the background.
pub trait Host {
    /// Sends a message to a window.
    fn tell(&mut self, window: usize, message: &Value);

    /// Sends a message to all windows.
    fn tell_all(&mut self, message: &Value);

    /// Whether a window is open.
    fn has_windows(&self) -> bool;

    /// Starts a task of the engine in place of the previous one, and returns its number. The results go to
    /// [`TableSession::handle_result`].
    fn start_task(&mut self, game: &Game, task: Task) -> u64;

    /// Ends the engine's task.
    fn stop_task(&mut self);

    /// Asks another engine for a move. The response goes to [`TableSession::handle_engine_move`] with `number`.
    fn ask_engine(&mut self, engine: usize, number: u64, game: &Game);

    /// Starts [`review_record`] in the background, and returns whether that is possible. Its progress and its end go to
    /// [`TableSession::handle_review_progress`] and [`TableSession::handle_review_end`] with `number`.
    fn start_review(&mut self, number: u64, record: String) -> bool;

    /// Ends the review in the background if there is one, and forgets its page.
    fn end_review(&mut self);

    /// Returns the date for records, if it is known.
    fn today(&self) -> Option<String>;
}

/// Purpose of the engine's current task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TaskPurpose {
    /// Choosing a move.
    Move,
    /// Continuous analysis while a window is open.
    Analysis,
    Hint,
    Estimate,
    /// Searching a position for a judgement.
    Judge,
    /// Finding the dead stones.
    Dead,
    /// Reading a problem of life and death.
    Solve,
}

/// Game that waits while problems are on the table.
#[derive(Debug)]
struct GameAside {
    table: GameTable,
    game: u64,
    revision: u64,
    notes: Vec<String>,
    was_paused: bool,
}

/// State of the review of the game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReviewState {
    None,
    /// Positions done and total.
    Running(usize, usize),
    Done,
}

/// Table with its windows and engines. Each function that handles an event gets the time since any fixed moment, which
/// must not decrease.
#[derive(Debug)]
pub struct TableSession<H> {
    host: H,
    table: GameTable,
    /// Names of the other engines.
    engines: Vec<String>,
    /// Number and purpose of the engine's current task, and the node that it is about.
    question: Option<(u64, TaskPurpose, NodeId)>,
    /// Number of the latest request to another engine. Responses to older requests are ignored.
    opponent_number: u64,
    is_analysed: bool,
    /// Node that is analysed; `None` for the one at which play continues.
    viewed: Option<NodeId>,
    judging: Judging,
    /// Whether each move of a person is judged.
    teaches: bool,
    /// Whether Kosumi answers every move in the study mode, and whether it is about to move.
    answers: bool,
    is_answering: bool,
    /// Whether Kosumi moves after the judgement in progress.
    waits_for_judgement: bool,
    /// Number of judgements since the last change of the revision.
    judgements: usize,
    /// Number of nodes that the windows know; `None` if they know another tree.
    known_nodes: Option<usize>,
    review: ReviewState,
    /// Number of the current review. Results of other reviews are ignored.
    review_number: u64,
    /// Messages about the record that the game comes from.
    notes: Vec<String>,
    /// Problem of life and death on the table, and the game that it has replaced.
    posed: Option<Box<PosedProblem>>,
    aside: Option<Box<GameAside>>,
    /// Number of the game, by which pages know when to request its record.
    game: u64,
    /// Largest number of a game so far.
    last_game: u64,
    /// Number of changes of the table.
    revision: u64,
    /// Text that identifies this run.
    session: String,
    now: Duration,
}

impl<H: Host> TableSession<H> {
    /// Creates a table with an empty board, a person as Black and Kosumi as White. `engines` are the names of the other
    /// engines, and `session` identifies this run among all.
    pub fn new(
        host: H,
        size: BoardSize,
        rules: Rules,
        komi: f32,
        engines: Vec<String>,
        session: String,
    ) -> TableSession<H> {
        TableSession {
            host,
            table: GameTable::new(size, rules, komi, engines.len()),
            engines,
            question: None,
            opponent_number: 0,
            is_analysed: false,
            viewed: None,
            judging: Judging::default(),
            teaches: false,
            answers: false,
            is_answering: false,
            waits_for_judgement: false,
            judgements: 0,
            known_nodes: None,
            review: ReviewState::None,
            review_number: 0,
            notes: Vec::new(),
            posed: None,
            aside: None,
            game: 0,
            last_game: 0,
            revision: 0,
            session,
            now: Duration::ZERO,
        }
    }

    /// Loads a record before any window is open.
    ///
    /// # Errors
    ///
    /// Returns an error if the record cannot be followed to its end, or not at all if `is_partial` is set.
    pub fn load(&mut self, record: &[u8], is_partial: bool) -> Result<(), BadRecord> {
        self.notes = self.table.load(record, is_partial)?;
        Ok(())
    }

    /// What surrounds the table.
    pub fn host(&mut self) -> &mut H {
        &mut self.host
    }

    /// Starts what the position requires, before any event.
    pub fn begin(&mut self, now: Duration) {
        self.now = now;
        self.start_task();
    }

    /// Returns the number of changes of the game so far. What is tried at a problem does not count.
    pub fn revision(&self) -> u64 {
        self.aside.as_ref().map_or(self.revision, |aside| aside.revision)
    }

    /// Number of the game. Another game on the table has another number. Problems are no games.
    pub fn game_number(&self) -> u64 {
        self.aside.as_ref().map_or(self.game, |aside| aside.game)
    }

    /// The game on the table, or the one that waits for the end of the problems.
    fn game_table(&self) -> &GameTable {
        self.aside.as_ref().map_or(&self.table, |aside| &aside.table)
    }

    /// Returns all that is needed to restore the game later.
    pub fn remembered(&self, now: Duration) -> RestoredGame {
        self.game_table().remembered(self.host.today(), now)
    }

    /// Returns what a list of games shows of this one.
    pub fn summary(&self) -> Value {
        let table = self.game_table();
        let state = table.state(self.now);
        let names = ["columns", "rows", "seats", "names", "result"];
        let mut summary: Value = names.iter().map(|&name| (name, state[name].clone())).collect();
        let tree = table.tree();
        summary["moves"] = tree.moves(tree.end_of(tree.root())).into();
        summary
    }

    /// Puts a remembered game on the table in place of the present one. If `is_paused` is set, engines and clocks wait then.
    ///
    /// # Errors
    ///
    /// Returns an error if the game is invalid. Nothing changes then.
    pub fn restore(&mut self, game: &RestoredGame, is_paused: bool, now: Duration) -> Result<(), Refusal> {
        self.now = now;
        self.table.restore(game, now)?;
        if is_paused {
            self.table.pause(true, now);
        }
        self.is_analysed = false;
        self.notes.clear();
        self.replace_game();
        self.changed();
        Ok(())
    }

    /// Time at which [`check_time`](TableSession::check_time) must be called at the latest; `None` if no clock runs.
    pub fn wake_time(&self) -> Option<Duration> {
        self.table.flag_time()
    }

    /// Ends the game if the side to move has run out of time.
    pub fn check_time(&mut self, now: Duration) {
        self.now = now;
        if self.table.check_flag(now) {
            self.changed();
        }
    }

    /// Handles the opening of a window, to which the host can send messages now.
    pub fn handle_open(&mut self, window: usize, now: Duration) {
        self.now = now;
        let choices = choices(&self.engines);
        self.host.tell(window, &choices);
        if self.question.is_none() && !self.engine_on_turn() {
            self.start_background();
        }
        let tree = self.whole_tree();
        self.host.tell(window, &tree);
        let state = self.state();
        self.host.tell(window, &state);
    }

    /// Handles the end of a window, to which the host sends no more messages.
    pub fn handle_close(&mut self) {
        // Analysis and hints are useless without a window.
        self.viewed = self.viewed.filter(|_| self.host.has_windows());
        let is_for_looks = |(_, question, _)| matches!(question, TaskPurpose::Analysis | TaskPurpose::Hint);
        if !self.host.has_windows() && self.question.is_some_and(is_for_looks) {
            self.question = None;
            self.host.stop_task();
        }
    }

    /// Handles a message of a window.
    pub fn handle_message(&mut self, window: usize, text: &str, now: Duration) {
        self.now = now;
        let answered = match serde_json::from_str::<PageRequest>(text) {
            Ok(request) => self.answer(window, request),
            Err(_) => Err(Refusal::BadMessage),
        };
        if let Err(refusal) = answered {
            self.refuse(window, refusal);
        }
    }

    /// Handles the progress of the review with this number: positions done and total.
    pub fn handle_review_progress(&mut self, number: u64, done: usize, total: usize) {
        if self.is_reviewing(number) {
            self.set_review(ReviewState::Running(done, total));
        }
    }

    /// Whether the review with this number is that of the game on the table.
    pub fn is_reviewing(&self, number: u64) -> bool {
        number == self.review_number
    }

    /// Handles the end of the review with this number. The host has its page if it `has_succeeded`.
    pub fn handle_review_end(&mut self, number: u64, has_succeeded: bool) {
        if !self.is_reviewing(number) {
            return;
        }
        if has_succeeded {
            self.set_review(ReviewState::Done);
            return;
        }
        self.end_review();
        let text = "the review has failed";
        self.host.tell_all(&json!({ "is": "trouble", "engine": "Kosumi", "text": text }));
    }

    fn set_review(&mut self, review: ReviewState) {
        self.review = review;
        self.host.tell_all(&json!({ "is": "review", "review": self.review_value() }));
    }

    /// Returns the state of the review for pages: null, a list of positions done and total, or true.
    fn review_value(&self) -> Value {
        match self.review {
            ReviewState::None => Value::Null,
            ReviewState::Running(done, total) => json!([done, total]),
            ReviewState::Done => true.into(),
        }
    }

    /// Forgets the review when the game has changed, and ends a running one.
    fn end_review(&mut self) {
        self.review_number += 1;
        self.host.end_review();
        if self.review != ReviewState::None {
            self.set_review(ReviewState::None);
        }
    }

    /// Forgets what belonged to the previous game after another one was put on the table.
    fn replace_game(&mut self) {
        self.posed = None;
        self.aside = None;
        self.last_game += 1;
        self.game = self.last_game;
        self.forget_game();
    }

    /// Forgets what belonged to the game that was on the table.
    fn forget_game(&mut self) {
        self.viewed = None;
        self.judging = Judging::default();
        self.is_answering = false;
        self.known_nodes = None;
        self.end_review();
    }

    /// Starts a review of the game.
    fn start_review(&mut self) -> Result<(), Refusal> {
        let tree = self.table.tree();
        if self.review != ReviewState::None || tree.children(tree.root()).is_empty() {
            return Err(Refusal::NotNow);
        }
        let record = self.record();
        if !self.host.start_review(self.review_number, record) {
            return Err(Refusal::NotNow);
        }
        self.set_review(ReviewState::Running(0, 1));
        Ok(())
    }

    /// Returns the record of the game.
    fn record(&self) -> String {
        self.table.record(&self.engines, self.host.today()).to_string()
    }

    fn refuse(&mut self, window: usize, refusal: Refusal) {
        self.host.tell(window, &json!({ "is": "refused", "why": refusal }));
        // The state corrects what the page has drawn in advance.
        let state = self.state();
        self.host.tell(window, &state);
    }

    fn state(&self) -> Value {
        let mut state = self.table.state(self.now);
        if let Value::Object(state) = &mut state {
            let is_thinking = (self.engine_on_turn() && !self.table.is_paused()) || self.is_answering;
            state.insert("thinking".to_owned(), is_thinking.into());
            state.insert("analysed".to_owned(), self.is_analysed.into());
            state.insert("notes".to_owned(), self.notes.clone().into());
            state.insert("session".to_owned(), self.session.clone().into());
            state.insert("game".to_owned(), self.game.into());
            state.insert("review".to_owned(), self.review_value());
            state.insert("judging".to_owned(), json!(self.judging.progress()));
            state.insert("teaches".to_owned(), self.teaches.into());
            state.insert("answers".to_owned(), self.answers.into());
            state.insert("tsumego".to_owned(), json!(self.posed.as_ref().map(|posed| posed.state())));
        }
        state
    }

    /// Called after every change: starts the engine's next task, and sends the state to all windows.
    fn changed(&mut self) {
        self.revision += 1;
        let is_gone = |id: &NodeId| self.table.tree().path(*id).is_none();
        if self.viewed.as_ref().is_some_and(is_gone) {
            self.viewed = None;
        }
        self.start_task();
        self.tell_state();
    }

    /// Sends the changes of the tree and the state to all windows.
    fn tell_state(&mut self) {
        let changed = self.table.take_changed();
        let count = self.table.tree().node_count();
        match self.known_nodes.replace(count) {
            None => {
                let tree = self.whole_tree();
                self.host.tell_all(&tree);
            }
            Some(_) if changed.is_empty() => {}
            Some(known) => {
                let tree = self.table.tree();
                let new = (known..count).filter_map(|number| tree.node(number));
                let nodes: Vec<Value> = new.map(|id| self.table.node_data(id)).collect();
                self.tell_tree(&nodes, changed);
            }
        }
        let state = self.state();
        self.host.tell_all(&state);
    }

    /// Returns the whole tree as a message.
    fn whole_tree(&self) -> Value {
        let nodes = self.table.tree_data(self.table.tree().root());
        json!({ "is": "tree", "game": self.game, "whole": true, "nodes": nodes })
    }

    /// Sends nodes of the tree to all windows, and the order of the children of others.
    fn tell_tree(&mut self, nodes: &[Value], changed: impl IntoIterator<Item = NodeId>) {
        let tree = self.table.tree();
        let order = changed.into_iter().filter(|&id| tree.path(id).is_some()).map(|id| {
            let children: Vec<usize> = tree.children(id).into_iter().map(NodeId::number).collect();
            json!([id.number(), children])
        });
        let order: Vec<Value> = order.collect();
        let message = json!({ "is": "tree", "game": self.game, "nodes": nodes, "order": order });
        self.host.tell_all(&message);
    }

    fn engine_on_turn(&self) -> bool {
        self.table.seat_on_turn().is_some_and(|seat| *seat != PlayerKind::Person)
    }

    /// Starts the task that this position requires.
    fn start_task(&mut self) {
        self.question = None;
        self.opponent_number += 1;
        self.host.stop_task();
        self.judging.interrupt();
        self.waits_for_judgement = false;
        if let Some(posed) = &self.posed {
            if let Some(task) = posed.task() {
                let game = self.table.game().clone();
                self.ask(&game, TaskPurpose::Solve, self.table.head(), Task::Solve(task));
            }
            return;
        }
        let game = self.table.game().clone();
        if self.is_answering && self.table.is_study() && !game.is_over() {
            if let Some(level) = Level::named(ANSWER_LEVEL) {
                self.ask(&game, TaskPurpose::Move, self.table.head(), Task::Choose { level, clock: None });
            }
            return;
        }
        self.is_answering = false;
        let is_playing = matches!(self.table.phase(), Phase::Playing) && !self.table.is_paused();
        if self.teaches && is_playing && !self.engine_on_turn() {
            self.judging.look_ahead(self.table.head());
        }
        match self.table.phase() {
            Phase::Marking(dead) if dead.is_empty() => {
                self.ask(&game, TaskPurpose::Dead, self.table.head(), Task::Settle);
            }
            Phase::Playing if self.engine_on_turn() && is_playing => {
                let is_kosumi = matches!(self.table.seat_on_turn(), Some(PlayerKind::Kosumi { .. }));
                if is_kosumi && self.judging.is_urgent() && self.judge() {
                    self.waits_for_judgement = true;
                    return;
                }
                match self.table.seat_on_turn() {
                    Some(PlayerKind::Kosumi { level }) => {
                        let Some(level) = Level::named(level) else { return };
                        let clock = self.table.time_left(self.now);
                        let task = Task::Choose { level, clock };
                        self.ask(&game, TaskPurpose::Move, self.table.head(), task);
                    }
                    Some(PlayerKind::Engine { number }) => {
                        self.host.ask_engine(*number, self.opponent_number, &game);
                        self.start_background();
                    }
                    _ => {}
                }
            }
            _ => self.start_background(),
        }
    }

    /// Starts the work of the engine that nothing waits for: judgements, then the continuous analysis.
    fn start_background(&mut self) {
        if !self.judge() {
            self.analyse_if_wanted();
        }
    }

    /// Goes on with the judgements. Returns whether a search for them was started.
    fn judge(&mut self) -> bool {
        loop {
            let before = self.judging.progress();
            match self.judging.advance(&self.table) {
                Step::Search(game, is_afresh) => {
                    let task = Task::Judge { playouts: JUDGE_PLAYOUTS, is_afresh };
                    self.ask(&game, TaskPurpose::Judge, self.table.head(), task);
                    return true;
                }
                Step::Judged(nodes) => self.tell_judged(&nodes),
                Step::Answered(window, key, result) => {
                    let message = json!({ "is": "solved", "key": key, "result": result });
                    self.host.tell(window, &message);
                }
                Step::Idle => {
                    self.keep_judgements();
                    return false;
                }
            }
            if self.judging.progress() != before {
                let progress = json!({ "is": "judging", "judging": self.judging.progress() });
                self.host.tell_all(&progress);
            }
        }
    }

    /// Stores the results for nodes, and sends the new ones to the windows.
    fn tell_judged(&mut self, nodes: &[NodeId]) {
        let mut told = Vec::new();
        for &id in nodes {
            let Some(judged) = self.judging.judged(&self.table, id) else { continue };
            if self.table.tree().path(id).is_some() && self.table.add_judged(id, judged.clone()) {
                told.push(json!({ "i": id.number(), "j": judged.data() }));
            }
        }
        if !told.is_empty() {
            self.judgements += told.len();
            if self.judgements >= JUDGEMENTS_UNKEPT {
                self.keep_judgements();
            }
            self.host.tell_all(&json!({ "is": "judged", "game": self.game, "nodes": told }));
        }
    }

    /// Counts judgements as a change of the table. A host that keeps the game after every change would keep it too often
    /// if each of them counted.
    fn keep_judgements(&mut self) {
        if std::mem::take(&mut self.judgements) > 0 {
            self.revision += 1;
        }
    }

    /// Starts the continuous analysis of the node that is viewed.
    fn analyse_if_wanted(&mut self) {
        let id = self.viewed.unwrap_or_else(|| self.table.head());
        let is_marked = self.viewed.is_none() && matches!(self.table.phase(), Phase::Marking(_));
        if self.is_analysed && !is_marked {
            let limits = Limits {
                visits: Some(ANALYSIS_VISITS),
                soft: Some(ANALYSIS_TIME),
                hard: Some(ANALYSIS_TIME),
                ..Limits::default()
            };
            let game = self.table.tree().game_at(id);
            self.ask(&game, TaskPurpose::Analysis, id, Task::Study { limits });
        }
    }

    fn ask(&mut self, game: &Game, question: TaskPurpose, node: NodeId, task: Task) {
        let number = self.host.start_task(game, task);
        self.question = Some((number, question, node));
    }

    fn answer(&mut self, window: usize, ask: PageRequest) -> Result<(), Refusal> {
        let now = self.now;
        let head = self.table.head();
        // Another window was faster.
        let is_late = |at: usize| at != head.number();
        if self.posed.is_some() && !PosedProblem::admits(&ask) {
            return Err(Refusal::NotNow);
        }
        match ask {
            PageRequest::New { game } => {
                self.table.begin(&game)?;
                self.notes.clear();
                self.replace_game();
            }
            PageRequest::View { at } => {
                let at = self.node(at)?;
                let viewed = Some(at).filter(|&at| at != head);
                let can_change = self.question.is_none_or(|(_, purpose, _)| purpose == TaskPurpose::Analysis);
                if viewed != self.viewed {
                    self.viewed = viewed;
                    if self.is_analysed && can_change {
                        self.analyse_if_wanted();
                    }
                }
                return Ok(());
            }
            PageRequest::Review { at, on } => {
                let at = self.node(at)?;
                self.stop_judging();
                if on {
                    let tree = self.table.tree();
                    let line = tree.path(tree.end_of(at)).unwrap_or_default();
                    // The move that is viewed comes first.
                    self.judging.review(
                        &self.table,
                        [at].into_iter().chain(line.into_iter().rev().filter(|&id| id != at)),
                    );
                }
            }
            PageRequest::ReviewPage {} => return self.start_review(),
            PageRequest::Play { at, place } => {
                let mv = parse_place(self.table.game().size(), &place).ok_or(Refusal::OffBoard)?;
                if self.posed.is_some() {
                    self.try_answer(at, mv)?;
                } else if self.table.is_study() {
                    let at = self.node(at)?;
                    self.table.try_move(at, mv, now)?;
                    self.is_answering = self.answers;
                } else {
                    if is_late(at) || self.engine_on_turn() {
                        return Err(Refusal::NotNow);
                    }
                    self.table.play(mv, now)?;
                }
                self.viewed = None;
                if self.teaches && self.posed.is_none() && self.table.head() != head {
                    self.judging.judge_now(&self.table, self.table.head());
                }
            }
            PageRequest::Undo { at } => {
                if is_late(at) || self.table.is_study() || !self.table.undo(now) {
                    return Err(Refusal::NotNow);
                }
                self.viewed = None;
                self.end_review();
            }
            PageRequest::From { at, seats } => {
                let at = self.node(at)?;
                if let Some((black, white)) = seats {
                    self.table.seat(black, white)?;
                }
                self.table.play_from(at, now);
                self.viewed = None;
                self.is_answering = false;
            }
            PageRequest::Study { on } => {
                self.table.study(on, now);
                self.is_answering = false;
            }
            PageRequest::Answer { at } => {
                let at = self.node(at)?;
                if !self.table.is_study() {
                    return Err(Refusal::NotNow);
                }
                self.table.look_at(at, now);
                self.viewed = None;
                self.is_answering = true;
            }
            PageRequest::Answers { on } => self.answers = on,
            PageRequest::Teach { on } => self.teaches = on,
            PageRequest::Comment { at, text } => {
                let at = self.node(at)?;
                self.table.comment(at, &text)?;
                self.revision += 1;
                let data = [self.table.node_data(at)];
                self.tell_tree(&data, []);
                return Ok(());
            }
            PageRequest::Remove { at } => {
                let at = self.node(at)?;
                self.table.remove(at, now)?;
            }
            PageRequest::PutBack {} => {
                let id = self.table.put_back()?;
                let data = self.table.tree_data(id);
                let changed = self.table.take_changed();
                self.tell_tree(&data, changed);
            }
            PageRequest::Promote { at } => {
                let at = self.node(at)?;
                self.table.promote(at)?;
            }
            PageRequest::Solve { key, text, place } => {
                let game = GameTree::open(text.as_bytes(), self.table.game().rules(), false)?.tree;
                let game = game.game_at(game.end_of(game.root()));
                let mv = parse_place(game.size(), &place).ok_or(Refusal::OffBoard)?;
                game.check(game.to_move(), mv)?;
                if !self.judging.judge_answer(window, key, game, mv) {
                    return Err(Refusal::NotNow);
                }
                let is_free = self.question.is_none_or(|(_, purpose, _)| purpose == TaskPurpose::Analysis);
                if is_free {
                    self.start_background();
                }
                return Ok(());
            }
            PageRequest::Problems { at } => {
                let mut records = Vec::new();
                for number in at.into_iter().take(PROBLEMS_MOST) {
                    let id = self.node(number)?;
                    let tree = self.table.tree();
                    let (Some(parent), Some((color, _))) = (tree.parent(id), tree.played(id)) else {
                        return Err(Refusal::NotNow);
                    };
                    let mut game = tree.game_at(parent);
                    game.set_to_move(color);
                    records.push(json!([number, write(&game, &Meta::default())]));
                }
                self.host.tell(window, &json!({ "is": "problems", "game": self.game, "records": records }));
                return Ok(());
            }
            PageRequest::ReadTsumego { text, bytes } => {
                let bytes = file_bytes(text, &bytes).ok_or(Refusal::BadMessage)?;
                self.tell_tsumego(window, &bytes);
                return Ok(());
            }
            PageRequest::PoseTsumego { key, text, goal } => {
                let rules = self.game_table().game().rules();
                self.pose(PosedProblem::read(key, text.as_bytes(), goal, rules)?)?;
            }
            PageRequest::LeaveTsumego {} => {
                let aside = self.aside.take().ok_or(Refusal::NotNow)?;
                self.posed = None;
                (self.table, self.game, self.notes) = (aside.table, aside.game, aside.notes);
                self.forget_game();
                self.table.pause(aside.was_paused, now);
            }
            PageRequest::Remember {} => {
                let kept = self.remembered(now);
                self.host.tell(window, &json!({ "is": "kept", "game": self.game, "kept": kept }));
                return Ok(());
            }
            PageRequest::Resign { at } => {
                if is_late(at) || self.table.is_study() {
                    return Err(Refusal::NotNow);
                }
                self.table.resign_person()?;
            }
            PageRequest::Analyse { on } => self.is_analysed = on,
            PageRequest::Hint { at } => {
                return self.start_consultation(at, TaskPurpose::Hint, Limits::time(HINT_TIME));
            }
            PageRequest::Estimate { at } => {
                let limits = Limits { visits: Some(ESTIMATE_VISITS), ..Limits::time(2 * HINT_TIME) };
                return self.start_consultation(at, TaskPurpose::Estimate, limits);
            }
            PageRequest::Mark { place } => {
                let mv = parse_place(self.table.game().size(), &place).ok_or(Refusal::OffBoard)?;
                self.table.mark(mv)?;
                // The engine must not be asked for dead stones again when the user has removed all marks.
                self.revision += 1;
                self.tell_state();
                return Ok(());
            }
            PageRequest::Settle {} => self.table.settle()?,
            PageRequest::Resume {} => {
                self.table.resume(now)?;
                self.end_review();
            }
            PageRequest::Pause { on } => self.table.pause(on, now),
            PageRequest::Seats { black, white } => {
                self.table.seat(black, white)?;
                if self.table.is_study() {
                    self.table.play_from(head, now);
                }
            }
            PageRequest::Load { text, bytes, shared, partial, plain } => {
                let record = match shared.as_str() {
                    "" => Ok(file_bytes(text, &bytes).ok_or(Refusal::BadMessage)?),
                    shared => share::record_of(shared),
                };
                if let Ok(bytes) = &record
                    && !(plain || partial)
                    && tsumego::is_collection(bytes, self.game_table().game().rules())
                {
                    self.tell_tsumego(window, bytes);
                    return Ok(());
                }
                match record.and_then(|record| self.table.load(&record, partial)) {
                    Ok(notes) => {
                        self.notes = notes;
                        self.replace_game();
                    }
                    Err(bad) => {
                        self.host.tell(
                            window,
                            &json!({
                                "is": "refused",
                                "why": bad.refusal,
                                "text": bad.text,
                                "partial": bad.can_be_partial,
                            }),
                        );
                        return Ok(());
                    }
                }
            }
            PageRequest::Restore { game } => {
                if !self.table.is_fresh() {
                    let state = self.state();
                    self.host.tell(window, &state);
                    return Ok(());
                }
                self.table.restore(&game, now)?;
                self.replace_game();
            }
            PageRequest::Save {} => {
                let text = self.record();
                self.host.tell(window, &json!({ "is": "record", "game": self.game, "text": text }));
                return Ok(());
            }
            PageRequest::Share {} => {
                let fragment = share::fragment_of(&self.record()).ok_or(Refusal::LinkTooLong)?;
                self.host.tell(window, &json!({ "is": "shared", "fragment": fragment }));
                return Ok(());
            }
            PageRequest::Look { .. } | PageRequest::Rest {} => return Err(Refusal::BadMessage),
        }
        self.changed();
        Ok(())
    }

    /// Sends the problems of a file to a window.
    fn tell_tsumego(&mut self, window: usize, bytes: &[u8]) {
        let problems = tsumego::read_collection(bytes, self.game_table().game().rules());
        self.host.tell(window, &problems);
    }

    /// Puts a problem on the table. The game waits.
    fn pose(&mut self, posed: PosedProblem) -> Result<(), Refusal> {
        let mut table = self.table.clone();
        table.load(posed.position().as_bytes(), false)?;
        let before = std::mem::replace(&mut self.table, table);
        let (game, revision, now) = (self.game, self.revision, self.now);
        let notes = std::mem::take(&mut self.notes);
        let aside = self.aside.take().unwrap_or_else(|| {
            let was_paused = before.is_paused();
            let mut table = before;
            table.pause(true, now);
            Box::new(GameAside { table, game, revision, notes, was_paused })
        });
        self.replace_game();
        (self.aside, self.posed) = (Some(aside), Some(Box::new(posed)));
        self.is_analysed = false;
        Ok(())
    }

    /// Plays an answer to the problem on the table.
    fn try_answer(&mut self, at: usize, mv: Move) -> Result<(), Refusal> {
        let at = self.node(at)?;
        let Some(posed) = &mut self.posed else { return Err(Refusal::NotNow) };
        let is_player = self.table.tree().game_at(at).to_move() == posed.player();
        if !posed.is_open() || !is_player || mv == Move::Pass {
            return Err(Refusal::NotNow);
        }
        self.table.try_move(at, mv, self.now)?;
        let (tree, node) = (self.table.tree(), self.table.head());
        let path = tree.path(node).unwrap_or_default();
        let line: Vec<_> = path.into_iter().filter_map(|id| tree.played(id)).collect();
        let next = posed.answer(node, &line);
        // A right move that is tried again has its reply already.
        let reply = tree.children(node).first().copied().filter(|_| posed.has_reply(node));
        if let Some(next) = next {
            self.continue_problem(&next);
        } else if let Some(reply) = reply {
            self.table.look_at(reply, self.now);
        }
        Ok(())
    }

    /// Plays the moves after a judged answer.
    fn continue_problem(&mut self, next: &Continuation) {
        if self.table.tree().path(next.node).is_none() {
            return;
        }
        self.table.look_at(next.node, self.now);
        for &mv in &next.moves {
            // Superko may forbid a move of the solver, which knows simple ko.
            if self.table.try_move(self.table.head(), mv, self.now).is_err() {
                break;
            }
        }
        if !next.goes_on {
            self.table.look_at(next.node, self.now);
        }
    }

    /// Handles a result of the solver.
    fn take_solved(&mut self, found: ProblemFound) {
        let next = self.posed.as_mut().and_then(|posed| posed.take(found));
        if let Some(next) = next {
            self.continue_problem(&next);
        }
        self.changed();
    }

    /// Starts an analysis of the position of a node, unless an engine is to move.
    fn start_consultation(
        &mut self,
        at: usize,
        question: TaskPurpose,
        limits: Limits,
    ) -> Result<(), Refusal> {
        let at = self.node(at)?;
        let is_earlier = at != self.table.head();
        let is_settling = self.question.is_some_and(|(_, purpose, _)| purpose == TaskPurpose::Dead);
        if is_settling
            || self.is_answering
            || (self.engine_on_turn() && !self.table.is_paused())
            || (!is_earlier && matches!(self.table.phase(), Phase::Marking(_)))
        {
            return Err(Refusal::NotNow);
        }
        let game = self.table.tree().game_at(at);
        self.judging.interrupt();
        self.ask(&game, question, at, Task::Study { limits });
        Ok(())
    }

    /// Returns the node with a number.
    fn node(&self, number: usize) -> Result<NodeId, Refusal> {
        self.table.tree().node(number).ok_or(Refusal::NotNow)
    }

    /// Ends the judgements, and the search for one.
    fn stop_judging(&mut self) {
        self.judging.stop();
        if self.question.is_some_and(|(_, purpose, _)| purpose == TaskPurpose::Judge) {
            self.question = None;
            self.host.stop_task();
        }
    }

    /// Handles a result of the engine's task with this number.
    pub fn handle_result(&mut self, number: u64, finding: TaskResult, now: Duration) {
        self.now = now;
        let Some((_, question, node)) = self.question.filter(|(asked, ..)| *asked == number) else { return };
        match finding {
            TaskResult::Chosen(decision, outlook) => {
                self.question = None;
                let is_move = matches!(decision, Decision::Play(_));
                if std::mem::take(&mut self.is_answering) && !is_move {
                    self.host.tell_all(&json!({ "is": "would-resign" }));
                } else {
                    self.decided(decision);
                }
                if let Some(outlook) = outlook.filter(|_| is_move) {
                    self.table.add_evaluation(outlook);
                }
                self.changed();
            }
            TaskResult::Studied { analysis, .. } if question == TaskPurpose::Judge => {
                self.question = None;
                self.judging.take(self.table.tree(), *analysis);
                if !self.waits_for_judgement {
                    self.start_background();
                } else if !self.judging.is_urgent() || !self.judge() {
                    self.start_task();
                }
            }
            TaskResult::Studied { game, analysis, is_last } => {
                let evaluation = MoveEvaluation {
                    win_rate: analysis.win_rate.mean,
                    score: analysis.score.mean,
                    visits: analysis.visits,
                };
                self.table.add_analysis(node, evaluation);
                let message = json!({
                    "is": "thought",
                    "of": match question {
                        TaskPurpose::Hint => "hint",
                        TaskPurpose::Estimate => "estimate",
                        _ => "analysis",
                    },
                    "at": node.number(),
                    "last": is_last,
                    "numbers": Numbers::new(&game, game.to_move(), &analysis),
                });
                self.host.tell_all(&message);
                if is_last {
                    self.question = None;
                    if question != TaskPurpose::Analysis {
                        self.start_background();
                    }
                }
            }
            TaskResult::Settled(dead) => {
                self.question = None;
                self.table.set_dead(*dead);
                if self.table.is_without_people() {
                    // In a game between two engines, no person can object.
                    let settled = self.table.settle();
                    debug_assert_eq!(settled, Ok(()));
                }
                self.revision += 1;
                self.tell_state();
            }
            TaskResult::Solved(found) => {
                self.question = None;
                self.take_solved(found);
            }
            TaskResult::Crashed(text) => {
                self.question = None;
                if let Some(posed) = &mut self.posed {
                    posed.give_up();
                }
                self.judging.stop();
                (self.teaches, self.is_answering) = (false, false);
                self.host.tell_all(&json!({ "is": "trouble", "engine": "Kosumi", "text": text }));
                // The engine was restarted. It must not get the task that crashed it again, so play is paused and the
                // analysis ended.
                self.table.pause(true, self.now);
                self.is_analysed = false;
                self.changed();
            }
        }
    }

    fn decided(&mut self, decision: Decision) {
        let now = self.now;
        let done = match decision {
            Decision::Play(mv) => self.table.play(mv, now),
            Decision::Resign => self.table.resign(),
        };
        if done.is_err() {
            // An illegal move of an engine counts as a pass.
            let passed = self.table.play(Move::Pass, now);
            debug_assert_eq!(passed, Ok(()));
        }
    }

    /// Handles the response of another engine to the request with this number: its move, or an error message.
    pub fn handle_engine_move(&mut self, number: u64, moved: Result<Decision, String>, now: Duration) {
        self.now = now;
        if number != self.opponent_number || !self.engine_on_turn() {
            return;
        }
        match moved {
            Ok(decision) => self.decided(decision),
            Err(text) => {
                let name = match self.table.seat_on_turn() {
                    Some(PlayerKind::Engine { number }) => {
                        self.engines.get(*number).cloned().unwrap_or_default()
                    }
                    _ => String::new(),
                };
                self.host.tell_all(&json!({ "is": "trouble", "engine": name, "text": text }));
                self.table.pause(true, self.now);
            }
        }
        self.changed();
    }
}

/// Reviews a record with an engine of the [levels](super::EnginePurpose::Level); `None` if it was ended before the end or the record has no moves.
pub fn review_record(
    bytes: &[u8],
    engine: &mut Engine,
    interrupted: &(dyn Fn() -> bool + Sync),
    progress: &mut dyn FnMut(usize, usize),
) -> Option<Reviewed> {
    let (record, tree) = (Record::parse(bytes).ok()?, Tree::parse(bytes).ok()?);
    let rules = record.rules().unwrap_or_default();
    let line = MainLine::of_record(&record, rules, record.komi_under(rules)).ok()?;
    let limits = Limits::playouts(REVIEW_PLAYOUTS);
    let scope = Scope::default();
    let given = Given { limits, seed: engine.seed(), scope, are_rules_given: false };
    let facts = Facts::new(&tree, &record, &line, &given);
    let mut analyst = EngineAnalyst { engine, limits, candidates: REVIEW_CANDIDATES, interrupted };
    let review = review::review(&line, &scope, &mut analyst, progress);
    (!interrupted()).then(|| Reviewed::new(tree, line, review, facts))
}
