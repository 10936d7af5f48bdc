//! A review with the game that it is of.

use super::facts::Facts;
use super::main_line::MainLine;
use super::run::Review;
use kosumi_go::sgf::Tree;

/// A game that has been reviewed, and everything that the files are made of.
#[derive(Clone, Debug)]
pub struct Reviewed {
    /// The record, with its variations.
    pub tree: Tree,
    /// Its main line.
    pub line: MainLine,
    /// What was found.
    pub review: Review,
    /// What else is told.
    pub facts: Facts,
}
