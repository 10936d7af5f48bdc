//! What rules forbid in the games of a collection.

use super::examine::problem;
use super::pipeline::Work;
use super::reading::{Batch, Entry};
use crate::game::Game;
use crate::rules::Rules;
use crate::sgf::{Record, SgfErrorKind, Step, Strictness, source_offset};
use serde::{Deserialize, Serialize};

/// What the games of a batch came to.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Replayed {
    /// Games that were replayed.
    pub games: u64,
    /// Moves that were played in them.
    pub moves: u64,
    /// Games with a violation.
    pub bad_games: u64,
    /// Moves and values that the rules forbid or nobody can follow.
    pub violations: u64,
    /// Positions whose key was not that of their stones.
    pub wrong_keys: u64,
    /// The first violations, in words.
    pub lines: Vec<String>,
}

impl Replayed {
    /// Replays the games of a batch, each under the rules that `rules_for` says. At the most `list` violations are put
    /// into words.
    pub fn of(batch: &Batch, rules_for: impl Fn(&Record) -> Rules, list: usize) -> Work<Replayed> {
        let mut result = Replayed::default();
        let mut problems = Vec::new();
        for entry in &batch.entries {
            match Record::parse(batch.bytes(entry)) {
                Ok(record) => result.add(batch, entry, &record, rules_for(&record), list),
                Err(error) => problems.push(problem(batch, entry, &error)),
            }
        }
        Work { result, problems }
    }

    /// Adds the counts of another batch, and none of its words.
    pub fn merge(&mut self, other: &Replayed) {
        self.games += other.games;
        self.moves += other.moves;
        self.bad_games += other.bad_games;
        self.violations += other.violations;
        self.wrong_keys += other.wrong_keys;
    }

    fn add(&mut self, batch: &Batch, entry: &Entry, record: &Record, rules: Rules, list: usize) {
        let before = self.violations;
        let mut found: Vec<(usize, usize, String)> = Vec::new();
        let mut moves = 0;
        let observe = |step: Step<'_>, game: &Game| {
            let board = game.board();
            if board.key() != board.recomputed_key() {
                self.wrong_keys += 1;
            }
            if let Step::Move { number, recorded, objection, .. } = step {
                moves = number;
                if let (Some(reason), Ok(mv)) = (objection, &recorded.mv) {
                    found.push((number, recorded.offset, format!("{} {mv}: {}", recorded.color, reason)));
                }
            }
        };
        match record.replay_observed(rules, rules.usual_komi(), None, Strictness::Tolerant, observe) {
            Ok(replayed) => found.extend(replayed.warnings.into_iter().map(|warning| match warning.kind {
                SgfErrorKind::IllegalMove { number, color, mv, reason } => {
                    (number, warning.offset, format!("{color} {mv}: {}, the replay ends here", reason))
                }
                kind => (moves + 1, warning.offset, kind.to_string()),
            })),
            Err(error) => found.push((moves + 1, error.offset, error.kind.to_string())),
        }
        self.games += 1;
        self.moves += moves as u64;
        self.violations += found.len() as u64;
        self.bad_games += u64::from(self.violations > before);
        let room = list.saturating_sub(self.lines.len());
        self.lines.extend(found.into_iter().take(room).map(|(number, offset, what)| {
            let byte = entry.place.offset + source_offset(batch.bytes(entry), offset) as u64;
            format!("{}: game {}, byte {byte}, move {number}: {what}", entry.place.source, entry.place.game)
        }));
    }
}
