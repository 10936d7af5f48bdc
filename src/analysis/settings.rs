//! Settings of one query.

use crate::board::Color;
use crate::engine::AnalystSettings;
use crate::eval::NetworkSettings;
use crate::search::PuctParams;

/// Perspective of values and scores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Perspective {
    /// One player's, whatever the side to move.
    Of(Color),
    /// That of the side to move.
    #[default]
    SideToMove,
}

impl Perspective {
    /// Returns the player whose perspective it is if `to_move` is the side to move.
    pub fn player(self, to_move: Color) -> Color {
        match self {
            Perspective::Of(color) => color,
            Perspective::SideToMove => to_move,
        }
    }
}

/// Settings of a query: those of the process with the query's changes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Settings {
    /// Settings of the analyst. The fields below are merged into them when the side to move is known.
    pub analyst: AnalystSettings,
    /// Perspective of the numbers.
    pub perspective: Perspective,
    /// KataGo's `winLossUtilityFactor`: weight of the result in the utility, in `[0, 1]`.
    pub win_loss: f32,
    /// Advantage that the network is shown for one player: binary logarithm of the ratio of the simulations.
    pub doubling_advantage: f32,
    /// Player with the advantage; `None`: the side to move.
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
    /// Returns the settings of the analyst for a position with this side to move.
    pub fn for_player(&self, to_move: Color) -> AnalystSettings {
        let mut analyst = self.analyst;
        let player = self.advantaged.unwrap_or(to_move);
        analyst.network.black_doubling_advantage = self.doubling_advantage * player.sign() as f32;
        if self.win_loss < 1.0 {
            // The result always has weight 1 here, so the weight of points grows instead.
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

/// Settings of the network that do not depend on queries.
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
