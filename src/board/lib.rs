#![doc = include_str!("README.md")]
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod pages;
pub mod play;
pub mod review;
pub mod words;
