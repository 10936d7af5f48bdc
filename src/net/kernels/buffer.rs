//! Memory for vectors.

use bytemuck::{Pod, Zeroable};
use std::marker::PhantomData;

/// A line of the processor's cache, and the widest vector.
#[derive(Clone, Copy, Pod, Zeroable, Debug)]
#[repr(C, align(64))]
struct Line([u64; 8]);

/// Numbers that begin at the beginning of a cache line.
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
    /// Numbers in a line.
    const EACH: usize = size_of::<Line>() / size_of::<T>();

    /// `len` zeros.
    pub(super) fn zeroed(len: usize) -> Buffer<T> {
        Buffer { lines: vec![Line::zeroed(); len.div_ceil(Self::EACH)], numbers: PhantomData }
    }

    /// At least `len` numbers, which are any.
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
