//! How one query is analysed.

use crate::board::Color;
use crate::engine::AnalystSettings;
use crate::eval::NetworkSettings;

/// From whose side values and scores are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Perspective {
    /// Always this player's.
    Of(Color),
    /// That of the player to move.
    #[default]
    SideToMove,
}

impl Perspective {
    /// The player whose side it is when `to_move` is on turn.
    pub fn player(self, to_move: Color) -> Color {
        match self {
            Perspective::Of(color) => color,
            Perspective::SideToMove => to_move,
        }
    }
}

/// The settings of a query: those of the process, and what the query overrides.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Settings {
    /// How the engine analyses; the two fields below are worked in when the player to move is known.
    pub analyst: AnalystSettings,
    /// From whose side numbers are told.
    pub perspective: Perspective,
    /// KataGo's factors of the utility, as multiples of their usual values.
    pub utility: Utility,
    /// How many times the opponent's simulations a player is told to have, as a power of two.
    pub doubling_advantage: f32,
    /// Which player; `None`: the one to move.
    pub advantaged: Option<Color>,
}

/// What counts how much: KataGo's `winLossUtilityFactor`, `staticScoreUtilityFactor` and `dynamicScoreUtilityFactor`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Utility {
    /// The result.
    pub win_loss: f32,
    /// The score.
    pub static_score: f32,
    /// The score, seen from where it is expected.
    pub dynamic_score: f32,
}

impl Default for Utility {
    fn default() -> Utility {
        Utility { win_loss: 1.0, static_score: 0.1, dynamic_score: 0.3 }
    }
}

impl Settings {
    /// How a position is analysed in which this player is on turn.
    pub fn for_player(&self, to_move: Color) -> AnalystSettings {
        let mut analyst = self.analyst;
        let player = self.advantaged.unwrap_or(to_move);
        analyst.network.black_doubling_advantage = self.doubling_advantage * player.sign() as f32;
        analyst.network.score_share = self.utility.score_share(analyst.network.score_share);
        analyst
    }
}

impl Utility {
    /// The share of the score in the value, if it is `usual` with the usual factors.
    fn score_share(self, usual: f32) -> f32 {
        let normal = Utility::default();
        if self == normal {
            return usual;
        }
        let scores = self.static_score + self.dynamic_score;
        let score = usual / (1.0 - usual).max(1e-3) * scores / (normal.static_score + normal.dynamic_score);
        // Something must be worth something.
        let sum = score + self.win_loss;
        if sum > 0.0 { (score / sum).min(0.999) } else { usual }
    }
}

/// The settings of the network that do not depend on queries.
pub(super) fn network_with(usual: NetworkSettings) -> NetworkSettings {
    NetworkSettings { ignore_pre_root_history: true, ..usual }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_of_the_utility_change_the_share_of_the_score() {
        let share = |utility: Utility| utility.score_share(0.1);
        let normal = Utility::default();
        assert_eq!(share(normal), 0.1);
        assert_eq!(share(Utility { static_score: 0.0, dynamic_score: 0.0, ..normal }), 0.0);
        assert!(share(Utility { static_score: 0.5, ..normal }) > 0.15);
        assert!(share(Utility { win_loss: 0.0, ..normal }) > 0.99);
        assert_eq!(share(Utility { win_loss: 0.0, static_score: 0.0, dynamic_score: 0.0 }), 0.1);
    }

    #[test]
    fn the_advantage_is_blacks() {
        let settings = Settings { doubling_advantage: 1.5, ..Settings::default() };
        let told = |settings: Settings, color| settings.for_player(color).network.black_doubling_advantage;
        assert_eq!([Color::Black, Color::White].map(|color| told(settings, color)), [1.5, -1.5]);
        let white = Settings { advantaged: Some(Color::White), ..settings };
        assert_eq!([Color::Black, Color::White].map(|color| told(white, color)), [-1.5, -1.5]);
    }
}
