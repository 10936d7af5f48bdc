//! Levels of strength against a person. This list is the only place to change for a new level.

use kosumi_engine::{EngineSettings, HumanSettings};
use kosumi_net::Rank;
use std::time::Duration;

/// Level of strength.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Level {
    /// Name in messages. Pages have texts for it.
    pub(super) id: &'static str,
    /// Maximum visits of the position, including visits kept from the previous move.
    visits: Option<u32>,
    /// Maximum time per move, in seconds.
    seconds: Option<f64>,
    /// Temperature of the choice of the move, see [`HumanSettings::temperature`].
    temperature: f32,
    /// Human rank to play at. It determines visits and temperature.
    rank: Option<&'static str>,
}

/// Returns a level at a human rank. Its name is the rank.
const fn ranked(rank: &'static str) -> Level {
    Level { id: rank, visits: None, seconds: Some(5.0), temperature: 0.0, rank: Some(rank) }
}

/// Returns a level with a limit of visits.
const fn visits(id: &'static str, visits: u32, temperature: f32) -> Level {
    Level { id, visits: Some(visits), seconds: None, temperature, rank: None }
}

/// Returns a level with a time per move.
const fn seconds(id: &'static str, seconds: f64) -> Level {
    Level { id, visits: None, seconds: Some(seconds), temperature: 0.0, rank: None }
}

/// All levels from the weakest to the strongest: first those with a limit of the search, then human ranks.
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

/// Default level of a page.
pub(super) const DEFAULT_LEVEL: &str = "firm";

impl Level {
    /// Returns the level with this name.
    pub(super) fn named(id: &str) -> Option<&'static Level> {
        LEVELS.iter().find(|level| level.id == id)
    }

    /// Whether the level limits visits, by itself or by its rank.
    pub(super) fn bounds_visits(&self) -> bool {
        self.visits.is_some() || self.rank.is_some()
    }

    /// Returns the settings of an engine at this level.
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
        assert!(Level::named(DEFAULT_LEVEL).is_some());
        for (index, level) in LEVELS.iter().enumerate() {
            assert_eq!(LEVELS.iter().position(|other| other.id == level.id), Some(index));
            assert!(level.visits.is_some() || level.seconds.is_some(), "{}", level.id);
            let settings = level.settings(&EngineSettings::default());
            assert_eq!(settings.rank.map(|rank| rank.to_string()), level.rank.map(str::to_owned));
        }
    }
}
