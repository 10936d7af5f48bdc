//! Arrays in numpy's formats `.npy` and `.npz`, which is a zip archive of arrays.
//!
//! CITE: numpy, "NEP 1: A simple file format for NumPy arrays" (version 1.0 of the format).

use flate2::Compression;
use flate2::write::DeflateEncoder;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use std::io::{self, Write};

/// Element type of numpy arrays, in little-endian byte order.
pub(super) trait Element: Copy {
    /// Type description in numpy's notation.
    const DESCRIPTION: &'static str;

    /// Appends the bytes of the value.
    fn put(self, out: &mut Vec<u8>);
}

macro_rules! element {
    ($type:ty, $name:literal) => {
        impl Element for $type {
            const DESCRIPTION: &'static str = $name;

            fn put(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        }
    };
}

element!(u8, "|u1");
element!(i8, "|i1");
element!(u16, "<u2");
element!(u32, "<u4");
element!(f32, "<f4");

/// Builds the content of a `.npy` file. The product of `shape` must equal the number of elements.
fn npy<T: Element>(shape: &[usize], elements: impl Iterator<Item = T>) -> Vec<u8> {
    let shape_text: String = shape.iter().map(|length| format!("{length},")).collect();
    let mut header =
        format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({shape_text}), }}", T::DESCRIPTION);
    // The data begins at a multiple of 64 bytes, after the magic string, version, length, header and a line break.
    let before = 10;
    let padding = (before + header.len() + 1).next_multiple_of(64) - (before + header.len() + 1);
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend_from_slice(&(header.len() as u16).to_le_bytes());
    out.extend_from_slice(header.as_bytes());
    let start = out.len();
    elements.for_each(|element| element.put(&mut out));
    debug_assert_eq!(out.len() - start, shape.iter().product::<usize>() * size_of::<T>());
    out
}

/// Writer of a `.npz` file.
pub(super) struct NpzWriter<W: Write> {
    zip: ZipArchiveWriter<W>,
}

impl<W: Write> NpzWriter<W> {
    pub(super) fn new(file: W) -> NpzWriter<W> {
        NpzWriter { zip: ZipArchiveWriter::new(file) }
    }

    /// Adds an array with a name.
    pub(super) fn array<T: Element>(
        &mut self,
        name: &str,
        shape: &[usize],
        elements: impl Iterator<Item = T>,
    ) -> io::Result<()> {
        let name = format!("{name}.npy");
        let file = self.zip.new_file(name.as_str()).compression_method(CompressionMethod::DEFLATE);
        let (mut entry, config) = file.start().map_err(io::Error::other)?;
        let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::default()));
        writer.write_all(&npy(shape, elements))?;
        let (encoder, descriptor) = writer.finish().map_err(io::Error::other)?;
        encoder.finish()?;
        entry.finish(descriptor).map_err(io::Error::other)?;
        Ok(())
    }

    /// Finishes the archive and returns the file.
    pub(super) fn finish(self) -> io::Result<W> {
        self.zip.finish().map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_as_numpy_writes_it() {
        // Output of numpy.save for numpy.array([[1, 2, 3], [4, 5, 65535]], "<u2"), except the white space.
        let bytes = npy(&[2, 3], [1u16, 2, 3, 4, 5, 65535].into_iter());
        assert_eq!(&bytes[..10], b"\x93NUMPY\x01\x00\x76\x00");
        assert_eq!(bytes.len(), 128 + 12);
        let header = std::str::from_utf8(&bytes[10..128]).unwrap();
        assert_eq!(header.trim_end(), "{'descr': '<u2', 'fortran_order': False, 'shape': (2,3,), }");
        assert!(header.ends_with(" \n"));
        assert_eq!(&bytes[128..], [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 255, 255]);
    }

    #[test]
    fn one_number_for_each_row() {
        let bytes = npy(&[1], [-1.0f32].into_iter());
        assert!(String::from_utf8_lossy(&bytes).contains("'shape': (1,), "));
        assert_eq!(bytes[bytes.len() - 4..], (-1.0f32).to_le_bytes());
    }
}
