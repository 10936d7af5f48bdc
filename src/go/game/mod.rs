//! A game: board, rules and history. This module alone decides on legality, passes, the end of the game and undo.
//!
//! [`Game`] owns the record of the moves and can undo all of them. [`Line`] plays moves on top of a game for a search,
//! under the game's rules and superko, and returns to the game's position in one operation.

mod line;
mod opening;
#[cfg(test)]
mod tests;

pub use line::Line;

use crate::board::{Board, BoardSize, ByColor, Cell, Color, Key, Move, Point};
use crate::graph_key::{self, GameState, NodeSharing};
use crate::history::{History, LineHistory, PlayedMove};
use crate::rules::{KoRule, Rules, Scoring};
use opening::OpeningMoves;
use smallvec::SmallVec;

/// Reason why a move is illegal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum IllegalMove {
    /// The board has no such point.
    #[error("not on the board")]
    OutOfBoard,
    /// The point holds a stone.
    #[error("occupied")]
    Occupied,
    /// The stone would have no liberty. The rules forbid this, or it is a single stone, whose suicide no rule set
    /// allows.
    #[error("suicide")]
    Suicide,
    /// The move recaptures a ko immediately.
    #[error("ko")]
    Ko,
    /// The move would repeat an earlier position.
    #[error("superko")]
    Superko,
}

/// A move of a game, with the data needed to undo it.
#[derive(Clone, PartialEq, Debug)]
pub struct MoveRecord {
    /// Side that moved.
    pub color: Color,
    /// The move.
    pub mv: Move,
    /// Stones that the move removed: captured ones, or the player's own after a suicide.
    pub lifted: SmallVec<[Point; 4]>,
    before: UndoState,
}

/// State that a move overwrites.
#[derive(Clone, Copy, PartialEq, Debug)]
struct UndoState {
    turn: Turn,
    ko: Option<(Point, Color)>,
    graph_key: Key,
    move_key: Key,
    opening: OpeningMoves,
}

/// State of a position apart from its stones: side to move, passes and button.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Turn {
    to_move: Color,
    /// Number of consecutive passes up to now. A pass that takes the button does not count.
    passes: u8,
    button: Button,
}

impl MoveRecord {
    /// Returns the colour of the lifted stones: the opponent's unless the placed stone is among them.
    fn lifted_color(&self) -> Color {
        lifted_color(self.color, self.mv, &self.lifted)
    }

    /// Reconstructs the position before the move from the position after it.
    fn board_before(&self, after: &Board) -> Board {
        let mut before = *after;
        if let Move::Play(point) = self.mv {
            let removed = self.lifted_color();
            let kept = after.stones().filter(|&(stone, _)| stone != point);
            let restored = self.lifted.iter().filter(|&&stone| stone != point).map(|&stone| (stone, removed));
            // The position was on the board before the move.
            before = Board::from_stones_of_a_board(after.size(), kept.chain(restored));
            let lost = self.lifted.len() as u32;
            before.set_prisoners(ByColor::new(
                after.prisoners(Color::Black) - if removed == Color::Black { lost } else { 0 },
                after.prisoners(Color::White) - if removed == Color::White { lost } else { 0 },
            ));
        }
        before.set_ko(self.before.ko);
        before
    }
}

fn lifted_color(mover: Color, mv: Move, lifted: &[Point]) -> Color {
    let suicide = mv.point().is_some_and(|point| lifted.contains(&point));
    if suicide { mover } else { mover.opponent() }
}

/// Describes a move for the history. `turn` is the state after the move.
fn played(mover: Color, mv: Move, lifted: &[Point], turn: Turn) -> PlayedMove<'_> {
    let lifted_color = lifted_color(mover, mv, lifted);
    PlayedMove { mover, mv, lifted, lifted_color, is_button_taken: turn.is_button_taken() }
}

/// State of the button: half a point for the first pass of a game, which some area rules award. The pass that takes the
/// button does not count as one of the passes that end the game.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Button {
    /// The rules have no button.
    None,
    /// No side has passed yet.
    Free,
    /// This side passed first.
    Taken(Color),
}

impl Button {
    /// Returns the button at the start of a game under these rules.
    pub fn new(rules: Rules) -> Button {
        if rules.has_button && rules.scoring == Scoring::Area { Button::Free } else { Button::None }
    }

    /// Returns the state of the button if the game ended now. A free button is credited to the side to move, which
    /// could take it at once, as in KataGo. The total is therefore always one that a finished game can have.
    #[must_use]
    pub fn credited_to(self, to_move: Color) -> Button {
        if self == Button::Free { Button::Taken(to_move) } else { self }
    }

    /// Returns the value of the button for Black, in points: 0 unless a side has taken it.
    pub fn black_points(self) -> f32 {
        match self {
            Button::Taken(color) => 0.5 * color.sign() as f32,
            Button::None | Button::Free => 0.0,
        }
    }
}

/// A game of Go from its first position up to now.
#[derive(Clone, Debug)]
pub struct Game {
    rules: Rules,
    komi: f32,
    /// Announced number of handicap stones. If `None`, it is derived from the first moves.
    announced_handicap: Option<u32>,
    /// Handicap information from the first moves.
    opening: OpeningMoves,
    start: Board,
    start_to_move: Color,
    board: Board,
    turn: Turn,
    history: History,
    records: Vec<MoveRecord>,
    /// Passes so far: the side that passed and the key of the position. The pass that took the button is not
    /// included.
    passed: Vec<(Color, Key)>,
    /// Side that simple ko does not restrict.
    endless_threats: Option<Color>,
    sharing: NodeSharing,
    graph_key: Key,
    /// Key of the position if the turn alternates, regardless of a later [`Game::set_to_move`].
    move_key: Key,
}

impl Game {
    /// Creates a game on an empty board with Black to move.
    pub fn new(size: BoardSize, rules: Rules, komi: f32) -> Game {
        Game::from_board(Board::new(size), Color::Black, rules, komi)
    }

    /// Creates a game that starts at a position.
    pub fn from_board(board: Board, to_move: Color, rules: Rules, komi: f32) -> Game {
        let mut game = Game {
            rules,
            komi,
            announced_handicap: None,
            opening: OpeningMoves::default(),
            start: board,
            start_to_move: to_move,
            board,
            turn: Turn { to_move, passes: 0, button: Button::new(rules) },
            history: History::new(rules.ko, &board, to_move),
            records: Vec::new(),
            passed: Vec::new(),
            endless_threats: None,
            sharing: NodeSharing::default(),
            graph_key: Key::default(),
            move_key: Key::default(),
        };
        game.set_first_key();
        game
    }

    /// Returns a new game on an empty board of the same size, with the same rules, komi and kind of node keys.
    #[must_use]
    pub fn cleared(&self) -> Game {
        Game::new(self.size(), self.rules, self.komi).with_sharing(self.sharing)
    }

    /// Returns the same game, with its history and side to move, under other rules and another komi.
    #[must_use]
    pub fn with_rules(&self, rules: Rules, komi: f32) -> Game {
        let mut game = Game::from_board(self.start, self.start_to_move, rules, komi);
        game.announced_handicap = self.announced_handicap;
        game.endless_threats = self.endless_threats;
        game.sharing = self.sharing;
        game.set_first_key();
        for record in &self.records {
            // The side to move may have been set before the move. Undo returns to it.
            game.set_to_move(record.before.turn.to_move);
            // The moves were accepted when they were played, so they are repeated without checks under the new rules.
            game.execute(record.color, record.mv);
        }
        // Without moves, the side to move is part of the start.
        if !game.records.is_empty() {
            game.set_to_move(self.turn.to_move);
        }
        game
    }

    /// Returns the same game as if the latest passes did not end it. Earlier positions still count for superko, and a
    /// button that was taken stays taken. The search of a finished game that continues uses it.
    ///
    /// [`Game::with_rules`] and [`Game::with_sharing`] return to the finished game.
    #[must_use]
    pub fn resumed(&self) -> Game {
        let mut game = self.clone();
        game.turn.passes = 0;
        game.passed.clear();
        let follower = self.follower();
        game.move_key =
            graph_key::changed_key(self.move_key, self.state_key(follower), game.state_key(follower));
        game.graph_key = game.key_for(game.turn.to_move);
        game
    }

    /// Returns the same game with node keys of another kind.
    #[must_use]
    pub fn with_sharing(mut self, sharing: NodeSharing) -> Game {
        self.sharing = sharing;
        self.with_rules(self.rules, self.komi)
    }

    /// Returns a game that starts at the current position under simple ko, in which `color` may always recapture a ko
    /// immediately, as if after a ko threat that was answered.
    #[must_use]
    pub fn with_endless_threats(&self, color: Color) -> Game {
        let mut board = self.board;
        lift_ban(&mut board, Some(color));
        let rules = Rules { ko: KoRule::Simple, ..self.rules };
        let mut game = Game::from_board(board, self.turn.to_move, rules, self.komi);
        game.endless_threats = Some(color);
        game
    }

    /// Returns the game with handicap stones placed and White to move. The board must be empty and the game without
    /// moves.
    ///
    /// # Errors
    /// Returns an error if the board is not empty, if a move has been played, or if a point is repeated or off the
    /// board.
    pub fn with_handicap(&self, points: &[Point]) -> Result<Game, IllegalMove> {
        let size = self.size();
        let repeated = (1..points.len()).any(|i| points[..i].contains(&points[i]));
        if repeated || !self.records.is_empty() || self.board.stone_count() > 0 {
            return Err(IllegalMove::Occupied);
        }
        if points.iter().any(|point| !size.contains(point.column(), point.row())) {
            return Err(IllegalMove::OutOfBoard);
        }
        let board = Board::from_stones(size, points.iter().map(|&point| (point, Color::Black)))
            .map_err(|_| IllegalMove::Suicide)?;
        let mut game = Game::from_board(board, Color::White, self.rules, self.komi);
        game.announced_handicap = Some(points.len() as u32);
        Ok(game.with_sharing(self.sharing))
    }

    fn salt(&self) -> Key {
        self.salt_with(self.opening)
    }

    /// Returns the contribution of the rules and of White's points to a key, if `opening` described the first moves.
    fn salt_with(&self, opening: OpeningMoves) -> Key {
        graph_key::rules_salt(self.rules, self.komi + self.white_bonus_with(opening))
    }

    fn set_first_key(&mut self) {
        self.move_key = self.turn.state(self.salt(), self.rules, &self.board).key(std::iter::empty());
        self.graph_key = self.move_key;
    }

    /// Returns the side to move if the colours alternate after the latest move, regardless of [`Game::set_to_move`].
    fn follower(&self) -> Color {
        self.records.last().map_or(self.start_to_move, |record| record.color.opponent())
    }

    /// Returns the key of the position if `color` is to move.
    fn key_for(&self, color: Color) -> Key {
        let follower = self.follower();
        if color == follower {
            return self.move_key;
        }
        graph_key::changed_key(self.move_key, self.state_key(follower), self.state_key(color))
    }

    /// Returns the size of the board.
    pub fn size(&self) -> BoardSize {
        self.board.size()
    }

    /// Returns the rules of the game.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Returns the points for White, without the compensation for handicap stones.
    pub fn komi(&self) -> f32 {
        self.komi
    }

    /// Returns the number of handicap stones.
    ///
    /// Unless their number was [announced](Game::set_handicap) or the board was not empty at the start, these are
    /// Black's first moves, if there are at least two, as in KataGo. Some servers and GUIs transmit a handicap only in
    /// this way. Passes between these moves do not matter, but two moves of White in a row mean that the moves set up a
    /// position.
    pub fn handicap(&self) -> u32 {
        self.handicap_with(self.opening)
    }

    /// Returns the number of handicap stones if `opening` described the first moves.
    fn handicap_with(&self, opening: OpeningMoves) -> u32 {
        match self.announced_handicap {
            Some(announced) => announced,
            None if self.start.stone_count() > 0 => 0,
            None => opening.handicap(),
        }
    }

    /// Returns the compensation for White if `opening` described the first moves.
    fn white_bonus_with(&self, opening: OpeningMoves) -> f32 {
        self.rules.handicap_bonus.points(self.handicap_with(opening)) as f32
    }

    /// Returns the announced number of handicap stones, or `None` if it is derived from the moves.
    pub fn announced_handicap(&self) -> Option<u32> {
        self.announced_handicap
    }

    /// Returns the compensation for handicap stones, in points for White.
    pub fn white_bonus(&self) -> f32 {
        self.white_bonus_with(self.opening)
    }

    /// Returns the current position.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Returns the side to move at the first position.
    pub fn start_to_move(&self) -> Color {
        self.start_to_move
    }

    /// Declares that the start position or the first moves contain `stones` handicap stones, which the rules may
    /// compensate.
    pub fn set_handicap(&mut self, stones: u32) {
        self.announced_handicap = Some(stones);
        *self = self.with_rules(self.rules, self.komi);
    }

    /// Returns the first position.
    pub fn start(&self) -> &Board {
        &self.start
    }

    /// Returns the side to move.
    pub fn to_move(&self) -> Color {
        self.turn.to_move
    }

    /// Makes `color` the side to move, for a controller that requests two moves of the same colour in a row.
    pub fn set_to_move(&mut self, color: Color) {
        if self.turn.to_move == color {
            return;
        }
        if self.records.is_empty() {
            // Situational superko stores the side to move of the first position.
            self.start_to_move = color;
            *self = self.with_rules(self.rules, self.komi);
        } else {
            self.turn.to_move = color;
            self.graph_key = self.key_for(color);
        }
    }

    /// Returns the number of consecutive passes up to now. A pass that takes the button does not count.
    pub fn passes(&self) -> u8 {
        self.turn.passes
    }

    /// Returns the state of the button.
    pub fn button(&self) -> Button {
        self.turn.button
    }

    /// Returns whether two passes have been played in a row. The game may continue nevertheless: servers resume play
    /// after a dispute.
    pub fn is_over(&self) -> bool {
        self.turn.passes >= 2
    }

    /// Moves played so far, oldest first.
    pub fn records(&self) -> &[MoveRecord] {
        &self.records
    }

    /// Returns the two latest moves, newest first. A missing move is a pass.
    pub fn last_moves(&self) -> [Move; 2] {
        let back = |n: usize| self.records.iter().rev().nth(n).map_or(Move::Pass, |record| record.mv);
        [back(0), back(1)]
    }

    /// Returns the positions so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Returns the key of this position's node in the search graph.
    pub fn graph_key(&self) -> Key {
        self.graph_key
    }

    /// Returns the kind of the node keys: those of a graph or of a tree.
    pub fn sharing(&self) -> NodeSharing {
        self.sharing
    }

    /// Checks whether `color` may make this move now.
    ///
    /// # Errors
    /// Returns the reason why the move is illegal.
    pub fn check(&self, color: Color, mv: Move) -> Result<(), IllegalMove> {
        let Move::Play(point) = mv else { return Ok(()) };
        if !self.size().contains(point.column(), point.row()) {
            return Err(IllegalMove::OutOfBoard);
        }
        check_play(&self.board, &self.history, None, self.rules, self.turn, point, color)
    }

    /// Plays a legal move.
    ///
    /// # Errors
    /// Returns an error if the move is illegal. The game is then unchanged.
    pub fn play(&mut self, color: Color, mv: Move) -> Result<(), IllegalMove> {
        self.check(color, mv)?;
        self.execute(color, mv);
        Ok(())
    }

    /// Plays a move of a game record. Repetition, and suicide of two or more stones, are accepted under any rules. GUIs
    /// and servers do not transmit their rules, and the engine's board must not diverge from theirs because of a move
    /// that was played elsewhere.
    ///
    /// Returns the reason why the move is illegal under the rules of this game, if it is.
    ///
    /// # Errors
    /// Returns an error if the point is occupied or off the board, or if the move is the suicide of a single stone.
    pub fn play_tolerant(&mut self, color: Color, mv: Move) -> Result<Option<IllegalMove>, IllegalMove> {
        let objection = self.check(color, mv).err();
        match (objection, mv) {
            (Some(reason @ (IllegalMove::OutOfBoard | IllegalMove::Occupied)), _) => return Err(reason),
            (Some(IllegalMove::Suicide), Move::Play(point))
                if self.board.is_single_stone_suicide(point, color) =>
            {
                return Err(IllegalMove::Suicide);
            }
            _ => {}
        }
        self.execute(color, mv);
        Ok(objection)
    }

    fn execute(&mut self, color: Color, mv: Move) {
        let Game { graph_key, move_key, opening, turn, .. } = *self;
        let before = UndoState { turn, ko: self.board.ko(), graph_key, move_key, opening };
        // A move out of turn first changes the side to move, whether or not `set_to_move` was called.
        let previous = self.key_for(color);
        let lifted = advance(&mut self.board, &mut self.turn, color, mv, self.endless_threats);
        if self.turn.passes > 0 {
            self.passed.push((color, self.board.key()));
        }
        self.history.push(&self.board, played(color, mv, &lifted, self.turn));
        self.records.push(MoveRecord { color, mv, lifted, before });
        self.opening = opening.after(color, mv);
        let state = self.state_key(self.turn.to_move);
        self.move_key = graph_key::next_key(self.sharing, self.rules.ko, previous, mv, &self.board, state);
        self.graph_key = self.move_key;
    }

    /// Returns the state key of the position if `color` is to move.
    fn state_key(&self, color: Color) -> Key {
        let turn = Turn { to_move: color, ..self.turn };
        let banned =
            self.history.banned(None, &self.board, color, self.rules.suicide, turn.is_button_taken());
        turn.state(self.salt(), self.rules, &self.board).key(banned)
    }

    /// Undoes the latest move and returns it, or returns `None` if no move was played. Handicap stones stay.
    pub fn undo(&mut self) -> Option<MoveRecord> {
        let record = self.records.pop()?;
        if self.turn.passes > 0 {
            self.passed.pop();
        }
        self.history.pop(&self.board, played(record.color, record.mv, &record.lifted, self.turn));
        self.board = record.board_before(&self.board);
        self.turn = record.before.turn;
        (self.graph_key, self.move_key) = (record.before.graph_key, record.before.move_key);
        self.opening = record.before.opening;
        Some(record)
    }

    /// Returns all legal points for `color`, row by row from the lower left.
    pub fn legal_points(&self, color: Color) -> Vec<Point> {
        self.size().points().filter(|&point| self.check(color, Move::Play(point)).is_ok()).collect()
    }

    /// Returns the points that only superko forbids to `color`.
    pub fn superko_banned(&self, color: Color) -> Vec<Point> {
        let taken = self.turn.is_button_taken();
        self.history.banned(None, &self.board, color, self.rules.suicide, taken).collect()
    }
}

impl Turn {
    /// Returns whether a side has taken the button.
    fn is_button_taken(self) -> bool {
        matches!(self.button, Button::Taken(_))
    }

    /// Returns the state of the game, combined from the turn and the rest.
    fn state(self, salt: Key, rules: Rules, board: &Board) -> GameState<'_> {
        let button = match self.button {
            Button::None | Button::Free => None,
            Button::Taken(color) => Some(color),
        };
        GameState { salt, rules, board, to_move: self.to_move, passes: self.passes, button }
    }
}

/// Makes a move, legal or tolerated, on a position. Returns the stones that it removes.
fn advance(
    board: &mut Board,
    turn: &mut Turn,
    color: Color,
    mv: Move,
    endless_threats: Option<Color>,
) -> SmallVec<[Point; 4]> {
    let mut lifted = SmallVec::new();
    turn.to_move = color.opponent();
    match mv {
        Move::Play(point) => {
            collect_lifted(board, point, color, &mut lifted);
            board.play_unchecked(point, color);
            lift_ban(board, endless_threats);
            turn.passes = 0;
        }
        Move::Pass => {
            board.pass();
            if turn.button == Button::Free {
                turn.button = Button::Taken(color);
            } else {
                turn.passes = turn.passes.saturating_add(1);
            }
        }
    }
    lifted
}

/// Lifts the simple-ko ban if it concerns the side with endless threats.
fn lift_ban(board: &mut Board, endless_threats: Option<Color>) {
    if board.ko().is_some_and(|(_, banned)| Some(banned) == endless_threats) {
        board.set_ko(None);
    }
}

/// Collects the stones that a play of `color` on an empty point will remove: captures, or its own chain after a
/// suicide.
fn collect_lifted(board: &Board, point: Point, color: Color, lifted: &mut SmallVec<[Point; 4]>) {
    let take = |of: Color, only_in_atari: bool, lifted: &mut SmallVec<[Point; 4]>| {
        for neighbour in point.adjacent() {
            if board.cell(neighbour) == Cell::from(of)
                && (!only_in_atari || board.in_atari(neighbour))
                && !lifted.contains(&neighbour)
            {
                lifted.extend(board.chain(neighbour));
            }
        }
    };
    take(color.opponent(), true, lifted);
    if lifted.is_empty() && board.is_suicide(point, color) {
        lifted.push(point);
        take(color, false, lifted);
    }
}

/// Checks the legality of a play, for games and for lines of a search.
#[inline]
fn check_play(
    board: &Board,
    history: &History,
    line: Option<&LineHistory>,
    rules: Rules,
    turn: Turn,
    point: Point,
    color: Color,
) -> Result<(), IllegalMove> {
    if board.cell(point) != Cell::Empty {
        return Err(IllegalMove::Occupied);
    }
    if board.is_suicide(point, color) && (!rules.suicide || board.is_single_stone_suicide(point, color)) {
        return Err(IllegalMove::Suicide);
    }
    if rules.ko == KoRule::Simple && board.is_ko(point, color) {
        return Err(IllegalMove::Ko);
    }
    if history.would_repeat(line, board, point, color, turn.is_button_taken()) {
        return Err(IllegalMove::Superko);
    }
    Ok(())
}
