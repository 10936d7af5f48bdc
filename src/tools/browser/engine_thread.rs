//! Engine on a separate thread. It works on one task at a time, and a newer task ends the previous one.

use kosumi_board::play::{ConfiguredEngine, EnginePurpose, MakeEngine, Task, TaskResult};
use kosumi_go::game::Game;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

/// Stack size of the engine's thread, equal to that of a main thread.
const STACK_BYTES: usize = 8 << 20;

struct Job {
    number: u64,
    game: Game,
    task: Task,
}

/// Handle of the engine's thread.
#[derive(Debug)]
pub(super) struct EngineThread {
    jobs: Sender<Job>,
    /// Number of the current job. All other jobs end early.
    wanted: Arc<AtomicU64>,
    last: u64,
}

impl EngineThread {
    /// Starts the thread. `send` is called with the number of the task and its result.
    ///
    /// # Errors
    ///
    /// Returns an error if the thread cannot be started.
    pub(super) fn start(
        make: MakeEngine,
        send: impl Fn(u64, TaskResult) + Send + 'static,
    ) -> std::io::Result<EngineThread> {
        let (jobs, to_do) = mpsc::channel();
        let wanted = Arc::new(AtomicU64::new(0));
        let theirs = Arc::clone(&wanted);
        let work = move || work(&make, &to_do, &theirs, &send);
        thread::Builder::new().name("engine".to_owned()).stack_size(STACK_BYTES).spawn(work)?;
        Ok(EngineThread { jobs, wanted, last: 0 })
    }

    /// Starts a task in place of the previous one. Returns the number of the new task.
    pub(super) fn ask(&mut self, game: &Game, task: Task) -> u64 {
        self.last += 1;
        self.wanted.store(self.last, Ordering::SeqCst);
        // The thread lives at least as long as `self`, so sending cannot fail.
        let _ = self.jobs.send(Job { number: self.last, game: game.clone(), task });
        self.last
    }

    /// Ends the current task.
    pub(super) fn stop(&mut self) {
        self.last += 1;
        self.wanted.store(self.last, Ordering::SeqCst);
    }
}

fn work(make: &MakeEngine, jobs: &Receiver<Job>, wanted: &AtomicU64, send: &dyn Fn(u64, TaskResult)) {
    let new = |purpose| ConfiguredEngine::new(make(purpose));
    let mut best = new(EnginePurpose::Best);
    // This engine is created on first use.
    let mut of_levels = None;
    best.engine().warm_up()();
    for job in jobs {
        let is_unwanted = || wanted.load(Ordering::SeqCst) != job.number;
        if is_unwanted() {
            continue;
        }
        let mut send = |finding| send(job.number, finding);
        let purpose = job.task.purpose();
        let done = panic::catch_unwind(AssertUnwindSafe(|| {
            let engine = match purpose {
                EnginePurpose::Best => &mut best,
                EnginePurpose::Level => of_levels.get_or_insert_with(|| new(purpose)),
            };
            engine.carry_out(&job.game, &job.task, &is_unwanted, &mut send);
        }));
        if let Err(panic) = done {
            // After a panic, the state of the engine may be inconsistent.
            match purpose {
                EnginePurpose::Best => best = new(purpose),
                EnginePurpose::Level => of_levels = None,
            }
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
            send(TaskResult::Crashed(text.unwrap_or_default()));
        }
    }
}
