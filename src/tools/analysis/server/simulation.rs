//! Simulation of the server, with pipes and workers that follow from a seed.
//!
//! The reading and checking of lines, the queue, the actions, the answers and their writing are the real ones. The pipes,
//! the searches and the threads are simulated: the input arrives in pieces, and between two pieces the workers, the
//! thread that writes and the client take steps in any order. The output is a pipe that may be full. The client may stop
//! reading for a while, during which it sends lines and closes the input; it then reads on or goes away. A simple model
//! of the protocol determines every line of the output, so that:
//!
//! * every turn of a query gets exactly one final answer, at the end of its search, without results if it was
//!   terminated before, or with an error if its search panics; and a faulty query gets one error;
//! * a turn that waits is answered before the action that terminates it, and never afterwards; a turn that is being
//!   searched is answered once, after the action;
//! * turns are searched in the order of their priorities;
//! * while the client does not read, lines are obeyed and searches go on, until as much waits as the bounds allow;
//! * what waits to be written is counted to the byte, and nothing of it is lost, doubled or reordered;
//! * if the reader goes away, the client has read the beginning of these lines, and the server ends.
//!
//! A step that would wait for room is not taken. That the real threads wait, and survive panics, is checked by the tests
//! after the simulation.

use super::*;
use crate::simulation::{Counts, run_seeds};
use kosumi_go::board::BoardSize;
use kosumi_go::game::Game;
use kosumi_go::rng::Rng;
use kosumi_go::rules::Rules;
use kosumi_net::random;
use kosumi_search::{Limits, Restriction};
use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::atomic::AtomicU32;
use std::sync::{LazyLock, mpsc};

/// Maximum number of lines of a client.
const LINES: u32 = 30;

/// Number of steps after which a server that waits is stuck.
const PATIENCE: u32 = 1_000_000;

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
        (Value::String(_), .., Value::Bool(false)) => format!("error {id} {}", line["turnNumber"]),
        (Value::String(_), ..) => format!("error {id}"),
        (_, Value::String(_), ..) => format!("action {id}"),
        (.., Value::Bool(true), Value::Bool(false)) => format!("none {id} {}", line["turnNumber"]),
        (.., Value::Bool(true)) => format!("report {id} {}", line["turnNumber"]),
        (.., Value::Bool(false)) => format!("final {id} {}", line["turnNumber"]),
        _ => panic!("{line}"),
    };
    text.trim().to_owned()
}

/// Client that reads the output, and the pipe to it.
struct Reader {
    /// What the client has read, and what is in the pipe.
    read: Vec<u8>,
    unread: Vec<u8>,
    /// Size of the pipe, in bytes.
    capacity: usize,
    is_choppy: bool,
    /// Steps per thousand at which the client stops reading, at which it reads on, and at which it goes away instead.
    stops: u32,
    goes_on: u32,
    leaves: u32,
    is_stalled: bool,
    /// Number of bytes after which the client goes away.
    closes_after: Option<usize>,
    is_gone: bool,
    rng: Rng,
}

impl Reader {
    fn draw(rng: &mut Rng) -> Reader {
        let stops = if rng.chance(600) { rng.below(300) } else { 0 };
        let capacity = if rng.chance(500) { 400 } else { 20_000 };
        Reader {
            read: Vec::new(),
            unread: Vec::new(),
            capacity: 64 + rng.below(capacity) as usize,
            is_choppy: rng.chance(500),
            stops,
            goes_on: 1 + rng.below(60),
            leaves: if rng.chance(200) { rng.below(30) } else { 0 },
            is_stalled: false,
            closes_after: rng.chance(200).then(|| rng.below(4000) as usize),
            is_gone: false,
            rng: Rng::new(rng.next_u64()),
        }
    }

    fn step(&mut self, counts: &mut Counts) {
        if self.is_gone {
            return;
        }
        if self.is_stalled {
            self.is_stalled = !self.rng.chance(self.goes_on);
            self.is_gone = self.rng.chance(self.leaves);
            counts.add("gone while stalled", u64::from(self.is_gone));
            return;
        }
        let mut most = self.unread.len().min(1 + self.rng.below(6000) as usize);
        if let Some(end) = self.closes_after {
            most = most.min(end - self.read.len());
        }
        self.read.extend(self.unread.drain(..most));
        self.is_gone = self.closes_after.is_some_and(|end| self.read.len() >= end);
        self.is_stalled = self.rng.chance(self.stops);
        counts.add("stalls", u64::from(self.is_stalled));
    }
}

impl Write for Reader {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_gone {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe));
        }
        let mut most = bytes.len().min(self.capacity - self.unread.len());
        if most == 0 {
            return Err(io::Error::from(io::ErrorKind::WouldBlock));
        }
        if self.is_choppy {
            most = most.min(self.rng.below(200) as usize);
            if most == 0 {
                return Err(io::Error::from(io::ErrorKind::Interrupted));
            }
        }
        self.unread.extend_from_slice(&bytes[..most]);
        Ok(most)
    }

    fn flush(&mut self) -> io::Result<()> {
        let is_disturbed = self.is_choppy && self.rng.chance(200);
        let kinds = [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted];
        let kind = kinds[self.rng.below(2) as usize];
        if is_disturbed { Err(io::Error::from(kind)) } else { Ok(()) }
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
    panics: bool,
    is_answered: bool,
}

struct SimulatedThreads<'s, 'c> {
    shared: &'s Shared<'s>,
    workers: Vec<Worker>,
    reader: Reader,
    /// Line that is being written.
    sending: Option<Unwritten>,
    model: Model,
    rng: Rng,
    counts: &'c mut Counts,
}

impl SimulatedThreads<'_, '_> {
    /// Lets a worker, the thread that writes or the client take a step.
    fn step(&mut self) {
        match self.rng.below(self.workers.len() as u32 + 2) as usize {
            0 => self.send(),
            1 => self.reader.step(self.counts),
            number => self.work(number - 2),
        }
        let output = self.shared.requests.output();
        let waiting: usize = output.lines.iter().map(Vec::len).sum();
        let sending = self.sending.as_ref().map_or(0, |line| line.text.len());
        assert_eq!(output.bytes, waiting + sending, "bytes that wait to be written");
    }

    /// Writes as much of a line as the pipe takes.
    fn send(&mut self) {
        if self.sending.is_none() {
            self.sending = self.shared.requests.output().take();
        }
        let Some(line) = &mut self.sending else { return };
        if self.shared.requests.send(&mut self.reader, line) {
            self.sending = None;
        } else {
            self.counts.add("full pipes", 1);
        }
    }

    /// Returns whether a thread would not wait for room for its lines.
    fn has_room(&self, most: usize) -> bool {
        self.shared.requests.output().bytes <= most || self.shared.requests.is_over()
    }

    fn work(&mut self, index: usize) {
        let bounds = self.shared.bounds;
        let [has_room, has_room_for_report] =
            [bounds.answers, bounds.reports].map(|most| self.has_room(most));
        let worker = &mut self.workers[index];
        let Some(job) = &mut worker.job else {
            let taken = self.shared.take(&mut self.shared.requests.state(), &worker.stop);
            let Some((number, request, _)) = taken else { return };
            if !self.shared.requests.is_over() {
                let turn = self.model.take().expect("a turn that waits");
                assert_eq!((&request.query.id, request.turn), (&turn.id, turn.turn), "the highest priority");
                self.model.running.push((number, turn, false));
            }
            let reports = if request.query.first_report.is_some() { self.rng.below(3) } else { 0 };
            let panics = self.rng.chance(100);
            worker.job = Some(Job { number, request, reports, panics, is_answered: false });
            return;
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
        } else if !has_room {
            self.counts.add("answers that wait", 1);
        } else if job.panics && self.rng.chance(500) {
            self.model.expect(format!("error {id} {turn}"));
            let has_panicked =
                self.shared.has_panicked(&job.request, || resume_unwind(Box::new("simulated")));
            assert!(has_panicked);
            (job.is_answered, job.reports) = (true, 0);
            self.counts.add("panics", 1);
        } else if is_stopped {
            // The search ends at once, before or after its first result.
            let is_begun = self.rng.chance(500);
            self.model.expect(format!("{} {id} {turn}", if is_begun { "final" } else { "none" }));
            self.shared.answer(&job.request, is_begun.then(analysis));
            (job.is_answered, job.reports) = (true, 0);
            self.counts.add("stopped", 1);
        } else if job.reports > 0 {
            if has_room_for_report {
                self.model.expect(format!("report {id} {turn}"));
            } else {
                self.counts.add("reports left out", 1);
            }
            self.shared.report(&job.request, analysis());
            job.reports -= 1;
        } else {
            self.model.expect(format!("final {id} {turn}"));
            self.shared.answer(&job.request, Some(analysis()));
            job.is_answered = true;
            self.counts.add("answered", 1);
        }
    }

    fn some_steps(&mut self, most: u32) {
        for _ in 0..self.rng.below(most) {
            self.step();
        }
        // The server reads no line while too much waits.
        for _ in 0..PATIENCE {
            let is_full = self.shared.requests.state().bytes > self.shared.bounds.queries;
            let has_room = self.has_room(self.shared.bounds.answers);
            if self.shared.requests.is_over() || (!is_full && has_room) {
                return;
            }
            self.counts.add(if has_room { "full" } else { "lines that wait" }, 1);
            self.step();
        }
        panic!("no line is read any more");
    }

    /// Lets all take steps until the workers have ended and all lines are written.
    fn finish(&mut self) {
        for _ in 0..PATIENCE {
            self.step();
            let is_idle = self.workers.iter().all(|worker| worker.job.is_none());
            let state = self.shared.requests.state();
            let is_written = self.sending.is_none() && self.shared.requests.output().lines.is_empty();
            if is_idle && state.queue.is_empty() && is_written {
                assert!(state.running.is_empty() && state.is_closed);
                assert!(state.bytes == 0, "{} bytes wait, but no query", state.bytes);
                // The client reads what is in the pipe, unless it has gone.
                let reader = &mut self.reader;
                if !reader.is_gone && reader.closes_after.is_none() {
                    reader.read.append(&mut reader.unread);
                }
                return;
            }
        }
        panic!("the server does not end");
    }
}

/// Pipe from a client. The others take steps while the server waits for the next piece.
struct Input<'i, 's, 'c> {
    threads: &'i RefCell<SimulatedThreads<'s, 'c>>,
    /// Pieces of lines. The last piece of a line comes with the line as understood by the model.
    pieces: VecDeque<(Vec<u8>, Option<Sent>)>,
    at: usize,
}

impl Read for Input<'_, '_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Input<'_, '_, '_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.pieces.front().is_some_and(|(piece, _)| self.at >= piece.len()) {
            self.pieces.pop_front();
            self.at = 0;
        }
        // At the end of the input, a last line without a line break is still to be read.
        if self.at == 0 && !self.pieces.is_empty() {
            let threads = &mut *self.threads.borrow_mut();
            threads.some_steps(8);
            if threads.rng.chance(100) {
                return Err(io::Error::from(io::ErrorKind::Interrupted));
            }
            let sent = self.pieces.front_mut().and_then(|(_, sent)| sent.take());
            // A server whose output is closed reads one more line.
            if let Some(sent) = sent.filter(|_| !threads.shared.requests.is_over()) {
                if threads.reader.is_stalled {
                    let what = match sent {
                        Sent::Terminate { .. } => "terminations during a stall",
                        _ => "lines during a stall",
                    };
                    threads.counts.add(what, 1);
                }
                threads.model.hear(sent, threads.counts);
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
    let server = server().quitting_at_once(quits);
    let reader = Reader::draw(&mut rng);
    let bound = |rng: &mut Rng, usual| if rng.chance(500) { rng.below(4000) as usize } else { usual };
    let bounds = Bounds {
        queries: bound(&mut rng, MAX_WAITING_BYTES),
        answers: bound(&mut rng, MAX_ANSWER_BYTES),
        reports: bound(&mut rng, MAX_REPORT_BYTES),
        ..Bounds::USUAL
    };
    let shared = Shared { bounds, ..Shared::new(&server) };
    let pieces = draw_pieces(&mut rng);
    let workers = (0..1 + rng.below(4)).map(|_| Worker::default()).collect();
    let model = Model::default();
    let threads = SimulatedThreads { shared: &shared, workers, reader, sending: None, model, rng, counts };
    let threads = RefCell::new(threads);
    shared.listen(&mut Input { threads: &threads, pieces, at: 0 }).expect("the input has no errors");
    shared.input_ended();
    let mut threads = threads.into_inner();
    threads.counts.add("closed during a stall", u64::from(threads.reader.is_stalled));
    let expected_at_the_end = threads.model.expected.len();
    if is_deserted {
        threads.some_steps(20);
        shared.requests.end();
    }
    threads.finish();
    let SimulatedThreads { model: Model { expected, .. }, reader, .. } = threads;
    let error = shared.requests.output().error.take();
    let is_over = shared.requests.is_over();
    assert!(error.is_none_or(|error| error.kind() == io::ErrorKind::BrokenPipe && reader.is_gone));
    let text = String::from_utf8(reader.read).expect("text");
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let lines: Vec<String> = text[..whole].lines().map(short).collect();
    counts.add("lines", lines.len() as u64);
    if reader.is_gone || reader.closes_after.is_some() {
        counts.add("closed", u64::from(reader.is_gone));
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
    for what in [
        "answered",
        "stopped",
        "panics",
        "terminated",
        "full",
        "closed",
        "stalls",
        "full pipes",
        "answers that wait",
        "reports left out",
        "lines that wait",
        "lines during a stall",
        "terminations during a stall",
        "closed during a stall",
        "gone while stalled",
    ] {
        assert!(counts.of(what) > 0, "{what}: {counts:?}");
    }
}

/// Moment at which a client begins to read.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Reading {
    /// When this number of threads wait for the client.
    Blocked(usize),
    /// When more than this number of bytes wait for the client.
    Full(usize),
    /// When all work is done. No thread may wait.
    Done,
}

/// Output of a client that at first reads nothing.
struct Blocked<'r> {
    requests: &'r Requests,
    reading: Reading,
    /// Maximum number of bytes that may wait for the client.
    most: usize,
    /// Whether the client goes away instead of reading.
    is_gone: bool,
    lines: usize,
}

impl Blocked<'_> {
    /// Waits until the client begins to read.
    fn wait(&self) {
        loop {
            let state = self.requests.state();
            let is_done = state.is_closed && state.queue.is_empty() && state.running.is_empty();
            drop(state);
            let output = self.requests.output();
            assert!(output.bytes <= self.most, "{} bytes wait", output.bytes);
            let begins = match self.reading {
                Reading::Blocked(threads) => output.blocked == threads,
                Reading::Full(bytes) => output.bytes > bytes,
                Reading::Done => is_done,
            };
            if begins {
                return;
            }
            assert!(!is_done, "{:?} is never reached", self.reading);
            drop(output);
            thread::yield_now();
        }
    }
}

impl Write for Blocked<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.lines == 0 {
            self.wait();
        }
        if self.is_gone {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe));
        }
        self.lines += 1;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// End of a part of the input that comes when more than this number of bytes wait for the client.
struct Pause<'r>(&'r Requests, usize);

impl Read for Pause<'_> {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        while self.0.output().bytes <= self.1 {
            thread::yield_now();
        }
        Ok(0)
    }
}

/// Bounds of tests with real threads.
const SMALL: Bounds = Bounds { answers: 10_000, reports: 5_000, ..Bounds::USUAL };

fn server() -> Server {
    let models = Models { version: "1".to_owned(), names: vec!["random".to_owned()] };
    Server::new(Config::default(), models, ANALYST.0.clone(), 2)
}

/// Runs the server with real threads until it ends, before a client that begins to read, or goes away, at the given
/// moment. The client sends the second part of the input when it gets no more reports. Returns the number of lines that
/// the client has read.
fn serve_blocked(parts: [&str; 2], bounds: Bounds, reading: Reading, is_gone: bool) -> io::Result<usize> {
    let server = Server { workers: 2, ..server() };
    let shared = Shared { bounds, ..Shared::new(&server) };
    let requests = Arc::clone(&shared.requests);
    // Each thread may add a line, of less than 10,000 bytes, after it has found room.
    let most = bounds.answers + (server.workers + 1) * 10_000;
    let mut output = Blocked { requests: &requests, reading, most, is_gone, lines: 0 };
    let [first, second] = parts.map(str::as_bytes);
    let pause = (!second.is_empty()).then_some(Pause(&requests, bounds.reports));
    let input: Box<dyn Read> = match pause {
        Some(pause) => Box::new(first.chain(pause).chain(second)),
        None => Box::new(first),
    };
    shared.serve(io::BufReader::new(input), &mut output)?;
    Ok(output.lines)
}

#[test]
fn what_waits_for_a_client_that_does_not_read_is_bounded() {
    // Only the thread that reads lines has something to say.
    let versions = "{\"id\": \"a\", \"action\": \"query_version\"}\n".repeat(1000);
    let lines = serve_blocked([&versions, ""], SMALL, Reading::Blocked(1), false);
    assert_eq!(lines.expect("no errors"), 1000);
    // Only the workers have something to say.
    let moves = [["B", "pass"], ["W", "pass"]].repeat(50);
    let mut query = json!({
        "id": "a", "boardXSize": 3, "boardYSize": 3, "rules": "tromp-taylor", "komi": 0.5, "maxVisits": 1,
        "moves": moves, "analyzeTurns": (0..100).collect::<Vec<_>>(),
    });
    let lines = serve_blocked([&format!("{query}\n"), ""], SMALL, Reading::Blocked(2), false);
    assert_eq!(lines.expect("no errors"), 100);
    // A client may send everything before it reads anything.
    let lines = serve_blocked([&format!("{versions}{query}\n"), ""], Bounds::USUAL, Reading::Done, false);
    assert_eq!(lines.expect("no errors"), 1100);
    // A search without end gives no more reports, and ends when the client goes away.
    query["analyzeTurns"] = json!([0]);
    query["maxVisits"] = 1_000_000_000.into();
    query["reportDuringSearchEvery"] = 0.001.into();
    let query = format!("{query}\n");
    let error =
        serve_blocked([&query, ""], SMALL, Reading::Full(SMALL.reports), true).expect_err("no client");
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    // It is terminated while the client does not read.
    let end = "{\"id\": \"b\", \"action\": \"terminate\", \"terminateId\": \"a\"}\n";
    let lines = serve_blocked([&query, end], SMALL, Reading::Done, false).expect("no errors");
    assert!(lines > 2, "{lines} lines");
}

/// Query for an analysis of these turns with one visit each.
fn quick_query(turns: usize) -> String {
    let moves = [["B", "pass"], ["W", "pass"]].repeat(50);
    let query = json!({
        "id": "a", "boardXSize": 3, "boardYSize": 3, "rules": "tromp-taylor", "komi": 0.5, "maxVisits": 1,
        "moves": moves, "analyzeTurns": (0..turns).collect::<Vec<_>>(),
    });
    format!("{query}\n")
}

/// Input or output that panics.
struct Panicking;

impl Read for Panicking {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        resume_unwind(Box::new("a faulty pipe"))
    }
}

impl Write for Panicking {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        resume_unwind(Box::new("a faulty pipe"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn no_panic_leaves_a_client_waiting() {
    /// Clock that panics when the first search starts it.
    fn failing_once() -> Duration {
        static READINGS: AtomicU32 = AtomicU32::new(0);
        if READINGS.fetch_add(1, Ordering::Relaxed) == 0 {
            resume_unwind(Box::new("a faulty clock"));
        }
        Duration::ZERO
    }
    // The worker goes on after a search that has panicked.
    let analyst = ANALYST.0.clone().with_time_source(failing_once);
    let one_worker = Server { workers: 1, analyst, ..server() };
    let mut output = Vec::new();
    one_worker.serve(quick_query(3).as_bytes(), &mut output).expect("no errors");
    let text = String::from_utf8(output).expect("text");
    let lines: Vec<String> = text.lines().map(short).collect();
    assert_eq!(lines, ["error a 0", "final a 1", "final a 2"]);
    assert!(text.contains("the analysis has panicked: a faulty clock"), "{text}");
    // What was read is answered if the input panics, and the server ends.
    let query = quick_query(2);
    let mut output = Vec::new();
    let input = io::BufReader::new(query.as_bytes().chain(Panicking));
    let error = server().serve(input, &mut output).expect_err("a panic");
    assert_eq!(error.to_string(), "the thread that reads lines has panicked: a faulty pipe");
    assert_eq!(String::from_utf8(output).expect("text").lines().count(), 2);
    // All work ends if the output panics, even if searches wait with their answers.
    let server = server();
    let shared = Shared { bounds: SMALL, ..Shared::new(&server) };
    let error = shared.serve(quick_query(100).as_bytes(), Panicking).expect_err("a panic");
    assert_eq!(error.to_string(), "the thread that writes has panicked: a faulty pipe");
}

/// Output that blocks until the other end of its channel is dropped, or for a minute. Notes that a minute has passed.
struct Stuck(mpsc::Receiver<()>, Arc<AtomicBool>);

impl Write for Stuck {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        let released = self.0.recv_timeout(Duration::from_secs(60));
        self.1.store(released == Err(mpsc::RecvTimeoutError::Timeout), Ordering::Relaxed);
        Err(io::Error::from(io::ErrorKind::BrokenPipe))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Output that keeps what is written.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("a lock").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_server_that_quits_at_once_does_not_wait_for_its_client() {
    let versions = "{\"id\": \"a\", \"action\": \"query_version\"}\n".repeat(1000);
    let lines = format!("{versions}{}", quick_query(100));
    let server = server().quitting_at_once(true);
    // A client that does not read.
    let (release, released) = mpsc::channel();
    let has_waited = Arc::new(AtomicBool::new(false));
    let bounds = Bounds { closing: Duration::ZERO, ..Bounds::USUAL };
    let shared = Shared { bounds, ..Shared::new(&server) };
    let output = Stuck(released, Arc::clone(&has_waited));
    shared.serve_detached(lines.as_bytes(), output, |_| {}).expect("no errors");
    assert!(!has_waited.load(Ordering::Relaxed), "the server has waited for the output");
    drop(release);
    // A client that reads gets all answers from before the end of the input. A closed pipe is still an error.
    let output = Kept::default();
    let bounds = Bounds { closing: Duration::from_secs(3600), ..Bounds::USUAL };
    let shared = Shared { bounds, ..Shared::new(&server) };
    shared.serve_detached(lines.as_bytes(), output.clone(), |_| {}).expect("no errors");
    let text = String::from_utf8(output.0.lock().expect("a lock").clone()).expect("text");
    assert!(text.lines().filter(|line| line.contains("query_version")).count() == 1000, "{text}");
    let shared = Shared { bounds, ..Shared::new(&server) };
    let (release, released) = mpsc::channel();
    drop(release);
    let output = Stuck(released, has_waited);
    let error = shared.serve_detached(lines.as_bytes(), output, |_| {}).expect_err("a closed pipe");
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}
