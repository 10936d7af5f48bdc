//! What products take: rows of numbers, normalised or rounded to 8 bits.
//!
//! A row that is rounded to 8 bits has a scale of its own, so that its largest number becomes the largest that there
//! is: `x ≈ scale · (byte − zero)`. Bytes are never negative; the byte that stands for zero lies in the middle, or at
//! the lower end if no number is below zero.

use super::pointwise::{Extent, NormAct, with_activation};
use super::simd::{ByteSums, Simd};
use crate::net::layer::Activation;

/// What numbers become before they are rounded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape<'n> {
    /// They stay what they are.
    Plain,
    /// `x / √(mean of x² over the channels + ε)`, times a factor for each channel.
    Rms(Rms<'n>),
    /// Normalised and activated.
    NormAct(NormAct<'n>),
}

/// Normalisation by the root mean square of a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rms<'n> {
    /// A factor for each channel.
    pub(super) scale: &'n [f32],
    pub(super) epsilon: f32,
    /// Channels, without those that fill up.
    pub(super) channels: usize,
}

/// Which bytes stand for numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Range {
    /// The byte that stands for zero.
    pub(super) zero: i32,
    /// By how much the byte of the largest number is larger.
    pub(super) levels: i32,
}

impl Range {
    /// For numbers of both signs.
    pub(super) const fn signed(sums: ByteSums) -> Range {
        let levels = sums.largest / 2;
        Range { zero: levels + 1, levels }
    }

    /// For numbers behind this activation.
    pub(super) const fn behind(activation: Activation, sums: ByteSums) -> Range {
        match activation {
            Activation::Relu => Range { zero: 0, levels: sums.largest },
            _ => Range::signed(sums),
        }
    }
}

/// For each row, `1 / √(mean of x² + ε)`.
#[inline(always)]
pub(super) fn rms_scales<S: Simd>(
    s: S,
    extent: Extent,
    rms: Rms<'_>,
    (from, stride): (&[f32], usize),
    scales: &mut [f32],
) {
    for (row, scale) in from.chunks(stride).zip(scales.iter_mut()).take(extent.points) {
        *scale = inverse_rms(rms, square_sum(s, &row[..extent.channels]));
    }
}

/// The sum of the squares of a row.
#[inline(always)]
pub(super) fn square_sum<S: Simd>(s: S, row: &[f32]) -> f32 {
    let mut sums = [s.splat(0.0); 2];
    let mut vectors = row.chunks_exact(2 * S::LANES);
    for pair in &mut vectors {
        for (sum, x) in sums.iter_mut().zip(pair.chunks_exact(S::LANES)) {
            let x = s.load(x);
            *sum = s.mul_add(x, x, *sum);
        }
    }
    for x in vectors.remainder().chunks_exact(S::LANES) {
        let x = s.load(x);
        sums[0] = s.mul_add(x, x, sums[0]);
    }
    s.reduce_add(s.add(sums[0], sums[1]))
}

fn inverse_rms(rms: Rms<'_>, square_sum: f32) -> f32 {
    1.0 / (square_sum / rms.channels as f32 + rms.epsilon).sqrt()
}

/// Rounds rows to bytes. `to` is as wide as the extent, `scales` has a number for each row, and `row` has memory for
/// one.
#[inline(always)]
pub(super) fn quantise<S: Simd>(
    s: S,
    extent: Extent,
    shape: Shape<'_>,
    range: Range,
    (from, stride): (&[f32], usize),
    (to, scales): (&mut [u8], &mut [f32]),
    row: &mut [f32],
) {
    let channels = extent.channels;
    let zero = s.splat(0.0);
    let rows = from.chunks(stride).zip(to.chunks_exact_mut(channels)).zip(scales.iter_mut());
    match shape {
        Shape::Plain => {
            for ((from, to), scale) in rows.take(extent.points) {
                let from = &from[..channels];
                let mut most = zero;
                for x in from.chunks_exact(S::LANES) {
                    most = s.max(most, s.abs(s.load(x)));
                }
                *scale = round_row(s, range, s.reduce_max(most), to, |channel| s.load(&from[channel..]));
            }
        }
        Shape::Rms(rms) => {
            let factors = &rms.scale[..channels];
            for ((from, to), scale) in rows.take(extent.points) {
                let from = &from[..channels];
                let (mut most, mut sum) = (zero, zero);
                for (x, factor) in from.chunks_exact(S::LANES).zip(factors.chunks_exact(S::LANES)) {
                    let x = s.load(x);
                    sum = s.mul_add(x, x, sum);
                    most = s.max(most, s.abs(s.mul(x, s.load(factor))));
                }
                let inverse = inverse_rms(rms, s.reduce_add(sum));
                let rounded = round_row(s, range, s.reduce_max(most), to, |channel| {
                    s.mul(s.load(&from[channel..]), s.load(&factors[channel..]))
                });
                *scale = rounded * inverse;
            }
        }
        Shape::NormAct(norm) => with_activation!(s, norm.activation, |act| {
            let (factors, biases) = (&norm.scale[..channels], &norm.bias[..channels]);
            let row = &mut row[..channels];
            for ((from, to), scale) in rows.take(extent.points) {
                let from = &from[..channels];
                let mut most = zero;
                for channel in (0..channels).step_by(S::LANES) {
                    let (factor, bias) = (s.load(&factors[channel..]), s.load(&biases[channel..]));
                    let x = act(s.mul_add(s.load(&from[channel..]), factor, bias));
                    s.store(x, &mut row[channel..]);
                    most = s.max(most, s.abs(x));
                }
                *scale = round_row(s, range, s.reduce_max(most), to, |channel| s.load(&row[channel..]));
            }
        }),
    }
}

/// Rounds a row whose largest magnitude is `most`; returns its scale.
#[inline(always)]
fn round_row<S: Simd>(s: S, range: Range, most: f32, to: &mut [u8], x: impl Fn(usize) -> S::V) -> f32 {
    let (inverse, zero) = (s.splat(inverse_scale(range, most)), s.splat(range.zero as f32));
    assert!(to.len().is_multiple_of(S::LANES));
    for channel in (0..to.len()).step_by(S::LANES) {
        let byte = s.to_int(s.mul_add(x(channel), inverse, zero));
        // SAFETY: there is a whole vector from `channel` on.
        unsafe { s.store_bytes(byte, to.as_mut_ptr().add(channel)) };
    }
    most / range.levels as f32
}

/// What a row whose largest magnitude is `most` is multiplied by. Nothing is left of numbers so small that this would
/// be infinite.
fn inverse_scale(range: Range, most: f32) -> f32 {
    if most > 1e-30 { range.levels as f32 / most } else { 0.0 }
}

/// What numbers of this scale are multiplied by to become integers; of very small ones nothing is left, too.
pub(super) fn inverse(scale: f32) -> f32 {
    if scale > 1e-32 { 1.0 / scale } else { 0.0 }
}

/// The largest magnitude among numbers, of which there are as many as vectors hold.
#[inline(always)]
pub(super) fn largest<S: Simd>(s: S, numbers: &[f32]) -> f32 {
    debug_assert!(numbers.len().is_multiple_of(S::LANES));
    let mut most = [s.splat(0.0); 4];
    let mut vectors = numbers.chunks_exact(4 * S::LANES);
    for four in &mut vectors {
        for (most, x) in most.iter_mut().zip(four.chunks_exact(S::LANES)) {
            *most = s.max(*most, s.abs(s.load(x)));
        }
    }
    for x in vectors.remainder().chunks_exact(S::LANES) {
        most[0] = s.max(most[0], s.abs(s.load(x)));
    }
    s.reduce_max(s.max(s.max(most[0], most[1]), s.max(most[2], most[3])))
}

/// The points of a board with so many points of zeros around it that no window that is laid on a point sees beyond
/// them. The columns behind a row are at the same time those before the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// Columns and rows of the board.
    pub(super) board: (usize, usize),
    /// Columns and rows that the window reaches to each side.
    pub(super) reach: (usize, usize),
}

impl Grid {
    /// Points from one row to the next.
    pub(super) fn columns(self) -> usize {
        self.board.0 + self.reach.0
    }

    /// Points of the grid.
    pub(super) fn len(self) -> usize {
        self.columns() * (self.board.1 + 2 * self.reach.1) + self.reach.0
    }

    /// The place in the grid of the upper left corner of the window on a point.
    pub(super) fn corner(self, point: usize) -> usize {
        point / self.board.0 * self.columns() + point % self.board.0
    }

    /// The place in the grid of a point.
    fn place(self, point: usize) -> usize {
        self.corner(point) + self.reach.1 * self.columns() + self.reach.0
    }
}

/// Rounds all points of a board with one scale, and writes them to a grid.
#[inline(always)]
pub(super) fn quantise_board<S: Simd>(
    s: S,
    grid: Grid,
    range: Range,
    from: &[f32],
    to: &mut [u8],
    scale: &mut f32,
) {
    let points = grid.board.0 * grid.board.1;
    let channels = to.len() / grid.len();
    let from = &from[..points * channels];
    let most = largest(s, from);
    to.fill(range.zero as u8);
    for (point, from) in from.chunks_exact(channels).enumerate() {
        let to = &mut to[grid.place(point) * channels..][..channels];
        round_row(s, range, most, to, |channel| s.load(&from[channel..]));
    }
    *scale = most / range.levels as f32;
}
