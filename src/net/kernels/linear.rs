//! Matrices with prepared weights, in `f32`, in 8 bits or in 16 bits.
//!
//! In 8 bits, each column has its own scale: `weight ≈ scale · integer`, with integers from −127 to 127. Some
//! processors limit the sum of two or four neighbouring integers ([`ByteSums`]). In 16 bits, integers are as large as
//! 32-bit sums allow.

use super::buffer::Buffer;
use super::product::{
    Accumulate, ByteProduct, Dequantised, FloatWords, Gate, Halves, IndexedRows, Overwrite, ProductArgs,
    ROW_ALIGN, RowStarts, Scaled, Store, StridedRows, Target, VectorProduct, product,
};
use super::rows::{ByteRange, inverse, nearest};
use super::simd::{ByteSums, PANEL_VECTORS, Simd};
use super::statistics::InputStatistics;
use crate::weights::half_weight_levels;

/// Matrix with prepared weights, or several matrices, one for each piece of the rows that it multiplies.
#[derive(Debug)]
pub(super) struct Linear {
    /// Number of inputs of a piece.
    pub(super) inputs: usize,
    /// Number of columns.
    pub(super) outputs: usize,
    weights: Weights,
}

#[derive(Debug)]
enum Weights {
    /// 32-bit weights, of shape `[panel][piece][input][column]`.
    Floats(Buffer<f32>),
    /// 8-bit weights, of shape `[panel][piece][group of four inputs][column][input]`.
    Bytes {
        integers: Buffer<i8>,
        /// Scale of each column.
        scales: Vec<f32>,
        /// Initial value of each column's sum, which compensates for the byte that represents zero.
        offsets: Vec<i32>,
    },
    /// 16-bit weights, of shape `[panel][pair of inputs][column][input]`.
    Halves {
        integers: Buffer<i16>,
        /// Scale of each column.
        scales: Vec<f32>,
        /// Initial values of the columns' sums, which are zero.
        offsets: Vec<i32>,
    },
}

/// Rows that a [`Linear`] multiplies.
#[derive(Clone, Copy, Debug)]
pub(super) enum InputRows<'t> {
    /// Numbers, the stride between rows, and factors of the rows.
    Floats(&'t [f32], usize, Option<&'t [f32]>),
    /// Bytes, with `inputs` bytes per row, and scales of the rows.
    Bytes(&'t [u8], &'t [f32]),
    /// Integers up to [`HALF_LEVELS`](super::rows::HALF_LEVELS), with `inputs` integers per row, and scales of the
    /// rows.
    Halves(&'t [i16], &'t [f32]),
    /// Bytes of points, starts of the rows, offsets of the pieces from the start of a row, and scales of the rows.
    Window(&'t [u8], &'t [u32], &'t [usize], &'t [f32]),
}

/// Use of the result of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OutputMode {
    /// The result overwrites the target.
    Overwrite,
    /// The result is added to the target.
    Accumulate,
    /// The first vector of each panel, after SiLU, is multiplied by the second.
    Gate,
}

/// Arguments of a product with a [`Linear`].
#[derive(Debug)]
pub(super) struct MultiplyArgs<'m> {
    pub(super) rows: usize,
    pub(super) input: InputRows<'m>,
    pub(super) linear: &'m Linear,
    pub(super) mode: OutputMode,
    /// Target, with memory for a multiple of [`ROW_ALIGN`] rows.
    pub(super) to: &'m mut [f32],
    /// Stride between rows of `to`.
    pub(super) stride: usize,
}

impl Linear {
    /// Prepares a matrix of shape `[inputs][outputs]` in `f32`. `outputs` is a multiple of `panel`, the width of a
    /// panel.
    pub(super) fn floats(weights: &[f32], inputs: usize, outputs: usize, panel: usize) -> Linear {
        let mut packed = Buffer::zeroed(weights.len());
        for (row, numbers) in weights.chunks_exact(outputs).enumerate() {
            for (index, numbers) in numbers.chunks_exact(panel).enumerate() {
                let start = (index * weights.len() / outputs + row) * panel;
                packed.as_mut_slice()[start..][..panel].copy_from_slice(numbers);
            }
        }
        Linear { inputs, outputs, weights: Weights::Floats(packed) }
    }

    /// Prepares matrices of shape `[pieces][inputs][outputs]` in 8 bits, for rows of bytes in `range`. For a single
    /// matrix, the statistics of its rows, `statistics`, improve the accuracy.
    pub(super) fn bytes(
        weights: &[f32],
        (inputs, outputs): (usize, usize),
        panel: usize,
        sums: ByteSums,
        range: ByteRange,
        statistics: Option<&InputStatistics>,
    ) -> Linear {
        let (integers, scales) = rounded_to_bytes(weights, outputs, sums, statistics);
        Linear::packed(&integers, (inputs, outputs), panel, range, scales)
    }

    /// Prepares integers of shape `[pieces][inputs][outputs]` with a scale per column. `inputs` is a multiple of four.
    pub(super) fn packed(
        weights: &[i8],
        (inputs, outputs): (usize, usize),
        panel: usize,
        range: ByteRange,
        scales: Vec<f32>,
    ) -> Linear {
        let mut sums = vec![0i32; outputs];
        let mut integers = Buffer::zeroed(weights.len());
        let packed: &mut [i8] = integers.as_mut_slice();
        let depth = weights.len() / outputs;
        for (group, rows) in weights.chunks_exact(4 * outputs).enumerate() {
            let rows: [&[i8]; 4] = std::array::from_fn(|row| &rows[row * outputs..][..outputs]);
            for (index, sums) in sums.chunks_exact_mut(panel).enumerate() {
                let [a, b, c, d] = rows.map(|row| &row[index * panel..][..panel]);
                let (words, _) = packed[(index * depth + group * 4) * panel..][..4 * panel].as_chunks_mut();
                let columns = words.iter_mut().zip(sums).zip(a.iter().zip(b).zip(c.iter().zip(d)));
                for ((word, sum), ((a, b), (c, d))) in columns {
                    *word = [*a, *b, *c, *d];
                    *sum += word.iter().map(|&integer| i32::from(integer)).sum::<i32>();
                }
            }
        }
        let offsets = sums.iter().map(|sum| -range.zero * sum).collect();
        Linear { inputs, outputs, weights: Weights::Bytes { integers, scales, offsets } }
    }

    /// Prepares a matrix of shape `[inputs][outputs]` in 16 bits. Rows after the first `known` ones are zeros.
    pub(super) fn halves(
        weights: &[f32],
        known: usize,
        (inputs, outputs): (usize, usize),
        panel: usize,
    ) -> Linear {
        let (integers, scales) = rounded_to_halves(weights, known, outputs);
        Linear::packed_halves(&integers, (inputs, outputs), panel, scales)
    }

    /// Prepares 16-bit integers of shape `[inputs][outputs]` with a scale per column. `inputs` is a multiple of two.
    /// The integers are at most [`half_weight_levels`] of the inputs that are not padding.
    pub(super) fn packed_halves(
        weights: &[i16],
        (inputs, outputs): (usize, usize),
        panel: usize,
        scales: Vec<f32>,
    ) -> Linear {
        let mut integers = Buffer::zeroed(weights.len());
        let packed: &mut [i16] = integers.as_mut_slice();
        for (pair, rows) in weights.chunks_exact(2 * outputs).enumerate() {
            let (first, second) = rows.split_at(outputs);
            let panels = first.chunks_exact(panel).zip(second.chunks_exact(panel));
            for (index, (first, second)) in panels.enumerate() {
                let (words, _) = packed[(index * inputs + pair * 2) * panel..][..2 * panel].as_chunks_mut();
                for (word, (first, second)) in words.iter_mut().zip(first.iter().zip(second)) {
                    *word = [*first, *second];
                }
            }
        }
        Linear { inputs, outputs, weights: Weights::Halves { integers, scales, offsets: vec![0; outputs] } }
    }

    /// Returns whether the matrix multiplies 16-bit integers.
    pub(super) fn takes_halves(&self) -> bool {
        matches!(self.weights, Weights::Halves { .. })
    }

    /// Returns whether the matrix multiplies bytes.
    pub(super) fn takes_bytes(&self) -> bool {
        matches!(self.weights, Weights::Bytes { .. })
    }
}

/// Rounds a matrix with this many columns to bytes, each times the scale of its column. For a single matrix,
/// `statistics` of its rows improve the accuracy.
pub(super) fn rounded_to_bytes(
    weights: &[f32],
    outputs: usize,
    sums: ByteSums,
    statistics: Option<&InputStatistics>,
) -> (Vec<i8>, Vec<f32>) {
    // Feedback changes a weight by one at most, plain rounding by one half.
    let max_rounding = if statistics.is_some() { 1.0 } else { 0.5 };
    let scales = column_scales(weights, outputs, sums, max_rounding);
    let inverse: Vec<f32> = scales.iter().copied().map(inverse).collect();
    let integers = match statistics {
        Some(statistics) => with_feedback(weights, &inverse, statistics),
        None => weights
            .chunks_exact(outputs)
            .flat_map(|row| row.iter().zip(&inverse).map(|(weight, inverse)| nearest(weight * inverse) as i8))
            .collect(),
    };
    (integers, scales)
}

/// Rounds a matrix with this many inputs and columns to 16 bits, each times the scale of its column. Further rows are
/// zeros.
pub(super) fn rounded_to_halves(weights: &[f32], inputs: usize, outputs: usize) -> (Vec<i16>, Vec<f32>) {
    let mut scales = vec![0.0f32; outputs];
    for row in weights.chunks_exact(outputs) {
        for (scale, weight) in scales.iter_mut().zip(row) {
            *scale = scale.max(weight.abs());
        }
    }
    let levels = f32::from(half_weight_levels(inputs));
    scales.iter_mut().for_each(|scale| *scale /= levels);
    let inverse: Vec<f32> = scales.iter().copied().map(inverse).collect();
    let mut integers = Vec::with_capacity(weights.len());
    for row in weights.chunks_exact(outputs) {
        integers.extend(row.iter().zip(&inverse).map(|(weight, inverse)| {
            let exact = weight * inverse;
            // Rounds to the nearest integer, and away from zero between two. `round` would be a function call.
            (exact + 0.5f32.copysign(exact)) as i16
        }));
    }
    (integers, scales)
}

/// Rounds weights, given in steps of their columns, so that the mean rounding error of each sum over all rows is nearly
/// zero and the error is small otherwise.
///
/// The rows consist of their mean and deviations that are independent between channels. The rounding errors so far,
/// weighted with the mean, are compensated in the weights that follow. The largest share goes to weights with a large
/// mean and a small variance. Channels are processed in descending order of mean² / variance. No weight moves by more
/// than one.
///
/// CITE: Frantar, Ashkboos, Hoefler, Alistarh, "GPTQ" (2022), with a matrix of moments that consists of a diagonal and
/// the outer product of the mean with itself.
fn with_feedback(weights: &[f32], inverse: &[f32], statistics: &InputStatistics) -> Vec<i8> {
    let (inputs, outputs) = (weights.len() / inverse.len().max(1), inverse.len());
    let statistics: Vec<(f32, f32)> = (0..inputs).map(|channel| statistics.of_channel(channel)).collect();
    let mean_square = |&(mean, variance): &(f32, f32)| mean * mean + variance;
    let all: f32 = statistics.iter().map(mean_square).sum();
    // The variance of few rows is inaccurate, and a variance of zero must not be a divisor. Padding channels do not
    // count.
    let known = statistics.iter().filter(|it| mean_square(it) > 0.0).count();
    let least = (1e-2 * all / known.max(1) as f32).max(f32::MIN_POSITIVE);
    // `share` is the change of a weight per unit of error of the sum; `weight` is its effect on the sum.
    let share = |&(mean, variance): &(f32, f32)| mean / variance.max(least);
    let weight = |it: &(f32, f32)| it.0 * share(it);
    let mut order: Vec<usize> = (0..inputs).collect();
    order.sort_by(|&a, &b| weight(&statistics[b]).total_cmp(&weight(&statistics[a])));
    let mut left: f32 = statistics.iter().map(weight).sum();
    let mut off = vec![0.0f32; outputs];
    let mut integers = vec![0i8; weights.len()];
    for channel in order {
        let it = &statistics[channel];
        let back = if left.is_finite() { -share(it) / (1.0 + left.max(0.0)) } else { 0.0 };
        left -= weight(it);
        let row = weights[channel * outputs..][..outputs].iter().zip(inverse);
        let to = integers[channel * outputs..][..outputs].iter_mut().zip(&mut off);
        for ((weight, inverse), (to, off)) in row.zip(to) {
            let exact = weight * inverse;
            let target = exact + (back * *off).clamp(-0.5, 0.5);
            *to = nearest(target.clamp(-127.0, 127.0)) as i8;
            *off += (f32::from(*to) - exact) * it.0;
        }
    }
    integers
}

/// Returns the scale of each column. It is determined by the largest weight, or by the weights that are summed up in 16
/// bits if they need a larger scale.
fn column_scales(weights: &[f32], outputs: usize, sums: ByteSums, max_rounding: f32) -> Vec<f32> {
    let mut scales = vec![0.0f32; outputs];
    for row in weights.chunks_exact(outputs) {
        for (scale, weight) in scales.iter_mut().zip(row) {
            *scale = scale.max(weight.abs() / 127.0);
        }
    }
    if sums.is_whole() {
        return scales;
    }
    let most = sums.most() as f32 - sums.together as f32 * max_rounding;
    let mut both = [vec![0.0f32; outputs], vec![0.0f32; outputs]];
    for rows in weights.chunks_exact(2 * sums.together * outputs) {
        for half in 0..2 {
            let [positive, negative] = &mut both;
            positive.fill(0.0);
            negative.fill(0.0);
            let rows = rows.chunks_exact(outputs).enumerate();
            for (_, row) in rows.filter(|(row, _)| row % 4 / 2 == half) {
                for ((positive, negative), weight) in positive.iter_mut().zip(&mut *negative).zip(row) {
                    *positive += weight.max(0.0);
                    *negative -= weight.min(0.0);
                }
            }
            for ((scale, positive), negative) in scales.iter_mut().zip(positive).zip(negative) {
                *scale = scale.max(positive.max(*negative) / most);
            }
        }
    }
    scales
}

/// Computes a product.
///
/// # Panics
///
/// Panics if the rows do not have the number format of the matrix or are too short.
#[inline(always)]
pub(super) fn multiply<S: Simd>(s: S, it: MultiplyArgs<'_>) {
    multiply_by(s, &mut VectorProduct, it);
}

/// Computes a product, with `by` for products of bytes.
///
/// # Panics
///
/// Panics if the rows do not have the number format of the matrix or are too short.
#[inline(always)]
pub(super) fn multiply_by<S: Simd, B: ByteProduct<S>>(s: S, by: &mut B, it: MultiplyArgs<'_>) {
    let columns = if it.mode == OutputMode::Gate { it.linear.outputs / 2 } else { it.linear.outputs };
    let rows = it.rows.next_multiple_of(ROW_ALIGN);
    assert!(rows == 0 || it.to.len() >= (rows - 1) * it.stride + columns && it.stride >= columns);
    assert!(it.linear.outputs.is_multiple_of(PANEL_VECTORS * S::LANES));
    let target = Target { to: it.to.as_mut_ptr(), stride: it.stride };
    match it.mode {
        OutputMode::Overwrite => multiply_to(s, by, &it, Overwrite(target)),
        OutputMode::Accumulate => multiply_to(s, by, &it, Accumulate(target)),
        OutputMode::Gate if it.linear.takes_bytes() => multiply_to(s, by, &it, Gate::<true>(target)),
        OutputMode::Gate => multiply_to(s, by, &it, Gate::<false>(target)),
    }
}

#[inline(always)]
fn multiply_to<S, B, D>(s: S, by: &mut B, it: &MultiplyArgs<'_>, to: D)
where
    S: Simd,
    B: ByteProduct<S>,
    D: Store<S>,
{
    let linear = it.linear;
    let padded = it.rows.next_multiple_of(ROW_ALIGN);
    match (it.input, &linear.weights) {
        (InputRows::Floats(a, stride, rows), Weights::Floats(b)) => {
            let a: &[u32] = bytemuck::cast_slice(a);
            let factors = ProductArgs {
                rows: it.rows,
                a,
                starts: StridedRows(stride),
                pieces: &[0],
                inner: linear.inputs,
                outer: linear.outputs,
                b: bytemuck::cast_slice(b.as_slice()),
            };
            assert!(rows.is_none_or(|rows| rows.len() >= padded));
            // SAFETY: `multiply_by` has checked that the target has memory for all rows and columns.
            unsafe { product::<S, FloatWords, _, _>(s, factors, &Scaled { rows, to }) };
        }
        (InputRows::Bytes(a, rows), Weights::Bytes { .. }) => {
            multiply_bytes(s, by, it, a, (StridedRows(linear.inputs / 4), &[0]), rows, to);
        }
        (InputRows::Halves(a, rows), Weights::Halves { integers, scales, offsets }) => {
            assert!(
                rows.len() >= padded && scales.len() >= linear.outputs && offsets.len() >= linear.outputs
            );
            let factors = ProductArgs {
                rows: it.rows,
                a: bytemuck::cast_slice(a),
                starts: StridedRows(linear.inputs / 2),
                pieces: &[0],
                inner: linear.inputs / 2,
                outer: linear.outputs,
                b: bytemuck::cast_slice(integers.as_slice()),
            };
            let epilogue = Dequantised { offsets, columns: scales, rows, to };
            // SAFETY: `multiply_by` has checked that the target has memory for all rows and columns.
            unsafe { product::<S, Halves, _, _>(s, factors, &epilogue) };
        }
        (InputRows::Window(a, starts, pieces, rows), Weights::Bytes { .. }) => {
            assert!(starts.len() >= padded);
            multiply_bytes(s, by, it, a, (IndexedRows(starts), pieces), rows, to);
        }
        _ => panic!("the number formats of the rows and the matrix differ"),
    }
}

#[inline(always)]
fn multiply_bytes<S, B, R, D>(
    s: S,
    by: &mut B,
    it: &MultiplyArgs<'_>,
    a: &[u8],
    (starts, pieces): (R, &[usize]),
    rows: &[f32],
    to: D,
) where
    S: Simd,
    B: ByteProduct<S>,
    R: RowStarts,
    D: Store<S>,
{
    let linear = it.linear;
    let Weights::Bytes { integers, scales, offsets } = &linear.weights else { return };
    assert!(rows.len() >= it.rows.next_multiple_of(ROW_ALIGN));
    assert!(scales.len() >= linear.outputs && offsets.len() >= linear.outputs);
    let factors = ProductArgs {
        rows: it.rows,
        a: bytemuck::cast_slice(a),
        starts,
        pieces,
        inner: linear.inputs / 4,
        outer: linear.outputs,
        b: bytemuck::cast_slice(integers.as_slice()),
    };
    let epilogue = Dequantised { offsets, columns: scales, rows, to };
    // SAFETY: `multiply_by` has checked that the target has memory for all rows and columns.
    unsafe { by.product(s, factors, &epilogue) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::kernel::{Kernel, Precision};
    use crate::kernels::pointwise::Extent;
    use crate::kernels::primitives::Primitives;
    use crate::kernels::statistics::{BlockPath, ObservedStatistics, ProductKind};
    use proptest::prelude::*;

    /// Returns the integers of a packed matrix, of shape `[rows][columns]`.
    fn unpacked(linear: &Linear, panel: usize) -> Vec<i64> {
        let Weights::Bytes { integers, .. } = &linear.weights else { panic!("the matrix has bytes") };
        let (depth, outputs) = (linear.inputs, linear.outputs);
        let at = |row: usize, column: usize| {
            (column / panel * depth + row / 4 * 4) * panel + column % panel * 4 + row % 4
        };
        (0..depth * outputs)
            .map(|index| i64::from(integers.as_slice()[at(index / outputs, index % outputs)]))
            .collect()
    }

    fn silu(x: f64) -> f64 {
        x / (1.0 + (-x).exp())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Tests all kernels, precisions and endings, with any number of rows. Products of integers must be exact, and
        /// products of numbers must have the accuracy of their format.
        #[test]
        fn products_match_definition(
            seed in any::<u64>(),
            rows in 1usize..40,
            inputs in 1usize..4,
            outputs in 1usize..4,
        ) {
            let mut rng = kosumi_go::rng::Rng::new(seed);
            let mut number = || rng.unit() as f32 * 2.0 - 1.0;
            let kernels = Kernel::ALL.into_iter().filter(|kernel| kernel.is_available());
            for kernel in kernels.filter(|kernel| kernel.precisions().contains(&Precision::F32)) {
                let primitives = Primitives::of(kernel);
                let (panel, lanes) = (primitives.panel, primitives.lanes);
                let (inputs, outputs) = (16 * inputs, panel * outputs);
                let padded = rows.next_multiple_of(ROW_ALIGN);
                let weights: Vec<f32> = (0..inputs * outputs).map(|_| number()).collect();
                let numbers: Vec<f32> = (0..padded * inputs).map(|_| number()).collect();
                let sums = primitives.byte_sums;
                let range = ByteRange::signed(sums);
                let byte = |x: &f32| (x * range.levels as f32) as i32 + range.zero;
                // The largest bytes can make products overflow.
                let largest = |byte| if byte > 3 * sums.largest / 4 { sums.largest } else { byte };
                let bytes: Vec<u8> = numbers.iter().map(|x| largest(byte(x)) as u8).collect();
                let scales: Vec<f32> = (0..padded).map(|_| number()).collect();
                let floats = Linear::floats(&weights, inputs, outputs, panel);
                let integers = Linear::bytes(&weights, (inputs, outputs), panel, sums, range, None);
                let whole = unpacked(&integers, panel);
                // All weights that are added up together may have the largest value.
                let step = (sums.together as f32 / (sums.most() - sums.together as i32 / 2) as f32).max(1.0 / 127.0);
                let Weights::Bytes { scales: columns, .. } = &integers.weights else { unreachable!() };
                for (weight, whole) in weights.iter().zip(&whole).enumerate().map(|(index, (weight, whole))| {
                    (*weight, *whole as f32 * columns[index % outputs])
                }) {
                    prop_assert!((weight - whole).abs() <= 0.51 * step);
                }
                let exact = |row: usize, column: usize, is_whole: bool| -> f64 {
                    let sum: f64 = (0..inputs)
                        .map(|k| match is_whole {
                            true => ((i64::from(bytes[row * inputs + k]) - i64::from(range.zero)) * whole[k * outputs + column]) as f64,
                            false => f64::from(numbers[row * inputs + k]) * f64::from(weights[k * outputs + column]),
                        })
                        .sum();
                    let factor = if is_whole { f64::from(columns[column]) } else { 1.0 };
                    sum * factor * f64::from(scales[row])
                };
                for (linear, input) in [
                    (&floats, InputRows::Floats(&numbers, inputs, Some(&scales))),
                    (&integers, InputRows::Bytes(&bytes, &scales)),
                ] {
                    let is_whole = linear.takes_bytes();
                    for mode in [OutputMode::Overwrite, OutputMode::Accumulate, OutputMode::Gate] {
                        let columns = if mode == OutputMode::Gate { outputs / 2 } else { outputs };
                        let stride = columns + 3;
                        let before = if mode == OutputMode::Accumulate { 0.5 } else { f32::NAN };
                        let mut to = vec![before; padded * stride];
                        let to_slice = &mut to[..];
                        (primitives.multiply)(MultiplyArgs { rows, input, linear, mode, to: to_slice, stride });
                        for (index, found) in to.chunks_exact(stride).take(rows).flat_map(|row| &row[..columns]).enumerate() {
                            let (row, column) = (index / columns, index % columns);
                            let expected = match mode {
                                OutputMode::Overwrite => exact(row, column, is_whole),
                                OutputMode::Accumulate => 0.5 + exact(row, column, is_whole),
                                OutputMode::Gate => {
                                    let first = column / lanes * panel + column % lanes;
                                    silu(exact(row, first, is_whole)) * exact(row, first + lanes, is_whole)
                                }
                            };
                            let difference = (f64::from(*found) - expected).abs();
                            let most = if is_whole && mode == OutputMode::Gate { 1e-3 } else { 1e-4 };
                            let is_close = difference <= most * expected.abs().max(1.0);
                            prop_assert!(is_close, "{}: {found} {expected}", kernel.name());
                        }
                    }
                }
            }
        }
    }

    /// Tests all kernels, including with numbers and weights that all have the largest magnitude and the same sign.
    #[test]
    fn i16_products_are_accurate() {
        let mut rng = kosumi_go::rng::Rng::new(7);
        for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
            let primitives = Primitives::of(kernel);
            let panel = primitives.panel;
            for (rows, inputs, size) in [(1usize, 16, 1.0), (7, 64, 1e-3), (5, 512, 0.0)] {
                let (outputs, padded) = (2 * panel, rows.next_multiple_of(ROW_ALIGN));
                let mut number = || if size == 0.0 { 1.0 } else { (rng.unit() as f32 * 2.0 - 1.0) * size };
                let weights: Vec<f32> = (0..inputs * outputs).map(|_| number()).collect();
                let numbers: Vec<f32> = (0..padded * inputs).map(|_| number()).collect();
                let linear = Linear::halves(&weights, inputs, (inputs, outputs), panel);
                let (mut halves, mut scales) = (vec![0; padded * inputs], vec![0.0; padded]);
                let extent = Extent { points: rows, channels: inputs };
                let rounded = (&mut halves[..], &mut scales[..]);
                (primitives.quantise_to_halves)(
                    extent,
                    None,
                    (&numbers, inputs),
                    rounded,
                    &mut vec![0.0; inputs],
                );
                let mut to = vec![f32::NAN; padded * outputs];
                let input = InputRows::Halves(&halves, &scales);
                let (linear, mode) = (&linear, OutputMode::Overwrite);
                (primitives.multiply)(MultiplyArgs {
                    rows,
                    input,
                    linear,
                    mode,
                    to: &mut to,
                    stride: outputs,
                });
                for (index, found) in to[..rows * outputs].iter().enumerate() {
                    let (row, column) = (index / outputs, index % outputs);
                    let terms =
                        (0..inputs).map(|k| numbers[row * inputs + k] * weights[k * outputs + column]);
                    let (expected, sum) = terms.fold((0.0, 0.0), |(sum, all), x| (sum + x, all + x.abs()));
                    assert!((found - expected).abs() <= 1e-3 * sum, "{}: {found} {expected}", kernel.name());
                }
            }
        }
    }

    /// The mean rounding error of the sums over the rows must be nearly zero, unlike with plain rounding. No weight may
    /// move by more than one.
    #[test]
    fn feedback_preserves_mean() {
        const INPUTS: usize = 48;
        const OUTPUTS: usize = 32;
        let mut rng = kosumi_go::rng::Rng::new(11);
        let mut number = || rng.unit() as f32 * 2.0 - 1.0;
        let weights: Vec<f32> = (0..INPUTS * OUTPUTS).map(|_| number()).collect();
        // Channels with different means, one of which is large.
        let means: Vec<f32> =
            (0..INPUTS).map(|channel| number() * if channel == 5 { 20.0 } else { 1.0 }).collect();
        let rows: Vec<f32> =
            (0..200).flat_map(|_| means.iter().map(|mean| mean + number()).collect::<Vec<_>>()).collect();
        let mut observed = ObservedStatistics::default();
        observed.record(BlockPath::TRUNK, ProductKind::First, &rows, INPUTS, INPUTS);
        let statistics = observed.of(BlockPath::TRUNK, ProductKind::First).unwrap();
        let scales = column_scales(&weights, OUTPUTS, ByteSums::WHOLE, 1.0);
        let inverse: Vec<f32> = scales.iter().copied().map(inverse).collect();
        let off = |integers: &[i8]| -> f32 {
            let sums = (0..OUTPUTS).map(|column| -> f32 {
                let terms = (0..INPUTS).map(|channel| {
                    let index = channel * OUTPUTS + column;
                    let off = f32::from(integers[index]) - weights[index] * inverse[column];
                    assert!(off.abs() <= 1.001, "{off}");
                    off * statistics.of_channel(channel).0
                });
                terms.sum()
            });
            sums.map(f32::abs).sum::<f32>() / OUTPUTS as f32
        };
        let plain: Vec<i8> = weights
            .iter()
            .enumerate()
            .map(|(index, weight)| nearest(weight * inverse[index % OUTPUTS]) as i8)
            .collect();
        let fed_back = with_feedback(&weights, &inverse, statistics);
        assert!(off(&fed_back) < off(&plain) / 5.0, "{} {}", off(&fed_back), off(&plain));
    }
}
