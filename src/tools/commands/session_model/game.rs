//! The game of a session: a list of positions, and nothing that is kept up to date beside it.
//!
//! Every question about legality is answered by playing the move on a [`ReferenceBoard`] and comparing the result with
//! all earlier positions, cell by cell. Undo returns to the stored position.

use super::reference::ReferenceBoard;
use super::rules::ModelRules;
use kosumi_go::board::{BoardSize, ByColor, Cell, Color, Move, Point};
use std::fmt;

/// A move, and the state before it.
#[derive(Clone, Debug)]
pub(super) struct Played {
    pub(super) color: Color,
    pub(super) mv: Move,
    before: ReferenceBoard,
    lost_before: ByColor<u32>,
    to_move_before: Color,
}

/// How a move stands to the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    Legal,
    /// Only a rule about repetition or suicide forbids the move. An engine that follows a controller plays it.
    Forbidden,
    /// The point is occupied, or the move would not change the board: the suicide of a single stone.
    Impossible,
}

/// A game from its first position on.
#[derive(Clone, Debug)]
pub(super) struct ModelGame {
    pub(super) rules: ModelRules,
    pub(super) komi: f32,
    pub(super) start: ReferenceBoard,
    pub(super) start_to_move: Color,
    /// Number of stones that each side had lost before the first position.
    pub(super) start_lost: ByColor<u32>,
    /// Number of stones that were placed as a handicap. `None` if Black's first moves decide.
    pub(super) placed_handicap: Option<u32>,
    pub(super) board: ReferenceBoard,
    /// Number of stones that each side has lost.
    pub(super) lost: ByColor<u32>,
    pub(super) to_move: Color,
    pub(super) moves: Vec<Played>,
}

impl ModelGame {
    /// Begins a game at a position.
    pub(super) fn at(start: ReferenceBoard, to_move: Color, rules: ModelRules, komi: f32) -> ModelGame {
        ModelGame {
            rules,
            komi,
            board: start.clone(),
            start,
            start_to_move: to_move,
            start_lost: ByColor::default(),
            placed_handicap: None,
            lost: ByColor::default(),
            to_move,
            moves: Vec::new(),
        }
    }

    /// Begins a game on an empty board, with Black to move.
    pub(super) fn new(size: BoardSize, rules: ModelRules, komi: f32) -> ModelGame {
        ModelGame::at(ReferenceBoard::new(size), Color::Black, rules, komi)
    }

    /// Begins again at a position that was set up in the middle of a game. Prisoners and handicap stay.
    pub(super) fn set_up_at(&self, board: ReferenceBoard) -> ModelGame {
        let mut game = ModelGame::at(board, self.to_move, self.rules, self.komi);
        (game.start_lost, game.lost) = (self.lost, self.lost);
        let handicap = self.handicap();
        if handicap > 0 && game.stones().next().is_some() {
            game.placed_handicap = Some(handicap);
        }
        game
    }

    pub(super) fn size(&self) -> BoardSize {
        self.board.size()
    }

    /// Returns whether nothing has been placed or played.
    pub(super) fn is_untouched(&self) -> bool {
        self.moves.is_empty() && self.stones().next().is_none()
    }

    pub(super) fn stones(&self) -> impl Iterator<Item = (Point, Color)> {
        self.size().points().filter_map(|point| Some((point, self.board.cell(point).color()?)))
    }

    /// Sets the side to move. Before the first move, that is the side to move of the first position.
    pub(super) fn set_to_move(&mut self, color: Color) {
        self.to_move = color;
        if self.moves.is_empty() {
            self.start_to_move = color;
        }
    }

    /// Plays a move that is not impossible.
    pub(super) fn play(&mut self, color: Color, mv: Move) {
        let before = self.board.clone();
        let (lost_before, to_move_before) = (self.lost, self.to_move);
        if let Move::Play(point) = mv {
            self.board = before.after(point, color);
            for side in Color::BOTH {
                let count = |board: &ReferenceBoard| {
                    self.size().points().filter(|&point| board.cell(point) == side.into()).count() as u32
                };
                let added = u32::from(side == color);
                self.lost[side] += count(&before) + added - count(&self.board);
            }
        }
        self.to_move = color.opponent();
        self.moves.push(Played { color, mv, before, lost_before, to_move_before });
    }

    /// Takes back the latest move. Returns false if there is none.
    pub(super) fn undo(&mut self) -> bool {
        let Some(last) = self.moves.pop() else { return false };
        (self.board, self.lost, self.to_move) = (last.before, last.lost_before, last.to_move_before);
        true
    }

    /// Judges a move on a point of the board, or a pass.
    pub(super) fn verdict(&self, color: Color, mv: Move) -> Verdict {
        let Move::Play(point) = mv else { return Verdict::Legal };
        if self.board.cell(point) != Cell::Empty {
            return Verdict::Impossible;
        }
        let after = self.board.after(point, color);
        let is_suicide = after.cell(point) == Cell::Empty;
        if is_suicide && after == self.board {
            return Verdict::Impossible;
        }
        if is_suicide && !self.rules.suicide || self.repeats(color, &after) {
            return Verdict::Forbidden;
        }
        Verdict::Legal
    }

    pub(super) fn is_legal(&self, color: Color, mv: Move) -> bool {
        self.verdict(color, mv) == Verdict::Legal
    }

    /// Returns the points where a side may play, row by row from the lower left.
    pub(super) fn legal_points(&self, color: Color) -> Vec<Point> {
        self.size().points().filter(|&point| self.is_legal(color, Move::Play(point))).collect()
    }

    /// Returns the points that superko alone forbids.
    pub(super) fn superko_banned(&self, color: Color) -> Vec<Point> {
        let is_banned = |&point: &Point| {
            self.rules.ko != "SIMPLE"
                && self.verdict(color, Move::Play(point)) == Verdict::Forbidden
                && (self.rules.suicide || self.board.after(point, color).cell(point) != Cell::Empty)
        };
        self.size().points().filter(is_banned).collect()
    }

    /// Returns whether a play of `color` that leads to `after` is a forbidden repetition.
    ///
    /// Simple ko forbids the opponent of the latest player to restore the position before the latest move. Superko
    /// forbids all earlier positions (positional), those with the same side to move (situational), or those that a play
    /// of the same side has created (natural situational). After the first pass under rules with a button, only
    /// positions since that pass count.
    fn repeats(&self, color: Color, after: &ReferenceBoard) -> bool {
        if self.rules.ko == "SIMPLE" {
            return self.moves.last().is_some_and(|last| last.color != color && last.before == *after);
        }
        let has_passed = |number: usize| {
            self.rules.uses_button() && self.moves[..number].iter().any(|played| played.mv == Move::Pass)
        };
        let here = has_passed(self.moves.len());
        (0..=self.moves.len()).any(|number| {
            let creator = number.checked_sub(1).map(|latest| &self.moves[latest]);
            let is_forbidden = match self.rules.ko {
                "POSITIONAL" => true,
                "SITUATIONAL" => {
                    creator.map_or(self.start_to_move, |played| played.color.opponent()) == color.opponent()
                }
                _ => creator.is_some_and(|played| played.mv != Move::Pass && played.color == color),
            };
            is_forbidden && has_passed(number) == here && self.position(number) == after
        })
    }

    /// Returns the position after this number of moves.
    fn position(&self, number: usize) -> &ReferenceBoard {
        self.moves.get(number).map_or(&self.board, |played| &played.before)
    }

    /// Returns the point of the stone that may not be recaptured at once, whether or not the rules have superko.
    pub(super) fn ko_point(&self) -> Option<Point> {
        let last = self.moves.last()?;
        let color = last.color.opponent();
        self.size().points().find(|&point| {
            self.board.cell(point) == Cell::Empty
                && last.before.cell(point) == color.into()
                && self.board.after(point, color) == last.before
        })
    }

    /// Returns the number of handicap stones: those that were placed, or Black's first moves, if there are two or more
    /// of them before White's first stone, and if White has not moved twice in a row up to and with that stone.
    pub(super) fn handicap(&self) -> u32 {
        if let Some(placed) = self.placed_handicap {
            return placed;
        }
        if self.size().points().any(|point| self.start.cell(point) != Cell::Empty) {
            return 0;
        }
        let is_stone = |played: &Played| played.mv != Move::Pass;
        let white = |played: &Played| played.color == Color::White;
        let first_white = self.moves.iter().position(|played| white(played) && is_stone(played));
        let moves = &self.moves[..first_white.unwrap_or(self.moves.len())];
        let is_set_up = (0..self.moves.len().saturating_sub(1))
            .take_while(|&number| number <= moves.len())
            .any(|number| white(&self.moves[number]) && white(&self.moves[number + 1]));
        let stones = moves.iter().filter(|played| !white(played) && is_stone(played)).count() as u32;
        if is_set_up || stones < 2 { 0 } else { stones }
    }

    /// Returns White's points for the handicap.
    fn white_bonus(&self) -> u32 {
        match self.rules.bonus {
            "N" => self.handicap(),
            "N-1" => self.handicap().saturating_sub(1),
            _ => 0,
        }
    }

    /// Returns White's points that are not on the board minus Black's: komi, handicap and button. A button that nobody
    /// has taken goes to the side to move.
    pub(super) fn white_points(&self) -> f64 {
        let first_pass = self.moves.iter().find(|played| played.mv == Move::Pass);
        let taker = first_pass.map_or(self.to_move, |played| played.color);
        let button = if self.rules.uses_button() { 0.5 * f64::from(taker.sign()) } else { 0.0 };
        f64::from(self.komi) + f64::from(self.white_bonus()) - button
    }

    /// Returns Black's score if all stones are alive, under area scoring without tax: each point counts for the only
    /// side that it holds or reaches.
    pub(super) fn area_score(&self) -> f64 {
        let owner = |point: Point| {
            let region = self.board.connected(point);
            let reaches = |color: Color| {
                self.board.cell(point) == color.into()
                    || self.board.cell(point) == Cell::Empty
                        && region.iter().any(|&empty| {
                            self.board
                                .adjacent(empty)
                                .iter()
                                .any(|&next| self.board.cell(next) == color.into())
                        })
            };
            i32::from(reaches(Color::Black)) - i32::from(reaches(Color::White))
        };
        f64::from(self.size().points().map(owner).sum::<i32>()) - self.white_points()
    }
}

impl fmt::Display for ModelGame {
    /// Writes the position and what belongs to it, for messages about failures.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in (0..self.size().rows()).rev() {
            for column in 0..self.size().columns() {
                f.write_str(match self.board.cell(Point::new(column, row)) {
                    Cell::Black => " X",
                    Cell::White => " O",
                    Cell::Empty | Cell::Border => " .",
                })?;
            }
            writeln!(f)?;
        }
        writeln!(f, "{} to move, lost {:?}, komi {}, {:?}", self.to_move, self.lost, self.komi, self.rules)?;
        self.moves.iter().try_for_each(|played| write!(f, "{} {}, ", played.color, played.mv))
    }
}
