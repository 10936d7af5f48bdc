//! Attention of every point to all points of its board.
//!
//! The computation goes head by head and one block of query rows at a time: the products of these rows with all keys,
//! their softmax, and the mean of the values with these weights. Only the weights of one block are in memory at a time.
//! `floats.rs` computes it in `f32`, and `integers.rs` in integers, which `rounding.rs` produces.
//!
//! CITE: Vaswani et al., "Attention is all you need" (2017).

mod floats;
mod integers;
mod rounding;

pub(super) use floats::{attend_floats, block_of_floats};
pub(super) use integers::{attend_integers, block_of_integers, fits_integers};

use super::buffer::Buffer;
use super::product::{ProductArgs, StridedRows};
use super::simd::{PANEL_VECTORS, Simd};

/// Shape of the heads.
#[derive(Clone, Debug)]
pub(super) struct Heads {
    pub(super) heads: usize,
    /// Number of heads of keys and values; divides `heads`.
    pub(super) key_heads: usize,
    /// Number of channels of a query or key; even if they are rotated.
    pub(super) key_width: usize,
    pub(super) value_width: usize,
    pub(super) rotation: Option<Rotation>,
}

/// Cosines and sines of a rotary embedding. The first half of a head's channels are the first members of the rotated
/// pairs, and the second half are the second members, in the same order.
#[derive(Clone, Debug)]
pub(super) struct Rotation {
    /// Table of shape `[column][key head][cosine, sine][pair]`.
    pub(super) columns: Vec<f32>,
    /// Table of shape `[row][key head][cosine, sine][pair]`.
    pub(super) rows: Vec<f32>,
}

/// Arguments of the attention of one board.
#[derive(Debug)]
pub(super) struct Attention<'a> {
    pub(super) heads: &'a Heads,
    /// Numbers of columns and rows of the board.
    pub(super) board: (usize, usize),
    /// For each point: queries of all heads, keys of all key heads, values of all key heads, and padding.
    pub(super) from: &'a [f32],
    /// Stride between points of `from`.
    pub(super) stride: usize,
    /// Attended values of all heads, for each point.
    pub(super) to: &'a mut [f32],
    /// Stride between points of `to`.
    pub(super) to_stride: usize,
    pub(super) memory: &'a mut AttentionMemory,
    /// [`block_of_floats`] or [`block_of_integers`] of the kernel. It is called and not inlined, because the compiler
    /// allocates registers badly for the whole computation at once.
    pub(super) product: fn(BlockProduct<'_>),
}

/// Product of a block of rows with keys or values.
#[derive(Debug)]
pub(super) struct BlockProduct<'p> {
    factors: ProductArgs<'p, StridedRows>,
    /// Target; its stride is the number of columns of the second matrix.
    to: &'p mut [f32],
    output: BlockOutput<'p>,
}

/// Conversion of the sums of a block.
#[derive(Debug)]
enum BlockOutput<'p> {
    /// For `f32`: each row is multiplied by a factor, if there are any.
    Floats(Option<&'p [f32]>),
    /// For integers: sums begin with the offset of their column and are multiplied by the factor of the column. The
    /// maximum of each row is left in `most`, spread over the lanes of a vector.
    Logits { offsets: &'p [i32], columns: &'p [f32], most: &'p mut [f32] },
    /// For integers: sums are multiplied by the factors of their column and row. The mean of the column is added if
    /// `is_first`, and the previous value otherwise.
    Attended { columns: &'p [f32], rows: &'p [f32], means: &'p [f32], is_first: bool },
}

/// Buffers of [`Attention`].
#[derive(Clone, Debug, Default)]
pub(super) struct AttentionMemory {
    /// Rotated keys, of shape `[point][channel]`.
    rotated_keys: Buffer<f32>,
    /// Rotated queries of one head, of shape `[point][channel]`.
    rotated: Buffer<f32>,
    /// Queries as words of integers.
    queries: Buffer<u32>,
    query_scales: Buffer<f32>,
    /// Keys as words of a packed matrix.
    keys: Buffer<u32>,
    key_scales: Buffer<f32>,
    key_offsets: Buffer<i32>,
    values: Buffer<u32>,
    /// For each channel of the values, its mean. Then, for each channel, its scale.
    value_scales: Buffer<f32>,
    /// For a block of rows: products with all keys, their maxima, weights of all values, and attended values.
    logits: Buffer<f32>,
    most: Buffer<f32>,
    weights: Buffer<u32>,
    attended: Buffer<f32>,
}

/// Number of query rows whose weights are in memory at a time; a multiple of [`ROW_ALIGN`](super::product::ROW_ALIGN).
const BLOCK: usize = 12;

impl Attention<'_> {
    fn points(&self) -> usize {
        self.board.0 * self.board.1
    }

    fn check(&self) {
        let Heads { heads, key_heads, key_width, value_width, ref rotation } = *self.heads;
        let width = (heads + key_heads) * key_width + key_heads * value_width;
        assert!(width <= self.stride && heads * value_width <= self.to_stride);
        assert!(self.from.len() >= self.points() * self.stride);
        assert!(self.to.len() >= self.points() * self.to_stride);
        assert!(self.points() > 0 && heads.is_multiple_of(key_heads));
        assert!(rotation.is_none() || key_width.is_multiple_of(2));
    }
}

/// Prefetches the numbers of a later point, `stride` numbers apart. Processors do not prefetch at such strides on their
/// own.
#[inline(always)]
fn fetch_ahead<S: Simd>(s: S, from: &[f32], stride: usize) {
    const POINTS: usize = 8;
    const LINE: usize = 16;
    for number in (0..from.len()).step_by(LINE) {
        s.prefetch(from.as_ptr().wrapping_add(POINTS * stride + number));
    }
}

/// Writes `key_width` channels from `first` on of every point to `to`, rotated and multiplied by `factor`. The stride
/// between points of `to` is `stride`.
#[inline(always)]
fn rotate<S: Simd>(
    s: S,
    it: &Attention<'_>,
    (first, key_head): (usize, usize),
    factor: f32,
    (to, stride): (&mut [f32], usize),
) {
    let heads = it.heads;
    let width = heads.key_width;
    let half = width / 2;
    let factors = s.splat(factor);
    let (mut x, mut y) = (0, 0);
    for point in 0..it.points() {
        let from = &it.from[point * it.stride + first..][..width];
        fetch_ahead(s, from, it.stride);
        let to = &mut to[point * stride..][..width];
        let Some(rotation) = &heads.rotation else {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = from * factor);
            continue;
        };
        let column = &rotation.columns[(x * heads.key_heads + key_head) * width..][..width];
        let row = &rotation.rows[(y * heads.key_heads + key_head) * width..][..width];
        // The angle is the sum of those of the column and of the row.
        let mut pair = 0;
        while pair + S::LANES <= half {
            // SAFETY: all four slices have two halves, and a whole vector is left in each half.
            unsafe {
                let load = |numbers: &[f32]| {
                    let from = numbers.as_ptr().add(pair);
                    [s.load_unchecked(from), s.load_unchecked(from.add(half))]
                };
                let ([column_cos, column_sin], [row_cos, row_sin]) = (load(column), load(row));
                let cos = s.sub(s.mul(column_cos, row_cos), s.mul(column_sin, row_sin));
                let sin = s.mul_add(column_sin, row_cos, s.mul(column_cos, row_sin));
                let [even, odd] = load(from);
                let (even, odd) = (s.mul(even, factors), s.mul(odd, factors));
                let to = to.as_mut_ptr().add(pair);
                s.store_unchecked(s.sub(s.mul(even, cos), s.mul(odd, sin)), to);
                s.store_unchecked(s.mul_add(even, sin, s.mul(odd, cos)), to.add(half));
            }
            pair += S::LANES;
        }
        for pair in pair..half {
            let cos = column[pair] * row[pair] - column[half + pair] * row[half + pair];
            let sin = column[half + pair] * row[pair] + column[pair] * row[half + pair];
            let (even, odd) = (from[pair] * factor, from[half + pair] * factor);
            to[pair] = even * cos - odd * sin;
            to[half + pair] = even * sin + odd * cos;
        }
        x += 1;
        if x == it.board.0 {
            (x, y) = (0, y + 1);
        }
    }
}

/// Writes the attended values of a head at some points. `attended` has the shape `[points][channels with padding]`.
#[inline(always)]
fn write_attended<S: Simd>(
    s: S,
    it: &mut Attention<'_>,
    (row, rows): (usize, usize),
    head: usize,
    attended: &[f32],
) {
    let width = it.heads.value_width;
    let filled = width.next_multiple_of(PANEL_VECTORS * S::LANES);
    let first = row * it.to_stride + head * width;
    for row in 0..rows {
        let to = &mut it.to[first + row * it.to_stride..][..width];
        copy(s, &attended[row * filled..][..width], to);
    }
}

/// Copies a few numbers.
#[inline(always)]
fn copy<S: Simd>(s: S, from: &[f32], to: &mut [f32]) {
    let len = to.len();
    assert!(from.len() == len);
    let mut index = 0;
    while index + S::LANES <= len {
        // SAFETY: a whole vector is left in both slices.
        unsafe { s.store_unchecked(s.load_unchecked(from.as_ptr().add(index)), to.as_mut_ptr().add(index)) };
        index += S::LANES;
    }
    to[index..].copy_from_slice(&from[index..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::kernel::{Kernel, Precision};
    use crate::kernels::primitives::Primitives;
    use kosumi_go::rng::Rng;

    /// Computes the attended values of every point, head by head, by the definition and in `f64`.
    fn definition(heads: &Heads, (width, height): (usize, usize), from: &[f32], stride: usize) -> Vec<f64> {
        let Heads { key_heads, key_width, value_width, ref rotation, .. } = *heads;
        let points = width * height;
        let half = key_width / 2;
        let rotated = |point: usize, first: usize, key_head: usize| -> Vec<f64> {
            let x: Vec<f64> =
                from[point * stride + first..][..key_width].iter().map(|&x| f64::from(x)).collect();
            let Some(rotation) = rotation else { return x };
            let angle = |table: &[f32], index: usize, pair: usize| {
                let start = (index * key_heads + key_head) * key_width + pair;
                f64::from(table[start + half]).atan2(f64::from(table[start]))
            };
            let mut result = vec![0.0; key_width];
            for pair in 0..half {
                let angle = angle(&rotation.columns, point % width, pair)
                    + angle(&rotation.rows, point / width, pair);
                let (sin, cos) = angle.sin_cos();
                result[pair] = x[pair] * cos - x[half + pair] * sin;
                result[half + pair] = x[pair] * sin + x[half + pair] * cos;
            }
            result
        };
        let mut attended = vec![0.0; points * heads.heads * value_width];
        for head in 0..heads.heads {
            let key_head = head / (heads.heads / key_heads);
            for point in 0..points {
                let query = rotated(point, head * key_width, key_head);
                let logits: Vec<f64> = (0..points)
                    .map(|other| {
                        let key = rotated(other, (heads.heads + key_head) * key_width, key_head);
                        let product: f64 = query.iter().zip(&key).map(|(query, key)| query * key).sum();
                        product / (key_width as f64).sqrt()
                    })
                    .collect();
                let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let weights: Vec<f64> = logits.iter().map(|logit| (logit - most).exp()).collect();
                let sum: f64 = weights.iter().sum();
                for channel in 0..value_width {
                    let value = (heads.heads + key_heads) * key_width + key_head * value_width + channel;
                    let values = (0..points).map(|other| f64::from(from[other * stride + value]));
                    let total: f64 = weights.iter().zip(values).map(|(weight, value)| weight * value).sum();
                    attended[(point * heads.heads + head) * value_width + channel] = total / sum;
                }
            }
        }
        attended
    }

    /// Tests heads with and without rotation, with shared keys, with widths that are not multiples of a vector, on
    /// boards smaller than a block and larger than a chunk, with large logits and with zeros.
    #[test]
    fn attention_matches_definition() {
        let mut rng = Rng::new(5);
        let mut number = |size: f32| (rng.unit() as f32 * 2.0 - 1.0) * size;
        let kernels = Kernel::ALL.into_iter().filter(|kernel| kernel.is_available());
        for kernel in kernels.filter(|kernel| kernel.precisions().contains(&Precision::F32)) {
            let primitives = Primitives::of(kernel);
            let mut memory = AttentionMemory::default();
            for (heads, key_heads, key_width, value_width, is_rotated, board, size) in [
                (2, 1, 8, 5, true, (3, 2), 2.0),
                (3, 3, 32, 32, true, (13, 11), 4.0),
                (1, 1, 6, 33, false, (1, 1), 1.0),
                (4, 2, 2, 1, true, (5, 1), 1.0),
                (1, 1, 128, 70, true, (7, 7), 1.0),
                (2, 2, 4, 3, false, (9, 3), 0.0),
                (2, 1, 7, 3, false, (5, 4), 2.0),
                (1, 1, 1, 2, false, (3, 3), 1.0),
            ] {
                let rotation = is_rotated.then(|| {
                    let mut table = |count: usize| {
                        let mut table = vec![0.0; count * key_heads * key_width];
                        for cos_sin in table.chunks_exact_mut(key_width) {
                            for pair in 0..key_width / 2 {
                                let (sin, cos) = number(3.0).sin_cos();
                                (cos_sin[pair], cos_sin[key_width / 2 + pair]) = (cos, sin);
                            }
                        }
                        table
                    };
                    Rotation { columns: table(board.0), rows: table(board.1) }
                });
                let shape = Heads { heads, key_heads, key_width, value_width, rotation };
                let points = board.0 * board.1;
                let stride = (heads + key_heads) * key_width + key_heads * value_width + 3;
                let to_stride = heads * value_width + 1;
                let from: Vec<f32> = (0..points * stride).map(|_| number(size)).collect();
                let expected = definition(&shape, board, &from, stride);
                // The largest and the mean difference. If two keys are nearly equally good and the numbers are large,
                // bytes may weigh them quite differently.
                let rounded = if primitives.byte_sums.is_whole() { (0.1, 0.02) } else { (5e-3, 5e-3) };
                for (attend, product, (tolerance, mean)) in [
                    (primitives.attend_floats, primitives.block_of_floats, (2e-5, 2e-5)),
                    (primitives.attend_integers, primitives.block_of_integers, rounded),
                ] {
                    let mut to = vec![f32::NAN; points * to_stride];
                    attend(Attention {
                        heads: &shape,
                        board,
                        from: &from,
                        stride,
                        to: &mut to,
                        to_stride,
                        memory: &mut memory,
                        product,
                    });
                    let found = to.chunks_exact(to_stride).flat_map(|point| &point[..to_stride - 1]);
                    let mut sum = 0.0;
                    for (found, expected) in found.zip(&expected) {
                        let difference = (f64::from(*found) - expected).abs();
                        assert!(difference <= tolerance * f64::from(size), "{}: {difference}", kernel.name());
                        sum += difference;
                    }
                    let most = mean * f64::from(size) * expected.len() as f64;
                    assert!(sum <= most, "{}: {sum} of {}", kernel.name(), expected.len());
                    assert!(to.chunks_exact(to_stride).all(|point| point[to_stride - 1].is_nan()));
                }
            }
        }
    }
}
