//! Game on a board with players, clocks and an end. No function here reads the time; it is an argument.
//!
//! This file has the actions of the players. [`clocks`] has their time, [`saved`] the data that outlives the program,
//! and [`view`] the data that pages draw.

mod clocks;
mod saved;
#[cfg(test)]
mod tests;
mod view;

pub(super) use view::choices;

use super::judgements::Judged;
use super::message::{NewGame, PlayerKind};
use super::strength::{DEFAULT_LEVEL, Level, full_name};
use super::task::MoveEvaluation;
use super::tree::{GameTree, MAX_MOVES, OpenedTree};
use crate::words::color_letter;
use kosumi_engine::time::{Clock, TimeControl};
use kosumi_go::board::{BoardSize, ByColor, Color, Move, PointSet};
use kosumi_go::game::{Game, IllegalMove};
use kosumi_go::handicap::fixed_handicap;
use kosumi_go::rules::Rules;
use kosumi_go::score::{self, format_score};
use kosumi_go::sgf::NodeId;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Phase of a game.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Phase {
    /// Play is in progress.
    Playing,
    /// Both players have passed, and the dead stones are to be confirmed.
    Marking(PointSet),
    /// The game is over, with this result in the form of game records.
    Over(String),
}

/// Reason for a refusal. The table of texts has a text for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// The point has a stone.
    Occupied,
    /// The rules forbid the suicide.
    Suicide,
    /// The move takes back a ko.
    Ko,
    /// The move repeats an earlier position.
    Superko,
    /// There is no such point.
    OffBoard,
    /// It is another player's turn, or the game is over.
    NotNow,
    /// Invalid size, handicap, komi, rules, clock or player.
    BadSettings,
    /// The file is no record of a game on a supported board.
    BadRecord,
    /// The link contains no game.
    BadLink,
    /// The game does not fit into a link.
    LinkTooLong,
    /// The game or the file is too long.
    TooLong,
    /// The message is invalid.
    BadMessage,
}

impl From<IllegalMove> for Refusal {
    fn from(reason: IllegalMove) -> Refusal {
        match reason {
            IllegalMove::OutOfBoard => Refusal::OffBoard,
            IllegalMove::Occupied => Refusal::Occupied,
            IllegalMove::Suicide => Refusal::Suicide,
            IllegalMove::Ko => Refusal::Ko,
            IllegalMove::Superko => Refusal::Superko,
        }
    }
}

/// Reason why a record cannot be loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadRecord {
    /// The reason, for pages.
    pub refusal: Refusal,
    /// Description of the fault and its location.
    pub text: String,
    /// Whether a part of the record can be loaded.
    pub can_be_partial: bool,
}

impl From<BadRecord> for Refusal {
    fn from(bad: BadRecord) -> Refusal {
        bad.refusal
    }
}

/// Evaluations and judgement of a position.
#[derive(Clone, PartialEq, Debug, Default)]
struct NodeResults {
    /// Evaluation by the longest analysis.
    analysed: Option<MoveEvaluation>,
    /// Evaluation by the engine that played the move to the position.
    outlook: Option<MoveEvaluation>,
    /// Results of a search of the length that is used for all judgements, and the judgement of the move to the
    /// position.
    judged: Option<Judged>,
}

/// Game on a board.
#[derive(Clone, Debug)]
pub(super) struct GameTable {
    tree: GameTree,
    /// Node at which play continues.
    head: NodeId,
    /// Game at the head.
    game: Box<Game>,
    /// Results of games that ended, by their last nodes.
    endings: BTreeMap<NodeId, String>,
    /// Node to which play returns after the study mode. In the study mode, moves of both colours are played at any
    /// node.
    studied_from: Option<NodeId>,
    results: BTreeMap<NodeId, NodeResults>,
    seats: ByColor<PlayerKind>,
    /// Players' names in the loaded record.
    names: ByColor<Option<String>>,
    /// Date of the loaded record.
    date: Option<String>,
    phase: Phase,
    clocks: ByColor<Clock>,
    /// Time at which the side to move began its turn, while a clock runs.
    turn_began: Option<Duration>,
    /// Both clocks before each move, for undo.
    clocks_before: Vec<ByColor<Clock>>,
    is_paused: bool,
    /// Number of engines that were given on the command line.
    engines: usize,
}

/// Returns Kosumi at a level.
fn kosumi(level: &str) -> PlayerKind {
    PlayerKind::Kosumi { level: full_name(level).to_owned() }
}

fn is_known(seat: &PlayerKind, engines: usize) -> bool {
    match seat {
        PlayerKind::Person => true,
        PlayerKind::Kosumi { level } => Level::named(level).is_some(),
        PlayerKind::Engine { number } => *number < engines,
    }
}

/// Returns a game with handicap stones. Returns `None` if GTP defines no points for this number of stones.
fn game_with_handicap(size: BoardSize, rules: Rules, komi: f32, handicap: usize) -> Option<Game> {
    let game = Game::new(size, rules, komi);
    match handicap {
        0 => Some(game),
        _ => game.with_handicap(&fixed_handicap(size, handicap)?).ok(),
    }
}

impl GameTable {
    /// Creates a table with an empty board, a person as Black and the engine as White.
    pub(super) fn new(size: BoardSize, rules: Rules, komi: f32, engines: usize) -> GameTable {
        GameTable::of_tree(GameTree::new(Game::new(size, rules, komi)), engines)
    }

    /// Creates a table from a tree, with the head at its root.
    fn of_tree(tree: GameTree, engines: usize) -> GameTable {
        let clock = Clock::new(TimeControl::None);
        GameTable {
            head: tree.root(),
            game: Box::new(tree.game_at(tree.root())),
            tree,
            endings: BTreeMap::new(),
            studied_from: None,
            results: BTreeMap::new(),
            seats: ByColor::new(PlayerKind::Person, kosumi(DEFAULT_LEVEL)),
            names: ByColor::default(),
            date: None,
            phase: Phase::Playing,
            clocks: ByColor::new(clock, clock),
            turn_began: None,
            clocks_before: Vec::new(),
            is_paused: false,
            engines,
        }
    }

    /// Returns the current game.
    pub(super) fn game(&self) -> &Game {
        &self.game
    }

    /// Returns the game tree.
    pub(super) fn tree(&self) -> &GameTree {
        &self.tree
    }

    /// Returns the node at which play continues.
    pub(super) fn head(&self) -> NodeId {
        self.head
    }

    /// Returns whether moves of both colours are played at any node.
    pub(super) fn is_study(&self) -> bool {
        self.studied_from.is_some()
    }

    /// Returns the phase of the game.
    pub(super) fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Returns the player of the side to move, while play is in progress.
    pub(super) fn seat_on_turn(&self) -> Option<&PlayerKind> {
        let is_on = self.phase == Phase::Playing && !self.is_study();
        is_on.then(|| &self.seats[self.game.to_move()])
    }

    /// Returns whether no person plays.
    pub(super) fn is_without_people(&self) -> bool {
        !self.is_study() && Color::BOTH.iter().all(|&color| self.seats[color] != PlayerKind::Person)
    }

    /// Returns whether engines must wait.
    pub(super) fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Returns whether the board is empty and no move has been played.
    pub(super) fn is_fresh(&self) -> bool {
        let root = self.tree.root();
        self.tree.children(root).is_empty() && self.game.board().stone_count() == 0
    }

    /// Starts a new game.
    pub(super) fn begin(&mut self, wanted: &NewGame) -> Result<(), Refusal> {
        let bad = Refusal::BadSettings;
        let (size, rules) = (wanted.size().ok_or(bad)?, wanted.rules().ok_or(bad)?);
        let usual = if wanted.handicap > 0 { 0.5 } else { rules.usual_komi() };
        let komi = wanted.komi.unwrap_or(usual);
        if !Rules::accepts_komi(komi.into()) {
            return Err(bad);
        }
        let control = wanted.clock.control().ok_or(bad)?;
        if [&wanted.black, &wanted.white].into_iter().any(|seat| !is_known(seat, self.engines)) {
            return Err(bad);
        }
        let game = game_with_handicap(size, rules, komi, wanted.handicap).ok_or(bad)?;
        let clock = Clock::new(control);
        *self = GameTable {
            seats: ByColor::new(wanted.black.clone(), wanted.white.clone()),
            clocks: ByColor::new(clock, clock),
            ..GameTable::of_tree(GameTree::new(game), self.engines)
        };
        Ok(())
    }

    /// Loads a record with all variations into the study mode, at the end of its main line, with two people as players.
    /// Refuses a record whose main line cannot be followed to its end, unless `is_partial` is set. Returns messages
    /// about the record, one per line.
    pub(super) fn load(&mut self, bytes: &[u8], is_partial: bool) -> Result<Vec<String>, BadRecord> {
        let opened = GameTree::open(bytes, self.game.rules(), is_partial)?;
        let OpenedTree { tree, record, is_whole, notes } = opened;
        let mut table = GameTable {
            seats: ByColor::new(PlayerKind::Person, PlayerKind::Person),
            names: ByColor::new(record.black.clone(), record.white.clone()),
            date: record.date.clone(),
            ..GameTable::of_tree(tree, self.engines)
        };
        let end = table.tree.end_of(table.head);
        table.studied_from = Some(end);
        table.go(end, Duration::ZERO);
        if let Some(result) = record.result.filter(|text| is_whole && !text.is_empty() && text != "?") {
            if !table.game.is_over() {
                table.phase = Phase::Over(result.clone());
            }
            table.endings.insert(end, result);
        }
        *self = table;
        Ok(notes)
    }

    /// Returns the phase of the game at the head.
    fn phase_at_head(&self) -> Phase {
        match self.endings.get(&self.head) {
            Some(result) => Phase::Over(result.clone()),
            None if !self.game.is_over() => Phase::Playing,
            None if self.game.rules().friendly_pass => Phase::Marking(PointSet::EMPTY),
            None => Phase::Over(self.score(&PointSet::EMPTY)),
        }
    }

    /// Ends the game at the head with a result.
    fn end(&mut self, result: String) {
        self.turn_began = None;
        self.endings.insert(self.head, result.clone());
        self.phase = Phase::Over(result);
    }

    /// Moves the head to a node, from which play continues.
    fn go(&mut self, node: NodeId, now: Duration) {
        if node != self.head {
            let is_back = self.tree.is_on_path(node, self.head);
            self.head = node;
            *self.game = self.tree.game_at(node);
            let left = self.tree.moves(node);
            if is_back && let Some(clocks) = self.clocks_before.get(left) {
                self.clocks = *clocks;
            }
            self.clocks_before.truncate(if is_back { left } else { 0 });
        }
        self.phase = self.phase_at_head();
        self.start_clock(now);
    }

    /// Continues from any node of the tree, with the same players.
    pub(super) fn play_from(&mut self, node: NodeId, now: Duration) {
        self.studied_from = None;
        self.go(node, now);
    }

    /// Starts or ends the study mode. At its end the table returns to the game, if its node is still in the tree.
    pub(super) fn study(&mut self, is_on: bool, now: Duration) {
        match self.studied_from.take() {
            None if is_on => {
                self.pause_clock(now);
                self.studied_from = Some(self.head);
                self.start_clock(now);
            }
            Some(game) if !is_on => {
                let node = if self.tree.path(game).is_some() { game } else { self.head };
                self.go(node, now);
            }
            unchanged => self.studied_from = unchanged,
        }
    }

    /// In the study mode, plays a move at any node. A refused move changes nothing.
    pub(super) fn try_move(&mut self, node: NodeId, mv: Move, now: Duration) -> Result<(), Refusal> {
        if node != self.head {
            self.check_move(node, &self.tree.game_at(node), mv)?;
            self.go(node, now);
        }
        self.play(mv, now)
    }

    /// In the study mode, moves the head to a node.
    pub(super) fn look_at(&mut self, node: NodeId, now: Duration) {
        if self.is_study() {
            self.go(node, now);
        }
    }

    /// Sets the comment of a node.
    pub(super) fn comment(&mut self, node: NodeId, text: &str) -> Result<(), Refusal> {
        self.tree.comment(node, text)
    }

    /// Moves the line of a node in front of the variation that it leaves.
    pub(super) fn promote(&mut self, node: NodeId) -> Result<(), Refusal> {
        self.tree.promote(node).ok_or(Refusal::NotNow)
    }

    /// Removes a node with everything below it. During a game the moves of the game stay.
    pub(super) fn remove(&mut self, node: NodeId, now: Duration) -> Result<(), Refusal> {
        let is_above = self.tree.is_on_path(node, self.head);
        if is_above && !self.is_study() {
            return Err(Refusal::NotNow);
        }
        let parent = self.tree.remove(node).ok_or(Refusal::NotNow)?;
        if is_above {
            self.head = parent;
            *self.game = self.tree.game_at(parent);
            self.clocks_before.clear();
            self.phase = self.phase_at_head();
            self.start_clock(now);
        }
        Ok(())
    }

    /// Returns the nodes whose children have changed since the last call.
    pub(super) fn take_changed(&mut self) -> BTreeSet<NodeId> {
        self.tree.take_changed()
    }

    /// Puts back the variation that was removed last, and returns its first node.
    pub(super) fn put_back(&mut self) -> Result<NodeId, Refusal> {
        self.tree.put_back().ok_or(Refusal::NotNow)
    }

    /// Sets the players.
    pub(super) fn seat(&mut self, black: PlayerKind, white: PlayerKind) -> Result<(), Refusal> {
        if [&black, &white].into_iter().any(|seat| !is_known(seat, self.engines)) {
            return Err(Refusal::BadSettings);
        }
        self.seats = ByColor::new(black, white);
        Ok(())
    }

    /// Plays a move of the side to move. If its time has run out, ends the game instead. A move that the tree lacks
    /// becomes a variation, and the main line if the game has not ended elsewhere.
    pub(super) fn play(&mut self, mv: Move, now: Duration) -> Result<(), Refusal> {
        if self.phase != Phase::Playing && !self.is_study() {
            return Err(Refusal::NotNow);
        }
        let color = self.game.to_move();
        let known = self.check_move(self.head, &self.game, mv)?;
        if self.check_flag(now) {
            return Ok(());
        }
        let before = self.clocks;
        if let Some(began) = self.turn_began {
            self.clocks[color].spend(now.saturating_sub(began));
        }
        self.game.play(color, mv)?;
        let main = self.tree.children(self.head).first().copied();
        let Some(node) = known.or_else(|| self.tree.add(self.head, &self.game)) else {
            return Err(Refusal::TooLong);
        };
        let is_finished =
            main.is_some_and(|main| self.endings.keys().any(|&end| self.tree.is_on_path(main, end)));
        if !self.is_study() && !is_finished {
            self.tree.put_first(node);
        }
        self.head = node;
        // In a record, the same side may move again.
        if let Some(turn) = self.tree.to_move(node).filter(|&turn| turn != self.game.to_move()) {
            self.game.set_to_move(turn);
        }
        self.clocks_before.resize(self.tree.moves(node) - 1, before);
        self.clocks_before.push(before);
        self.phase = self.phase_at_head();
        self.start_clock(now);
        if let (Phase::Over(result), true) = (self.phase.clone(), self.game.is_over()) {
            self.end(result);
        }
        Ok(())
    }

    /// Checks a move of the side to move at a node. `game` is the game at the node. Returns the child for the move, if
    /// there is one.
    fn check_move(&self, node: NodeId, game: &Game, mv: Move) -> Result<Option<NodeId>, Refusal> {
        let color = game.to_move();
        let known = self.tree.child(node, color, mv);
        if self.tree.moves(node) >= MAX_MOVES || (known.is_none() && !self.tree.has_space()) {
            return Err(Refusal::TooLong);
        }
        game.check(color, mv).map_err(|reason| GameTable::refusal(game, reason, mv))?;
        Ok(known)
    }

    /// Returns the refusal of an illegal move. Under superko rules, a repetition that retakes a ko is reported as a ko.
    fn refusal(game: &Game, reason: IllegalMove, mv: Move) -> Refusal {
        let Some(last) = game.records().last() else { return reason.into() };
        let takes_back = |point| {
            last.lifted[..] == [point] && last.mv.point().is_some_and(|at| game.board().chain_len(at) == 1)
        };
        if reason == IllegalMove::Superko && mv.point().is_some_and(takes_back) {
            return Refusal::Ko;
        }
        reason.into()
    }

    /// Stores the evaluation of a position, unless a longer search of it is known.
    pub(super) fn add_analysis(&mut self, node: NodeId, evaluation: MoveEvaluation) {
        let known = &mut self.results.entry(node).or_default().analysed;
        if known.is_none_or(|known| known.visits <= evaluation.visits) {
            *known = Some(evaluation);
        }
    }

    /// Stores the engine's evaluation of the latest move.
    pub(super) fn add_evaluation(&mut self, outlook: MoveEvaluation) {
        self.results.entry(self.head).or_default().outlook = Some(outlook);
    }

    /// Stores the results of the judgement of a node. Returns whether they are new.
    pub(super) fn add_judged(&mut self, node: NodeId, judged: Judged) -> bool {
        let known = &mut self.results.entry(node).or_default().judged;
        let is_new = known.as_ref() != Some(&judged);
        *known = Some(judged);
        is_new
    }

    /// Returns the results of the judgement of a node.
    pub(super) fn judged(&self, node: NodeId) -> Option<&Judged> {
        self.results.get(&node)?.judged.as_ref()
    }

    /// Takes moves back until the same person is to move again, or takes back a resignation or a loss on time. The
    /// moves stay in the tree.
    pub(super) fn undo(&mut self, now: Duration) -> bool {
        let person = |color: Color| self.seats[color] == PlayerKind::Person;
        let has_resigned = |color: Color| {
            person(color)
                && matches!(&self.phase, Phase::Over(result) if result.starts_with(color_letter(color.opponent()))
                    && result.ends_with("+R"))
        };
        let is_only_resigned = !self.game.is_over() && Color::BOTH.iter().any(|&color| has_resigned(color));
        let before = self.tree.parent(self.head).filter(|_| self.tree.played(self.head).is_some());
        if is_only_resigned || before.is_none() {
            // A game that ended by resignation or on time continues after an undo.
            let is_over = matches!(self.phase, Phase::Over(_)) && !self.game.is_over();
            if is_over {
                self.endings.remove(&self.head);
                self.phase = Phase::Playing;
                self.start_clock(now);
            }
            return is_over;
        }
        let mut last = self.head;
        let mut target = before;
        while let (Some((color, _)), Some(parent)) = (self.tree.played(last), self.tree.parent(last)) {
            if person(color) {
                target = Some(parent);
                break;
            }
            last = parent;
        }
        self.endings.remove(&self.head);
        if let Some(target) = target {
            self.go(target, now);
        }
        true
    }

    /// Ends the game by a resignation of the side to move.
    pub(super) fn resign(&mut self) -> Result<(), Refusal> {
        if self.phase != Phase::Playing {
            return Err(Refusal::NotNow);
        }
        self.end(format!("{}+R", color_letter(self.game.to_move().opponent())));
        Ok(())
    }

    /// Ends the game by a resignation of the person, also while the engine is to move. Refused in a game between two
    /// engines.
    pub(super) fn resign_person(&mut self) -> Result<(), Refusal> {
        let turn = self.game.to_move();
        if self.phase == Phase::Playing && self.seats[turn] != PlayerKind::Person {
            if self.seats[turn.opponent()] != PlayerKind::Person {
                return Err(Refusal::NotNow);
            }
            self.end(format!("{}+R", color_letter(turn)));
            return Ok(());
        }
        self.resign()
    }

    /// Sets the dead stones at the end of the game.
    pub(super) fn set_dead(&mut self, dead: PointSet) {
        if let Phase::Marking(known) = &mut self.phase {
            *known = dead;
        }
    }

    /// Toggles whether the chain of a stone is dead.
    pub(super) fn mark(&mut self, mv: Move) -> Result<(), Refusal> {
        let (Phase::Marking(dead), Some(point)) = (&mut self.phase, mv.point()) else {
            return Err(Refusal::NotNow);
        };
        let board = self.game.board();
        if board.cell(point).color().is_none() {
            return Err(Refusal::NotNow);
        }
        let was_dead = dead.contains(point);
        for stone in board.chain(point) {
            if was_dead {
                dead.remove(stone);
            } else {
                dead.insert(stone);
            }
        }
        Ok(())
    }

    /// Confirms the dead stones and ends the game.
    pub(super) fn settle(&mut self) -> Result<(), Refusal> {
        let Phase::Marking(dead) = &self.phase else { return Err(Refusal::NotNow) };
        let result = self.score(dead);
        self.end(result);
        Ok(())
    }

    /// Resumes play after two passes by taking both back.
    pub(super) fn resume(&mut self, now: Duration) -> Result<(), Refusal> {
        if !matches!(self.phase, Phase::Marking(_)) {
            return Err(Refusal::NotNow);
        }
        let mut last = self.head;
        while let (Some((_, Move::Pass)), Some(parent)) = (self.tree.played(last), self.tree.parent(last)) {
            last = parent;
        }
        self.go(last, now);
        Ok(())
    }

    fn score(&self, dead: &PointSet) -> String {
        format_score(score::final_score(&self.game, dead))
    }
}
