//! Plain Rust.

use super::super::bf16::{from_bf16, to_bf16};
use super::{ByteSums, Simd, SimdBf16, dither_of_floats, powers_of_floats};

/// Plain Rust, for every processor. Four lanes are what the smallest vector instructions have, and the compiler finds
/// them.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Portable;

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
    fn pack_bytes(self, x: [[i32; 4]; 4]) -> [i32; 4] {
        x.map(|x| i32::from_ne_bytes(x.map(|x| x as u8)))
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
    fn add_exponent(self, x: [f32; 4], power: [f32; 4]) -> [f32; 4] {
        Self::lanes(x, power, |x, power| *x = f32::from_bits(x.to_bits().wrapping_add(power.to_bits() << 23)))
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

/// No kernel of plain Rust is for bf16; this shows on any processor what a product of them is.
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
        // SAFETY: the caller's.
        unsafe { to.cast::<[u16; 4]>().write_unaligned(x.map(to_bf16)) }
    }
}
