//! Convolutions with any window whose input is mostly zeros, which is the first convolution of a network.
//!
//! At a typical point, 3 or 4 of the 22 features are not zero, and the window of 5 × 5 points is large. Adding only the
//! weights of these features takes a sixth of the time of a product of matrices, and is exact.

use super::simd::Simd;
use std::ops::Range;

/// Convolution of a sparse input.
#[derive(Debug)]
pub(super) struct Sparse<'c> {
    /// Numbers of columns and rows of the board.
    pub(super) board: (usize, usize),
    /// Numbers of columns and rows of the window.
    pub(super) window: (usize, usize),
    pub(super) inputs: usize,
    /// Number of outputs; a multiple of the vector length.
    pub(super) outputs: usize,
    /// Weights, of shape `[height][width][inputs][outputs]`.
    pub(super) weights: &'c [f32],
    /// Initial value of every point, of shape `[outputs]`.
    pub(super) bias: &'c [f32],
    /// Inputs of the points that are not zero.
    pub(super) set: &'c SetInputs,
}

/// Non-zero inputs of every point.
#[derive(Clone, Debug, Default)]
pub(super) struct SetInputs {
    /// Indices and values of the inputs, point by point.
    inputs: Vec<(u32, f32)>,
    /// Start of each point's entries in `inputs`, and the end of the last point's.
    starts: Vec<usize>,
}

impl SetInputs {
    /// Finds the non-zero inputs of points. Each point has `inputs` numbers, and points are `stride` numbers apart.
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

/// Computes the convolution and writes it to `to`, of shape `[points][outputs]`.
#[inline(always)]
pub(super) fn sparse<S: Simd>(s: S, it: &Sparse<'_>, to: &mut [f32]) {
    let weights = it.window.0 * it.window.1 * it.inputs * it.outputs;
    assert!(it.weights.len() >= weights && it.bias.len() >= it.outputs);
    assert!(to.len() >= it.board.0 * it.board.1 * it.outputs && it.outputs.is_multiple_of(S::LANES));
    // Computes as many sums at once as fit into the registers.
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

/// Returns the rows (or columns) of a window centred on row `to` that lie on a board with `board` rows.
#[inline(always)]
fn on_board(window: usize, to: usize, board: usize) -> Range<usize> {
    let middle = window / 2;
    middle.saturating_sub(to)..window.min(board + middle - to)
}

/// Computes `VECTORS` vectors of outputs from `first` on, and advances `first` past them.
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
