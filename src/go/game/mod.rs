//! A game: board, rules, history. The one authority on legality, passes, the end of the game and undo.
//!
//! [`Game`] owns the record and can take every move back. [`Line`] plays moves on top of a game for a search,
//! with the same rules and the same superko, and returns to the game's position at once.

mod line;
mod opening;
#[cfg(test)]
mod tests;

pub use line::Line;

use crate::board::{Board, BoardSize, ByColor, Cell, Color, Key, Move, Point};
use crate::graph_key::{self, Sharing, State};
use crate::history::{History, LineHistory, Played};
use crate::rules::{KoRule, Rules, Scoring};
use opening::OpeningMoves;
use smallvec::SmallVec;

/// Why a move is not legal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum IllegalMove {
    /// There is no such point on this board.
    #[error("not on the board")]
    OutOfBoard,
    /// There is a stone.
    #[error("occupied")]
    Occupied,
    /// The stone would have no liberty, and the rules (or common sense, if it is a single one) forbid that.
    #[error("suicide")]
    Suicide,
    /// The immediate recapture of a ko.
    #[error("ko")]
    Ko,
    /// An earlier position would come back.
    #[error("superko")]
    Superko,
}

/// One move of a game and what is needed to take it back.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// Who moved.
    pub color: Color,
    /// The move.
    pub mv: Move,
    /// Stones that left the board: captured ones, or the player's own after a suicide.
    pub lifted: SmallVec<[Point; 4]>,
    before: Before,
}

/// What a move overwrites.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Before {
    turn: Turn,
    ko: Option<(Point, Color)>,
    graph_key: Key,
    move_key: Key,
    opening: OpeningMoves,
}

/// What a position is, apart from its stones: whose turn it is and what was passed.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Turn {
    to_move: Color,
    /// Consecutive passes up to now; one that takes the button is none of them.
    passes: u8,
    button: Button,
}

impl Record {
    /// The colour of the lifted stones: the opponent's unless the placed stone is among them.
    fn lifted_color(&self) -> Color {
        lifted_color(self.color, self.mv, &self.lifted)
    }

    /// The position before the move, given the one after it.
    fn board_before(&self, after: &Board) -> Board {
        let mut before = *after;
        if let Move::Play(point) = self.mv {
            let removed = self.lifted_color();
            let kept = after.stones().filter(|&(stone, _)| stone != point);
            let restored = self.lifted.iter().filter(|&&stone| stone != point).map(|&stone| (stone, removed));
            // The position was on the board before, so every chain has a liberty and the error cannot occur.
            if let Ok(board) = Board::from_stones(after.size(), kept.chain(restored)) {
                before = board;
            }
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

/// A move as the history records it; `turn` is the state after it.
fn played(mover: Color, mv: Move, lifted: &[Point], turn: Turn) -> Played<'_> {
    let lifted_color = lifted_color(mover, mv, lifted);
    Played { mover, mv, lifted, lifted_color, is_button_taken: turn.is_button_taken() }
}

/// Half a point for the first pass of a game, as some area rules give it. Who takes it has made a move that does
/// not bring the end of the game nearer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Button {
    /// The rules know none.
    None,
    /// Nobody has passed yet.
    Free,
    /// This player passed first.
    Taken(Color),
}

impl Button {
    /// The button at the start of a game.
    pub fn new(rules: Rules) -> Button {
        if rules.has_button && rules.scoring == Scoring::Area { Button::Free } else { Button::None }
    }

    /// The button if the game ended here: an untaken one is credited to the side to move, who could take it at
    /// once. So does KataGo, and no total is named that no finished game can have.
    #[must_use]
    pub fn credited_to(self, to_move: Color) -> Button {
        if self == Button::Free { Button::Taken(to_move) } else { self }
    }

    /// What it is worth to Black, in points: 0 as long as nobody has taken it.
    pub fn black_points(self) -> f32 {
        match self {
            Button::Taken(color) => 0.5 * color.sign() as f32,
            Button::None | Button::Free => 0.0,
        }
    }
}

/// A game of Go from its first position to now.
#[derive(Clone, Debug)]
pub struct Game {
    rules: Rules,
    komi: f32,
    /// The number of handicap stones if somebody said it; otherwise the moves tell.
    announced_handicap: Option<u32>,
    /// What the moves tell of handicap stones.
    opening: OpeningMoves,
    start: Board,
    start_to_move: Color,
    board: Board,
    turn: Turn,
    history: History,
    records: Vec<Record>,
    /// Who passed in which position, the button's pass left out.
    passed: Vec<(Color, Key)>,
    /// Whom no simple ko holds back.
    endless_threats: Option<Color>,
    sharing: Sharing,
    graph_key: Key,
    /// The key if it is the turn of the player who follows: a function of the moves alone, whoever was given the
    /// turn in between.
    move_key: Key,
}

impl Game {
    /// An empty board with Black to move.
    pub fn new(size: BoardSize, rules: Rules, komi: f32) -> Game {
        Game::from_board(Board::new(size), Color::Black, rules, komi)
    }

    /// A game that starts at a position.
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
            sharing: Sharing::default(),
            graph_key: Key::default(),
            move_key: Key::default(),
        };
        game.set_first_key();
        game
    }

    /// An empty board of the same size, with the same rules, komi and kind of node keys.
    #[must_use]
    pub fn cleared(&self) -> Game {
        Game::new(self.size(), self.rules, self.komi).with_sharing(self.sharing)
    }

    /// The same game under other rules and another komi, history and turn included.
    #[must_use]
    pub fn with_rules(&self, rules: Rules, komi: f32) -> Game {
        let mut game = Game::from_board(self.start, self.start_to_move, rules, komi);
        game.announced_handicap = self.announced_handicap;
        game.endless_threats = self.endless_threats;
        game.sharing = self.sharing;
        game.set_first_key();
        for record in &self.records {
            // The moves were accepted once; other rules do not undo what happened.
            game.execute(record.color, record.mv);
        }
        // Without moves the turn is part of the start.
        if !game.records.is_empty() {
            game.set_to_move(self.turn.to_move);
        }
        game
    }

    /// The same game with node keys of another kind.
    #[must_use]
    pub fn with_sharing(mut self, sharing: Sharing) -> Game {
        self.sharing = sharing;
        self.with_rules(self.rules, self.komi)
    }

    /// The position as a game of its own under simple ko, in which this player may always take a ko back at once, as if
    /// after a threat that was answered.
    #[must_use]
    pub fn with_endless_threats(&self, color: Color) -> Game {
        let mut board = self.board;
        lift_ban(&mut board, Some(color));
        let rules = Rules { ko: KoRule::Simple, ..self.rules };
        let mut game = Game::from_board(board, self.turn.to_move, rules, self.komi);
        game.endless_threats = Some(color);
        game
    }

    /// The same game started with handicap stones, on an empty board without moves: White is to move.
    ///
    /// # Errors
    /// If the board is not empty, or two of the points are the same.
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

    /// What rules and points for White contribute to a key if these had been the first moves.
    fn salt_with(&self, opening: OpeningMoves) -> Key {
        graph_key::rules_salt(self.rules, self.komi + self.white_bonus_with(opening))
    }

    fn set_first_key(&mut self) {
        self.move_key = self.turn.state(self.salt(), self.rules, &self.board).key(std::iter::empty());
        self.graph_key = self.move_key;
    }

    /// Who is on turn after the latest move if nobody was given the turn.
    fn follower(&self) -> Color {
        self.records.last().map_or(self.start_to_move, |record| record.color.opponent())
    }

    /// The key of the position if the turn is given to `color`.
    fn key_for(&self, color: Color) -> Key {
        if color == self.follower() { self.move_key } else { self.state_key(color) }
    }

    /// Columns and rows.
    pub fn size(&self) -> BoardSize {
        self.board.size()
    }

    /// The rules.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Points for White, compensation for handicap not included.
    pub fn komi(&self) -> f32 {
        self.komi
    }

    /// Number of handicap stones.
    ///
    /// If nobody [said](Game::set_handicap) how many there are and the board was empty, these are Black's first moves
    /// if they are at least two, as in KataGo: some servers and GUIs send a handicap in no other way. Passes between
    /// them do not matter, but two moves of White in a row mean that somebody set up a position.
    pub fn handicap(&self) -> u32 {
        self.handicap_with(self.opening)
    }

    /// The number of handicap stones if these had been the first moves.
    fn handicap_with(&self, opening: OpeningMoves) -> u32 {
        match self.announced_handicap {
            Some(announced) => announced,
            None if self.start.stone_count() > 0 => 0,
            None => opening.handicap(),
        }
    }

    /// White's compensation if these had been the first moves.
    fn white_bonus_with(&self, opening: OpeningMoves) -> f32 {
        self.rules.handicap_bonus.points(self.handicap_with(opening)) as f32
    }

    /// The number of handicap stones that the start position was said to hold, not what the moves tell.
    pub fn announced_handicap(&self) -> Option<u32> {
        self.announced_handicap
    }

    /// Compensation for handicap stones, in points for White.
    pub fn white_bonus(&self) -> f32 {
        self.white_bonus_with(self.opening)
    }

    /// The position.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Whose turn it was at the first position.
    pub fn start_to_move(&self) -> Color {
        self.start_to_move
    }

    /// Says that the start position, or the first moves, are this many handicap stones, which the rules may
    /// compensate.
    pub fn set_handicap(&mut self, stones: u32) {
        self.announced_handicap = Some(stones);
        *self = self.with_rules(self.rules, self.komi);
    }

    /// The first position.
    pub fn start(&self) -> &Board {
        &self.start
    }

    /// Whose turn it is if the players alternate.
    pub fn to_move(&self) -> Color {
        self.turn.to_move
    }

    /// Gives the turn to `color`, as a controller does that asks for two moves of the same colour in a row.
    pub fn set_to_move(&mut self, color: Color) {
        if self.turn.to_move == color {
            return;
        }
        if self.records.is_empty() {
            // Who is to move at the first position is part of what situational superko remembers of it.
            self.start_to_move = color;
            *self = self.with_rules(self.rules, self.komi);
        } else {
            self.turn.to_move = color;
            self.graph_key = self.key_for(color);
        }
    }

    /// Consecutive passes up to now; one that takes the button is none of them.
    pub fn passes(&self) -> u8 {
        self.turn.passes
    }

    /// The half point for the first pass.
    pub fn button(&self) -> Button {
        self.turn.button
    }

    /// Have both players passed in a row? The game may go on all the same: servers resume play after a dispute.
    pub fn is_over(&self) -> bool {
        self.turn.passes >= 2
    }

    /// The moves, oldest first.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The two latest moves, newest first; passes where there are none.
    pub fn last_moves(&self) -> [Move; 2] {
        let back = |n: usize| self.records.iter().rev().nth(n).map_or(Move::Pass, |record| record.mv);
        [back(0), back(1)]
    }

    /// The positions so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The key of this position's node in the search graph.
    pub fn graph_key(&self) -> Key {
        self.graph_key
    }

    /// Are node keys those of a graph or of a tree?
    pub fn sharing(&self) -> Sharing {
        self.sharing
    }

    /// May `color` make this move now?
    ///
    /// # Errors
    /// What forbids it.
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
    /// If the move is not legal; the game is then unchanged.
    pub fn play(&mut self, color: Color, mv: Move) -> Result<(), IllegalMove> {
        self.check(color, mv)?;
        self.execute(color, mv);
        Ok(())
    }

    /// Plays a move as a record tells it: repetition, and suicide of two or more stones, are accepted under any
    /// rules. GUIs and servers do not say by which rules they play, and a move that has been played elsewhere
    /// must not part the engine's board from theirs.
    ///
    /// Returns what a strict reading of the rules would have objected to.
    ///
    /// # Errors
    /// If the point is occupied or off the board, or the move is the suicide of a single stone.
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
        let before = Before { turn, ko: self.board.ko(), graph_key, move_key, opening };
        // Out of turn, the turn changed hands first, whether somebody said so or not.
        let previous = self.key_for(color);
        let lifted = advance(&mut self.board, &mut self.turn, color, mv, self.endless_threats);
        if self.turn.passes > 0 {
            self.passed.push((color, self.board.key()));
        }
        self.history.push(&self.board, played(color, mv, &lifted, self.turn));
        self.records.push(Record { color, mv, lifted, before });
        self.opening = opening.after(color, mv);
        let state = self.state_key(self.turn.to_move);
        self.move_key = graph_key::next_key(self.sharing, self.rules.ko, previous, mv, &self.board, state);
        self.graph_key = self.move_key;
    }

    /// The key of the position if it is `color`'s turn.
    fn state_key(&self, color: Color) -> Key {
        let turn = Turn { to_move: color, ..self.turn };
        let banned =
            self.history.banned(None, &self.board, color, self.rules.suicide, turn.is_button_taken());
        turn.state(self.salt(), self.rules, &self.board).key(banned)
    }

    /// Takes the latest move back and returns it; `None` if there is none. Handicap stones stay.
    pub fn undo(&mut self) -> Option<Record> {
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

    /// All legal points for `color`, row by row from the lower left.
    pub fn legal_points(&self, color: Color) -> Vec<Point> {
        self.size().points().filter(|&point| self.check(color, Move::Play(point)).is_ok()).collect()
    }

    /// The points where only superko stops `color`.
    pub fn superko_banned(&self, color: Color) -> Vec<Point> {
        let taken = self.turn.is_button_taken();
        self.history.banned(None, &self.board, color, self.rules.suicide, taken).collect()
    }
}

impl Turn {
    /// Has somebody taken the button?
    fn is_button_taken(self) -> bool {
        matches!(self.button, Button::Taken(_))
    }

    /// The turn, with everything else that makes up the state of a game.
    fn state(self, salt: Key, rules: Rules, board: &Board) -> State<'_> {
        let button = match self.button {
            Button::None | Button::Free => None,
            Button::Taken(color) => Some(color),
        };
        State { salt, rules, board, to_move: self.to_move, passes: self.passes, button }
    }
}

/// Makes a move, legal or tolerated, on a position, and returns the stones that it lifts.
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

/// Simple ko forbids nothing to a player with endless threats.
fn lift_ban(board: &mut Board, endless_threats: Option<Color>) {
    if board.ko().is_some_and(|(_, banned)| Some(banned) == endless_threats) {
        board.set_ko(None);
    }
}

/// The stones that `color`'s play on an empty point will lift: captures, or the own chain after a suicide.
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

/// The one test of a play's legality, for games and for lines of a search.
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
