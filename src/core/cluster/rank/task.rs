//! Tasks: visits at a node, and what has become of them.

use crate::cluster::message::{Caller, Path};
use crate::search::node::{NodeId, Results};

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
    pub(super) results: Results,
}

impl Ends {
    pub(super) fn cancelled(count: u32) -> Ends {
        Ends { cancelled: count, ..Ends::default() }
    }

    pub(super) fn all(&self) -> u32 {
        self.done + self.cancelled
    }
}
