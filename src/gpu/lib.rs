#![doc = include_str!("README.md")]
//!
//! Evaluation of networks on graphics cards, through wgpu: Vulkan, Metal and DirectX 12.
//!
//! A plan of the network (`kosumi_net::plan`) becomes shaders (`shaders.rs`) and buffers (`compiled.rs`). A thread
//! gathers the positions that other threads ask about into batches (`Gpu`). If the card fails, the caller evaluates on
//! the processor.
//!
//! Without the feature `wgpu` this crate is empty, so that a build of the whole workspace does not compile wgpu.
#![cfg(feature = "wgpu")]

mod cache;
mod card;
mod compiled;
mod server;
mod shaders;
#[cfg(test)]
mod tests;

pub use card::{Card, cards};
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
