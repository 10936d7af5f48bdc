//! The transposition table: knowledge about positions in a fixed amount of memory.
//!
//! A bucket has four entries. A position may have several entries: the proof and disproof numbers of its search so far,
//! and proofs. A proof carries the conditions under which it may be used again (see [`Proof`]), and a look-up finds a
//! proof whose conditions hold. Entries of earlier searches are replaced before those of the present one, and entries
//! of little work before those of more. The table therefore needs no sweep and never grows.

use super::bits::Bits;
use super::move_code::{MoveCode, NO_MOVE};
use bytemuck::Zeroable;
use kosumi_sync::{ZeroedSlice, zeroed_slice};
use std::sync::{Mutex, MutexGuard};

/// Points at which stones were placed and removed, by colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Zeroable)]
pub(super) struct Trace<B> {
    pub(super) played: [B; 2],
    pub(super) removed: [B; 2],
}

impl<B: Bits> Trace<B> {
    /// Returns the union of both traces.
    pub(super) fn with(self, other: &Trace<B>) -> Trace<B> {
        Trace {
            played: [self.played[0] | other.played[0], self.played[1] | other.played[1]],
            removed: [self.removed[0] | other.removed[0], self.removed[1] | other.removed[1]],
        }
    }
}

/// Winner of a position, and the conditions under which the result holds.
///
/// A proof is a tree with one move of the winner and all moves of the loser at each turn. It also holds after another
/// past if
///
/// 1. that past has the positions by which superko forbade moves of the loser inside the tree, or to which a cycle
///    returned: these are among the last `depends_on` positions before this one, whose hash is `suffix`;
/// 2. no position of that past recurs by a move of the winner inside the tree (under simple ko with cycles that the
///    winner would lose: by a move of either side): `trace` holds all points that are played and removed in the tree,
///    and a position can only recur if the differences are among them.
///
/// A position with fewer banned moves for the loser is a different position: bans are part of the key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Proof<B> {
    /// Whether the prover of the goal wins.
    pub(super) won: bool,
    /// Number of positions before this one on which the proof depends.
    pub(super) depends_on: u16,
    /// Hash of these positions; 0 if the number is 0.
    pub(super) suffix: u64,
    pub(super) trace: Trace<B>,
    /// A winning move, if the winner is to move. It is stored only if the proof depends on no earlier position.
    pub(super) best: MoveCode,
}

/// Knowledge about a position.
#[derive(Clone, Copy, Debug)]
pub(super) enum Knowledge<B> {
    /// Proof and disproof number so far.
    Open {
        pn: u32,
        dn: u32,
    },
    Proven(Proof<B>),
}

/// Kind of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Content {
    Free,
    Open,
    Lost,
    Won,
}

/// Knowledge about the position whose key stands at the same index of the bucket. An entry of zeros is unused.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
struct Entry<B> {
    /// Hash of a proof's past, or the best move of a proof that depends on nothing, or the proof number and the
    /// disproof number of an open position.
    suffix: u64,
    trace: Trace<B>,
    /// Number of nodes searched for it.
    work: u32,
    depends_on: u16,
    /// A [`Content`].
    content: u8,
    /// Search that wrote or used it last.
    generation: u8,
}

impl<B: Bits> Entry<B> {
    fn new(known: &Knowledge<B>, work: u32, generation: u8) -> Entry<B> {
        match *known {
            Knowledge::Open { pn, dn } => Entry {
                suffix: u64::from(pn) << 32 | u64::from(dn),
                trace: Trace::default(),
                work,
                depends_on: 0,
                content: Content::Open as u8,
                generation,
            },
            Knowledge::Proven(Proof { won, depends_on, suffix, trace, best }) => {
                let content = if won { Content::Won } else { Content::Lost } as u8;
                let suffix = if depends_on == 0 { u64::from(best) } else { suffix };
                Entry { suffix, trace, work, depends_on, content, generation }
            }
        }
    }

    fn content(&self) -> Content {
        [Content::Free, Content::Open, Content::Lost, Content::Won][usize::from(self.content % 4)]
    }

    fn known(&self) -> Option<Knowledge<B>> {
        let won = match self.content() {
            Content::Free => return None,
            Content::Open => {
                return Some(Knowledge::Open { pn: (self.suffix >> 32) as u32, dn: self.suffix as u32 });
            }
            Content::Lost => false,
            Content::Won => true,
        };
        let Entry { depends_on, suffix, trace, .. } = *self;
        let (suffix, best) = if depends_on == 0 { (0, suffix as MoveCode) } else { (suffix, NO_MOVE) };
        Some(Knowledge::Proven(Proof { won, depends_on, suffix, trace, best }))
    }
}

const WAYS: usize = 4;
/// Number of parts of the table, each with its own lock.
const SHARDS: usize = 64;

/// A bucket of the table. Its keys fill one cache line, so a look-up without a hit waits for memory once. The entries
/// take three more lines if sets are one word.
#[derive(Default, Zeroable)]
#[repr(C, align(64))]
struct Bucket<B> {
    /// The halves of the keys.
    keys: [[u64; 2]; WAYS],
    entries: [Entry<B>; WAYS],
}

impl<B: Bits> Bucket<B> {
    /// Returns the indices of the entries with this key.
    fn ways(&self, key: [u64; 2]) -> impl Iterator<Item = usize> + use<B> {
        let same = self.keys.map(|other| other == key);
        (0..WAYS).filter(move |&way| same[way])
    }
}

/// See the [module documentation](self).
pub(super) struct Table<B> {
    shards: Vec<Mutex<ZeroedSlice<Bucket<B>>>>,
    buckets: u64,
    generation: u8,
}

impl<B> std::fmt::Debug for Table<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("buckets", &self.buckets).finish_non_exhaustive()
    }
}

impl<B: Bits> Table<B> {
    /// Creates a table of at most this number of bytes, but of at least 64 buckets. If the system refuses the memory,
    /// the size is halved until the allocation succeeds. The system provides memory when it is first written.
    pub(super) fn new(bytes: usize) -> Table<B> {
        let mut per_shard = (bytes / size_of::<Bucket<B>>() / SHARDS).max(1);
        loop {
            let shards: Option<Vec<_>> =
                (0..SHARDS).map(|_| zeroed_slice(per_shard).map(Mutex::new)).collect();
            match shards {
                Some(shards) => return Table { shards, buckets: per_shard as u64, generation: 1 },
                None if per_shard > 1 => per_shard /= 2,
                None => std::alloc::handle_alloc_error(std::alloc::Layout::new::<Bucket<B>>()),
            }
        }
    }

    /// Starts a new generation. Entries of earlier generations are replaced first.
    pub(super) fn next_generation(&mut self) {
        self.generation = self.generation.checked_add(1).unwrap_or(1);
    }

    /// Returns the size of the table, in bytes.
    pub(super) fn bytes(&self) -> usize {
        SHARDS * self.buckets as usize * size_of::<Bucket<B>>()
    }

    /// Returns the part of the table where this key belongs, and the index of the bucket in it.
    fn bucket(&self, [high, low]: [u64; 2]) -> (MutexGuard<'_, ZeroedSlice<Bucket<B>>>, usize) {
        let shard = &self.shards[low as usize % SHARDS];
        // A thread that panicked has left complete entries: nothing can panic between the write of a key and that of
        // its entry.
        let shard = shard.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (shard, (high % self.buckets) as usize)
    }

    /// Prefetches the keys that [`look_up`](Table::look_up) will read.
    #[inline]
    pub(super) fn prefetch(&self, key: u128) {
        let (shard, index) = self.bucket(halves(key));
        prefetch(&shard[index].keys);
    }

    /// Returns knowledge about a position: a proof for which `holds` returns true, or else the numbers so far.
    pub(super) fn look_up(
        &self,
        key: u128,
        mut holds: impl FnMut(&Proof<B>) -> bool,
    ) -> Option<Knowledge<B>> {
        let key = halves(key);
        let (mut shard, index) = self.bucket(key);
        let bucket = &mut shard[index];
        let mut open = None;
        for way in bucket.ways(key) {
            let entry = &mut bucket.entries[way];
            match entry.known() {
                Some(known @ Knowledge::Proven(proof)) if holds(&proof) => {
                    entry.generation = self.generation;
                    return Some(known);
                }
                Some(known @ Knowledge::Open { .. }) => open = Some(known),
                Some(Knowledge::Proven(_)) | None => {}
            }
        }
        open
    }

    /// Stores knowledge about a position.
    pub(super) fn store(&self, key: u128, known: Knowledge<B>, work: u64) {
        let work = work.min(u64::from(u32::MAX)) as u32;
        let key = halves(key);
        let (mut shard, index) = self.bucket(key);
        let bucket = &mut shard[index];
        let replaces = |old: &Entry<B>| match (old.known(), &known) {
            (None, _) | (Some(Knowledge::Proven(_)), Knowledge::Open { .. }) => false,
            (Some(Knowledge::Open { .. }), Knowledge::Open { .. }) => true,
            // A proof without conditions makes the numbers useless.
            (Some(Knowledge::Open { .. }), Knowledge::Proven(new)) => new.depends_on == 0,
            (Some(Knowledge::Proven(old)), Knowledge::Proven(new)) => {
                (old.won, old.depends_on, old.suffix) == (new.won, new.depends_on, new.suffix)
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

/// Prefetches a value that will be read soon.
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

/// A hash of 128 bits, into which words are mixed one by one.
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

    fn proof(won: bool, depends_on: u16, suffix: u64) -> Proof<u64> {
        Proof { won, depends_on, suffix, trace: Trace::default(), best: NO_MOVE }
    }

    #[test]
    fn proofs_are_found_only_where_they_hold() {
        let table: Table<u64> = Table::new(1 << 20);
        assert!(table.look_up(7, |_| true).is_none());
        table.store(7, Knowledge::Open { pn: 3, dn: 4 }, 10);
        table.store(7, Knowledge::Proven(proof(true, 2, 55)), 20);
        // The numbers stay beside a proof that depends on its past.
        let found = table.look_up(7, |_| false).unwrap();
        assert!(matches!(found, Knowledge::Open { pn: 3, dn: 4 }));
        let found = table.look_up(7, |proof| proof.suffix == 55).unwrap();
        assert!(matches!(found, Knowledge::Proven(proof) if proof.won));
        // A proof without conditions replaces them.
        table.store(7, Knowledge::Proven(proof(false, 0, 0)), 30);
        assert!(table.look_up(7, |_| false).is_none());
        assert!(table.look_up(8, |_| true).is_none());
    }

    #[test]
    fn table_shrinks_when_memory_is_refused() {
        let table: Table<u64> = Table::new(1 << 60);
        assert!(table.bytes() < 1 << 60);
        table.store(1, Knowledge::Open { pn: 1, dn: 2 }, 1);
        assert!(table.look_up(1, |_| true).is_some());
    }

    #[test]
    fn full_table_keeps_entries_of_most_work() {
        let mut table: Table<u64> = Table::new(0);
        assert!(table.bytes() < 1 << 20);
        // All keys go to one bucket: the remainders of both halves are equal.
        let key = |n: u64| u128::from(n) << 64;
        for n in 0..1000 {
            table.store(key(n), Knowledge::Open { pn: 1, dn: 1 }, n + 1);
        }
        let kept: Vec<u64> = (0..1000).filter(|&n| table.look_up(key(n), |_| true).is_some()).collect();
        assert_eq!(kept, [996, 997, 998, 999]);
        // Entries of the last search are replaced before the few entries of the present one.
        table.next_generation();
        table.store(key(1), Knowledge::Open { pn: 1, dn: 1 }, 1);
        table.store(key(2), Knowledge::Open { pn: 1, dn: 1 }, 1);
        assert!(table.look_up(key(1), |_| true).is_some() && table.look_up(key(996), |_| true).is_none());
    }
}
