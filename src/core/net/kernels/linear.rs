//! Matrices with their weights in the order in which products read them, in `f32` or in 8 bits.
//!
//! In 8 bits, each column has a scale of its own: `weight ≈ scale · integer`, with integers from −127 to 127.

use super::buffer::Buffer;
use super::product::{
    Accumulate, Apart, Bytes, Dequantised, Destination, Factors, Floats, Gate, Overwrite, ROW_ALIGN, Rows,
    Scaled, Starts, Target, product,
};
use super::simd::PANEL_VECTORS;
use super::simd::Simd;

/// A matrix; or several, one for each piece of the rows that it is multiplied with.
#[derive(Debug)]
pub(super) struct Linear {
    /// Rows of a piece.
    pub(super) inputs: usize,
    /// Columns.
    pub(super) outputs: usize,
    weights: Weights,
}

#[derive(Debug)]
enum Weights {
    /// `[panel][piece][input][column]`
    Floats(Buffer<f32>),
    /// `[panel][piece][four inputs][column][input]`
    Bytes {
        integers: Buffer<i8>,
        /// Of each column.
        scales: Vec<f32>,
        /// What is added to the sums of each column, because the byte that
        /// stands for zero is not zero.
        offsets: Vec<i32>,
    },
}

/// The rows that a [`Linear`] takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Taken<'t> {
    /// Numbers, so many from one row to the next, and factors of rows.
    Floats(&'t [f32], usize, Option<&'t [f32]>),
    /// Bytes, as many in a row as the matrix has inputs, and scales of rows.
    Bytes(&'t [u8], &'t [f32]),
    /// Bytes of points, where those of each row begin, where its pieces lie from there, and scales of rows.
    Window(&'t [u8], &'t [u32], &'t [usize], &'t [f32]),
}

/// What is done with the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ending {
    /// It takes the place of what was there.
    Overwrite,
    /// It is added to what was there.
    Accumulate,
    /// Each first vector of a panel gates the second.
    Gate,
}

/// A product with a [`Linear`].
#[derive(Debug)]
pub(super) struct Multiplication<'m> {
    pub(super) rows: usize,
    pub(super) taken: Taken<'m>,
    pub(super) linear: &'m Linear,
    pub(super) ending: Ending,
    /// Memory for a multiple of [`ROW_ALIGN`] rows.
    pub(super) to: &'m mut [f32],
    /// Numbers from one row of `to` to the next.
    pub(super) stride: usize,
}

impl Linear {
    /// A matrix `[input][output]` in `f32`; `outputs` is a multiple of `panel`, the width of a panel.
    pub(super) fn floats(weights: &[f32], inputs: usize, outputs: usize, panel: usize) -> Linear {
        let mut packed = Buffer::zeroed(weights.len());
        for (row, numbers) in weights.chunks_exact(outputs).enumerate() {
            for (index, numbers) in numbers.chunks_exact(panel).enumerate() {
                let start = (index * weights.len() / outputs + row) * panel;
                packed.as_mut_slice()[start..][..panel].copy_from_slice(numbers);
            }
        }
        Linear { inputs, outputs, weights: Weights::Floats(packed) }
    }

    /// Matrices `[piece][input][output]` in 8 bits; `zero` is the byte that stands for zero.
    pub(super) fn bytes(weights: &[f32], inputs: usize, outputs: usize, panel: usize, zero: i32) -> Linear {
        let mut most = vec![0.0f32; outputs];
        for row in weights.chunks_exact(outputs) {
            most.iter_mut().zip(row).for_each(|(most, weight)| *most = most.max(weight.abs()));
        }
        let inverse: Vec<f32> =
            most.iter().map(|&most| if most > 1e-30 { 127.0 / most } else { 0.0 }).collect();
        let scales = most.iter().map(|most| most / 127.0).collect();
        let mut sums = vec![0i32; outputs];
        let mut integers = Buffer::zeroed(weights.len());
        let packed: &mut [i8] = integers.as_mut_slice();
        let depth = weights.len() / outputs;
        for (row, numbers) in weights.chunks_exact(outputs).enumerate() {
            for (index, numbers) in numbers.chunks_exact(panel).enumerate() {
                let start = (index * depth + row / 4 * 4) * panel + row % 4;
                let columns = index * panel..(index + 1) * panel;
                let places = packed[start..].iter_mut().step_by(4);
                let sums = &mut sums[columns.clone()];
                for (((place, weight), inverse), sum) in places.zip(numbers).zip(&inverse[columns]).zip(sums)
                {
                    let integer = (weight * inverse).round_ties_even() as i8;
                    *place = integer;
                    *sum += i32::from(integer);
                }
            }
        }
        let offsets = sums.iter().map(|sum| -zero * sum).collect();
        Linear { inputs, outputs, weights: Weights::Bytes { integers, scales, offsets } }
    }

    /// Does it take bytes?
    pub(super) fn takes_bytes(&self) -> bool {
        matches!(self.weights, Weights::Bytes { .. })
    }
}

/// Computes a product.
///
/// # Panics
/// If the rows are not of the matrix's kind, or too short.
#[inline(always)]
pub(super) fn multiply<S: Simd>(s: S, it: Multiplication<'_>) {
    let columns = if it.ending == Ending::Gate { it.linear.outputs / 2 } else { it.linear.outputs };
    let rows = it.rows.next_multiple_of(ROW_ALIGN);
    assert!(rows == 0 || it.to.len() >= (rows - 1) * it.stride + columns && it.stride >= columns);
    assert!(it.linear.outputs.is_multiple_of(PANEL_VECTORS * S::LANES));
    let target = Target { to: it.to.as_mut_ptr(), stride: it.stride };
    match it.ending {
        Ending::Overwrite => multiply_to(s, &it, Overwrite(target)),
        Ending::Accumulate => multiply_to(s, &it, Accumulate(target)),
        Ending::Gate => multiply_to(s, &it, Gate(target)),
    }
}

#[inline(always)]
fn multiply_to<S: Simd, D: Destination<S>>(s: S, it: &Multiplication<'_>, to: D) {
    let linear = it.linear;
    let padded = it.rows.next_multiple_of(ROW_ALIGN);
    match (it.taken, &linear.weights) {
        (Taken::Floats(a, stride, rows), Weights::Floats(b)) => {
            let a: &[u32] = bytemuck::cast_slice(a);
            let factors = Factors {
                rows: it.rows,
                a,
                starts: Apart(stride),
                pieces: &[0],
                inner: linear.inputs,
                outer: linear.outputs,
                b: bytemuck::cast_slice(b.as_slice()),
            };
            assert!(rows.is_none_or(|rows| rows.len() >= padded));
            // SAFETY: `multiply` has seen that there is memory for all rows and columns.
            unsafe { product::<S, Floats, _, _>(s, factors, &Scaled { rows, to }) };
        }
        (Taken::Bytes(a, rows), Weights::Bytes { .. }) => {
            multiply_bytes(s, it, a, Apart(linear.inputs / 4), &[0], rows, to);
        }
        (Taken::Window(a, starts, pieces, rows), Weights::Bytes { .. }) => {
            assert!(starts.len() >= padded);
            multiply_bytes(s, it, a, Starts(starts), pieces, rows, to);
        }
        _ => panic!("rows of another kind than the matrix"),
    }
}

#[inline(always)]
fn multiply_bytes<S: Simd, R: Rows, D: Destination<S>>(
    s: S,
    it: &Multiplication<'_>,
    a: &[u8],
    starts: R,
    pieces: &[usize],
    rows: &[f32],
    to: D,
) {
    let linear = it.linear;
    let Weights::Bytes { integers, scales, offsets } = &linear.weights else { return };
    assert!(rows.len() >= it.rows.next_multiple_of(ROW_ALIGN));
    assert!(scales.len() >= linear.outputs && offsets.len() >= linear.outputs);
    let factors = Factors {
        rows: it.rows,
        a: bytemuck::cast_slice(a),
        starts,
        pieces,
        inner: linear.inputs / 4,
        outer: linear.outputs,
        b: bytemuck::cast_slice(integers.as_slice()),
    };
    let finish = Dequantised { offsets, columns: scales, rows, to };
    // SAFETY: `multiply` has seen that there is memory for all rows and columns.
    unsafe { product::<S, Bytes, _, _>(s, factors, &finish) };
}
