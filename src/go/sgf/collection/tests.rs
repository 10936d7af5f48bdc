//! Tests that compare the splitter with a slow and simple one that has access to the whole stream.

use super::*;
use crate::sgf::Record;
use crate::sgf::lexer::opens_game;
use proptest::prelude::*;

/// A piece that owns its bytes. A record that is too long has none.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Owned {
    offset: usize,
    bytes: Option<Vec<u8>>,
    missing: MissingSyntax,
}

fn owned(piece: CollectionPiece<'_>) -> Owned {
    match piece {
        CollectionPiece::Record(RawRecord { offset, bytes, missing }) => {
            Owned { offset: offset as usize, bytes: Some(bytes.to_vec()), missing }
        }
        CollectionPiece::TooLong { offset } => {
            Owned { offset: offset as usize, bytes: None, missing: MissingSyntax::default() }
        }
    }
}

/// Splits the stream in pushes of the given lengths, which are repeated.
fn split(stream: &[u8], limit: usize, lengths: &[usize]) -> Vec<Owned> {
    let mut splitter = Splitter::new(limit);
    let mut pieces = Vec::new();
    let mut rest = stream;
    for &length in lengths.iter().cycle() {
        let (now, later) = rest.split_at(length.min(rest.len()));
        splitter.push(now, &mut |piece| pieces.push(owned(piece)));
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
    splitter.finish(&mut |piece| pieces.push(owned(piece)));
    assert_eq!(splitter.offset(), stream.len() as u64);
    pieces
}

/// Returns whether `at` is the start of a line that begins like a game.
fn line_begins_game(stream: &[u8], at: usize) -> bool {
    let is_blank = |byte: &u8| b" \t".contains(byte);
    let skip_blanks = |text: &'_ [u8]| text.iter().take_while(|&byte| is_blank(byte)).count();
    let before = stream[..at].iter().rfind(|&byte| !is_blank(byte));
    if !before.is_some_and(|byte| b"\r\n".contains(byte)) {
        return false;
    }
    let rest = stream[at..].get(..MAX_RESTART).unwrap_or(&stream[at..]);
    let Some(rest) = rest.strip_prefix(b"(") else { return false };
    let Some(rest) = rest[skip_blanks(rest)..].strip_prefix(b";") else { return false };
    let rest = &rest[skip_blanks(rest)..];
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let (name, rest) = rest.split_at(length);
    let capitals: Vec<u8> = name.iter().copied().filter(u8::is_ascii_uppercase).collect();
    let Some(rest) = rest[skip_blanks(rest)..].strip_prefix(b"[") else { return false };
    let end = rest.iter().position(|byte| b"][\\\n\r".contains(byte));
    [b"FF", b"GM", b"SZ", b"CA", b"AP"].iter().any(|&root| capitals == root)
        && name.first().is_some_and(u8::is_ascii_alphabetic)
        && end.is_some_and(|end| rest[end] == b']')
}

/// Splits a stream without double-byte character sets in a simple way.
fn slow_split(stream: &[u8], limit: usize) -> Vec<Owned> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < stream.len() {
        if stream[at] != b'(' || !opens_game(&stream[at + 1..]) {
            at += 1;
            continue;
        }
        let start = at;
        let (mut depth, mut in_value) = (0, false);
        let mut missing = MissingSyntax::default();
        let mut escaped = false;
        loop {
            let Some(&byte) = stream.get(at) else {
                missing = MissingSyntax { byte: escaped, bracket: in_value, parentheses: depth };
                break;
            };
            if at > start && line_begins_game(stream, at) {
                missing = MissingSyntax { byte: escaped, bracket: in_value, parentheses: depth };
                break;
            }
            match (in_value, byte) {
                (true, _) if escaped => escaped = false,
                (true, b'\\') => escaped = true,
                (true, b']') => in_value = false,
                (false, b'[') => in_value = true,
                (false, b'(') => depth += 1,
                (false, b')') => depth -= 1,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
        let bytes = &stream[start..at];
        let trimmed = if missing.bracket { bytes } else { bytes.trim_ascii_end() };
        pieces.push(if bytes.len() > limit {
            Owned { offset: start, bytes: None, missing: MissingSyntax::default() }
        } else {
            Owned { offset: start, bytes: Some(trimmed.to_vec()), missing }
        });
    }
    pieces
}

fn texts(stream: &str) -> Vec<(usize, String)> {
    split(stream.as_bytes(), RECORD_LIMIT, &[7])
        .into_iter()
        .map(|piece| (piece.offset, String::from_utf8(piece.bytes.unwrap()).unwrap() + &piece.missing.text()))
        .collect()
}

#[test]
fn games_and_text_between_them() {
    let rows: &[(&str, &[(usize, &str)])] = &[
        ("", &[]),
        ("no game (at all)", &[]),
        ("(;B[aa])", &[(0, "(;B[aa])")]),
        ("(;B[aa])(;B[bb])\n(;B[cc])", &[(0, "(;B[aa])"), (8, "(;B[bb])"), (17, "(;B[cc])")]),
        ("From: a (b) c\nX(: y\n\n(;B[aa])", &[(21, "(;B[aa])")]),
        ("\u{feff}(;B[aa])", &[(3, "(;B[aa])")]),
        ("(FF[3]B[aa];W[ba]) (SZ [9];)", &[(0, "(FF[3]B[aa];W[ba])"), (19, "(SZ [9];)")]),
        ("((;B[aa](;W[bb])(;W[cc]))))", &[(1, "(;B[aa](;W[bb])(;W[cc]))")]),
        (")](;C[\\]) ( ;)\\\\])", &[(2, "(;C[\\]) ( ;)\\\\])")]),
        ("(;B[aa]\n;W[", &[(0, "(;B[aa]\n;W[])")]),
        ("(;B[aa](;W[bb] \n", &[(0, "(;B[aa](;W[bb]))")]),
        ("(;C[a\\", &[(0, "(;C[a\\ ])")]),
    ];
    for (stream, expected) in rows {
        let found = texts(stream);
        let expected: Vec<(usize, String)> =
            expected.iter().map(|&(at, text)| (at, text.to_owned())).collect();
        assert_eq!(found, expected, "{stream}");
    }
}

#[test]
fn a_game_that_is_cut_off_costs_one_game() {
    let rest = "(;GM[1]SZ[9];B[cc])\n(;FF[4];B[dd])";
    for (cut, closed) in [
        ("(;GM[1];B[aa]", "(;GM[1];B[aa])"),
        ("(;GM[1];B[aa](;W[bb]", "(;GM[1];B[aa](;W[bb]))"),
        ("(;GM[1];C[oh", "(;GM[1];C[oh\n])"),
        ("(;GM[1];C[oh\\", "(;GM[1];C[oh\\\n])"),
    ] {
        let stream = format!("{cut}\n{rest}");
        let found: Vec<String> = texts(&stream).into_iter().map(|(_, text)| text).collect();
        assert_eq!(found, [closed, "(;GM[1]SZ[9];B[cc])", "(;FF[4];B[dd])"], "{stream}");
    }
    // Variations, and comments that quote a game, do not begin a new one.
    for whole in ["(;GM[1];B[aa]\n(;W[bb])\n(;W[cc]))", "(;GM[1];C[so:\n(;GM[1\\];B[aa\\])];B[bb])"] {
        assert_eq!(texts(whole), [(0, whole.to_owned())], "{whole}");
    }
}

#[test]
fn character_sets_with_brackets_in_them() {
    // The second halves of these characters are a backslash, a closing and an opening bracket.
    for (set, character) in [("Shift_JIS", b"\x83\x5c"), ("GBK", b"\x81\x5d"), ("Big5", b"\xa5\x5b")] {
        let mut stream = format!("(;CA[{set}]C[").into_bytes();
        stream.extend_from_slice(character);
        stream.extend_from_slice(b"])(;B[aa])");
        let first = stream.len() - 8;
        for length in [1, 2, 100] {
            let found: Vec<usize> =
                split(&stream, 1000, &[length]).iter().map(|piece| piece.offset).collect();
            assert_eq!(found, [0, first], "{set}");
        }
    }
}

#[test]
fn memory_is_bounded_and_what_follows_is_found() {
    let mut splitter = Splitter::new(1000);
    let mut pieces = Vec::new();
    let mut out = |piece: CollectionPiece<'_>| pieces.push(owned(piece));
    splitter.push(b"(;C[", &mut out);
    for _ in 0..10_000 {
        splitter.push(&[b'x'; 100], &mut out);
        assert!(splitter.record.capacity() <= 2 * (1000 + MAX_RESTART + 100));
    }
    splitter.push(b"];B[aa])(;B[bb])", &mut out);
    splitter.push(b"(;C[", &mut out);
    for _ in 0..1000 {
        splitter.push(b"( ;  ( \n (;GM ", &mut out);
        assert!(splitter.restart_bytes.capacity() <= 2 * MAX_RESTART);
    }
    splitter.push(b"\n(;GM[1];B[cc])", &mut out);
    splitter.finish(&mut out);
    let found: Vec<(usize, Option<&[u8]>)> =
        pieces.iter().map(|piece| (piece.offset, piece.bytes.as_deref())).collect();
    assert_eq!(
        found,
        [
            (0, None),
            (1_000_012, Some(&b"(;B[bb])"[..])),
            (1_000_020, None),
            (1_014_025, Some(&b"(;GM[1];B[cc])"[..]))
        ]
    );
}

/// Generates bytes that resemble games, with faults.
fn streams() -> impl Strategy<Value = Vec<u8>> {
    let parts = prop::sample::select(vec![
        "(",
        ")",
        ";",
        "[",
        "]",
        "\\",
        "\n",
        "\r\n",
        " ",
        "(;",
        "(;B[aa])",
        "(;GM[1]SZ[9];B[aa];W[bb])",
        "\n(;GM[1]",
        "\n(;FF[4",
        "\n ( ; GaMe [1]",
        "C[x",
        "(;W[cc])",
        "B[dd]",
        "AP [a:(b)",
        "CA[UTF-8]",
        "(SZ[9]",
        "(Hello",
        "x",
        "From: me",
        "\u{feff}",
        "(;GM[1]C[a\\]b];B[aa](;W[bb])(;W[cc]))\n",
    ]);
    prop::collection::vec(parts, 0..60).prop_map(|parts| parts.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1000, ..Default::default() })]

    #[test]
    fn pieces_are_those_of_the_slow_splitter(
        stream in streams(),
        lengths in prop::collection::vec(1usize..40, 1..8),
        limit in prop::sample::select(vec![0usize, 10, 40, 1 << 20]),
    ) {
        prop_assert_eq!(split(&stream, limit, &lengths), slow_split(&stream, limit));
    }

    #[test]
    fn any_bytes_agree_with_the_slow_splitter(
        stream in prop::collection::vec(prop::sample::select(b"(();[]\\\n ABGM1\x1a\x5d\x7f".to_vec()), 0..300),
        lengths in prop::collection::vec(1usize..40, 1..8),
    ) {
        prop_assert_eq!(split(&stream, 100, &lengths), slow_split(&stream, 100));
    }

    /// The reader finds the same first game in the stream and in its first piece.
    #[test]
    fn the_reader_agrees(stream in streams()) {
        let pieces = split(&stream, 1 << 20, &[16]);
        let whole = Record::parse(&stream);
        match pieces.first().filter(|piece| piece.missing.is_none()) {
            Some(piece) => {
                let first = Record::parse(piece.bytes.as_deref().unwrap_or_default());
                let moves = |record: &Record| {
                    let moves = record.nodes.iter().flat_map(|node| &node.moves);
                    moves.map(|mv| (mv.color, mv.mv.clone())).collect::<Vec<_>>()
                };
                match (whole, first) {
                    (Ok(whole), Ok(first)) => prop_assert_eq!(moves(&whole), moves(&first)),
                    (whole, first) => prop_assert_eq!(
                        whole.map(|_| ()).map_err(|error| error.kind),
                        first.map(|_| ()).map_err(|error| error.kind)
                    ),
                }
            }
            None => prop_assert!(!pieces.is_empty() || whole.is_err()),
        }
    }
}
