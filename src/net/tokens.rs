//! The letters of a network file: words, numbers and blocks of weights.
//!
//! A file is words between white space. Weights are decimals, or the five characters `@BIN@` and as many
//! little-endian `f32`. In compact files, which KataGo does not know, they can be the six characters `@STEP@`, a
//! little-endian `f32`, and as many signed bytes: each weight is so many times that step. Nothing here trusts a length:
//! memory is taken as data comes, and everything has a limit.

use super::error::{ErrorKind, ReadError};
use std::io::{self, BufRead};

/// The most numbers in one network: 1 GiB of them. The largest that KataGo has published hold a third of that.
pub(super) const MOST_PARAMETERS: usize = 1 << 28;

/// The longest word; a name of a layer, say.
const LONGEST_WORD: usize = 256;

/// The longest run of white space; KataGo writes one line end.
const LONGEST_SPACE: usize = 1 << 10;

/// Weights nearer to zero than this become zero: no result changes, and processors that take a hundred times as long for
/// numbers below 10⁻³⁸ ("denormal" ones) are spared. Training leaves them in channels that it has given up.
const LEAST_WEIGHT: f32 = 1e-30;

/// What introduces binary weights.
pub(super) const BINARY_MARK: &[u8] = b"@BIN@";

/// What introduces weights that are whole multiples of a step.
const STEP_MARK: &[u8] = b"@STEP@";

/// Numbers that are read at a time.
const CHUNK: usize = 1 << 12;

/// Reads words, and knows where it is.
pub(super) struct Tokens<R> {
    input: R,
    /// Bytes read so far.
    offset: u64,
    /// What is being read, for errors.
    pub(super) layer: String,
    /// Numbers read so far.
    parameters: usize,
    /// Are weights binary? The first ones decide.
    binary: Option<bool>,
}

impl<R: BufRead> Tokens<R> {
    pub(super) fn new(input: R) -> Tokens<R> {
        Tokens { input, offset: 0, layer: String::new(), parameters: 0, binary: None }
    }

    /// The error `kind` at this place.
    pub(super) fn error(&self, kind: ErrorKind) -> ReadError {
        ReadError::At { layer: self.layer.clone(), offset: self.offset, kind }
    }

    /// What has been unpacked and not yet taken; nothing only at the end.
    fn buffered(&mut self) -> Result<&[u8], ReadError> {
        // Twice, because a borrow that is returned on one path only is held on all.
        loop {
            match self.input.fill_buf() {
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A compressed file that was cut.
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

    /// Skips white space. The first byte behind, if there is one.
    fn skip_space(&mut self) -> Result<Option<u8>, ReadError> {
        for _ in 0..LONGEST_SPACE {
            match self.peek()? {
                Some(byte) if byte.is_ascii_whitespace() => self.take(1),
                other => return Ok(other),
            }
        }
        Err(self.error(ErrorKind::Word(LONGEST_WORD)))
    }

    /// The next word.
    pub(super) fn word(&mut self) -> Result<String, ReadError> {
        if self.skip_space()?.is_none() {
            return Err(self.error(ErrorKind::End));
        }
        let mut word = String::new();
        loop {
            match self.peek()? {
                Some(byte) if byte.is_ascii_graphic() && word.len() < LONGEST_WORD => {
                    word.push(char::from(byte));
                    self.take(1);
                }
                Some(byte) if !byte.is_ascii_whitespace() => {
                    return Err(self.error(ErrorKind::Word(LONGEST_WORD)));
                }
                _ => return Ok(word),
            }
        }
    }

    /// The name of a layer, which from now on is the one that is being read. Until it is known, errors call it by
    /// its role.
    pub(super) fn name(&mut self, role: &str) -> Result<String, ReadError> {
        role.clone_into(&mut self.layer);
        let name = self.word()?;
        name.clone_into(&mut self.layer);
        Ok(name)
    }

    /// A whole number.
    pub(super) fn integer(&mut self, what: &'static str) -> Result<u64, ReadError> {
        let word = self.word()?;
        let number = word.parse();
        number.map_err(|_| self.error(ErrorKind::Number { what, word, wanted: "a whole number" }))
    }

    /// A whole number from `least` to `most`.
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

    /// A number above zero and not above `most`.
    pub(super) fn positive(&mut self, what: &'static str, most: f64) -> Result<f64, ReadError> {
        let word = self.word()?;
        match word.parse::<f64>() {
            // Not one that is zero once it is an `f32`.
            Ok(number) if number as f32 > 0.0 && number <= most => Ok(number),
            _ => Err(self.error(ErrorKind::Number { what, word, wanted: "a reasonable number above zero" })),
        }
    }

    /// `count` weights.
    pub(super) fn weights(&mut self, count: usize) -> Result<Vec<f32>, ReadError> {
        self.parameters = self.parameters.saturating_add(count);
        if self.parameters > MOST_PARAMETERS {
            return Err(self.error(ErrorKind::TooLarge(MOST_PARAMETERS)));
        }
        let first = self.skip_space()?;
        let is_binary = first == Some(BINARY_MARK[0]);
        if first.is_none() {
            return Err(self.error(ErrorKind::End));
        } else if *self.binary.get_or_insert(is_binary) != is_binary {
            return Err(self.error(ErrorKind::NoWeights));
        }
        let mut weights = Vec::with_capacity(count.min(CHUNK));
        if is_binary {
            self.take(1);
            if self.peek()? == Some(STEP_MARK[1]) {
                self.mark(&STEP_MARK[1..])?;
                self.stepped_weights(count, &mut weights)?;
            } else {
                self.mark(&BINARY_MARK[1..])?;
                self.binary_weights(count, &mut weights)?;
            }
        } else {
            self.decimal_weights(count, &mut weights)?;
        }
        weights.shrink_to_fit();
        // Times zero, so that the sign stays.
        weights.iter_mut().filter(|weight| weight.abs() < LEAST_WEIGHT).for_each(|weight| *weight *= 0.0);
        Ok(weights)
    }

    /// Takes these letters.
    fn mark(&mut self, letters: &[u8]) -> Result<(), ReadError> {
        for &wanted in letters {
            match self.peek()? {
                Some(byte) if byte == wanted => self.take(1),
                Some(_) => return Err(self.error(ErrorKind::NoWeights)),
                None => return Err(self.error(ErrorKind::End)),
            }
        }
        Ok(())
    }

    /// Takes as many bytes as there is room for.
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
        // The largest multiple has to be a number, too.
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
                    return Err(self.error(ErrorKind::Number { what: "a weight", word, wanted: "a number" }));
                }
            }
        }
        Ok(())
    }

    /// Nothing but white space comes. Reading to the very end also has the checksum of a compressed file looked at.
    pub(super) fn end(&mut self) -> Result<(), ReadError> {
        match self.skip_space()? {
            None => Ok(()),
            Some(_) => Err(self.error(ErrorKind::Trailing)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind<T: std::fmt::Debug>(result: Result<T, ReadError>) -> ErrorKind {
        match result {
            Err(ReadError::At { kind, .. }) => kind,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn words_and_numbers() {
        let mut tokens = Tokens::new(&b"  conv1\n\t12 -3 0.5 1e-60 nan 7 8 9"[..]);
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
        assert_eq!(error, "conv1, at byte 34 of the unpacked file: the file ends too early");
    }

    #[test]
    fn weights_are_binary_or_decimals_but_not_both() {
        let mut bytes = b"\n@BIN@".to_vec();
        bytes.extend(
            [1.5f32, -0.0, f32::MIN_POSITIVE, 1e-29, -1e-40].iter().flat_map(|weight| weight.to_le_bytes()),
        );
        bytes.extend(b"\n1.5 ");
        let mut tokens = Tokens::new(&bytes[..]);
        assert_eq!(tokens.weights(5).unwrap(), [1.5, 0.0, 0.0, 1e-29, 0.0], "tiny ones are zero");
        assert_eq!(kind(tokens.weights(1)), ErrorKind::NoWeights);
        let steps =
            [b"@STEP@", &0.25f32.to_le_bytes()[..], &[3, 0, 0xff, 0x80, 0x7f], b"\n@BIN@", &[0; 4]].concat();
        let mut tokens = Tokens::new(&steps[..]);
        assert_eq!(tokens.weights(5).unwrap(), [0.75, 0.0, -0.25, -32.0, 31.75]);
        assert_eq!(tokens.weights(1).unwrap(), [0.0]);
        let mut tokens = Tokens::new(&b"1.5 -2e-3\n4 @BIN@...."[..]);
        assert_eq!(tokens.weights(3).unwrap(), [1.5, -2e-3, 4.0]);
        assert_eq!(kind(tokens.weights(1)), ErrorKind::NoWeights);
    }

    #[test]
    fn weights_that_are_not_there_are_not_believed() {
        assert_eq!(kind(Tokens::new(&b"@BIN@abcdabcd"[..]).weights(MOST_PARAMETERS)), ErrorKind::End);
        assert_eq!(
            kind(Tokens::new(&b"@BIN@"[..]).weights(usize::MAX)),
            ErrorKind::TooLarge(MOST_PARAMETERS)
        );
        for mark in ["@BIG@", "@STEP ", "@@BIN@"] {
            assert_eq!(kind(Tokens::new(mark.as_bytes()).weights(1)), ErrorKind::NoWeights, "{mark}");
        }
        assert_eq!(kind(Tokens::new(&b"@STEP@0123abc"[..]).weights(MOST_PARAMETERS)), ErrorKind::End);
        for text in ["inf", "-nan", "1e99"] {
            assert!(Tokens::new(text.as_bytes()).weights(1).is_err(), "{text}");
        }
        let nan = [b"@BIN@", &f32::NAN.to_le_bytes()[..]].concat();
        assert_eq!(kind(Tokens::new(&nan[..]).weights(1)), ErrorKind::NotFinite);
        for step in [f32::NAN, f32::NEG_INFINITY, f32::MAX] {
            let steps = [b"@STEP@", &step.to_le_bytes()[..], &[0]].concat();
            assert_eq!(kind(Tokens::new(&steps[..]).weights(1)), ErrorKind::NotFinite, "{step}");
        }
    }

    #[test]
    fn endless_words_and_endless_space_end() {
        for byte in [b'x', b' '] {
            let input = io::BufReader::new(io::Read::take(io::repeat(byte), 1 << 20));
            assert_eq!(kind(Tokens::new(input).word()), ErrorKind::Word(LONGEST_WORD));
        }
    }
}
