//! Games of the engine against itself, for networks to learn from.
//!
//! ```text
//!  Settings ─> workers.rs: Player ─> PlayedGame ─> log_segment.rs: log, one line a game ─> shard, SGF
//! ```
//!
//! A game is decided by the settings and its number alone: board, rules, komi, opening and every draw of chance follow
//! from the seed and the number, whichever thread plays it and whatever was played before. It is in the log before the
//! next is counted. Shards are made of the log alone, so nothing is lost that the log has.
//!
//! Ranks that MPI has started share the games (`over_ranks.rs`); the first of them writes all files.
//!
//! Uses `engine` and what is below it, `training`, `shards`, `files` and `ranks`.

mod log_segment;
mod noise;
mod over_ranks;
mod play;
mod record;
mod settings;
#[cfg(test)]
mod tests;
mod workers;

pub use log_segment::{Finished, LogSegment, Storage};
pub use noise::NoiseSettings;
pub use over_ranks::{lend, serve};
pub use play::{NoNetwork, Player};
pub use record::{Damaged, Ending, OffPolicyTurn, PlayedGame, PositionTargets, Turn};
pub use settings::{COOLEST, Settings};
pub use workers::start;
