//! Positions and evaluators for the tests of a search, in one process and over ranks.

use kosumi_eval::{Evaluation, Evaluator, Prior};
use kosumi_go::board::{Board, BoardSize, Color, Move};
use kosumi_go::game::{Game, Line};
use kosumi_go::rng::Rng;
use kosumi_go::rules::{KoRule, Rules};
use kosumi_sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

/// Returns the default rules, with this ko rule and with or without suicide.
pub fn rules(ko: KoRule, suicide: bool) -> Rules {
    Rules { ko, suicide, friendly_pass: false, ..Rules::default() }
}

/// Returns a game that starts from a drawing, with komi 0.5.
pub fn game(drawing: &str, to_move: Color, rules: Rules) -> Game {
    let board: Board = drawing.parse().expect("drawing");
    Game::from_board(board, to_move, rules, 0.5)
}

/// Returns a game on an empty square board, with positional superko and komi 0.5.
pub fn empty(side: usize) -> Game {
    Game::new(BoardSize::square(side).expect("size"), rules(KoRule::Positional, false), 0.5)
}

/// Returns positions in which superko, suicide and cycles are near.
pub fn fighting_positions() -> Vec<(&'static str, Color)> {
    vec![
        (". . .\n. . .", Color::Black),
        (". .\n. .", Color::Black),
        (". O . X X O\nO X X X O .\nO . X . O O\nX X . O O .\nO O O O . O", Color::Black),
        (". O X O . X\nO O X X O O\nX X . . . .\n. . . . . .\n. . . . . .", Color::Black),
        (". . . . . . . .\nO O O O O O . .\nX X X X X O . .\nX O O O X X O O\n. O . X . O X .", Color::Black),
        (
            "O O O O O O O\nO X O . O . O\nX . X O X O X\nX X X X X X X\nO O O O O O O\n. . . . . . .",
            Color::Black,
        ),
    ]
}

/// An evaluator that checks at every leaf that the whole line is legal, by replaying it move by move in a separate
/// game.
#[derive(Clone, Debug)]
pub struct LegalityOracle<E>(pub Arc<AtomicU32>, pub E);

impl<E: Evaluator> Evaluator for LegalityOracle<E> {
    fn evaluate(&mut self, line: &Line<'_>, rng: &mut Rng, moves: &mut Vec<(Move, Prior)>) -> Evaluation {
        let mut game = line.game().clone();
        for &mv in line.moves() {
            let color = game.to_move();
            game.play(color, mv).expect("an illegal move in the search");
        }
        assert_eq!(game.board(), line.board());
        assert_eq!(game.graph_key(), line.graph_key(), "game and line agree on the node");
        self.0.fetch_add(1, Ordering::Relaxed);
        self.1.evaluate(line, rng, moves)
    }

    fn expand(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        // These are exactly the legal moves, whatever the path: only histories with the same legal moves share a node.
        self.1.expand(line, moves);
    }
}
