//! The files of a match.

use super::journal::Past;
use crate::cli::whole_file;
use anyhow::{Context, bail};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file that is there as a whole or not at all.
pub(super) fn write_at_once(path: &Path, text: &str) -> anyhow::Result<()> {
    whole_file::write_at_once(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Finds out before hours of games whether a file can be written after them.
pub(super) fn check_target(path: &Path) -> anyhow::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if path.is_dir() || path.file_name().is_none() || folder.is_some_and(|folder| !folder.is_dir()) {
        bail!("{} cannot be written", path.display());
    }
    Ok(())
}

/// The way from a file to a folder, for links.
pub(super) fn relative(file: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let absolute =
        |path: &Path| path.canonicalize().with_context(|| format!("cannot find {}", path.display()));
    let (from, to) = (absolute(parent)?, absolute(folder)?);
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| "..");
    Ok(up
        .map(PathBuf::from)
        .chain(to.components().skip(common).map(|part| part.as_os_str().into()))
        .collect())
}

/// The folder with the records of a match.
#[derive(Debug)]
pub(super) struct GameFiles {
    folder: PathBuf,
}

impl GameFiles {
    /// Prepares the folder. One that has games in it is only used to go on with them.
    pub(super) fn open(folder: &Path, resume: bool) -> anyhow::Result<GameFiles> {
        let about = || format!("cannot use the folder {}", folder.display());
        fs::create_dir_all(folder).with_context(about)?;
        if !resume {
            for entry in fs::read_dir(folder).with_context(about)? {
                let name = entry.with_context(about)?.file_name().to_string_lossy().into_owned();
                if name.starts_with("game-") && name.ends_with(".sgf") {
                    bail!("{} has games in it, such as {name}, which would be lost", folder.display());
                }
            }
        }
        Ok(GameFiles { folder: folder.to_owned() })
    }

    pub(super) fn write(&self, number: u32, sgf: &str) -> anyhow::Result<()> {
        write_at_once(&self.folder.join(file_name(number)), sgf)
    }

    /// Says on the standard error which games of the log have no record here, as after a change of folders.
    pub(super) fn warn_of_missing(&self, past: &Past) -> anyhow::Result<()> {
        let is_missing = |number: &u32| !self.folder.join(file_name(*number)).exists();
        let missing = past.games.iter().map(|game| game.number).filter(is_missing).count();
        if missing > 0 {
            let folder = self.folder.display();
            writeln!(io::stderr(), "kosumi: {missing} games of the log have no record in {folder}")?;
        }
        Ok(())
    }
}

/// The name of a game's record.
pub(super) fn file_name(number: u32) -> String {
    format!("game-{number:04}.sgf")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_with_games_are_left_alone() {
        let scratch = tempfile::TempDir::new().unwrap();
        let folder = &scratch.path().join("games");
        let files = GameFiles::open(folder, false).unwrap();
        files.write(7, "(;)").unwrap();
        files.write(7, "(;B[aa])").unwrap();
        assert_eq!(fs::read_to_string(folder.join("game-0007.sgf")).unwrap(), "(;B[aa])");
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "no part is left");
        assert!(GameFiles::open(folder, false).unwrap_err().to_string().contains("game-0007.sgf"));
        assert!(GameFiles::open(folder, true).is_ok());
        fs::create_dir_all(folder.join("a/b")).unwrap();
        let way = |file: &str, to: &str| relative(&folder.join(file), &folder.join(to)).unwrap();
        assert_eq!(way("page.html", "a/b"), Path::new("a/b"));
        assert_eq!(way("a/page.html", ""), Path::new(".."));
        assert_eq!(way("a/b/page.html", "a"), Path::new(".."));
        assert_eq!(way("a/b/page.html", "a/b"), Path::new(""));
        assert!(check_target(folder).is_err());
        assert!(check_target(&folder.join("no/such/file")).is_err());
        assert!(check_target(&folder.join("new")).is_ok());
    }
}
