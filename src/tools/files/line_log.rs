//! Logs of JSON lines that survive the end of the process at any moment.
//!
//! Every line is synchronised to the disk before the next one is written, so only the last line can be torn. A torn
//! line has no line break and is cut off when the log is resumed. A lock keeps a second process out. It is released
//! when the process ends.

use super::regular::not_regular;
use anyhow::{Context, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Number of attempts to take the lock, and the pause between them.
const LOCK_ATTEMPTS: u32 = 10;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// Maximum length of a log that is read, in bytes: a few hundred thousand games.
const LOG_BYTES_MAX: u64 = 1 << 30;

/// Open log.
#[derive(Debug)]
pub struct LineLog {
    file: File,
    /// Length of the complete lines, in bytes.
    complete: u64,
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
        let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path);
        let file = file.with_context(about)?;
        let metadata = file.metadata().with_context(about)?;
        if !metadata.is_file() {
            return Err(not_regular()).with_context(about);
        }
        if metadata.len() > LOG_BYTES_MAX {
            bail!("the log {} is longer than {LOG_BYTES_MAX} bytes", path.display());
        }
        if !lock(&file) {
            bail!("another {what} is writing {}", path.display());
        }
        let mut bytes = Vec::new();
        (&file).take(LOG_BYTES_MAX).read_to_end(&mut bytes).with_context(about)?;
        Ok((LineLog { file, complete: bytes.len() as u64 }, bytes))
    }

    /// Truncates the log to `complete`, which must be its beginning and consist of complete lines. The line break of
    /// the last line is added if it is missing. New lines are appended after it.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails.
    pub fn resume_after(&mut self, complete: &[u8]) -> std::io::Result<()> {
        self.complete = complete.len() as u64;
        self.truncate()?;
        if complete.last().is_some_and(|&last| last != b'\n') {
            self.file.write_all(b"\n")?;
            self.complete += 1;
        }
        Ok(())
    }

    /// Truncates the file to the complete lines.
    fn truncate(&mut self) -> std::io::Result<()> {
        self.file.set_len(self.complete)?;
        self.file.seek(SeekFrom::End(0))?;
        Ok(())
    }

    /// Appends a line. The line is on the disk when this method returns.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails. The part of the line that was written is removed if the system allows it, so
    /// that the next line does not follow a torn one.
    pub fn write(&mut self, line: &impl Serialize) -> anyhow::Result<()> {
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        // A single call, so that a torn line lacks only its end.
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => self.complete += text.len() as u64,
            // If truncation fails, too, the torn line stays, as after a power cut. It is cut off when the log is opened
            // again.
            Err(_) => drop(self.truncate()),
        }
        written.context("cannot write the log")
    }
}

/// Takes the lock of a log. Returns false if another process holds it. A process that was just killed may hold it a
/// moment longer, through a child that it was about to start.
fn lock(file: &File) -> bool {
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
/// counts if it can be parsed.
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
