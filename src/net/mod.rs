//! Neural networks in KataGo's format: what they are shown, their files, and what they compute.
//!
//! Everything here is from the view of the player to move, as the networks are; what leaves the module says so or
//! is turned to Black's view.

pub mod input;

pub use input::{GLOBAL_FEATURES, Input, SPATIAL_FEATURES};
