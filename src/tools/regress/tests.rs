//! Tests of whole runs, with engines of all known behaviours.

use super::*;
use crate::commands::Commands;
use crate::ranks::RankPart as Together;
use kosumi_engine::{Engine, EngineSettings};
use kosumi_go::board::Board;
use kosumi_gtp::{Command, Failure, Handler, Response, Session};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Timeout that is long enough for a busy machine. No test waits that long.
const PATIENCE: Duration = Duration::from_secs(60);
const OPTIONS: Options = Options { timeout: PATIENCE, jobs: 2, whole: false };

/// Engine whose responses contain its whole state. Its response to `reg_genmove` is that state, unless the argument
/// requests another behaviour.
#[derive(Debug)]
struct StateEchoEngine {
    size: u32,
    komi: f32,
    rules: String,
    position: Vec<String>,
    /// Number of crashes so far, shared by all engines of a run.
    crashes: Arc<AtomicUsize>,
}

impl StateEchoEngine {
    fn new(crashes: &Arc<AtomicUsize>) -> StateEchoEngine {
        let crashes = Arc::clone(crashes);
        StateEchoEngine { size: 19, komi: 6.5, rules: "any".into(), position: Vec::new(), crashes }
    }

    fn crash(&self) -> ! {
        self.crashes.fetch_add(1, Ordering::Relaxed);
        // Unlike a panic, this prints no message on the standard error.
        std::panic::resume_unwind(Box::new("requested crash"))
    }
}

impl Handler for StateEchoEngine {
    fn handle(&mut self, command: &Command, session: &mut Session<'_>) -> Result<Response, Failure> {
        let mut arguments = command.arguments();
        match command.name.as_str() {
            "boardsize" => {
                self.size = arguments.integer()?;
                self.position.clear();
            }
            "clear_board" => self.position.clear(),
            // As in many engines, a record sets komi and rules only if it names them.
            "loadsgf" => {
                let number = arguments.integer::<u32>()?;
                if number > 9 {
                    return Err(Failure::cannot_load_file());
                }
                self.size = 9 + number;
                if number.is_multiple_of(2) {
                    self.komi = 0.5 + number as f32;
                }
                if number.is_multiple_of(3) {
                    self.rules = format!("of {number}");
                }
                self.position = vec![format!("record {number}")];
            }
            "komi" => self.komi = arguments.float()? as f32,
            "kata-set-rules" => self.rules = arguments.word()?.to_owned(),
            "play" if arguments.clone().rest().contains("CRASH") => self.crash(),
            "play" => self.position.push(arguments.rest()),
            "undo" => drop(self.position.pop().ok_or_else(Failure::cannot_undo)?),
            "reg_genmove" => match arguments.rest().as_str() {
                "crash" => self.crash(),
                "hang" => {
                    while !session.interrupted() {
                        std::thread::yield_now();
                    }
                }
                "refuse" => return Err(Failure::new("not now")),
                "lines" => return Ok("A1\nB2".into()),
                "long" => return Ok(("é".repeat(20_000) + "end").into()),
                "move" => return Ok("B2".into()),
                _ => return Ok(format!("{self:?}").split(", crashes").next().unwrap_or_default().into()),
            },
            _ => return Err(Failure::unknown_command()),
        }
        Ok(Response::empty())
    }
}

fn suite(text: &str, matching: Matching) -> Suite {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sgf-tests/suites/basics/fake.tst");
    Suite::parse(&path, text, matching).unwrap()
}

fn fakes() -> (impl Engines, Arc<AtomicUsize>) {
    let crashes = Arc::new(AtomicUsize::new(0));
    let theirs = Arc::clone(&crashes);
    (InProcessEngines { make: move |_: &Path| StateEchoEngine::new(&theirs) }, crashes)
}

fn play_one(suite: &Suite, engines: &dyn Engines, options: Options) -> SuiteResult {
    let mut results =
        play(std::slice::from_ref(suite), engines, options, Together::Alone, &|_, _| {}).unwrap();
    results.pop().unwrap()
}

/// Returns the number and outcome of every test.
fn outcomes(result: &SuiteResult) -> String {
    let words = result.tests.iter().map(|test| format!("{} {}", test.name(), test.outcome.label()));
    words.collect::<Vec<_>>().join(", ")
}

#[test]
fn every_outcome() {
    let text = "boardsize 9\n1 reg_genmove move\n#? [B2]\n2 reg_genmove move\n#? [C3]\n3 reg_genmove move\n#? [C3]*\n\
         4 reg_genmove move\n#? [!C3]*\n5 reg_genmove move\n#? [C3]&\n6 owl_attack B2\n#? [1 B2]*\n\
         7 reg_genmove refuse\n#? [!B2]\n8 reg_genmove refuse\n9 reg_genmove move\n10 reg_genmove lines\n#? [A1.B2]\n\
         11 reg_genmove refuse\n#? [not now]\n12 foo\n#? [unknown command]\n13 foo\n#? [!x]\nlevel 5\nfoo\n";
    let (engines, _) = fakes();
    let full = play_one(&suite(text, Matching::Full), &engines, OPTIONS);
    assert_eq!(
        outcomes(&full),
        "1 pass, 2 FAIL, 3 fail, 4 PASS, 5 ignored, 6 unsupported, 7 FAIL, 8 FAIL, 9 pass, 10 pass, 11 FAIL, \
         12 unsupported, 13 unsupported"
    );
    let awk = play_one(&suite(text, Matching::Awk), &engines, OPTIONS);
    assert_eq!(
        outcomes(&awk),
        "1 pass, 2 FAIL, 3 fail, 4 PASS, 5 ignored, 6 unsupported, 7 pass, 8 FAIL, 9 pass, 10 FAIL, 11 pass, \
         12 pass, 13 unsupported"
    );
    let errors: Vec<_> = full.other_errors.iter().map(|error| (error.line, error.message.as_str())).collect();
    assert_eq!(errors, [(26, "unknown command"), (27, "unknown command")]);
    assert_eq!((full.tests[1].answer.as_str(), full.tests[1].expected.as_deref()), ("B2", Some("C3")));
    assert!(full.tests[1].position.is_some() && full.tests[0].position.is_none());
}

#[test]
fn long_answers_are_judged_whole_and_kept_in_part() {
    let (engines, _) = fakes();
    let result = play_one(&suite("1 reg_genmove long\n#? [é*end]\n", Matching::Full), &engines, OPTIONS);
    assert_eq!(outcomes(&result), "1 pass");
    let answer = &result.tests[0].answer;
    assert!(answer.len() < 17_000 && answer.ends_with("é\n[40003 bytes in all]"), "{}", answer.len());
}

#[test]
fn a_crash_costs_one_test() {
    let text = "komi 3\nloadsgf 4\nplay b A1\n1 reg_genmove b\n2 reg_genmove crash\n3 reg_genmove b\n\
         4 reg_genmove crash\n#? [x]*\n5 reg_genmove b\nplay w B2\n6 reg_genmove b\n";
    let (engines, crashes) = fakes();
    let result = play_one(&suite(text, Matching::Full), &engines, OPTIONS);
    assert_eq!(outcomes(&result), "1 pass, 2 crashed, 3 pass, 4 crashed, 5 pass, 6 pass");
    assert_eq!(crashes.load(Ordering::Relaxed), 2);
    assert!(result.tests[1].answer.contains("requested crash"), "{}", result.tests[1].answer);
    let state = &result.tests[0].answer;
    assert!(state.contains("record 4") && state.contains("b A1") && state.contains("komi: 4.5"), "{state}");
    assert_eq!((state, state), (&result.tests[2].answer, &result.tests[4].answer), "the state is as before");
    assert!(result.tests[5].answer.contains("w B2"));
}

#[test]
fn a_hang_costs_one_test() {
    let text = "boardsize 9\n1 reg_genmove hang\n2 reg_genmove move\n#? [B2]\n";
    let (engines, _) = fakes();
    let options = Options { timeout: Duration::from_millis(500), ..OPTIONS };
    let result = play_one(&suite(text, Matching::Full), &engines, options);
    assert_eq!(outcomes(&result), "1 timed out, 2 pass");
    assert!(result.tests[0].seconds >= 0.5);
}

#[test]
fn tests_behind_a_lost_position_are_not_asked() {
    let (engines, _) = fakes();
    let check = |text: &str, expected: &str, errors: usize| {
        let result = play_one(&suite(text, Matching::Full), &engines, OPTIONS);
        assert_eq!((outcomes(&result).as_str(), result.other_errors.len()), (expected, errors), "{text}");
    };
    check("loadsgf 99\n1 reg_genmove b\nloadsgf 1\n2 reg_genmove b\n", "1 set-up refused, 2 pass", 1);
    // An empty board has the right stones, but its size is not the record's.
    check("loadsgf 99\nclear_board\n1 reg_genmove b\n", "1 set-up refused", 1);
    check("loadsgf 99\nboardsize 5\n1 reg_genmove b\n", "1 pass", 1);
    check("undo\n1 reg_genmove b\nclear_board\n2 reg_genmove b\n", "1 set-up refused, 2 pass", 1);
    // Refused commands that do not move stones do no harm. A test itself may be refused.
    check("boardsize 5\nlevel 3\ndebug x\n1 undo\n2 reg_genmove b\n", "1 FAIL, 2 pass", 2);
    // A setup command that crashes the engine is reported once and not retried.
    let crash = "boardsize 5\nplay b CRASH\n1 reg_genmove b\n2 reg_genmove b\nboardsize 5\n3 reg_genmove b\n";
    check(crash, "1 set-up refused, 2 set-up refused, 3 pass", 1);
    check(
        "boardsize 5\n1 play b CRASH\n2 reg_genmove b\n3 clear_board\n",
        "1 crashed, 2 set-up refused, 3 pass",
        0,
    );
}

#[test]
fn an_engine_that_does_not_start_is_given_up() {
    struct NoEngines(AtomicUsize);
    impl Engines for NoEngines {
        fn start(&self, _: &Path) -> Result<Box<dyn GtpPlayer>, String> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Err("no such program".into())
        }
    }
    let engines = NoEngines(AtomicUsize::new(0));
    let result = play_one(&suite("komi 1\n1 name\n2 name\n", Matching::Full), &engines, OPTIONS);
    assert_eq!(outcomes(&result), "1 crashed, 2 crashed");
    assert!(result.tests[1].answer.contains("no such program"));
    assert_eq!(result.other_errors.len(), 1);
    assert_eq!(engines.0.load(Ordering::Relaxed), 3);
}

#[test]
fn results_come_in_the_order_of_the_suites() {
    let section = |from: u32| {
        let tests: String = (from..from + 10).map(|number| format!("{number} reg_genmove b\n")).collect();
        format!("loadsgf {}\n{tests}", from / 10)
    };
    let text: String = (0..9).map(|index| section(index * 10)).collect();
    let mut suites = vec![suite(&text, Matching::Full), suite("1 reg_genmove b\n", Matching::Full)];
    suites[1].path = suites[0].path.with_file_name("other.tst");
    suites.push(suite("", Matching::Full));
    suites[2].path = "else/other.tst".into();
    let (engines, _) = fakes();
    let report_count = AtomicUsize::new(0);
    let results = play(&suites, &engines, OPTIONS, Together::Alone, &|_, _| {
        report_count.fetch_add(1, Ordering::Relaxed);
    })
    .unwrap();
    let names: Vec<&str> = results.iter().map(|result| result.name.as_str()).collect();
    assert_eq!(names, ["fake", "basics/other", "else/other"]);
    assert_eq!(results.iter().map(|result| result.tests.len()).collect::<Vec<_>>(), [90, 1, 0]);
    let numbers: Vec<u32> = results[0].tests.iter().filter_map(|test| test.number).collect();
    assert_eq!(numbers, (0..90).collect::<Vec<_>>());
    assert_eq!(report_count.into_inner(), 91);
    // With the help of another rank, and with a third rank that is lost.
    let mut links = kosumi_cluster::thread_links(3);
    drop(links.pop());
    let (other, first) = (links.remove(1), links.remove(0));
    let report_count = AtomicUsize::new(0);
    let theirs = suites.clone();
    let serving = std::thread::spawn(move || {
        let (engines, _) = fakes();
        let nobody = |_: &Suite, _: &TestResult| panic!("rank 0 reports");
        play(&theirs, &engines, OPTIONS, Together::Other(Box::new(other)), &nobody)
    });
    let part = Together::First(Box::new(first), Box::new(|_, _| ()));
    let found = play(&suites, &engines, OPTIONS, part, &|_, _| {
        report_count.fetch_add(1, Ordering::Relaxed);
    });
    // The other rank may have sent a request after rank 0 ended.
    let _ = serving.join().unwrap();
    let timeless = |results: &[SuiteResult]| {
        let mut results = results.to_vec();
        for result in &mut results {
            result.seconds = 0.0;
            result.tests.iter_mut().for_each(|test| test.seconds = 0.0);
        }
        results
    };
    assert_eq!(timeless(&found.unwrap()), timeless(&results));
    assert_eq!(report_count.into_inner(), 91);
}

/// Generates lines of a suite with setup and tests. Several of the setup commands will be refused.
fn lines() -> impl Strategy<Value = Vec<String>> {
    let line = prop_oneof![
        2 => (0..11_u32).prop_map(|number| format!("loadsgf {number}")),
        1 => (2..9_u32).prop_map(|size| format!("boardsize {size}")),
        1 => Just("clear_board".to_owned()),
        2 => (0..9_u32).prop_map(|number| format!("play b A{number}")),
        2 => Just("undo".to_owned()),
        1 => (0..9_u32).prop_map(|komi| format!("komi {komi}")),
        1 => (0..9_u32).prop_map(|number| format!("kata-set-rules r{number}")),
        8 => Just("? reg_genmove b".to_owned()),
        1 => Just("? play w C1".to_owned()),
        1 => Just("? komi 9".to_owned()),
    ];
    prop::collection::vec(line, 0..150)
}

fn numbered(lines: &[String]) -> String {
    let lines = lines.iter().enumerate().map(|(index, line)| line.replace('?', &index.to_string()) + "\n");
    lines.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn splitting_changes_no_answer(lines in lines()) {
        let suite = suite(&numbered(&lines), Matching::Full);
        let (engines, _) = fakes();
        let mut results = [true, false].map(|whole| play_one(&suite, &engines, Options { whole, ..OPTIONS }));
        for result in &mut results {
            result.seconds = 0.0;
            result.tests.iter_mut().for_each(|test| test.seconds = 0.0);
        }
        let [whole, split] = results;
        prop_assert_eq!(whole, split);
    }
}

/// Returns engines of Kosumi that run in this process.
fn kosumi(playouts: u32) -> impl Engines {
    let make = move |folder: &Path| {
        let settings = EngineSettings {
            threads: 1,
            memory_mebibytes: 4,
            playouts: Some(playouts),
            ..EngineSettings::default()
        };
        Commands::new(Engine::new(settings)).in_folder(folder)
    };
    InProcessEngines { make }
}

#[test]
fn our_own_engine_repeats_itself_and_splits() {
    let section = |index: usize| {
        let files = ["sending-two", "suicide", "eternal-life", "triple-ko"];
        let (file, from) = (files[index % 4], index * 10);
        let test = |number| format!("{} reg_genmove {}\n", from + number, ["black", "white"][number % 2]);
        let tests: String = (0..3).map(test).collect();
        format!(
            "loadsgf sgf/{file}.sgf\n{tests}{} final_score\nplay b pass\n{} is_legal b A1\n",
            from + 3,
            from + 4
        )
    };
    let text: String = (0..6).map(section).collect();
    let suite = suite(&text, Matching::Full);
    assert!(super::parts::split(&suite.steps).len() > 2);
    let answers = |whole| {
        let result = play_one(&suite, &kosumi(60), Options { whole, ..OPTIONS });
        assert_eq!((result.tests.len(), result.other_errors.as_slice()), (30, &[][..]));
        result.tests.into_iter().map(|test| test.answer).collect::<Vec<_>>()
    };
    let whole = answers(true);
    assert_eq!(whole, answers(false));
    assert!(whole.iter().any(|answer| answer.len() == 2), "moves: {whole:?}");
}

#[test]
fn failures_remember_the_position() {
    let text =
        "boardsize 3\nclear_board\nplay b B2\n1 list_stones black\n#? [A1]\n2 rotate\n3 name\n#? [x]\n";
    let result = play_one(&suite(text, Matching::Full), &kosumi(1), OPTIONS);
    let position = result.tests[0].position.clone().unwrap();
    assert_eq!((position.board.join("/").as_str(), position.last.as_deref()), (".../.X./...", Some("B2")));
    assert_eq!(position.board().unwrap(), "...\n.X.\n...".parse::<Board>().unwrap());
    assert!(result.tests[2].position.is_some(), "a refused command has changed nothing");
}

#[cfg(unix)]
mod children {
    use super::*;

    /// Returns engines that are a short shell script, in which `$rest` contains the arguments of the command.
    fn shell(cases: &str) -> ChildEngines {
        let script = format!(
            "while read -r name rest; do case \"$name\" in {cases}\n\
             quit) printf '= \\n\\n'; exit 0;;\n\
             *) printf '? unknown command\\n\\n';; esac; done"
        );
        ChildEngines::new(&format!("sh -c '{}'", script.replace('\'', "'\"'\"'"))).unwrap()
    }

    #[test]
    fn a_child_that_crashes_hangs_and_talks_nonsense() {
        let engines = shell(
            "pwd) printf '= %s\\n\\n' \"$(pwd)\";;\n\
             play) played=\"$played $rest\"; printf '= \\n\\n';;\n\
             boardsize) played=; printf '= \\n\\n';;\n\
             reg_genmove) case \"$rest\" in\n\
             crash) echo 'last words' >&2; exit 3;;\n\
             hang) exec sleep 1000;;\n\
             nonsense) echo 'Hello';;\n\
             *) printf '= %s\\n\\n' \"$played\";; esac;;",
        );
        let text = "1 pwd\n#? [.*/sgf-tests/suites/basics]\nboardsize 5\nplay b A1\n2 reg_genmove crash\n\
             3 reg_genmove b\n#? [b A1]\n4 reg_genmove hang\n5 reg_genmove b\n#? [b A1]\n6 reg_genmove nonsense\n\
             7 reg_genmove b\n#? [b A1]\n8 dragon_status A1\n#? [alive]\n";
        let options = Options { timeout: Duration::from_secs(1), ..OPTIONS };
        let result = play_one(&suite(text, Matching::Full), &engines, options);
        assert_eq!(
            outcomes(&result),
            "1 pass, 2 crashed, 3 pass, 4 timed out, 5 pass, 6 crashed, 7 pass, 8 unsupported"
        );
        assert!(result.tests[1].answer.contains("last words"), "{}", result.tests[1].answer);
        assert!(result.tests[5].answer.contains("Hello"), "{}", result.tests[5].answer);
    }

    #[test]
    fn a_program_is_found_from_where_it_was_named() {
        assert!(ChildEngines::new("").is_err() && ChildEngines::new("'x").is_err());
        let missing = ChildEngines::new("./no/such/program").unwrap().start(Path::new("/"));
        let Err(error) = missing else { panic!("started") };
        let here = std::env::current_dir().unwrap();
        assert!(error.contains(&here.join("no/such/program").display().to_string()), "{error}");
    }
}
