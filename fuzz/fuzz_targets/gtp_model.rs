//! Sessions against a slow, plain model of the game: the input bytes choose the commands. After every command the model
//! says what the engine must respond, see `src/tools/commands/session_model/mod.rs`.
//!
//! ```text
//! RUSTC_BOOTSTRAP=1 cargo fuzz run gtp_model -- -max_total_time=600 -detect_leaks=0
//! ```
#![no_main]

use kosumi_tools::commands::Commands;
use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use session_model::Choices;
use std::sync::LazyLock;
use tempfile::TempDir;

#[path = "../../src/tools/commands/session_model/mod.rs"]
mod session_model;

/// Folder for the records of all sessions. A session reads no file that it has not written.
static FOLDER: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().expect("a folder"));

/// Choices from the bytes of the input.
struct Bytes<'b>(Unstructured<'b>);

impl Choices for Bytes<'_> {
    fn below(&mut self, bound: u32) -> u32 {
        self.0.int_in_range(0..=bound - 1).unwrap_or(0)
    }

    fn is_spent(&mut self) -> bool {
        self.0.is_empty()
    }

    fn allows_threads(&self) -> bool {
        true
    }
}

fuzz_target!(|input: &[u8]| {
    let mut bytes = Bytes(Unstructured::new(&input[..input.len().min(800)]));
    session_model::run(&mut bytes, FOLDER.path(), |path, text| {
        std::fs::write(path, text).expect("a file can be written");
    });
});
