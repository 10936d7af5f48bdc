//! The rank at which an engine plays: a fixed one, or one that adapts to the opponent.

use super::profile::Rank;
use std::fmt;
use std::str::FromStr;

/// Rank at which an engine plays.
///
/// ```
/// use kosumi_net::RankSetting;
///
/// let fixed: RankSetting = "8k".parse().unwrap();
/// assert_eq!(fixed.rank().to_string(), "8k");
/// // An adaptive rank begins at this rank, or continues after this number of games.
/// let adaptive: RankSetting = "auto:8k".parse().unwrap();
/// assert_eq!((adaptive.rank(), adaptive.to_string().as_str()), (fixed.rank(), "auto:8k:0"));
/// assert!("auto:8k:3".parse::<RankSetting>().is_ok() && "auto:31k".parse::<RankSetting>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RankSetting {
    /// This rank in every game.
    Fixed(Rank),
    /// A rank that changes after each game.
    Adaptive(AdaptiveRank),
}

/// Rank that changes after each game, such that the engine wins half of its games.
///
/// The rank rises after a lost game and falls after a won one. The step is 4 ranks in the first two games, 3 in the
/// next two, 2 in the next four, and 1 from then on. The rank therefore reaches an opponent up to 22 ranks away within
/// eight games, and keeps following an opponent whose strength changes. It depends on the results alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AdaptiveRank {
    rank: Rank,
    /// Number of games that have changed the rank.
    games: u32,
}

/// Result of a game for the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GameOutcome {
    /// The engine has won.
    Won,
    /// The engine has lost.
    Lost,
    /// Neither side has won.
    Drawn,
}

/// Steps in ranks, with the number of games from which each one applies.
const STEPS: [(u32, i16); 4] = [(8, 1), (4, 2), (2, 3), (0, 4)];

/// Word for an adaptive rank.
const AUTO: &str = "auto";

/// Rank at which an adaptive rank begins if none is named: half-way between a beginner and an average club player.
const FIRST_RANK: &str = "20k";

impl RankSetting {
    /// Returns the present rank.
    pub fn rank(self) -> Rank {
        match self {
            RankSetting::Fixed(rank) => rank,
            RankSetting::Adaptive(adaptive) => adaptive.rank,
        }
    }

    /// Returns the setting after a game.
    #[must_use]
    pub fn after(self, outcome: GameOutcome) -> RankSetting {
        match self {
            RankSetting::Fixed(_) => self,
            RankSetting::Adaptive(adaptive) => RankSetting::Adaptive(adaptive.after(outcome)),
        }
    }

    /// Returns whether the rank changes after games.
    pub fn is_adaptive(self) -> bool {
        matches!(self, RankSetting::Adaptive(_))
    }
}

impl AdaptiveRank {
    fn after(self, outcome: GameOutcome) -> AdaptiveRank {
        let step = STEPS.iter().find(|&&(from, _)| self.games >= from).map_or(1, |&(_, step)| step);
        let rank = match outcome {
            GameOutcome::Won => self.rank.weaker(step),
            GameOutcome::Lost => self.rank.weaker(-step),
            GameOutcome::Drawn => self.rank,
        };
        AdaptiveRank { rank, games: self.games.saturating_add(1) }
    }
}

impl From<Rank> for RankSetting {
    fn from(rank: Rank) -> RankSetting {
        RankSetting::Fixed(rank)
    }
}

impl FromStr for RankSetting {
    type Err = ();

    fn from_str(text: &str) -> Result<RankSetting, ()> {
        let mut parts = text.split(':');
        if parts.next() != Some(AUTO) {
            return text.parse().map(RankSetting::Fixed);
        }
        let rank = parts.next().unwrap_or(FIRST_RANK).parse()?;
        let games = match parts.next() {
            // A sign or a superfluous zero would not read back as the same text.
            Some(games) => games.parse().ok().filter(|count: &u32| count.to_string() == games).ok_or(())?,
            None => 0,
        };
        match parts.next() {
            None => Ok(RankSetting::Adaptive(AdaptiveRank { rank, games })),
            Some(_) => Err(()),
        }
    }
}

impl fmt::Display for RankSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RankSetting::Fixed(rank) => write!(f, "{rank}"),
            RankSetting::Adaptive(AdaptiveRank { rank, games }) => write!(f, "{AUTO}:{rank}:{games}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::rng::Rng;

    fn setting(text: &str) -> RankSetting {
        text.parse().unwrap()
    }

    #[test]
    fn settings_read_back() {
        for text in ["9d", "30k", "auto:30k:0", "auto:1d:12", "auto:9d:4294967295"] {
            assert_eq!(setting(text).to_string(), text);
        }
        assert_eq!(setting("auto").to_string(), format!("auto:{FIRST_RANK}:0"));
        for text in
            ["", "Auto", "auto:", "auto:31k", "auto:8k:", "auto:8k:-1", "auto:8k:01", "auto:8k:1:1", "8k:1"]
        {
            assert!(text.parse::<RankSetting>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_rank_falls_after_a_won_game_by_a_step_that_shrinks() {
        let mut won = setting("auto:9d");
        let ranks: Vec<String> = (0..10)
            .map(|_| {
                won = won.after(GameOutcome::Won);
                won.rank().to_string()
            })
            .collect();
        assert_eq!(ranks, ["5d", "1d", "3k", "6k", "8k", "10k", "12k", "14k", "15k", "16k"]);
        assert_eq!(setting("auto:2k:8").after(GameOutcome::Lost).to_string(), "auto:1k:9");
        assert_eq!(setting("auto:2k:8").after(GameOutcome::Drawn).to_string(), "auto:2k:9");
        // The ends of the scale, and a fixed rank.
        assert_eq!(setting("auto:29k").after(GameOutcome::Won).to_string(), "auto:30k:1");
        assert_eq!(setting("auto:9d").after(GameOutcome::Lost).to_string(), "auto:9d:1");
        assert_eq!(setting("8k").after(GameOutcome::Won), setting("8k"));
    }

    /// Plays simulated games against opponents of a known rank. A rank is worth 0.2 in the logarithm of the odds.
    /// Returns the mean rank of the engine (steps below 10 dan) and its share of wins over the last games.
    fn simulate(start: &str, opponent: impl Fn(u32) -> f64, games: u32, last: u32, seed: u64) -> (f64, f64) {
        let (mut engine, mut rng) = (setting(start), Rng::new(seed));
        let (mut sum, mut won) = (0.0, 0.0);
        for game in 0..games {
            let steps = f64::from(engine.rank().steps_below_ten_dan());
            let chance = 1.0 / (1.0 + (0.2 * (steps - opponent(game))).exp());
            let is_won = rng.unit() < chance;
            if game + last >= games {
                sum += steps;
                won += f64::from(u8::from(is_won));
            }
            engine = engine.after(if is_won { GameOutcome::Won } else { GameOutcome::Lost });
        }
        (sum / f64::from(last), won / f64::from(last))
    }

    #[test]
    fn the_rank_converges_to_that_of_the_opponent() {
        for (start, opponent) in [("auto", 10.0), ("auto:30k", 5.0), ("auto:9d", 33.0), ("auto:1d", 18.0)] {
            let runs = 40;
            let found: Vec<(f64, f64)> =
                (0..runs).map(|seed| simulate(start, |_| opponent, 60, 30, seed)).collect();
            let mean = |part: fn(&(f64, f64)) -> f64| found.iter().map(part).sum::<f64>() / runs as f64;
            assert!((mean(|run| run.0) - opponent).abs() < 1.5, "{start}: {} {opponent}", mean(|run| run.0));
            assert!((mean(|run| run.1) - 0.5).abs() < 0.04, "{start}: {}", mean(|run| run.1));
            let near = found.iter().filter(|run| (0.35..=0.65).contains(&run.1)).count();
            assert!(near * 10 >= runs as usize * 9, "{start}: {near} of {runs}");
        }
    }

    #[test]
    fn the_rank_follows_an_opponent_who_improves() {
        // From 20 kyu to 5 kyu within 100 games.
        let improving = |game: u32| 29.0 - 15.0 * f64::from(game.min(100)) / 100.0;
        let runs = 20;
        let shares = (0..runs).map(|seed| simulate("auto:20k", improving, 120, 60, seed).1);
        assert!((shares.sum::<f64>() / runs as f64 - 0.5).abs() < 0.08);
    }
}
