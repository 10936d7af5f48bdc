//! Boards of games.

use kosumi_go::board::{BoardSize, Point};
use kosumi_go::game::Game;
use kosumi_go::handicap::fixed_handicap;
use kosumi_go::rules::Rules;

/// Board size and komi of games.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GameBoard {
    /// Board size.
    pub size: BoardSize,
    /// Komi: points for White.
    pub komi: f32,
}

impl GameBoard {
    /// Returns the size as `9x9`, the format of logs.
    pub fn size_text(self) -> String {
        format!("{}x{}", self.size.columns(), self.size.rows())
    }

    /// Returns the points of the handicap stones. Without a handicap, and if the handicap is only the first move, there
    /// are none. Returns `None` if this board does not support the number of stones.
    pub fn handicap(self, stones: u32) -> Option<Vec<Point>> {
        if stones < 2 { Some(Vec::new()) } else { fixed_handicap(self.size, stones as usize) }
    }

    /// Returns a game before its first move.
    pub(super) fn game(self, rules: Rules, handicap: u32) -> Game {
        let game = Game::new(self.size, rules, self.komi);
        match self.handicap(handicap).as_deref() {
            // Placing the stones cannot fail, because the points are distinct and the board is empty.
            Some(points @ [_, ..]) => game.with_handicap(points).unwrap_or(game),
            _ => game,
        }
    }
}
