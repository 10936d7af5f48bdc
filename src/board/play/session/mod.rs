//! A table: the game, its windows, and the tasks of the engines. All rules of the table are here. The surroundings of
//! the table (windows, engines, reviews in the background, and the time) are a [`Host`].

mod engines;
mod problems;
mod requests;
mod reviewing;
#[cfg(test)]
mod tests;

pub use reviewing::review_record;

use super::judgements::Judgements;
use super::message::{PageRequest, RestoredGame};
use super::table::{BadRecord, GameTable, Refusal, choices};
use super::task::Task;
use super::tsumego::ActiveProblem;
use kosumi_go::board::BoardSize;
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::NodeId;
use serde_json::{Value, json};
use std::time::Duration;

/// Surroundings of a table: windows, engines, and reviews in the background.
pub trait Host {
    /// Sends a message to a window.
    fn send(&mut self, window: usize, message: &Value);

    /// Sends a message to all windows.
    fn send_to_all(&mut self, message: &Value);

    /// Returns whether any window is open.
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
    /// Analysing continuously while a window is open.
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
struct SuspendedGame {
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

/// Table with its windows and engines. Each function that handles an event takes the time since an arbitrary fixed
/// moment. It must never decrease.
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
    /// Node that a window views and that is analysed; `None` for the one at which play continues.
    viewed: Option<NodeId>,
    judgements: Judgements,
    /// Whether each move of a person is judged.
    teaches: bool,
    /// Whether Kosumi answers every move in the study mode.
    answers: bool,
    is_answering: bool,
    /// Whether Kosumi moves after the judgement in progress.
    waits_for_judgement: bool,
    /// Number of judgements since the revision last changed.
    unsaved_judgements: usize,
    /// Number of nodes that the windows know; `None` if they know another tree.
    known_nodes: Option<usize>,
    review: ReviewState,
    /// Number of the current review. Results of other reviews are ignored.
    review_number: u64,
    /// Messages about the record that the game was loaded from.
    notes: Vec<String>,
    /// Problem of life and death on the table, and the game that it has replaced.
    problem: Option<Box<ActiveProblem>>,
    suspended: Option<Box<SuspendedGame>>,
    /// Number of the game, by which pages notice that another game is on the table.
    game: u64,
    /// Largest number that a game has had so far.
    last_game: u64,
    /// Number of changes of the table.
    revision: u64,
    /// Text that identifies this run.
    session: String,
    now: Duration,
}

impl<H: Host> TableSession<H> {
    /// Creates a table with an empty board, a person as Black and Kosumi as White. `engines` are the names of the other
    /// engines, and `session` identifies this run among all runs.
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
            judgements: Judgements::default(),
            teaches: false,
            answers: false,
            is_answering: false,
            waits_for_judgement: false,
            unsaved_judgements: 0,
            known_nodes: None,
            review: ReviewState::None,
            review_number: 0,
            notes: Vec::new(),
            problem: None,
            suspended: None,
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
    /// Returns an error if the record cannot be followed to its end. If `is_partial` is set, it is an error only if
    /// nothing of the record can be loaded.
    pub fn load(&mut self, record: &[u8], is_partial: bool) -> Result<(), BadRecord> {
        self.notes = self.table.load(record, is_partial)?;
        Ok(())
    }

    /// Returns the surroundings of the table.
    pub fn host(&mut self) -> &mut H {
        &mut self.host
    }

    /// Starts what the position requires. To be called once, before any event.
    pub fn begin(&mut self, now: Duration) {
        self.now = now;
        self.start_task();
    }

    /// Returns the number of changes of the game so far. Moves tried at a problem do not count.
    pub fn revision(&self) -> u64 {
        self.suspended.as_ref().map_or(self.revision, |suspended| suspended.revision)
    }

    /// Returns the number of the game. Every game on the table has a different number. Problems do not count as games.
    pub fn game_number(&self) -> u64 {
        self.suspended.as_ref().map_or(self.game, |suspended| suspended.game)
    }

    /// Returns the game on the table, or the one that waits for the end of the problems.
    fn game_table(&self) -> &GameTable {
        self.suspended.as_ref().map_or(&self.table, |suspended| &suspended.table)
    }

    /// Returns everything that is needed to restore the game later.
    pub fn remembered(&self, now: Duration) -> RestoredGame {
        let mut game = self.game_table().remembered(self.host.today(), now);
        if let (Some(suspended), Some(details)) = (&self.suspended, &mut game.details) {
            // The game is paused only as long as the problems are on the table.
            details.paused = suspended.was_paused;
        }
        game
    }

    /// Returns what a list of games shows about this one.
    pub fn summary(&self) -> Value {
        let table = self.game_table();
        let state = table.state(self.now);
        let names = ["columns", "rows", "seats", "names", "result"];
        let mut summary: Value = names.iter().map(|&name| (name, state[name].clone())).collect();
        let tree = table.tree();
        summary["moves"] = tree.moves(tree.end_of(tree.root())).into();
        summary
    }

    /// Puts a remembered game on the table in place of the present one. If `is_paused` is set, its engines and clocks
    /// are paused.
    ///
    /// # Errors
    ///
    /// Returns an error if the game is invalid. The table is then unchanged.
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

    /// Returns the time by which [`check_time`](TableSession::check_time) must be called; `None` if no clock runs.
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

    /// Handles the opening of a window, to which the host can now send messages.
    pub fn handle_open(&mut self, window: usize, now: Duration) {
        self.now = now;
        let choices = choices(&self.engines);
        self.host.send(window, &choices);
        if self.question.is_none() && !self.engine_on_turn() {
            self.start_background();
        }
        let tree = self.whole_tree();
        self.host.send(window, &tree);
        let state = self.state();
        self.host.send(window, &state);
    }

    /// Handles the closing of a window. The host must have removed the window before.
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

    /// Discards everything that belonged to the previous game, after another one was put on the table.
    fn replace_game(&mut self) {
        self.problem = None;
        self.suspended = None;
        self.last_game += 1;
        self.game = self.last_game;
        self.forget_game();
    }

    /// Discards everything that belonged to the game that was on the table.
    fn forget_game(&mut self) {
        self.viewed = None;
        self.judgements = Judgements::default();
        self.is_answering = false;
        self.known_nodes = None;
        self.end_review();
    }

    /// Returns the record of the game.
    fn record(&self) -> String {
        self.table.record(&self.engines, self.host.today()).to_string()
    }

    fn refuse(&mut self, window: usize, refusal: Refusal) {
        self.host.send(window, &json!({ "is": "refused", "why": refusal }));
        // The state corrects what the page has drawn in advance.
        let state = self.state();
        self.host.send(window, &state);
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
            state.insert("judging".to_owned(), json!(self.judgements.progress()));
            state.insert("teaches".to_owned(), self.teaches.into());
            state.insert("answers".to_owned(), self.answers.into());
            state.insert("tsumego".to_owned(), json!(self.problem.as_ref().map(|problem| problem.state())));
        }
        state
    }

    /// Handles a change: counts it, starts the engine's next task, and sends the state to all windows.
    fn changed(&mut self) {
        self.revision += 1;
        let is_gone = |id: &NodeId| self.table.tree().path(*id).is_none();
        if self.viewed.as_ref().is_some_and(is_gone) {
            self.viewed = None;
        }
        self.start_task();
        self.send_state();
    }

    /// Sends the changes of the tree and the state to all windows.
    fn send_state(&mut self) {
        let changed = self.table.take_changed();
        let count = self.table.tree().node_count();
        match self.known_nodes.replace(count) {
            None => {
                let tree = self.whole_tree();
                self.host.send_to_all(&tree);
            }
            Some(_) if changed.is_empty() => {}
            Some(known) => {
                let tree = self.table.tree();
                let new = (known..count).filter_map(|number| tree.node(number));
                let nodes: Vec<Value> = new.map(|id| self.table.node_data(id)).collect();
                self.send_tree(&nodes, changed);
            }
        }
        let state = self.state();
        self.host.send_to_all(&state);
    }

    /// Returns the whole tree as a message.
    fn whole_tree(&self) -> Value {
        let nodes = self.table.tree_data(self.table.tree().root());
        json!({ "is": "tree", "game": self.game, "whole": true, "nodes": nodes })
    }

    /// Sends nodes of the tree to all windows, and the order of the children of others.
    fn send_tree(&mut self, nodes: &[Value], changed: impl IntoIterator<Item = NodeId>) {
        let tree = self.table.tree();
        let order = changed.into_iter().filter(|&id| tree.path(id).is_some()).map(|id| {
            let children: Vec<usize> = tree.children(id).into_iter().map(NodeId::number).collect();
            json!([id.number(), children])
        });
        let order: Vec<Value> = order.collect();
        let message = json!({ "is": "tree", "game": self.game, "nodes": nodes, "order": order });
        self.host.send_to_all(&message);
    }
}
