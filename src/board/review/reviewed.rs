//! A review together with its game.

use super::explain::{MoveFact, facts};
use super::facts::Facts;
use super::main_line::MainLine;
use super::run::Review;
use kosumi_go::sgf::Tree;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A game that has been reviewed, with everything that its files contain.
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
    /// Facts about the worst moves, once they have been requested.
    explanations: OnceLock<BTreeMap<usize, Vec<MoveFact>>>,
}

impl Reviewed {
    /// Combines a review with its game.
    pub fn new(tree: Tree, line: MainLine, review: Review, facts: Facts) -> Reviewed {
        Reviewed { tree, line, review, facts, explanations: OnceLock::new() }
    }

    /// Returns facts about the worst moves, by the step of the move. They are computed when they are requested for the
    /// first time.
    pub fn explanations(&self) -> &BTreeMap<usize, Vec<MoveFact>> {
        self.explanations.get_or_init(|| facts(&self.line, &self.review.judgements, &self.review.worst))
    }
}
