//! Convolutions whose input is mostly zeros, with any window: the first one of a network.
//!
//! On a usual point, 3 or 4 of the 22 features are not zero, and the window of 5 × 5 points is large. Adding up only
//! the weights of what is set takes a sixth of the time of a product of matrices, and is exact.

use super::simd::Simd;
use std::ops::Range;

/// A convolution.
#[derive(Debug)]
pub(super) struct Sparse<'c> {
    /// Columns and rows of the board.
    pub(super) board: (usize, usize),
    /// Columns and rows of the window.
    pub(super) window: (usize, usize),
    pub(super) inputs: usize,
    /// A multiple of a vector.
    pub(super) outputs: usize,
    /// `[y][x][input][output]`
    pub(super) weights: &'c [f32],
    /// What every point begins with, for each output.
    pub(super) bias: &'c [f32],
    /// The points' inputs.
    pub(super) set: &'c SetInputs,
}

/// The inputs of every point that are not zero.
#[derive(Clone, Debug, Default)]
pub(super) struct SetInputs {
    /// Inputs and their values, point by point.
    inputs: Vec<(u32, f32)>,
    /// Where a point's inputs begin; one more than there are points.
    starts: Vec<usize>,
}

impl SetInputs {
    /// Looks through points of `inputs` numbers each, which lie `stride` apart.
    pub(super) fn find(&mut self, points: &[f32], inputs: usize, stride: usize) {
        self.inputs.clear();
        self.starts.clear();
        self.starts.push(0);
        for point in points.chunks(stride) {
            let set = point[..inputs].iter().enumerate().filter(|&(_, &x)| x != 0.0);
            self.inputs.extend(set.map(|(input, &x)| (input as u32, x)));
            self.starts.push(self.inputs.len());
        }
    }

    fn of(&self, point: usize) -> &[(u32, f32)] {
        &self.inputs[self.starts[point]..self.starts[point + 1]]
    }
}

/// Writes the result to `to`: `[point][output]`.
#[inline(always)]
pub(super) fn sparse<S: Simd>(s: S, it: &Sparse<'_>, to: &mut [f32]) {
    let weights = it.window.0 * it.window.1 * it.inputs * it.outputs;
    assert!(it.weights.len() >= weights && it.bias.len() >= it.outputs);
    assert!(to.len() >= it.board.0 * it.board.1 * it.outputs && it.outputs.is_multiple_of(S::LANES));
    // As many sums as registers can hold.
    let mut first = 0;
    while first < it.outputs {
        let vectors = (it.outputs - first) / S::LANES;
        match vectors {
            12.. => outputs::<S, 12>(s, it, &mut first, to),
            8.. => outputs::<S, 8>(s, it, &mut first, to),
            6.. => outputs::<S, 6>(s, it, &mut first, to),
            4.. => outputs::<S, 4>(s, it, &mut first, to),
            2.. => outputs::<S, 2>(s, it, &mut first, to),
            _ => outputs::<S, 1>(s, it, &mut first, to),
        }
    }
}

/// The rows or columns of a window, laid with its middle on `to`, that lie on a board of so many.
#[inline(always)]
fn on_board(window: usize, to: usize, board: usize) -> Range<usize> {
    let middle = window / 2;
    middle.saturating_sub(to)..window.min(board + middle - to)
}

/// Computes `VECTORS` vectors of outputs from `first` on, and moves `first` on.
#[inline(always)]
fn outputs<S: Simd, const VECTORS: usize>(s: S, it: &Sparse<'_>, first: &mut usize, to: &mut [f32]) {
    let (width, height) = it.board;
    let (window_width, window_height) = it.window;
    let begin: [S::V; VECTORS] = std::array::from_fn(|vector| s.load(&it.bias[*first + vector * S::LANES..]));
    for to_y in 0..height {
        for to_x in 0..width {
            let mut sums = begin;
            let columns = on_board(window_width, to_x, width);
            for window_y in on_board(window_height, to_y, height) {
                let from = (to_y + window_y - window_height / 2) * width + to_x;
                for window_x in columns.clone() {
                    let window = (window_y * window_width + window_x) * it.inputs;
                    for &(input, x) in it.set.of(from + window_x - window_width / 2) {
                        let row = (window + input as usize) * it.outputs + *first;
                        let weights = &it.weights[row..][..VECTORS * S::LANES];
                        let x = s.splat(x);
                        for (vector, sum) in sums.iter_mut().enumerate() {
                            *sum = s.mul_add(x, s.load(&weights[vector * S::LANES..]), *sum);
                        }
                    }
                }
            }
            let to = &mut to[(to_y * width + to_x) * it.outputs + *first..][..VECTORS * S::LANES];
            for (vector, &sum) in sums.iter().enumerate() {
                s.store(sum, &mut to[vector * S::LANES..]);
            }
        }
    }
    *first += VECTORS * S::LANES;
}
