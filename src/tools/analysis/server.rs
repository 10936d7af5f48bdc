//! Queue of requests, workers, and output.
//!
//! One thread reads and checks lines. Workers take the request with the highest priority. Terminated requests are
//! answered in KataGo's order: queued requests before the action, running ones after it.
//!
//! Another thread writes the answers. If a client stops reading, everything else continues: lines are still read and
//! carried out, and searches go on. When many answers wait to be written, reports during searches are left out. When
//! even more wait, searches wait with their answers, and no further line is read. No lock is held while the output
//! blocks. A server that quits at once does not wait long for such a client at the end of the input
//! ([`CLOSING_TIME`]).
//!
//! A panic leaves no client waiting. A search that panics is answered with an error, and its worker goes on. If the
//! thread that reads lines panics, the server answers what it has read and ends with an error. If the one that writes
//! panics, all work ends.

use super::config::Config;
use super::query::{Action, HumanModels, Line, Object, Query, read};
use super::report;
use crate::files::without_bom;
use crate::panics::caught;
use kosumi_engine::{Analyst, Question, Reports};
use kosumi_gtp::Blocking;
use kosumi_search::{Analysis, Detail};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::io::{self, BufRead, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

#[cfg(test)]
mod simulation;

/// Maximum length of a line, in bytes.
const MAX_LINE_BYTES: usize = 64 << 20;

/// Size of the waiting queries, in bytes, from which no further line is read.
const MAX_WAITING_BYTES: usize = 512 << 20;

/// Size of the answers that wait to be written, in bytes, from which searches wait with their answers and no further
/// line is read.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// Size of the answers that wait to be written, in bytes, from which reports during searches are left out. It is about
/// the size of a pipe, so that a client that reads slowly does not read old reports.
const MAX_REPORT_BYTES: usize = 64 << 10;

/// Maximum time that a server that quits at once waits for a client to read the answers that wait to be written. It is
/// far longer than a client takes that reads them.
const CLOSING_TIME: Duration = Duration::from_secs(2);

/// Minimum number of visits per thread of a search.
const VISITS_PER_THREAD: u32 = 16;

/// Response to `query_version` and `query_models`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Models {
    /// Version number.
    pub version: String,
    /// Names of the network and of the network of human play, as on the command line.
    pub names: Vec<String>,
}

/// Server of analyses.
#[derive(Debug)]
pub struct Server {
    config: Config,
    models: Models,
    analyst: Analyst,
    /// Number of positions that are analysed at the same time.
    workers: usize,
    /// Number of threads that all searches may use together.
    processors: usize,
    /// Whether all requests are cancelled at the end of the input.
    quits_at_once: bool,
}

/// One position of a query.
#[derive(Clone)]
struct Request {
    query: Arc<Query>,
    turn: usize,
    /// Number of positions of the query that are still queued. At 0, its memory is released.
    waiting: Arc<AtomicUsize>,
}

/// Order of requests: highest priority first, then earliest.
type Place = (Reverse<i64>, u64);

#[derive(Default)]
struct State {
    queue: BTreeMap<Place, Request>,
    came: u64,
    running: Vec<(u64, Request, Arc<AtomicBool>)>,
    /// Size of the waiting queries, in bytes.
    bytes: usize,
    /// Whether the input has ended.
    is_closed: bool,
}

struct Shared<'s> {
    server: &'s Server,
    requests: Arc<Requests>,
    bounds: Bounds,
}

/// Bounds on what waits, in bytes, and on the time of a wait. What one line and each search add at a time may exceed the
/// former.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Bounds {
    /// See [`MAX_WAITING_BYTES`].
    queries: usize,
    /// See [`MAX_ANSWER_BYTES`].
    answers: usize,
    /// See [`MAX_REPORT_BYTES`].
    reports: usize,
    /// See [`CLOSING_TIME`].
    closing: Duration,
}

impl Bounds {
    const USUAL: Bounds = Bounds {
        queries: MAX_WAITING_BYTES,
        answers: MAX_ANSWER_BYTES,
        reports: MAX_REPORT_BYTES,
        closing: CLOSING_TIME,
    };
}

/// Requests that wait or run, and answers that wait to be written. A thread that locks both locks `state` first.
#[derive(Default)]
struct Requests {
    state: Mutex<State>,
    output: Mutex<Output>,
    /// Signalled when a line waits to be written, and when no further one will come.
    has_line: Condvar,
    /// Signalled when a line has been written, which makes room for another one, and when all work ends.
    has_room: Condvar,
    /// Signalled when a request is queued, and when the input ends.
    work: Condvar,
    /// Signalled when a request leaves the queue, which makes space for another one.
    has_space: Condvar,
    /// Whether all work ends because the output cannot be written or is no longer wanted.
    is_over: AtomicBool,
}

impl Requests {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn output(&self) -> MutexGuard<'_, Output> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Adds a line to those that wait to be written. Does not wait.
    fn queue(&self, answer: &Value) {
        self.output().queue(answer);
        self.has_line.notify_all();
    }

    /// Waits while more than `most` bytes wait to be written, unless all work ends.
    fn wait_for_room(&self, most: usize) {
        let mut output = self.output();
        output.blocked += 1;
        while output.bytes > most && !self.is_over() {
            output = self.has_room.wait(output).unwrap_or_else(PoisonError::into_inner);
        }
        output.blocked -= 1;
    }

    /// Returns the next line to write; waits for it, and returns `None` after the last one.
    fn next_line(&self) -> Option<Unwritten> {
        let mut output = self.output();
        loop {
            let next = output.take();
            if next.is_some() || output.is_closed {
                return next;
            }
            output = self.has_line.wait(output).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Writes as much of a line as the output takes. Returns false if the output is full and does not block; the caller
    /// then calls again later. After an error, no line is written any more, and all requests end.
    fn send(&self, writer: &mut impl Write, line: &mut Unwritten) -> bool {
        let result = loop {
            let rest = line.text.get(line.written..).unwrap_or_default();
            let is_whole = rest.is_empty();
            match if is_whole { writer.flush().map(|()| 0) } else { writer.write(rest) } {
                Ok(_) if is_whole => break Ok(()),
                Ok(0) => break Err(io::Error::from(io::ErrorKind::WriteZero)),
                Ok(count) => line.written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                Err(error) => break Err(error),
            }
        };
        let mut output = self.output();
        output.bytes -= line.text.len();
        let is_broken = result.is_err();
        if let Err(error) = result {
            output.fail(error);
        }
        self.has_room.notify_all();
        drop(output);
        if is_broken {
            self.end();
        }
        true
    }

    /// Writes lines until the output is closed and all are written.
    fn write(&self, writer: impl Write) {
        let mut writer = Blocking(writer);
        let written = caught(|| {
            while let Some(mut line) = self.next_line() {
                while !self.send(&mut writer, &mut line) {}
            }
        });
        if let Err(panic) = written {
            self.output().fail(io::Error::other(format!("the thread that writes has panicked: {panic}")));
            self.end();
        }
    }

    /// Waits until all lines are written, but at most `longest`.
    fn wait_until_written(&self, longest: Duration) {
        let is_waiting = |output: &mut Output| output.bytes > 0;
        drop(self.has_room.wait_timeout_while(self.output(), longest, is_waiting));
    }

    /// Removes a request that was answered.
    fn leave(&self, number: u64) {
        self.state().running.retain(|(running, ..)| *running != number);
    }

    /// Ends all requests.
    fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        let mut state = self.state();
        state.queue.clear();
        state.bytes = 0;
        state.running.iter().for_each(|(.., stop)| stop.store(true, Ordering::Relaxed));
        self.work.notify_all();
        self.has_space.notify_all();
        drop(state);
        // With the lock, no thread is between its look at `is_over` and its wait.
        let _output = self.output();
        self.has_room.notify_all();
    }
}

/// Answers that wait to be written.
#[derive(Default)]
struct Output {
    lines: VecDeque<Vec<u8>>,
    /// Size of the lines, in bytes, with the one that is being written.
    bytes: usize,
    /// Number of threads that wait for room.
    blocked: usize,
    /// First error of writing. After it, no line waits.
    error: Option<io::Error>,
    /// Whether further answers are not wanted.
    is_silent: bool,
    /// Whether no further line will come.
    is_closed: bool,
}

/// Line that is being written.
#[derive(Debug)]
struct Unwritten {
    text: Vec<u8>,
    written: usize,
}

/// Closes the output when it is dropped, even by a panic, so that the thread that writes can end.
struct Closing<'r>(&'r Requests);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.output().is_closed = true;
        self.0.has_line.notify_all();
    }
}

impl Server {
    /// Creates a server with this network.
    pub fn new(config: Config, models: Models, analyst: Analyst, processors: usize) -> Server {
        let wanted = config.analysis_threads.unwrap_or(processors);
        // More concurrent searches would only slow each other down. But a few searches may be unlimited, and must not
        // block the others.
        let workers = wanted.clamp(1, (2 * processors).max(4));
        Server { config, models, analyst, workers, processors: processors.max(1), quits_at_once: false }
    }

    /// Returns this server, which cancels all requests at the end of the input if `quits` is true.
    #[must_use]
    pub fn quitting_at_once(self, quits: bool) -> Server {
        Server { quits_at_once: quits, ..self }
    }

    /// Returns this server with an upper bound on the memory of each search, in MiB.
    #[must_use]
    pub fn with_search_memory(self, mebibytes: usize) -> Server {
        Server { analyst: self.analyst.with_search_memory(mebibytes), ..self }
    }

    /// Returns the number of positions that are analysed at the same time.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// Answers lines until the input ends, and then finishes the remaining requests. Returns when all answers are
    /// written.
    ///
    /// # Errors
    ///
    /// Returns an error if the input cannot be read or the output cannot be written.
    pub fn serve(&self, input: impl BufRead, output: impl Write + Send) -> io::Result<()> {
        Shared::new(self).serve(input, output)
    }

    /// Answers lines like [`Server::serve`], but ends the remaining requests when `wait_for_closed_output` returns. That
    /// function is called on another thread after the end of the input, and waits until no program reads the output any
    /// more.
    ///
    /// If the server quits at once, it returns within a bounded time after it has read the end of the input, even if
    /// the output blocks. The thread that writes then still uses the output, so the process should end.
    ///
    /// # Errors
    ///
    /// Returns an error if the input cannot be read, the output cannot be written, or a thread cannot be started.
    pub fn serve_until(
        &self,
        input: impl BufRead,
        output: impl Write + Send + 'static,
        wait_for_closed_output: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        Shared::new(self).serve_detached(input, output, |requests| {
            let watch = move || {
                wait_for_closed_output();
                requests.end();
            };
            // The thread may wait for ever, so it is not joined. If it cannot be started, the work merely ends later.
            let _ = thread::Builder::new().name("analysis-output".to_owned()).spawn(watch);
        })
    }
}

/// Reads a line without its end; returns `None` at the end of the input. A line that is too long is read to its end and
/// discarded.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let count = input.by_ref().take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', &mut line)?;
    if count == 0 {
        return Ok(None);
    }
    if line.len() > MAX_LINE_BYTES && line.last() != Some(&b'\n') {
        line.clear();
        line.shrink_to_fit();
        loop {
            let part = input.fill_buf()?;
            let end = part.iter().position(|&byte| byte == b'\n');
            let count = end.map_or(part.len(), |place| place + 1);
            let is_end = end.is_some() || part.is_empty();
            input.consume(count);
            if is_end {
                break;
            }
        }
        // The replacement text is neither blank nor JSON, so it is answered with an error.
        line.extend_from_slice(b"(a line that is too long)");
    }
    Ok(Some(line))
}

impl<'s> Shared<'s> {
    fn new(server: &'s Server) -> Shared<'s> {
        Shared { server, requests: Arc::default(), bounds: Bounds::USUAL }
    }

    /// Answers lines until all are answered and written.
    fn serve(&self, input: impl BufRead, output: impl Write + Send) -> io::Result<()> {
        let result = thread::scope(|scope| {
            scope.spawn(|| self.requests.write(output));
            self.answer_lines(input, |_| {})
        });
        self.requests.output().error.take().map_or(result, Err)
    }

    /// Answers lines until all are answered and, unless the server quits at once, written.
    fn serve_detached(
        &self,
        input: impl BufRead,
        output: impl Write + Send + 'static,
        at_the_end: impl FnOnce(Arc<Requests>),
    ) -> io::Result<()> {
        let requests = Arc::clone(&self.requests);
        let write = move || requests.write(output);
        // A scope would wait for this thread, and this thread may wait for ever for a client that does not read.
        let writer = thread::Builder::new().name("analysis-writer".to_owned()).spawn(write)?;
        let result = self.answer_lines(input, at_the_end);
        if self.server.quits_at_once {
            self.requests.wait_until_written(self.bounds.closing);
        } else {
            // The thread catches its panics.
            let _ = writer.join();
        }
        self.requests.output().error.take().map_or(result, Err)
    }

    /// Answers lines until the input ends and all workers have ended. Then no further line will be written. Calls
    /// `at_the_end` when the input has ended.
    fn answer_lines(
        &self,
        mut input: impl BufRead,
        at_the_end: impl FnOnce(Arc<Requests>),
    ) -> io::Result<()> {
        // Dropped after the scope, in which all workers end.
        let _closing = Closing(&self.requests);
        thread::scope(|scope| {
            let started = (0..self.server.workers).try_for_each(|_| {
                let mut analyst = self.server.analyst.clone();
                let work = move || self.work(&mut analyst);
                thread::Builder::new().name("analysis".to_owned()).spawn_scoped(scope, work).map(drop)
            });
            let listen = || started.and_then(|()| self.listen(&mut input));
            let result = caught(listen).unwrap_or_else(|panic| {
                Err(io::Error::other(format!("the thread that reads lines has panicked: {panic}")))
            });
            // The scope waits for the workers, which wait for this.
            self.input_ended();
            at_the_end(Arc::clone(&self.requests));
            result
        })
    }

    fn queue(&self, answer: &Value) {
        self.requests.queue(answer);
    }

    fn listen(&self, input: &mut impl BufRead) -> io::Result<()> {
        let human = HumanModels {
            is_there: self.server.analyst.human_network().is_some()
                || self.server.analyst.network().takes_metadata(),
            names: self.server.models.names.join(", "),
        };
        let mut is_first = true;
        while let Some(line) = read_line(input)? {
            self.requests.wait_for_room(self.bounds.answers);
            if self.requests.is_over() {
                return Ok(());
            }
            // Some editors and shells start a text with a byte order mark.
            let line = if std::mem::take(&mut is_first) { without_bom(&line).to_vec() } else { line };
            let Ok(line) = String::from_utf8(line) else {
                self.queue(
                    &json!({ "error": "the line is not UTF-8 - could not parse input line as json request" }),
                );
                continue;
            };
            match read(&line, &self.server.config, &human) {
                Line::Blank => {}
                Line::Refused(answer) => self.queue(&answer),
                Line::Action(object, action) => self.act(object, &action),
                Line::Query(answers, query) => {
                    answers.iter().for_each(|answer| self.queue(answer));
                    if let Some(query) = query {
                        self.enqueue(*query);
                    }
                }
            }
        }
        Ok(())
    }

    /// Lets the workers end when no request is left.
    fn input_ended(&self) {
        if self.server.quits_at_once {
            self.requests.output().is_silent = true;
            self.requests.end();
        }
        self.requests.state().is_closed = true;
        self.requests.work.notify_all();
    }

    fn enqueue(&self, query: Query) {
        let query = Arc::new(query);
        let mut state = self.requests.state();
        while state.bytes > self.bounds.queries && !self.requests.is_over() {
            state = self.requests.has_space.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if query.turns.is_empty() {
            return;
        }
        state.bytes += query.bytes();
        let waiting = Arc::new(AtomicUsize::new(query.turns.len()));
        for &(turn, priority) in &query.turns {
            let place = (Reverse(priority), state.came);
            state.came += 1;
            let request = Request { query: Arc::clone(&query), turn, waiting: Arc::clone(&waiting) };
            state.queue.insert(place, request);
        }
        self.requests.work.notify_all();
    }

    /// Carries out an action and responds with its object.
    fn act(&self, mut object: Object, action: &Action) {
        match action {
            Action::Version => {
                object.insert("version".into(), self.server.models.version.as_str().into());
                object.insert("git_hash".into(), "<omitted>".into());
            }
            Action::Models => {
                object.insert("models".into(), self.models());
            }
            Action::ClearCache => self.server.analyst.clear_cache(),
            Action::Terminate { id, turns } => {
                return self.terminate(id.as_deref(), turns.as_ref(), Value::Object(object));
            }
        }
        self.queue(&Value::Object(object));
    }

    fn models(&self) -> Value {
        let own = self.server.analyst.network();
        let networks = [Some(own), self.server.analyst.human_network()];
        let names = self.server.models.names.iter();
        let model = |(network, name): (std::sync::Arc<kosumi_net::Network>, &String)| {
            json!({
                "name": name,
                "internalName": network.name(),
                "maxBatchSize": self.server.processors,
                "usesHumanSLProfile": network.takes_metadata(),
                "version": network.version(),
                "usingFP16": "auto",
            })
        };
        networks.into_iter().flatten().zip(names).map(model).collect()
    }

    /// Cancels requests. Queued requests are answered before the action, running ones after it.
    fn terminate(&self, id: Option<&str>, turns: Option<&HashSet<i64>>, answer: Value) {
        let is_meant = |request: &Request| {
            id.is_none_or(|id| request.query.id == id)
                && turns.is_none_or(|turns| turns.contains(&(request.turn as i64)))
        };
        let mut state = self.requests.state();
        let mut ended = Vec::new();
        state.queue.retain(|_, request| {
            let ends = is_meant(request);
            if ends {
                ended.push(request.clone());
            }
            !ends
        });
        ended.iter().for_each(|request| state.bytes -= request.leave());
        self.requests.has_space.notify_all();
        // The output is locked until the action is answered, so a search that stops now is answered later.
        let mut output = self.requests.output();
        for request in &ended {
            output.queue(&report::no_results(&request.query.id, request.turn));
        }
        for (_, request, stop) in &state.running {
            if is_meant(request) {
                stop.store(true, Ordering::Relaxed);
            }
        }
        output.queue(&answer);
        self.requests.has_line.notify_all();
    }

    /// Processes requests until none are left.
    fn work(&self, analyst: &mut Analyst) {
        let stop = Arc::new(AtomicBool::new(false));
        while let Some((number, request, threads)) = self.next(&stop) {
            if self.has_panicked(&request, || self.analyze(analyst, &request, &stop, threads)) {
                // The state of the analyst may be inconsistent.
                *analyst = self.server.analyst.clone();
            }
            self.requests.leave(number);
        }
    }

    /// Lets `analyze` answer a request. If it panics, answers with an error and returns true. Either way the request
    /// gets one final answer, because giving it is the last step of `analyze`.
    fn has_panicked(&self, Request { query, turn, .. }: &Request, analyze: impl FnOnce()) -> bool {
        let Err(panic) = caught(analyze) else { return false };
        self.requests.wait_for_room(self.bounds.answers);
        self.queue(&report::failed(&query.id, *turn, &format!("the analysis has panicked: {panic}")));
        true
    }

    /// Returns the next request with its number, and the number of threads that it may use.
    fn next(&self, stop: &Arc<AtomicBool>) -> Option<(u64, Request, usize)> {
        let mut state = self.requests.state();
        loop {
            let next = self.take(&mut state, stop);
            if next.is_some() {
                return next;
            }
            if state.is_closed || self.requests.is_over() {
                return None;
            }
            state = self.requests.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes the first request of the queue, if there is one.
    fn take(&self, state: &mut State, stop: &Arc<AtomicBool>) -> Option<(u64, Request, usize)> {
        let ((_, number), request) = state.queue.pop_first()?;
        state.bytes = state.bytes.saturating_sub(request.leave());
        self.requests.has_space.notify_all();
        stop.store(self.requests.is_over(), Ordering::Relaxed);
        state.running.push((number, request.clone(), Arc::clone(stop)));
        // All requests that run or can start share the processors.
        let busy = (state.running.len() + state.queue.len()).min(self.server.workers);
        let most = self.server.processors / busy.max(1);
        Some((number, request, most.max(1)))
    }

    fn analyze(&self, analyst: &mut Analyst, request: &Request, stop: &AtomicBool, threads: usize) {
        let Request { query, turn, .. } = request;
        let game = query.game(*turn);
        let mut settings = query.settings.for_game(&game);
        // Threads check the limits after each visit, so many threads would exceed a small number of visits.
        let limits = settings.limits;
        let fewest = [limits.visits, limits.playouts].into_iter().flatten().min().unwrap_or(u32::MAX);
        let sensible = (fewest / VISITS_PER_THREAD).max(1) as usize;
        let threads = threads.min(sensible);
        settings.threads = settings.threads.clamp(1, threads);
        let on_report = |analysis| self.report(request, analysis);
        let reports = query.first_report.map(|first| Reports {
            first,
            every: query.report_every,
            on_report: &on_report,
        });
        let include = &query.include;
        let detail = Detail {
            raw: true,
            ownership: include.ownership || include.ownership_stdev,
            moves_ownership: include.moves_ownership || include.moves_ownership_stdev,
        };
        let question = Question {
            game: &game,
            settings: &settings,
            restriction: &query.restriction,
            detail,
            interrupted: &|| stop.load(Ordering::Relaxed),
            reports,
        };
        self.answer(request, analyst.analyze(&question));
    }

    /// Gives a report during the search of a request if there is room for it. A search never waits with a report, so
    /// that it keeps its limits and can be terminated.
    fn report(&self, Request { query, turn, .. }: &Request, analysis: Analysis) {
        if self.requests.output().bytes > self.bounds.reports {
            return;
        }
        self.queue(&report::result(query, *turn, analysis, true));
    }

    /// Gives the final answer to a request, when there is room for it. `analysis` is `None` if the search did not begin.
    fn answer(&self, Request { query, turn, .. }: &Request, analysis: Option<Analysis>) {
        self.requests.wait_for_room(self.bounds.answers);
        self.queue(&match analysis {
            Some(analysis) => report::result(query, *turn, analysis, false),
            None => report::no_results(&query.id, *turn),
        });
    }
}

impl Request {
    /// Removes a request from the queue. Returns the size of the query, in bytes, if this was its last queued position,
    /// and 0 otherwise.
    fn leave(&self) -> usize {
        if self.waiting.fetch_sub(1, Ordering::Relaxed) == 1 { self.query.bytes() } else { 0 }
    }
}

impl Output {
    /// Adds a line, unless it is not wanted or cannot be written.
    fn queue(&mut self, answer: &Value) {
        if self.is_silent || self.error.is_some() {
            return;
        }
        let mut line = answer.to_string().into_bytes();
        line.push(b'\n');
        self.bytes += line.len();
        self.lines.push_back(line);
    }

    /// Notes an error. No line is written after it.
    fn fail(&mut self, error: io::Error) {
        self.error = Some(error);
        self.lines.clear();
        self.bytes = 0;
    }

    /// Takes the first line.
    fn take(&mut self) -> Option<Unwritten> {
        self.lines.pop_front().map(|text| Unwritten { text, written: 0 })
    }
}
