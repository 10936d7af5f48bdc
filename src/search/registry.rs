//! Registry of parameters: name, accepted values, documentation, and the protocols that accept each parameter.
//!
//! Constants of the search are registered in [`params`](super::params), all other parameters in
//! `kosumi_engine::parameters`. Protocols have no lists and no bounds of their own.

use kosumi_eval::NetworkView;
use kosumi_go::board::Color;
use kosumi_go::graph_key::NodeSharing;
use kosumi_net::{Profile, RankSetting};
use std::fmt;
use std::time::Duration;

/// KataGo's largest limit on visits and playouts, which means no limit: 2^50.
pub const MAX_LIMIT: u64 = 1 << 50;

/// Subject of a parameter. Each is one dialog of GoGui and one table of the manual.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Section {
    /// Visits, time and threads.
    Limits,
    /// Strength, resignation, and the choice of a move from the result of a search.
    Playing,
    /// Networks of human play.
    HumanPlay,
    /// The moves of the root.
    Root,
    /// Selection of moves below the root.
    Exploration,
    /// Values of positions.
    Values,
    /// Evaluation by a network.
    Network,
    /// Evaluation by playouts.
    Playouts,
    /// Priors of moves where no network gives any.
    PlayoutPriors,
}

impl Section {
    /// All sections, in the order in which they are shown.
    pub const ALL: [Section; 9] = [
        Section::Limits,
        Section::Playing,
        Section::HumanPlay,
        Section::Root,
        Section::Exploration,
        Section::Values,
        Section::Network,
        Section::Playouts,
        Section::PlayoutPriors,
    ];

    /// Returns the title of the section.
    pub fn label(self) -> &'static str {
        match self {
            Section::Limits => "Limits",
            Section::Playing => "Playing",
            Section::HumanPlay => "Human Play",
            Section::Root => "First Moves",
            Section::Exploration => "Exploration",
            Section::Values => "Values",
            Section::Network => "Network",
            Section::Playouts => "Playouts",
            Section::PlayoutPriors => "Playout Priors",
        }
    }
}

/// The protocols that accept a parameter.
///
/// *GTP* means `kata-set-param` and its relatives, `--set`, `kosumi match set=`, `kosumi tune`, and KataGo's
/// configuration files for GTP. *Analysis* means `overrideSettings` and KataGo's configuration files for analysis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accepted {
    /// Both protocols use it.
    Everywhere,
    /// GTP uses it. Analysis checks the value and ignores it.
    ByGtp,
    /// GTP uses it. Analysis does not know it.
    ByGtpAlone,
    /// Analysis uses it. GTP does not know it.
    ByAnalysisAlone,
    /// A parameter of KataGo without effect in this program: configuration files and `overrideSettings` check the
    /// value and ignore it, commands of GTP refuse it.
    Ignored,
}

/// Type and bounds of a parameter's value. All bounds are inclusive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    /// A number.
    Real(f32, f32),
    /// An integer.
    Count(u64, u64),
    /// An integer from 1 to [`MAX_LIMIT`]. What exceeds 32 bits is no limit.
    Limit,
    /// A time in seconds from 0 to this. What exceeds a [`Duration`] is no limit.
    Seconds(f64),
    /// `true` or `false`.
    Flag,
    /// A flag that also has a word for each of its values: the word for `true`, then the word for `false`.
    FlagOrWord(&'static str, &'static str),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A colour.
    Player,
    /// A rank of a person, 30k to 9d, or one that adapts, see [`RankSetting`].
    Rank,
    /// A profile of human play, see [`Profile`].
    Profile,
}

/// Value of a parameter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// No value: no limit, or what suits evaluator and board.
    Unset,
    /// See [`Kind::Real`].
    Real(f32),
    /// See [`Kind::Count`] and [`Kind::Limit`].
    Count(u64),
    /// See [`Kind::Seconds`].
    Time(Duration),
    /// See [`Kind::Flag`].
    Flag(bool),
    /// See [`Kind::Choice`].
    Word(&'static str),
    /// See [`Kind::Player`].
    Player(Color),
    /// See [`Kind::Rank`].
    Rank(RankSetting),
    /// See [`Kind::Profile`].
    Profile(Profile),
}

/// Registration of a parameter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spec {
    /// Name; KataGo's where KataGo has the parameter.
    pub name: &'static str,
    /// Another name that is accepted.
    pub alias: Option<&'static str>,
    /// Subject.
    pub section: Section,
    /// Type and bounds.
    pub kind: Kind,
    /// Word for [`Value::Unset`], if the parameter may be unset.
    pub unset: Option<&'static str>,
    /// Usual value in words, if it depends on the machine, the network or the board.
    pub usual: Option<&'static str>,
    /// Protocols that accept it.
    pub accepted: Accepted,
    /// Documentation, one sentence.
    pub doc: &'static str,
}

/// Error of a text that is not a value of the parameter.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{name} must be {values}, not '{text}'")]
pub struct WrongValue {
    name: &'static str,
    /// See [`Spec::values`].
    values: String,
    /// The beginning of the text.
    text: String,
}

/// Number of characters of a wrong text that an error shows.
const MAX_SHOWN_CHARACTERS: usize = 60;

impl Spec {
    /// Creates a parameter that all protocols accept.
    pub const fn new(name: &'static str, section: Section, kind: Kind, doc: &'static str) -> Spec {
        Spec {
            name,
            alias: None,
            section,
            kind,
            unset: None,
            usual: None,
            accepted: Accepted::Everywhere,
            doc,
        }
    }

    /// Returns the parameter with a word for [`Value::Unset`].
    pub const fn or(self, unset: &'static str) -> Spec {
        Spec { unset: Some(unset), ..self }
    }

    /// Returns the parameter with a second name.
    pub const fn alias(self, alias: &'static str) -> Spec {
        Spec { alias: Some(alias), ..self }
    }

    /// Returns the parameter with a description of its usual value.
    pub const fn usual(self, usual: &'static str) -> Spec {
        Spec { usual: Some(usual), ..self }
    }

    /// Returns the parameter with these protocols.
    pub const fn accepted(self, accepted: Accepted) -> Spec {
        Spec { accepted, ..self }
    }

    /// Returns whether this is the name of the parameter. Case does not matter.
    pub fn is_called(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
            || self.alias.is_some_and(|alias| alias.eq_ignore_ascii_case(name))
    }

    /// Returns the accepted values in words, such as "a number from 0 to 1, or auto".
    pub fn values(&self) -> String {
        let values = match self.kind {
            Kind::Real(least, most) => format!("a number from {} to {}", real(least), real(most)),
            Kind::Count(least, most) => format!("an integer from {least} to {most}"),
            Kind::Limit => format!("an integer from 1 to {MAX_LIMIT}"),
            Kind::Seconds(most) => format!("a number of seconds from 0 to {}", real(most as f32)),
            Kind::Flag | Kind::FlagOrWord(..) => "true or false".to_owned(),
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
            Kind::Player => "BLACK or WHITE".to_owned(),
            Kind::Rank => "a rank from 30k to 9d, auto or auto:RANK".to_owned(),
            Kind::Profile => "a profile such as rank_5k".to_owned(),
        };
        match self.unset {
            Some(unset) => format!("{values}, or {unset}"),
            None => values,
        }
    }

    /// Reads a value.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a value of the parameter, or if the value is out of bounds.
    pub fn read(&self, text: &str) -> Result<Value, WrongValue> {
        let text = text.trim();
        let value = if self.unset.is_some_and(|unset| text.eq_ignore_ascii_case(unset)) {
            Some(Value::Unset)
        } else {
            self.parse(text).filter(|&value| self.admits(value))
        };
        value.ok_or_else(|| {
            let text = text.chars().take(MAX_SHOWN_CHARACTERS).collect();
            WrongValue { name: self.name, values: self.values(), text }
        })
    }

    fn parse(&self, text: &str) -> Option<Value> {
        let flag = |yes: &str, no: &str| match text {
            "1" => Some(Value::Flag(true)),
            "0" => Some(Value::Flag(false)),
            _ if text.eq_ignore_ascii_case(yes) => Some(Value::Flag(true)),
            _ if text.eq_ignore_ascii_case(no) => Some(Value::Flag(false)),
            _ => None,
        };
        match self.kind {
            Kind::Real(..) => text.parse().ok().map(Value::Real),
            Kind::Count(..) => text.parse().ok().map(Value::Count),
            Kind::Limit => {
                let count = text.parse().ok().filter(|count| (1..=MAX_LIMIT).contains(count))?;
                Some(if count > u64::from(u32::MAX) { Value::Unset } else { Value::Count(count) })
            }
            Kind::Seconds(most) => {
                let seconds = text.parse().ok().filter(|seconds| (0.0..=most).contains(seconds))?;
                Some(Duration::try_from_secs_f64(seconds).map_or(Value::Unset, Value::Time))
            }
            Kind::Flag => flag("true", "false"),
            Kind::FlagOrWord(yes, no) => flag("true", "false").or_else(|| flag(yes, no)),
            Kind::Choice(words) => {
                words.iter().find(|word| word.eq_ignore_ascii_case(text)).map(|word| Value::Word(word))
            }
            // KataGo writes the empty text for no player and no profile.
            Kind::Player => match text.to_ascii_lowercase().as_str() {
                "black" | "b" => Some(Value::Player(Color::Black)),
                "white" | "w" => Some(Value::Player(Color::White)),
                "" => Some(Value::Unset),
                _ => None,
            },
            Kind::Rank => text.parse().ok().map(Value::Rank),
            Kind::Profile if text.is_empty() || text == "_" => Some(Value::Unset),
            Kind::Profile => text.parse().ok().map(Value::Profile),
        }
    }

    /// Returns whether the empty text is a value.
    pub fn may_be_empty(&self) -> bool {
        matches!(self.kind, Kind::Player | Kind::Profile)
    }

    /// Returns whether a value has the type of the parameter and is within its bounds.
    pub fn admits(&self, value: Value) -> bool {
        match (self.kind, value) {
            (Kind::Limit | Kind::Seconds(_) | Kind::Player | Kind::Profile | Kind::Rank, Value::Unset) => {
                true
            }
            (_, Value::Unset) => self.unset.is_some(),
            (Kind::Real(least, most), Value::Real(value)) => (least..=most).contains(&value),
            (Kind::Count(least, most), Value::Count(value)) => (least..=most).contains(&value),
            (Kind::Limit, Value::Count(value)) => (1..=u64::from(u32::MAX)).contains(&value),
            (Kind::Seconds(most), Value::Time(value)) => value.as_secs_f64() <= most,
            (Kind::Flag | Kind::FlagOrWord(..), Value::Flag(_))
            | (Kind::Player, Value::Player(_))
            | (Kind::Rank, Value::Rank(_))
            | (Kind::Profile, Value::Profile(_)) => true,
            (Kind::Choice(words), Value::Word(word)) => words.contains(&word),
            _ => false,
        }
    }

    /// Returns a value as text. [`read`](Spec::read) returns the same value for this text.
    pub fn text(&self, value: Value) -> String {
        match value {
            Value::Unset => self.unset.unwrap_or_default().to_owned(),
            Value::Real(value) => value.to_string(),
            Value::Count(value) => value.to_string(),
            Value::Time(value) => value.as_secs_f64().to_string(),
            Value::Flag(value) => value.to_string(),
            Value::Word(word) => word.to_owned(),
            Value::Player(color) => color.to_string().to_uppercase(),
            Value::Rank(rank) => rank.to_string(),
            Value::Profile(profile) => profile.to_string(),
        }
    }
}

/// Returns a bound as text, as a power of ten where it would have many digits.
fn real(value: f32) -> String {
    let is_plain = value == 0.0 || (1e-4..1e7).contains(&value.abs());
    if is_plain { value.to_string() } else { format!("{value:e}") }
}

/// Type of a field of the settings that a parameter sets.
pub trait Field: Sized {
    /// Returns the value of the field.
    fn value(&self) -> Value;

    /// Returns the field with this value; `None` if the value is of another type.
    fn from_value(value: Value) -> Option<Self>;
}

macro_rules! fields {
    ($($field:ty => $value:ident;)*) => {$(
        impl Field for $field {
            fn value(&self) -> Value {
                Value::$value(*self)
            }

            fn from_value(value: Value) -> Option<$field> {
                match value {
                    Value::$value(it) => Some(it),
                    _ => None,
                }
            }
        }
    )*};
}

fields! {
    f32 => Real;
    bool => Flag;
    Duration => Time;
    Color => Player;
    RankSetting => Rank;
    Profile => Profile;
}

macro_rules! counts {
    ($($number:ty)*) => {$(
        impl Field for $number {
            fn value(&self) -> Value {
                Value::Count(*self as u64)
            }

            fn from_value(value: Value) -> Option<$number> {
                match value {
                    Value::Count(count) => <$number>::try_from(count).ok(),
                    _ => None,
                }
            }
        }
    )*};
}

counts!(u8 u32 usize);

/// `true` means a graph.
impl Field for NodeSharing {
    fn value(&self) -> Value {
        Value::Flag(*self == NodeSharing::Graph)
    }

    fn from_value(value: Value) -> Option<NodeSharing> {
        bool::from_value(value).map(|is_graph| if is_graph { NodeSharing::Graph } else { NodeSharing::Tree })
    }
}

/// Names of [`NetworkView`]s.
pub const VIEWS: &[&str] = &["plain", "varied"];

impl Field for NetworkView {
    fn value(&self) -> Value {
        Value::Word(VIEWS[usize::from(*self == NetworkView::Varied)])
    }

    fn from_value(value: Value) -> Option<NetworkView> {
        match value {
            Value::Word("plain") => Some(NetworkView::Plain),
            Value::Word("varied") => Some(NetworkView::Varied),
            _ => None,
        }
    }
}

impl<T: Field> Field for Option<T> {
    fn value(&self) -> Value {
        self.as_ref().map_or(Value::Unset, T::value)
    }

    fn from_value(value: Value) -> Option<Option<T>> {
        match value {
            Value::Unset => Some(None),
            _ => T::from_value(value).map(Some),
        }
    }
}

impl fmt::Display for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Accepted::Everywhere => "all",
            Accepted::ByGtp | Accepted::ByGtpAlone => "GTP",
            Accepted::ByAnalysisAlone => "analysis",
            Accepted::Ignored => "none",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_values_are_named_with_the_right_ones() {
        let real = Spec::new("share", Section::Values, Kind::Real(0.0, 1e20), "").or("auto");
        let count = Spec::new("views", Section::Values, Kind::Count(1, 8), "");
        let word = Spec::new("view", Section::Values, Kind::Choice(VIEWS), "");
        for (spec, text, expected) in [
            (real, "-1", "share must be a number from 0 to 1e20, or auto, not '-1'"),
            (real, "nan", "share must be a number from 0 to 1e20, or auto, not 'nan'"),
            (count, "9", "views must be an integer from 1 to 8, not '9'"),
            (count, "1.0", "views must be an integer from 1 to 8, not '1.0'"),
            (count, "", "views must be an integer from 1 to 8, not ''"),
            (word, "sideways", "view must be one of plain, varied, not 'sideways'"),
        ] {
            assert_eq!(spec.read(text).map_err(|wrong| wrong.to_string()), Err(expected.to_owned()));
        }
        let long = "9".repeat(1000);
        assert!(count.read(&long).is_err_and(|wrong| wrong.to_string().len() < 150));
    }

    #[test]
    fn limits_that_no_field_holds_are_none() {
        let limit = Spec::new("maxVisits", Section::Limits, Kind::Limit, "").or("none");
        assert_eq!(limit.read("4294967295"), Ok(Value::Count(4_294_967_295)));
        assert_eq!(limit.read("4294967296"), Ok(Value::Unset));
        assert_eq!(limit.read("1125899906842624"), Ok(Value::Unset));
        assert!(limit.read("1125899906842625").is_err());
        let time = Spec::new("maxTime", Section::Limits, Kind::Seconds(1e20), "").or("none");
        assert_eq!(time.read("2.5"), Ok(Value::Time(Duration::from_millis(2500))));
        assert_eq!(time.read("1e20"), Ok(Value::Unset));
        assert!(time.read("1e21").is_err() && time.read("-0.1").is_err() && time.read("inf").is_err());
    }
}
