//! GTP sessions as text files: commands and expected responses.
//!
//! ```text
//! # comment
//! options: strict
//! > 1 boardsize 9        command; \r and \t are escapes
//! =1                     expected response, up to the next command
//! > showboard
//! =
//! ...                    any number of lines
//!  5 ...to move          any text
//! ```
//!
//! All commands of a session are sent at once, as controllers may do. Empty lines and blanks at the ends of lines are
//! not compared, because the crate of the protocol tests the framing of responses. A command without an expected
//! response must get none.

use kosumi_engine::{Engine, EngineSettings};
use kosumi_eval::PlayoutSettings;
use kosumi_tools::commands::Commands;
use std::fs;
use std::path::Path;

/// Command with the lines of its expected response.
#[derive(Debug)]
struct ScriptLine {
    sent: String,
    expected: Vec<String>,
}

#[derive(Debug)]
struct Script {
    settings: EngineSettings,
    steps: Vec<ScriptLine>,
}

fn parse(text: &str) -> Script {
    let mut settings =
        EngineSettings { threads: 1, memory_mebibytes: 1, playouts: Some(40), ..EngineSettings::default() };
    let mut steps: Vec<ScriptLine> = Vec::new();
    for line in text.lines() {
        if let Some(sent) = line.strip_prefix("> ") {
            let sent = sent.replace("\\r", "\r").replace("\\t", "\t");
            steps.push(ScriptLine { sent, expected: Vec::new() });
        } else if let Some(options) = line.strip_prefix("options:") {
            for option in options.split_whitespace() {
                match option {
                    "strict" => settings.strict = true,
                    "never-resign" => settings.resign = None,
                    other => panic!("unknown option {other}"),
                }
            }
        } else if !line.starts_with('#') && !line.trim().is_empty() {
            let step = steps.last_mut().unwrap_or_else(|| panic!("an answer to nothing: {line}"));
            step.expected.push(line.trim_end().to_owned());
        }
    }
    Script { settings, steps }
}

fn answers(script: &Script) -> Vec<Vec<String>> {
    let input: String = script.steps.iter().map(|step| step.sent.clone() + "\n").collect();
    let mut output = Vec::new();
    let mut commands = Commands::new(Engine::new(script.settings));
    kosumi_gtp::serve(std::io::Cursor::new(input.into_bytes()), &mut output, &mut commands).unwrap();
    let output = String::from_utf8(output).unwrap();
    let blocks = output.split_terminator("\n\n");
    blocks.map(|block| block.lines().map(|line| line.trim_end().to_owned()).collect()).collect()
}

/// Returns whether the lines match. `...` stands for any lines.
fn lines_match(expected: &[String], found: &[String]) -> bool {
    match expected.split_first() {
        None => found.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=found.len()).any(|skipped| lines_match(rest, &found[skipped..]))
        }
        Some((first, rest)) => found
            .split_first()
            .is_some_and(|(line, others)| text_matches(first, line) && lines_match(rest, others)),
    }
}

/// Returns whether the line matches. `...` stands for any text.
fn text_matches(expected: &str, found: &str) -> bool {
    match expected.split_once("...") {
        None => expected == found,
        Some((start, rest)) => found.strip_prefix(start).is_some_and(|found| {
            let ends = found.char_indices().map(|(index, _)| index).chain([found.len()]);
            ends.into_iter().any(|index| text_matches(rest, &found[index..]))
        }),
    }
}

fn check(path: &Path) {
    let script = parse(&fs::read_to_string(path).unwrap());
    let mut answers = answers(&script).into_iter();
    for (number, ScriptLine { sent, expected }) in script.steps.iter().enumerate() {
        if expected.is_empty() {
            continue;
        }
        let found = answers.next().unwrap_or_default();
        assert!(
            lines_match(expected, &found),
            "{}, line {} sent: {sent}\nexpected:\n{}\nfound:\n{}",
            path.display(),
            number + 1,
            expected.join("\n"),
            found.join("\n"),
        );
    }
    assert_eq!(answers.next(), None, "{}: more answers than expected", path.display());
}

#[test]
fn sessions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gtp_sessions");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths.iter().filter(|path| path.extension().is_some_and(|end| end == "txt")).for_each(|path| check(path));
}

thread_local! {
    /// Notes that the engine gave in this test.
    static NOTES: std::cell::RefCell<Vec<String>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Returns the responses to commands that use files in a folder. Records get a date.
fn answers_in(folder: &Path, input: &str) -> Vec<String> {
    let settings =
        EngineSettings { threads: 1, memory_mebibytes: 1, playouts: Some(2), ..EngineSettings::default() };
    let mut commands = Commands::new(Engine::new(settings))
        .in_folder(folder)
        .with_date(|| Some("2026-01-31".to_owned()))
        .with_notes(|note| NOTES.with_borrow_mut(|notes| notes.push(note.to_owned())));
    let mut output = Vec::new();
    kosumi_gtp::serve(std::io::Cursor::new(input.to_owned()), &mut output, &mut commands).unwrap();
    let output = String::from_utf8(output).unwrap();
    output.split_terminator("\n\n").map(|answer| answer.trim().to_owned()).collect()
}

#[test]
fn records_are_saved_under_names_with_blanks_and_read_back() {
    let scratch = tempfile::TempDir::new().unwrap();
    fs::create_dir(scratch.path().join("two  blanks")).unwrap();
    for (save, load, file) in [
        ("savesgf two  blanks/out.sgf", "loadsgf two  blanks/out.sgf", "two  blanks/out.sgf"),
        ("savesgf two  blanks/b.sgf none", "loadsgf \"two  blanks/b.sgf\" 1", "two  blanks/b.sgf"),
        ("printsgf \"a \\\"c\\\".sgf\" variation", "loadsgf a \"c\".sgf 1", "a \"c\".sgf"),
    ] {
        let input = format!("boardsize 5\ngenmove b\n{save}\nboardsize 9\n{load}\nshowboard\n");
        let answers = answers_in(scratch.path(), &input);
        assert_eq!((answers[2].as_str(), &answers[4][..1]), ("=", "="), "{save}: {answers:?}");
        assert!(answers[5].contains("5 ") && !answers[5].contains("6 "), "{answers:?}");
        let text = fs::read_to_string(scratch.path().join(file)).unwrap();
        assert!(text.contains("DT[2026-01-31]") && text.contains("PB[Kosumi "), "{text}");
    }
}

#[test]
fn what_is_assumed_of_a_record_is_noted() {
    let scratch = tempfile::TempDir::new().unwrap();
    let rows: [(&str, &[u8], &str, &[&str]); 5] = [
        ("plain.sgf", b"(;SZ[9]KM[6.5]RU[Japanese];B[ee])", "", &[]),
        (
            "unknown.sgf",
            b"(;SZ[9]KM[much]RU[mahjong];B[ee])",
            "",
            &[
                "unknown rules “mahjong”: chinese-kgs rules are assumed",
                "the komi “much” cannot be read: 7.5 is assumed",
            ],
        ),
        (
            "gbk.sgf",
            b"(;SZ[9]KM[6\xc4\xbf\xb0\xeb]PB[\xd5\xc5\xc8\xfd]PW[\xc0\xee\xcb\xc4];B[ee])",
            "",
            &["the record names no character set: read as GBK"],
        ),
        (
            "broken.sgf",
            b"(;SZ[9];B[ee];W[ee];B[aa])",
            " --partial",
            &["loaded up to move 1 only", "move 2, White E5: occupied (at byte 16)"],
        ),
        ("broken.sgf", b"(;SZ[9];B[ee];W[ee];B[aa])", " 2", &[]),
    ];
    for (name, bytes, more, expected) in rows {
        let path = scratch.path().join(name);
        fs::write(&path, bytes).unwrap();
        let answers = answers_in(scratch.path(), &format!("loadsgf {name}{more}\nget_komi\n"));
        assert!(answers[0].starts_with('='), "{answers:?}");
        let notes = NOTES.take();
        let expected: Vec<String> =
            expected.iter().map(|note| format!("{}: {note}", path.display())).collect();
        assert_eq!(notes, expected, "{name}");
        if name == "gbk.sgf" {
            assert_eq!(answers[1], "= 6.5");
        }
    }
}

#[test]
fn wildcards() {
    let lines = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
    assert!(lines_match(&lines("=/..."), &lines("=/a/b")));
    assert!(lines_match(&lines("=/.../b"), &lines("=/a/b")));
    assert!(!lines_match(&lines("=/.../c"), &lines("=/a/b")));
    assert!(text_matches("a...c...", "abcd") && !text_matches("a...c", "abcd"));
}

/// Checks all commands with arbitrary words, in particular with unexpected arguments. There must be no panic, and
/// exactly one response per line.
#[test]
fn every_command_survives_strange_arguments() {
    // Excludes the command that ends the session, and the one that would write files with these names.
    let strange = [
        "",
        "x",
        "b",
        "w x",
        "b z25",
        "b pass",
        "-1",
        "0",
        "1",
        "1 1",
        "2 3",
        "25",
        "26 26",
        "99999999999999999999",
        "1e309",
        "nan",
        "a1 a1",
        "a1 pass",
        "a1 b2",
        "{",
        "{}",
        "{\"ko\":[]}",
        "ko",
        "ko x",
        "é ü",
        "dead dead",
    ];
    let mut input = String::new();
    let mut lines = 0;
    for row in kosumi_tools::commands::TABLE
        .iter()
        .filter(|row| !["quit", "printsgf", "savesgf"].contains(&row.name))
    {
        for arguments in strange {
            input.push_str(&format!("{} {arguments}\n", row.name));
            lines += 1;
        }
    }
    let settings = EngineSettings {
        threads: 1,
        memory_mebibytes: 1,
        playouts: Some(2),
        playout: PlayoutSettings { ownership_playouts: 8, ..PlayoutSettings::default() },
        ..EngineSettings::default()
    };
    let mut engine = Engine::new(settings);
    engine.set_size(kosumi_go::board::BoardSize::square(5).unwrap());
    let mut output = Vec::new();
    kosumi_gtp::serve(std::io::Cursor::new(input.into_bytes()), &mut output, &mut Commands::new(engine))
        .unwrap();
    assert_eq!(String::from_utf8(output).unwrap().matches("\n\n").count(), lines);
}
