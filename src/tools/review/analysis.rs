//! What is known about a position.

use super::estimate::Estimate;
use kosumi_go::board::{Color, Move, Point};
use kosumi_go::game::Game;
use kosumi_go::score;
use kosumi_search::SearchReport;

/// What is known about a position. Values and scores are Black's.
#[derive(Clone, PartialEq, Debug)]
pub struct Analysis {
    /// Whose turn it is.
    pub to_move: Color,
    /// Simulations behind it; 0 if the game is over and the score a matter of counting.
    pub visits: u32,
    /// Black's win rate, in `[0, 1]`.
    pub win_rate: Estimate,
    /// Black's lead in points, komi included.
    pub score: Estimate,
    /// The moves that were looked at, the most visited first.
    pub candidates: Vec<Candidate>,
    /// Mean owner of every point, row by row from the lower left, in `[-1, 1]`, +1 for Black.
    pub ownership: Vec<f32>,
}

/// A move that a search looked at.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// The move.
    pub mv: Move,
    /// Simulations through it.
    pub visits: u32,
    /// Black's win rate after it.
    pub win_rate: Estimate,
    /// Black's lead after it.
    pub score: Estimate,
    /// The move and the best answers.
    pub variation: Vec<Move>,
}

impl Analysis {
    /// What a search reports.
    pub fn of_report(game: &Game, report: &SearchReport, candidates: usize) -> Analysis {
        let of_value = |value: f32, error: f32| Estimate { mean: (1.0 + value) / 2.0, error: error / 2.0 };
        let scatter = report.score_error * (report.playouts.max(1) as f32).sqrt();
        // Of a move with hardly any visits nothing is known. The most visited one has a visit at least.
        let most = report.most_visits();
        let least = (report.visits / 100).clamp(1, most.max(1));
        let moves = report.moves.iter().filter(|entry| entry.visits >= least).take(candidates);
        Analysis {
            to_move: report.to_move,
            visits: report.visits,
            win_rate: of_value(report.value, report.value_error),
            score: Estimate { mean: report.score, error: report.score_error },
            candidates: moves
                .map(|entry| Candidate {
                    mv: entry.mv,
                    visits: entry.visits,
                    win_rate: of_value(entry.value, entry.value_error),
                    score: Estimate { mean: entry.score, error: scatter / (entry.visits as f32).sqrt() },
                    variation: entry.variation.clone(),
                })
                .collect(),
            ownership: game.size().points().map(|point| report.ownership.mean(point)).collect(),
        }
    }

    /// What the rules say of a game that is over, if every stone on the board counts.
    pub(super) fn counted(game: &Game) -> Analysis {
        let lead = score::area_score(game.board()) as f32 - game.komi() - game.white_bonus();
        let owners = score::area_owner(game.board());
        let win_rate = (1.0 + if lead == 0.0 { 0.0 } else { lead.signum() }) / 2.0;
        let owner = |point: Point| owners[point].map_or(0.0, |owner| owner.sign() as f32);
        Analysis {
            to_move: game.to_move(),
            visits: 0,
            win_rate: Estimate { mean: win_rate, error: 0.0 },
            score: Estimate { mean: lead, error: 0.0 },
            candidates: Vec::new(),
            ownership: game.size().points().map(owner).collect(),
        }
    }

    /// The first choice.
    pub fn best(&self) -> Option<&Candidate> {
        self.candidates.first()
    }
}
