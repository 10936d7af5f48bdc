//! Settings that can be changed while the engine runs: for GoGui's dialogs and for `kata-set-param`.
//!
//! `table.rs` has one row per parameter. Where KataGo has the same setting, its name is KataGo's. A value that makes no
//! sense is refused and changes nothing.

mod table;

use super::graphics::GraphicsKind;
use super::{Answer, Commands, rules};
use kosumi_engine::EngineSettings;
use kosumi_go::rules::PRESETS;
use kosumi_gtp::{Arguments, Failure, Response, Session};
use serde_json::{Map, Value};
use table::{Adjustable, Kind, Parameter, SECTIONS, find, flag};

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

/// `[key value]`, as GoGui's dialogs send it: shows these settings, or changes one of all.
fn show_or_change(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    shown: impl Iterator<Item = &'static Parameter>,
) -> Answer {
    let mut all = commands.adjustable();
    let Some(name) = arguments.optional_word() else {
        let lines = shown.map(|known| dialog_line(known.name, known.kind, &(known.get)(&all)));
        return Ok(Response::lines(lines));
    };
    find(name)?.change(&mut all, &arguments.rest())?;
    commands.adjust(all)?;
    Ok(Response::empty())
}

/// `kosumi-param [key value]`: all settings.
pub(super) fn gogui(commands: &mut Commands, arguments: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    show_or_change(commands, arguments, table::all())
}

/// The settings of one of [`SECTIONS`]: a dialog with all of them would not fit on a screen.
pub(super) fn dialog<const SECTION: usize>(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> Answer {
    show_or_change(commands, arguments, SECTIONS[SECTION].parameters.iter())
}

/// The dialogs as GoGui lists them: type, label and command.
pub(super) fn dialogs() -> impl Iterator<Item = String> {
    SECTIONS.iter().map(|section| format!("param/{}/{}", section.label, section.command))
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
    Ok(Response::list(table::all().map(|parameter| parameter.name)))
}

/// `kata-get-params`: all of them as JSON.
pub(super) fn get_all(commands: &mut Commands, _: &mut Arguments<'_>, _: &mut Session<'_>) -> Answer {
    let all = commands.adjustable();
    let fields = table::all().map(|parameter| (parameter.name.to_owned(), (parameter.get)(&all).into()));
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
    use kosumi_go::graph_key::NodeSharing;

    #[test]
    fn every_value_reads_back() {
        let all = Adjustable { engine: EngineSettings::default(), live_graphics: GraphicsKind::None };
        for parameter in table::all() {
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
    fn dialogs_fit_on_a_screen_and_hold_each_setting_once() {
        let mut names: Vec<&str> = table::all().map(|parameter| parameter.name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        for (number, section) in SECTIONS.iter().enumerate() {
            assert!((1..=20).contains(&section.parameters.len()), "{}", section.label);
            // The row of each command must name the number of its own section.
            let mut commands = Commands::new(kosumi_engine::Engine::new(EngineSettings {
                memory_mebibytes: 1,
                ..EngineSettings::default()
            }));
            let watch = kosumi_gtp::InputWatch::default();
            let shown = kosumi_gtp::answer(section.command, &mut commands, &watch).unwrap().unwrap();
            let of = |line: &str| line.split_once("] ").unwrap().1.split(' ').next().unwrap().to_owned();
            let shown: Vec<String> = shown.lines().map(of).collect();
            let expected: Vec<&str> = section.parameters.iter().map(|parameter| parameter.name).collect();
            assert_eq!(shown, expected, "{number}");
        }
    }

    #[test]
    fn settings_for_the_command_line() {
        let mut settings = EngineSettings::default();
        for text in ["maxvisits=50", "cpuctExploration=1.25", "sharing=tree"] {
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
