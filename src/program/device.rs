//! Choice of the device that evaluates a network: the processor, or a graphics card.
//!
//! A card never makes a command fail. If it is missing, fails or computes wrongly, the processor evaluates, and a line
//! on the standard error gives the reason.

use super::net::check::positions;
use super::ranks::warn;
use anyhow::{Context as _, ensure};
use kosumi_go::board::BoardSize;
use kosumi_net::device::{Beside, Several};
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
    /// Graphics cards, and the processor beside them.
    GpuAndCpu(CardNumbers),
}

impl DeviceChoice {
    /// Returns the numbers of the cards that are named; `None` stands for the most promising one. Without a card the
    /// list is empty.
    pub(crate) fn cards(self) -> Vec<Option<usize>> {
        match self {
            DeviceChoice::Cpu => Vec::new(),
            DeviceChoice::Auto => vec![None],
            DeviceChoice::Gpu(numbers) | DeviceChoice::GpuAndCpu(numbers) => numbers.each(),
        }
    }
}

/// Numbers of graphics cards. If there are none, the most promising card is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct CardNumbers(u64);

impl CardNumbers {
    /// Returns the number of one card, if it is less than 64.
    pub(crate) fn of(number: usize) -> Option<CardNumbers> {
        (number < 64).then(|| CardNumbers(1 << number))
    }

    /// Returns the numbers, or `None` for the most promising card.
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

/// Environment variable with a fault of the card for tests: `fails:N`, `panics:N` or `hangs:N` after N batches, or
/// `wrong`.
#[cfg(feature = "gpu")]
const FAULT: &str = "KOSUMI_GPU_FAULT";

/// Environment variable with the folder for compiled shaders and for what has been measured; empty for none.
#[cfg(feature = "gpu")]
const CACHE: &str = "KOSUMI_GPU_CACHE";

/// Environment variable that is `no` if matrix units are not to be used, for measurements.
#[cfg(feature = "gpu")]
const MATRIX_UNITS: &str = "KOSUMI_GPU_MATRIX_UNITS";

/// Largest number of positions of a batch on 19×19.
pub(crate) const BATCH: usize = 64;

/// Number of positions of the batch with which a card is compared with the processor.
const TRIAL_BATCH: usize = 16;

/// Sides of the boards on which a card is compared with the processor: the usual ones, and small ones.
const TRIAL_SIDES: [usize; 2] = [19, 9];

/// Share of a card's speed that the processor must add to take part beside it. Each of its evaluations costs time in
/// which a thread does not gather positions for the card.
const LEAST_GAIN: f64 = 0.1;

/// Sides of the boards on which the answers of a card are checked, and the numbers of equal positions in the batch. Both
/// kinds of tiles of a product are used.
const CHECKED: [(usize, usize); 2] = [(7, 4), (19, 32)];

/// The same checks for a software driver, which is slow, and has one kind of tiles.
const CHECKED_SOFTWARE: [(usize, usize); 2] = [(7, 4), (9, 1)];

/// Returns the number of threads that keep the device of a network busy, if it has one besides the processor.
pub(crate) fn threads(network: Option<&Network>) -> Option<usize> {
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
    match parts(&card, network, choice, arithmetic) {
        Ok(Some((least_area, beside))) => device::attach(network, card.into_device(), least_area, beside),
        Ok(None) => (),
        Err(error) => warn(&format!("no graphics card: {error:#}; the processor evaluates")),
    }
    Ok(())
}

/// Returns the number of points of the smallest boards that a card evaluates, and the part that the processor takes
/// beside it; `None` if the processor evaluates everything.
///
/// # Errors
///
/// Returns an error if the card fails while it is measured.
fn parts(
    card: &Card,
    network: &Arc<Network>,
    choice: DeviceChoice,
    arithmetic: ArithmeticChoice,
) -> anyhow::Result<Option<(usize, Beside)>> {
    match choice {
        DeviceChoice::Auto => measured(card, network, arithmetic),
        DeviceChoice::GpuAndCpu(_) => {
            let [usual, small] = TRIAL_SIDES;
            let side = if card.is_software { small } else { usual };
            Ok(Some((0, Trial::run(card, network, arithmetic, side)?.beside())))
        }
        DeviceChoice::Gpu(_) => Ok(Some((0, Beside::default()))),
        DeviceChoice::Cpu => Ok(None),
    }
}

/// Opens cards for a network if `choice` allows that and they compute what the processor computes. If none does, the
/// processor evaluates. A line on the standard error gives the reason, unless there is just no card.
///
/// # Errors
///
/// Returns an error if a card is named and this program is built without support for cards.
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

/// Error message of a program without support for cards.
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
        // The processor is slow in 32 bits, so it evaluates one position, the one with most stones.
        let position = positions.last().context("a position")?;
        let wanted = position.predict(network, &forward.evaluate(&position.input)?)?;
        for output in card.evaluate(&vec![&position.input; copies])? {
            differences.add(&position.predict(network, &output)?, &wanted);
        }
    }
    Ok(differences)
}

/// Compares a card with the processor. Returns the number of points of the smallest boards that the card evaluates
/// faster, and the part that the processor takes beside the card on others; `None` if the card is slower on 19×19.
fn measured(
    card: &Card,
    network: &Arc<Network>,
    arithmetic: ArithmeticChoice,
) -> anyhow::Result<Option<(usize, Beside)>> {
    let [usual, small] = TRIAL_SIDES;
    let on_usual = Trial::run(card, network, arithmetic, usual)?;
    if !on_usual.card_is_faster() {
        return Ok(None);
    }
    let on_small = Trial::run(card, network, arithmetic, small)?;
    let least_area = if on_small.card_is_faster() { 0 } else { small * small + 1 };
    let beside = if on_usual.processor_is_worth_it() { on_usual.beside() } else { Beside::default() };
    Ok(Some((least_area, beside)))
}

/// Times of evaluations on square boards.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// Seconds of one thread of the processor for a position.
    by_processor: f64,
    /// Seconds of the card for a position of a batch.
    by_card: f64,
    /// Number of threads that the processor runs at a time.
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

    /// Returns whether the card takes less time for a batch than all threads of the processor together.
    fn card_is_faster(&self) -> bool {
        self.by_card <= self.by_processor / self.processors as f64
    }

    /// Returns whether the processor adds `LEAST_GAIN` to the card's speed.
    fn processor_is_worth_it(&self) -> bool {
        self.by_card * self.beside().at_once as f64 >= LEAST_GAIN * self.by_processor
    }

    /// Returns the part of the processor: all threads but one, which is left to the descents and to the driver.
    fn beside(&self) -> Beside {
        // Less than nothing and more than a batch can be: a clock may not have moved, and a card may be slow.
        let answered = (self.by_processor / self.by_card).clamp(1.0, 1e6);
        Beside { at_once: self.processors - 1, least_waiting: answered.ceil() as usize }
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
            device: Arc::new(Several::new(cards.into_iter().map(Card::into_device).collect())),
        })
    }

    /// Returns what the card and its driver are called.
    pub(crate) fn description(&self) -> &str {
        &self.description
    }

    /// Returns the name of the card with the programming interface.
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

        /// Opens a card, by default the most promising one, for a network. With `half`, numbers are stored in 16 bits
        /// if the card and the network permit that. `batch` is the largest number of positions of a batch.
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

    /// Returns the folder for compiled shaders and for what has been measured: the one of the environment, or the
    /// system's usual one.
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

    /// Returns the fault that the environment demands.
    fn fault() -> anyhow::Result<Option<Fault>> {
        /// Time of a batch after which a driver that hangs on purpose counts as lost.
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
        // While a thread of the processor evaluates one position, the card evaluates ten.
        let slow = trial(0.040, 0.004);
        assert!(slow.card_is_faster() && slow.processor_is_worth_it());
        assert_eq!(slow.beside(), Beside { at_once: 7, least_waiting: 10 });
        assert!(!trial(0.040, 0.006).card_is_faster());
        assert_eq!(trial(0.0, 0.0).beside().at_once, 7, "a clock that does not move");
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
