//! Results of tests, suites and runs, and the JSON that `--json` writes and `--compare` reads.

use super::expect::{Mark, Matching};
use super::follow::Position;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Outcome of a test.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Passed as expected.
    Pass,
    /// Failed unexpectedly: `FAIL` in the output of both tools.
    Fail,
    /// Failed as expected: `fail`.
    ExpectedFail,
    /// Passed unexpectedly: `PASS`.
    UnexpectedPass,
    /// Answered, but marked as not counting.
    Ignored,
    /// The engine does not know the command. This says nothing about its play.
    Unsupported,
    /// The position could not be set up, so the command was not sent.
    SetUp,
    /// No response in time.
    TimedOut,
    /// The engine crashed, or could not be started again after a crash.
    Crashed,
}

impl Outcome {
    /// Returns whether the engine has answered and the answer counts.
    pub fn is_answered(self) -> bool {
        matches!(self, Outcome::Pass | Outcome::Fail | Outcome::ExpectedFail | Outcome::UnexpectedPass)
    }

    /// Returns whether the answer was right, expected or not.
    pub fn is_right(self) -> bool {
        matches!(self, Outcome::Pass | Outcome::UnexpectedPass)
    }

    /// Returns the name of the outcome, as in GNU Go and gogui-regress if they have one.
    pub fn label(self) -> &'static str {
        match self {
            Outcome::Pass => "pass",
            Outcome::Fail => "FAIL",
            Outcome::ExpectedFail => "fail",
            Outcome::UnexpectedPass => "PASS",
            Outcome::Ignored => "ignored",
            Outcome::Unsupported => "unsupported",
            Outcome::SetUp => "set-up refused",
            Outcome::TimedOut => "timed out",
            Outcome::Crashed => "crashed",
        }
    }
}

/// Test with its answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TestResult {
    /// Line in the suite, from 1.
    pub line: usize,
    /// Number of the test; `None` if it has none.
    pub number: Option<u32>,
    /// Command of the test.
    pub command: String,
    /// Expected answer between the brackets; `None` if any answer is right.
    pub expected: Option<String>,
    /// Mark of the expectation.
    pub mark: Mark,
    /// Response of the engine, or the reason why there is none.
    pub answer: String,
    /// Outcome of the test.
    pub outcome: Outcome,
    /// Time of the response, in seconds.
    pub seconds: f64,
    /// Position of the test. It is stored only for answers that are not right, and if the board could be followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

impl TestResult {
    /// Returns the name of the test within its suite: its number, or its line if it has none.
    pub fn name(&self) -> String {
        self.number.map_or_else(|| format!("line {}", self.line), |number| number.to_string())
    }

    /// Returns the expected answer as text.
    pub fn expectation(&self) -> &str {
        self.expected.as_deref().unwrap_or("no error")
    }
}

/// Setup command that the engine refused or did not survive.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OtherError {
    /// Line in the suite, from 1.
    pub line: usize,
    /// Text of the command.
    pub command: String,
    /// Response of the engine, or the reason why there is none.
    pub message: String,
    /// Whether the command was refused. Otherwise the engine crashed or took too long.
    pub is_refusal: bool,
}

/// Results of a suite.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SuiteResult {
    /// Name that is unique within the run.
    pub name: String,
    /// Path of the file.
    pub path: String,
    /// Total time of all engines of the suite, in seconds. Exceeds the elapsed time if several engines run at once.
    pub seconds: f64,
    /// Tests in order.
    pub tests: Vec<TestResult>,
    /// Setup errors in order.
    pub other_errors: Vec<OtherError>,
}

/// Engine of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct EngineInfo {
    /// Name reported by the engine.
    pub name: String,
    /// Version reported by the engine.
    pub version: String,
    /// Command line of the engine, or its settings if it is built in.
    pub command: String,
}

/// Version number of the JSON format.
pub const FORMAT: u32 = 1;

/// Run of one engine on some suites.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunResult {
    /// Version of the format, [`FORMAT`].
    pub format: u32,
    /// Engine of the run.
    pub engine: EngineInfo,
    /// Way in which answers were compared.
    pub matching: Matching,
    /// Elapsed time, in seconds.
    pub seconds: f64,
    /// Number of concurrent engines.
    pub jobs: usize,
    /// Whether every suite was run by one engine from start to end.
    pub whole: bool,
    /// Suites in order.
    pub suites: Vec<SuiteResult>,
}

/// Reason why a file is not the result of a run.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// The text is not JSON, or has another structure.
    #[error("not the results of a run: {0}")]
    Json(#[from] serde_json::Error),
    /// The file was written by a later version.
    #[error("results in format {0}; this version reads format {FORMAT}")]
    Version(u32),
}

impl RunResult {
    /// Parses the JSON of a run.
    ///
    /// # Errors
    ///
    /// Returns a [`FormatError`] if the text is not the result of a run in this format.
    pub fn from_json(text: &str) -> Result<RunResult, FormatError> {
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let Head { format } = serde_json::from_str(text)?;
        if format != FORMAT {
            return Err(FormatError::Version(format));
        }
        Ok(serde_json::from_str(text)?)
    }

    /// Returns the run as JSON with line breaks and indentation.
    ///
    /// # Errors
    ///
    /// Returns an error if serialisation fails. No value is known to cause this.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Returns the sums over all suites.
    pub fn tally(&self) -> OutcomeCounts {
        let mut total = OutcomeCounts::default();
        self.suites.iter().for_each(|suite| total += suite.tally());
        total
    }
}

/// Number of tests by outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OutcomeCounts {
    /// All tests.
    pub tests: usize,
    /// Passes as expected.
    pub pass: usize,
    /// Unexpected failures.
    pub fail: usize,
    /// Expected failures.
    pub expected_fail: usize,
    /// Unexpected passes.
    pub unexpected_pass: usize,
    /// Answers that do not count.
    pub ignored: usize,
    /// Tests whose command the engine does not know.
    pub unsupported: usize,
    /// Crashes, timeouts, and positions that could not be set up.
    pub errors: usize,
    /// Setup commands that failed. They are not tests.
    pub other_errors: usize,
}

impl SuiteResult {
    /// Returns the number of tests by outcome.
    pub fn tally(&self) -> OutcomeCounts {
        let mut tally = OutcomeCounts {
            tests: self.tests.len(),
            other_errors: self.other_errors.len(),
            ..OutcomeCounts::default()
        };
        for test in &self.tests {
            *match test.outcome {
                Outcome::Pass => &mut tally.pass,
                Outcome::Fail => &mut tally.fail,
                Outcome::ExpectedFail => &mut tally.expected_fail,
                Outcome::UnexpectedPass => &mut tally.unexpected_pass,
                Outcome::Ignored => &mut tally.ignored,
                Outcome::Unsupported => &mut tally.unsupported,
                Outcome::SetUp | Outcome::TimedOut | Outcome::Crashed => &mut tally.errors,
            } += 1;
        }
        tally
    }
}

impl OutcomeCounts {
    /// Returns the number of tests whose answers count.
    pub fn answered(&self) -> usize {
        self.pass + self.fail + self.expected_fail + self.unexpected_pass
    }

    /// Returns the number of right answers, expected or not.
    pub fn right(&self) -> usize {
        self.pass + self.unexpected_pass
    }
}

impl AddAssign for OutcomeCounts {
    fn add_assign(&mut self, other: OutcomeCounts) {
        self.tests += other.tests;
        self.pass += other.pass;
        self.fail += other.fail;
        self.expected_fail += other.expected_fail;
        self.unexpected_pass += other.unexpected_pass;
        self.ignored += other.ignored;
        self.unsupported += other.unsupported;
        self.errors += other.errors;
        self.other_errors += other.other_errors;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(number: Option<u32>, outcome: Outcome) -> TestResult {
        TestResult {
            line: 3,
            number,
            command: "reg_genmove black".into(),
            expected: Some("!A1|<B2>".into()),
            mark: Mark::KnownFailure,
            answer: "\u{1}\"A1\"\nB2".into(),
            outcome,
            seconds: 0.125,
            position: Some(Position { board: vec!["X.".into(), ".O".into()], last: Some("B1".into()) }),
        }
    }

    fn run() -> RunResult {
        let tests = vec![
            result(Some(1), Outcome::Pass),
            result(Some(2), Outcome::Fail),
            result(None, Outcome::Crashed),
            result(Some(4), Outcome::SetUp),
            result(Some(5), Outcome::UnexpectedPass),
            result(Some(6), Outcome::Unsupported),
            result(Some(7), Outcome::Ignored),
            result(Some(8), Outcome::ExpectedFail),
            result(Some(9), Outcome::TimedOut),
        ];
        let other_errors = vec![OtherError {
            line: 9,
            command: "loadsgf x".into(),
            message: "cannot load file".into(),
            is_refusal: true,
        }];
        RunResult {
            format: FORMAT,
            engine: EngineInfo { name: "é".into(), version: "1".into(), command: "x --y".into() },
            matching: Matching::Awk,
            seconds: 1.5,
            jobs: 2,
            whole: true,
            suites: vec![
                SuiteResult { name: "a".into(), path: "x/a.tst".into(), seconds: 2.5, tests, other_errors },
                SuiteResult::default(),
            ],
        }
    }

    #[test]
    fn json_gives_back_what_went_in() {
        let json = run().to_json().unwrap();
        assert_eq!(RunResult::from_json(&json).unwrap(), run());
        assert!(
            json.contains("\"outcome\": \"expected-fail\"") && json.contains("\"mark\": \"known-failure\"")
        );
        let later = json.replacen("\"format\": 1", "\"format\": 2", 1);
        assert!(matches!(RunResult::from_json(&later), Err(FormatError::Version(2))));
        for text in ["", "{}", "[]", "{\"format\": 1}"] {
            assert!(matches!(RunResult::from_json(text), Err(FormatError::Json(_))), "{text}");
        }
    }

    #[test]
    fn every_test_is_counted_once() {
        let tally = run().tally();
        let expected = OutcomeCounts {
            tests: 9,
            pass: 1,
            fail: 1,
            expected_fail: 1,
            unexpected_pass: 1,
            ignored: 1,
            unsupported: 1,
            errors: 3,
            other_errors: 1,
        };
        assert_eq!(tally, expected);
        assert_eq!((tally.answered(), tally.right()), (4, 2));
        assert_eq!(run().suites[0].tests[2].name(), "line 3");
    }
}
