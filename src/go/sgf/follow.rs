//! Following a record as far as possible, with uniform messages about its faults. All code that puts the game of a
//! record on a board uses it.

use super::{Record, ReplayStep, SgfError, SgfErrorKind, Strictness};
use crate::board::{Color, Move};
use crate::game::{Game, IllegalMove};
use crate::rules::Rules;

/// Maximum number of illegal moves that are reported individually. Further ones are only counted.
const MAX_OBJECTIONS: usize = 3;

/// Parameters for following a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FollowOptions {
    /// Rules for a record that names no known rules.
    pub rules: Rules,
    /// If set, the record is followed only up to the position before this move, counted from 1.
    pub up_to: Option<usize>,
    /// Whether to reject what the rules forbid.
    pub strictness: Strictness,
}

/// Game of a record that was followed.
#[derive(Clone, Debug)]
pub struct FollowedGame {
    /// The game, as far as the record could be followed.
    pub game: Game,
    /// First fault before the last position because of which the game may differ from the recorded one.
    pub fault: Option<SgfError>,
    /// Other faults, which do not change the game up to the last position.
    pub warnings: Vec<SgfError>,
    /// Further notes for the reader, as text.
    pub notes: Vec<String>,
}

impl FollowedGame {
    /// Returns this result with offsets into the file of the record instead of offsets into its text.
    #[must_use]
    pub fn located(self, bytes: &[u8]) -> FollowedGame {
        let locate = |error: SgfError| error.located(bytes);
        FollowedGame {
            fault: self.fault.map(locate),
            warnings: self.warnings.into_iter().map(locate).collect(),
            ..self
        }
    }

    /// Returns all messages, one per line.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let errors = self.fault.iter().chain(&self.warnings);
        errors.map(SgfError::to_string).chain(self.notes.iter().cloned())
    }
}

impl Record {
    /// Follows the main line, under the rules and with the komi that the record names.
    ///
    /// Moves that only a rule about repetition or suicide forbids are played unless the mode is strict: records of real
    /// games contain them, under rules that they do not name. A move that cannot be played ends the game and becomes
    /// the [fault](FollowedGame::fault).
    ///
    /// # Errors
    /// With [`Strictness::Strict`], returns the first fault.
    pub fn follow(&self, how: &FollowOptions) -> Result<FollowedGame, SgfError> {
        let rules = self.rules().unwrap_or(how.rules);
        let komi = self.komi_under(rules);
        let mut notes = self.notes(rules, komi, false);
        let (mut objections, mut count) = (Vec::new(), 0);
        let mut replayed = self.replay_observed(rules, komi, how.up_to, how.strictness, |step, _| {
            let ReplayStep::Move { number, recorded, objection: Some(reason), .. } = step else { return };
            count += 1;
            if let (Ok(mv), true) = (&recorded.mv, count <= MAX_OBJECTIONS) {
                objections.push(objection(number, recorded.color, *mv, reason, rules));
            }
        })?;
        replayed.warnings.sort_by_key(|warning| warning.offset);
        notes.append(&mut objections);
        if count > MAX_OBJECTIONS {
            let more = count - MAX_OBJECTIONS;
            notes.push(format!("{more} more moves that the rules ({rules}) forbid were played nevertheless"));
        }
        let is_lost = |error: &SgfError| error.kind.loses_something() && error.offset < replayed.end;
        let (lost, mut warnings): (Vec<SgfError>, Vec<SgfError>) =
            replayed.warnings.into_iter().partition(is_lost);
        let mut lost = lost.into_iter();
        let fault = lost.next();
        warnings.splice(0..0, lost);
        Ok(FollowedGame { game: replayed.game, fault, warnings, notes })
    }
}

/// Returns the message about a move that was played although the rules forbid it.
fn objection(number: usize, color: Color, mv: Move, reason: IllegalMove, rules: Rules) -> String {
    let refused = SgfErrorKind::IllegalMove { number, color, mv, reason };
    format!("{refused}; the rules ({rules}) forbid it, but it was played")
}

#[cfg(test)]
mod tests;
