//! Products of matrices with any number of rows, also few, whose sums are of 32 bits: what Winograd's transformation asks for.
//!
//! Matrices are seen as words of 32 bits, as in `product.rs`: an `f32`, or two bf16.

use super::product::{Bf16s, Floats, Terms};
use super::simd::{PANEL_VECTORS, Simd, SimdBf16};

/// Writes rows of `outer` words each in panels of so many columns, in the order `[panel][inner][column]`: what a
/// product reads lies in a row.
pub(super) fn pack_into(rows: &[u32], outer: usize, panel: usize, to: &mut [u32]) {
    debug_assert!(outer.is_multiple_of(panel));
    let inner = rows.len() / outer;
    for (row, numbers) in rows.chunks_exact(outer).enumerate() {
        for (index, numbers) in numbers.chunks_exact(panel).enumerate() {
            to[(index * inner + row) * panel..][..panel].copy_from_slice(numbers);
        }
    }
}

/// What to multiply: `c = a · b`.
#[derive(Debug)]
pub(super) struct Gemm<'g> {
    /// Rows of `a` and of `c`.
    pub(super) rows: usize,
    /// Words in a row of `a` and in a column of `b`.
    pub(super) inner: usize,
    /// Columns of `b` and of `c`.
    pub(super) outer: usize,
    /// `[rows][inner]`
    pub(super) a: &'g [u32],
    /// In the order of [`pack_into`].
    pub(super) b: &'g [u32],
    /// `[rows][outer]`, overwritten.
    pub(super) c: &'g mut [f32],
}

/// How far ahead packed matrices are fetched, in words: where boards are small, every matrix is read once and from the third
/// cache.
const AHEAD: usize = 6144;

/// A product of matrices of `f32`.
#[inline(always)]
pub(super) fn gemm_of_floats<S: Simd>(s: S, it: Gemm<'_>) {
    gemm::<S, Floats>(s, it);
}

/// A product of matrices of bf16.
#[inline(always)]
pub(super) fn gemm_of_bf16s<S: SimdBf16>(s: S, it: Gemm<'_>) {
    gemm::<S, Bf16s>(s, it);
}

#[inline(always)]
fn gemm<S: Simd, T: Terms<S, Sum = S::V>>(s: S, it: Gemm<'_>) {
    let Gemm { rows, inner, outer, a, b, c } = it;
    let panel = PANEL_VECTORS * S::LANES;
    assert!(a.len() >= rows * inner && b.len() >= inner * outer && c.len() >= rows * outer);
    assert!(outer.is_multiple_of(panel));
    if rows == 0 {
        return;
    }
    // As few blocks as possible, and all nearly as high as each other.
    let blocks = rows.div_ceil(S::ROWS);
    let (height, higher) = (rows / blocks, rows % blocks);
    for column in (0..outer).step_by(panel) {
        let mut row = 0;
        for block in 0..blocks {
            let height = height + usize::from(block < higher);
            // SAFETY: `row + height <= rows` and `column + panel <= outer`, because the heights add up to `rows`
            // and the widths to `outer`; the slices hold that much.
            unsafe {
                let a = a.as_ptr().add(row * inner);
                let b = b.as_ptr().add(column * inner);
                let c = c.as_mut_ptr().add(row * outer + column);
                match height {
                    1 => block_product::<S, T, 1>(s, inner, outer, a, b, c),
                    2 => block_product::<S, T, 2>(s, inner, outer, a, b, c),
                    3 => block_product::<S, T, 3>(s, inner, outer, a, b, c),
                    4 => block_product::<S, T, 4>(s, inner, outer, a, b, c),
                    // Higher blocks must not even be compiled where there are no registers for them: the compiler would
                    // keep a sum of every block in memory.
                    5 if S::ROWS > 4 => block_product::<S, T, 5>(s, inner, outer, a, b, c),
                    6 if S::ROWS > 4 => block_product::<S, T, 6>(s, inner, outer, a, b, c),
                    7 if S::ROWS > 6 => block_product::<S, T, 7>(s, inner, outer, a, b, c),
                    8 if S::ROWS > 6 => block_product::<S, T, 8>(s, inner, outer, a, b, c),
                    9 if S::ROWS > 6 => block_product::<S, T, 9>(s, inner, outer, a, b, c),
                    10 if S::ROWS > 6 => block_product::<S, T, 10>(s, inner, outer, a, b, c),
                    11 if S::ROWS > 6 => block_product::<S, T, 11>(s, inner, outer, a, b, c),
                    12 if S::ROWS > 6 => block_product::<S, T, 12>(s, inner, outer, a, b, c),
                    _ => unreachable!("no block is higher than `S::ROWS`"),
                }
            }
            row += height;
        }
    }
}

/// `ROWS` rows times one panel, summed up in registers.
///
/// # Safety
/// `a` holds `ROWS` rows of `inner` words, `b` has `inner` rows of a panel, and a panel can be written to each of
/// `ROWS` rows of `c`, which are `outer` apart.
#[inline(always)]
unsafe fn block_product<S: Simd, T: Terms<S, Sum = S::V>, const ROWS: usize>(
    s: S,
    inner: usize,
    outer: usize,
    a: *const u32,
    b: *const u32,
    c: *mut f32,
) {
    let mut sums = [[s.splat(0.0); PANEL_VECTORS]; ROWS];
    for k in 0..inner {
        // SAFETY: the caller's; `k` is less than `inner`.
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
    for (row, sums) in sums.iter().enumerate() {
        // SAFETY: the caller's.
        unsafe {
            s.store_unchecked(sums[0], c.add(row * outer));
            s.store_unchecked(sums[1], c.add(row * outer + S::LANES));
        }
    }
}
