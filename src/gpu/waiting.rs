//! Positions that wait for a device, and the order in which they become batches.

use std::collections::{BTreeMap, VecDeque};

/// Number of batches after which a position is computed even if more positions of another size wait.
const PASSED_OVER: u64 = 4;

/// Numbers of columns and rows of a board.
pub(crate) type Size = (usize, usize);

/// Positions that wait, by the size of the board.
#[derive(Debug)]
pub(crate) struct Waiting<T> {
    /// Positions with the number of batches that had started when they came.
    queues: BTreeMap<Size, VecDeque<(u64, T)>>,
}

impl<T> Default for Waiting<T> {
    fn default() -> Waiting<T> {
        Waiting { queues: BTreeMap::new() }
    }
}

impl<T> Waiting<T> {
    /// Returns whether no position waits.
    #[cfg(feature = "wgpu")]
    pub(crate) fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// Adds a position that came when `came_at` batches had started.
    pub(crate) fn add(&mut self, size: Size, came_at: u64, position: T) {
        self.queues.entry(size).or_default().push_back((came_at, position));
    }

    /// Returns the size of the boards of the next batch, and the number of waiting positions of that size, after
    /// `started` batches: the size with the most waiting positions, unless a position has been passed over for too
    /// long.
    pub(crate) fn next(&self, started: u64) -> Option<(Size, usize)> {
        let each = self.queues.iter();
        let each = each.filter_map(|(&size, queue)| Some((size, queue.len(), queue.front()?.0)));
        let oldest = each.clone().min_by_key(|&(.., came_at)| came_at);
        let oldest = oldest.filter(|&(.., came_at)| started.saturating_sub(came_at) >= PASSED_OVER);
        let (size, count, _) = oldest.or_else(|| each.max_by_key(|&(_, count, _)| count))?;
        Some((size, count))
    }

    /// Returns whether `count` positions are worth a batch now. While the device computes another batch, of `in_flight`
    /// positions, a small one can wait: more positions come, and a device takes hardly longer for them.
    pub(crate) fn is_worth_a_batch(count: usize, in_flight: Option<usize>) -> bool {
        in_flight.is_none_or(|in_flight| 2 * count >= in_flight)
    }

    /// Takes the `most` oldest positions of a size.
    pub(crate) fn take(&mut self, size: Size, most: usize) -> Vec<T> {
        let mut taken = self.queues.remove(&size).unwrap_or_default();
        let rest = taken.split_off(taken.len().min(most));
        if !rest.is_empty() {
            self.queues.insert(size, rest);
        }
        taken.into_iter().map(|(_, position)| position).collect()
    }
}
