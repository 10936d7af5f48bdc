//! Attention in integers.

use super::super::product::{
    Bytes, Epilogue, Halves, ProductArgs, ROW_ALIGN, StridedRows, WordFormat, begin_at, product,
    times_columns,
};
use super::super::simd::{PANEL_VECTORS, Simd};
use super::rounding::{
    IntegerFormat, NUMBER_ALIGN, Rounded, integer_weights, pack_keys, pack_values, round_rows, without_means,
};
use super::{Attention, BLOCK, BlockOutput, BlockProduct, Heads, copy, fetch_ahead, turn, write_seen};

/// Returns whether attention with these heads can be computed in integers.
pub(in super::super) fn fits_integers(heads: &Heads) -> bool {
    heads.key_width <= WIDEST_KEY
}

/// Largest key width whose 16-bit products fit into 32 bits.
const WIDEST_KEY: usize = 128;

/// Returns whether products of bytes are exact.
const fn has_bytes<S: Simd>() -> bool {
    S::BYTE_SUMS.is_whole()
}

/// Computes the product of a block in integers.
#[inline(always)]
pub(in super::super) fn block_of_integers<S: Simd>(s: S, it: BlockProduct<'_>) {
    if has_bytes::<S>() {
        block_of_words::<S, Bytes>(s, it);
    } else {
        block_of_words::<S, Halves>(s, it);
    }
}

#[inline(always)]
fn block_of_words<S: Simd, T: WordFormat<S, Sum = S::I>>(s: S, it: BlockProduct<'_>) {
    let rows = it.factors.rows.next_multiple_of(ROW_ALIGN);
    let stride = it.factors.outer;
    assert!(it.to.len() >= rows * stride);
    let to = it.to.as_mut_ptr();
    match it.ending {
        BlockOutput::Logits { offsets, columns, most } => {
            assert!(offsets.len() >= stride && columns.len() >= stride && most.len() >= rows * S::LANES);
            let finish = Logits { offsets, columns, to, stride, most: most.as_mut_ptr() };
            // SAFETY: the target has memory for all rows and columns, as checked above.
            unsafe { product::<S, T, _, _>(s, it.factors, &finish) };
        }
        BlockOutput::Seen { columns, rows: scales, means, is_first } => {
            assert!(columns.len() >= stride && scales.len() >= rows && means.len() >= stride);
            let finish = AttendedFinish { columns, rows: scales, means, to, stride, is_first };
            // SAFETY: the target has memory for all rows and columns, as checked above.
            unsafe { product::<S, T, _, _>(s, it.factors, &finish) };
        }
        BlockOutput::Floats(_) => {}
    }
}

/// Ending that converts sums to logits.
struct Logits<'s> {
    offsets: &'s [i32],
    columns: &'s [f32],
    to: *mut f32,
    stride: usize,
    most: *mut f32,
}

impl<S: Simd> Epilogue<S, S::I> for Logits<'_> {
    #[inline(always)]
    unsafe fn begin(&self, s: S, column: usize) -> [S::I; PANEL_VECTORS] {
        // SAFETY: guaranteed by the caller; there are offsets for all columns.
        unsafe { begin_at(s, self.offsets, column) }
    }

    #[inline(always)]
    unsafe fn finish(&self, s: S, row: usize, column: usize, sums: [S::I; PANEL_VECTORS]) {
        // SAFETY: guaranteed by the caller; there are factors for all columns, and a vector of `most` for each row.
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

/// Ending that converts sums to attended values.
struct AttendedFinish<'s> {
    columns: &'s [f32],
    rows: &'s [f32],
    means: &'s [f32],
    to: *mut f32,
    stride: usize,
    is_first: bool,
}

impl<S: Simd> Epilogue<S, S::I> for AttendedFinish<'_> {
    #[inline(always)]
    unsafe fn begin(&self, s: S, _column: usize) -> [S::I; PANEL_VECTORS] {
        [s.splat_int(0); PANEL_VECTORS]
    }

    #[inline(always)]
    unsafe fn finish(&self, s: S, row: usize, column: usize, sums: [S::I; PANEL_VECTORS]) {
        // SAFETY: guaranteed by the caller; there are numbers for all columns and rows.
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

/// Computes the attention of a board in integers.
///
/// # Panics
///
/// Panics if [`fits_integers`] is false for the heads.
#[inline(always)]
pub(in super::super) fn attend_integers<S: Simd>(s: S, it: Attention<'_>) {
    if has_bytes::<S>() {
        attend_rounded::<S, Bytes>(s, it);
    } else {
        attend_rounded::<S, Halves>(s, it);
    }
}

#[inline(always)]
fn attend_rounded<S: Simd, R: IntegerFormat<S>>(s: S, mut it: Attention<'_>) {
    assert!(fits_integers(it.heads));
    it.check();
    let panel = PANEL_VECTORS * S::LANES;
    let Heads { heads, key_heads, key_width, value_width, .. } = *it.heads;
    let points = it.points();
    let width = key_width.next_multiple_of(NUMBER_ALIGN);
    // Number of words of a query.
    let inner = width / R::EACH;
    let padded = points.next_multiple_of(panel.max(NUMBER_ALIGN));
    // Number of words of the weights of all points, which are computed four vectors at a time.
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
    // All channels of the values need as much memory as queries or keys.
    let turned = memory.turned.at_least(padded * width.max(values_width));
    let queries = memory.queries.at_least(rows.max(padded) * inner);
    let query_scales = memory.query_scales.at_least(rows + BLOCK);
    let (query_scales, scales) = query_scales.split_at_mut(rows);
    let logits = memory.logits.at_least(BLOCK * padded);
    let most = memory.most.at_least(BLOCK * S::LANES);
    let weights = memory.weights.at_least(BLOCK * words);
    let seen = memory.seen.at_least(BLOCK * values_width);
    // The padding of a block may be left over from other products and need not be within the limits.
    queries.fill(0);
    weights.fill(0);
    // The softmax uses powers of two.
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
                let products = ProductArgs {
                    rows,
                    a: &queries[row * inner..],
                    starts: StridedRows(inner),
                    pieces: &[0],
                    inner,
                    outer: padded,
                    b: keys,
                };
                let ending = BlockOutput::Logits { offsets: key_offsets, columns: key_scales, most };
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
                    let sums = ProductArgs {
                        rows,
                        a: &weights[chunk / R::EACH..],
                        starts: StridedRows(words),
                        pieces: &[0],
                        inner: size / R::EACH,
                        outer: values_width,
                        b: &values[chunk / R::EACH * values_width..],
                    };
                    let is_first = chunk == 0;
                    let ending = BlockOutput::Seen {
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
