//! The event loop of a rank in one search: messages in and out, and evaluators on threads of their own.
//!
//! A rank has one thread for messages and selection, and one for each simultaneous evaluation. A message is therefore
//! answered at once, however long evaluations take.

use super::audit::Audit;
use super::control::{Control, SearchResult};
use super::link::{ClusterError, Link};
use super::message::{Begin, Ended, Message};
use super::rank::{Job, JobResult, Rank, evaluate_job};
use super::wire::{Malformed, Reader, Wire};
use kosumi_eval::{Evaluator, Ownership};
use kosumi_go::board::Move;
use kosumi_go::game::{Game, Line};
use kosumi_go::rng::Rng;
use kosumi_search::NodeTable;
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

/// Interval at which the control checks its limits while nothing happens.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// Longest single wait of other ranks for a message.
const WAIT: Duration = Duration::from_secs(1);

/// State of a rank in a search.
pub(crate) struct Session<'s, E, L> {
    pub(crate) link: &'s mut L,
    /// Packets that came before the search began on this rank.
    pub(crate) early: &'s mut VecDeque<(usize, Vec<u8>)>,
    pub(crate) rank: Rank<'s, E>,
    /// The control, on rank 0.
    pub(crate) control: Option<Control<'s>>,
    /// Number of simultaneous evaluations.
    pub(crate) threads: usize,
    pub(crate) game: &'s Game,
    pub(crate) begin: &'s Begin,
}

/// Jobs that wait for an evaluator.
#[derive(Default)]
struct JobQueue {
    jobs: Mutex<(VecDeque<Job>, bool)>,
    is_there: Condvar,
}

impl JobQueue {
    fn lock(&self) -> MutexGuard<'_, (VecDeque<Job>, bool)> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a job; `None` when no more will come.
    fn next(&self) -> Option<Job> {
        let mut jobs = self.lock();
        loop {
            if let Some(job) = jobs.0.pop_front() {
                return Some(job);
            }
            if jobs.1 {
                return None;
            }
            jobs = self.is_there.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn close(&self) {
        self.lock().1 = true;
        self.is_there.notify_all();
    }
}

/// Guard that ends the evaluators on drop, however a search ends.
struct CloseOnDrop<'d>(&'d JobQueue);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Result of a job, or the panic of its evaluator. Without it, the search would wait for ever for the result.
type JobAnswer = Result<JobResult, Box<dyn Any + Send>>;

/// Runs one evaluator: processes jobs until there are no more, or until it panics. Returns the ownership that it found.
fn evaluate_jobs<E: Evaluator>(
    queue: &JobQueue,
    game: &Game,
    mut evaluator: E,
    mut rng: Rng,
    answers: &Sender<JobAnswer>,
    rank: &Thread,
) -> Option<Ownership> {
    let mut line = Line::new(game);
    while let Some(job) = queue.next() {
        let evaluate = || {
            debug_assert!(is_legal_game(game, &job.moves), "an illegal move in the search: {:?}", job.moves);
            evaluate_job(job, &mut line, &mut evaluator, &mut rng)
        };
        let answer = catch_unwind(AssertUnwindSafe(evaluate));
        let has_panicked = answer.is_err();
        if answers.send(answer).is_err() {
            break;
        }
        rank.unpark();
        if has_panicked {
            return None;
        }
    }
    evaluator.ownership().cloned()
}

/// Returns whether these moves are legal from the root on. Builds with assertions check every descent.
fn is_legal_game(game: &Game, moves: &[Move]) -> bool {
    let mut game = game.clone();
    moves.iter().all(|&mv| game.play(game.to_move(), mv).is_ok())
}

/// Takes part in a search to its end. Returns its result if there is a control.
///
/// # Panics
///
/// Panics if an evaluator panics. The other evaluators of this rank end first.
pub(crate) fn take_part<E: Evaluator + Sync, L: Link>(
    mut session: Session<'_, E, L>,
    evaluator: &E,
    table: &NodeTable,
) -> Result<Option<SearchResult>, ClusterError> {
    let queue = JobQueue::default();
    let (sender, answers) = mpsc::channel();
    thread::scope(|scope| {
        let closing = CloseOnDrop(&queue);
        let (this, game) = (thread::current(), session.game);
        let workers = (0..session.threads).map(|index| {
            let (evaluator, sender, this, queue) = (evaluator.clone(), sender.clone(), this.clone(), &queue);
            let number = session.link.rank() * session.threads + index;
            let rng = Rng::for_worker(session.begin.seed, number);
            scope.spawn(move || evaluate_jobs(queue, game, evaluator, rng, &sender, &this))
        });
        let mut workers: Vec<_> = workers.collect();
        let (mut idle, mut is_over) = (0, false);
        while !is_over {
            let has_packets = session.take_packets()?;
            let has_answers = session.take_answers(&answers);
            let (is_told, is_end) = session.process_control_messages()?;
            if is_end {
                session.drop_jobs(&queue);
                queue.close();
                let mut ownership = Ownership::default();
                for worker in workers.drain(..) {
                    let own = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
                    own.iter().for_each(|own| ownership.merge(game.size(), own));
                }
                let rank = &session.rank;
                let audit = match cfg!(debug_assertions) {
                    true => Audit::of(table, |key| rank.rank_of(key) == rank.number()),
                    false => Audit::default(),
                };
                let ended = Ended::new(session.rank.counters, game.size(), &ownership, table.usage(), audit);
                session.rank.post(0, Message::Ended(Box::new(ended)));
                session.rank.process_local();
                is_over = session.control.is_none();
            }
            if session.rank.is_stopping() {
                session.drop_jobs(&queue);
            }
            session.give_jobs(&queue);
            if let Some(control) = &mut session.control {
                is_over = control.step(&mut session.rank)?;
            }
            session.send()?;
            idle = if has_packets || has_answers || is_told { 0 } else { idle + 1 };
            if idle > 0 && !is_over {
                session.link.wait(idle, if session.control.is_some() { POLL_INTERVAL } else { WAIT });
            }
        }
        drop(closing);
        Ok(session.control.and_then(Control::report))
    })
}

impl<E: Evaluator, L: Link> Session<'_, E, L> {
    /// Processes all packets that have arrived. Returns true if there were any.
    fn take_packets(&mut self) -> Result<bool, ClusterError> {
        let mut is_any = false;
        // Packets after the end belong to the next search.
        while !self.rank.has_received_end() {
            let next = match self.early.pop_front() {
                Some(packet) => Some(packet),
                None => self.link.poll()?,
            };
            let Some((from, packet)) = next else { break };
            is_any = true;
            let mut reader = Reader::new(&packet);
            while !reader.is_empty() {
                self.rank.receive(from, Message::read(&mut reader)?);
            }
        }
        Ok(is_any)
    }

    /// Processes all results of the evaluators. Returns true if there were any.
    ///
    /// # Panics
    ///
    /// Panics if an evaluator has panicked.
    fn take_answers(&mut self, answers: &Receiver<JobAnswer>) -> bool {
        let mut is_any = false;
        while let Ok(answer) = answers.try_recv() {
            is_any = true;
            self.rank.evaluated(answer.unwrap_or_else(|panic| resume_unwind(panic)));
        }
        is_any
    }

    /// Processes messages for the control or for this loop. Returns whether there were any, and whether the search is
    /// over.
    fn process_control_messages(&mut self) -> Result<(bool, bool), ClusterError> {
        let (mut is_any, mut is_end) = (false, false);
        while let Some((from, message)) = self.rank.next_control_message() {
            is_any = true;
            let rest = match &mut self.control {
                Some(control) => control.receive(&mut self.rank, from, message),
                None => Some(message),
            };
            match rest {
                None => {}
                Some(Message::End) => is_end = true,
                Some(Message::Failed(why)) => return Err(ClusterError::Failed(from, why)),
                Some(Message::Quit) => return Err(ClusterError::GivenUp),
                Some(_) => return Err(Malformed.into()),
            }
        }
        Ok((is_any, is_end))
    }

    /// Queues jobs for the evaluators: one waiting job for each evaluator, so that none of them waits.
    fn give_jobs(&mut self, queue: &JobQueue) {
        let mut jobs = queue.lock();
        while jobs.0.len() < self.threads {
            let Some(job) = self.rank.next_job() else { break };
            jobs.0.push_back(job);
            queue.is_there.notify_one();
        }
    }

    /// Cancels the jobs that no evaluator has taken.
    fn drop_jobs(&mut self, queue: &JobQueue) {
        let jobs = std::mem::take(&mut queue.lock().0);
        jobs.into_iter().for_each(|job| self.rank.take_back(job));
    }

    fn send(&mut self) -> Result<(), ClusterError> {
        let (packets, _) = self.rank.take_packets();
        packets.into_iter().try_for_each(|(to, packet)| self.link.send(to, packet))
    }
}
