//! Products of bytes by tiles, as in Intel's matrix extensions.
//!
//! A tile has 16 rows of up to 64 bytes. One instruction multiplies 16 rows of 64 unsigned bytes by 64 rows of 16
//! signed bytes and adds the products to 16 × 16 sums of 32 bits. A tile of the second matrix has the memory layout of
//! a panel for vectors: four rows become one, column by column. Matrices are therefore packed as for vectors, the sums
//! are identical, and the code that processes the sums is shared.
//!
//! The product is generic over [`Tiles`], a few operations on tiles. Their implementations are instructions (`amx.rs`)
//! and, in tests, a model in plain Rust.

use super::buffer::Buffer;
use super::product::{ByteProduct, Epilogue, ProductArgs, RowStarts};
use super::simd::{PANEL_VECTORS, Simd};
use std::cell::Cell;

/// Number of rows of a tile.
pub(super) const ROWS: usize = 16;

/// Number of bytes in a row of a tile of the first matrix. The number of columns of that matrix must be a multiple of
/// it.
pub(super) const DEPTH: usize = 64;

/// Number of words in a row of a tile of the first matrix.
const WORDS: usize = DEPTH / 4;

/// Number of rows of a block of the result.
const BLOCK: usize = 2 * ROWS;

/// Tile registers of a processor, by number: 0 to 3 hold sums, 4 and 5 tiles of the first matrix, 6 and 7 tiles of the
/// second matrix.
pub(super) trait Tiles {
    /// Number of columns of the sums and of tiles of the second matrix.
    const COLUMNS: usize;

    /// Sets sums to zero.
    fn zero<const TILE: usize>(&mut self);
    /// Loads a tile (4 to 7) from rows that begin `stride` bytes apart.
    ///
    /// # Panics
    ///
    /// Panics if `from` is too short.
    fn load<const TILE: usize>(&mut self, from: &[u8], stride: usize);
    /// Adds to each sum the product of a row of the first tile and a column of the second.
    fn add_products<const SUMS: usize, const FIRST: usize, const SECOND: usize>(&mut self);
    /// Writes sums row by row, with `stride` numbers from one row to the next.
    ///
    /// # Panics
    ///
    /// Panics if `to` is too short.
    fn store<const TILE: usize>(&self, to: &mut [i32], stride: usize);
}

thread_local! {
    /// Buffer for a block of the first matrix.
    static MEMORY: Cell<Buffer<u8>> = Cell::default();
}

/// Products of bytes by tiles.
#[derive(Debug)]
pub(super) struct TileProduct<T>(pub(super) T);

impl<S: Simd, T: Tiles> ByteProduct<S> for TileProduct<T> {
    #[inline(always)]
    unsafe fn product<R, F>(&mut self, s: S, it: ProductArgs<'_, R>, finish: &F)
    where
        R: RowStarts,
        F: Epilogue<S, S::I>,
    {
        let panel = PANEL_VECTORS * S::LANES;
        assert!(T::COLUMNS == S::LANES && it.outer.is_multiple_of(panel) && it.inner.is_multiple_of(WORDS));
        let steps = it.pieces.len() * it.inner / WORDS;
        let (a, b): (&[u8], &[u8]) = (bytemuck::cast_slice(it.a), bytemuck::cast_slice(it.b));
        // Number of bytes of a panel per step, and number of bytes of a row of a panel.
        let (of_step, of_row) = (WORDS * panel * 4, panel * 4);
        let mut memory = MEMORY.take();
        let block = memory.at_least(steps * BLOCK * DEPTH);
        let mut sums = [0i32; BLOCK * PANEL_VECTORS * 16];
        assert!(panel * BLOCK <= sums.len());
        for first in (0..it.rows).step_by(BLOCK) {
            let rows = BLOCK.min(it.rows - first);
            // Rows beyond `rows` are multiplied, too, but their sums are not used.
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
                // SAFETY: the caller guarantees that these rows and columns exist. `sums` has a panel for each row of a
                // block.
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

/// Returns whether the tiles compute a known result: in each tile of sums, the sum of two products of all bytes.
pub(super) fn self_test<T: Tiles>(tiles: &mut T) -> bool {
    const STRIDE: usize = 2 * DEPTH;
    // Both factors are odd, so that every byte value occurs.
    let bytes =
        |factor: usize| -> Vec<u8> { (0..ROWS * STRIDE).map(|at| (at * factor + at / 7) as u8).collect() };
    let (first, second) = (bytes(97), bytes(59));
    // Starts of the tiles of the first product. Those of the second product begin one byte later.
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
    use crate::kernels::linear::{MultiplyArgs, multiply_by};
    use crate::kernels::prepared::Prepared;
    use crate::kernels::primitives::Primitives;
    use crate::kernels::simd::Portable;
    use crate::layer::Activation;
    use crate::random::{BlockKind, Options, network};
    use kosumi_go::rng::Rng;

    /// Model of the tile registers and of the instructions.
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
    fn self_test_detects_wrong_tiles() {
        /// A model that drops the highest bits of the first matrix.
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
        assert!(self_test(&mut Model::<16>::new()));
        assert!(!self_test(&mut Without(Model::new())));
    }

    fn multiply(it: MultiplyArgs<'_>) {
        multiply_by(Portable, &mut TileProduct(Model::<{ Portable::LANES }>::new()), it);
    }

    /// The results must be identical, because integers are exact and the code that processes the sums is shared. The
    /// networks have windows, single points, attention and feed-forward blocks. The boards have as many points as half
    /// a block, one block or several.
    #[test]
    fn tile_networks_match_vector_networks() {
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
