//! Conversions between the protocol's texts and the engine's types.

use super::Commands;
use kosumi_go::board::{BoardSize, Color, Move, Point};
use kosumi_gtp::{ArgumentError, Arguments, Failure, Vertex};

/// Parses a colour.
pub(super) fn color(arguments: &mut Arguments<'_>) -> Result<Color, ArgumentError> {
    arguments.color().map(own_color)
}

/// Converts a colour of the protocol.
pub(super) fn own_color(color: kosumi_gtp::Color) -> Color {
    match color {
        kosumi_gtp::Color::Black => Color::Black,
        kosumi_gtp::Color::White => Color::White,
    }
}

/// Returns the move at a vertex, or `None` if the vertex is not on the board.
pub fn vertex_move(size: BoardSize, vertex: Vertex) -> Option<Move> {
    match vertex {
        Vertex::Pass => Some(Move::Pass),
        Vertex::Point { column, row } => size.point(usize::from(column), usize::from(row)).map(Move::Play),
    }
}

/// Returns a move in the form of the protocol's responses: `D4`, `PASS`.
pub(super) fn move_text(mv: Move) -> String {
    mv.to_string().to_ascii_uppercase()
}

/// Returns `black` or `white`.
pub(super) fn color_text(color: Color) -> &'static str {
    match color {
        Color::Black => "black",
        Color::White => "white",
    }
}

/// Returns points separated by spaces.
pub(super) fn points_text(points: impl IntoIterator<Item = Point>) -> String {
    points.into_iter().map(|point| point.to_string()).collect::<Vec<_>>().join(" ")
}

/// Returns a text for every point, in rows from the top, as in GoGui's and KataGo's boards.
pub(super) fn rows_text(size: BoardSize, cell: impl Fn(Point) -> String) -> String {
    let row = |row: usize| {
        let cells: Vec<String> = (0..size.columns()).map(|column| cell(Point::new(column, row))).collect();
        cells.join(" ")
    };
    (0..size.rows()).rev().map(row).collect::<Vec<_>>().join("\n")
}

impl Commands {
    /// Parses a vertex that must be a point of the board.
    pub(super) fn point(&self, arguments: &mut Arguments<'_>) -> Result<Point, Failure> {
        let vertex = arguments.vertex()?;
        let point = vertex_move(self.size(), vertex).and_then(Move::point);
        point.ok_or_else(|| Failure::new(format!("{vertex} is not a point of the board")))
    }

    /// Parses a colour and a move. The move is `None` if its point is not on the board.
    pub(super) fn color_and_move(
        &self,
        arguments: &mut Arguments<'_>,
    ) -> Result<(Color, Option<Move>), ArgumentError> {
        let color = color(arguments)?;
        Ok((color, vertex_move(self.size(), arguments.vertex()?)))
    }
}
