//! Numbers as bytes, and back: what messages are made of. Little-endian, without padding.

use crate::board::{GRID, Key, Move, Point};
use crate::eval::Prior;

/// Bytes that are no message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a message that cannot be read: the ranks are not of one version")]
pub struct Malformed;

/// Bytes being written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

/// Bytes being read.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'b> {
    bytes: &'b [u8],
}

macro_rules! numbers {
    ($($name:ident: $number:ty),*) => {
        impl Writer {
            $(pub(crate) fn $name(&mut self, number: $number) {
                self.bytes.extend_from_slice(&number.to_le_bytes());
            })*
        }

        impl Reader<'_> {
            $(pub(crate) fn $name(&mut self) -> Result<$number, Malformed> {
                let (number, rest) = self.bytes.split_first_chunk().ok_or(Malformed)?;
                self.bytes = rest;
                Ok(<$number>::from_le_bytes(*number))
            })*
        }
    };
}

numbers!(u8: u8, u16: u16, u32: u32, u64: u64, i32: i32, i64: i64, u128: u128, f32: f32, f64: f64);

impl Writer {
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn flag(&mut self, flag: bool) {
        self.u8(flag.into());
    }

    pub(crate) fn key(&mut self, key: Key) {
        self.u128(key.0);
    }

    pub(crate) fn mv(&mut self, mv: Move) {
        self.u16(mv.point().map_or(0, |point| point.index() as u16));
    }

    pub(crate) fn prior(&mut self, prior: Prior) {
        self.u16(prior.pack());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.list(text.as_bytes(), |out, &byte| out.u8(byte));
    }

    /// A list, its length first.
    pub(crate) fn list<T>(&mut self, list: &[T], mut write: impl FnMut(&mut Writer, &T)) {
        self.u32(list.len() as u32);
        list.iter().for_each(|item| write(self, item));
    }
}

impl<'b> Reader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader { bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// How many bytes are left.
    pub(crate) fn left(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn flag(&mut self) -> Result<bool, Malformed> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed),
        }
    }

    pub(crate) fn key(&mut self) -> Result<Key, Malformed> {
        self.u128().map(Key)
    }

    pub(crate) fn mv(&mut self) -> Result<Move, Malformed> {
        match self.u16()? {
            0 => Ok(Move::Pass),
            index if usize::from(index) < GRID => Ok(Move::Play(Point::from_index(index))),
            _ => Err(Malformed),
        }
    }

    pub(crate) fn prior(&mut self) -> Result<Prior, Malformed> {
        self.u16().map(Prior::unpack)
    }

    pub(crate) fn text(&mut self) -> Result<String, Malformed> {
        String::from_utf8(self.list(Reader::u8)?).map_err(|_| Malformed)
    }

    pub(crate) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Reader<'b>) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let len = self.u32()? as usize;
        // Every item takes a byte at least, so a wrong length takes no memory.
        if len > self.bytes.len() {
            return Err(Malformed);
        }
        (0..len).map(|_| read(self)).collect()
    }
}
