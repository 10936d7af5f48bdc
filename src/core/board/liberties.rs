//! The liberties of a chain in one word.

use super::point::Point;

/// A chain's pseudo-liberties: count in the upper 12 bits, Σ index in the next 21, Σ index² in the lower 31.
///
/// The largest board has 625 points, each in at most 4 pairs and with an index below 703:
/// 2500 < 2^12, 2500 · 702 < 2^21, 2500 · 702² < 2^31, so no field can run into the next one.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct PseudoLiberties(u64);

impl PseudoLiberties {
    /// No liberty.
    pub(crate) const NONE: PseudoLiberties = PseudoLiberties(0);

    const COUNT_SHIFT: u32 = 52;
    const SUM_SHIFT: u32 = 31;
    const SUM_MASK: u64 = (1 << 21) - 1;
    const SQUARES_MASK: u64 = (1 << 31) - 1;

    #[inline]
    fn one(point: Point) -> u64 {
        let index = point.index() as u64;
        (1 << Self::COUNT_SHIFT) | (index << Self::SUM_SHIFT) | (index * index)
    }

    // Wrapping, because a chain that is being removed passes through values that mean nothing.
    #[inline]
    pub(crate) fn add(&mut self, point: Point) {
        self.0 = self.0.wrapping_add(Self::one(point));
    }

    #[inline]
    pub(crate) fn remove(&mut self, point: Point) {
        self.0 = self.0.wrapping_sub(Self::one(point));
    }

    #[inline]
    pub(crate) fn count(self) -> u64 {
        self.0 >> Self::COUNT_SHIFT
    }

    #[inline]
    pub(crate) fn sum(self) -> u64 {
        (self.0 >> Self::SUM_SHIFT) & Self::SUM_MASK
    }

    #[inline]
    pub(crate) fn is_single(self) -> bool {
        self.count() * (self.0 & Self::SQUARES_MASK) == self.sum() * self.sum()
    }

    /// The one liberty, if there is exactly one.
    #[inline]
    pub(crate) fn single(self) -> Option<Point> {
        (self.is_single() && self.count() > 0)
            .then(|| Point::from_index((self.sum() as u32 / self.count() as u32) as u16))
    }

    /// Takes over the liberties of a chain that is merged into this one.
    #[inline]
    pub(crate) fn join(&mut self, other: PseudoLiberties) {
        self.0 = self.0.wrapping_add(other.0);
    }
}
