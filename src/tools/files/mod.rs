//! File access for long-running commands: atomic writes, logs of lines, early checks of paths, bounded reading of
//! regular files, and text files of users.
//!
//! Uses no other module of this crate.

mod atomic_write;
pub(crate) mod disk;
mod line_log;
mod paths;
mod regular;
#[cfg(test)]
mod simulated_disk;
mod text;

pub use atomic_write::{AtomicFile, write_atomically, write_atomically_with, write_regular};
pub use disk::create_folders;
pub use line_log::{LineLog, complete_lines, differences};
pub use paths::{check_target, files_below, relative};
pub use regular::{open_regular, read_regular};
#[cfg(test)]
pub(crate) use simulated_disk::{Plan, SimulatedDisk, Stop};
pub use text::{lossy_text, read_text, text, without_bom};
