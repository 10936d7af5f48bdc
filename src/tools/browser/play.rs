//! `kosumi play`: one table, its windows, and the engines that play or analyse.

use super::message::{PageRequest, PlayerKind, file_bytes, parse_place};
use super::opponent::ExternalEngine;
use super::page;
use super::server::{Server, Site, WindowEvent};
use super::strength::Level;
use super::table::{GameTable, Phase, Refusal, choices};
use super::thinker::{EngineThread, MakeEngine, Task, TaskResult};
use super::windows::Windows;
use crate::review::Numbers;
use kosumi_engine::Decision;
use kosumi_go::board::{BoardSize, Move};
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_search::Limits;
use serde_json::{Value, json};
use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Time of the search for a hint.
const HINT_TIME: Duration = Duration::from_millis(1500);
/// Maximum visits of the search for an estimate. Its time is limited to twice that of a hint.
const ESTIMATE_VISITS: u32 = 120;
/// Maximum visits of a continuous analysis.
const ANALYSIS_VISITS: u32 = 50_000;
/// Maximum time of a continuous analysis.
const ANALYSIS_TIME: Duration = Duration::from_secs(600);

/// Settings of a server.
#[derive(Clone)]
pub struct ServerSettings {
    /// Address to listen on. Port 0 selects a free port.
    pub address: SocketAddr,
    /// Token in the address; `None` for a random one.
    pub token: Option<String>,
    /// Creates an engine.
    pub make: MakeEngine,
    /// Returns the date for records.
    pub today: fn() -> String,
}

impl std::fmt::Debug for ServerSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Initial table.
#[derive(Clone, PartialEq, Debug)]
pub struct InitialTable {
    /// Board size.
    pub size: BoardSize,
    /// Rules of the game.
    pub rules: Rules,
    /// Points for White.
    pub komi: f32,
    /// Record to load, which replaces size, rules and komi.
    pub record: Option<Vec<u8>>,
    /// Whether a record that cannot be followed to its end is loaded as far as possible.
    pub is_partial: bool,
    /// Command lines of other engines.
    pub engines: Vec<String>,
}

/// Event for the thread that owns the table.
enum Event {
    Window(WindowEvent),
    Found(u64, TaskResult),
    Moved(u64, Result<Decision, String>),
}

impl From<WindowEvent> for Event {
    fn from(event: WindowEvent) -> Event {
        Event::Window(event)
    }
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
    /// Finding the dead stones.
    Dead,
}

/// Serves a table until the process ends. Calls `ready` with the URL, and with a URL that works once.
///
/// # Errors
///
/// Returns an error if the address cannot be listened on, or if the record or an engine cannot be used.
pub fn play(
    setup: ServerSettings,
    first: &InitialTable,
    ready: &mut dyn FnMut(&str, &str),
) -> io::Result<()> {
    let server = Server::new(setup.address, setup.token)?;
    let (events, happened) = mpsc::channel();
    let mut table = GameTable::new(first.size, first.rules, first.komi, first.engines.len());
    let mut notes = Vec::new();
    if let Some(bytes) = &first.record {
        notes = table.load(bytes, first.is_partial).map_err(|bad| {
            let why = if bad.text.is_empty() { "it has too many moves".to_owned() } else { bad.text };
            io::Error::other(format!("the record cannot be loaded: {why}"))
        })?;
    }
    let tell = events.clone();
    let thinker = EngineThread::start(setup.make, move |number, finding| {
        // At the end of the process the receiver is gone.
        let _ = tell.send(Event::Found(number, finding));
    })?;
    let mut opponents = Vec::new();
    for command in &first.engines {
        let tell = events.clone();
        let opponent = ExternalEngine::new(command, move |number, moved| {
            let _ = tell.send(Event::Moved(number, moved));
        });
        opponents.push(opponent.map_err(io::Error::other)?);
    }
    let (url, once) = (server.url(), server.url_once());
    let site = Site::new(events, page::resource);
    thread::Builder::new().name("server".to_owned()).spawn(move || server.serve(site))?;
    let session = run_id(&url, std::process::id());
    let mut play_server = PlayServer {
        table,
        windows: Windows::default(),
        thinker,
        opponents,
        engines: first.engines.clone(),
        question: None,
        opponent_number: 0,
        is_analysed: false,
        notes,
        game: 0,
        today: setup.today,
        session,
        begin: Instant::now(),
    };
    ready(&url, &once);
    play_server.start_task();
    play_server.run(&happened)
}

/// Returns a text that identifies this run of the server.
fn run_id(url: &str, process: u32) -> String {
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{process}-{}-{}", time.as_micros(), url.len())
}

struct PlayServer {
    table: GameTable,
    windows: Windows,
    thinker: EngineThread,
    opponents: Vec<ExternalEngine>,
    engines: Vec<String>,
    /// Number and purpose of the engine's current task.
    question: Option<(u64, TaskPurpose)>,
    /// Number of the latest request to another engine. Responses to older requests are ignored.
    opponent_number: u64,
    is_analysed: bool,
    /// Messages about the record that the game comes from.
    notes: Vec<String>,
    /// Number of the game, by which pages know when to request its record.
    game: u64,
    today: fn() -> String,
    session: String,
    begin: Instant,
}

impl PlayServer {
    fn now(&self) -> Duration {
        self.begin.elapsed()
    }

    fn run(&mut self, happened: &Receiver<Event>) -> io::Result<()> {
        loop {
            let wait = self.table.flag_time().map(|at| at.saturating_sub(self.now()));
            match happened.recv_timeout(wait.unwrap_or(Duration::from_secs(3600))) {
                Ok(event) => self.handle_event(event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if self.table.check_flag(self.now()) {
                self.changed();
            }
        }
    }

    fn handle_event(&mut self, event: Event) {
        match event {
            Event::Window(WindowEvent::Joined(window, sender)) => {
                self.windows.add(window, sender);
                self.windows.tell(window, &choices(&self.engines));
                if self.question.is_none() && !self.engine_on_turn() {
                    let game = self.table.game().clone();
                    self.analyse_if_wanted(&game);
                }
                let state = self.state();
                self.windows.tell(window, &state);
            }
            Event::Window(WindowEvent::Left(window)) => {
                self.windows.remove(window);
                // Analysis and hints are useless without a window.
                let is_for_looks =
                    |(_, question)| matches!(question, TaskPurpose::Analysis | TaskPurpose::Hint);
                if self.windows.is_empty() && self.question.is_some_and(is_for_looks) {
                    self.question = None;
                    self.thinker.stop();
                }
            }
            Event::Window(WindowEvent::Said(window, text)) => {
                match serde_json::from_str::<PageRequest>(&text) {
                    Ok(ask) => {
                        if let Err(refusal) = self.answer(window, ask) {
                            self.refuse(window, refusal);
                        }
                    }
                    Err(_) => self.refuse(window, Refusal::BadMessage),
                }
            }
            Event::Found(number, finding) => self.handle_result(number, finding),
            Event::Moved(number, moved) => self.handle_engine_move(number, moved),
        }
    }

    fn refuse(&mut self, window: usize, refusal: Refusal) {
        self.windows.tell(window, &json!({ "is": "refused", "why": refusal }));
        // The state corrects what the page has drawn in advance.
        let state = self.state();
        self.windows.tell(window, &state);
    }

    fn state(&self) -> Value {
        let mut state = self.table.state(self.now());
        if let Value::Object(state) = &mut state {
            let is_thinking = self.engine_on_turn() && !self.table.is_paused();
            state.insert("thinking".to_owned(), is_thinking.into());
            state.insert("analysed".to_owned(), self.is_analysed.into());
            state.insert("notes".to_owned(), self.notes.clone().into());
            state.insert("session".to_owned(), self.session.clone().into());
            state.insert("game".to_owned(), self.game.into());
        }
        state
    }

    /// Called after every change: starts the engine's next task, and sends the state to all windows.
    fn changed(&mut self) {
        self.start_task();
        let state = self.state();
        self.windows.tell_all(&state);
    }

    fn engine_on_turn(&self) -> bool {
        self.table.seat_on_turn().is_some_and(|seat| *seat != PlayerKind::Person)
    }

    /// Starts the task that this position requires.
    fn start_task(&mut self) {
        self.question = None;
        self.opponent_number += 1;
        self.thinker.stop();
        let game = self.table.game().clone();
        match self.table.phase() {
            Phase::Marking(dead) if dead.is_empty() => self.ask(&game, TaskPurpose::Dead, Task::Settle),
            Phase::Playing if self.engine_on_turn() && !self.table.is_paused() => {
                match self.table.seat_on_turn() {
                    Some(PlayerKind::Kosumi { level }) => {
                        let Some(level) = Level::named(level) else { return };
                        let clock = self.table.time_left(self.now());
                        self.ask(&game, TaskPurpose::Move, Task::Choose { level, clock });
                    }
                    Some(PlayerKind::Engine { number }) => {
                        if let Some(opponent) = self.opponents.get(*number) {
                            opponent.ask(self.opponent_number, &game);
                        }
                        self.analyse_if_wanted(&game);
                    }
                    _ => {}
                }
            }
            Phase::Playing | Phase::Over(_) => self.analyse_if_wanted(&game),
            Phase::Marking(_) => {}
        }
    }

    fn analyse_if_wanted(&mut self, game: &Game) {
        if self.is_analysed && !matches!(self.table.phase(), Phase::Marking(_)) {
            let limits = Limits {
                visits: Some(ANALYSIS_VISITS),
                soft: Some(ANALYSIS_TIME),
                hard: Some(ANALYSIS_TIME),
                ..Limits::default()
            };
            self.ask(game, TaskPurpose::Analysis, Task::Study { limits });
        }
    }

    fn ask(&mut self, game: &Game, question: TaskPurpose, task: Task) {
        let number = self.thinker.ask(game, task);
        self.question = Some((number, question));
    }

    fn answer(&mut self, window: usize, ask: PageRequest) -> Result<(), Refusal> {
        let now = self.now();
        let moves = self.table.game().records().len();
        // Another window was faster.
        let is_late = |at: usize| at != moves;
        match ask {
            PageRequest::New { game } => {
                self.table.begin(&game)?;
                self.notes.clear();
                self.game += 1;
            }
            PageRequest::Play { at, place } => {
                if is_late(at) || self.engine_on_turn() {
                    return Err(Refusal::NotNow);
                }
                let mv = parse_place(self.table.game().size(), &place).ok_or(Refusal::OffBoard)?;
                self.table.play(mv, now)?;
            }
            PageRequest::Undo { at, to } => {
                if is_late(at) || !self.table.undo(to, now) {
                    return Err(Refusal::NotNow);
                }
            }
            PageRequest::Resign { at } => {
                if is_late(at) {
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
                let state = self.state();
                self.windows.tell_all(&state);
                return Ok(());
            }
            PageRequest::Settle {} => self.table.settle()?,
            PageRequest::Resume {} => self.table.resume(now)?,
            PageRequest::Pause { on } => self.table.pause(on, now),
            PageRequest::Seats { black, white } => self.table.seat(black, white)?,
            PageRequest::Load { text, bytes, partial } => {
                let bytes = file_bytes(text, &bytes).ok_or(Refusal::BadMessage)?;
                match self.table.load(&bytes, partial) {
                    Ok(notes) => {
                        self.notes = notes;
                        self.game += 1;
                    }
                    Err(bad) => {
                        self.windows.tell(
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
                    self.windows.tell(window, &state);
                    return Ok(());
                }
                self.table.restore(&game)?;
                self.game += 1;
            }
            PageRequest::Save {} => {
                let text = self.table.record(&self.engines, Some((self.today)())).to_string();
                self.windows.tell(window, &json!({ "is": "record", "game": self.game, "text": text }));
                return Ok(());
            }
            PageRequest::Look { .. } | PageRequest::Rest {} => return Err(Refusal::BadMessage),
        }
        self.changed();
        Ok(())
    }

    /// Starts an analysis of the position, unless an engine is to move.
    fn start_consultation(
        &mut self,
        at: usize,
        question: TaskPurpose,
        limits: Limits,
    ) -> Result<(), Refusal> {
        if at != self.table.game().records().len()
            || (self.engine_on_turn() && !self.table.is_paused())
            || matches!(self.table.phase(), Phase::Marking(_))
        {
            return Err(Refusal::NotNow);
        }
        let game = self.table.game().clone();
        self.ask(&game, question, Task::Study { limits });
        Ok(())
    }

    fn handle_result(&mut self, number: u64, finding: TaskResult) {
        let Some((_, question)) = self.question.filter(|(asked, _)| *asked == number) else { return };
        match finding {
            TaskResult::Chosen(decision, outlook) => {
                self.question = None;
                let is_move = matches!(decision, Decision::Play(_));
                self.decided(decision);
                if let Some(outlook) = outlook.filter(|_| is_move) {
                    self.table.add_evaluation(outlook);
                }
                self.changed();
            }
            TaskResult::Studied { game, analysis, is_last } => {
                let message = json!({
                    "is": "thought",
                    "of": match question {
                        TaskPurpose::Hint => "hint",
                        TaskPurpose::Estimate => "estimate",
                        _ => "analysis",
                    },
                    "at": game.records().len(),
                    "last": is_last,
                    "numbers": Numbers::new(&game, game.to_move(), &analysis),
                });
                self.windows.tell_all(&message);
                if is_last {
                    self.question = None;
                    if question != TaskPurpose::Analysis {
                        let game = self.table.game().clone();
                        self.analyse_if_wanted(&game);
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
                let state = self.state();
                self.windows.tell_all(&state);
            }
            TaskResult::Crashed(text) => {
                self.question = None;
                self.windows.tell_all(&json!({ "is": "trouble", "engine": "Kosumi", "text": text }));
                // The engine was restarted. It must not get the task that crashed it again, so play is paused and the
                // analysis ended.
                self.table.pause(true, self.now());
                self.is_analysed = false;
                self.changed();
            }
        }
    }

    fn decided(&mut self, decision: Decision) {
        let now = self.now();
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

    fn handle_engine_move(&mut self, number: u64, moved: Result<Decision, String>) {
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
                self.windows.tell_all(&json!({ "is": "trouble", "engine": name, "text": text }));
                self.table.pause(true, self.now());
            }
        }
        self.changed();
    }
}
