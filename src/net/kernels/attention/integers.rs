//! Attention in integers.

use super::super::product::{
    Bytes, Epilogue, Halves, ProductArgs, ROW_ALIGN, StridedRows, WordFormat, begin_at, product,
    times_columns,
};
use super::super::simd::{PANEL_VECTORS, Simd};
use super::rounding::{
    IntegerFormat, NUMBER_ALIGN, Rounded, integer_weights, pack_keys, pack_values, round_rows, without_means,
};
use super::{
    Attention, AttentionMemory, BLOCK, BlockOutput, BlockProduct, Heads, copy, fetch_ahead, rotate,
    write_attended,
};

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
    match it.output {
        BlockOutput::Logits { offsets, columns, most } => {
            assert!(offsets.len() >= stride && columns.len() >= stride && most.len() >= rows * S::LANES);
            let epilogue = Logits { offsets, columns, to, stride, most: most.as_mut_ptr() };
            // SAFETY: the target has memory for all rows and columns, as checked above.
            unsafe { product::<S, T, _, _>(s, it.factors, &epilogue) };
        }
        BlockOutput::Attended { columns, rows: scales, means, is_first } => {
            assert!(columns.len() >= stride && scales.len() >= rows && means.len() >= stride);
            let epilogue = AttendedEpilogue { columns, rows: scales, means, to, stride, is_first };
            // SAFETY: the target has memory for all rows and columns, as checked above.
            unsafe { product::<S, T, _, _>(s, it.factors, &epilogue) };
        }
        BlockOutput::Floats(_) => {}
    }
}

/// Epilogue that converts sums to logits.
struct Logits<'s> {
    offsets: &'s [i32],
    columns: &'s [f32],
    to: *mut f32,
    stride: usize,
    most: *mut f32,
}

impl<S: Simd> Epilogue<S, S::I> for Logits<'_> {
    #[inline(always)]
    fn check(&self, columns: usize) {
        assert!(self.offsets.len() >= columns && self.columns.len() >= columns);
    }

    #[inline(always)]
    unsafe fn begin(&self, s: S, column: usize) -> [S::I; PANEL_VECTORS] {
        // SAFETY: guaranteed by the caller; `check` has verified that there are offsets for all columns.
        unsafe { begin_at(s, self.offsets, column) }
    }

    #[inline(always)]
    unsafe fn finish(&self, s: S, row: usize, column: usize, sums: [S::I; PANEL_VECTORS]) {
        // SAFETY: guaranteed by the caller, which has a vector of `most` for each row; `check` has verified that there
        // are factors for all columns.
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

/// Epilogue that converts sums to attended values.
struct AttendedEpilogue<'s> {
    columns: &'s [f32],
    rows: &'s [f32],
    means: &'s [f32],
    to: *mut f32,
    stride: usize,
    is_first: bool,
}

impl<S: Simd> Epilogue<S, S::I> for AttendedEpilogue<'_> {
    #[inline(always)]
    fn check(&self, columns: usize) {
        assert!(self.columns.len() >= columns && self.means.len() >= columns);
    }

    #[inline(always)]
    unsafe fn begin(&self, s: S, _column: usize) -> [S::I; PANEL_VECTORS] {
        [s.splat_int(0); PANEL_VECTORS]
    }

    #[inline(always)]
    unsafe fn finish(&self, s: S, row: usize, column: usize, sums: [S::I; PANEL_VECTORS]) {
        // SAFETY: guaranteed by the caller; `check` has verified that there are numbers for all columns.
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

/// Sizes of the buffers, padded for the kernel.
#[derive(Clone, Copy)]
struct Sizes {
    points: usize,
    /// Points, padded to whole columns of keys.
    padded: usize,
    /// Rows of queries, padded to whole blocks of the product.
    rows: usize,
    /// Channels of a query or key.
    width: usize,
    /// Words of a query or key.
    inner: usize,
    /// Channels of a value.
    values_width: usize,
    /// Words of the weights of all points, which are computed four vectors at a time.
    words: usize,
}

impl Sizes {
    #[inline(always)]
    fn new<S: Simd, R: IntegerFormat<S>>(points: usize, heads: &Heads) -> Sizes {
        let panel = PANEL_VECTORS * S::LANES;
        let width = heads.key_width.next_multiple_of(NUMBER_ALIGN);
        let padded = points.next_multiple_of(panel.max(NUMBER_ALIGN));
        Sizes {
            points,
            padded,
            rows: points.next_multiple_of(ROW_ALIGN),
            width,
            inner: width / R::EACH,
            values_width: heads.value_width.next_multiple_of(panel),
            words: padded.next_multiple_of(4 * S::LANES) / R::EACH,
        }
    }
}

/// Buffers of the attention of one board, cut to their [`Sizes`].
struct Workspace<'m> {
    /// Channels of all points before they are rounded: keys, values or queries.
    rotated: &'m mut [f32],
    /// Words of the rows of keys, and then of queries.
    queries: &'m mut [u32],
    query_scales: &'m mut [f32],
    keys: &'m mut [u32],
    key_scales: &'m mut [f32],
    key_offsets: &'m mut [i32],
    values: &'m mut [u32],
    value_means: &'m mut [f32],
    value_scales: &'m mut [f32],
    logits: &'m mut [f32],
    most: &'m mut [f32],
    weights: &'m mut [u32],
    /// Inverse sums of the weights of each row of a block.
    weight_scales: &'m mut [f32],
    attended: &'m mut [f32],
}

impl Workspace<'_> {
    #[inline(always)]
    fn new<S: Simd>(memory: &mut AttentionMemory, sizes: Sizes) -> Workspace<'_> {
        let Sizes { padded, rows, width, inner, values_width, words, .. } = sizes;
        let (value_means, value_scales) =
            memory.value_scales.at_least(2 * values_width).split_at_mut(values_width);
        let (query_scales, weight_scales) = memory.query_scales.at_least(rows + BLOCK).split_at_mut(rows);
        let queries = memory.queries.at_least(rows.max(padded) * inner);
        let weights = memory.weights.at_least(BLOCK * words);
        // The padding of a block may be left over from other products and need not be within the limits.
        queries.fill(0);
        weights.fill(0);
        Workspace {
            // All channels of the values need as much memory as queries or keys.
            rotated: memory.rotated.at_least(padded * width.max(values_width)),
            queries,
            query_scales,
            keys: memory.keys.at_least(padded * inner),
            key_scales: memory.key_scales.at_least(padded),
            key_offsets: memory.key_offsets.at_least(padded),
            values: memory.values.at_least(words * values_width),
            value_means,
            value_scales,
            logits: memory.logits.at_least(BLOCK * padded),
            most: memory.most.at_least(BLOCK * S::LANES),
            weights,
            weight_scales,
            attended: memory.attended.at_least(BLOCK * values_width),
        }
    }
}

#[inline(always)]
fn attend_rounded<S: Simd, R: IntegerFormat<S>>(s: S, mut it: Attention<'_>) {
    assert!(fits_integers(it.heads));
    it.check();
    let sizes = Sizes::new::<S, R>(it.points(), it.heads);
    let mut memory = std::mem::take(it.memory);
    let mut work = Workspace::new::<S>(&mut memory, sizes);
    let sharing = it.heads.heads / it.heads.key_heads;
    for key_head in 0..it.heads.key_heads {
        round_keys::<S, R>(s, &it, sizes, &mut work, key_head);
        round_values::<S, R>(s, &it, sizes, &mut work, key_head);
        for head in key_head * sharing..(key_head + 1) * sharing {
            round_queries::<S, R>(s, &it, sizes, &mut work, (head, key_head));
            let mut row = 0;
            while row < sizes.points {
                let rows = BLOCK.min(sizes.points - row);
                weigh_block::<S, R>(s, &it, sizes, &mut work, (row, rows));
                sum_block::<S, R>(&it, sizes, &mut work, rows);
                write_attended(s, &mut it, (row, rows), head, work.attended);
                row += rows;
            }
        }
    }
    *it.memory = memory;
}

/// Rotates, rounds and packs the keys of a head.
#[inline(always)]
fn round_keys<S: Simd, R: IntegerFormat<S>>(
    s: S,
    it: &Attention<'_>,
    sizes: Sizes,
    work: &mut Workspace<'_>,
    key_head: usize,
) {
    let Sizes { points, padded, width, inner, .. } = sizes;
    let Heads { heads, key_width, .. } = *it.heads;
    if width > key_width {
        work.rotated.fill(0.0);
    }
    rotate(s, it, ((heads + key_head) * key_width, key_head), 1.0, (work.rotated, width));
    let rotated = &mut work.rotated[..points * width];
    without_means(s, rotated, width);
    let round = Rounded { to: work.queries, scales: work.key_scales, factor: 1.0, zero: 0.0 };
    round_rows::<S, R>(s, rotated, width, round);
    let rows = (&*work.queries, inner);
    pack_keys::<S, R>(s, (points, padded), rows, work.keys, (work.key_scales, work.key_offsets));
}

/// Rounds and packs the values of a head.
#[inline(always)]
fn round_values<S: Simd, R: IntegerFormat<S>>(
    s: S,
    it: &Attention<'_>,
    sizes: Sizes,
    work: &mut Workspace<'_>,
    key_head: usize,
) {
    let Sizes { points, padded, values_width, .. } = sizes;
    let Heads { heads, key_heads, key_width, value_width, .. } = *it.heads;
    let first = (heads + key_heads) * key_width + key_head * value_width;
    if values_width > value_width {
        work.rotated.fill(0.0);
    }
    for point in 0..points {
        let from = &it.from[point * it.stride + first..][..value_width];
        fetch_ahead(s, from, it.stride);
        copy(s, from, &mut work.rotated[point * values_width..][..value_width]);
    }
    let scales = (&mut *work.value_means, &mut *work.value_scales);
    pack_values::<S, R>(s, (points, padded), (work.rotated, values_width), work.values, scales);
}

/// Rotates and rounds the queries of a head.
#[inline(always)]
fn round_queries<S: Simd, R: IntegerFormat<S>>(
    s: S,
    it: &Attention<'_>,
    sizes: Sizes,
    work: &mut Workspace<'_>,
    (head, key_head): (usize, usize),
) {
    let Sizes { points, rows, width, inner, .. } = sizes;
    let key_width = it.heads.key_width;
    rotate(s, it, (head * key_width, key_head), 1.0, (work.rotated, width));
    if width > key_width {
        work.rotated.chunks_exact_mut(width).take(points).for_each(|query| query[key_width..].fill(0.0));
    }
    // The softmax uses powers of two.
    let factor = std::f32::consts::LOG2_E / (key_width as f32).sqrt();
    let round = Rounded { to: work.queries, scales: work.query_scales, factor, zero: R::QUERY_ZERO };
    round_rows::<S, R>(s, &work.rotated[..points * width], width, round);
    work.queries[points * inner..rows * inner].fill(0);
}

/// Computes the weights of all points for some rows of queries.
#[inline(always)]
fn weigh_block<S: Simd, R: IntegerFormat<S>>(
    s: S,
    it: &Attention<'_>,
    sizes: Sizes,
    work: &mut Workspace<'_>,
    (row, rows): (usize, usize),
) {
    let Sizes { padded, inner, words, .. } = sizes;
    let factors = ProductArgs {
        rows,
        a: &work.queries[row * inner..],
        starts: StridedRows(inner),
        pieces: &[0],
        inner,
        outer: padded,
        b: work.keys,
    };
    let output = BlockOutput::Logits { offsets: work.key_offsets, columns: work.key_scales, most: work.most };
    (it.product)(BlockProduct { factors, to: work.logits, output });
    for index in 0..rows {
        let most = s.reduce_max(s.load(&work.most[index * S::LANES..]));
        let logits = &work.logits[index * padded..][..padded];
        let weights = &mut work.weights[index * words..][..words];
        let scale = work.query_scales[row + index];
        let sum = integer_weights::<S, R>(s, logits, most, scale, (row + index, weights));
        work.weight_scales[index] = 1.0 / sum as f32;
    }
}

/// Computes the means of the values with the weights of some rows.
#[inline(always)]
fn sum_block<S: Simd, R: IntegerFormat<S>>(
    it: &Attention<'_>,
    sizes: Sizes,
    work: &mut Workspace<'_>,
    rows: usize,
) {
    let Sizes { padded, words, values_width, .. } = sizes;
    for chunk in (0..padded).step_by(R::CHUNK) {
        let size = R::CHUNK.min(padded - chunk);
        let factors = ProductArgs {
            rows,
            a: &work.weights[chunk / R::EACH..],
            starts: StridedRows(words),
            pieces: &[0],
            inner: size / R::EACH,
            outer: values_width,
            b: &work.values[chunk / R::EACH * values_width..],
        };
        let output = BlockOutput::Attended {
            columns: work.value_scales,
            rows: work.weight_scales,
            means: work.value_means,
            is_first: chunk == 0,
        };
        (it.product)(BlockProduct { factors, to: work.attended, output });
    }
}
