//! Sharing of evaluations between symmetric positions.
//!
//! The canonical image of a position is the one with the smallest key among its images under the symmetries of the
//! board. An evaluation is cached under that key in the orientation of the evaluated position, with the symmetry that
//! leads from there to the canonical image. For any other image it is transformed.

use super::CachedEvaluation;
use kosumi_go::board::{BoardSize, Key, Symmetry};
use kosumi_go::game::Line;

const IDENTITY: Symmetry = Symmetry::ALL[0];

/// Returns the key of the canonical image of a position, and the symmetry that leads to that image. If the history or a
/// ko matters, the position is its own canonical image.
pub(super) fn canonical_key(line: &Line<'_>) -> (Key, Symmetry) {
    if !line.is_free_of_history() {
        return (line.graph_key(), IDENTITY);
    }
    let board = line.board();
    let size = board.size();
    let mut stones = [Key::default(); Symmetry::ALL.len()];
    for (point, color) in board.stones() {
        for symmetry in Symmetry::of(size) {
            let image = symmetry.apply(size, point);
            stones[usize::from(symmetry.code())] ^= board.zobrist().stone(image, color);
        }
    }
    // Everything except the stones is the same for all images.
    let rest = line.graph_key() ^ stones[0];
    let keys = Symmetry::of(size).map(|symmetry| (rest ^ stones[usize::from(symmetry.code())], symmetry));
    keys.min_by_key(|&(key, _)| key).unwrap_or((line.graph_key(), IDENTITY))
}

/// Returns the evaluation of the image of a position under `symmetry`, given the evaluation of the position.
pub(super) fn image(answer: &CachedEvaluation, size: BoardSize, symmetry: Symmetry) -> CachedEvaluation {
    let back = symmetry.inverse();
    // The order is that of an evaluation of the image: points in their order, then the pass.
    let from = |point| place(size, back.apply(symmetry.image_size(size), point));
    let turned = |priors: &[u16]| -> Box<[u16]> {
        size.points().map(|point| priors[from(point)]).chain(priors.last().copied()).collect()
    };
    let priors = turned(&answer.priors);
    let root_priors = answer.root_priors.as_deref().map(turned);
    let owners = size.points().map(|point| answer.owners[from(point)]).collect();
    CachedEvaluation { priors, root_priors, owners, ..*answer }
}

/// Returns the index of a point in the order of [`BoardSize::points`].
fn place(size: BoardSize, point: kosumi_go::board::Point) -> usize {
    point.row() * size.columns() + point.column()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::board::{Move, Point};
    use kosumi_go::game::Game;
    use kosumi_go::rules::{KoRule, Rules};
    use std::collections::HashSet;

    /// Returns the image under `symmetry` of a game with these moves (column and row, both from 0).
    fn game(size: BoardSize, rules: Rules, moves: &[(usize, usize)], symmetry: Symmetry) -> Game {
        let mut game = Game::new(size, rules, 6.5);
        for &(column, row) in moves {
            let image = symmetry.apply(size, Point::new(column, row));
            game.play(game.to_move(), Move::Play(image)).expect("legal");
        }
        game
    }

    const MOVES: [(usize, usize); 5] = [(1, 2), (4, 3), (2, 2), (0, 4), (3, 0)];

    #[test]
    fn one_symmetry_and_then_another() {
        let size = BoardSize::new(4, 3).unwrap();
        for first in Symmetry::ALL {
            let between = first.image_size(size);
            for second in Symmetry::ALL {
                let both = first.then(second);
                assert_eq!(both.image_size(size), second.image_size(between));
                for point in size.points() {
                    assert_eq!(both.apply(size, point), second.apply(between, first.apply(size, point)));
                }
            }
            assert_eq!(first.then(first.inverse()), IDENTITY);
        }
    }

    #[test]
    fn images_have_one_key_and_other_positions_have_others() {
        for (columns, rows) in [(5, 5), (5, 6), (9, 9)] {
            let size = BoardSize::new(columns, rows).unwrap();
            let mut keys = HashSet::new();
            for count in 0..=MOVES.len() {
                for symmetry in Symmetry::of(size) {
                    let game = game(size, Rules::default(), &MOVES[..count], symmetry);
                    keys.insert(canonical_key(&Line::new(&game)).0);
                }
                assert_eq!(keys.len(), count + 1, "{columns}x{rows} after {count} moves");
            }
            // A board that is not square is not its own image under a quarter turn.
            let turned = MOVES.map(|(column, row)| (row, column));
            let game = game(size, Rules::default(), &turned, IDENTITY);
            assert_eq!(keys.contains(&canonical_key(&Line::new(&game)).0), size.is_square());
        }
    }

    #[test]
    fn the_symmetry_leads_to_the_canonical_image() {
        let size = BoardSize::square(9).unwrap();
        for symmetry in Symmetry::of(size) {
            let seen = game(size, Rules::default(), &MOVES, symmetry);
            let (key, to_canonical) = canonical_key(&Line::new(&seen));
            let image = game(size, Rules::default(), &MOVES, symmetry.then(to_canonical));
            assert_eq!(Line::new(&image).graph_key(), key);
        }
    }

    #[test]
    fn history_prevents_sharing() {
        let size = BoardSize::square(9).unwrap();
        // Black takes a ko with the last move.
        let ko = [(1, 0), (2, 0), (0, 1), (3, 1), (1, 2), (2, 2), (8, 8), (1, 1), (2, 1)];
        for rule in [KoRule::Simple, KoRule::Positional] {
            let rules = Rules { ko: rule, ..Rules::default() };
            let keys = |moves: &[(usize, usize)]| -> HashSet<Key> {
                let keys = Symmetry::of(size).map(|symmetry| {
                    let game = game(size, rules, moves, symmetry);
                    let line = Line::new(&game);
                    let (key, to_canonical) = canonical_key(&line);
                    assert!(to_canonical == IDENTITY || line.is_free_of_history());
                    key
                });
                keys.collect()
            };
            assert_eq!(keys(&ko[..8]).len(), if rule == KoRule::Simple { 1 } else { 8 }, "before the ko");
            assert_eq!(keys(&ko).len(), 8, "in the ko");
        }
    }

    #[test]
    fn evaluations_are_transformed() {
        let size = BoardSize::new(3, 3).unwrap();
        let points: Vec<Point> = size.points().collect();
        // Each point has its index as its number, and one point is illegal.
        let answer = CachedEvaluation {
            evaluation: crate::Evaluation::plain(0.5, 1.0),
            outlook: crate::DetailedPrediction::default(),
            priors: (0..9).chain([99]).collect(),
            root_priors: Some((10..19).chain([98]).collect()),
            owners: (0..9).collect(),
            to_canonical: IDENTITY,
        };
        for symmetry in Symmetry::ALL {
            let image = image(&answer, size, symmetry);
            assert_eq!(image.evaluation, answer.evaluation);
            for (number, &point) in points.iter().enumerate() {
                let to = symmetry.apply(size, point);
                let place = points.iter().position(|&point| point == to).unwrap();
                let at_root = image.root_priors.as_ref().map(|priors| usize::from(priors[place]));
                assert_eq!((usize::from(image.priors[place]), at_root), (number, Some(number + 10)));
                assert_eq!(image.owners[place], number as i8);
            }
            assert_eq!((image.priors.len(), image.priors[9]), (10, 99));
            let moves: Vec<Move> = image.priors(size).map(|(mv, _)| mv).collect();
            let banned = symmetry.apply(size, points[0]);
            assert!(moves.len() == 9 && !moves.contains(&Move::Play(banned)));
            assert_eq!(image.root_priors(size).count(), 10);
        }
    }
}
