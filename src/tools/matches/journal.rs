//! Log of a match: a line of JSON about the match, then one for every game. Each line is written and synchronised to
//! the disk as soon as the game is over.
//!
//! Invariants, even if the process or the machine stops at any moment (`tests::a_torn_line_is_no_game`, and
//! `tests/match_resume.rs`):
//!
//! * every complete line about a game is a finished game, whose SGF file was completed earlier if such files are
//!   written;
//! * only the last line can be torn: it lacks its line break, and is cut off when the match is resumed;
//! * no number occurs twice, because a second process cannot open the log while the first holds its lock, which ends
//!   with the process.

use super::player::Identity;
use super::record::GameRecord;
use crate::files::{LineLog, complete_lines, differences};
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::Path;

/// Line of the log.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LogLine {
    /// First line.
    Match(LogHeader),
    Game(Box<GameRecord>),
    /// Game that could not start. It is played later.
    Annulled {
        number: u32,
        reason: String,
    },
}

/// Properties that all games of a log share.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct LogHeader {
    /// Version of this format.
    version: u32,
    pub(super) engines: [Identity; 2],
    /// Settings that must be unchanged when the match is resumed.
    pub(super) settings: Map<String, Value>,
}

const VERSION: u32 = 1;
/// Bytes with which every log begins.
const FIRST_BYTES: &[u8] = b"{\"match\":";

/// Content of an existing log.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct LogContent {
    pub(super) header: Option<LogHeader>,
    /// Games in the order in which they ended.
    pub(super) games: Vec<GameRecord>,
    pub(super) annulled: u32,
}

/// Open log.
#[derive(Debug)]
pub(super) struct Journal {
    log: LineLog,
    has_header: bool,
    /// Complete lines of the existing log, until the first new line is written. A torn line is cut off only when it is
    /// certain that the match continues.
    complete: Option<Vec<u8>>,
}

impl Journal {
    /// Opens a log and reads it. `settings` are those of the match to play; those of the log must be equal. A log that
    /// contains games is accepted only if the match is resumed.
    pub(super) fn open(
        path: &Path,
        resume: bool,
        settings: &Map<String, Value>,
    ) -> anyhow::Result<(Journal, LogContent)> {
        let (log, mut bytes) = LineLog::open(path, "match")?;
        let (past, complete) = read(&bytes).with_context(|| format!("{} is damaged", path.display()))?;
        if past.header.is_some() && !resume {
            bail!("{} exists; use --resume to continue it", path.display());
        }
        // The first line may be torn as well. Bytes of it that the disk has lost are zeros.
        if bytes.iter().zip(FIRST_BYTES).any(|(&byte, &first)| byte != first && byte != 0) {
            bail!("{} is not the log of a match", path.display());
        }
        if let Some(header) = &past.header {
            let different = differences(&header.settings, settings);
            if !different.is_empty() {
                bail!("{} is the log of another match: {}", path.display(), different.join("; "));
            }
        }
        bytes.truncate(complete);
        let journal = Journal { log, has_header: past.header.is_some(), complete: Some(bytes) };
        Ok((journal, past))
    }

    /// Prepares the log for games: cuts off a torn line, and writes the engines and settings if the log has none.
    pub(super) fn begin(
        &mut self,
        engines: [Identity; 2],
        settings: Map<String, Value>,
    ) -> anyhow::Result<()> {
        if let Some(complete) = self.complete.take() {
            self.log.resume_after(&complete).context("cannot write the log")?;
        }
        if !self.has_header {
            self.log.write(&LogLine::Match(LogHeader { version: VERSION, engines, settings }))?;
            self.has_header = true;
        }
        Ok(())
    }

    /// Adds a finished game. When this function returns, the game is on the disk.
    pub(super) fn add(&mut self, record: &GameRecord) -> anyhow::Result<()> {
        self.log.write(&LogLine::Game(Box::new(record.clone())))
    }

    /// Adds a game that could not start.
    pub(super) fn add_annulled(&mut self, number: u32, reason: &str) -> anyhow::Result<()> {
        self.log.write(&LogLine::Annulled { number, reason: reason.to_owned() })
    }
}

/// Reads a log, and returns the number of bytes in complete lines. A last line without a line break counts if it can be
/// parsed, because then only the line break is missing.
pub(super) fn read(bytes: &[u8]) -> anyhow::Result<(LogContent, usize)> {
    let mut past = LogContent::default();
    let mut seen = BTreeSet::new();
    let (lines, complete) = complete_lines::<LogLine>(bytes)?;
    for (index, line) in lines.into_iter().enumerate() {
        let number = index + 1;
        match line {
            LogLine::Match(header) if index == 0 && header.version == VERSION => past.header = Some(header),
            LogLine::Match(_) => bail!("line {number}: start of another match, or of one of another version"),
            _ if index == 0 => bail!("line 1: the settings of the match are missing"),
            LogLine::Game(record) => {
                if record.number == 0 {
                    bail!("line {number}: game 0, but the first game is game 1");
                }
                if !seen.insert(record.number) {
                    bail!("line {number}: game {} occurs twice", record.number);
                }
                past.games.push(*record);
            }
            LogLine::Annulled { .. } => past.annulled += 1,
        }
    }
    Ok((past, complete))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matches::fixtures::record;
    use serde_json::json;
    use std::fs;
    use std::path::PathBuf;
    use tempfile::TempDir;

    /// Returns a temporary folder and the path of a log in it.
    fn scratch() -> (TempDir, PathBuf) {
        let folder = TempDir::new().unwrap();
        let log = folder.path().join("log.jsonl");
        (folder, log)
    }

    fn settings(seed: u32) -> Map<String, Value> {
        json!({"seed": seed, "rules": "cgos"}).as_object().unwrap().clone()
    }

    fn engines() -> [Identity; 2] {
        ["1", "2"].map(|version| Identity { name: "Test".into(), version: version.into() })
    }

    fn write(path: &Path, games: &[u32]) {
        let (mut journal, _) = Journal::open(path, true, &settings(1)).unwrap();
        journal.begin(engines(), settings(1)).unwrap();
        games.iter().for_each(|&number| journal.add(&record(number)).unwrap());
    }

    fn numbers(path: &Path) -> Vec<u32> {
        let (_, past) = Journal::open(path, true, &settings(1)).unwrap();
        past.games.iter().map(|game| game.number).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let (_folder, log) = scratch();
        write(&log, &[2, 1]);
        write(&log, &[3]);
        let (mut journal, past) = Journal::open(&log, true, &settings(1)).unwrap();
        assert_eq!(past.games, [2, 1, 3].map(record));
        assert_eq!(past.header.unwrap().engines, engines());
        journal.add_annulled(4, "no engine").unwrap();
        drop(journal);
        assert_eq!(Journal::open(&log, true, &settings(1)).unwrap().1.annulled, 1);
    }

    #[test]
    fn a_torn_line_is_no_game() {
        let (_folder, log) = scratch();
        write(&log, &[1, 2, 3]);
        let whole = fs::read(&log).unwrap();
        let ends: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] == b'\n').collect();
        // Truncated anywhere, the log contains the games whose lines are complete except for the line break.
        for length in (0..whole.len()).step_by(7).chain(ends.iter().flat_map(|&end| [end - 1, end, end + 1]))
        {
            fs::write(&log, &whole[..length]).unwrap();
            drop(Journal::open(&log, true, &settings(1)).unwrap());
            assert_eq!(
                fs::read(&log).unwrap(),
                whole[..length],
                "a match that does not resume changes nothing"
            );
            let games = ends[1..].iter().filter(|&&end| length >= end).count() as u32;
            assert_eq!(numbers(&log), (1..=games).collect::<Vec<_>>(), "{length}");
            // The match continues after these games.
            write(&log, &[9]);
            let expected: Vec<u32> = (1..=games).chain([9]).collect();
            assert_eq!(numbers(&log), expected, "{length}");
        }
    }

    #[test]
    fn other_files_are_left_alone() {
        let (_folder, log) = scratch();
        let refused = |resume, seed| {
            let before = fs::read(&log).unwrap();
            let error = Journal::open(&log, resume, &settings(seed)).unwrap_err();
            assert_eq!(fs::read(&log).unwrap(), before);
            format!("{error:#}")
        };
        for text in ["a shopping list", "a\nb\n", "{\"game\":{}}\n"] {
            fs::write(&log, text).unwrap();
            refused(true, 1);
        }
        fs::remove_file(&log).unwrap();
        write(&log, &[1]);
        assert!(refused(false, 1).contains("--resume"));
        assert!(refused(true, 2).contains("seed was 1, is 2"), "{}", refused(true, 2));
        let twice = fs::read_to_string(&log).unwrap();
        let line = twice.lines().nth(1).unwrap();
        fs::write(&log, format!("{twice}{line}\n")).unwrap();
        assert!(refused(true, 1).contains("line 3: game 1 occurs twice"));
        fs::write(&log, twice.replace("\"number\":1,", "\"number\":0,")).unwrap();
        assert!(refused(true, 1).contains("line 2: game 0"));
        fs::write(&log, format!("{}\nxx\n{line}\n", twice.lines().next().unwrap())).unwrap();
        assert!(refused(true, 1).contains("line 2"));
    }

    #[test]
    fn one_match_at_a_time() {
        let (_folder, log) = scratch();
        let first = Journal::open(&log, true, &settings(1)).unwrap();
        let second = Journal::open(&log, true, &settings(1)).unwrap_err();
        assert!(second.to_string().contains("another match"), "{second}");
        drop(first);
        assert!(Journal::open(&log, true, &settings(1)).is_ok());
    }
}
