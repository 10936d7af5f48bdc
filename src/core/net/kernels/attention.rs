//! Attention: every point looks at all points of its board.
//!
//! Head by head, and a block of query rows at a time: the products of these rows with all keys, their softmax, and the
//! sum of the values with these weights. No more than the block's weights is ever in memory.
//!
//! With integers, queries, keys, values and weights are rounded to 12 to 14 bits, of which products add up pairs. So
//! exact are they that they need no check of their own.
//!
//! CITE: Vaswani et al., "Attention is all you need" (2017).

use super::buffer::Buffer;
use super::product::{
    Apart, Factors, Finish, Floats, Halves, Integers, Overwrite, ROW_ALIGN, Scaled, Target, WORD_ALIGN,
    product,
};
use super::simd::{PANEL_VECTORS, Simd};

/// Heads, and what their queries, keys and values are like.
#[derive(Clone, Debug)]
pub(super) struct Heads {
    pub(super) heads: usize,
    /// Divides `heads`.
    pub(super) key_heads: usize,
    /// Even.
    pub(super) key_width: usize,
    pub(super) value_width: usize,
    pub(super) rotation: Option<Rotation>,
}

/// The sines and cosines by which queries and keys are turned. Half of a head's channels are the first ones of the
/// pairs that are turned together, the other half the second ones, in the same order.
#[derive(Clone, Debug)]
pub(super) struct Rotation {
    /// `[column][key head][cosine, sine][pair]`
    pub(super) columns: Vec<f32>,
    /// `[row][key head][cosine, sine][pair]`
    pub(super) rows: Vec<f32>,
}

/// One board's attention.
#[derive(Debug)]
pub(super) struct Attention<'a> {
    pub(super) heads: &'a Heads,
    /// Columns and rows of the board.
    pub(super) board: (usize, usize),
    /// Queries of all heads, keys of all key heads, values of all key heads; then what fills up.
    pub(super) from: &'a [f32],
    /// Numbers from one point of `from` to the next.
    pub(super) stride: usize,
    /// What all heads see.
    pub(super) to: &'a mut [f32],
    /// Numbers from one point of `to` to the next.
    pub(super) to_stride: usize,
    pub(super) memory: &'a mut AttentionMemory,
    /// [`block_of_floats`] or [`block_of_halves`] of the same kernel. Called and not inlined, because the compiler finds
    /// no good use of the registers for all of it at once.
    pub(super) product: fn(BlockProduct<'_>),
}

/// The product of a block of rows with keys or values.
#[derive(Debug)]
pub(super) struct BlockProduct<'p> {
    factors: Factors<'p, Apart>,
    /// Integers or numbers, as many in a row as the second matrix has columns.
    to: &'p mut [u32],
    /// Factors of the rows; without them, sums of integers stay integers.
    scales: Option<&'p [f32]>,
    /// Is the result added to what is there?
    is_added: bool,
}

impl BlockProduct<'_> {
    fn check(&self) {
        let rows = self.factors.rows.next_multiple_of(ROW_ALIGN);
        assert!(self.to.len() >= rows * self.factors.outer);
        assert!(self.scales.is_none_or(|scales| scales.len() >= rows));
    }
}

/// Of numbers; nothing is added.
#[inline(always)]
pub(super) fn block_of_floats<S: Simd>(s: S, it: BlockProduct<'_>) {
    it.check();
    let target = Target { to: it.to.as_mut_ptr().cast(), stride: it.factors.outer };
    let finish = Scaled { rows: it.scales, to: Overwrite(target) };
    // SAFETY: there is memory for all rows and columns.
    unsafe { product::<S, Floats, _, _>(s, it.factors, &finish) };
}

/// Of pairs of integers; to numbers, or to integers.
#[inline(always)]
pub(super) fn block_of_halves<S: Simd>(s: S, it: BlockProduct<'_>) {
    it.check();
    let stride = it.factors.outer;
    // SAFETY: there is memory for all rows and columns.
    unsafe {
        match it.scales {
            Some(rows) => {
                let finish = Seen { rows, to: it.to.as_mut_ptr().cast(), stride, is_first: !it.is_added };
                product::<S, Halves, _, _>(s, it.factors, &finish);
            }
            None => {
                let finish = Integers { to: it.to.as_mut_ptr().cast(), stride };
                product::<S, Halves, _, _>(s, it.factors, &finish);
            }
        }
    }
}

/// Memory of [`Attention`].
#[derive(Clone, Debug, Default)]
pub(super) struct AttentionMemory {
    /// Keys, turned: `[point][channel]`
    turned_keys: Buffer<f32>,
    /// Queries of one head, turned: `[point][channel]`
    turned: Buffer<f32>,
    /// Queries as words of two halves.
    queries: Buffer<i16>,
    query_scales: Buffer<f32>,
    /// Keys in the order of a packed matrix; words.
    keys: Buffer<u32>,
    values: Buffer<u32>,
    /// Of a block of rows: products with all keys, weights of all values, what is seen.
    logits: Buffer<u32>,
    weights: Buffer<i16>,
    seen: Buffer<f32>,
}

/// Query rows whose weights are in memory at a time; a multiple of [`ROW_ALIGN`].
const BLOCK: usize = 12;

/// The largest magnitude of the integers that stand for queries and keys: 128 products of two of them fit into 32
/// bits.
const KEY_LEVELS: f32 = 4095.0;

/// The widest key for which that holds.
const WIDEST_KEY: usize = 128;

/// Values whose products with weights are added up in 32 bits.
const CHUNK: usize = 128;

/// The binary logarithm of the largest weight.
const WEIGHT_BITS: f32 = 13.0;

/// The largest magnitude of the integers that stand for values: [`CHUNK`] products of one of them with the largest
/// weight, which is rounded up at most by one, fit into 32 bits.
const VALUE_LEVELS: f32 = 2047.0;

impl Attention<'_> {
    fn points(&self) -> usize {
        self.board.0 * self.board.1
    }

    fn check(&self) {
        let Heads { heads, key_heads, key_width, value_width, .. } = *self.heads;
        let width = (heads + key_heads) * key_width + key_heads * value_width;
        assert!(width <= self.stride && heads * value_width <= self.to_stride);
        assert!(self.from.len() >= self.points() * self.stride);
        assert!(self.to.len() >= self.points() * self.to_stride);
        assert!(self.points() > 0 && heads.is_multiple_of(key_heads) && key_width.is_multiple_of(2));
    }
}

/// Writes the channels from `first` on of every point to `to`, `[point][channel]`, turned and times `factor`.
#[inline(always)]
fn turn<S: Simd>(s: S, it: &Attention<'_>, first: usize, key_head: usize, factor: f32, to: &mut [f32]) {
    let heads = it.heads;
    let width = heads.key_width;
    let half = width / 2;
    let points = it.from.chunks(it.stride).zip(to.chunks_exact_mut(width)).take(it.points());
    let Some(rotation) = &heads.rotation else {
        for (from, to) in points {
            to.iter_mut().zip(&from[first..][..width]).for_each(|(to, from)| *to = from * factor);
        }
        return;
    };
    let factors = s.splat(factor);
    let (mut x, mut y) = (0, 0);
    for (from, to) in points {
        let column = &rotation.columns[(x * heads.key_heads + key_head) * width..][..width];
        let row = &rotation.rows[(y * heads.key_heads + key_head) * width..][..width];
        let from = &from[first..][..width];
        // The angle is the sum of the column's and the row's.
        let mut pair = 0;
        while pair + S::LANES <= half {
            let load = |numbers: &[f32]| [s.load(&numbers[pair..]), s.load(&numbers[half + pair..])];
            let ([column_cos, column_sin], [row_cos, row_sin]) = (load(column), load(row));
            let cos = s.sub(s.mul(column_cos, row_cos), s.mul(column_sin, row_sin));
            let sin = s.mul_add(column_sin, row_cos, s.mul(column_cos, row_sin));
            let [even, odd] = load(from).map(|x| s.mul(x, factors));
            s.store(s.sub(s.mul(even, cos), s.mul(odd, sin)), &mut to[pair..]);
            s.store(s.mul_add(even, sin, s.mul(odd, cos)), &mut to[half + pair..]);
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

/// Attention in `f32`.
#[inline(always)]
pub(super) fn attend_floats<S: Simd>(s: S, it: Attention<'_>) {
    it.check();
    let panel = PANEL_VECTORS * S::LANES;
    let Heads { heads, key_heads, key_width, value_width, .. } = *it.heads;
    let points = it.points();
    let inner = key_width.next_multiple_of(WORD_ALIGN);
    let padded = points.next_multiple_of(panel);
    let values_width = value_width.next_multiple_of(panel);
    let mut memory = std::mem::take(it.memory);
    let keys = memory.keys.at_least(padded * inner);
    let values = memory.values.at_least(padded * values_width);
    let queries = memory.turned.at_least(points.next_multiple_of(ROW_ALIGN) * inner);
    let turned = memory.turned_keys.at_least(points * key_width);
    let logits = memory.logits.at_least(BLOCK * padded);
    let seen = memory.seen.at_least(BLOCK * values_width);
    let scales = memory.query_scales.at_least(BLOCK);
    let factor = 1.0 / (key_width as f32).sqrt();
    for key_head in 0..key_heads {
        turn(s, &it, (heads + key_head) * key_width, key_head, 1.0, turned);
        keys.fill(0);
        for (point, key) in turned.chunks_exact(key_width).enumerate() {
            let start = point / panel * panel * inner + point % panel;
            for (to, number) in keys[start..].iter_mut().step_by(panel).zip(key) {
                *to = number.to_bits();
            }
        }
        values.fill(0);
        let first = (heads + key_heads) * key_width + key_head * value_width;
        for (point, from) in it.from.chunks(it.stride).take(points).enumerate() {
            for (column, numbers) in from[first..][..value_width].chunks(panel).enumerate() {
                let start = (column * padded + point) * panel;
                for (to, number) in values[start..].iter_mut().zip(numbers) {
                    *to = number.to_bits();
                }
            }
        }
        let sharing = heads / key_heads;
        for head in key_head * sharing..(key_head + 1) * sharing {
            if inner == key_width {
                turn(s, &it, head * key_width, key_head, factor, queries);
            } else {
                turn(s, &it, head * key_width, key_head, factor, turned);
                queries.fill(0.0);
                for (to, from) in queries.chunks_exact_mut(inner).zip(turned.chunks_exact(key_width)) {
                    to[..key_width].copy_from_slice(from);
                }
            }
            let mut row = 0;
            while row < points {
                let rows = BLOCK.min(points - row);
                let products = Factors {
                    rows,
                    a: bytemuck::cast_slice(&queries[row * inner..]),
                    starts: Apart(inner),
                    pieces: &[0],
                    inner,
                    outer: padded,
                    b: keys,
                };
                let to = &mut *logits;
                (it.product)(BlockProduct { factors: products, to, scales: None, is_added: false });
                for (logits, scale) in logits.chunks_exact_mut(padded).zip(&mut *scales).take(rows) {
                    *scale = 1.0 / exponentials(s, bytemuck::cast_slice_mut(logits), points);
                }
                let sums = Factors {
                    rows,
                    a: logits,
                    starts: Apart(padded),
                    pieces: &[0],
                    inner: padded,
                    outer: values_width,
                    b: values,
                };
                let to = bytemuck::cast_slice_mut(seen);
                (it.product)(BlockProduct { factors: sums, to, scales: Some(scales), is_added: false });
                for (to, seen) in it.to[row * it.to_stride..]
                    .chunks_mut(it.to_stride)
                    .zip(seen.chunks_exact(values_width))
                    .take(rows)
                {
                    to[head * value_width..][..value_width].copy_from_slice(&seen[..value_width]);
                }
                row += rows;
            }
        }
    }
    *it.memory = memory;
}

/// Replaces the first numbers by the exponentials of their differences from the largest, and the others by zeros.
/// Returns the sum.
#[inline(always)]
fn exponentials<S: Simd>(s: S, numbers: &mut [f32], count: usize) -> f32 {
    // Must not be the largest.
    let first = numbers[0];
    let end = count.next_multiple_of(S::LANES);
    numbers[count..end].fill(first);
    let mut most = s.splat(first);
    for vector in numbers[..end].chunks_exact(S::LANES) {
        most = s.max(most, s.load(vector));
    }
    let most = s.splat(s.reduce_max(most));
    let mut sum = s.splat(0.0);
    for vector in numbers[..end].chunks_exact_mut(S::LANES) {
        let x = s.sub(s.load(vector), most);
        let x = s.exp(s.max(x, s.splat(-87.0)));
        s.store(x, vector);
        sum = s.add(sum, x);
    }
    let beyond: f32 = numbers[count..end].iter().sum();
    numbers[count..].fill(0.0);
    s.reduce_add(sum) - beyond
}

/// Sums of integers that become, or are added to, rows of numbers.
struct Seen<'s> {
    rows: &'s [f32],
    to: *mut f32,
    stride: usize,
    is_first: bool,
}

impl<S: Simd> Finish<S, S::I> for Seen<'_> {
    #[inline(always)]
    unsafe fn finish(&self, s: S, row: usize, column: usize, sums: [S::I; PANEL_VECTORS]) {
        let scale = s.splat(self.rows[row]);
        // SAFETY: the caller's.
        unsafe {
            let mut to = self.to.add(row * self.stride + column);
            for sum in sums {
                let before = if self.is_first { s.splat(0.0) } else { s.load_unchecked(to) };
                s.store_unchecked(s.mul_add(s.to_float(sum), scale, before), to);
                to = to.add(S::LANES);
            }
        }
    }
}

/// The largest magnitude.
#[inline(always)]
fn largest<S: Simd>(s: S, numbers: &[f32]) -> f32 {
    let zero = s.splat(0.0);
    let mut most = zero;
    let mut vectors = numbers.chunks_exact(S::LANES);
    for x in &mut vectors {
        let x = s.load(x);
        most = s.max(most, s.max(x, s.sub(zero, x)));
    }
    vectors.remainder().iter().fold(s.reduce_max(most), |most, x| most.max(x.abs()))
}

/// A number that is at most `levels` in magnitude, as an integer. What is not finite becomes any.
#[inline(always)]
fn half(x: f32) -> i16 {
    // Adding this number leaves the nearest integer in the last bits; a conversion would check for numbers that are too
    // large.
    const LARGE: f32 = 12_582_912.0;
    (x + LARGE).to_bits() as i16
}

fn inverse(levels: f32, most: f32) -> f32 {
    if most > 1e-30 { levels / most } else { 0.0 }
}

/// Can attention with these heads be computed with integers of 16 bits?
pub(super) fn fits_halves(heads: &Heads) -> bool {
    heads.key_width <= WIDEST_KEY
}

/// Attention with integers of 16 bits, for heads that they fit.
#[inline(always)]
pub(super) fn attend_halves<S: Simd>(s: S, it: Attention<'_>) {
    assert!(fits_halves(it.heads));
    it.check();
    let panel = PANEL_VECTORS * S::LANES;
    let Heads { heads, key_heads, key_width, value_width, .. } = *it.heads;
    let points = it.points();
    // Words of a query, and of the weights of all points.
    let inner = (key_width / 2).next_multiple_of(WORD_ALIGN);
    let padded = points.next_multiple_of(panel);
    let values_width = value_width.next_multiple_of(panel);
    let mut memory = std::mem::take(it.memory);
    let keys = memory.keys.at_least(padded * inner);
    let values = memory.values.at_least(padded / 2 * values_width);
    let turned = memory.turned.at_least(points * key_width);
    let queries = memory.queries.at_least(points.next_multiple_of(ROW_ALIGN) * 2 * inner);
    let query_scales = memory.query_scales.at_least(points.next_multiple_of(ROW_ALIGN) + BLOCK);
    let (query_scales, scales) = query_scales.split_at_mut(points.next_multiple_of(ROW_ALIGN));
    let logits = memory.logits.at_least(BLOCK * padded);
    let weights = memory.weights.at_least(BLOCK * padded);
    let seen = memory.seen.at_least(BLOCK * values_width);
    let pair = |even: i16, odd: i16| u32::from(even as u16) | u32::from(odd as u16) << 16;
    // Softmax by powers of two.
    let factor = std::f32::consts::LOG2_E / (key_width as f32).sqrt();
    for key_head in 0..key_heads {
        turn(s, &it, (heads + key_head) * key_width, key_head, 1.0, turned);
        let most = largest(s, turned);
        let key_scale = most / KEY_LEVELS;
        let to_levels = inverse(KEY_LEVELS, most);
        keys.fill(0);
        for (point, key) in turned.chunks_exact(key_width).enumerate() {
            let start = point / panel * panel * inner + point % panel;
            for (to, numbers) in keys[start..].iter_mut().step_by(panel).zip(key.chunks_exact(2)) {
                *to = pair(half(numbers[0] * to_levels), half(numbers[1] * to_levels));
            }
        }
        let first = (heads + key_heads) * key_width + key_head * value_width;
        let value = |point: usize| &it.from[point * it.stride + first..][..value_width];
        let most = (0..points).map(|point| largest(s, value(point))).fold(0.0, f32::max);
        let value_scale = most / VALUE_LEVELS;
        let to_levels = inverse(VALUE_LEVELS, most);
        values.fill(0);
        for point in (0..points).step_by(2) {
            let word = point / 2;
            let (chunk, word) = (word / (CHUNK / 2), word % (CHUNK / 2));
            let words = (CHUNK / 2).min(padded / 2 - chunk * CHUNK / 2);
            for column in (0..value_width).step_by(panel) {
                let width = panel.min(value_width - column);
                let start = chunk * CHUNK / 2 * values_width + (column / panel * words + word) * panel;
                let to = &mut values[start..][..width];
                let even = &value(point)[column..][..width];
                if point + 1 < points {
                    let odd = &value(point + 1)[column..][..width];
                    for ((to, even), odd) in to.iter_mut().zip(even).zip(odd) {
                        *to = pair(half(even * to_levels), half(odd * to_levels));
                    }
                } else {
                    to.iter_mut().zip(even).for_each(|(to, even)| *to = pair(half(even * to_levels), 0));
                }
            }
        }
        let sharing = heads / key_heads;
        for head in key_head * sharing..(key_head + 1) * sharing {
            turn(s, &it, head * key_width, key_head, 1.0, turned);
            if key_width != 2 * inner {
                queries.fill(0);
            }
            for ((from, to), scale) in turned
                .chunks_exact(key_width)
                .zip(queries.chunks_exact_mut(2 * inner))
                .zip(&mut *query_scales)
            {
                let most = largest(s, from);
                *scale = most / KEY_LEVELS * key_scale * factor;
                let to_levels = inverse(KEY_LEVELS, most);
                to.iter_mut().zip(from).for_each(|(to, from)| *to = half(from * to_levels));
            }
            let mut row = 0;
            while row < points {
                let rows = BLOCK.min(points - row);
                let products = Factors {
                    rows,
                    a: bytemuck::cast_slice(&queries[row * 2 * inner..]),
                    starts: Apart(inner),
                    pieces: &[0],
                    inner,
                    outer: padded,
                    b: keys,
                };
                let to = &mut *logits;
                (it.product)(BlockProduct { factors: products, to, scales: None, is_added: false });
                for (index, logits) in logits.chunks_exact_mut(padded).enumerate().take(rows) {
                    let weights = &mut weights[index * padded..][..padded];
                    let logits = bytemuck::cast_slice_mut(logits);
                    let sum = integer_weights(s, logits, points, query_scales[row + index], weights);
                    scales[index] = value_scale / sum as f32;
                }
                for chunk in (0..padded).step_by(CHUNK) {
                    let size = CHUNK.min(padded - chunk);
                    let sums = Factors {
                        rows,
                        a: bytemuck::cast_slice(&weights[chunk..]),
                        starts: Apart(padded / 2),
                        pieces: &[0],
                        inner: size / 2,
                        outer: values_width,
                        b: &values[chunk / 2 * values_width..],
                    };
                    let (to, scales) = (bytemuck::cast_slice_mut(seen), Some(&*scales));
                    (it.product)(BlockProduct { factors: sums, to, scales, is_added: chunk > 0 });
                }
                for (to, seen) in it.to[row * it.to_stride..]
                    .chunks_mut(it.to_stride)
                    .zip(seen.chunks_exact(values_width))
                    .take(rows)
                {
                    to[head * value_width..][..value_width].copy_from_slice(&seen[..value_width]);
                }
                row += rows;
            }
        }
    }
    *it.memory = memory;
}

/// Softmax of the first products, times `scale`, as powers of two: the weight of the largest is 2 to the power of
/// [`WEIGHT_BITS`]. What is behind them gets no weight. Returns the sum of the weights.
#[inline(always)]
fn integer_weights<S: Simd>(
    s: S,
    products: &mut [i32],
    count: usize,
    scale: f32,
    weights: &mut [i16],
) -> i32 {
    // Must not be the largest.
    let first = products[0];
    let end = count.next_multiple_of(S::LANES);
    products[count..end].fill(first);
    let mut most = s.splat_int(first);
    for vector in products[..end].chunks_exact(S::LANES) {
        // SAFETY: a whole vector.
        most = s.max_int(most, unsafe { s.load_int(vector.as_ptr()) });
    }
    let most = s.splat_int(s.reduce_max_int(most));
    let scale = s.splat(scale);
    let mut sum = s.splat_int(0);
    for (vector, weights) in products[..end].chunks_exact(S::LANES).zip(weights.chunks_exact_mut(S::LANES)) {
        // SAFETY: a whole vector.
        let difference = s.sub_int(unsafe { s.load_int(vector.as_ptr()) }, most);
        let power = s.mul_add(s.to_float(difference), scale, s.splat(WEIGHT_BITS));
        let weight = s.to_int(s.rough_exp2(s.max(power, s.splat(-100.0))));
        sum = s.add_int(sum, weight);
        // SAFETY: a whole vector.
        unsafe { s.store_halves(weight, weights.as_mut_ptr()) };
    }
    let beyond: i32 = weights[count..end].iter().map(|&weight| i32::from(weight)).sum();
    weights[count..].fill(0);
    s.reduce_add_int(sum) - beyond
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::kernels::kernel::{Kernel, Precision};
    use crate::net::kernels::primitives::Primitives;
    use crate::rng::Rng;

    /// What every point sees, head by head, by the definition and in `f64`.
    fn definition(heads: &Heads, (width, height): (usize, usize), from: &[f32], stride: usize) -> Vec<f64> {
        let Heads { key_heads, key_width, value_width, ref rotation, .. } = *heads;
        let points = width * height;
        let half = key_width / 2;
        let turned = |point: usize, first: usize, key_head: usize| -> Vec<f64> {
            let x: Vec<f64> =
                from[point * stride + first..][..key_width].iter().map(|&x| f64::from(x)).collect();
            let Some(rotation) = rotation else { return x };
            let angle = |table: &[f32], place: usize, pair: usize| {
                let start = (place * key_heads + key_head) * key_width + pair;
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
        let mut seen = vec![0.0; points * heads.heads * value_width];
        for head in 0..heads.heads {
            let key_head = head / (heads.heads / key_heads);
            for point in 0..points {
                let query = turned(point, head * key_width, key_head);
                let logits: Vec<f64> = (0..points)
                    .map(|other| {
                        let key = turned(other, (heads.heads + key_head) * key_width, key_head);
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
                    seen[(point * heads.heads + head) * value_width + channel] = total / sum;
                }
            }
        }
        seen
    }

    /// With and without turning, with shared keys, with widths that no vector divides, on boards smaller than a
    /// block and larger than a chunk; with large logits and with zeros.
    #[test]
    fn attention_is_what_its_definition_says() {
        let mut rng = Rng::new(5);
        let mut number = |size: f32| (rng.unit() as f32 * 2.0 - 1.0) * size;
        let kernels = Kernel::ALL.into_iter().filter(|kernel| kernel.is_available());
        for kernel in kernels.filter(|kernel| kernel.precisions().contains(&Precision::F32)) {
            let primitives = Primitives::of(kernel);
            let mut memory = AttentionMemory::default();
            for (heads, key_heads, key_width, value_width, is_turned, board, size) in [
                (2, 1, 8, 5, true, (3, 2), 2.0),
                (3, 3, 32, 32, true, (13, 11), 4.0),
                (1, 1, 6, 33, false, (1, 1), 1.0),
                (4, 2, 2, 1, true, (5, 1), 1.0),
                (1, 1, 128, 70, true, (7, 7), 1.0),
                (2, 2, 4, 3, false, (9, 3), 0.0),
            ] {
                let rotation = is_turned.then(|| {
                    let mut table = |places: usize| {
                        let mut table = vec![0.0; places * key_heads * key_width];
                        for turn in table.chunks_exact_mut(key_width) {
                            for pair in 0..key_width / 2 {
                                let (sin, cos) = number(3.0).sin_cos();
                                (turn[pair], turn[key_width / 2 + pair]) = (cos, sin);
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
                let wanted = definition(&shape, board, &from, stride);
                for (attend, product, tolerance) in [
                    (primitives.attend_floats, primitives.block_of_floats, 2e-5),
                    (primitives.attend_halves, primitives.block_of_halves, 5e-3),
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
                    for (found, wanted) in found.zip(&wanted) {
                        let difference = (f64::from(*found) - wanted).abs();
                        assert!(difference <= tolerance * f64::from(size), "{}: {difference}", kernel.name());
                    }
                    assert!(to.chunks_exact(to_stride).all(|point| point[to_stride - 1].is_nan()));
                }
            }
        }
    }
}
