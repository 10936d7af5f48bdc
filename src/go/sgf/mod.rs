//! Game records in SGF: the main line of a file becomes a game, and a game or a whole [`Tree`] becomes a file.
//!
//! **Reading** is tolerant because real files have faults: text before the game, missing `;`, repeated properties, long
//! FF\[3\] names, unescaped brackets in comments, moves and set-up in one node. Only the main line of the first game in
//! a file is read. This needs no tree: from the first `(` on, every `(` opens the first variation, and the first `)`
//! after a node ends the line. The reader therefore has no recursion and no limit on the depth. It returns an error
//! only if no game remains. All other faults are collected in [`Record::warnings`], and
//! [`SgfErrorKind::loses_something`] states whether the game may differ from the intended one because of a fault.
//!
//! The crate `sgf-parse` 4.2.8 was evaluated first. It reads 291 of the 292 records of the GNU Go suites used here and
//! rejects one because of a repeated property. It stores a node's children in the node, so dropping a line of 100,000
//! moves (600 kB) overflows the stack and aborts the process. Its errors carry no position in the file. `tt`, `KM[]`,
//! `HA[0]` and the character set would have to be handled here anyway.
//!
//! **Offsets** in errors are byte offsets into the text. The text is the file itself if the file is in UTF-8, and
//! otherwise the file converted to UTF-8 (see [`charset`]). [`source_offset`] converts an offset back into the file.
//!
//! CITE: "SGF FF\[4\] specification", red-bean.com/sgf.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

pub mod charset;
pub mod collection;
mod error;
pub mod facts;
mod follow;
mod frequent_characters;
mod komi;
mod lexer;
pub mod repetition;
mod replay;
mod rule_names;
pub mod sequence_key;
#[cfg(test)]
mod tests;
mod tree;
mod values;
mod write;

pub use charset::source_offset;
pub use error::{SgfError, SgfErrorKind};
pub use follow::{FollowOptions, FollowedGame};
pub use replay::{Replay, ReplayStep, Strictness, with_set_up};
pub use tree::{
    Mark, MoveAnnotation, NodeChange, NodeId, NodeMut, PositionAnnotation, Property, Tree, TreeNode,
};
pub use write::{Meta, write};

use crate::board::{BoardSize, ByColor, Color, Move, Point};
use crate::rules::{Preset, Rules};
use charset::Charset;
use komi::parse_komi;
use lexer::{Scanner, Token, Value, decode, first_tree, text};
use values::{parse_color, parse_count, parse_move, parse_number, parse_points, parse_prisoners, parse_size};

/// Maximum number of nodes of a main line. Longer lines are rejected: no game has that many nodes.
const MAX_NODES: usize = 20_000;
/// Maximum number of points that a file may set up. Files with more are rejected.
const MAX_SETUP: usize = 100_000;

/// A move as the record contains it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedMove {
    /// Side that moved.
    pub color: Color,
    /// The move, or the text that is not a move.
    pub mv: Result<Move, String>,
    /// Byte offset in the text.
    pub offset: usize,
}

/// A node of the main line.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Node {
    /// Points to change before the moves, in this order. `None` empties a point.
    pub setup: Vec<(Point, Option<Color>)>,
    /// Side to move, if the node sets it.
    pub to_move: Option<Color>,
    /// Moves of the node, usually one.
    pub moves: Vec<RecordedMove>,
    /// Comment of the node.
    pub comment: Option<String>,
    /// Time left for each player, in seconds.
    pub time_left: ByColor<Option<f64>>,
    /// Stones or periods left for each player in overtime.
    pub overtime_left: ByColor<Option<u32>>,
    /// Byte offset of the node in the text.
    pub offset: usize,
}

/// A game record: properties of the game, and its main line.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// Board size. 19×19 if the file does not specify it.
    pub size: BoardSize,
    /// Komi, in points for White.
    pub komi: Option<f32>,
    /// Text of a komi that cannot be parsed.
    pub unknown_komi: Option<String>,
    /// Number of handicap stones. 0 if the file does not specify it.
    pub handicap: u32,
    /// Whether the file states explicitly that there is no handicap.
    pub is_even: bool,
    /// Name of the rules, as written in the file.
    pub rules: Option<String>,
    /// Black's name.
    pub black: Option<String>,
    /// White's name.
    pub white: Option<String>,
    /// Black's rank as written in the file, such as `9d`.
    pub black_rank: Option<String>,
    /// White's rank as written in the file.
    pub white_rank: Option<String>,
    /// Name of the event.
    pub event: Option<String>,
    /// Result, as written in the file.
    pub result: Option<String>,
    /// Date, as written in the file.
    pub date: Option<String>,
    /// Program that wrote the file.
    pub program: Option<String>,
    /// Main time of each player, in seconds.
    pub main_time: Option<f64>,
    /// Overtime, as written in the file.
    pub overtime: Option<String>,
    /// Number of stones that each player had lost before the first position. Stored in a property of Kosumi's own,
    /// `KP`.
    pub prisoners: ByColor<u32>,
    /// Character set that the file names.
    pub charset: Option<String>,
    /// Character set that the file is in.
    pub text: Charset,
    /// Whether the size is given after the first node.
    pub is_size_late: bool,
    /// Version of the format, as written in the file.
    pub format: Option<String>,
    /// Main line. The first node is the root.
    pub nodes: Vec<Node>,
    /// Faults that were tolerated.
    pub warnings: Vec<SgfError>,
}

impl Record {
    /// Reads the main line of the first game in a file.
    ///
    /// # Errors
    /// Returns an error if the file contains no game of Go on a supported board.
    pub fn parse(bytes: &[u8]) -> Result<Record, SgfError> {
        let decoded = charset::read(bytes);
        let bytes = &*decoded.bytes;
        let start = first_tree(bytes).ok_or(SgfError { offset: 0, kind: SgfErrorKind::NoGame })?;
        let (size, is_size_late) = find_size(bytes, start)?;
        let mut record = Record {
            size,
            komi: None,
            unknown_komi: None,
            handicap: 0,
            is_even: false,
            rules: None,
            black: None,
            white: None,
            black_rank: None,
            white_rank: None,
            event: None,
            result: None,
            date: None,
            program: None,
            main_time: None,
            overtime: None,
            prisoners: ByColor::default(),
            charset: None,
            text: decoded.charset,
            is_size_late,
            format: None,
            nodes: Vec::new(),
            warnings: Vec::new(),
        };
        let mut scanner = Scanner::new(bytes, start);
        // The current property name, and whether it has a value yet.
        let mut name: Option<[u8; 2]> = None;
        let mut is_used = true;
        let mut name_at = 0;
        // Offset of the first meaningless text.
        let mut junk = None;
        let mut setup_points = 0;
        // Whether the current variation has a node yet; `around` holds this flag for the enclosing variations. A
        // variation without any node is skipped.
        let mut has_node = false;
        let mut around = Vec::new();
        let mut depth = 1_usize;
        let mut is_closed = false;
        while let Some(token) = scanner.next() {
            let here = scanner.at;
            if !is_used && !matches!(token, Token::Value(_)) && !record.move_without_value(name, here) {
                junk = junk.or(Some(name_at));
            }
            depth = depth_after(depth, &token);
            match token {
                Token::Open => around.push(std::mem::take(&mut has_node)),
                Token::Close => match around.pop().filter(|_| !has_node) {
                    Some(before) => has_node = before,
                    None => {
                        is_closed = true;
                        break;
                    }
                },
                Token::Semicolon => {
                    has_node = true;
                    record.push_node(here.saturating_sub(1))?;
                }
                Token::Name(found, at) => {
                    if record.nodes.is_empty() {
                        // The file lacks the first `;`.
                        has_node = true;
                        record.push_node(at)?;
                    }
                    (name, is_used, name_at) = (Some(found), false, at);
                    continue;
                }
                Token::Value(value) => {
                    is_used = true;
                    let at = |kind| SgfError { offset: value.offset, kind };
                    let Some(name) = name else {
                        record.warnings.push(at(SgfErrorKind::NoName(excerpt(value.bytes))));
                        continue;
                    };
                    setup_points += record.property(name, value).map_err(at)?;
                    if setup_points > MAX_SETUP {
                        return Err(at(SgfErrorKind::TooLong));
                    }
                    is_closed |= value.is_open;
                    continue;
                }
            }
            (name, is_used) = (None, true);
        }
        if record.nodes.is_empty() {
            return Err(SgfError { offset: start, kind: SgfErrorKind::NoGame });
        }
        if !is_used && !record.move_without_value(name, scanner.at) {
            junk = junk.or(Some(name_at));
        }
        let junk = junk.into_iter().chain(scanner.junk).min();
        while is_closed && depth > 0 {
            let Some(token) = scanner.next() else { break };
            depth = depth_after(depth, &token);
        }
        let end = |kind| SgfError { offset: bytes.len(), kind };
        match (is_closed, depth) {
            (true, 0) => {}
            // The open value has been reported already.
            (true, _) if record.warnings.iter().any(|it| matches!(it.kind, SgfErrorKind::OpenValue(_))) => {}
            (true, _) => record.warnings.push(end(SgfErrorKind::OpenVariation)),
            (false, _) => record.warnings.push(end(SgfErrorKind::NotClosed)),
        }
        if let Some(offset) = junk {
            let junk = bytes.get(offset..).unwrap_or_default();
            let is_end = |byte: &u8| b"()[];".contains(byte) || byte.is_ascii_whitespace();
            let end = junk.iter().position(is_end).unwrap_or(junk.len());
            let kind = SgfErrorKind::Junk(excerpt(junk.get(..end).unwrap_or_default()));
            record.warnings.push(SgfError { offset, kind });
        }
        record.warnings.sort_by_key(|warning| warning.offset);
        Ok(record)
    }

    /// Handles a property name without a value. If the name is that of a move, records an invalid move and returns
    /// true.
    fn move_without_value(&mut self, name: Option<[u8; 2]>, offset: usize) -> bool {
        let color = match &name {
            Some([b'B', 0]) => Color::Black,
            Some([b'W', 0]) => Color::White,
            _ => return false,
        };
        if let Some(node) = self.nodes.last_mut() {
            node.moves.push(RecordedMove { color, mv: Err(String::new()), offset });
        }
        true
    }

    fn push_node(&mut self, offset: usize) -> Result<(), SgfError> {
        if self.nodes.len() >= MAX_NODES {
            return Err(SgfError { offset, kind: SgfErrorKind::TooLong });
        }
        self.nodes.push(Node { offset, ..Node::default() });
        Ok(())
    }

    /// Handles a property value of the current node. Returns the number of points that it sets up.
    fn property(&mut self, name: [u8; 2], value: Value<'_>) -> Result<usize, SgfErrorKind> {
        let Value { bytes, offset, is_open } = value;
        if is_open {
            self.warnings.push(SgfError { offset, kind: SgfErrorKind::OpenValue(name_text(name)) });
        }
        let is_root = self.nodes.len() == 1;
        let size = self.size;
        let Some(node) = self.nodes.last_mut() else { return Ok(0) };
        let is_move = matches!(&name, b"B\0" | b"W\0");
        if let Some((color, letters)) = value.swallowed_move().filter(|_| !is_open && !is_move) {
            // The game cannot be followed beyond this value.
            let mv = Err(format!("{}[…;{}[{}", name_text(name), char::from(color), excerpt(letters)));
            let color = if color == b'B' { Color::Black } else { Color::White };
            node.moves.push(RecordedMove { color, mv, offset });
        }
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
            b"C\0" => set_text(&mut node.comment, bytes),
            b"GM" if is_root && decode(bytes).trim().parse::<u32>().is_ok_and(|game| game != 1) => {
                return Err(SgfErrorKind::NotGo);
            }
            b"KM" if self.komi.is_none() => {
                let written = text(bytes, false);
                let own = if self.is_own() { parse_number(bytes) } else { None };
                self.komi = own.or_else(|| parse_komi(&written));
                self.unknown_komi =
                    Some(written).filter(|written| self.komi.is_none() && !written.is_empty());
            }
            b"HA" if self.handicap == 0 => {
                let count = parse_count(bytes);
                self.is_even = count == Some(0);
                self.handicap = count.filter(|&count| count <= 625).unwrap_or(0);
            }
            b"RU" => fact(&mut self.rules),
            b"PB" => fact(&mut self.black),
            b"PW" => fact(&mut self.white),
            b"BR" => fact(&mut self.black_rank),
            b"WR" => fact(&mut self.white_rank),
            b"EV" => fact(&mut self.event),
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

    /// Returns the named rule set that the file names, in any known spelling.
    pub fn known_rules(&self) -> Option<&'static Preset> {
        rule_names::preset(self.rules.as_deref()?)
    }

    /// Returns whether Kosumi wrote the record. Its values are then taken literally.
    pub fn is_own(&self) -> bool {
        self.program.as_ref().is_some_and(|program| program.starts_with("Kosumi:"))
    }

    /// Returns the rules that the file names or describes, if they are known.
    pub fn rules(&self) -> Option<Rules> {
        rule_names::rules(self.rules.as_deref()?)
    }

    /// Returns the komi under these rules. If the file does not specify it, it is half a point with a handicap, and
    /// otherwise the usual komi of the rules.
    pub fn komi_under(&self, rules: Rules) -> f32 {
        let usual = || if self.handicap > 0 { 0.5 } else { rules.usual_komi() };
        self.komi.unwrap_or_else(usual)
    }

    /// Returns notes for the reader of the record that do not concern missing parts of the game: how the text was
    /// decoded, and which assumptions replace properties that cannot be parsed. `rules` and `komi` are those in force.
    /// If the rules were given by the user (`are_rules_given`), the record's rules are not mentioned.
    pub fn notes(&self, rules: Rules, komi: f32, are_rules_given: bool) -> Vec<String> {
        let mut notes = Vec::new();
        notes.extend(self.text.note(self.charset.as_deref()));
        if let Some(name) = self.rules.as_ref().filter(|_| !are_rules_given && self.rules().is_none()) {
            notes.push(format!("unknown rules “{name}”: {rules} rules are assumed"));
        }
        if let Some(text) = &self.unknown_komi {
            notes.push(format!("the komi “{text}” cannot be read: {komi} is assumed"));
        }
        if self.is_size_late {
            notes.push(format!("the board size is given after the first node: {}", self.size));
        }
        notes
    }

    /// Returns the number of moves in the main line, including passes.
    pub fn move_count(&self) -> usize {
        self.nodes.iter().map(|node| node.moves.len()).sum()
    }
}

fn set_text(slot: &mut Option<String>, bytes: &[u8]) {
    if slot.is_none() {
        *slot = Some(text(bytes, true)).filter(|text| !text.is_empty());
    }
}

/// Returns the name of a property, or `a property` if the reader does not know it.
fn name_text(name: [u8; 2]) -> String {
    let letters: String = name.iter().filter(|&&byte| byte != 0).map(|&byte| char::from(byte)).collect();
    if letters.is_empty() { "a property".to_owned() } else { letters }
}

/// Returns the number of open parentheses after a token.
fn depth_after(depth: usize, token: &Token<'_>) -> usize {
    match token {
        Token::Open => depth + 1,
        Token::Close => depth.saturating_sub(1),
        _ => depth,
    }
}

/// Shortens a text for a message.
fn excerpt(bytes: &[u8]) -> String {
    const CHARACTERS: usize = 20;
    let text = text(bytes, false);
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Returns the board size, and whether it is given after the first node. It is the first `SZ` of the main line, or
/// 19×19 if there is none. It must be known before any point is parsed.
fn find_size(bytes: &[u8], start: usize) -> Result<(BoardSize, bool), SgfError> {
    let usual = BoardSize::square(19).ok_or(SgfError { offset: start, kind: SgfErrorKind::BadSize })?;
    let mut scanner = Scanner::new(bytes, start);
    let mut name = [0, 0];
    let mut nodes = 0;
    while let Some(token) = scanner.next() {
        match token {
            Token::Close if nodes > 0 => break,
            Token::Open | Token::Close => {}
            Token::Semicolon => {
                nodes += 1;
                let is_worth_it = || {
                    let rest = bytes.get(scanner.at..).unwrap_or_default();
                    rest.windows(2).any(|two| two == b"SZ")
                };
                // Most records without a size in the first node have none at all.
                if nodes == 2 && !is_worth_it() {
                    break;
                }
            }
            Token::Name(found, _) => {
                name = found;
                nodes = nodes.max(1);
            }
            Token::Value(value) if name == *b"SZ" && !value.bytes.trim_ascii().is_empty() => {
                let size = parse_size(value).map_err(|kind| SgfError { offset: value.offset, kind })?;
                return Ok((size, nodes > 1));
            }
            Token::Value(_) => {}
        }
    }
    Ok((usual, false))
}
