//! The forward pass as fast as the processor can do it.
//!
//! [`Prepared`] holds a network's weights in the order in which they are read, and evaluates positions: one or
//! several of the same size at a time. Its kernels differ in the instructions that they use and agree with
//! [`scalar`](super::scalar) to a few parts in 10⁵.
//!
//! Planes lie in memory as `[position][y][x][channel]`, with as many channels as two vectors divide. Convolutions of
//! 3 × 3 go through Winograd's transformation (`winograd.rs`), those of 1 × 1 are products of matrices (`gemm.rs`),
//! and the first one adds up the weights of the features that are set (`sparse.rs`). Normalisations and activations
//! pass over planes in between (`pointwise.rs`).
//!
//! `unsafe` is allowed in this module alone, for two things: calling functions that are compiled for instructions
//! which not every processor has, and reading and writing vectors in inner loops without a check of bounds for each.

#![allow(unsafe_code)]

mod buffer;
mod convolution;
mod forward;
mod gemm;
mod pointwise;
mod prepared;
mod primitives;
mod simd;
mod sparse;
mod winograd;

pub use forward::Scratch;
pub use prepared::Prepared;

/// A way to compute the forward pass.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kernel {
    /// Plain Rust, for every processor.
    Portable,
    /// 256-bit vectors with fused multiplication and addition, of x86-64.
    Avx2,
    /// 512-bit vectors of x86-64.
    Avx512,
}

impl Kernel {
    /// All kernels, from the slowest to the fastest.
    pub const ALL: [Kernel; 3] = [Kernel::Portable, Kernel::Avx2, Kernel::Avx512];

    /// Can this processor run it?
    pub fn is_available(self) -> bool {
        match self {
            Kernel::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => is_x86_feature_detected!("avx512f") && Kernel::Avx2.is_available(),
            #[cfg(not(target_arch = "x86_64"))]
            Kernel::Avx2 | Kernel::Avx512 => false,
        }
    }

    /// The fastest one that this processor can run.
    pub fn best() -> Kernel {
        Kernel::ALL.into_iter().rfind(|kernel| kernel.is_available()).unwrap_or(Kernel::Portable)
    }

    /// Its name, for people and the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::Portable => "portable",
            Kernel::Avx2 => "avx2",
            Kernel::Avx512 => "avx512",
        }
    }
}
