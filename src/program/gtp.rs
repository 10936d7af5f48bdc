//! `kosumi gtp`.

use super::device;
use super::katago::KataGoArguments;
use super::model::ModelArguments;
use super::options;
use super::ranks::{self, warn};
use crate::terminal;
use anyhow::{Context, bail};
use clap::Args;
use kosumi_cluster::{ClusterError, Placement};
use kosumi_engine::{Engine, EngineSettings, HumanSettings, RankLink, processors};
use kosumi_eval::NetworkSettings;
use kosumi_go::board::BoardSize;
use kosumi_go::graph_key::NodeSharing;
use kosumi_go::rules::Rules;
use kosumi_gtp::{Blocking, Log};
use kosumi_net::{BuiltIn, Network, Profile, RankSetting};
use kosumi_tools::collections::read_game;
use kosumi_tools::commands::{Commands, GraphicsKind, Setting};
use kosumi_tools::ranks::World;
use kosumi_tools::session::{Autosave, RecordedCommands, newest, today};
use kosumi_tools::system::wait_until_unread;
use std::borrow::Cow;
use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Speak the Go Text Protocol on standard input and output
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kosumi                            5 seconds a move, unless the controller sets a clock
  kosumi gtp --time 1 --threads 2   1 second a move, two threads
  kosumi gtp --playouts 5000        the same strength on every machine
  kosumi gtp --rules cgos           captures dead stones before it passes
  kosumi gtp --rank 8k              plays like a person of 8 kyu
  kosumi gtp --rank auto:8k         begins at 8 kyu and adapts to the opponent after each game
  kosumi gtp --human-model human.bin.gz --profile rank_5k
                                    plays the moves of people of 5 kyu
  kosumi gtp --autosave games --resume
                                    resumes the game that a crash or a power cut interrupted

The command kosumi-help lists what the engine understands.")]
pub(super) struct Arguments {
    #[command(flatten)]
    engine: EngineArguments,
    #[command(flatten)]
    human: HumanPlayArguments,
    #[command(flatten)]
    katago: KataGoArguments,
    /// Size of the board at the start: 19, or WIDTHxHEIGHT [default: 19]
    #[arg(long, value_name = "SIZE", value_parser = options::board_size)]
    boardsize: Option<BoardSize>,
    /// Live graphics for GoGui on the standard error: none, visits, winrates, variation or ownership
    #[arg(long, value_name = "WHAT", default_value = "none", value_parser = options::live_graphics)]
    live_graphics: GraphicsKind,
    /// Program that `name` and `version` report: kosumi, or katago for Lizzie and LizzieYzy, which show score and
    /// ownership only for KataGo
    #[arg(long, value_name = "NAME", default_value = "kosumi", value_parser = options::compatible)]
    compatible: options::Compatible,
    /// Response of `version`
    #[arg(long, value_name = "TEXT")]
    override_version: Option<String>,
    /// Think on the opponent's time
    #[arg(long)]
    ponder: bool,
    /// Save the running game as SGF in this folder after every command that changes it; use one folder per bot
    #[arg(long, value_name = "FOLDER")]
    autosave: Option<PathBuf>,
    /// Resume the game in this file [default: the unfinished game saved last in the folder of --autosave]
    #[arg(long, value_name = "FILE")]
    resume: Option<Option<PathBuf>>,
    /// Append commands, responses and search results with times to this file; - is the standard error
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

/// Options for human-like play
#[derive(Debug, Args)]
pub(super) struct HumanPlayArguments {
    /// Second network, trained on human games: it predicts the moves of people with the given profile
    #[arg(long, value_name = "FILE", env = "KOSUMI_HUMAN_MODEL", conflicts_with = "no_model")]
    human_model: Option<PathBuf>,
    /// People whose moves --human-model, or a human-play network given by --model, predicts: rank_5k, rank_3k_5d with
    /// the ranks of Black and White, preaz_5k for the time before AlphaZero, proyear_1999 for professionals. Sets
    /// humanSLProfile and, unless they are set, humanSLChosenMoveProp, humanSLChosenMoveIgnorePass and
    /// chosenMoveTemperature, so that the engine plays like these people
    #[arg(long, value_name = "PROFILE")]
    profile: Option<Profile>,
}

impl HumanPlayArguments {
    /// Returns the settings for human-like play if a profile is given, otherwise `defaults`.
    pub(super) fn settings_or(&self, defaults: EngineSettings) -> EngineSettings {
        let Some(profile) = self.profile else { return defaults };
        let network = NetworkSettings { profile: Some(profile), ..defaults.network };
        EngineSettings { network, human: HumanSettings::LIKE_PEOPLE, ..defaults }
    }

    /// Loads the human-play network if one is named, with the same kernel and precision as the first network.
    ///
    /// # Errors
    ///
    /// Returns an error if the network cannot be used, or if a profile is given but neither this network nor the first
    /// one is a human-play network.
    pub(super) fn network(
        &self,
        engine: &EngineArguments,
        first: Option<&Network>,
    ) -> anyhow::Result<Option<Arc<Network>>> {
        let network = self.human_model.as_deref().map(|path| engine.model.load_human(path)).transpose()?;
        if self.profile.is_some() && network.is_none() && !first.is_some_and(Network::takes_metadata) {
            bail!("a profile needs a human-play network: give one with --human-model");
        }
        Ok(network)
    }
}

/// Options of the engine
#[derive(Debug, Args)]
pub(super) struct EngineArguments {
    /// Number of search threads [default: number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Memory for search results, in MiB, fixed at the start [default: 512]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..))]
    memory: Option<u32>,
    /// Maximum visits of the root per move, including those kept from the previous search
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    visits: Option<u32>,
    /// Maximum playouts per move
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    playouts: Option<u32>,
    /// Maximum time per move, in seconds [default: 5 without any other limit and without a clock]
    #[arg(long, value_name = "SECONDS", value_parser = options::seconds)]
    time: Option<Duration>,
    /// Time reserved for network and process delays per move under a clock, in seconds [default: 0.25]
    #[arg(long, value_name = "SECONDS", value_parser = options::seconds)]
    lag: Option<Duration>,
    /// Seed of all random numbers, or `random` for a new one at every start
    #[arg(long, value_name = "N", default_value = "1", value_parser = options::seed)]
    seed: u64,
    /// Rules at the start: chinese-kgs, tromp-taylor, cgos, chinese, japanese, aga, new-zealand, ...
    /// [default: chinese-kgs]
    #[arg(long, value_name = "NAME", value_parser = options::rules)]
    rules: Option<Rules>,
    /// Points for White at the start [default: usual komi of the rules]
    #[arg(long, value_name = "POINTS", allow_hyphen_values = true, value_parser = options::points)]
    komi: Option<f32>,
    /// Refuse moves that the rules forbid, instead of playing every move of the controller
    #[arg(long)]
    strict: bool,
    /// Search a tree: do not share nodes between transpositions
    #[arg(long)]
    tree: bool,
    /// Never resign
    #[arg(long, conflicts_with = "resign")]
    never_resign: bool,
    /// Resign after three moves with a win rate below this, in percent, 0 to 50 [default: 5]
    #[arg(long, value_name = "PERCENT", value_parser = options::percent_up_to_half)]
    resign: Option<f32>,
    /// Capture dead stones before passing, under area scoring
    #[arg(long)]
    capture_dead: bool,
    /// Play like a person of this rank, 30k to 9d: the engine chooses moves that look natural to the network, some of
    /// which lose as much as mistakes of that rank. Moves come from the small built-in network with the visits of the
    /// rank, whatever --visits, --threads or --model say. A human-play network uses its profile of the rank instead.
    /// With auto, or auto:8k to begin at 8k, the rank falls after a won game and rises after a lost one
    #[arg(long, value_name = "RANK", conflicts_with = "no_model", value_parser = options::rank)]
    rank: Option<RankSetting>,
    /// Set a parameter of kata-list-params, such as cpuctExploration=1.2; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = Setting::parse)]
    set: Vec<Setting>,
    #[command(flatten)]
    model: ModelArguments,
}

impl EngineArguments {
    /// Makes the processor the device if the options name none, for results that others must be able to reproduce.
    pub(super) fn prefer_processor(mut self) -> EngineArguments {
        self.model.prefer_processor();
        self
    }

    /// Loads the network, or returns `None` with `--no-model`.
    ///
    /// # Errors
    ///
    /// Returns an error if the named file cannot be used.
    pub(super) fn network(&self) -> anyhow::Result<Option<Arc<Network>>> {
        self.model.load_or(self.usual_network())
    }

    /// Loads the network like [`network`](Self::network), but with the processor as the device if the options name
    /// none.
    ///
    /// # Errors
    ///
    /// Returns an error if the named file cannot be used.
    pub(super) fn repeatable_network(&self) -> anyhow::Result<Option<Arc<Network>>> {
        let mut model = self.model.clone();
        model.prefer_processor();
        model.load_or(self.usual_network())
    }

    /// Returns the built-in network that is used if the options name none.
    fn usual_network(&self) -> BuiltIn {
        // Ranks play with the small network. A second network would only serve analyses.
        if self.rank.is_some() { BuiltIn::Small } else { BuiltIn::default() }
    }

    /// Returns the settings that the options give, with `defaults` for options that are not given. The default limit on
    /// playouts applies only if no other limit is given.
    pub(super) fn settings_or(&self, defaults: EngineSettings) -> EngineSettings {
        let memory = self.memory.and_then(|memory| usize::try_from(memory).ok());
        let is_unlimited = self.visits.is_none() && self.time.is_none();
        let mut settings = EngineSettings {
            threads: self.threads.map_or(defaults.threads, usize::from),
            memory_mebibytes: memory.unwrap_or(defaults.memory_mebibytes),
            visits: self.visits.or(defaults.visits),
            playouts: self.playouts.or(defaults.playouts.filter(|_| is_unlimited)),
            move_time: self.time.or(defaults.move_time),
            lag_reserve: self.lag.unwrap_or(defaults.lag_reserve),
            seed: self.seed,
            sharing: if self.tree { NodeSharing::Tree } else { NodeSharing::Graph },
            strict: self.strict,
            rules: self.rules.unwrap_or(defaults.rules),
            komi: self.komi.or(defaults.komi),
            resign: match self.resign {
                _ if self.never_resign => None,
                // Converts a win rate in percent to a value in [−1, 1].
                Some(percent) => Some(percent / 50.0 - 1.0),
                None => defaults.resign,
            },
            network: self.model.settings_or(defaults.network),
            capture_dead: self.capture_dead,
            rank: self.rank.or(defaults.rank),
            ..defaults
        };
        self.set.iter().for_each(|setting| setting.apply(&mut settings));
        settings
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Some((world, link)) = World::join()? else {
        return serve(arguments, engine(arguments, None)?);
    };
    // Ranks may share machines. Only the user knows how many threads each rank may use.
    let (threads, count) = (1, world.ranks());
    let rank = world.rank();
    let part = |link: RankLink, is_one_gone: Option<Arc<AtomicBool>>| {
        let mut engine = engine(arguments, Some(threads))?;
        ranks::check_processors(rank, engine.settings().threads);
        let is_spread = engine.search().evaluator().network().is_some();
        let Some(is_one_gone) = is_one_gone else {
            return if is_spread { Ok(engine.serve_ranks(link)?) } else { Ok(()) };
        };
        let on_loss = move |why: &ClusterError| {
            is_one_gone.store(true, Ordering::Relaxed);
            warn(&format!("{why}: this process searches alone from now on"));
        };
        match engine.spread_over(link, placement()?, Box::new(on_loss)) {
            true => warn(&format!("searches with {count} ranks")),
            false => warn("playouts are not spread over ranks: this process searches alone"),
        }
        serve(arguments, engine)
    };
    ranks::run_rank(world, link, part).map(Option::unwrap_or_default)
}

/// Returns the placement of nodes in a search over ranks, as the environment sets it.
fn placement() -> anyhow::Result<Placement> {
    match env::var(PLACEMENT_VARIABLE).as_deref() {
        Err(_) => Ok(Placement::Auto),
        Ok("hashed") => Ok(Placement::Hashed),
        Ok("central") => Ok(Placement::Central),
        Ok(other) => bail!("{PLACEMENT_VARIABLE} is '{other}'; it can be hashed or central"),
    }
}

/// Environment variable that sets the placement of nodes, for measurements.
const PLACEMENT_VARIABLE: &str = "KOSUMI_PLACEMENT";

/// Builds the engine of the command line. `threads` is the number of threads if no option sets it. `None` means as many
/// as keep the network's device or the processors busy.
fn engine(arguments: &Arguments, threads: Option<usize>) -> anyhow::Result<Engine> {
    let network = arguments.engine.network()?;
    let threads = threads.or_else(|| device::threads(network.as_deref())).unwrap_or_else(processors);
    let defaults = EngineSettings { threads, ..EngineSettings::default() };
    let configured = arguments.katago.settings_or(defaults)?;
    configured.notes.iter().for_each(|note| warn(note));
    let settings = arguments.engine.settings_or(arguments.human.settings_or(configured.settings));
    let settings = EngineSettings { ponder: settings.ponder || arguments.ponder, ..settings };
    let human = arguments.human.network(&arguments.engine, network.as_deref())?;
    let mut engine = Engine::with_network(settings, network);
    if let Some(human) = human {
        engine.set_human_network(human);
    }
    if let Some(size) = arguments.boardsize.or(configured.size) {
        engine.set_size(size);
    }
    Ok(engine)
}

/// Serves GTP until the end of the input or `quit`.
fn serve(arguments: &Arguments, mut engine: Engine) -> anyhow::Result<()> {
    let resumed = resume(arguments, &mut engine)?;
    let autosave = match &arguments.autosave {
        Some(folder) => Some(Autosave::open(folder, &engine, resumed.as_deref(), warn)?),
        None => None,
    };
    let mut log = arguments.log.as_deref().map(|path| match path == Path::new("-") {
        true => Log::to(terminal::stderr(), warn),
        false => Log::open(path, warn),
    });
    if let Some(log) = &mut log {
        let words: Vec<String> = std::env::args().collect();
        log.add(&format!("Kosumi {}: {}", env!("CARGO_PKG_VERSION"), words.join(" ")));
    }
    // Errors are ignored, because a closed standard error has no reader.
    let draw = |picture: &str| io::stderr().write_all(picture.as_bytes()).unwrap_or_default();
    let note = |note: &str| writeln!(terminal::stderr(), "{note}").unwrap_or_default();
    let (name, version) = arguments.compatible.gtp_identity();
    let version = arguments.override_version.clone().map_or(version.into(), Cow::Owned);
    let commands = Commands::new(engine)
        .with_identity(name, version)
        .with_live_graphics(arguments.live_graphics, Box::new(draw))
        .with_notes(note)
        .with_date(|| Some(today()));
    super::shell::greet();
    let mut served = RecordedCommands::new(commands, autosave, log);
    let (input, output) = (Blocking(io::stdin()), Blocking(io::stdout()));
    kosumi_gtp::serve_until(input, output, &mut served, wait_until_unread)?;
    Ok(())
}

/// Loads the game that `--resume` names into the engine, and returns the path of its file.
fn resume(arguments: &Arguments, engine: &mut Engine) -> anyhow::Result<Option<PathBuf>> {
    let found = match (&arguments.resume, &arguments.autosave) {
        (None, _) => return Ok(None),
        (Some(Some(file)), _) => Some((file.clone(), read_game(file)?)),
        (Some(None), Some(folder)) => newest(folder).context("cannot resume")?,
        (Some(None), None) => bail!("--resume needs a file, or the folder of --autosave"),
    };
    let Some((path, record)) = found else {
        warn("no unfinished game to resume");
        return Ok(None);
    };
    let name = path.display();
    let warnings = engine.restore(&record).with_context(|| format!("cannot resume {name}"))?;
    warnings.iter().for_each(|warning| warn(&format!("{name}: {warning}")));
    warn(&format!("resumes {name} after move {}", engine.game().records().len()));
    Ok(Some(path))
}
