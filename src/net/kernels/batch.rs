//! Batches of boards, and joined convolutions of the same input.

use super::product::ROW_ALIGN;
use crate::layer::Conv;

/// Several boards of the same size that are evaluated together.
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

    /// Returns the number of points of all boards.
    pub(super) fn points(self) -> usize {
        self.count * self.area()
    }

    /// Returns the length of a plane with `channels` channels. The plane has at least one additional point after those
    /// of the boards. Convolutions use it for everything outside the board, and products may write to it.
    pub(super) fn plane_len(self, channels: usize) -> usize {
        (self.points() + 1).next_multiple_of(ROW_ALIGN) * channels
    }
}

/// Several convolutions of the same input, joined into one.
#[derive(Debug)]
pub(super) struct JoinedConv<T = f32> {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    /// Weights, of shape `[height][width][inputs][outputs]`.
    pub(super) weights: Vec<T>,
}

/// Returns the size of the window of joined convolutions: its columns and rows.
pub(super) fn joined_window(convs: &[&Conv]) -> (usize, usize) {
    let width = convs.iter().map(|conv| conv.width).max().unwrap_or(1);
    let height = convs.iter().map(|conv| conv.height).max().unwrap_or(1);
    (width, height)
}

impl JoinedConv {
    /// Joins convolutions. With zeros, the inputs are padded to a multiple of `input_align`, the outputs of each
    /// convolution to a multiple of `align`, and smaller windows to the size of the largest one.
    pub(super) fn new(convs: &[&Conv], input_align: usize, align: usize) -> JoinedConv {
        let weights: Vec<_> = convs.iter().map(|conv| conv.weights.floats()).collect();
        JoinedConv::of(convs, &weights, input_align, align)
    }
}

impl<T: Copy + Default> JoinedConv<T> {
    /// Joins convolutions with these weights, in the same way.
    pub(super) fn of(
        convs: &[&Conv],
        all_weights: &[impl AsRef<[T]>],
        input_align: usize,
        align: usize,
    ) -> JoinedConv<T> {
        let (width, height) = joined_window(convs);
        let inputs = convs[0].inputs.next_multiple_of(input_align);
        let outputs = convs.iter().map(|conv| conv.outputs.next_multiple_of(align)).sum();
        let mut weights = vec![T::default(); height * width * inputs * outputs];
        let mut column = 0;
        for (conv, of_conv) in convs.iter().zip(all_weights) {
            let (left, top) = ((width - conv.width) / 2, (height - conv.height) / 2);
            for (index, row) in of_conv.as_ref().chunks_exact(conv.outputs).enumerate() {
                let (place, input) = (index / conv.inputs, index % conv.inputs);
                let place = (top + place / conv.width) * width + left + place % conv.width;
                weights[(place * inputs + input) * outputs + column..][..conv.outputs].copy_from_slice(row);
            }
            column += conv.outputs.next_multiple_of(align);
        }
        JoinedConv { width, height, inputs, outputs, weights }
    }
}
