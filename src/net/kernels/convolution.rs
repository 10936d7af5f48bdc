//! Convolutions with prepared weights.

use super::batch::{Batch, JoinedConv, joined_window};
use super::buffer::Buffer;
use super::kernel::Precision;
use super::linear::{InputRows, Linear, MultiplyArgs, OutputMode};
use super::pointwise::{Extent, NormAct};
use super::primitives::{Primitives, Strided};
use super::product::ROW_ALIGN;
use super::rows::{ByteRange, PaddedBoard};
use super::sparse::{SetInputs, Sparse};
use super::tiles::{TileConvolution, TileWorkspace};
use super::winograd_conv::{WinogradConv, WinogradWorkspace};
use crate::layer::{Activation, Conv};
use crate::weights::{IntegerSize, Integers, Weights};

/// Convolution from plane to plane, with prepared weights.
#[derive(Debug)]
pub(super) struct Convolution {
    inputs: usize,
    outputs: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// 1 × 1: a product of matrices, in 32 or 16 bits.
    Pointwise(Linear),
    /// Any window in 8 bits: a product of matrices whose rows are the points under the window.
    Window { linear: Linear, range: ByteRange, width: usize, height: usize },
    /// 3 × 3 in 32 bits, or in 16 bits where that is faster than 8 bits.
    Winograd(WinogradConv),
    /// Any window in 16 bits, by a matrix unit.
    Tiles(TileConvolution),
    /// Any other window in 32 bits, which is rare.
    Sparse { weights: Vec<f32>, width: usize, height: usize },
}

/// Buffers of convolutions.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    /// Input after norm and activation.
    active: Buffer,
    /// Input rounded to bytes.
    bytes: Buffer<u8>,
    /// Input rounded to 16 bits.
    halves: Buffer<i16>,
    scales: Buffer,
    row: Buffer,
    starts: Vec<u32>,
    pieces: Vec<usize>,
    /// Result that must be added in a separate pass.
    added: Buffer,
    windows: WinogradWorkspace,
    tiles: TileWorkspace,
    set: SetInputs,
    zeros: Vec<f32>,
}

impl Convolution {
    /// Joins several convolutions of the same input. Their outputs follow one another, each padded to the alignment of
    /// the kernel. `activation` is the function that precedes the convolution.
    pub(super) fn new(
        convs: &[&Conv],
        primitives: &Primitives,
        precision: Precision,
        activation: Activation,
    ) -> Convolution {
        let &Primitives { align, panel, ref tiles, .. } = primitives;
        let range = ByteRange::after(activation, primitives.byte_sums);
        if tiles.is_some() {
            let joined = JoinedConv::new(convs, align, align);
            let kind = Kind::Tiles(TileConvolution::new(&joined));
            return Convolution { inputs: joined.inputs, outputs: joined.outputs, kind };
        }
        let is_winograd = joined_window(convs) == (3, 3)
            && (precision != Precision::Int8
                || primitives.winograd_16_bits.is_some()
                // Without dot products of four bytes, Winograd's transformation is faster in any number format.
                || !primitives.byte_sums.is_whole());
        if is_winograd {
            let (weights, inputs, outputs) = shared_weights(convs, align);
            let is_rounded = precision == Precision::Int8;
            let kind = Kind::Winograd(WinogradConv::new(weights, (inputs, outputs), primitives, is_rounded));
            return Convolution { inputs, outputs, kind };
        }
        if precision == Precision::Int8
            && primitives.byte_sums.is_whole()
            && let Some(convolution) = Convolution::of_integers(convs, primitives, range)
        {
            return convolution;
        }
        let joined = JoinedConv::new(convs, align, align);
        let &JoinedConv { width, height, inputs, outputs, .. } = &joined;
        let kind = match (width, height) {
            // These are the first and last convolutions of nested bottleneck blocks. A few of their channels weigh ten
            // times as much as the others, and the whole result of the block depends on them. In 8 bits, half of the
            // squared error of win rates came from the first convolutions, and a quarter to a half of the rest from the
            // last ones.
            (1, 1) if precision == Precision::Int8 => {
                let known = convs[0].inputs;
                Kind::Pointwise(Linear::halves(&joined.weights, known, (inputs, outputs), panel))
            }
            _ if precision == Precision::Int8 => {
                let (sums, each) = (primitives.byte_sums, (inputs, outputs));
                let linear = Linear::bytes(&joined.weights, each, panel, sums, range, None);
                Kind::Window { linear, range, width, height }
            }
            (1, 1) => Kind::Pointwise(Linear::floats(&joined.weights, inputs, outputs, panel)),
            _ => Kind::Sparse { weights: joined.weights, width, height },
        };
        Convolution { inputs, outputs, kind }
    }

    /// Joins convolutions whose weights are integers of the size that is used for their window, without converting
    /// them. Returns `None` if any of them has other weights.
    fn of_integers(convs: &[&Conv], primitives: &Primitives, range: ByteRange) -> Option<Convolution> {
        let &Primitives { align, panel, .. } = primitives;
        let scales = joined_scales(convs, align)?;
        if joined_window(convs) == (1, 1) {
            let weights = integers(convs, IntegerSize::Sixteen, Integers::halves)?;
            let joined = JoinedConv::of(convs, &weights, align, align);
            let each @ (inputs, outputs) = (joined.inputs, joined.outputs);
            let linear = Linear::packed_halves(&joined.weights, each, panel, scales);
            return Some(Convolution { inputs, outputs, kind: Kind::Pointwise(linear) });
        }
        let weights = integers(convs, IntegerSize::Eight, Integers::bytes)?;
        let joined = JoinedConv::of(convs, &weights, align, align);
        let JoinedConv { width, height, inputs, outputs, .. } = joined;
        let linear = Linear::packed(&joined.weights, (inputs, outputs), panel, range, scales);
        Some(Convolution { inputs, outputs, kind: Kind::Window { linear, range, width, height } })
    }

    /// Drops the weights at evaluation points, which are computed again when a board needs them.
    pub(super) fn forget_windows(&mut self) {
        if let Kind::Winograd(windows) = &mut self.kind {
            windows.forget();
        }
    }

    /// Returns the number of output channels, including padding.
    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Convolves the plane `from`, after `norm` if there is one, and writes or adds the result to the plane `to`, which
    /// has as many channels as there are outputs.
    pub(super) fn run(
        &self,
        primitives: &Primitives,
        batch: Batch,
        norm: Option<NormAct<'_>>,
        from: Strided<'_>,
        (mode, to): (OutputMode, &mut [f32]),
        workspace: &mut Workspace,
    ) {
        let extent = Extent { points: batch.points(), channels: self.inputs };
        if let Kind::Pointwise(linear) = &self.kind
            && (norm.is_none() || linear.takes_halves())
        {
            let Workspace { halves, scales, row, .. } = workspace;
            let rows = extent.points.next_multiple_of(ROW_ALIGN);
            let input = if linear.takes_halves() {
                let scales = scales.at_least(rows);
                let row = row.at_least(self.inputs);
                let halves = halves.at_least(rows * self.inputs);
                (primitives.quantise_to_halves)(extent, norm, from, (halves, scales), row);
                InputRows::Halves(halves, scales)
            } else {
                InputRows::Floats(from.0, from.1, None)
            };
            let (rows, stride) = (extent.points, self.outputs);
            (primitives.multiply)(MultiplyArgs { rows, input, linear, mode, to, stride });
            return;
        }
        let mut active = std::mem::take(&mut workspace.active);
        let plane = active.at_least(batch.plane_len(self.inputs));
        match norm {
            Some(norm) => (primitives.norm_act)(extent, norm, from, (plane, self.inputs)),
            None => {
                for (to, from) in
                    plane.chunks_exact_mut(self.inputs).zip(from.0.chunks(from.1)).take(extent.points)
                {
                    to.copy_from_slice(&from[..self.inputs]);
                }
            }
        }
        self.run_active(primitives, batch, plane, (mode, to), workspace);
        workspace.active = active;
    }

    /// Convolves the plane `from`, which has as many channels as there are inputs. Its points after those of all boards
    /// are overwritten.
    fn run_active(
        &self,
        primitives: &Primitives,
        batch: Batch,
        from: &mut [f32],
        (mode, to): (OutputMode, &mut [f32]),
        workspace: &mut Workspace,
    ) {
        match &self.kind {
            Kind::Pointwise(linear) => {
                let input = InputRows::Floats(from, self.inputs, None);
                let (rows, stride) = (batch.points(), self.outputs);
                (primitives.multiply)(MultiplyArgs { rows, input, linear, mode, to, stride });
            }
            Kind::Window { linear, range, width, height } => {
                let window = (*width, *height);
                self.window(primitives, batch, (linear, *range, window), from, (mode, to), workspace);
            }
            Kind::Winograd(windows) => {
                let is_added = mode == OutputMode::Accumulate;
                windows.run(primitives, batch, from, (is_added, to), &mut workspace.windows);
            }
            Kind::Tiles(_) | Kind::Sparse { .. } if mode == OutputMode::Accumulate => {
                let mut added = std::mem::take(&mut workspace.added);
                let plane = added.at_least(batch.plane_len(self.outputs));
                self.run_active(primitives, batch, from, (OutputMode::Overwrite, plane), workspace);
                let count = batch.points() * self.outputs;
                to[..count].iter_mut().zip(&*plane).for_each(|(to, added)| *to += added);
                workspace.added = added;
            }
            Kind::Tiles(convolution) => {
                let unit = primitives.tiles.as_ref().expect("created only with a matrix unit");
                convolution.run(unit, batch, from, to, &mut workspace.tiles);
            }
            Kind::Sparse { weights, width, height } => {
                let Workspace { set, zeros, .. } = workspace;
                zeros.resize(self.outputs, 0.0);
                for board in 0..batch.count {
                    let from = &from[board * batch.area() * self.inputs..][..batch.area() * self.inputs];
                    set.find(from, self.inputs, self.inputs);
                    let it = Sparse {
                        board: (batch.width, batch.height),
                        window: (*width, *height),
                        inputs: self.inputs,
                        outputs: self.outputs,
                        weights,
                        bias: zeros,
                        set,
                    };
                    (primitives.sparse)(&it, &mut to[board * batch.area() * self.outputs..]);
                }
            }
        }
    }

    fn window(
        &self,
        primitives: &Primitives,
        batch: Batch,
        (linear, range, (width, height)): (&Linear, ByteRange, (usize, usize)),
        from: &[f32],
        (mode, to): (OutputMode, &mut [f32]),
        workspace: &mut Workspace,
    ) {
        let Workspace { bytes, scales, starts, pieces, .. } = workspace;
        let grid = PaddedBoard { board: (batch.width, batch.height), reach: (width / 2, height / 2) };
        let each = grid.len() * self.inputs;
        let rows = batch.points().next_multiple_of(ROW_ALIGN);
        let bytes = bytes.at_least(batch.count * each);
        let scales = scales.at_least(rows);
        let words = self.inputs / 4;
        starts.clear();
        for (board, bytes) in bytes.chunks_exact_mut(each).enumerate() {
            let points = board * batch.area()..(board + 1) * batch.area();
            let mut scale = 0.0;
            (primitives.quantise_board)(grid, range, &from[points.start * self.inputs..], bytes, &mut scale);
            scales[points].fill(scale);
            let first = board * grid.len();
            starts.extend((0..batch.area()).map(|point| ((first + grid.corner(point)) * words) as u32));
        }
        starts.resize(rows, 0);
        pieces.clear();
        pieces.extend((0..width * height).map(|it| (it / width * grid.columns() + it % width) * words));
        (primitives.multiply)(MultiplyArgs {
            rows: batch.points(),
            input: InputRows::Window(bytes, starts, pieces, scales),
            linear,
            mode,
            to,
            stride: self.outputs,
        });
    }
}

/// Returns the integers of all convolutions, if all have this size.
fn integers<T>(convs: &[&Conv], size: IntegerSize, get: fn(&Integers) -> Vec<T>) -> Option<Vec<Vec<T>>> {
    convs.iter().map(|conv| conv.weights.integers_of(size).map(get)).collect()
}

/// Returns the scales of the outputs of joined convolutions, which are zeros for padding, if all are of integers.
fn joined_scales(convs: &[&Conv], align: usize) -> Option<Vec<f32>> {
    let mut scales = Vec::new();
    for conv in convs {
        scales.extend(conv.weights.integers()?.scales());
        scales.resize(scales.len().next_multiple_of(align), 0.0);
    }
    Some(scales)
}

/// Joins convolutions whose weights are kept as they are: without a copy if there is only one and it needs no padding,
/// and as bytes if all are bytes. Returns the numbers of inputs and outputs, too.
fn shared_weights(convs: &[&Conv], align: usize) -> (Weights, usize, usize) {
    if let [conv] = convs
        && conv.inputs.is_multiple_of(align)
        && conv.outputs.is_multiple_of(align)
    {
        return (conv.weights.clone(), conv.inputs, conv.outputs);
    }
    if let Some(scales) = joined_scales(convs, align)
        && let Some(weights) = integers(convs, IntegerSize::Eight, Integers::bytes)
    {
        let joined = JoinedConv::of(convs, &weights, align, align);
        let weights = Weights::from(Integers::of_bytes(&joined.weights, scales));
        return (weights, joined.inputs, joined.outputs);
    }
    let joined = JoinedConv::new(convs, align, align);
    (Weights::from(joined.weights), joined.inputs, joined.outputs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::kernel::{Arithmetic, Kernel};
    use kosumi_go::rng::Rng;

    /// Returns integers from −3 to 3, which are exact in 16 bits.
    fn numbers(rng: &mut Rng, count: usize) -> Vec<f32> {
        (0..count).map(|_| rng.below(7) as f32 - 3.0).collect()
    }

    /// Computes one output of a convolution at one point by its definition.
    fn definition(
        conv: &Conv,
        batch: Batch,
        plane: &[f32],
        (board, y, x): (usize, usize, usize),
        output: usize,
    ) -> f32 {
        let mut sum = 0.0;
        for (index, weight) in
            conv.weights.floats().iter().enumerate().filter(|(index, _)| index % conv.outputs == output)
        {
            let input = index / conv.outputs % conv.inputs;
            let tap = index / conv.outputs / conv.inputs;
            let from_x = (x + tap % conv.width).wrapping_sub(conv.width / 2);
            let from_y = (y + tap / conv.width).wrapping_sub(conv.height / 2);
            if from_x < batch.width && from_y < batch.height {
                sum += weight
                    * plane[((board * batch.height + from_y) * batch.width + from_x) * conv.inputs + input];
            }
        }
        sum
    }

    /// Tests two joined convolutions of the same input, with different windows and odd numbers of channels: on several
    /// boards of several sizes, with all kernels, overwriting a plane and adding to one. Buffers are reused and contain
    /// other numbers.
    #[test]
    fn convolutions_match_definition() {
        let mut rng = Rng::new(3);
        let emulated = Arithmetic { kernel: Kernel::EmulatedBf16, precision: Precision::Bf16 };
        let mut workspace = Workspace::default();
        let all = Arithmetic::available().into_iter().chain([emulated]);
        let all = all.map(|it| (Primitives::of(it.kernel), it));
        let by_bytes = Arithmetic { kernel: Kernel::Portable, precision: Precision::Int8 };
        let rounded = Primitives::with_rounded_evaluation_points().map(|primitives| (primitives, by_bytes));
        for (primitives, arithmetic) in all.chain(rounded) {
            for (width, height, inputs, size) in [
                (1, 1, 3, (4, 3, 3)),
                (3, 3, 5, (9, 9, 2)),
                (3, 3, 33, (7, 6, 1)),
                (3, 3, 2, (1, 5, 3)),
                (5, 3, 2, (6, 4, 2)),
                (5, 5, 3, (3, 2, 2)),
            ] {
                let mut conv = |width, height, outputs| Conv {
                    name: String::new(),
                    height,
                    width,
                    inputs,
                    outputs,
                    weights: numbers(&mut rng, height * width * inputs * outputs).into(),
                };
                let convs = [conv(width, height, 7), conv(width.min(3), 1, 35)];
                let batch = Batch { width: size.0, height: size.1, count: size.2 };
                let plane = numbers(&mut rng, batch.points() * inputs);
                let convs_both = [&convs[0], &convs[1]];
                let precision = arithmetic.precision;
                let joined = Convolution::new(&convs_both, &primitives, precision, Activation::Identity);
                let padded = inputs.next_multiple_of(primitives.align);
                let mut from = vec![f32::NAN; batch.plane_len(padded)];
                for (to, from) in from.chunks_mut(padded).zip(plane.chunks(inputs)) {
                    to.fill(0.0);
                    to[..inputs].copy_from_slice(from);
                }
                let ones = vec![1.0; padded];
                let zeros = vec![0.0; padded];
                let norm = NormAct { scale: &ones, bias: &zeros, activation: Activation::Identity };
                for (norm, mode, before) in
                    [(None, OutputMode::Overwrite, 0.0), (Some(norm), OutputMode::Accumulate, 2.0)]
                {
                    let start = if mode == OutputMode::Overwrite { f32::NAN } else { before };
                    let mut to = vec![start; batch.plane_len(joined.outputs())];
                    joined.run(&primitives, batch, norm, (&from, padded), (mode, &mut to), &mut workspace);
                    let second = 7usize.next_multiple_of(primitives.align);
                    for point in 0..batch.points() {
                        let position =
                            (point / batch.area(), point / batch.width % batch.height, point % batch.width);
                        let to = &to[point * joined.outputs()..][..joined.outputs()];
                        for (conv, first) in convs.iter().zip([0, second]) {
                            for output in 0..conv.outputs {
                                let expected = before + definition(conv, batch, &plane, position, output);
                                let difference = (to[first + output] - expected).abs();
                                // Winograd's transformation has thirds. Tiles are exact. Bytes have 63 levels for
                                // numbers up to 3, and weights have 127.
                                let terms = (width * height * inputs) as f32;
                                let tolerance = match precision {
                                    Precision::F32 => 2e-3,
                                    Precision::Bf16 => 0.0,
                                    Precision::Int8 => 0.3 * terms.sqrt(),
                                };
                                let name = arithmetic.name();
                                assert!(difference <= tolerance, "{name}: {difference} of {expected}");
                            }
                            let filling =
                                first + conv.outputs..first + conv.outputs.next_multiple_of(primitives.align);
                            assert!(to[filling].iter().all(|&x| x == before), "padding is zero");
                        }
                    }
                }
            }
        }
    }
}
