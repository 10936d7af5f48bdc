//! Tasks: visits at a node, and what has become of them.

use super::Rank;
use crate::cluster::message::{Caller, Path};
use crate::eval::Evaluator;
use crate::search::node::NodeId;

/// Number of a task of a rank.
pub(super) type TaskId = u32;

/// Visits that have arrived at a node by one way, and what has become of them.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) node: NodeId,
    pub(super) path: Path,
    pub(super) caller: Caller,
    /// How many arrived.
    pub(super) count: u32,
    /// How many of them have not come to an end.
    pub(super) left: u32,
    /// Ends that the caller has not been told of.
    pub(super) ends: Ends,
}

/// What has become of some visits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ends {
    pub(super) done: u32,
    pub(super) cancelled: u32,
}

impl Ends {
    pub(super) fn cancelled(count: u32) -> Ends {
        Ends { done: 0, cancelled: count }
    }

    pub(super) fn all(&self) -> u32 {
        self.done + self.cancelled
    }

    pub(super) fn add(&mut self, more: &Ends) {
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

    /// A task; `None` if what came names one that is not there, which no rank of this version does.
    pub(super) fn task(&mut self, id: TaskId) -> Option<&mut Task> {
        self.tasks.get_mut(id as usize)?.as_mut()
    }
}
