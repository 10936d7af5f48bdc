//! The main line of a recorded game: its positions one after the other, and the way back.

use kosumi_go::board::{BoardSize, Cell, Color, Move, Point, PointMap};
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::{Record, SgfError, Strictness};

/// How a position came about.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// By setting up stones; the first position always is. What is different from the position before, which is the
    /// empty board for the first one: `None` for a point that is empty now.
    SetUp(Vec<(Point, Option<Color>)>),
    /// By a move.
    Move {
        /// Who moved.
        color: Color,
        /// The move.
        mv: Move,
        /// Stones that left the board.
        lifted: Vec<Point>,
    },
}

/// A position of the game and how it came about.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// The node of the record's main line that it belongs to.
    pub node: usize,
    /// Moves of the game so far, passes included.
    pub moves: usize,
    /// What led to it.
    pub change: Change,
    /// Whose turn it is: that of whoever made the next move, if a move follows.
    pub to_move: Color,
}

/// A stretch of the game without set-up.
#[derive(Clone, Debug)]
struct Segment {
    /// The number of its first step.
    first: usize,
    /// The game at that step; no moves have been made in it.
    start: Game,
}

/// The positions of a game's main line.
#[derive(Clone, Debug)]
pub struct MainLine {
    steps: Vec<Step>,
    segments: Vec<Segment>,
    warnings: Vec<SgfError>,
}

impl MainLine {
    /// Plays the main line of a record. `komi` is used if the record does not say. Moves that break the rules are
    /// followed as far as they can be; the line ends before one that cannot, and the warnings say so.
    ///
    /// # Errors
    /// None today; see [`Record::replay`].
    pub fn of_record(record: &Record, rules: Rules, komi: f32) -> Result<MainLine, SgfError> {
        let mut line = MainLine { steps: Vec::new(), segments: Vec::new(), warnings: Vec::new() };
        let mut cells = PointMap::filled(Cell::Empty);
        let watch = |node: usize, game: &Game| line.note(node, game, &mut cells);
        let replayed = record.replay_watched(rules, komi, None, Strictness::Tolerant, watch)?;
        line.warnings = replayed.warnings;
        // Where the first moves are handicap stones, they are from the first of them on.
        if let [whole] = &mut line.segments[..] {
            whole.start.set_handicap(replayed.game.handicap());
        }
        // Whoever moves next is on turn, whatever the colours before were.
        for index in 1..line.steps.len() {
            if let Change::Move { color, .. } = line.steps[index].change {
                line.steps[index - 1].to_move = color;
            }
        }
        Ok(line)
    }

    fn note(&mut self, node: usize, game: &Game, cells: &mut PointMap<Cell>) {
        let mut different = Vec::new();
        for point in game.size().points() {
            let cell = game.board().cell(point);
            if cell != cells[point] {
                cells[point] = cell;
                different.push((point, cell.color()));
            }
        }
        let to_move = game.to_move();
        let in_segment = self.segments.last().map_or(0, |segment| self.steps.len() - segment.first);
        let moves = self.steps.last().map_or(0, |step| step.moves);
        match game.records().last() {
            // The first step of a segment has no move, so a new move makes as many records as there are steps.
            Some(record) if game.records().len() == in_segment => {
                let change =
                    Change::Move { color: record.color, mv: record.mv, lifted: record.lifted.to_vec() };
                self.steps.push(Step { node, moves: moves + 1, change, to_move });
            }
            None if self.steps.is_empty() || !different.is_empty() => {
                self.segments.push(Segment { first: self.steps.len(), start: game.clone() });
                self.steps.push(Step { node, moves, change: Change::SetUp(different), to_move });
            }
            // A node that gives the turn to somebody, or sets up what is there already.
            _ => {
                if let Some(last) = self.steps.last_mut() {
                    last.to_move = to_move;
                }
                // A game that begins here must know who begins.
                if game.records().is_empty() {
                    if let Some(segment) = self.segments.last_mut().filter(|_| in_segment == 1) {
                        segment.start = game.clone();
                    } else {
                        self.segments.push(Segment { first: self.steps.len() - 1, start: game.clone() });
                    }
                }
            }
        }
    }

    /// The positions in order. There is always a first one.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Columns and rows.
    pub fn size(&self) -> BoardSize {
        self.start().size()
    }

    /// The game before the first move.
    pub fn start(&self) -> &Game {
        &self.segments[0].start
    }

    /// Number of moves, passes included.
    pub fn move_count(&self) -> usize {
        self.steps.last().map_or(0, |step| step.moves)
    }

    /// This main line, with places in the file of the record instead of places in its text.
    #[must_use]
    pub fn located(mut self, bytes: &[u8]) -> MainLine {
        self.warnings = self.warnings.into_iter().map(|warning| warning.located(bytes)).collect();
        self
    }

    /// What could not be followed, and what was passed over.
    pub fn warnings(&self) -> &[SgfError] {
        &self.warnings
    }

    /// The game at a step, the right player on turn; `None` behind the last step.
    pub fn game_at(&self, index: usize) -> Option<Game> {
        let step = self.steps.get(index)?;
        let segment = self.segments.iter().rev().find(|segment| segment.first <= index)?;
        let mut game = segment.start.clone();
        for step in &self.steps[segment.first + 1..=index] {
            if let Change::Move { color, mv, .. } = step.change {
                game.play_tolerant(color, mv).ok()?;
            }
        }
        game.set_to_move(step.to_move);
        Some(game)
    }

    /// Shows every position from the last to the first, the right player on turn. The visitor must leave the game as
    /// it is.
    pub fn backwards(&self, mut visit: impl FnMut(usize, &mut Game)) {
        let mut end = self.steps.len();
        for segment in self.segments.iter().rev() {
            let mut game = segment.start.clone();
            for step in &self.steps[segment.first + 1..end] {
                if let Change::Move { color, mv, .. } = step.change {
                    // It could be played before, under the same rules, from the same position.
                    let played = game.play_tolerant(color, mv);
                    debug_assert!(played.is_ok(), "{color} {mv}");
                }
            }
            for index in (segment.first..end).rev() {
                game.set_to_move(self.steps[index].to_move);
                visit(index, &mut game);
                game.undo();
            }
            end = segment.first;
        }
    }
}

/// What `look` sees after another move; `None` if the move is not legal. The game is the same afterwards.
pub(super) fn after<T>(game: &mut Game, color: Color, mv: Move, look: impl FnOnce(&Game) -> T) -> Option<T> {
    game.play(color, mv).ok()?;
    let seen = look(game);
    game.undo();
    Some(seen)
}
