//! Tests of small records with every kind of cycle, and a comparison with `Game` under each rule on random games.

use super::*;
use crate::board::BoardSize;
use crate::game::{Game, IllegalMove};
use crate::rng::Rng;
use crate::rules::{KoRule, Rules};
use crate::sgf::{Record, ReplayStep, Strictness};
use proptest::prelude::*;

/// Returns the repetitions of a record with the numbers of their moves.
fn repetitions(sgf: &str) -> Vec<(usize, Repetition)> {
    let mut found = Vec::new();
    let mut finder = RepetitionFinder::default();
    let record = Record::parse(sgf.as_bytes()).unwrap();
    let rules = Rules { ko: KoRule::Simple, ..Rules::default() };
    let replayed = record.replay_observed(rules, 0.5, None, Strictness::Tolerant, |step, game| match step {
        ReplayStep::Position { .. } if game.records().is_empty() => {
            finder.start(game.board(), game.to_move())
        }
        ReplayStep::Position { .. } => {}
        ReplayStep::Move { number, objection, .. } => {
            let last = game.records().last().unwrap();
            let repetition = finder.played(game.board(), last);
            let is_simple_ko = repetition.as_ref().is_some_and(|found| found.cycle == Cycle::SimpleKo);
            assert_eq!(objection == Some(IllegalMove::Ko), is_simple_ko, "move {number}");
            found.extend(repetition.map(|repetition| (number, repetition)));
        }
    });
    assert_eq!(replayed.unwrap().warnings, []);
    found
}

/// Returns a position of the regression suites with moves appended.
fn position(name: &str, moves: &str) -> String {
    let path = format!("{}/../../sgf-tests/suites/basics/sgf/{name}.sgf", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let end = text.rfind(')').unwrap();
    format!("{}{moves})", &text[..end])
}

/// Returns one line per repetition: `number: cycle length/passes PSK SSK NSSK`, followed by `…` if the cycle continues.
fn summary(sgf: &str) -> String {
    let line = |(number, found): (usize, Repetition)| {
        let rule = |forbids: bool, name: &'static str| if forbids { name } else { "-" };
        let Forbidden { positional, situational, natural_situational } = found.forbidden;
        format!(
            "{number}: {} {}/{} {} {} {}{}",
            found.cycle.name(),
            found.length,
            found.passes,
            rule(positional, "PSK"),
            rule(situational, "SSK"),
            rule(natural_situational, "NSSK"),
            if found.continues { " …" } else { "" }
        )
    };
    repetitions(sgf).into_iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn sending_two_returning_one() {
    // The position and the moves of KataGo's test, continued: White takes the returned stone.
    let moves = ";B[fb];W[];B[dc];W[ca];B[aa];W[ba]";
    assert_eq!(summary(&position("sending-two", moves)), "6: sending-two 3/0 PSK - -");
    // If Black passes instead of playing, the same side is to move again.
    let moves = ";B[dc];W[ca];B[aa];W[ba];B[];W[ca];B[aa];W[ba]";
    assert_eq!(
        summary(&position("sending-two", moves)),
        "4: sending-two 3/0 PSK - -\n6: sending-two 4/1 PSK SSK NSSK\n\
         7: sending-two 4/1 PSK SSK NSSK …\n8: sending-two 4/1 PSK SSK NSSK …"
    );
}

#[test]
fn eternal_life() {
    let round = ";B[ce];W[ee];B[de];W[fe]";
    assert_eq!(
        summary(&position("eternal-life", &round.repeat(2))),
        "4: eternal-life 4/0 PSK SSK -\n5: eternal-life 4/0 PSK SSK NSSK …\n\
         6: eternal-life 4/0 PSK SSK NSSK …\n7: eternal-life 4/0 PSK SSK NSSK …\n\
         8: eternal-life 4/0 PSK SSK NSSK …"
    );
}

/// The form that occurs most in real games: two stones each in the corner, and a ko for which both sides wait.
#[test]
fn eternal_life_and_a_ko() {
    let position = "(;SZ[9:4]AB[fa][ga][ab][bb][gb][bc][cc][fc][cd][ed][fd]\
                    AW[ba][ea][cb][db][fb][hb][dc][ec][gc][bd][dd]";
    let record = format!("{position};B[eb];W[aa];B[ca];W[fb];B[da];W[ba])");
    assert_eq!(summary(&record), "6: eternal-life 6/0 PSK SSK -");
    assert_eq!(repetitions(&record)[0].1.kos, 1);
}

#[test]
fn triple_ko() {
    let moves = ";B[db];W[bc];B[fb];W[dc];B[bb];W[fc]";
    assert_eq!(summary(&position("triple-ko", moves)), "6: triple-ko 6/0 PSK SSK -");
}

#[test]
fn one_ko() {
    let ko = "(;SZ[5]AB[ba][ab][bc]AW[ca][db][cc][bb]";
    // Black captures and White recaptures immediately.
    assert_eq!(summary(&format!("{ko};B[cb];W[bb])")), "2: simple-ko 2/0 PSK SSK -");
    assert_eq!(
        summary(&format!("{ko};B[cb];W[bb];B[cb];W[bb])")),
        "2: simple-ko 2/0 PSK SSK -\n3: simple-ko 2/0 PSK SSK NSSK …\n4: simple-ko 2/0 PSK SSK NSSK …"
    );
    assert_eq!(summary(&format!("{ko};B[cb];W[];B[];W[bb])")), "4: ko-after-passes 4/2 PSK SSK -");
    assert_eq!(summary(&format!("{ko};B[cb];W[ee];B[ea];W[bb])")), "");
    // Set-up restarts the game.
    assert_eq!(summary(&format!("{ko};B[cb];AW[ee];W[bb])")), "");
}

#[test]
fn two_kos_and_suicide() {
    let kos = "(;SZ[11:3]AB[ba][ab][bc][ha][gb][hc]AW[ca][db][cc][bb][ia][jb][ic][hb]";
    let moves = ";B[cb];W[];B[ib];W[bb];B[];W[hb]";
    assert_eq!(summary(&format!("{kos}{moves})")), "6: double-ko 6/2 PSK SSK -");
    // Suicide of two stones. The first of them is then played again alone.
    assert_eq!(summary(&position("suicide", ";B[ea];W[];B[fa]")), "3: suicide 3/1 PSK - -");
}

#[test]
fn passes_are_no_repetitions() {
    assert_eq!(summary("(;SZ[5];B[aa];W[];B[];W[];B[])"), "");
    let found = repetitions("(;SZ[5]AB[ba][ab][bc]AW[ca][db][cc][bb];B[cb];B[];W[bb])");
    assert_eq!(found.len(), 1);
    assert!(!found[0].1.is_alternating);
    assert_eq!(found[0].1.captured, ByColor::new(1, 1));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..Default::default() })]

    /// The detected repetitions are exactly the moves that `Game` refuses for superko under each rule.
    #[test]
    fn the_rules_agree(seed in any::<u64>(), columns in 1usize..5, rows in 1usize..4) {
        let mut rng = Rng::new(seed);
        let size = BoardSize::new(columns, rows).unwrap();
        let game = |ko| Game::new(size, Rules { ko, suicide: true, ..Rules::default() }, 0.0);
        let mut games = [KoRule::Positional, KoRule::Situational, KoRule::NaturalSituational].map(game);
        let mut finder = RepetitionFinder::default();
        finder.start(games[0].board(), games[0].to_move());
        let points: Vec<Point> = size.points().collect();
        for _ in 0..60 {
            let color = if rng.chance(100) { games[0].to_move().opponent() } else { games[0].to_move() };
            let point = points[rng.below(points.len() as u32) as usize];
            let mv = if rng.chance(100) { Move::Pass } else { Move::Play(point) };
            let refused: Vec<bool> =
                games.iter().map(|game| game.check(color, mv) == Err(IllegalMove::Superko)).collect();
            if games.iter_mut().any(|game| game.play_tolerant(color, mv).is_err()) {
                continue;
            }
            let found = finder.played(games[0].board(), games[0].records().last().unwrap());
            let flags = found.map_or(vec![false; 3], |found| {
                let Forbidden { positional, situational, natural_situational } = found.forbidden;
                vec![positional, situational, natural_situational]
            });
            prop_assert_eq!(flags, refused, "{} {}", color, mv);
        }
    }
}
