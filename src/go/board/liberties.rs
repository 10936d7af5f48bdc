//! The liberties of a chain, packed into one word.

use super::point::Point;

/// Pseudo-liberties of a chain: their number in the upper 12 bits, Σ index in the next 21, Σ index² in the lower 31.
///
/// The largest board has 625 points. Each occurs in at most 4 pairs and has an index below 703. Hence 2500 < 2^12,
/// 2500 · 702 < 2^21 and 2500 · 702² < 2^31, and no field overflows into the next one.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PseudoLiberties(u64);

/// Sums over some of the offsets to adjacent points: number of offsets, Σ offset and Σ offset².
#[derive(Clone, Copy, Default)]
pub(crate) struct OffsetSums {
    pub(crate) count: u8,
    pub(crate) sum: i8,
    pub(crate) squares: u16,
}

impl PseudoLiberties {
    /// No liberty.
    pub const NONE: PseudoLiberties = PseudoLiberties(0);

    const COUNT_SHIFT: u32 = 52;
    const SUM_SHIFT: u32 = 31;
    const SUM_MASK: u64 = (1 << 21) - 1;
    const SQUARES_MASK: u64 = (1 << 31) - 1;

    #[inline]
    fn one(point: Point) -> u64 {
        let index = point.index() as u64;
        (1 << Self::COUNT_SHIFT) | (index << Self::SUM_SHIFT) | (index * index)
    }

    /// Returns the pseudo-liberties of a single stone at `point`, given the offsets `empty` to its empty neighbours:
    /// Σ (p + s) = n p + Σ s, and Σ (p + s)² = n p² + 2 p Σ s + Σ s².
    #[inline]
    pub(crate) fn around(point: Point, empty: OffsetSums) -> PseudoLiberties {
        let per_step = (1 << Self::SUM_SHIFT) + 2 * point.index() as u64;
        // The magnitude of a negative sum of offsets is smaller than the value it is added to, so no field of the
        // result underflows.
        let steps = per_step.wrapping_mul(i64::from(empty.sum) as u64);
        let squares = u64::from(empty.squares);
        PseudoLiberties((Self::one(point) * u64::from(empty.count)).wrapping_add(steps).wrapping_add(squares))
    }

    /// Adds one pseudo-liberty at `point`.
    // Wrapping arithmetic, because a chain passes through meaningless values while it is being removed.
    #[inline]
    pub fn add(&mut self, point: Point) {
        self.0 = self.0.wrapping_add(Self::one(point));
    }

    /// Removes one pseudo-liberty at `point`.
    #[inline]
    pub fn remove(&mut self, point: Point) {
        self.0 = self.0.wrapping_sub(Self::one(point));
    }

    /// Returns the number of pseudo-liberties: pairs of a stone of the chain and an empty point beside it.
    #[inline]
    pub fn count(self) -> u64 {
        self.0 >> Self::COUNT_SHIFT
    }

    /// Returns the sum of the indices of the pseudo-liberties.
    #[inline]
    pub fn sum(self) -> u64 {
        (self.0 >> Self::SUM_SHIFT) & Self::SUM_MASK
    }

    /// Returns whether all pseudo-liberties are the same point, that is, whether the chain is in atari. Also true for a
    /// chain without liberties.
    #[inline]
    pub fn is_single(self) -> bool {
        self.count() * (self.0 & Self::SQUARES_MASK) == self.sum() * self.sum()
    }

    /// Returns whether `point`, which must be a liberty, is the only liberty.
    #[inline]
    pub fn is_only(self, point: Point) -> bool {
        self.0 == self.count().wrapping_mul(Self::one(point))
    }

    /// Returns the only liberty, or `None` if the chain does not have exactly one.
    #[inline]
    pub fn single(self) -> Option<Point> {
        (self.is_single() && self.count() > 0)
            .then(|| Point::from_index((self.sum() as u32 / self.count() as u32) as u16))
    }

    /// Adds the liberties of a chain that is merged into this one.
    #[inline]
    pub fn join(&mut self, other: PseudoLiberties) {
        self.0 = self.0.wrapping_add(other.0);
    }
}
