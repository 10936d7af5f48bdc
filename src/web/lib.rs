#![doc = include_str!("README.md")]

mod board;
#[cfg(target_family = "wasm")]
pub mod exports;
mod request;
mod response;
mod session;

pub use board::Board;
pub use session::{Options, Session, StartError};
