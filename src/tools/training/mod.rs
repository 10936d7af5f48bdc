//! Conversion of games to training data: positions with their targets, packed into shards.
//!
//! All data is from the perspective of the side to move, as the networks expect it.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod example;
mod npz;
mod off_policy;
mod sample;
mod shard;

pub use example::{Example, PackedInput, Targets};
pub use off_policy::OffPolicyGenerator;
pub use sample::{Refusal, Sampling, Split, examples, result};
pub(crate) use sample::{move_index, move_of, owner_rows};
pub use shard::{SHARD_VERSION, Shard};
