//! Conditions of a match: players, boards, rules, and the start of each game.

use super::clock;
use super::contender::Contender;
use super::game_board::GameBoard;
use super::openings::{Opening, Openings, Source};
use super::side::Side;
use crate::statistics::Sprt;
use clap::ValueEnum;
use kosumi_engine::time::TimeControl;
use kosumi_go::rng::mix;
use kosumi_go::rules::Rules;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Decision about dead stones after two passes, under rules that remove dead stones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum DeadStones {
    /// Those that both engines call dead; if their answers differ, Kosumi judges
    Agreed,
    /// Kosumi judges by playouts, whatever the engines say
    Judge,
    /// All stones on the board count
    None,
}

/// Engines whose evaluations go into the game records as comments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum EvaluationComments {
    /// Every engine that reports evaluations
    All,
    /// The built-in engine
    Builtin,
    /// No engine
    None,
}

/// Conditions that hold for all games of a match.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// Engines A and B.
    pub contenders: [Contender; 2],
    /// Boards over which the games are spread evenly.
    pub boards: Vec<GameBoard>,
    /// Rules that the referee applies.
    pub rules: Rules,
    /// Time control. Without one, [`Conditions::unclocked_move_time`] is the only limit.
    pub time: Option<TimeControl>,
    /// Time by which an engine may exceed its clock.
    pub margin: Duration,
    /// Maximum time for a move in a match without a clock.
    pub unclocked_move_time: Duration,
    /// Source of the openings.
    pub source: Source,
    /// Openings from this source.
    pub openings: Openings,
    /// Seed of the openings, and of engines that accept one.
    pub seed: u64,
    /// Number of handicap stones that A gives to B, who then has Black in all games. With 1, B only has the first move.
    /// With 0, the match is even.
    pub handicap: u32,
    /// Decision about dead stones after two passes.
    pub dead: DeadStones,
    /// Engines whose evaluations go into the records.
    pub evaluation_comments: EvaluationComments,
    /// Sequential test that may end the match early.
    pub sprt: Option<Sprt>,
}

/// Start of a game.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct GamePlan {
    /// Number of the game in the match, from 1.
    pub number: u32,
    pub board: GameBoard,
    pub black: Side,
    /// Number of handicap stones, as in [`Conditions::handicap`].
    pub handicap: u32,
    pub opening: Opening,
    /// Seed of engines that accept one.
    pub seed: u64,
}

/// Returns the number of a game's pair, from 0: games 1 and 2 are pair 0.
pub(super) fn pair(game: u32) -> u32 {
    (game - 1) / 2
}

impl Conditions {
    /// Returns the plan of a game. Both games of a pair have the same board and the same opening, with colours swapped
    /// unless there is a handicap. Successive pairs use successive boards.
    pub(super) fn plan(&self, game: u32) -> GamePlan {
        let pair = pair(game);
        let boards = self.boards.len() as u32;
        let index = (pair % boards) as usize;
        GamePlan {
            number: game,
            board: self.boards[index],
            black: if game % 2 == 1 && self.handicap == 0 { Side::A } else { Side::B },
            handicap: self.handicap,
            opening: self.openings.get(&self.boards, index, pair / boards, self.rules),
            seed: mix(self.seed ^ mix(u64::from(game))),
        }
    }

    /// Returns everything that determines play and scoring, in the format of the log. The number of games and the
    /// number of concurrent games are not included, so that a match can be extended or moved to another machine.
    pub fn settings(&self) -> Map<String, Value> {
        let boards = self.boards.iter().map(|board| json!({"size": board.size_text(), "komi": board.komi}));
        let openings = match &self.source {
            Source::None => "none".to_owned(),
            Source::BuiltIn => "builtin".to_owned(),
            Source::Random(moves) => format!("{moves} random moves"),
            Source::Records(path) => path.display().to_string(),
        };
        let settings = json!({
            "a": self.contenders[0].text,
            "b": self.contenders[1].text,
            "boards": boards.collect::<Vec<_>>(),
            "rules": self.rules.to_string(),
            "time": self.time.map(clock::text),
            "margin": self.margin.as_secs_f64(),
            "patience": self.unclocked_move_time.as_secs_f64(),
            "openings": openings,
            "openings-digest": self.openings.digest(),
            "seed": self.seed,
            "dead-stones": self.dead.to_possible_value().map(|value| value.get_name().to_owned()),
            "sprt": self.sprt,
        });
        let mut map = match settings {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        // The key is omitted in even matches, so logs from before handicaps existed stay valid.
        if self.handicap > 0 {
            map.insert("handicap".to_owned(), self.handicap.into());
        }
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matches::fixtures::conditions;
    use kosumi_engine::EngineSettings;
    use std::collections::BTreeMap;

    #[test]
    fn games_of_a_pair_differ_in_colours_only() {
        let conditions = conditions(&[9, 13, 19], Source::BuiltIn);
        let mut sizes: BTreeMap<String, u32> = BTreeMap::new();
        for first in (1..=60).step_by(2) {
            let (one, other) = (conditions.plan(first), conditions.plan(first + 1));
            assert_eq!((one.black, other.black), (Side::A, Side::B));
            assert_eq!((&one.opening, one.board), (&other.opening, other.board));
            assert_ne!(one.seed, other.seed);
            *sizes.entry(one.board.size_text()).or_default() += 2;
        }
        assert_eq!(sizes.values().collect::<Vec<_>>(), [&20, &20, &20], "spread evenly");
    }

    #[test]
    fn every_setting_is_told() {
        let usual = conditions(&[9], Source::BuiltIn);
        let contenders =
            [Contender::built_in("builtin", EngineSettings::default(), None), usual.contenders[1].clone()];
        let boards = vec![GameBoard { komi: 6.5, ..usual.boards[0] }];
        let openings = conditions(&[9], Source::Random(2)).openings;
        let changed: [(&str, Conditions); 11] = [
            ("a", Conditions { contenders, ..usual.clone() }),
            ("boards", Conditions { boards, ..usual.clone() }),
            ("rules", Conditions { rules: Rules::default(), ..usual.clone() }),
            ("time", Conditions { time: Some(clock::parse("absolute 5").unwrap()), ..usual.clone() }),
            ("margin", Conditions { margin: Duration::ZERO, ..usual.clone() }),
            ("patience", Conditions { unclocked_move_time: Duration::ZERO, ..usual.clone() }),
            ("openings-digest", Conditions { openings, ..usual.clone() }),
            ("seed", Conditions { seed: 2, ..usual.clone() }),
            ("handicap", Conditions { handicap: 2, ..usual.clone() }),
            ("dead-stones", Conditions { dead: DeadStones::None, ..usual.clone() }),
            ("sprt", Conditions { sprt: Sprt::parse("0,5").ok(), ..usual.clone() }),
        ];
        for (key, conditions) in changed {
            let (old, new) = (usual.settings(), conditions.settings());
            let different: Vec<&String> = new.keys().filter(|&key| old.get(key) != new.get(key)).collect();
            assert_eq!(different, [key]);
        }
    }
}
