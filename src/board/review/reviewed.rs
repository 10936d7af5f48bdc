//! A review together with its game.

use super::explain::{MoveFact, facts};
use super::facts::Facts;
use super::main_line::MainLine;
use super::run::Review;
use kosumi_go::sgf::Tree;
use std::collections::BTreeMap;

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

impl Reviewed {
    /// Returns facts about the worst moves, by the step of the move.
    pub fn explanations(&self) -> BTreeMap<usize, Vec<MoveFact>> {
        facts(&self.line, &self.review.judgements, &self.review.worst)
    }
}
