//! `kosumi tune` as a process.

use std::fs;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Temporary folder with a game on 7×7.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = TempDir::new().unwrap();
        let record = "(;SZ[7];B[dd];W[cc];B[dc];W[cd];B[ce];W[be];B[cf];W[bf];B[cb];W[bb];B[ec];W[bd])";
        fs::write(folder.path().join("game.sgf"), record).unwrap();
        Folder(folder)
    }

    fn tune(&self, options: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kosumi"));
        command.arg("tune").arg(self.0.path()).args(options.split_whitespace()).output().unwrap()
    }
}

#[test]
fn settings_are_compared_with_the_plain_search() {
    let folder = Folder::new();
    // This komi keeps the opening even. The second trial sets the default value, and the third one hardly searches.
    let options = "--size 7 --no-model --komi 9 --positions 2 --playouts 200 --judge-playouts 200 \
                   --try sharing=graph --try maxPlayouts=1";
    let output = folder.tune(options);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0][..5], ["2", "open", "positions", "on", "7x7;"], "{text}");
    let names: Vec<&str> = lines[2..].iter().map(|line| *line.last().unwrap()).collect();
    assert_eq!(names, ["plain", "sharing=graph", "maxPlayouts=1"]);
    // The columns are: loss, its standard error, gain over the plain search, its standard error.
    let number = |line: &[&str], index: usize| line[index].trim_start_matches('+').parse::<f64>().unwrap();
    assert_eq!((number(&lines[2], 3), number(&lines[3], 3)), (0.0, 0.0), "{text}");
    assert_eq!(lines[2][..3], lines[3][..3], "the same search makes the same choices");
    assert!(lines[2..].iter().all(|line| number(line, 0) >= 0.0), "{text}");
}

#[test]
fn what_cannot_be_compared_is_an_error() {
    let folder = Folder::new();
    for (options, message) in [
        ("--size 9 --no-model --try sharing=tree", "0 open positions on 9x9"),
        ("--size 7 --no-model --try beauty=1", "unknown parameter beauty"),
        ("--size 7 --no-model", "--try"),
        ("--size 7 --try sharing=tree --judge /no/such/file", "/no/such/file"),
    ] {
        let output = folder.tune(options);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && errors.contains(message), "{options}: {errors}");
    }
}
