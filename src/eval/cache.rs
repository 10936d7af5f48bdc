//! Cache of a network's evaluations.
//!
//! A position that was dropped with its node may occur again a move later, and positions that differ by a symmetry of
//! the board share one evaluation. The key is that of search nodes ([`graph_key`](kosumi_go::graph_key)). Two histories
//! therefore share an evaluation only if they do not differ in anything that matters.
//!
//! The crate `quick_cache` was measured and is not used. A look-up with an insertion takes 220 to 240 ns of CPU time
//! there and 210 to 220 ns here (two million evaluations of 19×19 boards, EPYC Zen 5), and an evaluation takes a
//! thousand times as long. This cache evicts in the order of insertion, so that searches are reproducible.

use super::{DetailedPrediction, Evaluation, Prior};
use hashbrown::HashMap;
use kosumi_go::board::{BoardSize, Key, Move, Symmetry};
use kosumi_sync::atomic::{AtomicU64, Ordering};
use kosumi_sync::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::Arc;

/// Evaluation of one position by a network, in compact form. All values are Black's.
#[derive(Clone, PartialEq, Debug)]
pub struct CachedEvaluation {
    /// Value and score.
    pub evaluation: Evaluation,
    /// Detailed prediction of result and score.
    pub outlook: DetailedPrediction,
    /// Packed [`Prior`]s below the root of a search: one per point in the order of [`BoardSize::points`], and one of
    /// the pass. They are [`NOT_LEGAL`] where a move is illegal.
    pub priors: Box<[u16]>,
    /// Packed priors at the root of a search, where they differ from `priors`.
    pub root_priors: Option<Box<[u16]>>,
    /// Owner of every point in the order of [`BoardSize::points`], from −127 for White to 127 for Black.
    pub owners: Arc<[i8]>,
    /// Symmetry that leads from the evaluated position to the canonical one, whose key is used. It is the identity if
    /// symmetric positions do not share evaluations.
    pub to_canonical: Symmetry,
}

/// Marker for illegal moves in place of a packed prior. No packed probability has this value.
pub const NOT_LEGAL: u16 = 0;

impl CachedEvaluation {
    /// Returns the legal moves on a board of this size with their priors below the root of a search.
    pub fn priors(&self, size: BoardSize) -> impl Iterator<Item = (Move, Prior)> {
        legal_moves(size, &self.priors)
    }

    /// Returns the legal moves on a board of this size with their priors at the root of a search.
    pub fn root_priors(&self, size: BoardSize) -> impl Iterator<Item = (Move, Prior)> {
        legal_moves(size, self.root_priors.as_ref().unwrap_or(&self.priors))
    }

    /// Returns the memory that the evaluation takes in the cache, in bytes.
    fn bytes(&self) -> usize {
        // Entry of the map, key in the queue, and counters of the `Arc`.
        const PLACE: usize = 96;
        let priors = size_of_val(&*self.priors);
        let root_priors = self.root_priors.as_ref().map_or(0, |priors| size_of_val(&**priors));
        PLACE + size_of::<CachedEvaluation>() + priors + root_priors + self.owners.len()
    }
}

fn legal_moves(size: BoardSize, priors: &[u16]) -> impl Iterator<Item = (Move, Prior)> {
    let moves = size.points().map(Move::Play).chain([Move::Pass]);
    let legal = moves.zip(priors).filter(|&(_, &prior)| prior != NOT_LEGAL);
    legal.map(|(mv, &prior)| (mv, Prior::unpack(prior)))
}

/// Part of the cache, for keys with the same remainder.
#[derive(Debug, Default)]
struct Shard {
    evaluations: HashMap<u128, Arc<CachedEvaluation>>,
    /// Keys in the order of insertion.
    order: VecDeque<u128>,
    bytes: usize,
}

/// Number of shards, which is large enough that workers rarely wait for each other.
const SHARDS: usize = if cfg!(loom) { 1 } else { 64 };

/// Bounded cache of evaluations, shared by all workers. It evicts the oldest entries first.
#[derive(Debug)]
pub struct EvaluationCache {
    shards: Box<[Mutex<Shard>]>,
    bytes_per_shard: usize,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl EvaluationCache {
    /// Creates a cache of at most `mebibytes` MiB.
    pub fn new(mebibytes: usize) -> EvaluationCache {
        EvaluationCache::of_bytes(mebibytes.saturating_mul(1 << 20))
    }

    /// Creates a cache of at most `bytes` bytes.
    pub fn of_bytes(bytes: usize) -> EvaluationCache {
        EvaluationCache {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            bytes_per_shard: bytes / SHARDS,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    fn shard(&self, key: Key) -> MutexGuard<'_, Shard> {
        // A shard stays valid if a worker panics while it holds the lock.
        self.shards[key.0 as usize % SHARDS].lock().unwrap_or_else(|error| error.into_inner())
    }

    /// Returns the evaluation of a position, if it is cached.
    pub fn get(&self, key: Key) -> Option<Arc<CachedEvaluation>> {
        let known = self.shard(key).evaluations.get(&key.0).cloned();
        let counter = if known.is_some() { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        known
    }

    /// Inserts an evaluation and evicts older ones if needed. An existing evaluation of the position is not replaced.
    pub fn insert(&self, key: Key, answer: Arc<CachedEvaluation>) {
        let bytes = answer.bytes();
        let mut shard = self.shard(key);
        let shard = &mut *shard;
        if bytes > self.bytes_per_shard || shard.evaluations.contains_key(&key.0) {
            return;
        }
        while shard.bytes + bytes > self.bytes_per_shard
            && let Some(oldest) = shard.order.pop_front()
        {
            if let Some(gone) = shard.evaluations.remove(&oldest) {
                shard.bytes -= gone.bytes();
            }
        }
        shard.bytes += bytes;
        shard.order.push_back(key.0);
        shard.evaluations.insert(key.0, answer);
    }

    /// Removes all entries.
    pub fn clear(&self) {
        for shard in &self.shards {
            *shard.lock().unwrap_or_else(|error| error.into_inner()) = Shard::default();
        }
    }

    /// Returns the number of successful look-ups and the number of unsuccessful ones.
    pub fn hits_and_misses(&self) -> (u64, u64) {
        (self.hits.load(Ordering::Relaxed), self.misses.load(Ordering::Relaxed))
    }

    /// Returns the capacity in bytes.
    pub fn max_bytes(&self) -> usize {
        self.bytes_per_shard * SHARDS
    }

    /// Returns the memory in use, in bytes.
    pub fn bytes(&self) -> usize {
        let bytes = |shard: &Mutex<Shard>| shard.lock().unwrap_or_else(|error| error.into_inner()).bytes;
        self.shards.iter().map(bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn answer(value: f32, moves: usize) -> Arc<CachedEvaluation> {
        Arc::new(CachedEvaluation {
            evaluation: Evaluation::plain(value, 10.0 * value),
            outlook: DetailedPrediction::default(),
            priors: vec![1 << 15; moves].into(),
            root_priors: Some(vec![1 << 15; moves].into()),
            owners: vec![0; moves].into(),
            to_canonical: Symmetry::ALL[0],
        })
    }

    #[test]
    fn inserted_evaluations_are_found() {
        let cache = EvaluationCache::new(1);
        assert_eq!(cache.get(Key(1)), None);
        cache.insert(Key(1), answer(0.5, 3));
        cache.insert(Key(1), answer(0.25, 3));
        assert_eq!(cache.get(Key(1)), Some(answer(0.5, 3)), "the first evaluation stays");
        // Another position in the same shard.
        assert_eq!(cache.get(Key(1 + SHARDS as u128)), None);
        assert_eq!(cache.hits_and_misses(), (1, 2));
        cache.clear();
        assert_eq!((cache.get(Key(1)), cache.bytes()), (None, 0));
    }

    #[test]
    fn oldest_are_evicted() {
        let cache = EvaluationCache::new(1);
        for number in 0..10_000 {
            cache.insert(Key(number), answer(0.0, 100));
            assert!(number % 97 != 0 || cache.bytes() <= 1 << 20);
        }
        assert!(cache.bytes() > 1 << 19, "the cache is filled");
        assert_eq!(cache.get(Key(0)), None);
        assert!(cache.get(Key(9_999)).is_some());
    }

    #[test]
    fn an_answer_larger_than_its_shard_is_not_kept() {
        let cache = EvaluationCache::new(1);
        cache.insert(Key(1), answer(0.0, 10_000));
        assert_eq!((cache.get(Key(1)), cache.bytes()), (None, 0));
    }
}

/// Model checking (loom): all interleavings of the operations on the cache. See `scripts/models`.
#[cfg(all(test, loom))]
mod models {
    use super::tests::answer;
    use super::*;
    use loom::thread;

    /// Returns a cache with space for one evaluation of three moves, but not for two.
    fn cache() -> Arc<EvaluationCache> {
        Arc::new(EvaluationCache::of_bytes(answer(0.0, 3).bytes() * 3 / 2))
    }

    #[test]
    fn the_first_answer_stays_and_is_whole() {
        loom::model(|| {
            let cache = cache();
            let others: Vec<_> = [0.25, 0.5]
                .map(|value| {
                    let cache = Arc::clone(&cache);
                    thread::spawn(move || {
                        cache.insert(Key(1), answer(value, 3));
                        cache.get(Key(1)).expect("nothing evicts it")
                    })
                })
                .into_iter()
                .collect();
            let seen: Vec<_> = others.into_iter().map(|other| other.join().expect("a worker")).collect();
            assert_eq!(seen[0], seen[1], "both threads read the same evaluation");
            assert_eq!(cache.hits_and_misses(), (2, 0));
            assert_eq!(cache.bytes(), answer(0.0, 3).bytes(), "counted once");
        });
    }

    #[test]
    fn memory_is_bounded_and_counted() {
        loom::model(|| {
            let cache = cache();
            let other = {
                let cache = Arc::clone(&cache);
                thread::spawn(move || {
                    cache.insert(Key(1), answer(0.0, 3));
                    assert!(cache.bytes() <= cache.max_bytes());
                })
            };
            cache.insert(Key(2), answer(0.0, 3));
            cache.clear();
            other.join().expect("a worker");
            let kept = [1, 2].iter().filter(|&&key| cache.get(Key(key)).is_some()).count();
            assert_eq!(cache.bytes(), kept * answer(0.0, 3).bytes());
            assert!(kept <= 1);
        });
    }
}
