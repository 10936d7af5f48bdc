//! Collections: a stream of bytes in, one game record after the other out, in memory that does not grow with the
//! collection.
//!
//! A game begins at a `(` with a `;` behind it, or with a property (old files forget the first `;`), and ends
//! with the `)` that closes it; brackets inside of values do not count. Whatever stands between games is passed
//! over: mail headers, stray brackets, byte order marks, blank lines.
//!
//! **A game that is never closed** would take the rest of the collection with it. It ends where a line begins
//! with `(;` and a property that only a first node has (`FF`, `GM`, `SZ`, `CA`, `AP`) with a short value, even
//! inside of a value: so a file that was cut off in the middle of a comment costs one game, not all that follow.
//! Inside of a comment such a line would need an unescaped `]`, which would have ended the comment.
//!
//! **Character sets** in which half a character may be a bracket or a backslash are followed once `CA` names
//! them.
//!
//! [`Splitter`] does no reading itself: whoever reads pushes the bytes in, in pieces of any length.

use super::lexer::MAX_OPENING;
use encoding_rs::{BIG5, Encoding, GB18030, GBK, SHIFT_JIS};

/// A record longer than this is no game: 16 MiB. The largest annotated games have a few hundred kilobytes.
pub const RECORD_LIMIT: usize = 16 << 20;

/// The longest beginning of a line that is compared with that of a game.
const MAX_RESTART: usize = 256;
/// The longest name of a character set.
const MAX_LABEL: usize = 40;

/// What a collection holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piece<'a> {
    /// A game record.
    Record(RawRecord<'a>),
    /// A record that begins at this byte is longer than the limit.
    TooLong {
        /// Byte of the stream, from 0.
        offset: u64,
    },
}

/// The bytes of a game record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawRecord<'a> {
    /// Byte of the stream at which the record begins, from 0.
    pub offset: u64,
    /// From `(` to `)`; if it is cut off between values, without blanks at its end.
    pub bytes: &'a [u8],
    /// What is missing at the end.
    pub missing: Missing,
}

/// What a record that was cut off lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Missing {
    /// A byte: the last one escapes the next, or is half a character.
    pub byte: bool,
    /// The `]` of its last value.
    pub bracket: bool,
    /// So many `)`.
    pub parentheses: usize,
}

impl Missing {
    /// Is nothing missing?
    pub fn is_none(self) -> bool {
        self == Missing::default()
    }

    /// What has to be written behind the record so that others can read what follows.
    pub fn text(self) -> String {
        let (byte, bracket) = (if self.byte { " " } else { "" }, if self.bracket { "]" } else { "" });
        format!("{byte}{bracket}{}", ")".repeat(self.parentheses))
    }
}

/// Which bytes begin a character of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DoubleByte {
    ShiftJis,
    /// Big5, GBK, GB 18030: everything from 0x81 on.
    Chinese,
}

impl DoubleByte {
    /// `None` for the sets in which brackets and backslashes are always themselves.
    fn of_label(label: &[u8]) -> Option<DoubleByte> {
        let encoding = Encoding::for_label(label)?;
        if encoding == SHIFT_JIS {
            Some(DoubleByte::ShiftJis)
        } else {
            [BIG5, GBK, GB18030].contains(&encoding).then_some(DoubleByte::Chinese)
        }
    }

    fn is_lead(self, byte: u8) -> bool {
        match self {
            DoubleByte::ShiftJis => matches!(byte, 0x81..=0x9f | 0xe0..=0xfc),
            DoubleByte::Chinese => matches!(byte, 0x81..=0xfe),
        }
    }
}

/// A property's name as the reader sees it: its capitals, of which two count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Name {
    capitals: [u8; 2],
    count: usize,
}

impl Name {
    fn push(&mut self, byte: u8) {
        if byte.is_ascii_uppercase() {
            if let Some(slot) = self.capitals.get_mut(self.count) {
                *slot = byte;
            }
            self.count = self.count.saturating_add(1);
        }
    }

    fn is(self, name: &[u8; 2]) -> bool {
        self.count == 2 && self.capitals == *name
    }

    /// Does only a game's first node have it?
    fn is_of_root(self) -> bool {
        [b"FF", b"GM", b"SZ", b"CA", b"AP"].into_iter().any(|name| self.is(name))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Mode {
    /// Between games.
    #[default]
    Between,
    /// Behind a `(` that may begin a game.
    Opening,
    /// Behind a `(` and the name of a property, which may begin a game too.
    OpeningName,
    /// Behind the same and a blank.
    OpeningNameBlank,
    /// In a game, outside of values.
    Tree,
    /// In a value.
    Value,
    /// In a value, behind a backslash.
    Escaped,
    /// In a value, at the second half of a character.
    Trail,
}

/// What a byte means for the game it is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Signal {
    Nothing,
    /// A game may begin with it.
    Opened,
    /// What seemed to begin is no game.
    Dropped,
    /// The game ends with it.
    Closed,
}

/// Follows the structure of a stream, byte by byte.
#[derive(Clone, Debug, Default)]
struct Scan {
    mode: Mode,
    /// Bytes behind the `(` of an opening.
    opening: usize,
    /// Open parentheses.
    depth: usize,
    /// Is the first node of the game still going on?
    in_root: bool,
    name: Name,
    in_name: bool,
    /// The value of `CA` so far.
    label: Vec<u8>,
    double_byte: Option<DoubleByte>,
}

impl Scan {
    fn is_in_game(&self) -> bool {
        matches!(self.mode, Mode::Tree | Mode::Value | Mode::Escaped | Mode::Trail)
    }

    /// What would have to follow now to close the game.
    fn missing(&self) -> Missing {
        Missing {
            byte: matches!(self.mode, Mode::Escaped | Mode::Trail),
            bracket: self.is_in_game() && self.mode != Mode::Tree,
            parentheses: self.depth,
        }
    }

    fn step(&mut self, byte: u8) -> Signal {
        match self.mode {
            Mode::Tree => return self.in_tree(byte),
            Mode::Value => self.in_value(byte),
            Mode::Escaped => {
                let is_lead = self.double_byte.is_some_and(|set| set.is_lead(byte));
                self.mode = if is_lead { Mode::Trail } else { Mode::Value };
            }
            Mode::Trail => self.mode = Mode::Value,
            Mode::Between if byte == b'(' => {
                *self = Scan { mode: Mode::Opening, ..Scan::default() };
                return Signal::Opened;
            }
            Mode::Between => {}
            Mode::Opening | Mode::OpeningName | Mode::OpeningNameBlank => return self.in_opening(byte),
        }
        Signal::Nothing
    }

    /// The same decision as that of [`opens_game`](super::lexer::opens_game).
    fn in_opening(&mut self, byte: u8) -> Signal {
        self.opening += 1;
        let blank = byte.is_ascii_whitespace();
        if self.opening <= MAX_OPENING {
            match (self.mode, byte) {
                (Mode::Opening | Mode::OpeningNameBlank, _) if blank => return Signal::Nothing,
                (Mode::OpeningName, _) if blank => {
                    self.mode = Mode::OpeningNameBlank;
                    return Signal::Nothing;
                }
                (Mode::Opening, b';') => {
                    self.begin(Mode::Tree);
                    return Signal::Nothing;
                }
                (Mode::OpeningName | Mode::OpeningNameBlank, b'[') => {
                    self.begin(Mode::Value);
                    return Signal::Nothing;
                }
                (Mode::Opening, b'A'..=b'Z') => {
                    self.mode = Mode::OpeningName;
                    self.name.push(byte);
                    return Signal::Nothing;
                }
                (Mode::OpeningName, _) if byte.is_ascii_alphanumeric() => {
                    self.name.push(byte);
                    return Signal::Nothing;
                }
                _ => {}
            }
        }
        self.mode = Mode::Between;
        if byte == b'(' { self.step(byte) } else { Signal::Dropped }
    }

    fn begin(&mut self, mode: Mode) {
        self.mode = mode;
        self.depth = 1;
        self.in_root = true;
    }

    fn in_tree(&mut self, byte: u8) -> Signal {
        match byte {
            b'[' => self.mode = Mode::Value,
            b'(' => {
                self.depth += 1;
                self.in_root = false;
            }
            b')' => {
                self.depth -= 1;
                self.in_root = false;
                if self.depth == 0 {
                    self.mode = Mode::Between;
                    return Signal::Closed;
                }
            }
            b';' => self.in_root = false,
            _ if self.in_root => self.in_root_names(byte),
            _ => {}
        }
        Signal::Nothing
    }

    fn in_root_names(&mut self, byte: u8) {
        if byte.is_ascii_alphabetic() && !self.in_name {
            self.in_name = true;
            self.name = Name::default();
        }
        self.in_name &= byte.is_ascii_alphanumeric();
        if self.in_name {
            self.name.push(byte);
        }
    }

    fn in_value(&mut self, byte: u8) {
        match byte {
            b']' => {
                self.mode = Mode::Tree;
                self.in_name = false;
                if self.in_root && self.name.is(b"CA") {
                    self.double_byte = DoubleByte::of_label(&self.label);
                    self.label.clear();
                }
            }
            b'\\' => self.mode = Mode::Escaped,
            _ if self.double_byte.is_some_and(|set| set.is_lead(byte)) => self.mode = Mode::Trail,
            _ if self.in_root && self.name.is(b"CA") && self.label.len() < MAX_LABEL => self.label.push(byte),
            _ => {}
        }
    }
}

/// How far the beginning of a line agrees with that of a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Restart {
    /// Not at all.
    No,
    /// There are blanks only.
    Line,
    Parenthesis,
    Semicolon,
    Name(Name),
    NameBlank,
    Value,
    /// It does agree.
    Yes,
}

impl Restart {
    fn next(self, byte: u8) -> Restart {
        let next = match (self, byte) {
            (Restart::Line, b'(') => Restart::Parenthesis,
            (Restart::Parenthesis, b';') => Restart::Semicolon,
            (Restart::Semicolon, _) if byte.is_ascii_alphabetic() => {
                let mut name = Name::default();
                name.push(byte);
                Restart::Name(name)
            }
            (Restart::Name(mut name), _) if byte.is_ascii_alphanumeric() => {
                name.push(byte);
                Restart::Name(name)
            }
            (Restart::Name(name), b'[') if name.is_of_root() => Restart::Value,
            (Restart::Name(name), b' ' | b'\t') if name.is_of_root() => Restart::NameBlank,
            (Restart::NameBlank, b'[') => Restart::Value,
            (Restart::Value, b']') => Restart::Yes,
            (Restart::Value, b'[' | b'\\' | b'\n' | b'\r') => Restart::No,
            (Restart::Value, _) => Restart::Value,
            (
                Restart::Line | Restart::Parenthesis | Restart::Semicolon | Restart::NameBlank,
                b' ' | b'\t',
            ) => self,
            _ => Restart::No,
        };
        if next == Restart::No && matches!(byte, b'\n' | b'\r') { Restart::Line } else { next }
    }
}

/// Splits a stream of bytes into game records; see the [module documentation](self).
///
/// It holds no more than the limit of a record and a little.
#[derive(Debug)]
pub struct Splitter {
    limit: usize,
    scan: Scan,
    /// Number of bytes pushed.
    offset: u64,
    /// Where the open record begins.
    start: u64,
    /// Its bytes from earlier pushes; none if it is too long.
    record: Vec<u8>,
    too_long: bool,
    restart: Restart,
    /// The bytes that agree with the beginning of a game, from the `(` on.
    restart_bytes: Vec<u8>,
    /// What the open record lacked in front of them.
    restart_missing: Missing,
}

impl Splitter {
    /// Records longer than `limit` bytes are left out.
    pub fn new(limit: usize) -> Splitter {
        Splitter {
            limit,
            scan: Scan::default(),
            offset: 0,
            start: 0,
            record: Vec::new(),
            too_long: false,
            restart: Restart::No,
            restart_bytes: Vec::new(),
            restart_missing: Missing::default(),
        }
    }

    /// Number of bytes pushed.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next bytes of the stream. Every piece that ends in them is handed to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut dyn FnMut(Piece<'_>)) {
        // Where those bytes of the open record begin that are not in `self.record`.
        let mut fresh = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            if self.scan.is_in_game() {
                self.follow_restart(byte);
            }
            match self.scan.step(byte) {
                Signal::Nothing => {}
                Signal::Opened => {
                    fresh = at;
                    self.begin(self.offset);
                }
                Signal::Dropped => self.record.clear(),
                Signal::Closed => {
                    self.keep(bytes.get(fresh..=at).unwrap_or_default());
                    self.emit(Missing::default(), out);
                }
            }
            self.offset += 1;
            if self.restart == Restart::Yes {
                self.keep(bytes.get(fresh..=at).unwrap_or_default());
                self.split(out);
                fresh = at + 1;
            }
        }
        if self.scan.mode != Mode::Between {
            self.keep(bytes.get(fresh..).unwrap_or_default());
        }
    }

    /// The stream has ended: a game that is still open ends too.
    pub fn finish(&mut self, out: &mut dyn FnMut(Piece<'_>)) {
        if self.scan.is_in_game() {
            self.emit(self.scan.missing(), out);
        }
        self.scan = Scan::default();
        self.record = Vec::new();
    }

    fn begin(&mut self, start: u64) {
        self.start = start;
        self.record.clear();
        self.too_long = false;
        self.restart = Restart::No;
    }

    fn follow_restart(&mut self, byte: u8) {
        let before = self.restart;
        if before == Restart::No && byte != b'\n' && byte != b'\r' {
            return;
        }
        self.restart = before.next(byte);
        match self.restart {
            Restart::No | Restart::Line => return,
            Restart::Parenthesis if before == Restart::Line => {
                self.restart_bytes.clear();
                self.restart_missing = self.scan.missing();
            }
            _ => {}
        }
        self.restart_bytes.push(byte);
        if self.restart_bytes.len() > MAX_RESTART {
            self.restart = Restart::No;
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        // The beginning of the next game may be among them: see `split`.
        if self.too_long || self.record.len() + bytes.len() > self.limit + MAX_RESTART {
            self.too_long = true;
            self.record = Vec::new();
        } else {
            self.record.extend_from_slice(bytes);
        }
    }

    /// Ends the open record in front of the bytes that begin a game.
    fn split(&mut self, out: &mut dyn FnMut(Piece<'_>)) {
        let next = std::mem::take(&mut self.restart_bytes);
        self.record.truncate(self.record.len().saturating_sub(next.len()));
        self.emit(self.restart_missing, out);
        self.begin(self.offset - next.len() as u64);
        self.scan = Scan::default();
        for &byte in &next {
            // Nothing closes in a `(`, a `;`, a name and a value.
            self.scan.step(byte);
        }
        self.record.extend_from_slice(&next);
        self.restart_bytes = next;
    }

    fn emit(&mut self, missing: Missing, out: &mut dyn FnMut(Piece<'_>)) {
        let offset = self.start;
        if self.too_long || self.record.len() > self.limit {
            out(Piece::TooLong { offset });
        } else {
            let bytes = if missing.bracket { &self.record } else { self.record.trim_ascii_end() };
            out(Piece::Record(RawRecord { offset, bytes, missing }));
        }
        self.record.clear();
    }
}

#[cfg(test)]
mod tests;
