//! Stopping a match.

use std::sync::atomic::{AtomicBool, Ordering};

/// Told by the person at the keyboard, read by everybody.
#[derive(Debug, Default)]
pub struct Control {
    /// Begin no more games.
    pub stop: AtomicBool,
    /// Give up the games that are being played.
    pub abort: AtomicBool,
}

impl Control {
    /// Shall no more games begin?
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.is_aborted()
    }

    /// Are the games being played to be given up?
    pub fn is_aborted(&self) -> bool {
        self.abort.load(Ordering::Relaxed)
    }
}
