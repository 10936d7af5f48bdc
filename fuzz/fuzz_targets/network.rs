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

fuzz_target!(|bytes: &[u8]| {
    // With the first bytes of a file of 8 bits, a header that fits stands in place of that of the input: otherwise no
    // checksum would.
    match bytes.split_at_checked(66) {
        Some((header, rest)) if header.starts_with(b"\x89KOSUMI8") => {
            let length = usize::from(u16::from_le_bytes([header[64], header[65]]));
            let (structure, sections) = rest.split_at(length.min(rest.len()));
            networks::read_int8(structure, sections);
        }
        _ => networks::read(bytes),
    }
});
