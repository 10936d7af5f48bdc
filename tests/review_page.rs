//! The page of `kosumi review` in a browser: `tests/pages/review.mjs` goes through it.
//!
//! Needs node, `npm ci` in `tests/pages`, and Chromium (where it usually is, or in `KOSUMI_CHROMIUM`); says so and
//! does nothing where one of them is missing. Pictures are left in `target/tmp/review-page`.

use kosumi::board::{Color, Point, PointMap};
use kosumi::review::{Change, MainLine};
use kosumi::rules::Rules;
use kosumi::sgf::Record;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small game with a capture, a set-up, passes, and moves that are bad beyond doubt.
const GAME: &str = "(;SZ[9]KM[5.5]PB[Black & Co.]PW[White <b>]RE[B+R]\
    ;B[ee];W[eg];B[gd];W[ce];B[dg];W[df];B[ef];W[dh];B[cg];W[ch];B[cf]C[</script><script>window.broken=1</script>\nsecond line]\
    ;W[eh];B[];W[aa];B[fg];W[fh];B[gh];W[de];B[ed];W[dd];B[dc];W[cd];B[cc];W[bc];B[ia];W[bb];B[bf];W[ai];B[ii]\
    ;AB[ha]AE[ia];W[];B[])";

/// Who stands where after every step, by name.
fn boards(line: &MainLine) -> Value {
    let mut stones: PointMap<Option<Color>> = PointMap::filled(None);
    let drawn = |stones: &PointMap<Option<Color>>| -> Value {
        let name = |color| if color == Color::Black { "black" } else { "white" };
        let on = |point: Point| stones[point].map(|color| json!([point.to_string(), name(color)]));
        line.size().points().filter_map(on).collect()
    };
    let mut boards = Vec::new();
    for step in line.steps() {
        match &step.change {
            Change::SetUp(points) => points.iter().for_each(|&(point, stone)| stones[point] = stone),
            Change::Move { color, mv, lifted } => {
                if let Some(point) = mv.point() {
                    stones[point] = Some(*color);
                }
                lifted.iter().for_each(|&point| stones[point] = None);
            }
        }
        boards.push(drawn(&stones));
    }
    Value::from(boards)
}

/// What a browser test needs, or what is missing.
fn browser(pages: &Path) -> Result<PathBuf, String> {
    let node = Command::new("node").arg("--version").output();
    if !node.is_ok_and(|output| output.status.success()) {
        return Err("there is no node".to_owned());
    }
    if !pages.join("node_modules/playwright-core").is_dir() {
        return Err("npm ci has not been run in tests/pages".to_owned());
    }
    let named = std::env::var_os("KOSUMI_CHROMIUM").map(PathBuf::from);
    let usual =
        ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].map(PathBuf::from);
    named
        .into_iter()
        .chain(usual)
        .find(|path| path.is_file())
        .ok_or_else(|| "there is no Chromium".to_owned())
}

#[test]
#[allow(clippy::print_stderr)]
fn the_page_works_in_a_browser() {
    let pages = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/pages");
    let chromium = match browser(&pages) {
        Ok(chromium) => chromium,
        Err(missing) => {
            eprintln!("skipped: {missing}");
            return;
        }
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("review-page");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("game.sgf"), GAME).unwrap();
    let arguments =
        ["--html", "--json", "--playouts", "400", "--threads", "1", "--memory", "16", "--no-model"];
    let made = Command::new(env!("CARGO_BIN_EXE_kosumi"))
        .args(["review", "game.sgf"])
        .args(arguments)
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));

    let record = Record::parse(GAME.as_bytes()).unwrap();
    let line = MainLine::of_record(&record, Rules::default(), 7.5).unwrap();
    let numbers: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("game.review.json")).unwrap()).unwrap();
    assert!(numbers["worst"].as_array().unwrap().len() >= 3, "{numbers}");
    let expected = json!({
        "boards": boards(&line),
        "bad": numbers["worst"],
        "comment": [11, "</script><script>window.broken=1</script>\nsecond line"],
    });
    fs::write(folder.join("expected.json"), expected.to_string()).unwrap();
    let went = Command::new("node")
        .arg(pages.join("review.mjs"))
        .args([&chromium, &folder.join("game.review.html"), &folder.join("expected.json"), &folder])
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&went.stdout), String::from_utf8_lossy(&went.stderr));
    assert!(went.status.success() && out.contains("all well"), "{out}{err}");
}
