//! Splitting of byte streams into records, shared by all readers.

use encoding_rs::{Decoder, UTF_16BE, UTF_16LE};
use kosumi_go::sgf::collection::{CollectionPiece, Splitter};
use std::io::{self, Read};

/// Number of bytes per read.
const CHUNK: usize = 1 << 16;

/// Stream that is split into records while it is read. Text in UTF-16 is converted to UTF-8.
pub(super) struct RecordStream<R> {
    reader: R,
    splitter: Splitter,
    recoding: Recoding,
    buffer: Vec<u8>,
    /// Number of bytes in the buffer, from the last read; 0 at the end of the stream.
    length: usize,
}

/// Conversion from UTF-16 to UTF-8, if necessary.
enum Recoding {
    /// The encoding is not determined yet.
    Unknown,
    None,
    Utf16(Decoder),
}

impl<R: Read> RecordStream<R> {
    /// Creates a splitter of an uncompressed stream into records of at most `limit` bytes.
    pub(super) fn new(reader: R, limit: usize) -> RecordStream<R> {
        let (splitter, buffer) = (Splitter::new(limit), vec![0; CHUNK]);
        RecordStream { reader, splitter, recoding: Recoding::Unknown, buffer, length: 0 }
    }

    /// Reads the next chunk and returns its length, 0 at the end of the stream. The caller must call
    /// [`RecordStream::split`] afterwards in both cases.
    pub(super) fn read(&mut self) -> io::Result<usize> {
        loop {
            match self.reader.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(length) => {
                    self.length = length;
                    return Ok(length);
                }
            }
        }
    }

    /// Passes on the records that end in the last chunk or, after it, at the end of the stream.
    pub(super) fn split(&mut self, each: &mut dyn FnMut(CollectionPiece<'_>)) {
        let chunk = self.buffer.get(..self.length).unwrap_or_default();
        if chunk.is_empty() {
            self.splitter.finish(&mut |piece| each(piece));
            return;
        }
        if let Recoding::Unknown = self.recoding {
            self.recoding = Recoding::of(chunk);
        }
        if let Recoding::Utf16(decoder) = &mut self.recoding {
            let most = decoder.max_utf8_buffer_length(chunk.len()).unwrap_or(4 * chunk.len() + 16);
            let mut text = vec![0; most];
            let (_, _, written, _) = decoder.decode_to_utf8(chunk, &mut text, false);
            self.splitter.push(text.get(..written).unwrap_or_default(), &mut |piece| each(piece));
        } else {
            self.splitter.push(chunk, &mut |piece| each(piece));
        }
    }
}

impl Recoding {
    /// Determines the conversion from the first chunk, which begins with a byte order mark or a game. If the first
    /// chunk has fewer than four bytes, the result may be wrong.
    fn of(chunk: &[u8]) -> Recoding {
        match chunk {
            [0xff, 0xfe, ..] | [b'(', 0, b';', 0, ..] => Recoding::Utf16(UTF_16LE.new_decoder()),
            [0xfe, 0xff, ..] | [0, b'(', 0, b';', ..] => Recoding::Utf16(UTF_16BE.new_decoder()),
            _ => Recoding::None,
        }
    }
}
