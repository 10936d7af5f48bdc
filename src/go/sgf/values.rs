//! Parsing of property values: points, moves, colours, sizes, numbers.

use super::SgfErrorKind;
use super::lexer::{Value, decode};
use crate::board::{BoardSize, ByColor, Color, Move, Point};
use std::str::FromStr;

/// Parses a coordinate: `a` to `z` stand for 0 to 25, `A` to `Z` for 26 to 51.
pub(super) fn coordinate(byte: u8) -> Option<usize> {
    match byte {
        b'a'..=b'z' => Some(usize::from(byte - b'a')),
        b'A'..=b'Z' => Some(usize::from(byte - b'A') + 26),
        _ => None,
    }
}

/// Parses the column and the row from the upper left, both counted from 0.
pub(super) fn coordinates(bytes: &[u8]) -> Option<(usize, usize)> {
    match bytes.trim_ascii() {
        &[column, row] => Some((coordinate(column)?, coordinate(row)?)),
        _ => None,
    }
}

pub(super) fn point(size: BoardSize, (column, from_top): (usize, usize)) -> Option<Point> {
    size.point(column, (size.rows() - 1).checked_sub(from_top)?)
}

/// Formats a point as two letters: the inverse of [`coordinates`] and [`point`].
pub(super) fn vertex(size: BoardSize, point: Point) -> String {
    let letter = |number: usize| char::from(b'a' + number as u8);
    [letter(point.column()), letter(size.rows() - 1 - point.row())].iter().collect()
}

/// Parses the move of a `B` or `W`. A pass is an empty value, `tt` if that is not a point of the board, or, in some
/// programs, the point diagonally beyond the last one.
pub(super) fn parse_move(size: BoardSize, bytes: &[u8]) -> Option<Move> {
    if bytes.trim_ascii().is_empty() {
        return Some(Move::Pass);
    }
    let at = coordinates(bytes)?;
    if let Some(point) = point(size, at) {
        return Some(Move::Play(point));
    }
    (at == (19, 19) || at == (size.columns(), size.rows())).then_some(Move::Pass)
}

/// Parses the points of one value of `AB`, `AW` or `AE`: a point, or two corners of a rectangle.
pub(super) fn parse_points(size: BoardSize, bytes: &[u8]) -> Option<Vec<Point>> {
    let mut corners = bytes.splitn(2, |&byte| byte == b':');
    let first = coordinates(corners.next()?)?;
    let second = match corners.next() {
        Some(corner) => coordinates(corner)?,
        None => first,
    };
    point(size, first).zip(point(size, second))?;
    let columns = first.0.min(second.0)..=first.0.max(second.0);
    let rows = first.1.min(second.1)..=first.1.max(second.1);
    Some(rows.flat_map(|row| columns.clone().filter_map(move |column| point(size, (column, row)))).collect())
}

pub(super) fn parse_color(bytes: &[u8]) -> Option<Color> {
    match bytes.trim_ascii().first()? {
        b'B' | b'b' | b'1' => Some(Color::Black),
        b'W' | b'w' | b'2' => Some(Color::White),
        _ => None,
    }
}

pub(super) fn parse_size(value: Value<'_>) -> Result<BoardSize, SgfErrorKind> {
    let text: String = decode(value.bytes).chars().map(half_width).collect();
    // Some programs write `19x19`.
    let mut sides = text.splitn(2, [':', 'x', 'X', '×', '*']).map(|side| side.trim().parse::<u32>());
    let columns = sides.next().and_then(Result::ok).ok_or(SgfErrorKind::BadSize)?;
    let rows = match sides.next() {
        Some(side) => side.map_err(|_| SgfErrorKind::BadSize)?,
        None => columns,
    };
    if columns == 0 || rows == 0 {
        return Err(SgfErrorKind::BadSize);
    }
    BoardSize::new(columns as usize, rows as usize).ok_or(SgfErrorKind::UnsupportedSize(columns, rows))
}

/// Parses a number. Infinite numbers and numbers that are too large for the type are rejected.
pub(super) fn parse_number<T: FromStr + ToString>(bytes: &[u8]) -> Option<T> {
    let number: T = decode(bytes).trim().parse().ok()?;
    // Only numbers that are not finite have no digits.
    number.to_string().bytes().any(|byte| byte.is_ascii_digit()).then_some(number)
}

/// Parses the numbers of lost stones, Black's and White's: `3:2`.
pub(super) fn parse_prisoners(bytes: &[u8]) -> Option<ByColor<u32>> {
    let text = decode(bytes);
    let (black, white) = text.split_once(':')?;
    // The limit is more than any game has, and far from an overflow.
    let count = |text: &str| text.trim().parse().ok().filter(|&count: &u32| count <= 1 << 24);
    Some(ByColor::new(count(black)?, count(white)?))
}

/// Converts full-width letters, digits and signs of East Asian texts to ASCII.
pub(super) fn half_width(character: char) -> char {
    match character {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(character as u32 - 0xfee0).unwrap_or(character),
        '\u{3000}' => ' ',
        _ => character,
    }
}

/// Parses a whole number, with digits of any width.
pub(super) fn parse_count(bytes: &[u8]) -> Option<u32> {
    decode(bytes).chars().map(half_width).collect::<String>().trim().parse().ok()
}
