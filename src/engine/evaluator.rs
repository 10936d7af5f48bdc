//! Evaluator of an engine: a network if it has one, otherwise playouts.

use super::status::OwnershipSource;
use super::{EngineSettings, processors};
use kosumi_eval::{
    Evaluation, Evaluator, FirstPlays, NetworkEvaluator, NetworkSettings, Ownership, Playouts, Prior,
    StoredPrediction,
};
use kosumi_go::board::{BoardSize, ByColor, Move, Symmetry};
use kosumi_go::game::{Game, Line};
use kosumi_go::playout::HeuristicPolicy;
use kosumi_go::rng::Rng;
use kosumi_net::Network;
use kosumi_net::device::{self, Attached};
use kosumi_search::SearchParams;
use kosumi_sync::HAS_THREADS;
use std::sync::Arc;

/// Evaluator of an engine: a network if it has one, otherwise playouts.
#[derive(Clone, Debug)]
pub enum EngineEvaluator {
    /// Evaluates by playouts.
    Playouts(Box<Playouts>),
    /// Evaluates by a network.
    Network(Box<NetworkEvaluator>),
}

impl EngineEvaluator {
    pub(super) fn new(settings: &EngineSettings, network: Option<Arc<Network>>) -> EngineEvaluator {
        match network {
            Some(network) => {
                let mebibytes = cache_mebibytes(settings.memory_mebibytes);
                let evaluator = NetworkEvaluator::new(network, settings.network, mebibytes);
                EngineEvaluator::Network(Box::new(evaluator))
            }
            None => EngineEvaluator::Playouts(Box::new(playouts(settings))),
        }
    }

    /// Returns this evaluator with the evaluation settings of `settings`.
    pub(super) fn with_settings(&self, settings: &EngineSettings) -> EngineEvaluator {
        match self {
            EngineEvaluator::Playouts(_) => EngineEvaluator::Playouts(Box::new(playouts(settings))),
            EngineEvaluator::Network(evaluator) => {
                EngineEvaluator::Network(Box::new(evaluator.with_settings(settings.network)))
            }
        }
    }

    /// Returns the parameters of a search with this evaluator.
    pub fn search_params(&self, size: BoardSize) -> SearchParams {
        match self {
            EngineEvaluator::Playouts(_) => SearchParams::for_playouts(size),
            EngineEvaluator::Network(evaluator) => {
                SearchParams::for_network_of(evaluator.network().cost().parameters)
            }
        }
    }

    /// Returns `params` adjusted to a number of threads that search with this evaluator, to at most `visits` visits. A
    /// device of the network evaluates in batches; otherwise the processors evaluate.
    pub fn for_workers(
        &self,
        params: SearchParams,
        size: BoardSize,
        workers: usize,
        visits: Option<u32>,
    ) -> SearchParams {
        match self.device().filter(|attached| attached.evaluates(size.area())) {
            Some(attached) => params.for_device(workers, attached.device().at_once(), visits),
            // In WebAssembly the number of processors is unknown, and the host starts no more threads than there are
            // processors.
            None => params.for_workers(workers, if HAS_THREADS { processors() } else { workers }),
        }
    }

    /// Returns the device that evaluates, if there is one and it works.
    fn device(&self) -> Option<Arc<Attached>> {
        let with_device = self.network().filter(|evaluator| evaluator.settings().use_device);
        let attached = with_device.and_then(|evaluator| device::attached(evaluator.network()));
        attached.filter(|attached| attached.device().is_working())
    }

    /// Returns whether a device evaluates instead of the processor.
    pub fn has_device(&self) -> bool {
        self.device().is_some()
    }

    /// Returns the network, if there is one.
    pub fn network(&self) -> Option<&NetworkEvaluator> {
        match self {
            EngineEvaluator::Playouts(_) => None,
            EngineEvaluator::Network(evaluator) => Some(evaluator),
        }
    }

    /// Returns a function that evaluates the game's position once and discards the result. It may run on any thread. It
    /// builds what is otherwise built on first use (weights in the order for this board size, pattern tables), and
    /// loads code and weights into memory.
    pub(super) fn warm_up(&self, game: Game) -> impl FnOnce() + Send + 'static {
        let evaluator = self.clone();
        move || match evaluator {
            EngineEvaluator::Playouts(playouts) => {
                playouts.fresh().evaluate_by_playing(&Line::new(&game), &mut Rng::new(0));
            }
            // `predict` bypasses the cache, so the evaluation is not kept.
            EngineEvaluator::Network(mut network) => {
                let identity = Symmetry::ALL[0];
                // If this fails, the same error occurs again in the game and is handled there.
                let _ = network.predict(&Line::new(&game), identity, 0.0);
            }
        }
    }

    /// Discards all cached evaluations.
    pub(super) fn clear(&self) {
        if let EngineEvaluator::Network(evaluator) = self {
            evaluator.cache().clear();
        }
    }

    /// Returns the number of evaluations after which the ownership is reliable.
    pub(super) fn evaluations_for_ownership(&self) -> u32 {
        match self {
            EngineEvaluator::Playouts(_) => 100,
            EngineEvaluator::Network(_) => 8,
        }
    }

    /// Returns the approximate cost of computing the status of the stones, in evaluations. The cost includes a reserve
    /// for the solver's readings.
    pub(super) fn evaluations_for_status(&self) -> u32 {
        match self {
            EngineEvaluator::Playouts(playouts) => playouts.settings().ownership_playouts,
            EngineEvaluator::Network(_) => Symmetry::ALL.len() as u32 + 2,
        }
    }

    /// Returns the number of simulations of the search from the opponent's side before the engine passes.
    pub(super) fn simulations_before_passing(&self) -> u32 {
        match self {
            EngineEvaluator::Playouts(_) => 1000,
            EngineEvaluator::Network(_) => 60,
        }
    }

    /// Returns the minimum number of visits for resigning.
    pub(super) fn visits_for_resigning(&self) -> u32 {
        match self {
            EngineEvaluator::Playouts(_) => 300,
            EngineEvaluator::Network(_) => 20,
        }
    }
}

impl OwnershipSource for EngineEvaluator {
    fn now(&self, game: &Game) -> Ownership {
        match self {
            EngineEvaluator::Playouts(playouts) => playouts.ownership_of(game),
            EngineEvaluator::Network(evaluator) => evaluator.clone().ownership_of(game),
        }
    }

    fn by_first(&self, game: &Game) -> ByColor<Ownership> {
        match self {
            EngineEvaluator::Playouts(playouts) => playouts.ownership_by_first(game),
            EngineEvaluator::Network(evaluator) => evaluator.clone().ownership_by_first(game),
        }
    }
}

fn playouts(settings: &EngineSettings) -> Playouts {
    Playouts::new(HeuristicPolicy::new(settings.rates), settings.playout)
}

/// Returns the cache's part of the memory, in MiB. A cached evaluation takes about as much memory as a node with its
/// edges.
fn cache_mebibytes(memory: usize) -> usize {
    (memory / 2).max(1)
}

/// Returns the additional memory, in MiB, for a second network's evaluations of positions below the root.
pub(super) fn human_cache_mebibytes(memory: usize) -> usize {
    (memory / 8).max(1)
}

/// Returns the part of the memory that is left for nodes, in MiB.
pub(super) fn table_mebibytes(settings: &EngineSettings, evaluator: &EngineEvaluator) -> usize {
    match evaluator {
        EngineEvaluator::Playouts(_) => settings.memory_mebibytes,
        EngineEvaluator::Network(_) => {
            settings.memory_mebibytes.saturating_sub(cache_mebibytes(settings.memory_mebibytes)).max(1)
        }
    }
}

impl Evaluator for EngineEvaluator {
    fn evaluate(&mut self, line: &Line<'_>, rng: &mut Rng, moves: &mut Vec<(Move, Prior)>) -> Evaluation {
        match self {
            EngineEvaluator::Playouts(evaluator) => evaluator.evaluate(line, rng, moves),
            EngineEvaluator::Network(evaluator) => evaluator.evaluate(line, rng, moves),
        }
    }

    fn expand(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        match self {
            EngineEvaluator::Playouts(evaluator) => evaluator.expand(line, moves),
            EngineEvaluator::Network(evaluator) => evaluator.expand(line, moves),
        }
    }

    fn expand_root(&mut self, line: &Line<'_>, moves: &mut Vec<(Move, Prior)>) {
        match self {
            EngineEvaluator::Playouts(evaluator) => evaluator.expand_root(line, moves),
            EngineEvaluator::Network(evaluator) => evaluator.expand_root(line, moves),
        }
    }

    fn has_root_priors(&self) -> bool {
        match self {
            EngineEvaluator::Playouts(evaluator) => evaluator.has_root_priors(),
            EngineEvaluator::Network(evaluator) => evaluator.has_root_priors(),
        }
    }

    fn root_views(&self, size: BoardSize) -> u32 {
        match self {
            EngineEvaluator::Playouts(evaluator) => evaluator.root_views(size),
            EngineEvaluator::Network(evaluator) => evaluator.root_views(size),
        }
    }

    fn expand_root_view(&mut self, line: &Line<'_>, view: u32, moves: &mut Vec<(Move, Prior)>) {
        match self {
            EngineEvaluator::Playouts(evaluator) => evaluator.expand_root_view(line, view, moves),
            EngineEvaluator::Network(evaluator) => evaluator.expand_root_view(line, view, moves),
        }
    }

    fn first_plays(&self) -> Option<&FirstPlays> {
        match self {
            EngineEvaluator::Playouts(evaluator) => evaluator.first_plays(),
            EngineEvaluator::Network(evaluator) => evaluator.first_plays(),
        }
    }

    fn ownership(&self) -> Option<&Ownership> {
        match self {
            EngineEvaluator::Playouts(evaluator) => evaluator.ownership(),
            EngineEvaluator::Network(evaluator) => evaluator.ownership(),
        }
    }

    fn outlook(&mut self, line: &Line<'_>, may_evaluate: bool) -> Option<StoredPrediction> {
        match self {
            EngineEvaluator::Playouts(evaluator) => evaluator.outlook(line, may_evaluate),
            EngineEvaluator::Network(evaluator) => evaluator.outlook(line, may_evaluate),
        }
    }

    fn ownership_by_playing(&self, line: &Line<'_>) -> Option<Ownership> {
        match self {
            EngineEvaluator::Playouts(evaluator) => evaluator.ownership_by_playing(line),
            EngineEvaluator::Network(evaluator) => evaluator.ownership_by_playing(line),
        }
    }

    fn is_slow(&self) -> bool {
        match self {
            EngineEvaluator::Playouts(evaluator) => evaluator.is_slow(),
            EngineEvaluator::Network(evaluator) => evaluator.is_slow(),
        }
    }

    fn network_settings(&self) -> Option<NetworkSettings> {
        self.network().map(NetworkEvaluator::settings)
    }

    fn with_network_settings(&self, settings: &NetworkSettings) -> EngineEvaluator {
        match self {
            EngineEvaluator::Playouts(_) => self.clone(),
            EngineEvaluator::Network(evaluator) => {
                EngineEvaluator::Network(Box::new(evaluator.with_settings(*settings)))
            }
        }
    }
}
