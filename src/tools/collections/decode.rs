//! Decompression of streams. The format is detected by the first bytes of a file, not by its name.

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, BufReader, Cursor, Read};

/// Compression format of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    Plain,
    Gzip,
    Zstd,
    Zip,
}

/// Number of bytes that determine the format.
pub(super) const MAGIC_LENGTH: usize = 4;

impl Format {
    /// Returns the format of a file that begins with these bytes.
    pub(super) fn of(head: &[u8]) -> Format {
        match head {
            [0x1f, 0x8b, ..] => Format::Gzip,
            // The second pattern is a skippable frame, which parallel compressors write first.
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Format::Zstd,
            // The second pattern is an archive without entries.
            [b'P', b'K', 3, 4] | [b'P', b'K', 5, 6] => Format::Zip,
            _ => Format::Plain,
        }
    }
}

/// Returns the format of a stream, and the stream with the bytes that were read to detect it.
pub(super) fn peek<R: Read>(mut reader: R) -> io::Result<(Format, impl Read)> {
    let mut head = Vec::with_capacity(MAGIC_LENGTH);
    reader.by_ref().take(MAGIC_LENGTH as u64).read_to_end(&mut head)?;
    Ok((Format::of(&head), Cursor::new(head).chain(reader)))
}

/// Returns the decompressed content of a stream. Zip archives are not streams and cannot be read by this function.
pub(super) fn decompressed<'r>(reader: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
    let (format, stream) = peek(reader)?;
    Ok(match format {
        Format::Plain => Box::new(stream),
        Format::Gzip => Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, stream))),
        Format::Zstd => Box::new(ZstdReader::new(BufReader::with_capacity(BUFFER, stream))),
        Format::Zip => {
            return Err(io::Error::other(
                "a zip archive can be read neither from a pipe nor from an archive",
            ));
        }
    })
}

const BUFFER: usize = 1 << 16;

/// Reader of a Zstandard stream, which consists of any number of frames.
struct ZstdReader<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: BufRead> ZstdReader<R> {
    fn new(source: R) -> ZstdReader<R> {
        ZstdReader { source, decoder: FrameDecoder::new(), in_frame: false }
    }

    /// Moves to the next frame with content. Returns false at the end of the stream.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut passed_over = self.source.by_ref().take(u64::from(length));
                    if io::copy(&mut passed_over, &mut io::sink())? < u64::from(length) {
                        return Err(data_error("a frame is truncated"));
                    }
                }
                Err(error) => return Err(data_error(error)),
            }
        }
        Ok(false)
    }
}

fn data_error(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("the Zstandard data is corrupt or truncated ({error})"))
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if !self.in_frame {
                self.in_frame = self.next_frame()?;
                if !self.in_frame {
                    return Ok(0);
                }
            } else if self.decoder.is_finished() {
                let (found, expected) =
                    (self.decoder.get_calculated_checksum(), self.decoder.get_checksum_from_data());
                if expected.is_some() && found != expected {
                    return Err(data_error("the checksum does not agree"));
                }
                self.in_frame = false;
            } else {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, one).map_err(data_error)?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::Write;

    fn text() -> Vec<u8> {
        (0..50_000u32).flat_map(|number| format!("(;C[{}])\n", number % 977).into_bytes()).collect()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        decompressed(bytes)?.read_to_end(&mut content)?;
        Ok(content)
    }

    #[test]
    fn streams_of_several_parts() {
        let text = text();
        let (first, second) = text.split_at(text.len() / 3);
        // A skippable frame with three bytes of content.
        let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        let rows = [
            text.clone(),
            gzip(&text),
            [gzip(first), gzip(second)].concat(),
            zstd(&text),
            [zstd(first), zstd(&[]), skippable.to_vec(), zstd(second)].concat(),
            [skippable.to_vec(), zstd(&text)].concat(),
        ];
        for packed in rows {
            assert!(read(&packed).unwrap() == text);
        }
        assert_eq!(read(b"").unwrap(), b"");
        assert_eq!(read(b"(;").unwrap(), b"(;");
    }

    #[test]
    fn damaged_data_is_an_error() {
        let text = text();
        for packed in [zstd(&text), gzip(&text)] {
            for length in [5, 100, packed.len() / 2, packed.len() - 1] {
                assert!(read(&packed[..length]).is_err(), "{length} of {}", packed.len());
            }
            let mut damaged = packed.clone();
            let middle = damaged.len() / 2;
            damaged[middle] ^= 0x55;
            // At least the checksum at the end reveals the damage.
            assert!(read(&damaged).is_err());
        }
        assert!(read(&[0x50, 0x2a, 0x4d, 0x18, 9, 0, 0, 0, 1]).is_err());
        assert!(read(b"PK\x03\x04").is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..Default::default() })]

        /// Checks that decompressing damaged data ends without a panic.
        #[test]
        fn damaged_bytes_end(
            use_zstd in any::<bool>(),
            flips in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..6),
            cut in any::<prop::sample::Index>(),
        ) {
            let text = &text()[..20_000];
            let mut packed = if use_zstd { zstd(text) } else { gzip(text) };
            for (index, flip) in flips {
                let at = index.index(packed.len());
                packed[at] ^= flip;
            }
            packed.truncate(cut.index(packed.len()) + 1);
            let mut content = Vec::new();
            if let Ok(reader) = decompressed(&packed[..]) {
                let _ = reader.take(1 << 20).read_to_end(&mut content);
            }
        }
    }
}
