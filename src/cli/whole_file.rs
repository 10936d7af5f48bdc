//! Files that are there as a whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file so that nobody ever sees a part of it, whatever the moment at which the process or the machine stops:
/// under another name first, which it gives up once it is on the disk. When this returns, the new name is there, too.
pub(super) fn write_at_once(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let write = || -> io::Result<()> {
        let mut file = File::create(&part)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&part, path)
    };
    write().inspect_err(|_| {
        // On a full disk the part would only be in the way.
        let _ = fs::remove_file(&part);
    })?;
    sync_folder(path);
    Ok(())
}

/// Puts the names in a file's folder on the disk. Not every system lets a folder be opened for that.
fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
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
        assert_eq!(fs::read_dir(folder).unwrap().count(), 2);
    }
}
