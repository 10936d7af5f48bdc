//! Vectors of numbers of 32 bits, as wide as the processor has them.
//!
//! Kernels are generic over [`Simd`] and are inlined into functions that are compiled for one instruction set
//! (`primitives.rs`). A value of a type that implements it is a token: whoever holds one has seen that the processor
//! can execute its methods, and so most of them are safe to call.

/// Vectors beside each other in a panel of a packed matrix.
pub(super) const PANEL_VECTORS: usize = 2;

/// A vector type of some processors.
pub(super) trait Simd: Copy {
    /// A vector of [`LANES`](Self::LANES) numbers `f32`.
    type V: Copy;
    /// A vector of [`LANES`](Self::LANES) integers `i32`, or of the four bytes or two `i16` that each of them holds.
    type I: Copy;
    /// Numbers in a vector.
    const LANES: usize;
    /// Rows of a block of a product of matrices: the registers hold the sums of so many rows and
    /// [`PANEL_VECTORS`] vectors beside each other, and what is multiplied.
    const ROWS: usize;
    /// The largest sum of two neighbours of equal sign among the second bytes of [`dot8`](Self::dot8), the first and
    /// the second or the third and the fourth of four.
    const PAIR_LEVELS: i32;
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
    /// In each lane, the last halves of two lanes, of which the first is the first in memory.
    fn join_halves(self, x: [Self::I; 2]) -> Self::I;
    /// The sum of all lanes, which must fit into one.
    fn reduce_add_int(self, x: Self::I) -> i32;
    /// In each lane, `sum` plus the four products of the bytes of `a`, which have no sign, and of those of `b`, whose
    /// magnitude is at most 127, with [`PAIR_LEVELS`](Self::PAIR_LEVELS).
    fn dot8(self, sum: Self::I, a: Self::I, b: Self::I) -> Self::I;
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
    fn rough_exp2(self, x: Self::V, coefficients: &[f32]) -> Self::V {
        let x = if Self::SCALES_BY_ANY { x } else { self.clamp(x, -126.0, 127.0) };
        let power = self.round(x);
        let rest = self.sub(x, power);
        let mut sum = self.splat(coefficients[0]);
        for &coefficient in &coefficients[1..] {
            sum = self.mul_add(sum, rest, self.splat(coefficient));
        }
        self.scale(sum, power)
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

/// Polynomials for [`Simd::rough_exp2`], from the highest power on: those with the smallest relative error from −½ to ½,
/// which is 1.7 · 10⁻³ (Remez' algorithm).
pub(super) const EXP2_OF_DEGREE_2: [f32; 3] = [0.238_428_94, 0.703_448, 1.000_443_1];
/// The same, with an error of 10⁻⁴.
pub(super) const EXP2_OF_DEGREE_3: [f32; 4] = [0.055_171_67, 0.242_611_13, 0.693_260_97, 0.999_928_06];

/// Plain Rust, for every processor. Four lanes are what the smallest vector instructions have, and the compiler finds
/// them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portable;

impl Portable {
    #[inline(always)]
    fn lanes(mut a: [f32; 4], b: [f32; 4], f: impl Fn(&mut f32, f32)) -> [f32; 4] {
        for (a, b) in a.iter_mut().zip(b) {
            f(a, b);
        }
        a
    }
}

impl Simd for Portable {
    type V = [f32; 4];
    type I = [i32; 4];
    const LANES: usize = 4;
    const ROWS: usize = 4;
    const PAIR_LEVELS: i32 = 254;
    const SCALES_BY_ANY: bool = false;

    #[inline(always)]
    fn splat(self, x: f32) -> [f32; 4] {
        [x; 4]
    }

    #[inline(always)]
    fn add(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        Portable::lanes(a, b, |a, b| *a += b)
    }

    #[inline(always)]
    fn sub(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        Portable::lanes(a, b, |a, b| *a -= b)
    }

    #[inline(always)]
    fn mul(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        Portable::lanes(a, b, |a, b| *a *= b)
    }

    #[inline(always)]
    fn div(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        Portable::lanes(a, b, |a, b| *a /= b)
    }

    #[inline(always)]
    fn max(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        Portable::lanes(a, b, |a, b| *a = if *a > b { *a } else { b })
    }

    #[inline(always)]
    fn min(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        Portable::lanes(a, b, |a, b| *a = if *a < b { *a } else { b })
    }

    #[inline(always)]
    fn abs(self, x: [f32; 4]) -> [f32; 4] {
        x.map(f32::abs)
    }

    #[inline(always)]
    fn join_bytes(self, x: [[i32; 4]; 4]) -> [i32; 4] {
        std::array::from_fn(|lane| i32::from_ne_bytes(x.map(|x| x[lane] as u8)))
    }

    #[inline(always)]
    fn join_halves(self, x: [[i32; 4]; 2]) -> [i32; 4] {
        std::array::from_fn(|lane| {
            let [first, second] = x.map(|x| (x[lane] as u16).to_ne_bytes());
            i32::from_ne_bytes([first[0], first[1], second[0], second[1]])
        })
    }

    /// Rounded twice: where there is no instruction, `f32::mul_add` is a call and hundreds of times slower.
    #[inline(always)]
    fn mul_add(self, a: [f32; 4], b: [f32; 4], c: [f32; 4]) -> [f32; 4] {
        self.add(self.mul(a, b), c)
    }

    /// By adding a number so large that no fraction is left; `f32::round` is a call.
    #[inline(always)]
    fn round(self, x: [f32; 4]) -> [f32; 4] {
        const LARGE: f32 = 12_582_912.0;
        x.map(|x| (x + LARGE) - LARGE)
    }

    #[inline(always)]
    fn scale(self, x: [f32; 4], power: [f32; 4]) -> [f32; 4] {
        self.mul(x, power.map(|power| f32::from_bits(((power as i32 + 127) as u32) << 23)))
    }

    #[inline(always)]
    fn reciprocal(self, x: [f32; 4]) -> [f32; 4] {
        x.map(|x| 1.0 / x)
    }

    #[inline(always)]
    fn rough_reciprocal(self, x: [f32; 4]) -> [f32; 4] {
        self.reciprocal(x)
    }

    #[inline(always)]
    fn reduce_add(self, x: [f32; 4]) -> f32 {
        (x[0] + x[1]) + (x[2] + x[3])
    }

    #[inline(always)]
    fn reduce_max(self, x: [f32; 4]) -> f32 {
        x[0].max(x[1]).max(x[2].max(x[3]))
    }

    #[inline(always)]
    fn splat_int(self, x: i32) -> [i32; 4] {
        [x; 4]
    }

    #[inline(always)]
    fn add_int(self, a: [i32; 4], b: [i32; 4]) -> [i32; 4] {
        std::array::from_fn(|lane| a[lane].wrapping_add(b[lane]))
    }

    #[inline(always)]
    fn sub_int(self, a: [i32; 4], b: [i32; 4]) -> [i32; 4] {
        std::array::from_fn(|lane| a[lane].wrapping_sub(b[lane]))
    }

    #[inline(always)]
    fn to_float(self, x: [i32; 4]) -> [f32; 4] {
        x.map(|x| x as f32)
    }

    #[inline(always)]
    fn to_int(self, x: [f32; 4]) -> [i32; 4] {
        self.round(x).map(|x| x as i32)
    }

    #[inline(always)]
    fn reduce_add_int(self, x: [i32; 4]) -> i32 {
        x.into_iter().sum()
    }

    #[inline(always)]
    fn dot8(self, sum: [i32; 4], a: [i32; 4], b: [i32; 4]) -> [i32; 4] {
        std::array::from_fn(|lane| {
            let products = a[lane].to_ne_bytes().into_iter().zip(b[lane].to_ne_bytes());
            sum[lane] + products.map(|(a, b)| i32::from(a) * i32::from(b as i8)).sum::<i32>()
        })
    }

    #[inline(always)]
    fn dot16(self, sum: [i32; 4], a: [i32; 4], b: [i32; 4]) -> [i32; 4] {
        std::array::from_fn(|lane| {
            let (a, b) = (a[lane], b[lane]);
            sum[lane] + i32::from(a as i16) * i32::from(b as i16) + (a >> 16) * (b >> 16)
        })
    }

    #[inline(always)]
    unsafe fn load_unchecked(self, from: *const f32) -> [f32; 4] {
        // SAFETY: the caller's.
        unsafe { from.cast::<[f32; 4]>().read() }
    }

    #[inline(always)]
    unsafe fn store_unchecked(self, x: [f32; 4], to: *mut f32) {
        // SAFETY: the caller's.
        unsafe { to.cast::<[f32; 4]>().write(x) }
    }

    #[inline(always)]
    unsafe fn load_int(self, from: *const i32) -> [i32; 4] {
        // SAFETY: the caller's.
        unsafe { from.cast::<[i32; 4]>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store_int(self, x: [i32; 4], to: *mut i32) {
        // SAFETY: the caller's.
        unsafe { to.cast::<[i32; 4]>().write_unaligned(x) }
    }

    #[inline(always)]
    unsafe fn store_bytes(self, x: [i32; 4], to: *mut u8) {
        // SAFETY: the caller's.
        unsafe { to.cast::<[u8; 4]>().write(x.map(|x| x as u8)) }
    }

    #[inline(always)]
    unsafe fn store_low_bytes(self, x: [i32; 4], to: *mut i8) {
        // SAFETY: the caller's.
        unsafe { to.cast::<[i8; 4]>().write(x.map(|x| x as i8)) }
    }

    #[inline(always)]
    unsafe fn store_halves(self, x: [i32; 4], to: *mut i16) {
        // SAFETY: the caller's.
        unsafe { to.cast::<[i16; 4]>().write_unaligned(x.map(|x| x as i16)) }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Simd;
    use std::arch::x86_64::*;

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

    /// Newton's step from an estimate of `1 / x`, which doubles the digits that are right.
    #[inline(always)]
    fn refined<S: Simd>(s: S, x: S::V, estimate: S::V) -> S::V {
        let error = s.sub(s.splat(1.0), s.mul(x, estimate));
        s.mul_add(estimate, error, estimate)
    }

    /// 256 bits with fused multiplication and addition: Intel since Haswell, AMD since Zen. With `VNNI`, the
    /// products of integers are one instruction: Intel since Alder Lake, AMD since Zen 5.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Avx2<const VNNI: bool>(());

    impl<const VNNI: bool> Avx2<VNNI> {
        /// # Safety
        /// The processor has AVX2 and FMA, and AVX-VNNI if it says so.
        pub(crate) const unsafe fn token() -> Avx2<VNNI> {
            Avx2(())
        }
    }

    impl<const VNNI: bool> Simd for Avx2<VNNI> {
        type V = __m256;
        type I = __m256i;
        const LANES: usize = 8;
        // 16 registers hold 12 sums, two vectors of the panel and one factor.
        const ROWS: usize = 6;
        // Without VNNI, the sum of two products must fit into 16 bits: 255 · 128 = 32,640.
        const PAIR_LEVELS: i32 = if VNNI { 254 } else { 128 };
        const SCALES_BY_ANY: bool = false;

        instructions! {
            splat(self, x: f32) -> __m256 = _mm256_set1_ps(x);
            add(self, a: __m256, b: __m256) -> __m256 = _mm256_add_ps(a, b);
            sub(self, a: __m256, b: __m256) -> __m256 = _mm256_sub_ps(a, b);
            mul(self, a: __m256, b: __m256) -> __m256 = _mm256_mul_ps(a, b);
            div(self, a: __m256, b: __m256) -> __m256 = _mm256_div_ps(a, b);
            max(self, a: __m256, b: __m256) -> __m256 = _mm256_max_ps(a, b);
            min(self, a: __m256, b: __m256) -> __m256 = _mm256_min_ps(a, b);
            abs(self, x: __m256) -> __m256 = _mm256_castsi256_ps(_mm256_and_si256(
                _mm256_castps_si256(x),
                _mm256_set1_epi32(i32::MAX),
            ));
            join_bytes(self, x: [__m256i; 4]) -> __m256i = {
                let low = _mm256_set1_epi32(0xff);
                let first = _mm256_and_si256(x[0], low);
                let second = _mm256_slli_epi32::<8>(_mm256_and_si256(x[1], low));
                let third = _mm256_slli_epi32::<16>(_mm256_and_si256(x[2], low));
                let last = _mm256_slli_epi32::<24>(x[3]);
                _mm256_or_si256(_mm256_or_si256(first, second), _mm256_or_si256(third, last))
            };
            join_halves(self, x: [__m256i; 2]) -> __m256i = _mm256_or_si256(
                _mm256_and_si256(x[0], _mm256_set1_epi32(0xffff)),
                _mm256_slli_epi32::<16>(x[1]),
            );
            mul_add(self, a: __m256, b: __m256, c: __m256) -> __m256 = _mm256_fmadd_ps(a, b, c);
            round(self, x: __m256) -> __m256 =
                _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x);
            scale(self, x: __m256, power: __m256) -> __m256 = _mm256_mul_ps(x, _mm256_castsi256_ps(
                _mm256_slli_epi32::<23>(_mm256_add_epi32(_mm256_cvtps_epi32(power), _mm256_set1_epi32(127))),
            ));
            rough_reciprocal(self, x: __m256) -> __m256 = _mm256_rcp_ps(x);
            reciprocal(self, x: __m256) -> __m256 = refined(self, x, _mm256_rcp_ps(x));
            splat_int(self, x: i32) -> __m256i = _mm256_set1_epi32(x);
            add_int(self, a: __m256i, b: __m256i) -> __m256i = _mm256_add_epi32(a, b);
            sub_int(self, a: __m256i, b: __m256i) -> __m256i = _mm256_sub_epi32(a, b);
            to_float(self, x: __m256i) -> __m256 = _mm256_cvtepi32_ps(x);
            to_int(self, x: __m256) -> __m256i = _mm256_cvtps_epi32(x);
            dot8(self, sum: __m256i, a: __m256i, b: __m256i) -> __m256i = if VNNI {
                _mm256_dpbusd_avx_epi32(sum, a, b)
            } else {
                let pairs = _mm256_maddubs_epi16(a, b);
                _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
            };
            dot16(self, sum: __m256i, a: __m256i, b: __m256i) -> __m256i = if VNNI {
                // The compiler would split the instruction that wraps around into two.
                _mm256_dpwssds_avx_epi32(sum, a, b)
            } else {
                _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))
            };
            reduce_add(self, x: __m256) -> f32 = {
                let x = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
                let x = _mm_add_ps(x, _mm_movehl_ps(x, x));
                _mm_cvtss_f32(_mm_add_ss(x, _mm_shuffle_ps::<1>(x, x)))
            };
            reduce_max(self, x: __m256) -> f32 = {
                let x = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
                let x = _mm_max_ps(x, _mm_movehl_ps(x, x));
                _mm_cvtss_f32(_mm_max_ss(x, _mm_shuffle_ps::<1>(x, x)))
            };
            reduce_add_int(self, x: __m256i) -> i32 = {
                let x = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x));
                let x = _mm_add_epi32(x, _mm_shuffle_epi32::<0b01_00_11_10>(x));
                _mm_cvtsi128_si32(_mm_add_epi32(x, _mm_shuffle_epi32::<0b10_11_00_01>(x)))
            };
        }

        #[inline(always)]
        fn prefetch<T>(self, from: *const T) {
            // SAFETY: no memory is touched, and no address is wrong.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(from.cast()) }
        }

        memory! {
            load_unchecked(from: *const f32) -> __m256 = _mm256_loadu_ps(from);
            store_unchecked(x: __m256, to: *mut f32) = _mm256_storeu_ps(to, x);
            load_int(from: *const i32) -> __m256i = _mm256_loadu_si256(from.cast());
            store_int(x: __m256i, to: *mut i32) = _mm256_storeu_si256(to.cast(), x);
            store_bytes(x: __m256i, to: *mut u8) = {
                let halves = _mm_packus_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x));
                _mm_storel_epi64(to.cast(), _mm_packus_epi16(halves, halves));
            };
            store_low_bytes(x: __m256i, to: *mut i8) = {
                let halves = _mm_packs_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x));
                _mm_storel_epi64(to.cast(), _mm_packs_epi16(halves, halves));
            };
            store_halves(x: __m256i, to: *mut i16) = {
                let halves = _mm_packs_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x));
                _mm_storeu_si128(to.cast(), halves);
            };
        }
    }

    /// 512 bits: Intel servers since Skylake, AMD since Zen 4. With `VNNI`, the products of integers are one
    /// instruction: Intel since Cascade Lake, AMD since Zen 4.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Avx512<const VNNI: bool>(());

    impl<const VNNI: bool> Avx512<VNNI> {
        /// # Safety
        /// The processor has AVX-512F and AVX-512BW, and AVX-512 VNNI if it says so.
        pub(crate) const unsafe fn token() -> Avx512<VNNI> {
            Avx512(())
        }
    }

    impl<const VNNI: bool> Simd for Avx512<VNNI> {
        type V = __m512;
        type I = __m512i;
        const LANES: usize = 16;
        // 32 registers hold 24 sums, two vectors of the panel and a few factors.
        const ROWS: usize = 12;
        const PAIR_LEVELS: i32 = if VNNI { 254 } else { 128 };
        const SCALES_BY_ANY: bool = true;

        instructions! {
            splat(self, x: f32) -> __m512 = _mm512_set1_ps(x);
            add(self, a: __m512, b: __m512) -> __m512 = _mm512_add_ps(a, b);
            sub(self, a: __m512, b: __m512) -> __m512 = _mm512_sub_ps(a, b);
            mul(self, a: __m512, b: __m512) -> __m512 = _mm512_mul_ps(a, b);
            div(self, a: __m512, b: __m512) -> __m512 = _mm512_div_ps(a, b);
            max(self, a: __m512, b: __m512) -> __m512 = _mm512_max_ps(a, b);
            min(self, a: __m512, b: __m512) -> __m512 = _mm512_min_ps(a, b);
            abs(self, x: __m512) -> __m512 = _mm512_castsi512_ps(_mm512_and_si512(
                _mm512_castps_si512(x),
                _mm512_set1_epi32(i32::MAX),
            ));
            join_bytes(self, x: [__m512i; 4]) -> __m512i = {
                let low = _mm512_set1_epi32(0xff);
                let first = _mm512_and_si512(x[0], low);
                let second = _mm512_slli_epi32::<8>(_mm512_and_si512(x[1], low));
                let third = _mm512_slli_epi32::<16>(_mm512_and_si512(x[2], low));
                let last = _mm512_slli_epi32::<24>(x[3]);
                _mm512_or_si512(_mm512_or_si512(first, second), _mm512_or_si512(third, last))
            };
            join_halves(self, x: [__m512i; 2]) -> __m512i = _mm512_or_si512(
                _mm512_and_si512(x[0], _mm512_set1_epi32(0xffff)),
                _mm512_slli_epi32::<16>(x[1]),
            );
            mul_add(self, a: __m512, b: __m512, c: __m512) -> __m512 = _mm512_fmadd_ps(a, b, c);
            round(self, x: __m512) -> __m512 =
                _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x);
            scale(self, x: __m512, power: __m512) -> __m512 = _mm512_scalef_ps(x, power);
            rough_reciprocal(self, x: __m512) -> __m512 = _mm512_rcp14_ps(x);
            reciprocal(self, x: __m512) -> __m512 = refined(self, x, _mm512_rcp14_ps(x));
            splat_int(self, x: i32) -> __m512i = _mm512_set1_epi32(x);
            add_int(self, a: __m512i, b: __m512i) -> __m512i = _mm512_add_epi32(a, b);
            sub_int(self, a: __m512i, b: __m512i) -> __m512i = _mm512_sub_epi32(a, b);
            to_float(self, x: __m512i) -> __m512 = _mm512_cvtepi32_ps(x);
            to_int(self, x: __m512) -> __m512i = _mm512_cvtps_epi32(x);
            dot8(self, sum: __m512i, a: __m512i, b: __m512i) -> __m512i = if VNNI {
                _mm512_dpbusd_epi32(sum, a, b)
            } else {
                let pairs = _mm512_maddubs_epi16(a, b);
                _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)))
            };
            dot16(self, sum: __m512i, a: __m512i, b: __m512i) -> __m512i = if VNNI {
                // The compiler would split the instruction that wraps around into two.
                _mm512_dpwssds_epi32(sum, a, b)
            } else {
                _mm512_add_epi32(sum, _mm512_madd_epi16(a, b))
            };
            reduce_add(self, x: __m512) -> f32 = _mm512_reduce_add_ps(x);
            reduce_max(self, x: __m512) -> f32 = _mm512_reduce_max_ps(x);
            reduce_add_int(self, x: __m512i) -> i32 = _mm512_reduce_add_epi32(x);
        }

        #[inline(always)]
        fn prefetch<T>(self, from: *const T) {
            // SAFETY: no memory is touched, and no address is wrong.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(from.cast()) }
        }

        memory! {
            load_unchecked(from: *const f32) -> __m512 = _mm512_loadu_ps(from);
            store_unchecked(x: __m512, to: *mut f32) = _mm512_storeu_ps(to, x);
            load_int(from: *const i32) -> __m512i = _mm512_loadu_si512(from.cast());
            store_int(x: __m512i, to: *mut i32) = _mm512_storeu_si512(to.cast(), x);
            store_bytes(x: __m512i, to: *mut u8) = _mm_storeu_si128(to.cast(), _mm512_cvtepi32_epi8(x));
            store_low_bytes(x: __m512i, to: *mut i8) = _mm_storeu_si128(to.cast(), _mm512_cvtepi32_epi8(x));
            store_halves(x: __m512i, to: *mut i16) = _mm256_storeu_si256(to.cast(), _mm512_cvtepi32_epi16(x));
        }
    }
}
