//! Suites: files of GTP commands. Commands with a number are tests.
//!
//! ```text
//! # a comment                        a blank line or a comment
//! loadsgf games/ko.sgf 12            set-up: no number
//! 10 reg_genmove black  # or here    a test
//! #? [C3|D4]*                        its answer, see `Expectation`
//! ##? [E5]                           not an answer: a comment
//! ```
//!
//! A numbered command without an expected answer passes if it is not refused. An expected answer after a command
//! without a number makes that command a test, as in gogui-regress; `regress.awk` drops it. An expected answer belongs
//! to the command before it. Both tools drop the answer if it does not follow at once; here this only causes a
//! [warning](Suite::warnings).

use super::expect::{Expectation, Matching, PatternError};
use crate::files::{lossy_text, read_regular};
use kosumi_gtp::{Line, MAX_LINE_BYTES};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

/// Maximum size of a suite, in bytes. (The largest of GNU Go's has 50 kB.)
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Suite: its commands in order.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Path of the file.
    pub path: PathBuf,
    /// Commands in order.
    pub steps: Vec<SuiteCommand>,
    /// Warnings about lines that other tools would treat differently, with the line number.
    pub warnings: Vec<(usize, String)>,
    /// Way in which answers are compared.
    pub matching: Matching,
}

/// Command with its expected answer.
#[derive(Clone, Debug)]
pub struct SuiteCommand {
    /// Line in the file, from 1.
    pub line: usize,
    /// Number of the test; `None` for setup, and for a test without a number.
    pub number: Option<u32>,
    /// Command without number and comment.
    pub command: String,
    /// Expected answer, if there is one.
    pub expectation: Option<Expectation>,
    /// Whether the command is a test. A test without expectation passes if it is not refused.
    pub is_test: bool,
}

impl SuiteCommand {
    /// Returns the name of the command.
    pub fn name(&self) -> &str {
        self.command.split_ascii_whitespace().next().unwrap_or_default()
    }
}

/// Kind of fault in a line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SuiteErrorKind {
    /// An expected answer precedes the first command.
    #[error("an expected answer without a command before it")]
    NoCommand,
    /// A command has a second expected answer.
    #[error("a second expected answer for the command in line {0}")]
    SecondAnswer(usize),
    /// A number is not followed by a command.
    #[error("a number without a command")]
    NoName,
    /// A number exceeds the range of GTP.
    #[error("{0} is too large for the number of a test")]
    LargeNumber(String),
    /// A number was used before, which would make results ambiguous.
    #[error("the number {number} has been used in line {first}")]
    RepeatedNumber {
        /// Repeated number.
        number: u32,
        /// Line of its first use.
        first: usize,
    },
    /// The line is longer than a GTP command may be.
    #[error("the line is longer than {MAX_LINE_BYTES} bytes")]
    LongLine,
    /// The expected answer is invalid.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

/// Fault in a suite, with its line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {kind}")]
pub struct SuiteError {
    /// Line in the file, from 1.
    pub line: usize,
    /// Kind of the fault.
    pub kind: SuiteErrorKind,
}

/// Reason why a file is not a suite. It is displayed as `file:line: message`.
#[derive(Debug, thiserror::Error)]
pub enum SuiteReadError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Cause of the failure.
        error: io::Error,
    },
    /// The file is not in the format of suites.
    #[error("{}:{}: {}", path.display(), error.line, error.kind)]
    Suite {
        /// Path of the file.
        path: PathBuf,
        /// Fault in the suite.
        error: SuiteError,
    },
}

/// Reads a file up to the maximum size of a suite. Replaces bytes that are not UTF-8.
pub(super) fn read_text(path: &Path) -> io::Result<String> {
    let bytes = read_regular(path, MAX_FILE_BYTES).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => io::Error::new(error.kind(), "too large for a suite"),
        _ => error,
    })?;
    Ok(lossy_text(&bytes))
}

impl Suite {
    /// Reads a suite from a file.
    ///
    /// # Errors
    ///
    /// Returns a [`SuiteReadError`] if the file cannot be read or is not in the format.
    pub fn read(path: &Path, matching: Matching) -> Result<Suite, SuiteReadError> {
        let text = read_text(path).map_err(|error| SuiteReadError::Io { path: path.to_owned(), error })?;
        Suite::parse(path, &text, matching)
            .map_err(|error| SuiteReadError::Suite { path: path.to_owned(), error })
    }

    /// Parses a suite. The path determines the folder to which file names in it refer.
    ///
    /// # Errors
    ///
    /// Returns a [`SuiteError`] for the first line that is not in the format.
    pub fn parse(path: &Path, text: &str, matching: Matching) -> Result<Suite, SuiteError> {
        let mut reader = SuiteParser { matching, ..SuiteParser::default() };
        for (index, line) in text.lines().enumerate() {
            reader.line(index + 1, line).map_err(|kind| SuiteError { line: index + 1, kind })?;
        }
        Ok(Suite { path: path.to_owned(), steps: reader.steps, warnings: reader.warnings, matching })
    }

    /// Returns the folder to which relative file names in the commands refer: that of the suite.
    pub fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }

    /// Returns the number of tests.
    pub fn test_count(&self) -> usize {
        self.steps.iter().filter(|step| step.is_test).count()
    }
}

#[derive(Default)]
struct SuiteParser {
    matching: Matching,
    steps: Vec<SuiteCommand>,
    warnings: Vec<(usize, String)>,
    /// Line in which each number was used.
    lines: HashMap<u32, usize>,
    /// Line of the latest expected answer.
    answer: Option<usize>,
}

impl SuiteParser {
    fn line(&mut self, line: usize, text: &str) -> Result<(), SuiteErrorKind> {
        if text.len() > MAX_LINE_BYTES {
            return Err(SuiteErrorKind::LongLine);
        }
        let start = if self.matching == Matching::Awk { text } else { text.trim_start() };
        if let Some(rest) = start.strip_prefix("#?") {
            return self.expectation(line, rest);
        }
        match Line::read(text.as_bytes()) {
            Line::Text(command) => self.command(line, &command),
            Line::Blank | Line::Comment(_) => Ok(()),
        }
    }

    fn expectation(&mut self, line: usize, text: &str) -> Result<(), SuiteErrorKind> {
        let step = self.steps.last_mut().ok_or(SuiteErrorKind::NoCommand)?;
        if self.answer.is_some_and(|answer| answer > step.line) {
            return Err(SuiteErrorKind::SecondAnswer(step.line));
        }
        self.answer = Some(line);
        let (expectation, is_open) = Expectation::parse(text, self.matching)?;
        if is_open {
            self.warnings.push((line, "the closing bracket is missing".into()));
        }
        if step.line + 1 != line {
            let about =
                format!("does not follow its command in line {} at once; other tools ignore it", step.line);
            self.warnings.push((line, about));
        }
        if step.number.is_none() {
            self.warnings.push((line, "belongs to a command without a number; awk ignores it".into()));
        }
        step.expectation = expectation;
        step.is_test = true;
        Ok(())
    }

    fn command(&mut self, line: usize, text: &str) -> Result<(), SuiteErrorKind> {
        let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
        let is_number = first.bytes().all(|byte| byte.is_ascii_digit());
        let (number, command) = if is_number {
            let number = first.parse().map_err(|_| SuiteErrorKind::LargeNumber(first.to_owned()))?;
            (Some(number), rest.trim())
        } else {
            if first.starts_with(|c: char| c.is_ascii_digit()) {
                let about = "no blank after the number: read as a command without a number";
                self.warnings.push((line, about.into()));
            }
            (None, text)
        };
        if command.is_empty() {
            return Err(SuiteErrorKind::NoName);
        }
        if let Some(number) = number
            && let Some(first) = self.lines.insert(number, line)
        {
            return Err(SuiteErrorKind::RepeatedNumber { number, first });
        }
        let (command, is_test) = (command.to_owned(), number.is_some());
        self.steps.push(SuiteCommand { line, number, command, expectation: None, is_test });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regress::Mark;
    use proptest::prelude::*;
    use std::fmt::Write;

    fn parse(text: &str) -> Suite {
        Suite::parse(Path::new("x.tst"), text, Matching::Full).unwrap()
    }

    /// Returns the parsed suite as text: the line, number, command and expected answer of each step.
    fn drawing(suite: &Suite) -> String {
        let mut text = String::new();
        for step in &suite.steps {
            let number = step.number.map_or_else(|| "-".to_owned(), |number| number.to_string());
            let answer = match &step.expectation {
                Some(expected) => format!("[{}]{:?}", expected.text, expected.mark),
                None if step.is_test => "any".to_owned(),
                None => "set-up".to_owned(),
            };
            let _ = writeln!(text, "{:>2} {number:>3} {} => {answer}", step.line, step.command);
        }
        text
    }

    #[test]
    fn a_suite_of_every_kind_of_line() {
        let suite = parse(
            "# comment\n\
             loadsgf games/a.sgf 3\r\n\
             \r\n\
             10 reg_genmove black # why\r\n\
             #? [C3|D4]*\r\n\
             #20 reg_genmove white\n\
             ##? [E5]\n\
             # #? [E5]\n\
             30\tfinal_score\n\
             \x20 #?[!W\\+1.5] \n\
             40 play  b\tD4\n\
             50 is_legal w D4\n\
             #?\n\
             60 name\n\
             #? [x]&\n\
             7 list_stones black\n\
             undo",
        );
        let expected = " 2   - loadsgf games/a.sgf 3 => set-up\n \
             4  10 reg_genmove black => [C3|D4]KnownFailure\n \
             9  30 final_score => [!W\\+1.5]None\n\
             11  40 play  b D4 => any\n\
             12  50 is_legal w D4 => any\n\
             14  60 name => [x]Ignored\n\
             16   7 list_stones black => any\n\
             17   - undo => set-up\n";
        assert_eq!(drawing(&suite), expected);
        assert_eq!(suite.warnings, []);
        assert_eq!(suite.test_count(), 6);
        assert_eq!(suite.steps[3].name(), "play");
    }

    #[test]
    fn what_other_tools_would_lose_is_a_warning() {
        let suite = parse("1 name\n\n# comment\n#? [a]\nversion\n#? [b\n2name\n#? [c]");
        let lines: Vec<usize> = suite.warnings.iter().map(|warning| warning.0).collect();
        assert_eq!(lines, [4, 6, 6, 7, 8]);
        assert_eq!(suite.test_count(), 3);
        assert!(suite.steps.iter().all(|step| step.expectation.is_some()));
    }

    #[test]
    fn awk_wants_answers_at_the_start_of_the_line() {
        let text = "1 name\n #? [a]\n";
        let awk = Suite::parse(Path::new("x"), text, Matching::Awk).unwrap();
        assert!(awk.steps[0].expectation.is_none());
        assert_eq!(parse(text).steps[0].expectation.as_ref().unwrap().mark, Mark::None);
    }

    #[test]
    fn errors_name_file_and_line() {
        let error = |text: &str| Suite::parse(Path::new("x"), text, Matching::Full).unwrap_err();
        let check = |text: &str, line: usize, kind: SuiteErrorKind| {
            assert_eq!(error(text), SuiteError { line, kind }, "{text:?}");
        };
        check("# x\n#? [A1]", 2, SuiteErrorKind::NoCommand);
        check("1 name\n#? [a]\n# x\n#? [b]", 4, SuiteErrorKind::SecondAnswer(1));
        check("name\n\n12", 3, SuiteErrorKind::NoName);
        check("12 # name", 1, SuiteErrorKind::NoName);
        check("4294967296 name", 1, SuiteErrorKind::LargeNumber("4294967296".into()));
        check("1 name\n2 name\n1 version", 3, SuiteErrorKind::RepeatedNumber { number: 1, first: 1 });
        check("1 name\n#? A1", 2, PatternError::NoBracket("A1".into()).into());
        assert!(matches!(error("1 name\n#? [(]").kind, SuiteErrorKind::Pattern(PatternError::Regex(_))));
        assert_eq!(error(&"x".repeat(MAX_LINE_BYTES + 1)).kind, SuiteErrorKind::LongLine);

        let scratch = tempfile::TempDir::new().unwrap();
        let folder = scratch.path();
        let path = folder.join("bad.tst");
        std::fs::write(&path, "\u{feff}1 name\n#? (\n").unwrap();
        let shown = Suite::read(&path, Matching::Full).unwrap_err().to_string();
        assert!(shown.contains("bad.tst:2: an expected answer must be in brackets"), "{shown}");
        let shown = Suite::read(&folder.join("none.tst"), Matching::Full).unwrap_err().to_string();
        assert!(shown.contains("none.tst: "), "{shown}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(#\\?|[0-9]{1,11}|[ \\t]|\\[|\\]|!|\\*|&|[|(){}+.a-c\\\\]|\r?\n|name|\\PC){0,60}") {
            for matching in [Matching::Full, Matching::Awk] {
                match Suite::parse(Path::new("x"), &text, matching) {
                    Ok(suite) => {
                        let lines: Vec<usize> = suite.steps.iter().map(|step| step.line).collect();
                        prop_assert!(lines.windows(2).all(|pair| pair[0] < pair[1]));
                        prop_assert!(suite.steps.iter().all(|step| !step.name().is_empty()));
                        for step in &suite.steps {
                            if let Some(expected) = &step.expectation {
                                let right = expected.accepts(crate::regress::Response::Success("a"));
                                prop_assert_eq!(right, expected.matches("a") != expected.is_negated());
                            }
                        }
                    }
                    Err(error) => prop_assert!(error.line <= text.lines().count()),
                }
            }
        }
    }
}
