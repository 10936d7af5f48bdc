//! Control of a running match.

use std::sync::atomic::{AtomicBool, Ordering};

/// Stop flags of a match. The user interface sets them and all threads read them.
#[derive(Debug, Default)]
pub struct Control {
    /// Start no more games.
    pub stop: AtomicBool,
    /// Abandon the running games.
    pub abort: AtomicBool,
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
}
