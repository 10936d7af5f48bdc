//! `kosumi play`: a board in the browser.

use super::device;
use super::model::ModelArguments;
use super::options;
use anyhow::{Context, ensure};
use clap::Args;
use kosumi_engine::{Engine, EngineSettings};
use kosumi_go::board::BoardSize;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::collection::RECORD_LIMIT;
use kosumi_net::BuiltIn;
use kosumi_tools::browser::{self, EnginePurpose, InitialTable, MakeEngine, ServerSettings};
use kosumi_tools::files::read_regular;
use kosumi_tools::session::today;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// Options of the server
#[derive(Clone, Debug, Args)]
pub(super) struct ServerArguments {
    /// Port to listen on; 0 chooses a free port
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Address to listen on. Anybody who can reach it and knows the full address of the page can play. Nothing is
    /// encrypted, so choose another address only in a network that you trust
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,
    /// Secret part of the address; a fixed one lets an open page reconnect after a restart [default: a random one]
    #[arg(long, value_name = "WORD", env = "KOSUMI_TOKEN", hide_env_values = true, value_parser = token)]
    token: Option<String>,
    /// Print the address without opening the browser
    #[arg(long)]
    no_open: bool,
}

/// Options of the engine of the page
#[derive(Debug, Args)]
pub(super) struct PageEngineArguments {
    /// Number of search threads [default: number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Memory for search results, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..))]
    memory: u32,
    /// Seed of all random numbers [default: a new one at every start]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    model: ModelArguments,
}

/// Play on a board in the browser
#[derive(Debug, Args)]
#[command(after_help = "\
Starts a server that only this machine can reach, and opens the browser. The
browser saves a game as SGF when you ask for it. Ctrl-C stops the server.

Examples:
  kosumi play                                   a board of 9x9
  kosumi play --boardsize 19                    a large one
  kosumi play game.sgf                          continues a game
  kosumi play --engine \"gnugo --mode gtp\"       another engine to choose as a player
  kosumi play --no-open --port 8123             prints the address alone")]
pub(super) struct Arguments {
    /// Game record to continue
    #[arg(value_name = "GAME.sgf")]
    file: Option<PathBuf>,
    /// Load the part of the record before its first error, if it has one
    #[arg(long, requires = "file")]
    partial: bool,
    /// Size of the board at the start: 9, or WIDTHxHEIGHT
    #[arg(long, value_name = "SIZE", default_value = "9", value_parser = options::board_size)]
    boardsize: BoardSize,
    /// Rules at the start: chinese-kgs, japanese, aga, new-zealand, ...
    #[arg(long, value_name = "NAME", default_value = "chinese-kgs", value_parser = options::rules)]
    rules: Rules,
    /// Points for White at the start [default: usual komi of the rules]
    #[arg(long, value_name = "POINTS", allow_hyphen_values = true, value_parser = options::points)]
    komi: Option<f32>,
    /// Command line of another GTP engine that can be chosen as a player; may be repeated
    #[arg(long = "engine", value_name = "COMMAND")]
    engines: Vec<String>,
    #[command(flatten)]
    server: ServerArguments,
    #[command(flatten)]
    behind: PageEngineArguments,
}

/// Parses a secret that can be part of an address.
fn token(text: &str) -> Result<String, String> {
    let is_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_long = (16..=128).contains(&text.len());
    (is_word && is_long).then(|| text.to_owned()).ok_or_else(|| "not 16 to 128 letters and digits".to_owned())
}

impl ServerArguments {
    /// Returns the settings of the server. `make` creates its engines.
    pub(super) fn setup(&self, make: MakeEngine) -> ServerSettings {
        ServerSettings {
            address: SocketAddr::new(self.listen, self.port),
            token: self.token.clone(),
            make,
            today,
        }
    }

    /// Prints the address of the page and opens it in the browser.
    pub(super) fn announce(&self, url: &str, once: &str) {
        // The server must run even if the standard output is closed.
        let _ = writeln!(io::stdout(), "{url}");
        let _ = io::stdout().flush();
        if !self.no_open {
            open_browser(once);
        }
    }
}

impl PageEngineArguments {
    /// Returns the function that creates the engines of the page.
    ///
    /// # Errors
    ///
    /// Returns an error if the network cannot be used.
    pub(super) fn engine(&self, rules: Rules) -> anyhow::Result<MakeEngine> {
        // Ranks, and levels with few visits, were calibrated with the small network.
        let (best, of_levels) = (self.model.load()?, self.model.load_or(BuiltIn::Small)?);
        let defaults = EngineSettings::default();
        let threads = device::threads(best.as_deref()).unwrap_or(defaults.threads);
        let seed = self.seed.map_or_else(options::random_seed, Ok)?;
        let settings = EngineSettings {
            threads: self.threads.map_or(threads, usize::from),
            memory_mebibytes: usize::try_from(self.memory).unwrap_or(defaults.memory_mebibytes),
            seed,
            rules,
            network: self.model.settings_or(defaults.network),
            ..defaults
        };
        // Both engines share the memory, and searches for levels need little.
        let for_levels = (settings.memory_mebibytes / 8).clamp(1, 32);
        let for_best = settings.memory_mebibytes.saturating_sub(for_levels).max(1);
        Ok(Arc::new(move |purpose| {
            let (network, memory_mebibytes) = match purpose {
                EnginePurpose::Best => (&best, for_best),
                EnginePurpose::Level => (&of_levels, for_levels),
            };
            Engine::with_network(EngineSettings { memory_mebibytes, ..settings }, network.clone())
        }))
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    ensure!(arguments.engines.len() <= 16, "more than 16 engines");
    let record = match &arguments.file {
        Some(file) => {
            let bytes = read_regular(file, RECORD_LIMIT as u64)
                .with_context(|| format!("cannot read {}", file.display()))?;
            Some(bytes)
        }
        None => None,
    };
    let first = InitialTable {
        size: arguments.boardsize,
        rules: arguments.rules,
        komi: arguments.komi.unwrap_or(arguments.rules.usual_komi()),
        record,
        is_partial: arguments.partial,
        engines: arguments.engines.clone(),
    };
    let make = arguments.behind.engine(arguments.rules)?;
    let server = &arguments.server;
    browser::play(server.setup(make), &first, &mut |url, once| server.announce(url, once))?;
    Ok(())
}

/// Opens an address in the user's browser, if this machine has one.
fn open_browser(address: &str) {
    let program: &[&str] = if cfg!(target_os = "macos") {
        &["open"]
    } else if cfg!(windows) {
        &["rundll32", "url.dll,FileProtocolHandler"]
    } else {
        &["xdg-open"]
    };
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).arg(address);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut child) = command.spawn() {
        // The launcher may run until the browser is closed, so a thread waits for it.
        let _ = std::thread::Builder::new().name("browser".to_owned()).spawn(move || child.wait());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_can_stand_in_addresses() {
        assert!(token("0123456789abcdef").is_ok());
        for text in ["", "short", "0123456789abcde/", "0123456789abcdéf"] {
            assert!(token(text).is_err(), "{text}");
        }
    }
}
