//! Transformer blocks with prepared weights.

use super::attention::{Attention, AttentionMemory, Heads, Rotation, fits_integers};
use super::balance;
use super::batch::Batch;
use super::buffer::Buffer;
use super::kernel::Precision;
use super::linear::{InputRows, Linear, MultiplyArgs, OutputMode};
use super::pointwise::Extent;
use super::primitives::{Primitives, Strided};
use super::product::ROW_ALIGN;
use super::rows::Rms;
use super::statistics::{BlockPath, InputStatistics, ObservedStatistics, ProductKind};
use crate::layer::{MatMul, RmsNorm, RotaryEmbedding};
use crate::model::{AttentionBlock, FeedForwardBlock};
use crate::weights::{IntegerSize, Integers};
use kosumi_go::board::MAX_SIDE;

/// Number of rows that go through both products of a feed-forward block before the next ones do. The intermediate
/// results then stay in the second-level cache.
const ROWS: usize = 96;

/// Prepared attention block.
#[derive(Debug)]
pub(super) struct PreparedAttention {
    path: BlockPath,
    norm: PreparedRms,
    /// Matrix to the queries, keys and values of all heads.
    first: Linear,
    heads: Heads,
    last: Linear,
}

/// Prepared feed-forward block.
#[derive(Debug)]
pub(super) struct PreparedFeedForward {
    path: BlockPath,
    norm: PreparedRms,
    /// Matrix to the hidden units: a vector of units that are activated, then a vector of gates, and so on alternately.
    first: Linear,
    last: Linear,
}

/// Norm by the root mean square of a point. If the following matrix is in `f32`, that matrix includes the factors.
#[derive(Debug)]
pub(super) struct PreparedRms {
    scale: Vec<f32>,
    epsilon: f32,
    channels: usize,
}

/// Buffers of transformer blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct TransformerMemory {
    bytes: Buffer<u8>,
    halves: Buffer<i16>,
    scales: Buffer,
    row: Buffer,
    /// Statistics of the inputs of products, while they are recorded.
    pub(super) observed: Option<ObservedStatistics>,
    /// Queries, keys and values.
    products: Buffer,
    /// Attended values of all heads, or hidden units.
    middle: Buffer,
    attention: AttentionMemory,
}

impl TransformerMemory {
    fn record_normed(
        &mut self,
        path: BlockPath,
        rows: usize,
        (from, stride): Strided<'_>,
        norm: &PreparedRms,
    ) {
        if let Some(observed) = &mut self.observed {
            observed.record_normed(path, &from[..rows * stride], stride, norm.get());
        }
    }

    fn record_last(&mut self, path: BlockPath, rows: usize, (from, stride): Strided<'_>) {
        if let Some(observed) = &mut self.observed {
            observed.record(path, ProductKind::Last, &from[..rows * stride], stride, stride);
        }
    }
}

impl PreparedRms {
    fn new(norm: &RmsNorm, align: usize) -> PreparedRms {
        let channels = norm.scale.len();
        let mut scale = norm.scale.clone();
        scale.resize(channels.next_multiple_of(align), 0.0);
        PreparedRms { scale, epsilon: norm.epsilon as f32, channels }
    }

    fn get(&self) -> Rms<'_> {
        Rms { scale: &self.scale, epsilon: self.epsilon, channels: self.channels }
    }
}

/// Number format of a matrix.
#[derive(Clone, Copy, Debug)]
enum WeightFormat<'m> {
    /// 32 bits, with each row multiplied by a factor.
    Floats(Option<&'m [f32]>),
    Halves,
    /// 8 bits, rounded according to the statistics of the rows that it multiplies.
    Bytes(Option<&'m InputStatistics>),
    /// The integers of 8 or 16 bits that the weights consist of, unchanged.
    Kept,
}

impl<'m> WeightFormat<'m> {
    /// Returns 8 bits if that is the precision, and 32 bits otherwise.
    fn rounded(
        precision: Precision,
        statistics: Option<&'m InputStatistics>,
        factors: Option<&'m [f32]>,
    ) -> WeightFormat<'m> {
        if precision == Precision::Int8 {
            WeightFormat::Bytes(statistics)
        } else {
            WeightFormat::Floats(factors)
        }
    }
}

/// Column of one of several matrices: the index of the matrix and that of the column, or `None` for padding.
type Column = Option<(usize, usize)>;

/// Collects columns of matrices of shape `[inputs][columns]`, whose numbers of columns are `widths`, in a matrix of
/// `padded` rows.
fn gathered<T: Copy + Default>(
    matrices: &[impl AsRef<[T]>],
    widths: &[usize],
    columns: &[Column],
    (inputs, padded): (usize, usize),
) -> Vec<T> {
    // Columns that are adjacent in both matrices are copied together: the first column, its source, and their number.
    let mut runs: Vec<(usize, (usize, usize), usize)> = Vec::new();
    for (column, &source) in columns.iter().enumerate() {
        let Some((matrix, from)) = source else { continue };
        match runs.last_mut() {
            Some((first, source, count))
                if *first + *count == column && *source == (matrix, from.wrapping_sub(*count)) =>
            {
                *count += 1;
            }
            _ => runs.push((column, (matrix, from), 1)),
        }
    }
    let mut weights = vec![T::default(); padded * columns.len()];
    for (input, row) in weights.chunks_exact_mut(columns.len()).take(inputs).enumerate() {
        for &(first, (matrix, from), count) in &runs {
            let from = &matrices[matrix].as_ref()[input * widths[matrix] + from..][..count];
            row[first..first + count].copy_from_slice(from);
        }
    }
    weights
}

/// Prepares a [`Linear`] of `outputs` columns of matrices with the same inputs. `at` returns the source of each column.
fn linear(
    primitives: &Primitives,
    kept: WeightFormat<'_>,
    matrices: &[&MatMul],
    outputs: usize,
    at: impl Fn(usize) -> Column,
) -> Linear {
    let inputs = matrices[0].inputs;
    let padded = inputs.next_multiple_of(primitives.align);
    let columns: Vec<Column> = (0..outputs).map(at).collect();
    let widths: Vec<usize> = matrices.iter().map(|matrix| matrix.outputs).collect();
    let panel = primitives.panel;
    if matches!(kept, WeightFormat::Kept) {
        let integers = || matrices.iter().map(|it| it.weights.integers().expect("checked by the caller"));
        let scale = |column: &Column| {
            column.map_or(0.0, |(matrix, from)| integers().nth(matrix).expect("a matrix").scales()[from])
        };
        let scales = columns.iter().map(scale).collect();
        let size = (inputs, padded);
        return if integers().all(|it| it.size == IntegerSize::Eight) {
            let weights: Vec<_> = integers().map(Integers::bytes).collect();
            let weights = gathered(&weights, &widths, &columns, size);
            Linear::packed(&weights, (padded, outputs), panel, primitives.signed_range(), scales)
        } else {
            let weights: Vec<_> = integers().map(Integers::halves).collect();
            let weights = gathered(&weights, &widths, &columns, size);
            Linear::packed_halves(&weights, (padded, outputs), panel, scales)
        };
    }
    let weights: Vec<_> = matrices.iter().map(|matrix| matrix.weights.floats()).collect();
    let mut weights = gathered(&weights, &widths, &columns, (inputs, padded));
    match kept {
        WeightFormat::Kept => unreachable!("returned above"),
        WeightFormat::Bytes(statistics) => {
            let (sums, range) = (primitives.byte_sums, primitives.signed_range());
            Linear::bytes(&weights, (padded, outputs), panel, sums, range, statistics)
        }
        WeightFormat::Halves => Linear::halves(&weights, inputs, (padded, outputs), panel),
        WeightFormat::Floats(factors) => {
            for (row, factor) in weights.chunks_exact_mut(outputs).zip(factors.unwrap_or_default()) {
                row.iter_mut().for_each(|weight| *weight *= factor);
            }
            Linear::floats(&weights, padded, outputs, panel)
        }
    }
}

/// Prepares a matrix that no norm precedes.
fn plain(primitives: &Primitives, kept: WeightFormat<'_>, matrix: &MatMul) -> Linear {
    let outputs = matrix.outputs.next_multiple_of(primitives.align);
    linear(primitives, kept, &[matrix], outputs, |column| (column < matrix.outputs).then_some((0, column)))
}

/// Returns whether weights that are integers stay as they are: in 8 bits, unless the processor limits sums of bytes.
pub(super) fn keeps_integers(primitives: &Primitives, precision: Precision) -> bool {
    precision == Precision::Int8 && primitives.byte_sums.is_whole()
}

impl PreparedAttention {
    pub(super) fn new(
        block: &AttentionBlock,
        primitives: &Primitives,
        precision: Precision,
        (path, observed): (BlockPath, &ObservedStatistics),
    ) -> PreparedAttention {
        let mut statistics = observed.of(path, ProductKind::First).cloned();
        let is_rounded = precision == Precision::Int8;
        let is_kept = keeps_integers(primitives, precision) && block.is_of_integers();
        let balanced = (is_rounded && !is_kept)
            .then(|| balance::of_values(&balance::attention(block, statistics.as_mut())));
        let block = balanced.as_ref().unwrap_or(block);
        let &AttentionBlock { heads, key_heads, key_width, value_width, .. } = block;
        let half = key_width / 2;
        // The two members of a rotated pair are stored half a head apart.
        let source = |column: usize| match &block.rotary {
            Some(_) => {
                let (head, channel) = (column / key_width, column % key_width);
                head * key_width + channel % half * 2 + channel / half
            }
            None => column,
        };
        let (queries, keys) = (heads * key_width, key_heads * key_width);
        let count = queries + keys + key_heads * value_width;
        let first = linear(
            primitives,
            if is_kept {
                WeightFormat::Kept
            } else {
                WeightFormat::rounded(precision, statistics.as_ref(), Some(&block.norm.scale))
            },
            &[&block.query, &block.key, &block.value],
            count.next_multiple_of(primitives.align),
            |column| match column {
                _ if column < queries => Some((0, source(column))),
                _ if column < queries + keys => Some((1, source(column - queries))),
                _ => (column < count).then(|| (2, column - queries - keys)),
            },
        );
        let rotation = block.rotary.as_ref().map(|rotary| rotation(rotary, key_heads, half));
        PreparedAttention {
            path,
            norm: PreparedRms::new(&block.norm, primitives.align),
            first,
            heads: Heads { heads, key_heads, key_width, value_width, rotation },
            // This product has a fourteenth of a network's multiply-adds. In 8 bits it caused a quarter to a third of
            // the squared error of win rates.
            last: plain(
                primitives,
                match is_rounded {
                    _ if is_kept => WeightFormat::Kept,
                    true => WeightFormat::Halves,
                    false => WeightFormat::Floats(None),
                },
                &block.output,
            ),
        }
    }

    /// Adds the result of the block to the plane `sum`.
    pub(super) fn run(
        &self,
        primitives: &Primitives,
        batch: Batch,
        sum: &mut [f32],
        memory: &mut TransformerMemory,
    ) {
        let rows = batch.points();
        memory.record_normed(self.path, rows, (sum, self.first.inputs), &self.norm);
        let padded = rows.next_multiple_of(ROW_ALIGN);
        let (stride, width) = (self.first.outputs, self.last.inputs);
        let mut products = std::mem::take(&mut memory.products);
        let mut middle = std::mem::take(&mut memory.middle);
        let to = products.at_least(padded * stride);
        let from = (&*sum, self.first.inputs);
        normed(primitives, rows, &self.norm, &self.first, from, (OutputMode::Overwrite, to), memory);
        let attended = middle.at_least(padded * width);
        if self.heads.heads * self.heads.value_width < width {
            attended.fill(0.0);
        }
        let (attend, product) = match self.first.takes_bytes() && fits_integers(&self.heads) {
            true => (primitives.attend_integers, primitives.block_of_integers),
            false => (primitives.attend_floats, primitives.block_of_floats),
        };
        for board in 0..batch.count {
            let first = board * batch.area();
            attend(Attention {
                heads: &self.heads,
                board: (batch.width, batch.height),
                from: &to[first * stride..],
                stride,
                to: &mut attended[first * width..],
                to_stride: width,
                memory: &mut memory.attention,
                product,
            });
        }
        multiply(primitives, rows, &self.last, (attended, width), (OutputMode::Accumulate, sum), memory);
        (memory.products, memory.middle) = (products, middle);
    }
}

/// Returns the tables of an embedding for the largest board.
fn rotation(rotary: &RotaryEmbedding, key_heads: usize, pairs: usize) -> Rotation {
    let table = |direction: usize| {
        let mut table = Vec::with_capacity(MAX_SIDE * key_heads * 2 * pairs);
        for coordinate in 0..MAX_SIDE {
            for head in 0..key_heads {
                let angles =
                    (0..pairs).map(|pair| coordinate as f64 * rotary.steps(head, pair, pairs)[direction]);
                table.extend(angles.clone().map(|angle| angle.cos() as f32));
                table.extend(angles.map(|angle| angle.sin() as f32));
            }
        }
        table
    };
    Rotation { columns: table(0), rows: table(1) }
}

impl PreparedFeedForward {
    pub(super) fn new(
        block: &FeedForwardBlock,
        primitives: &Primitives,
        precision: Precision,
        (path, observed): (BlockPath, &ObservedStatistics),
    ) -> PreparedFeedForward {
        let mut statistics = observed.of(path, ProductKind::First).cloned();
        let is_kept = keeps_integers(primitives, precision) && block.is_of_integers();
        let balanced = (precision == Precision::Int8 && !is_kept)
            .then(|| balance::feed_forward(block, statistics.as_mut()));
        let block = balanced.as_ref().unwrap_or(block);
        let units = block.first.outputs;
        let (align, lanes) = (primitives.align, primitives.lanes);
        let hidden = units.next_multiple_of(align);
        let first = linear(
            primitives,
            if is_kept {
                WeightFormat::Kept
            } else {
                WeightFormat::rounded(precision, statistics.as_ref(), Some(&block.norm.scale))
            },
            &[&block.first, &block.gate],
            2 * hidden,
            |column| {
                let unit = column / (2 * lanes) * lanes + column % lanes;
                (unit < units).then_some((column / lanes % 2, unit))
            },
        );
        let kept = match is_kept {
            true => WeightFormat::Kept,
            false => WeightFormat::rounded(precision, observed.of(path, ProductKind::Last), None),
        };
        let last = plain(primitives, kept, &block.last);
        PreparedFeedForward { path, norm: PreparedRms::new(&block.norm, align), first, last }
    }

    /// Adds the result of the block to the plane `sum`.
    pub(super) fn run(
        &self,
        primitives: &Primitives,
        batch: Batch,
        sum: &mut [f32],
        memory: &mut TransformerMemory,
    ) {
        let (stride, width) = (self.first.inputs, self.last.inputs);
        memory.record_normed(self.path, batch.points(), (sum, stride), &self.norm);
        let mut middle = std::mem::take(&mut memory.middle);
        let hidden = middle.at_least(ROWS * width);
        let mut row = 0;
        while row < batch.points() {
            let rows = ROWS.min(batch.points() - row);
            let sum = &mut sum[row * stride..];
            let from = (&*sum, stride);
            normed(primitives, rows, &self.norm, &self.first, from, (OutputMode::Gate, hidden), memory);
            memory.record_last(self.path, rows, (hidden, width));
            multiply(primitives, rows, &self.last, (hidden, width), (OutputMode::Accumulate, sum), memory);
            row += rows;
        }
        memory.middle = middle;
    }
}

/// Multiplies rows, after a norm, by a matrix and writes the result as `mode` specifies.
fn normed(
    primitives: &Primitives,
    rows: usize,
    norm: &PreparedRms,
    linear: &Linear,
    from: Strided<'_>,
    (mode, to): (OutputMode, &mut [f32]),
    memory: &mut TransformerMemory,
) {
    let padded = rows.next_multiple_of(ROW_ALIGN);
    let extent = Extent { points: rows, channels: linear.inputs };
    let scales = memory.scales.at_least(padded);
    let input = if linear.takes_bytes() {
        let bytes = memory.bytes.at_least(padded * linear.inputs);
        let range = primitives.signed_range();
        (primitives.quantise)(extent, Some(norm.get()), range, from, (bytes, scales));
        InputRows::Bytes(bytes, scales)
    } else {
        (primitives.rms_scales)(extent, norm.get(), from, scales);
        InputRows::Floats(from.0, from.1, Some(scales))
    };
    let stride = if mode == OutputMode::Gate { linear.outputs / 2 } else { linear.outputs };
    (primitives.multiply)(MultiplyArgs { rows, input, linear, mode, to, stride });
}

/// Multiplies rows by a matrix and writes the result as `mode` specifies.
fn multiply(
    primitives: &Primitives,
    rows: usize,
    linear: &Linear,
    from: Strided<'_>,
    (mode, to): (OutputMode, &mut [f32]),
    memory: &mut TransformerMemory,
) {
    let padded = rows.next_multiple_of(ROW_ALIGN);
    let extent = Extent { points: rows, channels: linear.inputs };
    let scales = memory.scales.at_least(padded);
    let input = if linear.takes_bytes() {
        let bytes = memory.bytes.at_least(padded * linear.inputs);
        (primitives.quantise)(extent, None, primitives.signed_range(), from, (bytes, scales));
        InputRows::Bytes(bytes, scales)
    } else if linear.takes_halves() {
        let halves = memory.halves.at_least(padded * linear.inputs);
        let row = memory.row.at_least(linear.inputs);
        (primitives.quantise_to_halves)(extent, None, from, (halves, scales), row);
        InputRows::Halves(halves, scales)
    } else {
        InputRows::Floats(from.0, from.1, None)
    };
    (primitives.multiply)(MultiplyArgs { rows, input, linear, mode, to, stride: linear.outputs });
}
