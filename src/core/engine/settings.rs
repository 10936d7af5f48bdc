//! How an engine is made.

use super::HumanSettings;
use crate::eval::{NetworkSettings, PlayoutSettings};
use crate::graph_key::Sharing;
use crate::playout::HeuristicRates;
use crate::rules::Rules;
use crate::search::SearchChanges;
use crate::time::DEFAULT_RESERVE;
use std::time::Duration;

/// How an engine plays.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EngineSettings {
    /// Workers, at least 1.
    pub threads: usize,
    /// Memory of the node table.
    pub memory_mebibytes: usize,
    /// Most visits of the root, reused ones included.
    pub visits: Option<u32>,
    /// Most simulations a move.
    pub playouts: Option<u32>,
    /// Most time a move; without any limit and without a clock, [`DEFAULT_MOVE_TIME`].
    pub move_time: Option<Duration>,
    /// Kept back from the clock for every move: what passes between the engine's clock and the server's.
    pub lag_reserve: Duration,
    /// Decides all chance.
    pub seed: u64,
    /// Graph or tree.
    pub sharing: Sharing,
    /// Refuse moves of the opponent that break the rules, instead of following the record.
    pub strict: bool,
    /// Rules at the start.
    pub rules: Rules,
    /// Komi at the start; `None` for the one usual with the rules.
    pub komi: Option<f32>,
    /// Resign when the own expected result is below this, in `[-1, 1]`; `None`: never.
    pub resign: Option<f32>,
    /// So many moves in a row the expected result must be that low.
    pub resign_after: u32,
    /// Take the opponent's dead stones off the board before passing, where area counts.
    pub capture_dead: bool,
    /// Think while the opponent does.
    pub ponder: bool,
    /// Evaluation by playouts.
    pub playout: PlayoutSettings,
    /// How often the steps of the playout policy are taken.
    pub rates: HeuristicRates,
    /// Evaluation by a network.
    pub network: NetworkSettings,
    /// How far it plays like people.
    pub human: HumanSettings,
    /// How the search differs from what suits evaluator and board.
    pub search: SearchChanges,
}

/// Time for a move when nothing else limits it.
pub const DEFAULT_MOVE_TIME: Duration = Duration::from_secs(5);

impl Default for EngineSettings {
    fn default() -> EngineSettings {
        EngineSettings {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory_mebibytes: 512,
            visits: None,
            playouts: None,
            move_time: None,
            lag_reserve: DEFAULT_RESERVE,
            seed: 1,
            sharing: Sharing::Graph,
            strict: false,
            rules: Rules::default(),
            komi: None,
            resign: Some(-0.9),
            resign_after: 3,
            capture_dead: false,
            ponder: false,
            playout: PlayoutSettings::default(),
            rates: HeuristicRates::default(),
            network: NetworkSettings::default(),
            human: HumanSettings::default(),
            search: SearchChanges::default(),
        }
    }
}
