//! Playouts: both players follow a policy until neither finds a move.
//!
//! Playouts respect captures, suicide (which is never played) and simple ko. Superko is not checked, because it would
//! cost a hash set per playout and matters about once in ten thousand playouts. A limit on the length ends the rare
//! long cycles. The moves *in the graph*, from the root to the leaf where the playout starts, respect superko exactly.

pub mod heuristic;
pub mod pattern;
pub mod policy;

pub use heuristic::{HeuristicPolicy, HeuristicProbabilities};
pub use policy::{PlayoutPolicy, UniformPolicy};

use crate::board::{Board, Cell, Color, Move, Point};
use crate::rng::Rng;

/// Observer of the moves of a playout.
pub trait PlayoutObserver {
    /// Called for each stone placed.
    fn placed(&mut self, point: Point, color: Color);
}

/// Observer that does nothing.
impl PlayoutObserver for () {
    #[inline]
    fn placed(&mut self, _: Point, _: Color) {}
}

/// End of a playout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlayoutEnd {
    /// Number of moves, including the final passes.
    pub moves: u32,
    /// Whether two passes ended the playout, and not the limit on its length.
    pub finished: bool,
}

/// Returns the number of moves after which a playout on this board is aborted.
pub fn length_limit(board: &Board) -> u32 {
    3 * board.size().area() as u32 + 20
}

/// Plays on `board` from `to_move` until two consecutive passes or the limit on the length.
///
/// `last` holds the latest moves before the playout, newest first, which policies reply to.
#[inline]
pub fn run<P: PlayoutPolicy, O: PlayoutObserver>(
    policy: &mut P,
    board: &mut Board,
    to_move: Color,
    last: [Move; 2],
    rng: &mut Rng,
    observer: &mut O,
) -> PlayoutEnd {
    let limit = length_limit(board);
    let mut last = last;
    let mut color = to_move;
    let mut moves = 0;
    let mut passes = 0;
    while passes < 2 {
        if moves == limit {
            return PlayoutEnd { moves, finished: false };
        }
        moves += 1;
        let mv = match policy.choose(board, color, last, rng) {
            Some(point) => {
                board.play_unchecked(point, color);
                observer.placed(point, color);
                passes = 0;
                Move::Play(point)
            }
            None => {
                board.pass();
                passes += 1;
                Move::Pass
            }
        };
        last = [mv, last[0]];
        color = color.opponent();
    }
    PlayoutEnd { moves, finished: true }
}

/// Plays `count` playouts from a position with Black to move and returns their total number of moves. Serves to measure
/// the speed.
pub fn run_many(policy: Policy, position: &Board, count: u32, rng: &mut Rng) -> u64 {
    fn moves<P: PlayoutPolicy>(mut policy: P, position: &Board, count: u32, rng: &mut Rng) -> u64 {
        let mut board = *position;
        let mut moves = 0;
        for _ in 0..count {
            board.copy_from(position);
            let end = run(&mut policy, &mut board, Color::Black, [Move::Pass; 2], rng, &mut ());
            moves += u64::from(end.moves);
        }
        moves
    }
    match policy {
        Policy::Uniform => moves(UniformPolicy, position, count, rng),
        Policy::Heuristic => moves(HeuristicPolicy::default(), position, count, rng),
    }
}

/// Playout policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// [`UniformPolicy`].
    Uniform,
    /// [`HeuristicPolicy`] with its default probabilities.
    Heuristic,
}

/// Returns the area score of a board that was played to the end: Black's stones and one-point eyes minus White's.
pub fn final_area(board: &Board) -> i32 {
    let mut score = 0;
    for point in board.size().points() {
        score += match board.cell(point) {
            Cell::Black => 1,
            Cell::White => -1,
            Cell::Empty if board.is_enclosed(point, Color::Black) => 1,
            Cell::Empty if board.is_enclosed(point, Color::White) => -1,
            Cell::Empty | Cell::Border => 0,
        };
    }
    score
}
