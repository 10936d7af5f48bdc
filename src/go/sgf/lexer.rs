//! Lexer: splits the text of a record into tokens. The text is UTF-8, see [`charset`](super::charset).

use encoding_rs::WINDOWS_1252;
use std::borrow::Cow;

/// Value of a property: the bytes between its brackets, including escapes.
#[derive(Clone, Copy)]
pub(super) struct Value<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) offset: usize,
    /// Whether the text ends before the closing bracket.
    pub(super) is_open: bool,
}

impl Value<'_> {
    /// If the value ends with a move, returns its `B` or `W` and its letters. The closing bracket of the value is then
    /// missing, and the value extends to the bracket of the move. (In a correct comment, the bracket of a move would
    /// have ended the comment.)
    pub(super) fn swallowed_move(&self) -> Option<(u8, &[u8])> {
        let at = self.bytes.iter().rposition(|&byte| byte == b'[')?;
        let (before, behind) = self.bytes.split_at(at);
        let letters = behind.get(1..)?;
        let [rest @ .., color @ (b'B' | b'W')] = before.trim_ascii_end() else { return None };
        let is_move = letters.len() <= 2 && letters.iter().all(u8::is_ascii_alphabetic);
        (is_move && rest.trim_ascii_end().ends_with(b";")).then_some((*color, letters))
    }
}

/// Token of a record.
pub(super) enum Token<'a> {
    Open,
    Close,
    Semicolon,
    /// Property name: the first two capitals, without small letters, and its byte offset.
    Name([u8; 2], usize),
    Value(Value<'a>),
}

/// Scanner that splits a text into tokens and skips everything else.
pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
    /// Byte offset of the first meaningless text outside values.
    pub(super) junk: Option<usize>,
}

impl<'a> Scanner<'a> {
    /// Creates a scanner for the game whose `(` is at `start`.
    pub(super) fn new(bytes: &'a [u8], start: usize) -> Scanner<'a> {
        Scanner { bytes, at: start + 1, junk: None }
    }

    pub(super) fn next(&mut self) -> Option<Token<'a>> {
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
                // Unescaped closing brackets in the preceding text are frequent.
                b']' | 0 => {}
                _ if byte.is_ascii_whitespace() || byte == 0x0b => {}
                _ => self.junk = self.junk.or(Some(start)),
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
            // The reader knows no property with three capitals.
            name = [0, 0];
        }
        if let Some(small @ (b"b" | b"w")) = rest.get(..length) {
            // A single small `b` or `w` can only be a move.
            name = [small[0].to_ascii_uppercase(), 0];
        }
        Token::Name(name, start)
    }

    /// Reads the value whose `[` has just been read. An unclosed value extends to the end of the text.
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
        let is_open = end >= self.bytes.len();
        let end = end.min(self.bytes.len());
        self.at = end + 1;
        Value { bytes: self.bytes.get(offset..end).unwrap_or_default(), offset, is_open }
    }
}

/// Returns the text of a value without escapes. Line ends become blanks, or single `\n` if `lines` is set.
pub(super) fn text(bytes: &[u8], lines: bool) -> String {
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
                Some(escaped) if escaped.is_whitespace() => out.push(' '),
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

/// Decodes bytes as UTF-8, or as windows-1252 if they are not valid UTF-8.
pub(super) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => WINDOWS_1252.decode_without_bom_handling(bytes).0,
    }
}

/// Number of bytes after a `(` that decide whether a game begins there.
pub(super) const MAX_OPENING: usize = 1024;

/// Returns whether a `(` followed by these bytes begins a game: a `;` or a property must follow.
pub(super) fn opens_game(behind: &[u8]) -> bool {
    let behind = behind.get(..MAX_OPENING).unwrap_or(behind).trim_ascii_start();
    let name = behind.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    match behind.first() {
        Some(b';') => true,
        Some(b'A'..=b'Z') => behind.get(name..).is_some_and(|rest| rest.trim_ascii_start().starts_with(b"[")),
        _ => false,
    }
}

/// Returns the offset of the first game.
pub(super) fn first_tree(bytes: &[u8]) -> Option<usize> {
    let opens =
        |&at: &usize| bytes.get(at) == Some(&b'(') && opens_game(bytes.get(at + 1..).unwrap_or_default());
    (0..bytes.len()).find(opens)
}

/// Counts faults in the first game: missing brackets, names without values, values without names, moves that are not
/// points. `is_whole` is false if the text continues.
pub(super) fn count_faults(bytes: &[u8], is_whole: bool) -> usize {
    let Some(start) = first_tree(bytes) else { return 1 };
    let mut scanner = Scanner::new(bytes, start);
    let (mut faults, mut depth) = (0, 1_usize);
    let mut name: Option<[u8; 2]> = None;
    // Whether the name has a value.
    let mut is_used = true;
    while let Some(token) = scanner.next() {
        match token {
            Token::Value(value) => {
                let is_move = matches!(name, Some([b'B' | b'W', 0]));
                let is_long = value.bytes.trim_ascii().len() > 2;
                faults += usize::from(name.is_none());
                faults += usize::from(value.is_open && is_whole);
                faults += usize::from(is_move && is_long || value.swallowed_move().is_some());
                is_used = true;
            }
            Token::Name(found, _) => {
                faults += usize::from(!is_used);
                (name, is_used) = (Some(found), false);
            }
            Token::Open | Token::Close | Token::Semicolon => {
                faults += usize::from(!is_used);
                (name, is_used) = (None, true);
                match token {
                    Token::Open => depth += 1,
                    Token::Close => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
            }
        }
    }
    faults + usize::from(scanner.junk.is_some()) + usize::from(depth > 0 && is_whole)
}
