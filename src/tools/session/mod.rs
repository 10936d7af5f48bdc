//! GTP session around the commands: autosave of the running game, and the log.
//!
//! Uses `commands`, `engine` and the layers below, `collections` for reading records, and `files` for writing them.
//! Nothing here prints: messages for the user go to the function `warn`.

mod autosave;
mod recorded;

pub use autosave::{Autosave, newest, today};
pub use recorded::RecordedCommands;

/// Function that prints a warning for the user.
pub type Warn = fn(&str);
