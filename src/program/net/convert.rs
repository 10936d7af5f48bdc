//! `kosumi net convert`: conversion of network files.

use super::super::options;
use super::format::Format;
use anyhow::Context as _;
use clap::Args;
use kosumi_net::{BuiltIn, Network};
use std::path::PathBuf;

/// Convert a network file; for instance, write the built-in network for KataGo
#[derive(Debug, Args)]
#[command(after_help = "\
KataGo can read the output. Weights are written as 32-bit floats; quantised
weights of a compact file are multiplied by their scales.

Examples:
  kosumi net convert -o kosumi.bin.gz                 the built-in network, for KataGo
  kosumi net convert --network small -o small.txt
  kosumi net convert b6c96.bin.gz -o b6c96.txt.gz")]
pub(super) struct Arguments {
    /// Network: .bin.gz, .txt.gz, .bin, .txt, or compact [default: the built-in one]
    #[arg(conflicts_with = "network")]
    file: Option<PathBuf>,
    /// Name of the built-in network: large or small [default: large]
    #[arg(long, value_name = "NAME", value_parser = options::built_in)]
    network: Option<BuiltIn>,
    /// Output file; its name must end in .bin.gz, .txt.gz, .bin or .txt
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let format = Format::of(&arguments.output)?;
    let network = match &arguments.file {
        Some(path) => Network::open(path).with_context(|| path.display().to_string())?,
        None => Network::built_in(arguments.network.unwrap_or_default()).context("the built-in network")?,
    };
    format.write(&network, &arguments.output)
}
