//! Parser of KataGo's configurations: files of `key = value` lines, and overrides on the command line.

use crate::files::read_text;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Maximum size of a file, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Error in a configuration.
#[derive(Debug, Error)]
pub enum EntriesError {
    /// A file cannot be read.
    #[error("Could not read config file {path}: {error}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// A file includes itself.
    #[error("Config file {0} includes itself")]
    Circle(PathBuf),
    /// A line is not `key = value`.
    #[error("Could not parse '{line}' in config file {path}, line {number}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        number: usize,
        /// The line.
        line: String,
    },
    /// An override is not `key=value`.
    #[error("Could not parse config override '{0}': it must be KEY=VALUE")]
    Override(String),
}

/// Keys and values in the order of the text. If a key occurs twice, the later entry counts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Entries(Vec<(String, String)>);

impl Entries {
    /// Returns all keys with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Adds the entries of a file and of the files that it includes.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read or includes itself, or if a line is malformed.
    pub fn read_file(&mut self, path: &Path) -> Result<(), EntriesError> {
        self.read_nested(path, &mut Vec::new())
    }

    fn read_nested(&mut self, path: &Path, open: &mut Vec<PathBuf>) -> Result<(), EntriesError> {
        let unreadable = |error| EntriesError::Unreadable { path: path.to_owned(), error };
        let real = path.canonicalize().map_err(unreadable)?;
        if open.contains(&real) {
            return Err(EntriesError::Circle(path.to_owned()));
        }
        let text = read_text(path, MAX_FILE_BYTES).map_err(unreadable)?;
        open.push(real);
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if let Some(file) = line.strip_prefix("@include") {
                let folder = path.parent().unwrap_or(Path::new(""));
                self.read_nested(&folder.join(file.trim().trim_matches('"')), open)?;
            } else if let Some((key, value)) = line.split_once('=') {
                self.add(key, value);
            } else if !line.is_empty() {
                let line = line.to_owned();
                return Err(EntriesError::Line { path: path.to_owned(), number: index + 1, line });
            }
        }
        open.pop();
        Ok(())
    }

    /// Adds the entries of `key=value,key=value`.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is malformed.
    pub fn override_with(&mut self, text: &str) -> Result<(), EntriesError> {
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            let (key, value) = part.split_once('=').ok_or_else(|| EntriesError::Override(part.to_owned()))?;
            self.add(key, value);
        }
        Ok(())
    }

    fn add(&mut self, key: &str, value: &str) {
        // Values may be quoted.
        self.0.push((key.trim().to_owned(), value.trim().trim_matches('"').to_owned()));
    }
}

/// Keys of logs, caches and processors, which are accepted but have no effect.
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

/// Prefixes of keys for processors, which are accepted but have no effect.
const DEVICES: &[&str] = &["cuda", "opencl", "trt", "eigen", "metal", "gpu", "deviceToUse", "mux", "onnx"];

/// Returns whether a key is about logs, caches or processors. Such keys are accepted but have no effect.
pub fn is_irrelevant(key: &str) -> bool {
    OTHERS.contains(&key) || DEVICES.iter().any(|begin| key.starts_with(begin))
}
