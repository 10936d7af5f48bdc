//! Kosumi, a Go (Weiqi, Baduk) engine.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod board;
pub mod rng;
pub mod playout;
