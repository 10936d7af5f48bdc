//! Following a record as far as it goes, with one set of words for what is wrong with it: what everything goes through
//! that puts the game of a record on a board.

use super::{Record, SgfError, SgfErrorKind, Step, Strictness};
use crate::board::{Color, Move};
use crate::game::{Game, IllegalMove};
use crate::rules::Rules;

/// More moves than these that the rules object to are counted, not named.
const OBJECTIONS_MOST: usize = 3;

/// How to follow a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Follow {
    /// The rules of a record that names none that are known.
    pub rules: Rules,
    /// Only up to the position before this move, counted from 1.
    pub up_to: Option<usize>,
    /// Refuse what the rules forbid?
    pub strictness: Strictness,
}

/// The game of a record.
#[derive(Clone, Debug)]
pub struct Followed {
    /// The game, as far as the record could be followed.
    pub game: Game,
    /// Why it may not be the game that was recorded: the first thing in front of the last position that is lost.
    pub fault: Option<SgfError>,
    /// What else is not as it should be, and loses nothing of the game up to there.
    pub warnings: Vec<SgfError>,
    /// What else a reader should know, in words.
    pub notes: Vec<String>,
}

impl Followed {
    /// This result, with places in the file of the record instead of places in its text.
    #[must_use]
    pub fn located(self, bytes: &[u8]) -> Followed {
        let locate = |error: SgfError| error.located(bytes);
        Followed {
            fault: self.fault.map(locate),
            warnings: self.warnings.into_iter().map(locate).collect(),
            ..self
        }
    }

    /// All that there is to say, a line each.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let errors = self.fault.iter().chain(&self.warnings);
        errors.map(SgfError::to_string).chain(self.notes.iter().cloned())
    }
}

impl Record {
    /// Follows the main line, under the rules and with the komi that the record names.
    ///
    /// Moves that only a ban of repetition or suicide forbids are played, unless that is to be strict: records of real
    /// games have them, under rules that they do not name. What cannot be played ends the game there, and is the
    /// [fault](Followed::fault).
    ///
    /// # Errors
    /// With [`Strictness::Strict`] the first thing that is wrong.
    pub fn follow(&self, how: &Follow) -> Result<Followed, SgfError> {
        let rules = self.rules().unwrap_or(how.rules);
        let komi = self.komi_under(rules);
        let mut notes = self.notes(rules, komi, false);
        let (mut objections, mut count) = (Vec::new(), 0);
        let mut replayed = self.replay_observed(rules, komi, how.up_to, how.strictness, |step, _| {
            let Step::Move { number, recorded, objection: Some(reason), .. } = step else { return };
            count += 1;
            if let (Ok(mv), true) = (&recorded.mv, count <= OBJECTIONS_MOST) {
                objections.push(objection(number, recorded.color, *mv, reason, rules));
            }
        })?;
        replayed.warnings.sort_by_key(|warning| warning.offset);
        notes.append(&mut objections);
        if count > OBJECTIONS_MOST {
            let more = count - OBJECTIONS_MOST;
            notes.push(format!("{more} more moves that the rules ({rules}) forbid, played all the same"));
        }
        let is_lost = |error: &SgfError| error.kind.loses_something() && error.offset < replayed.end;
        let (lost, mut warnings): (Vec<SgfError>, Vec<SgfError>) =
            replayed.warnings.into_iter().partition(is_lost);
        let mut lost = lost.into_iter();
        let fault = lost.next();
        warnings.splice(0..0, lost);
        Ok(Followed { game: replayed.game, fault, warnings, notes })
    }
}

/// What is said of a move that the rules forbid and that was played.
fn objection(number: usize, color: Color, mv: Move, reason: IllegalMove, rules: Rules) -> String {
    let refused = SgfErrorKind::IllegalMove { number, color, mv, reason };
    format!("{refused}; the rules ({rules}) forbid it, played all the same")
}

#[cfg(test)]
mod tests;
