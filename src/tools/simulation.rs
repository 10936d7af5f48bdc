//! Tools that all simulations share: seeds, virtual time, and counts of events.
//!
//! A simulation runs code of this crate in one thread, without processes, clocks and files. Everything around the code
//! follows from a seed: a disk that fails and loses power ([`SimulatedDisk`](crate::files::SimulatedDisk)), engines,
//! pipes, and the order in which workers proceed. The simulation checks guarantees of the whole, and a seed that
//! violates one of them does so again on every machine. The simulations are next to the code that they run:
//! `matches::simulation`, `selfplay::simulation`, `session::autosave::simulation`, `review_folder::simulation`,
//! `analysis::server::simulation`, `browser::simulation`, `commands::simulation`, and the test of `files::line_log`.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, SystemTime};

/// Environment variable with the seeds to run: `17`, or `100..200`.
const SEEDS: &str = "KOSUMI_SEEDS";

thread_local! {
    static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Returns the virtual time of this thread.
pub(crate) fn now() -> Duration {
    NOW.get()
}

/// Sets the virtual time of this thread.
pub(crate) fn set_now(time: Duration) {
    NOW.set(time);
}

/// Advances the virtual time of this thread.
pub(crate) fn pass(time: Duration) {
    NOW.set(NOW.get() + time);
}

/// Returns the virtual date.
pub(crate) fn date() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000) + now()
}

/// Counts of events, by name. A test uses them to make sure that the events that it is about did happen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counts(BTreeMap<&'static str, u64>);

impl Counts {
    pub(crate) fn add(&mut self, what: &'static str, count: u64) {
        *self.0.entry(what).or_default() += count;
    }

    pub(crate) fn of(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or_default()
    }
}

/// Runs a simulation with each seed below `few`, or with those of `KOSUMI_SEEDS`. `test` is the path of the calling
/// test. Returns the sums of the counts, or `None` if `KOSUMI_SEEDS` is set.
///
/// # Panics
///
/// Panics if a simulation panics, with the seed and the command that repeats it.
pub(crate) fn run_seeds(test: &str, few: u64, simulate: impl Fn(u64, &mut Counts)) -> Option<Counts> {
    let chosen = std::env::var(SEEDS).ok();
    let seeds =
        chosen.as_deref().map_or(0..few, |text| parse(text).expect("KOSUMI_SEEDS is SEED or FIRST..END"));
    let mut counts = Counts::default();
    for seed in seeds.clone() {
        set_now(Duration::ZERO);
        let result = catch_unwind(AssertUnwindSafe(|| simulate(seed, &mut counts)));
        assert!(
            result.is_ok(),
            "seed {seed} fails; repeat it with\n  {SEEDS}={seed} cargo test -p kosumi-tools --profile checked --lib -- {test}"
        );
    }
    #[expect(clippy::print_stdout, reason = "what a long run did")]
    if chosen.is_some() {
        println!("{} seeds: {counts:?}", seeds.end - seeds.start);
    }
    chosen.is_none().then_some(counts)
}

fn parse(text: &str) -> Option<Range<u64>> {
    match text.split_once("..") {
        Some((first, end)) => Some(first.parse().ok()?..end.parse().ok()?),
        None => text.parse().ok().map(|seed| seed..seed + 1),
    }
}

#[test]
fn seeds_are_read() {
    assert_eq!(parse("17"), Some(17..18));
    assert_eq!(parse("5..9"), Some(5..9));
    assert_eq!((parse(""), parse("x..2")), (None, None));
}
