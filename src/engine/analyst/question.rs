//! Requests to an analyst.

use super::super::HumanSettings;
use kosumi_eval::NetworkSettings;
use kosumi_go::game::Game;
use kosumi_go::graph_key::NodeSharing;
use kosumi_search::{Analysis, Detail, Limits, Restriction, SearchChanges};
use std::time::Duration;

/// Settings of an analysis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AnalystSettings {
    /// Number of workers of the search, at least 1.
    pub threads: usize,
    /// Limits of the search. Visits include the evaluation of the position itself.
    pub limits: Limits,
    /// Settings of the evaluation by the network.
    pub network: NetworkSettings,
    /// Changes to the search parameters that suit the network.
    pub search: SearchChanges,
    /// Whether nodes are shared between paths that reach the same position (a graph) or not (a tree).
    pub sharing: NodeSharing,
    /// Temperature of the priors at the root, above 0. Values above 1 make them more even.
    pub root_policy_temperature: f32,
    /// Amount by which the root is searched more widely than is best for play, at least 0. See
    /// [`RootNoise::wide`](kosumi_search::RootNoise::wide).
    pub wide_root_noise: f32,
    /// Whether the search considers only one of several moves that are symmetric images of each other.
    pub prunes_symmetric: bool,
    /// Settings of simulations that follow human play.
    pub human: HumanSettings,
    /// Whether the search expects a mirroring opponent to continue, and tries to break the mirror.
    pub anti_mirror: bool,
}

impl Default for AnalystSettings {
    fn default() -> AnalystSettings {
        AnalystSettings {
            threads: 1,
            limits: Limits::default(),
            network: NetworkSettings { ignore_pre_root_history: true, ..NetworkSettings::default() },
            search: SearchChanges::default(),
            sharing: NodeSharing::Graph,
            root_policy_temperature: 1.0,
            wide_root_noise: 0.04,
            prunes_symmetric: true,
            human: HumanSettings::default(),
            anti_mirror: false,
        }
    }
}

/// Reports while the search runs.
#[derive(Clone, Copy)]
pub struct Reports<'q> {
    /// Time until the first report.
    pub first: Duration,
    /// Time between two reports; `None` for a single report.
    pub every: Option<Duration>,
    /// Called by a worker with the current analysis.
    pub on_report: &'q (dyn Fn(Analysis) + Sync),
}

/// Position to analyse.
#[derive(Clone, Copy)]
pub struct Question<'q> {
    /// Game up to the position. If it has ended, it is analysed as if play continued.
    pub game: &'q Game,
    /// Settings of the analysis.
    pub settings: &'q AnalystSettings,
    /// Moves that must not be searched.
    pub restriction: &'q Restriction,
    /// Contents of the result besides the statistics of the search.
    pub detail: Detail,
    /// Polled during the search. Returning true ends the search at once.
    pub interrupted: &'q (dyn Fn() -> bool + Sync),
    /// Reports while the search runs.
    pub reports: Option<Reports<'q>>,
}

impl std::fmt::Debug for Question<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Question").field("settings", self.settings).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Reports<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reports")
            .field("first", &self.first)
            .field("every", &self.every)
            .finish_non_exhaustive()
    }
}
