//! `kosumi gtp`.

use super::model::ModelArguments;
use super::options;
use crate::board::BoardSize;
use crate::commands::{Commands, LiveGraphics};
use crate::engine::{Engine, EngineSettings};
use crate::graph_key::Sharing;
use crate::net::Network;
use crate::rules::Rules;
use clap::Args;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

/// Speak the Go Text Protocol on standard input and output
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kosumi                            5 seconds a move, unless the controller sets a clock
  kosumi gtp --time 1 --threads 2   1 second a move, two threads
  kosumi gtp --playouts 5000        the same strength on every machine
  kosumi gtp --rules cgos           captures dead stones before it passes

The command kosumi-help lists what the engine understands.")]
pub(super) struct Arguments {
    #[command(flatten)]
    engine: EngineArguments,
    /// Size of the board at the start: 19, or WIDTHxHEIGHT
    #[arg(long, value_name = "SIZE", default_value = "19", value_parser = options::board_size)]
    boardsize: BoardSize,
    /// Draw searches for GoGui on the standard error: none, visits, winrates, variation or ownership
    #[arg(long, value_name = "WHAT", default_value = "none", value_parser = options::live_graphics)]
    live_graphics: LiveGraphics,
}

/// How the engine plays
#[derive(Debug, Args)]
pub(super) struct EngineArguments {
    /// Search threads [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Memory for search results, in MiB, fixed at the start [default: 512]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..))]
    memory: Option<u32>,
    /// Most visits of the position a move, those kept from the search before included
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    visits: Option<u32>,
    /// Most simulations a move
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    playouts: Option<u32>,
    /// Most time a move, in seconds [default: 5 without any other limit and without a clock]
    #[arg(long, value_name = "SECONDS", value_parser = options::seconds)]
    time: Option<Duration>,
    /// Time kept back from the clock for every move, in seconds [default: 0.25]
    #[arg(long, value_name = "SECONDS", value_parser = options::seconds)]
    lag: Option<Duration>,
    /// Number that decides all chance
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Rules at the start: chinese-kgs, tromp-taylor, cgos, chinese, japanese, aga, new-zealand, ...
    #[arg(long, value_name = "NAME", default_value = "chinese-kgs", value_parser = options::rules)]
    rules: Rules,
    /// Points for White at the start [default: what is usual with the rules]
    #[arg(long, value_name = "POINTS", allow_hyphen_values = true, value_parser = options::points)]
    komi: Option<f32>,
    /// Refuse moves that break the rules, instead of following the controller
    #[arg(long)]
    strict: bool,
    /// Search a tree: share nothing between different orders of the same moves
    #[arg(long)]
    tree: bool,
    /// Play lost games to their end
    #[arg(long)]
    never_resign: bool,
    /// Take dead stones off the board before passing, where area counts
    #[arg(long)]
    capture_dead: bool,
    #[command(flatten)]
    model: ModelArguments,
}

impl EngineArguments {
    /// The engine that these options describe.
    ///
    /// # Errors
    /// If the network cannot be used.
    pub(super) fn engine(&self) -> anyhow::Result<Engine> {
        Ok(Engine::with_network(self.settings_or(EngineSettings::default()), self.network()?))
    }

    /// The network, if there is one.
    ///
    /// # Errors
    /// If the file that was named cannot be used.
    pub(super) fn network(&self) -> anyhow::Result<Option<Arc<Network>>> {
        self.model.load()
    }

    /// The settings, with these where nothing is said; their limit on playouts, where no limit is.
    pub(super) fn settings_or(&self, defaults: EngineSettings) -> EngineSettings {
        let memory = self.memory.and_then(|memory| usize::try_from(memory).ok());
        let is_unlimited = self.visits.is_none() && self.time.is_none();
        EngineSettings {
            threads: self.threads.map_or(defaults.threads, usize::from),
            memory_mebibytes: memory.unwrap_or(defaults.memory_mebibytes),
            visits: self.visits,
            playouts: self.playouts.or(defaults.playouts.filter(|_| is_unlimited)),
            move_time: self.time,
            lag_reserve: self.lag.unwrap_or(defaults.lag_reserve),
            seed: self.seed,
            sharing: if self.tree { Sharing::Tree } else { Sharing::Graph },
            strict: self.strict,
            rules: self.rules,
            komi: self.komi,
            network: self.model.settings_or(defaults.network),
            resign: if self.never_resign { None } else { defaults.resign },
            capture_dead: self.capture_dead,
            ..defaults
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut engine = arguments.engine.engine()?;
    engine.set_size(arguments.boardsize);
    // Whoever closed the standard error does not look.
    let draw = |picture: &str| io::stderr().write_all(picture.as_bytes()).unwrap_or_default();
    let mut commands = Commands::new(engine).with_live_graphics(arguments.live_graphics, Box::new(draw));
    kosumi_gtp::serve(io::stdin(), io::stdout(), &mut commands)?;
    Ok(())
}
