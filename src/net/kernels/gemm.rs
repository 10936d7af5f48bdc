//! Products of matrices with any number of rows, including small numbers, as Winograd's transformation needs them.
//!
//! Matrices consist of 32-bit words, as in `product.rs`: an `f32`, two bf16 or two 16-bit integers.

use super::product::{Bf16s, FloatWords, Halves, WordFormat};
use super::simd::{PANEL_VECTORS, Simd, SimdBf16};

/// Packs rows of `outer` words into panels of `panel` columns, of shape `[panels][rows][panel]`. A product then reads
/// consecutive words.
pub(super) fn pack_into(rows: &[u32], outer: usize, panel: usize, to: &mut [u32]) {
    debug_assert!(outer.is_multiple_of(panel));
    let inner = rows.len() / outer;
    for (row, numbers) in rows.chunks_exact(outer).enumerate() {
        for (index, numbers) in numbers.chunks_exact(panel).enumerate() {
            to[(index * inner + row) * panel..][..panel].copy_from_slice(numbers);
        }
    }
}

/// Arguments of a product `c = a · b`.
#[derive(Debug)]
pub(super) struct Gemm<'g> {
    /// Number of rows of `a` and of `c`.
    pub(super) rows: usize,
    /// Number of words in a row of `a` and in a column of `b`.
    pub(super) inner: usize,
    /// Number of columns of `b` and of `c`.
    pub(super) outer: usize,
    /// First matrix, of shape `[rows][inner]`.
    pub(super) a: &'g [u32],
    /// Second matrix, packed by [`pack_into`].
    pub(super) b: &'g [u32],
    /// Result, of shape `[rows][outer]`, which is overwritten.
    pub(super) c: &'g mut [f32],
    /// Factors of the rows and of the columns, if the words are integers.
    pub(super) scales: (&'g [f32], &'g [f32]),
}

/// Conversion of sums to numbers.
trait Sums<S: Simd>: WordFormat<S> {
    /// Whether the numbers are multiplied by scales.
    const IS_SCALED: bool = false;
    fn zero(s: S) -> Self::Sum;
    fn number(s: S, sum: Self::Sum) -> S::V;
}

/// Implements [`Sums`] for sums that are already numbers.
macro_rules! sums_of_numbers {
    ($terms:ident, $simd:ident) => {
        impl<S: $simd> Sums<S> for $terms {
            #[inline(always)]
            fn zero(s: S) -> S::V {
                s.splat(0.0)
            }

            #[inline(always)]
            fn number(_s: S, sum: S::V) -> S::V {
                sum
            }
        }
    };
}

sums_of_numbers!(FloatWords, Simd);
sums_of_numbers!(Bf16s, SimdBf16);

impl<S: Simd> Sums<S> for Halves {
    const IS_SCALED: bool = true;

    #[inline(always)]
    fn zero(s: S) -> S::I {
        s.splat_int(0)
    }

    #[inline(always)]
    fn number(s: S, sum: S::I) -> S::V {
        s.to_float(sum)
    }
}

/// Distance of prefetching in packed matrices, in words. With small boards, every matrix is read once and comes from
/// the third-level cache.
const AHEAD: usize = 6144;

/// Computes a product of matrices of `f32`.
#[inline(always)]
pub(super) fn gemm_of_floats<S: Simd>(s: S, it: Gemm<'_>) {
    gemm::<S, FloatWords>(s, it);
}

/// Computes a product of matrices of bf16.
#[inline(always)]
pub(super) fn gemm_of_bf16s<S: SimdBf16>(s: S, it: Gemm<'_>) {
    gemm::<S, Bf16s>(s, it);
}

/// Computes a product of matrices of 16-bit integers, whose sums must fit into 32 bits.
#[inline(always)]
pub(super) fn gemm_of_halves<S: Simd>(s: S, it: Gemm<'_>) {
    gemm::<S, Halves>(s, it);
}

#[inline(always)]
fn gemm<S: Simd, T: Sums<S>>(s: S, it: Gemm<'_>) {
    let Gemm { rows, inner, outer, a, b, c, scales } = it;
    let panel = PANEL_VECTORS * S::LANES;
    assert!(a.len() >= rows * inner && b.len() >= inner * outer && c.len() >= rows * outer);
    assert!(outer.is_multiple_of(panel));
    assert!(!T::IS_SCALED || scales.0.len() >= rows && scales.1.len() >= outer);
    if rows == 0 {
        return;
    }
    // As few blocks as possible, of nearly equal heights.
    let blocks = rows.div_ceil(S::ROWS);
    let (height, higher) = (rows / blocks, rows % blocks);
    for column in (0..outer).step_by(panel) {
        let mut row = 0;
        for block in 0..blocks {
            let height = height + usize::from(block < higher);
            // SAFETY: `row + height <= rows` and `column + panel <= outer`, because the heights add up to `rows` and
            // the widths to `outer`. The slices have been checked to have these sizes.
            unsafe {
                let a = a.as_ptr().add(row * inner);
                let b = b.as_ptr().add(column * inner);
                let c = c.as_mut_ptr().add(row * outer + column);
                let scales = if T::IS_SCALED { (&scales.0[row..], &scales.1[column..]) } else { scales };
                match height {
                    1 => block_product::<S, T, 1>(s, inner, outer, a, b, c, scales),
                    2 => block_product::<S, T, 2>(s, inner, outer, a, b, c, scales),
                    3 => block_product::<S, T, 3>(s, inner, outer, a, b, c, scales),
                    4 => block_product::<S, T, 4>(s, inner, outer, a, b, c, scales),
                    // Higher blocks must not be compiled where there are too few registers. Otherwise the compiler
                    // keeps one sum of every block in memory.
                    5 if S::ROWS > 4 => block_product::<S, T, 5>(s, inner, outer, a, b, c, scales),
                    6 if S::ROWS > 4 => block_product::<S, T, 6>(s, inner, outer, a, b, c, scales),
                    7 if S::ROWS > 6 => block_product::<S, T, 7>(s, inner, outer, a, b, c, scales),
                    8 if S::ROWS > 6 => block_product::<S, T, 8>(s, inner, outer, a, b, c, scales),
                    9 if S::ROWS > 6 => block_product::<S, T, 9>(s, inner, outer, a, b, c, scales),
                    10 if S::ROWS > 6 => block_product::<S, T, 10>(s, inner, outer, a, b, c, scales),
                    11 if S::ROWS > 6 => block_product::<S, T, 11>(s, inner, outer, a, b, c, scales),
                    12 if S::ROWS > 6 => block_product::<S, T, 12>(s, inner, outer, a, b, c, scales),
                    _ => unreachable!("no block is higher than `S::ROWS`"),
                }
            }
            row += height;
        }
    }
}

/// Multiplies `ROWS` rows by one panel, with the sums in registers.
///
/// # Safety
///
/// `a` must hold `ROWS` rows of `inner` words and `b` must hold `inner` rows of a panel. A panel must be writable in
/// each of `ROWS` rows of `c`, which are `outer` numbers apart.
#[inline(always)]
unsafe fn block_product<S: Simd, T: Sums<S>, const ROWS: usize>(
    s: S,
    inner: usize,
    outer: usize,
    a: *const u32,
    b: *const u32,
    c: *mut f32,
    scales: (&[f32], &[f32]),
) {
    let mut sums = [[T::zero(s); PANEL_VECTORS]; ROWS];
    for k in 0..inner {
        // SAFETY: guaranteed by the caller; `k` is less than `inner`.
        unsafe {
            let panel = b.add(k * PANEL_VECTORS * S::LANES);
            s.prefetch(panel.wrapping_add(AHEAD));
            s.prefetch(panel.wrapping_add(AHEAD + S::LANES));
            let b0 = T::load(s, panel);
            let b1 = T::load(s, panel.add(S::LANES));
            for (row, sums) in sums.iter_mut().enumerate() {
                let factor = T::broadcast(s, a.add(row * inner + k));
                sums[0] = T::step(s, sums[0], factor, b0);
                sums[1] = T::step(s, sums[1], factor, b1);
            }
        }
    }
    let columns = [0, S::LANES].map(|at| if T::IS_SCALED { s.load(&scales.1[at..]) } else { s.splat(1.0) });
    for (row, sums) in sums.into_iter().enumerate() {
        let mut numbers = sums.map(|sum| T::number(s, sum));
        if T::IS_SCALED {
            let factor = s.splat(scales.0[row]);
            numbers[0] = s.mul(numbers[0], s.mul(columns[0], factor));
            numbers[1] = s.mul(numbers[1], s.mul(columns[1], factor));
        }
        // SAFETY: guaranteed by the caller.
        unsafe {
            s.store_unchecked(numbers[0], c.add(row * outer));
            s.store_unchecked(numbers[1], c.add(row * outer + S::LANES));
        }
    }
}
