//! Threads that the host of a program starts, for programs whose standard library cannot start any.
//!
//! In WebAssembly, the host starts Web Workers, each with an instance of the module on one shared memory. Each worker
//! calls [`HostThreads::serve`] and from then on takes part in jobs.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time between two checks for a failed thread, while the other threads are awaited.
const CHECK: Duration = Duration::from_millis(50);

/// Threads that wait for jobs, and the present job.
///
/// Invariant: `State::job` is `Some` only while [`HostThreads::run`] has not returned, and `run` returns only when
/// `State::running` is 0. Therefore no thread uses a job after its lifetime.
pub struct HostThreads {
    state: Mutex<State>,
    /// Notified when there is a job.
    work: Condvar,
    /// Notified when a thread has finished its part of a job.
    done: Condvar,
    has_failed: AtomicBool,
}

struct State {
    job: Option<&'static (dyn Fn(usize) + Sync)>,
    /// Index of the job's next thread, and the first index beyond the job's threads.
    next: usize,
    end: usize,
    /// Number of threads that work on the job.
    running: usize,
    /// Number of threads that wait for a job.
    waiting: usize,
}

impl fmt::Debug for HostThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostThreads").finish_non_exhaustive()
    }
}

impl Default for HostThreads {
    fn default() -> HostThreads {
        HostThreads::new()
    }
}

/// Guard that ends a job on drop: no further thread takes part, and those that do have finished.
struct End<'a>(&'a HostThreads);

impl Drop for End<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.job = None;
        while state.running > 0 && !self.0.has_failed.load(Ordering::Acquire) {
            let waited = self.0.done.wait_timeout(state, CHECK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl HostThreads {
    /// Creates an empty set.
    pub const fn new() -> HostThreads {
        let state = State { job: None, next: 0, end: 0, running: 0, waiting: 0 };
        HostThreads {
            state: Mutex::new(state),
            work: Condvar::new(),
            done: Condvar::new(),
            has_failed: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of threads that wait for a job.
    pub fn waiting(&self) -> usize {
        self.lock().waiting
    }

    /// Makes the calling thread take part in all jobs from now on.
    pub fn serve(&self) -> ! {
        let mut state = self.lock();
        loop {
            if let (Some(job), true) = (state.job, state.next < state.end) {
                let index = state.next;
                state.next += 1;
                state.running += 1;
                drop(state);
                job(index);
                state = self.lock();
                state.running -= 1;
                self.done.notify_all();
            } else {
                state.waiting += 1;
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.waiting -= 1;
            }
        }
    }

    /// Records that a thread has ended in the middle of a job, so that [`HostThreads::run`] does not wait for it.
    pub fn fail(&self) {
        self.has_failed.store(true, Ordering::Release);
        self.done.notify_all();
    }

    /// Calls `job(0)` on this thread and, at the same time, `job(1)` and so on, on waiting threads, with `most` calls
    /// in total at most. Returns when all calls have returned. A job must not depend on the number of calls: it is less
    /// than `most` if too few threads wait, or if `job(0)` returns before they begin. While another job runs, only
    /// `job(0)` is called.
    ///
    /// # Panics
    ///
    /// Panics if a thread has failed. The job is then still in use, so the program must end.
    pub fn run(&self, most: usize, job: &(dyn Fn(usize) + Sync)) {
        let mut state = self.lock();
        let others = most.saturating_sub(1).min(state.waiting);
        if others == 0 || state.job.is_some() {
            drop(state);
            return job(0);
        }
        // SAFETY: `End` removes the job and waits for the calls, even if `job(0)` panics. If a thread fails, which
        // happens in WebAssembly only, the panic below ends the program without unwinding.
        #[expect(unsafe_code, reason = "threads that outlive the job borrow it")]
        let lasting =
            unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(job) };
        (state.job, state.next, state.end) = (Some(lasting), 1, others + 1);
        drop(state);
        self.work.notify_all();
        let end = End(self);
        job(0);
        drop(end);
        assert!(!self.has_failed.load(Ordering::Acquire), "a thread of the search has failed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Barrier;
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    /// Returns a set of `count` threads, all of which wait. They end with the program.
    fn threads(count: usize) -> &'static HostThreads {
        let threads: &'static HostThreads = Box::leak(Box::default());
        for _ in 0..count {
            thread::spawn(|| threads.serve());
        }
        while threads.waiting() < count {
            thread::yield_now();
        }
        threads
    }

    #[test]
    fn every_thread_takes_part_with_an_index_of_its_own() {
        let threads = threads(3);
        for calls in [4, 3, 2, 4] {
            while threads.waiting() < 3 {
                thread::yield_now();
            }
            // The calls wait for each other, so the test passes only if they are made at the same time.
            let (barrier, indices) = (Barrier::new(calls), Mutex::new(BTreeSet::new()));
            threads.run(calls, &|index| {
                barrier.wait();
                assert!(indices.lock().unwrap().insert(index));
            });
            assert_eq!(indices.into_inner().unwrap(), (0..calls).collect());
        }
    }

    #[test]
    fn without_threads_or_within_a_job_the_caller_works_alone() {
        let calls = AtomicUsize::new(0);
        let alone = |index| {
            assert_eq!(index, 0);
            calls.fetch_add(1, Ordering::Relaxed);
        };
        threads(0).run(8, &alone);
        let two = threads(2);
        two.run(1, &alone);
        two.run(2, &|index| {
            if index == 0 {
                two.run(2, &alone);
            }
        });
        assert_eq!(calls.into_inner(), 3);
    }

    #[test]
    fn no_call_outlives_a_job() {
        let threads = threads(2);
        for round in 0..2000 {
            let (numbers, sum) = (vec![round; 10], AtomicUsize::new(0));
            threads.run(3, &|_| {
                sum.fetch_add(numbers.iter().sum::<usize>(), Ordering::Relaxed);
            });
            let calls = sum.into_inner().checked_div(10 * round).unwrap_or(1);
            assert!((1..=3).contains(&calls), "{calls}");
        }
    }

    #[test]
    fn a_panic_of_the_caller_waits_for_the_others() {
        let threads = threads(1);
        let (barrier, finished) = (Barrier::new(2), AtomicUsize::new(0));
        let run = || {
            threads.run(2, &|index| {
                barrier.wait();
                assert_ne!(index, 0, "expected");
                thread::yield_now();
                finished.fetch_add(1, Ordering::Relaxed);
            });
        };
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        assert_eq!(finished.load(Ordering::Relaxed), 1);
        while threads.waiting() < 1 {
            thread::yield_now();
        }
        threads.run(2, &|_| ());
    }

    #[test]
    fn a_failed_thread_ends_the_job() {
        let threads = threads(1);
        let barrier = Barrier::new(2);
        let run = || {
            threads.run(2, &|index| {
                barrier.wait();
                if index == 1 {
                    // As if the thread had trapped: it never returns.
                    threads.fail();
                    loop {
                        thread::park();
                    }
                }
            });
        };
        let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("a panic");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"a thread of the search has failed"));
    }
}
