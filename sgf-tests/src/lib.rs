//! Regression suites and the harness that runs them.
