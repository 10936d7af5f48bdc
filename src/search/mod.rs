//! Monte-Carlo graph search.
//!
//! ```text
//!   simulation:  select ──▶ expand ──▶ evaluate ──▶ back up        (worker.rs)
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
//! - after a search no descent is in progress anywhere, and all sums are exact (`sums_are_exact`);
//! - no descent plays a move that is illegal on its own path (`descents_are_legal`);
//! - a full table changes speed and strength, never legality, and nothing grows (`a_full_table_is_no_error`).

pub mod node;
pub mod params;
pub mod report;
pub mod select;
pub mod stop;
pub mod table;
#[cfg(test)]
mod tests;
mod worker;

pub use params::{Formula, PuctParams, RaveParams, SearchParams};
pub use report::{MoveReport, SearchReport};
pub use stop::{Limits, SearchStats, StopRule};
pub use table::{NodeTable, TableUse};

use crate::eval::{Evaluator, Ownership};
use crate::game::Game;
use crate::rng::Rng;
use node::NodeId;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use worker::{Counters, Worker};

/// What surrounds a search: limits, time, interruption, progress. None of it changes the result of a search that
/// runs to a fixed number of simulations.
pub struct Surroundings<'a> {
    /// When to stop.
    pub stop: &'a dyn StopRule,
    /// Time since the search began.
    pub elapsed: &'a (dyn Fn() -> Duration + Sync),
    /// Asked now and then; true stops the search at once.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
}

impl fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Surroundings")
    }
}

/// Simulations between two looks at limits and clock, and the fewest of a search.
const BATCH: u32 = 16;

/// A search and what it has learned; reused from move to move.
#[derive(Debug)]
pub struct Search<E> {
    params: SearchParams,
    table: NodeTable,
    evaluator: E,
    pool: Option<rayon::ThreadPool>,
    threads: usize,
}

impl<E: Evaluator + Sync> Search<E> {
    /// A search with `threads` workers (at least 1) and a node table of `mebibytes`.
    pub fn new(evaluator: E, params: SearchParams, mebibytes: usize, threads: usize) -> Search<E> {
        let threads = threads.max(1);
        // One worker runs on the calling thread. If no threads can be had, one worker has to do.
        let pool = (threads > 1)
            .then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok())
            .flatten();
        let threads = if pool.is_some() { threads } else { 1 };
        Search { params, table: NodeTable::new(mebibytes), evaluator, pool, threads }
    }

    /// Forgets all that was learned.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Changes the parameters; what was learned stays.
    pub fn set_params(&mut self, params: SearchParams) {
        self.params = params;
    }

    /// The parameters.
    pub fn params(&self) -> SearchParams {
        self.params
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
    pub fn run(&mut self, game: &Game, seed: u64, around: &Surroundings<'_>) -> SearchReport {
        let root = self.root(game);
        let shared = Shared {
            playouts: AtomicU32::new(0),
            stopped: AtomicBool::new(false),
            results: Mutex::new((Counters::default(), Ownership::default())),
        };
        let table = &self.table;
        let job = |index: usize| {
            let rng = Rng::for_worker(seed, index);
            let worker = Worker::new(table, self.params, root, game, self.evaluator.clone(), rng);
            shared.work(worker, game, root, around);
        };
        match &self.pool {
            Some(pool) => {
                pool.broadcast(|context| job(context.index()));
            }
            None => job(0),
        }
        let (counters, ownership) = shared.results.into_inner().unwrap_or_else(|error| error.into_inner());
        let node = self.table.node(root);
        SearchReport {
            to_move: game.to_move(),
            visits: node.visits(),
            playouts: counters.playouts,
            value: node.value(),
            value_error: report::value_error(node),
            score: counters.score_mean() as f32,
            score_error: counters.score_error() as f32,
            moves: report::move_reports(&self.table, node),
            ownership,
            usage: self.table.usage(),
            cycles: counters.cycles,
            transpositions: counters.transpositions,
            depth: counters.depth,
        }
    }

    /// The game's node. If the table is more than half full, first everything that cannot be reached from it is
    /// forgotten; if that does not help, everything is.
    fn root(&mut self, game: &Game) -> NodeId {
        let key = game.graph_key();
        if self.table.usage().fullness() > 0.5 {
            if let Some(root) = self.table.find(key) {
                self.table.collect(root);
            } else {
                self.table.clear();
            }
            if self.table.usage().fullness() > 0.75 {
                self.table.clear();
            }
        }
        // A table has room for thousands of nodes, so an empty one has room for the root.
        self.table.find_or_insert(key).unwrap_or_else(|| {
            self.table.clear();
            self.table.find_or_insert(key).unwrap_or(0)
        })
    }
}

/// What the workers of one search share besides the table.
struct Shared {
    /// Simulations begun.
    playouts: AtomicU32,
    stopped: AtomicBool,
    results: Mutex<(Counters, Ownership)>,
}

impl Shared {
    fn work<E: Evaluator>(
        &self,
        mut worker: Worker<'_, E>,
        game: &Game,
        root: NodeId,
        around: &Surroundings<'_>,
    ) {
        // The first batch is always played: even a search that is interrupted at once knows a move.
        loop {
            for _ in 0..BATCH {
                self.playouts.fetch_add(1, Ordering::Relaxed);
                worker.simulate();
                // An exact number of simulations is asked for in tests and matches.
                if self.limit_by_count(worker.table(), root, around) {
                    self.stopped.store(true, Ordering::Relaxed);
                    break;
                }
            }
            if self.limit_reached(worker.table(), root, around) || (around.interrupted)() {
                self.stopped.store(true, Ordering::Relaxed);
            }
            if self.stopped.load(Ordering::Relaxed) {
                break;
            }
        }
        let mut results = self.results.lock().unwrap_or_else(|error| error.into_inner());
        let (counters, ownership) = &mut *results;
        counters.add(&worker.counters);
        if let Some(own) = worker.evaluator.ownership() {
            ownership.merge(game.size(), own);
        }
    }

    fn stats(&self, table: &NodeTable, root: NodeId, elapsed: Duration) -> SearchStats {
        let node = table.node(root);
        let mut best_two = [0; 2];
        for edge in table.edges(node) {
            let visits = edge.visits();
            if visits > best_two[0] {
                best_two = [visits, best_two[0]];
            } else if visits > best_two[1] {
                best_two[1] = visits;
            }
        }
        let playouts = self.playouts.load(Ordering::Relaxed);
        SearchStats { visits: node.visits(), playouts, elapsed, best_two }
    }

    fn limit_reached(&self, table: &NodeTable, root: NodeId, around: &Surroundings<'_>) -> bool {
        around.stop.should_stop(&self.stats(table, root, (around.elapsed)()))
    }

    fn limit_by_count(&self, table: &NodeTable, root: NodeId, around: &Surroundings<'_>) -> bool {
        let playouts = self.playouts.load(Ordering::Relaxed);
        around.stop.count_reached(table.node(root).visits(), playouts)
    }
}
