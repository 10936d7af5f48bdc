//! A review together with its game.

use super::facts::Facts;
use super::main_line::MainLine;
use super::run::Review;
use kosumi_go::sgf::Tree;

/// A game that has been reviewed, with all that its files contain.
#[derive(Clone, Debug)]
pub struct Reviewed {
    /// The record, with its variations.
    pub tree: Tree,
    /// Its main line.
    pub line: MainLine,
    /// The review.
    pub review: Review,
    /// Facts about game and search.
    pub facts: Facts,
}
