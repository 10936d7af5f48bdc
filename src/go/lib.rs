#![doc = include_str!("README.md")]
//!
//! Go (Weiqi, Baduk): board, rules, superko, scoring and game records.
//!
//! Modules depend on each other in one direction: board ← rules ← history ← graph_key ← game ← everything else. Nothing
//! here reads a clock, prints, or draws a random number that the caller has not seeded.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod board;
pub mod eyespace;
pub mod game;
pub mod graph_key;
pub mod handicap;
pub mod history;
pub mod perft;
pub mod playout;
pub mod rng;
pub mod rules;
pub mod safety;
pub mod score;
pub mod settled;
pub mod sgf;
pub mod tactics;
