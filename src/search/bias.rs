//! Correction of errors that the network repeats in one search.
//!
//! A network that misjudges a local fight misjudges it in every position in which the same move was made there. If the
//! search below such a position finds a value that differs from the network's, the difference is recorded under the
//! move and its surroundings. Part of the mean difference is added to the network's value of all positions after such a
//! move.
//!
//! CITE: KataGo's documentation of its methods, "Subtree value bias correction", which is worth 30 to 60 Elo there.

use super::node::Node;
use kosumi_go::board::{Board, Color, Move, Point};
use kosumi_go::rng::mix;
use kosumi_sync::atomic::{AtomicI64, Ordering};
use kosumi_sync::{ZeroedSlice, zeroed, zeroed_slice};
use std::fmt;

/// Summed differences and weights of the nodes after one kind of move. They are integers, so a node can take back
/// exactly what it has added.
#[cfg_attr(not(loom), derive(bytemuck::Zeroable))]
#[cfg_attr(loom, derive(Default))]
struct Entry {
    difference: AtomicI64,
    weight: AtomicI64,
}

/// Fixed-point one of both sums. The weight of a difference is at most the visits of its node.
const ONE: f64 = (1u64 << 24) as f64;
/// Number of entries. Moves of different kinds may share an entry; with 65,536 entries that is rare.
const ENTRIES: usize = if cfg!(loom) { 2 } else { 1 << 16 };
/// Bit of a node's entry number: the node has faded.
const FADED: u32 = 1 << 31;
/// Largest summed weight that is ignored.
const MAX_IGNORED_WEIGHT: f64 = 0.001;

/// Entries for all kinds of moves, shared by all workers.
pub struct BiasTable {
    entries: ZeroedSlice<Entry>,
}

impl fmt::Debug for BiasTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BiasTable").finish_non_exhaustive()
    }
}

/// A kind of move: the number of its entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind(u32);

impl Kind {
    /// Returns the kind of a move on `board` by `color` after the opponent's move `before`: both points, and the
    /// surroundings with the chains in atari. A pass has no kind.
    pub fn of(board: &Board, color: Color, mv: Move, before: Move) -> Option<Kind> {
        let point = mv.point()?;
        let before = before.point().map_or(0, Point::index);
        let mut hash = mix((point.index() << 20 | before << 4) as u64 | color as u64);
        let (column, row) = (point.column(), point.row());
        for row in row.saturating_sub(2)..=row + 2 {
            for column in column.saturating_sub(2)..=column + 2 {
                // Identical points of the board have identical surroundings, so the border needs no code.
                let Some(near) = board.size().point(column, row) else { continue };
                let code = match board.cell(near).color() {
                    None => u64::from(board.ko().is_some_and(|(ko, _)| ko == near)),
                    Some(stone) => 2 + 2 * (stone as u64) + u64::from(board.in_atari(near)),
                };
                hash = mix(hash ^ code).wrapping_add(code);
            }
        }
        Some(Kind((hash >> 40) as u32 & (ENTRIES as u32 - 1)))
    }
}

impl Kind {
    /// Returns the number of the entry, for other ranks, whose tables have the same entries.
    pub fn number(self) -> u32 {
        self.0
    }

    /// Returns the kind with a [`number`](Self::number). Invalid numbers give an arbitrary kind.
    pub fn of_number(number: u32) -> Kind {
        Kind(number & (ENTRIES as u32 - 1))
    }
}

/// Converts a node's contribution to fixed point.
fn fixed(number: f32) -> i64 {
    (f64::from(number) * ONE) as i64
}

impl Default for BiasTable {
    fn default() -> BiasTable {
        BiasTable::new()
    }
}

impl BiasTable {
    /// Creates an empty table.
    pub fn new() -> BiasTable {
        BiasTable { entries: zeroed_slice(ENTRIES).expect("memory for a table of 1 MiB") }
    }

    /// Forgets all entries.
    pub fn clear(&mut self) {
        for entry in self.entries.iter_mut() {
            *entry = zeroed();
        }
    }

    /// Assigns the kind of the move that led to a new node. A node that other moves lead to as well keeps its first
    /// kind.
    pub fn assign_kind(node: &Node, kind: Option<Kind>) {
        if let Some(Kind(entry)) = kind {
            let _ = node.bias_entry.compare_exchange(0, entry + 1, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Records the difference between the search below a node and the node's own evaluation, with this weight. The new
    /// values replace those recorded before. Only one worker at a time may do this for a node.
    pub(crate) fn record(&self, node: &Node, difference: f32, weight: f32) {
        let Some(entry) = self.entry_of(node) else { return };
        let add =
            |sum: &AtomicI64, new: f32, old: f32| sum.fetch_add(fixed(new) - fixed(old), Ordering::Relaxed);
        add(&entry.difference, difference, node.bias_difference.get());
        add(&entry.weight, weight, node.bias_weight.get());
        node.bias_difference.set(difference);
        node.bias_weight.set(weight);
        node.bias_entry.fetch_and(!FADED, Ordering::Relaxed);
    }

    /// Reduces the contribution of an unreachable node to `share` of its value, until the node records a new one.
    pub(crate) fn fade(&self, node: &Node, share: f32) {
        if node.bias_weight.get() != 0.0 && node.bias_entry.load(Ordering::Relaxed) & FADED == 0 {
            self.record(node, share * node.bias_difference.get(), share * node.bias_weight.get());
            node.bias_entry.fetch_or(FADED, Ordering::Relaxed);
        }
    }

    /// Returns the mean difference for the kind of a node, for Black; 0 if nothing is known.
    pub(crate) fn bias(&self, node: &Node) -> f64 {
        let Some(entry) = self.entry_of(node) else { return 0.0 };
        let weight = entry.weight.load(Ordering::Relaxed) as f64;
        if weight <= MAX_IGNORED_WEIGHT * ONE {
            return 0.0;
        }
        entry.difference.load(Ordering::Relaxed) as f64 / weight
    }

    fn entry_of(&self, node: &Node) -> Option<&Entry> {
        let number = (node.bias_entry.load(Ordering::Relaxed) & !FADED).checked_sub(1)?;
        self.entries.get(number as usize)
    }

    /// Returns the sums of all entries that are not empty: number, differences, weights.
    #[cfg(test)]
    pub(crate) fn sums(&self) -> Vec<(u32, i64, i64)> {
        let sums = |(number, entry): (usize, &Entry)| {
            (number as u32, entry.difference.load(Ordering::Relaxed), entry.weight.load(Ordering::Relaxed))
        };
        self.entries.iter().enumerate().map(sums).filter(|&(_, a, b)| (a, b) != (0, 0)).collect()
    }

    /// Returns the contribution of a node: number of its entry, difference, weight.
    #[cfg(test)]
    pub(crate) fn contribution(node: &Node) -> Option<(u32, i64, i64)> {
        let number = (node.bias_entry.load(Ordering::Relaxed) & !FADED).checked_sub(1)?;
        Some((number, fixed(node.bias_difference.get()), fixed(node.bias_weight.get())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_local() {
        let board = |drawing: &str| drawing.parse::<Board>().expect("a drawing");
        let plain = board(". . . . . .\n. . . . . .\n. . . . . .\n. . . . . .\n. X . . . .\n. . . . . .");
        let far = board(". . . . . O\n. . . . . .\n. . . . . .\n. . . . . .\n. X . . . .\n. . . . . .");
        let near = board(". . . . . .\n. . . . . .\n. . . . . .\n. . O . . .\n. X . . . .\n. . . . . .");
        let (mv, other) = (Move::Play(Point::new(2, 1)), Move::Play(Point::new(3, 1)));
        let kind = |board: &Board, color, mv, before| Kind::of(board, color, mv, before);
        let usual = kind(&plain, Color::Black, mv, Move::Pass);
        assert_eq!(usual, kind(&far, Color::Black, mv, Move::Pass));
        assert_ne!(usual, kind(&near, Color::Black, mv, Move::Pass));
        assert_ne!(usual, kind(&plain, Color::White, mv, Move::Pass));
        assert_ne!(usual, kind(&plain, Color::Black, other, Move::Pass));
        assert_ne!(usual, kind(&plain, Color::Black, mv, other));
        assert_eq!(kind(&plain, Color::Black, Move::Pass, mv), None);
    }

    #[test]
    fn node_contributions_are_replaced() {
        let table = BiasTable::new();
        let [a, b, none] = [(); 3].map(|()| zeroed::<Node>());
        BiasTable::assign_kind(&a, Some(Kind(7)));
        BiasTable::assign_kind(&b, Some(Kind(7)));
        BiasTable::assign_kind(&b, Some(Kind(8)));
        assert_eq!(table.bias(&a), 0.0);
        table.record(&a, 0.5, 1.0);
        table.record(&b, -1.5, 3.0);
        assert!((table.bias(&a) + 0.25).abs() < 1e-6 && table.bias(&a) == table.bias(&b));
        table.record(&b, 0.25, 0.5);
        assert!((table.bias(&b) - 0.5).abs() < 1e-6, "the new values replace the old ones");
        table.fade(&b, 0.2);
        table.record(&a, 0.0, 0.0);
        assert!((table.bias(&a) - 0.5).abs() < 1e-6);
        assert_eq!(table.sums().len(), 1);
        let before = table.sums();
        table.fade(&b, 0.2);
        assert_eq!(table.sums(), before, "it has faded already");
        table.record(&b, 0.0, 0.0);
        assert_eq!((table.bias(&a), table.sums().len()), (0.0, 0));
        table.record(&none, 1.0, 1.0);
        assert_eq!((table.bias(&none), table.sums().len()), (0.0, 0));
    }
}
