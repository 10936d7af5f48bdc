//! What a network expects of a position besides its value and its moves, for reports of a search.

use crate::net::Prediction;
use crate::settled::Reachable;
use std::sync::Arc;

/// What a network expects of a position, besides moves and owners. Black's view.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Outlook {
    /// The probability of a win less that of a loss, in `[-1, 1]`.
    pub result: f32,
    /// The probability of no result.
    pub no_result: f32,
    /// The expected score at the end, komi included, in points.
    pub score_mean: f32,
    /// The expected square of that score.
    pub score_mean_square: f32,
    /// The points by which Black is ahead.
    pub lead: f32,
    /// What only networks from version 9 on say.
    pub uncertainty: Option<Uncertainty>,
}

/// How sure a network is of what it says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Uncertainty {
    /// How long the result will go on changing, in moves.
    pub variance_time: f32,
    /// How far `result` is expected to move within a few moves.
    pub result_error: f32,
    /// How far the score is expected to move within a few moves, in points.
    pub score_error: f32,
}

impl Outlook {
    /// What a prediction from Black's view says.
    pub fn new(prediction: &Prediction) -> Outlook {
        let errors = prediction.shortterm_value_error.zip(prediction.shortterm_score_error);
        Outlook {
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

    /// The nearest outlook that can still come true.
    pub fn within(self, reachable: &Reachable) -> Outlook {
        let score_mean = reachable.score(self.score_mean);
        let variance = (self.score_mean_square - self.score_mean * self.score_mean).max(0.0);
        Outlook {
            result: reachable.result(self.result),
            score_mean,
            score_mean_square: score_mean * score_mean + variance,
            lead: reachable.score(self.lead),
            ..self
        }
    }

    /// A finished game with this result, in `[-1, 1]`, and score.
    pub fn finished(result: f32, score: f32) -> Outlook {
        Outlook {
            result,
            score_mean: score,
            score_mean_square: score * score,
            lead: score,
            ..Outlook::default()
        }
    }
}

/// An outlook, and the owner of every point in the order of [`BoardSize::points`](crate::board::BoardSize::points), from
/// −127 for White to 127 for Black.
pub type Known = (Outlook, Arc<[i8]>);
