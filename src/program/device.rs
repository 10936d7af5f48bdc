//! Choice of the device that evaluates a network: the processor, or a graphics card.
//!
//! A card never makes a command fail. If it is missing, fails or computes wrongly, the processor evaluates, and a line
//! on the standard error gives the reason.

use super::net::check::{Differences, positions};
use super::ranks::warn;
use anyhow::{Context as _, ensure};
use kosumi_go::board::BoardSize;
use kosumi_net::{ArithmeticChoice, Device, Forward, Input, Network, Output, Precision, device};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Device for network evaluations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum DeviceChoice {
    /// A graphics card if it is faster than the processor.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// The most promising graphics card, or the one with this number.
    Gpu(Option<usize>),
}

/// Parses the name of a device.
pub(crate) fn parse(name: &str) -> Result<DeviceChoice, String> {
    match name {
        "auto" => Ok(DeviceChoice::Auto),
        "cpu" => Ok(DeviceChoice::Cpu),
        "gpu" => Ok(DeviceChoice::Gpu(None)),
        _ => {
            let number = name.strip_prefix("gpu:").and_then(|number| number.parse().ok());
            number
                .map(|number| DeviceChoice::Gpu(Some(number)))
                .ok_or_else(|| "auto, cpu, gpu, or gpu:N with a number".to_owned())
        }
    }
}

/// Environment variable with the number of batches after which a card counts as lost, for tests.
#[cfg(feature = "gpu")]
const FAIL_AFTER: &str = "KOSUMI_GPU_FAIL_AFTER";

/// Largest number of positions of a batch on 19×19.
pub(crate) const BATCH: usize = 64;

/// Number of positions of the batch with which a card is compared with the processor.
const TRIAL_BATCH: usize = 16;

/// Sides of the boards on which the answers of a card are checked.
const CHECKED_SIDES: [usize; 2] = [7, 9];

/// Returns the number of threads that keep the device of a network busy, if it has one besides the processor.
pub(crate) fn threads(network: Option<&Arc<Network>>) -> Option<usize> {
    device::attached(network?).map(|attached| attached.device().threads())
}

/// Makes evaluations of a network use a card, if `choice` asks for that.
///
/// # Errors
///
/// Returns an error if a card is named and this program is built without support for cards.
pub(crate) fn attach(
    network: &Arc<Network>,
    choice: DeviceChoice,
    arithmetic: ArithmeticChoice,
) -> anyhow::Result<()> {
    if device::attached(network).is_some() {
        return Ok(());
    }
    let Some(card) = open_checked(network, choice, arithmetic.precision)? else { return Ok(()) };
    if choice == DeviceChoice::Auto && !is_faster(&card, network, arithmetic)? {
        return Ok(());
    }
    device::attach(network, card.into_device());
    Ok(())
}

/// Opens a card for a network if `choice` allows that and the card computes what the processor computes. Otherwise the
/// processor evaluates, and a line on the standard error gives the reason, unless there is just no card.
///
/// # Errors
///
/// Returns an error if a card is named and this program is built without support for cards.
pub(crate) fn open_checked(
    network: &Network,
    choice: DeviceChoice,
    precision: Option<Precision>,
) -> anyhow::Result<Option<Card>> {
    if choice == DeviceChoice::Cpu {
        return Ok(None);
    }
    let is_auto = choice == DeviceChoice::Auto;
    if !Card::IS_SUPPORTED {
        ensure!(is_auto, "this program is built without support for graphics cards (the cargo feature gpu)");
        return Ok(None);
    }
    if is_auto && !Card::exists() {
        return Ok(None);
    }
    match checked(network, choice, precision != Some(Precision::F32)) {
        Ok(card) => Ok(Some(card)),
        Err(error) => {
            warn(&format!("no graphics card: {error:#}; the processor evaluates"));
            Ok(None)
        }
    }
}

/// Opens a card and compares its evaluations with those of the processor.
fn checked(network: &Network, choice: DeviceChoice, half: bool) -> anyhow::Result<Card> {
    let card = Card::open(choice, network, half, BATCH)?;
    let found = agreement(&card, network)?;
    let tolerance = if card.is_half() { Precision::Int8 } else { Precision::F32 };
    ensure!(found.are_within_tolerance(tolerance), "{} computes wrongly", card.name());
    Ok(card)
}

/// Returns the differences between the evaluations of a card and those of the processor in 32 bits.
pub(crate) fn agreement(card: &Card, network: &Network) -> anyhow::Result<Differences> {
    let exact = ArithmeticChoice { kernel: None, precision: Some(Precision::F32) };
    let mut forward = Forward::with_arithmetic(network, exact);
    let mut differences = Differences::default();
    for side in CHECKED_SIDES {
        let positions = positions(BoardSize::square(side).context("a size")?)?;
        let inputs: Vec<&Input> = positions.iter().map(|position| &position.input).collect();
        for (output, position) in card.evaluate(&inputs)?.iter().zip(&positions) {
            let wanted = forward.evaluate(&position.input)?;
            differences.add(&position.predict(network, output)?, &position.predict(network, &wanted)?);
        }
    }
    Ok(differences)
}

/// Returns whether a card evaluates a batch on 19×19 in less time than all threads of the processor together.
fn is_faster(card: &Card, network: &Arc<Network>, arithmetic: ArithmeticChoice) -> anyhow::Result<bool> {
    let positions = positions(BoardSize::square(19).context("a size")?)?;
    let input = &positions.last().context("a position")?.input;
    let mut forward = Forward::shared(network, arithmetic);
    let mut by_processor = || -> anyhow::Result<()> {
        forward.evaluate(input)?;
        Ok(())
    };
    let one = least_time(&mut by_processor)?;
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let batch = vec![input; TRIAL_BATCH];
    let by_card = least_time(&mut || card.evaluate(&batch).map(|_| ()))?;
    Ok(by_card.as_secs_f64() / TRIAL_BATCH as f64 <= one.as_secs_f64() / processors as f64)
}

/// Returns the shorter of two times. The first run includes preparations.
fn least_time(run: &mut dyn FnMut() -> anyhow::Result<()>) -> anyhow::Result<Duration> {
    let mut least = Duration::MAX;
    for _ in 0..2 {
        let start = Instant::now();
        run()?;
        least = least.min(start.elapsed());
    }
    Ok(least)
}

/// Graphics card with a network.
#[derive(Debug)]
pub(crate) struct Card {
    device: Arc<dyn Device>,
    description: String,
    is_half: bool,
}

/// Facts about a card of this machine.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub(crate) struct CardFacts {
    /// Number for `--device gpu:N`.
    pub(crate) number: usize,
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) interface: &'static str,
    pub(crate) driver: String,
    /// Whether numbers can be stored in 16 bits.
    pub(crate) has_f16: bool,
    /// Sizes and types of the matrices that special units multiply.
    pub(crate) matrices: Vec<String>,
}

impl Card {
    /// Returns what the card and its driver are called.
    pub(crate) fn description(&self) -> &str {
        &self.description
    }

    /// Returns the name of the card.
    pub(crate) fn name(&self) -> String {
        self.device.name()
    }

    /// Returns whether numbers are stored in 16 bits.
    pub(crate) fn is_half(&self) -> bool {
        self.is_half
    }

    /// Returns the device that threads share.
    pub(crate) fn into_device(self) -> Arc<dyn Device> {
        self.device
    }

    /// Evaluates positions; see [`Device::evaluate`].
    pub(crate) fn try_evaluate(&self, inputs: &[&Input]) -> Vec<Option<Output>> {
        self.device.evaluate(inputs)
    }

    /// Evaluates positions.
    ///
    /// # Errors
    ///
    /// Returns an error if the card fails or if a number is not finite.
    pub(crate) fn evaluate(&self, inputs: &[&Input]) -> anyhow::Result<Vec<Output>> {
        let outputs = self.try_evaluate(inputs).into_iter();
        outputs.map(|output| output.context("the card gives no finite numbers")).collect()
    }
}

#[cfg(feature = "gpu")]
mod supported {
    use super::{Card, CardFacts, DeviceChoice, FAIL_AFTER, warn};
    use anyhow::Context as _;
    use kosumi_gpu::{Gpu, GpuOptions, cards};
    use kosumi_net::Network;
    use std::sync::Arc;
    use std::time::Instant;

    impl Card {
        /// Whether this program can use cards.
        pub(crate) const IS_SUPPORTED: bool = true;

        /// Returns whether there is a card that is not a software driver.
        pub(crate) fn exists() -> bool {
            cards().iter().any(|card| !card.is_software())
        }

        /// Returns facts about all cards, in the order of their numbers.
        pub(crate) fn all() -> Vec<CardFacts> {
            let facts = |(number, card): (usize, kosumi_gpu::Card)| CardFacts {
                number,
                name: card.name().to_owned(),
                kind: card.kind(),
                interface: card.interface(),
                driver: card.driver(),
                has_f16: card.has_half(),
                matrices: card.matrices(),
            };
            cards().into_iter().enumerate().map(facts).collect()
        }

        /// Opens a card for a network. With `half`, numbers are stored in 16 bits if the card can do that. `batch` is
        /// the largest number of positions of a batch.
        ///
        /// # Errors
        ///
        /// Returns an error if there is no such card, or if it cannot be used.
        pub(crate) fn open(
            choice: DeviceChoice,
            network: &Network,
            half: bool,
            batch: usize,
        ) -> anyhow::Result<Card> {
            let mut cards = cards();
            let card = match choice {
                DeviceChoice::Gpu(Some(number)) => {
                    let count = cards.len();
                    (number < count)
                        .then(|| cards.swap_remove(number))
                        .with_context(|| format!("gpu:{number} does not exist, there are {count} cards"))?
                }
                _ => cards.into_iter().min_by_key(kosumi_gpu::Card::order).context("none is found")?,
            };
            let fail_after = std::env::var(FAIL_AFTER).ok().and_then(|text| text.parse().ok());
            let name = card.name().to_owned();
            let on_failure = move |why: &str| warn(&format!("{name} failed, the processor goes on: {why}"));
            let options = GpuOptions { half, batch, fail_after, on_failure: Box::new(on_failure) };
            let start = Instant::now();
            let gpu = Gpu::start(&card, network, options, &|| start.elapsed())
                .with_context(|| card.name().to_owned())?;
            let description = format!("{}, {} ({})", card.name(), card.driver(), card.interface());
            Ok(Card { is_half: gpu.is_half(), device: Arc::new(gpu), description })
        }
    }
}

#[cfg(not(feature = "gpu"))]
impl Card {
    /// Whether this program can use cards.
    pub(crate) const IS_SUPPORTED: bool = false;

    /// Returns whether there is a card, of which this program knows nothing.
    pub(crate) fn exists() -> bool {
        false
    }

    /// Returns facts about all cards, of which this program knows nothing.
    pub(crate) fn all() -> Vec<CardFacts> {
        Vec::new()
    }

    /// Refuses to open a card.
    ///
    /// # Errors
    ///
    /// Returns an error always.
    pub(crate) fn open(_: DeviceChoice, _: &Network, _: bool, _: usize) -> anyhow::Result<Card> {
        anyhow::bail!("this program is built without support for graphics cards (the cargo feature gpu)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_net::random;

    #[test]
    fn names_of_devices() {
        assert_eq!(parse("auto"), Ok(DeviceChoice::Auto));
        assert_eq!(parse("cpu"), Ok(DeviceChoice::Cpu));
        assert_eq!(parse("gpu"), Ok(DeviceChoice::Gpu(None)));
        assert_eq!(parse("gpu:2"), Ok(DeviceChoice::Gpu(Some(2))));
        for name in ["", "GPU", "gpu:", "gpu:-1", "gpu:x", "cuda"] {
            assert!(parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn the_processor_evaluates_what_no_card_does() {
        let network = Arc::new(random::network(&random::Options::default()).unwrap());
        let arithmetic = ArithmeticChoice::default();
        attach(&network, DeviceChoice::Cpu, arithmetic).unwrap();
        assert_eq!(threads(Some(&network)), None);
        let missing = attach(&network, DeviceChoice::Gpu(Some(1000)), arithmetic);
        assert_eq!(missing.is_ok(), Card::IS_SUPPORTED, "a card that is missing is no error");
        assert_eq!(threads(Some(&network)), None);
        assert!(Forward::shared(&network, arithmetic).evaluate(&Input::zero(3, 3)).is_ok());
    }
}
