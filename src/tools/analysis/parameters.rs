//! Parameters in `overrideSettings` and in KataGo's configuration files for analysis.

use super::settings::{Perspective, Settings};
use kosumi_engine::parameters::{self, Accepted, Kind, Parameter, Section, Spec, Value, WrongValue};
use kosumi_go::board::Color;
use serde_json::Value as Json;

/// Perspective of reported numbers. It does not affect the engine.
pub(super) const PERSPECTIVE: Spec = Spec::new(
    "reportAnalysisWinratesAs",
    Section::Limits,
    Kind::Choice(&["BLACK", "B", "WHITE", "W", "SIDETOMOVE"]),
    "Side whose win rates and scores are reported.",
)
.accepted(Accepted::ByAnalysisAlone);

/// Parameter that the analysis engine accepts.
#[derive(Clone, Copy, Debug)]
pub(super) enum AnalysisParameter {
    Perspective,
    Registered(Parameter),
}

/// Finds the parameter with this name, if the analysis engine accepts it.
pub(super) fn find(name: &str) -> Option<AnalysisParameter> {
    if PERSPECTIVE.is_called(name) {
        return Some(AnalysisParameter::Perspective);
    }
    let parameter = parameters::find(name)?;
    (parameter.accepted() != Accepted::ByGtpAlone).then_some(AnalysisParameter::Registered(parameter))
}

impl AnalysisParameter {
    /// Returns the name.
    pub(super) fn name(self) -> &'static str {
        match self {
            AnalysisParameter::Perspective => PERSPECTIVE.name,
            AnalysisParameter::Registered(parameter) => parameter.spec().name,
        }
    }

    /// Reads a value and stores it in the settings. An empty text leaves the value unchanged.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a value of the parameter. The settings are then unchanged.
    pub(super) fn set(self, settings: &mut Settings, text: &str) -> Result<(), WrongValue> {
        let parameter = match self {
            AnalysisParameter::Registered(parameter) => parameter,
            AnalysisParameter::Perspective => {
                settings.perspective = match PERSPECTIVE.read(text)? {
                    Value::Word("BLACK" | "B") => Perspective::Of(Color::Black),
                    Value::Word("WHITE" | "W") => Perspective::Of(Color::White),
                    _ => Perspective::SideToMove,
                };
                return Ok(());
            }
        };
        match parameter.accepted() {
            Accepted::Everywhere | Accepted::ByAnalysisAlone => {
                parameter.configure(&mut settings.engine, text)
            }
            // The value is checked but not used.
            Accepted::ByGtp | Accepted::ByGtpAlone | Accepted::Ignored => {
                parameter.configure(&mut { settings.engine }, text)
            }
        }
    }

    /// Returns whether a user may expect the parameter to have an effect, although it has none.
    pub(super) fn is_idle(self) -> bool {
        // KataGo's own configurations set these parameters. Kosumi always behaves as if they were set.
        const USUAL: [&str; 2] = ["conservativePass", "preventCleanupPhase"];
        match self {
            AnalysisParameter::Perspective => false,
            AnalysisParameter::Registered(parameter) => {
                let has_effect =
                    matches!(parameter.accepted(), Accepted::Everywhere | Accepted::ByAnalysisAlone);
                !has_effect && !USUAL.contains(&parameter.spec().name)
            }
        }
    }
}

/// Sets a parameter from a field of a query with the parameter's name.
///
/// # Errors
///
/// Returns KataGo's message if the value has another type or is out of bounds.
pub(super) fn set_field(settings: &mut Settings, name: &str, value: &Json) -> Result<(), String> {
    let Some(parameter) = parameters::find(name) else { return Err(format!("There is no parameter {name}")) };
    let number = value.as_number().map(ToString::to_string);
    let is_set = number.is_some_and(|number| parameter.set(&mut settings.engine, &number).is_ok());
    is_set.then_some(()).ok_or_else(|| match parameter.spec().kind {
        Kind::Real(least, most) => format!("Must be a number from {least:?} to {most:?}"),
        Kind::Limit => "Must be an integer from 1 to 2^50".to_owned(),
        _ => format!("Must be {}", parameter.spec().values()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::Setting;
    use kosumi_engine::EngineSettings;
    use kosumi_search::SearchParams;

    fn set(name: &str, text: &str) -> (Option<Result<(), String>>, Settings) {
        let mut settings = Settings::default();
        let result =
            find(name).map(|parameter| parameter.set(&mut settings, text).map_err(|wrong| wrong.to_string()));
        (result, settings)
    }

    #[test]
    fn values_are_checked_and_bad_ones_change_nothing() {
        let usual = Settings::default();
        assert_eq!(set("maxVisits", "12").1.engine.visits, Some(12));
        assert_eq!(set("maxVisits", "1125899906842624").1.engine.visits, None);
        assert_eq!(set("reportAnalysisWinratesAs", "white").1.perspective, Perspective::Of(Color::White));
        assert_eq!(set("numSearchThreadsPerAnalysisThread", "3").1.engine.threads, 3);
        for (name, text) in [
            ("maxVisits", "0"),
            ("maxVisits", "null"),
            ("maxVisits", "1.0"),
            ("wideRootNoise", "abc"),
            ("wideRootNoise", "99"),
            ("wideRootNoise", "nan"),
            ("maxTime", "-1"),
            ("antiMirror", "2"),
            ("humanSLProfile", "rank_21k"),
            ("reportAnalysisWinratesAs", "GREEN"),
            // Parameters without effect are checked as well.
            ("chosenMoveTemperature", "6"),
            ("conservativePass", "maybe"),
        ] {
            let (result, settings) = set(name, text);
            assert!(matches!(result, Some(Err(_))), "{name} {text}");
            assert_eq!(settings, usual, "{name} {text}");
        }
        for (name, text) in [("humanSLProfile", "_"), ("maxVisits", ""), ("chosenMoveTemperature", "1")] {
            assert_eq!(set(name, text), (Some(Ok(())), usual), "{name} {text}");
        }
        assert!(set("noSuchParameter", "1").0.is_none());
        // A parameter that only GTP accepts.
        assert!(set("rank", "5k").0.is_none());
    }

    #[test]
    fn the_early_temperature_is_not_the_later_one() {
        let search = set("rootPolicyTemperatureEarly", "2").1.engine.search;
        assert_eq!((search.root_policy_temperature, search.root_policy_temperature_early), (None, Some(2.0)));
    }

    /// Returns a value of the parameter other than the usual one.
    fn other(parameter: Parameter) -> String {
        let spec = parameter.spec();
        match spec.kind {
            Kind::Real(least, most) => (least + (most - least) * 0.37).to_string(),
            Kind::Count(least, most) => (least + (most - least) / 3).to_string(),
            Kind::Limit => "77".to_owned(),
            Kind::Seconds(_) => "1.5".to_owned(),
            Kind::Flag | Kind::FlagOrWord(..) => {
                (parameter.text(&EngineSettings::default()) != "true").to_string()
            }
            Kind::Choice(words) => words[0].to_owned(),
            Kind::Player => "WHITE".to_owned(),
            Kind::Rank => "5k".to_owned(),
            Kind::Profile => "rank_3k".to_owned(),
        }
    }

    #[test]
    fn every_protocol_sets_the_same_value_and_refuses_the_same_ones() {
        for parameter in parameters::all() {
            let (name, text) = (parameter.spec().name, other(parameter));
            let mut by_command = EngineSettings::default();
            Setting::parse(&format!("{name}={text}")).expect(name).apply(&mut by_command);
            assert_eq!(parameter.text(&by_command), text, "{name}");
            assert_ne!(by_command, EngineSettings::default(), "{name}");
            let wrong = "nonsense";
            let refused = Setting::parse(&format!("{name}={wrong}")).expect_err(name);
            let Some(known) = find(name) else {
                assert_eq!(parameter.accepted(), Accepted::ByGtpAlone, "{name}");
                continue;
            };
            let mut by_query = Settings { engine: EngineSettings::default(), ..Settings::default() };
            assert_eq!(known.set(&mut by_query, &text), Ok(()), "{name}");
            let is_used = !known.is_idle();
            assert_eq!(by_query.engine == by_command, is_used, "{name}");
            let params = |it: &EngineSettings| SearchParams::for_network().changed(&it.search);
            if is_used {
                assert_eq!(params(&by_query.engine), params(&by_command), "{name}");
            }
            let error = known.set(&mut by_query, wrong).map_err(|wrong| wrong.to_string());
            assert_eq!(error, Err(refused), "{name}");
        }
        for parameter in parameters::ignored() {
            let name = parameter.spec().name;
            assert!(Setting::parse(&format!("{name}={}", other(parameter))).is_err(), "{name}");
            let mut settings = Settings::default();
            assert_eq!(find(name).map(|it| it.set(&mut settings, &other(parameter))), Some(Ok(())), "{name}");
            assert_eq!(settings, Settings::default(), "{name}");
        }
    }

    #[test]
    fn fields_of_queries_have_the_bounds_of_their_parameters() {
        let mut settings = Settings::default();
        let mut field = |name: &str, value: Json| set_field(&mut settings, name, &value);
        assert_eq!(field("maxVisits", 10.into()), Ok(()));
        assert_eq!(field("rootFpuReductionMax", 0.5.into()), Ok(()));
        for (name, value, wanted) in [
            ("maxVisits", Json::from(0), "Must be an integer from 1 to 2^50"),
            ("maxVisits", Json::from("10"), "Must be an integer from 1 to 2^50"),
            ("maxVisits", Json::from(1.5), "Must be an integer from 1 to 2^50"),
            ("rootFpuReductionMax", Json::from(2.5), "Must be a number from 0.0 to 2.0"),
            ("rootPolicyTemperature", Json::from(0), "Must be a number from 0.01 to 100.0"),
        ] {
            assert_eq!(field(name, value), Err(wanted.to_owned()));
        }
        assert_eq!(settings.engine.visits, Some(10));
        assert_eq!(settings.engine.search.root_fpu_reduction_max, Some(0.5));
    }
}
