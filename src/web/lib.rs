#![doc = include_str!("README.md")]

mod board;
#[cfg(target_family = "wasm")]
pub mod exports;
pub mod gpu;
mod request;
mod response;
mod session;

pub use board::Board;
pub use session::{Options, Session, StartError};
