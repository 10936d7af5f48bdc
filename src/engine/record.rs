//! The game as a record: what is saved of it, and how it goes on from there.
//!
//! Invariant (`tests::a_saved_game_goes_on_as_the_same`): the game that [`Engine::restore`] makes of what
//! [`Engine::record`] wrote has the same position, history, rules, turn and clocks; in particular the same moves
//! are legal, and the same nodes of the search graph are found.

use super::Engine;
use crate::time::{Clock, TimeControl, seconds};
use kosumi_go::board::{ByColor, Color, Move};
use kosumi_go::score::format_score;
use kosumi_go::sgf::{Follow, Followed, Meta, Node, Record, SgfError, Strictness, Tree};
use kosumi_search::SearchReport;

/// The name under which the engine stands in records.
const OWN_NAME: &str = concat!("Kosumi ", env!("CARGO_PKG_VERSION"));

/// What the comments of a record tell of the engine's searches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Remarks {
    /// Nothing.
    None,
    /// Win rate, score and visits.
    #[default]
    Brief,
    /// The principal variation, too.
    Variation,
}

/// Counts what has changed since the engine was made. Whoever has seen a revision knows by the next one whether
/// anything has to be saved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Revision {
    /// Games begun.
    pub game: u64,
    /// Changes of moves, position, rules, komi and the kind of clock.
    pub change: u64,
    /// Changes of the time left, and of what is known of the result.
    pub time: u64,
}

/// What the search found by which a move was chosen, for a comment in the record.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct SearchSummary {
    to_move: Color,
    value: f32,
    score: f32,
    visits: u32,
    /// The move that was played, and how the game might go on.
    variation: Vec<Move>,
}

impl SearchSummary {
    pub(super) fn new(report: &SearchReport, played: Move) -> SearchSummary {
        let variation = report.find(played).map_or_else(|| vec![played], |entry| entry.variation.clone());
        let SearchReport { to_move, value, score, visits, .. } = *report;
        SearchSummary { to_move, value, score, visits, variation }
    }

    fn text(&self, remarks: Remarks) -> String {
        let win_rate = 50.0 * (1.0 + self.to_move.sign() as f32 * self.value);
        let lead = format_score((self.score * 10.0).round() / 10.0);
        let mut text = format!("{} {win_rate:.1} %, {lead}, {} visits", self.to_move, self.visits);
        if remarks == Remarks::Variation {
            let moves: Vec<String> = self.variation.iter().map(Move::to_string).collect();
            text.push('\n');
            text.push_str(&moves.join(" "));
        }
        text
    }
}

/// What there is to say about a move.
#[derive(Clone, PartialEq, Debug)]
enum Remark {
    Nothing,
    Search(SearchSummary),
    /// As the record had it that the game was restored from.
    Text(String),
}

/// What there is to say about the game besides its moves.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct GameNotes {
    revision: Revision,
    /// One for every move, or fewer.
    remarks: Vec<Remark>,
    /// For whom the engine has made moves.
    is_own: ByColor<bool>,
    /// The players' names in the record that the game comes from.
    names: ByColor<Option<String>>,
    /// Its date.
    date: Option<String>,
    /// How the game ended, if it did not end by two passes.
    result: Option<String>,
}

impl GameNotes {
    pub(super) fn revision(&self) -> Revision {
        self.revision
    }

    /// Another game begins.
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

    /// The move with this number, counted from 1, was made.
    pub(super) fn note_move(&mut self, number: usize, summary: Option<SearchSummary>) {
        self.remarks.resize(number.saturating_sub(1), Remark::Nothing);
        self.remarks.push(summary.map_or(Remark::Nothing, Remark::Search));
        self.note_change();
    }

    pub(super) fn note_own_move(&mut self, number: usize, color: Color, summary: Option<SearchSummary>) {
        self.is_own[color] = true;
        self.note_move(number, summary);
    }

    /// So many moves are left.
    pub(super) fn note_undo(&mut self, moves: usize) {
        self.remarks.truncate(moves);
        self.note_change();
    }

    pub(super) fn note_resignation(&mut self, color: Color) {
        self.is_own[color] = true;
        self.note_result(if color == Color::Black { "W+R" } else { "B+R" });
    }

    /// The game is that of a record.
    fn note_source(&mut self, record: &Record) {
        self.names = ByColor::new(record.black.clone(), record.white.clone());
        self.is_own = self.names.clone().map(|name| name.as_deref() == Some(OWN_NAME));
        self.date.clone_from(&record.date);
    }

    fn note_result(&mut self, result: &str) {
        self.note_change();
        self.result = Some(result.to_owned());
    }
}

impl Engine {
    /// Counts the changes of the game.
    pub fn revision(&self) -> Revision {
        self.notes.revision
    }

    /// How the game ended, as records have it; `?` if it is over and nobody has counted yet, `None` while it goes
    /// on.
    pub fn result(&self) -> Option<String> {
        if let Some(result) = &self.notes.result {
            return Some(result.clone());
        }
        let here = (self.game.graph_key(), self.moment());
        let counted = self.status.as_ref().filter(|(key, _)| *key == here);
        let result = || counted.map_or_else(|| "?".to_owned(), |(_, status)| format_score(status.score));
        self.game.is_over().then(result)
    }

    /// The game is over, with this result if it is known: somebody else says so. The next change of the game means
    /// that it goes on.
    pub fn end_game(&mut self, result: Option<&str>) {
        let known = self.result();
        self.notes.note_result(result.or(known.as_deref()).unwrap_or("?"));
    }

    /// The game as a record, with everything that [`Engine::restore`] needs. Names and result are added to `meta`
    /// where it has none: the engine's name for whom it has made moves, and those of the record that the game comes
    /// from. The date of that record goes before the one of `meta`, which is that of a game that began here.
    pub fn record(&self, remarks: Remarks, meta: &Meta) -> Tree {
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
                Remark::Search(summary) if remarks != Remarks::None => {
                    tree.at(node).comment(&summary.text(remarks));
                }
                Remark::Text(text) => {
                    tree.at(node).comment(text);
                }
                Remark::Nothing | Remark::Search(_) => {}
            }
        }
        self.add_clocks(&mut tree);
        tree
    }

    /// How the game is timed, and what is left after the last move.
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

    /// Puts the game of a record on the board, up to the position before a move. Size, komi and moves come from the
    /// record, and the rules, too, if it names known ones; otherwise they are those that the engine was told, whatever
    /// the record before had.
    ///
    /// # Errors
    /// If the record cannot be followed up to there, unless `is_partial`, or is no record by strict rules where the
    /// settings are strict; nothing has changed then.
    pub fn load(
        &mut self,
        record: &Record,
        up_to: Option<usize>,
        is_partial: bool,
    ) -> Result<Followed, SgfError> {
        let strictness = if self.settings.strict { Strictness::Strict } else { Strictness::Tolerant };
        let followed = record.follow(&Follow { rules: self.settings.rules, up_to, strictness })?;
        if let Some(fault) = followed.fault.as_ref().filter(|_| !is_partial) {
            return Err(fault.clone());
        }
        self.set_game(followed.game.clone());
        self.forget();
        self.notes.note_source(record);
        Ok(followed)
    }

    /// Goes on with the game of a record, as far as it can be followed, with its clocks and what the engine thought of
    /// its moves. Returns what there is to say of it, a line each.
    ///
    /// # Errors
    /// If it cannot be followed at all; nothing has changed then.
    pub fn restore(&mut self, record: &Record) -> Result<Vec<String>, SgfError> {
        let follow = Follow { rules: self.settings.rules, up_to: None, strictness: Strictness::Tolerant };
        let followed = record.follow(&follow)?;
        let said = followed.lines().collect();
        self.set_game(followed.game);
        self.forget();
        self.notes.note_source(record);
        for node in record.nodes.iter().filter(|node| !node.setup.is_empty() || !node.moves.is_empty()) {
            if !node.setup.is_empty() {
                // The game begins here.
                self.notes.remarks.clear();
            }
            for _ in &node.moves {
                self.notes.remarks.push(Remark::Nothing);
            }
            if let (Some(text), Some(last)) = (&node.comment, self.notes.remarks.last_mut())
                && !node.moves.is_empty()
            {
                *last = Remark::Text(text.clone());
            }
        }
        self.notes.remarks.truncate(self.game.records().len());
        self.notes.result.clone_from(&record.result);
        let control = TimeControl::of_record(record.main_time, record.overtime.as_deref());
        self.clocks = ByColor::new(Clock::new(control), Clock::new(control));
        for color in Color::BOTH {
            // What was told last.
            let told = |node: &Node| Some((node.time_left[color]?, node.overtime_left[color].unwrap_or(0)));
            if let Some((left, count)) = record.nodes.iter().rev().find_map(told) {
                self.clocks[color].set_time_left(seconds(left), count);
            }
        }
        Ok(said)
    }
}
