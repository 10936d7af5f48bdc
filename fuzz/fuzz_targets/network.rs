//! Any bytes, as a network file: an error, or a network that gives finite answers and survives being written and
//! read again.
//!
//! ```text
//! RUSTC_BOOTSTRAP=1 cargo fuzz run network -- -max_total_time=60 -rss_limit_mb=2048
//! ```
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../support/networks.rs"]
mod networks;

fuzz_target!(|bytes: &[u8]| networks::read(bytes));
