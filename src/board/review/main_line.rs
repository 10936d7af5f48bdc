//! Main line of a recorded game: its positions, in either direction.

use kosumi_go::board::{BoardSize, Cell, Color, Move, Point, PointMap};
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::{Record, SgfError, Strictness};

/// Change that led to a position.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// A set-up: the points that differ from the position before, `None` for a point that is now empty. The first
    /// position is always a set-up and is compared with the empty board.
    SetUp(Vec<(Point, Option<Color>)>),
    /// A move.
    Move {
        /// Colour of the player.
        color: Color,
        /// The move.
        mv: Move,
        /// Stones that the move captured.
        lifted: Vec<Point>,
    },
}

/// A position of the game.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// Index of its node in the record's main line.
    pub node: usize,
    /// Number of moves up to the position, passes included.
    pub moves: usize,
    /// Change that led to the position.
    pub change: Change,
    /// Side to move: the player of the next move, if a move follows.
    pub to_move: Color,
}

/// Part of the game without set-up.
#[derive(Clone, Debug)]
struct Segment {
    /// Index of its first step.
    first: usize,
    /// Game at that step, which has no moves yet.
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
    /// Plays the main line of a record. `komi` is used if the record has none. Moves that break the rules are played
    /// where possible. The line ends before a move that cannot be followed, with a warning.
    ///
    /// # Errors
    ///
    /// Returns the error of [`Record::replay`]. At present there is none.
    pub fn of_record(record: &Record, rules: Rules, komi: f32) -> Result<MainLine, SgfError> {
        let mut line = MainLine { steps: Vec::new(), segments: Vec::new(), warnings: Vec::new() };
        let mut cells = PointMap::filled(Cell::Empty);
        let watch = |node: usize, game: &Game| line.note(node, game, &mut cells);
        let replayed = record.replay_watched(rules, komi, None, Strictness::Tolerant, watch)?;
        line.warnings = replayed.warnings;
        // If the first moves are handicap stones, the compensation for them applies from the first one on.
        if let [whole] = &mut line.segments[..] {
            whole.start.set_handicap(replayed.game.handicap());
        }
        // The player of the next move is the side to move, whatever colours moved before.
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
            // The first step of a segment has no move, so after a new move the game has as many moves as the segment
            // had steps.
            Some(record) if game.records().len() == in_segment => {
                let change =
                    Change::Move { color: record.color, mv: record.mv, lifted: record.lifted.to_vec() };
                self.steps.push(Step { node, moves: moves + 1, change, to_move });
            }
            None if self.steps.is_empty() || !different.is_empty() => {
                self.segments.push(Segment { first: self.steps.len(), start: game.clone() });
                self.steps.push(Step { node, moves, change: Change::SetUp(different), to_move });
            }
            // A node that only sets the side to move, or sets up the stones that are on the board.
            _ => {
                if let Some(last) = self.steps.last_mut() {
                    last.to_move = to_move;
                }
                // If the game begins here, its side to move must be set.
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

    /// Returns the positions in order. There is at least one.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the board size.
    pub fn size(&self) -> BoardSize {
        self.start().size()
    }

    /// Returns the game before the first move.
    pub fn start(&self) -> &Game {
        &self.segments[0].start
    }

    /// Returns the number of moves, passes included.
    pub fn move_count(&self) -> usize {
        self.steps.last().map_or(0, |step| step.moves)
    }

    /// Returns this main line with positions in the file of the record, instead of positions in its decoded text.
    #[must_use]
    pub fn located(mut self, bytes: &[u8]) -> MainLine {
        self.warnings = self.warnings.into_iter().map(|warning| warning.located(bytes)).collect();
        self
    }

    /// Returns the warnings about moves that could not be followed, and about properties that were skipped.
    pub fn warnings(&self) -> &[SgfError] {
        &self.warnings
    }

    /// Returns the game at a step, with the side to move of that step; `None` after the last step.
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

    /// Calls a function with every position from the last to the first, with its side to move. The function must leave
    /// the game unchanged.
    pub fn backwards(&self, mut visit: impl FnMut(usize, &mut Game)) {
        let mut end = self.steps.len();
        for segment in self.segments.iter().rev() {
            let mut game = segment.start.clone();
            for step in &self.steps[segment.first + 1..end] {
                if let Change::Move { color, mv, .. } = step.change {
                    // The move has been played before under the same rules from the same position, so it succeeds.
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

/// Calls `look` with the game after another move, then takes back the move. Returns `None` if the move is illegal.
pub(super) fn after<T>(game: &mut Game, color: Color, mv: Move, look: impl FnOnce(&Game) -> T) -> Option<T> {
    game.play(color, mv).ok()?;
    let seen = look(game);
    game.undo();
    Some(seen)
}
