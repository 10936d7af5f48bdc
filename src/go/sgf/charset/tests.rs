//! Tests of decoding: bytes to text and moves.

use super::*;
use crate::sgf::collection::{CollectionPiece, RECORD_LIMIT, Splitter};
use crate::sgf::{Record, Tree};
use proptest::prelude::*;

/// Encodes a record with these names in a character set. `label` is the value of `CA`.
fn bytes(encoding: &'static Encoding, label: Option<&str>, names: [&str; 3]) -> Vec<u8> {
    let ca = label.map_or_else(String::new, |label| format!("CA[{label}]"));
    let [black, white, event] = names.map(|name| name.replace('\\', "\\\\").replace(']', "\\]"));
    let text = format!("(;GM[1]FF[4]{ca}SZ[9]EV[{event}]PB[{black}]PW[{white}];B[ee];W[cc]C[{event}];B[gg])");
    let (bytes, _, is_incomplete) = encoding.encode(&text);
    assert!(!is_incomplete, "{}: {text}", encoding.name());
    bytes.into_owned()
}

/// Returns Black's name, White's name, a comment, and the number of moves. Checks that both readers agree.
fn read_back(bytes: &[u8]) -> ([String; 3], usize, Record) {
    let record = Record::parse(bytes).unwrap();
    let name = |name: &Option<String>| name.clone().unwrap_or_default();
    let comment = record.nodes.get(2).and_then(|node| node.comment.clone()).unwrap_or_default();
    let names = [name(&record.black), name(&record.white), comment];
    let tree = Tree::parse(bytes).unwrap();
    let fact = |id: &str| tree.node(tree.root()).text(id).unwrap_or_default();
    assert_eq!([fact("PB"), fact("PW"), fact("EV")], names);
    let count =
        record.nodes.iter().flat_map(|node| &node.moves).filter(|recorded| recorded.mv.is_ok()).count();
    (names, count, record)
}

/// Splits a stream into records.
fn pieces(stream: &[u8], length: usize) -> Vec<Vec<u8>> {
    let mut splitter = Splitter::new(RECORD_LIMIT);
    let mut pieces = Vec::new();
    let mut out = |piece: CollectionPiece<'_>| match piece {
        CollectionPiece::Record(record) => pieces.push(record.bytes.to_vec()),
        CollectionPiece::TooLong { offset } => panic!("too long at {offset}"),
    };
    stream.chunks(length).for_each(|chunk| splitter.push(chunk, &mut out));
    splitter.finish(&mut out);
    pieces
}

#[test]
fn names_without_a_named_set() {
    let rows: &[(&'static Encoding, [&str; 3])] = &[
        (GBK, ["张三", "李四", "友谊赛"]),
        (GBK, ["古力", "柯洁", "决赛"]),
        (GBK, ["聂卫平", "小林光一", "第一届中日围棋擂台赛，黑中盘胜。"]),
        (BIG5, ["許功蓋", "周俊勳", "友誼賽"]),
        (BIG5, ["張栩", "王立誠", "名人戰決勝，黑功\\勝"]),
        (SHIFT_JIS, ["小林光一", "加藤正夫", "十段戦"]),
        (SHIFT_JIS, ["山田太郎", "ソ連", "表示能力"]),
        (EUC_JP, ["井山裕太", "一力遼", "本因坊戦"]),
        (EUC_JP, ["山田太郎", "鈴木一郎", "黒番中押し勝ち"]),
        (ISO_2022_JP, ["井山裕太", "一力遼", "本因坊戦"]),
        (EUC_KR, ["이세돌", "이창호", "결승"]),
        (EUC_KR, ["김철수", "박영희", "친선 대국, 흑 불계승"]),
        (WINDOWS_1251, ["Иванов", "Петров", "Кубок России"]),
        (WINDOWS_1251, ["Ли", "Ким", "Чемпионат"]),
        (KOI8_R, ["Иванов", "Петров", "Кубок России"]),
        (WINDOWS_1252, ["Müller", "Gérard", "Größe und Maß"]),
        (WINDOWS_1250, ["Dvořák", "Černý", "Žďár nad Sázavou"]),
    ];
    for &(encoding, names) in rows {
        for label in [None, Some("UTF-8"), Some("no-such-set"), Some("")] {
            let file = bytes(encoding, label, names);
            let (found, moves, record) = read_back(&file);
            assert_eq!((found, moves), (names.map(str::to_owned), 3), "{} {label:?}", encoding.name());
            assert_eq!(record.warnings, [], "{} {names:?}", encoding.name());
            assert!(record.text.note(record.charset.as_deref()).is_some(), "{} {label:?}", encoding.name());
            let twice = [file.clone(), b"\n".to_vec(), file.clone()].concat();
            assert_eq!(pieces(&twice, 7), [file.clone(), file], "{} {label:?}", encoding.name());
        }
    }
}

#[test]
fn valid_utf_8_overrides_the_named_set() {
    let names = ["张三李", "王立誠", "友谊赛"];
    for label in
        ["GB2312", "GB18030", "Shift_JIS", "Big5", "EUC-KR", "windows-1251", "ISO-8859-1", "x-unknown"]
    {
        let file = bytes(UTF_8, Some(label), names);
        let (found, moves, record) = read_back(&file);
        assert_eq!((found, moves), (names.map(str::to_owned), 3), "{label}");
        let note = record.text.note(record.charset.as_deref()).unwrap();
        assert!(note.ends_with("read as UTF-8") && note.contains(label), "{note}");
        assert_eq!(pieces(&[file.clone(), file.clone()].concat(), 5), [file.clone(), file]);
    }
    for label in [None, Some("UTF-8"), Some("utf8")] {
        let (found, _, record) = read_back(&bytes(UTF_8, label, names));
        assert_eq!((found, record.text.note(record.charset.as_deref())), (names.map(str::to_owned), None));
    }
    // ASCII is the same in every set.
    for label in ["GBK", "Shift_JIS", "x-unknown", "UTF-16"] {
        let (_, moves, record) = read_back(&bytes(UTF_8, Some(label), ["a", "b", "c"]));
        assert_eq!((moves, record.text.note(record.charset.as_deref())), (3, None), "{label}");
    }
}

#[test]
fn marks_and_damage() {
    let text = "(;GM[1]SZ[9]PB[张三]PW[李四];B[ee];W[cc];B[gg])";
    let black = |bytes: &[u8]| {
        let record = Record::parse(bytes).unwrap();
        assert_eq!(record.move_count(), 3);
        (
            record.black.clone().unwrap_or_default(),
            record.text.note(record.charset.as_deref()).unwrap_or_default(),
        )
    };
    let little = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let big = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let marked = format!("\u{feff}{text}");
    assert_eq!(black(marked.as_bytes()), ("张三".to_owned(), String::new()));
    for (bytes, name) in [
        (little(&marked), "UTF-16LE"),
        (big(&marked), "UTF-16BE"),
        (little(text), "UTF-16LE"),
        (big(text), "UTF-16BE"),
    ] {
        assert_eq!(black(&bytes), ("张三".to_owned(), format!("read as {name}")));
    }
    // A server cut off the second half of a name.
    let cut = [b"(;GM[1]SZ[9]PB[\xe5\xbc\xa0\xe4\xb8", &b"];B[ee];W[cc];B[gg])"[..]].concat();
    assert_eq!(black(&cut), ("张\u{fffd}".into(), "read as UTF-8; one invalid sequence was replaced".into()));
    assert_eq!(source_offset(&cut, 21), 20, "the place behind the damage");
}

#[test]
fn excerpt_contains_letters_and_their_neighbours() {
    assert_eq!(excerpt(b"0123456789\xe9abcdefghij"), b"23456789\xe9abcdefgh");
    assert_eq!(excerpt(b"0123456789\xe9abc\xe9defghij"), b"23456789\xe9abc\xe9defghij");
    assert_eq!(excerpt(b"\xe9 a long way without any \xe9"), b"\xe9 a long out any \xe9");
    assert_eq!((excerpt(b"ASCII"), excerpt(b"\xe9")), (Vec::new(), b"\xe9".to_vec()));
}

#[test]
fn names_of_sets() {
    for (label, encoding) in [
        ("GB2312", Some(GBK)),
        ("gb18030", Some(GB18030)),
        ("cp936", Some(GBK)),
        ("CP949", Some(EUC_KR)),
        ("Shift-JIS", Some(SHIFT_JIS)),
        ("SJIS", Some(SHIFT_JIS)),
        ("windows-31j", Some(SHIFT_JIS)),
        ("Big5", Some(BIG5)),
        ("BIG5-HKSCS", Some(BIG5)),
        ("euc_jp", Some(EUC_JP)),
        ("EUC-KR", Some(EUC_KR)),
        ("ISO-2022-JP", Some(ISO_2022_JP)),
        ("cp1251", Some(WINDOWS_1251)),
        ("KOI8-R", Some(KOI8_R)),
        ("latin1", Some(WINDOWS_1252)),
        ("UTF8", Some(UTF_8)),
        ("UTF-16", None),
        ("hz-gb-2312", None),
        ("", None),
        ("klingon", None),
    ] {
        assert_eq!(encoding_of(label.as_bytes()), encoding, "{label}");
    }
    let named = |text: &str| label(text.as_bytes()).map(|label| String::from_utf8(label.to_vec()).unwrap());
    assert_eq!(named("(;GM[1]CA[GBK]SZ[9])").as_deref(), Some("GBK"));
    assert_eq!(named("(;GM[1]CA [ Big5 ]SZ[9])").as_deref(), Some("Big5"));
    assert_eq!(named("(;GM[1]SZ[9])"), None);
    assert_eq!(named("(;XCA[GBK]CA[])"), None);
}

/// Character sets of records, with characters of each whose second byte is a bracket or a backslash, if the set has
/// any.
const SETS: [(&Encoding, &str); 9] = [
    (SHIFT_JIS, "ゼソ表能十従ャ"),
    (BIG5, "功許蓋尒育"),
    (GBK, "乗俓匼淺歖"),
    (GB18030, "乗俓匼㐀"),
    (EUC_KR, "이뷁똠"),
    (EUC_JP, "従十"),
    (ISO_2022_JP, "表能十次一"),
    (WINDOWS_1251, "Я"),
    (WINDOWS_1252, "ÿ"),
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..Default::default() })]

    /// Text in a set survives a round trip through a record that names the set, and so do the moves.
    #[test]
    fn text_in_a_named_set_round_trips(
        set in prop::sample::select(SETS.to_vec()),
        texts in prop::array::uniform3("[一-龥ぁ-んァ-ヶ가-힣А-яÀ-ÿ\\\\\\]\\[;():a-c]{1,12}"),
        length in 1_usize..50,
    ) {
        let (encoding, special) = set;
        let holds = |text: &String| {
            let kept = text.chars().filter(|character| !encoding.encode(&character.to_string()).2);
            format!("{special}{}", kept.collect::<String>())
        };
        let texts = texts.each_ref().map(holds);
        let file = bytes(encoding, Some(encoding.name()), texts.each_ref().map(String::as_str));
        // Some byte sequences are also valid UTF-8, which takes precedence.
        prop_assume!(std::str::from_utf8(&file).is_err() || encoding == ISO_2022_JP);
        let (found, moves, record) = read_back(&file);
        prop_assert_eq!((found, moves), (texts, 3));
        prop_assert_eq!(record.text.note(record.charset.as_deref()), None);
        let stream = [file.clone(), b"\n".to_vec(), file.clone()].concat();
        prop_assert_eq!(pieces(&stream, length), [file.clone(), file]);
    }

    /// The end of a record does not depend on how the stream is divided into pushes.
    #[test]
    fn pieces_do_not_depend_on_pushes(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                &b"(;"[..], b"(", b")", b";", b"[", b"]", b"\\", b"\n", b"C[", b"CA[GBK]", b"B[ee]", b"\x83\x5c",
                b"\x81\x5d", b"\xa5\x5b", b"\xb0\xa1", b"\xe5\xbc\xa0", b"\x1b$B", b"\x1b(B", b"\xff", b"\xe5\xbc",
            ]),
            0..50,
        ),
        length in 1_usize..20,
    ) {
        let stream = parts.concat();
        prop_assert_eq!(pieces(&stream, length), pieces(&stream, 1 << 20));
        let _ = Record::parse(&stream).map(|record| record.notes(crate::rules::Rules::default(), 0.5, false));
        let _ = source_offset(&stream, stream.len() / 2);
    }
}
