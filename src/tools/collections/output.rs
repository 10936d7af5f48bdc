//! Output of selected games: one collection, plain or compressed, or a file per game in a folder or an archive.

use crate::files::AtomicFile;
use anyhow::{Context, bail};
use flate2::write::{DeflateEncoder, GzEncoder};
use kosumi_go::sgf::collection::MissingSyntax;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Size of a Zstandard frame before compression, in bytes. A reader needs no more memory than one frame.
const FRAME: usize = 4 << 20;

/// Output of game records. A file appears under its name only when it is complete. An existing file stays until then.
pub enum Output {
    /// No output: games are only counted.
    Nothing,
    /// Plain collection on a stream.
    Stream(Box<dyn Write>),
    /// Plain collection.
    Plain(BufWriter<AtomicFile>),
    /// Collection compressed with gzip.
    Gzip(GzEncoder<BufWriter<AtomicFile>>),
    /// Collection compressed with Zstandard, in frames.
    Zstd {
        /// Output file.
        file: BufWriter<AtomicFile>,
        /// Uncompressed content of the current frame.
        frame: Vec<u8>,
    },
    /// Zip archive with a file per game.
    Zip {
        /// Writer of the archive.
        archive: ZipArchiveWriter<BufWriter<AtomicFile>>,
        /// Number of files in the archive.
        count: u64,
    },
    /// Folder with a file per game.
    Folder {
        /// Path of the folder.
        path: PathBuf,
        /// Number of files written.
        count: u64,
    },
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Output")
    }
}

impl Output {
    /// Creates the output of a plain collection on a stream.
    pub fn plain(out: impl Write + 'static) -> Output {
        Output::Stream(Box::new(BufWriter::new(out)))
    }

    /// Creates the output that the extension of the path indicates. A path that ends with a separator, or an existing
    /// folder, means a folder.
    ///
    /// # Errors
    ///
    /// Returns an error if the output cannot be created, if the file exists and `force` is not set, or if the folder is
    /// not empty.
    pub fn create(path: &Path, force: bool) -> anyhow::Result<Output> {
        let text = path.to_string_lossy();
        if path.is_dir() || text.ends_with(['/', std::path::MAIN_SEPARATOR]) {
            fs::create_dir_all(path).with_context(|| format!("cannot create {text}"))?;
            if fs::read_dir(path).with_context(|| format!("cannot read {text}"))?.next().is_some() {
                bail!("{text} is not empty");
            }
            return Ok(Output::Folder { path: path.to_owned(), count: 0 });
        }
        match fs::symlink_metadata(path) {
            _ if force => {}
            Ok(_) => bail!("{text} already exists (--force overwrites it)"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("cannot create {text}")),
        }
        let file = BufWriter::new(AtomicFile::create(path).with_context(|| format!("cannot create {text}"))?);
        let lower = text.to_lowercase();
        Ok(if lower.ends_with(".gz") {
            Output::Gzip(GzEncoder::new(file, flate2::Compression::default()))
        } else if lower.ends_with(".zst") {
            Output::Zstd { file, frame: Vec::new() }
        } else if lower.ends_with(".zip") {
            Output::Zip { archive: ZipArchiveWriter::new(file), count: 0 }
        } else {
            Output::Plain(file)
        })
    }

    /// Writes a record. In a collection, missing brackets of a truncated record are added, so that it does not swallow
    /// the next one, and a line break follows. A separate file contains the record as it is.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails.
    pub fn write(&mut self, record: &[u8], missing: MissingSyntax) -> io::Result<()> {
        let end = || missing.text() + "\n";
        match self {
            Output::Nothing => Ok(()),
            Output::Stream(out) => write_both(out, record, &end()),
            Output::Plain(out) => write_both(out, record, &end()),
            Output::Gzip(out) => write_both(out, record, &end()),
            Output::Zstd { file, frame } => {
                write_both(frame, record, &end())?;
                if frame.len() >= FRAME { write_frame(file, frame) } else { Ok(()) }
            }
            Output::Zip { archive, count } => {
                *count += 1;
                write_entry(archive, &name(*count), record).map_err(io::Error::other)
            }
            Output::Folder { path, count } => {
                *count += 1;
                let path = path.join(name(*count));
                let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
                // A torn record would look like a game. If it cannot be removed, the error still reports it.
                file.write_all(record).inspect_err(|_| fs::remove_file(&path).unwrap_or_default())
            }
        }
    }

    /// Finishes the output.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Output::Nothing | Output::Folder { .. } => Ok(()),
            Output::Stream(mut out) => out.flush(),
            Output::Plain(out) => complete(out),
            Output::Gzip(out) => complete(out.finish()?),
            Output::Zstd { mut file, mut frame } => {
                write_frame(&mut file, &mut frame)?;
                complete(file)
            }
            Output::Zip { archive, .. } => complete(archive.finish().map_err(io::Error::other)?),
        }
    }
}

/// Completes a file, which then appears under its name.
fn complete(file: BufWriter<AtomicFile>) -> io::Result<()> {
    file.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
}

/// Returns the name of the file of the n-th game.
fn name(number: u64) -> String {
    format!("{number:07}.sgf")
}

fn write_both(out: &mut impl Write, record: &[u8], end: &str) -> io::Result<()> {
    out.write_all(record)?;
    out.write_all(end.as_bytes())
}

fn write_frame(file: &mut impl Write, frame: &mut Vec<u8>) -> io::Result<()> {
    file.write_all(&compress_to_vec(frame.as_slice(), CompressionLevel::Fastest))?;
    frame.clear();
    Ok(())
}

fn write_entry<W: Write>(
    archive: &mut ZipArchiveWriter<W>,
    name: &str,
    record: &[u8],
) -> Result<(), rawzip::Error> {
    let (mut entry, config) =
        archive.new_file(name).compression_method(CompressionMethod::DEFLATE).start()?;
    let mut writer = config.wrap(DeflateEncoder::new(&mut entry, flate2::Compression::default()));
    writer.write_all(record).map_err(rawzip::ErrorKind::IO)?;
    let (encoder, descriptor) = writer.finish()?;
    encoder.finish().map_err(rawzip::ErrorKind::IO)?;
    entry.finish(descriptor)?;
    Ok(())
}
