#![doc = include_str!("README.md")]
//!
//! Monte-Carlo graph search.
//!
//! ```text
//!   simulation:  select ──▶ expand ──▶ evaluate ──▶ back up        (worker/)
//!                select.rs   table.rs   eval/         node.rs
//! ```
//!
//! Nodes are positions, keyed by the history-aware key of [`graph_key`](kosumi_go::graph_key): a position that is
//! reached by different orders of moves is one node, and all paths share its statistics. [`node`] describes how
//! statistics stay sound on a graph.
//!
//! The search prints nothing and reads no clock: the caller supplies the elapsed time, and the search returns a
//! [`SearchReport`].
//!
//! Invariants (tests of these names in `search::tests`):
//! - one thread, one seed, a fixed number of simulations: the same report, on every machine (`deterministic`);
//! - after a search no descent is in progress anywhere, and all sums and means are exact (`sums_are_exact`,
//!   `means_are_exact`, `bias_sums_are_exact`);
//! - no descent plays a move that is illegal on its own path (`descents_are_legal`);
//! - a full table changes speed and strength, never legality, and nothing grows (`full_table_is_no_error`).

pub mod analysis;
pub mod bias;
pub mod counters;
pub mod exploration;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
#[cfg(test)]
mod many_workers;
pub mod means;
mod mirror;
#[cfg(all(test, loom))]
mod models;
pub mod node;
pub mod noise;
pub mod owners;
pub mod params;
mod progress;
pub mod registry;
pub mod report;
pub mod restriction;
pub mod root_moves;
mod sample;
pub mod select;
pub mod stop;
pub mod table;
#[cfg(test)]
mod tests;
pub mod utility;
pub mod valuation;
pub mod worker;
mod workers;

pub use analysis::{Analysis, Expectation, Extras, HumanView, MoveAnalysis, RawView};
pub use exploration::{ExplorationShares, PriorSource, RootExploration, TreeExploration};
pub use mirror::AntiMirror;
pub use noise::RootNoise;
pub use owners::{Detail, Owners};
pub use params::{Choice, Formula, PuctParams, RaveParams, RootParams, SearchChanges, SearchParams};
pub use report::{MoveReport, SearchReport};
pub use restriction::Restriction;
pub use stop::{Limits, SearchStats, StopRule};
pub use table::{NodeTable, StoredMoves, TableUse};

use bias::BiasTable;
use counters::Counters;
use kosumi_eval::{Evaluator, Ownership, Prior};
use kosumi_go::board::{Color, Key, Move};
use kosumi_go::game::{Game, Line};
use kosumi_go::rng::Rng;
use kosumi_sync::Mutex;
use kosumi_sync::atomic::{AtomicU32, Ordering};
use node::NodeId;
use params::View;
use progress::{LoopSettings, Progress};
use std::cmp::Reverse;
use std::fmt;
use std::time::Duration;
use utility::UtilityScale;
use valuation::Valuation;
use worker::{Worker, WorkerContext};
use workers::Workers;

static NO_RESTRICTION: Restriction = Restriction::NONE;

/// Limits, time, interruption and reports of a search. Only `restriction`, `for_play`, `anti_mirror`, the explorations
/// and `noise` change the result of a search that runs to a fixed number of simulations.
#[derive(Clone, Copy)]
pub struct SearchContext<'a> {
    /// Rule that ends the search.
    pub stop: &'a dyn StopRule,
    /// Returns the time since the search began.
    pub elapsed: &'a (dyn Fn() -> Duration + Sync),
    /// Returns whether to stop the search at once. Polled during the search.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
    /// Reports while the search runs, if wanted.
    pub reporting: Option<Reporting<'a>>,
    /// Parameters of this search. `None` stands for those of the [`Search`].
    pub params: Option<SearchParams>,
    /// Moves that must not be searched.
    pub restriction: &'a Restriction,
    /// Simulations that choose the root's move by other priors.
    pub exploration: Option<&'a RootExploration>,
    /// Simulations that choose moves below the root by other priors. Ignored by searches with playouts. Statistics
    /// collected with different explorations, or without one, are not comparable: see [`TreeExploration::parameters`].
    pub tree_exploration: Option<&'a TreeExploration>,
    /// Noise on the root's probabilities. Ignored by searches with playouts.
    pub noise: Option<&'a RootNoise>,
    /// Measures against an opponent that mirrors moves. Ignored by searches with playouts.
    pub anti_mirror: Option<AntiMirror>,
    /// Whether the search serves to find one good move, not the values of all moves. It then leaves out moves of the
    /// root that cannot be better than others, see [`RootParams`]. Has no effect with an `exploration` or `noise`, or
    /// with playouts.
    pub for_play: bool,
    /// Whether the position itself is evaluated first, as the first visit of the root, if that has not been done.
    /// Ignored with playouts.
    pub evaluates_root: bool,
    /// Contents of reports besides the statistics of the search.
    pub detail: Detail,
}

impl<'a> SearchContext<'a> {
    /// Creates the context of a search without reports in which every move may be searched.
    pub fn new(
        stop: &'a dyn StopRule,
        elapsed: &'a (dyn Fn() -> Duration + Sync),
        interrupted: &'a (dyn Fn() -> bool + Sync),
    ) -> SearchContext<'a> {
        SearchContext {
            stop,
            elapsed,
            interrupted,
            reporting: None,
            params: None,
            restriction: &NO_RESTRICTION,
            exploration: None,
            tree_exploration: None,
            noise: None,
            anti_mirror: None,
            for_play: false,
            evaluates_root: false,
            detail: Detail::default(),
        }
    }
}

/// Settings of the reports while a search runs.
#[derive(Clone, Copy)]
pub struct Reporting<'a> {
    /// Time until the first report.
    pub first: Duration,
    /// Time between two reports.
    pub every: Duration,
    /// Called by one of the workers. The ownership in the report comes from this worker's evaluations alone.
    pub on_report: &'a (dyn Fn(SearchReport) + Sync),
}

impl fmt::Debug for Reporting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporting").field("every", &self.every).finish_non_exhaustive()
    }
}

impl fmt::Debug for SearchContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SearchContext")
    }
}

/// Function that changes the priors of moves.
pub type AdjustPriors<'a> = dyn FnMut(&mut Vec<(Move, Prior)>) + 'a;

/// Gives the moves of a node, which is the game's position, the priors of a root at this temperature.
pub fn set_root_priors_of<E: Evaluator>(
    table: &NodeTable,
    evaluator: &E,
    root: NodeId,
    game: &Game,
    temperature: f32,
) {
    let mut moves = Vec::new();
    evaluator.clone().expand_root(&Line::new(game), &mut moves);
    root_moves::temper(&mut moves, temperature);
    // This changes nothing if the root already has moves.
    table.expand(root, true, || &moves);
    table.extend(root, true, || &moves);
    for edge in table.edges(table.node(root)) {
        if let Some(&(_, prior)) = moves.iter().find(|(mv, _)| *mv == edge.mv()) {
            edge.set_prior(prior);
        }
    }
}

/// Returns the root's moves that a search for a move to play may leave out. The root has moves when the function
/// returns.
pub fn pruned_moves<E: Evaluator>(
    table: &NodeTable,
    evaluator: &E,
    root: NodeId,
    game: &Game,
    params: &RootParams,
    restriction: &Restriction,
) -> Vec<Move> {
    if !root_moves::may_be_pruned(game, params) {
        return Vec::new();
    }
    let mut moves = Vec::new();
    table.expand(root, true, || {
        evaluator.clone().expand(&Line::new(game), &mut moves);
        &moves
    });
    let permits = |mv| restriction.permits(game.to_move(), mv, 0);
    let edges = table.edges(table.node(root)).filter(|edge| permits(edge.mv()));
    let known = edges.map(|edge| (edge.mv(), (edge.visits(), edge.prior().pack()), edge.order()));
    let mut known: Vec<_> = known.collect();
    known.sort_by_key(|&(_, known, order)| (Reverse(known), order));
    let moves: Vec<Move> = known.into_iter().map(|(mv, ..)| mv).collect();
    root_moves::pruned(game, params, &moves)
}

/// Returns the factor for the probabilities of the root's other moves when `pruned` is left out, so that they sum to 1.
/// The first-play urgency depends on the summed probability of the visited moves.
pub fn scale_without(table: &NodeTable, root: NodeId, pruned: &[Move]) -> f32 {
    if pruned.is_empty() {
        return 1.0;
    }
    let edges = table.edges(table.node(root)).filter(|edge| !pruned.contains(&edge.mv()));
    let left: f32 = edges.map(|edge| edge.prior().probability()).sum();
    if left > 0.0 { 1.0 / left } else { 1.0 }
}

/// Largest number of simulations between two checks of limits and clock. The first batch has one simulation: the first
/// simulation of a search is the slowest, and a limit may be near.
const BATCH: u32 = 16;

fn storing(params: &SearchParams) -> StoredMoves {
    match params.formula {
        Formula::Rave(_) => StoredMoves::All,
        Formula::Puct(_) => StoredMoves::Likely,
    }
}

/// A search and its statistics, reused from move to move.
#[derive(Debug)]
pub struct Search<E> {
    params: SearchParams,
    mebibytes: usize,
    table: NodeTable,
    bias: BiasTable,
    /// Scale of the utilities, under PUCT.
    scale: Option<UtilityScale>,
    /// The root and the constants for which all means and utilities were computed.
    valued_for: Option<(Key, PuctParams)>,
    /// The root whose moves have root priors, with their temperature, and the number of board symmetries averaged in
    /// them.
    root_priors: (Option<(Key, f32)>, AtomicU32),
    evaluator: E,
    workers: Workers,
}

impl<E: Evaluator + Sync> Search<E> {
    /// Creates a search with `threads` workers (at least 1) and a node table of `mebibytes`.
    pub fn new(evaluator: E, params: SearchParams, mebibytes: usize, threads: usize) -> Search<E> {
        let table = NodeTable::new(mebibytes, storing(&params));
        let (bias, workers) = (BiasTable::new(), Workers::start(threads));
        let (scale, valued_for, root_priors) = (None, None, (None, AtomicU32::new(1)));
        Search { params, mebibytes, table, bias, scale, valued_for, root_priors, evaluator, workers }
    }

    /// Changes the number of workers (at least 1) and keeps all statistics. If the threads cannot be created, the
    /// search has one worker.
    pub fn set_threads(&mut self, threads: usize) {
        self.workers = Workers::start(threads);
    }

    /// Discards all statistics.
    pub fn clear(&mut self) {
        self.table.clear();
        self.bias.clear();
        self.valued_for = None;
        self.root_priors = (None, AtomicU32::new(1));
    }

    /// Replaces the evaluator and discards all statistics.
    pub fn set_evaluator(&mut self, evaluator: E) {
        self.evaluator = evaluator;
        self.clear();
    }

    /// Changes the parameters. Statistics are kept unless the kind of formula changes.
    pub fn set_params(&mut self, params: SearchParams) {
        self.params = params;
        self.fit_table(&params);
    }

    /// Replaces the table if it was made for another formula than that of these parameters.
    fn fit_table(&mut self, params: &SearchParams) {
        if self.table.stored_moves() != storing(params) {
            self.table = NodeTable::new(self.mebibytes, storing(params));
            self.clear();
        }
    }

    /// Returns the parameters.
    pub fn params(&self) -> SearchParams {
        self.params
    }

    /// Returns the evaluator, of which every worker gets a copy.
    pub fn evaluator(&self) -> &E {
        &self.evaluator
    }

    /// Returns the number of workers.
    pub fn threads(&self) -> usize {
        self.workers.count()
    }

    /// Returns the node table.
    pub fn table(&self) -> &NodeTable {
        &self.table
    }

    /// Searches the game's position for the side to move.
    pub fn run(&mut self, game: &Game, seed: u64, context: &SearchContext<'_>) -> SearchReport {
        let params = context.params.unwrap_or(self.params);
        self.fit_table(&params);
        let root = self.root(game, &params);
        self.set_root_priors(root, game, &params);
        self.set_values(root, game, &params);
        if context.evaluates_root && self.table.node(root).own_visits() == 0 {
            self.evaluate_root(root, game, &params);
        }
        self.run_from(root, game, &params, seed, context, Some(&self.root_priors.1))
    }

    /// Searches like [`run`](Search::run), but without freeing memory first and without root priors: no statistics are
    /// discarded or changed, whatever the position reaches. Returns `None` if the table is full and has no node for the
    /// position.
    pub fn run_in_place(&self, game: &Game, seed: u64, context: &SearchContext<'_>) -> Option<SearchReport> {
        let root = self.table.find_or_insert(game.graph_key())?;
        let params = context.params.unwrap_or(self.params);
        debug_assert_eq!(storing(&params), self.table.stored_moves(), "a table of the other formula");
        Some(self.run_from(root, game, &params, seed, context, None))
    }

    /// Starts from an empty table: discards all statistics and evaluates the game's position once, which counts as its
    /// first visit. `adjust` may change the priors of its moves. A following [`run_in_place`](Search::run_in_place) on
    /// the same game continues from there.
    pub fn restart(&mut self, game: &Game, adjust: &mut AdjustPriors<'_>) {
        self.clear();
        let Some(root) = self.table.find_or_insert(game.graph_key()) else { return };
        let (line, mut evaluator) = (Line::new(game), self.evaluator.clone());
        let (mut moves, mut rng) = (Vec::new(), Rng::new(0));
        let evaluation = evaluator.evaluate(&line, &mut rng, &mut moves);
        moves.clear();
        evaluator.expand_root(&line, &mut moves);
        adjust(&mut moves);
        self.table.expand(root, true, || &moves);
        let params = self.params;
        self.root_priors = (Some((game.graph_key(), params.root_temperature(game))), AtomicU32::new(1));
        self.set_values(root, game, &params);
        let root = self.table.node(root);
        match self.valuation(&params) {
            Some(valuation) => valuation.evaluated(root, game.to_move(), &evaluation, &mut Vec::new()),
            None => {
                root.add_own(node::to_fixed(evaluation.value));
                root.add_result(evaluation.score, evaluation.value * evaluation.value);
            }
        }
    }

    /// Evaluates the position of a root, which counts as a visit of it. Only under PUCT.
    fn evaluate_root(&self, root: NodeId, game: &Game, params: &SearchParams) {
        let Some(valuation) = self.valuation(params) else { return };
        let evaluation = self.evaluator.clone().evaluate(&Line::new(game), &mut Rng::new(0), &mut Vec::new());
        valuation.evaluated(self.table.node(root), game.to_move(), &evaluation, &mut Vec::new());
    }

    /// Returns the present statistics of the game's position; `None` if it has no node.
    pub fn report(&self, game: &Game) -> Option<SearchReport> {
        self.report_with(game, Detail::default())
    }

    /// Returns the statistics of the game's position with this detail; `None` if it has no node.
    pub fn report_with(&self, game: &Game, detail: Detail) -> Option<SearchReport> {
        let root = self.table.find(game.graph_key())?;
        self.complete(root, game);
        let counters = Counters::default();
        let view = View { params: &self.params, root_scale: 1.0 };
        let mut report = SearchReport::new(&self.table, root, game, &counters, Ownership::default(), view);
        report.add_detail(Some((&self.table, root)), game, &mut self.evaluator.clone(), detail);
        Some(report)
    }

    /// Gives the moves of the root the priors of the start of a search. A former root keeps these priors when a later
    /// search meets it below its root, which happens only after moves have been taken back.
    fn set_root_priors(&mut self, root: NodeId, game: &Game, params: &SearchParams) {
        let temperature = params.root_temperature(game);
        let current = Some((game.graph_key(), temperature));
        if self.root_priors.0 == current {
            return;
        }
        let had_other =
            self.root_priors.0.is_some_and(|(key, other)| key == game.graph_key() && other != temperature);
        self.root_priors = (current, AtomicU32::new(1));
        if !self.evaluator.has_root_priors() && temperature == 1.0 && !had_other {
            return;
        }
        set_root_priors_of(&self.table, &self.evaluator, root, game, temperature);
    }

    /// Returns the root's moves that a search for a move to play may leave out. The root has moves when the function
    /// returns.
    fn pruned(
        &self,
        root: NodeId,
        game: &Game,
        params: &SearchParams,
        context: &SearchContext<'_>,
    ) -> Vec<Move> {
        let is_wanted = context.for_play
            && context.exploration.is_none()
            && context.noise.is_none()
            && matches!(params.formula, Formula::Puct(_));
        if !is_wanted {
            return Vec::new();
        }
        pruned_moves(&self.table, &self.evaluator, root, game, &params.root, context.restriction)
    }

    /// Centres the utility scale on the score expected at the root, and recomputes the values of all nodes.
    fn set_values(&mut self, root: NodeId, game: &Game, params: &SearchParams) {
        let Formula::Puct(puct) = params.formula else { return };
        let current = Some((game.graph_key(), puct));
        if self.valued_for == current {
            return;
        }
        let known = self.table.node(root).means();
        let score = if known.weight > 0.0 {
            known.score
        } else {
            // The first simulation asks for the same evaluation and finds it in the cache.
            let line = Line::new(game);
            self.evaluator.clone().evaluate(&line, &mut Rng::new(0), &mut Vec::new()).score_mean
        };
        self.scale = Some(UtilityScale::new(&puct, game.size().area(), score));
        self.valued_for = current;
        if let Some(valuation) = self.valuation(params) {
            valuation.refresh_all(root, game.to_move());
        }
    }

    /// Returns the data on which values depend, under PUCT.
    fn valuation(&self, params: &SearchParams) -> Option<Valuation<'_>> {
        let Formula::Puct(params) = params.formula else { return None };
        let scale = self.scale.unwrap_or_else(|| UtilityScale::new(&params, 1, 0.0));
        Some(Valuation { table: &self.table, bias: &self.bias, params, scale })
    }

    /// Searches from a root. `views` counts the board symmetries averaged in the root's priors; without it, only one is
    /// used.
    fn run_from(
        &self,
        root: NodeId,
        game: &Game,
        params: &SearchParams,
        seed: u64,
        context: &SearchContext<'_>,
        views: Option<&AtomicU32>,
    ) -> SearchReport {
        let color = game.to_move();
        self.complete(root, game);
        self.table.node(root).allow_any_order();
        let pruned = self.pruned(root, game, params, context);
        let restriction = root_moves::with_avoided(context.restriction, color, pruned.clone());
        let context = &SearchContext { restriction: &restriction, ..*context };
        let edges = self.table.edges(self.table.node(root));
        let forbidden = edges.filter(|edge| !context.restriction.permits(color, edge.mv(), 0));
        let forbidden_visits = forbidden.map(|edge| edge.visits()).sum();
        let visits_before = self.table.node(root).visits().saturating_sub(forbidden_visits);
        let shared = SharedState {
            forbidden_visits,
            visits_before,
            progress: Progress::new(visits_before, params.descents_at_once),
            results: Mutex::default(),
        };
        let (valuation, temperature) = (self.valuation(params), params.root_temperature(game));
        let root_scale = scale_without(&self.table, root, &pruned);
        let common =
            WorkerContext { table: &self.table, params: *params, valuation, root, temperature, root_scale };
        let job = |index: usize| {
            let rng = Rng::for_worker(seed, index);
            let evaluator = self.evaluator.clone();
            let worker = Worker::new(common, game, evaluator, rng, context);
            let (reporting, views) = if index == 0 { (context.reporting, views) } else { (None, None) };
            shared.work(worker, game, root, context, reporting, views);
        };
        self.workers.run(&job);
        let (counters, ownership) = shared.results.into_inner().unwrap_or_else(|error| error.into_inner());
        let view = View { params, root_scale };
        let mut report = SearchReport::new(&self.table, root, game, &counters, ownership, view);
        // Earlier searches may have preferred an image that is left out now.
        report.moves.sort_by_key(|entry| pruned.contains(&entry.mv));
        report.add_detail(Some((&self.table, root)), game, &mut self.evaluator.clone(), context.detail);
        report
    }

    /// Gives a node all its moves if it already has some: the search considers all moves of the root.
    fn complete(&self, root: NodeId, game: &Game) {
        let node = self.table.node(root);
        if self.table.edges(node).is_empty() || self.table.is_complete(node) {
            return;
        }
        let mut moves = Vec::new();
        self.table.extend(root, true, || {
            self.evaluator.clone().expand(&Line::new(game), &mut moves);
            &moves
        });
    }

    /// Returns the game's node. If the table is more than half full, nodes that are unreachable from it are discarded
    /// first. If that does not free enough, all nodes are.
    fn root(&mut self, game: &Game, params: &SearchParams) -> NodeId {
        let key = game.graph_key();
        if self.table.usage().fullness() > 0.5 {
            if let Some(root) = self.table.find(key) {
                // Discarded nodes keep a share of their bias contributions, as unreachable nodes do.
                if let Some(valuation) = self.valuation(params) {
                    valuation.refresh_all(root, game.to_move());
                }
                self.table.collect(root);
            } else {
                self.clear();
            }
            if self.table.usage().fullness() > 0.75 {
                self.clear();
            }
        }
        // An empty table always has space for the root, because a table holds thousands of nodes.
        self.table.find_or_insert(key).unwrap_or_else(|| {
            self.clear();
            self.table.begin_with(key)
        })
    }
}

/// State that the workers of one search share, besides the table.
struct SharedState {
    /// Visits of root moves that this search must not consider, from earlier searches. They count for no limit.
    forbidden_visits: u32,
    /// Number of other visits that the root had when the search began.
    visits_before: u32,
    progress: Progress,
    results: Mutex<(Counters, Ownership)>,
}

impl SharedState {
    fn work<E: Evaluator>(
        &self,
        mut worker: Worker<'_, E>,
        game: &Game,
        root: NodeId,
        context: &SearchContext<'_>,
        reporting: Option<Reporting<'_>>,
        views: Option<&AtomicU32>,
    ) {
        let views = views.map(|views| (views, worker.evaluator.root_views(game.size())));
        let max_batch = if worker.evaluator.is_slow() { 1 } else { BATCH };
        let settings = LoopSettings { max_batch, waits: reporting.is_none() };
        let mut next_report = reporting.map(|reporting| reporting.first);
        self.progress.simulate(
            settings,
            &mut worker,
            // Tests and matches rely on an exact number of simulations.
            |begun| context.stop.count_reached(self.visits_before.saturating_add(begun), begun),
            |worker| {
                worker.simulate();
                if worker.is_not_counted_at_root() {
                    self.progress.not_counted_at_root.fetch_add(1, Ordering::Relaxed);
                }
                if let Some((averaged, most)) = views {
                    worker.refine_root_priors(averaged, most);
                }
            },
            |worker| {
                self.limit_reached(worker.table(), root, game.to_move(), context) || (context.interrupted)()
            },
            |worker| {
                if let (Some(reporting), Some(next)) = (reporting, &mut next_report)
                    && (context.elapsed)() >= *next
                {
                    let ownership = worker.evaluator.ownership().cloned().unwrap_or_default();
                    let counters = &worker.counters;
                    let mut own =
                        SearchReport::new(worker.table(), root, game, counters, ownership, worker.view());
                    own.playouts = self.progress.playouts.load(Ordering::Relaxed);
                    let tree = Some((worker.table(), root));
                    own.add_detail(tree, game, &mut worker.evaluator.clone(), context.detail);
                    (reporting.on_report)(own);
                    *next = (context.elapsed)() + reporting.every;
                }
            },
        );
        let mut results = self.results.lock().unwrap_or_else(|error| error.into_inner());
        let (counters, ownership) = &mut *results;
        counters.add(&worker.counters);
        if let Some(own) = worker.evaluator.ownership() {
            ownership.merge(game.size(), own);
        }
    }

    /// Returns the number of the root's visits that count for limits.
    fn visits(&self, root: &node::Node) -> u32 {
        let kept = self.progress.not_counted_at_root.load(Ordering::Relaxed);
        root.visits().saturating_sub(self.forbidden_visits).saturating_add(kept)
    }

    fn stats(
        &self,
        table: &NodeTable,
        root: NodeId,
        color: Color,
        context: &SearchContext<'_>,
    ) -> SearchStats {
        let node = table.node(root);
        let permits = |edge: &table::EdgeRef<'_>| context.restriction.permits(color, edge.mv(), 0);
        let best_two = stop::best_two(table.edges(node).filter(permits).map(|edge| edge.visits()));
        let playouts = self.progress.playouts.load(Ordering::Relaxed);
        let visits = self.visits(node);
        SearchStats { visits, playouts, elapsed: (context.elapsed)(), best_two }
    }

    fn limit_reached(
        &self,
        table: &NodeTable,
        root: NodeId,
        color: Color,
        context: &SearchContext<'_>,
    ) -> bool {
        context.stop.should_stop(&self.stats(table, root, color, context))
    }
}
