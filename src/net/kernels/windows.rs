//! Windows of 3 × 3 as products at the places of Winograd's transformation, in the numbers that a [`PlaceUnit`] multiplies.
//!
//! **Integers of 16 bits.** At a place, a board's numbers are rounded to 15 bits and a sign, with the scale that the largest number
//! of the board and the transformation could need; weights have a scale for each place and output, with which no sum can leave 32 bits.
//! That is about as exact as bf16, and two such products are one instruction since MMX.
//!
//! CITE: Meng and Brothers, "Efficient Winograd convolution via integer arithmetic" (2019), for scales at the places.

use super::batch::Batch;
use super::bf16::to_bf16;
use super::buffer::Buffer;
use super::gemm::{Gemm, pack_into};
use super::primitives::{PlaceUnit, Primitives};
use super::rows::{inverse, nearest};
use super::winograd::{Boards, MOST, PlaceNumbers, TileSize};
use std::sync::OnceLock;

/// Tiles that are transformed together: as many as the second cache holds with their channels.
const TILES: usize = 50;

/// The largest sum of the magnitudes of a column's integers: times [`MOST`], it fits into 32 bits.
const MOST_OF_COLUMN: f32 = 65_535.0;

/// The weights of windows of 3 × 3.
#[derive(Debug)]
pub(super) struct Windows {
    inputs: usize,
    outputs: usize,
    /// `[y][x][input][output]`
    weights: Vec<f32>,
    unit: PlaceUnit,
    /// Computed when a board first asks for that size of tiles.
    at_places: [OnceLock<AtPlaces>; TileSize::BOTH.len()],
}

/// Weights at all places.
#[derive(Debug)]
struct AtPlaces {
    /// A packed matrix for each.
    words: Buffer<u32>,
    /// For integers, what they are multiplied by, `[place][output]`: the scale of the weights, times the bound of the place.
    scales: Vec<f32>,
}

/// Memory that windows need while they are computed.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowsWorkspace {
    places: Buffer<u32>,
    scales: Buffer,
    products: Buffer,
}

impl Windows {
    /// Of weights `[y][x][input][output]`, in 16 bits if they may be `rounded` and that is faster.
    pub(super) fn new(
        weights: Vec<f32>,
        (inputs, outputs): (usize, usize),
        primitives: &Primitives,
        is_rounded: bool,
    ) -> Windows {
        let unit = primitives.rounded_places.filter(|_| is_rounded).unwrap_or(primitives.places);
        Windows { inputs, outputs, weights, unit, at_places: Default::default() }
    }

    fn at_places(&self, size: TileSize, panel: usize) -> AtPlaces {
        let numbers = self.unit.numbers;
        let (outputs, mut rows) = (self.outputs, vec![0.0; self.inputs * self.outputs]);
        let each = rows.len() / numbers.of_word();
        let mut words = Buffer::zeroed(size.places() * each);
        let mut scales = Vec::new();
        for (place, packed) in words.as_mut_slice()[..size.places() * each].chunks_exact_mut(each).enumerate()
        {
            size.transform_windows(place, &self.weights, &mut rows);
            match numbers {
                PlaceNumbers::Floats => pack_into(bytemuck::cast_slice(&rows), outputs, panel, packed),
                PlaceNumbers::Bf16s => {
                    pack_into(&pairs(&rows, outputs, |_, x| to_bf16(x)), outputs, panel, packed);
                }
                PlaceNumbers::Halves => {
                    let columns = column_scales(&rows, outputs);
                    let inverse: Vec<f32> = columns.iter().copied().map(inverse).collect();
                    let integer = |column: usize, x: f32| nearest(x * inverse[column]) as u16;
                    pack_into(&pairs(&rows, outputs, integer), outputs, panel, packed);
                    scales.extend(columns.iter().map(|scale| scale * size.bound(place)));
                }
            }
        }
        AtPlaces { words, scales }
    }

    /// From the plane `from`, which is as wide as the inputs, to the plane `to`, which is as wide as the outputs, in place of what is
    /// there or added to it. What stands in `from` behind all boards is overwritten.
    pub(super) fn run(
        &self,
        primitives: &Primitives,
        batch: Batch,
        from: &mut [f32],
        (is_added, to): (bool, &mut [f32]),
        workspace: &mut WindowsWorkspace,
    ) {
        let Batch { width, height, .. } = batch;
        let size = TileSize::best(width, height);
        let index = usize::from(size == TileSize::Four);
        let AtPlaces { words, scales } =
            self.at_places[index].get_or_init(|| self.at_places(size, primitives.panel));
        let at_a_time = (TILES / size.tiles(width, height)).max(1);
        // Words in a row at a place.
        let inner = self.inputs / self.unit.numbers.of_word();
        let each = inner * self.outputs;
        from[batch.points() * self.inputs..][..self.inputs].fill(0.0);
        let mut done = 0;
        while done < batch.count {
            let count = at_a_time.min(batch.count - done);
            let outside = batch.points() - done * batch.area();
            let inputs = Boards { size, width, height, count, channels: self.inputs, outside };
            let outputs = Boards { channels: self.outputs, ..inputs };
            let tiles = inputs.tiles();
            let places = workspace.places.at_least(size.places() * tiles * inner);
            let of_tiles = workspace.scales.at_least(tiles);
            let products = workspace.products.at_least(outputs.places_len());
            let first = done * batch.area();
            (self.unit.to_places)(&inputs, &from[first * self.inputs..], places, of_tiles);
            for place in 0..size.places() {
                let of_columns = scales.get(place * self.outputs..).unwrap_or_default();
                (self.unit.gemm)(Gemm {
                    rows: tiles,
                    inner,
                    outer: self.outputs,
                    a: &places[place * tiles * inner..],
                    b: &words.as_slice()[place * each..],
                    c: &mut products[place * tiles * self.outputs..],
                    scales: (of_tiles, of_columns),
                });
            }
            (primitives.from_places)(&outputs, products, &mut to[first * self.outputs..], is_added);
            done += count;
        }
    }
}

/// The scales with which the integers of a matrix `[input][output]` fit into 16 bits, and the sums of products with them into 32.
fn column_scales(rows: &[f32], outputs: usize) -> Vec<f32> {
    let mut largest = vec![0.0f32; outputs];
    let mut sums = vec![0.0f64; outputs];
    for row in rows.chunks_exact(outputs) {
        for ((largest, sum), x) in largest.iter_mut().zip(&mut sums).zip(row) {
            *largest = largest.max(x.abs());
            *sum += f64::from(x.abs());
        }
    }
    // Each number of a column may become larger by a half when it is rounded.
    let most_of_column = MOST_OF_COLUMN - (rows.len() / outputs) as f32;
    let scales = largest.into_iter().zip(sums);
    scales.map(|(largest, sum)| (largest / MOST).max(sum as f32 / most_of_column)).collect()
}

/// Two rows of a matrix at a time as products of pairs read them: a number of the first and one of the second by turns, in one
/// word, of which the first is the first in memory. `number` makes 16 bits of a column's number.
fn pairs(rows: &[f32], outputs: usize, number: impl Fn(usize, f32) -> u16) -> Vec<u32> {
    let mut words = vec![0; rows.len() / 2];
    for (two, words) in rows.chunks_exact(2 * outputs).zip(words.chunks_exact_mut(outputs)) {
        let (first, second) = two.split_at(outputs);
        for (column, ((word, first), second)) in words.iter_mut().zip(first).zip(second).enumerate() {
            let [[a, b], [c, d]] = [first, second].map(|x| number(column, *x).to_ne_bytes());
            *word = u32::from_ne_bytes([a, b, c, d]);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With whatever weights: a column's integers times the largest that there are cannot leave 32 bits.
    #[test]
    fn no_sum_of_integers_leaves_32_bits() {
        let mut rng = kosumi_go::rng::Rng::new(5);
        for inputs in [2, 96, 384, 4096] {
            for power in [0.0, 1.0, 8.0] {
                let rows: Vec<f32> =
                    (0..inputs * 3).map(|_| (rng.unit() as f32 - 0.5) * 10f32.powf(power)).collect();
                let scales = column_scales(&rows, 3);
                for (column, &scale) in scales.iter().enumerate() {
                    let exact = rows.iter().skip(column).step_by(3).map(|x| x * inverse(scale));
                    let (largest, sum) = exact.fold((0.0f32, 0i64), |(largest, sum), exact| {
                        let x = exact.round_ties_even();
                        assert_eq!(f32::from(nearest(exact)), x);
                        (largest.max(x.abs()), sum + x.abs() as i64)
                    });
                    assert!(largest <= MOST);
                    assert!(sum * (MOST as i64 + 1) <= i64::from(i32::MAX), "{inputs} inputs: {sum}");
                    // And the bits are used: by the sum, or by the largest number.
                    assert!(largest > 0.5 * MOST || sum > 60_000 - inputs as i64, "{inputs} inputs: {sum}");
                }
            }
        }
    }
}
