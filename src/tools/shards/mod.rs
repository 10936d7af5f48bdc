//! Folders of shards, which networks learn from; and game records on their way into them.
//!
//! Uses `training`, `collections`, `files`, `ranks`, and what they show networks with: `net`, `game`, `sgf`, `rules`.

mod encode;
mod from_records;
mod shard_files;

pub use encode::encode;
pub use from_records::{Counts, FromRecords, Wanted};
pub use shard_files::ShardFiles;
