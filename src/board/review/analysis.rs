//! Review of a position: its win rate, lead and candidates.

use super::estimate::Estimate;
use kosumi_go::board::{Color, Move, Point};
use kosumi_go::game::Game;
use kosumi_search;

/// Review of a position: the part of a search's [analysis](kosumi_search::Analysis) that is stored for every position
/// of a game. Reviews of games widen its errors by the scatter of searches. Values and scores are Black's.
#[derive(Clone, PartialEq, Debug)]
pub struct PositionReview {
    /// Side to move.
    pub to_move: Color,
    /// Visits of the position; 0 if the game is over and the score was counted.
    pub visits: u32,
    /// Black's win rate, in `[0, 1]`.
    pub win_rate: Estimate,
    /// Black's lead in points, komi included.
    pub score: Estimate,
    /// Searched moves, the best first.
    pub candidates: Vec<Candidate>,
    /// Mean owner of every point, row by row from the lower left, in `[-1, 1]`, where 1 is Black.
    pub ownership: Vec<f32>,
}

/// Searched move.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// The move.
    pub mv: Move,
    /// Visits through the move.
    pub visits: u32,
    /// Black's win rate after the move.
    pub win_rate: Estimate,
    /// Black's lead after the move.
    pub score: Estimate,
    /// The move and the best replies.
    pub variation: Vec<Move>,
}

fn win_rate(of: &kosumi_search::Expectation) -> Estimate {
    Estimate { mean: of.win_rate, error: of.win_rate_error }
}

fn score(of: &kosumi_search::Expectation) -> Estimate {
    Estimate { mean: of.lead, error: of.lead_error }
}

impl PositionReview {
    /// Makes the review of a position from a search's analysis, with at most this number of candidates.
    pub fn new(analysis: kosumi_search::Analysis, candidates: usize) -> PositionReview {
        let kosumi_search::Analysis { to_move, visits, root, moves, .. } = analysis.seen_by(Color::Black);
        // A move with hardly any visits gives no information. The most visited move has at least one visit.
        let most = moves.iter().map(|entry| entry.edge_visits).max().unwrap_or(0);
        let least = (visits / 100).clamp(1, most.max(1));
        let kept = moves.into_iter().filter(|entry| entry.edge_visits >= least).take(candidates);
        PositionReview {
            to_move,
            visits,
            win_rate: win_rate(&root),
            score: score(&root),
            candidates: kept
                .map(|entry| Candidate {
                    mv: entry.mv,
                    visits: entry.edge_visits,
                    win_rate: win_rate(&entry.expectation),
                    score: score(&entry.expectation),
                    variation: entry.variation,
                })
                .collect(),
            ownership: root.owners.map(|owners| owners.mean).unwrap_or_default(),
        }
    }

    /// Reviews a finished game in which every stone on the board counts.
    pub(crate) fn counted(game: &Game) -> PositionReview {
        let lead = kosumi_go::score::area_score(game.board()) as f32 - game.komi() - game.white_bonus();
        let owners = kosumi_go::score::area_owner(game.board());
        let win_rate = (1.0 + if lead == 0.0 { 0.0 } else { lead.signum() }) / 2.0;
        let owner = |point: Point| owners[point].map_or(0.0, |owner| owner.sign() as f32);
        PositionReview {
            to_move: game.to_move(),
            visits: 0,
            win_rate: Estimate { mean: win_rate, error: 0.0 },
            score: Estimate { mean: lead, error: 0.0 },
            candidates: Vec::new(),
            ownership: game.size().points().map(owner).collect(),
        }
    }

    /// Returns the first choice, if there are candidates.
    pub fn best(&self) -> Option<&Candidate> {
        self.candidates.first()
    }
}
