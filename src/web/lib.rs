#![doc = include_str!("README.md")]

#[cfg(target_family = "wasm")]
pub mod exports;
mod request;
mod response;
mod session;

pub use session::{Options, Session, StartError};
