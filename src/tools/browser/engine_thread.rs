//! Engine on a separate thread. It works on one task at a time, and a newer task ends the previous one.
//!
//! Every task that is not ended gets its last result. If anything panics, even the creation of the engine, this is
//! [`TaskResult::Crashed`], and the next task gets a new engine.

use crate::panics::caught;
use kosumi_board::play::{ConfiguredEngine, EnginePurpose, MakeEngine, Task, TaskResult};
use kosumi_go::game::Game;
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
    let mut best = None;
    // This engine is created on first use.
    let mut of_levels = None;
    // If this panics, so will the first task, which reports it.
    if caught(|| best.insert(new(EnginePurpose::Best)).engine().warm_up()()).is_err() {
        best = None;
    }
    for job in jobs {
        let is_unwanted = || wanted.load(Ordering::SeqCst) != job.number;
        if is_unwanted() {
            continue;
        }
        let mut send = |finding| send(job.number, finding);
        let purpose = job.task.purpose();
        let engine = match purpose {
            EnginePurpose::Best => &mut best,
            EnginePurpose::Level => &mut of_levels,
        };
        let done = caught(|| {
            let engine = engine.get_or_insert_with(|| new(purpose));
            engine.carry_out(&job.game, &job.task, &is_unwanted, &mut send);
        });
        if let Err(panic) = done {
            // The state of the engine may be inconsistent.
            *engine = None;
            send(TaskResult::Crashed(panic));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_engine::{Engine, EngineSettings};
    use kosumi_go::board::BoardSize;
    use kosumi_go::rules::Rules;
    use kosumi_search::Limits;
    use std::panic::resume_unwind;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn a_task_that_panics_has_a_result_and_the_next_one_gets_a_new_engine() {
        // The engine fails when the thread starts, and in the first task.
        let engines = AtomicU32::new(0);
        let make: MakeEngine = Arc::new(move |_| {
            if engines.fetch_add(1, Ordering::Relaxed) < 2 {
                resume_unwind(Box::new("a faulty engine"));
            }
            Engine::new(EngineSettings { threads: 1, memory_mebibytes: 1, ..EngineSettings::default() })
        });
        let (sender, results) = mpsc::channel();
        let send = move |number, found| sender.send((number, found)).expect("a receiver");
        let mut thread = EngineThread::start(make, send).expect("a thread");
        let game = Game::new(BoardSize::square(3).expect("a size"), Rules::default(), 0.5);
        let mut last_result = || {
            let number = thread.ask(&game, Task::Study { limits: Limits::playouts(2) });
            let is_last = |found: &TaskResult| !matches!(found, TaskResult::Studied { is_last: false, .. });
            let mut results = results.iter().inspect(|result| assert_eq!(result.0, number));
            results.find(|result| is_last(&result.1)).expect("a result").1
        };
        let first = last_result();
        assert!(matches!(&first, TaskResult::Crashed(text) if text == "a faulty engine"), "{first:?}");
        let second = last_result();
        assert!(matches!(second, TaskResult::Studied { .. }), "{second:?}");
    }
}
