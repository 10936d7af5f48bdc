//! Exact reading: scores of whole boards, and life and death, captures and connections in a part of one.
//!
//! Nothing here guesses: an answer is proven or not given. The search is for proof numbers, depth first, with a
//! table of a fixed size; what is found with one past is used with another one only where that is shown to be
//! right (`table::Proof`), so that neither superko nor cycles can mislead it (`tests` compare with plain minimax).
//!
//! The room has its own board of point sets, `ground`, because its positions are small, are compared exactly,
//! and are made and thrown away by the million. It reads no clock: the caller says when to stop.

#[cfg(test)]
mod attractor;
mod between;
mod bits;
mod boards;
mod double;
mod eyes;
mod goal;
mod ground;
mod images;
mod memo;
mod path;
mod problems;
#[cfg(test)]
mod problems_tests;
mod region;
mod search;
mod step;
mod table;
#[cfg(test)]
mod tests;
mod threads;

pub use boards::{BoardAnswer, BoardError, BoardRequest, solve_board};
pub use double::{Double, DoubleError};
pub use eyes::{Eyes, EyesError, eyes};
pub use memo::{Memo, MemoUsage};
pub use problems::{
    Aim, MOST_THREATS, ProofNode, Question, QuestionError, Reading, Status, StopAt, Success, Verdict, judge,
    proof_tree, read, settle,
};
pub use region::Region;
