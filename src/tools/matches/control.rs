//! Control of a running match.

use kosumi_engine::{TimeSource, standard_time};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

/// Stop flags of a match, and its clocks. The user interface sets the flags and all threads read them.
#[derive(Debug, Default)]
pub struct Control {
    /// Start no more games.
    pub stop: AtomicBool,
    /// Abandon the running games.
    pub abort: AtomicBool,
    pub(super) clocks: Clocks,
}

/// Clocks that a match reads. A simulation has other ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    /// Time since a fixed point.
    pub time: TimeSource,
    /// Date for the records.
    pub date: fn() -> SystemTime,
    /// Waits.
    pub pause: fn(Duration),
}

impl Default for Clocks {
    fn default() -> Clocks {
        Clocks { time: standard_time, date: SystemTime::now, pause: thread::sleep }
    }
}

impl Control {
    /// Whether no more games may start.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.is_aborted()
    }

    /// Whether the running games must be abandoned.
    pub fn is_aborted(&self) -> bool {
        self.abort.load(Ordering::Relaxed)
    }

    /// Time since a fixed point.
    pub(super) fn now(&self) -> Duration {
        (self.clocks.time)()
    }

    /// Time since `start`.
    pub(super) fn since(&self, start: Duration) -> Duration {
        self.now().saturating_sub(start)
    }
}
