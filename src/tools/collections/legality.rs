//! Illegal moves in the games of a collection.

use super::examine::problem;
use super::pipeline::BatchResult;
use super::reading::{Batch, Entry};
use kosumi_go::game::Game;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::{Record, ReplayStep, Strictness, source_offset};
use serde::{Deserialize, Serialize};

/// Result of replaying the games of a batch.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct LegalityReport {
    /// Number of replayed games.
    pub games: u64,
    /// Number of moves in these games.
    pub moves: u64,
    /// Number of games with a violation.
    pub bad_games: u64,
    /// Number of moves and values that are illegal or invalid.
    pub violations: u64,
    /// Number of positions whose incrementally updated key is wrong.
    pub wrong_keys: u64,
    /// Descriptions of the first violations.
    pub lines: Vec<String>,
    /// Number of records with notes other than violations.
    pub noted: u64,
    /// First of these notes.
    pub notes: Vec<String>,
}

impl LegalityReport {
    /// Replays the games of a batch, each under the rules that `rules_for` returns. At most `list` violations are
    /// described.
    pub fn of(
        batch: &Batch,
        rules_for: impl Fn(&Record) -> Rules,
        list: usize,
    ) -> BatchResult<LegalityReport> {
        let mut result = LegalityReport::default();
        let mut problems = Vec::new();
        for entry in &batch.entries {
            match Record::parse(batch.bytes(entry)) {
                Ok(record) => result.add(batch, entry, &record, rules_for(&record), list),
                Err(error) => problems.push(problem(batch, entry, &error)),
            }
        }
        BatchResult { result, problems }
    }

    /// Adds the counts of another batch, without its descriptions.
    pub fn merge(&mut self, other: &LegalityReport) {
        self.games += other.games;
        self.moves += other.moves;
        self.bad_games += other.bad_games;
        self.violations += other.violations;
        self.wrong_keys += other.wrong_keys;
        self.noted += other.noted;
    }

    fn add(&mut self, batch: &Batch, entry: &Entry, record: &Record, rules: Rules, list: usize) {
        let before = self.violations;
        // Number of the move, if the finding is about a move; byte offset; description.
        let mut found: Vec<(Option<usize>, usize, String)> = Vec::new();
        let mut moves = 0;
        let observe = |step: ReplayStep<'_>, game: &Game| {
            let board = game.board();
            if board.key() != board.recomputed_key() {
                self.wrong_keys += 1;
            }
            if let ReplayStep::Move { number, recorded, objection, .. } = step {
                moves = number;
                if let (Some(reason), Ok(mv)) = (objection, &recorded.mv) {
                    let what = format!("{} {mv}: {}", recorded.color, reason);
                    found.push((Some(number), recorded.offset, what));
                }
            }
        };
        let komi = record.komi_under(rules);
        match record.replay_observed(rules, komi, None, Strictness::Tolerant, observe) {
            Ok(replayed) => found.extend(replayed.warnings.into_iter().map(|warning| {
                let end = if warning.kind.number().is_some() { ", the replay ends here" } else { "" };
                let what = warning.kind.without_number() + end;
                (warning.kind.number(), warning.offset, what)
            })),
            Err(error) => found.push((None, error.offset, error.kind.to_string())),
        }
        found.sort_by_key(|(_, offset, _)| *offset);
        let notes = record.notes(rules, komi, false);
        if !notes.is_empty() {
            self.noted += 1;
            let space = list.saturating_sub(self.notes.len());
            let place = format!("{}: game {}", entry.place.source, entry.place.game);
            self.notes.extend(notes.into_iter().take(space).map(|note| format!("{place}: {note}")));
        }
        self.games += 1;
        self.moves += moves as u64;
        self.violations += found.len() as u64;
        self.bad_games += u64::from(self.violations > before);
        let space = list.saturating_sub(self.lines.len());
        self.lines.extend(found.into_iter().take(space).map(|(number, offset, what)| {
            let byte = entry.place.offset + source_offset(batch.bytes(entry), offset) as u64;
            let number = number.map(|number| format!(", move {number}")).unwrap_or_default();
            format!("{}: game {}, byte {byte}{number}: {what}", entry.place.source, entry.place.game)
        }));
    }
}
