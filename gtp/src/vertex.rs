//! Colours and vertices in their text form.
//!
//! A [`Vertex`] is only the name of a point. It does not know the size of the board, so the engine must check whether
//! the point is on the board.

use std::fmt;
use std::str::FromStr;

use crate::error::ArgumentError;

/// Letters of the columns. The `I` is omitted because it resembles `1` and `J`. The remaining 25 letters limit the
/// width of a board in the protocol.
const COLUMNS: [char; 25] = [
    'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'J', 'K', 'L', 'M', 'N', 'O', 'P', 'Q', 'R', 'S', 'T', 'U', 'V',
    'W', 'X', 'Y', 'Z',
];

/// A side: Black or White.
///
/// ```
/// use kosumi_gtp::Color;
///
/// assert_eq!("W".parse(), Ok(Color::White));
/// assert_eq!("black".parse(), Ok(Color::Black));
/// assert_eq!(Color::Black.to_string(), "black");
/// assert_eq!(Color::Black.letter(), 'B');
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Color {
    /// Black, who plays first in a game without handicap.
    Black,
    /// White, who receives the komi.
    White,
}

impl Color {
    /// Returns the other side.
    #[must_use]
    pub const fn opponent(self) -> Self {
        match self {
            Self::Black => Self::White,
            Self::White => Self::Black,
        }
    }

    /// Returns `B` or `W`, as in game results (`B+2.5`).
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Black => 'B',
            Self::White => 'W',
        }
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Black => "black",
            Self::White => "white",
        })
    }
}

impl FromStr for Color {
    type Err = ArgumentError;

    /// Reads `b`, `w`, `black` or `white` in any mixture of cases.
    fn from_str(text: &str) -> Result<Self, ArgumentError> {
        if text.eq_ignore_ascii_case("b") || text.eq_ignore_ascii_case("black") {
            Ok(Self::Black)
        } else if text.eq_ignore_ascii_case("w") || text.eq_ignore_ascii_case("white") {
            Ok(Self::White)
        } else {
            Err(ArgumentError::NotAColor)
        }
    }
}

/// The text form of a point, or of a pass.
///
/// ```text
///  3 . . .
///  2 . . .      C1 is Point { column: 2, row: 0 }
///  1 . . C1
///    A B C
/// ```
///
/// ```
/// use kosumi_gtp::Vertex;
///
/// let vertex: Vertex = "d4".parse()?;
/// assert_eq!(vertex, Vertex::Point { column: 3, row: 3 });
/// assert_eq!(vertex.to_string(), "D4");
/// # Ok::<(), kosumi_gtp::ArgumentError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Vertex {
    /// A pass.
    Pass,
    /// A point, counted from the lower left corner, which is `A1`.
    Point {
        /// Column, from 0 for `A`. The protocol has no names beyond 24, the column `Z`.
        column: u8,
        /// Row, from 0 for `1`, the lowest row. At most 24 if it was read from text.
        row: u8,
    },
}

impl Vertex {
    /// Largest board side that the protocol can name.
    pub const MAX_SIZE: u8 = 25;

    /// Returns the vertex at this column and row, both counted from 0, or `None` if the protocol has no name for it.
    #[must_use]
    pub const fn point(column: u8, row: u8) -> Option<Self> {
        if column < Self::MAX_SIZE && row < Self::MAX_SIZE { Some(Self::Point { column, row }) } else { None }
    }

    /// Returns the text in upper case: `D4`, and also `PASS`, which is how GNU Go and the expected answers of its
    /// regression tests write a pass. [`Display`](fmt::Display) writes `pass`, the only form that some GUIs accept in a
    /// variation.
    ///
    /// ```
    /// use kosumi_gtp::Vertex;
    ///
    /// assert_eq!(Vertex::Pass.to_upper(), "PASS");
    /// assert_eq!(Vertex::Pass.to_string(), "pass");
    /// ```
    #[must_use]
    pub fn to_upper(self) -> String {
        self.to_string().to_ascii_uppercase()
    }
}

impl fmt::Display for Vertex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Pass => f.pad("pass"),
            Self::Point { column, row } => {
                let letter = |index: u8| COLUMNS.get(usize::from(index)).copied().unwrap_or('?');
                let mut text = String::new();
                // Beyond the protocol's limit, GoGui and KataGo continue with AA, AB, and so on. Such names cannot be
                // parsed here, but in a log they are better than a panic.
                if let Some(first) = (column / Self::MAX_SIZE).checked_sub(1) {
                    text.push(letter(first));
                }
                text.push(letter(column % Self::MAX_SIZE));
                text.push_str(&(u16::from(row) + 1).to_string());
                f.pad(&text)
            }
        }
    }
}

impl FromStr for Vertex {
    type Err = ArgumentError;

    /// Parses a letter other than `I` and a number from 1 to 25, or `pass`, in any case.
    fn from_str(text: &str) -> Result<Self, ArgumentError> {
        if text.eq_ignore_ascii_case("pass") {
            return Ok(Self::Pass);
        }
        let mut characters = text.chars();
        let letter = characters.next().ok_or(ArgumentError::NotAVertex)?.to_ascii_uppercase();
        let column = (0..).zip(COLUMNS).find(|&(_, name)| name == letter).map(|(column, _)| column);
        let digits = characters.as_str();
        // `u8::from_str` would accept a sign.
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ArgumentError::NotAVertex);
        }
        let row = digits.parse::<u8>().ok().and_then(|number| number.checked_sub(1));
        match (column, row) {
            (Some(column), Some(row)) => Self::point(column, row).ok_or(ArgumentError::NotAVertex),
            _ => Err(ArgumentError::NotAVertex),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors() {
        for (text, expected) in [
            ("b", Some(Color::Black)),
            ("B", Some(Color::Black)),
            ("Black", Some(Color::Black)),
            ("BLACK", Some(Color::Black)),
            ("w", Some(Color::White)),
            ("wHITE", Some(Color::White)),
            ("", None),
            ("bl", None),
            ("blackish", None),
            ("empty", None),
            ("ß", None),
        ] {
            assert_eq!(text.parse::<Color>().ok(), expected, "{text:?}");
        }
        assert_eq!(Color::White.opponent(), Color::Black);
        assert_eq!(format!("{:>6}|{}", Color::White, Color::White.letter()), " white|W");
    }

    #[test]
    fn vertices() {
        let point = |column, row| Some(Vertex::Point { column, row });
        for (text, expected) in [
            ("A1", point(0, 0)),
            ("a1", point(0, 0)),
            ("h8", point(7, 7)),
            ("J9", point(8, 8)),
            ("t19", point(18, 18)),
            ("Z25", point(24, 24)),
            ("D04", point(3, 3)),
            ("pass", Some(Vertex::Pass)),
            ("PASS", Some(Vertex::Pass)),
            ("Pass", Some(Vertex::Pass)),
            ("I5", None),
            ("i5", None),
            ("A0", None),
            ("A26", None),
            ("A", None),
            ("4", None),
            ("", None),
            ("AA1", None),
            ("A+1", None),
            ("A-1", None),
            ("A1x", None),
            ("A1 ", None),
            ("D99999999999999999999", None),
            ("resign", None),
            ("Ä1", None),
            ("D４", None),
        ] {
            assert_eq!(text.parse::<Vertex>().ok(), expected, "{text:?}");
        }
    }

    #[test]
    fn names_are_unique_and_read_back() {
        for column in 0..Vertex::MAX_SIZE {
            for row in 0..Vertex::MAX_SIZE {
                let vertex = Vertex::point(column, row).unwrap();
                assert_eq!(vertex.to_string().parse(), Ok(vertex));
                assert_eq!(vertex.to_string().to_lowercase().parse(), Ok(vertex));
                assert_eq!(vertex.to_upper(), vertex.to_string());
            }
        }
        assert_eq!(Vertex::point(25, 0), None);
        assert_eq!(Vertex::point(0, 25), None);
        assert_eq!(Vertex::Point { column: 25, row: 255 }.to_string(), "AA256");
        assert_eq!(Vertex::Point { column: 255, row: 0 }.to_string(), "KF1");
    }
}
