#![doc = include_str!("README.md")]
//!
//! Exact reading: scores of whole boards, and life and death, captures and connections in a part of a board.
//!
//! An answer is either proven or not given. The search is a depth-first proof-number search with a transposition table
//! of fixed size. A result found after one past is used after another past only where that is shown to be correct
//! (`table::Proof`). Neither superko nor cycles can therefore mislead the search (`tests` compare it with plain
//! minimax).
//!
//! The crate has its own board of point sets, `window`, because its positions are small, are compared exactly, and are
//! made and discarded by the million. It reads no clock: the caller decides when to stop.

mod answers;
mod between;
mod bits;
mod boards;
mod double;
#[cfg(test)]
mod enumeration;
mod eyes;
mod goal;
mod images;
mod memo;
mod move_code;
mod path;
mod problems;
#[cfg(test)]
mod problems_tests;
mod region;
mod search;
mod stack;
mod table;
#[cfg(test)]
mod tests;
mod threads;
mod window;

pub use answers::{JudgedAnswer, Outcome, judge_answer};
pub use boards::{BoardAnswer, BoardError, BoardRequest, solve_board};
pub use double::{MultiChainError, MultiChainReader};
pub use eyes::{Eyes, EyesError, eyes};
pub use memo::{Memo, MemoUsage};
pub use problems::{
    Aim, GroupReading, MAX_THREATS, ProofNode, Question, QuestionError, Reading, Status, StopFn, Success,
    proof_tree, read, read_status, read_with_region,
};
pub use region::Region;
pub use stack::on_large_stack;
