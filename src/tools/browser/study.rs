//! `kosumi review GAME.sgf --live`: the page of a review with the engine.
//!
//! The page is available at once. The review runs on a separate thread, and pages load it when it is done. Meanwhile
//! and afterwards, another engine analyses the positions that users select. Each window selects one position, and the
//! engine alternates between the windows.

use super::engine_thread::EngineThread;
use super::http::Resource;
use super::play::ServerSettings;
use super::server::{Pages, Server, WindowEvent};
use super::windows::Windows;
use crate::panics::caught;
use crate::review::{self, Numbers, PositionReview, Reviewed, TriedPosition, place};
use crate::words::color_letter;
use kosumi_board::play::{PageRequest, Refusal, Task, TaskResult, file_bytes, parse_place};
use kosumi_go::board::Move;
use kosumi_go::game::Game;
use kosumi_search::Limits;
use serde_json::json;
use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Time for one window's position before the engine turns to the next window.
const WINDOW_TIME: Duration = Duration::from_millis(400);
/// Maximum time of the analysis of one position.
const LOOK_TIME: Duration = Duration::from_secs(600);
/// Maximum visits of the analysis of one position.
const LOOK_VISITS: u32 = 100_000;
/// Maximum number of moves that a user may try after a position of the game.
const MAX_LINE_MOVES: usize = 400;
/// Maximum number of analysed positions that are stored.
const MAX_ANALYSED_POSITIONS: usize = 4000;
/// Maximum number of characters of an error message about a record.
const MESSAGE_CHARACTERS: usize = 200;

/// Function that prepares a review of a record, without any search. Returns a message if the record is invalid.
pub type PrepareReview = dyn Fn(&[u8]) -> Result<Reviewed, String> + Send + Sync;
/// Function that makes a whole review, possibly in several passes of increasing length. The first callback gets the
/// number of finished positions of a pass and their total, the second one the result of the pass.
pub type RunReview =
    dyn Fn(&[u8], &mut dyn FnMut(usize, usize), &mut dyn FnMut(Reviewed)) -> Result<(), String> + Send + Sync;

/// Functions that make reviews, with and without searches.
pub struct Reviewer {
    /// Prepares the review without searches.
    pub bare: Box<PrepareReview>,
    /// Makes the whole review.
    pub whole: Box<RunReview>,
}

impl std::fmt::Debug for Reviewer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reviewer").finish_non_exhaustive()
    }
}

/// Event for the main thread of the server.
enum Event {
    Window(WindowEvent),
    Found(u64, TaskResult),
    /// Progress of the review of the game with this number: positions done and total.
    Progress(u64, usize, usize),
    /// Result of a pass of the review.
    Reviewed(u64, Box<Reviewed>),
    /// End of the review, or its failure.
    Done(u64, Result<(), String>),
}

impl From<WindowEvent> for Event {
    fn from(event: WindowEvent) -> Event {
        Event::Window(event)
    }
}

/// Current page, shared with the connection threads.
struct CurrentPage(Mutex<Arc<Resource>>);

impl CurrentPage {
    fn new(reviewed: &Reviewed, run: u64) -> CurrentPage {
        CurrentPage(Mutex::new(Arc::new(page(reviewed, run))))
    }

    fn show(&self, reviewed: &Reviewed, run: u64) {
        let page = Arc::new(page(reviewed, run));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = page;
    }

    fn resource(&self, place: &str) -> Option<Resource> {
        let page = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        place.is_empty().then(|| (*page).clone())
    }
}

fn page(reviewed: &Reviewed, run: u64) -> Resource {
    let (body, policy) = review::live_page(reviewed, run);
    // A `meta` element cannot set this directive, which forbids all sites to frame the page.
    Resource { kind: "text/html", body, policy: format!("{policy}; frame-ancestors 'none'") }
}

/// Position in a review: a step of the main line, followed by further moves.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct ReviewPosition {
    step: usize,
    line: Vec<Move>,
}

/// Serves the review of a record until the process ends. Calls `ready` with the URL, and with a URL that works once.
///
/// # Errors
///
/// Returns an error if the address cannot be listened on or the record cannot be used.
pub fn study(
    setup: ServerSettings,
    reviewer: Reviewer,
    record: &[u8],
    ready: &mut dyn FnMut(&str, &str),
) -> io::Result<()> {
    let reviewed = (reviewer.bare)(record).map_err(io::Error::other)?;
    let server = Server::new(setup.address, setup.token)?;
    let (events, received) = mpsc::channel();
    let sender = events.clone();
    let engine_thread = EngineThread::start(setup.make, move |number, finding| {
        // At the end of the process the receiver no longer exists.
        let _ = sender.send(Event::Found(number, finding));
    })?;
    let page = Arc::new(CurrentPage::new(&reviewed, 0));
    let (url, once) = (server.url(), server.url_once());
    let shown = Arc::clone(&page);
    let pages = Pages::new(events.clone(), move |place: &str| shown.resource(place));
    thread::Builder::new().name("server".to_owned()).spawn(move || server.serve(pages))?;
    let mut review_server = ReviewServer {
        page,
        events,
        reviewer: Arc::new(reviewer),
        reviewed,
        run: 0,
        game: 0,
        is_reviewing: false,
        waiting: None,
        windows: Windows::default(),
        engine_thread,
        selected: BTreeMap::new(),
        current_task: None,
        analysed: BTreeMap::new(),
    };
    ready(&url, &once);
    review_server.review(record.to_vec());
    for event in received {
        review_server.handle_event(event);
    }
    Ok(())
}

struct ReviewServer {
    page: Arc<CurrentPage>,
    events: Sender<Event>,
    reviewer: Arc<Reviewer>,
    reviewed: Reviewed,
    /// Number of pages shown so far.
    run: u64,
    /// Number of games loaded so far.
    game: u64,
    is_reviewing: bool,
    /// Record to review next.
    waiting: Option<Vec<u8>>,
    windows: Windows,
    engine_thread: EngineThread,
    /// Selected position of each window.
    selected: BTreeMap<usize, ReviewPosition>,
    /// Number of the engine's current task, and the window that it is for.
    current_task: Option<(u64, usize)>,
    /// Reviews of positions outside the game.
    analysed: BTreeMap<ReviewPosition, PositionReview>,
}

impl ReviewServer {
    /// Starts a review of a record. While another review runs, keeps the record until that one is done.
    fn review(&mut self, record: Vec<u8>) {
        if self.is_reviewing {
            self.waiting = Some(record);
            return;
        }
        let (game, events, reviewer) = (self.game, self.events.clone(), Arc::clone(&self.reviewer));
        let work = move || {
            let mut progress = |done, total| {
                let _ = events.send(Event::Progress(game, done, total));
            };
            let mut show = |reviewed| {
                let _ = events.send(Event::Reviewed(game, Box::new(reviewed)));
            };
            // The next record waits for the end of this review.
            let done = caught(|| (reviewer.whole)(&record, &mut progress, &mut show)).flatten();
            let _ = events.send(Event::Done(game, done));
        };
        // The stack is as large as that of a main thread.
        let thread = thread::Builder::new().name("review".to_owned()).stack_size(8 << 20).spawn(work);
        self.is_reviewing = thread.is_ok();
    }

    fn handle_event(&mut self, event: Event) {
        match event {
            Event::Window(WindowEvent::Joined(window, sender)) => {
                self.windows.add(window, sender);
                // A page that was loaded before this result reloads.
                self.windows.send(window, &json!({ "is": "reviewed", "run": self.run }));
            }
            Event::Window(WindowEvent::Left(window)) => {
                self.windows.remove(window);
                self.selected.remove(&window);
                if self.current_task.is_some_and(|(_, whose)| whose == window) {
                    self.analyse_next_window(window);
                }
            }
            Event::Window(WindowEvent::Received(window, text)) => {
                let answered = match serde_json::from_str::<PageRequest>(&text) {
                    Ok(ask) => self.answer(window, ask),
                    Err(_) => Err(Refusal::BadMessage),
                };
                if let Err(refusal) = answered {
                    self.windows.send(window, &json!({ "is": "refused", "why": refusal }));
                }
            }
            Event::Found(number, finding) => self.found(number, finding),
            Event::Progress(game, done, total) if game == self.game => {
                self.windows.send_to_all(&json!({ "is": "progress", "done": done, "total": total }));
            }
            Event::Reviewed(game, reviewed) if game == self.game => self.show(*reviewed, true),
            Event::Progress(..) | Event::Reviewed(..) => {}
            Event::Done(game, done) => {
                self.is_reviewing = false;
                if let Err(text) = done
                    && game == self.game
                {
                    let text: String = text.chars().take(MESSAGE_CHARACTERS).collect();
                    self.windows.send_to_all(&json!({ "is": "trouble", "engine": "Kosumi", "text": text }));
                }
                if let Some(record) = self.waiting.take() {
                    self.review(record);
                }
            }
        }
    }

    /// Shows another game, or the current one with new results.
    fn show(&mut self, reviewed: Reviewed, is_same_game: bool) {
        self.reviewed = reviewed;
        self.run += 1;
        if !is_same_game {
            self.game += 1;
            self.analysed.clear();
        }
        self.selected.clear();
        self.current_task = None;
        self.engine_thread.stop();
        self.page.show(&self.reviewed, self.run);
        self.windows.send_to_all(&json!({ "is": "reviewed", "run": self.run }));
    }

    fn answer(&mut self, window: usize, ask: PageRequest) -> Result<(), Refusal> {
        match ask {
            PageRequest::Look { step, line } => self.look(window, step, &line),
            PageRequest::Rest {} => {
                self.selected.remove(&window);
                Ok(())
            }
            PageRequest::Save {} => {
                let tried = self.analysed.iter().map(|(position, analysis)| TriedPosition {
                    step: position.step,
                    line: position.line.clone(),
                    analysis: analysis.clone(),
                });
                let text = review::annotated_with(&self.reviewed, tried).to_string();
                self.windows.send(window, &json!({ "is": "record", "name": "reviewed.sgf", "text": text }));
                Ok(())
            }
            // The review page itself reports which part of a record cannot be followed.
            PageRequest::Load { text, bytes, .. } => {
                let bytes = file_bytes(text, &bytes).ok_or(Refusal::BadMessage)?;
                match (self.reviewer.bare)(&bytes) {
                    Ok(bare) => {
                        self.show(bare, false);
                        self.review(bytes);
                    }
                    Err(text) => {
                        let message = json!({ "is": "refused", "why": Refusal::BadRecord, "text": text });
                        self.windows.send(window, &message);
                    }
                }
                Ok(())
            }
            _ => Err(Refusal::BadMessage),
        }
    }

    /// Returns the game at a position.
    fn game(&self, position: &ReviewPosition) -> Result<Game, Refusal> {
        let line = &self.reviewed.line;
        let mut game = line.game_at(position.step).ok_or(Refusal::OffBoard)?;
        for &mv in &position.line {
            game.play(game.to_move(), mv)?;
        }
        Ok(game)
    }

    fn look(&mut self, window: usize, step: usize, places: &[String]) -> Result<(), Refusal> {
        if places.len() > MAX_LINE_MOVES {
            return Err(Refusal::TooLong);
        }
        let size = self.reviewed.line.size();
        let line: Option<Vec<Move>> = places.iter().map(|place| parse_place(size, place)).collect();
        let position = ReviewPosition { step, line: line.ok_or(Refusal::OffBoard)? };
        let game = self.game(&position)?;
        if let Some(record) = game.records().last().filter(|_| !places.is_empty()) {
            let lifted: String = record.lifted.iter().map(|&point| place(size, Move::Play(point))).collect();
            let message = json!({
                "is": "position",
                "step": step,
                "line": places,
                "color": color_letter(record.color).to_string(),
                "turn": color_letter(game.to_move()).to_string(),
                "lifted": lifted,
            });
            self.windows.send(window, &message);
        }
        if self.selected.get(&window) != Some(&position) {
            self.selected.insert(window, position);
            // The latest selection has priority.
            self.ask(window);
        }
        Ok(())
    }

    /// Starts the analysis of a window's position.
    fn ask(&mut self, window: usize) {
        self.current_task = None;
        let Some(position) = self.selected.get(&window) else { return };
        let Ok(game) = self.game(position) else { return };
        if game.is_over() {
            self.engine_thread.stop();
            return;
        }
        let time = if self.selected.len() > 1 { WINDOW_TIME } else { LOOK_TIME };
        let limits = Limits { visits: Some(LOOK_VISITS), ..Limits::time(time) };
        self.current_task = Some((self.engine_thread.ask(&game, Task::Study { limits }), window));
    }

    /// Gives the engine to the next window after `after`.
    fn analyse_next_window(&mut self, after: usize) {
        let next = self.selected.range(after + 1..).next().or_else(|| self.selected.iter().next());
        match next.map(|(&window, _)| window) {
            Some(window) => self.ask(window),
            None => {
                self.current_task = None;
                self.engine_thread.stop();
            }
        }
    }

    fn found(&mut self, number: u64, finding: TaskResult) {
        let Some((_, window)) = self.current_task.filter(|(asked, _)| *asked == number) else { return };
        match finding {
            TaskResult::Studied { game, analysis, is_last } => {
                let Some(position) = self.selected.get(&window).cloned() else { return };
                let size = game.size();
                let line: Vec<String> = position.line.iter().map(|&mv| place(size, mv)).collect();
                let message = json!({
                    "is": "thought",
                    "step": position.step,
                    "line": line,
                    "numbers": Numbers::new(&game, game.to_move(), &analysis),
                });
                self.windows.send_to_all(&message);
                let is_better =
                    self.analysed.get(&position).is_none_or(|known| known.visits <= analysis.visits);
                let has_space =
                    self.analysed.len() < MAX_ANALYSED_POSITIONS || self.analysed.contains_key(&position);
                if is_better && has_space && !position.line.is_empty() {
                    self.analysed.insert(position, (*analysis).clone());
                }
                // A single window is not searched again when its position has reached the maximum number of visits.
                if is_last && (self.selected.len() > 1 || analysis.visits < LOOK_VISITS) {
                    self.analyse_next_window(window);
                }
            }
            TaskResult::Crashed(text) => {
                self.current_task = None;
                self.selected.clear();
                self.windows.send_to_all(&json!({ "is": "trouble", "engine": "Kosumi", "text": text }));
            }
            TaskResult::Chosen(..) | TaskResult::Settled(_) | TaskResult::Solved(_) => {}
        }
    }
}
