//! A slow and simple board: an array of cells and flood fill, written directly from the text of the Tromp-Taylor rules.
//! Tests compare [`Board`] with it. Nothing that must be fast uses it.
//!
//! It is the only such board. The model of GTP sessions (`src/tools/commands/session_model`) includes this file by its
//! path, because a crate that both could depend on would have to depend on `kosumi-go`, whose tests use it.

use kosumi_go::board::{Board, BoardSize, Cell, Color, Point};

/// A position without chains, counters or keys.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ReferenceBoard {
    size: BoardSize,
    /// Cells, row by row from the lower left.
    cells: Vec<Cell>,
}

impl ReferenceBoard {
    /// Creates an empty board.
    pub(crate) fn new(size: BoardSize) -> ReferenceBoard {
        ReferenceBoard { size, cells: vec![Cell::Empty; size.area()] }
    }

    /// Returns the size of the board.
    pub(crate) fn size(&self) -> BoardSize {
        self.size
    }

    fn index(&self, point: Point) -> usize {
        point.row() * self.size.columns() + point.column()
    }

    /// Returns the contents of a point of the board.
    pub(crate) fn cell(&self, point: Point) -> Cell {
        self.cells[self.index(point)]
    }

    /// Sets the contents of a point, without captures.
    pub(crate) fn set(&mut self, point: Point, cell: Cell) {
        let index = self.index(point);
        self.cells[index] = cell;
    }

    /// Returns the adjacent points on the board.
    pub(crate) fn adjacent(&self, point: Point) -> Vec<Point> {
        let (column, row) = (point.column() as i32, point.row() as i32);
        [(0, 1), (0, -1), (1, 0), (-1, 0)]
            .iter()
            .map(|(right, up)| (column + right, row + up))
            .filter(|&(c, r)| c >= 0 && r >= 0 && self.size.contains(c as usize, r as usize))
            .map(|(c, r)| Point::new(c as usize, r as usize))
            .collect()
    }

    /// Returns the points connected to `point` through cells of the same kind, including `point`.
    pub(crate) fn connected(&self, point: Point) -> Vec<Point> {
        let kind = self.cell(point);
        let mut found = vec![point];
        let mut next = 0;
        while next < found.len() {
            for neighbour in self.adjacent(found[next]) {
                if self.cell(neighbour) == kind && !found.contains(&neighbour) {
                    found.push(neighbour);
                }
            }
            next += 1;
        }
        found
    }

    /// Returns the liberties of the stones connected to `point`, sorted.
    pub(crate) fn liberties(&self, point: Point) -> Vec<Point> {
        let mut liberties: Vec<Point> = self
            .connected(point)
            .into_iter()
            .flat_map(|stone| self.adjacent(stone))
            .filter(|&neighbour| self.cell(neighbour) == Cell::Empty)
            .collect();
        liberties.sort();
        liberties.dedup();
        liberties
    }

    /// Removes every stone of `color` without liberties.
    fn clear(&mut self, color: Color) {
        let dead: Vec<Point> = self
            .size
            .points()
            .filter(|&point| self.cell(point) == color.into() && self.liberties(point).is_empty())
            .collect();
        for point in dead {
            self.set(point, Cell::Empty);
        }
    }

    /// Returns the position after `color` plays on an empty point. The opponent's stones without liberties are removed
    /// first, then the player's own.
    ///
    /// # Panics
    ///
    /// Panics if the point is not empty.
    #[must_use]
    pub(crate) fn after(&self, point: Point, color: Color) -> ReferenceBoard {
        assert_eq!(self.cell(point), Cell::Empty);
        let mut board = self.clone();
        board.set(point, color.into());
        board.clear(color.opponent());
        board.clear(color);
        board
    }

    /// Returns whether the placed stone is removed by its own move.
    pub(crate) fn is_suicide(&self, point: Point, color: Color) -> bool {
        self.after(point, color).cell(point) == Cell::Empty
    }

    /// Returns whether every stone has a liberty.
    pub(crate) fn is_legal_position(&self) -> bool {
        self.size.points().all(|point| self.cell(point) == Cell::Empty || !self.liberties(point).is_empty())
    }
}

impl From<&Board> for ReferenceBoard {
    fn from(board: &Board) -> ReferenceBoard {
        let size = board.size();
        ReferenceBoard { size, cells: size.points().map(|point| board.cell(point)).collect() }
    }
}
