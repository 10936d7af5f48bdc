//! Reading of lines of bytes with a limit on their length.
//!
//! `BufRead::read_until` would collect a line of any length. The peer of a pipe must not be able to exhaust the memory
//! by omitting the newline.

use std::io::{self, BufRead, BufReader, Read};

/// A line without its newline.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RawLine {
    /// Bytes before the newline, up to the limit.
    pub(crate) bytes: Vec<u8>,
    /// Whether the line was longer. The rest of it has been read and dropped.
    pub(crate) truncated: bool,
}

/// Reader of lines from a stream of bytes.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    input: BufReader<R>,
    limit: usize,
    /// Whether no line has been read yet.
    is_first: bool,
    /// Line whose end has not been read yet. It is kept when a read fails.
    partial: Option<RawLine>,
}

/// Byte order mark, which some editors and shells write before UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl<R: Read> LineReader<R> {
    /// Creates a reader that keeps at most `limit` bytes of each line.
    pub(crate) fn new(input: R, limit: usize) -> Self {
        Self { input: BufReader::new(input), limit, is_first: true, partial: None }
    }

    /// Returns the stream.
    pub(crate) fn input(&self) -> &R {
        self.input.get_ref()
    }

    /// Returns the stream.
    pub(crate) fn input_mut(&mut self) -> &mut R {
        self.input.get_mut()
    }

    /// Returns the next line, or `None` at the end of the stream. A last line without a newline counts as a line. A
    /// byte order mark before the first line is skipped. After an error, such as a timeout, the next call continues the
    /// line.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<RawLine>> {
        let mut line = self.next_raw()?;
        if let Some(line) = line.as_mut().filter(|_| std::mem::take(&mut self.is_first))
            && let Some(behind) = line.bytes.strip_prefix(BYTE_ORDER_MARK)
        {
            line.bytes = behind.to_vec();
        }
        Ok(line)
    }

    fn next_raw(&mut self) -> io::Result<Option<RawLine>> {
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // Windows reports the end of a pipe as an error.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => &[],
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                return Ok(self.partial.take());
            }
            let line = self.partial.get_or_insert_default();
            let end = chunk.iter().position(|&byte| byte == b'\n');
            let length = end.unwrap_or(chunk.len());
            let space = self.limit.saturating_sub(line.bytes.len());
            line.truncated |= length > space;
            line.bytes.extend_from_slice(chunk.get(..length.min(space)).unwrap_or_default());
            self.input.consume(if end.is_some() { length + 1 } else { length });
            if end.is_some() {
                return Ok(self.partial.take());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expected: &[(&str, bool)]) {
        let mut reader = LineReader::new(input.as_bytes(), 4);
        for &(text, truncated) in expected {
            let line = reader.next_line().unwrap().unwrap();
            assert_eq!((line.bytes.as_slice(), line.truncated), (text.as_bytes(), truncated), "{input:?}");
        }
        assert_eq!(reader.next_line().unwrap(), None, "{input:?}");
    }

    #[test]
    fn lines_end_at_newlines_and_at_the_limit() {
        check("", &[]);
        check("\n", &[("", false)]);
        check("a", &[("a", false)]);
        check("a\n\nb", &[("a", false), ("", false), ("b", false)]);
        check("abcd\nabcde\nf\n", &[("abcd", false), ("abcd", true), ("f", false)]);
        check("abcdefghijkl", &[("abcd", true)]);
    }

    /// Stream that fails before each byte.
    struct Halting<'t>(&'t [u8], bool);

    impl Read for Halting<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let length = self.0.len().min(1);
            self.0.read(&mut buffer[..length])
        }
    }

    #[test]
    fn a_line_continues_after_a_timeout() {
        let mut reader = LineReader::new(Halting(b"ab\n\nabcdef\nx", false), 4);
        let mut lines = Vec::new();
        loop {
            match reader.next_line() {
                Ok(Some(line)) => lines.push((String::from_utf8(line.bytes).unwrap(), line.truncated)),
                Ok(None) => break,
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::TimedOut),
            }
        }
        let expected = [("ab", false), ("", false), ("abcd", true), ("x", false)];
        assert_eq!(lines, expected.map(|(text, truncated)| (text.to_owned(), truncated)));
    }

    #[test]
    fn only_the_first_byte_order_mark_is_skipped() {
        check("\u{feff}a\n\u{feff}\n", &[("a", false), ("\u{feff}", false)]);
        check("\u{feff}", &[("", false)]);
    }
}
