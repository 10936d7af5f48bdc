//! The engine: a game, a search, clocks. What the protocol and the command line call.
//!
//! The only room that reads a clock. Decides what the search must not know of: when to pass, when to resign,
//! which stones are dead at the end.

mod analyst;
mod cleanup;
mod dead;
mod decide;
mod evaluator;
mod expected;
mod human;
mod passing;
mod queries;
mod rank;
mod reading;
mod record;
mod request;
mod settings;
mod spread;
mod status;
mod survival;
#[cfg(test)]
mod tests;
mod time_manager;
mod uneven;

pub use analyst::{Analyst, AnalystSettings, Question, Reports};
pub use evaluator::{EngineEvaluator, run_search};
pub use record::{Remarks, Revision};
pub use request::{Decision, Observer, SearchRequest};
pub use settings::{DEFAULT_MOVE_TIME, EngineSettings, HumanSettings, processors};
pub use spread::{OnLoss, RankLink};
pub use status::FinalStatus;
pub use survival::{Judgement, SurvivalQuestion};

use crate::board::{BoardSize, ByColor, Color, Key, Move, Symmetry};
use crate::eval::{NetworkEvaluator, NetworkSettings};
use crate::game::{Game, IllegalMove, Line};
use crate::net::{Network, NotFinite, Prediction, features};
use crate::rng::mix;
use crate::rules::Rules;
use crate::search::{
    Analysis, AntiMirror, Extras, Limits, Reporting, RootNoise, Search, SearchChanges, SearchContext,
    SearchParams, SearchReport, Shares, TreeExploration,
};
use crate::solve::{Memo, MemoUsage};
use crate::time::{Clock, TimeControl};
use record::GameNotes;
use spread::Spread;
use status::Moment;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use time_manager::TimeManager;
use uneven::Uneven;

/// See the [module documentation](self).
#[derive(Debug)]
pub struct Engine {
    settings: EngineSettings,
    game: Game,
    search: Search<EngineEvaluator>,
    /// The ranks that searches are spread over, if they are.
    spread: Option<Spread>,
    /// A second network, which knows what people play.
    human: Option<Box<NetworkEvaluator>>,
    /// What positions below the root were explored by where the graph at hand was searched.
    explored: Option<Explored>,
    clocks: ByColor<Clock>,
    /// Searches since the game began: each has random numbers of its own.
    searches: u64,
    report: Option<SearchReport>,
    /// The position of the report.
    searched: Key,
    status: Option<((Key, Moment), FinalStatus)>,
    /// What was read about small regions.
    memo: Memo,
    /// What there is to say about the game besides its moves.
    notes: GameNotes,
    time_manager: TimeManager,
    /// What the network is told of the players' strength.
    uneven: Uneven,
}

/// What a search is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Purpose {
    /// A move that is to be played.
    Play,
    /// What every move is worth.
    Analysis,
    /// What the opponent may answer, on his time.
    Pondering,
}

/// See [`TreeExploration::kind`].
type Explored = (ByColor<Shares>, [f32; 2]);

/// For whom a search of a position in which this player is on turn is made: on the opponent's time, the player thinks who has
/// just moved.
fn thinks(to_move: Color, purpose: Purpose) -> Color {
    if purpose == Purpose::Pondering { to_move.opponent() } else { to_move }
}

/// What the search of an engine with these settings goes by, on boards of this size.
fn params(evaluator: &EngineEvaluator, settings: &EngineSettings, size: BoardSize) -> SearchParams {
    let is_ranked = settings.rank.is_some() && evaluator.network().is_some();
    // What ranks play was measured with the same parameters for all networks.
    let usual = if is_ranked { SearchParams::for_network() } else { evaluator.search_params(size) };
    usual.for_workers(settings.threads, processors()).changed(&settings.search)
}

impl Engine {
    /// An engine with a 19×19 board, which plays with playouts.
    pub fn new(settings: EngineSettings) -> Engine {
        Engine::with_network(settings, None)
    }

    /// An engine with a 19×19 board, which plays with a network if it is given one.
    pub fn with_network(settings: EngineSettings, network: Option<Arc<Network>>) -> Engine {
        let is_human = network.as_ref().is_some_and(|network| network.takes_metadata());
        let settings = if is_human { settings.with_human_network() } else { settings };
        let size = BoardSize::square(19).unwrap_or_else(|| unreachable!("19 is a size"));
        let komi = settings.komi.unwrap_or(settings.rules.usual_komi());
        let game = Game::new(size, settings.rules, komi).with_sharing(settings.sharing);
        let evaluator = EngineEvaluator::new(&settings, network);
        let params = params(&evaluator, &settings, size);
        let memory = evaluator::table_mebibytes(&settings, &evaluator);
        let search = Search::new(evaluator, params, memory, settings.threads);
        let clocks = ByColor::new(Clock::new(TimeControl::None), Clock::new(TimeControl::None));
        Engine {
            settings,
            game,
            search,
            spread: None,
            human: None,
            explored: None,
            clocks,
            searches: 0,
            report: None,
            searched: Key::default(),
            status: None,
            memo: Memo::new(reading::ANSWERS),
            notes: GameNotes::default(),
            time_manager: TimeManager::default(),
            uneven: Uneven::default(),
        }
    }

    /// The settings.
    pub fn settings(&self) -> &EngineSettings {
        &self.settings
    }

    /// Changes how the engine plays from here on. Memory, network and kernel stay, and so do the rules and the komi of
    /// the game. If positions are to be evaluated in another way, everything that was learned is forgotten.
    pub fn change_settings(&mut self, wanted: EngineSettings) {
        let built = self.settings;
        // Another rank is another profile.
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
        if wanted.threads != built.threads {
            self.search.set_threads(wanted.threads);
        }
        if wanted.sharing != built.sharing {
            self.game = self.game.clone().with_sharing(wanted.sharing);
        }
        self.fit_search(self.game.size());
    }

    /// Gives the search the parameters for boards of this size.
    fn fit_search(&mut self, size: BoardSize) {
        self.search.set_params(params(self.search.evaluator(), &self.settings, size));
    }

    /// The limits of a search for a move where no clock is to be watched.
    pub fn limits_without_clock(&self) -> Limits {
        self.limits(None)
    }

    /// What makes the first evaluation on a board of this size slow, to be done beforehand, on any thread. No answer
    /// depends on whether it is.
    pub fn warm_up(&self) -> impl FnOnce() + Send + 'static {
        self.search.evaluator().warm_up(self.game.cleared())
    }

    /// The game.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// What the network says of the position, if this player is on turn, seen through a symmetry of the board, and with
    /// so much of its optimistic policy; `None` without a network.
    ///
    /// # Errors
    /// If the network answers with numbers that are not finite.
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
        let mut game = self.game.clone();
        game.set_to_move(color);
        Some(evaluator.predict(&Line::new(&game), symmetry, optimism))
    }

    /// The search, for its statistics.
    pub fn search(&self) -> &Search<EngineEvaluator> {
        &self.search
    }

    /// The latest search's result.
    pub fn last_report(&self) -> Option<&SearchReport> {
        self.report.as_ref()
    }

    /// Puts another game on the board. What was learned is kept where it still applies.
    pub fn set_game(&mut self, game: Game) {
        if game.size() != self.game.size() {
            self.clear_search();
        }
        self.fit_search(game.size());
        self.game = if game.sharing() == self.settings.sharing {
            game
        } else {
            game.with_sharing(self.settings.sharing)
        };
        self.report = None;
        self.status = None;
        self.notes.begin();
        self.time_manager.begin_game();
        self.uneven = Uneven::default();
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
        self.notes.begin();
        self.time_manager.begin_game();
        self.uneven = Uneven::default();
        self.start_new_game();
    }

    /// Starts the sequence of chance and the clocks anew, and forgets everything that was learned.
    fn start_new_game(&mut self) {
        self.clocks = self.clocks.map(Clock::restarted);
        self.forget();
    }

    /// Forgets everything that was learned, and starts the sequence of chance anew.
    pub fn forget(&mut self) {
        self.clear_search();
        self.clear_evaluations();
        self.report = None;
        self.status = None;
        self.searches = 0;
    }

    /// Forgets what networks have said.
    fn clear_evaluations(&self) {
        self.search.evaluator().clear();
        if let Some(human) = &self.human {
            human.cache().clear();
        }
    }

    /// Forgets what searches have learned, here and on all ranks.
    fn clear_search(&mut self) {
        self.search.clear();
        if let Some(spread) = &mut self.spread {
            spread.clear();
        }
    }

    /// Sets the komi; the moves stay.
    pub fn set_komi(&mut self, komi: f32) {
        self.game = self.game.with_rules(self.game.rules(), komi);
        self.notes.note_change();
    }

    /// Sets the rules; the moves stay. Records that name no rules have these from now on.
    pub fn set_rules(&mut self, rules: Rules) {
        self.settings.rules = rules;
        self.game = self.game.with_rules(rules, self.game.komi());
        self.notes.note_change();
    }

    /// Sets the seed of all chance from here on.
    pub fn set_seed(&mut self, seed: u64) {
        self.settings.seed = seed;
        self.searches = 0;
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.settings.seed
    }

    /// Sets both players' clocks to the start of a game with this control.
    pub fn set_time_control(&mut self, control: TimeControl) {
        self.clocks = ByColor::new(Clock::new(control), Clock::new(control));
        self.notes.note_change();
    }

    /// Sets what is left on a player's clock, as GTP's `time_left` tells it: `stones_or_periods` is 0 during the
    /// main time. See [`Clock::hear_time_left`].
    pub fn set_time_left(&mut self, color: Color, time: Duration, stones_or_periods: u32) {
        self.clocks[color].hear_time_left(time, stones_or_periods);
        // If nobody announced how the game is timed, this says it of both.
        let (control, opponent) = (self.clocks[color].control(), color.opponent());
        if self.clocks[opponent].control() == TimeControl::None {
            self.clocks[opponent] = Clock::new(control);
        }
        self.notes.note_time();
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
        let objection = if self.settings.strict {
            self.game.play(color, mv).map(|()| None)
        } else {
            self.game.play_tolerant(color, mv)
        }?;
        self.notes.note_move(self.game.records().len(), None);
        Ok(objection)
    }

    /// Follows several moves of the record, or none of them.
    ///
    /// # Errors
    /// The number of the first move that is refused, counted from 0, and why it is; nothing has changed then.
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

    /// Takes the latest move back; false if there is none.
    pub fn undo(&mut self) -> bool {
        self.status = None;
        let is_undone = self.game.undo().is_some();
        if is_undone {
            self.notes.note_undo(self.game.records().len());
        }
        is_undone
    }

    /// Searches the position for `color`, to these limits whatever the clocks say, and neither passes nor
    /// resigns instead. A game that is over is searched as if play went on. Whose turn it is stays, and what was learned
    /// is kept for the next search.
    pub fn analyze(&mut self, color: Color, limits: &Limits, request: SearchRequest<'_>) -> &SearchReport {
        let mut game = analyst::analysed(&self.game);
        game.set_to_move(color);
        std::mem::swap(&mut self.game, &mut game);
        let report = self.run_search(limits, request, Purpose::Analysis);
        self.game = game;
        self.report.insert(report)
    }

    /// The analysis of the latest search's position from Black's perspective.
    pub fn last_analysis(&self) -> Option<Analysis> {
        Some(Analysis::new(self.report.as_ref()?, &Extras::default()))
    }

    /// Gives the turn to a player.
    pub fn set_to_move(&mut self, color: Color) {
        if self.game.to_move() != color {
            self.game.set_to_move(color);
            self.notes.note_change();
        }
    }

    /// Number of searches since the game began.
    pub fn searches(&self) -> u64 {
        self.searches
    }

    fn run_search(&mut self, limits: &Limits, request: SearchRequest<'_>, purpose: Purpose) -> SearchReport {
        let start = Instant::now();
        let for_play = purpose == Purpose::Play;
        self.tell_advantage(purpose);
        let tree_exploration = self.explore_tree(purpose);
        self.searches += 1;
        self.searched = self.game.graph_key();
        let seed = mix(self.settings.seed).wrapping_add(self.searches);
        let exploration = self.root_exploration().or_else(|| self.ranked_exploration());
        let SearchRequest { interrupted, restriction, noise, detail, evaluates_root, observer } = request;
        let noise = noise.or_else(|| self.wide_noise(for_play));
        let anti_mirror = self.against_mirror(for_play);
        let usual = self.search.params();
        if anti_mirror.is_some() {
            // Visits that are given to a mirrored reply are not to be taken for mistakes.
            let changes = SearchChanges { use_noise_pruning: Some(false), ..SearchChanges::default() };
            self.search.set_params(usual.changed(&changes));
        }
        let (search, spread, game) = (&mut self.search, &mut self.spread, &self.game);
        let elapsed = || start.elapsed();
        let context = SearchContext {
            restriction: &restriction,
            exploration: exploration.as_ref(),
            tree_exploration: tree_exploration.as_ref(),
            noise: noise.as_ref(),
            anti_mirror,
            for_play,
            evaluates_root,
            detail,
            ..SearchContext::new(limits, &elapsed, interrupted)
        };
        let Some(observer) = observer else {
            let report = spread::run(spread, search, game, seed, &context);
            self.search.set_params(usual);
            self.time_manager.note_search(start.elapsed(), report.playouts, self.settings.threads);
            return report;
        };
        // Reports come from a worker; the observer stays on this thread.
        let report = thread::scope(|scope| {
            let (sender, reports) = mpsc::channel();
            let searching = scope.spawn(move || {
                // If nobody listens any more, the search goes on.
                let on_report = move |report: SearchReport| sender.send(report).unwrap_or_default();
                let reporting =
                    Some(Reporting { first: observer.every, every: observer.every, on_report: &on_report });
                spread::run(spread, search, game, seed, &SearchContext { reporting, ..context })
            });
            for report in reports {
                (observer.on_report)(game, &report);
            }
            searching.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        self.search.set_params(usual);
        self.time_manager.note_search(start.elapsed(), report.playouts, self.settings.threads);
        report
    }

    /// What the network is told of Black's advantage in a search of a position in which this player is on turn.
    fn black_advantage(&self, to_move: Color, purpose: Purpose) -> f32 {
        if purpose != Purpose::Analysis && self.follows_handicap() {
            return self.uneven.black_advantage();
        }
        let advantaged = self.settings.advantaged.unwrap_or(thinks(to_move, purpose));
        self.settings.doubling_advantage * advantaged.sign() as f32
    }

    /// Does the advantage follow handicap and komi when moves are to be played?
    fn follows_handicap(&self) -> bool {
        self.settings.doubling_advantage_per_point > 0.0
            && self.search.evaluator().network().is_some_and(|it| features::knows_advantage(it.network()))
    }

    /// Tells the network who has which advantage. If that is news, everything that was learned is forgotten.
    fn tell_advantage(&mut self, purpose: Purpose) {
        let wanted = self.black_advantage(self.game.to_move(), purpose);
        let Some(network) = self.search.evaluator().network() else { return };
        let settings = network.settings();
        if settings.black_doubling_advantage != wanted {
            let network =
                network.with_settings(NetworkSettings { black_doubling_advantage: wanted, ..settings });
            self.search.set_evaluator(EngineEvaluator::Network(Box::new(network)));
            self.status = None;
        }
    }

    /// What this search is to expect of people below its root. If the graph at hand was searched with other expectations,
    /// it is forgotten.
    fn explore_tree(&mut self, purpose: Purpose) -> Option<TreeExploration> {
        let exploration = self.tree_exploration(thinks(self.game.to_move(), purpose));
        let wanted = exploration.as_ref().map(TreeExploration::kind);
        if self.explored != wanted {
            self.explored = wanted;
            self.clear_search();
        }
        exploration
    }

    /// What lets a search look at more moves than it needs, if that is wanted.
    fn wide_noise(&self, for_play: bool) -> Option<RootNoise> {
        let settings = &self.settings;
        let amount = if for_play { settings.wide_root_noise } else { settings.analysis_wide_root_noise };
        let is_wanted = amount > 0.0 && self.search.evaluator().network().is_some();
        is_wanted.then(|| RootNoise::wide(amount))
    }

    /// What to do about an opponent who mirrors, if that is wanted.
    fn against_mirror(&self, for_play: bool) -> Option<AntiMirror> {
        let settings = &self.settings;
        let is_wanted = if for_play { settings.genmove_anti_mirror } else { settings.anti_mirror };
        self.search.evaluator().network().filter(|_| is_wanted)?;
        AntiMirror::against(&self.game)
    }

    /// How much of what was read about small regions had been read before.
    pub fn memo_usage(&self) -> MemoUsage {
        self.memo.usage()
    }

    /// The owner of every point: counted if the game is over, otherwise as far as it can be foreseen. The same position always gets
    /// the same answer.
    pub fn final_status(&mut self) -> FinalStatus {
        self.status_at(self.moment())
    }

    /// What [`final_status`](Engine::final_status) is about. Where every stone counts as alive, there is nothing to judge at
    /// the end either.
    fn moment(&self) -> Moment {
        if self.game.is_over() && self.game.rules().friendly_pass { Moment::End } else { Moment::DuringPlay }
    }

    /// The owner of every point if both players passed now.
    pub(super) fn status_if_over(&mut self) -> FinalStatus {
        self.status_at(Moment::End)
    }

    fn status_at(&mut self, moment: Moment) -> FinalStatus {
        let key = (self.game.graph_key(), moment);
        if let Some((known, status)) = &self.status
            && *known == key
        {
            return status.clone();
        }
        let start = Instant::now();
        let status = status::final_status(&mut self.memo, &self.game, moment, self.search.evaluator());
        self.time_manager.note_status(start.elapsed());
        self.status = Some((key, status.clone()));
        if self.game.is_over() {
            // Now the result is known.
            self.notes.note_time();
        }
        status
    }
}
