//! The suites in `sgf-tests/suites/basics` must pass: each is played through the real binary over GTP.

use kosumi_gtp::Client;
use sgf_tests::{Outcome, Suite, run};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

#[test]
fn basics_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sgf-tests/suites/basics");
    let mut tests = 0;
    for entry in std::fs::read_dir(&folder).expect("the suites") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "tst") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a readable suite");
        let suite = Suite::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut command = Command::new(env!("CARGO_BIN_EXE_kosumi"));
        command.args(["gtp", "--threads", "1", "--playouts", "2000"]).current_dir(&folder);
        let mut engine = Client::spawn_command(command).expect("the engine starts");
        let results = run(&suite, &mut engine, Duration::from_secs(60)).expect("the engine answers");
        let wrong: Vec<_> = results
            .iter()
            .filter(|result| !matches!(result.outcome, Outcome::Passed | Outcome::Ignored))
            .collect();
        assert!(wrong.is_empty(), "{}: {wrong:#?}", path.display());
        tests += results.len();
    }
    assert!(tests >= 30, "only {tests} tests found");
}
