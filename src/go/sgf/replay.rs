//! Replay of a record's main line on the board.

use super::{Node, Record, RecordedMove, SgfError, SgfErrorKind};
use crate::board::{Board, ByColor, Cell, Color, Point, PointMap, SetupError};
use crate::game::{Game, IllegalMove};
use crate::handicap::fixed_handicap;
use crate::rules::Rules;

/// Treatment of moves that the rules forbid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strictness {
    /// As in [`Game::play_tolerant`]. The replay ends with a warning before a move that cannot be played at all.
    #[default]
    Tolerant,
    /// The first forbidden move is an error, as is everything else that would be a warning.
    Strict,
}

/// Result of a replay.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The game.
    pub game: Game,
    /// Faults of the record. If the last one is an unplayable move, the game ends there.
    pub warnings: Vec<SgfError>,
    /// Byte offset in the text of the move before which `up_to` stopped the replay. The text after it was not examined.
    /// `usize::MAX` if `up_to` did not stop it.
    pub end: usize,
}

/// Step of a replay, with the number of its node.
#[derive(Clone, Copy, Debug)]
pub enum ReplayStep<'r> {
    /// The root is reached, or the position or the side to move changes. After a change of the position, and before the
    /// first move, the game has no moves.
    Position {
        /// Number of the node.
        node: usize,
    },
    /// A move is played.
    Move {
        /// Number of the node.
        node: usize,
        /// Number of the move, counted from 1 through the whole record.
        number: usize,
        /// The move and its offset in the text.
        recorded: &'r RecordedMove,
        /// Reason why the rules forbid the move, if they do.
        objection: Option<IllegalMove>,
    },
}

impl ReplayStep<'_> {
    /// Returns the number of the node.
    pub fn node(&self) -> usize {
        match *self {
            ReplayStep::Position { node } | ReplayStep::Move { node, .. } => node,
        }
    }
}

impl Record {
    /// Returns the game of the main line, regardless of which moves the rules forbid: [`Record::replay`] without
    /// warnings.
    ///
    /// # Errors
    /// Returns no error at present. A record that was parsed always yields a game.
    pub fn game(&self, rules: Rules, default_komi: f32, up_to: Option<usize>) -> Result<Game, SgfError> {
        Ok(self.replay(rules, default_komi, up_to, Strictness::Tolerant)?.game)
    }

    /// Plays the main line. With `up_to`, as in GTP's `loadsgf`, it is played only up to the position *before* that
    /// move, counted from 1, and the side of that move is then to move. A number beyond the end of the game means the
    /// end.
    ///
    /// Set-up restarts the game from the changed position and keeps the prisoners. A handicap without stones gets the
    /// fixed stones if White makes the first move.
    ///
    /// If the root sets up two or more stones, all of them Black's, and neither `HA` nor `PL` says otherwise, they are
    /// a handicap, and White moves first. The analysis engine treats `initialStones` in the same way. `PL` and the
    /// colour of the first move take precedence over this rule.
    ///
    /// # Errors
    /// With [`Strictness::Strict`], returns the first fault.
    pub fn replay(
        &self,
        rules: Rules,
        default_komi: f32,
        up_to: Option<usize>,
        strictness: Strictness,
    ) -> Result<Replay, SgfError> {
        self.replay_observed(rules, default_komi, up_to, strictness, |_, _| {})
    }

    /// Plays the main line as [`Record::replay`] does, and calls `watch` with every position and the number of its
    /// node: after the set-up and `PL` of a node, if it has any, and after every move. The position of the root is
    /// always passed before its moves.
    ///
    /// # Errors
    /// With [`Strictness::Strict`], returns the first fault.
    pub fn replay_watched(
        &self,
        rules: Rules,
        default_komi: f32,
        up_to: Option<usize>,
        strictness: Strictness,
        mut watch: impl FnMut(usize, &Game),
    ) -> Result<Replay, SgfError> {
        self.replay_observed(rules, default_komi, up_to, strictness, |step, game| watch(step.node(), game))
    }

    /// Plays the main line as [`Record::replay_watched`] does, and describes each step to `observe`.
    ///
    /// # Errors
    /// With [`Strictness::Strict`], returns the first fault.
    pub fn replay_observed(
        &self,
        rules: Rules,
        default_komi: f32,
        up_to: Option<usize>,
        strictness: Strictness,
        mut observe: impl FnMut(ReplayStep<'_>, &Game),
    ) -> Result<Replay, SgfError> {
        self.replay_each(rules, default_komi, up_to, strictness, &mut observe)
    }

    /// Implements [`Record::replay_observed`] for any observer, so that it is compiled once and in this crate.
    fn replay_each(
        &self,
        rules: Rules,
        default_komi: f32,
        up_to: Option<usize>,
        strictness: Strictness,
        observe: &mut dyn FnMut(ReplayStep<'_>, &Game),
    ) -> Result<Replay, SgfError> {
        let mut warnings = Vec::new();
        let mut warn = |offset: usize, kind: SgfErrorKind| {
            let error = SgfError { offset, kind };
            match strictness {
                Strictness::Strict => Err(error),
                Strictness::Tolerant => {
                    warnings.push(error);
                    Ok(())
                }
            }
        };
        for warning in &self.warnings {
            warn(warning.offset, warning.kind.clone())?;
        }
        let mut empty = Board::new(self.size);
        empty.set_prisoners(self.prisoners);
        let mut game = Game::from_board(empty, Color::Black, rules, self.komi.unwrap_or(default_komi));
        let with_handicap = self.with_handicap(&game, &mut warn)?;
        let has_handicap = with_handicap.is_some();
        game = with_handicap.unwrap_or(game);
        let mut number = 0;
        let mut end = usize::MAX;
        'nodes: for (index, node) in self.nodes.iter().enumerate() {
            let is_done = index == 0 && has_handicap;
            if !node.setup.is_empty() && !is_done {
                game = set_up(&game, node, &mut warn)?;
                // A position without stones has no handicap, whatever the record says.
                let stones = self.implied_handicap(game.board());
                if index == 0 && stones >= 2 {
                    game.set_handicap(stones);
                    game.set_to_move(Color::White);
                }
            }
            if let Some(color) = node.to_move {
                game.set_to_move(color);
            }
            if index == 0 || !node.setup.is_empty() || node.to_move.is_some() {
                observe(ReplayStep::Position { node: index }, &game);
            }
            for recorded in &node.moves {
                let RecordedMove { color, mv, offset } = recorded;
                if up_to.is_some_and(|last| number + 1 >= last) {
                    game.set_to_move(*color);
                    end = *offset;
                    break 'nodes;
                }
                number += 1;
                let mv = match mv {
                    Ok(mv) => *mv,
                    Err(text) => {
                        let (color, text) = (*color, text.clone());
                        warn(*offset, SgfErrorKind::BadMove { number, color, text })?;
                        break 'nodes;
                    }
                };
                let played = match strictness {
                    Strictness::Strict => game.play(*color, mv).map(|()| None),
                    Strictness::Tolerant => game.play_tolerant(*color, mv),
                };
                match played {
                    Ok(objection) => {
                        observe(ReplayStep::Move { node: index, number, recorded, objection }, &game)
                    }
                    Err(reason) => {
                        warn(*offset, SgfErrorKind::IllegalMove { number, color: *color, mv, reason })?;
                        break 'nodes;
                    }
                }
            }
        }
        Ok(Replay { game, warnings, end })
    }

    /// Returns the handicap of a position that the root sets up, or 0 if it has none.
    fn implied_handicap(&self, board: &Board) -> u32 {
        let stones = board.stone_count() as u32;
        match self.handicap {
            _ if stones == 0 => 0,
            0 => {
                let is_handicap = !self.is_even
                    && self.prisoners == ByColor::default()
                    && board.stones().all(|(_, color)| color == Color::Black);
                if is_handicap { stones } else { 0 }
            }
            number => number,
        }
    }

    /// Returns the game with handicap stones, if the record has any: those set up in the root if their number equals
    /// the handicap, or the fixed ones.
    fn with_handicap(
        &self,
        game: &Game,
        warn: &mut dyn FnMut(usize, SgfErrorKind) -> Result<(), SgfError>,
    ) -> Result<Option<Game>, SgfError> {
        let Some(root) = self.nodes.first().filter(|_| self.handicap > 0) else { return Ok(None) };
        if !root.setup.is_empty() && self.prisoners != ByColor::default() {
            // The position is from the middle of a game, so its prisoners count.
            return Ok(None);
        }
        if !root.setup.is_empty() {
            let stones: Vec<Point> = root.setup.iter().map(|&(point, _)| point).collect();
            let is_handicap = root.setup.iter().all(|&(_, color)| color == Some(Color::Black))
                && stones.len() == self.handicap as usize;
            return Ok(if is_handicap { game.with_handicap(&stones).ok() } else { None });
        }
        // No other node may set up stones before the first move.
        let first = self.nodes.iter().find(|node| !node.moves.is_empty() || !node.setup.is_empty());
        let white_begins = first.is_none_or(|node| {
            node.setup.is_empty() && node.moves.first().is_some_and(|mv| mv.color == Color::White)
        });
        if self.handicap < 2 || !white_begins {
            return Ok(None);
        }
        match fixed_handicap(self.size, self.handicap as usize) {
            Some(points) => Ok(game.with_handicap(&points).ok()),
            None => {
                warn(root.offset, SgfErrorKind::NoHandicapPoints(self.handicap))?;
                Ok(None)
            }
        }
    }
}

/// Returns a new game from the position of a game, changed by a [set-up](super::NodeChange::set_up). Stones without a
/// liberty are left out.
pub fn with_set_up(game: &Game, points: &[(Point, Option<Color>)]) -> Game {
    let node = Node { setup: points.to_vec(), ..Node::default() };
    // The set-up fails only if a warning is an error.
    set_up(game, &node, &mut |_, _| Ok(())).unwrap_or_else(|_| game.clone())
}

/// Returns a new game from the current position changed by a node's set-up.
fn set_up(
    game: &Game,
    node: &Node,
    warn: &mut dyn FnMut(usize, SgfErrorKind) -> Result<(), SgfError>,
) -> Result<Game, SgfError> {
    let size = game.size();
    let mut cells = PointMap::filled(Cell::Border);
    for point in size.points() {
        cells[point] = game.board().cell(point);
    }
    for &(point, color) in &node.setup {
        cells[point] = color.map_or(Cell::Empty, Cell::from);
    }
    let mut board = loop {
        let stones = size.points().filter_map(|point| Some((point, cells[point].color()?)));
        match Board::from_stones(size, stones) {
            Ok(board) => break board,
            Err(SetupError::NoLiberty(point)) => {
                warn(node.offset, SgfErrorKind::NoLiberty(point))?;
                let own = std::mem::replace(&mut cells[point], Cell::Empty);
                let mut todo = vec![point];
                while let Some(stone) = todo.pop() {
                    for next in stone.adjacent() {
                        if cells[next] == own {
                            cells[next] = Cell::Empty;
                            todo.push(next);
                        }
                    }
                }
            }
        }
    };
    let lost = |color: Color| game.board().prisoners(color);
    board.set_prisoners(ByColor::new(lost(Color::Black), lost(Color::White)));
    let mut set_up = Game::from_board(board, game.to_move(), game.rules(), game.komi());
    if game.handicap() > 0 && set_up.board().stone_count() > 0 {
        set_up.set_handicap(game.handicap());
    }
    Ok(set_up)
}
