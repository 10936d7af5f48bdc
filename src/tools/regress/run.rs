//! Runs suites. Workers take parts of suites, and each part gets an engine of its own.

use super::command::{Effect, effect, moves_stones};
use super::expect::{Mark, Response};
use super::follow::BoardFollower;
use super::generate::{Answer, is_unknown, send};
use super::parts::{replay, split};
use super::result::{EngineInfo, OtherError, Outcome, SuiteResult, TestResult};
use super::suite::{Suite, SuiteCommand};
use crate::players::{Engines, GtpPlayer, GtpResponse, PlayerError};
use crate::ranks::{self, PieceLength, in_order};
use anyhow::Context;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::time::{Duration, Instant};

/// Maximum number of consecutive failed restarts of an engine. After that, the rest of the part is abandoned.
const MAX_RESTARTS: usize = 3;

/// Maximum size of a stored answer, in bytes. The whole answer is judged nevertheless.
const ANSWER_BYTES_KEPT: usize = 16 << 10;

/// Options of a run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Maximum time of an engine for one command.
    pub timeout: Duration,
    /// Number of concurrent engines, at least 1.
    pub jobs: usize,
    /// Whether to run every suite with one engine from start to end, instead of in concurrent parts.
    pub whole: bool,
}

/// Runs suites and returns their results in the same order. Each suite, or each part of one, gets a new engine.
/// `parts.rs` documents where suites are split and why that is safe. Other MPI ranks take part if there are any; they
/// must read the same suites. `on_test` is called after every test by the worker that ran it, and for tests of other
/// ranks when their results arrive. On ranks other than 0 it is not called, and the results are empty.
///
/// # Errors
///
/// Returns an error if threads cannot be started or ranks cannot continue.
pub fn play(
    suites: &[Suite],
    engines: &dyn Engines,
    options: Options,
    ranks: ranks::RankPart,
    on_test: &(dyn Fn(&Suite, &TestResult) + Sync),
) -> anyhow::Result<Vec<SuiteResult>> {
    let mut parts: Vec<(usize, Range<usize>)> = Vec::new();
    for (index, suite) in suites.iter().enumerate() {
        let all = std::iter::once(0..suite.steps.len()).filter(|all| !all.is_empty());
        let ranges = if options.whole { all.collect() } else { split(&suite.steps) };
        parts.extend(ranges.into_iter().map(|range| (index, range)));
    }
    // The largest parts come first, so that no worker starts a large part when the others are about to finish.
    let tests = |(suite, range): &(usize, Range<usize>)| {
        suites[*suite].steps[range.clone()].iter().filter(|step| step.is_test).count()
    };
    parts.sort_by_key(|part| Reverse(tests(part)));
    // A rank cannot report its tests to rank 0 before the part is over.
    let is_other = ranks.is_other();
    let on_own_test = |suite: &Suite, test: &TestResult| {
        if !is_other {
            on_test(suite, test);
        }
    };
    // Only the numbers of parts are transferred, because all ranks have split the same suites.
    let read = |send: &mut dyn FnMut(usize) -> bool| {
        let _ = (0..parts.len()).all(send);
    };
    let work = |&number: &usize| {
        let played = parts.get(number).map(|(index, range)| {
            let part = PartRunner::new(&suites[*index], engines, options.timeout, &on_own_test);
            part.play(range.clone())
        });
        (is_other, played)
    };
    let mut done = BTreeMap::new();
    let collect = |&number: &usize, (is_others, played): (bool, Option<SuiteResult>)| {
        let (index, range) = &parts[number];
        let played = played.context("another rank has read different suites")?;
        if is_others {
            played.tests.iter().for_each(|test| on_test(&suites[*index], test));
        }
        done.insert((*index, range.start), played);
        Ok(ControlFlow::Continue(()))
    };
    in_order(ranks, options.jobs, PieceLength::Long, read, work, collect)?;
    if is_other {
        return Ok(Vec::new());
    }
    let names = short_names(suites);
    let blank = |(suite, name): (&Suite, String)| {
        let path = suite.path.display().to_string();
        SuiteResult { name, path, ..SuiteResult::default() }
    };
    let mut results: Vec<SuiteResult> = suites.iter().zip(names).map(blank).collect();
    // The keys order the parts of a suite from first to last.
    for ((index, _), part) in done {
        let result = &mut results[index];
        result.seconds += part.seconds;
        result.tests.extend(part.tests);
        result.other_errors.extend(part.other_errors);
    }
    Ok(results)
}

/// Queries the name and version of the engine, which also shows whether it can be started. `command` is its command
/// line or its settings. `suites` are the suites that it will run.
///
/// # Errors
///
/// Returns an error if the engine cannot be started or does not respond.
pub fn query_identity(
    engines: &dyn Engines,
    command: String,
    suites: &[Suite],
    timeout: Duration,
) -> anyhow::Result<EngineInfo> {
    let folder = suites.first().map_or(Path::new("."), Suite::folder);
    let mut player = engines.start(folder).map_err(anyhow::Error::msg)?;
    let mut ask = |question: &str| match player.send(question, timeout) {
        Ok(GtpResponse::Success(body)) => Ok(body),
        Ok(GtpResponse::Failure(_)) => Ok(String::new()),
        Err(trouble) => Err(trouble).with_context(|| format!("the engine does not respond to '{question}'")),
    };
    let info = EngineInfo { name: ask("name")?, version: ask("version")?, command };
    player.quit();
    Ok(info)
}

/// Returns the name of each suite: the name of its file, preceded by the folders that distinguish it from the others.
/// Names do not depend on the current directory, so that runs can be compared.
fn short_names(suites: &[Suite]) -> Vec<String> {
    let name = |path: &Path, folders: usize| {
        let stem = path.with_extension("");
        let words: Vec<_> = stem.components().map(|word| word.as_os_str().to_string_lossy()).collect();
        words[words.len().saturating_sub(folders + 1)..].join("/")
    };
    let absolute = |suite: &Suite| std::path::absolute(&suite.path).unwrap_or_else(|_| suite.path.clone());
    let paths: Vec<_> = suites.iter().map(absolute).collect();
    let longest = paths.iter().map(|path| path.components().count()).max().unwrap_or(0);
    let is_alone = |path: &Path, folders: usize| {
        paths.iter().filter(|other| name(other, folders) == name(path, folders)).count() == 1
    };
    let names = paths.iter().map(|path| {
        let folders = (0..longest).find(|&folders| is_alone(path, folders)).unwrap_or(longest);
        name(path, folders)
    });
    names.collect()
}

/// Which aspects of the engine's position are as the suite intends. A refused command may make them wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PositionState {
    size: bool,
    stones: bool,
}

const VALID_POSITION: PositionState = PositionState { size: true, stones: true };

/// Part of a suite that is being run.
struct PartRunner<'a> {
    steps: &'a [SuiteCommand],
    folder: &'a Path,
    suite: &'a Suite,
    engines: &'a dyn Engines,
    timeout: Duration,
    on_test: &'a (dyn Fn(&Suite, &TestResult) + Sync),
    /// Running engine. `None` after a crash until a new one is needed.
    player: Option<Box<dyn GtpPlayer>>,
    /// Reason why there is no engine.
    start_error: PlayerError,
    /// Steps that crashed an engine. They are not replayed.
    fatal: Vec<usize>,
    /// Number of consecutive failed attempts to bring an engine into the right state.
    failed_starts: usize,
    follower: BoardFollower,
    in_order: PositionState,
    played: SuiteResult,
}

impl<'a> PartRunner<'a> {
    fn new(
        suite: &'a Suite,
        engines: &'a dyn Engines,
        timeout: Duration,
        on_test: &'a (dyn Fn(&Suite, &TestResult) + Sync),
    ) -> PartRunner<'a> {
        PartRunner {
            steps: &suite.steps,
            folder: suite.folder(),
            suite,
            engines,
            timeout,
            on_test,
            player: None,
            start_error: PlayerError::Crashed("not started".into()),
            fatal: Vec::new(),
            failed_starts: 0,
            follower: BoardFollower::new(suite.folder()),
            in_order: VALID_POSITION,
            played: SuiteResult::default(),
        }
    }

    fn play(mut self, range: Range<usize>) -> SuiteResult {
        let start = Instant::now();
        self.restart(range.start);
        for index in range {
            self.step(index);
        }
        if let Some(mut player) = self.player.take() {
            player.quit();
        }
        self.played.seconds = start.elapsed().as_secs_f64();
        self.played
    }

    /// Starts engines until one is in the state before this step, unless an engine is running.
    fn restart(&mut self, index: usize) {
        while self.player.is_none() && self.failed_starts < MAX_RESTARTS {
            match self.try_restart(index) {
                Ok(player) => {
                    self.player = Some(player);
                    self.failed_starts = 0;
                }
                Err(trouble) => {
                    self.start_error = trouble;
                    self.failed_starts += 1;
                }
            }
        }
    }

    /// Starts an engine. In it and on Kosumi's own board, replays the steps that produce the state before this step.
    fn try_restart(&mut self, index: usize) -> Result<Box<dyn GtpPlayer>, PlayerError> {
        let mut player = self.engines.start(self.folder).map_err(PlayerError::Crashed)?;
        self.follower = BoardFollower::new(self.folder);
        self.in_order = VALID_POSITION;
        for (at, step) in replay(self.steps, index) {
            if self.fatal.contains(&at) {
                self.invalidate_position(step);
                continue;
            }
            if self.needs_invalid_position(step) {
                continue;
            }
            match player.send(&step.command, self.timeout) {
                Ok(answer) => self.note(step, &answer),
                Err(trouble) => {
                    self.fatal.push(at);
                    return Err(trouble);
                }
            }
        }
        Ok(player)
    }

    fn step(&mut self, index: usize) {
        let step = &self.steps[index];
        self.restart(index);
        if self.needs_invalid_position(step) {
            if step.is_test {
                self.record(step, Outcome::SetUp, "the position could not be set up", 0.0);
            }
            return;
        }
        let start = Instant::now();
        let answer = match &mut self.player {
            Some(player) => send(player.as_mut(), &step.command, self.timeout),
            None => Err(PlayerError::Crashed(format!("abandoned: {}", self.start_error))),
        };
        let seconds = start.elapsed().as_secs_f64();
        match answer {
            Ok(Answer { response: answer, is_move_left }) => {
                if step.is_test {
                    let (GtpResponse::Success(text) | GtpResponse::Failure(text)) = &answer;
                    self.record(step, judge(step, &answer), text, seconds);
                } else if let GtpResponse::Failure(message) = &answer {
                    self.other_error(step, message, true);
                }
                self.note(step, &answer);
                if is_move_left {
                    self.other_error(step, "the engine did not take its move back", true);
                    self.in_order.stones = false;
                    self.follower.set_unknown();
                }
            }
            Err(trouble) => {
                if self.player.take().is_some() {
                    self.fatal.push(index);
                }
                if step.is_test {
                    let outcome =
                        if trouble == PlayerError::TimedOut { Outcome::TimedOut } else { Outcome::Crashed };
                    self.record(step, outcome, &trouble.to_string(), seconds);
                } else {
                    self.other_error(step, &trouble.to_string(), false);
                }
                self.invalidate_position(step);
                self.start_error = trouble;
            }
        }
    }

    /// Whether the step depends on a position that is wrong. A query would give no information, and every further
    /// refused move would count as an error of its own. Commands that set up the next position, or that apply to all
    /// positions, are sent in any case.
    fn needs_invalid_position(&self, step: &SuiteCommand) -> bool {
        self.in_order != VALID_POSITION
            && match effect(step.name()) {
                Effect::Position => true,
                Effect::Nothing | Effect::Unknown => step.is_test,
                Effect::Fresh | Effect::Parameter => false,
            }
    }

    /// Updates the state of the position after a response. A test may be refused on purpose.
    fn note(&mut self, step: &SuiteCommand, answer: &GtpResponse) {
        self.follower.follow(&step.command, answer);
        match (step.name(), answer) {
            ("loadsgf" | "boardsize" | "rectangular_boardsize", GtpResponse::Success(_)) => {
                self.in_order = VALID_POSITION;
            }
            ("clear_board", GtpResponse::Success(_)) => self.in_order.stones = true,
            (_, GtpResponse::Failure(_)) if !step.is_test => self.invalidate_position(step),
            _ => {}
        }
    }

    /// Marks the position as wrong after a command that should have changed it failed.
    fn invalidate_position(&mut self, step: &SuiteCommand) {
        if moves_stones(step.name()) {
            self.in_order.stones = false;
            self.follower.set_unknown();
            // After a failed `loadsgf` or `boardsize`, clearing the board only corrects the stones.
            if effect(step.name()) == Effect::Fresh && step.name() != "clear_board" {
                self.in_order.size = false;
            }
        }
    }

    fn record(&mut self, step: &SuiteCommand, outcome: Outcome, answer: &str, seconds: f64) {
        let position = match outcome {
            Outcome::Pass | Outcome::Ignored | Outcome::Unsupported => None,
            _ => self.follower.position(),
        };
        let result = TestResult {
            line: step.line,
            number: step.number,
            command: step.command.clone(),
            expected: step.expectation.as_ref().map(|expectation| expectation.text.clone()),
            mark: step.expectation.as_ref().map_or(Mark::None, |expectation| expectation.mark),
            answer: shortened(answer),
            outcome,
            seconds,
            position,
        };
        (self.on_test)(self.suite, &result);
        self.played.tests.push(result);
    }

    fn other_error(&mut self, step: &SuiteCommand, message: &str, is_refusal: bool) {
        let (line, command, message) = (step.line, step.command.clone(), shortened(message));
        self.played.other_errors.push(OtherError { line, command, message, is_refusal });
    }
}

/// Shortens an answer for storage.
fn shortened(answer: &str) -> String {
    match answer.get(..answer.floor_char_boundary(ANSWER_BYTES_KEPT)) {
        Some(start) if start.len() < answer.len() => format!("{start}\n[{} bytes in all]", answer.len()),
        _ => answer.to_owned(),
    }
}

/// Returns the outcome of a test with this response.
fn judge(step: &SuiteCommand, answer: &GtpResponse) -> Outcome {
    let reply = match answer {
        GtpResponse::Success(body) => Response::Success(body),
        GtpResponse::Failure(message) => Response::Failure(message),
    };
    let (mark, is_right) = match &step.expectation {
        Some(expectation) => (expectation.mark, expectation.accepts(reply)),
        None => (Mark::None, matches!(reply, Response::Success(_))),
    };
    // The response to an unknown command is neither right nor wrong, unless the test expects it.
    if let Response::Failure(message) = reply
        && is_unknown(answer)
    {
        let asked_for =
            step.expectation.as_ref().is_some_and(|expectation| is_right && expectation.matches(message));
        if !asked_for {
            return Outcome::Unsupported;
        }
    }
    match (mark, is_right) {
        (Mark::Ignored, _) => Outcome::Ignored,
        (Mark::None, true) => Outcome::Pass,
        (Mark::None, false) => Outcome::Fail,
        (Mark::KnownFailure, true) => Outcome::UnexpectedPass,
        (Mark::KnownFailure, false) => Outcome::ExpectedFail,
    }
}
