//! Choice of the device that evaluates a network: the processor, or a graphics card.
//!
//! A card never makes a command fail. If it is missing, fails or gives wrong results, the processor evaluates, and a
//! line on the standard error gives the reason.

use super::net::check::positions;
use super::ranks::warn;
use anyhow::{Context as _, ensure};
use kosumi_go::board::BoardSize;
use kosumi_net::device::{DeviceGroup, ProcessorShare};
use kosumi_net::{ArithmeticChoice, Device, Differences, Forward, Input, Network, Output, Precision, device};
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
    /// Graphics cards.
    Gpu(CardNumbers),
    /// Graphics cards, and the processor at the same time.
    GpuAndCpu(CardNumbers),
}

impl DeviceChoice {
    /// Returns the numbers of the cards that are chosen, where `None` stands for the most promising card. The list is
    /// empty if the choice is the processor.
    pub(crate) fn cards(self) -> Vec<Option<usize>> {
        match self {
            DeviceChoice::Cpu => Vec::new(),
            DeviceChoice::Auto => vec![None],
            DeviceChoice::Gpu(numbers) | DeviceChoice::GpuAndCpu(numbers) => numbers.each(),
        }
    }
}

/// Numbers of graphics cards. An empty set stands for the most promising card.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct CardNumbers(u64);

impl CardNumbers {
    /// Returns the set with one card. Returns `None` unless its number is less than 64.
    pub(crate) fn of(number: usize) -> Option<CardNumbers> {
        (number < 64).then(|| CardNumbers(1 << number))
    }

    /// Returns the numbers in the set, or a single `None` for the most promising card.
    pub(crate) fn each(self) -> Vec<Option<usize>> {
        let numbers: Vec<_> = (0..64).filter(|number| self.0 >> number & 1 == 1).map(Some).collect();
        if numbers.is_empty() { vec![None] } else { numbers }
    }
}

/// Parses the name of a device.
pub(crate) fn parse(name: &str) -> Result<DeviceChoice, String> {
    let numbers = |text: &str| {
        let each = text.split('+').map(|number| CardNumbers::of(number.parse().ok()?));
        each.reduce(|all, one| Some(CardNumbers(all?.0 | one?.0))).flatten()
    };
    let cards = |name: &str| match name {
        "gpu" => Some(CardNumbers::default()),
        _ => name.strip_prefix("gpu:").and_then(numbers),
    };
    let choice = match name {
        "auto" => Some(DeviceChoice::Auto),
        "cpu" => Some(DeviceChoice::Cpu),
        _ => match name.strip_suffix("+cpu") {
            Some(name) => cards(name).map(DeviceChoice::GpuAndCpu),
            None => cards(name).map(DeviceChoice::Gpu),
        },
    };
    choice.ok_or_else(|| {
        "auto, cpu, gpu, gpu:N with the number of a card (0 to 63), gpu:N+N with several, or gpu+cpu"
            .to_owned()
    })
}

/// Environment variable with a fault of the card, for tests: `fails:N`, `panics:N` or `hangs:N` for a fault after N
/// batches, or `wrong` for wrong results.
#[cfg(feature = "gpu")]
const FAULT: &str = "KOSUMI_GPU_FAULT";

/// Environment variable with the folder for compiled shaders and measurements; empty for none.
#[cfg(feature = "gpu")]
const CACHE: &str = "KOSUMI_GPU_CACHE";

/// Environment variable that is `no` if matrix units must not be used, for measurements.
#[cfg(feature = "gpu")]
const MATRIX_UNITS: &str = "KOSUMI_GPU_MATRIX_UNITS";

/// Maximum number of positions in a batch on 19×19.
pub(crate) const BATCH: usize = 64;

/// Number of positions in the batch with which a card's speed is compared with the processor's.
const TRIAL_BATCH: usize = 16;

/// Sides of the boards on which a card's speed is compared with the processor's: the usual board, and a small one.
const TRIAL_SIDES: [usize; 2] = [19, 9];

/// Minimum gain, as a share of a card's speed, for the processor to evaluate as well. Each of its evaluations occupies
/// a thread that would otherwise gather positions for the card.
const MIN_GAIN: f64 = 0.1;

/// Sides of the boards on which a card's results are checked, each with the number of equal positions in the batch.
/// Together they use both kinds of tiles for products.
const CHECKED: [(usize, usize); 2] = [(7, 4), (19, 32)];

/// Counterpart of [`CHECKED`] for a software driver, which is slow and has one kind of tiles.
const CHECKED_SOFTWARE: [(usize, usize); 2] = [(7, 4), (9, 1)];

/// Returns the number of threads that keep the device of a network busy, if the network has a device other than the
/// processor.
pub(crate) fn threads(network: Option<&Network>) -> Option<usize> {
    device::attached(network?).map(|attached| attached.device().threads())
}

/// Makes the evaluations of a network use a card, if `choice` asks for it.
///
/// # Errors
///
/// Returns an error if `choice` names a card and this program was built without support for cards.
pub(crate) fn attach(
    network: &Arc<Network>,
    choice: DeviceChoice,
    arithmetic: ArithmeticChoice,
) -> anyhow::Result<()> {
    if device::attached(network).is_some() {
        return Ok(());
    }
    let Some(card) = open_checked(network, choice, arithmetic.precision)? else { return Ok(()) };
    match parts(&card, network, choice, arithmetic) {
        Ok(Some((least_area, processor_share))) => {
            device::attach(network, card.into_device(), least_area, processor_share)
        }
        Ok(None) => (),
        Err(error) => warn(&format!("no graphics card: {error:#}; the processor evaluates")),
    }
    Ok(())
}

/// Returns the number of points of the smallest board that the card evaluates, and the processor's share of the
/// evaluations beside it. Returns `None` if the processor evaluates everything.
///
/// # Errors
///
/// Returns an error if the card fails while it is measured.
fn parts(
    card: &Card,
    network: &Arc<Network>,
    choice: DeviceChoice,
    arithmetic: ArithmeticChoice,
) -> anyhow::Result<Option<(usize, ProcessorShare)>> {
    match choice {
        DeviceChoice::Auto => measured(card, network, arithmetic),
        DeviceChoice::GpuAndCpu(_) => {
            let [usual, small] = TRIAL_SIDES;
            let side = if card.is_software { small } else { usual };
            Ok(Some((0, Trial::run(card, network, arithmetic, side)?.processor_share())))
        }
        DeviceChoice::Gpu(_) => Ok(Some((0, ProcessorShare::default()))),
        DeviceChoice::Cpu => Ok(None),
    }
}

/// Opens cards for a network, if `choice` allows it and their results agree with the processor's. Without such a card,
/// the processor evaluates. A line on the standard error then gives the reason, unless there simply is no card.
///
/// # Errors
///
/// Returns an error if `choice` names a card and this program was built without support for cards.
pub(crate) fn open_checked(
    network: &Network,
    choice: DeviceChoice,
    precision: Option<Precision>,
) -> anyhow::Result<Option<Card>> {
    let numbers = choice.cards();
    let is_possible = choice != DeviceChoice::Auto || Card::IS_SUPPORTED && Card::exists();
    if numbers.is_empty() || !is_possible {
        return Ok(None);
    }
    ensure!(Card::IS_SUPPORTED, NOT_SUPPORTED);
    let (mut cards, mut errors) = (Vec::new(), Vec::new());
    for number in numbers {
        match checked(network, number, precision != Some(Precision::F32)) {
            Ok(card) => cards.push(card),
            Err(error) => errors.push(format!("{error:#}")),
        }
    }
    if !errors.is_empty() {
        let others = if cards.is_empty() { "the processor evaluates" } else { "the other cards evaluate" };
        warn(&format!("no graphics card: {}; {others}", errors.join("; ")));
    }
    Ok(Card::combined(cards))
}

/// Error message of a program that was built without support for cards.
const NOT_SUPPORTED: &str =
    "this program is built without support for graphics cards (the cargo feature gpu)";

/// Opens a card and compares its evaluations with those of the processor.
fn checked(network: &Network, number: Option<usize>, half: bool) -> anyhow::Result<Card> {
    let card = Card::open(number, network, half, BATCH)?;
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
    let checked = if card.is_software { CHECKED_SOFTWARE } else { CHECKED };
    for (side, copies) in checked {
        let positions = positions(BoardSize::square(side).context("a size")?)?;
        // The processor is slow in 32 bits, so it evaluates only one position, the one with the most stones.
        let position = positions.last().context("a position")?;
        let wanted = position.predict(network, &forward.evaluate(&position.input)?)?;
        for output in card.evaluate(&vec![&position.input; copies])? {
            differences.add(&position.predict(network, &output)?, &wanted);
        }
    }
    Ok(differences)
}

/// Compares the speed of a card with the processor's. Returns the number of points of the smallest board that the card
/// evaluates faster, and the processor's share of the evaluations on larger boards. Returns `None` if the card is
/// slower on 19×19.
fn measured(
    card: &Card,
    network: &Arc<Network>,
    arithmetic: ArithmeticChoice,
) -> anyhow::Result<Option<(usize, ProcessorShare)>> {
    let [usual, small] = TRIAL_SIDES;
    let on_usual = Trial::run(card, network, arithmetic, usual)?;
    if !on_usual.card_is_faster() {
        return Ok(None);
    }
    let on_small = Trial::run(card, network, arithmetic, small)?;
    let least_area = if on_small.card_is_faster() { 0 } else { small * small + 1 };
    let processor_share =
        if on_usual.processor_is_worth_it() { on_usual.processor_share() } else { ProcessorShare::default() };
    Ok(Some((least_area, processor_share)))
}

/// Times of evaluations on a square board.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// Time that one thread of the processor takes for a position, in seconds.
    by_processor: f64,
    /// Time that the card takes for a position of a batch, in seconds.
    by_card: f64,
    /// Number of threads that the processor can run at a time.
    processors: usize,
}

impl Trial {
    fn run(
        card: &Card,
        network: &Arc<Network>,
        arithmetic: ArithmeticChoice,
        side: usize,
    ) -> anyhow::Result<Trial> {
        let positions = positions(BoardSize::square(side).context("a size")?)?;
        let input = &positions.last().context("a position")?.input;
        let mut forward = Forward::shared(network, arithmetic).on_processor();
        let by_processor = least_time(&mut || forward.evaluate(input).map(|_| ()).map_err(Into::into))?;
        let batch = vec![input; TRIAL_BATCH];
        let by_card = least_time(&mut || card.evaluate(&batch).map(|_| ()))?;
        Ok(Trial {
            by_processor: by_processor.as_secs_f64(),
            by_card: by_card.as_secs_f64() / TRIAL_BATCH as f64,
            processors: thread::available_parallelism().map_or(1, usize::from),
        })
    }

    /// Returns whether the card takes no more time for a batch than all threads of the processor together.
    fn card_is_faster(&self) -> bool {
        self.by_card <= self.by_processor / self.processors as f64
    }

    /// Returns whether the processor would add at least [`MIN_GAIN`] to the card's speed.
    fn processor_is_worth_it(&self) -> bool {
        self.by_card * self.processor_share().at_once as f64 >= MIN_GAIN * self.by_processor
    }

    /// Returns the processor's share of the evaluations: all threads but one, which is left to the descents of the
    /// search and to the driver.
    fn processor_share(&self) -> ProcessorShare {
        // The quotient is bounded, because a clock may not have advanced and a card may be very slow.
        let answered = (self.by_processor / self.by_card).clamp(1.0, 1e6);
        ProcessorShare { at_once: self.processors - 1, least_waiting: answered.ceil() as usize }
    }
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

/// Graphics card with a network, or several that share its evaluations.
#[derive(Debug)]
pub(crate) struct Card {
    device: Arc<dyn Device>,
    description: String,
    is_half: bool,
    is_software: bool,
}

/// Facts about a card of this machine.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CardFacts {
    /// Number N for `--device gpu:N`.
    pub(crate) number: usize,
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) interface: &'static str,
    pub(crate) driver: String,
    /// Whether numbers can be stored in 16 bits.
    pub(crate) has_f16: bool,
    /// Sizes and types of the matrices that matrix units multiply.
    pub(crate) matrices: Vec<String>,
}

impl Card {
    /// Combines cards. Returns `None` if there are none.
    fn combined(mut cards: Vec<Card>) -> Option<Card> {
        if cards.len() <= 1 {
            return cards.pop();
        }
        let descriptions: Vec<String> = cards.iter().map(|card| card.description.clone()).collect();
        Some(Card {
            description: descriptions.join("; "),
            is_half: cards.iter().all(|card| card.is_half),
            is_software: cards.iter().any(|card| card.is_software),
            device: Arc::new(DeviceGroup::new(cards.into_iter().map(Card::into_device).collect())),
        })
    }

    /// Returns the names of the card and its driver.
    pub(crate) fn description(&self) -> &str {
        &self.description
    }

    /// Returns the name of the card with the programming interface.
    pub(crate) fn name(&self) -> String {
        self.device.name()
    }

    /// Returns whether the card stores numbers in 16 bits.
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

    /// Evaluates positions, or fails as a whole.
    ///
    /// # Errors
    ///
    /// Returns an error if the card fails or if a result is not finite.
    pub(crate) fn evaluate(&self, inputs: &[&Input]) -> anyhow::Result<Vec<Output>> {
        let outputs = self.try_evaluate(inputs).into_iter();
        outputs.map(|output| output.context("the card gives no finite numbers")).collect()
    }
}

#[cfg(feature = "gpu")]
mod supported {
    use super::{CACHE, Card, CardFacts, FAULT, MATRIX_UNITS, warn};
    use anyhow::Context as _;
    use kosumi_gpu::{Fault, Gpu, GpuOptions, cards};
    use kosumi_net::Network;
    use std::env;
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

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

        /// Opens a card for a network: the card with this number, or the most promising one. With `half`, it stores
        /// numbers in 16 bits if the card and the network permit this. `batch` is the largest number of positions of a
        /// batch.
        ///
        /// # Errors
        ///
        /// Returns an error if there is no such card, or if it cannot be used.
        pub(crate) fn open(
            number: Option<usize>,
            network: &Network,
            half: bool,
            batch: usize,
        ) -> anyhow::Result<Card> {
            let mut cards = cards();
            let card = match number {
                Some(number) => {
                    let count = cards.len();
                    (number < count)
                        .then(|| cards.swap_remove(number))
                        .with_context(|| format!("gpu:{number} does not exist, there are {count} cards"))?
                }
                None => cards.into_iter().min_by_key(kosumi_gpu::Card::order).context("none is found")?,
            };
            let name = card.title();
            let on_failure = move |why: &str| warn(&format!("{name} failed, the processor goes on: {why}"));
            let name = card.title();
            let on_note = move |note: &str| warn(&format!("{name}: {note}"));
            let options = GpuOptions {
                half,
                matrix_units: env::var(MATRIX_UNITS).as_deref() != Ok("no"),
                batch,
                cache: cache_folder(),
                on_failure: Box::new(on_failure),
                on_note: Box::new(on_note),
                fault: fault()?,
            };
            let start = Instant::now();
            let gpu = Gpu::start(&card, network, options, Arc::new(move || start.elapsed()))
                .with_context(|| card.title())?;
            let units = if gpu.uses_matrix_units() { ", with matrix units" } else { "" };
            let description = format!("{}, {}{units}", card.title(), card.driver());
            let (is_half, is_software) = (gpu.is_half(), card.is_software());
            Ok(Card { device: Arc::new(gpu), description, is_half, is_software })
        }
    }

    /// Returns the folder for compiled shaders and measurements: the one that the environment names, or the system's
    /// usual one.
    fn cache_folder() -> Option<PathBuf> {
        if let Some(folder) = env::var_os(CACHE) {
            return Some(PathBuf::from(folder)).filter(|folder| !folder.as_os_str().is_empty());
        }
        let named = |name| env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
        let usual = if cfg!(windows) {
            named("LOCALAPPDATA")
        } else if cfg!(target_os = "macos") {
            named("HOME").map(|home| home.join("Library/Caches"))
        } else {
            named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")))
        };
        usual.map(|folder| folder.join("kosumi"))
    }

    /// Returns the fault that the environment requests, if there is one.
    fn fault() -> anyhow::Result<Option<Fault>> {
        /// Time for a batch after which a driver that hangs for a test counts as lost.
        const PATIENCE: Duration = Duration::from_millis(500);
        let Ok(text) = env::var(FAULT) else { return Ok(None) };
        let (kind, after) = text.split_once(':').unwrap_or((&text, "0"));
        let after = after.parse().with_context(|| format!("{FAULT} is '{text}'"))?;
        match kind {
            "fails" => Ok(Some(Fault::Fails(after))),
            "panics" => Ok(Some(Fault::Panics(after))),
            "hangs" => Ok(Some(Fault::Hangs(after, PATIENCE))),
            "wrong" => Ok(Some(Fault::IsWrong)),
            _ => anyhow::bail!("{FAULT} is '{text}'"),
        }
    }
}

#[cfg(not(feature = "gpu"))]
impl Card {
    /// Whether this program can use cards.
    pub(crate) const IS_SUPPORTED: bool = false;

    /// Returns whether there is a card. Without support for cards, none is known.
    pub(crate) fn exists() -> bool {
        false
    }

    /// Returns facts about all cards. Without support for cards, none is known.
    pub(crate) fn all() -> Vec<CardFacts> {
        Vec::new()
    }

    /// Refuses to open a card.
    ///
    /// # Errors
    ///
    /// Always returns an error.
    pub(crate) fn open(_: Option<usize>, _: &Network, _: bool, _: usize) -> anyhow::Result<Card> {
        anyhow::bail!(NOT_SUPPORTED)
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
        assert_eq!(parse("gpu"), Ok(DeviceChoice::Gpu(CardNumbers::default())));
        let numbers = |text| match parse(text) {
            Ok(DeviceChoice::Gpu(numbers)) => numbers.each(),
            other => panic!("{other:?}"),
        };
        assert_eq!(numbers("gpu"), [None]);
        assert_eq!(numbers("gpu:2"), [Some(2)]);
        assert_eq!(numbers("gpu:3+0+63"), [Some(0), Some(3), Some(63)]);
        assert_eq!(parse("gpu+cpu"), Ok(DeviceChoice::GpuAndCpu(CardNumbers::default())));
        let Ok(both) = parse("gpu:1+2+cpu") else { panic!("two cards and the processor") };
        assert_eq!(
            (both.cards(), both == DeviceChoice::Gpu(CardNumbers(6))),
            (vec![Some(1), Some(2)], false)
        );
        for name in [
            "+cpu",
            "cpu+cpu",
            "auto+cpu",
            "gpu:cpu",
            "gpu:+cpu",
            "gpu:cpu+1",
            "",
            "GPU",
            "gpu:",
            "gpu:-1",
            "gpu:x",
            "gpu:64",
            "gpu:0+",
            "gpu:0,1",
            "gpu:0+64",
            "cuda",
        ] {
            assert!(parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn the_processor_takes_part_where_that_is_worth_it() {
        let trial = |by_processor, by_card| Trial { by_processor, by_card, processors: 8 };
        let fast = trial(0.040, 0.0001);
        assert!(fast.card_is_faster() && !fast.processor_is_worth_it());
        // In the time in which a thread of the processor evaluates one position, the card evaluates ten.
        let slow = trial(0.040, 0.004);
        assert!(slow.card_is_faster() && slow.processor_is_worth_it());
        assert_eq!(slow.processor_share(), ProcessorShare { at_once: 7, least_waiting: 10 });
        assert!(!trial(0.040, 0.006).card_is_faster());
        assert_eq!(trial(0.0, 0.0).processor_share().at_once, 7, "a clock that does not move");
    }

    #[test]
    fn the_processor_evaluates_what_no_card_does() {
        let network = Arc::new(random::network(&random::Options::default()).unwrap());
        let arithmetic = ArithmeticChoice::default();
        attach(&network, DeviceChoice::Cpu, arithmetic).unwrap();
        assert_eq!(threads(Some(&network)), None);
        let missing = attach(&network, DeviceChoice::Gpu(CardNumbers::of(63).unwrap()), arithmetic);
        assert_eq!(missing.is_ok(), Card::IS_SUPPORTED, "a card that is missing is no error");
        assert_eq!(threads(Some(&network)), None);
        assert!(Forward::shared(&network, arithmetic).evaluate(&Input::zero(3, 3)).is_ok());
    }
}
