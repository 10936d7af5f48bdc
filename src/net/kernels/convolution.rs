//! Convolutions with their weights in the order in which kernels read them.

use super::buffer::Buffer;
use super::gemm::{Gemm, Packed, pack_into};
use super::primitives::Primitives;
use super::sparse::{SetInputs, Sparse};
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
    /// Any other window, seldom seen.
    Window { weights: Vec<f32>, width: usize, height: usize },
}

/// Memory that convolutions need while they run.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    places: Buffer,
    products: Buffer,
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
    /// Joins them. The inputs are filled up to a multiple of `input_panel`, the outputs of each to one of `panel`,
    /// and smaller windows to the size of the largest, all with zeros.
    pub(super) fn new(convs: &[&Conv], input_panel: usize, panel: usize) -> Joined {
        let width = convs.iter().map(|conv| conv.width).max().unwrap_or(1);
        let height = convs.iter().map(|conv| conv.height).max().unwrap_or(1);
        let inputs = convs[0].inputs.next_multiple_of(input_panel);
        let outputs = convs.iter().map(|conv| conv.outputs.next_multiple_of(panel)).sum();
        let mut weights = vec![0.0; height * width * inputs * outputs];
        let mut column = 0;
        for conv in convs {
            let (left, top) = ((width - conv.width) / 2, (height - conv.height) / 2);
            for (index, row) in conv.weights.chunks_exact(conv.outputs).enumerate() {
                let (place, input) = (index / conv.inputs, index % conv.inputs);
                let place = (top + place / conv.width) * width + left + place % conv.width;
                weights[(place * inputs + input) * outputs + column..][..conv.outputs].copy_from_slice(row);
            }
            column += conv.outputs.next_multiple_of(panel);
        }
        Joined { width, height, inputs, outputs, weights }
    }
}

impl Convolution {
    /// Several convolutions of the same input as one; their outputs lie behind each other, each filled up to a
    /// multiple of `panel`.
    pub(super) fn new(convs: &[&Conv], panel: usize) -> Convolution {
        let Joined { width, height, inputs, outputs, weights } = Joined::new(convs, panel, panel);
        let kind = match (width, height) {
            (1, 1) => Kind::Pointwise(Packed::new(&weights, outputs, panel)),
            (3, 3) => Kind::Winograd { weights, places: Default::default() },
            (width, height) => Kind::Window { weights, width, height },
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
