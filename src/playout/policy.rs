//! Who chooses the moves of a playout.

use crate::board::{Board, Color, Move, Point};
use crate::rng::Rng;

/// Chooses a playout's next move.
pub trait PlayoutPolicy {
    /// A legal point for `color`, or `None` to pass. `last` are the two latest moves, newest first.
    fn choose(&mut self, board: &Board, color: Color, last: [Move; 2], rng: &mut Rng) -> Option<Point>;
}

/// Uniformly random among the legal moves that do not fill an own one-point eye: the oracle for everything that
/// playouts count, and the anchor for their speed.
#[derive(Clone, Copy, Debug, Default)]
pub struct UniformPolicy;

/// May `color` play here in a random playout: no own eye, no suicide, no simple ko?
#[inline]
pub fn is_playable(board: &Board, point: Point, color: Color) -> bool {
    if board.has_empty_neighbour(point) {
        return true;
    }
    !board.is_eyelike(point, color) && !board.is_ko(point, color) && !board.is_suicide(point, color)
}

/// A uniformly random empty point that `accept` takes, if there is one.
///
/// A few independent draws find one nearly always; when they do not, few points qualify, and one pass over all
/// of them (reservoir sampling) keeps the choice uniform.
#[inline]
pub fn pick_uniform(
    board: &Board,
    rng: &mut Rng,
    mut accept: impl FnMut(Point, &mut Rng) -> bool,
) -> Option<Point> {
    const DRAWS: usize = 6;
    let empties = board.empties();
    if empties.is_empty() {
        return None;
    }
    for _ in 0..DRAWS {
        let point = empties[rng.below(empties.len() as u32) as usize];
        if accept(point, rng) {
            return Some(point);
        }
    }
    let mut chosen = None;
    let mut count = 0;
    for &point in empties {
        if accept(point, rng) {
            count += 1;
            if count == 1 || rng.below(count) == 0 {
                chosen = Some(point);
            }
        }
    }
    chosen
}

impl PlayoutPolicy for UniformPolicy {
    #[inline]
    fn choose(&mut self, board: &Board, color: Color, _last: [Move; 2], rng: &mut Rng) -> Option<Point> {
        pick_uniform(board, rng, |point, _| is_playable(board, point, color))
    }
}
