//! Board in a browser: a server on this machine around a [table](kosumi_board::play) with a game on it, and the engines.
//!
//! *Page → WebSocket → table → state → all windows.* One thread owns the table and receives events through a channel. The engine has a
//! thread of its own, every other engine has one, and every window has two.
//!
//! **Safety.** The server listens on the loopback address by default, and `guard.rs` only admits requests that know the
//! token and come from this server's own page. The server sends what is built into the program and opens no file: the
//! page uploads and downloads records at the user's request. Sizes, rates, connections and windows are limited.
//!
//! Uses `review` and the layers below, and `players` for other engines. Reads the system clock for the players' clocks.

mod guard;
mod http;
mod opponent;
mod play;
mod server;
#[cfg(test)]
mod simulation;
mod socket;
mod study;
mod thinker;
mod waiting;
mod windows;

pub use kosumi_board::play::{EnginePurpose, MakeEngine};
pub use play::{InitialTable, ServerSettings, play};
pub use study::{PrepareReview, Reviewer, RunReview, study};
