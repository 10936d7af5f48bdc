//! Exhaustive counts that are known from other sources, to verify the implementation of the rules.
//!
//! Every count here has been published or was computed by independent programs, so a single error in captures, suicide
//! or repetition becomes visible. Nothing here is used in play, and nothing prints.
//!
//! | function | counts | known from |
//! |---|---|---|
//! | [`positions`] | positions where every chain has a liberty | Tromp and Farnebäck, OEIS A094777, A102620 |
//! | [`edges`] | positions as above, but through [`Board`], and all plays from them | Farnebäck's game graphs |
//! | [`sequences`] | alternating sequences of moves, passes included | the "perft" of chess programs |
//! | [`games`] | games under positional superko | Tromp and Farnebäck |
//!
//! CITE: John Tromp and Gunnar Farnebäck, "Combinatorics of Go" (2007, revised 2016).

use crate::board::{Board, BoardSize, Cell, Color, Key, Move, Point};
use crate::game::Game;
use hashbrown::HashMap;
use rayon::prelude::*;

/// Returns the number of legal positions of a board, or `None` if it does not fit in 128 bits, as from 9×10 on.
///
/// The computation is independent of [`Board`]. It fills the board point by point, row by row. The points filled so far
/// matter only through their border: the latest stone or gap in every column, the connections between these stones, and
/// the chains that have a liberty. Equal borders are counted together, including those that are equal after a swap of
/// colours. Time and memory therefore grow with the number of borders and not of positions: about fivefold with every
/// column of the shorter side (100,000 borders for eight columns). 9×9 takes a minute.
///
/// CITE: Tromp and Farnebäck, "Combinatorics of Go", on counting legal positions by dynamic programming.
pub fn positions(size: BoardSize) -> Option<u128> {
    let (width, height) = (size.columns().min(size.rows()), size.columns().max(size.rows()));
    // Before the first row, the row above is off the board.
    let mut counts: HashMap<Border, u128> = HashMap::new();
    counts.insert(Border::EDGE, 1);
    for _ in 0..height {
        for column in 0..width {
            let mut next: HashMap<Border, u128> = HashMap::with_capacity(counts.len() * 2);
            for (border, count) in counts {
                for cell in [None, Some(Color::Black), Some(Color::White)] {
                    if let Some(after) = border.filled(width, column, cell) {
                        let sum = next.entry(after).or_insert(0);
                        *sum = sum.checked_add(count)?;
                    }
                }
            }
            counts = next;
        }
    }
    counts.iter().filter(|(border, _)| border.is_alive()).try_fold(0u128, |sum, (_, &n)| sum.checked_add(n))
}

/// Border of a partly filled board, one byte for every column.
///
/// ```text
///   0        off the board
///   1        no stone
///   others   bit 7 set; bit 6: White; bit 5: the chain has a liberty; bits 0–4: number of the chain,
///            counted from the left in the order of first stones
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Border([u8; crate::board::MAX_SIDE]);

const GAP: u8 = 1;
const STONE: u8 = 0x80;
const WHITE: u8 = 0x40;
const LIBERTY: u8 = 0x20;
/// Chain number that no counted chain has.
const NEW_CHAIN: u8 = 0x1f;

impl Border {
    const EDGE: Border = Border([0; crate::board::MAX_SIDE]);

    /// Returns the border after the next point, in `column`, has been filled, or `None` if that leaves a chain without
    /// liberties.
    fn filled(mut self, width: usize, column: usize, cell: Option<Color>) -> Option<Border> {
        let cells = &mut self.0[..width];
        let above = cells[column];
        let left = if column > 0 { cells[column - 1] } else { 0 };
        let Some(color) = cell else {
            for chain in [above, left] {
                if chain & STONE != 0 {
                    let with_liberty = |code: &mut u8| *code |= if *code == chain { LIBERTY } else { 0 };
                    cells.iter_mut().for_each(with_liberty);
                }
            }
            cells[column] = GAP;
            return Some(self.normalized(width));
        };
        let hue = STONE | if color == Color::White { WHITE } else { 0 };
        let own = |code: u8| code & (STONE | WHITE) == hue;
        let neighbours = [above, left];
        let mut liberty = neighbours.contains(&GAP);
        liberty |= neighbours.iter().any(|&code| own(code) && code & LIBERTY != 0);
        let merged = hue | NEW_CHAIN | if liberty { LIBERTY } else { 0 };
        for code in cells.iter_mut() {
            if neighbours.contains(code) && own(*code) {
                *code = merged;
            }
        }
        cells[column] = merged;
        // The stone above leaves the border. If it was the last stone of an enemy chain there, this chain must have a
        // liberty.
        let cut_off = above & STONE != 0 && !own(above) && !cells.contains(&above);
        if cut_off && above & LIBERTY == 0 { None } else { Some(self.normalized(width)) }
    }

    /// Returns the border with chains numbered in order and the first stone black, so that borders with equally many
    /// continuations are equal.
    fn normalized(mut self, width: usize) -> Border {
        let mut numbers = [u8::MAX; 32];
        let mut next = 0;
        let mut swap = 0;
        for code in &mut self.0[..width] {
            if *code & STONE != 0 {
                if next == 0 {
                    swap = *code & WHITE;
                }
                let number = &mut numbers[usize::from(*code & NEW_CHAIN)];
                if *number == u8::MAX {
                    *number = next;
                    next += 1;
                }
                *code = (*code ^ swap) & !NEW_CHAIN | *number;
            }
        }
        self
    }

    fn is_alive(&self) -> bool {
        self.0.iter().all(|code| code & STONE == 0 || code & LIBERTY != 0)
    }
}

/// Number of legal positions of a board and of the plays from them, by either colour and without any ko rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EdgeCounts {
    /// Number of legal positions.
    pub positions: u64,
    /// Number of allowed plays.
    pub edges: u64,
    /// Number of suicides of two or more stones, allowed or not.
    pub multi_stone_suicides: u64,
    /// Number of suicides of a single stone. They are never counted as edges.
    pub single_stone_suicides: u64,
}

/// Enumerates all fillings of the board (3 to the power of its area: 12 points take about a second) and tests every
/// point of the legal ones with [`Board`]. `suicide` states whether edges include multi-stone suicide.
pub fn edges(size: BoardSize, suicide: bool) -> EdgeCounts {
    let mut counts = EdgeCounts::default();
    for_each_position(size, |board| {
        counts.positions += 1;
        for &point in board.empties() {
            for color in Color::BOTH {
                if board.is_single_stone_suicide(point, color) {
                    counts.single_stone_suicides += 1;
                } else if board.is_suicide(point, color) {
                    counts.multi_stone_suicides += 1;
                    counts.edges += u64::from(suicide);
                } else {
                    counts.edges += 1;
                }
            }
        }
    });
    counts
}

/// Calls `visit` with every legal position of a board.
fn for_each_position(size: BoardSize, mut visit: impl FnMut(&Board)) {
    let points: Vec<Point> = size.points().collect();
    let mut filling = vec![Cell::Empty; points.len()];
    loop {
        let stones = points.iter().zip(&filling).filter_map(|(&point, cell)| Some((point, cell.color()?)));
        if let Ok(board) = Board::from_stones(size, stones) {
            visit(&board);
        }
        // Counts up in base three.
        let Some(digit) = filling.iter().position(|&cell| cell != Cell::White) else { return };
        filling[..digit].fill(Cell::Empty);
        filling[digit] = if filling[digit] == Cell::Empty { Cell::Black } else { Cell::White };
    }
}

/// Counts of the sequences of one length.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SequenceCounts {
    /// Number of all sequences of this length.
    pub sequences: u64,
    /// Number of these sequences that end with the two passes that end a game.
    pub finished: u64,
}

/// Counts the sequences of 0, 1, … `depth` moves, including passes, that can be played from the current position with
/// the sides alternating. A sequence ends with two consecutive passes.
pub fn sequences(game: &Game, depth: usize) -> Vec<SequenceCounts> {
    let mut counts = vec![SequenceCounts::default(); depth + 1];
    count_sequences(&mut game.clone(), &mut counts);
    counts
}

fn count_sequences(game: &mut Game, counts: &mut [SequenceCounts]) {
    let Some((here, deeper)) = counts.split_first_mut() else { return };
    here.sequences += 1;
    if game.is_over() {
        here.finished += 1;
        return;
    }
    let color = game.to_move();
    if let [last] = deeper {
        // The last move is counted without playing it.
        last.sequences += 1 + game.legal_points(color).len() as u64;
        last.finished += u64::from(game.passes() == 1);
        return;
    }
    if deeper.is_empty() {
        return;
    }
    let moves = game.legal_points(color).into_iter().map(Move::Play).chain([Move::Pass]);
    for mv in moves {
        if game.play(color, mv).is_ok() {
            count_sequences(game, deeper);
            game.undo();
        }
    }
}

/// Number of games on a board.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GameCounts {
    /// Number of all games.
    pub total: u128,
    /// Number of games by number of plays. Passes are not counted.
    pub by_moves: Vec<u128>,
}

/// Counts the games of up to `max_moves` plays under positional superko, from the empty board.
///
/// Because a pass is free, either colour may make the next play. A game is therefore a path through the graph of
/// positions that visits no position twice. Every path corresponds to exactly one game without unnecessary passes. All
/// paths are followed: 907 on three points and 2,098,407,841 on four. Larger boards are infeasible.
///
/// CITE: Tromp and Farnebäck, "Combinatorics of Go", on the number of games.
pub fn games(size: BoardSize, suicide: bool, max_moves: usize) -> GameCounts {
    let (graph, empty) = game_graph(size, suicide);
    // The paths of this number of moves are then continued in parallel.
    const TRUNK: usize = 6;
    let mut by_moves = Vec::new();
    let mut paths = vec![vec![empty]];
    for moves in 0..TRUNK.min(max_moves) {
        count_at(&mut by_moves, moves, paths.len() as u128);
        let longer = |path: &Vec<u32>| {
            let last = path[path.len() - 1];
            let free = graph[last as usize].iter().filter(|node| !path.contains(node));
            free.map(|&node| [path.as_slice(), &[node]].concat()).collect::<Vec<_>>()
        };
        paths = paths.iter().flat_map(longer).collect();
    }
    let add = |mut a: Vec<u128>, b: Vec<u128>| {
        b.into_iter().enumerate().for_each(|(moves, n)| count_at(&mut a, moves, n));
        a
    };
    let beyond = paths.par_iter().map(|path| count_paths(&graph, path, max_moves)).reduce(Vec::new, add);
    let by_moves = add(by_moves, beyond);
    GameCounts { total: by_moves.iter().sum(), by_moves }
}

fn count_at(by_moves: &mut Vec<u128>, moves: usize, n: u128) {
    if n > 0 {
        by_moves.resize(by_moves.len().max(moves + 1), 0);
        by_moves[moves] += n;
    }
}

/// Returns the graph of legal positions, as the indices of the positions that one play leads to, and the index of the
/// empty board.
fn game_graph(size: BoardSize, suicide: bool) -> (Vec<Vec<u32>>, u32) {
    let mut numbers: HashMap<Key, u32> = HashMap::new();
    for_each_position(size, |board| {
        let next = numbers.len() as u32;
        numbers.insert(board.key(), next);
    });
    let mut graph = Vec::with_capacity(numbers.len());
    for_each_position(size, |board| {
        let mut targets = Vec::new();
        for &point in board.empties() {
            for color in Color::BOTH {
                let refused = board.is_suicide(point, color)
                    && (!suicide || board.is_single_stone_suicide(point, color));
                if !refused {
                    targets.extend(numbers.get(&board.outcome(point, color).key));
                }
            }
        }
        graph.push(targets);
    });
    (graph, numbers[&Board::new(size).key()])
}

/// Returns the number of paths of up to `max_moves` moves that begin with `path`, by number of moves.
fn count_paths(graph: &[Vec<u32>], path: &[u32], max_moves: usize) -> Vec<u128> {
    let mut visited = vec![false; graph.len()];
    path.iter().for_each(|&node| visited[node as usize] = true);
    // 64 bits suffice for one branch, because counting to 2^64 would take centuries.
    let mut found = vec![0u64; graph.len() + 1];
    let mut moves = path.len() - 1;
    found[moves] += 1;
    // The path after its given part: nodes with the number of their plays that have been followed.
    let mut stack = vec![(path[moves], 0usize)];
    while let Some((node, followed)) = stack.last_mut() {
        let targets = &graph[*node as usize];
        let next = if moves < max_moves { targets.get(*followed) } else { None };
        let Some(&target) = next else {
            // The given part stays visited. Its last node is the bottom of the stack.
            let (node, _) = (*node, stack.pop());
            visited[node as usize] = false;
            moves = moves.wrapping_sub(1);
            continue;
        };
        *followed += 1;
        if !visited[target as usize] {
            visited[target as usize] = true;
            moves += 1;
            found[moves] += 1;
            stack.push((target, 0));
        }
    }
    let length = found.iter().rposition(|&n| n > 0).map_or(0, |last| last + 1);
    found[..length].iter().map(|&n| u128::from(n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ways_of_counting_positions_agree() {
        for (columns, rows) in [(1, 1), (1, 2), (2, 1), (2, 2), (3, 2), (1, 7), (3, 3)] {
            let size = BoardSize::new(columns, rows).expect("size");
            assert_eq!(positions(size), Some(u128::from(edges(size, true).positions)), "{size}");
        }
    }

    #[test]
    fn the_length_of_counted_games_can_be_limited() {
        let size = BoardSize::new(1, 3).expect("size");
        let all = games(size, true, usize::MAX);
        for limit in [0, 1, 5, 6, 7, 10] {
            assert_eq!(games(size, true, limit).by_moves, all.by_moves[..=limit], "{limit}");
        }
    }
}
