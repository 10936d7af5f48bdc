//! Parsing of `KM` as people and servers write it: `6.5`, `6,5`, `6目半`, `3又3/4子`, `7 1/2`, `375`.

use super::values::half_width;

/// Words around the number that do not change its meaning.
const WORDS: &[&str] = &[
    "komi", "コミ", "points", "point", "pts", "pt", "moku", "黑", "黒", "白", "贴", "貼", "出し", "点", "點",
    "집", "호", "덤", "目", "又", "and", "for", "white", "b", "w", "子", "個", "个", "p",
];
/// Words that mean no komi.
const NONE: &[&str] = &["none", "no", "なし", "無し", "無", "无", "없음"];
/// Words that mean a komi for Black.
const REVERSED: &[&str] = &["reverse", "reversed", "逆", "倒", "역"];
/// Largest absolute komi that is accepted, in points.
const MAX_KOMI: f64 = 1000.0;

/// Parses a komi in points. Returns `None` if the text does not contain one.
///
/// A number of Chinese stones (`子`) counts twice. A number of quarters without a unit is also taken as stones, because
/// no komi has quarters of a point. Some Chinese servers write hundredths: of stones up to 425, of points from 450 on
/// (`375` and `750` are the same komi).
pub(super) fn parse_komi(text: &str) -> Option<f32> {
    let text: String = text.chars().map(half_width).collect::<String>().trim().to_lowercase();
    let mut rest = text.as_str();
    let is_in_stones = rest.contains('子');
    let mut is_plain = true;
    let mut sign = 1.0;
    let mut terms: Vec<Term> = Vec::new();
    while let Some(first) = rest.chars().next() {
        if let Some((number, length)) = number(rest) {
            terms.push(Term::Number(number));
            rest = &rest[length..];
            continue;
        }
        let word = |words: &[&'static str]| words.iter().copied().find(|word| rest.starts_with(word));
        let length = if let Some(value) = fraction(first) {
            terms.push(Term::Part(value));
            first.len_utf8()
        } else if let Some(half) = word(&["半", "반", "half", "ハーフ"]) {
            terms.push(Term::Part(0.5));
            half.len()
        } else if let Some(of) = word(&["分之", "分の"]) {
            terms.push(Term::Of);
            of.len()
        } else if let Some(reversed) = word(REVERSED) {
            sign = -1.0;
            reversed.len()
        } else if let Some(none) = word(NONE) {
            terms.push(Term::Number(0.0));
            none.len()
        } else if let Some(known) = word(WORDS) {
            is_plain &= known == "komi";
            known.len()
        } else {
            match first {
                '/' => terms.push(Term::Over),
                '-' | '−' | '–' if terms.is_empty() => sign = -sign,
                '+' | '&' | '.' | ':' | '(' | ')' => {}
                _ if first.is_whitespace() => {}
                _ => return None,
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    use Term::{Number, Of, Over, Part};
    let points = match terms[..] {
        [Number(whole)] if is_plain => points_without_unit(whole),
        [Number(whole)] => whole,
        [Part(part)] => part,
        [Number(whole), Part(part)] => whole + part,
        [Number(above), Over, Number(below)] | [Number(below), Of, Number(above)] => above / below,
        [Number(whole), Number(above), Over, Number(below)]
        | [Number(whole), Number(below), Of, Number(above)] => whole + above / below,
        _ => return None,
    };
    let points = sign * points * if is_in_stones { 2.0 } else { 1.0 };
    (points.abs() <= MAX_KOMI).then_some(points as f32)
}

/// Term of the text.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Term {
    Number(f64),
    /// A fraction below one.
    Part(f64),
    /// The stroke of a fraction.
    Over,
    /// The stroke of a Chinese fraction, whose denominator comes first.
    Of,
}

/// Interprets a number without any unit, as points.
fn points_without_unit(number: f64) -> f64 {
    let is_multiple = |of: f64| number % of == 0.0;
    match number {
        250.0..=425.0 if is_multiple(25.0) => number / 50.0,
        450.0..=850.0 if is_multiple(50.0) => number / 100.0,
        _ if number <= 5.0 && number.fract() % 0.5 == 0.25 => 2.0 * number,
        _ => number,
    }
}

/// Returns the number at the front of the text, and its length in bytes.
fn number(text: &str) -> Option<(f64, usize)> {
    let is_digit = |character: char| character.is_ascii_digit();
    let whole = text.find(|character| !is_digit(character)).unwrap_or(text.len());
    let behind = text.get(whole..).unwrap_or_default();
    let parts = behind.strip_prefix(['.', ',']).map_or(0, |behind| {
        let length = behind.find(|character| !is_digit(character)).unwrap_or(behind.len());
        if length > 0 { length + 1 } else { 0 }
    });
    if whole + parts > 0 {
        let length = whole + parts;
        return Some((text.get(..length)?.replace(',', ".").parse().ok()?, length));
    }
    chinese_number(text)
}

/// Parses a number below 100 in Chinese digits.
fn chinese_number(text: &str) -> Option<(f64, usize)> {
    const DIGITS: &str = "〇一二三四五六七八九";
    let digit = |character: char| match character {
        '零' => Some(0),
        '两' | '兩' => Some(2),
        _ => DIGITS.chars().position(|digit| digit == character),
    };
    let (mut tens, mut ones, mut length) = (0, None, 0);
    for character in text.chars() {
        match (character, digit(character)) {
            ('十', _) if tens == 0 => tens = ones.take().unwrap_or(1),
            (_, Some(found)) if ones.is_none() => ones = Some(found),
            _ => break,
        }
        length += character.len_utf8();
    }
    (length > 0).then(|| ((10 * tens + ones.unwrap_or(0)) as f64, length))
}

fn fraction(character: char) -> Option<f64> {
    match character {
        '¼' => Some(0.25),
        '½' => Some(0.5),
        '¾' => Some(0.75),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn komi_as_it_is_in_files() {
        let rows = [
            ("6.5", Some(6.5)),
            (" 6.5 ", Some(6.5)),
            ("6,5", Some(6.5)),
            (".5", Some(0.5)),
            ("0", Some(0.0)),
            ("-17.5", Some(-17.5)),
            ("+6.5", Some(6.5)),
            ("６．５", Some(6.5)),
            ("−５", Some(-5.0)),
            ("6目半", Some(6.5)),
            ("六目半", Some(6.5)),
            ("コミ6目半", Some(6.5)),
            ("６目半", Some(6.5)),
            ("十二目半", Some(12.5)),
            ("半目", Some(0.5)),
            ("6.5目", Some(6.5)),
            ("6집반", Some(6.5)),
            ("덤 6집 반", Some(6.5)),
            ("3又3/4子", Some(7.5)),
            ("黑贴3又3/4子", Some(7.5)),
            ("贴3¾子", Some(7.5)),
            ("三又四分之三子", Some(7.5)),
            ("2又3/4子", Some(5.5)),
            ("3.75子", Some(7.5)),
            ("3.75", Some(7.5)),
            ("2.75", Some(5.5)),
            ("7 1/2", Some(7.5)),
            ("7½", Some(7.5)),
            ("13/2", Some(6.5)),
            ("7.5 points", Some(7.5)),
            ("7.5pts.", Some(7.5)),
            ("Komi: 7.5", Some(7.5)),
            ("none", Some(0.0)),
            ("なし", Some(0.0)),
            ("逆コミ5目半", Some(-5.5)),
            ("倒贴3目", Some(-3.0)),
            ("375", Some(7.5)),
            ("325", Some(6.5)),
            ("275", Some(5.5)),
            ("550", Some(5.5)),
            ("650", Some(6.5)),
            ("750", Some(7.5)),
            ("350", Some(7.0)),
            ("700", Some(7.0)),
            ("100", Some(100.0)),
            ("375 points", Some(375.0)),
            ("", None),
            ("NaN", None),
            ("inf", None),
            ("1e30", None),
            ("6.5 or 7.5", None),
            ("6.5.5", None),
            ("about 7", None),
            ("7/0", None),
            ("/", None),
            ("2000", None),
        ];
        for (text, expected) in rows {
            assert_eq!(parse_komi(text), expected, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn any_text_is_a_komi_or_none(text in "[0-9０-９.,/ 又子目半分之三十½-]{0,12}|\\PC{0,12}") {
            prop_assert!(parse_komi(&text).is_none_or(|komi| komi.abs() <= 1000.0));
        }

        #[test]
        fn half_points_are_themselves(halves in -160_i32..=160) {
            let komi = halves as f32 / 2.0;
            prop_assert_eq!(parse_komi(&komi.to_string()), Some(komi));
        }
    }
}
