//! Cost of hostile input. An input that is eight times as large must take about eight times as long, not sixty-four
//! times, and input that is small on the disk must not need much memory.
//!
//! Times are processor times of this thread, the shortest of several. A reader with quadratic cost takes 64 times as
//! long. The limit is the geometric mean of 8 and 64. A ratio above the limit is measured again, because other programs
//! disturb caches. A quadratic cost stays above it.
//!
//! `cargo test --profile checked --test program input_cost:: -- --nocapture` prints the cost of a megabyte of each input.

#![cfg(unix)]

use flate2::{Compression, write::GzEncoder};
use kosumi_engine::{Engine, EngineSettings};
use kosumi_go::rules::Rules;
use kosumi_go::sgf::collection::{RECORD_LIMIT, Splitter};
use kosumi_go::sgf::{Record, Strictness, Tree};
use kosumi_gtp::{Command as GtpCommand, Failure, Handler, Response, Session, answer, serve};
use kosumi_net::Network;
use kosumi_tools::commands::Commands;
use kosumi_tools::regress::{Matching, Suite};
use rustix::time::{ClockId, clock_gettime};
use std::io::{Cursor, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// Returns the processor time of this thread, in seconds.
fn now() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

const SMALL: usize = 1 << 14;
const TIMES: usize = 8;

/// Returns the time of `work` with an input of about this number of bytes, in seconds.
fn price(work: &dyn Fn(&[u8]), input: &dyn Fn(usize) -> Vec<u8>, bytes: usize) -> f64 {
    let input = input(bytes);
    let once = || {
        let start = now();
        work(&input);
        now() - start
    };
    (0..3).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn is_linear(name: &str, input: &dyn Fn(usize) -> Vec<u8>, work: &dyn Fn(&[u8])) {
    // Times below two milliseconds are too inaccurate to compare, and are short enough.
    let limit = TIMES.pow(3) as f64;
    let is_cheap = |small: f64, large: f64| large < 0.002 || large / small < limit.sqrt();
    let (mut small, mut large) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..5 {
        small = small.min(price(work, input, SMALL));
        large = large.min(price(work, input, TIMES * SMALL));
        if is_cheap(small, large) {
            break;
        }
    }
    println!(
        "{name:<40} {:7.0} ms a MiB, {:5.1} times",
        large * 1000.0 * (1 << 20) as f64 / (TIMES * SMALL) as f64,
        large / small
    );
    assert!(is_cheap(small, large), "{name}: {small} s, and {large} s for {TIMES} times as much");
}

/// Returns `head`, followed by `piece` repeated, followed by `tail` repeated equally often, up to this number of bytes.
fn repeated(head: &str, piece: &str, tail: &str, bytes: usize) -> Vec<u8> {
    let times = bytes / (piece.len() + tail.len());
    [head, &piece.repeat(times), &tail.repeat(times), if head.is_empty() { "" } else { ")" }]
        .concat()
        .into_bytes()
}

#[test]
fn game_records() {
    let shapes = [
        ("nested as deep as it is long", "", "(;", ")"),
        ("variations side by side", "(;", "(;B[aa])", ""),
        ("a long line of moves", "(;SZ[19]", ";B[aa];W[bb];B[cc]", ""),
        ("values of one property", "(;AB", "[aa]", ""),
        ("different values of one property", "(;LB", "[aa:x]", ""),
        ("properties of one node", "(;", "XA[b]XB[c]", ""),
        ("setup again and again", "(;SZ[19]", ";AB[aa:ss]AE[aa:ss]", ""),
        ("backslashes", "(;C[", "\\\\", ""),
        ("brackets in a comment", "(;C[", "[(;", ""),
        ("openings that are none", "", "(", ""),
        ("ends of nothing", "", ")", ""),
        ("half a node", "", ";B", ""),
    ];
    for (name, head, piece, tail) in shapes {
        let input = |bytes: usize| repeated(head, piece, tail, bytes);
        is_linear(&format!("tree: {name}"), &input, &|bytes| {
            drop(Tree::parse(bytes).map(|tree| tree.to_string()))
        });
        is_linear(&format!("record: {name}"), &input, &|bytes| {
            let Ok(record) = Record::parse(bytes) else { return };
            let _ = record.replay(Rules::default(), 7.5, None, Strictness::Tolerant);
        });
        is_linear(&format!("collection: {name}"), &input, &|bytes| {
            let mut splitter = Splitter::new(RECORD_LIMIT);
            for piece in bytes.chunks(1000) {
                splitter.push(piece, &mut |_| {});
            }
            splitter.finish(&mut |_| {});
        });
    }
}

/// Handler that gives empty responses.
struct Silent;

impl Handler for Silent {
    fn handle(&mut self, _: &GtpCommand, _: &mut Session<'_>) -> Result<Response, Failure> {
        Ok(String::new().into())
    }
}

#[test]
fn lines_of_the_protocol() {
    for (name, piece) in [
        ("a line", "x"),
        ("empty lines", "\n"),
        ("comments", "#\n"),
        ("commands", "a\n"),
        ("words", "a "),
        ("control characters", "\u{1}"),
        ("what is no UTF-8", "\u{ff}\n"),
    ] {
        let input = |bytes: usize| repeated("", piece, "", bytes);
        is_linear(&format!("GTP: {name}"), &input, &|bytes| {
            serve(Cursor::new(bytes.to_vec()), &mut Vec::new(), &mut Silent).unwrap();
        });
    }
}

#[test]
fn sessions() {
    let sessions = [
        ("moves", "play b A1\nplay w A1\nplay b pass\nplay w B1\nclear_board\n"),
        ("moves of one game", "play b A1\nplay w B1\nplay b B2\nplay w A2\n"),
        ("passes", "play b pass\n"),
        ("moves and undo", "play b pass\nplay w pass\nundo\n"),
        ("komi", "komi 5\n"),
        ("unknown commands", "xyz\n"),
    ];
    for (name, piece) in sessions {
        let input = |bytes: usize| repeated("", piece, "", bytes / 8);
        is_linear(&format!("session: {name}"), &input, &|bytes| {
            let settings = EngineSettings { threads: 1, memory_mebibytes: 1, ..EngineSettings::default() };
            let mut commands = Commands::new(Engine::new(settings));
            let watch = Default::default();
            for line in String::from_utf8_lossy(bytes).lines() {
                let _ = answer(line, &mut commands, &watch);
            }
        });
    }
}

#[test]
fn suites_of_tests() {
    for (name, piece) in [
        ("tests", "name\n#? [a|b]\n"),
        ("comments", "# x\n"),
        ("a pattern", "name\n#? [((((a{9}){9}){9}){9})]\n"),
        ("classes", "name\n#? [[a-z]{900}]\n"),
    ] {
        let input = |bytes: usize| repeated("", piece, "", bytes / 16);
        is_linear(&format!("suite: {name}"), &input, &|bytes| {
            let text = String::from_utf8_lossy(bytes);
            let _ = Suite::parse(Path::new("x"), &text, Matching::Full);
        });
    }
    let long = |bytes: usize| format!("name\n#? [{}]", "(a|b)*".repeat(bytes / 6)).into_bytes();
    is_linear("suite: one long pattern", &long, &|bytes| {
        let _ = Suite::parse(Path::new("x"), &String::from_utf8_lossy(bytes), Matching::Full);
    });
}

#[test]
fn networks() {
    let gzip = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let digits = |bytes: usize| format!("name 8 {}", "1".repeat(bytes)).into_bytes();
    is_linear("network: a number of many digits", &digits, &|bytes| assert!(Network::read(bytes).is_err()));
    let zeros = |bytes: usize| gzip(&vec![b'0'; 100 * bytes]);
    is_linear("network: a bomb (unpacked, 100 times)", &zeros, &|bytes| {
        assert!(Network::read(bytes).is_err())
    });
    // The declared size of the network exceeds any memory.
    for size in ["99999999", "4294967295", "18446744073709551615"] {
        let text = format!(
            "x\n8\n22\n19\ntrunk\n2\n{size}\n{size}\n{size}\n{size}\n{size}\nconv1\n5\n5\n22\n{size}\n1\n1\n"
        );
        let start = now();
        assert!(Network::read(text.as_bytes()).is_err());
        assert!(now() - start < 0.5);
    }
}

/// Runs `kosumi` on this input, with limited memory and processor time. Returns the exit code, the standard output and
/// the standard error. The time limit is far above what a linear reader needs, and far below what a quadratic one
/// needs.
fn within(kibibytes: u32, arguments: &[&str], input: Vec<u8>) -> (Option<i32>, String, String) {
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "ulimit -t 40; ulimit -v \"$0\"; exec \"$@\"",
        &kibibytes.to_string(),
        env!("CARGO_BIN_EXE_kosumi"),
    ]);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut writer = child.stdin.take().unwrap();
    let output = thread::scope(|scope| {
        // The program may refuse to read its input.
        scope.spawn(move || writer.write_all(&input));
        child.wait_with_output().unwrap()
    });
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Checks lines of `kosumi analysis` whose cost would grow faster than their length: fields that the program does not
/// use, values that take a hundred times as much memory as their text, and lists that are compared with other lists.
#[test]
fn queries_take_bounded_memory_and_time() {
    let query = |id: usize, more: &str| {
        format!(r#"{{"id":"{id}","boardXSize":19,"boardYSize":19,"rules":"chinese",{more}}}"#)
    };
    let objects = "{\"\":0},".repeat(3_000_000);
    let fields: String = (0..16_000).map(|number| format!("\"{number}\":0,")).collect();
    let moves = "\"A1\",".repeat(100_000);
    let stones = "[\"B\",\"A1\"],".repeat(200_000);
    let turns: Vec<String> = (1..=80_000).map(|number| number.to_string()).collect();
    let mut lines = vec![
        format!(r#"{{"x":[{objects}0],"id":"unread"}}"#),
        format!(r#"{{"moves":[{objects}0],"id":"values"}}"#),
        format!(r#"{{{fields}"id":"{}"}}"#, "x".repeat(700_000)),
        query(1, &format!(r#""moves":[],"initialStones":[{stones}["B","B1"]]"#)),
        query(
            2,
            &format!(
                r#""moves":[],"maxVisits":50,"avoidMoves":[{{"player":"B","moves":[{moves}"B2"],"untilDepth":9}}]"#
            ),
        ),
    ];
    lines.extend((3..20_000).map(|id| query(id, r#""moves":[],"maxVisits":1000000,"priority":-1"#)));
    lines.push(format!(r#"{{"id":"end","action":"terminate_all","turnNumbers":[{}]}}"#, turns.join(",")));
    let arguments =
        ["analysis", "--network", "small", "--memory", "64", "--threads", "1", "--quit-without-waiting"];
    let (code, answers, errors) = within(1_500_000, &arguments, (lines.join("\n") + "\n").into_bytes());
    assert_eq!(code, Some(0), "{errors}");
    let is_reported = |text: &str| answers.lines().any(|line| line.contains(text));
    assert!(is_reported("\"field\":\"boardXSize\",\"id\":\"unread\""));
    assert!(is_reported("the values take more than"));
    assert!(is_reported("must have at most 16384 bytes"));
    assert!(is_reported("Illegal stone placements"));
    assert!(is_reported("terminate_all"));
}

/// Checks commands whose cost would grow with the square of the length of a line or of a session.
#[test]
fn sessions_take_bounded_time() {
    let moves = " A1".repeat(200_000);
    let listed = "a1:t19,".repeat(100_000);
    let mut lines = vec![
        format!("restricted_genmove b{moves}"),
        format!("lz-genmove_analyze b 100 avoid w {listed}a1 5"),
        format!("lz-genmove_analyze b 100{}", " avoid b c3 9".repeat(60_000)),
    ];
    lines.extend((0..16_000).map(|number| format!("play {} pass", ["b", "w"][number % 2])));
    lines.extend((0..16_000).map(|number| format!("komi {}", number % 100)));
    let arguments = ["gtp", "--no-model", "--threads", "1", "--memory", "1", "--playouts", "100"];
    let (code, answers, errors) = within(400_000, &arguments, (lines.join("\n") + "\n").into_bytes());
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(answers.lines().filter(|line| line.starts_with(['=', '?'])).count(), lines.len());
}

#[test]
fn small_files_take_bounded_memory() {
    let folder = tempfile::TempDir::new().unwrap();
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..256 {
        bomb.write_all(&vec![b';'; 1 << 20]).unwrap();
    }
    let bomb = bomb.finish().unwrap();
    assert!(bomb.len() < 1 << 20);
    let path = folder.path().join("bomb.sgf.gz");
    std::fs::write(&path, bomb).unwrap();
    let name = path.to_str().unwrap();
    for (arguments, word) in [
        (vec!["sgf", "stats", "--threads", "1", name], ""),
        (vec!["net", "info", name], "bomb.sgf.gz"),
        (vec!["gtp", "--memory", "8", "--resume", name], "bomb.sgf.gz"),
    ] {
        // The program, its threads and its tables need half of this memory, and the decompressed input is nearly as
        // large.
        let (code, _, errors) = within(300_000, &arguments, Vec::new());
        assert!(matches!(code, Some(0 | 1)), "{arguments:?}: {code:?}: {errors}");
        assert!(errors.contains(word) && !errors.contains("memory allocation"), "{arguments:?}: {errors}");
    }
}
