//! Examination of a game record, which is parsed and replayed once for all statistics and conditions.

use super::reading::{Batch, Entry, Problem};
use kosumi_go::board::{Color, Key, Move};
use kosumi_go::game::IllegalMove;
use kosumi_go::rules::{KoRule, Rules};
use kosumi_go::sgf::repetition::{Repetition, RepetitionFinder};
use kosumi_go::sgf::sequence_key::SequenceKey;
use kosumi_go::sgf::{Record, ReplayStep, SgfError, SgfErrorKind, Strictness, source_offset};

/// Move of a game with its position in the record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocatedMove {
    /// Number of the move, from 1.
    pub number: usize,
    /// Side that moved.
    pub color: Color,
    /// Point or pass.
    pub mv: Move,
    /// Byte offset in the record.
    pub offset: usize,
}

/// Result of an examination.
#[derive(Debug)]
pub struct ExaminedGame {
    /// Record as parsed.
    pub record: Record,
    /// Counts over the moves of the record.
    pub tally: MoveCounts,
    /// Played moves that simple ko or the ban on suicide forbids.
    pub objections: Vec<(LocatedMove, IllegalMove)>,
    /// Moves that repeated a position.
    pub repetitions: Vec<(LocatedMove, Repetition)>,
    /// Warnings in the order of the replay. The last one may have ended the replay: see [`ExaminedGame::refused`].
    pub warnings: Vec<SgfError>,
    /// Key of the sequence of moves, which distinguishes games.
    pub key: SequenceKey,
    /// Whether one of the wanted positions occurred.
    pub has_position: bool,
}

/// Counts over the moves of a game, or of several games.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct MoveCounts {
    /// Number of moves, passes included.
    pub moves: u64,
    /// Number of passes.
    pub passes: u64,
    /// Number of moves that captured stones.
    pub captures: u64,
    /// Number of captured stones.
    pub stones_taken: u64,
    /// Number of moves that captured a ko, so that the opponent may not recapture at once.
    pub kos_taken: u64,
    /// Number of stones that were set up, handicap included.
    pub stones_set_up: u64,
    /// Number of moves by the side that also made the previous move.
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

/// Returns the rules for the replay. Violations of simple ko and of the ban on suicide are only reported, and
/// repetitions are not forbidden.
fn rules() -> Rules {
    Rules { ko: KoRule::Simple, suicide: false, ..Rules::default() }
}

impl ExaminedGame {
    /// Parses and replays a record. `positions` are the keys of wanted positions.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not a game record.
    pub fn of(bytes: &[u8], positions: &[Key]) -> Result<ExaminedGame, SgfError> {
        ExaminedGame::of_record(Record::parse(bytes)?, positions)
    }

    /// Replays a parsed record. `positions` are the keys of wanted positions.
    ///
    /// # Errors
    ///
    /// Returns an error if the record cannot be replayed at all.
    pub fn of_record(record: Record, positions: &[Key]) -> Result<ExaminedGame, SgfError> {
        let mut tally = MoveCounts::default();
        let (mut objections, mut repetitions) = (Vec::new(), Vec::new());
        let mut key = SequenceKey::default();
        let mut has_position = false;
        let mut finder = RepetitionFinder::default();
        let mut before: Option<Color> = None;
        let observe = |step: ReplayStep<'_>, game: &kosumi_go::game::Game| {
            let board = game.board();
            has_position |= positions.contains(&board.key());
            match step {
                ReplayStep::Position { .. } => {
                    if game.records().is_empty() {
                        finder.start(board, game.to_move());
                        key.start(board, game.to_move());
                        before = None;
                    }
                }
                ReplayStep::Move { number, recorded, objection, .. } => {
                    let Some(last) = game.records().last() else { return };
                    let played =
                        LocatedMove { number, color: last.color, mv: last.mv, offset: recorded.offset };
                    tally.moves += 1;
                    tally.passes += u64::from(last.mv == Move::Pass);
                    // A suicide does not count as a capture.
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
        Ok(ExaminedGame { record, tally, objections, repetitions, warnings, key, has_position })
    }

    /// Returns the unplayable move that ended the replay, if there was one.
    pub fn refused(&self) -> Option<&SgfError> {
        let ends = |error: &&SgfError| {
            matches!(error.kind, SgfErrorKind::IllegalMove { .. } | SgfErrorKind::BadMove { .. })
        };
        self.warnings.last().filter(ends)
    }

    /// Returns whether all values are valid and all moves are legal, except for repetitions.
    pub fn is_valid(&self) -> bool {
        self.warnings.is_empty() && self.objections.is_empty()
    }

    /// Returns a key that is the same for equal games, also on rotated or mirrored boards. Returns `None` if the game
    /// is empty.
    pub fn identity(&self) -> Option<Key> {
        (self.tally.moves > 0 || self.tally.stones_set_up > 0).then(|| self.key.canonical())
    }
}

/// Builds the report that a record of a batch cannot be read.
pub fn problem(batch: &Batch, entry: &Entry, error: &SgfError) -> Problem {
    Problem {
        source: entry.place.source.clone(),
        game: Some(entry.place.game),
        offset: entry.place.offset + source_offset(batch.bytes(entry), error.offset) as u64,
        reason: error.kind.to_string(),
        is_fatal: false,
    }
}
