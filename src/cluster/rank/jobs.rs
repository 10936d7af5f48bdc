//! Evaluations: requests, their purposes, and the visits that wait for them.

use super::Rank;
use super::task::{TaskId, VisitEnds};
use crate::message::{Message, PositionEvaluation, ReplyTo, VisitResults};
use kosumi_eval::Evaluator;
use kosumi_go::board::Move;
use kosumi_go::game::Line;
use kosumi_go::rng::Rng;
use kosumi_search::node::{NodeId, NodeStatistics};
use kosumi_search::worker::EARLY_EXPANSION_FULLNESS;
use std::collections::hash_map::Entry;

/// Purpose of an evaluation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Purpose {
    /// The node of a task. The evaluation counts for `count` visits. Other visits may wait for it.
    Node { task: TaskId, count: u32, others_wait: bool },
    /// The position after an edge of a task, which has no node because the table is full.
    Below { task: TaskId, count: u32 },
    /// A position without a node, like `Below`, after an edge of another rank's task.
    Beyond { caller: ReplyTo, count: u32 },
    /// A position whose node another rank stores.
    Foreign { rank: usize, job: u32 },
}

/// A position to be evaluated.
#[derive(Debug)]
pub(crate) struct Job {
    pub(super) purpose: Purpose,
    /// Moves from the root.
    pub(crate) moves: Vec<Move>,
}

/// Result of a job. The assessment is `None` if the job was cancelled or a move is illegal.
#[derive(Debug)]
pub(crate) struct JobResult {
    pub(super) job: Job,
    pub(super) assessment: Option<PositionEvaluation>,
}

/// Evaluates the position of a job.
pub(crate) fn evaluate_job<E: Evaluator>(
    job: Job,
    line: &mut Line<'_>,
    evaluator: &mut E,
    rng: &mut Rng,
) -> JobResult {
    let assessment = play_moves(line, &job.moves).then(|| {
        let mut moves = Vec::new();
        let evaluation = evaluator.evaluate(line, rng, &mut moves);
        PositionEvaluation { evaluation, moves }
    });
    JobResult { job, assessment }
}

/// Plays these moves from the root on. Returns false if one is illegal. That happens only if two keys collide, because
/// the set of banned points is part of a node's key.
pub(super) fn play_moves(line: &mut Line<'_>, moves: &[Move]) -> bool {
    line.reset();
    moves.iter().all(|&mv| {
        let is_legal = mv.point().is_none_or(|point| line.check(point).is_ok());
        if is_legal {
            line.play(mv);
        }
        is_legal
    })
}

impl<E: Evaluator> Rank<'_, E> {
    /// Has the node of a task evaluated, for `used` of the visits. Later visits wait, because there are no moves to
    /// choose from yet.
    pub(super) fn evaluate_node(&mut self, id: TaskId, used: u32, count: u32) {
        let Some(task) = self.tasks.get(id as usize).and_then(Option::as_ref) else { return };
        // If all visits are used, none waits.
        let others_wait =
            used < count || (used == 1 && self.table.all_edges(self.table.node(task.node)).is_empty());
        let moves = task.path.moves.clone();
        if others_wait {
            let waiting = self.waiting.entry(task.node);
            let is_first = matches!(waiting, Entry::Vacant(_));
            let waiting = waiting.or_default();
            if !is_first {
                waiting.push((id, count));
                return;
            }
            if count > used {
                waiting.push((id, count - used));
            }
        }
        self.request(Job { purpose: Purpose::Node { task: id, count: used, others_wait }, moves });
    }

    pub(super) fn request(&mut self, job: Job) {
        if self.is_stopping { self.give_up(job) } else { self.jobs.push_back(job) }
    }

    pub(super) fn give_up(&mut self, job: Job) {
        match job.purpose {
            Purpose::Node { task, count, others_wait } => {
                let node = self.task(task).map(|task| task.node);
                self.finish(task, VisitEnds::cancelled(count));
                if let Some(node) = node.filter(|_| others_wait) {
                    self.resume_waiting(node);
                }
            }
            Purpose::Below { task, count } => self.finish(task, VisitEnds::cancelled(count)),
            Purpose::Beyond { caller, count } => self.tell_cancelled(caller, count),
            Purpose::Foreign { rank, job } => {
                self.post(rank, Message::Evaluated { job, assessment: None });
            }
        }
    }

    /// Reports the cancellation of visits to a position without a node.
    fn tell_cancelled(&mut self, caller: ReplyTo, count: u32) {
        let ReplyTo { rank, task, edge } = caller;
        let statistics = NodeStatistics::default();
        self.post(
            rank as usize,
            Message::Done(VisitResults { task, edge, done: 0, cancelled: count, statistics }),
        );
    }

    /// Continues the visits that waited for a node. If the search is stopping, they are cancelled.
    fn resume_waiting(&mut self, node: NodeId) {
        for (task, count) in self.waiting.remove(&node).unwrap_or_default() {
            self.advance(task, count);
        }
    }

    pub(super) fn answered(&mut self, answer: JobResult) {
        let JobResult { job, assessment } = answer;
        if let Purpose::Foreign { rank, job } = job.purpose {
            return self.post(rank, Message::Evaluated { job, assessment });
        }
        let Some(PositionEvaluation { evaluation, moves }) = assessment else {
            return self.handle_missing_result(job);
        };
        match job.purpose {
            Purpose::Node { task, count, others_wait } => {
                let Some(node) = self.task(task).map(|task| task.node) else { return };
                let ends = self.note_evaluation(task, count, &evaluation);
                if !moves.is_empty() && self.table.usage().fullness() < EARLY_EXPANSION_FULLNESS {
                    self.table.expand(node, true, || &moves);
                }
                self.finish(task, ends);
                if others_wait {
                    self.resume_waiting(node);
                }
            }
            Purpose::Below { task, count } => self.count_evaluation(task, count, &evaluation),
            Purpose::Beyond { caller, count } => {
                let ReplyTo { rank, task, edge } = caller;
                self.post(rank as usize, Message::Beyond { task, edge, count, evaluation });
            }
            Purpose::Foreign { .. } => {}
        }
    }

    /// Handles a job without a result: the search is stopping, or a move is illegal because of a collision of keys.
    fn handle_missing_result(&mut self, job: Job) {
        if self.is_stopping {
            return self.give_up(job);
        }
        match job.purpose {
            Purpose::Node { task, count, others_wait } => {
                let node = self.task(task).map(|task| task.node);
                self.end_without_evaluation(task, count);
                let waiting =
                    if others_wait { node.and_then(|node| self.waiting.remove(&node)) } else { None };
                for (task, count) in waiting.unwrap_or_default() {
                    self.end_without_evaluation(task, count);
                }
            }
            Purpose::Below { task, count } => self.end_without_evaluation(task, count),
            Purpose::Beyond { caller, count } => self.tell_cancelled(caller, count),
            Purpose::Foreign { .. } => {}
        }
    }

    /// Cancels all evaluations that have not begun, and the visits that wait for them.
    pub(super) fn stop(&mut self) {
        self.is_stopping = true;
        for job in std::mem::take(&mut self.jobs) {
            self.give_up(job);
        }
    }

    /// If one rank stores all nodes, gives jobs to the other ranks. Each job goes to the rank with the fewest jobs,
    /// this one included.
    pub(super) fn distribute_jobs(&mut self) {
        if !self.begin.is_central || self.rank != 0 || self.ranks == 1 {
            return;
        }
        // One job for each processor, and one more in the queue there, so that no processor waits for a message.
        let most = 2 * self.threads as u32;
        loop {
            let here = self.begun + self.jobs.len() as u32;
            let free = (1..self.ranks).min_by_key(|&rank| self.busy[rank]);
            // A job is not sent away if this rank can take it at once.
            let Some(rank) = free.filter(|&rank| self.busy[rank] < most.min(here.saturating_sub(1))) else {
                return;
            };
            let Some(job) = self.jobs.pop_front() else { return };
            let number = self.next_lent;
            self.next_lent = self.next_lent.wrapping_add(1);
            self.busy[rank] += 1;
            self.post(rank, Message::Evaluate { job: number, moves: job.moves.clone() });
            self.lent.insert(number, job);
        }
    }
}
