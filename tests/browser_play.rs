//! The page of `kosumi play` in a browser: `tests/pages/play.mjs` plays, and `tests/pages/hostile.mjs` attacks the
//! server.
//!
//! Pictures and figures are written to `target/tmp/play-page`.

use crate::browser::{Browser, KOSUMI};

/// Runs a script with the program.
fn run(script: &str, name: &str) {
    if let Some(browser) = Browser::find(name) {
        browser.run(script, &[&KOSUMI]);
    }
}

#[test]
fn games_are_played_in_a_browser() {
    run("play.mjs", "play-page");
}

#[test]
fn nothing_hostile_comes_through() {
    run("hostile.mjs", "hostile-page");
}

#[test]
fn the_pieces_of_pages_do_what_they_say() {
    run("pieces.mjs", "page-pieces");
}
