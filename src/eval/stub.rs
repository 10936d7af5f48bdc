//! Evaluators for tests of the search, whose results are known without playing.

use super::{Evaluation, Evaluator, Prior};
use kosumi_go::board::{Cell, Move};
use kosumi_go::game::Line;
use kosumi_go::rng::{Rng, mix};

/// Evaluator whose value is a hash of the position and whose priors are even, so that a search can be verified by hand.
#[derive(Clone, Copy, Debug, Default)]
pub struct HashEvaluator;

impl Evaluator for HashEvaluator {
    fn evaluate(&mut self, line: &Line<'_>, _rng: &mut Rng, _moves: &mut Vec<(Move, Prior)>) -> Evaluation {
        let hash = mix(line.board().key().0 as u64 ^ line.to_move() as u64);
        let value = (hash % 2001) as f32 / 1000.0 - 1.0;
        Evaluation::plain(value, 10.0 * value)
    }

    fn expand(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        let board = line.board();
        let legal = board
            .size()
            .points()
            .filter(|&point| board.cell(point) == Cell::Empty && line.check(point).is_ok());
        moves.extend(legal.map(|point| (Move::Play(point), Prior::EVEN)));
        moves.push((Move::Pass, Prior::EVEN));
    }
}

/// Evaluator with the values of [`HashEvaluator`] and probabilities as priors. The probabilities are hashes and sum to
/// 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct HashPolicy;

impl Evaluator for HashPolicy {
    fn evaluate(&mut self, line: &Line<'_>, rng: &mut Rng, moves: &mut Vec<(Move, Prior)>) -> Evaluation {
        // Value and moves come together, as with networks.
        self.expand(line, moves);
        HashEvaluator.evaluate(line, rng, &mut Vec::new())
    }

    fn expand(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        HashEvaluator.expand(line, moves);
        let position = line.board().key().0 as u64;
        let share = |mv: Move| 1 + mix(position ^ mv.point().map_or(0, |point| point.index() as u64)) % 100;
        let sum: u64 = moves.iter().map(|&(mv, _)| share(mv)).sum();
        for (mv, prior) in moves {
            *prior = Prior::Probability(share(*mv) as f32 / sum as f32);
        }
    }
}

/// Evaluator that returns the exact Tromp-Taylor area of the position, as if both players passed now, with even priors.
#[derive(Clone, Copy, Debug, Default)]
pub struct AreaEvaluator;

impl Evaluator for AreaEvaluator {
    fn evaluate(&mut self, line: &Line<'_>, _rng: &mut Rng, _moves: &mut Vec<(Move, Prior)>) -> Evaluation {
        let game = line.game();
        let score = kosumi_go::score::area_score(line.board()) as f32 - game.komi() - line.white_bonus();
        Evaluation::plain(score.clamp(-1.0, 1.0), score)
    }

    fn expand(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        HashEvaluator.expand(line, moves);
    }
}
