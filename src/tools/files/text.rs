//! Text files of users, with or without a byte order mark.

use super::regular::read_regular;
use encoding_rs::{Encoding, UTF_8};
use std::io;
use std::path::Path;

/// Reads a text file of at most `most` bytes.
///
/// # Errors
///
/// Returns an error if the file cannot be read, is not a regular file, is longer, or is not text.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    text(&read_regular(path, most)?)
}

/// Decodes text: UTF-8 with or without a byte order mark, or UTF-16 with one. Removes the mark.
///
/// # Errors
///
/// Returns an error if the bytes have another encoding.
pub fn text(bytes: &[u8]) -> io::Result<String> {
    let error = |reason| io::Error::new(io::ErrorKind::InvalidData, reason);
    match Encoding::for_bom(bytes) {
        Some((encoding, length)) if encoding != UTF_8 => {
            let behind = bytes.get(length..).unwrap_or_default();
            let text = encoding.decode_without_bom_handling_and_without_replacement(behind);
            text.map(|text| text.into_owned()).ok_or_else(|| error("invalid UTF-16"))
        }
        _ => {
            let text = String::from_utf8(without_bom(bytes).to_vec());
            text.map_err(|_| error("it is not UTF-8"))
        }
    }
}

/// Decodes text and replaces invalid bytes.
pub fn lossy_text(bytes: &[u8]) -> String {
    // `decode` detects and removes byte order marks.
    UTF_8.decode(bytes).0.into_owned()
}

/// Removes a UTF-8 byte order mark from the beginning.
pub fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_no_text() {
        let utf16 =
            |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        let marked = "\u{feff}a = ü\r\n";
        for bytes in [
            b"a = \xc3\xbc\r\n".to_vec(),
            marked.as_bytes().to_vec(),
            utf16(marked, u16::to_le_bytes),
            utf16(marked, u16::to_be_bytes),
        ] {
            assert_eq!(text(&bytes).unwrap(), "a = ü\r\n");
            assert_eq!(lossy_text(&bytes), "a = ü\r\n");
        }
        assert_eq!(text(b"\xef\xbb\xbf").unwrap(), "");
        assert_eq!(text("a\u{feff}".as_bytes()).unwrap(), "a\u{feff}", "a mark within the text is kept");
        for bytes in [&b"\xff"[..], b"\xff\xfea", b"\xef\xbb\xbf\xff"] {
            assert_eq!(text(bytes).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
        assert_eq!(lossy_text(b"\xef\xbb\xbfa\xff"), "a\u{fffd}");
    }

    #[test]
    fn a_file_is_not_longer_than_it_may_be() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "\u{feff}1234").unwrap();
        assert_eq!(read_text(&path, 7).unwrap(), "1234");
        assert_eq!(read_text(&path, 6).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert!(read_text(&folder.path().join("b"), 7).is_err());
    }
}
