//! Summary for the terminal: unexpected results, a table, and changes.

use super::compare::{Change, Comparison};
use super::expect::Matching;
use super::report::Report;
use super::result::{Outcome, OutcomeCounts, RunResult, SuiteResult, TestResult};
use std::fmt::Write;

/// Column with its heading and its value. The columns after the first `ALWAYS` are shown only if they have values.
type Column = (&'static str, fn(&OutcomeCounts) -> usize);
const COLUMNS: [Column; 9] = [
    ("tests", |tally| tally.tests),
    ("pass", |tally| tally.pass),
    ("fail", |tally| tally.expected_fail),
    ("PASS", |tally| tally.unexpected_pass),
    ("FAIL", |tally| tally.fail),
    ("ignored", |tally| tally.ignored),
    ("unsupported", |tally| tally.unsupported),
    ("error", |tally| tally.errors),
    ("other error", |tally| tally.other_errors),
];
const ALWAYS: usize = 5;

/// Returns the columns of a run that are shown.
pub(super) fn columns(total: &OutcomeCounts) -> Vec<Column> {
    let shown = COLUMNS.iter().enumerate().filter(|(index, column)| *index < ALWAYS || column.1(total) > 0);
    shown.map(|(_, column)| *column).collect()
}

/// Significance level: a difference with a smaller p value is significant.
pub(super) const SIGNIFICANT: f64 = 0.05;

/// Returns the summary. The most important part comes last, because users see the end of terminal output first. With
/// `verbose`, every test has a line.
pub fn summary(report: &Report, verbose: bool) -> String {
    let run = &report.run;
    let mut text = String::new();
    for suite in &run.suites {
        listing(&mut text, suite, verbose);
    }
    if !text.is_empty() {
        text.push('\n');
    }
    table(&mut text, run);
    let _ = writeln!(text, "\n{}", headline(run));
    if let Some((path, comparison)) = &report.comparison {
        let _ = writeln!(text, "\nCompared with {}:", path.display());
        compared(&mut text, comparison);
    }
    text
}

/// Lists the tests of a suite that need attention, or all with `verbose`.
fn listing(text: &mut String, suite: &SuiteResult, verbose: bool) {
    for test in &suite.tests {
        let is_quiet = match test.outcome {
            Outcome::Pass | Outcome::ExpectedFail | Outcome::Ignored | Outcome::Unsupported => true,
            Outcome::Fail
            | Outcome::UnexpectedPass
            | Outcome::SetUp
            | Outcome::TimedOut
            | Outcome::Crashed => false,
        };
        if verbose || !is_quiet {
            let _ = writeln!(text, "{}:{}: {}", suite.path, test.line, about(test));
        }
    }
    for error in &suite.other_errors {
        let _ = writeln!(
            text,
            "{}:{}: other error: {}: {}",
            suite.path,
            error.line,
            error.command,
            one_line(&error.message)
        );
    }
}

/// Returns a test and its outcome in one line.
fn about(test: &TestResult) -> String {
    let name = test.number.map(|number| format!("{number} ")).unwrap_or_default();
    let mut text = format!("{}: {name}{}", test.outcome.label(), test.command);
    match test.outcome {
        Outcome::Pass | Outcome::UnexpectedPass | Outcome::Ignored => {
            let _ = write!(text, ": {}", one_line(&test.answer));
        }
        Outcome::Fail | Outcome::ExpectedFail => {
            let _ = write!(text, ": expected {}, got {}", test.expectation(), one_line(&test.answer));
        }
        Outcome::Unsupported => {}
        Outcome::SetUp | Outcome::TimedOut | Outcome::Crashed => {
            let _ = write!(text, ": {}", one_line(&test.answer));
        }
    }
    text
}

/// Returns the first line of an answer, with a mark if there are more.
pub(super) fn one_line(answer: &str) -> String {
    let answer = answer.trim();
    match answer.split_once('\n') {
        Some((first, _)) => format!("{} ...", first.trim_end()),
        None if answer.is_empty() => "an empty response".to_owned(),
        None => answer.to_owned(),
    }
}

fn table(text: &mut String, run: &RunResult) {
    let total = run.tally();
    let columns = columns(&total);
    let cells = |name: &str, tally: &OutcomeCounts, seconds: f64| {
        let mut cells = vec![name.to_owned()];
        cells.extend(columns.iter().map(|(_, number)| number(tally).to_string()));
        cells.push(duration(seconds));
        cells
    };
    let mut rows = vec![vec!["suite".to_owned()]];
    rows[0].extend(columns.iter().map(|(heading, _)| (*heading).to_owned()));
    rows[0].push("time".to_owned());
    rows.extend(run.suites.iter().map(|suite| cells(&suite.name, &suite.tally(), suite.seconds)));
    if run.suites.len() > 1 {
        rows.push(cells("total", &total, run.suites.iter().map(|suite| suite.seconds).sum()));
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    for row in &rows {
        let mut line = format!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            let _ = write!(line, "  {cell:>width$}");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

/// Returns one or two sentences about the run.
pub(super) fn headline(run: &RunResult) -> String {
    let tally = run.tally();
    let engine = format!("{} {}", run.engine.name, run.engine.version);
    let share = tally.right() as f64 * 100.0 / tally.answered().max(1) as f64;
    let mut text = format!(
        "{} ({}): {} of {} answers right ({share:.1} %); {} unexpected failures, {} unexpected passes.",
        engine.trim(),
        run.engine.command,
        tally.right(),
        tally.answered(),
        tally.fail,
        tally.unexpected_pass,
    );
    if tally.unsupported > 0 {
        let _ = write!(
            text,
            " {} tests use commands that the engine does not know; they are not counted as wrong.",
            tally.unsupported
        );
    }
    if tally.errors > 0 {
        let _ = write!(text, " {} tests got no response.", tally.errors);
    }
    if tally.other_errors > 0 {
        let _ = write!(text, " {} setup commands failed.", tally.other_errors);
    }
    let engines =
        if run.jobs == 1 { "one engine".to_owned() } else { format!("{} engines at once", run.jobs) };
    let matching = match run.matching {
        Matching::Full => "full matching",
        Matching::Awk => "awk's matching",
    };
    let whole = if run.whole { ", suites not split" } else { "" };
    let _ = write!(text, "\n{} with {engines}{whole}, {matching}.", duration(run.seconds));
    text
}

/// Formats a duration: `12.3 s`, `2 min 05 s`.
pub(super) fn duration(seconds: f64) -> String {
    if seconds < 99.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    format!("{} min {:02} s", whole / 60, whole % 60)
}

/// Returns the kinds of change with their names.
pub(super) fn kinds(comparison: &Comparison) -> [(&'static str, &[Change]); 6] {
    [
        ("newly failing", &comparison.newly_failing),
        ("newly passing", &comparison.newly_passing),
        ("answered only once", &comparison.unanswered),
        ("altered", &comparison.altered),
        ("vanished", &comparison.vanished),
        ("new", &comparison.added),
    ]
}

fn compared(text: &mut String, comparison: &Comparison) {
    for (kind, changes) in kinds(comparison) {
        for change in changes {
            let _ = writeln!(
                text,
                "  {kind}: {} {} {}: {}",
                change.suite,
                change.test,
                change.command,
                difference(change)
            );
        }
    }
    let counts = kinds(comparison).map(|(kind, changes)| format!("{} {kind}", changes.len()));
    let _ = writeln!(text, "{}; {} answered in both runs.", counts.join(", "), comparison.paired);
    let _ = writeln!(text, "{}", verdict(comparison));
}

/// Returns the old and the new answer of a test.
pub(super) fn difference(change: &Change) -> String {
    let side = |side: &Option<(Outcome, String)>| match side {
        Some((outcome, answer)) if outcome.is_answered() => {
            format!("{} ({})", one_line(answer), outcome.label())
        }
        Some((outcome, _)) => outcome.label().to_owned(),
        None => "nothing".to_owned(),
    };
    match (&change.old, &change.new) {
        (None, new) => side(new),
        (old, None) => side(old),
        (old, new) => format!("{} -> {}", side(old), side(new)),
    }
}

/// Returns a sentence about the significance of the difference.
pub(super) fn verdict(comparison: &Comparison) -> String {
    let (worse, better) = (comparison.newly_failing.len(), comparison.newly_passing.len());
    let p = comparison.p_value();
    let chance = match (worse, better) {
        (0, 0) => return "No answer has changed between right and wrong.".to_owned(),
        _ if p >= SIGNIFICANT => "not significant",
        (worse, better) if worse > better => "significantly worse",
        _ => "significantly better",
    };
    let p = if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") };
    format!("{better} better, {worse} worse: {chance} ({p}, exact McNemar test, two-sided, against 5 %).")
}
