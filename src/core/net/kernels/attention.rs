//! Attention: every point looks at all points of its board.
//!
//! Head by head, and a block of query rows at a time: the products of these rows with all keys, their softmax, and the
//! sum of the values with these weights. No more than the block's weights is ever in memory.
//!
//! With integers, queries, keys, values and weights are rounded to 8 bits where the processor multiplies bytes without
//! loss ([`Bytes`]), and otherwise to 12 to 14 bits, of which products add up pairs ([`Halves`]). Each query and each
//! key has a scale of its own, and so has each channel of the values. What all keys of a head have in common is taken
//! away first: it adds the same to all products of a query, which softmax does not see. What all values have in common
//! is taken away, too, and added to what is seen, because weights sum up to one. Less is left to round then.
//!
//! CITE: Vaswani et al., "Attention is all you need" (2017); for what keys have in common, Zhang et al.,
//! "SageAttention" (2024).

use super::buffer::Buffer;
use super::product::{
    Apart, Bytes, Factors, Finish, Floats, Halves, Overwrite, ROW_ALIGN, Scaled, Target, Terms, WORD_ALIGN,
    begin_at, product, times_columns,
};
use super::simd::{EXP2_OF_DEGREE_3, PANEL_VECTORS, Simd};

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
    /// [`block_of_floats`] or [`block_of_integers`] of the same kernel. Called and not inlined, because the compiler finds
    /// no good use of the registers for all of it at once.
    pub(super) product: fn(BlockProduct<'_>),
}

/// The product of a block of rows with keys or values.
#[derive(Debug)]
pub(super) struct BlockProduct<'p> {
    factors: Factors<'p, Apart>,
    /// As many in a row as the second matrix has columns.
    to: &'p mut [f32],
    ending: BlockEnding<'p>,
}

/// What becomes of the sums of a block.
#[derive(Debug)]
enum BlockEnding<'p> {
    /// Numbers, each row times a factor if there are any.
    Floats(Option<&'p [f32]>),
    /// Integers, which begin with an integer of their column, times a factor of it. The largest numbers of each row are
    /// left in as many places as a vector has.
    Logits { offsets: &'p [i32], columns: &'p [f32], most: &'p mut [f32] },
    /// Integers, times factors of columns and rows, plus a number of the column; or added to what is there.
    Seen { columns: &'p [f32], rows: &'p [f32], means: &'p [f32], is_first: bool },
}

/// Of numbers.
#[inline(always)]
pub(super) fn block_of_floats<S: Simd>(s: S, it: BlockProduct<'_>) {
    let rows = it.factors.rows.next_multiple_of(ROW_ALIGN);
    assert!(it.to.len() >= rows * it.factors.outer);
    let BlockEnding::Floats(scales) = it.ending else { return };
    assert!(scales.is_none_or(|scales| scales.len() >= rows));
    let target = Target { to: it.to.as_mut_ptr(), stride: it.factors.outer };
    let finish = Scaled { rows: scales, to: Overwrite(target) };
    // SAFETY: there is memory for all rows and columns.
    unsafe { product::<S, Floats, _, _>(s, it.factors, &finish) };
}

/// Of integers.
#[inline(always)]
pub(super) fn block_of_integers<S: Simd>(s: S, it: BlockProduct<'_>) {
    if has_bytes::<S>() {
        block_of_words::<S, Bytes>(s, it);
    } else {
        block_of_words::<S, Halves>(s, it);
    }
}

#[inline(always)]
fn block_of_words<S: Simd, T: Terms<S, Sum = S::I>>(s: S, it: BlockProduct<'_>) {
    let rows = it.factors.rows.next_multiple_of(ROW_ALIGN);
    let stride = it.factors.outer;
    assert!(it.to.len() >= rows * stride);
    let to = it.to.as_mut_ptr();
    match it.ending {
        BlockEnding::Logits { offsets, columns, most } => {
            assert!(offsets.len() >= stride && columns.len() >= stride && most.len() >= rows * S::LANES);
            let finish = Logits { offsets, columns, to, stride, most: most.as_mut_ptr() };
            // SAFETY: there is memory for all rows and columns.
            unsafe { product::<S, T, _, _>(s, it.factors, &finish) };
        }
        BlockEnding::Seen { columns, rows: scales, means, is_first } => {
            assert!(columns.len() >= stride && scales.len() >= rows && means.len() >= stride);
            let finish = Seen { columns, rows: scales, means, to, stride, is_first };
            // SAFETY: there is memory for all rows and columns.
            unsafe { product::<S, T, _, _>(s, it.factors, &finish) };
        }
        BlockEnding::Floats(_) => {}
    }
}

/// Memory of [`Attention`].
#[derive(Clone, Debug, Default)]
pub(super) struct AttentionMemory {
    /// Keys, turned: `[point][channel]`
    turned_keys: Buffer<f32>,
    /// Queries of one head, turned: `[point][channel]`
    turned: Buffer<f32>,
    /// Queries as words of integers.
    queries: Buffer<u32>,
    query_scales: Buffer<f32>,
    /// Keys in the order of a packed matrix; words.
    keys: Buffer<u32>,
    key_scales: Buffer<f32>,
    key_offsets: Buffer<i32>,
    values: Buffer<u32>,
    /// Of each channel of the values: mean, scale, and the inverse of that.
    value_scales: Buffer<f32>,
    /// Of a block of rows: products with all keys, their largest, weights of all values, what is seen.
    logits: Buffer<f32>,
    most: Buffer<f32>,
    weights: Buffer<u32>,
    seen: Buffer<f32>,
}

/// Query rows whose weights are in memory at a time; a multiple of [`ROW_ALIGN`].
const BLOCK: usize = 12;

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

/// Fetches the numbers of a later point, so many farther for each point: what lies so far apart is not fetched ahead by itself.
#[inline(always)]
fn fetch_ahead<S: Simd>(s: S, from: &[f32], stride: usize) {
    const POINTS: usize = 8;
    const LINE: usize = 16;
    for number in (0..from.len()).step_by(LINE) {
        s.prefetch(from.as_ptr().wrapping_add(POINTS * stride + number));
    }
}

/// Writes the channels from `first` on of every point to `to`, which has so many numbers from one point to the next,
/// turned and times `factor`.
#[inline(always)]
fn turn<S: Simd>(
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
        // The angle is the sum of the column's and the row's.
        let mut pair = 0;
        while pair + S::LANES <= half {
            // SAFETY: all four slices have two halves, and a whole vector of each is left.
            unsafe {
                let load = |numbers: &[f32]| {
                    let from = numbers.as_ptr().add(pair);
                    [s.load_unchecked(from), s.load_unchecked(from.add(half))]
                };
                let ([column_cos, column_sin], [row_cos, row_sin]) = (load(column), load(row));
                let cos = s.sub(s.mul(column_cos, row_cos), s.mul(column_sin, row_sin));
                let sin = s.mul_add(column_sin, row_cos, s.mul(column_cos, row_sin));
                let [even, odd] = load(from).map(|x| s.mul(x, factors));
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

/// Attention in `f32`.
#[inline(always)]
pub(super) fn attend_floats<S: Simd>(s: S, mut it: Attention<'_>) {
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
    // What fills up stays zero.
    queries.fill(0.0);
    let turned = memory.turned_keys.at_least(points * key_width);
    let logits = memory.logits.at_least(BLOCK * padded);
    let seen = memory.seen.at_least(BLOCK * values_width);
    let scales = memory.query_scales.at_least(BLOCK);
    let factor = 1.0 / (key_width as f32).sqrt();
    for key_head in 0..key_heads {
        turn(s, &it, ((heads + key_head) * key_width, key_head), 1.0, (turned, key_width));
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
            turn(s, &it, (head * key_width, key_head), factor, (queries, inner));
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
                (it.product)(BlockProduct { factors: products, to, ending: BlockEnding::Floats(None) });
                for (logits, scale) in logits.chunks_exact_mut(padded).zip(&mut *scales).take(rows) {
                    *scale = 1.0 / exponentials(s, logits, points);
                }
                let sums = Factors {
                    rows,
                    a: bytemuck::cast_slice(logits),
                    starts: Apart(padded),
                    pieces: &[0],
                    inner: padded,
                    outer: values_width,
                    b: values,
                };
                let ending = BlockEnding::Floats(Some(scales));
                (it.product)(BlockProduct { factors: sums, to: seen, ending });
                write_seen(s, &mut it, (row, rows), head, seen);
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

/// Writes what a head sees from some points: `[point][channel, filled up]`.
#[inline(always)]
fn write_seen<S: Simd>(s: S, it: &mut Attention<'_>, (row, rows): (usize, usize), head: usize, seen: &[f32]) {
    let width = it.heads.value_width;
    let filled = width.next_multiple_of(PANEL_VECTORS * S::LANES);
    let first = row * it.to_stride + head * width;
    for row in 0..rows {
        let to = &mut it.to[first + row * it.to_stride..][..width];
        copy(s, &seen[row * filled..][..width], to);
    }
}

/// Copies few numbers.
#[inline(always)]
fn copy<S: Simd>(s: S, from: &[f32], to: &mut [f32]) {
    let len = to.len();
    assert!(from.len() == len);
    let mut index = 0;
    while index + S::LANES <= len {
        // SAFETY: a whole vector is left in both.
        unsafe { s.store_unchecked(s.load_unchecked(from.as_ptr().add(index)), to.as_mut_ptr().add(index)) };
        index += S::LANES;
    }
    to[index..].copy_from_slice(&from[index..]);
}

/// Sums that become logits.
struct Logits<'s> {
    offsets: &'s [i32],
    columns: &'s [f32],
    to: *mut f32,
    stride: usize,
    most: *mut f32,
}

impl<S: Simd> Finish<S, S::I> for Logits<'_> {
    #[inline(always)]
    unsafe fn begin(&self, s: S, column: usize) -> [S::I; PANEL_VECTORS] {
        // SAFETY: the caller's; there are offsets for all columns.
        unsafe { begin_at(s, self.offsets, column) }
    }

    #[inline(always)]
    unsafe fn finish(&self, s: S, row: usize, column: usize, sums: [S::I; PANEL_VECTORS]) {
        // SAFETY: the caller's; there are factors for all columns, and a vector of `most` for each row.
        unsafe {
            let values = times_columns(s, self.columns, column, sums);
            let to = self.to.add(row * self.stride + column);
            s.store_unchecked(values[0], to);
            s.store_unchecked(values[1], to.add(S::LANES));
            let most = self.most.add(row * S::LANES);
            let larger = s.max(values[0], values[1]);
            let larger = if column == 0 { larger } else { s.max(larger, s.load_unchecked(most)) };
            s.store_unchecked(larger, most);
        }
    }
}

/// Sums that become what is seen.
struct Seen<'s> {
    columns: &'s [f32],
    rows: &'s [f32],
    means: &'s [f32],
    to: *mut f32,
    stride: usize,
    is_first: bool,
}

impl<S: Simd> Finish<S, S::I> for Seen<'_> {
    #[inline(always)]
    unsafe fn begin(&self, s: S, _column: usize) -> [S::I; PANEL_VECTORS] {
        [s.splat_int(0); PANEL_VECTORS]
    }

    #[inline(always)]
    unsafe fn finish(&self, s: S, row: usize, column: usize, sums: [S::I; PANEL_VECTORS]) {
        // SAFETY: the caller's; there are numbers for all columns and rows.
        unsafe {
            let values = times_columns(s, self.columns, column, sums);
            let scale = s.splat(self.rows[row]);
            let mut to = self.to.add(row * self.stride + column);
            let mut before = if self.is_first { self.means.as_ptr().add(column) } else { to.cast_const() };
            for value in values {
                s.store_unchecked(s.mul_add(value, scale, s.load_unchecked(before)), to);
                to = to.add(S::LANES);
                before = before.add(S::LANES);
            }
        }
    }
}

/// Can attention with these heads be computed with integers?
pub(super) fn fits_integers(heads: &Heads) -> bool {
    heads.key_width <= WIDEST_KEY
}

/// The widest key whose products in 16 bits fit into 32.
const WIDEST_KEY: usize = 128;

/// Numbers that queries and keys, and points, are filled up to a multiple of: what products take at a time, and the widest vector.
const NUMBER_ALIGN: usize = 4 * WORD_ALIGN;

/// Are bytes multiplied without loss?
const fn has_bytes<S: Simd>() -> bool {
    S::BYTE_SUMS.is_whole()
}

/// To which integers numbers are rounded.
trait Rounding<S: Simd>: Terms<S, Sum = S::I> {
    /// Integers in a word.
    const EACH: usize;
    /// The integer of a query that stands for zero.
    const QUERY_ZERO: f32;
    /// The largest magnitude of the integers that stand for queries and keys.
    const KEY_LEVELS: f32;
    /// Values whose products with weights are added up in 32 bits.
    const CHUNK: usize;
    /// The largest magnitude of the integers that stand for values.
    const VALUE_LEVELS: f32;
    /// What differences of logits from the largest, in powers of two, are multiplied by for [`weights`](Self::weights), and
    /// what is added.
    const POWERS: (f32, f32);

    /// The sums of the integers in words, times the query that stands for zero.
    fn zeros(s: S, sum: S::I, words: S::I) -> S::I;
    /// One vector of words of some vectors of integers.
    fn join(s: S, integers: [S::I; 4]) -> S::I;
    /// # Safety
    /// [`LANES`](Simd::LANES) integers at `to` can be written.
    unsafe fn store(s: S, x: S::I, to: *mut u32);
    /// The same, of integers that may be negative.
    ///
    /// # Safety
    /// As for [`store`](Self::store).
    unsafe fn store_signed(s: S, x: S::I, to: *mut u32);
    /// Writes weights of four vectors. Returns `sum` plus these weights, spread over the lanes.
    ///
    /// # Safety
    /// Four vectors of integers at `to` can be written.
    unsafe fn weights(s: S, powers: [S::V; 4], dither: S::Dither, sum: S::I, to: *mut u32) -> S::I;
}

impl<S: Simd> Rounding<S> for Bytes {
    const EACH: usize = 4;
    const QUERY_ZERO: f32 = 128.0;
    const KEY_LEVELS: f32 = 127.0;
    const CHUNK: usize = usize::MAX;
    const VALUE_LEVELS: f32 = 127.0;
    const POWERS: (f32, f32) = (-32.0, 0.0);

    #[inline(always)]
    fn zeros(s: S, sum: S::I, words: S::I) -> S::I {
        s.dot8(sum, s.splat_int(i32::from_ne_bytes([128; 4])), words)
    }

    #[inline(always)]
    fn join(s: S, integers: [S::I; 4]) -> S::I {
        s.join_bytes(integers)
    }

    #[inline(always)]
    unsafe fn store(s: S, x: S::I, to: *mut u32) {
        // SAFETY: the caller's.
        unsafe { s.store_bytes(x, to.cast()) }
    }

    #[inline(always)]
    unsafe fn store_signed(s: S, x: S::I, to: *mut u32) {
        // SAFETY: the caller's.
        unsafe { s.store_low_bytes(x, to.cast()) }
    }

    #[inline(always)]
    unsafe fn weights(s: S, powers: [S::V; 4], dither: S::Dither, sum: S::I, to: *mut u32) -> S::I {
        let weights = s.powers_as_bytes(powers, dither);
        // SAFETY: the caller's: four vectors of integers are one of words.
        unsafe { s.store_int(weights, to.cast()) };
        s.dot8(sum, weights, s.splat_int(i32::from_ne_bytes([1; 4])))
    }
}

/// 128 products of queries and keys fit into 32 bits, and so do [`CHUNK`](Rounding::CHUNK) products of a value with the
/// largest weight, which is rounded up at most by one.
impl<S: Simd> Rounding<S> for Halves {
    const EACH: usize = 2;
    const QUERY_ZERO: f32 = 0.0;
    const KEY_LEVELS: f32 = 4095.0;
    const CHUNK: usize = 128;
    const VALUE_LEVELS: f32 = 2047.0;
    // The largest weight has 13 bits.
    const POWERS: (f32, f32) = (1.0, 13.0);

    #[inline(always)]
    fn zeros(_s: S, sum: S::I, _words: S::I) -> S::I {
        sum
    }

    #[inline(always)]
    fn join(s: S, integers: [S::I; 4]) -> S::I {
        s.join_halves([integers[0], integers[1]])
    }

    #[inline(always)]
    unsafe fn store(s: S, x: S::I, to: *mut u32) {
        // SAFETY: the caller's.
        unsafe { s.store_halves(x, to.cast()) }
    }

    #[inline(always)]
    unsafe fn store_signed(s: S, x: S::I, to: *mut u32) {
        // SAFETY: the caller's.
        unsafe { s.store_halves(x, to.cast()) }
    }

    #[inline(always)]
    unsafe fn weights(s: S, powers: [S::V; 4], _dither: S::Dither, mut sum: S::I, to: *mut u32) -> S::I {
        for (index, power) in powers.into_iter().enumerate() {
            let weight = s.to_int(s.rough_exp2(power, &EXP2_OF_DEGREE_3));
            // SAFETY: the caller's.
            unsafe { s.store_halves(weight, to.cast::<i16>().add(index * S::LANES)) };
            sum = s.add_int(sum, weight);
        }
        sum
    }
}

/// Attention with integers, for heads that they fit.
#[inline(always)]
pub(super) fn attend_integers<S: Simd>(s: S, it: Attention<'_>) {
    if has_bytes::<S>() {
        attend_rounded::<S, Bytes>(s, it);
    } else {
        attend_rounded::<S, Halves>(s, it);
    }
}

#[inline(always)]
fn attend_rounded<S: Simd, R: Rounding<S>>(s: S, mut it: Attention<'_>) {
    assert!(fits_integers(it.heads));
    it.check();
    let panel = PANEL_VECTORS * S::LANES;
    let Heads { heads, key_heads, key_width, value_width, .. } = *it.heads;
    let points = it.points();
    let width = key_width.next_multiple_of(NUMBER_ALIGN);
    // Words of a query.
    let inner = width / R::EACH;
    let padded = points.next_multiple_of(panel.max(NUMBER_ALIGN));
    // Words of the weights of all points, which are computed four vectors at a time.
    let words = padded.next_multiple_of(4 * S::LANES) / R::EACH;
    let values_width = value_width.next_multiple_of(panel);
    let rows = points.next_multiple_of(ROW_ALIGN);
    let mut memory = std::mem::take(it.memory);
    let keys = memory.keys.at_least(padded * inner);
    let key_scales = memory.key_scales.at_least(padded);
    let key_offsets = memory.key_offsets.at_least(padded);
    let values = memory.values.at_least(words * values_width);
    let value_scales = memory.value_scales.at_least(3 * values_width);
    let (value_means, value_scales) = value_scales.split_at_mut(values_width);
    // Values of all channels need as much memory as queries or keys.
    let turned = memory.turned.at_least(padded * width.max(values_width));
    let queries = memory.queries.at_least(rows.max(padded) * inner);
    let query_scales = memory.query_scales.at_least(rows + BLOCK);
    let (query_scales, scales) = query_scales.split_at_mut(rows);
    let logits = memory.logits.at_least(BLOCK * padded);
    let most = memory.most.at_least(BLOCK * S::LANES);
    let weights = memory.weights.at_least(BLOCK * words);
    let seen = memory.seen.at_least(BLOCK * values_width);
    // What fills up a block may be anything that other products have left, which need not be as small.
    queries.fill(0);
    weights.fill(0);
    // Softmax by powers of two.
    let factor = std::f32::consts::LOG2_E / (key_width as f32).sqrt();
    for key_head in 0..key_heads {
        if width > key_width {
            turned.fill(0.0);
        }
        turn(s, &it, ((heads + key_head) * key_width, key_head), 1.0, (turned, width));
        without_means(s, &mut turned[..points * width], width);
        let round = Rounded { to: &mut *queries, scales: &mut *key_scales, factor: 1.0, zero: 0.0 };
        round_rows::<S, R>(s, &turned[..points * width], width, round);
        pack_keys::<S, R>(s, (points, padded), (queries, inner), keys, (key_scales, key_offsets));
        let first = (heads + key_heads) * key_width + key_head * value_width;
        if values_width > value_width {
            turned.fill(0.0);
        }
        for point in 0..points {
            let from = &it.from[point * it.stride + first..][..value_width];
            fetch_ahead(s, from, it.stride);
            copy(s, from, &mut turned[point * values_width..][..value_width]);
        }
        pack_values::<S, R>(s, (points, padded), (turned, values_width), values, (value_means, value_scales));
        let sharing = heads / key_heads;
        for head in key_head * sharing..(key_head + 1) * sharing {
            turn(s, &it, (head * key_width, key_head), 1.0, (turned, width));
            if width > key_width {
                turned.chunks_exact_mut(width).take(points).for_each(|query| query[key_width..].fill(0.0));
            }
            let zero = R::QUERY_ZERO;
            let round = Rounded { to: &mut *queries, scales: &mut *query_scales, factor, zero };
            round_rows::<S, R>(s, &turned[..points * width], width, round);
            queries[points * inner..rows * inner].fill(0);
            let mut row = 0;
            while row < points {
                let rows = BLOCK.min(points - row);
                let products = Factors {
                    rows,
                    a: &queries[row * inner..],
                    starts: Apart(inner),
                    pieces: &[0],
                    inner,
                    outer: padded,
                    b: keys,
                };
                let ending = BlockEnding::Logits { offsets: key_offsets, columns: key_scales, most };
                (it.product)(BlockProduct { factors: products, to: logits, ending });
                for index in 0..rows {
                    let most = s.reduce_max(s.load(&most[index * S::LANES..]));
                    let logits = &logits[index * padded..][..padded];
                    let weights = &mut weights[index * words..][..words];
                    let scale = query_scales[row + index];
                    let sum = integer_weights::<S, R>(s, logits, most, scale, (row + index, weights));
                    scales[index] = 1.0 / sum as f32;
                }
                for chunk in (0..padded).step_by(R::CHUNK) {
                    let size = R::CHUNK.min(padded - chunk);
                    let sums = Factors {
                        rows,
                        a: &weights[chunk / R::EACH..],
                        starts: Apart(words),
                        pieces: &[0],
                        inner: size / R::EACH,
                        outer: values_width,
                        b: &values[chunk / R::EACH * values_width..],
                    };
                    let is_first = chunk == 0;
                    let ending = BlockEnding::Seen {
                        columns: value_scales,
                        rows: scales,
                        means: value_means,
                        is_first,
                    };
                    (it.product)(BlockProduct { factors: sums, to: seen, ending });
                }
                write_seen(s, &mut it, (row, rows), head, seen);
                row += rows;
            }
        }
    }
    *it.memory = memory;
}

/// Takes from every row, of so many numbers, the mean of all rows.
#[inline(always)]
fn without_means<S: Simd>(s: S, rows: &mut [f32], width: usize) {
    let count = rows.len() / width;
    let part = s.splat(-1.0 / count as f32);
    for column in (0..width).step_by(S::LANES) {
        let mut sum = s.splat(0.0);
        for row in 0..count {
            sum = s.add(sum, s.load(&rows[row * width + column..]));
        }
        for row in 0..count {
            let row = &mut rows[row * width + column..];
            s.store(s.mul_add(sum, part, s.load(row)), row);
        }
    }
}

/// Where rounded rows go.
struct Rounded<'r> {
    /// As many integers in a row.
    to: &'r mut [u32],
    /// Of each row, times `factor`.
    scales: &'r mut [f32],
    factor: f32,
    /// The integer that stands for zero.
    zero: f32,
}

/// Rounds rows of so many numbers, each with a scale of its own.
#[inline(always)]
fn round_rows<S: Simd, R: Rounding<S>>(s: S, rows: &[f32], width: usize, it: Rounded<'_>) {
    let zero = s.splat(it.zero);
    let words = width / R::EACH;
    let count = rows.len() / width;
    assert!(width.is_multiple_of(NUMBER_ALIGN) && it.to.len() >= count * words && it.scales.len() >= count);
    for row in 0..count {
        // SAFETY: there are so many rows, each of a multiple of whole vectors, and as many integers and scales.
        unsafe {
            let from = rows.as_ptr().add(row * width);
            let mut most = s.splat(0.0);
            for column in (0..width).step_by(S::LANES) {
                most = s.max(most, s.abs(s.load_unchecked(from.add(column))));
            }
            let most = s.reduce_max(most);
            // So that zeros have a scale, too, and what fills up rows of keys gets no weight.
            it.scales[row] = (most * (it.factor / R::KEY_LEVELS)).max(LEAST_SCALE);
            let inverse = s.splat(inverse(R::KEY_LEVELS, most));
            for column in (0..width).step_by(S::LANES) {
                let x = s.to_int(s.mul_add(s.load_unchecked(from.add(column)), inverse, zero));
                let to = it.to.as_mut_ptr().add(row * words + column / R::EACH);
                if it.zero > 0.0 {
                    R::store(s, x, to);
                } else {
                    R::store_signed(s, x, to);
                }
            }
        }
    }
}

/// No scale of a query is smaller.
const LEAST_SCALE: f32 = 1e-20;

/// The logit of points that are not there, before it is multiplied by the scale of a query.
const NOWHERE: f32 = -1e30;

/// Writes rounded keys, of so many words, in the order of a packed matrix, and finds with what the sums of their
/// columns begin. The scales of points that are not there are set.
#[inline(always)]
fn pack_keys<S: Simd, R: Rounding<S>>(
    s: S,
    (points, padded): (usize, usize),
    (rows, words): (&[u32], usize),
    keys: &mut [u32],
    (scales, offsets): (&mut [f32], &mut [i32]),
) {
    let panel = PANEL_VECTORS * S::LANES;
    for (index, keys) in keys[..padded * words].chunks_exact_mut(panel * words).enumerate() {
        let count = panel.min(points.saturating_sub(index * panel));
        if count < panel {
            keys.fill(0);
        }
        transpose(&rows[index * panel * words..][..count * words], words, keys, panel);
        for column in (0..panel).step_by(S::LANES) {
            let mut sum = s.splat_int(0);
            for row in keys.chunks_exact(panel) {
                // SAFETY: a whole vector.
                sum = R::zeros(s, sum, unsafe { s.load_int(row[column..][..S::LANES].as_ptr().cast()) });
            }
            let sum = s.sub_int(s.splat_int(0), sum);
            // SAFETY: a whole vector.
            unsafe { s.store_int(sum, offsets[index * panel + column..][..S::LANES].as_mut_ptr()) };
        }
    }
    scales[points..padded].fill(-NOWHERE);
    offsets[points..padded].fill(-1);
}

/// Writes rows of so many words as columns, `stride` words apart. Not inlined: with instructions for vectors, the compiler
/// would scatter words, which takes longer.
#[inline(never)]
fn transpose(rows: &[u32], words: usize, to: &mut [u32], stride: usize) {
    for (point, row) in rows.chunks_exact(words).enumerate() {
        for (to, word) in to[point..].iter_mut().step_by(stride).zip(row) {
            *to = *word;
        }
    }
}

/// Rounds values, `[point][channel]`, each channel with a scale of its own, and writes them in the order of packed
/// matrices, one for each chunk.
#[inline(always)]
fn pack_values<S: Simd, R: Rounding<S>>(
    s: S,
    (points, padded): (usize, usize),
    (rows, width): (&[f32], usize),
    values: &mut [u32],
    (means, scales): (&mut [f32], &mut [f32]),
) {
    let panel = PANEL_VECTORS * S::LANES;
    for column in (0..width).step_by(S::LANES) {
        let at = |point: usize| s.load(&rows[point * width + column..]);
        let mut sum = s.splat(0.0);
        for point in 0..points {
            sum = s.add(sum, at(point));
        }
        let mean = s.mul(sum, s.splat(1.0 / points as f32));
        let mut most = s.splat(LEAST_VALUE);
        for point in 0..points {
            most = s.max(most, s.abs(s.sub(at(point), mean)));
        }
        s.store(mean, &mut means[column..]);
        s.store(s.mul(most, s.splat(1.0 / R::VALUE_LEVELS)), &mut scales[column..]);
        let inverse = s.div(s.splat(R::VALUE_LEVELS), most);
        for chunk in (0..padded).step_by(R::CHUNK) {
            let size = R::CHUNK.min(padded - chunk);
            let start = chunk / R::EACH * width + column / panel * size / R::EACH * panel + column % panel;
            for word in 0..size / R::EACH {
                let first = chunk + word * R::EACH;
                let mut integers = [s.splat_int(0); 4];
                for (index, integer) in integers.iter_mut().enumerate().take(R::EACH) {
                    if first + index < points {
                        *integer = s.to_int(s.mul(s.sub(at(first + index), mean), inverse));
                    }
                }
                let to = values[start + word * panel..][..S::LANES].as_mut_ptr();
                // SAFETY: there is a whole vector.
                unsafe { s.store_int(R::join(s, integers), to.cast()) };
            }
        }
    }
}

/// Smaller values than this are zero.
const LEAST_VALUE: f32 = 1e-30;

fn inverse(levels: f32, most: f32) -> f32 {
    if most > LEAST_VALUE { levels / most } else { 0.0 }
}

/// Softmax of logits, of which this is the largest, times `scale`, as powers of two. Returns the sum of the weights. They are
/// written four vectors at a time: there is memory for the last four, also where fewer logits are left.
#[inline(always)]
fn integer_weights<S: Simd, R: Rounding<S>>(
    s: S,
    logits: &[f32],
    most: f32,
    scale: f32,
    (row, weights): (usize, &mut [u32]),
) -> i32 {
    let dither = s.dither(row);
    let (factor, first) = R::POWERS;
    let (factors, shift) = (s.splat(scale * factor), s.splat(first - most * scale * factor));
    let nothing = s.splat(NOWHERE * factor);
    let mut sum = s.splat_int(0);
    let (count, step) = (logits.len(), 4 * S::LANES);
    assert!(count.is_multiple_of(S::LANES) && weights.len() * R::EACH >= count.next_multiple_of(step));
    for first in (0..count).step_by(step) {
        // SAFETY: whole vectors of logits are left, or none; and there is memory for as many integers.
        sum = unsafe {
            let power = |index: usize| {
                let index = first + index * S::LANES;
                if index < count {
                    s.mul_add(s.load_unchecked(logits.as_ptr().add(index)), factors, shift)
                } else {
                    nothing
                }
            };
            let powers = [power(0), power(1), power(2), power(3)];
            R::weights(s, powers, dither, sum, weights.as_mut_ptr().add(first / R::EACH))
        };
    }
    s.reduce_add_int(sum)
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
                // The largest difference and the mean one. Where two keys are nearly as good, and the numbers large,
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
                    for (found, wanted) in found.zip(&wanted) {
                        let difference = (f64::from(*found) - wanted).abs();
                        assert!(difference <= tolerance * f64::from(size), "{}: {difference}", kernel.name());
                        sum += difference;
                    }
                    let most = mean * f64::from(size) * wanted.len() as f64;
                    assert!(sum <= most, "{}: {sum} of {}", kernel.name(), wanted.len());
                    assert!(to.chunks_exact(to_stride).all(|point| point[to_stride - 1].is_nan()));
                }
            }
        }
    }
}
