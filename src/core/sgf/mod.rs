//! Game records: the main line of an SGF file in, a game out; and a game, or a whole [`Tree`], in and a file out.
//!
//! **Reading** is tolerant, because real files are: text before the game, missing `;`, properties given twice,
//! long FF\[3\] names, unescaped brackets in comments, moves and set-up in one node. Of a file only the main line
//! of its first game is read, which needs no tree: from the first `(` every `(` opens the first variation, and
//! the first `)` after a node ends the line. So there is nothing to recurse into, and no depth that could be too
//! large. What makes no sense is passed over; an error is only what leaves no game at all.
//!
//! The crate `sgf-parse` 4.2.8 was tried first. It reads 291 of the 292 records of the GNU Go suites used here,
//! and refuses one for a property that occurs twice; it keeps a node's children in the node, so that dropping a
//! line of 100,000 moves (600 kB) overflows the stack and ends the process; its errors have no place in the
//! file; and `tt`, `KM[]`, `HA[0]` and the character set would have to be dealt with here anyway.
//!
//! **Places** in errors are byte offsets into the file, or, where the file names another character set than UTF-8
//! and Latin-1, into its text after conversion to UTF-8 (in some sets `]` and `\` can be half a character);
//! [`source_offset`] goes back from there to the file.
//!
//! CITE: "SGF FF\[4\] specification", red-bean.com/sgf.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

pub mod collection;
pub mod facts;
mod lexer;
pub mod repetition;
mod replay;
pub mod sequence_key;
#[cfg(test)]
mod tests;
mod tree;
mod values;
mod write;

pub use lexer::source_offset;
pub use replay::{Replayed, Step, Strictness};
pub use tree::{Judgement, Mark, NodeId, NodeMut, Outlook, Property, Tree, TreeNode};
pub use write::{Meta, write};

use crate::board::{BoardSize, ByColor, Color, Move, Point};
use crate::game::IllegalMove;
use crate::rules::{Preset, Rules};
use lexer::{Scanner, Token, Value, decode, first_tree, normalised, text};
use std::fmt;
use values::{parse_color, parse_komi, parse_move, parse_number, parse_points, parse_prisoners, parse_size};

/// Longer lines than this are refused: no game has so many nodes.
const MAX_NODES: usize = 20_000;
/// Files that set up more points than this are refused.
const MAX_SETUP: usize = 100_000;

/// What is wrong with a record.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SgfErrorKind {
    /// There is no `(` with a node or a property behind it.
    #[error("no game record")]
    NoGame,
    /// The record is of another game.
    #[error("not a game of Go")]
    NotGo,
    /// `SZ` is no size at all.
    #[error("the board size cannot be read")]
    BadSize,
    /// The board is larger than 25 × 25.
    #[error("a board of {0}×{1} is not supported")]
    UnsupportedSize(u32, u32),
    /// More nodes or set-up stones than any game has.
    #[error("the record is too long")]
    TooLong,
    /// A value is neither a point nor a pass.
    #[error("{0:?} is no point of the board")]
    BadPoint(String),
    /// A move cannot be played.
    #[error("move {number}, {color} {mv}: {reason}")]
    IllegalMove {
        /// Counted from 1.
        number: usize,
        /// Who moves.
        color: Color,
        /// The move.
        mv: Move,
        /// What forbids it.
        reason: IllegalMove,
    },
    /// Stones without a liberty were set up; one of them. A tolerant replay leaves them out.
    #[error("the stones at {0} are set up without a liberty")]
    NoLiberty(Point),
    /// A handicap without stones that this size of board has no fixed points for.
    #[error("no fixed points for a handicap of {0}")]
    NoHandicapPoints(u32),
}

/// What is wrong with a record, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SgfError {
    /// Byte of the file, from 0; see the [module documentation](self).
    pub offset: usize,
    /// What is wrong.
    pub kind: SgfErrorKind,
}

impl fmt::Display for SgfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.kind, self.offset)
    }
}

impl std::error::Error for SgfError {}

/// A move as the record has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedMove {
    /// Who moves.
    pub color: Color,
    /// The move, or the text that is none.
    pub mv: Result<Move, String>,
    /// Where it stands.
    pub offset: usize,
}

/// A node of the main line.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Node {
    /// Points to change before the moves, in this order; `None` empties a point.
    pub setup: Vec<(Point, Option<Color>)>,
    /// Whose turn it is to be.
    pub to_move: Option<Color>,
    /// Usually one.
    pub moves: Vec<RecordedMove>,
    /// Comment.
    pub comment: Option<String>,
    /// Seconds that the players have left.
    pub time_left: ByColor<Option<f64>>,
    /// Stones or periods that they have left in overtime.
    pub overtime_left: ByColor<Option<u32>>,
    /// Where it begins.
    pub offset: usize,
}

/// A game record: facts about the game, and its main line.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// Columns and rows; 19×19 if the file does not say.
    pub size: BoardSize,
    /// Points for White.
    pub komi: Option<f32>,
    /// Handicap stones; 0 if the file does not say.
    pub handicap: u32,
    /// The rules' name as the file has it.
    pub rules: Option<String>,
    /// Black's name.
    pub black: Option<String>,
    /// White's name.
    pub white: Option<String>,
    /// Black's grade as the file has it, as `9d`.
    pub black_rank: Option<String>,
    /// White's grade.
    pub white_rank: Option<String>,
    /// The result as the file has it.
    pub result: Option<String>,
    /// The date as the file has it.
    pub date: Option<String>,
    /// The program that wrote the file.
    pub program: Option<String>,
    /// Seconds of main time for each player.
    pub main_time: Option<f64>,
    /// What follows the main time, as the file has it.
    pub overtime: Option<String>,
    /// Stones that the players had lost before the first position: a property of our own.
    pub prisoners: ByColor<u32>,
    /// The character set that the file names.
    pub charset: Option<String>,
    /// The version of the format, as the file has it.
    pub format: Option<String>,
    /// The main line; the first node is the root.
    pub nodes: Vec<Node>,
    /// Values that were passed over.
    pub warnings: Vec<SgfError>,
}

impl Record {
    /// Reads the main line of the first game in a file.
    ///
    /// # Errors
    /// If there is no game of Go on a supported board in it.
    pub fn parse(bytes: &[u8]) -> Result<Record, SgfError> {
        let bytes = &*normalised(bytes);
        let start = first_tree(bytes).ok_or(SgfError { offset: 0, kind: SgfErrorKind::NoGame })?;
        let size = Record::find_size(bytes, start)?;
        let mut record = Record {
            size,
            komi: None,
            handicap: 0,
            rules: None,
            black: None,
            white: None,
            black_rank: None,
            white_rank: None,
            result: None,
            date: None,
            program: None,
            main_time: None,
            overtime: None,
            prisoners: ByColor::default(),
            charset: None,
            format: None,
            nodes: Vec::new(),
            warnings: Vec::new(),
        };
        let mut scanner = Scanner { bytes, at: start + 1 };
        let mut name = [0, 0];
        let mut setup_points = 0;
        // Has the current variation a node yet? One without any is passed over. And those around it?
        let mut has_node = false;
        let mut around = Vec::new();
        while let Some(token) = scanner.next() {
            let here = scanner.at;
            match token {
                Token::Open => around.push(std::mem::take(&mut has_node)),
                Token::Close => match around.pop().filter(|_| !has_node) {
                    Some(before) => has_node = before,
                    None => break,
                },
                Token::Semicolon => {
                    has_node = true;
                    record.push_node(here.saturating_sub(1))?;
                }
                Token::Name(found, at) => {
                    name = found;
                    if record.nodes.is_empty() {
                        // A file that forgot the first `;`.
                        has_node = true;
                        record.push_node(at)?;
                    }
                }
                Token::Value(value) => {
                    let at = |kind| SgfError { offset: value.offset, kind };
                    setup_points += record.property(name, value).map_err(at)?;
                    if setup_points > MAX_SETUP {
                        return Err(at(SgfErrorKind::TooLong));
                    }
                }
            }
        }
        if record.nodes.is_empty() {
            return Err(SgfError { offset: start, kind: SgfErrorKind::NoGame });
        }
        Ok(record)
    }

    /// The size that the root node names. It has to be known before any point is read.
    fn find_size(bytes: &[u8], start: usize) -> Result<BoardSize, SgfError> {
        let mut scanner = Scanner { bytes, at: start + 1 };
        let mut name = [0, 0];
        let mut nodes = 0;
        while let Some(token) = scanner.next() {
            match token {
                Token::Semicolon if nodes == 0 => nodes += 1,
                Token::Open if nodes == 0 => {}
                Token::Open | Token::Close | Token::Semicolon => break,
                Token::Name(found, _) => {
                    name = found;
                    nodes = 1;
                }
                Token::Value(value) if name == *b"SZ" && !value.bytes.trim_ascii().is_empty() => {
                    return parse_size(value).map_err(|kind| SgfError { offset: value.offset, kind });
                }
                Token::Value(_) => {}
            }
        }
        BoardSize::square(19).ok_or(SgfError { offset: start, kind: SgfErrorKind::BadSize })
    }

    fn push_node(&mut self, offset: usize) -> Result<(), SgfError> {
        if self.nodes.len() >= MAX_NODES {
            return Err(SgfError { offset, kind: SgfErrorKind::TooLong });
        }
        self.nodes.push(Node { offset, ..Node::default() });
        Ok(())
    }

    /// Takes a property of the current node; returns the number of points that it sets up.
    fn property(&mut self, name: [u8; 2], value: Value<'_>) -> Result<usize, SgfErrorKind> {
        let Value { bytes, offset } = value;
        let is_root = self.nodes.len() == 1;
        let size = self.size;
        let Some(node) = self.nodes.last_mut() else { return Ok(0) };
        let fact = |slot: &mut Option<String>| {
            if slot.is_none() {
                *slot = Some(text(bytes, false)).filter(|text| !text.is_empty());
            }
        };
        match &name {
            b"B\0" | b"W\0" => {
                let color = if name[0] == b'B' { Color::Black } else { Color::White };
                let mv = parse_move(size, bytes).ok_or_else(|| text(bytes, false));
                node.moves.push(RecordedMove { color, mv, offset });
            }
            b"AB" | b"AW" | b"AE" => {
                let Some(points) = parse_points(size, bytes) else {
                    if !bytes.trim_ascii().is_empty() {
                        let kind = SgfErrorKind::BadPoint(text(bytes, false));
                        self.warnings.push(SgfError { offset, kind });
                    }
                    return Ok(1);
                };
                let color = match name[1] {
                    b'B' => Some(Color::Black),
                    b'W' => Some(Color::White),
                    _ => None,
                };
                node.setup.extend(points.iter().map(|&point| (point, color)));
                return Ok(points.len());
            }
            b"PL" => node.to_move = parse_color(bytes).or(node.to_move),
            b"C\0" => fact_lines(&mut node.comment, bytes),
            b"GM" if is_root && decode(bytes).trim().parse::<u32>().is_ok_and(|game| game != 1) => {
                return Err(SgfErrorKind::NotGo);
            }
            b"KM" if self.komi.is_none() => {
                self.komi = if self.is_own() { parse_number(bytes) } else { parse_komi(bytes) };
            }
            b"HA" if self.handicap == 0 => {
                self.handicap = decode(bytes).trim().parse().ok().filter(|&n| n <= 625).unwrap_or(0);
            }
            b"RU" => fact(&mut self.rules),
            b"PB" => fact(&mut self.black),
            b"PW" => fact(&mut self.white),
            b"BR" => fact(&mut self.black_rank),
            b"WR" => fact(&mut self.white_rank),
            b"RE" => fact(&mut self.result),
            b"DT" => fact(&mut self.date),
            b"AP" => fact(&mut self.program),
            b"TM" if self.main_time.is_none() => self.main_time = parse_number(bytes),
            b"OT" => fact(&mut self.overtime),
            b"BL" => node.time_left[Color::Black] = parse_number(bytes),
            b"WL" => node.time_left[Color::White] = parse_number(bytes),
            b"OB" => node.overtime_left[Color::Black] = parse_number(bytes),
            b"OW" => node.overtime_left[Color::White] = parse_number(bytes),
            b"KP" if is_root => self.prisoners = parse_prisoners(bytes).unwrap_or_default(),
            b"CA" => fact(&mut self.charset),
            b"FF" => fact(&mut self.format),
            _ => {}
        }
        Ok(0)
    }

    /// The rules that the file names, if they are known here.
    pub fn known_rules(&self) -> Option<&'static Preset> {
        Rules::preset(self.rules.as_deref()?)
    }

    /// Was it written here? Then it means what it says.
    pub fn is_own(&self) -> bool {
        self.program.as_ref().is_some_and(|program| program.starts_with("Kosumi:"))
    }

    /// The rules that the file names or describes, if they can be had here.
    pub fn rules(&self) -> Option<Rules> {
        Rules::parse(self.rules.as_deref()?)
    }

    /// Number of moves in the main line, passes included.
    pub fn move_count(&self) -> usize {
        self.nodes.iter().map(|node| node.moves.len()).sum()
    }
}

fn fact_lines(slot: &mut Option<String>, bytes: &[u8]) {
    if slot.is_none() {
        *slot = Some(text(bytes, true)).filter(|text| !text.is_empty());
    }
}
