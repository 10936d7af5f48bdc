//! Neural networks in KataGo's format: what they are shown, their files, and what they compute.
//!
//! Everything here is from the view of the player to move, as the networks are; what leaves the module says so or
//! is turned to Black's view ([`Prediction::for_black`]).
//!
//! *File → `read` → [`Network`]; position → [`Input`] → [`scalar`] or, faster, [`kernels`] → [`Output`] → [`Prediction`].*

pub mod architecture;
mod built_in;
pub mod error;
pub mod features;
pub mod forward;
pub mod input;
pub mod kernels;
pub mod layer;
pub mod model;
pub mod output;
pub mod prediction;
pub mod profile;
pub mod random;
mod read;
pub mod scalar;
pub mod symmetry;
mod tokens;
pub mod write;

pub use built_in::BuiltIn;
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
pub use read::Header;
pub use write::Encoding;
