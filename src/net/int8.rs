//! Files of 8 bits, which can be mapped into memory: `.kosumi8`.
//!
//! All numbers are little-endian, and zeros fill up to multiples of 64 bytes.
//!
//! ```text
//! header      64 bytes, see `FileHeader`
//! structure   the network as in a `.bin` file, with the six characters `@INT8@` or the seven `@INT16@` in place of the
//!             weights of each convolution or matrix of integers; padding
//! sections    for each of these, in the same order: 32-bit scales of the outputs, padding, the integers of shape
//!             `[rows][outputs]`, padding
//! ```
//!
//! A file states neither the position nor the length of a section. Both follow from the dimensions in the structure, so
//! a section cannot lie outside the file or overlap another one.
//!
//! The layout is that of the matrices, not that of a kernel. Each kernel reads weights in panels of its own width, and
//! those of transformers in a special order. Copying them to this order when a network is prepared takes about a
//! nanosecond for ten weights, and a file serves all processors.

use super::error::{ErrorKind, ReadError};
use super::image::Image;
use super::weights::{IntegerSize, Integers, Weights};
use flate2::Crc;
use std::sync::Arc;

/// First bytes of every file of 8 bits. No other file of a network begins with the first of them.
pub(super) const MARK: [u8; 8] = *b"\x89KOSUMI8";

/// Version of the format.
const VERSION: u32 = 1;

/// Alignment of the parts of a file, in bytes.
pub(super) const ALIGN: usize = 64;

/// Size of the header, in bytes.
pub(super) const HEADER: usize = 64;

/// Characters in place of the weights of a matrix of 8-bit integers.
pub(super) const EIGHT_MARK: &[u8] = b"@INT8@";

/// Characters in place of the weights of a matrix of 16-bit integers.
pub(super) const SIXTEEN_MARK: &[u8] = b"@INT16@";

/// Smaller scales count as zero, so that no product of a scale is a denormal number.
const MIN_SCALE: f32 = 1e-36;

/// Number of bytes of a file whose checksum is computed at a time.
const CHUNK: usize = 1 << 20;

/// Facts about the conversion of a network to integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rounding {
    /// Whether evaluations in 8 bits agreed with those in 32 bits when the network was converted.
    pub(crate) agrees: bool,
}

/// Header of a file.
///
/// | bytes | content |
/// |---|---|
/// | 0 to 7 | [`MARK`] |
/// | 8 to 11 | version of the format: 1 |
/// | 12 to 15 | 1 if evaluations in 8 bits agreed with those in 32 bits, otherwise 0 |
/// | 16 to 23 | length of the structure without padding |
/// | 24 to 31 | length of the sections with padding |
/// | 32 to 35 | CRC-32 of the structure with padding |
/// | 36 to 39 | CRC-32 of the sections |
/// | 40 to 59 | zeros |
/// | 60 to 63 | CRC-32 of the bytes before |
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FileHeader {
    pub(super) rounding: Rounding,
    structure: usize,
    sections: usize,
    structure_sum: u32,
    sections_sum: u32,
}

fn error(layer: &str, offset: usize, kind: ErrorKind) -> ReadError {
    ReadError::At { layer: layer.to_owned(), offset: offset as u64, kind }
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = Crc::new();
    sum.update(bytes);
    sum.sum()
}

impl FileHeader {
    /// Parses a header, which begins with [`MARK`].
    pub(super) fn from_bytes(bytes: &[u8; HEADER]) -> Result<FileHeader, ReadError> {
        let error = |offset, kind| error("the header", offset, kind);
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let length = |at: usize| {
            let length = u64::from(word(at)) | u64::from(word(at + 4)) << 32;
            // The sum of all lengths must fit, too.
            match usize::try_from(length) {
                Ok(length) if length < usize::MAX / 4 => Ok(length),
                _ => {
                    let most = (usize::MAX / 4) as u64;
                    Err(error(at, ErrorKind::Range { what: "a length", found: length, least: 0, most }))
                }
            }
        };
        if bytes[..MARK.len()] != MARK {
            return Err(ReadError::Foreign("it does not begin as a file of 8 bits does"));
        }
        // Another version of the format may have its checksum elsewhere.
        if word(8) != VERSION {
            return Err(error(8, ErrorKind::FileVersion { found: word(8), supported: VERSION }));
        }
        if checksum(&bytes[..60]) != word(60) {
            return Err(error(60, ErrorKind::Checksum("the header")));
        }
        let agrees = match word(12) {
            0 => false,
            1 => true,
            value => {
                return Err(error(12, ErrorKind::Option { what: "a flag of value", value: value.into() }));
            }
        };
        if bytes[40..60].iter().any(|byte| *byte != 0) {
            return Err(error(40, ErrorKind::Option { what: "a reserved byte other than", value: 0 }));
        }
        let sections = length(24)?;
        if !sections.is_multiple_of(ALIGN) {
            let word = sections.to_string();
            let kind =
                ErrorKind::Number { what: "the length of the sections", word, expected: "a multiple of 64" };
            return Err(error(24, kind));
        }
        Ok(FileHeader {
            rounding: Rounding { agrees },
            structure: length(16)?,
            sections,
            structure_sum: word(32),
            sections_sum: word(36),
        })
    }

    fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(&MARK);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&u32::from(self.rounding.agrees).to_le_bytes());
        bytes[16..24].copy_from_slice(&(self.structure as u64).to_le_bytes());
        bytes[24..32].copy_from_slice(&(self.sections as u64).to_le_bytes());
        bytes[32..36].copy_from_slice(&self.structure_sum.to_le_bytes());
        bytes[36..40].copy_from_slice(&self.sections_sum.to_le_bytes());
        let sum = checksum(&bytes[..60]);
        bytes[60..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Returns the offset of the sections.
    pub(super) fn sections_start(&self) -> usize {
        HEADER + self.structure.next_multiple_of(ALIGN)
    }

    /// Returns the size of the file.
    pub(super) fn file_len(&self) -> usize {
        self.sections_start() + self.sections
    }

    /// Checks the size of a file and all checksums, and returns the structure.
    pub(super) fn structure_of(&self, image: &Image) -> Result<Vec<u8>, ReadError> {
        let (start, end) = (self.sections_start(), self.file_len());
        if image.len() < end {
            return Err(error("the file", image.len(), ErrorKind::End));
        } else if image.len() > end {
            return Err(error("the file", end, ErrorKind::Trailing));
        }
        let mut structure = image.copy(HEADER..start);
        if checksum(&structure) != self.structure_sum {
            return Err(error("the structure", HEADER, ErrorKind::Checksum("the structure")));
        }
        structure.truncate(self.structure);
        let mut sum = Crc::new();
        let mut place = start;
        while place < end {
            let next = end.min(place + CHUNK);
            sum.update(&image.copy(place..next));
            place = next;
        }
        if sum.sum() != self.sections_sum {
            return Err(error("the sections", start, ErrorKind::Checksum("the weights")));
        }
        Ok(structure)
    }
}

/// Sections of a file, which are read one after another.
#[derive(Debug)]
pub(super) struct Sections {
    image: Arc<Image>,
    next: usize,
}

impl Sections {
    pub(super) fn new(image: Arc<Image>, start: usize) -> Sections {
        Sections { image, next: start }
    }

    /// Returns the integers of the next section.
    pub(super) fn take(
        &mut self,
        size: IntegerSize,
        rows: usize,
        outputs: usize,
    ) -> Result<Integers, ErrorKind> {
        let place = |start: usize, bytes: Option<usize>| {
            let end = start.checked_add(bytes?)?;
            (end <= self.image.len()).then(|| (start..end, end.next_multiple_of(ALIGN)))
        };
        let (scales, start) = place(self.next, outputs.checked_mul(4)).ok_or(ErrorKind::End)?;
        let bytes = rows.checked_mul(outputs).and_then(|count| count.checked_mul(size.bytes()));
        let (_, next) = place(start, bytes).ok_or(ErrorKind::End)?;
        let raw = self.image.copy(scales);
        let (words, _) = raw.as_chunks::<4>();
        let mut scales: Vec<f32> = words.iter().map(|&word| f32::from_le_bytes(word)).collect();
        // The weights must be finite, too.
        if !scales.iter().all(|scale| *scale >= 0.0 && (scale * f32::from(i16::MAX)).is_finite()) {
            return Err(ErrorKind::Scale);
        }
        scales.iter_mut().filter(|scale| **scale < MIN_SCALE).for_each(|scale| *scale = 0.0);
        self.next = next;
        Ok(Integers::new(size, rows, scales, Arc::clone(&self.image), start))
    }

    /// Checks that nothing is left.
    pub(super) fn end(&self) -> Result<(), ReadError> {
        if self.next < self.image.len() {
            return Err(error("the sections", self.next, ErrorKind::Trailing));
        }
        Ok(())
    }
}

/// Writer of sections.
#[derive(Debug, Default)]
pub(super) struct SectionWriter(Vec<u8>);

impl SectionWriter {
    /// Adds a section if the weights are integers, and returns the characters that replace them in the structure.
    pub(super) fn add(&mut self, weights: &Weights) -> Option<&'static [u8]> {
        let integers = weights.integers()?;
        self.0.extend(integers.scales().iter().flat_map(|scale| scale.to_le_bytes()));
        self.fill();
        self.0.extend(integers.raw());
        self.fill();
        Some(match integers.size {
            IntegerSize::Eight => EIGHT_MARK,
            IntegerSize::Sixteen => SIXTEEN_MARK,
        })
    }

    fn fill(&mut self) {
        self.0.resize(self.0.len().next_multiple_of(ALIGN), 0);
    }

    /// Returns the parts of a file with this structure, which follow one another.
    pub(super) fn file(self, mut structure: Vec<u8>, rounding: Rounding) -> [Vec<u8>; 3] {
        let length = structure.len();
        structure.resize(length.next_multiple_of(ALIGN), 0);
        let header = FileHeader {
            rounding,
            structure: length,
            sections: self.0.len(),
            structure_sum: checksum(&structure),
            sections_sum: checksum(&self.0),
        };
        [header.to_bytes().to_vec(), structure, self.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::kind;

    /// Returns the bytes of a header with another word at an offset, and a checksum that fits.
    fn with_word(at: usize, word: u32) -> [u8; HEADER] {
        let header = FileHeader {
            rounding: Rounding { agrees: true },
            structure: 70,
            sections: 128,
            structure_sum: 1,
            sections_sum: 2,
        };
        let mut bytes = header.to_bytes();
        assert_eq!(FileHeader::from_bytes(&bytes).unwrap(), header);
        assert_eq!((header.sections_start(), header.file_len()), (192, 320));
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        let sum = checksum(&bytes[..60]);
        bytes[60..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    #[test]
    fn every_field_of_the_header_is_checked() {
        let found = |at, word| kind(FileHeader::from_bytes(&with_word(at, word)));
        assert!(matches!(FileHeader::from_bytes(&with_word(0, 0)), Err(ReadError::Foreign(_))));
        assert_eq!(found(8, 2), ErrorKind::FileVersion { found: 2, supported: 1 });
        assert!(matches!(found(12, 2), ErrorKind::Option { value: 2, .. }));
        assert!(matches!(found(20, u32::MAX), ErrorKind::Range { .. }));
        assert!(matches!(found(24, 127), ErrorKind::Number { .. }));
        assert!(matches!(found(28, u32::MAX), ErrorKind::Range { .. }));
        for at in (40..60).step_by(4) {
            assert!(matches!(found(at, 1 << 24), ErrorKind::Option { .. }), "{at}");
        }
        for at in 12..HEADER {
            let mut bytes = with_word(8, VERSION);
            bytes[at] ^= 1;
            assert_eq!(kind(FileHeader::from_bytes(&bytes)), ErrorKind::Checksum("the header"), "{at}");
        }
    }

    #[test]
    fn scales_are_finite_and_not_negative() {
        let taken = |scale: f32| {
            let mut bytes = vec![0; 128];
            bytes[..4].copy_from_slice(&scale.to_le_bytes());
            bytes[64..66].copy_from_slice(&[3, 0xff]);
            Sections::new(Arc::new(Image::from(bytes)), 0).take(IntegerSize::Eight, 2, 1)
        };
        assert_eq!(taken(0.5).unwrap(), Integers::of_bytes(&[3, -1], vec![0.5]));
        assert_eq!(taken(1e-37).unwrap().scales(), [0.0]);
        for scale in [f32::NAN, f32::INFINITY, -1.0, f32::MAX] {
            assert_eq!(taken(scale), Err(ErrorKind::Scale), "{scale}");
        }
        let mut sections = Sections::new(Arc::new(Image::from(vec![0; 128])), 0);
        for (rows, outputs) in [(65, 1), (1, 33), (usize::MAX, 1), (usize::MAX / 2, 4), (1, usize::MAX)] {
            assert_eq!(sections.take(IntegerSize::Eight, rows, outputs), Err(ErrorKind::End));
        }
        assert_eq!(sections.take(IntegerSize::Sixteen, 33, 1), Err(ErrorKind::End));
        assert!(sections.end().is_err());
        sections.take(IntegerSize::Sixteen, 32, 1).unwrap();
        sections.end().unwrap();
        assert_eq!(sections.take(IntegerSize::Eight, 1, 1), Err(ErrorKind::End));
    }
}
