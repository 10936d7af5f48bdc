//! Vectors of numbers of 32 bits, as wide as the processor has them: [`portable`] in plain Rust, [`x86`] of Intel and AMD, [`arm`]
//! of ARM and Apple.
//!
//! Kernels are generic over [`Simd`] and are inlined into functions that are compiled for one instruction set
//! (`primitives.rs`). A value of a type that implements it is a token: whoever holds one has seen that the processor
//! can execute its methods, and so most of them are safe to call.

/// Writes the methods of [`Simd`] that are few instructions each.
macro_rules! instructions {
    ($($name:ident($s:ident $(, $argument:ident: $type:ty)*) -> $result:ty = $body:expr;)*) => {
        $(
            #[inline(always)]
            fn $name($s $(, $argument: $type)*) -> $result {
                // SAFETY: there is no token without the instruction set, and no memory is touched.
                unsafe { $body }
            }
        )*
    };
}

/// Writes the methods of [`Simd`] that read and write memory.
macro_rules! memory {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $body:expr;)*) => {
        $(
            #[inline(always)]
            unsafe fn $name(self, $($argument: $type),*) $(-> $result)? {
                // SAFETY: the caller's; there is no token without the instruction set.
                unsafe { $body }
            }
        )*
    };
}

#[cfg(target_arch = "aarch64")]
mod arm;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "aarch64")]
pub(super) use arm::{DOT, I8MM, NEON, Neon};
pub(super) use portable::Portable;
#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512, BF16, PLAIN, VNNI};

/// Vectors beside each other in a panel of a packed matrix.
pub(super) const PANEL_VECTORS: usize = 2;

/// How products of bytes are added up, and how large the bytes may be for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ByteSums {
    /// The largest byte of the first factor, which has no sign.
    pub(super) largest: i32,
    /// Products that are added up in 16 bits before sums of 32 bits take them: one, two neighbours, or these and the
    /// same two of the next word.
    pub(super) together: usize,
}

impl ByteSums {
    /// Nothing is ever too large.
    pub(super) const WHOLE: ByteSums = ByteSums { largest: 255, together: 1 };
    /// Neighbours are added up in 16 bits.
    pub(super) const PAIRS: ByteSums = ByteSums { largest: 255, together: 2 };
    /// So are those of two words. The smaller the first bytes are, the larger the second ones may be. With 159 to 223,
    /// three transformers answered equally well in some 200 to 700 positions each; with 255 one of them did not.
    pub(super) const QUADS: ByteSums = ByteSums { largest: 191, together: 4 };

    /// What neither the positive nor the negative second bytes of products that are added up together may exceed in sum.
    pub(super) const fn most(self) -> i32 {
        i16::MAX as i32 / self.largest
    }

    /// Are all bytes from −127 to 127 small enough?
    pub(super) const fn is_whole(self) -> bool {
        self.together == 1
    }
}

/// A vector type of some processors.
pub(super) trait Simd: Copy {
    /// A vector of [`LANES`](Self::LANES) numbers `f32`.
    type V: Copy;
    /// Thresholds of rounding; see [`dither`](Self::dither).
    type Dither: Copy;
    /// A vector of [`LANES`](Self::LANES) integers `i32`, or of the four bytes or two `i16` that each of them holds.
    type I: Copy;
    /// Numbers in a vector.
    const LANES: usize;
    /// Rows of a block of a product of matrices: the registers hold the sums of so many rows and
    /// [`PANEL_VECTORS`] vectors beside each other, and what is multiplied.
    const ROWS: usize;
    /// How [`dot8`](Self::dot8) and [`dot8_twice`](Self::dot8_twice) add up.
    const BYTE_SUMS: ByteSums;
    /// Does [`scale`](Self::scale) take any power, with results that are as small or as large as possible?
    const SCALES_BY_ANY: bool;

    /// All lanes the same.
    fn splat(self, x: f32) -> Self::V;
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    fn abs(self, x: Self::V) -> Self::V;
    /// `a · b + c`
    fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// To the nearest integer; for less than 2^22 only.
    fn round(self, x: Self::V) -> Self::V;
    /// `x` times 2 to the power of `power`, which must be an integer from −126 to 127.
    fn scale(self, x: Self::V, power: Self::V) -> Self::V;
    /// `x` times 2 to the power of the integer in the last nine bits of `power`; both are normal numbers, and so is the result.
    fn add_exponent(self, x: Self::V, power: Self::V) -> Self::V;
    /// `1 / x` within 2 units in the last place, for `x` from 1 to 10³⁸.
    fn reciprocal(self, x: Self::V) -> Self::V;
    /// The same, within 4 · 10⁻⁴ of it.
    fn rough_reciprocal(self, x: Self::V) -> Self::V;
    /// The sum of all lanes.
    fn reduce_add(self, x: Self::V) -> f32;
    /// The largest lane.
    fn reduce_max(self, x: Self::V) -> f32;

    /// All lanes the same.
    fn splat_int(self, x: i32) -> Self::I;
    fn add_int(self, a: Self::I, b: Self::I) -> Self::I;
    fn sub_int(self, a: Self::I, b: Self::I) -> Self::I;
    /// The nearest `f32`.
    fn to_float(self, x: Self::I) -> Self::V;
    /// The nearest integer.
    fn to_int(self, x: Self::V) -> Self::I;
    /// In each lane, the last bytes of four lanes, of which the first is the first in memory.
    fn join_bytes(self, x: [Self::I; 4]) -> Self::I;
    /// The last bytes of the lanes, which must be from 0 to 255, of one vector after the other.
    fn pack_bytes(self, x: [Self::I; 4]) -> Self::I;
    /// Thresholds from 0 to 1 for as many numbers as four vectors have, from which on they are rounded up: of each kind equally many,
    /// other ones for each row.
    fn dither(self, row: usize) -> Self::Dither;
    /// `255 · 2^(−x/32)`, rounded up or down as thresholds say, as bytes, of one vector after the other; within 1.2 % of it before it is
    /// rounded. Every `x` is at least −½, and may be as large as it likes.
    fn powers_as_bytes(self, x: [Self::V; 4], dither: Self::Dither) -> Self::I;
    /// In each lane, the last halves of two lanes, of which the first is the first in memory.
    fn join_halves(self, x: [Self::I; 2]) -> Self::I;
    /// The sum of all lanes, which must fit into one.
    fn reduce_add_int(self, x: Self::I) -> i32;
    /// In each lane, `sum` plus the four products of the bytes of `a`, which have no sign, and of those of `b`, whose
    /// magnitude is at most 127, with [`BYTE_SUMS`](Self::BYTE_SUMS).
    fn dot8(self, sum: Self::I, a: Self::I, b: Self::I) -> Self::I;
    /// The same for two words.
    #[inline(always)]
    fn dot8_twice(self, sum: Self::I, a: [Self::I; 2], b: [Self::I; 2]) -> Self::I {
        self.dot8(self.dot8(sum, a[0], b[0]), a[1], b[1])
    }
    /// In each lane, `sum` plus the two products of the halves of `a` and of `b`.
    fn dot16(self, sum: Self::I, a: Self::I, b: Self::I) -> Self::I;

    /// Asks for what is at this address to be brought into the second cache. Does nothing that can be noticed, wherever
    /// that is.
    #[inline(always)]
    fn prefetch<T>(self, _from: *const T) {}

    /// # Safety
    /// [`LANES`](Self::LANES) numbers at `from` can be read.
    unsafe fn load_unchecked(self, from: *const f32) -> Self::V;
    /// # Safety
    /// [`LANES`](Self::LANES) numbers at `to` can be written.
    unsafe fn store_unchecked(self, x: Self::V, to: *mut f32);
    /// # Safety
    /// [`LANES`](Self::LANES) integers at `from` can be read. They need not be aligned.
    unsafe fn load_int(self, from: *const i32) -> Self::I;
    /// # Safety
    /// [`LANES`](Self::LANES) integers at `to` can be written. They need not be aligned.
    unsafe fn store_int(self, x: Self::I, to: *mut i32);
    /// The lanes, which must be from 0 to 255, as bytes.
    ///
    /// # Safety
    /// [`LANES`](Self::LANES) bytes at `to` can be written.
    unsafe fn store_bytes(self, x: Self::I, to: *mut u8);
    /// The last bytes of the lanes, which must be from −128 to 127.
    ///
    /// # Safety
    /// [`LANES`](Self::LANES) bytes at `to` can be written.
    unsafe fn store_low_bytes(self, x: Self::I, to: *mut i8);
    /// The lanes, which must fit into 16 bits, in 16 bits each.
    ///
    /// # Safety
    /// [`LANES`](Self::LANES) numbers at `to` can be written.
    unsafe fn store_halves(self, x: Self::I, to: *mut i16);

    /// The first numbers of `from`.
    #[inline(always)]
    fn load(self, from: &[f32]) -> Self::V {
        assert!(from.len() >= Self::LANES);
        // SAFETY: there are enough of them.
        unsafe { self.load_unchecked(from.as_ptr()) }
    }

    /// To the first places of `to`.
    #[inline(always)]
    fn store(self, x: Self::V, to: &mut [f32]) {
        assert!(to.len() >= Self::LANES);
        // SAFETY: there are enough of them.
        unsafe { self.store_unchecked(x, to.as_mut_ptr()) }
    }

    /// `eˣ`, within 2 units in the last place; for `x` from −87 to 88.
    ///
    /// CITE: Moshier, Cephes mathematical library, `expf`: reduction by the nearest multiple of ln 2 in two parts,
    /// then a polynomial.
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

    /// 2 to the power of `x`, as exactly as these coefficients say. Beyond what an `f32` can be, or a little before that,
    /// it is as small or as large as possible.
    #[inline(always)]
    fn rough_exp2<const N: usize>(self, x: Self::V, coefficients: &[f32; N]) -> Self::V {
        if Self::SCALES_BY_ANY {
            let power = self.round(x);
            return self.scale(self.polynomial(self.sub(x, power), coefficients), power);
        }
        // Adding this number leaves the nearest integer in the last bits.
        let (x, large) = (self.clamp(x, -125.0, 127.0), self.splat(12_582_912.0));
        let shifted = self.add(x, large);
        self.add_exponent(self.polynomial(self.sub(x, self.sub(shifted, large)), coefficients), shifted)
    }

    /// The polynomial of `x` with these coefficients, that of the highest power first.
    #[inline(always)]
    fn polynomial<const N: usize>(self, x: Self::V, coefficients: &[f32; N]) -> Self::V {
        let mut sum = self.splat(coefficients[0]);
        for &coefficient in &coefficients[1..] {
            sum = self.mul_add(sum, x, self.splat(coefficient));
        }
        sum
    }

    /// All lanes no smaller than `min` and no larger than `max`.
    #[inline(always)]
    fn clamp(self, x: Self::V, min: f32, max: f32) -> Self::V {
        self.max(self.min(x, self.splat(max)), self.splat(min))
    }

    /// `x / (1 + e⁻ˣ)` within 5 · 10⁻⁴ of it, for what is rounded to 8 bits.
    #[inline(always)]
    fn rough_silu(self, x: Self::V) -> Self::V {
        let e = self.rough_exp2(self.mul(x, self.splat(-std::f32::consts::LOG2_E)), &EXP2_OF_DEGREE_3);
        self.mul(x, self.rough_reciprocal(self.add(e, self.splat(1.0))))
    }

    /// `x / (1 + e⁻ˣ)`. Below −87, the exponential of that is taken.
    #[inline(always)]
    fn silu(self, x: Self::V) -> Self::V {
        let e = self.exp(self.clamp(self.sub(self.splat(0.0), x), -87.0, 87.0));
        self.mul(x, self.reciprocal(self.add(e, self.splat(1.0))))
    }
}

/// Numbers from 0 to 255, of which neighbours are as different as possible: those of six bits, from the last bit to the first.
const THRESHOLDS: [u8; 64] = {
    let mut thresholds = [0; 64];
    let mut index = 0;
    while index < 64 {
        thresholds[index] = (index as u8).reverse_bits() + 2;
        index += 1;
    }
    thresholds
};

/// How much farther the thresholds of the next row are: nearly the golden section of 256, so that they never come together.
const NEXT_ROW: usize = 159;

/// [`Simd::dither`], as what is added before numbers are rounded to the nearest integer.
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

/// [`Simd::powers_as_bytes`] by numbers.
#[inline(always)]
fn powers_of_floats<S: Simd>(s: S, x: [S::V; 4], dither: [S::V; 4]) -> S::I {
    // A little less than 255, so that nothing is rounded to 256.
    const BITS_OF_LARGEST: f32 = 7.991;
    let mut integers = [s.splat_int(0); 4];
    for ((integer, x), dither) in integers.iter_mut().zip(x).zip(dither) {
        let power = s.mul_add(x, s.splat(-1.0 / 32.0), s.splat(BITS_OF_LARGEST));
        *integer = s.to_int(s.add(s.rough_exp2(power, &EXP2_OF_DEGREE_2), dither));
    }
    s.pack_bytes(integers)
}

/// A vector type of processors that multiply bf16 (see `bf16.rs`), two of which a lane holds.
pub(super) trait SimdBf16: Simd {
    /// In each lane, `sum` plus the two products of the bf16 of `a` and of `b`. What is smaller than the least normal number
    /// may count as zero.
    fn dot_bf16(self, sum: Self::V, a: Self::I, b: Self::I) -> Self::V;
    /// The nearest bf16 of all lanes.
    ///
    /// # Safety
    /// [`LANES`](Simd::LANES) numbers at `to` can be written.
    unsafe fn store_bf16(self, x: Self::V, to: *mut u16);
}

/// Polynomials for [`Simd::rough_exp2`], from the highest power on: those with the smallest relative error from −½ to ½,
/// which is 1.7 · 10⁻³ (Remez' algorithm).
pub(super) const EXP2_OF_DEGREE_2: [f32; 3] = [0.238_428_94, 0.703_448, 1.000_443_1];
/// The same, with an error of 10⁻⁴.
pub(super) const EXP2_OF_DEGREE_3: [f32; 4] = [0.055_171_67, 0.242_611_13, 0.693_260_97, 0.999_928_06];

/// Newton's step from an estimate of `1 / x`, which doubles the digits that are right.
#[inline(always)]
fn refined<S: Simd>(s: S, x: S::V, estimate: S::V) -> S::V {
    let error = s.sub(s.splat(1.0), s.mul(x, estimate));
    s.mul_add(estimate, error, estimate)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As bytes, in this order: integers from 0 to 255, and powers of two from the largest to those of which nothing is left.
    fn check<S: Simd>(s: S, name: &str) {
        let lanes = S::LANES;
        let bytes = |words: S::I| {
            let mut to = vec![0i32; lanes];
            // SAFETY: as many integers as there are lanes.
            unsafe { s.store_int(words, to.as_mut_ptr()) };
            to.into_iter().flat_map(i32::to_ne_bytes).collect::<Vec<u8>>()
        };
        for first in [0.0, 13.3, 90.0, 230.0, 1e4, 1e12, 3e38] {
            let numbers: Vec<f32> =
                (0..4 * lanes).map(|index| if index % 3 == 0 { first } else { (index * 4) as f32 }).collect();
            let vectors = std::array::from_fn(|index| s.load(&numbers[index * lanes..]));
            // Thresholds are spread evenly, so in the mean of rows nothing is rounded away.
            let mut sums = vec![0.0; 4 * lanes];
            for row in 0..256 {
                for (sum, found) in sums.iter_mut().zip(bytes(s.powers_as_bytes(vectors, s.dither(row)))) {
                    *sum += f32::from(found) / 256.0;
                }
            }
            for (x, found) in numbers.iter().zip(sums) {
                let wanted = 255.0 * (x / -32.0).exp2();
                assert!((found - wanted).abs() <= 0.01 + 0.015 * wanted, "{name}: {x} {found} {wanted}");
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
        // SAFETY: only tokens of what the processor has.
        unsafe {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                check(Avx2::<false>::token(), "avx2");
            }
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
                check(Avx512::<PLAIN>::token(), "avx512");
            }
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: every processor of this kind has NEON.
        check(unsafe { Neon::<NEON>::token() }, "neon");
    }
}
