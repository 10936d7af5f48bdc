//! Search of one question by several threads with one transposition table.

use super::bits::Bits;
use super::goal::Goal;
use super::images::Images;
use super::move_code::MoveCode;
use super::path::Repetition;
use super::search::{Answer, Search, SharedSearch, Stop};
use super::stack::{self, on_large_stack};
use super::table::Table;
use super::window::{Position, Window};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// A question for the proof-number search.
#[derive(Debug)]
pub(super) struct SearchQuestion<'a, B> {
    pub(super) window: &'a Window<B>,
    pub(super) goal: Goal<B>,
    pub(super) repetition: Repetition,
    /// See [`Search::with_images`].
    pub(super) images: Option<&'a Images<B>>,
    pub(super) table: &'a Table<B>,
}

/// Result of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchResult {
    pub(super) answer: Answer,
    /// Number of nodes of all threads.
    pub(super) nodes: u64,
    /// Number of look-ups of all threads in the table, and number of those that found an entry.
    pub(super) table_use: (u64, u64),
}

impl<'a, B: Bits> SearchQuestion<'a, B> {
    fn search<'s>(&'s self, stop: Stop<'s>) -> Search<'s, B> {
        Search::new(self.window, self.goal, self.repetition, self.table, stop).with_images(self.images)
    }

    /// Reads the position after some legal moves. With one thread, the search is deterministic. With more threads, only
    /// the winner of the result is deterministic.
    pub(super) fn decide(
        &self,
        root: &Position<B>,
        line: &[MoveCode],
        threads: usize,
        stop: Stop<'_>,
    ) -> SearchResult {
        if threads < 2 {
            return on_large_stack(|| {
                let mut search = self.search(stop);
                let answer = search.decide_line(root, line);
                SearchResult { answer, nodes: search.nodes, table_use: search.table_use.get() }
            });
        }
        let shared = SharedSearch::new();
        let first: Mutex<Option<Answer>> = Mutex::new(None);
        let total = Mutex::new((0, (0, 0)));
        let work = |stop: Stop<'_>| {
            // A panic ends the search of all threads, and reaches the caller when they have ended.
            let _ending = scopeguard::guard_on_unwind(&shared.is_over, |is_over| {
                is_over.store(true, Ordering::Relaxed)
            });
            let mut search = self.search(stop).sharing(&shared);
            let answer = search.decide_line(root, line);
            if answer.won.is_some() {
                lock(&first).get_or_insert(answer);
                shared.is_over.store(true, Ordering::Relaxed);
            }
            let (lookups, hits) = search.table_use.get();
            let mut total = lock(&total);
            total.0 += search.nodes;
            total.1 = (total.1.0 + lookups, total.1.1 + hits);
            answer
        };
        let own = std::thread::scope(|scope| {
            for _ in 1..threads {
                let thread = std::thread::Builder::new().stack_size(stack::STACK);
                // If a thread cannot be started, the search only takes longer.
                let _ = thread.spawn_scoped(scope, || {
                    stack::mark_large();
                    work(&|_| false)
                });
            }
            let own = on_large_stack(|| work(stop));
            shared.is_over.store(true, Ordering::Relaxed);
            own
        });
        let answer = lock(&first).unwrap_or(own);
        let (nodes, table_use) = *lock(&total);
        SearchResult { answer, nodes, table_use }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use crate::{BoardRequest, solve_board};
    use kosumi_go::board::{Board, Color};
    use kosumi_go::rules::Rules;
    use std::panic::{catch_unwind, resume_unwind};

    #[test]
    fn a_panic_of_one_thread_ends_the_others() {
        // The other threads alone would search for hours.
        let board: Board = ". . . . .\n. . . . .\n. . . . .\n. . . . .\n. . . . .".parse().expect("a board");
        let request = BoardRequest {
            board: &board,
            to_move: Color::Black,
            moves: &[],
            rules: Rules::default(),
            memory: 1 << 20,
            all_best: false,
            cycles_lose_for: Color::Black,
            threads: 3,
            guess: None,
        };
        let stop = |nodes| nodes > 1000 && resume_unwind(Box::new("a faulty caller"));
        let panic = catch_unwind(|| solve_board(&request, &stop, &|_| {}).is_ok());
        assert_eq!(panic.expect_err("a panic").downcast_ref(), Some(&"a faulty caller"));
    }
}
