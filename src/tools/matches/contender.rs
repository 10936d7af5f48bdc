//! Engines of a match that have not been started.

use super::link::EngineLink;
use crate::commands::Commands;
use crate::players::{Engines, InProcessEngines};
use crate::ranks::disable_ranks_in;
use crate::system::protect_from_interrupts;
use kosumi_engine::{Engine, EngineSettings};
use kosumi_gtp::{Client, split_command_line};
use kosumi_net::Network;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// Engine of the match: the built-in one with its settings, or a command line. The built-in engine runs in this
/// process, which avoids starting another process. A panic in it ends only that engine.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Text on the command line.
    pub text: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// The built-in engine. All games share its networks.
    BuiltIn {
        settings: Box<EngineSettings>,
        network: Option<Arc<Network>>,
        human: Option<Arc<Network>>,
    },
    Child {
        program: String,
        arguments: Vec<String>,
    },
    #[cfg(test)]
    Simulated(super::simulation::SimulatedEngines),
}

impl Contender {
    /// Creates the built-in engine. `text` is its name in the log.
    pub fn built_in(text: &str, settings: EngineSettings, network: Option<Arc<Network>>) -> Contender {
        let settings = Box::new(settings);
        Contender { text: text.to_owned(), kind: Kind::BuiltIn { settings, network, human: None } }
    }

    /// Returns the engine with a second network, one of human play, if it is the built-in engine. Returns other engines
    /// unchanged.
    #[must_use]
    pub fn with_human_network(mut self, network: Option<Arc<Network>>) -> Contender {
        if let Kind::BuiltIn { human, .. } = &mut self.kind {
            *human = network;
        }
        self
    }

    /// Creates an engine that runs as a child process.
    ///
    /// # Errors
    ///
    /// Returns a message if the command line cannot be split into words.
    pub fn child(command_line: &str) -> Result<Contender, String> {
        let mut words = split_command_line(command_line).map_err(|error| error.to_string())?.into_iter();
        let kind = Kind::Child { program: words.next().unwrap_or_default(), arguments: words.collect() };
        Ok(Contender { text: command_line.to_owned(), kind })
    }

    /// Returns the settings of the built-in engine; `None` for other engines.
    pub fn settings(&self) -> Option<&EngineSettings> {
        match &self.kind {
            Kind::BuiltIn { settings, .. } => Some(settings),
            _ => None,
        }
    }

    /// Returns whether this is the built-in engine.
    pub fn is_built_in(&self) -> bool {
        matches!(self.kind, Kind::BuiltIn { .. })
    }

    /// Returns the seed in the settings of the built-in engine. It is mixed with the seed of each game.
    pub(super) fn seed(&self) -> u64 {
        self.settings().map_or(0, |settings| settings.seed)
    }

    /// Creates a simulated engine.
    #[cfg(test)]
    pub(super) fn simulated(text: &str, engines: super::simulation::SimulatedEngines) -> Contender {
        Contender { text: text.to_owned(), kind: Kind::Simulated(engines) }
    }

    /// Starts the engine.
    pub(super) fn start(&self) -> anyhow::Result<EngineLink> {
        match &self.kind {
            Kind::BuiltIn { settings, network, human } => {
                let (settings, network, human) = (**settings, network.clone(), human.clone());
                let make = move |_: &Path| {
                    let mut engine = Engine::with_network(settings, network.clone());
                    if let Some(human) = &human {
                        engine.set_human_network(human.clone());
                    }
                    Commands::new(engine)
                };
                let engines = InProcessEngines { make };
                let player = engines.start(Path::new("")).map_err(anyhow::Error::msg)?;
                Ok(EngineLink::Local(player))
            }
            Kind::Child { program, arguments } => {
                let mut command = Command::new(program);
                command.args(arguments);
                disable_ranks_in(&mut command);
                // ^C is meant for the match, which lets running games finish.
                protect_from_interrupts(&mut command);
                Ok(EngineLink::Child(Box::new(Client::spawn_command(command)?)))
            }
            #[cfg(test)]
            Kind::Simulated(engines) => engines.start(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines() {
        let contender = Contender::child("kosumi gtp --playouts '5'").unwrap();
        let Kind::Child { program, arguments } = contender.kind else { panic!("built in") };
        assert_eq!(
            (program.as_str(), arguments),
            ("kosumi", vec!["gtp".into(), "--playouts".into(), "5".into()])
        );
        assert!(Contender::child("").is_err() && Contender::child("a 'b").is_err());
    }
}
