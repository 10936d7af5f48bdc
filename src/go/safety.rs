//! Unconditional life: chains that cannot be captured even if their owner always passes.
//!
//! CITE: David B. Benson, "Life in the Game of Go", Information Sciences 10 (1976).
//!
//! The result is exact (`life_is_exactly_what_brute_force_finds`) but rarely applies before the end of a game. It
//! covers neither seki nor life that needs an answer.

use crate::board::{Board, Cell, Color, Point, PointMap, PointSet};
use std::ops::Range;

/// Stones and points that one colour holds unconditionally.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PassAlive {
    /// Stones that can never be captured.
    pub chains: PointSet,
    /// Points that only such stones surround and where the opponent can never live. The opponent's stones there are
    /// dead.
    pub territory: PointSet,
}

/// Returns the unconditionally alive chains of `color` and their territory. `suicide` states whether the opponent may
/// remove its own chains of two or more stones.
pub fn pass_alive(board: &Board, color: Color, suicide: bool) -> PassAlive {
    let mut life = LifeReader::default();
    life.read(board, color, suicide);
    PassAlive { chains: life.chains, territory: life.territory }
}

/// Returns the unconditionally alive chains of `color`, and all points in the rest of the board where the opponent can
/// never have such chains, whether `color` passes or plays any moves there that do not kill its own chains. `suicide`
/// is as in [`pass_alive`]. In contrast to [`pass_alive`], stones of `color` that can be captured may stand on these
/// points: capturing them does not help the opponent to live.
///
/// An unconditionally alive chain of the opponent has eyes. They can be filled until two are left, each a single point
/// that is not adjacent to any of the owner's chains. Filling an eye joins the chains around it. Consider the graph of
/// the eyes, linked by the chains that they share. It contains two eyes such that removing either one leaves the others
/// connected. If all eyes except these two are filled, every chain around one of the two is also around the other.
/// Therefore, if no two such points exist when the opponent has filled all other points, the opponent cannot live.
///
/// The function does not ask which of these points the opponent could really empty and fill. What the opponent cannot
/// do while `color` passes, it may be able to do when `color` plays and has stones captured, so relying on it would
/// claim too much.
pub fn unconditionally_held(board: &Board, color: Color, suicide: bool) -> PassAlive {
    let chains = pass_alive(board, color, suicide).chains;
    let mut territory = PointSet::EMPTY;
    if !chains.is_empty() {
        let mut seen = chains;
        for start in board.size().points() {
            if seen.contains(start) {
                continue;
            }
            let part = component_around(board, start, &chains);
            seen.union_with(&part);
            if !can_make_two_eyes(board, &part, &chains) {
                territory.union_with(&part);
            }
        }
    }
    PassAlive { chains, territory }
}

/// Returns all points that are connected to `start` without crossing `without`.
fn component_around(board: &Board, start: Point, without: &PointSet) -> PointSet {
    let mut part = PointSet::EMPTY;
    let mut todo = vec![start];
    part.insert(start);
    while let Some(point) = todo.pop() {
        for next in point.adjacent() {
            if board.cell(next) != Cell::Border && !without.contains(next) && part.insert(next) {
                todo.push(next);
            }
        }
    }
    part
}

/// Returns whether the opponent could fill this part of the board, surrounded only by `chains`, with chains that have
/// two eyes.
fn can_make_two_eyes(board: &Board, part: &PointSet, chains: &PointSet) -> bool {
    let is_inner = |point: &Point| !point.adjacent().iter().any(|&next| chains.contains(next));
    let inner: Vec<Point> = part.iter().filter(is_inner).collect();
    let touches = |stones: &PointSet, eye: Point| eye.adjacent().iter().any(|&next| stones.contains(next));
    inner.iter().enumerate().any(|(index, &first)| {
        inner[..index].iter().any(|&second| {
            if first.adjacent().contains(&second) {
                return false;
            }
            let mut without = *chains;
            without.insert(first);
            without.insert(second);
            // Every chain around one of the eyes must be around the other.
            let around = [first, second].into_iter().flat_map(Point::adjacent);
            let mut stones = PointSet::EMPTY;
            let mut found = false;
            for next in around.filter(|&next| board.cell(next) != Cell::Border) {
                if stones.contains(next) {
                    continue;
                }
                let chain = component_around(board, next, &without);
                if !touches(&chain, first) || !touches(&chain, second) {
                    return false;
                }
                stones.union_with(&chain);
                found = true;
            }
            found
        })
    })
}

/// A region of connected points without a stone of the owner.
#[derive(Clone, Debug)]
struct Region {
    /// Range of its points in [`LifeReader::points`].
    points: Range<usize>,
    /// Range of the anchors of the owner's chains around it in [`LifeReader::anchors`]. The region is vital for the
    /// first `vital` of these chains: it contains a liberty that the opponent cannot remove before all others are gone.
    around: Range<usize>,
    vital: usize,
    /// Whether all chains around it are still assumed to be alive.
    enclosed: bool,
    /// Whether it contains stones of the opponent.
    has_stones: bool,
    /// Number of points without an adjacent stone of the owner.
    inner: usize,
}

/// Reader of unconditional life that reuses its memory from one board to the next. See [`pass_alive`].
#[derive(Clone, Debug)]
pub struct LifeReader {
    /// Stones that can never be captured.
    pub chains: PointSet,
    /// Points that only such stones surround and where the opponent can never live.
    pub territory: PointSet,
    /// Empty points of regions that contain no stone of the opponent and are surrounded by stones of the owner, whether
    /// these are alive or not.
    pub surrounded: PointSet,
    regions: Vec<Region>,
    points: Vec<Point>,
    anchors: Vec<Point>,
    /// For each chain, at its anchor: number of counting points of the current region that are adjacent to it, plus
    /// one.
    touching: PointMap<u16>,
    /// For each chain, at its anchor: number of enclosed regions that are vital for it.
    vital: PointMap<u16>,
}

impl Default for LifeReader {
    fn default() -> LifeReader {
        LifeReader {
            chains: PointSet::EMPTY,
            territory: PointSet::EMPTY,
            surrounded: PointSet::EMPTY,
            regions: Vec::new(),
            points: Vec::new(),
            anchors: Vec::new(),
            touching: PointMap::filled(0),
            vital: PointMap::filled(0),
        }
    }
}

impl LifeReader {
    /// Reads the unconditional life of `color`. `suicide` is as in [`pass_alive`].
    pub fn read(&mut self, board: &Board, color: Color, suicide: bool) {
        self.divide(board, color, suicide);
        self.settle(board, color);
        (self.territory, self.surrounded) = (PointSet::EMPTY, PointSet::EMPTY);
        for region in self.regions.iter().filter(|region| !region.around.is_empty()) {
            let points = self.points[region.points.clone()].iter().copied();
            // The opponent's eyes must be points without an adjacent stone of the owner, and one eye is not enough.
            if region.enclosed && region.inner <= 1 {
                self.territory.extend_from(points.clone());
            }
            if !region.has_stones {
                self.surrounded.extend_from(points);
            }
        }
    }

    /// Divides all points without a stone of the owner into regions.
    fn divide(&mut self, board: &Board, color: Color, suicide: bool) {
        let own = Cell::from(color);
        self.regions.clear();
        self.points.clear();
        self.anchors.clear();
        let mut seen = PointSet::EMPTY;
        for start in board.size().points() {
            if board.cell(start) == own || !seen.insert(start) {
                continue;
            }
            let (first_point, first_anchor) = (self.points.len(), self.anchors.len());
            self.points.push(start);
            // The opponent can empty points of its own stones only by suicide. If that is forbidden, only points that
            // are empty now can ever be the last liberties, and only these count.
            let (mut counting, mut inner, mut has_stones) = (0, 0, false);
            let mut next = first_point;
            while next < self.points.len() {
                let point = self.points[next];
                next += 1;
                let is_empty = board.cell(point) == Cell::Empty;
                has_stones |= !is_empty;
                let counts = suicide || is_empty;
                counting += u16::from(counts);
                let mut here = [None; 4];
                for (index, neighbour) in point.adjacent().into_iter().enumerate() {
                    let cell = board.cell(neighbour);
                    if cell == own {
                        let anchor = board.anchor(neighbour);
                        if !here.contains(&Some(anchor)) {
                            here[index] = Some(anchor);
                        }
                    } else if cell != Cell::Border && seen.insert(neighbour) {
                        self.points.push(neighbour);
                    }
                }
                inner += usize::from(here == [None; 4]);
                for anchor in here.into_iter().flatten() {
                    // Number of counting points plus one. Zero means that the chain was not met yet.
                    if self.touching[anchor] == 0 {
                        self.touching[anchor] = 1;
                        self.anchors.push(anchor);
                    }
                    self.touching[anchor] += u16::from(counts);
                }
            }
            let around = &mut self.anchors[first_anchor..];
            let mut vital = 0;
            for index in 0..around.len() {
                if std::mem::take(&mut self.touching[around[index]]) == counting + 1 {
                    around.swap(vital, index);
                    vital += 1;
                }
            }
            self.regions.push(Region {
                points: first_point..self.points.len(),
                around: first_anchor..self.anchors.len(),
                vital,
                enclosed: true,
                has_stones,
                inner,
            });
        }
    }

    /// Computes Benson's fixpoint: a chain needs two vital regions, and a region needs all of its chains to be alive.
    fn settle(&mut self, board: &Board, color: Color) {
        let mut alive = PointSet::EMPTY;
        for (point, _) in
            board.stones().filter(|&(point, stone)| stone == color && board.anchor(point) == point)
        {
            self.vital[point] = 0;
            alive.insert(point);
        }
        for region in &self.regions {
            for &anchor in &self.anchors[region.around.start..][..region.vital] {
                self.vital[anchor] += 1;
            }
        }
        loop {
            let before = alive;
            for anchor in before.iter().filter(|&anchor| self.vital[anchor] < 2) {
                alive.remove(anchor);
            }
            if alive == before {
                break;
            }
            for region in self.regions.iter_mut().filter(|region| region.enclosed) {
                let around = &self.anchors[region.around.clone()];
                if !around.iter().all(|&anchor| alive.contains(anchor)) {
                    region.enclosed = false;
                    for &anchor in &around[..region.vital] {
                        self.vital[anchor] -= 1;
                    }
                }
            }
        }
        self.chains = PointSet::EMPTY;
        for anchor in alive.iter() {
            self.chains.extend_from(board.chain(anchor));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{BoardSize, Key, Symmetry};
    use crate::rng::Rng;
    use std::collections::HashSet;

    /// Draws Black's result: `B` for an alive stone, `b` for a point of the territory.
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
        // Position, result without suicide, result with suicide.
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
            // A false eye does not count.
            (".X.XO\nXXXOO\nOOOO.", ".X.XO\nXXXOO\nOOOO.", ".X.XO\nXXXOO\nOOOO."),
            // Two chains share their eyes.
            (".XX\nX.X\nXX.", "bBB\nBbB\nBBb", "bBB\nBbB\nBBb"),
            // The white stone has no black neighbour. By suicide its point can become one that is no liberty of Black's
            // chain.
            (
                "XX.XX.X\nX.O.XXX\nXX.XXXX\nXXXXXXX",
                "BBbBBbB\nBbbbBBB\nBBbBBBB\nBBBBBBB",
                "XX.XX.X\nX.O.XXX\nXX.XXXX\nXXXXXXX",
            ),
            // With a white stone in an eye of three, the empty points are still liberties of the chain.
            (".O.X.X\nXXXXXX\n......", "bbbBbB\nBBBBBB\nbbbbbb", "bbbBbB\nBBBBBB\nbbbbbb"),
        ];
        for (position, forbidden, allowed) in rows {
            let board: Board = position.parse().unwrap();
            assert_eq!(drawing(&board, false).trim(), forbidden, "\n{position}");
            assert_eq!(drawing(&board, true).trim(), allowed, "\n{position}");
        }
    }

    /// Draws the result of [`unconditionally_held`]: `B` for an alive stone, `b` for any other point that is held.
    fn held_drawing(board: &Board) -> String {
        let found = unconditionally_held(board, Color::Black, false);
        let of = |point| match board.cell(point) {
            _ if found.chains.contains(point) => 'B',
            _ if found.territory.contains(point) => 'b',
            Cell::Black => 'X',
            Cell::White => 'O',
            Cell::Empty | Cell::Border => '.',
        };
        let rows = (0..board.size().rows()).rev();
        let row = |row| (0..board.size().columns()).map(|column| of(Point::new(column, row))).collect();
        rows.map(row).collect::<Vec<String>>().join("\n")
    }

    #[test]
    fn held_points_allow_no_two_eyes() {
        let rows = [
            // Two inner points that are adjacent.
            ("X.X...\n.XX...\nXXXXXX\nX.XX.X", "BbBbbb\nbBBbbb\nBBBBBB\nBbBBbB"),
            // Three inner points in a row: an eye at either end.
            ("X.X....\n.XX....\nXXXXXXX\nX.XX.XX", "BbB....\nbBB....\nBBBBBBB\nBbBBbBB"),
            // Cut-off stones of the owner do not matter, and neither do stones of the opponent.
            ("X.X.OX\n.XX.O.\nXXXXXX\nX.XX.X", "BbBbbb\nbBBbbb\nBBBBBB\nBbBBbB"),
            // Nothing is unconditionally alive.
            ("X..\nXX.\n...", "X..\nXX.\n..."),
        ];
        for (position, expected) in rows {
            let board: Board = position.parse().unwrap();
            assert_eq!(held_drawing(&board), expected, "\n{position}");
        }
    }

    /// Returns the stones of `color` that the opponent can capture if `color` always passes, or `None` if the positions
    /// are too many to enumerate.
    fn capturable(board: &Board, color: Color, suicide: bool) -> Option<PointSet> {
        const MAX_POSITIONS: usize = 400;
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
                if seen.len() > MAX_POSITIONS {
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

    /// Returns a random position with many black stones.
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
        let (mut checked, mut wider) = (0, 0);
        for round in 0..4000 {
            let suicide = round % 2 == 0;
            let Some(mut board) = random_board(size, &mut rng) else { continue };
            let narrow = pass_alive(&board, Color::Black, suicide).territory;
            let held = unconditionally_held(&board, Color::Black, suicide);
            assert!(narrow.iter().all(|point| held.territory.contains(point)), "\n{board}");
            let territory = held.territory;
            if territory.is_empty() {
                continue;
            }
            wider += usize::from(territory != narrow);
            // Black keeps the eyes and mostly passes.
            for _ in 0..60 {
                if board.empties().is_empty() {
                    break;
                }
                let point = board.empties()[rng.below(board.empties().len() as u32) as usize];
                // Stones that Black adds and loses where White cannot live do not help White.
                let color =
                    if rng.below(4) == 0 && territory.contains(point) { Color::Black } else { Color::White };
                if color == Color::Black {
                    let mut after = board;
                    after.play_unchecked(point, color);
                    let alive = pass_alive(&after, color, suicide).chains;
                    if !board.is_suicide(point, color) && held.chains.iter().all(|it| alive.contains(it)) {
                        board = after;
                    }
                    continue;
                }
                let removal = board.is_suicide(point, Color::White);
                if !removal || (suicide && !board.is_single_stone_suicide(point, Color::White)) {
                    board.play_unchecked(point, Color::White);
                }
                let white = pass_alive(&board, Color::White, suicide);
                assert!(!white.chains.iter().any(|stone| territory.contains(stone)), "\n{board}");
            }
            checked += 1;
        }
        assert!(checked > 200 && wider > 50, "{checked} {wider}");
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
