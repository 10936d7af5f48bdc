//! Rules in queries: a name, an object, or a code in one word.

use super::json;
use kosumi_go::rules::{HandicapBonus, KoRule, Rules, Scoring, Tax};
use serde_json::{Map, Value};

/// Rules and komi.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct RequestedRules {
    pub(super) rules: Rules,
    pub(super) komi: f32,
    /// Warning that the nearest supported rules are used, if the requested ones are not supported.
    pub(super) warning: Option<String>,
}

/// Reads rules from a JSON value. Returns `None` if the value is malformed.
pub(super) fn read(value: &Value) -> Option<RequestedRules> {
    match value {
        Value::Object(fields) => object(fields),
        Value::String(text) => {
            let text = text.trim();
            if text.starts_with('{') {
                return match json::value(text) {
                    Ok(Value::Object(fields)) => object(&fields),
                    _ => None,
                };
            }
            word(text)
        }
        _ => None,
    }
}

fn word(text: &str) -> Option<RequestedRules> {
    if let Some(preset) = Rules::preset(text) {
        return Some(RequestedRules { rules: preset.rules, komi: preset.komi, warning: None });
    }
    // A komi may follow the code.
    let (code, komi) = match text.rsplit_once("komi") {
        Some((code, komi)) => (code, Some(komi.parse().ok()?)),
        None => (text, None),
    };
    possible(Rules::parse(code)?, komi)
}

fn object(fields: &Map<String, Value>) -> Option<RequestedRules> {
    let mut rules = Rules::TROMP_TAYLOR;
    let mut tax = None;
    let mut komi = None;
    let mut warning = None;
    for (key, value) in fields {
        let named = |text: &Value| text.as_str().map(str::to_owned);
        match key.as_str() {
            "ko" if value == "SPIGHT" => {
                rules.ko = KoRule::Situational;
                warning = Some("Ko rule SPIGHT not supported, using SITUATIONAL instead".to_owned());
            }
            "ko" => rules.ko = KoRule::ALL.into_iter().find(|ko| value == ko.name())?,
            "scoring" | "score" => {
                rules.scoring = Scoring::ALL.into_iter().find(|scoring| value == scoring.name())?;
            }
            "tax" => tax = Some(Tax::ALL.into_iter().find(|tax| value == tax.name())?),
            "suicide" => rules.suicide = value.as_bool()?,
            "hasButton" => rules.has_button = value.as_bool()?,
            "friendlyPassOk" => rules.friendly_pass = value.as_bool()?,
            "whiteHandicapBonus" => rules.handicap_bonus = bonus(&named(value)?)?,
            "komi" => komi = Some(half_points(value)?),
            _ => return None,
        }
    }
    rules.tax = tax.unwrap_or(rules.scoring.usual_tax());
    let wanted = possible(rules, komi)?;
    Some(RequestedRules { warning: wanted.warning.or(warning), ..wanted })
}

/// Returns the rules if they are supported, and otherwise the nearest ones with a warning.
fn possible(wanted: Rules, komi: Option<f32>) -> Option<RequestedRules> {
    let komi = komi.unwrap_or(match wanted {
        Rules { scoring: Scoring::Territory, .. } => 6.5,
        Rules { has_button: true, .. } => 7.0,
        _ => 7.5,
    });
    if !Rules::accepts_komi(komi.into()) {
        return None;
    }
    let mut rules = wanted;
    let mut warning = None;
    if wanted.scoring == Scoring::Territory {
        rules.has_button = false;
        // Under territory scoring dead stones are always agreed on.
        rules.friendly_pass = true;
        if wanted.has_button {
            let (before, after) = (wanted.code_name(), Rules { friendly_pass: false, ..rules }.code_name());
            warning = Some(format!("Rules {before} not supported by neural net, using {after} instead"));
        }
    }
    Some(RequestedRules { rules, komi, warning })
}

/// Reads the name of the compensation for handicap stones.
pub(super) fn bonus(text: &str) -> Option<HandicapBonus> {
    HandicapBonus::ALL.into_iter().find(|bonus| bonus.name() == text)
}

/// Reads a number from −400 to 400 that is a multiple of one half.
pub(super) fn half_points(value: &Value) -> Option<f32> {
    value.as_f64().filter(|&komi| Rules::accepts_komi(komi)).map(|komi| komi as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_objects_and_codes() {
        let rules = |value: Value| read(&value).map(|wanted| (wanted.rules.code_name(), wanted.komi));
        let chinese = Rules::preset("chinese").unwrap().rules;
        assert_eq!(rules(json!("Chinese")), Some(("chinese".to_owned(), 7.5)));
        assert_eq!(rules(json!("stone_scoring")), Some(("stone-scoring".to_owned(), 7.5)));
        assert_eq!(rules(json!("new zealand")), Some(("new-zealand".to_owned(), 7.0)));
        assert_eq!(rules(json!({})), Some(("tromp-taylor".to_owned(), 7.5)));
        let object =
            json!({"ko": "SIMPLE", "suicide": false, "whiteHandicapBonus": "N", "friendlyPassOk": true});
        assert_eq!(read(&object).map(|wanted| wanted.rules), Some(chinese));
        assert_eq!(read(&json!(object.to_string())).map(|wanted| wanted.rules), Some(chinese));
        let territory = read(&json!({"scoring": "TERRITORY", "ko": "SIMPLE", "suicide": false})).unwrap();
        assert_eq!((territory.rules.code_name(), territory.komi), ("japanese".to_owned(), 6.5));
        assert_eq!(rules(json!("koSIMPLEscoreAREAtaxNONEsui0komi6")).map(|(_, komi)| komi), Some(6.0));
        for bad in [
            json!(""),
            json!("mahjong"),
            json!(5),
            json!({"ko": "simple"}),
            json!({"ko": "SIMPLE", "foo": 1}),
            json!({"komi": 6.3}),
            json!("{"),
            json!("koSIMPLEkomix"),
        ] {
            assert_eq!(read(&bad), None, "{bad}");
        }
    }

    #[test]
    fn rules_that_do_not_exist_are_replaced_with_a_warning() {
        let wanted = read(&json!({"scoring": "TERRITORY", "hasButton": true})).unwrap();
        assert!(
            !wanted.rules.has_button && wanted.warning.is_some_and(|text| text.contains("not supported"))
        );
        assert!(read(&json!({"ko": "SPIGHT"})).unwrap().warning.is_some());
    }
}
