//! Products of bytes by tiles, as in Intel's matrix extensions.
//!
//! A tile has 16 rows of up to 64 bytes. One instruction multiplies 16 rows of 64 unsigned bytes by 64 rows of 16
//! signed bytes and adds the products to 16 × 16 sums of 32 bits. A tile of the second matrix has the memory layout of
//! a panel for vectors: four rows become one, column by column. Matrices are therefore packed as for vectors, the sums
//! are identical, and the code that processes the sums is shared.
//!
//! The product is generic over [`Tiles`], which multiply one block. Their implementations are instructions (`amx.rs`)
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

/// Tile registers of a processor.
pub(super) trait Tiles {
    /// Number of columns of the sums and of tiles of the second matrix.
    const COLUMNS: usize;

    /// Multiplies a block of rows by a panel of two tiles of columns, and overwrites `sums`, which has `2 * COLUMNS`
    /// sums in each row.
    ///
    /// # Panics
    ///
    /// Panics if a slice is too short for the factors, or if there is no step.
    fn multiply(&mut self, it: BlockProduct<'_>, sums: &mut [i32]);
}

/// Factors of one block of sums.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockProduct<'p> {
    /// Number of steps, each with the products of [`DEPTH`] columns of the first matrix.
    pub(super) steps: usize,
    /// First matrix, of shape `[steps][BLOCK][DEPTH]`.
    pub(super) a: &'p [u8],
    /// Second matrix, of shape `[steps][ROWS][2 * COLUMNS][4]`.
    pub(super) b: &'p [u8],
    /// Whether only the first half of the rows is multiplied. The other sums are not written.
    pub(super) is_half: bool,
}

impl BlockProduct<'_> {
    /// Checks the lengths of the factors and of the sums.
    ///
    /// # Panics
    ///
    /// Panics if one is too short, or if there is no step.
    pub(super) fn check(&self, columns: usize, sums: &[i32]) {
        assert!(self.steps > 0);
        assert!(self.a.len() >= self.steps * BLOCK * DEPTH);
        assert!(self.b.len() >= self.steps * ROWS * 2 * columns * 4);
        assert!(sums.len() >= BLOCK * 2 * columns);
    }
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
    unsafe fn product<R, F>(&mut self, s: S, it: ProductArgs<'_, R>, epilogue: &F)
    where
        R: RowStarts,
        F: Epilogue<S, S::I>,
    {
        let panel = PANEL_VECTORS * S::LANES;
        assert!(T::COLUMNS == S::LANES && it.outer.is_multiple_of(panel) && it.inner.is_multiple_of(WORDS));
        let steps = it.pieces.len() * it.inner / WORDS;
        let (a, b): (&[u8], &[u8]) = (bytemuck::cast_slice(it.a), bytemuck::cast_slice(it.b));
        epilogue.check(it.outer);
        // Number of bytes of a panel per step.
        let of_step = WORDS * panel * 4;
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
                let b = &b[index * steps * of_step..][..steps * of_step];
                self.0.multiply(BlockProduct { steps, a: block, b, is_half: rows <= ROWS }, &mut sums);
                // SAFETY: the caller guarantees that these rows and columns exist. `sums` has a panel for each row of a
                // block.
                unsafe {
                    let begin = epilogue.begin(s, column);
                    for row in 0..rows {
                        let from = sums[row * panel..][..panel].as_ptr();
                        let left = s.add_int(begin[0], s.load_int(from));
                        let right = s.add_int(begin[1], s.load_int(from.add(S::LANES)));
                        epilogue.finish(s, first + row, column, [left, right]);
                    }
                }
            }
        }
        MEMORY.set(memory);
    }
}

/// Returns whether the tiles compute a known result: two steps with all values of bytes, once for all rows and once for
/// half of them.
pub(super) fn self_test<T: Tiles>(tiles: &mut T) -> bool {
    const STEPS: usize = 2;
    let columns = 2 * T::COLUMNS;
    // Both factors are odd, so that every byte value occurs.
    let bytes = |length: usize, factor: usize| -> Vec<u8> {
        (0..length).map(|at| (at * factor + at / 7) as u8).collect()
    };
    let (a, b) = (bytes(STEPS * BLOCK * DEPTH, 97), bytes(STEPS * ROWS * columns * 4, 59));
    let expected = |row: usize, column: usize| -> i32 {
        let terms = (0..STEPS * DEPTH).map(|term| {
            let (step, depth) = (term / DEPTH, term % DEPTH);
            let weight = b[((step * ROWS + depth / 4) * columns + column) * 4 + depth % 4] as i8;
            i32::from(a[(step * BLOCK + row) * DEPTH + depth]) * i32::from(weight)
        });
        terms.sum()
    };
    [false, true].into_iter().all(|is_half| {
        let mut found = vec![0; BLOCK * columns];
        tiles.multiply(BlockProduct { steps: STEPS, a: &a, b: &b, is_half }, &mut found);
        let rows = if is_half { ROWS } else { BLOCK };
        (0..rows).all(|row| (0..columns).all(|column| found[row * columns + column] == expected(row, column)))
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

    /// Model of the tile registers and of the instructions. `mask` is applied to all bytes of the first matrix.
    ///
    /// CITE: Intel, "Architecture instruction set extensions programming reference", TILELOADD, TDPBUSD, TILESTORED.
    struct Model<const COLUMNS: usize> {
        mask: u8,
    }

    impl<const COLUMNS: usize> Tiles for Model<COLUMNS> {
        const COLUMNS: usize = COLUMNS;

        fn multiply(&mut self, it: BlockProduct<'_>, sums: &mut [i32]) {
            it.check(COLUMNS, sums);
            let columns = 2 * COLUMNS;
            for row in 0..if it.is_half { ROWS } else { BLOCK } {
                for column in 0..columns {
                    let mut sum = 0i32;
                    for step in 0..it.steps {
                        for depth in 0..DEPTH {
                            let first = it.a[(step * BLOCK + row) * DEPTH + depth] & self.mask;
                            let place = (step * ROWS + depth / 4) * columns + column;
                            let second = it.b[place * 4 + depth % 4] as i8;
                            sum = sum.wrapping_add(i32::from(first) * i32::from(second));
                        }
                    }
                    sums[row * columns + column] = sum;
                }
            }
        }
    }

    #[test]
    fn self_test_detects_wrong_tiles() {
        assert!(self_test(&mut Model::<16> { mask: 0xff }));
        // The highest bits of the first matrix are lost.
        assert!(!self_test(&mut Model::<16> { mask: 0x7f }));
    }

    #[test]
    fn short_factors_are_refused() {
        let mut sums = [0; BLOCK * 32];
        let (a, b) = (vec![0; 2 * BLOCK * DEPTH], vec![0; 2 * ROWS * 32 * 4]);
        let whole = BlockProduct { steps: 2, a: &a, b: &b, is_half: false };
        whole.check(16, &sums);
        let panics =
            |it: BlockProduct<'_>, sums: &[i32]| std::panic::catch_unwind(|| it.check(16, sums)).is_err();
        assert!(panics(BlockProduct { steps: 0, ..whole }, &sums));
        assert!(panics(BlockProduct { steps: 3, ..whole }, &sums));
        assert!(panics(BlockProduct { a: &a[1..], ..whole }, &sums));
        assert!(panics(BlockProduct { b: &b[1..], ..whole }, &sums));
        assert!(panics(whole, &sums[1..]));
        Model::<16> { mask: 0xff }.multiply(whole, &mut sums);
    }

    fn multiply(it: MultiplyArgs<'_>) {
        multiply_by(Portable, &mut TileProduct(Model::<{ Portable::LANES }> { mask: 0xff }), it);
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
