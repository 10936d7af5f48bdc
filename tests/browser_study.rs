//! The page of `kosumi review GAME.sgf --live` in a browser, driven by `tests/pages/study.mjs`.
//!
//! Pictures are written to `target/tmp/study-page`.

use crate::browser::{Browser, KOSUMI};
use std::fs;

/// Small game with bad moves, and a variation with a comment.
const GAME: &str = "(;SZ[9]KM[5.5]PB[Black & Co.]PW[White <b>]\
    (;B[ee];W[eg];B[gd];W[ce];B[dg];W[df];B[ef];W[dh];B[aa];W[ch];B[cf];W[ia];B[fg];W[fh];B[gh];W[de])\
    (;B[gg]C[<i>another</i>];W[cc]))";

#[test]
fn moves_are_tried_in_a_browser() {
    let Some(browser) = Browser::find("study-page") else { return };
    fs::write(browser.folder.join("game.sgf"), GAME).unwrap();
    browser.run("study.mjs", &[&KOSUMI]);
}
