//! Detailed predictions of a network, for reports of a search.

use kosumi_go::settled::ScoreBounds;
use kosumi_net::Prediction;
use std::sync::Arc;

/// Prediction of a network for a position without policy and ownership, from Black's perspective.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct DetailedPrediction {
    /// Probability of a win minus that of a loss, in `[-1, 1]`.
    pub result: f32,
    /// Probability of no result, in `[0, 1]`.
    pub no_result: f32,
    /// Expected final score, komi included, in points.
    pub score_mean: f32,
    /// Expected square of that score.
    pub score_mean_square: f32,
    /// Number of points by which Black is ahead.
    pub lead: f32,
    /// Uncertainty of the prediction. Only networks from version 9 on predict it.
    pub uncertainty: Option<Uncertainty>,
}

/// Uncertainty of a prediction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Uncertainty {
    /// Expected number of moves during which the result still changes.
    pub variance_time: f32,
    /// Expected change of `result` within the next few moves; never negative.
    pub result_error: f32,
    /// Expected change of the score within the next few moves, in points; never negative.
    pub score_error: f32,
}

impl DetailedPrediction {
    /// Makes a detailed prediction from a prediction, which must be from Black's perspective.
    pub fn new(prediction: &Prediction) -> DetailedPrediction {
        let errors = prediction.shortterm_value_error.zip(prediction.shortterm_score_error);
        DetailedPrediction {
            result: prediction.value(),
            no_result: prediction.no_result,
            score_mean: prediction.score_mean,
            score_mean_square: prediction.score_mean_square,
            lead: prediction.lead,
            uncertainty: prediction.variance_time.zip(errors).map(
                |(variance_time, (result_error, score_error))| Uncertainty {
                    variance_time,
                    result_error,
                    score_error,
                },
            ),
        }
    }

    /// Limits the prediction to results and scores that are still reachable.
    pub fn limited_to(self, reachable: &ScoreBounds) -> DetailedPrediction {
        let score_mean = reachable.score(self.score_mean);
        let variance = (self.score_mean_square - self.score_mean * self.score_mean).max(0.0);
        DetailedPrediction {
            result: reachable.result(self.result),
            score_mean,
            score_mean_square: score_mean * score_mean + variance,
            lead: reachable.score(self.lead),
            ..self
        }
    }

    /// Returns the prediction for a finished game with this result, in `[-1, 1]`, and this score in points. Both are
    /// Black's.
    pub fn finished(result: f32, score: f32) -> DetailedPrediction {
        DetailedPrediction {
            result,
            score_mean: score,
            score_mean_square: score * score,
            lead: score,
            ..DetailedPrediction::default()
        }
    }
}

/// Detailed prediction and owner of every point. The owners are in the order of
/// [`BoardSize::points`](kosumi_go::board::BoardSize::points), from −127 for White to 127 for Black.
pub type StoredPrediction = (DetailedPrediction, Arc<[i8]>);
