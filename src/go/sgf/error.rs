//! Faults of a game record and their positions. All messages about them are defined here.

use super::source_offset;
use crate::board::{Color, Move, Point};
use crate::game::IllegalMove;
use std::fmt;

/// Fault of a game record.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SgfErrorKind {
    /// The text contains no `(` followed by a node or a property.
    #[error("no game record")]
    NoGame,
    /// The record is of a game other than Go.
    #[error("not a game of Go")]
    NotGo,
    /// `SZ` is not a size.
    #[error("the board size cannot be read")]
    BadSize,
    /// The board is larger than 25 × 25.
    #[error("a board of {0}×{1} is not supported")]
    UnsupportedSize(u32, u32),
    /// The record has more nodes or set-up stones than any game.
    #[error("the record is too long")]
    TooLong,
    /// A set-up value is not a point of the board.
    #[error("{0:?} is not a point of the board")]
    BadPoint(String),
    /// A move is neither a point nor a pass.
    #[error("move {number}, {color} {text:?}: {}", point_error(text))]
    BadMove {
        /// Number of the move, counted from 1.
        number: usize,
        /// Side that moved.
        color: Color,
        /// Text in place of the move.
        text: String,
    },
    /// A move is illegal.
    #[error("move {number}, {color} {mv}: {reason}")]
    IllegalMove {
        /// Number of the move, counted from 1.
        number: usize,
        /// Side that moved.
        color: Color,
        /// The move.
        mv: Move,
        /// Reason why the move is illegal.
        reason: IllegalMove,
    },
    /// Stones without a liberty were set up. The value is one of their points. A tolerant replay omits them.
    #[error("the stones at {0} are set up without a liberty")]
    NoLiberty(Point),
    /// A handicap without stones, for which a board of this size has no fixed points.
    #[error("no fixed points for a handicap of {0}")]
    NoHandicapPoints(u32),
    /// The file ends before the game is closed.
    #[error("the record is truncated: its closing parenthesis is missing")]
    NotClosed,
    /// The file ends before its last variation is closed.
    #[error("the record is truncated after its main line: a closing parenthesis is missing")]
    OpenVariation,
    /// The file ends within a value.
    #[error("the record is truncated: the closing bracket of {0} is missing")]
    OpenValue(String),
    /// A value has no property name.
    #[error("the value {0:?} has no property name")]
    NoName(String),
    /// Text outside values.
    #[error("unexpected text {0:?}")]
    Junk(String),
}

/// Returns the reason why a text is not a point.
fn point_error(text: &str) -> &'static str {
    match text.trim().as_bytes() {
        [] => "its point is missing",
        text if text.contains(&b'[') => "a closing bracket is missing",
        [column, row] if column.is_ascii_alphabetic() && row.is_ascii_alphabetic() => "not on the board",
        _ => "not a point (two letters are expected)",
    }
}

impl SgfErrorKind {
    /// Returns whether the game may differ from the one that was meant to be recorded. Otherwise no part of the game is
    /// missing.
    pub fn loses_something(&self) -> bool {
        use SgfErrorKind::{Junk, NoHandicapPoints, OpenVariation};
        !matches!(self, NoHandicapPoints(_) | Junk(_) | OpenVariation)
    }
}

/// Fault of a game record, with its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SgfError {
    /// Byte offset in the text or, after [`SgfError::located`], in the file, from 0.
    pub offset: usize,
    /// Kind of the fault.
    pub kind: SgfErrorKind,
}

impl SgfErrorKind {
    /// Returns the number of the move that the fault concerns.
    pub fn number(&self) -> Option<usize> {
        match *self {
            SgfErrorKind::BadMove { number, .. } | SgfErrorKind::IllegalMove { number, .. } => Some(number),
            _ => None,
        }
    }

    /// Returns the message without the number of the move, for lists that show the number elsewhere.
    pub fn without_number(&self) -> String {
        let text = self.to_string();
        let number = self.number().map(|number| format!("move {number}, ")).unwrap_or_default();
        text.strip_prefix(&number).map_or(text.clone(), str::to_owned)
    }
}

impl SgfError {
    /// Returns this error with its offset converted to the file that the text was read from.
    #[must_use]
    pub fn located(self, bytes: &[u8]) -> SgfError {
        SgfError { offset: source_offset(bytes, self.offset), ..self }
    }
}

impl fmt::Display for SgfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.kind, self.offset)
    }
}

impl std::error::Error for SgfError {}
