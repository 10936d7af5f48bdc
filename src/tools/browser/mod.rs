//! The board in a browser: a server on this machine, a table with a game on it, and the engine behind.
//!
//! *Page → WebSocket → `Ask` → table → state → all windows.* The pages know no rules: they draw what they
//! are told, and say what was clicked. One thread owns the table and everything about it, and hears of events through a
//! channel; the engine has a thread of its own, other engines one each, and every window two.
//!
//! **Safety.** The server listens on the loopback address unless told otherwise, and `guard.rs` lets nobody in who does not
//! know the token and come from this server's own page. It serves what is built into the program and opens no file: records
//! come from the page and go to the page, by the user's choice. Sizes, rates, connections and windows are limited.
//!
//! Uses `review` and what is left of it, `players` for other engines. Reads a clock, for the players' clocks.

mod guard;
mod http;
mod message;
mod opponent;
mod page;
mod play;
mod server;
mod socket;
mod strength;
mod study;
mod table;
mod thinker;
mod windows;

pub use play::{FirstGame, Setup, play};
pub use study::{Bare, Reviewer, Whole, study};
pub use thinker::{MakeEngine, Purpose};
