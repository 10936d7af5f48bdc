//! Page of results: sums, and every failure with its position.

use super::compare::Comparison;
use super::expect::{Expectation, Matching};
use super::report::Report;
use super::result::{Outcome, OutcomeCounts, RunResult, SuiteResult, TestResult};
use super::summary::{columns, difference, duration, headline, kinds, one_line, verdict};
use crate::pages::{Diagram, Mark, Page, Table, TableCell, Tone, localized};
use kosumi_go::board::{Board, Color, Point};
use maud::{Markup, Render, html};

/// Styles of this page only.
const STYLE: &str = "\
    .card p { margin: .2rem 0; overflow-wrap: anywhere; }\n\
    .card h3 { margin: 0 0 .3rem; font-size: 1rem; }\n\
    details { margin: 1rem 0; } summary { cursor: pointer; color: var(--faint); margin-bottom: .6rem; }\n\
    td { white-space: normal; }\n";

/// Maximum number of points of an expected answer that are marked in a diagram. More would not be informative.
const MAX_MARKS: usize = 40;

/// Returns the page of a run.
pub fn page(report: &Report) -> Page {
    let run = &report.run;
    let engine = format!("{} {}", run.engine.name, run.engine.version);
    let mut page = Page::named(localized("regression-of").with("engine", engine.trim()));
    page.diagram_style();
    page.style(STYLE);
    headline(run).lines().for_each(|line| page.paragraph(line));
    page.add(totals(run));
    if let Some((path, comparison)) = &report.comparison {
        page.heading_words(&localized("compared-with").with("file", path.display()));
        page.paragraph(&verdict(comparison));
        page.add(changes(comparison));
    }
    page.add(html! { p { (localized("diagrams-are")) } });
    for (index, suite) in run.suites.iter().enumerate() {
        section(&mut page, index, suite, run.matching);
    }
    page.add_language_script();
    page
}

/// Returns the anchor of the section of a suite.
fn anchor(index: usize) -> String {
    format!("suite-{index}")
}

fn totals(run: &RunResult) -> Table {
    let total = run.tally();
    let columns = columns(&total);
    let headings: Vec<String> = columns.iter().map(|(heading, _)| format!("# {heading}")).collect();
    let mut head = vec!["suite"];
    head.extend(headings.iter().map(String::as_str));
    head.push("# time");
    let mut table = Table::new(&head);
    let cells = |name: TableCell, tally: &OutcomeCounts, seconds: f64| {
        let mut cells = vec![name];
        cells.extend(columns.iter().map(|(_, number)| TableCell::number(number(tally))));
        cells.push(TableCell::number(duration(seconds)));
        cells
    };
    for (index, suite) in run.suites.iter().enumerate() {
        let name = match is_silent(suite) {
            true => suite.name.as_str().into(),
            false => TableCell::Markup(html! { a href={ "#" (anchor(index)) } { (suite.name) } }),
        };
        table.row(cells(name, &suite.tally(), suite.seconds));
    }
    table.total(cells("total".into(), &total, run.suites.iter().map(|suite| suite.seconds).sum()));
    table
}

fn changes(comparison: &Comparison) -> Table {
    let mut table = Table::named(&["change", "suite", "test", "command", "answer"], &[]);
    for (kind, changes) in kinds(comparison) {
        for change in changes {
            let cells = [kind, &change.suite, &change.test, &change.command, &difference(change)];
            table.row(cells.map(TableCell::from));
        }
    }
    table
}

/// Returns whether a suite needs no section: all its tests passed or are ignored, and there are no errors.
fn is_silent(suite: &SuiteResult) -> bool {
    let passes = |test: &TestResult| matches!(test.outcome, Outcome::Pass | Outcome::Ignored);
    suite.tests.iter().all(passes) && suite.other_errors.is_empty()
}

fn section(page: &mut Page, index: usize, suite: &SuiteResult, matching: Matching) {
    if is_silent(suite) {
        return;
    }
    page.add(html! { h2 id=(anchor(index)) { (suite.name) } });
    if !suite.other_errors.is_empty() {
        let mut table = Table::named(&["#line-number", "setup-wrong", "engine-output"], &[]);
        for error in &suite.other_errors {
            let message = one_line(&error.message);
            table.row([TableCell::number(error.line), error.command.as_str().into(), message.into()]);
        }
        page.add(table);
    }
    let of = |outcomes: &[Outcome]| -> Vec<&TestResult> {
        suite.tests.iter().filter(|test| outcomes.contains(&test.outcome)).collect()
    };
    let shown = of(&[Outcome::Fail, Outcome::Crashed, Outcome::TimedOut, Outcome::SetUp]);
    if !shown.is_empty() {
        page.add(cards(&shown, matching));
    }
    for (outcome, what) in [
        (Outcome::UnexpectedPass, "passed-unexpectedly"),
        (Outcome::ExpectedFail, "failed-as-known"),
        (Outcome::Unsupported, "not-asked"),
    ] {
        let tests = of(&[outcome]);
        if tests.is_empty() {
            continue;
        }
        let inside = match outcome {
            Outcome::ExpectedFail => cards(&tests, matching),
            _ => list(&tests).render(),
        };
        page.add(html! { details { summary { (localized(what).with("count", tests.len())) } (inside) } });
    }
}

fn list(tests: &[&TestResult]) -> Table {
    let mut table = Table::named(&["test", "command", "expected", "answer"], &[]);
    for test in tests {
        let (name, answer) = (test.name(), one_line(&test.answer));
        table.row([name.as_str(), &test.command, test.expectation(), &answer].map(TableCell::from));
    }
    table
}

fn cards(tests: &[&TestResult], matching: Matching) -> Markup {
    // Points of a large board must be distinguishable.
    let side =
        |test: &&TestResult| test.position.as_ref().and_then(|it| it.board()).map(|it| it.size().columns());
    let is_large = tests.iter().filter_map(side).any(|side| side > 13);
    html! {
        div.cards.large[is_large] { @for test in tests { div.card { (card(test, matching)) } } }
    }
}

fn card(test: &TestResult, matching: Matching) -> Markup {
    let board = test.position.as_ref().and_then(|position| position.board());
    let tone = if test.outcome == Outcome::ExpectedFail { "warn" } else { "bad" };
    html! {
        @match board {
            Some(board) => (diagram(test, &board, matching)),
            None => p.faint { (localized("not-followed")) },
        }
        h3 { (test.name()) " " span class=(tone) { (test.outcome.label()) } }
        p { code { (test.command) } }
        p { (localized("expected")) " " code { (test.expectation()) } ", " (localized("answer")) " " code { (one_line(&test.answer)) } }
        p.faint { (localized("line-number")) " " (test.line) ", " (format_args!("{:.2}", test.seconds)) " s" }
    }
}

fn diagram(test: &TestResult, board: &Board, matching: Matching) -> Markup {
    let on_board = |word: &str| board.size().points().find(|point| is_vertex(*point, word));
    let title = format!("Position of test {}: {}", test.name(), test.command);
    let mut diagram = Diagram::new(board, &title);
    let last = test.position.as_ref().and_then(|position| position.last.as_deref()).and_then(on_board);
    if let Some(last) = last {
        diagram = diagram.mark(last, Mark::Circle, Tone::Neutral);
    }
    // Points in the command, such as the stone to attack or the move to check.
    for word in test.command.split_ascii_whitespace().skip(1) {
        if let Some(point) = on_board(word) {
            diagram = diagram.mark(point, Mark::Triangle, Tone::Neutral);
        }
    }
    let words: Vec<&str> = test.answer.split_ascii_whitespace().collect();
    let played = match words.as_slice() {
        [word] => on_board(word),
        _ => None,
    };
    if let Some(point) = played {
        if let Some(color) = asked_color(&test.command)
            && board.cell(point).color().is_none()
        {
            diagram = diagram.stone(point, color);
        }
        diagram = diagram.mark(point, Mark::Square, Tone::Bad);
    }
    if let Some((points, is_negated)) = wanted(test, board, matching) {
        for point in points {
            diagram = match is_negated {
                true => diagram.mark(point, Mark::Cross, Tone::Bad),
                false => diagram.mark(point, Mark::Circle, Tone::Good),
            };
        }
    }
    diagram.render()
}

/// Returns the points whose names match the pattern of the expected answer, and whether these are the wrong ones.
fn wanted(test: &TestResult, board: &Board, matching: Matching) -> Option<(Vec<Point>, bool)> {
    let pattern = format!("[{}]", test.expected.as_ref()?);
    let expectation = Expectation::parse(&pattern, matching).ok()?.0?;
    let matcher = expectation.matcher();
    let points = board.size().points().filter(|point| matcher.matches(&point.to_string()));
    let points: Vec<Point> = points.take(MAX_MARKS + 1).collect();
    (points.len() <= MAX_MARKS).then_some((points, expectation.is_negated()))
}

fn is_vertex(point: Point, word: &str) -> bool {
    word.len() <= 3 && point.to_string().eq_ignore_ascii_case(word)
}

/// Returns the colour for which the command requests a move.
fn asked_color(command: &str) -> Option<Color> {
    match command.split_ascii_whitespace().nth(1)?.to_ascii_lowercase().as_str() {
        "b" | "black" => Some(Color::Black),
        "w" | "white" => Some(Color::White),
        _ => None,
    }
}
