//! Typed reading of the arguments of a command, one after the other.

use std::borrow::Cow;
use std::slice;
use std::str::FromStr;

pub use crate::error::ArgumentError;
use crate::vertex::{Color, Vertex};

/// A cursor over the arguments of a command.
///
/// Each kind of value comes in up to three forms: `color()` must find one; `optional_color()` may find
/// nothing, but not something else; `try_color()` takes the next argument only if it is one, for arguments
/// that may be left out before others.
///
/// ```
/// use kosumi_gtp::{Color, Command, Failure, Vertex};
///
/// fn play(command: &Command) -> Result<(Color, Vertex), Failure> {
///     let mut arguments = command.arguments();
///     let played = (arguments.color()?, arguments.vertex()?);
///     arguments.end()?;
///     Ok(played)
/// }
///
/// assert_eq!(play(&"play W pass".parse()?), Ok((Color::White, Vertex::Pass)));
/// assert_eq!(play(&"play W I4".parse()?), Err(Failure::syntax_error()));
/// # Ok::<(), kosumi_gtp::CommandError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Arguments<'a> {
    words: slice::Iter<'a, String>,
    /// The number of all words.
    count: usize,
    /// The words as they came, with the blanks between them; nothing if that is not known.
    line: &'a str,
}

impl<'a> Arguments<'a> {
    /// A cursor before the first of these words.
    #[must_use]
    pub fn new(words: &'a [String]) -> Self {
        Self::of_line(words, "")
    }

    /// A cursor before the first of these words, which came in this line.
    pub(crate) fn of_line(words: &'a [String], line: &'a str) -> Self {
        Self { words: words.iter(), count: words.len(), line }
    }

    /// How many arguments have not been read yet.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.words.len()
    }

    /// The next argument, which stays the next.
    #[must_use]
    pub fn peek(&self) -> Option<&'a str> {
        self.words.as_slice().first().map(String::as_str)
    }

    /// The next argument as it is.
    ///
    /// # Errors
    ///
    /// [`ArgumentError::Missing`].
    pub fn word(&mut self) -> Result<&'a str, ArgumentError> {
        self.optional_word().ok_or(ArgumentError::Missing)
    }

    /// The next argument as it is, if there is one.
    pub fn optional_word(&mut self) -> Option<&'a str> {
        self.words.next().map(String::as_str)
    }

    /// An integer, in the range of the type.
    ///
    /// # Errors
    ///
    /// [`ArgumentError::Missing`] or [`ArgumentError::NotAnInteger`].
    pub fn integer<T: TryFrom<i128>>(&mut self) -> Result<T, ArgumentError> {
        integer(self.word()?)
    }

    /// An integer, if there is a further argument.
    ///
    /// # Errors
    ///
    /// [`ArgumentError::NotAnInteger`].
    pub fn optional_integer<T: TryFrom<i128>>(&mut self) -> Result<Option<T>, ArgumentError> {
        self.optional_word().map(integer).transpose()
    }

    /// Takes the next argument only if it is an integer in the range of the type.
    pub fn try_integer<T: TryFrom<i128>>(&mut self) -> Option<T> {
        self.take_if(integer)
    }

    /// A finite number. A comma is taken as the decimal point, for GUIs that write numbers as the language of
    /// their user does: `7,50`.
    ///
    /// # Errors
    ///
    /// [`ArgumentError::Missing`] or [`ArgumentError::NotANumber`].
    pub fn float(&mut self) -> Result<f64, ArgumentError> {
        float(self.word()?)
    }

    /// A finite number, if there is a further argument.
    ///
    /// # Errors
    ///
    /// [`ArgumentError::NotANumber`].
    pub fn optional_float(&mut self) -> Result<Option<f64>, ArgumentError> {
        self.optional_word().map(float).transpose()
    }

    /// Takes the next argument only if it is a finite number.
    pub fn try_float(&mut self) -> Option<f64> {
        self.take_if(float)
    }

    /// `true` or `false`.
    ///
    /// # Errors
    ///
    /// [`ArgumentError::Missing`] or [`ArgumentError::NotABoolean`].
    pub fn boolean(&mut self) -> Result<bool, ArgumentError> {
        boolean(self.word()?)
    }

    /// `true` or `false`, if there is a further argument.
    ///
    /// # Errors
    ///
    /// [`ArgumentError::NotABoolean`].
    pub fn optional_boolean(&mut self) -> Result<Option<bool>, ArgumentError> {
        self.optional_word().map(boolean).transpose()
    }

    /// A player.
    ///
    /// # Errors
    ///
    /// [`ArgumentError::Missing`] or [`ArgumentError::NotAColor`].
    pub fn color(&mut self) -> Result<Color, ArgumentError> {
        self.word()?.parse()
    }

    /// A player, if there is a further argument.
    ///
    /// # Errors
    ///
    /// [`ArgumentError::NotAColor`].
    pub fn optional_color(&mut self) -> Result<Option<Color>, ArgumentError> {
        self.optional_word().map(str::parse).transpose()
    }

    /// Takes the next argument only if it is a player.
    pub fn try_color(&mut self) -> Option<Color> {
        self.take_if(Color::from_str)
    }

    /// A vertex, which may be a pass.
    ///
    /// # Errors
    ///
    /// [`ArgumentError::Missing`] or [`ArgumentError::NotAVertex`].
    pub fn vertex(&mut self) -> Result<Vertex, ArgumentError> {
        self.word()?.parse()
    }

    /// A vertex, if there is a further argument.
    ///
    /// # Errors
    ///
    /// [`ArgumentError::NotAVertex`].
    pub fn optional_vertex(&mut self) -> Result<Option<Vertex>, ArgumentError> {
        self.optional_word().map(str::parse).transpose()
    }

    /// Takes the next argument only if it is a vertex.
    pub fn try_vertex(&mut self) -> Option<Vertex> {
        self.take_if(Vertex::from_str)
    }

    /// All further arguments as vertices; there may be none.
    ///
    /// # Errors
    ///
    /// [`ArgumentError::NotAVertex`] if any of them is not.
    pub fn vertices(&mut self) -> Result<Vec<Vertex>, ArgumentError> {
        self.words.by_ref().map(|word| word.parse()).collect()
    }

    /// All further arguments as they came, with all blanks between them, for the names of files.
    pub fn tail(&mut self) -> Cow<'a, str> {
        let mut tail = self.line;
        if tail.is_empty() {
            return Cow::Owned(self.rest());
        }
        for _ in 0..self.count - self.remaining() {
            let behind = tail.find(|character: char| character.is_ascii_whitespace()).unwrap_or(tail.len());
            tail = tail.get(behind..).unwrap_or_default().trim_ascii_start();
        }
        self.ignore_rest();
        Cow::Borrowed(tail)
    }

    /// All further arguments with single spaces between them, for text meant for people.
    pub fn rest(&mut self) -> String {
        let rest = self.words.as_slice().join(" ");
        self.ignore_rest();
        rest
    }

    /// Drops all further arguments. Peers do this in most commands, and some controllers send more than the
    /// draft says (`boardsize 19 19`).
    pub fn ignore_rest(&mut self) {
        self.words = [].iter();
    }

    /// Refuses further arguments.
    ///
    /// # Errors
    ///
    /// [`ArgumentError::TooMany`] if there are any.
    pub fn end(&self) -> Result<(), ArgumentError> {
        if self.remaining() == 0 { Ok(()) } else { Err(ArgumentError::TooMany) }
    }

    fn take_if<T>(&mut self, read: impl FnOnce(&str) -> Result<T, ArgumentError>) -> Option<T> {
        let value = read(self.peek()?).ok()?;
        self.words.next();
        Some(value)
    }
}

fn integer<T: TryFrom<i128>>(word: &str) -> Result<T, ArgumentError> {
    // By way of the widest type, so that only integers satisfy the bound.
    word.parse::<i128>().ok().and_then(|value| T::try_from(value).ok()).ok_or(ArgumentError::NotAnInteger)
}

fn float(word: &str) -> Result<f64, ArgumentError> {
    // Only one comma and no dot beside it: `1,000.5` is more likely a mistake than a number.
    let value = match word.split_once(',') {
        Some((whole, fraction))
            if !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            format!("{whole}.{fraction}").parse::<f64>()
        }
        _ => word.parse::<f64>(),
    };
    // The sum turns a negative zero, which would be shown as `-0`, into a plain one.
    value.ok().filter(|value| value.is_finite()).map(|value| value + 0.0).ok_or(ArgumentError::NotANumber)
}

fn boolean(word: &str) -> Result<bool, ArgumentError> {
    if word.eq_ignore_ascii_case("true") {
        Ok(true)
    } else if word.eq_ignore_ascii_case("false") {
        Ok(false)
    } else {
        Err(ArgumentError::NotABoolean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn the_rest_of_a_line_keeps_its_blanks() {
        let command: crate::Command = "7 load  a  b   c ".parse().unwrap();
        let mut arguments = command.arguments();
        assert_eq!(arguments.clone().tail(), "a  b   c");
        assert_eq!(arguments.word(), Ok("a"));
        assert_eq!(arguments.clone().rest(), "b c");
        assert_eq!(arguments.tail(), "b   c");
        assert_eq!((arguments.remaining(), arguments.tail().as_ref()), (0, ""));
        assert_eq!(Arguments::new(&words("a  b")).tail(), "a b", "without the line");
    }

    #[test]
    fn integers() {
        for (text, expected) in [
            ("0", Ok(0)),
            ("19", Ok(19)),
            ("+5", Ok(5)),
            ("007", Ok(7)),
            ("255", Ok(255)),
            ("256", Err(ArgumentError::NotAnInteger)),
            ("-1", Err(ArgumentError::NotAnInteger)),
            ("19.0", Err(ArgumentError::NotAnInteger)),
            ("x", Err(ArgumentError::NotAnInteger)),
            ("999999999999999999999999999999999999999999999", Err(ArgumentError::NotAnInteger)),
            ("", Err(ArgumentError::Missing)),
        ] {
            assert_eq!(Arguments::new(&words(text)).integer::<u8>(), expected, "{text:?}");
        }
        assert_eq!(Arguments::new(&words("-5")).integer::<i64>(), Ok(-5));
        assert_eq!(Arguments::new(&words("18446744073709551615")).integer(), Ok(u64::MAX));
    }

    #[test]
    fn floats() {
        for (text, expected) in [
            ("7.5", Ok(7.5)),
            ("7.50", Ok(7.5)),
            ("7,50", Ok(7.5)),
            ("-9,5", Ok(-9.5)),
            ("6", Ok(6.0)),
            ("-0", Ok(0.0)),
            (".5", Ok(0.5)),
            ("1e3", Ok(1000.0)),
            ("1e999", Err(ArgumentError::NotANumber)),
            ("inf", Err(ArgumentError::NotANumber)),
            ("-infinity", Err(ArgumentError::NotANumber)),
            ("nan", Err(ArgumentError::NotANumber)),
            ("1,000.5", Err(ArgumentError::NotANumber)),
            ("1,2,3", Err(ArgumentError::NotANumber)),
            ("1.5,2", Err(ArgumentError::NotANumber)),
            ("7,", Err(ArgumentError::NotANumber)),
            ("x", Err(ArgumentError::NotANumber)),
            ("", Err(ArgumentError::Missing)),
        ] {
            assert_eq!(Arguments::new(&words(text)).float(), expected, "{text:?}");
        }
        assert!(Arguments::new(&words("-0")).float().unwrap().is_sign_positive());
    }

    #[test]
    fn booleans() {
        for (text, expected) in [
            ("true", Ok(true)),
            ("False", Ok(false)),
            ("1", Err(ArgumentError::NotABoolean)),
            ("", Err(ArgumentError::Missing)),
        ] {
            assert_eq!(Arguments::new(&words(text)).boolean(), expected, "{text:?}");
        }
    }

    #[test]
    fn optional_values_may_be_missing_but_not_wrong() {
        let none = words("");
        let mut arguments = Arguments::new(&none);
        assert_eq!(arguments.optional_word(), None);
        assert_eq!(arguments.optional_integer::<u32>(), Ok(None));
        assert_eq!(arguments.optional_float(), Ok(None));
        assert_eq!(arguments.optional_boolean(), Ok(None));
        assert_eq!(arguments.optional_color(), Ok(None));
        assert_eq!(arguments.optional_vertex(), Ok(None));
        assert_eq!(arguments.vertex(), Err(ArgumentError::Missing));
        assert_eq!(arguments.color(), Err(ArgumentError::Missing));
        assert_eq!(arguments.word(), Err(ArgumentError::Missing));

        let wrong = words("x x x x x");
        let mut arguments = Arguments::new(&wrong);
        assert_eq!(arguments.optional_integer::<u32>(), Err(ArgumentError::NotAnInteger));
        assert_eq!(arguments.optional_float(), Err(ArgumentError::NotANumber));
        assert_eq!(arguments.optional_boolean(), Err(ArgumentError::NotABoolean));
        assert_eq!(arguments.optional_color(), Err(ArgumentError::NotAColor));
        assert_eq!(arguments.optional_vertex(), Err(ArgumentError::NotAVertex));
        assert_eq!(arguments.remaining(), 0);
    }

    #[test]
    fn arguments_that_may_be_left_out_before_others() {
        for (text, color, interval, rest) in [
            ("b 50", Some(Color::Black), Some(50), ""),
            ("50", None, Some(50), ""),
            ("w", Some(Color::White), None, ""),
            ("interval 50", None, None, "interval 50"),
            ("w 1 ownership  true", Some(Color::White), Some(1), "ownership true"),
        ] {
            let words = words(text);
            let mut arguments = Arguments::new(&words);
            assert_eq!(arguments.try_color(), color, "{text:?}");
            assert_eq!(arguments.try_integer::<u32>(), interval, "{text:?}");
            assert_eq!(arguments.rest(), rest, "{text:?}");
            assert_eq!(arguments.end(), Ok(()), "{text:?}");
        }
    }

    #[test]
    fn lists_and_ends() {
        let stones = words("D4 q16 PASS");
        let mut arguments = Arguments::new(&stones);
        assert_eq!(arguments.end(), Err(ArgumentError::TooMany));
        let list = arguments.vertices().unwrap();
        assert_eq!(list.iter().map(ToString::to_string).collect::<Vec<_>>(), ["D4", "Q16", "pass"]);
        assert_eq!(arguments.end(), Ok(()));
        assert_eq!(Arguments::new(&words("D4 x")).vertices(), Err(ArgumentError::NotAVertex));
        assert_eq!(Arguments::new(&[]).vertices(), Ok(vec![]));

        let sizes = words("19 19");
        let mut arguments = Arguments::new(&sizes);
        assert_eq!(arguments.peek(), Some("19"));
        assert_eq!(arguments.integer(), Ok(19));
        arguments.ignore_rest();
        assert_eq!(arguments.end(), Ok(()));
        assert_eq!(arguments.peek(), None);
    }
}
