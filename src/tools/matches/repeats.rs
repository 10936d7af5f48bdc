//! Detection of games that repeat an earlier game move for move. Deterministic engines replay the same game when an
//! opening is repeated, and a replayed game adds no information.

use super::game_board::GameBoard;
use super::record::GameRecord;
use super::side::Side;
use crate::commands::vertex_move;
use kosumi_go::board::{BoardSize, Move, Symmetry};
use kosumi_gtp::Vertex;
use std::collections::HashSet;

/// Distinct games of a match.
#[derive(Clone, Debug)]
pub(super) struct Repeats {
    sizes: Vec<(String, BoardSize)>,
    seen: HashSet<(String, Side, Vec<Move>)>,
    count: u32,
}

impl Repeats {
    /// Creates an empty set of games on these boards.
    pub(super) fn new(boards: &[GameBoard]) -> Repeats {
        let sizes = boards.iter().map(|board| (board.size_text(), board.size)).collect();
        Repeats { sizes, seen: HashSet::new(), count: 0 }
    }

    /// Adds a game. Counts it as a repeat if an earlier game on the same board, with the same colours, had the same
    /// moves or a symmetric image of them.
    pub(super) fn add(&mut self, game: &GameRecord) {
        let Some(moves) = self.canonical_moves(game) else { return };
        self.count += u32::from(!self.seen.insert((game.size.clone(), game.black, moves)));
    }

    /// Returns the number of games that repeated an earlier one.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Returns the moves of the smallest symmetric image of a game. Returns `None` if it is not a valid game on one of
    /// the boards.
    fn canonical_moves(&self, game: &GameRecord) -> Option<Vec<Move>> {
        let (_, size) = *self.sizes.iter().find(|(text, _)| *text == game.size)?;
        let vertices = game.moves.iter().map(|text| vertex_move(size, text.parse::<Vertex>().ok()?));
        let moves: Vec<Move> = vertices.collect::<Option<_>>()?;
        let image = |symmetry: Symmetry| {
            let turned = moves
                .iter()
                .map(|mv| mv.point().map_or(Move::Pass, |point| Move::Play(symmetry.apply(size, point))));
            turned.collect::<Vec<Move>>()
        };
        Symmetry::of(size).map(image).min()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{conditions, record};
    use super::super::openings::Source;
    use super::*;

    fn game(number: u32, moves: &str) -> GameRecord {
        let moves = moves.split(' ').map(str::to_owned).collect();
        GameRecord { moves, ..record(number) }
    }

    #[test]
    fn a_game_and_its_mirror_image_are_one() {
        let mut repeats = Repeats::new(&conditions(&[9, 13], Source::None).boards);
        let mut count = |game: GameRecord| {
            repeats.add(&game);
            repeats.count()
        };
        assert_eq!(count(game(1, "C4 E5 pass")), 0);
        assert_eq!(count(game(2, "C4 E5 pass")), 0, "the other engine has Black");
        assert_eq!(count(game(3, "C4 E5 pass")), 1);
        assert_eq!(count(game(5, "F7 E5 pass")), 2, "turned and mirrored");
        assert_eq!(count(game(7, "C4 E5 F6")), 2);
        assert_eq!(count(GameRecord { size: "13x13".into(), ..game(9, "C4 E5 pass") }), 2, "another board");
        assert_eq!(count(game(11, "C4 nowhere")), 2, "no game");
        assert_eq!(count(game(13, "C4 nowhere")), 2);
    }
}
