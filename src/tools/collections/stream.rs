//! The records of a stream of bytes: what all readers of records go through.

use encoding_rs::{Decoder, UTF_16BE, UTF_16LE};
use kosumi_go::sgf::collection::{Piece, Splitter};
use std::io::{self, Read};

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 16;

/// A stream that is cut into records while it is read. Text in UTF-16 becomes UTF-8 on the way.
pub(super) struct RecordStream<R> {
    reader: R,
    splitter: Splitter,
    recoding: Recoding,
    buffer: Vec<u8>,
    /// Bytes of the buffer that were read last; 0 at the end of the stream.
    length: usize,
}

/// Text in UTF-16 on its way to UTF-8; nothing for all other text.
enum Recoding {
    /// Nothing is known yet.
    Unknown,
    None,
    Utf16(Decoder),
}

impl<R: Read> RecordStream<R> {
    /// The records of an unpacked stream, none longer than the limit.
    pub(super) fn new(reader: R, limit: usize) -> RecordStream<R> {
        let (splitter, buffer) = (Splitter::new(limit), vec![0; CHUNK]);
        RecordStream { reader, splitter, recoding: Recoding::Unknown, buffer, length: 0 }
    }

    /// Reads on, and says how many bytes there were: 0 at the end. [`RecordStream::split`] comes next in any case.
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

    /// Hands out the records that end in the bytes that were read last, or with the stream.
    pub(super) fn split(&mut self, each: &mut dyn FnMut(Piece<'_>)) {
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
    /// What a text needs that begins like this, with a byte order mark or a game. A first piece of few bytes is a chance that
    /// is taken.
    fn of(chunk: &[u8]) -> Recoding {
        match chunk {
            [0xff, 0xfe, ..] | [b'(', 0, b';', 0, ..] => Recoding::Utf16(UTF_16LE.new_decoder()),
            [0xfe, 0xff, ..] | [0, b'(', 0, b';', ..] => Recoding::Utf16(UTF_16BE.new_decoder()),
            _ => Recoding::None,
        }
    }
}
