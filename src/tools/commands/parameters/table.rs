//! Parameters that commands accept: those of the registry, and those of the live graphics.

use crate::commands::GraphicsKind;
use kosumi_engine::EngineSettings;
use kosumi_engine::parameters::{self, Accepted, Kind, Parameter, Section, Spec, Value, WrongValue};

/// All settings that commands can change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adjustable {
    pub(super) engine: EngineSettings,
    pub(super) live_graphics: GraphicsKind,
}

const GRAPHICS: [&str; GraphicsKind::NAMES.len()] = {
    let mut names = [""; GraphicsKind::NAMES.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = GraphicsKind::NAMES[index].0;
        index += 1;
    }
    names
};

static LIVE_GRAPHICS: Spec =
    Spec::new("liveGraphics", Section::Limits, Kind::Choice(&GRAPHICS), "What GoGui shows during a search.")
        .accepted(Accepted::ByGtpAlone);

/// Parameter that commands accept.
#[derive(Clone, Copy, Debug)]
pub(super) enum CommandParameter {
    Registered(Parameter),
    LiveGraphics,
}

impl CommandParameter {
    pub(super) fn spec(self) -> &'static Spec {
        match self {
            CommandParameter::Registered(parameter) => parameter.spec(),
            CommandParameter::LiveGraphics => &LIVE_GRAPHICS,
        }
    }

    /// Returns the value as text.
    pub(super) fn text(self, all: &Adjustable) -> String {
        match self {
            CommandParameter::Registered(parameter) => parameter.text(&all.engine),
            CommandParameter::LiveGraphics => all.live_graphics.name().to_owned(),
        }
    }

    /// Reads a value and sets it.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a value of the parameter. The settings are then unchanged.
    pub(super) fn set(self, all: &mut Adjustable, text: &str) -> Result<(), WrongValue> {
        match self {
            CommandParameter::Registered(parameter) => parameter.set(&mut all.engine, text),
            CommandParameter::LiveGraphics => {
                if let Value::Word(name) = LIVE_GRAPHICS.read(text)? {
                    all.live_graphics = GraphicsKind::parse(name).unwrap_or_default();
                }
                Ok(())
            }
        }
    }
}

/// Returns the command of a section's dialog.
pub(super) fn command(section: Section) -> &'static str {
    match section {
        Section::Limits => "kosumi-param_limits",
        Section::Playing => "kosumi-param_playing",
        Section::HumanPlay => "kosumi-param_human",
        Section::Root => "kosumi-param_root",
        Section::Exploration => "kosumi-param_exploration",
        Section::Values => "kosumi-param_values",
        Section::Network => "kosumi-param_network",
        Section::Playouts => "kosumi-param_playouts",
        Section::PlayoutPriors => "kosumi-param_priors",
    }
}

/// Returns the parameters of a section.
pub(super) fn of_section(section: Section) -> impl Iterator<Item = CommandParameter> {
    let graphics = (LIVE_GRAPHICS.section == section).then_some(CommandParameter::LiveGraphics);
    parameters::of_section(section).filter(is_known).map(CommandParameter::Registered).chain(graphics)
}

/// Returns all parameters, section by section.
pub(super) fn all() -> impl Iterator<Item = CommandParameter> {
    Section::ALL.into_iter().flat_map(of_section)
}

fn is_known(parameter: &Parameter) -> bool {
    !matches!(parameter.accepted(), Accepted::ByAnalysisAlone | Accepted::Ignored)
}

/// Finds the parameter with this name. Ignores case.
///
/// # Errors
///
/// Returns an error if no parameter has this name.
pub(super) fn find(name: &str) -> Result<CommandParameter, String> {
    if LIVE_GRAPHICS.is_called(name) {
        return Ok(CommandParameter::LiveGraphics);
    }
    match parameters::find(name) {
        Some(parameter) if is_known(&parameter) => Ok(CommandParameter::Registered(parameter)),
        Some(parameter) => Err(format!("{} has no effect in this program", parameter.spec().name)),
        None => Err(format!("unknown parameter {name}")),
    }
}

/// Parses a flag: GoGui writes numbers, KataGo words.
pub(super) fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" => Some(true),
        "0" | "false" => Some(false),
        _ => None,
    }
}
