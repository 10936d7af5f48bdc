//! What constants of the search lose or gain, measured on positions instead of games.
//!
//! A game between two settings says one bit about some hundred moves. Here every choice of a move is judged by itself,
//! all settings choose at the same positions, and choices that agree cost nothing and add no noise.
//!
//! Uses `commands`, whose names the settings have, and `engine` with what is below it.

use crate::commands::Setting;
use anyhow::Context;
use kosumi_engine::{Engine, EngineSettings, SearchRequest};
use kosumi_go::board::{BoardSize, Color, Move};
use kosumi_go::game::Game;
use kosumi_go::rng::Rng;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::Record;
use kosumi_net::Network;
use kosumi_search::Limits;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Earlier positions are too much alike, …
const FIRST_MOVE: usize = 4;
/// … and later ones are counted out: moves per point of the board.
const LAST_MOVE_PER_POINT: f64 = 0.66;
/// In an open position the judge gives nobody more than this.
const OPEN_VALUE: f32 = 0.8;

/// Settings that stand for one search.
#[derive(Clone, Debug)]
pub struct Trial {
    text: String,
    settings: Vec<Setting>,
}

impl Trial {
    /// The search as it is.
    pub fn plain() -> Trial {
        Trial { text: "plain".to_owned(), settings: Vec::new() }
    }

    /// `NAME=VALUE`, several joined by commas.
    ///
    /// # Errors
    /// What is wrong with the text, in words.
    pub fn parse(text: &str) -> Result<Trial, String> {
        let settings = text.split(',').map(Setting::parse).collect::<Result<_, _>>()?;
        Ok(Trial { text: text.to_owned(), settings })
    }
}

/// Records and numbers of moves in an order decided by the seed. Every third move, so that both colours come up.
fn places(records: &[(String, Record)], size: BoardSize, seed: u64) -> Vec<(usize, usize)> {
    let last = (size.area() as f64 * LAST_MOVE_PER_POINT) as usize;
    let mut places = Vec::new();
    for (index, (_, record)) in records.iter().enumerate().filter(|(_, (_, record))| record.size == size) {
        places.extend((FIRST_MOVE..record.move_count().min(last)).step_by(3).map(|moves| (index, moves)));
    }
    Rng::new(seed).shuffle(&mut places);
    places
}

/// What each chosen move gives away, in win rate, `[0, 1]`: compared with the best of them and with the `value` of the
/// position, which is a judgement of its best move. Values are the player's, in `[-1, 1]`.
fn losses(
    chosen: &[Move],
    value: f32,
    mut value_after: impl FnMut(Move) -> anyhow::Result<f32>,
) -> anyhow::Result<Vec<f32>> {
    let mut judged: Vec<(Move, f32)> = Vec::new();
    for &mv in chosen {
        if judged.iter().all(|&(known, _)| known != mv) {
            judged.push((mv, value_after(mv)?));
        }
    }
    let best = judged.iter().map(|&(_, after)| after).fold(value, f32::max);
    let loss = |mv: &Move| {
        judged.iter().find(|(known, _)| known == mv).map_or(0.0, |&(_, after)| (best - after) / 2.0)
    };
    Ok(chosen.iter().map(loss).collect())
}

/// A search with its settings, and what its moves have lost.
#[derive(Debug)]
pub struct Contestant {
    /// Its settings, as given.
    pub name: String,
    engine: Engine,
    /// In win rate, a number for each position.
    pub losses: Vec<f64>,
}

impl Contestant {
    /// A search with the settings of a trial, the others plain.
    pub fn new(trial: &Trial, plain: EngineSettings, network: Option<Arc<Network>>) -> Contestant {
        let mut settings = plain;
        trial.settings.iter().for_each(|setting| setting.apply(&mut settings));
        let engine = Engine::with_network(settings, network);
        Contestant { name: trial.text.clone(), engine, losses: Vec::new() }
    }

    fn choose(&mut self, game: &Game, color: Color) -> Move {
        self.engine.set_game(game.clone());
        self.engine.regression_move(color, SearchRequest::new(&|| false))
    }
}

/// A search that takes its time.
#[derive(Debug)]
pub struct Judge {
    engine: Engine,
    limits: Limits,
}

impl Judge {
    /// A judge with so many simulations.
    pub fn new(network: Option<Arc<Network>>, settings: EngineSettings, playouts: u32) -> Judge {
        Judge { engine: Engine::with_network(settings, network), limits: Limits::playouts(playouts) }
    }

    /// The value of a position with `color` on turn, for that player, in `[-1, 1]`.
    fn value(&mut self, game: &Game, color: Color) -> f32 {
        self.engine.set_game(game.clone());
        let report = self.engine.analyze(color, &self.limits, SearchRequest::new(&|| false));
        report.value * color.sign() as f32
    }

    fn value_after(&mut self, game: &Game, color: Color, mv: Move) -> anyhow::Result<f32> {
        let mut after = game.clone();
        after.play(color, mv).with_context(|| format!("{color} {mv}"))?;
        Ok(-self.value(&after, color.opponent()))
    }
}

/// Has searches choose moves in open positions of records, and counts what they lose: in so many positions, or all there
/// are. Returns the number of positions; `progress` is told after each, and may end it there.
///
/// # Errors
/// If a search chooses a move that cannot be played.
pub fn compare(
    searches: &mut [Contestant],
    judge: &mut Judge,
    records: &[(String, Record)],
    conditions: &Conditions,
    progress: &mut dyn FnMut(u32) -> ControlFlow<()>,
) -> anyhow::Result<u32> {
    let mut count = 0;
    for (record, moves) in places(records, conditions.size, conditions.seed) {
        if count == conditions.positions {
            break;
        }
        // Records with faults are passed over like positions that are not open.
        let (name, record) = &records[record];
        let Ok(game) = record.game(conditions.rules, conditions.komi, Some(moves)) else { continue };
        let color = game.to_move();
        if game.is_over() {
            continue;
        }
        let value = judge.value(&game, color);
        if value.abs() > OPEN_VALUE {
            continue;
        }
        let chosen: Vec<Move> = searches.iter_mut().map(|search| search.choose(&game, color)).collect();
        let losses = losses(&chosen, value, |mv| judge.value_after(&game, color, mv))
            .with_context(|| format!("{name}, move {moves}"))?;
        for (search, loss) in searches.iter_mut().zip(losses) {
            search.losses.push(f64::from(loss));
        }
        count += 1;
        if progress(count).is_break() {
            break;
        }
    }
    Ok(count)
}

/// Where searches are compared.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// Records of other sizes are left out.
    pub size: BoardSize,
    /// Positions to compare them on.
    pub positions: u32,
    /// The rules of records that do not say.
    pub rules: Rules,
    /// Points for White in such records.
    pub komi: f32,
    /// Decides which positions come first.
    pub seed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::board::Point;

    #[test]
    fn losses_are_counted_from_the_best_that_is_known() {
        let [a, b, c] = [0, 1, 2].map(|column| Move::Play(Point::new(column, 0)));
        let values = |mv| Ok(if mv == a { 0.5 } else { -0.1 });
        let near = |found: Vec<f32>, wanted: &[f32]| {
            assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} {wanted:?}");
        };
        near(losses(&[a, b, a], 0.3, values).unwrap(), &[0.0, 0.3, 0.0]);
        near(losses(&[b, c], 0.3, values).unwrap(), &[0.2, 0.2]);
        let mut asked = 0;
        losses(&[a, a, b, a], 0.0, |_| {
            asked += 1;
            Ok(0.0)
        })
        .unwrap();
        assert_eq!(asked, 2, "a move is judged once");
    }

    #[test]
    fn a_trial_is_a_list_of_settings() {
        assert_eq!(Trial::parse("lcbStdevs=5,minVisitPropForLCB=0.15").unwrap().settings.len(), 2);
        for bad in ["", "lcbStdevs", "lcbStdevs=5,", "lcbStdevs=5,nothing=1"] {
            assert!(Trial::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn every_place_of_the_size_is_there_once() {
        let record = |size: usize, moves: usize| {
            let text = format!("(;SZ[{size}]{})", ";B[aa];W[]".repeat(moves / 2));
            (String::new(), Record::parse(text.as_bytes()).unwrap())
        };
        let records = [record(9, 40), record(13, 40), record(9, 8)];
        let size = BoardSize::square(9).unwrap();
        let mut found = places(&records, size, 1);
        assert_ne!(found, places(&records, size, 2));
        found.sort_unstable();
        assert!(found.windows(2).all(|pair| pair[0] != pair[1]));
        assert_eq!(found.iter().filter(|(record, _)| *record == 0).count(), 12);
        assert_eq!(found.iter().filter(|(record, _)| *record == 2).count(), 2);
        assert_eq!(found.len(), 14);
    }

    #[test]
    fn searches_are_compared_in_open_positions() {
        let text = "(;SZ[5]KM[0.5];B[cc];W[cd];B[dd];W[dc];B[bd];W[cb];B[bb];W[ce];B[be];W[db];B[];W[])";
        let records = [("game".to_owned(), Record::parse(text.as_bytes()).unwrap())];
        let settings = EngineSettings {
            threads: 1,
            memory_mebibytes: 4,
            playouts: Some(8),
            ..EngineSettings::default()
        };
        let plain = Trial::plain();
        let mut searches = [Contestant::new(&plain, settings, None), Contestant::new(&plain, settings, None)];
        let mut judge = Judge::new(None, settings, 40);
        let size = BoardSize::square(5).unwrap();
        let conditions = Conditions { size, positions: 2, rules: Rules::default(), komi: 0.5, seed: 1 };
        let mut told = 0;
        let mut count_on = |count| {
            told = count;
            ControlFlow::Continue(())
        };
        let count = compare(&mut searches, &mut judge, &records, &conditions, &mut count_on).unwrap();
        assert_eq!(told, count);
        assert!((1..=2).contains(&count), "{count}");
        assert_eq!(searches[0].losses.len(), count as usize);
        assert_eq!(searches[0].losses, searches[1].losses, "the same search loses the same");
        let stopped =
            compare(&mut searches, &mut judge, &records, &conditions, &mut |_| ControlFlow::Break(()));
        assert_eq!(stopped.unwrap(), 1);
    }
}
