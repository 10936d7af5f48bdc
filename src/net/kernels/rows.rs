//! Inputs of products: rows of numbers, normalised or rounded to integers.
//!
//! A row that is rounded to 8 bits has its own scale, with which its largest number becomes the largest byte: `x ≈
//! scale · (byte − zero)`. Bytes are unsigned. The byte that represents zero is in the middle of the range, or at its
//! lower end if no number is negative.

use super::pointwise::{Extent, NormAct, with_activation};
use super::simd::{ByteSums, Simd};
use crate::layer::Activation;

/// Normalisation by the root mean square of a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rms<'n> {
    /// Factor per channel.
    pub(super) scale: &'n [f32],
    pub(super) epsilon: f32,
    /// Number of channels without padding.
    pub(super) channels: usize,
}

/// Mapping of numbers to bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ByteRange {
    /// Byte that represents zero.
    pub(super) zero: i32,
    /// Difference between the byte of the largest number and `zero`.
    pub(super) levels: i32,
}

impl ByteRange {
    /// Returns the range for numbers of both signs.
    pub(super) const fn signed(sums: ByteSums) -> ByteRange {
        let levels = sums.largest / 2;
        ByteRange { zero: levels + 1, levels }
    }

    /// Returns the range for numbers after this activation.
    pub(super) const fn after(activation: Activation, sums: ByteSums) -> ByteRange {
        match activation {
            Activation::Relu => ByteRange { zero: 0, levels: sums.largest },
            _ => ByteRange::signed(sums),
        }
    }
}

/// Computes `1 / √(mean of x² + ε)` for each row.
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

/// Returns the sum of the squares of a row.
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

pub(super) use crate::weights::HALF_LEVELS;

/// Number of rows whose maxima are computed before they are rounded.
const GROUP: usize = 4;

/// Rounds rows to bytes: `x`, or with `rms` the normalised `x / √(mean of x² over the channels + ε)` times the factor
/// of the channel. `to` has `extent.channels` bytes per row, and `scales` receives a number per row.
#[inline(always)]
pub(super) fn quantise<S: Simd>(
    s: S,
    extent: Extent,
    rms: Option<Rms<'_>>,
    range: ByteRange,
    (from, stride): (&[f32], usize),
    (to, scales): (&mut [u8], &mut [f32]),
) {
    let channels = extent.channels;
    let zero = s.splat(0.0);
    // The maxima of several rows are computed before the rows are rounded, so that no row waits for its own maximum.
    let groups =
        from.chunks(GROUP * stride).zip(to.chunks_mut(GROUP * channels)).zip(scales.chunks_mut(GROUP));
    let groups = groups
        .take(extent.points.div_ceil(GROUP))
        .enumerate()
        .map(|(index, ((from, to), scales))| (GROUP.min(extent.points - index * GROUP), from, to, scales));
    match rms {
        None => {
            for (rows, from, to, scales) in groups {
                let mut most = [0.0; GROUP];
                for (from, most) in from.chunks(stride).zip(&mut most).take(rows) {
                    let vectors = from[..channels].chunks_exact(S::LANES);
                    *most = s.reduce_max(vectors.fold(zero, |most, x| s.max(most, s.abs(s.load(x)))));
                }
                let rows =
                    from.chunks(stride).zip(to.chunks_exact_mut(channels)).zip(scales).zip(most).take(rows);
                for (((from, to), scale), most) in rows {
                    *scale = round_row(s, range, most, to, &from[..channels]);
                }
            }
        }
        Some(rms) => {
            let factors = &rms.scale[..channels];
            for (rows, from, to, scales) in groups {
                let mut found = [(0.0, 0.0); GROUP];
                for (from, found) in from.chunks(stride).zip(&mut found).take(rows) {
                    let (mut most, mut sum) = (zero, zero);
                    let vectors = from[..channels].chunks_exact(S::LANES);
                    for (x, factor) in vectors.zip(factors.chunks_exact(S::LANES)) {
                        let x = s.load(x);
                        sum = s.mul_add(x, x, sum);
                        most = s.max(most, s.abs(s.mul(x, s.load(factor))));
                    }
                    *found = (s.reduce_max(most), inverse_rms(rms, s.reduce_add(sum)));
                }
                let rows =
                    from.chunks(stride).zip(to.chunks_exact_mut(channels)).zip(scales).zip(found).take(rows);
                for (((from, to), scale), (most, inverse)) in rows {
                    *scale = round_row(s, range, most, to, (&from[..channels], factors)) * inverse;
                }
            }
        }
    }
}

/// Rounds rows, with `norm` after normalisation and activation, to integers up to [`HALF_LEVELS`]. `to` has
/// `extent.channels` integers per row, `scales` receives a number per row, and `row` is a buffer for one row.
#[inline(always)]
pub(super) fn quantise_to_halves<S: Simd>(
    s: S,
    extent: Extent,
    norm: Option<NormAct<'_>>,
    (from, stride): (&[f32], usize),
    (to, scales): (&mut [i16], &mut [f32]),
    row: &mut [f32],
) {
    let channels = extent.channels;
    let range = ByteRange { zero: 0, levels: HALF_LEVELS };
    let row = &mut row[..channels];
    assert!(channels.is_multiple_of(S::LANES));
    let rows = from.chunks(stride).zip(to.chunks_exact_mut(channels)).zip(scales.iter_mut());
    for ((from, to), scale) in rows.take(extent.points) {
        let from = &from[..channels];
        let (from, most) = match norm {
            Some(norm) => {
                let most = activate(s, norm, from, row);
                (&*row, most)
            }
            None => (from, largest(s, from)),
        };
        let inverse = s.splat(inverse_scale(range, most));
        for (from, to) in from.chunks_exact(S::LANES).zip(to.chunks_exact_mut(S::LANES)) {
            // SAFETY: the slice is a whole vector.
            unsafe { s.store_halves(s.to_int(s.mul(s.load(from), inverse)), to.as_mut_ptr()) };
        }
        *scale = most / range.levels as f32;
    }
}

/// Normalises and activates a row. Returns the largest magnitude of the result.
#[inline(always)]
fn activate<S: Simd>(s: S, norm: NormAct<'_>, from: &[f32], to: &mut [f32]) -> f32 {
    with_activation!(s, norm.activation, |act| {
        let mut most = s.splat(0.0);
        let numbers = from.chunks_exact(S::LANES).zip(to.chunks_exact_mut(S::LANES));
        let norms = norm.scale.chunks_exact(S::LANES).zip(norm.bias.chunks_exact(S::LANES));
        for ((from, to), (factor, bias)) in numbers.zip(norms) {
            let x = act(s.mul_add(s.load(from), s.load(factor), s.load(bias)));
            s.store(x, to);
            most = s.max(most, s.abs(x));
        }
        s.reduce_max(most)
    })
}

/// Numbers of a row. This is a trait and not a closure, because the compiler need not inline a closure, and outside of
/// its caller a closure is compiled without vector instructions.
trait Numbers<S: Simd>: Copy {
    /// Returns a vector of the numbers from `channel` on.
    fn at(self, s: S, channel: usize) -> S::V;
}

impl<S: Simd> Numbers<S> for &[f32] {
    #[inline(always)]
    fn at(self, s: S, channel: usize) -> S::V {
        s.load(&self[channel..])
    }
}

/// Products of two numbers per channel.
impl<S: Simd> Numbers<S> for (&[f32], &[f32]) {
    #[inline(always)]
    fn at(self, s: S, channel: usize) -> S::V {
        s.mul(s.load(&self.0[channel..]), s.load(&self.1[channel..]))
    }
}

/// Rounds a row whose largest magnitude is `most`. Returns its scale.
#[inline(always)]
fn round_row<S: Simd>(s: S, range: ByteRange, most: f32, to: &mut [u8], x: impl Numbers<S>) -> f32 {
    let (inverse, zero) = (s.splat(inverse_scale(range, most)), s.splat(range.zero as f32));
    assert!(to.len().is_multiple_of(S::LANES));
    let mut fours = to.chunks_exact_mut(4 * S::LANES);
    let mut channel = 0;
    for to in &mut fours {
        let mut bytes = [s.splat_int(0); 4];
        for bytes in &mut bytes {
            *bytes = s.to_int(s.mul_add(x.at(s, channel), inverse, zero));
            channel += S::LANES;
        }
        // SAFETY: the bytes of four vectors are one vector of words.
        unsafe { s.store_int(s.pack_bytes(bytes), to.as_mut_ptr().cast()) };
    }
    for to in fours.into_remainder().chunks_exact_mut(S::LANES) {
        let bytes = s.to_int(s.mul_add(x.at(s, channel), inverse, zero));
        // SAFETY: the slice is a whole vector.
        unsafe { s.store_bytes(bytes, to.as_mut_ptr()) };
        channel += S::LANES;
    }
    most / range.levels as f32
}

/// Returns the factor that converts a row with the largest magnitude `most` to integers. It is zero for numbers so
/// small that it would be infinite otherwise.
fn inverse_scale(range: ByteRange, most: f32) -> f32 {
    if most > 1e-30 { range.levels as f32 / most } else { 0.0 }
}

/// Returns the factor that converts numbers of this scale to integers. It is zero for very small scales.
pub(super) fn inverse(scale: f32) -> f32 {
    if scale > 1e-32 { 1.0 / scale } else { 0.0 }
}

/// Returns the integer nearest to a number that fits into 16 bits, with ties to even. Unlike `round` this is not a
/// function call.
pub(super) fn nearest(x: f32) -> i16 {
    // Adding this number leaves the integer in the lowest bits.
    const LARGE: f32 = 12_582_912.0;
    (x + LARGE).to_bits() as i16
}

/// Returns the largest magnitude of numbers, whose count is a multiple of the vector length.
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

/// Layout of the points of a board with a margin of zeros, so that no window on a point of the board reaches outside
/// it. The columns after a row are also those before the next row.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaddedBoard {
    /// Numbers of columns and rows of the board.
    pub(super) board: (usize, usize),
    /// Numbers of columns and rows that the window reaches to each side.
    pub(super) reach: (usize, usize),
}

impl PaddedBoard {
    /// Returns the number of points from one row to the next.
    pub(super) fn columns(self) -> usize {
        self.board.0 + self.reach.0
    }

    /// Returns the number of points of the grid.
    pub(super) fn len(self) -> usize {
        self.columns() * (self.board.1 + 2 * self.reach.1) + self.reach.0
    }

    /// Returns the index in the grid of the upper left corner of the window on a point.
    pub(super) fn corner(self, point: usize) -> usize {
        point / self.board.0 * self.columns() + point % self.board.0
    }

    /// Returns the index in the grid of a point.
    fn place(self, point: usize) -> usize {
        self.corner(point) + self.reach.1 * self.columns() + self.reach.0
    }
}

/// Rounds all points of a board with one scale and writes them to a grid.
#[inline(always)]
pub(super) fn quantise_board<S: Simd>(
    s: S,
    grid: PaddedBoard,
    range: ByteRange,
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
        round_row(s, range, most, to, from);
    }
    *scale = most / range.levels as f32;
}
