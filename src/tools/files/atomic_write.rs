//! Atomic writes of files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use tempfile::Builder;

/// Writes a file atomically: other processes never see a part of it, even if the process or the machine stops at any
/// moment. The text is written under another name, synchronised to the disk, and renamed. The new name is on the disk,
/// too, when this function returns.
///
/// # Errors
///
/// Returns an error if writing fails. An existing file is unchanged then.
pub fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    write_atomically_with(path, |file| file.write_all(text.as_bytes()))
}

/// Writes a file atomically, like [`write_atomically`], with a function that fills it and may seek.
///
/// # Errors
///
/// Returns the errors of `write` and of the file system.
pub fn write_atomically_with<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> Result<(), E>,
) -> Result<(), E> {
    // Pipes and devices are written to directly. Links are preserved.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        let mut there = OpenOptions::new().write(true).open(path)?;
        let mut buffered = BufWriter::new(&mut there);
        write(&mut buffered)?;
        return Ok(buffered.flush()?);
    }
    let folder = folder_of(path);
    // The temporary file is removed on failure, because it would waste space on a full disk. Its name is fixed, so that
    // a file left behind by a power cut is overwritten.
    let name = path.file_name().unwrap_or_default();
    let mut part = Builder::new()
        .prefix(name)
        .suffix(".part")
        .rand_bytes(0)
        .make_in(folder, |path| File::create(path))?;
    let mut buffered = BufWriter::new(part.as_file_mut());
    write(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    part.as_file().sync_all()?;
    part.persist(path).map_err(|error| error.error)?;
    sync_folder(folder);
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Synchronises the names in a folder to the disk. Some systems do not support this, so errors are ignored.
fn sync_folder(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_is_left() {
        let scratch = tempfile::TempDir::new().unwrap();
        let folder = scratch.path();
        fs::create_dir_all(folder.join("taken")).unwrap();
        let path = folder.join("file");
        write_atomically(&path, "old").unwrap();
        write_atomically(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        // A folder cannot be replaced by a file.
        assert!(write_atomically(&folder.join("taken"), "text").is_err());
        assert!(write_atomically(&folder.join("no/such/folder"), "text").is_err());
        let failed =
            write_atomically_with(&path, |file| file.write_all(b"half").and(Err(io::Error::other("stop"))));
        assert!(failed.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new", "what was there stays");
        assert_eq!(fs::read_dir(folder).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_links_stay_what_they_are() {
        let scratch = tempfile::TempDir::new().unwrap();
        let (file, link) = (scratch.path().join("file"), scratch.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_atomically(&link, "new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let null = scratch.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &null).unwrap();
        write_atomically(&null, "text").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[cfg(unix)]
    #[test]
    fn others_may_read_what_is_written() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = tempfile::TempDir::new().unwrap();
        let mode = |name: &str| fs::metadata(scratch.path().join(name)).unwrap().permissions().mode();
        write_atomically(&scratch.path().join("at-once"), "text").unwrap();
        fs::write(scratch.path().join("plain"), "text").unwrap();
        assert_eq!(mode("at-once"), mode("plain"), "not restricted to the owner, as for temporary files");
    }
}
