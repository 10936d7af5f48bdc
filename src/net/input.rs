//! What a network is shown of a position.

use kosumi_go::board::{BoardSize, Point, PointSet};

/// Features of every point.
pub const SPATIAL_FEATURES: usize = 22;

/// Features of the position as a whole.
pub const GLOBAL_FEATURES: usize = 19;

/// What networks of human play are told about the players.
pub const METADATA_FEATURES: usize = 192;

/// The features of one position, as the player to move sees it: "own" stones are that player's.
///
/// The meaning of each feature is that of KataGo's "V7" inputs, which all networks of versions 8 to 17 take.
#[derive(Clone, PartialEq, Debug)]
pub struct Input {
    /// Columns of the board.
    pub width: usize,
    /// Rows of the board.
    pub height: usize,
    /// Features of the points: feature `c` of column `x` (0 = A) and row `y` (0 = the **top** row) lies at
    /// `(y * width + x) * SPATIAL_FEATURES + c`. All `height * width * SPATIAL_FEATURES` are there.
    pub spatial: Vec<f32>,
    /// Features of the position.
    pub global: [f32; GLOBAL_FEATURES],
    /// What is known about the players, for networks that must be told (see [`Profile`](super::Profile)); the others
    /// do not look at it. `None` is as if every number were 0.
    pub metadata: Option<Box<[f32; METADATA_FEATURES]>>,
}

/// Where a point stands in a network's inputs and outputs: row by row, from the **top** left.
pub fn index(size: BoardSize, point: Point) -> usize {
    (size.rows() - 1 - point.row()) * size.columns() + point.column()
}

/// The point that stands at an [`index`]; `None` if the board has none there.
pub fn point_at(size: BoardSize, index: usize) -> Option<Point> {
    let row_from_top = index / size.columns();
    (row_from_top < size.rows()).then(|| Point::new(index % size.columns(), size.rows() - 1 - row_from_top))
}

impl Input {
    /// An input for a board of this size in which every feature is 0, even "on the board".
    pub fn zero(width: usize, height: usize) -> Input {
        let spatial = vec![0.0; width * height * SPATIAL_FEATURES];
        Input { width, height, spatial, global: [0.0; GLOBAL_FEATURES], metadata: None }
    }

    /// Becomes an input for a board of this size in which every feature is 0 and nothing is known about the players; takes no memory if it was one for
    /// a board that is not smaller.
    pub fn clear(&mut self, size: BoardSize) {
        (self.width, self.height) = (size.columns(), size.rows());
        self.spatial.clear();
        self.spatial.resize(size.area() * SPATIAL_FEATURES, 0.0);
        self.global = [0.0; GLOBAL_FEATURES];
        self.metadata = None;
    }

    /// Sets one feature of all these points of a board of this size to 1.
    pub fn mark(&mut self, size: BoardSize, feature: usize, points: &PointSet) {
        for point in points.iter() {
            self.spatial[index(size, point) * SPATIAL_FEATURES + feature] = 1.0;
        }
    }

    /// All features of the point in column `x` and row `y`, counted from the top left.
    pub fn point(&self, x: usize, y: usize) -> &[f32] {
        let start = (y * self.width + x) * SPATIAL_FEATURES;
        &self.spatial[start..start + SPATIAL_FEATURES]
    }

    /// All features of the point in column `x` and row `y`, counted from the top left, to be written.
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
