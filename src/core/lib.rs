//! The engine of Kosumi, without its protocol and its tools: everything that a game, a search and an evaluation need.
//!
//! The way data flows: [`Game`](game::Game) → [`Search`](search::Search) { select → expand →
//! [`Evaluator`](eval::Evaluator) → back up } → [`SearchReport`](search::SearchReport), with
//! [`Engine`](engine::Engine) as the facade that owns the clock. Everything here is types: no text protocol, no
//! output, no command line. Only [`engine`] reads a clock, and randomness is an argument.
//!
//! Dependency direction, held by `tests/architecture.rs`: board ← rules ← history ← graph_key ← game ← {score,
//! safety, tactics, sgf, playout, net} ← eval ← search ← cluster ← engine.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod board;
pub mod cluster;
pub mod engine;
pub mod eval;
pub mod eyespace;
pub mod game;
pub mod graph_key;
pub mod handicap;
pub mod history;
pub mod net;
pub mod perft;
pub mod playout;
pub mod rng;
pub mod rules;
pub mod safety;
pub mod score;
pub mod search;
pub mod settled;
pub mod sgf;
pub mod solve;
mod sync;
pub mod tactics;
pub mod time;
