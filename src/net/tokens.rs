//! Lexical level of network files: words, numbers and blocks of weights.
//!
//! A file consists of words separated by white space. A block of weights is a sequence of decimals, or the five
//! characters `@BIN@` followed by little-endian `f32` numbers. Compact files, which KataGo does not support, may
//! contain a third kind: the six characters `@STEP@`, a little-endian `f32` as the step, and signed bytes, where each
//! weight is its byte times the step. In files of 8 bits (`int8.rs`), the weights of a matrix can be elsewhere. No
//! length in a file is trusted: memory grows with the data that has been read, and everything has a limit.

use super::error::{ErrorKind, ReadError};
use super::int8::{EIGHT_MARK, SIXTEEN_MARK, Sections};
use super::weights::{IntegerSize, Weights};
use std::io::{self, BufRead};

/// Largest number of weights of a network. They take 1 GiB. The largest networks that KataGo has published have a third
/// of that.
pub(super) const MAX_PARAMETERS: usize = 1 << 28;

/// Largest length of a word (the name of a layer, for example), in bytes.
const MAX_WORD_BYTES: usize = 256;

/// Largest length of a run of white space, in bytes. KataGo writes a single line end.
const MAX_SPACE_BYTES: usize = 1 << 10;

/// Weights of a smaller magnitude are replaced by zero. No result changes, and processors that need a hundred times as
/// long for denormal numbers (below 10⁻³⁸) do not meet any. Training leaves such weights in channels that it no longer
/// uses.
pub(super) const MIN_WEIGHT: f32 = 1e-30;

/// Characters that introduce binary weights.
pub(super) const BINARY_MARK: &[u8] = b"@BIN@";

/// Characters that introduce weights that are integer multiples of a step.
const STEP_MARK: &[u8] = b"@STEP@";

/// Number of weights that are read at a time.
const CHUNK: usize = 1 << 12;

/// Reader of words and weights that tracks its position.
pub(super) struct TokenReader<R> {
    input: R,
    /// Number of bytes read so far.
    offset: u64,
    /// Name or role of the layer that is being read, for errors.
    pub(super) current_layer: String,
    /// Number of weights read so far.
    parameters: usize,
    /// Whether weights are binary, which the first block of weights decides.
    binary: Option<bool>,
    /// Sections with integers, in files of 8 bits.
    sections: Option<Sections>,
}

/// Encoding of a block of weights.
enum BlockEncoding {
    Decimals,
    Binary,
    Stepped,
    /// The weights are integers in the next section.
    Section(IntegerSize),
}

impl<R: BufRead> TokenReader<R> {
    pub(super) fn new(input: R) -> TokenReader<R> {
        TokenReader {
            input,
            offset: 0,
            current_layer: String::new(),
            parameters: 0,
            binary: None,
            sections: None,
        }
    }

    /// Returns a reader of the structure of a file of 8 bits.
    pub(super) fn with_sections(input: R, sections: Sections) -> TokenReader<R> {
        TokenReader { sections: Some(sections), ..TokenReader::new(input) }
    }

    /// Returns an error of this kind at the current position.
    pub(super) fn error(&self, kind: ErrorKind) -> ReadError {
        ReadError::At { layer: self.current_layer.clone(), offset: self.offset, kind }
    }

    /// Returns the bytes that are decompressed and not yet consumed. It is empty only at the end of the input.
    fn buffered(&mut self) -> Result<&[u8], ReadError> {
        // Two calls, because a borrow that is returned on one path counts as held on all paths.
        loop {
            match self.input.fill_buf() {
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The compressed file is truncated.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Err(self.error(ErrorKind::End));
                }
                Err(error) => return Err(ReadError::Io(error)),
            }
        }
        self.input.fill_buf().map_err(ReadError::Io)
    }

    fn peek(&mut self) -> Result<Option<u8>, ReadError> {
        Ok(self.buffered()?.first().copied())
    }

    fn take(&mut self, count: usize) {
        self.input.consume(count);
        self.offset += count as u64;
    }

    /// Skips white space and returns the next byte, or `None` at the end of the input.
    fn skip_space(&mut self) -> Result<Option<u8>, ReadError> {
        for _ in 0..MAX_SPACE_BYTES {
            match self.peek()? {
                Some(byte) if byte.is_ascii_whitespace() => self.take(1),
                other => return Ok(other),
            }
        }
        Err(self.error(ErrorKind::Word(MAX_WORD_BYTES)))
    }

    /// Reads a word.
    pub(super) fn word(&mut self) -> Result<String, ReadError> {
        if self.skip_space()?.is_none() {
            return Err(self.error(ErrorKind::End));
        }
        let mut word = String::new();
        loop {
            match self.peek()? {
                Some(byte) if byte.is_ascii_graphic() && word.len() < MAX_WORD_BYTES => {
                    word.push(char::from(byte));
                    self.take(1);
                }
                Some(byte) if !byte.is_ascii_whitespace() => {
                    return Err(self.error(ErrorKind::Word(MAX_WORD_BYTES)));
                }
                _ => return Ok(word),
            }
        }
    }

    /// Reads the name of a layer, which becomes the layer of later errors. Errors before the name is known use `role`.
    pub(super) fn name(&mut self, role: &str) -> Result<String, ReadError> {
        role.clone_into(&mut self.current_layer);
        let name = self.word()?;
        name.clone_into(&mut self.current_layer);
        Ok(name)
    }

    /// Reads a whole number.
    pub(super) fn integer(&mut self, what: &'static str) -> Result<u64, ReadError> {
        let word = self.word()?;
        let number = word.parse();
        number.map_err(|_| self.error(ErrorKind::Number { what, word, expected: "a whole number" }))
    }

    /// Reads a whole number from `least` to `most`.
    pub(super) fn integer_in(
        &mut self,
        what: &'static str,
        least: usize,
        most: usize,
    ) -> Result<usize, ReadError> {
        let found = self.integer(what)?;
        match usize::try_from(found) {
            Ok(number) if (least..=most).contains(&number) => Ok(number),
            _ => {
                let (least, most) = (least as u64, most as u64);
                Err(self.error(ErrorKind::Range { what, found, least, most }))
            }
        }
    }

    /// Reads a number above zero and at most `most`.
    pub(super) fn positive(&mut self, what: &'static str, most: f64) -> Result<f64, ReadError> {
        let word = self.word()?;
        match word.parse::<f64>() {
            // The number must also be above zero as an `f32`.
            Ok(number) if number as f32 > 0.0 && number <= most => Ok(number),
            _ => Err(self.error(ErrorKind::Number {
                what,
                word,
                expected: "a positive number within the limit",
            })),
        }
    }

    /// Reads a block of `count` weights.
    pub(super) fn weights(&mut self, count: usize) -> Result<Vec<f32>, ReadError> {
        let encoding = self.encoding(count)?;
        self.floats(encoding, count)
    }

    /// Reads the weights of a matrix of shape `[rows][outputs]`, which can be integers.
    pub(super) fn matrix(&mut self, rows: usize, outputs: usize) -> Result<Weights, ReadError> {
        let count = rows.saturating_mul(outputs);
        match self.encoding(count)? {
            BlockEncoding::Section(size) => {
                let Some(sections) = &mut self.sections else {
                    return Err(self.error(ErrorKind::NoWeights));
                };
                let integers = sections.take(size, rows, outputs);
                Ok(Weights::from(integers.map_err(|kind| self.error(kind))?))
            }
            encoding => Ok(Weights::from(self.floats(encoding, count)?)),
        }
    }

    /// Reads the characters that introduce `count` weights, and returns the encoding of the weights.
    fn encoding(&mut self, count: usize) -> Result<BlockEncoding, ReadError> {
        self.parameters = self.parameters.saturating_add(count);
        if self.parameters > MAX_PARAMETERS {
            return Err(self.error(ErrorKind::TooLarge(MAX_PARAMETERS)));
        }
        let first = self.skip_space()?;
        let is_binary = first == Some(BINARY_MARK[0]);
        if first.is_none() {
            return Err(self.error(ErrorKind::End));
        } else if *self.binary.get_or_insert(is_binary) != is_binary {
            return Err(self.error(ErrorKind::NoWeights));
        }
        if !is_binary {
            return Ok(BlockEncoding::Decimals);
        }
        self.take(1);
        match self.peek()? {
            Some(letter) if letter == STEP_MARK[1] => {
                self.mark(&STEP_MARK[1..])?;
                Ok(BlockEncoding::Stepped)
            }
            Some(letter) if letter == EIGHT_MARK[1] => {
                self.mark(b"INT")?;
                let is_eight = self.peek()? == Some(EIGHT_MARK[4]);
                self.mark(if is_eight { &EIGHT_MARK[4..] } else { &SIXTEEN_MARK[4..] })?;
                let size = if is_eight { IntegerSize::Eight } else { IntegerSize::Sixteen };
                Ok(BlockEncoding::Section(size))
            }
            _ => {
                self.mark(&BINARY_MARK[1..])?;
                Ok(BlockEncoding::Binary)
            }
        }
    }

    /// Reads `count` weights that are floats.
    fn floats(&mut self, encoding: BlockEncoding, count: usize) -> Result<Vec<f32>, ReadError> {
        let mut weights = Vec::with_capacity(count.min(CHUNK));
        match encoding {
            BlockEncoding::Decimals => self.decimal_weights(count, &mut weights)?,
            BlockEncoding::Binary => self.binary_weights(count, &mut weights)?,
            BlockEncoding::Stepped => self.stepped_weights(count, &mut weights)?,
            BlockEncoding::Section(_) => return Err(self.error(ErrorKind::NoWeights)),
        }
        weights.shrink_to_fit();
        // Multiplication by zero keeps the sign.
        weights.iter_mut().filter(|weight| weight.abs() < MIN_WEIGHT).for_each(|weight| *weight *= 0.0);
        Ok(weights)
    }

    /// Consumes exactly these characters.
    fn mark(&mut self, letters: &[u8]) -> Result<(), ReadError> {
        for &expected in letters {
            match self.peek()? {
                Some(byte) if byte == expected => self.take(1),
                Some(_) => return Err(self.error(ErrorKind::NoWeights)),
                None => return Err(self.error(ErrorKind::End)),
            }
        }
        Ok(())
    }

    /// Fills `bytes` from the input.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), ReadError> {
        let mut filled = 0;
        while filled < bytes.len() {
            let buffered = self.buffered()?;
            let taken = buffered.len().min(bytes.len() - filled);
            if taken == 0 {
                return Err(self.error(ErrorKind::End));
            }
            bytes[filled..filled + taken].copy_from_slice(&buffered[..taken]);
            self.take(taken);
            filled += taken;
        }
        Ok(())
    }

    fn binary_weights(&mut self, count: usize, weights: &mut Vec<f32>) -> Result<(), ReadError> {
        let mut bytes = [0; 4 * CHUNK];
        while weights.len() < count {
            let bytes = &mut bytes[..4 * CHUNK.min(count - weights.len())];
            self.fill(bytes)?;
            let (words, _) = bytes.as_chunks::<4>();
            weights.extend(words.iter().map(|&word| f32::from_le_bytes(word)));
            if !weights[weights.len() - words.len()..].iter().all(|weight| weight.is_finite()) {
                return Err(self.error(ErrorKind::NotFinite));
            }
        }
        Ok(())
    }

    fn stepped_weights(&mut self, count: usize, weights: &mut Vec<f32>) -> Result<(), ReadError> {
        let mut step = [0; 4];
        self.fill(&mut step)?;
        let step = f32::from_le_bytes(step);
        // The largest multiple must be finite, too.
        if !(step * f32::from(i8::MIN)).is_finite() {
            return Err(self.error(ErrorKind::NotFinite));
        }
        let mut bytes = [0; CHUNK];
        while weights.len() < count {
            let bytes = &mut bytes[..CHUNK.min(count - weights.len())];
            self.fill(bytes)?;
            weights.extend(bytes.iter().map(|&byte| step * f32::from(byte.cast_signed())));
        }
        Ok(())
    }

    fn decimal_weights(&mut self, count: usize, weights: &mut Vec<f32>) -> Result<(), ReadError> {
        for _ in 0..count {
            let word = self.word()?;
            match word.parse::<f32>() {
                Ok(weight) if weight.is_finite() => weights.push(weight),
                Ok(_) => return Err(self.error(ErrorKind::NotFinite)),
                Err(_) => {
                    return Err(self.error(ErrorKind::Number {
                        what: "a weight",
                        word,
                        expected: "a number",
                    }));
                }
            }
        }
        Ok(())
    }

    /// Checks that only white space is left. Reading to the end also verifies the checksum of a compressed file.
    pub(super) fn end(&mut self) -> Result<(), ReadError> {
        match self.skip_space()? {
            None => self.sections.as_ref().map_or(Ok(()), Sections::end),
            Some(_) => Err(self.error(ErrorKind::Trailing)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::kind;

    #[test]
    fn words_and_numbers() {
        let mut tokens = TokenReader::new(&b"  conv1\n\t12 -3 0.5 1e-60 nan 7 8 9"[..]);
        assert_eq!(tokens.name("a convolution").unwrap(), "conv1");
        assert_eq!(tokens.integer("rows").unwrap(), 12);
        assert!(matches!(kind(tokens.integer("rows")), ErrorKind::Number { what: "rows", .. }));
        assert_eq!(tokens.positive("epsilon", 1.0).unwrap(), 0.5);
        assert!(matches!(kind(tokens.positive("epsilon", 1.0)), ErrorKind::Number { .. }));
        assert!(matches!(kind(tokens.positive("epsilon", 1.0)), ErrorKind::Number { .. }));
        assert_eq!(tokens.integer_in("rows", 7, 7).unwrap(), 7);
        assert_eq!(
            kind(tokens.integer_in("rows", 1, 7)),
            ErrorKind::Range { what: "rows", found: 8, least: 1, most: 7 }
        );
        assert_eq!(kind(tokens.end()), ErrorKind::Trailing);
        assert_eq!(tokens.word().unwrap(), "9");
        assert_eq!(kind(tokens.word()), ErrorKind::End);
        tokens.end().unwrap();
        let error = tokens.error(ErrorKind::End).to_string();
        assert_eq!(error, "conv1, at byte 34 of the decompressed file: the file ends too early");
    }

    #[test]
    fn weights_are_binary_or_decimals_but_not_both() {
        let mut bytes = b"\n@BIN@".to_vec();
        bytes.extend(
            [1.5f32, -0.0, f32::MIN_POSITIVE, 1e-29, -1e-40].iter().flat_map(|weight| weight.to_le_bytes()),
        );
        bytes.extend(b"\n1.5 ");
        let mut tokens = TokenReader::new(&bytes[..]);
        assert_eq!(tokens.weights(5).unwrap(), [1.5, 0.0, 0.0, 1e-29, 0.0], "tiny ones are zero");
        assert_eq!(kind(tokens.weights(1)), ErrorKind::NoWeights);
        let steps =
            [b"@STEP@", &0.25f32.to_le_bytes()[..], &[3, 0, 0xff, 0x80, 0x7f], b"\n@BIN@", &[0; 4]].concat();
        let mut tokens = TokenReader::new(&steps[..]);
        assert_eq!(tokens.weights(5).unwrap(), [0.75, 0.0, -0.25, -32.0, 31.75]);
        assert_eq!(tokens.weights(1).unwrap(), [0.0]);
        let mut tokens = TokenReader::new(&b"1.5 -2e-3\n4 @BIN@...."[..]);
        assert_eq!(tokens.weights(3).unwrap(), [1.5, -2e-3, 4.0]);
        assert_eq!(kind(tokens.weights(1)), ErrorKind::NoWeights);
    }

    #[test]
    fn missing_weights_are_errors() {
        assert_eq!(kind(TokenReader::new(&b"@BIN@abcdabcd"[..]).weights(MAX_PARAMETERS)), ErrorKind::End);
        assert_eq!(
            kind(TokenReader::new(&b"@BIN@"[..]).weights(usize::MAX)),
            ErrorKind::TooLarge(MAX_PARAMETERS)
        );
        for mark in ["@BIG@", "@STEP ", "@@BIN@", "@INT8@", "@INT16@", "@INT1@"] {
            assert_eq!(kind(TokenReader::new(mark.as_bytes()).weights(1)), ErrorKind::NoWeights, "{mark}");
        }
        assert_eq!(kind(TokenReader::new(&b"@STEP@0123abc"[..]).weights(MAX_PARAMETERS)), ErrorKind::End);
        for text in ["inf", "-nan", "1e99"] {
            assert!(TokenReader::new(text.as_bytes()).weights(1).is_err(), "{text}");
        }
        // There are no sections.
        for mark in [EIGHT_MARK, SIXTEEN_MARK] {
            assert_eq!(kind(TokenReader::new(mark).matrix(1, 1)), ErrorKind::NoWeights);
        }
        let nan = [b"@BIN@", &f32::NAN.to_le_bytes()[..]].concat();
        assert_eq!(kind(TokenReader::new(&nan[..]).weights(1)), ErrorKind::NotFinite);
        for step in [f32::NAN, f32::NEG_INFINITY, f32::MAX] {
            let steps = [b"@STEP@", &step.to_le_bytes()[..], &[0]].concat();
            assert_eq!(kind(TokenReader::new(&steps[..]).weights(1)), ErrorKind::NotFinite, "{step}");
        }
    }

    #[test]
    fn words_and_space_are_bounded() {
        for byte in [b'x', b' '] {
            let input = io::BufReader::new(io::Read::take(io::repeat(byte), 1 << 20));
            assert_eq!(kind(TokenReader::new(input).word()), ErrorKind::Word(MAX_WORD_BYTES));
        }
    }
}
