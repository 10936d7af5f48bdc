//! The line that a search has played, and what its past forbids: superko and cycles, with an exact comparison of
//! stones.
//!
//! This module is the solver's own. [`history`](kosumi_go::history) decides repetition in games. `solve::tests`
//! compares the two.

use super::bits::Bits;
use super::images::Images;
use super::table::{Hash128, Proof};
use super::window::{NO_POINT, Position, Window};
use kosumi_go::board::Color;
use kosumi_go::rules::KoRule;

/// Treatment of repetition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Repetition {
    /// Superko: a play that repeats a position is not legal. Never [`KoRule::Simple`].
    Forbidden(KoRule),
    /// Simple ko. If a position recurs with the same side to move, this side has won the game.
    Wins(Color),
}

impl Repetition {
    /// Returns the side that wins cycles, if cycles are possible.
    pub(super) fn cycles(self) -> Option<Color> {
        match self {
            Repetition::Forbidden(_) => None,
            Repetition::Wins(winner) => Some(winner),
        }
    }
}

/// Value of `since` for a result that depends on no earlier position.
pub(super) const NEVER: u16 = u16::MAX;

/// One position of the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathEntry<B> {
    position: Position<B>,
    /// Side whose move led to the position, and whether that move was a stone. The values of the first position have no
    /// meaning.
    mover: Color,
    by_play: bool,
    /// Points from which stones were removed so far, by colour.
    lifted: [B; 2],
    /// Hash of all fields but the removed stones.
    id: u64,
}

/// The positions of a line, from the first to the one that is being searched.
#[derive(Debug)]
pub(super) struct Path<B> {
    repetition: Repetition,
    /// Part of all keys: a position has a different key under each goal.
    salt: u64,
    steps: Vec<PathEntry<B>>,
}

/// Effects of the past on a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Past<B> {
    /// Points where superko forbids a stone of the side to move that would otherwise be legal.
    pub(super) banned: B,
    /// Index of the earliest position of the line that bans one of these points; [`NEVER`] if no point is banned.
    pub(super) since: u16,
    /// Key of the position, with everything that matters: stones, side to move, passes, ko, threats, bans, and the
    /// superko entries that are stored for the present stones.
    pub(super) key: u128,
    /// Symmetry that leads from the position to the image under whose key the table stores it.
    pub(super) symmetry: u8,
}

impl<B: Bits> Path<B> {
    pub(super) fn new(repetition: Repetition, salt: u64) -> Path<B> {
        Path { repetition, salt, steps: Vec::new() }
    }

    pub(super) fn repetition(&self) -> Repetition {
        self.repetition
    }

    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn clear(&mut self) {
        self.steps.clear();
    }

    /// Appends a position to the line. `mover` is the side that moved to it, `by_play` states whether the move was a
    /// stone, and `lifted` are the removed stones.
    pub(super) fn push(&mut self, position: Position<B>, mover: Color, by_play: bool, lifted: [B; 2]) {
        let before = self.steps.last().map_or([B::default(); 2], |step| step.lifted);
        let mut hash = Hash128::START;
        position.stones.into_iter().for_each(|stones| stones.words(|word| hash.mix(word)));
        hash.mix(self.state_word(&position) | (mover as u64) << 62 | u64::from(by_play) << 63);
        self.steps.push(PathEntry {
            position,
            mover,
            by_play,
            lifted: [before[0] | lifted[0], before[1] | lifted[1]],
            id: hash.finish() as u64,
        });
    }

    pub(super) fn pop(&mut self) {
        self.steps.pop();
    }

    /// Returns everything about a position except its stones, as one word. Superko rules need no ko point: the point
    /// that it forbids is among the bans.
    fn state_word(&self, position: &Position<B>) -> u64 {
        let ko = match self.repetition {
            Repetition::Forbidden(_) => NO_POINT,
            Repetition::Wins(_) => position.ko,
        };
        u64::from(ko)
            | (position.to_move as u64) << 16
            | u64::from(position.passes) << 17
            | u64::from(position.threats[0]) << 20
            | u64::from(position.threats[1]) << 28
            | u64::from(position.outside) << 48
    }

    /// Returns the latest step, if any, that forbids `mover` to create these stones.
    fn forbids(&self, rule: KoRule, stones: &[B; 2], mover: Color) -> Option<usize> {
        self.steps.iter().rposition(|step| {
            step.position.stones == *stones
                && match rule {
                    KoRule::Simple => false,
                    KoRule::Positional => true,
                    KoRule::Situational => step.position.to_move == mover.opponent(),
                    KoRule::NaturalSituational => step.by_play && step.mover == mover,
                }
        })
    }

    /// Returns the effects of the line, and of the move from its latest step with the stones that it removed, on the
    /// position after that move. That position itself is not on the line yet, unless it is the first.
    pub(super) fn past(
        &self,
        window: &Window<B>,
        images: Option<&Images<B>>,
        position: &Position<B>,
        by_play: bool,
        lifted: [B; 2],
    ) -> Past<B> {
        let mut past = Past { banned: B::default(), since: NEVER, key: 0, symmetry: 0 };
        let mut flags = 0;
        if let Repetition::Forbidden(rule) = self.repetition {
            let before = self.steps.last().map_or([B::default(); 2], |step| step.lifted);
            let lifted = [before[0] | lifted[0], before[1] | lifted[1]];
            let mover = position.to_move;
            let empty = window.empties(position);
            let mut candidates = lifted[mover as usize] & empty;
            if window.suicide {
                candidates = candidates | empty & !window.around(empty);
            }
            for index in (candidates & window.playable).each() {
                let Some(placed) = window.place(position, index) else { continue };
                if let Some(step) = self.forbids(rule, &placed.after.stones, mover) {
                    past.banned = past.banned | B::one(index);
                    past.since = past.since.min(step as u16);
                }
            }
            // Superko entries that are stored for the present stones: they decide whether these stones may recur.
            if rule != KoRule::Positional && !self.steps.is_empty() {
                for color in Color::BOTH {
                    // A pass stores an entry only if the side to move is part of the entry.
                    let stores = by_play || rule == KoRule::Situational;
                    let own = stores && color == mover.opponent();
                    let stored = own
                        || (position.passes > 0 || lifted[0].any() || lifted[1].any())
                            && self.forbids(rule, &position.stones, color).is_some();
                    flags |= u64::from(stored) << color as u32;
                }
            } else if rule == KoRule::Situational {
                flags = 1 << mover.opponent() as u32;
            }
        }
        let mut hash = Hash128::START;
        hash.mix(self.salt);
        let mut stones = position.stones;
        if past.banned.none()
            && position.ko == NO_POINT
            && let Some(images) = images
        {
            (stones, past.symmetry) = images.smallest(stones);
        }
        stones.into_iter().for_each(|stones| stones.words(|word| hash.mix(word)));
        hash.mix(self.state_word(position) | flags << 40);
        if past.banned.any() {
            past.banned.words(|word| hash.mix(word));
        }
        past.key = hash.finish();
        past
    }

    /// Returns the latest step with an identical position, if that ends the game.
    pub(super) fn cycle(&self, position: &Position<B>) -> Option<usize> {
        match self.repetition {
            Repetition::Forbidden(_) => None,
            Repetition::Wins(_) => self.steps.iter().rposition(|step| step.position == *position),
        }
    }

    /// Returns the hash of the last `count` steps.
    fn suffix(&self, count: usize, symmetry: u8) -> u64 {
        Path::hash(&self.steps[self.steps.len() - count..], symmetry)
    }

    /// Returns the hash of the `count` steps before the latest one.
    pub(super) fn suffix_before_last(&self, count: usize, symmetry: u8) -> u64 {
        let last = self.steps.len() - 1;
        Path::hash(&self.steps[last - count..last], symmetry)
    }

    /// Returns the hash of some steps. The past is not transformed together with the position after it, so each image
    /// has a different hash.
    fn hash(steps: &[PathEntry<B>], symmetry: u8) -> u64 {
        let mut hash = Hash128::START;
        hash.mix(u64::from(symmetry));
        steps.iter().for_each(|step| hash.mix(step.id));
        hash.finish() as u64
    }

    /// Returns whether a proof holds for a position that a move leads to from the latest step. `prover` is the side
    /// that has the goal, `lifted` are the stones removed by the move, and `symmetry` leads to the image under whose
    /// key the proof was found. The proof's trace must already be transformed back.
    pub(super) fn admits(
        &self,
        position: &Position<B>,
        lifted: [B; 2],
        symmetry: u8,
        prover: Color,
        proof: &Proof<B>,
    ) -> bool {
        let depends_on = usize::from(proof.depends_on);
        if depends_on > self.len() || depends_on > 0 && self.suffix(depends_on, symmetry) != proof.suffix {
            return false;
        }
        let winner = if proof.won { prover } else { prover.opponent() };
        let earlier = &self.steps[..self.len() - depends_on];
        let Some(last) = earlier.last() else { return true };
        match self.repetition {
            // Cycles do not harm the side that wins them.
            Repetition::Wins(color) => color == winner || !self.may_cycle(earlier, position, proof),
            Repetition::Forbidden(rule) => {
                // A stone of the winner returns only to a point from which one was removed.
                let own = winner as usize;
                let trace = &proof.trace;
                let lifted = last.lifted[own] | lifted[own] | trace.removed[own];
                // Stones removed in the steps that the proof depends on count, too.
                let lifted = lifted | self.steps.last().map_or(lifted, |step| step.lifted[own]);
                if !trace.played[own].meets(lifted) {
                    return true;
                }
                !earlier.iter().any(|step| {
                    let by_winner = match rule {
                        KoRule::Situational => step.position.to_move == winner.opponent(),
                        KoRule::NaturalSituational => step.by_play && step.mover == winner,
                        KoRule::Simple | KoRule::Positional => true,
                    };
                    by_winner
                        && step.position.stones != position.stones
                        && step.position.stones[own].meets(trace.played[own])
                        && may_return(&position.stones, &step.position.stones, proof)
                })
            }
        }
    }

    /// Returns whether a position of the past may recur inside the proof's tree.
    fn may_cycle(&self, earlier: &[PathEntry<B>], position: &Position<B>, proof: &Proof<B>) -> bool {
        let trace = &proof.trace;
        let lifts = (0..2).any(|color| trace.played[color].meets(trace.removed[color]));
        earlier.iter().any(|step| {
            let then = &step.position;
            if then.stones != position.stones {
                return may_return(&position.stones, &then.stones, proof);
            }
            // The same stones may recur by plays that are removed again, by a pass, or by a threat that ends a ko.
            lifts || then.passes > 0 && position.passes == 0 || position.ko != NO_POINT
        })
    }
}

/// Returns whether these stones may become the others inside the proof's tree: only if all differences are removed or
/// played there.
fn may_return<B: Bits>(from: &[B; 2], to: &[B; 2], proof: &Proof<B>) -> bool {
    (0..2).all(|color| {
        (from[color] & !to[color]).within(proof.trace.removed[color])
            && (to[color] & !from[color]).within(proof.trace.played[color])
    })
}
