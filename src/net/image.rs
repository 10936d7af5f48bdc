//! Bytes of a file of 8 bits, mapped into memory or read.

use std::fs::File;
use std::io;
use std::ops::Range;

/// Bytes of a file, which are copied out piece by piece.
#[derive(Debug)]
pub(super) struct Image(Place);

#[derive(Debug)]
enum Place {
    #[cfg(not(target_family = "wasm"))]
    Mapped(mapped::Mapped),
    Memory(Vec<u8>),
}

impl From<Vec<u8>> for Image {
    fn from(bytes: Vec<u8>) -> Image {
        Image(Place::Memory(bytes))
    }
}

impl Image {
    /// Maps a file into memory.
    ///
    /// Nothing that was checked may be read again, because the file can change at any time. Lengths and scales are
    /// therefore copied before they are checked, and every value of the integers is allowed.
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot map the file.
    #[cfg(not(target_family = "wasm"))]
    pub(super) fn map(file: &File) -> io::Result<Image> {
        Ok(Image(Place::Mapped(mapped::Mapped::new(file)?)))
    }

    /// Returns an error: WebAssembly has no files.
    #[cfg(target_family = "wasm")]
    pub(super) fn map(_file: &File) -> io::Result<Image> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn len(&self) -> usize {
        match &self.0 {
            #[cfg(not(target_family = "wasm"))]
            Place::Mapped(mapped) => mapped.len(),
            Place::Memory(bytes) => bytes.len(),
        }
    }

    /// Returns a copy of a range that starts at a multiple of 64. If the file is mapped, the pages of the range do not
    /// stay in the memory of the process.
    ///
    /// # Panics
    ///
    /// Panics if the range is not part of the file.
    pub(super) fn copy(&self, range: Range<usize>) -> Vec<u8> {
        assert!(range.start <= range.end && range.end <= self.len() && range.start.is_multiple_of(64));
        match &self.0 {
            #[cfg(not(target_family = "wasm"))]
            Place::Mapped(mapped) => mapped.copy(range),
            Place::Memory(bytes) => bytes[range].to_vec(),
        }
    }
}

#[cfg(not(target_family = "wasm"))]
mod mapped {
    #![allow(unsafe_code)]

    use memmap2::{MmapOptions, MmapRaw};
    use std::fs::File;
    use std::io;
    use std::ops::Range;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// File that is mapped into memory, for reading only.
    ///
    /// There is never a reference to its bytes, because another program can change them while they are read. They are
    /// read by atomic loads, so such a change is not undefined behaviour: some bytes are then old and others new. If
    /// another program makes the file shorter, the system ends this process when it reads the missing part.
    #[derive(Debug)]
    pub(super) struct Mapped(MmapRaw);

    /// Size of a word, in bytes. Atomic loads of words are allowed in memory that can only be read.
    const WORD: usize = size_of::<AtomicUsize>();

    impl Mapped {
        pub(super) fn new(file: &File) -> io::Result<Mapped> {
            MmapOptions::new().map_raw_read_only(file).map(Mapped)
        }

        pub(super) fn len(&self) -> usize {
            self.0.len()
        }

        /// Returns a copy of a range of the file that starts at a multiple of 64.
        pub(super) fn copy(&self, range: Range<usize>) -> Vec<u8> {
            let first = self.0.as_ptr().cast::<AtomicUsize>().wrapping_add(range.start / WORD);
            let mut bytes = vec![0; range.len().next_multiple_of(WORD)];
            let (words, _) = bytes.as_chunks_mut::<WORD>();
            for (index, to) in words.iter_mut().enumerate() {
                // SAFETY: `Image::copy` has checked that the range is part of the mapping. A mapping starts at the
                // beginning of a page, so the range starts at a multiple of a word. The last word ends before its page
                // does, and the rest of that page after the end of the file is zeros. The reference is one to an atomic
                // that is only loaded, with relaxed order.
                let word = unsafe { &*first.add(index) };
                *to = word.load(Ordering::Relaxed).to_ne_bytes();
            }
            bytes.truncate(range.len());
            self.release(&range);
            bytes
        }

        /// Removes the pages of a range from the memory of the process. They stay in the system's memory, from which it
        /// may drop them, and are mapped again on the next access.
        #[cfg(target_os = "linux")]
        fn release(&self, range: &Range<usize>) {
            use memmap2::UncheckedAdvice;
            // SAFETY: nothing is ever written to the mapping, so it has the bytes of the file afterwards, too. No
            // reference to them exists.
            let advice =
                unsafe { self.0.unchecked_advise_range(UncheckedAdvice::DontNeed, range.start, range.len()) };
            // A failure does not matter, because this is only advice.
            drop(advice);
        }

        #[cfg(not(target_os = "linux"))]
        fn release(&self, _range: &Range<usize>) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_mapped_file_has_the_bytes_of_a_read_one() {
        let bytes: Vec<u8> = (0..10_001u32).map(|index| (index * 7 % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let (mapped, read) = (Image::map(&file).unwrap(), Image::from(bytes.clone()));
        assert_eq!((mapped.len(), read.len()), (10_001, 10_001));
        for range in [0..0, 0..1, 64..65, 0..10_001, 9984..10_001, 64..8192, 640..647, 4096..4104] {
            let expected = &bytes[range.clone()];
            assert_eq!(mapped.copy(range.clone()), expected, "{range:?}");
            assert_eq!(read.copy(range), expected);
        }
    }
}
