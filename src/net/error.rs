//! Errors of reading a network file.

use super::model::{NEWEST_VERSION, OLDEST_VERSION};
use std::io;
use thiserror::Error;

/// Reason why a network could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file could not be read or decompressed.
    #[error("cannot read the file")]
    Io(#[source] io::Error),
    /// The file does not begin as a network in KataGo's format does.
    #[error("not a network in KataGo's format: {0}")]
    Foreign(&'static str),
    /// The file is a network of an unsupported version.
    #[error("the network has version {0}; versions {OLDEST_VERSION} to {NEWEST_VERSION} are supported")]
    Version(u64),
    /// The network is malformed or uses an unsupported feature.
    #[error("{layer}, at byte {offset} of the decompressed file: {kind}")]
    At {
        /// Layer that was being read: its name in the file or, before the name is known, its role.
        layer: String,
        /// Offset of the error, in bytes of the decompressed file.
        offset: u64,
        /// Kind of the error.
        kind: ErrorKind,
    },
}

/// Kind of error at a given offset of a network file.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum ErrorKind {
    /// The file ends too early.
    #[error("the file ends too early")]
    End,
    /// The file goes on after the end of the network.
    #[error("the file continues after the end of the network")]
    Trailing,
    /// The decompressed file has no valid word where one must be.
    #[error("expected a word of at most {0} printable characters")]
    Word(usize),
    /// A word is not a number of the required kind.
    #[error("{what}: \"{word}\" is not {expected}")]
    Number {
        /// Role of the number.
        what: &'static str,
        /// Word in the file.
        word: String,
        /// Description of the required number.
        expected: &'static str,
    },
    /// A number is outside its range.
    #[error("{what}: {found} is outside the range from {least} to {most}")]
    Range {
        /// Role of the number.
        what: &'static str,
        /// Number in the file.
        found: u64,
        /// Smallest permitted value.
        least: u64,
        /// Largest permitted value.
        most: u64,
    },
    /// The dimensions of two layers do not match.
    #[error("{what}: {found}, but the neighbouring layers need {expected}")]
    Mismatch {
        /// Role of the number.
        what: &'static str,
        /// Number in the file.
        found: usize,
        /// Number that the neighbouring layers require.
        expected: usize,
    },
    /// A block is of an unsupported kind.
    #[error("blocks of the kind \"{0}\" are not supported")]
    Block(String),
    /// An activation is unsupported.
    #[error("the activation \"{0}\" is not supported")]
    Activation(String),
    /// An optional feature of the format is unsupported.
    #[error("{what} {value} is not supported")]
    Option {
        /// Description of the feature.
        what: &'static str,
        /// Value of the feature in the file.
        value: u64,
    },
    /// A block of weights does not begin with the encoding used elsewhere in the file, or with one that is allowed
    /// here.
    #[error("expected the beginning of a block of weights")]
    NoWeights,
    /// A weight is infinite or NaN, or the folded factors of a normalisation are.
    #[error("a weight is infinite or NaN")]
    NotFinite,
    /// A scale of integers is negative, infinite or NaN, or too large.
    #[error("a scale is not a number from zero to the limit")]
    Scale,
    /// The checksum of a part of a file of 8 bits does not match.
    #[error("the checksum of {0} does not match: the file is damaged")]
    Checksum(&'static str),
    /// A file of 8 bits has another version.
    #[error("the file of 8 bits has version {found}; version {supported} is supported")]
    FileVersion {
        /// Version of the file.
        found: u32,
        /// Version that is supported.
        supported: u32,
    },
    /// The network has more weights than this limit.
    #[error("the network has more than {0} weights")]
    TooLarge(usize),
    /// The network would take more memory than this limit, in MiB, when it is prepared.
    #[error("the network would take more than {0} MiB of memory, too much for a file of its size")]
    Memory(usize),
    /// Blocks are nested more deeply than this limit.
    #[error("blocks are nested more than {0} levels deep")]
    TooDeep(usize),
}

/// Returns the kind of an error at an offset, for tests.
///
/// # Panics
///
/// Panics if there is no such error.
#[cfg(test)]
pub(crate) fn kind<T: std::fmt::Debug>(result: Result<T, ReadError>) -> ErrorKind {
    match result {
        Err(ReadError::At { kind, .. }) => kind,
        other => panic!("{other:?}"),
    }
}
