//! Parsing of the engines of a match on the command line.

use super::gtp::{EngineArguments, HumanPlayArguments};
use clap::Parser;
use kosumi_engine::EngineSettings;
use kosumi_tools::matches::Contender;

/// Options of `kosumi gtp`, parsed from the text behind `builtin:`.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct BuiltIn {
    #[command(flatten)]
    engine: EngineArguments,
    #[command(flatten)]
    human: HumanPlayArguments,
}

/// Memory of a built-in engine whose options do not set it, in MiB.
///
/// In a match several engines play at the same time, so each gets little memory and one thread. With one thread,
/// moreover, results do not depend on the load of the machine.
const MEMORY_MEBIBYTES: usize = 128;

/// Parses `builtin` with options, or the command line of a GTP engine.
///
/// ```text
/// builtin
/// builtin:playouts=500,tree
/// builtin:human-model=human.bin.gz,profile=rank_5k
/// kosumi gtp --playouts 500 --tree
/// ```
///
/// The text after `builtin:` consists of options of `kosumi gtp` without their dashes, separated by commas.
pub(super) fn parse(text: &str) -> Result<Contender, String> {
    let options = match text.trim().strip_prefix("builtin") {
        Some("") => Some(""),
        Some(rest) => rest.strip_prefix(':'),
        None => None,
    };
    match options {
        Some(options) => built_in(text, options),
        None => Contender::child(text),
    }
}

/// Builds a built-in engine from the options after `builtin:`.
fn built_in(text: &str, options: &str) -> Result<Contender, String> {
    let options: Vec<&str> = options.split(',').map(str::trim).filter(|option| !option.is_empty()).collect();
    let words = options.iter().map(|option| format!("--{option}"));
    match BuiltIn::try_parse_from(words) {
        Ok(BuiltIn { engine, human }) => {
            let parsed = BuiltIn { engine: engine.prefer_processor(), human };
            let as_text = |error: anyhow::Error| format!("{error:#}");
            let network = parsed.engine.network().map_err(as_text)?;
            let human = parsed.human.network(&parsed.engine, network.as_deref()).map_err(as_text)?;
            let defaults = EngineSettings {
                threads: 1,
                memory_mebibytes: MEMORY_MEBIBYTES,
                ..EngineSettings::default()
            };
            let settings = parsed.engine.settings_or(parsed.human.settings_or(defaults));
            Ok(Contender::built_in(text, settings, network).with_human_network(human))
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
    use kosumi_go::graph_key::NodeSharing;

    #[test]
    fn the_built_in_engine() {
        let settings = |text: &str| *parse(text).unwrap().settings().unwrap();
        let plain = settings("builtin");
        assert_eq!((plain.threads, plain.memory_mebibytes, plain.seed), (1, 128, 1));
        let options = "builtin:playouts=500, seed=3,threads=2,tree";
        let contender = parse(options).unwrap();
        assert!(contender.is_built_in() && contender.text == options);
        let settings = settings(options);
        assert_eq!((settings.playouts, settings.threads, settings.seed), (Some(500), 2, 3));
        assert_eq!(settings.sharing, NodeSharing::Tree);
        for bad in [
            "builtin:playout=5",
            "builtin:playouts=x",
            "builtin:playouts",
            "builtin:model=/no/such",
            "builtin:human-model=/no/such",
            "builtin:profile=rank_5k",
        ] {
            let message = parse(bad).unwrap_err();
            assert!(!message.is_empty() && !message.contains('\n'), "{bad}: {message}");
        }
    }

    #[test]
    fn a_rank_loads_the_small_network_unless_one_is_named() {
        let channels = |words: &[&str]| {
            let parsed = BuiltIn::try_parse_from(words).unwrap();
            parsed.engine.network().unwrap().unwrap().channels()
        };
        let large = channels(&["--network", "large"]);
        let small = channels(&["--network", "small"]);
        assert_ne!(large, small);
        assert_eq!(channels(&["--rank", "9k"]), small);
        assert_eq!(channels(&["--rank", "9k", "--network", "large"]), large);
    }

    #[test]
    fn players_can_play_like_people() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("human.bin.gz");
        let options = kosumi_net::random::Options {
            version: 15,
            has_metadata_encoder: true,
            ..kosumi_net::random::Options::default()
        };
        let network = kosumi_net::random::network(&options).unwrap();
        network.write(kosumi_net::Encoding::Binary, std::fs::File::create(&path).unwrap()).unwrap();
        let contender = parse(&format!("builtin:no-model,human-model={},profile=rank_5k", path.display()));
        assert!(contender.unwrap_err().contains("cannot be used with"), "human-like play needs a network");
        let contender = parse(&format!(
            "builtin:human-model={},profile=rank_5k,set=chosenMoveTemperature=0.5",
            path.display()
        ))
        .unwrap();
        let settings = contender.settings().unwrap();
        assert_eq!(settings.network.profile, Some("rank_5k".parse().unwrap()));
        assert_eq!((settings.human.chosen_move_share, settings.human.temperature), (1.0, 0.5));
    }

    #[test]
    fn other_words_are_command_lines() {
        assert!(!parse("builtin-engine").unwrap().is_built_in());
        assert!(parse("").is_err());
    }
}
