//! Searches about the life of one group instead of the game.
//!
//! A network predicts the owner of every point. At the points of a group's stones, this is the group's survival. A
//! search that uses it as the value of positions reads life and death with the network's knowledge of shapes. The
//! result is an estimate and not a proof.

use super::{Evaluation, Prior};
use kosumi_go::board::{BoardSize, ByColor, Color, Move, Point, PointSet};
use kosumi_go::game::Line;
use kosumi_go::safety::{self, PassAlive};
use kosumi_sync::atomic::{AtomicBool, Ordering};

/// Subject of a search about a group.
#[derive(Debug)]
pub struct GroupSurvival {
    /// Stones of the group, with their indices in the order of [`BoardSize::points`].
    stones: Vec<(usize, Point)>,
    /// Points where both players may move. A move elsewhere is a pass.
    playable: PointSet,
    /// Whether simple ko has forbidden a move of each colour in some position.
    banned_by_ko: ByColor<AtomicBool>,
}

impl GroupSurvival {
    /// Creates a subject: the survival of `stones`, with moves at the points of `playable`.
    pub fn new(size: BoardSize, stones: PointSet, playable: PointSet) -> GroupSurvival {
        let places = size.points().enumerate().filter(|&(_, point)| stones.contains(point));
        let held_back = ByColor::new(AtomicBool::new(false), AtomicBool::new(false));
        GroupSurvival { stones: places.collect(), playable, banned_by_ko: held_back }
    }

    /// Returns whether simple ko has forbidden a capture of this colour in any of the positions that the search
    /// expanded.
    pub fn was_banned_by_ko(&self, color: Color) -> bool {
        self.banned_by_ko[color].load(Ordering::Relaxed)
    }

    /// Returns the value of the position at the end of a line for Black, given the network's expected owners: 1 if the
    /// group's points will be Black's, −1 if they will be White's. `owners` is in the order of [`BoardSize::points`],
    /// from −127 for White to 127 for Black. Unconditional life and territory take precedence over the network.
    pub(super) fn evaluation(&self, line: &Line<'_>, owners: &[i8]) -> Evaluation {
        let certain = Color::BOTH.map(|color| {
            let PassAlive { mut chains, territory } =
                safety::pass_alive(line.board(), color, line.game().rules().suicide);
            chains.union_with(&territory);
            (chains, color)
        });
        let owner = |&(index, point): &(usize, Point)| {
            let known = certain.iter().find(|(points, _)| points.contains(point));
            known.map_or(i32::from(owners[index]), |(_, color)| color.sign() * i32::from(i8::MAX))
        };
        let sum: i32 = self.stones.iter().map(owner).sum();
        let most = i32::from(i8::MAX) * self.stones.len().max(1) as i32;
        Evaluation::plain(sum as f32 / most as f32, 0.0)
    }

    /// Removes moves outside the region, and a pass if the opponent has just passed. The probabilities are normalised
    /// to sum to 1.
    pub(super) fn restrict_moves(&self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        if let Some((_, color)) = line.board().ko() {
            self.banned_by_ko[color].store(true, Ordering::Relaxed);
        }
        let passed = line.passes() > 0;
        let permits = |mv: Move| match mv {
            Move::Play(point) => self.playable.contains(point),
            Move::Pass => !passed,
        };
        let is_any = moves.iter().any(|&(mv, _)| permits(mv));
        // Without any permitted move, only a pass remains.
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
    use kosumi_go::game::Game;
    use kosumi_go::rules::Rules;

    fn size() -> BoardSize {
        BoardSize::new(3, 2).expect("a size")
    }

    fn set(points: &[(usize, usize)]) -> PointSet {
        points.iter().map(|&(column, row)| Point::new(column, row)).collect()
    }

    #[test]
    fn the_value_is_that_of_the_stones_alone() {
        let survival = GroupSurvival::new(size(), set(&[(0, 0), (2, 0)]), PointSet::EMPTY);
        let owners: Vec<i8> = size()
            .points()
            .map(|point| if point == Point::new(0, 0) { 127 } else { -127 * (point.row() as i8) })
            .collect();
        let game = Game::new(size(), Rules::default(), 0.0);
        // One point is Black's, and the other is neutral.
        assert_eq!(survival.evaluation(&Line::new(&game), &owners), Evaluation::plain(0.5, 0.0));
    }

    #[test]
    fn unconditional_life_overrides_network() {
        let board = "
            . O X . .
            O O X X .
            . O . X X
            O O X . X
            . O X X .
        ";
        let game = Game::from_board(board.parse().expect("a drawing"), Color::Black, Rules::default(), 0.0);
        let value = |column, row, owner: i8| {
            let survival = GroupSurvival::new(game.size(), set(&[(column, row)]), PointSet::EMPTY);
            survival.evaluation(&Line::new(&game), &[owner; 25]).value
        };
        // Chains with two eyes, and a point of one of them. The status of the point between them is uncertain.
        assert_eq!([value(1, 1, 127), value(2, 1, -127), value(0, 0, 127)], [-1.0, 1.0, -1.0]);
        assert_eq!([value(2, 2, 127), value(2, 2, -127)], [1.0, -1.0]);
    }

    #[test]
    fn ko_bans_are_recorded() {
        let board = ". X O .\n X O . O\n . X O .".parse().expect("a drawing");
        let game = Game::from_board(board, Color::Black, Rules::default(), 0.0);
        let survival = GroupSurvival::new(game.size(), PointSet::EMPTY, PointSet::EMPTY);
        let mut line = Line::new(&game);
        survival.restrict_moves(&line, &mut Vec::new());
        let seen = || [Color::Black, Color::White].map(|color| survival.was_banned_by_ko(color));
        assert_eq!(seen(), [false, false]);
        line.play(Move::Play(Point::new(2, 1)));
        survival.restrict_moves(&line, &mut Vec::new());
        assert_eq!(seen(), [false, true]);
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
            GroupSurvival::new(size(), PointSet::EMPTY, set(playable)).restrict_moves(&line, &mut moves);
            moves.into_iter().map(|(mv, prior)| (mv, prior.probability())).collect::<Vec<_>>()
        };
        let corner = Move::Play(Point::new(0, 0));
        assert_eq!(confined(&[(0, 0)], false), [(corner, 0.5), (Move::Pass, 0.5)]);
        // A second pass would end the game.
        assert_eq!(confined(&[(0, 0)], true), [(corner, 1.0)]);
        assert_eq!(confined(&[], true), [(Move::Pass, 1.0)]);
    }
}
