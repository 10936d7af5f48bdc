//! Predictions of a network for the positions of a search, in more detail than the search needs.
//!
//! A node of the search stores one value. Analyses also need win rate, score and ownership separately, each averaged
//! over the whole graph. These are computed on request from the entries of this module.

use hashbrown::HashMap;
use kosumi_go::board::Key;
use kosumi_go::settled::ScoreBounds;
use kosumi_net::Prediction;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    /// Number of moves for which the result is expected to go on changing.
    pub variance_time: f32,
    /// Expected change of `result` within the next few moves; never negative.
    pub result_error: f32,
    /// Expected change of the score within the next few moves, in points; never negative.
    pub score_error: f32,
}

impl DetailedPrediction {
    /// Extracts the outlook from a prediction, which must be from Black's perspective.
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

    /// Limits the outlook to results and scores that are still reachable.
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

    /// Returns the outlook of a finished game with this result, in `[-1, 1]`, and this score in points. Both are
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

/// Outlook and owner of every point. The owners are in the order of
/// [`BoardSize::points`](crate::board::BoardSize::points), from −127 for White to 127 for Black.
pub type StoredPrediction = (DetailedPrediction, Arc<[i8]>);

/// Table of outlooks by position keys, which all workers of a search write to.
pub struct PredictionTable {
    shards: [Mutex<HashMap<u128, StoredPrediction>>; SHARDS],
    most_per_shard: usize,
}

const SHARDS: usize = 16;

impl fmt::Debug for PredictionTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outlooks").field("most_per_shard", &self.most_per_shard).finish_non_exhaustive()
    }
}

impl PredictionTable {
    /// Creates a table for about `most` positions. Later positions are not stored.
    pub fn new(most: usize) -> PredictionTable {
        PredictionTable { shards: Default::default(), most_per_shard: (most / SHARDS).max(1) }
    }

    fn shard(&self, key: Key) -> MutexGuard<'_, HashMap<u128, StoredPrediction>> {
        self.shards[key.0 as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the outlook and the owners of a position, unless they are stored already.
    pub fn write(&self, key: Key, outlook: DetailedPrediction, owners: &Arc<[i8]>) {
        let mut shard = self.shard(key);
        if shard.len() < self.most_per_shard || shard.contains_key(&key.0) {
            shard.entry(key.0).or_insert_with(|| (outlook, Arc::clone(owners)));
        }
    }

    /// Returns the stored outlook and owners of a position.
    pub fn read(&self, key: Key) -> Option<StoredPrediction> {
        self.shard(key).get(&key.0).cloned()
    }

    /// Returns the number of stored positions.
    pub fn count(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner).len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_entry_stays_and_size_is_bounded() {
        let outlooks = PredictionTable::new(2 * SHARDS);
        let owners: Arc<[i8]> = vec![1, 2].into();
        for number in 0..100 * SHARDS as u128 {
            outlooks.write(Key(number), DetailedPrediction::finished(1.0, number as f32), &owners);
        }
        assert_eq!(outlooks.count(), 2 * SHARDS);
        outlooks.write(Key(0), DetailedPrediction::finished(-1.0, 7.0), &owners);
        assert_eq!(outlooks.read(Key(0)), Some((DetailedPrediction::finished(1.0, 0.0), owners)));
        assert_eq!(outlooks.read(Key(2 * SHARDS as u128)), None);
    }
}
