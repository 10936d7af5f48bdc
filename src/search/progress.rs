//! Progress of the workers of a search: simulations begun, the stop signal, and the limit on simultaneous simulations.

use kosumi_sync::atomic::{AtomicBool, AtomicU32, Ordering};
use kosumi_sync::{Condvar, Mutex, MutexGuard};
use std::sync::PoisonError;

/// Number of root visits for each descent in progress, where workers take turns.
///
/// All descents in progress follow the same values, and a line grows by one move in that time. Lines of twenty moves
/// need twenty such rounds (`docs/decisions/2026-11-22-many-workers.md`; games in `PERF.md`, *Strength*).
const VISITS_FOR_A_DESCENT: u32 = 20;

/// Progress of the workers, and the stop signal.
#[derive(Default)]
pub(super) struct Progress {
    /// Number of simulations begun.
    pub(super) playouts: AtomicU32,
    /// Number of simulations that do not count at the root because of a choice below it. They count as visits for
    /// limits, because many of them may pass for each one that counts.
    pub(super) not_counted_at_root: AtomicU32,
    stopped: AtomicBool,
    /// Turns of the workers, where not all may simulate at once.
    turns: Option<TurnLimit>,
}

/// Turns of the workers, where there are more workers than processors.
struct TurnLimit {
    /// Number of workers that may always simulate at once.
    least: u32,
    visits_before: u32,
    state: Mutex<TurnState>,
    /// Signalled when one more worker may simulate, or when the search is over.
    turn_free: Condvar,
}

#[derive(Default)]
struct TurnState {
    in_progress: u32,
    ended: u32,
}

/// Settings of one worker's loop.
#[derive(Clone, Copy)]
pub(super) struct LoopSettings {
    /// Largest number of simulations between two checks whether the search is over.
    pub(super) max_batch: u32,
    /// Whether the worker must wait for its turn, where there are turns. The worker that reports must not: workers that
    /// have just finished a simulation start the next one before waiting workers wake up, so it might not report for a
    /// long time.
    pub(super) waits: bool,
}

/// One simulation in progress. It ends when this is dropped, even if the worker panics.
struct Turn<'t>(Option<&'t TurnLimit>);

impl Progress {
    /// Creates the progress of a search of a root with `visits_before` visits. `at_once` is as in
    /// [`SearchParams::descents_at_once`](super::SearchParams::descents_at_once).
    pub(super) fn new(visits_before: u32, at_once: Option<u32>) -> Progress {
        let turns = at_once.map(|least| TurnLimit {
            least: least.max(1),
            visits_before,
            state: Mutex::default(),
            turn_free: Condvar::new(),
        });
        Progress { turns, ..Progress::default() }
    }

    /// Runs a worker's simulations until a worker finds that the search is over. `are_enough` is called before each
    /// simulation with the number of simulations begun so far. `is_over` is called after a few simulations, and then
    /// `between`.
    ///
    /// The first simulation of all is always run, so even a search that is interrupted at once yields a move. A worker
    /// that panics stops the others: the caller learns of the panic when all have ended, and a search may have no limit.
    pub(super) fn simulate<W>(
        &self,
        settings: LoopSettings,
        worker: &mut W,
        are_enough: impl Fn(u32) -> bool,
        mut simulate: impl FnMut(&mut W),
        mut is_over: impl FnMut(&W) -> bool,
        mut between: impl FnMut(&W),
    ) {
        let _stopping = scopeguard::guard_on_unwind(self, Progress::stop);
        let mut batch = 1;
        loop {
            for _ in 0..batch {
                let Some(_turn) = self.turn(settings.waits) else { return };
                if !self.begin(&are_enough) {
                    self.stop();
                    break;
                }
                simulate(worker);
            }
            batch = (2 * batch).min(settings.max_batch);
            if is_over(worker) {
                self.stop();
            }
            if self.stopped.load(Ordering::Relaxed) {
                return;
            }
            between(worker);
        }
    }

    /// Counts one more simulation, unless enough have begun. Together the workers begin exactly the wanted number.
    fn begin(&self, are_enough: impl Fn(u32) -> bool) -> bool {
        let one_more = |begun: u32| (begun == 0 || !are_enough(begun)).then(|| begun.saturating_add(1));
        self.playouts.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok()
    }

    /// Waits, if `waits`, until one more simulation may be in progress. Returns `None` if the search is over before
    /// that.
    ///
    /// No worker waits for ever: each turn that ends wakes one worker, and a worker that finds another turn free wakes
    /// the next.
    fn turn(&self, waits: bool) -> Option<Turn<'_>> {
        let Some(turns) = &self.turns else { return Some(Turn(None)) };
        let mut state = turns.lock();
        loop {
            if self.stopped.load(Ordering::Relaxed) {
                return None;
            }
            if !waits || state.in_progress < turns.most(&state) {
                break;
            }
            state = turns.turn_free.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.in_progress += 1;
        if state.in_progress < turns.most(&state) {
            turns.turn_free.notify_one();
        }
        Some(Turn(Some(turns)))
    }

    fn stop(&self) {
        let Some(turns) = &self.turns else {
            self.stopped.store(true, Ordering::Relaxed);
            return;
        };
        // A worker that has found that the search continues holds the lock until it waits.
        let _held = turns.lock();
        self.stopped.store(true, Ordering::Relaxed);
        turns.turn_free.notify_all();
    }
}

impl TurnLimit {
    fn lock(&self) -> MutexGuard<'_, TurnState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn most(&self, state: &TurnState) -> u32 {
        self.least.max(self.visits_before.saturating_add(state.ended) / VISITS_FOR_A_DESCENT)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(turns) = self.0 {
            let mut state = turns.lock();
            state.in_progress -= 1;
            state.ended += 1;
            turns.turn_free.notify_one();
        }
    }
}
