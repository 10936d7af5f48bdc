//! How strong the engine plays against a person: a list of levels to choose from. The one place to add to.

use crate::engine::{EngineSettings, HumanSettings};
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
}

/// From the weakest to the strongest.
pub(super) const LEVELS: &[Level] = &[
    Level { id: "first", visits: Some(2), seconds: None, temperature: 1.2 },
    Level { id: "easy", visits: Some(6), seconds: None, temperature: 0.7 },
    Level { id: "casual", visits: Some(16), seconds: None, temperature: 0.35 },
    Level { id: "firm", visits: Some(50), seconds: None, temperature: 0.1 },
    Level { id: "strong", visits: Some(200), seconds: None, temperature: 0.0 },
    Level { id: "seconds-1", visits: None, seconds: Some(1.0), temperature: 0.0 },
    Level { id: "seconds-5", visits: None, seconds: Some(5.0), temperature: 0.0 },
    Level { id: "seconds-20", visits: None, seconds: Some(20.0), temperature: 0.0 },
];

/// What a page offers first.
pub(super) const USUAL: &str = "firm";

impl Level {
    /// The level of a name.
    pub(super) fn named(id: &str) -> Option<&'static Level> {
        LEVELS.iter().find(|level| level.id == id)
    }

    /// The settings of an engine that plays so.
    pub(super) fn settings(&self, base: &EngineSettings) -> EngineSettings {
        EngineSettings {
            visits: self.visits,
            playouts: None,
            move_time: self.seconds.map(Duration::from_secs_f64),
            human: HumanSettings { temperature: self.temperature, ..base.human },
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
        }
    }
}
