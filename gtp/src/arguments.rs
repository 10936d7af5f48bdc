//! Typed reading of the arguments of a command, in their order.

use std::borrow::Cow;
use std::slice;
use std::str::FromStr;

pub use crate::error::ArgumentError;
use crate::vertex::{Color, Vertex};

/// A cursor over the arguments of a command.
///
/// Each kind of value has up to three methods. `color()` requires a colour. `optional_color()` accepts the end of the
/// arguments, but no other value. `try_color()` consumes the next argument only if it is a colour, for arguments that
/// may be omitted before others.
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
    /// Number of all words.
    count: usize,
    /// The arguments as they were received, with the blanks between them. Empty if unknown.
    line: &'a str,
}

impl<'a> Arguments<'a> {
    /// Creates a cursor before the first of these words.
    #[must_use]
    pub fn new(words: &'a [String]) -> Self {
        Self::of_line(words, "")
    }

    /// Creates a cursor before the first of these words, which were received in this line.
    pub(crate) fn of_line(words: &'a [String], line: &'a str) -> Self {
        Self { words: words.iter(), count: words.len(), line }
    }

    /// Returns the number of arguments that have not been read yet.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.words.len()
    }

    /// Returns the next argument without consuming it.
    #[must_use]
    pub fn peek(&self) -> Option<&'a str> {
        self.words.as_slice().first().map(String::as_str)
    }

    /// Reads the next argument as text.
    ///
    /// # Errors
    ///
    /// Returns [`ArgumentError::Missing`] if there is no further argument.
    pub fn word(&mut self) -> Result<&'a str, ArgumentError> {
        self.optional_word().ok_or(ArgumentError::Missing)
    }

    /// Reads the next argument as text, if there is one.
    pub fn optional_word(&mut self) -> Option<&'a str> {
        self.words.next().map(String::as_str)
    }

    /// Reads an integer in the range of the type.
    ///
    /// # Errors
    ///
    /// Returns [`ArgumentError::Missing`] if there is no further argument, or [`ArgumentError::NotAnInteger`] if it is
    /// invalid.
    pub fn integer<T: TryFrom<i128>>(&mut self) -> Result<T, ArgumentError> {
        integer(self.word()?)
    }

    /// Reads an integer, if there is a further argument.
    ///
    /// # Errors
    ///
    /// Returns [`ArgumentError::NotAnInteger`] if the argument is invalid.
    pub fn optional_integer<T: TryFrom<i128>>(&mut self) -> Result<Option<T>, ArgumentError> {
        self.optional_word().map(integer).transpose()
    }

    /// Reads the next argument only if it is an integer in the range of the type.
    pub fn try_integer<T: TryFrom<i128>>(&mut self) -> Option<T> {
        self.take_if(integer)
    }

    /// Reads a finite number. A comma is accepted as the decimal point (`7,50`), because some GUIs format numbers in
    /// the language of their user.
    ///
    /// # Errors
    ///
    /// Returns [`ArgumentError::Missing`] if there is no further argument, or [`ArgumentError::NotANumber`] if it is
    /// invalid.
    pub fn float(&mut self) -> Result<f64, ArgumentError> {
        float(self.word()?)
    }

    /// Reads a finite number, if there is a further argument.
    ///
    /// # Errors
    ///
    /// Returns [`ArgumentError::NotANumber`] if the argument is invalid.
    pub fn optional_float(&mut self) -> Result<Option<f64>, ArgumentError> {
        self.optional_word().map(float).transpose()
    }

    /// Reads the next argument only if it is a finite number.
    pub fn try_float(&mut self) -> Option<f64> {
        self.take_if(float)
    }

    /// Reads `true` or `false`.
    ///
    /// # Errors
    ///
    /// Returns [`ArgumentError::Missing`] if there is no further argument, or [`ArgumentError::NotABoolean`] if it is
    /// invalid.
    pub fn boolean(&mut self) -> Result<bool, ArgumentError> {
        boolean(self.word()?)
    }

    /// Reads `true` or `false`, if there is a further argument.
    ///
    /// # Errors
    ///
    /// Returns [`ArgumentError::NotABoolean`] if the argument is invalid.
    pub fn optional_boolean(&mut self) -> Result<Option<bool>, ArgumentError> {
        self.optional_word().map(boolean).transpose()
    }

    /// Reads a colour.
    ///
    /// # Errors
    ///
    /// Returns [`ArgumentError::Missing`] if there is no further argument, or [`ArgumentError::NotAColor`] if it is
    /// invalid.
    pub fn color(&mut self) -> Result<Color, ArgumentError> {
        self.word()?.parse()
    }

    /// Reads a colour, if there is a further argument.
    ///
    /// # Errors
    ///
    /// Returns [`ArgumentError::NotAColor`] if the argument is invalid.
    pub fn optional_color(&mut self) -> Result<Option<Color>, ArgumentError> {
        self.optional_word().map(str::parse).transpose()
    }

    /// Reads the next argument only if it is a colour.
    pub fn try_color(&mut self) -> Option<Color> {
        self.take_if(Color::from_str)
    }

    /// Reads a vertex, which may be a pass.
    ///
    /// # Errors
    ///
    /// Returns [`ArgumentError::Missing`] if there is no further argument, or [`ArgumentError::NotAVertex`] if it is
    /// invalid.
    pub fn vertex(&mut self) -> Result<Vertex, ArgumentError> {
        self.word()?.parse()
    }

    /// Reads a vertex, if there is a further argument.
    ///
    /// # Errors
    ///
    /// Returns [`ArgumentError::NotAVertex`] if the argument is invalid.
    pub fn optional_vertex(&mut self) -> Result<Option<Vertex>, ArgumentError> {
        self.optional_word().map(str::parse).transpose()
    }

    /// Reads the next argument only if it is a vertex.
    pub fn try_vertex(&mut self) -> Option<Vertex> {
        self.take_if(Vertex::from_str)
    }

    /// Reads all further arguments as vertices. There may be none.
    ///
    /// # Errors
    ///
    /// Returns [`ArgumentError::NotAVertex`] if any of them is invalid.
    pub fn vertices(&mut self) -> Result<Vec<Vertex>, ArgumentError> {
        self.words.by_ref().map(|word| word.parse()).collect()
    }

    /// Reads all further arguments as they were received, including the blanks between them. This is needed for file
    /// names.
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

    /// Reads all further arguments with single spaces between them, for text meant for people.
    pub fn rest(&mut self) -> String {
        let rest = self.words.as_slice().join(" ");
        self.ignore_rest();
        rest
    }

    /// Ignores all further arguments. Other engines do this in most commands, and some controllers send more arguments
    /// than the draft specifies (`boardsize 19 19`).
    pub fn ignore_rest(&mut self) {
        self.words = [].iter();
    }

    /// Checks that there are no further arguments.
    ///
    /// # Errors
    ///
    /// Returns [`ArgumentError::TooMany`] if there are any.
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
    // Parsed through the widest type, so that only integer types satisfy the bound.
    word.parse::<i128>().ok().and_then(|value| T::try_from(value).ok()).ok_or(ArgumentError::NotAnInteger)
}

fn float(word: &str) -> Result<f64, ArgumentError> {
    // At most one comma, and no dot with it: `1,000.5` is more likely a mistake than a number.
    let value = match word.split_once(',') {
        Some((whole, fraction))
            if !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            format!("{whole}.{fraction}").parse::<f64>()
        }
        _ => word.parse::<f64>(),
    };
    // The addition turns a negative zero, which would be displayed as `-0`, into a positive one.
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
    fn optional_arguments_before_others() {
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
