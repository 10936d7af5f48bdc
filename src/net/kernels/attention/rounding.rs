//! Conversion of queries, keys, values and weights to integers.
//!
//! They are rounded to 8 bits where the processor multiplies bytes exactly ([`Bytes`]). Otherwise they are rounded to
//! 12 to 14 bits, whose products are summed in pairs ([`Halves`]). Each query, each key and each channel of the values
//! has its own scale. To leave less to round, two means are subtracted first. The mean of all keys of a head adds the
//! same number to all products of a query, which does not affect the softmax. The mean of all values is added to the
//! result again, because the weights sum to one.
//!
//! CITE: for the mean of the keys, Zhang et al., "SageAttention" (2024).

use super::super::product::{Bytes, Halves, WORD_ALIGN, WordFormat};
use super::super::simd::{EXP2_OF_DEGREE_3, PANEL_VECTORS, Simd};

/// Alignment of the number of channels of queries and keys, and of the number of points. It covers the step of products
/// and the widest vector.
pub(super) const NUMBER_ALIGN: usize = 4 * WORD_ALIGN;

/// Integer format of attention.
pub(super) trait IntegerFormat<S: Simd>: WordFormat<S, Sum = S::I> {
    /// Number of integers in a word.
    const EACH: usize;
    /// Integer that represents zero in queries.
    const QUERY_ZERO: f32;
    /// Largest magnitude of the integers of queries and keys.
    const KEY_LEVELS: f32;
    /// Number of values whose products with weights are summed in 32 bits.
    const CHUNK: usize;
    /// Largest magnitude of the integers of values.
    const VALUE_LEVELS: f32;
    /// Factor and offset that convert differences of logits from the maximum, in powers of two, to the argument of
    /// [`weights`](Self::weights).
    const POWERS: (f32, f32);

    /// Adds to `sum`, for each lane, the sum of the integers in `words` times the integer that represents zero in
    /// queries.
    fn zeros(s: S, sum: S::I, words: S::I) -> S::I;
    /// Joins vectors of integers into one vector of words.
    fn join(s: S, integers: [S::I; 4]) -> S::I;
    /// Stores the lanes, which must not be negative, as integers of this format.
    ///
    /// # Safety
    ///
    /// [`LANES`](Simd::LANES) integers must be writable at `to`.
    unsafe fn store(s: S, x: S::I, to: *mut u32);
    /// Stores the lanes, which may be negative, as integers of this format.
    ///
    /// # Safety
    ///
    /// [`LANES`](Simd::LANES) integers must be writable at `to`.
    unsafe fn store_signed(s: S, x: S::I, to: *mut u32);
    /// Writes the weights of four vectors. Returns `sum` plus these weights, spread over the lanes.
    ///
    /// # Safety
    ///
    /// Four vectors of integers must be writable at `to`.
    unsafe fn weights(s: S, powers: [S::V; 4], dither: S::Dither, sum: S::I, to: *mut u32) -> S::I;
}

impl<S: Simd> IntegerFormat<S> for Bytes {
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
        // SAFETY: guaranteed by the caller.
        unsafe { s.store_bytes(x, to.cast()) }
    }

    #[inline(always)]
    unsafe fn store_signed(s: S, x: S::I, to: *mut u32) {
        // SAFETY: guaranteed by the caller.
        unsafe { s.store_low_bytes(x, to.cast()) }
    }

    #[inline(always)]
    unsafe fn weights(s: S, powers: [S::V; 4], dither: S::Dither, sum: S::I, to: *mut u32) -> S::I {
        let weights = s.powers_as_bytes(powers, dither);
        // SAFETY: guaranteed by the caller, because four vectors of integers are one vector of words.
        unsafe { s.store_int(weights, to.cast()) };
        s.dot8(sum, weights, s.splat_int(i32::from_ne_bytes([1; 4])))
    }
}

/// 128 products of queries and keys fit into 32 bits. So do [`CHUNK`](IntegerFormat::CHUNK) products of a value with
/// the largest weight, which rounding increases by one at most.
impl<S: Simd> IntegerFormat<S> for Halves {
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
        // SAFETY: guaranteed by the caller.
        unsafe { s.store_halves(x, to.cast()) }
    }

    #[inline(always)]
    unsafe fn store_signed(s: S, x: S::I, to: *mut u32) {
        // SAFETY: guaranteed by the caller.
        unsafe { s.store_halves(x, to.cast()) }
    }

    #[inline(always)]
    unsafe fn weights(s: S, powers: [S::V; 4], _dither: S::Dither, mut sum: S::I, to: *mut u32) -> S::I {
        for (index, power) in powers.into_iter().enumerate() {
            let weight = s.to_int(s.rough_exp2(power, &EXP2_OF_DEGREE_3));
            // SAFETY: guaranteed by the caller.
            unsafe { s.store_halves(weight, to.cast::<i16>().add(index * S::LANES)) };
            sum = s.add_int(sum, weight);
        }
        sum
    }
}

/// Subtracts the mean of all rows from every row. A row has `width` numbers.
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

/// Target of rounded rows.
pub(super) struct Rounded<'r> {
    /// Integers, with as many per row as the row has numbers.
    pub(super) to: &'r mut [u32],
    /// Scale of each row, times `factor`.
    pub(super) scales: &'r mut [f32],
    pub(super) factor: f32,
    /// Integer that represents zero.
    pub(super) zero: f32,
}

/// Rounds rows of `width` numbers, each with its own scale.
#[inline(always)]
pub(super) fn round_rows<S: Simd, R: IntegerFormat<S>>(s: S, rows: &[f32], width: usize, it: Rounded<'_>) {
    let zero = s.splat(it.zero);
    let words = width / R::EACH;
    let count = rows.len() / width;
    assert!(width.is_multiple_of(NUMBER_ALIGN) && it.to.len() >= count * words && it.scales.len() >= count);
    for row in 0..count {
        // SAFETY: there are `count` rows, each a multiple of whole vectors, and there is memory for as many integers
        // and scales.
        unsafe {
            let from = rows.as_ptr().add(row * width);
            let mut most = s.splat(0.0);
            for column in (0..width).step_by(S::LANES) {
                most = s.max(most, s.abs(s.load_unchecked(from.add(column))));
            }
            let most = s.reduce_max(most);
            // Zeros need a positive scale, too, so that the padding of keys gets no weight.
            it.scales[row] = (most * (it.factor / R::KEY_LEVELS)).max(MIN_SCALE);
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

/// Smallest scale of a query or key.
const MIN_SCALE: f32 = 1e-20;

/// Logit of padding points, before it is multiplied by the scale of a query.
const PADDING_LOGIT: f32 = -1e30;

/// Packs rounded keys of `words` words into a matrix, and computes the initial values of the sums of its columns. Also
/// sets the scales of the padding points.
#[inline(always)]
pub(super) fn pack_keys<S: Simd, R: IntegerFormat<S>>(
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
                // SAFETY: the slice is a whole vector.
                sum = R::zeros(s, sum, unsafe { s.load_int(row[column..][..S::LANES].as_ptr().cast()) });
            }
            let sum = s.sub_int(s.splat_int(0), sum);
            // SAFETY: the slice is a whole vector.
            unsafe { s.store_int(sum, offsets[index * panel + column..][..S::LANES].as_mut_ptr()) };
        }
    }
    scales[points..padded].fill(-PADDING_LOGIT);
    offsets[points..padded].fill(-1);
}

/// Writes rows of `words` words as columns, `stride` words apart. It is not inlined, because with vector instructions
/// the compiler would scatter words, which is slower.
#[inline(never)]
fn transpose(rows: &[u32], words: usize, to: &mut [u32], stride: usize) {
    for (point, row) in rows.chunks_exact(words).enumerate() {
        for (to, word) in to[point..].iter_mut().step_by(stride).zip(row) {
            *to = *word;
        }
    }
}

/// Rounds values of shape `[points][channels]`, with a scale per channel, and writes them as packed matrices, one for
/// each chunk.
#[inline(always)]
pub(super) fn pack_values<S: Simd, R: IntegerFormat<S>>(
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
        let mut most = s.splat(MIN_VALUE);
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
                // SAFETY: the slice is a whole vector.
                unsafe { s.store_int(R::join(s, integers), to.cast()) };
            }
        }
    }
}

/// Smallest magnitude of values that are not rounded to zero.
const MIN_VALUE: f32 = 1e-30;

fn inverse(levels: f32, most: f32) -> f32 {
    if most > MIN_VALUE { levels / most } else { 0.0 }
}

/// Computes the softmax of `logits` times `scale`, in powers of two. `most` is the largest of the logits. Returns the
/// sum of the weights. The weights are written four vectors at a time, so there must be memory for a multiple of four
/// vectors.
#[inline(always)]
pub(super) fn integer_weights<S: Simd, R: IntegerFormat<S>>(
    s: S,
    logits: &[f32],
    most: f32,
    scale: f32,
    (row, weights): (usize, &mut [u32]),
) -> i32 {
    let dither = s.dither(row);
    let (factor, first) = R::POWERS;
    let (factors, shift) = (s.splat(scale * factor), s.splat(first - most * scale * factor));
    let nothing = s.splat(PADDING_LOGIT * factor);
    let mut sum = s.splat_int(0);
    let (count, step) = (logits.len(), 4 * S::LANES);
    assert!(count.is_multiple_of(S::LANES) && weights.len() * R::EACH >= count.next_multiple_of(step));
    for first in (0..count).step_by(step) {
        // SAFETY: only whole vectors of logits are read, and there is memory for four vectors of integers.
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
