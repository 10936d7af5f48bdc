//! The expected owner of every point, with either side moving first.

use kosumi_eval::Ownership;
use kosumi_go::board::{ByColor, Color, Point};

/// Expected owners of all points, by the colour that moves first.
#[derive(Debug)]
pub(super) enum ExpectedOwners {
    /// Expected owners if the side to move moves first.
    Now(Box<Ownership>),
    /// Expected owners for either side moving first. For a game that may end here, where the side to move must not
    /// matter.
    ByFirst(Box<ByColor<Ownership>>),
}

impl ExpectedOwners {
    /// Mean owner of a point with a stone of `color`, where its opponent moves first if that case is known.
    pub(super) fn if_attacked(&self, color: Color, point: Point) -> f32 {
        match self {
            ExpectedOwners::Now(ownership) => ownership.mean(point),
            ExpectedOwners::ByFirst(by) => by[color.opponent()].mean(point),
        }
    }

    /// Mean owner of a point, in `[-1, 1]`, positive for Black.
    pub(super) fn mean(&self, point: Point) -> f32 {
        match self {
            ExpectedOwners::Now(ownership) => ownership.mean(point),
            ExpectedOwners::ByFirst(by) => {
                (by[Color::Black].mean(point) + by[Color::White].mean(point)) / 2.0
            }
        }
    }

    /// Part of the mean owner that does not depend on which side moves first. 0 where the two cases disagree.
    pub(super) fn sure_mean(&self, point: Point) -> f32 {
        match self {
            ExpectedOwners::Now(ownership) => ownership.mean(point),
            ExpectedOwners::ByFirst(by) => {
                let (one, other) = (by[Color::Black].mean(point), by[Color::White].mean(point));
                if one * other <= 0.0 { 0.0 } else { one.abs().min(other.abs()).copysign(one) }
            }
        }
    }
}
