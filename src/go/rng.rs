//! A small seeded random generator, passed explicitly to the functions that need random numbers.
//!
//! The Zobrist keys do not come from it but from ChaCha (see [`crate::board::zobrist`]). A playout draws hundreds of
//! numbers and needs only speed, a long period and the same sequence on every machine.

/// A 64-bit generator: a Weyl sequence whose terms are mixed by one 128-bit multiplication.
///
/// CITE: Wang Yi, "wyhash and wyrand" (2019), for the constants of wyrand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// Creates a generator whose whole sequence is determined by `seed`.
    pub fn new(seed: u64) -> Rng {
        Rng { state: mix(seed ^ 0x9e37_79b9_7f4a_7c15) }
    }

    /// Creates an independent generator for worker number `index`, so that workers never share a sequence.
    pub fn for_worker(seed: u64, index: usize) -> Rng {
        Rng::new(mix(seed).wrapping_add(mix(index as u64 + 1)))
    }

    /// Returns the next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0xa076_1d64_78bd_642f);
        let product = u128::from(self.state) * u128::from(self.state ^ 0xe703_7ed1_a0b4_28db);
        (product >> 64) as u64 ^ product as u64
    }

    /// Returns a number in `0..bound`. `bound` must not be 0.
    ///
    /// The bias of multiply-and-shift is below `bound / 2^32`, far below what could be noticed in a playout.
    /// CITE: Lemire, "Fast random integer generation in an interval" (2019).
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        debug_assert!(bound > 0);
        ((u64::from(self.next_u64() as u32) * u64::from(bound)) >> 32) as u32
    }

    /// Shuffles a list of fewer than 2^32 elements.
    /// CITE: Durstenfeld, "Algorithm 235: random permutation" (1964).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last as u32 + 1) as usize);
        }
    }

    /// Returns a number in `[0, 1)`.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns true with a probability of `per_mille` / 1000.
    #[inline]
    pub fn chance(&mut self, per_mille: u32) -> bool {
        self.below(1000) < per_mille
    }
}

/// Spreads every bit of `x` over the whole word (the finaliser of SplitMix64).
pub fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_covers_its_range() {
        let mut rng = Rng::new(1);
        let mut seen = [0u32; 7];
        for _ in 0..7000 {
            seen[rng.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
    }

    #[test]
    fn the_sequence_is_pinned() {
        let mut rng = Rng::new(42);
        let first = [rng.next_u64(), rng.next_u64(), rng.next_u64()];
        let mut again = Rng::new(42);
        assert_eq!(first, [again.next_u64(), again.next_u64(), again.next_u64()]);
        assert_ne!(Rng::for_worker(42, 0), Rng::for_worker(42, 1));
    }
}
