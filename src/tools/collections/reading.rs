//! Reading of paths into batches of game records: folders, archives, compressed and plain files.
//!
//! A single thread reads; see `pipeline.rs`. Its memory is bounded by the longest record and the size of a batch.

use super::decode::{Format, decompressed, peek};
use super::stream::RecordStream;
use crate::words::as_base64;
use kosumi_go::sgf::SgfErrorKind;
use kosumi_go::sgf::collection::{CollectionPiece, MissingSyntax, RECORD_LIMIT};
use rawzip::{CompressionMethod, ZipArchive};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use walkdir::WalkDir;

/// Position of a record in the input.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RecordLocation {
    /// Name of the file; `archive.zip:entry` for an entry of an archive.
    pub source: Arc<str>,
    /// Number of the game in the file, from 1.
    pub game: u64,
    /// Offset of its first byte in the decompressed file, from 0.
    pub offset: u64,
}

/// Record of a batch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Position of the record in the input.
    pub place: RecordLocation,
    /// Number of the record among all records read, from 1.
    pub number: u64,
    /// Range of its bytes in the batch.
    pub range: Range<usize>,
    /// Brackets missing at its end.
    pub missing: MissingSyntax,
}

/// Input that cannot be read: a record, or a file from some byte on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// Name of the file, as in [`RecordLocation`].
    pub source: Arc<str>,
    /// Number of the game in the file, from 1; `None` if the file itself is the problem.
    pub game: Option<u64>,
    /// Offset in the decompressed file, in bytes.
    pub offset: u64,
    /// Description of the problem.
    pub reason: String,
    /// Whether the file could not be read completely.
    pub is_fatal: bool,
}

/// Records that are processed together. The division into batches depends only on the input.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Batch {
    #[serde(with = "as_base64")]
    bytes: Vec<u8>,
    /// Records of the batch.
    pub entries: Vec<Entry>,
    /// Unreadable input.
    pub problems: Vec<Problem>,
    /// Number of files that begin in this batch. Entries of archives count, archives do not.
    pub files: u64,
    /// Number of decompressed bytes read for the batch.
    pub unpacked: u64,
}

impl Batch {
    /// Returns the bytes of a record of the batch.
    pub fn bytes(&self, entry: &Entry) -> &[u8] {
        self.bytes.get(entry.range.clone()).unwrap_or_default()
    }

    fn is_full(&self) -> bool {
        self.entries.len() >= 256 || self.bytes.len() >= 1 << 20 || self.problems.len() >= 256
    }
}

/// Limits of the input.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum length of a record, in bytes.
    pub record: usize,
    /// A file is refused if it exceeds this decompressed size, in bytes, and the ratio `expansion`.
    pub unpacked: u64,
    /// A file is refused if it exceeds this ratio of decompressed to compressed size, and the size `unpacked`. Such
    /// files are decompression bombs.
    pub expansion: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        // Game records compress to between a third and a tenth of their size, and a thousand copies of one record to a
        // few hundredths of that.
        Limits { record: RECORD_LIMIT, unpacked: 1 << 30, expansion: 500 }
    }
}

/// Reader that divides the input into batches.
pub(super) struct BatchReader<'a, F> {
    limits: Limits,
    /// Number of compressed bytes read so far, for progress displays.
    consumed: &'a AtomicU64,
    /// File or folder that is never read, because it is being written.
    except: Option<PathBuf>,
    /// Function that takes a batch and returns false if no more batches are wanted.
    send: F,
    batch: Batch,
    number: u64,
    is_stopped: bool,
}

impl<'a, F: FnMut(Batch) -> bool> BatchReader<'a, F> {
    pub(super) fn new(limits: Limits, consumed: &'a AtomicU64, except: Option<PathBuf>, send: F) -> Self {
        BatchReader { limits, consumed, except, send, batch: Batch::default(), number: 0, is_stopped: false }
    }

    /// Reads all input in the order of the paths, and folders in the order of names.
    pub(super) fn run(mut self, paths: &[PathBuf]) {
        for path in paths {
            if self.is_stopped {
                return;
            }
            if path.as_os_str() == "-" {
                self.stream("standard input".into(), io::stdin().lock());
            } else if path.is_dir() {
                self.folder(path);
            } else {
                self.file(path);
            }
        }
        self.flush();
    }

    fn flush(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        self.is_stopped |= !(self.send)(batch);
    }

    /// Reports that a file cannot be read from a byte offset on.
    fn failed(&mut self, source: &Arc<str>, offset: u64, reason: impl ToString) {
        let (source, reason) = (source.clone(), reason.to_string());
        self.batch.problems.push(Problem { source, game: None, offset, reason, is_fatal: true });
    }

    fn folder(&mut self, path: &Path) {
        for entry in WalkDir::new(path).follow_links(true).sort_by_file_name() {
            match entry {
                Ok(entry) if entry.file_type().is_file() && is_collection(&name_of(entry.path())) => {
                    self.file(entry.path());
                }
                Ok(_) => {}
                Err(error) => {
                    let source = error.path().map_or_else(|| name_of(path), name_of);
                    let reason = error.io_error().map_or_else(|| error.to_string(), io::Error::to_string);
                    self.failed(&source, 0, reason);
                }
            }
            if self.is_stopped {
                return;
            }
        }
    }

    fn file(&mut self, path: &Path) {
        if let Some(except) = &self.except
            && fs::canonicalize(path).is_ok_and(|path| path.starts_with(except))
        {
            return;
        }
        let source = name_of(path);
        let opened = File::open(path).and_then(|file| Ok((Format::Zip == format_of(&file)?, file)));
        match opened {
            Ok((true, file)) => {
                if let Err(error) = self.archive(&source, file) {
                    self.failed(&source, 0, error);
                }
            }
            Ok((false, file)) => self.stream(source, file),
            Err(error) => self.failed(&source, 0, error),
        }
    }

    fn stream(&mut self, source: Arc<str>, reader: impl Read) {
        self.batch.files += 1;
        let consumed = self.consumed;
        let start = consumed.load(Ordering::Relaxed);
        let counted = CountingReader { reader, consumed };
        let packed = || consumed.load(Ordering::Relaxed) - start;
        let unpacked_bytes = Cell::new(0);
        let read = decompressed(BufReader::with_capacity(1 << 16, counted))
            .and_then(|reader| self.split(&source, reader, &packed, &unpacked_bytes));
        if let Err(error) = read {
            self.failed(&source, unpacked_bytes.get(), error);
        }
    }

    /// Reads the entries of a zip archive in the order of its directory. The directory is read piece by piece, so
    /// memory does not depend on the number of entries.
    ///
    /// Everything that is read counts, even if it yields no text: a directory may name one entry many times, and an
    /// entry may consist of compressed parts without content.
    fn archive(&mut self, source: &Arc<str>, file: File) -> Result<(), rawzip::Error> {
        let packed = file.metadata().map_or(0, |metadata| metadata.len());
        let mut buffer = vec![0; rawzip::RECOMMENDED_BUFFER_SIZE];
        let archive = ZipArchive::from_file(file, &mut buffer)?;
        let (expected, mut found) = (archive.entries_hint(), 0);
        let (raw_bytes, unpacked_bytes) = (Cell::new(0), Cell::new(0));
        let mut entries = archive.entries(&mut buffer);
        while let Some(header) = entries.next_entry()? {
            found += 1;
            let path = header.file_path();
            let name = String::from_utf8_lossy(path.as_bytes());
            if header.is_dir() || !is_collection(&name) {
                continue;
            }
            self.batch.files += 1;
            let inner: Arc<str> = format!("{source}:{name}").into();
            let method = header.compression_method();
            let entry = archive.get_entry(header.wayfinder())?;
            let raw = LimitedReader {
                reader: entry.reader(),
                count: |length| {
                    raw_bytes.set(raw_bytes.get() + length);
                    match raw_bytes.get() > packed {
                        true => Err(io::Error::other("the entries of the archive overlap")),
                        false => Ok(()),
                    }
                },
            };
            let stream: Result<Box<dyn Read>, String> = if header.flags().is_encrypted() {
                Err("the entry is encrypted".into())
            } else if method == CompressionMethod::STORE {
                Ok(Box::new(raw))
            } else if method == CompressionMethod::DEFLATE {
                Ok(Box::new(flate2::read::DeflateDecoder::new(raw)))
            } else {
                Err(format!("the entry is compressed by a method that is not supported ({method:?})"))
            };
            let read = stream.map_err(io::Error::other).and_then(|stream| {
                let (format, stream) = peek(entry.verifying_reader(stream))?;
                // Plain text is counted when it is split into records.
                let cost = if format == Format::Plain { 0 } else { COMPRESSED_COST };
                let limits = self.limits;
                let stream = LimitedReader {
                    reader: stream,
                    count: |length| limits.count(packed, &unpacked_bytes, cost * length),
                };
                self.split(&inner, decompressed(stream)?, &|| packed, &unpacked_bytes)
            });
            if let Err(error) = read {
                self.failed(&inner, 0, error);
            }
            self.consumed.fetch_add(header.compressed_size_hint(), Ordering::Relaxed);
            if self.is_stopped {
                return Ok(());
            }
            if raw_bytes.get() > packed || self.limits.is_exceeded(packed, unpacked_bytes.get()) {
                return Ok(());
            }
        }
        if found < expected {
            let reason = format!("the directory has {found} entries instead of {expected}");
            self.failed(source, 0, reason);
        }
        Ok(())
    }

    /// Splits a decompressed stream into records. `total` counts the decompressed bytes of the whole file on disk.
    fn split(
        &mut self,
        source: &Arc<str>,
        reader: impl Read,
        packed: &dyn Fn() -> u64,
        total: &Cell<u64>,
    ) -> io::Result<()> {
        let mut records = RecordStream::new(reader, self.limits.record);
        let mut game = 0;
        while !self.is_stopped {
            let length = records.read()?;
            self.batch.unpacked += length as u64;
            self.limits.count(packed(), total, length as u64)?;
            records.split(&mut |piece| self.add_piece(source, &mut game, piece));
            if length == 0 {
                break;
            }
        }
        if game == 0 && !self.is_stopped {
            let (source, reason) = (source.clone(), SgfErrorKind::NoGame.to_string());
            self.batch.problems.push(Problem { source, game: None, offset: 0, reason, is_fatal: false });
        }
        Ok(())
    }

    fn add_piece(&mut self, source: &Arc<str>, game: &mut u64, piece: CollectionPiece<'_>) {
        if self.is_stopped {
            return;
        }
        *game += 1;
        match piece {
            CollectionPiece::Record(record) => {
                self.number += 1;
                let start = self.batch.bytes.len();
                self.batch.bytes.extend_from_slice(record.bytes);
                self.batch.entries.push(Entry {
                    place: RecordLocation { source: source.clone(), game: *game, offset: record.offset },
                    number: self.number,
                    range: start..self.batch.bytes.len(),
                    missing: record.missing,
                });
            }
            CollectionPiece::TooLong { offset } => {
                let reason = format!("the record is longer than {} bytes", self.limits.record);
                let source = source.clone();
                self.batch.problems.push(Problem {
                    source,
                    game: Some(*game),
                    offset,
                    reason,
                    is_fatal: false,
                });
            }
        }
        if self.batch.is_full() {
            self.flush();
        }
    }
}

impl Limits {
    fn is_exceeded(self, packed: u64, unpacked: u64) -> bool {
        unpacked > self.unpacked && unpacked / packed.max(1) >= self.expansion
    }

    /// Adds decompressed bytes to a total, and fails if it exceeds the limits.
    fn count(self, packed: u64, total: &Cell<u64>, unpacked: u64) -> io::Result<()> {
        total.set(total.get() + unpacked);
        if self.is_exceeded(packed, total.get()) {
            let times = total.get() / packed.max(1);
            return Err(io::Error::other(format!("it decompresses to more than {times} times its size")));
        }
        Ok(())
    }
}

fn format_of(file: &File) -> io::Result<Format> {
    use std::io::Seek;
    let mut file = file;
    if !file.metadata()?.is_file() {
        // A pipe cannot be rewound, and archives cannot be read from a pipe.
        return Ok(Format::Plain);
    }
    let (format, _) = peek(&mut file)?;
    file.rewind()?;
    Ok(format)
}

fn name_of(path: &Path) -> Arc<str> {
    path.display().to_string().into()
}

/// Returns whether a file in a folder or an archive is read, judged by its name.
fn is_collection(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".sgf", ".mgt", ".gz", ".zst", ".zip"].iter().any(|end| name.ends_with(end))
}

/// Cost of a byte of compressed data inside an archive, in decompressed bytes. Reading a part of 20 bytes without
/// content takes as long as decompressing hundreds of bytes.
const COMPRESSED_COST: u64 = 16;

/// Reader that passes the number of bytes read to a function, and fails if the function does.
struct LimitedReader<R, F> {
    reader: R,
    count: F,
}

impl<R: Read, F: FnMut(u64) -> io::Result<()>> Read for LimitedReader<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.reader.read(buffer)?;
        (self.count)(length as u64)?;
        Ok(length)
    }
}

/// Reader that counts bytes.
struct CountingReader<'a, R> {
    reader: R,
    consumed: &'a AtomicU64,
}

impl<R: Read> Read for CountingReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.reader.read(buffer)?;
        self.consumed.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.source)?;
        if let Some(game) = self.game {
            write!(f, "game {game}, ")?;
        }
        if self.game.is_some() || self.offset > 0 {
            write!(f, "byte {}: ", self.offset)?;
        }
        f.write_str(&self.reason)
    }
}
