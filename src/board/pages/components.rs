//! Components of pages with a board: scripts that need no build step, and their style. A page includes the components
//! that it needs, in this order.

use super::texts;
use data_encoding::BASE64;
use sha2::{Digest, Sha256};

/// `svg(name, attributes, parent, text)`; `Board`; `Cursor` for keys; `playOut(area, changes)`.
pub const BOARD: &str = include_str!("board.js");
/// `text(name, values)` in the reader's language, `translate()`, `takeLanguage(then)`. Needs [`texts`].
pub const LANGUAGE: &str = include_str!("language.js");
/// `Chart`: curves over the moves of a game.
pub const CHARTS: &str = include_str!("charts.js");
/// `Packed`: decoding of the program's numbers; `element(name, text, class)`; numbers as words.
pub const PACKED: &str = include_str!("packed.js");
/// `readRecord(file)`, `takeFiles(input, take)`, `saveText(name, text)`.
pub const RECORDS: &str = include_str!("records.js");
/// `Link`: the connection to the program that serves the page.
pub const LINK: &str = include_str!("link.js");
/// `Link`: the connection to a table in a Web Worker, with the same interface.
pub const WORKER_LINK: &str = include_str!("worker_link.js");
/// Returns `TEXTS` and `OTHERS`, the texts of pages that are saved as files.
pub fn texts() -> &'static str {
    texts::of_files()
}

/// Returns all scripts of the page of a game, with their texts, but not the script of the connection.
pub fn board_scripts() -> [&'static str; 6] {
    [BOARD, texts::of_board(), LANGUAGE, CHARTS, PACKED, RECORDS]
}

/// Returns all scripts of the page of a review, with their texts: a page with a board, curves and possibly an engine.
pub fn scripts() -> [&'static str; 7] {
    [BOARD, texts::of_reviews(), LANGUAGE, CHARTS, PACKED, RECORDS, LINK]
}

/// Style of boards, stones, curves and panels, in addition to the common style.
pub const STYLE: &str = include_str!("pieces.css");

/// Returns a script without comments and indentation. No string in the scripts may span several lines.
pub fn compact(script: &str) -> String {
    let lines = script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Returns style rules without comments and without insignificant white space. No string in the rules may contain a
/// comment, or white space next to a brace, a comma or a semicolon.
pub fn compact_style(style: &str) -> String {
    let mut rest = style;
    let mut plain = String::new();
    while let Some((before, after)) = rest.split_once("/*") {
        plain.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    let mut compact = String::new();
    for word in plain.split_ascii_whitespace() {
        if !compact.is_empty()
            && !compact.ends_with(['{', '}', ';', ',', ':'])
            && !word.starts_with(['{', '}'])
        {
            compact.push(' ');
        }
        compact.push_str(word);
    }
    compact
}

/// Returns the source expression of a script for a content security policy, which allows this script alone.
pub fn script_source(script: &str) -> String {
    format!("'sha256-{}'", BASE64.encode(&Sha256::digest(script.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_keep_their_meaning_without_white_space() {
        let style = "/* a: b; */\n.a > :is(.b, #c) .d { margin: 0 -1px; width: calc(1px - 2px) }\n@media (min-width: 1px) and (x) { p { } }";
        let compact =
            ".a > :is(.b,#c) .d{margin:0 -1px;width:calc(1px - 2px)}@media (min-width:1px) and (x){p{}}";
        assert_eq!(compact_style(style), compact);
        assert_eq!(compact_style("a { b: c } /* open"), "a{b:c}");
    }

    #[test]
    fn the_hash_is_that_of_the_text() {
        // Example from the specification of content security policies.
        assert_eq!(
            script_source("alert('Hello, world.');"),
            "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
        );
    }
}
