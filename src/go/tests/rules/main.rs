//! Tests of board, rules, superko, keys and playouts against published numbers, slow reference boards, GNU Go and
//! recorded games.
//!
//! All of them are one test binary, because linking takes a large part of the build time.
#![allow(clippy::disallowed_methods, reason = "reads clocks")]

mod board_properties;
mod gnugo_legality;
mod graph_keys;
mod playouts;
mod records;
mod reference;
mod rules_ground_truth;
mod territory;
mod zobrist;
