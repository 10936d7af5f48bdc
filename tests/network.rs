//! Networks in KataGo's format: files survive a round trip, broken files are refused, and the forward pass agrees
//! with one that was written independently.
//!
//! The published network that some tests read is not part of this project; they look for it in `../shared/models`
//! and say when they do nothing.

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use kosumi::net::random::{self, BlockKind, Options};
use kosumi::net::{
    Activation, Context, Cost, Encoding, ErrorKind, Input, Kernel, NEWEST_VERSION, Network, OLDEST_VERSION,
    Output, Prediction, Prepared, ReadError, Scratch, scalar,
};
use kosumi::rng::Rng;
use kosumi_test_support::shared;
use proptest::prelude::*;
use std::fs::File;
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

/// Features that mean nothing; the same as in `network_vectors/reference.py`.
fn made_up_input(seed: u64, width: usize, height: usize) -> Input {
    let mut state = seed;
    let mut draw = || {
        state = (state * 1_103_515_245 + 12_345) % (1 << 31);
        ((state >> 16) % 17) as f32 / 8.0 - 1.0
    };
    let mut input = Input::zero(width, height);
    input.spatial.iter_mut().for_each(|feature| *feature = draw());
    input.global.iter_mut().for_each(|feature| *feature = draw());
    input
}

/// The options as words of the command line.
fn options(words: &str) -> Options {
    let mut options = Options::default();
    let mut activation = None;
    let mut words = words.split_whitespace();
    while let (Some(option), Some(value)) = (words.next(), words.next()) {
        match option {
            "--version" => options.version = value.parse().unwrap(),
            "--channels" => options.channels = value.parse().unwrap(),
            "--seed" => options.seed = value.parse().unwrap(),
            "--activation" => {
                activation = Some(if value == "relu" { Activation::Relu } else { Activation::Identity });
            }
            "--blocks" => {
                let kinds = value.split(',').flat_map(|word| {
                    let (word, count) = word.split_once(':').unwrap_or((word, "1"));
                    let kind = BlockKind::ALL.into_iter().find(|kind| kind.word() == word).unwrap();
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

/// The networks of `network_vectors/networks.txt`: name and options.
fn listed_networks() -> impl Iterator<Item = (&'static str, Options)> {
    include_str!("network_vectors/networks.txt").lines().map(|line| {
        let mut parts = line.split('|').map(str::trim);
        (parts.next().unwrap(), options(parts.next().unwrap()))
    })
}

/// The numbers of a line of `network_vectors/vectors.txt`.
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

/// Compares two outputs number by number; the largest difference, relative to numbers above 1.
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

/// All kernels that this processor can run, with all listed networks, on boards of many sizes, one and three at a
/// time, with the same memory.
#[test]
fn kernels_agree_with_the_plain_forward_pass() {
    let sizes = [(19, 19), (9, 9), (1, 1), (25, 2), (13, 7), (2, 25), (4, 4), (5, 8)];
    let mut scratch = Scratch::default();
    let kernels = Kernel::ALL.into_iter().chain([Kernel::EmulatedBf16]);
    for kernel in kernels.filter(|kernel| kernel.is_available()) {
        let tolerance = if kernel.is_rounded() { 0.1 } else { 2e-4 };
        let mut worst = 0.0f32;
        for (index, (name, options)) in listed_networks().enumerate() {
            let network = random::network(&Options { channels: options.channels + 20, ..options }).unwrap();
            let prepared = Prepared::new(&network, kernel);
            let (width, height) = sizes[index % sizes.len()];
            let inputs: Vec<Input> = (0..3).map(|seed| made_up_input(seed, width, height)).collect();
            let wanted: Vec<Output> =
                inputs.iter().map(|input| scalar::evaluate(&network, input).unwrap()).collect();
            let together = prepared.evaluate(&inputs.iter().collect::<Vec<_>>(), &mut scratch).unwrap();
            let alone = inputs.iter().flat_map(|input| prepared.evaluate(&[input], &mut scratch).unwrap());
            for (found, wanted) in together.iter().cloned().chain(alone).zip(wanted.iter().cycle()) {
                let difference = difference(&found, wanted);
                assert!(difference < tolerance, "{name} {width}x{height} {}: {difference}", kernel.name());
                worst = worst.max(difference);
            }
        }
        eprintln!("{}: {worst:e}", kernel.name());
    }
}

prop_compose! {
    fn any_options()(
        version in OLDEST_VERSION..=NEWEST_VERSION,
        blocks in prop::collection::vec(prop::sample::select(&BlockKind::ALL[..]), 1..4),
        channels in 2usize..12,
        is_mish in any::<bool>(),
        seed in any::<u64>(),
    ) -> Options {
        let activation = if is_mish && version >= 11 { Activation::Mish } else { Activation::Relu };
        Options { version, blocks, channels, activation, seed }
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

/// A small network as text, with one text in it replaced by another.
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
    let error = read_error(b"name 17 22 19").to_string();
    assert_eq!(error, "the network is of version 17; versions 8 to 16 can be used");
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
    assert_eq!(kind(&changed(&new, "ordinary_block", block)), ErrorKind::Block(block.to_owned()));
    let silu = "ACTIVATION_SILU";
    assert_eq!(kind(&changed(&new, "ACTIVATION_RELU", silu)), ErrorKind::Activation(silu.to_owned()));
    let meta = changed(&new, "30.0\n0\n", "30.0\n1\n");
    assert_eq!(
        read_error(&meta).to_string(),
        "random-v15-b2c6-s0, at byte 64 of the unpacked file: an encoder of facts about the players, of version 1 \
         is not supported"
    );
    let option = changed(&new, "30.0\n0\n0\n", "30.0\n0\n2\n");
    assert!(matches!(kind(&option), ErrorKind::Option { value: 2, .. }));
    let norm = changed(&new, "trunk\n2\n6\n6\n4\n2\n2\n0\n", "trunk\n2\n6\n6\n4\n2\n2\n1\n");
    assert!(matches!(kind(&norm), ErrorKind::Option { what: "a last norm of the kind", value: 1 }));
    let dilated = changed(&old, "conv_spatial\n5\n5\n22\n6\n1\n", "conv_spatial\n5\n5\n22\n6\n2\n");
    assert_eq!(kind(&dilated), ErrorKind::Option { what: "dilation", value: 2 });
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
fn numbers_that_cannot_be_are_refused() {
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
    // Behind the packed data, where it is not gzip.
    assert!(matches!(
        read_error(&[&packed(&bytes)[..], b"x"].concat()),
        ReadError::Io(_) | ReadError::At { .. }
    ));
}

#[test]
fn weights_that_the_file_promises_but_has_not_take_no_memory() {
    // 81 million weights are possible, but do not come; 60 billion are refused before any is read.
    let text =
        |side: usize| format!("n 8 22 19 trunk 1 16384 1 1 1 1 c {side} {side} 22 16384 1 1 @BIN@abcd");
    assert_eq!(kind(text(15).as_bytes()), ErrorKind::End);
    let wide = b"n 8 22 19 trunk 1 16384 1 1 1 1 c 1 1 22 16384 1 1 ";
    let zeros = vec![0; 4 * 22 * 16384];
    let huge = [&wide[..], b"@BIN@", &zeros, b" m 19 16384 @BIN@", &zeros[..4 * 19 * 16384]].concat();
    let huge = [&huge[..], b" ordinary_block b n 16384 1e-20 0 0 @BIN@", &zeros[..4 * 16384]].concat();
    let ones: Vec<u8> = std::iter::repeat_n(1.0f32.to_le_bytes(), 16384).flatten().collect();
    let huge = [&huge[..], b" @BIN@", &ones, b" a c 15 15 16384 16384 1 1 @BIN@"].concat();
    assert!(matches!(kind(&huge), ErrorKind::TooLarge(_)));
}

#[test]
fn blocks_in_blocks_in_blocks_end() {
    let norm = "n 1 1e-20 0 0 0 1 a";
    let nested = format!(" nested_bottleneck_block b 1 {norm} c 1 1 1 1 1 1 0");
    let zeros = |count: usize| "0 ".repeat(count);
    let head = format!("n 8 22 19 trunk 1 1 1 1 1 1 c 1 1 22 1 1 1 {} m 19 1 {}", zeros(22), zeros(19));
    assert!(matches!(kind(format!("{head}{}", nested.repeat(1000)).as_bytes()), ErrorKind::TooDeep(_)));
}

/// Reads broken bytes; if they are a network after all, evaluates it, with kernels too. Nothing may panic, and a
/// result is finite.
fn try_everything(bytes: &[u8], input: &Input, kernels: &[Kernel]) {
    let Ok(network) = Network::read(bytes) else { return };
    for &kernel in kernels {
        if let Ok(output) = Prepared::new(&network, kernel).evaluate_one(input, &mut Scratch::default()) {
            assert!(
                output.policy.iter().chain(&output.ownership).chain(&output.value).all(|x| x.is_finite())
            );
        }
    }
    let Ok(output) = scalar::evaluate(&network, input) else { return };
    let legal = vec![true; input.width * input.height];
    let context = Context { legal: &legal, no_result: true, optimism: 0.0 };
    if let Ok(prediction) = Prediction::new(&network, &output, context) {
        let sum: f32 = prediction.policy.iter().sum::<f32>() + prediction.pass;
        assert!((sum - 1.0).abs() < 1e-3 && prediction.value().is_finite() && prediction.lead.is_finite());
    }
}

/// Cuts and changes files of every kind, `tries` times each way.
fn break_files(tries: usize) {
    let mut rng = Rng::new(7);
    let networks: Vec<Network> = listed_networks()
        .map(|(_, options)| random::network(&Options { channels: 3, ..options }).unwrap())
        .collect();
    let input = made_up_input(1, 5, 4);
    let kernels = Kernel::ALL.into_iter().chain([Kernel::EmulatedBf16]);
    let kernels: Vec<Kernel> = kernels.filter(|kernel| kernel.is_available()).collect();
    for turn in 0..tries {
        let network = &networks[turn % networks.len()];
        let encoding =
            if (turn / networks.len()).is_multiple_of(2) { Encoding::Binary } else { Encoding::Text };
        let whole = bytes(network, encoding);
        // Seldom, because emulating takes its time.
        let kernels = if (turn / networks.len()).is_multiple_of(7) { &kernels[..] } else { &[] };
        for whole in [packed(&whole), whole] {
            let place = rng.below(whole.len() as u32) as usize;
            // The line end behind the last weights may be missing, and so may digits of the last decimal.
            let unneeded = if encoding == Encoding::Text { 16 } else { 1 };
            assert!(
                place + unneeded >= whole.len() || Network::read(&whole[..place]).is_err(),
                "cut at {place}"
            );
            let mut changed = whole;
            changed[place] ^= 1 + rng.below(255) as u8;
            try_everything(&changed, &input, kernels);
        }
    }
}

#[test]
fn broken_files_give_an_error_or_a_finite_answer() {
    break_files(400);
}

#[test]
#[ignore = "20 s: cargo test --profile checked --test network -- --ignored"]
fn many_broken_files_give_an_error_or_a_finite_answer() {
    break_files(10_000);
}

/// A network of the shape of the largest ones that people use; takes a second and 300 MB.
#[test]
#[ignore = "300 MB: cargo test --profile checked --test network -- --ignored"]
fn large_networks_can_be_read() {
    let nested = [BlockKind::Nested, BlockKind::NestedPooling, BlockKind::Nested].repeat(6);
    let ordinary = [BlockKind::Ordinary, BlockKind::GlobalPooling].repeat(20);
    for (version, blocks, channels) in [(14, nested, 384), (10, ordinary, 256)] {
        let options = Options { version, blocks, channels, ..Options::default() };
        let network = random::network(&options).unwrap();
        assert!(Network::read(&bytes(&network, Encoding::Binary)[..]).unwrap() == network);
    }
}

/// The published network, if it is there.
fn published() -> Option<PathBuf> {
    shared("models/g170-b6c96-s175395328-d26788732.bin.gz")
}

#[test]
fn the_published_network_is_read_and_written_again() {
    let Some(path) = published() else { return };
    let network = Network::open(&path).unwrap();
    assert_eq!(network.name(), "g170-b6c96-s175395328-d26788732");
    assert_eq!(network.cost(), Cost { parameters: 1_030_599, multiply_adds: 1_002_112 });
    let mut unpacked = Vec::new();
    MultiGzDecoder::new(File::open(&path).unwrap()).read_to_end(&mut unpacked).unwrap();
    assert!(bytes(&network, Encoding::Binary) == unpacked, "not the same bytes");
}
