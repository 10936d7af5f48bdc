//! Settings of one query.

use kosumi_engine::{AnalystSettings, EngineSettings};
use kosumi_eval::NetworkSettings;
use kosumi_go::board::Color;
use kosumi_go::game::Game;
use kosumi_search::{Limits, SearchParams};

/// Perspective of values and scores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Perspective {
    /// Perspective of one player, whatever the side to move.
    Of(Color),
    /// Perspective of the side to move.
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

/// Settings of a query: those of the process, changed by the query.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Settings {
    /// Values of the registered parameters. Those without effect on an analysis are not used.
    pub engine: EngineSettings,
    /// Perspective of reported numbers.
    pub perspective: Perspective,
}

impl Default for Settings {
    fn default() -> Settings {
        let AnalystSettings { network, wide_root_noise, .. } = AnalystSettings::default();
        // By default a search takes the threads that other searches do not use.
        let engine =
            EngineSettings { network, wide_root_noise, threads: usize::MAX, ..EngineSettings::default() };
        Settings { engine, perspective: Perspective::default() }
    }
}

impl Settings {
    /// Returns the settings for the analysis of the current position of a game.
    pub fn for_game(&self, game: &Game) -> AnalystSettings {
        let engine = &self.engine;
        let player = engine.advantaged_side.unwrap_or(game.to_move());
        let black_doubling_advantage = engine.doubling_advantage * player.sign() as f32;
        let limits = Limits {
            visits: engine.visits,
            playouts: engine.playouts,
            soft: engine.move_time,
            hard: engine.move_time,
            ..Limits::default()
        };
        let root = SearchParams::for_network().changed(&engine.search).root;
        AnalystSettings {
            threads: engine.threads,
            limits,
            network: NetworkSettings { black_doubling_advantage, ..engine.network },
            search: engine.search,
            sharing: engine.sharing,
            root_policy_temperature: root.temperature(game),
            wide_root_noise: engine.wide_root_noise,
            prunes_symmetric: root.root_symmetry_pruning,
            human: engine.human,
            anti_mirror: engine.anti_mirror,
        }
    }
}

/// Sets those settings of the network that queries cannot change.
pub(super) fn network_with(usual: NetworkSettings) -> NetworkSettings {
    NetworkSettings { ignore_pre_root_history: true, ..usual }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::board::{BoardSize, Move};
    use kosumi_go::rules::Rules;

    fn game(side: usize) -> Game {
        Game::new(BoardSize::square(side).unwrap(), Rules::default(), 7.0)
    }

    #[test]
    fn an_analysis_without_settings_is_the_usual_one() {
        let usual = AnalystSettings { threads: usize::MAX, ..AnalystSettings::default() };
        assert_eq!(Settings::default().for_game(&game(9)), usual);
    }

    #[test]
    fn the_advantage_is_blacks() {
        let settings = |advantaged| {
            let engine = EngineSettings {
                doubling_advantage: 1.5,
                advantaged_side: advantaged,
                ..EngineSettings::default()
            };
            Settings { engine, ..Settings::default() }
        };
        let advantage = |settings: Settings, color| {
            let mut game = game(9);
            game.set_to_move(color);
            settings.for_game(&game).network.black_doubling_advantage
        };
        assert_eq!([Color::Black, Color::White].map(|color| advantage(settings(None), color)), [1.5, -1.5]);
        let white = settings(Some(Color::White));
        assert_eq!([Color::Black, Color::White].map(|color| advantage(white, color)), [-1.5, -1.5]);
    }

    #[test]
    fn the_temperature_of_the_root_is_another_one_early_in_the_game() {
        let mut settings = Settings::default();
        settings.engine.search.root_policy_temperature = Some(1.0);
        settings.engine.search.root_policy_temperature_early = Some(2.0);
        let mut game = game(4);
        assert_eq!(settings.for_game(&game).root_policy_temperature, 2.0);
        for color in [Color::Black, Color::White, Color::Black, Color::White] {
            let mv = game.size().points().map(Move::Play).find(|&mv| game.check(color, mv).is_ok()).unwrap();
            game.play(color, mv).unwrap();
        }
        assert_eq!(settings.for_game(&game).root_policy_temperature, 1.5);
    }
}
