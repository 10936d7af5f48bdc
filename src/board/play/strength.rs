//! Levels of strength for games against a person. A new level needs changes to this list only.

use kosumi_engine::{EngineSettings, HumanSettings};
use kosumi_net::{GameOutcome, RankSetting};
use std::time::Duration;

/// Level of strength.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Level {
    /// Maximum time per move, in seconds.
    seconds: f64,
    /// Human rank to play at, fixed or adaptive. `None` is full strength.
    rank: Option<RankSetting>,
}

/// Name of the level that adapts to the opponent. Its full name contains its rank and its number of games, as in
/// `auto:25k:0`.
const ADAPTIVE: &str = "auto";

/// Names of all levels that a page offers: the adaptive one, human ranks from the weakest to the strongest, and full
/// strength with a time per move. The table of texts has their descriptions.
pub(super) const LEVELS: &[&str] = &[
    ADAPTIVE,
    "30k",
    "25k",
    "20k",
    "15k",
    "12k",
    "9k",
    "6k",
    "3k",
    "1d",
    "3d",
    "5d",
    "7d",
    "9d",
    "seconds-1",
    "seconds-5",
    "seconds-20",
];

/// Name of the level that a page offers by default.
pub(super) const DEFAULT_LEVEL: &str = ADAPTIVE;

/// Full name of the adaptive level for a person whose strength is unknown. Many people who open the page are beginners.
const FIRST_ADAPTIVE: &str = "auto:25k:0";

/// Prefix of the names of levels with full strength. The time per move in seconds follows.
const FULL_STRENGTH: &str = "seconds-";

/// Names of levels in earlier versions, which stored games may contain, and the levels that replace them.
const OLD_NAMES: [(&str, &str); 8] = [
    ("first", "20k"),
    ("easy", "15k"),
    ("casual", "9k"),
    ("firm", "1d"),
    ("strong", "5d"),
    ("10k", "9k"),
    ("5k", "6k"),
    ("1k", "1d"),
];

/// Maximum time of a move at a rank, in seconds.
const RANK_SECONDS: f64 = 5.0;

/// Returns the full name of a level: the present name for an old one, and with a rank for the adaptive level.
pub(super) fn full_name(name: &str) -> &str {
    match OLD_NAMES.iter().find(|(old, _)| *old == name) {
        Some((_, new)) => new,
        None if name == ADAPTIVE => FIRST_ADAPTIVE,
        None => name,
    }
}

/// Returns the name of a level for records: for an adaptive level, the name of its rank.
pub(super) fn name_in_records(name: &str) -> &str {
    name.split(':').nth(1).unwrap_or(name)
}

impl Level {
    /// Returns the level with this full name.
    pub(super) fn named(name: &str) -> Option<Level> {
        let is_listed = LEVELS.contains(&name);
        if let Some(seconds) = name.strip_prefix(FULL_STRENGTH).filter(|_| is_listed) {
            return Some(Level { seconds: seconds.parse().ok()?, rank: None });
        }
        let rank: RankSetting = name.parse().ok()?;
        (is_listed || rank.is_adaptive()).then_some(Level { seconds: RANK_SECONDS, rank: Some(rank) })
    }

    /// Returns whether the level limits visits.
    pub(super) fn bounds_visits(&self) -> bool {
        self.rank.is_some()
    }

    /// Returns the full name of an adaptive level after a game; `None` for other levels.
    pub(super) fn name_after(&self, outcome: GameOutcome) -> Option<String> {
        self.rank.filter(|rank| rank.is_adaptive()).map(|rank| rank.after(outcome).to_string())
    }

    /// Returns the settings of an engine at this level.
    pub(super) fn settings(&self, base: &EngineSettings) -> EngineSettings {
        // Without a network a rank has no effect, and a limit on visits and a temperature replace it. Their strength
        // was not measured.
        let weakness = self.rank.map(|rank| (f32::from(rank.rank().steps_below_ten_dan()) - 1.0) / 38.0);
        EngineSettings {
            visits: weakness.map(|share| (2000.0 * 0.002f32.powf(share)).round() as u32),
            playouts: None,
            move_time: Some(Duration::from_secs_f64(self.seconds)),
            human: HumanSettings { temperature: 1.2 * weakness.unwrap_or(0.0), ..base.human },
            rank: self.rank,
            ..*base
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_names_of_their_own_and_a_limit() {
        for (index, &name) in LEVELS.iter().enumerate() {
            assert_eq!(LEVELS.iter().position(|&other| other == name), Some(index));
            let level = Level::named(full_name(name)).unwrap();
            let settings = level.settings(&EngineSettings::default());
            assert!(settings.move_time.is_some());
            assert_eq!(settings.rank.is_none(), name.starts_with(FULL_STRENGTH));
            assert_eq!(settings.visits.is_none(), settings.rank.is_none());
            if let Some(rank) = settings.rank.filter(|rank| !rank.is_adaptive()) {
                assert_eq!(rank.to_string(), name);
            }
        }
        assert!(LEVELS.contains(&DEFAULT_LEVEL));
        let visits = |name| Level::named(name).unwrap().settings(&EngineSettings::default()).visits;
        assert_eq!((visits("9d"), visits("30k")), (Some(2000), Some(4)));
    }

    #[test]
    fn old_and_adaptive_names_are_known() {
        for (old, new) in OLD_NAMES {
            assert!(LEVELS.contains(&new) && !LEVELS.contains(&old) && full_name(old) == new);
        }
        assert_eq!(full_name("auto"), FIRST_ADAPTIVE);
        assert_eq!(full_name("auto:3k:17"), "auto:3k:17");
        assert_eq!((name_in_records("auto:3k:17"), name_in_records("3k")), ("3k", "3k"));
        for name in ["auto:31k:0", "seconds-2", "seconds-", "29k", "god", ""] {
            assert!(Level::named(name).is_none(), "{name}");
        }
        let adaptive = Level::named("auto:3k:17").unwrap();
        assert_eq!(adaptive.name_after(GameOutcome::Won).as_deref(), Some("auto:4k:18"));
        assert_eq!(Level::named("3k").unwrap().name_after(GameOutcome::Won), None);
    }
}
