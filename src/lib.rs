//! Kosumi, a Go (Weiqi, Baduk) engine.
//!
//! The way data flows: *text → `kosumi-gtp` (protocol) → [`commands`] → [`Engine`](engine::Engine) →
//! [`Game`](game::Game) → [`Search`](search::Search) { select → expand → [`Evaluator`](eval::Evaluator) → back up }
//! → [`SearchReport`](search::SearchReport) → [`commands`] → text*. Left of the engine everything is text, right of
//! it everything is types. Only the outermost rooms do I/O, only the engine and the command line read a clock,
//! randomness is an argument, and the search prints nothing.
//!
//! Dependency direction, held by `tests/architecture.rs`: board ← rules ← history ← graph_key ← game ← {score,
//! safety, tactics, playout, eval, sgf, …} ← search ← engine ← commands ← cli.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod board;
pub mod cli;
pub mod commands;
pub mod engine;
pub mod eval;
pub mod eyespace;
pub mod game;
pub mod graph_key;
pub mod handicap;
pub mod history;
pub mod html;
pub mod net;
pub mod perft;
pub mod playout;
pub mod regress;
pub mod review;
pub mod rng;
pub mod rules;
pub mod safety;
pub mod score;
pub mod search;
pub mod selfplay;
pub mod sgf;
pub mod tactics;
pub mod time;
pub mod training;
