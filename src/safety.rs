//! Unconditional life: chains that cannot be captured even if their owner always passes.
//!
//! CITE: David B. Benson, "Life in the Game of Go", Information Sciences 10 (1976).
//!
//! What is found is exact (`life_is_exactly_what_brute_force_finds`) but rare before the end of a game: no
//! seki, no life that needs an answer.

use crate::board::{Board, Cell, Color, Point, PointMap, PointSet};

/// What one colour holds whatever happens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PassAlive {
    /// The stones that can never be captured.
    pub chains: PointSet,
    /// Points around which only such stones stand and in which the opponent can never live; the opponent's
    /// stones there are dead.
    pub territory: PointSet,
}

/// Connected points without a stone of the owner.
struct Region {
    points: Vec<Point>,
    /// Anchors of the owner's chains around it.
    around: Vec<Point>,
    /// Those for which it is vital: a liberty that the opponent cannot take away before all others are gone.
    vital_for: Vec<Point>,
    /// Are all chains around it still thought to be alive?
    enclosed: bool,
}

impl Region {
    fn new(board: &Board, color: Color, suicide: bool, points: Vec<Point>) -> Region {
        let own = Cell::from(color);
        let anchors = |point: Point| {
            let mut anchors = [None; 4];
            for (anchor, neighbour) in anchors.iter_mut().zip(point.adjacent()) {
                if board.cell(neighbour) == own {
                    *anchor = Some(board.anchor(neighbour));
                }
            }
            anchors
        };
        let mut around: Vec<Point> = points.iter().flat_map(|&point| anchors(point)).flatten().collect();
        around.sort_unstable();
        around.dedup();
        // The opponent can empty points of stones only by suicide; where that is forbidden, only the points
        // that are empty now can ever be the last ones.
        let mut vital_for = around.clone();
        for &point in points.iter().filter(|&&point| suicide || board.cell(point) == Cell::Empty) {
            let here = anchors(point);
            vital_for.retain(|&anchor| here.contains(&Some(anchor)));
        }
        Region { points, around, vital_for, enclosed: true }
    }
}

fn regions(board: &Board, color: Color, suicide: bool) -> Vec<Region> {
    let own = Cell::from(color);
    let outside = |point: Point| board.cell(point) == own || board.cell(point) == Cell::Border;
    let mut seen = PointSet::EMPTY;
    let mut regions = Vec::new();
    for start in board.size().points() {
        if outside(start) || !seen.insert(start) {
            continue;
        }
        let mut points = vec![start];
        let mut next = 0;
        while next < points.len() {
            for neighbour in points[next].adjacent() {
                if !outside(neighbour) && seen.insert(neighbour) {
                    points.push(neighbour);
                }
            }
            next += 1;
        }
        regions.push(Region::new(board, color, suicide, points));
    }
    regions
}

/// The unconditionally alive chains of `color` and the points that are theirs; `suicide`: may the opponent
/// remove chains of two or more stones of their own?
pub fn pass_alive(board: &Board, color: Color, suicide: bool) -> PassAlive {
    let mut regions = regions(board, color, suicide);
    let mut vital: PointMap<u16> = PointMap::filled(0);
    for region in &regions {
        for &anchor in &region.vital_for {
            vital[anchor] += 1;
        }
    }
    let mut alive: Vec<Point> = board
        .stones()
        .filter(|&(point, stone)| stone == color && board.anchor(point) == point)
        .map(|(p, _)| p)
        .collect();
    // Benson's fixpoint: a chain needs two vital regions, and a region all of its chains.
    loop {
        let before = alive.len();
        alive.retain(|&anchor| vital[anchor] >= 2);
        if alive.len() == before {
            break;
        }
        let alive: PointSet = alive.iter().copied().collect();
        for region in regions.iter_mut().filter(|region| region.enclosed) {
            if !region.around.iter().all(|&anchor| alive.contains(anchor)) {
                region.enclosed = false;
                for &anchor in &region.vital_for {
                    vital[anchor] -= 1;
                }
            }
        }
    }
    let chains: PointSet = alive.iter().flat_map(|&anchor| board.chain(anchor)).collect();
    let own = Cell::from(color);
    // The opponent's eyes must be points without a neighbour of the owner; one of them is not enough.
    let inner = |point: &&Point| !point.adjacent().iter().any(|&neighbour| board.cell(neighbour) == own);
    let territory = regions
        .iter()
        .filter(|region| region.enclosed && !region.around.is_empty())
        .filter(|region| region.points.iter().filter(inner).count() <= 1)
        .flat_map(|region| region.points.iter().copied())
        .collect();
    PassAlive { chains, territory }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{BoardSize, Key, Symmetry};
    use crate::rng::Rng;
    use std::collections::HashSet;

    /// Draws what Black holds: `B` a stone, `b` a point.
    fn drawing(board: &Board, suicide: bool) -> String {
        let alive = pass_alive(board, Color::Black, suicide);
        let size = board.size();
        let mut text = String::new();
        for row in (0..size.rows()).rev() {
            for column in 0..size.columns() {
                let point = Point::new(column, row);
                text.push(match board.cell(point) {
                    _ if alive.chains.contains(point) => 'B',
                    _ if alive.territory.contains(point) => 'b',
                    Cell::Black => 'X',
                    Cell::White => 'O',
                    Cell::Empty | Cell::Border => '.',
                });
            }
            text.push('\n');
        }
        text
    }

    #[test]
    fn drawings() {
        // Position, with suicide forbidden, with suicide allowed.
        let rows = [
            (".", ".", "."),
            ("...\n...", "...\n...", "...\n..."),
            (".X.X.", "bBbBb", "bBbBb"),
            (".X..", ".X..", ".X.."),
            // One eye; two eyes; one large eye is not enough.
            (".XO\nXXO\nOO.", ".XO\nXXO\nOO.", ".XO\nXXO\nOO."),
            (
                ".X.XO\nXXXXO\nOOOO.\n.O.O.\n.....",
                "bBbBO\nBBBBO\nOOOO.\n.O.O.\n.....",
                "bBbBO\nBBBBO\nOOOO.\n.O.O.\n.....",
            ),
            ("..XO\nXXXO\nOOO.", "..XO\nXXXO\nOOO.", "..XO\nXXXO\nOOO."),
            // A false eye is none.
            (".X.XO\nXXXOO\nOOOO.", ".X.XO\nXXXOO\nOOOO.", ".X.XO\nXXXOO\nOOOO."),
            // Two chains share their eyes.
            (".XX\nX.X\nXX.", "bBB\nBbB\nBBb", "bBB\nBbB\nBBb"),
            // The white stone has no neighbour of Black: by suicide it can become a point that is no liberty.
            (
                "XX.XX.X\nX.O.XXX\nXX.XXXX\nXXXXXXX",
                "BBbBBbB\nBbbbBBB\nBBbBBBB\nBBBBBBB",
                "XX.XX.X\nX.O.XXX\nXX.XXXX\nXXXXXXX",
            ),
            // A white stone in an eye of three: the empty points are liberties of the chain.
            (".O.X.X\nXXXXXX\n......", "bbbBbB\nBBBBBB\nbbbbbb", "bbbBbB\nBBBBBB\nbbbbbb"),
        ];
        for (position, forbidden, allowed) in rows {
            let board: Board = position.parse().unwrap();
            assert_eq!(drawing(&board, false).trim(), forbidden, "\n{position}");
            assert_eq!(drawing(&board, true).trim(), allowed, "\n{position}");
        }
    }

    /// The stones of `color` that the opponent can capture by moving alone, `color` always passing. `None` if
    /// there are too many positions to see them all.
    fn capturable(board: &Board, color: Color, suicide: bool) -> Option<PointSet> {
        const MOST: usize = 400;
        let enemy = color.opponent();
        let mut lost = PointSet::EMPTY;
        let mut seen: HashSet<Key> = HashSet::from([board.key()]);
        let mut todo = vec![*board];
        while let Some(position) = todo.pop() {
            for &point in position.empties() {
                let own_removal = position.is_suicide(point, enemy);
                if own_removal && (!suicide || position.is_single_stone_suicide(point, enemy)) {
                    continue;
                }
                if !seen.insert(position.outcome(point, enemy).key) {
                    continue;
                }
                if seen.len() > MOST {
                    return None;
                }
                let mut after = position;
                after.play_unchecked(point, enemy);
                for (stone, of) in board.stones() {
                    if of == color && after.cell(stone) != Cell::from(color) {
                        lost.insert(stone);
                    }
                }
                todo.push(after);
            }
        }
        Some(lost)
    }

    /// A random position with many stones of Black.
    fn random_board(size: BoardSize, rng: &mut Rng) -> Option<Board> {
        let stones = size.points().filter_map(|point| match rng.below(20) {
            0..=10 => Some((point, Color::Black)),
            11..=13 => Some((point, Color::White)),
            _ => None,
        });
        Board::from_stones(size, stones.collect::<Vec<_>>()).ok()
    }

    #[test]
    fn life_is_exactly_what_brute_force_finds() {
        let mut rng = Rng::new(1976);
        let mut alive_chains = 0;
        for round in 0..3000 {
            let (columns, rows) = [(4, 4), (3, 5), (5, 3), (3, 3), (4, 3), (7, 2), (9, 1)][round % 7];
            let size = BoardSize::new(columns, rows).unwrap();
            let Some(board) = random_board(size, &mut rng) else { continue };
            for color in Color::BOTH {
                for suicide in [false, true] {
                    let alive = pass_alive(&board, color, suicide).chains;
                    let Some(lost) = capturable(&board, color, suicide) else { continue };
                    for (point, _) in board.stones().filter(|&(_, stone)| stone == color) {
                        assert_eq!(
                            alive.contains(point),
                            !lost.contains(point),
                            "{color} {point}, suicide {suicide}\n{board}"
                        );
                    }
                    alive_chains += usize::from(!alive.is_empty());
                }
            }
        }
        assert!(alive_chains > 500, "only {alive_chains} positions had anything alive");
    }

    #[test]
    fn the_opponent_never_lives_in_the_territory() {
        let mut rng = Rng::new(7);
        let size = BoardSize::new(5, 5).unwrap();
        let mut checked = 0;
        for round in 0..4000 {
            let suicide = round % 2 == 0;
            let Some(mut board) = random_board(size, &mut rng) else { continue };
            let territory = pass_alive(&board, Color::Black, suicide).territory;
            if territory.is_empty() {
                continue;
            }
            for _ in 0..40 {
                let point = board.empties()[rng.below(board.empties().len() as u32) as usize];
                let removal = board.is_suicide(point, Color::White);
                if !removal || (suicide && !board.is_single_stone_suicide(point, Color::White)) {
                    board.play_unchecked(point, Color::White);
                }
                let white = pass_alive(&board, Color::White, suicide);
                assert!(!white.chains.iter().any(|stone| territory.contains(stone)), "\n{board}");
            }
            checked += 1;
        }
        assert!(checked > 200, "{checked}");
    }

    #[test]
    fn colours_and_symmetries_make_no_difference() {
        let mut rng = Rng::new(3);
        for round in 0..300 {
            let size = BoardSize::new(5 + round % 3, 6).unwrap();
            let Some(board) = random_board(size, &mut rng) else { continue };
            let alive = pass_alive(&board, Color::Black, true);
            let swapped = board.stones().map(|(point, stone)| (point, stone.opponent()));
            let swapped = Board::from_stones(size, swapped).unwrap();
            assert_eq!(pass_alive(&swapped, Color::White, true), alive);
            for symmetry in Symmetry::of(size) {
                let image =
                    |set: &PointSet| set.iter().map(|p| symmetry.apply(size, p)).collect::<PointSet>();
                let stones = board.stones().map(|(point, stone)| (symmetry.apply(size, point), stone));
                let turned = Board::from_stones(size, stones).unwrap();
                let expected = PassAlive { chains: image(&alive.chains), territory: image(&alive.territory) };
                assert_eq!(pass_alive(&turned, Color::Black, true), expected);
            }
        }
    }
}
