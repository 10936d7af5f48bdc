//! Queue of pieces of work.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Numbers of pieces for the workers of this process and for other ranks.
#[derive(Debug, Default)]
pub struct PieceQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<u32>,
    /// Pieces lent to other ranks, with the rank.
    lent: BTreeMap<u32, usize>,
    /// Contents of pieces, if their numbers do not determine them.
    contents: BTreeMap<u32, Vec<u8>>,
    /// Whether more pieces may be added.
    is_open: bool,
    is_stopped: bool,
}

impl PieceQueue {
    /// Creates a queue of these pieces, in this order.
    pub fn new(numbers: impl IntoIterator<Item = u32>) -> PieceQueue {
        let state = State { waiting: numbers.into_iter().collect(), ..State::default() };
        PieceQueue { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Creates an empty queue, to which pieces are added until it is closed or stopped.
    pub fn open() -> PieceQueue {
        let state = State { is_open: true, ..State::default() };
        PieceQueue { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next piece for a worker of this process. Waits while the queue is empty but may still get pieces: new
    /// ones, or pieces that were lent to a rank that is lost.
    pub fn next(&self) -> Option<u32> {
        let mut state = self.lock();
        loop {
            if state.is_stopped {
                return None;
            }
            if let Some(piece) = state.waiting.pop_front() {
                return Some(piece);
            }
            if !state.is_open && state.lent.is_empty() {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the number of waiting pieces.
    pub fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Adds a piece.
    pub(super) fn add(&self, piece: u32) {
        self.lock().waiting.push_back(piece);
        self.changed.notify_one();
    }

    /// Adds a piece with contents.
    pub(super) fn add_with(&self, piece: u32, contents: Vec<u8>) {
        self.lock().contents.insert(piece, contents);
        self.add(piece);
    }

    /// Takes the contents of a piece. They are empty if the number determines the piece.
    pub(super) fn take_contents(&self, piece: u32) -> Vec<u8> {
        self.lock().contents.remove(&piece).unwrap_or_default()
    }

    /// Declares that no more pieces will be added.
    pub(super) fn close(&self) {
        self.lock().is_open = false;
        self.changed.notify_all();
    }

    /// Takes the next piece for another rank.
    pub(super) fn lend(&self, rank: usize) -> Option<u32> {
        let mut state = self.lock();
        if state.is_stopped {
            return None;
        }
        let piece = state.waiting.pop_front()?;
        state.lent.insert(piece, rank);
        Some(piece)
    }

    /// Marks a lent piece as done. Returns false if the piece is no longer lent to this rank.
    pub(super) fn mark_done(&self, piece: u32, rank: usize) -> bool {
        let mut state = self.lock();
        if state.lent.get(&piece) != Some(&rank) {
            return false;
        }
        state.lent.remove(&piece);
        self.changed.notify_all();
        true
    }

    /// Puts the pieces that were lent to a lost rank back at the front of the queue. Returns their number.
    pub(super) fn take_back(&self, rank: usize) -> usize {
        let mut state = self.lock();
        let back: Vec<u32> =
            state.lent.iter().filter(|&(_, &other)| other == rank).map(|(&piece, _)| piece).collect();
        for &piece in back.iter().rev() {
            state.lent.remove(&piece);
            state.waiting.push_front(piece);
        }
        self.changed.notify_all();
        back.len()
    }

    /// Returns the number of pieces lent to a rank.
    pub(super) fn lent_to(&self, rank: usize) -> usize {
        self.lock().lent.values().filter(|&&other| other == rank).count()
    }

    /// Returns whether no piece is lent and none will be lent.
    pub(super) fn is_settled(&self) -> bool {
        let state = self.lock();
        state.lent.is_empty() && (state.is_stopped || (!state.is_open && state.waiting.is_empty()))
    }

    /// Stops the distribution: neither workers nor ranks get another piece.
    pub fn stop(&self) {
        self.lock().is_stopped = true;
        self.changed.notify_all();
    }
}
