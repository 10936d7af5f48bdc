//! Control of a running match.

use kosumi_engine::{TimeSource, standard_time};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

/// Stop flags of a match, and its clocks. The user interface sets the flags and all threads read them.
#[derive(Debug, Default)]
pub struct Control {
    /// If set, no more games start.
    pub stop: AtomicBool,
    /// If set, the running games are abandoned.
    pub abort: AtomicBool,
    pub(super) clocks: Clocks,
}

/// Clocks that a match reads. A simulation uses others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    /// Function that returns the time since a fixed point.
    pub time: TimeSource,
    /// Function that returns the date for the records.
    pub date: fn() -> SystemTime,
    /// Function that waits for this time.
    pub pause: fn(Duration),
}

impl Default for Clocks {
    fn default() -> Clocks {
        Clocks { time: standard_time, date: SystemTime::now, pause: thread::sleep }
    }
}

impl Control {
    /// Returns whether no more games may start.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.is_aborted()
    }

    /// Returns whether the running games must be abandoned.
    pub fn is_aborted(&self) -> bool {
        self.abort.load(Ordering::Relaxed)
    }

    /// Returns the time since a fixed point.
    pub(super) fn now(&self) -> Duration {
        (self.clocks.time)()
    }

    /// Returns the time since `start`.
    pub(super) fn since(&self, start: Duration) -> Duration {
        self.now().saturating_sub(start)
    }
}
