#![doc = include_str!("README.md")]
//!
//! Programs around the engine: GTP commands, analysis, matches, self-play, reviews and the board in the browser.
//!
//! The data flow is: *text → `kosumi-gtp` (protocol) → [`commands`] → [`Engine`](kosumi_engine::Engine) →
//! [`Search`](kosumi_search::Search) → [`Analysis`](kosumi_search::Analysis) → [`commands`] → text*. Everything before
//! the engine handles text, and everything after it typed values.
//!
//! Modules depend on each other in one direction: {files, networks, panics, ranks, statistics, training} ← {collections,
//! review_folder, shards} ← selfplay ← commands ← {analysis, players, session, tune} ← regress ← matches ← browser.
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![allow(clippy::disallowed_methods, reason = "this crate reads clocks")]

pub use kosumi_board::{pages, review, words};

pub mod analysis;
pub mod browser;
pub mod collections;
pub mod commands;
pub mod files;
pub mod matches;
pub mod networks;
mod panics;
pub mod players;
pub mod ranks;
pub mod regress;
pub mod review_folder;
pub mod selfplay;
pub mod session;
pub mod setup;
pub mod shards;
#[cfg(test)]
mod simulation;
pub mod statistics;
pub mod system;
pub mod training;
pub mod tune;
