//! `kosumi net answer`: network evaluations of positions that another program sends in the format of shards.

use super::super::device::{self, Card, DeviceChoice};
use super::super::options::{self, PrecisionChoice};
use anyhow::{Context as _, ensure};
use clap::Args;
use kosumi_go::board::BoardSize;
use kosumi_net::{Forward, GLOBAL_FEATURES, Input, Kernel, Network, Output, SPATIAL_FEATURES, Scratch};
use kosumi_tools::training::PackedInput;
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::PathBuf;

/// Evaluate positions of another program, in binary on standard input and output
#[derive(Debug, Args)]
#[command(after_help = "\
For training programs that need evaluations at the speed of this program's
kernels, such as scripts/train/train label --kosumi. All numbers are
little-endian.

A request: columns, rows, and the number n of positions as 32-bit integers;
then for each position 22 features of the points, a bit each (row by row from
the top, the first point in the highest bit, each feature padded to whole
bytes) and 19 32-bit floats, the features of the position.

The response, raw 32-bit floats of the network, for each position: a logit for
each of the points and for a pass; the logits of the optimistic policy; three
logits of win, loss and no result; mean, spread and lead of the score and the
variance time; two short-term errors; the ownership of each point. Outputs that
a network does not have are NaN.

Examples:
  kosumi net answer b10c384.bin.gz --precision int8 < questions > answers")]
pub(super) struct Arguments {
    /// Network: .bin.gz, .txt.gz, .bin, .txt, .kosumi8, or compact
    file: PathBuf,
    /// Instruction set [default: the fastest one that the processor supports]
    #[arg(long, value_name = "NAME", value_parser = options::kernel)]
    kernel: Option<Kernel>,
    /// Precision: f32, bf16, int8, or auto, the fastest one whose results hardly differ [default: auto]
    #[arg(long, value_name = "NAME", value_parser = options::precision)]
    precision: Option<PrecisionChoice>,
    /// Device: cpu, gpu, gpu:N for the card N of `kosumi net devices` (gpu:N+N for several), or auto, a card if there is one
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = device::parse)]
    device: DeviceChoice,
}

/// Maximum number of points of all boards of a batch, unless a single board has more.
const MAX_BATCH_POINTS: usize = 361;

/// Maximum number of positions of a request.
const MAX_POSITIONS: u32 = 65_536;

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let network = Network::open(&arguments.file).with_context(|| arguments.file.display().to_string())?;
    let arithmetic = options::arithmetic(arguments.kernel, arguments.precision)?;
    let forward = Forward::with_arithmetic(&network, arithmetic);
    let card = device::open_checked(&network, arguments.device, arithmetic.precision)?;
    let (questions, answers) = (BufReader::new(io::stdin().lock()), BufWriter::new(io::stdout().lock()));
    serve_requests(&forward, card.as_ref(), questions, answers)
}

/// Answers requests until the end of the input. The processor evaluates the positions that the card, if there is one,
/// does not.
///
/// # Errors
///
/// Returns an error if a request is truncated or invalid, if the output of the network is not finite, or if reading or
/// writing fails.
fn serve_requests(
    forward: &Forward,
    card: Option<&Card>,
    mut questions: impl Read,
    mut answers: impl Write,
) -> anyhow::Result<()> {
    let mut scratch = Scratch::default();
    while let Some([columns, rows, count]) = read_header(&mut questions)? {
        let size = BoardSize::new(columns as usize, rows as usize);
        let size = size.with_context(|| format!("invalid board size: {columns} by {rows}"))?;
        ensure!(count <= MAX_POSITIONS, "{count} positions, of which {MAX_POSITIONS} are possible at most");
        let on_processor = (MAX_BATCH_POINTS / size.area()).max(1);
        let at_once = if card.is_some() { device::BATCH } else { on_processor };
        let mut left = count as usize;
        while left > 0 {
            let now = left.min(at_once);
            let inputs: Vec<Input> =
                (0..now).map(|_| position(&mut questions, size)).collect::<Result<_, _>>()?;
            let inputs: Vec<&Input> = inputs.iter().collect();
            let outputs = match card {
                None => forward.prepared().evaluate(&inputs, &mut scratch)?,
                Some(card) => {
                    let outputs = card.try_evaluate(&inputs).into_iter().zip(&inputs);
                    let answered = outputs.map(|(output, input)| match output {
                        Some(output) => Ok(output),
                        None => forward.prepared().evaluate_one(input, &mut scratch),
                    });
                    answered.collect::<Result<_, _>>()?
                }
            };
            for output in outputs {
                write(&output, &mut answers)?;
            }
            left -= now;
        }
        answers.flush()?;
    }
    Ok(())
}

/// Reads the three numbers at the beginning of a request. Returns `None` at the end of the input.
fn read_header(questions: &mut impl Read) -> io::Result<Option<[u32; 3]>> {
    let mut first = [0; 1];
    loop {
        match questions.read(&mut first) {
            Ok(0) => return Ok(None),
            Ok(_) => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => (),
            Err(error) => return Err(error),
        }
    }
    let mut bytes = [first[0]; 12];
    questions.read_exact(&mut bytes[1..])?;
    let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    Ok(Some([number(0), number(4), number(8)]))
}

fn position(questions: &mut impl Read, size: BoardSize) -> io::Result<Input> {
    let mut planes = vec![0; SPATIAL_FEATURES * PackedInput::plane_bytes(size.area())];
    questions.read_exact(&mut planes)?;
    let mut global = [0.0; GLOBAL_FEATURES];
    for number in &mut global {
        let mut bytes = [0; 4];
        questions.read_exact(&mut bytes)?;
        *number = f32::from_le_bytes(bytes);
    }
    Ok(PackedInput { width: size.columns(), height: size.rows(), planes, global }.unpack())
}

fn write(output: &Output, answers: &mut impl Write) -> io::Result<()> {
    let mut put = |numbers: &[f32]| numbers.iter().try_for_each(|it| answers.write_all(&it.to_le_bytes()));
    put(&output.policy)?;
    put(&[output.pass])?;
    match (&output.optimistic_policy, output.optimistic_pass) {
        (Some(policy), Some(pass)) => {
            put(policy)?;
            put(&[pass])?;
        }
        _ => put(&vec![f32::NAN; output.policy.len() + 1])?,
    }
    put(&output.value)?;
    put(&[output.score_mean, output.score_stdev, output.lead, output.variance_time])?;
    put(&output.shortterm_errors.unwrap_or([f32::NAN; 2]))?;
    put(&output.ownership)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::rng::Rng;
    use kosumi_net::random;

    fn question(size: [u32; 3], positions: &[PackedInput]) -> Vec<u8> {
        let mut bytes: Vec<u8> = size.iter().flat_map(|it| it.to_le_bytes()).collect();
        for position in positions {
            bytes.extend(&position.planes);
            bytes.extend(position.global.iter().flat_map(|it| it.to_le_bytes()));
        }
        bytes
    }

    fn positions(count: usize, width: usize, height: usize) -> Vec<PackedInput> {
        let mut rng = Rng::new(7);
        let mut one = || {
            let mut input = Input::zero(width, height);
            input.spatial.iter_mut().for_each(|it| *it = f32::from(u8::from(rng.chance(300))));
            input.global.iter_mut().for_each(|it| *it = rng.below(100) as f32 / 100.0);
            PackedInput::pack(&input)
        };
        (0..count).map(|_| one()).collect()
    }

    fn asked(forward: &Forward, questions: &[u8]) -> anyhow::Result<Vec<f32>> {
        let mut answers = Vec::new();
        serve_requests(forward, None, questions, &mut answers)?;
        Ok(answers.chunks_exact(4).map(|it| f32::from_le_bytes(it.try_into().unwrap())).collect())
    }

    #[test]
    fn every_position_gets_the_networks_answer() {
        for version in [8, 16] {
            let network =
                random::network(&random::Options { version, ..random::Options::default() }).unwrap();
            let mut forward = Forward::new(&network);
            // The second board size has more positions than a batch.
            let (first, second) = (positions(3, 5, 4), positions(40, 3, 3));
            let mut questions = question([5, 4, 3], &first);
            questions.extend(question([3, 3, 0], &[]));
            questions.extend(question([3, 3, 40], &second));
            let mut found = asked(&forward, &questions).unwrap().into_iter();
            for position in first.iter().chain(&second) {
                let area = position.width * position.height;
                let found: Vec<f32> = found.by_ref().take(3 * area + 11).collect();
                let wanted = forward.evaluate(&position.unpack()).unwrap();
                let near = |found: &[f32], wanted: &[f32]| {
                    assert_eq!(found.len(), wanted.len());
                    assert!(
                        found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-3),
                        "{found:?} {wanted:?}"
                    );
                };
                near(&found[..area], &wanted.policy);
                near(&found[area..=area], &[wanted.pass]);
                match &wanted.optimistic_policy {
                    Some(policy) => near(&found[area + 1..2 * area + 1], policy),
                    None => assert!(found[area + 1..2 * area + 2].iter().all(|it| it.is_nan())),
                }
                let rest = &found[2 * area + 2..];
                near(&rest[..3], &wanted.value);
                near(
                    &rest[3..7],
                    &[wanted.score_mean, wanted.score_stdev, wanted.lead, wanted.variance_time],
                );
                match wanted.shortterm_errors {
                    Some(errors) => near(&rest[7..9], &errors),
                    None => assert!(rest[7].is_nan() && rest[8].is_nan()),
                }
                near(&rest[9..], &wanted.ownership);
            }
            assert_eq!(found.next(), None);
        }
    }

    #[test]
    fn truncated_and_invalid_requests_are_refused() {
        let network = random::network(&random::Options::default()).unwrap();
        let forward = Forward::new(&network);
        let whole = question([3, 3, 2], &positions(2, 3, 3));
        assert!(asked(&forward, &[]).unwrap().is_empty());
        for end in 1..whole.len() {
            assert!(asked(&forward, &whole[..end]).is_err(), "{end} bytes");
        }
        for size in [[0, 3, 1], [3, 26, 1], [3, 3, u32::MAX]] {
            assert!(asked(&forward, &question(size, &[])).is_err(), "{size:?}");
        }
    }
}
