//! Tests of the reports, with handwritten results.

use super::summary::verdict;
use super::{
    Comparison, EngineInfo, FORMAT, Mark, Matching, OtherError, Outcome, Position, Report, RunResult,
    SuiteResult, TestResult, junit, page, summary,
};
use std::path::PathBuf;

/// Returns a position on 4×3 with Black at B2 and White at C3.
fn position() -> Position {
    Position { board: vec!["..O.".into(), ".X..".into(), "....".into()], last: Some("C3".into()) }
}

fn test(number: u32, outcome: Outcome) -> TestResult {
    TestResult {
        line: 2 * number as usize,
        number: Some(number),
        command: "reg_genmove white".into(),
        expected: Some("A1|D2".into()),
        mark: Mark::None,
        answer: "C1".into(),
        outcome,
        seconds: 1.25,
        position: None,
    }
}

/// Returns a run with results of every kind, and with text that would be markup if it were not escaped.
fn run_of_all_kinds() -> RunResult {
    let mut tests = vec![
        test(1, Outcome::Pass),
        TestResult { position: Some(position()), ..test(2, Outcome::Fail) },
        TestResult { command: "final_score".into(), answer: "<&\"\u{1}\nB".into(), ..test(3, Outcome::Fail) },
        TestResult { position: Some(position()), ..test(4, Outcome::ExpectedFail) },
        test(5, Outcome::UnexpectedPass),
        test(6, Outcome::Ignored),
        TestResult { command: "owl_attack <b>".into(), ..test(7, Outcome::Unsupported) },
        TestResult { answer: "the engine has exited: 'x' ]]>".into(), ..test(8, Outcome::Crashed) },
    ];
    tests.push(TestResult { number: None, expected: Some("!C1|A4".into()), ..tests[1].clone() });
    let other_errors = vec![OtherError {
        line: 30,
        command: "loadsgf <a>.sgf".into(),
        message: "cannot load file".into(),
        is_refusal: true,
    }];
    let suites = vec![
        SuiteResult { name: "ko".into(), path: "x/ko.tst".into(), seconds: 12.0, tests, other_errors },
        SuiteResult { name: "quiet".into(), tests: vec![test(1, Outcome::Pass)], ..SuiteResult::default() },
    ];
    let engine = EngineInfo { name: "E<1>".into(), version: "2".into(), command: "e --gtp".into() };
    RunResult {
        format: FORMAT,
        engine,
        matching: Matching::Full,
        seconds: 125.0,
        jobs: 2,
        whole: false,
        suites,
    }
}

fn report(comparison: Option<(PathBuf, Comparison)>) -> Report {
    Report { run: run_of_all_kinds(), comparison }
}

#[test]
fn the_terminal_shows_what_is_unexpected_and_sums() {
    let text = summary(&report(None), false);
    let listed: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(
        listed,
        [
            "x/ko.tst:4: FAIL: 2 reg_genmove white: expected A1|D2, got C1",
            "x/ko.tst:6: FAIL: 3 final_score: expected A1|D2, got <&\"\u{1} ...",
            "x/ko.tst:10: PASS: 5 reg_genmove white: C1",
            "x/ko.tst:16: crashed: 8 reg_genmove white: the engine has exited: 'x' ]]>",
            "x/ko.tst:4: FAIL: reg_genmove white: expected !C1|A4, got C1",
            "x/ko.tst:30: other error: loadsgf <a>.sgf: cannot load file",
        ]
    );
    let table: Vec<&str> = text.lines().skip(listed.len() + 1).take(4).collect();
    assert_eq!(
        table,
        [
            "suite  tests  pass  fail  PASS  FAIL  ignored  unsupported  error  other error    time",
            "ko         9     1     1     1     3        1            1      1            1  12.0 s",
            "quiet      1     1     0     0     0        0            0      0            0   0.0 s",
            "total     10     2     1     1     3        1            1      1            1  12.0 s",
        ]
    );
    assert!(
        text.contains("3 of 7 answers right (42.9 %); 3 unexpected failures, 1 unexpected passes"),
        "{text}"
    );
    assert!(text.contains("1 tests use commands that the engine does not know"), "{text}");
    assert!(text.contains("2 min 05 s with 2 engines at once, full matching."), "{text}");
    let verbose = summary(&report(None), true);
    assert_eq!(verbose.lines().take_while(|line| !line.is_empty()).count(), 10 + 1);
}

#[test]
fn comparisons_end_in_a_verdict() {
    let change = |number: usize| crate::regress::Change {
        suite: "ko".into(),
        test: number.to_string(),
        command: "reg_genmove b".into(),
        old: Some((Outcome::Pass, "A1".into())),
        new: Some((Outcome::Crashed, String::new())),
    };
    let changes = |count: usize| (0..count).map(change).collect::<Vec<_>>();
    let of = |worse: usize, better: usize| Comparison {
        newly_failing: changes(worse),
        newly_passing: changes(better),
        ..Comparison::default()
    };
    assert!(verdict(&of(0, 0)).contains("No answer"));
    assert_eq!(
        verdict(&of(5, 15)),
        "15 better, 5 worse: significantly better (p = 0.041, exact McNemar test, two-sided, against 5 %)."
    );
    assert!(verdict(&of(6, 0)).contains("significantly worse (p = 0.031"));
    assert!(verdict(&of(5, 0)).contains("not significant (p = 0.06"));
    assert!(verdict(&of(0, 40)).contains("p < 0.001"));
    let text = summary(&report(Some(("old.json".into(), of(1, 0)))), false);
    assert!(text.contains("newly failing: ko 0 reg_genmove b: A1 (pass) -> crashed"), "{text}");
    assert!(text.contains("1 newly failing, 0 newly passing, 0 answered only once, 0 altered"), "{text}");
}

fn count(document: &roxmltree::Document<'_>, name: &str, attribute: (&str, &str)) -> usize {
    let is_it = |node: &roxmltree::Node<'_, '_>| {
        node.has_tag_name(name)
            && node.attribute(attribute.0).is_some_and(|value| value.contains(attribute.1))
    };
    document.descendants().filter(is_it).count()
}

#[test]
fn junit_is_xml_and_agrees_with_the_exit_code() {
    let check = |fail_on_pass: bool, ignore_unsupported: bool, expected: [usize; 3]| {
        let xml = junit(&run_of_all_kinds(), fail_on_pass, ignore_unsupported).unwrap();
        let document = roxmltree::Document::parse(&xml).unwrap();
        let number = |name: &str| document.descendants().filter(|node| node.has_tag_name(name)).count();
        assert_eq!([number("failure"), number("error"), number("skipped")], expected);
        let root = document.root_element();
        let sum = |name: &str| root.attribute(name).unwrap().parse::<usize>().unwrap();
        assert_eq!([sum("failures"), sum("errors"), sum("skipped")], expected);
        assert_eq!((sum("tests"), number("testcase"), number("testsuite")), (11, 11, 2));
    };
    check(false, false, [3, 3, 2]);
    check(true, true, [4, 2, 3]);
    // Any number may occur in a file of results.
    let odd = RunResult { seconds: f64::NAN, ..run_of_all_kinds() };
    assert!(junit(&odd, false, false).unwrap().contains("time=\"0.000\""));
    let xml = junit(&run_of_all_kinds(), false, false).unwrap();
    let document = roxmltree::Document::parse(&xml).unwrap();
    assert_eq!(count(&document, "failure", ("message", "got <&\" ...")), 1);
    assert_eq!(count(&document, "testcase", ("name", "owl_attack <b>")), 1);
}

/// Converts a page to XML by closing the elements that HTML leaves open.
fn as_xml(page: &str) -> String {
    let open = page.replacen("<!DOCTYPE html>\n", "", 1);
    open.replace("charset=\"utf-8\">", "charset=\"utf-8\"/>")
        .replace("initial-scale=1\">", "initial-scale=1\"/>")
        .replace("form-action 'none'\">", "form-action 'none'\"/>")
}

#[test]
fn the_page_is_well_formed_and_shows_every_failure() {
    let old = RunResult { suites: Vec::new(), ..run_of_all_kinds() };
    let comparison = Comparison::new(&old, &run_of_all_kinds());
    let text = page(&report(Some(("old<1>.json".into(), comparison)))).to_string();
    let xml = as_xml(&text);
    let document = roxmltree::Document::parse(&xml).unwrap_or_else(|error| panic!("{error}: {xml}"));
    // Three unexpected failures, a crash, and one expected failure.
    assert_eq!(count(&document, "div", ("class", "card")) - count(&document, "div", ("class", "cards")), 5);
    assert_eq!(count(&document, "svg", ("class", "diagram")), 3, "where the position is known");
    assert_eq!(text.matches("data-text=\"not-followed\"").count(), 2, "and where it is not, this is stated");
    for number in [2, 3, 4, 8] {
        assert!(text.contains(&format!("<h3>{number} <span")), "{number}");
    }
    assert!(text.contains("<h3>line 4 <span"), "a test without a number");
    assert!(text.contains("<a href=\"#suite-0\">ko</a>") && text.contains("<h2 id=\"suite-0\">ko</h2>"));
    assert!(!text.contains("suite-1"), "nothing about the other");
    assert!(text.contains("loadsgf &lt;a&gt;.sgf") && text.contains("owl_attack &lt;b&gt;"));
    assert!(text.contains("Compared with old&lt;1&gt;.json"));
}

/// Returns the names of the marks in a page's diagrams.
fn marks(page: &str) -> Vec<&'static str> {
    let diagrams = page.split("<svg").skip(1).filter_map(|rest| rest.split("</svg>").next());
    let paths: Vec<&str> = diagrams.flat_map(|diagram| diagram.split('<')).collect();
    let is_there = |begin: &str, end: &str| paths.iter().any(|it| it.starts_with(begin) && it.contains(end));
    let all = [
        ("cross", "path class=\"mark bad\"", "m0-.48l-.48.48"),
        ("green ring", "circle class=\"mark good\"", ""),
        ("small ring", "circle class=\"mark\"", ""),
        ("square", "path class=\"mark bad\"", "h.48v.48h-.48z"),
        ("triangle", "path class=\"mark\"", "l.28.48h-.56z"),
    ];
    all.into_iter().filter(|(_, begin, end)| is_there(begin, end)).map(|(word, ..)| word).collect()
}

#[test]
fn the_legend_names_every_mark_in_every_language() {
    let mut run = run_of_all_kinds();
    // A command that names a stone, which gets a triangle.
    let question = TestResult { command: "owl_attack B2".into(), ..run.suites[0].tests[1].clone() };
    run.suites[0].tests.push(question);
    let text = page(&Report { run, comparison: None }).to_string();
    assert!(text.contains("data-text=\"diagrams-are\""), "the page has a legend");
    assert_eq!(marks(&text), ["cross", "green ring", "small ring", "square", "triangle"]);
    let without = page(&report(None)).to_string();
    assert!(!marks(&without).contains(&"triangle"), "nothing is named in the other questions");
    for (texts, words) in [
        (
            include_str!("../../board/pages/texts/en.json"),
            ["red crosses", "green rings", "small ring", "red square", "triangles"],
        ),
        (
            include_str!("../../board/pages/texts/de.json"),
            ["rote kreuze", "grüne ringe", "kleine ring", "roten quadrat", "dreiecke"],
        ),
    ] {
        let texts: serde_json::Value = serde_json::from_str(texts).unwrap();
        let legend = texts["diagrams-are"].as_str().expect("a text").to_lowercase();
        let missing: Vec<&&str> = words.iter().filter(|word| !legend.contains(**word)).collect();
        assert!(missing.is_empty(), "{missing:?} in {legend}");
    }
}

#[test]
fn diagrams_show_the_wanted_and_the_chosen_move() {
    let text = page(&report(None)).to_string();
    let diagrams: Vec<&str> =
        text.split("<svg").skip(1).filter_map(|rest| rest.split("</svg>").next()).collect();
    // 4×3: rows run from the top, so A1 is at (1, 3).
    let wanted = "<circle class=\"mark good\" cx=\"1\" cy=\"3\"";
    let other = "<circle class=\"mark good\" cx=\"4\" cy=\"2\"";
    let (chosen, stone) =
        ("class=\"mark bad\" d=\"M3 3m-.24-.24h", "<circle class=\"white\" cx=\"3\" cy=\"3\"");
    assert!([wanted, other, chosen, stone].iter().all(|part| diagrams[0].contains(part)), "{}", diagrams[0]);
    assert!(
        diagrams[0].contains("<circle class=\"mark\" cx=\"3\" cy=\"1\""),
        "the last move: {}",
        diagrams[0]
    );
    // `!C1|A4`: C1 is wrong, and A4 is not on this board.
    let negated = diagrams[1];
    assert!(negated.contains("mark bad\" d=\"M3 3m-.24-.24l") && !negated.contains("mark good"), "{negated}");
}
