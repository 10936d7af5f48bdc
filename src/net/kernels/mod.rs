//! Fast implementations of the forward pass.
//!
//! [`Prepared`] holds the weights of a network in the order in which they are read. It evaluates one position, or
//! several of the same board size at a time. It is prepared for an [`Arithmetic`], which is a set of instructions and a
//! precision of the numbers that are multiplied. In `f32` the results agree with [`scalar`](super::scalar) to a few
//! parts in 10⁵. Where numbers are rounded to 16 or 8 bits, they agree to one or two parts in 10².
//!
//! Planes have the shape `[position][y][x][channel]`. The number of channels is a multiple of two vectors. The layers
//! are computed as follows:
//!
//! * 3 × 3 convolutions use Winograd's transformation (`winograd.rs`). In the transformed tiles they are products of
//!   `f32`, of bf16 or of 16-bit integers (`winograd_conv.rs`, `gemm.rs`). In 8 bits with VNNI they are instead
//!   products of matrices whose rows are the points under the window.
//! * 1 × 1 convolutions and the matrices of transformers are products (`product.rs`, `linear.rs`) of rows that have
//!   been normalised or rounded (`rows.rs`).
//! * The first convolution adds up the weights of the features that are not zero (`sparse.rs`).
//! * Attention is in `attention/`.
//! * A matrix unit, if the processor has one, computes the convolutions in 16 bits (`tiles.rs`) or all products in 8
//!   bits (`integer_tiles.rs`).
//! * Normalisations and activations between them are separate passes over the planes (`pointwise.rs`).
//!
//! A network that is rounded to 8 bits is first evaluated without rounding in a few positions (`trial.rs`). The
//! statistics of the inputs of its products (`statistics.rs`) determine how channels and weights are balanced
//! (`balance.rs`) and how weights are rounded (`linear.rs`).
//!
//! **Tested hardware.** All kernels for x86-64 have run on hardware: on AMD Zen 5, those without AVX-512 and VNNI also
//! on Zen 3, and [`AmxBf16`](Kernel::AmxBf16) and [`AmxInt8`](Kernel::AmxInt8) on an Intel Xeon with the instructions
//! of Sapphire Rapids. On a processor with tiles of bytes, a product with a known result is checked before they are
//! used. The kernels for ARM have run only under qemu (user mode, processors `max`, `neoverse-n1` and `cortex-a72`).
//! `kosumi net check` compares all kernels that a processor supports.
//!
//! Besides `image.rs`, which maps files, this is the only module in which `unsafe` is allowed. It serves two purposes:
//! calling functions that are compiled for instructions that not every processor has, and reading and writing vectors
//! in inner loops without bounds checks.

#![allow(unsafe_code)]
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(dead_code, reason = "only kernels for x86-64 use some of the formats and limits")
)]

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
mod pointwise;
mod prepared;
mod primitives;
mod product;
mod rows;
mod simd;
mod sparse;
mod statistics;
mod tiles;
mod to_int8;
mod transformer;
mod trial;
mod winograd;
mod winograd_conv;

pub use forward::Scratch;
pub use kernel::{Arithmetic, ArithmeticChoice, Kernel, Precision, UnknownKernel};
pub use prepared::Prepared;
