//! The expected owner of every point, with either side moving first.

use kosumi_eval::Ownership;
use kosumi_go::board::{ByColor, Color, Point};

/// Expected owners of all points, for one or both of the colours that may move first.
#[derive(Debug)]
pub(super) enum ExpectedOwners {
    /// Expected owners if the side to move moves first.
    Now(Box<Ownership>),
    /// Expected owners for either side moving first. Used where the game may end, so that the side to move does not
    /// matter.
    ByFirst(Box<ByColor<Ownership>>),
}

impl ExpectedOwners {
    /// Returns the mean owner of a point with a stone of `color`, in `[-1, 1]`, positive for Black. The opponent of
    /// `color` moves first, if that case is known.
    pub(super) fn if_attacked(&self, color: Color, point: Point) -> f32 {
        match self {
            ExpectedOwners::Now(ownership) => ownership.mean(point),
            ExpectedOwners::ByFirst(by) => by[color.opponent()].mean(point),
        }
    }

    /// Returns the mean owner of a point, in `[-1, 1]`, positive for Black.
    pub(super) fn mean(&self, point: Point) -> f32 {
        match self {
            ExpectedOwners::Now(ownership) => ownership.mean(point),
            ExpectedOwners::ByFirst(by) => {
                (by[Color::Black].mean(point) + by[Color::White].mean(point)) / 2.0
            }
        }
    }

    /// Returns the part of the mean owner that does not depend on which side moves first, in `[-1, 1]`, positive for
    /// Black. Returns 0 where the two cases have different owners.
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
