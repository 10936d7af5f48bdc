//! Board in a browser: a server on this machine around a [table](kosumi_board::play) with a game on it, and the engines.
//!
//! *Page → WebSocket → table → state → all windows.* One thread owns the table and receives events through a channel.
//! Kosumi's engine has a separate thread, each other engine has one, and each window has two.
//!
//! **Safety.** The server listens on the loopback address by default, and `guard.rs` only admits requests that know the
//! token and come from this server's own page. The server sends only what is built into the program, and opens no file.
//! Records are uploaded and downloaded by the page, at the user's request. Sizes, rates, connections and windows are
//! limited.
//!
//! **Panics.** No panic leaves a page waiting. A task, a request to an engine and a review that panic end with an error
//! for the page, and the thread goes on. A connection whose thread panics is closed, and the page connects again. A panic
//! of the thread that owns the table ends the process.
//!
//! Uses `review` and the layers below, and `players` for other engines. Reads the system clock for the players' clocks.

mod engine_thread;
mod guard;
mod http;
mod opponent;
mod pending;
mod play;
mod server;
#[cfg(test)]
mod simulation;
mod socket;
mod study;
mod windows;

pub use kosumi_board::play::{EnginePurpose, MakeEngine};
pub use play::{InitialTable, ServerSettings, play};
pub use study::{PrepareReview, Reviewer, RunReview, study};
