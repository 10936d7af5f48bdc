//! Arbitrary bytes as a network file: each yields an error, or a network that returns finite values and survives a
//! round trip through a file.
//!
//! ```text
//! RUSTC_BOOTSTRAP=1 cargo fuzz run network -- -max_total_time=60 -rss_limit_mb=2048
//! ```
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../support/networks.rs"]
mod networks;

fuzz_target!(|bytes: &[u8]| networks::read(bytes));
