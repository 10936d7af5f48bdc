//! File access for long-running commands: atomic writes, logs of lines, early checks of paths, and text files of users.
//!
//! It uses no other module of this crate.

mod atomic_write;
mod line_log;
mod paths;
mod text;

pub use atomic_write::{write_atomically, write_atomically_with};
pub use line_log::{LineLog, complete_lines, differences};
pub use paths::{check_target, files_below, relative};
pub use text::{lossy_text, read_text, text, without_bom};
