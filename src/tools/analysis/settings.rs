//! How one query is analysed.

use kosumi_engine::AnalystSettings;
use kosumi_eval::NetworkSettings;
use kosumi_go::board::Color;
use kosumi_search::PuctParams;

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
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Settings {
    /// How the engine analyses; the two fields below are worked in when the player to move is known.
    pub analyst: AnalystSettings,
    /// From whose side numbers are told.
    pub perspective: Perspective,
    /// KataGo's `winLossUtilityFactor`: what the result counts, in `[0, 1]`.
    pub win_loss: f32,
    /// How many times the opponent's simulations a player is told to have, as a power of two.
    pub doubling_advantage: f32,
    /// Which player; `None`: the one to move.
    pub advantaged: Option<Color>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            analyst: AnalystSettings::default(),
            perspective: Perspective::default(),
            win_loss: 1.0,
            doubling_advantage: 0.0,
            advantaged: None,
        }
    }
}

impl Settings {
    /// How a position is analysed in which this player is on turn.
    pub fn for_player(&self, to_move: Color) -> AnalystSettings {
        let mut analyst = self.analyst;
        let player = self.advantaged.unwrap_or(to_move);
        analyst.network.black_doubling_advantage = self.doubling_advantage * player.sign() as f32;
        if self.win_loss < 1.0 {
            // Here the result always counts 1, so points count the more.
            let usual = PuctParams::default();
            let search = &mut analyst.search;
            let scaled = |own: Option<f32>, usual: f32| Some(own.unwrap_or(usual) / self.win_loss.max(0.01));
            search.static_score_utility_factor =
                scaled(search.static_score_utility_factor, usual.static_score_utility_factor);
            search.dynamic_score_utility_factor =
                scaled(search.dynamic_score_utility_factor, usual.dynamic_score_utility_factor);
        }
        analyst
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
    fn where_the_result_counts_less_points_count_more() {
        let points = |win_loss| {
            let settings = Settings { win_loss, ..Settings::default() };
            settings.for_player(Color::Black).search.static_score_utility_factor
        };
        assert_eq!((points(1.0), points(0.5)), (None, Some(0.2)));
        assert!(points(0.0).is_some_and(f32::is_finite));
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
