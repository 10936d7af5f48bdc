//! Rule sets as values (repetition, suicide, scoring, handicap compensation), and the named rule sets.

use std::fmt;

/// Rule about forbidden repetitions. Passing is always allowed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KoRule {
    /// Forbids only the immediate recapture of a single stone by a single stone.
    Simple,
    /// Forbids plays that recreate any earlier position (PSK).
    Positional,
    /// Forbids plays that recreate an earlier position with the same side to move (SSK).
    Situational,
    /// Forbids plays that recreate a position that a play of the same side created before (NSSK).
    NaturalSituational,
}

impl KoRule {
    /// All ko rules.
    pub const ALL: [KoRule; 4] =
        [KoRule::Simple, KoRule::Positional, KoRule::Situational, KoRule::NaturalSituational];

    /// Returns the name of the rule in `kata-set-rules`.
    pub const fn name(self) -> &'static str {
        match self {
            KoRule::Simple => "SIMPLE",
            KoRule::Positional => "POSITIONAL",
            KoRule::Situational => "SITUATIONAL",
            KoRule::NaturalSituational => "NATURAL_SITUATIONAL",
        }
    }

    /// Parses a name as returned by [`KoRule::name`], in any case, or its usual abbreviation.
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

/// Points that count at the end of the game.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scoring {
    /// Stones and surrounded points count.
    Area,
    /// Surrounded points and prisoners count.
    Territory,
}

impl Scoring {
    /// All kinds of scoring.
    pub const ALL: [Scoring; 2] = [Scoring::Area, Scoring::Territory];

    /// Returns the name of the scoring in `kata-set-rules`.
    pub const fn name(self) -> &'static str {
        match self {
            Scoring::Area => "AREA",
            Scoring::Territory => "TERRITORY",
        }
    }

    /// Returns the tax of rules that name none: no tax under area scoring, and [`Tax::Seki`] under territory scoring.
    pub const fn usual_tax(self) -> Tax {
        match self {
            Scoring::Area => Tax::None,
            Scoring::Territory => Tax::Seki,
        }
    }
}

/// Surrounded points that do not count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tax {
    /// All surrounded points count.
    None,
    /// Points in seki do not count.
    Seki,
    /// Points in seki do not count, nor do two points of every living group.
    All,
}

impl Tax {
    /// All kinds of tax.
    pub const ALL: [Tax; 3] = [Tax::None, Tax::Seki, Tax::All];

    /// Returns the name of the tax in `kata-set-rules`.
    pub const fn name(self) -> &'static str {
        match self {
            Tax::None => "NONE",
            Tax::Seki => "SEKI",
            Tax::All => "ALL",
        }
    }
}

/// Compensation for White for a handicap of N stones.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HandicapBonus {
    /// No compensation.
    None,
    /// N points.
    Full,
    /// N − 1 points.
    LessOne,
}

impl HandicapBonus {
    /// All kinds of compensation.
    pub const ALL: [HandicapBonus; 3] = [HandicapBonus::None, HandicapBonus::Full, HandicapBonus::LessOne];

    /// Returns the name of the compensation in `kata-set-rules`.
    pub const fn name(self) -> &'static str {
        match self {
            HandicapBonus::None => "0",
            HandicapBonus::Full => "N",
            HandicapBonus::LessOne => "N-1",
        }
    }

    /// Returns the points for White for a handicap of `stones`.
    pub fn points(self, stones: u32) -> u32 {
        match self {
            HandicapBonus::None => 0,
            HandicapBonus::Full => stones,
            HandicapBonus::LessOne => stones.saturating_sub(1),
        }
    }
}

/// All rules of a game except the komi.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rules {
    /// Rule about repetitions.
    pub ko: KoRule,
    /// Whether a move may remove the player's own chain of two or more stones. The suicide of a single stone does not
    /// change the board and is never allowed.
    pub suicide: bool,
    /// Points that count at the end.
    pub scoring: Scoring,
    /// Surrounded points that do not count.
    pub tax: Tax,
    /// Whether the first pass is worth half a point (area scoring only).
    pub has_button: bool,
    /// Compensation for handicap stones.
    pub handicap_bonus: HandicapBonus,
    /// Whether dead stones are removed after two passes. Otherwise all stones on the board count as alive.
    pub friendly_pass: bool,
}

/// A named rule set.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Names of the rule set, the usual one first, in lower case with dashes.
    pub names: &'static [&'static str],
    /// Rules of the set.
    pub rules: Rules,
    /// Usual komi under these rules.
    pub komi: f32,
    /// Explanation in one line.
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
        rules: Rules::TROMP_TAYLOR,
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
    /// Tromp-Taylor rules. They supply whatever a rules code or object leaves out.
    pub const TROMP_TAYLOR: Rules = Rules { suicide: true, friendly_pass: false, ..AREA };

    /// Returns the rule set with this name, in any case, with `-`, `_`, a blank or nothing between words.
    pub fn preset(name: &str) -> Option<&'static Preset> {
        let plain = |text: &str| text.to_ascii_lowercase().replace(['-', '_', ' '], "");
        PRESETS.iter().find(|preset| preset.names.iter().any(|known| plain(known) == plain(name)))
    }

    /// Returns the named rule set that equals these rules, if any.
    pub fn as_preset(self) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| preset.rules == self)
    }

    /// Returns the usual komi under these rules, or 7.5 if they have no name.
    pub fn usual_komi(self) -> f32 {
        self.as_preset().map_or(7.5, |preset| preset.komi)
    }

    /// Returns whether a komi is a whole or half number of points from −400 to 400, as KataGo's protocols require.
    pub fn accepts_komi(komi: f64) -> bool {
        (-400.0..=400.0).contains(&komi) && (2.0 * komi).fract() == 0.0
    }

    /// Returns a number that differs between different rules. It contributes to the keys of search nodes.
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
    /// Returns the rules as one word: their name if they have one, otherwise a code like those in KataGo's game
    /// records, such as `koSIMPLEscoreAREAtaxALLsui1whbNfpok1`. [`Rules::parse`] reads both.
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

    /// Parses a name or a code. See [`Rules::code_name`]. What a code leaves out is as under Tromp-Taylor rules, except
    /// that points in seki do not count in territory scoring.
    pub fn parse(text: &str) -> Option<Rules> {
        Rules::preset(text).map(|preset| preset.rules).or_else(|| Rules::parse_code(text.trim()))
    }

    fn parse_code(text: &str) -> Option<Rules> {
        /// Removes the value at the front of `rest`. The longest matching name is taken, because some names are
        /// prefixes of others.
        fn take<T: Copy>(rest: &mut &str, values: &[T], name: impl Fn(T) -> &'static str) -> Option<T> {
            let fitting = values.iter().copied().filter(|&value| rest.starts_with(name(value)));
            let found = fitting.max_by_key(|&value| name(value).len())?;
            *rest = &rest[name(found).len()..];
            Some(found)
        }
        const FLAGS: [bool; 2] = [false, true];
        let flag = |set| if set { "1" } else { "0" };
        let mut rules = Rules::TROMP_TAYLOR;
        let mut tax = None;
        let rest = &mut text.strip_prefix("ko")?;
        rules.ko = take(rest, &KoRule::ALL, KoRule::name)?;
        while !rest.is_empty() {
            let keys = ["score", "tax", "sui", "button", "whb", "fpok"];
            match take(rest, &keys, |key| key)? {
                "score" => rules.scoring = take(rest, &Scoring::ALL, Scoring::name)?,
                "tax" => tax = Some(take(rest, &Tax::ALL, Tax::name)?),
                "sui" => rules.suicide = take(rest, &FLAGS, flag)?,
                "button" => rules.has_button = take(rest, &FLAGS, flag)?,
                "whb" => rules.handicap_bonus = take(rest, &HandicapBonus::ALL, HandicapBonus::name)?,
                _ => rules.friendly_pass = take(rest, &FLAGS, flag)?,
            }
        }
        rules.tax = tax.unwrap_or(rules.scoring.usual_tax());
        Some(rules)
    }
}

impl Default for Rules {
    /// Returns `chinese-kgs`: a move that is legal under it is legal under every other preset.
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
    fn preset_names_in_any_spelling() {
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
        // A code as KataGo writes it.
        let text = "koPOSITIONALscoreAREAtaxNONEsui0whbN-1fpok1";
        let rules = Rules { handicap_bonus: HandicapBonus::LessOne, ..Rules::default() };
        assert_eq!(Rules::parse(text), Some(rules));
        // Codes that leave something out.
        let short = |text| Rules::parse(text).map(Rules::code_name);
        assert_eq!(short("koPOSITIONAL").as_deref(), Some("tromp-taylor"));
        assert_eq!(short("koSIMPLEscoreTERRITORYsui0").as_deref(), Some("koSIMPLEscoreTERRITORYtaxSEKIsui0"));
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
