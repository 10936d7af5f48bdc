//! Comparison of the solver with plain minimax, which uses no table and no proof numbers, another board, and superko by
//! a list of all positions.

use super::bits::{Bits, Wide};
use super::enumeration;
use super::goal::{Goal, Kind};
use super::images::Images;
use super::path::Repetition;
use super::table::Table;
use super::threads::SearchQuestion as Asked;
use super::window::{Position, UNLIMITED, Window};
use kosumi_go::board::{Board, BoardSize, Color, Point};
use kosumi_go::rng::Rng;
use kosumi_go::rules::KoRule;

/// A position and a question about it.
#[derive(Clone, Debug)]
struct Case {
    columns: usize,
    rows: usize,
    /// 0 empty, 1 Black, 2 White, row by row from the bottom.
    cells: Vec<u8>,
    to_move: Color,
    rule: KoRule,
    suicide: bool,
    /// Side that wins cycles, under simple ko.
    cycles: Color,
    question: Question,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Question {
    /// Black gets at least this score.
    Score(i32),
    /// The opponent captures the chain at this cell.
    Take(usize),
    /// No stone of this colour is left on the board at the end of the game.
    Clear(Color),
}

/// A position of a line: stones, side to move, ko, passes, and the side that moved if it played a stone.
type LinePosition = (Vec<u8>, Color, Option<usize>, u8, Option<Color>);

/// Plain minimax.
struct Oracle<'a> {
    case: &'a Case,
    neighbours: Vec<Vec<usize>>,
    /// Every position of the line.
    line: Vec<LinePosition>,
    nodes: u64,
    limit: u64,
}

fn neighbours(columns: usize, rows: usize) -> Vec<Vec<usize>> {
    let cell = |column: usize, row: usize| row * columns + column;
    let of = |index: usize| {
        let (column, row) = (index % columns, index / columns);
        let mut all = Vec::new();
        if column > 0 {
            all.push(cell(column - 1, row));
        }
        if column + 1 < columns {
            all.push(cell(column + 1, row));
        }
        if row > 0 {
            all.push(cell(column, row - 1));
        }
        if row + 1 < rows {
            all.push(cell(column, row + 1));
        }
        all
    };
    (0..columns * rows).map(of).collect()
}

fn code(color: Color) -> u8 {
    color as u8 + 1
}

/// Returns the connected cells of the same contents, and whether an empty cell is adjacent to them.
fn connected(neighbours: &[Vec<usize>], cells: &[u8], start: usize) -> (Vec<usize>, bool) {
    let mut found = vec![start];
    let mut free = false;
    let mut next = 0;
    while next < found.len() {
        for &other in &neighbours[found[next]] {
            free |= cells[other] == 0;
            if cells[other] == cells[start] && !found.contains(&other) {
                found.push(other);
            }
        }
        next += 1;
    }
    (found, free)
}

impl<'a> Oracle<'a> {
    fn new(case: &'a Case, limit: u64) -> Oracle<'a> {
        let line = vec![(case.cells.clone(), case.to_move, None, 0, None)];
        Oracle { case, neighbours: neighbours(case.columns, case.rows), line, nodes: 0, limit }
    }

    fn prover(&self) -> Color {
        match self.case.question {
            Question::Score(_) => Color::Black,
            Question::Take(cell) => {
                if self.case.cells[cell] == 1 {
                    Color::White
                } else {
                    Color::Black
                }
            }
            Question::Clear(color) => color.opponent(),
        }
    }

    fn score(&self, cells: &[u8]) -> i32 {
        let mut score = 0;
        for (index, &cell) in cells.iter().enumerate() {
            score += match cell {
                1 => 1,
                2 => -1,
                _ => {
                    let (region, _) = connected(&self.neighbours, cells, index);
                    let touches = |color: u8| {
                        region.iter().any(|&p| self.neighbours[p].iter().any(|&n| cells[n] == color))
                    };
                    i32::from(touches(1) && !touches(2)) - i32::from(touches(2) && !touches(1))
                }
            };
        }
        score
    }

    fn at_end(&self, cells: &[u8]) -> bool {
        match self.case.question {
            Question::Score(at_least) => self.score(cells) >= at_least,
            Question::Take(_) => false,
            Question::Clear(color) => !cells.contains(&code(color)),
        }
    }

    /// Returns whether the prover wins; `None` if that takes too long.
    fn wins(&mut self) -> Option<bool> {
        self.nodes += 1;
        if self.nodes > self.limit || self.line.len() > 400 {
            return None;
        }
        let (cells, to_move, ko, passes, _) = self.line[self.line.len() - 1].clone();
        let prover = self.prover();
        if passes == 2 {
            return Some(self.at_end(&cells));
        }
        let mine = to_move == prover;
        // The pass comes first, because the end of the game is nearest after it.
        if self.case.question_has_passes() || !mine {
            let won = self.go((cells.clone(), to_move.opponent(), None, passes + 1, None))?;
            if won == mine {
                return Some(won);
            }
        }
        for point in 0..cells.len() {
            if cells[point] != 0 || ko == Some(point) && self.case.rule == KoRule::Simple {
                continue;
            }
            let mut after = cells.clone();
            after[point] = code(to_move);
            let mut captured = Vec::new();
            for &other in &self.neighbours[point] {
                if after[other] == code(to_move.opponent()) {
                    let (chain, free) = connected(&self.neighbours, &after, other);
                    if !free {
                        for stone in chain {
                            after[stone] = 0;
                            captured.push(stone);
                        }
                    }
                }
            }
            let (own, free) = connected(&self.neighbours, &after, point);
            if !free {
                if own.len() == 1 || !self.case.suicide {
                    continue;
                }
                own.iter().for_each(|&stone| after[stone] = 0);
            }
            let around = &self.neighbours[point];
            let single = own.len() == 1 && around.iter().filter(|&&n| after[n] == 0).count() == 1;
            let ko = (captured.len() == 1 && single).then(|| captured[0]);
            let repeats = self.line.iter().any(|(stones, turn, _, _, mover)| {
                *stones == after
                    && match self.case.rule {
                        KoRule::Simple => false,
                        KoRule::Positional => true,
                        KoRule::Situational => *turn == to_move.opponent(),
                        KoRule::NaturalSituational => *mover == Some(to_move),
                    }
            });
            if repeats {
                continue;
            }
            let won = self.go((after, to_move.opponent(), ko, 0, Some(to_move)))?;
            if won == mine {
                return Some(won);
            }
        }
        Some(!mine)
    }

    fn go(&mut self, next: LinePosition) -> Option<bool> {
        if let Question::Take(cell) = self.case.question {
            // The target is the chain at the start.
            let (chain, _) = connected(&self.neighbours, &self.case.cells, cell);
            if chain.iter().all(|&stone| next.0[stone] != self.case.cells[cell]) {
                return Some(true);
            }
        }
        let same =
            |step: &LinePosition| (&step.0, step.1, step.2, step.3) == (&next.0, next.1, next.2, next.3);
        if self.case.rule == KoRule::Simple && self.line.iter().any(same) {
            return Some(self.case.cycles == self.prover());
        }
        self.line.push(next);
        let won = self.wins();
        self.line.pop();
        won
    }
}

impl Case {
    fn question_has_passes(&self) -> bool {
        !matches!(self.question, Question::Take(_))
    }

    fn board(&self) -> Board {
        let size = BoardSize::new(self.columns, self.rows).unwrap();
        let stones = self.cells.iter().enumerate().filter_map(|(index, &cell)| {
            let color = match cell {
                1 => Color::Black,
                2 => Color::White,
                _ => return None,
            };
            Some((Point::new(index % self.columns, index / self.columns), color))
        });
        Board::from_stones(size, stones).unwrap()
    }

    /// Returns a race: stones of both sides between rows of stones that are never captured, and liberties beside these
    /// rows.
    fn race(rng: &mut Rng) -> Case {
        let (columns, rows) = [(4, 3), (5, 3), (6, 3), (4, 4), (3, 5)][rng.below(5) as usize];
        let outside = [1 + rng.below(2) as u8, 1 + rng.below(2) as u8];
        let mut cells: Vec<u8> = Vec::new();
        for index in 0..columns * rows {
            let row = index / columns;
            cells.push(match row {
                0 => outside[0],
                _ if row + 1 == rows && rows > 3 => outside[1],
                1 if rng.below(3) > 0 => 0,
                _ => [0, 1, 1, 1, 1, 2][rng.below(6) as usize],
            });
        }
        let neighbours = neighbours(columns, rows);
        for index in 0..cells.len() {
            if cells[index] != 0 {
                let (chain, free) = connected(&neighbours, &cells, index);
                if !free && !chain.iter().any(|&stone| stone < columns) {
                    chain.iter().for_each(|&stone| cells[stone] = 0);
                }
            }
        }
        let color = |rng: &mut Rng| if rng.below(2) == 0 { Color::Black } else { Color::White };
        Case {
            columns,
            rows,
            cells,
            to_move: color(rng),
            rule: KoRule::Simple,
            suicide: rng.below(3) == 0,
            cycles: color(rng),
            question: Question::Clear(Color::Black),
        }
    }

    /// Returns a random small position and question. Most boards are nearly full, so that captures and kos are near.
    fn random(rng: &mut Rng) -> Case {
        const SIZES: [(usize, usize); 12] =
            [(3, 1), (4, 1), (5, 1), (6, 1), (7, 1), (2, 2), (3, 2), (3, 2), (4, 2), (5, 2), (3, 3), (4, 3)];
        loop {
            let (columns, rows) = SIZES[rng.below(SIZES.len() as u32) as usize];
            let area = columns * rows;
            let neighbours = neighbours(columns, rows);
            let gaps = 1 + rng.below(3 + area as u32 / 4);
            let mut cells: Vec<u8> = (0..area)
                .map(|_| if rng.below(area as u32) < gaps { 0 } else { 1 + rng.below(2) as u8 })
                .collect();
            // Remove chains without liberties.
            for index in 0..area {
                if cells[index] != 0 {
                    let (chain, free) = connected(&neighbours, &cells, index);
                    if !free {
                        chain.iter().for_each(|&stone| cells[stone] = 0);
                    }
                }
            }
            let color = |rng: &mut Rng| if rng.below(2) == 0 { Color::Black } else { Color::White };
            let question = match rng.below(4) {
                0 => {
                    let stone = rng.below(area as u32) as usize;
                    if cells[stone] == 0 {
                        continue;
                    }
                    Question::Take(stone)
                }
                1 => Question::Clear(color(rng)),
                _ => Question::Score(rng.below(2 * area as u32 + 1) as i32 - area as i32),
            };
            return Case {
                columns,
                rows,
                cells,
                to_move: color(rng),
                rule: KoRule::ALL[rng.below(4) as usize],
                suicide: rng.below(3) == 0,
                cycles: color(rng),
                question,
            };
        }
    }
}

/// Returns the solver's answer, with a table of this number of bytes; `None` if it takes too long.
fn solver<B: Bits>(case: &Case, bytes: usize, threads: usize, limit: u64) -> Option<bool> {
    let board = case.board();
    let window = Window::<B>::whole(board.size(), case.suicide).unwrap();
    let root: Position<B> = window.position(&board, case.to_move);
    let index = |cell: usize| window.index(Point::new(cell % case.columns, cell / case.columns)).unwrap();
    let goal = match case.question {
        Question::Score(at_least) => Goal { prover: Color::Black, kind: Kind::Score(at_least) },
        Question::Take(cell) => {
            let owner = if case.cells[cell] == 1 { Color::Black } else { Color::White };
            let target = window.fill(B::one(index(cell)), root.stones[owner as usize]);
            Goal { prover: owner.opponent(), kind: Kind::Take { target, own: B::default() } }
        }
        Question::Clear(color) => Goal { prover: color.opponent(), kind: Kind::Clear(window.points) },
    };
    let repetition = match case.rule {
        KoRule::Simple => Repetition::Wins(case.cycles),
        rule => Repetition::Forbidden(rule),
    };
    let table = Table::new(bytes);
    let stop = |nodes: u64| nodes > limit;
    // Images are looked up together where the question is the same for all of them.
    let images = match case.question {
        Question::Take(_) => None,
        _ => Images::new(&window, board.size()),
    };
    let question = Asked { window: &window, goal, repetition, images: images.as_ref(), table: &table };
    question.decide(&root, &[], threads, &stop).answer.won
}

/// Compares the solver with plain minimax, and returns the number of questions that both answered.
fn compare(questions: u32, seed: u64, max_nodes: u64) -> u32 {
    let mut rng = Rng::new(seed);
    let mut decided = 0;
    let mut open = 0;
    for number in 0..questions {
        let case = Case::random(&mut rng);
        let mut oracle = Oracle::new(&case, max_nodes);
        let Some(expected) = oracle.wins() else { continue };
        // A tiny table forgets nearly everything and a large one nothing. Neither may change an answer.
        let bytes = if number % 3 == 0 { 0 } else { 1 << 21 };
        let answer = match number % 8 {
            0 => solver::<u128>(&case, bytes, 1, 200_000),
            1 => solver::<Wide>(&case, bytes, 1, 200_000),
            // Several threads search the tree in another order and must find the same answers.
            2 | 3 => solver::<u64>(&case, bytes, 3, 200_000),
            _ => solver::<u64>(&case, bytes, 1, 200_000),
        };
        match answer {
            Some(answer) => {
                assert_eq!(answer, expected, "question {number} of {seed}\n{}{case:?}", case.board());
                decided += 1;
            }
            None => open += 1,
        }
    }
    // The solver may leave open at most one question for every hundred that it decides.
    assert!(open * 100 <= decided, "{open} open, {decided} decided");
    decided
}

#[test]
fn answers_are_those_of_plain_minimax() {
    assert!(compare(3_000, 1, 3_000) > 1_000);
}

#[test]
#[ignore = "takes minutes: cargo test --profile checked -p kosumi-solve tests::many -- --ignored"]
fn many_answers_are_those_of_plain_minimax() {
    let decided: u32 = (2..12).map(|seed| compare(3_000, seed, 5_000)).sum();
    assert!(decided > 12_000, "{decided}");
}

/// Compares answers to random questions under simple ko with threats, for every goal, with the enumeration of all
/// positions. In races, the first row is never captured and not played on. Returns the number of questions decided.
fn compare_with_all_positions(questions: u32, seed: u64, races: bool) -> u32 {
    let mut rng = Rng::new(seed);
    let mut decided = 0;
    for number in 0..questions {
        let case = match races {
            true => Case::race(&mut rng),
            false => Case { rule: KoRule::Simple, ..Case::random(&mut rng) },
        };
        let size = BoardSize::new(case.columns, case.rows).unwrap();
        let mut window = Window::<u64>::whole(size, case.suicide).unwrap();
        if races {
            window.safe = window.set(|point| point.row() == 0 || point.row() == 3 && case.rows == 4);
            window.playable = window.points & !window.safe;
        }
        let cell = |point: Point| case.cells[point.row() * case.columns + point.column()];
        let mut root: Position<u64> = window.position(&Board::new(size), case.to_move);
        root.stones = Color::BOTH.map(|color| window.set(|point| cell(point) == code(color)));
        let prover = case.cycles.opponent();
        let (own, enemy) =
            [prover, case.cycles].map(|color| root.stones[color as usize] & window.playable).into();
        let stone = |set: u64, rng: &mut Rng| set.each().nth(rng.below(set.count().max(1)) as usize);
        let (Some(a), Some(b), Some(target)) =
            (stone(own, &mut rng), stone(own, &mut rng), stone(enemy, &mut rng))
        else {
            continue;
        };
        let target = window.fill(u64::one(target), enemy);
        let kind = match number % 4 {
            0 => Kind::Take { target, own: 0 },
            1 => Kind::Take { target, own: window.fill(u64::one(a), own) },
            2 => Kind::Secure(own),
            _ => Kind::Join(a, b),
        };
        let goal = Goal { prover, kind };
        root.threats = [0, 0].map(|_: u8| match rng.below(4) {
            0 => 1,
            1 => 2,
            2 => UNLIMITED,
            _ => 0,
        });
        let settled = |position: &Position<u64>| {
            let decided = goal.decided(&window, position);
            // Only `Kind::Secure` is decided by eyes. The enumeration finds the other goals without them.
            let held =
                || matches!(kind, Kind::Secure(_)).then(|| goal.held(&window, position, Some(case.cycles)));
            decided.or_else(|| held().flatten()).map(|settled| settled.won)
        };
        if settled(&root).is_some() {
            continue;
        }
        let Some(expected) = enumeration::forces(&window, &goal, &root, 50_000, settled) else { continue };
        let table = Table::new(if number % 3 == 0 { 0 } else { 1 << 20 });
        let stop = |nodes: u64| nodes > 500_000;
        let repetition = Repetition::Wins(case.cycles);
        let question = Asked { window: &window, goal, repetition, images: None, table: &table };
        let threads = if number % 8 < 2 { 2 } else { 1 };
        if let Some(won) = question.decide(&root, &[], threads, &stop).answer.won {
            assert_eq!(won, expected, "question {number} of {seed}: {goal:?} {case:?} {:?}", root.threats);
            decided += 1;
        }
    }
    decided
}

/// Tests how often tactical reading of connections is right on random small boards. It is not exact, because it tries
/// few moves.
#[test]
fn links_are_mostly_those_of_all_positions() {
    let mut rng = Rng::new(3);
    let [mut decided, mut right, mut open] = [0u32; 3];
    for _ in 0..4_000 {
        let case = Case { rule: KoRule::Simple, suicide: false, ..Case::random(&mut rng) };
        let size = BoardSize::new(case.columns, case.rows).unwrap();
        let window = Window::<u64>::whole(size, false).unwrap();
        let cell = |point: Point| case.cells[point.row() * case.columns + point.column()];
        let mut root: Position<u64> = window.position(&Board::new(size), case.to_move);
        root.stones = Color::BOTH.map(|color| window.set(|point| cell(point) == code(color)));
        let prover = case.cycles.opponent();
        let own = root.stones[prover as usize];
        let stone = |rng: &mut Rng| own.each().nth(rng.below(own.count().max(1)) as usize);
        let (Some(a), Some(b)) = (stone(&mut rng), stone(&mut rng)) else { continue };
        let goal = Goal { prover, kind: Kind::Link(a, b) };
        let settled = |position: &Position<u64>| goal.decided(&window, position).map(|settled| settled.won);
        if settled(&root).is_some() {
            continue;
        }
        // The enumeration tries every move.
        let Some(expected) = enumeration::forces(&window, &goal, &root, 50_000, settled) else { continue };
        let table = Table::new(1 << 20);
        let repetition = Repetition::Wins(case.cycles);
        let question = Asked { window: &window, goal, repetition, images: None, table: &table };
        match question.decide(&root, &[], 1, &|nodes| nodes > 50_000).answer.won {
            Some(won) => {
                decided += 1;
                right += u32::from(won == expected);
            }
            None => open += 1,
        }
    }
    let enough = decided > 400 && open * 50 < decided && right * 100 >= decided * 98;
    assert!(enough, "{right} of {decided} right, {open} open");
}

#[test]
fn answers_with_threats_are_those_of_all_positions() {
    assert!(compare_with_all_positions(1_500, 1, false) > 400);
}

#[test]
fn races_are_those_of_all_positions() {
    assert!(compare_with_all_positions(1_500, 1, true) > 450);
}

#[test]
#[ignore = "takes minutes: cargo test --profile checked -p kosumi-solve tests::many -- --ignored"]
fn many_answers_with_threats_are_those_of_all_positions() {
    let decided: u32 = (2..12).map(|seed| compare_with_all_positions(5_000, seed, false)).sum();
    assert!(decided > 12_000, "{decided}");
    let races: u32 = (2..8).map(|seed| compare_with_all_positions(5_000, seed, true)).sum();
    assert!(races > 9_000, "{races} races");
}
