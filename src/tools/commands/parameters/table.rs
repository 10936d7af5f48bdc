//! The settings themselves, in sections by subject: each section is one of GoGui's dialogs.

use crate::commands::GraphicsKind;
use kosumi_engine::EngineSettings;
use kosumi_eval::NetworkView;
use kosumi_go::board::Color;
use kosumi_go::graph_key::NodeSharing;
use kosumi_gtp::Failure;
use std::time::Duration;

/// Everything that can be changed.
#[derive(Clone, Copy)]
pub(super) struct Adjustable {
    pub(super) engine: EngineSettings,
    pub(super) live_graphics: GraphicsKind,
}

/// The form of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Text,
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// A setting.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) get: fn(&Adjustable) -> String,
    /// `None` if the value makes no sense.
    set: fn(&mut Adjustable, &str) -> Option<()>,
}

/// The value of a limit or profile that is not set.
const NONE: &str = "none";
/// The value of a constant of the search that is left to what suits evaluator and board.
const SUITABLE: &str = "auto";

/// A constant of the search: its name, its field of `SearchChanges`, and its range.
macro_rules! constant {
    ($name:literal, $field:ident, $range:expr) => {
        Parameter {
            name: $name,
            kind: Kind::Text,
            get: |all| text_or(SUITABLE, all.engine.search.$field),
            set: |all, text| {
                let number = |text: &str| text.parse().ok().filter(|value| ($range).contains(value));
                put(&mut all.engine.search.$field, value_or(SUITABLE, text, number))
            },
        }
    };
}

/// A switch of the search: its name and its field of `SearchChanges`.
macro_rules! switch {
    ($name:literal, $field:ident) => {
        Parameter {
            name: $name,
            kind: Kind::Choice(&[SUITABLE, "true", "false"]),
            get: |all| text_or(SUITABLE, all.engine.search.$field),
            set: |all, text| put(&mut all.engine.search.$field, value_or(SUITABLE, text, flag)),
        }
    };
}

/// A number: its name, its place in the settings, and its range.
macro_rules! number {
    ($name:literal, $($field:ident).+ $([$index:literal])?, $range:expr) => {
        Parameter {
            name: $name,
            kind: Kind::Text,
            get: |all| all.engine.$($field).+ $([$index])?.to_string(),
            set: |all, text| {
                let value = text.parse().ok().filter(|value| ($range).contains(value));
                put(&mut all.engine.$($field).+ $([$index])?, value)
            },
        }
    };
}

/// Settings about one subject.
#[derive(Debug)]
pub(super) struct Section {
    /// The title of GoGui's dialog.
    pub(super) label: &'static str,
    /// The command behind the dialog.
    pub(super) command: &'static str,
    /// Few enough for a screen.
    pub(super) parameters: &'static [Parameter],
}

/// All settings.
pub(super) const SECTIONS: &[Section] = &[
    // How long a move may take, and what is shown meanwhile.
    Section {
        label: "Limits",
        command: "kosumi-param_limits",
        parameters: &[
            Parameter {
                name: "maxVisits",
                kind: Kind::Text,
                get: |all| text_or(NONE, all.engine.visits),
                set: |all, text| put(&mut all.engine.visits, value_or(NONE, text, count)),
            },
            Parameter {
                name: "maxPlayouts",
                kind: Kind::Text,
                get: |all| text_or(NONE, all.engine.playouts),
                set: |all, text| put(&mut all.engine.playouts, value_or(NONE, text, count)),
            },
            Parameter {
                name: "maxTime",
                kind: Kind::Text,
                get: |all| text_or(NONE, all.engine.move_time.map(|time| time.as_secs_f64())),
                set: |all, text| put(&mut all.engine.move_time, value_or(NONE, text, duration)),
            },
            Parameter {
                name: "lagBuffer",
                kind: Kind::Text,
                get: |all| all.engine.lag_reserve.as_secs_f64().to_string(),
                set: |all, text| put(&mut all.engine.lag_reserve, duration(text)),
            },
            Parameter {
                name: "numSearchThreads",
                kind: Kind::Text,
                get: |all| all.engine.threads.to_string(),
                set: |all, text| {
                    put(&mut all.engine.threads, text.parse().ok().filter(|n| (1..=1024).contains(n)))
                },
            },
            Parameter {
                name: "ponderingEnabled",
                kind: Kind::Flag,
                get: |all| all.engine.ponder.to_string(),
                set: |all, text| put(&mut all.engine.ponder, flag(text)),
            },
            number!("readingVisits", reading_visits, 0..=10_000),
            Parameter {
                name: "liveGraphics",
                kind: Kind::Choice(&["none", "visits", "winrates", "variation", "ownership"]),
                get: |all| all.live_graphics.name().to_owned(),
                set: |all, text| put(&mut all.live_graphics, GraphicsKind::parse(text)),
            },
        ],
    },
    // Strength, and how moves are chosen from what a search has found.
    Section {
        label: "Playing",
        command: "kosumi-param_playing",
        parameters: &[
            Parameter {
                name: "rank",
                kind: Kind::Text,
                get: |all| text_or(NONE, all.engine.rank),
                set: |all, text| put(&mut all.engine.rank, value_or(NONE, text, |text| text.parse().ok())),
            },
            Parameter {
                name: "resignThreshold",
                kind: Kind::Text,
                get: |all| text_or(NONE, all.engine.resign),
                set: |all, text| {
                    let value = |text: &str| text.parse().ok().filter(|number| (-1.0..=1.0).contains(number));
                    put(&mut all.engine.resign, value_or(NONE, text, value))
                },
            },
            Parameter {
                name: "resignConsecTurns",
                kind: Kind::Text,
                get: |all| all.engine.resign_after.to_string(),
                set: |all, text| put(&mut all.engine.resign_after, count(text)),
            },
            Parameter {
                name: "captureDeadStones",
                kind: Kind::Flag,
                get: |all| all.engine.capture_dead.to_string(),
                set: |all, text| put(&mut all.engine.capture_dead, flag(text)),
            },
            Parameter {
                name: "strict",
                kind: Kind::Flag,
                get: |all| all.engine.strict.to_string(),
                set: |all, text| put(&mut all.engine.strict, flag(text)),
            },
            Parameter {
                name: "genmoveAntiMirror",
                kind: Kind::Flag,
                get: |all| all.engine.genmove_anti_mirror.to_string(),
                set: |all, text| put(&mut all.engine.genmove_anti_mirror, flag(text)),
            },
            number!("chosenMoveTemperature", human.temperature, 0.0..=5.0),
            Parameter {
                name: "chosenMoveTemperatureEarly",
                kind: Kind::Text,
                get: |all| text_or(SUITABLE, all.engine.human.early_temperature),
                set: |all, text| {
                    let read = |text: &str| text.parse().ok().filter(|value| (0.0..=5.0).contains(value));
                    put(&mut all.engine.human.early_temperature, value_or(SUITABLE, text, read))
                },
            },
            number!("chosenMoveTemperatureHalflife", human.temperature_halflife, 0.1..=100_000.0),
            number!("chosenMoveMaxLoss", human.max_loss, 0.0..=1.0),
            number!("playoutDoublingAdvantage", doubling_advantage, -3.0..=3.0),
            number!("dynamicPlayoutDoublingAdvantageCapPerOppLead", doubling_advantage_per_point, 0.0..=0.5),
            Parameter {
                name: "playoutDoublingAdvantagePla",
                kind: Kind::Text,
                get: |all| text_or(NONE, all.engine.advantaged.map(|color| color.to_string().to_uppercase())),
                set: |all, text| {
                    let player = match text.to_ascii_lowercase().as_str() {
                        "black" | "b" => Some(Some(Color::Black)),
                        "white" | "w" => Some(Some(Color::White)),
                        // KataGo's word for no player is nothing at all.
                        "" | NONE => Some(None),
                        _ => None,
                    };
                    put(&mut all.engine.advantaged, player)
                },
            },
        ],
    },
    // A network of human play.
    Section {
        label: "Human Play",
        command: "kosumi-param_human",
        parameters: &[
            Parameter {
                name: "humanSLProfile",
                kind: Kind::Text,
                get: |all| {
                    all.engine.network.profile.map_or_else(|| NONE.to_owned(), |profile| profile.to_string())
                },
                set: |all, text| {
                    // KataGo's word for no profile is nothing at all, which GoGui cannot show.
                    let is_none = text.is_empty() || text == NONE;
                    let profile = if is_none { Some(None) } else { text.parse().ok().map(Some) };
                    put(&mut all.engine.network.profile, profile)
                },
            },
            number!("humanSLChosenMoveProp", human.chosen_move_share, 0.0..=1.0),
            number!("humanSLChosenMovePiklLambda", human.pikl_lambda, 1e-6..=1e30),
            Parameter {
                name: "humanSLChosenMoveIgnorePass",
                kind: Kind::Flag,
                get: |all| all.engine.human.ignore_pass.to_string(),
                set: |all, text| put(&mut all.engine.human.ignore_pass, flag(text)),
            },
            number!("humanSLRootExploreProbWeightless", human.root_weightless, 0.0..=1.0),
            number!("humanSLRootExploreProbWeightful", human.root_weightful, 0.0..=1.0),
            number!("humanSLPlaExploreProbWeightless", human.own.weightless, 0.0..=1.0),
            number!("humanSLPlaExploreProbWeightful", human.own.weightful, 0.0..=1.0),
            number!("humanSLOppExploreProbWeightless", human.opponent.weightless, 0.0..=1.0),
            number!("humanSLOppExploreProbWeightful", human.opponent.weightful, 0.0..=1.0),
            number!("humanSLCpuctExploration", human.cpuct, 0.0..=1000.0),
            number!("humanSLCpuctPermanent", human.cpuct_permanent, 0.0..=1000.0),
        ],
    },
    // The moves of the position itself, whether they are to be played or analysed.
    Section {
        label: "First Moves",
        command: "kosumi-param_root",
        parameters: &[
            number!("wideRootNoise", wide_root_noise, 0.0..=5.0),
            number!("analysisWideRootNoise", analysis_wide_root_noise, 0.0..=5.0),
            Parameter {
                name: "antiMirror",
                kind: Kind::Flag,
                get: |all| all.engine.anti_mirror.to_string(),
                set: |all, text| put(&mut all.engine.anti_mirror, flag(text)),
            },
            switch!("rootSymmetryPruning", root_symmetry_pruning),
            switch!("rootPruneUselessMoves", root_prune_useless_moves),
            constant!("rootPolicyTemperature", root_policy_temperature, 0.01..=100.0),
            constant!("rootPolicyTemperatureEarly", root_policy_temperature_early, 0.01..=100.0),
            number!("rootNumSymmetriesToSample", network.root_views, 1..=8),
            number!("rootPolicyOptimism", network.root_policy_optimism, 0.0..=1.0),
            constant!("rootFpuReductionMax", root_fpu_reduction_max, 0.0..=2.0),
            constant!("lcbStdevs", lcb_stdevs, 0.0..=12.0),
            constant!("minVisitPropForLCB", min_visit_prop_for_lcb, 0.0..=1.0),
        ],
    },
    // Which moves a simulation follows.
    Section {
        label: "Exploration",
        command: "kosumi-param_exploration",
        parameters: &[
            Parameter {
                name: "sharing",
                kind: Kind::Choice(&["graph", "tree"]),
                get: |all| if all.engine.sharing == NodeSharing::Tree { "tree" } else { "graph" }.to_owned(),
                set: |all, text| {
                    put(
                        &mut all.engine.sharing,
                        Some(if text == "tree" { NodeSharing::Tree } else { NodeSharing::Graph }),
                    )
                },
            },
            constant!("cpuctExploration", cpuct_exploration, 0.01..=100.0),
            constant!("cpuctExplorationLog", cpuct_exploration_log, 0.0..=100.0),
            constant!("cpuctExplorationBase", cpuct_exploration_base, 10.0..=100_000.0),
            constant!("cpuctUtilityStdevPrior", cpuct_utility_stdev_prior, 0.01..=10.0),
            constant!("cpuctUtilityStdevPriorWeight", cpuct_utility_stdev_prior_weight, 0.0..=100.0),
            constant!("cpuctUtilityStdevScale", cpuct_utility_stdev_scale, 0.0..=1.0),
            constant!("fpuReductionMax", fpu_reduction_max, 0.0..=2.0),
            switch!("fpuParentWeightByVisitedPolicy", fpu_parent_weight_by_visited_policy),
            constant!(
                "fpuParentWeightByVisitedPolicyPow",
                fpu_parent_weight_by_visited_policy_pow,
                0.01..=100.0
            ),
            constant!("fpuReductionPerHalving", fpu_reduction_per_halving, 0.0..=2.0),
            constant!("numVirtualLossesPerThread", virtual_losses, 0.0..=1000.0),
            constant!("expandAfter", expand_after, 1..=1000),
            constant!("raveEquivalence", rave_equivalence, 0.0..=1e6),
            constant!("raveExploration", rave_exploration, 0.0..=100.0),
            constant!("raveEarlyShare", rave_early_share, 0.0..=10.0),
        ],
    },
    // What a position is worth.
    Section {
        label: "Values",
        command: "kosumi-param_values",
        parameters: &[
            constant!("valueWeightExponent", value_weight_exponent, 0.0..=1.0),
            switch!("useNoisePruning", use_noise_pruning),
            constant!("noisePruneUtilityScale", noise_prune_utility_scale, 0.001..=10.0),
            constant!("staticScoreUtilityFactor", static_score_utility_factor, 0.0..=1.0),
            constant!("dynamicScoreUtilityFactor", dynamic_score_utility_factor, 0.0..=1.0),
            constant!("dynamicScoreCenterZeroWeight", dynamic_score_center_zero_weight, 0.0..=1.0),
            constant!("dynamicScoreCenterScale", dynamic_score_center_scale, 0.2..=5.0),
            switch!("useUncertainty", use_uncertainty),
            constant!("uncertaintyCoeff", uncertainty_coeff, 0.0001..=1.0),
            constant!("uncertaintyExponent", uncertainty_exponent, 0.0..=2.0),
            constant!("uncertaintyMaxWeight", uncertainty_max_weight, 1.0..=100.0),
            constant!("subtreeValueBiasFactor", subtree_value_bias_factor, 0.0..=1.0),
            constant!("subtreeValueBiasWeightExponent", subtree_value_bias_weight_exponent, 0.0..=1.0),
            constant!("subtreeValueBiasFreeProp", subtree_value_bias_free_prop, 0.0..=1.0),
        ],
    },
    // How the network is asked.
    Section {
        label: "Network",
        command: "kosumi-param_network",
        parameters: &[
            Parameter {
                name: "networkView",
                kind: Kind::Choice(&["plain", "varied"]),
                get: |all| {
                    if all.engine.network.view == NetworkView::Plain { "plain" } else { "varied" }.to_owned()
                },
                set: |all, text| {
                    put(
                        &mut all.engine.network.view,
                        Some(if text == "plain" { NetworkView::Plain } else { NetworkView::Varied }),
                    )
                },
            },
            Parameter {
                name: "shareSymmetric",
                kind: Kind::Flag,
                get: |all| all.engine.network.share_symmetric.to_string(),
                set: |all, text| put(&mut all.engine.network.share_symmetric, flag(text)),
            },
            number!("policyOptimism", network.policy_optimism, 0.0..=1.0),
            number!("nnPolicyTemperature", network.policy_temperature, 0.01..=5.0),
            Parameter {
                name: "alwaysComputePassAliveUnderSuicideRules",
                kind: Kind::Choice(&["auto", "true", "false"]),
                get: |all| match all.engine.network.pass_alive_with_suicide {
                    None => "auto".to_owned(),
                    Some(wanted) => wanted.to_string(),
                },
                set: |all, text| {
                    let wanted = if text == "auto" { Some(None) } else { flag(text).map(Some) };
                    put(&mut all.engine.network.pass_alive_with_suicide, wanted)
                },
            },
        ],
    },
    // Playouts, without a network.
    Section {
        label: "Playouts",
        command: "kosumi-param_playouts",
        parameters: &[
            number!("playoutScoreShare", playout.score_share, 0.0..=1.0),
            number!("playoutNakade", rates.nakade, 0..=1000),
            number!("playoutAtari", rates.atari, 0..=1000),
            number!("playoutLowLiberties", rates.low_liberties, 0..=1000),
            number!("playoutPattern", rates.pattern, 0..=1000),
            number!("playoutRefuseSelfAtari", rates.refuse_self_atari, 0..=1000),
        ],
    },
    // What is thought of moves before any playout.
    Section {
        label: "Playout Priors",
        command: "kosumi-param_priors",
        parameters: &[
            number!("priorEven", playout.priors.even, 0..=127),
            number!("priorSelfAtari", playout.priors.self_atari, 0..=127),
            number!("priorCaptureOne", playout.priors.capture_one, 0..=127),
            number!("priorCaptureMany", playout.priors.capture_many, 0..=127),
            number!("priorEscape", playout.priors.escape, 0..=127),
            number!("priorLadder", playout.priors.ladder, 0..=127),
            number!("priorPattern", playout.priors.pattern, 0..=127),
            number!("priorNear1", playout.priors.near[0], 0..=127),
            number!("priorNear2", playout.priors.near[1], 0..=127),
            number!("priorNear3", playout.priors.near[2], 0..=127),
            number!("priorFirstLine", playout.priors.first_line, 0..=127),
            number!("priorSecondLine", playout.priors.second_line, 0..=127),
            number!("priorGoodLine", playout.priors.good_line, 0..=127),
            number!("priorPass", playout.priors.pass, 0..=127),
        ],
    },
];

/// All settings, whatever their section.
pub(super) fn all() -> impl Iterator<Item = &'static Parameter> {
    SECTIONS.iter().flat_map(|section| section.parameters)
}

/// Puts a value in its place, if there is one.
fn put<T>(place: &mut T, value: Option<T>) -> Option<()> {
    *place = value?;
    Some(())
}

/// A number above zero.
fn count(text: &str) -> Option<u32> {
    text.parse().ok().filter(|&count| count > 0)
}

/// The value as text, or `none` without a value.
fn text_or(none: &str, value: Option<impl ToString>) -> String {
    value.map_or_else(|| none.to_owned(), |value| value.to_string())
}

/// A value, or no value if the text is `none`; `None` if the text is neither.
fn value_or<T>(none: &str, text: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<Option<T>> {
    if text == none { Some(None) } else { read(text).map(Some) }
}

fn duration(seconds: &str) -> Option<Duration> {
    seconds.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

/// GoGui writes numbers, KataGo words.
pub(super) fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" => Some(true),
        "0" | "false" => Some(false),
        _ => None,
    }
}

impl Parameter {
    /// Sets the value.
    pub(super) fn change(&self, all: &mut Adjustable, text: &str) -> Result<(), Failure> {
        // GoGui quotes a value that is empty or contains a space.
        let text = text.trim_matches('"');
        let is_known = !matches!(self.kind, Kind::Choice(words) if !words.contains(&text));
        let changed = if is_known { (self.set)(all, text) } else { None };
        changed.ok_or_else(|| match self.kind {
            Kind::Choice(words) => Failure::new(format!("{} is one of {}", self.name, words.join(", "))),
            Kind::Flag => Failure::new(format!("{} is true or false", self.name)),
            Kind::Text => Failure::new(format!("{text} is no value of {}", self.name)),
        })
    }
}

/// A setting by its name, in any case.
pub(super) fn find(name: &str) -> Result<&'static Parameter, Failure> {
    let known = all().find(|parameter| parameter.name.eq_ignore_ascii_case(name));
    known.ok_or_else(|| Failure::new(format!("unknown parameter {name}")))
}
