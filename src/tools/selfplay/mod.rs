//! Games of the engine against itself, for the training of networks.
//!
//! ```text
//!  Settings ─> workers.rs: Player ─> PlayedGame ─> log_segment.rs: log, one line a game ─> shard, SGF
//! ```
//!
//! A game depends only on the settings and its number: the board, the rules, komi, the opening and all random choices
//! follow from the seed and the number, whichever thread plays it. A game is written to the log before it is counted.
//! Shards are built from the log alone, so no game in the log is lost.
//!
//! MPI ranks share the games (`over_ranks.rs`); rank 0 writes all files.
//!
//! Uses `engine` and the modules below it, `training`, `shards`, `files` and `ranks`.

mod log_segment;
mod noise;
mod over_ranks;
mod play;
mod record;
mod settings;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
mod workers;

pub use log_segment::{FinishedGames, LogSegment, LogStorage};
pub use noise::NoiseSettings;
pub use over_ranks::{lend, serve};
pub use play::{NoNetwork, Player};
pub use record::{Ending, InvalidRecord, OffPolicyTurn, PlayedGame, PositionTargets, Turn};
pub use settings::{MIN_TEMPERATURE, Settings};
pub use workers::start;
