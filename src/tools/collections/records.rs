//! Reading of records one by one, or of all records of a folder.

use super::decode::decompressed;
use super::stream::RecordStream;
use crate::files::{files_below, open_regular};
use anyhow::{Context, bail};
use kosumi_go::sgf::Record;
use kosumi_go::sgf::collection::{CollectionPiece, MissingSyntax, RECORD_LIMIT};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Maximum number of files in a folder of records and its subfolders.
const MAX_FILES: usize = 100_000;

/// Record of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StreamRecord {
    /// Bytes of a record, and brackets missing at its end.
    Record(Vec<u8>, MissingSyntax),
    /// Record that is too long, with the offset of its first byte in the decompressed stream.
    TooLong(u64),
}

/// Iterator over the records of a file.
pub struct Records {
    /// Stream; `None` at its end.
    stream: Option<RecordStream<Box<dyn Read>>>,
    path: PathBuf,
    found: VecDeque<StreamRecord>,
}

impl std::fmt::Debug for Records {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Records").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Records {
    /// Opens a file of records, plain or compressed (gzip, Zstandard). `-` is the standard input.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened.
    pub fn open(path: &Path) -> anyhow::Result<Records> {
        let stream: io::Result<Box<dyn Read>> = match path.to_str() {
            Some("-") => decompressed(io::stdin()),
            _ => open_regular(path).and_then(decompressed),
        };
        let stream = stream.with_context(|| format!("cannot open {}", path.display()))?;
        Ok(Records::new(stream, path))
    }

    fn new(stream: Box<dyn Read>, path: &Path) -> Records {
        let stream = Some(RecordStream::new(stream, RECORD_LIMIT));
        Records { stream, path: path.to_owned(), found: VecDeque::new() }
    }

    /// Reads a chunk and extracts its records.
    fn read(&mut self) -> io::Result<()> {
        let Records { stream: source, found, .. } = self;
        let Some(stream) = source else { return Ok(()) };
        let length = stream.read()?;
        stream.split(&mut |piece| {
            found.push_back(match piece {
                CollectionPiece::Record(record) => {
                    StreamRecord::Record(record.bytes.to_owned(), record.missing)
                }
                CollectionPiece::TooLong { offset } => StreamRecord::TooLong(offset),
            });
        });
        if length == 0 {
            *source = None;
        }
        Ok(())
    }
}

impl Iterator for Records {
    type Item = anyhow::Result<StreamRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.found.is_empty() && self.stream.is_some() {
            if let Err(error) = self.read() {
                self.stream = None;
                return Some(Err(error).with_context(|| format!("cannot read {}", self.path.display())));
            }
        }
        self.found.pop_front().map(Ok)
    }
}

/// Returns the bytes of the n-th game of a file, counted from 1.
///
/// # Errors
///
/// Returns an error if the file cannot be read, or has fewer games.
pub fn nth_game(path: &Path, game: u32) -> anyhow::Result<Vec<u8>> {
    let name = path.display();
    if game == 1 {
        let mut bytes = Vec::new();
        let whole = open_regular(path).and_then(decompressed);
        whole
            .and_then(|stream| stream.take(RECORD_LIMIT as u64 + 1).read_to_end(&mut bytes))
            .with_context(|| name.to_string())?;
        // A longer file may be a collection. A single record that is longer is refused, because it must not be
        // truncated.
        if bytes.len() <= RECORD_LIMIT {
            return Ok(bytes);
        }
    }
    let mut seen = 0;
    for found in Records::open(path)? {
        let found = found?;
        seen += 1;
        if seen == game {
            return match found {
                StreamRecord::Record(bytes, _) => Ok(bytes),
                StreamRecord::TooLong(offset) => bail!("{name}: the record at byte {offset} is too long"),
            };
        }
    }
    bail!("{name} has no game {game}; it has {seen}")
}

/// Reads the first record of a file.
///
/// # Errors
///
/// Returns an error if the file cannot be read, or contains no valid record.
pub fn read_game(path: &Path) -> anyhow::Result<Record> {
    Record::parse(&nth_game(path, 1)?).with_context(|| format!("cannot read {}", path.display()))
}

/// Reads a file, or all `.sgf` files in a folder and its subfolders, in the order of names. A file without a valid
/// record is an error, because a skipped file might go unnoticed.
///
/// # Errors
///
/// Returns an error if a file or folder cannot be read.
pub fn read_folder(path: &Path) -> anyhow::Result<Vec<(String, Record)>> {
    let files = files_below(path, MAX_FILES);
    let mut files = files.with_context(|| format!("cannot read records from {}", path.display()))?;
    if path.is_dir() {
        files.retain(|file| file.extension().is_some_and(|end| end.eq_ignore_ascii_case("sgf")));
    }
    files.sort();
    let read = |file: PathBuf| {
        let record = read_game(&file)?;
        let name = file.strip_prefix(path).ok().filter(|name| !name.as_os_str().is_empty());
        let name = name.unwrap_or(file.file_name().map_or(&file, Path::new));
        Ok((name.display().to_string(), record))
    };
    files.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &'static str) -> Vec<(String, bool)> {
        let records = Records::new(Box::new(text.as_bytes()), Path::new("test"));
        let text = |found| match found {
            StreamRecord::Record(bytes, missing) => (String::from_utf8(bytes).unwrap(), missing.is_none()),
            StreamRecord::TooLong(offset) => panic!("too long at {offset}"),
        };
        records.map(|found| text(found.unwrap())).collect()
    }

    #[test]
    fn records_are_split() {
        let whole = |text: &str| (text.to_owned(), true);
        assert_eq!(records("(;B[aa])\n(;W[bb])"), ["(;B[aa])", "(;W[bb])"].map(whole));
        let brackets = "(;C[:-) \\] (](;B[aa])(;B[bb]))";
        assert_eq!(records("text (;C[:-) \\] (](;B[aa])(;B[bb])) more"), [whole(brackets)]);
        assert_eq!(records("(;B[aa]"), [("(;B[aa]".to_owned(), false)]);
        assert_eq!(records(") no record"), []);
    }

    #[test]
    fn a_missing_file_is_an_error() {
        let missing = Path::new("/no/such/file.sgf");
        assert!(Records::open(missing).unwrap_err().to_string().contains("/no/such/file.sgf"));
        for error in [nth_game(missing, 1).unwrap_err(), nth_game(missing, 2).unwrap_err()] {
            assert!(error.to_string().contains("/no/such/file.sgf"), "{error}");
        }
        assert!(read_folder(missing).is_err());
    }

    #[test]
    fn games_of_a_file_are_counted() {
        let scratch = tempfile::TempDir::new().unwrap();
        let path = scratch.path().join("two.sgf");
        std::fs::write(&path, "(;B[aa])(;W[bb])").unwrap();
        assert_eq!(nth_game(&path, 2).unwrap(), b"(;W[bb])");
        assert!(nth_game(&path, 3).unwrap_err().to_string().ends_with("has no game 3; it has 2"));
        assert_eq!(read_game(&path).unwrap().move_count(), 1);
    }
}
