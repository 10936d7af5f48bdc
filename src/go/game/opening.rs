//! Are the first moves of a game a handicap?

use crate::board::{Color, Move};

/// What the first moves of a game tell of handicap stones, in KataGo's convention:
///
/// - Black's first stones are handicap stones if there are at least two of them;
/// - passes between them, of either player, do not matter;
/// - White's first stone ends them;
/// - two moves of White in a row, before or with that first stone, mean that somebody set up a position by moves: there
///   is no handicap then.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct OpeningMoves {
    /// Black's stones so far.
    stones: u32,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Stage {
    /// More of Black's stones may follow.
    #[default]
    Open,
    /// White has passed.
    WhitePassed,
    /// White has placed the first stone with the latest move.
    WhitePlayed,
    /// No further move changes anything.
    Closed,
}

impl OpeningMoves {
    /// Handicap stones: 0, or at least 2.
    pub(super) fn handicap(self) -> u32 {
        if self.stones < 2 { 0 } else { self.stones }
    }

    /// The same after one more move.
    pub(super) fn after(self, color: Color, mv: Move) -> OpeningMoves {
        let is_stone = mv != Move::Pass;
        match (self.stage, color) {
            (Stage::Closed, _) => self,
            (Stage::WhitePassed | Stage::WhitePlayed, Color::White) => {
                OpeningMoves { stones: 0, stage: Stage::Closed }
            }
            (Stage::WhitePlayed, Color::Black) => OpeningMoves { stage: Stage::Closed, ..self },
            (Stage::Open, Color::White) => {
                OpeningMoves { stage: if is_stone { Stage::WhitePlayed } else { Stage::WhitePassed }, ..self }
            }
            (Stage::Open | Stage::WhitePassed, Color::Black) => {
                OpeningMoves { stones: self.stones.saturating_add(is_stone.into()), stage: Stage::Open }
            }
        }
    }
}
