//! The process behind a client: its pipes, its exit status and the time.
//!
//! ```text
//!  write_line()  ──> writer thread ──> stdin  ┐
//!  read()        <── reader thread <── stdout ├ engine
//!  stderr_tail() <── reader thread <── stderr ┘
//! ```
//!
//! Each pipe has its own thread. Therefore no call waits longer than its timeout, even if the engine has stopped
//! reading, and an engine that writes much to its standard error is never blocked by it.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read, Write};
use std::process::{self, Child, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::client::{ClientError, controller_text};
use crate::lines::LineReader;

/// Number of bytes that are read from the output at once.
const CHUNK_BYTES: usize = 8 << 10;

/// Number of chunks of output that may be buffered before the engine has to wait for the caller.
const WAITING_CHUNKS: usize = 16;

/// Number of bytes kept of a line that is only displayed.
pub(crate) const MAX_SHOWN_BYTES: usize = 4096;

/// Number of lines of the engine's standard error that are kept.
const STDERR_LINES: usize = 100;

/// Interval at which the status of the child is polled. Waiting for it with a timeout is not portable.
const EXIT_POLL: Duration = Duration::from_millis(5);

/// Engine as a [`Client`](crate::Client) sees it. [`Client::spawn`](crate::Client::spawn) starts a child process. Other
/// implementations connect to an engine elsewhere, or simulate one.
pub trait Process: fmt::Debug + Send {
    /// Hands over a line for the engine's input, without waiting until the engine reads it.
    fn write_line(&mut self, line: String);

    /// Closes the engine's input after the lines that were handed over.
    fn close_input(&mut self);

    /// Reads from the engine's output. Waits at most `wait` for the first byte. Returns 0 at the end of the output.
    ///
    /// # Errors
    ///
    /// Returns [`TimedOut`](io::ErrorKind::TimedOut) if nothing arrived in this time. Any other error counts as the end
    /// of the output.
    fn read(&mut self, buffer: &mut [u8], wait: Duration) -> io::Result<usize>;

    /// Waits at most `wait` for the exit of the engine. Returns `None` if it is still running.
    ///
    /// # Errors
    ///
    /// Returns an error if the status is unavailable.
    fn wait(&mut self, wait: Duration) -> io::Result<Option<ExitStatus>>;

    /// Ends the engine at once.
    fn kill(&mut self);

    /// Returns the last lines that the engine wrote to its standard error. Waits at most `wait` for its end.
    fn stderr_tail(&self, wait: Duration) -> Vec<String>;

    /// Returns the process id; 0 if there is none.
    fn id(&self) -> u32;

    /// Returns the time since a fixed point.
    fn now(&self) -> Duration;
}

/// Last lines of the engine's standard error, shared with the thread that collects them.
type StderrTail = Arc<Mutex<VecDeque<String>>>;

/// Child process. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct ChildProcess {
    child: Child,
    /// Lines for the writer thread. `None` once the input has been closed.
    input: Option<Sender<String>>,
    output: Receiver<Vec<u8>>,
    /// Chunk of output that was not read completely, and the number of bytes that were read.
    rest: (Vec<u8>, usize),
    stderr: StderrTail,
    stderr_reader: JoinHandle<()>,
    start: Instant,
}

impl ChildProcess {
    pub(crate) fn spawn(mut command: process::Command) -> Result<Self, ClientError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("the engine has no pipes").into());
        };
        let (input, to_write) = mpsc::channel();
        let (found, output) = mpsc::sync_channel(WAITING_CHUNKS);
        let tail = StderrTail::default();
        let tail_of_reader = Arc::clone(&tail);
        let threads = spawn_named("gtp-stdin", move || write_lines(stdin, &to_write))
            .and_then(|_| spawn_named("gtp-stdout", move || read_chunks(stdout, &found)))
            .and_then(|_| spawn_named("gtp-stderr", move || collect_tail(stderr, &tail_of_reader)));
        match threads {
            Ok(stderr_reader) => Ok(Self {
                child,
                input: Some(input),
                output,
                rest: (Vec::new(), 0),
                stderr: tail,
                stderr_reader,
                start: Instant::now(),
            }),
            Err(error) => {
                kill(&mut child);
                Err(error.into())
            }
        }
    }
}

impl Process for ChildProcess {
    fn write_line(&mut self, line: String) {
        if let Some(input) = &self.input {
            // If the writer has ended, so has the engine. Its last output can still be read.
            let _ = input.send(line);
        }
    }

    fn close_input(&mut self) {
        self.input = None;
    }

    fn read(&mut self, buffer: &mut [u8], wait: Duration) -> io::Result<usize> {
        if self.rest.1 >= self.rest.0.len() {
            match self.output.recv_timeout(wait) {
                Ok(chunk) => self.rest = (chunk, 0),
                Err(RecvTimeoutError::Timeout) => return Err(io::ErrorKind::TimedOut.into()),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
        let (chunk, read) = &mut self.rest;
        let count = chunk.get(*read..).unwrap_or_default().read(buffer)?;
        *read += count;
        Ok(count)
    }

    fn wait(&mut self, wait: Duration) -> io::Result<Option<ExitStatus>> {
        let deadline = Instant::now() + wait;
        loop {
            let status = self.child.try_wait()?;
            if status.is_some() || Instant::now() >= deadline {
                return Ok(status);
            }
            thread::sleep(EXIT_POLL);
        }
    }

    fn kill(&mut self) {
        kill(&mut self.child);
    }

    fn stderr_tail(&self, wait: Duration) -> Vec<String> {
        let deadline = Instant::now() + wait;
        while !self.stderr_reader.is_finished() && Instant::now() < deadline {
            thread::sleep(EXIT_POLL);
        }
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn id(&self) -> u32 {
        self.child.id()
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        // The threads end with their pipes. They are not joined, because a grandchild process may keep the pipes open.
        kill(&mut self.child);
    }
}

/// Kills the child and collects its status, so that no zombie process remains. Does nothing if its status has been
/// collected already.
fn kill(child: &mut Child) {
    // Failures of these calls cannot be handled here.
    let _ = child.kill();
    let _ = child.wait();
}

fn spawn_named(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).spawn(work)
}

/// Writes lines until the channel is dropped, then closes the engine's input.
fn write_lines(mut stdin: impl Write, lines: &Receiver<String>) {
    for line in lines {
        let written = stdin.write_all(format!("{line}\n").as_bytes()).and_then(|()| stdin.flush());
        if written.is_err() {
            // The engine no longer reads. The end of its output will report that.
            return;
        }
    }
}

/// Reads chunks until the output ends or the client is dropped.
fn read_chunks(mut stdout: impl Read, chunks: &SyncSender<Vec<u8>>) {
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        match stdout.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A read error is treated as the end of the output.
            Ok(0) | Err(_) => return,
            Ok(count) => {
                let chunk = buffer.get(..count).unwrap_or_default().to_vec();
                if chunks.send(chunk).is_err() {
                    return;
                }
            }
        }
    }
}

/// Keeps the last lines of the engine's standard error.
fn collect_tail(stderr: impl Read, tail: &Mutex<VecDeque<String>>) {
    let mut lines = LineReader::new(stderr, MAX_SHOWN_BYTES);
    while let Ok(Some(line)) = lines.next_line() {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        if tail.len() == STDERR_LINES {
            tail.pop_front();
        }
        tail.push_back(controller_text(&line.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_the_standard_error_is_kept() {
        let tail = Mutex::default();
        let text: String = (0..250).map(|number| format!("line {number}\r\n")).collect();
        collect_tail(text.as_bytes(), &tail);
        let tail = tail.into_inner().unwrap();
        assert_eq!(tail.len(), STDERR_LINES);
        assert_eq!(tail.front().unwrap(), "line 150");
        assert_eq!(tail.back().unwrap(), "line 249");
    }
}
