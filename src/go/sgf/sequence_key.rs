//! Keys of whole games. The plain key is equal for games with the same initial positions and the same moves. The
//! canonical key is also equal for games that differ only by a rotation or reflection of the board.

use crate::board::{Board, Color, Key, Move, Symmetry};
use smallvec::SmallVec;

/// Factor that makes the key depend on the order of moves: 2^128 divided by the golden ratio. Any odd number would do.
const FACTOR: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

/// Keys of a game under all symmetries of its board, updated move by move.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SequenceKey {
    keys: SmallVec<[Key; 8]>,
}

impl SequenceKey {
    /// Records a start position, or a position that was set up during a game.
    pub fn start(&mut self, board: &Board, to_move: Color) {
        let side = board.zobrist().side(to_move);
        for (index, position) in board.symmetric_keys().enumerate() {
            match self.keys.get_mut(index) {
                Some(key) => *key = fold(*key, position ^ side),
                None => self.keys.push(position ^ side),
            }
        }
    }

    /// Records a move on a board of this size.
    pub fn played(&mut self, board: &Board, color: Color, mv: Move) {
        let (size, zobrist) = (board.size(), board.zobrist());
        for (key, symmetry) in self.keys.iter_mut().zip(Symmetry::of(size)) {
            let number = match mv {
                Move::Play(point) => zobrist.stone(symmetry.apply(size, point), color),
                Move::Pass => zobrist.side(color) ^ zobrist.passes(1),
            };
            *key = fold(*key, number);
        }
    }

    /// Returns a key that is equal for equal sequences of moves.
    pub fn plain(&self) -> Key {
        self.keys.first().copied().unwrap_or_default()
    }

    /// Returns a key that is equal for the same moves on a rotated or reflected board.
    pub fn canonical(&self) -> Key {
        self.keys.iter().min().copied().unwrap_or_default()
    }
}

fn fold(key: Key, next: Key) -> Key {
    Key(key.0.wrapping_mul(FACTOR).wrapping_add(next.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::BoardSize;
    use crate::game::Game;
    use crate::rng::Rng;
    use crate::rules::Rules;

    fn key(size: BoardSize, moves: &[(Color, Move)]) -> SequenceKey {
        let mut key = SequenceKey::default();
        let mut game = Game::new(size, Rules::default(), 0.0);
        key.start(game.board(), game.to_move());
        for &(color, mv) in moves {
            if game.play_tolerant(color, mv).is_ok() {
                key.played(game.board(), color, mv);
            }
        }
        key
    }

    #[test]
    fn turned_games_have_the_same_canonical_key_and_others_do_not() {
        for (columns, rows, symmetries) in [(9, 9, 8), (9, 7, 4)] {
            let size = BoardSize::new(columns, rows).unwrap();
            let points: Vec<_> = size.points().collect();
            let mut rng = Rng::new(3);
            let moves: Vec<(Color, Move)> = (0..30)
                .map(|number| {
                    let point = points[rng.below(points.len() as u32) as usize];
                    (Color::BOTH[number % 2], if number == 20 { Move::Pass } else { Move::Play(point) })
                })
                .collect();
            let original = key(size, &moves);
            let turned: Vec<SequenceKey> = Symmetry::of(size)
                .map(|symmetry| {
                    let turn = |&(color, mv): &(Color, Move)| {
                        (color, mv.point().map_or(mv, |point| Move::Play(symmetry.apply(size, point))))
                    };
                    key(size, &moves.iter().map(turn).collect::<Vec<_>>())
                })
                .collect();
            assert_eq!(turned.len(), symmetries);
            for (index, turned) in turned.iter().enumerate() {
                assert_eq!(turned.canonical(), original.canonical());
                assert_eq!(turned.plain() == original.plain(), index == 0);
            }
            let mut swapped = moves.clone();
            swapped.swap(3, 5);
            for other in [&swapped[..], &moves[..29], &[]] {
                assert_ne!(key(size, other).canonical(), original.canonical());
            }
        }
    }
}
