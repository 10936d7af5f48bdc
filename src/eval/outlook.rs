//! What a network expected of every position of a search, for those who want to know more than the search needs.
//!
//! A node of the search keeps one value. Analyses also tell win rate, score and owners apart, each averaged over the whole
//! graph; they are worked out from this when somebody asks.

use hashbrown::HashMap;
use kosumi_go::board::Key;
use kosumi_go::settled::Reachable;
use kosumi_net::Prediction;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

/// An outlook, and the owner of every point in the order of [`BoardSize::points`](kosumi_go::board::BoardSize::points), from
/// −127 for White to 127 for Black.
pub type Known = (Outlook, Arc<[i8]>);

/// Outlooks by the keys of positions, written by all workers of a search.
pub struct Outlooks {
    shards: [Mutex<HashMap<u128, Known>>; SHARDS],
    most_per_shard: usize,
}

const SHARDS: usize = 16;

impl fmt::Debug for Outlooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outlooks").field("most_per_shard", &self.most_per_shard).finish_non_exhaustive()
    }
}

impl Outlooks {
    /// Room for about so many positions; what comes later is not written down.
    pub fn new(most: usize) -> Outlooks {
        Outlooks { shards: Default::default(), most_per_shard: (most / SHARDS).max(1) }
    }

    fn shard(&self, key: Key) -> MutexGuard<'_, HashMap<u128, Known>> {
        self.shards[key.0 as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what is known of a position, unless it has been noted before.
    pub fn write(&self, key: Key, outlook: Outlook, owners: &Arc<[i8]>) {
        let mut shard = self.shard(key);
        if shard.len() < self.most_per_shard || shard.contains_key(&key.0) {
            shard.entry(key.0).or_insert_with(|| (outlook, Arc::clone(owners)));
        }
    }

    /// What was noted of a position.
    pub fn read(&self, key: Key) -> Option<Known> {
        self.shard(key).get(&key.0).cloned()
    }

    /// Positions that have been noted.
    pub fn count(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner).len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_first_stays_and_there_is_an_end() {
        let outlooks = Outlooks::new(2 * SHARDS);
        let owners: Arc<[i8]> = vec![1, 2].into();
        for number in 0..100 * SHARDS as u128 {
            outlooks.write(Key(number), Outlook::finished(1.0, number as f32), &owners);
        }
        assert_eq!(outlooks.count(), 2 * SHARDS);
        outlooks.write(Key(0), Outlook::finished(-1.0, 7.0), &owners);
        assert_eq!(outlooks.read(Key(0)), Some((Outlook::finished(1.0, 0.0), owners)));
        assert_eq!(outlooks.read(Key(2 * SHARDS as u128)), None);
    }
}
