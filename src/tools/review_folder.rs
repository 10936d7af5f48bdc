//! Folder with the reviews of many games: the files of each game, and a log of the finished games.
//!
//! Invariants, even if the process or the machine stops at any moment:
//!
//! * a game is in the log only while its files are on the disk, and they are those of its digest;
//! * every file is complete.

use crate::files::{LineLog, complete_lines, create_folders, disk, write_atomically};
use anyhow::Context;
use kosumi_board::review::GameEntry;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[cfg(test)]
mod simulation;

/// Log of the finished games.
const LOG: &str = "reviews.jsonl";

/// Line of the log.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct LogLine {
    /// See [`review_digest`](kosumi_board::review::review_digest). If it is empty, the files of an earlier review may
    /// have been replaced.
    digest: String,
    /// Path of the game's files in the folder, without their extensions.
    base: String,
    entry: GameEntry,
}

/// Game whose review is in a [`ReviewFolder`], or will be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReviewedGame<'g> {
    /// Path of the record in its folder.
    pub file: &'g str,
    /// Number of the game in the file, counted from 1.
    pub game: u32,
    /// Path of the game's files in the folder of the reviews, without their extensions. Different games of a run have
    /// different ones.
    pub base: &'g str,
    /// Digest of the record and the settings; see [`review_digest`](kosumi_board::review::review_digest).
    pub digest: &'g str,
}

/// Folder of reviews.
#[derive(Debug)]
pub struct ReviewFolder {
    log: LineLog,
    /// Last lines of the log about the files of each game of earlier runs, by [`ReviewedGame::base`].
    known: BTreeMap<String, LogLine>,
}

impl ReviewFolder {
    /// Opens a folder of reviews, and creates it if it is missing.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be created or written, if another process uses it, or if its log is not
    /// one of this version.
    pub fn open(folder: &Path) -> anyhow::Result<ReviewFolder> {
        create_folders(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
        let path = folder.join(LOG);
        let (mut log, bytes) = LineLog::open(&path, "review")?;
        let (lines, complete) = complete_lines::<LogLine>(&bytes).with_context(|| {
            format!(
                "{} is no log of reviews, or one of another version: choose another folder",
                path.display()
            )
        })?;
        log.resume_after(&bytes[..complete])?;
        // Another game may have replaced the files of a game, for example because its record has been renamed.
        let known = lines.into_iter().map(|line| (line.base.clone(), line)).collect();
        Ok(ReviewFolder { log, known })
    }

    /// Returns the entry of a game that an earlier run has reviewed with this digest, if its files exist.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be found out whether a file exists.
    pub fn finished(&self, game: &ReviewedGame<'_>, files: &[PathBuf]) -> anyhow::Result<Option<GameEntry>> {
        let is_it = |line: &&LogLine| {
            line.digest == game.digest && line.entry.file == game.file && line.entry.game == game.game
        };
        let Some(line) = self.known.get(game.base).filter(is_it) else { return Ok(None) };
        for path in files {
            if !disk::exists(path).with_context(|| format!("cannot find {}", path.display()))? {
                return Ok(None);
            }
        }
        Ok(Some(line.entry.clone()))
    }

    /// Writes the files of a game with their texts, and then its line of the log. When this function returns, all of
    /// them are on the disk.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails. The game is then reviewed again by the next run.
    pub fn store<'t>(
        &mut self,
        game: &ReviewedGame<'_>,
        entry: GameEntry,
        files: impl IntoIterator<Item = (&'t Path, &'t str)>,
    ) -> anyhow::Result<()> {
        let ReviewedGame { base, digest, .. } = *game;
        if let Some(line) = self.known.remove(base) {
            // If the work ends before the new line is written, the old one must not count for the new files.
            self.log.write(&LogLine { digest: String::new(), ..line })?;
        }
        let files: Vec<(&Path, &str)> = files.into_iter().collect();
        let folders: BTreeSet<&Path> = files.iter().filter_map(|(path, _)| path.parent()).collect();
        for folder in folders {
            create_folders(folder)
                .with_context(|| format!("cannot create the folder {}", folder.display()))?;
        }
        for (path, text) in files {
            write_atomically(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        self.log.write(&LogLine { digest: digest.to_owned(), base: base.to_owned(), entry })
    }
}
