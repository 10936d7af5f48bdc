//! Images of positions under symmetry: a position and its rotations and reflections are read once.

use super::bits::Bits;
use super::move_code::MoveCode;
use super::table::Trace;
use super::window::Window;
use kosumi_go::board::{BoardSize, Point, Symmetry};

/// Largest number of columns of a board whose images are used. The tables of wider boards would be large, and such
/// boards are not solved anyway.
const MAX_COLUMNS: u32 = 8;

/// Images of sets of points under the symmetries of a whole board. The tables go by rows, so an image takes a few
/// look-ups.
#[derive(Clone, Debug)]
pub(super) struct Images<B> {
    /// Image by symmetry, then row, then contents of the row.
    tables: Vec<Vec<Vec<B>>>,
    inverse: Vec<u8>,
    stride: u32,
    row_mask: u64,
}

impl<B: Bits> Images<B> {
    /// Creates the tables for a window that is a whole board; `None` if it is too wide.
    pub(super) fn new(window: &Window<B>, size: BoardSize) -> Option<Images<B>> {
        if window.columns > MAX_COLUMNS || size.columns() as u32 != window.columns {
            return None;
        }
        let all: Vec<Symmetry> = Symmetry::of(size).collect();
        let image = |symmetry: Symmetry, row: usize, contents: usize| {
            (0..size.columns()).filter(|column| contents >> column & 1 == 1).fold(
                B::default(),
                |set, column| {
                    let index = window.index(symmetry.apply(size, Point::new(column, row)));
                    index.map_or(set, |index| set | B::one(index))
                },
            )
        };
        let tables = all.iter().map(|&symmetry| {
            let row = |row| (0..1 << size.columns()).map(|contents| image(symmetry, row, contents)).collect();
            (0..size.rows()).map(row).collect()
        });
        Some(Images {
            tables: tables.collect(),
            inverse: all.iter().map(|symmetry| symmetry.inverse().code()).collect(),
            stride: window.columns + 1,
            row_mask: (1 << window.columns) - 1,
        })
    }

    /// Returns the image of a set.
    #[inline]
    fn apply(&self, symmetry: u8, set: B) -> B {
        if symmetry == 0 {
            return set;
        }
        let mut rest = set;
        let mut image = B::default();
        for row in &self.tables[usize::from(symmetry)] {
            image = image | row[(rest.low_word() & self.row_mask) as usize];
            rest = rest >> self.stride;
        }
        image
    }

    /// Returns the smallest image of some stones, and the symmetry that leads to it.
    pub(super) fn smallest(&self, stones: [B; 2]) -> ([B; 2], u8) {
        let mut best = (stones, 0);
        for symmetry in 1..self.tables.len() as u8 {
            let black = self.apply(symmetry, stones[0]);
            if black > best.0[0] {
                continue;
            }
            let image = [black, self.apply(symmetry, stones[1])];
            if image < best.0 {
                best = (image, symmetry);
            }
        }
        best
    }

    /// Returns the image of a trace.
    pub(super) fn trace(&self, symmetry: u8, trace: &Trace<B>) -> Trace<B> {
        let image = |set| self.apply(symmetry, set);
        Trace { played: trace.played.map(image), removed: trace.removed.map(image) }
    }

    /// Returns the image of a point.
    pub(super) fn step(&self, symmetry: u8, step: MoveCode) -> MoveCode {
        let image = self.apply(symmetry, B::one(u32::from(step)));
        image.each().next().map_or(step, |index| index as MoveCode)
    }

    /// Returns the point of which this one is the image.
    pub(super) fn step_back(&self, symmetry: u8, step: MoveCode) -> MoveCode {
        self.step(self.inverse[usize::from(symmetry)], step)
    }

    /// Returns the trace of which this one is the image: the inverse of [`Images::trace`].
    pub(super) fn trace_back(&self, symmetry: u8, trace: &Trace<B>) -> Trace<B> {
        self.trace(self.inverse[usize::from(symmetry)], trace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_image_is_unique() {
        for (columns, rows) in [(3, 3), (4, 2), (5, 5), (1, 6)] {
            let size = BoardSize::new(columns, rows).unwrap();
            let window = Window::<u64>::whole(size, false).unwrap();
            let images = Images::new(&window, size).unwrap();
            let stones = [u64::one(0), window.points & !u64::one(0) & 0x2d2d];
            let (smallest, _) = images.smallest(stones);
            for symmetry in 0..images.tables.len() as u8 {
                let image = stones.map(|set| images.apply(symmetry, set));
                assert!(image.iter().all(|set| set.within(window.points)));
                assert_eq!(images.smallest(image).0, smallest, "{size} {symmetry}");
                let trace = Trace { played: stones, removed: image };
                let turned = images.trace(symmetry, &trace);
                assert_eq!(images.trace_back(symmetry, &turned), trace);
            }
        }
    }
}
