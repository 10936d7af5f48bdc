//! Arbitrary bytes as a file of game records: plain, gzip, Zstandard, a zip archive, or these nested. Nothing panics,
//! the result does not depend on how the file is read, and content packed here is read back completely.
//!
//! The first byte selects the use of the others: as the file itself, or as content to pack.
//!
//! ```text
//! RUSTC_BOOTSTRAP=1 cargo fuzz run collection -- -max_total_time=600 -detect_leaks=0 -dict=fuzz/sgf.dict
//! ```
#![no_main]

use flate2::{Compression, Crc};
use kosumi_tools::collections::{
    self, BatchResult, InputCounts, Limits, Records, StreamRecord, Workers, nth_game,
};
use libfuzzer_sys::fuzz_target;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::AtomicU64;
use tempfile::TempDir;

/// Temporary folder, in memory if possible.
static FOLDER: LazyLock<TempDir> =
    LazyLock::new(|| TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).expect("a folder"));

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("a vector takes everything");
    encoder.finish().expect("a vector takes everything")
}

/// Creates a zip archive with one entry, stored or deflated.
fn zip(name: &[u8], bytes: &[u8], is_deflated: bool) -> Vec<u8> {
    let mut crc = Crc::new();
    crc.update(bytes);
    let packed = if is_deflated {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("a vector takes everything");
        encoder.finish().expect("a vector takes everything")
    } else {
        bytes.to_vec()
    };
    let two = |number: usize| (number as u16).to_le_bytes();
    let four = |number: usize| (number as u32).to_le_bytes();
    // Fields that the local header and the central directory have in common.
    let mut common = Vec::new();
    common.extend([20, 0, 0, 0, if is_deflated { 8 } else { 0 }, 0, 0, 0, 0, 0]);
    common.extend(crc.sum().to_le_bytes());
    common.extend(four(packed.len()));
    common.extend(four(bytes.len()));
    common.extend(two(name.len()));
    common.extend(two(0));
    let mut file = [b"PK\x03\x04", &common[..], name, &packed].concat();
    let start = file.len();
    file.extend([&b"PK\x01\x02\x14\x00"[..], &common, &[0; 14], name].concat());
    let length = file.len() - start;
    file.extend(
        [&b"PK\x05\x06"[..], &[0; 4], &two(1), &two(1), &four(length), &four(start), &[0; 2]].concat(),
    );
    file
}

/// Returns the records that the pipeline finds, and its statistics of the file.
fn piped(path: &Path) -> (Vec<Vec<u8>>, InputCounts) {
    let (mut records, mut seen) = (Vec::new(), InputCounts::default());
    let limits = Limits { record: 1 << 16, unpacked: 1 << 20, expansion: 100 };
    let result = collections::run(
        &[path.to_owned()],
        limits,
        None,
        Workers::threads(1),
        &AtomicU64::new(0),
        |batch| BatchResult {
            result: batch.entries.iter().map(|entry| batch.bytes(entry).to_vec()).collect::<Vec<_>>(),
            problems: Vec::new(),
        },
        |batch, work| {
            records.extend(work.result);
            for problem in seen.add(batch, work.problems) {
                assert!(!problem.to_string().is_empty());
            }
            Ok(ControlFlow::Continue(()))
        },
    );
    result.expect("unreadable files are problems, not errors");
    (records, seen)
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, content)) = bytes.split_first() else { return };
    let content = &content[..content.len().min(20_000)];
    let file = match kind % 8 {
        0..=1 => content.to_vec(),
        2 => gzip(content),
        3 => compress_to_vec(content, CompressionLevel::Fastest),
        4 => zip(b"a.sgf", content, false),
        5 => zip(b"a.sgf", content, true),
        6 => zip(b"a.sgf.gz", &gzip(content), false),
        // A valid archive except for one byte.
        _ => {
            let mut file = zip(b"a.sgf", content, kind & 8 == 0);
            let at = content.first().map_or(0, |&byte| byte as usize * file.len() / 256);
            file[at] ^= kind | 1;
            file
        }
    };
    let plain = FOLDER.path().join("plain");
    let packed = FOLDER.path().join("packed.sgf");
    fs::write(&packed, &file).expect("a file");
    let (records, seen) = piped(&packed);
    assert_eq!(records.len() as u64, seen.records);
    let is_zip = file.starts_with(b"PK");
    if !is_zip && seen.problems == 0 {
        let one_by_one = Records::open(&packed).expect("a file that can be read");
        let one_by_one: Vec<Vec<u8>> = one_by_one
            .filter_map(|found| match found.expect("a file without problems") {
                StreamRecord::Record(bytes, _) => Some(bytes),
                StreamRecord::TooLong(_) => None,
            })
            .collect();
        assert_eq!(one_by_one, records);
    }
    let _ = nth_game(&packed, 1);
    let _ = nth_game(&packed, 2);
    // Packed content must yield the same records as plain content.
    let is_text = !matches!(content, [0x1f, 0x8b, ..] | [_, 0xb5 | 0x2a, ..] | [b'P', b'K', ..]);
    if (2..=6).contains(&(kind % 8)) && is_text {
        fs::write(&plain, content).expect("a file");
        let (unpacked, _) = piped(&plain);
        assert_eq!(records, unpacked, "packed as {}", kind % 8);
    }
});
