//! Queries, keys, values and weights as integers.
//!
//! They are rounded to 8 bits where the processor multiplies bytes without loss ([`Bytes`]), and otherwise to 12 to 14
//! bits, of which products add up pairs ([`Halves`]). Each query and each key has a scale of its own, and so has each channel of the values. What all keys of a head have in common is taken
//! away first: it adds the same to all products of a query, which softmax does not see. What all values have in common
//! is taken away, too, and added to what is seen, because weights sum up to one. Less is left to round then.
//!
//! CITE: for what keys have in common, Zhang et al., "SageAttention" (2024).

use super::super::product::{Bytes, Halves, Terms, WORD_ALIGN};
use super::super::simd::{EXP2_OF_DEGREE_3, PANEL_VECTORS, Simd};

/// Numbers that queries and keys, and points, are filled up to a multiple of: what products take at a time, and the widest vector.
pub(super) const NUMBER_ALIGN: usize = 4 * WORD_ALIGN;

/// To which integers numbers are rounded.
pub(super) trait Rounding<S: Simd>: Terms<S, Sum = S::I> {
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

/// Takes from every row, of so many numbers, the mean of all rows.
#[inline(always)]
pub(super) fn without_means<S: Simd>(s: S, rows: &mut [f32], width: usize) {
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
pub(super) struct Rounded<'r> {
    /// As many integers in a row.
    pub(super) to: &'r mut [u32],
    /// Of each row, times `factor`.
    pub(super) scales: &'r mut [f32],
    pub(super) factor: f32,
    /// The integer that stands for zero.
    pub(super) zero: f32,
}

/// Rounds rows of so many numbers, each with a scale of its own.
#[inline(always)]
pub(super) fn round_rows<S: Simd, R: Rounding<S>>(s: S, rows: &[f32], width: usize, it: Rounded<'_>) {
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
pub(super) fn pack_keys<S: Simd, R: Rounding<S>>(
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
pub(super) fn pack_values<S: Simd, R: Rounding<S>>(
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
pub(super) fn integer_weights<S: Simd, R: Rounding<S>>(
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
