//! How strong the engine plays against a person: a list of levels to choose from. The one place to add to.

use kosumi_engine::{EngineSettings, HumanSettings};
use kosumi_net::Rank;
use std::time::Duration;

/// A level.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Level {
    /// The name in messages; pages have words for it.
    pub(super) id: &'static str,
    /// Most visits of the position, with those kept from the move before.
    visits: Option<u32>,
    /// Most time for a move, in seconds.
    seconds: Option<f64>,
    /// How often a move is played that is not the best one; see [`HumanSettings::temperature`].
    temperature: f32,
    /// The person's rank on which it plays, which decides visits and temperature itself.
    rank: Option<&'static str>,
}

/// A level of a person's rank; its name is the rank.
const fn ranked(rank: &'static str) -> Level {
    Level { id: rank, visits: None, seconds: Some(5.0), temperature: 0.0, rank: Some(rank) }
}

/// A level with a bound on visits.
const fn visits(id: &'static str, visits: u32, temperature: f32) -> Level {
    Level { id, visits: Some(visits), seconds: None, temperature, rank: None }
}

/// A level with a time for every move.
const fn seconds(id: &'static str, seconds: f64) -> Level {
    Level { id, visits: None, seconds: Some(seconds), temperature: 0.0, rank: None }
}

/// From the weakest to the strongest, first by what limits the search, then by people's ranks.
pub(super) const LEVELS: &[Level] = &[
    visits("first", 2, 1.2),
    visits("easy", 6, 0.7),
    visits("casual", 16, 0.35),
    visits("firm", 50, 0.1),
    visits("strong", 200, 0.0),
    seconds("seconds-1", 1.0),
    seconds("seconds-5", 5.0),
    seconds("seconds-20", 20.0),
    ranked("20k"),
    ranked("15k"),
    ranked("10k"),
    ranked("5k"),
    ranked("1k"),
    ranked("3d"),
    ranked("6d"),
    ranked("9d"),
];

/// What a page offers first.
pub(super) const USUAL: &str = "firm";

impl Level {
    /// The level of a name.
    pub(super) fn named(id: &str) -> Option<&'static Level> {
        LEVELS.iter().find(|level| level.id == id)
    }

    /// Does it bound visits, by itself or by the rank?
    pub(super) fn bounds_visits(&self) -> bool {
        self.visits.is_some() || self.rank.is_some()
    }

    /// The settings of an engine that plays so.
    pub(super) fn settings(&self, base: &EngineSettings) -> EngineSettings {
        EngineSettings {
            visits: self.visits,
            playouts: None,
            move_time: self.seconds.map(Duration::from_secs_f64),
            human: HumanSettings { temperature: self.temperature, ..base.human },
            rank: self.rank.and_then(|rank| rank.parse::<Rank>().ok()),
            ..*base
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_names_of_their_own_and_a_limit() {
        assert!(Level::named(USUAL).is_some());
        for (index, level) in LEVELS.iter().enumerate() {
            assert_eq!(LEVELS.iter().position(|other| other.id == level.id), Some(index));
            assert!(level.visits.is_some() || level.seconds.is_some(), "{}", level.id);
            let settings = level.settings(&EngineSettings::default());
            assert_eq!(settings.rank.map(|rank| rank.to_string()), level.rank.map(str::to_owned));
        }
    }
}
