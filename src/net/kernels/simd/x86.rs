//! Vectors of x86-64.

use super::{ByteSums, NEXT_ROW, Simd, SimdBf16, THRESHOLDS, dither_of_floats, powers_of_floats, refined};
use std::arch::x86_64::*;
use std::mem::transmute;

/// 256-bit vectors with fused multiply-add: Intel since Haswell, AMD since Zen. With `VNNI`, dot products of integers
/// are single instructions: Intel since Alder Lake, AMD since Zen 5.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Avx2<const VNNI: bool>(());

impl<const VNNI: bool> Avx2<VNNI> {
    /// Returns a token of the instruction set.
    ///
    /// # Safety
    ///
    /// The processor must have AVX2 and FMA, and with `VNNI` also AVX-VNNI.
    pub(in super::super) const unsafe fn token() -> Avx2<VNNI> {
        Avx2(())
    }
}

impl<const VNNI: bool> Simd for Avx2<VNNI> {
    type V = __m256;
    type Dither = [__m256; 4];
    type I = __m256i;
    const LANES: usize = 8;
    // 16 registers hold 12 sums, two vectors of the panel and one factor.
    const ROWS: usize = 6;
    const BYTE_SUMS: ByteSums = if VNNI { ByteSums::WHOLE } else { ByteSums::QUADS };
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
        pack_bytes(self, x: [__m256i; 4]) -> __m256i = {
            let halves = [_mm256_packs_epi32(x[0], x[1]), _mm256_packs_epi32(x[2], x[3])];
            // Each half has four bytes of each vector.
            let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
            _mm256_permutevar8x32_epi32(_mm256_packus_epi16(halves[0], halves[1]), order)
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
        add_exponent(self, x: __m256, power: __m256) -> __m256 = _mm256_castsi256_ps(_mm256_add_epi32(
            _mm256_castps_si256(x),
            _mm256_slli_epi32::<23>(_mm256_castps_si256(power)),
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
        dot8_twice(self, sum: __m256i, a: [__m256i; 2], b: [__m256i; 2]) -> __m256i = if VNNI {
            self.dot8(self.dot8(sum, a[0], b[0]), a[1], b[1])
        } else {
            // Widening costs as much as multiplying, so it is done once for two words.
            let quads = _mm256_add_epi16(_mm256_maddubs_epi16(a[0], b[0]), _mm256_maddubs_epi16(a[1], b[1]));
            _mm256_add_epi32(sum, _mm256_madd_epi16(quads, _mm256_set1_epi16(1)))
        };
        dot16(self, sum: __m256i, a: __m256i, b: __m256i) -> __m256i = if VNNI {
            // The compiler would split the wrapping instruction into two, so the saturating one is used.
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
    fn dither(self, row: usize) -> [__m256; 4] {
        dither_of_floats(self, row)
    }

    #[inline(always)]
    fn powers_as_bytes(self, x: [__m256; 4], dither: [__m256; 4]) -> __m256i {
        powers_of_floats(self, x, dither)
    }

    #[inline(always)]
    fn prefetch<T>(self, from: *const T) {
        // SAFETY: a prefetch accesses no memory, and any address is allowed.
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

/// Products by separate multiplication and addition.
pub(in super::super) const PLAIN: u8 = 0;
/// Dot products of integers by single instructions: Intel since Cascade Lake, AMD since Zen 4.
pub(in super::super) const VNNI: u8 = 1;
/// Also dot products of bf16 by single instructions: Intel since Cooper Lake and Sapphire Rapids, AMD since Zen 4.
pub(in super::super) const BF16: u8 = 2;

/// 512-bit vectors, with [`PLAIN`], [`VNNI`] or [`BF16`] products: Intel servers since Skylake, AMD since Zen 4.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Avx512<const PRODUCTS: u8>(());

impl<const PRODUCTS: u8> Avx512<PRODUCTS> {
    /// Returns a token of the instruction set.
    ///
    /// # Safety
    ///
    /// The processor must have AVX-512F and AVX-512BW, and with the respective `PRODUCTS` also AVX-512 VNNI and AVX-512
    /// BF16.
    pub(in super::super) const unsafe fn token() -> Avx512<PRODUCTS> {
        Avx512(())
    }
}

/// Packs the 16-bit halves of two vectors, which must be from 0 to 255 and come from `_mm512_packs_epi32`, as bytes in
/// the order of the operands of that instruction.
///
/// # Safety
///
/// The processor must have AVX-512BW.
#[inline(always)]
unsafe fn pack_halves(first: __m512i, second: __m512i) -> __m512i {
    // SAFETY: guaranteed by the caller; no memory is accessed.
    unsafe {
        // Each quarter has four bytes of each vector.
        let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        _mm512_permutexvar_epi32(order, _mm512_packus_epi16(first, second))
    }
}

/// Computes `255 · 2^(−x/32)` of each 16-bit half, plus `parts` / 256, rounded down.
///
/// # Safety
///
/// The processor must have AVX-512BW.
#[inline(always)]
unsafe fn powers_of_halves(x: __m512i, parts: __m512i) -> __m512i {
    // SAFETY: guaranteed by the caller; `POWERS` has the length of a vector.
    unsafe {
        let powers = _mm512_loadu_si512(POWERS.as_ptr().cast());
        // The lowest five bits select the power. The other bits are the number of halvings.
        let power = _mm512_srlv_epi16(_mm512_permutexvar_epi16(x, powers), _mm512_srli_epi16::<5>(x));
        _mm512_srli_epi16::<8>(_mm512_add_epi16(power, parts))
    }
}

/// Values of `255 · 256 · 2^(−i/32)` for `i` from 0 to 31.
const POWERS: [u16; 32] = [
    65280, 63881, 62512, 61173, 59862, 58579, 57324, 56096, 54894, 53717, 52566, 51440, 50338, 49259, 48204,
    47171, 46160, 45171, 44203, 43256, 42329, 41422, 40534, 39666, 38816, 37984, 37170, 36374, 35594, 34831,
    34085, 33355,
];

impl SimdBf16 for Avx512<BF16> {
    instructions! {
        dot_bf16(self, sum: __m512, a: __m512i, b: __m512i) -> __m512 =
            _mm512_dpbf16_ps(sum, transmute::<__m512i, __m512bh>(a), transmute::<__m512i, __m512bh>(b));
    }

    memory! {
        store_bf16(x: __m512, to: *mut u16) = {
            _mm256_storeu_si256(to.cast(), transmute::<__m256bh, __m256i>(_mm512_cvtneps_pbh(x)));
        };
    }
}

impl<const PRODUCTS: u8> Simd for Avx512<PRODUCTS> {
    type V = __m512;
    type Dither = [__m512i; 2];
    type I = __m512i;
    const LANES: usize = 16;
    // 32 registers hold 24 sums, two vectors of the panel and a few factors.
    const ROWS: usize = 12;
    const BYTE_SUMS: ByteSums = if PRODUCTS >= VNNI { ByteSums::WHOLE } else { ByteSums::PAIRS };
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
        pack_bytes(self, x: [__m512i; 4]) -> __m512i = {
            pack_halves(_mm512_packs_epi32(x[0], x[1]), _mm512_packs_epi32(x[2], x[3]))
        };
        dither(self, row: usize) -> [__m512i; 2] = {
            let first = _mm512_add_epi8(_mm512_loadu_si512(THRESHOLDS.as_ptr().cast()), _mm512_set1_epi8((row.wrapping_mul(NEXT_ROW)) as i8));
            [_mm512_and_si512(first, _mm512_set1_epi16(255)), _mm512_srli_epi16::<8>(first)]
        };
        powers_as_bytes(self, x: [__m512; 4], dither: [__m512i; 2]) -> __m512i = {
            // Numbers that are too large become the smallest 32-bit integer and then the smallest 16-bit integer, which
            // is large as an unsigned number.
            let first = _mm512_packs_epi32(_mm512_cvtps_epi32(x[0]), _mm512_cvtps_epi32(x[1]));
            let second = _mm512_packs_epi32(_mm512_cvtps_epi32(x[2]), _mm512_cvtps_epi32(x[3]));
            pack_halves(powers_of_halves(first, dither[0]), powers_of_halves(second, dither[1]))
        };
        join_halves(self, x: [__m512i; 2]) -> __m512i = _mm512_or_si512(
            _mm512_and_si512(x[0], _mm512_set1_epi32(0xffff)),
            _mm512_slli_epi32::<16>(x[1]),
        );
        mul_add(self, a: __m512, b: __m512, c: __m512) -> __m512 = _mm512_fmadd_ps(a, b, c);
        round(self, x: __m512) -> __m512 =
            _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x);
        scale(self, x: __m512, power: __m512) -> __m512 = _mm512_scalef_ps(x, power);
        add_exponent(self, x: __m512, power: __m512) -> __m512 = _mm512_castsi512_ps(_mm512_add_epi32(
            _mm512_castps_si512(x),
            _mm512_slli_epi32::<23>(_mm512_castps_si512(power)),
        ));
        rough_reciprocal(self, x: __m512) -> __m512 = _mm512_rcp14_ps(x);
        reciprocal(self, x: __m512) -> __m512 = refined(self, x, _mm512_rcp14_ps(x));
        splat_int(self, x: i32) -> __m512i = _mm512_set1_epi32(x);
        add_int(self, a: __m512i, b: __m512i) -> __m512i = _mm512_add_epi32(a, b);
        sub_int(self, a: __m512i, b: __m512i) -> __m512i = _mm512_sub_epi32(a, b);
        to_float(self, x: __m512i) -> __m512 = _mm512_cvtepi32_ps(x);
        to_int(self, x: __m512) -> __m512i = _mm512_cvtps_epi32(x);
        dot8(self, sum: __m512i, a: __m512i, b: __m512i) -> __m512i = if PRODUCTS >= VNNI {
            _mm512_dpbusd_epi32(sum, a, b)
        } else {
            let pairs = _mm512_maddubs_epi16(a, b);
            _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)))
        };
        dot16(self, sum: __m512i, a: __m512i, b: __m512i) -> __m512i = if PRODUCTS >= VNNI {
            // The compiler would split the wrapping instruction into two, so the saturating one is used.
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
        // SAFETY: a prefetch accesses no memory, and any address is allowed.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_match_definition() {
        for (index, power) in POWERS.iter().enumerate() {
            assert_eq!(f64::from(*power), (255.0 * 256.0 * (index as f64 / -32.0).exp2()).round());
        }
    }
}
