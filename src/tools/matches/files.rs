//! Game records of a match, one file per game.

use super::record::GameRecord;
use crate::files::{create_folders, disk, write_atomically};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};

/// Folder of the records of a match.
#[derive(Debug)]
pub(super) struct GameFiles {
    folder: PathBuf,
}

impl GameFiles {
    /// Opens the folder. Accepts a folder that contains games only if a match is resumed.
    pub(super) fn open(folder: &Path, resume: bool) -> anyhow::Result<GameFiles> {
        let about = || format!("cannot use the folder {}", folder.display());
        create_folders(folder).with_context(about)?;
        if !resume {
            for name in disk::names(folder).with_context(about)? {
                if name.starts_with("game-") && name.ends_with(".sgf") {
                    bail!("{} contains games, such as {name}, which would be overwritten", folder.display());
                }
            }
        }
        Ok(GameFiles { folder: folder.to_owned() })
    }

    pub(super) fn write(&self, number: u32, sgf: &str) -> anyhow::Result<()> {
        let path = self.folder.join(file_name(number));
        write_atomically(&path, sgf).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Returns the number of these games that have no record in this folder, for example after another folder was
    /// chosen.
    pub(super) fn count_missing(&self, games: &[GameRecord]) -> anyhow::Result<usize> {
        let mut missing = 0;
        for game in games {
            let path = self.folder.join(file_name(game.number));
            let exists = disk::exists(&path).with_context(|| format!("cannot find {}", path.display()))?;
            missing += usize::from(!exists);
        }
        Ok(missing)
    }
}

/// Returns the file name of a game's record.
pub(super) fn file_name(number: u32) -> String {
    format!("game-{number:04}.sgf")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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
    }
}
