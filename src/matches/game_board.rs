//! What games are played on.

use crate::board::BoardSize;

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
}
