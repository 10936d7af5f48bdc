//! `kosumi play`: one table, its windows, and the engines that play or analyse.

use super::http::Resource;
use super::message::{PageRequest, PlayerKind, file_bytes, parse_place};
use super::opponent::ExternalEngine;
use super::page;
use super::server::{Server, Site, WindowEvent};
use super::strength::Level;
use super::table::{GameTable, Phase, Refusal, choices};
use super::thinker::{EnginePurpose, EngineThread, MakeEngine, MoveEvaluation, Task, TaskResult};
use super::windows::Windows;
use crate::review::{self, EngineAnalyst, Facts, Given, MainLine, Numbers, Reviewed, Scope};
use kosumi_engine::Decision;
use kosumi_go::board::{BoardSize, Move};
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::{Record, Tree};
use kosumi_gtp::split_command_line;
use kosumi_search::Limits;
use serde_json::{Value, json};
use std::io;
use std::net::SocketAddr;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
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

/// Simulations for each position of a review, by the engine of the levels.
const REVIEW_PLAYOUTS: u32 = 40;
/// Number of candidates of each position of a review.
const REVIEW_CANDIDATES: usize = 6;

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
        f.debug_struct("ServerSettings").field("address", &self.address).finish_non_exhaustive()
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
    /// Progress of the review with this number: positions done and total.
    ReviewProgress(u64, usize, usize),
    /// The review with this number; `None` if it failed.
    Reviewed(u64, Option<Box<Reviewed>>),
}

impl From<WindowEvent> for Event {
    fn from(event: WindowEvent) -> Event {
        Event::Window(event)
    }
}

/// Page of the latest review, shared with the connection threads.
#[derive(Clone, Default)]
struct ReviewPage(Arc<Mutex<Option<Resource>>>);

impl ReviewPage {
    fn show(&self, page: Option<Resource>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = page;
    }

    fn resource(&self) -> Option<Resource> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
    let make = Arc::clone(&setup.make);
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
    let review_page = ReviewPage::default();
    let shown = review_page.clone();
    let site = Site::new(events.clone(), move |place: &str| match place {
        "review" => shown.resource(),
        _ => page::resource(place),
    });
    thread::Builder::new().name("server".to_owned()).spawn(move || server.serve(site))?;
    let session = run_id(&url, std::process::id());
    let mut play_server = PlayServer {
        table,
        windows: Windows::default(),
        thinker,
        opponents,
        engines: engine_names(&first.engines),
        question: None,
        opponent_number: 0,
        is_analysed: false,
        viewed: None,
        events,
        make,
        review: ReviewState::None,
        review_page,
        review_number: 0,
        review_end: Arc::default(),
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

/// Returns short names of engines: the programs of their command lines, with numbers if a program is given more than once.
fn engine_names(commands: &[String]) -> Vec<String> {
    let programs: Vec<String> = commands
        .iter()
        .map(|command| {
            let words = split_command_line(command).unwrap_or_default();
            let program = words.into_iter().next().unwrap_or_default();
            let stem = Path::new(&program).file_stem().map(|stem| stem.to_string_lossy().into_owned());
            stem.filter(|stem| !stem.is_empty()).unwrap_or_else(|| command.clone())
        })
        .collect();
    let named = programs.iter().enumerate().map(|(index, program)| {
        let before = programs[..index].iter().filter(|other| *other == program).count();
        let is_unique = programs.iter().filter(|other| *other == program).count() == 1;
        if is_unique { program.clone() } else { format!("{program} {}", before + 1) }
    });
    named.collect()
}

/// State of the review of the game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReviewState {
    None,
    /// Positions done and total.
    Running(usize, usize),
    Done,
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
    /// Number of moves of the position that is analysed; `None` for the latest.
    viewed: Option<usize>,
    events: Sender<Event>,
    make: MakeEngine,
    review: ReviewState,
    review_page: ReviewPage,
    /// Number of the current review. Results of other reviews are ignored.
    review_number: u64,
    /// Ends the running review when set.
    review_end: Arc<AtomicBool>,
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
                self.viewed = self.viewed.filter(|_| !self.windows.is_empty());
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
            Event::ReviewProgress(number, done, total) if number == self.review_number => {
                self.set_review(ReviewState::Running(done, total));
            }
            Event::Reviewed(number, reviewed) if number == self.review_number => {
                let Some(reviewed) = reviewed else {
                    self.end_review();
                    let text = "the review has failed";
                    self.windows.tell_all(&json!({ "is": "trouble", "engine": "Kosumi", "text": text }));
                    return;
                };
                let (body, policy) = review::served_page(&reviewed);
                let policy = format!("{policy}; frame-ancestors 'none'");
                self.review_page.show(Some(Resource { kind: "text/html", body, policy }));
                self.set_review(ReviewState::Done);
            }
            Event::ReviewProgress(..) | Event::Reviewed(..) => {}
        }
    }

    fn set_review(&mut self, review: ReviewState) {
        self.review = review;
        self.windows.tell_all(&json!({ "is": "review", "review": self.review_value() }));
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
        self.review_end.store(true, Ordering::Relaxed);
        self.review_page.show(None);
        if self.review != ReviewState::None {
            self.set_review(ReviewState::None);
        }
    }

    /// Forgets what belonged to the previous game after another one was put on the table.
    fn replace_game(&mut self) {
        self.game += 1;
        self.viewed = None;
        self.end_review();
    }

    /// Starts a review of the game on a thread of its own.
    fn start_review(&mut self) -> Result<(), Refusal> {
        if self.review != ReviewState::None || self.table.game().records().is_empty() {
            return Err(Refusal::NotNow);
        }
        let text = self.table.record(&self.engines, Some((self.today)())).to_string();
        let (number, events, make) = (self.review_number, self.events.clone(), Arc::clone(&self.make));
        self.review_end = Arc::default();
        let is_ended = Arc::clone(&self.review_end);
        let work = move || {
            let mut progress = |done, total| {
                let _ = events.send(Event::ReviewProgress(number, done, total));
            };
            let made = panic::catch_unwind(AssertUnwindSafe(|| {
                reviewed(text.as_bytes(), &make, &is_ended, &mut progress)
            }));
            let _ = events.send(Event::Reviewed(number, made.ok().flatten().map(Box::new)));
        };
        // The stack is as large as that of the main thread.
        let thread = thread::Builder::new().name("review".to_owned()).stack_size(8 << 20).spawn(work);
        thread.map_err(|_| Refusal::NotNow)?;
        self.set_review(ReviewState::Running(0, 1));
        Ok(())
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
            state.insert("review".to_owned(), self.review_value());
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

    /// Starts the continuous analysis of the position that is viewed, which is that of `game` if no earlier one is selected.
    fn analyse_if_wanted(&mut self, game: &Game) {
        let earlier = self.viewed.and_then(|moves| self.table.game_at(moves));
        let game = earlier.as_ref().unwrap_or(game);
        if self.is_analysed && (earlier.is_some() || !matches!(self.table.phase(), Phase::Marking(_))) {
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
                self.replace_game();
            }
            PageRequest::View { at } => {
                if at > moves {
                    return Err(Refusal::NotNow);
                }
                let viewed = Some(at).filter(|_| at < moves);
                let can_change = self.question.is_none_or(|(_, purpose)| purpose == TaskPurpose::Analysis);
                if viewed != self.viewed {
                    self.viewed = viewed;
                    if self.is_analysed && can_change {
                        let game = self.table.game().clone();
                        self.analyse_if_wanted(&game);
                    }
                }
                return Ok(());
            }
            PageRequest::Review {} => return self.start_review(),
            PageRequest::Play { at, place } => {
                if is_late(at) || self.engine_on_turn() {
                    return Err(Refusal::NotNow);
                }
                let mv = parse_place(self.table.game().size(), &place).ok_or(Refusal::OffBoard)?;
                self.table.play(mv, now)?;
                self.viewed = None;
            }
            PageRequest::Undo { at, to } => {
                let is_done = !is_late(at)
                    && match to {
                        Some(to) => self.table.play_on_from(to, now),
                        None => self.table.undo(None, now),
                    };
                if !is_done {
                    return Err(Refusal::NotNow);
                }
                self.viewed = None;
                self.end_review();
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
            PageRequest::Resume {} => {
                self.table.resume(now)?;
                self.end_review();
            }
            PageRequest::Pause { on } => self.table.pause(on, now),
            PageRequest::Seats { black, white } => self.table.seat(black, white)?,
            PageRequest::Load { text, bytes, partial } => {
                let bytes = file_bytes(text, &bytes).ok_or(Refusal::BadMessage)?;
                match self.table.load(&bytes, partial) {
                    Ok(notes) => {
                        self.notes = notes;
                        self.replace_game();
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
                self.replace_game();
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

    /// Starts an analysis of the position after `at` moves, unless an engine is to move.
    fn start_consultation(
        &mut self,
        at: usize,
        question: TaskPurpose,
        limits: Limits,
    ) -> Result<(), Refusal> {
        let is_earlier = at < self.table.game().records().len();
        let is_settling = self.question.is_some_and(|(_, purpose)| purpose == TaskPurpose::Dead);
        if is_settling
            || (self.engine_on_turn() && !self.table.is_paused())
            || (!is_earlier && matches!(self.table.phase(), Phase::Marking(_)))
        {
            return Err(Refusal::NotNow);
        }
        let game = self.table.game_at(at).ok_or(Refusal::NotNow)?;
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
                let evaluation = MoveEvaluation {
                    win_rate: analysis.win_rate.mean,
                    score: analysis.score.mean,
                    visits: analysis.visits,
                };
                self.table.add_analysis(game.records().len(), evaluation);
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

/// Reviews a record with the engine of the levels; `None` if it was ended before the end or the record has no moves.
fn reviewed(
    bytes: &[u8],
    make: &MakeEngine,
    is_ended: &AtomicBool,
    progress: &mut dyn FnMut(usize, usize),
) -> Option<Reviewed> {
    let (record, tree) = (Record::parse(bytes).ok()?, Tree::parse(bytes).ok()?);
    let rules = record.rules().unwrap_or_default();
    let line = MainLine::of_record(&record, rules, record.komi_under(rules)).ok()?;
    let mut engine = make(EnginePurpose::Level);
    let limits = Limits::playouts(REVIEW_PLAYOUTS);
    let scope = Scope::default();
    let given = Given { limits, seed: engine.seed(), thresholds: scope.thresholds, are_rules_given: false };
    let facts = Facts::new(&tree, &record, &line, &given);
    let interrupted = || is_ended.load(Ordering::Relaxed);
    let mut analyst = EngineAnalyst {
        engine: &mut engine,
        limits,
        candidates: REVIEW_CANDIDATES,
        interrupted: &interrupted,
    };
    let review = review::review(&line, &scope, &mut analyst, progress);
    (!interrupted()).then_some(Reviewed { tree, line, review, facts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_have_short_names_of_their_own() {
        let commands =
            ["/usr/games/gnugo --mode gtp --level 1", "gnugo --mode gtp", "'/opt/my engine/leela' -g"];
        let names = engine_names(&commands.map(str::to_owned));
        assert_eq!(names, ["gnugo 1", "gnugo 2", "leela"]);
    }
}
