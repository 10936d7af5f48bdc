//! Logs of JSON lines that survive the end of the process at any moment.
//!
//! Every line is synchronised to the disk before the next one is written, so only the last line can be torn. A torn
//! line has no line break, or has zeros where the disk has lost a part of it. It is cut off when the log is resumed. A
//! lock keeps a second process out, and is released when the process ends.

use super::disk::{self, File};
use super::regular::not_regular;
use anyhow::{Context, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fs::TryLockError;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Number of attempts to take the lock, and the pause between them.
const LOCK_ATTEMPTS: u32 = 10;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// Maximum length of a log that is read, in bytes. It is enough for a few hundred thousand games.
const MAX_LOG_BYTES: u64 = 1 << 30;

/// Open log.
#[derive(Debug)]
pub struct LineLog {
    file: File,
    /// Length of the complete lines, in bytes.
    complete: u64,
    /// Whether anything may follow the complete lines.
    is_torn: bool,
}

impl LineLog {
    /// Opens a log, or creates an empty one, and returns its content. `what` names the process that may hold the lock,
    /// for the error message.
    ///
    /// # Errors
    ///
    /// Returns an error if the log cannot be read or written, or if another process holds its lock.
    pub fn open(path: &Path, what: &str) -> anyhow::Result<(LineLog, Vec<u8>)> {
        let about = || format!("cannot use the log {}", path.display());
        let mut file = disk::open_or_create(path).with_context(about)?;
        let Some(length) = disk::regular_length(&file).with_context(about)? else {
            return Err(not_regular()).with_context(about);
        };
        if length > MAX_LOG_BYTES {
            bail!("the log {} is longer than {MAX_LOG_BYTES} bytes", path.display());
        }
        if !lock(&mut file) {
            bail!("another {what} is writing {}", path.display());
        }
        if length == 0 {
            // If the name of the file is lost, so are all its lines.
            disk::sync_folder(disk::folder_of(path)).with_context(about)?;
        }
        let mut bytes = Vec::new();
        Read::take(&mut file, MAX_LOG_BYTES).read_to_end(&mut bytes).with_context(about)?;
        Ok((LineLog { file, complete: bytes.len() as u64, is_torn: false }, bytes))
    }

    /// Truncates the log to `complete`, which must be its beginning and consist of complete lines. The line break of
    /// the last line is added if it is missing. New lines are appended after it. When this method returns, the result
    /// is on the disk.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails.
    pub fn resume_after(&mut self, complete: &[u8]) -> std::io::Result<()> {
        self.complete = complete.len() as u64;
        self.truncate()?;
        let Some((_, before)) = complete.split_last() else { return Ok(()) };
        // The last line is written again. If an earlier process failed to synchronise it, it may be in memory only, and
        // another synchronisation would not report this.
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let line = complete[start..].strip_suffix(b"\n").unwrap_or(&complete[start..]);
        self.is_torn = true;
        self.file.seek(SeekFrom::Start(start as u64))?;
        self.file.write_all(&[line, b"\n"].concat())?;
        self.file.sync_data()?;
        self.complete = (start + line.len() + 1) as u64;
        self.is_torn = false;
        Ok(())
    }

    /// Truncates the file to the complete lines. The removed part does not return after a power cut.
    fn truncate(&mut self) -> std::io::Result<()> {
        self.is_torn = true;
        self.file.set_len(self.complete)?;
        self.file.sync_all()?;
        self.file.seek(SeekFrom::End(0))?;
        self.is_torn = false;
        Ok(())
    }

    /// Appends a line. The line is on the disk when this method returns.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails. The written part of the line is removed at the latest before the next line is
    /// written, so that no line follows a torn one.
    pub fn write(&mut self, line: &impl Serialize) -> anyhow::Result<()> {
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        if self.is_torn {
            self.truncate().context("cannot write the log")?;
        }
        // The line is written by a single call, so that a torn line lacks only its end.
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => self.complete += text.len() as u64,
            // If truncation fails as well, the torn line stays, as after a power cut. It is cut off before the next
            // line, or when the log is opened again.
            Err(_) => drop(self.truncate()),
        }
        written.context("cannot write the log")
    }
}

/// Takes the lock of a log. Returns false if another process holds it. A process that has just been killed may hold it
/// a moment longer, through a child process that it was about to start.
fn lock(file: &mut File) -> bool {
    for _ in 0..LOCK_ATTEMPTS {
        match file.try_lock() {
            // Some file systems do not support locks.
            Ok(()) | Err(TryLockError::Error(_)) => return true,
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
        }
    }
    false
}

/// Parses the complete lines of a log, and returns them with their length in bytes. A last line without a line break
/// counts if it can be parsed. A last line with zeros is torn, because the disk has lost a part of it and JSON contains
/// no zeros.
///
/// # Errors
///
/// Returns an error for the first complete line that cannot be parsed.
pub fn complete_lines<L: DeserializeOwned>(bytes: &[u8]) -> anyhow::Result<(Vec<L>, usize)> {
    let (mut lines, mut complete) = (Vec::new(), 0);
    for (index, piece) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        match serde_json::from_slice(piece) {
            Ok(line) => lines.push(line),
            Err(_) if !piece.ends_with(b"\n") => break,
            Err(_) if piece.contains(&0) && complete + piece.len() == bytes.len() => break,
            Err(error) => bail!("line {}: {error}", index + 1),
        }
        complete += piece.len();
    }
    Ok((lines, complete))
}

/// Describes the differences between the settings of a log and the current ones.
pub fn differences(old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<String> {
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let text = |value: Option<&Value>| match value {
        None | Some(Value::Null) => "nothing".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    let different = keys.into_iter().filter(|&key| old.get(key) != new.get(key));
    different.map(|key| format!("{key} was {}, is {}", text(old.get(key)), text(new.get(key)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Plan, SimulatedDisk, create_folders};
    use crate::simulation::{Counts, run_seeds};
    use kosumi_go::rng::Rng;
    use std::collections::BTreeSet;

    /// Writes lines to a log until the disk stops, and goes on after errors. Adds the lines that were written to
    /// `written`, and returns whether the log could be opened.
    fn write_lines(
        disk: &SimulatedDisk,
        rng: &mut Rng,
        written: &mut BTreeSet<String>,
    ) -> anyhow::Result<()> {
        let folder = disk.root().join("a/b");
        create_folders(&folder)?;
        let (mut log, bytes) = LineLog::open(&folder.join("log"), "test")?;
        let (lines, complete) = complete_lines::<String>(&bytes).expect("a sound log");
        let found: BTreeSet<String> = lines.iter().cloned().collect();
        assert_eq!(found.len(), lines.len(), "no line is there twice");
        assert!(written.is_subset(&found), "{:?} are lost", written.difference(&found));
        log.resume_after(&bytes[..complete])?;
        // The lines that were read must stay as well.
        written.extend(found);
        for _ in 0..rng.below(6) {
            let line = format!("{}{}", rng.next_u64(), "x".repeat(rng.below(600) as usize));
            if log.write(&line).is_ok() {
                written.insert(line);
            }
        }
        Ok(())
    }

    #[test]
    fn no_line_is_lost_and_none_is_torn() {
        let simulate = |seed, counts: &mut Counts| {
            let (disk, mut rng, mut written) = (SimulatedDisk::new(seed), Rng::new(seed), BTreeSet::new());
            for _ in 0..8 {
                disk.restart(Plan::draw(&mut rng, 40));
                let opened = write_lines(&disk, &mut rng, &mut written);
                counts.add("errors", u64::from(opened.is_err()));
                counts.add("stops", u64::from(disk.stopped().is_some()));
            }
            disk.restart(Plan::default());
            write_lines(&disk, &mut rng, &mut written).expect("a disk without faults");
            counts.add("lines", written.len() as u64);
        };
        let Some(counts) = run_seeds("files::line_log", 200, simulate) else { return };
        assert!(["errors", "stops", "lines"].iter().all(|what| counts.of(what) > 0), "{counts:?}");
    }
}
