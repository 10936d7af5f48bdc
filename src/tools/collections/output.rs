//! Where selected games go: one collection, plain or compressed, or a file for each game in a folder or an archive.

use anyhow::{Context, bail};
use flate2::write::{DeflateEncoder, GzEncoder};
use kosumi_go::sgf::collection::Missing;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Bytes of a Zstandard frame before packing: what is read back of it needs no more memory.
const FRAME: usize = 4 << 20;

/// Where records are written.
pub enum Output {
    /// Nowhere: they are only counted.
    Nothing,
    /// One after the other.
    Plain(Box<dyn Write>),
    /// The same, compressed.
    Gzip(GzEncoder<BufWriter<File>>),
    /// The same in frames.
    Zstd {
        /// Frames go there, …
        file: BufWriter<File>,
        /// … once this one is large enough.
        frame: Vec<u8>,
    },
    /// A file for each in an archive.
    Zip {
        /// The archive.
        archive: ZipArchiveWriter<BufWriter<File>>,
        /// Files in it.
        count: u64,
    },
    /// A file for each in a folder.
    Folder {
        /// The folder.
        path: PathBuf,
        /// Files in it.
        count: u64,
    },
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Output")
    }
}

impl Output {
    /// One plain collection.
    pub fn plain(out: impl Write + 'static) -> Output {
        Output::Plain(Box::new(BufWriter::new(out)))
    }

    /// What the path's ending says; a path that ends with a separator, or a folder that is there, means a folder.
    ///
    /// # Errors
    /// If it cannot be made, or is there already and not to be overwritten.
    pub fn create(path: &Path, force: bool) -> anyhow::Result<Output> {
        let text = path.to_string_lossy();
        if path.is_dir() || text.ends_with(['/', std::path::MAIN_SEPARATOR]) {
            fs::create_dir_all(path).with_context(|| format!("cannot create {text}"))?;
            if fs::read_dir(path).with_context(|| format!("cannot read {text}"))?.next().is_some() {
                bail!("{text} is not empty");
            }
            return Ok(Output::Folder { path: path.to_owned(), count: 0 });
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).create_new(!force);
        let file = options.open(path).with_context(|| match path.exists() && !force {
            true => format!("{text} is there already (--force overwrites it)"),
            false => format!("cannot create {text}"),
        })?;
        let file = BufWriter::new(file);
        let lower = text.to_lowercase();
        Ok(if lower.ends_with(".gz") {
            Output::Gzip(GzEncoder::new(file, flate2::Compression::default()))
        } else if lower.ends_with(".zst") {
            Output::Zstd { file, frame: Vec::new() }
        } else if lower.ends_with(".zip") {
            Output::Zip { archive: ZipArchiveWriter::new(file), count: 0 }
        } else {
            Output::Plain(Box::new(file))
        })
    }

    /// Writes a record: as it is into a file of its own; into a collection with what it lacks behind it, so that
    /// it does not swallow the next one, and a line end.
    ///
    /// # Errors
    /// If that fails.
    pub fn write(&mut self, record: &[u8], missing: Missing) -> io::Result<()> {
        let end = || missing.text() + "\n";
        match self {
            Output::Nothing => Ok(()),
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
                let mut options = OpenOptions::new();
                options.write(true).create_new(true).open(path.join(name(*count)))?.write_all(record)
            }
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// If that fails.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Output::Nothing | Output::Folder { .. } => Ok(()),
            Output::Plain(mut out) => out.flush(),
            Output::Gzip(out) => out.finish()?.flush(),
            Output::Zstd { mut file, mut frame } => {
                write_frame(&mut file, &mut frame)?;
                file.flush()
            }
            Output::Zip { archive, .. } => archive.finish().map_err(io::Error::other)?.flush(),
        }
    }
}

/// The name of the file of the n-th game.
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
