//! Points, moves and board sizes on a grid of fixed stride.
//!
//! The index of a point does not depend on the size of the board. Boards of every size lie in the lower left corner of
//! one padded grid, with row 0 lowest as in GTP. Column 0 of the next row doubles as the right border.
//!
//! ```text
//!   index = (row + 1) * 26 + (column + 1)
//!
//!          +26                    row 1   53  54  55 …
//!       −1  p  +1                 row 0   27  28  29 …
//!          −26                    border   1   2   3 …
//! ```

use super::color::Cell;
use std::fmt;

/// Longest side of a board. GTP has 25 column letters.
pub const MAX_SIDE: usize = 25;
/// Number of points of the largest board.
pub const MAX_AREA: usize = MAX_SIDE * MAX_SIDE;
/// Distance in the grid between a point and the one above it.
pub const STRIDE: usize = MAX_SIDE + 1;
/// Length of an array indexed by [`Point`], including the border.
pub const GRID: usize = (MAX_SIDE + 2) * STRIDE + 1;

/// Offsets to the eight neighbours: the four adjacent ones, then the four diagonal ones. Directions `d` and `d ^ 1` are
/// opposite.
pub const STEPS: [i16; 8] = {
    let s = STRIDE as i16;
    [s, -s, 1, -1, s + 1, -s - 1, s - 1, -s + 1]
};

/// A point (intersection) of the board, or of the border around it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point(u16);

impl Point {
    /// Returns the point at `column` from the left and `row` from the bottom. Both are counted from 0 and must be below
    /// [`MAX_SIDE`].
    #[inline]
    pub const fn new(column: usize, row: usize) -> Point {
        debug_assert!(column < MAX_SIDE && row < MAX_SIDE);
        Point(((row + 1) * STRIDE + column + 1) as u16)
    }

    /// Returns the point with this index in the padded grid.
    pub const fn from_index(index: u16) -> Point {
        Point(index)
    }

    /// Returns the column, counted from 0 at the left.
    #[inline]
    pub const fn column(self) -> usize {
        self.0 as usize % STRIDE - 1
    }

    /// Returns the row, counted from 0 at the bottom.
    #[inline]
    pub const fn row(self) -> usize {
        self.0 as usize / STRIDE - 1
    }

    /// Returns the index into an array of length [`GRID`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the neighbour in direction `direction` of [`STEPS`]. It may lie on the border.
    #[inline]
    pub const fn step(self, direction: usize) -> Point {
        Point(self.0.wrapping_add_signed(STEPS[direction]))
    }

    /// Returns the four adjacent points, including border points.
    #[inline]
    pub const fn adjacent(self) -> [Point; 4] {
        [self.step(0), self.step(1), self.step(2), self.step(3)]
    }

    /// Returns the four diagonal points, including border points.
    #[inline]
    pub const fn diagonal(self) -> [Point; 4] {
        [self.step(4), self.step(5), self.step(6), self.step(7)]
    }
}

impl fmt::Debug for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Point {
    /// Writes the point as in GTP: column letter (without I), then row number from 1.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = b"ABCDEFGHJKLMNOPQRSTUVWXYZ".get(self.column()).copied().unwrap_or(b'?');
        write!(f, "{}{}", char::from(letter), self.row() + 1)
    }
}

/// A move: a stone or a pass.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Move {
    /// Places a stone on this point.
    Play(Point),
    /// Places no stone.
    Pass,
}

impl Move {
    /// Returns the point of the stone, or `None` for a pass.
    #[inline]
    pub const fn point(self) -> Option<Point> {
        match self {
            Move::Play(point) => Some(point),
            Move::Pass => None,
        }
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Move::Play(point) => point.fmt(f),
            Move::Pass => f.write_str("pass"),
        }
    }
}

/// Number of columns and rows of a board, each from 1 to [`MAX_SIDE`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct BoardSize {
    columns: u8,
    rows: u8,
}

impl BoardSize {
    /// Returns the size `columns` × `rows`, or `None` unless both are from 1 to [`MAX_SIDE`].
    pub const fn new(columns: usize, rows: usize) -> Option<BoardSize> {
        if columns == 0 || rows == 0 || columns > MAX_SIDE || rows > MAX_SIDE {
            return None;
        }
        Some(BoardSize { columns: columns as u8, rows: rows as u8 })
    }

    /// Returns the size of a square board, or `None` unless `side` is from 1 to [`MAX_SIDE`].
    pub const fn square(side: usize) -> Option<BoardSize> {
        BoardSize::new(side, side)
    }

    /// Returns the number of columns.
    #[inline]
    pub const fn columns(self) -> usize {
        self.columns as usize
    }

    /// Returns the number of rows.
    #[inline]
    pub const fn rows(self) -> usize {
        self.rows as usize
    }

    /// Returns the number of points.
    #[inline]
    pub const fn area(self) -> usize {
        self.columns() * self.rows()
    }

    /// Returns whether the board is square.
    pub const fn is_square(self) -> bool {
        self.columns == self.rows
    }

    /// Returns whether a board of this size has a point at this column and row.
    pub const fn contains(self, column: usize, row: usize) -> bool {
        column < self.columns() && row < self.rows()
    }

    /// Returns the point at a column and row counted from 0 at the lower left, or `None` if it is not on the board.
    pub const fn point(self, column: usize, row: usize) -> Option<Point> {
        if self.contains(column, row) { Some(Point::new(column, row)) } else { None }
    }

    /// Returns all points, row by row from the lower left.
    pub fn points(self) -> impl Iterator<Item = Point> + Clone {
        (0..self.rows()).flat_map(move |row| (0..self.columns()).map(move |column| Point::new(column, row)))
    }

    /// Returns the number of grid entries that a board of this size uses, including the border. Entries from this index
    /// on need not be copied.
    #[inline]
    pub const fn grid_end(self) -> usize {
        (self.rows() + 2) * STRIDE + 1
    }

    /// Returns the distance of `point` to the nearest edge: 1 on the edge.
    pub fn line(self, point: Point) -> usize {
        let (column, row) = (point.column(), point.row());
        1 + column.min(row).min(self.columns() - 1 - column).min(self.rows() - 1 - row)
    }
}

impl fmt::Display for BoardSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}×{}", self.columns, self.rows)
    }
}

/// A map with one value for each point of the padded grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointMap<T>(Box<[T]>);

impl<T: Clone> PointMap<T> {
    /// Creates a map in which every point has `value`.
    pub fn filled(value: T) -> PointMap<T> {
        PointMap(vec![value; GRID].into_boxed_slice())
    }

    /// Makes this map equal to `other` without allocating memory.
    pub fn copy_from(&mut self, other: &PointMap<T>) {
        self.0.clone_from_slice(&other.0);
    }

    /// Sets the value of every point.
    pub fn fill(&mut self, value: T) {
        self.0.fill(value);
    }
}

impl<T> std::ops::Index<Point> for PointMap<T> {
    type Output = T;
    #[inline]
    fn index(&self, point: Point) -> &T {
        &self.0[point.index()]
    }
}

impl<T> std::ops::IndexMut<Point> for PointMap<T> {
    #[inline]
    fn index_mut(&mut self, point: Point) -> &mut T {
        &mut self.0[point.index()]
    }
}

/// A set of points, stored as one bit per point of the grid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct PointSet([u64; GRID.div_ceil(64)]);

impl PointSet {
    /// The empty set.
    pub const EMPTY: PointSet = PointSet([0; GRID.div_ceil(64)]);

    /// Adds a point. Returns true if the set did not contain it.
    #[inline]
    pub fn insert(&mut self, point: Point) -> bool {
        let (word, bit) = (point.index() / 64, 1u64 << (point.index() % 64));
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }

    /// Removes a point.
    #[inline]
    pub fn remove(&mut self, point: Point) {
        self.0[point.index() / 64] &= !(1u64 << (point.index() % 64));
    }

    /// Returns whether the set contains the point.
    #[inline]
    pub fn contains(&self, point: Point) -> bool {
        self.0[point.index() / 64] & (1u64 << (point.index() % 64)) != 0
    }

    /// Returns the number of points in the set.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Adds all of the given points.
    pub fn extend_from(&mut self, points: impl Iterator<Item = Point>) {
        for point in points {
            self.insert(point);
        }
    }

    /// Adds all points of `other`.
    pub fn union_with(&mut self, other: &PointSet) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a |= b;
        }
    }

    /// Returns the points of this set that are not in `other`.
    #[must_use]
    pub fn without(mut self, other: &PointSet) -> PointSet {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a &= !b;
        }
        self
    }

    /// Returns the points in ascending order of their index.
    pub fn iter(&self) -> impl Iterator<Item = Point> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                if bit == 64 {
                    return None;
                }
                rest &= rest - 1;
                Some(Point((index * 64) as u16 + bit as u16))
            })
        })
    }
}

impl FromIterator<Point> for PointSet {
    fn from_iter<I: IntoIterator<Item = Point>>(points: I) -> PointSet {
        let mut set = PointSet::EMPTY;
        for point in points {
            set.insert(point);
        }
        set
    }
}

/// One of the eight symmetries of a square board. Code 0 is the identity. Bit 0 mirrors left and right, bit 1 mirrors
/// top and bottom, and bit 2 then swaps columns and rows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Symmetry(u8);

impl Symmetry {
    /// All eight symmetries, in the order of their codes.
    pub const ALL: [Symmetry; 8] = {
        let mut all = [Symmetry(0); 8];
        let mut code = 0;
        while code < 8 {
            all[code as usize] = Symmetry(code);
            code += 1;
        }
        all
    };

    /// Returns the symmetries that map a board of this size onto itself: eight for a square board, four for any other.
    pub fn of(size: BoardSize) -> impl Iterator<Item = Symmetry> {
        (0..if size.is_square() { 8 } else { 4 }).map(Symmetry)
    }

    /// Returns the code of the symmetry, from 0 to 7.
    pub const fn code(self) -> u8 {
        self.0
    }

    /// Returns the inverse symmetry.
    #[must_use]
    pub const fn inverse(self) -> Symmetry {
        // The swap comes last, so in the inverse a mirror of columns becomes a mirror of rows.
        if self.0 & 4 == 0 { self } else { Symmetry(4 | (self.0 & 1) << 1 | (self.0 & 2) >> 1) }
    }

    /// Returns the symmetry that applies this one and then `next`.
    #[must_use]
    pub const fn then(self, next: Symmetry) -> Symmetry {
        // After a swap, a mirror of columns acts on what were rows.
        let mirrors = if self.0 & 4 == 0 { next.0 } else { (next.0 & 1) << 1 | (next.0 & 2) >> 1 };
        Symmetry(self.0 ^ (mirrors & 3 | next.0 & 4))
    }

    /// Returns the size of the image of a board of this size.
    #[must_use]
    pub const fn image_size(self, size: BoardSize) -> BoardSize {
        if self.0 & 4 == 0 { size } else { BoardSize { columns: size.rows, rows: size.columns } }
    }

    /// Returns the image of `point` on a board of this size.
    pub fn apply(self, size: BoardSize, point: Point) -> Point {
        let (mut column, mut row) = (point.column(), point.row());
        if self.0 & 1 != 0 {
            column = size.columns() - 1 - column;
        }
        if self.0 & 2 != 0 {
            row = size.rows() - 1 - row;
        }
        if self.0 & 4 != 0 { Point::new(row, column) } else { Point::new(column, row) }
    }
}

/// Returns the neighbourhood code of a point of an empty board: the neighbours that are off the board are
/// [`Cell::Border`].
pub(crate) fn border_code(size: BoardSize, point: Point) -> u16 {
    let mut code = 0u16;
    for (direction, &step) in STEPS.iter().enumerate() {
        let index = (point.index() as i16 + step) as usize;
        let (column, row) = (index % STRIDE, index / STRIDE);
        let inside = (1..=size.columns()).contains(&column) && (1..=size.rows()).contains(&row);
        if !inside {
            code |= (Cell::Border as u16) << (2 * direction);
        }
    }
    code
}
