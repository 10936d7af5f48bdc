//! The stack of a search, which is larger than that of a usual thread.

use kosumi_sync::HAS_THREADS;
use std::cell::Cell;

/// Stack size of a search, in bytes. The frames of the recursion are large, and the recursion may be hundreds of levels
/// deep.
pub(super) const STACK: usize = 64 << 20;

thread_local! {
    /// Whether the stack of the current thread has [`STACK`] bytes.
    static IS_LARGE: Cell<bool> = const { Cell::new(false) };
}

/// Marks the current thread as one with a stack of [`STACK`] bytes.
pub(super) fn mark_large() {
    IS_LARGE.set(true);
}

/// Runs `work` on a stack of 64 MiB, whatever the caller's stack is: on a thread of its own, unless the caller
/// runs on such a thread already. If no thread can be started, and where the program has no threads, `work` runs on the
/// caller's stack, which must be large enough.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if !HAS_THREADS || IS_LARGE.get() {
        return work();
    }
    // The thread takes the work out, so that it is still here if there is no thread.
    let mut work = Some(work);
    let result = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || {
            mark_large();
            work.take().map(|work| work())
        });
        thread.ok().map(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    });
    match (result.flatten(), work) {
        (Some(result), _) => result,
        (None, Some(work)) => work(),
        (None, None) => unreachable!("work that was taken out has a result"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aim, BoardRequest, Question, Region, solve_board};
    use kosumi_go::board::{Board, Color};
    use kosumi_go::rules::{Rules, Scoring};

    #[test]
    fn the_stack_is_large_and_used_again() {
        // A caller with a stack of 64 KiB.
        let caller = std::thread::Builder::new().stack_size(64 << 10);
        let depth = caller
            .spawn(|| {
                on_large_stack(|| {
                    let outer = std::thread::current().id();
                    assert_eq!(on_large_stack(|| std::thread::current().id()), outer);
                    deep(200)
                })
            })
            .unwrap()
            .join()
            .unwrap();
        assert_eq!(depth, 200);
    }

    #[test]
    fn searches_fit_the_stack_of_any_caller() {
        let solve = || {
            let board: Board = ". . . .\n. . . .\n. . . .".parse().unwrap();
            let rules = Rules { scoring: Scoring::Area, ..Rules::default() };
            let request = BoardRequest {
                board: &board,
                to_move: Color::Black,
                moves: &[],
                rules,
                memory: 1 << 20,
                all_best: false,
                cycles_lose_for: Color::Black,
                threads: 1,
                guess: None,
            };
            solve_board(&request, &|nodes| nodes > 20_000, &|_| {}).unwrap().score()
        };
        let read = || {
            let board: Board = ". O X . .\n. O X . .\nO O X X X\nX X . . .\n. . X . .".parse().unwrap();
            let at = board.size().point(1, 4).unwrap();
            let region = Region::of_group(&board, at).unwrap();
            let question = Question {
                board: &board,
                region: &region,
                aim: Aim::Capture,
                suicide: false,
                memory: 1 << 20,
                threads: 1,
            };
            crate::read(&question, Color::Black, &|nodes| nodes > 20_000).unwrap().success
        };
        let small = || std::thread::Builder::new().stack_size(160 << 10);
        assert_eq!(small().spawn(solve).unwrap().join().unwrap(), solve());
        assert_eq!(small().spawn(read).unwrap().join().unwrap(), read());
    }

    /// Returns `levels` after as many frames of at least 75 kB.
    fn deep(levels: usize) -> usize {
        let frame = std::hint::black_box([1_u8; 75_000]);
        if levels == 0 { 0 } else { deep(levels - 1) + usize::from(std::hint::black_box(frame)[levels]) }
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let caught =
            std::panic::catch_unwind(|| on_large_stack(|| assert!(std::hint::black_box(false), "inner")));
        assert!(caught.is_err());
    }
}
