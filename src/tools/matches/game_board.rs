//! What games are played on.

use kosumi_go::board::{BoardSize, Point};
use kosumi_go::game::Game;
use kosumi_go::handicap::fixed_handicap;
use kosumi_go::rules::Rules;

/// A board that games are played on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GameBoard {
    /// Columns and rows.
    pub size: BoardSize,
    /// Points for White.
    pub komi: f32,
}

impl GameBoard {
    /// `9x9`, as logs have it.
    pub fn size_text(self) -> String {
        format!("{}x{}", self.size.columns(), self.size.rows())
    }

    /// Where a handicap of so many stones stands; nowhere if there is none, or the first move alone. `None` if this board
    /// has no such handicap.
    pub fn handicap(self, stones: u32) -> Option<Vec<Point>> {
        if stones < 2 { Some(Vec::new()) } else { fixed_handicap(self.size, stones as usize) }
    }

    /// A game before its first move.
    pub(super) fn game(self, rules: Rules, handicap: u32) -> Game {
        let game = Game::new(self.size, rules, self.komi);
        match self.handicap(handicap).as_deref() {
            // The points of a handicap are different points of an empty board.
            Some(points @ [_, ..]) => game.with_handicap(points).unwrap_or(game),
            _ => game,
        }
    }
}
