//! Networks of all versions, kinds of blocks and sizes, in whose files a few words (names, numbers of channels,
//! markers) are changed, deleted, duplicated or moved. The input bytes control the choices. The checks are those of
//! `network`.
//!
//! ```text
//! RUSTC_BOOTSTRAP=1 cargo fuzz run network_grammar -- -max_total_time=600 -rss_limit_mb=2048
//! ```
#![no_main]

use kosumi_net::random::{self, AttentionShape, BlockKind, Options, RotaryKind, TrunkNormKind};
use kosumi_net::{Activation, Encoding, NEWEST_VERSION, OLDEST_VERSION};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;

#[path = "../support/networks.rs"]
mod networks;

/// Replacements for words of a header.
const WORDS: &[&[u8]] = &[
    b"0",
    b"1",
    b"2",
    b"3",
    b"4",
    b"6",
    b"16",
    b"17",
    b"18",
    b"22",
    b"19",
    b"-1",
    b"16384",
    b"16385",
    b"4294967295",
    b"4294967297",
    b"18446744073709551616",
    b"1e3",
    b"0.5",
    b"nan",
    b"-inf",
    b"1e39",
    b"ordinary_block",
    b"gpool_block",
    b"nested_bottleneck_block",
    b"ACTIVATION_RELU",
    b"ACTIVATION_MISH",
    b"ACTIVATION_IDENTITY",
    b"@BIN@",
    b"@STEP@\x00\x00\x00\x3e",
    b"@INT8@",
    b"@INT16@",
    b"",
];

fn options(u: &mut Unstructured<'_>) -> Result<Options> {
    let version = u.int_in_range(OLDEST_VERSION..=NEWEST_VERSION)?;
    let is_new = version >= 15;
    // The kinds that older files can contain come first.
    let kinds = if is_new { &BlockKind::ALL[..] } else { &BlockKind::ALL[..4] };
    let mut blocks = Vec::new();
    for _ in 0..u.int_in_range(1..=3u8)? {
        blocks.push(*u.choose(kinds)?);
    }
    let activations = [Activation::Relu, Activation::Mish, Activation::Identity, Activation::Silu];
    let norms = [TrunkNormKind::Batch, TrunkNormKind::Rms, TrunkNormKind::SpatialRms];
    Ok(Options {
        version,
        blocks,
        channels: u.int_in_range(2..=8)?,
        activation: if version < 11 { Activation::Relu } else { *u.choose(&activations)? },
        attention: AttentionShape {
            heads: *u.choose(&[1, 2, 4])?,
            key_heads: *u.choose(&[1, 2])?,
            key_width: Some(*u.choose(&[2, 4, 1])?),
            value_width: *u.choose(&[None, Some(1), Some(3)])?,
            rotary: *u.choose(&[RotaryKind::None, RotaryKind::Fixed, RotaryKind::Learned])?,
        },
        trunk_norm: if is_new { *u.choose(&norms)? } else { TrunkNormKind::Batch },
        policy_channels: *u.choose(&[2, 4])?,
        has_metadata_encoder: is_new && u.arbitrary()?,
        pass_alive_with_suicide: is_new && u.arbitrary()?,
        seed: 1,
        ..Options::default()
    })
}

/// File of a network, or the structure and the sections of one of 8 bits.
type File = (Vec<u8>, Option<Vec<u8>>);

/// Returns a modified file.
fn file(u: &mut Unstructured<'_>) -> Result<Option<File>> {
    let Ok(network) = random::network(&options(u)?) else { return Ok(None) };
    let encoding = *u.choose(&[Encoding::Text, Encoding::Binary, Encoding::Int8])?;
    let network = if encoding == Encoding::Int8 { network.to_int8() } else { network };
    let mut bytes = Vec::new();
    network.write(encoding, &mut bytes).expect("a vector takes everything");
    let mut sections = None;
    if encoding == Encoding::Int8 {
        let length = bytes[16..24].try_into().map_or(0, u64::from_le_bytes) as usize;
        sections = Some(bytes.split_off(64 + length.next_multiple_of(64)));
        bytes.truncate(64 + length);
        bytes.drain(..64);
    }
    let mut lines: Vec<Vec<u8>> = bytes.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..u.int_in_range(0..=3u8)? {
        // Lines have one word each, except weights.
        let is_word = |line: &Vec<u8>| line.len() < 30 && line.iter().all(u8::is_ascii_graphic);
        let words: Vec<usize> = (0..lines.len()).filter(|&at| is_word(&lines[at])).collect();
        // A choice among more than 256 lines takes two bytes.
        let at = if u.ratio(1, 8)? { u.choose_index(lines.len())? } else { *u.choose(&words)? };
        match u.int_in_range(0..=6u8)? {
            0 | 1 => lines[at] = u.choose(WORDS)?.to_vec(),
            2 => lines[at] = lines[*u.choose(&words)?].clone(),
            3 => drop(lines.remove(at)),
            4 => lines.insert(at, lines[at].clone()),
            5 => lines.truncate(at + 1),
            // Changes a number by one.
            _ => {
                if let Some(number) =
                    str::from_utf8(&lines[at]).ok().and_then(|word| word.parse::<i64>().ok())
                {
                    let by = if u.arbitrary()? { 1 } else { -1 };
                    lines[at] = number.saturating_add(by).to_string().into_bytes();
                }
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    Ok(Some((lines.join(&b'\n'), sections)))
}

fuzz_target!(|input: &[u8]| {
    match file(&mut Unstructured::new(input)) {
        Ok(Some((structure, Some(sections)))) => networks::read_int8(&structure, &sections),
        Ok(Some((bytes, None))) => networks::read(&bytes),
        _ => {}
    }
});
