//! Random games against slow reference implementations: the board against flood fill, the history against a plain list
//! of all positions, the line of a search against a game, undo against copies.

use crate::reference::ReferenceBoard;
use kosumi_go::board::{Board, BoardSize, ByColor, Cell, Color, Key, Move, Point, Symmetry};
use kosumi_go::game::{Game, IllegalMove, Line};
use kosumi_go::rules::{KoRule, Rules};
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

const KO_RULES: [KoRule; 4] =
    [KoRule::Simple, KoRule::Positional, KoRule::Situational, KoRule::NaturalSituational];

fn rules(ko: KoRule, suicide: bool) -> Rules {
    Rules { ko, suicide, ..Rules::default() }
}

fn config(cases: u32) -> ProptestConfig {
    // A failure prints its input, so no seed files are written.
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

prop_compose! {
    /// Generates boards of every size, small ones more often.
    fn any_size()(wide in any::<bool>(), a in 1usize..=25, b in 1usize..=25) -> BoardSize {
        let side = |n: usize| if wide { n } else { 1 + n % 7 };
        BoardSize::new(side(a), side(b)).expect("sides are between 1 and 25")
    }
}

prop_compose! {
    /// Generates boards on which a random game soon repeats positions.
    fn tiny_size()(columns in 1usize..=4, rows in 1usize..=4) -> BoardSize {
        BoardSize::new(columns, rows).expect("sides are between 1 and 25")
    }
}

/// Returns up to six columns and rows anywhere on the board. Moves are drawn from them, so that stones meet and are
/// captured on large boards too, at every edge.
fn window(size: BoardSize, place: u64) -> Vec<Point> {
    let start = |length: usize, pick: u64| match length.saturating_sub(6) {
        0 => 0,
        limit => [0, limit, limit / 2][pick as usize % 3],
    };
    let (left, bottom) = (start(size.columns(), place & 0xff), start(size.rows(), place >> 8));
    let inside = |point: &Point| {
        (left..left + 6).contains(&point.column()) && (bottom..bottom + 6).contains(&point.row())
    };
    size.points().filter(inside).collect()
}

fn assert_same_stones(board: &Board, reference: &ReferenceBoard) {
    assert_eq!(ReferenceBoard::from(board), *reference, "\n{board}");
}

/// Compares all queries of the board about a point with flood fill.
fn check_point(board: &Board, reference: &ReferenceBoard, point: Point) {
    assert_eq!(board.cell(point), reference.cell(point));
    if board.cell(point) != Cell::Empty {
        let mut chain: Vec<Point> = board.chain(point).collect();
        let mut connected = reference.connected(point);
        chain.sort();
        connected.sort();
        assert_eq!(chain, connected, "chain of {point}\n{board}");
        let liberties = reference.liberties(point);
        assert_eq!(board.liberty_count(point), liberties.len(), "liberties of {point}\n{board}");
        let (count, mut found) = board.liberties::<30>(point);
        found[..count].sort();
        assert_eq!(&found[..count], &liberties[..liberties.len().min(30)]);
        let (count, found) = board.liberties::<2>(point);
        assert_eq!(count, liberties.len().min(2));
        assert!(found[..count].iter().all(|liberty| liberties.contains(liberty)));
        let only = if let [only] = liberties[..] { Some(only) } else { None };
        assert_eq!(board.atari_liberty(point), only, "{point}\n{board}");
        assert_eq!(board.in_atari(point), only.is_some());
        return;
    }
    for color in Color::BOTH {
        let after = reference.after(point, color);
        let suicide = after.cell(point) == Cell::Empty;
        assert_eq!(board.is_suicide(point, color), suicide, "{color} {point}\n{board}");
        assert_eq!(board.is_single_stone_suicide(point, color), suicide && after == *reference);
        let stones = |board: &ReferenceBoard, color: Color| {
            board.size().points().filter(|&point| board.cell(point) == color.into()).count()
        };
        let captures = stones(&after, color.opponent()) < stones(reference, color.opponent());
        assert_eq!(board.captures_any(point, color), captures, "{color} {point}\n{board}");
        let enclosed = reference.adjacent(point).iter().all(|&near| reference.cell(near) == color.into());
        assert_eq!(board.is_enclosed(point, color), enclosed);
        let outcome = board.outcome(point, color);
        let mut played = *board;
        played.play_unchecked(point, color);
        assert_same_stones(&played, &after);
        assert_eq!((outcome.key, outcome.stones), (played.key(), played.stone_count()));
    }
}

/// Returns the symmetric image of a board, built stone by stone.
fn image(board: &Board, symmetry: Symmetry) -> Board {
    let stones = board.stones().map(|(point, color)| (symmetry.apply(board.size(), point), color));
    Board::from_stones(board.size(), stones).expect("an image of a legal position")
}

proptest! {
    #![proptest_config(config(192))]

    #[test]
    fn the_board_agrees_with_flood_fill(
        size in any_size(),
        place in any::<u64>(),
        suicide in any::<bool>(),
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
    ) {
        let points = window(size, place);
        let mut board = Board::new(size);
        let mut reference = ReferenceBoard::new(size);
        let mut prisoners = ByColor::new(0, 0);
        let mut color = Color::Black;
        // Position before the latest move, if that was a play, and the side that made it.
        let mut before: Option<(ReferenceBoard, Color)> = None;
        for (number, &byte) in bytes.iter().enumerate() {
            if byte >= 250 {
                // A pass, or two moves of the same colour in a row.
                if byte < 253 {
                    board.pass();
                    before = None;
                }
                color = color.opponent();
                continue;
            }
            // Takes the first playable point from this one on.
            let start = usize::from(byte) % points.len();
            let playable = |&&point: &&Point| {
                reference.cell(point) == Cell::Empty
                    && (!reference.is_suicide(point, color)
                        || suicide && reference.after(point, color) != reference)
            };
            let Some(&point) = points[start..].iter().chain(&points[..start]).find(playable) else {
                board.pass();
                before = None;
                color = color.opponent();
                continue;
            };
            let after = reference.after(point, color);
            // Definition of simple ko: the play would undo what the opponent just did.
            let repeats = before.as_ref().is_some_and(|(old, by)| *by != color && *old == after);
            prop_assert_eq!(board.is_ko(point, color), repeats, "{} {}\n{}", color, point, board);

            let stones = |board: &ReferenceBoard, color: Color| {
                board.size().points().filter(|&point| board.cell(point) == color.into()).count() as u32
            };
            let enemy = color.opponent();
            let captured = stones(&reference, enemy) - stones(&after, enemy);
            let suicided = stones(&reference, color) + 1 - stones(&after, color);
            let played = board.play_unchecked(point, color);
            prop_assert_eq!((u32::from(played.captured), u32::from(played.suicided)), (captured, suicided));
            prisoners[enemy] += captured;
            prisoners[color] += suicided;
            for color in Color::BOTH {
                prop_assert_eq!(board.prisoners(color), prisoners[color]);
            }
            before = Some((reference, color));
            reference = after;
            assert_same_stones(&board, &reference);
            prop_assert_eq!(board.key(), board.recomputed_key());
            prop_assert!(reference.is_legal_position());
            color = enemy;
            if number % 16 == 0 {
                board.check_consistency();
                points.iter().for_each(|&point| check_point(&board, &reference, point));
                // Only the opponent's latest move can create a ko.
                for &point in points.iter().filter(|&&point| reference.cell(point) == Cell::Empty) {
                    let undone = before.as_ref().is_some_and(|(old, _)| reference.after(point, color) == *old);
                    prop_assert_eq!(board.is_ko(point, color), undone);
                    prop_assert!(!board.is_ko(point, color.opponent()));
                }
            }
        }
        board.check_consistency();
        let rebuilt = board.rebuilt();
        rebuilt.check_consistency();
        prop_assert_eq!(rebuilt, board);
        prop_assert_eq!((rebuilt.key(), rebuilt.ko()), (board.key(), board.ko()));
        let mut copy = Board::new(size);
        copy.copy_from(&board);
        copy.check_consistency();
        prop_assert_eq!(copy, board);
        let mut images = Vec::new();
        for symmetry in Symmetry::of(size) {
            let image = image(&board, symmetry);
            prop_assert_eq!(image.canonical_key(), board.canonical_key());
            images.push(image.key());
        }
        prop_assert!(images.contains(&board.canonical_key()));
        let redrawn: Board = board.to_string().parse().expect("a drawing of a board is a drawing");
        prop_assert_eq!(redrawn.key(), board.key());
    }
}

// --------------------------------------------------------------------------------------------------- history

/// A position of a game with the data that the rules refer to.
struct Entry {
    position: ReferenceBoard,
    to_move: Color,
    /// Side that created the position by a play. `None` for the first position and after a pass.
    creator: Option<Color>,
}

/// Reference implementation of the rules on a plain list of all positions of the game.
struct Oracle {
    rules: Rules,
    entries: Vec<Entry>,
}

impl Oracle {
    fn new(size: BoardSize, rules: Rules) -> Oracle {
        let first = Entry { position: ReferenceBoard::new(size), to_move: Color::Black, creator: None };
        Oracle { rules, entries: vec![first] }
    }

    fn now(&self) -> &ReferenceBoard {
        &self.entries[self.entries.len() - 1].position
    }

    fn check(&self, color: Color, point: Point) -> Result<(), IllegalMove> {
        let now = self.now();
        if now.cell(point) != Cell::Empty {
            return Err(IllegalMove::Occupied);
        }
        let after = now.after(point, color);
        if after.cell(point) == Cell::Empty && (!self.rules.suicide || after == *now) {
            return Err(IllegalMove::Suicide);
        }
        let forbidden = |entry: &Entry| match self.rules.ko {
            KoRule::Simple => false,
            KoRule::Positional => true,
            KoRule::Situational => entry.to_move == color.opponent(),
            KoRule::NaturalSituational => entry.creator == Some(color),
        };
        if self.rules.ko == KoRule::Simple {
            // Position before the opponent's last move. After a pass, it equals the current one.
            if let [.., before, last] = &self.entries[..]
                && last.creator == Some(color.opponent())
                && before.position == after
            {
                return Err(IllegalMove::Ko);
            }
        } else if self.entries.iter().any(|entry| forbidden(entry) && entry.position == after) {
            return Err(IllegalMove::Superko);
        }
        Ok(())
    }

    fn play(&mut self, color: Color, mv: Move) {
        let (position, creator) = match mv {
            Move::Play(point) => (self.now().after(point, color), Some(color)),
            Move::Pass => (self.now().clone(), None),
        };
        self.entries.push(Entry { position, to_move: color.opponent(), creator });
    }
}

/// State that undoing a move must restore.
#[derive(Clone, PartialEq, Debug)]
struct Snapshot {
    board: Board,
    key: Key,
    prisoners: [u32; 2],
    to_move: Color,
    passes: u8,
    graph_key: Key,
    entries: usize,
    legal: [Vec<Point>; 2],
    moves: usize,
}

fn snapshot(game: &Game) -> Snapshot {
    Snapshot {
        board: *game.board(),
        key: game.board().key(),
        prisoners: Color::BOTH.map(|color| game.board().prisoners(color)),
        to_move: game.to_move(),
        passes: game.passes(),
        graph_key: game.graph_key(),
        entries: game.history().len(),
        legal: Color::BOTH.map(|color| game.legal_points(color)),
        moves: game.records().len(),
    }
}

/// Number of bans that occurred in the test below, over all its cases.
static BANS: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];

/// Plays a random game. After every move, the game is compared with the oracle for both colours on all points.
fn compare_with_oracle(size: BoardSize, rules: Rules, bytes: &[u8]) {
    let mut game = Game::new(size, rules, 7.5);
    let mut oracle = Oracle::new(size, rules);
    let points: Vec<Point> = size.points().collect();
    let mut snapshots = Vec::new();
    for &byte in bytes {
        for color in Color::BOTH {
            let mut banned = Vec::new();
            for &point in &points {
                let expected = oracle.check(color, point);
                assert_eq!(
                    game.check(color, Move::Play(point)),
                    expected,
                    "{color} {point}\n{}",
                    game.board()
                );
                if matches!(expected, Err(IllegalMove::Superko | IllegalMove::Ko)) {
                    BANS[rules.ko as usize].fetch_add(1, Ordering::Relaxed);
                    banned.push(point);
                }
            }
            if rules.ko != KoRule::Simple {
                let mut listed = game.superko_banned(color);
                listed.sort();
                assert_eq!(listed, banned, "{color}\n{}", game.board());
            }
        }
        // One in sixteen moves is made out of turn.
        let color = if byte >= 240 { game.to_move().opponent() } else { game.to_move() };
        let legal = game.legal_points(color);
        let choice = usize::from(byte) % (legal.len() + 1);
        let mv = legal.get(choice).map_or(Move::Pass, |&point| Move::Play(point));
        let before = snapshot(&game);
        // An illegal move changes nothing.
        for &point in &points {
            if !legal.contains(&point) {
                assert!(game.play(color, Move::Play(point)).is_err());
            }
        }
        assert_eq!(snapshot(&game), before);
        assert_eq!(game.play(color, mv), Ok(()));
        oracle.play(color, mv);
        assert_same_stones(game.board(), oracle.now());
        game.board().check_consistency();
        snapshots.push(before);
    }
    let last = snapshot(&game);
    let records = game.records().to_vec();
    for expected in snapshots.iter().rev() {
        assert!(game.undo().is_some());
        game.board().check_consistency();
        assert_eq!(snapshot(&game), *expected);
    }
    assert_eq!(game.undo(), None);
    assert_eq!(snapshot(&game), snapshot(&Game::new(size, rules, 7.5)));
    for record in records {
        assert_eq!(game.play(record.color, record.mv), Ok(()));
    }
    assert_eq!(snapshot(&game), last);
}

#[test]
fn superko_agrees_with_a_list_of_all_positions() {
    let runner_config = config(160);
    let strategy = (tiny_size(), any::<bool>(), proptest::collection::vec(any::<u8>(), 0..120));
    let mut runner = proptest::test_runner::TestRunner::new(runner_config);
    let result = runner.run(&strategy, |(size, suicide, bytes)| {
        KO_RULES.iter().for_each(|&ko| compare_with_oracle(size, rules(ko, suicide), &bytes));
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    for ko in KO_RULES {
        let bans = BANS[ko as usize].load(Ordering::Relaxed);
        assert!(bans > 100, "{ko:?}: only {bans} bans met");
    }
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn a_line_of_a_search_obeys_the_rules_of_the_game(
        size in tiny_size(),
        ko in 0usize..4,
        suicide in any::<bool>(),
        first in proptest::collection::vec(any::<u8>(), 0..60),
        then in proptest::collection::vec(any::<u8>(), 1..60),
    ) {
        let rules = rules(KO_RULES[ko], suicide);
        let choose = |game: &Game, byte: u8| {
            let legal = game.legal_points(game.to_move());
            legal.get(usize::from(byte) % (legal.len() + 1)).map_or(Move::Pass, |&point| Move::Play(point))
        };
        let mut root = Game::new(size, rules, 7.5);
        for &byte in &first {
            let mv = choose(&root, byte);
            prop_assert_eq!(root.play(root.to_move(), mv), Ok(()));
        }
        let mut line = Line::new(&root);
        // Two rounds check that nothing remains from the first one. The second line differs from the first.
        for turn in 0..2u8 {
            let mut game = root.clone();
            for (number, &byte) in then.iter().enumerate() {
                for point in size.points() {
                    let expected = game.check(game.to_move(), Move::Play(point));
                    prop_assert_eq!(line.check(point), expected, "{}\n{}", point, game.board());
                }
                prop_assert_eq!(line.graph_key(), game.graph_key());
                prop_assert_eq!((line.to_move(), line.passes()), (game.to_move(), game.passes()));
                prop_assert_eq!(line.last_moves(), game.last_moves());
                prop_assert_eq!((line.board(), line.moves().len()), (game.board(), number));
                let mv = choose(&game, byte.wrapping_add(turn));
                prop_assert_eq!(game.play(game.to_move(), mv), Ok(()));
                line.play(mv);
            }
            line.reset();
            prop_assert_eq!(line.board(), root.board());
            prop_assert_eq!(line.graph_key(), root.graph_key());
            prop_assert!(line.moves().is_empty());
        }
    }

    #[test]
    fn records_are_followed_whatever_the_rules(
        size in tiny_size(),
        ko in 0usize..4,
        suicide in any::<bool>(),
        moves in proptest::collection::vec(any::<(u8, bool)>(), 0..150),
    ) {
        let mut game = Game::new(size, rules(KO_RULES[ko], suicide), 7.5);
        let mut oracle = Oracle::new(size, game.rules());
        let points: Vec<Point> = size.points().collect();
        for (byte, black) in moves {
            let color = if black { Color::Black } else { Color::White };
            let Some(&point) = points.get(usize::from(byte) % (points.len() + 1)) else {
                prop_assert_eq!(game.play_tolerant(color, Move::Pass), Ok(None));
                oracle.play(color, Move::Pass);
                continue;
            };
            let before = snapshot(&game);
            let now = oracle.now();
            let objection = oracle.check(color, point).err();
            let impossible = now.cell(point) != Cell::Empty || now.after(point, color) == *now;
            let answer = game.play_tolerant(color, Move::Play(point));
            if impossible {
                prop_assert_eq!(answer.err(), objection);
                prop_assert_eq!(snapshot(&game), before);
            } else {
                prop_assert_eq!(answer, Ok(objection));
                oracle.play(color, Move::Play(point));
            }
            assert_same_stones(game.board(), oracle.now());
            game.board().check_consistency();
        }
        // Undo removes repeated positions one by one.
        let fresh = snapshot(&Game::new(size, game.rules(), 7.5));
        while game.undo().is_some() {}
        prop_assert_eq!(snapshot(&game), fresh);
    }

    #[test]
    fn other_rules_find_the_same_history(
        size in tiny_size(),
        from in 0usize..4,
        to in 0usize..4,
        suicide in any::<bool>(),
        moves in proptest::collection::vec(any::<u8>(), 0..100),
    ) {
        let (from, to) = (rules(KO_RULES[from], suicide), rules(KO_RULES[to], true));
        let mut game = Game::new(size, from, 7.5);
        let mut oracle = Oracle::new(size, to);
        for byte in moves {
            let color = game.to_move();
            let legal = game.legal_points(color);
            let choice = legal.get(usize::from(byte) % (legal.len() + 1));
            let mv = choice.map_or(Move::Pass, |&point| Move::Play(point));
            prop_assert_eq!(game.play(color, mv), Ok(()));
            oracle.play(color, mv);
        }
        let game = game.with_rules(to, 5.5);
        for color in Color::BOTH {
            for point in size.points() {
                prop_assert_eq!(game.check(color, Move::Play(point)), oracle.check(color, point));
            }
        }
    }
}

// ----------------------------------------------------------------------------------------------- long histories

/// Number of kos, side by side. Each is open for White (bit clear) or for Black (bit set). The stones of different kos
/// are not adjacent.
///
/// ```text
///   . X O .        . X O .
///   X . X O   ⇄    X O . O
///   . X O .        . X O .
/// ```
const KOS: usize = 17;

/// Returns the lower left corner of a ko's diagram.
fn corner(ko: usize) -> (usize, usize) {
    (ko % 4 * 5, ko / 4 * 4)
}

/// Returns the side that can take a ko now, and the point.
fn taking(word: usize, ko: usize) -> (Color, Point) {
    let (column, row) = corner(ko);
    match word >> ko & 1 {
        0 => (Color::White, Point::new(column + 1, row + 1)),
        _ => (Color::Black, Point::new(column + 2, row + 1)),
    }
}

fn board_of_kos() -> Board {
    use Color::{Black, White};
    let shape = [
        (1, 2, Black),
        (2, 2, White),
        (0, 1, Black),
        (2, 1, Black),
        (3, 1, White),
        (1, 0, Black),
        (2, 0, White),
    ];
    let stones = (0..KOS).flat_map(|ko| {
        let (column, row) = corner(ko);
        shape.map(|(right, up, color)| (Point::new(column + right, row + up), color))
    });
    Board::from_stones(BoardSize::square(19).expect("size"), stones).expect("every stone has a liberty")
}

/// Takes the kos in the order of a Gray code, which visits all 2^17 positions without repetition. Whether a capture
/// would repeat a position is therefore known from the code alone, for every ko at every time.
fn through_all_kos(ko_rule: KoRule) -> Game {
    let mut game = Game::from_board(board_of_kos(), Color::White, rules(ko_rule, false), 7.5);
    let code = |number: usize| number ^ number >> 1;
    // Move number at which each position occurs.
    let mut when = vec![0; 1 << KOS];
    (0..1 << KOS).for_each(|number| when[code(number)] = number);
    for number in 0..1 << KOS {
        let word = code(number);
        for ko in 0..KOS {
            let (color, point) = taking(word, ko);
            let repeats = when[word ^ 1 << ko] <= number;
            assert_eq!(
                game.check(color, Move::Play(point)).is_err(),
                ko_rule == KoRule::Positional && repeats,
                "move {number}, ko {ko}"
            );
        }
        if number + 1 < 1 << KOS {
            let next = (code(number + 1) ^ word).trailing_zeros() as usize;
            let (color, point) = taking(word, next);
            assert_eq!(game.play(color, Move::Play(point)), Ok(()));
        }
    }
    game
}

#[test]
fn a_history_of_131_072_positions() {
    let mut game = through_all_kos(KoRule::Positional);
    assert_eq!(game.history().len(), 1 << KOS);
    while game.undo().is_some() {}
    let fresh = Game::from_board(board_of_kos(), Color::White, game.rules(), 7.5);
    assert_eq!(snapshot(&game), snapshot(&fresh));
}
