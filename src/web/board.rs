//! The table of the page, behind requests in JSON. The worker calls [`Board::answer`] for every event, and with
//! [`advance`](BoardRequest::Advance) again and again while the engine has something to do.

use crate::request::Refusal;
use crate::session::{Options, StartError, engine_settings, with_card};
use kosumi_board::play::{ConfiguredEngine, EnginePurpose, Host, RestoredGame, TableSession, Task, TaskRun};
use kosumi_engine::{Engine, TimeSource};
use kosumi_go::board::BoardSize;
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_net::Network;
use serde::Deserialize;
use serde_json::{Value, json};
use std::mem;
use std::sync::Arc;
use std::time::Duration;

/// Number of the only window.
const WINDOW: usize = 1;

/// Event for the table.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum BoardRequest {
    /// The page is open.
    Open,
    /// The page has sent a message.
    Message { message: String },
    /// The engine goes on with its task.
    Advance,
    /// A game that was remembered replaces that on the table.
    Restore {
        game: Box<RestoredGame>,
        #[serde(default)]
        is_paused: bool,
    },
    /// Number of positions that the background review has finished.
    ReviewProgress { number: u64, done: usize, total: usize },
    /// The review in the background has ended.
    ReviewEnd { number: u64, has_succeeded: bool },
    /// The date has changed.
    Today { date: String },
    /// The graphics card evaluates positions of the engine with another network, or no longer does.
    UseCard { is_wanted: bool },
}

/// Work that the table requests from the worker.
#[derive(Debug, Default)]
struct WorkerRequests {
    messages: Vec<Value>,
    /// Task to begin, with its number.
    next: Option<(u64, Game, Task)>,
    /// Whether the running task is unwanted.
    is_stopped: bool,
    /// Number of the latest task.
    last: u64,
    /// Review to begin: its number and the record.
    review: Option<(u64, String)>,
    ends_review: bool,
    today: Option<String>,
}

impl Host for WorkerRequests {
    fn send(&mut self, _: usize, message: &Value) {
        self.messages.push(message.clone());
    }

    fn send_to_all(&mut self, message: &Value) {
        self.messages.push(message.clone());
    }

    fn has_windows(&self) -> bool {
        true
    }

    fn start_task(&mut self, game: &Game, task: Task) -> u64 {
        self.stop_task();
        self.last += 1;
        self.next = Some((self.last, game.clone(), task));
        self.last
    }

    fn stop_task(&mut self) {
        self.next = None;
        self.is_stopped = true;
    }

    /// Does nothing, because a browser has no other engines.
    fn ask_engine(&mut self, _: usize, _: u64, _: &Game) {}

    fn start_review(&mut self, number: u64, record: String) -> bool {
        self.review = Some((number, record));
        true
    }

    fn end_review(&mut self) {
        self.review = None;
        self.ends_review = true;
    }

    fn today(&self) -> Option<String> {
        self.today.clone()
    }
}

/// Running task with its number and the purpose of its engine.
#[derive(Debug)]
struct Running {
    number: u64,
    purpose: EnginePurpose,
    run: TaskRun,
}

/// A table and the engines that play at it. Until [`Board::set_network`], people can play and tasks of the engine wait.
#[derive(Debug)]
pub struct Board {
    session: TableSession<WorkerRequests>,
    options: Options,
    /// Engine with the small network.
    engine: Option<ConfiguredEngine>,
    /// Engine with the large network, or with one from a file, for all levels except those that limit visits.
    large_engine: Option<ConfiguredEngine>,
    running: Option<Running>,
    /// Revision of the table that the worker knows.
    known_revision: u64,
    time: TimeSource,
}

impl Board {
    /// Sets up a table with an empty 9×9 board. `options` are [`Options`] as JSON. `session` identifies this run among
    /// all.
    ///
    /// # Errors
    ///
    /// Returns an error if an option is invalid.
    pub fn start(options: &str, session: &str, time: TimeSource) -> Result<Board, StartError> {
        let options: Options = serde_json::from_str(options)?;
        engine_settings(&options)?;
        let rules = Rules::default();
        let size =
            BoardSize::square(9).ok_or_else(|| StartError::Value("there is no such board".to_owned()))?;
        let (host, names) = (WorkerRequests::default(), Vec::new());
        let mut session = TableSession::new(host, size, rules, rules.usual_komi(), names, session.to_owned());
        session.begin(time());
        Ok(Board {
            known_revision: session.revision(),
            session,
            options,
            engine: None,
            large_engine: None,
            running: None,
            time,
        })
    }

    /// Gives the engines a network, and returns it. `is_large` states that levels that limit visits use another
    /// network.
    ///
    /// # Errors
    ///
    /// Returns an error if the network cannot be read.
    pub fn set_network(&mut self, network: &[u8], is_large: bool) -> Result<Arc<Network>, StartError> {
        let network = Arc::new(Network::read(network)?);
        let settings = engine_settings(&self.options)?;
        let engine = Engine::with_network(settings, Some(Arc::clone(&network))).with_time_source(self.time);
        let engine = Some(ConfiguredEngine::new(engine));
        *(if is_large { &mut self.large_engine } else { &mut self.engine }) = engine;
        Ok(network)
    }

    /// Handles an event in JSON. Returns what the worker must do, or `{"error": "…"}` if the event is refused, which
    /// changes nothing.
    pub fn answer(&mut self, request: &str) -> String {
        let handled = match serde_json::from_str(request) {
            Ok(request) => self.handle(request),
            Err(error) => Err(Refusal(format!("not a request: {error}"))),
        };
        let answer = match handled {
            Ok(()) => json!({ "ok": self.effects() }),
            Err(Refusal(reason)) => json!({ "error": reason }),
        };
        answer.to_string()
    }

    fn handle(&mut self, request: BoardRequest) -> Result<(), Refusal> {
        let now = (self.time)();
        match request {
            BoardRequest::Open => self.session.handle_open(WINDOW, now),
            BoardRequest::Message { message } => self.session.handle_message(WINDOW, &message, now),
            BoardRequest::Advance => self.advance(),
            BoardRequest::Restore { game, is_paused } => {
                let refused = |_| Refusal::new("the game cannot be restored");
                self.session.restore(&game, is_paused, now).map_err(refused)?;
            }
            BoardRequest::ReviewProgress { number, done, total } => {
                self.session.handle_review_progress(number, done, total);
            }
            BoardRequest::ReviewEnd { number, has_succeeded } => {
                self.session.handle_review_end(number, has_succeeded);
            }
            BoardRequest::Today { date } => self.session.host().today = Some(date),
            BoardRequest::UseCard { is_wanted } => {
                let threads = self.options.threads;
                let large_engine =
                    self.large_engine.as_mut().ok_or_else(|| Refusal::new("there is no other network"))?;
                large_engine.change(|settings| with_card(settings, is_wanted, threads));
            }
        }
        self.session.check_time((self.time)());
        self.drop_unwanted();
        Ok(())
    }

    fn drop_unwanted(&mut self) {
        if mem::take(&mut self.session.host().is_stopped) {
            self.running = None;
        }
    }

    /// Works for one slice on the engine's task.
    fn advance(&mut self) {
        let Some(small) = &mut self.engine else { return };
        if let Some((number, game, task)) = self.session.host().next.take() {
            let purpose = task.purpose();
            let engine = match purpose {
                EnginePurpose::Best => self.large_engine.as_mut().unwrap_or(small),
                EnginePurpose::Level => small,
            };
            self.running = Some(Running { number, purpose, run: engine.begin(game, task) });
            self.session.host().is_stopped = false;
        }
        let Some(Running { number, purpose, run }) = &mut self.running else { return };
        let engine = match (*purpose, &mut self.large_engine, &mut self.engine) {
            (EnginePurpose::Best, Some(large_engine), _) => large_engine,
            (_, _, Some(engine)) => engine,
            (_, _, None) => return,
        };
        let (number, mut results) = (*number, Vec::new());
        if run.advance(engine, self.time, &mut |result| results.push(result)) {
            self.running = None;
        }
        for result in results {
            self.session.handle_result(number, result, (self.time)());
        }
    }

    /// Returns what the worker must do.
    fn effects(&mut self) -> Value {
        let has_engine = self.engine.is_some();
        let wake = self.session.wake_time().map(|at| at.saturating_sub((self.time)()));
        let remembered = (self.session.revision() != self.known_revision).then(|| self.remembered());
        self.known_revision = self.session.revision();
        let host = self.session.host();
        let is_busy = has_engine && (host.next.is_some() || self.running.is_some());
        json!({
            "messages": mem::take(&mut host.messages),
            "isBusy": is_busy,
            "wake": wake.map(|wake: Duration| wake.as_secs_f64() * 1000.0),
            "review": host.review.take(),
            "endsReview": mem::take(&mut host.ends_review),
            "remembered": remembered,
        })
    }

    /// Returns the game for [`BoardRequest::Restore`], its number, and its summary for lists.
    fn remembered(&mut self) -> Value {
        let game = self.session.remembered((self.time)());
        json!({ "game": game, "number": self.session.game_number(), "about": self.session.summary() })
    }
}

#[cfg(test)]
mod tests;
