//! `kosumi analysis`.

use super::device;
use super::model::ModelArguments;
use super::options;
use crate::terminal;
use anyhow::{Context, bail, ensure};
use clap::Args;
use kosumi_engine::{Analyst, processors};
use kosumi_eval::NetworkSettings;
use kosumi_gtp::Blocking;
use kosumi_tools::analysis::{Config, Models, Server};
use kosumi_tools::system::wait_until_unread;
use std::io::{self, BufReader, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Answer questions about positions in KataGo's JSON protocol on standard input and output
#[derive(Debug, Args)]
#[command(after_help = "\
Options may be written with one dash, as in KataGo. A program that starts
\"katago analysis -config FILE -model FILE\" starts Kosumi if \"katago\" is replaced
by \"kosumi\". See docs/analysis-engine.md.

Example, one line of a session:
  {\"id\":\"1\",\"boardXSize\":9,\"boardYSize\":9,\"rules\":\"chinese\",\"moves\":[[\"B\",\"E5\"]],\"maxVisits\":100}")]
pub(super) struct Arguments {
    /// KataGo configuration file: numAnalysisThreads, numSearchThreads, maxVisits, reportAnalysisWinratesAs, ...; may
    /// be repeated
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// Settings that override those of the files: KEY=VALUE,KEY=VALUE; may be repeated
    #[arg(long, value_name = "SETTINGS")]
    override_config: Vec<String>,
    /// Second network, trained on human games, for humanSLProfile
    #[arg(long, value_name = "FILE", env = "KOSUMI_HUMAN_MODEL")]
    human_model: Option<PathBuf>,
    /// Number of positions analysed at the same time [default: numAnalysisThreads, or the number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=16384))]
    analysis_threads: Option<u16>,
    /// Number of processors used by all searches together [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Memory for searches and cached network evaluations, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(16..))]
    memory: u32,
    /// Stop at the end of the input without finishing pending queries
    #[arg(long)]
    quit_without_waiting: bool,
    /// Program that query_version reports: kosumi, or katago for programs that expect KataGo's version
    #[arg(long, value_name = "NAME", default_value = "kosumi", value_parser = options::compatible)]
    compatible: options::Compatible,
    #[command(flatten)]
    model: ModelArguments,
}

/// Number of visits of a query without `maxVisits`, if no configuration file is given.
const USUAL_VISITS: u32 = 500;

/// Exit code of a failure. KaTrain takes exit code 1 for a normal end.
const FAILED: u8 = 2;

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    match serve(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if super::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Programs recognise a failed start of KataGo by this text.
            warn(&format!("Uncaught exception: {error:#}"));
            ExitCode::from(FAILED)
        }
    }
}

fn serve(arguments: &Arguments) -> anyhow::Result<()> {
    warn(&format!("Kosumi {}: analysis engine starting...", env!("CARGO_PKG_VERSION")));
    let mut config = Config::new(arguments.model.settings_or(NetworkSettings::default()));
    if arguments.config.is_empty() {
        config.settings.engine.visits = Some(USUAL_VISITS);
    }
    for file in &arguments.config {
        config.read_file(file)?;
    }
    for text in &arguments.override_config {
        config.override_with(text)?;
    }
    if let Some(threads) = arguments.analysis_threads {
        ensure!(
            config.analysis_threads.is_none(),
            "numAnalysisThreads is in the configuration and -analysis-threads on the command line"
        );
        config.analysis_threads = Some(threads.into());
    }
    name_once("unknown, and not used", &config.unused);
    name_once("known, but changes nothing here", &config.idle);

    let network = arguments.model.load()?.context("the analysis needs a network: leave out --no-model")?;
    let human = arguments.human_model.as_deref().map(|path| arguments.model.load_human(path)).transpose()?;
    if config.settings.engine.network.profile.is_some() && human.is_none() && !network.takes_metadata() {
        bail!("humanSLProfile is set, but no human-play network is loaded: give one with -human-model");
    }
    let threads = arguments.threads.map(usize::from).or_else(|| device::threads(Some(&*network)));
    let processors = threads.unwrap_or_else(processors);
    let human_name = arguments.human_model.as_ref().map(|path| path.display().to_string());
    let names = [Some(arguments.model.name()), human_name].into_iter().flatten().collect();
    let version = arguments.compatible.analysis_version().to_owned();

    let memory = arguments.memory as usize;
    let network_settings = config.settings.engine.network;
    // The cache for the usual settings gets a quarter of the memory, the caches for other settings get another quarter,
    // and the searches get the rest.
    let analyst = Analyst::new(network, human, network_settings, memory / 4, memory / 2);
    let server = Server::new(config, Models { version, names }, analyst, processors);
    let share = memory / 2 / server.workers();
    let server = server.with_search_memory(share).quitting_at_once(arguments.quit_without_waiting);
    warn("Started, ready to begin handling requests");
    server
        .serve_until(BufReader::new(Blocking(io::stdin())), io::stdout(), wait_until_unread)
        .context("the analysis server failed")
}

fn name_once(what: &str, keys: &[impl AsRef<str>]) {
    for key in keys {
        warn(&format!("key '{}' of the configuration is {what}", key.as_ref()));
    }
}

/// Writes a line to the standard error. The standard output carries responses only.
fn warn(text: &str) {
    // A closed standard error must not stop the responses.
    let _ = writeln!(terminal::stderr(), "{text}");
}
