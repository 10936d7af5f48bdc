//! Records in URLs: compressed (DEFLATE), encoded in Base64 for URLs, and limited in length.

use super::table::{BadRecord, Refusal};
use data_encoding::BASE64URL_NOPAD;
use flate2::Compression;
use flate2::read::{DeflateDecoder, DeflateEncoder};
use std::io::Read;

/// Maximum number of characters. Browsers accept longer URLs, but many programs through which links are sent truncate
/// them.
const MAX_CHARACTERS: usize = 16_000;
/// Maximum length of a record in bytes.
const MAX_RECORD_BYTES: usize = 1_000_000;

/// Returns a record as a part of a URL; `None` if it is too long.
pub(super) fn fragment_of(record: &str) -> Option<String> {
    let mut packed = Vec::new();
    // Reading from memory cannot fail.
    DeflateEncoder::new(record.as_bytes(), Compression::best()).read_to_end(&mut packed).ok()?;
    let fragment = BASE64URL_NOPAD.encode(&packed);
    (record.len() <= MAX_RECORD_BYTES && fragment.len() <= MAX_CHARACTERS).then_some(fragment)
}

/// Returns the record in a part of a URL.
///
/// # Errors
///
/// Returns an error if the text is too long, or was not made by [`fragment_of`].
pub(super) fn record_of(fragment: &str) -> Result<Vec<u8>, BadRecord> {
    let bad =
        |text: &str| BadRecord { refusal: Refusal::BadLink, text: text.to_owned(), can_be_partial: false };
    if fragment.len() > MAX_CHARACTERS {
        return Err(bad("it is too long"));
    }
    let packed = BASE64URL_NOPAD.decode(fragment.as_bytes()).map_err(|_| bad("it was cut off or changed"))?;
    let mut record = Vec::new();
    // A short text can unpack to a thousand times its length.
    let most = MAX_RECORD_BYTES as u64 + 1;
    DeflateDecoder::new(&packed[..])
        .take(most)
        .read_to_end(&mut record)
        .map_err(|_| bad("it was cut off or changed"))?;
    if record.len() > MAX_RECORD_BYTES {
        return Err(bad("the game in it is too long"));
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::rng::Rng;

    #[test]
    fn a_record_comes_back_as_it_was() {
        for record in ["", "(;SZ[9]PB[é]KM[6.5];B[cc];W[gg])"] {
            let fragment = fragment_of(record).unwrap();
            assert!(fragment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
            assert_eq!(record_of(&fragment).unwrap(), record.as_bytes());
        }
        let moves: String = (0..400).map(|at| format!(";{}[{}{}]", ["B", "W"][at % 2], 'a', 'b')).collect();
        assert!(fragment_of(&format!("({moves})")).unwrap().len() < 1000);
    }

    #[test]
    fn hostile_links_are_refused() {
        let mut rng = Rng::new(1);
        let noise: String = (0..60_000).map(|_| char::from(b'!' + (rng.next_u64() % 90) as u8)).collect();
        assert_eq!(fragment_of(&noise), None, "too long to send");
        let zeros = vec![0; 8_000_000];
        let mut packed = Vec::new();
        DeflateEncoder::new(&zeros[..], Compression::best()).read_to_end(&mut packed).unwrap();
        let bomb = BASE64URL_NOPAD.encode(&packed);
        assert!(bomb.len() < MAX_CHARACTERS);
        let cut = fragment_of("(;SZ[9];B[cc];W[gg];B[cg])").unwrap();
        for fragment in
            [&bomb, &"A".repeat(MAX_CHARACTERS + 1), "%", "é", "AAAA", "_____", &cut[..cut.len() - 2]]
        {
            let bad = record_of(fragment).unwrap_err();
            assert_eq!(bad.refusal, Refusal::BadLink);
            assert!(!bad.text.is_empty() && !bad.can_be_partial);
        }
    }
}
