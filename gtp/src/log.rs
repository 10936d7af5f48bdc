//! A log of a session: lines with the time at which they were added.
//!
//! A separate thread writes the lines, so neither a slow disk nor a write error delays or ends the game. If too many
//! lines are waiting, some are dropped, and the log records their number.

use humantime::format_rfc3339_millis;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};
#[cfg(not(loom))]
use std::{
    sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    thread,
};
#[cfg(loom)]
use {
    loom::thread,
    models::channel::{Receiver, SyncSender, TrySendError, sync_channel},
};

#[cfg(loom)]
mod models;

/// Maximum number of lines that wait to be written. Models use a queue of one line, so that they reach the full queue.
const QUEUE: usize = if cfg!(loom) { 1 } else { 4096 };
/// Maximum number of characters of an entry. Longer ones are truncated, because a response may contain a whole board or
/// game record.
const MAX_ENTRY_CHARACTERS: usize = 2000;
/// Maximum time that dropping the log waits for the last lines.
const CLOSING_TIME: Duration = Duration::from_secs(1);

/// An open log. Dropping it waits for the last lines, for at most a second.
#[derive(Debug)]
pub struct Log {
    lines: Option<SyncSender<String>>,
    /// Channel that is disconnected when everything has been written.
    written: Receiver<()>,
    lost: u64,
}

impl Log {
    /// Opens a log that appends to a file. If the file cannot be written, the log does nothing, and `warn` is called
    /// once, now or later from the log's own thread.
    pub fn open(path: &Path, warn: fn(&str)) -> Log {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let about =
            |error: &io::Error| warn(&format!("logging is off: cannot write {}: {error}", path.display()));
        Log::start(file.inspect_err(about).ok(), warn)
    }

    /// Creates a log that writes to another target. Errors are handled as in [`Log::open`].
    pub fn to(target: impl Write + Send + 'static, warn: fn(&str)) -> Log {
        Log::start(Some(target), warn)
    }

    fn start(target: Option<impl Write + Send + 'static>, warn: fn(&str)) -> Log {
        let (lines, received) = sync_channel(QUEUE);
        let (done, written) = sync_channel(1);
        let writer = target.and_then(|target| {
            let run = move || {
                write_lines(target, &received, warn);
                drop(done);
            };
            thread::Builder::new().name("log".to_owned()).spawn(run).ok()
        });
        Log { lines: writer.map(|_| lines), written, lost: 0 }
    }

    /// Adds a line with the current time. Never blocks. The first 2,000 characters of a text are kept, and all lines
    /// after the first are indented. If 4,096 lines are waiting, this one is dropped, and the next line that is
    /// accepted contains the number of dropped lines.
    pub fn add(&mut self, text: &str) {
        let Some(lines) = &self.lines else { return };
        let (text, cut) =
            match text.char_indices().nth(MAX_ENTRY_CHARACTERS).and_then(|(end, _)| text.get(..end)) {
                Some(start) => (start, " ..."),
                None => (text, ""),
            };
        let gap = if self.lost > 0 { format!("({} lines lost) ", self.lost) } else { String::new() };
        // Without the indentation, a response of several lines would look like several responses.
        let text = text.trim_end().replace('\n', "\n    ");
        let now = format_rfc3339_millis(SystemTime::now());
        match lines.try_send(format!("{now} {gap}{text}{cut}\n")) {
            Ok(()) => self.lost = 0,
            Err(TrySendError::Full(_)) => self.lost += 1,
            Err(TrySendError::Disconnected(_)) => self.lines = None,
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.lines = None;
        // The channel never carries a value: the result is a disconnection or a timeout.
        let _ = self.written.recv_timeout(CLOSING_TIME);
    }
}

/// Writes lines until the channel is closed or a write fails.
fn write_lines(mut target: impl Write, lines: &Receiver<String>, warn: fn(&str)) {
    for line in lines {
        if let Err(error) = target.write_all(line.as_bytes()) {
            warn(&format!("logging stopped: {error}"));
            return;
        }
    }
}

// Excluded under loom, whose channel works only in models.
#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender, channel};
    use std::sync::{Arc, Mutex};

    /// A disk that blocks all writes until it is released. From then on it accepts everything.
    struct Stuck {
        reached: Sender<()>,
        released: Receiver<()>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    /// Test's handle of a [`Stuck`] disk.
    struct Disk {
        /// Receives a message at every attempt to write.
        is_reached: Receiver<()>,
        /// Dropped to release the disk.
        release: Sender<()>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // The test need not receive the message. An error of the second channel means that the disk was released.
            let _ = self.reached.send(());
            let _ = self.released.recv();
            self.written.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn stuck() -> (Log, Disk) {
        let ((release, released), (reached, is_reached)) = (channel(), channel());
        let written = Arc::new(Mutex::new(Vec::new()));
        let log = Log::to(Stuck { reached, released, written: Arc::clone(&written) }, |_| {});
        (log, Disk { is_reached, release, written })
    }

    #[test]
    fn a_blocked_disk_does_not_block_the_log() {
        let (done, is_done) = channel();
        thread::spawn(move || {
            let (mut log, disk) = stuck();
            // The writer thread holds the first line. If the thread started late, it would free a slot in the middle of
            // the others.
            log.add("line 0");
            disk.is_reached.recv().unwrap();
            (0..2 * QUEUE + 9).for_each(|number| log.add(&format!("line {number}")));
            let lost = log.lost;
            done.send(lost).unwrap();
            drop(disk.release);
            // Once the disk accepts lines again, the log records the number of dropped lines and continues. This takes
            // a moment.
            while log.lost > 0 {
                thread::yield_now();
                log.add("again");
            }
            drop(log);
            done.send(
                String::from_utf8_lossy(&disk.written.lock().unwrap()).matches("lines lost) again").count()
                    as u64,
            )
            .unwrap();
        });
        let lost = is_done.recv_timeout(Duration::from_secs(60)).expect("nobody waits for the disk");
        assert_eq!(lost, QUEUE as u64 + 9);
        assert_eq!(is_done.recv_timeout(Duration::from_secs(60)), Ok(1), "the gap is reported once");
    }

    #[test]
    fn dropping_the_log_has_a_timeout() {
        let (done, is_done) = channel();
        let (mut log, disk) = stuck();
        log.add("a line");
        thread::spawn(move || {
            drop(log);
            done.send(()).unwrap();
        });
        is_done.recv_timeout(CLOSING_TIME + Duration::from_secs(60)).expect("an end");
        drop(disk.release);
    }
}
