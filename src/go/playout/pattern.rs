//! 3×3 patterns of playouts: shapes around an empty point where a move is often right.
//!
//! CITE: Gelly, Wang, Munos, Teytaud, "Modification of UCT with patterns in Monte-Carlo Go" (2006), figure 5 and text:
//! hane, cut and edge patterns. The patterns below are our own in the same spirit, selected by measurements.

use crate::board::{Board, ByColor, Color, Point};
use std::sync::LazyLock;

/// Pattern of three rows of three points, with the empty point in the middle.
///
/// `X` and `O` are stones of the two colours (both assignments are tried, see `either`), `.` is empty, `?` is anything
/// on the board or off it, `x` is not X, `o` is not O, and both are on the board. `-` is off the board.
struct Pattern {
    drawing: [&'static str; 3],
    /// Whether either side may play the pattern, or only the player whose stones are X.
    either: bool,
}

const fn both(drawing: [&'static str; 3]) -> Pattern {
    Pattern { drawing, either: true }
}

const fn own(drawing: [&'static str; 3]) -> Pattern {
    Pattern { drawing, either: false }
}

const PATTERNS: &[Pattern] = &[
    // Hane around a stone of the opponent.
    both(["XOX", "...", "???"]),
    both(["XO.", "...", "?.?"]),
    both(["XO?", "X..", "x.?"]),
    own(["XOO", "...", "?.?"]),
    // Diagonal contact.
    both([".O.", "X..", "..."]),
    // Cuts: the cutting point is not protected, or it is peeped at.
    both(["XO?", "O.o", "?o?"]),
    both(["XO?", "O.X", "???"]),
    both(["?X?", "O.O", "ooo"]),
    both(["OX?", "o.O", "???"]),
    // At the edge: chase, block, descend, cut.
    both(["X.?", "O.?", "---"]),
    both(["OX?", "X.O", "---"]),
    both(["?X?", "x.O", "---"]),
    both(["?OX", "X.O", "---"]),
    own(["?XO", "x.x", "---"]),
];

/// One bit for each neighbourhood code and player: whether the code matches a pattern.
struct Table(ByColor<Vec<u64>>);

static TABLE: LazyLock<Table> = LazyLock::new(Table::build);

/// Returns whether the neighbourhood of an empty point matches a pattern for `color`.
#[inline]
pub fn matches(board: &Board, point: Point, color: Color) -> bool {
    let code = usize::from(board.neighbourhood(point));
    TABLE.0[color][code / 64] >> (code % 64) & 1 != 0
}

/// Position in a drawing of each of the eight directions of a neighbourhood: (row from the top, column).
const DIRECTION_CELLS: [(usize, usize); 8] = [(0, 1), (2, 1), (1, 2), (1, 0), (0, 2), (2, 0), (0, 0), (2, 2)];

impl Table {
    fn build() -> Table {
        let mut table = ByColor::new(vec![0u64; 1024], vec![0u64; 1024]);
        for pattern in PATTERNS {
            for symmetry in 0..8 {
                let drawn = turned(pattern.drawing, symmetry);
                // X as Black, then X as White.
                for x in Color::BOTH {
                    let players = Color::BOTH.into_iter().filter(|&player| pattern.either || player == x);
                    for code in codes(&drawn, x) {
                        for player in players.clone() {
                            table[player][usize::from(code) / 64] |= 1 << (code % 64);
                        }
                    }
                }
            }
        }
        Table(table)
    }
}

/// Transforms a drawing: bit 0 mirrors columns, bit 1 mirrors rows, and bit 2 then swaps them.
fn turned(drawing: [&str; 3], symmetry: usize) -> [[u8; 3]; 3] {
    let mut out = [[b'?'; 3]; 3];
    for (row, text) in drawing.iter().enumerate() {
        for (column, character) in text.bytes().enumerate() {
            let (mut r, mut c) = (row, column);
            if symmetry & 1 != 0 {
                c = 2 - c;
            }
            if symmetry & 2 != 0 {
                r = 2 - r;
            }
            if symmetry & 4 != 0 {
                (r, c) = (c, r);
            }
            out[r][c] = character;
        }
    }
    out
}

/// Returns the codes of all neighbourhoods that match a drawing. Each direction multiplies the codes by its possible
/// cells.
fn codes(drawn: &[[u8; 3]; 3], x: Color) -> Vec<u16> {
    DIRECTION_CELLS.iter().enumerate().fold(vec![0], |codes, (direction, &(row, column))| {
        let cells = (0..4).filter(|&cell| admits(drawn[row][column], cell, x));
        codes
            .into_iter()
            .flat_map(|code| cells.clone().map(move |cell| code | cell << (2 * direction)))
            .collect()
    })
}

/// Returns whether a cell of a neighbourhood's code matches this character.
fn admits(character: u8, cell: u16, x: Color) -> bool {
    let own = 1 + x as u16;
    let other = 1 + x.opponent() as u16;
    match character {
        b'X' => cell == own,
        b'O' => cell == other,
        b'.' => cell == 0,
        b'x' => cell != own && cell != 3,
        b'o' => cell != other && cell != 3,
        b'-' => cell == 3,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks whether a point of a board matches a pattern for Black and for White.
    #[track_caller]
    fn check(drawing: &str, column: usize, row: usize, black: bool, white: bool) {
        let board: Board = drawing.parse().expect("drawing");
        let point = Point::new(column, row);
        assert_eq!(matches(&board, point, Color::Black), black, "Black\n{drawing}");
        assert_eq!(matches(&board, point, Color::White), white, "White\n{drawing}");
    }

    #[test]
    fn shapes_are_recognised_in_every_orientation() {
        // Hane.
        check(". . . . .\n. X O X .\n. . . . .\n. . . . .\n. . . . .", 2, 2, true, true);
        check(". . . . .\n. . . X .\n. . . O .\n. . . X .\n. . . . .", 2, 2, true, true);
        // Cut.
        check(". . . . .\n. X O . .\n. O . . .\n. . . . .\n. . . . .", 2, 2, true, true);
        // A protected cut does not match.
        check(". . . . .\n. X O . .\n. O . O .\n. . . . .\n. . . . .", 2, 2, false, false);
        // No stones around the point.
        check(". . .\n. . .\n. . .", 1, 1, false, false);
        // Edge chase.
        check(". . . . .\n. X . . .\n. O . . .", 2, 0, true, true);
    }

    #[test]
    fn codes_match_drawing() {
        for drawing in ["XOX", "xo.", "-?-"].map(|row| ["X.?", row, "o--"]) {
            let drawn = turned(drawing, 5);
            let fits = |&code: &u16| {
                let mut places = DIRECTION_CELLS.iter().enumerate();
                places.all(|(direction, &(row, column))| {
                    admits(drawn[row][column], code >> (2 * direction) & 3, Color::White)
                })
            };
            let mut found = codes(&drawn, Color::White);
            found.sort_unstable();
            assert_eq!(found, (0..=u16::MAX).filter(fits).collect::<Vec<_>>(), "{drawing:?}");
        }
    }

    #[test]
    fn colours_are_symmetric() {
        for code in 0..=u16::MAX {
            let swapped = (0..8).fold(0u16, |swapped, direction| {
                let cell = code >> (2 * direction) & 3;
                let cell = match cell {
                    1 => 2,
                    2 => 1,
                    other => other,
                };
                swapped | cell << (2 * direction)
            });
            let bit = |color: Color, code: u16| TABLE.0[color][usize::from(code) / 64] >> (code % 64) & 1;
            assert_eq!(bit(Color::Black, code), bit(Color::White, swapped));
        }
    }
}
