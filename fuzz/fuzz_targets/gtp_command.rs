//! Arbitrary bytes as one line of GTP: nothing panics, and a command survives a round trip through text. The target has
//! neither the session nor the thread of `gtp_line`, so it runs many times faster.
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
