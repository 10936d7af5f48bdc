//! Serialisation of messages: numbers as bytes, little-endian, without padding.

use kosumi_eval::Prior;
use kosumi_go::board::{GRID, Key, Move, Point};

/// Error: bytes that are not a valid message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("malformed message: the ranks run different versions")]
pub struct Malformed;

/// Output buffer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

/// Input bytes.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'b> {
    bytes: &'b [u8],
}

impl Writer {
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl<'b> Reader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader { bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the number of bytes left.
    pub(crate) fn left(&self) -> usize {
        self.bytes.len()
    }
}

/// A type that messages may contain.
pub(crate) trait Wire: Sized {
    fn write(&self, out: &mut Writer);

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed>;
}

/// Implements `Wire` for types that are written field by field, in this order. A field after a semicolon is not sent.
macro_rules! wire {
    ($($kind:ident { $($field:ident),* $(; $left_out:ident)? })*) => {$(
        impl Wire for $kind {
            fn write(&self, out: &mut Writer) {
                let $kind { $($field,)* $($left_out: _,)? } = self;
                $($field.write(out);)*
            }

            fn read(from: &mut Reader<'_>) -> Result<$kind, Malformed> {
                Ok($kind { $($field: Wire::read(from)?,)* $($left_out: $kind::default().$left_out,)? })
            }
        }
    )*};
}
pub(crate) use wire;

macro_rules! numbers {
    ($($number:ident)*) => {$(
        impl Wire for $number {
            fn write(&self, out: &mut Writer) {
                out.bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn read(from: &mut Reader<'_>) -> Result<$number, Malformed> {
                let (number, rest) = from.bytes.split_first_chunk().ok_or(Malformed)?;
                from.bytes = rest;
                Ok(<$number>::from_le_bytes(*number))
            }
        }
    )*};
}

numbers!(u8 u16 u32 u64 i32 i64 u128 f32 f64);

/// Counts are limited by memory, so they fit into 32 bits.
impl Wire for usize {
    fn write(&self, out: &mut Writer) {
        u32::try_from(*self).unwrap_or(u32::MAX).write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<usize, Malformed> {
        Ok(u32::read(from)? as usize)
    }
}

impl Wire for bool {
    fn write(&self, out: &mut Writer) {
        u8::from(*self).write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<bool, Malformed> {
        match u8::read(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed),
        }
    }
}

impl Wire for Key {
    fn write(&self, out: &mut Writer) {
        self.0.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Key, Malformed> {
        u128::read(from).map(Key)
    }
}

impl Wire for Move {
    fn write(&self, out: &mut Writer) {
        self.point().map_or(0, |point| point.index() as u16).write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Move, Malformed> {
        match u16::read(from)? {
            0 => Ok(Move::Pass),
            index if usize::from(index) < GRID => Ok(Move::Play(Point::from_index(index))),
            _ => Err(Malformed),
        }
    }
}

impl Wire for Prior {
    fn write(&self, out: &mut Writer) {
        self.pack().write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Prior, Malformed> {
        u16::read(from).map(Prior::unpack)
    }
}

impl Wire for String {
    fn write(&self, out: &mut Writer) {
        self.len().write(out);
        out.bytes.extend_from_slice(self.as_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<String, Malformed> {
        String::from_utf8(Wire::read(from)?).map_err(|_| Malformed)
    }
}

/// A list is written with its length first.
impl<T: Wire> Wire for Vec<T> {
    fn write(&self, out: &mut Writer) {
        self.len().write(out);
        self.iter().for_each(|item| item.write(out));
    }

    fn read(from: &mut Reader<'_>) -> Result<Vec<T>, Malformed> {
        let len = usize::read(from)?;
        // Every item takes at least one byte, so a wrong length allocates no memory.
        if len > from.left() {
            return Err(Malformed);
        }
        (0..len).map(|_| T::read(from)).collect()
    }
}

impl<T: Wire> Wire for Option<T> {
    fn write(&self, out: &mut Writer) {
        self.is_some().write(out);
        self.iter().for_each(|it| it.write(out));
    }

    fn read(from: &mut Reader<'_>) -> Result<Option<T>, Malformed> {
        if bool::read(from)? { T::read(from).map(Some) } else { Ok(None) }
    }
}

impl<T: Wire> Wire for Box<T> {
    fn write(&self, out: &mut Writer) {
        (**self).write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Box<T>, Malformed> {
        T::read(from).map(Box::new)
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn write(&self, out: &mut Writer) {
        self.0.write(out);
        self.1.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<(A, B), Malformed> {
        Ok((A::read(from)?, B::read(from)?))
    }
}

impl<T: Wire + Copy + Default, const N: usize> Wire for [T; N] {
    fn write(&self, out: &mut Writer) {
        self.iter().for_each(|it| it.write(out));
    }

    fn read(from: &mut Reader<'_>) -> Result<[T; N], Malformed> {
        let mut all = [T::default(); N];
        for it in &mut all {
            *it = T::read(from)?;
        }
        Ok(all)
    }
}
