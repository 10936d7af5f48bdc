//! Detection of a file's character set and conversion to UTF-8.
//!
//! In several sets, the second byte of a character may be a backslash or a bracket. The text must therefore be decoded
//! before it can be parsed, and the set can only be determined from the bytes. The steps, in this order:
//!
//! 1. A byte order mark decides.
//! 2. Valid UTF-8 is UTF-8, whatever `CA` says: text in another set is hardly ever valid UTF-8 by chance. ASCII with
//!    escape sequences of ISO-2022-JP is in that set.
//! 3. Text that is UTF-8 except for a few bytes is UTF-8. These bytes are replaced.
//! 4. The set that `CA` names is used if the bytes are valid in it and the record then has no fault.
//! 5. Otherwise the set is guessed. `chardetng` distinguishes sets by frequencies on the web. Two names of two
//!    characters each are not enough for it. Therefore the five double-byte sets are also compared by the characters of
//!    `frequent_characters.rs`, and all sets by the structure of the record: a set in which a bracket or a move
//!    disappears is wrong.
//!
//! All steps together take time proportional to the length of the file. Records in ASCII or UTF-8 are not copied.

use super::frequent_characters::{FrequentCharacters, JAPANESE, KOREAN, SIMPLIFIED, TRADITIONAL};
use super::lexer::{count_faults, first_tree};
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, ISO_2022_JP, ISO_8859_2, KOI8_R, REPLACEMENT, SHIFT_JIS,
    UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252, WINDOWS_1254, WINDOWS_1257,
    X_USER_DEFINED,
};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Number of bytes searched for `CA`. It is in the root, which is short except for a comment.
const NAMED_WITHIN: usize = 1 << 16;
/// Maximum length of the name of a character set, in bytes.
const LABEL_BYTES: usize = 40;
/// Maximum number of non-ASCII characters, and of words, that are examined.
const SAMPLE: usize = 2000;

/// Way in which the character set of a record was determined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The text is ASCII.
    Ascii,
    /// The text is valid UTF-8.
    Utf8,
    /// The text is UTF-8 except for this number of sequences, which were replaced.
    DamagedUtf8(usize),
    /// The text begins with a UTF-16 byte order mark, or has a zero in every other byte.
    Utf16,
    /// The record names the set.
    Named,
    /// The set was guessed.
    Guessed,
}

/// The character set of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Charset {
    encoding: &'static Encoding,
    source: Source,
    /// Number of bytes before the text.
    start: usize,
}

impl Charset {
    /// Returns how the set was determined.
    pub fn source(&self) -> Source {
        self.source
    }

    /// Returns the usual name of the set.
    pub fn name(&self) -> &'static str {
        match self.source {
            Source::Ascii => "ASCII",
            _ => self.encoding.name(),
        }
    }

    /// Returns a note about the set for the reader of the record. `named` is the value of `CA`. Returns `None` if the
    /// text is ASCII, UTF-8, or in the set that the record names.
    pub fn note(&self, named: Option<&str>) -> Option<String> {
        let why = match named {
            None => "the record names no character set".to_owned(),
            Some(label) if encoding_of(label.as_bytes()).is_none() => {
                format!("the record names an unknown character set, “{label}”")
            }
            Some(label) => format!("the text is not in the character set that the record names, “{label}”"),
        };
        let name = self.name();
        match self.source {
            Source::Ascii | Source::Named => None,
            Source::Utf8 if named.is_none_or(|label| encoding_of(label.as_bytes()) == Some(UTF_8)) => None,
            Source::Utf8 | Source::Guessed => Some(format!("{why}: read as {name}")),
            Source::Utf16 => Some(format!("read as {name}")),
            Source::DamagedUtf8(1) => Some("read as UTF-8; one invalid sequence was replaced".to_owned()),
            Source::DamagedUtf8(count) => {
                Some(format!("read as UTF-8; {count} invalid sequences were replaced"))
            }
        }
    }

    /// Returns the layout, which determines which bytes of the text are syntax.
    pub(super) fn layout(&self) -> Layout {
        Layout::of(self.encoding)
    }

    fn is_unicode(&self) -> bool {
        matches!(self.source, Source::Ascii | Source::Utf8)
    }
}

/// Classes of character sets by the ASCII bytes that may be the second half of a character.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Layout {
    /// No ASCII byte is part of another character.
    Plain,
    /// ASCII bytes after a lead byte of Shift_JIS.
    ShiftJis,
    /// ASCII bytes after a byte from 0x81 on: Big5, GBK, GB 18030.
    Chinese,
    /// ASCII bytes after an escape sequence.
    Iso2022Jp,
}

impl Layout {
    fn of(encoding: &'static Encoding) -> Layout {
        if encoding == SHIFT_JIS {
            Layout::ShiftJis
        } else if [BIG5, GBK, GB18030].contains(&encoding) {
            Layout::Chinese
        } else if encoding == ISO_2022_JP {
            Layout::Iso2022Jp
        } else {
            Layout::Plain
        }
    }

    /// Returns whether the byte is the first of two.
    pub(super) fn is_lead(self, byte: u8) -> bool {
        match self {
            Layout::ShiftJis => matches!(byte, 0x81..=0x9f | 0xe0..=0xfc),
            Layout::Chinese => matches!(byte, 0x81..=0xfe),
            Layout::Plain | Layout::Iso2022Jp => false,
        }
    }
}

/// A file converted to UTF-8.
pub(super) struct DecodedText<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    pub(super) charset: Charset,
}

/// Decodes a file with one or more records.
pub(super) fn read(bytes: &[u8]) -> DecodedText<'_> {
    let charset = find(bytes, true);
    let bytes = if charset.is_unicode() {
        Cow::Borrowed(bytes)
    } else {
        let behind = bytes.get(charset.start..).unwrap_or_default();
        let (text, _) = charset.encoding.decode_without_bom_handling(behind);
        Cow::Owned(text.into_owned().into_bytes())
    };
    DecodedText { bytes, charset }
}

/// Converts an offset into the text of a file to an offset into the file. The two differ if the file is converted to
/// UTF-8 before it is parsed, see the [module documentation](super).
pub fn source_offset(bytes: &[u8], offset: usize) -> usize {
    let charset = find(bytes, true);
    if charset.is_unicode() {
        return offset.min(bytes.len());
    }
    let mut decoder = charset.encoding.new_decoder_without_bom_handling();
    let mut converted = 0;
    let mut character = [0; 16];
    for (at, byte) in bytes.iter().enumerate().skip(charset.start) {
        // One byte yields at most a few characters, so the output buffer is large enough.
        let (_, _, written, _) = decoder.decode_to_utf8(std::slice::from_ref(byte), &mut character, false);
        converted += written;
        if converted > offset {
            return at;
        }
    }
    bytes.len()
}

/// Determines the character set of a file. `is_whole` is false if the bytes are the beginning of a longer file. An open
/// bracket is then not a fault.
pub(super) fn find(bytes: &[u8], is_whole: bool) -> Charset {
    let of = |encoding, source| Charset { encoding, source, start: 0 };
    if bytes.is_ascii() {
        return match utf16_without_mark(bytes) {
            Some(encoding) => of(encoding, Source::Utf16),
            None if has_japanese_escape(bytes) => named_or(bytes, ISO_2022_JP),
            None => of(UTF_8, Source::Ascii),
        };
    }
    if let Some((encoding, start)) = Encoding::for_bom(bytes).filter(|(encoding, _)| *encoding != UTF_8) {
        return Charset { encoding, source: Source::Utf16, start };
    }
    if std::str::from_utf8(bytes).is_ok() {
        return of(UTF_8, Source::Utf8);
    }
    if let Some(encoding) = utf16_without_mark(bytes) {
        return of(encoding, Source::Utf16);
    }
    let utf8 = Utf8Count::of(bytes);
    let damaged = of(UTF_8, Source::DamagedUtf8(utf8.bad));
    if utf8.long >= 4 && utf8.long >= 4 * utf8.bad {
        return damaged;
    }
    let named = label(bytes).map(encoding_of);
    if let Some(Some(encoding)) = named
        && encoding != UTF_8
        && faults(encoding, bytes, is_whole) == Some(0)
    {
        return of(encoding, Source::Named);
    }
    let named = named.flatten();
    let may_be_utf8 = named.is_none_or(|encoding| encoding == UTF_8);
    if may_be_utf8 && utf8.long >= utf8.bad {
        return damaged;
    }
    let encoding = guess(bytes, named, is_whole);
    of(encoding, if Some(encoding) == named { Source::Named } else { Source::Guessed })
}

/// Returns this set, marked as named by the record or as guessed.
fn named_or(bytes: &[u8], encoding: &'static Encoding) -> Charset {
    let is_named = label(bytes).and_then(encoding_of) == Some(encoding);
    Charset { encoding, source: if is_named { Source::Named } else { Source::Guessed }, start: 0 }
}

/// Detects UTF-16 without a byte order mark: a game begins with two ASCII characters.
fn utf16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let beginning = bytes.get(..256).unwrap_or(bytes);
    let mut fours = beginning.windows(4);
    if !beginning.contains(&0) {
        return None;
    }
    fours.find_map(|four| match four {
        [b'(', 0, b';', 0] => Some(UTF_16LE),
        [0, b'(', 0, b';'] => Some(UTF_16BE),
        _ => None,
    })
}

/// Returns whether the bytes contain an escape sequence of ISO-2022-JP that a game can contain, and are valid in that
/// set.
fn has_japanese_escape(bytes: &[u8]) -> bool {
    let is_there = bytes.contains(&0x1b)
        && bytes.windows(3).any(|three| matches!(three, [0x1b, b'$', b'B' | b'@'] | [0x1b, b'(', b'I']));
    is_there && is_clean(ISO_2022_JP, bytes)
}

/// Counts of valid and invalid UTF-8 in a text.
#[derive(Default)]
struct Utf8Count {
    /// Number of characters of three bytes and more.
    long: usize,
    /// Number of invalid sequences.
    bad: usize,
}

impl Utf8Count {
    fn of(bytes: &[u8]) -> Utf8Count {
        let mut count = Utf8Count::default();
        for chunk in bytes.utf8_chunks() {
            // Counts the first bytes of characters of three and four bytes.
            count.long += chunk.valid().bytes().filter(|&byte| byte >= 0xe0).count();
            count.bad += usize::from(!chunk.invalid().is_empty());
        }
        count
    }
}

/// Returns the value of the first `CA` of the first game.
fn label(bytes: &[u8]) -> Option<&[u8]> {
    let start = first_tree(bytes)?;
    let root = bytes.get(start..)?;
    let root = root.get(..NAMED_WITHIN).unwrap_or(root);
    root.windows(3).enumerate().filter(|(_, three)| three.starts_with(b"CA")).find_map(|(at, _)| {
        let before = root.get(at.wrapping_sub(1)).copied().unwrap_or_default();
        let behind = root.get(at + 2..)?.trim_ascii_start().strip_prefix(b"[")?;
        let behind = behind.get(..=LABEL_BYTES).unwrap_or(behind);
        let length = behind.iter().position(|&byte| byte == b']')?;
        let label = behind.get(..length)?.trim_ascii();
        (!before.is_ascii_alphabetic() && !label.is_empty() && label.is_ascii()).then_some(label)
    })
}

/// Returns the set that a name stands for. Returns `None` if the name is unknown, or if a record in that set could not
/// contain the name in ASCII.
fn encoding_of(label: &[u8]) -> Option<&'static Encoding> {
    let plain: Vec<u8> =
        label.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect();
    let encoding = match plain.as_slice() {
        b"cp936" | b"ms936" | b"windows936" | b"win936" | b"euccn" | b"gb231280" | b"936" => Some(GBK),
        b"cp949" | b"ms949" | b"windows949" | b"win949" | b"uhc" | b"euckr" | b"ksc5601" | b"949" => {
            Some(EUC_KR)
        }
        b"cp932" | b"ms932" | b"windows932" | b"win932" | b"shiftjis" | b"sjis" | b"mskanji" | b"932" => {
            Some(SHIFT_JIS)
        }
        b"cp950" | b"ms950" | b"windows950" | b"win950" | b"bigfive" | b"big5tw" | b"950" => Some(BIG5),
        b"eucjp" | b"eucjpms" | b"ujis" => Some(EUC_JP),
        b"iso2022jp" | b"jis" => Some(ISO_2022_JP),
        b"koi8" => Some(KOI8_R),
        b"win1251" | b"1251" => Some(WINDOWS_1251),
        b"win1252" | b"1252" | b"ansi" => Some(WINDOWS_1252),
        b"win1250" | b"1250" => Some(WINDOWS_1250),
        _ => Encoding::for_label(label),
    };
    encoding.filter(|encoding| ![REPLACEMENT, X_USER_DEFINED, UTF_16LE, UTF_16BE].contains(encoding))
}

/// Decodes text in a set. Returns `None` if the bytes are not valid in it.
fn decoded(encoding: &'static Encoding, bytes: &[u8]) -> Option<String> {
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
    // No record contains control characters of Latin-1: an apparent one is half of a character.
    (!text.contains(|character| matches!(character, '\u{80}'..='\u{9f}'))).then(|| text.into_owned())
}

fn is_clean(encoding: &'static Encoding, bytes: &[u8]) -> bool {
    decoded(encoding, bytes).is_some()
}

fn faults(encoding: &'static Encoding, bytes: &[u8], is_whole: bool) -> Option<usize> {
    decoded(encoding, bytes).map(|text| count_faults(text.as_bytes(), is_whole))
}

const DOUBLE_BYTE: [&Encoding; 5] = [GBK, BIG5, SHIFT_JIS, EUC_JP, EUC_KR];

/// Penalty for each fault of the record in a set. For comparison, a frequent character counts 20.
const FAULT: i32 = 80;
/// Bonus for the set that `CA` names.
const NAMED: i32 = 40;
/// Bonus for the set that `chardetng` detects.
const DETECTED: i32 = 15;

/// Returns the set with the best total score.
fn guess(bytes: &[u8], named: Option<&'static Encoding>, is_whole: bool) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&excerpt(bytes), true);
    let detected = detector.guess(None, Utf8Detection::Deny);
    let is_double_byte = DOUBLE_BYTE.contains(&detected) || detected == GB18030;
    let single_byte = if is_double_byte { WINDOWS_1252 } else { cyrillic_or(detected, bytes) };
    let mut best = (i32::MIN, WINDOWS_1252);
    for encoding in DOUBLE_BYTE.into_iter().chain([single_byte]).chain(named) {
        let Some(text) = decoded(encoding, bytes) else { continue };
        let faults = count_faults(text.as_bytes(), is_whole).min(9) as i32;
        let sense = match is_double_byte {
            _ if DOUBLE_BYTE.contains(&encoding) => language_score(encoding, &text),
            // A single byte is a letter in nearly every single-byte set, so letters are weak evidence.
            false => 15,
            true => -30,
        };
        let named = if named == Some(encoding) { NAMED } else { 0 };
        let detected = if detected == encoding { DETECTED } else { 0 };
        let total = sense + named + detected - FAULT * faults;
        if total > best.0 {
            best = (total, encoding);
        }
    }
    best.1
}

/// Returns the non-ASCII bytes with a few bytes on both sides. The detector needs the adjacent letters. On a whole
/// record, it would spend most of its time on the moves.
fn excerpt(bytes: &[u8]) -> Vec<u8> {
    const AROUND: usize = 8;
    const MAX_BYTES: usize = 1 << 16;
    let mut excerpt = Vec::new();
    // End of the bytes taken so far.
    let mut end = 0;
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| !byte.is_ascii()) {
        let start = at.saturating_sub(AROUND).max(end);
        end = end.max(bytes.len().min(at + 1 + AROUND));
        excerpt.extend_from_slice(bytes.get(start..end).unwrap_or_default());
        if excerpt.len() > MAX_BYTES {
            break;
        }
    }
    excerpt
}

/// Returns a Cyrillic set instead of a detected Latin one if no word mixes ASCII with other letters and the case of the
/// letters fits. The detector mistakes names of few letters for Latin.
fn cyrillic_or(detected: &'static Encoding, bytes: &[u8]) -> &'static Encoding {
    const LATIN: [&Encoding; 5] = [WINDOWS_1252, WINDOWS_1250, WINDOWS_1254, WINDOWS_1257, ISO_8859_2];
    if !LATIN.contains(&detected) {
        return detected;
    }
    // These include Ё and ё of both sets.
    let is_letter = |byte: u8| byte >= 0xc0 || matches!(byte, 0xa3 | 0xa8 | 0xb3 | 0xb8);
    let words = bytes.split(|&byte| !byte.is_ascii_alphabetic() && !is_letter(byte));
    let (mut count, mut windows, mut koi8) = (0, 0, 0);
    for word in words.filter(|word| !word.is_ascii()) {
        let [_, rest @ ..] = word else { continue };
        if rest.is_empty() || word.iter().any(u8::is_ascii) {
            return detected;
        }
        count += 1;
        // Lower-case letters after the first letter.
        windows += usize::from(rest.iter().all(|&byte| byte >= 0xe0 || byte == 0xb8));
        koi8 += usize::from(rest.iter().all(|&byte| matches!(byte, 0xc0..=0xdf | 0xa3)));
    }
    match count {
        0 => detected,
        _ if windows == count => WINDOWS_1251,
        _ if koi8 == count => KOI8_R,
        _ => detected,
    }
}

/// For each character, two bits per language: whether it is frequent, and whether it begins family names.
static FREQUENT: LazyLock<HashMap<char, u8>> = LazyLock::new(|| {
    let mut frequent: HashMap<char, u8> = HashMap::new();
    for (index, FrequentCharacters { family, others }) in LANGUAGES.into_iter().enumerate() {
        for character in family.chars() {
            *frequent.entry(character).or_default() |= 0b11 << (2 * index);
        }
        for character in others.chars() {
            *frequent.entry(character).or_default() |= 0b01 << (2 * index);
        }
    }
    frequent
});

const LANGUAGES: [&FrequentCharacters; 4] = [&SIMPLIFIED, &TRADITIONAL, &JAPANESE, &KOREAN];

/// Returns a score of how much a text in one of the double-byte sets resembles names and words of its language. A
/// frequent character counts 20. If the text is really in a single-byte set, each pair of bytes becomes one rare
/// character.
fn language_score(encoding: &'static Encoding, text: &str) -> i32 {
    let language = match () {
        () if encoding == GBK => 0,
        () if encoding == BIG5 => 1,
        () if encoding == EUC_KR => 3,
        () => 2,
    };
    let of_language =
        |character: char| FREQUENT.get(&character).map_or(0, |bits| bits >> (2 * language) & 0b11);
    let mut total = 0;
    let words = text.split(|character: char| !character.is_alphabetic() || character.is_ascii());
    for word in words.filter(|word| !word.is_empty()).take(SAMPLE) {
        let begins_name = word.chars().next().is_some_and(|first| of_language(first) == 0b11);
        if begins_name && (2..=4).contains(&word.chars().count()) {
            total += 10;
        }
    }
    for character in text.chars().filter(|character| !character.is_ascii()).take(SAMPLE) {
        let is_frequent = of_language(character) != 0;
        let bytes = encoding.encode(character.encode_utf8(&mut [0; 4])).0.into_owned();
        let (lead, trail) = (bytes.first().copied().unwrap_or(0), bytes.get(1).copied().unwrap_or(0));
        // Rows of the national standards: usual characters first, then rare ones, then those added by vendors.
        let is_standard = bytes.len() == 2 && trail >= 0xa1;
        total += match character {
            '\u{e000}'..='\u{f8ff}' => -60,
            '\u{ff61}'..='\u{ff9f}' => -15,
            '\u{3041}'..='\u{30ff}' if language == 2 => 15,
            '\u{3041}'..='\u{30ff}' => -5,
            '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff60}' | '\u{2010}'..='\u{2030}' => 0,
            _ if is_frequent => 20,
            '\u{ac00}'..='\u{d7a3}' if is_standard && lead >= 0xb0 => -3,
            '\u{ac00}'..='\u{d7a3}' => -30,
            '\u{3400}'..='\u{9fff}' if encoding == GBK => match lead {
                0xb0..=0xd7 if is_standard => -2,
                0xd8..=0xf7 if is_standard => -10,
                _ if bytes.len() > 2 => -40,
                _ => -25,
            },
            '\u{3400}'..='\u{9fff}' if encoding == BIG5 => match lead {
                0xa4..=0xc6 => -2,
                0xc9.. => -15,
                _ => -40,
            },
            '\u{3400}'..='\u{9fff}' if encoding == SHIFT_JIS => match lead {
                ..=0x97 => -2,
                0x98 if trail <= 0x72 => -2,
                _ => -12,
            },
            '\u{3400}'..='\u{9fff}' if encoding == EUC_JP => match lead {
                _ if bytes.len() > 2 => -40,
                0xb0..=0xcf => -2,
                _ => -12,
            },
            _ => -15,
        };
    }
    total
}

#[cfg(test)]
mod tests;
