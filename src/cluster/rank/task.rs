//! Tasks: visits at a node, and their results.

use super::Rank;
use crate::message::{Path, ReplyTo};
use kosumi_eval::Evaluator;
use kosumi_search::node::NodeId;

/// Number of a task of a rank.
pub(super) type TaskId = u32;

/// Visits that have arrived at a node by one path, and their results.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) node: NodeId,
    pub(super) path: Path,
    pub(super) caller: ReplyTo,
    /// Number of visits that arrived.
    pub(super) count: u32,
    /// Number of visits that have not ended.
    pub(super) left: u32,
    /// Results that have not been sent to the caller.
    pub(super) ends: VisitEnds,
}

/// Results of some visits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct VisitEnds {
    pub(super) done: u32,
    pub(super) cancelled: u32,
}

impl VisitEnds {
    pub(super) fn cancelled(count: u32) -> VisitEnds {
        VisitEnds { done: 0, cancelled: count }
    }

    pub(super) fn all(&self) -> u32 {
        self.done + self.cancelled
    }

    pub(super) fn add(&mut self, more: &VisitEnds) {
        self.done += more.done;
        self.cancelled += more.cancelled;
    }
}

impl<E: Evaluator> Rank<'_, E> {
    pub(super) fn new_task(&mut self, task: Task) -> TaskId {
        match self.free.pop() {
            Some(id) => {
                self.tasks[id as usize] = Some(task);
                id
            }
            None => {
                self.tasks.push(Some(task));
                self.tasks.len() as TaskId - 1
            }
        }
    }

    /// Returns a task; `None` if a message names one that does not exist, which no rank of this version sends.
    pub(super) fn task(&mut self, id: TaskId) -> Option<&mut Task> {
        self.tasks.get_mut(id as usize)?.as_mut()
    }
}
