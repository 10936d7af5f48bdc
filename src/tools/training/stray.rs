//! Positions that no game reaches.
//!
//! A search looks at bad moves all the time, and nobody plays them in the games that networks learn from. A network
//! that has never seen one refuted takes it for harmless.

use kosumi_go::board::{Move, Point};
use kosumi_go::game::Game;
use kosumi_go::playout::{HeuristicPolicy, PlayoutPolicy, UniformPolicy};
use kosumi_go::rng::Rng;

/// Most moves that are added.
const MOST_MOVES: u32 = 2;
/// Draws for a move before there is taken to be none.
const ATTEMPTS: usize = 8;

/// Leads games astray: by moves drawn from all that are legal, which are mostly absurd, and by moves of a playout,
/// which answer the move before and are mostly only bad.
#[derive(Clone, Debug, Default)]
pub struct Strays {
    playout: HeuristicPolicy,
}

impl Strays {
    /// The game with one or two moves more that it did not have, and these moves; `None` if there is no legal move but
    /// a pass.
    pub fn stray(&mut self, game: &Game, rng: &mut Rng) -> Option<(Game, Vec<Move>)> {
        let mut stray = game.clone();
        let mut moves = Vec::new();
        for _ in 0..=rng.below(MOST_MOVES) {
            let Some(point) = self.point(&stray, rng) else { break };
            let color = stray.to_move();
            if stray.play(color, Move::Play(point)).is_err() {
                break;
            }
            moves.push(Move::Play(point));
        }
        (!moves.is_empty()).then_some((stray, moves))
    }

    /// A legal point that is not an own eye.
    pub(crate) fn point(&mut self, game: &Game, rng: &mut Rng) -> Option<Point> {
        let (board, color, last) = (game.board(), game.to_move(), game.last_moves());
        let uniform = rng.chance(500);
        let mut draw = || match uniform {
            true => UniformPolicy.choose(board, color, last, rng),
            false => self.playout.choose(board, color, last, rng),
        };
        // Playouts do not know superko.
        (0..ATTEMPTS).find_map(|_| draw().filter(|&point| game.check(color, Move::Play(point)).is_ok()))
    }
}
