//! Access to the file system for all files that must survive a crash. Journals, records and shards are written through
//! this module only.
//!
//! Outside of tests, its types and functions are those of the standard library under shorter names. In tests, a path on
//! a [`SimulatedDisk`](super::SimulatedDisk) leads to that disk, and every other path to the file system.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::TempPath;

#[cfg(test)]
pub(crate) use super::simulated_disk::File;
#[cfg(test)]
use super::simulated_disk::mounted;
#[cfg(not(test))]
pub(crate) use std::fs::File;

/// Carries out an operation on the simulated disk if the path is on one.
#[cfg(test)]
macro_rules! on_simulated {
    ($path:expr, $disk:ident => $work:expr) => {
        if let Some($disk) = mounted($path) {
            return $work;
        }
    };
}
#[cfg(not(test))]
macro_rules! on_simulated {
    ($path:expr, $disk:ident => $work:expr) => {};
}

#[cfg(test)]
fn real(file: fs::File) -> File {
    File::Real(file)
}
#[cfg(not(test))]
fn real(file: fs::File) -> File {
    file
}

/// Opens a file for reading and writing. Creates it if it is missing.
pub(super) fn open_or_create(path: &Path) -> io::Result<File> {
    on_simulated!(path, disk => disk.open_or_create(path));
    fs::OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path).map(real)
}

/// Creates a new file for writing.
pub(super) fn create_new(path: &Path) -> io::Result<File> {
    on_simulated!(path, disk => disk.create_new(path));
    fs::OpenOptions::new().write(true).create_new(true).open(path).map(real)
}

/// Opens a regular file for reading; see [`open_regular`](super::open_regular).
pub(super) fn open_regular(path: &Path) -> io::Result<File> {
    on_simulated!(path, disk => disk.open_to_read(path));
    super::regular::open_to_read(path).map(real)
}

/// Opens a pipe or a device for writing.
pub(super) fn open_device(path: &Path) -> io::Result<File> {
    super::regular::open_to_write(path).map(real)
}

/// Returns the length of a regular file in bytes; `None` for pipes, devices and folders.
pub(super) fn regular_length(file: &File) -> io::Result<Option<u64>> {
    #[cfg(test)]
    let file = match file {
        File::Real(file) => file,
        File::Simulated(file) => return Ok(Some(file.length())),
    };
    let metadata = file.metadata()?;
    Ok(metadata.is_file().then_some(metadata.len()))
}

/// Returns the time of the last change of a file.
///
/// # Errors
///
/// Returns an error if the system does not know the time.
pub(crate) fn modified(file: &File) -> io::Result<SystemTime> {
    #[cfg(test)]
    let file = match file {
        File::Real(file) => file,
        File::Simulated(file) => return Ok(file.modified()),
    };
    file.metadata()?.modified()
}

/// Returns the time of the last change of the file with this path.
///
/// # Errors
///
/// Returns an error if the file cannot be found, or if the system does not know the time.
pub(crate) fn modified_at(path: &Path) -> io::Result<SystemTime> {
    on_simulated!(path, disk => disk.modified(path));
    fs::metadata(path)?.modified()
}

/// Returns the absolute path without links, like [`fs::canonicalize`].
///
/// # Errors
///
/// Returns an error if the file cannot be found.
pub(crate) fn canonicalize(path: &Path) -> io::Result<PathBuf> {
    on_simulated!(path, disk => disk.length(path).map(|_| path.to_owned()));
    fs::canonicalize(path)
}

/// Renames an unfinished file. Replaces an existing file.
pub(super) fn persist(unfinished: TempPath, path: &Path) -> io::Result<()> {
    on_simulated!(path, disk => disk.rename(&unfinished, path));
    unfinished.persist(path).map_err(|error| error.error)
}

/// Synchronises the names in a folder to the disk. It is not an error if the system cannot open or synchronise folders.
///
/// # Errors
///
/// Returns an error if the storage is full, or if the device fails.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    on_simulated!(folder, disk => disk.sync_folder(folder));
    let Ok(open) = fs::File::open(folder) else { return Ok(()) };
    match open.sync_all().map_err(|error| (error.kind(), error)) {
        Err((io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded, error)) => Err(error),
        // The standard library has no error kind for a failing device.
        Err((_, error)) if is_device_error(&error) => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(unix)]
fn is_device_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error())
}

#[cfg(not(unix))]
fn is_device_error(_: &io::Error) -> bool {
    false
}

/// Creates a folder and its parents where they are missing, like [`fs::create_dir_all`]. Their names are on the disk
/// when this function returns.
///
/// The name of a folder is synchronised before a folder is created in it. Therefore, among existing folders, only the
/// innermost may come from a process that was stopped before it could synchronise the name.
///
/// # Errors
///
/// Returns an error if a folder cannot be created or synchronised.
pub fn create_folders(path: &Path) -> io::Result<()> {
    if !is_folder(path) {
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            create_folders(parent)?;
        }
        create_dir_all(path)?;
    }
    sync_folder(folder_of(path))
}

fn create_dir_all(path: &Path) -> io::Result<()> {
    on_simulated!(path, disk => disk.create_folders(path));
    fs::create_dir_all(path)
}

fn is_folder(path: &Path) -> bool {
    on_simulated!(path, disk => disk.is_folder(path));
    path.is_dir()
}

/// Returns whether a file or folder exists.
///
/// # Errors
///
/// Returns an error if this cannot be found out. It says nothing about whether the file exists.
pub(crate) fn exists(path: &Path) -> io::Result<bool> {
    on_simulated!(path, disk => disk.exists(path));
    path.try_exists()
}

/// Returns the length of a file in bytes.
///
/// # Errors
///
/// Returns an error if the file cannot be found.
pub(crate) fn length(path: &Path) -> io::Result<u64> {
    on_simulated!(path, disk => disk.length(path));
    Ok(fs::metadata(path)?.len())
}

/// Returns the names of the files in a folder, in any order.
///
/// # Errors
///
/// Returns an error if the folder cannot be read to its end. A part of the names would pass for all of them.
pub(crate) fn names(folder: &Path) -> io::Result<Vec<String>> {
    entries(folder)?.into_iter().collect()
}

/// Returns the names of the files in a folder, and errors in the place of those that cannot be read.
fn entries(folder: &Path) -> io::Result<Vec<io::Result<String>>> {
    on_simulated!(folder, disk => Ok(disk.names(folder)));
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    Ok(fs::read_dir(folder)?.map(name).collect())
}

/// Removes a file.
///
/// # Errors
///
/// Returns an error if the file cannot be removed.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    on_simulated!(path, disk => disk.remove(path));
    fs::remove_file(path)
}

/// Returns the folder of a file.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
