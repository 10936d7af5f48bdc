//! Off-policy positions.
//!
//! Searches evaluate bad moves all the time, but the games from which networks learn do not contain them. A network
//! that has never seen the refutation of a bad move considers the move harmless.

use kosumi_go::board::{Move, Point};
use kosumi_go::game::Game;
use kosumi_go::playout::{HeuristicPolicy, PlayoutPolicy, UniformPolicy};
use kosumi_go::rng::Rng;

/// Maximum number of added moves.
const MAX_MOVES: u32 = 2;
/// Number of attempts to draw a legal move before the generator gives up.
const ATTEMPTS: usize = 8;

/// Generator of off-policy positions. It plays moves drawn from all legal moves, which are mostly absurd, and moves of
/// a playout policy, which answer the previous move and are mostly just bad.
#[derive(Clone, Debug, Default)]
pub struct OffPolicyGenerator {
    playout: HeuristicPolicy,
}

impl OffPolicyGenerator {
    /// Returns the game with one or two additional moves, and these moves. Returns `None` if the only legal move is a
    /// pass.
    pub fn off_policy_position(&mut self, game: &Game, rng: &mut Rng) -> Option<(Game, Vec<Move>)> {
        let mut position = game.clone();
        let mut moves = Vec::new();
        for _ in 0..=rng.below(MAX_MOVES) {
            let Some(point) = self.point(&position, rng) else { break };
            let color = position.to_move();
            if position.play(color, Move::Play(point)).is_err() {
                break;
            }
            moves.push(Move::Play(point));
        }
        (!moves.is_empty()).then_some((position, moves))
    }

    /// Draws a legal move that does not fill an eye of the player.
    pub(crate) fn point(&mut self, game: &Game, rng: &mut Rng) -> Option<Point> {
        let (board, color, last) = (game.board(), game.to_move(), game.last_moves());
        let uniform = rng.chance(500);
        let mut draw = || match uniform {
            true => UniformPolicy.choose(board, color, last, rng),
            false => self.playout.choose(board, color, last, rng),
        };
        // Playout policies do not check superko.
        (0..ATTEMPTS).find_map(|_| draw().filter(|&point| game.check(color, Move::Play(point)).is_ok()))
    }
}
