//! `kosumi play`: one table, the windows around it, and the engines that play or explain.

use super::http::Resource;
use super::message::{Ask, Seat, file_bytes, parse_place};
use super::opponent::Opponent;
use super::page;
use super::server::{Server, Site};
use super::strength::Level;
use super::table::{Phase, Refusal, Table, choices};
use super::thinker::{Finding, MakeEngine, Task, Thinker};
use super::windows::{self, Windows};
use crate::review::Numbers;
use kosumi_engine::Decision;
use kosumi_go::board::{BoardSize, Move};
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_search::Limits;
use serde_json::{Value, json};
use std::io;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A hint is thought about so long.
const HINT_TIME: Duration = Duration::from_millis(1500);
/// An estimate is worth so many simulations, and no more time than that.
const ESTIMATE_VISITS: u32 = 120;
/// A position that is looked at is not searched further than that.
const ANALYSIS_VISITS: u32 = 50_000;
/// …nor longer.
const ANALYSIS_TIME: Duration = Duration::from_secs(600);

/// What a server is started with.
#[derive(Clone)]
pub struct Setup {
    /// Where to listen; port 0 is any that is free.
    pub address: SocketAddr,
    /// The secret word in the address, instead of a random one.
    pub token: Option<String>,
    /// Makes the engine.
    pub make: MakeEngine,
    /// Says the date, for records.
    pub today: fn() -> String,
}

impl std::fmt::Debug for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup").field("address", &self.address).finish_non_exhaustive()
    }
}

/// The table that stands there at first.
#[derive(Clone, PartialEq, Debug)]
pub struct FirstGame {
    /// Columns and rows.
    pub size: BoardSize,
    /// Rules.
    pub rules: Rules,
    /// Points for White.
    pub komi: f32,
    /// A record to go on with instead.
    pub record: Option<Vec<u8>>,
    /// Is as much of it wanted as can be followed?
    pub is_partial: bool,
    /// Command lines of other engines.
    pub engines: Vec<String>,
}

/// Something that happens.
enum Event {
    Joined(usize, SyncSender<Arc<str>>),
    Said(usize, String),
    Left(usize),
    Found(u64, Finding),
    Moved(u64, Result<Decision, String>),
}

/// The side of the windows.
struct Hall {
    events: Mutex<Sender<Event>>,
}

impl Hall {
    fn send(&self, event: Event) -> ControlFlow<()> {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.send(event).map_or(ControlFlow::Break(()), ControlFlow::Continue)
    }
}

impl Site for Hall {
    fn resource(&self, place: &str) -> Option<Resource> {
        page::resource(place)
    }

    fn join(&self, window: usize) -> Option<Receiver<Arc<str>>> {
        let (sender, receiver) = windows::channel();
        self.send(Event::Joined(window, sender)).is_continue().then_some(receiver)
    }

    fn said(&self, window: usize, text: &str) -> ControlFlow<()> {
        self.send(Event::Said(window, text.to_owned()))
    }

    fn left(&self, window: usize) {
        let _ = self.send(Event::Left(window));
    }
}

/// What the engine has been asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Question {
    /// For a move.
    Move,
    /// For the best moves, as long as somebody looks.
    Analysis,
    Hint,
    Estimate,
    /// For dead stones.
    Dead,
}

/// Serves a table until the process ends. `ready` is told the address, and one that opens it once.
///
/// # Errors
/// If the address cannot be listened on, or a record or an engine is of no use.
pub fn play(setup: Setup, first: &FirstGame, ready: &mut dyn FnMut(&str, &str)) -> io::Result<()> {
    let server = Server::new(setup.address, setup.token)?;
    let (events, happened) = mpsc::channel();
    let mut table = Table::new(first.size, first.rules, first.komi, first.engines.len());
    let mut notes = Vec::new();
    if let Some(bytes) = &first.record {
        notes = table.load(bytes, first.is_partial).map_err(|bad| {
            let why = if bad.text.is_empty() { "it is too long".to_owned() } else { bad.text };
            io::Error::other(format!("the record cannot be gone on with: {why}"))
        })?;
    }
    let tell = events.clone();
    let thinker = Thinker::start(setup.make, move |number, finding| {
        // Nobody listens any more when the process ends.
        let _ = tell.send(Event::Found(number, finding));
    })?;
    let mut opponents = Vec::new();
    for command in &first.engines {
        let tell = events.clone();
        let opponent = Opponent::new(command, move |number, moved| {
            let _ = tell.send(Event::Moved(number, moved));
        });
        opponents.push(opponent.map_err(io::Error::other)?);
    }
    let (url, once) = (server.url(), server.url_once());
    let hall = Arc::new(Hall { events: Mutex::new(events) });
    thread::Builder::new().name("server".to_owned()).spawn(move || server.serve(&hall))?;
    let session = url_word(&url, std::process::id());
    let mut room = Room {
        table,
        windows: Windows::default(),
        thinker,
        opponents,
        engines: first.engines.clone(),
        question: None,
        opponent_number: 0,
        is_analysed: false,
        notes,
        today: setup.today,
        session,
        begin: Instant::now(),
    };
    ready(&url, &once);
    room.go_on();
    room.run(&happened)
}

/// Tells one run of the server from another.
fn url_word(url: &str, process: u32) -> String {
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{process}-{}-{}", time.as_micros(), url.len())
}

struct Room {
    table: Table,
    windows: Windows,
    thinker: Thinker,
    opponents: Vec<Opponent>,
    engines: Vec<String>,
    /// What the engine is at, and the number of the task.
    question: Option<(u64, Question)>,
    /// The number of the last question to another engine; an answer to an older one is of no interest.
    opponent_number: u64,
    is_analysed: bool,
    /// What there is to say of the record that the game comes from.
    notes: Vec<String>,
    today: fn() -> String,
    session: String,
    begin: Instant,
}

impl Room {
    fn now(&self) -> Duration {
        self.begin.elapsed()
    }

    fn run(&mut self, happened: &Receiver<Event>) -> io::Result<()> {
        loop {
            let wait = self.table.flag_falls().map(|at| at.saturating_sub(self.now()));
            match happened.recv_timeout(wait.unwrap_or(Duration::from_secs(3600))) {
                Ok(event) => self.happen(event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if self.table.flag(self.now()) {
                self.changed();
            }
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Joined(window, sender) => {
                self.windows.add(window, sender);
                self.windows.tell(window, &choices(&self.engines));
                if self.question.is_none() && !self.engine_on_turn() {
                    let game = self.table.game().clone();
                    self.analyse_if_wanted(&game);
                }
                let state = self.state();
                self.windows.tell(window, &state);
            }
            Event::Left(window) => {
                self.windows.remove(window);
                // Nobody looks.
                let is_for_looks = |(_, question)| matches!(question, Question::Analysis | Question::Hint);
                if self.windows.is_empty() && self.question.is_some_and(is_for_looks) {
                    self.question = None;
                    self.thinker.stop();
                }
            }
            Event::Said(window, text) => match serde_json::from_str::<Ask>(&text) {
                Ok(ask) => {
                    if let Err(refusal) = self.answer(window, ask) {
                        self.refuse(window, refusal);
                    }
                }
                Err(_) => self.refuse(window, Refusal::BadMessage),
            },
            Event::Found(number, finding) => self.found(number, finding),
            Event::Moved(number, moved) => self.moved(number, moved),
        }
    }

    fn refuse(&mut self, window: usize, refusal: Refusal) {
        self.windows.tell(window, &json!({ "is": "refused", "why": refusal }));
        // What the page has drawn too early is put right.
        let state = self.state();
        self.windows.tell(window, &state);
    }

    fn state(&self) -> Value {
        let mut state = self.table.state(&self.engines, self.now(), Some((self.today)()));
        if let Value::Object(state) = &mut state {
            let is_thinking = self.engine_on_turn() && !self.table.is_paused();
            state.insert("thinking".to_owned(), is_thinking.into());
            state.insert("analysed".to_owned(), self.is_analysed.into());
            state.insert("notes".to_owned(), self.notes.clone().into());
            state.insert("session".to_owned(), self.session.clone().into());
        }
        state
    }

    /// After a change: all windows are told, and the engine does what is to be done now.
    fn changed(&mut self) {
        self.go_on();
        let state = self.state();
        self.windows.tell_all(&state);
    }

    fn engine_on_turn(&self) -> bool {
        self.table.seat_on_turn().is_some_and(|seat| *seat != Seat::Person)
    }

    /// Gives the engine what is to be done in this position.
    fn go_on(&mut self) {
        self.question = None;
        self.opponent_number += 1;
        self.thinker.stop();
        let game = self.table.game().clone();
        match self.table.phase() {
            Phase::Marking(dead) if dead.is_empty() => self.ask(&game, Question::Dead, Task::Settle),
            Phase::Playing if self.engine_on_turn() && !self.table.is_paused() => {
                match self.table.seat_on_turn() {
                    Some(Seat::Kosumi { level }) => {
                        let Some(level) = Level::named(level) else { return };
                        let clock = self.table.time_left(self.now());
                        self.ask(&game, Question::Move, Task::Choose { level, clock });
                    }
                    Some(Seat::Engine { number }) => {
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
            self.ask(game, Question::Analysis, Task::Study { limits });
        }
    }

    fn ask(&mut self, game: &Game, question: Question, task: Task) {
        let number = self.thinker.ask(game, task);
        self.question = Some((number, question));
    }

    fn answer(&mut self, window: usize, ask: Ask) -> Result<(), Refusal> {
        let now = self.now();
        let moves = self.table.game().records().len();
        // Another window was faster.
        let is_late = |at: usize| at != moves;
        match ask {
            Ask::New { game } => {
                self.table.begin(&game)?;
                self.notes.clear();
            }
            Ask::Play { at, place } => {
                if is_late(at) || self.engine_on_turn() {
                    return Err(Refusal::NotNow);
                }
                let mv = parse_place(self.table.game().size(), &place).ok_or(Refusal::OffBoard)?;
                self.table.play(mv, now)?;
            }
            Ask::Undo { at, to } => {
                if is_late(at) || !self.table.undo(to, now) {
                    return Err(Refusal::NotNow);
                }
            }
            Ask::Resign { at } => {
                if is_late(at) {
                    return Err(Refusal::NotNow);
                }
                self.table.resign_person()?;
            }
            Ask::Analyse { on } => self.is_analysed = on,
            Ask::Hint { at } => return self.consult(at, Question::Hint, Limits::time(HINT_TIME)),
            Ask::Estimate { at } => {
                let limits = Limits { visits: Some(ESTIMATE_VISITS), ..Limits::time(2 * HINT_TIME) };
                return self.consult(at, Question::Estimate, limits);
            }
            Ask::Mark { place } => {
                let mv = parse_place(self.table.game().size(), &place).ok_or(Refusal::OffBoard)?;
                self.table.mark(mv)?;
                // Nobody asks the engine again when all marks are gone.
                let state = self.state();
                self.windows.tell_all(&state);
                return Ok(());
            }
            Ask::Settle {} => self.table.settle()?,
            Ask::Resume {} => self.table.resume(now)?,
            Ask::Pause { on } => self.table.pause(on, now),
            Ask::Seats { black, white } => self.table.seat(black, white)?,
            Ask::Load { text, bytes, partial } => {
                let bytes = file_bytes(text, &bytes).ok_or(Refusal::BadMessage)?;
                match self.table.load(&bytes, partial) {
                    Ok(notes) => self.notes = notes,
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
            Ask::Restore { text, black, white } => {
                if !self.table.is_fresh() {
                    let state = self.state();
                    self.windows.tell(window, &state);
                    return Ok(());
                }
                // The page had it from here: what cannot be followed was not there either.
                self.table.load(text.as_bytes(), true)?;
                self.table.seat(black, white)?;
            }
            Ask::Look { .. } | Ask::Rest {} | Ask::Save {} => return Err(Refusal::BadMessage),
        }
        self.changed();
        Ok(())
    }

    /// Asks the engine about the position, while no engine is on turn.
    fn consult(&mut self, at: usize, question: Question, limits: Limits) -> Result<(), Refusal> {
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

    fn found(&mut self, number: u64, finding: Finding) {
        let Some((_, question)) = self.question.filter(|(asked, _)| *asked == number) else { return };
        match finding {
            Finding::Chosen(decision, outlook) => {
                self.question = None;
                let is_move = matches!(decision, Decision::Play(_));
                self.decided(decision);
                if let Some(outlook) = outlook.filter(|_| is_move) {
                    self.table.note(outlook);
                }
                self.changed();
            }
            Finding::Studied { game, analysis, is_last } => {
                let message = json!({
                    "is": "thought",
                    "of": match question {
                        Question::Hint => "hint",
                        Question::Estimate => "estimate",
                        _ => "analysis",
                    },
                    "at": game.records().len(),
                    "last": is_last,
                    "numbers": Numbers::new(&game, game.to_move(), &analysis),
                });
                self.windows.tell_all(&message);
                if is_last {
                    self.question = None;
                    if question != Question::Analysis {
                        let game = self.table.game().clone();
                        self.analyse_if_wanted(&game);
                    }
                }
            }
            Finding::Settled(dead) => {
                self.question = None;
                self.table.set_dead(*dead);
                if self.table.is_without_people() {
                    // Nobody is there who could object.
                    let settled = self.table.settle();
                    debug_assert_eq!(settled, Ok(()));
                }
                let state = self.state();
                self.windows.tell_all(&state);
            }
            Finding::Crashed(text) => {
                self.question = None;
                self.windows.tell_all(&json!({ "is": "trouble", "engine": "Kosumi", "text": text }));
                // It has begun anew; what was to be done still is, unless that is what it cannot bear.
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
            // What an engine does that the rules forbid is no move.
            let passed = self.table.play(Move::Pass, now);
            debug_assert_eq!(passed, Ok(()));
        }
    }

    fn moved(&mut self, number: u64, moved: Result<Decision, String>) {
        if number != self.opponent_number || !self.engine_on_turn() {
            return;
        }
        match moved {
            Ok(decision) => self.decided(decision),
            Err(text) => {
                let name = match self.table.seat_on_turn() {
                    Some(Seat::Engine { number }) => self.engines.get(*number).cloned().unwrap_or_default(),
                    _ => String::new(),
                };
                self.windows.tell_all(&json!({ "is": "trouble", "engine": name, "text": text }));
                self.table.pause(true, self.now());
            }
        }
        self.changed();
    }
}
