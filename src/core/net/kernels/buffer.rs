//! Memory for vectors.

use bytemuck::{Pod, Zeroable};

/// A line of the processor's cache, and the widest vector.
#[derive(Clone, Copy, Pod, Zeroable, Debug)]
#[repr(C, align(64))]
struct Line([f32; 16]);

/// Numbers that begin at the beginning of a cache line.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffer {
    lines: Vec<Line>,
}

impl Buffer {
    /// `len` zeros.
    pub(super) fn zeroed(len: usize) -> Buffer {
        Buffer { lines: vec![Line::zeroed(); len.div_ceil(16)] }
    }

    /// At least `len` numbers, which are any.
    pub(super) fn at_least(&mut self, len: usize) -> &mut [f32] {
        if self.lines.len() * 16 < len {
            self.lines.resize(len.div_ceil(16), Line::zeroed());
        }
        &mut self.as_mut_slice()[..len]
    }

    pub(super) fn as_slice(&self) -> &[f32] {
        bytemuck::cast_slice(&self.lines)
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [f32] {
        bytemuck::cast_slice_mut(&mut self.lines)
    }
}
