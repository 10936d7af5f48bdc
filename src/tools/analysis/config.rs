//! Configuration of the analysis engine in the form of KataGo's files.

use super::entries::{self, Entries, EntriesError};
use super::parameters;
use super::settings::{Settings, network_with};
use kosumi_engine::parameters::{Accepted, Kind, Section, Spec, Value, WrongValue};
use kosumi_eval::NetworkSettings;
use std::path::Path;
use thiserror::Error;

/// Error in a configuration.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The text cannot be read.
    #[error(transparent)]
    Entries(#[from] EntriesError),
    /// A value is not valid for its parameter.
    #[error(transparent)]
    Value(#[from] WrongValue),
}

/// Registers a parameter of the process, which queries cannot override.
const fn of_process(name: &'static str, kind: Kind, doc: &'static str) -> Spec {
    Spec::new(name, Section::Limits, kind, doc).accepted(Accepted::ByAnalysisAlone)
}

const ANALYSIS_THREADS: Spec = of_process(
    "numAnalysisThreads",
    Kind::Count(1, 16384),
    "Number of positions that are analysed at the same time.",
);
const VARIATION: Spec =
    of_process("analysisPVLen", Kind::Count(1, 100), "Number of moves of a variation behind the first one.");
const WARNS_UNUSED: Spec =
    of_process("warnUnusedFields", Kind::Flag, "Warns about fields of a query that are not known.");

/// Configuration of the server.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Number of positions that are analysed at the same time; `None` if it is not set.
    pub analysis_threads: Option<usize>,
    /// Settings of a query before its overrides.
    pub settings: Settings,
    /// Maximum number of moves of a variation after its first move.
    pub variation: usize,
    /// Whether unknown fields of a query cause a warning.
    pub warns_unused: bool,
    /// Unknown keys, in the order of the files.
    pub unused: Vec<String>,
    /// Names of parameters that were set although they have no effect on an analysis.
    pub idle: Vec<&'static str>,
    /// All keys that were set. A query may name them without a warning.
    keys: Vec<String>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            analysis_threads: None,
            settings: Settings::default(),
            variation: 15,
            warns_unused: true,
            unused: Vec::new(),
            idle: Vec::new(),
            keys: Vec::new(),
        }
    }
}

impl Config {
    /// Returns the usual configuration, with these settings of the network.
    pub fn new(network: NetworkSettings) -> Config {
        let mut config = Config::default();
        config.settings.engine.network = network_with(network);
        config
    }

    /// Reads a file. Its values override earlier ones.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or if a line or a value is invalid.
    pub fn read_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let mut entries = Entries::default();
        entries.read_file(path)?;
        self.take(&entries)
    }

    /// Reads `key=value,key=value`. An empty value leaves the earlier one in place.
    ///
    /// # Errors
    ///
    /// Returns an error if the text does not have this form, or if a value is invalid.
    pub fn override_with(&mut self, text: &str) -> Result<(), ConfigError> {
        let mut entries = Entries::default();
        entries.override_with(text)?;
        self.take(&entries)
    }

    fn take(&mut self, entries: &Entries) -> Result<(), ConfigError> {
        entries.iter().try_for_each(|(key, value)| self.set(key, value))
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), ConfigError> {
        if ANALYSIS_THREADS.is_called(key) {
            if let Value::Count(threads) = ANALYSIS_THREADS.read(value)? {
                self.analysis_threads = Some(threads as usize);
            }
        } else if VARIATION.is_called(key) {
            if let Value::Count(moves) = VARIATION.read(value)? {
                self.variation = moves as usize;
            }
        } else if WARNS_UNUSED.is_called(key) {
            self.warns_unused = WARNS_UNUSED.read(value)? == Value::Flag(true);
        } else if let Some(parameter) = parameters::find(key) {
            parameter.set(&mut self.settings, value)?;
            if parameter.is_idle() && !self.idle.contains(&parameter.name()) {
                self.idle.push(parameter.name());
            }
        } else if !entries::is_irrelevant(key) && !self.unused.iter().any(|known| known == key) {
            self.unused.push(key.to_owned());
        }
        if !self.keys.iter().any(|known| known == key) {
            self.keys.push(key.to_owned());
        }
        Ok(())
    }

    /// Returns whether this key was set.
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|known| known == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Perspective;
    use kosumi_go::board::Color;
    use std::fs;

    fn read(files: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let folder = tempfile::TempDir::new().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let mut config = Config::default();
        config.read_file(&folder.path().join(files[0].0)).map(|()| config)
    }

    #[test]
    fn files_and_overrides() {
        let main = "# KaTrain's\nreportAnalysisWinratesAs = BLACK # always\nnumAnalysisThreads=12\nnumSearchThreads = 8\n\
                    nnMaxBatchSize = 96\n\n@include more.cfg\nmaxVisits = 500\nfooBar = 1\nfooBar = 2\nantiMirror = true\nchosenMovePrune = 2\n";
        let more = "maxVisits = 10\nwideRootNoise = \"0.1\"\n";
        let mut config = read(&[("main.cfg", main), ("more.cfg", more)]).unwrap();
        assert_eq!((config.analysis_threads, config.settings.engine.threads), (Some(12), 8));
        assert_eq!(config.settings.perspective, Perspective::Of(Color::Black));
        assert_eq!(config.settings.engine.visits, Some(500));
        assert_eq!(config.settings.engine.wide_root_noise, 0.1);
        assert_eq!(
            (&config.unused[..], &config.idle[..]),
            (&["fooBar".to_owned()][..], &["chosenMovePrune"][..])
        );
        config.override_with("maxVisits=7,homeDataDir=/x,analysisPVLen=3,maxTime=").unwrap();
        assert_eq!((config.settings.engine.visits, config.variation), (Some(7), 3));
        assert!(config.has("homeDataDir") && !config.has("logDir"));
        let marked = read(&[
            ("main.cfg", "\u{feff}maxVisits = 3\r\n@include b.cfg\r\n"),
            ("b.cfg", "\u{feff}analysisPVLen=4"),
        ]);
        let marked = marked.unwrap();
        assert_eq!((marked.settings.engine.visits, marked.variation), (Some(3), 4));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (text, wanted) in [
            ("maxVisits", "Could not parse 'maxVisits' in config file"),
            ("maxVisits = x", "maxVisits must be an integer from 1 to 1125899906842624, or none, not 'x'"),
            ("numAnalysisThreads = 0", "numAnalysisThreads must be an integer from 1 to 16384, not '0'"),
            ("@include main.cfg", "includes itself"),
            ("@include missing.cfg", "Could not read"),
            ("warnUnusedFields = 7", "warnUnusedFields must be true or false, not '7'"),
        ] {
            let error = read(&[("main.cfg", text)]).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
        assert!(Config::default().override_with("maxVisits").is_err());
    }
}
