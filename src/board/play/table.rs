//! Game on a board with players, clocks and an end. Nothing here reads a clock: the time is an argument.

use super::judging::Judged;
use super::message::{
    ClockSettings, GameDetails, KnownNumbers, NewGame, PlayerKind, RestoredGame, parse_place,
};
use super::strength::{DEFAULT_LEVEL, LEVELS, Level, full_name, name_in_records};
use super::task::MoveEvaluation;
use super::tree::{GameTree, MOVES_MOST, OpenedTree};
use crate::review::{HEADING, owners, place, without_ours};
use crate::words::color_letter;
use kosumi_engine::time::{Clock, TimeControl, seconds};
use kosumi_go::board::{BoardSize, ByColor, Color, Move, PointSet};
use kosumi_go::game::{Game, IllegalMove};
use kosumi_go::handicap::{fixed_handicap, star_points};
use kosumi_go::rules::{PRESETS, Rules};
use kosumi_go::score::{self, format_score};
use kosumi_go::sgf::{NodeId, Tree};
use kosumi_net::GameOutcome;
use serde::Serialize;
use serde_json::{Value, json};
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

/// Reason of a refusal. Pages have texts for it.
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

/// Reason why a record is not loaded.
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

/// Numbers of a position that are known.
#[derive(Clone, PartialEq, Debug, Default)]
struct Known {
    /// Evaluation by the longest analysis.
    analysed: Option<MoveEvaluation>,
    /// Evaluation by the engine that played the move to the position.
    outlook: Option<MoveEvaluation>,
    /// Results of a search that is equally long at all positions, and the judgement of the move to the position.
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
    known: BTreeMap<NodeId, Known>,
    seats: ByColor<PlayerKind>,
    /// Players' names in the loaded record.
    names: ByColor<Option<String>>,
    /// Date of the loaded record.
    date: Option<String>,
    phase: Phase,
    clocks: ByColor<Clock>,
    /// Time at which the side to move began its turn, while a clock runs.
    turn_began: Option<Duration>,
    /// Clocks before each move, restored by undo.
    clocks_before: Vec<ByColor<Clock>>,
    is_paused: bool,
    /// Number of engines on the command line.
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

/// Returns a game with handicap stones. Returns `None` if the specification defines no points for this number of
/// stones.
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

    /// Creates a table with a tree, at its root.
    fn of_tree(tree: GameTree, engines: usize) -> GameTable {
        let clock = Clock::new(TimeControl::None);
        GameTable {
            head: tree.root(),
            game: Box::new(tree.start().clone()),
            tree,
            endings: BTreeMap::new(),
            studied_from: None,
            known: BTreeMap::new(),
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

    /// Current game.
    pub(super) fn game(&self) -> &Game {
        &self.game
    }

    /// Game tree.
    pub(super) fn tree(&self) -> &GameTree {
        &self.tree
    }

    /// Node at which play continues.
    pub(super) fn head(&self) -> NodeId {
        self.head
    }

    /// Whether moves of both colours are played at any node.
    pub(super) fn is_study(&self) -> bool {
        self.studied_from.is_some()
    }

    /// Phase of the game.
    pub(super) fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Player to move, while play is in progress.
    pub(super) fn seat_on_turn(&self) -> Option<&PlayerKind> {
        let is_on = self.phase == Phase::Playing && !self.is_study();
        is_on.then(|| &self.seats[self.game.to_move()])
    }

    /// Whether no person plays.
    pub(super) fn is_without_people(&self) -> bool {
        !self.is_study() && Color::BOTH.iter().all(|&color| self.seats[color] != PlayerKind::Person)
    }

    /// Whether engines must wait.
    pub(super) fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Whether the board is empty and no move was played.
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

    /// Loads a game that a page remembers. Its clocks are lost if the page does not know them.
    pub(super) fn restore(&mut self, remembered: &RestoredGame, now: Duration) -> Result<(), Refusal> {
        let mut table = self.clone();
        // This program wrote the record, so faults in it were there before.
        table.load(remembered.text.as_bytes(), true)?;
        table.studied_from = None;
        if let Some(details) = &remembered.details {
            table.restore_details(details)?;
        }
        let is_study = table.is_study();
        table.go(table.tree.root(), Duration::ZERO);
        // The moves of the line that the record lacks were played after it was sent.
        table.studied_from.get_or_insert(table.head);
        for place in remembered.line.iter().take(MOVES_MOST) {
            let children = table.tree.children(table.head);
            if let Some(number) = place.strip_prefix('=') {
                let number: usize = number.parse().map_err(|_| Refusal::BadMessage)?;
                table.go(*children.get(number).ok_or(Refusal::BadMessage)?, Duration::ZERO);
                continue;
            }
            let mv = parse_place(table.game.size(), place).ok_or(Refusal::OffBoard)?;
            let is_move = |&child: &NodeId| table.tree.played(child).is_some_and(|it| it.1 == mv);
            match children.into_iter().find(is_move) {
                Some(child) => table.go(child, Duration::ZERO),
                None => table.play(mv, Duration::ZERO)?,
            }
        }
        if !is_study {
            table.studied_from = None;
        }
        match &remembered.result {
            Some(result) => table.end(result.clone()),
            None => {
                table.endings.remove(&table.head);
                table.phase = table.phase_at_head();
            }
        }
        table.seat(remembered.black.clone(), remembered.white.clone())?;
        table.turn_began = None;
        table.start_clock(now);
        *self = table;
        Ok(())
    }

    /// Restores what a record does not contain.
    fn restore_details(&mut self, details: &GameDetails) -> Result<(), Refusal> {
        let bad = Refusal::BadMessage;
        let clock = Clock::new(details.clock.control().ok_or(bad)?);
        self.clocks = ByColor::new(clock, clock);
        for (color, &(left, periods)) in Color::BOTH.into_iter().zip(&details.left) {
            if clock.control() != TimeControl::None {
                self.clocks[color].set_time_left(seconds(left), periods);
            }
        }
        let node = |number: usize| self.tree.node(number).ok_or(bad);
        self.studied_from = details.studied_from.map(node).transpose()?;
        let endings = details.endings.iter().map(|(number, result)| Ok((node(*number)?, result.clone())));
        self.endings = endings.collect::<Result<_, Refusal>>()?;
        let evaluation = |it: (f32, f32, u32)| MoveEvaluation { win_rate: it.0, score: it.1, visits: it.2 };
        let known = details.known.iter().map(|it| {
            let known = Known {
                analysed: it.analysed.map(evaluation),
                outlook: it.outlook.map(evaluation),
                judged: it.judged.clone(),
            };
            Ok((node(it.node)?, known))
        });
        self.known = known.collect::<Result<_, Refusal>>()?;
        self.is_paused = details.paused;
        Ok(())
    }

    /// Returns all that [`restore`](GameTable::restore) needs.
    pub(super) fn remembered(&self, date: Option<String>, now: Duration) -> RestoredGame {
        let size = self.game.size();
        let left = |color: Color| {
            let (left, periods) = self.time_left(now).map_or((Duration::ZERO, 0), |(_, left)| left[color]);
            (left.as_secs_f64(), periods)
        };
        let evaluation = |it: &MoveEvaluation| (it.win_rate, it.score, it.visits);
        // Nodes are numbered anew, in the order of the record.
        let numbers = self.tree.numbers();
        let number = |id: NodeId| numbers.get(id.number()).copied().flatten();
        let known = self.known.iter().filter_map(|(&id, it)| {
            Some(KnownNumbers {
                node: number(id)?,
                analysed: it.analysed.as_ref().map(evaluation),
                outlook: it.outlook.as_ref().map(evaluation),
                judged: it.judged.clone(),
            })
        });
        let path = self.tree.path(self.head).unwrap_or_default();
        let place_of = |pair: &[NodeId]| match self.tree.played(pair[1]) {
            Some((_, mv)) => place(size, mv),
            None => {
                let children = self.tree.children(pair[0]);
                format!("={}", children.iter().position(|&child| child == pair[1]).unwrap_or(0))
            }
        };
        let mut tree = self.tree.record().clone();
        self.put_facts(&mut tree, &self.names, date);
        RestoredGame {
            text: tree.to_string(),
            line: path.windows(2).map(place_of).collect(),
            result: match &self.phase {
                Phase::Over(result) => Some(result.clone()),
                _ => None,
            },
            black: self.seats[Color::Black].clone(),
            white: self.seats[Color::White].clone(),
            details: Some(GameDetails {
                clock: ClockSettings::of(self.clocks[Color::Black].control()),
                left: Color::BOTH.map(left),
                paused: self.is_paused,
                studied_from: self.studied_from.map(|id| number(id).unwrap_or(0)),
                endings: self
                    .endings
                    .iter()
                    .filter_map(|(&id, result)| Some((number(id)?, result.clone())))
                    .collect(),
                known: known.collect(),
            }),
        }
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

    /// Moves the head to a node, from which play goes on.
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

    /// Continues from any node of the tree, with the players of the game.
    pub(super) fn play_from(&mut self, node: NodeId, now: Duration) {
        self.studied_from = None;
        self.go(node, now);
    }

    /// Starts or ends the study mode. Its end returns to the game, if that is still in the tree.
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

    /// Plays a move at any node, in the study mode. A refused move changes nothing.
    pub(super) fn try_move(&mut self, node: NodeId, mv: Move, now: Duration) -> Result<(), Refusal> {
        if node != self.head {
            self.check_move(node, &self.tree.game_at(node), mv)?;
            self.go(node, now);
        }
        self.play(mv, now)
    }

    /// Moves the head to a node, in the study mode.
    pub(super) fn look_at(&mut self, node: NodeId, now: Duration) {
        if self.is_study() {
            self.go(node, now);
        }
    }

    /// Sets the comment of a node.
    pub(super) fn comment(&mut self, node: NodeId, text: &str) -> Result<(), Refusal> {
        self.tree.comment(node, text)
    }

    /// Makes the line of a node the first one where it leaves an earlier variation.
    pub(super) fn promote(&mut self, node: NodeId) -> Result<(), Refusal> {
        self.tree.promote(node).ok_or(Refusal::NotNow)
    }

    /// Removes a node with all that follows. During a game the moves of the game stay.
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

    /// Puts the variation back that was removed last, and returns its first node.
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

    /// Plays a move of the side to move. If its time has run out, the game ends instead. A move that the tree lacks
    /// becomes a variation. In a game that goes on, it becomes the main line.
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
        self.clocks_before.resize(self.tree.moves(node) - 1, before);
        self.clocks_before.push(before);
        self.phase = self.phase_at_head();
        self.start_clock(now);
        if let (Phase::Over(result), true) = (self.phase.clone(), self.game.is_over()) {
            self.end(result);
        }
        Ok(())
    }

    /// Checks a move of the side to move at a node with this game. Returns its node if the tree has it.
    fn check_move(&self, node: NodeId, game: &Game, mv: Move) -> Result<Option<NodeId>, Refusal> {
        let color = game.to_move();
        let known = self.tree.child(node, color, mv);
        if self.tree.moves(node) >= MOVES_MOST || (known.is_none() && !self.tree.has_space()) {
            return Err(Refusal::TooLong);
        }
        game.check(color, mv).map_err(|reason| GameTable::refusal(game, reason, mv))?;
        Ok(known)
    }

    /// Returns the refusal of an illegal move. Under superko rules the repetition that takes back a ko is called a ko.
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
        let known = &mut self.known.entry(node).or_default().analysed;
        if known.is_none_or(|known| known.visits <= evaluation.visits) {
            *known = Some(evaluation);
        }
    }

    /// Stores the engine's evaluation of the latest move.
    pub(super) fn add_evaluation(&mut self, outlook: MoveEvaluation) {
        self.known.entry(self.head).or_default().outlook = Some(outlook);
    }

    /// Stores the results of the judgement of a node. Returns whether they are new.
    pub(super) fn add_judged(&mut self, node: NodeId, judged: Judged) -> bool {
        let known = &mut self.known.entry(node).or_default().judged;
        let is_new = known.as_ref() != Some(&judged);
        *known = Some(judged);
        is_new
    }

    /// Returns the results of the judgement of a node.
    pub(super) fn judged(&self, node: NodeId) -> Option<&Judged> {
        self.known.get(&node)?.judged.as_ref()
    }

    /// Starts the clock of the side to move. Clocks run from the first move on.
    fn start_clock(&mut self, now: Duration) {
        let is_timed = self.clocks[Color::Black].control() != TimeControl::None;
        let runs = is_timed
            && self.phase == Phase::Playing
            && !self.is_paused
            && !self.is_study()
            && !self.game.records().is_empty();
        self.turn_began = runs.then_some(now);
    }

    /// Ends the game if the time of the side to move has run out. Returns whether it has.
    pub(super) fn check_flag(&mut self, now: Duration) -> bool {
        let (Phase::Playing, Some(began)) = (&self.phase, self.turn_began) else { return false };
        let color = self.game.to_move();
        let mut clock = self.clocks[color];
        if clock.spend(now.saturating_sub(began)) {
            return false;
        }
        self.clocks[color] = clock;
        self.end(format!("{}+T", color_letter(color.opponent())));
        true
    }

    /// Time at which the side to move runs out of time; `None` if no clock runs.
    pub(super) fn flag_time(&self) -> Option<Duration> {
        let began = self.turn_began?;
        let clock = &self.clocks[self.game.to_move()];
        let whole = match clock.control() {
            TimeControl::ByoYomi { period, .. } if clock.is_overtime() => {
                clock.left() + period * clock.stones_or_periods().saturating_sub(1)
            }
            TimeControl::ByoYomi { period, periods, .. } => clock.left() + period * periods,
            _ => clock.left(),
        };
        Some(began + whole)
    }

    /// Pauses or resumes engines and clocks.
    pub(super) fn pause(&mut self, is_paused: bool, now: Duration) {
        if self.is_paused == is_paused {
            return;
        }
        // A side whose time has already run out is not saved by a pause.
        self.check_flag(now);
        self.is_paused = is_paused;
        if is_paused {
            self.pause_clock(now);
        } else {
            self.start_clock(now);
        }
    }

    /// Stops the clock, and deducts the time of the turn.
    fn pause_clock(&mut self, now: Duration) {
        if let Some(began) = self.turn_began.take() {
            self.clocks[self.game.to_move()].deduct(now.saturating_sub(began));
        }
    }

    /// Takes moves back until the same person is to move again, or takes a resignation back. The moves stay in the tree.
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
            // A game that ended by resignation or on time can be continued.
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

    /// Resigns for the side to move.
    pub(super) fn resign(&mut self) -> Result<(), Refusal> {
        if self.phase != Phase::Playing {
            return Err(Refusal::NotNow);
        }
        self.end(format!("{}+R", color_letter(self.game.to_move().opponent())));
        Ok(())
    }

    /// Resigns for the person, with the other colour if an engine is to move. Refused between two engines.
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

    /// Returns the time control and each player's time left, with stones or periods, for an engine.
    pub(super) fn time_left(&self, now: Duration) -> Option<(TimeControl, ByColor<(Duration, u32)>)> {
        let control = self.clocks[Color::Black].control();
        if control == TimeControl::None {
            return None;
        }
        let left = |color: Color| {
            let mut clock = self.clocks[color];
            if let Some(began) = self.turn_began.filter(|_| color == self.game.to_move()) {
                clock.deduct(now.saturating_sub(began));
            }
            (clock.left(), clock.stones_or_periods())
        };
        Some((control, ByColor::new(left(Color::Black), left(Color::White))))
    }

    /// Returns a player's name for records.
    fn name(&self, color: Color, engines: &[String]) -> Option<String> {
        let of_seat = match &self.seats[color] {
            PlayerKind::Person => None,
            PlayerKind::Kosumi { level } => {
                Some(format!("Kosumi {} ({})", env!("CARGO_PKG_VERSION"), name_in_records(level)))
            }
            PlayerKind::Engine { number } => engines.get(*number).cloned(),
        };
        self.names[color].clone().or(of_seat)
    }

    /// Returns the record with all variations, comments and marks, and with the findings of the engine. `date` is for
    /// games that began here.
    pub(super) fn record(&self, engines: &[String], date: Option<String>) -> Tree {
        let mut tree = self.tree.record().clone();
        let names = ByColor::new(self.name(Color::Black, engines), self.name(Color::White, engines));
        self.put_facts(&mut tree, &names, date);
        for (&id, known) in &self.known {
            let outlook = known.outlook.map(|it| {
                let lead = format_score((it.score * 10.0).round() / 10.0);
                format!("B {:.1} %, {lead}, {} visits", 100.0 * it.win_rate, it.visits)
            });
            let judged = known.judged.as_ref().map(|it| it.text.clone()).filter(|text| !text.is_empty());
            let lines: Vec<String> = outlook.into_iter().chain(judged).collect();
            if !lines.is_empty() {
                let own = tree.node(id).text("C").map(|text| without_ours(&text)).unwrap_or_default();
                let gap = if own.is_empty() { "" } else { "\n\n" };
                tree.at(id).comment(&format!("{own}{gap}{HEADING}\n{}", lines.join("\n")));
            }
        }
        tree
    }

    /// Writes the facts about the game into the root of its record.
    fn put_facts(&self, tree: &mut Tree, names: &ByColor<Option<String>>, date: Option<String>) {
        let root = tree.root();
        let main = self.tree.path(self.tree.end_of(root)).unwrap_or_default();
        let result = main.iter().rev().find_map(|id| self.endings.get(id));
        let date = self.date.clone().or(date);
        let facts = [
            ("PB", names[Color::Black].as_ref()),
            ("PW", names[Color::White].as_ref()),
            ("RE", result),
            ("DT", date.as_ref()),
        ];
        for (name, fact) in facts {
            tree.at(root).line(name, fact.map_or("", String::as_str));
        }
        let control = self.clocks[Color::Black].control();
        if control != TimeControl::None {
            let main = control.main_time().unwrap_or_default().as_secs_f64();
            let overtime = control.overtime_text().unwrap_or_default();
            tree.at(root).number("TM", main).line("OT", &overtime);
        }
    }

    /// Returns the state that pages draw.
    pub(super) fn state(&self, now: Duration) -> Value {
        let (game, size) = (&self.game, self.game.size());
        let at = |point| place(size, Move::Play(point));
        let (dead, area, count) = match &self.phase {
            Phase::Marking(dead) => {
                let owner = score::scoring_owner(game.board(), dead, game.rules());
                let mean = |point| owner[point].map_or(0.0, |owner: Color| owner.sign() as f32);
                let means: Vec<f32> = size.points().map(mean).collect();
                let dead: String = dead.iter().map(at).collect();
                (dead, owners(size, &means), Some(self.score_parts(self.dead())))
            }
            _ => (String::new(), String::new(), None),
        };
        let rules = game.rules();
        json!({
            "is": "state",
            "columns": size.columns(),
            "rows": size.rows(),
            "stars": star_points(size).into_iter().map(at).collect::<String>(),
            "rules": rules.code_name(),
            "friendly": rules.friendly_pass,
            "komi": game.komi(),
            "handicap": game.handicap(),
            "lost": {
                "B": self.tree.start().start().prisoners(Color::Black),
                "W": self.tree.start().start().prisoners(Color::White),
            },
            "at": self.head.number(),
            "count_moves": self.tree.moves(self.head),
            "study": self.is_study(),
            "removed": self.tree.removed(),
            "turn": color_letter(game.to_move()).to_string(),
            "seats": { "B": self.seats[Color::Black], "W": self.seats[Color::White] },
            "names": { "B": self.names[Color::Black], "W": self.names[Color::White] },
            "clock": self.clock_state(now),
            "phase": match &self.phase {
                Phase::Playing => "playing",
                Phase::Marking(_) => "marking",
                Phase::Over(_) => "over",
            },
            "result": match &self.phase { Phase::Over(result) => Some(result), _ => None },
            "adapted": self.adapted_level(),
            "dead": dead,
            "area": area,
            "count": count,
            "paused": self.is_paused,
        })
    }

    /// Returns a node with its numbers as data for pages.
    pub(super) fn node_data(&self, id: NodeId) -> Value {
        let mut data = self.tree.data(id);
        if let (Value::Object(data), Some(known)) = (&mut data, self.known.get(&id)) {
            if let Some(it) = known.analysed.or(known.outlook) {
                let packed = [(it.win_rate * 1000.0).round(), (it.score * 10.0).round()].map(|it| it as i64);
                data.insert("e".to_owned(), json!([packed[0], packed[1], it.visits]));
            }
            if let Some(judged) = &known.judged {
                data.insert("j".to_owned(), judged.data());
            }
        }
        data
    }

    /// Returns the tree from a node on as data for pages, each node after its parent.
    pub(super) fn tree_data(&self, from: NodeId) -> Vec<Value> {
        self.tree.nodes_from(from).into_iter().map(|id| self.node_data(id)).collect()
    }

    /// Returns the adaptive level for the next game, after a game of one adaptive player that has a result.
    fn adapted_level(&self) -> Option<String> {
        let Phase::Over(result) = &self.phase else { return None };
        if self.is_study() {
            return None;
        }
        let winner = match result.chars().next()? {
            'B' => Some(Color::Black),
            'W' => Some(Color::White),
            '0' | 'D' => None,
            _ => return None,
        };
        let mut found = Color::BOTH.into_iter().filter_map(|color| {
            let PlayerKind::Kosumi { level } = &self.seats[color] else { return None };
            let outcome = match winner {
                Some(winner) if winner == color => GameOutcome::Won,
                Some(_) => GameOutcome::Lost,
                None => GameOutcome::Drawn,
            };
            Level::named(level)?.name_after(outcome)
        });
        found.next().filter(|_| found.next().is_none())
    }

    fn dead(&self) -> &PointSet {
        match &self.phase {
            Phase::Marking(dead) => dead,
            _ => &PointSet::EMPTY,
        }
    }

    fn score_parts(&self, dead: &PointSet) -> Value {
        let count = score::count(&self.game, dead);
        let of = |color: Color| {
            json!({
                "territory": count.territory[color],
                "stones": count.stones[color],
                "captives": count.captives[color],
            })
        };
        json!({
            "B": of(Color::Black),
            "W": of(Color::White),
            "komi": count.komi,
            "bonus": count.white_bonus,
            "score": format_score(count.black_minus_white),
        })
    }

    fn clock_state(&self, now: Duration) -> Value {
        let control = self.clocks[Color::Black].control();
        let (kind, period) = match control {
            TimeControl::None => return Value::Null,
            TimeControl::ByoYomi { period, .. } => ("byo-yomi", period),
            TimeControl::Fischer { .. } => ("fischer", Duration::ZERO),
            _ => ("absolute", Duration::ZERO),
        };
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let of = |color: Color| {
            let clock = &self.clocks[color];
            let periods = match control {
                TimeControl::ByoYomi { periods, .. } if !clock.is_overtime() => periods,
                _ => clock.stones_or_periods(),
            };
            json!({ "left": milliseconds(clock.left()), "overtime": clock.is_overtime(), "periods": periods })
        };
        json!({
            "kind": kind,
            "period": milliseconds(period),
            "B": of(Color::Black),
            "W": of(Color::White),
            "runs": self.turn_began.map(|_| color_letter(self.game.to_move()).to_string()),
            "passed": self.turn_began.map_or(0, |began| milliseconds(now.saturating_sub(began))),
        })
    }
}

/// Returns the choices that a page offers.
pub(super) fn choices(engines: &[String]) -> Value {
    let rules = PRESETS.iter().map(|preset| json!({ "id": preset.names[0], "komi": preset.komi }));
    json!({
        "is": "choices",
        "levels": LEVELS,
        "usual": DEFAULT_LEVEL,
        "adaptive": full_name(DEFAULT_LEVEL),
        "rules": rules.collect::<Vec<Value>>(),
        "engines": engines,
        "version": env!("CARGO_PKG_VERSION"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::ZERO;

    fn table(side: usize) -> GameTable {
        GameTable::new(BoardSize::square(side).unwrap(), Rules::default(), 7.5, 0)
    }

    fn wanted(side: usize) -> NewGame {
        NewGame {
            columns: side,
            rows: side,
            handicap: 0,
            komi: None,
            rules: "chinese-kgs".to_owned(),
            black: PlayerKind::Person,
            white: PlayerKind::Person,
            clock: ClockSettings::None,
        }
    }

    fn play(table: &mut GameTable, places: &[&str], now: Duration) {
        for place in places {
            let mv = parse_place(table.game.size(), place).unwrap();
            table.play(mv, now).unwrap();
        }
    }

    #[test]
    fn a_game_from_the_first_move_to_the_result() {
        let mut table = table(5);
        table.begin(&NewGame { komi: Some(0.5), ..wanted(5) }).unwrap();
        play(&mut table, &["cc", "aa", "bb", "--", "--"], NOW);
        assert!(matches!(table.phase, Phase::Marking(_)));
        table.mark(parse_place(table.game.size(), "aa").unwrap()).unwrap();
        assert_eq!(table.state(NOW)["count"]["score"], "B+24.5");
        assert_eq!(table.state(NOW)["dead"], "aa");
        table.settle().unwrap();
        assert_eq!(table.phase, Phase::Over("B+24.5".to_owned()));
        let text = table.record(&[], None).to_string();
        assert!(text.contains("RE[B+24.5]"), "{text}");
        let mut loaded = GameTable::new(BoardSize::square(19).unwrap(), Rules::default(), 7.5, 0);
        loaded.load(text.as_bytes(), false).unwrap();
        assert_eq!(loaded.game.records().len(), 5);
        assert_eq!(table.play(Move::Pass, NOW), Err(Refusal::NotNow));
    }

    #[test]
    fn refused_is_what_the_rules_forbid_and_nothing_changes() {
        let mut table = table(5);
        table.begin(&wanted(5)).unwrap();
        play(&mut table, &["aa"], NOW);
        let size = table.game.size();
        assert_eq!(table.play(parse_place(size, "aa").unwrap(), NOW), Err(Refusal::Occupied));
        for (change, name) in [
            (NewGame { columns: 26, ..wanted(5) }, "size"),
            (NewGame { columns: 0, ..wanted(5) }, "no size"),
            (NewGame { handicap: 9, ..wanted(5) }, "handicap"),
            (NewGame { handicap: 1, ..wanted(19) }, "handicap of one"),
            (NewGame { komi: Some(f32::NAN), ..wanted(9) }, "komi"),
            (NewGame { komi: Some(0.3), ..wanted(9) }, "komi in tenths"),
            (NewGame { rules: "mahjong".into(), ..wanted(9) }, "rules"),
            (NewGame { white: PlayerKind::Engine { number: 0 }, ..wanted(9) }, "engine"),
            (NewGame { black: PlayerKind::Kosumi { level: "god".into() }, ..wanted(9) }, "level"),
            (NewGame { clock: ClockSettings::Absolute { main: -1.0 }, ..wanted(9) }, "clock"),
        ] {
            assert_eq!(table.begin(&change), Err(Refusal::BadSettings), "{name}");
        }
        assert_eq!(table.load(b"no record", true).unwrap_err().refusal, Refusal::BadRecord);
        let broken = b"(;SZ[9];B[ee];W[ee];B[dd])";
        let bad = table.load(broken, false).unwrap_err();
        assert_eq!(
            (bad.text.as_str(), bad.can_be_partial),
            ("move 2, White E5: occupied (at byte 16)", true)
        );
        assert_eq!((table.game.records().len(), table.game.size()), (1, BoardSize::square(5).unwrap()));
        assert_eq!(table.load(broken, true).unwrap(), ["move 2, White E5: occupied (at byte 16)"]);
        assert_eq!((table.game.records().len(), &table.phase), (1, &Phase::Playing));
        let notes = table.load("(;SZ[9]RU[mahjong]PB[\u{e9}]CA[GBK];B[ee])".as_bytes(), false).unwrap();
        assert_eq!(notes.len(), 2, "{notes:?}");
    }

    #[test]
    fn saved_records_have_a_date_and_names() {
        let mut table = table(9);
        let today = || Some("2026-01-31".to_owned());
        table.begin(&NewGame { white: kosumi(DEFAULT_LEVEL), ..wanted(9) }).unwrap();
        let text = table.record(&[], today()).to_string();
        assert!(
            text.contains("DT[2026-01-31]") && text.contains("PW[Kosumi ") && !text.contains("PB["),
            "{text}"
        );
        table.load(b"(;SZ[9]PB[Ann]PW[Bob]DT[1999];B[ee])", false).unwrap();
        let text = table.record(&[], today()).to_string();
        assert!(text.contains("DT[1999]") && text.contains("PB[Ann]PW[Bob]"), "{text}");
    }

    #[test]
    fn a_remembered_game_is_restored_from_its_record_and_later_moves() {
        let remembered = |text: &str, line: &[&str], result: Option<&str>| RestoredGame {
            text: text.to_owned(),
            line: line.iter().map(|&place| place.to_owned()).collect(),
            result: result.map(str::to_owned),
            black: PlayerKind::Person,
            white: kosumi(DEFAULT_LEVEL),
            details: None,
        };
        let mut first = table(9);
        first.begin(&NewGame { handicap: 2, ..wanted(9) }).unwrap();
        play(&mut first, &["cc", "gg"], NOW);
        let text = first.record(&[], Some("2026-01-31".to_owned())).to_string();
        go_to(&mut first, 1);
        play(&mut first, &["eg", "--", "--"], NOW);
        let mut restored = table(19);
        restored.restore(&remembered(&text, &["cc", "eg", "--", "--"], None), NOW).unwrap();
        assert_eq!(restored.game.graph_key(), first.game.graph_key());
        assert_eq!((&restored.phase, restored.date.as_deref()), (&first.phase, Some("2026-01-31")));
        assert_eq!(restored.seats[Color::Black], PlayerKind::Person);
        assert_eq!(variations(&restored), 1, "the line that was left stays");
        restored.restore(&remembered(&text, &["cc", "gg"], Some("W+R")), NOW).unwrap();
        assert_eq!((restored.game.records().len(), &restored.phase), (2, &Phase::Over("W+R".to_owned())));
        // The record was sent when the game was over, and the game was continued.
        let over = restored.record(&[], None).to_string();
        restored.restore(&remembered(&over, &["cc", "gg"], None), NOW).unwrap();
        assert_eq!((restored.game.records().len(), &restored.phase), (2, &Phase::Playing));
        restored.restore(&remembered(&over, &["cc", "gg", "dd"], None), NOW).unwrap();
        assert_eq!((restored.game.records().len(), &restored.phase), (3, &Phase::Playing));
        for (bad, why) in [
            (remembered("no record", &[], None), Refusal::BadRecord),
            (remembered(&text, &["=1"], None), Refusal::BadMessage),
            (remembered(&text, &["cc", "zz"], None), Refusal::OffBoard),
            (remembered(&text, &["cc", "gg", "cc"], None), Refusal::Occupied),
            (
                RestoredGame { black: PlayerKind::Engine { number: 0 }, ..remembered(&text, &[], None) },
                Refusal::BadSettings,
            ),
        ] {
            assert_eq!(restored.restore(&bad, NOW), Err(why), "{bad:?}");
            assert_eq!((restored.game.records().len(), &restored.phase), (3, &Phase::Playing), "{bad:?}");
        }
    }

    #[test]
    fn undo_goes_back_to_the_person() {
        let mut table = table(9);
        let kosumi = kosumi(DEFAULT_LEVEL);
        table.begin(&NewGame { white: kosumi, ..wanted(9) }).unwrap();
        play(&mut table, &["cc", "gg", "cg", "gc"], NOW);
        assert!(table.undo(NOW));
        assert_eq!(table.game.records().len(), 2);
        assert_eq!(table.tree.children(table.head).len(), 1, "what was taken back stays in the tree");
        assert!(table.undo(NOW));
        assert!(!table.undo(NOW));
        play(&mut table, &["cc"], NOW);
        table.resign_person().unwrap();
        assert_eq!(table.phase, Phase::Over("W+R".to_owned()), "the person, although the engine is on turn");
        assert!(table.undo(NOW), "undo takes the resignation back");
        assert_eq!((&table.phase, table.game.records().len()), (&Phase::Playing, 1), "and no move");
        table.resign().unwrap();
        assert_eq!(table.phase, Phase::Over("B+R".to_owned()), "the engine");
        assert!(table.undo(NOW), "after the end the game can be gone on with");
        assert_eq!(
            (&table.phase, table.game.records().len()),
            (&Phase::Playing, 0),
            "before the person's move"
        );
    }

    /// Number of variations of the record.
    fn variations(table: &GameTable) -> usize {
        let tree = &table.tree;
        tree.nodes_from(tree.root()).iter().map(|&id| tree.children(id).len().saturating_sub(1)).sum()
    }

    /// Continues the game after this number of its moves.
    fn go_to(table: &mut GameTable, moves: usize) {
        let node = table.tree.path(table.head).unwrap()[moves];
        table.play_from(node, NOW);
    }

    fn text_of(table: &GameTable) -> String {
        table.record(&[], None).to_string().replace('\n', "")
    }

    #[test]
    fn playing_on_from_an_earlier_move_keeps_the_rest() {
        let mut table = table(9);
        table.begin(&wanted(9)).unwrap();
        play(&mut table, &["cc", "gg", "cg", "gc"], NOW);
        let end = table.head;
        let evaluation = |visits| MoveEvaluation { win_rate: 0.5, score: 0.0, visits };
        table.add_analysis(end, evaluation(10));
        table.add_analysis(end, evaluation(5));
        assert_eq!(table.known[&end].analysed.unwrap().visits, 10, "the longer search stays");
        go_to(&mut table, 2);
        play(&mut table, &["ee"], NOW);
        let text = text_of(&table);
        assert!(text.contains(";W[gg](;B[ee])(;B[cg];W[gc])"), "the game is the main line: {text}");
        assert_eq!(Tree::parse(text.as_bytes()).unwrap().main_line().len(), 4);
        assert!(table.known.contains_key(&end), "and nothing was forgotten");
        // Back on the old way there are no more variations than before.
        go_to(&mut table, 2);
        play(&mut table, &["cg"], NOW);
        let text = text_of(&table);
        assert!(text.contains(";W[gg](;B[cg];W[gc])(;B[ee])"), "{text}");
        // A game that has ended stays the main line.
        go_to(&mut table, 3);
        play(&mut table, &["gc"], NOW);
        table.resign().unwrap();
        go_to(&mut table, 1);
        play(&mut table, &["aa"], NOW);
        let text = text_of(&table);
        assert!(
            text.contains(";B[cc](;W[gg](;B[cg];W[gc])(;B[ee]))(;W[aa])") && text.contains("RE[W+R]"),
            "{text}"
        );
        table.begin(&wanted(9)).unwrap();
        assert!(table.known.is_empty() && table.tree.node_count() == 1);
    }

    #[test]
    fn the_study_mode_plays_anywhere_and_returns_to_the_game() {
        let mut table = table(9);
        let kosumi = kosumi(DEFAULT_LEVEL);
        table.begin(&NewGame { white: kosumi, ..wanted(9) }).unwrap();
        play(&mut table, &["cc", "gg"], NOW);
        let (game, root) = (table.head, table.tree.root());
        table.study(true, NOW);
        assert_eq!(table.seat_on_turn(), None);
        let mv = |place| parse_place(BoardSize::square(9).unwrap(), place).unwrap();
        table.try_move(root, mv("ee"), NOW).unwrap();
        play(&mut table, &["dd", "de"], NOW);
        let tried = table.head;
        assert_eq!(table.try_move(game, mv("cc"), NOW), Err(Refusal::Occupied));
        assert_eq!((table.head, table.tree.children(root).len()), (tried, 2), "nothing has changed");
        table.study(false, NOW);
        assert_eq!((table.head, table.seat_on_turn()), (game, Some(&PlayerKind::Person)));
        assert!(text_of(&table).contains("(;B[cc];W[gg])(;B[ee];W[dd];B[de])"), "{}", text_of(&table));
    }

    #[test]
    fn a_remembered_game_is_restored_with_its_clocks_and_variations() {
        let second = Duration::from_secs;
        let mut table = table(9);
        let clock = ClockSettings::ByoYomi { main: 10.0, period: 5.0, periods: 3 };
        table.begin(&NewGame { clock, ..wanted(9) }).unwrap();
        play(&mut table, &["cc", "gg", "cg"], second(3));
        let node = table.tree.parent(table.head).unwrap();
        table.play_from(node, second(3));
        play(&mut table, &["ee"], second(16));
        table.add_analysis(node, MoveEvaluation { win_rate: 0.25, score: -1.5, visits: 7 });
        table.comment(node, "a [comment]\nof two lines").unwrap();
        let back = |table: &GameTable, now| {
            let text = serde_json::to_string(&table.remembered(None, now)).unwrap();
            let mut other = GameTable::new(BoardSize::square(5).unwrap(), Rules::default(), 7.5, 0);
            other.restore(&serde_json::from_str(&text).unwrap(), second(100)).unwrap();
            other
        };
        let restored = back(&table, second(18));
        let state = |table: &GameTable, now: u64| {
            let mut state = table.state(second(now));
            // The same turn continues with the time that was left.
            state["clock"] = json!(format!("{:?}", table.time_left(second(now))));
            state["at"] = Value::Null;
            state["record"] = json!(table.record(&[], None).to_string());
            state["tree"] = json!(
                table
                    .tree_data(table.tree.root())
                    .iter()
                    .map(|it| (it["m"].clone(), it["c"].clone(), it["e"].clone()))
                    .collect::<Vec<_>>()
            );
            state
        };
        assert_eq!(state(&restored, 100), state(&table, 18));
        assert_eq!(restored.flag_time(), Some(second(100) + table.flag_time().unwrap() - second(18)));
        let mut resigned = table.clone();
        resigned.resign().unwrap();
        let mut counted = table.clone();
        play(&mut counted, &["--", "--"], second(20));
        counted.settle().unwrap();
        for over in [resigned, counted] {
            assert!(matches!(over.phase, Phase::Over(_)));
            assert_eq!(back(&over, second(20)).phase, over.phase);
        }
        let mut bad = table.remembered(None, second(18));
        bad.details.as_mut().unwrap().known[0].node = 99;
        assert_eq!(table.restore(&bad, second(18)), Err(Refusal::BadMessage));
    }

    #[test]
    fn a_ko_is_called_a_ko_under_superko_rules() {
        let mut table = table(5);
        table.begin(&wanted(5)).unwrap();
        // White takes the ko at B3.
        play(&mut table, &["bb", "cb", "ac", "dc", "bd", "cd", "cc", "bc"], NOW);
        assert_eq!(table.game.records().last().unwrap().lifted.len(), 1);
        let back = parse_place(table.game.size(), "cc").unwrap();
        assert_eq!(table.play(back, NOW), Err(Refusal::Ko));
    }

    #[test]
    fn time_runs_from_the_first_move_on_and_ends_the_game() {
        let mut table = table(9);
        let clock = ClockSettings::ByoYomi { main: 10.0, period: 5.0, periods: 2 };
        table.begin(&NewGame { clock, ..wanted(9) }).unwrap();
        let second = Duration::from_secs;
        assert_eq!(table.flag_time(), None);
        play(&mut table, &["cc"], second(100));
        assert_eq!(table.flag_time(), Some(second(120)));
        play(&mut table, &["gg"], second(112));
        assert_eq!(table.clock_state(second(112))["W"]["periods"], 2);
        assert_eq!(table.clock_state(second(112))["W"]["overtime"], true);
        assert!(!table.check_flag(second(131)));
        assert!(table.check_flag(second(133)));
        assert_eq!(table.phase, Phase::Over("W+T".to_owned()));
        let node = table.tree.parent(table.head).unwrap();
        table.play_from(node, second(200));
        assert_eq!(table.flag_time(), Some(second(220)), "what was left before the move is left again");
    }

    #[test]
    fn pausing_deducts_the_time_of_the_turn_and_gives_none_back() {
        let second = Duration::from_secs;
        let started = |clock: ClockSettings| {
            let mut table = table(9);
            table.begin(&NewGame { clock, ..wanted(9) }).unwrap();
            play(&mut table, &["cc"], second(100));
            table
        };
        // Pauses from the given time for 1000 s.
        let pause = |table: &mut GameTable, at: u64| {
            table.pause(true, second(at));
            assert_eq!((table.flag_time(), table.check_flag(second(at + 900))), (None, false), "at {at}");
            table.pause(false, second(at + 1000));
        };
        let byo_yomi = ClockSettings::ByoYomi { main: 10.0, period: 5.0, periods: 3 };
        for times in [vec![4], vec![3, 1007], vec![12], vec![18], vec![12, 1016, 2018]] {
            let mut table = started(byo_yomi);
            let mut paused = 0;
            for at in times {
                pause(&mut table, 100 + at);
                paused += 1000;
                assert_eq!(table.flag_time(), Some(second(125 + paused)), "at {at}");
            }
        }
        // White is at 12 s: in the first period, with 3 s of it left.
        let mut table = started(byo_yomi);
        pause(&mut table, 112);
        let left = table.time_left(second(1112)).unwrap().1[Color::White];
        assert_eq!(left, (second(3), 3));
        let left = table.time_left(second(1119)).unwrap().1[Color::White];
        assert_eq!(left, (second(1), 2), "a period was used up");
        play(&mut table, &["gg"], second(1113));
        assert_eq!(table.clocks[Color::White].left(), second(5), "the end of the move renews the period");
        // Less than a second is left, and it is no more after the pause.
        let mut table = started(ClockSettings::Fischer { main: 10.0, increment: 5.0 });
        let at = second(110) - Duration::from_millis(20);
        table.pause(true, at);
        table.pause(false, second(500));
        assert_eq!(table.flag_time(), Some(second(500) + Duration::from_millis(20)));
        // The time is over before the pause.
        let mut table = started(byo_yomi);
        table.pause(true, second(126));
        assert_eq!(table.phase, Phase::Over("B+T".to_owned()));
    }

    #[test]
    fn names_of_a_record_are_text() {
        let mut table = table(9);
        table.load(b"(;SZ[9]PB[<script>alert(1)</script>]PW[\"]RE[<b>];B[cc])", false).unwrap();
        let state = table.state(NOW);
        assert_eq!(state["names"]["B"], "<script>alert(1)</script>");
        assert_eq!(state["phase"], "over");
    }

    #[test]
    fn an_adaptive_level_changes_by_the_result_of_a_finished_game() {
        let adaptive = |level: &str| PlayerKind::Kosumi { level: level.to_owned() };
        let adapted = |table: &GameTable| table.state(Duration::ZERO)["adapted"].clone();
        let begun = |black, white| {
            let mut table = table(9);
            table.begin(&NewGame { black, white, ..wanted(9) }).unwrap();
            table
        };
        let mut game = begun(PlayerKind::Person, adaptive("auto:8k:2"));
        assert_eq!(adapted(&game), Value::Null);
        for (result, level) in
            [("B+R", "auto:5k:3"), ("W+3.5", "auto:11k:3"), ("0", "auto:8k:3"), ("?", ""), ("Void", "")]
        {
            game.phase = Phase::Over(result.to_owned());
            assert_eq!(adapted(&game), if level.is_empty() { Value::Null } else { level.into() }, "{result}");
        }
        // A fixed rank, and two adaptive players.
        for black in [PlayerKind::Person, adaptive("auto:8k:2")] {
            let white = if black == PlayerKind::Person { adaptive("9k") } else { black.clone() };
            let mut other = begun(black, white);
            other.phase = Phase::Over("B+R".to_owned());
            assert_eq!(adapted(&other), Value::Null);
        }
        assert_eq!(
            game.name(Color::White, &[]).unwrap(),
            format!("Kosumi {} (8k)", env!("CARGO_PKG_VERSION"))
        );
    }
}
