//! One record, read and replayed once, with everything that statistics and conditions ask for.

use super::reading::{Batch, Entry, Problem};
use kosumi_go::board::{Color, Key, Move};
use kosumi_go::game::IllegalMove;
use kosumi_go::rules::{KoRule, Rules};
use kosumi_go::sgf::repetition::{Repetition, Repetitions};
use kosumi_go::sgf::sequence_key::SequenceKey;
use kosumi_go::sgf::{Record, SgfError, SgfErrorKind, Step, Strictness, source_offset};

/// A move and where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Played {
    /// Counted from 1.
    pub number: usize,
    /// Who moved.
    pub color: Color,
    /// The move.
    pub mv: Move,
    /// Byte of the record.
    pub offset: usize,
}

/// What a record holds.
#[derive(Debug)]
pub struct Examined {
    /// As it was read.
    pub record: Record,
    /// Counts over its moves.
    pub tally: MoveCounts,
    /// Moves that were played although simple ko, or the ban of suicide, forbids them.
    pub objections: Vec<(Played, IllegalMove)>,
    /// Plays that brought a position back.
    pub repetitions: Vec<(Played, Repetition)>,
    /// What was passed over, in the order of the replay. The last one may have ended it: see [`Examined::refused`].
    pub warnings: Vec<SgfError>,
    /// What tells its moves from those of other games.
    pub key: SequenceKey,
    /// Was one of the positions that were asked for on the board?
    pub has_position: bool,
}

/// Counts over the moves of a game, or of many.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct MoveCounts {
    /// Moves that were played, passes included.
    pub moves: u64,
    /// Passes among them.
    pub passes: u64,
    /// Plays that took something.
    pub captures: u64,
    /// Stones that were taken.
    pub stones_taken: u64,
    /// Plays that took a ko: the opponent may not retake at once.
    pub kos_taken: u64,
    /// Stones that were set up, handicap included.
    pub stones_set_up: u64,
    /// Moves by the player who made the move before.
    pub out_of_turn: u64,
}

impl std::ops::AddAssign for MoveCounts {
    fn add_assign(&mut self, other: MoveCounts) {
        self.moves += other.moves;
        self.passes += other.passes;
        self.captures += other.captures;
        self.stones_taken += other.stones_taken;
        self.kos_taken += other.kos_taken;
        self.stones_set_up += other.stones_set_up;
        self.out_of_turn += other.out_of_turn;
    }
}

/// How repetitions are looked for: nothing is in the way, and what simple ko forbids is told.
fn rules() -> Rules {
    Rules { ko: KoRule::Simple, suicide: false, ..Rules::default() }
}

impl Examined {
    /// Reads and replays a record; `positions` are asked for.
    ///
    /// # Errors
    /// If it is no record.
    pub fn of(bytes: &[u8], positions: &[Key]) -> Result<Examined, SgfError> {
        Examined::of_record(Record::parse(bytes)?, positions)
    }

    /// Replays a record that has been read.
    ///
    /// # Errors
    /// If it cannot be replayed at all.
    pub fn of_record(record: Record, positions: &[Key]) -> Result<Examined, SgfError> {
        let mut tally = MoveCounts::default();
        let (mut objections, mut repetitions) = (Vec::new(), Vec::new());
        let mut key = SequenceKey::default();
        let mut has_position = false;
        let mut finder = Repetitions::default();
        let mut before: Option<Color> = None;
        let observe = |step: Step<'_>, game: &kosumi_go::game::Game| {
            let board = game.board();
            has_position |= positions.contains(&board.key());
            match step {
                Step::Position { .. } => {
                    if game.records().is_empty() {
                        finder.start(board, game.to_move());
                        key.start(board, game.to_move());
                        before = None;
                    }
                }
                Step::Move { number, recorded, objection, .. } => {
                    let Some(last) = game.records().last() else { return };
                    let played = Played { number, color: last.color, mv: last.mv, offset: recorded.offset };
                    tally.moves += 1;
                    tally.passes += u64::from(last.mv == Move::Pass);
                    // A suicide takes nothing.
                    if last.mv.point().is_some_and(|point| !last.lifted.contains(&point))
                        && !last.lifted.is_empty()
                    {
                        tally.captures += 1;
                        tally.stones_taken += last.lifted.len() as u64;
                    }
                    tally.kos_taken += u64::from(board.ko().is_some());
                    tally.out_of_turn += u64::from(before.replace(last.color) == Some(last.color));
                    objections.extend(objection.map(|reason| (played, reason)));
                    repetitions.extend(finder.played(board, last).map(|found| (played, found)));
                    key.played(board, last.color, last.mv);
                }
            }
        };
        let replayed = record.replay_observed(rules(), 0.0, None, Strictness::Tolerant, observe)?;
        tally.stones_set_up =
            record.nodes.iter().flat_map(|node| &node.setup).filter(|(_, stone)| stone.is_some()).count()
                as u64;
        let warnings = replayed.warnings;
        Ok(Examined { record, tally, objections, repetitions, warnings, key, has_position })
    }

    /// The move that nobody can play, which ended the replay.
    pub fn refused(&self) -> Option<&SgfError> {
        let ends = |error: &&SgfError| {
            matches!(error.kind, SgfErrorKind::IllegalMove { .. } | SgfErrorKind::BadMove { .. })
        };
        self.warnings.last().filter(ends)
    }

    /// Does every value make sense, and is every move legal, repetition aside?
    pub fn is_valid(&self) -> bool {
        self.warnings.is_empty() && self.objections.is_empty()
    }

    /// A key that the same game has elsewhere, on a turned board too; `None` if there is nothing to compare.
    pub fn identity(&self) -> Option<Key> {
        (self.tally.moves > 0 || self.tally.stones_set_up > 0).then(|| self.key.canonical())
    }
}

/// Why a record of a batch cannot be read, and where.
pub fn problem(batch: &Batch, entry: &Entry, error: &SgfError) -> Problem {
    Problem {
        source: entry.place.source.clone(),
        game: Some(entry.place.game),
        offset: entry.place.offset + source_offset(batch.bytes(entry), error.offset) as u64,
        reason: error.kind.to_string(),
        is_fatal: false,
    }
}
