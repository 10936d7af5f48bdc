//! Sources of the analyses of a review.

use super::analysis::PositionReview;
use kosumi_engine::{Engine, SearchRequest};
use kosumi_go::game::Game;
use kosumi_search::{Detail, Extras, Limits};

/// Source of analyses: the engine, or a table in tests.
pub trait Analyst {
    /// Analyses a position for the side to move.
    fn analyze(&mut self, game: &Game) -> PositionReview;

    /// Analyses a position once more, with other random numbers and without the statistics of earlier searches.
    fn analyze_afresh(&mut self, game: &Game) -> PositionReview;

    /// Returns whether the review must end now, with the results so far. An analysis during which this becomes true
    /// does not count.
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// The engine as an analyst.
pub struct EngineAnalyst<'a> {
    /// The engine.
    pub engine: &'a mut Engine,
    /// Limits of the search of each position.
    pub limits: Limits,
    /// Number of candidates that are kept.
    pub candidates: usize,
    /// Polled during the search. Returning true ends the search and the review.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
}

impl std::fmt::Debug for EngineAnalyst<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineAnalyst").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Analyst for EngineAnalyst<'_> {
    fn analyze(&mut self, game: &Game) -> PositionReview {
        if game.is_over() && !game.rules().friendly_pass {
            return PositionReview::counted(game);
        }
        self.engine.set_game(game.clone());
        let to_move = self.engine.game().to_move();
        let detail = Detail { ownership: true, ..Detail::default() };
        let request = SearchRequest::analysis(self.interrupted, detail);
        let report = self.engine.analyze(to_move, &self.limits, request);
        PositionReview::new(kosumi_search::Analysis::new(report, &Extras::default()), self.candidates)
    }

    fn analyze_afresh(&mut self, game: &Game) -> PositionReview {
        self.engine.forget();
        self.engine.set_seed(self.engine.seed().wrapping_add(1));
        self.analyze(game)
    }

    fn is_interrupted(&self) -> bool {
        (self.interrupted)()
    }
}
