//! What pages with a board are put together from: scripts without a build step, and the style that goes with them. Each is
//! written once; a page takes the pieces that it needs, in this order.

use data_encoding::BASE64;
use sha2::{Digest, Sha256};

/// `svg(name, attributes, parent, text)`; `Board`; `Cursor` for keys; `playOut(area, changes)`.
pub const BOARD: &str = include_str!("board.js");
/// `TEXTS`: every word of the pages, in every language.
pub const TEXTS: &str = super::texts::SCRIPT;
/// `text(name, values)` in the reader's language, `translate()`, `takeLanguage(then)`; needs [`TEXTS`].
pub const LANGUAGE: &str = include_str!("language.js");
/// `Chart`: curves over the steps of a game.
pub const CHARTS: &str = include_str!("charts.js");
/// `Packed`: what the program's numbers mean; `element(name, text, class)`; numbers as words.
pub const PACKED: &str = include_str!("packed.js");
/// `Link`: the connection to the program that serves the page.
pub const LINK: &str = include_str!("link.js");
/// All of them, for a page with a board, curves and the program behind it.
pub const SCRIPTS: [&str; 6] = [BOARD, TEXTS, LANGUAGE, CHARTS, PACKED, LINK];
/// The style of boards, stones, curves and panels, on top of what all pages share.
pub const STYLE: &str = include_str!("pieces.css");

/// A script as a source of a content security policy: nothing else may run.
pub fn script_source(script: &str) -> String {
    format!("'sha256-{}'", BASE64.encode(&Sha256::digest(script.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_text() {
        // The example of the specification of content security policies.
        assert_eq!(
            script_source("alert('Hello, world.');"),
            "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
        );
    }
}
