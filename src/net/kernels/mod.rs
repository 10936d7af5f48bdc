//! The forward pass as fast as the processor can do it.
//!
//! [`Prepared`] holds a network's weights in the order in which they are read, and evaluates positions: one or
//! several of the same size at a time. It is prepared for an [`Arithmetic`]: the instructions that are used, and the
//! precision of the numbers that are multiplied. In `f32` all agree with [`scalar`](super::scalar) to a few parts in
//! 10⁵; where numbers are rounded to 16 or 8 bits, to one or two in 10².
//!
//! Planes lie in memory as `[position][y][x][channel]`, with as many channels as two vectors divide. Convolutions of
//! 3 × 3 go through Winograd's transformation (`winograd.rs`), at whose places they are products of numbers of 32 bits, of bf16 or of
//! integers of 16 bits (`windows.rs`, `gemm.rs`), or, in 8 bits with VNNI, are products of matrices whose rows are the points under the window; those of 1 × 1 and the matrices of transformers are products (`product.rs`,
//! `linear.rs`) of rows that have been normalised or rounded (`rows.rs`); the first convolution adds up the weights of
//! the features that are set (`sparse.rs`); attention is in `attention/`. Where there is a unit for matrices, it
//! does the convolutions in 16 bits (`tiles.rs`), or all products in 8 bits (`integer_tiles.rs`). Normalisations and activations pass over planes in between
//! (`pointwise.rs`).
//!
//! Before a network is rounded to 8 bits it is tried without rounding (`trial.rs`): what its products take then (`moments.rs`) says how channels come
//! into balance with weights (`balance.rs`) and how weights are rounded (`linear.rs`).
//!
//! **What has run where.** All kernels for x86-64 run on hardware (AMD Zen 5; those without AVX-512 and VNNI on Zen 3, too; [`AmxBf16`](Kernel::AmxBf16) and
//! [`AmxInt8`](Kernel::AmxInt8) on an Intel Xeon with the instructions of Sapphire Rapids). A processor that has tiles of bytes
//! is first asked for a product that is known. The kernels for ARM have run under qemu alone (user mode, processors `max`, `neoverse-n1`
//! and `cortex-a72`). `kosumi net check` compares all kernels that a processor has.
//!
//! `unsafe` is allowed in this module alone, for two things: calling functions that are compiled for instructions
//! which not every processor has, and reading and writing vectors in inner loops without a check of bounds for each.

#![allow(unsafe_code)]

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod amx;
mod attention;
mod balance;
mod batch;
mod bf16;
mod buffer;
mod choice;
mod convolution;
mod forward;
mod gemm;
#[cfg(any(test, all(target_arch = "x86_64", target_os = "linux")))]
mod integer_tiles;
mod kernel;
mod linear;
mod moments;
mod pointwise;
mod prepared;
mod primitives;
mod product;
mod rows;
mod simd;
mod sparse;
mod tiles;
mod transformer;
mod trial;
mod windows;
mod winograd;

pub use forward::Scratch;
pub use kernel::{Arithmetic, ArithmeticChoice, Kernel, Precision, UnknownKernel};
pub use prepared::Prepared;
