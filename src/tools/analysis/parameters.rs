//! Parameters of a search by their names in KataGo: for configuration files and for `overrideSettings`.

use super::settings::{Perspective, Settings};
use kosumi_go::board::Color;
use kosumi_go::graph_key::NodeSharing;
use std::ops::RangeInclusive;
use std::time::Duration;

/// A parameter.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    kind: Kind,
}

/// What values look like, and where they go.
enum Kind {
    Real(f64, f64, fn(&mut Settings, f64)),
    Integer(RangeInclusive<i64>, fn(&mut Settings, i64)),
    Flag(fn(&mut Settings, bool)),
    /// `false` if the word makes no sense.
    Word(fn(&mut Settings, &str) -> bool),
    /// A real number that changes nothing here.
    IdleReal(f64, f64),
    IdleInteger(RangeInclusive<i64>),
    IdleFlag,
}

const fn real(name: &'static str, least: f64, most: f64, set: fn(&mut Settings, f64)) -> Parameter {
    Parameter { name, kind: Kind::Real(least, most, set) }
}

const fn integer(name: &'static str, range: RangeInclusive<i64>, set: fn(&mut Settings, i64)) -> Parameter {
    Parameter { name, kind: Kind::Integer(range, set) }
}

const fn flag(name: &'static str, set: fn(&mut Settings, bool)) -> Parameter {
    Parameter { name, kind: Kind::Flag(set) }
}

const fn word(name: &'static str, set: fn(&mut Settings, &str) -> bool) -> Parameter {
    Parameter { name, kind: Kind::Word(set) }
}

const fn idle_real(name: &'static str, least: f64, most: f64) -> Parameter {
    Parameter { name, kind: Kind::IdleReal(least, most) }
}

const fn idle_integer(name: &'static str, range: RangeInclusive<i64>) -> Parameter {
    Parameter { name, kind: Kind::IdleInteger(range) }
}

const fn idle_flag(name: &'static str) -> Parameter {
    Parameter { name, kind: Kind::IdleFlag }
}

/// The largest limit that can be asked for: 2^50.
pub(super) const MOST: i64 = 1 << 50;

/// A limit as the search has it; what is beyond its numbers is none.
pub(super) fn limit(value: i64) -> Option<u32> {
    u32::try_from(value).ok()
}

/// A constant of the search.
macro_rules! constant {
    ($name:literal, $field:ident, $least:literal, $most:literal) => {
        real($name, $least, $most, |all, value| all.analyst.search.$field = Some(value as f32))
    };
}

const TABLE: &[Parameter] = &[
    word("reportAnalysisWinratesAs", |all, text| {
        let known = match text.to_ascii_uppercase().as_str() {
            "BLACK" | "B" => Perspective::Of(Color::Black),
            "WHITE" | "W" => Perspective::Of(Color::White),
            "SIDETOMOVE" => Perspective::SideToMove,
            _ => return false,
        };
        all.perspective = known;
        true
    }),
    integer("maxVisits", 1..=MOST, |all, value| all.analyst.limits.visits = limit(value)),
    integer("maxPlayouts", 1..=MOST, |all, value| all.analyst.limits.playouts = limit(value)),
    real("maxTime", 0.0, 1e20, |all, seconds| {
        let time = Duration::try_from_secs_f64(seconds).ok();
        (all.analyst.limits.soft, all.analyst.limits.hard) = (time, time);
    }),
    integer("numSearchThreads", 1..=4096, |all, value| all.analyst.threads = value.clamp(1, 1024) as usize),
    real("wideRootNoise", 0.0, 5.0, |all, value| all.analyst.wide_root_noise = value as f32),
    real("rootPolicyTemperature", 0.01, 100.0, |all, value| {
        all.analyst.root_policy_temperature = value as f32;
    }),
    real("rootPolicyTemperatureEarly", 0.01, 100.0, |all, value| {
        all.analyst.root_policy_temperature = value as f32;
    }),
    real("rootFpuReductionMax", 0.0, 2.0, |all, value| {
        all.analyst.search.root_fpu_reduction_max = Some(value as f32);
    }),
    real("fpuReductionMax", 0.0, 2.0, |all, value| {
        all.analyst.search.fpu_reduction_max = Some(value as f32);
    }),
    real("cpuctExploration", 0.0, 10.0, |all, value| {
        all.analyst.search.cpuct_exploration = Some(value.max(0.01) as f32);
    }),
    real("cpuctExplorationLog", 0.0, 10.0, |all, value| {
        all.analyst.search.cpuct_exploration_log = Some(value as f32);
    }),
    real("cpuctExplorationBase", 10.0, 100_000.0, |all, value| {
        all.analyst.search.cpuct_exploration_base = Some(value as f32);
    }),
    real("cpuctUtilityStdevPrior", 0.0, 10.0, |all, value| {
        all.analyst.search.cpuct_utility_stdev_prior = Some(value.max(0.01) as f32);
    }),
    real("cpuctUtilityStdevPriorWeight", 0.0, 100.0, |all, value| {
        all.analyst.search.cpuct_utility_stdev_prior_weight = Some(value as f32);
    }),
    real("cpuctUtilityStdevScale", 0.0, 1.0, |all, value| {
        all.analyst.search.cpuct_utility_stdev_scale = Some(value as f32);
    }),
    real("lcbStdevs", 1.0, 12.0, |all, value| all.analyst.search.lcb_stdevs = Some(value as f32)),
    real("minVisitPropForLCB", 0.0, 1.0, |all, value| {
        all.analyst.search.min_visit_prop_for_lcb = Some(value as f32);
    }),
    real("numVirtualLossesPerThread", 0.01, 1000.0, |all, value| {
        all.analyst.search.virtual_losses = Some(value as f32);
    }),
    real("policyOptimism", 0.0, 1.0, |all, value| all.analyst.network.policy_optimism = value as f32),
    real("rootPolicyOptimism", 0.0, 1.0, |all, value| {
        all.analyst.network.root_policy_optimism = value as f32;
    }),
    real("nnPolicyTemperature", 0.01, 5.0, |all, value| {
        all.analyst.network.policy_temperature = value as f32
    }),
    real("winLossUtilityFactor", 0.0, 1.0, |all, value| all.win_loss = value as f32),
    constant!("staticScoreUtilityFactor", static_score_utility_factor, 0.0, 1.0),
    constant!("dynamicScoreUtilityFactor", dynamic_score_utility_factor, 0.0, 1.0),
    constant!("dynamicScoreCenterZeroWeight", dynamic_score_center_zero_weight, 0.0, 1.0),
    constant!("dynamicScoreCenterScale", dynamic_score_center_scale, 0.2, 5.0),
    constant!("fpuParentWeightByVisitedPolicyPow", fpu_parent_weight_by_visited_policy_pow, 0.01, 5.0),
    constant!("fpuReductionPerHalving", fpu_reduction_per_halving, 0.0, 2.0),
    constant!("valueWeightExponent", value_weight_exponent, 0.0, 1.0),
    constant!("noisePruneUtilityScale", noise_prune_utility_scale, 0.001, 10.0),
    constant!("uncertaintyCoeff", uncertainty_coeff, 0.0001, 1.0),
    constant!("uncertaintyExponent", uncertainty_exponent, 0.0, 2.0),
    constant!("uncertaintyMaxWeight", uncertainty_max_weight, 1.0, 100.0),
    constant!("subtreeValueBiasFactor", subtree_value_bias_factor, 0.0, 1.0),
    constant!("subtreeValueBiasWeightExponent", subtree_value_bias_weight_exponent, 0.0, 1.0),
    constant!("subtreeValueBiasFreeProp", subtree_value_bias_free_prop, 0.0, 1.0),
    flag("fpuParentWeightByVisitedPolicy", |all, value| {
        all.analyst.search.fpu_parent_weight_by_visited_policy = Some(value);
    }),
    flag("useNoisePruning", |all, value| all.analyst.search.use_noise_pruning = Some(value)),
    flag("useUncertainty", |all, value| all.analyst.search.use_uncertainty = Some(value)),
    real("playoutDoublingAdvantage", -3.0, 3.0, |all, value| all.doubling_advantage = value as f32),
    word("playoutDoublingAdvantagePla", |all, text| {
        all.advantaged = match text.to_ascii_uppercase().as_str() {
            "BLACK" | "B" => Some(Color::Black),
            "WHITE" | "W" => Some(Color::White),
            "" => None,
            _ => return false,
        };
        true
    }),
    flag("ignorePreRootHistory", |all, value| all.analyst.network.ignore_pre_root_history = value),
    flag("antiMirror", |all, value| all.analyst.anti_mirror = value),
    flag("rootSymmetryPruning", |all, value| all.analyst.prunes_symmetric = value),
    flag("alwaysComputePassAliveUnderSuicideRules", |all, value| {
        all.analyst.network.pass_alive_with_suicide = Some(value);
    }),
    flag("useGraphSearch", |all, value| {
        all.analyst.sharing = if value { NodeSharing::Graph } else { NodeSharing::Tree };
    }),
    word("humanSLProfile", |all, text| match text {
        "" | "_" => {
            all.analyst.network.profile = None;
            true
        }
        _ => text.parse().map(|profile| all.analyst.network.profile = Some(profile)).is_ok(),
    }),
    real("humanSLRootExploreProbWeightless", 0.0, 1.0, |all, value| {
        all.analyst.human.root_weightless = value as f32;
    }),
    real("humanSLRootExploreProbWeightful", 0.0, 1.0, |all, value| {
        all.analyst.human.root_weightful = value as f32;
    }),
    real("humanSLCpuctExploration", 0.0, 1000.0, |all, value| all.analyst.human.cpuct = value as f32),
    real("humanSLCpuctPermanent", 0.0, 1000.0, |all, value| {
        all.analyst.human.cpuct_permanent = value as f32;
    }),
    real("humanSLPlaExploreProbWeightless", 0.0, 1.0, |all, value| {
        all.analyst.human.own.weightless = value as f32;
    }),
    real("humanSLPlaExploreProbWeightful", 0.0, 1.0, |all, value| {
        all.analyst.human.own.weightful = value as f32;
    }),
    real("humanSLOppExploreProbWeightless", 0.0, 1.0, |all, value| {
        all.analyst.human.opponent.weightless = value as f32;
    }),
    real("humanSLOppExploreProbWeightful", 0.0, 1.0, |all, value| {
        all.analyst.human.opponent.weightful = value as f32;
    }),
    // What KataGo knows besides. It is checked as there and changes nothing.
    idle_flag("genmoveAntiMirror"),
    idle_flag("allowResignation"),
    idle_real("analysisWideRootNoise", 0.0, 5.0),
    idle_flag("analysisIgnorePreRootHistory"),
    idle_real("chosenMovePrune", 0.0, 1e10),
    idle_real("chosenMoveSubtract", 0.0, 1e10),
    idle_real("chosenMoveTemperature", 0.0, 5.0),
    idle_real("chosenMoveTemperatureEarly", 0.0, 5.0),
    idle_real("chosenMoveTemperatureHalflife", 0.1, 100_000.0),
    idle_real("chosenMoveTemperatureOnlyBelowProb", 0.0, 1.0),
    idle_flag("conservativePass"),
    idle_real("drawEquivalentWinsForWhite", 0.0, 1.0),
    idle_flag("enableMorePassingHacks"),
    idle_flag("enablePassingHacks"),
    idle_real("endgameTurnTimeDecay", 0.0, 1000.0),
    idle_flag("fillDameBeforePass"),
    idle_real("fpuLossProp", 0.0, 1.0),
    idle_real("fpuParentWeight", 0.0, 1.0),
    idle_real("futileVisitsThreshold", 0.0, 1.0),
    idle_real("graphSearchCatchUpLeakProb", 0.0, 1.0),
    idle_integer("graphSearchRepBound", 3..=50),
    idle_flag("humanSLChosenMoveIgnorePass"),
    idle_real("humanSLChosenMovePiklLambda", 0.0, 2e9),
    idle_real("humanSLChosenMoveProp", 0.0, 1.0),
    idle_flag("ignoreAllHistory"),
    idle_real("lagBuffer", 0.0, 3600.0),
    idle_integer("maxPlayoutsPondering", 1..=MOST),
    idle_real("maxTimePondering", 0.0, 1e20),
    idle_integer("maxVisitsPondering", 1..=MOST),
    idle_real("midgameTimeFactor", 0.0, 1000.0),
    idle_real("midgameTurnPeakTime", 0.0, 1000.0),
    idle_real("minPlayoutsPerThread", 0.0, 100.0),
    idle_real("noResultUtilityForWhite", -1.0, 1.0),
    idle_real("noisePruningCap", 0.0, 1e50),
    idle_real("obviousMovesPolicyEntropyTolerance", 0.001, 2.0),
    idle_real("obviousMovesPolicySurpriseTolerance", 0.01, 2.0),
    idle_real("obviousMovesTimeFactor", 0.0, 1.0),
    idle_real("overallocateTimeFactor", 0.0, 100.0),
    idle_flag("preventCleanupPhase"),
    idle_real("rootDesiredPerChildVisitsCoeff", 0.0, 100.0),
    idle_real("rootDirichletNoiseTotalConcentration", 0.001, 10_000.0),
    idle_real("rootDirichletNoiseWeight", 0.0, 1.0),
    idle_real("rootEndingBonusPoints", -1.0, 1.0),
    idle_real("rootFpuLossProp", 0.0, 1.0),
    idle_flag("rootNoiseEnabled"),
    idle_integer("rootNumSymmetriesToSample", 1..=8),
    idle_flag("rootPruneUselessMoves"),
    idle_real("searchFactorAfterOnePass", 0.0, 1.0),
    idle_real("searchFactorAfterTwoPass", 0.0, 1.0),
    idle_integer("subtreeValueBiasTableNumShards", 1..=65536),
    idle_real("treeReuseCarryOverTimeFactor", 0.0, 1.0),
    idle_flag("useLcbForSelection"),
    idle_flag("useNonBuggyLcb"),
];

/// Has KataGo a parameter of this name?
pub fn is_known(name: &str) -> bool {
    find(name).is_some()
}

/// The parameter of a name.
pub(super) fn find(name: &str) -> Option<&'static Parameter> {
    // KataGo's other name for it.
    let name = if name == "numSearchThreadsPerAnalysisThread" { "numSearchThreads" } else { name };
    TABLE.iter().find(|parameter| parameter.name == name)
}

impl Parameter {
    /// Sets it, and says what is wrong with a value that makes no sense; nothing has changed then. An empty text leaves
    /// the usual value.
    pub(super) fn set(&self, settings: &mut Settings, text: &str) -> Result<(), String> {
        const WHERE: &str = "in the configuration, on the command line or in the query's overrides";
        let text = text.trim();
        let name = self.name;
        if text.is_empty() && !matches!(self.kind, Kind::Word(_)) {
            return Ok(());
        }
        let unread = |kind: &str| format!("Could not parse '{text}' as {kind} for key '{name}' {WHERE}");
        let range =
            |least: f64, most: f64| format!("Key '{name}' must be in the range {least} to {most} {WHERE}");
        let number = |least: f64, most: f64| {
            let value: f64 =
                text.parse().ok().filter(|value: &f64| !value.is_nan()).ok_or_else(|| unread("double"))?;
            if (least..=most).contains(&value) { Ok(value) } else { Err(range(least, most)) }
        };
        let count = |allowed: &RangeInclusive<i64>| {
            let value: i64 = text.parse().map_err(|_| unread("int64_t"))?;
            let bounds = || range(*allowed.start() as f64, *allowed.end() as f64);
            if allowed.contains(&value) { Ok(value) } else { Err(bounds()) }
        };
        let yes = || match text.to_ascii_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(unread("bool")),
        };
        match &self.kind {
            Kind::Real(least, most, set) => set(settings, number(*least, *most)?),
            Kind::Integer(allowed, set) => set(settings, count(allowed)?),
            Kind::Flag(set) => set(settings, yes()?),
            Kind::Word(set) => {
                if !set(settings, text) {
                    return Err(match name {
                        "humanSLProfile" => format!("Unknown human SL network profile: {text}"),
                        _ => format!("Could not parse config value for {name}: {text}"),
                    });
                }
            }
            Kind::IdleReal(least, most) => drop(number(*least, *most)?),
            Kind::IdleInteger(allowed) => drop(count(allowed)?),
            Kind::IdleFlag => drop(yes()?),
        }
        Ok(())
    }

    /// Might somebody think that it changes anything, though it does not?
    pub(super) fn is_idle(&self) -> bool {
        // What is usual in configurations and is so here, too, is not worth a word.
        let is_usual = ["conservativePass", "preventCleanupPhase"].contains(&self.name);
        !is_usual && matches!(self.kind, Kind::IdleReal(..) | Kind::IdleInteger(_) | Kind::IdleFlag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (index, parameter) in TABLE.iter().enumerate() {
            assert!(TABLE[..index].iter().all(|other| other.name != parameter.name), "{}", parameter.name);
        }
    }

    #[test]
    fn values_are_checked_and_bad_ones_change_nothing() {
        let set = |name: &str, text: &str| {
            let mut settings = Settings::default();
            let result = find(name).map(|parameter| parameter.set(&mut settings, text));
            (result, settings)
        };
        let usual = Settings::default();
        assert_eq!(set("maxVisits", "12").1.analyst.limits.visits, Some(12));
        assert_eq!(set("maxVisits", "1125899906842624").1.analyst.limits.visits, None);
        assert_eq!(set("reportAnalysisWinratesAs", "white").1.perspective, Perspective::Of(Color::White));
        assert_eq!(set("numSearchThreadsPerAnalysisThread", "3").1.analyst.threads, 3);
        for (name, text) in [
            ("maxVisits", "0"),
            ("maxVisits", "null"),
            ("maxVisits", "1.0"),
            ("wideRootNoise", "abc"),
            ("wideRootNoise", "99"),
            ("wideRootNoise", "nan"),
            ("maxTime", "-1"),
            ("antiMirror", "1"),
            ("humanSLProfile", "rank_21k"),
            ("reportAnalysisWinratesAs", "GREEN"),
        ] {
            let (result, settings) = set(name, text);
            assert!(matches!(result, Some(Err(_))), "{name} {text}");
            assert_eq!(settings, usual, "{name} {text}");
        }
        assert_eq!(set("humanSLProfile", "_"), (Some(Ok(())), usual));
        assert!(set("noSuchParameter", "1").0.is_none());
    }
}
