//! The expected owner of every point, with either side moving first.

use kosumi_eval::Ownership;
use kosumi_go::board::{ByColor, Color, Point};

/// Expected owners of all points, by the colour that moves first.
#[derive(Debug)]
pub(super) enum Expected {
    /// The side to move moves first.
    Now(Box<Ownership>),
    /// The game may end here, and whose turn it is must not matter.
    ByFirst(Box<ByColor<Ownership>>),
}

impl Expected {
    /// Mean owner of a point where stones of `color` stand: their opponent moves first, if that is known.
    pub(super) fn if_attacked(&self, color: Color, point: Point) -> f32 {
        match self {
            Expected::Now(ownership) => ownership.mean(point),
            Expected::ByFirst(by) => by[color.opponent()].mean(point),
        }
    }

    /// Mean owner of a point, in `[-1, 1]`, Black's positive.
    pub(super) fn mean(&self, point: Point) -> f32 {
        match self {
            Expected::Now(ownership) => ownership.mean(point),
            Expected::ByFirst(by) => (by[Color::Black].mean(point) + by[Color::White].mean(point)) / 2.0,
        }
    }

    /// The part of the mean owner that does not depend on which side moves first; 0 where the sides do not agree.
    pub(super) fn sure_mean(&self, point: Point) -> f32 {
        match self {
            Expected::Now(ownership) => ownership.mean(point),
            Expected::ByFirst(by) => {
                let (one, other) = (by[Color::Black].mean(point), by[Color::White].mean(point));
                if one * other <= 0.0 { 0.0 } else { one.abs().min(other.abs()).copysign(one) }
            }
        }
    }
}
