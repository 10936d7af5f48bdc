//! Who says what a position is worth.

use super::analysis::Analysis;
use kosumi_engine::{Engine, SearchRequest};
use kosumi_go::game::Game;
use kosumi_search::Limits;

/// Who says what a position is worth.
pub trait Analyst {
    /// Searches a position for the player on turn.
    fn analyze(&mut self, game: &Game) -> Analysis;

    /// Does so once more, with other random numbers and without what earlier searches have learned.
    fn analyze_afresh(&mut self, game: &Game) -> Analysis;

    /// Should the review end here, with what is known? What was being searched when this became true does not count.
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// The engine as analyst.
pub struct EngineAnalyst<'a> {
    /// The engine.
    pub engine: &'a mut Engine,
    /// How long each position is searched.
    pub limits: Limits,
    /// How many candidates are kept.
    pub candidates: usize,
    /// Asked now and then; true ends the search and the review.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
}

impl std::fmt::Debug for EngineAnalyst<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineAnalyst").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Analyst for EngineAnalyst<'_> {
    fn analyze(&mut self, game: &Game) -> Analysis {
        if game.is_over() && !game.rules().friendly_pass {
            return Analysis::counted(game);
        }
        self.engine.set_game(game.clone());
        let to_move = self.engine.game().to_move();
        let report = self.engine.analyze(to_move, &self.limits, SearchRequest::new(self.interrupted));
        Analysis::of_report(game, report, self.candidates)
    }

    fn analyze_afresh(&mut self, game: &Game) -> Analysis {
        self.engine.forget();
        self.engine.set_seed(self.engine.seed().wrapping_add(1));
        self.analyze(game)
    }

    fn is_interrupted(&self) -> bool {
        (self.interrupted)()
    }
}
