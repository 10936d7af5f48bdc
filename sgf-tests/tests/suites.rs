//! The suites that must pass.

use sgf_tests::{files, play_kosumi, surprises};

#[test]
fn basics_pass() {
    let results = play_kosumi(&files("basics").unwrap(), 2000).unwrap();
    let surprises = surprises(&results);
    assert!(surprises.is_empty(), "{surprises:#?}");
    let tests: usize = results.iter().map(|suite| suite.tests.len()).sum();
    assert!(tests >= 500, "only {tests} tests found");
}
