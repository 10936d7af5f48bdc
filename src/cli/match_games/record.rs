//! What is kept of a game: a line for people, a line of JSON, a file of SGF.

use crate::game::Game;
use crate::sgf::{self, Meta};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One of the two engines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Side {
    /// The first on the command line.
    A,
    /// The second.
    B,
}

impl Side {
    pub(super) const BOTH: [Side; 2] = [Side::A, Side::B];

    pub(super) fn other(self) -> Side {
        match self {
            Side::A => Side::B,
            Side::B => Side::A,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::A => "A",
            Side::B => "B",
        })
    }
}

/// How a game ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Ending {
    /// Two passes.
    Score,
    /// Somebody resigned.
    Resign,
    /// Too many moves; scored as it stood.
    MoveLimit,
    /// Lost by a move that the rules forbid.
    IllegalMove,
    /// Lost by refusing a command.
    Refused,
    /// Lost by ending.
    Crash,
    /// Lost by overstepping the time, or by not answering at all.
    Time,
    /// Lost by an answer without sense.
    Nonsense,
}

impl Ending {
    /// The ways to lose that are no Go.
    pub(super) const FORFEITS: [Ending; 5] =
        [Ending::IllegalMove, Ending::Refused, Ending::Crash, Ending::Time, Ending::Nonsense];

    pub(super) fn is_forfeit(self) -> bool {
        Ending::FORFEITS.contains(&self)
    }

    pub(super) fn about(self) -> &'static str {
        match self {
            Ending::Score => "score",
            Ending::Resign => "resignation",
            Ending::MoveLimit => "move limit",
            Ending::IllegalMove => "illegal move",
            Ending::Refused => "refused command",
            Ending::Crash => "crash",
            Ending::Time => "time",
            Ending::Nonsense => "nonsense",
        }
    }
}

/// A finished game. Also the format of the log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct GameRecord {
    /// Its number in the match, from 1.
    pub(super) game: u32,
    /// Command line of A.
    pub(super) a: String,
    /// Command line of B.
    pub(super) b: String,
    /// Columns and rows.
    pub(super) size: String,
    pub(super) komi: f32,
    pub(super) rules: String,
    /// Who had Black.
    pub(super) black: Side,
    /// As in SGF.
    pub(super) result: String,
    /// `None` for a draw.
    pub(super) winner: Option<Side>,
    pub(super) ending: Ending,
    /// Why, for forfeits.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) detail: String,
    /// How many of the moves are the opening.
    pub(super) opening: usize,
    /// Black begins, and the colours alternate.
    pub(super) moves: Vec<String>,
    /// Time that A and B used.
    pub(super) seconds: [f64; 2],
    /// Moves that A and B chose.
    pub(super) chosen: [u32; 2],
    /// Moves that A and B refused to play.
    pub(super) refused: [u32; 2],
    /// Lines that A and B wrote outside of answers.
    pub(super) garbage: [usize; 2],
}

impl fmt::Display for GameRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let winner = self.winner.map_or("draw".to_owned(), |side| format!("{side} wins"));
        let [a, b] = self.seconds;
        write!(
            f,
            "game {:>4}  {}  {}-{}  {:<8} {winner:<6}  {:>3} moves  A {a:.1} s  B {b:.1} s",
            self.game,
            self.size,
            self.black,
            self.black.other(),
            self.result,
            self.moves.len(),
        )?;
        if self.ending.is_forfeit() {
            write!(f, "  forfeit, {}: {}", self.ending.about(), self.detail)?;
        } else if self.ending == Ending::MoveLimit {
            f.write_str("  move limit")?;
        }
        Ok(())
    }
}

impl GameRecord {
    /// The game as SGF: `game` with everything else that the record knows.
    pub(super) fn sgf(&self, game: &Game, names: [&str; 2]) -> String {
        let name = |side: Side| Some(names[side as usize].to_owned());
        let detail = if self.detail.is_empty() { String::new() } else { format!(": {}", self.detail) };
        let meta = Meta {
            black: name(self.black),
            white: name(self.black.other()),
            result: Some(self.result.clone()),
            date: None,
            comment: Some(format!("Game {}, {}{detail}", self.game, self.ending.about())),
        };
        sgf::write(game, &meta)
    }
}
