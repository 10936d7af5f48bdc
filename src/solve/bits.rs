//! Sets of points as one or a few machine words, of which the solver's board is made.
//!
//! The points of a [`Window`](super::window::Window) lie row by row with one empty column between rows, so four shifts
//! give the neighbours of a whole set.

use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

/// A set of small numbers.
pub(super) trait Bits:
    Copy
    + Ord
    + Hash
    + Debug
    + Default
    + bytemuck::Zeroable
    + Send
    + Sync
    + 'static
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// Number of values that fit: 0 to `WIDTH − 1`.
    const WIDTH: u32;

    /// Returns the set that contains one number.
    fn one(index: u32) -> Self;
    /// Returns the smallest number; [`Bits::WIDTH`] or more if the set is empty.
    fn lowest(self) -> u32;
    /// Returns the number of elements.
    fn count(self) -> u32;
    /// Returns the membership bits of the numbers 0 to 63.
    fn low_word(self) -> u64;
    /// Calls `mix` with each word of the set.
    fn words(self, mix: impl FnMut(u64));

    /// Returns whether the set is empty.
    #[inline]
    fn none(self) -> bool {
        self == Self::default()
    }

    /// Returns whether the set is not empty.
    #[inline]
    fn any(self) -> bool {
        self != Self::default()
    }

    /// Returns whether the two sets have a number in common.
    #[inline]
    fn meets(self, other: Self) -> bool {
        (self & other).any()
    }

    /// Returns whether all numbers of the set are in `other`.
    #[inline]
    fn within(self, other: Self) -> bool {
        (self & !other).none()
    }

    /// Returns whether the number is in the set.
    #[inline]
    fn has(self, index: u32) -> bool {
        self.meets(Self::one(index))
    }

    /// Iterates over the numbers of the set, in ascending order.
    #[inline]
    fn each(self) -> Each<Self> {
        Each(self)
    }
}

/// See [`Bits::each`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Each<B>(B);

impl<B: Bits> Iterator for Each<B> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.0.none() {
            return None;
        }
        let index = self.0.lowest();
        self.0 = self.0 & !B::one(index);
        Some(index)
    }
}

impl Bits for u64 {
    const WIDTH: u32 = 64;

    #[inline]
    fn one(index: u32) -> u64 {
        1 << index
    }
    #[inline]
    fn lowest(self) -> u32 {
        self.trailing_zeros()
    }
    #[inline]
    fn count(self) -> u32 {
        self.count_ones()
    }
    #[inline]
    fn low_word(self) -> u64 {
        self
    }
    #[inline]
    fn words(self, mut mix: impl FnMut(u64)) {
        mix(self);
    }
}

impl Bits for u128 {
    const WIDTH: u32 = 128;

    #[inline]
    fn one(index: u32) -> u128 {
        1 << index
    }
    #[inline]
    fn lowest(self) -> u32 {
        self.trailing_zeros()
    }
    #[inline]
    fn count(self) -> u32 {
        self.count_ones()
    }
    #[inline]
    fn low_word(self) -> u64 {
        self as u64
    }
    #[inline]
    fn words(self, mut mix: impl FnMut(u64)) {
        mix(self as u64);
        mix((self >> 64) as u64);
    }
}

/// Number of words of a [`Wide`] set: enough for 19×19 points with a column between rows.
const WORDS: usize = 6;

/// A set for boards up to 19×19. Loops use an index, because zipped iterators are not inlined in builds with
/// assertions.
#[derive(Clone, Copy, Eq, PartialOrd, Ord, Debug, Default, bytemuck::Zeroable)]
pub(super) struct Wide([u64; WORDS]);

// The derived implementation calls `memcmp`, which took a quarter of the time of a test of all commands in a build with
// assertions.
impl PartialEq for Wide {
    #[inline]
    fn eq(&self, other: &Wide) -> bool {
        let mut differing = 0;
        for index in 0..WORDS {
            differing |= self.0[index] ^ other.0[index];
        }
        differing == 0
    }
}

impl Hash for Wide {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

macro_rules! word_by_word {
    ($operator:ident, $method:ident) => {
        impl $operator for Wide {
            type Output = Wide;
            #[inline]
            fn $method(mut self, other: Wide) -> Wide {
                for (a, b) in self.0.iter_mut().zip(other.0) {
                    *a = $operator::$method(*a, b);
                }
                self
            }
        }
    };
}

word_by_word!(BitAnd, bitand);
word_by_word!(BitOr, bitor);
word_by_word!(BitXor, bitxor);

impl Not for Wide {
    type Output = Wide;
    #[inline]
    fn not(mut self) -> Wide {
        for word in &mut self.0 {
            *word = !*word;
        }
        self
    }
}

impl Shl<u32> for Wide {
    type Output = Wide;
    /// Shifts by 1 to 63 bits.
    #[inline]
    fn shl(self, by: u32) -> Wide {
        debug_assert!(by > 0 && by < 64);
        let mut out = Wide::default();
        let mut carry = 0;
        for index in 0..WORDS {
            out.0[index] = self.0[index] << by | carry;
            carry = self.0[index] >> (64 - by);
        }
        out
    }
}

impl Shr<u32> for Wide {
    type Output = Wide;
    /// Shifts by 1 to 63 bits.
    #[inline]
    fn shr(self, by: u32) -> Wide {
        debug_assert!(by > 0 && by < 64);
        let mut out = Wide::default();
        let mut carry = 0;
        for index in (0..WORDS).rev() {
            out.0[index] = self.0[index] >> by | carry;
            carry = self.0[index] << (64 - by);
        }
        out
    }
}

impl Bits for Wide {
    const WIDTH: u32 = 64 * WORDS as u32;

    #[inline]
    fn one(index: u32) -> Wide {
        let mut set = Wide::default();
        set.0[index as usize / 64] = 1 << (index % 64);
        set
    }
    #[inline]
    fn lowest(self) -> u32 {
        let mut before = 0;
        for word in self.0 {
            if word != 0 {
                return before + word.trailing_zeros();
            }
            before += 64;
        }
        before
    }
    #[inline]
    fn count(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
    #[inline]
    fn low_word(self) -> u64 {
        self.0[0]
    }
    #[inline]
    fn words(self, mix: impl FnMut(u64)) {
        self.0.into_iter().for_each(mix);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares shifts, unions and counts of a set of numbers with a plain list.
    fn agrees<B: Bits>() {
        let numbers: Vec<u32> = (0..B::WIDTH).filter(|n| n * n % 7 == 2).collect();
        let set = numbers.iter().fold(B::default(), |set, &n| set | B::one(n));
        assert_eq!(set.each().collect::<Vec<_>>(), numbers);
        assert_eq!(set.count() as usize, numbers.len());
        for by in [1, 5, 20, 63] {
            let up: Vec<u32> = numbers.iter().map(|n| n + by).filter(|&n| n < B::WIDTH).collect();
            assert_eq!((set << by).each().collect::<Vec<_>>(), up, "{by}");
            let down: Vec<u32> = numbers.iter().filter(|&&n| n >= by).map(|n| n - by).collect();
            assert_eq!((set >> by).each().collect::<Vec<_>>(), down, "{by}");
        }
        assert!((set & !set).none() && (set ^ !set).count() == B::WIDTH);
        assert!(set.has(numbers[3]) && !set.has(0));
        assert_eq!(B::default().lowest(), B::WIDTH);
    }

    #[test]
    fn sets_of_every_width_agree_with_lists() {
        agrees::<u64>();
        agrees::<u128>();
        agrees::<Wide>();
    }
}
