//! The engine's side: reads commands, passes them to a [`Handler`], and writes the responses.
//!
//! ```text
//!  input ──> reader thread ──> queue (bounded) ──> serve() ──> Handler
//!                 │                                   │            │
//!                 └──────── InputWatch ───────────────┼────────────┘
//!                           (what has arrived)        └──> output
//! ```
//!
//! A separate thread reads the input, because controllers send commands without waiting for responses, and because a
//! running analysis must stop when the next line arrives. Nevertheless, commands are handled one after the other, and
//! answered in the order of their arrival.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read, Write};
use std::mem;
use std::sync::{Arc, PoisonError};
use std::thread;

// With `RUSTFLAGS="--cfg loom"`, the types of the model checker loom: see `server/models.rs`.
#[cfg(loom)]
use loom::sync::{Condvar, Mutex, MutexGuard, atomic};
#[cfg(not(loom))]
use std::sync::{Condvar, Mutex, MutexGuard, atomic};

use atomic::{AtomicBool, AtomicU64, Ordering};

use crate::command::{Command, Line, MAX_LINE_BYTES, split_id};
use crate::lines::LineReader;
use crate::response::{Failure, Response, header, parse_answer, push_lines};

/// Number of bytes of commands that wait in the queue before the reader stops reading. A whole game sent as single
/// commands needs 10 kB.
const QUEUE_BYTES: usize = if cfg!(loom) { 0 } else { 4 * MAX_LINE_BYTES };

/// Number of bytes that a command counts in the queue besides its text, so that the number of very short commands is
/// bounded as well.
const QUEUE_ENTRY_BYTES: usize = 64;

/// Comment by which GoGui requests to interrupt the running command.
const INTERRUPT: &str = "interrupt";

/// An engine, from the perspective of the server.
pub trait Handler {
    /// Handles a command.
    ///
    /// The server writes the response, with the id of the command. Commands are handled in order and never overlap.
    ///
    /// # Errors
    ///
    /// Returns the failure to respond with. For unknown command names this is [`Failure::unknown_command`].
    fn handle(&mut self, command: &Command, session: &mut Session<'_>) -> Result<Response, Failure>;

    /// Called when all commands that have arrived are answered, so that the engine can ponder. Nothing can be written
    /// during the call, and the next command waits until it returns. It must therefore return soon after
    /// [`InputWatch::input_pending`] becomes true.
    ///
    /// The default implementation does nothing.
    fn idle(&mut self, watch: &InputWatch) {
        let _ = watch;
    }
}

/// Error for output that could not be written because the controller has closed it. Handlers can propagate it with `?`.
/// The resulting failure is never displayed, because [`serve`] returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the controller has closed the connection")]
pub struct Disconnected;

impl From<Disconnected> for Failure {
    fn from(disconnected: Disconnected) -> Self {
        Self::new(disconnected.to_string())
    }
}

/// View of the input that has arrived since a command started. Clones share their state and may be polled by any
/// thread. Each query is one or two atomic loads.
///
/// The default value watches no input, so nothing ever arrives.
#[derive(Clone, Debug, Default)]
pub struct InputWatch(Arc<Signals>);

/// State of an [`InputWatch`]. Commands are numbered from 1 in the order of their arrival.
///
/// Each value is an independent hint, and the lines pass through the mutex of the queue, so `Relaxed` would suffice,
/// with one exception: a thread that observes an interruption must also observe that input has arrived.
#[derive(Debug, Default)]
struct Signals {
    /// Number of the command that is being handled, or was handled last. Written only by `serve` and [`answer`].
    running: AtomicU64,
    /// Commands with a lower number are followed by another line. Written by the reader and by
    /// [`InputWatch::interrupt`].
    followed_below: AtomicU64,
    /// Commands with a lower number are followed by a request to interrupt. Written by the reader and by
    /// [`InputWatch::interrupt`].
    interrupted_below: AtomicU64,
    /// Whether the input has ended. Written only by the reader.
    ended: AtomicBool,
    /// Whether no process can read the responses any longer. Written only by the reader.
    deserted: AtomicBool,
}

impl InputWatch {
    /// Returns whether anything has arrived after the running command: a command, a comment, an empty line, or the end
    /// of the input. An unlimited analysis must then stop.
    ///
    /// Between commands, this refers to the command that was answered last.
    #[must_use]
    pub fn input_pending(&self) -> bool {
        let running = self.0.running.load(Ordering::Relaxed);
        self.0.followed_below.load(Ordering::Relaxed) > running || self.ended()
    }

    /// Returns whether the comment line `# interrupt` has arrived after the running command.
    ///
    /// It applies to all commands sent before it, including those that still wait in the queue, but never to later
    /// ones. It therefore does not matter whether it arrives just before or just after the engine starts the command.
    ///
    /// Also returns true if the controller no longer exists, as far as [`serve_until`] can determine.
    #[must_use]
    pub fn interrupted(&self) -> bool {
        let running = self.0.running.load(Ordering::Relaxed);
        self.0.interrupted_below.load(Ordering::Acquire) > running || self.deserted()
    }

    fn deserted(&self) -> bool {
        self.0.deserted.load(Ordering::Relaxed)
    }

    /// Returns whether the input has ended. Commands in the queue are still answered.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.0.ended.load(Ordering::Relaxed)
    }

    /// Interrupts the running command, as the comment `# interrupt` does. For programs that own the engine and call
    /// [`answer`]. Later commands are not affected.
    pub fn interrupt(&self) {
        let behind = self.0.running.load(Ordering::Relaxed) + 1;
        self.0.followed_below.fetch_max(behind, Ordering::Relaxed);
        self.0.interrupted_below.fetch_max(behind, Ordering::Release);
    }
}

/// Interface of the server for a handler that handles a command.
pub struct Session<'a> {
    output: &'a mut dyn Write,
    watch: &'a InputWatch,
    id: Option<u32>,
    /// Whether the header of the response has been written.
    streaming: bool,
    quitting: bool,
    /// First error of the output. Nothing is written after it.
    error: Option<io::Error>,
}

impl fmt::Debug for Session<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("id", &self.id)
            .field("streaming", &self.streaming)
            .field("quitting", &self.quitting)
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl Session<'_> {
    /// Returns whether anything has arrived after this command. See [`InputWatch::input_pending`].
    #[must_use]
    pub fn input_pending(&self) -> bool {
        self.watch.input_pending()
    }

    /// Returns whether the controller requested to interrupt this command. See [`InputWatch::interrupted`].
    #[must_use]
    pub fn interrupted(&self) -> bool {
        self.watch.interrupted()
    }

    /// Returns a watch on the input, which can be given to other threads.
    #[must_use]
    pub fn watch(&self) -> InputWatch {
        self.watch.clone()
    }

    /// Makes [`serve`] return when this command has been answered. Commands after it get no response.
    pub fn quit(&mut self) {
        self.quitting = true;
    }

    /// Writes the first line of the response, a bare `= `, immediately. Does nothing when called again.
    ///
    /// The response is then necessarily a success: a [`Failure`] returned afterwards appears as a line of text.
    ///
    /// # Errors
    ///
    /// Returns [`Disconnected`] if the output is closed.
    pub fn begin_stream(&mut self) -> Result<(), Disconnected> {
        self.stream("")
    }

    /// Writes lines of the response immediately, after the first line if that has not been written yet. Empty lines are
    /// omitted. The lines of the returned [`Response`], if it has any, and the end of the response follow.
    ///
    /// # Errors
    ///
    /// Returns [`Disconnected`] if the output is closed.
    pub fn stream(&mut self, lines: &str) -> Result<(), Disconnected> {
        let mut text = String::new();
        if !self.streaming {
            self.streaming = true;
            text.push_str(&header('=', self.id));
            text.push('\n');
        }
        push_lines(&mut text, lines);
        self.write(&text)
    }

    fn write(&mut self, text: &str) -> Result<(), Disconnected> {
        if self.error.is_some() {
            return Err(Disconnected);
        }
        if text.is_empty() {
            return Ok(());
        }
        self.output.write_all(text.as_bytes()).and_then(|()| self.output.flush()).map_err(|error| {
            self.error = Some(error);
            Disconnected
        })
    }

    /// Writes the rest of the response.
    fn finish(&mut self, result: &Result<Response, Failure>) {
        let text = match result {
            Ok(response) if !self.streaming => response.framed(self.id),
            Err(failure) if !self.streaming => failure.framed(self.id),
            Ok(_) | Err(_) => {
                let mut text = String::new();
                push_lines(&mut text, result.as_ref().map_or_else(Failure::message, Response::body));
                text.push('\n');
                text
            }
        };
        // The session keeps the error, and `serve` checks it.
        let _ = self.write(&text);
    }
}

/// Answers commands until the input ends or the handler [quits](Session::quit).
///
/// At the end of the input, the commands that have arrived are still answered. The response to lines that are not
/// commands is `syntax error`, and to lines longer than [`MAX_LINE_BYTES`] it is `line too long`. Blank lines and
/// comments get no response.
///
/// A thread reads the input. It ends with the input, or at the first command that arrives after this function has
/// returned. Until then it owns the input, so another call should not use the same input.
///
/// A controller that does not read its responses makes this function wait, even with the response to `quit`, because
/// the protocol demands that this response is sent before the engine ends. The wait ends when the controller reads or
/// closes the output. Meanwhile, nothing is computed.
///
/// # Errors
///
/// Returns an error if the input cannot be read or the output cannot be written. A controller that has closed the
/// output is not an error, but makes the function return.
pub fn serve<H>(input: impl Read + Send + 'static, output: impl Write, handler: &mut H) -> io::Result<()>
where
    H: Handler + ?Sized,
{
    serve_reading(input, output, handler, |_| {})
}

/// Answers commands as [`serve`] does, but stops working when the controller no longer exists.
///
/// The end of the input does not imply that the controller no longer exists: commands may come from a file, or from a
/// program that has sent everything and waits for the responses. Therefore the reader thread calls `wait_for_desertion`
/// when the input has ended. That function should wait until no process can read the output any longer, and may wait
/// forever. When it returns, the running command is [interrupted](InputWatch::interrupted), and no other one is
/// started.
///
/// # Errors
///
/// Returns an error if the input cannot be read or the output cannot be written, as [`serve`] does.
pub fn serve_until<H>(
    input: impl Read + Send + 'static,
    output: impl Write,
    handler: &mut H,
    wait_for_desertion: impl FnOnce() + Send + 'static,
) -> io::Result<()>
where
    H: Handler + ?Sized,
{
    serve_reading(input, output, handler, |watch| {
        wait_for_desertion();
        watch.0.deserted.store(true, Ordering::Relaxed);
    })
}

/// Implements [`serve`] and [`serve_until`]. The reader thread calls `at_the_end` when the input has ended.
fn serve_reading<H>(
    input: impl Read + Send + 'static,
    mut output: impl Write,
    handler: &mut H,
    at_the_end: impl FnOnce(&InputWatch) + Send + 'static,
) -> io::Result<()>
where
    H: Handler + ?Sized,
{
    let queue = Arc::new(Queue::default());
    let watch = InputWatch::default();
    let reader = Reader { queue: Arc::clone(&queue), watch: watch.clone(), received: 0 };
    let reading = {
        let watch = watch.clone();
        move || {
            reader.run(input);
            at_the_end(&watch);
        }
    };
    thread::Builder::new().name("gtp-input".to_owned()).spawn(reading)?;

    let closing = CloseOnDrop(&queue);
    loop {
        if queue.is_waiting() {
            handler.idle(&watch);
        }
        let Some(entry) = queue.pop().filter(|_| !watch.deserted()) else { break };
        watch.0.running.fetch_add(1, Ordering::Relaxed);
        let (id, command) = match entry {
            QueueEntry::Text(text) => match Command::parse(&text) {
                Ok(command) => (command.id, Ok(command)),
                Err(error) => (error.id(), Err(error.into())),
            },
            QueueEntry::TooLong { id } => (id, Err(Failure::new("line too long"))),
        };
        let mut session = Session {
            output: &mut output,
            watch: &watch,
            id,
            streaming: false,
            quitting: false,
            error: None,
        };
        let result = command.and_then(|command| handler.handle(&command, &mut session));
        session.finish(&result);
        match session.error {
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            Some(error) => return Err(error),
            None if session.quitting => return Ok(()),
            None => {}
        }
    }
    drop(closing);
    queue.error().map_or(Ok(()), Err)
}

/// Lets a handler answer one line, for a program that owns the engine instead of communicating with it through pipes.
/// Returns the body of the response or the message of a failure, as a controller connected to [`serve`] would read
/// them. Returns `None` for blank lines and comments, which get no response.
///
/// Another thread can [interrupt](InputWatch::interrupt) the command through the watch. A request of the command to
/// [quit](Session::quit) has no effect here.
pub fn answer<H>(line: &str, handler: &mut H, watch: &InputWatch) -> Option<Result<String, String>>
where
    H: Handler + ?Sized,
{
    if line.len() > MAX_LINE_BYTES {
        return Some(Err("line too long".to_owned()));
    }
    let Line::Text(text) = Line::read(line.as_bytes()) else { return None };
    watch.0.running.fetch_add(1, Ordering::Relaxed);
    let command = Command::parse(&text).map_err(Failure::from);
    let mut output = Vec::new();
    let mut session =
        Session { output: &mut output, watch, id: None, streaming: false, quitting: false, error: None };
    let result = command.and_then(|command| handler.handle(&command, &mut session));
    session.finish(&result);
    Some(parse_answer(String::from_utf8_lossy(&output).trim_end()))
}

/// A line that gets a response.
#[derive(Debug)]
enum QueueEntry {
    /// A preprocessed line. It is parsed only when it is handled, because its words take many times its memory.
    Text(String),
    /// A line that was too long to be stored.
    TooLong { id: Option<u32> },
}

impl QueueEntry {
    fn bytes(&self) -> usize {
        QUEUE_ENTRY_BYTES
            + match self {
                Self::Text(text) => text.len(),
                Self::TooLong { .. } => 0,
            }
    }
}

/// Queue of commands. Bounded by bytes, but at least one command always fits.
#[derive(Debug, Default)]
struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    entries: VecDeque<QueueEntry>,
    /// Invariant: the sum of `bytes()` over `entries`. (`the_queue_is_bounded_and_keeps_the_order`)
    bytes: usize,
    /// Whether nothing more will be pushed.
    ended: bool,
    /// Whether nothing more will be popped.
    closed: bool,
    /// Error that ended reading, if the input did not end normally.
    error: Option<io::Error>,
}

impl Queue {
    /// Locks the state. A panic in another thread leaves it consistent, because no code that can panic runs under the
    /// lock.
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while the condition holds.
    fn wait_while(&self, is_so: impl Fn(&QueueState) -> bool) -> MutexGuard<'_, QueueState> {
        let mut state = self.lock();
        while is_so(&state) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// Adds an entry, waiting for space. Returns false if the queue is closed.
    fn push(&self, entry: QueueEntry) -> bool {
        let bytes = entry.bytes();
        let mut state = self.wait_while(|state| {
            !state.closed && !state.entries.is_empty() && state.bytes + bytes > QUEUE_BYTES
        });
        if state.closed {
            return false;
        }
        state.bytes += bytes;
        state.entries.push_back(entry);
        self.changed.notify_all();
        true
    }

    /// Takes an entry, waiting for one. Returns `None` when the input has ended and all commands have been taken.
    fn pop(&self) -> Option<QueueEntry> {
        let mut state = self.wait_while(|state| !state.ended && state.entries.is_empty());
        let entry = state.entries.pop_front()?;
        state.bytes -= entry.bytes();
        self.changed.notify_all();
        Some(entry)
    }

    /// Returns whether the queue is empty but the input has not ended.
    fn is_waiting(&self) -> bool {
        let state = self.lock();
        state.entries.is_empty() && !state.ended
    }

    fn end(&self, error: Option<io::Error>) {
        let mut state = self.lock();
        state.ended = true;
        state.error = state.error.take().or(error);
        self.changed.notify_all();
    }

    fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        drop(mem::take(&mut state.entries));
        state.bytes = 0;
        self.changed.notify_all();
    }

    fn error(&self) -> Option<io::Error> {
        self.lock().error.take()
    }
}

/// Guard that releases the reader when `serve` returns, even if the handler panics.
struct CloseOnDrop<'a>(&'a Queue);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// State of the reader thread.
struct Reader {
    queue: Arc<Queue>,
    watch: InputWatch,
    /// Number of commands that have arrived.
    received: u64,
}

/// Ends the queue however the thread ends, even by a panic of the input, so that `serve` does not wait for more.
impl Drop for Reader {
    fn drop(&mut self) {
        self.watch.0.ended.store(true, Ordering::Relaxed);
        self.queue.end(None);
    }
}

impl Reader {
    fn run(mut self, input: impl Read) {
        let mut lines = LineReader::new(input, MAX_LINE_BYTES);
        loop {
            let line = match lines.next_line() {
                Ok(Some(line)) => line,
                Ok(None) => return,
                Err(error) => return self.queue.end(Some(error)),
            };
            // A truncated rest does not matter if it is part of a comment.
            let too_long = line.truncated && !line.bytes.contains(&b'#');
            let entry = match Line::read(&line.bytes) {
                Line::Comment(comment) => {
                    self.note_line();
                    if comment == INTERRUPT {
                        self.watch.0.interrupted_below.store(self.received + 1, Ordering::Release);
                    }
                    continue;
                }
                Line::Blank if !too_long => {
                    self.note_line();
                    continue;
                }
                Line::Text(text) if !too_long => QueueEntry::Text(text),
                Line::Text(text) => QueueEntry::TooLong { id: split_id(&text).ok().and_then(|(id, _)| id) },
                Line::Blank => QueueEntry::TooLong { id: None },
            };
            self.note_line();
            self.received += 1;
            if !self.queue.push(entry) {
                return;
            }
        }
    }

    /// Records that a line has arrived after all commands received so far.
    fn note_line(&self) {
        self.watch.0.followed_below.store(self.received + 1, Ordering::Relaxed);
    }
}

#[cfg(all(test, loom))]
mod models;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_is_bounded_and_keeps_the_order() {
        let queue = Arc::new(Queue::default());
        let size = MAX_LINE_BYTES / 2;
        let producer = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                for index in 0..40_u8 {
                    assert!(queue.push(QueueEntry::Text(char::from(b'0' + index).to_string().repeat(size))));
                }
                queue.end(None);
            })
        };
        let mut taken = 0;
        while let Some(entry) = queue.pop() {
            let state = queue.lock();
            assert!(state.bytes <= QUEUE_BYTES);
            assert_eq!(state.bytes, state.entries.iter().map(QueueEntry::bytes).sum::<usize>());
            drop(state);
            let QueueEntry::Text(text) = entry else { panic!("no such entry") };
            assert!(text.starts_with(char::from(b'0' + taken)));
            taken += 1;
        }
        assert_eq!(taken, 40);
        producer.join().unwrap();
    }

    #[test]
    fn closing_the_queue_releases_the_reader() {
        let queue = Arc::new(Queue::default());
        let producer = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || while queue.push(QueueEntry::Text("name".repeat(1000))) {})
        };
        assert!(queue.pop().is_some());
        queue.close();
        producer.join().unwrap();
    }

    #[test]
    fn a_default_watch_reports_nothing() {
        let watch = InputWatch::default();
        assert!(!watch.input_pending() && !watch.interrupted() && !watch.ended());
    }
}
