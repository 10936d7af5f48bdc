//! The board: stones, chains, liberties, captures, simple ko, and the Zobrist key of the position.
//!
//! The board has no notion of turns, komi, superko or text protocols. It is flat and owns no heap memory. It is copied
//! with one `memcpy` of the part that its size uses. Moves cannot be undone: a caller that needs the previous position
//! keeps a copy.
//!
//! **Pseudo-liberties.** A chain stores, in one 64-bit word, the number of pairs (stone, empty neighbour), the sum of
//! the indices of these neighbours, and the sum of their squares. A placed or removed stone changes the word by one
//! addition per neighbour. The two important properties are read from it directly: the chain is captured when the
//! number is 0, and it is in atari when all pairs name the same point, that is, when `count · Σi² = (Σi)²` (equality in
//! Cauchy–Schwarz).
//! CITE: Łukasz Lew's libego (2006–2010) for pseudo-liberties in playouts and for the atari test.
//!
//! **Neighbourhood.** Each point stores the contents of its eight neighbours, two bits each. Eyes, empty neighbours and
//! 3×3 patterns are found by table look-up.
//!
//! Invariant: only `Board::set_cell` changes a cell. It also updates the key, the neighbourhoods and the list of empty
//! points, so the key cannot become stale.

pub mod color;
mod liberties;
mod neighbourhood;
pub mod point;
pub mod text;
pub mod zobrist;

pub use color::{ByColor, Cell, Color};
pub use point::{BoardSize, MAX_AREA, MAX_SIDE, Move, Point, PointMap, PointSet, Symmetry};
pub use zobrist::{Key, Zobrist};

pub use liberties::PseudoLiberties;
use neighbourhood::{ADJACENT, DIAGONAL_HOLDS, NEIGHBOUR_OFFSETS, REACH, directions};
pub use point::GRID;
use point::border_code;
use std::fmt;

/// State of one point. `liberties` and `stones` describe a chain and are valid only at the chain's anchor.
#[derive(Clone, Copy)]
struct Intersection {
    /// Pseudo-liberties of the chain.
    liberties: PseudoLiberties,
    /// Number of stones in the chain.
    stones: u16,
    /// Index of the chain's anchor, the point whose entry holds the data of the chain. A point without a stone refers
    /// to an entry without a stone as well, so that the liberties of its "chain" can be updated without a branch and
    /// without effect.
    anchor: u16,
    /// Index of the next stone of the chain. The stones of a chain form a ring.
    next: u16,
    /// [`Cell`]s of the eight neighbours, two bits each, in the order of [`point::STEPS`].
    neighbours: u16,
    /// Position of an empty point in the list of empty points.
    slot: u16,
    cell: Cell,
}

/// Anchor of border points and of stones that belong to no chain yet: an entry of the border.
const NO_ANCHOR: u16 = 0;

const BORDER: Intersection = Intersection {
    liberties: PseudoLiberties::NONE,
    stones: 0,
    anchor: NO_ANCHOR,
    next: 0,
    neighbours: 0,
    slot: 0,
    cell: Cell::Border,
};

/// Result of a move, computed without playing it. See [`Board::outcome`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MoveOutcome {
    /// Key of the position after the move.
    pub key: Key,
    /// Number of stones on the board after the move.
    pub stones: usize,
}

/// Stones that a move removed from the board.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Captures {
    /// Number of the opponent's stones that were captured.
    pub captured: u16,
    /// Number of the mover's own stones that were removed by suicide, including the placed stone.
    pub suicided: u16,
}

/// Reason why stones do not form a valid position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SetupError {
    /// The chain at this point would have no liberty.
    #[error("the chain at {0} has no liberty")]
    NoLiberty(Point),
}

/// A position. See the [module documentation](self).
#[derive(Clone, Copy)]
pub struct Board {
    points: [Intersection; GRID],
    /// The empty points, in no particular order.
    empties: [Point; MAX_AREA],
    empty_count: u16,
    size: BoardSize,
    key: Key,
    /// Number of stones that each side has lost.
    prisoners: ByColor<u32>,
    /// The point that simple ko forbids, and the side to which it is forbidden.
    ko: Option<(Point, Color)>,
    zobrist: &'static Zobrist,
}

impl Board {
    /// Creates an empty board.
    pub fn new(size: BoardSize) -> Board {
        let zobrist = Zobrist::table();
        let mut board = Board {
            points: [BORDER; GRID],
            empties: [Point::from_index(0); MAX_AREA],
            empty_count: size.area() as u16,
            size,
            key: zobrist.size(size),
            prisoners: ByColor::default(),
            ko: None,
            zobrist,
        };
        for (slot, point) in size.points().enumerate() {
            board.empties[slot] = point;
            let neighbours = border_code(size, point);
            board.points[point.index()] = Intersection {
                cell: Cell::Empty,
                slot: slot as u16,
                neighbours,
                anchor: point.index() as u16,
                ..BORDER
            };
        }
        board
    }

    /// Creates a board with the given stones and no prisoners. A later stone on the same point replaces an earlier one.
    ///
    /// # Errors
    /// Returns an error if a chain would have no liberty.
    pub fn from_stones(
        size: BoardSize,
        stones: impl IntoIterator<Item = (Point, Color)>,
    ) -> Result<Board, SetupError> {
        let mut board = Board::new(size);
        for (point, color) in stones {
            if board.cell(point) != Cell::Empty {
                board.set_cell(point, Cell::Empty);
            }
            board.set_cell(point, color.into());
        }
        for point in size.points() {
            board.points[point.index()].anchor = NO_ANCHOR;
        }
        for point in size.points() {
            if let Some(color) = board.cell(point).color()
                && board.points[point.index()].anchor == NO_ANCHOR
            {
                board.make_chain(point, color);
                if board.points[point.index()].liberties.count() == 0 {
                    return Err(SetupError::NoLiberty(point));
                }
            }
        }
        Ok(board)
    }

    /// Creates a board, without prisoners, from the stones of a board in play. Whole chains may be left out.
    ///
    /// # Panics
    ///
    /// Panics if a chain has no liberty, which cannot occur with such stones.
    pub(crate) fn from_stones_of_a_board(
        size: BoardSize,
        stones: impl IntoIterator<Item = (Point, Color)>,
    ) -> Board {
        Board::from_stones(size, stones).unwrap_or_else(|error| panic!("stones of a board in play: {error}"))
    }

    /// Joins all stones of `color` connected to `anchor` into one chain. None of them may have an anchor yet.
    fn make_chain(&mut self, anchor: Point, color: Color) {
        let own = Cell::from(color);
        self.points[anchor.index()].anchor = anchor.index() as u16;
        self.points[anchor.index()].next = anchor.index() as u16;
        let mut liberties = PseudoLiberties::default();
        let mut stones = 0;
        let mut todo = vec![anchor];
        while let Some(point) = todo.pop() {
            stones += 1;
            for neighbour in point.adjacent() {
                let entry = self.points[neighbour.index()];
                if entry.cell == Cell::Empty {
                    liberties.add(neighbour);
                } else if entry.cell == own && entry.anchor == NO_ANCHOR {
                    let after = self.points[anchor.index()].next;
                    self.points[neighbour.index()].anchor = anchor.index() as u16;
                    self.points[neighbour.index()].next = after;
                    self.points[anchor.index()].next = neighbour.index() as u16;
                    todo.push(neighbour);
                }
            }
        }
        self.points[anchor.index()].liberties = liberties;
        self.points[anchor.index()].stones = stones;
    }

    /// Returns the same position with its internal order (list of empty points, rings of chains) rebuilt from the
    /// stones alone, so that later results do not depend on the moves that led to the position.
    #[must_use]
    pub fn rebuilt(&self) -> Board {
        let stones = self.stones().collect::<Vec<_>>();
        let mut board = Board::from_stones_of_a_board(self.size, stones);
        board.prisoners = self.prisoners;
        board.ko = self.ko;
        board
    }

    /// Makes this board equal to `other`. Copies only the part that a board of this size uses.
    #[inline]
    pub fn copy_from(&mut self, other: &Board) {
        if self.size != other.size {
            *self = *other;
            return;
        }
        let end = other.size.grid_end();
        self.points[..end].copy_from_slice(&other.points[..end]);
        let count = other.size.area();
        self.empties[..count].copy_from_slice(&other.empties[..count]);
        self.empty_count = other.empty_count;
        self.key = other.key;
        self.prisoners = other.prisoners;
        self.ko = other.ko;
    }

    /// Returns the size of the board.
    #[inline]
    pub fn size(&self) -> BoardSize {
        self.size
    }

    /// Returns the key of the stones and the board size. It does not depend on the side to move, ko or prisoners.
    #[inline]
    pub fn key(&self) -> Key {
        self.key
    }

    /// Returns the contents of a point, which may be a border point.
    #[inline]
    pub fn cell(&self, point: Point) -> Cell {
        self.points[point.index()].cell
    }

    /// Returns all stones, row by row.
    pub fn stones(&self) -> impl Iterator<Item = (Point, Color)> + '_ {
        self.size.points().filter_map(|point| Some((point, self.cell(point).color()?)))
    }

    /// Returns the number of stones of both colours.
    #[inline]
    pub fn stone_count(&self) -> usize {
        self.size.area() - usize::from(self.empty_count)
    }

    /// Returns the empty points, in no particular order.
    #[inline]
    pub fn empties(&self) -> &[Point] {
        &self.empties[..usize::from(self.empty_count)]
    }

    /// Returns the number of stones that `color` has lost.
    #[inline]
    pub fn prisoners(&self, color: Color) -> u32 {
        self.prisoners[color]
    }

    pub(crate) fn set_prisoners(&mut self, prisoners: ByColor<u32>) {
        self.prisoners = prisoners;
    }

    /// Returns the point that simple ko forbids, and the side to which it is forbidden.
    #[inline]
    pub fn ko(&self) -> Option<(Point, Color)> {
        self.ko
    }

    /// Sets the point that a simple ko bans, with the colour to which it is banned; `None` lifts the ban.
    pub fn set_ko(&mut self, ko: Option<(Point, Color)>) {
        self.ko = ko;
    }

    /// Returns the table of the Zobrist keys.
    #[inline]
    pub fn zobrist(&self) -> &'static Zobrist {
        self.zobrist
    }

    /// Returns the keys of the board's symmetric images, in the order of [`Symmetry::of`].
    pub fn symmetric_keys(&self) -> impl Iterator<Item = Key> + '_ {
        Symmetry::of(self.size).map(|symmetry| {
            self.stones().fold(self.zobrist.size(self.size), |key, (point, color)| {
                key ^ self.zobrist.stone(symmetry.apply(self.size, point), color)
            })
        })
    }

    /// Returns the smallest key among the board's symmetric images. It is equal for all of them.
    pub fn canonical_key(&self) -> Key {
        self.symmetric_keys().min().unwrap_or(self.key)
    }

    /// Returns the key computed from the stones. It is always equal to the incrementally updated [`Board::key`].
    pub fn recomputed_key(&self) -> Key {
        let start = self.zobrist.size(self.size);
        self.stones().fold(start, |key, (point, color)| key ^ self.zobrist.stone(point, color))
    }

    // ------------------------------------------------------------------------------------------ queries

    /// Returns the cells of the eight neighbours, two bits each, in the order of [`point::STEPS`]: the adjacent ones in
    /// the low byte, the diagonal ones in the high byte.
    #[inline]
    pub fn neighbourhood(&self, point: Point) -> u16 {
        self.points[point.index()].neighbours
    }

    /// Extracts the cell in one of the eight directions, as the code of a [`Cell`].
    #[inline]
    fn neighbour_code(neighbourhood: u16, direction: usize) -> u16 {
        (neighbourhood >> (2 * direction)) & 3
    }

    /// Returns the anchor of the chain at an occupied point.
    #[inline]
    pub fn anchor(&self, point: Point) -> Point {
        debug_assert!(self.cell(point).color().is_some());
        Point::from_index(self.points[point.index()].anchor)
    }

    /// Returns the number of stones in the chain at an occupied point.
    #[inline]
    pub fn chain_len(&self, point: Point) -> usize {
        usize::from(self.points[self.anchor(point).index()].stones)
    }

    /// Returns the stones of the chain at an occupied point.
    #[inline]
    pub fn chain(&self, point: Point) -> impl Iterator<Item = Point> + '_ {
        let start = self.anchor(point);
        let mut next = Some(start);
        std::iter::from_fn(move || {
            let here = next?;
            let after = Point::from_index(self.points[here.index()].next);
            next = (after != start).then_some(after);
            Some(here)
        })
    }

    /// Returns whether the chain at an occupied point has exactly one liberty.
    #[inline]
    pub fn in_atari(&self, point: Point) -> bool {
        self.points[self.anchor(point).index()].liberties.is_single()
    }

    /// Returns the only liberty of the chain at an occupied point, or `None` if the chain is not in atari.
    #[inline]
    pub fn atari_liberty(&self, point: Point) -> Option<Point> {
        self.points[self.anchor(point).index()].liberties.single()
    }

    /// Returns up to `N` different liberties of the chain at an occupied point, and their number. If the number is less
    /// than `N`, the chain has no others.
    #[inline]
    pub fn liberties<const N: usize>(&self, point: Point) -> (usize, [Point; N]) {
        let mut found = [Point::from_index(0); N];
        let mut count = 0;
        for stone in self.chain(point) {
            let code = self.neighbourhood(stone);
            if !ADJACENT[usize::from(code & 0xff)].has_empty {
                continue;
            }
            for direction in 0..4 {
                let liberty = stone.step(direction);
                if Self::neighbour_code(code, direction) == 0 && !found[..count].contains(&liberty) {
                    found[count] = liberty;
                    count += 1;
                    if count == N {
                        return (count, found);
                    }
                }
            }
        }
        (count, found)
    }

    /// Returns the exact number of liberties of the chain at an occupied point.
    pub fn liberty_count(&self, point: Point) -> usize {
        let mut seen = PointSet::EMPTY;
        for stone in self.chain(point) {
            for neighbour in stone.adjacent() {
                if self.cell(neighbour) == Cell::Empty {
                    seen.insert(neighbour);
                }
            }
        }
        seen.len()
    }

    /// Returns whether the point has an empty neighbour.
    #[inline]
    pub fn has_empty_neighbour(&self, point: Point) -> bool {
        ADJACENT[usize::from(self.neighbourhood(point) & 0xff)].has_empty
    }

    /// Returns whether all adjacent points of an empty point are stones of `color` or border.
    #[inline]
    pub fn is_enclosed(&self, point: Point, color: Color) -> bool {
        ADJACENT[usize::from(self.neighbourhood(point) & 0xff)].closed[color]
    }

    /// Returns whether an empty point has the shape of a real one-point eye of `color`: it is enclosed, and the
    /// opponent holds at most one diagonal point (none at the edge).
    #[inline]
    pub fn is_eyelike(&self, point: Point, color: Color) -> bool {
        let code = self.neighbourhood(point);
        ADJACENT[usize::from(code & 0xff)].closed[color] && DIAGONAL_HOLDS[usize::from(code >> 8)][color]
    }

    /// Returns whether a stone of `color` on this empty point, with its whole chain, would have no liberties even after
    /// the stones it captures are removed.
    ///
    /// ```
    /// use kosumi_go::board::{Board, Color, Point};
    /// let board: Board = "
    ///     . X .
    ///     X . X
    ///     . X ."
    ///     .parse()?;
    /// let middle = Point::new(1, 1);
    /// assert!(board.is_suicide(middle, Color::White) && !board.is_suicide(middle, Color::Black));
    /// # Ok::<(), kosumi_go::board::text::DrawingError>(())
    /// ```
    #[inline]
    pub fn is_suicide(&self, point: Point, color: Color) -> bool {
        let adjacent = &ADJACENT[usize::from(self.neighbourhood(point) & 0xff)];
        // A chain of `color` with a second liberty survives. An enemy chain in atari is captured.
        let in_atari = self.only_liberty_of(point);
        let alive = adjacent.holds[color] & !in_atari | adjacent.holds[color.opponent()] & in_atari;
        !adjacent.has_empty && alive == 0
    }

    /// Returns a bit set of the directions in which the adjacent chain has no liberty except this empty point. Bits of
    /// directions without a stone are meaningless.
    #[inline]
    fn only_liberty_of(&self, point: Point) -> u8 {
        let mut found = 0;
        for direction in 0..4 {
            let anchor = self.points[point.step(direction).index()].anchor;
            let liberties = self.points[usize::from(anchor)].liberties;
            found |= u8::from(liberties.is_only(point)) << direction;
        }
        found
    }

    /// Returns whether a stone of `color` on this empty point would be the suicide of a single stone. Such a move would
    /// not change the board, and no rule set of this crate allows it.
    pub fn is_single_stone_suicide(&self, point: Point, color: Color) -> bool {
        self.is_suicide(point, color) && self.is_enclosed(point, color.opponent())
    }

    /// Returns whether simple ko forbids the point to `color`.
    #[inline]
    pub fn is_ko(&self, point: Point, color: Color) -> bool {
        self.ko == Some((point, color))
    }

    /// Returns whether a stone of `color` on this empty point would capture anything.
    #[inline]
    pub fn captures_any(&self, point: Point, color: Color) -> bool {
        let adjacent = &ADJACENT[usize::from(self.neighbourhood(point) & 0xff)];
        adjacent.holds[color.opponent()] & self.only_liberty_of(point) != 0
    }

    /// Computes the result of a move of `color` on this empty point. It accounts for captures and suicide, but not for
    /// ko.
    pub fn outcome(&self, point: Point, color: Color) -> MoveOutcome {
        let mut key = self.key ^ self.zobrist.stone(point, color);
        let mut stones = self.stone_count() + 1;
        let mut taken: smallvec::SmallVec<[Point; 4]> = smallvec::SmallVec::new();
        let enemy = color.opponent();
        for neighbour in point.adjacent() {
            if self.cell(neighbour) == Cell::from(enemy) && self.in_atari(neighbour) {
                let anchor = self.anchor(neighbour);
                if !taken.contains(&anchor) {
                    taken.push(anchor);
                    for stone in self.chain(anchor) {
                        key ^= self.zobrist.stone(stone, enemy);
                        stones -= 1;
                    }
                }
            }
        }
        if taken.is_empty() && self.is_suicide(point, color) {
            key ^= self.zobrist.stone(point, color);
            stones -= 1;
            for neighbour in point.adjacent() {
                if self.cell(neighbour) == Cell::from(color) {
                    let anchor = self.anchor(neighbour);
                    if !taken.contains(&anchor) {
                        taken.push(anchor);
                        for stone in self.chain(anchor) {
                            key ^= self.zobrist.stone(stone, color);
                            stones -= 1;
                        }
                    }
                }
            }
        }
        MoveOutcome { key, stones }
    }

    // ------------------------------------------------------------------------------------------ changes

    /// Returns the part of the grid from the lower left to the upper right neighbour of a point of the board. One
    /// bounds check covers all eight neighbours, which lie at the offsets [`NEIGHBOUR_OFFSETS`].
    #[inline]
    fn around_mut(&mut self, point: Point) -> &mut [Intersection; 2 * REACH + 1] {
        let first = point.index() - REACH;
        self.points[first..]
            .first_chunk_mut()
            .unwrap_or_else(|| unreachable!("{point} and its neighbours lie inside the grid"))
    }

    /// Changes the contents of a point. No other function does.
    // Inlined, because both callers know whether a stone is placed or removed, which halves the code.
    #[inline(always)]
    fn set_cell(&mut self, point: Point, cell: Cell) {
        let old = std::mem::replace(&mut self.points[point.index()].cell, cell);
        debug_assert!(old != Cell::Border && cell != Cell::Border);
        debug_assert!((old == Cell::Empty) != (cell == Cell::Empty));
        // One of the two cells is Empty, whose code is 0, so the difference is the code of the stone.
        let change = old as u16 ^ cell as u16;
        let around = self.around_mut(point);
        for direction in 0..8 {
            around[NEIGHBOUR_OFFSETS[direction]].neighbours ^= change << (2 * (direction ^ 1));
        }
        if let Some(color) = cell.color() {
            self.key ^= self.zobrist.stone(point, color);
            self.empty_count -= 1;
            let last = self.empties[usize::from(self.empty_count)];
            let slot = self.points[point.index()].slot;
            self.empties[usize::from(slot)] = last;
            self.points[last.index()].slot = slot;
        } else if let Some(color) = old.color() {
            self.key ^= self.zobrist.stone(point, color);
            self.points[point.index()].slot = self.empty_count;
            self.empties[usize::from(self.empty_count)] = point;
            self.empty_count += 1;
        }
    }

    /// Places a stone on an empty point, removes enemy chains without liberties, and then removes the stone's own chain
    /// if it has no liberties (suicide). Ko is not checked. Debug builds assert that the point is empty.
    ///
    /// The contents of the neighbours in a playout are random, and a branch on them is mispredicted half of the time.
    /// The function therefore decrements the liberties of all four neighbours, whether they are stones or not, and
    /// branches only on rarer cases: own chains to join and enemy chains to capture.
    #[inline]
    pub fn play_unchecked(&mut self, point: Point, color: Color) -> Captures {
        debug_assert!(self.cell(point) == Cell::Empty, "{point} is not empty");
        let adjacent = &ADJACENT[usize::from(self.neighbourhood(point) & 0xff)];
        self.ko = None;
        self.set_cell(point, color.into());
        let index = point.index() as u16;
        let entry = &mut self.points[point.index()];
        entry.liberties = PseudoLiberties::around(point, adjacent.empty);
        (entry.stones, entry.anchor, entry.next) = (1, index, index);

        let around = self.around_mut(point);
        let anchors: [usize; 4] =
            std::array::from_fn(|direction| usize::from(around[NEIGHBOUR_OFFSETS[direction]].anchor));
        let mut without = 0;
        for (direction, &anchor) in anchors.iter().enumerate() {
            let liberties = &mut self.points[anchor].liberties;
            liberties.remove(point);
            without |= u8::from(liberties.count() == 0) << direction;
        }
        // Each adjacent stone had a liberty at this point, so a chain that touches the point on several sides is marked
        // only on the last of these sides.
        let taken = without & adjacent.holds[color.opponent()];
        let mut played = Captures::default();
        let mut last_captured = point;
        if taken != 0 {
            for direction in directions(taken) {
                last_captured = point.step(direction);
                played.captured += self.points[anchors[direction]].stones;
                self.remove_chain(last_captured, color.opponent());
            }
        }
        for direction in directions(adjacent.holds[color]) {
            // `anchors` may be stale: merging the previous chain may have changed the anchor of this one.
            let chain = self.points[point.step(direction).index()].anchor;
            self.merge(usize::from(self.points[point.index()].anchor), usize::from(chain));
        }
        let chain = &self.points[usize::from(self.points[point.index()].anchor)];
        if chain.liberties.count() == 0 {
            played.suicided = chain.stones;
            self.remove_chain(point, color);
        } else if played.captured == 1 && chain.stones == 1 && chain.liberties.count() == 1 {
            self.ko = Some((last_captured, color.opponent()));
        }
        played
    }

    /// Plays a pass, which lifts the simple-ko ban.
    #[inline]
    pub fn pass(&mut self) {
        self.ko = None;
    }

    /// Joins two chains, given by their anchors. The smaller chain gets the anchor of the larger one.
    #[inline]
    fn merge(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        let (keep, lose) = if self.points[a].stones >= self.points[b].stones { (a, b) } else { (b, a) };
        let lost = self.points[lose];
        self.points[keep].liberties.join(lost.liberties);
        self.points[keep].stones += lost.stones;
        let mut stone = lose;
        loop {
            self.points[stone].anchor = keep as u16;
            stone = usize::from(self.points[stone].next);
            if stone == lose {
                break;
            }
        }
        let after = self.points[keep].next;
        self.points[keep].next = lost.next;
        self.points[lose].next = after;
    }

    /// Removes a whole chain of `color` from the board.
    #[inline]
    fn remove_chain(&mut self, start: Point, color: Color) {
        let mut count = 0;
        let mut stone = start;
        loop {
            self.set_cell(stone, Cell::Empty);
            self.points[stone.index()].anchor = stone.index() as u16;
            // Stones of the chain that are still to be removed gain liberties too. This is harmless, because the entry
            // of their chain is no longer used.
            for neighbour in stone.adjacent() {
                let anchor = usize::from(self.points[neighbour.index()].anchor);
                self.points[anchor].liberties.add(stone);
            }
            count += 1;
            stone = Point::from_index(self.points[stone.index()].next);
            if stone == start {
                break;
            }
        }
        self.prisoners[color] += count;
    }

    /// Checks all derived state of the board against its stones. For tests.
    ///
    /// # Panics
    ///
    /// Panics if any derived state disagrees with the stones.
    pub fn check_consistency(&self) {
        assert_eq!(self.key, self.recomputed_key(), "key");
        let empty = self.size.points().filter(|&point| self.cell(point) == Cell::Empty).collect::<PointSet>();
        assert_eq!(empty.len(), self.empties().len(), "number of empty points");
        for (slot, &point) in self.empties().iter().enumerate() {
            assert_eq!(usize::from(self.points[point.index()].slot), slot, "slot of {point}");
            assert!(empty.contains(point));
        }
        for point in self.size.points() {
            for direction in 0..8 {
                let neighbour = self.cell(point.step(direction)) as u16;
                assert_eq!(Self::neighbour_code(self.neighbourhood(point), direction), neighbour, "{point}");
            }
            if self.cell(point).color().is_none() {
                continue;
            }
            assert!(self.chain(point).any(|stone| stone == point), "chain of {point}");
            assert_eq!(self.chain(point).count(), self.chain_len(point), "stones of {point}");
            let mut pairs = PseudoLiberties::default();
            for stone in self.chain(point) {
                assert_eq!(self.cell(stone), self.cell(point));
                assert_eq!(self.anchor(stone), self.anchor(point));
                for neighbour in stone.adjacent() {
                    match self.cell(neighbour) {
                        Cell::Empty => pairs.add(neighbour),
                        cell if cell == self.cell(point) => {
                            assert_eq!(self.anchor(neighbour), self.anchor(point), "{stone} and {neighbour}");
                        }
                        _ => {}
                    }
                }
            }
            let kept = self.points[self.anchor(point).index()].liberties;
            assert!(kept == pairs, "pseudo-liberties of {point}");
            assert!(kept.count() > 0, "{point} has no liberty");
            assert_eq!(self.in_atari(point), self.liberty_count(point) == 1, "atari of {point}");
        }
    }
}

impl PartialEq for Board {
    /// Compares size, stones and ko. Prisoners and internal order do not count.
    fn eq(&self, other: &Board) -> bool {
        self.size == other.size && self.ko == other.ko && self.stones().eq(other.stones())
    }
}

impl Eq for Board {}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}\n{self}", self.size, self.key)
    }
}
