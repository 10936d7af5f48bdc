//! Products of matrices with whatever is done to the sums before they are written.
//!
//! The first matrix lies row by row, the second is known beforehand and packed into panels. Both are seen as words of
//! 32 bits: an `f32`, two bf16, two `i16` or four bytes, which are neighbours along the dimension that is summed over. A row of
//! the first matrix may consist of several pieces that lie apart, so that a convolution is a product, too: the pieces
//! are the points under the window.
//!
//! Rows are computed in blocks of 12, 8, 6 or 4. There must be memory for a multiple of [`ROW_ALIGN`] rows; what is
//! computed for those that do not exist is never read.

use super::simd::{PANEL_VECTORS, Simd, SimdBf16};

/// What the number of rows of every matrix in memory is a multiple of.
pub(super) const ROW_ALIGN: usize = 4;

/// Words of every piece of a row are a multiple of this.
pub(super) const WORD_ALIGN: usize = 4;

/// How words are multiplied.
pub(super) trait Terms<S: Simd>: Copy {
    type Sum: Copy;
    type Words: Copy;
    /// Rows of a block.
    const ROWS: usize;

    /// # Safety
    /// A word at `from` can be read.
    unsafe fn broadcast(s: S, from: *const u32) -> Self::Words;
    /// # Safety
    /// A vector of words at `from` can be read.
    unsafe fn load(s: S, from: *const u32) -> Self::Words;
    fn step(s: S, sum: Self::Sum, a: Self::Words, b: Self::Words) -> Self::Sum;

    /// Are two words multiplied at a time, because that is faster?
    const BY_TWO: bool = false;
    /// Two [`step`](Self::step)s.
    #[inline(always)]
    fn step_two(s: S, sum: Self::Sum, a: [Self::Words; 2], b: [Self::Words; 2]) -> Self::Sum {
        Self::step(s, Self::step(s, sum, a[0], b[0]), a[1], b[1])
    }
}

/// A word that may lie anywhere. As bytes: where assertions are on, `read_unaligned` looks at both places that it copies
/// between, and that in the innermost loop.
///
/// # Safety
/// A word at `from` can be read.
#[inline(always)]
unsafe fn word(from: *const u32) -> u32 {
    // SAFETY: the caller's.
    u32::from_ne_bytes(unsafe { *from.cast() })
}

/// Words of one `f32`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Floats;

impl<S: Simd> Terms<S> for Floats {
    type Sum = S::V;
    type Words = S::V;
    const ROWS: usize = S::ROWS;

    #[inline(always)]
    unsafe fn broadcast(s: S, from: *const u32) -> S::V {
        // SAFETY: the caller's.
        s.splat(f32::from_bits(unsafe { word(from) }))
    }

    #[inline(always)]
    unsafe fn load(s: S, from: *const u32) -> S::V {
        // SAFETY: the caller's.
        unsafe { s.load_unchecked(from.cast()) }
    }

    #[inline(always)]
    fn step(s: S, sum: S::V, a: S::V, b: S::V) -> S::V {
        s.mul_add(a, b, sum)
    }
}

/// Writes [`Terms`] for words of several numbers, whose products and sum are one operation of `$simd`.
macro_rules! several {
    ($(#[$doc:meta])* $name:ident, $simd:ident::$dot:ident, $sum:ident, $rows:expr $(, $twice:ident if $by_two:expr)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(super) struct $name;

        impl<S: $simd> Terms<S> for $name {
            type Sum = S::$sum;
            type Words = S::I;
            const ROWS: usize = $rows;

            #[inline(always)]
            unsafe fn broadcast(s: S, from: *const u32) -> S::I {
                // SAFETY: the caller's.
                s.splat_int(unsafe { word(from) } as i32)
            }

            #[inline(always)]
            unsafe fn load(s: S, from: *const u32) -> S::I {
                // SAFETY: the caller's.
                unsafe { s.load_int(from.cast()) }
            }

            #[inline(always)]
            fn step(s: S, sum: S::$sum, a: S::I, b: S::I) -> S::$sum {
                s.$dot(sum, a, b)
            }

            $(
                const BY_TWO: bool = $by_two;

                #[inline(always)]
                fn step_two(s: S, sum: S::$sum, a: [S::I; 2], b: [S::I; 2]) -> S::$sum {
                    s.$twice(sum, a, b)
                }
            )?
        }
    };
}

several!(
    /// Words of four bytes: those of the first matrix are from 0 on, those of the second have a sign.
    Bytes,
    Simd::dot8,
    I,
    // Where the product is three instructions, these need two registers more.
    if S::ROWS == 6 && !S::BYTE_SUMS.is_whole() { 4 } else { S::ROWS },
    dot8_twice if S::BYTE_SUMS.together > 2
);
several!(
    /// Words of two `i16`.
    Halves,
    Simd::dot16,
    I,
    S::ROWS
);
several!(
    /// Words of two bf16.
    Bf16s,
    SimdBf16::dot_bf16,
    V,
    S::ROWS
);

/// Where the rows of the first matrix begin, in words.
pub(super) trait Rows: Copy {
    fn start(self, row: usize) -> usize;
}

/// Rows that lie so far apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Apart(pub(super) usize);

impl Rows for Apart {
    #[inline(always)]
    fn start(self, row: usize) -> usize {
        self.0 * row
    }
}

/// Rows that begin at these places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Starts<'r>(pub(super) &'r [u32]);

impl Rows for Starts<'_> {
    #[inline(always)]
    fn start(self, row: usize) -> usize {
        self.0[row] as usize
    }
}

/// Two matrices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factors<'f, R> {
    /// Rows of the first matrix and of the result.
    pub(super) rows: usize,
    /// The first matrix.
    pub(super) a: &'f [u32],
    pub(super) starts: R,
    /// Where the pieces of a row lie, seen from its beginning.
    pub(super) pieces: &'f [usize],
    /// Words of a piece.
    pub(super) inner: usize,
    /// Columns of the second matrix and of the result; a multiple of a panel.
    pub(super) outer: usize,
    /// The second matrix: `[panel][piece][word][column]`.
    pub(super) b: &'f [u32],
}

/// With what sums begin, and what becomes of them.
pub(super) trait Finish<S: Simd, Sum> {
    /// # Safety
    /// The vectors from the column on are those of a result for which there is memory.
    unsafe fn begin(&self, s: S, column: usize) -> [Sum; PANEL_VECTORS];

    /// Called once for every row and panel.
    ///
    /// # Safety
    /// The row and the vectors from the column on are those of a result for which there is memory.
    unsafe fn finish(&self, s: S, row: usize, column: usize, sums: [Sum; PANEL_VECTORS]);
}

/// Computes a product.
///
/// # Safety
/// `finish` has memory for all rows, up to a multiple of [`ROW_ALIGN`], and for `outer` columns.
#[inline(always)]
pub(super) unsafe fn product<S, T, R, F>(s: S, it: Factors<'_, R>, finish: &F)
where
    S: Simd,
    T: Terms<S>,
    R: Rows,
    F: Finish<S, T::Sum>,
{
    let panel = PANEL_VECTORS * S::LANES;
    let rows = it.rows.next_multiple_of(ROW_ALIGN);
    assert!(it.outer.is_multiple_of(panel) && it.inner.is_multiple_of(WORD_ALIGN));
    assert!(it.b.len() >= it.pieces.len() * it.inner * it.outer);
    let last = it.pieces.iter().max().map_or(0, |piece| piece + it.inner);
    let farthest = (0..rows).map(|row| it.starts.start(row)).max().unwrap_or(0);
    assert!(it.a.len() >= farthest + last);
    let of_panel = it.pieces.len() * it.inner * panel;
    // While a block is computed, a part of the next panel is fetched: where rows are few, panels do not stay in a cache for
    // long, and what fetches ahead by itself begins with the first miss. Each word fetches a little, because many fetches in
    // a row have to wait for each other.
    let step = panel.div_ceil(rows.div_ceil(T::ROWS).max(1));
    let of_block = it.pieces.len() * it.inner * step;
    for (index, column) in (0..it.outer).step_by(panel).enumerate() {
        let mut row = 0;
        let mut next = it.b.as_ptr().wrapping_add((index + 1) * of_panel);
        while row < rows {
            let left = rows - row;
            let ahead = Ahead { next, step };
            next = next.wrapping_add(of_block);
            // SAFETY: the rows add up to `rows` and the columns to `outer`; the slices have been seen to hold that
            // much.
            row += unsafe {
                match T::ROWS {
                    12 if left >= 16 || left == 12 => {
                        block::<S, T, R, F, 12>(s, &it, row, column, ahead, finish)
                    }
                    12 if left >= 8 => block::<S, T, R, F, 8>(s, &it, row, column, ahead, finish),
                    6 if left >= 10 || left == 6 => {
                        block::<S, T, R, F, 6>(s, &it, row, column, ahead, finish)
                    }
                    _ => block::<S, T, R, F, 4>(s, &it, row, column, ahead, finish),
                }
            };
        }
    }
}

/// How matrices of bytes are multiplied.
pub(super) trait ByteProduct<S: Simd> {
    /// Computes a product.
    ///
    /// # Safety
    /// As for [`product`].
    unsafe fn product<R, F>(&mut self, s: S, it: Factors<'_, R>, finish: &F)
    where
        R: Rows,
        F: Finish<S, S::I>;
}

/// By vectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByVectors;

impl<S: Simd> ByteProduct<S> for ByVectors {
    #[inline(always)]
    unsafe fn product<R, F>(&mut self, s: S, it: Factors<'_, R>, finish: &F)
    where
        R: Rows,
        F: Finish<S, S::I>,
    {
        // SAFETY: the caller's.
        unsafe { product::<S, Bytes, R, F>(s, it, finish) };
    }
}

/// What is fetched while a block is computed.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    /// For the first word.
    next: *const u32,
    /// Words farther for each word.
    step: usize,
}

/// `ROWS` rows times one panel, summed up in registers. Returns how many rows that were.
///
/// # Safety
/// The rows from `first` on and the panel at `column` exist, in the factors and where `finish` writes.
#[inline(always)]
unsafe fn block<S, T, R, F, const ROWS: usize>(
    s: S,
    it: &Factors<'_, R>,
    first: usize,
    column: usize,
    ahead: Ahead,
    finish: &F,
) -> usize
where
    S: Simd,
    T: Terms<S>,
    R: Rows,
    F: Finish<S, T::Sum>,
{
    // SAFETY: the caller's.
    let mut sums = [unsafe { finish.begin(s, column) }; ROWS];
    let panel = PANEL_VECTORS * S::LANES;
    let starts: [usize; ROWS] = std::array::from_fn(|row| it.starts.start(first + row));
    // SAFETY: the caller's: the words of all pieces of all rows are in `a`, and the panel has a word for each of
    // them in every column.
    unsafe {
        let mut b = it.b.as_ptr().add(column * it.pieces.len() * it.inner);
        let mut next = ahead.next;
        for &piece in it.pieces {
            let a = it.a.as_ptr().add(piece);
            let rows: [*const u32; ROWS] = std::array::from_fn(|row| a.add(starts[row]));
            // No more words in a turn than are multiplied at a time: the compiler would load factors ahead for which
            // there is no register. Rows go by index: where assertions are on, zipped iterators stay calls.
            if T::BY_TWO {
                for word in (0..it.inner).step_by(2) {
                    s.prefetch(next);
                    next = next.wrapping_add(2 * ahead.step);
                    let left = [T::load(s, b), T::load(s, b.add(panel))];
                    let right = [T::load(s, b.add(S::LANES)), T::load(s, b.add(panel + S::LANES))];
                    for row in 0..ROWS {
                        let (from, sums) = (rows[row].add(word), &mut sums[row]);
                        let factors = [T::broadcast(s, from), T::broadcast(s, from.add(1))];
                        sums[0] = T::step_two(s, sums[0], factors, left);
                        sums[1] = T::step_two(s, sums[1], factors, right);
                    }
                    b = b.add(2 * panel);
                }
                continue;
            }
            for word in 0..it.inner {
                s.prefetch(next);
                next = next.wrapping_add(ahead.step);
                let left = T::load(s, b);
                let right = T::load(s, b.add(S::LANES));
                for row in 0..ROWS {
                    let (factor, sums) = (T::broadcast(s, rows[row].add(word)), &mut sums[row]);
                    sums[0] = T::step(s, sums[0], factor, left);
                    sums[1] = T::step(s, sums[1], factor, right);
                }
                b = b.add(panel);
            }
        }
        for (row, sums) in sums.into_iter().enumerate() {
            finish.finish(s, first + row, column, sums);
        }
    }
    ROWS
}

/// Where finished numbers go.
pub(super) trait Destination<S: Simd> {
    /// # Safety
    /// As for [`Finish::finish`].
    unsafe fn put(&self, s: S, row: usize, column: usize, values: [S::V; PANEL_VECTORS]);

    /// The numbers times a factor.
    ///
    /// # Safety
    /// As for [`Finish::finish`].
    #[inline(always)]
    unsafe fn put_scaled(
        &self,
        s: S,
        row: usize,
        column: usize,
        values: [S::V; PANEL_VECTORS],
        factor: S::V,
    ) {
        // SAFETY: the caller's.
        unsafe { self.put(s, row, column, [s.mul(values[0], factor), s.mul(values[1], factor)]) };
    }
}

/// A matrix of numbers row by row, with so many from one to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) to: *mut f32,
    pub(super) stride: usize,
}

impl Target {
    /// # Safety
    /// There is such a row and column.
    #[inline(always)]
    unsafe fn at(self, row: usize, column: usize) -> *mut f32 {
        // SAFETY: the caller's.
        unsafe { self.to.add(row * self.stride + column) }
    }
}

/// The numbers take the place of what was there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overwrite(pub(super) Target);

impl<S: Simd> Destination<S> for Overwrite {
    #[inline(always)]
    unsafe fn put(&self, s: S, row: usize, column: usize, values: [S::V; PANEL_VECTORS]) {
        // SAFETY: the caller's.
        unsafe {
            let to = self.0.at(row, column);
            s.store_unchecked(values[0], to);
            s.store_unchecked(values[1], to.add(S::LANES));
        }
    }
}

/// The numbers are added to what was there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accumulate(pub(super) Target);

impl<S: Simd> Destination<S> for Accumulate {
    #[inline(always)]
    unsafe fn put(&self, s: S, row: usize, column: usize, values: [S::V; PANEL_VECTORS]) {
        // SAFETY: the caller's.
        unsafe {
            let to = self.0.at(row, column);
            s.store_unchecked(s.add(s.load_unchecked(to), values[0]), to);
            let to = to.add(S::LANES);
            s.store_unchecked(s.add(s.load_unchecked(to), values[1]), to);
        }
    }

    #[inline(always)]
    unsafe fn put_scaled(
        &self,
        s: S,
        row: usize,
        column: usize,
        values: [S::V; PANEL_VECTORS],
        factor: S::V,
    ) {
        // SAFETY: the caller's.
        unsafe {
            let to = self.0.at(row, column);
            s.store_unchecked(s.mul_add(values[0], factor, s.load_unchecked(to)), to);
            let to = to.add(S::LANES);
            s.store_unchecked(s.mul_add(values[1], factor, s.load_unchecked(to)), to);
        }
    }
}

/// The first vector of every panel, behind SiLU, gates the second: SwiGLU. The result has half the columns.
/// `ROUGH`: as exactly as 8 bits are.
///
/// CITE: Shazeer, "GLU variants improve transformer" (2020).
#[derive(Clone, Copy, Debug)]
pub(super) struct Gate<const ROUGH: bool>(pub(super) Target);

impl<S: Simd, const ROUGH: bool> Destination<S> for Gate<ROUGH> {
    #[inline(always)]
    unsafe fn put(&self, s: S, row: usize, column: usize, values: [S::V; PANEL_VECTORS]) {
        let gate = if ROUGH { s.rough_silu(values[0]) } else { s.silu(values[0]) };
        // SAFETY: the caller's.
        unsafe { s.store_unchecked(s.mul(gate, values[1]), self.0.at(row, column / 2)) }
    }
}

/// Sums of `f32`, each row times a factor if there are any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaled<'s, D> {
    pub(super) rows: Option<&'s [f32]>,
    pub(super) to: D,
}

impl<S: Simd, D: Destination<S>> Finish<S, S::V> for Scaled<'_, D> {
    #[inline(always)]
    unsafe fn begin(&self, s: S, _column: usize) -> [S::V; PANEL_VECTORS] {
        [s.splat(0.0); PANEL_VECTORS]
    }

    #[inline(always)]
    unsafe fn finish(&self, s: S, row: usize, column: usize, sums: [S::V; PANEL_VECTORS]) {
        // SAFETY: the caller's.
        unsafe {
            match self.rows {
                Some(rows) => self.to.put_scaled(s, row, column, sums, s.splat(rows[row])),
                None => self.to.put(s, row, column, sums),
            }
        }
    }
}

/// Sums of integers that begin with an integer of their column, times a factor of the column and one of the row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dequantised<'s, D> {
    /// With what the sums of the columns begin.
    pub(super) offsets: &'s [i32],
    pub(super) columns: &'s [f32],
    pub(super) rows: &'s [f32],
    pub(super) to: D,
}

/// The integers with which the sums of a panel begin.
///
/// # Safety
/// There are offsets for all columns of the panel.
#[inline(always)]
pub(super) unsafe fn begin_at<S: Simd>(s: S, offsets: &[i32], column: usize) -> [S::I; PANEL_VECTORS] {
    debug_assert!(column + PANEL_VECTORS * S::LANES <= offsets.len());
    // SAFETY: the caller's.
    unsafe {
        let from = offsets.as_ptr().add(column);
        [s.load_int(from), s.load_int(from.add(S::LANES))]
    }
}

/// Sums of integers times the factors of their columns.
///
/// # Safety
/// There are factors for all columns of the panel.
#[inline(always)]
pub(super) unsafe fn times_columns<S: Simd>(
    s: S,
    columns: &[f32],
    column: usize,
    sums: [S::I; PANEL_VECTORS],
) -> [S::V; PANEL_VECTORS] {
    debug_assert!(column + PANEL_VECTORS * S::LANES <= columns.len());
    // SAFETY: the caller's.
    unsafe {
        let from = columns.as_ptr().add(column);
        [
            s.mul(s.to_float(sums[0]), s.load_unchecked(from)),
            s.mul(s.to_float(sums[1]), s.load_unchecked(from.add(S::LANES))),
        ]
    }
}

impl<S: Simd, D: Destination<S>> Finish<S, S::I> for Dequantised<'_, D> {
    #[inline(always)]
    unsafe fn begin(&self, s: S, column: usize) -> [S::I; PANEL_VECTORS] {
        // SAFETY: the caller's; there are offsets for all columns.
        unsafe { begin_at(s, self.offsets, column) }
    }

    #[inline(always)]
    unsafe fn finish(&self, s: S, row: usize, column: usize, sums: [S::I; PANEL_VECTORS]) {
        // SAFETY: the caller's; there are factors for all columns.
        unsafe {
            let values = times_columns(s, self.columns, column, sums);
            self.to.put_scaled(s, row, column, values, s.splat(self.rows[row]));
        }
    }
}
