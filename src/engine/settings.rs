//! Settings of an engine.

use crate::time::DEFAULT_RESERVE;
use kosumi_eval::{NetworkSettings, PlayoutSettings};
use kosumi_go::board::Color;
use kosumi_go::graph_key::NodeSharing;
use kosumi_go::playout::HeuristicProbabilities;
use kosumi_go::rules::Rules;
use kosumi_net::{Profile, RankSetting};
use kosumi_search::{ExplorationShares, SearchChanges};
use std::sync::OnceLock;
use std::time::Duration;

/// Settings of an engine's play.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EngineSettings {
    /// Number of search threads, at least 1.
    pub threads: usize,
    /// Memory of the node table and the evaluation cache together, in MiB.
    pub memory_mebibytes: usize,
    /// Maximum visits of the root, reused ones included.
    pub visits: Option<u32>,
    /// Maximum number of simulations per move.
    pub playouts: Option<u32>,
    /// Maximum time per move. [`DEFAULT_MOVE_TIME`] applies if there is neither any other limit nor a clock.
    pub move_time: Option<Duration>,
    /// Time kept back from the clock for every move, for delays between the engine's clock and the server's.
    pub lag_reserve: Duration,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Whether nodes are shared between paths that reach the same position (a graph) or not (a tree).
    pub sharing: NodeSharing,
    /// Whether to refuse illegal moves of the opponent instead of following the game record.
    pub strict: bool,
    /// Rules at the start.
    pub rules: Rules,
    /// Komi at the start; `None` for the one usual with the rules.
    pub komi: Option<f32>,
    /// Expected result of the engine's side below which it resigns, in `[-1, 1]`. `None` means never.
    pub resign: Option<f32>,
    /// Number of consecutive moves for which the expected result must be below `resign`.
    pub resign_after: u32,
    /// Whether to capture the opponent's dead stones before passing, under area scoring.
    pub capture_dead: bool,
    /// Whether to search on the opponent's time.
    pub ponder: bool,
    /// Number of visits of a search about one group, for GNU Go's reading commands where the solver finds no proof.
    /// Applies only with a network. With 0, only proven results are reported.
    pub reading_visits: u32,
    /// Evaluation by playouts.
    pub playout: PlayoutSettings,
    /// Rates at which the heuristics of the playout policy apply.
    pub rates: HeuristicProbabilities,
    /// Evaluation by a network.
    pub network: NetworkSettings,
    /// Ratio of a player's simulations to the opponent's, an input of the network, as a power of two from −3 to 3.
    /// Negative values mean fewer simulations. With positive values, networks that have this input expect a weaker
    /// opponent, with negative ones a stronger opponent. KataGo's `playoutDoublingAdvantage`.
    pub doubling_advantage: f32,
    /// Player with this advantage. `None` means the player for whom the engine searches: the side to move or, on the
    /// opponent's time, the player that has just moved.
    pub advantaged_side: Option<Color>,
    /// Maximum doubling advantage for each point of a player's head start, from 0 to 0.5. KataGo's
    /// `dynamicPlayoutDoublingAdvantageCapPerOppLead`. Above 0, it replaces the two settings above in searches for a
    /// move to play: the player who has given a handicap or komi gets at most this advantage per point, and never more
    /// than the game requires. Needs a network with [this input](kosumi_net::features::supports_advantage).
    pub doubling_advantage_per_point: f32,
    /// Settings of human-like play.
    pub human: HumanSettings,
    /// Amount by which a search for a move to play is wider than is best for play, as in
    /// [`RootNoise::wide`](kosumi_search::RootNoise::wide). Applies only with a network.
    pub wide_root_noise: f32,
    /// Counterpart of `wide_root_noise` for analysis.
    pub analysis_wide_root_noise: f32,
    /// Whether searches for a move to play expect a mirroring opponent to continue, and try to break the mirror.
    /// Applies only with a network.
    pub genmove_anti_mirror: bool,
    /// Counterpart of `genmove_anti_mirror` for analysis.
    pub anti_mirror: bool,
    /// Human rank to play at. `None` means full strength.
    pub rank: Option<RankSetting>,
    /// Changes to the search parameters that suit the evaluator and the board size.
    pub search: SearchChanges,
}

/// Settings of human-like play. All but the temperatures and `max_loss` require a network of human play and a
/// [profile](kosumi_net::Profile).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HumanSettings {
    /// `humanSLChosenMoveProp`: share of the human policy in the choice of the move, in `[0, 1]`.
    pub chosen_move_share: f32,
    /// `humanSLChosenMovePiklLambda`: loss of a human move that divides its weight by e, in units of the value from −1
    /// to 1. Above zero. From 10⁸ on, losses have no effect.
    pub pikl_lambda: f32,
    /// `humanSLChosenMoveIgnorePass`: whether the search alone decides to pass.
    pub ignore_pass: bool,
    /// `humanSLRootExploreProbWeightless`: see
    /// [`RootExploration::weightless`](kosumi_search::RootExploration::weightless).
    pub root_weightless: f32,
    /// `humanSLRootExploreProbWeightful`: see
    /// [`RootExploration::weightful`](kosumi_search::RootExploration::weightful).
    pub root_weightful: f32,
    /// `humanSLPlaExploreProbWeightless` and `humanSLPlaExploreProbWeightful`: shares of simulations that choose human
    /// moves below the root, at nodes where the searching player is to move.
    pub own: ExplorationShares,
    /// `humanSLOppExploreProbWeightless` and `humanSLOppExploreProbWeightful`: counterparts of `own` for nodes where
    /// the opponent is to move.
    pub opponent: ExplorationShares,
    /// `humanSLCpuctExploration`: see [`RootExploration::cpuct`](kosumi_search::RootExploration::cpuct).
    pub cpuct: f32,
    /// `humanSLCpuctPermanent`: see
    /// [`RootExploration::cpuct_permanent`](kosumi_search::RootExploration::cpuct_permanent).
    pub cpuct_permanent: f32,
    /// `chosenMoveTemperature`: temperature of the choice of the move. At 0, the best move is played. At 1, moves are
    /// played in proportion to their shares.
    pub temperature: f32,
    /// `chosenMoveTemperatureEarly`: temperature at the beginning of a game, which makes games differ. `None` means
    /// `temperature`.
    pub early_temperature: Option<f32>,
    /// `chosenMoveTemperatureHalflife`: number of moves on 19×19 after which half of the difference between the two
    /// temperatures is gone. Smaller boards need fewer moves.
    pub temperature_halflife: f32,
    /// `chosenMoveMaxLoss` (not in KataGo): maximum loss of win rate against the best move when a temperature applies,
    /// from 0 to 1. Does not apply to moves that follow human play.
    pub max_loss: f32,
}

impl HumanSettings {
    /// Returns the temperature after `moves` moves on a board of `area` points, as KataGo computes it. Replaces a
    /// negligible temperature by the lower of the two settings, because at a negligible temperature the most visited
    /// move is played, which is not always the best one.
    pub(super) fn temperature_after(&self, moves: usize, area: usize) -> f32 {
        const NEGLIGIBLE: f32 = 0.05;
        let early = self.early_temperature.unwrap_or(self.temperature);
        let halvings = moves as f32 / self.temperature_halflife * 19.0 / (area as f32).sqrt();
        let temperature = self.temperature + (early - self.temperature) * libm::exp2f(-halvings);
        if temperature < NEGLIGIBLE { self.temperature.min(early) } else { temperature }
    }

    /// Settings that play moves with the frequencies of human play. The search alone decides to pass.
    pub const LIKE_PEOPLE: HumanSettings = HumanSettings {
        chosen_move_share: 1.0,
        pikl_lambda: 1e9,
        ignore_pass: true,
        root_weightless: 0.0,
        root_weightful: 0.0,
        own: ExplorationShares { weightless: 0.0, weightful: 0.0 },
        opponent: ExplorationShares { weightless: 0.0, weightful: 0.0 },
        cpuct: 1.0,
        cpuct_permanent: 0.0,
        temperature: 1.0,
        early_temperature: None,
        temperature_halflife: 19.0,
        max_loss: 1.0,
    };
}

impl Default for HumanSettings {
    fn default() -> HumanSettings {
        HumanSettings {
            chosen_move_share: 0.0,
            pikl_lambda: 1e9,
            ignore_pass: false,
            root_weightless: 0.0,
            root_weightful: 0.0,
            own: ExplorationShares::default(),
            opponent: ExplorationShares::default(),
            cpuct: 1.0,
            cpuct_permanent: 0.0,
            temperature: 0.0,
            early_temperature: None,
            temperature_halflife: 19.0,
            max_loss: 1.0,
        }
    }
}

/// Returns the number of processors that this process may use, or 1 if the number is unknown. Queries the system only
/// once, because every search needs the number and the system may have to read files for it.
pub fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Time for a move when no other limit applies.
pub const DEFAULT_MOVE_TIME: Duration = Duration::from_secs(5);

impl Default for EngineSettings {
    fn default() -> EngineSettings {
        EngineSettings {
            threads: processors(),
            memory_mebibytes: 512,
            visits: None,
            playouts: None,
            move_time: None,
            lag_reserve: DEFAULT_RESERVE,
            seed: 1,
            sharing: NodeSharing::Graph,
            strict: false,
            rules: Rules::default(),
            komi: None,
            resign: Some(-0.9),
            resign_after: 3,
            capture_dead: false,
            ponder: false,
            reading_visits: 32,
            playout: PlayoutSettings::default(),
            rates: HeuristicProbabilities::default(),
            network: NetworkSettings::default(),
            doubling_advantage: 0.0,
            doubling_advantage_per_point: 0.0,
            advantaged_side: None,
            human: HumanSettings::default(),
            wide_root_noise: 0.0,
            analysis_wide_root_noise: 0.0,
            genmove_anti_mirror: false,
            anti_mirror: false,
            rank: None,
            search: SearchChanges::default(),
        }
    }
}

impl EngineSettings {
    /// Returns these settings for an engine with a network of human play. The network gets the rank as its profile and
    /// chooses the moves.
    pub(super) fn with_human_network(self) -> EngineSettings {
        let Some(rank) = self.rank else { return self };
        let network = NetworkSettings { profile: Some(Profile::of_rank(rank.rank())), ..self.network };
        EngineSettings { network, human: HumanSettings::LIKE_PEOPLE, ..self }
    }
}
