//! The single records of files that may hold many.

use crate::sgf::collection::{Piece, RECORD_LIMIT, Splitter};
use anyhow::Context;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes that are read at a time.
const CHUNK: usize = 64 << 10;

/// The records of a stream, in order. Those that are too long or cut off are left out.
pub(super) struct Records {
    /// `None` behind the end.
    input: Option<Box<dyn Read>>,
    path: PathBuf,
    splitter: Splitter,
    found: VecDeque<Vec<u8>>,
}

impl Records {
    /// The records of a file; `-` is the standard input. A file that cannot be opened gives its error.
    pub(super) fn open(path: &Path) -> impl Iterator<Item = anyhow::Result<Vec<u8>>> {
        let input: io::Result<Box<dyn Read>> = match path.to_str() {
            Some("-") => Ok(Box::new(io::stdin())),
            _ => File::open(path).map(|file| Box::new(file) as Box<dyn Read>),
        };
        let failure = |error| anyhow::Error::new(error).context(format!("cannot open {}", path.display()));
        let (records, error) = match input {
            Ok(input) => (Some(Records::new(input, path)), None),
            Err(error) => (None, Some(Err(failure(error)))),
        };
        error.into_iter().chain(records.into_iter().flatten())
    }

    fn new(input: Box<dyn Read>, path: &Path) -> Records {
        let splitter = Splitter::new(RECORD_LIMIT);
        Records { input: Some(input), path: path.to_owned(), splitter, found: VecDeque::new() }
    }

    /// Reads on until there is a record or the stream ends.
    fn read(&mut self) -> io::Result<()> {
        let Records { input, splitter, found, .. } = self;
        let mut keep = |piece: Piece<'_>| {
            if let Piece::Record(record) = piece
                && record.missing.is_none()
            {
                found.push_back(record.bytes.to_owned());
            }
        };
        let Some(stream) = input else { return Ok(()) };
        let mut buffer = vec![0; CHUNK];
        match stream.read(&mut buffer)? {
            0 => {
                splitter.finish(&mut keep);
                *input = None;
            }
            read => splitter.push(&buffer[..read], &mut keep),
        }
        Ok(())
    }
}

impl Iterator for Records {
    type Item = anyhow::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.found.is_empty() && self.input.is_some() {
            if let Err(error) = self.read() {
                self.input = None;
                return Some(Err(error).with_context(|| format!("cannot read {}", self.path.display())));
            }
        }
        self.found.pop_front().map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &'static str) -> Vec<String> {
        let records = Records::new(Box::new(text.as_bytes()), Path::new("test"));
        records.map(|record| String::from_utf8(record.unwrap()).unwrap()).collect()
    }

    #[test]
    fn records_are_told_apart() {
        assert_eq!(records("(;B[aa])\n(;W[bb])"), ["(;B[aa])", "(;W[bb])"]);
        assert_eq!(records("text (;C[:-) \\] (](;B[aa])(;B[bb])) more"), ["(;C[:-) \\] (](;B[aa])(;B[bb]))"]);
        assert_eq!(records("(;B[aa]"), Vec::<String>::new());
        assert_eq!(records(") no record"), Vec::<String>::new());
    }

    #[test]
    fn a_missing_file_is_an_error() {
        let found: Vec<_> = Records::open(Path::new("/no/such/file.sgf")).collect();
        assert!(matches!(&found[..], [Err(error)] if error.to_string().contains("/no/such/file.sgf")));
    }
}
