//! Files that are there as a whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use tempfile::Builder;

/// Writes a file so that nobody ever sees a part of it, whatever the moment at which the process or the machine stops:
/// under another name first, which it gives up once it is on the disk. When this returns, the new name is there, too.
///
/// # Errors
/// If it cannot be written. What was there before is untouched then.
pub fn write_at_once(path: &Path, text: &str) -> io::Result<()> {
    write_with(path, |file| file.write_all(text.as_bytes()))
}

/// The same for a file that `write` fills, which may go back in it.
///
/// # Errors
/// If that fails.
pub fn write_with<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> Result<(), E>,
) -> Result<(), E> {
    // What is no file, such as a pipe, is not replaced but written to; and a link stays a link.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        let mut there = OpenOptions::new().write(true).open(path)?;
        let mut buffered = BufWriter::new(&mut there);
        write(&mut buffered)?;
        return Ok(buffered.flush()?);
    }
    let folder = folder_of(path);
    // Removed by itself if anything goes wrong: on a full disk the part would only be in the way. Its name does not
    // change, so that one left behind by a power cut is written over.
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

/// Puts the names in a folder on the disk. Not every system lets a folder be opened for that.
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
        write_at_once(&path, "old").unwrap();
        write_at_once(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        // A folder cannot be replaced by a file.
        assert!(write_at_once(&folder.join("taken"), "text").is_err());
        assert!(write_at_once(&folder.join("no/such/folder"), "text").is_err());
        let failed = write_with(&path, |file| file.write_all(b"half").and(Err(io::Error::other("stop"))));
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
        write_at_once(&link, "new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let null = scratch.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &null).unwrap();
        write_at_once(&null, "text").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[cfg(unix)]
    #[test]
    fn others_may_read_what_is_written() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = tempfile::TempDir::new().unwrap();
        let mode = |name: &str| fs::metadata(scratch.path().join(name)).unwrap().permissions().mode();
        write_at_once(&scratch.path().join("at-once"), "text").unwrap();
        fs::write(scratch.path().join("plain"), "text").unwrap();
        assert_eq!(mode("at-once"), mode("plain"), "not only the owner, as temporary files have it");
    }
}
