#![doc = include_str!("README.md")]
//!
//! Evaluation of networks on graphics cards, through wgpu: Vulkan, Metal and DirectX 12.
//!
//! A plan of the network (`kosumi_net::plan`) becomes a [`Program`](program::Program): shaders (`shaders.rs`), buffers
//! and numbers of workgroups. `compiled.rs` executes it through wgpu. A thread gathers the positions that other threads
//! submit into batches (`Gpu`). If the card fails, the caller evaluates on the processor.
//!
//! Without the feature `wgpu`, this crate has only what the page without a server needs, which executes programs
//! through the browser's WebGPU. A build of the whole workspace therefore does not compile wgpu.

#[cfg(feature = "wgpu")]
mod cache;
#[cfg(feature = "wgpu")]
mod card;
#[cfg(feature = "wgpu")]
mod compiled;
mod pace;
pub mod program;
pub mod queued;
#[cfg(feature = "wgpu")]
mod server;
mod shaders;
#[cfg(all(test, feature = "wgpu"))]
mod tests;
mod waiting;

#[cfg(feature = "wgpu")]
pub use card::{Card, cards};
#[cfg(feature = "wgpu")]
pub use server::{Clock, Fault, Gpu, GpuOptions, Report};

use thiserror::Error;

/// Reason why a card cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum GpuError {
    /// The driver or the card has failed.
    #[error("{0}")]
    Device(String),
    /// The card has too little memory.
    #[error("the card has too little memory for the network")]
    Memory,
    /// The shaders cannot compute this network.
    #[error("this network cannot be computed on a card: {0}")]
    Network(&'static str),
}
