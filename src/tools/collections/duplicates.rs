//! Detection of duplicate games, also on rotated or mirrored boards.

use super::reading::RecordLocation;
use hashbrown::HashMap;
use kosumi_go::board::Key;
use std::sync::Arc;

/// Returns half of a key, which is enough to distinguish games: among ten million different games, two have the same
/// half with a probability of 3·10⁻⁶.
fn half(key: Key) -> u64 {
    key.0 as u64
}

/// Entry of an original game: 16 bytes including its key.
#[derive(Clone, Copy, Debug)]
struct OriginalEntry {
    /// Number of the game among all games, from 1. No memory could hold more games than 32 bits can count.
    number: u32,
    /// Part of the key of the moves in the orientation of the record.
    plain: u32,
}

/// Position in the input from which games are numbered without gaps.
#[derive(Clone, Debug)]
struct NumberingStart {
    number: u64,
    place: RecordLocation,
}

/// Detector of duplicate games.
#[derive(Debug, Default)]
pub struct Duplicates {
    games: HashMap<u64, OriginalEntry>,
    anchors: Vec<NumberingStart>,
}

/// Earlier game with the same moves as a duplicate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Original {
    /// Name of the file.
    pub source: Arc<str>,
    /// Number of the game in the file, from 1.
    pub game: u64,
    /// Whether the two boards have the same orientation.
    pub is_same: bool,
}

impl Duplicates {
    /// Returns the earlier game that this game repeats. If there is none, stores this game as an original. `identity`
    /// is invariant under symmetries of the board, `plain` is not.
    pub fn check(
        &mut self,
        number: u64,
        place: &RecordLocation,
        identity: Key,
        plain: Key,
    ) -> Option<Original> {
        let is_next = self.anchors.last().is_some_and(|anchor| {
            Arc::ptr_eq(&anchor.place.source, &place.source)
                && number - anchor.number == place.game - anchor.place.game
        });
        if !is_next {
            self.anchors.push(NumberingStart { number, place: place.clone() });
        }
        let this = OriginalEntry { number: u32::try_from(number).unwrap_or(u32::MAX), plain: plain.0 as u32 };
        let first = *self.games.entry(half(identity)).or_insert(this);
        if first.number == this.number {
            return None;
        }
        let first_number = u64::from(first.number);
        let at = self.anchors.partition_point(|anchor| anchor.number <= first_number);
        let anchor = self.anchors.get(at.checked_sub(1)?)?;
        Some(Original {
            source: anchor.place.source.clone(),
            game: anchor.place.game + (first_number - anchor.number),
            is_same: first.plain == this.plain,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn originals_are_named() {
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let place = |source: &Arc<str>, game| RecordLocation { source: source.clone(), game, offset: 0 };
        let mut duplicates = Duplicates::default();
        let mut check = |number, source, game, identity, plain| {
            duplicates
                .check(number, &place(source, game), Key(identity), Key(plain))
                .map(|original| (original.source.to_string(), original.game, original.is_same))
        };
        assert_eq!(check(1, &a, 1, 10, 1), None);
        assert_eq!(check(2, &a, 2, 20, 2), None);
        // The third game of the file could not be read.
        assert_eq!(check(3, &a, 4, 30, 3), None);
        assert_eq!(check(4, &b, 1, 40, 4), None);
        assert_eq!(check(5, &b, 2, 30, 3), Some(("a".into(), 4, true)));
        assert_eq!(check(6, &b, 3, 20, 9), Some(("a".into(), 2, false)));
        assert_eq!(check(7, &b, 4, 40, 4), Some(("b".into(), 1, true)));
    }
}
