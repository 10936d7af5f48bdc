//! What is wrong with a record, and where: the one set of words for it.

use super::source_offset;
use crate::board::{Color, Move, Point};
use crate::game::IllegalMove;
use std::fmt;

/// What is wrong with a record.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SgfErrorKind {
    /// There is no `(` with a node or a property behind it.
    #[error("no game record")]
    NoGame,
    /// The record is of another game.
    #[error("not a game of Go")]
    NotGo,
    /// `SZ` is no size at all.
    #[error("the board size cannot be read")]
    BadSize,
    /// The board is larger than 25 × 25.
    #[error("a board of {0}×{1} is not supported")]
    UnsupportedSize(u32, u32),
    /// More nodes or set-up stones than any game has.
    #[error("the record is too long")]
    TooLong,
    /// A value of a set-up is no point.
    #[error("{0:?} is no point of the board")]
    BadPoint(String),
    /// A move is neither a point nor a pass.
    #[error("move {number}, {color} {text:?}: {}", no_point(text))]
    BadMove {
        /// Counted from 1.
        number: usize,
        /// The player.
        color: Color,
        /// What stands there instead.
        text: String,
    },
    /// A move cannot be played.
    #[error("move {number}, {color} {mv}: {reason}")]
    IllegalMove {
        /// Counted from 1.
        number: usize,
        /// The player.
        color: Color,
        /// The move.
        mv: Move,
        /// What forbids it.
        reason: IllegalMove,
    },
    /// Stones without a liberty were set up; one of them. A tolerant replay leaves them out.
    #[error("the stones at {0} are set up without a liberty")]
    NoLiberty(Point),
    /// A handicap without stones that this size of board has no fixed points for.
    #[error("no fixed points for a handicap of {0}")]
    NoHandicapPoints(u32),
    /// The file ends before the game does.
    #[error("the record is cut short: its closing parenthesis is missing")]
    NotClosed,
    /// The file ends before its last variation does.
    #[error("the record is cut short behind its main line: a closing parenthesis is missing")]
    OpenVariation,
    /// The file ends within a value.
    #[error("the record is cut short: the closing bracket of {0} is missing")]
    OpenValue(String),
    /// A value without the name of a property.
    #[error("the value {0:?} stands behind no property")]
    NoName(String),
    /// Text outside of values.
    #[error("{0:?} means nothing where it stands")]
    Junk(String),
}

/// Why a text is no point.
fn no_point(text: &str) -> &'static str {
    match text.trim().as_bytes() {
        [] => "its point is missing",
        text if text.contains(&b'[') => "a closing bracket is missing",
        [column, row] if column.is_ascii_alphabetic() && row.is_ascii_alphabetic() => "not on the board",
        _ => "not a point, which is two letters",
    }
}

impl SgfErrorKind {
    /// May the game be another one than the record was meant to hold? Otherwise nothing of it is missing.
    pub fn loses_something(&self) -> bool {
        use SgfErrorKind::{Junk, NoHandicapPoints, OpenVariation};
        !matches!(self, NoHandicapPoints(_) | Junk(_) | OpenVariation)
    }
}

/// What is wrong with a record, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SgfError {
    /// Byte of the file, from 0.
    pub offset: usize,
    /// What is wrong.
    pub kind: SgfErrorKind,
}

impl SgfErrorKind {
    /// The number of the move that it is about.
    pub fn number(&self) -> Option<usize> {
        match *self {
            SgfErrorKind::BadMove { number, .. } | SgfErrorKind::IllegalMove { number, .. } => Some(number),
            _ => None,
        }
    }

    /// In words, without the number of the move: for lists that have it elsewhere.
    pub fn without_number(&self) -> String {
        let text = self.to_string();
        let number = self.number().map(|number| format!("move {number}, ")).unwrap_or_default();
        text.strip_prefix(&number).map_or(text.clone(), str::to_owned)
    }
}

impl SgfError {
    /// This error, with its place in the file that the text was read from.
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
