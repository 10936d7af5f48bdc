//! Convolutions by products of tiles of 16-bit numbers, as in Intel's matrix extensions.
//!
//! A tile has 16 rows of 64 bytes. One instruction multiplies 16 × 32 by 32 × 16 numbers of 16 bits and adds the
//! products to 16 × 16 sums of 32 bits. The numbers are bf16: the upper 16 bits of an `f32`.
//!
//! Winograd's transformation is not used, because 16 bits are not precise enough for it. A convolution is the sum of
//! one product of matrices per element of the window. The points lie on a grid with columns and rows of zeros where the
//! window reaches outside the board. The points of a tile, shifted by an element of the window, are then a tile again:
//!
//! ```text
//! a board of 3 × 2        . . . . .    margin, for windows that reach above the first row
//! and a window of         1 2 3 .      a column of zeros after each row serves
//! 3 × 3                   4 5 6 .      the row before and the row after
//!                         . . . .      a row of zeros after each board
//! ```

use super::batch::{Batch, JoinedConv};
use super::bf16::{from_bf16, to_bf16};
use super::buffer::Buffer;

/// Divisor of the numbers of input and output channels.
pub(super) const CHANNELS: usize = 32;

/// Number of rows and of columns of a block of the result, which consists of 2 × 2 tiles.
pub(super) const BLOCK: usize = 32;

/// Product of one block of points and the weights of all steps. The result is the sum over the steps.
#[derive(Debug)]
pub(super) struct Product<'p> {
    /// Part of the grid from the first window element of the block's first point on.
    pub(super) grid: &'p [u16],
    /// Index of the block's first point in `grid`, for each step.
    pub(super) offsets: &'p [usize],
    /// Stride between points.
    pub(super) channels: usize,
    /// Two tiles of weights per step, of shape `[steps][2][16][16][2]`. A tile holds 32 inputs in pairs.
    pub(super) weights: &'p [u16],
    /// Block of the result.
    pub(super) c: &'p mut Block,
}

/// Block of the result, row by row.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Block(pub(super) [[f32; BLOCK]; BLOCK]);

impl Product<'_> {
    /// Checks that no step reads out of bounds.
    ///
    /// # Panics
    ///
    /// Panics if the grid or the weights are too short for a step, or if there is no step.
    pub(super) fn check(&self) {
        let last =
            self.offsets.iter().max().map_or(0, |offset| offset + (BLOCK - 1) * self.channels + CHANNELS);
        assert!(self.grid.len() >= last, "the grid is too short for the block");
        assert!(self.weights.len() >= self.offsets.len() * 2 * TILE, "the weights need two tiles per step");
        assert!(!self.offsets.is_empty());
    }
}

/// Number of 16-bit numbers in a tile.
const TILE: usize = 16 * 32;

/// Matrix unit that is configured for products in this thread.
pub(super) trait BlockUnit {
    /// Computes a block.
    ///
    /// # Panics
    ///
    /// Panics as [`Product::check`] does.
    fn multiply(&mut self, it: Product<'_>);
}

/// Work for a matrix unit.
pub(super) type BlockWork<'a> = &'a mut (dyn FnMut(&mut dyn BlockUnit) + 'a);

/// Functions of a matrix unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct TileUnit {
    /// Configures the unit in this thread, runs the work and releases the unit.
    pub(super) run: fn(BlockWork<'_>),
    pub(super) to_grid: fn(&Grid, &[f32], &mut [u16]),
}

/// Layout of several boards of the same size with margins for windows of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    batch: Batch,
    /// Numbers of columns and rows that the window reaches to each side.
    reach: (usize, usize),
    channels: usize,
}

impl Grid {
    fn columns(&self) -> usize {
        self.batch.width + self.reach.0
    }

    /// Returns the number of points from the start of a board to the start of the next.
    fn board(&self) -> usize {
        self.columns() * (self.batch.height + self.reach.1)
    }

    /// Returns the number of points before the first point of the first board.
    fn margin(&self) -> usize {
        self.columns() * self.reach.1 + self.reach.0
    }

    /// Returns the number of rows of the result, including those without a point and the padding of the last block.
    fn rows(&self) -> usize {
        (self.batch.count * self.board()).next_multiple_of(BLOCK)
    }

    fn len(&self) -> usize {
        (self.rows() + 2 * self.margin()) * self.channels
    }

    /// Returns the index in a plane of a row's point, if the row has one.
    fn point(&self, row: usize) -> Option<usize> {
        let (board, place) = (row / self.board(), row % self.board());
        let (x, y) = (place % self.columns(), place / self.columns());
        let Batch { width, height, count } = self.batch;
        (board < count && x < width && y < height).then_some((board * height + y) * width + x)
    }
}

/// Converts a plane to a grid.
#[inline(always)]
pub(super) fn to_grid(grid: &Grid, plane: &[f32], to: &mut [u16]) {
    let channels = grid.channels;
    let width = grid.batch.width * channels;
    let mut rows = plane.chunks_exact(width);
    let (margin, rest) = to[..grid.len()].split_at_mut(grid.margin() * channels);
    margin.fill(0);
    let (boards, rest) = rest.split_at_mut(grid.batch.count * grid.board() * channels);
    rest.fill(0);
    for board in boards.chunks_exact_mut(grid.board() * channels) {
        for (y, row) in board.chunks_exact_mut(grid.columns() * channels).enumerate() {
            if y >= grid.batch.height {
                row.fill(0);
                continue;
            }
            let (points, zeros) = row.split_at_mut(width);
            zeros.fill(0);
            let Some(from) = rows.next() else { return };
            points.iter_mut().zip(from).for_each(|(to, &from)| *to = to_bf16(from));
        }
    }
}

/// Convolution whose weights are arranged in tiles.
#[derive(Debug)]
pub(super) struct TileConvolution {
    inputs: usize,
    outputs: usize,
    /// Numbers of columns and rows of the window.
    window: (usize, usize),
    /// Two tiles for each 32 outputs, each element of the window and each 32 inputs.
    weights: Vec<u16>,
}

/// Buffers of a [`TileConvolution`].
#[derive(Clone, Debug, Default)]
pub(super) struct TileWorkspace {
    grid: Buffer,
    offsets: Vec<usize>,
}

impl TileConvolution {
    pub(super) fn new(joined: &JoinedConv) -> TileConvolution {
        let &JoinedConv { width, height, inputs, outputs, ref weights } = joined;
        debug_assert!(inputs.is_multiple_of(CHANNELS) && outputs.is_multiple_of(BLOCK));
        let mut tiles = Vec::with_capacity(weights.len());
        for output in (0..outputs).step_by(16).collect::<Vec<_>>().chunks(2) {
            for place in 0..width * height {
                for input in (0..inputs).step_by(CHANNELS) {
                    for output in output {
                        // Row by row, with a pair of inputs per output.
                        for index in 0..TILE {
                            let (pair, column, which) = (index / 32, index / 2 % 16, index % 2);
                            let row = place * inputs + input + 2 * pair + which;
                            tiles.push(to_bf16(weights[row * outputs + output + column]));
                        }
                    }
                }
            }
        }
        TileConvolution { inputs, outputs, window: (width, height), weights: tiles }
    }

    /// Convolves the plane `from` and writes the result to the plane `to`.
    pub(super) fn run(
        &self,
        unit: &TileUnit,
        batch: Batch,
        from: &[f32],
        to: &mut [f32],
        workspace: &mut TileWorkspace,
    ) {
        let (width, height) = self.window;
        let grid = Grid { batch, reach: (width / 2, height / 2), channels: self.inputs };
        let TileWorkspace { grid: memory, offsets } = workspace;
        // Two 16-bit numbers per `f32` of the buffer.
        let numbers: &mut [u16] = bytemuck::cast_slice_mut(memory.at_least(grid.len().div_ceil(2)));
        (unit.to_grid)(&grid, &from[..batch.points() * self.inputs], numbers);
        offsets.clear();
        for place in 0..width * height {
            // The first element is the margin before the point, so that no offset is negative.
            let point = place / width * grid.columns() + place % width;
            offsets.extend((0..self.inputs).step_by(CHANNELS).map(|input| point * self.inputs + input));
        }
        let mut block = Block([[0.0; BLOCK]; BLOCK]);
        let each = offsets.len() * 2 * TILE;
        (unit.run)(&mut |unit| {
            for (output, weights) in (0..self.outputs).step_by(BLOCK).zip(self.weights.chunks_exact(each)) {
                for first in (0..grid.rows()).step_by(BLOCK) {
                    let grid_from = &numbers[first * self.inputs..];
                    let c = &mut block;
                    unit.multiply(Product { grid: grid_from, offsets, channels: self.inputs, weights, c });
                    for (row, numbers) in block.0.iter().enumerate() {
                        if let Some(point) = grid.point(first + row) {
                            to[point * self.outputs + output..][..BLOCK].copy_from_slice(numbers);
                        }
                    }
                }
            }
        });
    }
}

/// Emulation of the unit in plain Rust, for tests. The results are identical to those of the instructions.
pub(super) const EMULATED: TileUnit = TileUnit { run: |work| work(&mut Emulation), to_grid };

struct Emulation;

impl BlockUnit for Emulation {
    fn multiply(&mut self, it: Product<'_>) {
        emulated(it);
    }
}

fn emulated(it: Product<'_>) {
    it.check();
    for (row, sums) in it.c.0.iter_mut().enumerate() {
        sums.fill(0.0);
        for (step, offset) in it.offsets.iter().enumerate() {
            let points = &it.grid[offset + row * it.channels..][..CHANNELS];
            for (index, sums) in sums.chunks_exact_mut(16).enumerate() {
                let tile = &it.weights[(2 * step + index) * TILE..][..TILE];
                tile_row_product(points, tile, sums);
            }
        }
    }
}

/// Emulates `tdpbf16ps` for a row of its first tile.
///
/// The instruction sums the first and the second elements of pairs separately and then adds both sums to the previous
/// value. Denormal numbers count as zero, before and after every step. The product of two bf16 is exact, so separate
/// multiplication and addition round once, as the fused instruction does.
///
/// CITE: Intel, "Architecture instruction set extensions programming reference", TDPBF16PS.
fn tile_row_product(points: &[u16], tile: &[u16], sums: &mut [f32]) {
    let mut apart = [[0.0f32; 2]; 16];
    for (points, weights) in points.chunks_exact(2).zip(tile.chunks_exact(32)) {
        let points = [normal(from_bf16(points[0])), normal(from_bf16(points[1]))];
        for (apart, weights) in apart.iter_mut().zip(weights.chunks_exact(2)) {
            for which in 0..2 {
                let product = points[which] * normal(from_bf16(weights[which]));
                apart[which] = normal(apart[which] + product);
            }
        }
    }
    for (sum, apart) in sums.iter_mut().zip(apart) {
        *sum = normal(normal(*sum) + normal(apart[0] + apart[1]));
    }
}

/// Replaces a denormal number by zero.
fn normal(x: f32) -> f32 {
    if x.is_subnormal() { 0.0f32.copysign(x) } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emulation_sums_pairs_separately_and_flushes_denormals() {
        let product = |numbers: [(f32, f32); 4], before: f32| {
            let (mut points, mut tile, mut sums) = ([0; CHANNELS], [0; TILE], [0.0; 16]);
            for (index, (point, weight)) in numbers.into_iter().enumerate() {
                points[index] = to_bf16(point);
                // The last column.
                tile[index / 2 * 32 + 30 + index % 2] = to_bf16(weight);
            }
            sums[15] = before;
            tile_row_product(&points, &tile, &mut sums);
            assert!(sums[..15].iter().all(|&sum| sum == 0.0));
            sums[15]
        };
        assert_eq!(product([(1.0, 2.0), (3.0, 4.0), (5.0, 6.0), (7.0, 8.0)], 0.5), 100.5);
        // In a single sum, the small number would be lost in the large ones.
        let large = 2.0f32.powi(30);
        assert_eq!(product([(large, 1.0), (1.0, 1.0), (-large, 1.0), (0.0, 0.0)], 0.0), 1.0);
        let tiny = f32::MIN_POSITIVE;
        assert_eq!(product([(tiny, 0.5), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)], 0.0), 0.0);
        assert_eq!(product([(tiny / 4.0, 8.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)], 0.0), 0.0);
        assert_eq!(product([(tiny, 1.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)], 0.0), tiny);
    }

    #[test]
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    fn instructions_match_emulation() {
        use crate::kernels::amx;
        use kosumi_test_support::{Requirement, require};
        let found =
            if amx::is_available() { Ok(()) } else { Err("this processor has no tiles of bf16".to_owned()) };
        let Some(()) = require(Requirement::Amx, found) else { return };
        let mut rng = kosumi_go::rng::Rng::new(9);
        // Numbers of many magnitudes, so that sums are rounded, including some tiny ones.
        let mut number = || {
            let exponent = if rng.below(16) == 0 { rng.below(3) } else { 100 + rng.below(40) };
            (rng.below(2) << 15 | exponent << 7 | rng.below(128)) as u16
        };
        let mut numbers = |count| -> Vec<u16> { (0..count).map(|_| number()).collect() };
        let channels = 64;
        let offsets = [0, 32, channels, 5 * channels + 32];
        let grid = numbers((BLOCK + 5) * channels);
        let weights = numbers(offsets.len() * 2 * TILE);
        let run = |unit: TileUnit| {
            let mut block = Block([[f32::NAN; BLOCK]; BLOCK]);
            (unit.run)(&mut |unit| {
                let c = &mut block;
                unit.multiply(Product { grid: &grid, offsets: &offsets, channels, weights: &weights, c });
            });
            block.0.map(|row| row.map(f32::to_bits))
        };
        // SAFETY: the unit is available.
        assert_eq!(run(unsafe { amx::unit() }), run(EMULATED));
    }
}
