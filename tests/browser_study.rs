//! The page of `kosumi review GAME.sgf --live` in a browser: `tests/pages/study.mjs` works there.
//!
//! Needs what `tests/browser_play.rs` needs. Pictures are left in `target/tmp/study-page`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A small game with bad moves, and a variation of the record with a comment.
const GAME: &str = "(;SZ[9]KM[5.5]PB[Black & Co.]PW[White <b>]\
    (;B[ee];W[eg];B[gd];W[ce];B[dg];W[df];B[ef];W[dh];B[aa];W[ch];B[cf];W[ia];B[fg];W[fh];B[gh];W[de])\
    (;B[gg]C[<i>another</i>];W[cc]))";

#[test]
fn moves_are_tried_in_a_browser() {
    let pages = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/pages");
    let Some(chromium) =
        kosumi_test_support::node(&pages, "playwright-core").and_then(|()| kosumi_test_support::chromium())
    else {
        return;
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("study-page");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("game.sgf"), GAME).unwrap();
    let went = Command::new("node")
        .arg(pages.join("study.mjs"))
        .args([&chromium, &PathBuf::from(env!("CARGO_BIN_EXE_kosumi")), &folder])
        .env("KOSUMI_MODEL", kosumi_test_support::small_network())
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&went.stdout), String::from_utf8_lossy(&went.stderr));
    assert!(went.status.success() && out.contains("all well"), "{out}{err}");
}
