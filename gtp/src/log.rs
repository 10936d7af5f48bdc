//! A log of a session: lines with the time at which they came.
//!
//! A line is handed to a thread that writes it. Whatever happens to that thread or its disk, the game neither waits
//! for it nor ends: when too many lines wait, some are left out, and the log says how many.

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

/// Lines that may wait. One is enough for models, which then see the queue full.
const QUEUE: usize = if cfg!(loom) { 1 } else { 4096 };
/// Longer ones are cut: an answer may be a whole board or record.
const LONGEST: usize = 2000;
/// So long the end of the process waits for the last lines.
const CLOSING_TIME: Duration = Duration::from_secs(1);

/// An open log. Dropping it waits for the last lines, a second at most.
#[derive(Debug)]
pub struct Log {
    lines: Option<SyncSender<String>>,
    /// Disconnected when everything is written.
    written: Receiver<()>,
    lost: u64,
}

impl Log {
    /// A log that goes on at the end of a file. One that cannot be written does nothing; `warn` hears of that, once, now or on
    /// the log's own thread.
    pub fn open(path: &Path, warn: fn(&str)) -> Log {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let about = |error: &io::Error| warn(&format!("no log: cannot write {}: {error}", path.display()));
        Log::start(file.inspect_err(about).ok(), warn)
    }

    /// A log that goes somewhere else; the same holds for it.
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

    /// Adds a line under the present time, and never waits. Of a text the first 2,000 characters are kept; its further lines
    /// are indented. When 4,096 lines wait to be written, this one is lost, and the next that is not says how many were.
    pub fn add(&mut self, text: &str) {
        let Some(lines) = &self.lines else { return };
        let (text, cut) = match text.char_indices().nth(LONGEST).and_then(|(end, _)| text.get(..end)) {
            Some(start) => (start, " ..."),
            None => (text, ""),
        };
        let gap = if self.lost > 0 { format!("({} lines lost) ", self.lost) } else { String::new() };
        // A line of its own for each line of an answer would look like several answers.
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
        // Only ever disconnected, or too late.
        let _ = self.written.recv_timeout(CLOSING_TIME);
    }
}

/// Writes lines until there are no more, or none can be written.
fn write_lines(mut target: impl Write, lines: &Receiver<String>, warn: fn(&str)) {
    for line in lines {
        if let Err(error) = target.write_all(line.as_bytes()) {
            warn(&format!("no log any more: {error}"));
            return;
        }
    }
}

// Without the model checker's channel, which works in models alone.
#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender, channel};
    use std::sync::{Arc, Mutex};

    /// A disk that takes nothing until it is told to; from then on, it takes everything.
    struct Stuck {
        reached: Sender<()>,
        told: Receiver<()>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    /// The same from outside.
    struct Disk {
        /// Hears of every attempt to write.
        is_reached: Receiver<()>,
        /// Dropped to let the disk take everything.
        tell: Sender<()>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // Nobody need wait for the news. An error afterwards is a disk that nobody holds any more.
            let _ = self.reached.send(());
            let _ = self.told.recv();
            self.written.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn stuck() -> (Log, Disk) {
        let ((tell, told), (reached, is_reached)) = (channel(), channel());
        let written = Arc::new(Mutex::new(Vec::new()));
        let log = Log::to(Stuck { reached, told, written: Arc::clone(&written) }, |_| {});
        (log, Disk { is_reached, tell, written })
    }

    #[test]
    fn a_disk_that_takes_nothing_holds_up_nobody() {
        let (done, is_done) = channel();
        thread::spawn(move || {
            let (mut log, disk) = stuck();
            // The writer holds the first line: a thread that began late would make room in the middle of the others.
            log.add("line 0");
            disk.is_reached.recv().unwrap();
            (0..2 * QUEUE + 9).for_each(|number| log.add(&format!("line {number}")));
            let lost = log.lost;
            done.send(lost).unwrap();
            drop(disk.tell);
            // Once the disk takes lines again, the log says how many are missing, and goes on. It takes a moment.
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
        assert_eq!(is_done.recv_timeout(Duration::from_secs(60)), Ok(1), "the gap is told once");
    }

    #[test]
    fn the_end_does_not_wait_for_ever() {
        let (done, is_done) = channel();
        let (mut log, disk) = stuck();
        log.add("a line");
        thread::spawn(move || {
            drop(log);
            done.send(()).unwrap();
        });
        is_done.recv_timeout(CLOSING_TIME + Duration::from_secs(60)).expect("an end");
        drop(disk.tell);
    }
}
