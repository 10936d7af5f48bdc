//! Game records: the main line of an SGF file in, a game out; and a game in, an SGF file out.
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
//! and Latin-1, into its text after conversion to UTF-8 (in some sets `]` and `\` can be half a character).
//!
//! CITE: "SGF FF\[4\] specification", red-bean.com/sgf.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

use crate::board::{Board, BoardSize, ByColor, Cell, Color, Move, Point, PointMap, SetupError};
use crate::game::{Game, IllegalMove};
use crate::handicap::fixed_handicap;
use crate::rules::{Preset, Rules};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use std::borrow::Cow;
use std::fmt::{self, Write as _};

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
    /// The result as the file has it.
    pub result: Option<String>,
    /// The main line; the first node is the root.
    pub nodes: Vec<Node>,
    /// Values that were passed over.
    pub warnings: Vec<SgfError>,
}

/// How to take moves that the rules forbid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strictness {
    /// As [`Game::play_tolerant`]; the replay ends with a warning before a move that cannot be played at all.
    #[default]
    Tolerant,
    /// The first such move is an error, and so is everything else that would be a warning.
    Strict,
}

/// What a replay reached.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The game.
    pub game: Game,
    /// What went wrong; the game ends early if the last one is an unplayable move.
    pub warnings: Vec<SgfError>,
}

/// A property's value: the bytes between its brackets, escapes included.
#[derive(Clone, Copy)]
struct Value<'a> {
    bytes: &'a [u8],
    offset: usize,
}

/// What stands in a file.
enum Token<'a> {
    Open,
    Close,
    Semicolon,
    /// Name with small letters dropped, at most two letters of it; where it begins.
    Name([u8; 2], usize),
    Value(Value<'a>),
}

/// Splits a file into tokens, passing over whatever is none.
struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let start = self.at;
            let byte = *self.bytes.get(start)?;
            self.at += 1;
            match byte {
                b'(' => return Some(Token::Open),
                b')' => return Some(Token::Close),
                b';' => return Some(Token::Semicolon),
                b'[' => return Some(Token::Value(self.value())),
                _ if byte.is_ascii_alphabetic() => return Some(self.name(start)),
                _ => {}
            }
        }
    }

    fn name(&mut self, start: usize) -> Token<'a> {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        self.at = start + length.max(1);
        let mut letters = rest.iter().take(length).copied().filter(u8::is_ascii_uppercase);
        let mut name = [letters.next().unwrap_or(0), letters.next().unwrap_or(0)];
        if letters.next().is_some() {
            // Three capitals: no property that is read here.
            name = [0, 0];
        }
        Token::Name(name, start)
    }

    /// The value whose `[` has just been read. A value that is never closed goes to the end of the file.
    fn value(&mut self) -> Value<'a> {
        let offset = self.at;
        let mut end = offset;
        while let Some(&byte) = self.bytes.get(end) {
            match byte {
                b']' => break,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        let end = end.min(self.bytes.len());
        self.at = end + 1;
        Value { bytes: self.bytes.get(offset..end).unwrap_or_default(), offset }
    }
}

/// A value's text without escapes. Line ends become blanks, or one `\n` each where lines matter.
fn text(bytes: &[u8], lines: bool) -> String {
    let decoded = decode(bytes);
    let mut out = String::with_capacity(decoded.len());
    let mut characters = decoded.chars().peekable();
    // A line ends with LF, CR, or both in either order.
    let other = |end: char| if end == '\r' { '\n' } else { '\r' };
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(end @ ('\n' | '\r')) => {
                    characters.next_if_eq(&other(end));
                }
                Some(escaped) => out.push(escaped),
                None => {}
            },
            '\n' | '\r' => {
                characters.next_if_eq(&other(character));
                out.push(if lines { '\n' } else { ' ' });
            }
            _ if character.is_whitespace() => out.push(' '),
            _ => out.push(character),
        }
    }
    out.trim().to_owned()
}

/// UTF-8 if the bytes are that, otherwise Latin-1 (as the web reads it).
fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => WINDOWS_1252.decode_without_bom_handling(bytes).0,
    }
}

/// The file in a form in which bytes below 128 are always characters of their own.
fn normalised(bytes: &[u8]) -> Cow<'_, [u8]> {
    match Encoding::for_bom(bytes) {
        // The mark is passed over like everything else in front of a game.
        Some((encoding, _)) if encoding == UTF_8 => return Cow::Borrowed(bytes),
        Some((encoding, length)) => return converted(encoding, bytes.get(length..).unwrap_or_default()),
        None => {}
    }
    let mut scanner = Scanner { bytes, at: 0 };
    let mut named = false;
    while let Some(token) = scanner.next() {
        match token {
            Token::Name(name, _) => named = name == *b"CA",
            Token::Value(value) if named => {
                let encoding = Encoding::for_label(value.bytes).unwrap_or(UTF_8);
                let plain = encoding == UTF_8 || encoding == WINDOWS_1252;
                return if plain { Cow::Borrowed(bytes) } else { converted(encoding, bytes) };
            }
            // The character set stands in the root, and that is short but for a comment.
            _ if scanner.at > 1 << 16 => break,
            _ => {}
        }
    }
    Cow::Borrowed(bytes)
}

fn converted(encoding: &'static Encoding, bytes: &[u8]) -> Cow<'static, [u8]> {
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    Cow::Owned(text.into_owned().into_bytes())
}

/// Where the game begins: a `(` with a `;` behind it, or else with a property.
fn first_tree(bytes: &[u8]) -> Option<usize> {
    let opens = || {
        bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'(').map(|(at, _)| {
            let rest = bytes.get(at + 1..).unwrap_or_default();
            (at, rest.iter().find(|byte| !byte.is_ascii_whitespace()).copied())
        })
    };
    let with_node = opens().find(|&(_, next)| next == Some(b';'));
    let with_property = || opens().find(|&(_, next)| next.is_some_and(|byte| byte.is_ascii_uppercase()));
    with_node.or_else(with_property).map(|(at, _)| at)
}

/// A coordinate: `a` to `z`, then `A` to `Z`.
fn coordinate(byte: u8) -> Option<usize> {
    match byte {
        b'a'..=b'z' => Some(usize::from(byte - b'a')),
        b'A'..=b'Z' => Some(usize::from(byte - b'A') + 26),
        _ => None,
    }
}

/// Column and row from the upper left.
fn coordinates(bytes: &[u8]) -> Option<(usize, usize)> {
    match bytes.trim_ascii() {
        &[column, row] => Some((coordinate(column)?, coordinate(row)?)),
        _ => None,
    }
}

fn point(size: BoardSize, (column, from_top): (usize, usize)) -> Option<Point> {
    size.point(column, (size.rows() - 1).checked_sub(from_top)?)
}

/// The move of a `B` or `W`. A pass is written as nothing, as `tt` where that is no point, and by some programs
/// as the point diagonally behind the last one.
fn parse_move(size: BoardSize, bytes: &[u8]) -> Option<Move> {
    if bytes.trim_ascii().is_empty() {
        return Some(Move::Pass);
    }
    let at = coordinates(bytes)?;
    if let Some(point) = point(size, at) {
        return Some(Move::Play(point));
    }
    (at == (19, 19) || at == (size.columns(), size.rows())).then_some(Move::Pass)
}

/// The points of one value of `AB`, `AW` or `AE`: a point, or two corners of a rectangle.
fn parse_points(size: BoardSize, bytes: &[u8]) -> Option<Vec<Point>> {
    let mut corners = bytes.splitn(2, |&byte| byte == b':');
    let first = coordinates(corners.next()?)?;
    let second = match corners.next() {
        Some(corner) => coordinates(corner)?,
        None => first,
    };
    point(size, first).zip(point(size, second))?;
    let columns = first.0.min(second.0)..=first.0.max(second.0);
    let rows = first.1.min(second.1)..=first.1.max(second.1);
    Some(rows.flat_map(|row| columns.clone().filter_map(move |column| point(size, (column, row)))).collect())
}

fn parse_color(bytes: &[u8]) -> Option<Color> {
    match bytes.trim_ascii().first()? {
        b'B' | b'b' | b'1' => Some(Color::Black),
        b'W' | b'w' | b'2' => Some(Color::White),
        _ => None,
    }
}

fn parse_size(value: Value<'_>) -> Result<BoardSize, SgfErrorKind> {
    let text = decode(value.bytes);
    let mut sides = text.splitn(2, ':').map(|side| side.trim().parse::<u32>());
    let columns = sides.next().and_then(Result::ok).ok_or(SgfErrorKind::BadSize)?;
    let rows = match sides.next() {
        Some(side) => side.map_err(|_| SgfErrorKind::BadSize)?,
        None => columns,
    };
    if columns == 0 || rows == 0 {
        return Err(SgfErrorKind::BadSize);
    }
    BoardSize::new(columns as usize, rows as usize).ok_or(SgfErrorKind::UnsupportedSize(columns, rows))
}

/// Komi in points. Some servers write it in hundredths, of points or of stones.
fn parse_komi(bytes: &[u8]) -> Option<f32> {
    let komi: f32 = decode(bytes).trim().replace(',', ".").parse().ok()?;
    const HUNDREDTHS: [(f32, f32); 5] =
        [(375.0, 7.5), (325.0, 6.5), (550.0, 5.5), (650.0, 6.5), (750.0, 7.5)];
    match HUNDREDTHS.iter().find(|&&(written, _)| written == komi) {
        Some(&(_, points)) => Some(points),
        None => Some(komi).filter(|komi| komi.abs() <= 1000.0),
    }
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
            result: None,
            nodes: Vec::new(),
            warnings: Vec::new(),
        };
        let mut scanner = Scanner { bytes, at: start + 1 };
        let mut name = [0, 0];
        let mut setup_points = 0;
        // Has the current variation a node yet? One without any is passed over.
        let mut has_node = false;
        let mut depth = 1usize;
        while let Some(token) = scanner.next() {
            let here = scanner.at;
            match token {
                Token::Open => {
                    depth += 1;
                    has_node = false;
                }
                Token::Close if has_node || depth == 1 => break,
                Token::Close => {
                    depth -= 1;
                    has_node = false;
                }
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
            b"KM" if self.komi.is_none() => self.komi = parse_komi(bytes),
            b"HA" if self.handicap == 0 => {
                self.handicap = decode(bytes).trim().parse().ok().filter(|&n| n <= 625).unwrap_or(0);
            }
            b"RU" => fact(&mut self.rules),
            b"PB" => fact(&mut self.black),
            b"PW" => fact(&mut self.white),
            b"RE" => fact(&mut self.result),
            _ => {}
        }
        Ok(0)
    }

    /// The rules that the file names, if they are known here.
    pub fn known_rules(&self) -> Option<&'static Preset> {
        Rules::preset(self.rules.as_deref()?)
    }

    /// Number of moves in the main line, passes included.
    pub fn move_count(&self) -> usize {
        self.nodes.iter().map(|node| node.moves.len()).sum()
    }

    /// The game of the main line, whatever the rules think of its moves: [`Record::replay`] without warnings.
    ///
    /// # Errors
    /// None today; a record that was parsed always leads to a game.
    pub fn game(&self, rules: Rules, default_komi: f32, up_to: Option<usize>) -> Result<Game, SgfError> {
        Ok(self.replay(rules, default_komi, up_to, Strictness::Tolerant)?.game)
    }

    /// Plays the main line. With `up_to`, as GTP's `loadsgf` has it, only up to the position *before* that move,
    /// counted from 1, and it is then that move's player who is on turn; a number behind the end of the game
    /// means the end.
    ///
    /// Set-up starts the game anew from the changed position, with prisoners kept. A handicap without stones
    /// gets the fixed ones if White makes the first move.
    ///
    /// # Errors
    /// With [`Strictness::Strict`] the first thing that is wrong.
    pub fn replay(
        &self,
        rules: Rules,
        default_komi: f32,
        up_to: Option<usize>,
        strictness: Strictness,
    ) -> Result<Replayed, SgfError> {
        let mut warnings = Vec::new();
        let mut warn = |offset: usize, kind: SgfErrorKind| {
            let error = SgfError { offset, kind };
            match strictness {
                Strictness::Strict => Err(error),
                Strictness::Tolerant => {
                    warnings.push(error);
                    Ok(())
                }
            }
        };
        for warning in &self.warnings {
            warn(warning.offset, warning.kind.clone())?;
        }
        let mut game = Game::new(self.size, rules, self.komi.unwrap_or(default_komi));
        let with_handicap = self.with_handicap(&game, &mut warn)?;
        let has_handicap = with_handicap.is_some();
        game = with_handicap.unwrap_or(game);
        let mut number = 0;
        'nodes: for (index, node) in self.nodes.iter().enumerate() {
            let is_done = index == 0 && has_handicap;
            if !node.setup.is_empty() && !is_done {
                game = set_up(&game, node, &mut warn)?;
                if index == 0 && self.handicap >= 2 {
                    game.set_handicap(self.handicap);
                    game.set_to_move(Color::White);
                }
            }
            if let Some(color) = node.to_move {
                game.set_to_move(color);
            }
            for RecordedMove { color, mv, offset } in &node.moves {
                if up_to.is_some_and(|last| number + 1 >= last) {
                    game.set_to_move(*color);
                    break 'nodes;
                }
                let mv = match mv {
                    Ok(mv) => *mv,
                    Err(text) => {
                        warn(*offset, SgfErrorKind::BadPoint(text.clone()))?;
                        break 'nodes;
                    }
                };
                number += 1;
                let played = match strictness {
                    Strictness::Strict => game.play(*color, mv),
                    Strictness::Tolerant => game.play_tolerant(*color, mv).map(|_| ()),
                };
                if let Err(reason) = played {
                    warn(*offset, SgfErrorKind::IllegalMove { number, color: *color, mv, reason })?;
                    break 'nodes;
                }
            }
        }
        Ok(Replayed { game, warnings })
    }

    /// The game after the handicap stones, if the record has any: those set up in the root, if their number is
    /// the handicap's, or fixed ones.
    fn with_handicap(
        &self,
        game: &Game,
        warn: &mut impl FnMut(usize, SgfErrorKind) -> Result<(), SgfError>,
    ) -> Result<Option<Game>, SgfError> {
        let Some(root) = self.nodes.first().filter(|_| self.handicap > 0) else { return Ok(None) };
        if !root.setup.is_empty() {
            let stones: Vec<Point> = root.setup.iter().map(|&(point, _)| point).collect();
            let is_handicap = root.setup.iter().all(|&(_, color)| color == Some(Color::Black))
                && stones.len() == self.handicap as usize;
            return Ok(if is_handicap { game.with_handicap(&stones).ok() } else { None });
        }
        // Before the first move nothing may be set up elsewhere either.
        let first = self.nodes.iter().find(|node| !node.moves.is_empty() || !node.setup.is_empty());
        let white_begins = first.is_none_or(|node| {
            node.setup.is_empty() && node.moves.first().is_some_and(|mv| mv.color == Color::White)
        });
        if self.handicap < 2 || !white_begins {
            return Ok(None);
        }
        match fixed_handicap(self.size, self.handicap as usize) {
            Some(points) => Ok(game.with_handicap(&points).ok()),
            None => {
                warn(root.offset, SgfErrorKind::NoHandicapPoints(self.handicap))?;
                Ok(None)
            }
        }
    }
}

fn fact_lines(slot: &mut Option<String>, bytes: &[u8]) {
    if slot.is_none() {
        *slot = Some(text(bytes, true)).filter(|text| !text.is_empty());
    }
}

/// A new game from the position that a node's set-up makes of the present one.
fn set_up(
    game: &Game,
    node: &Node,
    warn: &mut impl FnMut(usize, SgfErrorKind) -> Result<(), SgfError>,
) -> Result<Game, SgfError> {
    let size = game.size();
    let mut cells = PointMap::filled(Cell::Border);
    for point in size.points() {
        cells[point] = game.board().cell(point);
    }
    for &(point, color) in &node.setup {
        cells[point] = color.map_or(Cell::Empty, Cell::from);
    }
    let mut board = loop {
        let stones = size.points().filter_map(|point| Some((point, cells[point].color()?)));
        match Board::from_stones(size, stones) {
            Ok(board) => break board,
            Err(SetupError::NoLiberty(point)) => {
                warn(node.offset, SgfErrorKind::NoLiberty(point))?;
                let own = std::mem::replace(&mut cells[point], Cell::Empty);
                let mut todo = vec![point];
                while let Some(stone) = todo.pop() {
                    for next in stone.adjacent() {
                        if cells[next] == own {
                            cells[next] = Cell::Empty;
                            todo.push(next);
                        }
                    }
                }
            }
        }
    };
    let lost = |color: Color| game.board().prisoners(color);
    board.set_prisoners(ByColor::new(lost(Color::Black), lost(Color::White)));
    let mut set_up = Game::from_board(board, game.to_move(), game.rules(), game.komi());
    set_up.set_handicap(game.handicap());
    Ok(set_up)
}

/// What a written record says besides the game.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Meta {
    /// Black's name.
    pub black: Option<String>,
    /// White's name.
    pub white: Option<String>,
    /// The result, as `B+2.5`, `W+R` or `0`.
    pub result: Option<String>,
    /// The date, as `2026-11-21`.
    pub date: Option<String>,
    /// Comment on the game.
    pub comment: Option<String>,
}

/// The game as an SGF file in UTF-8 that [`Record::parse`] reads back.
pub fn write(game: &Game, meta: &Meta) -> String {
    let size = game.size();
    let mut out = String::from("(;FF[4]GM[1]CA[UTF-8]");
    property(&mut out, "AP", concat!("Kosumi:", env!("CARGO_PKG_VERSION")));
    if size.is_square() {
        property(&mut out, "SZ", &size.columns().to_string());
    } else {
        property(&mut out, "SZ", &format!("{}:{}", size.columns(), size.rows()));
    }
    property(&mut out, "KM", &game.komi().to_string());
    if game.handicap() > 0 {
        property(&mut out, "HA", &game.handicap().to_string());
    }
    property(&mut out, "RU", &escape(&game.rules().to_string()));
    let facts = [("PB", &meta.black), ("PW", &meta.white), ("RE", &meta.result), ("DT", &meta.date)];
    for (name, fact) in facts {
        if let Some(fact) = fact {
            property(&mut out, name, &escape(&fact.replace(['\n', '\r'], " ")));
        }
    }
    if let Some(comment) = &meta.comment {
        property(&mut out, "C", &escape(comment));
    }
    for (name, color) in [("AB", Color::Black), ("AW", Color::White)] {
        let mut stones = game.start().stones().filter(|&(_, stone)| stone == color).peekable();
        if stones.peek().is_some() {
            out.push_str(name);
            stones.for_each(|(point, _)| push_value(&mut out, size, point));
        }
    }
    let usual = if game.handicap() > 0 { Color::White } else { Color::Black };
    if game.start_to_move() != usual {
        property(&mut out, "PL", letter(game.start_to_move()));
    }
    for (index, record) in game.records().iter().enumerate() {
        out.push_str(if index % 10 == 0 { "\n;" } else { ";" });
        out.push_str(letter(record.color));
        match record.mv {
            Move::Play(point) => push_value(&mut out, size, point),
            Move::Pass => out.push_str("[]"),
        }
    }
    if let Some(last) = game.records().last()
        && game.to_move() == last.color
    {
        out.push(';');
        property(&mut out, "PL", letter(game.to_move()));
    }
    out.push_str(")\n");
    out
}

fn letter(color: Color) -> &'static str {
    match color {
        Color::Black => "B",
        Color::White => "W",
    }
}

fn property(out: &mut String, name: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{name}[{value}]");
}

fn push_value(out: &mut String, size: BoardSize, point: Point) {
    let letter = |number: usize| char::from(b'a' + number as u8);
    let _ = write!(out, "[{}{}]", letter(point.column()), letter(size.rows() - 1 - point.row()));
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace(']', "\\]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::rules::HandicapBonus;
    use proptest::prelude::*;

    fn record(text: &str) -> Record {
        Record::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn replayed(text: &str) -> Game {
        record(text).game(Rules::default(), 7.5, None).unwrap()
    }

    fn moves(game: &Game) -> String {
        let letter = |color| if color == Color::Black { 'B' } else { 'W' };
        let moves = game.records().iter().map(|record| format!("{} {}", letter(record.color), record.mv));
        moves.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn oddities_of_real_files() {
        let rows = [
            ("plain", "(;SZ[9];B[aa];W[ba])", "B A9, W B9"),
            ("the first variation", "(;SZ[9];B[aa](;W[ba];B[ca])(;W[cc]))", "B A9, W B9, B C9"),
            ("every move in a tree of its own", "(;SZ[9](;B[aa](;W[ba](;B[ca]))))", "B A9, W B9, B C9"),
            ("an empty variation", "(;SZ[9];B[aa]()(;W[ba]))", "B A9, W B9"),
            ("the first game", "(;SZ[9];B[aa])(;SZ[9];B[bb])", "B A9"),
            ("passes", "(;SZ[9];B[];W[tt];B[jj];W[ ])", "B pass, W pass, B pass, W pass"),
            ("tt is a point", "(;SZ[21];B[tt];W[])", "B U2, W pass"),
            ("tt on a narrow board", "(;SZ[25:19];B[tt])", "B pass"),
            ("rectangle", "(;SZ[3:5];B[ae];W[ca])", "B A1, W C5"),
            ("mail header", "From: a (b) c\nX(: y\n\n(;SZ[9];B[aa])", "B A9"),
            ("byte order mark", "\u{feff}(;SZ[9];B[aa])", "B A9"),
            ("no first semicolon", "(FF[3]SZ[9]B[aa];W[ba])", "B A9, W B9"),
            ("long names", "(;SiZe[9];Black[aa];White[ba])", "B A9, W B9"),
            ("stray brackets", "(;SZ[9]US[Matsuyama[3d]];B[aa])", "B A9"),
            ("escapes", "(;SZ[9]C[a\\]b\\\\];B[aa])", "B A9"),
            ("closing bracket of a value missing", "(;SZ[9];B[aa];W[ba];C[oh", "B A9, W B9"),
            ("never closed", "(;SZ[9];B[aa]", "B A9"),
            ("properties given twice", "(;GM[1]GM[1]FF[3]SZ[9]SZ[19];B[aa])", "B A9"),
            ("size behind the stones", "(;AB[cc]SZ[9];W[aa])", "W A9"),
            ("set-up and moves together", "(;SZ[9];B[bb]AB[aa]W[cc])", "B B8, W C7"),
            ("two of one colour", "(;SZ[9];B[aa];B[ba])", "B A9, B B9"),
            ("an occupied point ends it", "(;SZ[9];B[aa];W[aa];B[bb])", "B A9"),
            ("a point off the board ends it", "(;SZ[9];B[aa];W[ss];B[bb])", "B A9"),
            ("no text of a point", "(;SZ[9];B[aa];W[rp.pmon];B[bb])", "B A9"),
            ("private properties", "(;SZ[9];B[aa]IL[cc]BL[30]KGSDE[x];WL[2]W[ba])", "B A9, W B9"),
        ];
        for (name, text, expected) in rows {
            assert_eq!(moves(&replayed(text)), expected, "{name}: {text}");
        }
    }

    #[test]
    fn facts() {
        let of = |text: &str| record(text);
        assert_eq!(of("(;B[aa])").size, BoardSize::square(19).unwrap());
        assert_eq!(of("(;SZ[])").size, BoardSize::square(19).unwrap());
        for (komi, expected) in [
            ("6.5", Some(6.5)),
            ("-17.5", Some(-17.5)),
            ("", None),
            ("5,5", Some(5.5)),
            ("375", Some(7.5)),
            ("NaN", None),
            ("1e30", None),
        ] {
            assert_eq!(of(&format!("(;KM[{komi}])")).komi, expected, "{komi}");
        }
        assert_eq!(replayed("(;KM[])").komi(), 7.5);
        let game = of("(;SZ[9]RU[Japanese]PB[a\\]b]PW[two\nlines]RE[W+R ])");
        assert_eq!(game.known_rules().unwrap().names[0], "japanese");
        assert_eq!(game.black.as_deref(), Some("a]b"));
        assert_eq!(game.white.as_deref(), Some("two lines"));
        assert_eq!(game.result.as_deref(), Some("W+R"));
        let comment = of("(;C[one\r\ntwo\\\nstill two\n\rthree])").nodes[0].comment.clone();
        assert_eq!(comment.as_deref(), Some("one\ntwostill two\nthree"));
    }

    #[test]
    fn character_sets() {
        let black = |bytes: &[u8]| Record::parse(bytes).unwrap().black.unwrap();
        assert_eq!(black("(;PB[\u{e9}])".as_bytes()), "\u{e9}");
        assert_eq!(black(b"(;PB[\xe9])"), "\u{e9}");
        // The second byte of this character is a backslash.
        assert_eq!(black(b"(;CA[Shift_JIS]PB[\x83\x5c];B[aa])"), "\u{30bd}");
        assert_eq!(black(b"(;CA[windows-1251]PB[\xcf])"), "\u{41f}");
        let utf16: Vec<u8> = "\u{feff}(;PB[x])".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(black(&utf16), "x");
    }

    #[test]
    fn errors_have_a_place() {
        let error = |text: &str| Record::parse(text.as_bytes()).unwrap_err();
        let rows = [
            ("", 0, SgfErrorKind::NoGame),
            ("hello (world)", 0, SgfErrorKind::NoGame),
            ("(;SZ[x])", 5, SgfErrorKind::BadSize),
            ("(;SZ[0])", 5, SgfErrorKind::BadSize),
            ("(;SZ[26])", 5, SgfErrorKind::UnsupportedSize(26, 26)),
            ("(;GM[1]SZ[19:99999])", 10, SgfErrorKind::UnsupportedSize(19, 99999)),
            ("(;GM[2])", 5, SgfErrorKind::NotGo),
        ];
        for (text, offset, kind) in rows {
            assert_eq!(error(text), SgfError { offset, kind }, "{text}");
        }
        let many = format!("(;SZ[9]{})", ";".repeat(MAX_NODES));
        assert_eq!(error(&many).kind, SgfErrorKind::TooLong);
        let stones = format!("(;SZ[25]{})", "AB[aa:yy]".repeat(1000));
        assert_eq!(error(&stones).kind, SgfErrorKind::TooLong);
        let deep = format!("{};B[aa]{}", "(;SZ[9]".repeat(5000), ")".repeat(5000));
        assert_eq!(moves(&replayed(&deep)), "B A9");

        let strict = |text: &str| {
            record(text).replay(Rules::default(), 7.5, None, Strictness::Strict).map(|_| ()).unwrap_err()
        };
        let illegal = strict("(;SZ[9];B[aa];W[aa])");
        assert_eq!(illegal.to_string(), "move 2, White A9: occupied (at byte 16)");
        assert_eq!(strict("(;SZ[9];B[zz])").kind, SgfErrorKind::BadPoint("zz".into()));
        assert_eq!(strict("(;SZ[9]AB[zz])").offset, 10);
        let tolerant = record("(;SZ[9];B[aa];W[aa];B[bb])");
        let replay = tolerant.replay(Rules::default(), 7.5, None, Strictness::Tolerant).unwrap();
        assert_eq!((replay.game.records().len(), replay.warnings.len()), (1, 1));
    }

    #[test]
    fn up_to_a_move() {
        let text = "(;SZ[9]AB[ee];AW[ff];W[aa];B[bb];AE[ee];W[cc])";
        let at = |number| record(text).game(Rules::default(), 7.5, number).unwrap();
        for (number, to_move, stones) in [
            (Some(0), Color::White, 2),
            (Some(1), Color::White, 2),
            (Some(2), Color::Black, 3),
            (Some(3), Color::White, 3),
            (Some(4), Color::Black, 4),
            (Some(99), Color::Black, 4),
            (None, Color::Black, 4),
        ] {
            let game = at(number);
            assert_eq!((game.to_move(), game.board().stone_count()), (to_move, stones), "{number:?}");
        }
    }

    #[test]
    fn set_up() {
        let drawing = |text: &str| replayed(text).board().to_string();
        assert_eq!(drawing("(;SZ[3]AB[aa:cb]AE[bb]AW[bc])"), "X X X\nX . X\n. O .\n");
        assert_eq!(drawing("(;SZ[3]AB[cb:aa])"), "X X X\nX X X\n. . .\n", "corners in any order");
        assert_eq!(drawing("(;SZ[3]AB[aa]AW[aa])"), "O . .\n. . .\n. . .\n");
        // Nothing is captured by set-up; stones without liberties are left out.
        assert_eq!(drawing("(;SZ[3]AB[aa]AW[ab][ba])"), ". O .\nO . .\n. . .\n");
        assert_eq!(drawing("(;SZ[2]AB[aa:bb])"), ". .\n. .\n");
        let game = replayed("(;SZ[3];B[ab];W[aa];B[ba];AW[cc];PL[W])");
        assert_eq!(game.board().prisoners(Color::White), 1, "prisoners are kept");
        assert_eq!(game.to_move(), Color::White);
    }

    #[test]
    fn handicap() {
        let chinese = Rules { handicap_bonus: HandicapBonus::Full, ..Rules::default() };
        let game = |text: &str| record(text).game(chinese, 0.5, None).unwrap();
        let with_stones = game("(;SZ[9]HA[2]AB[cc][gg];W[ee])");
        assert_eq!((with_stones.handicap(), with_stones.white_bonus()), (2, 2.0));
        let fixed = game("(;SZ[9]HA[3];W[ee])");
        assert_eq!((fixed.handicap(), fixed.board().stone_count()), (3, 4));
        assert_eq!(game("(;SZ[9]HA[3])").to_move(), Color::White);
        assert_eq!(game("(;SZ[9]HA[3];B[ee])").handicap(), 0, "free placement as moves");
        assert_eq!(game("(;SZ[9]HA[0];B[ee])").handicap(), 0);
        assert_eq!(game("(;SZ[5]HA[4];W[ee])").handicap(), 0, "no fixed points on 5x5");
        let more = game("(;SZ[9]HA[2]AB[cc][gg][ee])");
        assert_eq!((more.board().stone_count(), more.to_move()), (3, Color::White));
    }

    /// Reads every record below `../shared/gnugo-suites`, if it is there.
    #[test]
    #[allow(clippy::print_stderr)]
    fn every_record_of_the_suites_is_read() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/gnugo-suites");
        if !root.is_dir() {
            eprintln!("skipped: there is no {}", root.display());
            return;
        }
        let mut folders = vec![root];
        let (mut files, mut whole) = (0, 0);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "sgf") {
                    let record = Record::parse(&std::fs::read(&path).unwrap())
                        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                    let replay = record.replay(Rules::default(), 5.5, None, Strictness::Tolerant).unwrap();
                    replay.game.board().check_consistency();
                    files += 1;
                    if replay.warnings.is_empty() {
                        whole += 1;
                    } else {
                        eprintln!("{}: {}", path.display(), replay.warnings[0]);
                    }
                }
            }
        }
        eprintln!("{files} records, {whole} without a warning");
        assert_eq!(whole, files, "records read without a warning");
    }

    /// A game of random legal moves, with passes and moves of the same colour in a row.
    fn random_game(seed: u64) -> Game {
        let mut rng = Rng::new(seed);
        let size = BoardSize::new(1 + rng.below(25) as usize, 1 + rng.below(25) as usize).unwrap();
        let rules = crate::rules::PRESETS[rng.below(crate::rules::PRESETS.len() as u32) as usize].rules;
        let mut game = Game::new(size, rules, rng.below(40) as f32 / 2.0 - 5.0);
        if let Some(points) = fixed_handicap(size, rng.below(10) as usize) {
            game = game.with_handicap(&points).unwrap();
        }
        for _ in 0..rng.below(120) {
            if rng.chance(50) {
                game.set_to_move(game.to_move().opponent());
            }
            let points: Vec<Point> = size.points().collect();
            let point = points[rng.below(points.len() as u32) as usize];
            let mv = if rng.chance(50) { Move::Pass } else { Move::Play(point) };
            let _ = game.play(game.to_move(), mv);
        }
        game
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn what_is_written_is_read_back(seed in any::<u64>(), text in "\\PC{0,20}") {
            let game = random_game(seed);
            let name = text.trim().to_owned();
            let meta = Meta { black: Some(name.clone()), comment: Some("]\\[:".into()), ..Meta::default() };
            let written = write(&game, &meta);
            let record = Record::parse(written.as_bytes()).unwrap();
            prop_assert_eq!(&record.warnings, &[]);
            let collapsed: String = name.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
            prop_assert_eq!(record.black.clone().unwrap_or_default(), collapsed);
            prop_assert_eq!(record.nodes[0].comment.as_deref(), Some("]\\[:"));
            prop_assert_eq!(record.known_rules().map(|preset| preset.rules), Some(game.rules()));
            let read = record.replay(game.rules(), 0.0, None, Strictness::Strict).unwrap().game;
            prop_assert_eq!(read.board().key(), game.board().key());
            prop_assert_eq!(read.board().to_string(), game.board().to_string());
            prop_assert_eq!(read.komi(), game.komi());
            prop_assert_eq!(read.handicap(), game.handicap());
            prop_assert_eq!(read.to_move(), game.to_move());
            prop_assert_eq!(moves(&read), moves(&game));
            let lost = |game: &Game| Color::BOTH.map(|color| game.board().prisoners(color));
            prop_assert_eq!(lost(&read), lost(&game));
        }

        #[test]
        fn a_written_position_is_read_back(seed in any::<u64>()) {
            let played = random_game(seed);
            // Files do not say where simple ko forbids a move.
            let board = Board::from_stones(played.size(), played.board().stones()).unwrap();
            let game = Game::from_board(board, played.to_move(), played.rules(), 0.5);
            let read = Record::parse(write(&game, &Meta::default()).as_bytes()).unwrap();
            let read = read.game(game.rules(), 0.0, None).unwrap();
            prop_assert_eq!(read.board().key(), game.board().key());
            prop_assert_eq!(read.graph_key(), game.graph_key());
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Record::parse(&bytes).map(|record| record.game(Rules::default(), 7.5, None));
        }

        #[test]
        fn nothing_like_a_record_panics(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "(", ")", ";", "[", "]", "\\", "B", "W", "AB", "AW", "AE", "PL", "SZ", "HA", "KM", "CA", "C",
                    "[aa]", "[bb]", "[tt]", "[aa:cc]", "[]", "[3]", "[2:4]", "[B]", "(;", ";B[ab]", ";W[ba]",
                    "\r\n", "CA[GBK]", "\u{30bd}",
                ]),
                0..80,
            ),
            up_to in prop::option::of(0usize..9),
        ) {
            if let Ok(record) = Record::parse(parts.concat().as_bytes()) {
                let game = record.game(Rules::default(), 7.5, up_to).unwrap();
                game.board().check_consistency();
                let _ = record.replay(Rules::default(), 7.5, up_to, Strictness::Strict);
                let again = Record::parse(write(&game, &Meta::default()).as_bytes()).unwrap();
                let again = again.game(Rules::default(), 7.5, None).unwrap();
                prop_assert_eq!(again.board().key(), game.board().key());
            }
        }
    }
}
