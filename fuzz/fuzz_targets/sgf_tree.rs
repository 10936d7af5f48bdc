//! Well-formed records: the input bytes choose nodes, variations, properties and values. Each record is read as a tree
//! that survives a round trip, and as a game that survives being written.
//!
//! ```text
//! RUSTC_BOOTSTRAP=1 cargo fuzz run sgf_tree -- -max_total_time=600 -detect_leaks=0
//! ```
#![no_main]

use kosumi_go::rules::Rules;
use kosumi_go::sgf::{Meta, Record, Strictness, Tree, write};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::fmt::Write;

const NAMES: &[&str] = &[
    "B", "W", "B", "W", "AB", "AW", "AE", "PL", "SZ", "KM", "HA", "RU", "RE", "C", "LB", "TB", "CA", "FF",
    "GM", "MN", "TM", "OT", "BL", "OB", "KO", "VW", "DD", "XX", "ST", "PB", "DT", "CR", "AR",
];
const VALUES: &[&str] = &[
    "",
    "tt",
    "aa",
    "bb",
    "ab",
    "aa:cc",
    "cc:aa",
    "19",
    "5",
    "9:7",
    "26",
    "0",
    "-1",
    "7.5",
    "-0",
    "nan",
    "1e9",
    "2",
    "B+R",
    "W+0.5",
    "Void",
    "0",
    "Japanese",
    "chinese",
    "[",
    "\\]",
    "\\\\",
    "a\\\nb",
    "UTF-8",
    "Big5",
    "1",
    "4",
    "b",
    "w",
    "B",
    "2026-11-23",
    "aa:x",
    "é",
    "5x30 byo-yomi",
    "a:b:c",
    "zz",
    "ZZ",
    " a a ",
];

fn value(u: &mut Unstructured<'_>, text: &mut String) -> Result<()> {
    text.push('[');
    if u.ratio(2, 3)? {
        // A point of a board of five by five.
        for _ in 0..2 {
            text.push(char::from(b'a' + u.int_in_range(0..=5u8)?));
        }
    } else {
        let chosen = u.choose(VALUES)?;
        text.push_str(if *chosen == "[" { "x[y" } else { chosen });
    }
    text.push(']');
    Ok(())
}

fn node(u: &mut Unstructured<'_>, text: &mut String) -> Result<()> {
    text.push(';');
    for _ in 0..u.int_in_range(0..=3u8)? {
        text.push_str(u.choose(NAMES)?);
        for _ in 0..u.int_in_range(1..=3u8)? {
            value(u, text)?;
        }
    }
    Ok(())
}

/// Returns a tree whose depth is bounded by the input. When the bytes are used up, all brackets are closed.
fn tree(u: &mut Unstructured<'_>) -> Result<String> {
    let mut text = String::from("(");
    let _ = write!(text, ";SZ[{}]", u.choose(&["5", "5", "5", "19", "9:4", "x", "26", ""])?);
    let mut open = 1;
    while !u.is_empty() && text.len() < 4000 {
        match u.int_in_range(0..=5u8)? {
            0 => {
                text.push_str("(");
                node(u, &mut text)?;
                open += 1;
            }
            1 if open > 1 => {
                text.push(')');
                open -= 1;
            }
            _ => node(u, &mut text)?,
        }
    }
    text.extend(std::iter::repeat_n(')', open));
    Ok(text)
}

fuzz_target!(|input: &[u8]| {
    let Ok(text) = tree(&mut Unstructured::new(input)) else { return };
    let parsed = Tree::parse(text.as_bytes());
    if let Ok(tree) = &parsed {
        let shown = tree.to_string();
        let again = Tree::parse(shown.as_bytes()).expect("what was written can be read");
        assert_eq!(again.to_string(), shown);
    }
    let Ok(record) = Record::parse(text.as_bytes()) else { return };
    assert!(parsed.is_ok(), "a record, but no tree: {text}");
    for strictness in [Strictness::Strict, Strictness::Tolerant] {
        let _ = record.replay(Rules::default(), 7.5, None, strictness);
        let _ = record.replay(Rules::default(), 7.5, Some(input.len() % 5), strictness);
    }
    let game = record.game(Rules::default(), 7.5, None).expect("what was read leads to a game");
    game.board().check_consistency();
    let written = write(&game, &Meta::default());
    let again = Record::parse(written.as_bytes()).expect("what was written can be read");
    let again = again.game(Rules::default(), 7.5, None).expect("what was read leads to a game");
    assert_eq!((again.board().key(), again.handicap()), (game.board().key(), game.handicap()), "{text}");
    assert_eq!(again.to_move(), game.to_move(), "{text}\n{written}");
});
