//! Products of matrices with configurable processing of the sums before they are written.
//!
//! The first matrix is stored row by row. The second is known beforehand and packed into panels. Both consist of 32-bit
//! words: an `f32`, two bf16, two `i16` or four bytes, which are neighbours along the dimension of the sum. A row of
//! the first matrix may consist of several separate pieces. A convolution is then a product, too, whose pieces are the
//! points under the window.
//!
//! Rows are computed in blocks of 12, 8, 6 or 4. There must be memory for a multiple of [`ROW_ALIGN`] rows. The results
//! of padding rows are never read.

use super::simd::{PANEL_VECTORS, Simd, SimdBf16};

/// Alignment of the number of rows of matrices in memory.
pub(super) const ROW_ALIGN: usize = 4;

/// Alignment of the number of words of a piece of a row.
pub(super) const WORD_ALIGN: usize = 4;

/// Number format of words and their multiplication.
pub(super) trait WordFormat<S: Simd>: Copy {
    type Sum: Copy;
    type Words: Copy;
    /// Largest number of rows of a block.
    const ROWS: usize;

    /// Returns a vector with the word at `from` in all lanes.
    ///
    /// # Safety
    ///
    /// A word must be readable at `from`.
    unsafe fn broadcast(s: S, from: *const u32) -> Self::Words;
    /// Loads a vector of words.
    ///
    /// # Safety
    ///
    /// A vector of words must be readable at `from`.
    unsafe fn load(s: S, from: *const u32) -> Self::Words;
    fn step(s: S, sum: Self::Sum, a: Self::Words, b: Self::Words) -> Self::Sum;

    /// Whether two words are multiplied at a time, because that is faster.
    const BY_TWO: bool = false;
    /// Performs two [`step`](Self::step)s.
    #[inline(always)]
    fn step_two(s: S, sum: Self::Sum, a: [Self::Words; 2], b: [Self::Words; 2]) -> Self::Sum {
        Self::step(s, Self::step(s, sum, a[0], b[0]), a[1], b[1])
    }
}

/// Reads a word that may be unaligned. It is read as bytes, because with debug assertions `read_unaligned` checks both
/// addresses, in the innermost loop.
///
/// # Safety
///
/// A word must be readable at `from`.
#[inline(always)]
unsafe fn word(from: *const u32) -> u32 {
    // SAFETY: guaranteed by the caller.
    u32::from_ne_bytes(unsafe { *from.cast() })
}

/// Words of one `f32`.
#[derive(Clone, Copy, Debug)]
pub(super) struct FloatWords;

impl<S: Simd> WordFormat<S> for FloatWords {
    type Sum = S::V;
    type Words = S::V;
    const ROWS: usize = S::ROWS;

    #[inline(always)]
    unsafe fn broadcast(s: S, from: *const u32) -> S::V {
        // SAFETY: guaranteed by the caller.
        s.splat(f32::from_bits(unsafe { word(from) }))
    }

    #[inline(always)]
    unsafe fn load(s: S, from: *const u32) -> S::V {
        // SAFETY: guaranteed by the caller.
        unsafe { s.load_unchecked(from.cast()) }
    }

    #[inline(always)]
    fn step(s: S, sum: S::V, a: S::V, b: S::V) -> S::V {
        s.mul_add(a, b, sum)
    }
}

/// Implements [`WordFormat`] for words of several numbers, whose products are summed by one operation of `$simd`.
macro_rules! packed_words {
    ($(#[$doc:meta])* $name:ident, $simd:ident::$dot:ident, $sum:ident, $rows:expr $(, $twice:ident if $by_two:expr)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(super) struct $name;

        impl<S: $simd> WordFormat<S> for $name {
            type Sum = S::$sum;
            type Words = S::I;
            const ROWS: usize = $rows;

            #[inline(always)]
            unsafe fn broadcast(s: S, from: *const u32) -> S::I {
                // SAFETY: guaranteed by the caller.
                s.splat_int(unsafe { word(from) } as i32)
            }

            #[inline(always)]
            unsafe fn load(s: S, from: *const u32) -> S::I {
                // SAFETY: guaranteed by the caller.
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

packed_words!(
    /// Words of four bytes: unsigned in the first matrix, signed in the second.
    Bytes,
    Simd::dot8,
    I,
    // A product of three instructions needs two more registers.
    if S::ROWS == 6 && !S::BYTE_SUMS.is_whole() { 4 } else { S::ROWS },
    dot8_twice if S::BYTE_SUMS.together > 2
);
packed_words!(
    /// Words of two `i16`.
    Halves,
    Simd::dot16,
    I,
    S::ROWS
);
packed_words!(
    /// Words of two bf16.
    Bf16s,
    SimdBf16::dot_bf16,
    V,
    S::ROWS
);

/// Starts of the rows of the first matrix, in words.
pub(super) trait RowStarts: Copy {
    fn start(self, row: usize) -> usize;
}

/// Rows at a constant distance, in words.
#[derive(Clone, Copy, Debug)]
pub(super) struct StridedRows(pub(super) usize);

impl RowStarts for StridedRows {
    #[inline(always)]
    fn start(self, row: usize) -> usize {
        self.0 * row
    }
}

/// Rows at the given starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexedRows<'r>(pub(super) &'r [u32]);

impl RowStarts for IndexedRows<'_> {
    #[inline(always)]
    fn start(self, row: usize) -> usize {
        self.0[row] as usize
    }
}

/// Arguments of a product.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProductArgs<'f, R> {
    /// Number of rows of the first matrix and of the result.
    pub(super) rows: usize,
    /// First matrix.
    pub(super) a: &'f [u32],
    pub(super) starts: R,
    /// Offsets of the pieces from the start of a row, in words.
    pub(super) pieces: &'f [usize],
    /// Number of words of a piece.
    pub(super) inner: usize,
    /// Number of columns of the second matrix and of the result; a multiple of a panel.
    pub(super) outer: usize,
    /// Second matrix, of shape `[panel][piece][word][column]`.
    pub(super) b: &'f [u32],
}

/// Initial values and final processing of the sums.
pub(super) trait Epilogue<S: Simd, Sum> {
    /// Checks that there are numbers for this many columns. It is called once for each product.
    ///
    /// # Panics
    ///
    /// Panics if a slice with a number for each column is too short.
    fn check(&self, columns: usize);

    /// Returns the initial values of the sums of a panel.
    ///
    /// # Safety
    ///
    /// [`Epilogue::check`] must have accepted the columns, and the result must have memory for the vectors from
    /// `column` on.
    unsafe fn begin(&self, s: S, column: usize) -> [Sum; PANEL_VECTORS];

    /// Processes the sums of a row and a panel. It is called once for every row and panel.
    ///
    /// # Safety
    ///
    /// [`Epilogue::check`] must have accepted the columns, and the result must have memory for the row and for the
    /// vectors from `column` on.
    unsafe fn finish(&self, s: S, row: usize, column: usize, sums: [Sum; PANEL_VECTORS]);
}

/// Computes a product.
///
/// # Safety
///
/// `epilogue` must have memory for all rows, up to a multiple of [`ROW_ALIGN`], and for `outer` columns.
#[inline(always)]
pub(super) unsafe fn product<S, T, R, F>(s: S, it: ProductArgs<'_, R>, epilogue: &F)
where
    S: Simd,
    T: WordFormat<S>,
    R: RowStarts,
    F: Epilogue<S, T::Sum>,
{
    let panel = PANEL_VECTORS * S::LANES;
    let rows = it.rows.next_multiple_of(ROW_ALIGN);
    assert!(it.outer.is_multiple_of(panel) && it.inner.is_multiple_of(WORD_ALIGN));
    assert!(it.b.len() >= it.pieces.len() * it.inner * it.outer);
    let last = it.pieces.iter().max().map_or(0, |piece| piece + it.inner);
    let farthest = (0..rows).map(|row| it.starts.start(row)).max().unwrap_or(0);
    assert!(it.a.len() >= farthest + last);
    epilogue.check(it.outer);
    let of_panel = it.pieces.len() * it.inner * panel;
    // During each block, a part of the next panel is prefetched. With few rows, panels do not stay in a cache for long,
    // and hardware prefetching begins only with the first miss. The prefetches are spread evenly over the words,
    // because many prefetches in a row have to wait for each other.
    let step = panel.div_ceil(rows.div_ceil(T::ROWS).max(1));
    let of_block = it.pieces.len() * it.inner * step;
    for (index, column) in (0..it.outer).step_by(panel).enumerate() {
        let mut row = 0;
        let mut next = it.b.as_ptr().wrapping_add((index + 1) * of_panel);
        while row < rows {
            let left = rows - row;
            let ahead = Prefetch { next, step };
            next = next.wrapping_add(of_block);
            // SAFETY: the rows add up to `rows` and the columns to `outer`. The slices have been checked to have these
            // sizes.
            row += unsafe {
                match T::ROWS {
                    12 if left >= 16 || left == 12 => {
                        block::<S, T, R, F, 12>(s, &it, row, column, ahead, epilogue)
                    }
                    12 if left >= 8 => block::<S, T, R, F, 8>(s, &it, row, column, ahead, epilogue),
                    6 if left >= 10 || left == 6 => {
                        block::<S, T, R, F, 6>(s, &it, row, column, ahead, epilogue)
                    }
                    _ => block::<S, T, R, F, 4>(s, &it, row, column, ahead, epilogue),
                }
            };
        }
    }
}

/// Implementation of products of bytes.
pub(super) trait ByteProduct<S: Simd> {
    /// Computes a product.
    ///
    /// # Safety
    ///
    /// The conditions of [`product`] must hold.
    unsafe fn product<R, F>(&mut self, s: S, it: ProductArgs<'_, R>, epilogue: &F)
    where
        R: RowStarts,
        F: Epilogue<S, S::I>;
}

/// Products of bytes by vector instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct VectorProduct;

impl<S: Simd> ByteProduct<S> for VectorProduct {
    #[inline(always)]
    unsafe fn product<R, F>(&mut self, s: S, it: ProductArgs<'_, R>, epilogue: &F)
    where
        R: RowStarts,
        F: Epilogue<S, S::I>,
    {
        // SAFETY: guaranteed by the caller.
        unsafe { product::<S, Bytes, R, F>(s, it, epilogue) };
    }
}

/// Prefetching during the computation of a block.
#[derive(Clone, Copy, Debug)]
struct Prefetch {
    /// Address for the first word.
    next: *const u32,
    /// Distance between the addresses for consecutive words, in words.
    step: usize,
}

/// Multiplies `ROWS` rows by one panel, with the sums in registers. Returns `ROWS`.
///
/// # Safety
///
/// The rows from `first` on and the panel at `column` must exist, in the factors and in the target of `epilogue`.
#[inline(always)]
unsafe fn block<S, T, R, F, const ROWS: usize>(
    s: S,
    it: &ProductArgs<'_, R>,
    first: usize,
    column: usize,
    ahead: Prefetch,
    epilogue: &F,
) -> usize
where
    S: Simd,
    T: WordFormat<S>,
    R: RowStarts,
    F: Epilogue<S, T::Sum>,
{
    // SAFETY: guaranteed by the caller.
    let mut sums = [unsafe { epilogue.begin(s, column) }; ROWS];
    let panel = PANEL_VECTORS * S::LANES;
    let starts: [usize; ROWS] = std::array::from_fn(|row| it.starts.start(first + row));
    // SAFETY: the caller guarantees that `a` contains the words of all pieces of all rows, and that the panel has a
    // word for each of them in every column.
    unsafe {
        let mut b = it.b.as_ptr().add(column * it.pieces.len() * it.inner);
        let mut next = ahead.next;
        for &piece in it.pieces {
            let a = it.a.as_ptr().add(piece);
            let rows: [*const u32; ROWS] = std::array::from_fn(|row| a.add(starts[row]));
            // An iteration covers only as many words as are multiplied at a time. With more, the compiler would load
            // factors ahead for which there is no register. Rows are indexed, because with debug assertions zipped
            // iterators are not inlined.
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
            epilogue.finish(s, first + row, column, sums);
        }
    }
    ROWS
}

/// Target of finished numbers.
pub(super) trait Store<S: Simd> {
    /// Writes the numbers of a row and a panel.
    ///
    /// # Safety
    ///
    /// The conditions of [`Epilogue::finish`] must hold.
    unsafe fn put(&self, s: S, row: usize, column: usize, values: [S::V; PANEL_VECTORS]);

    /// Writes the numbers of a row and a panel times `factor`.
    ///
    /// # Safety
    ///
    /// The conditions of [`Epilogue::finish`] must hold.
    #[inline(always)]
    unsafe fn put_scaled(
        &self,
        s: S,
        row: usize,
        column: usize,
        values: [S::V; PANEL_VECTORS],
        factor: S::V,
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.put(s, row, column, [s.mul(values[0], factor), s.mul(values[1], factor)]) };
    }
}

/// Matrix of numbers in memory, row by row, with `stride` numbers from one row to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) to: *mut f32,
    pub(super) stride: usize,
}

impl Target {
    /// Returns the address of a row and column.
    ///
    /// # Safety
    ///
    /// The row and the column must exist.
    #[inline(always)]
    unsafe fn at(self, row: usize, column: usize) -> *mut f32 {
        // SAFETY: guaranteed by the caller.
        unsafe { self.to.add(row * self.stride + column) }
    }
}

/// A store that overwrites the target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overwrite(pub(super) Target);

impl<S: Simd> Store<S> for Overwrite {
    #[inline(always)]
    unsafe fn put(&self, s: S, row: usize, column: usize, values: [S::V; PANEL_VECTORS]) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let to = self.0.at(row, column);
            s.store_unchecked(values[0], to);
            s.store_unchecked(values[1], to.add(S::LANES));
        }
    }
}

/// A store that adds to the target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accumulate(pub(super) Target);

impl<S: Simd> Store<S> for Accumulate {
    #[inline(always)]
    unsafe fn put(&self, s: S, row: usize, column: usize, values: [S::V; PANEL_VECTORS]) {
        // SAFETY: guaranteed by the caller.
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
        // SAFETY: guaranteed by the caller.
        unsafe {
            let to = self.0.at(row, column);
            s.store_unchecked(s.mul_add(values[0], factor, s.load_unchecked(to)), to);
            let to = to.add(S::LANES);
            s.store_unchecked(s.mul_add(values[1], factor, s.load_unchecked(to)), to);
        }
    }
}

/// SwiGLU: the first vector of every panel, after SiLU, is multiplied by the second. The result has half the columns.
/// With `ROUGH`, SiLU is only as exact as 8 bits require.
///
/// CITE: Shazeer, "GLU variants improve transformer" (2020).
#[derive(Clone, Copy, Debug)]
pub(super) struct Gate<const ROUGH: bool>(pub(super) Target);

impl<S: Simd, const ROUGH: bool> Store<S> for Gate<ROUGH> {
    #[inline(always)]
    unsafe fn put(&self, s: S, row: usize, column: usize, values: [S::V; PANEL_VECTORS]) {
        let gate = if ROUGH { s.rough_silu(values[0]) } else { s.silu(values[0]) };
        // SAFETY: guaranteed by the caller.
        unsafe { s.store_unchecked(s.mul(gate, values[1]), self.0.at(row, column / 2)) }
    }
}

/// Epilogue for sums of `f32`: each row is multiplied by a factor, if there are any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaled<'s, D> {
    pub(super) rows: Option<&'s [f32]>,
    pub(super) to: D,
}

impl<S: Simd, D: Store<S>> Epilogue<S, S::V> for Scaled<'_, D> {
    #[inline(always)]
    fn check(&self, _columns: usize) {}

    #[inline(always)]
    unsafe fn begin(&self, s: S, _column: usize) -> [S::V; PANEL_VECTORS] {
        [s.splat(0.0); PANEL_VECTORS]
    }

    #[inline(always)]
    unsafe fn finish(&self, s: S, row: usize, column: usize, sums: [S::V; PANEL_VECTORS]) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self.rows {
                Some(rows) => self.to.put_scaled(s, row, column, sums, s.splat(rows[row])),
                None => self.to.put(s, row, column, sums),
            }
        }
    }
}

/// Epilogue for sums of integers: they begin with the offset of their column and are multiplied by the factors of their
/// column and row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dequantised<'s, D> {
    /// Initial values of the columns' sums.
    pub(super) offsets: &'s [i32],
    pub(super) columns: &'s [f32],
    pub(super) rows: &'s [f32],
    pub(super) to: D,
}

/// Returns the initial values of the sums of a panel.
///
/// # Safety
///
/// There must be offsets for all columns of the panel.
#[inline(always)]
pub(super) unsafe fn begin_at<S: Simd>(s: S, offsets: &[i32], column: usize) -> [S::I; PANEL_VECTORS] {
    debug_assert!(column + PANEL_VECTORS * S::LANES <= offsets.len());
    // SAFETY: guaranteed by the caller.
    unsafe {
        let from = offsets.as_ptr().add(column);
        [s.load_int(from), s.load_int(from.add(S::LANES))]
    }
}

/// Converts sums of integers to numbers and multiplies them by the factors of their columns.
///
/// # Safety
///
/// There must be factors for all columns of the panel.
#[inline(always)]
pub(super) unsafe fn times_columns<S: Simd>(
    s: S,
    columns: &[f32],
    column: usize,
    sums: [S::I; PANEL_VECTORS],
) -> [S::V; PANEL_VECTORS] {
    debug_assert!(column + PANEL_VECTORS * S::LANES <= columns.len());
    // SAFETY: guaranteed by the caller.
    unsafe {
        let from = columns.as_ptr().add(column);
        [
            s.mul(s.to_float(sums[0]), s.load_unchecked(from)),
            s.mul(s.to_float(sums[1]), s.load_unchecked(from.add(S::LANES))),
        ]
    }
}

impl<S: Simd, D: Store<S>> Epilogue<S, S::I> for Dequantised<'_, D> {
    #[inline(always)]
    fn check(&self, columns: usize) {
        assert!(self.offsets.len() >= columns && self.columns.len() >= columns);
    }

    #[inline(always)]
    unsafe fn begin(&self, s: S, column: usize) -> [S::I; PANEL_VECTORS] {
        // SAFETY: guaranteed by the caller; `check` has verified that there are offsets for all columns.
        unsafe { begin_at(s, self.offsets, column) }
    }

    #[inline(always)]
    unsafe fn finish(&self, s: S, row: usize, column: usize, sums: [S::I; PANEL_VECTORS]) {
        // SAFETY: guaranteed by the caller; `check` has verified that there are factors for all columns.
        unsafe {
            let values = times_columns(s, self.columns, column, sums);
            self.to.put_scaled(s, row, column, values, s.splat(self.rows[row]));
        }
    }
}
