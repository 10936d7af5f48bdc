//! Vectors in plain Rust.

use super::super::bf16::{from_bf16, to_bf16};
use super::{ByteSums, Simd, SimdBf16, dither_of_floats, powers_of_floats};

/// Vectors in plain Rust, for every processor. The smallest vector instructions have four lanes, and the compiler uses
/// them.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Portable;

/// Returns the results of `f` for each lane. It is written out, because with debug assertions `array::map`, `from_fn`
/// and iterators are not inlined.
#[inline(always)]
fn each<T>(f: impl Fn(usize) -> T) -> [T; 4] {
    [f(0), f(1), f(2), f(3)]
}

impl Simd for Portable {
    type V = [f32; 4];
    type Dither = [[f32; 4]; 4];
    type I = [i32; 4];
    const LANES: usize = 4;
    const ROWS: usize = 4;
    const BYTE_SUMS: ByteSums = ByteSums::WHOLE;
    const SCALES_BY_ANY: bool = false;

    #[inline(always)]
    fn splat(self, x: f32) -> [f32; 4] {
        [x; 4]
    }

    #[inline(always)]
    fn add(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(|lane| a[lane] + b[lane])
    }

    #[inline(always)]
    fn sub(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(|lane| a[lane] - b[lane])
    }

    #[inline(always)]
    fn mul(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(|lane| a[lane] * b[lane])
    }

    #[inline(always)]
    fn div(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(|lane| a[lane] / b[lane])
    }

    #[inline(always)]
    fn max(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(|lane| if a[lane] > b[lane] { a[lane] } else { b[lane] })
    }

    #[inline(always)]
    fn min(self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(|lane| if a[lane] < b[lane] { a[lane] } else { b[lane] })
    }

    #[inline(always)]
    fn abs(self, x: [f32; 4]) -> [f32; 4] {
        each(|lane| x[lane].abs())
    }

    #[inline(always)]
    fn join_bytes(self, x: [[i32; 4]; 4]) -> [i32; 4] {
        each(|lane| i32::from_ne_bytes(each(|part| x[part][lane] as u8)))
    }

    #[inline(always)]
    fn pack_bytes(self, x: [[i32; 4]; 4]) -> [i32; 4] {
        each(|part| i32::from_ne_bytes(each(|lane| x[part][lane] as u8)))
    }

    #[inline(always)]
    fn dither(self, row: usize) -> [[f32; 4]; 4] {
        dither_of_floats(self, row)
    }

    #[inline(always)]
    fn powers_as_bytes(self, x: [[f32; 4]; 4], dither: [[f32; 4]; 4]) -> [i32; 4] {
        powers_of_floats(self, x, dither)
    }

    #[inline(always)]
    fn join_halves(self, x: [[i32; 4]; 2]) -> [i32; 4] {
        each(|lane| {
            let (first, second) = ((x[0][lane] as u16).to_ne_bytes(), (x[1][lane] as u16).to_ne_bytes());
            i32::from_ne_bytes([first[0], first[1], second[0], second[1]])
        })
    }

    /// Rounds twice. Without an instruction for it, `f32::mul_add` is a function call and hundreds of times slower.
    #[inline(always)]
    fn mul_add(self, a: [f32; 4], b: [f32; 4], c: [f32; 4]) -> [f32; 4] {
        self.add(self.mul(a, b), c)
    }

    /// Rounds by adding a number so large that no fraction is left, because `f32::round` is a function call.
    #[inline(always)]
    fn round(self, x: [f32; 4]) -> [f32; 4] {
        const LARGE: f32 = 12_582_912.0;
        each(|lane| (x[lane] + LARGE) - LARGE)
    }

    #[inline(always)]
    fn scale(self, x: [f32; 4], power: [f32; 4]) -> [f32; 4] {
        each(|lane| x[lane] * f32::from_bits(((power[lane] as i32 + 127) as u32) << 23))
    }

    #[inline(always)]
    fn add_exponent(self, x: [f32; 4], power: [f32; 4]) -> [f32; 4] {
        each(|lane| f32::from_bits(x[lane].to_bits().wrapping_add(power[lane].to_bits() << 23)))
    }

    #[inline(always)]
    fn reciprocal(self, x: [f32; 4]) -> [f32; 4] {
        each(|lane| 1.0 / x[lane])
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
        each(|lane| a[lane].wrapping_add(b[lane]))
    }

    #[inline(always)]
    fn sub_int(self, a: [i32; 4], b: [i32; 4]) -> [i32; 4] {
        each(|lane| a[lane].wrapping_sub(b[lane]))
    }

    #[inline(always)]
    fn to_float(self, x: [i32; 4]) -> [f32; 4] {
        each(|lane| x[lane] as f32)
    }

    #[inline(always)]
    fn to_int(self, x: [f32; 4]) -> [i32; 4] {
        let x = self.round(x);
        each(|lane| x[lane] as i32)
    }

    #[inline(always)]
    fn reduce_add_int(self, x: [i32; 4]) -> i32 {
        x[0] + x[1] + x[2] + x[3]
    }

    #[inline(always)]
    fn dot8(self, sum: [i32; 4], a: [i32; 4], b: [i32; 4]) -> [i32; 4] {
        each(|lane| {
            let (a, b) = (a[lane].to_ne_bytes(), b[lane].to_ne_bytes());
            let product = |at: usize| i32::from(a[at]) * i32::from(b[at] as i8);
            sum[lane] + product(0) + product(1) + product(2) + product(3)
        })
    }

    #[inline(always)]
    fn dot16(self, sum: [i32; 4], a: [i32; 4], b: [i32; 4]) -> [i32; 4] {
        each(|lane| {
            let (a, b) = (a[lane], b[lane]);
            sum[lane] + i32::from(a as i16) * i32::from(b as i16) + (a >> 16) * (b >> 16)
        })
    }

    #[inline(always)]
    unsafe fn load_unchecked(self, from: *const f32) -> [f32; 4] {
        // SAFETY: guaranteed by the caller.
        unsafe { from.cast::<[f32; 4]>().read() }
    }

    #[inline(always)]
    unsafe fn store_unchecked(self, x: [f32; 4], to: *mut f32) {
        // SAFETY: guaranteed by the caller.
        unsafe { to.cast::<[f32; 4]>().write(x) }
    }

    #[inline(always)]
    unsafe fn load_int(self, from: *const i32) -> [i32; 4] {
        // SAFETY: guaranteed by the caller.
        unsafe { from.cast::<[i32; 4]>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store_int(self, x: [i32; 4], to: *mut i32) {
        // SAFETY: guaranteed by the caller.
        unsafe { to.cast::<[i32; 4]>().write_unaligned(x) }
    }

    #[inline(always)]
    unsafe fn store_bytes(self, x: [i32; 4], to: *mut u8) {
        // SAFETY: guaranteed by the caller.
        unsafe { to.cast::<[u8; 4]>().write(each(|lane| x[lane] as u8)) }
    }

    #[inline(always)]
    unsafe fn store_low_bytes(self, x: [i32; 4], to: *mut i8) {
        // SAFETY: guaranteed by the caller.
        unsafe { to.cast::<[i8; 4]>().write(each(|lane| x[lane] as i8)) }
    }

    #[inline(always)]
    unsafe fn store_halves(self, x: [i32; 4], to: *mut i16) {
        // SAFETY: guaranteed by the caller.
        unsafe { to.cast::<[i16; 4]>().write_unaligned(each(|lane| x[lane] as i16)) }
    }
}

/// Emulation of products of bf16 on any processor, for tests. No kernel in plain Rust uses bf16.
impl SimdBf16 for Portable {
    #[inline(always)]
    fn dot_bf16(self, mut sum: [f32; 4], a: [i32; 4], b: [i32; 4]) -> [f32; 4] {
        let pairs = |x: i32| bytemuck::cast::<i32, [u16; 2]>(x).map(from_bf16);
        for (sum, (a, b)) in sum.iter_mut().zip(a.into_iter().zip(b)) {
            let (a, b) = (pairs(a), pairs(b));
            *sum += a[0] * b[0] + a[1] * b[1];
        }
        sum
    }

    #[inline(always)]
    unsafe fn store_bf16(self, x: [f32; 4], to: *mut u16) {
        // SAFETY: guaranteed by the caller.
        unsafe { to.cast::<[u16; 4]>().write_unaligned(each(|lane| to_bf16(x[lane]))) }
    }
}
