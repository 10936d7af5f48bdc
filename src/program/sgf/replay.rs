//! `kosumi sgf replay`: replays every game under given rules.

use super::Input;
use super::progress::run_with_progress;
use crate::options;
use crate::terminal;
use anyhow::bail;
use clap::Args;
use kosumi_go::rules::{KoRule, Rules};
use kosumi_go::sgf::{Record, Strictness};
use kosumi_tools::collections::{Batch, BatchResult, LegalityReport};
use kosumi_tools::commands;
use kosumi_tools::ranks::RankPart;
use kosumi_tools::words::counted;
use std::io::Write;
use std::ops::ControlFlow;
use std::time::Instant;

/// Replay every game on the board and report illegal moves
#[derive(Debug, Args)]
#[command(after_help = "\
After every move the incrementally updated key of the position is compared with one computed from the stones.

The exit status is 0 if every record could be read and every move is legal, and 1 otherwise.

Examples:
  kosumi sgf replay games.sgf.zst --rules chinese
  kosumi sgf replay games/ --ko positional --list 1000
  kosumi sgf replay games.sgf.zst --print 42 --move 100")]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Rules by name [default: those of the game record, or chinese-kgs]
    #[arg(long, value_name = "NAME", value_parser = options::rules)]
    rules: Option<Rules>,
    /// Ko rule instead of the one of the rules: simple, positional, situational or natural-situational
    #[arg(long, value_name = "RULE", value_parser = options::ko_rule)]
    ko: Option<KoRule>,
    /// Show the position of the N-th game, and replay no other game
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    print: Option<u64>,
    /// Number of moves to play with --print [default: all]
    #[arg(long = "move", value_name = "N", requires = "print")]
    moves: Option<usize>,
}

impl Arguments {
    fn rules_for(&self, record: &Record) -> Rules {
        let mut rules = self.rules.or_else(|| record.rules()).unwrap_or_default();
        rules.ko = self.ko.unwrap_or(rules.ko);
        rules
    }
}

pub(super) fn run(arguments: &Arguments, part: RankPart) -> anyhow::Result<()> {
    if let Some(number) = arguments.print {
        return print_game(arguments, number, part);
    }
    let is_other = part.is_other();
    let list = arguments.input.list;
    let mut total = LegalityReport::default();
    let start = Instant::now();
    let mut out = terminal::stdout();
    let work = |batch: &Batch| LegalityReport::of(batch, |record| arguments.rules_for(record), list);
    let (mut shown, mut noted) = (0, 0);
    let seen = run_with_progress(&arguments.input, part, None, work, |_, result: LegalityReport, _| {
        for line in result.lines.iter().take(list.saturating_sub(shown)) {
            writeln!(out, "{line}")?;
            shown += 1;
        }
        for note in result.notes.iter().take(list.saturating_sub(noted)) {
            writeln!(terminal::stderr(), "kosumi: {note}")?;
            noted += 1;
        }
        total.merge(&result);
        Ok(ControlFlow::Continue(()))
    })?;
    if is_other {
        return Ok(());
    }
    let seconds = start.elapsed().as_secs_f64();
    let more = total.violations - shown as u64;
    if more > 0 {
        writeln!(out, "{more} more (--list shows more)")?;
    }
    writeln!(
        out,
        "{} games, {} moves in {seconds:.2} s: {:.0} games/s, {:.0} moves/s",
        total.games,
        total.moves,
        total.games as f64 / seconds,
        total.moves as f64 / seconds
    )?;
    out.flush()?;
    if total.wrong_keys > 0 {
        bail!("{} had a wrong key: this is a bug in Kosumi", counted(total.wrong_keys, "position"));
    }
    if total.noted > noted as u64 {
        writeln!(terminal::stderr(), "kosumi: there are notes about {}", counted(total.noted, "record"))?;
    }
    if total.violations > 0 {
        bail!("{} in {}", counted(total.violations, "violation"), counted(total.bad_games, "game"));
    }
    if seen.problems > 0 {
        bail!("{} could not be read", counted(seen.problems, "record or file"));
    }
    writeln!(out, "every move is legal")?;
    Ok(())
}

/// Prints one game after a number of moves.
fn print_game(arguments: &Arguments, number: u64, part: RankPart) -> anyhow::Result<()> {
    let is_other = part.is_other();
    let mut found = None;
    run_with_progress(
        &arguments.input,
        part,
        None,
        |_| BatchResult { result: (), problems: Vec::new() },
        |batch, (), _| {
            let Some(entry) = batch.entries.iter().find(|entry| entry.number == number) else {
                return Ok(ControlFlow::Continue(()));
            };
            found = Some((entry.place.clone(), batch.bytes(entry).to_vec()));
            Ok(ControlFlow::Break(()))
        },
    )?;
    if is_other {
        return Ok(());
    }
    let Some((place, bytes)) = found else { bail!("there are fewer than {number} games") };
    let record = Record::parse(&bytes)?;
    let up_to = arguments.moves.map(|moves| moves + 1);
    let rules = arguments.rules_for(&record);
    let komi = record.komi_under(rules);
    let replayed = record.replay(rules, komi, up_to, Strictness::Tolerant)?;
    let mut out = terminal::stdout();
    writeln!(out, "{}: game {}, byte {}", place.source, place.game, place.offset)?;
    for (name, value) in [
        ("Black", &record.black),
        ("White", &record.white),
        ("Event", &record.event),
        ("Date", &record.date),
        ("Result", &record.result),
    ] {
        if let Some(value) = value {
            writeln!(out, "{name}: {value}")?;
        }
    }
    writeln!(out, "after move {} of {}", replayed.game.records().len(), record.move_count())?;
    write!(out, "{}", commands::diagram(&replayed.game))?;
    for warning in replayed.warnings {
        writeln!(out, "{}", warning.located(&bytes))?;
    }
    for note in record.notes(rules, komi, arguments.rules.is_some()) {
        writeln!(out, "{note}")?;
    }
    Ok(())
}
