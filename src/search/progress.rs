//! How far the workers of a search are, whether they are to stop, and how many may simulate at once.

use kosumi_sync::atomic::{AtomicBool, AtomicU32, Ordering};
use kosumi_sync::{Condvar, Mutex, MutexGuard};
use std::sync::PoisonError;

/// Where workers take turns, one descent may be in progress for so many visits that the root has.
///
/// All descents that are in progress together follow the same values, and a line grows by one move in that time. Lines of
/// twenty moves need twenty such rounds (`docs/decisions/2026-11-22-many-workers.md`; games in `PERF.md`, *Strength*).
const VISITS_FOR_A_DESCENT: u32 = 20;

/// How far the workers are, and whether they are to stop.
#[derive(Default)]
pub(super) struct Progress {
    /// Simulations begun.
    pub(super) playouts: AtomicU32,
    /// Simulations that a choice below the root has kept from the root. They count as visits: there may be many of them
    /// for one that comes through.
    pub(super) kept_from_root: AtomicU32,
    stopped: AtomicBool,
    /// Where not all workers may simulate at once.
    turns: Option<Turns>,
}

/// Who may simulate, where there are more workers than processors.
struct Turns {
    /// So many at once in any case.
    least: u32,
    visits_before: u32,
    state: Mutex<TurnState>,
    /// There may be room for one more, or all is over.
    room: Condvar,
}

#[derive(Default)]
struct TurnState {
    in_progress: u32,
    ended: u32,
}

/// How one worker goes about it.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    /// So many simulations at most before it looks whether all is over.
    pub(super) batch_most: u32,
    /// Must it wait for its turn, where there are turns? The worker that reports must not: those that have just ended a
    /// simulation are back before those that are woken, so it could be silent for long.
    pub(super) waits: bool,
}

/// One simulation in progress; over when it is dropped, also by a worker that fails.
struct Turn<'t>(Option<&'t Turns>);

impl Progress {
    /// A search of a root with so many visits begins. `at_once` as in
    /// [`SearchParams::descents_at_once`](super::SearchParams::descents_at_once).
    pub(super) fn new(visits_before: u32, at_once: Option<u32>) -> Progress {
        let turns = at_once.map(|least| Turns {
            least: least.max(1),
            visits_before,
            state: Mutex::default(),
            room: Condvar::new(),
        });
        Progress { turns, ..Progress::default() }
    }

    /// Has a worker simulate until one of them finds that it is over: `are_enough` is asked before each simulation, with
    /// the number of those begun so far, `is_over` after a few, and then `between` has its turn.
    ///
    /// The first simulation of all is always played: even a search that is interrupted at once knows a move.
    pub(super) fn simulate<W>(
        &self,
        pace: Pace,
        worker: &mut W,
        are_enough: impl Fn(u32) -> bool,
        mut simulate: impl FnMut(&mut W),
        mut is_over: impl FnMut(&W) -> bool,
        mut between: impl FnMut(&W),
    ) {
        let mut batch = 1;
        loop {
            for _ in 0..batch {
                let Some(_turn) = self.turn(pace.waits) else { return };
                if !self.begin(&are_enough) {
                    self.stop();
                    break;
                }
                simulate(worker);
            }
            batch = (2 * batch).min(pace.batch_most);
            if is_over(worker) {
                self.stop();
            }
            if self.stopped.load(Ordering::Relaxed) {
                return;
            }
            between(worker);
        }
    }

    /// Counts one more simulation, unless those begun so far are enough. Together the workers begin exactly as many as
    /// are wanted.
    fn begin(&self, are_enough: impl Fn(u32) -> bool) -> bool {
        let one_more = |begun: u32| (begun == 0 || !are_enough(begun)).then(|| begun.saturating_add(1));
        self.playouts.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok()
    }

    /// Waits until one more may be in progress, if it `waits`; `None` if all is over before that.
    ///
    /// Nobody waits for ever: each turn that ends wakes one worker, and a worker that finds room for another one wakes it.
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
            state = turns.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.in_progress += 1;
        if state.in_progress < turns.most(&state) {
            turns.room.notify_one();
        }
        Some(Turn(Some(turns)))
    }

    fn stop(&self) {
        let Some(turns) = &self.turns else {
            self.stopped.store(true, Ordering::Relaxed);
            return;
        };
        // Whoever has seen that it was not over holds the lock until he waits.
        let _held = turns.lock();
        self.stopped.store(true, Ordering::Relaxed);
        turns.room.notify_all();
    }
}

impl Turns {
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
            turns.room.notify_one();
        }
    }
}
