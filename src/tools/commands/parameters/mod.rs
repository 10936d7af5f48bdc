//! Parameters that can be changed while the engine runs, by GoGui's dialogs and by `kata-set-param`.
//!
//! All are in the registry ([`engine::parameters`](kosumi_engine::parameters)), except those of the live graphics,
//! which do not concern the engine (`table.rs`).

mod table;

use super::{CommandResult, Commands, rules};
use kosumi_engine::EngineSettings;
use kosumi_engine::parameters::{Accepted, Kind, Parameter, Section, Spec, WrongValue};
use kosumi_go::rules::PRESETS;
use kosumi_gtp::{Arguments, Failure, Response, Session};
use serde_json::{Map, Value};
use table::{Adjustable, CommandParameter, find, flag};

/// Parameter with a value to set.
#[derive(Clone, Debug)]
pub struct Setting {
    parameter: Parameter,
    value: String,
}

impl Setting {
    /// Parses `NAME=VALUE`, as in `kata-set-param NAME VALUE`.
    ///
    /// # Errors
    ///
    /// Returns an error if no parameter has this name, or if the value is invalid.
    pub fn parse(text: &str) -> Result<Setting, String> {
        let (name, value) = text.split_once('=').ok_or("not of the form NAME=VALUE")?;
        let CommandParameter::Registered(parameter) = find(name)? else {
            return Err("pictures are no matter of the engine: --live-graphics".to_owned());
        };
        let value = unquoted(value).to_owned();
        parameter.set(&mut EngineSettings::default(), &value).map_err(|wrong| wrong.to_string())?;
        Ok(Setting { parameter, value })
    }

    /// Returns whether an engine has a parameter with this name.
    pub fn is_known(name: &str) -> bool {
        matches!(find(name), Ok(CommandParameter::Registered(_)))
    }

    /// Changes the settings. The value was checked by [`parse`](Self::parse).
    pub fn apply(&self, settings: &mut EngineSettings) {
        let is_set = self.parameter.set(settings, &self.value);
        debug_assert!(is_set.is_ok(), "{is_set:?}");
    }
}

/// Removes the quotes that GoGui puts around a value that is empty or contains a space.
fn unquoted(text: &str) -> &str {
    text.trim_matches('"')
}

impl Commands {
    fn adjustable(&self) -> Adjustable {
        Adjustable { engine: *self.engine.settings(), live_graphics: self.live_graphics.kind }
    }

    /// Applies these settings, or refuses them and changes nothing.
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

/// Reads a value of the parameter with this name and stores it in the settings.
fn change(all: &mut Adjustable, name: &str, text: &str) -> Result<(), Failure> {
    let parameter = find(name).map_err(Failure::new)?;
    parameter.set(all, unquoted(text)).map_err(|wrong: WrongValue| Failure::new(wrong.to_string()))
}

/// Returns a line of GoGui's dialogs.
fn dialog_line(spec: &Spec, value: &str) -> String {
    let name = spec.name;
    let words = match (spec.kind, spec.unset) {
        (Kind::Flag | Kind::FlagOrWord(..), None) => {
            return format!("[bool] {name} {}", u8::from(value == "true"));
        }
        (Kind::Flag | Kind::FlagOrWord(..), Some(unset)) => vec![unset, "true", "false"],
        (Kind::Choice(words), unset) => unset.into_iter().chain(words.iter().copied()).collect(),
        _ => return format!("[string] {name} {value}"),
    };
    format!("[list/{}] {name} {value}", words.join("/"))
}

/// Handles `[key value]`, which GoGui's dialogs send: shows these parameters, or changes any parameter.
fn show_or_change(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    shown: impl Iterator<Item = CommandParameter>,
) -> CommandResult {
    let mut all = commands.adjustable();
    let Some(name) = arguments.optional_word() else {
        return Ok(Response::lines(shown.map(|known| dialog_line(known.spec(), &known.text(&all)))));
    };
    change(&mut all, name, &arguments.rest())?;
    commands.adjust(all)?;
    Ok(Response::empty())
}

/// Handles `kosumi-param [key value]`: shows all parameters, or changes one.
pub(super) fn gogui(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    show_or_change(commands, arguments, table::all())
}

/// Shows the parameters of a section, or changes one. A dialog with all parameters would not fit on a screen.
pub(super) fn dialog<const SECTION: usize>(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    show_or_change(commands, arguments, table::of_section(Section::ALL[SECTION]))
}

/// Returns the dialogs as GoGui lists them: type, label and command.
pub(super) fn dialogs() -> impl Iterator<Item = String> {
    Section::ALL.into_iter().map(|section| format!("param/{}/{}", section.label(), table::command(section)))
}

/// Handles `kata-get-param name`: responds with a value.
pub(super) fn get(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let parameter = find(arguments.word()?).map_err(Failure::new)?;
    Ok(parameter.text(&commands.adjustable()).into())
}

/// Handles `kata-set-param name value`: sets a value.
pub(super) fn set(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let name = arguments.word()?;
    let mut all = commands.adjustable();
    find(name).map_err(Failure::new)?;
    change(&mut all, name, arguments.word()?)?;
    commands.adjust(all)?;
    Ok(Response::empty())
}

/// Handles `kata-list-params`: responds with the names of all parameters.
pub(super) fn list(_: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    Ok(Response::list(table::all().map(|parameter| parameter.spec().name)))
}

/// Handles `kata-get-params`: responds with all parameters as JSON.
pub(super) fn get_all(commands: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> CommandResult {
    let all = commands.adjustable();
    let fields =
        table::all().map(|parameter| (parameter.spec().name.to_owned(), parameter.text(&all).into()));
    Ok(Value::Object(fields.collect::<Map<_, _>>()).to_string().into())
}

/// Handles `kata-set-params json`: sets several parameters, or none if one of the values is refused.
pub(super) fn set_all(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let text = arguments.rest();
    let Ok(Value::Object(fields)) = serde_json::from_str(&text) else { return Err(Failure::syntax_error()) };
    let mut all = commands.adjustable();
    for (name, value) in &fields {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        change(&mut all, name, &text)?;
    }
    commands.adjust(all)?;
    Ok(Response::empty())
}

/// Rules for the dialog, with the names and values of `kata-set-rule`.
const RULES: &[Spec] = &[
    rule("ko", Kind::Choice(&["SIMPLE", "POSITIONAL", "SITUATIONAL", "NATURAL_SITUATIONAL"])),
    rule("scoring", Kind::Choice(&["AREA", "TERRITORY"])),
    rule("tax", Kind::Choice(&["NONE", "SEKI", "ALL"])),
    rule("suicide", Kind::Flag),
    rule("hasButton", Kind::Flag),
    rule("whiteHandicapBonus", Kind::Choice(&["0", "N", "N-1"])),
    rule("friendlyPassOk", Kind::Flag),
];

const fn rule(name: &'static str, kind: Kind) -> Spec {
    Spec::new(name, Section::Playing, kind, "").accepted(Accepted::ByGtpAlone)
}

/// Handles `kosumi-param_rules [key value]`: shows the rules, or sets a named rule set or a single rule.
pub(super) fn gogui_rules(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let rules = commands.engine.game().rules();
    let Some(key) = arguments.optional_word() else {
        let name = rules.as_preset().map_or("other", |preset| preset.names[0]);
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.names[0]).chain(["other"]).collect();
        let mut lines = vec![format!("[list/{}] rules {name}", names.join("/"))];
        let values = rules::to_json(rules);
        for rule in RULES {
            let value = values.get(rule.name);
            let value = value.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            lines.push(dialog_line(rule, &value.unwrap_or_default()));
        }
        return Ok(Response::lines(lines));
    };
    let value = arguments.word()?;
    let is_flag = RULES.iter().any(|rule| rule.name == key && rule.kind == Kind::Flag);
    let value = match flag(value) {
        Some(value) if is_flag => value.to_string(),
        _ => value.to_owned(),
    };
    let changed = if key == "rules" { rules::named(&value)? } else { rules::with_rule(rules, key, &value)? };
    commands.change_rules(changed)?;
    Ok(Response::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::GraphicsKind;
    use kosumi_go::graph_key::NodeSharing;

    #[test]
    fn every_value_reads_back() {
        let all = Adjustable { engine: EngineSettings::default(), live_graphics: GraphicsKind::None };
        for parameter in table::all() {
            let mut changed = all;
            let value = parameter.text(&all);
            assert!(parameter.set(&mut changed, &value).is_ok(), "{} {value}", parameter.spec().name);
            assert_eq!(parameter.text(&changed), value);
            assert!(parameter.set(&mut changed, "nonsense").is_err(), "{}", parameter.spec().name);
            assert_eq!((changed.engine, changed.live_graphics), (all.engine, all.live_graphics));
        }
        let mut changed = all;
        assert_eq!(change(&mut changed, "livegraphics", "\"visits\""), Ok(()));
        assert_eq!(changed.live_graphics, GraphicsKind::Visits);
    }

    #[test]
    fn dialogs_fit_on_a_screen_and_hold_each_parameter_once() {
        let mut names: Vec<&str> = table::all().map(|parameter| parameter.spec().name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        for section in Section::ALL {
            let expected: Vec<&str> =
                table::of_section(section).map(|parameter| parameter.spec().name).collect();
            assert!((1..=20).contains(&expected.len()), "{}", section.label());
            // The row of each command must name the number of its own section.
            let mut commands = Commands::new(kosumi_engine::Engine::new(EngineSettings {
                memory_mebibytes: 1,
                ..EngineSettings::default()
            }));
            let watch = kosumi_gtp::InputWatch::default();
            let command = table::command(section);
            let shown = kosumi_gtp::answer(command, &mut commands, &watch).unwrap().unwrap();
            let of = |line: &str| line.split_once("] ").unwrap().1.split(' ').next().unwrap().to_owned();
            let shown: Vec<String> = shown.lines().map(of).collect();
            assert_eq!(shown, expected, "{}", section.label());
        }
    }

    #[test]
    fn settings_for_the_command_line() {
        let mut settings = EngineSettings::default();
        for text in ["maxvisits=50", "cpuctExploration=1.25", "sharing=tree", "ignorePreRootHistory=true"] {
            Setting::parse(text).expect(text).apply(&mut settings);
        }
        assert_eq!((settings.visits, settings.sharing), (Some(50), NodeSharing::Tree));
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
            for rule in RULES {
                let value = &values[rule.name];
                match rule.kind {
                    Kind::Choice(words) => {
                        assert!(words.contains(&value.as_str().unwrap()), "{rule:?} {value}")
                    }
                    _ => assert!(value.is_boolean()),
                }
            }
            assert_eq!(values.as_object().unwrap().len(), RULES.len());
        }
    }
}
