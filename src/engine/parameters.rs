//! Registry of all parameters: those of the engine, listed here, and the constants of the search, listed in
//! [`search::params`](kosumi_search::params).
//!
//! GTP commands, KataGo's configuration files, `overrideSettings` of the analysis protocol, command-line options and
//! the manual are derived from the registry. Parameters that KataGo has as well bear KataGo's names.

use super::EngineSettings;
use Accepted::{ByGtp, ByGtpAlone, Ignored};
use kosumi_search::SearchParams;
use kosumi_search::params::{CONSTANTS, Constant, SUITABLE};
pub use kosumi_search::registry::{Accepted, Kind, Section, Spec, Value, WrongValue};
use kosumi_search::registry::{Field, VIEWS};

/// Text that stands for an unset limit, rank, player or profile.
const NONE: &str = "none";

/// Registered parameter that is a field of the [`EngineSettings`].
#[derive(Debug)]
struct Row {
    spec: Spec,
    get: fn(&EngineSettings) -> Value,
    /// Sets the field. Returns `None` if the value has another type than the field.
    set: fn(&mut EngineSettings, Value) -> Option<()>,
}

/// Builds a row: its registration, and its field of the settings.
macro_rules! row {
    ($spec:expr, $($field:tt)+) => {
        Row {
            spec: $spec,
            get: |settings| Field::value(&settings.$($field)+),
            set: |settings, value| Some(settings.$($field)+ = Field::from_value(value)?),
        }
    };
}

/// Builds the registration of a parameter of this section.
macro_rules! of {
    ($section:ident, $name:literal, $kind:expr, $doc:literal) => {
        Spec::new($name, Section::$section, $kind, $doc)
    };
}

/// Bounds of a share.
const SHARE: Kind = Kind::Real(0.0, 1.0);
/// Bounds of a prior, as a number of playouts.
const PRIOR: Kind = Kind::Count(0, 127);
/// Bounds of a rate of the playout policy, in thousandths.
const RATE: Kind = Kind::Count(0, 1000);

const ROWS: &[Row] = &[
    row!(of!(Limits, "maxVisits", Kind::Limit,
        "Largest number of visits of the root, including those kept from an earlier search.").or(NONE), visits),
    row!(of!(Limits, "maxPlayouts", Kind::Limit, "Largest number of simulations of a search.").or(NONE), playouts),
    row!(of!(Limits, "maxTime", Kind::Seconds(1e20),
        "Longest time of a search, in seconds; in GTP 5 if nothing else limits the search.").or(NONE), move_time),
    row!(of!(Limits, "lagBuffer", Kind::Seconds(3600.0),
        "Time held back from the clock at every move, in seconds.").accepted(ByGtp), lag_reserve),
    row!(of!(Limits, "numSearchThreads", Kind::Count(1, 4096),
        "Threads of one search, no more than eight for each processor unless a graphics card evaluates; configuration files for GTP start no more than there are processors.")
        .usual("number of processors")
        .alias("numSearchThreadsPerAnalysisThread"), threads),
    row!(of!(Limits, "ponderingEnabled", Kind::Flag, "Searches during the opponent's time.").accepted(ByGtpAlone), ponder),
    row!(of!(Limits, "readingVisits", Kind::Count(0, 10_000),
        "Visits of a search about one group where the solver finds no proof; 0 reports only what is proven.")
        .accepted(ByGtpAlone), reading_visits),
    row!(of!(Playing, "rank", Kind::Rank,
        "Human rank at which the engine plays; none is its full strength, and auto adapts the rank after each game.").or(NONE).accepted(ByGtpAlone), rank),
    row!(of!(Playing, "resignThreshold", Kind::Real(-1.0, 0.0),
        "Expected result, from -1 to 1, below which the engine resigns.").or(NONE).accepted(ByGtpAlone), resign),
    row!(of!(Playing, "resignConsecTurns", Kind::Count(1, 100),
        "Number of moves in a row at which the expected result must be that low.").accepted(ByGtpAlone), resign_after),
    row!(of!(Playing, "captureDeadStones", Kind::Flag,
        "Takes dead stones off the board before passing, where area counts.").accepted(ByGtpAlone), capture_dead),
    row!(of!(Playing, "strict", Kind::Flag,
        "Refuses moves of the opponent that break the rules instead of following the record.").accepted(ByGtpAlone), strict),
    row!(of!(Playing, "genmoveAntiMirror", Kind::Flag,
        "In games, expects an opponent who has mirrored most moves to go on.").accepted(ByGtp), genmove_anti_mirror),
    row!(of!(Playing, "chosenMoveTemperature", Kind::Real(0.0, 5.0),
        "Temperature at which chance chooses the move: 0 plays the best one, 1 plays each as often as it was searched.")
        .accepted(ByGtp), human.temperature),
    row!(of!(Playing, "chosenMoveTemperatureEarly", Kind::Real(0.0, 5.0),
        "The temperature at the start of a game; auto is the same temperature.").or(SUITABLE).accepted(ByGtp),
        human.early_temperature),
    row!(of!(Playing, "chosenMoveTemperatureHalflife", Kind::Real(0.1, 100_000.0),
        "Moves on 19x19, in proportion fewer on smaller boards, after which half of the difference is gone.")
        .accepted(ByGtp), human.temperature_halflife),
    row!(of!(Playing, "chosenMoveMaxLoss", SHARE,
        "Win rate that a move may lose at most if chance chooses it by the search alone.").accepted(ByGtpAlone),
        human.max_loss),
    row!(of!(Playing, "playoutDoublingAdvantage", Kind::Real(-3.0, 3.0),
        "Doublings of the opponent's simulations that the network is told the player has; negative for halvings."),
        doubling_advantage),
    row!(of!(Playing, "playoutDoublingAdvantagePla", Kind::Player,
        "Player with the advantage; none is the player of the search.").or(NONE), advantaged_side),
    row!(of!(Playing, "dynamicPlayoutDoublingAdvantageCapPerOppLead", Kind::Real(0.0, 0.5),
        "In games, the most of that advantage for every point of the opponent's head start; 0 switches it off.")
        .accepted(ByGtpAlone), doubling_advantage_per_point),
    row!(of!(HumanPlay, "humanSLProfile", Kind::Profile, "The people whose moves the network predicts.").or(NONE),
        network.profile),
    row!(of!(HumanPlay, "humanSLChosenMoveProp", SHARE, "Share of people's moves in the choice of a move.").accepted(ByGtp),
        human.chosen_move_share),
    row!(of!(HumanPlay, "humanSLChosenMovePiklLambda", Kind::Real(0.0, 1e9),
        "Loss of value, in units from -1 to 1, at which people's move is chosen e times less often; from 1e8 on any loss is ignored.")
        .accepted(ByGtp), human.pikl_lambda),
    row!(of!(HumanPlay, "humanSLChosenMoveIgnorePass", Kind::Flag, "Leaves the choice of a pass to the search alone.")
        .accepted(ByGtp), human.ignore_pass),
    row!(of!(HumanPlay, "humanSLRootExploreProbWeightless", SHARE,
        "Share of simulations whose first move is chosen as people do, without counting at the root (weightless)."), human.root_weightless),
    row!(of!(HumanPlay, "humanSLRootExploreProbWeightful", SHARE,
        "Share of simulations whose first move is chosen as people do, and that count (weightful)."), human.root_weightful),
    row!(of!(HumanPlay, "humanSLPlaExploreProbWeightless", SHARE,
        "The weightless share below the root, where the player of the search is to move."), human.own.weightless),
    row!(of!(HumanPlay, "humanSLPlaExploreProbWeightful", SHARE,
        "The weightful share below the root, where the player of the search is to move."), human.own.weightful),
    row!(of!(HumanPlay, "humanSLOppExploreProbWeightless", SHARE,
        "The weightless share below the root, where the opponent is to move."), human.opponent.weightless),
    row!(of!(HumanPlay, "humanSLOppExploreProbWeightful", SHARE,
        "The weightful share below the root, where the opponent is to move."), human.opponent.weightful),
    row!(of!(HumanPlay, "humanSLCpuctExploration", Kind::Real(0.0, 1000.0),
        "Weight of people's probabilities that fades with the square root of the visits."), human.cpuct),
    row!(of!(HumanPlay, "humanSLCpuctPermanent", Kind::Real(0.0, 1000.0),
        "Weight of people's probabilities that never fades."), human.cpuct_permanent),
    row!(of!(Root, "wideRootNoise", Kind::Real(0.0, 5.0),
        "Widens the search of the root: for moves to be played in GTP, for all queries of the analysis engine."),
        wide_root_noise),
    row!(of!(Root, "analysisWideRootNoise", Kind::Real(0.0, 5.0), "Widens the search of the root in GTP's analyses.")
        .accepted(ByGtp), analysis_wide_root_noise),
    row!(of!(Root, "antiMirror", Kind::Flag,
        "In analyses, expects an opponent who has mirrored most moves to go on."), anti_mirror),
    row!(of!(Root, "rootNumSymmetriesToSample", Kind::Count(1, 8),
        "Symmetric views of the root whose probabilities are averaged, and one more for every 16 visits.").accepted(ByGtp),
        network.root_views),
    row!(of!(Root, "rootPolicyOptimism", SHARE, "Share of the network's optimistic policy at the root."),
        network.root_policy_optimism),
    row!(of!(Exploration, "useGraphSearch", Kind::FlagOrWord("graph", "tree"),
        "Shares positions between different orders of the same moves.").alias("sharing"), sharing),
    row!(of!(Network, "networkView", Kind::Choice(VIEWS),
        "Symmetry through which the network sees a position: plain is always the same, varied depends on the position."),
        network.view),
    row!(of!(Network, "shareSymmetric", Kind::Flag, "Evaluates positions that are mirror images of each other once."),
        network.share_symmetric),
    row!(of!(Network, "useDevice", Kind::Flag,
        "Evaluates on the graphics card that --device has chosen, if there is one; false evaluates on the processor.")
        .accepted(ByGtpAlone), network.use_device),
    row!(of!(Network, "policyOptimism", SHARE, "Share of the network's optimistic policy below the root."),
        network.policy_optimism),
    row!(of!(Network, "nnPolicyTemperature", Kind::Real(0.01, 5.0),
        "Raises the network's probabilities to the power of 1 / this at all positions."), network.policy_temperature),
    row!(of!(Network, "ignorePreRootHistory", Kind::Flag, "Hides the moves before the root from the network."),
        network.ignore_pre_root_history),
    row!(of!(Network, "alwaysComputePassAliveUnderSuicideRules", Kind::Flag,
        "Tells the network which groups are unconditionally alive where suicide is legal; auto follows the network.")
        .or(SUITABLE), network.pass_alive_with_suicide),
    row!(of!(Playouts, "playoutScoreShare", SHARE, "Share of the value of a playout that depends on the score.")
        .accepted(ByGtpAlone), playout.score_share),
    row!(of!(Playouts, "playoutNakade", RATE, "Rate of vital points of eyes, in thousandths.").accepted(ByGtpAlone),
        rates.nakade),
    row!(of!(Playouts, "playoutAtari", RATE, "Rate of answers to atari, in thousandths.").accepted(ByGtpAlone), rates.atari),
    row!(of!(Playouts, "playoutLowLiberties", RATE, "Rate of answers to chains with few liberties, in thousandths.")
        .accepted(ByGtpAlone), rates.low_liberties),
    row!(of!(Playouts, "playoutPattern", RATE, "Rate of moves by patterns, in thousandths.").accepted(ByGtpAlone),
        rates.pattern),
    row!(of!(Playouts, "playoutRefuseSelfAtari", RATE, "Rate at which self-atari is refused, in thousandths.")
        .accepted(ByGtpAlone), rates.refuse_self_atari),
    row!(of!(PlayoutPriors, "priorEven", PRIOR, "Prior of every move, in playouts, half of them won.").accepted(ByGtpAlone),
        playout.priors.even),
    row!(of!(PlayoutPriors, "priorSelfAtari", PRIOR, "Prior against self-atari, in playouts.").accepted(ByGtpAlone),
        playout.priors.self_atari),
    row!(of!(PlayoutPriors, "priorCaptureOne", PRIOR, "Prior for the capture of one stone, in playouts.").accepted(ByGtpAlone),
        playout.priors.capture_one),
    row!(of!(PlayoutPriors, "priorCaptureMany", PRIOR, "Prior for the capture of several stones, in playouts.")
        .accepted(ByGtpAlone), playout.priors.capture_many),
    row!(of!(PlayoutPriors, "priorEscape", PRIOR, "Prior for an escape from atari, in playouts.").accepted(ByGtpAlone),
        playout.priors.escape),
    row!(of!(PlayoutPriors, "priorLadder", PRIOR, "Prior for moves that catch a chain in a ladder, in playouts.").accepted(ByGtpAlone),
        playout.priors.ladder),
    row!(of!(PlayoutPriors, "priorPattern", PRIOR, "Prior for moves by patterns, in playouts.").accepted(ByGtpAlone),
        playout.priors.pattern),
    row!(of!(PlayoutPriors, "priorNear1", PRIOR, "Prior for moves next to the latest move, in playouts.")
        .accepted(ByGtpAlone), playout.priors.near[0]),
    row!(of!(PlayoutPriors, "priorNear2", PRIOR, "Prior for moves at distance 2 from the latest move, in playouts.")
        .accepted(ByGtpAlone), playout.priors.near[1]),
    row!(of!(PlayoutPriors, "priorNear3", PRIOR, "Prior for moves at distance 3 from the latest move, in playouts.")
        .accepted(ByGtpAlone), playout.priors.near[2]),
    row!(of!(PlayoutPriors, "priorFirstLine", PRIOR, "Prior against the first line, in playouts.").accepted(ByGtpAlone),
        playout.priors.first_line),
    row!(of!(PlayoutPriors, "priorSecondLine", PRIOR, "Prior against the second line, in playouts.").accepted(ByGtpAlone),
        playout.priors.second_line),
    row!(of!(PlayoutPriors, "priorGoodLine", PRIOR, "Prior for the third and the fourth line, in playouts.")
        .accepted(ByGtpAlone), playout.priors.good_line),
    row!(of!(PlayoutPriors, "priorPass", PRIOR, "Prior against a pass, in playouts.").accepted(ByGtpAlone),
        playout.priors.pass),
];

/// Parameters of KataGo that are accepted but have no effect, with KataGo's bounds.
const IGNORED: &[Spec] = &[
    of!(
        Limits,
        "endgameTurnTimeDecay",
        Kind::Real(0.0, 1000.0),
        "Decay of the time for moves of the endgame."
    ),
    of!(
        Limits,
        "futileVisitsThreshold",
        Kind::Real(0.01, 1.0),
        "Share of the visits below which a search ends."
    ),
    of!(Limits, "maxPlayoutsPondering", Kind::Limit, "Most simulations while pondering."),
    of!(Limits, "maxTimePondering", Kind::Seconds(1e20), "Most time while pondering, in seconds."),
    of!(Limits, "maxVisitsPondering", Kind::Limit, "Most visits while pondering."),
    of!(
        Limits,
        "midgameTimeFactor",
        Kind::Real(0.01, 100.0),
        "Factor of the time for moves of the middle game."
    ),
    of!(Limits, "midgameTurnPeakTime", Kind::Real(0.0, 1000.0), "Turn at which that time is longest."),
    of!(
        Limits,
        "minPlayoutsPerThread",
        Kind::Real(0.0, 1e20),
        "Simulations without which no thread is started."
    ),
    of!(
        Limits,
        "obviousMovesPolicyEntropyTolerance",
        Kind::Real(0.001, 2.0),
        "Entropy at which a move is obvious."
    ),
    of!(
        Limits,
        "obviousMovesPolicySurpriseTolerance",
        Kind::Real(0.001, 2.0),
        "Surprise at which a move is obvious."
    ),
    of!(Limits, "obviousMovesTimeFactor", Kind::Real(0.01, 1.0), "Factor of the time for obvious moves."),
    of!(Limits, "overallocateTimeFactor", Kind::Real(0.01, 100.0), "Factor of the time where much is left."),
    of!(Limits, "searchFactorAfterOnePass", SHARE, "Factor of the limits after a pass."),
    of!(Limits, "searchFactorAfterTwoPass", SHARE, "Factor of the limits after two passes."),
    of!(Limits, "searchFactorWhenWinning", Kind::Real(0.01, 1.0), "Factor of the limits in won games."),
    of!(Limits, "searchFactorWhenWinningThreshold", SHARE, "Win rate from which a game is won."),
    of!(Limits, "treeReuseCarryOverTimeFactor", SHARE, "Share of the time that the reused tree saves."),
    of!(
        Playing,
        "allowResignation",
        Kind::Flag,
        "Whether the engine resigns; read in configuration files for GTP."
    ),
    of!(Playing, "avoidRepeatedPatternUtility", Kind::Real(-3.0, 3.0), "Utility of repeated patterns."),
    of!(
        Playing,
        "chosenMovePrune",
        Kind::Real(0.0, 1e10),
        "Visits below which chance does not choose a move."
    ),
    of!(
        Playing,
        "chosenMoveSubtract",
        Kind::Real(0.0, 1e10),
        "Visits taken off every move before chance chooses."
    ),
    of!(
        Playing,
        "chosenMoveTemperatureOnlyBelowProb",
        SHARE,
        "Probability up to which the temperature counts."
    ),
    of!(Playing, "cleanupBeforePass", Kind::Flag, "Takes dead stones before passing.").or(SUITABLE),
    of!(Playing, "conservativePass", Kind::Flag, "Counts a pass as if every stone were alive."),
    of!(Playing, "delayMoveMax", Kind::Real(0.0, 1e6), "Longest delay of a move, in seconds."),
    of!(Playing, "delayMoveScale", Kind::Real(0.0, 10_000.0), "Delay of a move, in seconds."),
    of!(Playing, "enableMorePassingHacks", Kind::Flag, "Corrections of passes."),
    of!(Playing, "enablePassingHacks", Kind::Flag, "Corrections of passes."),
    of!(Playing, "fillDameBeforePass", Kind::Flag, "Fills neutral points before passing."),
    of!(Playing, "friendlyPass", Kind::Flag, "Passes although dead stones are left.").or(SUITABLE),
    of!(Playing, "preventCleanupPhase", Kind::Flag, "Plays no phase that settles the status of stones."),
    of!(
        Playing,
        "resignMinMovesPerBoardArea",
        SHARE,
        "Moves per point of the board before the engine resigns."
    ),
    of!(
        Playing,
        "resignMinScoreDifference",
        Kind::Real(0.0, 1000.0),
        "Points behind at which the engine resigns."
    ),
    of!(Playing, "rootEndingBonusPoints", Kind::Real(-1.0, 1.0), "Points for moves that end the game."),
    of!(Playing, "useLcbForSelection", Kind::Flag, "Chooses moves by lower bounds."),
    of!(Playing, "useNonBuggyLcb", Kind::Flag, "Computes lower bounds in the newer way."),
    of!(
        Root,
        "analysisIgnorePreRootHistory",
        Kind::Flag,
        "Hides the moves before the root in GTP's analyses."
    ),
    of!(Root, "rootDesiredPerChildVisitsCoeff", Kind::Real(0.0, 100.0), "Visits that every move gets."),
    of!(
        Root,
        "rootDirichletNoiseTotalConcentration",
        Kind::Real(0.001, 10_000.0),
        "Concentration of the noise."
    ),
    of!(Root, "rootDirichletNoiseWeight", SHARE, "Weight of the noise."),
    of!(Root, "rootFpuLossProp", SHARE, "Share of a loss in the value of moves without visits at the root."),
    of!(Root, "rootNoiseEnabled", Kind::Flag, "Adds noise to the probabilities of the root."),
    of!(Exploration, "fpuLossProp", SHARE, "Share of a loss in the value of moves without visits."),
    of!(
        Exploration,
        "fpuParentWeight",
        SHARE,
        "Share of the network's value in that of moves without visits."
    ),
    of!(Exploration, "graphSearchCatchUpLeakProb", SHARE, "Probability of descents into known positions."),
    of!(Exploration, "graphSearchRepBound", Kind::Count(3, 50), "Moves within which positions may repeat."),
    of!(Values, "drawEquivalentWinsForWhite", SHARE, "Share of a win that a draw is for White."),
    of!(
        Values,
        "noResultUtilityForWhite",
        Kind::Real(-1.0, 1.0),
        "Utility of a game without result for White."
    ),
    of!(Values, "noisePruningCap", Kind::Real(0.0, f32::MAX), "Most visits that noise pruning takes."),
    of!(
        Values,
        "subtreeValueBiasTableNumShards",
        Kind::Count(1, 65_536),
        "Locks of the table of corrections."
    ),
    of!(Network, "ignoreAllHistory", Kind::Flag, "Hides all moves from the network."),
];

/// Registered parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter(Place);

/// Location of a parameter's value.
#[derive(Clone, Copy, Debug)]
enum Place {
    Settings(&'static Row),
    Search(&'static Constant),
    Ignored(&'static Spec),
}

/// Returns all parameters that have an effect, section by section.
pub fn all() -> impl Iterator<Item = Parameter> {
    Section::ALL.into_iter().flat_map(of_section)
}

/// Returns the parameters of a section that have an effect.
pub fn of_section(section: Section) -> impl Iterator<Item = Parameter> {
    let rows = ROWS.iter().map(|row| Parameter(Place::Settings(row)));
    let constants = CONSTANTS.iter().map(|constant| Parameter(Place::Search(constant)));
    rows.chain(constants).filter(move |parameter| parameter.spec().section == section)
}

/// Returns the parameters of KataGo that are accepted but have no effect.
pub fn ignored() -> impl Iterator<Item = Parameter> {
    IGNORED.iter().map(|spec| Parameter(Place::Ignored(spec)))
}

/// Finds a parameter by its name, ignoring case and regardless of the protocols that accept it.
pub fn find(name: &str) -> Option<Parameter> {
    all().chain(ignored()).find(|parameter| parameter.spec().is_called(name))
}

impl Parameter {
    /// Returns the registration of the parameter.
    pub fn spec(&self) -> &'static Spec {
        match self.0 {
            Place::Settings(row) => &row.spec,
            Place::Search(constant) => &constant.spec,
            Place::Ignored(spec) => spec,
        }
    }

    /// Returns the protocols that accept the parameter.
    pub fn accepted(&self) -> Accepted {
        match self.0 {
            Place::Ignored(_) => Ignored,
            _ => self.spec().accepted,
        }
    }

    /// Returns the value in these settings.
    pub fn get(&self, settings: &EngineSettings) -> Value {
        match self.0 {
            Place::Settings(row) => (row.get)(settings),
            Place::Search(constant) => (constant.get_change)(&settings.search),
            Place::Ignored(_) => Value::Unset,
        }
    }

    /// Returns the value in these settings as text.
    pub fn text(&self, settings: &EngineSettings) -> String {
        self.spec().text(self.get(settings))
    }

    /// Reads a value and stores it in the settings.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a value of the parameter. The settings are then unchanged.
    pub fn set(&self, settings: &mut EngineSettings, text: &str) -> Result<(), WrongValue> {
        let value = self.spec().read(text)?;
        let is_set = match self.0 {
            Place::Settings(row) => (row.set)(settings, value),
            Place::Search(constant) => (constant.set_change)(&mut settings.search, value),
            Place::Ignored(_) => Some(()),
        };
        debug_assert!(is_set.is_some(), "{}: {value:?}", self.spec().name);
        Ok(())
    }

    /// Reads a value as configuration files write it. An empty text leaves the value unchanged, unless the empty text
    /// is a value of the parameter.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a value of the parameter. The settings are then unchanged.
    pub fn configure(&self, settings: &mut EngineSettings, text: &str) -> Result<(), WrongValue> {
        let is_empty = text.trim().is_empty() && !self.spec().may_be_empty();
        if is_empty { Ok(()) } else { self.set(settings, text) }
    }

    /// Returns the usual value in words, given these settings. For a constant of the search, this is the value with a
    /// network, followed by the value with playouts where it differs.
    pub fn usual(&self, settings: &EngineSettings) -> String {
        let spec = self.spec();
        let constant = match self.0 {
            Place::Search(constant) => constant,
            _ => return spec.usual.map_or_else(|| self.text(settings), str::to_owned),
        };
        let of = |params: SearchParams| (constant.get)(&params).map(|value| spec.text(value));
        match (of(SearchParams::for_network()), of(SearchParams::default())) {
            (Some(network), Some(playouts)) if network != playouts => {
                format!("{network}, by playouts {playouts}")
            }
            (Some(usual), _) | (None, Some(usual)) => match spec.usual {
                Some(other) => format!("{usual}, {other}"),
                None => usual,
            },
            (None, None) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::rng::Rng;

    /// Returns values of a parameter: its bounds, its words, and some values between the bounds.
    fn values(spec: &Spec, rng: &mut Rng) -> Vec<String> {
        let between = |rng: &mut Rng, least: f32, most: f32| least + (most - least) * rng.unit() as f32;
        let mut values: Vec<String> = match spec.kind {
            Kind::Real(least, most) => {
                let some = (0..20).map(|_| between(rng, least, most)).chain([least, most]);
                some.map(|value| value.to_string()).collect()
            }
            Kind::Count(least, most) => {
                let some = (0..20).map(|_| least + u64::from(rng.below((most - least) as u32 + 1)));
                some.chain([least, most]).map(|value| value.to_string()).collect()
            }
            Kind::Limit => ["1", "1000", "4294967295"].map(str::to_owned).to_vec(),
            Kind::Seconds(_) => ["0", "0.25", "1.5", "3600"].map(str::to_owned).to_vec(),
            Kind::Flag | Kind::FlagOrWord(..) => ["true", "false"].map(str::to_owned).to_vec(),
            Kind::Choice(words) => words.iter().map(|&word| word.to_owned()).collect(),
            Kind::Player => ["BLACK", "WHITE"].map(str::to_owned).to_vec(),
            Kind::Rank => ["20k", "1k", "9d"].map(str::to_owned).to_vec(),
            Kind::Profile => ["rank_5k", "preaz_3d_1k", "proyear_1990"].map(str::to_owned).to_vec(),
        };
        values.extend(spec.unset.map(str::to_owned));
        values
    }

    #[test]
    fn names_are_unique_and_all_is_documented() {
        let parameters: Vec<Parameter> = all().chain(ignored()).collect();
        for (index, parameter) in parameters.iter().enumerate() {
            let spec = parameter.spec();
            for name in [Some(spec.name), spec.alias].into_iter().flatten() {
                assert!(parameters[..index].iter().all(|other| !other.spec().is_called(name)), "{name}");
                assert_eq!(find(&name.to_uppercase()).map(|it| it.spec().name), Some(spec.name));
            }
            assert!(spec.doc.trim().ends_with('.') && !spec.doc.contains('|'), "{}", spec.name);
        }
        assert!(find("beauty").is_none());
        // Each parameter belongs to a section, and is therefore in `all`.
        assert_eq!(parameters.len(), ROWS.len() + CONSTANTS.len() + IGNORED.len());
    }

    #[test]
    fn every_value_reads_back_exactly() {
        let mut rng = Rng::new(1);
        for parameter in all() {
            let spec = parameter.spec();
            for text in values(spec, &mut rng) {
                let mut settings = EngineSettings::default();
                assert_eq!(parameter.set(&mut settings, &text), Ok(()), "{}", spec.name);
                assert_eq!(parameter.text(&settings), text, "{}", spec.name);
                let mut again = EngineSettings::default();
                assert_eq!(parameter.configure(&mut again, &text), Ok(()));
                assert_eq!(again, settings, "{} {text}", spec.name);
            }
        }
    }

    #[test]
    fn a_value_changes_its_own_parameter_alone() {
        let mut rng = Rng::new(2);
        let usual = EngineSettings::default();
        for parameter in all() {
            let spec = parameter.spec();
            for text in values(spec, &mut rng) {
                let mut settings = usual;
                parameter.set(&mut settings, &text).expect("a value");
                for other in all().filter(|other| other.spec().name != spec.name) {
                    assert_eq!(
                        other.get(&settings),
                        other.get(&usual),
                        "{} {}",
                        spec.name,
                        other.spec().name
                    );
                }
            }
        }
    }

    #[test]
    fn constants_reach_the_search_as_they_were_set() {
        let mut rng = Rng::new(3);
        let size = kosumi_go::board::BoardSize::square(9).expect("a size");
        for constant in CONSTANTS {
            let parameter = find(constant.spec.name).expect("a parameter");
            for text in values(&constant.spec, &mut rng).iter().filter(|&text| text != SUITABLE) {
                let mut settings = EngineSettings::default();
                parameter.set(&mut settings, text).expect("a value");
                let mut was_used = false;
                for usual in [SearchParams::for_network(), SearchParams::for_playouts(size)] {
                    let changed = usual.changed(&settings.search);
                    let mut wanted = usual;
                    was_used |= (constant.set)(&mut wanted, parameter.get(&settings)).is_some();
                    assert_eq!(changed, wanted, "{} {text}", constant.spec.name);
                }
                assert!(was_used, "{}", constant.spec.name);
            }
        }
    }

    #[test]
    fn values_out_of_bounds_are_refused_and_change_nothing() {
        for parameter in all().chain(ignored()) {
            let spec = parameter.spec();
            let mut wrong = vec!["nonsense".to_owned(), "nan".to_owned(), "1e999".to_owned()];
            match spec.kind {
                Kind::Real(least, most) => {
                    wrong.push((most * 1.001 + 0.001).to_string());
                    wrong.push((least - least.abs() * 0.001 - 1e-9).to_string());
                }
                Kind::Count(least, most) => {
                    wrong.push((most + 1).to_string());
                    wrong.push((i128::from(least) - 1).to_string());
                    wrong.push(format!("{least}.5"));
                }
                Kind::Limit => wrong.extend(["0".to_owned(), "-1".to_owned(), "1125899906842625".to_owned()]),
                Kind::Seconds(most) => wrong.extend(["-0.001".to_owned(), (most * 2.0).to_string()]),
                _ => wrong.push("2".to_owned()),
            }
            for text in wrong {
                let mut settings = EngineSettings::default();
                let error = parameter.set(&mut settings, &text).expect_err(spec.name).to_string();
                let shown: String = text.chars().take(60).collect();
                let wanted = format!("{} must be {}, not '{shown}'", spec.name, spec.values());
                assert_eq!((error, settings), (wanted, EngineSettings::default()));
            }
            let mut settings = EngineSettings::default();
            assert_eq!(parameter.set(&mut settings, "").is_ok(), spec.may_be_empty(), "{}", spec.name);
            assert_eq!(parameter.configure(&mut settings, " "), Ok(()));
            assert_eq!(settings, EngineSettings::default());
        }
    }

    #[test]
    fn usual_values_are_within_bounds() {
        for parameter in all() {
            let spec = parameter.spec();
            assert!(spec.admits(parameter.get(&EngineSettings::default())), "{}", spec.name);
            for params in [SearchParams::for_network(), SearchParams::default()] {
                if let Place::Search(constant) = parameter.0
                    && let Some(usual) = (constant.get)(&params)
                {
                    assert!(spec.admits(usual), "{} {usual:?}", spec.name);
                }
            }
        }
    }
}
