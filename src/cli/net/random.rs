//! `kosumi net random`: a network to test with.

use crate::net::random::{self, BlockKind, Options};
use crate::net::{Activation, Encoding, Network};
use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Make a small network with random weights, to test programs that read the format
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kosumi net random -o small.bin.gz
  kosumi net random --version 14 --blocks nested:2,nested-gpool --channels 32 --seed 7 -o nested.bin.gz
  kosumi net random --blocks ordinary:2,gpool,ordinary,gpool,ordinary --channels 96 -o like-b6c96.bin.gz")]
pub(super) struct Arguments {
    /// Version of the network, from 8 to 16
    #[arg(long, value_name = "V", default_value_t = Options::default().version)]
    version: u32,
    /// The blocks of the trunk: ordinary, gpool, nested or nested-gpool, each with a number of times
    #[arg(long, value_name = "KIND[:N],...", default_value = "ordinary,gpool", value_delimiter = ',',
        value_parser = block_kind)]
    blocks: Vec<(BlockKind, usize)>,
    /// Channels of the trunk
    #[arg(long, value_name = "N", default_value_t = 12)]
    channels: usize,
    /// The activation everywhere [default: mish from version 11 on, relu before]
    #[arg(long, value_enum)]
    activation: Option<ActivationName>,
    /// Decides all weights
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Where to write it; the name must end in .bin.gz, .txt.gz, .bin or .txt
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ActivationName {
    Relu,
    Mish,
    Identity,
}

/// `gpool`, or `gpool:3` for three of them.
fn block_kind(text: &str) -> Result<(BlockKind, usize), String> {
    let (word, count) = text.split_once(':').unwrap_or((text, "1"));
    let kind = BlockKind::ALL.into_iter().find(|kind| kind.word() == word);
    let count = count.parse::<usize>().ok().filter(|count| (1..=100).contains(count));
    kind.zip(count).ok_or_else(|| {
        let words = BlockKind::ALL.map(BlockKind::word).join(", ");
        format!("not one of {words}, with :N for N of them")
    })
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let activation = match arguments.activation {
        Some(ActivationName::Relu) => Activation::Relu,
        Some(ActivationName::Mish) => Activation::Mish,
        Some(ActivationName::Identity) => Activation::Identity,
        None if arguments.version >= 11 => Activation::Mish,
        None => Activation::Relu,
    };
    let blocks =
        arguments.blocks.iter().flat_map(|&(kind, count)| std::iter::repeat_n(kind, count)).collect();
    let &Arguments { version, channels, seed, .. } = arguments;
    let format = Format::of(&arguments.output)?;
    let network = random::network(&Options { version, blocks, channels, activation, seed })?;
    let path = arguments.output.display();
    let file = File::create(&arguments.output).with_context(|| path.to_string())?;
    format.write(&network, file).with_context(|| path.to_string())
}

/// What the name of a file says.
#[derive(Clone, Copy, Debug)]
struct Format {
    encoding: Encoding,
    is_packed: bool,
}

impl Format {
    fn of(path: &Path) -> anyhow::Result<Format> {
        let name =
            path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let (stem, is_packed) = name.strip_suffix(".gz").map_or((name.as_str(), false), |stem| (stem, true));
        let encoding = if stem.ends_with(".bin") {
            Encoding::Binary
        } else if stem.ends_with(".txt") {
            Encoding::Text
        } else {
            bail!("{}: the name must end in .bin.gz, .txt.gz, .bin or .txt", path.display());
        };
        Ok(Format { encoding, is_packed })
    }

    fn write(self, network: &Network, file: File) -> io::Result<()> {
        let mut file = BufWriter::new(file);
        if self.is_packed {
            let mut packed = GzEncoder::new(file, Compression::default());
            network.write(self.encoding, &mut packed)?;
            file = packed.finish()?;
        } else {
            network.write(self.encoding, &mut file)?;
        }
        file.flush()
    }
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

    #[test]
    fn the_name_of_the_file_says_how_it_is_written() {
        let format = |name: &str| Format::of(Path::new(name)).map(|it| (it.encoding, it.is_packed)).ok();
        assert_eq!(format("a/b.bin.gz"), Some((Encoding::Binary, true)));
        assert_eq!(format("b.TXT.gz"), Some((Encoding::Text, true)));
        assert_eq!(format("b.bin"), Some((Encoding::Binary, false)));
        assert_eq!(format("b.txt"), Some((Encoding::Text, false)));
        assert_eq!(format("b.gz"), None);
        assert_eq!(format("bin"), None);
    }
}
