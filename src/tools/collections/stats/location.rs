//! Positions of moves, for lists.

use crate::collections::reading::{Batch, Entry};
use kosumi_go::sgf::source_offset;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Maximum number of stored entries of each list, for the JSON file.
pub(super) const MAX_LIST: usize = 10_000;

/// Position of a move in the input.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct MoveLocation {
    file: String,
    /// Number of the game in the file, from 1.
    game: u64,
    /// Offset in the decompressed file, in bytes.
    byte: u64,
    /// Number of the move, from 1.
    number: usize,
}

impl MoveLocation {
    pub(super) fn of(batch: &Batch, entry: &Entry, number: usize, offset: usize) -> MoveLocation {
        let offset = source_offset(batch.bytes(entry), offset);
        MoveLocation {
            file: entry.place.source.to_string(),
            game: entry.place.game,
            byte: entry.place.offset + offset as u64,
            number,
        }
    }
}

impl fmt::Display for MoveLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: game {}, byte {}, move {}", self.file, self.game, self.byte, self.number)
    }
}
