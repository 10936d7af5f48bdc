//! JUnit XML for CI systems.

use super::result::{OtherError, Outcome, RunResult, SuiteResult, TestResult};
use super::summary::one_line;
use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

/// Returns the results as XML. The two flags mean the same as for the exit code, so both agree: with `fail_on_pass`,
/// unexpected passes are failures, and with `ignore_unsupported`, tests with unknown commands are skipped.
///
/// # Errors
///
/// Returns an error if serialisation fails. No value is known to cause that.
pub fn junit(
    run: &RunResult,
    fail_on_pass: bool,
    ignore_unsupported: bool,
) -> Result<String, SerializeError> {
    let status = |test: &TestResult| status(test, fail_on_pass, ignore_unsupported);
    let engine = format!("{} {}", run.engine.name, run.engine.version);
    let mut report = Report::new(engine.trim());
    report.set_time(duration(run.seconds));
    for suite in &run.suites {
        let mut cases = TestSuite::new(&suite.name);
        cases.set_time(duration(suite.seconds));
        cases.add_test_cases(suite.tests.iter().map(|test| case(suite, test, status(test))));
        // Setup has no test. Without this case, its failure would be invisible.
        cases.add_test_cases(suite.other_errors.iter().map(|error| set_up_case(suite, error)));
        report.add_test_suite(cases);
    }
    report.to_string()
}

/// Returns the status of a test in JUnit's terms.
fn status(test: &TestResult, fail_on_pass: bool, ignore_unsupported: bool) -> TestCaseStatus {
    let mut status = match test.outcome {
        Outcome::Pass => return TestCaseStatus::success(),
        Outcome::UnexpectedPass if !fail_on_pass => return TestCaseStatus::success(),
        Outcome::Fail | Outcome::UnexpectedPass => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Outcome::ExpectedFail | Outcome::Ignored => TestCaseStatus::skipped(),
        Outcome::Unsupported if ignore_unsupported => TestCaseStatus::skipped(),
        Outcome::Unsupported | Outcome::SetUp | Outcome::TimedOut | Outcome::Crashed => {
            TestCaseStatus::non_success(NonSuccessKind::Error)
        }
    };
    let message = match test.outcome {
        Outcome::Unsupported => "unknown command".to_owned(),
        Outcome::UnexpectedPass => {
            format!("passes, although marked as known to fail: {}", one_line(&test.answer))
        }
        Outcome::SetUp | Outcome::TimedOut | Outcome::Crashed => one_line(&test.answer),
        Outcome::Pass | Outcome::Fail | Outcome::ExpectedFail | Outcome::Ignored => {
            format!("expected {}, got {}", test.expectation(), one_line(&test.answer))
        }
    };
    let kind = test.outcome.label();
    // In most schemas, `skipped` has a message only.
    match status {
        TestCaseStatus::Skipped { .. } => status.set_message(format!("{kind}: {message}")),
        _ => status.set_message(message).set_type(kind).set_description(test.answer.as_str()),
    };
    status
}

fn case(suite: &SuiteResult, test: &TestResult, status: TestCaseStatus) -> TestCase {
    let mut case = placed_case(suite, &format!("{} {}", test.name(), test.command), test.line, status);
    case.set_time(duration(test.seconds));
    case
}

fn set_up_case(suite: &SuiteResult, error: &OtherError) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type("other error").set_message(error.message.as_str());
    placed_case(suite, &format!("line {} {}", error.line, error.command), error.line, status)
}

fn placed_case(suite: &SuiteResult, name: &str, line: usize, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(&suite.name);
    case.extra.insert("file".into(), suite.path.as_str().into());
    case.extra.insert("line".into(), line.to_string().into());
    case
}

/// Converts seconds. Results from a file may contain any number.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
