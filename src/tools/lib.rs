//! Kosumi, a Go (Weiqi, Baduk) engine: the protocol's commands and the tools around the engine.
//!
//! Data flow: *text → `kosumi-gtp` (protocol) → [`commands`] → [`Engine`](engine::Engine) → [`Game`](game::Game) →
//! [`Search`](search::Search) { select → expand → [`Evaluator`](eval::Evaluator) → back up } →
//! [`SearchReport`](search::SearchReport) → [`commands`] → text*. Before the engine everything is text, behind it
//! everything is typed. Only the outermost modules do I/O, only the engine and the command line read a clock,
//! randomness is an argument, and the search prints nothing.
//!
//! The engine itself is the crate `kosumi-core` (`src/core/`), whose modules are re-exported here.
//!
//! Dependency direction, enforced by `tests/support/architecture`: `kosumi-core` ← {files, networks, pages, ranks,
//! statistics, training} ← {collections, shards, review} ← selfplay ← commands ← {analysis, players, session, tune} ←
//! regress ← matches ← browser ← cli.
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![allow(clippy::disallowed_methods, reason = "this crate reads clocks")]

pub mod analysis;
pub mod browser;
pub mod collections;
pub mod commands;
pub mod files;
pub mod matches;
pub mod networks;
pub mod pages;
pub mod players;
pub mod ranks;
pub mod regress;
pub mod review;
pub mod selfplay;
pub mod session;
pub mod setup;
pub mod shards;
pub mod statistics;
pub mod system;
pub mod training;
pub mod tune;
pub mod words;
