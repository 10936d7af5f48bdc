//! What the command line says about an engine.

use crate::cli::gtp::EngineArguments;
use crate::commands::Commands;
use crate::engine::{Engine, EngineSettings};
use crate::regress::{Engines, Threads};
use clap::Parser;
use kosumi_gtp::{Client, split_command_line};
use std::path::Path;
use std::process::Command;

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
    BuiltIn(EngineSettings),
    Child { program: String, arguments: Vec<String> },
}

/// The options of `kosumi gtp`, read from words.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct BuiltIn {
    #[command(flatten)]
    engine: EngineArguments,
}

/// Threads and memory of the built-in engine where its options do not say: several play at once in a match, and what
/// one thread finds does not depend on how busy the machine is.
const THREADS: &str = "1";
const MEMORY_MEBIBYTES: &str = "128";

impl Contender {
    pub(super) fn parse(text: &str) -> Result<Contender, String> {
        let options = match text.trim().strip_prefix("builtin") {
            Some("") => Some(""),
            Some(rest) => rest.strip_prefix(':'),
            None => None,
        };
        let kind = match options {
            Some(options) => Kind::BuiltIn(settings(options)?),
            None => {
                let mut words = split_command_line(text).map_err(|error| error.to_string())?.into_iter();
                Kind::Child { program: words.next().unwrap_or_default(), arguments: words.collect() }
            }
        };
        Ok(Contender { text: text.to_owned(), kind })
    }

    pub(super) fn is_built_in(&self) -> bool {
        matches!(self.kind, Kind::BuiltIn(_))
    }

    /// The seed among the options of the built-in engine; every game's seed is mixed with it.
    pub(super) fn seed(&self) -> u64 {
        match &self.kind {
            Kind::BuiltIn(settings) => settings.seed,
            Kind::Child { .. } => 0,
        }
    }

    /// Starts it.
    pub(super) fn start(&self) -> anyhow::Result<Link> {
        match &self.kind {
            Kind::BuiltIn(settings) => {
                let settings = *settings;
                let engines = Threads { make: move |_: &Path| Commands::new(Engine::new(settings)) };
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

/// The settings that the options behind `builtin:` mean.
fn settings(options: &str) -> Result<EngineSettings, String> {
    let options: Vec<&str> = options.split(',').map(str::trim).filter(|option| !option.is_empty()).collect();
    let is_given = |name: &str| options.iter().any(|option| option.split('=').next() == Some(name));
    let mut words: Vec<String> = options.iter().map(|option| format!("--{option}")).collect();
    for (name, value) in [("threads", THREADS), ("memory", MEMORY_MEBIBYTES)] {
        if !is_given(name) {
            words.push(format!("--{name}={value}"));
        }
    }
    match BuiltIn::try_parse_from(words) {
        Ok(parsed) => Ok(parsed.engine.settings()),
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
        let Kind::BuiltIn(plain) = Contender::parse("builtin").unwrap().kind else { panic!("a child") };
        assert_eq!((plain.threads, plain.memory_mebibytes, plain.seed), (1, 128, 1));
        let options = "builtin:playouts=500, seed=3,threads=2,tree";
        let contender = Contender::parse(options).unwrap();
        assert!(contender.is_built_in() && contender.seed() == 3 && contender.text == options);
        let Kind::BuiltIn(settings) = contender.kind else { panic!("a child") };
        assert_eq!((settings.playouts, settings.threads), (Some(500), 2));
        assert_eq!(settings.sharing, Sharing::Tree);
        for bad in ["builtin:playout=5", "builtin:playouts=x", "builtin:playouts", "builtin:--tree", "builtin:help"] {
            let message = Contender::parse(bad).unwrap_err();
            assert!(!message.is_empty() && !message.contains('\n'), "{bad}: {message}");
        }
    }

    #[test]
    fn command_lines() {
        let contender = Contender::parse("kosumi gtp --playouts '5'").unwrap();
        let Kind::Child { program, arguments } = contender.kind else { panic!("built in") };
        assert_eq!((program.as_str(), arguments), ("kosumi", vec!["gtp".into(), "--playouts".into(), "5".into()]));
        assert!(!Contender::parse("builtin-engine").unwrap().is_built_in());
        assert!(Contender::parse("").is_err() && Contender::parse("a 'b").is_err());
    }
}
