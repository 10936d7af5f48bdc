//! `kosumi net check`: comparison of the fast kernels with the plain forward pass on this processor.

use crate::device::{self, Card, DeviceChoice};
use crate::options::{self, PrecisionChoice};
use crate::terminal;
use anyhow::{Context as _, bail, ensure};
use clap::Args;
use kosumi_go::board::{BoardSize, Move};
use kosumi_go::game::{Game, Line};
use kosumi_go::rng::Rng;
use kosumi_go::rules::Rules;
use kosumi_net::features::legal_points;
use kosumi_net::random;
use kosumi_net::{
    Arithmetic, ArithmeticChoice, BuiltIn, Context, Differences, Features, Input, Kernel, Network, Output,
    Precision, Prediction, Prepared, Scratch, scalar,
};
use std::io::Write;
use std::path::PathBuf;

/// Compare the fast kernels with the plain forward pass on this processor
#[derive(Debug, Args)]
#[command(after_help = "\
Every kernel that this processor can run evaluates positions of random games,
one at a time and in batches, with small random networks of every kind and with
one large network. The command prints the largest differences from the plain
forward pass: in the probability of a move or a result, in the owner of a point
(from -1 to 1), in points of the lead; and in how many evaluations the
likeliest move is the same. In bf16 numbers are rounded to 16 bits, in int8 to
8. The command fails if a difference exceeds the tolerance of the precision.
A graphics card is checked in f32 and f16, or with --precision f32 in f32 only.

Examples:
  kosumi net check
  kosumi net check b18c384.bin.gz --size 19 --kernel avx512
  kosumi net check --device gpu                  a graphics card
  kosumi net check --kernel emulated-bf16        emulates amx-bf16 on any processor")]
pub(super) struct Arguments {
    /// Large network: .bin.gz, .txt.gz, .bin, .txt or .kosumi8 [default: the built-in ones]
    file: Option<PathBuf>,
    /// Kernel to check [default: all that the processor can run]
    #[arg(long, value_name = "NAME", value_parser = options::kernel)]
    kernel: Option<Kernel>,
    /// Precision to check [default: all that the kernels support]
    #[arg(long, value_name = "NAME", value_parser = options::precision)]
    precision: Option<PrecisionChoice>,
    /// Board sizes, each N or WIDTHxHEIGHT
    #[arg(long, value_name = "SIZE,...", default_value = "7,9x13,19", value_delimiter = ',',
        value_parser = options::board_size)]
    size: Vec<BoardSize>,
    /// Check only the small networks
    #[arg(long, conflicts_with = "file")]
    small: bool,
    /// Check a graphics card instead of the kernels: gpu, or gpu:N for the card N of `kosumi net devices`
    #[arg(long, value_name = "DEVICE", value_parser = device::parse, conflicts_with = "kernel")]
    device: Option<DeviceChoice>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut networks = small_networks()?;
    if let Some(path) = &arguments.file {
        networks.push(Network::open(path).with_context(|| path.display().to_string())?);
    } else if !arguments.small {
        for which in [BuiltIn::Small, BuiltIn::Large] {
            networks.push(Network::built_in(which).context("a built-in network")?);
        }
    }
    let positions: Vec<Vec<Position>> =
        arguments.size.iter().map(|&size| positions(size)).collect::<anyhow::Result<_>>()?;
    let numbers = arguments.device.map_or(Vec::new(), DeviceChoice::cards);
    for &number in &numbers {
        check_card(&networks, &positions, number, arguments.precision, &mut terminal::stdout())?;
    }
    if !numbers.is_empty() {
        return Ok(());
    }
    let arithmetics = options::available_arithmetics(arguments.kernel, arguments.precision)?;
    check(&networks, &positions, &arithmetics, &mut terminal::stdout())
}

/// Prints a line per network and kernel, and the default kernel.
fn check(
    networks: &[Network],
    positions: &[Vec<Position>],
    arithmetics: &[Arithmetic],
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let width = networks.iter().map(|network| network.name().len()).max().unwrap_or_default();
    writeln!(out, "{:<width$}   kernel            probability      owner       lead   same move", "network")?;
    let mut wrong = Vec::new();
    for network in networks {
        let plain = evaluate_plain(network, positions)?;
        for &arithmetic in arithmetics {
            let prepared = Prepared::new(network, arithmetic);
            let found = differences(network, positions, &plain, |inputs, scratch| {
                Ok(prepared.evaluate(inputs, scratch)?)
            })?;
            let is_good = found.are_within_tolerance(arithmetic.precision);
            let Differences { probability, owner, lead, same, count } = found;
            let name = arithmetic.name();
            let remark = if is_good { "" } else { "   WRONG" };
            writeln!(
                out,
                "{:<width$}   {name:<15}   {probability:>11.1e}   {owner:>8.1e}   {lead:>8.1e}   {same:>4} of {count}{remark}",
                network.name()
            )?;
            out.flush()?;
            if !is_good && !wrong.contains(&name) {
                wrong.push(name);
            }
        }
    }
    let missing: Vec<_> =
        Kernel::ALL.into_iter().filter(|kernel| !kernel.is_available()).map(Kernel::name).collect();
    if !missing.is_empty() {
        writeln!(out, "\nNot supported by this processor or system: {}.", missing.join(", "))?;
    }
    if let Some(network) = networks.last() {
        let chosen = Prepared::fastest(network, ArithmeticChoice::default()).arithmetic().name();
        writeln!(out, "The default for {} is {chosen}.", network.name())?;
    }
    ensure!(
        wrong.is_empty(),
        "results differ from the plain forward pass: {}; choose others with --kernel and --precision",
        wrong.join(", ")
    );
    Ok(())
}

/// Prints a line per network and precision of a graphics card.
fn check_card(
    networks: &[Network],
    positions: &[Vec<Position>],
    number: Option<usize>,
    precision: Option<PrecisionChoice>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let width = networks.iter().map(|network| network.name().len()).max().unwrap_or_default();
    let halves = match precision.and_then(|precision| precision.0) {
        None => &[false, true][..],
        Some(Precision::F32) => &[false],
        Some(_) => {
            bail!("a graphics card stores numbers in f32 or f16: --precision f32 checks f32 only, auto both")
        }
    };
    let (mut is_wrong, mut is_first, mut without_half) = (false, true, Vec::new());
    for network in networks {
        let plain = evaluate_plain(network, positions)?;
        for &half in halves {
            let card = Card::open(number, network, half, POSITIONS)?;
            if is_first {
                writeln!(out, "{}", card.description())?;
                writeln!(
                    out,
                    "{:<width$}   precision   probability      owner       lead   same move",
                    "network"
                )?;
                is_first = false;
            }
            if half && !card.is_half() {
                without_half.push(network.name());
                continue;
            }
            let found = differences(network, positions, &plain, |inputs, _| card.evaluate(inputs))?;
            // Results in 16 bits have the tolerance of 8 bits.
            let tolerance = if half { Precision::Int8 } else { Precision::F32 };
            let is_good = found.are_within_tolerance(tolerance);
            let Differences { probability, owner, lead, same, count } = found;
            let (name, remark) = (if half { "f16" } else { "f32" }, if is_good { "" } else { "   WRONG" });
            writeln!(
                out,
                "{:<width$}   {name:<9}   {probability:>11.1e}   {owner:>8.1e}   {lead:>8.1e}   {same:>4} of {count}{remark}",
                network.name()
            )?;
            out.flush()?;
            is_wrong |= !is_good;
        }
    }
    if !without_half.is_empty() {
        writeln!(
            out,
            "\nNot checked in f16, because the card or the network does not permit it: {}.",
            without_half.join(", ")
        )?;
    }
    ensure!(!is_wrong, "not what the plain forward pass computes: --device cpu plays without this card");
    Ok(())
}

/// Creates small networks of every kind.
fn small_networks() -> anyhow::Result<Vec<Network>> {
    Ok(random::kinds().iter().map(random::network).collect::<Result<_, _>>()?)
}

/// Network input of a position, with its legal points.
pub(crate) struct Position {
    pub(crate) input: Input,
    legal: Vec<bool>,
}

impl Position {
    /// Interprets an output of the network for this position.
    pub(crate) fn predict(&self, network: &Network, output: &Output) -> anyhow::Result<Prediction> {
        // With an optimism of 0.5, both policies count.
        let context = Context { legal: &self.legal, no_result: true, optimism_share: 0.5, temperature: 1.0 };
        Ok(Prediction::new(network, output, context)?)
    }
}

/// Number of positions per board size.
const POSITIONS: usize = 4;

/// Returns positions of a random game; fewer than [`POSITIONS`] if the game has no legal moves left.
pub(crate) fn positions(size: BoardSize) -> anyhow::Result<Vec<Position>> {
    let rules = Rules::default();
    let mut game = Game::new(size, rules, rules.usual_komi());
    let mut rng = Rng::new(1);
    let mut features = Features::default();
    let mut positions = Vec::new();
    let step = size.area().div_ceil(POSITIONS + 1);
    for number in 0..=step * (POSITIONS - 1) {
        if number % step == 0 {
            let line = Line::new(&game);
            let mut position = Position { input: Input::zero(1, 1), legal: Vec::new() };
            features.fill(&line, &mut position.input);
            legal_points(&line, &mut position.legal);
            positions.push(position);
        }
        let moves = game.legal_points(game.to_move());
        if moves.is_empty() {
            break;
        }
        let mv = Move::Play(moves[rng.below(moves.len() as u32) as usize]);
        game.play(game.to_move(), mv)?;
    }
    Ok(positions)
}

/// Evaluates all positions with the plain forward pass.
fn evaluate_plain(network: &Network, positions: &[Vec<Position>]) -> anyhow::Result<Vec<Vec<Prediction>>> {
    let of_size = |positions: &Vec<Position>| {
        let each = positions.iter();
        each.map(|it| it.predict(network, &scalar::evaluate(network, &it.input)?)).collect()
    };
    positions.iter().map(of_size).collect()
}

/// Compares the results of `evaluate` for all positions, alone and in batches, with `wanted`.
fn differences(
    network: &Network,
    positions: &[Vec<Position>],
    wanted: &[Vec<Prediction>],
    evaluate: impl Fn(&[&Input], &mut Scratch) -> anyhow::Result<Vec<Output>>,
) -> anyhow::Result<Differences> {
    let mut differences = Differences::default();
    // All evaluations share one scratch memory, so that stale data in it is detected.
    let mut scratch = Scratch::default();
    for (positions, wanted) in positions.iter().zip(wanted) {
        let together: Vec<&Input> = positions.iter().map(|position| &position.input).collect();
        let mut outputs = evaluate(&together, &mut scratch)?;
        for input in together {
            outputs.extend(evaluate(&[input], &mut scratch)?);
        }
        let both = positions.iter().zip(wanted).cycle();
        for (output, (position, wanted)) in outputs.iter().zip(both) {
            differences.add(&position.predict(network, output)?, wanted);
        }
    }
    Ok(differences)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes() -> Vec<Vec<Position>> {
        let sizes = [BoardSize::new(5, 3), BoardSize::square(1)];
        sizes.into_iter().map(|size| positions(size.unwrap()).unwrap()).collect()
    }

    #[test]
    fn every_kernel_is_compared_with_every_network() {
        let networks = small_networks().unwrap();
        let positions = sizes();
        assert_eq!(positions.iter().map(Vec::len).collect::<Vec<_>>(), [POSITIONS, 1]);
        let [portable, emulated] = [Kernel::Portable, Kernel::EmulatedBf16]
            .map(|kernel| Arithmetic { kernel, precision: kernel.precisions()[0] });
        let mut text = Vec::new();
        check(&networks, &positions, &[portable, emulated], &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.matches("portable").count(), networks.len(), "{text}");
        assert_eq!(text.matches("emulated-bf16").count(), networks.len(), "{text}");
        assert!(text.contains(&format!(" of {}", 2 * (POSITIONS + 1))), "{text}");
    }

    #[test]
    fn a_wrong_number_is_noticed() {
        let network = small_networks().unwrap().remove(0);
        let positions = sizes();
        let wanted = evaluate_plain(&network, &positions).unwrap();
        let with = |change: fn(&mut Output)| {
            differences(&network, &positions, &wanted, |inputs, _| {
                let mut outputs = Vec::new();
                for input in inputs {
                    let mut output = scalar::evaluate(&network, input)?;
                    // Only one of the two boards gets wrong output.
                    if input.width == 5 {
                        change(&mut output);
                    }
                    outputs.push(output);
                }
                Ok(outputs)
            })
            .unwrap()
        };
        let none = with(|_| ());
        assert_eq!((none.probability, none.owner, none.lead), (0.0, 0.0, 0.0));
        assert_eq!((none.same, none.count), (10, 10));
        assert!(none.are_within_tolerance(Precision::F32));
        for change in [
            (|it| it.pass += 1.0) as fn(&mut Output),
            |it| it.policy[7] += 1.0,
            |it| it.value[0] += 1.0,
            |it| it.ownership[14] += 1.0,
            |it| it.lead += 1.0,
        ] {
            assert!(!with(change).are_within_tolerance(Precision::F32));
        }
    }
}
