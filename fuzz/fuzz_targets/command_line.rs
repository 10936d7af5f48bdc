//! Arbitrary lines as the words of a command line: each yields a command or a message, and nothing panics. No command
//! is executed. No file is read, because words with a slash or a backslash are skipped.
//!
//! ```text
//! RUSTC_BOOTSTRAP=1 cargo fuzz run command_line -- -max_total_time=600 -dict=fuzz/command.dict
//! ```
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

fuzz_target!(|bytes: &[u8]| {
    if bytes.len() > 500 || bytes.contains(&b'/') || bytes.contains(&b'\\') {
        return;
    }
    let words = bytes.split(|&byte| byte == b'\n').map(|word| OsStr::from_bytes(word).to_owned());
    let words = std::iter::once("kosumi".into()).chain(words).collect();
    if let Err(message) = kosumi::check(words) {
        assert!(!message.trim().is_empty());
    }
});
