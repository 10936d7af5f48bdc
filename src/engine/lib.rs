#![doc = include_str!("README.md")]
//!
//! The engine: a game, a search and two clocks. The protocols and the command line use it.
//!
//! It makes the decisions that the search does not: when to pass, when to resign, how long to think, and which stones
//! are dead at the end.
#![allow(clippy::disallowed_methods, reason = "this crate reads clocks")]

mod advantage;
mod analyst;
mod cleanup;
mod dead;
mod decide;
mod evaluator;
mod expected;
mod human;
pub mod parameters;
mod passing;
mod plan;
mod queries;
mod rank;
mod reading;
mod record;
mod request;
mod settings;
pub mod signature;
mod slices;
#[cfg(feature = "cluster")]
mod spread;
#[cfg(not(feature = "cluster"))]
#[path = "alone.rs"]
mod spread;
mod status;
mod stopwatch;
mod survival;
#[cfg(test)]
mod tests;
pub mod time;
mod time_manager;

pub use analyst::{Analyst, AnalystSettings, Question, Reports};
pub use evaluator::EngineEvaluator;
pub use record::{CommentDetail, Revision};
pub use request::{Decision, SearchObserver, SearchRequest};
pub use settings::{DEFAULT_MOVE_TIME, EngineSettings, HumanSettings, processors};
#[cfg(feature = "cluster")]
pub use spread::{OnLoss, RankLink};
pub use status::FinalStatus;
pub use stopwatch::{TimeSource, standard_time};
pub use survival::{SurvivalEstimate, SurvivalQuestion};

use crate::time::{Clock, TimeControl};
use advantage::GameAdvantage;
use kosumi_eval::{NetworkEvaluator, NetworkSettings};
use kosumi_go::board::{BoardSize, ByColor, Color, Key, Move, Symmetry};
use kosumi_go::game::{Game, IllegalMove, Line};
use kosumi_go::graph_key::NodeSharing;
use kosumi_go::rng::mix;
use kosumi_go::rules::Rules;
use kosumi_net::{Network, NotFinite, Prediction};
use kosumi_search::{
    Analysis, Extras, Limits, Reporting, Restriction, Search, SearchContext, SearchParams, SearchReport,
};
use kosumi_solve::{Memo, MemoUsage};
use kosumi_sync::HAS_THREADS;
use plan::Explored;
use record::GameNotes;
use slices::{observe_in_slices, slice_seed};
use spread::RankCluster;
use status::Moment;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;
use stopwatch::Stopwatch;
use time_manager::TimeManager;

/// See the [crate documentation](self).
#[derive(Debug)]
pub struct Engine {
    settings: EngineSettings,
    game: Game,
    search: Search<EngineEvaluator>,
    /// Cluster of MPI ranks that searches are spread over; `None` if all searches run in this process.
    spread: Option<RankCluster>,
    time_source: TimeSource,
    /// Second network, which predicts the moves of people.
    human: Option<Box<NetworkEvaluator>>,
    /// Search of the rank, built for its first move. `None` while the rank chooses a move: its search is then in
    /// `search`.
    ranked: Option<Box<Search<EngineEvaluator>>>,
    /// Whether the rank chooses a move.
    is_choosing_as_rank: bool,
    /// Settings of the exploration below the root with which the current graph was searched.
    exploration_kind: Option<Explored>,
    /// Restriction below the root with which the current graph was searched.
    deep_restriction: Restriction,
    clocks: ByColor<Clock>,
    /// Number of searches since the game began. It selects the random numbers of each search.
    searches: u64,
    report: Option<SearchReport>,
    /// Key of the position that `report` is about.
    report_key: Key,
    status: Option<((Key, Moment), FinalStatus)>,
    /// Cache of the solver's results on small regions.
    memo: Memo,
    /// Facts about the game besides its moves, for game records.
    notes: GameNotes,
    time_manager: TimeManager,
    /// Doubling advantage of the players in a game with a head start.
    game_advantage: GameAdvantage,
}

/// Purpose of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Purpose {
    /// Choosing the move to play.
    Play,
    /// Evaluating every move.
    Analysis,
    /// Considering the opponent's replies on the opponent's time.
    Pondering,
}

/// Returns the search parameters of an engine with these settings on boards of this size, for a search of at most
/// `visits` visits.
fn params(
    evaluator: &EngineEvaluator,
    settings: &EngineSettings,
    size: BoardSize,
    visits: Option<u32>,
) -> SearchParams {
    let usual = evaluator.search_params(size);
    evaluator
        .for_workers(usual, size, search_threads(evaluator, settings.threads), visits)
        .changed(&settings.search)
}

/// Returns the largest number of visits that both limits permit; `None` if neither is set.
fn max_visits(visits: Option<u32>, playouts: Option<u32>) -> Option<u32> {
    [visits, playouts].into_iter().flatten().min()
}

/// Maximum number of search threads per processor. At the end of a search every thread completes an evaluation, so more
/// threads would only exceed the time.
const THREADS_PER_PROCESSOR: usize = 8;

/// Returns the number of search threads, given the number in the settings. Threads that wait for a device need no
/// processor.
fn search_threads(evaluator: &EngineEvaluator, wanted: usize) -> usize {
    if evaluator.has_device() { wanted } else { wanted.min(THREADS_PER_PROCESSOR * processors()) }
}

impl Engine {
    /// Creates an engine that evaluates by playouts, with an empty 19×19 board.
    pub fn new(settings: EngineSettings) -> Engine {
        Engine::with_network(settings, None)
    }

    /// Creates an engine that evaluates by `network`, or by playouts without one, with an empty 19×19 board.
    pub fn with_network(settings: EngineSettings, network: Option<Arc<Network>>) -> Engine {
        let is_human = network.as_ref().is_some_and(|network| network.takes_metadata());
        let settings = if is_human { settings.with_human_network() } else { settings };
        let size = BoardSize::square(19).unwrap_or_else(|| unreachable!("19 is a size"));
        let komi = settings.komi.unwrap_or(settings.rules.usual_komi());
        let game = Game::new(size, settings.rules, komi).with_sharing(settings.sharing);
        let evaluator = EngineEvaluator::new(&settings, network);
        let params = params(&evaluator, &settings, size, max_visits(settings.visits, settings.playouts));
        let memory = evaluator::table_mebibytes(&settings, &evaluator);
        let threads = search_threads(&evaluator, settings.threads);
        let search = Search::new(evaluator, params, memory, threads);
        let clocks = ByColor::new(Clock::new(TimeControl::None), Clock::new(TimeControl::None));
        Engine {
            settings,
            game,
            search,
            spread: None,
            time_source: standard_time,
            human: None,
            ranked: None,
            is_choosing_as_rank: false,
            exploration_kind: None,
            deep_restriction: Restriction::NONE,
            clocks,
            searches: 0,
            report: None,
            report_key: Key::default(),
            status: None,
            memo: Memo::new(reading::CACHED_RESULTS),
            notes: GameNotes::default(),
            time_manager: TimeManager::default(),
            game_advantage: GameAdvantage::default(),
        }
    }

    /// Returns this engine with another time source, by which clocks and time limits are measured.
    #[must_use]
    pub fn with_time_source(self, time_source: TimeSource) -> Engine {
        Engine { time_source, ..self }
    }

    /// Returns the settings.
    pub fn settings(&self) -> &EngineSettings {
        &self.settings
    }

    /// Changes the settings. Memory, network and kernel stay as they are, and so do the rules and the komi of the game.
    /// If settings of the evaluation change, the statistics and evaluations of all searches are discarded.
    pub fn change_settings(&mut self, wanted: EngineSettings) {
        let built = self.settings;
        // A new rank implies a new profile.
        let is_new_rank = wanted.rank != built.rank && self.human_network().is_some();
        let wanted = if is_new_rank { wanted.with_human_network() } else { wanted };
        self.settings = EngineSettings {
            memory_mebibytes: built.memory_mebibytes,
            network: NetworkSettings { arithmetic: built.network.arithmetic, ..wanted.network },
            ..wanted
        };
        let evaluation = |it: &EngineSettings| (it.playout, it.rates, it.network);
        if evaluation(&self.settings) != evaluation(&built) {
            let evaluator = self.search.evaluator().with_settings(&self.settings);
            self.search.set_evaluator(evaluator);
            self.report = None;
            self.status = None;
        }
        self.human = self.human.take().map(|human| Box::new(human.with_settings(self.settings.network)));
        let threads = search_threads(self.search.evaluator(), self.settings.threads);
        if threads != self.search.threads() {
            self.search.set_threads(threads);
        }
        self.set_sharing(wanted.sharing);
        self.update_search_params(self.game.size());
    }

    /// Sets which positions of a search share a node.
    fn set_sharing(&mut self, sharing: NodeSharing) {
        if sharing != self.game.sharing() {
            self.game = self.game.clone().with_sharing(sharing);
        }
    }

    /// Updates the search parameters for boards of this size.
    fn update_search_params(&mut self, size: BoardSize) {
        let visits = max_visits(self.settings.visits, self.settings.playouts);
        self.search.set_params(params(self.search.evaluator(), &self.settings, size, visits));
    }

    /// Returns the limits of a search for a move while no clock is running.
    pub fn limits_without_clock(&self) -> Limits {
        self.limits(None)
    }

    /// Returns the limits of a search for a move of `color`, from its clock and the settings.
    pub fn limits_for_move(&self, color: Color) -> Limits {
        self.limits(self.budget(color))
    }

    /// Returns the work that makes the first evaluation on a board of this size slow. The caller may run it beforehand,
    /// on any thread. Running it changes no result.
    pub fn warm_up(&self) -> impl FnOnce() + Send + 'static {
        self.search.evaluator().warm_up(self.game.cleared())
    }

    /// Returns the game.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// Evaluates the position by the network, with `color` to move, in a symmetric image of the board. `optimism` is
    /// the share of the optimistic policy, in `[0, 1]`. Returns `None` without a network.
    ///
    /// # Errors
    ///
    /// Returns [`NotFinite`] if an output of the network is not finite.
    pub fn predict(
        &self,
        color: Color,
        symmetry: Symmetry,
        optimism: f32,
    ) -> Option<Result<Prediction, NotFinite>> {
        let network = self.search.evaluator().network()?;
        let black_doubling_advantage = self.black_advantage(color, Purpose::Analysis);
        let settings = NetworkSettings { black_doubling_advantage, ..network.settings() };
        let mut evaluator = network.with_settings_and_cache(settings, 0);
        Some(evaluator.predict(&Line::new(&self.game_with_turn(color)), symmetry, optimism))
    }

    /// Returns the search and its statistics.
    pub fn search(&self) -> &Search<EngineEvaluator> {
        &self.search
    }

    /// Returns the report of the latest search, if there is one.
    pub fn last_report(&self) -> Option<&SearchReport> {
        self.report.as_ref()
    }

    /// Replaces the game. Keeps the statistics of earlier searches where they still apply.
    pub fn set_game(&mut self, game: Game) {
        if game.size() != self.game.size() {
            self.clear_search();
        }
        self.update_search_params(game.size());
        self.game = if game.sharing() == self.settings.sharing {
            game
        } else {
            game.with_sharing(self.settings.sharing)
        };
        self.report = None;
        self.status = None;
        self.notes.begin();
        self.time_manager.begin_game();
        self.game_advantage = GameAdvantage::default();
    }

    /// Starts a game on an empty board of another size. Keeps komi and rules.
    pub fn set_size(&mut self, size: BoardSize) {
        self.adapt_rank();
        self.set_game(
            Game::new(size, self.game.rules(), self.game.komi()).with_sharing(self.settings.sharing),
        );
        self.start_new_game();
    }

    /// Starts a game on an empty board. Keeps size, komi and rules.
    pub fn clear(&mut self) {
        self.adapt_rank();
        self.game = self.game.cleared();
        self.notes.begin();
        self.time_manager.begin_game();
        self.game_advantage = GameAdvantage::default();
        self.start_new_game();
    }

    /// Resets the clocks and the sequence of random numbers, and discards all statistics and evaluations.
    fn start_new_game(&mut self) {
        self.clocks = self.clocks.map(Clock::restarted);
        self.forget();
    }

    /// Discards all statistics and evaluations, and resets the sequence of random numbers.
    pub fn forget(&mut self) {
        self.clear_search();
        self.clear_evaluations();
        self.report = None;
        self.status = None;
        self.searches = 0;
    }

    /// Clears the evaluation caches of the networks.
    fn clear_evaluations(&self) {
        self.search.evaluator().clear();
        if let Some(human) = &self.human {
            human.cache().clear();
        }
    }

    /// Discards the statistics of searches, in this process and on all other ranks.
    fn clear_search(&mut self) {
        self.search.clear();
        if let Some(spread) = &mut self.spread {
            spread.clear();
        }
    }

    /// Sets the komi. Keeps the moves.
    pub fn set_komi(&mut self, komi: f32) {
        if komi.to_bits() != self.game.komi().to_bits() {
            self.game = self.game.with_rules(self.game.rules(), komi);
        }
        self.notes.note_change();
    }

    /// Sets the rules. Keeps the moves. These rules also become the default for game records that name none.
    pub fn set_rules(&mut self, rules: Rules) {
        self.settings.rules = rules;
        if rules != self.game.rules() {
            self.game = self.game.with_rules(rules, self.game.komi());
        }
        self.notes.note_change();
    }

    /// Sets the seed of all random numbers.
    pub fn set_seed(&mut self, seed: u64) {
        self.settings.seed = seed;
        self.searches = 0;
    }

    /// Returns the seed of the random numbers.
    pub fn seed(&self) -> u64 {
        self.settings.seed
    }

    /// Sets both players' clocks to the start of a game with this time control.
    pub fn set_time_control(&mut self, control: TimeControl) {
        self.clocks = ByColor::new(Clock::new(control), Clock::new(control));
        self.notes.note_change();
    }

    /// Sets the time left on a player's clock, as announced by GTP's `time_left`. `stones_or_periods` is 0 during the
    /// main time. See [`Clock::set_reported_time_left`].
    pub fn set_time_left(&mut self, color: Color, time: Duration, stones_or_periods: u32) {
        self.clocks[color].set_reported_time_left(time, stones_or_periods);
        // If no time control was announced, this command implies one for both players.
        let (control, opponent) = (self.clocks[color].control(), color.opponent());
        if self.clocks[opponent].control() == TimeControl::None {
            self.clocks[opponent] = Clock::new(control);
        }
        self.notes.note_time();
    }

    /// Returns the clock of a player.
    pub fn clock(&self, color: Color) -> &Clock {
        &self.clocks[color]
    }

    /// Plays a move of the game record. Unless the settings are strict, tolerates violations of the rules, and returns
    /// the violation that a strict reading of the rules finds, if any.
    ///
    /// # Errors
    ///
    /// Returns an [`IllegalMove`] if the move is refused. The game is then unchanged.
    pub fn play(&mut self, color: Color, mv: Move) -> Result<Option<IllegalMove>, IllegalMove> {
        let objection = if self.settings.strict {
            self.game.play(color, mv).map(|()| None)
        } else {
            self.game.play_tolerant(color, mv)
        }?;
        self.notes.note_move(self.game.records().len(), None);
        Ok(objection)
    }

    /// Plays several moves of the game record, or none of them.
    ///
    /// # Errors
    ///
    /// Returns the index of the first refused move, counted from 0, and the reason. The game is then unchanged.
    pub fn play_all(&mut self, moves: &[(Color, Move)]) -> Result<(), (usize, IllegalMove)> {
        let before = (self.game.clone(), self.notes.clone());
        for (index, &(color, mv)) in moves.iter().enumerate() {
            if let Err(objection) = self.play(color, mv) {
                (self.game, self.notes) = before;
                return Err((index, objection));
            }
        }
        Ok(())
    }

    /// Takes back the latest move. Returns false if there is no move to take back.
    pub fn undo(&mut self) -> bool {
        self.status = None;
        let is_undone = self.game.undo().is_some();
        if is_undone {
            self.notes.note_undo(self.game.records().len());
        }
        is_undone
    }

    /// Searches the position for `color`, to these limits regardless of the clocks. The engine neither passes nor
    /// resigns instead. A finished game is searched as if play continued. The side to move does not change, and the
    /// statistics are kept for the next search.
    pub fn analyze(&mut self, color: Color, limits: &Limits, request: SearchRequest<'_>) -> &SearchReport {
        let mut game = analyst::analysed(self.game.clone());
        game.set_to_move(color);
        let report = self.run_search(&game, limits, request, Purpose::Analysis);
        self.report.insert(report)
    }

    /// Searches the position for a move of `color`, to these limits regardless of the clocks, without deciding
    /// anything. The statistics are kept. If they already reach the limits of a following [`genmove`](Engine::genmove),
    /// it chooses from them, so a caller can search for a move in several steps.
    pub fn search_for_move(
        &mut self,
        color: Color,
        limits: &Limits,
        request: SearchRequest<'_>,
    ) -> &SearchReport {
        let game = self.game_with_turn(color);
        let report = self.run_search(&game, limits, request, Purpose::Play);
        self.report.insert(report)
    }

    /// Returns the game with this side to move.
    fn game_with_turn(&self, color: Color) -> Game {
        let mut game = self.game.clone();
        game.set_to_move(color);
        game
    }

    /// Returns the analysis of the position that was searched last, from Black's perspective.
    pub fn last_analysis(&self) -> Option<Analysis> {
        Some(Analysis::new(self.report.as_ref()?, &Extras::default()))
    }

    /// Sets the side to move.
    pub fn set_to_move(&mut self, color: Color) {
        if self.game.to_move() != color {
            self.game.set_to_move(color);
            self.notes.note_change();
        }
    }

    /// Returns the number of searches since the game began.
    pub fn searches(&self) -> u64 {
        self.searches
    }

    /// Searches a position of this game on behalf of its side to move.
    fn run_search(
        &mut self,
        game: &Game,
        limits: &Limits,
        request: SearchRequest<'_>,
        purpose: Purpose,
    ) -> SearchReport {
        let stopwatch = Stopwatch::start(self.time_source);
        let SearchRequest { interrupted, restriction, noise, detail, evaluates_root, observer } = request;
        self.apply_advantage(game.to_move(), purpose);
        let plan = self.plan(game, limits, purpose, noise);
        self.clear_if_exploration_changed(&plan);
        self.clear_if_deep_restriction_changed(&restriction);
        self.searches += 1;
        self.report_key = game.graph_key();
        let seed = mix(self.settings.seed).wrapping_add(self.searches);
        let (search, spread) = (&mut self.search, &mut self.spread);
        let elapsed = || stopwatch.elapsed();
        let context = SearchContext {
            restriction: &restriction,
            evaluates_root,
            detail,
            ..plan.context(limits, &elapsed, interrupted)
        };
        let report = match observer {
            None => spread::run(spread, search, game, seed, &context),
            Some(observer) if !HAS_THREADS => {
                observe_in_slices(game, limits, &context, observer, |slice, context| {
                    spread::run(spread, search, game, slice_seed(seed, slice), context)
                })
            }
            // Workers send the reports. The observer runs on this thread.
            Some(observer) => thread::scope(|scope| {
                let (sender, reports) = mpsc::channel();
                let searching = scope.spawn(move || {
                    // If the receiver is gone, the search continues without it.
                    let on_report = move |report: SearchReport| sender.send(report).unwrap_or_default();
                    let reporting = Some(Reporting {
                        first: observer.every,
                        every: observer.every,
                        on_report: &on_report,
                    });
                    spread::run(spread, search, game, seed, &SearchContext { reporting, ..context })
                });
                for report in reports {
                    (observer.on_report)(game, &report);
                }
                searching.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }),
        };
        self.time_manager.note_search(stopwatch.elapsed(), report.playouts, self.search.threads());
        report
    }

    /// Returns the hits and misses of the cache of the solver's results on small regions.
    pub fn memo_usage(&self) -> MemoUsage {
        self.memo.usage()
    }

    /// Returns the owner of every point: counted if the game is over, otherwise expected. The result depends on the
    /// position alone.
    pub fn final_status(&mut self) -> FinalStatus {
        self.status_at(self.moment())
    }

    /// Returns the moment of the game that [`final_status`](Engine::final_status) is about. Under rules by which every
    /// stone counts as alive, nothing needs to be judged at the end, and the moment is always [`Moment::DuringPlay`].
    fn moment(&self) -> Moment {
        if self.game.is_over() && self.game.rules().friendly_pass { Moment::End } else { Moment::DuringPlay }
    }

    /// Returns the owner of every point if the game ended now by two passes.
    pub(crate) fn status_if_over(&mut self) -> FinalStatus {
        self.status_at(Moment::End)
    }

    fn status_at(&mut self, moment: Moment) -> FinalStatus {
        let key = (self.game.graph_key(), moment);
        if let Some((known, status)) = &self.status
            && *known == key
        {
            return status.clone();
        }
        let stopwatch = Stopwatch::start(self.time_source);
        let status = status::final_status(&mut self.memo, &self.game, moment, self.search.evaluator());
        self.time_manager.note_status(stopwatch.elapsed());
        self.status = Some((key, status.clone()));
        if self.game.is_over() {
            // The result of the game may have become known.
            self.notes.note_time();
        }
        status
    }
}
