//! Products of bytes by tiles, as Intel's matrix extensions compute them.
//!
//! A tile is 16 rows of up to 64 bytes. One instruction multiplies 16 rows of 64 bytes without a sign with 64 rows of 16
//! bytes with a sign, and adds the products to 16 × 16 sums in 32 bits. What a tile of the second matrix looks like in memory is what
//! a panel looks like for vectors: four rows become one, column by column. So matrices are packed as for vectors, sums are exactly
//! theirs, and what becomes of the sums is the same code.
//!
//! The product is written against [`Tiles`], a few operations on tiles. They are instructions (`amx.rs`) or, in tests,
//! a model of them in plain Rust.

use super::buffer::Buffer;
use super::product::{ByteProduct, Factors, Finish, Rows};
use super::simd::{PANEL_VECTORS, Simd};
use std::cell::Cell;

/// Rows of every tile.
pub(super) const ROWS: usize = 16;

/// Bytes in a row of a tile of the first matrix. What the number of its columns must be a multiple of.
pub(super) const DEPTH: usize = 64;

/// Words in such a row.
const WORDS: usize = DEPTH / 4;

/// Rows of a block of the result.
const BLOCK: usize = 2 * ROWS;

/// The registers of a processor that hold a tile each, by their numbers: 0 to 3 are sums, 4 and 5 of the first matrix, 6 and 7 of
/// the second.
pub(super) trait Tiles {
    /// Columns of the sums and of tiles of the second matrix.
    const COLUMNS: usize;

    /// Sums of zero.
    fn zero<const TILE: usize>(&mut self);
    /// Fills tiles 4 to 7 with rows that begin `stride` bytes apart.
    ///
    /// # Panics
    /// If there are too few bytes.
    fn load<const TILE: usize>(&mut self, from: &[u8], stride: usize);
    /// To each sum, adds the products of a row of the first tile with a column of the second.
    fn add_products<const SUMS: usize, const FIRST: usize, const SECOND: usize>(&mut self);
    /// Writes sums, row by row, with so many from one row to the next.
    ///
    /// # Panics
    /// If there is no memory for all.
    fn store<const TILE: usize>(&self, to: &mut [i32], stride: usize);
}

thread_local! {
    /// A block of the first matrix.
    static MEMORY: Cell<Buffer<u8>> = Cell::default();
}

/// Computes products by tiles.
#[derive(Debug)]
pub(super) struct ByTiles<T>(pub(super) T);

impl<S: Simd, T: Tiles> ByteProduct<S> for ByTiles<T> {
    #[inline(always)]
    unsafe fn product<R, F>(&mut self, s: S, it: Factors<'_, R>, finish: &F)
    where
        R: Rows,
        F: Finish<S, S::I>,
    {
        let panel = PANEL_VECTORS * S::LANES;
        assert!(T::COLUMNS == S::LANES && it.outer.is_multiple_of(panel) && it.inner.is_multiple_of(WORDS));
        let steps = it.pieces.len() * it.inner / WORDS;
        let (a, b): (&[u8], &[u8]) = (bytemuck::cast_slice(it.a), bytemuck::cast_slice(it.b));
        // Bytes of what a step takes of a panel, and of a row of it.
        let (of_step, of_row) = (WORDS * panel * 4, panel * 4);
        let mut memory = MEMORY.take();
        let block = memory.at_least(steps * BLOCK * DEPTH);
        let mut sums = [0i32; BLOCK * PANEL_VECTORS * 16];
        assert!(panel * BLOCK <= sums.len());
        for first in (0..it.rows).step_by(BLOCK) {
            let rows = BLOCK.min(it.rows - first);
            // What stands in rows that do not exist is multiplied and not looked at.
            for row in 0..rows {
                let start = it.starts.start(first + row);
                let mut step = 0;
                for piece in it.pieces {
                    let from = &a[(start + piece) * 4..][..it.inner * 4];
                    for from in from.chunks_exact(DEPTH) {
                        block[(step * BLOCK + row) * DEPTH..][..DEPTH].copy_from_slice(from);
                        step += 1;
                    }
                }
            }
            for (index, column) in (0..it.outer).step_by(panel).enumerate() {
                let tiles = &mut self.0;
                tiles.zero::<0>();
                tiles.zero::<1>();
                tiles.zero::<2>();
                tiles.zero::<3>();
                for step in 0..steps {
                    let a = &block[step * BLOCK * DEPTH..];
                    let b = &b[(index * steps + step) * of_step..][..of_step];
                    tiles.load::<6>(b, of_row);
                    tiles.load::<7>(&b[of_row / 2..], of_row);
                    tiles.load::<4>(a, DEPTH);
                    tiles.add_products::<0, 4, 6>();
                    tiles.add_products::<1, 4, 7>();
                    if rows > ROWS {
                        tiles.load::<5>(&a[ROWS * DEPTH..], DEPTH);
                        tiles.add_products::<2, 5, 6>();
                        tiles.add_products::<3, 5, 7>();
                    }
                }
                tiles.store::<0>(&mut sums, panel);
                tiles.store::<1>(&mut sums[S::LANES..], panel);
                tiles.store::<2>(&mut sums[ROWS * panel..], panel);
                tiles.store::<3>(&mut sums[ROWS * panel + S::LANES..], panel);
                // SAFETY: the caller's: such rows and columns exist; `sums` has a panel for each row of a block.
                unsafe {
                    let begin = finish.begin(s, column);
                    for row in 0..rows {
                        let from = sums[row * panel..][..panel].as_ptr();
                        let left = s.add_int(begin[0], s.load_int(from));
                        let right = s.add_int(begin[1], s.load_int(from.add(S::LANES)));
                        finish.finish(s, first + row, column, [left, right]);
                    }
                }
            }
        }
        MEMORY.set(memory);
    }
}

/// Do tiles compute a known answer: in each tile of sums the sum of two products of all bytes?
pub(super) fn are_right<T: Tiles>(tiles: &mut T) -> bool {
    const STRIDE: usize = 2 * DEPTH;
    // Both factors are odd, so that every byte comes up.
    let bytes =
        |factor: usize| -> Vec<u8> { (0..ROWS * STRIDE).map(|at| (at * factor + at / 7) as u8).collect() };
    let (first, second) = (bytes(97), bytes(59));
    // Where the tiles of the first product begin; those of the second begin one byte later.
    const STARTS: [usize; 2] = [0, DEPTH - 1];
    tiles.zero::<0>();
    tiles.zero::<1>();
    tiles.zero::<2>();
    tiles.zero::<3>();
    for at in [0, 1] {
        tiles.load::<4>(&first[STARTS[0] + at..], STRIDE);
        tiles.load::<5>(&first[STARTS[1] + at..], STRIDE);
        tiles.load::<6>(&second[STARTS[0] + at..], STRIDE);
        tiles.load::<7>(&second[STARTS[1] + at..], STRIDE);
        tiles.add_products::<0, 4, 6>();
        tiles.add_products::<1, 4, 7>();
        tiles.add_products::<2, 5, 6>();
        tiles.add_products::<3, 5, 7>();
    }
    let size = ROWS * T::COLUMNS;
    let mut found = vec![0; 4 * size];
    tiles.store::<0>(&mut found, T::COLUMNS);
    tiles.store::<1>(&mut found[size..], T::COLUMNS);
    tiles.store::<2>(&mut found[2 * size..], T::COLUMNS);
    tiles.store::<3>(&mut found[3 * size..], T::COLUMNS);
    found.iter().enumerate().all(|(index, &found)| {
        let (tile, row, column) = (index / size, index % size / T::COLUMNS, index % T::COLUMNS);
        let (first, second) = (&first[STARTS[tile / 2]..], &second[STARTS[tile % 2]..]);
        let terms = (0..2 * DEPTH).map(|term| {
            let (at, depth) = (term / DEPTH, term % DEPTH);
            let weight = second[at + depth / 4 * STRIDE + 4 * column + depth % 4] as i8;
            i32::from(first[at + row * STRIDE + depth]) * i32::from(weight)
        });
        found == terms.sum::<i32>()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Input;
    use crate::kernels::forward::Scratch;
    use crate::kernels::kernel::{Arithmetic, Kernel, Precision};
    use crate::kernels::linear::{Multiplication, multiply_by};
    use crate::kernels::prepared::Prepared;
    use crate::kernels::primitives::Primitives;
    use crate::kernels::simd::Portable;
    use crate::layer::Activation;
    use crate::random::{BlockKind, Options, network};
    use kosumi_go::rng::Rng;

    /// The registers, and what the instructions do with them.
    ///
    /// CITE: Intel, "Architecture instruction set extensions programming reference", TILELOADD, TDPBUSD, TILESTORED.
    struct Model<const COLUMNS: usize> {
        tiles: [[[u8; DEPTH]; ROWS]; 8],
    }

    impl<const COLUMNS: usize> Model<COLUMNS> {
        fn new() -> Model<COLUMNS> {
            Model { tiles: [[[0xa5; DEPTH]; ROWS]; 8] }
        }
    }

    impl<const COLUMNS: usize> Tiles for Model<COLUMNS> {
        const COLUMNS: usize = COLUMNS;

        fn zero<const TILE: usize>(&mut self) {
            self.tiles[TILE] = [[0; DEPTH]; ROWS];
        }

        fn load<const TILE: usize>(&mut self, from: &[u8], stride: usize) {
            let bytes = if TILE < 6 { DEPTH } else { 4 * COLUMNS };
            for (row, to) in self.tiles[TILE].iter_mut().enumerate() {
                to[..bytes].copy_from_slice(&from[row * stride..][..bytes]);
            }
        }

        fn add_products<const SUMS: usize, const FIRST: usize, const SECOND: usize>(&mut self) {
            for row in 0..ROWS {
                for column in 0..COLUMNS {
                    let place = &self.tiles[SUMS][row][4 * column..][..4];
                    let mut sum = i32::from_le_bytes(place.try_into().unwrap());
                    for depth in 0..DEPTH {
                        let first = self.tiles[FIRST][row][depth];
                        let second = self.tiles[SECOND][depth / 4][4 * column + depth % 4] as i8;
                        sum = sum.wrapping_add(i32::from(first) * i32::from(second));
                    }
                    self.tiles[SUMS][row][4 * column..][..4].copy_from_slice(&sum.to_le_bytes());
                }
            }
        }

        fn store<const TILE: usize>(&self, to: &mut [i32], stride: usize) {
            for (row, from) in self.tiles[TILE].iter().enumerate() {
                for (to, from) in to[row * stride..][..COLUMNS].iter_mut().zip(from.chunks_exact(4)) {
                    *to = i32::from_le_bytes(from.try_into().unwrap());
                }
            }
        }
    }

    #[test]
    fn the_model_gives_the_known_answer_and_what_computes_something_else_does_not() {
        /// Without the highest bits of the first matrix.
        struct Without(Model<16>);
        impl Tiles for Without {
            const COLUMNS: usize = 16;

            fn zero<const TILE: usize>(&mut self) {
                self.0.zero::<TILE>();
            }

            fn load<const TILE: usize>(&mut self, from: &[u8], stride: usize) {
                self.0.load::<TILE>(from, stride);
            }

            fn add_products<const SUMS: usize, const FIRST: usize, const SECOND: usize>(&mut self) {
                self.0.tiles[FIRST].as_flattened_mut().iter_mut().for_each(|byte| *byte &= 0x7f);
                self.0.add_products::<SUMS, FIRST, SECOND>();
            }

            fn store<const TILE: usize>(&self, to: &mut [i32], stride: usize) {
                self.0.store::<TILE>(to, stride);
            }
        }
        assert!(are_right(&mut Model::<16>::new()));
        assert!(!are_right(&mut Without(Model::new())));
    }

    fn multiply(it: Multiplication<'_>) {
        multiply_by(Portable, &mut ByTiles(Model::<{ Portable::LANES }>::new()), it);
    }

    /// Integers are exact, and the sums go through the same code: nothing may differ. Windows, single points, attention and
    /// feed-forward blocks; as many points as one block, half a block and several have.
    #[test]
    fn networks_on_tiles_of_integers_are_bit_for_bit_those_on_vectors() {
        let arithmetic = Arithmetic { kernel: Kernel::Portable, precision: Precision::Int8 };
        let vectors = Primitives { align: DEPTH, ..Primitives::of(Kernel::Portable) };
        let tiles = Primitives { multiply, ..vectors };
        use BlockKind::{Attention, FeedForward, GlobalPooling, Nested, Ordinary};
        for (version, blocks, activation) in [
            (8, vec![Ordinary, GlobalPooling], Activation::Relu),
            (17, vec![Nested, Attention, FeedForward], Activation::Silu),
        ] {
            let options =
                Options { version, blocks, channels: 70, activation, seed: 3, ..Options::default() };
            let network = network(&options).unwrap();
            for (width, height) in [(6, 7), (4, 4), (8, 5)] {
                let mut rng = Rng::new(version.into());
                let mut input = Input::zero(width, height);
                input.spatial.iter_mut().chain(&mut input.global).for_each(|x| *x = rng.unit() as f32 - 0.5);
                let run = |primitives| {
                    let prepared = Prepared::with_primitives(&network, arithmetic, primitives);
                    prepared.evaluate(&[&input; 2], &mut Scratch::default()).unwrap()
                };
                assert_eq!(run(tiles), run(vectors));
            }
        }
    }
}
