//! Reviews of the game in the background.

use super::{Host, ReviewState, TableSession};
use crate::play::table::Refusal;
use crate::review::{self, EngineAnalyst, Facts, MainLine, ReviewParameters, Reviewed, Scope};
use kosumi_engine::Engine;
use kosumi_go::sgf::{Record, Tree};
use kosumi_search::Limits;
use serde_json::{Value, json};

/// Number of simulations for each position of a review, by the engine that plays at the levels.
const REVIEW_PLAYOUTS: u32 = 40;
/// Number of candidates of each position of a review.
const REVIEW_CANDIDATES: usize = 6;

impl<H: Host> TableSession<H> {
    /// Handles the progress of the review with this number: positions done and total.
    pub fn handle_review_progress(&mut self, number: u64, done: usize, total: usize) {
        if self.is_reviewing(number) {
            self.set_review(ReviewState::Running(done, total));
        }
    }

    /// Returns whether the review with this number belongs to the game on the table.
    pub fn is_reviewing(&self, number: u64) -> bool {
        number == self.review_number
    }

    /// Handles the end of the review with this number. If it `has_succeeded`, the host has its page.
    pub fn handle_review_end(&mut self, number: u64, has_succeeded: bool) {
        if !self.is_reviewing(number) {
            return;
        }
        if has_succeeded {
            self.set_review(ReviewState::Done);
            return;
        }
        self.end_review();
        let text = "the review has failed";
        self.host.send_to_all(&json!({ "is": "trouble", "engine": "Kosumi", "text": text }));
    }

    pub(super) fn set_review(&mut self, review: ReviewState) {
        self.review = review;
        self.host.send_to_all(&json!({ "is": "review", "review": self.review_value() }));
    }

    /// Returns the state of the review for pages: null without one, a list of positions done and total while it runs,
    /// or true when it is done.
    pub(super) fn review_value(&self) -> Value {
        match self.review {
            ReviewState::None => Value::Null,
            ReviewState::Running(done, total) => json!([done, total]),
            ReviewState::Done => true.into(),
        }
    }

    /// Discards the review because the game has changed, and ends it if it is running.
    pub(super) fn end_review(&mut self) {
        self.review_number += 1;
        self.host.end_review();
        if self.review != ReviewState::None {
            self.set_review(ReviewState::None);
        }
    }

    /// Starts a review of the game.
    pub(super) fn start_review(&mut self) -> Result<(), Refusal> {
        let tree = self.table.tree();
        if self.review != ReviewState::None || tree.children(tree.root()).is_empty() {
            return Err(Refusal::NotNow);
        }
        let record = self.record();
        if !self.host.start_review(self.review_number, record) {
            return Err(Refusal::NotNow);
        }
        self.set_review(ReviewState::Running(0, 1));
        Ok(())
    }
}

/// Reviews a record with an engine for the [levels](crate::play::EnginePurpose::Level). Returns `None` if the review
/// was ended early or if the record has no moves.
pub fn review_record(
    bytes: &[u8],
    engine: &mut Engine,
    interrupted: &(dyn Fn() -> bool + Sync),
    progress: &mut dyn FnMut(usize, usize),
) -> Option<Reviewed> {
    let (record, tree) = (Record::parse(bytes).ok()?, Tree::parse(bytes).ok()?);
    let rules = record.rules().unwrap_or_default();
    let line = MainLine::of_record(&record, rules, record.komi_under(rules)).ok()?;
    let limits = Limits::playouts(REVIEW_PLAYOUTS);
    let scope = Scope::default();
    let parameters = ReviewParameters { limits, seed: engine.seed(), scope, are_rules_given: false };
    let facts = Facts::new(&tree, &record, &line, &parameters);
    let mut analyst = EngineAnalyst { engine, limits, candidates: REVIEW_CANDIDATES, interrupted };
    let review = review::review(&line, &scope, &mut analyst, progress);
    (!interrupted()).then(|| Reviewed::new(tree, line, review, facts))
}
