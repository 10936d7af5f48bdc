#![doc = include_str!("README.md")]
//!
//! Neural networks in KataGo's format: input features, file formats, inference and interpretation of the outputs.
//!
//! Values in this crate are from the perspective of the side to move, which is the perspective of the networks. A
//! value that leaves the crate is documented as such or is converted to Black's perspective
//! ([`Prediction::for_black`]).
//!
//! Data flow: a file is read (`read`) into a [`Network`]. A position becomes an [`Input`], which [`scalar`] or the
//! faster [`kernels`] turn into an [`Output`], which becomes a [`Prediction`].

pub mod architecture;
mod built_in;
pub mod device;
mod differences;
pub mod error;
pub mod features;
pub mod forward;
mod image;
pub mod input;
mod int8;
pub mod kernels;
pub mod layer;
pub mod model;
pub mod output;
pub mod plan;
pub mod prediction;
pub mod profile;
pub mod random;
pub mod rank_setting;
mod read;
pub mod scalar;
pub mod symmetry;
mod tokens;
mod weights;
pub mod write;

pub use built_in::BuiltIn;
pub use device::Device;
pub use differences::Differences;
pub use error::{ErrorKind, ReadError};
pub use features::Features;
pub use forward::Forward;
pub use input::{GLOBAL_FEATURES, Input, METADATA_FEATURES, SPATIAL_FEATURES};
pub use kernels::{Arithmetic, ArithmeticChoice, Kernel, Precision, Prepared, Scratch, UnknownKernel};
pub use layer::Activation;
pub use model::{Block, Cost, NEWEST_VERSION, Network, OLDEST_VERSION};
pub use output::{NotFinite, Output};
pub use prediction::{Context, Policy, Prediction};
pub use profile::{Profile, Rank, UnknownProfile};
pub use rank_setting::{AdaptiveRank, GameOutcome, RankSetting};
pub use read::Header;
pub use weights::Weights;
pub use write::Encoding;
