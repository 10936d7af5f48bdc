//! The engine: a game, a search, clocks. What the protocol and the command line call.
//!
//! The only room that reads a clock. Decides what the search must not know of: when to pass, when to resign,
//! which stones are dead at the end.

mod status;
#[cfg(test)]
mod tests;

pub use status::FinalStatus;

use crate::board::{BoardSize, ByColor, Color, Key, Move};
use crate::eval::{Ownership, PlayoutSettings, Playouts};
use crate::game::{Game, IllegalMove, Record};
use crate::graph_key::Sharing;
use crate::playout::{HeuristicPolicy, HeuristicRates};
use crate::rng::mix;
use crate::rules::{Rules, Scoring};
use crate::search::{Limits, Search, SearchParams, SearchReport, Surroundings};
use crate::time::{Budget, Clock, DEFAULT_RESERVE, Progress, TimeControl};
use std::time::{Duration, Instant};

/// How an engine plays.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EngineSettings {
    /// Workers, at least 1.
    pub threads: usize,
    /// Memory of the node table.
    pub memory_mebibytes: usize,
    /// Most visits of the root, reused ones included.
    pub visits: Option<u32>,
    /// Most simulations a move.
    pub playouts: Option<u32>,
    /// Most time a move; without any limit and without a clock, [`DEFAULT_MOVE_TIME`].
    pub move_time: Option<Duration>,
    /// Kept back from the clock for every move: what passes between the engine's clock and the server's.
    pub lag_reserve: Duration,
    /// Decides all chance.
    pub seed: u64,
    /// Graph or tree.
    pub sharing: Sharing,
    /// Refuse moves of the opponent that break the rules, instead of following the record.
    pub strict: bool,
    /// Rules at the start.
    pub rules: Rules,
    /// Komi at the start; `None` for the one usual with the rules.
    pub komi: Option<f32>,
    /// Resign when the own expected result is below this, in `[-1, 1]`; `None`: never.
    pub resign: Option<f32>,
    /// Evaluation by playouts.
    pub playout: PlayoutSettings,
    /// How often the steps of the playout policy are taken.
    pub rates: HeuristicRates,
}

/// Time for a move when nothing else limits it.
pub const DEFAULT_MOVE_TIME: Duration = Duration::from_secs(5);

impl Default for EngineSettings {
    fn default() -> EngineSettings {
        EngineSettings {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory_mebibytes: 512,
            visits: None,
            playouts: None,
            move_time: None,
            lag_reserve: DEFAULT_RESERVE,
            seed: 1,
            sharing: Sharing::Graph,
            strict: false,
            rules: Rules::default(),
            komi: None,
            resign: Some(-0.9),
            playout: PlayoutSettings::default(),
            rates: HeuristicRates::default(),
        }
    }
}

/// What the engine wants to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Make this move.
    Play(Move),
    /// Give the game up.
    Resign,
}

/// They may take as long as this; with less time for a move the engine plays on instead of asking.
const STATUS_TIME_MOST: Duration = Duration::from_millis(500);
/// A point is settled if one side owns it at least so clearly, as a mean owner.
const SETTLED_MEAN: f32 = 0.8;
/// Visits without which the engine does not resign.
const RESIGN_VISITS: u32 = 300;

/// See the [module documentation](self).
#[derive(Debug)]
pub struct Engine {
    settings: EngineSettings,
    game: Game,
    search: Search<Playouts>,
    clocks: ByColor<Clock>,
    /// Counts the moves asked for, so that each has its own sequence of chance.
    questions: u64,
    report: Option<SearchReport>,
    status: Option<(Key, FinalStatus)>,
}

impl Engine {
    /// An engine with a 19×19 board.
    pub fn new(settings: EngineSettings) -> Engine {
        let size = BoardSize::square(19).unwrap_or_else(|| unreachable!("19 is a size"));
        let komi = settings.komi.unwrap_or(settings.rules.usual_komi());
        let game = Game::new(size, settings.rules, komi).with_sharing(settings.sharing);
        let evaluator = Playouts::new(HeuristicPolicy::new(settings.rates), settings.playout);
        let search = Search::new(
            evaluator,
            SearchParams::for_playouts(size),
            settings.memory_mebibytes,
            settings.threads,
        );
        let clocks = ByColor::new(Clock::new(TimeControl::None), Clock::new(TimeControl::None));
        Engine { settings, game, search, clocks, questions: 0, report: None, status: None }
    }

    /// The settings.
    pub fn settings(&self) -> &EngineSettings {
        &self.settings
    }

    /// The game.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// The search, for its statistics.
    pub fn search(&self) -> &Search<Playouts> {
        &self.search
    }

    /// The latest search's result.
    pub fn last_report(&self) -> Option<&SearchReport> {
        self.report.as_ref()
    }

    /// Puts another game on the board. What was learned is kept where it still applies.
    pub fn set_game(&mut self, game: Game) {
        if game.size() != self.game.size() {
            self.search.clear();
        }
        self.search.set_params(SearchParams::for_playouts(game.size()));
        self.game = if game.sharing() == self.settings.sharing {
            game
        } else {
            game.with_sharing(self.settings.sharing)
        };
        self.report = None;
        self.status = None;
    }

    /// An empty board of another size; komi and rules stay.
    pub fn set_size(&mut self, size: BoardSize) {
        self.set_game(
            Game::new(size, self.game.rules(), self.game.komi()).with_sharing(self.settings.sharing),
        );
        self.start_new_game();
    }

    /// An empty board; size, komi and rules stay.
    pub fn clear(&mut self) {
        self.game = self.game.cleared();
        self.start_new_game();
    }

    /// Starts the sequence of chance and the clocks anew, and forgets everything that was learned.
    fn start_new_game(&mut self) {
        self.clocks = self.clocks.map(Clock::restarted);
        self.forget();
    }

    /// Forgets everything that was learned, and starts the sequence of chance anew.
    pub fn forget(&mut self) {
        self.search.clear();
        self.report = None;
        self.status = None;
        self.questions = 0;
    }

    /// Sets the komi; the moves stay.
    pub fn set_komi(&mut self, komi: f32) {
        self.game = self.game.with_rules(self.game.rules(), komi);
    }

    /// Sets the rules; the moves stay.
    pub fn set_rules(&mut self, rules: Rules) {
        self.game = self.game.with_rules(rules, self.game.komi());
    }

    /// Sets the seed of all chance from here on.
    pub fn set_seed(&mut self, seed: u64) {
        self.settings.seed = seed;
        self.questions = 0;
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.settings.seed
    }

    /// Sets both players' clocks to the start of a game with this control.
    pub fn set_time_control(&mut self, control: TimeControl) {
        self.clocks = ByColor::new(Clock::new(control), Clock::new(control));
    }

    /// Sets what is left on a player's clock, as GTP's `time_left` tells it: `stones_or_periods` is 0 during the
    /// main time.
    pub fn set_time_left(&mut self, color: Color, time: Duration, stones_or_periods: u32) {
        self.clocks[color].set_time_left(time, stones_or_periods);
    }

    /// A player's clock.
    pub fn clock(&self, color: Color) -> &Clock {
        &self.clocks[color]
    }

    /// Follows a move of the record: tolerant unless the settings say strict. Returns what a strict reading of
    /// the rules would have objected to.
    ///
    /// # Errors
    /// If the move is refused; nothing has changed then.
    pub fn play(&mut self, color: Color, mv: Move) -> Result<Option<IllegalMove>, IllegalMove> {
        if self.settings.strict {
            self.game.play(color, mv).map(|()| None)
        } else {
            self.game.play_tolerant(color, mv)
        }
    }

    /// Takes the latest move back; false if there is none.
    pub fn undo(&mut self) -> bool {
        self.status = None;
        self.game.undo().is_some()
    }

    /// Thinks about a move for `color` and plays it. The time it took goes off the player's clock.
    pub fn genmove(&mut self, color: Color, interrupted: &(dyn Fn() -> bool + Sync)) -> Decision {
        let start = Instant::now();
        let decision = self.generate(color, interrupted);
        if let Decision::Play(mv) = decision {
            // Strict always: `generate` returns legal moves only.
            let played = self.game.play(color, mv);
            debug_assert_eq!(played, Ok(()), "{color} {mv}");
        }
        self.clocks[color].spend(start.elapsed());
        decision
    }

    /// Thinks about a move for `color`; the moves of the game stay as they are, and the turn is `color`'s.
    pub fn generate(&mut self, color: Color, interrupted: &(dyn Fn() -> bool + Sync)) -> Decision {
        let start = Instant::now();
        self.game.set_to_move(color);
        let budget = self.budget(color);
        if self.should_answer_pass(color, budget) {
            return Decision::Play(Move::Pass);
        }
        let limits = self.limits(budget);
        self.questions += 1;
        let seed = mix(self.settings.seed).wrapping_add(self.questions);
        let elapsed = || start.elapsed();
        let around = Surroundings::new(&limits, &elapsed, interrupted);
        let report = self.search.run(&self.game, seed, &around);
        let decision = self.decide(color, &report);
        self.report = Some(report);
        decision
    }

    /// Searches the position for the player on turn, to these limits and whatever the clocks say, and neither
    /// passes nor resigns instead. What was learned is kept for the next search.
    pub fn analyze(&mut self, limits: &Limits, interrupted: &(dyn Fn() -> bool + Sync)) -> &SearchReport {
        let start = Instant::now();
        self.questions += 1;
        let seed = mix(self.settings.seed).wrapping_add(self.questions);
        let elapsed = || start.elapsed();
        let around = Surroundings::new(limits, &elapsed, interrupted);
        let report = self.search.run(&self.game, seed, &around);
        self.report.insert(report)
    }

    /// A move for a regression test: the game stays, chance does not depend on what was asked before, and the
    /// engine does not resign.
    pub fn regression_move(&mut self, color: Color, interrupted: &(dyn Fn() -> bool + Sync)) -> Move {
        let game = self.game.clone();
        let (resign, questions) = (self.settings.resign.take(), self.questions);
        self.search.clear();
        self.questions = 0;
        let decision = self.generate(color, interrupted);
        self.settings.resign = resign;
        self.questions = questions;
        self.game = game;
        match decision {
            Decision::Play(mv) => mv,
            Decision::Resign => Move::Pass,
        }
    }

    /// What the clock gives for the next move; `None` without a clock.
    fn budget(&self, color: Color) -> Option<Budget> {
        let progress = Progress { area: self.game.size().area(), moves: self.game.records().len() };
        let clock = &self.clocks[color];
        clock.budget(progress, clock.fitting_reserve(progress.area, self.settings.lag_reserve))
    }

    fn limits(&self, budget: Option<Budget>) -> Limits {
        let settings = &self.settings;
        let unlimited = settings.visits.is_none() && settings.playouts.is_none() && budget.is_none();
        let move_time = settings.move_time.or(unlimited.then_some(DEFAULT_MOVE_TIME));
        let least = |a: Option<Duration>, b: Option<Duration>| a.into_iter().chain(b).min();
        let soft = least(move_time, budget.map(|budget| budget.soft));
        let hard = least(move_time, budget.map(|budget| budget.hard));
        let counts = Limits { visits: settings.visits, playouts: settings.playouts, ..Limits::default() };
        Limits { soft, hard, when_settled: soft.is_some(), ..counts }
    }

    /// After the opponent's pass: does passing too win the game as it stands?
    fn should_answer_pass(&mut self, color: Color, budget: Option<Budget>) -> bool {
        let passed = |last: &Record| last.mv == Move::Pass && last.color == color.opponent();
        let in_a_hurry = budget.is_some_and(|budget| budget.hard < STATUS_TIME_MOST);
        let opponent_passed = self.game.records().last().is_some_and(passed);
        opponent_passed
            && !(self.game.rules().friendly_pass && in_a_hurry)
            && self.score_as_it_stands(color) > 0.0
    }

    /// The player's score if the game ended now, by the rules in force.
    fn score_as_it_stands(&mut self, color: Color) -> f32 {
        self.final_status().score * color.sign() as f32
    }

    fn decide(&mut self, color: Color, report: &SearchReport) -> Decision {
        let own_value = report.value * color.sign() as f32;
        if let Some(threshold) = self.settings.resign
            && own_value < threshold
            && report.visits >= RESIGN_VISITS
            && self.game.records().len() * 4 > self.game.size().area()
        {
            return Decision::Resign;
        }
        // With dead stones removed at the end, a finished game is not played on.
        if self.game.rules().friendly_pass && self.is_settled(&report.ownership) {
            let score = self.score_as_it_stands(color);
            if score > 0.0 || self.game.rules().scoring == Scoring::Territory {
                return Decision::Play(Move::Pass);
            }
        }
        let legal = report.moves.iter().find(|entry| self.game.check(color, entry.mv).is_ok());
        Decision::Play(legal.map_or(Move::Pass, |entry| entry.mv))
    }

    /// Is the owner of every stone and of every point that matters clear? Single neutral points may be open.
    fn is_settled(&self, ownership: &Ownership) -> bool {
        if ownership.count() < 100 || self.game.board().stone_count() * 3 < self.game.size().area() {
            return false;
        }
        self.game.size().points().all(|point| ownership.mean(point).abs() >= SETTLED_MEAN)
    }

    /// Who owns what if the game ended now. The same position always gets the same answer.
    pub fn final_status(&mut self) -> FinalStatus {
        let key = self.game.graph_key();
        if let Some((known, status)) = &self.status
            && *known == key
        {
            return status.clone();
        }
        let status = status::final_status(
            &self.game,
            Playouts::new(HeuristicPolicy::new(self.settings.rates), self.settings.playout),
        );
        self.status = Some((key, status.clone()));
        status
    }
}
