//! Tests of the limits and failures of the input, and of the order of results.
//! files.

use super::criteria::{Criteria, ValueRange};
use super::filter::{Filter, Selection};
use super::legality::LegalityReport;
use super::output::Output;
use super::pipeline::{self, BatchResult, Workers};
use super::reading::{Batch, Limits};
use super::stats::{self, Collector};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use kosumi_go::rng::Rng;
use kosumi_go::rules::Rules;
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use tempfile::TempDir;

/// Temporary folder.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(TempDir::new().unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

/// Returns the number of games, and the reported problems without the folder's name.
fn read(paths: &[PathBuf], limits: Limits) -> (u64, Vec<String>) {
    let (mut games, mut problems) = (0, Vec::new());
    let mut collector = Collector::new(true);
    pipeline::run(
        paths,
        limits,
        None,
        Workers::threads(2),
        &AtomicU64::new(0),
        stats::work,
        |batch, work| {
            let all: Vec<_> = batch.problems.iter().chain(&work.problems).cloned().collect();
            collector.add(batch, work.result, &all);
            problems.extend(all.iter().map(|problem| {
                let text = problem.to_string();
                text.rsplit_once('/').map_or(text.clone(), |(_, name)| name.to_owned())
            }));
            games += batch.entries.len() as u64;
            Ok(ControlFlow::Continue(()))
        },
    )
    .unwrap();
    (games, problems)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const GAME: &str = "(;GM[1]SZ[9];B[aa];W[bb])\n";

#[test]
fn decompression_bombs_are_refused_and_the_rest_is_read() {
    let folder = Folder::new();
    let bomb = [GAME.as_bytes(), &vec![b' '; 4 << 20], GAME.as_bytes()].concat();
    let paths = [
        folder.file("a.sgf", GAME.as_bytes()),
        folder.file("b.gz", &gzip(&bomb)),
        folder.file("c.sgf", &bomb),
        folder.file("d.sgf", GAME.as_bytes()),
    ];
    let limits = Limits { unpacked: 1 << 20, expansion: 50, ..Limits::default() };
    let (games, problems) = read(&paths, limits);
    // The games are: the one before the blanks in the first bomb, both games of the plain file, and those of the other
    // two files.
    assert_eq!(games, 5);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].starts_with("b.gz: byte 1"), "{problems:?}");
    assert!(problems[0].contains("it decompresses to more than"), "{problems:?}");
    assert_eq!(read(&paths, Limits::default()), (6, vec![]));
}

#[test]
fn records_over_the_limit_are_passed_over() {
    let folder = Folder::new();
    let long = format!("(;C[{}];B[aa])", "x".repeat(5000));
    let path = folder.file("a.sgf", format!("{GAME}{long}{GAME}").as_bytes());
    let limits = Limits { record: 1000, ..Limits::default() };
    let (games, problems) = read(&[path], limits);
    let expected = format!("a.sgf: game 2, byte {}: the record is longer than 1000 bytes", GAME.len());
    assert_eq!((games, problems), (2, vec![expected]));
}

/// Returns a zip archive with one entry, which the archive's directory names `times` times.
fn zip(entry: &[u8], times: usize) -> Vec<u8> {
    let crc = {
        let mut crc = flate2::Crc::new();
        crc.update(entry);
        crc.sum().to_le_bytes()
    };
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    packed.write_all(entry).unwrap();
    let packed = packed.finish().unwrap();
    let four = |number: usize| u32::try_from(number).unwrap().to_le_bytes();
    let two = |number: usize| u16::try_from(number).unwrap().to_le_bytes();
    let name = b"a.sgf";
    // Version, flags, method, time, date, checksum, sizes, length of the name, length of the extra field.
    let common = [
        &two(20)[..],
        &two(0),
        &two(8),
        &four(0),
        &crc,
        &four(packed.len()),
        &four(entry.len()),
        &two(name.len()),
        &two(0),
    ]
    .concat();
    let mut archive = [&b"PK\x03\x04"[..], &common, name, &packed].concat();
    let start = archive.len();
    for _ in 0..times {
        archive.extend_from_slice(&[&b"PK\x01\x02"[..], &two(20), &common, &[0; 14], name].concat());
    }
    let length = archive.len() - start;
    let end = [&b"PK\x05\x06"[..], &four(0), &two(times), &two(times), &four(length), &four(start), &two(0)];
    archive.extend_from_slice(&end.concat());
    archive
}

/// Checks that everything that is read counts, even if it yields no text.
#[test]
fn archives_that_hide_their_cost_are_refused() {
    let folder = Folder::new();
    let limits = Limits { unpacked: 1 << 20, expansion: 50, ..Limits::default() };
    let game = folder.file("a.zip", &zip(GAME.as_bytes(), 1));
    assert_eq!(read(&[game], limits), (1, vec![]));
    // Skippable frames of Zstandard, and members of gzip without content.
    let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 0, 0, 1, 0][..], &vec![0; 1 << 16]].concat();
    let empty = gzip(b"");
    for (name, part, times) in [("b.zip", &skipped, 16), ("c.zip", &empty, 10_000)] {
        let path = folder.file(name, &zip(&part.repeat(times), 1));
        let (games, problems) = read(&[path], limits);
        assert!(games == 0 && problems.len() == 1, "{name}: {problems:?}");
        assert!(problems[0].contains("it decompresses to more than"), "{name}: {problems:?}");
    }
    // Text that hardly compresses, so that an entry is longer than its record in the directory.
    let mut rng = Rng::new(1);
    let text: String = (0..2000).map(|_| char::from(b'a' + rng.below(26) as u8)).collect();
    let record = format!("(;C[{text}])").into_bytes();
    let members = [empty.repeat(20), gzip(&record)].concat();
    for (name, entry) in [("d.zip", &skipped), ("e.zip", &members), ("f.zip", &record)] {
        let path = folder.file(name, &zip(entry, 1000));
        let (games, problems) = read(&[path], Limits::default());
        // The entries before the limit may be read.
        assert!(
            problems.last().unwrap().contains("the entries of the archive overlap"),
            "{name}: {problems:?}"
        );
        assert!(games < 1000 && problems.len() <= 1000, "{name}: {games}, {}", problems.len());
    }
}

#[test]
fn files_that_cannot_be_read_stop_nothing() {
    let folder = Folder::new();
    let many = GAME.repeat(20_000);
    let packed = gzip(many.as_bytes());
    let paths = [
        folder.0.path().join("missing.sgf"),
        folder.file("a.gz", &packed[..packed.len() / 2]),
        folder.file("b.zip", b"PK\x03\x04 and no more"),
        folder.file("c.sgf", b"no game (at all)"),
        folder.file("d.sgf", b""),
        folder.file("e.sgf", GAME.as_bytes()),
    ];
    let (games, problems) = read(&paths, Limits::default());
    assert!(games > 1 && games < 20_001, "{games}");
    assert_eq!(problems.len(), 5, "{problems:?}");
    for (problem, start) in
        problems.iter().zip(["missing.sgf: ", "a.gz: byte ", "b.zip: ", "c.sgf: no game", "d.sgf: no game"])
    {
        assert!(problem.starts_with(start), "{problem:?}");
    }
}

#[test]
fn text_in_utf_16_is_read() {
    let folder = Folder::new();
    let text = format!("\u{feff}{GAME}(;PB[\u{9ed2}];B[cc])");
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let paths = [folder.file("a.sgf", &big), folder.file("b.sgf", &little)];
    assert_eq!(read(&paths, Limits::default()), (4, vec![]));
}

#[test]
fn results_come_in_order_and_a_collector_may_leave() {
    let folder = Folder::new();
    let path = folder.file("a.sgf", GAME.repeat(30_000).as_bytes());
    for workers in [1, 3] {
        let mut seen = Vec::new();
        let work = |batch: &Batch| BatchResult { result: batch.entries[0].number, problems: vec![] };
        let paths = [path.clone()];
        pipeline::run(
            &paths,
            Limits::default(),
            None,
            Workers::threads(workers),
            &AtomicU64::new(0),
            work,
            |batch, work| {
                assert_eq!(work.result, batch.entries[0].number);
                seen.push(work.result);
                Ok(if seen.len() < 50 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            },
        )
        .unwrap();
        assert_eq!(seen, (0..50).map(|batch| 256 * batch + 1).collect::<Vec<u64>>());
    }
}

#[test]
fn the_output_file_is_not_read() {
    let folder = Folder::new();
    folder.file("a.sgf", GAME.as_bytes());
    let out = folder.file("b.sgf", GAME.as_bytes());
    let mut games = 0;
    let except = fs::canonicalize(out).unwrap();
    let work = |_: &Batch| BatchResult { result: (), problems: vec![] };
    let paths = [folder.0.path().to_owned()];
    pipeline::run(
        &paths,
        Limits::default(),
        Some(except),
        Workers::threads(1),
        &AtomicU64::new(0),
        work,
        |batch, _| {
            games += batch.entries.len();
            Ok(ControlFlow::Continue(()))
        },
    )
    .unwrap();
    assert_eq!(games, 1);
}

/// Returns the output of a filter, the number of games that pass it, and the number of games written.
fn filtered(
    paths: &[PathBuf],
    folder: &Folder,
    filter: &Filter,
    sample: Option<(u32, u64)>,
) -> (String, (u64, u64)) {
    let out = folder.0.path().join("out.sgf");
    let output = Output::create(&out, true).unwrap();
    let mut selection = Selection::new(filter.clone(), output, sample);
    let consumed = AtomicU64::new(0);
    let judge = |batch: &Batch| filter.judge(batch);
    pipeline::run(paths, Limits::default(), None, Workers::threads(2), &consumed, judge, |batch, work| {
        Ok(selection.add(batch, work.result)?)
    })
    .unwrap();
    let numbers = selection.finish().unwrap();
    (fs::read_to_string(out).unwrap(), numbers)
}

#[test]
fn games_are_selected_as_a_library() {
    let folder = Folder::new();
    let (short, long) = ("(;SZ[9];B[aa])\n", "(;SZ[9];B[aa];W[bb];B[cc])\n");
    let paths = [folder.file("a.sgf", [short, long, short].concat().as_bytes())];
    let criteria = Criteria { moves: Some(ValueRange::parse("2..").unwrap()), ..Criteria::default() };
    let take = |invert, limit| Filter::new(criteria.clone(), invert, limit).unwrap();
    assert_eq!(filtered(&paths, &folder, &take(false, None), None), (long.to_owned(), (1, 1)));
    assert_eq!(filtered(&paths, &folder, &take(true, None), None), (short.repeat(2), (2, 2)));
    assert_eq!(filtered(&paths, &folder, &take(true, Some(1)), None), (short.to_owned(), (1, 1)));
    assert_eq!(filtered(&paths, &folder, &take(true, None), Some((1, 7))), (short.to_owned(), (2, 1)));
    let unique = Criteria { unique: true, ..Criteria::default() };
    let unique = Filter::new(unique, false, None).unwrap();
    assert_eq!(filtered(&paths, &folder, &unique, None), ([short, long].concat(), (2, 2)));
}

#[test]
fn violations_are_counted_as_a_library() {
    let folder = Folder::new();
    let games = "(;SZ[3];B[aa];W[ab];B[bb];W[ba])(;SZ[3];B[aa];W[aa])(;SZ[3];B[cc])";
    let path = folder.file("a.sgf", games.as_bytes());
    let rules = Rules::preset("cgos").unwrap().rules;
    let mut total = LegalityReport::default();
    let replay = |batch: &Batch| LegalityReport::of(batch, |_| rules, 10);
    let mut lines = Vec::new();
    pipeline::run(
        &[path],
        Limits::default(),
        None,
        Workers::threads(1),
        &AtomicU64::new(0),
        replay,
        |_, work| {
            total.merge(&work.result);
            lines.extend(work.result.lines);
            Ok(ControlFlow::Continue(()))
        },
    )
    .unwrap();
    assert_eq!((total.games, total.bad_games, total.violations, total.wrong_keys), (3, 1, 1, 0));
    assert!(lines[0].contains("game 2, byte") && lines[0].contains("move 2"), "{lines:?}");
}
