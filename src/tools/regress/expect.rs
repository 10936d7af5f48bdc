//! Expected answers: the text after `#?`.
//!
//! ```text
//! #? [B3|C2]     one of two
//! #? [!D4]*      anything but D4; the engine is known to fail
//! #? [A1]&       never counted
//! #?             no error, whatever the answer
//! ```
//!
//! The two tools that read such files differ. [`Matching`] selects one of them:
//!
//! | | [`Full`](Matching::Full), gogui-regress | [`Awk`](Matching::Awk), GNU Go's regress.awk |
//! |---|---|---|
//! | compared | the whole answer, blanks at its ends removed | its first line |
//! | `[B1\|D17]` | `B1` or `D17` | texts that begin with `B1` or end with `D17` |
//! | a response `?` | never right, not even for `[!…]` | its text is the answer |
//! | `.`, `^`, `$` | also match at line breaks within an answer | standard meaning |
//! | blanks within the brackets | removed at the ends | part of the pattern |
//! | `#?` in the line | after any blanks | in the first column |
//!
//! **Dialect.** Patterns are those of the crate `regex-lite`: a common subset of POSIX and Java without backreferences
//! and look-around, which are errors here. Matching takes linear time. `\d`, `\s` and `\w` mean ASCII. (GNU Go's 87
//! suites only use classes, groups, `|`, `.` and escaped characters.)

use regex_lite::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

/// Way in which an answer is compared with a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Matching {
    /// The whole answer must match, as in gogui-regress.
    #[default]
    Full,
    /// `^`, pattern, `$`, joined without a group, as in GNU Go's `regress.awk`.
    Awk,
}

/// Expectation about the engine that the suite was written for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// No mark: the test is expected to pass.
    #[default]
    None,
    /// `*`: the test is expected to fail.
    KnownFailure,
    /// `&`: the result does not count.
    Ignored,
}

/// Expected answer.
///
/// Invariant: the pattern is a valid regular expression. It is stored as text, because the compiled form of a few bytes
/// can take a mebibyte, and a suite may have any number of patterns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expectation {
    /// Text between the brackets, including the `!`.
    pub text: String,
    /// Expectation about the engine.
    pub mark: Mark,
    matching: Matching,
    is_negated: bool,
}

/// Compiled pattern of an expectation, for repeated use.
#[derive(Clone, Debug)]
pub struct Matcher {
    regex: Option<Regex>,
    matching: Matching,
}

impl Matcher {
    /// Returns whether the pattern matches this text, regardless of a `!`.
    pub fn matches(&self, text: &str) -> bool {
        let text = match self.matching {
            Matching::Full => text.trim(),
            Matching::Awk => text.split('\n').next().unwrap_or_default(),
        };
        self.regex.as_ref().is_some_and(|regex| regex.is_match(text))
    }
}

/// Fault in an expected answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PatternError {
    /// The `[` is missing.
    #[error("an expected answer must be in brackets: {0}")]
    NoBracket(String),
    /// The text is not a regular expression.
    #[error("not a regular expression: {0}")]
    Regex(String),
}

/// Response to compare with an expectation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Response<'a> {
    /// Response `=` with this body.
    Success(&'a str),
    /// Response `?` with this message.
    Failure(&'a str),
}

impl Expectation {
    /// Parses the text after the `#?` of a line, with blanks at the ends removed. Returns the expectation, or `None` if
    /// the text is empty, and whether the closing bracket is missing. `regress.awk` tolerates a missing bracket, and
    /// nine lines of GNU Go's suites have none. gogui-regress fails on such lines.
    ///
    /// # Errors
    ///
    /// Returns an error if the opening bracket is missing, or if the text inside is not a regular expression.
    pub fn parse(text: &str, matching: Matching) -> Result<(Option<Expectation>, bool), PatternError> {
        let text = text.trim();
        if text.is_empty() {
            return Ok((None, false));
        }
        let inner = text.strip_prefix('[').ok_or_else(|| PatternError::NoBracket(text.to_owned()))?;
        // A pattern may itself end with `*`, so marks count only after the bracket. The last of several marks decides,
        // as in `regress.awk`.
        let unmarked = inner.trim_end_matches(|c: char| c == '*' || c == '&' || c.is_whitespace());
        let (inner, is_closed) = match unmarked.strip_suffix(']') {
            Some(inner) => (inner, true),
            None => (inner, false),
        };
        let mark = match text.as_bytes().last() {
            Some(b'*') if is_closed => Mark::KnownFailure,
            Some(b'&') if is_closed => Mark::Ignored,
            _ => Mark::None,
        };
        let inner = if matching == Matching::Full { inner.trim() } else { inner };
        let (is_negated, pattern) = match inner.strip_prefix('!') {
            Some(pattern) => (true, pattern),
            None => (false, inner),
        };
        // The pattern must be valid by itself: `a)|(b` would fit into the group that `compile` puts around it.
        builder(pattern)
            .build()
            .and_then(|_| compile(pattern, matching))
            .map_err(|error| PatternError::Regex(error.to_string()))?;
        Ok((Some(Expectation { text: inner.to_owned(), mark, matching, is_negated }), !is_closed))
    }

    /// Returns the compiled pattern.
    pub fn matcher(&self) -> Matcher {
        let pattern = if self.is_negated { self.text.get(1..).unwrap_or_default() } else { &self.text };
        Matcher { regex: compile(pattern, self.matching).ok(), matching: self.matching }
    }

    /// Returns whether the pattern matches this text, regardless of a `!`.
    pub fn matches(&self, text: &str) -> bool {
        self.matcher().matches(text)
    }

    /// Returns whether the response is right, considering a `!`.
    pub fn accepts(&self, reply: Response<'_>) -> bool {
        match (reply, self.matching) {
            (Response::Failure(_), Matching::Full) => false,
            (Response::Failure(text), Matching::Awk) | (Response::Success(text), _) => {
                self.matches(text) != self.is_negated
            }
        }
    }

    /// Returns whether the answer must *not* match.
    pub fn is_negated(&self) -> bool {
        self.is_negated
    }
}

/// Maximum memory of a compiled pattern, in bytes. (GNU Go's suites need a few kilobytes each.)
const MAX_COMPILED_BYTES: usize = 1 << 20;

fn builder(pattern: &str) -> RegexBuilder {
    let mut builder = RegexBuilder::new(pattern);
    builder.size_limit(MAX_COMPILED_BYTES);
    builder
}

fn compile(pattern: &str, matching: Matching) -> Result<Regex, regex_lite::Error> {
    match matching {
        Matching::Full => {
            builder(&format!(r"\A(?:{pattern})\z")).multi_line(true).dot_matches_new_line(true).build()
        }
        Matching::Awk => builder(&format!("^{pattern}$")).build(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, matching: Matching) -> Expectation {
        Expectation::parse(text, matching).unwrap().0.unwrap()
    }

    /// Returns those of the offered answers that the pattern accepts.
    fn accepted(text: &str, matching: Matching, offered: &str) -> String {
        let expectation = read(text, matching);
        let right = offered.split(' ').filter(|answer| expectation.accepts(Response::Success(answer)));
        right.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn full_means_all_of_the_answer() {
        for (pattern, offered, right) in [
            ("[B1]", "B1 B12 AB1 b1", "B1"),
            ("[B1|D17]", "B1 B12 D17 XD17 B1D17", "B1 D17"),
            ("[!B1|D17]", "B1 B12 D17 PASS", "B12 PASS"),
            ("[ B1 ]", "B1 B2", "B1"),
            (r"[W\+100.5]", "W+100.5 W100.5 W+100x5", "W+100.5 W+100x5"),
            ("[(A|B)[12]]", "A1 B2 A3", "A1 B2"),
            ("[]", "A1", ""),
        ] {
            assert_eq!(accepted(pattern, Matching::Full, offered), right, "{pattern}");
        }
    }

    #[test]
    fn awk_joins_without_a_group() {
        for (pattern, offered, right) in [
            ("[B1]", "B1 B12 AB1 b1", "B1"),
            ("[B1|D17]", "B1 B12 D17 XD17 XB1 D17X", "B1 B12 D17 XD17"),
            ("[B1|C1|D17]", "C1 AC1Z XB1", "C1 AC1Z"),
            ("[!B1|D17]", "B1 B12 D17 PASS", "PASS"),
            ("[(B1|D17)]", "B1 B12 XD17", "B1"),
            ("[ B1 ]", "B1", ""),
        ] {
            assert_eq!(accepted(pattern, Matching::Awk, offered), right, "{pattern}");
        }
    }

    #[test]
    fn refusals_and_lines() {
        let (full, awk) = (read("[!B1]", Matching::Full), read("[!B1]", Matching::Awk));
        assert!(
            !full.accepts(Response::Failure("illegal move"))
                && awk.accepts(Response::Failure("illegal move"))
        );
        let awk = read("[illegal move]", Matching::Awk);
        assert!(awk.accepts(Response::Failure("illegal move")));
        let (full, awk) = (read("[A1.B2]", Matching::Full), read("[A1]", Matching::Awk));
        assert!(full.accepts(Response::Success("\n A1\nB2 \n")), "a dot is also a line break");
        assert!(read("[A1$\n^B2]", Matching::Full).accepts(Response::Success("A1\nB2")));
        assert!(awk.accepts(Response::Success("A1\nB2")), "the first line only");
    }

    #[test]
    fn marks_and_brackets() {
        for (text, inner, mark, is_open) in [
            ("[A1]", "A1", Mark::None, false),
            ("  [A1]* ", "A1", Mark::KnownFailure, false),
            ("[A1] *", "A1", Mark::KnownFailure, false),
            ("[A1]&", "A1", Mark::Ignored, false),
            ("[A1]*&", "A1", Mark::Ignored, false),
            ("[A1]&*", "A1", Mark::KnownFailure, false),
            ("[A1*]", "A1*", Mark::None, false),
            ("[[AB]1]", "[AB]1", Mark::None, false),
            ("[!A1]*", "!A1", Mark::KnownFailure, false),
            ("[undecided", "undecided", Mark::None, true),
            ("[A1*", "A1*", Mark::None, true),
        ] {
            let (found, open) = Expectation::parse(text, Matching::Full).unwrap();
            let found = found.unwrap();
            assert_eq!((found.text.as_str(), found.mark, open), (inner, mark, is_open), "{text}");
        }
        assert!(Expectation::parse("  ", Matching::Full).unwrap().0.is_none());
        for text in ["A1", "*", "A1]", "![A1]"] {
            let error = Expectation::parse(text, Matching::Awk).unwrap_err();
            assert_eq!(error, PatternError::NoBracket(text.into()));
        }
        for text in ["[(]", "[a)|(b]", "[*]", r"[(a)\1]", "[(?=a)]", "[[]", "[(a{9999}){9999}]"] {
            for matching in [Matching::Full, Matching::Awk] {
                let error = Expectation::parse(text, matching).unwrap_err();
                assert!(matches!(error, PatternError::Regex(_)), "{text}");
            }
        }
    }
}
