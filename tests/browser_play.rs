//! The page of `kosumi play` in a browser: `tests/pages/play.mjs` plays, `tests/pages/tree.mjs` studies,
//! `tests/pages/problems.mjs` solves problems, and `tests/pages/hostile.mjs` attacks the server. `tests/pages/axe.mjs`
//! runs axe-core over this page and over pages that are files.
//!
//! Pictures and measured times are written to `target/tmp/play-page`.

use crate::browser::{Browser, KOSUMI};

/// Runs a script of `tests/pages` with the program.
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
fn games_are_studied_in_a_browser() {
    run("tree.mjs", "tree-page");
}

#[test]
fn problems_are_solved_and_stones_captured_in_a_browser() {
    run("problems.mjs", "problems-page");
}

#[test]
fn hostile_requests_are_refused() {
    run("hostile.mjs", "hostile-page");
}

#[test]
fn axe_finds_nothing_serious_on_any_page() {
    if let Some(browser) = Browser::find_with("axe-pages", "axe-core") {
        browser.run("axe.mjs", &[&KOSUMI]);
    }
}

#[test]
fn page_components_work() {
    run("pieces.mjs", "page-pieces");
}
