//! Tests of the rules against numbers and positions that were published or computed by other programs.
//!
//! Sources: John Tromp and Gunnar Farnebäck, "Combinatorics of Go", and the tables at <https://tromp.github.io/go/>.
//! Gunnar Farnebäck's GoGameGraphs. The rules tests of KataGo and Fuego for the positions with superko.

use kosumi_go::board::text::parse_drawing;
use kosumi_go::board::{Board, BoardSize, Color, Move, Point};
use kosumi_go::game::{Game, IllegalMove};
use kosumi_go::perft;
use kosumi_go::rng::Rng;
use kosumi_go::rules::{KoRule, Rules};

fn size(columns: usize, rows: usize) -> BoardSize {
    BoardSize::new(columns, rows).expect("a size between 1 and 25")
}

fn rules(ko: KoRule, suicide: bool) -> Rules {
    Rules { ko, suicide, ..Rules::default() }
}

// ---------------------------------------------------------------------------------------- counts of positions

#[test]
fn numbers_of_legal_positions() {
    const BY_WIDTH: [&[u128]; 9] = [
        &[
            1, 5, 15, 41, 113, 313, 867, 2401, 6649, 18413, 50991, 141209, 391049, 1082929, 2998947, 8304961,
            22998865, 63690581, 176377839, 488441801,
        ],
        &[
            5,
            57,
            489,
            4125,
            35117,
            299681,
            2557605,
            21826045,
            186255781,
            1589441093,
            13563736693,
            115748216413,
        ],
        &[
            15,
            489,
            12675,
            321689,
            8180343,
            208144601,
            5296282323,
            134764135265,
            3429075477543,
            87252874774409,
        ],
        &[
            41,
            4125,
            321689,
            24318165,
            1840058693,
            139304759213,
            10546705714473,
            798484634637577,
            60452746472773069,
        ],
        &[
            113,
            35117,
            8180343,
            1840058693,
            414295148741,
            93332304864173,
            21026744638200555,
            4737083489364726605,
            1067209721257393078309,
        ],
        &[
            313,
            299681,
            208144601,
            139304759213,
            93332304864173,
            62567386502084877,
            41945191530093646965,
            28119999225435593650933,
            18851597604685205650600029,
        ],
        &[
            867,
            2557605,
            5296282323,
            10546705714473,
            21026744638200555,
            41945191530093646965,
            83677847847984287628595,
            166931297609667912727898521,
            333015747614613137707179139735,
        ],
        // For wider boards from 8 columns on, see the ignored test below.
        &[2401, 21826045, 134764135265, 798484634637577, 4737083489364726605],
        &[6649, 186255781, 3429075477543, 60452746472773069, 1067209721257393078309],
    ];
    for (width, row) in BY_WIDTH.iter().enumerate() {
        for (length, &expected) in row.iter().enumerate() {
            let size = size(width + 1, length + 1);
            assert_eq!(perft::positions(size), Some(expected), "{size}");
        }
    }
}

#[test]
#[ignore = "a minute: cargo test --release -p kosumi-go --test rules rules_ground_truth -- --ignored"]
fn numbers_of_legal_positions_of_large_boards() {
    let expected = [(8, 8, 990966953618170260281935463385), (9, 9, 103919148791293834318983090438798793469)];
    for (columns, rows, expected) in expected {
        assert_eq!(perft::positions(size(columns, rows)), Some(expected), "{columns}×{rows}");
    }
    assert_eq!(perft::positions(size(6, 25)), None, "more than 128 bits");
}

#[test]
fn one_in_eighty_fillings_of_a_large_board_is_legal() {
    // The number of legal positions of 19×19 is known: 1.196 % of 3^361.
    const SAMPLES: u32 = 40_000;
    let board = size(19, 19);
    let mut rng = Rng::new(361);
    let mut legal = 0;
    for _ in 0..SAMPLES {
        let stones: Vec<(Point, Color)> = board
            .points()
            .filter_map(|point| {
                Some((point, [None, Some(Color::Black), Some(Color::White)][rng.below(3) as usize]?))
            })
            .collect();
        legal += u32::from(Board::from_stones(board, stones).is_ok());
    }
    let expected = 0.01196 * f64::from(SAMPLES);
    assert!((f64::from(legal) - expected).abs() < 4.0 * expected.sqrt(), "{legal}, not {expected}");
}

#[test]
fn plays_from_all_positions_of_small_boards() {
    // Columns, rows. Positions, edges with and without suicide, suicides of several stones and of a single one.
    const TABLE: [(usize, usize, [u64; 5]); 17] = [
        (1, 1, [1, 0, 0, 0, 2]),
        (1, 2, [5, 12, 8, 4, 0]),
        (1, 3, [15, 42, 36, 6, 4]),
        (1, 4, [41, 144, 128, 16, 16]),
        (1, 5, [113, 492, 438, 54, 46]),
        (1, 6, [313, 1620, 1452, 168, 136]),
        (1, 7, [867, 5190, 4682, 508, 408]),
        (1, 8, [2401, 16320, 14792, 1528, 1216]),
        (1, 9, [6649, 50592, 46020, 4572, 3602]),
        (1, 10, [18413, 155052, 141448, 13604, 10624]),
        (2, 2, [57, 192, 184, 8, 8]),
        (2, 3, [489, 2312, 2220, 92, 116]),
        (2, 4, [4125, 25608, 24456, 1152, 1176]),
        (2, 5, [35117, 269608, 258268, 11340, 11188]),
        (2, 6, [299681, 2737544, 2632456, 105088, 105520]),
        (3, 3, [12675, 86200, 83502, 2698, 3726]),
        (3, 4, [321689, 2873612, 2795884, 77728, 110356]),
    ];
    for (columns, rows, [positions, with_suicide, without, multi, single]) in TABLE {
        let expected = |edges| perft::EdgeCounts {
            positions,
            edges,
            multi_stone_suicides: multi,
            single_stone_suicides: single,
        };
        let board = size(columns, rows);
        assert_eq!(perft::edges(board, true), expected(with_suicide), "{board}");
        if columns * rows < 12 {
            assert_eq!(perft::edges(size(rows, columns), false), expected(without), "{board} turned");
        }
    }
}

// -------------------------------------------------------------------------------------------- counts of games

#[track_caller]
fn check_games(columns: usize, rows: usize, suicide: bool, total: u128, longest: usize) -> perft::GameCounts {
    let games = perft::games(size(columns, rows), suicide, usize::MAX);
    assert_eq!((games.total, games.by_moves.len() - 1), (total, longest), "{columns}×{rows}");
    games
}

#[test]
fn numbers_of_games() {
    for suicide in [true, false] {
        // A board with a single point has no legal play.
        check_games(1, 1, suicide, 1, 0);
    }
    check_games(1, 2, true, 9, 2);
    check_games(2, 1, true, 9, 2);
    let games = check_games(1, 3, true, 907, 14);
    assert_eq!(games.by_moves, [1, 6, 20, 28, 44, 48, 48, 64, 80, 96, 128, 148, 124, 60, 12]);
    assert_eq!(perft::games(size(1, 2), false, usize::MAX).total, 9);
    assert_eq!(perft::games(size(1, 3), false, usize::MAX).total, 907);
}

#[test]
fn short_games_of_two_by_two() {
    let games = perft::games(size(2, 2), true, 9);
    assert_eq!(games.by_moves, [1, 8, 48, 176, 304, 784, 2096, 4592, 9232, 20336]);
}

#[test]
#[ignore = "half a minute: cargo test --release -p kosumi-go --test rules one_by_four -- --ignored"]
fn numbers_of_games_on_one_by_four() {
    check_games(1, 4, true, 2_098_407_841, 40);
    assert_eq!(perft::games(size(1, 4), false, usize::MAX).total, 719_178_893);
}

// ---------------------------------------------------------------------------------------- counts of sequences

#[track_caller]
fn check_sequences(columns: usize, rows: usize, ko: KoRule, suicide: bool, expected: &[u64]) {
    let game = Game::new(size(columns, rows), rules(ko, suicide), 7.5);
    let counts = perft::sequences(&game, expected.len() - 1);
    let counts: Vec<u64> = counts.iter().map(|counts| counts.sequences).collect();
    assert_eq!(counts, expected, "{columns}×{rows} {ko:?} suicide {suicide}");
}

#[test]
fn numbers_of_sequences() {
    use KoRule::{NaturalSituational, Positional, Simple, Situational};
    let psk = Positional;
    check_sequences(1, 2, psk, true, &[1, 3, 7, 8, 6, 2, 0, 0]);
    check_sequences(1, 2, Situational, true, &[1, 3, 7, 10, 12, 12, 10, 6, 2, 0]);
    check_sequences(1, 3, psk, true, &[1, 4, 11, 22, 41, 58, 78, 98, 110, 116, 128, 154, 182]);
    for suicide in [true, false] {
        let expected = [1, 5, 21, 68, 156, 316, 604, 1088, 2184, 4184, 8024, 13800, 23560];
        check_sequences(2, 2, psk, suicide, &expected);
    }
    check_sequences(2, 2, Situational, false, &[1, 5, 21, 68, 156, 316, 604, 1112, 2312, 4544]);
    check_sequences(2, 2, Simple, false, &[1, 5, 21, 68, 156, 316, 604, 1168, 2592, 5768]);
    check_sequences(2, 3, psk, false, &[1, 7, 43, 222, 934, 3242, 8666, 20760, 45332, 97284]);
    check_sequences(3, 2, Situational, false, &[1, 7, 43, 222, 934, 3242, 8666, 20760]);
    check_sequences(3, 3, psk, false, &[1, 10, 91, 738, 5281, 33384, 179712]);
    check_sequences(3, 3, psk, true, &[1, 10, 91, 738, 5281, 33384, 180768]);
    for ko in [Simple, Positional, Situational, NaturalSituational] {
        check_sequences(5, 5, ko, true, &[1, 26, 651, 15650, 361041]);
        check_sequences(7, 4, ko, false, &[1, 29, 813, 21980]);
    }
    check_sequences(4, 7, psk, true, &[1, 29, 813, 21980, 572868]);
    check_sequences(9, 9, psk, false, &[1, 82, 6643, 531522]);
}

#[test]
fn numbers_of_finished_sequences() {
    let game = Game::new(size(2, 2), rules(KoRule::Positional, true), 0.0);
    let counts = perft::sequences(&game, 14);
    let finished: Vec<u64> = counts.iter().map(|counts| counts.finished).collect();
    assert_eq!(finished, [0, 0, 1, 4, 16, 48, 92, 176, 336, 576, 1272, 2336, 4416, 7048, 12096]);
}

// --------------------------------------------------------------------------------------- positions with superko

/// Points that are banned after a move under simple ko, positional and situational superko.
type Bans = [&'static [Coordinates]; 3];

/// Column from the left and row from the top, both from 0.
type Coordinates = (usize, usize);

/// A play (or a pass), and the points that are banned after it, if known.
type LineMove = (Option<Coordinates>, Option<Bans>);

/// Plays a line of moves and compares the points that the ko rule alone forbids to the side to move.
#[track_caller]
fn check_bans(drawing: &str, suicide: bool, line: &[LineMove]) {
    let (size, _) = parse_drawing(drawing).expect("drawing");
    let board: Board = drawing.parse().expect("legal position");
    let at = |(column, from_top): Coordinates| Point::new(column, size.rows() - 1 - from_top);
    for (index, ko) in [KoRule::Simple, KoRule::Positional, KoRule::Situational].into_iter().enumerate() {
        let mut game = Game::from_board(board, Color::Black, rules(ko, suicide), 0.0);
        for (number, (played, bans)) in line.iter().enumerate() {
            let color = game.to_move();
            let mv = played.map_or(Move::Pass, |point| Move::Play(at(point)));
            assert_eq!(game.play(color, mv), Ok(()), "{ko:?}: move {} {mv}\n{}", number + 1, game.board());
            let Some(bans) = bans else { continue };
            let mut expected: Vec<Point> = bans[index].iter().copied().map(at).collect();
            expected.sort();
            let banned: Vec<Point> = banned(&game);
            assert_eq!(banned, expected, "{ko:?}: after move {}\n{}", number + 1, game.board());
        }
    }
}

fn banned(game: &Game) -> Vec<Point> {
    let refused = |point: Point| {
        matches!(game.check(game.to_move(), Move::Play(point)), Err(IllegalMove::Ko | IllegalMove::Superko))
    };
    game.size().points().filter(|&point| refused(point)).collect()
}

const NONE: Bans = [&[], &[], &[]];

#[test]
fn sending_two_returning_one_and_a_second_ko() {
    check_bans(
        ". o . x x o
         o x x x o .
         o . x . o o
         x x . o o .
         o o o o . o",
        false,
        &[
            (Some((5, 1)), Some([&[(5, 0)], &[(5, 0)], &[(5, 0)]])),
            (None, Some(NONE)),
            (Some((3, 2)), Some(NONE)),
            (Some((2, 0)), Some(NONE)),
            (Some((0, 0)), Some([&[], &[(1, 0)], &[]])),
            (Some((5, 0)), Some([&[(5, 1)], &[(5, 1)], &[(5, 1)]])),
            (None, Some(NONE)),
            (Some((1, 0)), Some([&[], &[(5, 1)], &[(5, 1)]])),
            (None, Some(NONE)),
            (Some((2, 0)), Some([&[], &[(0, 0), (5, 1)], &[(0, 0)]])),
        ],
    );
}

#[test]
fn superko_by_suicide_of_several_stones() {
    check_bans(
        ". o x o . x
         o x x o o o
         x x . . . .
         . . . . . .
         . . . . . .",
        true,
        &[
            (Some((4, 0)), None),
            (None, Some([&[], &[(5, 0)], &[]])),
            (Some((4, 0)), None),
            (Some((0, 0)), None),
            (Some((5, 0)), None),
            (Some((1, 0)), None),
            (None, Some([&[], &[(0, 1)], &[(0, 1)]])),
            (Some((0, 0)), None),
            (Some((4, 0)), Some([&[], &[(0, 1)], &[(0, 1)]])),
        ],
    );
}

#[test]
fn eternal_life() {
    check_bans(
        ". . . . . . . .
         o o o o o o . .
         x x x x x o . .
         x o o o x x o o
         . o . x . o x .",
        false,
        &[
            (Some((2, 4)), Some(NONE)),
            (Some((4, 4)), Some(NONE)),
            (Some((3, 4)), Some([&[], &[(5, 4)], &[(5, 4)]])),
        ],
    );
}

#[test]
fn triple_ko() {
    check_bans(
        "o o o o o o o
         o x o . o . o
         x . x o x o x
         x x x x x x x
         o o o o o o o
         . . . . . . .",
        false,
        &[
            (Some((3, 1)), Some([&[(3, 2)]; 3])),
            (Some((1, 2)), Some([&[(1, 1)]; 3])),
            (Some((5, 1)), Some([&[(5, 2)]; 3])),
            (Some((3, 2)), Some([&[(3, 1)]; 3])),
            (Some((1, 1)), Some([&[(1, 2)], &[(1, 2), (5, 2)], &[(1, 2), (5, 2)]])),
        ],
    );
}

#[test]
fn taking_back_with_more_than_one_stone_is_no_ko() {
    // Black's stone captures one white stone and joins two others. White then captures these three.
    check_bans(
        ". . . . . .
         . o o o o .
         o o . x o .
         . x o x o .",
        false,
        &[(Some((2, 2)), Some(NONE)), (Some((2, 3)), Some(NONE))],
    );
}

/// Plays a line such as `B a2 W b1` from the empty board.
#[track_caller]
fn played(size: BoardSize, ko: KoRule, suicide: bool, moves: &str) -> Game {
    let mut game = Game::new(size, rules(ko, suicide), 7.5);
    let words: Vec<&str> = moves.split_whitespace().collect();
    for pair in words.chunks(2) {
        let color = if pair[0] == "B" { Color::Black } else { Color::White };
        assert_eq!(game.play(color, vertex(pair[1])), Ok(()), "{ko:?} {pair:?}");
    }
    game
}

fn vertex(text: &str) -> Move {
    if text == "pass" {
        return Move::Pass;
    }
    let column = "abcdefghjklmnopqrstuvwxyz".find(&text[..1]).expect("column");
    let row: usize = text[1..].parse().expect("row");
    Move::Play(Point::new(column, row - 1))
}

/// Checks which of simple ko, positional, situational and natural situational superko forbid `point` to the side to
/// move after `moves`.
#[track_caller]
fn check_rules(size: BoardSize, suicide: bool, moves: &str, point: &str, forbidden: [bool; 4]) {
    let superko = IllegalMove::Superko;
    let all = [
        (KoRule::Simple, IllegalMove::Ko),
        (KoRule::Positional, superko),
        (KoRule::Situational, superko),
        (KoRule::NaturalSituational, superko),
    ];
    for ((ko, reason), forbidden) in all.into_iter().zip(forbidden) {
        let game = played(size, ko, suicide, moves);
        let expected = if forbidden { Err(reason) } else { Ok(()) };
        assert_eq!(game.check(game.to_move(), vertex(point)), expected, "{ko:?}: {moves}\n{}", game.board());
    }
}

#[test]
fn rules_of_repetition_differ() {
    const FORBIDDEN: bool = true;
    const ALLOWED: bool = false;
    // An ordinary ko.
    check_rules(size(1, 4), false, "B a2 W a3 B a4", "a3", [FORBIDDEN; 4]);
    // A long cycle: the same stones with the same side to move, created by the same side.
    let cycle = [ALLOWED, FORBIDDEN, FORBIDDEN, FORBIDDEN];
    check_rules(size(2, 2), false, "B a1 W b1 B a2 W b2 B a1 W a2", "a1", cycle);
    // The same stones, but with the other side to move. The longer line was posted to the computer-go list in 2005: the
    // last move captures two stones, and White's throw-in recreates a position in which White was to move.
    let turn = [ALLOWED, FORBIDDEN, ALLOWED, ALLOWED];
    check_rules(size(2, 2), false, "B a1 W b1 B a2 W pass B b2 W b1", "a1", turn);
    check_rules(size(9, 9), false, "B a2 W b1 B b2 W c2 B b3 W d1 B a3 W a1 B c1", "b1", turn);
    // The same side was to move because Black passed. White had created the position, and Black may create it once.
    // Simple ko only considers the stones.
    let pass = [FORBIDDEN, FORBIDDEN, FORBIDDEN, ALLOWED];
    check_rules(size(1, 4), false, "B a2 W a3 B pass W a1", "a2", pass);
    let pass = [ALLOWED, FORBIDDEN, FORBIDDEN, ALLOWED];
    check_rules(size(2, 2), false, "B a1 W b1 B pass W b2 B a2 W b1 B b2 W b1", "a1", pass);
    // No play created the first position, so a suicide may recreate the empty board.
    check_rules(size(1, 3), true, "B a1 W a2 B pass W a1 B pass", "a3", pass);
}

#[test]
fn the_suicide_of_a_single_stone_is_never_allowed() {
    // The text of the Tromp-Taylor rules would allow it once under situational superko, as a kind of pass.
    for ko in [KoRule::Simple, KoRule::Positional, KoRule::Situational, KoRule::NaturalSituational] {
        let game = played(size(2, 2), ko, true, "B a2 W pass B b1");
        assert_eq!(game.check(Color::White, vertex("a1")), Err(IllegalMove::Suicide), "{ko:?}");
        let game = Game::new(size(1, 1), rules(ko, true), 7.5);
        assert_eq!(game.check(Color::Black, vertex("a1")), Err(IllegalMove::Suicide), "{ko:?}");
    }
}
