//! What surrounds the commands in a session of GTP: the running game on the disk, and what the log says.
//!
//! Uses `commands`, `engine` and what is below it, `collections` to read records, `files` to write them. Nothing here
//! prints: what a person should know goes to the function `warn`.

mod autosave;
mod served;

pub use autosave::{Autosave, newest, today};
pub use served::Served;

/// Tells the person at the terminal.
pub type Warn = fn(&str);
