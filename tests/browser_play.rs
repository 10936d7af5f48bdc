//! The page of `kosumi play` in a browser: `tests/pages/play.mjs` plays there, `tests/pages/hostile.mjs` tries to break in.
//!
//! Needs node, `npm ci` in `tests/pages`, and Chromium (where it usually is, or in `KOSUMI_CHROMIUM`); says so and
//! does nothing where one of them is missing. Pictures and figures are left in `target/tmp/play-page`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Runs a script of `tests/pages` with the browser, the program and a folder.
fn run(script: &str, folder: &str) {
    let pages = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/pages");
    let Some(chromium) =
        kosumi_test_support::node(&pages, "playwright-core").and_then(|()| kosumi_test_support::chromium())
    else {
        return;
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let went = Command::new("node")
        .arg(pages.join(script))
        .args([&chromium, &PathBuf::from(env!("CARGO_BIN_EXE_kosumi")), &folder])
        .env("KOSUMI_MODEL", kosumi_test_support::small_network())
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&went.stdout), String::from_utf8_lossy(&went.stderr));
    assert!(went.status.success() && out.contains("all well"), "{out}{err}");
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
