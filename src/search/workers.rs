//! Threads of a search.

#[cfg(target_family = "wasm")]
use kosumi_sync::HOST_THREADS;

/// Threads of a search. One of them may be the calling thread.
#[derive(Debug)]
pub(crate) struct Workers {
    #[cfg(not(target_family = "wasm"))]
    pool: Option<rayon::ThreadPool>,
    count: usize,
}

impl Workers {
    /// Starts `count` threads (at least 1). If they cannot be started, the calling thread is the only one.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn start(count: usize) -> Workers {
        // One worker runs on the calling thread.
        let start = || rayon::ThreadPoolBuilder::new().num_threads(count).build().ok();
        let pool = (count > 1).then(start).flatten();
        Workers { count: if pool.is_some() { count } else { 1 }, pool }
    }

    /// Uses up to `count` threads (at least 1): the calling one, and those of the host that wait when a job begins.
    #[cfg(target_family = "wasm")]
    pub(crate) fn start(count: usize) -> Workers {
        Workers { count: count.max(1) }
    }

    /// Returns the number of threads.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Calls `job` with the index of each thread, from 0, and returns when all calls have returned. In WebAssembly,
    /// calls with indices other than 0 may be left out.
    pub(crate) fn run(&self, job: &(dyn Fn(usize) + Sync)) {
        #[cfg(target_family = "wasm")]
        HOST_THREADS.run(self.count, job);
        #[cfg(not(target_family = "wasm"))]
        match &self.pool {
            Some(pool) => {
                pool.broadcast(|context| job(context.index()));
            }
            None => job(0),
        }
    }
}
