//! Logs of JSON lines that survive the death of the process at any moment.
//!
//! Every line is synchronised to the disk before the next is written, so only the last one can be torn: it ends without
//! a line break, and is cut off when the log is gone on with. A lock, which goes with the process, keeps a second one
//! out.

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

/// How often a lock is tried, and the time between.
const LOCK_ATTEMPTS: u32 = 10;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// An open log.
#[derive(Debug)]
pub struct LineLog {
    file: File,
    /// Bytes of complete lines.
    complete: u64,
}

impl LineLog {
    /// Opens a log, or makes an empty one, and reads what is in it. `what` writes it, for the message if another one
    /// does so now.
    ///
    /// # Errors
    /// If it cannot be read or written, or another process writes it.
    pub fn open(path: &Path, what: &str) -> anyhow::Result<(LineLog, Vec<u8>)> {
        let about = || format!("cannot use the log {}", path.display());
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)
            .with_context(about)?;
        if !lock(&file) {
            bail!("{} is being written by another {what}", path.display());
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(about)?;
        Ok((LineLog { file, complete: bytes.len() as u64 }, bytes))
    }

    /// Cuts off what is behind these bytes, which the log begins with: complete lines, the last maybe without its
    /// break. New lines come behind them.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn go_on_behind(&mut self, complete: &[u8]) -> std::io::Result<()> {
        self.complete = complete.len() as u64;
        self.cut_off()?;
        if complete.last().is_some_and(|&last| last != b'\n') {
            self.file.write_all(b"\n")?;
            self.complete += 1;
        }
        Ok(())
    }

    /// Takes back what is behind the complete lines.
    fn cut_off(&mut self) -> std::io::Result<()> {
        self.file.set_len(self.complete)?;
        self.file.seek(SeekFrom::End(0))?;
        Ok(())
    }

    /// Adds a line. When this returns, it is on the disk.
    ///
    /// # Errors
    /// If that cannot be written. As far as the system lets it, what was written of the line is taken back, so that the next
    /// one does not go on behind a part of it.
    pub fn write(&mut self, line: &impl Serialize) -> anyhow::Result<()> {
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        // One call: what is torn is torn at the end.
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => self.complete += text.len() as u64,
            // If this fails, too, the part stays, as after a power cut; whoever opens the log cuts it off.
            Err(_) => drop(self.cut_off()),
        }
        written.context("cannot write the log")
    }
}

/// Takes the lock of a log; false if another process has it. A process that has just been killed may have it a moment
/// longer: in a child that it was about to start.
fn lock(file: &File) -> bool {
    for _ in 0..LOCK_ATTEMPTS {
        match file.try_lock() {
            // Some file systems have no locks.
            Ok(()) | Err(TryLockError::Error(_)) => return true,
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
        }
    }
    false
}

/// The complete lines of a log, and how many bytes they take. A last line without a line break counts if it can be
/// read: then only the break is missing.
///
/// # Errors
/// The first complete line that cannot be read.
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

/// What differs between the settings of a log and those of now.
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
