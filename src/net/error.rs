//! What can be wrong with a network file.

use super::model::{NEWEST_VERSION, OLDEST_VERSION};
use std::io;
use thiserror::Error;

/// Why a network could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file could not be read or unpacked.
    #[error("cannot read the file")]
    Io(#[source] io::Error),
    /// The beginning is not that of a network in KataGo's format.
    #[error("not a network in KataGo's format: {0}")]
    Foreign(&'static str),
    /// A network, but of a version that is not known here.
    #[error("the network is of version {0}; versions {OLDEST_VERSION} to {NEWEST_VERSION} can be used")]
    Version(u64),
    /// A network that is broken, or that needs what is not known here.
    #[error("{layer}, at byte {offset} of the unpacked file: {kind}")]
    At {
        /// The layer that was being read, by its name in the file or, before that is known, by its role.
        layer: String,
        /// Where, in bytes of the unpacked file.
        offset: u64,
        /// What is wrong.
        kind: ErrorKind,
    },
}

/// What is wrong at some place of a network file.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum ErrorKind {
    /// Nothing more comes.
    #[error("the file ends too early")]
    End,
    /// More comes behind the network.
    #[error("there is more in the file behind the end of the network")]
    Trailing,
    /// The unpacked file does not consist of words where words must be.
    #[error("no word of at most {0} printable characters")]
    Word(usize),
    /// The word is no number of the right kind.
    #[error("{what}: \"{word}\" is not {wanted}")]
    Number {
        /// The role of the number.
        what: &'static str,
        /// What stands there.
        word: String,
        /// What should stand there.
        wanted: &'static str,
    },
    /// A number that is none of those that are possible here.
    #[error("{what}: {found}, but from {least} to {most} is possible")]
    Range {
        /// The role of the number.
        what: &'static str,
        /// What stands there.
        found: u64,
        /// The least possible.
        least: u64,
        /// The most possible.
        most: u64,
    },
    /// Two layers that do not fit.
    #[error("{what}: {found}, where the layers around it need {wanted}")]
    Mismatch {
        /// The role of the number.
        what: &'static str,
        /// What stands there.
        found: usize,
        /// What should stand there.
        wanted: usize,
    },
    /// A block of a kind that is not known here.
    #[error("blocks of the kind \"{0}\" are not supported")]
    Block(String),
    /// An activation that is not known here.
    #[error("the activation \"{0}\" is not supported")]
    Activation(String),
    /// Something that only some networks have and that is not known here.
    #[error("{what} {value} is not supported")]
    Option {
        /// What it is.
        what: &'static str,
        /// Its number in the file.
        value: u64,
    },
    /// The weights do not begin as they do elsewhere in the file.
    #[error("no weights where they should begin")]
    NoWeights,
    /// A weight that is infinite or not a number, or normalisation with a result that is.
    #[error("a weight is infinite or not a number")]
    NotFinite,
    /// More than any network has.
    #[error("more than {0} numbers in all")]
    TooLarge(usize),
    /// Blocks inside blocks inside blocks.
    #[error("blocks are nested more than {0} deep")]
    TooDeep(usize),
}
