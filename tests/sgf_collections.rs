//! `kosumi sgf` as a process: the same games in every kind of file and on any number of threads, byte-for-byte
//! selections, and exit codes.

use flate2::write::{DeflateEncoder, GzEncoder};
use kosumi_go::board::{BoardSize, Move, Point};
use kosumi_go::game::Game;
use kosumi_go::rng::Rng;
use kosumi_go::rules::Rules;
use kosumi_go::sgf::{self, Meta};
use rawzip::{CompressionMethod, ZipArchiveWriter};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Returns a new folder for a test.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sgf-collections").join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn kosumi(arguments: &[&str], input: Option<&Path>) -> Output {
    let stdin = input.map_or_else(Stdio::null, |path| fs::File::open(path).unwrap().into());
    let program = env!("CARGO_BIN_EXE_kosumi");
    Command::new(program).arg("sgf").args(arguments).stdin(stdin).output().unwrap()
}

/// Returns the output of a command that succeeds.
fn text(arguments: &[&str]) -> String {
    let output = kosumi(arguments, None);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn name(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns 700 random games with repetitions on small boards, which make several batches.
fn games() -> Vec<String> {
    let mut rng = Rng::new(5);
    let sides = [2, 3, 5, 9];
    let mut game = |number: usize| {
        let size = BoardSize::square(sides[rng.below(4) as usize]).unwrap();
        let points: Vec<Point> = size.points().collect();
        let mut game = Game::new(size, Rules::default(), rng.below(4) as f32 + 0.5);
        for _ in 0..rng.below(50) {
            let point = points[rng.below(points.len() as u32) as usize];
            let mv = if rng.chance(50) { Move::Pass } else { Move::Play(point) };
            let _ = game.play_tolerant(game.to_move(), mv);
        }
        let meta = Meta {
            black: Some(format!("player {}", number % 7)),
            white: Some("\u{9ed2} [white]".into()),
            result: Some(["B+3.5", "W+R", "0", "Void"][number % 4].into()),
            date: Some(format!("20{:02}-05-0{}", number % 13, number % 9 + 1)),
            comment: Some("a ) (; ] \\".into()),
        };
        sgf::write(&game, &meta).trim_end().to_owned()
    };
    let mut games: Vec<String> = (0..690).map(&mut game).collect();
    games.extend_from_within(..10);
    games
}

/// Bad records, which are placed among good ones, each with the reason why it is invalid.
const BAD: [(&str, &str); 4] = [
    ("(;GM[1]SZ[99])", "a board of 99×99 is not supported"),
    ("(;GM[2];B[aa])", "not a game of Go"),
    ("(;SZ[x])", "the board size cannot be read"),
    ("(;CA[GBK]PB[\u{0081}\u{0081}]GM[2])", "not a game of Go"),
];

fn zip(entries: &[(String, &[u8])]) -> Vec<u8> {
    let mut archive = ZipArchiveWriter::new(Vec::new());
    for (name, bytes) in entries {
        let (mut entry, config) =
            archive.new_file(name.as_str()).compression_method(CompressionMethod::DEFLATE).start().unwrap();
        let mut writer = config.wrap(DeflateEncoder::new(&mut entry, flate2::Compression::default()));
        writer.write_all(bytes).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn stats(arguments: &[&str]) -> Value {
    let mut all = vec!["stats", "--json", "-", "--quiet", "--list", "0"];
    all.extend(arguments);
    serde_json::from_str(&text(&all)).unwrap()
}

/// Removes everything from statistics that depends on the location of the games in files.
fn without_places(mut stats: Value) -> Value {
    fn clean(value: &mut Value) {
        match value {
            Value::Object(map) => {
                for key in ["file", "first_file", "files", "game", "first_game", "byte", "bytes"] {
                    map.remove(key);
                }
                map.values_mut().for_each(clean);
            }
            Value::Array(list) => list.iter_mut().for_each(clean),
            _ => {}
        }
    }
    clean(&mut stats);
    stats
}

#[test]
fn character_sets_are_detected_and_errors_reported() {
    let folder = folder("sets");
    let file = folder.join("mixed.sgf");
    // Shift_JIS and GBK without a declaration, UTF-8 with a wrong declaration, and ASCII. In one character set, the
    // last byte of the first name is a backslash.
    let records: [&[u8]; 5] = [
        b"(;GM[1]SZ[9]EV[\x96{\x88\xf6\x96V\x90\xed\x81E\x83\x5c]PB[\x8f\xac\x97\xd1\x8c\xf5\x88\xea];B[ee];W[cc];B[gg])",
        b"(;GM[1]SZ[9]PB[\xd5\xc5\xc8\xfd]PW[\xc0\xee\xcb\xc4];B[ee];W[cc];B[gg])",
        "(;GM[1]CA[Shift_JIS]SZ[9]PB[\u{5f20}\u{4e09}\u{674e}];B[ee];W[cc];B[gg])".as_bytes(),
        b"(;GM[1]SZ[9]PB[Lee];B[ee];W[cc];B[gg])",
        b"(;GM[1]SZ[9]PB[Lee];B[ee];W[cc];B[gg]",
    ];
    fs::write(&file, records.join(&b"\n"[..])).unwrap();
    let found = stats(&[name(&file)]);
    assert_eq!(found["encodings"], serde_json::json!({ "ASCII": 2, "GBK": 1, "Shift_JIS": 1, "UTF-8": 1 }));
    assert_eq!(found["tally"]["moves"], 15);
    let replayed = kosumi(&["replay", "--quiet", name(&file)], None);
    let (out, log) = (String::from_utf8_lossy(&replayed.stdout), String::from_utf8_lossy(&replayed.stderr));
    assert_eq!(replayed.status.code(), Some(1), "{out}{log}");
    for note in [
        "game 1: the record names no character set: read as Shift_JIS",
        "game 2: the record names no character set: read as GBK",
        "game 3: the text is not in the character set that the record names, “Shift_JIS”: read as UTF-8",
    ] {
        assert!(log.contains(note), "{note} is missing:\n{log}");
    }
    assert!(out.contains("the record is truncated: its closing parenthesis is missing"), "{out}");
    let shown = text(&["replay", "--quiet", "--print", "1", name(&file)]);
    assert!(shown.contains("Event: \u{672c}\u{56e0}\u{574a}\u{6226}\u{30fb}\u{30bd}"), "{shown}");
    assert!(shown.contains("after move 3 of 3"), "{shown}");
}

#[test]
fn the_same_games_in_every_kind_of_file() {
    let folder = folder("kinds");
    let games = games();
    let collection = games.join("\n");
    let plain = folder.join("plain.sgf");
    fs::write(&plain, &collection).unwrap();
    let (half, rest) = collection.split_at(collection.len() / 2);
    fs::write(folder.join("packed.gz"), gzip(collection.as_bytes())).unwrap();
    let frames = [half, rest].map(|part| compress_to_vec(part.as_bytes(), CompressionLevel::Fastest));
    fs::write(folder.join("packed.sgf.zst"), frames.concat()).unwrap();
    let entries =
        games.iter().enumerate().map(|(number, game)| (format!("a/{number:04}.sgf"), game.as_bytes()));
    let mut entries: Vec<_> = entries.collect();
    entries.push(("a/readme.txt".into(), b"(;SZ[99])"));
    fs::write(folder.join("many.zip"), zip(&entries)).unwrap();
    let first = gzip(games[0].as_bytes());
    let later = games[1..].join("");
    let inner = [("1.sgf.gz".to_owned(), &first[..]), ("2.SGF".to_owned(), later.as_bytes())];
    fs::write(folder.join("few.zip"), zip(&inner)).unwrap();
    for (number, game) in games.iter().enumerate() {
        let inner = folder.join(format!("tree/{:02}", number / 100));
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join(format!("{number:04}.sgf")), game).unwrap();
    }
    fs::write(folder.join("tree/readme.txt"), "(;SZ[99])").unwrap();

    let expected = stats(&[name(&plain)]);
    assert_eq!(expected["games"], 700);
    assert_eq!(expected["duplicates"]["same"].as_u64().map(|same| same >= 10), Some(true));
    assert!(expected["repetitions"]["games"].as_u64() > Some(50), "{}", expected["repetitions"]);
    for threads in ["1", "2", "5"] {
        assert_eq!(stats(&[name(&plain), "--threads", threads]), expected, "{threads} threads");
    }
    let expected = without_places(expected);
    for file in ["packed.gz", "packed.sgf.zst", "many.zip", "few.zip", "tree"] {
        let found = stats(&[name(&folder.join(file))]);
        assert_eq!(without_places(found), expected, "{file}");
    }
    let piped = kosumi(&["stats", "-", "--json", "-", "--quiet"], Some(&folder.join("packed.gz")));
    assert_eq!(without_places(serde_json::from_slice(&piped.stdout).unwrap()), expected);
    // All files at once: each game occurs several times.
    let all = stats(&[name(&folder)]);
    assert_eq!(all["games"], 6 * 700);
    assert_eq!(all["records"], 6 * 700);
}

#[test]
fn bad_records_are_named_and_passed_over() {
    let folder = folder("bad");
    let games = games();
    let mut collection = String::from("a mail header (x)\n");
    let mut places = Vec::new();
    for (number, game) in games.iter().take(40).enumerate() {
        collection += game;
        collection += "\n)] and so on\n";
        if let Some((bad, reason)) = BAD.get(number / 10).filter(|_| number % 10 == 0) {
            // The position of the wrong value.
            let value = bad.find("2]").or(bad.rfind('[').map(|bracket| bracket + 1)).unwrap();
            places.push((number + 2 + number / 10, collection.len() + value, reason));
            collection += bad;
        }
    }
    let path = folder.join("games.sgf");
    fs::write(&path, &collection).unwrap();
    let stats = stats(&[name(&path)]);
    assert_eq!(
        (&stats["games"], &stats["records"], &stats["unreadable"]["total"]),
        (&40.into(), &44.into(), &4.into())
    );
    let listed: Vec<(u64, u64, &str)> = stats["lists"]["unreadable"]
        .as_array()
        .unwrap()
        .iter()
        .map(|bad| {
            (bad["game"].as_u64().unwrap(), bad["byte"].as_u64().unwrap(), bad["reason"].as_str().unwrap())
        })
        .collect();
    let expected: Vec<(u64, u64, &str)> =
        places.iter().map(|&(game, byte, reason)| (game as u64, byte as u64, *reason)).collect();
    assert_eq!(listed, expected);
    let replayed = kosumi(&["replay", name(&path), "--rules", "tromp-taylor", "--ko", "simple"], None);
    assert_eq!(replayed.status.code(), Some(1));
}

#[test]
fn selections_are_byte_for_byte_what_was_there() {
    let folder = folder("filter");
    let games = games();
    // The line break is part of the truncated comment.
    let cut_off = "(;GM[1]SZ[9]RE[B+R];B[aa](;W[bb];C[oh\n";
    // CRLF line breaks, blanks and unusual names in records are kept as well.
    let odd = "(;\r\nGaMe[1]SiZe[9]\t\r\nRE [W+R] C[caf\u{e9}];B[aa];W[bb] )";
    let source = folder.join("games.sgf");
    fs::write(
        &source,
        format!("junk\n{}\n{odd}\r\n{cut_off}{}", games[..300].join("\n\n"), games[300..].join("")),
    )
    .unwrap();
    let source = name(&source);
    let mut all: Vec<String> = games.clone();
    all.insert(300, odd.to_owned());
    all.insert(301, cut_off.to_owned());
    let closed = |game: &String| if game == cut_off { format!("{cut_off}]))") } else { game.clone() };
    let lines = |games: &[&String]| games.iter().map(|game| closed(game) + "\n").collect::<String>();
    let having = |part: &str| -> Vec<&String> { all.iter().filter(|game| game.contains(part)).collect() };

    let chosen = |conditions: &[&str]| text(&[&["filter", source, "--quiet"], conditions].concat());
    assert_eq!(chosen(&[]), lines(&all.iter().collect::<Vec<_>>()));
    assert_eq!(chosen(&["--size", "3"]), lines(&having("SZ[3]")));
    assert_eq!(
        chosen(&["--size", "3", "--invert", "--count"]),
        format!("{}\n", all.len() - having("SZ[3]").len())
    );
    assert_eq!(chosen(&["--komi", "2.5"]), lines(&having("KM[2.5]")));
    assert_eq!(chosen(&["--player", "PLAYER 3"]), lines(&having("PB[player 3]")));
    assert_eq!(chosen(&["--date", "2003..2003"]), lines(&having("DT[2003")));
    let resigned = all.iter().filter(|game| game.contains("RE[W+R]") || *game == odd).collect::<Vec<_>>();
    assert_eq!(chosen(&["--result", "white,resign"]), lines(&resigned));
    assert_eq!(chosen(&["--size", "2", "--limit", "5"]), lines(&having("SZ[2]")[..5]));

    // A sample is a subset of the games in their order, and is the same for the same seed.
    let sample = chosen(&["--sample", "50", "--seed", "3"]);
    assert_eq!(sample, chosen(&["--sample", "50", "--seed", "3", "--threads", "1"]));
    assert_ne!(sample, chosen(&["--sample", "50", "--seed", "4"]));
    let sample_file = folder.join("sample.sgf");
    fs::write(&sample_file, &sample).unwrap();
    assert_eq!(text(&["filter", name(&sample_file), "--count"]), "50\n");

    // For each kind of output, the written collection contains the same games when it is read again.
    for file in ["out.sgf", "out.sgf.gz", "out.zst"] {
        let path = folder.join(file);
        text(&["filter", source, "-o", name(&path)]);
        assert_eq!(text(&["filter", name(&path)]), chosen(&[]), "{file}");
        let again = kosumi(&["filter", source, "-o", name(&path)], None);
        assert_eq!(again.status.code(), Some(1), "{file} is there already");
        text(&["filter", source, "-o", name(&path), "--force"]);
    }
    // A file per game, byte for byte, truncated or not.
    let out = folder.join("out/");
    text(&["filter", source, "-o", &format!("{}/", name(&out))]);
    for (number, game) in all.iter().enumerate() {
        let written = fs::read_to_string(out.join(format!("{:07}.sgf", number + 1))).unwrap();
        assert_eq!(&written, game);
    }
    assert_eq!(kosumi(&["filter", source, "-o", name(&out)], None).status.code(), Some(1), "not empty");
    let archive = folder.join("out.zip");
    text(&["filter", source, "-o", name(&archive)]);
    assert_eq!(text(&["filter", name(&archive)]), chosen(&[]));
}

#[test]
fn conditions_on_the_replay() {
    let folder = folder("replay");
    let games = [
        "(;SZ[5];B[aa];W[bb])",
        "(;SZ[5];B[ea];W[db])",
        "(;SZ[5];B[aa];W[aa];B[bb])",
        "(;SZ[5]AB[ba][ab][bc]AW[ca][db][cc][bb];B[cb];W[bb])",
        "(;SZ[5]AB[ba][ab][bc]AW[ca][db][cc][bb];B[cb];W[];B[];W[bb])",
        "(;SZ[5];B[aa];W[bb];B[zz])",
    ];
    let path = folder.join("games.sgf");
    fs::write(&path, games.join("\n")).unwrap();
    let source = name(&path);
    let chosen = |conditions: &[&str]| -> Vec<usize> {
        let output = text(&[&["filter", source, "--quiet"], conditions].concat());
        output.lines().map(|line| games.iter().position(|game| *game == line).unwrap()).collect()
    };
    assert_eq!(chosen(&["--valid"]), [0, 1, 4]);
    // The last game is the same as the first one, as far as it can be played.
    assert_eq!(chosen(&["--unique"]), [0, 2, 3, 4]);
    assert_eq!(chosen(&["--unique", "--invert"]), [1, 5]);
    assert_eq!(chosen(&["--repetition", "any"]), [3, 4]);
    assert_eq!(chosen(&["--repetition", "simple-ko"]), [3]);
    assert_eq!(chosen(&["--repetition", "psk"]), [4]);
    assert_eq!(chosen(&["--repetition", "triple-ko,ko-after-passes"]), [4]);
    assert_eq!(chosen(&["--moves", "..2"]), [0, 1, 3]);
    let position = folder.join("position.sgf");
    fs::write(&position, "(;SZ[5]AB[ee]AW[dd])").unwrap();
    assert_eq!(chosen(&["--position", name(&position)]), [0, 1, 5]);

    // Exit codes and reported positions of `replay`.
    let one = |number: usize| {
        let path = folder.join(format!("{number}.sgf"));
        fs::write(&path, format!("x{}", games[number])).unwrap();
        path
    };
    for (number, rules, expected) in [
        (0, "chinese", None),
        (2, "chinese", Some("game 1, byte 17, move 2: White A5: occupied, the replay ends here")),
        (3, "chinese", Some("game 1, byte 49, move 2: White B4: ko")),
        (4, "chinese", None),
        (4, "cgos", Some("game 1, byte 57, move 4: White B4: superko")),
        (5, "chinese", Some("game 1, byte 23, move 3: Black \"zz\": not on the board, the replay ends here")),
    ] {
        let output = kosumi(&["replay", name(&one(number)), "--rules", rules], None);
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(i32::from(expected.is_some())), "{number} {rules}: {printed}");
        if let Some(expected) = expected {
            assert!(printed.contains(expected), "{number} {rules}: {printed}");
        }
    }
    let printed = text(&["replay", source, "--print", "2", "--move", "1"]);
    assert!(
        printed.contains("after move 1 of 2") && printed.contains("5 . . . . (X) 5")
            || printed.contains("5 . . . .(X)5"),
        "{printed}"
    );
    assert_eq!(kosumi(&["replay", source, "--print", "7"], None).status.code(), Some(1));
}

#[test]
fn unreadable_files_are_skipped_and_fail_at_the_end() {
    let folder = folder("unreadable");
    let good = folder.join("good.sgf");
    fs::write(&good, "(;SZ[5];B[aa])").unwrap();
    let broken = folder.join("broken.gz");
    fs::write(&broken, &gzip("(;SZ[5];B[aa])".repeat(9999).as_bytes())[..100]).unwrap();
    let output = kosumi(&["stats", name(&broken), "/no/such/file", name(&good), "--json", "-"], None);
    assert_eq!(output.status.code(), Some(1));
    let stats: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(stats["unreadable"]["total"], 2);
    assert!(stats["games"].as_u64() >= Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("broken.gz") && message.contains("/no/such/file"), "{message}");
    assert!(message.contains("2 files could not be read"), "{message}");
}

#[test]
fn only_the_error_is_printed_if_nothing_can_be_read() {
    let output = kosumi(&["stats", "/no/such/folder"], None);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(message.contains("/no/such/folder"), "{message}");
}

/// Checks that names of files and players, and the contents of records, cannot control a terminal.
#[test]
fn nothing_from_outside_controls_the_terminal() {
    let folder = folder("terminal");
    let hostile = "\u{1b}]2;x\u{7}\u{9b}2J\u{202e}";
    let record = format!("(;SZ[5]PB[b{hostile}]PW[w{hostile}]RE[{hostile}];B[cc];W[cc{hostile}])");
    let path = folder.join(format!("a{hostile}.sgf"));
    fs::write(&path, &record).unwrap();
    let missing = folder.join(format!("missing{hostile}"));
    let other = folder.join("b.sgf");
    fs::write(&other, "no game").unwrap();
    for arguments in [
        &["sgf", "stats", name(&path), name(&missing)][..],
        &["sgf", "stats", "--json", "-", name(&path)],
        &["sgf", "replay", name(&path), name(&missing)],
        &["sgf", "replay", "--print", "1", name(&path)],
        &["review", "--no-model", "--playouts", "2", name(&path)],
        &["net", "info", name(&missing)],
        &["play", name(&missing)],
    ] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_kosumi"));
        let output = program.args(arguments).current_dir(&folder).stdin(Stdio::null()).output().unwrap();
        for stream in [output.stdout, output.stderr] {
            let text = String::from_utf8(stream).unwrap();
            let is_harmful = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || c == '\u{202e}';
            assert!(!text.contains(is_harmful), "{arguments:?}: {text:?}");
        }
    }
}
