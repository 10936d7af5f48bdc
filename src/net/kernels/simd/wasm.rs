//! Vectors of WebAssembly.
//!
//! A module is compiled for one set of instructions and is refused by an engine that lacks one of them. Therefore the
//! instructions are chosen when the crate is compiled, and not when it runs.
#![allow(unused_unsafe, reason = "without a pointer these instructions are safe wherever they are compiled")]

use super::{ByteSums, Simd, dither_of_floats, powers_of_floats};
use core::arch::wasm32::*;

/// Whether the instructions of relaxed SIMD are used, whose results differ between processors: fused multiply-add, and
/// dot products of signed bytes by bytes from 0 to 127.
const IS_RELAXED: bool = cfg!(target_feature = "relaxed-simd");

/// Number so large that adding it leaves no fraction, for numbers of a magnitude of less than 2^22.
const LARGE: f32 = 12_582_912.0;

/// 128-bit vectors. Without relaxed SIMD, all results in 32-bit floating point equal those of
/// [`Portable`](super::Portable).
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Wasm;

/// Computes `a · b + c`, rounded once where the processor has an instruction for it.
#[cfg(target_feature = "relaxed-simd")]
#[inline(always)]
fn multiply_add(a: v128, b: v128, c: v128) -> v128 {
    f32x4_relaxed_madd(a, b, c)
}

/// Computes `a · b + c`, rounded twice.
#[cfg(not(target_feature = "relaxed-simd"))]
#[inline(always)]
fn multiply_add(a: v128, b: v128, c: v128) -> v128 {
    f32x4_add(f32x4_mul(a, b), c)
}

/// Adds to each lane of `sum` the four products of the unsigned bytes of `a`, which are at most 127, and the signed
/// bytes of `b`. Sums of two products fit into 16 bits, so the result is the same on all processors.
#[cfg(target_feature = "relaxed-simd")]
#[inline(always)]
fn dot(sum: v128, a: v128, b: v128) -> v128 {
    i32x4_relaxed_dot_i8x16_i7x16_add(b, a, sum)
}

/// Adds to each lane of `sum` the four products of the unsigned bytes of `a` and the signed bytes of `b`.
#[cfg(not(target_feature = "relaxed-simd"))]
#[inline(always)]
fn dot(sum: v128, a: v128, b: v128) -> v128 {
    let first = i32x4_dot_i16x8(u16x8_extend_low_u8x16(a), i16x8_extend_low_i8x16(b));
    let second = i32x4_dot_i16x8(u16x8_extend_high_u8x16(a), i16x8_extend_high_i8x16(b));
    // Each lane holds two products, and a word takes two lanes.
    let even = i32x4_shuffle::<0, 2, 4, 6>(first, second);
    let odd = i32x4_shuffle::<1, 3, 5, 7>(first, second);
    i32x4_add(sum, i32x4_add(even, odd))
}

impl Simd for Wasm {
    type V = v128;
    type Dither = [v128; 4];
    type I = v128;
    const LANES: usize = 4;
    const ROWS: usize = 4;
    const BYTE_SUMS: ByteSums =
        if IS_RELAXED { ByteSums { largest: 127, together: 2 } } else { ByteSums::WHOLE };
    const SCALES_BY_ANY: bool = false;

    instructions! {
        splat(self, x: f32) -> v128 = f32x4_splat(x);
        add(self, a: v128, b: v128) -> v128 = f32x4_add(a, b);
        sub(self, a: v128, b: v128) -> v128 = f32x4_sub(a, b);
        mul(self, a: v128, b: v128) -> v128 = f32x4_mul(a, b);
        div(self, a: v128, b: v128) -> v128 = f32x4_div(a, b);
        // The second argument is returned if one of them is not a number, as by `Portable`.
        max(self, a: v128, b: v128) -> v128 = f32x4_pmax(b, a);
        min(self, a: v128, b: v128) -> v128 = f32x4_pmin(b, a);
        abs(self, x: v128) -> v128 = f32x4_abs(x);
        mul_add(self, a: v128, b: v128, c: v128) -> v128 = multiply_add(a, b, c);
        round(self, x: v128) -> v128 = f32x4_sub(f32x4_add(x, f32x4_splat(LARGE)), f32x4_splat(LARGE));
        scale(self, x: v128, power: v128) -> v128 =
            f32x4_mul(x, i32x4_shl(i32x4_add(self.to_int(power), i32x4_splat(127)), 23));
        add_exponent(self, x: v128, power: v128) -> v128 = i32x4_add(x, i32x4_shl(power, 23));
        reciprocal(self, x: v128) -> v128 = f32x4_div(f32x4_splat(1.0), x);
        rough_reciprocal(self, x: v128) -> v128 = f32x4_div(f32x4_splat(1.0), x);
        reduce_add(self, x: v128) -> f32 = (f32x4_extract_lane::<0>(x) + f32x4_extract_lane::<1>(x))
            + (f32x4_extract_lane::<2>(x) + f32x4_extract_lane::<3>(x));
        reduce_max(self, x: v128) -> f32 = {
            let first = f32x4_extract_lane::<0>(x).max(f32x4_extract_lane::<1>(x));
            first.max(f32x4_extract_lane::<2>(x).max(f32x4_extract_lane::<3>(x)))
        };
        splat_int(self, x: i32) -> v128 = i32x4_splat(x);
        add_int(self, a: v128, b: v128) -> v128 = i32x4_add(a, b);
        sub_int(self, a: v128, b: v128) -> v128 = i32x4_sub(a, b);
        to_float(self, x: v128) -> v128 = f32x4_convert_i32x4(x);
        // The sum has the integer in its lowest bits. The conversion of WebAssembly takes several instructions on
        // x86-64.
        to_int(self, x: v128) -> v128 =
            i32x4_sub(f32x4_add(x, f32x4_splat(LARGE)), i32x4_splat(LARGE.to_bits() as i32));
        join_bytes(self, x: [v128; 4]) -> v128 = {
            let low = i32x4_splat(0xff);
            let first = v128_and(x[0], low);
            let second = i32x4_shl(v128_and(x[1], low), 8);
            let third = i32x4_shl(v128_and(x[2], low), 16);
            v128_or(v128_or(first, second), v128_or(third, i32x4_shl(x[3], 24)))
        };
        pack_bytes(self, x: [v128; 4]) -> v128 =
            u8x16_narrow_i16x8(i16x8_narrow_i32x4(x[0], x[1]), i16x8_narrow_i32x4(x[2], x[3]));
        join_halves(self, x: [v128; 2]) -> v128 =
            v128_or(v128_and(x[0], i32x4_splat(0xffff)), i32x4_shl(x[1], 16));
        reduce_add_int(self, x: v128) -> i32 = (i32x4_extract_lane::<0>(x) + i32x4_extract_lane::<1>(x))
            + (i32x4_extract_lane::<2>(x) + i32x4_extract_lane::<3>(x));
        dot8(self, sum: v128, a: v128, b: v128) -> v128 = dot(sum, a, b);
        dot16(self, sum: v128, a: v128, b: v128) -> v128 = i32x4_add(sum, i32x4_dot_i16x8(a, b));
    }

    #[inline(always)]
    fn dither(self, row: usize) -> [v128; 4] {
        dither_of_floats(self, row)
    }

    #[inline(always)]
    fn powers_as_bytes(self, x: [v128; 4], dither: [v128; 4]) -> v128 {
        powers_of_floats(self, x, dither)
    }

    memory! {
        load_unchecked(from: *const f32) -> v128 = v128_load(from.cast());
        store_unchecked(x: v128, to: *mut f32) = v128_store(to.cast(), x);
        load_int(from: *const i32) -> v128 = v128_load(from.cast());
        store_int(x: v128, to: *mut i32) = v128_store(to.cast(), x);
        store_bytes(x: v128, to: *mut u8) = {
            let halves = i16x8_narrow_i32x4(x, x);
            v128_store32_lane::<0>(u8x16_narrow_i16x8(halves, halves), to.cast());
        };
        store_low_bytes(x: v128, to: *mut i8) = {
            let halves = i16x8_narrow_i32x4(x, x);
            v128_store32_lane::<0>(i8x16_narrow_i16x8(halves, halves), to.cast());
        };
        store_halves(x: v128, to: *mut i16) = v128_store64_lane::<0>(i16x8_narrow_i32x4(x, x), to.cast());
    }
}
