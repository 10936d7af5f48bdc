//! Analysis of a position: the numbers that every protocol reports.
//!
//! [`Analysis::new`] makes an analysis from the report of a search. GTP, the JSON protocol, reviews, the browser and
//! the log print from it and compute nothing of their own. [`Analysis::seen_by`] is the only change of perspective.
//! Fields have KataGo's meaning as far as the search has a counterpart; `docs/analysis.md` lists them with the names
//! under which protocols print them.
//!
//! The module belongs to the search and not to the engine, because reports come from a search alone or from a search
//! over ranks, and because benchmarks and the analysis server have searches without an engine.

mod new;
mod perspective;
#[cfg(test)]
mod tests;

pub use new::{Extras, shares_of_priors};

use super::owners::Owners;
use kosumi_eval::DetailedPrediction;
use kosumi_go::board::{BoardSize, Color, Key, Move};
use kosumi_net::Prediction;

/// Expected result and score of a position, averaged over the evaluations in its subtree. The perspective is
/// [`Analysis::perspective`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Expectation {
    /// Probability of a win, in `[0, 1]`; a draw and a game without result count as half.
    pub win_rate: f32,
    /// Standard error of the win rate.
    pub win_rate_error: f32,
    /// Probability that the game has no result.
    pub no_result: f32,
    /// Value that the search maximises: 1 for a certain win, −1 for a certain loss, plus a function of the score. With
    /// playouts it is in `[-1, 1]`.
    pub utility: f32,
    /// Lead in points: the change of komi that would make the game even.
    pub lead: f32,
    /// Standard error of the lead, from the scatter and the number of evaluations of the latest search.
    pub lead_error: f32,
    /// Expected score at the end of the game, in points. If one side is far ahead, its magnitude exceeds that of the
    /// lead.
    pub score_mean: f32,
    /// Standard deviation of that score.
    pub score_stdev: f32,
    /// Owners of the points, if requested.
    pub owners: Option<Owners>,
}

/// A move of the root.
#[derive(Clone, PartialEq, Debug)]
pub struct MoveAnalysis {
    /// The move.
    pub mv: Move,
    /// Rank of the move in the order of preference, from 0 for the best.
    pub order: usize,
    /// Visits of the position after the move, including those by other paths.
    pub visits: u32,
    /// Visits through this move.
    pub edge_visits: u32,
    /// Summed weight of the evaluations in the subtree after the move; with playouts, their number.
    pub weight: f32,
    /// Part of `weight` that the visits through this move contribute.
    pub edge_weight: f32,
    /// Probability of the move before the search, as the search used it: with the temperature of the root, without
    /// noise.
    pub prior: f32,
    /// Probability that a person plays the move, if a network of human play was evaluated.
    pub human_prior: Option<f32>,
    /// Expectation after the move. If the move was never visited, that of the root.
    pub expectation: Expectation,
    /// Bound of the win rate that is pessimistic for the side to move. It may lie outside `[0, 1]`.
    pub win_rate_bound: f32,
    /// Bound of the utility that is pessimistic for the side to move.
    pub utility_bound: f32,
    /// Value by which moves are ordered, in visits: the number that the move deserves by its value. The best move has
    /// the largest one.
    pub selection_value: f32,
    /// The move that this one is a symmetric image of. All numbers are then copied from it, because the image was not
    /// searched.
    pub symmetry_of: Option<Move>,
    /// The move and the best replies.
    pub variation: Vec<Move>,
    /// Visits of the position after each move of the variation.
    pub variation_visits: Vec<u32>,
    /// Visits through each move of the variation.
    pub variation_edge_visits: Vec<u32>,
}

impl MoveAnalysis {
    /// Returns whether the position after the move has visits, by any path.
    pub fn is_searched(&self) -> bool {
        self.edge_visits > 0 || self.visits > 0
    }
}

/// Prediction of the network for the position, without any search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RawView {
    /// Probability of a win, in `[0, 1]`.
    pub win_rate: f32,
    /// Lead in points.
    pub lead: f32,
    /// Expected score at the end of the game.
    pub score_mean: f32,
    /// Its standard deviation.
    pub score_stdev: f32,
    /// Probability that the game has no result.
    pub no_result: f32,
    /// Expected change of the win rate within a few moves, which is half of the error of the result. This and the two
    /// following fields are `None` if the network does not predict them.
    pub win_rate_error: Option<f32>,
    /// Expected change of the score within a few moves, in points.
    pub score_error: Option<f32>,
    /// Expected duration of further changes of the result, in an arbitrary unit.
    pub variance_time: Option<f32>,
}

/// Prediction of a network of human play for the position.
#[derive(Clone, PartialEq, Debug)]
pub struct HumanView {
    /// Win rate, score and errors. Such networks do not predict the lead.
    pub values: RawView,
    /// Probability of every legal move.
    pub policy: Vec<(Move, f32)>,
}

/// See the [module documentation](self).
#[derive(Clone, PartialEq, Debug)]
pub struct Analysis {
    /// Columns and rows.
    pub size: BoardSize,
    /// Side to move.
    pub to_move: Color,
    /// Side from whose perspective all numbers are given.
    pub perspective: Color,
    /// Visits of the position. They include the evaluation of the position itself, except after searches for a move,
    /// which start with the moves.
    pub visits: u32,
    /// Simulations of the latest search: visits without those of earlier searches.
    pub playouts: u32,
    /// Summed weight of all evaluations; with playouts, their number.
    pub weight: f32,
    /// Number of moves in the longest line that was searched.
    pub depth: u32,
    /// Expected result and score.
    pub root: Expectation,
    /// Prediction of the network alone, if a network evaluates and its evaluation is cached.
    pub raw: Option<RawView>,
    /// Prediction of human play, if a network of human play was evaluated.
    pub human: Option<HumanView>,
    /// Legal moves that may be searched, the best first. Symmetric images follow their original. Moves without visits
    /// come last.
    pub moves: Vec<MoveAnalysis>,
    /// The network's probability of every legal move, without temperature and noise. Empty if it was not supplied.
    pub policy: Vec<(Move, f32)>,
    /// Hash of the stones, the side to move and a simple ko.
    pub hash: Key,
    /// Hash that is also equal for symmetric positions.
    pub symmetric_hash: Key,
}

impl Analysis {
    /// Returns the best move, if any move may be searched.
    pub fn best(&self) -> Option<&MoveAnalysis> {
        self.moves.first()
    }
}

impl RawView {
    /// Converts a detailed prediction. Values stay Black's.
    fn of_outlook(outlook: &DetailedPrediction) -> RawView {
        let variance = outlook.score_mean_square - outlook.score_mean * outlook.score_mean;
        RawView {
            win_rate: win_rate(outlook.result),
            lead: outlook.lead,
            score_mean: outlook.score_mean,
            score_stdev: variance.max(0.0).sqrt(),
            no_result: outlook.no_result,
            win_rate_error: outlook.uncertainty.map(|it| 0.5 * it.result_error),
            score_error: outlook.uncertainty.map(|it| it.score_error),
            variance_time: outlook.uncertainty.map(|it| it.variance_time),
        }
    }

    /// Converts a prediction. Values stay Black's.
    fn of_prediction(prediction: &Prediction) -> RawView {
        RawView {
            win_rate: win_rate(prediction.value()),
            lead: prediction.lead,
            score_mean: prediction.score_mean,
            score_stdev: prediction.score_stdev(),
            no_result: prediction.no_result,
            win_rate_error: prediction.shortterm_value_error.map(|error| 0.5 * error),
            score_error: prediction.shortterm_score_error,
            variance_time: prediction.variance_time,
        }
    }
}

/// Converts a result in `[-1, 1]` to a win rate in `[0, 1]`.
fn win_rate(result: f32) -> f32 {
    (1.0 + result) / 2.0
}
