//! Game on a board with players, clocks and an end. Nothing here reads a clock: the time is an argument.

use super::message::{ClockSettings, GameDetails, NewGame, PlayerKind, RestoredGame, parse_place};
use super::strength::{DEFAULT_LEVEL, LEVELS, Level, full_name, name_in_records};
use super::task::MoveEvaluation;
use crate::review::{continue_with, owners, place};
use crate::words::color_letter;
use kosumi_engine::time::{Clock, TimeControl, seconds};
use kosumi_go::board::{BoardSize, ByColor, Color, Move, PointSet};
use kosumi_go::game::{Game, IllegalMove};
use kosumi_go::handicap::{fixed_handicap, star_points};
use kosumi_go::rules::{PRESETS, Rules};
use kosumi_go::score::{self, format_score};
use kosumi_go::sgf::{FollowOptions, Meta, Record, SgfError, Strictness, Tree};
use kosumi_net::GameOutcome;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Maximum number of moves of a game.
const MOVES_MOST: usize = 3000;

/// Maximum number of abandoned lines that are kept for the record.
const ABANDONED_MOST: usize = 50;

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

/// Game on a board.
#[derive(Clone, Debug)]
pub(super) struct GameTable {
    game: Game,
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
    /// Evaluations of the engine's moves, with the number of the move.
    outlooks: Vec<(usize, MoveEvaluation)>,
    /// Evaluations by analyses of positions of the game, by number of moves.
    analysed: BTreeMap<usize, MoveEvaluation>,
    /// Moves from the start of the game of lines that were abandoned for a new one. They are variations of the record.
    abandoned: Vec<Vec<(Color, Move)>>,
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
        let clock = Clock::new(TimeControl::None);
        GameTable {
            game: Game::new(size, rules, komi),
            seats: ByColor::new(PlayerKind::Person, kosumi(DEFAULT_LEVEL)),
            names: ByColor::default(),
            date: None,
            phase: Phase::Playing,
            clocks: ByColor::new(clock, clock),
            turn_began: None,
            clocks_before: Vec::new(),
            is_paused: false,
            outlooks: Vec::new(),
            analysed: BTreeMap::new(),
            abandoned: Vec::new(),
            engines,
        }
    }

    /// Current game.
    pub(super) fn game(&self) -> &Game {
        &self.game
    }

    /// Returns the game after its first `moves` moves; `None` if it has fewer.
    pub(super) fn game_at(&self, moves: usize) -> Option<Game> {
        let mut game = self.game.clone();
        while game.records().len() > moves && game.undo().is_some() {}
        (game.records().len() == moves).then_some(game)
    }

    /// Phase of the game.
    pub(super) fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Player to move, while play is in progress.
    pub(super) fn seat_on_turn(&self) -> Option<&PlayerKind> {
        (self.phase == Phase::Playing).then(|| &self.seats[self.game.to_move()])
    }

    /// Whether no person plays.
    pub(super) fn is_without_people(&self) -> bool {
        Color::BOTH.iter().all(|&color| self.seats[color] != PlayerKind::Person)
    }

    /// Whether engines must wait.
    pub(super) fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Whether the board is empty and no move was played.
    pub(super) fn is_fresh(&self) -> bool {
        self.game.records().is_empty() && self.game.board().stone_count() == 0
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
            game,
            seats: ByColor::new(wanted.black.clone(), wanted.white.clone()),
            clocks: ByColor::new(clock, clock),
            ..GameTable::new(size, rules, komi, self.engines)
        };
        Ok(())
    }

    /// Loads the main line of a record, with two people as players. Refuses a record that cannot be followed to its
    /// end, unless `is_partial` is set. Returns messages about the record, one per line.
    pub(super) fn load(&mut self, bytes: &[u8], is_partial: bool) -> Result<Vec<String>, BadRecord> {
        let bad = |error: SgfError, can_be_partial| BadRecord {
            refusal: Refusal::BadRecord,
            text: error.located(bytes).to_string(),
            can_be_partial,
        };
        let record = Record::parse(bytes).map_err(|error| bad(error, false))?;
        let follow =
            FollowOptions { rules: self.game.rules(), up_to: None, strictness: Strictness::Tolerant };
        let followed = record.follow(&follow).map_err(|error| bad(error, false))?;
        if let Some(fault) = followed.fault.as_ref().filter(|_| !is_partial) {
            return Err(bad(fault.clone(), true));
        }
        let followed = followed.located(bytes);
        let said = followed.lines().collect();
        if followed.game.records().len() > MOVES_MOST {
            return Err(BadRecord { refusal: Refusal::TooLong, text: String::new(), can_be_partial: false });
        }
        let is_whole = followed.fault.is_none();
        let game = followed.game;
        let phase = match (&record.result, game.is_over()) {
            (_, true) => Phase::Marking(PointSet::EMPTY),
            (Some(result), false) if is_whole && !result.is_empty() && result != "?" => {
                Phase::Over(result.clone())
            }
            _ => Phase::Playing,
        };
        *self = GameTable {
            phase,
            seats: ByColor::new(PlayerKind::Person, PlayerKind::Person),
            names: ByColor::new(record.black.clone(), record.white.clone()),
            date: record.date.clone(),
            ..GameTable::new(game.size(), game.rules(), game.komi(), self.engines)
        };
        self.game = game;
        Ok(said)
    }

    /// Loads a game that a page remembers. Its clocks are lost if the page does not know them.
    pub(super) fn restore(&mut self, remembered: &RestoredGame, now: Duration) -> Result<(), Refusal> {
        let mut table = self.clone();
        // This program wrote the record, so faults in it were there before.
        table.load(remembered.text.as_bytes(), true)?;
        let count = table.game.records().len();
        if remembered.kept > count {
            return Err(Refusal::BadMessage);
        }
        let result = remembered.result.as_ref();
        if remembered.kept < count || !remembered.moves.is_empty() || result.is_none() {
            table.undo(Some(remembered.kept), Duration::ZERO);
        }
        for place in &remembered.moves {
            let mv = parse_place(table.game.size(), place).ok_or(Refusal::OffBoard)?;
            table.play(mv, Duration::ZERO)?;
        }
        if let Some(result) = result.filter(|_| table.phase == Phase::Playing) {
            table.phase = Phase::Over(result.clone());
        }
        table.seat(remembered.black.clone(), remembered.white.clone())?;
        if let Some(details) = &remembered.details {
            // The game may have been counted, which a record without the dead stones does not tell.
            if let Some(result) = result {
                table.phase = Phase::Over(result.clone());
            }
            table.restore_details(details, now)?;
        }
        *self = table;
        Ok(())
    }

    /// Restores what a record does not contain.
    fn restore_details(&mut self, details: &GameDetails, now: Duration) -> Result<(), Refusal> {
        let (bad, size) = (Refusal::BadMessage, self.game.size());
        let clock = Clock::new(details.clock.control().ok_or(bad)?);
        self.clocks = ByColor::new(clock, clock);
        for (color, &(left, periods)) in Color::BOTH.into_iter().zip(&details.left) {
            if clock.control() != TimeControl::None {
                self.clocks[color].set_time_left(seconds(left), periods);
            }
        }
        let line = |line: &Vec<(char, String)>| {
            let moves = line.iter().map(|(color, place)| {
                let color = Color::BOTH.into_iter().find(|&known| color_letter(known) == *color);
                Some((color?, parse_place(size, place)?))
            });
            moves.take(MOVES_MOST).collect::<Option<Vec<_>>>()
        };
        let lines = details.variations.iter().take(ABANDONED_MOST);
        self.abandoned = lines.map(line).collect::<Option<Vec<_>>>().ok_or(bad)?;
        let count = self.game.records().len();
        let evaluation = |&(number, win_rate, score, visits): &(usize, f32, f32, u32)| {
            (number, MoveEvaluation { win_rate, score, visits })
        };
        let known = |all: &[(usize, f32, f32, u32)]| {
            all.iter().map(evaluation).filter(|(number, _)| *number <= count).collect::<Vec<_>>()
        };
        self.outlooks = known(&details.outlooks);
        self.analysed = known(&details.evaluations).into_iter().collect();
        self.is_paused = details.paused;
        self.start_clock(now);
        Ok(())
    }

    /// Returns all that [`restore`](GameTable::restore) needs.
    pub(super) fn remembered(&self, engines: &[String], date: Option<String>, now: Duration) -> RestoredGame {
        let size = self.game.size();
        let left = |color: Color| {
            let (left, periods) = self.time_left(now).map_or((Duration::ZERO, 0), |(_, left)| left[color]);
            (left.as_secs_f64(), periods)
        };
        let line = |line: &Vec<(Color, Move)>| {
            line.iter().map(|&(color, mv)| (color_letter(color), place(size, mv))).collect()
        };
        let evaluation = |number: usize, it: &MoveEvaluation| (number, it.win_rate, it.score, it.visits);
        RestoredGame {
            text: self.record(engines, date).to_string(),
            kept: self.game.records().len(),
            moves: Vec::new(),
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
                variations: self.abandoned.iter().map(line).collect(),
                outlooks: self.outlooks.iter().map(|(number, it)| evaluation(*number, it)).collect(),
                evaluations: self.analysed.iter().map(|(&number, it)| evaluation(number, it)).collect(),
            }),
        }
    }

    /// Sets the players.
    pub(super) fn seat(&mut self, black: PlayerKind, white: PlayerKind) -> Result<(), Refusal> {
        if [&black, &white].into_iter().any(|seat| !is_known(seat, self.engines)) {
            return Err(Refusal::BadSettings);
        }
        self.seats = ByColor::new(black, white);
        Ok(())
    }

    /// Plays a move of the side to move. If its time has run out, the game ends instead.
    pub(super) fn play(&mut self, mv: Move, now: Duration) -> Result<(), Refusal> {
        if self.phase != Phase::Playing {
            return Err(Refusal::NotNow);
        }
        if self.game.records().len() >= MOVES_MOST {
            return Err(Refusal::TooLong);
        }
        let color = self.game.to_move();
        self.game.check(color, mv).map_err(|reason| self.refusal(reason, mv))?;
        if self.check_flag(now) {
            return Ok(());
        }
        let before = self.clocks;
        if let Some(began) = self.turn_began {
            self.clocks[color].spend(now.saturating_sub(began));
        }
        self.game.play(color, mv)?;
        self.clocks_before.resize(self.game.records().len() - 1, before);
        self.clocks_before.push(before);
        self.start_clock(now);
        if self.game.is_over() {
            self.turn_began = None;
            self.phase = if self.game.rules().friendly_pass {
                Phase::Marking(PointSet::EMPTY)
            } else {
                Phase::Over(self.score(&PointSet::EMPTY))
            };
        }
        Ok(())
    }

    /// Returns the refusal of an illegal move. Under superko rules the repetition that takes back a ko is called a ko.
    fn refusal(&self, reason: IllegalMove, mv: Move) -> Refusal {
        let Some(last) = self.game.records().last() else { return reason.into() };
        let takes_back = |point| {
            last.lifted[..] == [point]
                && last.mv.point().is_some_and(|at| self.game.board().chain_len(at) == 1)
        };
        if reason == IllegalMove::Superko && mv.point().is_some_and(takes_back) {
            return Refusal::Ko;
        }
        reason.into()
    }

    /// Stores the evaluation of the position after `moves` moves, unless a longer search of it is known.
    pub(super) fn add_analysis(&mut self, moves: usize, evaluation: MoveEvaluation) {
        if moves > self.game.records().len() {
            return;
        }
        let known = self.analysed.entry(moves).or_insert(evaluation);
        if known.visits <= evaluation.visits {
            *known = evaluation;
        }
    }

    /// Stores the engine's evaluation of the latest move.
    pub(super) fn add_evaluation(&mut self, outlook: MoveEvaluation) {
        self.outlooks.push((self.game.records().len(), outlook));
    }

    /// Starts the clock of the side to move. Clocks run from the first move on.
    fn start_clock(&mut self, now: Duration) {
        let is_timed = self.clocks[Color::Black].control() != TimeControl::None;
        let runs =
            is_timed && self.phase == Phase::Playing && !self.is_paused && !self.game.records().is_empty();
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
        self.turn_began = None;
        self.phase = Phase::Over(format!("{}+T", color_letter(color.opponent())));
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
            if let Some(began) = self.turn_began.take() {
                self.clocks[self.game.to_move()].deduct(now.saturating_sub(began));
            }
        } else {
            self.start_clock(now);
        }
    }

    /// Takes moves back until `to` moves are left, or without a number until the same person is to move again.
    pub(super) fn undo(&mut self, to: Option<usize>, now: Duration) -> bool {
        let count = self.game.records().len();
        let person = |color: Color| self.seats[color] == PlayerKind::Person;
        let back = || {
            let moves = self.game.records();
            (0..count).rev().find(|&left| person(moves[left].color)).unwrap_or(count.saturating_sub(1))
        };
        let has_resigned = |color: Color| {
            person(color)
                && matches!(&self.phase, Phase::Over(result) if result.starts_with(color_letter(color.opponent()))
                    && result.ends_with("+R"))
        };
        let is_only_resigned =
            to.is_none() && !self.game.is_over() && Color::BOTH.iter().any(|&color| has_resigned(color));
        let left = if is_only_resigned { count } else { to.unwrap_or_else(back) };
        if left >= count {
            // A game that ended by resignation or on time can be continued.
            let is_over = matches!(self.phase, Phase::Over(_)) && !self.game.is_over();
            if is_over {
                self.phase = Phase::Playing;
                self.start_clock(now);
            }
            return is_over;
        }
        while self.game.records().len() > left && self.game.undo().is_some() {}
        if let Some(clocks) = self.clocks_before.get(left) {
            self.clocks = *clocks;
        }
        self.clocks_before.truncate(left);
        self.outlooks.retain(|(number, _)| *number <= left);
        self.analysed.retain(|number, _| *number <= left);
        self.phase = Phase::Playing;
        self.start_clock(now);
        true
    }

    /// Continues from an earlier position. The moves after it are kept as a variation of the record.
    pub(super) fn play_on_from(&mut self, moves: usize, now: Duration) -> bool {
        let line: Vec<(Color, Move)> =
            self.game.records().iter().map(|record| (record.color, record.mv)).collect();
        if !self.undo(Some(moves), now) {
            return false;
        }
        self.abandoned.retain(|known| !line.starts_with(known));
        if moves < line.len() && !self.abandoned.iter().any(|known| known.starts_with(&line)) {
            self.abandoned.push(line);
            let surplus = self.abandoned.len().saturating_sub(ABANDONED_MOST);
            self.abandoned.drain(..surplus);
        }
        true
    }

    /// Resigns for the side to move.
    pub(super) fn resign(&mut self) -> Result<(), Refusal> {
        if self.phase != Phase::Playing {
            return Err(Refusal::NotNow);
        }
        self.turn_began = None;
        self.phase = Phase::Over(format!("{}+R", color_letter(self.game.to_move().opponent())));
        Ok(())
    }

    /// Resigns for the person, with the other colour if an engine is to move. Refused between two engines.
    pub(super) fn resign_person(&mut self) -> Result<(), Refusal> {
        let turn = self.game.to_move();
        if self.phase == Phase::Playing && self.seats[turn] != PlayerKind::Person {
            if self.seats[turn.opponent()] != PlayerKind::Person {
                return Err(Refusal::NotNow);
            }
            self.turn_began = None;
            self.phase = Phase::Over(format!("{}+R", color_letter(turn)));
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
        self.phase = Phase::Over(self.score(dead));
        Ok(())
    }

    /// Resumes play after two passes by taking both back.
    pub(super) fn resume(&mut self, now: Duration) -> Result<(), Refusal> {
        if !matches!(self.phase, Phase::Marking(_)) {
            return Err(Refusal::NotNow);
        }
        let moves = self.game.records();
        let passes = moves.iter().rev().take_while(|record| record.mv == Move::Pass).count();
        self.undo(Some(moves.len() - passes.min(moves.len())), now);
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
        of_seat.or_else(|| self.names[color].clone())
    }

    /// Returns the game as a record. `date` is for games that began here.
    pub(super) fn record(&self, engines: &[String], date: Option<String>) -> Tree {
        let result = match &self.phase {
            Phase::Over(result) => Some(result.clone()),
            _ => None,
        };
        let name = |color| self.name(color, engines);
        let date = self.date.clone().or(date);
        let meta = Meta { black: name(Color::Black), white: name(Color::White), result, date, comment: None };
        let mut tree = Tree::of_game(&self.game, &meta);
        let line = tree.main_line();
        for (number, outlook) in &self.outlooks {
            if let Some(&id) = line.get(*number) {
                let lead = format_score((outlook.score * 10.0).round() / 10.0);
                let text = format!("B {:.1} %, {lead}, {} visits", 100.0 * outlook.win_rate, outlook.visits);
                tree.at(id).comment(&text);
            }
        }
        let moves: Vec<(Color, Move)> =
            self.game.records().iter().map(|record| (record.color, record.mv)).collect();
        // A line that only continues the game would become its main line.
        for line in self.abandoned.iter().filter(|line| !line.starts_with(&moves)) {
            let mut node = tree.root();
            for &(color, mv) in line {
                node = continue_with(&mut tree, node, color, mv);
            }
        }
        let control = self.clocks[Color::Black].control();
        if control != TimeControl::None {
            let main = control.main_time().unwrap_or_default().as_secs_f64();
            let overtime = control.overtime_text().unwrap_or_default();
            let root = tree.root();
            tree.at(root).number("TM", main).line("OT", &overtime);
        }
        tree
    }

    /// Returns the state that pages draw.
    pub(super) fn state(&self, now: Duration) -> Value {
        let (game, size) = (&self.game, self.game.size());
        let at = |point| place(size, Move::Play(point));
        let stones = |color: Color| -> String {
            game.start().stones().filter(|stone| stone.1 == color).map(|stone| at(stone.0)).collect()
        };
        let moves: Vec<Value> = game
            .records()
            .iter()
            .map(|record| {
                let lifted: String = record.lifted.iter().map(|&point| at(point)).collect();
                json!([color_letter(record.color).to_string(), place(size, record.mv), lifted])
            })
            .collect();
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
            "start": { "B": stones(Color::Black), "W": stones(Color::White) },
            "lost": { "B": game.start().prisoners(Color::Black), "W": game.start().prisoners(Color::White) },
            "moves": moves,
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
            "variations": self.abandoned.len(),
            "outlooks": self.outlooks.iter().map(|(at, it)| packed_evaluation(*at, it)).collect::<Vec<Value>>(),
            "evaluations": self.analysed.iter().map(|(at, it)| packed_evaluation(*at, it)).collect::<Vec<Value>>(),
        })
    }

    /// Returns the adaptive level for the next game, after a game of one adaptive player that has a result.
    fn adapted_level(&self) -> Option<String> {
        let Phase::Over(result) = &self.phase else { return None };
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

/// Packs the evaluation of the position after a number of moves.
fn packed_evaluation(moves: usize, it: &MoveEvaluation) -> Value {
    json!([moves, (it.win_rate * 1000.0).round(), (it.score * 10.0).round(), it.visits])
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
        let remembered = |text: &str, kept: usize, moves: &[&str], result: Option<&str>| RestoredGame {
            text: text.to_owned(),
            kept,
            moves: moves.iter().map(|&place| place.to_owned()).collect(),
            result: result.map(str::to_owned),
            black: PlayerKind::Person,
            white: kosumi(DEFAULT_LEVEL),
            details: None,
        };
        let mut first = table(9);
        first.begin(&NewGame { handicap: 2, ..wanted(9) }).unwrap();
        play(&mut first, &["cc", "gg"], NOW);
        let text = first.record(&[], Some("2026-01-31".to_owned())).to_string();
        assert!(first.undo(Some(1), NOW));
        play(&mut first, &["eg", "--", "--"], NOW);
        let mut restored = table(19);
        restored.restore(&remembered(&text, 1, &["eg", "--", "--"], None), NOW).unwrap();
        assert_eq!(restored.game.graph_key(), first.game.graph_key());
        assert_eq!(restored.state(NOW)["moves"], first.state(NOW)["moves"]);
        assert_eq!((&restored.phase, restored.date.as_deref()), (&first.phase, Some("2026-01-31")));
        assert_eq!(restored.seats[Color::Black], PlayerKind::Person);
        restored.restore(&remembered(&text, 2, &[], Some("W+R")), NOW).unwrap();
        assert_eq!((restored.game.records().len(), &restored.phase), (2, &Phase::Over("W+R".to_owned())));
        // The record was sent when the game was over, and the game was continued.
        let over = restored.record(&[], None).to_string();
        restored.restore(&remembered(&over, 2, &[], None), NOW).unwrap();
        assert_eq!((restored.game.records().len(), &restored.phase), (2, &Phase::Playing));
        restored.restore(&remembered(&over, 2, &["dd"], None), NOW).unwrap();
        assert_eq!((restored.game.records().len(), &restored.phase), (3, &Phase::Playing));
        for (bad, why) in [
            (remembered("no record", 0, &[], None), Refusal::BadRecord),
            (remembered(&text, 3, &[], None), Refusal::BadMessage),
            (remembered(&text, 2, &["zz"], None), Refusal::OffBoard),
            (remembered(&text, 2, &["cc"], None), Refusal::Occupied),
            (
                RestoredGame { black: PlayerKind::Engine { number: 0 }, ..remembered(&text, 2, &[], None) },
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
        assert!(table.undo(None, NOW));
        assert_eq!(table.game.records().len(), 2);
        assert!(table.undo(Some(0), NOW));
        assert!(!table.undo(None, NOW));
        play(&mut table, &["cc"], NOW);
        table.resign_person().unwrap();
        assert_eq!(table.phase, Phase::Over("W+R".to_owned()), "the person, although the engine is on turn");
        assert!(table.undo(None, NOW), "undo takes the resignation back");
        assert_eq!((&table.phase, table.game.records().len()), (&Phase::Playing, 1), "and no move");
        table.resign().unwrap();
        assert_eq!(table.phase, Phase::Over("B+R".to_owned()), "the engine");
        assert!(table.undo(None, NOW), "after the end the game can be gone on with");
        assert_eq!(
            (&table.phase, table.game.records().len()),
            (&Phase::Playing, 0),
            "before the person's move"
        );
    }

    #[test]
    fn playing_on_from_an_earlier_move_keeps_the_rest() {
        let mut table = table(9);
        table.begin(&wanted(9)).unwrap();
        let moves = ["cc", "gg", "cg", "gc"];
        play(&mut table, &moves, NOW);
        let evaluation = |visits| MoveEvaluation { win_rate: 0.5, score: 0.0, visits };
        for at in 0..=5 {
            table.add_analysis(at, evaluation(10));
        }
        table.add_analysis(1, evaluation(5));
        assert_eq!(table.analysed.len(), 5, "only positions of the game");
        assert_eq!(table.analysed[&1].visits, 10, "the longer search stays");
        assert!(table.play_on_from(2, NOW));
        assert_eq!(table.analysed.keys().copied().collect::<Vec<_>>(), [0, 1, 2]);
        let text = || table.record(&[], None).to_string().replace('\n', "");
        assert!(!text().contains("cg"), "nothing else was played yet: {}", text());
        play(&mut table, &["ee"], NOW);
        let text = table.record(&[], None).to_string().replace('\n', "");
        assert!(text.contains(";W[gg](;B[ee])(;B[cg];W[gc])"), "{text}");
        assert_eq!(Tree::parse(text.as_bytes()).unwrap().main_line().len(), 4);
        // Back on the old way there is one variation less.
        assert!(table.play_on_from(2, NOW));
        play(&mut table, &["cg"], NOW);
        let text = table.record(&[], None).to_string().replace('\n', "");
        assert!(text.contains(";W[gg](;B[cg])(;B[ee])"), "{text}");
        table.begin(&wanted(9)).unwrap();
        assert!(table.abandoned.is_empty() && table.analysed.is_empty());
    }

    #[test]
    fn a_remembered_game_is_restored_with_its_clocks_and_variations() {
        let second = Duration::from_secs;
        let mut table = table(9);
        let clock = ClockSettings::ByoYomi { main: 10.0, period: 5.0, periods: 3 };
        table.begin(&NewGame { clock, ..wanted(9) }).unwrap();
        play(&mut table, &["cc", "gg", "cg"], second(3));
        assert!(table.play_on_from(2, second(3)));
        play(&mut table, &["ee"], second(16));
        table.add_analysis(1, MoveEvaluation { win_rate: 0.25, score: -1.5, visits: 7 });
        let back = |table: &GameTable, now| {
            let text = serde_json::to_string(&table.remembered(&[], None, now)).unwrap();
            let mut other = GameTable::new(BoardSize::square(5).unwrap(), Rules::default(), 7.5, 0);
            other.restore(&serde_json::from_str(&text).unwrap(), second(100)).unwrap();
            other
        };
        let restored = back(&table, second(18));
        let state = |table: &GameTable, now: u64| {
            let mut state = table.state(second(now));
            // The same turn continues with the time that was left.
            state["clock"] = json!(format!("{:?}", table.time_left(second(now))));
            state["analysed"] = json!(table.record(&[], None).to_string());
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
        let mut bad = table.remembered(&[], None, second(18));
        bad.details.as_mut().unwrap().variations[0][0].1 = "zz".to_owned();
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
        table.undo(Some(1), second(200));
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
