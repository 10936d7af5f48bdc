//! Tests of territory, seki and false eyes against the published tests of another scorer.

use kosumi_go::board::{Board, BoardSize, Color, Point, PointSet};
use kosumi_go::rules::Rules;
use kosumi_go::score;

const POSITIONS: &str = include_str!("territory.txt");

const GAP: &str = "goscorer treats a gap beside a bamboo joint, or a gap of one point, as closed; Kosumi requires a closed border";
const WORTH: &str = "goscorer values an eye with thrown-in stones or adjacent false points differently";

/// Positions with different results, and the reason.
const DIFFERENT: &[(&str, &str)] = &[
    ("bamboo_interleave_seki", GAP),
    ("bamboo_reachable_seki", GAP),
    ("cross_noseal", GAP),
    ("dead_stone_marking", GAP),
    ("false_eyes_chain_bamboo", GAP),
    ("false_eyes_chain_big_false_eye", GAP),
    ("false_eyes_chain_big_false_eye_aliveend", GAP),
    ("false_eyes_chain_loose_eye", GAP),
    ("false_eyes_chain_loose_eye_3", GAP),
    ("side_bamboo_cut", GAP),
    ("cross_poke", WORTH),
    ("three_point_false_eye", WORTH),
    ("three_point_false_eye_cycle", WORTH),
    ("throwin_false_eye_chains", WORTH),
    ("various_eyefillings2b", WORTH),
    ("various_eyefillings2c", WORTH),
];

struct Position {
    name: &'static str,
    rows: Vec<&'static str>,
    expected: Vec<&'static str>,
}

fn positions() -> Vec<Position> {
    let lines: Vec<&str> = POSITIONS.lines().filter(|line| !line.starts_with('#')).collect();
    let blocks = lines.split(|line| line.is_empty()).filter(|block| !block.is_empty());
    blocks
        .map(|block| {
            let rows = block[1..].iter().map(|row| row.split_once(' ').expect("two drawings"));
            let (rows, expected) = rows.unzip();
            Position { name: block[0], rows, expected }
        })
        .collect()
}

impl Position {
    /// Returns Kosumi's territory, drawn as in the file.
    fn territory(&self) -> Vec<String> {
        let size = BoardSize::new(self.rows[0].len(), self.rows.len()).expect("a size");
        let mut dead = PointSet::EMPTY;
        let mut stones = Vec::new();
        let point = |column: usize, row: usize| Point::new(column, self.rows.len() - 1 - row);
        for (row, text) in self.rows.iter().enumerate() {
            for (column, cell) in text.bytes().enumerate() {
                let at = point(column, row);
                match cell {
                    b'x' | b'b' => stones.push((at, Color::Black)),
                    b'o' | b'w' => stones.push((at, Color::White)),
                    _ => continue,
                }
                if matches!(cell, b'b' | b'w') {
                    dead.insert(at);
                }
            }
        }
        let board = Board::from_stones(size, stones).expect("liberties");
        let rules = Rules::preset("japanese").expect("a preset").rules;
        let owners = score::scoring_owner(&board, &dead, rules);
        let drawn = |row: usize| {
            let cells = self.rows[row].bytes().enumerate().map(|(column, cell)| {
                let is_living = matches!(cell, b'x' | b'o');
                match owners[point(column, row)].filter(|_| !is_living) {
                    Some(Color::Black) => 'z',
                    Some(Color::White) => 'a',
                    None => char::from(cell),
                }
            });
            cells.collect()
        };
        (0..self.rows.len()).map(drawn).collect()
    }
}

#[test]
fn territory_equals_goscorer_except_listed_positions() {
    let positions = positions();
    assert!(positions.len() >= 70, "{}", positions.len());
    let mut report = String::new();
    for position in &positions {
        let found = position.territory();
        let is_listed = DIFFERENT.iter().any(|(name, _)| *name == position.name);
        if (found != position.expected) != is_listed {
            report += &format!("{}\n", position.name);
            for ((row, expected), found) in position.rows.iter().zip(&position.expected).zip(&found) {
                report += &format!("  {row}  {expected}  {found}\n");
            }
        }
    }
    assert!(report.is_empty(), "not as listed:\n{report}");
    for (name, _) in DIFFERENT {
        assert!(positions.iter().any(|position| position.name == *name), "{name}");
    }
}
