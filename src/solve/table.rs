//! The transposition table: what is known of positions, in a fixed amount of memory.
//!
//! Buckets of four entries; a position may have several: what a search has seen of it so far, and proofs. A proof
//! carries the conditions under which it may be used again (see [`Proof`]), and the table finds the one whose
//! conditions hold. The least work is forgotten first, and that of earlier searches before that of the present
//! one, so the table never needs a sweep and never grows.

use super::bits::Bits;
use super::step::{NO_MOVE, Step};
use bytemuck::Zeroable;
use kosumi_sync::{Blanks, blanks};
use std::sync::{Mutex, MutexGuard};

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

/// What is known of the position whose key stands beside it. All zeros are an entry that nobody has written.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
struct Entry<B> {
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
    fn new(known: &Known<B>, work: u32, generation: u8) -> Entry<B> {
        match *known {
            Known::Open { pn, dn } => Entry {
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
                Entry { suffix, trace, work, rests_on, content, generation }
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

/// The keys of a bucket are one cache line, so that a look-up that finds nothing waits for memory once. The entries are three
/// more where sets are one word.
#[derive(Default, Zeroable)]
#[repr(C, align(64))]
struct Bucket<B> {
    /// The halves of the keys.
    keys: [[u64; 2]; WAYS],
    entries: [Entry<B>; WAYS],
}

impl<B: Bits> Bucket<B> {
    /// Where entries with this key are.
    fn ways(&self, key: [u64; 2]) -> impl Iterator<Item = usize> + use<B> {
        let same = self.keys.map(|other| other == key);
        (0..WAYS).filter(move |&way| same[way])
    }
}

/// See the [module documentation](self).
pub(super) struct Table<B> {
    shards: Vec<Mutex<Blanks<Bucket<B>>>>,
    buckets: u64,
    generation: u8,
}

impl<B> std::fmt::Debug for Table<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("buckets", &self.buckets).finish_non_exhaustive()
    }
}

impl<B: Bits> Table<B> {
    /// A table of at most so many bytes, but of 64 buckets at least; of half as many, and so on, if the system refuses that.
    /// Memory is taken when it is first written to.
    pub(super) fn new(bytes: usize) -> Table<B> {
        let mut per_shard = (bytes / size_of::<Bucket<B>>() / SHARDS).max(1);
        loop {
            let shards: Option<Vec<_>> = (0..SHARDS).map(|_| blanks(per_shard).map(Mutex::new)).collect();
            match shards {
                Some(shards) => return Table { shards, buckets: per_shard as u64, generation: 1 },
                None if per_shard > 1 => per_shard /= 2,
                None => std::alloc::handle_alloc_error(std::alloc::Layout::new::<Bucket<B>>()),
            }
        }
    }

    /// Entries of before may now be replaced first.
    pub(super) fn next_generation(&mut self) {
        self.generation = self.generation.checked_add(1).unwrap_or(1);
    }

    /// Bytes that it may take.
    pub(super) fn bytes(&self) -> usize {
        SHARDS * self.buckets as usize * size_of::<Bucket<B>>()
    }

    /// The part of the table where this key belongs, and the bucket's number in it.
    fn bucket(&self, [high, low]: [u64; 2]) -> (MutexGuard<'_, Blanks<Bucket<B>>>, usize) {
        let shard = &self.shards[low as usize % SHARDS];
        // A thread that panicked has left whole entries behind: nothing can panic between a key and what is known of it.
        let shard = shard.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (shard, (high % self.buckets) as usize)
    }

    /// Has memory fetched what [`look_up`](Table::look_up) will want to see.
    #[inline]
    pub(super) fn prefetch(&self, key: u128) {
        let (shard, index) = self.bucket(halves(key));
        prefetch(&shard[index].keys);
    }

    /// What is known of a position: the proof for which `holds`, or else the numbers so far.
    pub(super) fn look_up(&self, key: u128, mut holds: impl FnMut(&Proof<B>) -> bool) -> Option<Known<B>> {
        let key = halves(key);
        let (mut shard, index) = self.bucket(key);
        let bucket = &mut shard[index];
        let mut open = None;
        for way in bucket.ways(key) {
            let entry = &mut bucket.entries[way];
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
    }

    /// Remembers.
    pub(super) fn store(&self, key: u128, known: Known<B>, work: u64) {
        let work = work.min(u64::from(u32::MAX)) as u32;
        let key = halves(key);
        let (mut shard, index) = self.bucket(key);
        let bucket = &mut shard[index];
        let replaces = |old: &Entry<B>| match (old.known(), &known) {
            (None, _) | (Some(Known::Proven(_)), Known::Open { .. }) => false,
            (Some(Known::Open { .. }), Known::Open { .. }) => true,
            // A proof that always holds makes the numbers useless.
            (Some(Known::Open { .. }), Known::Proven(new)) => new.rests_on == 0,
            (Some(Known::Proven(old)), Known::Proven(new)) => {
                (old.won, old.rests_on, old.suffix) == (new.won, new.rests_on, new.suffix)
            }
        };
        let same = bucket.ways(key).find(|&way| replaces(&bucket.entries[way]));
        let slot = same.unwrap_or_else(|| {
            let value = |entry: &Entry<B>| {
                (entry.content() != Content::Free, entry.generation == self.generation, entry.work)
            };
            (0..WAYS).min_by_key(|&way| value(&bucket.entries[way])).unwrap_or(0)
        });
        let old = bucket.entries[slot].work;
        let work = if same.is_some() { old.saturating_add(work) } else { work };
        bucket.keys[slot] = key;
        bucket.entries[slot] = Entry::new(&known, work, self.generation);
    }
}

/// Has the processor fetch a value that will be read soon.
#[inline]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "the standard library has no safe function for it")
)]
fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: nothing is read, and no address would be wrong.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(
            std::ptr::from_ref(value).cast(),
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
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
    fn a_table_for_which_there_is_no_memory_is_smaller() {
        let table: Table<u64> = Table::new(1 << 60);
        assert!(table.bytes() < 1 << 60);
        table.store(1, Known::Open { pn: 1, dn: 2 }, 1);
        assert!(table.look_up(1, |_| true).is_some());
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
