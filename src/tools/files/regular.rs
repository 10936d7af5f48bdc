//! Reading of regular files up to a limit, and opening of pipes without waiting.

use super::disk;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file for reading. Refuses pipes and devices, because opening a pipe would wait for a program that
/// writes to it.
///
/// # Errors
///
/// Returns an error if the file cannot be opened or is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<disk::File> {
    disk::open_regular(path)
}

/// Opens a regular file of the file system, like [`open_regular`].
pub(super) fn open_to_read(path: &Path) -> io::Result<File> {
    let file = without_waiting(OpenOptions::new().read(true)).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    if !metadata.is_file() {
        return Err(not_regular());
    }
    Ok(file)
}

/// Reads a regular file of at most `most` bytes.
///
/// # Errors
///
/// Returns an error if the file cannot be read, is not a regular file, or is longer than `most`.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let too_long = || io::Error::new(io::ErrorKind::FileTooLarge, format!("it is longer than {most} bytes"));
    let file = open_regular(path)?;
    if disk::regular_length(&file)?.is_none_or(|length| length > most) {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_long());
    }
    Ok(bytes)
}

pub(super) fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

/// Opens a pipe or a device for writing. Writing may wait for the reader of a pipe, but opening does not.
///
/// # Errors
///
/// Returns an error if it cannot be opened, or if it is a pipe that no program reads.
pub(super) fn open_to_write(path: &Path) -> io::Result<File> {
    let file = without_waiting(OpenOptions::new().write(true)).open(path)?;
    wait_again(&file)?;
    Ok(file)
}

#[cfg(unix)]
fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    // A terminal must not become the controlling terminal of this process.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.custom_flags(flags.bits().cast_signed())
}

/// Removes the flag that [`without_waiting`] sets.
#[cfg(unix)]
fn wait_again(file: &File) -> io::Result<()> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    Ok(fcntl_setfl(file, fcntl_getfl(file)? - OFlags::NONBLOCK)?)
}

#[cfg(not(unix))]
fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

#[cfg(not(unix))]
fn wait_again(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_not_longer_than_it_may_be() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "1234").unwrap();
        assert_eq!(read_regular(&path, 4).unwrap(), b"1234");
        assert_eq!(read_regular(&path, 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert!(read_regular(&folder.path().join("b"), 7).is_err());
        assert!(read_regular(folder.path(), 7).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_devices_are_refused_at_once() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let folder = tempfile::TempDir::new().unwrap();
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for path in [pipe.as_path(), Path::new("/dev/null"), Path::new("/dev/zero")] {
            assert_eq!(read_regular(path, 7).unwrap_err().to_string(), "it is not a regular file");
        }
        assert!(open_to_write(&pipe).is_err(), "no program reads the pipe");
    }
}
