//! The two sides of a match.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One of the two engines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Side {
    /// The first on the command line.
    A,
    /// The second.
    B,
}

impl Side {
    /// A, then B.
    pub const BOTH: [Side; 2] = [Side::A, Side::B];

    /// The opponent.
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
