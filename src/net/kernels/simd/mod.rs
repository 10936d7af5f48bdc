//! Vectors of 32-bit numbers, as wide as the processor supports: [`portable`] in plain Rust, [`x86`] for Intel and AMD,
//! [`arm`] for ARM and Apple, [`wasm`] for WebAssembly.
//!
//! Kernels are generic over [`Simd`] and are inlined into functions that are compiled for one instruction set
//! (`primitives.rs`). A value of a type that implements it is a token, which proves that the processor can execute the
//! methods. Therefore most methods are safe.

/// Implements methods of [`Simd`] that consist of a few instructions.
macro_rules! instructions {
    ($($name:ident($s:ident $(, $argument:ident: $type:ty)*) -> $result:ty = $body:expr;)*) => {
        $(
            #[inline(always)]
            fn $name($s $(, $argument: $type)*) -> $result {
                // SAFETY: there is no token without the instruction set, and no memory is accessed.
                unsafe { $body }
            }
        )*
    };
}

/// Implements methods of [`Simd`] that read or write memory.
macro_rules! memory {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $body:expr;)*) => {
        $(
            #[inline(always)]
            unsafe fn $name(self, $($argument: $type),*) $(-> $result)? {
                // SAFETY: guaranteed by the caller; there is no token without the instruction set.
                unsafe { $body }
            }
        )*
    };
}

#[cfg(target_arch = "aarch64")]
mod arm;
mod portable;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "aarch64")]
pub(super) use arm::{DOT, I8MM, NEON, Neon};
pub(super) use portable::Portable;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(super) use wasm::Wasm;
#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512, BF16, PLAIN, VNNI};

/// Number of adjacent vectors in a panel of a packed matrix.
pub(super) const PANEL_VECTORS: usize = 2;

/// Intermediate sums of products of bytes, and the limits that they impose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ByteSums {
    /// Largest byte of the first factor, which is unsigned.
    pub(super) largest: i32,
    /// Number of products that are summed in 16 bits before they are added to 32-bit sums: one, two neighbours, or two
    /// neighbours of each of two words.
    pub(super) together: usize,
}

impl ByteSums {
    /// No limits.
    pub(super) const WHOLE: ByteSums = ByteSums { largest: 255, together: 1 };
    /// Two neighbours are summed in 16 bits.
    #[cfg(target_arch = "x86_64")]
    pub(super) const PAIRS: ByteSums = ByteSums { largest: 255, together: 2 };
    /// Two neighbours of each of two words are summed in 16 bits. Smaller first bytes allow larger second bytes. With
    /// largest first bytes of 159 to 223, three transformers predicted equally well in some 200 to 700 positions each.
    /// With 255, one of them did not.
    #[cfg(target_arch = "x86_64")]
    pub(super) const QUADS: ByteSums = ByteSums { largest: 191, together: 4 };

    /// Returns the limit of the sum of the positive second bytes of products that are summed in 16 bits, and likewise
    /// of the negative ones.
    pub(super) const fn most(self) -> i32 {
        i16::MAX as i32 / self.largest
    }

    /// Returns whether all second bytes from −127 to 127 are allowed.
    pub(super) const fn is_whole(self) -> bool {
        self.together == 1
    }
}

/// Vectors of an instruction set.
pub(super) trait Simd: Copy {
    /// Vector of [`LANES`](Self::LANES) `f32` numbers.
    type V: Copy;
    /// Thresholds of rounding; see [`dither`](Self::dither).
    type Dither: Copy;
    /// Vector of [`LANES`](Self::LANES) `i32` integers, each of which may hold four bytes or two `i16`.
    type I: Copy;
    /// Count of numbers in a vector.
    const LANES: usize;
    /// Largest number of rows of a block of a product of matrices. The registers hold the factors and the sums of this
    /// many rows by [`PANEL_VECTORS`] vectors.
    const ROWS: usize;
    /// Intermediate sums of [`dot8`](Self::dot8) and [`dot8_twice`](Self::dot8_twice).
    const BYTE_SUMS: ByteSums;
    /// Whether [`scale`](Self::scale) accepts any power, with results that saturate at both ends.
    const SCALES_BY_ANY: bool;

    /// Returns a vector with `x` in all lanes.
    fn splat(self, x: f32) -> Self::V;
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    fn abs(self, x: Self::V) -> Self::V;
    /// Computes `a · b + c`.
    fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// Rounds to the nearest integer. Magnitudes must be less than 2^22.
    fn round(self, x: Self::V) -> Self::V;
    /// Multiplies `x` by 2 to the power of `power`, which must be an integer from −126 to 127.
    fn scale(self, x: Self::V, power: Self::V) -> Self::V;
    /// Multiplies `x` by 2 to the power of the integer in the lowest nine bits of `power`. The operands and the result
    /// must be normal numbers.
    fn add_exponent(self, x: Self::V, power: Self::V) -> Self::V;
    /// Computes `1 / x` within 2 units in the last place, for `x` from 1 to 10³⁸.
    fn reciprocal(self, x: Self::V) -> Self::V;
    /// Computes `1 / x` with a relative error of at most 4 · 10⁻⁴, for `x` from 1 to 10³⁸.
    fn rough_reciprocal(self, x: Self::V) -> Self::V;
    /// Returns the sum of all lanes.
    fn reduce_add(self, x: Self::V) -> f32;
    /// Returns the largest lane.
    fn reduce_max(self, x: Self::V) -> f32;

    /// Returns a vector with `x` in all lanes.
    fn splat_int(self, x: i32) -> Self::I;
    fn add_int(self, a: Self::I, b: Self::I) -> Self::I;
    fn sub_int(self, a: Self::I, b: Self::I) -> Self::I;
    /// Converts integers to the nearest `f32`.
    fn to_float(self, x: Self::I) -> Self::V;
    /// Rounds to the nearest integers.
    fn to_int(self, x: Self::V) -> Self::I;
    /// Joins the lowest bytes of each lane of four vectors. The byte of the first vector is first in memory.
    fn join_bytes(self, x: [Self::I; 4]) -> Self::I;
    /// Packs the lanes, which must be from 0 to 255, as bytes, one vector after the other.
    fn pack_bytes(self, x: [Self::I; 4]) -> Self::I;
    /// Returns thresholds from 0 to 1 for the numbers of four vectors. Numbers whose fraction is above the threshold
    /// are rounded up. The thresholds are evenly distributed and differ between rows.
    fn dither(self, row: usize) -> Self::Dither;
    /// Computes `255 · 2^(−x/32)`, rounded up or down according to the thresholds, as bytes, one vector after the
    /// other. The error before rounding is at most 1.2 %. Every `x` must be at least −½ and may be arbitrarily large.
    fn powers_as_bytes(self, x: [Self::V; 4], dither: Self::Dither) -> Self::I;
    /// Joins the lower halves of each lane of two vectors. The half of the first vector is first in memory.
    fn join_halves(self, x: [Self::I; 2]) -> Self::I;
    /// Returns the sum of all lanes, which must fit into 32 bits.
    fn reduce_add_int(self, x: Self::I) -> i32;
    /// Adds to each lane of `sum` the four products of the unsigned bytes of `a` and the signed bytes of `b`. The
    /// magnitudes of the bytes of `b` must be at most 127, within the limits of [`BYTE_SUMS`](Self::BYTE_SUMS).
    fn dot8(self, sum: Self::I, a: Self::I, b: Self::I) -> Self::I;
    /// Performs [`dot8`](Self::dot8) for two words.
    #[inline(always)]
    fn dot8_twice(self, sum: Self::I, a: [Self::I; 2], b: [Self::I; 2]) -> Self::I {
        self.dot8(self.dot8(sum, a[0], b[0]), a[1], b[1])
    }
    /// Adds to each lane of `sum` the two products of the 16-bit halves of `a` and `b`.
    fn dot16(self, sum: Self::I, a: Self::I, b: Self::I) -> Self::I;

    /// Prefetches a cache line into the second-level cache. Any address is allowed.
    #[inline(always)]
    fn prefetch<T>(self, _from: *const T) {}

    /// Loads a vector of numbers.
    ///
    /// # Safety
    ///
    /// [`LANES`](Self::LANES) numbers must be readable at `from`.
    unsafe fn load_unchecked(self, from: *const f32) -> Self::V;
    /// Stores a vector of numbers.
    ///
    /// # Safety
    ///
    /// [`LANES`](Self::LANES) numbers must be writable at `to`.
    unsafe fn store_unchecked(self, x: Self::V, to: *mut f32);
    /// Loads a vector of integers, which need not be aligned.
    ///
    /// # Safety
    ///
    /// [`LANES`](Self::LANES) integers must be readable at `from`.
    unsafe fn load_int(self, from: *const i32) -> Self::I;
    /// Stores a vector of integers, which need not be aligned.
    ///
    /// # Safety
    ///
    /// [`LANES`](Self::LANES) integers must be writable at `to`.
    unsafe fn store_int(self, x: Self::I, to: *mut i32);
    /// Stores the lanes, which must be from 0 to 255, as bytes.
    ///
    /// # Safety
    ///
    /// [`LANES`](Self::LANES) bytes must be writable at `to`.
    unsafe fn store_bytes(self, x: Self::I, to: *mut u8);
    /// Stores the lanes, which must be from −128 to 127, as bytes.
    ///
    /// # Safety
    ///
    /// [`LANES`](Self::LANES) bytes must be writable at `to`.
    unsafe fn store_low_bytes(self, x: Self::I, to: *mut i8);
    /// Stores the lanes, which must fit into 16 bits, as 16-bit integers.
    ///
    /// # Safety
    ///
    /// [`LANES`](Self::LANES) integers of 16 bits must be writable at `to`.
    unsafe fn store_halves(self, x: Self::I, to: *mut i16);

    /// Loads the first numbers of `from`.
    ///
    /// # Panics
    ///
    /// Panics if `from` is shorter than a vector.
    #[inline(always)]
    fn load(self, from: &[f32]) -> Self::V {
        assert!(from.len() >= Self::LANES);
        // SAFETY: the length has been checked.
        unsafe { self.load_unchecked(from.as_ptr()) }
    }

    /// Stores to the first numbers of `to`.
    ///
    /// # Panics
    ///
    /// Panics if `to` is shorter than a vector.
    #[inline(always)]
    fn store(self, x: Self::V, to: &mut [f32]) {
        assert!(to.len() >= Self::LANES);
        // SAFETY: the length has been checked.
        unsafe { self.store_unchecked(x, to.as_mut_ptr()) }
    }

    /// Computes `eˣ` within 2 units in the last place, for `x` from −87 to 88.
    ///
    /// CITE: Moshier, Cephes mathematical library, `expf`: reduction by the nearest multiple of ln 2 in two parts, then
    /// a polynomial.
    #[inline(always)]
    fn exp(self, x: Self::V) -> Self::V {
        let splat = |x| self.splat(x);
        let power = self.round(self.mul(x, splat(std::f32::consts::LOG2_E)));
        let rest = self.mul_add(power, splat(-0.693_359_4), x);
        let rest = self.mul_add(power, splat(2.121_944_4e-4), rest);
        let mut sum = splat(1.987_569_1e-4);
        for coefficient in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
            sum = self.mul_add(sum, rest, splat(coefficient));
        }
        let sum = self.mul_add(sum, self.mul(rest, rest), self.add(rest, splat(1.0)));
        self.scale(sum, power)
    }

    /// Computes 2 to the power of `x`, with the accuracy of the coefficients. Results saturate at, or slightly before,
    /// the limits of `f32`.
    #[inline(always)]
    fn rough_exp2<const N: usize>(self, x: Self::V, coefficients: &[f32; N]) -> Self::V {
        if Self::SCALES_BY_ANY {
            let power = self.round(x);
            return self.scale(self.polynomial(self.sub(x, power), coefficients), power);
        }
        // Adding this number leaves the nearest integer in the lowest bits.
        let (x, large) = (self.clamp(x, -125.0, 127.0), self.splat(12_582_912.0));
        let shifted = self.add(x, large);
        self.add_exponent(self.polynomial(self.sub(x, self.sub(shifted, large)), coefficients), shifted)
    }

    /// Evaluates the polynomial with these coefficients, the highest power first, at `x`.
    #[inline(always)]
    fn polynomial<const N: usize>(self, x: Self::V, coefficients: &[f32; N]) -> Self::V {
        let mut sum = self.splat(coefficients[0]);
        for &coefficient in &coefficients[1..] {
            sum = self.mul_add(sum, x, self.splat(coefficient));
        }
        sum
    }

    /// Limits all lanes to the range from `min` to `max`.
    #[inline(always)]
    fn clamp(self, x: Self::V, min: f32, max: f32) -> Self::V {
        self.max(self.min(x, self.splat(max)), self.splat(min))
    }

    /// Computes `x / (1 + e⁻ˣ)` with an error of at most 5 · 10⁻⁴, for results that are rounded to 8 bits.
    #[inline(always)]
    fn rough_silu(self, x: Self::V) -> Self::V {
        let e = self.rough_exp2(self.mul(x, self.splat(-std::f32::consts::LOG2_E)), &EXP2_OF_DEGREE_3);
        self.mul(x, self.rough_reciprocal(self.add(e, self.splat(1.0))))
    }

    /// Computes `x / (1 + e⁻ˣ)`. For `x` below −87, the exponential of 87 is used.
    #[inline(always)]
    fn silu(self, x: Self::V) -> Self::V {
        let e = self.exp(self.clamp(self.sub(self.splat(0.0), x), -87.0, 87.0));
        self.mul(x, self.reciprocal(self.add(e, self.splat(1.0))))
    }
}

/// Numbers from 0 to 255 in an order in which neighbours differ as much as possible: the numbers of six bits with their
/// bits reversed.
const THRESHOLDS: [u8; 64] = {
    let mut thresholds = [0; 64];
    let mut index = 0;
    while index < 64 {
        thresholds[index] = (index as u8).reverse_bits() + 2;
        index += 1;
    }
    thresholds
};

/// Shift of the thresholds from one row to the next: nearly the golden section of 256, so that rows do not coincide.
const NEXT_ROW: usize = 159;

/// Implements [`Simd::dither`] with offsets that are added before numbers are rounded to the nearest integer.
#[inline(always)]
fn dither_of_floats<S: Simd>(s: S, row: usize) -> [S::V; 4] {
    let shift = s.splat((row.wrapping_mul(NEXT_ROW) % 256) as f32 / 256.0);
    let mut all = [s.splat(0.0); 4];
    let mut numbers = [0.0; 64];
    for (number, threshold) in numbers.iter_mut().zip(THRESHOLDS) {
        *number = f32::from(threshold) / 256.0;
    }
    for (index, some) in all.iter_mut().enumerate() {
        let sum = s.add(s.load(&numbers[index * S::LANES..]), shift);
        *some = s.sub(sum, s.round(sum));
    }
    all
}

/// Implements [`Simd::powers_as_bytes`] in floating point.
#[inline(always)]
fn powers_of_floats<S: Simd>(s: S, x: [S::V; 4], dither: [S::V; 4]) -> S::I {
    // Logarithm of a number a little below 255, so that nothing is rounded to 256.
    const BITS_OF_LARGEST: f32 = 7.991;
    let mut integers = [s.splat_int(0); 4];
    for ((integer, x), dither) in integers.iter_mut().zip(x).zip(dither) {
        let power = s.mul_add(x, s.splat(-1.0 / 32.0), s.splat(BITS_OF_LARGEST));
        *integer = s.to_int(s.add(s.rough_exp2(power, &EXP2_OF_DEGREE_2), dither));
    }
    s.pack_bytes(integers)
}

/// Vectors of an instruction set with products of bf16 (see `bf16.rs`). A lane holds two bf16.
pub(super) trait SimdBf16: Simd {
    /// Adds to each lane of `sum` the two products of the bf16 of `a` and `b`. Denormal numbers may count as zero.
    fn dot_bf16(self, sum: Self::V, a: Self::I, b: Self::I) -> Self::V;
    /// Rounds all lanes to the nearest bf16 and stores them.
    ///
    /// # Safety
    ///
    /// [`LANES`](Simd::LANES) bf16 numbers must be writable at `to`.
    unsafe fn store_bf16(self, x: Self::V, to: *mut u16);
}

/// Coefficients for [`Simd::rough_exp2`], the highest power first. The polynomial has the smallest relative error from
/// −½ to ½, which is 1.7 · 10⁻³ (Remez algorithm).
pub(super) const EXP2_OF_DEGREE_2: [f32; 3] = [0.238_428_94, 0.703_448, 1.000_443_1];
/// Coefficients of degree 3 for [`Simd::rough_exp2`], with a relative error of 10⁻⁴.
pub(super) const EXP2_OF_DEGREE_3: [f32; 4] = [0.055_171_67, 0.242_611_13, 0.693_260_97, 0.999_928_06];

/// Performs a step of Newton's method from an estimate of `1 / x`, which doubles the number of correct digits.
#[inline(always)]
fn refined<S: Simd>(s: S, x: S::V, estimate: S::V) -> S::V {
    let error = s.sub(s.splat(1.0), s.mul(x, estimate));
    s.mul_add(estimate, error, estimate)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the order and the values of bytes: integers from 0 to 255, and powers of two from the largest down to
    /// zero.
    fn check<S: Simd>(s: S, name: &str) {
        let lanes = S::LANES;
        let bytes = |words: S::I| {
            let mut to = vec![0i32; lanes];
            // SAFETY: the vector has as many integers as there are lanes.
            unsafe { s.store_int(words, to.as_mut_ptr()) };
            to.into_iter().flat_map(i32::to_ne_bytes).collect::<Vec<u8>>()
        };
        for first in [0.0, 13.3, 90.0, 230.0, 1e4, 1e12, 3e38] {
            let numbers: Vec<f32> =
                (0..4 * lanes).map(|index| if index % 3 == 0 { first } else { (index * 4) as f32 }).collect();
            let vectors = std::array::from_fn(|index| s.load(&numbers[index * lanes..]));
            // The thresholds are evenly distributed, so the mean over many rows has no rounding error.
            let mut sums = vec![0.0; 4 * lanes];
            for row in 0..256 {
                for (sum, found) in sums.iter_mut().zip(bytes(s.powers_as_bytes(vectors, s.dither(row)))) {
                    *sum += f32::from(found) / 256.0;
                }
            }
            for (x, found) in numbers.iter().zip(sums) {
                let expected = 255.0 * (x / -32.0).exp2();
                assert!(
                    (found - expected).abs() <= 0.01 + 0.015 * expected,
                    "{name}: {x} {found} {expected}"
                );
            }
            let integers = vectors.map(|x| s.to_int(s.clamp(x, 0.0, 255.0)));
            for (x, found) in numbers.iter().zip(bytes(s.pack_bytes(integers))) {
                assert!((f32::from(found) - x.clamp(0.0, 255.0)).abs() <= 0.5, "{name}: {x} {found}");
            }
        }
    }

    #[test]
    fn bytes_of_four_vectors_are_in_order() {
        check(Portable, "portable");
        #[cfg(target_arch = "x86_64")]
        // SAFETY: tokens are created only for instructions that the processor has.
        unsafe {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                check(Avx2::<false>::token(), "avx2");
            }
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
                check(Avx512::<PLAIN>::token(), "avx512");
            }
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: every 64-bit ARM processor has NEON.
        check(unsafe { Neon::<NEON>::token() }, "neon");
    }
}
