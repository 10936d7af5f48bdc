//! Settings of one search besides its limits: parameters, noise, and exploration of human moves.
//!
//! A plan is made from the settings and the position. Settings that change the outputs of a network are kept in the
//! evaluator instead, because all statistics that depend on the old outputs must be discarded.

use super::{Engine, EngineEvaluator, Purpose, max_visits, params};
use kosumi_eval::NetworkSettings;
use kosumi_go::board::{ByColor, Color};
use kosumi_go::game::Game;
use kosumi_net::features;
use kosumi_search::{
    AntiMirror, ExplorationShares, Limits, Restriction, RootExploration, RootNoise, SearchChanges,
    SearchContext, SearchParams, StopRule, TreeExploration,
};
use std::time::Duration;

/// See [`TreeExploration::parameters`].
pub(super) type Explored = (ByColor<ExplorationShares>, [f32; 2]);

/// Settings of one search besides its limits.
#[derive(Debug)]
pub(super) struct Plan {
    params: SearchParams,
    exploration: Option<RootExploration>,
    tree_exploration: Option<TreeExploration>,
    noise: Option<RootNoise>,
    anti_mirror: Option<AntiMirror>,
    for_play: bool,
}

impl Plan {
    /// Returns the context of a search in which every move may be searched.
    pub(super) fn context<'a>(
        &'a self,
        stop: &'a dyn StopRule,
        elapsed: &'a (dyn Fn() -> Duration + Sync),
        interrupted: &'a (dyn Fn() -> bool + Sync),
    ) -> SearchContext<'a> {
        SearchContext {
            params: Some(self.params),
            exploration: self.exploration.as_ref(),
            tree_exploration: self.tree_exploration.as_ref(),
            noise: self.noise.as_ref(),
            anti_mirror: self.anti_mirror,
            for_play: self.for_play,
            ..SearchContext::new(stop, elapsed, interrupted)
        }
    }
}

/// Returns the player for whom a position with this side to move is searched. While pondering, it is the player who has
/// just moved.
fn searched_for(to_move: Color, purpose: Purpose) -> Color {
    if purpose == Purpose::Pondering { to_move.opponent() } else { to_move }
}

impl Engine {
    /// Returns the plan for a search of this position. `noise` replaces the noise of the settings.
    pub(super) fn plan(
        &self,
        game: &Game,
        limits: &Limits,
        purpose: Purpose,
        noise: Option<RootNoise>,
    ) -> Plan {
        let for_play = purpose == Purpose::Play;
        let anti_mirror = self.against_mirror(game, for_play);
        // The visits of a mirrored reply are intended, and must not be pruned as noise.
        let use_noise_pruning = anti_mirror.as_ref().map(|_| false);
        let changes = SearchChanges { use_noise_pruning, ..SearchChanges::default() };
        let visits = max_visits(limits.visits, limits.playouts);
        let usual = || params(self.search.evaluator(), &self.settings, game.size(), visits);
        Plan {
            params: self.params_in_use().unwrap_or_else(usual).changed(&changes),
            exploration: self.root_exploration(game).or_else(|| self.ranked_exploration(game)),
            tree_exploration: self.tree_exploration(searched_for(game.to_move(), purpose)),
            noise: noise.or_else(|| self.wide_noise(for_play)),
            anti_mirror,
            for_play,
        }
    }

    /// Discards the graph if it was searched with another exploration below the root.
    pub(super) fn clear_if_exploration_changed(&mut self, plan: &Plan) {
        let wanted = plan.tree_exploration.as_ref().map(TreeExploration::parameters);
        if self.exploration_kind != wanted {
            self.exploration_kind = wanted;
            self.clear_search();
        }
    }

    /// Discards the graph if it was searched with other forbidden moves below the root, as KataGo does. The values and
    /// variations of the graph contain the moves of earlier searches. At the root, the report leaves them out.
    pub(super) fn clear_if_deep_restriction_changed(&mut self, restriction: &Restriction) {
        let deep = if restriction.applies_at(1) { restriction } else { &Restriction::NONE };
        if self.deep_restriction != *deep {
            self.deep_restriction = deep.clone();
            self.clear_search();
        }
    }

    /// Returns Black's doubling advantage, an input of the network, for a search with this side to move.
    pub(super) fn black_advantage(&self, to_move: Color, purpose: Purpose) -> f32 {
        if purpose != Purpose::Analysis && self.follows_handicap() {
            return self.game_advantage.black_advantage();
        }
        let advantaged = self.settings.advantaged_side.unwrap_or(searched_for(to_move, purpose));
        self.settings.doubling_advantage * advantaged.sign() as f32
    }

    /// Returns whether the advantage is computed from handicap and komi in searches for a move to play.
    fn follows_handicap(&self) -> bool {
        self.settings.doubling_advantage_per_point > 0.0
            && self.search.evaluator().network().is_some_and(|it| features::supports_advantage(it.network()))
    }

    /// Sets the doubling advantage in the evaluator. A change discards all statistics and evaluations.
    pub(super) fn apply_advantage(&mut self, to_move: Color, purpose: Purpose) {
        let wanted = self.black_advantage(to_move, purpose);
        let Some(network) = self.search.evaluator().network() else { return };
        let settings = network.settings();
        if settings.black_doubling_advantage != wanted {
            let network =
                network.with_settings(NetworkSettings { black_doubling_advantage: wanted, ..settings });
            self.search.set_evaluator(EngineEvaluator::Network(Box::new(network)));
            self.status = None;
        }
    }

    /// Returns noise that makes a search consider more moves than it needs, if the settings ask for it.
    fn wide_noise(&self, for_play: bool) -> Option<RootNoise> {
        let settings = &self.settings;
        let amount = if for_play { settings.wide_root_noise } else { settings.analysis_wide_root_noise };
        let is_wanted = amount > 0.0 && self.search.evaluator().network().is_some();
        is_wanted.then(|| RootNoise::wide(amount))
    }

    /// Returns the measures against a mirroring opponent, if the settings ask for them.
    fn against_mirror(&self, game: &Game, for_play: bool) -> Option<AntiMirror> {
        let settings = &self.settings;
        let is_wanted = if for_play { settings.genmove_anti_mirror } else { settings.anti_mirror };
        self.search.evaluator().network().filter(|_| is_wanted)?;
        AntiMirror::against(game)
    }
}
