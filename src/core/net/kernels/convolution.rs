//! Convolutions with their weights in the order in which kernels read them.

use super::buffer::Buffer;
use super::gemm::{Gemm, Packed, pack_into};
use super::primitives::Primitives;
use super::sparse::{SetInputs, Sparse};
use super::tiles::{TileConvolution, TileWorkspace};
use super::winograd::{Boards, TileSize};
use crate::net::layer::Conv;
use std::sync::OnceLock;

/// Tiles that are transformed together: as many as the second cache holds with their channels.
const TILES: usize = 50;

/// A convolution from planes to planes.
#[derive(Debug)]
pub(super) struct Convolution {
    inputs: usize,
    outputs: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// 1 × 1: a product of matrices.
    Pointwise(Packed),
    /// 3 × 3. The weights at the places are computed when a board first asks for that size of tiles.
    Winograd { weights: Vec<f32>, places: [OnceLock<Buffer>; TileSize::BOTH.len()] },
    /// Any window, in 16 bits.
    Tiles(TileConvolution),
    /// Any other window, seldom seen.
    Window { weights: Vec<f32>, width: usize, height: usize },
}

/// Memory that convolutions need while they run.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    places: Buffer,
    products: Buffer,
    tiles: TileWorkspace,
    set: SetInputs,
    zeros: Vec<f32>,
}

/// Several boards of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) count: usize,
}

impl Batch {
    pub(super) fn area(self) -> usize {
        self.width * self.height
    }

    /// Points of all boards.
    pub(super) fn points(self) -> usize {
        self.count * self.area()
    }

    /// Numbers in a plane with so many channels. There is a point behind all others, which convolutions use for
    /// what is outside the board.
    pub(super) fn plane_len(self, channels: usize) -> usize {
        (self.points() + 1) * channels
    }
}

/// Convolutions of the same input as one.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    /// `[y][x][input][output]`
    pub(super) weights: Vec<f32>,
}

impl Joined {
    /// Joins them. The inputs are filled up to a multiple of `input_align`, the outputs of each to one of `align`,
    /// and smaller windows to the size of the largest, all with zeros.
    pub(super) fn new(convs: &[&Conv], input_align: usize, align: usize) -> Joined {
        let width = convs.iter().map(|conv| conv.width).max().unwrap_or(1);
        let height = convs.iter().map(|conv| conv.height).max().unwrap_or(1);
        let inputs = convs[0].inputs.next_multiple_of(input_align);
        let outputs = convs.iter().map(|conv| conv.outputs.next_multiple_of(align)).sum();
        let mut weights = vec![0.0; height * width * inputs * outputs];
        let mut column = 0;
        for conv in convs {
            let (left, top) = ((width - conv.width) / 2, (height - conv.height) / 2);
            for (index, row) in conv.weights.chunks_exact(conv.outputs).enumerate() {
                let (place, input) = (index / conv.inputs, index % conv.inputs);
                let place = (top + place / conv.width) * width + left + place % conv.width;
                weights[(place * inputs + input) * outputs + column..][..conv.outputs].copy_from_slice(row);
            }
            column += conv.outputs.next_multiple_of(align);
        }
        Joined { width, height, inputs, outputs, weights }
    }
}

impl Convolution {
    /// Several convolutions of the same input as one; their outputs lie behind each other, each filled up to what
    /// the kernel needs.
    pub(super) fn new(convs: &[&Conv], primitives: &Primitives) -> Convolution {
        let &Primitives { align, panel, ref tiles, .. } = primitives;
        let joined = Joined::new(convs, align, align);
        let &Joined { width, height, inputs, outputs, .. } = &joined;
        let kind = match (width, height) {
            _ if tiles.is_some() => Kind::Tiles(TileConvolution::new(&joined)),
            (1, 1) => Kind::Pointwise(Packed::new(&joined.weights, outputs, panel)),
            (3, 3) => Kind::Winograd { weights: joined.weights, places: Default::default() },
            _ => Kind::Window { weights: joined.weights, width, height },
        };
        Convolution { inputs, outputs, kind }
    }

    /// Channels that it gives.
    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// From the plane `from` to the plane `to`. What stands in `from` behind all boards is overwritten.
    pub(super) fn run(
        &self,
        primitives: &Primitives,
        batch: Batch,
        from: &mut [f32],
        to: &mut [f32],
        workspace: &mut Workspace,
    ) {
        match &self.kind {
            Kind::Pointwise(matrix) => (primitives.gemm)(Gemm {
                rows: batch.points(),
                inner: self.inputs,
                outer: self.outputs,
                a: from,
                b: matrix.data(),
                c: to,
            }),
            Kind::Winograd { weights, places } => {
                let size = TileSize::best(batch.width, batch.height);
                let index = usize::from(size == TileSize::Four);
                let places = places[index].get_or_init(|| self.at_places(weights, size, primitives.panel));
                self.winograd(primitives, batch, size, places.as_slice(), (from, to), workspace);
            }
            Kind::Tiles(convolution) => {
                let unit = primitives.tiles.as_ref().expect("only made where there is a unit");
                convolution.run(unit, batch, from, to, &mut workspace.tiles);
            }
            Kind::Window { weights, width, height } => {
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

    /// The weights at all places, a packed matrix for each.
    fn at_places(&self, weights: &[f32], size: TileSize, panel: usize) -> Buffer {
        let each = self.inputs * self.outputs;
        let mut rows = vec![0.0; size.places() * each];
        let mut at_places = vec![0.0; size.places()];
        for index in 0..each {
            size.transform_window(
                std::array::from_fn(|at| f64::from(weights[at * each + index])),
                &mut at_places,
            );
            for (place, &weight) in at_places.iter().enumerate() {
                rows[place * each + index] = weight as f32;
            }
        }
        let mut packed = Buffer::zeroed(rows.len());
        for (rows, packed) in rows.chunks_exact(each).zip(packed.as_mut_slice().chunks_exact_mut(each)) {
            pack_into(rows, self.outputs, panel, packed);
        }
        packed
    }

    fn winograd(
        &self,
        primitives: &Primitives,
        batch: Batch,
        size: TileSize,
        weights: &[f32],
        (from, to): (&mut [f32], &mut [f32]),
        workspace: &mut Workspace,
    ) {
        let Batch { width, height, .. } = batch;
        let at_a_time = (TILES / size.tiles(width, height)).max(1);
        let each = self.inputs * self.outputs;
        from[batch.points() * self.inputs..][..self.inputs].fill(0.0);
        let mut done = 0;
        while done < batch.count {
            let count = at_a_time.min(batch.count - done);
            let outside = batch.points() - done * batch.area();
            let inputs = Boards { size, width, height, count, channels: self.inputs, outside };
            let outputs = Boards { channels: self.outputs, ..inputs };
            let tiles = inputs.tiles();
            let places = workspace.places.at_least(inputs.places_len());
            let products = workspace.products.at_least(outputs.places_len());
            let first = done * batch.area();
            (primitives.to_places)(&inputs, &from[first * self.inputs..], places);
            for place in 0..size.places() {
                (primitives.gemm)(Gemm {
                    rows: tiles,
                    inner: self.inputs,
                    outer: self.outputs,
                    a: &places[place * tiles * self.inputs..],
                    b: &weights[place * each..],
                    c: &mut products[place * tiles * self.outputs..],
                });
            }
            (primitives.from_places)(&outputs, products, &mut to[first * self.outputs..]);
            done += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::kernels::Kernel;
    use crate::rng::Rng;

    /// Whole numbers from −3 to 3, which 16 bits hold exactly.
    fn numbers(rng: &mut Rng, count: usize) -> Vec<f32> {
        (0..count).map(|_| rng.below(7) as f32 - 3.0).collect()
    }

    /// What a convolution gives for one output of one point, by its definition.
    fn definition(
        conv: &Conv,
        batch: Batch,
        plane: &[f32],
        (board, y, x): (usize, usize, usize),
        output: usize,
    ) -> f32 {
        let mut sum = 0.0;
        for (index, weight) in
            conv.weights.iter().enumerate().filter(|(index, _)| index % conv.outputs == output)
        {
            let input = index / conv.outputs % conv.inputs;
            let place = index / conv.outputs / conv.inputs;
            let from_x = (x + place % conv.width).wrapping_sub(conv.width / 2);
            let from_y = (y + place / conv.width).wrapping_sub(conv.height / 2);
            if from_x < batch.width && from_y < batch.height {
                sum += weight
                    * plane[((board * batch.height + from_y) * batch.width + from_x) * conv.inputs + input];
            }
        }
        sum
    }

    /// Two convolutions of the same input, with different windows and odd numbers of channels, joined, on several
    /// boards of several sizes, by all kernels. Memory is used again and is full of other numbers.
    #[test]
    fn convolutions_are_what_their_definition_says() {
        let mut rng = Rng::new(3);
        let kernels = Kernel::ALL.into_iter().chain([Kernel::EmulatedBf16]);
        let mut workspace = Workspace::default();
        for kernel in kernels.filter(|kernel| kernel.is_available()) {
            let primitives = Primitives::of(kernel);
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
                    weights: numbers(&mut rng, height * width * inputs * outputs),
                };
                let convs = [conv(width, height, 7), conv(width.min(3), 1, 35)];
                let batch = Batch { width: size.0, height: size.1, count: size.2 };
                let plane = numbers(&mut rng, batch.points() * inputs);
                let joined = Convolution::new(&[&convs[0], &convs[1]], &primitives);
                let padded = inputs.next_multiple_of(primitives.align);
                let mut from = vec![f32::NAN; batch.plane_len(padded)];
                for (to, from) in from.chunks_mut(padded).zip(plane.chunks(inputs)) {
                    to.fill(0.0);
                    to[..inputs].copy_from_slice(from);
                }
                let mut to = vec![f32::NAN; batch.plane_len(joined.outputs())];
                joined.run(&primitives, batch, &mut from, &mut to, &mut workspace);
                let second = 7usize.next_multiple_of(primitives.align);
                for point in 0..batch.points() {
                    let place =
                        (point / batch.area(), point / batch.width % batch.height, point % batch.width);
                    let to = &to[point * joined.outputs()..][..joined.outputs()];
                    for (conv, first) in convs.iter().zip([0, second]) {
                        for output in 0..conv.outputs {
                            let wanted = definition(conv, batch, &plane, place, output);
                            let difference = (to[first + output] - wanted).abs();
                            // Winograd's transformation has thirds; tiles are exact.
                            let tolerance = if kernel.is_rounded() { 0.0 } else { 2e-3 };
                            assert!(difference <= tolerance, "{}: {difference} of {wanted}", kernel.name());
                        }
                        let filling =
                            first + conv.outputs..first + conv.outputs.next_multiple_of(primitives.align);
                        assert!(to[filling].iter().all(|&x| x == 0.0), "what fills up is zero");
                    }
                }
            }
        }
    }
}
