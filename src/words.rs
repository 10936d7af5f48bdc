//! Numbers and colours in words.
//!
//! Uses `board` and `rules`.

use crate::board::Color;
use crate::rules::Rules;

/// `black` or `white`, as classes of pages and fields of JSON have it.
pub const fn color_name(color: Color) -> &'static str {
    match color {
        Color::Black => "black",
        Color::White => "white",
    }
}

/// `B` or `W`, as SGF has it.
pub const fn color_letter(color: Color) -> char {
    match color {
        Color::Black => 'B',
        Color::White => 'W',
    }
}

/// The title of rules that have a name, otherwise their description.
pub fn rules_title(rules: Rules) -> String {
    let title = match rules.as_preset().map(|preset| preset.names[0]) {
        Some("chinese-kgs") => "Chinese rules with superko",
        Some("tromp-taylor") => "Tromp-Taylor rules",
        Some("cgos") => "CGOS rules",
        Some("chinese") => "Chinese rules",
        Some("japanese") => "Japanese rules",
        Some("aga") => "AGA rules",
        Some("aga-button") => "AGA rules with the button",
        Some("new-zealand") => "New Zealand rules",
        Some("ing") => "Ing rules",
        Some("stone-scoring") => "Stone scoring",
        Some("ancient-territory") => "Ancient territory rules",
        _ => return format!("{rules} rules"),
    };
    title.to_owned()
}

/// `1 game`, `2 games`.
pub fn counted(number: u64, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

/// A number with a comma between thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_rule_set_has_a_title() {
        for preset in crate::rules::PRESETS {
            let title = rules_title(preset.rules);
            assert!(!title.contains(':') && title.chars().next().is_some_and(char::is_uppercase), "{title}");
        }
    }

    #[test]
    fn thousands() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
