//! The mutations in `tests/faults` must still apply to the program. `scripts/faults` takes half an hour to show that
//! tests detect them.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

#[test]
fn every_mutation_applies_and_names_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files: Vec<_> =
        fs::read_dir(root.join("tests/faults")).unwrap().map(|it| it.unwrap().path()).collect();
    assert!(files.len() >= 10);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let command = text.lines().find_map(|line| line.strip_prefix("Found by: ")).expect("Found by:");
        assert!(command.starts_with("scripts/models ") || command.starts_with("cargo test "), "{command}");
        // In a folder without a repository, `git apply` prints nothing and checks nothing.
        let git = Command::new("git").current_dir(root).args(["apply", "--check"]).arg(&file).output();
        if let Ok(output) = git {
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {errors}", file.display());
        }
    }
}
