//! Pieces of work that wait for somebody to do them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Numbers of pieces, for the workers of this process and for other ranks.
#[derive(Debug, Default)]
pub struct Pieces {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<u32>,
    /// What other ranks have.
    lent: BTreeMap<u32, usize>,
    /// What pieces are made of, where that is not known from their numbers.
    contents: BTreeMap<u32, Vec<u8>>,
    /// May there be more?
    is_open: bool,
    is_stopped: bool,
}

impl Pieces {
    /// These pieces, in this order.
    pub fn new(numbers: impl IntoIterator<Item = u32>) -> Pieces {
        let state = State { waiting: numbers.into_iter().collect(), ..State::default() };
        Pieces { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// No pieces yet; more come until it is stopped.
    pub fn to_come() -> Pieces {
        let state = State { is_open: true, ..State::default() };
        Pieces { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next piece, for a worker of this process. Waits while there is none but may be one later: new ones come, or
    /// other ranks have some that would come back if they were lost.
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

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// One more.
    pub(super) fn add(&self, piece: u32) {
        self.lock().waiting.push_back(piece);
        self.changed.notify_one();
    }

    /// One more, made of this.
    pub(super) fn add_with(&self, piece: u32, contents: Vec<u8>) {
        self.lock().contents.insert(piece, contents);
        self.add(piece);
    }

    /// Takes what a piece is made of; nothing if that is known from its number.
    pub(super) fn contents(&self, piece: u32) -> Vec<u8> {
        self.lock().contents.remove(&piece).unwrap_or_default()
    }

    /// There will be no more than there are.
    pub(super) fn close(&self) {
        self.lock().is_open = false;
        self.changed.notify_all();
    }

    /// The next piece, for another rank.
    pub(super) fn lend(&self, rank: usize) -> Option<u32> {
        let mut state = self.lock();
        if state.is_stopped {
            return None;
        }
        let piece = state.waiting.pop_front()?;
        state.lent.insert(piece, rank);
        Some(piece)
    }

    /// A rank has done its piece; false if it was not to do it any more.
    pub(super) fn done(&self, piece: u32, rank: usize) -> bool {
        let mut state = self.lock();
        if state.lent.get(&piece) != Some(&rank) {
            return false;
        }
        state.lent.remove(&piece);
        self.changed.notify_all();
        true
    }

    /// A rank is lost: what it had waits again, before the others. Returns how many pieces that are.
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

    /// How many pieces a rank has.
    pub(super) fn lent_to(&self, rank: usize) -> usize {
        self.lock().lent.values().filter(|&&other| other == rank).count()
    }

    /// Does no other rank have anything, nor will any get anything?
    pub(super) fn is_settled(&self) -> bool {
        let state = self.lock();
        state.lent.is_empty() && (state.is_stopped || (!state.is_open && state.waiting.is_empty()))
    }

    /// Nobody gets a piece any more.
    pub fn stop(&self) {
        self.lock().is_stopped = true;
        self.changed.notify_all();
    }
}
