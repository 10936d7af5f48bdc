//! Queries about the position.

use super::text::{color, color_text, move_text, points_text};
use super::{CommandResult, Commands};
use kosumi_engine::FinalStatus;
use kosumi_go::board::{Board, BoardSize, Cell, Color, Point};
use kosumi_go::game::{Game, MoveRecord};
use kosumi_go::handicap::star_points;
use kosumi_go::score;
use kosumi_gtp::{Arguments, Failure, Response, Session};
use std::fmt::Write;

pub(super) fn is_legal(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let (color, mv) = commands.color_and_move(arguments)?;
    let is_legal = mv.is_some_and(|mv| commands.engine.game().check(color, mv).is_ok());
    Ok(if is_legal { "1" } else { "0" }.into())
}

pub(super) fn all_legal(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let color = color(arguments)?;
    Ok(points_text(commands.engine.game().legal_points(color)).into())
}

pub(super) fn last_move(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let last = commands.engine.game().records().last();
    last.map(|record| record_text(record).into()).ok_or_else(|| Failure::new("no previous move known"))
}

pub(super) fn move_history(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    Ok(Response::lines(commands.engine.game().records().iter().rev().map(record_text)))
}

fn record_text(record: &MoveRecord) -> String {
    format!("{} {}", color_text(record.color), move_text(record.mv))
}

pub(super) fn list_stones(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let color = color(arguments)?;
    let board = commands.engine.game().board();
    let stones = board.size().points().filter(|&point| board.cell(point) == Cell::from(color));
    Ok(points_text(stones).into())
}

pub(super) fn final_score(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let status = commands.engine.final_status();
    if status.open_points > 0 {
        (commands.note)(&format!(
            "final_score: the game is not finished; {} points of unfinished regions are counted for their likely \
             owners",
            status.open_points
        ));
    }
    Ok(score::format_score(status.score).into())
}

/// Function that tests whether a point belongs to a class of `final_status_list`.
type PointTest = fn(&FinalStatus, &Board, Point) -> bool;

pub(super) fn final_status_list(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let (belongs, by_chain): (PointTest, bool) = match arguments.word()? {
        "alive" => (|status, _, point| !status.dead.contains(point) && !status.seki.contains(point), true),
        "dead" => (|status, _, point| status.dead.contains(point), true),
        "seki" => (|status, _, point| status.seki.contains(point), true),
        "black_territory" => (|status, board, point| is_territory(status, board, point, Color::Black), false),
        "white_territory" => (|status, board, point| is_territory(status, board, point, Color::White), false),
        "dame" => (|status, board, point| is_dame(status, board, point), false),
        _ => return Err(Failure::syntax_error()),
    };
    let status = commands.engine.final_status();
    let board = commands.engine.game().board();
    let wanted = |&point: &Point| belongs(&status, board, point);
    if by_chain {
        let is_anchor = |point: &Point| board.cell(*point) != Cell::Empty && board.anchor(*point) == *point;
        let chains = board.size().points().filter(is_anchor).filter(wanted);
        Ok(Response::lines(chains.map(|anchor| points_text(board.chain(anchor)))))
    } else {
        Ok(points_text(board.size().points().filter(wanted)).into())
    }
}

/// Returns whether a point is empty or under a dead stone, and owned by `color`.
fn is_territory(status: &FinalStatus, board: &Board, point: Point, color: Color) -> bool {
    (board.cell(point) == Cell::Empty || status.dead.contains(point)) && status.owner[point] == Some(color)
}

/// Returns whether a point is empty and owned by neither player.
fn is_dame(status: &FinalStatus, board: &Board, point: Point) -> bool {
    board.cell(point) == Cell::Empty && status.owner[point].is_none()
}

pub(super) fn showboard(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    Ok(diagram(commands.engine.game()).into())
}

/// Returns a diagram of the position with coordinates, and with notes on what a diagram cannot show. The text begins
/// with a line break, so that the `=` of the response does not shift the first row.
pub fn diagram(game: &Game) -> String {
    let size = game.size();
    let letters = column_letters(size);
    let last = game.records().last().and_then(|record| record.mv.point());
    let stars = star_points(size);
    let mut notes = notes(game).into_iter();
    let mut text = format!("\n   {letters}\n");
    for row in (0..size.rows()).rev() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{:>2}", row + 1);
        for column in 0..size.columns() {
            let point = Point::new(column, row);
            let mark = if last == Some(point) { '(' } else { ' ' };
            let mark = if column > 0 && last == Some(Point::new(column - 1, row)) { ')' } else { mark };
            let _ = write!(text, "{mark}{}", symbol(game.board(), point, &stars));
        }
        let end = if last == Some(Point::new(size.columns() - 1, row)) { ')' } else { ' ' };
        let note = notes.next().unwrap_or_default();
        let _ = writeln!(text, "{end}{:<2}  {note}", row + 1);
    }
    let _ = writeln!(text, "   {letters}");
    for note in notes {
        let _ = writeln!(text, "{note}");
    }
    text
}

fn column_letters(size: BoardSize) -> String {
    let letter = |column| Point::new(column, 0).to_string().chars().take(1).collect::<String>();
    (0..size.columns()).map(letter).collect::<Vec<_>>().join(" ")
}

fn symbol(board: &Board, point: Point, stars: &[Point]) -> char {
    match board.cell(point) {
        Cell::Black => 'X',
        Cell::White => 'O',
        Cell::Empty | Cell::Border => {
            if stars.contains(&point) {
                '+'
            } else {
                '.'
            }
        }
    }
}

fn notes(game: &Game) -> Vec<String> {
    let board = game.board();
    // The stones that a player has captured are the prisoners of the other colour.
    let captured = |by: Color| match board.prisoners(by.opponent()) {
        1 => "captured 1 stone".to_owned(),
        stones => format!("captured {stones} stones"),
    };
    let mut notes = vec![
        format!("{} to move, {} moves played", game.to_move(), game.records().len()),
        format!("BLACK (X) has {}", captured(Color::Black)),
        format!("WHITE (O) has {}", captured(Color::White)),
        format!("komi {}, rules {}", game.komi(), game.rules()),
        format!("key {:032x}", board.key().0),
    ];
    if let Some((point, _)) = board.ko() {
        notes.push(format!("ko at {point}"));
    }
    let banned = game.superko_banned(game.to_move());
    if !banned.is_empty() {
        notes.push(format!("superko forbids {}", points_text(banned)));
    }
    notes
}
