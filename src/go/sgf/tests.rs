//! Tests of reading and writing records.

use super::*;
use crate::board::Board;
use crate::game::Game;
use crate::handicap::fixed_handicap;
use crate::rng::Rng;
use crate::rules::HandicapBonus;
use proptest::prelude::*;

fn record(text: &str) -> Record {
    Record::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn replayed(text: &str) -> Game {
    record(text).game(Rules::default(), 7.5, None).unwrap()
}

fn moves(game: &Game) -> String {
    let letter = |color| if color == Color::Black { 'B' } else { 'W' };
    let moves = game.records().iter().map(|record| format!("{} {}", letter(record.color), record.mv));
    moves.collect::<Vec<_>>().join(", ")
}

#[test]
fn oddities_of_real_files() {
    let rows = [
        ("plain", "(;SZ[9];B[aa];W[ba])", "B A9, W B9"),
        ("the first variation", "(;SZ[9];B[aa](;W[ba];B[ca])(;W[cc]))", "B A9, W B9, B C9"),
        ("every move in a tree of its own", "(;SZ[9](;B[aa](;W[ba](;B[ca]))))", "B A9, W B9, B C9"),
        ("an empty variation", "(;SZ[9];B[aa]()(;W[ba]))", "B A9, W B9"),
        ("an empty variation inside one", "(;SZ[9](;B[aa]())(;B[ba];W[ca]))", "B A9"),
        ("the first game", "(;SZ[9];B[aa])(;SZ[9];B[bb])", "B A9"),
        ("passes", "(;SZ[9];B[];W[tt];B[jj];W[ ])", "B pass, W pass, B pass, W pass"),
        ("tt is a point", "(;SZ[21];B[tt];W[])", "B U2, W pass"),
        ("tt on a narrow board", "(;SZ[25:19];B[tt])", "B pass"),
        ("rectangle", "(;SZ[3:5];B[ae];W[ca])", "B A1, W C5"),
        ("mail header", "From: a (b) c\nX(: y\n\n(;SZ[9];B[aa])", "B A9"),
        ("byte order mark", "\u{feff}(;SZ[9];B[aa])", "B A9"),
        ("no first semicolon", "(FF[3]SZ[9]B[aa];W[ba])", "B A9, W B9"),
        ("long names", "(;SiZe[9];Black[aa];White[ba])", "B A9, W B9"),
        ("stray brackets", "(;SZ[9]US[Matsuyama[3d]];B[aa])", "B A9"),
        ("escapes", "(;SZ[9]C[a\\]b\\\\];B[aa])", "B A9"),
        ("closing bracket of a value missing", "(;SZ[9];B[aa];W[ba];C[oh", "B A9, W B9"),
        ("never closed", "(;SZ[9];B[aa]", "B A9"),
        ("properties given twice", "(;GM[1]GM[1]FF[3]SZ[9]SZ[19];B[aa])", "B A9"),
        ("size behind the stones", "(;AB[cc]SZ[9];W[aa])", "W A9"),
        ("set-up and moves together", "(;SZ[9];B[bb]AB[aa]W[cc])", "B B8, W C7"),
        ("two of one colour", "(;SZ[9];B[aa];B[ba])", "B A9, B B9"),
        ("an occupied point ends it", "(;SZ[9];B[aa];W[aa];B[bb])", "B A9"),
        ("a point off the board ends it", "(;SZ[9];B[aa];W[ss];B[bb])", "B A9"),
        ("no text of a point", "(;SZ[9];B[aa];W[rp.pmon];B[bb])", "B A9"),
        ("a move without a value ends it", "(;SZ[9];B[aa];Wbb];B[cc])", "B A9"),
        ("a comment that holds a move ends it", "(;SZ[9];B[aa]C[x;W[bb];B[cc])", "B A9"),
        ("small letters", "(;SZ[9];b[aa];w[bb])", "B A9, W B8"),
        ("private properties", "(;SZ[9];B[aa]IL[cc]BL[30]KGSDE[x];WL[2]W[ba])", "B A9, W B9"),
    ];
    for (name, text, expected) in rows {
        assert_eq!(moves(&replayed(text)), expected, "{name}: {text}");
    }
}

#[test]
fn facts() {
    let of = |text: &str| record(text);
    assert_eq!(of("(;B[aa])").size, BoardSize::square(19).unwrap());
    assert_eq!(of("(;SZ[])").size, BoardSize::square(19).unwrap());
    for (komi, expected) in [
        ("6.5", Some(6.5)),
        ("-17.5", Some(-17.5)),
        ("", None),
        ("5,5", Some(5.5)),
        ("375", Some(7.5)),
        ("NaN", None),
        ("1e30", None),
    ] {
        assert_eq!(of(&format!("(;KM[{komi}])")).komi, expected, "{komi}");
    }
    assert_eq!(replayed("(;KM[])").komi(), 7.5);
    let game = of("(;SZ[9]RU[Japanese]PB[a\\]b]PW[two\nlines]RE[W+R ])");
    assert_eq!(game.known_rules().unwrap().names[0], "japanese");
    assert_eq!(game.black.as_deref(), Some("a]b"));
    assert_eq!(game.white.as_deref(), Some("two lines"));
    assert_eq!(game.result.as_deref(), Some("W+R"));
    // White space except line ends becomes a blank, also after a backslash. Escaped line ends are removed.
    for (text, name, comment) in [
        ("a\\\tb", "a b", "a b"),
        ("a\tb\u{b}c\u{c}d", "a b c d", "a b c d"),
        ("a\\\u{b}b\\\u{c}c\\ d", "a b c d", "a b c d"),
        ("a\\\nb\\\r\nc\\\n\rd\\\re", "abcde", "abcde"),
        ("a\nb\r\nc\n\rd\re", "a b c d e", "a\nb\nc\nd\ne"),
        ("a\\:b:c\\]d\\\\e\\f", "a:b:c]d\\ef", "a:b:c]d\\ef"),
    ] {
        let game = of(&format!("(;PB[{text}]C[{text}])"));
        assert_eq!(game.black.as_deref(), Some(name), "{text:?}");
        assert_eq!(game.nodes[0].comment.as_deref(), Some(comment), "{text:?}");
    }
    let comment = of("(;C[one\r\ntwo\\\nstill two\n\rthree])").nodes[0].comment.clone();
    assert_eq!(comment.as_deref(), Some("one\ntwostill two\nthree"));
}

#[test]
fn character_sets() {
    let black = |bytes: &[u8]| Record::parse(bytes).unwrap().black.unwrap();
    assert_eq!(black("(;PB[\u{e9}])".as_bytes()), "\u{e9}");
    assert_eq!(black(b"(;PB[\xe9])"), "\u{e9}");
    // The second byte of this character is a backslash.
    assert_eq!(black(b"(;CA[Shift_JIS]PB[\x83\x5c];B[aa])"), "\u{30bd}");
    assert_eq!(black(b"(;CA[windows-1251]PB[\xcf])"), "\u{41f}");
    let utf16: Vec<u8> = "\u{feff}(;PB[x])".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(black(&utf16), "x");
}

#[test]
fn source_offset_inverts_the_conversion() {
    let place = |bytes: &[u8]| {
        let record = Record::parse(bytes).unwrap();
        source_offset(bytes, record.nodes[0].moves[0].offset)
    };
    assert_eq!(place(b"(;PB[\xe9]B[aa])"), 9, "no conversion");
    assert_eq!(place(b"(;CA[Shift_JIS]PB[\x83\x5c\x83\x5c]B[aa])"), 25);
    assert_eq!(place(b"(;CA[windows-1251]PB[\xcf\xcf]B[aa])"), 26);
    let utf16: Vec<u8> = "\u{feff}(;PB[\u{e9}]B[aa])".encode_utf16().flat_map(u16::to_le_bytes).collect();
    // The second byte of the two-byte character completes it.
    assert_eq!(place(&utf16), 2 + 2 * 9 + 1);
    assert_eq!(source_offset(b"(;CA[GBK])", 99), 10);
}

#[test]
fn errors_have_a_place() {
    let error = |text: &str| Record::parse(text.as_bytes()).unwrap_err();
    let rows = [
        ("", 0, SgfErrorKind::NoGame),
        ("hello (world)", 0, SgfErrorKind::NoGame),
        ("(;SZ[x])", 5, SgfErrorKind::BadSize),
        ("(;SZ[0])", 5, SgfErrorKind::BadSize),
        ("(;SZ[26])", 5, SgfErrorKind::UnsupportedSize(26, 26)),
        ("(;GM[1]SZ[19:99999])", 10, SgfErrorKind::UnsupportedSize(19, 99999)),
        ("(;GM[2])", 5, SgfErrorKind::NotGo),
    ];
    for (text, offset, kind) in rows {
        assert_eq!(error(text), SgfError { offset, kind }, "{text}");
    }
    let many = format!("(;SZ[9]{})", ";".repeat(MAX_NODES));
    assert_eq!(error(&many).kind, SgfErrorKind::TooLong);
    let stones = format!("(;SZ[25]{})", "AB[aa:yy]".repeat(1000));
    assert_eq!(error(&stones).kind, SgfErrorKind::TooLong);
    let deep = format!("{};B[aa]{}", "(;SZ[9]".repeat(5000), ")".repeat(5000));
    assert_eq!(moves(&replayed(&deep)), "B A9");

    let strict = |text: &str| {
        record(text).replay(Rules::default(), 7.5, None, Strictness::Strict).map(|_| ()).unwrap_err()
    };
    let illegal = strict("(;SZ[9];B[aa];W[aa])");
    assert_eq!(illegal.to_string(), "move 2, White A9: occupied (at byte 16)");
    assert_eq!(strict("(;SZ[9];B[zz])").to_string(), "move 1, Black \"zz\": not on the board (at byte 10)");
    assert_eq!(strict("(;SZ[9]AB[zz])").offset, 10);
    let tolerant = record("(;SZ[9];B[aa];W[aa];B[bb])");
    let replay = tolerant.replay(Rules::default(), 7.5, None, Strictness::Tolerant).unwrap();
    assert_eq!((replay.game.records().len(), replay.warnings.len()), (1, 1));
}

#[test]
fn up_to_a_move() {
    let text = "(;SZ[9]AB[ee];AW[ff];W[aa];B[bb];AE[ee];W[cc])";
    let at = |number| record(text).game(Rules::default(), 7.5, number).unwrap();
    for (number, to_move, stones) in [
        (Some(0), Color::White, 2),
        (Some(1), Color::White, 2),
        (Some(2), Color::Black, 3),
        (Some(3), Color::White, 3),
        (Some(4), Color::Black, 4),
        (Some(99), Color::Black, 4),
        (None, Color::Black, 4),
    ] {
        let game = at(number);
        assert_eq!((game.to_move(), game.board().stone_count()), (to_move, stones), "{number:?}");
    }
}

#[test]
fn every_position_on_the_way_is_shown() {
    let mut seen = Vec::new();
    let text = "(;SZ[9]AB[ee];PL[B];B[aa]W[bb];AE[ee];C[nothing];W[aa])";
    let watch = |node, game: &Game| seen.push((node, game.board().stone_count(), game.to_move()));
    record(text).replay_watched(Rules::default(), 7.5, None, Strictness::Tolerant, watch).unwrap();
    let (black, white) = (Color::Black, Color::White);
    let expected = [(0, 1, black), (1, 1, black), (2, 2, white), (2, 3, black), (3, 2, black)];
    assert_eq!(seen, expected);
}

#[test]
fn set_up() {
    let drawing = |text: &str| replayed(text).board().to_string();
    assert_eq!(drawing("(;SZ[3]AB[aa:cb]AE[bb]AW[bc])"), "X X X\nX . X\n. O .\n");
    assert_eq!(drawing("(;SZ[3]AB[cb:aa])"), "X X X\nX X X\n. . .\n", "corners in any order");
    assert_eq!(drawing("(;SZ[3]AB[aa]AW[aa])"), "O . .\n. . .\n. . .\n");
    // Set-up captures nothing. Stones without liberties are omitted.
    assert_eq!(drawing("(;SZ[3]AB[aa]AW[ab][ba])"), ". O .\nO . .\n. . .\n");
    assert_eq!(drawing("(;SZ[2]AB[aa:bb])"), ". .\n. .\n");
    let game = replayed("(;SZ[3];B[ab];W[aa];B[ba];AW[cc];PL[W])");
    assert_eq!(game.board().prisoners(Color::White), 1, "prisoners are kept");
    assert_eq!(game.to_move(), Color::White);
}

#[test]
fn handicap() {
    let chinese = Rules { handicap_bonus: HandicapBonus::Full, ..Rules::default() };
    let game = |text: &str| record(text).game(chinese, 0.5, None).unwrap();
    let with_stones = game("(;SZ[9]HA[2]AB[cc][gg];W[ee])");
    assert_eq!((with_stones.handicap(), with_stones.white_bonus()), (2, 2.0));
    let fixed = game("(;SZ[9]HA[3];W[ee])");
    assert_eq!((fixed.handicap(), fixed.board().stone_count()), (3, 4));
    assert_eq!(game("(;SZ[9]HA[3])").to_move(), Color::White);
    assert_eq!(game("(;SZ[9]HA[3];B[ee])").handicap(), 0, "no stones of a handicap");
    let free = game("(;SZ[9]HA[2];B[ee];B[cc];W[gg];B[aa])");
    assert_eq!((free.handicap(), free.records().len()), (2, 4), "free placement as moves");
    assert_eq!(game("(;SZ[9]HA[2];B[ee];B[cc];B[gg])").handicap(), 3, "the moves are what was played");
    assert_eq!(game("(;SZ[9];B[ee];B[cc];W[gg])").handicap(), 2, "it is not stated");
    assert_eq!(game("(;SZ[9];B[ee];B[cc];W[gg];W[gc])").handicap(), 0, "a position that was set up");
    assert_eq!(game("(;SZ[9]HA[0];B[ee])").handicap(), 0);
    assert_eq!(game("(;SZ[5]HA[4];W[ee])").handicap(), 0, "no fixed points on 5x5");
    assert_eq!(game("(;SZ[9]HA[3]AE[cc];W[ee])").handicap(), 0, "nothing is set up");
    assert_eq!(game("(;SZ[9];B[ee];B[cc];AE[ee][cc];B[gg])").handicap(), 0, "no stone of them is left");
    assert_eq!(game("(;SZ[9];B[ee];B[cc];AE[ee];W[gg])").handicap(), 2);
    let more = game("(;SZ[9]HA[2]AB[cc][gg][ee])");
    assert_eq!((more.board().stone_count(), more.to_move()), (3, Color::White));
}

/// Reads every record below `../shared/gnugo-suites`, if that folder exists.
#[test]
#[allow(clippy::print_stderr)]
fn every_record_of_the_suites_is_read() {
    let Some(root) = kosumi_test_support::shared("gnugo-suites") else { return };
    let mut folders = vec![root];
    let (mut files, mut whole) = (0, 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "sgf") {
                let record = Record::parse(&std::fs::read(&path).unwrap())
                    .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                let replay = record.replay(Rules::default(), 5.5, None, Strictness::Tolerant).unwrap();
                replay.game.board().check_consistency();
                files += 1;
                if replay.warnings.is_empty() {
                    whole += 1;
                } else {
                    eprintln!("{}: {}", path.display(), replay.warnings[0]);
                }
            }
        }
    }
    eprintln!("{files} records, {whole} without a warning");
    assert_eq!(whole, files, "records read without a warning");
}

/// Returns a game of random legal moves, with passes and consecutive moves of the same colour.
fn random_game(seed: u64) -> Game {
    let mut rng = Rng::new(seed);
    let size = BoardSize::new(1 + rng.below(25) as usize, 1 + rng.below(25) as usize).unwrap();
    let rules = crate::rules::PRESETS[rng.below(crate::rules::PRESETS.len() as u32) as usize].rules;
    let mut game = Game::new(size, rules, rng.below(40) as f32 / 2.0 - 5.0);
    if let Some(points) = fixed_handicap(size, rng.below(10) as usize) {
        game = game.with_handicap(&points).unwrap();
    }
    for _ in 0..rng.below(120) {
        if rng.chance(50) {
            game.set_to_move(game.to_move().opponent());
        }
        let points: Vec<Point> = size.points().collect();
        let point = points[rng.below(points.len() as u32) as usize];
        let mv = if rng.chance(50) { Move::Pass } else { Move::Play(point) };
        let _ = game.play(game.to_move(), mv);
    }
    game
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn what_is_written_is_read_back(seed in any::<u64>(), text in "\\PC{0,20}") {
        let game = random_game(seed);
        let name = text.trim().to_owned();
        let meta = Meta { black: Some(name.clone()), comment: Some("]\\[:".into()), ..Meta::default() };
        let written = write(&game, &meta);
        let record = Record::parse(written.as_bytes()).unwrap();
        prop_assert_eq!(&record.warnings, &[]);
        let collapsed: String = name.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
        prop_assert_eq!(record.black.clone().unwrap_or_default(), collapsed);
        prop_assert_eq!(record.nodes[0].comment.as_deref(), Some("]\\[:"));
        prop_assert_eq!(record.known_rules().map(|preset| preset.rules), Some(game.rules()));
        let read = record.replay(game.rules(), 0.0, None, Strictness::Strict).unwrap().game;
        prop_assert_eq!(read.board().key(), game.board().key());
        prop_assert_eq!(read.board().to_string(), game.board().to_string());
        prop_assert_eq!(read.komi(), game.komi());
        prop_assert_eq!(read.handicap(), game.handicap());
        prop_assert_eq!(read.to_move(), game.to_move());
        prop_assert_eq!(moves(&read), moves(&game));
        let lost = |game: &Game| Color::BOTH.map(|color| game.board().prisoners(color));
        prop_assert_eq!(lost(&read), lost(&game));
    }

    #[test]
    fn a_written_position_is_read_back(seed in any::<u64>()) {
        let played = random_game(seed);
        // Files do not record where simple ko forbids a move.
        let board = Board::from_stones(played.size(), played.board().stones()).unwrap();
        let game = Game::from_board(board, played.to_move(), played.rules(), 0.5);
        let read = Record::parse(write(&game, &Meta::default()).as_bytes()).unwrap();
        let read = read.game(game.rules(), 0.0, None).unwrap();
        prop_assert_eq!(read.board().key(), game.board().key());
        prop_assert_eq!(read.graph_key(), game.graph_key());
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Record::parse(&bytes).map(|record| record.game(Rules::default(), 7.5, None));
    }

    #[test]
    fn no_malformed_record_panics(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "(", ")", ";", "[", "]", "\\", "B", "W", "AB", "AW", "AE", "PL", "SZ", "HA", "KM", "CA", "C",
                "[aa]", "[bb]", "[tt]", "[aa:cc]", "[]", "[3]", "[2:4]", "[B]", "(;", ";B[ab]", ";W[ba]",
                "\r\n", "CA[GBK]", "\u{30bd}",
            ]),
            0..80,
        ),
        up_to in prop::option::of(0usize..9),
    ) {
        if let Ok(record) = Record::parse(parts.concat().as_bytes()) {
            let game = record.game(Rules::default(), 7.5, up_to).unwrap();
            game.board().check_consistency();
            let _ = record.replay(Rules::default(), 7.5, up_to, Strictness::Strict);
            let again = Record::parse(write(&game, &Meta::default()).as_bytes()).unwrap();
            let again = again.game(Rules::default(), 7.5, None).unwrap();
            prop_assert_eq!(again.board().key(), game.board().key());
        }
    }
}

/// Returns the depth and the properties of each node, in the order of the file.
fn outline(tree: &Tree) -> Vec<(usize, Vec<Property>)> {
    let mut found = Vec::new();
    let mut todo = vec![(0, tree.root())];
    while let Some((depth, id)) = todo.pop() {
        found.push((depth, tree.node(id).properties().to_vec()));
        todo.extend(tree.node(id).children().iter().rev().map(|&child| (depth + 1, child)));
    }
    found
}

fn tree(text: &str) -> Tree {
    Tree::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn trees_as_text() {
    let rows = [
        ("(;SZ[3])", "(;SZ[3]CA[UTF-8])\n"),
        ("(;SZ[3];B[aa](;W[bb];B[cc])(;W[cc]))", "(;SZ[3]CA[UTF-8]\n;B[aa]\n(;W[bb];B[cc])\n(;W[cc]))\n"),
        // Names without their small letters, repeated, unknown and empty properties, unchanged escapes.
        ("(GaMe[1]SZ[3]GM[1]KGSDE[]LB[aa:a\\:b];)", "(;GM[1][1]SZ[3]KGSDE[]LB[aa:a\\:b]CA[UTF-8]\n;)\n"),
        ("(;SZ[3]C[half \\", "(;SZ[3]C[half ]CA[UTF-8])\n"),
        ("(;SZ[3];B[aa]()((;W[bb]C[x])D[y](;W[cc])))", "(;SZ[3]CA[UTF-8]\n;B[aa]\n(;W[bb]C[x])\n(;W[cc]))\n"),
    ];
    for (text, expected) in rows {
        assert_eq!(tree(text).to_string(), expected, "{text}");
    }
    assert_eq!(Tree::parse(b"(;CA[windows-1251]C[\xcf])").unwrap().to_string(), "(;CA[UTF-8]C[\u{41f}])\n");
    assert_eq!(Tree::parse(b"(;SZ[0])").unwrap_err().kind, SgfErrorKind::BadSize);
    assert_eq!(Tree::parse(b";B[aa]").unwrap_err().kind, SgfErrorKind::NoGame);
    let long = "A[]".repeat(1 << 21);
    assert_eq!(Tree::parse(format!("(;{long})").as_bytes()).unwrap_err().kind, SgfErrorKind::TooLong);
}

#[test]
fn nodes_are_written() {
    let size = BoardSize::square(9).unwrap();
    let point = |column, row| Point::new(column, row);
    let mut tree = Tree::new(size);
    let root = tree.root();
    let id = tree.add(root);
    tree.at(id)
        .play(Color::Black, Move::Play(point(2, 6)))
        .comment(" two\r\nlines: a]b\\c\tend\u{7} ")
        .name("a\nname")
        .time_left(Color::Black, 12.3456, Some(3))
        .time_left(Color::White, 60.0, None)
        .mark(point(0, 8), Mark::Triangle)
        .mark(point(1, 8), Mark::Triangle)
        .mark(point(0, 8), Mark::Circle)
        .mark(point(1, 8), Mark::Cross)
        .mark(point(1, 8), Mark::Cross)
        .label(point(0, 0), "old")
        .label(point(0, 0), "a:b")
        .label(point(1, 0), "")
        .set_up(point(8, 0), None)
        .judge(MoveAnnotation::Good)
        .judge(MoveAnnotation::VeryBad)
        .outlook(PositionAnnotation::Even)
        .outlook(PositionAnnotation::GoodForWhite)
        .hotspot(1)
        .value(-2.5)
        .number("KO", f64::NAN)
        .comment(" two\r\nlines: a]b\\c\tend\u{7} ");
    let pass = tree.add(id);
    tree.at(pass)
        .play(Color::White, Move::Pass)
        .to_move(Color::White)
        .judge(MoveAnnotation::Doubtful)
        .comment(" ");
    let other = tree.add(id);
    tree.at(other)
        .label(point(0, 0), "")
        .set_up(point(0, 0), Some(Color::White))
        .copy(&[Property { name: "XX".into(), values: vec!["\\]".into(), "".into()] }]);
    let expected = "(;FF[4]GM[1]CA[UTF-8]AP[Kosumi:0.1.0]SZ[9]
;B[cc]C[two\nlines: a\\]b\\\\c end]N[a name]BL[12.346]OB[3]WL[60]CR[aa]MA[ba]LB[ai:a\\:b]AE[ii]BM[2]GW[1]HO[1]V[-2.5]
(;W[]PL[W]DO[])
(;AW[ai]XX[\\]][]))
";
    assert_eq!(tree.to_string(), expected.replace("0.1.0", env!("CARGO_PKG_VERSION")));
    assert_eq!(tree.node(id).text("C").as_deref(), Some("two\nlines: a]b\\c end"));
    assert_eq!(
        (tree.node(id).text("W"), tree.node(pass).text("W"), tree.node(pass).has("W")),
        (None, None, true)
    );
}

#[test]
fn a_tree_of_any_depth_is_written_and_dropped() {
    let mut tree = Tree::new(BoardSize::square(9).unwrap());
    let mut last = tree.root();
    for _ in 0..200_000 {
        let parent = last;
        last = tree.add(parent);
        tree.add(parent);
    }
    let text = tree.to_string();
    assert_eq!(Tree::parse(text.as_bytes()).unwrap().node_count(), 400_001);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_written_tree_is_read_back(
        seed in any::<u64>(),
        texts in prop::collection::vec("[\\PC\\n\\\\\\]:]{0,12}", 4),
    ) {
        let mut rng = Rng::new(seed);
        let size = BoardSize::new(1 + rng.below(25) as usize, 1 + rng.below(25) as usize).unwrap();
        let points: Vec<Point> = size.points().collect();
        let mut tree = Tree::new(size);
        let mut ids = vec![tree.root()];
        for _ in 0..rng.below(30) {
            let id = tree.add(ids[rng.below(ids.len() as u32) as usize]);
            ids.push(id);
            for _ in 0..rng.below(6) {
                let text = &texts[rng.below(4) as usize];
                let point = points[rng.below(points.len() as u32) as usize];
                let color = Color::BOTH[rng.below(2) as usize];
                let node = tree.at(id);
                match rng.below(9) {
                    0 => node.comment(text),
                    1 => node.name(text),
                    2 => node.play(color, Move::Play(point)),
                    3 => node.label(point, text),
                    4 => node.mark(point, Mark::Square),
                    5 => node.set_up(point, Some(color)),
                    6 => node.time_left(color, 0.5, Some(1)),
                    7 => node.value(1.5),
                    _ => node.judge(MoveAnnotation::Bad),
                };
            }
        }
        let written = tree.to_string();
        let read = Tree::parse(written.as_bytes()).unwrap();
        prop_assert_eq!(outline(&read), outline(&tree));
        prop_assert_eq!(read.size(), size);
        // The record agrees with the tree, and comments survive the round trip.
        let record = Record::parse(written.as_bytes()).unwrap();
        let line = tree.main_line();
        prop_assert_eq!(record.nodes.len(), line.len());
        for (node, id) in record.nodes.iter().zip(line) {
            prop_assert_eq!(&node.comment, &tree.node(id).text("C"));
            prop_assert!(node.moves.iter().all(|recorded| recorded.mv.is_ok()));
        }
        let id = tree.root();
        tree.at(id).comment(&texts[0]);
        let lines = texts[0].trim().chars().map(|c| if c != '\n' && c.is_whitespace() { ' ' } else { c });
        prop_assert_eq!(tree.node(id).text("C").unwrap_or_default(), lines.collect::<String>());
    }

    #[test]
    fn trees_and_records_agree_on_the_main_line(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "(", "(;", ")", ";", "]", "\\", "B", "AB", "C", "CA", "LB", "[aa]", "[]", "[(]", ";B[ab]",
                ";W[ba]C[x]", "\r\n", "CA[GBK]",
            ]),
            0..80,
        ),
    ) {
        let bytes = parts.concat().into_bytes();
        let (record, tree) = (Record::parse(&bytes), Tree::parse(&bytes));
        prop_assert_eq!(record.is_ok(), tree.is_ok());
        let (Ok(record), Ok(tree)) = (record, tree) else { return Ok(()) };
        let line = tree.main_line();
        let comments: Vec<_> = line.iter().map(|&id| tree.node(id).text("C")).collect();
        prop_assert_eq!(record.nodes.iter().map(|node| node.comment.clone()).collect::<Vec<_>>(), comments);
        prop_assert_eq!(Tree::parse(tree.to_string().as_bytes()), Ok(tree));
    }

    #[test]
    fn no_bytes_panic_in_a_tree(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Tree::parse(&bytes).map(|tree| tree.to_string());
    }
}
