//! Files that survive: whole ones that appear at once, logs of lines, paths that are checked before hours of work; and
//! text files that people have written.
//!
//! Uses nothing of this crate.

mod line_log;
mod paths;
mod text;
mod whole_file;

pub use line_log::{LineLog, complete_lines, differences};
pub use paths::{check_target, files_below, relative};
pub use text::{lossy_text, read_text, text, without_mark};
pub use whole_file::{write_at_once, write_with};
