//! Arbitrary bytes as a suite of regression tests: it is read, or rejected with a valid line number, and every
//! expectation can be compared with any response.
//!
//! ```text
//! mkdir -p fuzz/corpus/suite && cp sgf-tests/*/*.tst fuzz/corpus/suite
//! RUSTC_BOOTSTRAP=1 cargo fuzz run suite -- -max_total_time=600
//! ```
#![no_main]

use kosumi_tools::regress::{Matching, Response, Suite};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    // Longer inputs are slower but do not test more.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4000)]);
    for matching in [Matching::Full, Matching::Awk] {
        match Suite::parse(Path::new("x.tst"), &text, matching) {
            Err(error) => assert!((1..=text.lines().count()).contains(&error.line)),
            Ok(suite) => {
                assert!(suite.steps.windows(2).all(|pair| pair[0].line < pair[1].line));
                assert!(suite.test_count() <= suite.steps.len());
                for step in &suite.steps {
                    assert!(!step.name().is_empty());
                    let Some(expected) = &step.expectation else { continue };
                    for answer in ["", "A1", "1 2\n3", step.command.as_str(), expected.text.as_str()] {
                        let right = expected.accepts(Response::Success(answer));
                        assert_eq!(right, expected.matches(answer) != expected.is_negated());
                        if matching == Matching::Full {
                            assert!(!expected.accepts(Response::Failure(answer)));
                        }
                    }
                }
            }
        }
    }
});
