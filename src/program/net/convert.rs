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
KataGo can read the output, unless it is a file of 8 bits. Weights are written
as 32-bit floats; integers of a compact file or of one of 8 bits are multiplied
by their scales.

A file of 8 bits, .kosumi8, is for large networks on processors: a quarter of
the size, mapped into memory instead of read, and rounded already as the kernels
of int8 round when they load a network. It has the accuracy of 8 bits with every
kernel and precision. Convert it on a machine like the one that will use it.

Examples:
  kosumi net convert -o kosumi.bin.gz                 the built-in network, for KataGo
  kosumi net convert --network small -o small.txt
  kosumi net convert b6c96.bin.gz -o b6c96.txt.gz
  kosumi net convert b28c512nbt.bin.gz -o b28c512nbt.kosumi8    loads fast")]
pub(super) struct Arguments {
    /// Network: .bin.gz, .txt.gz, .bin, .txt, .kosumi8, or compact [default: the built-in one]
    #[arg(conflicts_with = "network")]
    file: Option<PathBuf>,
    /// Name of the built-in network: large or small [default: large]
    #[arg(long, value_name = "NAME", value_parser = options::built_in)]
    network: Option<BuiltIn>,
    /// Output file; its name must end in .bin.gz, .txt.gz, .bin, .txt or .kosumi8
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
