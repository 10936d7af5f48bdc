//! Counting by name in bounded memory.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum number of distinct names; further names are counted together.
const MAX_NAMES: usize = 10_000;
/// Maximum number of distinct players.
const MAX_PLAYERS: usize = 200_000;
/// Maximum length of a stored name, in characters.
const MAX_LENGTH: usize = 60;

/// Name under which missing values are counted.
pub(super) const MISSING: &str = "(none)";
/// Name under which all names beyond the maximum are counted.
const OTHERS: &str = "(others)";

/// Number of occurrences of each name.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Counts(BTreeMap<String, u64>);

impl Counts {
    pub(super) fn add(&mut self, name: &str) {
        self.add_many(name, 1);
    }

    /// Counts a property that a record may lack.
    pub(super) fn add_fact(&mut self, name: Option<&str>) {
        self.add(name.unwrap_or(MISSING));
    }

    fn add_many(&mut self, name: &str, count: u64) {
        let name = shortened(name);
        if let Some(known) = self.0.get_mut(name) {
            *known += count;
        } else {
            let name = if self.0.len() < MAX_NAMES { name } else { OTHERS };
            *self.0.entry(name.to_owned()).or_default() += count;
        }
    }

    pub(super) fn merge(&mut self, other: &Counts) {
        for (name, &count) in &other.0 {
            self.add_many(name, count);
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.0.values().sum()
    }

    pub(super) fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns an iterator over the counts, in the order of names.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, u64)> {
        self.0.iter().map(|(name, &count)| (name.as_str(), count))
    }

    /// Returns the counts in descending order. Equal counts are ordered by name.
    pub(super) fn by_count(&self) -> Vec<(&str, u64)> {
        let mut names: Vec<(&str, u64)> = self.iter().collect();
        names.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        names
    }
}

/// Returns the first [`MAX_LENGTH`] characters of a name.
fn shortened(name: &str) -> &str {
    name.char_indices().nth(MAX_LENGTH).and_then(|(end, _)| name.get(..end)).unwrap_or(name)
}

/// Counts of a player.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Player {
    pub(super) games: u64,
    pub(super) black: u64,
    pub(super) won: u64,
    pub(super) lost: u64,
}

/// Counts of players by name.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Players {
    by_name: BTreeMap<String, Player>,
    /// Number of games of players beyond the maximum. A game of two such players counts twice.
    pub(super) others: u64,
}

impl Players {
    pub(super) fn add(&mut self, name: &str, games: Player) {
        let name = shortened(name);
        if let Some(known) = self.by_name.get_mut(name) {
            known.games += games.games;
            known.black += games.black;
            known.won += games.won;
            known.lost += games.lost;
        } else if self.by_name.len() < MAX_PLAYERS {
            self.by_name.insert(name.to_owned(), games);
        } else {
            self.others += games.games;
        }
    }

    pub(super) fn merge(&mut self, other: &Players) {
        self.others += other.others;
        for (name, &games) in &other.by_name {
            self.add(name, games);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Returns the players by descending number of games. Equal numbers are ordered by name.
    pub(super) fn by_games(&self) -> Vec<(&str, Player)> {
        let mut players: Vec<(&str, Player)> =
            self.by_name.iter().map(|(name, &player)| (name.as_str(), player)).collect();
        players.sort_by_key(|&(_, player)| std::cmp::Reverse(player.games));
        players
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_for_names_is_bounded() {
        let mut counts = Counts::default();
        for number in 0..MAX_NAMES + 500 {
            counts.add(&number.to_string());
        }
        counts.add("0");
        counts.add(&"x".repeat(1000));
        assert_eq!((counts.len(), counts.get("0"), counts.get(OTHERS)), (MAX_NAMES + 1, 2, 501));
        assert_eq!(counts.total(), MAX_NAMES as u64 + 502);
        assert_eq!(counts.by_count().first(), Some(&(OTHERS, 501)));
        assert_eq!(shortened(&"\u{e9}".repeat(100)).chars().count(), MAX_LENGTH);
    }
}
