//! What an analyst is asked.

use super::super::HumanSettings;
use super::Analysis;
use kosumi_eval::NetworkSettings;
use kosumi_go::game::Game;
use kosumi_go::graph_key::NodeSharing;
use kosumi_search::{Limits, Restriction, SearchChanges};
use std::time::Duration;

/// How a position is analysed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AnalystSettings {
    /// Workers of the search, at least 1.
    pub threads: usize,
    /// When the search ends; visits include the evaluation of the position itself.
    pub limits: Limits,
    /// How the network is asked.
    pub network: NetworkSettings,
    /// How the search differs from what suits a network.
    pub search: SearchChanges,
    /// Graph or tree.
    pub sharing: NodeSharing,
    /// The temperature of the priors at the root: above 1 they are more even; above 0.
    pub root_policy_temperature: f32,
    /// How much more of the position is looked at than is good for play, from 0: see [`RootNoise::wide`](kosumi_search::RootNoise::wide).
    pub wide_root_noise: f32,
    /// Is only one of several symmetric moves searched?
    pub prunes_symmetric: bool,
    /// What is looked at because people would play it.
    pub human: HumanSettings,
    /// Is an opponent who mirrors expected to go on, and the mirror to be broken?
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

/// What an answer is to contain besides values and moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wishes {
    /// Owners at the root, and how far they scatter.
    pub ownership: bool,
    /// The same of every move.
    pub moves_ownership: bool,
}

/// Reports while the search runs.
#[derive(Clone, Copy)]
pub struct Reports<'q> {
    /// Time until the first one.
    pub first: Duration,
    /// Time between two; `None`: there is only one.
    pub every: Option<Duration>,
    /// Called by a worker.
    pub on_report: &'q (dyn Fn(Analysis) + Sync),
}

/// A position to be analysed.
#[derive(Clone, Copy)]
pub struct Question<'q> {
    /// The game up to the position. If it has ended, it is analysed as if play went on.
    pub game: &'q Game,
    /// How.
    pub settings: &'q AnalystSettings,
    /// Moves that are not to be searched.
    pub restriction: &'q Restriction,
    /// What the answer is to contain.
    pub wishes: Wishes,
    /// Asked now and then; true ends the search at once.
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
