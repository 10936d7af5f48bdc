//! Atomic writes of files.

use super::disk::{self, File, folder_of};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempPath};

/// Number of characters of a file's name with which the name of the unfinished file begins. Each takes at most four
/// bytes.
const NAME_START: usize = 50;

/// Writes a file atomically: other processes never see a part of it, even if the process or the machine stops at any
/// moment. The text is written under another name, synchronised to the disk, and renamed. When this function returns,
/// the new name is on the disk as well.
///
/// # Errors
///
/// Returns an error if writing fails. An existing file is then unchanged.
pub fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    write_atomically_with(path, |file| file.write_all(text.as_bytes()))
}

/// Writes a file atomically, like [`write_atomically`], but refuses pipes and devices. It is meant for paths that come
/// from commands of a protocol.
///
/// # Errors
///
/// Returns an error if the path names something other than a regular file, or if writing fails. An existing file is
/// then unchanged.
pub fn write_regular(path: &Path, text: &str) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return Err(super::regular::not_regular());
    }
    write_atomically(path, text)
}

/// Writes a file atomically, like [`write_atomically`], but with a function that writes the content and may seek.
///
/// # Errors
///
/// Returns the errors of `write` and of the file system.
pub fn write_atomically_with<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> Result<(), E>,
) -> Result<(), E> {
    let mut file = AtomicFile::create(path)?;
    let mut buffered = BufWriter::new(&mut file.file);
    write(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    Ok(file.finish()?)
}

/// File that is written over a longer time and appears under its name when it is complete.
///
/// The content is written under a random name in the same folder, which no other process can predict or share, and
/// which is never a link. A file that is dropped before [`AtomicFile::finish`] leaves nothing behind. A process that is
/// killed may leave a file whose name ends in `.part`.
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    /// Name of the unfinished file, which is removed on drop, and the final name. `None` for pipes and devices, which
    /// are written to directly.
    names: Option<(TempPath, PathBuf)>,
}

impl AtomicFile {
    /// Creates the unfinished file. An existing file keeps its permissions when it is replaced. A link to an existing
    /// file is preserved, and the file is replaced.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be written to, if the existing file is a folder or read-only or cannot be
    /// examined, or if it is a pipe without a reader.
    pub fn create(path: &Path) -> io::Result<AtomicFile> {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let old = match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            // An existing file might be read-only, or a device.
            old => Some(old?),
        };
        if let Some(old) = &old {
            if old.is_dir() {
                return Err(io::Error::from(io::ErrorKind::IsADirectory));
            }
            if !old.is_file() {
                return Ok(AtomicFile { file: disk::open_device(&path)?, names: None });
            }
            if old.permissions().readonly() {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
            }
        }
        // Names of files may have 255 bytes in most file systems.
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let prefix: String = name.chars().take(NAME_START).chain(['.']).collect();
        // `create_new` fails for every existing name, even a link. `Builder` then tries another random name.
        let (file, unfinished) = Builder::new()
            .prefix(&prefix)
            .suffix(".part")
            .make_in(folder_of(&path), disk::create_new)?
            .into_parts();
        if let Some(old) = old {
            // Some file systems have no permissions.
            let _ = file.set_permissions(old.permissions());
        }
        Ok(AtomicFile { file, names: Some((unfinished, path)) })
    }

    /// Synchronises the content to the disk and gives the file its name.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails. An existing file of this name is then unchanged, unless the disk fails after
    /// the file got its name.
    pub fn finish(self) -> io::Result<()> {
        let Some((unfinished, path)) = self.names else { return Ok(()) };
        self.file.sync_all()?;
        // Windows does not rename open files.
        drop(self.file);
        disk::persist(unfinished, &path)?;
        disk::sync_folder(folder_of(&path))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.file.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
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

    /// Checks that a link in the place of the unfinished file is not followed, and that its name differs each time.
    #[cfg(unix)]
    #[test]
    fn the_unfinished_file_cannot_be_predicted() {
        let scratch = tempfile::TempDir::new().unwrap();
        let (path, victim) = (scratch.path().join("file"), scratch.path().join("victim"));
        fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, scratch.path().join("file.part")).unwrap();
        let names: std::collections::BTreeSet<_> = (0..3)
            .map(|_| {
                let unfinished = AtomicFile::create(&path).unwrap();
                let name = unfinished.names.as_ref().unwrap().0.to_path_buf();
                assert!(fs::symlink_metadata(&name).unwrap().is_file());
                name
            })
            .collect();
        assert_eq!(names.len(), 3);
        write_atomically(&path, "text").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 3, "unfinished files are removed");
    }

    /// Checks that concurrent writers of one file disturb neither each other nor a reader.
    #[test]
    fn writers_of_one_file_do_not_meet() {
        let scratch = tempfile::TempDir::new().unwrap();
        let path = scratch.path().join("file");
        let texts = ["a", "b", "c", "d"].map(|letter| letter.repeat(100_000));
        write_atomically(&path, &texts[0]).unwrap();
        std::thread::scope(|scope| {
            for text in &texts {
                let path = &path;
                scope.spawn(move || (0..5).for_each(|_| write_atomically(path, text).unwrap()));
            }
            for _ in 0..20 {
                assert!(texts.contains(&fs::read_to_string(&path).unwrap()));
            }
        });
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_kept() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = tempfile::TempDir::new().unwrap();
        let path = scratch.path().join("file");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        write_atomically(&path, "new").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
        assert_eq!(write_atomically(&path, "newer").unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        let long = scratch.path().join("\u{10ffff}".repeat(60));
        write_atomically(&long, "text").unwrap();
        assert_eq!(fs::read_to_string(long).unwrap(), "text");
    }

    #[cfg(unix)]
    #[test]
    fn protocols_write_regular_files_only() {
        let scratch = tempfile::TempDir::new().unwrap();
        assert!(write_regular(Path::new("/dev/null"), "text").is_err());
        assert!(write_regular(scratch.path(), "text").is_err());
        write_regular(&scratch.path().join("file"), "text").unwrap();
        assert_eq!(fs::read_to_string(scratch.path().join("file")).unwrap(), "text");
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
