//! The evaluator of an engine: a network if it has one, otherwise playouts.

use super::EngineSettings;
use super::status::Expects;
use crate::board::{BoardSize, ByColor, Move, Symmetry};
use crate::eval::{
    Evaluation, Evaluator, FirstPlays, Known, NetworkEvaluator, NetworkSettings, Ownership, Playouts, Prior,
};
use crate::game::{Game, Line};
use crate::net::Network;
use crate::playout::HeuristicPolicy;
use crate::rng::Rng;
use crate::search::{Search, SearchContext, SearchParams, SearchReport};
use std::sync::Arc;

/// A network if the engine has one, otherwise playouts.
#[derive(Clone, Debug)]
pub enum EngineEvaluator {
    /// Plays positions to their end.
    Playouts(Box<Playouts>),
    /// Asks a network.
    Network(Box<NetworkEvaluator>),
}

/// [`Search::run`] for what an engine asks. The function is compiled with this crate, whose code is optimised; where
/// other crates name the generic one, they compile a search of their own.
pub fn run_search(
    search: &mut Search<EngineEvaluator>,
    game: &Game,
    seed: u64,
    context: &SearchContext<'_>,
) -> SearchReport {
    search.run(game, seed, context)
}

/// [`Search::run_in_place`], compiled with this crate, too.
pub(super) fn run_search_in_place(
    search: &Search<EngineEvaluator>,
    game: &Game,
    seed: u64,
    context: &SearchContext<'_>,
) -> Option<SearchReport> {
    search.run_in_place(game, seed, context)
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

    /// The same evaluator with the settings for evaluation of `settings`.
    pub(super) fn with_settings(&self, settings: &EngineSettings) -> EngineEvaluator {
        match self {
            EngineEvaluator::Playouts(_) => EngineEvaluator::Playouts(Box::new(playouts(settings))),
            EngineEvaluator::Network(evaluator) => {
                EngineEvaluator::Network(Box::new(evaluator.with_settings(settings.network)))
            }
        }
    }

    /// Parameters of a search with this evaluator.
    pub fn search_params(&self, size: BoardSize) -> SearchParams {
        match self {
            EngineEvaluator::Playouts(_) => SearchParams::for_playouts(size),
            EngineEvaluator::Network(evaluator) => {
                SearchParams::for_network_of(evaluator.network().cost().parameters)
            }
        }
    }

    /// The network, if there is one.
    pub fn network(&self) -> Option<&NetworkEvaluator> {
        match self {
            EngineEvaluator::Playouts(_) => None,
            EngineEvaluator::Network(evaluator) => Some(evaluator),
        }
    }

    /// One evaluation of the game's position whose result nobody sees: to be called on any thread. What is made when
    /// it is first needed is made then (weights in the order for this size of board, tables of patterns), and
    /// code and weights come into memory.
    pub(super) fn warm_up(&self, game: Game) -> impl FnOnce() + Send + 'static {
        let evaluator = self.clone();
        move || match evaluator {
            EngineEvaluator::Playouts(playouts) => {
                playouts.forgetful().evaluate_by_playing(&Line::new(&game), &mut Rng::new(0));
            }
            // Past the cache, which remembers what it was asked.
            EngineEvaluator::Network(mut network) => {
                let unturned = Symmetry::ALL[0];
                // An error comes back in the game, and is dealt with there.
                let _ = network.predict(&Line::new(&game), unturned, 0.0);
            }
        }
    }

    /// Forgets what was learned about positions.
    pub(super) fn clear(&self) {
        if let EngineEvaluator::Network(evaluator) = self {
            evaluator.cache().clear();
        }
    }

    /// Evaluations that say enough about whose the points are.
    pub(super) fn evaluations_for_ownership(&self) -> u32 {
        match self {
            EngineEvaluator::Playouts(_) => 100,
            EngineEvaluator::Network(_) => 8,
        }
    }

    /// About as many evaluations as it takes to find the status of the stones, with some to spare for what is read.
    pub(super) fn evaluations_for_status(&self) -> u32 {
        match self {
            EngineEvaluator::Playouts(playouts) => playouts.settings().ownership_playouts,
            EngineEvaluator::Network(_) => Symmetry::ALL.len() as u32 + 2,
        }
    }

    /// Simulations for the opponent before the engine passes.
    pub(super) fn simulations_before_passing(&self) -> u32 {
        match self {
            EngineEvaluator::Playouts(_) => 1000,
            EngineEvaluator::Network(_) => 60,
        }
    }

    /// Visits without which the engine does not resign.
    pub(super) fn visits_for_resigning(&self) -> u32 {
        match self {
            EngineEvaluator::Playouts(_) => 300,
            EngineEvaluator::Network(_) => 20,
        }
    }
}

impl Expects for EngineEvaluator {
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

/// The cache's part of the memory: an answer takes about as much as a node with its moves.
fn cache_mebibytes(memory: usize) -> usize {
    (memory / 2).max(1)
}

/// What a second network's answers about positions inside a search may take besides.
pub(super) fn human_cache_mebibytes(memory: usize) -> usize {
    (memory / 8).max(1)
}

/// The part of the memory that is left for nodes.
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

    fn expand_root_seen(&mut self, line: &Line<'_>, view: u32, moves: &mut Vec<(Move, Prior)>) {
        match self {
            EngineEvaluator::Playouts(evaluator) => evaluator.expand_root_seen(line, view, moves),
            EngineEvaluator::Network(evaluator) => evaluator.expand_root_seen(line, view, moves),
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

    fn outlook(&mut self, line: &Line<'_>, asks: bool) -> Option<Known> {
        match self {
            EngineEvaluator::Playouts(evaluator) => evaluator.outlook(line, asks),
            EngineEvaluator::Network(evaluator) => evaluator.outlook(line, asks),
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

    fn asking_with(&self, settings: &NetworkSettings) -> EngineEvaluator {
        match self {
            EngineEvaluator::Playouts(_) => self.clone(),
            EngineEvaluator::Network(evaluator) => {
                EngineEvaluator::Network(Box::new(evaluator.with_settings(*settings)))
            }
        }
    }
}
