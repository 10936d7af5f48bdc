//! `kosumi regress`: regression suites for engines, in GNU Go's format.

use super::gtp::EngineArguments;
use super::{options, progress, ranks};
use crate::terminal;
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use kosumi_engine::{Engine, EngineSettings};
use kosumi_net::Network;
use kosumi_tools::commands::Commands;
use kosumi_tools::files::{check_target, read_text, write_atomically};
use kosumi_tools::players::{ChildEngines, Engines, InProcessEngines};
use kosumi_tools::ranks::RankPart;
use kosumi_tools::regress::{
    Comparison, EngineInfo, FORMAT, Matching, Options, Outcome, OutcomeCounts, Report, RunResult, Suite,
    TestResult, expand, junit, page, play, query_identity, summary,
};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Run regression suites and check the answers
///
/// A suite is a file of GTP commands. Numbered commands are tests, and the line behind a test gives the expected
/// answer: `#? [D4|E5]`, with `*` if the engine is known to fail. This is the format of GNU Go's suites and of
/// gogui-regress.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --engine Kosumi itself runs the tests, with one thread and 1000
playouts a move (100 with a network) unless the options say otherwise: with one
thread and a fixed number of playouts or visits, results repeat exactly.

Each suite gets a fresh engine, which runs in the suite's folder. To use all
processors, suites are split where a new position begins (loadsgf, boardsize,
clear_board); settings that outlive a position, such as komi, are replayed.
--whole disables this, for engines whose answers depend on earlier commands.

Outcomes: pass and fail are as expected, FAIL and PASS are not. A command that
the engine does not know is 'unsupported', not a wrong answer.

Exit code: 0 all as expected; 1 unexpected failures; 2 errors: the engine
crashed or took too long, refused a set-up command or does not know a test's
command, or the command line or a suite is not in order.

Examples:
  kosumi regress nngs.tst strategy.tst --html report.html
  kosumi regress @all --engine \"gnugo --mode gtp --level 10\" --match awk --json gnugo.json
  kosumi regress ladders.tst --playouts 5000 --compare before.json
  kosumi regress --compare before.json after.json       compares two finished runs
  kosumi regress after.json --html report.html          shows a finished run")]
pub(super) struct Arguments {
    /// Suites: .tst files, @FILE for the suites that FILE lists, or the .json of a finished run
    #[arg(required = true, value_name = "SUITE")]
    suites: Vec<String>,
    /// Command line of another engine, instead of Kosumi itself
    #[arg(long, value_name = "COMMAND", conflicts_with = "EngineArguments")]
    engine: Option<String>,
    /// Comparison of answers: with the whole answer (full, as gogui-regress does), or as GNU Go's regress.awk does,
    /// where B1|D17 also matches B11 (awk)
    #[arg(long = "match", value_name = "HOW", value_enum, default_value_t = Match::Full)]
    matching: Match,
    /// Number of engines at the same time [default: as many as the processors can run with their threads]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Do not split suites: one engine runs a whole suite
    #[arg(long)]
    whole: bool,
    /// Maximum time of an engine for one command, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = options::seconds)]
    timeout: Duration,
    /// List all tests instead of only unexpected results
    #[arg(long, short)]
    verbose: bool,
    /// Write the results as JSON, for --compare
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the results as JUnit XML for CI systems
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the results as an HTML page with a diagram of every failure
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Compare with the JSON of an earlier run: list the changes and test their significance
    #[arg(long, value_name = "OLD.json")]
    compare: Option<PathBuf>,
    /// Exit with 1 for unexpected passes, too, so that stars are kept up to date
    #[arg(long)]
    fail_on_pass: bool,
    /// Do not count tests whose commands the engine does not know as errors
    #[arg(long)]
    ignore_unsupported: bool,
    #[command(flatten, next_help_heading = "Options for Kosumi itself")]
    built_in: EngineArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Match {
    Full,
    Awk,
}

/// Default settings of the built-in engine. The two numbers of playouts take about the same time per move, without and
/// with a network. Little memory is enough for 1000 playouts, and all reserved memory must be cleared for every test.
const PLAYOUTS: u32 = 1000;
const NETWORK_PLAYOUTS: u32 = 100;
const MEMORY_MEBIBYTES: usize = 64;

/// Exit codes.
const EXIT_EXPECTED: u8 = 0;
const UNEXPECTED: u8 = 1;
const EXIT_ERROR: u8 = 2;

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let outcome = ranks::run_distributed("part of a suite", |part| try_run(arguments, part));
    match outcome.map(|code| code.unwrap_or(EXIT_EXPECTED)) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // If the standard error is closed, the exit code still reports the failure.
            if !super::is_broken_pipe(&error) {
                let _ = writeln!(terminal::stderr(), "kosumi: {error:#}");
            }
            ExitCode::from(EXIT_ERROR)
        }
    }
}

fn try_run(arguments: &Arguments, part: RankPart) -> anyhow::Result<u8> {
    let is_run = |name: &String| Path::new(name).extension().is_some_and(|end| end == "json");
    if part.is_other() {
        // A finished run leaves no work for other ranks.
        if !arguments.suites.iter().any(is_run) {
            play_suites(arguments, &arguments.suites, part)?;
        }
        return Ok(EXIT_EXPECTED);
    }
    // The file is read first, so that errors in it appear before the tests are run.
    let old = match &arguments.compare {
        Some(path) => Some((path.clone(), read_run(path)?)),
        None => None,
    };
    for path in [&arguments.json, &arguments.junit, &arguments.html].into_iter().flatten() {
        check_target(path)?;
    }
    let run = match arguments.suites.as_slice() {
        [only] if is_run(only) => read_run(Path::new(only))?,
        names if names.iter().any(is_run) => bail!("a finished run cannot be mixed with suites"),
        names => play_suites(arguments, names, part)?,
    };
    let comparison = old.map(|(path, old)| (path, Comparison::new(&old, &run)));
    let report = Report { run, comparison };
    if let Some(path) = &arguments.json {
        write(path, &report.run.to_json()?)?;
    }
    if let Some(path) = &arguments.junit {
        write(path, &junit(&report.run, arguments.fail_on_pass, arguments.ignore_unsupported)?)?;
    }
    if let Some(path) = &arguments.html {
        write(path, &page(&report).to_string())?;
    }
    let code = exit_code(&report.run.tally(), arguments.fail_on_pass, arguments.ignore_unsupported);
    let mut out = terminal::stdout();
    let written = write!(out, "{}", summary(&report, arguments.verbose)).and_then(|()| out.flush());
    match written {
        Ok(()) => Ok(code),
        // A reader that closes the output early does not change the result of the tests.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(code),
        Err(error) => Err(error.into()),
    }
}

fn exit_code(tally: &OutcomeCounts, fail_on_pass: bool, ignore_unsupported: bool) -> u8 {
    let unsupported = if ignore_unsupported { 0 } else { tally.unsupported };
    if tally.errors + tally.other_errors + unsupported > 0 {
        EXIT_ERROR
    } else if tally.fail > 0 || (fail_on_pass && tally.unexpected_pass > 0) {
        UNEXPECTED
    } else {
        EXIT_EXPECTED
    }
}

/// Maximum size of the results of a run, in bytes.
const MAX_RUN_BYTES: u64 = 256 << 20;

fn read_run(path: &Path) -> anyhow::Result<RunResult> {
    let text = read_text(path, MAX_RUN_BYTES).with_context(|| format!("cannot read {}", path.display()))?;
    RunResult::from_json(&text).with_context(|| path.display().to_string())
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    write_atomically(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn play_suites(arguments: &Arguments, names: &[String], part: RankPart) -> anyhow::Result<RunResult> {
    let matching = match arguments.matching {
        Match::Full => Matching::Full,
        Match::Awk => Matching::Awk,
    };
    let is_other = part.is_other();
    let suites = read_suites(names, matching, is_other)?;
    let processors = ranks::threads(&part, None);
    let (engines, command, threads): (Box<dyn Engines>, String, usize) = match &arguments.engine {
        Some(line) => {
            let children = ChildEngines::new(line).map_err(anyhow::Error::msg)?;
            (Box::new(children), line.clone(), 1)
        }
        None => {
            let network = arguments.built_in.repeatable_network()?;
            let settings = built_in_settings(&arguments.built_in, network.is_some());
            let about = settings_text(&settings, network.as_deref());
            let make = move |folder: &Path| {
                Commands::new(Engine::with_network(settings, network.clone())).in_folder(folder)
            };
            (Box::new(InProcessEngines { make }), about, settings.threads)
        }
    };
    let jobs = arguments.jobs.map_or((processors / threads.max(1)).max(1), usize::from);
    let options = Options { timeout: arguments.timeout, jobs, whole: arguments.whole };
    let engine = match is_other {
        true => EngineInfo::default(),
        false => query_identity(&*engines, command, &suites, arguments.timeout)?,
    };
    let progress = Progress::new(if is_other { 0 } else { suites.iter().map(Suite::test_count).sum() });
    let start = Instant::now();
    let suites = play(&suites, &*engines, options, part, &|suite, test| progress.count(suite, test))?;
    let seconds = start.elapsed().as_secs_f64();
    progress.bar.finish_and_clear();
    let whole = arguments.whole;
    Ok(RunResult { format: FORMAT, engine, matching, seconds, jobs, whole, suites })
}

/// Reads all suites and reports every error in any of them. Warnings are printed unless `is_quiet` is set.
fn read_suites(names: &[String], matching: Matching, is_quiet: bool) -> anyhow::Result<Vec<Suite>> {
    let mut suites = Vec::new();
    let mut errors = Vec::new();
    for path in expand(names)? {
        match Suite::read(&path, matching) {
            Ok(suite) => suites.push(suite),
            Err(error) => errors.push(error.to_string()),
        }
    }
    if !errors.is_empty() {
        bail!("{}", errors.join("\nkosumi: "));
    }
    for suite in suites.iter().filter(|_| !is_quiet) {
        for (line, warning) in &suite.warnings {
            // A closed standard error must not stop the tests.
            let _ = writeln!(terminal::stderr(), "{}:{line}: warning: {warning}", suite.path.display());
        }
    }
    Ok(suites)
}

fn built_in_settings(arguments: &EngineArguments, has_network: bool) -> EngineSettings {
    arguments.settings_or(EngineSettings {
        threads: 1,
        playouts: Some(if has_network { NETWORK_PLAYOUTS } else { PLAYOUTS }),
        memory_mebibytes: MEMORY_MEBIBYTES,
        ..EngineSettings::default()
    })
}

/// Describes the settings on which the answers depend.
fn settings_text(settings: &EngineSettings, network: Option<&Network>) -> String {
    let mut words = vec!["built in".to_owned()];
    words.extend(network.map(|network| format!("network {}", network.name())));
    words.extend(settings.visits.map(|visits| format!("{visits} visits")));
    words.extend(settings.playouts.map(|playouts| format!("{playouts} playouts")));
    words.extend(settings.move_time.map(|time| format!("{} s a move", time.as_secs_f64())));
    words.push(format!("{} thread{}", settings.threads, if settings.threads == 1 { "" } else { "s" }));
    words.push(format!("seed {}", settings.seed));
    words.push(format!("rules {}", settings.rules));
    words.extend(settings.komi.map(|komi| format!("komi {komi}")));
    words.join(", ")
}

/// Progress: number of finished tests and of unexpected results.
struct Progress {
    bar: ProgressBar,
    unexpected: AtomicUsize,
}

impl Progress {
    fn new(tests: usize) -> Progress {
        let bar = progress::bar(tests as u64, "{pos}/{len} {wide_bar} {msg} {elapsed} (left: {eta})");
        Progress { bar, unexpected: AtomicUsize::new(0) }
    }

    fn count(&self, suite: &Suite, test: &TestResult) {
        let is_expected = matches!(test.outcome, Outcome::Pass | Outcome::ExpectedFail | Outcome::Ignored);
        let unexpected = self.unexpected.fetch_add(usize::from(!is_expected), Ordering::Relaxed)
            + usize::from(!is_expected);
        let name = suite.path.file_stem().unwrap_or_default().to_string_lossy();
        let text = format!("{name} {}, {unexpected} unexpected", test.name());
        self.bar.set_message(terminal::escaped(&text).into_owned());
        self.bar.inc(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes() {
        let tally = OutcomeCounts { tests: 9, pass: 8, expected_fail: 1, ..OutcomeCounts::default() };
        assert_eq!(exit_code(&tally, true, false), EXIT_EXPECTED);
        let with_pass = OutcomeCounts { unexpected_pass: 1, ..tally };
        assert_eq!(
            (exit_code(&with_pass, false, false), exit_code(&with_pass, true, false)),
            (EXIT_EXPECTED, UNEXPECTED)
        );
        let with_fail = OutcomeCounts { fail: 1, ..tally };
        assert_eq!(exit_code(&with_fail, false, false), UNEXPECTED);
        let unsupported = OutcomeCounts { unsupported: 1, ..with_fail };
        assert_eq!(
            (exit_code(&unsupported, false, false), exit_code(&unsupported, false, true)),
            (EXIT_ERROR, UNEXPECTED)
        );
        assert_eq!(exit_code(&OutcomeCounts { errors: 1, ..tally }, false, true), EXIT_ERROR);
        assert_eq!(exit_code(&OutcomeCounts { other_errors: 1, ..tally }, false, true), EXIT_ERROR);
    }
}
