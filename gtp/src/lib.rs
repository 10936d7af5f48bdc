#![doc = include_str!("../README.md")]
#![allow(clippy::disallowed_methods, reason = "this crate reads clocks")]
//!
//! # Modules, in the order of their dependence
//!
//! * [`vertex`]: colours and the text form of points;
//! * [`arguments`]: typed reading of the arguments of a command;
//! * [`command`]: lines of input, preprocessed as the draft specifies, and parsed into commands;
//! * [`response`]: content, formatting and parsing of responses;
//! * [`server`]: the engine's side, a loop around a [`Handler`];
//! * [`process`]: the process behind a client;
//! * [`client`]: the controller's side, with the engine as a child process or another [`Process`];
//! * [`log`]: a log file that never delays its caller.
//!
//! The crate knows no game rules: it has no board, no legality and no engine. Its only knowledge of Go is that columns
//! are lettered without the `I`.
//!
//! Invariant: no input makes the crate panic, hang or collect more than a bounded amount of memory.
//! (`tests/server.rs` and the fuzz target `gtp_line`.)
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)
)]

pub mod arguments;
pub mod blocking;
pub mod client;
pub mod command;
mod error;
mod lines;
pub mod log;
pub mod process;
pub mod response;
pub mod server;
pub mod vertex;

pub use arguments::{ArgumentError, Arguments};
pub use blocking::Blocking;
pub use client::{Client, ClientError, CommandLineError, split_command_line};
pub use command::{Command, CommandError, Line, MAX_LINE_BYTES};
pub use log::Log;
pub use process::Process;
pub use response::{Failure, Response};
pub use server::{Disconnected, Handler, InputWatch, Session, answer, serve, serve_until};
pub use vertex::{Color, Vertex};
