//! Searches of an engine that was built without the feature `cluster`: they all run in this process.

use super::evaluator::EngineEvaluator;
use kosumi_go::game::Game;
use kosumi_search::{Search, SearchContext, SearchReport};

/// Cluster of ranks. Without the feature `cluster` this type has no values.
#[derive(Debug)]
pub(super) enum RankCluster {}

impl RankCluster {
    /// Discards the statistics of searches, on all ranks.
    pub(super) fn clear(&mut self) {}
}

/// Runs a search.
pub(super) fn run(
    _: &mut Option<RankCluster>,
    search: &mut Search<EngineEvaluator>,
    game: &Game,
    seed: u64,
    context: &SearchContext<'_>,
) -> SearchReport {
    search.run(game, seed, context)
}
