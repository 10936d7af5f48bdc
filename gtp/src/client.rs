//! The controller's side: an engine behind a [`Process`], most often a child process.

use std::collections::{BTreeSet, VecDeque};
use std::io::{self, Read};
use std::mem;
use std::process::{self, ExitStatus};
use std::time::Duration;

use crate::command::{Command, Line};
use crate::lines::LineReader;
use crate::process::{ChildProcess, MAX_SHOWN_BYTES, Process};
use crate::response::parse_answer;

/// Maximum length of a response, in bytes.
const MAX_ANSWER_BYTES: usize = 4 << 20;

/// Maximum number of reads from the output after the deadline, and of responses and garbage lines that are processed
/// before a command is sent. An engine may write without end.
const LATE_READS: usize = 16;

/// Number of garbage lines that are kept. If this many arrive while the client waits for one response, the wait ends.
const MAX_GARBAGE_LINES: usize = 1000;

/// Time for an engine that has closed its output to exit, so that its status can be reported.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// Time for which an engine that was asked to quit is waited for, before its output is read again.
const QUIT_POLL: Duration = Duration::from_millis(5);

/// Reason why a command has no successful response.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The engine responded with this failure.
    #[error("the engine responded with a failure: {0}")]
    Refused(String),
    /// The engine did not respond in time. It may still be running.
    #[error("the engine did not respond in time")]
    TimedOut,
    /// The engine closed its output.
    #[error("the engine has exited ({}){}", status_text(.status.as_ref()), tail_text(.stderr))]
    Exited {
        /// Exit status. `None` if the engine is still running or its status is unavailable.
        status: Option<ExitStatus>,
        /// Last lines of the engine's standard error.
        stderr: Vec<String>,
    },
    /// The engine wrote something other than a response: the lines, or a description of the fault.
    #[error("the engine does not speak GTP: {}", .0.join(" / "))]
    Garbage(Vec<String>),
    /// The engine could not be started, or the command could not be sent.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn status_text(status: Option<&ExitStatus>) -> String {
    status.map_or_else(|| "no exit status".to_owned(), ToString::to_string)
}

fn tail_text(stderr: &[String]) -> String {
    stderr.last().map_or_else(String::new, |line| format!(": {line}"))
}

/// Reason why a text is not a command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CommandLineError {
    /// The text contains no program.
    #[error("the command line is empty")]
    Empty,
    /// A quote is not closed.
    #[error("the command line has an unclosed quote")]
    OpenQuote,
}

/// Splits a command line into the program and its arguments, similarly to a shell, but without a shell:
///
/// * blanks separate words;
/// * between single quotes, every character stands for itself;
/// * between double quotes, every character except a backslash before `"` or `\` stands for itself;
/// * elsewhere, a backslash escapes a following blank, quote or backslash. Before any other character it stands for
///   itself, so that `C:\engines\engine.exe` needs no quotes.
///
/// Variables, `~`, wildcards, redirections and pipes have no special meaning.
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
/// Returns an error if the text contains no word or an unclosed quote.
pub fn split_command_line(text: &str) -> Result<Vec<String>, CommandLineError> {
    let mut words = Vec::new();
    // `Some("")` is an empty word, which only quotes can create.
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

/// Event from the reader of the engine's output.
#[derive(Debug)]
enum Event {
    Answer(Answer),
    /// A line that belongs to no response.
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
                Err(ClientError::Garbage(vec![format!("a response of more than {MAX_ANSWER_BYTES} bytes")]))
            }
        }
    }
}

/// Output of the engine, with the time by which reads must end.
#[derive(Debug)]
struct Output {
    process: Box<dyn Process>,
    deadline: Duration,
    /// Number of reads since the deadline.
    late: usize,
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_sub(self.process.now());
        if left.is_zero() {
            // What has arrived may be read, but not without end.
            if self.late >= LATE_READS {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.late += 1;
        }
        self.process.read(buffer, left)
    }
}

/// Reason why there is no event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NoEvent {
    TimedOut,
    /// The output has ended.
    Ended,
}

/// Reader of responses and other lines.
#[derive(Debug)]
struct AnswerReader<R> {
    lines: LineReader<R>,
    /// Response whose end has not been read yet.
    partial: Option<PartialAnswer>,
}

impl<R: Read> AnswerReader<R> {
    fn new(output: R) -> Self {
        Self { lines: LineReader::new(output, MAX_ANSWER_BYTES), partial: None }
    }

    /// Returns the next event. After a timeout, the next call continues the line and the response.
    fn next_event(&mut self) -> Result<Event, NoEvent> {
        loop {
            let line = match self.lines.next_line() {
                Ok(line) => line,
                Err(error) if error.kind() == io::ErrorKind::TimedOut => return Err(NoEvent::TimedOut),
                // A read error is treated as the end of the output.
                Err(_) => None,
            };
            let Some(line) = line else {
                // An incomplete response is reported as garbage.
                let partial = self.partial.take().ok_or(NoEvent::Ended)?;
                return Ok(Event::Garbage(shorten(format!("an unfinished response: {}", partial.text))));
            };
            let text = controller_text(&line.bytes);
            match self.partial.take() {
                Some(partial) if text.is_empty() => return Ok(Event::Answer(partial.finish())),
                Some(mut partial) => {
                    partial.push(&text, line.truncated);
                    self.partial = Some(partial);
                }
                None if text.starts_with(['=', '?']) => {
                    let mut partial = PartialAnswer::default();
                    partial.push(&text, line.truncated);
                    self.partial = Some(partial);
                }
                None if text.trim_ascii().is_empty() => {}
                None => return Ok(Event::Garbage(shorten(text))),
            }
        }
    }
}

/// An engine that runs as a child process, or as another [`Process`].
///
/// Dropping the client kills the engine. [`quit`](Client::quit) ends it in an orderly way.
///
/// Invariant: the engine responds in the order of the commands, as the protocol requires. Responses are therefore
/// matched to commands by counting, and engines that do not repeat ids work as well.
#[derive(Debug)]
pub struct Client {
    output: AnswerReader<Output>,
    /// Whether the engine's input has been closed.
    is_closed: bool,
    /// Number of commands that have been posted. Also the number of the last one.
    posted: u64,
    /// Number of commands that have been answered.
    answered: u64,
    /// Commands whose responses are no longer awaited. These responses are dropped when they arrive.
    abandoned: BTreeSet<u64>,
    /// Responses that have not been taken by the caller yet, in order.
    early: VecDeque<(u64, Answer)>,
    garbage: VecDeque<String>,
}

impl Client {
    /// Starts the program of a command line, which is split by [`split_command_line`].
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::Io`] if the line cannot be split or the program cannot be started.
    pub fn spawn(command_line: &str) -> Result<Self, ClientError> {
        let words = split_command_line(command_line).map_err(invalid_input)?;
        let (program, arguments) =
            words.split_first().ok_or_else(|| invalid_input(CommandLineError::Empty))?;
        let mut command = process::Command::new(program);
        command.args(arguments);
        Self::spawn_command(command)
    }

    /// Starts a program with the environment and working directory that the caller has set. The client takes over its
    /// three standard streams.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::Io`] if the program cannot be started.
    pub fn spawn_command(command: process::Command) -> Result<Self, ClientError> {
        Ok(Self::of_process(Box::new(ChildProcess::spawn(command)?)))
    }

    /// Creates the client of an engine that is already running. Dropping the client drops the process.
    #[must_use]
    pub fn of_process(process: Box<dyn Process>) -> Self {
        Self {
            output: AnswerReader::new(Output { process, deadline: Duration::ZERO, late: 0 }),
            is_closed: false,
            posted: 0,
            answered: 0,
            abandoned: BTreeSet::new(),
            early: VecDeque::new(),
            garbage: VecDeque::new(),
        }
    }

    fn process(&mut self) -> &mut dyn Process {
        &mut *self.output.lines.input_mut().process
    }

    /// Returns the time at which this timeout is over.
    fn deadline(&mut self, timeout: Duration) -> Duration {
        self.process().now().saturating_add(timeout)
    }

    /// Waits for the next event until the deadline. An event that has arrived by then is returned in any case.
    fn next_event(&mut self, deadline: Duration) -> Result<Event, NoEvent> {
        let output = self.output.lines.input_mut();
        (output.deadline, output.late) = (deadline, 0);
        self.output.next_event()
    }

    /// Sends a command and waits for its response. Returns the text after the `=`.
    ///
    /// Responses to commands posted earlier are kept for [`receive`](Client::receive). After a timeout, a late response
    /// to this command is dropped, so the client stays in step with the engine.
    ///
    /// # Errors
    ///
    /// Returns any kind of error. If the engine wrote anything other than the response in the meantime, a timeout is
    /// reported as [`ClientError::Garbage`] instead of [`ClientError::TimedOut`]. After any error except
    /// [`ClientError::Exited`], the next command may be sent.
    pub fn send(&mut self, command: &str, timeout: Duration) -> Result<String, ClientError> {
        self.post(command)?;
        let number = self.posted;
        let result = self.wait_for(number, timeout);
        if result.is_err() {
            self.abandoned.insert(number);
        }
        result?.into()
    }

    /// Sends a command without waiting for its response, which [`receive`](Client::receive) will return.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::Io`] if the text is not a single command (a comment would never be answered), or if
    /// [`quit`](Client::quit) has been called. The exit of the engine is only detected when receiving.
    pub fn post(&mut self, command: &str) -> Result<(), ClientError> {
        let text = match Line::read(command.as_bytes()) {
            Line::Text(text) if !command.trim_end().contains(['\n', '\r']) => text,
            _ => return Err(invalid_input("not a single command").into()),
        };
        Command::parse(&text).map_err(invalid_input)?;
        if self.is_closed {
            return Err(invalid_input("quit has been sent to the engine").into());
        }
        // Output that arrived before the command cannot be its response. The limit is for engines that write without
        // end.
        let now = self.deadline(Duration::ZERO);
        for _ in 0..LATE_READS {
            let Ok(event) = self.next_event(now) else { break };
            self.sort(event);
        }
        self.process().write_line(text);
        self.posted += 1;
        Ok(())
    }

    /// Waits for the response to the oldest posted command that has not been answered.
    ///
    /// After a timeout the command stays posted, and the next call waits for it again.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`send`](Client::send), and [`ClientError::Io`] if no command has been posted.
    pub fn receive(&mut self, timeout: Duration) -> Result<String, ClientError> {
        if let Some((_, answer)) = self.early.pop_front() {
            return answer.into();
        }
        let number = (self.answered + 1..=self.posted)
            .find(|number| !self.abandoned.contains(number))
            .ok_or_else(|| invalid_input("no command has been posted"))?;
        self.wait_for(number, timeout)?.into()
    }

    /// Returns the number of posted commands whose responses have not been taken.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        let unanswered = usize::try_from(self.posted - self.answered).unwrap_or(usize::MAX);
        unanswered.saturating_sub(self.abandoned.len()) + self.early.len()
    }

    /// Returns the last lines that the engine wrote to its standard error, at most a hundred.
    #[must_use]
    pub fn stderr_tail(&self) -> Vec<String> {
        self.output.lines.input().process.stderr_tail(Duration::ZERO)
    }

    /// Takes the lines found between responses since the last call, at most the last thousand. A careful controller
    /// reports them, because engines must not write such lines.
    pub fn take_garbage(&mut self) -> Vec<String> {
        mem::take(&mut self.garbage).into()
    }

    /// Returns the process id of the engine, or 0 if it has none.
    #[must_use]
    pub fn process_id(&self) -> u32 {
        self.output.lines.input().process.id()
    }

    /// Sends `quit`, closes the engine's input, and waits for the engine to exit. An engine that has not exited by then
    /// is killed. Responses that have not been received are lost.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::TimedOut`] if the engine had to be killed.
    pub fn quit(&mut self, timeout: Duration) -> Result<ExitStatus, ClientError> {
        let deadline = self.deadline(timeout);
        if !mem::replace(&mut self.is_closed, true) {
            self.process().write_line("quit".to_owned());
            self.process().close_input();
        }
        loop {
            if let Some(status) = self.process().wait(Duration::ZERO)? {
                return Ok(status);
            }
            let now = self.process().now();
            if now >= deadline {
                self.process().kill();
                return Err(ClientError::TimedOut);
            }
            // The output must be drained, because the engine might be blocked on writing.
            if matches!(self.next_event(now + QUIT_POLL), Err(NoEvent::Ended)) {
                self.process().wait(QUIT_POLL)?;
            }
        }
    }

    /// Waits for the response to this command. Keeps those to earlier ones.
    fn wait_for(&mut self, number: u64, timeout: Duration) -> Result<Answer, ClientError> {
        let deadline = self.deadline(timeout);
        let mut garbage = 0;
        loop {
            // Responses arrive in order, so this one can only be the last.
            if let Some((_, answer)) = self.early.pop_back_if(|(answered, _)| *answered == number) {
                return Ok(answer);
            }
            match self.next_event(deadline) {
                Ok(event) => {
                    garbage += usize::from(!self.sort(event));
                    if garbage >= MAX_GARBAGE_LINES {
                        return Err(ClientError::Garbage(self.take_garbage()));
                    }
                }
                Err(NoEvent::TimedOut) if garbage > 0 => {
                    return Err(ClientError::Garbage(self.take_garbage()));
                }
                Err(NoEvent::TimedOut) => return Err(ClientError::TimedOut),
                Err(NoEvent::Ended) => return Err(self.exited()),
            }
        }
    }

    /// Processes an event. Returns whether it was a response to a command.
    fn sort(&mut self, event: Event) -> bool {
        match event {
            // A response without a command counts as garbage.
            Event::Answer(answer) if self.answered == self.posted => {
                self.keep_garbage(shorten(format!("a response without a command: {answer:?}")));
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

    /// Builds the error for an engine that has closed its output and has exited or is about to.
    fn exited(&mut self) -> ClientError {
        let deadline = self.deadline(EXIT_GRACE);
        let process = self.process();
        let status = process.wait(EXIT_GRACE).ok().flatten();
        // The last lines of the standard error matter most, so the client waits for them too.
        let left = deadline.saturating_sub(process.now());
        ClientError::Exited { status, stderr: process.stderr_tail(left) }
    }
}

fn invalid_input(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

/// A response whose final empty line has not been received yet.
#[derive(Debug, Default)]
struct PartialAnswer {
    text: String,
    too_long: bool,
}

impl PartialAnswer {
    fn push(&mut self, line: &str, truncated: bool) {
        self.too_long |= truncated || self.text.len() + line.len() >= MAX_ANSWER_BYTES;
        if self.too_long {
            // From now on, only the end of the response is searched.
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

/// Converts a line to the text that the draft specifies for controllers: without control characters, and with tabs as
/// spaces.
pub(crate) fn controller_text(bytes: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(bytes).replace('\t', " ");
    text.retain(|character| !character.is_control());
    text
}

/// Truncates a text that is only displayed.
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

    /// Returns the events that the reader generates from an engine's output, in the notation of the tests.
    fn read(output: &[u8]) -> Vec<String> {
        let mut reader = AnswerReader::new(output);
        std::iter::from_fn(|| reader.next_event().ok())
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
            ("= a\n", &["garbage: an unfinished response: = a"]),
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
