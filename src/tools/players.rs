//! Engines that answer GTP commands, for tests and matches: child processes, or threads with the built-in engine.
//!
//! Uses the crate `kosumi-gtp`, messages of panics, and the function of `ranks` that hides MPI from child processes.

use crate::panics;
use crate::ranks::disable_ranks_in;
use kosumi_gtp::{Client, ClientError, Handler, InputWatch, answer, split_command_line};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Maximum time that an engine may take to quit.
const QUIT_TIME: Duration = Duration::from_secs(2);
/// Stack size of an engine's thread, equal to that of a main thread, where engines usually run.
const STACK_BYTES: usize = 8 << 20;

/// Response of an engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GtpResponse {
    /// Success (`=`) with its text.
    Success(String),
    /// Failure (`?`) with its message.
    Failure(String),
}

/// Reason why an engine gave no response. The engine must not be used any more.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlayerError {
    /// No response in time.
    #[error("no response in time")]
    TimedOut,
    /// The engine has ended, or does not speak GTP.
    #[error("{0}")]
    Crashed(String),
}

/// Running engine.
pub trait GtpPlayer: Send {
    /// Sends one command and waits for the response.
    ///
    /// # Errors
    ///
    /// Returns [`PlayerError`] if there is no response.
    fn send(&mut self, command: &str, timeout: Duration) -> Result<GtpResponse, PlayerError>;

    /// Asks the engine to quit. An engine that is dropped without this call is killed.
    fn quit(&mut self) {}
}

/// Source of engines.
pub trait Engines: Sync {
    /// Starts a new engine. Relative file names in its commands refer to `folder`.
    ///
    /// # Errors
    ///
    /// Returns a message if the engine cannot be started.
    fn start(&self, folder: &Path) -> Result<Box<dyn GtpPlayer>, String>;
}

/// Engines that run as child processes.
#[derive(Clone, Debug)]
pub struct ChildEngines {
    program: PathBuf,
    arguments: Vec<String>,
}

impl ChildEngines {
    /// Creates a source of engines with this command line, split by [`split_command_line`]. A relative path of the
    /// program refers to the current directory, although the program is run in other folders.
    ///
    /// # Errors
    ///
    /// Returns a message if the command line cannot be split.
    pub fn new(command_line: &str) -> Result<ChildEngines, String> {
        let mut words = split_command_line(command_line).map_err(|error| error.to_string())?.into_iter();
        let program = PathBuf::from(words.next().unwrap_or_default());
        // The system looks up a name without a folder in PATH.
        let is_path = program.components().count() > 1;
        let program = if is_path { std::path::absolute(&program).unwrap_or(program) } else { program };
        Ok(ChildEngines { program, arguments: words.collect() })
    }
}

impl Engines for ChildEngines {
    fn start(&self, folder: &Path) -> Result<Box<dyn GtpPlayer>, String> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(folder);
        disable_ranks_in(&mut command);
        match Client::spawn_command(command) {
            Ok(client) => Ok(Box::new(client)),
            Err(error) => Err(format!("cannot start {}: {error}", self.program.display())),
        }
    }
}

impl GtpPlayer for Client {
    fn send(&mut self, command: &str, timeout: Duration) -> Result<GtpResponse, PlayerError> {
        match Client::send(self, command, timeout) {
            Ok(body) => Ok(GtpResponse::Success(body)),
            Err(ClientError::Refused(message)) => Ok(GtpResponse::Failure(message)),
            Err(ClientError::TimedOut) => Err(PlayerError::TimedOut),
            Err(error @ (ClientError::Exited { .. } | ClientError::Garbage(_) | ClientError::Io(_))) => {
                Err(PlayerError::Crashed(error.to_string()))
            }
        }
    }

    fn quit(&mut self) {
        // An engine that does not quit is killed. The tests are over either way.
        let _ = Client::quit(self, QUIT_TIME);
    }
}

/// Engines in this process. Each is a thread that carries out one command after the other.
///
/// A panic crashes that engine only. A command that takes too long is interrupted and its thread is abandoned. The
/// thread ends when the command does.
#[derive(Clone, Copy, Debug)]
pub struct InProcessEngines<F> {
    /// Function that creates the engine for a folder. It is called on the engine's own thread.
    pub make: F,
}

impl<H, F> Engines for InProcessEngines<F>
where
    H: Handler,
    F: Fn(&Path) -> H + Clone + Send + Sync + 'static,
{
    fn start(&self, folder: &Path) -> Result<Box<dyn GtpPlayer>, String> {
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

fn work<H: Handler>(
    mut handler: H,
    commands: &Receiver<String>,
    done: &Sender<GtpResponse>,
    watch: &InputWatch,
) {
    for command in commands {
        let answer = match answer(&command, &mut handler, watch) {
            Some(Ok(body)) => GtpResponse::Success(body),
            Some(Err(message)) => GtpResponse::Failure(message),
            None => GtpResponse::Success(String::new()),
        };
        if done.send(answer).is_err() {
            return;
        }
    }
}

struct Local {
    commands: Sender<String>,
    answers: Receiver<GtpResponse>,
    watch: InputWatch,
    thread: Option<JoinHandle<()>>,
}

impl GtpPlayer for Local {
    fn send(&mut self, command: &str, timeout: Duration) -> Result<GtpResponse, PlayerError> {
        // If the engine no longer exists, waiting for its response fails.
        let _ = self.commands.send(command.to_owned());
        match self.answers.recv_timeout(timeout) {
            Ok(answer) => Ok(answer),
            Err(RecvTimeoutError::Timeout) => {
                self.watch.interrupt();
                Err(PlayerError::TimedOut)
            }
            Err(RecvTimeoutError::Disconnected) => {
                let panic = self.thread.take().and_then(|thread| thread.join().err());
                let about = panic.map(|panic| panics::message(&*panic)).filter(|about| !about.is_empty());
                let about = about.unwrap_or_else(|| "no message".to_owned());
                Err(PlayerError::Crashed(format!("the engine has panicked: {about}")))
            }
        }
    }
}
