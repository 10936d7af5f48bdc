//! Convolutions whose input is mostly zeros, with any window: the first one of a network.
//!
//! On a usual point, 3 or 4 of the 22 features are not zero, and the window of 5 × 5 points is large. Adding up only
//! the weights of what is set takes a sixth of the time of a product of matrices, and is exact.

use super::simd::Simd;

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
            4.. => outputs::<S, 4>(s, it, &mut first, to),
            _ => outputs::<S, 1>(s, it, &mut first, to),
        }
    }
}

/// Computes `VECTORS` vectors of outputs from `first` on, and moves `first` on.
#[inline(always)]
fn outputs<S: Simd, const VECTORS: usize>(s: S, it: &Sparse<'_>, first: &mut usize, to: &mut [f32]) {
    let (width, height) = it.board;
    let (window_width, window_height) = it.window;
    let begin: [S::V; VECTORS] = std::array::from_fn(|vector| s.load(&it.bias[*first + vector * S::LANES..]));
    for point in 0..width * height {
        let (to_x, to_y) = (point % width, point / width);
        let mut sums = begin;
        for window in 0..window_width * window_height {
            // The middle of the window lies on the point.
            let from_x = (to_x + window % window_width).wrapping_sub(window_width / 2);
            let from_y = (to_y + window / window_width).wrapping_sub(window_height / 2);
            if from_x >= width || from_y >= height {
                continue;
            }
            for &(input, x) in it.set.of(from_y * width + from_x) {
                let row = (window * it.inputs + input as usize) * it.outputs + *first;
                let weights = &it.weights[row..][..VECTORS * S::LANES];
                let x = s.splat(x);
                for (vector, sum) in sums.iter_mut().enumerate() {
                    *sum = s.mul_add(x, s.load(&weights[vector * S::LANES..]), *sum);
                }
            }
        }
        let to = &mut to[point * it.outputs + *first..][..VECTORS * S::LANES];
        for (vector, &sum) in sums.iter().enumerate() {
            s.store(sum, &mut to[vector * S::LANES..]);
        }
    }
    *first += VECTORS * S::LANES;
}
