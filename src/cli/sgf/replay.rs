//! `kosumi sgf replay`: every game on the board, under rules.

use super::input::{Batch, Entry};
use super::pipeline::{self, Work};
use super::{Input, counted, examine};
use crate::cli::options;
use crate::commands;
use crate::game::Game;
use crate::rules::{KoRule, Rules};
use crate::sgf::{Record, SgfErrorKind, Step, Strictness, source_offset};
use anyhow::bail;
use clap::Args;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::time::Instant;

/// Replay every game on the board and report what the rules forbid
#[derive(Debug, Args)]
#[command(after_help = "\
After every move the key of the position, which is kept up to date, is compared with one computed from the stones.

The exit status is 0 if every record could be read and every move is legal, and 1 otherwise.

Examples:
  kosumi sgf replay games.sgf.zst --rules chinese
  kosumi sgf replay games/ --ko positional --list 1000
  kosumi sgf replay games.sgf.zst --print 42 --move 100")]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Rules by name [default: those that the record names, or chinese-kgs]
    #[arg(long, value_name = "NAME", value_parser = options::rules)]
    rules: Option<Rules>,
    /// Ko rule, instead of that of the rules: simple, positional, situational or natural-situational
    #[arg(long, value_name = "RULE", value_parser = options::ko_rule)]
    ko: Option<KoRule>,
    /// Show the position of one game, the N-th that is read, and replay no other
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    print: Option<u64>,
    /// After so many moves [default: all]
    #[arg(long = "move", value_name = "N", requires = "print")]
    moves: Option<usize>,
}

impl Arguments {
    fn rules_for(&self, record: &Record) -> Rules {
        let named = || record.known_rules().map(|preset| preset.rules).unwrap_or_default();
        let mut rules = self.rules.unwrap_or_else(named);
        rules.ko = self.ko.unwrap_or(rules.ko);
        rules
    }
}

/// What the games of a batch came to.
#[derive(Debug, Default)]
struct Replayed {
    games: u64,
    moves: u64,
    /// Games with a violation.
    bad_games: u64,
    violations: u64,
    /// Positions whose key was not that of their stones.
    wrong_keys: u64,
    /// The first violations, in words.
    lines: Vec<String>,
}

impl Replayed {
    fn add(&mut self, batch: &Batch, entry: &Entry, record: &Record, rules: Rules, list: usize) {
        let before = self.violations;
        let mut found: Vec<(usize, usize, String)> = Vec::new();
        let mut moves = 0;
        let observe = |step: Step<'_>, game: &Game| {
            let board = game.board();
            if board.key() != board.recomputed_key() {
                self.wrong_keys += 1;
            }
            if let Step::Move { number, recorded, objection, .. } = step {
                moves = number;
                if let (Some(reason), Ok(mv)) = (objection, &recorded.mv) {
                    found.push((number, recorded.offset, format!("{} {mv}: {}", recorded.color, reason)));
                }
            }
        };
        match record.replay_observed(rules, rules.usual_komi(), None, Strictness::Tolerant, observe) {
            Ok(replayed) => found.extend(replayed.warnings.into_iter().map(|warning| match warning.kind {
                SgfErrorKind::IllegalMove { number, color, mv, reason } => {
                    (number, warning.offset, format!("{color} {mv}: {}, the replay ends here", reason))
                }
                kind => (moves + 1, warning.offset, kind.to_string()),
            })),
            Err(error) => found.push((moves + 1, error.offset, error.kind.to_string())),
        }
        self.games += 1;
        self.moves += moves as u64;
        self.violations += found.len() as u64;
        self.bad_games += u64::from(self.violations > before);
        let room = list.saturating_sub(self.lines.len());
        self.lines.extend(found.into_iter().take(room).map(|(number, offset, what)| {
            let byte = entry.place.offset + source_offset(batch.bytes(entry), offset) as u64;
            format!("{}: game {}, byte {byte}, move {number}: {what}", entry.place.source, entry.place.game)
        }));
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(number) = arguments.print {
        return print(arguments, number);
    }
    let list = arguments.input.list;
    let mut total = Replayed::default();
    let start = Instant::now();
    let mut out = io::stdout().lock();
    let work = |batch: &Batch| {
        let mut result = Replayed::default();
        let mut problems = Vec::new();
        for entry in &batch.entries {
            match Record::parse(batch.bytes(entry)) {
                Ok(record) => result.add(batch, entry, &record, arguments.rules_for(&record), list),
                Err(error) => problems.push(examine::problem(batch, entry, &error)),
            }
        }
        Work { result, problems }
    };
    let seen = pipeline::run_shown(&arguments.input, None, work, |_, result: Replayed, _| {
        for line in result.lines.iter().take(list.saturating_sub(total.lines.len())) {
            writeln!(out, "{line}")?;
            total.lines.push(String::new());
        }
        total.games += result.games;
        total.moves += result.moves;
        total.bad_games += result.bad_games;
        total.violations += result.violations;
        total.wrong_keys += result.wrong_keys;
        Ok(ControlFlow::Continue(()))
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let more = total.violations - total.lines.len() as u64;
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
        bail!(
            "{} had a key that is not that of its stones: this is a fault of the program",
            counted(total.wrong_keys, "position")
        );
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

/// Shows one game after a move.
fn print(arguments: &Arguments, number: u64) -> anyhow::Result<()> {
    let mut found = None;
    pipeline::run_shown(
        &arguments.input,
        None,
        |_| Work { result: (), problems: Vec::new() },
        |batch, (), _| {
            let Some(entry) = batch.entries.iter().find(|entry| entry.number == number) else {
                return Ok(ControlFlow::Continue(()));
            };
            found = Some((entry.place.clone(), batch.bytes(entry).to_vec()));
            Ok(ControlFlow::Break(()))
        },
    )?;
    let Some((place, bytes)) = found else { bail!("there are fewer than {number} games") };
    let record = Record::parse(&bytes)?;
    let up_to = arguments.moves.map(|moves| moves + 1);
    let rules = arguments.rules_for(&record);
    let replayed = record.replay(rules, rules.usual_komi(), up_to, Strictness::Tolerant)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}: game {}, byte {}", place.source, place.game, place.offset)?;
    for (name, value) in [
        ("Black", &record.black),
        ("White", &record.white),
        ("Date", &record.date),
        ("Result", &record.result),
    ] {
        if let Some(value) = value {
            writeln!(out, "{name}: {value}")?;
        }
    }
    writeln!(out, "after move {} of {}", replayed.game.records().len(), record.move_count())?;
    write!(out, "{}", commands::diagram(&replayed.game))?;
    for warning in &replayed.warnings {
        writeln!(out, "{warning}")?;
    }
    Ok(())
}
