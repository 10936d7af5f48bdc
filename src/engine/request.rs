//! Requests to an engine, and its decisions.

use kosumi_go::board::Move;
use kosumi_go::game::Game;
use kosumi_search::{Detail, Restriction, RootNoise, SearchReport};
use std::fmt;
use std::time::Duration;

/// Request for a search, without its limits.
pub struct SearchRequest<'a> {
    /// Polled during the search. Returning true ends the search at once.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
    /// Moves that the search must not consider.
    pub restriction: Restriction,
    /// Noise on the root's probabilities, for games that serve as training data.
    pub noise: Option<RootNoise>,
    /// Contents of reports besides the statistics of the search.
    pub detail: Detail,
    /// Whether a network evaluates the position itself first, which counts as a visit. Analyses request this. A search
    /// for a move has better uses for a visit.
    pub evaluates_root: bool,
    /// Receiver of reports while the search runs.
    pub observer: Option<SearchObserver<'a>>,
}

/// Receives reports of a search while it runs.
pub struct SearchObserver<'a> {
    /// Interval between reports.
    pub every: Duration,
    /// Called with the game and the current report, on the thread that requested the search.
    pub on_report: &'a mut dyn FnMut(&Game, &SearchReport),
}

impl<'a> SearchRequest<'a> {
    /// Creates a request for an analysis, in which visits are counted as in KataGo.
    pub fn analysis(interrupted: &'a (dyn Fn() -> bool + Sync), detail: Detail) -> SearchRequest<'a> {
        SearchRequest { detail, evaluates_root: true, ..SearchRequest::new(interrupted) }
    }

    /// Creates a request without an observer in which every move may be searched.
    pub fn new(interrupted: &'a (dyn Fn() -> bool + Sync)) -> SearchRequest<'a> {
        SearchRequest {
            interrupted,
            restriction: Restriction::NONE,
            noise: None,
            detail: Detail::default(),
            evaluates_root: false,
            observer: None,
        }
    }
}

impl fmt::Debug for SearchRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchRequest").field("restriction", &self.restriction).finish_non_exhaustive()
    }
}

impl fmt::Debug for SearchObserver<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").field("every", &self.every).finish_non_exhaustive()
    }
}

/// Decision of the engine about its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Play this move.
    Play(Move),
    /// Resign the game.
    Resign,
}
