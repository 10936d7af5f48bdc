//! Kosumi's regression suites, in `suites/`. The tests of this crate run them with [`kosumi_tools::regress`].
//!
//! All tests of `suites/basics` must pass. The same suites can be run with any engine:

use kosumi_engine::{Engine, EngineSettings};
use kosumi_eval::NetworkSettings;
use kosumi_net::{ArithmeticChoice, BuiltIn, Kernel, Network, Precision};
use kosumi_tools::commands::Commands;
use kosumi_tools::ranks::RankPart;
use kosumi_tools::regress::{InProcessEngines, Matching, Options, Outcome, Suite, SuiteResult, play};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Returns the suites in a folder below `suites/`, sorted by name.
///
/// # Errors
/// Returns an error if the folder cannot be read.
pub fn files(folder: &str) -> io::Result<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("suites").join(folder);
    let paths = folder.read_dir()?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    let is_suite = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "tst");
    let mut suites: Vec<PathBuf> = paths.into_iter().filter(is_suite).collect();
    suites.sort();
    Ok(suites)
}

/// Evaluation with which Kosumi runs the suites.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Evaluation {
    /// Playouts, with this number per move.
    Playouts(u32),
    /// The small built-in network, with this number of simulations per move.
    Network(u32),
}

/// Tests of `suites/basics` that Kosumi fails with the small built-in network and 60 simulations per move, by suite and
/// number.
pub const NETWORK_FAILURES: &[(&str, &[u32])] = &[("tiny", &[70, 80, 90, 100, 150, 180])];

/// Runs suites with Kosumi. Each engine uses one thread, a fixed number of simulations, and only instructions that
/// every processor has, so that the responses are the same on every machine.
///
/// # Errors
/// Returns a message about the first file that is not a suite, or about the network if it cannot be read.
pub fn play_kosumi(files: &[PathBuf], evaluation: Evaluation) -> Result<Vec<SuiteResult>, String> {
    let suites = files.iter().map(|path| Suite::read(path, Matching::Full)).collect::<Result<Vec<_>, _>>();
    let suites = suites.map_err(|error| error.to_string())?;
    let (network, simulations) = match evaluation {
        Evaluation::Playouts(count) => (None, count),
        Evaluation::Network(count) => {
            (Some(Arc::new(Network::built_in(BuiltIn::Small).map_err(|error| error.to_string())?)), count)
        }
    };
    let arithmetic = ArithmeticChoice { kernel: Some(Kernel::Portable), precision: Some(Precision::F32) };
    let make = move |folder: &Path| {
        let settings = EngineSettings {
            threads: 1,
            memory_mebibytes: 16,
            playouts: Some(simulations),
            network: NetworkSettings { arithmetic, ..NetworkSettings::default() },
            ..EngineSettings::default()
        };
        Commands::new(Engine::with_network(settings, network.clone())).in_folder(folder)
    };
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let options = Options { timeout: Duration::from_secs(60), jobs, whole: false };
    play(&suites, &InProcessEngines { make }, options, RankPart::Alone, &|_, _| {})
        .map_err(|error| error.to_string())
}

/// Returns messages about all results that differ from the suites' expectations and the known failures, including
/// set-up commands that failed.
pub fn surprises(results: &[SuiteResult], known_failures: &[(&str, &[u32])]) -> Vec<String> {
    let mut surprises = Vec::new();
    for suite in results {
        for test in &suite.tests {
            let known = known_failures.iter().find(|(name, _)| *name == suite.name);
            let is_known = known.is_some_and(|(_, tests)| test.number.is_some_and(|it| tests.contains(&it)));
            let is_expected = match test.outcome {
                Outcome::Pass => !is_known,
                Outcome::Fail => is_known,
                Outcome::ExpectedFail | Outcome::Ignored => true,
                _ => false,
            };
            if !is_expected {
                let (name, word, wanted) = (test.name(), test.outcome.label(), test.expectation());
                surprises.push(format!(
                    "{}:{}: {name} {}: {word}: expected {wanted:?}, got {:?}",
                    suite.path, test.line, test.command, test.answer
                ));
            }
        }
        for error in &suite.other_errors {
            surprises.push(format!("{}:{}: {}: {}", suite.path, error.line, error.command, error.message));
        }
    }
    surprises
}
