//! The transposition table: what is known of positions, in a fixed amount of memory.
//!
//! Buckets of four entries; a position may have several: what a search has seen of it so far, and proofs. A proof
//! carries the conditions under which it may be used again (see [`Proof`]), and the table finds the one whose
//! conditions hold. The least work is forgotten first, and that of earlier searches before that of the present
//! one, so the table never needs a sweep and never grows.

use super::bits::Bits;
use super::step::{NO_MOVE, Step};
use bytemuck::Zeroable;
use std::sync::Mutex;

/// Points at which stones were placed and lifted, by colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Zeroable)]
pub(super) struct Trace<B> {
    pub(super) played: [B; 2],
    pub(super) lifted: [B; 2],
}

impl<B: Bits> Trace<B> {
    /// Everything in either.
    pub(super) fn with(self, other: &Trace<B>) -> Trace<B> {
        Trace {
            played: [self.played[0] | other.played[0], self.played[1] | other.played[1]],
            lifted: [self.lifted[0] | other.lifted[0], self.lifted[1] | other.lifted[1]],
        }
    }
}

/// Who wins a position, and what that rests on.
///
/// A proof is a tree: one move of the winner's, all of the loser's. It holds with another past, too, if
///
/// 1. the past has the positions by which superko took moves from the loser inside the tree, or which a cycle
///    came back to: these are among the last `rests_on` before the position, whose hash is `suffix`;
/// 2. no position of the past comes back by a move of the winner's inside the tree (under simple ko with cycles
///    that the winner would lose: by anybody's): `trace` holds all points that are played and lifted in the tree,
///    and a position can only come back if the differences are among them.
///
/// A smaller set of forbidden moves for the loser at the position itself is another position: bans are part of
/// the key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Proof<B> {
    /// Does the prover of the goal win?
    pub(super) won: bool,
    /// How many positions before this one the proof rests on.
    pub(super) rests_on: u16,
    /// Hash of these positions; 0 if there are none.
    pub(super) suffix: u64,
    pub(super) trace: Trace<B>,
    /// A move that shows it, if the winner is on turn; it is kept only where the proof rests on nothing.
    pub(super) best: Step,
}

/// What is known.
#[derive(Clone, Copy, Debug)]
pub(super) enum Known<B> {
    /// Proof and disproof number so far.
    Open {
        pn: u32,
        dn: u32,
    },
    Proven(Proof<B>),
}

/// What an entry holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Content {
    Free,
    Open,
    Lost,
    Won,
}

/// One cache line where sets are one word. All zeros are an entry that nobody has written.
#[derive(Clone, Copy, Debug, Zeroable)]
struct Entry<B> {
    /// The halves of the key.
    key: [u64; 2],
    /// A proof's, or its best move if it rests on nothing; or the proof number and the disproof number of an open position.
    suffix: u64,
    trace: Trace<B>,
    /// Nodes that were searched for it.
    work: u32,
    rests_on: u16,
    /// A [`Content`].
    content: u8,
    /// The search that wrote or used it last.
    generation: u8,
}

impl<B: Bits> Entry<B> {
    fn new(key: [u64; 2], known: &Known<B>, work: u32, generation: u8) -> Entry<B> {
        match *known {
            Known::Open { pn, dn } => Entry {
                key,
                suffix: u64::from(pn) << 32 | u64::from(dn),
                trace: Trace::default(),
                work,
                rests_on: 0,
                content: Content::Open as u8,
                generation,
            },
            Known::Proven(Proof { won, rests_on, suffix, trace, best }) => {
                let content = if won { Content::Won } else { Content::Lost } as u8;
                let suffix = if rests_on == 0 { u64::from(best) } else { suffix };
                Entry { key, suffix, trace, work, rests_on, content, generation }
            }
        }
    }

    fn content(&self) -> Content {
        [Content::Free, Content::Open, Content::Lost, Content::Won][usize::from(self.content % 4)]
    }

    fn known(&self) -> Option<Known<B>> {
        let won = match self.content() {
            Content::Free => return None,
            Content::Open => {
                return Some(Known::Open { pn: (self.suffix >> 32) as u32, dn: self.suffix as u32 });
            }
            Content::Lost => false,
            Content::Won => true,
        };
        let Entry { rests_on, suffix, trace, .. } = *self;
        let (suffix, best) = if rests_on == 0 { (0, suffix as Step) } else { (suffix, NO_MOVE) };
        Some(Known::Proven(Proof { won, rests_on, suffix, trace, best }))
    }
}

const WAYS: usize = 4;
/// Parts of the table, each behind a lock.
const SHARDS: usize = 64;

type Bucket<B> = [Entry<B>; WAYS];

/// See the [module documentation](self).
#[derive(Debug)]
pub(super) struct Table<B> {
    shards: Vec<Mutex<Box<[Bucket<B>]>>>,
    buckets: u64,
    generation: u8,
}

impl<B: Bits> Table<B> {
    /// A table of at most so many bytes, but of 64 buckets at least. Memory is taken when it is first written to.
    pub(super) fn new(bytes: usize) -> Table<B> {
        let per_shard = (bytes / std::mem::size_of::<Bucket<B>>() / SHARDS).max(1);
        Table {
            shards: (0..SHARDS).map(|_| Mutex::new(bytemuck::zeroed_slice_box(per_shard))).collect(),
            buckets: per_shard as u64,
            generation: 1,
        }
    }

    /// Entries of before may now be replaced first.
    pub(super) fn next_generation(&mut self) {
        self.generation = self.generation.checked_add(1).unwrap_or(1);
    }

    /// Bytes that it may take.
    pub(super) fn bytes(&self) -> usize {
        SHARDS * self.buckets as usize * std::mem::size_of::<Bucket<B>>()
    }

    fn with_bucket<R>(&self, [high, low]: [u64; 2], work: impl FnOnce(&mut Bucket<B>) -> R) -> R {
        let shard = &self.shards[low as usize % SHARDS];
        let index = high % self.buckets;
        // A thread that panicked has left whole entries behind: they are written in one assignment.
        let mut shard = shard.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        work(&mut shard[index as usize])
    }

    /// What is known of a position: the proof for which `holds`, or else the numbers so far.
    pub(super) fn look_up(&self, key: u128, mut holds: impl FnMut(&Proof<B>) -> bool) -> Option<Known<B>> {
        let key = halves(key);
        self.with_bucket(key, |bucket| {
            let mut open = None;
            for entry in bucket.iter_mut().filter(|entry| entry.key == key) {
                match entry.known() {
                    Some(known @ Known::Proven(proof)) if holds(&proof) => {
                        entry.generation = self.generation;
                        return Some(known);
                    }
                    Some(known @ Known::Open { .. }) => open = Some(known),
                    Some(Known::Proven(_)) | None => {}
                }
            }
            open
        })
    }

    /// Remembers.
    pub(super) fn store(&self, key: u128, known: Known<B>, work: u64) {
        let work = work.min(u64::from(u32::MAX)) as u32;
        let key = halves(key);
        self.with_bucket(key, |bucket| {
            let replaces = |old: &Entry<B>| match (old.known(), &known) {
                (None, _) | (Some(Known::Proven(_)), Known::Open { .. }) => false,
                (Some(Known::Open { .. }), Known::Open { .. }) => true,
                // A proof that always holds makes the numbers useless.
                (Some(Known::Open { .. }), Known::Proven(new)) => new.rests_on == 0,
                (Some(Known::Proven(old)), Known::Proven(new)) => {
                    (old.won, old.rests_on, old.suffix) == (new.won, new.rests_on, new.suffix)
                }
            };
            let same = bucket.iter().position(|old| old.key == key && replaces(old));
            let slot = same.unwrap_or_else(|| {
                let value = |entry: &Entry<B>| {
                    (entry.content() != Content::Free, entry.generation == self.generation, entry.work)
                };
                (0..WAYS).min_by_key(|&way| value(&bucket[way])).unwrap_or(0)
            });
            let old = &bucket[slot];
            let work = if same.is_some() { old.work.saturating_add(work) } else { work };
            bucket[slot] = Entry::new(key, &known, work, self.generation);
        });
    }
}

fn halves(key: u128) -> [u64; 2] {
    [(key >> 64) as u64, key as u64]
}

/// Mixes words into a hash of 128 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hash128(u64, u64);

impl Hash128 {
    pub(super) const START: Hash128 = Hash128(0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344);

    #[inline]
    pub(super) fn mix(&mut self, word: u64) {
        let fold = |a: u64, b: u64| {
            let product = u128::from(a) * u128::from(b);
            product as u64 ^ (product >> 64) as u64
        };
        self.0 = fold(self.0 ^ word, 0xa076_1d64_78bd_642f).rotate_left(23) ^ self.1;
        self.1 = fold(self.1 ^ word.rotate_left(32), 0xe703_7ed1_a0b4_28db).wrapping_add(self.0);
    }

    #[inline]
    pub(super) fn finish(mut self) -> u128 {
        self.mix(0x8ebc_6af0_9c88_c6e3);
        self.mix(0x5899_65cc_7537_4cc3);
        u128::from(self.0) << 64 | u128::from(self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof(won: bool, rests_on: u16, suffix: u64) -> Proof<u64> {
        Proof { won, rests_on, suffix, trace: Trace::default(), best: NO_MOVE }
    }

    #[test]
    fn proofs_are_found_only_where_they_hold() {
        let table: Table<u64> = Table::new(1 << 20);
        assert!(table.look_up(7, |_| true).is_none());
        table.store(7, Known::Open { pn: 3, dn: 4 }, 10);
        table.store(7, Known::Proven(proof(true, 2, 55)), 20);
        // The numbers stay beside a proof that needs its past.
        let found = table.look_up(7, |_| false).unwrap();
        assert!(matches!(found, Known::Open { pn: 3, dn: 4 }));
        let found = table.look_up(7, |proof| proof.suffix == 55).unwrap();
        assert!(matches!(found, Known::Proven(proof) if proof.won));
        // They go with one that needs none.
        table.store(7, Known::Proven(proof(false, 0, 0)), 30);
        assert!(table.look_up(7, |_| false).is_none());
        assert!(table.look_up(8, |_| true).is_none());
    }

    #[test]
    fn a_full_table_keeps_what_was_most_work() {
        let mut table: Table<u64> = Table::new(0);
        assert!(table.bytes() < 1 << 20);
        // One bucket: keys that differ in neither half's remainder.
        let key = |n: u64| u128::from(n) << 64;
        for n in 0..1000 {
            table.store(key(n), Known::Open { pn: 1, dn: 1 }, n + 1);
        }
        let kept: Vec<u64> = (0..1000).filter(|&n| table.look_up(key(n), |_| true).is_some()).collect();
        assert_eq!(kept, [996, 997, 998, 999]);
        // What the last search left behind goes before the little that the present one has.
        table.next_generation();
        table.store(key(1), Known::Open { pn: 1, dn: 1 }, 1);
        table.store(key(2), Known::Open { pn: 1, dn: 1 }, 1);
        assert!(table.look_up(key(1), |_| true).is_some() && table.look_up(key(996), |_| true).is_none());
    }
}
