//! Engines that answer GTP commands, for tests and matches: child processes, or the one that is built in.
//!
//! Uses the crate `kosumi-gtp`, and of `ranks` what tells an engine that it is none.

use crate::ranks::work_alone;
use kosumi_gtp::{Client, ClientError, Handler, InputWatch, answer, split_command_line};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long an engine may take to leave when asked to.
const QUIT_TIME: Duration = Duration::from_secs(2);
/// As the main thread of a program has it, where engines usually run.
const STACK_BYTES: usize = 8 << 20;

/// What an engine says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// `=` and this.
    Success(String),
    /// `?` and this.
    Failure(String),
}

/// Why an engine says nothing. It is of no more use then.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Trouble {
    /// No answer in time.
    #[error("no answer in time")]
    TimedOut,
    /// It has ended, or does not speak GTP.
    #[error("{0}")]
    Crashed(String),
}

/// An engine at work.
pub trait Player: Send {
    /// Sends one command and waits for the answer.
    ///
    /// # Errors
    /// If there is none.
    fn send(&mut self, command: &str, timeout: Duration) -> Result<Answer, Trouble>;

    /// Says goodbye. An engine that is dropped without is killed.
    fn quit(&mut self) {}
}

/// Where engines come from.
pub trait Engines: Sync {
    /// Starts a new engine, in which file names count from `folder`.
    ///
    /// # Errors
    /// Why it cannot be started, in words.
    fn start(&self, folder: &Path) -> Result<Box<dyn Player>, String>;
}

/// Engines that run as child processes.
#[derive(Clone, Debug)]
pub struct Children {
    program: PathBuf,
    arguments: Vec<String>,
}

impl Children {
    /// Engines of this command line, split as [`split_command_line`] does. A program that is named by a relative
    /// path is looked for from here, although it runs in the folders of the suites.
    ///
    /// # Errors
    /// If the line cannot be split.
    pub fn new(command_line: &str) -> Result<Children, String> {
        let mut words = split_command_line(command_line).map_err(|error| error.to_string())?.into_iter();
        let program = PathBuf::from(words.next().unwrap_or_default());
        // A bare name is looked up in PATH by the system.
        let is_path = program.components().count() > 1;
        let program = if is_path { std::path::absolute(&program).unwrap_or(program) } else { program };
        Ok(Children { program, arguments: words.collect() })
    }
}

impl Engines for Children {
    fn start(&self, folder: &Path) -> Result<Box<dyn Player>, String> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(folder);
        work_alone(&mut command);
        match Client::spawn_command(command) {
            Ok(client) => Ok(Box::new(client)),
            Err(error) => Err(format!("cannot start {}: {error}", self.program.display())),
        }
    }
}

impl Player for Client {
    fn send(&mut self, command: &str, timeout: Duration) -> Result<Answer, Trouble> {
        match Client::send(self, command, timeout) {
            Ok(body) => Ok(Answer::Success(body)),
            Err(ClientError::Refused(message)) => Ok(Answer::Failure(message)),
            Err(ClientError::TimedOut) => Err(Trouble::TimedOut),
            Err(error @ (ClientError::Exited { .. } | ClientError::Garbage(_) | ClientError::Io(_))) => {
                Err(Trouble::Crashed(error.to_string()))
            }
        }
    }

    fn quit(&mut self) {
        // An engine that does not leave is killed; the tests are over either way.
        let _ = Client::quit(self, QUIT_TIME);
    }
}

/// Engines within this process: each a thread that carries out one command after the other.
///
/// A panic is a crash of that engine only. A command that takes too long is asked to stop, and the thread is left
/// behind: it ends when the command does.
#[derive(Clone, Copy, Debug)]
pub struct Threads<F> {
    /// Makes the engine for a folder. Called in the engine's own thread.
    pub make: F,
}

impl<H, F> Engines for Threads<F>
where
    H: Handler,
    F: Fn(&Path) -> H + Clone + Send + Sync + 'static,
{
    fn start(&self, folder: &Path) -> Result<Box<dyn Player>, String> {
        let (commands, to_do) = mpsc::channel();
        let (done, answers) = mpsc::channel();
        let watch = InputWatch::default();
        let (make, folder, theirs) = (self.make.clone(), folder.to_owned(), watch.clone());
        let work = move || work(make(&folder), &to_do, &done, &theirs);
        let thread = thread::Builder::new().name("engine".to_owned()).stack_size(STACK_BYTES).spawn(work);
        let thread = thread.map_err(|error| error.to_string())?;
        Ok(Box::new(Local { commands, answers, watch, thread: Some(thread) }))
    }
}

fn work<H: Handler>(mut handler: H, commands: &Receiver<String>, done: &Sender<Answer>, watch: &InputWatch) {
    for command in commands {
        let answer = match answer(&command, &mut handler, watch) {
            Some(Ok(body)) => Answer::Success(body),
            Some(Err(message)) => Answer::Failure(message),
            None => Answer::Success(String::new()),
        };
        if done.send(answer).is_err() {
            return;
        }
    }
}

struct Local {
    commands: Sender<String>,
    answers: Receiver<Answer>,
    watch: InputWatch,
    thread: Option<JoinHandle<()>>,
}

impl Player for Local {
    fn send(&mut self, command: &str, timeout: Duration) -> Result<Answer, Trouble> {
        // If the engine is gone, the wait for its answer tells.
        let _ = self.commands.send(command.to_owned());
        match self.answers.recv_timeout(timeout) {
            Ok(answer) => Ok(answer),
            Err(RecvTimeoutError::Timeout) => {
                self.watch.interrupt();
                Err(Trouble::TimedOut)
            }
            Err(RecvTimeoutError::Disconnected) => {
                let panic = self.thread.take().and_then(|thread| thread.join().err());
                let text = |panic: &Box<dyn std::any::Any + Send>| {
                    let literal = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                    literal.or_else(|| panic.downcast_ref::<String>().cloned())
                };
                let about = panic.as_ref().and_then(text).unwrap_or_else(|| "no message".to_owned());
                Err(Trouble::Crashed(format!("the engine has panicked: {about}")))
            }
        }
    }
}
