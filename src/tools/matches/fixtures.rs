//! Conditions and records for tests.

use super::conditions::{Conditions, DeadStones, EvaluationComments};
use super::contender::Contender;
use super::game_board::GameBoard;
use super::openings::{Openings, Source};
use super::record::{Ending, GameRecord, Judgement};
use super::side::Side;
use kosumi_engine::EngineSettings;
use kosumi_go::board::BoardSize;
use kosumi_go::rules::Rules;
use std::time::Duration;

/// Returns conditions for tests: boards of these sizes, no clock, few playouts.
pub(super) fn conditions(sizes: &[usize], source: Source) -> Conditions {
    let rules = Rules::preset("cgos").unwrap().rules;
    let board = |&side: &usize| GameBoard { size: BoardSize::square(side).unwrap(), komi: 7.5 };
    let boards: Vec<GameBoard> = sizes.iter().map(board).collect();
    let contender = |text: &str, playouts: u32| {
        let settings = EngineSettings {
            threads: 1,
            memory_mebibytes: 16,
            playouts: Some(playouts),
            ..EngineSettings::default()
        };
        Contender::built_in(text, settings, None)
    };
    Conditions {
        contenders: [
            contender("builtin:no-model,playouts=20", 20),
            contender("builtin:no-model,playouts=10", 10),
        ],
        openings: Openings::load(&source, 6, &boards, rules, 1).unwrap(),
        boards,
        rules,
        time: None,
        margin: Duration::from_secs(1),
        unclocked_move_time: Duration::from_secs(60),
        source,
        seed: 1,
        handicap: 0,
        dead: DeadStones::Agreed,
        evaluation_comments: EvaluationComments::Builtin,
        sprt: None,
    }
}

/// Returns a record of a game that A won, as Black if the number is odd and as White if it is even.
pub(super) fn record(number: u32) -> GameRecord {
    let black = if number % 2 == 1 { Side::A } else { Side::B };
    GameRecord {
        number,
        date: "2026-11-21T12:00:00Z".into(),
        size: "9x9".into(),
        komi: 7.5,
        black,
        handicap: 0,
        opening: "none".into(),
        opening_moves: 1,
        result: if number % 2 == 1 { "B+2.5" } else { "W+R" }.into(),
        winner: Some(Side::A),
        ending: if number % 2 == 1 { Ending::Score } else { Ending::Resign },
        detail: String::new(),
        judgement: (number % 2 == 1).then_some(Judgement::AllAlive),
        final_scores: [None, None],
        moves: vec!["E5".into(), "C4".into(), "pass".into()],
        chosen: [1, 1],
        seconds: [0.5, 0.25],
        slowest: [0.5, 0.25],
        overstep: [0.0, 0.0],
        lag: [0.001, 0.002],
        stray: [0, 0],
    }
}
