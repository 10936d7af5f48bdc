//! GNU Go's reading commands, which find out whether a chain or a group is captured and whether two chains are
//! connected. Responses have GNU Go's formats. Reading of chains and connections is tactical: it tries only moves near
//! them. Reading of groups is exact within a region (see [`solve`](kosumi_solve)). If reading does not decide the fate
//! of a chain or a group, the network estimates the result by a search. If that is impossible as well, the command
//! fails.
//!
//! The codes are: 0, no; 1, yes; 2, yes if the player who moves first can ignore a ko threat; 3, yes if that player has
//! a ko threat that is big enough.

use super::text::move_text;
use super::{CommandResult, Commands};
use kosumi_engine::{SurvivalEstimate, SurvivalQuestion};
use kosumi_go::board::{Board, Color, Move, Point};
use kosumi_gtp::{Arguments, Failure, Session};
use kosumi_solve::{Aim, Question, QuestionError, Reading, Region, Status, Success};

/// Maximum number of nodes per query: less than a second on an idle processor.
pub(super) const MAX_NODES: u64 = 50_000;
/// Size of the solver's table per query, in bytes.
const MEMORY: usize = 32 << 20;

/// Returns the region in which a group is read. It includes the continuations beyond its edge. Reading counts a stone
/// that leaves the region as saved, but in whole games such a stone is often captured a move later.
pub(super) fn group_region(board: &Board, point: Point) -> Result<Region, Failure> {
    let color = board.cell(point).color();
    let region = color.and_then(|color| Some(Region::of_group(board, point)?.with_edge(board, color)));
    region.ok_or_else(|| Failure::new("vertex must not be empty"))
}

/// Returns the code of a result for which the side that tries to prove the query moves first.
pub(super) fn attacker_code(success: Success) -> Option<u8> {
    match success {
        Success::Yes => Some(1),
        Success::KoFirst(_) => Some(2),
        Success::KoSecond(_) => Some(3),
        Success::No => Some(0),
        Success::Unknown => None,
    }
}

/// Returns the code of a result for which the side that tries to refute the query moves first.
pub(super) fn defender_code(success: Success) -> Option<u8> {
    match success {
        Success::No => Some(1),
        Success::KoSecond(_) => Some(2),
        Success::KoFirst(_) => Some(3),
        Success::Yes => Some(0),
        Success::Unknown => None,
    }
}

pub(super) fn undecided() -> Failure {
    Failure::new(format!("not decided within {MAX_NODES} nodes"))
}

/// Returns the failure of a command that the controller interrupted before it was decided.
pub(super) fn interrupted() -> Failure {
    Failure::new("interrupted")
}

/// Responds with a code, and with a move if there is one.
pub(super) fn answer(code: Option<u8>, best: Option<Move>) -> CommandResult {
    let code = code.ok_or_else(undecided)?;
    let text = match best {
        Some(mv) if code > 0 => format!("{code} {}", move_text(mv)),
        None if code > 0 => format!("{code} PASS"),
        _ => code.to_string(),
    };
    Ok(text.into())
}

/// Scope of reading: a chain, read tactically, or a group, read in a region.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Chain,
    Group,
}

/// Query whether the group of a region, including its stone at `point`, is captured when `first` moves first.
#[derive(Clone, Copy)]
struct GroupQuery<'a> {
    board: &'a Board,
    region: &'a Region,
    point: Point,
    first: Color,
}

impl Commands {
    pub(super) fn board(&self) -> &Board {
        self.engine.game().board()
    }

    /// Parses a point with a stone.
    pub(super) fn stone(&self, arguments: &mut Arguments<'_>) -> Result<(Point, Color), Failure> {
        let point = self.point(arguments)?;
        let color = self.board().cell(point).color();
        color.map(|color| (point, color)).ok_or_else(|| Failure::new("vertex must not be empty"))
    }

    fn read(&self, board: &Board, region: &Region, aim: Aim, first: Color) -> Result<Reading, Failure> {
        let suicide = self.engine.game().rules().suicide;
        let question = Question { board, region, aim, suicide, memory: MEMORY, threads: 1 };
        let reading = kosumi_solve::read(&question, first, &self.stops_at(MAX_NODES))
            .map_err(|error: QuestionError| Failure::new(error.to_string()))?;
        match reading.success {
            Success::Unknown if self.watch.interrupted() => Err(interrupted()),
            _ => Ok(reading),
        }
    }

    /// Returns a function that decides whether reading stops: at this number of nodes, or when the controller interrupts
    /// the command.
    pub(super) fn stops_at(&self, most: u64) -> impl Fn(u64) -> bool + Sync + use<> {
        let watch = self.watch.clone();
        move |nodes| nodes >= most || watch.interrupted()
    }

    /// Reads whether the stone is captured when `first` moves first. `board` may be one move ahead of the game.
    pub(super) fn capture(
        &self,
        board: &Board,
        point: Point,
        scope: Scope,
        first: Color,
    ) -> Result<Reading, Failure> {
        match scope {
            Scope::Chain => {
                let reading = self.read(board, &Region::EMPTY, Aim::Chain(point), first)?;
                if reading.success != Success::Unknown {
                    return Ok(reading);
                }
                let region = group_region(board, point)?;
                self.with_network_estimate(reading, GroupQuery { board, region: &region, point, first })
            }
            Scope::Group => {
                let region = group_region(board, point)?;
                self.group_capture(GroupQuery { board, region: &region, point, first })
            }
        }
    }

    fn group_capture(&self, question: GroupQuery<'_>) -> Result<Reading, Failure> {
        let GroupQuery { board, region, first, .. } = question;
        let reading = self.read(board, region, Aim::Capture, first)?;
        self.with_network_estimate(reading, question)
    }

    /// Returns the reading if it is proven or if the network cannot judge. Otherwise returns the network's judgement of
    /// the stone's chain.
    fn with_network_estimate(&self, reading: Reading, question: GroupQuery<'_>) -> Result<Reading, Failure> {
        Ok(self.network_estimate(&reading, question)?.unwrap_or(reading))
    }

    /// Returns the network's judgement of the stone's chain. Returns `None` if the reading is proven, or if the network
    /// is missing or disabled by the settings.
    ///
    /// # Errors
    ///
    /// Returns a failure if the controller interrupts the command.
    fn network_estimate(
        &self,
        reading: &Reading,
        question: GroupQuery<'_>,
    ) -> Result<Option<Reading>, Failure> {
        let GroupQuery { board, region, point, first } = question;
        let is_proven = match reading.success {
            Success::Unknown => false,
            // A chain that escapes from an open region may be captured outside.
            Success::No => region.is_closed,
            Success::Yes | Success::KoFirst(_) | Success::KoSecond(_) => true,
        };
        let visits = self.engine.settings().reading_visits;
        if is_proven || visits == 0 {
            return Ok(None);
        }
        let question = SurvivalQuestion { board, point, playable: &region.playable, first };
        let watch = &self.watch;
        match self.engine.estimate_survival(question, visits, &|| watch.interrupted()) {
            Some(SurvivalEstimate { captured, best, .. }) => {
                Ok(Some(Reading { success: captured, best: Some(best), ..*reading }))
            }
            None if watch.interrupted() => Err(interrupted()),
            None => Ok(None),
        }
    }

    fn attack_on(&self, arguments: &mut Arguments<'_>, scope: Scope) -> CommandResult {
        let (point, color) = self.stone(arguments)?;
        let reading = self.capture(self.board(), point, scope, color.opponent())?;
        answer(attacker_code(reading.success), reading.best)
    }

    fn defence_of(&self, arguments: &mut Arguments<'_>, scope: Scope) -> CommandResult {
        let (point, color) = self.stone(arguments)?;
        // A stone that cannot be attacked needs no move.
        let attack = self.capture(self.board(), point, scope, color.opponent())?;
        if attack.success == Success::No {
            return answer(Some(1), Some(Move::Pass));
        }
        let reading = self.capture(self.board(), point, scope, color)?;
        answer(defender_code(reading.success), reading.best)
    }

    /// Responds whether the move in the first argument attacks or defends the stone in the second one.
    fn does(&self, arguments: &mut Arguments<'_>, scope: Scope, attacks: bool) -> CommandResult {
        let mv = self.point(arguments)?;
        let (point, color) = self.stone(arguments)?;
        let mover = if attacks { color.opponent() } else { color };
        if self.engine.game().check(mover, Move::Play(mv)).is_err() {
            return Err(Failure::new("illegal move"));
        }
        let mut board = *self.board();
        board.play_unchecked(mv, mover);
        if board.cell(point).color() != Some(color) {
            return Ok(u8::from(attacks).to_string().into());
        }
        let reading = self.capture(&board, point, scope, mover.opponent())?;
        let code = if attacks { attacker_code(reading.success) } else { defender_code(reading.success) };
        Ok(code.ok_or_else(undecided)?.to_string().into())
    }

    fn joins(&self, a: Point, b: Point, first: Color) -> Result<Reading, Failure> {
        self.read(self.board(), &Region::EMPTY, Aim::Link(a, b), first)
    }

    /// Parses two stones of the same colour.
    pub(super) fn pair(&self, arguments: &mut Arguments<'_>) -> Result<(Point, Point, Color), Failure> {
        let (a, color) = self.stone(arguments)?;
        let (b, other) = self.stone(arguments)?;
        if color != other {
            return Err(Failure::new("vertices must have same color"));
        }
        Ok((a, b, color))
    }

    fn are_one_chain(&self, a: Point, b: Point) -> bool {
        self.board().anchor(a) == self.board().anchor(b)
    }
}

pub(super) fn attack(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    commands.attack_on(arguments, Scope::Chain)
}

pub(super) fn defend(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    commands.defence_of(arguments, Scope::Chain)
}

pub(super) fn owl_attack(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    commands.attack_on(arguments, Scope::Group)
}

pub(super) fn owl_defend(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    commands.defence_of(arguments, Scope::Group)
}

pub(super) fn does_attack(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    commands.does(arguments, Scope::Chain, true)
}

pub(super) fn does_defend(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    commands.does(arguments, Scope::Chain, false)
}

pub(super) fn owl_does_attack(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    commands.does(arguments, Scope::Group, true)
}

pub(super) fn owl_does_defend(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    commands.does(arguments, Scope::Group, false)
}

pub(super) fn connect(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let (a, b, color) = commands.pair(arguments)?;
    if commands.are_one_chain(a, b) {
        return answer(Some(1), Some(Move::Pass));
    }
    // Stones that cannot be cut need no move.
    if commands.joins(a, b, color.opponent())?.success == Success::Yes {
        return answer(Some(1), Some(Move::Pass));
    }
    let reading = commands.joins(a, b, color)?;
    answer(attacker_code(reading.success), reading.best)
}

pub(super) fn disconnect(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let (a, b, color) = commands.pair(arguments)?;
    if commands.are_one_chain(a, b) {
        return answer(Some(0), None);
    }
    let reading = commands.joins(a, b, color.opponent())?;
    answer(defender_code(reading.success), reading.best)
}

/// Responds whether two stones are connected whatever the opponent does.
pub(super) fn same_dragon(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let (a, _) = commands.stone(arguments)?;
    let (b, _) = commands.stone(arguments)?;
    let board = commands.board();
    let (color, other) = (board.cell(a).color(), board.cell(b).color());
    let same = match color {
        Some(color) if Some(color) == other => {
            commands.are_one_chain(a, b) || {
                let success = commands.joins(a, b, color.opponent())?.success;
                attacker_code(success).ok_or_else(undecided)? == 1
            }
        }
        _ => false,
    };
    Ok(u8::from(same).to_string().into())
}

/// Responds as GNU Go does: `critical` is followed by the attacking move and the defending move.
pub(super) fn dragon_status(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let (point, color) = commands.stone(arguments)?;
    let board = commands.board();
    let region = group_region(board, point)?;
    let suicide = commands.engine.game().rules().suicide;
    let question =
        Question { board, region: &region, aim: Aim::Capture, suicide, memory: MEMORY, threads: 1 };
    let verdict = kosumi_solve::read_status(&question, &commands.stops_at(MAX_NODES));
    // A group without free points is captured by the next move or never, and tactical reading decides that.
    let verdict = verdict.map_err(|error| Failure::new(error.to_string()))?;
    if commands.watch.interrupted() {
        return Err(interrupted());
    }
    if verdict.status == Status::Alive {
        return Ok("alive".into());
    }
    let asked = |first| GroupQuery { board, region: &region, point, first };
    let attack = commands.network_estimate(&verdict.attack, asked(color.opponent()))?;
    match attack.unwrap_or(verdict.attack).success {
        Success::No if attack.is_some() || region.is_closed => return Ok("alive".into()),
        // A group that escapes from an open region is not captured there, but may be captured outside.
        Success::No | Success::Unknown => return Ok("unknown".into()),
        Success::Yes | Success::KoFirst(_) | Success::KoSecond(_) => {}
    }
    let attack = attack.unwrap_or(verdict.attack);
    let defence = commands.with_network_estimate(verdict.defence, asked(color))?;
    Ok(match defence.success {
        Success::Unknown => "unknown".into(),
        Success::Yes => "dead".into(),
        _ => {
            let best = |reading: Reading| move_text(reading.best.unwrap_or(Move::Pass));
            format!("critical {} {}", best(attack), best(defence)).into()
        }
    })
}

/// Reads a capturing race between two groups, with the first one's owner to move. Responds whether the first is saved
/// and whether the second is captured, followed by the move. The move is a pass if no move is needed or if none helps.
pub(super) fn analyze_semeai(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let (a, color) = commands.stone(arguments)?;
    let (b, other) = commands.stone(arguments)?;
    if color == other {
        return Err(Failure::new("vertices must have different color"));
    }
    let board = commands.board();
    let (mine, theirs) = (group_region(board, a)?, group_region(board, b)?);
    // Both groups are read in the union of their regions.
    let mut both = mine.playable;
    both.union_with(&theirs.playable);
    let capture = |group: &Region, point, first| {
        let region = Region { playable: both, ..*group };
        commands.group_capture(GroupQuery { board, region: &region, point, first })
    };
    let captured = capture(&theirs, b, color)?;
    if captured.success == Success::Yes {
        // Capturing the other group saves this one. If the other group is captured even when its owner moves first, no
        // move is needed.
        let is_settled = capture(&theirs, b, other)?.success == Success::Yes;
        let best = captured.best.filter(|_| !is_settled).unwrap_or(Move::Pass);
        return Ok(format!("1 1 {}", move_text(best)).into());
    }
    let saved = capture(&mine, a, color)?;
    if saved.success == Success::Yes {
        return Ok("0 0 PASS".into());
    }
    let saved_code = defender_code(saved.success).ok_or_else(undecided)?;
    let captured_code = attacker_code(captured.success).ok_or_else(undecided)?;
    let is_safe = saved_code == 1 && capture(&mine, a, other)?.success == Success::No;
    // A safe group may still fight a ko.
    let best = match (is_safe, captured_code) {
        (true, 0) => None,
        (true, _) => captured.best,
        (false, _) => saved.best,
    };
    let best = best.unwrap_or(Move::Pass);
    Ok(format!("{saved_code} {captured_code} {}", move_text(best)).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_engine::{Engine, EngineSettings};
    use kosumi_gtp::{Command, Handler, Response, serve};
    use std::io::Cursor;

    /// Commands that run after the interruption of the controller has arrived.
    struct Interrupted(Commands);

    impl Handler for Interrupted {
        fn handle(&mut self, command: &Command, session: &mut Session<'_>) -> Result<Response, Failure> {
            while command.name != "play" && !session.interrupted() {
                std::thread::yield_now();
            }
            self.0.handle(command, session)
        }
    }

    #[test]
    fn an_interruption_stops_reading() {
        let settings = EngineSettings { threads: 1, memory_mebibytes: 1, ..EngineSettings::default() };
        for command in ["owl_attack D4", "owl_defend D4", "worm_data", "dragon_status D4"] {
            let mut commands = Interrupted(Commands::new(Engine::new(settings)));
            let input = format!("play b D4\nplay w F4\nplay b D6\nplay w C14\n5 {command}\n# interrupt\n");
            let mut output = Vec::new();
            serve(Cursor::new(input), &mut output, &mut commands).unwrap();
            let output = String::from_utf8(output).unwrap();
            assert!(output.ends_with("?5 interrupted\n\n"), "{command}: {output}");
        }
    }
}
