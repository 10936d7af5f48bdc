//! Rule sets as values: repetition, suicide, scoring, compensation for handicap; and the named ones.

use std::fmt;

/// Which repetitions are forbidden. Passing is always allowed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KoRule {
    /// Only the immediate recapture of a single stone by a single stone.
    Simple,
    /// No play may recreate any earlier position (PSK).
    Positional,
    /// No play may recreate an earlier position with the same player to move (SSK).
    Situational,
    /// No play may recreate a position that a play of the same player created before (NSSK).
    NaturalSituational,
}

impl KoRule {
    /// All of them.
    pub const ALL: [KoRule; 4] =
        [KoRule::Simple, KoRule::Positional, KoRule::Situational, KoRule::NaturalSituational];

    /// The name in `kata-set-rules`.
    pub const fn name(self) -> &'static str {
        match self {
            KoRule::Simple => "SIMPLE",
            KoRule::Positional => "POSITIONAL",
            KoRule::Situational => "SITUATIONAL",
            KoRule::NaturalSituational => "NATURAL_SITUATIONAL",
        }
    }

    /// The rule of a name as [`KoRule::name`] gives it, in any case, or of its usual abbreviation.
    pub fn parse(text: &str) -> Option<KoRule> {
        match text.to_ascii_uppercase().replace('-', "_").as_str() {
            "SIMPLE" => Some(KoRule::Simple),
            "POSITIONAL" | "PSK" => Some(KoRule::Positional),
            "SITUATIONAL" | "SSK" => Some(KoRule::Situational),
            "NATURAL_SITUATIONAL" | "NSSK" => Some(KoRule::NaturalSituational),
            _ => None,
        }
    }
}

/// What counts at the end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scoring {
    /// Stones and surrounded points.
    Area,
    /// Surrounded points and prisoners.
    Territory,
}

impl Scoring {
    /// All of them.
    pub const ALL: [Scoring; 2] = [Scoring::Area, Scoring::Territory];

    /// The name in `kata-set-rules`.
    pub const fn name(self) -> &'static str {
        match self {
            Scoring::Area => "AREA",
            Scoring::Territory => "TERRITORY",
        }
    }
}

/// Which surrounded points do not count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tax {
    /// All count.
    None,
    /// Those in seki do not.
    Seki,
    /// Those in seki do not, and two of every living group.
    All,
}

impl Tax {
    /// All of them.
    pub const ALL: [Tax; 3] = [Tax::None, Tax::Seki, Tax::All];

    /// The name in `kata-set-rules`.
    pub const fn name(self) -> &'static str {
        match self {
            Tax::None => "NONE",
            Tax::Seki => "SEKI",
            Tax::All => "ALL",
        }
    }
}

/// What White gets for a handicap of N stones.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HandicapBonus {
    /// Nothing.
    None,
    /// N points.
    Full,
    /// N − 1 points.
    LessOne,
}

impl HandicapBonus {
    /// All of them.
    pub const ALL: [HandicapBonus; 3] = [HandicapBonus::None, HandicapBonus::Full, HandicapBonus::LessOne];

    /// The name in `kata-set-rules`.
    pub const fn name(self) -> &'static str {
        match self {
            HandicapBonus::None => "0",
            HandicapBonus::Full => "N",
            HandicapBonus::LessOne => "N-1",
        }
    }

    /// Points for White at a handicap of `stones`.
    pub fn points(self, stones: u32) -> u32 {
        match self {
            HandicapBonus::None => 0,
            HandicapBonus::Full => stones,
            HandicapBonus::LessOne => stones.saturating_sub(1),
        }
    }
}

/// Everything about a game's rules but the komi.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rules {
    /// Repetition.
    pub ko: KoRule,
    /// May a player's own chain of two or more stones be removed by the player's move? The suicide of a single
    /// stone changes nothing on the board and is never allowed.
    pub suicide: bool,
    /// Scoring.
    pub scoring: Scoring,
    /// Points that do not count.
    pub tax: Tax,
    /// The first pass is worth half a point (area scoring).
    pub has_button: bool,
    /// Compensation for handicap stones.
    pub handicap_bonus: HandicapBonus,
    /// After two passes dead stones are removed; otherwise all stones on the board count as alive.
    pub friendly_pass: bool,
}

/// One named rule set.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The names it goes by, the usual one first, in lower case with dashes.
    pub names: &'static [&'static str],
    /// The rules.
    pub rules: Rules,
    /// Komi usual with these rules.
    pub komi: f32,
    /// One line of explanation.
    pub about: &'static str,
}

const AREA: Rules = Rules {
    ko: KoRule::Positional,
    suicide: false,
    scoring: Scoring::Area,
    tax: Tax::None,
    has_button: false,
    handicap_bonus: HandicapBonus::None,
    friendly_pass: true,
};

const TERRITORY: Rules =
    Rules { ko: KoRule::Simple, scoring: Scoring::Territory, tax: Tax::Seki, friendly_pass: true, ..AREA };

/// The named rule sets.
pub const PRESETS: &[Preset] = &[
    Preset {
        names: &["chinese-kgs", "chinese-ogs"],
        rules: Rules { handicap_bonus: HandicapBonus::Full, ..AREA },
        komi: 7.5,
        about: "area, positional superko, no suicide (the default)",
    },
    Preset {
        names: &["tromp-taylor"],
        rules: Rules { suicide: true, friendly_pass: false, ..AREA },
        komi: 7.5,
        about: "area, positional superko, suicide, all stones alive at the end",
    },
    Preset {
        names: &["cgos"],
        rules: Rules { friendly_pass: false, ..AREA },
        komi: 7.5,
        about: "Tromp-Taylor without suicide, as the CGOS servers play",
    },
    Preset {
        names: &["chinese"],
        rules: Rules { ko: KoRule::Simple, handicap_bonus: HandicapBonus::Full, ..AREA },
        komi: 7.5,
        about: "area, simple ko, as played over the board",
    },
    Preset {
        names: &["japanese", "korean"],
        rules: TERRITORY,
        komi: 6.5,
        about: "territory and prisoners, simple ko, no points in seki",
    },
    Preset {
        names: &["aga", "bga", "french"],
        rules: Rules { ko: KoRule::Situational, handicap_bonus: HandicapBonus::LessOne, ..AREA },
        komi: 7.5,
        about: "area, situational superko",
    },
    Preset {
        names: &["aga-button"],
        rules: Rules {
            ko: KoRule::Situational,
            handicap_bonus: HandicapBonus::LessOne,
            has_button: true,
            ..AREA
        },
        komi: 7.0,
        about: "AGA, and half a point for the first pass",
    },
    Preset {
        names: &["new-zealand", "nz", "newzealand"],
        rules: Rules { ko: KoRule::Situational, suicide: true, ..AREA },
        komi: 7.0,
        about: "area, situational superko, suicide",
    },
    Preset {
        names: &["ing", "goe"],
        rules: Rules { suicide: true, ..AREA },
        komi: 7.5,
        about: "area, positional superko, suicide",
    },
    Preset {
        names: &["stone-scoring", "ancient-area"],
        rules: Rules { ko: KoRule::Simple, tax: Tax::All, ..AREA },
        komi: 7.5,
        about: "area, two points of tax for every living group",
    },
    Preset {
        names: &["ancient-territory"],
        rules: Rules { tax: Tax::All, friendly_pass: true, ..TERRITORY },
        komi: 6.5,
        about: "territory, two points of tax for every living group",
    },
];

impl Rules {
    /// The rule set of a name, in any case, with `_` or no mark at all for `-`.
    pub fn preset(name: &str) -> Option<&'static Preset> {
        let plain = |text: &str| text.to_ascii_lowercase().replace(['-', '_', ' '], "");
        PRESETS.iter().find(|preset| preset.names.iter().any(|known| plain(known) == plain(name)))
    }

    /// The named rule set that these rules are, if they are one.
    pub fn as_preset(self) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| preset.rules == self)
    }

    /// The komi that is usual with these rules; 7.5 if they have no name.
    pub fn usual_komi(self) -> f32 {
        self.as_preset().map_or(7.5, |preset| preset.komi)
    }

    /// A number that is different for different rules: it goes into the keys of search nodes.
    pub(crate) fn code(self) -> u64 {
        let flag = |set: bool, bit: u32| u64::from(set) << bit;
        self.ko as u64
            | flag(self.suicide, 2)
            | (self.scoring as u64) << 3
            | (self.tax as u64) << 4
            | flag(self.has_button, 6)
            | (self.handicap_bonus as u64) << 7
            | flag(self.friendly_pass, 9)
    }
}

impl Rules {
    /// The rules in one word: the name if they have one, otherwise a code as KataGo writes it into its records,
    /// as `koSIMPLEscoreAREAtaxALLsui1whbNfpok1`. [`Rules::parse`] reads both.
    pub fn code_name(self) -> String {
        if let Some(preset) = self.as_preset() {
            return preset.names[0].to_owned();
        }
        let mut text = format!(
            "ko{}score{}tax{}sui{}",
            self.ko.name(),
            self.scoring.name(),
            self.tax.name(),
            u8::from(self.suicide)
        );
        if self.has_button {
            text.push_str("button1");
        }
        if self.handicap_bonus != HandicapBonus::None {
            text.push_str("whb");
            text.push_str(self.handicap_bonus.name());
        }
        if self.friendly_pass {
            text.push_str("fpok1");
        }
        text
    }

    /// The rules of a name or a code; see [`Rules::code_name`].
    pub fn parse(text: &str) -> Option<Rules> {
        Rules::preset(text).map(|preset| preset.rules).or_else(|| Rules::parse_code(text.trim()))
    }

    fn parse_code(text: &str) -> Option<Rules> {
        /// What stands at the front, taken off: the longest of the names, because some begin with others.
        fn take<T: Copy>(rest: &mut &str, values: &[T], name: impl Fn(T) -> &'static str) -> Option<T> {
            let fitting = values.iter().copied().filter(|&value| rest.starts_with(name(value)));
            let found = fitting.max_by_key(|&value| name(value).len())?;
            *rest = &rest[name(found).len()..];
            Some(found)
        }
        const FLAGS: [bool; 2] = [false, true];
        let flag = |set| if set { "1" } else { "0" };
        let mut rules = Rules {
            ko: KoRule::Simple,
            suicide: false,
            scoring: Scoring::Area,
            tax: Tax::None,
            has_button: false,
            handicap_bonus: HandicapBonus::None,
            friendly_pass: false,
        };
        let rest = &mut text.strip_prefix("ko")?;
        rules.ko = take(rest, &KoRule::ALL, KoRule::name)?;
        while !rest.is_empty() {
            let keys = ["score", "tax", "sui", "button", "whb", "fpok"];
            match take(rest, &keys, |key| key)? {
                "score" => rules.scoring = take(rest, &Scoring::ALL, Scoring::name)?,
                "tax" => rules.tax = take(rest, &Tax::ALL, Tax::name)?,
                "sui" => rules.suicide = take(rest, &FLAGS, flag)?,
                "button" => rules.has_button = take(rest, &FLAGS, flag)?,
                "whb" => rules.handicap_bonus = take(rest, &HandicapBonus::ALL, HandicapBonus::name)?,
                _ => rules.friendly_pass = take(rest, &FLAGS, flag)?,
            }
        }
        Some(rules)
    }
}

impl Default for Rules {
    /// `chinese-kgs`: a move that is legal here is legal under every other preset.
    fn default() -> Rules {
        PRESETS[0].rules
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(preset) = self.as_preset() {
            return f.write_str(preset.names[0]);
        }
        let scoring = if self.scoring == Scoring::Area { "area" } else { "territory" };
        let suicide = if self.suicide { "suicide" } else { "no suicide" };
        write!(f, "{} ko, {suicide}, {scoring}", self.ko.name().to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_however_they_are_written() {
        for name in ["tromp-taylor", "Tromp_Taylor", "tromptaylor"] {
            assert!(Rules::preset(name).is_some_and(|p| p.rules.suicide && !p.rules.friendly_pass), "{name}");
        }
        assert!(Rules::preset("new_zealand").is_some_and(|p| p.rules.ko == KoRule::Situational));
        assert!(Rules::preset("mahjong").is_none());
    }

    #[test]
    fn no_name_is_used_twice_and_no_two_presets_are_the_same() {
        let names: Vec<_> = PRESETS.iter().flat_map(|preset| preset.names).collect();
        for (i, name) in names.iter().enumerate() {
            assert!(!names[..i].contains(name), "{name}");
        }
        for (i, preset) in PRESETS.iter().enumerate() {
            assert!(PRESETS[..i].iter().all(|other| other.rules != preset.rules), "{:?}", preset.names);
            assert!(PRESETS[..i].iter().all(|other| other.rules.code() != preset.rules.code()));
        }
    }

    #[test]
    fn codes_read_back() {
        for code in 0..4 * 2 * 3 * 3 * 8 {
            let bit = |divisor: usize| code / divisor % 2 == 1;
            let rules = Rules {
                ko: KoRule::ALL[code % 4],
                scoring: Scoring::ALL[code / 4 % 2],
                tax: Tax::ALL[code / 8 % 3],
                handicap_bonus: HandicapBonus::ALL[code / 24 % 3],
                suicide: bit(72),
                has_button: bit(144),
                friendly_pass: bit(288),
            };
            assert_eq!(Rules::parse(&rules.code_name()), Some(rules), "{}", rules.code_name());
        }
        // As KataGo writes it.
        let text = "koPOSITIONALscoreAREAtaxNONEsui0whbN-1fpok1";
        let rules = Rules { handicap_bonus: HandicapBonus::LessOne, ..Rules::default() };
        assert_eq!(Rules::parse(text), Some(rules));
        for text in ["", "ko", "koSIMPLEx", "koSIMPLEsui2", "koSIMPLEscore", "koé"] {
            assert_eq!(Rules::parse(text), None, "{text}");
        }
    }

    #[test]
    fn compensation_for_handicap() {
        let bonus = |name: &str| Rules::preset(name).map(|p| p.rules.handicap_bonus.points(4));
        assert_eq!(bonus("chinese"), Some(4));
        assert_eq!(bonus("aga"), Some(3));
        assert_eq!(bonus("japanese"), Some(0));
        assert_eq!(HandicapBonus::LessOne.points(0), 0);
    }
}
