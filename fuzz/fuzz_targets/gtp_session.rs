//! Arbitrary bytes as a session with the whole engine: nothing panics, hangs or grows without bound, every command is
//! answered, a command that fails leaves the game unchanged, and the board stays consistent.
//!
//! ```text
//! RUSTC_BOOTSTRAP=1 cargo fuzz run gtp_session -- -max_total_time=600 -detect_leaks=0 -dict=fuzz/gtp.dict
//! ```
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../support/watched.rs"]
mod watched;

fuzz_target!(|input: &[u8]| {
    // Longer inputs are slower but do not test more.
    watched::run(input[..input.len().min(600)].to_vec());
});
