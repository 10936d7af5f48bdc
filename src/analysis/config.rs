//! KataGo's configuration: files of `key = value` lines, and what the command line overrides.

use super::parameters;
use super::settings::{Settings, network_with};
use crate::eval::NetworkSettings;
use std::fs;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What is wrong with a configuration.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("Could not read config file {path}: {error}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file includes itself.
    #[error("Config file {0} includes itself")]
    Circle(PathBuf),
    /// A line is no `key = value`.
    #[error("Could not parse '{line}' in config file {path}, line {number}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        number: usize,
        /// The line.
        line: String,
    },
    /// An override is no `key=value`.
    #[error("Could not parse config override '{0}': it must be KEY=VALUE")]
    Override(String),
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

/// Keys that are understood, or of no concern here.
const OTHERS: &[&str] = &[
    "logToStderr",
    "logToStdout",
    "logTimeStamp",
    "logFile",
    "logDir",
    "logDirDated",
    "logAllRequests",
    "logAllResponses",
    "logErrorsAndWarnings",
    "logSearchInfo",
    "logConfigContents",
    "nnCacheSizePowerOfTwo",
    "nnMutexPoolSizePowerOfTwo",
    "nnMaxBatchSize",
    "nnRandomize",
    "nnRandSeed",
    "searchRandSeed",
    "forDeterministicTesting",
    "numNNServerThreadsPerModel",
    "numEigenThreadsPerModel",
    "maxBoardXSizeForNNBuffer",
    "maxBoardYSizeForNNBuffer",
    "maxBoardSizeForNNBuffer",
    "requireMaxBoardSize",
    "homeDataDir",
    "assumeMultipleStartingBlackMovesAreHandicap",
    "inputsUseNHWC",
    "useFP16",
    "useNHWC",
    "nodeTableShardsPowerOfTwo",
    "useEvalCache",
    "evalCacheMinVisits",
];

/// Beginnings of keys for processors that do not matter here.
const DEVICES: &[&str] = &["cuda", "opencl", "trt", "eigen", "metal", "gpu", "deviceToUse", "mux", "onnx"];

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
        self.read_nested(path, &mut Vec::new())
    }

    fn read_nested(&mut self, path: &Path, open: &mut Vec<PathBuf>) -> Result<(), ConfigError> {
        let unreadable = |error| ConfigError::Unreadable { path: path.to_owned(), error };
        let real = path.canonicalize().map_err(unreadable)?;
        if open.contains(&real) {
            return Err(ConfigError::Circle(path.to_owned()));
        }
        let text = fs::read_to_string(path).map_err(unreadable)?;
        open.push(real);
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if let Some(file) = line.strip_prefix("@include") {
                let folder = path.parent().unwrap_or(Path::new(""));
                self.read_nested(&folder.join(file.trim().trim_matches('"')), open)?;
            } else if let Some((key, value)) = line.split_once('=') {
                self.set(key.trim(), value.trim())?;
            } else if !line.is_empty() {
                let line = line.to_owned();
                return Err(ConfigError::Line { path: path.to_owned(), number: index + 1, line });
            }
        }
        open.pop();
        Ok(())
    }

    /// `key=value,key=value`: an empty value leaves the usual one.
    ///
    /// # Errors
    /// If it cannot be read, or a value makes no sense.
    pub fn override_with(&mut self, text: &str) -> Result<(), ConfigError> {
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            let (key, value) = part.split_once('=').ok_or_else(|| ConfigError::Override(part.to_owned()))?;
            self.set(key.trim(), value.trim())?;
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), ConfigError> {
        // Values may stand in quotes.
        let value = value.trim_matches('"');
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
                None if OTHERS.contains(&key) || DEVICES.iter().any(|begin| key.starts_with(begin)) => {}
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
    use crate::board::Color;

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
                    nnMaxBatchSize = 96\n\n@include more.cfg\nmaxVisits = 500\nfooBar = 1\nfooBar = 2\nantiMirror = true\n";
        let more = "maxVisits = 10\nwideRootNoise = \"0.1\"\n";
        let mut config = read(&[("main.cfg", main), ("more.cfg", more)]).unwrap();
        assert_eq!((config.analysis_threads, config.search_threads), (Some(12), Some(8)));
        assert_eq!(config.settings.perspective, Perspective::Of(Color::Black));
        assert_eq!(config.settings.analyst.limits.visits, Some(500));
        assert_eq!(config.settings.analyst.wide_root_noise, 0.1);
        assert_eq!((&config.unused[..], &config.idle[..]), (&["fooBar".to_owned()][..], &["antiMirror"][..]));
        config.override_with("maxVisits=7,homeDataDir=/x,analysisPVLen=3,maxTime=").unwrap();
        assert_eq!((config.settings.analyst.limits.visits, config.variation), (Some(7), 3));
        assert!(config.has("homeDataDir") && !config.has("logDir"));
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
