//! Board, rules, superko, keys and playouts against published numbers, slow and obvious boards, GNU Go and recorded games.
//!
//! One program for all of them: linking is a good part of building tests.
#![allow(clippy::disallowed_methods, reason = "reads clocks")]

mod board_properties;
mod gnugo_legality;
mod graph_keys;
mod playouts;
mod records;
mod rules_ground_truth;
mod territory;
mod zobrist;
