//! GNU Go's commands about chains and eye spaces, in its response formats. GNU Go calls a chain a *worm* and a group a
//! *dragon*. Responses contain exact results only. GNU Go's estimates (effective sizes, genus, weakness) have no
//! counterpart.

use super::reading::{MAX_NODES, Scope, attacker_code, defender_code, group_region, interrupted, undecided};
use super::text::{self, color_text, move_text, points_text};
use super::{CommandResult, Commands};
use kosumi_go::board::{Board, Cell, Color, Move, Point, PointSet};
use kosumi_go::safety;
use kosumi_gtp::{Arguments, Failure, Session};
use kosumi_solve::{EyesError, MultiChainError, MultiChainReader, Reading, Success};
use std::fmt::Write;

/// Size of the solver's table for one of many small queries, in bytes.
const SMALL_MEMORY: usize = 1 << 20;
/// Maximum number of nodes of a query about several chains.
const MAX_DOUBLE_NODES: u64 = 4 * MAX_NODES;

fn liberties(board: &Board, point: Point) -> PointSet {
    board.chain(point).flat_map(Point::adjacent).filter(|&next| board.cell(next) == Cell::Empty).collect()
}

/// Returns the stones of a chain, starting with the given one.
fn chain_text(board: &Board, point: Point) -> String {
    let others: PointSet = board.chain(point).filter(|&stone| stone != point).collect();
    points_text(std::iter::once(point).chain(others.iter()))
}

impl Commands {
    /// Parses the chains that a command is about: that of a vertex, those of a colour, or all. Returns one stone of
    /// each chain.
    fn chains(&self, arguments: &mut Arguments<'_>) -> Result<Vec<Point>, Failure> {
        let of = |color: Option<Color>| {
            let board = self.board();
            let is_anchor = move |&(point, its): &(Point, Color)| {
                board.anchor(point) == point && color.is_none_or(|color| color == its)
            };
            board.stones().filter(is_anchor).map(|(point, _)| point).collect()
        };
        if arguments.remaining() == 0 {
            return Ok(of(None));
        }
        match arguments.try_color() {
            Some(color) => Ok(of(Some(text::own_color(color)))),
            None => Ok(vec![self.stone(arguments)?.0]),
        }
    }

    fn double(&self, nodes: u64) -> MultiChainReader {
        MultiChainReader { suicide: self.engine.game().rules().suicide, memory: SMALL_MEMORY, nodes }
    }
}

fn double_failure(error: MultiChainError) -> Failure {
    match error {
        MultiChainError::Undecided => Failure::new(format!("not decided within {MAX_DOUBLE_NODES} nodes")),
        MultiChainError::Question(error) => Failure::new(error.to_string()),
    }
}

pub(super) fn countlib(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let (point, _) = commands.stone(arguments)?;
    Ok(commands.board().liberty_count(point).to_string().into())
}

pub(super) fn findlib(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let (point, _) = commands.stone(arguments)?;
    Ok(points_text(liberties(commands.board(), point).iter()).into())
}

pub(super) fn worm_stones(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let chains = commands.chains(arguments)?;
    let lines = chains.into_iter().map(|point| chain_text(commands.board(), point));
    Ok(lines.collect::<Vec<_>>().join("\n").into())
}

/// Returns a code and a move as fields of a table. An unknown code is a question mark.
fn code_fields(code: Option<u8>, reading: &Reading) -> (String, String) {
    let code_text = code.map_or("?".to_owned(), |code| code.to_string());
    let mv = reading.best.filter(|_| code.is_some_and(|code| code > 0)).unwrap_or(Move::Pass);
    (code_text, move_text(mv))
}

impl Commands {
    /// Returns the code and the move of the attack on a stone, and those of its defence.
    fn attack_and_defence(
        &self,
        point: Point,
        color: Color,
        scope: Scope,
    ) -> Result<[(String, String); 2], Failure> {
        let board = self.board();
        let attack = self.capture(board, point, scope, color.opponent())?;
        let fields = code_fields(attacker_code(attack.success), &attack);
        if attack.success == Success::No {
            // In GNU Go's responses there is no defence without an attack.
            return Ok([fields, ("0".to_owned(), "PASS".to_owned())]);
        }
        let defence = self.capture(board, point, scope, color)?;
        Ok([fields, code_fields(defender_code(defence.success), &defence)])
    }

    fn worm_table(&self, point: Point, color: Color) -> Result<String, Failure> {
        let board = self.board();
        let [attack, defence] = self.attack_and_defence(point, color, Scope::Chain)?;
        let safe = safety::pass_alive(board, color, self.engine.game().rules().suicide);
        let status = if safe.chains.contains(point) { "alive" } else { "unknown" };
        let rows = [
            ("origin", board.anchor(point).to_string()),
            ("color", color_text(color).to_owned()),
            ("size", board.chain_len(point).to_string()),
            ("liberties", board.liberty_count(point).to_string()),
            ("attack_code", attack.0),
            ("attack_point", attack.1),
            ("defense_code", defence.0),
            ("defense_point", defence.1),
            ("unconditional_status", status.to_owned()),
        ];
        Ok(table(point, &rows, 20))
    }
}

/// Returns a table in GNU Go's format: a vertex, followed by one line per field.
fn table(point: Point, rows: &[(&str, String)], width: usize) -> String {
    let mut out = format!("{point}:");
    for (name, value) in rows {
        // Writing to a string cannot fail.
        let _ = write!(out, "\n{name:width$} {value}");
    }
    out
}

pub(super) fn worm_data(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let chains = commands.chains(arguments)?;
    let color = |point| commands.board().cell(point).color();
    let tables = chains.iter().filter_map(|&point| {
        let color = color(point)?;
        let is_interrupted = commands.watch.interrupted();
        Some(if is_interrupted { Err(interrupted()) } else { commands.worm_table(point, color) })
    });
    Ok(tables.collect::<Result<Vec<_>, _>>()?.join("\n").into())
}

pub(super) fn dragon_stones(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let mut seen = PointSet::EMPTY;
    let mut lines = Vec::new();
    for point in commands.chains(arguments)? {
        let stones = group_region(commands.board(), point)?.group;
        if !seen.contains(point) {
            lines.push(points_text(stones.iter()));
        }
        seen.union_with(&stones);
    }
    Ok(lines.join("\n").into())
}

pub(super) fn dragon_data(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let (point, color) = commands.stone(arguments)?;
    let stones = group_region(commands.board(), point)?.group;
    let [attack, defence] = commands.attack_and_defence(point, color, Scope::Group)?;
    let status = match (attack.0.as_str(), defence.0.as_str()) {
        ("?", _) => "unknown",
        ("0", _) => "alive",
        (_, "?") => "unknown",
        (_, "0") => "dead",
        _ => "critical",
    };
    let board = commands.board();
    let anchors: PointSet = stones.iter().map(|stone| board.anchor(stone)).collect();
    let rows = [
        ("color", color_text(color).to_owned()),
        ("origin", board.anchor(point).to_string()),
        ("size", stones.len().to_string()),
        ("status", status.to_owned()),
        ("owl_attack_code", attack.0),
        ("owl_attack_point", attack.1),
        ("owl_defense_code", defence.0),
        ("owl_defense_point", defence.1),
        ("strings", points_text(anchors.iter())),
    ];
    Ok(table(point, &rows, 23).into())
}

/// Responds with the minimum and maximum number of eyes of an eye space and the deciding moves, or with -1 if the
/// vertex is not in an eye space.
pub(super) fn eval_eye(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let point = commands.point(arguments)?;
    match kosumi_solve::eyes(commands.board(), point, SMALL_MEMORY, &commands.stops_at(MAX_NODES)) {
        Ok(eyes) => {
            let mut out = format!("{} {}", eyes.fewest, eyes.most);
            if let (Some(attack), Some(defence)) = (eyes.attack, eyes.defence) {
                let _ = write!(out, " {} {}", move_text(attack), move_text(defence));
            }
            Ok(out.into())
        }
        Err(EyesError::NoEyeSpace) => Ok("-1".into()),
        Err(EyesError::Undecided) if commands.watch.interrupted() => Err(interrupted()),
        Err(EyesError::Undecided) => Err(undecided()),
        Err(error) => Err(Failure::new(error.to_string())),
    }
}

/// Responds with a move that captures a chain by threatening two chains at once.
pub(super) fn combination_attack(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let color = text::color(arguments)?;
    let board = commands.board();
    let is_target = |&(point, its): &(Point, Color)| {
        its != color && board.anchor(point) == point && board.liberty_count(point) <= 4
    };
    let chains: Vec<Point> = board.stones().filter(is_target).map(|(point, _)| point).collect();
    let mut double = commands.double(MAX_DOUBLE_NODES);
    let found = double.combination(board, &chains, color).map_err(double_failure)?;
    Ok(move_text(found.unwrap_or(Move::Pass)).into())
}

/// Returns the code for capturing one of two chains, with the opponent moving first.
fn either(
    double: &mut MultiChainReader,
    board: &Board,
    chains: &[Point],
    color: Color,
) -> Result<u8, Failure> {
    let mut codes = Vec::new();
    for &chain in chains {
        let success = double.captured(board, chain, color.opponent()).map_err(double_failure)?;
        codes.push(attacker_code(success).ok_or_else(undecided)?);
    }
    // The smallest code above 0 is the best.
    let best = codes.into_iter().filter(|&code| code > 0).min().unwrap_or(0);
    if best == 1 {
        return Ok(1);
    }
    let found = double.combination(board, chains, color.opponent()).map_err(double_failure)?;
    Ok(if found.is_some() { 1 } else { best })
}

/// Responds whether one of two chains can be captured.
pub(super) fn attack_either(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let (a, b, color) = commands.pair(arguments)?;
    let mut double = commands.double(MAX_DOUBLE_NODES);
    Ok(either(&mut double, commands.board(), &[a, b], color)?.to_string().into())
}

/// Responds whether both of two chains can be saved.
pub(super) fn defend_both(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let (a, b, color) = commands.pair(arguments)?;
    let mut double = commands.double(MAX_DOUBLE_NODES);
    if either(&mut double, commands.board(), &[a, b], color)? == 0 {
        return Ok("1".into());
    }
    let kept = double.saves_all(commands.board(), &[a, b], color).map_err(double_failure)?;
    Ok(u8::from(kept).to_string().into())
}
