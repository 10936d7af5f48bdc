//! Moves on top of a game, for a search.

use super::opening::OpeningMoves;
use super::{Button, Game, IllegalMove, Turn, advance, check_play, played};
use crate::board::{Board, Color, Key, Move, Point};
use crate::graph_key;
use crate::history::LineHistory;
use std::iter;

/// A sequence of moves played on top of a game, for a search. It obeys the game's rules, including superko over the
/// moves of the game. It can be reset to the game's position, but has no undo.
#[derive(Clone, Debug)]
pub struct Line<'g> {
    game: &'g Game,
    /// The game's board in its canonical internal order, so that a search does not depend on the moves that led to the
    /// position.
    root: Board,
    /// Handicap information from the first moves, including those of the line.
    opening: OpeningMoves,
    salt: Key,
    board: Board,
    turn: Turn,
    history: LineHistory,
    graph_key: Key,
    moves: Vec<Move>,
    /// Passes in this line: the side that passed and the key of the position. The pass that took the button is not
    /// included.
    passed: Vec<(Color, Key)>,
}

impl<'g> Line<'g> {
    /// Creates an empty line.
    pub fn new(game: &'g Game) -> Line<'g> {
        let root = game.board.rebuilt();
        Line {
            game,
            root,
            opening: game.opening,
            salt: game.salt(),
            board: root,
            turn: game.turn,
            history: LineHistory::new(),
            graph_key: game.graph_key,
            moves: Vec::new(),
            passed: Vec::new(),
        }
    }

    /// Returns to the game's position.
    pub fn reset(&mut self) {
        self.board.copy_from(&self.root);
        self.turn = self.game.turn;
        self.set_opening(self.game.opening);
        self.history.clear();
        self.graph_key = self.game.graph_key;
        self.moves.clear();
        self.passed.clear();
    }

    /// Returns the game that the line starts from.
    pub fn game(&self) -> &'g Game {
        self.game
    }

    /// Returns the position at the end of the line.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Returns the side to move.
    pub fn to_move(&self) -> Color {
        self.turn.to_move
    }

    /// Returns the number of consecutive passes up to now, including those of the game. A pass that takes the button
    /// does not count.
    pub fn passes(&self) -> u8 {
        self.turn.passes
    }

    /// Returns the state of the button.
    pub fn button(&self) -> Button {
        self.turn.button
    }

    /// Returns the compensation for handicap stones, in points for White. Moves of the line can change it: near the
    /// start of a game, a pass by White can turn Black's moves into handicap stones.
    pub fn white_bonus(&self) -> f32 {
        self.game.white_bonus_with(self.opening)
    }

    fn set_opening(&mut self, opening: OpeningMoves) {
        if opening != self.opening {
            self.opening = opening;
            self.salt = self.game.salt_with(opening);
        }
    }

    /// Moves of the line, oldest first.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Returns the two latest moves, newest first, including those of the game. A missing move is a pass.
    pub fn last_moves(&self) -> [Move; 2] {
        match *self.moves {
            [.., before, last] => [last, before],
            [last] => [last, self.game.last_moves()[0]],
            [] => self.game.last_moves(),
        }
    }

    /// Returns all moves with their colours, newest first: those of the line, then those of the game.
    pub fn moves_backwards(&self) -> impl Iterator<Item = (Color, Move)> {
        let colors = iter::successors(Some(self.turn.to_move.opponent()), |color| Some(color.opponent()));
        let game = self.game.records.iter().rev().map(|record| (record.color, record.mv));
        colors.zip(self.moves.iter().rev().copied()).chain(game)
    }

    /// Writes the positions one and two moves ago to the two boards and returns the number of these positions. A board
    /// without a corresponding move is left unchanged.
    ///
    /// The line stores no boards but replays its moves, so a search that never calls this function pays nothing for it.
    pub fn boards_before(&self, boards: &mut [Board; 2]) -> usize {
        let [one, two] = boards;
        let mut of_game = self.game.records.iter().rev();
        let mut before = |after: &Board| Some(of_game.next()?.board_before(after));
        match self.moves.as_slice() {
            [earlier @ .., mv, _] => {
                two.copy_from(&self.root);
                let mut turn = self.game.turn;
                let mut play = |board: &mut Board, mv: Move| {
                    let color = turn.to_move;
                    advance(board, &mut turn, color, mv, self.game.endless_threats);
                };
                earlier.iter().for_each(|&mv| play(two, mv));
                one.copy_from(two);
                play(one, *mv);
                2
            }
            [_] => {
                one.copy_from(&self.root);
                before(one).map_or(1, |board| {
                    two.copy_from(&board);
                    2
                })
            }
            [] => {
                let Some(board) = before(&self.root) else { return 0 };
                one.copy_from(&board);
                before(one).map_or(1, |board| {
                    two.copy_from(&board);
                    2
                })
            }
        }
    }

    /// Returns whether `color` has passed before in this position (stones only). A pass that took the button does not
    /// count.
    pub fn has_passed_here(&self, color: Color) -> bool {
        self.passed.iter().chain(&self.game.passed).any(|&entry| entry == (color, self.board.key()))
    }

    /// Returns the points that only superko forbids to the side to move.
    pub fn superko_banned(&self) -> impl Iterator<Item = Point> {
        let suicide = self.game.rules.suicide;
        let Turn { to_move, .. } = self.turn;
        let taken = self.turn.is_button_taken();
        self.game.history.banned(Some(&self.history), &self.board, to_move, suicide, taken)
    }

    /// Returns the key of the position's node in the search graph.
    pub fn graph_key(&self) -> Key {
        self.graph_key
    }

    /// Returns whether the history is irrelevant: the [key](Self::graph_key) is the state key, no point is banned by
    /// superko, and no simple ko exists. The key then depends only on the board and on properties that are equal for
    /// all symmetric images of the board.
    pub fn is_free_of_history(&self) -> bool {
        let state = self.turn.state(self.salt, self.game.rules, &self.board);
        self.board.ko().is_none() && self.graph_key == state.key(iter::empty())
    }

    /// Checks whether the side to move may place a stone on this point of the board.
    ///
    /// # Errors
    /// Returns the reason why the move is illegal.
    #[inline]
    pub fn check(&self, point: Point) -> Result<(), IllegalMove> {
        let line = Some(&self.history);
        let Turn { to_move, .. } = self.turn;
        check_play(&self.board, &self.game.history, line, self.game.rules, self.turn, point, to_move)
    }

    /// Plays a legal move for the side to move. Debug builds assert that it is legal.
    pub fn play(&mut self, mv: Move) {
        let color = self.turn.to_move;
        if let Move::Play(point) = mv {
            debug_assert_eq!(self.check(point), Ok(()), "{color} {point}\n{}", self.board);
        }
        let lifted = advance(&mut self.board, &mut self.turn, color, mv, self.game.endless_threats);
        self.moves.push(mv);
        if self.turn.passes > 0 {
            self.passed.push((color, self.board.key()));
        }
        self.set_opening(self.opening.after(color, mv));
        let rules = self.game.rules;
        self.history.push(rules.ko, &self.board, played(color, mv, &lifted, self.turn));
        let state = self.turn.state(self.salt, rules, &self.board).key(self.superko_banned());
        self.graph_key =
            graph_key::next_key(self.game.sharing, rules.ko, self.graph_key, mv, &self.board, state);
    }
}
