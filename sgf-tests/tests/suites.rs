//! Tests of the suites that must pass.

use kosumi_tools::regress::SuiteResult;
use sgf_tests::{Evaluation, NETWORK_FAILURES, files, play_kosumi, surprises};

fn check(results: &[SuiteResult], known_failures: &[(&str, &[u32])]) {
    let surprises = surprises(results, known_failures);
    assert!(surprises.is_empty(), "{surprises:#?}");
    let tests: usize = results.iter().map(|suite| suite.tests.len()).sum();
    assert!(tests >= 500, "only {tests} tests found");
}

#[test]
fn basics_pass() {
    check(&play_kosumi(&files("basics").unwrap(), Evaluation::Playouts(2000)).unwrap(), &[]);
}

#[test]
fn basics_pass_with_the_network() {
    check(&play_kosumi(&files("basics").unwrap(), Evaluation::Network(60)).unwrap(), NETWORK_FAILURES);
}
