//! How an engine is made.

use crate::time::DEFAULT_RESERVE;
use kosumi_eval::{NetworkSettings, PlayoutSettings};
use kosumi_go::board::Color;
use kosumi_go::graph_key::Sharing;
use kosumi_go::playout::HeuristicRates;
use kosumi_go::rules::Rules;
use kosumi_net::{Profile, Rank};
use kosumi_search::{SearchChanges, Shares};
use std::sync::OnceLock;
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
    /// Visits of a search about one group, where the solver finds no proof: for GNU Go's reading commands, with a network. 0:
    /// nothing is said but what is proven.
    pub reading_visits: u32,
    /// Evaluation by playouts.
    pub playout: PlayoutSettings,
    /// How often the steps of the playout policy are taken.
    pub rates: HeuristicRates,
    /// Evaluation by a network.
    pub network: NetworkSettings,
    /// So many times the opponent's simulations a player is told to have, as a power of two, from −3 to 3; negative for fewer.
    /// Networks that know of it then expect a weaker or a stronger opponent. KataGo's `playoutDoublingAdvantage`.
    pub doubling_advantage: f32,
    /// Which player has this advantage; `None`: the one for whom is searched, who is on turn or, on the opponent's time, has
    /// just moved.
    pub advantaged: Option<Color>,
    /// Above 0, another advantage takes the place of both when a move is to be played: that of the player who has given a handicap or
    /// komi, at most so much for every point of it, and never more than the game asks for. Only with a network that
    /// [knows](kosumi_net::features::knows_advantage) what that means. KataGo's
    /// `dynamicPlayoutDoublingAdvantageCapPerOppLead`, from 0 to 0.5.
    pub doubling_advantage_per_point: f32,
    /// How far it plays like people.
    pub human: HumanSettings,
    /// How much more is looked at than is good for play when a move is to be played, as in
    /// [`RootNoise::wide`](kosumi_search::RootNoise::wide). With a network.
    pub wide_root_noise: f32,
    /// The same when a position is analysed.
    pub analysis_wide_root_noise: f32,
    /// In games, is an opponent who mirrors expected to go on, and the mirror to be broken? With a network.
    pub genmove_anti_mirror: bool,
    /// The same when a position is analysed.
    pub anti_mirror: bool,
    /// The person's rank on which it plays; `None`: as well as it can.
    pub rank: Option<Rank>,
    /// How the search differs from what suits evaluator and board.
    pub search: SearchChanges,
}

/// How far the engine plays like people. Nothing of it matters without a network of human play and a
/// [profile](kosumi_net::Profile), but for the temperatures and `max_loss`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HumanSettings {
    /// `humanSLChosenMoveProp`: how much of the choice is that of people, in `[0, 1]`.
    pub chosen_move_share: f32,
    /// `humanSLChosenMovePiklLambda`: a move of people that loses so much, in units of the value from −1 to 1, is chosen
    /// e times as seldom as it is played. Above zero; from 10⁸ on, nothing is held against a move.
    pub pikl_lambda: f32,
    /// `humanSLChosenMoveIgnorePass`: whether to pass is decided by the search alone.
    pub ignore_pass: bool,
    /// `humanSLRootExploreProbWeightless`: see [`RootExploration::weightless`](kosumi_search::RootExploration::weightless).
    pub root_weightless: f32,
    /// `humanSLRootExploreProbWeightful`: see [`RootExploration::weightful`](kosumi_search::RootExploration::weightful).
    pub root_weightful: f32,
    /// `humanSLPlaExploreProbWeightless` and `humanSLPlaExploreProbWeightful`: how many simulations choose as people do
    /// below the root where the player for whom is searched is on turn.
    pub own: Shares,
    /// `humanSLOppExploreProbWeightless` and `humanSLOppExploreProbWeightful`: the same where the opponent is.
    pub opponent: Shares,
    /// `humanSLCpuctExploration`: see [`RootExploration::cpuct`](kosumi_search::RootExploration::cpuct).
    pub cpuct: f32,
    /// `humanSLCpuctPermanent`: see [`RootExploration::cpuct_permanent`](kosumi_search::RootExploration::cpuct_permanent).
    pub cpuct_permanent: f32,
    /// `chosenMoveTemperature`: 0 plays the move that is best; the larger, the more often another one, 1 in the proportion
    /// of the shares that moves have.
    pub temperature: f32,
    /// `chosenMoveTemperatureEarly`: the same at the beginning of a game, so that games differ; `None`: no other one.
    pub early_temperature: Option<f32>,
    /// `chosenMoveTemperatureHalflife`: after so many moves on 19×19, on smaller boards after fewer, half of the difference
    /// between the two is gone.
    pub temperature_halflife: f32,
    /// `chosenMoveMaxLoss`, not of KataGo: at a temperature, the win rate that another move than the best one may lose, from 0 to 1. A move
    /// that people are to choose may lose anything.
    pub max_loss: f32,
}

impl HumanSettings {
    /// The temperature after so many moves on a board of so many points, as KataGo computes it. One that is hardly felt is none: the
    /// best move is not always the one that was looked at most.
    pub(super) fn temperature_after(&self, moves: usize, area: usize) -> f32 {
        const HARDLY_FELT: f32 = 0.05;
        let early = self.early_temperature.unwrap_or(self.temperature);
        let halvings = moves as f32 / self.temperature_halflife * 19.0 / (area as f32).sqrt();
        let temperature = self.temperature + (early - self.temperature) * libm::exp2f(-halvings);
        if temperature < HARDLY_FELT { self.temperature.min(early) } else { temperature }
    }

    /// Moves as often as people play them, but that the search decides when to pass.
    pub const LIKE_PEOPLE: HumanSettings = HumanSettings {
        chosen_move_share: 1.0,
        pikl_lambda: 1e9,
        ignore_pass: true,
        root_weightless: 0.0,
        root_weightful: 0.0,
        own: Shares { weightless: 0.0, weightful: 0.0 },
        opponent: Shares { weightless: 0.0, weightful: 0.0 },
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
            own: Shares::default(),
            opponent: Shares::default(),
            cpuct: 1.0,
            cpuct_permanent: 0.0,
            temperature: 0.0,
            early_temperature: None,
            temperature_halflife: 19.0,
            max_loss: 1.0,
        }
    }
}

/// Processors that this process may use; 1 where nobody can say. Asked of the system once, since every search asks and the answer may
/// take reading files.
pub fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Time for a move when nothing else limits it.
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
            sharing: Sharing::Graph,
            strict: false,
            rules: Rules::default(),
            komi: None,
            resign: Some(-0.9),
            resign_after: 3,
            capture_dead: false,
            ponder: false,
            reading_visits: 32,
            playout: PlayoutSettings::default(),
            rates: HeuristicRates::default(),
            network: NetworkSettings::default(),
            doubling_advantage: 0.0,
            doubling_advantage_per_point: 0.0,
            advantaged: None,
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
    /// The same for an engine that has a network of human play: that is told the rank, and decides.
    pub(super) fn with_human_network(self) -> EngineSettings {
        let Some(rank) = self.rank else { return self };
        let network = NetworkSettings { profile: Some(Profile::of_rank(rank)), ..self.network };
        EngineSettings { network, human: HumanSettings::LIKE_PEOPLE, ..self }
    }
}
