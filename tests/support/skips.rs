//! Behaviour of tests with a missing requirement.

use kosumi_test_support::{LOG, MUST_RUN, Requirement, is_named_in, require};
use std::env;
use std::fs;
use std::process::Command;

/// Fails to find GNU Go. This test only runs in a child process.
#[test]
#[ignore = "what the other tests run"]
fn lacking() {
    let found = require(Requirement::GnuGo, Err::<(), _>("there is no gnugo".to_owned()));
    assert!(found.is_none());
}

/// Runs `lacking` in a child process. Returns whether it succeeds, its output, and its log.
fn run(must_run: &str) -> (bool, String, String) {
    let log = env::temp_dir().join(format!("kosumi-skips-{}-{}", std::process::id(), must_run.len()));
    let output = Command::new(env::current_exe().unwrap())
        .args(["--ignored", "--exact", "lacking"])
        .env(MUST_RUN, must_run)
        .env(LOG, &log)
        .output()
        .unwrap();
    let logged = fs::read_to_string(&log).unwrap_or_default();
    let _ = fs::remove_file(&log);
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.success(), text.concat(), logged)
}

#[test]
fn a_skipped_test_succeeds_and_is_seen() {
    for must_run in ["", "node,chromium"] {
        let (success, text, logged) = run(must_run);
        assert!(success && text.contains("lacking: there is no gnugo (gnugo)"), "{text}");
        assert!(text.contains("skipped"), "{text}");
        assert_eq!(logged, "lacking: there is no gnugo (gnugo)\n");
    }
}

#[test]
fn a_test_that_must_run_fails() {
    for must_run in ["all", "node, gnugo"] {
        let (success, text, logged) = run(must_run);
        assert!(!success && text.contains("there is no gnugo"), "{text}");
        assert_eq!(logged, "");
    }
    let (success, text, _) = run("gnuchess");
    assert!(!success && text.contains("gnuchess, which is neither all nor one of gnugo, shared"), "{text}");
}

#[test]
fn all_asks_for_no_processor() {
    assert!(is_named_in(Requirement::Chromium, "all") && !is_named_in(Requirement::Amx, "all"));
    assert!(is_named_in(Requirement::Amx, "amx") && !is_named_in(Requirement::Zstd, ""));
}
