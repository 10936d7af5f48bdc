//! Kosumi, a Go (Weiqi, Baduk) engine.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod board;
pub mod cli;
pub mod commands;
pub mod engine;
pub mod eval;
pub mod game;
pub mod graph_key;
pub mod history;
pub mod playout;
pub mod rng;
pub mod rules;
pub mod score;
pub mod search;
pub mod tactics;
