//! Bytes to tokens: where the game begins, names, values, character sets.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use std::borrow::Cow;

/// A property's value: the bytes between its brackets, escapes included.
#[derive(Clone, Copy)]
pub(super) struct Value<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) offset: usize,
}

/// What stands in a file.
pub(super) enum Token<'a> {
    Open,
    Close,
    Semicolon,
    /// Name with small letters dropped, at most two letters of it; where it begins.
    Name([u8; 2], usize),
    Value(Value<'a>),
}

/// Splits a file into tokens, passing over whatever is none.
pub(super) struct Scanner<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Scanner<'a> {
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
pub(super) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => WINDOWS_1252.decode_without_bom_handling(bytes).0,
    }
}

/// The file in a form in which bytes below 128 are always characters of their own.
pub(super) fn normalised(bytes: &[u8]) -> Cow<'_, [u8]> {
    match conversion(bytes) {
        Some((encoding, start)) => converted(encoding, bytes.get(start..).unwrap_or_default()),
        None => Cow::Borrowed(bytes),
    }
}

/// The byte of a file that an offset into its text stands for. The two differ where the file has to be converted
/// to UTF-8 before it can be read, see the [module documentation](super).
pub fn source_offset(bytes: &[u8], offset: usize) -> usize {
    let Some((encoding, start)) = conversion(bytes) else { return offset };
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut converted = 0;
    let mut character = [0; 16];
    for (at, byte) in bytes.iter().enumerate().skip(start) {
        // One byte leads to no more than a few characters, so the output has room.
        let (_, _, written, _) = decoder.decode_to_utf8(std::slice::from_ref(byte), &mut character, false);
        converted += written;
        if converted > offset {
            return at;
        }
    }
    bytes.len()
}

/// The character set that the file has to be converted from, and where its text begins.
fn conversion(bytes: &[u8]) -> Option<(&'static Encoding, usize)> {
    match Encoding::for_bom(bytes) {
        // The mark is passed over like everything else in front of a game.
        Some((encoding, _)) if encoding == UTF_8 => return None,
        Some(found) => return Some(found),
        None => {}
    }
    let mut scanner = Scanner { bytes, at: 0 };
    let mut named = false;
    while let Some(token) = scanner.next() {
        match token {
            Token::Name(name, _) => named = name == *b"CA",
            Token::Value(value) if named => {
                let encoding = Encoding::for_label(value.bytes).unwrap_or(UTF_8);
                return (encoding != UTF_8 && encoding != WINDOWS_1252).then_some((encoding, 0));
            }
            // The character set stands in the root, and that is short but for a comment.
            _ if scanner.at > 1 << 16 => break,
            _ => {}
        }
    }
    None
}

pub(super) fn converted(encoding: &'static Encoding, bytes: &[u8]) -> Cow<'static, [u8]> {
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    Cow::Owned(text.into_owned().into_bytes())
}

/// So many bytes behind a `(` decide whether a game begins there.
pub(super) const MAX_OPENING: usize = 1024;

/// Does a game begin with a `(` that has this behind it: a `;`, or else a property?
pub(super) fn opens_game(behind: &[u8]) -> bool {
    let behind = behind.get(..MAX_OPENING).unwrap_or(behind).trim_ascii_start();
    let name = behind.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    match behind.first() {
        Some(b';') => true,
        Some(b'A'..=b'Z') => behind.get(name..).is_some_and(|rest| rest.trim_ascii_start().starts_with(b"[")),
        _ => false,
    }
}

/// Where the first game begins.
pub(super) fn first_tree(bytes: &[u8]) -> Option<usize> {
    let opens =
        |&at: &usize| bytes.get(at) == Some(&b'(') && opens_game(bytes.get(at + 1..).unwrap_or_default());
    (0..bytes.len()).find(opens)
}
