//! `kosumi review`: annotates a game record and writes a page that shows the review.

mod folder;
mod outputs;
mod passes;
mod player;
mod rank;

use self::outputs::{Format, Outputs, ReviewResult};
use self::passes::Pass;
use super::model::ModelArguments;
use super::play::ServerArguments;
use super::{device, interrupt, options, progress, ranks};
use anyhow::{Context, bail, ensure};
use clap::Args;
use kosumi_engine::{Engine, EngineSettings};
use kosumi_go::board::Color;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::{Record, Tree};
use kosumi_net::Network;
use kosumi_search::Limits;
use kosumi_tools::browser::{self, MakeEngine, Reviewer};
use kosumi_tools::collections::nth_game;
use kosumi_tools::ranks::{PieceLength, RankPart, in_order};
use kosumi_tools::review::{
    self, EngineAnalyst, Facts, MainLine, ReviewParameters, Reviewed, Scope, Thresholds,
};
use kosumi_tools::words::counted;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Review a game: the gain and loss of each move
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Every position is searched, and every move compared with the search's first choice. A move is called

  inaccuracy ?!   if it loses 5 % of win rate or more
  mistake ?       from 10 % on
  blunder ??      from 20 % on
  better !        if it is better than the first choice by 5 % or more

but only if the 80 % interval of the loss does not contain 0. The error comes
from searching some positions twice and from comparing neighbouring positions.
It covers errors of the search, not systematic errors of the evaluator.

Writes GAME.review.sgf, with comments, better variations and marks, for Sabaki
and other programs, and GAME.review.html, a self-contained page that works
offline, into the current directory or to the path of -o. Several records are
reviewed one after the other, or in parallel by the ranks of mpirun. For a
folder, -o names another folder, which gets the files of all games, an index
and reports about the players; the same command continues after a stop.

Unless --playouts, --time or --no-model is given, there are three passes. The
first takes half a minute at most for a game, with the small built-in network.
The second and the third search with 25 and 200 simulations. Each replaces the
files of the previous pass. ^C ends the review and keeps the results so far.

Examples:
  kosumi review game.sgf                           three passes, the last with 200 simulations a position
  kosumi review game.sgf --playouts 1000           one pass, with 1,000 simulations a position
  kosumi review games/*.sgf -o reviewed            several games, into a folder that is there
  kosumi review games -o reviewed                  all games of a folder, with reports about the players
  kosumi review game.sgf --time 5 --threads 2      5 seconds a position
  kosumi review game.sgf --from 100 --to 150       part of the game
  kosumi review game.sgf --player black            the moves of one player
  kosumi review games.sgf --game 7 -o seventh      the seventh game of a collection
  kosumi review game.sgf --live                    the page with the engine behind it
  kosumi review game.sgf --json                    numbers for other programs, and nothing else
  kosumi review --rank games                       the rank of each player in a folder of games")]
pub(super) struct Arguments {
    /// Game records to review, or a folder of game records; their main lines are followed
    #[arg(value_name = "GAME.sgf", required = true)]
    files: Vec<PathBuf>,
    /// Number of the game in each file, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    game: u32,
    /// Base name of the output files BASE.sgf, BASE.html and BASE.json; with several game records, an existing folder
    /// for their files; with a folder of records, a folder for all files, which is created [default: GAME.review, in the current directory]
    #[arg(short, long, value_name = "BASE")]
    output: Option<PathBuf>,
    /// Write the annotated game record [default: this and --html]
    #[arg(long)]
    sgf: bool,
    /// Write the HTML page
    #[arg(long)]
    html: bool,
    /// Write the results as JSON
    #[arg(long)]
    json: bool,
    /// Playouts per position [default: three passes up to 200, or 2000 without a network, unless --time is given]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    playouts: Option<u32>,
    /// Time per position, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = options::seconds)]
    time: Option<Duration>,
    /// Number of search threads [default: number of processors, or 1 per rank under MPI]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Memory for search results, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..))]
    memory: u32,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// First move to review, counted from 1
    #[arg(long, value_name = "MOVE", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    from: u32,
    /// Last move to review [default: the last one of the game]
    #[arg(long, value_name = "MOVE", value_parser = clap::value_parser!(u32).range(1..))]
    to: Option<u32>,
    /// Review the moves of one player only: black, white, or a name in the game record
    #[arg(long, value_name = "PLAYER")]
    player: Option<String>,
    /// Rules, instead of those of the game record [default: those of the game record, or chinese-kgs]
    #[arg(long, value_name = "NAME", value_parser = options::rules)]
    rules: Option<Rules>,
    /// Points for White, instead of the komi of the game record [default: komi of the game record, or usual komi of the
    /// rules]
    #[arg(long, value_name = "POINTS", allow_hyphen_values = true, value_parser = options::points)]
    komi: Option<f32>,
    /// Losses of win rate, in percent, from which a move is an inaccuracy, a mistake or a blunder
    #[arg(long, value_name = "A,B,C", default_value = "5,10,20", value_parser = thresholds)]
    thresholds: Thresholds,
    /// Number of candidate moves shown per position
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u8).range(1..=20))]
    candidates: u8,
    /// Open the page in the browser with a running engine, which can analyse other moves. No file is written; the page
    /// saves the review as SGF
    #[arg(long, conflicts_with_all = ["output", "sgf", "html", "json"])]
    live: bool,
    /// Estimate the rank of each player from all games of the files, which may be folders, and write no review. Prints
    /// a table, or with --json a document, to the standard output
    #[arg(long, conflicts_with_all = ["output", "sgf", "html", "live", "playouts", "time", "game", "from", "to", "player"])]
    rank: bool,
    #[command(flatten)]
    server: ServerArguments,
    #[command(flatten)]
    model: ModelArguments,
}

/// Default number of simulations per position, without and with a network.
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
    if arguments.rank {
        return rank::run(arguments);
    }
    if let Some(folder) = arguments.files.iter().find(|path| path.is_dir()) {
        ensure!(arguments.files.len() == 1, "a folder is reviewed alone, without other files");
        return folder::run(arguments, folder);
    }
    ranks::run_distributed("game", |part| {
        let games = Outputs::of_all(arguments)?;
        // Ranks send only finished reviews, so a review over ranks is a single pass. mpirun handles ^C.
        let is_alone = matches!(part, RankPart::Alone);
        let is_stopped = if is_alone { interrupt::install_flag()? } else { Arc::default() };
        let network = arguments.model.load()?;
        let of_device = || device::threads(network.as_deref()).filter(|_| is_alone);
        let threads = ranks::threads(&part, arguments.threads.map(usize::from).or_else(of_device));
        let bar = progress::bar(0, "{msg}{bar:32} {pos}/{len} positions, {eta} left");
        let read = |send: &mut dyn FnMut(usize) -> bool| {
            let _ = (0..games.len()).all(send);
        };
        let work = |&index: &usize| -> Result<ReviewResult, String> {
            let outputs = games.get(index).ok_or("the ranks run different versions")?;
            let study = ReviewJob { arguments, threads: Some(threads), network: network.as_ref(), is_alone };
            let bytes = nth_game(&outputs.record, arguments.game).map_err(|error| format!("{error:#}"))?;
            let name = record_name(arguments, &outputs.record);
            let found = study.game(outputs, &name, &bytes, &is_stopped, &mut |news| match news {
                ReviewEvent::Progress { pass, done, total } => {
                    bar.set_message(pass.to_owned());
                    bar.set_length(total as u64);
                    bar.set_position(done as u64);
                    Ok(())
                }
                ReviewEvent::Found(found) => {
                    let result = bar.suspend(|| outputs.write(&found, games.len() > 1));
                    bar.reset();
                    result
                }
            });
            found.map(|(_, result)| result).map_err(|error| format!("{error:#}"))
        };
        let mut failed = 0;
        let collect = |&index: &usize, found: Result<ReviewResult, String>| {
            bar.reset();
            let outputs = &games[index];
            let is_stopped = is_stopped.load(Ordering::Relaxed);
            match found {
                Ok(found) => bar.suspend(|| outputs.write(&found, games.len() > 1))?,
                Err(error) if games.len() == 1 || is_stopped => bail!(error),
                Err(error) => {
                    failed += 1;
                    bar.suspend(|| ranks::warn(&error));
                }
            }
            let left = games.len() - 1 - index;
            if is_stopped && left > 0 {
                bar.suspend(|| {
                    ranks::warn(&format!("stopped: {left} of {} games were not reviewed", games.len()))
                });
            }
            Ok(if is_stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        // All processors search the same game.
        in_order(part, 1, PieceLength::Long, read, work, collect)?;
        bar.finish_and_clear();
        ensure!(failed == 0, "{failed} of {} games could not be reviewed", games.len());
        Ok(())
    })
    .map(Option::unwrap_or_default)
}

/// Event during the review of a game.
enum ReviewEvent<'n> {
    /// Number of finished positions of this pass, and number of all its positions.
    Progress { pass: &'n str, done: usize, total: usize },
    /// Result of a pass that is followed by a longer one.
    Found(ReviewResult),
}

/// Returns the name of a game for error messages.
fn record_name(arguments: &Arguments, file: &Path) -> String {
    match arguments.game {
        1 => file.display().to_string(),
        number => format!("{}, game {number}", file.display()),
    }
}

/// Configuration of reviews.
#[derive(Clone, Copy)]
struct ReviewJob<'s> {
    arguments: &'s Arguments,
    threads: Option<usize>,
    network: Option<&'s Arc<Network>>,
    /// Whether no other process takes part.
    is_alone: bool,
}

impl ReviewJob<'_> {
    /// Reviews a game in passes, and reports the result of each pass but the last one. Returns the result of the last
    /// pass, or a partial result if the review is stopped. `name` is the name of the record in error messages.
    fn game(
        &self,
        outputs: &Outputs,
        name: &str,
        bytes: &[u8],
        is_stopped: &AtomicBool,
        report: &mut dyn FnMut(ReviewEvent<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<(Reviewed, ReviewResult)> {
        let start = Instant::now();
        let game = ParsedGame::new(self.arguments, name, bytes)?;
        let passes = self.passes(&game)?;
        let mut known: Option<Reviewed> = None;
        for (number, pass) in passes.iter().enumerate() {
            let name = match passes.len() {
                1 => String::new(),
                all => format!("pass {} of {all}  ", number + 1),
            };
            let mut progress = |done, total| {
                // Drawing the progress bar cannot fail.
                let _ = report(ReviewEvent::Progress { pass: &name, done, total });
            };
            let interrupted = || is_stopped.load(Ordering::Relaxed);
            let reviewed = self.pass(&game, pass, &interrupted, &mut progress);
            let reviewed = passes::completed_by_earlier(known.take(), reviewed);
            if interrupted() {
                ensure!(
                    reviewed.review.analyses.iter().any(Option::is_some),
                    "stopped before the first result; nothing is written"
                );
                let behind = "stopped; the results are incomplete".to_owned();
                let result = build_result(outputs, &reviewed, start.elapsed(), behind)?;
                return Ok((reviewed, result));
            }
            if number + 1 == passes.len() {
                let result = build_result(outputs, &reviewed, start.elapsed(), String::new())?;
                return Ok((reviewed, result));
            }
            let network = if number == 0 { " by the small network" } else { "" };
            let behind = format!(
                "pass {} of {}{network}; longer passes follow and replace it, ^C stops them",
                number + 1,
                passes.len(),
            );
            report(ReviewEvent::Found(build_result(outputs, &reviewed, start.elapsed(), behind)?))?;
            known = Some(reviewed);
        }
        bail!("the review has no passes")
    }

    /// Returns the passes of a review, the shortest first.
    fn passes(&self, game: &ParsedGame) -> anyhow::Result<Vec<Pass>> {
        let arguments = self.arguments;
        let network = self.network.cloned();
        let usual = DEFAULT_PLAYOUTS[usize::from(network.is_some())];
        let playouts = arguments.playouts.or(arguments.time.is_none().then_some(usual));
        let limits = Limits { playouts, soft: arguments.time, hard: arguments.time, ..Limits::default() };
        let last = Pass { network, limits };
        let is_usual = arguments.playouts.is_none() && arguments.time.is_none() && self.is_alone;
        if !is_usual || self.network.is_none() {
            return Ok(vec![last]);
        }
        let quick = Pass::quick(arguments.model.load_small()?, game.positions());
        Ok(vec![quick, last.shorter(), last])
    }

    fn pass(
        &self,
        game: &ParsedGame,
        pass: &Pass,
        interrupted: &(dyn Fn() -> bool + Sync),
        progress: &mut dyn FnMut(usize, usize),
    ) -> Reviewed {
        let ParsedGame { tree, record, line, scope, searched, rules } = game;
        let parameters = ReviewParameters {
            limits: pass.limits,
            seed: self.arguments.seed,
            scope: *scope,
            are_rules_given: self.arguments.rules.is_some(),
        };
        let facts = Facts::new(tree, record, line, &parameters);
        let settings = settings(self.arguments, self.threads, *rules);
        let mut engine = Engine::with_network(settings, pass.network.clone());
        let mut analyst = EngineAnalyst {
            engine: &mut engine,
            limits: pass.limits,
            candidates: usize::from(self.arguments.candidates),
            interrupted,
        };
        let review = review::review(line, searched, &mut analyst, progress);
        Reviewed::new(tree.clone(), line.clone(), review, facts)
    }
}

/// Builds the output files and the messages of a review.
fn build_result(
    outputs: &Outputs,
    reviewed: &Reviewed,
    time: Duration,
    behind: String,
) -> anyhow::Result<ReviewResult> {
    let texts = outputs.files.iter().map(|(_, format)| match format {
        Format::Sgf => Ok(review::annotated(reviewed).to_string()),
        Format::Html => Ok(review::page(reviewed)),
        Format::Json => review::json(reviewed).context("cannot write JSON"),
    });
    let texts = texts.collect::<anyhow::Result<Vec<String>>>()?;
    let mut summary = Vec::new();
    for warning in &reviewed.facts.warnings {
        writeln!(summary, "note: {warning}")?;
    }
    write_summary(&mut summary, reviewed)?;
    let searched = reviewed.review.analyses.iter().flatten().count();
    let time = time.as_secs_f64();
    let positions = counted(searched as u64, "position");
    writeln!(summary, "{positions}, {}, {time:.1} s", reviewed.facts.effort)?;
    Ok(ReviewResult { texts, summary: String::from_utf8_lossy(&summary).into_owned(), behind })
}

/// Serves the page with a running engine.
fn live(arguments: &Arguments) -> anyhow::Result<()> {
    let [file] = &arguments.files[..] else { bail!("--live accepts a single file") };
    let bytes = nth_game(file, arguments.game)?;
    let network = arguments.model.load()?;
    let threads = arguments.threads.map(usize::from).or_else(|| device::threads(network.as_deref()));
    let settings = settings(arguments, threads, arguments.rules.unwrap_or_default());
    let for_table = network.clone();
    let make: MakeEngine = Arc::new(move |_| Engine::with_network(settings, for_table.clone()));
    let (bare, whole) = (arguments.clone(), arguments.clone());
    let (bare_name, whole_name) = (record_name(arguments, file), record_name(arguments, file));
    let reviewer = Reviewer {
        // The scope contains no position, so nothing is searched.
        bare: Box::new(move |bytes| {
            let game = ParsedGame::new(&bare, &bare_name, bytes).map_err(|error| format!("{error:#}"))?;
            let game = ParsedGame { searched: Scope { from: usize::MAX, to: 0, ..game.scope }, ..game };
            let study = ReviewJob { arguments: &bare, threads: Some(1), network: None, is_alone: true };
            let passes = study.passes(&game).map_err(|error| format!("{error:#}"))?;
            let pass = passes.last().ok_or("the review has no passes")?;
            Ok(study.pass(&game, pass, &|| false, &mut |_, _| {}))
        }),
        whole: Box::new(move |bytes, progress, show| {
            let study = ReviewJob { arguments: &whole, threads, network: network.as_ref(), is_alone: true };
            let game = ParsedGame::new(&whole, &whole_name, bytes).map_err(|error| format!("{error:#}"))?;
            let passes = study.passes(&game).map_err(|error| format!("{error:#}"))?;
            for pass in &passes {
                show(study.pass(&game, pass, &|| false, progress));
            }
            Ok(())
        }),
    };
    let server = &arguments.server;
    browser::study(server.setup(make), reviewer, &bytes, &mut |url, once| server.announce(url, once))?;
    Ok(())
}

/// Returns the settings of the engine.
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

/// Game that is parsed for a review.
struct ParsedGame {
    tree: Tree,
    record: Record,
    line: MainLine,
    scope: Scope,
    /// The scope of the search, which is empty if nothing is to be searched.
    searched: Scope,
    rules: Rules,
}

impl ParsedGame {
    fn new(arguments: &Arguments, name: &str, bytes: &[u8]) -> anyhow::Result<ParsedGame> {
        let mut record = Record::parse(bytes).with_context(|| name.to_owned())?;
        let tree = Tree::parse(bytes).with_context(|| name.to_owned())?;
        let rules = arguments.rules.or_else(|| record.rules()).unwrap_or_default();
        if let Some(komi) = arguments.komi {
            record.komi = Some(komi);
            record.unknown_komi = None;
        }
        let line =
            MainLine::of_record(&record, rules, record.komi_under(rules)).with_context(|| name.to_owned())?;
        let line = line.located(bytes);
        let scope = Scope {
            from: arguments.from as usize,
            to: arguments.to.map_or(usize::MAX, |to| to as usize),
            player: player::wanted(arguments.player.as_deref(), &record).with_context(|| name.to_owned())?,
            thresholds: arguments.thresholds,
        };
        ensure!(scope.from <= scope.to, "--from {} is behind --to {}", scope.from, scope.to);
        let moves = line.move_count();
        ensure!(scope.from <= moves.max(1), "--from {}, but the game has {moves} moves", scope.from);
        Ok(ParsedGame { tree, record, line, scope, searched: scope, rules })
    }

    /// Returns the number of searched positions.
    fn positions(&self) -> usize {
        self.line.steps().iter().filter(|step| self.searched.holds(step.moves)).count()
    }
}

/// Writes a table with the results of both players and the worst moves.
fn write_summary(out: &mut impl Write, reviewed: &Reviewed) -> io::Result<()> {
    if reviewed.line.move_count() == 0 {
        return writeln!(out, "the record has no moves: only its position was searched");
    }
    if let Some(part) = reviewed.facts.part {
        writeln!(out, "{}", part.sentence())?;
    }
    writeln!(
        out,
        "         moves  first choice  inaccuracies  mistakes  blunders  mean loss        accuracy"
    )?;
    for color in Color::BOTH {
        let player = &reviewed.review.players[color];
        let [_, inaccuracies, mistakes, blunders] = player.classes;
        if player.moves == 0 {
            let name = reviewed.facts.players[color].as_deref().unwrap_or_default();
            writeln!(out, "{:<8} {:>5}  {:<70}  {name}", color.to_string(), 0, "no move was reviewed")?;
            continue;
        }
        writeln!(
            out,
            "{:<8} {:>5}  {:>10.0} %  {inaccuracies:>12}  {mistakes:>8}  {blunders:>8}  {:>4.1} % {:>5.1} p.  {:>6.0} %  {}",
            color.to_string(),
            player.moves,
            100.0 * player.first_choices as f32 / player.moves as f32,
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
