//! Tests of result pages in a browser: those of `kosumi match`, `kosumi regress`, `kosumi sgf stats` and
//! `kosumi review FOLDER`, tested by `tests/pages/results.mjs`.
//!
//! Pictures are written to `target/tmp/NAME-page`.

use crate::browser::{Browser, KOSUMI};
use std::fs;
use std::path::Path;
use std::process::Command;

/// String that must be escaped everywhere.
const HOSTILE: &str = "<b>x</script><script>window.broken=1</script>";

/// Creates `page.html` in an empty folder and runs the script on it.
fn visit(kind: &str, make: impl FnOnce(&Path) -> Vec<String>) {
    visit_file(kind, "page.html", make);
}

/// Creates a page in an empty folder and runs the script on it.
fn visit_file(kind: &str, file: &str, make: impl FnOnce(&Path) -> Vec<String>) {
    let Some(browser) = Browser::find(&format!("{kind}-page")) else { return };
    let arguments = make(&browser.folder);
    let made = Command::new(KOSUMI)
        .args(&arguments)
        .current_dir(&browser.folder)
        .env("KOSUMI_MODEL", kosumi_test_support::small_network())
        .output()
        .unwrap();
    let page = browser.folder.join(file);
    assert!(page.exists(), "{}", String::from_utf8_lossy(&made.stderr));
    browser.run("results.mjs", &[&kind, &page]);
}

fn owned<const N: usize>(arguments: [&str; N]) -> Vec<String> {
    arguments.map(str::to_owned).to_vec()
}

#[test]
fn the_games_of_a_match_can_be_gone_through() {
    visit("match", |folder| {
        fs::create_dir(folder.join("sgf")).unwrap();
        let named =
            format!("\"{KOSUMI}\" gtp --threads 1 --playouts 2 --memory 16 --override-version \"{HOSTILE}\"");
        let other = "builtin:playouts=1,threads=1,memory=16";
        owned(["match", &named, other, "--games", "4", "--seed", "1", "--sgf", "sgf", "--html", "page.html"])
    });
}

#[test]
fn failures_are_shown_and_known_ones_when_asked_for() {
    visit("regress", |folder| {
        let suite = "boardsize 19\nclear_board\nplay b Q16\nplay w D4\nplay b D16\nplay w Q4\nplay b C6\n\
            1 reg_genmove white\n#? [A1]\n2 reg_genmove white\n#? [T19]*\n3 reg_genmove black\n#? [!R3]\n\
            4 no_such_command\n#? [1]\n5 name\n#? [<i>]\n";
        fs::write(folder.join("suite.tst"), suite).unwrap();
        owned([
            "regress",
            "suite.tst",
            "--no-model",
            "--playouts",
            "20",
            "--threads",
            "1",
            "--html",
            "page.html",
        ])
    });
}

/// Returns 60 games from several years, with several board sizes, results and players.
fn collection() -> String {
    let game = |number: usize| {
        let size = [9, 19, 19][number % 3];
        let players = [HOSTILE, "Shusaku", "a player whose name is longer than others have it", "白石"];
        let [black, white] = [players[number % 4], players[(number + 1) % 4]];
        let results = ["B+R", "W+3.5", "B+T", "W+R", "0", "Void", "?"];
        let ranks = ["9d", "1d", "5k", "30k", "2p"];
        let mut text = format!(
            "(;GM[1]FF[4]SZ[{size}]KM[{}]PB[{black}]PW[{white}]BR[{}]WR[{}]RE[{}]DT[{}-01-01]",
            [6.5, 7.5, 0.5][number % 3],
            ranks[number % 5],
            ranks[number % 4],
            results[number % 7],
            2001 + number % 9 * 2,
        );
        for index in 0..(number * 7) % 80 {
            let letter = |number: usize| char::from(b'a' + u8::try_from(number).unwrap());
            let color = ["B", "W"][index % 2];
            text += &format!(";{color}[{}{}]", letter(index % 9), letter(index / 9));
        }
        text + ")\n"
    };
    (0..60).map(game).collect()
}

#[test]
fn a_collection_is_seen_at_a_glance() {
    visit("collection", |folder| {
        fs::write(folder.join("games.sgf"), collection()).unwrap();
        owned(["sgf", "stats", "games.sgf", "--html", "page.html"])
    });
}

#[test]
fn the_index_of_reviews_can_be_sorted() {
    visit_file("reviews", "out/index.html", |folder| {
        fs::create_dir_all(folder.join("games")).unwrap();
        let games = [("Cho", "W+10.5"), ("ann", "B+R"), (HOSTILE, "Void"), ("Bob", "B+2.5"), ("Dan", "0")];
        for (number, (name, result)) in games.into_iter().enumerate() {
            // The second stone of White is in the corner in some games only.
            let bad = if number % 2 == 0 { "aa" } else { "gc" };
            let record = format!(
                "(;SZ[9]KM[5.5]PB[{}]PW[Eve]RE[{result}];B[ee];W[cg];B[cc];W[{bad}];B[gg];W[gd])",
                name.replace(']', "")
            );
            fs::write(folder.join(format!("games/{number}.sgf")), record).unwrap();
        }
        // A game without moves has no accuracy and no worst move.
        fs::write(folder.join("games/empty.sgf"), "(;SZ[9]PB[Fay])").unwrap();
        owned([
            "review",
            "games",
            "-o",
            "out",
            "--html",
            "--no-model",
            "--playouts",
            "200",
            "--threads",
            "1",
            "--memory",
            "16",
        ])
    });
}
