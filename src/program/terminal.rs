//! Output for people. Names of files and players, and messages of engines, come from outside the program. Therefore
//! characters that control a terminal are escaped in everything that is printed.

use std::borrow::Cow;
use std::io::{self, Stderr, StdoutLock, Write};

/// Returns the standard output for text and JSON. Game records and other files are written to it directly.
pub(super) fn stdout() -> Escaping<StdoutLock<'static>> {
    Escaping::new(io::stdout().lock())
}

/// Returns the standard error.
pub(super) fn stderr() -> Escaping<Stderr> {
    Escaping::new(io::stderr())
}

/// Escapes characters that control a terminal, apart from line breaks and tabs, and those that change the direction of
/// the text. An escaped character has the form `\u001b`, so JSON stays valid and keeps its meaning.
pub(super) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return text.into();
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_harmful(character) {
            safe.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            safe.push(character);
        }
    }
    safe.into()
}

/// Returns whether a terminal may interpret a character instead of showing it. U+0080 to U+009F are control characters
/// as well. U+009B, for example, has the effect of ESC followed by `[`.
fn is_harmful(character: char) -> bool {
    let turns =
        matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || character.is_control() && !matches!(character, '\n' | '\t')
}

/// Writer that escapes text like [`escaped`].
#[derive(Debug)]
pub(super) struct Escaping<W: Write> {
    writer: W,
    /// Beginning of a character whose other bytes have not been written yet.
    rest: Vec<u8>,
}

impl<W: Write> Escaping<W> {
    fn new(writer: W) -> Escaping<W> {
        Escaping { writer, rest: Vec::new() }
    }

    fn write_text(&mut self, bytes: &[u8]) -> io::Result<()> {
        let joined;
        let mut bytes = bytes;
        if !self.rest.is_empty() {
            joined = [&std::mem::take(&mut self.rest)[..], bytes].concat();
            bytes = &joined;
        }
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.writer.write_all(escaped(chunk.valid()).as_bytes())?;
            let invalid = chunk.invalid();
            if chunks.peek().is_none() && is_beginning(invalid) {
                self.rest = invalid.to_owned();
            } else if !invalid.is_empty() {
                self.writer.write_all("\u{fffd}".as_bytes())?;
            }
        }
        Ok(())
    }
}

/// Returns whether bytes are the beginning of a character that more bytes may complete.
fn is_beginning(bytes: &[u8]) -> bool {
    !bytes.is_empty() && std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_text(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl<W: Write> Drop for Escaping<W> {
    fn drop(&mut self) {
        if !self.rest.is_empty() {
            // Errors are ignored: a caller that needs to know about them has flushed the writer.
            let _ = self.writer.write_all("\u{fffd}".as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\u{1b}[2J\u{7}\u{9b}31m\r\n\tü\u{202e}棋\u{7f}";
    const SAFE: &str = "a\\u001b[2J\\u0007\\u009b31m\\u000d\n\tü\\u202e棋\\u007f";

    #[test]
    fn characters_that_control_a_terminal_are_escaped() {
        assert_eq!(escaped(TEXT), SAFE);
        assert!(matches!(escaped("\"Ω\"\n"), Cow::Borrowed(_)));
        let json = serde_json::to_string(TEXT).unwrap();
        assert_eq!(serde_json::from_str::<String>(&escaped(&json)).unwrap(), TEXT);
    }

    #[test]
    fn pieces_are_escaped_like_the_whole() {
        for length in 1..=TEXT.len() {
            let mut written = Vec::new();
            let mut writer = Escaping::new(&mut written);
            TEXT.as_bytes().chunks(length).for_each(|piece| writer.write_all(piece).unwrap());
            drop(writer);
            assert_eq!(String::from_utf8(written).unwrap(), SAFE, "{length}");
        }
        let mut written = Vec::new();
        Escaping::new(&mut written).write_all(b"a\xff\x9bb\xe6").unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), "a\u{fffd}\u{fffd}b\u{fffd}");
    }
}
