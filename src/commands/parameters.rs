//! Settings that can be changed while the engine runs: for GoGui's dialogs and for `kata-set-param`.
//!
//! One table, one row per parameter. Names that KataGo has are KataGo's. A value that makes no sense is refused and
//! changes nothing.

use super::graphics::GraphicsKind;
use super::{Answer, Commands, rules};
use crate::board::Color;
use crate::engine::EngineSettings;
use crate::eval::View;
use crate::graph_key::Sharing;
use crate::rules::PRESETS;
use kosumi_gtp::{Arguments, Failure, Response, Session};
use serde_json::{Map, Value};
use std::time::Duration;

/// What can be changed.
#[derive(Clone, Copy)]
struct Adjustable {
    engine: EngineSettings,
    live_graphics: GraphicsKind,
}

/// What a value looks like.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// A setting.
#[derive(Debug)]
struct Parameter {
    name: &'static str,
    kind: Kind,
    get: fn(&Adjustable) -> String,
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

const TABLE: &[Parameter] = &[
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
        set: |all, text| put(&mut all.engine.threads, text.parse().ok().filter(|n| (1..=1024).contains(n))),
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
        name: "sharing",
        kind: Kind::Choice(&["graph", "tree"]),
        get: |all| if all.engine.sharing == Sharing::Tree { "tree" } else { "graph" }.to_owned(),
        set: |all, text| {
            put(&mut all.engine.sharing, Some(if text == "tree" { Sharing::Tree } else { Sharing::Graph }))
        },
    },
    constant!("cpuctExploration", cpuct_exploration, 0.01..=100.0),
    constant!("cpuctExplorationLog", cpuct_exploration_log, 0.0..=100.0),
    constant!("cpuctExplorationBase", cpuct_exploration_base, 10.0..=100_000.0),
    constant!("cpuctUtilityStdevPrior", cpuct_utility_stdev_prior, 0.01..=10.0),
    constant!("cpuctUtilityStdevPriorWeight", cpuct_utility_stdev_prior_weight, 0.0..=100.0),
    constant!("cpuctUtilityStdevScale", cpuct_utility_stdev_scale, 0.0..=1.0),
    constant!("fpuReductionMax", fpu_reduction_max, 0.0..=2.0),
    constant!("rootFpuReductionMax", root_fpu_reduction_max, 0.0..=2.0),
    switch!("fpuParentWeightByVisitedPolicy", fpu_parent_weight_by_visited_policy),
    constant!("fpuParentWeightByVisitedPolicyPow", fpu_parent_weight_by_visited_policy_pow, 0.01..=100.0),
    constant!("fpuReductionPerHalving", fpu_reduction_per_halving, 0.0..=2.0),
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
    constant!("lcbStdevs", lcb_stdevs, 0.0..=12.0),
    constant!("minVisitPropForLCB", min_visit_prop_for_lcb, 0.0..=1.0),
    switch!("rootSymmetryPruning", root_symmetry_pruning),
    switch!("rootPruneUselessMoves", root_prune_useless_moves),
    constant!("rootPolicyTemperature", root_policy_temperature, 0.01..=100.0),
    constant!("rootPolicyTemperatureEarly", root_policy_temperature_early, 0.01..=100.0),
    constant!("numVirtualLossesPerThread", virtual_losses, 0.0..=1000.0),
    constant!("expandAfter", expand_after, 1..=1000),
    constant!("raveEquivalence", rave_equivalence, 0.0..=1e6),
    constant!("raveExploration", rave_exploration, 0.0..=100.0),
    constant!("raveEarlyShare", rave_early_share, 0.0..=10.0),
    Parameter {
        name: "networkView",
        kind: Kind::Choice(&["plain", "varied"]),
        get: |all| if all.engine.network.view == View::Plain { "plain" } else { "varied" }.to_owned(),
        set: |all, text| {
            put(&mut all.engine.network.view, Some(if text == "plain" { View::Plain } else { View::Varied }))
        },
    },
    Parameter {
        name: "shareSymmetric",
        kind: Kind::Flag,
        get: |all| all.engine.network.share_symmetric.to_string(),
        set: |all, text| put(&mut all.engine.network.share_symmetric, flag(text)),
    },
    number!("playoutScoreShare", playout.score_share, 0.0..=1.0),
    number!("playoutNakade", rates.nakade, 0..=1000),
    number!("playoutAtari", rates.atari, 0..=1000),
    number!("playoutLowLiberties", rates.low_liberties, 0..=1000),
    number!("playoutPattern", rates.pattern, 0..=1000),
    number!("playoutRefuseSelfAtari", rates.refuse_self_atari, 0..=1000),
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
    Parameter {
        name: "resignConsecTurns",
        kind: Kind::Text,
        get: |all| all.engine.resign_after.to_string(),
        set: |all, text| put(&mut all.engine.resign_after, count(text)),
    },
    Parameter {
        name: "ponderingEnabled",
        kind: Kind::Flag,
        get: |all| all.engine.ponder.to_string(),
        set: |all, text| put(&mut all.engine.ponder, flag(text)),
    },
    number!("readingVisits", reading_visits, 0..=10_000),
    number!("policyOptimism", network.policy_optimism, 0.0..=1.0),
    number!("rootPolicyOptimism", network.root_policy_optimism, 0.0..=1.0),
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
    number!("wideRootNoise", wide_root_noise, 0.0..=5.0),
    number!("analysisWideRootNoise", analysis_wide_root_noise, 0.0..=5.0),
    Parameter {
        name: "genmoveAntiMirror",
        kind: Kind::Flag,
        get: |all| all.engine.genmove_anti_mirror.to_string(),
        set: |all, text| put(&mut all.engine.genmove_anti_mirror, flag(text)),
    },
    Parameter {
        name: "antiMirror",
        kind: Kind::Flag,
        get: |all| all.engine.anti_mirror.to_string(),
        set: |all, text| put(&mut all.engine.anti_mirror, flag(text)),
    },
    number!("rootNumSymmetriesToSample", network.root_symmetries, 1..=8),
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
    Parameter {
        name: "rank",
        kind: Kind::Text,
        get: |all| text_or(NONE, all.engine.rank),
        set: |all, text| put(&mut all.engine.rank, value_or(NONE, text, |text| text.parse().ok())),
    },
    Parameter {
        name: "humanSLProfile",
        kind: Kind::Text,
        get: |all| all.engine.network.profile.map_or_else(|| NONE.to_owned(), |profile| profile.to_string()),
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
    Parameter {
        name: "liveGraphics",
        kind: Kind::Choice(&["none", "visits", "winrates", "variation", "ownership"]),
        get: |all| all.live_graphics.name().to_owned(),
        set: |all, text| put(&mut all.live_graphics, GraphicsKind::parse(text)),
    },
];

/// A parameter and the value it is to have, for an engine that is still to be made.
#[derive(Clone, Debug)]
pub struct Setting {
    parameter: &'static Parameter,
    value: String,
}

impl Setting {
    /// `NAME=VALUE`, as in `kata-set-param NAME VALUE`.
    ///
    /// # Errors
    /// If no engine has such a parameter, or the value makes no sense for it.
    pub fn parse(text: &str) -> Result<Setting, String> {
        let (name, value) = text.split_once('=').ok_or("not of the form NAME=VALUE")?;
        let message = |failure: Failure| failure.message().to_owned();
        let setting = Setting { parameter: find(name).map_err(message)?, value: value.to_owned() };
        let mut all = Adjustable { engine: EngineSettings::default(), live_graphics: GraphicsKind::None };
        setting.parameter.change(&mut all, value).map_err(message)?;
        if all.live_graphics != GraphicsKind::None {
            return Err("pictures are no matter of the engine: --live-graphics".to_owned());
        }
        Ok(setting)
    }

    /// Has an engine a parameter of this name?
    pub fn is_known(name: &str) -> bool {
        find(name).is_ok()
    }

    /// Changes the settings; the value makes sense for all or for none.
    pub fn apply(&self, settings: &mut EngineSettings) {
        let mut all = Adjustable { engine: *settings, live_graphics: GraphicsKind::None };
        if self.parameter.change(&mut all, &self.value).is_ok() {
            *settings = all.engine;
        }
    }
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

/// The value as text, or the word for that there is none.
fn text_or(none: &str, value: Option<impl ToString>) -> String {
    value.map_or_else(|| none.to_owned(), |value| value.to_string())
}

/// A value, or that there is none; `None` if the text is neither.
fn value_or<T>(none: &str, text: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<Option<T>> {
    if text == none { Some(None) } else { read(text).map(Some) }
}

fn duration(seconds: &str) -> Option<Duration> {
    seconds.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

/// GoGui has numbers, KataGo words.
fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" => Some(true),
        "0" | "false" => Some(false),
        _ => None,
    }
}

impl Parameter {
    /// Sets the value.
    fn change(&self, all: &mut Adjustable, text: &str) -> Result<(), Failure> {
        // GoGui puts into quotation marks what is empty or has blanks in it.
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

fn find(name: &str) -> Result<&'static Parameter, Failure> {
    let known = TABLE.iter().find(|parameter| parameter.name.eq_ignore_ascii_case(name));
    known.ok_or_else(|| Failure::new(format!("unknown parameter {name}")))
}

impl Commands {
    fn adjustable(&self) -> Adjustable {
        Adjustable { engine: *self.engine.settings(), live_graphics: self.live_graphics.kind }
    }

    /// Takes these settings, or refuses them and changes nothing.
    fn adjust(&mut self, wanted: Adjustable) -> Result<(), Failure> {
        if wanted.engine.network.profile.is_some() && self.engine.human_network().is_none() {
            return Err(Failure::new(
                "humanSLProfile is for networks of human play: --human-model names one",
            ));
        }
        self.engine.change_settings(wanted.engine);
        self.live_graphics.kind = wanted.live_graphics;
        Ok(())
    }
}

/// A line of GoGui's dialogs.
fn dialog_line(name: &str, kind: Kind, value: &str) -> String {
    match kind {
        Kind::Text => format!("[string] {name} {value}"),
        Kind::Flag => format!("[bool] {name} {}", u8::from(value == "true")),
        Kind::Choice(words) => format!("[list/{}] {name} {value}", words.join("/")),
    }
}

/// `kosumi-param [key value]`, as GoGui's dialogs want it.
pub(super) fn gogui(commands: &mut Commands, arguments: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    let mut all = commands.adjustable();
    let Some(name) = arguments.optional_word() else {
        let lines = TABLE.iter().map(|known| dialog_line(known.name, known.kind, &(known.get)(&all)));
        return Ok(Response::lines(lines));
    };
    find(name)?.change(&mut all, &arguments.rest())?;
    commands.adjust(all)?;
    Ok(Response::empty())
}

/// `kata-get-param name`.
pub(super) fn get(commands: &mut Commands, arguments: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    Ok((find(arguments.word()?)?.get)(&commands.adjustable()).into())
}

/// `kata-set-param name value`.
pub(super) fn set(commands: &mut Commands, arguments: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    let parameter = find(arguments.word()?)?;
    let value = arguments.word()?;
    let mut all = commands.adjustable();
    parameter.change(&mut all, value)?;
    commands.adjust(all)?;
    Ok(Response::empty())
}

/// `kata-list-params`.
pub(super) fn list(_: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    Ok(Response::list(TABLE.iter().map(|parameter| parameter.name)))
}

/// `kata-get-params`: all of them as JSON.
pub(super) fn get_all(commands: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    let all = commands.adjustable();
    let fields = TABLE.iter().map(|parameter| (parameter.name.to_owned(), (parameter.get)(&all).into()));
    Ok(Value::Object(fields.collect::<Map<_, _>>()).to_string().into())
}

/// `kata-set-params json`: several, or none if one of them cannot be set.
pub(super) fn set_all(commands: &mut Commands, arguments: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    let text = arguments.rest();
    let Ok(Value::Object(fields)) = serde_json::from_str(&text) else { return Err(Failure::syntax_error()) };
    let mut all = commands.adjustable();
    for (name, value) in &fields {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        find(name)?.change(&mut all, &text)?;
    }
    commands.adjust(all)?;
    Ok(Response::empty())
}

/// The rules one by one, for the dialog; the names and values of `kata-set-rule`.
const RULES: &[(&str, Kind)] = &[
    ("ko", Kind::Choice(&["SIMPLE", "POSITIONAL", "SITUATIONAL", "NATURAL_SITUATIONAL"])),
    ("scoring", Kind::Choice(&["AREA", "TERRITORY"])),
    ("tax", Kind::Choice(&["NONE", "SEKI", "ALL"])),
    ("suicide", Kind::Flag),
    ("hasButton", Kind::Flag),
    ("whiteHandicapBonus", Kind::Choice(&["0", "N", "N-1"])),
    ("friendlyPassOk", Kind::Flag),
];

/// `kosumi-param_rules [key value]`: a rule set by name, or one of its rules.
pub(super) fn gogui_rules(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> Answer {
    let rules = commands.engine.game().rules();
    let Some(key) = arguments.optional_word() else {
        let name = rules.as_preset().map_or("other", |preset| preset.names[0]);
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.names[0]).chain(["other"]).collect();
        let mut lines = vec![format!("[list/{}] rules {name}", names.join("/"))];
        let values = rules::to_json(rules);
        for &(key, kind) in RULES {
            let value =
                values.get(key).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            lines.push(dialog_line(key, kind, &value.unwrap_or_default()));
        }
        return Ok(Response::lines(lines));
    };
    let value = arguments.word()?;
    let is_flag = RULES.iter().any(|(name, kind)| *name == key && matches!(kind, Kind::Flag));
    let value = match flag(value) {
        Some(value) if is_flag => value.to_string(),
        _ => value.to_owned(),
    };
    let changed = if key == "rules" { rules::named(&value)? } else { rules::with_rule(rules, key, &value)? };
    commands.engine.set_rules(changed);
    Ok(Response::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_reads_back() {
        let all = Adjustable { engine: EngineSettings::default(), live_graphics: GraphicsKind::None };
        for parameter in TABLE {
            let mut changed = all;
            let value = (parameter.get)(&all);
            assert!(parameter.change(&mut changed, &value).is_ok(), "{} {value}", parameter.name);
            assert_eq!((parameter.get)(&changed), value);
            assert!(parameter.change(&mut changed, "nonsense").is_err(), "{}", parameter.name);
            // No profile and no player are values too.
            let may_be_empty = ["humanSLProfile", "playoutDoublingAdvantagePla"].contains(&parameter.name);
            assert_eq!(parameter.change(&mut changed, "").is_ok(), may_be_empty, "{}", parameter.name);
            assert_eq!(changed.engine, all.engine, "{}", parameter.name);
        }
    }

    #[test]
    fn settings_for_the_command_line() {
        let mut settings = EngineSettings::default();
        for text in ["maxvisits=50", "cpuctExploration=1.25", "sharing=tree"] {
            Setting::parse(text).expect(text).apply(&mut settings);
        }
        assert_eq!((settings.visits, settings.sharing), (Some(50), Sharing::Tree));
        assert_eq!(settings.search.cpuct_exploration, Some(1.25));
        for text in [
            "maxVisits",
            "maxVisits=",
            "maxVisits=0",
            "cpuctExploration=NaN",
            "minimax=1",
            "=",
            "",
            "liveGraphics=visits",
        ] {
            assert!(Setting::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_dialog_offers_exactly_the_rules_there_are() {
        for preset in PRESETS {
            let values = rules::to_json(preset.rules);
            for (key, kind) in RULES {
                let value = &values[*key];
                match kind {
                    Kind::Choice(words) => assert!(words.contains(&value.as_str().unwrap()), "{key} {value}"),
                    Kind::Flag => assert!(value.is_boolean()),
                    Kind::Text => panic!("{key}"),
                }
            }
            assert_eq!(values.as_object().unwrap().len(), RULES.len());
        }
    }
}
