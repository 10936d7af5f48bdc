//! `kosumi regress` as a process: files and exit codes.

use kosumi_tools::regress::{Outcome, RunResult};
use std::fs;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Temporary folder.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(TempDir::new().unwrap())
    }

    fn write(&self, name: &str, text: &str) -> &Folder {
        fs::write(self.0.path().join(name), text).unwrap();
        self
    }

    /// Runs `kosumi regress` in the folder.
    fn regress(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kosumi"));
        command.arg("regress").args(arguments).current_dir(self.0.path()).output().unwrap()
    }

    /// Returns the exit code, the standard output and the standard error.
    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let output = self.regress(arguments);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    }

    fn results(&self, name: &str) -> RunResult {
        RunResult::from_json(&fs::read_to_string(self.0.path().join(name)).unwrap()).unwrap()
    }
}

/// Returns a suite with 12 tests for each of several positions, which come from a record and from moves.
fn long_suite() -> String {
    let mut text = String::from("komi 3.5\n");
    for section in 0..6 {
        match section % 2 {
            0 => text += "loadsgf game.sgf 4\n",
            _ => text += "boardsize 5\nclear_board\nplay b C3\n",
        }
        for index in 0..3 {
            let from = 100 * section + 10 * index;
            let color = ["black", "white"][index % 2];
            text += &format!("{} reg_genmove {color}\n{} get_komi\n", from + 1, from + 2);
            text += &format!("{} list_stones {color}\n{} is_legal {color} C3\n#? [0]\n", from + 3, from + 4);
        }
    }
    text
}

const GAME: &str = "(;SZ[5]KM[2.5];B[cc];W[bb];B[dd];W[cb])";

/// Returns the suite, number, outcome and answer of every test.
fn answers(run: &RunResult) -> Vec<(String, Option<u32>, Outcome, String)> {
    let tests = run.suites.iter().flat_map(|suite| suite.tests.iter().map(move |test| (suite, test)));
    let about =
        tests.map(|(suite, test)| (suite.name.clone(), test.number, test.outcome, test.answer.clone()));
    about.collect()
}

#[test]
fn answers_do_not_depend_on_splitting_or_the_engine_process() {
    let folder = Folder::new();
    folder.write("long.tst", &long_suite()).write("game.sgf", GAME).write("all", "# all\nlong.tst\n");
    let child =
        format!("'{}' gtp --no-model --threads 1 --playouts 50 --memory 4", env!("CARGO_BIN_EXE_kosumi"));
    let (code, out, err) =
        folder.run(&["@all", "--no-model", "--playouts", "50", "--memory", "4", "--json", "a.json"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    folder.run(&["long.tst", "--no-model", "--playouts", "50", "--whole", "--jobs", "1", "--json", "b.json"]);
    let (code, out, _) = folder.run(&["long.tst", "--engine", &child, "--json", "c.json"]);
    assert_eq!(code, 0, "{out}");
    let [a, b, c] = ["a.json", "b.json", "c.json"].map(|name| folder.results(name));
    assert_eq!(answers(&a).len(), 72);
    assert_eq!(answers(&a), answers(&b), "split or whole");
    assert_eq!(answers(&a), answers(&c), "in this process or in another");
    assert_eq!((a.engine.name.as_str(), c.engine.command.as_str()), ("Kosumi", child.as_str()));
    assert!(a.engine.command.contains("50 playouts, 1 thread"), "{}", a.engine.command);
    // The komi of a record outlives the record: section 1 has 2.5, from the record in section 0.
    let komi = |number| answers(&a).into_iter().find(|answer| answer.1 == Some(number)).unwrap().3;
    assert_eq!((komi(2), komi(102), komi(502)), ("2.5".into(), "2.5".into(), "2.5".into()));
}

#[test]
fn exit_codes_say_how_it_went() {
    let folder = Folder::new();
    folder
        .write("good.tst", "boardsize 5\n1 name\n#? [Kosumi]\n2 name\n#? [GNU Go]*\n")
        .write("bad.tst", "1 name\n#? [GNU Go]\n")
        .write("star.tst", "1 name\n#? [Kosumi]*\n")
        .write("unknown.tst", "1 no_such_command A1\n#? [1]\n")
        .write("setup.tst", "loadsgf no-such.sgf\n1 name\n")
        .write("broken.tst", "1 name\n\n#? (\n2\n")
        .write("loop", "@loop\n");
    for (arguments, code) in [
        (&["good.tst"][..], 0),
        (&["good.tst", "bad.tst"], 1),
        (&["star.tst"], 0),
        (&["star.tst", "--fail-on-pass"], 1),
        (&["bad.tst", "unknown.tst"], 2),
        (&["bad.tst", "unknown.tst", "--ignore-unsupported"], 1),
        (&["setup.tst"], 2),
        (&["broken.tst"], 2),
        (&["none.tst"], 2),
        (&["@loop"], 2),
        (&[], 2),
        (&["good.tst", "--engine", "/no/such/engine"], 2),
        (&["good.tst", "--engine", "false"], 2),
        (&["good.tst", "--engine", "x", "--playouts", "5"], 2),
        (&["good.tst", "--json", "no/such/folder/a.json"], 2),
        (&["good.tst", "--compare", "none.json"], 2),
    ] {
        let (found, out, err) = folder.run(arguments);
        assert_eq!(found, code, "{arguments:?}: {out}{err}");
        assert_eq!(
            err.is_empty(),
            !(out.is_empty()),
            "either results or a complaint: {arguments:?}: {out}{err}"
        );
    }
    let (_, _, err) = folder.run(&["good.tst", "broken.tst"]);
    assert!(err.contains("broken.tst:3: an expected answer must be in brackets: ("), "{err}");
    let (_, out, _) = folder.run(&["good.tst", "bad.tst", "unknown.tst", "--verbose"]);
    for line in [
        "good.tst:2: pass: 1 name: Kosumi",
        "good.tst:4: fail: 2 name: expected GNU Go, got Kosumi",
        "bad.tst:1: FAIL: 1 name: expected GNU Go, got Kosumi",
        "unknown.tst:1: unsupported: 1 no_such_command A1",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
}

#[test]
fn finished_runs_are_compared_and_shown_again() {
    let folder = Folder::new();
    let suite = |expected: &str| -> String {
        let test = |number: u32| format!("{number} name\n#? [{expected}]\n");
        (0..8).map(test).collect()
    };
    folder.write("s.tst", &suite("Kosumi"));
    let (code, _, _) = folder.run(&["s.tst", "--json", "new.json", "--match", "awk"]);
    assert_eq!(code, 0);
    // The results of the same run, but with six wrong answers.
    let mut old = folder.results("new.json");
    for test in &mut old.suites[0].tests[2..] {
        (test.outcome, test.answer) = (Outcome::Fail, "Kosmui".into());
    }
    folder.write("old.json", &old.to_json().unwrap());
    let verdict = "6 better, 0 worse: significantly better (p = 0.031";
    for run in ["new.json", "s.tst"] {
        let (code, out, err) = folder.run(&[run, "--compare", "old.json"]);
        assert_eq!(code, 0, "{err}");
        assert!(out.contains("newly passing: s 7 name: Kosmui (FAIL) -> Kosumi (pass)"), "{out}");
        assert!(out.contains(verdict), "{out}");
    }
    let (code, out, _) =
        folder.run(&["old.json", "--compare", "new.json", "--html", "page.html", "--junit", "x.xml"]);
    assert_eq!(code, 1, "the code is that of the run, not of the comparison");
    assert!(out.contains("0 better, 6 worse: significantly worse"), "{out}");
    let read = |name: &str| fs::read_to_string(folder.0.path().join(name)).unwrap();
    assert!(read("page.html").contains("6 worse") && read("x.xml").contains("failures=\"6\""));
    let (code, _, err) = folder.run(&["old.json", "s.tst"]);
    assert!(code == 2 && err.contains("cannot be mixed"), "{err}");
    folder.write("other.json", "{\"format\": 9}");
    let (code, _, err) = folder.run(&["other.json"]);
    assert!(code == 2 && err.contains("other.json: results in format 9"), "{err}");
}

/// Checks that all lines of GNU Go's 13 suites are parsed, if the suites are available.
#[test]
fn gnu_gos_suites_are_read() {
    let Some(suites) = kosumi_test_support::shared("gnugo-suites") else { return };
    let entries = suites.read_dir().unwrap();
    use kosumi_tools::regress::{Matching, Suite};
    let (mut tests, mut warnings) = (0, 0);
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.extension().is_some_and(|end| end == "tst") {
            let suite = Suite::read(&path, Matching::Awk).unwrap();
            assert!(suite.steps.iter().filter(|step| step.is_test).all(|step| step.expectation.is_some()));
            tests += suite.test_count();
            warnings += suite.warnings.len();
        }
    }
    // As counted by `grep -c '^[0-9]'`. Nine patterns lack their closing bracket.
    assert_eq!((tests, warnings), (1512, 9));
}
