//! `kosumi tune`: gains and losses of search parameters, measured on positions instead of games.

use super::gtp::EngineArguments;
use super::{interrupt, model, options, progress};
use crate::terminal;
use anyhow::ensure;
use clap::Args;
use kosumi_engine::EngineSettings;
use kosumi_go::board::BoardSize;
use kosumi_net::ArithmeticChoice;
use kosumi_tools::collections::read_folder;
use kosumi_tools::statistics::mean_and_error;
use kosumi_tools::tune::{Conditions, Contestant, Judge, Trial, compare};
use kosumi_tools::words::unsigned_zero;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Compare search parameters on positions of games
///
/// The plain search and one search per --try choose a move in the same open positions, with the same small number of
/// playouts. A judge, which searches much longer, determines the loss of each of these moves in win rate, in percent.
#[derive(Debug, Args)]
#[command(after_help = "\
The losses are per move; a player makes about 28 moves in a game on 9x9 and 76
on 19x19. Verify an improvement in games:

  kosumi match builtin:playouts=100,set=cpuctExploration=1.3 builtin:playouts=100 --size 9 --games 1000 --jobs 2

Examples:
  kosumi tune games --try cpuctExploration=0.7 --try cpuctExploration=1.4
  kosumi tune games --size 19 --judge stronger.bin.gz --judge-playouts 400 --positions 500 \\
      --try lcbStdevs=5,minVisitPropForLCB=0.15 --try rootFpuReductionMax=0

Names and values are those of kata-list-params. ^C ends the comparison after
the position that is being judged, and the table is printed.")]
pub(super) struct Arguments {
    /// Game record or folder of game records; they should be games of engines of similar strength
    records: PathBuf,
    /// Parameters to try: NAME=VALUE, several joined by commas; may be repeated
    #[arg(long = "try", value_name = "SETTINGS", value_parser = Trial::parse, required = true)]
    trials: Vec<Trial>,
    /// Board size, N or WIDTHxHEIGHT; records of other sizes are skipped
    #[arg(long, value_name = "SIZE", default_value = "9", value_parser = options::board_size)]
    size: BoardSize,
    /// Number of positions to compare on
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    positions: u32,
    /// Network of the judge [default: the network of the searches]
    #[arg(long, value_name = "FILE")]
    judge: Option<PathBuf>,
    /// Playouts of the judge per chosen move
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    judge_playouts: u32,
    #[command(flatten)]
    engine: EngineArguments,
}

/// Default number of simulations of the compared searches.
const PLAYOUTS: u32 = 100;
/// Default memory of each compared search, in MiB. The judge has the engine's usual memory. `--memory` applies to all
/// of them.
const MEMORY_MEBIBYTES: usize = 64;

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let network = arguments.engine.repeatable_network()?;
    let defaults = EngineSettings {
        threads: 1,
        memory_mebibytes: MEMORY_MEBIBYTES,
        playouts: Some(PLAYOUTS),
        ..EngineSettings::default()
    };
    let plain = arguments.engine.settings_or(defaults);
    let records = read_folder(&arguments.records)?;
    let judge_network = match &arguments.judge {
        Some(path) => Some(model::load(path, ArithmeticChoice::default())?),
        None => network.clone(),
    };
    let judging = arguments.engine.settings_or(EngineSettings { threads: 1, ..EngineSettings::default() });
    let mut judge = Judge::new(judge_network, judging, arguments.judge_playouts);
    let none = Trial::plain();
    let mut searches: Vec<Contestant> = std::iter::once(&none)
        .chain(&arguments.trials)
        .map(|trial| Contestant::new(trial, plain, network.clone()))
        .collect();

    let bar = progress::bar(arguments.positions.into(), "{bar:32} {pos}/{len} open positions, {eta} left");
    let conditions = Conditions {
        size: arguments.size,
        positions: arguments.positions,
        rules: plain.rules,
        komi: plain.komi.unwrap_or(plain.rules.usual_komi()),
        seed: plain.seed,
    };
    let stop = interrupt::install_flag()?;
    let count = compare(&mut searches, &mut judge, &records, &conditions, &mut |count| {
        bar.set_position(count.into());
        if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    bar.finish_and_clear();
    let size = options::size_text(arguments.size);
    ensure!(count > 1, "{count} open positions on {size} in {}", arguments.records.display());
    print(&searches, &format!("{count} open positions on {size}"), &mut terminal::stdout())
}

fn print(searches: &[Contestant], title: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(out, "{title}; percent of the games, with standard errors")?;
    writeln!(out, "{:>16}   {:>16}   settings", "loss a move", "less than plain")?;
    for search in searches {
        let (loss, error) = mean_and_error(search.losses.iter().copied());
        let plain = searches.first().map_or(&search.losses, |first| &first.losses);
        let gains = plain.iter().zip(&search.losses).map(|(plain, own)| plain - own);
        let (gain, gain_error) = mean_and_error(gains);
        let [loss, error, gain, gain_error] =
            [loss, error, gain, gain_error].map(|share| unsigned_zero(100.0 * share, 3));
        writeln!(out, "{loss:>7.3} ± {error:<6.3}   {gain:>+7.3} ± {gain_error:<6.3}   {}", search.name)?;
    }
    Ok(())
}
