//! The forward pass as fast as the processor can do it.
//!
//! [`Prepared`] holds a network's weights in the order in which they are read, and evaluates positions: one or
//! several of the same size at a time. Its kernels differ in the instructions that they use and agree with
//! [`scalar`](super::scalar) to a few parts in 10⁵, or, where numbers are rounded to 16 bits, in 10².
//!
//! Planes lie in memory as `[position][y][x][channel]`, with as many channels as two vectors divide. Convolutions of
//! 3 × 3 go through Winograd's transformation (`winograd.rs`), those of 1 × 1 are products of matrices (`gemm.rs`),
//! and the first one adds up the weights of the features that are set (`sparse.rs`); where there is a unit for
//! matrices, it does the two former (`tiles.rs`). Normalisations and activations
//! pass over planes in between (`pointwise.rs`).
//!
//! **What has run where.** [`Portable`](Kernel::Portable) and [`Avx2`](Kernel::Avx2) run on hardware.
//! [`Avx512`](Kernel::Avx512) and [`AmxBf16`](Kernel::AmxBf16) have run under Bochs 3.0's models of Skylake-X and
//! Sapphire Rapids, with a stand-in for Linux, and not on hardware yet. Small networks of every kind differed from
//! the plain forward pass exactly as much as with AVX2, by 1.5 · 10⁻⁵ at most, and products of tiles were bit for bit
//! those of the emulation. Each model was given the fastest kernel that it has, also where the system saves fewer
//! registers or refuses tiles. `kosumi net check` compares all kernels that a processor has.
//!
//! `unsafe` is allowed in this module alone, for two things: calling functions that are compiled for instructions
//! which not every processor has, and reading and writing vectors in inner loops without a check of bounds for each.

#![allow(unsafe_code)]

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod amx;
mod buffer;
mod convolution;
mod forward;
mod gemm;
mod pointwise;
mod prepared;
mod primitives;
mod simd;
mod sparse;
mod tiles;
mod winograd;

pub use forward::Scratch;
pub use prepared::Prepared;

use std::str::FromStr;

/// A way to compute the forward pass.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kernel {
    /// Plain Rust, for every processor.
    Portable,
    /// 256-bit vectors with fused multiplication and addition, of x86-64.
    Avx2,
    /// 512-bit vectors of x86-64.
    Avx512,
    /// Tiles of 16-bit numbers, by Intel's matrix extensions under Linux, and 512-bit vectors.
    AmxBf16,
    /// What `AmxBf16` computes, in plain Rust, to see on any processor how exact it is. Far slower than all others,
    /// and never chosen.
    EmulatedBf16,
}

impl Kernel {
    /// All kernels that are meant to be used, from the slowest to the fastest.
    pub const ALL: [Kernel; 4] = [Kernel::Portable, Kernel::Avx2, Kernel::Avx512, Kernel::AmxBf16];

    /// Can this processor run it?
    pub fn is_available(self) -> bool {
        match self {
            Kernel::Portable | Kernel::EmulatedBf16 => true,
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => is_x86_feature_detected!("avx512f") && Kernel::Avx2.is_available(),
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            Kernel::AmxBf16 => Kernel::Avx512.is_available() && amx::is_available(),
            #[allow(unreachable_patterns, reason = "on processors that have them all, none is left")]
            Kernel::Avx2 | Kernel::Avx512 | Kernel::AmxBf16 => false,
        }
    }

    /// Are its numbers rounded to 16 bits on the way?
    pub const fn is_rounded(self) -> bool {
        matches!(self, Kernel::AmxBf16 | Kernel::EmulatedBf16)
    }

    /// Its name, for people and the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::Portable => "portable",
            Kernel::Avx2 => "avx2",
            Kernel::Avx512 => "avx512",
            Kernel::AmxBf16 => "amx-bf16",
            Kernel::EmulatedBf16 => "emulated-bf16",
        }
    }
}

/// A name that no kernel has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no kernel is called {name:?}; there are {}", Kernel::ALL.map(Kernel::name).join(", "))]
pub struct UnknownKernel {
    name: String,
}

impl FromStr for Kernel {
    type Err = UnknownKernel;

    /// The kernel of a [name](Kernel::name), whether this processor can run it or not.
    fn from_str(name: &str) -> Result<Kernel, UnknownKernel> {
        let mut all = Kernel::ALL.into_iter().chain([Kernel::EmulatedBf16]);
        let kernel = all.find(|kernel| kernel.name() == name);
        kernel.ok_or_else(|| UnknownKernel { name: name.to_owned() })
    }
}
