//! Splitting of collections: a stream of bytes is split into game records, in memory that does not grow with the
//! collection.
//!
//! A game begins at a `(` followed by a `;` or a property (old files omit the first `;`), and ends with the `)` that
//! closes it. Brackets inside values do not count. Text between games is skipped: mail headers, stray brackets, byte
//! order marks, blank lines.
//!
//! **A game that is never closed** would swallow the rest of the collection. It therefore ends where a line begins with
//! `(;` and a property that only a root has (`FF`, `GM`, `SZ`, `CA`, `AP`) with a short value, even inside a value. A
//! file that was cut off in the middle of a comment thus costs one game and not all that follow. A comment that
//! contains such a line would need an unescaped `]`, which would have ended the comment.
//!
//! **Character sets** in which half of a character may be a bracket or a backslash: a record is scanned in one layout
//! until it contains bytes that are neither ASCII nor UTF-8. From there on it is scanned in all layouts (see
//! `charset.rs`). If it ends at the same byte in all of them, it ends there. If it ends only in some of them, its text
//! up to that byte decides whether it is in one of these.
//!
//! [`Splitter`] does not read: its caller pushes the bytes, in pieces of any length.

use super::charset::{self, Layout};
use super::lexer::MAX_OPENING;

/// Maximum length of a record, in bytes: 16 MiB. The largest annotated games have a few hundred kilobytes.
pub const RECORD_LIMIT: usize = 16 << 20;

/// Maximum length of the beginning of a line that is compared with the beginning of a game, in bytes.
const MAX_RESTART: usize = 256;

/// A piece of a collection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CollectionPiece<'a> {
    /// A game record.
    Record(RawRecord<'a>),
    /// The record that begins at this offset exceeds the limit.
    TooLong {
        /// Byte offset in the stream, from 0.
        offset: u64,
    },
}

/// The bytes of a game record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawRecord<'a> {
    /// Byte offset of the record in the stream, from 0.
    pub offset: u64,
    /// Bytes from `(` to `)`. If the record is cut off between values, blanks at its end are removed.
    pub bytes: &'a [u8],
    /// Syntax that is missing at the end.
    pub missing: MissingSyntax,
}

/// Syntax that is missing at the end of a record that was cut off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct MissingSyntax {
    /// Whether a byte is missing, because the last one escapes the next or is half of a character.
    pub byte: bool,
    /// Whether the `]` of the last value is missing.
    pub bracket: bool,
    /// Number of missing `)`.
    pub parentheses: usize,
}

impl MissingSyntax {
    /// Returns whether nothing is missing.
    pub fn is_none(self) -> bool {
        self == MissingSyntax::default()
    }

    /// Returns the text that must be written after the record, so that other programs can read what follows.
    pub fn text(self) -> String {
        let (byte, bracket) = (if self.byte { " " } else { "" }, if self.bracket { "]" } else { "" });
        format!("{byte}{bracket}{}", ")".repeat(self.parentheses))
    }
}

/// Name of a property as the reader interprets it: its capitals, of which two count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct PropertyName {
    capitals: [u8; 2],
    count: usize,
}

impl PropertyName {
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

    /// Returns whether only the root of a game has this property.
    fn is_of_root(self) -> bool {
        [b"FF", b"GM", b"SZ", b"CA", b"AP"].into_iter().any(|name| self.is(name))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Mode {
    /// Between games.
    #[default]
    Between,
    /// After a `(` that may begin a game.
    Opening,
    /// After a `(` and the name of a property, which may also begin a game.
    OpeningName,
    /// After a `(`, the name of a property and a blank.
    OpeningNameBlank,
    /// In a game, outside values.
    Tree,
    /// In a value.
    Value,
    /// In a value, after a backslash.
    Escaped,
    /// In a value, before the second half of a character.
    Trail,
}

/// Effect of a byte on the current game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ScanEvent {
    Nothing,
    /// A game may begin with the byte.
    Opened,
    /// The possible beginning turned out not to be a game.
    Dropped,
    /// The game ends with the byte.
    Closed,
}

/// State of ISO-2022-JP text, whose escape sequences change the meaning of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Shift {
    /// Bytes are ASCII.
    #[default]
    Ascii,
    /// After the escape character.
    Escape,
    /// After the escape character and a `(` or `$`.
    Sequence(u8),
    /// Each byte is half of a character.
    Double,
}

/// Scanner of the structure of a stream in one layout, byte by byte.
#[derive(Clone, Copy, Debug)]
struct LayoutScanner {
    layout: Layout,
    mode: Mode,
    shift: Shift,
    /// Number of bytes after the `(` of a possible beginning.
    opening: usize,
    /// Number of open parentheses.
    depth: usize,
}

impl Default for LayoutScanner {
    fn default() -> LayoutScanner {
        LayoutScanner::new(Layout::Plain)
    }
}

impl LayoutScanner {
    fn new(layout: Layout) -> LayoutScanner {
        LayoutScanner { layout, mode: Mode::Between, shift: Shift::Ascii, opening: 0, depth: 0 }
    }

    fn is_in_game(&self) -> bool {
        matches!(self.mode, Mode::Tree | Mode::Value | Mode::Escaped | Mode::Trail)
    }

    /// Returns the syntax that would close the game at this byte.
    fn missing(&self) -> MissingSyntax {
        MissingSyntax {
            byte: matches!(self.mode, Mode::Escaped | Mode::Trail),
            bracket: self.is_in_game() && self.mode != Mode::Tree,
            parentheses: self.depth,
        }
    }

    fn step(&mut self, byte: u8) -> ScanEvent {
        if self.layout == Layout::Iso2022Jp && self.shifts(byte) {
            return ScanEvent::Nothing;
        }
        match self.mode {
            Mode::Tree => return self.in_tree(byte),
            Mode::Value => self.in_value(byte),
            Mode::Escaped => {
                self.mode = if self.layout.is_lead(byte) { Mode::Trail } else { Mode::Value };
            }
            Mode::Trail => {
                self.mode = Mode::Value;
                // The byte is not a second half: the character was cut off.
                if byte < b'0' {
                    self.in_value(byte);
                }
            }
            Mode::Between if byte == b'(' => {
                *self = LayoutScanner { mode: Mode::Opening, ..LayoutScanner::default() };
                return ScanEvent::Opened;
            }
            Mode::Between => {}
            Mode::Opening | Mode::OpeningName | Mode::OpeningNameBlank => return self.in_opening(byte),
        }
        ScanEvent::Nothing
    }

    /// Returns whether the byte belongs to an escape sequence or to a two-byte character. Escape sequences occur in
    /// values.
    fn shifts(&mut self, byte: u8) -> bool {
        let (shift, belongs) = match (self.shift, byte) {
            (_, 0x1b) => (Shift::Escape, true),
            (Shift::Escape, b'(' | b'$') => (Shift::Sequence(byte), true),
            (Shift::Sequence(b'$'), b'B' | b'@') => (Shift::Double, true),
            (Shift::Sequence(b'('), b'B' | b'J' | b'I') => (Shift::Ascii, true),
            // A line end resets the shift.
            (Shift::Double, b'\n' | b'\r') => (Shift::Ascii, false),
            (Shift::Double, _) => (Shift::Double, true),
            _ => (Shift::Ascii, false),
        };
        self.shift = shift;
        belongs
    }

    /// Decides whether a game begins, as [`opens_game`](super::lexer::opens_game) does.
    fn in_opening(&mut self, byte: u8) -> ScanEvent {
        self.opening += 1;
        let blank = byte.is_ascii_whitespace();
        if self.opening <= MAX_OPENING {
            match (self.mode, byte) {
                (Mode::Opening | Mode::OpeningNameBlank, _) if blank => return ScanEvent::Nothing,
                (Mode::OpeningName, _) if blank => {
                    self.mode = Mode::OpeningNameBlank;
                    return ScanEvent::Nothing;
                }
                (Mode::Opening, b';') => {
                    self.begin(Mode::Tree);
                    return ScanEvent::Nothing;
                }
                (Mode::OpeningName | Mode::OpeningNameBlank, b'[') => {
                    self.begin(Mode::Value);
                    return ScanEvent::Nothing;
                }
                (Mode::Opening, b'A'..=b'Z') => {
                    self.mode = Mode::OpeningName;
                    return ScanEvent::Nothing;
                }
                (Mode::OpeningName, _) if byte.is_ascii_alphanumeric() => return ScanEvent::Nothing,
                _ => {}
            }
        }
        self.mode = Mode::Between;
        if byte == b'(' { self.step(byte) } else { ScanEvent::Dropped }
    }

    fn begin(&mut self, mode: Mode) {
        self.mode = mode;
        self.depth = 1;
    }

    fn in_tree(&mut self, byte: u8) -> ScanEvent {
        match byte {
            b'[' => self.mode = Mode::Value,
            b'(' => self.depth += 1,
            b')' => {
                self.depth -= 1;
                if self.depth == 0 {
                    self.mode = Mode::Between;
                    return ScanEvent::Closed;
                }
            }
            _ => {}
        }
        ScanEvent::Nothing
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

/// Incremental check whether a stream is UTF-8.
#[derive(Clone, Copy, Debug, Default)]
struct Utf8Watch {
    /// Number of bytes that must follow in this character.
    open: u8,
    /// Range of the next byte, if it is smaller than that of any continuation byte.
    next: Option<(u8, u8)>,
}

impl Utf8Watch {
    /// Consumes a byte. Returns false if it is invalid here.
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

/// Scanners of the open record.
#[derive(Clone, Debug, Default)]
struct LayoutScanners {
    /// Scanner in the layout that is assumed.
    main: LayoutScanner,
    /// Scanners in other layouts, once these make a difference.
    others: Vec<LayoutScanner>,
    watch: Utf8Watch,
    /// Bytes of the current character, with their number. `before` is the state of the scanner before it.
    character: ([u8; 4], usize),
    before: LayoutScanner,
    /// Whether the record contains bytes that are neither ASCII nor UTF-8.
    is_mixed: bool,
}

impl LayoutScanners {
    /// Resets the scanners for a new record.
    fn begin(&mut self) {
        *self = LayoutScanners { main: self.main, ..LayoutScanners::default() };
    }

    /// Examines a byte of a game before the scanners do. From the character of the first byte that is neither ASCII nor
    /// UTF-8 on, all layouts are scanned.
    fn look(&mut self, byte: u8) {
        if self.watch.open == 0 {
            if byte.is_ascii() {
                if byte == 0x1b && !self.is_mixed && self.others.is_empty() {
                    self.others.push(LayoutScanner { layout: Layout::Iso2022Jp, ..self.main });
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
            let mut scan = LayoutScanner { layout, ..self.before };
            for &byte in bytes.iter().take(count) {
                scan.step(byte);
            }
            self.others.push(scan);
        }
    }
}

/// State of the comparison of a line's beginning with that of a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum GameStart {
    /// The line does not begin like a game.
    No,
    /// The line has only blanks so far.
    Line,
    Parenthesis,
    Semicolon,
    Name(PropertyName),
    NameBlank,
    Value,
    /// The line begins like a game.
    Yes,
}

impl GameStart {
    fn next(self, byte: u8) -> GameStart {
        let next = match (self, byte) {
            (GameStart::Line, b'(') => GameStart::Parenthesis,
            (GameStart::Parenthesis, b';') => GameStart::Semicolon,
            (GameStart::Semicolon, _) if byte.is_ascii_alphabetic() => {
                let mut name = PropertyName::default();
                name.push(byte);
                GameStart::Name(name)
            }
            (GameStart::Name(mut name), _) if byte.is_ascii_alphanumeric() => {
                name.push(byte);
                GameStart::Name(name)
            }
            (GameStart::Name(name), b'[') if name.is_of_root() => GameStart::Value,
            (GameStart::Name(name), b' ' | b'\t') if name.is_of_root() => GameStart::NameBlank,
            (GameStart::NameBlank, b'[') => GameStart::Value,
            (GameStart::Value, b']') => GameStart::Yes,
            (GameStart::Value, b'[' | b'\\' | b'\n' | b'\r') => GameStart::No,
            (GameStart::Value, _) => GameStart::Value,
            (
                GameStart::Line | GameStart::Parenthesis | GameStart::Semicolon | GameStart::NameBlank,
                b' ' | b'\t',
            ) => self,
            _ => GameStart::No,
        };
        if next == GameStart::No && matches!(byte, b'\n' | b'\r') { GameStart::Line } else { next }
    }
}

/// Splitter of a stream of bytes into game records. See the [module documentation](self).
///
/// It stores little more than one record of the maximum length.
#[derive(Debug)]
pub struct Splitter {
    limit: usize,
    scans: LayoutScanners,
    /// Number of bytes pushed.
    offset: u64,
    /// Byte offset in the stream at which the open record begins.
    start: u64,
    /// Bytes of the open record from earlier pushes. Empty if the record is too long.
    record: Vec<u8>,
    too_long: bool,
    restart: GameStart,
    /// Bytes of the line that agree with the beginning of a game, from the `(` on.
    restart_bytes: Vec<u8>,
    /// Syntax that would have closed the open record before these bytes.
    restart_missing: MissingSyntax,
}

impl Splitter {
    /// Creates a splitter that reports records longer than `limit` bytes without their bytes.
    pub fn new(limit: usize) -> Splitter {
        Splitter {
            limit,
            scans: LayoutScanners::default(),
            offset: 0,
            start: 0,
            record: Vec::new(),
            too_long: false,
            restart: GameStart::No,
            restart_bytes: Vec::new(),
            restart_missing: MissingSyntax::default(),
        }
    }

    /// Returns the number of bytes pushed.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Consumes the next bytes of the stream. Calls `out` with every piece that ends in them.
    pub fn push(&mut self, bytes: &[u8], out: &mut dyn FnMut(CollectionPiece<'_>)) {
        // Start of the bytes of the open record that are not in `self.record` yet.
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
                ScanEvent::Nothing => {}
                ScanEvent::Opened => {
                    fresh = at;
                    self.begin(self.offset);
                }
                ScanEvent::Dropped => self.record.clear(),
                ScanEvent::Closed => {
                    self.keep(bytes.get(fresh..=at).unwrap_or_default());
                    self.emit(MissingSyntax::default(), out);
                }
            }
            self.offset += 1;
            if self.restart == GameStart::Yes {
                self.keep(bytes.get(fresh..=at).unwrap_or_default());
                self.split(out);
                fresh = at + 1;
            }
        }
        if self.scans.main.mode != Mode::Between {
            self.keep(bytes.get(fresh..).unwrap_or_default());
        }
    }

    /// Determines the effect of a byte if several layouts are scanned. `behind` are the bytes of the record after those
    /// in `self.record`.
    fn agree(&mut self, signal: ScanEvent, byte: u8, behind: &[u8]) -> ScanEvent {
        let is_main_closed = signal == ScanEvent::Closed;
        let others = &mut self.scans.others;
        let mut closed = 0;
        for other in others.iter_mut() {
            closed += usize::from(other.step(byte) == ScanEvent::Closed);
        }
        if !is_main_closed && closed == 0 {
            return signal;
        }
        if is_main_closed && closed == others.len() {
            return ScanEvent::Closed;
        }
        let text = [&self.record, behind].concat();
        // The bytes of a record that is too long are not stored, so its character set cannot be determined.
        let layout = if self.too_long { Layout::Plain } else { charset::find(&text, false).layout() };
        let is_closed = |scan: &LayoutScanner| scan.mode == Mode::Between;
        let all = [self.scans.main].into_iter().chain(self.scans.others.iter().copied());
        let scans: Vec<LayoutScanner> = all.collect();
        if scans.iter().any(|scan| scan.layout == layout && is_closed(scan)) {
            self.scans.main.mode = Mode::Between;
            return ScanEvent::Closed;
        }
        // The layouts in which the record has ended are wrong.
        let mut open = scans.into_iter().filter(|scan| !is_closed(scan));
        if let Some(main) = open.next() {
            self.scans.main = main;
            self.scans.others = open.collect();
            return ScanEvent::Nothing;
        }
        ScanEvent::Closed
    }

    /// Ends the stream, and a game that is still open with it.
    pub fn finish(&mut self, out: &mut dyn FnMut(CollectionPiece<'_>)) {
        if self.scans.main.is_in_game() {
            let missing = self.scans.main.missing();
            self.emit(missing, out);
        }
        self.scans = LayoutScanners::default();
        self.record = Vec::new();
    }

    fn begin(&mut self, start: u64) {
        self.start = start;
        self.record.clear();
        self.too_long = false;
        self.restart = GameStart::No;
        self.scans.begin();
    }

    fn follow_restart(&mut self, byte: u8) {
        let before = self.restart;
        if before == GameStart::No && byte != b'\n' && byte != b'\r' {
            return;
        }
        self.restart = before.next(byte);
        match self.restart {
            GameStart::No | GameStart::Line => return,
            GameStart::Parenthesis if before == GameStart::Line => {
                self.restart_bytes.clear();
                self.restart_missing = self.scans.main.missing();
            }
            _ => {}
        }
        self.restart_bytes.push(byte);
        if self.restart_bytes.len() > MAX_RESTART {
            self.restart = GameStart::No;
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        // The bytes may include the beginning of the next game, see `split`.
        if self.too_long || self.record.len() + bytes.len() > self.limit + MAX_RESTART {
            self.too_long = true;
            self.record = Vec::new();
        } else {
            self.record.extend_from_slice(bytes);
        }
    }

    /// Ends the open record before the bytes that begin a game.
    fn split(&mut self, out: &mut dyn FnMut(CollectionPiece<'_>)) {
        let next = std::mem::take(&mut self.restart_bytes);
        self.record.truncate(self.record.len().saturating_sub(next.len()));
        self.emit(self.restart_missing, out);
        self.scans = LayoutScanners::default();
        self.begin(self.offset - next.len() as u64);
        for &byte in &next {
            // A `(`, a `;`, a name and a value cannot close a game.
            self.scans.main.step(byte);
        }
        self.record.extend_from_slice(&next);
        self.restart_bytes = next;
    }

    fn emit(&mut self, missing: MissingSyntax, out: &mut dyn FnMut(CollectionPiece<'_>)) {
        let offset = self.start;
        if self.too_long || self.record.len() > self.limit {
            out(CollectionPiece::TooLong { offset });
        } else {
            let mut missing = missing;
            if !missing.is_none() && !self.scans.others.is_empty() {
                // Computed anew in the layout of the whole record.
                let mut scan = LayoutScanner::new(charset::find(&self.record, true).layout());
                self.record.iter().for_each(|&byte| {
                    scan.step(byte);
                });
                missing = scan.missing();
            }
            let bytes = if missing.bracket { &self.record } else { self.record.trim_ascii_end() };
            out(CollectionPiece::Record(RawRecord { offset, bytes, missing }));
        }
        self.record.clear();
        self.scans.others.clear();
    }
}

#[cfg(test)]
mod tests;
