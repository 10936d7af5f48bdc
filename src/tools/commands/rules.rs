//! Commands for rules: by name, as JSON, and one by one. They keep the komi and the position.

use super::{CommandResult, Commands};
use kosumi_go::rules::{HandicapBonus, KoRule, Rules, Scoring, Tax};
use kosumi_gtp::{Arguments, Failure, Response, Session};
use serde_json::{Value, json};

pub(super) fn set_rules(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let text = arguments.rest();
    let rules = if text.is_empty() {
        return Err(Failure::syntax_error());
    } else if text.starts_with('{') {
        from_json(&text)?
    } else {
        named(&text)?
    };
    commands.change_rules(rules)?;
    Ok(Response::empty())
}

pub(super) fn set_rule(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let key = arguments.word()?;
    let value = arguments.word()?;
    let rules = with_rule(commands.engine.game().rules(), key, value)?;
    commands.change_rules(rules)?;
    Ok(Response::empty())
}

pub(super) fn get_rules(
    commands: &mut Commands,
    _: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    Ok(to_json(commands.engine.game().rules()).to_string().into())
}

pub(super) fn kgs_rules(
    commands: &mut Commands,
    arguments: &mut Arguments<'_>,
    _: &mut Session<'_>,
) -> CommandResult {
    let name = arguments.word()?;
    // Unlike over-the-board play, KGS forbids every repetition under Chinese rules.
    let rules = named(if name.eq_ignore_ascii_case("chinese") { "chinese-kgs" } else { name })?;
    commands.change_rules(rules)?;
    Ok(Response::empty())
}

pub(super) fn named(name: &str) -> Result<Rules, Failure> {
    Rules::parse(name).map(agreed).ok_or_else(|| Failure::new("unknown rules"))
}

/// Returns the rules with an agreement on dead stones if scoring is by territory, where there always is one, whatever
/// KataGo calls it.
fn agreed(rules: Rules) -> Rules {
    Rules { friendly_pass: rules.friendly_pass || rules.scoring == Scoring::Territory, ..rules }
}

/// Returns the rules in the format of `kata-get-rules` and `kata-set-rules`.
pub fn to_json(rules: Rules) -> Value {
    json!({
        "ko": rules.ko.name(),
        "scoring": rules.scoring.name(),
        "tax": rules.tax.name(),
        "suicide": rules.suicide,
        "hasButton": rules.has_button,
        "whiteHandicapBonus": rules.handicap_bonus.name(),
        "friendlyPassOk": rules.friendly_pass,
    })
}

/// Parses rules from JSON. Rules that are not named are Tromp-Taylor's, except for the tax under territory scoring.
fn from_json(text: &str) -> Result<Rules, Failure> {
    let Ok(Value::Object(fields)) = serde_json::from_str(text) else { return Err(Failure::syntax_error()) };
    let mut rules = named("tromp-taylor")?;
    for (key, value) in &fields {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Bool(flag) => flag.to_string(),
            Value::Number(number) => number.to_string(),
            _ => return Err(Failure::syntax_error()),
        };
        rules = with_rule(rules, key, &text)?;
    }
    if !fields.contains_key("tax") {
        rules.tax = rules.scoring.usual_tax();
    }
    Ok(agreed(rules))
}

/// Returns the rules with one of them, named as in `kata-set-rule`, set to `value`.
///
/// # Errors
///
/// Returns a failure for the controller if there is no such rule or value.
pub fn with_rule(rules: Rules, key: &str, value: &str) -> Result<Rules, Failure> {
    let unknown = || Failure::new(format!("unknown value of {key}"));
    let flag = || value.to_ascii_lowercase().parse::<bool>().map_err(|_| unknown());
    let mut rules = rules;
    match key {
        "ko" => rules.ko = KoRule::parse(value).ok_or_else(unknown)?,
        "scoring" | "score" => {
            rules.scoring = match value.to_ascii_uppercase().as_str() {
                "AREA" => Scoring::Area,
                "TERRITORY" => Scoring::Territory,
                _ => return Err(unknown()),
            }
        }
        "tax" => {
            rules.tax = match value.to_ascii_uppercase().as_str() {
                "NONE" => Tax::None,
                "SEKI" => Tax::Seki,
                "ALL" => Tax::All,
                _ => return Err(unknown()),
            }
        }
        "suicide" | "multiStoneSuicideLegal" => rules.suicide = flag()?,
        "hasButton" => rules.has_button = flag()?,
        "whiteHandicapBonus" => {
            rules.handicap_bonus = match value.to_ascii_uppercase().as_str() {
                "0" => HandicapBonus::None,
                "N" => HandicapBonus::Full,
                "N-1" => HandicapBonus::LessOne,
                _ => return Err(unknown()),
            }
        }
        "friendlyPassOk" => rules.friendly_pass = flag()?,
        _ => return Err(Failure::new("unknown rule")),
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::rules::PRESETS;

    #[test]
    fn json_reads_back() {
        for preset in PRESETS {
            assert_eq!(from_json(&to_json(preset.rules).to_string()), Ok(preset.rules), "{:?}", preset.names);
        }
    }

    /// Checks KataGo's names for rules, and which rules KataGo leaves out.
    #[test]
    fn rules_as_katago_writes_them() {
        let japanese = named("japanese");
        assert!(japanese.is_ok());
        for text in [
            r#"{"ko":"SIMPLE","scoring":"TERRITORY","suicide":false}"#,
            // KataGo's response to `kata-get-rules` under Japanese rules.
            r#"{"friendlyPassOk":false,"hasButton":false,"ko":"SIMPLE","scoring":"TERRITORY","suicide":false,"tax":"SEKI","whiteHandicapBonus":"0"}"#,
        ] {
            assert_eq!(from_json(text), japanese, "{text}");
        }
        assert_eq!(named("koSIMPLEscoreTERRITORYtaxSEKIsui0"), japanese);
        assert_eq!(named("koPOSITIONALscoreAREA"), named("tromp-taylor"));
        assert_eq!(from_json("{}"), named("tromp-taylor"));
        assert!(named("koSIMPLEsuicide").is_err());
    }
}
