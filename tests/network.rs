//! Networks in KataGo's format: files survive a round trip, broken files are refused, and the forward pass agrees with
//! an independent implementation.
//!
//! The published networks that some tests read are not part of this project. The tests look for them in
//! `../shared/models`, and report it when they are skipped.

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, Crc};
use kosumi_go::rng::Rng;
use kosumi_net::random::{self, AttentionShape, BlockKind, Options, RotaryKind, TrunkNormKind};
use kosumi_net::{
    Activation, Arithmetic, Context, Cost, Encoding, ErrorKind, Input, Kernel, NEWEST_VERSION, Network,
    OLDEST_VERSION, Output, Precision, Prediction, Prepared, ReadError, Scratch, scalar,
};
use kosumi_test_support::shared;
use proptest::prelude::*;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::PathBuf;

fn bytes(network: &Network, encoding: Encoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    network.write(encoding, &mut bytes).unwrap();
    bytes
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Structure and sections of an 8-bit file.
struct Int8Parts {
    structure: Vec<u8>,
    sections: Vec<u8>,
}

impl Int8Parts {
    fn of(network: &Network) -> Int8Parts {
        let file = bytes(&network.to_int8(), Encoding::Int8);
        let length = u64::from_le_bytes(file[16..24].try_into().unwrap()) as usize;
        let structure = file[64..64 + length].to_vec();
        Int8Parts { sections: file[64 + length.next_multiple_of(64)..].to_vec(), structure }
    }

    /// Returns a file of these parts, with correct lengths and checksums.
    fn file(&self) -> Vec<u8> {
        let sum = |bytes: &[u8]| {
            let mut sum = Crc::new();
            sum.update(bytes);
            sum.sum().to_le_bytes()
        };
        let mut padded = self.structure.clone();
        padded.resize(padded.len().next_multiple_of(64), 0);
        let mut header = b"\x89KOSUMI8\x01\0\0\0\x01\0\0\0".to_vec();
        header.extend((self.structure.len() as u64).to_le_bytes());
        header.extend((self.sections.len() as u64).to_le_bytes());
        header.extend([sum(&padded), sum(&self.sections)].concat());
        header.resize(60, 0);
        header.extend(sum(&header));
        [header, padded, self.sections.clone()].concat()
    }
}

/// Returns meaningless features, the same as `network_vectors/reference.py` uses.
fn made_up_input(seed: u64, width: usize, height: usize) -> Input {
    let mut state = seed;
    let mut draw = || {
        state = (state * 1_103_515_245 + 12_345) % (1 << 31);
        ((state >> 16) % 17) as f32 / 8.0 - 1.0
    };
    let mut input = Input::zero(width, height);
    input.spatial.iter_mut().for_each(|feature| *feature = draw());
    input.global.iter_mut().for_each(|feature| *feature = draw());
    input.metadata = Some(Box::new(std::array::from_fn(|_| draw())));
    input
}

/// Parses options in the form of the command line.
fn options(words: &str) -> Options {
    let mut options = Options::default();
    let mut activation = None;
    let mut words = words.split_whitespace();
    while let Some(option) = words.next() {
        let mut value = || words.next().unwrap();
        let attention = &mut options.attention;
        match option {
            "--version" => options.version = value().parse().unwrap(),
            "--channels" => options.channels = value().parse().unwrap(),
            "--seed" => options.seed = value().parse().unwrap(),
            "--activation" => {
                let name = value();
                activation = Activation::ALL.into_iter().find(|it| it.name().eq_ignore_ascii_case(name));
                assert!(activation.is_some(), "{name}");
            }
            "--heads" => {
                attention.heads = value().parse().unwrap();
                attention.key_heads = attention.heads;
            }
            "--key-heads" => attention.key_heads = value().parse().unwrap(),
            "--key-width" => attention.key_width = Some(value().parse().unwrap()),
            "--value-width" => attention.value_width = Some(value().parse().unwrap()),
            "--rotary" => {
                attention.rotary = match value() {
                    "none" => RotaryKind::None,
                    "fixed" => RotaryKind::Fixed,
                    _ => RotaryKind::Learned,
                };
            }
            "--trunk-norm" => {
                options.trunk_norm = match value() {
                    "rms" => TrunkNormKind::Rms,
                    "spatial-rms" => TrunkNormKind::SpatialRms,
                    _ => TrunkNormKind::Batch,
                };
            }
            "--policy-channels" => options.policy_channels = value().parse().unwrap(),
            "--metadata" => options.has_metadata_encoder = true,
            "--pass-alive-with-suicide" => options.pass_alive_with_suicide = true,
            "--blocks" => {
                let kinds = value().split(',').flat_map(|word| {
                    let (word, count) = word.split_once(':').unwrap_or((word, "1"));
                    let kind = BlockKind::ALL.into_iter().find(|kind| kind.name() == word).unwrap();
                    std::iter::repeat_n(kind, count.parse().unwrap())
                });
                options.blocks = kinds.collect();
            }
            _ => panic!("{option}"),
        }
    }
    let usual = if options.version >= 11 { Activation::Mish } else { Activation::Relu };
    options.activation = activation.unwrap_or(usual);
    options
}

/// Returns the names and options of the networks in `network_vectors/networks.txt`.
fn listed_networks() -> impl Iterator<Item = (&'static str, Options)> {
    include_str!("network_vectors/networks.txt").lines().map(|line| {
        let mut parts = line.split('|').map(str::trim);
        (parts.next().unwrap(), options(parts.next().unwrap()))
    })
}

/// Returns the numbers of an output that make a line of `network_vectors/vectors.txt`.
fn numbers(output: &Output, width: usize) -> Vec<f32> {
    let corners_and_mean = |plane: &[f32]| {
        let mean = plane.iter().sum::<f32>() / plane.len() as f32;
        [plane[0], plane[width - 1], plane[plane.len() - width], mean]
    };
    let mut numbers = vec![output.pass];
    numbers.extend(output.optimistic_pass);
    numbers.extend(output.value);
    numbers.extend([output.score_mean, output.score_stdev, output.lead, output.variance_time]);
    numbers.extend(output.shortterm_errors.into_iter().flatten());
    numbers.extend(corners_and_mean(&output.policy));
    numbers.extend(output.optimistic_policy.iter().flat_map(|policy| corners_and_mean(policy)));
    numbers.extend(corners_and_mean(&output.ownership));
    numbers
}

#[test]
fn the_forward_pass_agrees_with_one_in_python() {
    let networks: Vec<_> =
        listed_networks().map(|(name, options)| (name, random::network(&options).unwrap())).collect();
    let mut worst = 0.0f32;
    for line in include_str!("network_vectors/vectors.txt").lines() {
        let mut words = line.split(' ');
        let (name, size) = (words.next().unwrap(), words.next().unwrap());
        let (width, height) = size.split_once('x').unwrap();
        let (width, height) = (width.parse().unwrap(), height.parse().unwrap());
        let index = networks.iter().position(|&(known, _)| known == name).unwrap();
        let output =
            scalar::evaluate(&networks[index].1, &made_up_input(index as u64 + 1, width, height)).unwrap();
        assert_eq!((output.policy.len(), output.ownership.len()), (width * height, width * height));
        let wanted: Vec<f32> = words.map(|word| word.parse().unwrap()).collect();
        let found = numbers(&output, width);
        assert_eq!(found.len(), wanted.len(), "{name}");
        for (found, wanted) in found.iter().zip(&wanted) {
            let difference = (found - wanted).abs() / wanted.abs().max(1.0);
            assert!(difference < 2e-5, "{name} {size}: {found} instead of {wanted}");
            worst = worst.max(difference);
        }
    }
    assert!(worst > 0.0, "nothing was compared");
}

/// Returns the largest difference between two outputs, relative for numbers above 1.
fn difference(found: &Output, wanted: &Output) -> f32 {
    let width = 1;
    let (mut left, mut right) = (numbers(found, width), numbers(wanted, width));
    for (numbers, output) in [(&mut left, found), (&mut right, wanted)] {
        numbers.extend(
            output.policy.iter().chain(output.optimistic_policy.iter().flatten()).chain(&output.ownership),
        );
    }
    assert_eq!(left.len(), right.len());
    left.iter()
        .zip(&right)
        .map(|(left, right)| (left - right).abs() / right.abs().max(1.0))
        .fold(0.0, f32::max)
}

/// Returns all kernels that this processor supports with their precisions, and the emulated kernel.
fn arithmetics() -> Vec<Arithmetic> {
    let emulated = Arithmetic { kernel: Kernel::EmulatedBf16, precision: Precision::Bf16 };
    Arithmetic::available().into_iter().chain([emulated]).collect()
}

/// Compares all kernels of this processor for all listed networks, on boards of many sizes, for one and for three
/// positions at a time, with shared scratch memory.
#[test]
fn kernels_agree_with_the_plain_forward_pass() {
    let sizes = [(19, 19), (9, 9), (1, 1), (25, 2), (13, 7), (2, 25), (4, 4), (5, 8)];
    let mut scratch = Scratch::default();
    for arithmetic in arithmetics() {
        let tolerance = match arithmetic.precision {
            Precision::F32 => 2e-4,
            Precision::Bf16 => 0.1,
            Precision::Int8 => 0.3,
        };
        let mut worst = 0.0f32;
        for (index, (name, options)) in listed_networks().enumerate() {
            let network = random::network(&Options { channels: options.channels + 20, ..options }).unwrap();
            let prepared = Prepared::new(&network, arithmetic);
            let (width, height) = sizes[index % sizes.len()];
            let inputs: Vec<Input> = (0..3).map(|seed| made_up_input(seed, width, height)).collect();
            let wanted: Vec<Output> =
                inputs.iter().map(|input| scalar::evaluate(&network, input).unwrap()).collect();
            let together = prepared.evaluate(&inputs.iter().collect::<Vec<_>>(), &mut scratch).unwrap();
            let alone = inputs.iter().flat_map(|input| prepared.evaluate(&[input], &mut scratch).unwrap());
            for (found, wanted) in together.iter().cloned().chain(alone).zip(wanted.iter().cycle()) {
                let difference = difference(&found, wanted);
                let arithmetic = arithmetic.name();
                assert!(difference < tolerance, "{name} {width}x{height} {arithmetic}: {difference}");
                worst = worst.max(difference);
            }
        }
        eprintln!("{}: {worst:e}", arithmetic.name());
    }
}

prop_compose! {
    fn any_attention()(
        key_heads in 1usize..4,
        sharing in 1usize..3,
        units in 1usize..3,
        value_width in 1usize..6,
        rotary in prop::sample::select(vec![RotaryKind::None, RotaryKind::Fixed, RotaryKind::Learned]),
    ) -> AttentionShape {
        let (heads, key_width) = (key_heads * sharing, Some(4 * units));
        AttentionShape { heads, key_heads, key_width, value_width: Some(value_width), rotary }
    }
}

prop_compose! {
    fn any_options()(
        version in OLDEST_VERSION..=NEWEST_VERSION,
        blocks in prop::collection::vec(prop::sample::select(&BlockKind::ALL[..]), 1..4),
        channels in 2usize..12,
        activation in prop::sample::select(&Activation::ALL[..]),
        attention in any_attention(),
        trunk_norm in
            prop::sample::select(vec![TrunkNormKind::Batch, TrunkNormKind::Rms, TrunkNormKind::SpatialRms]),
        policy_channels in prop::sample::select(vec![2, 4]),
        has_metadata_encoder in any::<bool>(),
        pass_alive_with_suicide in any::<bool>(),
        seed in any::<u64>(),
    ) -> Options {
        let all = Options {
            version,
            blocks,
            channels,
            activation: if version >= 11 { activation } else { Activation::Relu },
            attention,
            trunk_norm,
            policy_channels,
            has_metadata_encoder,
            pass_alive_with_suicide,
            seed,
            ..Options::default()
        };
        if version >= 15 {
            return all;
        }
        let blocks = all.blocks.iter().copied().filter(|kind| !kind.needs_version_15()).chain([BlockKind::Ordinary]);
        Options {
            blocks: blocks.collect(),
            trunk_norm: TrunkNormKind::Batch,
            has_metadata_encoder: false,
            pass_alive_with_suicide: false,
            ..all
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn files_survive_a_round_trip(options in any_options()) {
        let network = random::network(&options).unwrap();
        for encoding in [Encoding::Binary, Encoding::Text] {
            let bytes = bytes(&network, encoding);
            prop_assert_eq!(&Network::read(&bytes[..]).unwrap(), &network);
            prop_assert_eq!(&Network::read(&packed(&bytes)[..]).unwrap(), &network);
        }
    }
}

fn read_error(bytes: &[u8]) -> ReadError {
    Network::read(bytes).expect_err("a broken network")
}

fn kind(bytes: &[u8]) -> ErrorKind {
    match read_error(bytes) {
        ReadError::At { kind, .. } => kind,
        other => panic!("{other}"),
    }
}

/// Returns a small network as text, with one string replaced.
fn changed(options: &Options, from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(bytes(&random::network(options).unwrap(), Encoding::Text)).unwrap();
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1).into_bytes()
}

#[test]
fn files_that_are_something_else_are_refused_by_name() {
    for (what, bytes) in [
        ("nothing", &b""[..]),
        ("white space", b"\n\n"),
        ("a picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        ("a record", b"(;FF[4]GM[1]SZ[19];B[pd])"),
        ("weights of Leela Zero", b"1\n0.01 0.02 0.03\n"),
        ("a zip archive", b"PK\x03\x04\0\0\0\0"),
        ("gzip of nothing", &packed(b"")),
        ("half a mark", b"\x1f"),
        ("a mark", b"\x1f\x8b"),
    ] {
        let error = read_error(bytes).to_string();
        assert!(error.contains("not a network") || error.contains("ends too early"), "{what}: {error}");
    }
    assert!(matches!(read_error(b"name 7 22 19"), ReadError::Version(7)));
    let error = read_error(b"name 18 22 19").to_string();
    assert_eq!(error, "the network has version 18; versions 8 to 17 are supported");
}

#[test]
fn what_is_not_supported_is_named() {
    let old = Options::default();
    let new = Options { version: 15, ..old.clone() };
    assert_eq!(
        kind(&changed(&old, "gpool_block", "dilated_block")),
        ErrorKind::Block("dilated_block".to_owned())
    );
    let block = "transformer_attention_block";
    assert_eq!(kind(&changed(&old, "ordinary_block", block)), ErrorKind::Block(block.to_owned()));
    let gelu = "ACTIVATION_GELU";
    assert_eq!(kind(&changed(&new, "ACTIVATION_RELU", gelu)), ErrorKind::Activation(gelu.to_owned()));
    let meta = changed(&new, "30.0\n0\n", "30.0\n2\n");
    assert_eq!(
        read_error(&meta).to_string(),
        "random-v15-b2c6-s0, at byte 64 of the decompressed file: a metadata encoder of version 2 \
         is not supported"
    );
    let flag = changed(&new, "30.0\n0\n0\n", "30.0\n0\n2\n");
    assert!(matches!(kind(&flag), ErrorKind::Range { found: 2, most: 1, .. }));
    let option = changed(&new, "30.0\n0\n0\n0\n", "30.0\n0\n0\n3\n");
    assert!(matches!(kind(&option), ErrorKind::Option { value: 3, .. }));
    let norm = changed(&new, "trunk\n2\n6\n6\n4\n2\n2\n0\n", "trunk\n2\n6\n6\n4\n2\n2\n2\n");
    assert!(matches!(kind(&norm), ErrorKind::Option { what: "a last norm of the kind", value: 2 }));
    let option = changed(&new, "trunk\n2\n6\n6\n4\n2\n2\n0\n0\n", "trunk\n2\n6\n6\n4\n2\n2\n0\n1\n");
    assert!(matches!(kind(&option), ErrorKind::Option { value: 1, .. }));
    let dilated = changed(&old, "conv_spatial\n5\n5\n22\n6\n1\n", "conv_spatial\n5\n5\n22\n6\n2\n");
    assert_eq!(kind(&dilated), ErrorKind::Option { what: "dilation", value: 2 });
}

/// Returns the options of a network that only newer versions of the format support.
fn transformer() -> Options {
    Options {
        version: 17,
        blocks: vec![BlockKind::Attention, BlockKind::FeedForward],
        channels: 8,
        attention: AttentionShape { heads: 4, key_heads: 2, key_width: Some(4), ..AttentionShape::default() },
        trunk_norm: TrunkNormKind::SpatialRms,
        has_metadata_encoder: true,
        ..Options::default()
    }
}

#[test]
fn parts_of_transformers_that_do_not_fit_are_refused() {
    let options = transformer();
    let fixed = Options {
        attention: AttentionShape { rotary: RotaryKind::Fixed, ..options.attention },
        ..options.clone()
    };
    for (options, from, to) in [
        (&options, "model.blocks.0\n4\n2\n4\n2\n1\n1\n", "model.blocks.0\n4\n2\n6\n2\n1\n1\n"),
        (&options, "model.blocks.0\n4\n2\n4\n2\n1\n1\n", "model.blocks.0\n4\n4\n4\n2\n1\n1\n"),
        (&options, "norm1\n8\n", "norm1\n9\n"),
        (&options, "q_proj\n8\n16\n", "q_proj\n8\n8\n"),
        (&options, "k_proj\n8\n8\n", "k_proj\n8\n16\n"),
        (&options, "out_proj\n8\n8\n", "out_proj\n7\n8\n"),
        (&options, "rope_freqs\n2\n2\n2\n", "rope_freqs\n2\n2\n3\n"),
        (&options, "rope_freqs\n2\n2\n2\n", "rope_freqs\n4\n2\n2\n"),
        (&options, "model.blocks.1\n8\n19\n1\n", "model.blocks.1\n8\n18\n1\n"),
        (&options, "model.blocks.1\n8\n19\n1\n", "model.blocks.1\n7\n19\n1\n"),
        (&options, "ffn_linear_gate\n8\n19\n", "ffn_linear_gate\n8\n20\n"),
        (&options, "norm_trunkfinal\n8\n", "norm_trunkfinal\n7\n"),
        (&options, "sgf_metadata_encoder\n192\n", "sgf_metadata_encoder\n191\n"),
        (&options, "mul3\n10\n8\n", "mul3\n10\n7\n"),
        (&fixed, "q_proj\n8\n16\n", "q_proj\n8\n8\n"),
    ] {
        let kind = kind(&changed(options, from, to));
        assert!(matches!(kind, ErrorKind::Mismatch { .. }), "{from:?}: {kind}");
    }
    for (options, from, to) in [
        (&options, "model.blocks.0\n4\n2\n", "model.blocks.0\n4\n3\n"),
        (&options, "model.blocks.0\n4\n2\n", "model.blocks.0\n0\n2\n"),
        (&options, "model.blocks.0\n4\n2\n", "model.blocks.0\n4\n0\n"),
        (&options, "model.blocks.0\n4\n2\n4\n", "model.blocks.0\n4\n2\n5\n"),
        (&options, "model.blocks.0\n4\n2\n4\n2\n1\n1\n", "model.blocks.0\n4\n2\n4\n2\n1\n2\n"),
        (&fixed, "model.blocks.0\n4\n2\n4\n", "model.blocks.0\n4\n2\n6\n"),
        (&fixed, "100.0", "0.0"),
        (&fixed, "100.0", "inf"),
        (&options, "norm1\n8\n1e-06\n", "norm1\n8\n0\n"),
        (&options, "norm1\n8\n1e-06\n", "norm1\n8\n1.5\n"),
        (&options, "norm_trunkfinal\n8\n1e-06\n1\n", "norm_trunkfinal\n8\n1e-06\n2\n"),
    ] {
        let kind = kind(&changed(options, from, to));
        assert!(matches!(kind, ErrorKind::Number { .. } | ErrorKind::Range { .. }), "{from:?}: {kind}");
    }
    for (from, to) in [
        ("norm_trunkfinal\n8\n1e-06\n1\n0\n", "norm_trunkfinal\n8\n1e-06\n1\n16\n"),
        ("policyhead\n2\n0\n", "policyhead\n3\n0\n"),
        ("policyhead\n2\n0\n", "policyhead\n2\n1\n"),
        ("valuehead\n0\n", "valuehead\n1\n"),
        // Without a gate, the file does not determine the activation.
        ("model.blocks.1\n8\n19\n1\n", "model.blocks.1\n8\n19\n0\n"),
    ] {
        let kind = kind(&changed(&options, from, to));
        assert!(matches!(kind, ErrorKind::Option { .. }), "{from:?}: {kind}");
    }
}

#[test]
fn layers_that_do_not_fit_are_refused() {
    let options = Options::default();
    for (from, to) in [
        ("8\n22\n19\n", "8\n21\n19\n"),
        ("8\n22\n19\n", "8\n22\n18\n"),
        ("conv_spatial\n5\n5\n22\n6\n", "conv_spatial\n5\n5\n22\n7\n"),
        ("linear_global\n19\n6\n", "linear_global\n19\n5\n"),
        ("normactconv1.norm\n6\n", "normactconv1.norm\n5\n"),
        ("normactconv2.conv\n3\n3\n6\n6\n", "normactconv2.conv\n3\n3\n6\n5\n"),
        ("convpool.linear_g\n6\n4\n", "convpool.linear_g\n6\n5\n"),
        ("norm_trunkfinal\n6\n", "norm_trunkfinal\n7\n"),
        ("policyhead.conv2p\n1\n1\n2\n1\n", "policyhead.conv2p\n1\n1\n2\n2\n"),
        ("policyhead.linear_pass\n9\n1\n", "policyhead.linear_pass\n9\n2\n"),
        ("valuehead.linear_valuehead\n4\n3\n", "valuehead.linear_valuehead\n4\n2\n"),
        ("valuehead.linear_miscvaluehead\n4\n4\n", "valuehead.linear_miscvaluehead\n4\n6\n"),
        ("valuehead.conv_ownership\n1\n1\n2\n1\n", "valuehead.conv_ownership\n1\n1\n2\n2\n"),
    ] {
        let kind = kind(&changed(&options, from, to));
        assert!(matches!(kind, ErrorKind::Mismatch { .. }), "{from:?}: {kind}");
    }
}

#[test]
fn invalid_numbers_are_refused() {
    let options = Options::default();
    for (from, to) in [
        ("conv_spatial\n5\n5\n", "conv_spatial\n4\n5\n"),
        ("conv_spatial\n5\n5\n", "conv_spatial\n5\n999\n"),
        ("trunk\n2\n6\n", "trunk\n0\n6\n"),
        ("trunk\n2\n6\n", "trunk\n99999\n6\n"),
        ("trunk\n2\n6\n", "trunk\n2\n99999999999999999999\n"),
        ("trunk\n2\n6\n", "trunk\n2\n-6\n"),
        ("normactconv1.norm\n6\n1e-20\n0\n1\n", "normactconv1.norm\n6\n0\n0\n1\n"),
        ("normactconv1.norm\n6\n1e-20\n0\n1\n", "normactconv1.norm\n6\nnan\n0\n1\n"),
        ("normactconv1.norm\n6\n1e-20\n0\n1\n", "normactconv1.norm\n6\n1e-20\n2\n1\n"),
    ] {
        let kind = kind(&changed(&options, from, to));
        assert!(matches!(kind, ErrorKind::Number { .. } | ErrorKind::Range { .. }), "{from:?}: {kind}");
    }
    let newer = Options { version: 13, ..options };
    for multiplier in ["0.0", "-1.0", "inf", "1e99", "many"] {
        let kind = kind(&changed(&newer, "40.0\n0.25\n", &format!("40.0\n{multiplier}\n")));
        assert!(matches!(kind, ErrorKind::Number { .. }), "{multiplier}: {kind}");
    }
}

#[test]
fn more_behind_the_network_is_reported() {
    let bytes = bytes(&random::network(&Options::default()).unwrap(), Encoding::Binary);
    Network::read(&[&bytes[..], b"\n \n"].concat()[..]).unwrap();
    assert_eq!(kind(&[&bytes[..], b"x"].concat()), ErrorKind::Trailing);
    assert_eq!(kind(&packed(&[&bytes[..], b"x"].concat())), ErrorKind::Trailing);
    // Data after the compressed stream that is not gzip.
    assert!(matches!(
        read_error(&[&packed(&bytes)[..], b"x"].concat()),
        ReadError::Io(_) | ReadError::At { .. }
    ));
}

#[test]
fn missing_weights_take_no_memory() {
    // 29 million weights are allowed, but are missing here. 81 million weights, and 60 billion, would take more memory
    // than a file of this length may, and are refused before any weight is read.
    let text =
        |side: usize| format!("n 8 22 19 trunk 1 16384 1 1 1 1 c {side} {side} 22 16384 1 1 @BIN@abcd");
    assert_eq!(kind(text(9).as_bytes()), ErrorKind::End);
    assert_eq!(kind(text(15).as_bytes()), ErrorKind::Memory(512));
    let wide = b"n 8 22 19 trunk 1 16384 1 1 1 1 c 1 1 22 16384 1 1 ";
    let zeros = vec![0; 4 * 22 * 16384];
    let huge = [&wide[..], b"@BIN@", &zeros, b" m 19 16384 @BIN@", &zeros[..4 * 19 * 16384]].concat();
    let huge = [&huge[..], b" ordinary_block b n 16384 1e-20 0 0 @BIN@", &zeros[..4 * 16384]].concat();
    let ones: Vec<u8> = std::iter::repeat_n(1.0f32.to_le_bytes(), 16384).flatten().collect();
    let huge = [&huge[..], b" @BIN@", &ones, b" a c 15 15 16384 16384 1 1 @BIN@"].concat();
    assert!(matches!(kind(&huge), ErrorKind::Memory(_)));
}

#[test]
fn deeply_nested_blocks_are_refused() {
    let norm = "n 1 1e-20 0 0 0 1 a";
    let nested = format!(" nested_bottleneck_block b 1 {norm} c 1 1 1 1 1 1 0");
    let zeros = |count: usize| "0 ".repeat(count);
    let head = format!("n 8 22 19 trunk 1 1 1 1 1 1 c 1 1 22 1 1 1 {} m 19 1 {}", zeros(22), zeros(19));
    assert!(matches!(kind(format!("{head}{}", nested.repeat(1000)).as_bytes()), ErrorKind::TooDeep(_)));
}

/// Checks that every fault in an 8-bit file gives a clear error.
#[test]
fn broken_files_of_8_bits_are_refused() {
    let blocks = vec![BlockKind::Ordinary, BlockKind::Attention, BlockKind::FeedForward];
    let options = Options { version: 17, blocks, channels: 8, ..Options::default() };
    let parts = Int8Parts::of(&random::network(&options).unwrap());
    let file = parts.file();
    assert!(Network::read(&file[..]).unwrap().is_int8());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("network.kosumi8");
    let check = |file: &[u8], text: &str| {
        fs::write(&path, file).unwrap();
        // The file is read from memory, and mapped.
        for error in [read_error(file), Network::open(&path).expect_err("a broken network")] {
            let found = error.to_string();
            assert!(found.contains(text), "{found}, not {text}");
        }
    };
    for length in [1, 7, 8, 63, 64, 65, file.len() - 64, file.len() - 1] {
        check(&file[..length], "ends too early");
    }
    check(&[&file[..], &[0]].concat(), "continues after the end");
    let flipped = |at: usize| {
        let mut file = file.clone();
        file[at] ^= 0x40;
        file
    };
    check(&flipped(1), "does not begin as a file of 8 bits");
    check(&flipped(8), "has version 65; version 1 is supported");
    check(&flipped(17), "the checksum of the header");
    check(&flipped(64), "the checksum of the structure");
    check(&flipped(file.len() - 1), "the checksum of the weights");
    check(&flipped(file.len() - parts.sections.len()), "the checksum of the weights");
    // Data with a correct checksum can be wrong as well.
    let changed = |structure: Option<(&str, &str)>, sections: &[u8]| {
        let mut changed = Int8Parts { structure: parts.structure.clone(), sections: sections.to_vec() };
        if let Some((from, to)) = structure {
            let at = changed.structure.windows(from.len()).position(|it| it == from.as_bytes()).unwrap();
            changed.structure.splice(at..at + from.len(), to.bytes());
        }
        changed.file()
    };
    let (sections, more) = (&parts.sections, [&parts.sections[..], &[0; 64]].concat());
    check(&changed(None, &more), "continues after the end");
    check(&changed(None, &sections[..sections.len() - 64]), "ends too early");
    check(&changed(Some(("@INT8@", "@INT9@")), sections), "the beginning of a block of weights");
    check(&changed(Some(("@INT8@", "@INT16@")), sections), "");
    check(&changed(Some(("@INT8@", "@BIN@")), sections), "");
    check(&changed(Some(("@INT16@", "@INT8@")), sections), "");
    let mut scale = sections.clone();
    scale[..4].copy_from_slice(&(-1.0f32).to_le_bytes());
    check(&changed(None, &scale), "a scale is not a number");
    // KataGo's formats have no sections either.
    check(&parts.structure, "the beginning of a block of weights");
    check(&packed(&file), "not a network");
}

#[test]
fn files_of_8_bits_survive_a_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("network.kosumi8");
    for (name, options) in listed_networks() {
        let network = random::network(&options).unwrap();
        let converted = network.to_int8();
        let file = bytes(&converted, Encoding::Int8);
        fs::write(&path, &file).unwrap();
        let opened = Network::open(&path).unwrap();
        assert!(Network::read(&file[..]).unwrap() == converted && opened == converted, "{name}");
        assert_eq!(bytes(&opened, Encoding::Int8), file, "{name}");
        assert_eq!(Int8Parts::of(&network).file()[64..], file[64..], "{name}");
        // In KataGo's format, the numbers are the same, but are floats.
        let floats = Network::read(&bytes(&opened, Encoding::Binary)[..]).unwrap();
        assert!(!floats.is_int8() && floats.cost() == opened.cost());
        let input = made_up_input(2, 6, 5);
        assert_eq!(scalar::evaluate(&floats, &input), scalar::evaluate(&opened, &input), "{name}");
        let header = kosumi_net::Header::open(&path).unwrap();
        assert_eq!((&header.name[..], header.version), (network.name(), network.version().into()));
    }
}

/// Reads broken bytes. If they are still a network, evaluates it, also with kernels. There must be no panic, and all
/// results must be finite.
fn try_everything(bytes: &[u8], input: &Input, arithmetics: &[Arithmetic]) {
    let Ok(network) = Network::read(bytes) else { return };
    for &arithmetic in arithmetics {
        if let Ok(output) = Prepared::new(&network, arithmetic).evaluate_one(input, &mut Scratch::default()) {
            assert!(
                output.policy.iter().chain(&output.ownership).chain(&output.value).all(|x| x.is_finite())
            );
        }
    }
    let Ok(output) = scalar::evaluate(&network, input) else { return };
    let legal = vec![true; input.width * input.height];
    let context = Context { legal: &legal, no_result: true, optimism_share: 0.0, temperature: 1.0 };
    if let Ok(prediction) = Prediction::new(&network, &output, context) {
        let sum: f32 = prediction.policy.iter().sum::<f32>() + prediction.pass;
        assert!((sum - 1.0).abs() < 1e-3 && prediction.value().is_finite() && prediction.lead.is_finite());
    }
}

/// Truncates and changes files of every kind, or only of those that version 15 introduced, `tries` times each.
fn break_files(tries: usize, are_all_new: bool) {
    let mut rng = Rng::new(7);
    let is_new = |options: &Options| {
        options.blocks.iter().any(|kind| kind.needs_version_15()) || options.has_metadata_encoder
    };
    let networks: Vec<(Network, Int8Parts)> = listed_networks()
        .filter(|(_, options)| !are_all_new || is_new(options))
        .map(|(_, options)| {
            let attention = AttentionShape { key_width: Some(4), value_width: Some(1), ..options.attention };
            let network = random::network(&Options { channels: 3, attention, ..options }).unwrap();
            let parts = Int8Parts::of(&network);
            (network, parts)
        })
        .collect();
    let input = made_up_input(1, 5, 4);
    let arithmetics = arithmetics();
    for turn in 0..tries {
        let (network, parts) = &networks[turn % networks.len()];
        let encoding =
            if (turn / networks.len()).is_multiple_of(2) { Encoding::Binary } else { Encoding::Text };
        let whole = bytes(network, encoding);
        // Kernels are not used in every turn, because emulation is slow.
        let arithmetics = if (turn / networks.len()).is_multiple_of(7) { &arithmetics[..] } else { &[] };
        for whole in [packed(&whole), whole] {
            let place = rng.below(whole.len() as u32) as usize;
            // The line break after the last weights, and the last digits, may be missing.
            let unneeded = if encoding == Encoding::Text { 16 } else { 1 };
            assert!(
                place + unneeded >= whole.len() || Network::read(&whole[..place]).is_err(),
                "cut at {place}"
            );
            let mut changed = whole;
            changed[place] ^= 1 + rng.below(255) as u8;
            try_everything(&changed, &input, arithmetics);
        }
        let whole = parts.file();
        let place = rng.below(whole.len() as u32) as usize;
        assert!(Network::read(&whole[..place]).is_err(), "cut at {place}");
        let mut changed = whole;
        changed[place] ^= 1 + rng.below(255) as u8;
        assert!(Network::read(&changed[..]).is_err(), "the checksum does not match: {place}");
        // Changes that get a correct checksum.
        let mut changed = Int8Parts { structure: parts.structure.clone(), sections: parts.sections.clone() };
        let part = if rng.below(3) == 0 { &mut changed.sections } else { &mut changed.structure };
        let place = rng.below(part.len() as u32) as usize;
        part[place] ^= 1 + rng.below(255) as u8;
        try_everything(&changed.file(), &input, arithmetics);
    }
}

#[test]
fn broken_files_give_an_error_or_a_finite_answer() {
    break_files(400, false);
}

#[test]
#[ignore = "a minute: cargo test --profile checked --test program network::many -- --ignored"]
fn many_broken_files_give_an_error_or_a_finite_answer() {
    break_files(10_000, false);
    break_files(10_000, true);
}

/// Reads networks of the size of the largest published ones. This takes a second and 300 MB.
#[test]
#[ignore = "300 MB: cargo test --profile checked --test program network:: -- --ignored"]
fn large_networks_can_be_read() {
    let nested = [BlockKind::Nested, BlockKind::NestedPooling, BlockKind::Nested].repeat(6);
    let ordinary = [BlockKind::Ordinary, BlockKind::GlobalPooling].repeat(20);
    for (version, blocks, channels) in [(14, nested, 384), (10, ordinary, 256)] {
        let options = Options { version, blocks, channels, ..Options::default() };
        let network = random::network(&options).unwrap();
        assert!(Network::read(&bytes(&network, Encoding::Binary)[..]).unwrap() == network);
    }
}

/// Returns the paths of the available published networks.
fn published() -> Option<Vec<PathBuf>> {
    let files = fs::read_dir(shared("models")?).unwrap().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.to_string_lossy().ends_with(".bin.gz")).collect();
    files.sort();
    Some(files)
}

/// Returns whether both files have the same bytes, except for weights below 10⁻³⁰, which are written as zero.
fn same_but_for_tiny_weights(written: &[u8], read: &[u8]) -> bool {
    let number = |bytes: &[u8], at: usize| {
        bytes.get(at..at + 4).and_then(|bytes| Some(f32::from_le_bytes(bytes.try_into().ok()?)))
    };
    let was_tiny = |at: usize| {
        number(written, at) == Some(0.0) && number(read, at).is_some_and(|number| number.abs() < 1e-30)
    };
    let mut places = 0..read.len();
    written.len() == read.len()
        && places
            .all(|place| written[place] == read[place] || (place.saturating_sub(3)..=place).any(was_tiny))
}

/// Checks that hidden units that training has disabled are found, and that their removal changes no output.
#[test]
fn units_without_effect_are_found() {
    let Some(path) = shared("models/b10c384h6nbttflrs.bin.gz") else { return };
    let network = Network::open(&path).unwrap();
    assert_eq!(network.dead_units(), 775);
    let without = network.without_dead_units();
    assert_eq!(without.dead_units(), 0);
    let input = made_up_input(1, 9, 9);
    assert_eq!(scalar::evaluate(&without, &input), scalar::evaluate(&network, &input));
}

#[test]
fn published_networks_are_read_and_written_again() {
    let Some(paths) = published() else { return };
    for path in paths {
        let network = Network::open(&path).unwrap();
        let cost = match network.name() {
            "g170-b6c96-s175395328-d26788732" => {
                Cost { parameters: 1_030_599, multiply_adds: 1_002_112, pair_multiply_adds: 0 }
            }
            // The number of parameters as KataGo counts them, plus running means and variances.
            "b10c384h6nbttflrs" => {
                Cost { parameters: 10_545_753 + 11_904, multiply_adds: 10_471_872, pair_multiply_adds: 7_680 }
            }
            _ => network.cost(),
        };
        assert_eq!(network.cost(), cost, "{}", network.name());
        let mut unpacked = Vec::new();
        MultiGzDecoder::new(File::open(&path).unwrap()).read_to_end(&mut unpacked).unwrap();
        let written = bytes(&network, Encoding::Binary);
        assert!(same_but_for_tiny_weights(&written, &unpacked), "{}: not the same bytes", network.name());
    }
}
