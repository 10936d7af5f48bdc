//! What a collection holds.
//!
//! `totals.rs` counts (with `counts.rs`, by name, and `census.rs`, repetitions), `collector.rs` puts the batches together,
//! `blocks.rs` makes tables of it, `plots.rs` what is seen at a glance, `render.rs` text and pages.

mod blocks;
mod census;
mod collector;
mod counts;
mod place;
mod plots;
mod render;
mod totals;

pub use blocks::{Block, blocks};
pub use collector::{Collector, Identity, work};
pub use render::{page, text};
pub use totals::Stats;
