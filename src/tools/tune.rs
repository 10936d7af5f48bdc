//! Compares parameters of the search on positions instead of in games.
//!
//! A game between two engines gives one bit of information for a hundred moves or more. Here every chosen move is
//! judged by itself. All searches choose in the same positions, and equal choices cost nothing and add no noise.
//!
//! Parameters have the names of the registry ([`engine::parameters`](kosumi_engine::parameters)).

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

/// Number of moves before the first position: earlier positions are too similar to each other.
const FIRST_MOVE: usize = 4;
/// Number of moves before the last position, per point of the board: later positions are nearly decided.
const LAST_MOVE_PER_POINT: f64 = 0.66;
/// Largest value of a position that counts as open, in `[0, 1]` for the leading side.
const OPEN_VALUE: f32 = 0.8;

/// Parameters of one of the searches that are compared.
#[derive(Clone, Debug)]
pub struct Trial {
    text: String,
    settings: Vec<Setting>,
}

impl Trial {
    /// Returns a trial with the usual parameters.
    pub fn plain() -> Trial {
        Trial { text: "plain".to_owned(), settings: Vec::new() }
    }

    /// Reads `NAME=VALUE`, several joined by commas.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not of this form, or if a parameter or a value does not exist.
    pub fn parse(text: &str) -> Result<Trial, String> {
        let settings = text.split(',').map(Setting::parse).collect::<Result<_, _>>()?;
        Ok(Trial { text: text.to_owned(), settings })
    }
}

/// Returns positions as indices of records and numbers of moves, in an order that the seed determines. Only every third
/// move is used, so that both colours are to move.
fn places(records: &[(String, Record)], size: BoardSize, seed: u64) -> Vec<(usize, usize)> {
    let last = (size.area() as f64 * LAST_MOVE_PER_POINT) as usize;
    let mut places = Vec::new();
    for (index, (_, record)) in records.iter().enumerate().filter(|(_, (_, record))| record.size == size) {
        places.extend((FIRST_MOVE..record.move_count().min(last)).step_by(3).map(|moves| (index, moves)));
    }
    Rng::new(seed).shuffle(&mut places);
    places
}

/// Returns the loss of each chosen move, as a win rate in `[0, 1]`: compared with the best of the chosen moves, and
/// with the `value` of the position, which estimates its best move. Values are those of the side to move, in `[-1, 1]`.
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

/// A search with certain parameters, and the losses of its moves.
#[derive(Debug)]
pub struct Contestant {
    /// The parameters, as given.
    pub name: String,
    engine: Engine,
    /// Loss at each position, as a win rate in `[0, 1]`.
    pub losses: Vec<f64>,
}

impl Contestant {
    /// Creates a search with the parameters of a trial. All others are those of `plain`.
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

/// A search with more simulations, which judges moves and positions.
#[derive(Debug)]
pub struct Judge {
    engine: Engine,
    limits: Limits,
}

impl Judge {
    /// Creates a judge with this number of simulations per position.
    pub fn new(network: Option<Arc<Network>>, settings: EngineSettings, playouts: u32) -> Judge {
        Judge { engine: Engine::with_network(settings, network), limits: Limits::playouts(playouts) }
    }

    /// Returns the value of a position with `color` to move, for that side, in `[-1, 1]`.
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

/// Lets searches choose moves in open positions of records, and records their losses. Uses the wanted number of
/// positions, or all of them if there are fewer. Returns the number of positions. `progress` is called after each
/// position, and may end the comparison.
///
/// # Errors
///
/// Returns an error if a search chooses a move that cannot be played.
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
        // Records with errors are skipped, like positions that are not open.
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

/// Positions on which searches are compared.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// Size of the board. Records of other sizes are skipped.
    pub size: BoardSize,
    /// Number of positions.
    pub positions: u32,
    /// Rules of records that name none.
    pub rules: Rules,
    /// Komi of records that name none.
    pub komi: f32,
    /// Seed of the order of the positions.
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
        let mut reported = 0;
        let mut count_on = |count| {
            reported = count;
            ControlFlow::Continue(())
        };
        let count = compare(&mut searches, &mut judge, &records, &conditions, &mut count_on).unwrap();
        assert_eq!(reported, count);
        assert!((1..=2).contains(&count), "{count}");
        assert_eq!(searches[0].losses.len(), count as usize);
        assert_eq!(searches[0].losses, searches[1].losses, "the same search loses the same");
        let stopped =
            compare(&mut searches, &mut judge, &records, &conditions, &mut |_| ControlFlow::Break(()));
        assert_eq!(stopped.unwrap(), 1);
    }
}
