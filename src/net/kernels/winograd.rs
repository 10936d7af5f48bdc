//! Convolutions with a 3 × 3 window by Winograd's transformation, which turns them into elementwise products.
//!
//! A tile of 4 × 4 or 3 × 3 points of the result depends on a tile of the input that is 2 points larger in each
//! direction. Both are regarded as polynomials of two variables, which are evaluated at 6 × 6 or 5 × 5 evaluation
//! points. There, a convolution is a multiplication. For each pair of channels, a tile of 4 × 4 costs 36
//! multiplications instead of 144, and a tile of 3 × 3 costs 25 instead of 81.
//!
//! CITE: Winograd, "Arithmetic complexity of computations" (1980); Lavin and Gray, "Fast algorithms for convolutional
//! neural networks" (2016), section 4.

use super::rows::{inverse, largest};
use super::simd::{Simd, SimdBf16};

/// Size of tiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TileSize {
    /// 3 × 3 points of the result.
    Three,
    /// 4 × 4 points of the result.
    Four,
}

impl TileSize {
    pub(super) const BOTH: [TileSize; 2] = [TileSize::Three, TileSize::Four];

    /// Returns the number of rows, and of columns, of a tile of the result.
    pub(super) const fn output(self) -> usize {
        match self {
            TileSize::Three => 3,
            TileSize::Four => 4,
        }
    }

    /// Returns the number of rows, and of columns, of a tile of the input and of the evaluation points.
    pub(super) const fn input(self) -> usize {
        self.output() + 2
    }

    /// Returns the number of evaluation points.
    pub(super) const fn evaluation_points(self) -> usize {
        self.input() * self.input()
    }

    /// Returns the number of tiles that cover a board.
    pub(super) const fn tiles(self, width: usize, height: usize) -> usize {
        width.div_ceil(self.output()) * height.div_ceil(self.output())
    }

    /// Returns the gain of the one-dimensional transformation for each row or column of evaluation points: the largest
    /// magnitude of the result for input of magnitude 1.
    const fn bounds(self) -> [f32; 6] {
        const NEAR_ROW: f32 = ((1.0 + FAR * FAR) * (1.0 + NEAR)) as f32;
        const FAR_ROW: f32 = ((1.0 + NEAR * NEAR) * (1.0 + FAR)) as f32;
        const OUTER_ROW: f32 = (NEAR * NEAR * FAR * FAR + NEAR * NEAR + FAR * FAR + 1.0) as f32;
        match self {
            TileSize::Three => [6.0, 4.0, 6.0, 2.0, 6.0, 0.0],
            TileSize::Four => [OUTER_ROW, NEAR_ROW, NEAR_ROW, FAR_ROW, FAR_ROW, OUTER_ROW],
        }
    }

    /// Returns the largest magnitude of a number at an evaluation point if all points of the input are at most 1.
    pub(super) const fn bound(self, evaluation_point: usize) -> f32 {
        self.bounds()[evaluation_point / self.input()] * self.bounds()[evaluation_point % self.input()]
    }

    /// Returns the size with fewer multiplications for a board.
    pub(super) fn best(width: usize, height: usize) -> TileSize {
        let cost =
            |size: &TileSize| size.evaluation_points() * (size.tiles(width, height) + WEIGHT_LOAD_COST);
        if cost(&TileSize::Three) < cost(&TileSize::Four) { TileSize::Three } else { TileSize::Four }
    }

    /// Transforms windows to an evaluation point. `windows` has the shape `[3][3][number]`, and `result` the shape
    /// `[number]`.
    #[inline(always)]
    fn transform_windows(self, evaluation_point: usize, windows: &[f32], result: &mut [f32]) {
        // Row `i` evaluates a polynomial of degree 2 at evaluation point `i`, divided by the divisor of Lagrange's
        // interpolation at that point. For small tiles, the evaluation points are 0, 1, −1, 2 and infinity.
        const THREE: [[f64; 3]; 5] = [
            [1.0 / 2.0, 0.0, 0.0],
            [-1.0 / 2.0, -1.0 / 2.0, -1.0 / 2.0],
            [-1.0 / 6.0, 1.0 / 6.0, -1.0 / 6.0],
            [1.0 / 6.0, 1.0 / 3.0, 2.0 / 3.0],
            [0.0, 0.0, 1.0],
        ];
        const FOUR: [[f64; 3]; 6] = [
            [1.0 / (NEAR * NEAR * FAR * FAR), 0.0, 0.0],
            row(NEAR, FAR),
            row(-NEAR, FAR),
            row(FAR, NEAR),
            row(-FAR, NEAR),
            [0.0, 0.0, 1.0],
        ];
        let rows: &[[f64; 3]] = match self {
            TileSize::Three => &THREE,
            TileSize::Four => &FOUR,
        };
        let (row_y, row_x) = (rows[evaluation_point / rows.len()], rows[evaluation_point % rows.len()]);
        let each = result.len();
        assert_eq!(windows.len(), 9 * each);
        // Many windows at a time, for vector instructions, and in 64 bits, for accuracy.
        const AT_A_TIME: usize = 64;
        for (index, result) in result.chunks_mut(AT_A_TIME).enumerate() {
            let mut sums = [0.0f64; AT_A_TIME];
            for at in 0..9 {
                let (y, x) = (row_y[at / 3], row_x[at % 3]);
                if y == 0.0 || x == 0.0 {
                    continue;
                }
                let weights = &windows[at * each + index * AT_A_TIME..][..result.len()];
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum += y * f64::from(*weight) * x;
                }
            }
            result.iter_mut().zip(sums).for_each(|(to, sum)| *to = sum as f32);
        }
    }
}

/// Transforms windows to an evaluation point of tiles of this size; see [`TileSize::transform_windows`]. The result is
/// the same with all instructions.
#[inline(always)]
pub(super) fn transform_windows<S: Simd>(
    _s: S,
    size: TileSize,
    evaluation_point: usize,
    windows: &[f32],
    result: &mut [f32],
) {
    size.transform_windows(evaluation_point, windows, result);
}

/// Cost of fetching the weights of an evaluation point for a board, in rows of their product. With small boards, the
/// weights do not stay in a near cache.
const WEIGHT_LOAD_COST: usize = 10;

/// The evaluation points for tiles of 4 × 4 are 0, ±[`NEAR`], ±[`FAR`] and infinity. Rounding errors are half as large
/// as with the usual 1 and 2.
///
/// CITE: Alam et al., "Winograd convolution for deep neural networks: Efficient point selection" (2022), for the idea
/// of better points. These were found by a search over fractions with small denominators.
const NEAR: f64 = 0.75;
const FAR: f64 = 1.5;

/// Returns a row of the transformation of windows: the polynomial at `evaluation_point`, where `other` and its
/// negative are two more evaluation points.
const fn row(evaluation_point: f64, other: f64) -> [f64; 3] {
    let square = evaluation_point * evaluation_point;
    let divisor = 2.0 * square * (square - other * other);
    [1.0 / divisor, evaluation_point / divisor, square / divisor]
}

/// Layout of a transformation of several boards of the same size between planes and tiles.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoardLayout {
    pub(super) size: TileSize,
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) count: usize,
    /// Number of channels; a multiple of the vector length.
    pub(super) channels: usize,
    /// Index of a point of zeros in the plane, counted from the first of these boards. It represents all points outside
    /// the board.
    pub(super) outside: usize,
}

impl BoardLayout {
    /// Returns the number of tiles of one board.
    fn tiles_each(&self) -> usize {
        self.size.tiles(self.width, self.height)
    }

    /// Returns the number of tiles of all boards.
    pub(super) fn tiles(&self) -> usize {
        self.count * self.tiles_each()
    }

    /// Returns the length of a plane with only these boards.
    fn plane_len(&self) -> usize {
        self.count * self.width * self.height * self.channels
    }

    /// Returns the count of numbers at all evaluation points of all tiles.
    pub(super) fn evaluation_points_len(&self) -> usize {
        self.size.evaluation_points() * self.tiles() * self.channels
    }

    /// Returns the upper left corner of a tile: the index of its board's first point, the column and the row.
    fn corner(&self, tile: usize) -> (usize, usize, usize) {
        let across = self.width.div_ceil(self.size.output());
        let (board, tile) = (tile / self.tiles_each(), tile % self.tiles_each());
        let (x, y) = (tile % across * self.size.output(), tile / across * self.size.output());
        (board * self.width * self.height, x, y)
    }
}

/// One-dimensional transformations for a size of tiles. Arrays have the length that the larger size needs.
trait Transform {
    const SIZE: TileSize;
    /// Transforms points to evaluation points. It is the transpose of the evaluation of the result (see
    /// [`output`](Self::output)).
    fn input<S: Simd>(s: S, d: [S::V; 6]) -> [S::V; 6];
    /// Transforms evaluation points back to points.
    fn output<S: Simd>(s: S, m: [S::V; 6]) -> [S::V; 4];
}

struct Three;

impl Transform for Three {
    const SIZE: TileSize = TileSize::Three;

    #[inline(always)]
    fn input<S: Simd>(s: S, d: [S::V; 6]) -> [S::V; 6] {
        let two = s.splat(2.0);
        let three_one = s.sub(d[3], d[1]);
        [
            // 2d₀ − d₁ − 2d₂ + d₃
            s.mul_add(two, s.sub(d[0], d[2]), three_one),
            // −2d₁ − d₂ + d₃
            s.sub(s.sub(d[3], d[2]), s.mul(two, d[1])),
            // 2d₁ − 3d₂ + d₃
            s.add(s.mul_add(two, d[1], d[3]), s.mul(s.splat(-3.0), d[2])),
            three_one,
            // 2d₁ − d₂ − 2d₃ + d₄
            s.sub(s.sub(d[4], d[2]), s.mul(two, three_one)),
            d[5],
        ]
    }

    #[inline(always)]
    fn output<S: Simd>(s: S, m: [S::V; 6]) -> [S::V; 4] {
        let (two, four) = (s.splat(2.0), s.splat(4.0));
        let (sum, difference) = (s.add(m[1], m[2]), s.sub(m[1], m[2]));
        [
            s.add(s.add(m[0], sum), m[3]),
            s.mul_add(two, m[3], difference),
            s.add(s.mul_add(four, m[3], sum), m[4]),
            m[5],
        ]
    }
}

struct Four;

impl Transform for Four {
    const SIZE: TileSize = TileSize::Four;

    #[inline(always)]
    fn input<S: Simd>(s: S, d: [S::V; 6]) -> [S::V; 6] {
        let (near, far) = (NEAR as f32, FAR as f32);
        let [product, sum] = [near * near * far * far, -(near * near + far * far)].map(|x| s.splat(x));
        let [minus_near, minus_far] = [-near * near, -far * far].map(|x| s.splat(x));
        let (near, far) = (s.splat(near), s.splat(far));
        let (even, odd) = (s.mul_add(minus_far, d[2], d[4]), s.mul(near, s.mul_add(minus_far, d[1], d[3])));
        let (far_even, far_odd) =
            (s.mul_add(minus_near, d[2], d[4]), s.mul(far, s.mul_add(minus_near, d[1], d[3])));
        [
            // n²f²d₀ − (n² + f²)d₂ + d₄
            s.mul_add(product, d[0], s.mul_add(sum, d[2], d[4])),
            // d₄ − f²d₂ ± n(d₃ − f²d₁)
            s.add(even, odd),
            s.sub(even, odd),
            // d₄ − n²d₂ ± f(d₃ − n²d₁)
            s.add(far_even, far_odd),
            s.sub(far_even, far_odd),
            // n²f²d₁ − (n² + f²)d₃ + d₅
            s.mul_add(product, d[1], s.mul_add(sum, d[3], d[5])),
        ]
    }

    #[inline(always)]
    fn output<S: Simd>(s: S, m: [S::V; 6]) -> [S::V; 4] {
        let [near, far] = [NEAR as f32, FAR as f32].map(|x| [x, x * x, x * x * x].map(|x| s.splat(x)));
        let (sum, difference) = (s.add(m[1], m[2]), s.sub(m[1], m[2]));
        let (far_sum, far_difference) = (s.add(m[3], m[4]), s.sub(m[3], m[4]));
        [
            s.add(s.add(m[0], sum), far_sum),
            s.mul_add(far[0], far_difference, s.mul(near[0], difference)),
            s.mul_add(far[1], far_sum, s.mul(near[1], sum)),
            s.mul_add(far[2], far_difference, s.mul_add(near[2], difference, m[5])),
        ]
    }
}

/// Number format at evaluation points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WinogradFormat {
    /// `f32`.
    Floats,
    /// bf16.
    Bf16s,
    /// 16-bit integers.
    Halves,
}

impl WinogradFormat {
    /// Returns the count of numbers in a 32-bit word.
    pub(super) const fn of_word(self) -> usize {
        match self {
            WinogradFormat::Floats => 1,
            WinogradFormat::Bf16s | WinogradFormat::Halves => 2,
        }
    }
}

/// Largest integer at an evaluation point.
pub(super) const MAX_INTEGER: f32 = i16::MAX as f32;

/// Storage format of numbers at evaluation points.
trait StoredFormat<S: Simd> {
    type Number;
    /// Whether numbers are scaled to become integers.
    const IS_SCALED: bool = false;
    /// Stores a vector of numbers.
    ///
    /// # Safety
    ///
    /// A vector of numbers of this format must be writable at `to`.
    unsafe fn store(s: S, x: S::V, to: *mut Self::Number);
}

/// Storage as `f32`.
struct StoredF32;

impl<S: Simd> StoredFormat<S> for StoredF32 {
    type Number = f32;

    #[inline(always)]
    unsafe fn store(s: S, x: S::V, to: *mut f32) {
        // SAFETY: guaranteed by the caller.
        unsafe { s.store_unchecked(x, to) }
    }
}

/// Storage as bf16.
struct StoredBf16;

impl<S: SimdBf16> StoredFormat<S> for StoredBf16 {
    type Number = u16;

    #[inline(always)]
    unsafe fn store(s: S, x: S::V, to: *mut u16) {
        // SAFETY: guaranteed by the caller.
        unsafe { s.store_bf16(x, to) }
    }
}

/// Storage as 16-bit integers.
struct StoredI16;

impl<S: Simd> StoredFormat<S> for StoredI16 {
    type Number = i16;
    const IS_SCALED: bool = true;

    #[inline(always)]
    unsafe fn store(s: S, x: S::V, to: *mut i16) {
        // SAFETY: guaranteed by the caller.
        unsafe { s.store_halves(s.to_int(x), to) }
    }
}

/// Transforms a plane of shape `[board][y][x][channel]` to evaluation points of shape `[evaluation
/// point][tile][channel]`, in `f32`. `_scales` is not written.
#[inline(always)]
pub(super) fn transform_input<S: Simd>(
    s: S,
    boards: &BoardLayout,
    plane: &[f32],
    evaluation_points: &mut [u32],
    _scales: &mut [f32],
) {
    transform::<S, StoredF32>(s, boards, plane, bytemuck::cast_slice_mut(evaluation_points), &[]);
}

/// Transforms a plane like [`transform_input`] and rounds the result to bf16.
#[inline(always)]
pub(super) fn transform_input_to_bf16<S: SimdBf16>(
    s: S,
    boards: &BoardLayout,
    plane: &[f32],
    evaluation_points: &mut [u32],
    _scales: &mut [f32],
) {
    transform::<S, StoredBf16>(s, boards, plane, bytemuck::cast_slice_mut(evaluation_points), &[]);
}

/// Transforms a plane like [`transform_input`] and rounds the result to 16-bit integers. A number is the integer times
/// the scale of its tile times the [bound](TileSize::bound) of its evaluation point. All tiles of a board have the same
/// scale.
#[inline(always)]
pub(super) fn transform_input_to_halves<S: Simd>(
    s: S,
    boards: &BoardLayout,
    plane: &[f32],
    evaluation_points: &mut [u32],
    scales: &mut [f32],
) {
    let each = boards.width * boards.height * boards.channels;
    let tiles = boards.tiles_each();
    for (plane, scales) in plane.chunks_exact(each).zip(scales.chunks_exact_mut(tiles)).take(boards.count) {
        scales.fill(largest(s, plane) / MAX_INTEGER);
    }
    transform::<S, StoredI16>(s, boards, plane, bytemuck::cast_slice_mut(evaluation_points), scales);
}

#[inline(always)]
fn transform<S: Simd, K: StoredFormat<S>>(
    s: S,
    boards: &BoardLayout,
    plane: &[f32],
    evaluation_points: &mut [K::Number],
    scales: &[f32],
) {
    match boards.size {
        TileSize::Three => transform_by::<S, Three, K>(s, boards, plane, evaluation_points, scales),
        TileSize::Four => transform_by::<S, Four, K>(s, boards, plane, evaluation_points, scales),
    }
}

#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "indices of rows and columns, in a formula")]
fn transform_by<S: Simd, T: Transform, K: StoredFormat<S>>(
    s: S,
    boards: &BoardLayout,
    plane: &[f32],
    evaluation_points: &mut [K::Number],
    scales: &[f32],
) {
    let &BoardLayout { width, height, channels, .. } = boards;
    let tiles = boards.tiles();
    let outside = boards.outside * channels;
    assert!(
        plane.len() >= boards.plane_len().max(outside + channels)
            && evaluation_points.len() >= boards.evaluation_points_len()
    );
    assert!(channels.is_multiple_of(S::LANES));
    let side = T::SIZE.input();
    for tile in 0..tiles {
        let (first, left, top) = boards.corner(tile);
        // Indices of the points of the tile. The window reaches one point beyond the tile to each side.
        let mut from = [[outside; 6]; 6];
        for (y, from) in from.iter_mut().enumerate().take(side) {
            for (x, from) in from.iter_mut().enumerate().take(side) {
                let (x, y) = ((left + x).wrapping_sub(1), (top + y).wrapping_sub(1));
                if x < width && y < height {
                    *from = (first + y * width + x) * channels;
                }
            }
        }
        let mut factors = [0.0; 36];
        if K::IS_SCALED {
            for (evaluation_point, factor) in factors.iter_mut().enumerate().take(side * side) {
                *factor = inverse(scales[tile] * T::SIZE.bound(evaluation_point));
            }
        }
        for channel in (0..channels).step_by(S::LANES) {
            let mut rows = [[s.splat(0.0); 6]; 6];
            for y in 0..side {
                let mut row = [s.splat(0.0); 6];
                for x in 0..side {
                    // SAFETY: `from` is the start of a point of the plane, and a whole vector is left from `channel`
                    // on.
                    row[x] = unsafe { s.load_unchecked(plane.as_ptr().add(from[y][x] + channel)) };
                }
                rows[y] = T::input(s, row);
            }
            for x in 0..side {
                let mut column = [s.splat(0.0); 6];
                for y in 0..side {
                    column[y] = rows[y][x];
                }
                let column = T::input(s, column);
                for (y, &value) in column.iter().enumerate().take(side) {
                    let evaluation_point = y * side + x;
                    let value =
                        if K::IS_SCALED { s.mul(value, s.splat(factors[evaluation_point])) } else { value };
                    let to = (evaluation_point * tiles + tile) * channels + channel;
                    // SAFETY: the evaluation point is less than `evaluation_points()`, the tile less than `tiles`.
                    unsafe { K::store(s, value, evaluation_points.as_mut_ptr().add(to)) };
                }
            }
        }
    }
}

/// Transforms evaluation points of shape `[evaluation point][tile][channel]` back to a plane of shape
/// `[board][y][x][channel]`. Adds the result to the plane if `is_added` and overwrites it otherwise.
#[inline(always)]
pub(super) fn transform_output<S: Simd>(
    s: S,
    boards: &BoardLayout,
    evaluation_points: &[f32],
    plane: &mut [f32],
    is_added: bool,
) {
    match (boards.size, is_added) {
        (TileSize::Three, false) => {
            from_evaluation_points_of::<S, Three, false>(s, boards, evaluation_points, plane)
        }
        (TileSize::Three, true) => {
            from_evaluation_points_of::<S, Three, true>(s, boards, evaluation_points, plane)
        }
        (TileSize::Four, false) => {
            from_evaluation_points_of::<S, Four, false>(s, boards, evaluation_points, plane)
        }
        (TileSize::Four, true) => {
            from_evaluation_points_of::<S, Four, true>(s, boards, evaluation_points, plane)
        }
    }
}

#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "indices of rows and columns, in a formula")]
fn from_evaluation_points_of<S: Simd, T: Transform, const ADDED: bool>(
    s: S,
    boards: &BoardLayout,
    evaluation_points: &[f32],
    plane: &mut [f32],
) {
    let &BoardLayout { width, height, channels, .. } = boards;
    let tiles = boards.tiles();
    assert!(plane.len() >= boards.plane_len() && evaluation_points.len() >= boards.evaluation_points_len());
    assert!(channels.is_multiple_of(S::LANES));
    let (side, result_side) = (T::SIZE.input(), T::SIZE.output());
    for tile in 0..tiles {
        let (first, left, top) = boards.corner(tile);
        for channel in (0..channels).step_by(S::LANES) {
            let mut columns = [[s.splat(0.0); 4]; 6];
            for x in 0..side {
                let mut column = [s.splat(0.0); 6];
                for y in 0..side {
                    let from = ((y * side + x) * tiles + tile) * channels + channel;
                    // SAFETY: the evaluation point is less than `evaluation_points()`, the tile less than `tiles`.
                    column[y] = unsafe { s.load_unchecked(evaluation_points.as_ptr().add(from)) };
                }
                columns[x] = T::output(s, column);
            }
            for y in 0..result_side {
                let mut row = [s.splat(0.0); 6];
                for x in 0..side {
                    row[x] = columns[x][y];
                }
                let row = T::output(s, row);
                for (x, &value) in row.iter().enumerate().take(result_side) {
                    if left + x < width && top + y < height {
                        let to = (first + (top + y) * width + left + x) * channels + channel;
                        // SAFETY: the point is on the board, and a whole vector is left from `channel` on.
                        unsafe {
                            let to = plane.as_mut_ptr().add(to);
                            let value = if ADDED { s.add(s.load_unchecked(to), value) } else { value };
                            s.store_unchecked(value, to);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::simd::Portable;
    use super::*;

    /// Returns the gain of each row of the transformation, which is the sum of the magnitudes of its results for single
    /// points.
    fn most<T: Transform>() -> [f32; 6] {
        let mut most = [0.0; 6];
        for point in 0..T::SIZE.input() {
            let mut points = [Portable.splat(0.0); 6];
            points[point] = Portable.splat(1.0);
            for (most, row) in most.iter_mut().zip(T::input(Portable, points)).take(T::SIZE.input()) {
                *most += row[0].abs();
            }
        }
        most
    }

    #[test]
    fn transformed_numbers_respect_bounds() {
        assert_eq!(most::<Three>(), TileSize::Three.bounds());
        for (most, bound) in most::<Four>().into_iter().zip(TileSize::Four.bounds()) {
            assert!((most - bound).abs() < 1e-5, "{most} {bound}");
        }
    }

    /// Boards of numbers with the largest magnitude must become integers that use most of their bits, do not overflow
    /// and represent the numbers.
    #[test]
    fn transformed_integers_are_rounded_numbers() {
        let mut rng = kosumi_go::rng::Rng::new(7);
        for (side, size) in [(7, TileSize::Three), (9, TileSize::Four)] {
            let (channels, area) = (4, side * side);
            let boards =
                BoardLayout { size, width: side, height: side, count: 2, channels, outside: 2 * area };
            let mut plane: Vec<f32> =
                (0..2 * area * channels).map(|_| if rng.below(2) == 0 { -3.0 } else { 3.0 }).collect();
            // The numbers of the second board are a hundred times as large.
            plane[area * channels..].iter_mut().for_each(|x| *x *= 100.0);
            plane.resize((2 * area + 1) * channels, 0.0);
            let (mut floats, mut halves) =
                (vec![0u32; boards.evaluation_points_len()], vec![0u32; boards.evaluation_points_len() / 2]);
            let mut scales = vec![0.0; boards.tiles()];
            transform_input(Portable, &boards, &plane, &mut floats, &mut []);
            transform_input_to_halves(Portable, &boards, &plane, &mut halves, &mut scales);
            let (floats, halves): (&[f32], &[i16]) =
                (bytemuck::cast_slice(&floats), bytemuck::cast_slice(&halves));
            let mut largest = 0;
            for (index, (float, half)) in floats.iter().zip(halves).enumerate() {
                let (evaluation_point, tile) =
                    (index / channels / boards.tiles(), index / channels % boards.tiles());
                let step = scales[tile] * size.bound(evaluation_point);
                let difference = (f32::from(*half) * step - float).abs();
                assert!(difference <= 0.51 * step, "{difference}, steps of {step}");
                largest = largest.max(half.unsigned_abs());
            }
            assert!(largest > 12_000, "{largest}");
        }
    }
}
