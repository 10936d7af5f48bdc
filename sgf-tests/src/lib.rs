//! Kosumi's regression suites, in `suites/`; the tests of this package play them with [`kosumi::regress`].
//!
//! `suites/basics` must pass as a whole. The same suites can be given to any engine:
//! `kosumi regress --engine "gnugo --mode gtp" sgf-tests/suites/basics/*.tst`.

use kosumi::commands::Commands;
use kosumi::engine::{Engine, EngineSettings};
use kosumi::regress::{Matching, Options, Outcome, Suite, SuiteResult, Threads, play};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The suites in a folder below `suites/`, by name.
///
/// # Errors
/// If the folder cannot be read.
pub fn files(folder: &str) -> io::Result<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("suites").join(folder);
    let paths = folder.read_dir()?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    let is_suite = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "tst");
    let mut suites: Vec<PathBuf> = paths.into_iter().filter(is_suite).collect();
    suites.sort();
    Ok(suites)
}

/// Plays suites with Kosumi: one thread each, and a fixed number of playouts, so that answers repeat.
///
/// # Errors
/// The first file that is no suite, in words.
pub fn play_kosumi(files: &[PathBuf], playouts: u32) -> Result<Vec<SuiteResult>, String> {
    let suites = files.iter().map(|path| Suite::read(path, Matching::Full)).collect::<Result<Vec<_>, _>>();
    let suites = suites.map_err(|error| error.to_string())?;
    let make = move |folder: &Path| {
        let settings = EngineSettings {
            threads: 1,
            memory_mebibytes: 16,
            playouts: Some(playouts),
            ..EngineSettings::default()
        };
        Commands::new(Engine::new(settings)).in_folder(folder)
    };
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let options = Options { timeout: Duration::from_secs(60), jobs, whole: false };
    Ok(play(&suites, &Threads { make }, options, &|_, _| {}))
}

/// What was not as the suites expect it, in words; set-up that was refused included.
pub fn surprises(results: &[SuiteResult]) -> Vec<String> {
    let mut surprises = Vec::new();
    for suite in results {
        for test in &suite.tests {
            if !matches!(test.outcome, Outcome::Pass | Outcome::ExpectedFail | Outcome::Ignored) {
                let (name, word, wanted) = (test.name(), test.outcome.word(), test.expectation());
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
