//! Vectors of 64-bit ARM.
//!
//! The two instructions for dot products of bytes are written as assembly, because the functions of the standard
//! library for them are not stable yet.

use super::{ByteSums, Simd, dither_of_floats, powers_of_floats, refined};
use std::arch::aarch64::*;
use std::arch::asm;

/// Products of bytes in several steps, on every processor.
pub(in super::super) const NEON: u8 = 0;
/// Dot products of four pairs of signed bytes (`sdot`): Apple since M1, ARM since Cortex-A76.
pub(in super::super) const DOT: u8 = 1;
/// Dot products of four pairs of unsigned and signed bytes (`usdot`): Apple since M2, ARM since Neoverse V1.
pub(in super::super) const I8MM: u8 = 2;

/// 128-bit vectors, with [`NEON`], [`DOT`] or [`I8MM`] for products of bytes.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Neon<const BYTES: u8>(());

impl<const BYTES: u8> Neon<BYTES> {
    /// Returns a token of the instruction set.
    ///
    /// # Safety
    ///
    /// The processor must have NEON and the products of bytes that `BYTES` states.
    pub(in super::super) const unsafe fn token() -> Neon<BYTES> {
        Neon(())
    }
}

/// Adds to each lane of `sum` the four products of signed bytes.
///
/// # Safety
///
/// The processor must have `sdot`.
#[inline(always)]
unsafe fn sdot(mut sum: int32x4_t, a: int8x16_t, b: int8x16_t) -> int32x4_t {
    // SAFETY: guaranteed by the caller; only registers are accessed.
    unsafe {
        asm!(
            ".arch_extension dotprod",
            "sdot {sum:v}.4s, {a:v}.16b, {b:v}.16b",
            sum = inout(vreg) sum, a = in(vreg) a, b = in(vreg) b,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    sum
}

/// Adds to each lane of `sum` the four products of the unsigned bytes of `a` and the signed bytes of `b`.
///
/// # Safety
///
/// The processor must have `usdot`.
#[inline(always)]
unsafe fn usdot(mut sum: int32x4_t, a: int8x16_t, b: int8x16_t) -> int32x4_t {
    // SAFETY: guaranteed by the caller; only registers are accessed.
    unsafe {
        asm!(
            ".arch_extension i8mm",
            "usdot {sum:v}.4s, {a:v}.16b, {b:v}.16b",
            sum = inout(vreg) sum, a = in(vreg) a, b = in(vreg) b,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    sum
}

/// Adds to each lane of `sum` the four products of the unsigned bytes of `a` and the signed bytes of `b`, with
/// instructions of every processor. Products of bytes fit into 16 bits.
#[inline(always)]
fn dot_in_steps(sum: int32x4_t, a: uint8x16_t, b: int8x16_t) -> int32x4_t {
    // SAFETY: every 64-bit ARM processor has NEON; no memory is accessed.
    unsafe {
        let first = vmulq_s16(vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(a))), vmovl_s8(vget_low_s8(b)));
        let second = vmulq_s16(vreinterpretq_s16_u16(vmovl_high_u8(a)), vmovl_high_s8(b));
        vaddq_s32(sum, vpaddq_s32(vpaddlq_s16(first), vpaddlq_s16(second)))
    }
}

/// Returns the lowest bytes of the lanes.
#[inline(always)]
fn low_bytes(x: int32x4_t) -> u32 {
    // SAFETY: every 64-bit ARM processor has NEON; no memory is accessed.
    unsafe {
        let halves = vmovn_s32(x);
        vget_lane_u32::<0>(vreinterpret_u32_s8(vmovn_s16(vcombine_s16(halves, halves))))
    }
}

impl<const BYTES: u8> Simd for Neon<BYTES> {
    type V = float32x4_t;
    type Dither = [float32x4_t; 4];
    type I = int32x4_t;
    const LANES: usize = 4;
    // 32 registers hold 24 sums, two vectors of the panel and a few factors.
    const ROWS: usize = 12;
    const BYTE_SUMS: ByteSums = ByteSums::WHOLE;
    const SCALES_BY_ANY: bool = false;

    instructions! {
        splat(self, x: f32) -> float32x4_t = vdupq_n_f32(x);
        add(self, a: float32x4_t, b: float32x4_t) -> float32x4_t = vaddq_f32(a, b);
        sub(self, a: float32x4_t, b: float32x4_t) -> float32x4_t = vsubq_f32(a, b);
        mul(self, a: float32x4_t, b: float32x4_t) -> float32x4_t = vmulq_f32(a, b);
        div(self, a: float32x4_t, b: float32x4_t) -> float32x4_t = vdivq_f32(a, b);
        max(self, a: float32x4_t, b: float32x4_t) -> float32x4_t = vmaxq_f32(a, b);
        min(self, a: float32x4_t, b: float32x4_t) -> float32x4_t = vminq_f32(a, b);
        abs(self, x: float32x4_t) -> float32x4_t = vabsq_f32(x);
        mul_add(self, a: float32x4_t, b: float32x4_t, c: float32x4_t) -> float32x4_t = vfmaq_f32(c, a, b);
        round(self, x: float32x4_t) -> float32x4_t = vrndnq_f32(x);
        scale(self, x: float32x4_t, power: float32x4_t) -> float32x4_t = vmulq_f32(x, vreinterpretq_f32_s32(
            vshlq_n_s32::<23>(vaddq_s32(vcvtnq_s32_f32(power), vdupq_n_s32(127))),
        ));
        add_exponent(self, x: float32x4_t, power: float32x4_t) -> float32x4_t = vreinterpretq_f32_s32(vaddq_s32(
            vreinterpretq_s32_f32(x),
            vshlq_n_s32::<23>(vreinterpretq_s32_f32(power)),
        ));
        reciprocal(self, x: float32x4_t) -> float32x4_t = vdivq_f32(vdupq_n_f32(1.0), x);
        // The estimate has 8 bits.
        rough_reciprocal(self, x: float32x4_t) -> float32x4_t = refined(self, x, vrecpeq_f32(x));
        splat_int(self, x: i32) -> int32x4_t = vdupq_n_s32(x);
        add_int(self, a: int32x4_t, b: int32x4_t) -> int32x4_t = vaddq_s32(a, b);
        sub_int(self, a: int32x4_t, b: int32x4_t) -> int32x4_t = vsubq_s32(a, b);
        to_float(self, x: int32x4_t) -> float32x4_t = vcvtq_f32_s32(x);
        to_int(self, x: float32x4_t) -> int32x4_t = vcvtnq_s32_f32(x);
        join_bytes(self, x: [int32x4_t; 4]) -> int32x4_t = {
            let halves = [vsliq_n_s32::<8>(x[0], x[1]), vsliq_n_s32::<8>(x[2], x[3])];
            vsliq_n_s32::<16>(halves[0], halves[1])
        };
        pack_bytes(self, x: [int32x4_t; 4]) -> int32x4_t = {
            let first = vcombine_s16(vmovn_s32(x[0]), vmovn_s32(x[1]));
            let second = vcombine_s16(vmovn_s32(x[2]), vmovn_s32(x[3]));
            vreinterpretq_s32_s8(vcombine_s8(vmovn_s16(first), vmovn_s16(second)))
        };
        join_halves(self, x: [int32x4_t; 2]) -> int32x4_t = vsliq_n_s32::<16>(x[0], x[1]);
        dot8(self, sum: int32x4_t, a: int32x4_t, b: int32x4_t) -> int32x4_t = {
            let bytes = vreinterpretq_s8_s32(b);
            match BYTES {
                I8MM => usdot(sum, vreinterpretq_s8_s32(a), bytes),
                DOT => {
                    // a · b = (a − 128) · b + 128 · b. The second term depends only on `b`. In a block of a product it
                    // is computed once for all rows.
                    let half = vdupq_n_s8(64);
                    let rest = sdot(sdot(vdupq_n_s32(0), half, bytes), half, bytes);
                    let signed = vreinterpretq_s8_s32(veorq_s32(a, vreinterpretq_s32_u8(vdupq_n_u8(128))));
                    sdot(vaddq_s32(sum, rest), signed, bytes)
                }
                _ => dot_in_steps(sum, vreinterpretq_u8_s32(a), bytes),
            }
        };
        dot16(self, sum: int32x4_t, a: int32x4_t, b: int32x4_t) -> int32x4_t = {
            let (a, b) = (vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b));
            let first = vmull_s16(vget_low_s16(a), vget_low_s16(b));
            vaddq_s32(sum, vpaddq_s32(first, vmull_high_s16(a, b)))
        };
        reduce_add(self, x: float32x4_t) -> f32 = vaddvq_f32(x);
        reduce_max(self, x: float32x4_t) -> f32 = vmaxvq_f32(x);
        reduce_add_int(self, x: int32x4_t) -> i32 = vaddvq_s32(x);
    }

    #[inline(always)]
    fn dither(self, row: usize) -> [float32x4_t; 4] {
        dither_of_floats(self, row)
    }

    #[inline(always)]
    fn powers_as_bytes(self, x: [float32x4_t; 4], dither: [float32x4_t; 4]) -> int32x4_t {
        powers_of_floats(self, x, dither)
    }

    #[inline(always)]
    fn prefetch<T>(self, from: *const T) {
        // SAFETY: a prefetch accesses no memory, and any address is allowed.
        unsafe {
            asm!("prfm pldl2keep, [{from}]", from = in(reg) from, options(readonly, nostack, preserves_flags));
        }
    }

    memory! {
        load_unchecked(from: *const f32) -> float32x4_t = vld1q_f32(from);
        store_unchecked(x: float32x4_t, to: *mut f32) = vst1q_f32(to, x);
        load_int(from: *const i32) -> int32x4_t = vld1q_s32(from);
        store_int(x: int32x4_t, to: *mut i32) = vst1q_s32(to, x);
        store_bytes(x: int32x4_t, to: *mut u8) = to.cast::<u32>().write_unaligned(low_bytes(x));
        store_low_bytes(x: int32x4_t, to: *mut i8) = to.cast::<u32>().write_unaligned(low_bytes(x));
        store_halves(x: int32x4_t, to: *mut i16) = vst1_s16(to, vmovn_s32(x));
    }
}
