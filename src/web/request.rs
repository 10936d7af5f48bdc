//! Requests to a session, as JSON.

use kosumi_go::board::{BoardSize, Move};
use kosumi_gtp::{Color, Vertex};
use serde::Deserialize;
use std::time::Duration;

/// Reason why a request is refused. The session is then unchanged.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Refusal(pub(super) String);

impl Refusal {
    pub(super) fn new(reason: impl ToString) -> Refusal {
        Refusal(reason.to_string())
    }
}

/// Request to a session. Colours and vertices are texts, such as `black` or `B`, `D4` and `pass`.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Request {
    /// Starts a game on another board, with these stones of a handicap and these moves.
    SetPosition {
        size: Size,
        /// Name of the rules; `None`: those of the present game.
        rules: Option<String>,
        /// `None`: the usual one with the rules.
        komi: Option<f32>,
        #[serde(default)]
        handicap: Vec<String>,
        #[serde(default)]
        moves: Vec<Turn>,
        /// `None`: the side whose turn it is after the moves.
        to_move: Option<String>,
    },
    /// Plays a move. `None` is the side to move.
    Play { color: Option<String>, vertex: String },
    /// Takes back the latest move.
    Undo,
    /// Returns the position.
    Position,
    /// Continues the search of the position from the present statistics.
    Search(SearchTask),
    /// Chooses a move by the present statistics and plays it.
    Choose { color: Option<String> },
    /// Returns the owners of all points and the score.
    Score,
    /// Returns the game as a record.
    Save,
    /// Replaces the game by that of a record, or by the first `moves` moves of it.
    Load { record: String, moves: Option<usize> },
    /// Continues a game that this program has saved.
    Restore { record: String },
    /// The graphics card evaluates positions, or no longer does.
    UseCard { is_wanted: bool },
    /// Returns the page of a review of a record.
    Review { record: String },
    /// Returns a signature of the search.
    Signature { kind: SignatureKind },
    /// Measures evaluations of the network per second.
    Speed { size: Size, milliseconds: f64, kernel: Option<String>, precision: Option<String> },
}

/// Limits and contents of a search.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SearchTask {
    pub(super) color: Option<String>,
    /// Visits of the position at which the search ends, including those of earlier searches.
    pub(super) visits: Option<u32>,
    /// Number of simulations of this search.
    pub(super) simulations: Option<u32>,
    /// Time of this search.
    pub(super) milliseconds: Option<f64>,
    /// Whether the search serves to choose a move. Otherwise it evaluates all moves.
    #[serde(default)]
    pub(super) for_move: bool,
    /// Whether the response contains the analysis, and not only the number of visits.
    #[serde(default)]
    pub(super) analysis: bool,
    /// Whether the analysis contains the expected owners.
    #[serde(default)]
    pub(super) ownership: bool,
}

/// Search whose signature is requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum SignatureKind {
    /// Search by playouts.
    Playouts,
    /// Search with the session's network on the portable kernel.
    Network,
    /// Search with the session's network on the kernel that the session uses.
    Kernel,
}

/// Size of a board: one number for a square one, or the numbers of columns and rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Size {
    Square(usize),
    Sides([usize; 2]),
}

/// A move: its vertex, or its colour and its vertex.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Turn {
    Next(String),
    Of([String; 2]),
}

impl Size {
    pub(super) fn board_size(self) -> Result<BoardSize, Refusal> {
        let [columns, rows] = match self {
            Size::Square(side) => [side; 2],
            Size::Sides(sides) => sides,
        };
        let refusal = || Refusal(format!("a board of {columns} by {rows} is not supported"));
        BoardSize::new(columns, rows).ok_or_else(refusal)
    }
}

/// Reads a colour. `None` is the side to move.
pub(super) fn color(
    text: Option<&str>,
    to_move: kosumi_go::board::Color,
) -> Result<kosumi_go::board::Color, Refusal> {
    let Some(text) = text else { return Ok(to_move) };
    match text.parse() {
        Ok(Color::Black) => Ok(kosumi_go::board::Color::Black),
        Ok(Color::White) => Ok(kosumi_go::board::Color::White),
        Err(_) => Err(Refusal(format!("{text:?} is not a colour"))),
    }
}

/// Reads a move on a board of this size.
pub(super) fn vertex(size: BoardSize, text: &str) -> Result<Move, Refusal> {
    let vertex: Vertex = text.parse().map_err(|_| Refusal(format!("{text:?} is not a vertex")))?;
    match vertex {
        Vertex::Pass => Ok(Move::Pass),
        Vertex::Point { column, row } => size
            .point(usize::from(column), usize::from(row))
            .map(Move::Play)
            .ok_or_else(|| Refusal(format!("{text} is not on the board"))),
    }
}

/// Reads a time.
pub(super) fn time(milliseconds: f64) -> Result<Duration, Refusal> {
    Duration::try_from_secs_f64(milliseconds / 1000.0)
        .map_err(|_| Refusal(format!("{milliseconds} milliseconds are not a time")))
}
