//! Any bytes, as one line of GTP: nothing panics, and a command survives being written. Without the session and the thread of
//! `gtp_line`, so that it runs many times as often.
//!
//! ```text
//! RUSTC_BOOTSTRAP=1 cargo fuzz run gtp_command -- -max_total_time=60 -dict=fuzz/gtp.dict
//! ```
#![no_main]

#[path = "../support/arguments.rs"]
mod arguments;

use kosumi_gtp::{Command, Line};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Line::Text(text) = Line::read(input) else { return };
    match Command::parse(&text) {
        Ok(command) => arguments::exercise(&command),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
