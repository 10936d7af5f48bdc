//! Aligned memory for vectors.

use bytemuck::{Pod, Zeroable};
use std::marker::PhantomData;

/// A cache line of the processor, which has the size of the widest vector.
#[derive(Clone, Copy, Pod, Zeroable, Debug)]
#[repr(C, align(64))]
struct Line([u64; 8]);

/// Growable memory for numbers, aligned to a cache line.
#[derive(Clone, Debug)]
pub(super) struct Buffer<T = f32> {
    lines: Vec<Line>,
    numbers: PhantomData<T>,
}

impl<T> Default for Buffer<T> {
    fn default() -> Buffer<T> {
        Buffer { lines: Vec::new(), numbers: PhantomData }
    }
}

impl<T: Pod> Buffer<T> {
    /// Count of numbers in a line.
    const EACH: usize = size_of::<Line>() / size_of::<T>();

    /// Returns a buffer of at least `len` zeros.
    pub(super) fn zeroed(len: usize) -> Buffer<T> {
        Buffer { lines: vec![Line::zeroed(); len.div_ceil(Self::EACH)], numbers: PhantomData }
    }

    /// Returns the first `len` numbers, which may have any value, and grows the buffer if needed.
    pub(super) fn at_least(&mut self, len: usize) -> &mut [T] {
        if self.lines.len() * Self::EACH < len {
            self.lines.resize(len.div_ceil(Self::EACH), Line::zeroed());
        }
        &mut self.as_mut_slice()[..len]
    }

    pub(super) fn as_slice(&self) -> &[T] {
        bytemuck::cast_slice(&self.lines)
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.lines)
    }
}
