//! What a search says of a position: the numbers behind every protocol.
//!
//! [`Analysis::new`] makes one from the report of a search. GTP, the JSON protocol, reviews, the browser and the log print
//! from it and compute nothing of their own. [`Analysis::seen_by`] is the only change of perspective. Fields have KataGo's
//! meaning, so far as a search has them; `docs/analysis.md` lists them with the names under which protocols print them.
//!
//! The module belongs to the search, not to the engine: reports are made by a search alone, by one over ranks too, and
//! benchmarks and the analysis server have searches without an engine.

mod new;
mod perspective;
#[cfg(test)]
mod tests;

pub use new::{Extras, shares_of_priors};

use super::owners::Owners;
use kosumi_eval::DetailedPrediction;
use kosumi_go::board::{BoardSize, Color, Key, Move};
use kosumi_net::Prediction;

/// What is expected of a position, averaged over what was searched behind it. From the perspective of
/// [`Analysis::perspective`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Expectation {
    /// Probability of a win, in `[0, 1]`; a draw and a game without result count half.
    pub win_rate: f32,
    /// Standard error of the win rate.
    pub win_rate_error: f32,
    /// Probability that the game has no result.
    pub no_result: f32,
    /// What the search maximises: a certain win counts 1, a loss −1, and points are added to it. By playouts −1 to 1.
    pub utility: f32,
    /// Lead in points: by how much komi would have to change for an even game.
    pub lead: f32,
    /// Standard error of the lead, from how far the evaluations of the latest search scatter and how many there were.
    pub lead_error: f32,
    /// Expected score at the end of the game, in points, which is more than the lead for the side that is far ahead.
    pub score_mean: f32,
    /// Standard deviation of that score.
    pub score_stdev: f32,
    /// Owners of the points, if they were asked for.
    pub owners: Option<Owners>,
}

/// A move of the root.
#[derive(Clone, PartialEq, Debug)]
pub struct MoveAnalysis {
    /// The move.
    pub mv: Move,
    /// Place in the order of preference, 0 for the best.
    pub order: usize,
    /// Visits of the position after the move, those that came there on other paths included.
    pub visits: u32,
    /// Visits through this move.
    pub edge_visits: u32,
    /// Summed weight of the evaluations behind the position after the move; by playouts their number.
    pub weight: f32,
    /// The part of that weight which this move's visits count.
    pub edge_weight: f32,
    /// Probability of the move before the search, as the search used it: with the temperature of the root, without
    /// noise.
    pub prior: f32,
    /// Probability that people play it, if a network of human play was asked.
    pub human_prior: Option<f32>,
    /// What is expected after it; what is expected at the root if it was never visited.
    pub expectation: Expectation,
    /// Bound of the win rate that is pessimistic for the side to move. It may lie outside `[0, 1]`.
    pub win_rate_bound: f32,
    /// Bound of the utility that is pessimistic for the side to move.
    pub utility_bound: f32,
    /// What the order follows, in visits: those that the move deserves; for the best move the largest one.
    pub selection_value: f32,
    /// The move of which this is the image: nothing was searched here, all is copied.
    pub symmetry_of: Option<Move>,
    /// The move and the best answers to it.
    pub variation: Vec<Move>,
    /// Visits of the position after each move of the variation.
    pub variation_visits: Vec<u32>,
    /// Visits through each move of the variation.
    pub variation_edge_visits: Vec<u32>,
}

impl MoveAnalysis {
    /// Has the move been looked at, on whatever path?
    pub fn is_searched(&self) -> bool {
        self.edge_visits > 0 || self.visits > 0
    }
}

/// What the network says of the position without any search.
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
    /// How far the win rate is expected to move within a few moves; half of the error of the result. `None` if the
    /// network does not say, as for the two that follow.
    pub win_rate_error: Option<f32>,
    /// How far the score is expected to move within a few moves, in points.
    pub score_error: Option<f32>,
    /// How long the result will go on changing, in no particular unit.
    pub variance_time: Option<f32>,
}

/// What a network of human play says of the position.
#[derive(Clone, PartialEq, Debug)]
pub struct HumanView {
    /// Win rate, score and errors; the lead is not predicted by such networks.
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
    /// Side whose view all numbers are given from.
    pub perspective: Color,
    /// Visits of the position. The evaluation of the position itself is one of them, except after searches for a move,
    /// which begin with the moves.
    pub visits: u32,
    /// Simulations of the latest search: visits without those of reused searches.
    pub playouts: u32,
    /// Summed weight of all evaluations; by playouts their number.
    pub weight: f32,
    /// Number of moves in the longest line that was searched.
    pub depth: u32,
    /// What is expected.
    pub root: Expectation,
    /// What the network alone says, if there is one and its evaluation is remembered.
    pub raw: Option<RawView>,
    /// What people would do, if a network of human play was asked.
    pub human: Option<HumanView>,
    /// Legal moves that may be searched: the best first, symmetric copies behind their original, those without visits
    /// last.
    pub moves: Vec<MoveAnalysis>,
    /// The network's probability of every legal move, without temperature and noise; empty if it was not given.
    pub policy: Vec<(Move, f32)>,
    /// Equal for the same stones, side to move and simple ko.
    pub hash: Key,
    /// Equal for symmetric positions, too.
    pub symmetric_hash: Key,
}

impl Analysis {
    /// The best move, if any may be searched.
    pub fn best(&self) -> Option<&MoveAnalysis> {
        self.moves.first()
    }
}

impl RawView {
    /// Black's view.
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

    /// Black's view.
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

/// A result in `[-1, 1]` as a probability of winning.
fn win_rate(result: f32) -> f32 {
    (1.0 + result) / 2.0
}
