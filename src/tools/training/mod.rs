//! Conversion of games to training data: positions with their targets, packed into shards.
//!
//! All data is from the perspective of the side to move, as the networks expect it.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod example;
mod npz;
mod sample;
mod shard;
mod stray;

pub use example::{Example, PackedInput, Targets};
pub use sample::{Refusal, Sampling, Split, examples, result};
pub(crate) use sample::{move_index, move_of, owner_rows};
pub use shard::{SHARD_VERSION, Shard};
pub use stray::Strays;
