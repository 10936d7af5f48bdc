//! `kosumi play`: one table, its windows, and the engines that play or analyse.

use super::engine_thread::EngineThread;
use super::http::Resource;
use super::opponent::ExternalEngine;
use super::server::{Pages, Server, WindowEvent};
use super::windows::Windows;
use crate::panics::caught;
use crate::review::{self, Reviewed};
use kosumi_board::pages::texts_files;
use kosumi_board::play::{
    EnginePurpose, Host, MakeEngine, POLICY, PageKind, TableSession, Task, TaskResult, page, review_record,
    script, style,
};
use kosumi_engine::Decision;
use kosumi_go::board::BoardSize;
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_gtp::split_command_line;
use serde_json::Value;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Settings of a server.
#[derive(Clone)]
pub struct ServerSettings {
    /// Address to listen on. Port 0 selects a free port.
    pub address: SocketAddr,
    /// Token in the address; `None` for a random one.
    pub token: Option<String>,
    /// Function that creates an engine.
    pub make: MakeEngine,
    /// Function that returns the date for records.
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
    /// Komi: points for White.
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

/// Returns the resource of the page with this path, which is the part of the request target after the token.
fn resource(place: &str) -> Option<Resource> {
    let resource = |kind, body| Some(Resource { kind, body, policy: POLICY.to_owned() });
    match place {
        "" => resource("text/html", page(PageKind::Program)),
        "play.js" => resource("text/javascript", script(PageKind::Program)),
        "play.css" => resource("text/css", style()),
        _ => {
            let (_, texts) = texts_files().find(|(name, _)| name == place)?;
            resource("application/json", texts)
        }
    }
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
    let (events, received) = mpsc::channel();
    let sender = events.clone();
    let make = Arc::clone(&setup.make);
    let engine_thread = EngineThread::start(setup.make, move |number, finding| {
        // At the end of the process the receiver no longer exists.
        let _ = sender.send(Event::Found(number, finding));
    })?;
    let mut opponents = Vec::new();
    for command in &first.engines {
        let sender = events.clone();
        let opponent = ExternalEngine::new(command, move |number, moved| {
            let _ = sender.send(Event::Moved(number, moved));
        });
        opponents.push(opponent.map_err(io::Error::other)?);
    }
    let (url, once) = (server.url(), server.url_once());
    let review_page = ReviewPage::default();
    let shown = review_page.clone();
    let pages = Pages::new(events.clone(), move |place: &str| match place {
        "review" => shown.resource(),
        _ => resource(place),
    });
    thread::Builder::new().name("server".to_owned()).spawn(move || server.serve(pages))?;
    let session = run_id(&url, std::process::id());
    let host = PlayHost {
        windows: Windows::default(),
        engine_thread,
        opponents,
        events,
        make,
        review_page,
        review_end: Arc::default(),
        today: setup.today,
    };
    let names = engine_names(&first.engines);
    let mut session = TableSession::new(host, first.size, first.rules, first.komi, names, session);
    if let Some(bytes) = &first.record {
        session.load(bytes, first.is_partial).map_err(|bad| {
            let why = if bad.text.is_empty() { "it has too many moves".to_owned() } else { bad.text };
            io::Error::other(format!("the record cannot be loaded: {why}"))
        })?;
    }
    let begin = Instant::now();
    ready(&url, &once);
    session.begin(begin.elapsed());
    run(&mut session, &received, begin)
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

/// Returns a text that identifies this run of the server.
fn run_id(url: &str, process: u32) -> String {
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{process}-{}-{}", time.as_micros(), url.len())
}

/// Server behind a table: its windows and its engines.
struct PlayHost {
    windows: Windows,
    engine_thread: EngineThread,
    opponents: Vec<ExternalEngine>,
    events: Sender<Event>,
    make: MakeEngine,
    review_page: ReviewPage,
    /// Flag that ends the running review when it is set.
    review_end: Arc<AtomicBool>,
    today: fn() -> String,
}

impl Host for PlayHost {
    fn send(&mut self, window: usize, message: &Value) {
        self.windows.send(window, message);
    }

    fn send_to_all(&mut self, message: &Value) {
        self.windows.send_to_all(message);
    }

    fn has_windows(&self) -> bool {
        !self.windows.is_empty()
    }

    fn start_task(&mut self, game: &Game, task: Task) -> u64 {
        self.engine_thread.ask(game, task)
    }

    fn stop_task(&mut self) {
        self.engine_thread.stop();
    }

    fn ask_engine(&mut self, engine: usize, number: u64, game: &Game) {
        if let Some(opponent) = self.opponents.get(engine) {
            opponent.ask(number, game);
        }
    }

    /// Starts a review on a separate thread.
    fn start_review(&mut self, number: u64, record: String) -> bool {
        let (events, make) = (self.events.clone(), Arc::clone(&self.make));
        self.review_end = Arc::default();
        let is_ended = Arc::clone(&self.review_end);
        let work = move || {
            let mut progress = |done, total| {
                let _ = events.send(Event::ReviewProgress(number, done, total));
            };
            let made = caught(|| {
                let mut engine = make(EnginePurpose::Level);
                let interrupted = || is_ended.load(Ordering::Relaxed);
                review_record(record.as_bytes(), &mut engine, &interrupted, &mut progress)
            });
            let _ = events.send(Event::Reviewed(number, made.ok().flatten().map(Box::new)));
        };
        // The stack is as large as that of a main thread.
        thread::Builder::new().name("review".to_owned()).stack_size(8 << 20).spawn(work).is_ok()
    }

    fn end_review(&mut self) {
        self.review_end.store(true, Ordering::Relaxed);
        self.review_page.show(None);
    }

    fn today(&self) -> Option<String> {
        Some((self.today)())
    }
}

/// Handles events until the process ends.
fn run(session: &mut TableSession<PlayHost>, received: &Receiver<Event>, begin: Instant) -> io::Result<()> {
    loop {
        let wait = session.wake_time().map(|at| at.saturating_sub(begin.elapsed()));
        match received.recv_timeout(wait.unwrap_or(Duration::from_secs(3600))) {
            Ok(event) => handle_event(session, event, begin.elapsed()),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        session.check_time(begin.elapsed());
    }
}

fn handle_event(session: &mut TableSession<PlayHost>, event: Event, now: Duration) {
    match event {
        Event::Window(WindowEvent::Joined(window, sender)) => {
            session.host().windows.add(window, sender);
            session.handle_open(window, now);
        }
        Event::Window(WindowEvent::Left(window)) => {
            session.host().windows.remove(window);
            session.handle_close();
        }
        Event::Window(WindowEvent::Received(window, text)) => session.handle_message(window, &text, now),
        Event::Found(number, finding) => session.handle_result(number, finding, now),
        Event::Moved(number, moved) => session.handle_engine_move(number, moved, now),
        Event::ReviewProgress(number, done, total) => session.handle_review_progress(number, done, total),
        Event::Reviewed(number, reviewed) => {
            if let Some(reviewed) = &reviewed
                && session.is_reviewing(number)
            {
                let (body, policy) = review::served_page(reviewed);
                let policy = format!("{policy}; frame-ancestors 'none'");
                let page = Resource { kind: "text/html", body, policy };
                session.host().review_page.show(Some(page));
            }
            session.handle_review_end(number, reviewed.is_some());
        }
    }
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

    #[test]
    fn only_the_parts_of_the_page_are_served() {
        for place in ["", "play.js", "play.css"] {
            assert!(resource(place).is_some(), "{place}");
        }
        for place in ["../Cargo.toml", "index.html", "play.rs"] {
            assert_eq!(resource(place), None, "{place}");
        }
    }
}
