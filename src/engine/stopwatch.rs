//! Measurement of time, by a time source that the caller may replace.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Function that returns the time since a fixed point in the past. Later calls never return an earlier time.
pub type TimeSource = fn() -> Duration;

/// Returns the time since the first call, by the clock of the standard library.
///
/// # Panics
///
/// Panics on `wasm32-unknown-unknown`, where the standard library has no clock. An engine there needs another time
/// source: see [`Engine::with_time_source`](super::Engine::with_time_source).
pub fn standard_time() -> Duration {
    static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    ORIGIN.elapsed()
}

/// Measures the time since it was started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopwatch {
    source: TimeSource,
    start: Duration,
}

impl Stopwatch {
    pub(super) fn start(source: TimeSource) -> Stopwatch {
        Stopwatch { source, start: source() }
    }

    pub(super) fn elapsed(&self) -> Duration {
        (self.source)().saturating_sub(self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn only_the_time_source_is_read() {
        static MILLISECONDS: AtomicU64 = AtomicU64::new(700);
        let stopwatch = Stopwatch::start(|| Duration::from_millis(MILLISECONDS.load(Ordering::Relaxed)));
        assert_eq!(stopwatch.elapsed(), Duration::ZERO);
        MILLISECONDS.store(1000, Ordering::Relaxed);
        assert_eq!(stopwatch.elapsed(), Duration::from_millis(300));
        // A source that goes back in time does no harm.
        MILLISECONDS.store(100, Ordering::Relaxed);
        assert_eq!(stopwatch.elapsed(), Duration::ZERO);
    }
}
