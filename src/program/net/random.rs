//! `kosumi net random`: creation of test networks.

use super::format::Format;
use clap::{Args, ValueEnum};
use kosumi_net::random::{self, AttentionShape, BlockKind, Options, RotaryKind, TrunkNormKind};
use kosumi_net::{Activation, architecture};
use std::path::PathBuf;

/// Create a small network with random weights, to test programs that read the format
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kosumi net random -o small.bin.gz
  kosumi net random --version 14 --blocks nested:2,nested-gpool --channels 32 --seed 7 -o nested.bin.gz
  kosumi net random --blocks ordinary:2,gpool,ordinary,gpool,ordinary --channels 96 -o like-b6c96.bin.gz
  kosumi net random --architecture b10c384h6nbttflrs-fson-silu-rsnh -o transformer.bin.gz
  kosumi net random --blocks nested-mixed,attention,ffn --heads 4 --key-heads 2 --rotary fixed --trunk-norm rms --activation silu --metadata --channels 32 -o all-kinds.txt")]
pub(super) struct Arguments {
    /// Version of the format, 8 to 17 [default: the oldest one that supports the network]
    #[arg(long, value_name = "V")]
    version: Option<u32>,
    /// KataGo's name of an architecture, which sets blocks, channels and all other parts, such as b18c384nbt-mish or
    /// b10c384h6nbttflrs-fson-silu-rsnh
    #[arg(long, value_name = "NAME", value_parser = architecture::options, conflicts_with_all =
        ["blocks", "channels", "activation", "heads", "key_heads", "key_width", "value_width", "rotary", "trunk_norm"])]
    architecture: Option<Options>,
    /// Blocks of the trunk: ordinary, gpool, nested, nested-gpool, attention, ffn, nested-transformer,
    /// nested-transformer3 or nested-mixed, each with an optional repeat count
    #[arg(long, value_name = "KIND[:N],...", default_value = "ordinary,gpool", value_delimiter = ',',
        value_parser = block_kind)]
    blocks: Vec<(BlockKind, usize)>,
    /// Number of channels of the trunk
    #[arg(long, value_name = "N", default_value_t = 12)]
    channels: usize,
    /// Activation of all layers [default: mish from version 11 on, relu before]
    #[arg(long, value_enum)]
    activation: Option<ActivationName>,
    /// Number of attention heads
    #[arg(long, value_name = "N", default_value_t = 2)]
    heads: usize,
    /// Number of key and value heads; fewer than --heads if several heads share one [default: --heads]
    #[arg(long, value_name = "N")]
    key_heads: Option<usize>,
    /// Query channels per head [default: an even share]
    #[arg(long, value_name = "N")]
    key_width: Option<usize>,
    /// Value channels per head [default: an even share]
    #[arg(long, value_name = "N")]
    value_width: Option<usize>,
    /// Rotary position embedding of attention
    #[arg(long, value_enum, default_value = "learned")]
    rotary: RotaryName,
    /// Norm at the end of the trunk
    #[arg(long, value_enum, default_value = "batch")]
    trunk_norm: TrunkNormName,
    /// Number of policy logits per move, 2 or 4, from version 17 on
    #[arg(long, value_name = "N", default_value_t = 2)]
    policy_channels: usize,
    /// Add a metadata encoder, as human-play networks have
    #[arg(long)]
    metadata: bool,
    /// Mark the network as trained with unconditional life as under rules that allow suicide
    #[arg(long)]
    pass_alive_with_suicide: bool,
    /// Seed of all weights
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Output file; its name must end in .bin.gz, .txt.gz, .bin, .txt or .kosumi8
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ActivationName {
    Relu,
    Mish,
    Silu,
    Identity,
}

impl From<ActivationName> for Activation {
    fn from(name: ActivationName) -> Activation {
        match name {
            ActivationName::Relu => Activation::Relu,
            ActivationName::Mish => Activation::Mish,
            ActivationName::Silu => Activation::Silu,
            ActivationName::Identity => Activation::Identity,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RotaryName {
    None,
    Fixed,
    Learned,
}

impl From<RotaryName> for RotaryKind {
    fn from(name: RotaryName) -> RotaryKind {
        match name {
            RotaryName::None => RotaryKind::None,
            RotaryName::Fixed => RotaryKind::Fixed,
            RotaryName::Learned => RotaryKind::Learned,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TrunkNormName {
    Batch,
    Rms,
    SpatialRms,
}

impl From<TrunkNormName> for TrunkNormKind {
    fn from(name: TrunkNormName) -> TrunkNormKind {
        match name {
            TrunkNormName::Batch => TrunkNormKind::Batch,
            TrunkNormName::Rms => TrunkNormKind::Rms,
            TrunkNormName::SpatialRms => TrunkNormKind::SpatialRms,
        }
    }
}

/// Parses `gpool`, or `gpool:3` for three blocks of the kind.
fn block_kind(text: &str) -> Result<(BlockKind, usize), String> {
    let (word, count) = text.split_once(':').unwrap_or((text, "1"));
    let kind = BlockKind::ALL.into_iter().find(|kind| kind.name() == word);
    let count = count.parse::<usize>().ok().filter(|count| (1..=100).contains(count));
    kind.zip(count).ok_or_else(|| {
        let words = BlockKind::ALL.map(BlockKind::name).join(", ");
        format!("not one of {words}, with :N for N of them")
    })
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let format = Format::of(&arguments.output)?;
    let network = random::network(&options(arguments))?;
    format.write(&network, &arguments.output)
}

fn options(arguments: &Arguments) -> Options {
    let shape = arguments.architecture.clone().unwrap_or_else(|| options_of_parts(arguments));
    let &Arguments { metadata, pass_alive_with_suicide, policy_channels, seed, .. } = arguments;
    let needed = match () {
        () if policy_channels != 2 => 17,
        () if metadata || pass_alive_with_suicide => 15,
        () => shape.version,
    };
    Options {
        version: arguments.version.unwrap_or(needed.max(shape.version)),
        has_metadata_encoder: shape.has_metadata_encoder || metadata,
        pass_alive_with_suicide,
        policy_channels,
        seed,
        ..shape
    }
}

/// Returns the options of a network whose parts are given one by one.
fn options_of_parts(arguments: &Arguments) -> Options {
    let blocks: Vec<BlockKind> =
        arguments.blocks.iter().flat_map(|&(kind, count)| std::iter::repeat_n(kind, count)).collect();
    let trunk_norm = arguments.trunk_norm.into();
    let needs_version_15 =
        trunk_norm != TrunkNormKind::Batch || blocks.iter().any(|kind| kind.needs_version_15());
    let needed = match arguments.activation {
        _ if needs_version_15 => 15,
        None | Some(ActivationName::Relu) => Options::default().version,
        Some(_) => 11,
    };
    let version = arguments.version.unwrap_or(needed);
    let usual = if version >= 11 { Activation::Mish } else { Activation::Relu };
    let attention = AttentionShape {
        heads: arguments.heads,
        key_heads: arguments.key_heads.unwrap_or(arguments.heads),
        key_width: arguments.key_width,
        value_width: arguments.value_width,
        rotary: arguments.rotary.into(),
    };
    let activation = arguments.activation.map_or(usual, Activation::from);
    let channels = arguments.channels;
    Options { version, blocks, channels, activation, attention, trunk_norm, ..Options::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_blocks() {
        assert_eq!(block_kind("gpool"), Ok((BlockKind::GlobalPooling, 1)));
        assert_eq!(block_kind("nested-gpool:3"), Ok((BlockKind::NestedPooling, 3)));
        for text in ["", "dilated", "gpool:0", "gpool:x", "gpool:1000000", ":2"] {
            assert!(block_kind(text).is_err(), "{text:?}");
        }
    }

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn parsed(line: &str) -> Options {
        let words = ["random"].into_iter().chain(line.split_whitespace()).chain(["-o", "x.bin"]);
        options(&<Line as clap::Parser>::parse_from(words).arguments)
    }

    #[test]
    fn the_version_is_the_oldest_that_can_hold_the_network() {
        for (line, version) in [
            ("", 8),
            ("--activation mish", 11),
            ("--blocks nested-transformer", 15),
            ("--trunk-norm spatial-rms", 15),
            ("--metadata", 15),
            ("--policy-channels 4", 17),
            ("--architecture b2c64h2nbttflrs", 15),
            ("--architecture b2c64h2nbttflrs --version 17", 17),
        ] {
            let options = parsed(line);
            assert_eq!(options.version, version, "{line}");
            random::network(&Options { channels: 12, ..options }).expect(line);
        }
    }
}
