//! Vectors of `f32`, as wide as the processor has them.
//!
//! Kernels are generic over [`Simd`] and are inlined into functions that are compiled for one instruction set
//! (`primitives.rs`). A value of a type that implements it is a token: whoever holds one has seen that the processor
//! can execute its methods, and so most of them are safe to call.

/// A vector type of some processors.
pub(super) trait Simd: Copy {
    /// A vector of [`LANES`](Self::LANES) numbers.
    type V: Copy;
    /// Numbers in a vector.
    const LANES: usize;

    /// All lanes the same.
    fn splat(self, x: f32) -> Self::V;
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a · b + c`
    fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// To the nearest integer; for less than 2^22 only.
    fn round(self, x: Self::V) -> Self::V;
    /// 2 to the power of `x`, which must be an integer from −126 to 127.
    fn power_of_two(self, x: Self::V) -> Self::V;

    /// # Safety
    /// [`LANES`](Self::LANES) numbers at `from` can be read.
    unsafe fn load_unchecked(self, from: *const f32) -> Self::V;
    /// # Safety
    /// [`LANES`](Self::LANES) numbers at `to` can be written.
    unsafe fn store_unchecked(self, x: Self::V, to: *mut f32);

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
        self.mul(sum, self.power_of_two(power))
    }
}

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
    const LANES: usize = 4;

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
    fn power_of_two(self, x: [f32; 4]) -> [f32; 4] {
        x.map(|x| f32::from_bits(((x as i32 + 127) as u32) << 23))
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
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Simd;
    use std::arch::x86_64::*;

    /// Writes the methods of [`Simd`] that are one instruction each.
    macro_rules! instructions {
        ($($name:ident($($argument:ident),*) = $body:expr;)*) => {
            $(
                #[inline(always)]
                fn $name(self, $($argument: Self::V),*) -> Self::V {
                    // SAFETY: there is no token without the instruction set, and no memory is touched.
                    unsafe { $body }
                }
            )*
        };
    }

    /// 256 bits with fused multiplication and addition: Intel since Haswell, AMD since Zen.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Avx2(());

    impl Avx2 {
        /// # Safety
        /// The processor has AVX2 and FMA.
        pub(crate) const unsafe fn token() -> Avx2 {
            Avx2(())
        }
    }

    impl Simd for Avx2 {
        type V = __m256;
        const LANES: usize = 8;

        #[inline(always)]
        fn splat(self, x: f32) -> __m256 {
            // SAFETY: as below.
            unsafe { _mm256_set1_ps(x) }
        }

        instructions! {
            add(a, b) = _mm256_add_ps(a, b);
            sub(a, b) = _mm256_sub_ps(a, b);
            mul(a, b) = _mm256_mul_ps(a, b);
            div(a, b) = _mm256_div_ps(a, b);
            max(a, b) = _mm256_max_ps(a, b);
            min(a, b) = _mm256_min_ps(a, b);
            mul_add(a, b, c) = _mm256_fmadd_ps(a, b, c);
            round(x) = _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x);
            power_of_two(x) = _mm256_castsi256_ps(_mm256_slli_epi32::<23>(_mm256_add_epi32(
                _mm256_cvtps_epi32(x),
                _mm256_set1_epi32(127),
            )));
        }

        #[inline(always)]
        unsafe fn load_unchecked(self, from: *const f32) -> __m256 {
            // SAFETY: the caller's.
            unsafe { _mm256_loadu_ps(from) }
        }

        #[inline(always)]
        unsafe fn store_unchecked(self, x: __m256, to: *mut f32) {
            // SAFETY: the caller's.
            unsafe { _mm256_storeu_ps(to, x) }
        }
    }

    /// 512 bits: Intel servers since Skylake, AMD since Zen 4. Has run in an emulator only; see [`kernels`](super::super).
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Avx512(());

    impl Avx512 {
        /// # Safety
        /// The processor has AVX-512F.
        pub(crate) const unsafe fn token() -> Avx512 {
            Avx512(())
        }
    }

    impl Simd for Avx512 {
        type V = __m512;
        const LANES: usize = 16;

        #[inline(always)]
        fn splat(self, x: f32) -> __m512 {
            // SAFETY: as below.
            unsafe { _mm512_set1_ps(x) }
        }

        instructions! {
            add(a, b) = _mm512_add_ps(a, b);
            sub(a, b) = _mm512_sub_ps(a, b);
            mul(a, b) = _mm512_mul_ps(a, b);
            div(a, b) = _mm512_div_ps(a, b);
            max(a, b) = _mm512_max_ps(a, b);
            min(a, b) = _mm512_min_ps(a, b);
            mul_add(a, b, c) = _mm512_fmadd_ps(a, b, c);
            round(x) = _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x);
            power_of_two(x) = _mm512_castsi512_ps(_mm512_slli_epi32::<23>(_mm512_add_epi32(
                _mm512_cvtps_epi32(x),
                _mm512_set1_epi32(127),
            )));
        }

        #[inline(always)]
        unsafe fn load_unchecked(self, from: *const f32) -> __m512 {
            // SAFETY: the caller's.
            unsafe { _mm512_loadu_ps(from) }
        }

        #[inline(always)]
        unsafe fn store_unchecked(self, x: __m512, to: *mut f32) {
            // SAFETY: the caller's.
            unsafe { _mm512_storeu_ps(to, x) }
        }
    }
}
