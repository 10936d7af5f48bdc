//! Monte-Carlo graph search.
//!
//! ```text
//!   simulation:  select ──▶ expand ──▶ evaluate ──▶ back up        (worker/)
//!                select.rs   table.rs   eval/         node.rs
//! ```
//!
//! Nodes are positions, keyed by the history-aware key of [`graph_key`](crate::graph_key): a position that is
//! reached by different orders of moves is one node, and what was learned on one path serves all. How statistics
//! stay sound on a graph is told in [`node`].
//!
//! The search prints nothing and reads no clock: it is told the elapsed time, and returns a [`SearchReport`].
//!
//! Invariants (tests of these names in `search::tests`):
//! - one thread, one seed, a fixed number of simulations: the same report, on every machine (`deterministic`);
//! - after a search no descent is in progress anywhere, and all sums and means are exact (`sums_are_exact`,
//!   `means_are_exact`, `what_is_noted_of_the_network_is_exact`);
//! - no descent plays a move that is illegal on its own path (`descents_are_legal`);
//! - a full table changes speed and strength, never legality, and nothing grows (`a_full_table_is_no_error`).

pub mod analysis;
pub(crate) mod bias;
pub(crate) mod counters;
pub mod exploration;
#[cfg(test)]
pub(crate) mod fixtures;
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
pub(crate) mod valuation;
pub(crate) mod worker;

pub use analysis::{Analysis, Expectation, Extras, HumanView, MoveAnalysis, RawView};
pub use exploration::{People, RootExploration, Shares, TreeExploration};
pub use mirror::AntiMirror;
pub use noise::RootNoise;
pub use owners::{Detail, Owners};
pub use params::{Choice, Formula, PuctParams, RaveParams, RootParams, SearchChanges, SearchParams};
pub use report::{MoveReport, SearchReport};
pub use restriction::{MoveRule, Restriction};
pub use stop::{Limits, SearchStats, StopRule};
pub use table::{NodeTable, Storing, TableUse};

use crate::board::{Color, Key, Move};
use crate::eval::{Evaluator, Ownership, Prior};
use crate::game::{Game, Line};
use crate::rng::Rng;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU32, Ordering};
use bias::BiasTable;
use counters::Counters;
use node::NodeId;
use params::View;
use progress::{Pace, Progress};
use std::cmp::Reverse;
use std::fmt;
use std::time::Duration;
use utility::Scale;
use valuation::Valuation;
use worker::{Common, Worker};

static NO_RESTRICTION: Restriction = Restriction::NONE;

/// Limits, time, interruption and reports of a search. But for `restriction`, explorations and `noise`, none of it changes the
/// result of a search that runs to a fixed number of simulations.
#[derive(Clone, Copy)]
pub struct SearchContext<'a> {
    /// When to stop.
    pub stop: &'a dyn StopRule,
    /// Time since the search began.
    pub elapsed: &'a (dyn Fn() -> Duration + Sync),
    /// Asked now and then; true stops the search at once.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
    /// Told what has been found so far, now and then.
    pub reporting: Option<Reporting<'a>>,
    /// Moves that are not to be searched.
    pub restriction: &'a Restriction,
    /// Simulations that choose the root's move otherwise.
    pub exploration: Option<&'a RootExploration>,
    /// Simulations that choose moves below the root otherwise; not by playouts. What was learned without them, or with
    /// others, is not what is learned with them: see [`TreeExploration::kind`].
    pub tree_exploration: Option<&'a TreeExploration>,
    /// Noise on the root's probabilities; not by playouts.
    pub noise: Option<&'a RootNoise>,
    /// What is done about an opponent who mirrors; not by playouts.
    pub anti_mirror: Option<AntiMirror>,
    /// Is one good move wanted, and not what every move is worth? Then moves of the root are left out that cannot be better
    /// than others, see [`RootParams`]; not with an `exploration` or `noise`, and not by playouts.
    pub for_play: bool,
    /// Is the position itself evaluated first, if that has not been done, as the first visit of the root? Not by playouts.
    pub evaluates_root: bool,
    /// What reports contain besides the statistics of the search.
    pub detail: Detail,
}

impl<'a> SearchContext<'a> {
    /// A search without reports in which every move may be searched.
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

/// Reports while a search runs.
#[derive(Clone, Copy)]
pub struct Reporting<'a> {
    /// Time until the first report.
    pub first: Duration,
    /// Time between two reports.
    pub every: Duration,
    /// Called by one of the workers. The ownership in the report is that of this worker's evaluations alone.
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

/// Changes the priors of moves.
pub type Adjust<'a> = dyn FnMut(&mut Vec<(Move, Prior)>) + 'a;

/// Gives the moves of a node, which is the game's position, the priors of a root, at this temperature.
pub(crate) fn give_root_priors<E: Evaluator>(
    table: &NodeTable,
    evaluator: &E,
    root: NodeId,
    game: &Game,
    temperature: f32,
) {
    let mut moves = Vec::new();
    evaluator.clone().expand_root(&Line::new(game), &mut moves);
    root_moves::temper(&mut moves, temperature);
    // Nothing happens if the root has moves already.
    table.expand(root, true, || &moves);
    table.extend(root, true, || &moves);
    for edge in table.edges(table.node(root)) {
        if let Some(&(_, prior)) = moves.iter().find(|(mv, _)| *mv == edge.mv()) {
            edge.set_prior(prior);
        }
    }
}

/// The moves of the root that need not be looked at when one is to be played. The root has moves then.
pub(crate) fn pruned_moves<E: Evaluator>(
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

/// What the probabilities of the root's moves are to be multiplied by when these are left out, so that they sum to 1:
/// what is thought of a move before its first visit depends on how probable those are that have been visited.
pub(crate) fn scale_without(table: &NodeTable, root: NodeId, pruned: &[Move]) -> f32 {
    if pruned.is_empty() {
        return 1.0;
    }
    let edges = table.edges(table.node(root)).filter(|edge| !pruned.contains(&edge.mv()));
    let left: f32 = edges.map(|edge| edge.prior().probability()).sum();
    if left > 0.0 { 1.0 / left } else { 1.0 }
}

/// Most simulations between two looks at limits and clock. It begins with one: the first of a search is the slowest, and
/// a limit may be near.
const BATCH: u32 = 16;

fn storing(params: &SearchParams) -> Storing {
    match params.formula {
        Formula::Rave(_) => Storing::All,
        Formula::Puct(_) => Storing::Likely,
    }
}

/// A search and what it has learned; reused from move to move.
#[derive(Debug)]
pub struct Search<E> {
    params: SearchParams,
    mebibytes: usize,
    table: NodeTable,
    bias: BiasTable,
    /// How utilities are measured, under PUCT.
    scale: Option<Scale>,
    /// The root and the constants that all means and utilities were computed for.
    valued: Option<(Key, PuctParams)>,
    /// The root whose moves have the priors of a root, at a temperature, and from how many sides it was seen for them.
    seen: (Option<(Key, f32)>, AtomicU32),
    evaluator: E,
    pool: Option<rayon::ThreadPool>,
    threads: usize,
}

impl<E: Evaluator + Sync> Search<E> {
    /// A search with `threads` workers (at least 1) and a node table of `mebibytes`.
    pub fn new(evaluator: E, params: SearchParams, mebibytes: usize, threads: usize) -> Search<E> {
        let table = NodeTable::new(mebibytes, storing(&params));
        let (bias, pool) = (BiasTable::new(), None);
        let (scale, valued, seen) = (None, None, (None, AtomicU32::new(1)));
        let mut search =
            Search { params, mebibytes, table, bias, scale, valued, seen, evaluator, pool, threads: 1 };
        search.set_threads(threads);
        search
    }

    /// Changes the number of workers (at least 1); what was learned stays. If no threads can be had, one worker
    /// has to do.
    pub fn set_threads(&mut self, threads: usize) {
        // One worker runs on the calling thread.
        self.pool = (threads > 1)
            .then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok())
            .flatten();
        self.threads = if self.pool.is_some() { threads } else { 1 };
    }

    /// Forgets all that was learned.
    pub fn clear(&mut self) {
        self.table.clear();
        self.bias.clear();
        self.valued = None;
        self.seen = (None, AtomicU32::new(1));
    }

    /// Searches with another evaluator from here on; everything that was learned is forgotten.
    pub fn set_evaluator(&mut self, evaluator: E) {
        self.evaluator = evaluator;
        self.clear();
    }

    /// Changes the parameters; what was learned stays, unless the formula is another one.
    pub fn set_params(&mut self, params: SearchParams) {
        self.params = params;
        if self.table.storing() != storing(&params) {
            self.table = NodeTable::new(self.mebibytes, storing(&params));
            self.clear();
        }
    }

    /// The parameters.
    pub fn params(&self) -> SearchParams {
        self.params
    }

    /// The evaluator that every worker gets a copy of.
    pub fn evaluator(&self) -> &E {
        &self.evaluator
    }

    /// Number of workers.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The node table.
    pub fn table(&self) -> &NodeTable {
        &self.table
    }

    /// Searches the game's position for the player on turn.
    pub fn run(&mut self, game: &Game, seed: u64, context: &SearchContext<'_>) -> SearchReport {
        let root = self.root(game);
        self.set_root_priors(root, game);
        self.set_values(root, game);
        if context.evaluates_root && self.table.node(root).own_visits() == 0 {
            self.evaluate_root(root, game);
        }
        self.run_from(root, game, seed, context, Some(&self.seen.1))
    }

    /// The same without making room first, and without the priors of a root: nothing that was learned is forgotten or
    /// changed, whatever can be reached from the position. `None` if the table is full and has no node for the position.
    pub fn run_in_place(&self, game: &Game, seed: u64, context: &SearchContext<'_>) -> Option<SearchReport> {
        let root = self.table.find_or_insert(game.graph_key())?;
        Some(self.run_from(root, game, seed, context, None))
    }

    /// Begins a search from nothing: everything is forgotten, and the game's position is evaluated once, which counts as
    /// its first visit. `adjust` may change the priors of its moves. What [`run_in_place`](Search::run_in_place) is then
    /// asked about the same game begins with that.
    pub fn begin(&mut self, game: &Game, adjust: &mut Adjust<'_>) {
        self.clear();
        let Some(root) = self.table.find_or_insert(game.graph_key()) else { return };
        let (line, mut evaluator) = (Line::new(game), self.evaluator.clone());
        let (mut moves, mut rng) = (Vec::new(), Rng::new(0));
        let evaluation = evaluator.evaluate(&line, &mut rng, &mut moves);
        moves.clear();
        evaluator.expand_root(&line, &mut moves);
        adjust(&mut moves);
        self.table.expand(root, true, || &moves);
        self.seen = (Some((game.graph_key(), self.temperature(game))), AtomicU32::new(1));
        self.set_values(root, game);
        let root = self.table.node(root);
        match self.valuation() {
            Some(valuation) => valuation.evaluated(root, game.to_move(), &evaluation, &mut Vec::new()),
            None => {
                root.add_own(node::to_fixed(evaluation.value));
                root.add_result(evaluation.score, evaluation.value * evaluation.value);
            }
        }
    }

    /// Evaluates the position of a root, which counts as a visit of it. Only under PUCT.
    fn evaluate_root(&self, root: NodeId, game: &Game) {
        let Some(valuation) = self.valuation() else { return };
        let evaluation = self.evaluator.clone().evaluate(&Line::new(game), &mut Rng::new(0), &mut Vec::new());
        valuation.evaluated(self.table.node(root), game.to_move(), &evaluation, &mut Vec::new());
    }

    /// What is known of the game's position; `None` if it has no node.
    pub fn report(&self, game: &Game) -> Option<SearchReport> {
        self.report_with(game, Detail::default())
    }

    /// What is known of the game's position, with this detail; `None` if it has no node.
    pub fn report_with(&self, game: &Game, detail: Detail) -> Option<SearchReport> {
        let root = self.table.find(game.graph_key())?;
        self.complete(root, game);
        let counters = Counters::default();
        let view = View { params: &self.params, root_scale: 1.0 };
        let mut report = SearchReport::new(&self.table, root, game, &counters, Ownership::default(), view);
        report.add_detail(Some((&self.table, root)), game, &mut self.evaluator.clone(), detail);
        Some(report)
    }

    /// Gives the moves of the root the priors that they have where a search begins. A position that was a root keeps
    /// them when it is met again further down, which takes moves that are taken back.
    fn set_root_priors(&mut self, root: NodeId, game: &Game) {
        let temperature = self.temperature(game);
        let wanted = Some((game.graph_key(), temperature));
        if self.seen.0 == wanted {
            return;
        }
        let had_other =
            self.seen.0.is_some_and(|(key, other)| key == game.graph_key() && other != temperature);
        self.seen = (wanted, AtomicU32::new(1));
        if !self.evaluator.has_root_priors() && temperature == 1.0 && !had_other {
            return;
        }
        give_root_priors(&self.table, &self.evaluator, root, game, temperature);
    }

    /// The temperature of the root's probabilities.
    fn temperature(&self, game: &Game) -> f32 {
        self.params.root_temperature(game)
    }

    /// The moves of the root that need not be looked at when one is to be played. The root has moves then.
    fn pruned(&self, root: NodeId, game: &Game, context: &SearchContext<'_>) -> Vec<Move> {
        let is_wanted = context.for_play
            && context.exploration.is_none()
            && context.noise.is_none()
            && self.valuation().is_some();
        if !is_wanted {
            return Vec::new();
        }
        pruned_moves(&self.table, &self.evaluator, root, game, &self.params.root, context.restriction)
    }

    /// Measures utilities around the score that is expected here, and values all that was learned anew.
    fn set_values(&mut self, root: NodeId, game: &Game) {
        let Formula::Puct(params) = self.params.formula else { return };
        let wanted = Some((game.graph_key(), params));
        if self.valued == wanted {
            return;
        }
        let known = self.table.node(root).means();
        let score = if known.weight > 0.0 {
            known.score
        } else {
            // The first simulation asks the same, and finds the answer in the cache.
            let line = Line::new(game);
            self.evaluator.clone().evaluate(&line, &mut Rng::new(0), &mut Vec::new()).score_mean
        };
        self.scale = Some(Scale::new(&params, game.size().area(), score));
        self.valued = wanted;
        if let Some(valuation) = self.valuation() {
            valuation.refresh_all(root, game.to_move());
        }
    }

    /// What values depend on, under PUCT.
    fn valuation(&self) -> Option<Valuation<'_>> {
        let Formula::Puct(params) = self.params.formula else { return None };
        let scale = self.scale.unwrap_or_else(|| Scale::new(&params, 1, 0.0));
        Some(Valuation { table: &self.table, bias: &self.bias, params, scale })
    }

    /// `views` counts the sides from which the root has been seen; without it, one has to do.
    fn run_from(
        &self,
        root: NodeId,
        game: &Game,
        seed: u64,
        context: &SearchContext<'_>,
        views: Option<&AtomicU32>,
    ) -> SearchReport {
        let color = game.to_move();
        self.complete(root, game);
        self.table.node(root).leave_order();
        let pruned = self.pruned(root, game, context);
        let restriction = root_moves::without(context.restriction, color, pruned.clone());
        let context = &SearchContext { restriction: &restriction, ..*context };
        let edges = self.table.edges(self.table.node(root));
        let forbidden = edges.filter(|edge| !context.restriction.permits(color, edge.mv(), 0));
        let forbidden_visits = forbidden.map(|edge| edge.visits()).sum();
        let visits_before = self.table.node(root).visits().saturating_sub(forbidden_visits);
        let shared = Shared {
            forbidden_visits,
            visits_before,
            progress: Progress::new(visits_before, self.params.descents_at_once),
            results: Mutex::default(),
        };
        let (params, valuation, temperature) = (self.params, self.valuation(), self.temperature(game));
        let root_scale = scale_without(&self.table, root, &pruned);
        let common = Common { table: &self.table, params, valuation, root, temperature, root_scale };
        let job = |index: usize| {
            let rng = Rng::for_worker(seed, index);
            let evaluator = self.evaluator.clone();
            let worker = Worker::new(common, game, evaluator, rng, context);
            let (reporting, views) = if index == 0 { (context.reporting, views) } else { (None, None) };
            shared.work(worker, game, root, context, reporting, views);
        };
        match &self.pool {
            Some(pool) => {
                pool.broadcast(|context| job(context.index()));
            }
            None => job(0),
        }
        let (counters, ownership) = shared.results.into_inner().unwrap_or_else(|error| error.into_inner());
        let view = View { params: &self.params, root_scale };
        let mut report = SearchReport::new(&self.table, root, game, &counters, ownership, view);
        // Earlier searches may have preferred the image that was left out now.
        report.moves.sort_by_key(|entry| pruned.contains(&entry.mv));
        report.add_detail(Some((&self.table, root)), game, &mut self.evaluator.clone(), context.detail);
        report
    }

    /// Gives a node all its moves if it has moves already: at the root all are looked at.
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

    /// The game's node. If the table is more than half full, first everything that cannot be reached from it is
    /// forgotten; if that does not help, everything is.
    fn root(&mut self, game: &Game) -> NodeId {
        let key = game.graph_key();
        if self.table.usage().fullness() > 0.5 {
            if let Some(root) = self.table.find(key) {
                // What goes leaves its part of what it has noted, like all that lies behind.
                if let Some(valuation) = self.valuation() {
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
        // A table has room for thousands of nodes, so an empty one has room for the root.
        self.table.find_or_insert(key).unwrap_or_else(|| {
            self.clear();
            self.table.find_or_insert(key).unwrap_or(0)
        })
    }
}

/// What the workers of one search share besides the table.
struct Shared {
    /// Visits of root moves that this search must not look at, from earlier searches. They count for no limit.
    forbidden_visits: u32,
    /// All others that the root had when the search began.
    visits_before: u32,
    progress: Progress,
    results: Mutex<(Counters, Ownership)>,
}

impl Shared {
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
        let batch_most = if worker.evaluator.is_slow() { 1 } else { BATCH };
        let pace = Pace { batch_most, waits: reporting.is_none() };
        let mut next_report = reporting.map(|reporting| reporting.first);
        self.progress.simulate(
            pace,
            &mut worker,
            // An exact number of simulations is asked for in tests and matches.
            |begun| context.stop.count_reached(self.visits_before.saturating_add(begun), begun),
            |worker| {
                worker.simulate();
                if worker.was_kept_from_root() {
                    self.progress.kept_from_root.fetch_add(1, Ordering::Relaxed);
                }
                if let Some((seen, most)) = views {
                    worker.see_root_again(seen, most);
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

    /// Visits of the root that count for limits.
    fn visits(&self, root: &node::Node) -> u32 {
        let kept = self.progress.kept_from_root.load(Ordering::Relaxed);
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
