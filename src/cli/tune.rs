//! `kosumi tune`: what constants of the search lose or gain, measured on positions instead of games.
//!
//! A game between two settings says one bit about some hundred moves. Here every choice of a move is judged by itself,
//! all settings choose at the same positions, and choices that agree cost nothing and add no noise.

use super::gtp::EngineArguments;
use super::{model, options, records};
use crate::board::{BoardSize, Color, Move};
use crate::commands::Setting;
use crate::engine::{Engine, EngineSettings, SearchRequest};
use crate::game::Game;
use crate::net::Network;
use crate::rng::Rng;
use crate::search::Limits;
use crate::sgf::Record;
use anyhow::{Context, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Compare constants of the search on positions of games
///
/// The plain search and one for every --try choose a move in the same open positions, with the same few simulations. A
/// judge, which searches much longer, says what each of these moves gives away: its loss, in percent of the games.
#[derive(Debug, Args)]
#[command(after_help = "\
The differences are small, and moves are many: a player has some 28 of them in a game on 9x9 and 76 on 19x19. What looks
good here should be tried in games:

  kosumi match builtin:playouts=100,set=cpuctExploration=1.3 builtin:playouts=100 --size 9 --games 1000 --jobs 2

Examples:
  kosumi tune games --try cpuctExploration=0.7 --try cpuctExploration=1.4
  kosumi tune games --size 19 --judge stronger.bin.gz --judge-playouts 400 --positions 500 \\
      --try lcbStdevs=5,minVisitPropForLCB=0.15 --try rootFpuReductionMax=0

Names and values are those of kata-list-params.")]
pub(super) struct Arguments {
    /// A record, or a folder of them; they should be games of engines such as those compared
    records: PathBuf,
    /// Constants to be tried: NAME=VALUE, several joined by commas; may be repeated
    #[arg(long = "try", value_name = "SETTINGS", value_parser = Trial::parse, required = true)]
    trials: Vec<Trial>,
    /// Size of the board, N or WIDTHxHEIGHT; records of other sizes are left out
    #[arg(long, value_name = "SIZE", default_value = "9", value_parser = options::board_size)]
    size: BoardSize,
    /// Positions to compare them on
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    positions: u32,
    /// The judge's network [default: that of the searches]
    #[arg(long, value_name = "FILE")]
    judge: Option<PathBuf>,
    /// Simulations of the judge, for every move chosen
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    judge_playouts: u32,
    #[command(flatten)]
    engine: EngineArguments,
}

/// Simulations of the searches compared, if nothing is said.
const PLAYOUTS: u32 = 100;
/// Memory of each of them. The judge has what an engine usually has; `--memory` is for all.
const MEMORY_MEBIBYTES: usize = 64;
/// Earlier positions are too much alike, …
const FIRST_MOVE: usize = 4;
/// … and later ones are counted out: moves per point of the board.
const LAST_MOVE_PER_POINT: f64 = 0.66;
/// In an open position the judge gives nobody more than this.
const OPEN_VALUE: f32 = 0.8;

/// Settings that stand for one search.
#[derive(Clone, Debug)]
struct Trial {
    text: String,
    settings: Vec<Setting>,
}

impl Trial {
    fn parse(text: &str) -> Result<Trial, String> {
        let settings = text.split(',').map(Setting::parse).collect::<Result<_, _>>()?;
        Ok(Trial { text: text.to_owned(), settings })
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let network = arguments.engine.network()?;
    let defaults = EngineSettings {
        threads: 1,
        memory_mebibytes: MEMORY_MEBIBYTES,
        playouts: Some(PLAYOUTS),
        ..EngineSettings::default()
    };
    let plain = arguments.engine.settings_or(defaults);
    let records = records::read(&arguments.records)?;
    let places = places(&records, arguments.size, plain.seed);
    let judge_network = match &arguments.judge {
        Some(path) => Some(model::load(path)?),
        None => network.clone(),
    };
    let judging = arguments.engine.settings_or(EngineSettings { threads: 1, ..EngineSettings::default() });
    let mut judge = Judge::new(judge_network, judging, arguments.judge_playouts);
    let none = Trial { text: "plain".to_owned(), settings: Vec::new() };
    let mut searches: Vec<Contestant> = std::iter::once(&none)
        .chain(&arguments.trials)
        .map(|trial| Contestant::new(trial, plain, network.clone()))
        .collect();

    let bar = progress_bar(arguments.positions);
    let mut count = 0;
    for (record, moves) in places {
        if count == arguments.positions {
            break;
        }
        // Records with faults are passed over like positions that are not open.
        let (name, record) = &records[record];
        let komi = plain.komi.unwrap_or(plain.rules.usual_komi());
        let Ok(game) = record.game(plain.rules, komi, Some(moves)) else { continue };
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
        bar.set_position(u64::from(count));
    }
    bar.finish_and_clear();
    let size = options::size_text(arguments.size);
    ensure!(count > 1, "{count} open positions on {size} in {}", arguments.records.display());
    print(&searches, &format!("{count} open positions on {size}"), &mut io::stdout().lock())
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
struct Contestant {
    name: String,
    engine: Engine,
    losses: Vec<f64>,
}

impl Contestant {
    fn new(trial: &Trial, plain: EngineSettings, network: Option<Arc<Network>>) -> Contestant {
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
struct Judge {
    engine: Engine,
    limits: Limits,
}

impl Judge {
    fn new(network: Option<Arc<Network>>, settings: EngineSettings, playouts: u32) -> Judge {
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

fn print(searches: &[Contestant], title: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(out, "{title}; percent of the games, with standard errors")?;
    writeln!(out, "{:>16}   {:>16}   settings", "loss a move", "less than plain")?;
    for search in searches {
        let (loss, error) = mean_and_error(search.losses.iter().copied());
        let plain = searches.first().map_or(&search.losses, |first| &first.losses);
        let gains = plain.iter().zip(&search.losses).map(|(plain, own)| plain - own);
        let (gain, gain_error) = mean_and_error(gains);
        let [loss, error, gain, gain_error] = [loss, error, gain, gain_error].map(|share| 100.0 * share);
        writeln!(out, "{loss:>7.3} ± {error:<6.3}   {gain:>+7.3} ± {gain_error:<6.3}   {}", search.name)?;
    }
    Ok(())
}

/// The mean, and its standard error; of at least two values.
fn mean_and_error(values: impl ExactSizeIterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let variance = values.map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

fn progress_bar(positions: u32) -> ProgressBar {
    let bar = ProgressBar::new(u64::from(positions));
    if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} open positions, {eta} left") {
        bar.set_style(style);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Point;

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
    fn means_and_errors() {
        let (mean, error) = mean_and_error([1.0, 2.0, 3.0, 4.0].into_iter());
        assert!((mean - 2.5).abs() < 1e-12 && (error - (5.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-12);
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
}
