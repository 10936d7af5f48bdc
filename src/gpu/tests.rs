//! Comparison of the shaders with the plain forward pass, on a card or a software driver.

use crate::card::{Card, cards};
use crate::compiled::Compiled;
use crate::program::{Settings, TileChoice};
use crate::{Clock, Fault, Gpu, GpuOptions};
use kosumi_net::plan::Plan;
use kosumi_net::random::{self, BlockKind, Options};
use kosumi_net::{Device, Input, METADATA_FEATURES, Network, Output, scalar};
use kosumi_test_support::{Requirement, require};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Time for a batch, which no test reaches.
const PATIENCE: Duration = Duration::from_secs(600);

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
    input.metadata = (!seed.is_multiple_of(3)).then_some(metadata);
    input
}

fn compiled(card: &Card, network: &Network, settings: Settings) -> Compiled {
    let connection = card.open(settings.half, settings.matrix_units.is_some(), None).unwrap();
    Compiled::new(connection, Plan::of(network), settings).unwrap()
}

/// Returns the settings of a small batch. A software driver compiles large tiles slowly, so only one test has them.
fn small_batch(half: bool, positions: usize, points: usize) -> Settings {
    Settings { half, has_large_tiles: false, matrix_units: None, positions, points }
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
fn difference(found: &Output, expected: &Output) -> f32 {
    let (found, expected) = (numbers(found), numbers(expected));
    assert_eq!(found.len(), expected.len());
    let each = found
        .iter()
        .zip(&expected)
        .map(|(found, expected)| (found - expected).abs() / expected.abs().max(1.0));
    each.fold(0.0, f32::max)
}

/// Computes the positions in one batch with each of the kinds of tiles that are compiled, and returns the largest
/// difference from the plain forward pass.
fn largest_difference(compiled: &mut Compiled, network: &Network, inputs: &[Input]) -> f32 {
    let expected: Vec<Output> = inputs.iter().map(|it| scalar::evaluate(network, it).unwrap()).collect();
    let inputs: Vec<&Input> = inputs.iter().collect();
    let mut largest = 0.0f32;
    let tiles = |large_from, uses_matrix_units| TileChoice { large_from, uses_matrix_units };
    let mut choices = vec![tiles(usize::MAX, compiled.has_matrix_units())];
    if compiled.has_large_tiles() {
        choices.push(tiles(0, false));
    }
    for choice in choices {
        compiled.use_tiles(choice);
        let batch = compiled.start(&inputs).unwrap();
        let found = compiled.finish(&batch, PATIENCE).unwrap();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            largest = largest.max(difference(found.as_ref().unwrap(), expected));
        }
    }
    largest
}

#[test]
fn every_kind_of_network_is_computed_right() {
    let Some(card) = card() else { return };
    for options in random::kinds() {
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
    for options in [3, 4, 5].map(|index| random::kinds().swap_remove(index)) {
        let network = random::network(&options).unwrap();
        let mut compiled = compiled(&card, &network, small_batch(true, 4, 324));
        let inputs: Vec<Input> = (0..4).map(|seed| position(9, 9, seed)).collect();
        let off = largest_difference(&mut compiled, &network, &inputs);
        assert!(off > 0.0 && off < 0.05, "{}: {off}", network.name());
    }
}

/// Only some drivers have matrix units; Mesa's software driver has them from version 26 on.
#[test]
fn matrix_units_are_close() {
    let Some(card) = card() else { return };
    let Some(units) = card.matrix_units() else {
        eprintln!("skipped: {} has no matrix units", card.title());
        return;
    };
    for options in random::kinds() {
        let network = random::network(&options).unwrap();
        let settings = Settings { matrix_units: Some(units), ..small_batch(true, 4, 400) };
        let mut by_units = compiled(&card, &network, settings);
        let mut ordinary = compiled(&card, &network, Settings { matrix_units: None, ..settings });
        for (width, height, count) in [(9, 9, 4), (3, 2, 3), (19, 19, 1)] {
            let inputs: Vec<Input> = (0..count).map(|seed| position(width, height, seed)).collect();
            let [off, of_ordinary] = [&mut by_units, &mut ordinary]
                .map(|compiled| largest_difference(compiled, &network, &inputs));
            assert!(off > 0.0 && off < 2.0 * of_ordinary + 1e-3, "{}: {off} {of_ordinary}", network.name());
        }
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
    let batch = compiled.start(&inputs).unwrap();
    let found = compiled.finish(&batch, PATIENCE).unwrap();
    assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true]);
}

/// Reports of a card.
#[derive(Clone, Default)]
struct Reports {
    failures: Arc<Mutex<Vec<String>>>,
    notes: Arc<Mutex<Vec<String>>>,
}

impl Reports {
    fn failures(&self) -> Vec<String> {
        self.failures.lock().unwrap().clone()
    }

    fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap().clone()
    }
}

fn options(fault: Option<Fault>, reports: &Reports) -> GpuOptions {
    let Reports { failures, notes } = reports.clone();
    GpuOptions {
        half: false,
        matrix_units: true,
        batch: 4,
        cache: None,
        on_failure: Box::new(move |why: &str| failures.lock().unwrap().push(why.to_owned())),
        on_note: Box::new(move |note: &str| notes.lock().unwrap().push(note.to_owned())),
        fault,
    }
}

fn start(card: &Card, network: &Network, options: GpuOptions) -> Gpu {
    let stopped: Clock = Arc::new(|| Duration::ZERO);
    Gpu::start(card, network, options, stopped).unwrap()
}

/// Evaluates positions of several sizes from several threads, and returns the numbers of those that the device has
/// answered and of all.
fn ask_from_many_threads(device: &dyn Device, network: &Network) -> (usize, usize) {
    let answered = AtomicUsize::new(0);
    let (threads, each) = (6, 4);
    thread::scope(|scope| {
        for thread in 0..threads {
            let answered = &answered;
            scope.spawn(move || {
                for at in 0..each {
                    let side = 2 + (thread + at) % 3;
                    let inputs = [position(side, 5, thread as u64), position(3, side, at as u64)];
                    let found = device.evaluate(&[&inputs[0], &inputs[1]]);
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
    let reports = Reports::default();
    let gpu = start(&card, &network, options(None, &reports));
    let (answered, all) = ask_from_many_threads(&gpu, &network);
    assert_eq!(answered, all);
    let (batches, positions) = gpu.batches_and_positions();
    assert_eq!(positions, all as u64);
    assert!(batches < positions, "some positions are computed together");
    assert!(gpu.is_working());
    assert_eq!(gpu.at_once(), 8);
    drop(gpu);
    assert_eq!((reports.failures(), reports.notes()), (vec![], vec![]));
}

#[test]
fn a_card_that_fails_leaves_nobody_waiting() {
    let Some(card) = card() else { return };
    let network = random::network(&Options::default()).unwrap();
    let hang = |after| Fault::Hangs(after, Duration::from_millis(200));
    for (fault, after, reason) in [
        (Fault::Fails(0), 0, "a fault of the card is simulated"),
        (Fault::Fails(3), 3, "a fault of the card is simulated"),
        (Fault::Panics(2), 2, "the thread that keeps the card busy has panicked"),
        (hang(0), 0, "the driver does not return"),
    ] {
        let reports = Reports::default();
        let gpu = start(&card, &network, options(Some(fault), &reports));
        let (answered, all) = ask_from_many_threads(&gpu, &network);
        assert!(answered < all && answered as u64 <= 4 * after, "{answered} of {all}");
        assert!(!gpu.is_working());
        assert_eq!(gpu.evaluate(&[&position(3, 3, 1)]), [None]);
        drop(gpu);
        assert_eq!(reports.failures(), [reason], "it is reported once");
    }
}

#[test]
fn batch_that_takes_too_long_is_a_failure() {
    let Some(card) = card() else { return };
    let network = random::network(&Options { channels: 64, ..Options::default() }).unwrap();
    let mut compiled = compiled(&card, &network, small_batch(false, 16, 5776));
    let input = position(19, 19, 1);
    let batch = compiled.start(&[&input; 16]).unwrap();
    let error = compiled.finish(&batch, Duration::from_nanos(1)).unwrap_err();
    assert_eq!(error.to_string(), "no answer within 0.0 s");
    assert_eq!(compiled.finish(&batch, PATIENCE).unwrap().len(), 16, "more time helps");
}

#[test]
fn a_rare_size_is_not_passed_over_for_ever() {
    let Some(card) = card() else { return };
    let network = random::network(&Options { channels: 4, ..Options::default() }).unwrap();
    let gpu = start(&card, &network, options(None, &Reports::default()));
    let is_answered = AtomicBool::new(false);
    thread::scope(|scope| {
        for thread in 0..4 {
            let (gpu, is_answered) = (&gpu, &is_answered);
            scope.spawn(move || {
                // Each thread always has more positions than a batch.
                let usual = position(2, 2, thread);
                while !is_answered.load(Ordering::SeqCst) && gpu.is_working() {
                    assert!(gpu.evaluate(&[&usual; 12]).iter().all(Option::is_some));
                }
            });
        }
        let rare = gpu.evaluate(&[&position(3, 2, 9)]);
        is_answered.store(true, Ordering::SeqCst);
        assert!(rare[0].is_some());
    });
}

#[test]
fn many_overflows_are_noted_once() {
    let Some(card) = card().filter(Card::has_half) else { return };
    let network = random::network(&Options { channels: 4, ..Options::default() }).unwrap();
    let reports = Reports::default();
    let gpu = start(&card, &network, GpuOptions { half: true, batch: 256, ..options(None, &reports) });
    assert!(gpu.is_half());
    let good = position(2, 2, 1);
    let mut large = good.clone();
    large.spatial.iter_mut().for_each(|number| *number *= 1e7);
    let evaluate = |large_ones: usize, good_ones: usize| {
        let inputs = [vec![&large; large_ones], vec![&good; good_ones]].concat();
        let outputs = gpu.evaluate(&inputs);
        assert_eq!(outputs.iter().filter(|output| output.is_none()).count(), large_ones);
    };
    evaluate(10, 990);
    assert_eq!(reports.notes(), Vec::<String>::new(), "one percent is not worth a note");
    evaluate(100, 0);
    evaluate(100, 0);
    let notes = reports.notes();
    assert!(notes.len() == 1 && notes[0].contains("--precision f32"), "{notes:?}");
}

#[test]
fn shaders_are_kept_for_later_runs() {
    let Some(card) = card() else { return };
    let folder = tempfile::TempDir::new().unwrap();
    let network = random::network(&Options { channels: 4, ..Options::default() }).unwrap();
    let input = position(3, 3, 1);
    let expected = scalar::evaluate(&network, &input).unwrap();
    let run = || {
        let cache = Some(folder.path().to_owned());
        let gpu = start(&card, &network, GpuOptions { cache, ..options(None, &Reports::default()) });
        let found = gpu.evaluate(&[&input]).pop().flatten().unwrap();
        assert!(difference(&found, &expected) < 2e-4);
        let files = std::fs::read_dir(folder.path()).unwrap();
        files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect::<Vec<_>>()
    };
    let first = run();
    if card.can_keep_shaders() {
        assert!(first.iter().any(|bytes| !bytes.is_empty()), "a file has been written");
    }
    assert_eq!(run().len(), first.len());
}
