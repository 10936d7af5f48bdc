//! Simulation of the server, with pipes and workers that follow from a seed.
//!
//! The reading and checking of lines, the queue, the actions and the answers are the real ones. The pipes, the searches
//! and the threads are simulated: the input arrives in pieces, and between two pieces the workers take steps in any
//! order. The output may be written in parts, and its reader may go away. A simple model of the protocol determines
//! every line of the output, so that:
//!
//! * every turn of a query gets exactly one final answer, at the end of its search, or without results if it was
//!   terminated before; and a faulty query gets one error;
//! * a turn that waits is answered before the action that terminates it, and never afterwards; a turn that is being
//!   searched is answered once, after the action;
//! * turns are searched in the order of their priorities;
//! * if the reader goes away, the client has read the beginning of these lines, and the server ends.

use super::*;
use crate::simulation::{Counts, run_seeds};
use kosumi_go::board::BoardSize;
use kosumi_go::game::Game;
use kosumi_go::rng::Rng;
use kosumi_go::rules::Rules;
use kosumi_net::random;
use kosumi_search::{Limits, Restriction};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::LazyLock;

/// Maximum number of lines of a client.
const LINES: u32 = 30;

/// Analyst of the server, which is never called, and the analysis that all simulated searches find.
static ANALYST: LazyLock<(Analyst, Analysis)> = LazyLock::new(|| {
    let network = Arc::new(random::network(&random::Options::default()).expect("a network"));
    let settings = Config::default().settings.for_game(&game());
    let analyst = Analyst::new(network, None, settings.network, 2, 4);
    let question = Question {
        game: &game(),
        settings: &kosumi_engine::AnalystSettings { threads: 1, limits: Limits::playouts(2), ..settings },
        restriction: &Restriction::NONE,
        detail: Detail::default(),
        interrupted: &|| false,
        reports: None,
    };
    let analysis = analyst.clone().analyze(&question);
    (analyst, analysis.expect("an analysis"))
});

fn game() -> Game {
    let size = BoardSize::square(3).expect("a size");
    Game::new(size, Rules::preset("tromp-taylor").expect("rules").rules, 0.5)
}

/// Turn of a query in the model.
#[derive(Clone, PartialEq, Debug)]
struct Turn {
    id: String,
    turn: usize,
    priority: i64,
}

/// Line of a client, as understood by the model.
enum Sent {
    /// Turns of a query.
    Query(Vec<Turn>),
    /// Identifier of a faulty query, or of an action that is answered at once.
    Error(String),
    Action(String),
    Terminate {
        own: String,
        id: Option<String>,
        turns: Option<Vec<usize>>,
    },
    /// A line that is not a JSON object. `Blank` is a line that is not answered.
    Garbage,
    Blank,
}

fn draw_line(rng: &mut Rng, number: u32) -> (String, Sent) {
    // Clients may use an identifier twice.
    let id = |rng: &mut Rng| format!("q{}", rng.below(8));
    let own = format!("a{number}");
    match rng.below(20) {
        0 => (String::new(), Sent::Blank),
        1 => ("certainly no JSON".to_owned(), Sent::Garbage),
        2 => {
            let id = id(rng);
            (json!({ "id": id, "boardXSize": 3, "boardYSize": 3 }).to_string(), Sent::Error(id))
        }
        3 => (json!({ "id": own, "action": "query_version" }).to_string(), Sent::Action(own)),
        4..8 => {
            let mut line = json!({ "id": own, "action": "terminate_all" });
            let id = rng.chance(700).then(|| id(rng));
            if let Some(id) = &id {
                line["action"] = "terminate".into();
                line["terminateId"] = id.as_str().into();
            }
            let turns = rng.chance(300).then(|| (0..3).filter(|_| rng.chance(500)).collect::<Vec<usize>>());
            if let Some(turns) = &turns {
                line["turnNumbers"] = turns.clone().into();
            }
            (line.to_string(), Sent::Terminate { own, id, turns })
        }
        _ => {
            let id = id(rng);
            let moves: Vec<_> = [["B", "A1"], ["W", "B2"], ["B", "C3"]].into_iter().collect();
            let mut numbers: Vec<usize> = (0..=moves.len()).filter(|_| rng.chance(500)).collect();
            let priorities: Vec<i64> = numbers.iter().map(|_| i64::from(rng.below(3))).collect();
            let turn = |(&turn, &priority): (&usize, &i64)| Turn { id: id.clone(), turn, priority };
            let turns = numbers.iter().zip(&priorities).map(turn).collect();
            let mut line = json!({
                "id": id, "boardXSize": 3, "boardYSize": 3, "rules": "tromp-taylor", "komi": 0.5, "moves": moves,
            });
            if rng.chance(500) {
                numbers.push(numbers.first().copied().unwrap_or_default());
                line["priorities"] = priorities.iter().copied().chain([9]).collect();
                if numbers.len() == 1 {
                    // If no turn was drawn, there is none to repeat.
                    numbers.clear();
                    line["priorities"] = json!([]);
                }
            } else {
                line["priorities"] = priorities.into();
            }
            line["analyzeTurns"] = numbers.into();
            if rng.chance(400) {
                line["reportDuringSearchEvery"] = 0.1.into();
            }
            (line.to_string(), Sent::Query(turns))
        }
    }
}

/// Requirements of the protocol, as simple as possible.
#[derive(Default)]
struct Model {
    /// Turns that wait, in the order of their arrival.
    waiting: Vec<Turn>,
    /// Turns that are searched, with their numbers, and whether they were terminated.
    running: Vec<(u64, Turn, bool)>,
    /// Lines that the client must read, in the short form of [`short`].
    expected: Vec<String>,
}

impl Model {
    fn expect(&mut self, line: String) {
        self.expected.push(line);
    }

    fn take(&mut self) -> Option<Turn> {
        let highest = self.waiting.iter().map(|turn| turn.priority).max()?;
        let index = self.waiting.iter().position(|turn| turn.priority == highest)?;
        Some(self.waiting.remove(index))
    }

    fn hear(&mut self, sent: Sent, counts: &mut Counts) {
        match sent {
            Sent::Blank => {}
            Sent::Garbage => self.expect("error".to_owned()),
            Sent::Error(id) => self.expect(format!("error {id}")),
            Sent::Action(id) => self.expect(format!("action {id}")),
            Sent::Query(turns) => self.waiting.extend(turns),
            Sent::Terminate { own, id, turns } => {
                let is_meant = |turn: &Turn| {
                    id.as_ref().is_none_or(|id| turn.id == *id)
                        && turns.as_ref().is_none_or(|turns| turns.contains(&turn.turn))
                };
                let mut others = Vec::new();
                // Turns are answered in the order in which they would have been searched.
                while let Some(turn) = self.take() {
                    if is_meant(&turn) {
                        counts.add("terminated", 1);
                        self.expect(format!("none {} {}", turn.id, turn.turn));
                    } else {
                        others.push(turn);
                    }
                }
                self.waiting = others;
                for (_, turn, is_terminated) in &mut self.running {
                    *is_terminated |= is_meant(turn);
                }
                self.expect(format!("action {own}"));
            }
        }
    }
}

/// Returns a line of the output in a short form.
fn short(line: &str) -> String {
    let line: Value = serde_json::from_str(line).expect("JSON");
    let id = line["id"].as_str().unwrap_or_default();
    let text = match (&line["error"], &line["action"], &line["noResults"], &line["isDuringSearch"]) {
        (Value::String(_), ..) => format!("error {id}"),
        (_, Value::String(_), ..) => format!("action {id}"),
        (.., Value::Bool(true), Value::Bool(false)) => format!("none {id} {}", line["turnNumber"]),
        (.., Value::Bool(true)) => format!("report {id} {}", line["turnNumber"]),
        (.., Value::Bool(false)) => format!("final {id} {}", line["turnNumber"]),
        _ => panic!("{line}"),
    };
    text.trim().to_owned()
}

/// Pipe to a client, which may go away.
struct Output_<'s> {
    read: &'s Mutex<Vec<u8>>,
    rng: Rng,
    is_choppy: bool,
    /// Number of bytes after which the client goes away.
    closes_after: Option<usize>,
}

impl Write for Output_<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut read = self.read.lock().expect("one thread");
        let mut most = bytes.len();
        if let Some(end) = self.closes_after {
            if read.len() >= end {
                return Err(io::Error::from(io::ErrorKind::BrokenPipe));
            }
            most = most.min(end - read.len());
        }
        if self.is_choppy && !bytes.is_empty() {
            most = most.min(self.rng.below(200) as usize);
            if most == 0 {
                return Err(io::Error::from(io::ErrorKind::Interrupted));
            }
        }
        read.extend_from_slice(&bytes[..most]);
        Ok(most)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Worker that takes one step at a time.
#[derive(Default)]
struct Worker {
    stop: Arc<AtomicBool>,
    job: Option<Job>,
}

struct Job {
    number: u64,
    request: Request,
    reports: u32,
    is_answered: bool,
}

struct Crew<'s, 'o, 'c> {
    shared: &'s Shared<'s, Output_<'o>>,
    workers: Vec<Worker>,
    model: Model,
    rng: Rng,
    counts: &'c mut Counts,
}

impl Crew<'_, '_, '_> {
    /// Lets one worker take a step. Returns false if the worker had nothing to do.
    fn step(&mut self) -> bool {
        let index = self.rng.below(self.workers.len() as u32) as usize;
        let worker = &mut self.workers[index];
        let Some(job) = &mut worker.job else {
            let taken = self.shared.take(&mut self.shared.requests.state(), &worker.stop);
            let Some((number, request, _)) = taken else { return false };
            if !self.shared.requests.is_over() {
                let turn = self.model.take().expect("a turn that waits");
                assert_eq!((&request.query.id, request.turn), (&turn.id, turn.turn), "the highest priority");
                self.model.running.push((number, turn, false));
            }
            let reports = if request.query.first_report.is_some() { self.rng.below(3) } else { 0 };
            worker.job = Some(Job { number, request, reports, is_answered: false });
            return true;
        };
        let analysis = || ANALYST.1.clone();
        let (id, turn) = (&job.request.query.id, job.request.turn);
        let is_stopped = worker.stop.load(Ordering::Relaxed);
        if !self.shared.requests.is_over() {
            let mut running = self.model.running.iter();
            let is_terminated =
                running.any(|(number, _, is_terminated)| *number == job.number && *is_terminated);
            assert_eq!(is_stopped, is_terminated, "{id} {turn}");
        }
        if job.is_answered {
            self.shared.requests.leave(job.number);
            self.model.running.retain(|(number, ..)| *number != job.number);
            worker.job = None;
        } else if is_stopped {
            // The search ends at once, before or after its first result.
            let is_begun = self.rng.chance(500);
            self.model.expect(format!("{} {id} {turn}", if is_begun { "final" } else { "none" }));
            self.shared.answer(&job.request, is_begun.then(analysis));
            (job.is_answered, job.reports) = (true, 0);
            self.counts.add("stopped", 1);
        } else if job.reports > 0 {
            self.model.expect(format!("report {id} {turn}"));
            self.shared.report(&job.request, analysis());
            job.reports -= 1;
        } else {
            self.model.expect(format!("final {id} {turn}"));
            self.shared.answer(&job.request, Some(analysis()));
            job.is_answered = true;
            self.counts.add("answered", 1);
        }
        true
    }

    fn some_steps(&mut self, most: u32) {
        for _ in 0..self.rng.below(most) {
            self.step();
        }
        // The server reads no line while too much waits.
        while !self.shared.requests.is_over()
            && self.shared.requests.state().bytes > self.shared.max_waiting_bytes
        {
            self.counts.add("full", 1);
            self.step();
        }
    }

    /// Lets the workers take steps until they end.
    fn finish(&mut self) {
        loop {
            self.step();
            let is_idle = self.workers.iter().all(|worker| worker.job.is_none());
            let state = self.shared.requests.state();
            if is_idle && state.queue.is_empty() {
                assert!(state.running.is_empty() && state.is_closed);
                assert!(state.bytes == 0, "{} bytes wait, but no query", state.bytes);
                return;
            }
        }
    }
}

/// Pipe from a client. The workers take steps while the server waits for the next piece.
struct Input<'i, 's, 'o, 'c> {
    crew: &'i RefCell<Crew<'s, 'o, 'c>>,
    /// Pieces of lines. The last piece of a line comes with the line as understood by the model.
    pieces: VecDeque<(Vec<u8>, Option<Sent>)>,
    at: usize,
}

impl Read for Input<'_, '_, '_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Input<'_, '_, '_, '_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.pieces.front().is_some_and(|(piece, _)| self.at >= piece.len()) {
            self.pieces.pop_front();
            self.at = 0;
        }
        // At the end of the input, a last line without a line break is still to be read.
        if self.at == 0 && !self.pieces.is_empty() {
            let crew = &mut *self.crew.borrow_mut();
            crew.some_steps(8);
            if crew.rng.chance(100) {
                return Err(io::Error::from(io::ErrorKind::Interrupted));
            }
            let sent = self.pieces.front_mut().and_then(|(_, sent)| sent.take());
            // A server whose output is closed reads one more line.
            if let Some(sent) = sent.filter(|_| !crew.shared.requests.is_over()) {
                crew.model.hear(sent, crew.counts);
            }
        }
        Ok(self.pieces.front().map_or(&[], |(piece, _)| &piece[self.at..]))
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
    }
}

/// Draws the lines of a client, and returns them in pieces.
fn draw_pieces(rng: &mut Rng) -> VecDeque<(Vec<u8>, Option<Sent>)> {
    let mut pieces = VecDeque::new();
    let count = 1 + rng.below(LINES);
    for number in 0..count {
        let (mut text, sent) = draw_line(rng, number);
        // The last line may lack its line break.
        if number + 1 < count || text.is_empty() || rng.chance(500) {
            text.push('\n');
        }
        let (mut rest, mut cut) = (text.as_bytes(), Vec::new());
        while rest.len() > 1 && rng.chance(400) {
            let (piece, behind) = rest.split_at(1 + rng.below(rest.len() as u32 - 1) as usize);
            cut.push(piece.to_vec());
            rest = behind;
        }
        pieces.extend(cut.into_iter().map(|piece| (piece, None)));
        pieces.push_back((rest.to_vec(), Some(sent)));
    }
    pieces
}

fn simulate(seed: u64, counts: &mut Counts) {
    let mut rng = Rng::new(seed);
    let quits = rng.chance(100);
    let is_deserted = rng.chance(100);
    let models = Models { version: "1".to_owned(), names: vec!["random".to_owned()] };
    let server = Server::new(Config::default(), models, ANALYST.0.clone(), 2).quitting_at_once(quits);
    let read = Mutex::new(Vec::new());
    let closes_after = rng.chance(200).then(|| rng.below(4000) as usize);
    let output =
        Output_ { read: &read, rng: Rng::new(rng.next_u64()), is_choppy: rng.chance(500), closes_after };
    let max_waiting_bytes = if rng.chance(500) { rng.below(4000) as usize } else { MAX_WAITING_BYTES };
    let shared = Shared { max_waiting_bytes, ..Shared::new(&server, output) };
    let pieces = draw_pieces(&mut rng);
    let workers = (0..1 + rng.below(4)).map(|_| Worker::default()).collect();
    let crew = Crew { shared: &shared, workers, model: Model::default(), rng, counts };
    let crew = RefCell::new(crew);
    shared.listen(&mut Input { crew: &crew, pieces, at: 0 }).expect("the input has no errors");
    shared.input_ended();
    let mut crew = crew.into_inner();
    let expected_at_the_end = crew.model.expected.len();
    if is_deserted {
        crew.some_steps(20);
        shared.requests.end();
    }
    crew.finish();
    let expected = std::mem::take(&mut crew.model.expected);
    drop(crew);
    let is_over = shared.requests.is_over();
    let error = shared.into_error();
    assert!(error.is_none_or(|error| error.kind() == io::ErrorKind::BrokenPipe));
    let read = read.into_inner().expect("one thread");
    let text = String::from_utf8(read).expect("text");
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let lines: Vec<String> = text[..whole].lines().map(short).collect();
    counts.add("lines", lines.len() as u64);
    if closes_after.is_some_and(|end| text.len() >= end) {
        counts.add("closed", 1);
        assert_eq!(lines, expected[..lines.len()]);
    } else if quits {
        assert_eq!(lines, expected[..expected_at_the_end]);
    } else {
        assert_eq!(is_over, is_deserted);
        assert_eq!((lines, whole), (expected, text.len()));
    }
}

#[test]
fn every_turn_is_answered_once() {
    let Some(counts) = run_seeds("analysis::server::simulation", 300, simulate) else { return };
    for what in ["answered", "stopped", "terminated", "full", "closed"] {
        assert!(counts.of(what) > 0, "{what}: {counts:?}");
    }
}
