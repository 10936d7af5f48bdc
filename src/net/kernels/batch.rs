//! Boards that are evaluated together, and convolutions of the same planes as one.

use super::product::ROW_ALIGN;
use crate::layer::Conv;

/// Several boards of one size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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

    /// Numbers in a plane with so many channels. There is at least one point behind all others, which convolutions
    /// use for what is outside the board, and products write to.
    pub(super) fn plane_len(self, channels: usize) -> usize {
        (self.points() + 1).next_multiple_of(ROW_ALIGN) * channels
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
