//! A search about one group instead of the game: what counts is whether its stones stay on the board.
//!
//! A network says of every point whose it will be. Of the points on which stones of the group stand that is whether they
//! live, so a search that takes it for the value of a position reads life and death with the network's knowledge of
//! shapes. It is a judgement, no proof.

use super::{Evaluation, Prior};
use crate::board::{BoardSize, Move, PointSet};
use crate::game::Line;

/// What a search is about.
#[derive(Clone, Debug)]
pub struct Survival {
    /// Where the group's stones are in the order of [`BoardSize::points`].
    stones: Vec<usize>,
    /// Where both players may move; they may also play elsewhere, which is a pass.
    playable: PointSet,
}

impl Survival {
    /// About these stones, with moves at these points.
    pub fn new(size: BoardSize, stones: PointSet, playable: PointSet) -> Survival {
        let places = size.points().enumerate().filter(|&(_, point)| stones.contains(point));
        Survival { stones: places.map(|(index, _)| index).collect(), playable }
    }

    /// What the position is worth to Black if the network expects these owners: 1 if the points will be Black's, −1 if
    /// they will be White's.
    pub(super) fn evaluation(&self, owners: &[i8]) -> Evaluation {
        let sum: i32 = self.stones.iter().map(|&index| i32::from(owners[index])).sum();
        let most = i32::from(i8::MAX) * self.stones.len().max(1) as i32;
        Evaluation::plain(sum as f32 / most as f32, 0.0)
    }

    /// Leaves only moves of the region, and a pass where the opponent has not just passed: their probabilities sum to 1.
    pub(super) fn confine(&self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        let passed = line.passes() > 0;
        let permits = |mv: Move| match mv {
            Move::Play(point) => self.playable.contains(point),
            Move::Pass => !passed,
        };
        let is_any = moves.iter().any(|&(mv, _)| permits(mv));
        // Without any move there a pass has to do.
        moves.retain(|&(mv, _)| if is_any { permits(mv) } else { mv == Move::Pass });
        let sum: f32 = moves.iter().map(|(_, prior)| prior.probability()).sum();
        let even = 1.0 / moves.len().max(1) as f32;
        for (_, prior) in moves {
            let probability = if sum > 0.0 { prior.probability() / sum } else { even };
            *prior = Prior::Probability(probability.min(1.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Point;
    use crate::game::Game;
    use crate::rules::Rules;

    fn size() -> BoardSize {
        BoardSize::new(3, 2).expect("a size")
    }

    fn set(points: &[(usize, usize)]) -> PointSet {
        points.iter().map(|&(column, row)| Point::new(column, row)).collect()
    }

    #[test]
    fn the_value_is_that_of_the_stones_alone() {
        let survival = Survival::new(size(), set(&[(0, 0), (2, 0)]), PointSet::EMPTY);
        let owners: Vec<i8> = size()
            .points()
            .map(|point| if point == Point::new(0, 0) { 127 } else { -127 * (point.row() as i8) })
            .collect();
        // One is Black's, the other nobody's.
        assert_eq!(survival.evaluation(&owners), Evaluation::plain(0.5, 0.0));
    }

    #[test]
    fn moves_stay_in_the_region() {
        let confined = |playable: &[(usize, usize)], passed: bool| {
            let game = Game::new(size(), Rules::default(), 0.0);
            let mut line = Line::new(&game);
            if passed {
                line.play(Move::Pass);
            }
            let moves = size().points().map(Move::Play).chain([Move::Pass]);
            let mut moves: Vec<_> = moves.map(|mv| (mv, Prior::Probability(0.125))).collect();
            Survival::new(size(), PointSet::EMPTY, set(playable)).confine(&line, &mut moves);
            moves.into_iter().map(|(mv, prior)| (mv, prior.probability())).collect::<Vec<_>>()
        };
        let corner = Move::Play(Point::new(0, 0));
        assert_eq!(confined(&[(0, 0)], false), [(corner, 0.5), (Move::Pass, 0.5)]);
        // Two passes would end the game.
        assert_eq!(confined(&[(0, 0)], true), [(corner, 1.0)]);
        assert_eq!(confined(&[], true), [(Move::Pass, 1.0)]);
    }
}
