//! Output format of a network, chosen by the file name.

use anyhow::{Context as _, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use kosumi_net::{Encoding, Network};
use kosumi_tools::files::write_atomically_with;
use std::io::{self, Write};
use std::path::Path;

/// Encoding of a network file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    encoding: Encoding,
    is_compressed: bool,
}

impl Format {
    pub(super) fn of(path: &Path) -> anyhow::Result<Format> {
        let name =
            path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let (stem, is_packed) = name.strip_suffix(".gz").map_or((name.as_str(), false), |stem| (stem, true));
        let encoding = if name.ends_with(".kosumi8") {
            Encoding::Int8
        } else if stem.ends_with(".bin") {
            Encoding::Binary
        } else if stem.ends_with(".txt") {
            Encoding::Text
        } else {
            bail!("{}: the name must end in .bin.gz, .txt.gz, .bin, .txt or .kosumi8", path.display());
        };
        Ok(Format { encoding, is_compressed: is_packed })
    }

    /// Writes a network to a file. For a file of 8 bits, it is converted to integers. An existing file is replaced when
    /// the new one is complete.
    pub(super) fn write(self, network: &Network, path: &Path) -> anyhow::Result<()> {
        let converted = (self.encoding == Encoding::Int8).then(|| network.to_int8());
        let network = converted.as_ref().unwrap_or(network);
        write_atomically_with(path, |file| self.write_to(network, file))
            .with_context(|| path.display().to_string())
    }

    fn write_to(self, network: &Network, mut file: impl Write) -> io::Result<()> {
        if self.is_compressed {
            let mut packed = GzEncoder::new(file, Compression::default());
            network.write(self.encoding, &mut packed)?;
            packed.finish()?;
            Ok(())
        } else {
            network.write(self.encoding, &mut file)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_file_says_how_it_is_written() {
        let format = |name: &str| Format::of(Path::new(name)).map(|it| (it.encoding, it.is_compressed)).ok();
        assert_eq!(format("a/b.bin.gz"), Some((Encoding::Binary, true)));
        assert_eq!(format("b.TXT.gz"), Some((Encoding::Text, true)));
        assert_eq!(format("b.bin"), Some((Encoding::Binary, false)));
        assert_eq!(format("b.txt"), Some((Encoding::Text, false)));
        assert_eq!(format("b.kosumi8"), Some((Encoding::Int8, false)));
        assert_eq!(format("b.kosumi8.gz"), None);
        assert_eq!(format("b.gz"), None);
        assert_eq!(format("bin"), None);
    }

    /// Checks that a network of integers gives the same results after a conversion to floats in KataGo's formats.
    #[test]
    fn files_of_8_bits_are_converted_in_both_directions() {
        let folder = tempfile::tempdir().unwrap();
        let network = kosumi_net::random::network(&kosumi_net::random::Options::default()).unwrap();
        let convert = |network: &Network, name: &str| {
            let path = folder.path().join(name);
            Format::of(&path).unwrap().write(network, &path).unwrap();
            Network::open(&path).unwrap()
        };
        let int8 = convert(&network, "a.kosumi8");
        assert!(int8.is_int8() && int8 == network.to_int8());
        assert_eq!(convert(&int8, "b.kosumi8"), int8);
        let floats = convert(&int8, "c.bin.gz");
        assert!(!floats.is_int8() && floats != network);
        assert_eq!(floats, convert(&int8, "d.txt"));
    }
}
