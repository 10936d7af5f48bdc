//! Kosumi, a Go (Weiqi, Baduk) engine.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod board;
pub mod game;
pub mod graph_key;
pub mod handicap;
pub mod history;
pub mod playout;
pub mod rng;
pub mod rules;
pub mod safety;
pub mod score;
pub mod sgf;
pub mod time;
