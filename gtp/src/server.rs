//! The engine's side: reads commands, hands them to a [`Handler`], writes the answers.
//!
//! ```text
//!  input ──> reader thread ──> queue (bounded) ──> serve() ──> Handler
//!                 │                                   │            │
//!                 └──────── InputWatch ───────────────┼────────────┘
//!                           (what has arrived)        └──> output
//! ```
//!
//! The input is read by a thread of its own, because controllers send commands without waiting for answers,
//! and because a running analysis must stop when the next line arrives. Commands are nevertheless handled one
//! after the other, and answered in the order in which they came.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read, Write};
use std::mem;
use std::sync::{Arc, PoisonError};
use std::thread;

// With `RUSTFLAGS="--cfg loom"` those of a model checker: see `server/models.rs`.
#[cfg(loom)]
use loom::sync::{Condvar, Mutex, MutexGuard, atomic};
#[cfg(not(loom))]
use std::sync::{Condvar, Mutex, MutexGuard, atomic};

use atomic::{AtomicBool, AtomicU64, Ordering};

use crate::command::{Command, Line, MAX_LINE_BYTES, split_id};
use crate::lines::LineReader;
use crate::response::{Failure, Response, header, parse_answer, push_lines};

/// How many bytes of commands wait in the queue before the reader lets the pipe fill up instead. A whole game
/// sent as single commands needs 10 kB.
const QUEUE_BYTES: usize = if cfg!(loom) { 0 } else { 4 * MAX_LINE_BYTES };

/// What a command costs in the queue besides its text, so that very short commands are bounded as well.
const QUEUE_ENTRY_BYTES: usize = 64;

/// The comment by which GoGui asks to cut the running command short.
const INTERRUPT: &str = "interrupt";

/// An engine, as the server sees it.
pub trait Handler {
    /// Carries out a command.
    ///
    /// The server writes the answer, with the id of the command. Commands come in order and never overlap.
    ///
    /// # Errors
    ///
    /// The failure to answer with; [`Failure::unknown_command`] for names that mean nothing to the engine.
    fn handle(&mut self, command: &Command, session: &mut Session<'_>) -> Result<Response, Failure>;

    /// Called when everything that has arrived is answered: time to think ahead. Nothing can be written now, and
    /// the next command waits until this returns, so it must do so soon after [`InputWatch::input_pending`].
    ///
    /// Does nothing unless an engine has a use for the time.
    fn idle(&mut self, watch: &InputWatch) {
        let _ = watch;
    }
}

/// The controller is gone: what was to be written could not be. Handlers can pass it on with `?`; nobody
/// will see the failure that becomes of it, as [`serve`] returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the controller is gone")]
pub struct Disconnected;

impl From<Disconnected> for Failure {
    fn from(disconnected: Disconnected) -> Self {
        Self::new(disconnected.to_string())
    }
}

/// Tells what has arrived on the input since a command started. Copies share their state and may be polled
/// by any thread; each question is one or two relaxed loads.
///
/// The default is a watch on no input at all, on which nothing ever arrives.
#[derive(Clone, Debug, Default)]
pub struct InputWatch(Arc<Signals>);

/// Commands are numbered from 1 in the order in which they arrive.
///
/// Each value is a hint that stands for itself, and the lines go through the mutex of the queue, so that `Relaxed` would
/// do, but for one thing: whoever sees an interruption is to see, too, that something has arrived.
#[derive(Debug, Default)]
struct Signals {
    /// The command that is being handled, or was handled last. Written by `serve` or [`answer`] only.
    running: AtomicU64,
    /// Commands with a lower number have a line behind them. Written by the reader only.
    followed_below: AtomicU64,
    /// Commands with a lower number have a request to interrupt behind them. Written by the reader only.
    interrupted_below: AtomicU64,
    /// The input has ended. Written by the reader only.
    ended: AtomicBool,
    /// Nobody reads the answers any more. Written by the reader only.
    deserted: AtomicBool,
}

impl InputWatch {
    /// Whether anything has arrived behind the running command: a command, a comment, an empty line, or the
    /// end of the input. An analysis without an end of its own must stop then.
    ///
    /// Between commands this speaks of the one that was answered last.
    #[must_use]
    pub fn input_pending(&self) -> bool {
        let running = self.0.running.load(Ordering::Relaxed);
        self.0.followed_below.load(Ordering::Relaxed) > running || self.ended()
    }

    /// Whether the comment line `# interrupt` has arrived behind the running command.
    ///
    /// It is meant for all commands sent before it, also for those that still wait in the queue, but never
    /// for later ones. Thus it does not matter whether it arrives just before or just after the engine
    /// begins with the command.
    ///
    /// Also when the controller is gone, as far as [`serve_until`] can tell.
    #[must_use]
    pub fn interrupted(&self) -> bool {
        let running = self.0.running.load(Ordering::Relaxed);
        self.0.interrupted_below.load(Ordering::Acquire) > running || self.deserted()
    }

    fn deserted(&self) -> bool {
        self.0.deserted.load(Ordering::Relaxed)
    }

    /// Whether the input has ended. Commands that wait in the queue are still answered.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.0.ended.load(Ordering::Relaxed)
    }

    /// Asks the running command to cut itself short, as the comment `# interrupt` does: for a program that holds
    /// the engine itself and calls [`answer`]. Later commands are not touched.
    pub fn interrupt(&self) {
        let behind = self.0.running.load(Ordering::Relaxed) + 1;
        self.0.followed_below.fetch_max(behind, Ordering::Relaxed);
        self.0.interrupted_below.fetch_max(behind, Ordering::Release);
    }
}

/// What a handler may ask of the server while it carries out a command.
pub struct Session<'a> {
    output: &'a mut dyn Write,
    watch: &'a InputWatch,
    id: Option<u32>,
    /// Whether the header of the answer has been written.
    streaming: bool,
    quitting: bool,
    /// The first error on the output; nothing is written after it.
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
    /// Whether anything has arrived behind this command; see [`InputWatch::input_pending`].
    #[must_use]
    pub fn input_pending(&self) -> bool {
        self.watch.input_pending()
    }

    /// Whether the controller asked to cut this command short; see [`InputWatch::interrupted`].
    #[must_use]
    pub fn interrupted(&self) -> bool {
        self.watch.interrupted()
    }

    /// A watch on the input, to give to other threads.
    #[must_use]
    pub fn watch(&self) -> InputWatch {
        self.watch.clone()
    }

    /// Lets [`serve`] return when this command has been answered. Commands behind it get no answer.
    pub fn quit(&mut self) {
        self.quitting = true;
    }

    /// Writes the first line of the answer, a bare `= `, at once. Does nothing the second time.
    ///
    /// The answer can only be a success then: a [`Failure`] returned after this appears as a line of text.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if the output is closed.
    pub fn begin_stream(&mut self) -> Result<(), Disconnected> {
        self.stream("")
    }

    /// Writes lines of the answer at once, after the first line if this has not been written yet. Empty lines
    /// are left out. The lines of the [`Response`], if it has any, follow, and then the end of the answer.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if the output is closed.
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

    /// Writes what remains of the answer.
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
        // The error is kept in the session, where `serve` looks for it.
        let _ = self.write(&text);
    }
}

/// Answers commands until the input ends or the handler [quits](Session::quit).
///
/// At the end of the input the commands that have arrived are still answered. Lines that are no command are
/// answered with `syntax error`, lines longer than [`MAX_LINE_BYTES`] with `line too long`; blank lines and
/// comments get no answer.
///
/// The input is read by a thread, which ends with the input, or at the first command that arrives after this
/// function has returned. Until then it holds on to the input; a second call should not be given the same.
///
/// # Errors
///
/// If the input cannot be read, or the output not be written. That the controller has closed the output is
/// not an error, only a reason to return.
pub fn serve<H>(input: impl Read + Send + 'static, output: impl Write, handler: &mut H) -> io::Result<()>
where
    H: Handler + ?Sized,
{
    serve_reading(input, output, handler, |_| {})
}

/// As [`serve`], but without a controller nothing is worked out to its end.
///
/// The end of the input alone does not tell that the controller is gone: commands may come from a file, or from
/// a program that has said everything and waits for the answers. So the input's thread calls `wait_for_desertion`
/// when the input has ended. It should wait until nobody can read the output any more, and may wait for ever.
/// When it returns, the running command is [interrupted](InputWatch::interrupted) and no other begun.
///
/// # Errors
///
/// As [`serve`].
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

/// `at_the_end` is called by the input's thread when the input has ended.
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
            Entry::Text(text) => match Command::parse(&text) {
                Ok(command) => (command.id, Ok(command)),
                Err(error) => (error.id(), Err(error.into())),
            },
            Entry::TooLong { id } => (id, Err(Failure::new("line too long"))),
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

/// Lets a handler answer one line, for a program that holds the engine itself instead of talking to it through
/// pipes: the body of the answer, or the message of a failure, as the controller at the other end of [`serve`]
/// would read them. `None` for blank lines and comments, which get no answer.
///
/// Through the watch, another thread can [interrupt](InputWatch::interrupt) the command. That the command asked
/// to [quit](Session::quit) means nothing here.
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

/// A line that gets an answer.
#[derive(Debug)]
enum Entry {
    /// A cleaned line. It is taken apart only when its turn comes: the words take many times its memory.
    Text(String),
    /// A line that was not kept.
    TooLong { id: Option<u32> },
}

impl Entry {
    fn bytes(&self) -> usize {
        QUEUE_ENTRY_BYTES
            + match self {
                Self::Text(text) => text.len(),
                Self::TooLong { .. } => 0,
            }
    }
}

/// The commands that wait for their turn. Bounded by bytes; at least one command always fits.
#[derive(Debug, Default)]
struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    entries: VecDeque<Entry>,
    /// Invariant: the sum of `bytes()` over `entries`. (`the_queue_is_bounded_and_keeps_the_order`)
    bytes: usize,
    /// Nothing more will be pushed.
    ended: bool,
    /// Nothing more will be popped.
    closed: bool,
    /// Why reading ended, if not at the end of the input.
    error: Option<io::Error>,
}

impl Queue {
    /// A thread that panicked leaves the state consistent: no code that can panic runs under the lock.
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while it is so.
    fn wait_while(&self, is_so: impl Fn(&QueueState) -> bool) -> MutexGuard<'_, QueueState> {
        let mut state = self.lock();
        while is_so(&state) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// Waits until there is room. Returns whether anybody still takes commands.
    fn push(&self, entry: Entry) -> bool {
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

    /// Waits for a command. `None` when the input has ended and all commands have been taken.
    fn pop(&self) -> Option<Entry> {
        let mut state = self.wait_while(|state| !state.ended && state.entries.is_empty());
        let entry = state.entries.pop_front()?;
        state.bytes -= entry.bytes();
        self.changed.notify_all();
        Some(entry)
    }

    /// Is there nothing to take, though there may be later?
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

/// Lets the reader go when `serve` returns, also when the handler panics.
struct CloseOnDrop<'a>(&'a Queue);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The reader thread.
struct Reader {
    queue: Arc<Queue>,
    watch: InputWatch,
    /// How many commands have arrived.
    received: u64,
}

/// However the thread ends, also by a panic of the input, `serve` must not wait for more.
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
            // What is cut off does not matter if it is part of a comment.
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
                Line::Text(text) if !too_long => Entry::Text(text),
                Line::Text(text) => Entry::TooLong { id: split_id(&text).ok().and_then(|(id, _)| id) },
                Line::Blank => Entry::TooLong { id: None },
            };
            self.note_line();
            self.received += 1;
            if !self.queue.push(entry) {
                return;
            }
        }
    }

    /// A line has arrived behind all the commands received so far.
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
                    assert!(queue.push(Entry::Text(char::from(b'0' + index).to_string().repeat(size))));
                }
                queue.end(None);
            })
        };
        let mut taken = 0;
        while let Some(entry) = queue.pop() {
            let state = queue.lock();
            assert!(state.bytes <= QUEUE_BYTES);
            assert_eq!(state.bytes, state.entries.iter().map(Entry::bytes).sum::<usize>());
            drop(state);
            let Entry::Text(text) = entry else { panic!("no such entry") };
            assert!(text.starts_with(char::from(b'0' + taken)));
            taken += 1;
        }
        assert_eq!(taken, 40);
        producer.join().unwrap();
    }

    #[test]
    fn a_closed_queue_lets_the_reader_go() {
        let queue = Arc::new(Queue::default());
        let producer = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || while queue.push(Entry::Text("name".repeat(1000))) {})
        };
        assert!(queue.pop().is_some());
        queue.close();
        producer.join().unwrap();
    }

    #[test]
    fn a_watch_on_nothing_stays_quiet() {
        let watch = InputWatch::default();
        assert!(!watch.input_pending() && !watch.interrupted() && !watch.ended());
    }
}
