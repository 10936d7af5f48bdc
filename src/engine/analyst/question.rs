//! Questions to an analyst.

use super::super::HumanSettings;
use kosumi_eval::NetworkSettings;
use kosumi_go::game::Game;
use kosumi_go::graph_key::NodeSharing;
use kosumi_search::{Analysis, Detail, Limits, Restriction, SearchChanges};
use std::time::Duration;

/// How a position is analysed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AnalystSettings {
    /// Number of workers of the search, at least 1.
    pub threads: usize,
    /// Limits of the search. Visits include the evaluation of the position itself.
    pub limits: Limits,
    /// How the network is called.
    pub network: NetworkSettings,
    /// Changes to the parameters that suit the network.
    pub search: SearchChanges,
    /// Graph or tree.
    pub sharing: NodeSharing,
    /// Temperature of the priors at the root, above 0. Above 1 they are more even.
    pub root_policy_temperature: f32,
    /// How much wider the root is searched than is good for play, from 0. See
    /// [`RootNoise::wide`](kosumi_search::RootNoise::wide).
    pub wide_root_noise: f32,
    /// Whether only one of several symmetric moves is searched.
    pub prunes_symmetric: bool,
    /// How much is searched because people would play it.
    pub human: HumanSettings,
    /// Whether an opponent who mirrors is expected to go on, and the mirror is broken.
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
    /// Time until the first one.
    pub first: Duration,
    /// Time between two reports; `None`: there is only one.
    pub every: Option<Duration>,
    /// Called by a worker.
    pub on_report: &'q (dyn Fn(Analysis) + Sync),
}

/// A position that is analysed.
#[derive(Clone, Copy)]
pub struct Question<'q> {
    /// The game up to the position. If it has ended, it is analysed as if play went on.
    pub game: &'q Game,
    /// Settings of the analysis.
    pub settings: &'q AnalystSettings,
    /// Moves that must not be searched.
    pub restriction: &'q Restriction,
    /// What the answer contains besides the statistics of the search.
    pub detail: Detail,
    /// Called now and then; true ends the search at once.
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
