//! 3 × 3 convolutions as products at the evaluation points of Winograd's transformation, in the number format of a
//! [`WinogradUnit`].
//!
//! **16-bit integers.** At an evaluation point, the numbers of a board are rounded to 15 bits and a sign. Their scale
//! allows for the largest number of the board and the largest gain of the transformation. The weights have a scale per
//! evaluation point and output, which ensures that no sum exceeds 32 bits. This is about as exact as bf16, and two such
//! products have been a single instruction since MMX.
//!
//! CITE: Meng and Brothers, "Efficient Winograd convolution via integer arithmetic" (2019), for scales per evaluation
//! point.

use super::batch::Batch;
use super::bf16::to_bf16;
use super::buffer::Buffer;
use super::gemm::{Gemm, pack_into};
use super::primitives::{Primitives, WinogradUnit};
use super::rows::{inverse, nearest};
use super::winograd::{BoardLayout, MAX_INTEGER, TileSize, WinogradFormat};
use crate::weights::Weights;
use std::sync::OnceLock;

/// Number of tiles that are transformed together. Their channels fit into the second-level cache.
const TILES: usize = 50;

/// Largest sum of the magnitudes of a column's integers. Its product with [`MAX_INTEGER`] fits into 32 bits.
const MAX_COLUMN_SUM: f32 = 65_535.0;

/// Weights of a 3 × 3 convolution.
#[derive(Debug)]
pub(super) struct WinogradConv {
    inputs: usize,
    outputs: usize,
    /// Weights, of shape `[3][3][inputs][outputs]`, from which those for further tile sizes are computed.
    weights: Weights,
    unit: WinogradUnit,
    /// Transformed weights per tile size, computed when a board first needs that size.
    transformed: [OnceLock<TransformedWeights>; TileSize::BOTH.len()],
}

/// Weights at all evaluation points.
#[derive(Debug)]
struct TransformedWeights {
    /// A packed matrix for each evaluation point.
    words: Buffer<u32>,
    /// Factors of the integers, of shape `[evaluation points][outputs]`: the scale of the weights, times the bound of
    /// the evaluation point. Empty unless the weights are integers.
    scales: Vec<f32>,
}

/// Buffers of the computation.
#[derive(Clone, Debug, Default)]
pub(super) struct WinogradWorkspace {
    evaluation_points: Buffer<u32>,
    scales: Buffer,
    products: Buffer,
}

impl WinogradConv {
    /// Prepares weights of shape `[3][3][inputs][outputs]`, in 16 bits if `is_rounded` and if that is faster.
    pub(super) fn new(
        weights: Weights,
        (inputs, outputs): (usize, usize),
        primitives: &Primitives,
        is_rounded: bool,
    ) -> WinogradConv {
        let unit = primitives.winograd_16_bits.filter(|_| is_rounded).unwrap_or(primitives.winograd);
        WinogradConv { inputs, outputs, weights, unit, transformed: Default::default() }
    }

    /// Drops the transformed weights.
    pub(super) fn forget(&mut self) {
        self.transformed = Default::default();
    }

    fn at_evaluation_points(&self, size: TileSize, primitives: &Primitives) -> TransformedWeights {
        let (numbers, panel) = (self.unit.numbers, primitives.panel);
        let (outputs, mut rows) = (self.outputs, vec![0.0; self.inputs * self.outputs]);
        let each = rows.len() / numbers.of_word();
        let mut words = Buffer::zeroed(size.evaluation_points() * each);
        let mut scales = Vec::new();
        let weights = self.weights.floats();
        for (evaluation_point, packed) in
            words.as_mut_slice()[..size.evaluation_points() * each].chunks_exact_mut(each).enumerate()
        {
            (primitives.transform_windows)(size, evaluation_point, &weights, &mut rows);
            match numbers {
                WinogradFormat::Floats => pack_into(bytemuck::cast_slice(&rows), outputs, panel, packed),
                WinogradFormat::Bf16s => {
                    pack_into(&pairs(&rows, outputs, |_, x| to_bf16(x)), outputs, panel, packed);
                }
                WinogradFormat::Halves => {
                    let columns = column_scales(&rows, outputs);
                    let inverse: Vec<f32> = columns.iter().copied().map(inverse).collect();
                    let integer = |column: usize, x: f32| nearest(x * inverse[column]) as u16;
                    pack_into(&pairs(&rows, outputs, integer), outputs, panel, packed);
                    scales.extend(columns.iter().map(|scale| scale * size.bound(evaluation_point)));
                }
            }
        }
        TransformedWeights { words, scales }
    }

    /// Convolves the plane `from` and writes the result to the plane `to`, or adds it if `is_added`.
    ///
    /// `from` has as many channels as there are inputs, and `to` as many as there are outputs. The point of `from`
    /// after those of all boards is overwritten with zeros.
    pub(super) fn run(
        &self,
        primitives: &Primitives,
        batch: Batch,
        from: &mut [f32],
        (is_added, to): (bool, &mut [f32]),
        workspace: &mut WinogradWorkspace,
    ) {
        let Batch { width, height, .. } = batch;
        let size = TileSize::best(width, height);
        let index = usize::from(size == TileSize::Four);
        let TransformedWeights { words, scales } =
            self.transformed[index].get_or_init(|| self.at_evaluation_points(size, primitives));
        let at_a_time = (TILES / size.tiles(width, height)).max(1);
        // Number of words in a row at an evaluation point.
        let inner = self.inputs / self.unit.numbers.of_word();
        let each = inner * self.outputs;
        from[batch.points() * self.inputs..][..self.inputs].fill(0.0);
        let mut done = 0;
        while done < batch.count {
            let count = at_a_time.min(batch.count - done);
            let outside = batch.points() - done * batch.area();
            let inputs = BoardLayout { size, width, height, count, channels: self.inputs, outside };
            let outputs = BoardLayout { channels: self.outputs, ..inputs };
            let tiles = inputs.tiles();
            let evaluation_points =
                workspace.evaluation_points.at_least(size.evaluation_points() * tiles * inner);
            let of_tiles = workspace.scales.at_least(tiles);
            let products = workspace.products.at_least(outputs.evaluation_points_len());
            let first = done * batch.area();
            (self.unit.transform_input)(&inputs, &from[first * self.inputs..], evaluation_points, of_tiles);
            for evaluation_point in 0..size.evaluation_points() {
                let of_columns = scales.get(evaluation_point * self.outputs..).unwrap_or_default();
                (self.unit.gemm)(Gemm {
                    rows: tiles,
                    inner,
                    outer: self.outputs,
                    a: &evaluation_points[evaluation_point * tiles * inner..],
                    b: &words.as_slice()[evaluation_point * each..],
                    c: &mut products[evaluation_point * tiles * self.outputs..],
                    scales: (of_tiles, of_columns),
                });
            }
            (primitives.transform_output)(&outputs, products, &mut to[first * self.outputs..], is_added);
            done += count;
        }
    }
}

/// Returns the scale of each column of a matrix of shape `[inputs][outputs]`. With these scales the integers fit into
/// 16 bits and the sums of their products into 32.
fn column_scales(rows: &[f32], outputs: usize) -> Vec<f32> {
    let mut largest = vec![0.0f32; outputs];
    let mut sums = vec![0.0f64; outputs];
    for row in rows.chunks_exact(outputs) {
        for ((largest, sum), x) in largest.iter_mut().zip(&mut sums).zip(row) {
            *largest = largest.max(x.abs());
            *sum += f64::from(x.abs());
        }
    }
    // Rounding may increase each number of a column by one half.
    let max_column_sum = MAX_COLUMN_SUM - (rows.len() / outputs) as f32;
    let scales = largest.into_iter().zip(sums);
    scales.map(|(largest, sum)| (largest / MAX_INTEGER).max(sum as f32 / max_column_sum)).collect()
}

/// Interleaves pairs of rows of a matrix, as products of pairs read them. A word contains a number of the first row,
/// which is first in memory, and a number of the second row. `number` converts a number of a column to 16 bits.
fn pairs(rows: &[f32], outputs: usize, number: impl Fn(usize, f32) -> u16) -> Vec<u32> {
    let mut words = vec![0; rows.len() / 2];
    for (two, words) in rows.chunks_exact(2 * outputs).zip(words.chunks_exact_mut(outputs)) {
        let (first, second) = two.split_at(outputs);
        for (column, ((word, first), second)) in words.iter_mut().zip(first).zip(second).enumerate() {
            *word = bytemuck::cast([number(column, *first), number(column, *second)]);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For arbitrary weights, the integers of a column times the largest possible integers must not exceed 32 bits in
    /// sum.
    #[test]
    fn integer_sums_fit_32_bits() {
        let mut rng = kosumi_go::rng::Rng::new(5);
        for inputs in [2, 96, 384, 4096] {
            for power in [0.0, 1.0, 8.0] {
                let rows: Vec<f32> =
                    (0..inputs * 3).map(|_| (rng.unit() as f32 - 0.5) * 10f32.powf(power)).collect();
                let scales = column_scales(&rows, 3);
                for (column, &scale) in scales.iter().enumerate() {
                    let exact = rows.iter().skip(column).step_by(3).map(|x| x * inverse(scale));
                    let (largest, sum) = exact.fold((0.0f32, 0i64), |(largest, sum), exact| {
                        let x = exact.round_ties_even();
                        assert_eq!(f32::from(nearest(exact)), x);
                        (largest.max(x.abs()), sum + x.abs() as i64)
                    });
                    assert!(largest <= MAX_INTEGER);
                    assert!(sum * (MAX_INTEGER as i64 + 1) <= i64::from(i32::MAX), "{inputs} inputs: {sum}");
                    // The bits are well used: by the sum or by the largest number.
                    assert!(
                        largest > 0.5 * MAX_INTEGER || sum > 60_000 - inputs as i64,
                        "{inputs} inputs: {sum}"
                    );
                }
            }
        }
    }
}
