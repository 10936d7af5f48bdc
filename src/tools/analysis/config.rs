//! How the server works, by KataGo's configuration.

use super::entries::{self, Entries, EntriesError};
use super::parameters;
use super::settings::{Settings, network_with};
use kosumi_eval::NetworkSettings;
use std::path::Path;
use thiserror::Error;

/// What is wrong with a configuration.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// Its text.
    #[error(transparent)]
    Entries(#[from] EntriesError),
    /// A value makes no sense.
    #[error("{0}")]
    Value(String),
}

/// How the server works.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Positions that are analysed at the same time; `None` if nobody said.
    pub analysis_threads: Option<usize>,
    /// Threads in one search, at most; `None` if nobody said.
    pub search_threads: Option<usize>,
    /// What queries begin with.
    pub settings: Settings,
    /// Moves of a variation behind the first one.
    pub variation: usize,
    /// Warn about fields of a query that nobody knows?
    pub warns_unused: bool,
    /// Keys that nobody knows, in the order in which they were met.
    pub unused: Vec<String>,
    /// Parameters that were set and change nothing here.
    pub idle: Vec<&'static str>,
    /// All keys that were set: a query may name them.
    keys: Vec<String>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            analysis_threads: None,
            search_threads: None,
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
    /// The usual configuration with a network that is asked like this.
    pub fn new(network: NetworkSettings) -> Config {
        let mut config = Config::default();
        config.settings.analyst.network = network_with(network);
        config
    }

    /// Reads a file; what it says counts from here on.
    ///
    /// # Errors
    /// If it cannot be read, or a line or a value makes no sense.
    pub fn read_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let mut entries = Entries::default();
        entries.read_file(path)?;
        self.take(&entries)
    }

    /// `key=value,key=value`: an empty value leaves the usual one.
    ///
    /// # Errors
    /// If it cannot be read, or a value makes no sense.
    pub fn override_with(&mut self, text: &str) -> Result<(), ConfigError> {
        let mut entries = Entries::default();
        entries.override_with(text)?;
        self.take(&entries)
    }

    fn take(&mut self, entries: &Entries) -> Result<(), ConfigError> {
        entries.iter().try_for_each(|(key, value)| self.set(key, value))
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), ConfigError> {
        let count = |most: usize| {
            let number = value.parse().ok().filter(|number| (1..=most).contains(number));
            number.ok_or_else(|| {
                ConfigError::Value(format!(
                    "Key '{key}' must be an integer in the range 1 to {most}, not '{value}'"
                ))
            })
        };
        match key {
            "numAnalysisThreads" => self.analysis_threads = Some(count(16384)?),
            "numSearchThreads" | "numSearchThreadsPerAnalysisThread" => {
                self.search_threads = Some(count(4096)?);
            }
            "analysisPVLen" => self.variation = count(100)?,
            "warnUnusedFields" => {
                self.warns_unused = value.to_ascii_lowercase().parse().map_err(|_| {
                    ConfigError::Value(format!("Could not parse '{value}' as bool for key '{key}'"))
                })?;
            }
            _ => match parameters::find(key) {
                Some(parameter) => {
                    parameter.set(&mut self.settings, value).map_err(ConfigError::Value)?;
                    if parameter.is_idle() && !self.idle.contains(&parameter.name) {
                        self.idle.push(parameter.name);
                    }
                }
                None if entries::is_of_no_concern(key) => {}
                None if self.unused.iter().any(|known| known == key) => {}
                None => self.unused.push(key.to_owned()),
            },
        }
        if !self.keys.iter().any(|known| known == key) {
            self.keys.push(key.to_owned());
        }
        Ok(())
    }

    /// Was this key set? Queries may then name it without a warning.
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
        assert_eq!((config.analysis_threads, config.search_threads), (Some(12), Some(8)));
        assert_eq!(config.settings.perspective, Perspective::Of(Color::Black));
        assert_eq!(config.settings.analyst.limits.visits, Some(500));
        assert_eq!(config.settings.analyst.wide_root_noise, 0.1);
        assert_eq!(
            (&config.unused[..], &config.idle[..]),
            (&["fooBar".to_owned()][..], &["chosenMovePrune"][..])
        );
        config.override_with("maxVisits=7,homeDataDir=/x,analysisPVLen=3,maxTime=").unwrap();
        assert_eq!((config.settings.analyst.limits.visits, config.variation), (Some(7), 3));
        assert!(config.has("homeDataDir") && !config.has("logDir"));
        let marked = read(&[
            ("main.cfg", "\u{feff}maxVisits = 3\r\n@include b.cfg\r\n"),
            ("b.cfg", "\u{feff}analysisPVLen=4"),
        ]);
        let marked = marked.unwrap();
        assert_eq!((marked.settings.analyst.limits.visits, marked.variation), (Some(3), 4));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (text, wanted) in [
            ("maxVisits", "Could not parse 'maxVisits' in config file"),
            ("maxVisits = x", "as int64_t for key 'maxVisits'"),
            ("numAnalysisThreads = 0", "in the range 1 to 16384"),
            ("@include main.cfg", "includes itself"),
            ("@include missing.cfg", "Could not read"),
            ("warnUnusedFields = 7", "as bool"),
        ] {
            let error = read(&[("main.cfg", text)]).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
        assert!(Config::default().override_with("maxVisits").is_err());
    }
}
