//! The Kosumi engine without its protocols and command-line tools: rules, games, search and evaluation.
//!
//! Data flow: a [`Game`](game::Game) goes into a [`Search`](search::Search), which repeats selection, expansion,
//! evaluation by an [`Evaluator`](eval::Evaluator) and backup, and returns a [`SearchReport`](search::SearchReport).
//! [`Engine`](engine::Engine) is the facade and owns the clock. The interface of this crate consists of types: it has
//! no text protocol, no output and no command line. Only [`engine`] reads a clock. Random generators are passed as
//! arguments.
//!
//! Direction of dependencies, checked by `tests/architecture.rs`: board ← rules ← history ← graph_key ← game ← {score,
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
