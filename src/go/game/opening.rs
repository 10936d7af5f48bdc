//! Detection of a handicap in the first moves of a game.

use crate::board::{Color, Move};

/// Handicap information from the first moves of a game, in KataGo's convention:
///
/// - Black's first stones are handicap stones if there are at least two of them.
/// - Passes of either side between them do not matter.
/// - White's first stone ends the handicap.
/// - Two moves of White in a row, before or with that first stone, mean that the moves set up a position, which has no
///   handicap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct OpeningMoves {
    /// Number of Black's stones so far.
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
    /// The latest move is White's first stone.
    WhitePlayed,
    /// No further move changes anything.
    Closed,
}

impl OpeningMoves {
    /// Returns the number of handicap stones: 0, or at least 2.
    pub(super) fn handicap(self) -> u32 {
        if self.stones < 2 { 0 } else { self.stones }
    }

    /// Returns the state after one more move.
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
