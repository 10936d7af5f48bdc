//! Input features of a network for one position.

use kosumi_go::board::{BoardSize, Point, PointSet};

/// Number of features of each point.
pub const SPATIAL_FEATURES: usize = 22;

/// Number of features of the position as a whole.
pub const GLOBAL_FEATURES: usize = 19;

/// Number of features that describe the players, for networks of human play.
pub const METADATA_FEATURES: usize = 192;

/// Features of one position, from the perspective of the side to move: "own" stones belong to the side to move.
///
/// The features are KataGo's "V7" inputs, which all networks of versions 8 to 17 take.
#[derive(Clone, PartialEq, Debug)]
pub struct Input {
    /// Number of columns of the board.
    pub width: usize,
    /// Number of rows of the board.
    pub height: usize,
    /// Features of the points, of shape `[height][width][SPATIAL_FEATURES]`: feature `c` of column `x` (0 = A) and row
    /// `y` (0 = the **top** row) is at index `(y * width + x) * SPATIAL_FEATURES + c`.
    pub spatial: Vec<f32>,
    /// Features of the position as a whole.
    pub global: [f32; GLOBAL_FEATURES],
    /// Features of the players (see [`Profile`](super::Profile)), for networks that take them. Other networks ignore
    /// them. `None` is equivalent to zeros.
    pub metadata: Option<Box<[f32; METADATA_FEATURES]>>,
}

/// Returns the index of a point in a network's inputs and outputs: row by row, from the **top** left.
pub fn index(size: BoardSize, point: Point) -> usize {
    (size.rows() - 1 - point.row()) * size.columns() + point.column()
}

/// Returns the point at an [`index`], or `None` if the board has no such point.
pub fn point_at(size: BoardSize, index: usize) -> Option<Point> {
    let row_from_top = index / size.columns();
    (row_from_top < size.rows()).then(|| Point::new(index % size.columns(), size.rows() - 1 - row_from_top))
}

impl Input {
    /// Returns an input for a board of this size in which every feature is 0, including "on the board".
    pub fn zero(width: usize, height: usize) -> Input {
        let spatial = vec![0.0; width * height * SPATIAL_FEATURES];
        Input { width, height, spatial, global: [0.0; GLOBAL_FEATURES], metadata: None }
    }

    /// Makes this an input for a board of this size in which every feature is 0 and the players are unknown. Allocates
    /// nothing if it held an input for a board of at least this area before.
    pub fn clear(&mut self, size: BoardSize) {
        (self.width, self.height) = (size.columns(), size.rows());
        self.spatial.clear();
        self.spatial.resize(size.area() * SPATIAL_FEATURES, 0.0);
        self.global = [0.0; GLOBAL_FEATURES];
        self.metadata = None;
    }

    /// Sets feature `feature` of every point in `points` to 1. `size` is the size of the input's board.
    pub fn mark(&mut self, size: BoardSize, feature: usize, points: &PointSet) {
        for point in points.iter() {
            self.spatial[index(size, point) * SPATIAL_FEATURES + feature] = 1.0;
        }
    }

    /// Returns the [`SPATIAL_FEATURES`] features of the point in column `x` and row `y`, counted from the top left.
    pub fn point(&self, x: usize, y: usize) -> &[f32] {
        let start = (y * self.width + x) * SPATIAL_FEATURES;
        &self.spatial[start..start + SPATIAL_FEATURES]
    }

    /// Returns the [`SPATIAL_FEATURES`] features of the point in column `x` and row `y`, counted from the top left, for
    /// writing.
    pub fn point_mut(&mut self, x: usize, y: usize) -> &mut [f32] {
        let start = (y * self.width + x) * SPATIAL_FEATURES;
        &mut self.spatial[start..start + SPATIAL_FEATURES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_leads_back_to_its_point() {
        let size = BoardSize::new(4, 3).unwrap();
        assert_eq!(index(size, Point::new(1, 2)), 1, "the top row comes first");
        for point in size.points() {
            assert_eq!(point_at(size, index(size, point)), Some(point));
        }
        assert_eq!(point_at(size, 12), None);
    }

    #[test]
    fn points_lie_row_by_row_from_the_top() {
        let mut input = Input::zero(3, 2);
        input.point_mut(2, 0)[1] = 1.0;
        input.point_mut(0, 1)[21] = 2.0;
        assert_eq!(input.spatial.len(), 3 * 2 * SPATIAL_FEATURES);
        assert_eq!(input.spatial[2 * SPATIAL_FEATURES + 1], 1.0);
        assert_eq!(input.spatial[3 * SPATIAL_FEATURES + 21], 2.0);
        assert_eq!(input.point(2, 0)[1], 1.0);
    }
}
