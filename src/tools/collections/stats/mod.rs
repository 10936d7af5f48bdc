//! Statistics of a collection.
//!
//! `totals.rs` has the counts (with `counts.rs` for counts by name and `repetition.rs` for repetitions). `collector.rs`
//! merges the results of batches, `blocks.rs` builds tables, `plots.rs` builds headline numbers and plots, and
//! `render.rs` writes text and pages.

mod blocks;
mod collector;
mod counts;
mod location;
mod plots;
mod render;
mod repetition;
mod totals;

pub use blocks::{StatsTable, blocks};
pub use collector::{Collector, Identity, work};
pub use render::{page, text};
pub use totals::Stats;
