//! Sides of a match.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One of the two engines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Side {
    /// First engine on the command line.
    A,
    /// Second engine on the command line.
    B,
}

impl Side {
    /// Both sides: A, then B.
    pub const BOTH: [Side; 2] = [Side::A, Side::B];

    /// Returns the other side.
    pub fn other(self) -> Side {
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
