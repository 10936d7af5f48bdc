//! `kosumi analysis`.

use super::model::ModelArguments;
use super::options;
use crate::analysis::{Config, Models, Server};
use crate::engine::{Analyst, processors};
use crate::eval::NetworkSettings;
use anyhow::{Context, bail, ensure};
use clap::Args;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Answer questions about positions in KataGo's JSON protocol on standard input and output
#[derive(Debug, Args)]
#[command(after_help = "\
Options may be written with one dash, as KataGo has them: a program that starts
\"katago analysis -config FILE -model FILE\" starts Kosumi if that one word is
changed. See docs/analysis-engine.md.

Example, one line of a session:
  {\"id\":\"1\",\"boardXSize\":9,\"boardYSize\":9,\"rules\":\"chinese\",\"moves\":[[\"B\",\"E5\"]],\"maxVisits\":100}")]
pub(super) struct Arguments {
    /// KataGo's configuration file: numAnalysisThreads, numSearchThreads, maxVisits, reportAnalysisWinratesAs, ...; may be
    /// repeated
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// Settings that win over the files: KEY=VALUE,KEY=VALUE; may be repeated
    #[arg(long, value_name = "SETTINGS")]
    override_config: Vec<String>,
    /// A second network, one of human play, for humanSLProfile
    #[arg(long, value_name = "FILE", env = "KOSUMI_HUMAN_MODEL")]
    human_model: Option<PathBuf>,
    /// Positions that are analysed at the same time [default: numAnalysisThreads, or as many as there are processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=16384))]
    analysis_threads: Option<u16>,
    /// Processors that all searches together may use [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Memory for searches and for what the network said, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(16..))]
    memory: u32,
    /// Stop at the end of the input, instead of finishing what was asked for
    #[arg(long)]
    quit_without_waiting: bool,
    /// What query_version tells: kosumi, or katago for programs that want KataGo's number
    #[arg(long, value_name = "NAME", default_value = "kosumi", value_parser = options::compatible)]
    compatible: options::Compatible,
    #[command(flatten)]
    model: ModelArguments,
}

/// The visits of a query that says nothing, where no configuration does either.
const USUAL_VISITS: u32 = 500;

/// KaTrain takes 1 for an end that was wanted.
const FAILED: u8 = 2;

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    match serve(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if super::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // The words by which programs know that KataGo could not be started.
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
        bail!("humanSLProfile is set, but no network knows what people play: -human-model names one");
    }
    let processors = arguments.threads.map_or_else(processors, usize::from);
    let human_name = arguments.human_model.as_ref().map(|path| path.display().to_string());
    let names = [Some(arguments.model.name()), human_name].into_iter().flatten().collect();
    let version = arguments.compatible.analysis_version().to_owned();

    let memory = arguments.memory as usize;
    let network_settings = config.settings.engine.network;
    // A quarter for the usual cache, as much for those of other settings, and the rest for searches.
    let analyst = Analyst::new(network, human, network_settings, memory / 4, memory / 2);
    let server = Server::new(config, Models { version, names }, analyst, processors);
    let share = memory / 2 / server.workers();
    let server = server.with_search_memory(share).quitting_at_once(arguments.quit_without_waiting);
    warn("Started, ready to begin handling requests");
    server.serve(io::stdin().lock(), io::stdout()).context("cannot go on")
}

fn name_once(what: &str, keys: &[impl AsRef<str>]) {
    for key in keys {
        warn(&format!("key '{}' of the configuration is {what}", key.as_ref()));
    }
}

/// Tells the log: the standard output has answers only.
fn warn(text: &str) {
    // If nobody listens, the answers are what matters.
    let _ = writeln!(io::stderr(), "{text}");
}
