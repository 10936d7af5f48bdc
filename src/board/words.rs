//! Texts for numbers and colours.
//!
//! Uses `board`.

use kosumi_go::board::Color;

/// Returns `black` or `white`, as in classes of pages and fields of JSON.
pub const fn color_name(color: Color) -> &'static str {
    match color {
        Color::Black => "black",
        Color::White => "white",
    }
}

/// Returns `B` or `W`, as in SGF.
pub const fn color_letter(color: Color) -> char {
    match color {
        Color::Black => 'B',
        Color::White => 'W',
    }
}

/// Returns a number with its noun: `1 game`, `2 games`.
pub fn counted(number: u64, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

/// Serialisation of bytes as Base64 text, for `#[serde(with = "as_base64")]`. A JSON list of numbers would be three
/// times as long.
pub mod as_base64 {
    use data_encoding::BASE64;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Serialises bytes.
    ///
    /// # Errors
    ///
    /// Returns the errors of the serializer.
    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64.encode(bytes))
    }

    /// Deserialises bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is not Base64 text.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        BASE64.decode(text.as_bytes()).map_err(D::Error::custom)
    }
}

/// Returns a number with commas between thousands.
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

/// Returns the number, or positive zero if it would be shown as zero with this many decimal places. This avoids output
/// such as `-0.0`.
pub fn unsigned_zero(value: impl Into<f64>, decimals: i32) -> f64 {
    let value = value.into();
    if value.abs() <= 0.5 * 10f64.powi(-decimals) { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_no_sign() {
        let shown = |value: f64| {
            [0, 1, 4].map(|decimals| format!("{:.*}", decimals as usize, unsigned_zero(value, decimals)))
        };
        assert_eq!(shown(-0.0), ["0", "0.0", "0.0000"]);
        assert_eq!(shown(-0.04), ["0", "0.0", "-0.0400"]);
        assert_eq!(shown(-0.5), ["0", "-0.5", "-0.5000"]);
        assert_eq!(shown(0.06), ["0", "0.1", "0.0600"]);
        assert_eq!(format!("{:+.1}", unsigned_zero(-0.01f32, 1)), "+0.0");
    }

    #[test]
    fn thousands() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
