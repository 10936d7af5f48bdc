//! Attention in `f32`.

use super::super::product::{
    FloatWords, Overwrite, ProductArgs, ROW_ALIGN, Scaled, StridedRows, Target, WORD_ALIGN, product,
};
use super::super::simd::{PANEL_VECTORS, Simd};
use super::{Attention, BLOCK, BlockOutput, BlockProduct, Heads, rotate, write_attended};

/// Computes the product of a block in `f32`.
#[inline(always)]
pub(in super::super) fn block_of_floats<S: Simd>(s: S, it: BlockProduct<'_>) {
    let rows = it.factors.rows.next_multiple_of(ROW_ALIGN);
    assert!(it.to.len() >= rows * it.factors.outer);
    let BlockOutput::Floats(scales) = it.output else { return };
    assert!(scales.is_none_or(|scales| scales.len() >= rows));
    let target = Target { to: it.to.as_mut_ptr(), stride: it.factors.outer };
    let epilogue = Scaled { rows: scales, to: Overwrite(target) };
    // SAFETY: the target has memory for all rows and columns, as checked above.
    unsafe { product::<S, FloatWords, _, _>(s, it.factors, &epilogue) };
}

/// Computes the attention of a board in `f32`.
#[inline(always)]
pub(in super::super) fn attend_floats<S: Simd>(s: S, mut it: Attention<'_>) {
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
    let queries = memory.rotated.at_least(points.next_multiple_of(ROW_ALIGN) * inner);
    // The padding must be zero.
    queries.fill(0.0);
    let rotated = memory.rotated_keys.at_least(points * key_width);
    let logits = memory.logits.at_least(BLOCK * padded);
    let attended = memory.attended.at_least(BLOCK * values_width);
    let scales = memory.query_scales.at_least(BLOCK);
    let factor = 1.0 / (key_width as f32).sqrt();
    for key_head in 0..key_heads {
        rotate(s, &it, ((heads + key_head) * key_width, key_head), 1.0, (rotated, key_width));
        keys.fill(0);
        for (point, key) in rotated.chunks_exact(key_width).enumerate() {
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
            rotate(s, &it, (head * key_width, key_head), factor, (queries, inner));
            let mut row = 0;
            while row < points {
                let rows = BLOCK.min(points - row);
                let products = ProductArgs {
                    rows,
                    a: bytemuck::cast_slice(&queries[row * inner..]),
                    starts: StridedRows(inner),
                    pieces: &[0],
                    inner,
                    outer: padded,
                    b: keys,
                };
                let to = &mut *logits;
                (it.product)(BlockProduct { factors: products, to, output: BlockOutput::Floats(None) });
                for (logits, scale) in logits.chunks_exact_mut(padded).zip(&mut *scales).take(rows) {
                    *scale = 1.0 / exponentials(s, logits, points);
                }
                let sums = ProductArgs {
                    rows,
                    a: bytemuck::cast_slice(logits),
                    starts: StridedRows(padded),
                    pieces: &[0],
                    inner: padded,
                    outer: values_width,
                    b: values,
                };
                let output = BlockOutput::Floats(Some(scales));
                (it.product)(BlockProduct { factors: sums, to: attended, output });
                write_attended(s, &mut it, (row, rows), head, attended);
                row += rows;
            }
        }
    }
    *it.memory = memory;
}

/// Replaces the first `count` numbers by the exponentials of their differences from the largest, and the others by
/// zeros. Returns the sum of the exponentials.
#[inline(always)]
fn exponentials<S: Simd>(s: S, numbers: &mut [f32], count: usize) -> f32 {
    // The padding must not be the largest number.
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
