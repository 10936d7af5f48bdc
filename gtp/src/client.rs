//! The controller's side: an engine as a child process.
//!
//! ```text
//!  send(), post() ──> writer thread ──> stdin  ┐
//!  receive()      <── reader thread <── stdout ├ engine
//!  stderr_tail()  <── reader thread <── stderr ┘
//! ```
//!
//! Each pipe has a thread of its own. Thus no call waits longer than its timeout, not even for an engine that
//! has stopped reading, and an engine that talks a lot on its standard error is never blocked by it.

use std::collections::{BTreeSet, VecDeque};
use std::io::{self, Read, Write};
use std::mem;
use std::process::{self, Child, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::command::{Command, Line};
use crate::lines::LineReader;
use crate::response::parse_answer;

/// The longest answer that is accepted.
const MAX_ANSWER_BYTES: usize = 4 << 20;

/// How many answers and pieces of garbage may wait for the caller before the engine has to.
const WAITING_EVENTS: usize = 16;

/// How many lines of garbage are kept; as many within one wait end it.
const MAX_GARBAGE_LINES: usize = 1000;

/// How much of a line is kept that is only ever shown to people.
const MAX_SHOWN_BYTES: usize = 4096;

/// How many lines of the engine's standard error are kept.
const STDERR_LINES: usize = 100;

/// How long an engine that has closed its output may take to exit, to be reported with its status.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// How often a child is asked whether it has exited. There is no portable way to wait for it with a timeout.
const EXIT_POLL: Duration = Duration::from_millis(5);

/// Stands for any longer timeout, which could overflow the clock.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The engine answered with this failure.
    #[error("the engine refused: {0}")]
    Refused(String),
    /// The engine did not answer in time. It may still be running.
    #[error("the engine did not answer in time")]
    TimedOut,
    /// The engine closed its output.
    #[error("the engine has exited ({}){}", status_text(.status.as_ref()), tail_text(.stderr))]
    Exited {
        /// How it ended; `None` if it is still running, or cannot be asked.
        status: Option<ExitStatus>,
        /// The last lines of its standard error.
        stderr: Vec<String>,
    },
    /// The engine wrote something other than an answer: these are the lines, or what is wrong with them.
    #[error("the engine does not speak GTP: {}", .0.join(" / "))]
    Garbage(Vec<String>),
    /// The engine could not be started, or the command cannot be sent.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn status_text(status: Option<&ExitStatus>) -> String {
    status.map_or_else(|| "no exit status".to_owned(), ToString::to_string)
}

fn tail_text(stderr: &[String]) -> String {
    stderr.last().map_or_else(String::new, |line| format!(": {line}"))
}

/// Why a text is not a command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CommandLineError {
    /// There is no program in it.
    #[error("the command line is empty")]
    Empty,
    /// A quote has no counterpart.
    #[error("the command line has a quote without its counterpart")]
    OpenQuote,
}

/// Splits a command line into the program and its arguments, much as a shell would, but without a shell:
///
/// * blanks separate words;
/// * between single quotes, every character stands for itself;
/// * between double quotes, so does every character but a backslash before `"` or `\`;
/// * elsewhere, a backslash takes the meaning from a blank, a quote or a backslash behind it. Before any other
///   character it stands for itself, so that `C:\engines\engine.exe` needs no quotes.
///
/// Variables, `~`, wildcards, redirections and pipes mean nothing.
///
/// ```
/// use kosumi_gtp::split_command_line;
///
/// let words = split_command_line(r#"'/opt/my engine' --name="A \"B\"" C:\d ''"#)?;
/// assert_eq!(words, ["/opt/my engine", r#"--name=A "B""#, r"C:\d", ""]);
/// # Ok::<(), kosumi_gtp::CommandLineError>(())
/// ```
///
/// # Errors
///
/// If there is no word, or a quote is left open.
pub fn split_command_line(text: &str) -> Result<Vec<String>, CommandLineError> {
    let mut words = Vec::new();
    // `Some("")` is an empty word, which only quotes can make.
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let escaped = match (character, quote) {
            ('\\', None) => {
                characters.next_if(|&next| next.is_whitespace() || matches!(next, '"' | '\'' | '\\'))
            }
            ('\\', Some('"')) => characters.next_if(|&next| matches!(next, '"' | '\\')),
            _ => None,
        };
        if let Some(escaped) = escaped {
            word.get_or_insert_default().push(escaped);
        } else if quote == Some(character) {
            quote = None;
        } else if quote.is_none() && matches!(character, '"' | '\'') {
            quote = Some(character);
            word.get_or_insert_default();
        } else if quote.is_none() && character.is_whitespace() {
            words.extend(word.take());
        } else {
            word.get_or_insert_default().push(character);
        }
    }
    words.extend(word);
    if quote.is_some() {
        Err(CommandLineError::OpenQuote)
    } else if words.is_empty() {
        Err(CommandLineError::Empty)
    } else {
        Ok(words)
    }
}

/// What the reader of the engine's output makes of it.
#[derive(Debug)]
enum Event {
    Answer(Answer),
    /// A line that belongs to no answer.
    Garbage(String),
}

#[derive(Debug)]
enum Answer {
    Success(String),
    Failure(String),
    TooLong,
}

impl From<Answer> for Result<String, ClientError> {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Success(body) => Ok(body),
            Answer::Failure(message) => Err(ClientError::Refused(message)),
            Answer::TooLong => {
                Err(ClientError::Garbage(vec![format!("an answer of more than {MAX_ANSWER_BYTES} bytes")]))
            }
        }
    }
}

/// The last lines of the engine's standard error, shared with the thread that collects them.
type Tail = Arc<Mutex<VecDeque<String>>>;

/// An engine that runs as a child process.
///
/// Dropping the client kills the engine; [`quit`](Client::quit) is the polite way.
///
/// Invariant: the engine answers in the order of the commands, as the protocol demands, so answers are matched
/// to commands by counting, and engines that forget to repeat an id are no problem.
#[derive(Debug)]
pub struct Client {
    child: Child,
    /// Commands on their way to the writer; `None` once the engine's input has been closed.
    commands: Option<Sender<String>>,
    events: Receiver<Event>,
    stderr: Tail,
    stderr_reader: JoinHandle<()>,
    /// How many commands have been posted; also the number of the last one.
    posted: u64,
    /// How many have been answered.
    answered: u64,
    /// Commands nobody waits for any longer. Their answers are dropped when they come.
    abandoned: BTreeSet<u64>,
    /// Answers that nobody has taken yet, in order.
    early: VecDeque<(u64, Answer)>,
    garbage: VecDeque<String>,
}

impl Client {
    /// Starts the program of a command line, which is split by [`split_command_line`].
    ///
    /// # Errors
    ///
    /// [`ClientError::Io`] if the line cannot be split, or the program not be started.
    pub fn spawn(command_line: &str) -> Result<Self, ClientError> {
        let words = split_command_line(command_line).map_err(invalid_input)?;
        let (program, arguments) =
            words.split_first().ok_or_else(|| invalid_input(CommandLineError::Empty))?;
        let mut command = process::Command::new(program);
        command.args(arguments);
        Self::spawn_command(command)
    }

    /// Starts a program, with its environment and working directory as the caller has set them. The three
    /// standard streams are the client's.
    ///
    /// # Errors
    ///
    /// [`ClientError::Io`] if the program cannot be started.
    pub fn spawn_command(mut command: process::Command) -> Result<Self, ClientError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("the engine has no pipes").into());
        };
        let (commands, to_write) = mpsc::channel();
        let (found, events) = mpsc::sync_channel(WAITING_EVENTS);
        let tail = Tail::default();
        let tail_of_reader = Arc::clone(&tail);
        let threads = spawn_named("gtp-stdin", move || write_commands(stdin, &to_write))
            .and_then(|_| spawn_named("gtp-stdout", move || read_answers(stdout, &found)))
            .and_then(|_| spawn_named("gtp-stderr", move || collect_tail(stderr, &tail_of_reader)));
        match threads {
            Ok(stderr_reader) => Ok(Self {
                child,
                commands: Some(commands),
                events,
                stderr: tail,
                stderr_reader,
                posted: 0,
                answered: 0,
                abandoned: BTreeSet::new(),
                early: VecDeque::new(),
                garbage: VecDeque::new(),
            }),
            Err(error) => {
                kill(&mut child);
                Err(error.into())
            }
        }
    }

    /// Sends a command and waits for its answer: the text behind the `=`.
    ///
    /// Answers to commands posted before are kept for [`receive`](Client::receive). When the time is over, the
    /// answer to this command is dropped if it comes later, and the client stays in step with the engine.
    ///
    /// # Errors
    ///
    /// All kinds; [`ClientError::Garbage`] instead of [`ClientError::TimedOut`] if the engine wrote something
    /// else than the answer in the meantime. After any but [`ClientError::Exited`] the next command may be sent.
    pub fn send(&mut self, command: &str, timeout: Duration) -> Result<String, ClientError> {
        self.post(command)?;
        let number = self.posted;
        let result = self.wait_for(number, timeout);
        if result.is_err() {
            self.abandoned.insert(number);
        }
        result?.into()
    }

    /// Sends a command without waiting for its answer, which [`receive`](Client::receive) will give.
    ///
    /// # Errors
    ///
    /// [`ClientError::Io`] if this is not a single command (a comment would never be answered), or if
    /// [`quit`](Client::quit) has been called. That the engine has exited is found out when receiving.
    pub fn post(&mut self, command: &str) -> Result<(), ClientError> {
        let text = match Line::read(command.as_bytes()) {
            Line::Text(text) if !command.trim_end().contains(['\n', '\r']) => text,
            _ => return Err(invalid_input("not a single command").into()),
        };
        Command::parse(&text).map_err(invalid_input)?;
        // What has come before the command cannot be its answer. No more than has room, as an engine may write
        // without end.
        for event in self.events.try_iter().take(WAITING_EVENTS).collect::<Vec<_>>() {
            self.sort(event);
        }
        let commands =
            self.commands.as_ref().ok_or_else(|| invalid_input("the engine has been told to quit"))?;
        // If the writer is gone, so is the engine; its last answers can still be received.
        let _ = commands.send(text);
        self.posted += 1;
        Ok(())
    }

    /// Waits for the answer to the oldest posted command that has none yet.
    ///
    /// When the time is over the command stays posted, and the next call waits for it again.
    ///
    /// # Errors
    ///
    /// As [`send`](Client::send); [`ClientError::Io`] if no command has been posted.
    pub fn receive(&mut self, timeout: Duration) -> Result<String, ClientError> {
        if let Some((_, answer)) = self.early.pop_front() {
            return answer.into();
        }
        let number = (self.answered + 1..=self.posted)
            .find(|number| !self.abandoned.contains(number))
            .ok_or_else(|| invalid_input("no command has been posted"))?;
        self.wait_for(number, timeout)?.into()
    }

    /// How many commands have been posted whose answers have not been taken.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        let unanswered = usize::try_from(self.posted - self.answered).unwrap_or(usize::MAX);
        unanswered.saturating_sub(self.abandoned.len()) + self.early.len()
    }

    /// The last lines that the engine wrote to its standard error, at most a hundred.
    #[must_use]
    pub fn stderr_tail(&self) -> Vec<String> {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// The lines found between answers since the last call. At most the last thousand are kept. A careful
    /// controller reports them: engines are not to write anything there.
    pub fn take_garbage(&mut self) -> Vec<String> {
        mem::take(&mut self.garbage).into()
    }

    /// The number by which the system knows the engine.
    #[must_use]
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Sends `quit`, closes the engine's input, and waits for it to exit. An engine that has not by then is
    /// killed. Answers that have not been received are lost.
    ///
    /// # Errors
    ///
    /// [`ClientError::TimedOut`] if the engine had to be killed.
    pub fn quit(&mut self, timeout: Duration) -> Result<ExitStatus, ClientError> {
        let deadline = deadline(timeout);
        if let Some(commands) = self.commands.take() {
            let _ = commands.send("quit".to_owned());
        }
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if Instant::now() >= deadline {
                kill(&mut self.child);
                return Err(ClientError::TimedOut);
            }
            // The output must be drained, or the engine might wait for that.
            if matches!(self.events.recv_timeout(EXIT_POLL), Err(RecvTimeoutError::Disconnected)) {
                thread::sleep(EXIT_POLL);
            }
        }
    }

    /// Waits for the answer to this command, and keeps those to earlier ones.
    fn wait_for(&mut self, number: u64, timeout: Duration) -> Result<Answer, ClientError> {
        let deadline = deadline(timeout);
        let mut garbage = 0;
        loop {
            // Answers come in order: if it is there, it is the last.
            if let Some((_, answer)) = self.early.pop_back_if(|(answered, _)| *answered == number) {
                return Ok(answer);
            }
            match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(event) => {
                    garbage += usize::from(!self.sort(event));
                    if garbage >= MAX_GARBAGE_LINES {
                        return Err(ClientError::Garbage(self.take_garbage()));
                    }
                }
                Err(RecvTimeoutError::Timeout) if garbage > 0 => {
                    return Err(ClientError::Garbage(self.take_garbage()));
                }
                Err(RecvTimeoutError::Timeout) => return Err(ClientError::TimedOut),
                Err(RecvTimeoutError::Disconnected) => return Err(self.exited()),
            }
        }
    }

    /// Puts what the engine wrote where it belongs. Returns whether it was an answer to a command.
    fn sort(&mut self, event: Event) -> bool {
        match event {
            // An answer to nothing is as bad as any other line.
            Event::Answer(answer) if self.answered == self.posted => {
                self.keep_garbage(shorten(format!("an answer to no command: {answer:?}")));
                false
            }
            Event::Answer(answer) => {
                self.answered += 1;
                if !self.abandoned.remove(&self.answered) {
                    self.early.push_back((self.answered, answer));
                }
                true
            }
            Event::Garbage(line) => {
                self.keep_garbage(line);
                false
            }
        }
    }

    fn keep_garbage(&mut self, line: String) {
        if self.garbage.len() == MAX_GARBAGE_LINES {
            self.garbage.pop_front();
        }
        self.garbage.push_back(line);
    }

    /// The engine has closed its output: it is about to exit, if it has not yet.
    fn exited(&mut self) -> ClientError {
        let deadline = deadline(EXIT_GRACE);
        let mut status = None;
        // The last words on the standard error are the ones that matter; wait for them, too.
        while status.is_none() || !self.stderr_reader.is_finished() {
            status = self.child.try_wait().ok().flatten();
            if Instant::now() >= deadline {
                break;
            }
            thread::sleep(EXIT_POLL);
        }
        ClientError::Exited { status, stderr: self.stderr_tail() }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The threads end with their pipes. They are not waited for: a grandchild may hold the pipes open.
        kill(&mut self.child);
    }
}

/// Kills the child and takes its status, so that no zombie remains. Does nothing if it has been waited for.
fn kill(child: &mut Child) {
    // Neither can fail in a way that could be mended here.
    let _ = child.kill();
    let _ = child.wait();
}

fn deadline(timeout: Duration) -> Instant {
    Instant::now() + timeout.min(LONGEST_TIMEOUT)
}

fn invalid_input(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

fn spawn_named(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).spawn(work)
}

/// Writes until the client hangs up, then closes the engine's input.
fn write_commands(mut stdin: impl Write, commands: &Receiver<String>) {
    for command in commands {
        let written = stdin.write_all(format!("{command}\n").as_bytes()).and_then(|()| stdin.flush());
        if written.is_err() {
            // The engine does not listen any more. The end of its output will tell.
            return;
        }
    }
}

/// Collects answers until the output ends or the client is gone.
fn read_answers(stdout: impl Read, events: &SyncSender<Event>) {
    let mut lines = LineReader::new(stdout, MAX_ANSWER_BYTES);
    let mut answer: Option<PartialAnswer> = None;
    // An error when reading is as much an end as any other.
    while let Ok(Some(line)) = lines.next_line() {
        let text = controller_text(&line.bytes);
        let event = match answer.take() {
            Some(partial) if text.is_empty() => Event::Answer(partial.finish()),
            Some(mut partial) => {
                partial.push(&text, line.truncated);
                answer = Some(partial);
                continue;
            }
            None if text.starts_with(['=', '?']) => {
                let mut partial = PartialAnswer::default();
                partial.push(&text, line.truncated);
                answer = Some(partial);
                continue;
            }
            None if text.trim_ascii().is_empty() => continue,
            None => Event::Garbage(shorten(text)),
        };
        if events.send(event).is_err() {
            return;
        }
    }
    // An answer that broke off is reported as what it is.
    if let Some(partial) = answer {
        let _ = events.send(Event::Garbage(shorten(format!("an unfinished answer: {}", partial.text))));
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

/// An answer of which the empty line at its end has not been seen.
#[derive(Debug, Default)]
struct PartialAnswer {
    text: String,
    too_long: bool,
}

impl PartialAnswer {
    fn push(&mut self, line: &str, truncated: bool) {
        self.too_long |= truncated || self.text.len() + line.len() >= MAX_ANSWER_BYTES;
        if self.too_long {
            // Only the end is looked for from now on.
            self.text = String::new();
        } else {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.text.push_str(line);
        }
    }

    fn finish(self) -> Answer {
        if self.too_long {
            return Answer::TooLong;
        }
        match parse_answer(&self.text) {
            Ok(body) => Answer::Success(body),
            Err(message) => Answer::Failure(message),
        }
    }
}

/// A line as the draft lets controllers see it: without control characters, and tabs as spaces.
fn controller_text(bytes: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(bytes).replace('\t', " ");
    text.retain(|character| !character.is_ascii_control());
    text
}

/// Cuts a text that is only ever shown to people.
fn shorten(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_SHOWN_BYTES));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn command_lines() {
        for (text, expected) in [
            ("engine", Ok(&["engine"][..])),
            ("  engine  --mode\tgtp ", Ok(&["engine", "--mode", "gtp"])),
            ("'my engine' a", Ok(&["my engine", "a"])),
            ("\"my engine\"", Ok(&["my engine"])),
            ("a'b c'd\"e f\"g", Ok(&["ab cde fg"])),
            ("a '' \"\"", Ok(&["a", "", ""])),
            (r"my\ engine \'x\' \\", Ok(&["my engine", "'x'", r"\"])),
            (r#""a \"b\" \\ \n" '\"'"#, Ok(&[r#"a "b" \ \n"#, r#"\""#])),
            (r"C:\engines\e.exe -x", Ok(&[r"C:\engines\e.exe", "-x"])),
            (r"a\", Ok(&[r"a\"])),
            ("$HOME ~ * | > &", Ok(&["$HOME", "~", "*", "|", ">", "&"])),
            ("", Err(CommandLineError::Empty)),
            ("  ", Err(CommandLineError::Empty)),
            ("'a", Err(CommandLineError::OpenQuote)),
            ("a \"b\\\"", Err(CommandLineError::OpenQuote)),
        ] {
            let words = split_command_line(text);
            let expected =
                expected.map(|words| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
            assert_eq!(words, expected, "{text:?}");
        }
    }

    /// What the reader makes of an engine's output, in the notation of the tests.
    fn read(output: &[u8]) -> Vec<String> {
        let (sender, receiver) = mpsc::sync_channel(1000);
        read_answers(output, &sender);
        drop(sender);
        receiver
            .into_iter()
            .map(|event| match event {
                Event::Answer(Answer::Success(body)) => format!("={body}"),
                Event::Answer(Answer::Failure(message)) => format!("?{message}"),
                Event::Answer(Answer::TooLong) => "too long".to_owned(),
                Event::Garbage(line) => format!("garbage: {line}"),
            })
            .collect()
    }

    #[test]
    fn answers() {
        for (output, expected) in [
            ("", &[][..]),
            ("= D4\n\n", &["=D4"]),
            ("=D4\n\n", &["=D4"]),
            ("=  D4  \r\n\r\n", &["=D4"]),
            ("=12 D4\n\n", &["=D4"]),
            ("=12\n\n", &["="]),
            ("= 12\n\n", &["=12"]),
            ("=99999999999 x\n\n", &["=99999999999 x"]),
            ("=\n\n", &["="]),
            ("?\n\n", &["?"]),
            ("?3 illegal move\n\n", &["?illegal move"]),
            ("=\n  A B\n1 . .\n\n", &["=\n  A B\n1 . ."]),
            ("= a\n= b\n? c\n\n= d\n\n", &["=a\n= b\n? c", "=d"]),
            ("\n \n\t\n= a\n\n\n\n= b\n\n", &["=a", "=b"]),
            ("hello\n= a\n\nworld\n", &["garbage: hello", "=a", "garbage: world"]),
            ("= a\tb\x07\n\n", &["=a b"]),
            ("! panic\n\n", &["garbage: ! panic"]),
            ("= a\n", &["garbage: an unfinished answer: = a"]),
        ] {
            assert_eq!(read(output.as_bytes()), expected, "{output:?}");
        }
    }

    #[test]
    fn long_answers_are_not_collected() {
        let mut output = b"= ".to_vec();
        output.resize(MAX_ANSWER_BYTES + 10, b'x');
        output.extend_from_slice(b"\ny\n\n= a\n\n");
        assert_eq!(read(&output), ["too long", "=a"]);
        let mut output = b"= \n".to_vec();
        while output.len() < MAX_ANSWER_BYTES + 10 {
            output.extend_from_slice(b"info move D4 visits 1\n");
        }
        output.extend_from_slice(b"\n= a\n\n");
        assert_eq!(read(&output), ["too long", "=a"]);
    }

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

    proptest! {
        #[test]
        fn any_text_is_split_or_refused(text in "[a \\\\'\"\t]{0,20}|\\PC{0,20}") {
            let _ = split_command_line(&text);
        }

        #[test]
        fn quoted_words_are_kept(words in prop::collection::vec("[^']{0,8}", 1..5)) {
            let line = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
            prop_assert_eq!(split_command_line(&line), Ok(words));
        }

        #[test]
        fn no_output_panics(output in prop::collection::vec(prop::sample::select(b"=?1 \n\n\r\tab\xff".to_vec()), 0..200)) {
            read(&output);
        }

        #[test]
        fn what_the_server_writes_is_what_the_client_reads(body in "[a-z =?]{0,9}(\n[a-z =?]{1,9}){0,3}", id: Option<u32>) {
            let framed = crate::Response::new(body.as_str()).framed(id);
            let events = read(framed.as_bytes());
            prop_assert_eq!(events.len(), 1);
            let read: Vec<_> = events[0][1..].split_whitespace().collect();
            prop_assert_eq!(read, body.split_whitespace().collect::<Vec<_>>());
        }
    }
}
