//! Repetitions: number and kind of position cycles in games, and the rules that forbid them.

use super::location::{MAX_LIST, MoveLocation};
use crate::collections::examine::{ExaminedGame, LocatedMove};
use crate::collections::reading::{Batch, Entry};
use crate::words::color_letter;
use kosumi_go::board::Color;
use kosumi_go::sgf::repetition::{Cycle, Forbidden, Repetition};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counts of repetitions.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct RepetitionCounts {
    /// Number of games with a repetition.
    pub(super) games: u64,
    /// Moves that each rule forbids, without immediate recaptures of a ko.
    pub(super) forbidden: ByRule,
    /// Counts per kind of cycle.
    pub(super) cycles: BTreeMap<Cycle, CycleCounts>,
    /// Number of cycles per length in moves, without immediate recaptures of a ko.
    pub(super) lengths: BTreeMap<u64, u64>,
    /// Number of cycles that contain passes.
    pub(super) with_passes: u64,
    /// Number of cycles in which the sides do not alternate.
    pub(super) not_alternating: u64,
    /// Number of moves in the longest run of repetitions in one game.
    pub(super) longest_run: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct ByRule {
    pub(super) positional: ForbiddenCount,
    pub(super) situational: ForbiddenCount,
    pub(super) natural_situational: ForbiddenCount,
}

/// Number of moves that a rule forbids, and number of games with such moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct ForbiddenCount {
    pub(super) moves: u64,
    pub(super) games: u64,
}

/// Counts of one kind of cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct CycleCounts {
    pub(super) cycles: u64,
    /// Number of moves that repeated a position.
    pub(super) moves: u64,
    pub(super) games: u64,
    /// Number of cycles whose first repetition each rule forbids.
    pub(super) positional: u64,
    pub(super) situational: u64,
    pub(super) natural_situational: u64,
}

/// Cycle of a game, for the list of repetitions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct ListedCycle {
    /// Position of the first move that repeated a position.
    #[serde(flatten)]
    pub(super) place: MoveLocation,
    /// Move, such as `W Q16`.
    pub(super) mv: String,
    pub(super) cycle: Cycle,
    /// Number of kos in the cycle.
    pub(super) kos: usize,
    /// Length in moves, passes included.
    pub(super) length: usize,
    pub(super) passes: usize,
    pub(super) is_alternating: bool,
    /// Stones captured by Black and by White in one round of the cycle.
    pub(super) captured: [usize; 2],
    /// Rules that forbid the first repetition.
    pub(super) forbidden: Forbidden,
    /// Number of moves that repeated a position while the cycle continued.
    pub(super) moves: usize,
}

impl RepetitionCounts {
    pub(super) fn add(
        &mut self,
        batch: &Batch,
        entry: &Entry,
        examined: &ExaminedGame,
        list: &mut Vec<ListedCycle>,
    ) {
        let found = &examined.repetitions;
        if found.is_empty() {
            return;
        }
        self.games += 1;
        self.forbidden.positional.add(found, |forbidden| forbidden.positional);
        self.forbidden.situational.add(found, |forbidden| forbidden.situational);
        self.forbidden.natural_situational.add(found, |forbidden| forbidden.natural_situational);
        for cycle in Cycle::ALL {
            let moves = found.iter().filter(|(_, repetition)| repetition.cycle == cycle).count() as u64;
            if moves > 0 {
                let kind = self.cycles.entry(cycle).or_default();
                kind.moves += moves;
                kind.games += 1;
            }
        }
        // Each chunk is a cycle with the repetitions that continue it.
        for round in found.chunk_by(|_, (_, next)| next.continues) {
            let [(played, repetition), ..] = round else { continue };
            self.longest_run = self.longest_run.max(round.len() as u64);
            self.add_cycle(repetition);
            if list.len() < MAX_LIST {
                list.push(ListedCycle::of(
                    MoveLocation::of(batch, entry, played.number, played.offset),
                    *played,
                    repetition,
                    round.len(),
                ));
            }
        }
    }

    fn add_cycle(&mut self, repetition: &Repetition) {
        let kind = self.cycles.entry(repetition.cycle).or_default();
        kind.cycles += 1;
        kind.positional += u64::from(repetition.forbidden.positional);
        kind.situational += u64::from(repetition.forbidden.situational);
        kind.natural_situational += u64::from(repetition.forbidden.natural_situational);
        if repetition.cycle != Cycle::SimpleKo {
            *self.lengths.entry(repetition.length as u64).or_default() += 1;
        }
        self.with_passes += u64::from(repetition.passes > 0);
        self.not_alternating += u64::from(!repetition.is_alternating);
    }

    pub(super) fn merge(&mut self, other: &RepetitionCounts) {
        self.games += other.games;
        self.forbidden.positional.merge(other.forbidden.positional);
        self.forbidden.situational.merge(other.forbidden.situational);
        self.forbidden.natural_situational.merge(other.forbidden.natural_situational);
        for (&cycle, more) in &other.cycles {
            let kind = self.cycles.entry(cycle).or_default();
            kind.cycles += more.cycles;
            kind.moves += more.moves;
            kind.games += more.games;
            kind.positional += more.positional;
            kind.situational += more.situational;
            kind.natural_situational += more.natural_situational;
        }
        for (&length, &cycles) in &other.lengths {
            *self.lengths.entry(length).or_default() += cycles;
        }
        self.with_passes += other.with_passes;
        self.not_alternating += other.not_alternating;
        self.longest_run = self.longest_run.max(other.longest_run);
    }
}

impl ForbiddenCount {
    /// Adds the repetitions of a game that a rule forbids.
    fn add(&mut self, found: &[(LocatedMove, Repetition)], forbids: impl Fn(Forbidden) -> bool) {
        let beyond_ko = found.iter().filter(|(_, repetition)| repetition.cycle != Cycle::SimpleKo);
        let moves = beyond_ko.filter(|(_, repetition)| forbids(repetition.forbidden)).count() as u64;
        self.merge(ForbiddenCount { moves, games: u64::from(moves > 0) });
    }

    fn merge(&mut self, other: ForbiddenCount) {
        self.moves += other.moves;
        self.games += other.games;
    }
}

impl ListedCycle {
    fn of(place: MoveLocation, played: LocatedMove, repetition: &Repetition, moves: usize) -> ListedCycle {
        let letter = color_letter(played.color);
        ListedCycle {
            place,
            mv: format!("{letter} {}", played.mv),
            cycle: repetition.cycle,
            kos: repetition.kos,
            length: repetition.length,
            passes: repetition.passes,
            is_alternating: repetition.is_alternating,
            captured: [repetition.captured[Color::Black], repetition.captured[Color::White]],
            forbidden: repetition.forbidden,
            moves,
        }
    }
}
