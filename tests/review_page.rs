//! The page of `kosumi review` in a browser, tested by `tests/pages/review.mjs`.
//!
//! Pictures are written to `target/tmp/review-page`.

use crate::browser::{Browser, KOSUMI};
use kosumi_go::board::{Color, Point, PointMap};
use kosumi_go::rules::Rules;
use kosumi_go::sgf::Record;
use kosumi_tools::review::{Change, MainLine};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

/// Small game with a capture, a set-up, passes, clearly bad moves, and a variation.
const GAME: &str = "(;SZ[9]KM[5.5]PB[Black & Co.]PW[White <b>]RE[B+R]\
    ;B[ee];W[eg](;B[gd];W[ce];B[dg];W[df];B[ef];W[dh];B[cg];W[ch];B[cf]C[</script><script>window.broken=1</script>\nsecond line]\
    ;W[eh];B[];W[aa];B[fg];W[fh];B[gh];W[de];B[ed];W[dd];B[dc];W[cd];B[cc];W[bc];B[ia];W[bb];B[bf];W[ai];B[ii]\
    ;AB[ha]AE[ia];W[];B[])(;B[aa];W[ii]C[<i>another</i>]))";

/// Returns the stones after every step, by the names of their points.
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

#[test]
fn the_page_works_in_a_browser() {
    let Some(browser) = Browser::find("review-page") else { return };
    let folder = &browser.folder;
    fs::write(folder.join("game.sgf"), GAME).unwrap();
    let arguments =
        ["--html", "--json", "--playouts", "400", "--threads", "1", "--memory", "16", "--no-model"];
    let made = Command::new(KOSUMI)
        .args(["review", "game.sgf"])
        .args(arguments)
        .current_dir(folder)
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
        "moves": line.move_count(),
        "comment": [11, "</script><script>window.broken=1</script>\nsecond line"],
    });
    fs::write(folder.join("expected.json"), expected.to_string()).unwrap();
    browser.run("review.mjs", &[&folder.join("game.review.html"), &folder.join("expected.json")]);
}
