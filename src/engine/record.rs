//! The engine's game as a game record: saving and restoring.
//!
//! Invariant (`tests::a_saved_game_goes_on_as_the_same`): a game that [`Engine::restore`] reads from the output of
//! [`Engine::record`] has the same position, history, rules, side to move and clocks. In particular the same moves are
//! legal, and the same nodes of the search graph are found.

use super::Engine;
use crate::time::{Clock, TimeControl, seconds};
use kosumi_go::board::{ByColor, Color, Move};
use kosumi_go::score::format_score;
use kosumi_go::sgf::{FollowOptions, FollowedGame, Meta, Node, Record, SgfError, Strictness, Tree};
use kosumi_search::SearchReport;

/// Player name of the engine in game records.
const OWN_NAME: &str = concat!("Kosumi ", env!("CARGO_PKG_VERSION"));

/// Content of the comments on the engine's moves in a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CommentDetail {
    /// No comments.
    None,
    /// Win rate, score and visits.
    #[default]
    Brief,
    /// Win rate, score, visits and principal variation.
    Variation,
}

/// Counters of changes since the engine was created. By comparing two revisions, a caller learns whether there is
/// anything to save.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Revision {
    /// Number of games begun.
    pub game: u64,
    /// Number of changes of moves, position, rules, komi and time control.
    pub change: u64,
    /// Number of changes of the time left and of the known result.
    pub time: u64,
}

/// Result of the search that chose a move, for a comment in the record.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct SearchSummary {
    to_move: Color,
    value: f32,
    score: f32,
    visits: u32,
    /// Principal variation, starting with the move played.
    variation: Vec<Move>,
}

impl SearchSummary {
    pub(super) fn new(report: &SearchReport, played: Move) -> SearchSummary {
        let variation = report.find(played).map_or_else(|| vec![played], |entry| entry.variation.clone());
        let SearchReport { to_move, value, score, visits, .. } = *report;
        SearchSummary { to_move, value, score, visits, variation }
    }

    fn text(&self, remarks: CommentDetail) -> String {
        let win_rate = 50.0 * (1.0 + self.to_move.sign() as f32 * self.value);
        let lead = format_score((self.score * 10.0).round() / 10.0);
        let mut text = format!("{} {win_rate:.1} %, {lead}, {} visits", self.to_move, self.visits);
        if remarks == CommentDetail::Variation {
            let moves: Vec<String> = self.variation.iter().map(Move::to_string).collect();
            text.push('\n');
            text.push_str(&moves.join(" "));
        }
        text
    }
}

/// Comment on a move.
#[derive(Clone, PartialEq, Debug)]
enum MoveComment {
    Nothing,
    Search(SearchSummary),
    /// Text from the record that the game was restored from.
    Text(String),
}

/// Facts about the game besides its moves.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct GameNotes {
    revision: Revision,
    /// Comments by move. The list may be shorter than that of the moves.
    remarks: Vec<MoveComment>,
    /// Players for whom the engine has made moves.
    is_own: ByColor<bool>,
    /// Players' names in the record that the game was read from.
    names: ByColor<Option<String>>,
    /// Date in that record.
    date: Option<String>,
    /// Result of the game, if it did not end by two passes.
    result: Option<String>,
}

impl GameNotes {
    pub(super) fn revision(&self) -> Revision {
        self.revision
    }

    /// Starts a new game.
    pub(super) fn begin(&mut self) {
        let mut revision = self.revision;
        revision.game += 1;
        *self = GameNotes { revision, ..GameNotes::default() };
        self.note_change();
    }

    pub(super) fn note_change(&mut self) {
        self.revision.change += 1;
        self.result = None;
    }

    pub(super) fn note_time(&mut self) {
        self.revision.time += 1;
    }

    /// Records that the move with this number, counted from 1, was played.
    pub(super) fn note_move(&mut self, number: usize, summary: Option<SearchSummary>) {
        self.remarks.resize(number.saturating_sub(1), MoveComment::Nothing);
        self.remarks.push(summary.map_or(MoveComment::Nothing, MoveComment::Search));
        self.note_change();
    }

    pub(super) fn note_own_move(&mut self, number: usize, color: Color, summary: Option<SearchSummary>) {
        self.is_own[color] = true;
        self.note_move(number, summary);
    }

    /// Records an undo that leaves this number of moves.
    pub(super) fn note_undo(&mut self, moves: usize) {
        self.remarks.truncate(moves);
        self.note_change();
    }

    pub(super) fn note_resignation(&mut self, color: Color) {
        self.is_own[color] = true;
        self.note_result(if color == Color::Black { "W+R" } else { "B+R" });
    }

    /// Records that the game was read from a record.
    fn note_source(&mut self, record: &Record) {
        self.names = ByColor::new(record.black.clone(), record.white.clone());
        self.is_own = self.names.clone().map(|name| name.as_deref() == Some(OWN_NAME));
        self.date.clone_from(&record.date);
    }

    /// Returns the colour for which the engine has made moves, if there is exactly one such colour.
    pub(super) fn own_color(&self) -> Option<Color> {
        let mut own = Color::BOTH.into_iter().filter(|&color| self.is_own[color]);
        own.next().filter(|_| own.next().is_none())
    }

    /// Returns Black's value, in `[-1, 1]`, from the engine's last search for a move, if there was one.
    pub(super) fn last_value(&self) -> Option<f32> {
        self.remarks.iter().rev().find_map(|remark| match remark {
            MoveComment::Search(summary) => Some(summary.value),
            MoveComment::Nothing | MoveComment::Text(_) => None,
        })
    }

    fn note_result(&mut self, result: &str) {
        self.note_change();
        self.result = Some(result.to_owned());
    }
}

impl Engine {
    /// Returns the revision of the game.
    pub fn revision(&self) -> Revision {
        self.notes.revision
    }

    /// Returns the result of the game in the form of game records: `?` if the game is over but not counted yet, `None`
    /// while it continues.
    pub fn result(&self) -> Option<String> {
        if let Some(result) = &self.notes.result {
            return Some(result.clone());
        }
        let here = (self.game.graph_key(), self.moment());
        let counted = self.status.as_ref().filter(|(key, _)| *key == here);
        let result = || counted.map_or_else(|| "?".to_owned(), |(_, status)| format_score(status.score));
        self.game.is_over().then(result)
    }

    /// Ends the game because of an event outside it, with this result if it is known. The next change of the game
    /// continues the game.
    pub fn end_game(&mut self, result: Option<&str>) {
        let known = self.result();
        self.notes.note_result(result.or(known.as_deref()).unwrap_or("?"));
    }

    /// Returns the game as a record, with everything that [`Engine::restore`] needs. Adds names and a result where
    /// `meta` has none: the engine's name for the players that it has made moves for, and the names of the record that
    /// the game was read from. The date of that record takes precedence over that of `meta`, which is meant for games
    /// that began here.
    pub fn record(&self, remarks: CommentDetail, meta: &Meta) -> Tree {
        let name = |color| match self.notes.is_own[color] {
            true => Some(OWN_NAME.to_owned()),
            false => self.notes.names[color].clone(),
        };
        let meta = Meta {
            black: meta.black.clone().or_else(|| name(Color::Black)),
            white: meta.white.clone().or_else(|| name(Color::White)),
            result: meta.result.clone().or_else(|| self.result()),
            date: self.notes.date.clone().or_else(|| meta.date.clone()),
            ..meta.clone()
        };
        let mut tree = Tree::of_game(&self.game, &meta);
        let line = tree.main_line();
        for (&node, remark) in line.iter().skip(1).zip(&self.notes.remarks) {
            match remark {
                MoveComment::Search(summary) if remarks != CommentDetail::None => {
                    tree.at(node).comment(&summary.text(remarks));
                }
                MoveComment::Text(text) => {
                    tree.at(node).comment(text);
                }
                MoveComment::Nothing | MoveComment::Search(_) => {}
            }
        }
        self.add_clocks(&mut tree);
        tree
    }

    /// Adds the time control and the time left after the last move.
    fn add_clocks(&self, tree: &mut Tree) {
        let is_timed = |&color: &Color| self.clocks[color].control() != TimeControl::None;
        let Some(color) = Color::BOTH.into_iter().find(is_timed) else { return };
        let control = self.clocks[color].control();
        let root = tree.root();
        let main = control.main_time().unwrap_or_default();
        let overtime = control.overtime_text().unwrap_or_default();
        tree.at(root).number("TM", main.as_secs_f64()).line("OT", &overtime);
        let last = tree.main_line().last().copied().unwrap_or(root);
        for color in Color::BOTH.into_iter().filter(is_timed) {
            let clock = &self.clocks[color];
            let count = clock.is_overtime().then(|| clock.stones_or_periods());
            tree.at(last).time_left(color, clock.left().as_secs_f64(), count);
        }
    }

    /// Replaces the game by that of a record, up to the position before a move. Size, komi and moves come from the
    /// record. So do the rules, if the record names known ones. Otherwise the rules set for the engine apply, not those
    /// of an earlier record.
    ///
    /// # Errors
    ///
    /// Returns an [`SgfError`] if the record cannot be followed up to that point and `is_partial` is false, or if the
    /// settings are strict and the record violates strict rules. The game is then unchanged.
    pub fn load(
        &mut self,
        record: &Record,
        up_to: Option<usize>,
        is_partial: bool,
    ) -> Result<FollowedGame, SgfError> {
        let strictness = if self.settings.strict { Strictness::Strict } else { Strictness::Tolerant };
        let followed = record.follow(&FollowOptions { rules: self.settings.rules, up_to, strictness })?;
        if let Some(fault) = followed.fault.as_ref().filter(|_| !is_partial) {
            return Err(fault.clone());
        }
        self.set_game(followed.game.clone());
        self.forget();
        self.notes.note_source(record);
        Ok(followed)
    }

    /// Continues the game of a record, as far as it can be followed, with its clocks and the comments on its moves.
    /// Returns messages about the record, one per line.
    ///
    /// # Errors
    ///
    /// Returns an [`SgfError`] if the record cannot be followed at all. The game is then unchanged.
    pub fn restore(&mut self, record: &Record) -> Result<Vec<String>, SgfError> {
        let follow =
            FollowOptions { rules: self.settings.rules, up_to: None, strictness: Strictness::Tolerant };
        let followed = record.follow(&follow)?;
        let lines = followed.lines().collect();
        self.set_game(followed.game);
        self.forget();
        self.notes.note_source(record);
        for node in record.nodes.iter().filter(|node| !node.setup.is_empty() || !node.moves.is_empty()) {
            if !node.setup.is_empty() {
                // Setup stones start a new game.
                self.notes.remarks.clear();
            }
            for _ in &node.moves {
                self.notes.remarks.push(MoveComment::Nothing);
            }
            if let (Some(text), Some(last)) = (&node.comment, self.notes.remarks.last_mut())
                && !node.moves.is_empty()
            {
                *last = MoveComment::Text(text.clone());
            }
        }
        self.notes.remarks.truncate(self.game.records().len());
        self.notes.result.clone_from(&record.result);
        let control = TimeControl::of_record(record.main_time, record.overtime.as_deref());
        self.clocks = ByColor::new(Clock::new(control), Clock::new(control));
        for color in Color::BOTH {
            // Each player's time left, as stated last in the record.
            let time_left =
                |node: &Node| Some((node.time_left[color]?, node.overtime_left[color].unwrap_or(0)));
            if let Some((left, count)) = record.nodes.iter().rev().find_map(time_left) {
                self.clocks[color].set_time_left(seconds(left), count);
            }
        }
        Ok(lines)
    }
}
