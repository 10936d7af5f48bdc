//! Superko: records the positions that have been on the board and detects moves that would repeat one of them.
//!
//! Repetition is decided only in this module. [`History`] holds the positions of a game, and [`LineHistory`] those of a
//! line that a search has played on top of it. A query always consults both.
//!
//! The entry stored for a position depends on the rule. Positional superko (PSK) stores the stones. Situational superko
//! (SSK) stores the stones and the side to move. Natural situational superko (NSSK) stores the stones and the side that
//! created them, and only for plays. A move is forbidden if its entry is already stored.
//!
//! If the rules have a button, the state of the button (free or taken) is part of every entry. After it has been taken,
//! no earlier position can be repeated. (KataGo clears its history at that moment, which is equivalent.)
//!
//! **The common move is cheap.** Two exact filters precede the hash set:
//!
//! 1. A move that leaves its stone on the board can only recreate a position in which its point already held a stone of
//!    its colour. The point is empty now, so that stone has been lifted since. If no stone of the colour was ever
//!    lifted from the point, no further test is needed. Before the first capture of a game, this holds for all points.
//!    (A suicide leaves its point empty, so it is always tested.)
//! 2. The earlier position has the same number of stones. A table counts the positions by their number of stones.

use crate::board::{Board, ByColor, Cell, Color, Key, MAX_AREA, Move, Point, PointMap, PointSet};
use crate::rules::KoRule;
use hashbrown::HashMap;
use smallvec::SmallVec;
use std::hash::{BuildHasherDefault, Hasher};

/// A hasher for keys, which are random already: the low half of the key is the hash.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        // Only u128 keys are hashed with this hasher, see `write_u128`.
        debug_assert!(false, "only keys are hashed here");
    }

    #[inline]
    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }
}

/// Key that distinguishes positions after the button was taken from those before. Like the Zobrist keys, it must never
/// change.
const BUTTON_TAKEN: Key = Key(0x9d3c_51f2_0b7e_a648_c15e_72d9_3fa4_0e8b);

/// Returns the entry that the rule stores for the position after a move of `mover`, or `None` if it stores nothing.
#[inline]
fn entry(
    rule: KoRule,
    board: &Board,
    key: Key,
    mover: Color,
    is_pass: bool,
    is_button_taken: bool,
) -> Option<Key> {
    let key = if is_button_taken { key ^ BUTTON_TAKEN } else { key };
    match rule {
        KoRule::Simple => None,
        KoRule::Positional => Some(key),
        KoRule::Situational => Some(key ^ board.zobrist().side(mover.opponent())),
        KoRule::NaturalSituational if is_pass => None,
        KoRule::NaturalSituational => Some(key ^ board.zobrist().side(mover)),
    }
}

/// A move that has been played, as the history records it.
#[derive(Clone, Copy, Debug)]
pub struct PlayedMove<'m> {
    /// Side that moved.
    pub mover: Color,
    /// The move.
    pub mv: Move,
    /// Stones that the move removed: captures, or the mover's own chain after a suicide.
    pub lifted: &'m [Point],
    /// Colour of the lifted stones.
    pub lifted_color: Color,
    /// Whether the button has been taken, by this move or before it.
    pub is_button_taken: bool,
}

impl PlayedMove<'_> {
    /// Returns the entry that the rule stores for the position after the move.
    fn entry(&self, rule: KoRule, board: &Board) -> Option<Key> {
        entry(rule, board, board.key(), self.mover, self.mv == Move::Pass, self.is_button_taken)
    }
}

/// Positions of a game.
#[derive(Clone, Debug)]
pub struct History {
    rule: KoRule,
    /// Multiplicity of each entry. A tolerant game may repeat positions, and undo must remove only one of them.
    positions: HashMap<u128, u32, BuildHasherDefault<KeyHasher>>,
    /// Number of entries by number of stones.
    by_stones: Box<[u32; MAX_AREA + 1]>,
    /// Number of stones of each colour that were lifted from each point.
    lifted: ByColor<PointMap<u32>>,
    lifted_points: ByColor<PointSet>,
}

impl History {
    /// Creates the history of a game that starts at `board` with `to_move` to play.
    pub fn new(rule: KoRule, board: &Board, to_move: Color) -> History {
        let mut history = History {
            rule,
            positions: HashMap::default(),
            by_stones: Box::new([0; MAX_AREA + 1]),
            lifted: ByColor::new(PointMap::filled(0), PointMap::filled(0)),
            lifted_points: ByColor::default(),
        };
        // No play created the first position, so NSSK does not store it.
        history.add(entry(rule, board, board.key(), to_move.opponent(), true, false), board.stone_count());
        history
    }

    /// Returns the ko rule of the history.
    pub fn rule(&self) -> KoRule {
        self.rule
    }

    /// Returns the number of distinct entries.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    fn add(&mut self, entry: Option<Key>, stones: usize) {
        if let Some(key) = entry {
            *self.positions.entry(key.0).or_insert(0) += 1;
            self.by_stones[stones] += 1;
        }
    }

    fn contains(&self, entry: Key, stones: usize) -> bool {
        self.by_stones[stones] > 0 && self.positions.contains_key(&entry.0)
    }

    /// Records a move that has been played. `board` is the position after it.
    pub fn push(&mut self, board: &Board, played: PlayedMove<'_>) {
        let PlayedMove { lifted, lifted_color, .. } = played;
        self.add(played.entry(self.rule, board), board.stone_count());
        for &point in lifted {
            self.lifted[lifted_color][point] += 1;
            self.lifted_points[lifted_color].insert(point);
        }
    }

    /// Undoes the latest [`History::push`], given the same arguments.
    pub fn pop(&mut self, board: &Board, played: PlayedMove<'_>) {
        let PlayedMove { lifted, lifted_color, .. } = played;
        if let Some(key) = played.entry(self.rule, board) {
            if let Some(count) = self.positions.get_mut(&key.0) {
                *count -= 1;
                if *count == 0 {
                    self.positions.remove(&key.0);
                }
            }
            self.by_stones[board.stone_count()] -= 1;
        }
        for &point in lifted {
            let count = &mut self.lifted[lifted_color][point];
            *count -= 1;
            if *count == 0 {
                self.lifted_points[lifted_color].remove(point);
            }
        }
    }

    /// Returns whether a play of `color` on an empty point of `board` would be a repetition that the rule forbids.
    /// `board` is the position after the game and then `line`.
    #[inline]
    pub fn would_repeat(
        &self,
        line: Option<&LineHistory>,
        board: &Board,
        point: Point,
        color: Color,
        is_button_taken: bool,
    ) -> bool {
        if self.rule == KoRule::Simple {
            return false;
        }
        let lifted = self.lifted_points[color].contains(point)
            || line.is_some_and(|line| line.lifted[color].contains(point));
        (lifted || board.is_suicide(point, color))
            && self.would_repeat_slow(line, board, point, color, is_button_taken)
    }

    fn would_repeat_slow(
        &self,
        line: Option<&LineHistory>,
        board: &Board,
        point: Point,
        color: Color,
        is_button_taken: bool,
    ) -> bool {
        let outcome = board.outcome(point, color);
        entry(self.rule, board, outcome.key, color, false, is_button_taken).is_some_and(|entry| {
            self.contains(entry, outcome.stones)
                || line.is_some_and(|line| line.contains(entry, outcome.stones))
        })
    }

    /// Returns the empty points that superko alone forbids to `color`. `suicide` states whether the rules allow
    /// suicide, so that suicides can be among these points.
    pub fn banned(
        &self,
        line: Option<&LineHistory>,
        board: &Board,
        color: Color,
        suicide: bool,
        is_button_taken: bool,
    ) -> impl Iterator<Item = Point> {
        let mut candidates = PointSet::EMPTY;
        if self.rule != KoRule::Simple {
            candidates = self.lifted_points[color];
            if let Some(line) = line {
                candidates.union_with(&line.lifted[color]);
            }
            if suicide {
                let dense = |point: &&Point| !board.has_empty_neighbour(**point);
                board.empties().iter().filter(dense).for_each(|&point| {
                    candidates.insert(point);
                });
            }
        }
        let banned = |point: Point| {
            board.cell(point) == Cell::Empty
                && (!board.is_suicide(point, color)
                    || suicide && !board.is_single_stone_suicide(point, color))
                && self.would_repeat_slow(line, board, point, color, is_button_taken)
        };
        candidates.iter().filter(|&point| banned(point)).collect::<SmallVec<[Point; 4]>>().into_iter()
    }
}

/// Positions of a line played on top of a game. Resetting it is cheap.
#[derive(Clone, Debug)]
pub struct LineHistory {
    entries: Vec<(Key, u16)>,
    /// Number of entries by number of stones.
    by_stones: Box<[u16; MAX_AREA + 1]>,
    lifted: ByColor<PointSet>,
}

impl Default for LineHistory {
    fn default() -> LineHistory {
        LineHistory::new()
    }
}

impl LineHistory {
    /// Creates an empty history.
    pub fn new() -> LineHistory {
        LineHistory {
            entries: Vec::new(),
            by_stones: Box::new([0; MAX_AREA + 1]),
            lifted: ByColor::default(),
        }
    }

    /// Removes all positions.
    pub fn clear(&mut self) {
        for (_, stones) in self.entries.drain(..) {
            self.by_stones[usize::from(stones)] = 0;
        }
        self.lifted = ByColor::default();
    }

    /// Records a move that has been played under `rule`. See [`History::push`].
    pub fn push(&mut self, rule: KoRule, board: &Board, played: PlayedMove<'_>) {
        let PlayedMove { lifted, lifted_color, .. } = played;
        if let Some(key) = played.entry(rule, board) {
            self.entries.push((key, board.stone_count() as u16));
            self.by_stones[board.stone_count()] += 1;
        }
        for &point in lifted {
            self.lifted[lifted_color].insert(point);
        }
    }

    fn contains(&self, entry: Key, stones: usize) -> bool {
        self.by_stones[stones] > 0 && self.entries.iter().any(|&(key, _)| key == entry)
    }
}
