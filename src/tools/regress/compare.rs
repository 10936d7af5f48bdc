//! Comparison of two runs, with a significance test.

use super::result::{Outcome, RunResult, TestResult};
use std::collections::HashMap;

/// Test in a comparison of two runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Name of the suite.
    pub suite: String,
    /// Number of the test, or its line.
    pub test: String,
    /// Command of the test.
    pub command: String,
    /// Outcome and answer in the old run, if it had the test.
    pub old: Option<(Outcome, String)>,
    /// Outcome and answer in the new run, if it had the test.
    pub new: Option<(Outcome, String)>,
}

/// Difference between two runs. Tests are identified by suite and number.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Comparison {
    /// Tests that were right and are wrong now.
    pub newly_failing: Vec<Change>,
    /// Tests that were wrong and are right now.
    pub newly_passing: Vec<Change>,
    /// Tests that have an answer in only one of the runs, or whose reasons for having none differ (crash, unknown
    /// command, …).
    pub unanswered: Vec<Change>,
    /// Tests that only the old run has.
    pub vanished: Vec<Change>,
    /// Tests that only the new run has.
    pub added: Vec<Change>,
    /// Tests whose results cannot be compared, because the command, the expected answer or the mark has changed.
    pub altered: Vec<Change>,
    /// Number of comparable tests with an answer in both runs.
    pub paired: usize,
}

impl Comparison {
    /// Compares two runs.
    pub fn new(old: &RunResult, new: &RunResult) -> Comparison {
        let mut before: HashMap<(&str, String), &TestResult> = tests(old).collect();
        let mut comparison = Comparison::default();
        for ((suite, name), test) in tests(new) {
            let Some(past) = before.remove(&(suite, name)) else {
                comparison.added.push(change(suite, None, Some(test)));
                continue;
            };
            let change = || change(suite, Some(past), Some(test));
            let (was, is) = (past.outcome, test.outcome);
            if past.command != test.command
                || past.expected != test.expected
                || (was == Outcome::Ignored) != (is == Outcome::Ignored)
            {
                comparison.altered.push(change());
            } else if was.is_answered() && is.is_answered() {
                comparison.paired += 1;
                match (was.is_right(), is.is_right()) {
                    (true, false) => comparison.newly_failing.push(change()),
                    (false, true) => comparison.newly_passing.push(change()),
                    _ => {}
                }
            } else if was != is {
                comparison.unanswered.push(change());
            }
        }
        // The list has the order of the old run, which the map does not keep.
        let vanished = tests(old).filter(|(key, _)| before.contains_key(key));
        comparison.vanished = vanished.map(|((suite, _), test)| change(suite, Some(test), None)).collect();
        comparison
    }

    /// Returns the probability of a difference at least as large if both runs were equally good.
    pub fn p_value(&self) -> f64 {
        mcnemar(self.newly_failing.len(), self.newly_passing.len())
    }
}

fn tests(run: &RunResult) -> impl Iterator<Item = ((&str, String), &TestResult)> {
    run.suites
        .iter()
        .flat_map(|suite| suite.tests.iter().map(move |test| ((suite.name.as_str(), test.name()), test)))
}

fn change(suite: &str, old: Option<&TestResult>, new: Option<&TestResult>) -> Change {
    let about = |test: &TestResult| (test.outcome, test.answer.clone());
    let test = new.or(old);
    Change {
        suite: suite.to_owned(),
        test: test.map(TestResult::name).unwrap_or_default(),
        command: test.map(|test| test.command.clone()).unwrap_or_default(),
        old: old.map(about),
        new: new.map(about),
    }
}

/// Computes McNemar's exact test. If the runs are equally good, each pair of differing results is equally likely to
/// differ in either direction. Returns the two-sided probability that a split of `a + b` pairs is at least as uneven,
/// or 1 if there is no pair.
///
/// CITE: McNemar, "Note on the sampling error of the difference between correlated proportions or percentages" (1947),
/// with the binomial distribution instead of its approximation, i.e. the sign test of Dixon and Mood, "The statistical
/// sign test" (1946).
fn mcnemar(a: usize, b: usize) -> f64 {
    let n = (a + b) as f64;
    // ln of C(n, k) / 2^n for k = 0, 1, …. Logarithms are needed because 2^-n underflows for large n.
    let mut log_term = -n * std::f64::consts::LN_2;
    let mut tail = log_term.exp();
    for k in 1..=a.min(b) {
        let k = k as f64;
        log_term += ((n - k + 1.0) / k).ln();
        tail += log_term.exp();
    }
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regress::{EngineInfo, FORMAT, Mark, Matching, SuiteResult};

    #[test]
    fn known_probabilities() {
        for (a, b, p) in [
            (0, 0, 1.0),
            (1, 0, 1.0),
            (5, 0, 0.0625),
            (0, 6, 0.03125),
            // Table of the sign test: 2 · (1 + 10 + 45) / 1024.
            (2, 8, 0.109_375),
            (8, 2, 0.109_375),
            (5, 5, 1.0),
            (4, 5, 1.0),
            // Sign test: 2 · (1 + 20 + 190 + 1140 + 4845 + 15504) / 2^20.
            (5, 15, 0.041_389_465),
            (10, 25, 0.016_674),
        ] {
            assert!((mcnemar(a, b) - p).abs() < 1e-6, "{a} {b}: {}", mcnemar(a, b));
        }
        // Normal approximation with continuity correction: z = 99 / sqrt(10000), p = 0.3222.
        assert!((mcnemar(4950, 5050) - 0.3222).abs() < 1e-3);
        assert!(mcnemar(0, 5000) < 1e-300);
    }

    fn run(tests: &[(&str, u32, &str, Outcome)]) -> RunResult {
        let mut suites: Vec<SuiteResult> = Vec::new();
        for &(suite, number, expected, outcome) in tests {
            let test = TestResult {
                line: number as usize,
                number: Some(number),
                command: "reg_genmove b".into(),
                expected: Some(expected.into()),
                mark: Mark::None,
                answer: "A1".into(),
                outcome,
                seconds: 0.0,
                position: None,
            };
            match suites.iter_mut().find(|known| known.name == suite) {
                Some(known) => known.tests.push(test),
                None => {
                    let tests = vec![test];
                    suites.push(SuiteResult { name: suite.into(), tests, ..SuiteResult::default() });
                }
            }
        }
        let engine = EngineInfo::default();
        RunResult {
            format: FORMAT,
            engine,
            matching: Matching::Full,
            seconds: 0.0,
            jobs: 1,
            whole: false,
            suites,
        }
    }

    #[test]
    fn changes_are_sorted_by_kind() {
        use Outcome::{Crashed, ExpectedFail, Fail, Ignored, Pass, UnexpectedPass, Unsupported};
        let old = run(&[
            ("a", 1, "A1", Pass),
            ("a", 2, "A1", UnexpectedPass),
            ("a", 3, "A1", Fail),
            ("a", 4, "A1", Fail),
            ("a", 5, "A1", Pass),
            ("a", 6, "A1", Pass),
            ("a", 7, "A1", Pass),
            ("a", 8, "A1", Unsupported),
            ("a", 9, "A1", Ignored),
            ("b", 1, "A1", Pass),
            ("b", 2, "A1", Pass),
        ]);
        let new = run(&[
            ("a", 1, "A1", Fail),
            ("a", 2, "A1", ExpectedFail),
            ("a", 3, "A1", Pass),
            ("a", 4, "A1", ExpectedFail),
            ("a", 5, "A1", UnexpectedPass),
            ("a", 6, "B2", Fail),
            ("a", 7, "A1", Crashed),
            ("a", 8, "A1", Unsupported),
            ("a", 9, "A1", Ignored),
            ("c", 1, "A1", Pass),
        ]);
        let comparison = Comparison::new(&old, &new);
        let names = |changes: &[Change]| {
            changes
                .iter()
                .map(|change| format!("{}{}", change.suite, change.test))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(names(&comparison.newly_failing), "a1 a2");
        assert_eq!(names(&comparison.newly_passing), "a3");
        assert_eq!(names(&comparison.altered), "a6");
        assert_eq!(names(&comparison.unanswered), "a7");
        assert_eq!(names(&comparison.vanished), "b1 b2");
        assert_eq!(names(&comparison.added), "c1");
        assert_eq!(comparison.paired, 5);
        assert_eq!(comparison.newly_failing[0].old, Some((Pass, "A1".into())));
        let same = Comparison::new(&old, &old);
        assert_eq!(same, Comparison { paired: 9, ..Comparison::default() });
        assert!((same.p_value() - 1.0).abs() < 1e-12);
    }
}
