//! JUnit XML for CI systems.

use super::result::{OtherError, Outcome, RunResult, SuiteResult, TestResult};
use super::summary::one_line;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::io;

/// Status of a test in JUnit's terms.
enum Status {
    Success,
    Skipped {
        message: String,
    },
    /// `element` is `failure` or `error`.
    NonSuccess {
        element: &'static str,
        kind: &'static str,
        message: String,
        output: String,
    },
}

impl Status {
    fn element(&self) -> Option<&'static str> {
        match self {
            Status::Success => None,
            Status::Skipped { .. } => Some("skipped"),
            Status::NonSuccess { element, .. } => Some(element),
        }
    }
}

/// One `testcase` element.
struct Case<'a> {
    name: String,
    class: &'a str,
    file: &'a str,
    line: usize,
    seconds: Option<f64>,
    status: Status,
}

/// Returns the results as XML. The two flags have the same meaning as for the exit code, so that the two agree: with
/// `fail_on_pass`, unexpected passes are failures, and with `ignore_unsupported`, tests with unknown commands are
/// skipped.
///
/// # Errors
///
/// Returns an error if writing fails. Nothing is known to cause this, because the XML is written to memory.
pub fn junit(run: &RunResult, fail_on_pass: bool, ignore_unsupported: bool) -> io::Result<String> {
    let suites: Vec<(&SuiteResult, Vec<Case<'_>>)> = run
        .suites
        .iter()
        .map(|suite| {
            let tests = suite
                .tests
                .iter()
                .map(|test| case(suite, test, status(test, fail_on_pass, ignore_unsupported)));
            // Setup commands are not tests. Without these cases, their failures would be invisible.
            let errors = suite.other_errors.iter().map(|error| set_up_case(suite, error));
            (suite, tests.chain(errors).collect())
        })
        .collect();
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 4);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let engine = text(format!("{} {}", run.engine.name, run.engine.version).trim());
    let all = suites.iter().flat_map(|(_, cases)| cases);
    let attributes = counts(&engine, run.seconds, all);
    writer.create_element("testsuites").with_attributes(pairs(&attributes)).write_inner_content(
        |writer| {
            for (suite, cases) in &suites {
                let attributes = counts(&text(&suite.name), suite.seconds, cases.iter());
                writer.create_element("testsuite").with_attributes(pairs(&attributes)).write_inner_content(
                    |writer| cases.iter().try_for_each(|case| write_case(writer, case)),
                )?;
            }
            Ok(())
        },
    )?;
    Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned() + "\n")
}

/// Returns the attributes of `testsuites` and `testsuite`.
fn counts<'c>(
    name: &str,
    seconds: f64,
    cases: impl Iterator<Item = &'c Case<'c>> + Clone,
) -> Vec<(&'static str, String)> {
    let number = |element: &str| {
        cases.clone().filter(|case| case.status.element() == Some(element)).count().to_string()
    };
    vec![
        ("name", name.to_owned()),
        ("tests", cases.clone().count().to_string()),
        ("skipped", number("skipped")),
        ("errors", number("error")),
        ("failures", number("failure")),
        ("time", time(seconds)),
    ]
}

fn write_case(writer: &mut Writer<Vec<u8>>, case: &Case<'_>) -> io::Result<()> {
    let mut attributes = vec![
        ("name", text(&case.name)),
        ("classname", text(case.class)),
        ("file", text(case.file)),
        ("line", case.line.to_string()),
    ];
    attributes.extend(case.seconds.map(|seconds| ("time", time(seconds))));
    let element = writer.create_element("testcase").with_attributes(pairs(&attributes));
    match &case.status {
        Status::Success => element.write_empty().map(drop),
        // In most schemas, `skipped` has only a message.
        Status::Skipped { message } => element
            .write_inner_content(|writer| {
                let message = text(message);
                writer
                    .create_element("skipped")
                    .with_attribute(("message", message.as_str()))
                    .write_empty()
                    .map(drop)
            })
            .map(drop),
        Status::NonSuccess { element: name, kind, message, output } => element
            .write_inner_content(|writer| {
                let attributes = [("message", text(message)), ("type", (*kind).to_owned())];
                let element = writer.create_element(*name).with_attributes(pairs(&attributes));
                element.write_text_content(BytesText::new(&text(output))).map(drop)
            })
            .map(drop),
    }
}

fn pairs<'a>(attributes: &'a [(&'static str, String)]) -> impl Iterator<Item = (&'a str, &'a str)> {
    attributes.iter().map(|(name, value)| (*name, value.as_str()))
}

/// Returns a text without the characters that XML 1.0 forbids. Engines may print any characters.
fn text(text: &str) -> String {
    let is_allowed = |c: &char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    text.chars().filter(is_allowed).collect()
}

/// Formats seconds. Results from a file may contain any number.
fn time(seconds: f64) -> String {
    format!("{:.3}", if seconds.is_finite() { seconds.max(0.0) } else { 0.0 })
}

/// Returns the status of a test in JUnit's terms.
fn status(test: &TestResult, fail_on_pass: bool, ignore_unsupported: bool) -> Status {
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
    let element = match test.outcome {
        Outcome::Pass => return Status::Success,
        Outcome::UnexpectedPass if !fail_on_pass => return Status::Success,
        Outcome::Fail | Outcome::UnexpectedPass => "failure",
        Outcome::ExpectedFail | Outcome::Ignored => {
            return Status::Skipped { message: format!("{kind}: {message}") };
        }
        Outcome::Unsupported if ignore_unsupported => {
            return Status::Skipped { message: format!("{kind}: {message}") };
        }
        Outcome::Unsupported | Outcome::SetUp | Outcome::TimedOut | Outcome::Crashed => "error",
    };
    Status::NonSuccess { element, kind, message, output: test.answer.clone() }
}

fn case<'a>(suite: &'a SuiteResult, test: &TestResult, status: Status) -> Case<'a> {
    Case {
        name: format!("{} {}", test.name(), test.command),
        class: &suite.name,
        file: &suite.path,
        line: test.line,
        seconds: Some(test.seconds),
        status,
    }
}

fn set_up_case<'a>(suite: &'a SuiteResult, error: &OtherError) -> Case<'a> {
    Case {
        name: format!("line {} {}", error.line, error.command),
        class: &suite.name,
        file: &suite.path,
        line: error.line,
        seconds: None,
        status: Status::NonSuccess {
            element: "error",
            kind: "other error",
            message: error.message.clone(),
            output: String::new(),
        },
    }
}
