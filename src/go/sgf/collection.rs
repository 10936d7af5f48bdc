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
//! **Character sets** in which half a character may be a bracket or a backslash: a record is followed in one way
//! until it holds something that is neither ASCII nor UTF-8. From there on it is followed in every layout that there is
//! (see `charset.rs`). Where it ends in all of them at the same byte, it ends there. Where it ends in some
//! only, its text up to there decides whether it is in one of these.
//!
//! [`Splitter`] does no reading itself: whoever reads pushes the bytes in, in pieces of any length.

use super::charset::{self, Layout};
use super::lexer::MAX_OPENING;

/// A record longer than this is no game: 16 MiB. The largest annotated games have a few hundred kilobytes.
pub const RECORD_LIMIT: usize = 16 << 20;

/// The longest beginning of a line that is compared with that of a game.
const MAX_RESTART: usize = 256;

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

/// Where the text of ISO-2022-JP stands: its escape sequences change what bytes mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Shift {
    /// Bytes are ASCII.
    #[default]
    Ascii,
    /// Behind the escape character.
    Escape,
    /// Behind it and a `(` or `$`.
    Sequence(u8),
    /// Bytes are halves of characters.
    Double,
}

/// Follows the structure of a stream in one layout, byte by byte.
#[derive(Clone, Copy, Debug)]
struct Scan {
    layout: Layout,
    mode: Mode,
    shift: Shift,
    /// Bytes behind the `(` of an opening.
    opening: usize,
    /// Open parentheses.
    depth: usize,
}

impl Default for Scan {
    fn default() -> Scan {
        Scan::new(Layout::Plain)
    }
}

impl Scan {
    fn new(layout: Layout) -> Scan {
        Scan { layout, mode: Mode::Between, shift: Shift::Ascii, opening: 0, depth: 0 }
    }

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
        if self.layout == Layout::Iso2022Jp && self.shifts(byte) {
            return Signal::Nothing;
        }
        match self.mode {
            Mode::Tree => return self.in_tree(byte),
            Mode::Value => self.in_value(byte),
            Mode::Escaped => {
                self.mode = if self.layout.is_lead(byte) { Mode::Trail } else { Mode::Value };
            }
            Mode::Trail => {
                self.mode = Mode::Value;
                // No second half: that of a character which was cut off.
                if byte < b'0' {
                    self.in_value(byte);
                }
            }
            Mode::Between if byte == b'(' => {
                *self = Scan { mode: Mode::Opening, ..Scan::default() };
                return Signal::Opened;
            }
            Mode::Between => {}
            Mode::Opening | Mode::OpeningName | Mode::OpeningNameBlank => return self.in_opening(byte),
        }
        Signal::Nothing
    }

    /// Does the byte belong to an escape sequence, or to a character of two bytes? Escape sequences stand in values.
    fn shifts(&mut self, byte: u8) -> bool {
        let (shift, belongs) = match (self.shift, byte) {
            (_, 0x1b) => (Shift::Escape, true),
            (Shift::Escape, b'(' | b'$') => (Shift::Sequence(byte), true),
            (Shift::Sequence(b'$'), b'B' | b'@') => (Shift::Double, true),
            (Shift::Sequence(b'('), b'B' | b'J' | b'I') => (Shift::Ascii, true),
            // A line ends every shift.
            (Shift::Double, b'\n' | b'\r') => (Shift::Ascii, false),
            (Shift::Double, _) => (Shift::Double, true),
            _ => (Shift::Ascii, false),
        };
        self.shift = shift;
        belongs
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
                    return Signal::Nothing;
                }
                (Mode::OpeningName, _) if byte.is_ascii_alphanumeric() => return Signal::Nothing,
                _ => {}
            }
        }
        self.mode = Mode::Between;
        if byte == b'(' { self.step(byte) } else { Signal::Dropped }
    }

    fn begin(&mut self, mode: Mode) {
        self.mode = mode;
        self.depth = 1;
    }

    fn in_tree(&mut self, byte: u8) -> Signal {
        match byte {
            b'[' => self.mode = Mode::Value,
            b'(' => self.depth += 1,
            b')' => {
                self.depth -= 1;
                if self.depth == 0 {
                    self.mode = Mode::Between;
                    return Signal::Closed;
                }
            }
            _ => {}
        }
        Signal::Nothing
    }

    fn in_value(&mut self, byte: u8) {
        match byte {
            b']' => self.mode = Mode::Tree,
            b'\\' => self.mode = Mode::Escaped,
            _ if self.layout.is_lead(byte) => self.mode = Mode::Trail,
            _ => {}
        }
    }
}

/// Sees whether a stream is UTF-8, byte by byte.
#[derive(Clone, Copy, Debug, Default)]
struct Utf8Watch {
    /// Bytes that are to follow in this character.
    open: u8,
    /// What the next of them may be, if that is not every one.
    next: Option<(u8, u8)>,
}

impl Utf8Watch {
    /// Takes a byte; false if it cannot stand here.
    fn step(&mut self, byte: u8) -> bool {
        if self.open > 0 {
            let (least, most) = self.next.take().unwrap_or((0x80, 0xbf));
            self.open -= 1;
            return (least..=most).contains(&byte);
        }
        (self.open, self.next) = match byte {
            0..=0x7f => (0, None),
            0xc2..=0xdf => (1, None),
            0xe0 => (2, Some((0xa0, 0xbf))),
            0xed => (2, Some((0x80, 0x9f))),
            0xe1..=0xef => (2, None),
            0xf0 => (3, Some((0x90, 0xbf))),
            0xf1..=0xf3 => (3, None),
            0xf4 => (3, Some((0x80, 0x8f))),
            _ => return false,
        };
        true
    }
}

/// How the open record is followed.
#[derive(Clone, Debug, Default)]
struct Scans {
    /// In the layout that is taken for the right one.
    main: Scan,
    /// In other layouts, once it matters.
    others: Vec<Scan>,
    watch: Utf8Watch,
    /// The character that has begun, and the scan in front of it.
    character: ([u8; 4], usize),
    before: Scan,
    /// Is there something in the record that is neither ASCII nor UTF-8?
    is_mixed: bool,
}

impl Scans {
    /// The scans of a new record.
    fn begin(&mut self) {
        *self = Scans { main: self.main, ..Scans::default() };
    }

    /// Sees a byte of a game before the scans do. Once it is the first that fits neither ASCII nor UTF-8, all layouts are
    /// followed from the character on that it belongs to.
    fn look(&mut self, byte: u8) {
        if self.watch.open == 0 {
            if byte.is_ascii() {
                if byte == 0x1b && !self.is_mixed && self.others.is_empty() {
                    self.others.push(Scan { layout: Layout::Iso2022Jp, ..self.main });
                }
                return;
            }
            (self.before, self.character) = (self.main, ([0; 4], 0));
        }
        if self.is_mixed {
            return;
        }
        if self.watch.step(byte) {
            let (bytes, count) = &mut self.character;
            if let Some(slot) = bytes.get_mut(*count) {
                *slot = byte;
                *count += 1;
            }
            return;
        }
        self.is_mixed = true;
        self.watch = Utf8Watch::default();
        let (bytes, count) = self.character;
        for layout in [Layout::ShiftJis, Layout::Chinese] {
            let mut scan = Scan { layout, ..self.before };
            for &byte in bytes.iter().take(count) {
                scan.step(byte);
            }
            self.others.push(scan);
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
    scans: Scans,
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
            scans: Scans::default(),
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
            if self.scans.main.is_in_game() {
                self.follow_restart(byte);
                if !byte.is_ascii() || byte == 0x1b || self.scans.watch.open > 0 {
                    self.scans.look(byte);
                }
            }
            let mut signal = self.scans.main.step(byte);
            if !self.scans.others.is_empty() {
                let behind = bytes.get(fresh..=at).unwrap_or_default();
                signal = self.agree(signal, byte, behind);
            }
            match signal {
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
        if self.scans.main.mode != Mode::Between {
            self.keep(bytes.get(fresh..).unwrap_or_default());
        }
    }

    /// What a byte means to the record where several layouts are followed. `behind` are the bytes of the record behind
    /// those in `self.record`.
    fn agree(&mut self, signal: Signal, byte: u8, behind: &[u8]) -> Signal {
        let is_main_closed = signal == Signal::Closed;
        let others = &mut self.scans.others;
        let mut closed = 0;
        for other in others.iter_mut() {
            closed += usize::from(other.step(byte) == Signal::Closed);
        }
        if !is_main_closed && closed == 0 {
            return signal;
        }
        if is_main_closed && closed == others.len() {
            return Signal::Closed;
        }
        let text = [&self.record, behind].concat();
        // Of a record that is too long there is nothing left to tell its character set.
        let layout = if self.too_long { Layout::Plain } else { charset::find(&text, false).layout() };
        let is_closed = |scan: &Scan| scan.mode == Mode::Between;
        let all = [self.scans.main].into_iter().chain(self.scans.others.iter().copied());
        let scans: Vec<Scan> = all.collect();
        if scans.iter().any(|scan| scan.layout == layout && is_closed(scan)) {
            self.scans.main.mode = Mode::Between;
            return Signal::Closed;
        }
        // Those in which it has ended were wrong.
        let mut open = scans.into_iter().filter(|scan| !is_closed(scan));
        if let Some(main) = open.next() {
            self.scans.main = main;
            self.scans.others = open.collect();
            return Signal::Nothing;
        }
        Signal::Closed
    }

    /// The stream has ended: a game that is still open ends too.
    pub fn finish(&mut self, out: &mut dyn FnMut(Piece<'_>)) {
        if self.scans.main.is_in_game() {
            let missing = self.scans.main.missing();
            self.emit(missing, out);
        }
        self.scans = Scans::default();
        self.record = Vec::new();
    }

    fn begin(&mut self, start: u64) {
        self.start = start;
        self.record.clear();
        self.too_long = false;
        self.restart = Restart::No;
        self.scans.begin();
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
                self.restart_missing = self.scans.main.missing();
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
        self.scans = Scans::default();
        self.begin(self.offset - next.len() as u64);
        for &byte in &next {
            // Nothing closes in a `(`, a `;`, a name and a value.
            self.scans.main.step(byte);
        }
        self.record.extend_from_slice(&next);
        self.restart_bytes = next;
    }

    fn emit(&mut self, missing: Missing, out: &mut dyn FnMut(Piece<'_>)) {
        let offset = self.start;
        if self.too_long || self.record.len() > self.limit {
            out(Piece::TooLong { offset });
        } else {
            let mut missing = missing;
            if !missing.is_none() && !self.scans.others.is_empty() {
                // In the layout that the whole record turns out to have.
                let mut scan = Scan::new(charset::find(&self.record, true).layout());
                self.record.iter().for_each(|&byte| {
                    scan.step(byte);
                });
                missing = scan.missing();
            }
            let bytes = if missing.bracket { &self.record } else { self.record.trim_ascii_end() };
            out(Piece::Record(RawRecord { offset, bytes, missing }));
        }
        self.record.clear();
        self.scans.others.clear();
    }
}

#[cfg(test)]
mod tests;
