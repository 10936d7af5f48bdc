//! Board diagrams: conversion between text and boards, for tests, documentation and `showboard`.
//!
//! ```text
//! . X O      rows from the top; `.` or `+` empty; `X`, `x` or `#` Black; `O` or `o` White; blanks ignored
//! ```

use super::{Board, BoardSize, Cell, Color, Point};
use std::fmt;

/// Reason why a text is not a board diagram.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DrawingError {
    /// The rows differ in length, or there are no rows, or more rows or columns than the largest board has.
    #[error("the drawing is not a rectangle of 1 to 25 rows and columns")]
    Shape,
    /// A character that stands neither for a stone nor for an empty point.
    #[error("{0:?} is not one of . + X x # O o")]
    Character(char),
    /// The stones do not form a valid position.
    #[error(transparent)]
    Setup(#[from] super::SetupError),
}

/// Parses a diagram into the board size and the stones.
///
/// # Errors
/// Returns an error if the text is not a rectangle of 1 to 25 rows and columns, or if it contains a character other
/// than those listed in the [module documentation](self).
pub fn parse_drawing(text: &str) -> Result<(BoardSize, Vec<(Point, Color)>), DrawingError> {
    let rows: Vec<Vec<char>> = text
        .lines()
        .map(|line| line.chars().filter(|c| !c.is_whitespace()).collect::<Vec<_>>())
        .filter(|row| !row.is_empty())
        .collect();
    let columns = rows.first().map_or(0, Vec::len);
    let size = BoardSize::new(columns, rows.len()).ok_or(DrawingError::Shape)?;
    let mut stones = Vec::new();
    for (from_top, row) in rows.iter().enumerate() {
        if row.len() != columns {
            return Err(DrawingError::Shape);
        }
        for (column, &character) in row.iter().enumerate() {
            let point = Point::new(column, size.rows() - 1 - from_top);
            match character {
                '.' | '+' => {}
                'X' | 'x' | '#' => stones.push((point, Color::Black)),
                'O' | 'o' => stones.push((point, Color::White)),
                other => return Err(DrawingError::Character(other)),
            }
        }
    }
    Ok((size, stones))
}

impl std::str::FromStr for Board {
    type Err = DrawingError;

    fn from_str(text: &str) -> Result<Board, DrawingError> {
        let (size, stones) = parse_drawing(text)?;
        Ok(Board::from_stones(size, stones)?)
    }
}

impl fmt::Display for Board {
    /// Writes the diagram that [`Board::from_str`](std::str::FromStr) reads, with one blank between points.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in (0..self.size().rows()).rev() {
            for column in 0..self.size().columns() {
                let symbol = match self.cell(Point::new(column, row)) {
                    Cell::Black => 'X',
                    Cell::White => 'O',
                    Cell::Empty | Cell::Border => '.',
                };
                write!(f, "{}{symbol}", if column == 0 { "" } else { " " })?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
