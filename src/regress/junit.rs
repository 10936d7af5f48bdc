//! JUnit XML, as CI systems read it.
//!
//! There is no standard, only what readers agree on: `testsuites`, `testsuite` with sums, `testcase` with at most
//! one of `failure`, `error` and `skipped`.

use super::result::{Outcome, RunResult, SuiteResult, TestResult};
use super::summary::one_line;
use crate::pages::escape;
use std::fmt::Write;

/// What becomes of a test in JUnit's terms.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failure,
    Error,
    Skipped,
}

/// The results as XML. The two arguments mean what they do for the exit code, so that both agree.
pub fn junit(run: &RunResult, fail_on_pass: bool, ignore_unsupported: bool) -> String {
    let verdict = |test: &TestResult| match test.outcome {
        Outcome::Pass => Verdict::Passed,
        Outcome::Fail => Verdict::Failure,
        Outcome::UnexpectedPass if fail_on_pass => Verdict::Failure,
        Outcome::UnexpectedPass => Verdict::Passed,
        Outcome::ExpectedFail | Outcome::Ignored => Verdict::Skipped,
        Outcome::Unsupported if ignore_unsupported => Verdict::Skipped,
        Outcome::Unsupported | Outcome::SetUp | Outcome::TimedOut | Outcome::Crashed => Verdict::Error,
    };
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let engine = format!("{} {}", run.engine.name, run.engine.version);
    let sums = sums(run.suites.iter(), &verdict);
    let _ =
        writeln!(xml, "<testsuites name=\"{}\" {sums} time=\"{:.3}\">", escape(engine.trim()), run.seconds);
    for suite in &run.suites {
        let sums = self::sums(std::iter::once(suite), &verdict);
        let name = escape(&suite.name);
        let _ = writeln!(xml, "  <testsuite name=\"{name}\" {sums} time=\"{:.3}\">", suite.seconds);
        for test in &suite.tests {
            case(&mut xml, suite, test, verdict(test));
        }
        // Set-up has no test of its own; without one, nobody would see that it failed.
        for error in &suite.other_errors {
            let _ = writeln!(
                xml,
                "    <testcase classname=\"{name}\" name=\"line {} {}\" file=\"{}\" line=\"{}\">\
                 <error type=\"other error\" message=\"{}\"/></testcase>",
                error.line,
                escape(&error.command),
                escape(&suite.path),
                error.line,
                escape(&error.message),
            );
        }
        xml.push_str("  </testsuite>\n");
    }
    xml.push_str("</testsuites>\n");
    xml
}

fn sums<'a>(
    suites: impl Iterator<Item = &'a SuiteResult>,
    verdict: &dyn Fn(&TestResult) -> Verdict,
) -> String {
    let (mut tests, mut failures, mut errors, mut skipped) = (0, 0, 0, 0);
    for suite in suites {
        tests += suite.tests.len() + suite.other_errors.len();
        errors += suite.other_errors.len();
        for test in &suite.tests {
            match verdict(test) {
                Verdict::Passed => {}
                Verdict::Failure => failures += 1,
                Verdict::Error => errors += 1,
                Verdict::Skipped => skipped += 1,
            }
        }
    }
    format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"")
}

fn case(xml: &mut String, suite: &SuiteResult, test: &TestResult, verdict: Verdict) {
    let _ = write!(
        xml,
        "    <testcase classname=\"{}\" name=\"{} {}\" file=\"{}\" line=\"{}\" time=\"{:.3}\"",
        escape(&suite.name),
        escape(&test.name()),
        escape(&test.command),
        escape(&suite.path),
        test.line,
        test.seconds,
    );
    let element = match verdict {
        Verdict::Passed => {
            xml.push_str("/>\n");
            return;
        }
        Verdict::Failure => "failure",
        Verdict::Error => "error",
        Verdict::Skipped => "skipped",
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
    let (kind, message) = (escape(test.outcome.word()), escape(&message));
    // `skipped` has a message only, in most readers' schemas.
    let _ = match verdict {
        Verdict::Skipped => writeln!(xml, "><skipped message=\"{kind}: {message}\"/></testcase>"),
        _ => writeln!(
            xml,
            "><{element} type=\"{kind}\" message=\"{message}\">{}</{element}></testcase>",
            escape(&test.answer)
        ),
    };
}
