//! Comparison of the shaders with the plain forward pass, on a card or a software driver.

use crate::card::{Card, cards};
use crate::compiled::{Compiled, Settings};
use crate::{Gpu, GpuOptions};
use kosumi_net::plan::Plan;
use kosumi_net::random::{self, AttentionShape, BlockKind, Options, RotaryKind, TrunkNormKind};
use kosumi_net::{Activation, Device, Input, METADATA_FEATURES, Network, Output, scalar};
use kosumi_test_support::{Requirement, require};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

fn card() -> Option<Card> {
    let found = cards().into_iter().min_by_key(Card::order);
    require(
        Requirement::Gpu,
        found.ok_or_else(|| "there is no graphics card and no software driver".to_owned()),
    )
}

/// Returns a random position. `seed` determines it.
fn position(width: usize, height: usize, seed: u64) -> Input {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u32 << 24) as f32
    };
    let mut input = Input::zero(width, height);
    for number in &mut input.spatial {
        *number = f32::from(u8::from(next() < 0.3));
    }
    input.global.iter_mut().for_each(|number| *number = next() - 0.5);
    let mut metadata = Box::new([0.0; METADATA_FEATURES]);
    metadata.iter_mut().for_each(|number| *number = next() - 0.5);
    input.metadata = (seed % 3 != 0).then_some(metadata);
    input
}

/// Options of networks that together have every kind of block, norm, activation and head.
fn kinds() -> Vec<Options> {
    use BlockKind::{Attention, FeedForward, GlobalPooling, Nested, NestedMixed, NestedPooling, Ordinary};
    let usual = Options { seed: 1, ..Options::default() };
    let grouped = AttentionShape {
        heads: 4,
        key_heads: 2,
        key_width: Some(12),
        value_width: Some(5),
        rotary: RotaryKind::Fixed,
    };
    let plain = AttentionShape {
        heads: 3,
        key_heads: 1,
        key_width: Some(7),
        value_width: Some(8),
        rotary: RotaryKind::None,
    };
    vec![
        Options { blocks: vec![Ordinary, GlobalPooling], channels: 23, ..usual.clone() },
        Options { version: 9, blocks: vec![GlobalPooling, Ordinary], channels: 4, ..usual.clone() },
        Options {
            version: 11,
            blocks: vec![Nested, NestedPooling],
            channels: 42,
            activation: Activation::Mish,
            ..usual.clone()
        },
        Options {
            version: 16,
            blocks: vec![Ordinary, GlobalPooling, NestedPooling],
            channels: 70,
            activation: Activation::Mish,
            ..usual.clone()
        },
        Options {
            version: 15,
            blocks: vec![BlockKind::NestedTransformer, NestedMixed],
            channels: 58,
            activation: Activation::Silu,
            trunk_norm: TrunkNormKind::SpatialRms,
            has_metadata_encoder: true,
            ..usual.clone()
        },
        Options {
            version: 17,
            blocks: vec![Attention, FeedForward, Attention, FeedForward],
            channels: 37,
            attention: grouped,
            trunk_norm: TrunkNormKind::Rms,
            policy_channels: 4,
            ..usual.clone()
        },
        Options {
            version: 17,
            blocks: vec![FeedForward, BlockKind::NestedTransformer3, Attention],
            channels: 32,
            activation: Activation::Identity,
            attention: plain,
            ..usual
        },
    ]
}

fn compiled(card: &Card, network: &Network, settings: Settings) -> Compiled {
    Compiled::new(card.open(settings.half).unwrap(), Plan::of(network), settings).unwrap()
}

/// Settings of a small batch. A software driver compiles large tiles slowly, so only one test has them.
fn small_batch(half: bool, positions: usize, points: usize) -> Settings {
    Settings { half, has_large_tiles: false, positions, points }
}

/// Returns all numbers of an output.
fn numbers(output: &Output) -> Vec<f32> {
    let single = [output.pass, output.score_mean, output.score_stdev, output.lead, output.variance_time];
    let vectors = [&output.policy, &output.ownership].into_iter().chain(&output.optimistic_policy);
    vectors
        .flatten()
        .chain(&single)
        .chain(&output.value)
        .chain(&output.optimistic_pass)
        .chain(output.shortterm_errors.iter().flatten())
        .copied()
        .collect()
}

/// Returns the largest difference, relative to the larger of 1 and the number.
fn difference(found: &Output, wanted: &Output) -> f32 {
    let (found, wanted) = (numbers(found), numbers(wanted));
    assert_eq!(found.len(), wanted.len());
    let each =
        found.iter().zip(&wanted).map(|(found, wanted)| (found - wanted).abs() / wanted.abs().max(1.0));
    each.fold(0.0, f32::max)
}

/// Computes the positions in one batch with each of the kinds of tiles that are compiled, and returns the largest difference from the plain
/// forward pass.
fn largest_difference(compiled: &mut Compiled, network: &Network, inputs: &[Input]) -> f32 {
    let wanted: Vec<Output> = inputs.iter().map(|it| scalar::evaluate(network, it).unwrap()).collect();
    let inputs: Vec<&Input> = inputs.iter().collect();
    let mut largest = 0.0f32;
    let thresholds = if compiled.has_large_tiles() { &[0, usize::MAX][..] } else { &[0] };
    for &threshold in thresholds {
        compiled.use_large_tiles_from(threshold);
        let flight = compiled.start(&inputs).unwrap();
        let found = compiled.finish(flight).unwrap();
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(&wanted) {
            largest = largest.max(difference(found.as_ref().unwrap(), wanted));
        }
    }
    largest
}

#[test]
fn every_kind_of_network_is_computed_right() {
    let Some(card) = card() else { return };
    for options in kinds() {
        let network = random::network(&options).unwrap();
        let mut compiled = compiled(&card, &network, small_batch(false, 5, 500));
        for (width, height, count) in [(1, 1, 5), (7, 7, 5), (9, 3, 2), (19, 19, 1)] {
            let inputs: Vec<Input> = (0..count).map(|seed| position(width, height, seed)).collect();
            let off = largest_difference(&mut compiled, &network, &inputs);
            assert!(off < 2e-4, "{} on {width}×{height}: {off}", network.name());
        }
    }
}

#[test]
fn every_size_is_computed_right() {
    let Some(card) = card() else { return };
    let blocks = vec![BlockKind::NestedMixed, BlockKind::GlobalPooling];
    let options = Options { version: 15, blocks, channels: 8, seed: 4, ..Options::default() };
    let network = random::network(&options).unwrap();
    let settings = Settings { has_large_tiles: true, ..small_batch(false, 2, 1250) };
    let mut compiled = compiled(&card, &network, settings);
    let squares = (1..=25).map(|side| (side, side));
    let rectangles = [(25, 1), (1, 25), (2, 13), (25, 24), (17, 5)];
    for (width, height) in squares.chain(rectangles) {
        let inputs: Vec<Input> = (0..2).map(|seed| position(width, height, seed)).collect();
        let off = largest_difference(&mut compiled, &network, &inputs);
        assert!(off < 2e-4, "{width}×{height}: {off}");
    }
}

#[test]
fn sixteen_bits_are_close() {
    let Some(card) = card().filter(Card::has_half) else { return };
    // Windows and pooling, then transformers with both norms of the trunk and an encoder.
    for options in [3, 4, 5].map(|index| kinds().swap_remove(index)) {
        let network = random::network(&options).unwrap();
        let mut compiled = compiled(&card, &network, small_batch(true, 4, 324));
        let inputs: Vec<Input> = (0..4).map(|seed| position(9, 9, seed)).collect();
        let off = largest_difference(&mut compiled, &network, &inputs);
        assert!(off > 0.0 && off < 0.05, "{}: {off}", network.name());
    }
}

#[test]
fn numbers_too_large_for_sixteen_bits_are_noticed() {
    let Some(card) = card().filter(Card::has_half) else { return };
    let options = Options { channels: 8, ..Options::default() };
    let network = random::network(&options).unwrap();
    let mut compiled = compiled(&card, &network, small_batch(true, 3, 75));
    let mut inputs: Vec<Input> = (0..3).map(|seed| position(5, 5, seed)).collect();
    // The sums exceed the largest number of 16 bits, even divided by eight. Those of the other positions do not.
    inputs[1].spatial.iter_mut().for_each(|number| *number *= 1e7);
    let inputs: Vec<&Input> = inputs.iter().collect();
    let flight = compiled.start(&inputs).unwrap();
    let found = compiled.finish(flight).unwrap();
    assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true]);
}

fn options(fail_after: Option<u64>, failures: &Arc<AtomicUsize>) -> GpuOptions {
    let failures = Arc::clone(failures);
    let on_failure = move |_: &str| {
        failures.fetch_add(1, Ordering::SeqCst);
    };
    GpuOptions { half: false, batch: 4, fail_after, on_failure: Box::new(on_failure) }
}

/// Evaluates positions of several sizes from several threads, and returns the numbers of those that the card has
/// answered and of all.
fn ask_from_many_threads(gpu: &Gpu, network: &Network) -> (usize, usize) {
    let answered = AtomicUsize::new(0);
    let (threads, each) = (6, 4);
    thread::scope(|scope| {
        for thread in 0..threads {
            let answered = &answered;
            scope.spawn(move || {
                for at in 0..each {
                    let side = 2 + (thread + at) % 3;
                    let inputs = [position(side, 5, thread as u64), position(3, side, at as u64)];
                    let found = gpu.evaluate(&[&inputs[0], &inputs[1]]);
                    for (found, input) in found.iter().zip(&inputs) {
                        let Some(found) = found else { continue };
                        answered.fetch_add(1, Ordering::SeqCst);
                        let off = difference(found, &scalar::evaluate(network, input).unwrap());
                        assert!(off < 2e-4, "{off}");
                    }
                }
            });
        }
    });
    (answered.into_inner(), threads * each * 2)
}

#[test]
fn many_threads_are_answered_in_batches() {
    let Some(card) = card() else { return };
    let network = random::network(&Options::default()).unwrap();
    let failures = Arc::default();
    let gpu = Gpu::start(&card, &network, options(None, &failures), &|| Duration::ZERO).unwrap();
    let (answered, all) = ask_from_many_threads(&gpu, &network);
    assert_eq!(answered, all);
    let (batches, positions) = gpu.batches_and_positions();
    assert_eq!(positions, all as u64);
    assert!(batches < positions, "some positions are computed together");
    assert!(gpu.is_working());
    drop(gpu);
    assert_eq!(failures.load(Ordering::SeqCst), 0);
}

#[test]
fn a_card_that_fails_leaves_nobody_waiting() {
    let Some(card) = card() else { return };
    let network = random::network(&Options::default()).unwrap();
    for fail_after in [0, 3] {
        let failures = Arc::default();
        let gpu =
            Gpu::start(&card, &network, options(Some(fail_after), &failures), &|| Duration::ZERO).unwrap();
        let (answered, all) = ask_from_many_threads(&gpu, &network);
        assert!(answered < all && answered as u64 <= 4 * fail_after, "{answered} of {all}");
        assert!(!gpu.is_working());
        assert_eq!(gpu.evaluate(&[&position(3, 3, 1)]), [None]);
        drop(gpu);
        assert_eq!(failures.load(Ordering::SeqCst), 1, "it is reported once");
    }
}
