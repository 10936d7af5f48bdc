//! Tests of records that cannot be followed completely, and of the messages about them.

use super::*;
use crate::board::BoardSize;
use crate::rules::PRESETS;

fn follow(text: &str, up_to: Option<usize>) -> FollowedGame {
    let record = Record::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let how = FollowOptions { rules: Rules::default(), up_to, strictness: Strictness::Tolerant };
    record.follow(&how).unwrap()
}

#[test]
fn lost_moves_are_faults() {
    let rows = [
        ("(;SZ[9];B[ee];W[ee];B[dd])", 1, "move 2, White E5: occupied (at byte 16)"),
        (
            "(;SZ[9];B[E5];W[C7])",
            0,
            "move 1, Black \"E5\": not a point (two letters are expected) (at byte 10)",
        ),
        ("(;SZ[9];B[ee];W[ss])", 1, "move 2, White \"ss\": not on the board (at byte 16)"),
        (
            "(;SZ[9];B[ee];W[e])",
            1,
            "move 2, White \"e\": not a point (two letters are expected) (at byte 16)",
        ),
        ("(;SZ[9];B[ee];W;B[dd])", 1, "move 2, White \"\": its point is missing (at byte 16)"),
        ("(;SZ[9];B[ee];Wcc];B[dd])", 1, "move 2, White \"\": its point is missing (at byte 19)"),
        (
            "(;SZ[9];B[ee];W[cc;B[dd])",
            1,
            "move 2, White \"cc;B[dd\": a closing bracket is missing (at byte 16)",
        ),
        (
            "(;SZ[9];B[ee]C[good;W[cc];B[dd])",
            1,
            "move 2, White \"C[…;W[cc\": a closing bracket is missing (at byte 15)",
        ),
        (
            "(;SZ[9]PB[Lee;B[ee];W[cc])",
            0,
            "move 1, Black \"PB[…;B[ee\": a closing bracket is missing (at byte 10)",
        ),
        (
            "(;SZ[9];B[ee];W[cc]",
            2,
            "the record is truncated: its closing parenthesis is missing (at byte 19)",
        ),
        ("(;SZ[9];B[ee];W[c", 1, "the record is truncated: the closing bracket of W is missing (at byte 16)"),
        (
            "(;SZ[9];B[ee];W[cc];C[so",
            2,
            "the record is truncated: the closing bracket of C is missing (at byte 22)",
        ),
        ("(;SZ[9];B[ee];[cc];B[dd])", 2, "the value \"cc\" has no property name (at byte 15)"),
        ("(;SZ[9]AB[E5];W[cc])", 1, "\"E5\" is not a point of the board (at byte 10)"),
        ("(;SZ[3]AW[ab][ba]AB[aa];B[cc])", 1, "the stones at A3 are set up without a liberty (at byte 1)"),
    ];
    for (text, moves, fault) in rows {
        let followed = follow(text, None);
        assert_eq!(followed.fault.map(|fault| fault.to_string()).as_deref(), Some(fault), "{text}");
        assert_eq!(followed.game.records().len(), moves, "{text}");
    }
}

#[test]
fn harmless_faults_are_warnings() {
    let rows = [
        ("(;SZ[9];B[ee];W[cc])", ""),
        ("(;SZ[9]US[Matsuyama[3d]];B[ee])", ""),
        ("mail\n\n(;SZ[9];B[ee]) bye", ""),
        ("(;SZ[9];b[ee];w[cc])", ""),
        ("(;SZ[9];B[ee] 12. W[cc])", "unexpected text \"12.\" (at byte 14)"),
        (
            "(;SZ[9];B[ee](;W[cc])(;W[dd]",
            "the record is truncated after its main line: a closing parenthesis is missing (at byte 28)",
        ),
        ("(;SZ[5]HA[4];W[ee])", "no fixed points for a handicap of 4 (at byte 1)"),
        ("(;SZ[9]RU[mahjong];B[ee])", "unknown rules “mahjong”: chinese-kgs rules are assumed"),
        ("(;SZ[9]KM[much];B[ee])", "the komi “much” cannot be read: 7.5 is assumed"),
        ("(;GM[1];SZ[9];B[ee])", "the board size is given after the first node: 9×9"),
        (
            "(;SZ[9]PB[Jos\u{e9}]CA[GBK];B[ee])",
            "the text is not in the character set that the record names, “GBK”: read as UTF-8",
        ),
        ("(;SZ[9] so so ;B[ee])", "unexpected text \"so\" (at byte 8)"),
        (
            // A ko is recaptured immediately.
            "(;SZ[5]AB[ba][ab][bc]AW[ca][db][cc][bb]PL[B];B[cb];W[bb])",
            "move 2, White B4: superko; the rules (chinese-kgs) forbid it, but it was played",
        ),
    ];
    for (text, warning) in rows {
        let followed = follow(text, None);
        let lines: Vec<String> = followed.lines().collect();
        assert_eq!((followed.fault.clone(), lines.join("\n").as_str()), (None, warning), "{text}");
    }
}

#[test]
fn later_faults_are_only_warnings() {
    let text = "(;SZ[9];B[ee];W[cc];B[ee];W[dd]";
    let behind = follow(text, Some(3));
    assert_eq!((behind.game.records().len(), behind.fault), (2, None));
    let warnings: Vec<String> = behind.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["the record is truncated: its closing parenthesis is missing (at byte 31)"]);
    assert!(follow(text, Some(4)).fault.is_some(), "the third move cannot be played");
}

#[test]
fn komi_is_that_of_the_record_or_of_its_rules() {
    let komi = |facts: &str| follow(&format!("(;SZ[9]{facts};W[ee])"), None).game.komi();
    assert_eq!(komi("KM[5.5]RU[Japanese]"), 5.5);
    assert_eq!(komi("KM[6目半]"), 6.5);
    assert_eq!(komi("RU[Japanese Rules]"), 6.5);
    assert_eq!(komi("RU[中国规则]"), 7.5);
    assert_eq!(komi("RU[NZ]"), 7.0);
    assert_eq!(komi(""), Rules::default().usual_komi());
    assert_eq!(komi("KM[]"), Rules::default().usual_komi());
    assert_eq!(komi("KM[many]RU[Japanese]"), 6.5);
    assert_eq!(komi("HA[2]RU[Japanese]"), 0.5);
    assert_eq!(komi("HA[0]RU[Japanese]"), 6.5);
    for preset in PRESETS {
        for name in preset.names {
            assert_eq!(komi(&format!("RU[{name}]")), preset.komi, "{name}");
        }
    }
}

#[test]
fn side_to_move_after_set_up() {
    use Color::{Black, White};
    for (text, to_move, handicap) in [
        ("(;SZ[9]AB[cc][gg])", White, 2),
        ("(;SZ[9]AB[cc][gg];W[ee])", Black, 2),
        ("(;SZ[9]AB[cc][gg];B[ee])", White, 2),
        ("(;SZ[9]AB[cc][gg]PL[B])", Black, 2),
        ("(;SZ[9]AB[cc][gg]HA[0])", Black, 0),
        ("(;SZ[9]AB[cc][gg]HA[2])", White, 2),
        ("(;SZ[9]AB[cc])", Black, 0),
        ("(;SZ[9]AB[cc][gg]AW[ee])", Black, 0),
        ("(;SZ[9]AW[ee][cc])", Black, 0),
        ("(;SZ[9]AB[cc][gg]KP[3:1])", Black, 0),
        ("(;SZ[9]AB[cc][gg][cg];AE[cg])", White, 3),
    ] {
        let game = follow(text, None).game;
        assert_eq!((game.to_move(), game.handicap()), (to_move, handicap), "{text}");
    }
    // At the position before the first move, the side of that move is to move.
    for (text, to_move) in [("(;SZ[9]AB[cc][gg];B[ee])", Black), ("(;SZ[9]AB[cc];W[ee])", White)] {
        assert_eq!(follow(text, Some(1)).game.to_move(), to_move, "{text}");
    }
}

#[test]
fn the_size_may_stand_behind_the_root() {
    for (text, side) in [
        ("(;GM[1];SZ[9];B[ee])", 9),
        ("(;GM[1];C[x];SZ[13]AB[cc])", 13),
        ("(;SZ[9];SZ[13];B[ee])", 9),
        ("(;GM[1];B[ee](;C[SZ])(;SZ[9]))", 19),
        ("(;GM[1](;SZ[9];B[ee]))", 9),
        ("(;GM[1]SZ[１３])", 13),
        ("(;GM[1]SZ[13x13])", 13),
    ] {
        assert_eq!(follow(text, None).game.size(), BoardSize::square(side).unwrap(), "{text}");
        assert_eq!(
            crate::sgf::Tree::parse(text.as_bytes()).unwrap().size(),
            BoardSize::square(side).unwrap()
        );
    }
}
