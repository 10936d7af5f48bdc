//! `kosumi review`: a game record in, an annotated record and a page to look at out.

use super::model::ModelArguments;
use super::play::ServerArguments;
use super::{options, progress};
use crate::board::Color;
use crate::browser::{self, MakeEngine, Reviewer};
use crate::collections::nth_game;
use crate::engine::{Engine, EngineSettings};
use crate::files::write_at_once;
use crate::review::{self, EngineAnalyst, Facts, Given, MainLine, Reviewed, Scope, Thresholds};
use crate::rules::Rules;
use crate::search::Limits;
use crate::sgf::{Record, Tree};
use anyhow::{Context, bail, ensure};
use clap::Args;
use std::fs;
use std::io::{self, Write};
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
the current directory or where -o says.

Examples:
  kosumi review game.sgf                           2,000 simulations a position
  kosumi review game.sgf --time 5 --threads 2      5 seconds a position
  kosumi review game.sgf --from 100 --to 150       part of the game
  kosumi review games.sgf --game 7 -o seventh      the seventh game of a collection
  kosumi review game.sgf --live                    the page with the engine behind it
  kosumi review game.sgf --json                    numbers for other programs, and nothing else")]
pub(super) struct Arguments {
    /// The record; of its variations the first ones are followed
    #[arg(value_name = "GAME.sgf")]
    file: PathBuf,
    /// Which game of the file, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    game: u32,
    /// Write BASE.sgf, BASE.html and BASE.json [default: GAME.review, in the current directory]
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
    /// Search threads [default: as many as there are processors]
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

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.live {
        return live(arguments);
    }
    let outputs = Outputs::new(arguments)?;
    let bytes = nth_game(&arguments.file, arguments.game)?;
    let bar = progress::bar(0, "{bar:32} {pos}/{len} positions, {eta} left");
    let start = Instant::now();
    let reviewed = reviewed(arguments, &bytes, &mut |done, total| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    })?;
    bar.finish_and_clear();
    let mut written = Vec::new();
    for (path, format) in &outputs.files {
        let text = match format {
            Format::Sgf => review::annotated(&reviewed).to_string(),
            Format::Html => review::page(&reviewed),
            Format::Json => review::json(&reviewed).context("cannot write JSON")?,
        };
        write_at_once(path, &text).with_context(|| format!("cannot write {}", path.display()))?;
        written.push(path.display().to_string());
    }
    let mut out = io::stdout().lock();
    for warning in &reviewed.facts.warnings {
        writeln!(out, "note: {warning}")?;
    }
    write_summary(&mut out, &reviewed)?;
    let searched = reviewed.review.analyses.iter().flatten().count();
    let time = start.elapsed().as_secs_f64();
    writeln!(out, "{searched} positions, {}, {time:.1} s", reviewed.facts.effort)?;
    writeln!(out, "written: {}", written.join(", "))?;
    Ok(())
}

/// Serves the page with the engine behind it.
fn live(arguments: &Arguments) -> anyhow::Result<()> {
    let bytes = nth_game(&arguments.file, arguments.game)?;
    let network = arguments.model.load()?;
    let settings = settings(arguments, arguments.rules.unwrap_or_default());
    let make: MakeEngine = Arc::new(move || Engine::with_network(settings, network.clone()));
    let (bare, whole) = (arguments.clone(), arguments.clone());
    let reviewer = Reviewer {
        // No position is in a scope that ends before the game begins.
        bare: Box::new(move |bytes| {
            let scope = Scope { from: usize::MAX, to: 0, thresholds: bare.thresholds };
            let reviewed = review_record(&bare, bytes, Some(scope), &mut |_, _| {});
            reviewed.map_err(|error| format!("{error:#}"))
        }),
        whole: Box::new(move |bytes, progress| {
            reviewed(&whole, bytes, progress).map_err(|error| format!("{error:#}"))
        }),
    };
    let server = &arguments.server;
    browser::study(server.setup(make), reviewer, &bytes, &mut |url, once| server.tell(url, once))?;
    Ok(())
}

/// How the engine is set.
fn settings(arguments: &Arguments, rules: Rules) -> EngineSettings {
    let defaults = EngineSettings::default();
    EngineSettings {
        threads: arguments.threads.map_or(defaults.threads, usize::from),
        memory_mebibytes: usize::try_from(arguments.memory).unwrap_or(defaults.memory_mebibytes),
        seed: arguments.seed,
        rules,
        network: arguments.model.settings_or(defaults.network),
        ..defaults
    }
}

/// Reviews the game in a file.
fn reviewed(
    arguments: &Arguments,
    bytes: &[u8],
    progress: &mut dyn FnMut(usize, usize),
) -> anyhow::Result<Reviewed> {
    review_record(arguments, bytes, None, progress)
}

/// Reviews a record, all that the options say or only a part.
fn review_record(
    arguments: &Arguments,
    bytes: &[u8],
    part: Option<Scope>,
    progress: &mut dyn FnMut(usize, usize),
) -> anyhow::Result<Reviewed> {
    let name = match arguments.game {
        1 => arguments.file.display().to_string(),
        number => format!("{}, game {number}", arguments.file.display()),
    };
    let mut record = Record::parse(bytes).with_context(|| name.clone())?;
    let tree = Tree::parse(bytes).with_context(|| name.clone())?;
    let rules =
        arguments.rules.or_else(|| record.known_rules().map(|preset| preset.rules)).unwrap_or_default();
    if let Some(komi) = arguments.komi {
        record.komi = Some(komi);
    }
    let line = MainLine::of_record(&record, rules, rules.usual_komi()).with_context(|| name.clone())?;
    let scope = Scope {
        from: arguments.from as usize,
        to: arguments.to.map_or(usize::MAX, |to| to as usize),
        thresholds: arguments.thresholds,
    };
    ensure!(scope.from <= scope.to, "--from {} is behind --to {}", scope.from, scope.to);
    let moves = line.move_count();
    ensure!(scope.from <= moves.max(1), "--from {}, but the game has {moves} moves", scope.from);
    let scope = part.unwrap_or(scope);

    let settings = settings(arguments, rules);
    let network = arguments.model.load()?;
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

/// Where the results go.
struct Outputs {
    files: Vec<(PathBuf, Format)>,
}

impl Outputs {
    /// Refuses, before any work is done, what could not be written or would overwrite the record.
    fn new(arguments: &Arguments) -> anyhow::Result<Outputs> {
        let base = match &arguments.output {
            Some(base) => base.clone(),
            None => {
                let stem = arguments.file.file_stem().unwrap_or_default().to_string_lossy();
                let number = if arguments.game > 1 { format!("-{}", arguments.game) } else { String::new() };
                PathBuf::from(format!("{stem}{number}.review"))
            }
        };
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
            ensure!(!is_same_file(path, &arguments.file), "{} is the record itself", path.display());
        }
        Ok(Outputs { files })
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
