//! What the command line says about an engine.

use crate::cli::gtp::EngineArguments;
use crate::commands::Commands;
use crate::engine::{Engine, EngineSettings};
use crate::net::Network;
use crate::regress::{Engines, Threads};
use clap::Parser;
use kosumi_gtp::{Client, split_command_line};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use super::player::Link;

/// An engine of the match: the built-in one with its options, or a command line.
///
/// ```text
/// builtin
/// builtin:playouts=500,tree
/// kosumi gtp --playouts 500 --tree
/// ```
///
/// Behind `builtin:` stand the options of `kosumi gtp` without their dashes. The built-in engine plays in this process,
/// which saves starting another; a panic ends only it.
#[derive(Clone, Debug)]
pub(super) struct Contender {
    /// As given.
    pub(super) text: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// All games share the network.
    BuiltIn {
        settings: EngineSettings,
        network: Option<Arc<Network>>,
    },
    Child {
        program: String,
        arguments: Vec<String>,
    },
}

/// The options of `kosumi gtp`, read from words.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct BuiltIn {
    #[command(flatten)]
    engine: EngineArguments,
}

/// Memory of the built-in engine where its options do not say. Several play at once in a match. For the same reason it
/// has one thread; and what one thread finds does not depend on how busy the machine is.
const MEMORY_MEBIBYTES: usize = 128;

impl Contender {
    pub(super) fn parse(text: &str) -> Result<Contender, String> {
        let options = match text.trim().strip_prefix("builtin") {
            Some("") => Some(""),
            Some(rest) => rest.strip_prefix(':'),
            None => None,
        };
        let kind = match options {
            Some(options) => built_in(options)?,
            None => {
                let mut words = split_command_line(text).map_err(|error| error.to_string())?.into_iter();
                Kind::Child { program: words.next().unwrap_or_default(), arguments: words.collect() }
            }
        };
        Ok(Contender { text: text.to_owned(), kind })
    }

    pub(super) fn is_built_in(&self) -> bool {
        matches!(self.kind, Kind::BuiltIn { .. })
    }

    /// The seed among the options of the built-in engine; every game's seed is mixed with it.
    pub(super) fn seed(&self) -> u64 {
        match &self.kind {
            Kind::BuiltIn { settings, .. } => settings.seed,
            Kind::Child { .. } => 0,
        }
    }

    /// Starts it.
    pub(super) fn start(&self) -> anyhow::Result<Link> {
        match &self.kind {
            Kind::BuiltIn { settings, network } => {
                let (settings, network) = (*settings, network.clone());
                let make = move |_: &Path| Commands::new(Engine::with_network(settings, network.clone()));
                let engines = Threads { make };
                let player = engines.start(Path::new("")).map_err(anyhow::Error::msg)?;
                Ok(Link::Local(player))
            }
            Kind::Child { program, arguments } => {
                let mut command = Command::new(program);
                command.args(arguments);
                // A ^C at the terminal goes to the whole group of processes in front. It is meant for the match, which
                // lets the games come to an end, and would otherwise kill the engines as well.
                #[cfg(unix)]
                std::os::unix::process::CommandExt::process_group(&mut command, 0);
                Ok(Link::Child(Client::spawn_command(command)?))
            }
        }
    }
}

/// What the options behind `builtin:` mean.
fn built_in(options: &str) -> Result<Kind, String> {
    let options: Vec<&str> = options.split(',').map(str::trim).filter(|option| !option.is_empty()).collect();
    let words = options.iter().map(|option| format!("--{option}"));
    match BuiltIn::try_parse_from(words) {
        Ok(parsed) => {
            let network = parsed.engine.network().map_err(|error| format!("{error:#}"))?;
            let defaults = EngineSettings {
                threads: 1,
                memory_mebibytes: MEMORY_MEBIBYTES,
                ..EngineSettings::default()
            };
            Ok(Kind::BuiltIn { settings: parsed.engine.settings_or(defaults), network })
        }
        Err(error) => {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default();
            Err(first.strip_prefix("error: ").unwrap_or(first).to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph_key::Sharing;

    #[test]
    fn the_built_in_engine() {
        let settings = |text: &str| match Contender::parse(text).unwrap().kind {
            Kind::BuiltIn { settings, .. } => settings,
            Kind::Child { .. } => panic!("a child: {text}"),
        };
        let plain = settings("builtin");
        assert_eq!((plain.threads, plain.memory_mebibytes, plain.seed), (1, 128, 1));
        let options = "builtin:playouts=500, seed=3,threads=2,tree";
        let contender = Contender::parse(options).unwrap();
        assert!(contender.is_built_in() && contender.seed() == 3 && contender.text == options);
        let settings = settings(options);
        assert_eq!((settings.playouts, settings.threads), (Some(500), 2));
        assert_eq!(settings.sharing, Sharing::Tree);
        for bad in ["builtin:playout=5", "builtin:playouts=x", "builtin:playouts", "builtin:model=/no/such"] {
            let message = Contender::parse(bad).unwrap_err();
            assert!(!message.is_empty() && !message.contains('\n'), "{bad}: {message}");
        }
    }

    #[test]
    fn command_lines() {
        let contender = Contender::parse("kosumi gtp --playouts '5'").unwrap();
        let Kind::Child { program, arguments } = contender.kind else { panic!("built in") };
        assert_eq!(
            (program.as_str(), arguments),
            ("kosumi", vec!["gtp".into(), "--playouts".into(), "5".into()])
        );
        assert!(!Contender::parse("builtin-engine").unwrap().is_built_in());
        assert!(Contender::parse("").is_err() && Contender::parse("a 'b").is_err());
    }
}
