//! Game records in files and folders, for commands that need them all in memory.

use crate::sgf::Record;
use anyhow::{Context, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Files and folders below a folder of records, at most.
const MOST_FILES: usize = 100_000;

/// The records in a file or in a folder and the folders below it, by name. A file that is no record is an error: it
/// would be missing without anybody knowing.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<(String, Record)>> {
    let mut files = Vec::new();
    list(path, &mut files).with_context(|| format!("cannot read records from {}", path.display()))?;
    if path.is_dir() {
        files.retain(|file| file.extension().is_some_and(|end| end.eq_ignore_ascii_case("sgf")));
    }
    files.sort();
    let read = |file: PathBuf| {
        let about = || format!("cannot read {}", file.display());
        let bytes = fs::read(&file).with_context(about)?;
        let record = Record::parse(&bytes).with_context(about)?;
        let name = file.strip_prefix(path).ok().filter(|name| !name.as_os_str().is_empty());
        let name = name.unwrap_or(file.file_name().map_or(&file, Path::new));
        Ok((name.display().to_string(), record))
    };
    files.into_iter().map(read).collect()
}

fn list(path: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if files.len() > MOST_FILES {
        bail!("more than {MOST_FILES} files");
    }
    // Links to folders are not followed: they might lead in circles.
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            list(&entry.path(), files)?;
        } else if entry.path().is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}
