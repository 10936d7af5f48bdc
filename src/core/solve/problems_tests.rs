//! The set of problems: drawings in, verdicts out; and every answer against all positions that can come up.

use super::attractor;
use super::bits::Bits;
use super::ground::ENDLESS;
use super::problems::{Job, Setting, with_ground};
use super::{Aim, Question, Reading, Region, Success, Verdict, judge};
use crate::board::{Board, Color, Point};

/// One problem of the file.
#[derive(Debug)]
struct Drawn {
    name: String,
    point: Point,
    /// The status; and whether the opponent captures, moving first and second.
    answer: String,
    board: Board,
}

/// The problems of `problems.txt`: a line `name | stone | answer`, and a drawing.
fn problems() -> Vec<Drawn> {
    let read = |block: &str| {
        let lines: Vec<&str> = block.lines().filter(|line| !line.starts_with('#')).collect();
        let [head, drawing @ ..] = lines.as_slice() else { return None };
        let [name, stone, answer] = head.split(" | ").collect::<Vec<_>>()[..] else { panic!("{head}") };
        let board: Board = drawing.join("\n").parse().unwrap();
        let point = board.size().points().find(|point| point.to_string() == stone).unwrap();
        Some(Drawn { name: name.to_owned(), point, answer: answer.to_owned(), board })
    };
    include_str!("problems.txt").split("\n\n").filter_map(|block| read(block.trim())).collect()
}

fn question<'a>(drawn: &'a Drawn, region: &'a Region, aim: Aim) -> Question<'a> {
    Question { board: &drawn.board, region, aim, suicide: false, memory: 16 << 20 }
}

fn text(verdict: &Verdict) -> String {
    format!("{:?} {:?} {:?}", verdict.status, verdict.attack.success, verdict.defence.success)
}

#[test]
fn drawings_in_verdicts_out() {
    let problems = problems();
    assert!(problems.len() >= 150, "{}", problems.len());
    let mut wrong = Vec::new();
    for drawn in &problems {
        let region = Region::of_group(&drawn.board, drawn.point).unwrap();
        let verdict = judge(&question(drawn, &region, Aim::Capture), &|nodes| nodes > 2_000_000).unwrap();
        if text(&verdict) != drawn.answer {
            wrong.push(format!(
                "{}: {} instead of {}\n{}",
                drawn.name,
                text(&verdict),
                drawn.answer,
                drawn.board
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Asks for all numbers of threats that matter.
struct Compare {
    first: Color,
    reading: Reading,
    most: usize,
    /// Questions that both could answer.
    compared: usize,
}

impl Job for Compare {
    type Output = ();

    fn run<B: Bits>(&mut self, question: &Question<'_>, setting: Setting<B>) {
        let prover = setting.goal.prover as usize;
        let forces = |mine: u8, theirs: u8| {
            let mut threats = [theirs; 2];
            threats[prover] = mine;
            let root = setting.root(question.board, self.first, threats);
            let settled = |position: &_| setting.goal.decided(&setting.ground, position).map(|it| it.won);
            attractor::forces(&setting.ground, &setting.goal, &root, self.most, settled)
        };
        let expected = match forces(0, 0) {
            Some(true) => forces(0, ENDLESS).map(|won| if won { "yes" } else { "ko" }),
            Some(false) => forces(ENDLESS, 0).map(|won| if won { "ko" } else { "no" }),
            None => None,
        };
        let Some(expected) = expected else { return };
        let found = match self.reading.success {
            Success::Yes => "yes",
            Success::No => "no",
            Success::KoFirst(_) | Success::KoSecond(_) => "ko",
            Success::Unknown => return,
        };
        assert_eq!(found, expected, "{} first\n{}", self.first, question.board);
        self.compared += 1;
    }
}

fn compare(most: usize) -> usize {
    let mut compared = 0;
    for drawn in &problems() {
        let region = Region::of_group(&drawn.board, drawn.point).unwrap();
        let question = question(drawn, &region, Aim::Capture);
        let Ok(verdict) = judge(&question, &|nodes| nodes > 2_000_000) else { panic!("{}", drawn.name) };
        let owner = drawn.board.cell(drawn.point).color().unwrap();
        for (first, reading) in [(owner.opponent(), verdict.attack), (owner, verdict.defence)] {
            let mut job = Compare { first, reading, most, compared: 0 };
            with_ground(&question, &mut job).unwrap();
            compared += job.compared;
        }
    }
    compared
}

#[test]
fn answers_are_those_of_all_positions() {
    assert!(compare(3_000) > 100);
}

#[test]
#[ignore = "takes a minute: cargo test --profile checked -p kosumi-core solve::problems_tests -- --ignored"]
fn answers_are_those_of_all_positions_in_large_regions() {
    assert!(compare(3_000_000) > 250);
}
