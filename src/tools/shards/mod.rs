//! Folders of shards for the training of networks, and the conversion of game records to shards.
//!
//! Uses `training`, `collections`, `files`, `ranks`, and for the inputs of networks `net`, `game`, `sgf` and `rules`.

mod encode;
mod from_records;
mod shard_files;

pub use encode::encode;
pub use from_records::{ConversionCounts, RecordConversion, SplitChoice};
pub use shard_files::ShardFiles;
