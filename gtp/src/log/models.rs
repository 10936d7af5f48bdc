//! Model checking (loom) of the log: small cases in all interleavings of its two threads. The log must never delay its
//! caller. Run by `scripts/models`. The queue holds one line here.

#![cfg_attr(not(test), allow(dead_code))]

use super::*;
use loom::sync::{Condvar, Mutex};
use std::cell::Cell;
use std::sync::Arc;

/// A channel with the guarantees of the standard library's, implemented with the primitives of the model checker.
pub(super) mod channel {
    use loom::sync::{Condvar, Mutex};
    use loom::thread;
    use std::collections::VecDeque;
    use std::sync::Arc;
    pub(crate) use std::sync::mpsc::{RecvTimeoutError, TrySendError};
    use std::time::Duration;

    #[derive(Debug)]
    struct State<T> {
        waiting: VecDeque<T>,
        has_sender: bool,
        has_receiver: bool,
        is_late: bool,
    }

    #[derive(Debug)]
    struct Shared<T> {
        state: Mutex<State<T>>,
        changed: Condvar,
        capacity: usize,
    }

    impl<T> Shared<T> {
        fn change<R>(&self, change: impl FnOnce(&mut State<T>) -> R) -> R {
            let result = change(&mut self.state.lock().unwrap());
            self.changed.notify_all();
            result
        }

        /// Changes the state like [`Shared::change`], for destructors, which also run while a failed model panics, when
        /// nothing may block.
        fn at_the_end(&self, change: impl FnOnce(&mut State<T>)) {
            if !std::thread::panicking() {
                self.change(change);
            }
        }
    }

    #[derive(Debug)]
    pub(crate) struct SyncSender<T>(Arc<Shared<T>>);

    #[derive(Debug)]
    pub(crate) struct Receiver<T>(Arc<Shared<T>>);

    pub(crate) fn sync_channel<T>(capacity: usize) -> (SyncSender<T>, Receiver<T>) {
        let state = State { waiting: VecDeque::new(), has_sender: true, has_receiver: true, is_late: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), capacity });
        (SyncSender(Arc::clone(&shared)), Receiver(shared))
    }

    impl<T> SyncSender<T> {
        pub(crate) fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
            self.0.change(|state| {
                if !state.has_receiver {
                    Err(TrySendError::Disconnected(value))
                } else if state.waiting.len() == self.0.capacity {
                    Err(TrySendError::Full(value))
                } else {
                    state.waiting.push_back(value);
                    Ok(())
                }
            })
        }

        /// Waits for space, which the log must not do. It exists for `tests/faults/log_waits.patch`.
        #[allow(dead_code)]
        pub(crate) fn send(&self, value: T) -> Result<(), std::sync::mpsc::SendError<T>> {
            let mut state = self.0.state.lock().unwrap();
            while state.has_receiver && state.waiting.len() == self.0.capacity {
                state = self.0.changed.wait(state).unwrap();
            }
            if !state.has_receiver {
                return Err(std::sync::mpsc::SendError(value));
            }
            state.waiting.push_back(value);
            self.0.changed.notify_all();
            Ok(())
        }
    }

    impl<T> Drop for SyncSender<T> {
        fn drop(&mut self) {
            self.0.at_the_end(|state| state.has_sender = false);
        }
    }

    impl<T> Drop for Receiver<T> {
        fn drop(&mut self) {
            self.0.at_the_end(|state| state.has_receiver = false);
        }
    }

    impl<T> Receiver<T> {
        /// Returns the next value, or `None` if the channel is closed or the time is over.
        fn next(&self) -> Option<T> {
            let mut state = self.0.state.lock().unwrap();
            while state.waiting.is_empty() && state.has_sender && !state.is_late {
                state = self.0.changed.wait(state).unwrap();
            }
            let next = state.waiting.pop_front();
            self.0.changed.notify_all();
            next
        }
    }

    impl<T: Send + 'static> Receiver<T> {
        /// Receives a value or times out. In models with a clock, the timeout may occur at any moment; in others,
        /// never.
        pub(crate) fn recv_timeout(&self, _: Duration) -> Result<T, RecvTimeoutError> {
            if std::thread::panicking() {
                return Err(RecvTimeoutError::Timeout);
            }
            let clock = super::HAS_CLOCK.get().then(|| {
                let shared = Arc::clone(&self.0);
                thread::spawn(move || shared.change(|state| state.is_late = true))
            });
            let next = self.next();
            let error =
                if clock.is_some() { RecvTimeoutError::Timeout } else { RecvTimeoutError::Disconnected };
            next.ok_or(error)
        }
    }

    impl<'r, T> IntoIterator for &'r Receiver<T> {
        type Item = T;
        type IntoIter = Box<dyn Iterator<Item = T> + 'r>;

        fn into_iter(self) -> Self::IntoIter {
            Box::new(std::iter::from_fn(|| self.next()))
        }
    }
}

thread_local! {
    /// Whether a wait can time out. A model runs all its threads in one.
    static HAS_CLOCK: Cell<bool> = const { Cell::new(false) };
    /// Number of warnings.
    static WARNINGS: Cell<u32> = const { Cell::new(0) };
}

/// Checks all interleavings with at most three preemptions.
fn check(has_clock: bool, run: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        HAS_CLOCK.set(has_clock);
        WARNINGS.set(0);
        run();
    });
}

fn warn(_: &str) {
    WARNINGS.set(WARNINGS.get() + 1);
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Condition {
    /// Blocks writes.
    Stuck,
    Well,
    Broken,
}

/// A disk and its content.
#[derive(Clone)]
struct Disk(Arc<(Mutex<(Condition, String)>, Condvar)>);

impl Disk {
    fn set(&self, condition: Condition) {
        self.0.0.lock().unwrap().0 = condition;
        self.0.1.notify_all();
    }

    /// Returns for each written line the number of lost lines that the log reports before it, and its number.
    fn written(&self) -> Vec<(u64, u64)> {
        let number = |text: &str| text.parse().expect("a number");
        let line = |line: &str| {
            let (_, line) = line.split_once(' ').expect("the time");
            match line.strip_prefix('(').and_then(|line| line.split_once(" lines lost) ")) {
                Some((lost, rest)) => (number(lost), number(rest)),
                None => (0, number(line)),
            }
        };
        self.0.0.lock().unwrap().1.lines().map(line).collect()
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.0.lock().unwrap();
        while state.0 == Condition::Stuck {
            state = self.0.1.wait(state).unwrap();
        }
        if state.0 == Condition::Broken {
            return Err(io::ErrorKind::StorageFull.into());
        }
        state.1.push_str(str::from_utf8(bytes).expect("text"));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn log(condition: Condition) -> (Log, Disk) {
    let disk = Disk(Arc::new((Mutex::new((condition, String::new())), Condvar::new())));
    (Log::to(disk.clone(), warn), disk)
}

/// Adds the lines 1 to `count`.
fn add(log: &mut Log, count: u64) {
    (1..=count).for_each(|number| log.add(&number.to_string()));
}

/// Asserts that every line is written or reported as lost. `lost` is the number of lost lines at the end.
fn assert_all_lines_accounted_for(written: &[(u64, u64)], lost: u64, count: u64) {
    let mut next = 1;
    for &(gap, number) in written {
        assert_eq!(number, next + gap, "{written:?}");
        next = number + 1;
    }
    assert_eq!(next + lost, count + 1, "{written:?} and {lost} lost");
}

#[test]
fn a_blocked_disk_does_not_block_the_log() {
    check(false, || {
        let (mut log, disk) = log(Condition::Stuck);
        // If this waited for the disk, the disk would never be released.
        add(&mut log, 4);
        let lost = log.lost;
        disk.set(Condition::Well);
        drop(log);
        let written = disk.written();
        assert!(written.len() <= 2, "one line waits, and one is with the disk");
        assert_all_lines_accounted_for(&written, lost, 4);
    });
}

#[test]
fn lost_lines_are_reported() {
    check(false, || {
        let (mut log, disk) = log(Condition::Stuck);
        let others = disk.clone();
        let helper = loom::thread::spawn(move || others.set(Condition::Well));
        add(&mut log, 5);
        let lost = log.lost;
        drop(log);
        assert_all_lines_accounted_for(&disk.written(), lost, 5);
        helper.join().expect("it only lets the disk go");
    });
}

#[test]
fn dropping_the_log_waits_for_all_lines() {
    check(false, || {
        let (mut log, disk) = log(Condition::Well);
        add(&mut log, 1);
        drop(log);
        assert_eq!(disk.written(), [(0, 1)]);
    });
}

#[test]
fn dropping_the_log_has_a_timeout() {
    check(true, || {
        let (mut log, disk) = log(Condition::Stuck);
        add(&mut log, 2);
        // If this waited for the disk, the disk would never be released.
        drop(log);
        disk.set(Condition::Well);
    });
}

#[test]
fn a_write_error_is_reported_once_and_does_not_block() {
    check(false, || {
        let (mut log, disk) = log(Condition::Broken);
        add(&mut log, 3);
        drop(log);
        assert_eq!((WARNINGS.get(), disk.written()), (1, vec![]));
    });
}
