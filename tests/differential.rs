//! A few random sessions of `scripts/differential`, which compares all engines with a plain model of the rules.

use std::process::Command;

fn differential(arguments: &[&str]) -> Option<(bool, String)> {
    let python = kosumi_test_support::python()?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/differential");
    let kosumi =
        format!("'{}' gtp --network small --visits 2 --threads 1 --memory 8", env!("CARGO_BIN_EXE_kosumi"));
    let output = Command::new(python).arg(script).args(["--kosumi", &kosumi]).args(arguments).output();
    let output = output.expect("scripts/differential");
    Some((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

#[test]
fn random_sessions_agree_with_a_plain_model() {
    if let Some((has_succeeded, report)) = differential(&["40", "--seed", "1"]) {
        assert!(has_succeeded, "{report}");
        assert!(
            report.contains("40 sessions of seed 1, ") && report.contains(" 0 sessions with differences")
        );
    }
}

/// The model has another komi, or no ko rule, so the comparison must find differences.
#[test]
fn differences_are_found() {
    for (fault, difference) in [("komi", "kosumi: final_score"), ("ko", "kosumi: is_legal")] {
        if let Some((has_succeeded, report)) = differential(&["20", "--seed", "1", "--plant", fault]) {
            assert!(!has_succeeded && report.contains(difference), "{fault}: {report}");
        }
    }
}
