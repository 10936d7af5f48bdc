//! Rules as text: the names and values of `kata-get-rules`, and the named rule sets.

use serde_json::{Value, json};

/// Rules, with the values that `kata-get-rules` responds with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ModelRules {
    pub(super) ko: &'static str,
    pub(super) scoring: &'static str,
    pub(super) tax: &'static str,
    pub(super) suicide: bool,
    pub(super) has_button: bool,
    pub(super) bonus: &'static str,
    pub(super) friendly_pass: bool,
}

pub(super) const KO: [&str; 4] = ["SIMPLE", "POSITIONAL", "SITUATIONAL", "NATURAL_SITUATIONAL"];
pub(super) const SCORING: [&str; 2] = ["AREA", "TERRITORY"];
pub(super) const TAX: [&str; 3] = ["NONE", "SEKI", "ALL"];
pub(super) const BONUS: [&str; 3] = ["0", "N", "N-1"];

const fn area(ko: &'static str, suicide: bool, bonus: &'static str, friendly_pass: bool) -> ModelRules {
    ModelRules { ko, scoring: "AREA", tax: "NONE", suicide, has_button: false, bonus, friendly_pass }
}

const fn territory(tax: &'static str) -> ModelRules {
    let rules = area("SIMPLE", false, "0", true);
    ModelRules { scoring: "TERRITORY", tax, ..rules }
}

/// The named rule sets, and their usual komi.
#[rustfmt::skip]
pub(super) const NAMED: &[(&str, ModelRules, f32)] = &[
    ("chinese-kgs", area("POSITIONAL", false, "N", true), 7.5),
    ("tromp-taylor", area("POSITIONAL", true, "0", false), 7.5),
    ("cgos", area("POSITIONAL", false, "0", false), 7.5),
    ("chinese", area("SIMPLE", false, "N", true), 7.5),
    ("japanese", territory("SEKI"), 6.5),
    ("korean", territory("SEKI"), 6.5),
    ("aga", area("SITUATIONAL", false, "N-1", true), 7.5),
    ("aga-button", ModelRules { has_button: true, ..area("SITUATIONAL", false, "N-1", true) }, 7.0),
    ("new-zealand", area("SITUATIONAL", true, "0", true), 7.0),
    ("ing", area("POSITIONAL", true, "0", true), 7.5),
    ("stone-scoring", ModelRules { tax: "ALL", ..area("SIMPLE", false, "0", true) }, 7.5),
    ("ancient-territory", territory("ALL"), 6.5),
];

impl ModelRules {
    /// Returns the response to `kata-get-rules`.
    pub(super) fn json(&self) -> Value {
        json!({
            "ko": self.ko,
            "scoring": self.scoring,
            "tax": self.tax,
            "suicide": self.suicide,
            "hasButton": self.has_button,
            "whiteHandicapBonus": self.bonus,
            "friendlyPassOk": self.friendly_pass,
        })
    }

    /// Returns whether the rules award half a point for the first pass: a button has no meaning in territory scoring.
    pub(super) fn uses_button(&self) -> bool {
        self.has_button && self.scoring == "AREA"
    }
}
