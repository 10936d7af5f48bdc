//! `kosumi review`: a game record in, an annotated record and a page to look at out.

use super::model::ModelArguments;
use super::play::ServerArguments;
use super::{options, progress, ranks};
use crate::board::Color;
use crate::browser::{self, MakeEngine, Reviewer};
use crate::collections::nth_game;
use crate::engine::{Engine, EngineSettings};
use crate::files::write_at_once;
use crate::net::Network;
use crate::ranks::{Pace, in_order};
use crate::review::{self, EngineAnalyst, Facts, Given, MainLine, Reviewed, Scope, Thresholds};
use crate::rules::Rules;
use crate::search::Limits;
use crate::sgf::{Record, Tree};
use anyhow::{Context, bail, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Go through a game: what each move gained and lost
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Every position is searched, and every move compared with the search's first choice. A move is called

  inaccuracy ?!   if it loses 5 % of win rate or more
  mistake ?       from 10 % on
  blunder ??      from 20 % on
  better !        if it is better than the first choice by 5 % or more

but only if the loss is at least 2.5 times its standard error: with few simulations little can be
said. That error is measured: some positions are searched twice. It is the error of chance alone;
the evaluator can be wrong about a position and sure of it.

Written are GAME.review.sgf, with comments, better variations and marks, for Sabaki and other
programs, and GAME.review.html, a page that needs nothing else and works without a network, into
the current directory or where -o says. Several records are reviewed one after the other, or under mpirun each by one
of its processes.

Examples:
  kosumi review game.sgf                           2,000 simulations a position
  kosumi review games/*.sgf -o reviewed            several games, into a folder that is there
  kosumi review game.sgf --time 5 --threads 2      5 seconds a position
  kosumi review game.sgf --from 100 --to 150       part of the game
  kosumi review games.sgf --game 7 -o seventh      the seventh game of a collection
  kosumi review game.sgf --live                    the page with the engine behind it
  kosumi review game.sgf --json                    numbers for other programs, and nothing else")]
pub(super) struct Arguments {
    /// The record, or several; of its variations the first ones are followed
    #[arg(value_name = "GAME.sgf", required = true)]
    files: Vec<PathBuf>,
    /// Which game of a file, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    game: u32,
    /// Write BASE.sgf, BASE.html and BASE.json; of several records, a folder for their files [default: GAME.review, in the
    /// current directory]
    #[arg(short, long, value_name = "BASE")]
    output: Option<PathBuf>,
    /// Write the annotated record [default: this and --html]
    #[arg(long)]
    sgf: bool,
    /// Write the page
    #[arg(long)]
    html: bool,
    /// Write the numbers as JSON
    #[arg(long)]
    json: bool,
    /// Simulations a position [default: 2000, with a network 200, unless --time is given]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    playouts: Option<u32>,
    /// Time a position, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = options::seconds)]
    time: Option<Duration>,
    /// Search threads [default: as many as there are processors, over ranks 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Memory for search results, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..))]
    memory: u32,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The first move to judge, counted from 1
    #[arg(long, value_name = "MOVE", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    from: u32,
    /// The last move to judge [default: the last of the game]
    #[arg(long, value_name = "MOVE", value_parser = clap::value_parser!(u32).range(1..))]
    to: Option<u32>,
    /// Rules, whatever the record says [default: the record's, or chinese-kgs]
    #[arg(long, value_name = "NAME", value_parser = options::rules)]
    rules: Option<Rules>,
    /// Points for White, whatever the record says [default: the record's, or what is usual with the rules]
    #[arg(long, value_name = "POINTS", allow_hyphen_values = true, value_parser = options::points)]
    komi: Option<f32>,
    /// Losses, in per cent of win rate, that make an inaccuracy, a mistake, a blunder
    #[arg(long, value_name = "A,B,C", default_value = "5,10,20", value_parser = thresholds)]
    thresholds: Thresholds,
    /// Moves shown for each position
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u8).range(1..=20))]
    candidates: u8,
    /// Open the page in the browser with the engine behind it: own moves can be tried there. No file is written; the page
    /// saves what was found as SGF
    #[arg(long, conflicts_with_all = ["output", "sgf", "html", "json"])]
    live: bool,
    #[command(flatten)]
    server: ServerArguments,
    #[command(flatten)]
    model: ModelArguments,
}

/// Simulations a position if nothing is said, by playouts and by a network.
const DEFAULT_PLAYOUTS: [u32; 2] = [2000, 200];

fn thresholds(text: &str) -> Result<Thresholds, String> {
    let numbers: Option<Vec<f32>> = text.split(',').map(|word| word.trim().parse::<f32>().ok()).collect();
    let numbers = numbers.unwrap_or_default();
    let thresholds = match numbers[..] {
        [a, b, c] => Thresholds::new(a / 100.0, b / 100.0, c / 100.0),
        _ => None,
    };
    thresholds.ok_or_else(|| "not three ascending numbers above 0, such as 5,10,20".to_owned())
}

/// What came of a game: the texts of its files, and what is said of it.
#[derive(Serialize, Deserialize)]
struct Found {
    texts: Vec<String>,
    said: String,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.live {
        return live(arguments);
    }
    ranks::spread("game", |part| {
        let games = Outputs::of_all(arguments)?;
        let threads = ranks::threads(&part, arguments.threads.map(usize::from));
        let network = arguments.model.load()?;
        let bar = progress::bar(0, "{bar:32} {pos}/{len} positions, {eta} left");
        let read = |send: &mut dyn FnMut(usize) -> bool| {
            let _ = (0..games.len()).all(send);
        };
        let work = |&index: &usize| -> Result<Found, String> {
            let outputs = games.get(index).ok_or("the ranks are not of one version")?;
            let found = game(arguments, outputs, threads, network.as_ref(), &mut |done, total| {
                bar.set_length(total as u64);
                bar.set_position(done as u64);
            });
            found.map_err(|error| format!("{error:#}"))
        };
        let mut failed = 0;
        let collect = |&index: &usize, found: Result<Found, String>| {
            bar.reset();
            let outputs = &games[index];
            match found {
                Ok(found) => bar.suspend(|| outputs.write(&found, games.len() > 1))?,
                Err(error) if games.len() == 1 => bail!(error),
                Err(error) => {
                    failed += 1;
                    bar.suspend(|| ranks::warn(&error));
                }
            }
            Ok(ControlFlow::Continue(()))
        };
        // All processors search one game.
        in_order(part, 1, Pace::Long, read, work, collect)?;
        bar.finish_and_clear();
        ensure!(failed == 0, "{failed} of {} games could not be reviewed", games.len());
        Ok(())
    })
    .map(Option::unwrap_or_default)
}

/// Reviews a game.
fn game(
    arguments: &Arguments,
    outputs: &Outputs,
    threads: usize,
    network: Option<&Arc<Network>>,
    progress: &mut dyn FnMut(usize, usize),
) -> anyhow::Result<Found> {
    let bytes = nth_game(&outputs.record, arguments.game)?;
    let start = Instant::now();
    let source = Source { file: &outputs.record, bytes: &bytes };
    let reviewed = review_record(arguments, &source, Some(threads), network.cloned(), None, progress)?;
    let texts = outputs.files.iter().map(|(_, format)| match format {
        Format::Sgf => Ok(review::annotated(&reviewed).to_string()),
        Format::Html => Ok(review::page(&reviewed)),
        Format::Json => review::json(&reviewed).context("cannot write JSON"),
    });
    let texts = texts.collect::<anyhow::Result<Vec<String>>>()?;
    let mut said = Vec::new();
    for warning in &reviewed.facts.warnings {
        writeln!(said, "note: {warning}")?;
    }
    write_summary(&mut said, &reviewed)?;
    let searched = reviewed.review.analyses.iter().flatten().count();
    let time = start.elapsed().as_secs_f64();
    writeln!(said, "{searched} positions, {}, {time:.1} s", reviewed.facts.effort)?;
    Ok(Found { texts, said: String::from_utf8_lossy(&said).into_owned() })
}

/// Serves the page with the engine behind it.
fn live(arguments: &Arguments) -> anyhow::Result<()> {
    let [file] = &arguments.files[..] else { bail!("--live shows one game") };
    let bytes = nth_game(file, arguments.game)?;
    let network = arguments.model.load()?;
    let threads = arguments.threads.map(usize::from);
    let settings = settings(arguments, threads, arguments.rules.unwrap_or_default());
    let for_table = network.clone();
    let make: MakeEngine = Arc::new(move |_| Engine::with_network(settings, for_table.clone()));
    let (bare, whole) = (arguments.clone(), arguments.clone());
    let (bare_file, whole_file, bare_network) = (file.clone(), file.clone(), network.clone());
    let reviewer = Reviewer {
        // No position is in a scope that ends before the game begins.
        bare: Box::new(move |bytes| {
            let scope = Scope { from: usize::MAX, to: 0, thresholds: bare.thresholds };
            let source = Source { file: &bare_file, bytes };
            let (network, nothing) = (bare_network.clone(), &mut |_: usize, _: usize| {});
            let reviewed = review_record(&bare, &source, threads, network, Some(scope), nothing);
            reviewed.map_err(|error| format!("{error:#}"))
        }),
        whole: Box::new(move |bytes, progress| {
            let source = Source { file: &whole_file, bytes };
            review_record(&whole, &source, threads, network.clone(), None, progress)
                .map_err(|error| format!("{error:#}"))
        }),
    };
    let server = &arguments.server;
    browser::study(server.setup(make), reviewer, &bytes, &mut |url, once| server.tell(url, once))?;
    Ok(())
}

/// How the engine is set.
fn settings(arguments: &Arguments, threads: Option<usize>, rules: Rules) -> EngineSettings {
    let defaults = EngineSettings::default();
    EngineSettings {
        threads: threads.unwrap_or(defaults.threads),
        memory_mebibytes: usize::try_from(arguments.memory).unwrap_or(defaults.memory_mebibytes),
        seed: arguments.seed,
        rules,
        network: arguments.model.settings_or(defaults.network),
        ..defaults
    }
}

/// A record, and where it stands.
struct Source<'s> {
    file: &'s Path,
    bytes: &'s [u8],
}

/// Reviews a record, all that the options say or only a part.
fn review_record(
    arguments: &Arguments,
    source: &Source<'_>,
    threads: Option<usize>,
    network: Option<Arc<Network>>,
    part: Option<Scope>,
    progress: &mut dyn FnMut(usize, usize),
) -> anyhow::Result<Reviewed> {
    let Source { file, bytes } = *source;
    let name = match arguments.game {
        1 => file.display().to_string(),
        number => format!("{}, game {number}", file.display()),
    };
    let mut record = Record::parse(bytes).with_context(|| name.clone())?;
    let tree = Tree::parse(bytes).with_context(|| name.clone())?;
    let rules = arguments.rules.or_else(|| record.rules()).unwrap_or_default();
    if let Some(komi) = arguments.komi {
        record.komi = Some(komi);
        record.unknown_komi = None;
    }
    let line = MainLine::of_record(&record, rules, record.komi_under(rules)).with_context(|| name.clone())?;
    let line = line.located(bytes);
    let scope = Scope {
        from: arguments.from as usize,
        to: arguments.to.map_or(usize::MAX, |to| to as usize),
        thresholds: arguments.thresholds,
    };
    ensure!(scope.from <= scope.to, "--from {} is behind --to {}", scope.from, scope.to);
    let moves = line.move_count();
    ensure!(scope.from <= moves.max(1), "--from {}, but the game has {moves} moves", scope.from);
    let scope = part.unwrap_or(scope);

    let settings = settings(arguments, threads, rules);
    let usual = DEFAULT_PLAYOUTS[usize::from(network.is_some())];
    let playouts = arguments.playouts.or(arguments.time.is_none().then_some(usual));
    let limits = Limits { playouts, soft: arguments.time, hard: arguments.time, ..Limits::default() };
    let given = Given {
        limits,
        seed: arguments.seed,
        thresholds: arguments.thresholds,
        are_rules_given: arguments.rules.is_some(),
    };
    let facts = Facts::new(&tree, &record, &line, &given);
    let mut engine = Engine::with_network(settings, network);
    let mut analyst =
        EngineAnalyst { engine: &mut engine, limits, candidates: usize::from(arguments.candidates) };
    let review = review::review(&line, &scope, &mut analyst, progress);
    Ok(Reviewed { tree, line, review, facts })
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    Sgf,
    Html,
    Json,
}

/// Where the results of a game go.
struct Outputs {
    record: PathBuf,
    files: Vec<(PathBuf, Format)>,
}

impl Outputs {
    /// Those of all games.
    fn of_all(arguments: &Arguments) -> anyhow::Result<Vec<Outputs>> {
        let folder = arguments.output.as_deref().filter(|_| arguments.files.len() > 1);
        if let Some(folder) = folder {
            ensure!(folder.is_dir(), "there is no folder {}", folder.display());
        }
        let mut all: Vec<Outputs> = Vec::with_capacity(arguments.files.len());
        for record in &arguments.files {
            let base = match &arguments.output {
                Some(base) if folder.is_none() => base.clone(),
                _ => {
                    let stem = record.file_stem().unwrap_or_default().to_string_lossy();
                    let number =
                        if arguments.game > 1 { format!("-{}", arguments.game) } else { String::new() };
                    folder.unwrap_or(Path::new("")).join(format!("{stem}{number}.review"))
                }
            };
            let outputs = Outputs::new(arguments, record, &base)?;
            let is_same = |other: &&Outputs| other.files[0].0 == outputs.files[0].0;
            if let Some(other) = all.iter().find(is_same) {
                let (one, two) = (other.record.display(), record.display());
                bail!("{one} and {two} would be written to the same files");
            }
            all.push(outputs);
        }
        Ok(all)
    }

    /// Refuses, before any work is done, what could not be written or would overwrite the record.
    fn new(arguments: &Arguments, record: &Path, base: &Path) -> anyhow::Result<Outputs> {
        let Some(name) = base.file_name().map(|name| name.to_os_string()) else {
            bail!("{} is no name for files", base.display());
        };
        let chosen = [
            (arguments.sgf, Format::Sgf, "sgf"),
            (arguments.html, Format::Html, "html"),
            (arguments.json, Format::Json, "json"),
        ];
        let none_chosen = chosen.iter().all(|&(is_chosen, ..)| !is_chosen);
        let mut files = Vec::new();
        for (is_chosen, format, extension) in chosen {
            if is_chosen || (none_chosen && format != Format::Json) {
                let mut file = name.clone();
                file.push(format!(".{extension}"));
                files.push((base.with_file_name(file), format));
            }
        }
        for (path, _) in &files {
            let folder =
                path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            ensure!(folder.is_dir(), "there is no folder {}", folder.display());
            ensure!(!path.is_dir(), "{} is a folder", path.display());
            ensure!(!is_same_file(path, record), "{} is the record itself", path.display());
        }
        Ok(Outputs { record: record.to_owned(), files })
    }

    /// Writes the files, and tells what was found; of several games, which one it is.
    fn write(&self, found: &Found, is_one_of_many: bool) -> anyhow::Result<()> {
        for ((path, _), text) in self.files.iter().zip(&found.texts) {
            write_at_once(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        let written: Vec<String> = self.files.iter().map(|(path, _)| path.display().to_string()).collect();
        let mut out = io::stdout().lock();
        if is_one_of_many {
            writeln!(out, "{}", self.record.display())?;
        }
        write!(out, "{}", found.said)?;
        writeln!(out, "written: {}{}", written.join(", "), if is_one_of_many { "\n" } else { "" })?;
        Ok(())
    }
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    fs::canonicalize(a).is_ok_and(|a| fs::canonicalize(b).is_ok_and(|b| a == b))
}

/// A table of both players on standard output.
fn write_summary(out: &mut impl Write, reviewed: &Reviewed) -> io::Result<()> {
    writeln!(
        out,
        "         moves  first choice  inaccuracies  mistakes  blunders  mean loss        accuracy"
    )?;
    for color in Color::BOTH {
        let player = &reviewed.review.players[color];
        let [_, inaccuracies, mistakes, blunders] = player.classes;
        writeln!(
            out,
            "{:<8} {:>5}  {:>10.0} %  {inaccuracies:>12}  {mistakes:>8}  {blunders:>8}  {:>4.1} % {:>5.1} p.  {:>6.0} %  {}",
            color.to_string(),
            player.moves,
            100.0 * player.first_choices as f32 / player.moves.max(1) as f32,
            100.0 * player.mean_loss,
            player.mean_score_loss,
            100.0 * player.accuracy,
            reviewed.facts.players[color].as_deref().unwrap_or_default(),
        )?;
    }
    for &index in reviewed.review.worst.iter().take(5) {
        if let Some(judgement) = &reviewed.review.judgements[index] {
            writeln!(out, "  {}", review::sentence(&reviewed.line, index, judgement))?;
        }
    }
    Ok(())
}
