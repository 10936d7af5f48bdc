//! Engine as the player of a game: sends the commands that a game needs, to a child process or the built-in engine.

use super::clock::{Dialect, GameClock};
use super::conditions::{Conditions, EvaluationComments, GamePlan};
use super::contender::Contender;
use super::control::Control;
use super::evaluation::MoveEvaluation;
use super::link::EngineLink;
use crate::commands::{rules_json, vertex_move};
use crate::players::{GtpResponse, PlayerError};
use crate::words::color_letter;
use anyhow::Context;
use kosumi_go::board::{BoardSize, Color, Move, PointSet};
use kosumi_go::rng::mix;
use kosumi_gtp::{ClientError, Vertex};
use std::collections::BTreeSet;
use std::time::Duration;

/// Maximum time of an engine for commands other than moves.
pub(super) const MAX_COMMAND_TIME: Duration = Duration::from_secs(60);
/// Maximum time of an engine to quit.
const QUIT_TIME: Duration = Duration::from_secs(5);
/// Interval at which a waiting thread checks whether the match is aborted.
const SLICE: Duration = Duration::from_millis(100);
/// Maximum number of characters of an engine's text in messages and records. A response may be as long as megabytes.
const MAX_SHOWN_CHARACTERS: usize = 200;
/// Number of output lines outside responses after which the engine is assumed to send no response.
const MAX_STRAY_LINES: usize = 1000;

/// Reason why there is no response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum PlayerFault {
    /// Failure response with its message.
    Refused(String),
    /// No response in time.
    TimedOut,
    /// The engine has ended.
    Ended(String),
    /// The engine wrote something other than a response.
    InvalidResponse(String),
    /// The match was aborted.
    Aborted,
}

impl std::fmt::Display for PlayerFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PlayerFault::Refused(message) => write!(f, "refused: {message}"),
            PlayerFault::TimedOut => f.write_str("no response in time"),
            PlayerFault::Ended(message) | PlayerFault::InvalidResponse(message) => f.write_str(message),
            PlayerFault::Aborted => f.write_str("aborted"),
        }
    }
}

/// Decision of an engine about its turn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum PlayerDecision {
    Play(Move),
    Resign,
    /// A point outside the board.
    OffBoard(Vertex),
}

/// Name and version that the engine reports.
#[derive(Clone, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Identity {
    pub(super) name: String,
    pub(super) version: String,
}

impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

/// Running engine of the match.
pub(super) struct MatchPlayer {
    link: EngineLink,
    pub(super) identity: Identity,
    commands: BTreeSet<String>,
    /// Response to `kata-list_time_settings`.
    time_kinds: String,
    /// Dialect that is used for the time control of this match.
    dialect: Dialect,
    /// Command that requests a move, and whether its response contains an evaluation.
    genmove: (&'static str, bool),
    seed: u64,
    is_time_left_known: bool,
    /// Number of lines outside responses since `take_stray` was last called.
    stray: usize,
    /// Total time of the commands with the opponent's moves, and their number. These commands need no search, so their
    /// time is the latency.
    latency: (Duration, u32),
}

impl std::fmt::Debug for MatchPlayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Player").field("identity", &self.identity).finish_non_exhaustive()
    }
}

impl MatchPlayer {
    pub(super) fn start(
        contender: &Contender,
        conditions: &Conditions,
        control: &Control,
    ) -> anyhow::Result<MatchPlayer> {
        let link = contender.start()?;
        let wants_evaluation = match conditions.evaluation_comments {
            EvaluationComments::All => true,
            EvaluationComments::Builtin => contender.is_built_in(),
            EvaluationComments::None => false,
        };
        MatchPlayer::new(link, contender.seed(), wants_evaluation, conditions, control)
    }

    /// Queries the name, version and commands of an engine.
    pub(super) fn new(
        link: EngineLink,
        seed: u64,
        wants_evaluation: bool,
        conditions: &Conditions,
        control: &Control,
    ) -> anyhow::Result<MatchPlayer> {
        let mut player = MatchPlayer {
            link,
            identity: Identity::default(),
            commands: BTreeSet::new(),
            time_kinds: String::new(),
            dialect: Dialect::Plain,
            genmove: ("genmove", false),
            seed,
            is_time_left_known: true,
            stray: 0,
            latency: (Duration::ZERO, 0),
        };
        let mut ask = |command: &str| match player.send(command, MAX_COMMAND_TIME, control) {
            Ok(answer) => Ok(answer.trim().to_owned()),
            Err(PlayerFault::Refused(_)) => Ok(String::new()),
            Err(fault) => Err(anyhow::anyhow!("{command}: {fault}")),
        };
        let identity = Identity { name: shortened(&ask("name")?), version: shortened(&ask("version")?) };
        let commands: BTreeSet<String> =
            ask("list_commands")?.split_whitespace().map(str::to_owned).collect();
        if commands.contains("kata-list_time_settings") {
            let kinds = ask("kata-list_time_settings")?;
            player.time_kinds = kinds;
        }
        (player.identity, player.commands) = (identity, commands);
        if let Some(control) = conditions.time {
            player.dialect = Dialect::choose(control, &player.commands, &player.time_kinds);
        }
        if wants_evaluation {
            // As CGOS's client does. Only one report before the move is needed.
            let known = |name: &str| player.commands.contains(name);
            player.genmove = if known("kata-genmove_analyze") {
                ("kata-genmove_analyze", true)
            } else if known("lz-genmove_analyze") {
                ("lz-genmove_analyze", true)
            } else {
                player.genmove
            };
        }
        Ok(player)
    }

    /// Asks the engine to quit. An engine that does not quit in time is killed.
    pub(super) fn quit(self) {
        match self.link {
            EngineLink::Child(mut client) => {
                let _ = client.quit(QUIT_TIME);
            }
            EngineLink::Local(mut player) => player.quit(),
        }
    }

    /// Sends a command and waits for its response.
    fn send(&mut self, command: &str, timeout: Duration, control: &Control) -> Result<String, PlayerFault> {
        let client = match &mut self.link {
            EngineLink::Child(client) => client,
            EngineLink::Local(player) => {
                return match player.send(command, timeout) {
                    Ok(GtpResponse::Success(body)) => Ok(body),
                    Ok(GtpResponse::Failure(message)) => Err(PlayerFault::Refused(shortened(&message))),
                    Err(PlayerError::TimedOut) => Err(PlayerFault::TimedOut),
                    Err(PlayerError::Crashed(message)) => Err(PlayerFault::Ended(shortened(&message))),
                };
            }
        };
        let start = control.now();
        let ended = |error: &ClientError| PlayerFault::Ended(shortened(&error.to_string()));
        client.post(command).map_err(|error| ended(&error))?;
        let mut stray: Vec<String> = Vec::new();
        loop {
            let left = timeout.saturating_sub(control.since(start));
            match client.receive(left.min(SLICE)) {
                Ok(body) => return Ok(body),
                Err(ClientError::Refused(message)) => return Err(PlayerFault::Refused(shortened(&message))),
                Err(ClientError::Garbage(lines)) => {
                    self.stray += lines.len();
                    stray.extend(lines);
                }
                Err(ClientError::TimedOut) => {}
                Err(error @ (ClientError::Exited { .. } | ClientError::Io(_))) => {
                    return Err(ended(&error));
                }
            }
            if control.is_aborted() {
                return Err(PlayerFault::Aborted);
            }
            if left <= SLICE || stray.len() >= MAX_STRAY_LINES {
                let Some(last) = stray.last() else { return Err(PlayerFault::TimedOut) };
                return Err(PlayerFault::InvalidResponse(format!(
                    "no response, but output {:?}",
                    shortened(last)
                )));
            }
        }
    }

    /// Sets up the engine for a game: board, rules, clock, seed and handicap.
    pub(super) fn set_up(
        &mut self,
        conditions: &Conditions,
        plan: &GamePlan,
        control: &Control,
    ) -> Result<(), String> {
        let size = plan.board.size;
        let mut commands = vec![if size.is_square() {
            format!("boardsize {}", size.columns())
        } else {
            format!("rectangular_boardsize {} {}", size.columns(), size.rows())
        }];
        commands.push("clear_board".to_owned());
        commands.push(format!("komi {}", plan.board.komi));
        commands.extend(conditions.time.map(|time| self.dialect.settings(time)));
        for command in &commands {
            self.send(command, MAX_COMMAND_TIME, control).map_err(|fault| format!("{command}: {fault}"))?;
        }
        // The engine may refuse these commands, because it may have rules of its own and need not support them.
        let rules = format!("kata-set-rules {}", rules_json(conditions.rules));
        // Some engines accept only 31 bits.
        let seed = format!("set_random_seed {}", (plan.seed ^ mix(self.seed)) >> 34);
        for command in [rules, seed] {
            let name = command.split(' ').next().unwrap_or_default();
            if self.commands.contains(name) {
                match self.send(&command, MAX_COMMAND_TIME, control) {
                    Ok(_) | Err(PlayerFault::Refused(_)) => {}
                    Err(fault) => return Err(format!("{name}: {fault}")),
                }
            }
        }
        let points = plan.board.handicap(plan.handicap).unwrap_or_default();
        if !points.is_empty() {
            let command = format!("fixed_handicap {}", points.len());
            let answer = self.send(&command, MAX_COMMAND_TIME, control);
            let answer = answer.map_err(|fault| format!("{command}: {fault}"))?;
            let own: BTreeSet<String> = points.iter().map(ToString::to_string).collect();
            let theirs: BTreeSet<String> = answer.split_whitespace().map(str::to_uppercase).collect();
            if theirs != own {
                let own: Vec<String> = own.into_iter().collect();
                return Err(format!("{command}: {:?} instead of {}", shortened(&answer), own.join(" ")));
            }
        }
        self.latency = (Duration::ZERO, 0);
        Ok(())
    }

    /// Sends a move to the engine.
    pub(super) fn send_move(&mut self, color: Color, mv: Move, control: &Control) -> Result<(), PlayerFault> {
        let start = control.now();
        self.send(&play_command(color, mv), MAX_COMMAND_TIME, control)?;
        self.latency.0 += control.since(start);
        self.latency.1 += 1;
        Ok(())
    }

    /// Sends the clock to the engine.
    pub(super) fn send_clock(
        &mut self,
        color: Color,
        clock: &GameClock,
        control: &Control,
    ) -> Result<(), PlayerFault> {
        if !self.is_time_left_known {
            return Ok(());
        }
        let command = self.dialect.time_left(letter(color), clock);
        match self.send(&command, MAX_COMMAND_TIME, control) {
            // Not every engine supports the command, and none needs it to play.
            Err(PlayerFault::Refused(_)) => {
                self.is_time_left_known = false;
                Ok(())
            }
            result => result.map(|_| ()),
        }
    }

    /// Requests a move.
    pub(super) fn choose(
        &mut self,
        color: Color,
        size: BoardSize,
        timeout: Duration,
        control: &Control,
    ) -> Result<(PlayerDecision, Option<MoveEvaluation>), PlayerFault> {
        let (name, has_evaluation) = self.genmove;
        // The interval is longer than any move. KataGo reports once if there is no interval.
        let interval = if name == "lz-genmove_analyze" { " 100000" } else { "" };
        let answer = self.send(&format!("{name} {}{interval}", letter(color)), timeout, control)?;
        let (text, evaluation) = if has_evaluation {
            let last = answer.lines().rev().find_map(|line| line.trim().strip_prefix("play "));
            (last.unwrap_or(answer.trim()), MoveEvaluation::read(&answer, name.starts_with("kata")))
        } else {
            (answer.trim(), None)
        };
        if text.eq_ignore_ascii_case("resign") {
            return Ok((PlayerDecision::Resign, evaluation));
        }
        let vertex = text
            .parse::<Vertex>()
            .map_err(|_| PlayerFault::InvalidResponse(format!("invalid response {:?}", shortened(text))))?;
        // A pass may be decided without a search. Then the report is not about the pass.
        let is_about = |evaluation: &MoveEvaluation| {
            evaluation.variation.first().is_none_or(|first| first.parse::<Vertex>() == Ok(vertex))
        };
        let evaluation = evaluation.filter(is_about);
        Ok((
            vertex_move(size, vertex).map_or(PlayerDecision::OffBoard(vertex), PlayerDecision::Play),
            evaluation,
        ))
    }

    /// Sends a query at the end of a game. Returns `None` if the engine gives no answer.
    ///
    /// # Errors
    ///
    /// Returns a [`PlayerFault`] after which the engine cannot be used any more.
    pub(super) fn ask_at_the_end(
        &mut self,
        command: &str,
        control: &Control,
    ) -> Result<Option<String>, PlayerFault> {
        let name = command.split(' ').next().unwrap_or_default();
        // Engines that do not list their commands are queried as well.
        if !self.commands.is_empty() && !self.commands.contains(name) {
            return Ok(None);
        }
        match self.send(command, MAX_COMMAND_TIME, control) {
            Ok(answer) => Ok(Some(answer.trim().to_owned())),
            Err(PlayerFault::Refused(_)) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Returns the stones that the engine calls dead; `None` if it gives no answer or no clear one.
    pub(super) fn dead(
        &mut self,
        size: BoardSize,
        control: &Control,
    ) -> Result<Option<PointSet>, PlayerFault> {
        let Some(answer) = self.ask_at_the_end("final_status_list dead", control)? else { return Ok(None) };
        let mut dead = PointSet::EMPTY;
        for word in answer.split_whitespace() {
            let vertex = word.parse::<Vertex>().ok();
            match vertex.and_then(|vertex| vertex_move(size, vertex)).and_then(Move::point) {
                Some(point) => dead.insert(point),
                None => return Ok(None),
            };
        }
        Ok(Some(dead))
    }

    /// Returns the number of lines outside responses since the last call.
    pub(super) fn take_stray(&mut self) -> usize {
        let since = match &mut self.link {
            EngineLink::Child(client) => client.take_garbage().len(),
            EngineLink::Local(_) => 0,
        };
        std::mem::take(&mut self.stray) + since
    }

    /// Returns the mean round-trip time of a message in seconds, over the opponent's moves in this game.
    pub(super) fn lag(&self) -> f64 {
        self.latency.0.as_secs_f64() / f64::from(self.latency.1.max(1))
    }
}

/// Starts an engine. Index 0 is A, and 1 is B.
pub(super) fn start_one(
    conditions: &Conditions,
    control: &Control,
    index: usize,
) -> anyhow::Result<MatchPlayer> {
    let contender = &conditions.contenders[index];
    MatchPlayer::start(contender, conditions, control)
        .with_context(|| format!("cannot start {}: {}", ["A", "B"][index], contender.text))
}

/// Returns the beginning of a text of an engine, for messages and records.
pub(super) fn shortened(text: &str) -> String {
    text.chars().take(MAX_SHOWN_CHARACTERS).collect()
}

fn letter(color: Color) -> char {
    color_letter(color).to_ascii_lowercase()
}

pub(super) fn play_command(color: Color, mv: Move) -> String {
    format!("play {} {mv}", letter(color))
}
